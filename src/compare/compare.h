/* compare/compare.h: why two positional settings differ. Each side is brought to a spectrum; the changes that turn
 * one side into the other are found by trying them. */
#ifndef ROPESCOPE_COMPARE_H
#define ROPESCOPE_COMPARE_H

#include "config/config.h"

/* What a recipe does to the pairs at one length, or what an engine says that it does. */
typedef struct rs_spectrum {
  size_t pairs, head_dim;   /* R/2, at least 1; D, at least R */
  double *omega;            /* (pairs,) rad/token; owned */
  uint16_t *axis;           /* (pairs,); NULL: unknown; owned */
  double amp, logit_factor; /* on cos and sin, on the logits; NaN: unknown */
  int pair_layout;          /* rs_pair_layout; -1: unknown */
  /* What the recipe does beyond turning pairs by their position, as "self_extend group=auto window=auto"; "": nothing;
   * NULL: unknown. Owned. */
  char *beyond;
  double *slack;    /* (pairs,) rad/token, by how much omega may be off; NULL: not at all; owned */
  double amp_slack; /* the same of amp */
  rs_format
      positions; /* of lower precision than its table's: what positions, or angles, were rounded to; else RS_F64 */
} rs_spectrum;

/* The spectrum of a recipe, which rs_recipe_check has accepted. RS_DOMAIN where it is undefined at this length,
 * RS_UNSUPPORTED where the method turns no pairs. Release with rs_spectrum_clear; it is cleared on failure. */
rs_status rs_spectrum_make(const rs_recipe *recipe, const rs_model *model, size_t length, rs_spectrum *spectrum,
                           rs_err *err) RS_NONNULL(1, 2, 4);

/* A spectrum of frequencies alone: copies (pairs,); D = 2 pairs, all else unknown. */
rs_status rs_spectrum_list(const double *omega, size_t pairs, rs_spectrum *spectrum, rs_err *err) RS_NONNULL(1, 3);
void rs_spectrum_clear(rs_spectrum *spectrum) RS_NONNULL(1);

/* The base of a table that is plain RoPE at one, with nothing on cos and sin or the logits; NaN for others. */
double rs_spectrum_base(const rs_spectrum *spectrum) RS_NONNULL(1);

/* Where a list has each frequency twice (within `rtol`), as code does that multiplies whole heads: keeps one of each.
 * Returns the pair layout that such a list is for, -1 (and changes nothing) where it is none. */
int rs_spectrum_fold(rs_spectrum *spectrum, double rtol) RS_NONNULL(1);

enum {
  RS_DIFFERS_FREQUENCY = 1, /* or in the number of pairs */
  RS_DIFFERS_AMPLITUDE = 2, /* amp or logit_factor */
  RS_DIFFERS_AXIS = 4,
  RS_DIFFERS_LAYOUT = 8,
  RS_DIFFERS_BEYOND = 16,   /* in what is no frequency: positions, biases, temperatures by position */
  RS_DIFFERS_WIDTH = 32,    /* head_dim, which 1/sqrt(D) puts on the logits */
  RS_DIFFERS_POSITIONS = 64 /* in what they are rounded to */
};

/* Where two spectra part. What either does not know is not compared. */
typedef struct rs_difference {
  unsigned differs;          /* RS_DIFFERS_* */
  size_t count, first, last; /* pairs whose frequencies differ */
  size_t worst;              /* the pair where */
  double largest;            /* |omega_b / omega_a - 1| is largest; infinite where omega_a alone is 0 */
} rs_difference;

/* Equal is |b - a| <= rtol * max(|a|, |b|) + the slack of both. Spectra of different numbers of pairs have no pair in
 * common. */
rs_difference rs_spectrum_compare(const rs_spectrum *a, const rs_spectrum *b, double rtol) RS_NONNULL(1, 2);

/* Whether pair j of both, spectra of as many pairs, is equal so. */
bool rs_pair_equal(const rs_spectrum *a, const rs_spectrum *b, size_t j, double rtol) RS_NONNULL(1, 2);

