/* What a recipe of the public interface is. Private to the api layer. */
#ifndef ROPESCOPE_API_RECIPE_H
#define ROPESCOPE_API_RECIPE_H

#include "api.h"

struct ropescope_recipe {
  rs_subject subject;
  const char *text, *warning;
  ropescope_parameter *parameters; /* (parameter_count,) */
  size_t parameter_count;
  ropescope_layer_kind *kinds; /* (kind_count,) */
  size_t kind_count;
  rs_api_strings words; /* that these point to */
};

#endif
