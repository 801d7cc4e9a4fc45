/* attention/attention.h: simulated attention. A source makes queries and keys, a mask says who sees whom, and the
 * engine observes the softmax rows of one head in memory linear in the length. */
#ifndef ROPESCOPE_ATTENTION_H
#define ROPESCOPE_ATTENTION_H

#include "encoding/encoding.h"
#include "io/io.h"

/* ---- masks ------------------------------------------------------------------------------------------------------- */

typedef enum rs_mask_kind {
  RS_CAUSAL,
  RS_BIDIRECTIONAL,
  RS_WINDOW,
  RS_WINDOW_SINKS,
  RS_CROSS,
  RS_CHUNKS,
  RS_BAND
} rs_mask_kind;

/* Causal: n <= m. Window: also m - n < window. Window with sinks: or n < sinks (StreamingLLM, arXiv:2309.17453).
 * Chunks: n <= m, both within the same `window` tokens (Llama 4). Band: |m - n| < window (ModernBERT).
 * Cross: the queries belong to another sequence than the keys, of the same length. Every query sees every key, and
 * neither rotation nor bias acts (as in T5, BART, Whisper); additive embeddings and logit scales do. What is observed
 * by distance is so by |m - n| all the same. Where there are ids, they stand in the place of m and n in windows, chunks
 * and sinks; of tokens of one id those before a query are seen. */
typedef struct rs_mask {
  rs_mask_kind kind;
  size_t window, sinks; /* tokens, >= 1 where used */
  const double *ids;    /* (L,) positions of the tokens, which do not fall; NULL: tokens are counted. Borrowed */
} rs_mask;

/* Keys [begin, end). */
typedef struct rs_range {
  size_t begin, end;
} rs_range;

/* Whether queries see keys behind them in their own sequence. */
bool rs_mask_sees_ahead(const rs_mask *mask) RS_NONNULL(1);

/* The keys query m sees among 0..length-1, as 1 or 2 ascending, disjoint ranges; returns how many. */
size_t rs_mask_ranges(const rs_mask *mask, size_t length, size_t query, rs_range out[2]) RS_NONNULL(1, 4);

/* The same by views of the encoding (NULL: there is one): what of range r is read through view v, or an empty range. */
void rs_mask_views(const rs_mask *mask, const rs_encoding *encoding, size_t length, size_t query,
                   rs_range seen[RS_VIEWS][2]) RS_NONNULL(1, 5);

/* ---- queries ----------------------------------------------------------------------------------------------------- */

typedef enum rs_query_choice { RS_QUERIES_ALL, RS_QUERIES_LAST, RS_QUERIES_EVERY, RS_QUERIES_RANDOM } rs_query_choice;
enum { RS_QUERY_CHOICES = RS_QUERIES_RANDOM + 1 };
extern const char *const rs_query_choice_words[RS_QUERY_CHOICES + 1];

/* Which query positions are observed: all; the last `number`; every `number`-th, ending with the last; `number` drawn
 * without replacement. */
typedef struct rs_query_set {
  rs_query_choice choice;
  size_t number; /* >= 1 where used; last and random: more than there are means all */
} rs_query_set;

/* The positions in ascending order. Release *queries with free(). */
rs_status rs_queries_select(const rs_query_set *set, size_t length, uint64_t seed, size_t **queries, size_t *count,
                            rs_err *err) RS_NONNULL(1, 4, 5);

/* ---- sources of queries and keys --------------------------------------------------------------------------------- */

/* In the place of a needle's position: the query has none. */
#define RS_NO_NEEDLE SIZE_MAX

/* What a head does to its scores besides what every head does. */
typedef struct rs_score_rule {
  double soft_cap;     /* as in rs_attention_job */
  bool sinks;          /* it has a learned sink, of this logit: */
  double learned_sink; /* nats */
} rs_score_rule;

/* Queries and keys of one head that are there already, for sources that hand rows on instead of making them. */
typedef struct rs_given_rows {
  const double *q, *k;   /* token n: D numbers at q + n * q_step and at k + n * k_step, before rotation */
  size_t q_step, k_step; /* numbers from one token to the next */
  double factor;         /* multiplies queries: 1, or what scores are scaled by in place of 1/sqrt(D), times sqrt(D) */
  const size_t *sought;  /* (L,) the token that holds what each token asks for, or RS_NO_NEEDLE; NULL: none asks */
  rs_score_rule rule;
} rs_given_rows;

