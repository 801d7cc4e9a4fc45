/* Methods of the caller's. Private to the api layer. */
#ifndef ROPESCOPE_API_LIBRARY_H
#define ROPESCOPE_API_LIBRARY_H

#include "api.h"

/* Those of a library (NULL: none), as the readers of configs take them. Borrows. */
rs_method_list rs_api_methods(const ropescope_library *library);

/* A method whose stages hand on to callbacks. */
typedef struct rs_api_method rs_api_method;

/* From a spec, all of whose words are copied. RS_INPUT, with the member as subject; RS_MEMORY; *method is NULL then. */
rs_status rs_api_method_make(const ropescope_method_spec *spec, rs_api_method **method, rs_err *err);
void rs_api_method_free(rs_api_method *method); /* without the spec's `release` */
void rs_api_method_release(rs_api_method *method);
const rs_method *rs_api_method_of(const rs_api_method *method);

#endif
