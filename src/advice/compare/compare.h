/* What the parts of compare share. */
#ifndef ROPESCOPE_ADVICE_COMPARE_COMPARE_H
#define ROPESCOPE_ADVICE_COMPARE_COMPARE_H

#include "advice/advice.h"

/* ---- dumps ------------------------------------------------------------------------------------------------------- */

/* Files of what an engine has computed. */

/* Whether `text` ends in `ending` and is more than that. */
bool rs_dump_ends(const char *text, const char *ending);

/* Reads a file of frequencies, of buffers inv_freq (`layers`: of which layer; NULL: the first), or of cos and sin into
 * s->spectrum, s->buffers and s->read. RS_INPUT, RS_IO, RS_MEMORY. */
rs_status rs_dump_read(rs_contender *s, const char *layers, rs_err *err);

/* The buffers of a checkpoint (a file, or an index), none where it has none. Cleared on failure. */
rs_status rs_buffers_read(const rs_safetensors *checkpoint, rs_buffers *buffers, rs_err *err);
void rs_buffers_clear(rs_buffers *buffers);

/* A table of cos and one of sin: number i of row p is number base + p * stride + i * step of its tensor. */
typedef struct rs_cos_sin_table {
  const rs_stored_tensor *tensor[2];
  size_t base[2], rows, width, stride, step;
  bool axes; /* of three axes that hold the same, as those of M-RoPE do for text */
} rs_cos_sin_table;

/* In rs_spectrum.beyond of a table whose first rows turn otherwise: "other frequencies at its first 4 positions". */
extern const char rs_other_first_rows[];

/* Recovers frequencies, attention factor, layout, the first position and what positions were rounded to. RS_INPUT where
 * the tables are none of rotations. `read` gets what was seen. */
rs_status rs_cos_sin_read(const rs_cos_sin_table *table, rs_spectrum *spectrum, char read[240], rs_err *err);

/* ---- causes ------------------------------------------------------------------------------------------------------ */

/* Hypotheses about why two spectra differ. */

enum { RS_CHANGES = 48, RS_HYPOTHESES = 256 };

/* What a comparison may take, as rs_hypotheses_work counts: a third of a second. */
#define RS_MOST_WORK 3e8

/* One parameter with another value. */
typedef struct rs_change {
  const char *param;
  char text[48];         /* the value as config text; "": unset */
  const rs_value *value; /* in place of the text, where not NULL; borrowed */
} rs_change;

/* A recipe altered: what is tried on one side to get the other. */
typedef struct rs_hypothesis {
  char key[48];            /* what it alters; of several with one key, the first that fits is named */
  char what[200];          /* "with truncate: true (A has false)"; '@' stands for the side's letter */
  bool fitted;             /* numbers that any ramp would give: tried where nothing else explains the frequencies */
  const rs_method *method; /* NULL: the same */
  size_t length;           /* 0: the same */
  rs_change changes[RS_CHANGES];
  size_t count;
} rs_hypothesis;

/* A list that is being made. */
typedef struct rs_hypothesis_maker {
  const rs_compared *from, *other;
  rs_hypothesis *list; /* (RS_HYPOTHESES) */
  size_t count;
  bool starved; /* there was no memory for words */
} rs_hypothesis_maker;

/* One more with its `what`, or NULL when the list is full; and a change of it, where it is not NULL (`text` NULL:
 * unset).
 */
rs_hypothesis *rs_hypothesis_add(rs_hypothesis_maker *make, const char *key, const char *format, ...) RS_PRINTF(3, 4);
void rs_hypothesis_change(rs_hypothesis *hypothesis, const char *param, const char *text);

/* "with name: new (why; A has old)", as text or as a finite number; nothing where it is so already. */
rs_hypothesis *rs_hypothesis_alter(rs_hypothesis_maker *make, const char *name, const char *text, const char *why);
void rs_hypothesis_number(rs_hypothesis_maker *make, const char *name, double number, const char *why);

/* Parameter `index` of a side as words have it, or what the recipe reads of the model where it has none. */
void rs_compared_own(rs_hypothesis_maker *make, const rs_compared *side, size_t index, char *out, size_t size);

/* L0 in tokens, and s (NaN where the method has none), of a side that is a recipe. */
double rs_compared_train_length(const rs_compared *side);
double rs_compared_scale(const rs_compared *side);

/* The base of a recipe's ladder; the pair, a fraction, that makes so many rotations in its train_length. */
double rs_compared_theta(const rs_compared *side);
double rs_ramp_pair(const rs_compared *side, double rotations);

/* Adds what goes wrong in practice beyond one parameter with another value. */
void rs_hypotheses_mishaps(rs_hypothesis_maker *make);

/* And attention factors of other ports, where the method has one. */
void rs_hypotheses_factors(rs_hypothesis_maker *make);

/* Fills `list` (RS_HYPOTHESES) with what may have been done to `from`; `other`, where it is a recipe, lends its values.
 * RS_MEMORY. */
rs_status rs_hypotheses_list(const rs_compared *from, const rs_compared *other, rs_hypothesis *list, size_t *count,
                             rs_err *err);

/* Parts of that list: every parameter with the other side's value, another word, or its default; every dialect. */
void rs_hypotheses_settings(rs_hypothesis_maker *make);
void rs_hypotheses_dialects(rs_hypothesis_maker *make);

/* The recipe of `from`, and its length, under `count` hypotheses together. Where they make no valid recipe, its
 * failure. Release with rs_recipe_clear, after a failure too. */
rs_status rs_hypotheses_apply(const rs_compared *from, const rs_hypothesis *const *tried, size_t count,
                              rs_recipe *recipe, size_t *length, rs_err *err);

/* Writes "B is A with ...", where `from` is the side (0: A) that `what` alters; '@' in it is that side's letter. */
void rs_cause_write(rs_cause *cause, size_t from, const char *what);

/* What trying them together takes, in about nanoseconds. */
double rs_hypotheses_work(const rs_compared *from, const rs_hypothesis *const *tried, size_t count);

/* The spectrum of `from` under `count` hypotheses together; one of 0 pairs where they make no valid recipe. */
rs_status rs_hypotheses_try(const rs_compared *from, const rs_hypothesis *const *tried, size_t count,
                            rs_spectrum *spectrum, rs_err *err);

/* What is done to a finished table: `way` of them, false after the last. Fills `out` (pairs,), and `what` as in
 * rs_hypothesis. */
bool rs_table_alter(const rs_compared *from, size_t way, double *out, const char **what, const char **key);

/* As rs_causes_find, with at most *work of rs_hypotheses_work, from which what was done is taken. */
rs_status rs_causes_within(const rs_compared *a, const rs_compared *b, double rtol, double *work, rs_causes *causes,
                           rs_err *err);

/* What the ratio of the frequencies looks like: constant, geometric, a band. */
void rs_shape_describe(const rs_spectrum *a, const rs_spectrum *b, double rtol, char *text, size_t size);

#endif
