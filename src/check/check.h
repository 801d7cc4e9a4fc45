/* check/check.h: is a config.json right? Rules read it as it is written, and say what is wrong, where, and what to
 * write in its place. A portrait says what it comes to, right or wrong. */
#ifndef ROPESCOPE_CHECK_H
#define ROPESCOPE_CHECK_H

#include "config/config.h"

/* ---- rules ------------------------------------------------------------------------------------------------------- */

typedef enum rs_severity {
  RS_NOTE,    /* worth knowing; nothing is wrong */
  RS_WARNING, /* engines differ, or the author has hardly meant it */
  RS_ERROR    /* nobody can have meant it, or engines stop */
} rs_severity;
enum { RS_SEVERITIES = RS_ERROR + 1 };
extern const char *const rs_severity_words[RS_SEVERITIES + 1]; /* "note", "warning", "error"; ends at NULL */

/* What may be found. A code stays that of its rule for ever; the first digit is that of its group. */
typedef struct rs_rule {
  const char *code, *name; /* "RS201", "no-original-length" */
  rs_severity severity;
  const char *summary;   /* what is wrong and what comes of it, in one sentence */
  const char *reference; /* the thread or source that explains it */
} rs_rule;

/* Rule `index` in the order of their codes; NULL past the last. */
const rs_rule *rs_rules(size_t index);

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* One thing that was found. */
typedef struct rs_finding {
  const rs_rule *rule;
  rs_severity severity; /* the rule's, or a warning where it is of an engine that the caller has named */
  size_t line, column;  /* of the value that it is about; 0: of the file as a whole */
  char key[96];         /* "rope_scaling.factor"; "": none */
  char text[640];       /* what is wrong, with the file's numbers: whole sentences */
  char fix[320];        /* what to write in its place; "": nothing is to be done */
} rs_finding;

typedef struct rs_findings {
  rs_finding *items; /* by line; owned */
  size_t count, capacity;
} rs_findings;

/* What all rules find in a config.json (length bytes); `name` stands in messages. `engines` is a set of
 * rs_config_engines_choose where it is to be read by these alone, else 0: what any engine does otherwise is then a
 * note. RS_INPUT where it is no JSON object, RS_MEMORY. Cleared on failure; release with rs_findings_clear. */
rs_status rs_check(const char *text, size_t length, const char *name, uint32_t engines, rs_findings *findings,
                   rs_err *err) RS_NONNULL(1, 3, 5);
void rs_findings_clear(rs_findings *findings) RS_NONNULL(1);

/* How many are at least this severe. */
size_t rs_findings_count(const rs_findings *findings, rs_severity least) RS_NONNULL(1);

/* The rule with this code or name; RS_INPUT, with the one that was meant, where there is none. */
rs_status rs_rule_find(const char *word, const rs_rule **rule, rs_err *err) RS_NONNULL(1, 2);

/* Takes away what a rule has found, and returns how much that was. */
size_t rs_findings_drop(rs_findings *findings, const rs_rule *rule) RS_NONNULL(1, 2);

/* ---- engines ----------------------------------------------------------------------------------------------------- */

/* What reads config.json, in versions that read it alike. */
typedef struct rs_config_engine {
  const char *name, *title;  /* "vllm", as it is chosen; "vLLM before #56446" */
  const char *source, *says; /* the commit or thread that was read; what is read otherwise, in words */
} rs_config_engine;

enum { RS_CONFIG_ENGINES = 12 };

/* Engine `index`; NULL past the last. */
const rs_config_engine *rs_config_engines(size_t index);

/* Adds the engines that a word names, "vllm" or "transformers@4.52", to a set: bit i is engine i. RS_INPUT with what
 * there is, where it names none, or a version that is not known. */
rs_status rs_config_engines_choose(const char *word, uint32_t *engines, rs_err *err) RS_NONNULL(1, 2);

/* ---- portraits: what a config.json says, right or wrong ---------------------------------------------------------- */

/* What an engine derives from the file, at the served length. */
typedef struct rs_derivation {
  size_t engine;            /* its index */
  char refusal[256];        /* why it cannot; "": it can */
  double amp, logit_factor; /* on cos and sin, on the softmax scale */
  size_t differ;            /* frequencies that are another than transformers 5's by more than 1e-6, relative */
  double largest;           /* the largest of these differences */
  bool differs;             /* in a frequency, or in what is on the logits by more than 1e-6 */
  double length; /* tokens that it serves unless it is told otherwise; NaN: it has no limit, or is not known */
} rs_derivation;

