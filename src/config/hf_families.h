/* What families of Hugging Face models leave unsaid in config.json, and how configs name methods. Private to the config
 * layer. */
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

/* How a parameter is written in the rope dictionary; `required` as transformers' validators have it. */
typedef struct rs_hf_key {
  const char *key, *param;
  bool required;
} rs_hf_key;

/* A rope type and the method that it is here; keys end at the first NULL. */
typedef struct rs_hf_rope_type {
  const char *type, *method;
  rs_hf_key keys[9];
} rs_hf_rope_type;

enum { RS_HF_ROPE_TYPES = 8 };
extern const rs_hf_rope_type rs_hf_rope_types[RS_HF_ROPE_TYPES];

#endif
