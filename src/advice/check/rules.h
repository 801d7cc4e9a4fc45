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
  const rs_hf_rope_type *known; /* as the class reads it; NULL: no type that is known here */
  bool typed, layered;          /* it has a type; it is of a type of layers */
} rs_rope_entry;

enum { RS_ROPE_ENTRIES = 16 };

/* A config.json, and what is found in it. Release with rs_checked_clear. */
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
  const struct rs_check_row *rows; /* of the file that is at work, among which its codes are */
  rs_findings *findings;
  char fix[320]; /* of the finding that is being made */
  rs_err *err;   /* RS_MEMORY once something failed, after which nothing more is found */
} rs_checked;

/* RS_INPUT where the text is no JSON object. Cleared on failure. */
rs_status rs_checked_read(const char *text, size_t length, const char *name, rs_checked *c, rs_err *err);
void rs_checked_clear(rs_checked *c);

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* A rule and what finds it, where no other rule's does: in each rope dictionary, or in the file. */
typedef struct rs_check_row {
  rs_rule rule;
  void (*in_rope)(rs_checked *c, const rs_rope_entry *rope);
  const char *types; /* of the dictionaries that it looks at, with spaces between; NULL: all */
  void (*in_file)(rs_checked *c);
  bool by_engine;     /* a warning where engines are asked about, else a note */
  const char *former; /* the rule's name in earlier releases; NULL: the same */
} rs_check_row;

#define RS_RULE(code_, name_, severity_, summary_, reference_)                                                         \
  .rule = {.code = (code_), .name = (name_), .severity = (severity_), .summary = (summary_), .reference = (reference_)}

/* The rows of one file; they end at a rule without a code. */
extern const rs_check_row rs_rules_dictionary[], rs_rules_lengths[], rs_rules_model[], rs_rules_engines[],
    rs_rules_layers[];

/* Adds a finding of the rule with this code, one of the same file, at a value (NULL: of the file; RS_MISSING: a key
 * that is not there), with what is to be done (NULL: nothing), and what is wrong. */
rs_finding *rs_find(rs_checked *c, const char *code, const rs_node *node, const char *fix, const char *format, ...)
    RS_PRINTF(5, 6);
#define RS_MISSING(name) (&(const rs_node){.key = (char *)(name)})

/* What is to be done, in words that last until the next finding. */
const char *rs_fix(rs_checked *c, const char *format, ...) RS_PRINTF(2, 3);

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
  bool before_5;                         /* rope_parameters are not read */
  bool mrope_ramp;                       /* with M-RoPE the ramp is that of 4 L0, which the dialect has not */
  bool serves;                           /* people serve with it: what it reads otherwise is told of any file */
  double (*length)(const rs_checked *c); /* tokens that it serves unless it is told otherwise; NaN: not said */
} rs_reader;
extern const rs_reader rs_readers[RS_CONFIG_ENGINES];

/* Whether an engine can have the file, in the versions that the entry is of. The file must have a model. */
bool rs_engine_reads(const rs_checked *c, const rs_reader *reader);

/* Whether transformers up to 4.50 had the model. */
bool rs_is_in_4_50(const rs_checked *c);

/* The published recipe of a model at its longest length, as transformers 5 has it, and as an engine does. RS_INPUT,
 * RS_DOMAIN where it has no such thing. */
rs_status rs_spectrum_published(const rs_model *model, rs_spectrum *spectrum, rs_err *err);
rs_status rs_spectrum_read(const rs_checked *c, const rs_reader *reader, rs_spectrum *spectrum, rs_err *err);

/* What each engine derives from a file whose model turns pairs. */
rs_status rs_derivations_make(const rs_checked *c, rs_derivations *derivations, rs_err *err);

/* ---- keys -------------------------------------------------------------------------------------------------------- */

#define RS_MAXIMUM "max_position_embeddings"
#define RS_ORIGINAL "original_" RS_MAXIMUM

/* The key of a mapping where it is there and not null, else NULL; the first such of several, with spaces between.
 * Borrows. */
const rs_node *rs_key(const rs_node *mapping, const char *key);
const rs_node *rs_key_any(const rs_node *mapping, const char *keys);

/* Its number, NaN where it is none. */
double rs_key_number(const rs_node *mapping, const char *key);
double rs_node_number(const rs_node *node);

/* Its word, or NULL. */
const char *rs_key_word(const rs_node *mapping, const char *key);

/* A list, or NULL. */
const rs_node *rs_key_list(const rs_node *mapping, const char *key);

/* max_position_embeddings under its several names, and original_max_position_embeddings, which the dictionary may hold
 * or the file; NULL. */
const rs_node *rs_maximum_of(const rs_checked *c);
const rs_node *rs_original_of(const rs_checked *c, const rs_rope_entry *rope);

/* L0 and s as transformers takes them from the numbers of a YaRN, LongRoPE or Llama-3 dictionary: the original length,
 * else the maximum; the factor, else their ratio. NaN where the file does not say. */
double rs_trained_of(const rs_checked *c, const rs_rope_entry *rope);
double rs_factor_of(const rs_checked *c, const rs_rope_entry *rope);

#endif