/* What the difference comes to at one relative position (tokens) of text. */
typedef struct rs_divergence {
  double angle;          /* the largest difference of a pair's angle, 0..pi rad */
  size_t pair;           /* the pair that has it */
  double mean_a, mean_b; /* mean cosine over the D/2 pairs, as rs_encoding_mean_cosine */
} rs_divergence;

/* For spectra of as many pairs. */
rs_divergence rs_spectrum_at(const rs_spectrum *a, const rs_spectrum *b, double position) RS_NONNULL(1, 2);

/* One side of a comparison: a recipe (resolved and checked) at a length, or a list (recipe and model NULL). */
typedef struct rs_compared {
  const rs_recipe *recipe;
  const rs_model *model;
  size_t length;
  const rs_spectrum *spectrum;
} rs_compared;

/* A change that makes one side the other, found by trying it. */
typedef struct rs_cause {
  char text[480];    /* "B is A with truncate: true (A has false)" */
  unsigned explains; /* RS_DIFFERS_* that it takes away */
  unsigned breaks;   /* RS_DIFFERS_* that it brings */
  bool whole;        /* nothing differs under it */
  double residual;   /* the largest relative difference of a frequency under it; NaN where it says nothing of them */
} rs_cause;

enum { RS_CAUSES = 12 };

typedef struct rs_causes {
  rs_cause items[RS_CAUSES]; /* those that explain everything first */
  size_t count;
  size_t untried;  /* changes that would have taken too long to try: wide heads, angles counted at many positions */
  char shape[320]; /* what the ratio of the frequencies looks like where nothing explains it, else "" */
} rs_causes;

/* Tries alterations of each side's recipe (another parameter, dialect, method, length; two at once where one is not
 * enough), and orders of the list, and names those that give the other side within max(rtol, 1e-5): what float32 code
 * loses of a frequency (ggml up to 9e-6) is no cause. */
rs_status rs_causes_find(const rs_compared *a, const rs_compared *b, double rtol, rs_causes *causes, rs_err *err)
    RS_NONNULL(1, 2, 4);

/* Of two recipes that are equal at their length: the shortest of the lengths where rules change (around the trained and
 * the published ones) at which they part, and how; 0 where they are equal at all of these, or one side is a list.
 * RS_MEMORY. */
rs_status rs_compare_elsewhere(const rs_compared *a, const rs_compared *b, double rtol, size_t *length,
                               rs_difference *difference, rs_err *err) RS_NONNULL(1, 2, 4, 5);

/* ---- biases ------------------------------------------------------------------------------------------------------ */

/* Where the biases of two recipes that turn nothing part, in the last row of a context (of 32768 tokens at most). A
 * softmax sees no constant of a row: each is taken less that of the query's own key. */
typedef struct rs_bias_difference {
  bool differs;
  size_t heads, count;   /* of A; how many of them differ */
  size_t head, distance; /* where most; tokens back */
  double a, b, largest;  /* there, and |b - a|; nats; NaN: the sides have not the same number of heads */
  bool shifted;          /* rows are apart by a constant, too, which no softmax sees */
} rs_bias_difference;

/* Whether the recipe turns nothing and adds biases that are not learned. */
bool rs_biases_comparable(const rs_recipe *recipe) RS_NONNULL(1);

/* Of two such recipes, with the causes where they differ: changes of a side's parameters, or its dialect, that give the
 * other side within `rtol`. RS_DOMAIN where one is undefined at its length, RS_MEMORY. */
rs_status rs_biases_compare(const rs_compared *a, const rs_compared *b, double rtol, rs_bias_difference *out,
                            rs_causes *causes, rs_err *err) RS_NONNULL(1, 2, 4, 5);

/* Where slopes of heads and a list of slopes part. */
typedef struct rs_slope_difference {
  size_t heads, listed; /* H; numbers of the list: H, or the heads of one rank */
  size_t first;         /* the head that the list begins with */
  size_t count, head;   /* heads that differ; the one that does most */
  double recipe, list;  /* there, nats/token */
} rs_slope_difference;

