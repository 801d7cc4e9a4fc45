/* Methods of the caller's. Private to the api layer. */
#ifndef ROPESCOPE_API_LIBRARY_H
#define ROPESCOPE_API_LIBRARY_H

#include "api.h"

/* Those of a library (NULL: none), as the readers of configs take them. Borrows. */
rs_method_list rs_api_methods(const ropescope_library *library);

#endif
