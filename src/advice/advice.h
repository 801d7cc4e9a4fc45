/* advice/advice.h: what a setting should be, and why two differ. Four parts: compare (why two settings differ), solve
 * (which setting serves a length), check (is a config.json right) and convert (a published recipe for another engine).
 */
#ifndef ROPESCOPE_ADVICE_H
#define ROPESCOPE_ADVICE_H

#include "config/config.h"

/* ==== compare =================================================================================================== */

/* Why two positional settings differ. Each side is brought to a spectrum; the changes that turn
 * one side into the other are found by trying them. */

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

typedef enum rs_side_origin { RS_FROM_WORDS, RS_FROM_HF, RS_FROM_PRESET, RS_FROM_DUMP, RS_FROM_SUBJECT } rs_side_origin;

/* What a side was taken for. */
typedef struct rs_contender {
  const char *text; /* as written; borrowed */
  char *file;       /* config.json of a folder; owned; NULL: `text` is the file */
  rs_side_origin origin;
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

/* ==== solve ===================================================================================================== */

/* Which setting serves a length, and which length a setting serves, by the field's criteria: the
 * first violation of B(m) >= 0, the critical dimension, and angles out of the trained range. */

/* Frequencies as they are run, beside those of training. Borrows. */
typedef struct rs_turning {
  const double *omega;   /* (pairs,) rad/token */
  const double *trained; /* (pairs,) rad/token of plain RoPE at L0; NULL for a first violation alone */
  size_t pairs, still;   /* R/2, and how many do not turn: (D - R)/2 */
  double train_length;   /* L0, tokens */
} rs_turning;

/* The longest context, at most `most` < 2^63, whose distances all have sum_j cos(m omega_j) + still >= 0. */
rs_status rs_reach_first_violation(const rs_turning *turning, uint64_t most, uint64_t *length, rs_err *err)
    RS_NONNULL(1, 3);

/* Whether all distances of `length` tokens have such a sum. *hint: 0, or a distance near which other frequencies had a
 * negative one, where these may have theirs; it becomes the next one's, so that a search over settings which change
 * little by little seldom looks at every distance. */
rs_status rs_reach_serves(const rs_turning *turning, uint64_t length, uint64_t *hint, bool *serves, rs_err *err)
    RS_NONNULL(1, 3, 4);

/* The period of the critical pair as it is run (Liu et al., arXiv:2310.05209, theorem 2), and the longest context in
 * which no pair that did not go full circle in training turns further than there; infinite where every pair did. */
double rs_reach_critical(const rs_turning *turning) RS_NONNULL(1);
double rs_reach_in_range(const rs_turning *turning) RS_NONNULL(1);

/* The bases that bring these to `length`, pair >= 1 being the critical one: at the second one the largest angle just
 * equals that of training. */
double rs_base_critical(size_t pair, size_t pairs, double length);
double rs_base_in_range(double theta, size_t pair, size_t pairs, double train_length, double length);

/* ---- questions --------------------------------------------------------------------------------------------------- */

typedef enum rs_sought { RS_SOLVE_BASE, RS_SOLVE_FACTOR, RS_SOLVE_LENGTH } rs_sought;
typedef enum rs_criterion { RS_FIRST_VIOLATION, RS_CRITICAL_DIM, RS_OUT_OF_RANGE, RS_NTK_AWARE } rs_criterion;
enum { RS_CRITERIA = RS_NTK_AWARE + 1 };

/* Which setting serves a length, or which length a setting serves. All borrowed; NULL, 0: not named. */
typedef struct rs_question {
  rs_sought sought;
  rs_criterion criterion;
  double length;           /* the context to be served, tokens */
  double base;             /* plain RoPE at this base */
  size_t head_dim;         /* D in place of a model; even */
  const char *hf, *preset; /* a model: a Hugging Face config.json, or the name of a preset */
  const char *hf_text;     /* as in rs_subject_in */
  const char *layers;      /* as in rs_subject_in */
  const char *method;      /* a recipe on it, as YAML; NULL: what it publishes, else plain RoPE */
} rs_question;

/* Parts of a question. Geometry: head_dim, or a model. */
typedef enum rs_question_part {
  RS_ASKS_LENGTH = 1,
  RS_ASKS_BASE = 2,
  RS_ASKS_GEOMETRY = 4,
  RS_ASKS_MODEL = 8,
  RS_ASKS_METHOD = 16
} rs_question_part;

/* The parts that it has, as a set; and whether it lacks one that its quantity and criterion need, or has one that they
 * have no use for: *part is the first such, and *missing which of both. */
int rs_question_has(const rs_question *question) RS_NONNULL(1);
bool rs_question_lacks(const rs_question *question, rs_question_part *part, bool *missing) RS_NONNULL(1, 2, 3);

/* One line of an answer: "means", "integer", "training", "search", "note", "switch", "recipe", "published", "tuned",
 * "layers", "guess", "window", "temperature", "criterion", "reference". */
typedef struct rs_remark {
  const char *name;
  char text[512];
} rs_remark;

typedef struct rs_solution {
  double value;                 /* base, factor, or tokens */
  char number[RS_NUMBER_CHARS]; /* the same to the digits that hold */
  bool open;                    /* a length at which the search ended: it may be more */
  rs_remark rows[15];
  size_t count;
} rs_solution;

/* RS_INPUT with `problems` or a message for wrong words, RS_DOMAIN where nothing serves, RS_UNSUPPORTED for methods
 * that do more than turn pairs. What a question needs is the caller's to check. Some searches take minutes. */
rs_status rs_solve(const rs_question *question, rs_solution *solution, rs_problems *problems, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* What to do by all criteria together, and what it costs by formula. Release with rs_advice_clear. */
typedef struct rs_advice {
  double value; /* the base, factor or length; NaN: there is no advice */
  bool open;    /* a length up to which no end was found */
  rs_text text; /* one sentence without its full stop: use X because Y; costs Z */
} rs_advice;

/* From what each criterion says of the question, NULL where it says nothing: the base that satisfies both the first
 * violation and the range of angles, an integer unless it is the base of training, and the factor or length that keeps
 * angles in range, or, where training itself had no negative sum of cosines, length without one. The question's own
 * criterion is not read. Errors as of rs_solve. */
rs_status rs_advise(const rs_question *question, const rs_solution *const solved[RS_CRITERIA], rs_advice *advice,
                    rs_problems *problems, rs_err *err) RS_NONNULL(1, 2, 3, 4);
void rs_advice_clear(rs_advice *advice) RS_NONNULL(1);

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

/* What ways of reading beyond the trained length cost the models that were measured (share/evidence.csv). */
typedef struct rs_evidence rs_evidence;

/* From CSV text, or from the installed file. RS_INPUT "evidence.csv:line: why", RS_IO, RS_MEMORY; *evidence is then
 * NULL. */
rs_status rs_evidence_read(const char *text, size_t length, rs_evidence **evidence, rs_err *err) RS_NONNULL(1, 3);
rs_status rs_evidence_load(rs_evidence **evidence, rs_err *err) RS_NONNULL(1);
void rs_evidence_free(rs_evidence *evidence);
RS_HOLDS(rs_evidence)

/* What a forecast is of. */
typedef struct rs_evidence_of {
  const rs_model *model;
  double reads, length; /* tokens: that the model reads as it is, and that it is to read */
} rs_evidence_of;

/* |residual| that 80 % of the rows stay within whose group is left out, in asinh(nats / 0.1); rows of `group` take no
 * part, SIZE_MAX: all do. NaN where nothing is foretold. RS_MEMORY. */
rs_status rs_evidence_spread(const rs_evidence *evidence, size_t group, double *spread, rs_err *err) RS_NONNULL(1, 3);

/* The loss less that of a window of what the model reads, on the same targets, nats, with the interval that held 80 %
 * of what was foretold of models that were left out. NaN and 0 models: no evidence. */
typedef struct rs_forecast {
  double increase, low, high;
  size_t models;  /* with evidence of the method */
  char from[160]; /* the nearest of them */
} rs_forecast;

/* Of a resolved recipe; NULL: of the model unchanged. RS_MEMORY, and errors of rs_spectrum_make. */
rs_status rs_evidence_forecast(const rs_evidence *evidence, const rs_evidence_of *of, const rs_recipe *recipe,
                               rs_forecast *forecast, rs_err *err) RS_NONNULL(1, 2, 4);

/* What orders ways that nobody measured: those that bend the map of positions first, then by needle_damage. */
double rs_rule_of(bool bends, double needle_damage);

enum { RS_PREDICTORS = 8, RS_EVIDENCE_GROUPS = 16 };

/* The models that are left out together; NULL past the last. */
const char *rs_evidence_group(const rs_evidence *evidence, size_t index) RS_NONNULL(1);

/* What a predictor is worth on groups of models that it has not seen: shares, means over the groups. */
typedef struct rs_judgement {
  const char *name;
  double right, serious; /* of pairs of ways of one table, more than two standard errors apart: in order; the same
                            without the unchanged model and Position Interpolation */
  double best;           /* of tables: the way named first is the best, or not two standard errors behind it */
  double coverage;       /* of rows: within the interval; NaN: there is none */
  size_t pairs, serious_pairs, tables, rows;
  double group_right[RS_EVIDENCE_GROUPS], group_covered[RS_EVIDENCE_GROUPS]; /* `right` and `coverage` in each; NaN:
                                                                                none is counted */
} rs_judgement;

rs_status rs_evidence_judge(const rs_evidence *evidence, rs_judgement judgements[RS_PREDICTORS], rs_err *err)
    RS_NONNULL(1, 2);

/* ---- whole settings ---------------------------------------------------------------------------------------------- */

enum { RS_LONGEST_RANKED = 1 << 22 }; /* tokens, 100 MB of tables */

/* For which length, on which model, by which evidence. All borrowed; NULL: not named, or none. */
typedef struct rs_ranking_in {
  size_t length;                              /* tokens, from 2 to RS_LONGEST_RANKED */
  const char *hf, *hf_text, *preset, *layers; /* as in rs_question */
  const rs_evidence *evidence;
} rs_ranking_in;

/* A recipe, and what is foretold of it. */
typedef struct rs_candidate {
  rs_recipe recipe;     /* resolved and checked */
  bool unchanged;       /* it is what the model is read with as it is */
  bool serves;          /* it is, and its frequencies follow the length */
  bool first;           /* it is, and comes before all others */
  bool bends;           /* it moves positions by more than a factor */
  double damage;        /* needle_damage at the length */
  rs_forecast forecast; /* 0 models: no evidence */
  rs_recipe said;       /* the same as a config.json can say it, with the base: method NULL: it cannot */
  double theta;
  bool published; /* its tables are those of the recipe that the model is published with */
} rs_candidate;

/* A recipe that has no costs there. */
typedef struct rs_left_out {
  const char *method;
  char why[160];
} rs_left_out;

enum { RS_CANDIDATES = 32 };

/* All recipes. Release with rs_ranking_clear. */
typedef struct rs_ranking {
  rs_profile profile;
  size_t kind;                       /* the layers of it that are asked about */
  const rs_model *model;             /* theirs; borrows from the profile */
  double train_length, reads;        /* L0 of its recipe, and what it reads as it is; tokens */
  bool extended;                     /* by a published recipe */
  rs_candidate items[RS_CANDIDATES]; /* by the rule */
  size_t count;
  rs_left_out left_out[RS_CANDIDATES];
  size_t left_out_count;
} rs_ranking;

/* Ranks the methods that are used without training, with the parameters that the length asks for, and the model as it
 * is; of a model whose published recipe extends it, that recipe with a larger factor. RS_INPUT for what names no model,
 * one whose layers turn nothing or whose trained length is unknown, or a length out of range, RS_DOMAIN where the model
 * reads the length as it is, or its layers see no farther, RS_MEMORY. Cleared on failure. */
rs_status rs_rank_settings(const rs_ranking_in *in, rs_ranking *ranking, rs_err *err) RS_NONNULL(1, 2);
void rs_ranking_clear(rs_ranking *ranking) RS_NONNULL(1);

/* The best of those that a config.json can say; SIZE_MAX: none. */
size_t rs_ranking_best_said(const rs_ranking *ranking) RS_NONNULL(1);

/* ---- whole settings, measured ------------------------------------------------------------------------------------ */

enum { RS_MEASURED_READS = 4, RS_MEASURED_TARGETS = 512 };

/* What is measured, on which model and text. All borrowed; NULL, 0: the default. */
typedef struct rs_measuring {
  const char *checkpoint; /* a folder or a GGUF file, as configs name it */
  const char *text;       /* the ids of its tokens, a file as the task `tokens` reads it */
  const char *methods;    /* ways to read, as a config lists them, YAML; NULL: those that need no training */
  size_t length;          /* of each read, tokens */
  size_t reads, targets;  /* how many side by side, and the tokens at the end of each that are scored: by default
                             RS_MEASURED_READS, and RS_MEASURED_TARGETS, or the trained length where that is less */
} rs_measuring;

/* The experiment that measures: every way reads the same targets, beside the model unchanged, which is what its file
 * publishes, and the window, which reads its trained length alone. rs_run runs it. RS_INPUT with `problems` or a
 * message for a text that is too short or has ids that the model has not, RS_DOMAIN where the length is within
 * training, RS_UNSUPPORTED for a model that turns nothing, RS_IO, RS_MEMORY. NULL on failure. */
rs_status rs_measure_make(const rs_measuring *in, rs_experiment **experiment, rs_problems *problems, rs_err *err)
    RS_NONNULL(1, 2, 3, 4);

/* How fast the model reads here. */
typedef struct rs_read_rate {
  double flops;   /* in a second, by as many reads as there will be */
  size_t tokens;  /* of the short reads that found it, */
  double seconds; /* and what they took */
} rs_read_rate;

/* Reads the model for about a second, or a quarter of the length. Fails as a run does. */
rs_status rs_measure_rate(const rs_measuring *in, const rs_experiment *experiment, rs_read_rate *rate, rs_err *err)
    RS_NONNULL(1, 2, 3, 4);

/* A way and what it came to; NaN where it failed. */
typedef struct rs_measured_way {
  const char *label, *why; /* why it failed, or a warning; "" */
  rs_recipe recipe;        /* what turns its pairs; of both baselines what the model publishes */
  bool window, unchanged;  /* it is, or stands for, that baseline */
  size_t tokens;           /* of each read */
  double loss;             /* mean over targets, nats */
  rs_interval difference;  /* less the window's, paired by reads, 95 % by the bootstrap: as the results have it */
  rs_interval above;       /* less the best way's */
  bool apart, behind;      /* from the window, and from the best way: neither that interval nor Student's holds 0 */
  double *reads;           /* (reads,) the loss of each */
} rs_measured_way;

/* What all ways came to. Release with rs_measured_clear. */
typedef struct rs_measured {
  rs_measured_way *items; /* (count,) the least loss first */
  size_t count, reads, window_tokens;
  size_t best; /* of the items: the least loss of those apart below the window; where none is, of all */
  rs_arena arena;
} rs_measured;

/* Reads the results of such an experiment. RS_INPUT for files that were changed, RS_IO, RS_MEMORY. Cleared on failure.
 */
rs_status rs_measured_read(const rs_experiment *experiment, const char *directory, rs_measured *out, rs_err *err)
    RS_NONNULL(1, 2, 3, 4);
void rs_measured_clear(rs_measured *measured) RS_NONNULL(1);

/* Adds one sentence without its full stop: which way is apart from the window and from the others, that nothing beats
 * the window, or to keep what the file says. */
void rs_measured_advise(const rs_measured *measured, rs_text *text) RS_NONNULL(1, 2);

/* ==== check ===================================================================================================== */

/* Is a config.json right? Rules read it as it is written, and say what is wrong, where, and what to
 * write in its place. A portrait says what it comes to, right or wrong. */

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
  char class[160];       /* what the file is read as, and by which key: "llama, by model_type" */
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

/* ==== convert =================================================================================================== */

/* The positional recipe of a published model for another consumer, as keys of its config or as
 * arguments of its command line, with a note wherever it cannot say the recipe, or reads it otherwise. */

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
  bool kept;                         /* a file's recipe stays in its words, and serves the length as it is */
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

/* A candidate that can be said, for the consumer called `to`: what its file publishes stays in the file's words,
 * another takes its place. `model` is that of the ranking, and changed. Errors as of rs_convert. */
rs_status rs_candidate_convert(const rs_ranking *ranking, const rs_candidate *candidate, size_t length,
                               rs_convertible *model, const char *to, rs_conversion *out, rs_err *err)
    RS_NONNULL(1, 2, 4, 5, 6);

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
