/* What computes models on this machine. */
#include "ropescope/model.h"

#include "ropescope/kernel.h"

#include <string.h>

/* OpenBLAS's own; cblas.h is left out, for its names may be those of GSL's library. */
extern char *openblas_get_config(void);
extern char *openblas_get_corename(void);

/* Its config begins "OpenBLAS 0.3.21 ", and goes on with how it was built. */
void rs_arithmetic_write(rs_text *text) {
  const char *config = openblas_get_config(), *version = strchr(config, ' ');
  size_t name = version != NULL ? (size_t)(version - config) + 1 + strcspn(version + 1, " ") : strlen(config);
  rs_text_printf(text, "%s, %.*s %s", rs_kernels_get()->isa, (int)name, config, openblas_get_corename());
}
