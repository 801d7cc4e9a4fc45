/* What convert and solve setting print of a conversion. */
#ifndef ROPESCOPE_CLI_CONVERSION_H
#define ROPESCOPE_CLI_CONVERSION_H

#include "cli.h"

#include "advice/advice.h"

/* The fragment, or the arguments as a shell reads them, with a new line. */
void cli_put_conversion(const rs_conversion *conversion, rs_text *text);

/* An object under `key` (NULL: at the top, or in an array) with whom it is for, the fragment or arguments, and notes.
 */
rs_status cli_json_conversion(rs_json *json, const char *key, const char *to, const rs_conversion *conversion,
                              rs_err *err);

#endif