typedef struct rs_derivations {
  rs_derivation items[RS_CONFIG_ENGINES]; /* those that can have the file; transformers 5 first */
  size_t count;
} rs_derivations;

/* What becomes of a pair, against plain RoPE of the same base: its frequency is the same, divided by s, between the
 * two, neither, or 0. Equal is within 1e-6, relative. */
typedef enum rs_pair_fate { RS_KEPT, RS_BLENDED, RS_DIVIDED, RS_ALTERED, RS_STILL } rs_pair_fate;
enum { RS_PAIR_FATES = RS_STILL + 1 };
extern const char *const rs_pair_fate_words[RS_PAIR_FATES + 1]; /* "kept", ...; ends at NULL */

/* `s` NaN: the recipe divides by no one number, and a pair is kept, altered or still. */
rs_pair_fate rs_pair_fate_of(double omega, double plain, double s);

/* How many pairs turn at a length to angles that training has not shown: m_ood_angles.c. */
typedef struct rs_reach {
  size_t length, out_of_range;
} rs_reach;

enum { RS_REACHES = 3 };

/* What a file says of one kind of its layers. Zero-initialise; release with rs_portrait_clear. */
typedef struct rs_portrait {
  rs_profile profile;    /* all layers */
  size_t kind;           /* which of them everything below is of */
  const rs_model *model; /* theirs; borrows from the profile */
  rs_recipe recipe;      /* theirs, resolved */
  bool turns;            /* pairs turn; else nothing below is filled */
  size_t pairs;
  double original, maximum; /* original_max_position_embeddings and max_position_embeddings; NaN: not in the file */
  size_t trained, served;   /* L0 of the formulas; the longest length that the file is for; tokens */
  double factor;            /* s at the served length; NaN: the method has none */
  double attention_given, attention_formula; /* on cos and sin: what the file gives (NaN: nothing), and without it */
  double amp, logit_factor;                  /* on cos and sin, and on the softmax scale, at the served length */
  const char *temperature; /* the rule that scales logits by position, "ministral"; NULL: none, or one that
                              multiplies all of them by 1; static */
  size_t fates[RS_PAIR_FATES];
  double stretch;               /* the largest plain omega / omega of a pair that turns */
  rs_reach reaches[RS_REACHES]; /* at 32k, 128k and the served length, ascending */
  size_t reach_count;
  double near; /* near_turn of the metric zero_shot_damage at the trained length; NaN: pairs stand still from
                  the start, or the length is beyond what is computed */
  rs_derivations engines;
} rs_portrait;

/* `layers` chooses the kind, as in rs_profile_find; NULL: the chosen one. RS_INPUT where the file is none that
 * rs_profile_read takes, or has no such layers, RS_DOMAIN where its recipe is undefined at its lengths, RS_MEMORY.
 * Cleared on failure. */
rs_status rs_portrait_read(const char *text, size_t length, const char *name, const char *layers, rs_portrait *portrait,
                           rs_err *err) RS_NONNULL(1, 3, 5);
void rs_portrait_clear(rs_portrait *portrait) RS_NONNULL(1);

/* What a recipe does to one pair at a length. */
typedef struct rs_pair_view {
  size_t pair, axis;
  double omega, plain;            /* rad/token: as it is run, and of plain RoPE */
  double trained, reached, range; /* rad: turned in training, turned by the farthest key; the largest that is not new */
  rs_pair_fate fate;
  bool out_of_range;
} rs_pair_view;

/* What a portrait's recipe does at a length: all of its pairs, (portrait->pairs,). RS_DOMAIN as of
 * rs_frequencies_at. */
typedef struct rs_view {
  size_t length, reach;             /* tokens; the largest distance of a key that these layers see */
  double factor, amp, logit_factor; /* s (NaN: none), on cos and sin, on the softmax scale */
  rs_pair_view *pairs;              /* owned */
  size_t count, out_of_range;
} rs_view;

/* The largest distance of a key that a layer sees in a context of `length` (> 0) tokens: a window has `window` of them,
 * the query's own among them, one that looks both ways as many on each side. Keys beyond the window that are seen
 * averaged are far ones, too. */
size_t rs_reach_of(const rs_layer_kind *kind, size_t length) RS_NONNULL(1);

rs_status rs_view_make(const rs_portrait *portrait, size_t length, rs_view *view, rs_err *err) RS_NONNULL(1, 3);
void rs_view_clear(rs_view *view) RS_NONNULL(1);

#endif