/* One head of one simulated model: everything a source may depend on. */
typedef struct rs_source_in {
  const void *params; /* the kind's own struct; for prepare alone */
  uint64_t seed;
  size_t head, heads; /* of the model's */
  size_t head_dim, length;
  size_t rotary_dim; /* of the model, for sources that speak of pairs */
  double rope_theta; /* of the model, for sources made for its plain RoPE */
  rs_pair_layout pair_layout;
  const double *ids;   /* (L, RS_AXES) position ids of the token layout */
  const uint32_t *run; /* (L,) run of the token layout each token belongs to */
  const rs_token_layout *tokens;
  size_t train_length;        /* of the model */
  const rs_given_rows *given; /* for sources that hand them on; NULL for others */
  const rs_model *model;
  const rs_recipe *rotated; /* resolved for it: what the rows of files were turned with; NULL: with nothing */
  void *state;              /* see rs_source_prepare */
} rs_source_in;

/* A source is a function of its input alone: any part can be made by any thread in any order. */
typedef struct rs_source_kind {
  rs_kind kind;
  /* RS_INPUT, with the parameter as subject, when parameters contradict each other. May be NULL. */
  rs_status (*check)(const rs_binding *binding, rs_err *err);
  /* RS_INPUT, with the parameter as subject where it is one's, when what the source reads is not there or does not fit
   * this model, or cannot be turned back from `rotated` (resolved for the model; NULL: it was not turned); RS_IO,
   * RS_UNSUPPORTED, RS_MEMORY. May be NULL. */
  rs_status (*fit)(const rs_binding *binding, const rs_model *model, const rs_recipe *rotated, rs_err *err);
  /* What every key and query of one input shares: prepare fills a state of so many bytes, zeroed before, from the
   * parameters and the rest of the input (NULL: it is a copy of the parameters); its other allocations go back in
   * `release`, which is called on success alone and may be NULL. 0: nothing is shared. */
  size_t state_size;
  rs_status (*prepare)(const rs_source_in *in, void *state, rs_err *err);
  void (*release)(void *state);
  /* The next four read in->state, never in->params. Keys [begin, end): out[(n - begin) * D + dim]. */
  void (*keys)(const rs_source_in *in, size_t begin, size_t end, double *out);
  /* The query of position `position`: out[dim]. */
  void (*query)(const rs_source_in *in, size_t position, double *out);
  /* The needle of the query at `position`, given that query: fills its key and returns the position it stands at, or
   * RS_NO_NEEDLE. NULL: the source has no needle. */
  size_t (*needle)(const rs_source_in *in, size_t position, const double *query, double *key);
  /* What the head does to its scores. NULL: nothing. */
  rs_score_rule (*rule)(const rs_source_in *in);
  /* The needle is the key that stands at its position: `needle` fills none, and none is added. */
  bool needle_is_key;
  /* Hands on what a checkpoint computes; its parameters are an rs_model_source. */
  bool of_model;
  /* What captions of its results say of queries and keys: appends phrase number `phrase` that holds for the params;
   * nothing from the number on at which there are no more. May be NULL. */
  void (*caption)(const void *params, size_t phrase, rs_text *out);
} rs_source_kind;

/* What a source says in place of the recipe that its rows were turned with. */
typedef enum rs_rotated_word { RS_ROTATED_NOT, RS_ROTATED_AS_PUBLISHED, RS_ROTATED_WORDS } rs_rotated_word;

/* Which rows of a checkpoint a source hands on. */
typedef enum rs_model_head { RS_EVERY_HEAD, RS_EACH_HEAD, RS_MODEL_HEADS } rs_model_head;

typedef struct rs_model_source {
  size_t layer;          /* block, from 0 */
  rs_count_or_word head; /* a number, or an rs_model_head: averaged, or each in cells of its own */
  rs_folder checkpoint;  /* a model of its own, that reads a text; NULL: the experiment's, that read their task */
  const char *tokens;    /* that text; NULL: none */
  rs_id_format numbers;  /* of it */
  rs_format precision;   /* of the weights, RS_F64 or RS_F32 */
} rs_model_source;