/* Whether the recipe's biases have slopes, as ALiBi's, beside which a list of numbers is one of slopes. */
bool rs_slopes_comparable(const rs_recipe *recipe) RS_NONNULL(1);

/* Of such a recipe and a list (recipe NULL), in either order, within `rtol`, with the causes where they differ: other
 * formulas for heads that are no power of two, ranks that number their heads from 0, parameters, dialects. RS_INPUT
 * where the list is not as long as H or as the heads of a rank, RS_MEMORY. */
rs_status rs_slopes_compare(const rs_compared sides[2], double rtol, rs_slope_difference *out, rs_causes *causes,
                            rs_err *err) RS_NONNULL(1, 3, 4);

/* ---- layers ------------------------------------------------------------------------------------------------------ */

#define RS_NO_KIND SIZE_MAX

/* Layers that are of one kind in A and of one in B. */
typedef struct rs_layer_difference {
  size_t kind[2];           /* in the profile of A and of B; RS_NO_KIND: it has none of this name */
  rs_difference difference; /* of the frequencies, where both turn */
  bool view;                /* they see other keys */
  bool recipe;              /* one of them does not turn, or both do something else that differs */
  bool attention;           /* one of them has none */
  rs_causes *causes;        /* of the difference, owned; NULL: not looked for */
} rs_layer_difference;

typedef struct rs_layer_differences {
  rs_layer_difference *items; /* (count,) owned */
  size_t count;
  bool by_layer; /* by number; false: by name, as the models have not the same number of layers */
  bool differs;
} rs_layer_differences;

/* Each pair of kinds that layers of two models have, as published, at a length in tokens. RS_DOMAIN as of
 * rs_spectrum_make. Release with rs_layer_differences_clear; cleared on failure. */
rs_status rs_layers_compare(const rs_profile *a, const rs_profile *b, size_t length, double rtol,
                            rs_layer_differences *out, rs_err *err) RS_NONNULL(1, 2, 5);

/* Looks for the causes of each difference in what turns, but for layers of the kinds `known` (their numbers in A and
 * B), whose causes are known. RS_DOMAIN, RS_MEMORY. */
rs_status rs_layers_explain(const rs_profile *a, const rs_profile *b, const size_t known[2], size_t length, double rtol,
                            rs_layer_differences *layers, rs_err *err) RS_NONNULL(1, 2, 3, 6);
bool rs_layers_differ(const rs_layer_difference *difference) RS_NONNULL(1);
void rs_layer_differences_clear(rs_layer_differences *layers) RS_NONNULL(1);

/* ---- the two sides ----------------------------------------------------------------------------------------------- */

/* The buffers inv_freq of a checkpoint, which PyTorch saves where a class says so. Zero-initialise. */
typedef struct rs_buffer {
  char *name;   /* "model.layers.3.self_attn.rotary_emb.inv_freq"; owned */
  size_t layer; /* by the name; RS_NO_KIND: of all */
  rs_spectrum spectrum;
} rs_buffer;

typedef struct rs_buffers {
  rs_buffer *items; /* (count,) owned, by layer */
  size_t count;
  char unread[200]; /* why a folder's checkpoint was not read; "": it was, or there is none */
} rs_buffers;

typedef enum rs_origin { RS_FROM_WORDS, RS_FROM_HF, RS_FROM_PRESET, RS_FROM_DUMP, RS_FROM_SUBJECT } rs_origin;

/* What a side was taken for. */
typedef struct rs_contender {
  const char *text; /* as written; borrowed */
  char *file;       /* config.json of a folder; owned; NULL: `text` is the file */
  rs_origin origin;
  rs_profile profile; /* of configs; else without kinds */
  size_t kind;        /* the layers of it that `model` is of */
  rs_model model;     /* none for dumps */
  rs_recipe recipe;   /* method NULL for dumps */
  rs_spectrum spectrum;
  size_t length;      /* tokens */
  int folded;         /* dump that held each frequency twice: the pair layout that is for; else -1 */
  char read[240];     /* what was seen in a dump of cos and sin; "" of others */
  rs_buffers buffers; /* of a checkpoint */
} rs_contender;

