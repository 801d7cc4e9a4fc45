/* What families of Hugging Face models leave unsaid in config.json. Private to the config layer. */
#ifndef ROPESCOPE_CONFIG_HF_FAMILIES_H
#define ROPESCOPE_CONFIG_HF_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>

/* Class defaults; 0 means the general one. */
typedef struct rs_hf_family {
  const char *prefix; /* of model_type */
  double theta, rotary_fraction;
  size_t head_dim, rotary_dim, length;
  bool interleaved;
  const char *method; /* a family without rotation */
} rs_hf_family;

/* The family with the longest prefix of `model_type`; all 0 where there is none. */
rs_hf_family rs_hf_family_of(const char *model_type);

#endif