const rs_source_kind *const *rs_source_kinds(size_t *count) RS_NONNULL(1);
const rs_source_kind *rs_source_find(const char *name) RS_NONNULL(1);

/* Makes in->state, which is needed before keys, queries and needles. RS_DOMAIN where the source is undefined for this
 * input, RS_MEMORY; there is then no state. Release with rs_source_release. */
rs_status rs_source_prepare(const rs_source_kind *kind, rs_source_in *in, rs_err *err);
void rs_source_release(const rs_source_kind *kind, rs_source_in *in);

/* ---- calibrated heads -------------------------------------------------------------------------------------------- */

/* The curve of logits against distance that a head is made to have within the trained length. */
typedef enum rs_wanted_curve { RS_WANTED_LOCAL, RS_WANTED_PEAK, RS_WANTED_FLAT, RS_WANTED_NOISE } rs_wanted_curve;
enum { RS_WANTED_CURVES = RS_WANTED_NOISE + 1 };
extern const char *const rs_wanted_curve_words[RS_WANTED_CURVES + 1];

typedef struct rs_wanted {
  rs_wanted_curve curve;
  double gain;  /* nats: local's at distance 0, peak's at its top, flat's everywhere, noise's standard deviation */
  double top;   /* tokens: the peak's */
  double width; /* tokens: the peak's standard deviation, or the distance at which local falls by e */
} rs_wanted;

/* The curve at one distance, also past the trained length: it is a function of distance alone. NaN for noise. */
double rs_wanted_logit(const rs_wanted *wanted, double distance) RS_NONNULL(1);

/* The curve at distances 0 .. count - 1; `noise` is read for noise alone. */
void rs_wanted_fill(const rs_wanted *wanted, rs_stream noise, size_t count, double *out) RS_NONNULL(1, 4);

/* How a head is calibrated: parameters that the source `calibrated` and the metric `calibration` share. */
typedef struct rs_calibrated {
  rs_wanted wanted;
  double ridge; /* squared nats: what a squared coefficient costs */
} rs_calibrated;

/* Their specs, for a struct that holds them as its field `block`. */
#define RS_CALIBRATED_SPECS(structure, block)                                                                          \
  {RS_FIELD_AS(structure, block.wanted.curve, "wanted"), .unit = "", RS_WORDS(rs_wanted_curve_words),                  \
   .fallback = "local",                                                                                                \
   .summary = "logits wanted by distance x: gain e^(-x / width), gain e^(-((x - at) / width)^2 / 2), gain, or iid "    \
              "N(0, gain^2) of the seed"},                                                                             \
      {RS_FIELD_AS(structure, block.wanted.gain, "gain"),                                                              \
       .unit = "nats",                                                                                                 \
       .min = -1000,                                                                                                   \
       .max = 1000,                                                                                                    \
       .fallback = "8",                                                                                                \
       .summary = "size of the wanted curve"},                                                                         \
      {RS_FIELD_AS(structure, block.wanted.top, "at"), .unit = "tokens", .min = 0, .max = 1e9, .fallback = "1000",     \
       .summary = "peak: the distance of its top"},                                                                    \
      {RS_FIELD_AS(structure, block.wanted.width, "width"),                                                            \
       .unit = "tokens",                                                                                               \
       .min = 1e-3,                                                                                                    \
       .max = 1e9,                                                                                                     \
       .fallback = "100",                                                                                              \
       .summary = "local: the distance at which it has fallen by e; peak: its standard deviation"},                    \
  {                                                                                                                    \
    RS_FIELD_IN(structure, block, ridge),                                                                              \
        .unit = "1", .min = 0, .max = 1e9, .fallback = "1",                                                            \
        .summary = "what a squared coefficient costs in the fit, in squared nats; 0: plain least squares"              \
  }

/* The logit (nats) of a head with these coefficients between two tokens, key <= query, under an encoding that turns as
 * many pairs: its turns, amp and logit scale; no bias. Under plain RoPE it is the fitted curve. */
double rs_calibrated_logit(const rs_encoding *encoding, const rs_wave_fit *head, size_t query, size_t key)
    RS_NONNULL(1, 2);

/* ---- projected embeddings ---------------------------------------------------------------------------------------- */