/* What is compared. All borrowed. */
typedef struct rs_contest {
  const char *text[2]; /* a file (.json config or dump, .npy, .csv, .safetensors), the folder of a config.json, a
                          preset's name, or a recipe as YAML */
  const rs_subject
      *subject[2];         /* a recipe on its model in the place of text[i], which names it in messages; NULL: none */
  const char *layers;      /* of configs: which kind of their layers, as in rs_profile_find; NULL: the chosen ones */
  const char *hf, *preset; /* the model on which recipes stand; both NULL: the other side's */
  const char *hf_text;     /* as in rs_subject_in */
  size_t length;           /* tokens; 0: that of a subject, else the longest that A's model is published for, else B's,
                              else 4096 */
  double rtol;             /* relative difference that folds a list of doubled frequencies */
  bool biases; /* sides that add biases are taken beside such, or beside a list of slopes: they turn nothing,
                  and have empty spectra */
} rs_contest;

/* Both sides with their spectra. RS_INPUT as "A, TEXT: why", or with `problems` of a recipe. They are cleared on
 * failure; release them with rs_contest_clear. */
rs_status rs_contest_read(const rs_contest *contest, rs_contender sides[2], rs_problems *problems, rs_err *err)
    RS_NONNULL(1, 2, 3);
void rs_contest_clear(rs_contender sides[2]) RS_NONNULL(1);

/* One kind of layers that turn, beside the other side's dump. */
typedef struct rs_kind_match {
  size_t kind;              /* in the model's profile */
  rs_difference difference; /* of A and B, were A or B of this kind */
} rs_kind_match;

typedef struct rs_kind_matches {
  rs_kind_match *items; /* (count,) owned; none where no side is a dump, or the model's layers all turn alike */
  size_t count;
  size_t model; /* the side that has the layers: 0 or 1 */
} rs_kind_matches;

/* A dump beside each kind of the other side's layers, whichever was chosen. RS_DOMAIN, RS_MEMORY; cleared on failure.
 * Release with rs_kind_matches_clear. */
rs_status rs_kinds_match(const rs_contender sides[2], double rtol, rs_kind_matches *out, rs_err *err) RS_NONNULL(1, 3);
void rs_kind_matches_clear(rs_kind_matches *matches) RS_NONNULL(1);

/* Puts "B is A's full_attention recipe" before the causes of a difference, for each other kind that the dump equals. */
void rs_kinds_cause(const rs_contender sides[2], const rs_kind_matches *matches, const rs_difference *difference,
                    rs_causes *causes) RS_NONNULL(1, 2, 3, 4);

/* Buffers of consecutive layers that hold the same numbers, beside what a config says of these layers. */
typedef struct rs_buffer_check {
  size_t buffers, config; /* the sides that have them */
  size_t first, last;     /* layers; RS_NO_KIND: of all */
  size_t kind;            /* of the config's layers */
  rs_difference difference;
  rs_causes *causes; /* owned; NULL: nothing differs */
} rs_buffer_check;

typedef struct rs_buffer_checks {
  rs_buffer_check *items; /* (count,) owned */
  size_t count;
  bool differ;
} rs_buffer_checks;

/* Checks each checkpoint's buffers against the config of its own folder, or, of a file, the other side's. RS_DOMAIN,
 * RS_MEMORY; cleared on failure. Release with rs_buffer_checks_clear. */
rs_status rs_buffers_check(const rs_contender sides[2], double rtol, rs_buffer_checks *checks, rs_err *err)
    RS_NONNULL(1, 3);
void rs_buffer_checks_clear(rs_buffer_checks *checks) RS_NONNULL(1);

#endif
