/* Methods of the caller's: kinds of stages whose functions hand on to callbacks. */
#include "library.h"

rs_method_list rs_api_methods(const ropescope_library *library) {
  (void)library;
  return (rs_method_list){0};
}
const char *ropescope_version(void) {
  return ROPESCOPE_VERSION;
}