/* What additive embeddings put on q and k: W_q^T e[n] and W_k^T e[n], with W_q and W_k orthonormal (W, D) parts of one
 * seeded draw, orthogonal to each other where W >= 2D. A token of width W = H * D whose coordinates in those subspaces
 * are the source's q and k, plus e[n], projects to exactly q + W_q^T e[m] and k + W_k^T e[n]. */
typedef struct rs_projection {
  double *q; /* (Q, D), for the queries it was made for */
  double *k; /* (L, D) */
} rs_projection;

/* For an encoding with an embedding. Release with rs_projection_free. */
rs_status rs_projection_create(const rs_encoding *encoding, size_t head, uint64_t weights_seed, const size_t *queries,
                               size_t query_count, rs_projection **projection, rs_err *err) RS_NONNULL(1, 6);
void rs_projection_free(rs_projection *projection);

/* ---- what is observed -------------------------------------------------------------------------------------------- */

/* What the engine computes logits and weights in. Float is twice as fast; AUTO takes it wherever the bound on its
 * errors, which grows with the largest logit there can be, is within RS_SCORE_TOLERANCE. */
typedef enum rs_score_format { RS_SCORES_AUTO, RS_SCORES_F32, RS_SCORES_F64 } rs_score_format;
enum { RS_SCORE_FORMATS = RS_SCORES_F64 + 1 };
extern const char *const rs_score_format_words[RS_SCORE_FORMATS + 1];

/* What a run leaves unseen of a row's weight unless told otherwise: far below what doubles keep of the rest's sum. */
#define RS_EPSILON 1e-12

/* Relative error of a weight, and nats of a logit, that AUTO accepts. It is a bound: simulated content errs a hundred
 * times less, as does a mean over some hundred rows. */
#define RS_SCORE_TOLERANCE 2e-4

/* One head of attention to observe. Everything is borrowed. */
typedef struct rs_attention_job {
  const rs_encoding *encoding;
  const rs_projection *projection; /* where the encoding has an embedding; else NULL */
  size_t head;
  rs_mask mask;
  const size_t *queries; /* (Q,) positions, ascending */
  size_t query_count;
  const double *q; /* (Q, D), before rotation */
  const double *k; /* (L, D), before rotation */
  /* Needles, or NULL: query i sees one more key, needle_key[i], that stands at the position of key needle_at[i]. Where
   * there are no needle_key, its needle is key needle_at[i] itself, among the others. */
  const size_t *needle_at;  /* (Q,) positions, or RS_NO_NEEDLE */
  const double *needle_key; /* (Q, D), before rotation; or NULL */
  const size_t *edges;      /* (bins + 1,) distance bins in tokens, the last edge L; see rs_log_edges */
  size_t bins;
  double soft_cap;            /* nats: products become cap tanh(product / cap), before the bias; 0: they do not */
  const double *learned_sink; /* a logit that takes weight and is no key, nats; NULL: none */
  size_t sinks;               /* the first keys whose weight is summed */
  size_t local;       /* segments are wanted, of which that around the query has keys less far than this; 0: none are */
  const double *tops; /* (top_count,) ascending whole numbers: the weight of so many largest keys is wanted */
  size_t top_count;
  rs_range map_queries, map_keys; /* rows at positions map_queries hold the weights of keys map_keys, one by one; both
                                     may end behind the length; empty: no row does */
  bool moments;                   /* the moments of the logits in each bin are wanted; nothing is then skipped */
  rs_score_format scores;
  double epsilon; /* keys may be left out of a row that provably hold no more of its weight together; 0: none */
} rs_attention_job;

/* The parts of a row: its needle, the first keys, those near the query, the rest; a key is in the first part that it
 * belongs to. */
typedef enum rs_row_segment { RS_ROW_NEEDLE, RS_ROW_SINK, RS_ROW_LOCAL, RS_ROW_REST } rs_row_segment;
enum { RS_ROW_SEGMENTS = RS_ROW_REST + 1 };

