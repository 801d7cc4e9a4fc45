/* convert/convert.h: the positional recipe of a published model for another consumer, as keys of its config or as
 * arguments of its command line, with a note wherever it cannot say the recipe, or reads it otherwise. */
#ifndef ROPESCOPE_CONVERT_H
#define ROPESCOPE_CONVERT_H

#include "compare/compare.h"

/* ---- what is converted ------------------------------------------------------------------------------------------- */

enum { RS_CONFIG_LEVELS = 2 };

/* A published model, and where its file keeps the keys. Release with rs_convertible_clear. */
typedef struct rs_convertible {
  rs_profile profile;
  size_t kind;                       /* the layers whose recipe is said where a consumer has one for all */
  char family[64];                   /* model_type; "": unknown, as of presets */
  char levels[RS_CONFIG_LEVELS][32]; /* keys around the text model's fields, from the top; "": none */
  bool latent;                       /* attention in parts that turn and parts that do not (DeepSeek) */
  bool replaced;                     /* rs_convertible_replace has been called */
  rs_tree *config;                   /* the file, owned; NULL: of presets, and where the keys of a file do not matter */
} rs_convertible;

/* From a Hugging Face config.json in memory (length); `name` stands in messages. Cleared on failure. */
rs_status rs_convertible_read(const char *text, size_t length, const char *name, rs_convertible *model, rs_err *err)
    RS_NONNULL(1, 3, 4);

/* From a preset. RS_INPUT when unknown. */
rs_status rs_convertible_preset(const char *name, rs_convertible *model, rs_err *err) RS_NONNULL(1, 2);
void rs_convertible_clear(rs_convertible *model) RS_NONNULL(1);

/* What layers get in the place of what their file publishes. Borrows. */
typedef struct rs_replacement {
  const rs_recipe *recipe; /* resolved on their model */
  double theta;            /* the base */
  size_t train_length;     /* tokens it is counted from */
  size_t length;           /* tokens to be served */
} rs_replacement;

/* Puts a recipe in the place of that of layers `kind`, and of all that turn alike, where the file has one recipe for
 * them. Parameters that the recipe has from what was published become its own, so that they are written. RS_MEMORY. */
rs_status rs_convertible_replace(rs_convertible *model, size_t kind, const rs_replacement *by, rs_err *err)
    RS_NONNULL(1, 3);

/* ---- consumers --------------------------------------------------------------------------------------------------- */

/* Who reads what is written. */
typedef struct rs_consumer {
  const char *name;      /* "hf5" */
  const char *summary;   /* what is written for it */
  const char *reference; /* the version whose code was read */
} rs_consumer;

/* Consumer `index` in the order of the help; NULL past the last. */
const rs_consumer *rs_consumers(size_t index);

/* Words in order; all owned. */
typedef struct rs_words {
  char **items;
  size_t count, capacity;
} rs_words;

/* What a consumer is to be given. Release with rs_conversion_clear. */
typedef struct rs_conversion {
  char *fragment;     /* a JSON object of keys for its config, ended by a new line; NULL: */
  rs_words arguments; /* of its command line, */
  rs_words notes;     /* and what it cannot say, or reads otherwise: whole sentences */
} rs_conversion;

/* The recipe of `model` for the consumer called `to`, who is to serve `length` tokens (0: what is published). RS_INPUT
 * for no consumer, RS_DOMAIN where the recipe is undefined at this length. Cleared on failure. */
rs_status rs_convert(const rs_convertible *model, const char *to, size_t length, rs_conversion *out, rs_err *err)
    RS_NONNULL(1, 2, 4);
void rs_conversion_clear(rs_conversion *conversion) RS_NONNULL(1);

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* What the chosen layers do to their pairs at `length` tokens (0: what is published). RS_UNSUPPORTED where they turn
 * nothing, RS_DOMAIN as of rs_spectrum_make. Release with rs_spectrum_clear. */
rs_status rs_convert_spectrum(const rs_convertible *model, size_t length, rs_spectrum *spectrum, rs_err *err)
    RS_NONNULL(1, 3);

/* The inverse frequencies of a spectrum, rad/token, and what multiplies cos and sin, as CSV or JSON that `compare` and
 * rs_numbers_read can read. */
void rs_table_csv(const rs_spectrum *spectrum, rs_text *text) RS_NONNULL(1, 2);
void rs_table_json(const rs_spectrum *spectrum, rs_text *text) RS_NONNULL(1, 2);

#endif
