/* What the rules read and how they report. */
#ifndef ROPESCOPE_CHECK_RULES_H
#define ROPESCOPE_CHECK_RULES_H

#include "advice/advice.h"

/* One rope dictionary, as it is written: rope_scaling, rope_parameters, or what the latter holds for a type of layers.
 */
typedef struct rs_rope_entry {
  const rs_node *node;
  char path[96];                /* "rope_parameters.full_attention" */
  const char *type;             /* rope_type, else type; "default" where neither is a word */
  const rs_hf_rope_type *known; /* NULL: no type that is known here */
} rs_rope_entry;

enum { RS_ROPE_ENTRIES = 16 };

/* A config.json. Release with rs_checked_clear. */
typedef struct rs_checked {
  rs_tree *tree;
  const rs_node *top, *root; /* the file; the mapping of it that holds the text model's fields */
  const char *family;        /* model_type, "" */
  rs_rope_entry ropes[RS_ROPE_ENTRIES];
  size_t rope_count;
  rs_profile profile;    /* as the file is read; without kinds where it cannot be */
  const rs_model *model; /* of its chosen layers; NULL where it cannot be read */
  rs_profile before_5;   /* as releases of transformers before 5 read it, which know no rope_parameters; without kinds
                            where the file does not depend on that */
  uint32_t engines;      /* that are asked about; 0: none in particular */
  rs_err unread;         /* why it cannot be, a line for each problem; status RS_OK */
} rs_checked;

/* RS_INPUT where the text is no JSON object. Cleared on failure. */
rs_status rs_checked_read(const char *text, size_t length, const char *name, rs_checked *checked, rs_err *err);
void rs_checked_clear(rs_checked *checked);

/* The rules of one file and what finds them. */
typedef struct rs_rule_group {
  const rs_rule *rules;
  size_t count;
  rs_status (*find)(const rs_checked *checked, rs_findings *findings, rs_err *err);
} rs_rule_group;

extern const rs_rule_group rs_rules_type, rs_rules_lengths, rs_rules_attention, rs_rules_geometry, rs_rules_positions,
    rs_rules_engines, rs_rules_cache, rs_rules_layers, rs_rules_reading;

/* Adds a finding at the value of `node` (NULL: of the file), with `key` as its path (NULL: the node's own), what is to
 * be done (NULL: nothing), and what is wrong. */
rs_status rs_find(rs_findings *findings, const rs_rule *rule, const rs_node *node, const char *key, const char *fix,
                  rs_err *err, const char *format, ...) RS_PRINTF(7, 8);

/* The same as a warning where engines are asked about, else a note. */
void rs_raise(const rs_checked *checked, rs_findings *findings);

/* ---- engines ----------------------------------------------------------------------------------------------------- */

/* Which numbers of the file a release of transformers takes for YaRN's: its issue 38224 and pull request 40320. */
typedef enum rs_yarn_numbers { RS_BY_FACTOR, RS_BY_RATIO, RS_BY_MAXIMUM } rs_yarn_numbers;

/* Which files versions of an engine read otherwise than its other versions do: the entry is of these alone. */
typedef enum rs_engine_scope {
  RS_OF_ALL,
  RS_BUT_RELEASES, /* files that all of its versions read alike */
  RS_OF_RELEASES,  /* YaRN with an original and a maximum length */
  RS_BUT_YARN,
  RS_OF_YARN,
  RS_OF_PARAMETERS /* rope_parameters alone, without the keys of before */
} rs_engine_scope;

/* How an engine reads: the part of rs_config_engine that only computing needs. */
typedef struct rs_reader {
  rs_config_engine engine;
  rs_engine_scope scope;
  const char *dialect;
  rs_yarn_numbers numbers;
  bool before_5;   /* rope_parameters are not read */
  bool mrope_ramp; /* with M-RoPE the ramp is that of 4 L0, which the dialect has not */
  bool serves;     /* people serve with it: what it reads otherwise is told of any file */
  double (*length)(const rs_checked *checked);
} rs_reader;
extern const rs_reader rs_readers[RS_CONFIG_ENGINES];

/* Whether an engine can have the file, in the versions that the entry is of. The file must have a model. */
bool rs_engine_reads(const rs_checked *checked, const rs_reader *reader);

/* Whether transformers up to 4.50 had the model. */
bool rs_is_in_4_50(const rs_checked *checked);

/* The published recipe of a model at its longest length, as transformers 5 has it, and as an engine does. RS_INPUT,
 * RS_DOMAIN where it has no such thing. */
rs_status rs_spectrum_published(const rs_model *model, rs_spectrum *spectrum, rs_err *err);
rs_status rs_spectrum_read(const rs_checked *checked, const rs_reader *reader, rs_spectrum *spectrum, rs_err *err);

/* What each engine derives from a file whose model turns pairs. */
rs_status rs_derivations_make(const rs_checked *checked, rs_derivations *derivations, rs_err *err);

/* Tokens that engines serve unless they are told otherwise; NaN where the file does not say. */
double rs_length_vllm(const rs_checked *checked);
double rs_length_vllm_before(const rs_checked *checked);
double rs_length_sglang(const rs_checked *checked);
double rs_length_llamacpp(const rs_checked *checked);

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* The key of a mapping where it is there and not null, else NULL. Borrows. */
const rs_node *rs_key(const rs_node *mapping, const char *key);

/* Its number, NaN where it is none. */
double rs_key_number(const rs_node *mapping, const char *key);
double rs_node_number(const rs_node *node);

/* Its word, or NULL. */
const char *rs_key_word(const rs_node *mapping, const char *key);

/* "rope_scaling.factor". */
rs_path rs_key_path(const rs_rope_entry *rope, const char *key);

/* max_position_embeddings under its several names, and original_max_position_embeddings, which the dictionary may hold
 * or the file; NULL. */
const rs_node *rs_maximum_of(const rs_checked *checked);
const rs_node *rs_original_of(const rs_checked *checked, const rs_rope_entry *rope);

/* L0 and s as transformers takes them from the numbers of a YaRN, LongRoPE or Llama-3 dictionary: the original length,
 * else the maximum; the factor, else their ratio. NaN where the file does not say. */
double rs_trained_of(const rs_checked *checked, const rs_rope_entry *rope);
double rs_factor_of(const rs_checked *checked, const rs_rope_entry *rope);

#endif