/* One softmax row. Weights sum to 1 over the keys the query sees, its needle and the job's learned sink included. */
typedef struct rs_row {
  size_t head;        /* of the job */
  size_t query;       /* position m */
  size_t keys;        /* how many keys it sees, an added needle included */
  double max_logit;   /* nats */
  double log_sum_exp; /* nats */
  double entropy;     /* nats, a learned sink included; in [0, ln rs_row_outcomes] */
  size_t argmax;      /* position of the largest logit, the first of equals; the needle's if it is larger than all */
  double sink_weight;
  bool has_learned;                /* the job has a learned sink */
  double learned_weight;           /* of that sink */
  bool needle_planted, has_needle; /* the query has a needle; the mask lets it see that */
  size_t needle_distance;          /* |m - n|, also of a hidden one */
  double needle_logit, needle_weight;
  size_t needle_rank; /* keys with a larger logit; 0: the needle wins */
  /* How many of its keys were left out (job->epsilon), and the most weight they can have together. */
  double skipped_keys, skipped_weight;
  double segment_weight[RS_ROW_SEGMENTS]; /* where the job wants them: with learned_weight they sum to 1 */
  double *top_weight;                     /* (top_count,) of the keys with the most; borrowed from the observation */
  /* (map_keys,) weights of single keys, a planted needle's added to that of the key where it stands; NaN: the key is
   * not seen. NULL in rows outside map_queries; borrowed. */
  double *key_weight;
  rs_range map_keys;
  /* (bins,) by distance |m - n|; borrowed from the observation */
  double *bin_weight; /* of all keys */
  /* Of all but the needle: how many, mean logit, sum of squared deviations. NULL unless the job wants moments. */
  double *bin_keys, *bin_mean, *bin_squares;
} rs_row;

/* Outcomes n that the weights of a row are a distribution over: its keys and its learned sink. The largest entropy that
 * the row can have is ln n. */
static inline size_t rs_row_outcomes(const rs_row *row) {
  return row->keys + row->has_learned;
}

/* The rows of one job. */
typedef struct rs_observation {
  rs_row *rows; /* (Q,) in the order of the queries */
  size_t count, bins;
  rs_score_format scores; /* what they were computed in */
  double error;           /* bound on the relative error of a weight and on a logit's, nats; see engine.h */
  double pairs, skipped;  /* queries with keys: all that the mask lets see each other, and those left out */
  double skipped_weight;  /* no row has lost more of its weight by it */
  double *storage;
} rs_observation;

void rs_observation_free(rs_observation *observation);

/* ---- the reference row and the engine ---------------------------------------------------------------------------- */

/* Logits of query number `index` of the job against every key, by the formula of encoding.h and nothing else (across
 * sequences, without rot and bias); keys it does not see get -infinity. `logits` (L,). `*needle` gets the needle's
 * logit, or NaN. What every engine is tested against. */
rs_status rs_reference_row(const rs_attention_job *job, size_t index, double *logits, double *needle, rs_err *err)
    RS_NONNULL(1, 3, 4);

/* Work space for jobs up to one size, to be used again and again. Uses OpenMP threads inside where a job is worth it;
 * the results are the same bits for any number of them. */
typedef struct rs_engine rs_engine;

rs_status rs_engine_create(size_t length, size_t head_dim, size_t views, rs_engine **engine, rs_err *err) RS_NONNULL(4);
void rs_engine_free(rs_engine *engine);

/* Bytes an engine of this size takes, for plans: linear in the length. */
double rs_engine_bytes(size_t length, size_t head_dim, size_t views, size_t bins, size_t threads);

/* What jobs take besides that want the largest keys. */
double rs_top_bytes(size_t length, size_t threads);

/* Rotates the keys of the job and lays them out for rs_engine_observe. The engine keeps the job and borrows its arrays
 * until the next load. RS_UNSUPPORTED where a bidirectional mask sees the future and the encoding's views do not;
 * RS_DOMAIN where logits would not be finite. After a failure no job is loaded. */
rs_status rs_engine_load(rs_engine *engine, const rs_attention_job *job, rs_err *err) RS_NONNULL(1, 2);

/* Observes queries number [first, first + count) of the job that is loaded. Release *observation with
 * rs_observation_free. RS_INTERNAL where there is no such job or query. */
rs_status rs_engine_observe(rs_engine *engine, size_t first, size_t count, rs_observation **observation, rs_err *err)
    RS_NONNULL(1, 4);

/* Loads and observes every query of the job. */
rs_status rs_engine_run(rs_engine *engine, const rs_attention_job *job, rs_observation **observation, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* The number of threads the engine uses (1 without OpenMP). */
size_t rs_engine_threads(void);

/* The number of the calling thread among those that work together, from 0. */
size_t rs_engine_thread(void);

#endif
