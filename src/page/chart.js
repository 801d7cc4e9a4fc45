/* Charts. */
"use strict";
