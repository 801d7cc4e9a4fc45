/* encoding/encoding.h: positional encodings. A method is a named recipe of stages; at one length a
 * recipe becomes an rs_encoding, the plain tables that attention reads:
 *
 *   logit(h,m,n) = logit_scale[m] * head_scale[h] * < rot(q[m], pos_q[v][m]), rot(k[n], pos_k[v][n]) > / sqrt(D)
 *                  + bias(h,m,n)
 *
 * Vectors of distance, which some methods have in the place of rotation, add to the product (see rs_vectors).
 *
 * rot(x,p) turns pair j by p[axis[j]] * omega[j] radians and multiplies it by amp (and by the token's gain, where the
 * encoding has gains); v is the view of the segment that holds n; `embed` is added to the tokens from which q and k are
 * projected.
 *
 * Symbols: L length, L0 train_length, H heads, D head_dim, R rotary_dim, A axes, V views, s scale. */
#ifndef ROPESCOPE_ENCODING_H
#define ROPESCOPE_ENCODING_H

#include "kernel/kernel.h"

/* Recipes: positional encodings as data. Kinds of stages, methods that name a kind for each stage, recipes, which are
 * methods with their parameters, the dialects of implementations, the geometry of models, and which tokens are text,
 * image or video. */

enum { RS_AXES = 3, RS_VIEWS = 4 };

/* ---- kinds: what fills a stage ----------------------------------------------------------------------------------- */

typedef struct rs_model rs_model;
typedef struct rs_token_layout rs_token_layout;

/* Numbers of an encoding that training may change: one array of one stage ("embed.table", "freq.x", "bias.r1",
 * "logit_scale"). Its shape depends on the recipe, the model and the layout of the tokens, not on the length. */
typedef struct rs_learned {
  const char *name; /* static */
  size_t rows, columns;
} rs_learned;

enum { RS_LEARNED = 10 }; /* arrays of an encoding at most */

/* What every kind says of itself; the config check, `ropescope list` and the manifest read nothing else. */
typedef struct rs_kind {
  const char *name;
  const char *summary;
  const char *reference; /* paper or code, and equation */
  int version;           /* 0: the first, told as 1; raised when the same parameters give other numbers */
  const rs_param *params;
  size_t param_count;
  size_t params_size; /* bytes of the struct that `params` are the fields of */
} rs_kind;

static inline int rs_kind_version(const rs_kind *kind) {
  return kind->version > 0 ? kind->version : 1;
}

/* The parameters of a kind: its specs, and the struct whose fields they are. */
#define RS_KIND(specs, struct_type)                                                                                    \
  .params = (specs), .param_count = RS_COUNT(specs), .params_size = sizeof(struct_type)

/* What a frequency table is made from. */
typedef struct rs_freq_in {
  const struct rs_freq_kind *kind;     /* that is asked */
  size_t length, head_dim, rotary_dim; /* L, D tokens; R dims */
  size_t heads;                        /* H */
  double theta;                        /* base of the geometric ladder */
  double train_length, max_length;     /* L0 and the published maximum, tokens */
  double scale;                        /* s; NaN where the method has no scale */
  bool sections;                       /* pairs are shared out among axes (M-RoPE) */
  const void *params;                  /* the kind's own struct */
} rs_freq_in;

/* `factor` multiplies cos and sin (equally: its square multiplies the logits); `logit_factor` multiplies the logits. */
typedef struct rs_freq_out {
  double *omega; /* (R/2,) rad/token */
  double factor, logit_factor;
} rs_freq_out;

/* A kind's parameters, and those of its stage, are checked before anything is filled: RS_INPUT, with the parameter as
 * subject, where they contradict each other or the model. NULL: nothing to check. */
typedef rs_status rs_kind_check(const rs_binding *binding, const rs_model *model, rs_err *err);

typedef struct rs_freq_kind {
  rs_kind kind;
  bool scaled;  /* reads s: the method then has the parameters `scale` and `factor` */
  bool trained; /* reads L0, without which it has no table */
  rs_kind_check *check;
  rs_status (*fill)(const rs_freq_in *in, rs_freq_out *out, rs_err *err);
  /* Which axis (0 t, 1 h, 2 w) pair j of `pairs` reads, in place of the sections of M-RoPE. NULL: by the sections. */
  size_t (*axis)(const void *params, size_t pair, size_t pairs);
  /* Pairs that read rows and columns at once: pair j of a head turns by column * x + row * y, rad/patch; `fill` gives
   * their length, of the first head. NULL: one axis a pair. */
  void (*mix)(const rs_freq_in *in, size_t head, size_t pair, double *x, double *y);
  /* Of such: whether heads differ in them, */
  bool (*by_head)(const rs_freq_in *in);
  /* layers do (*seed gets the parameter that is drawn by, NULL where they begin alike), */
  bool (*by_layer)(const rs_settings *settings, const char **seed);
  /* and training changes them. NULL, all three: no. */
  bool (*learned)(const void *params);
  /* ln of what a query's pair j of `pairs` is multiplied by for each token of its position; a key's is divided by it.
   * NULL: no gain. */
  double (*log_gain)(const void *params, size_t pair, size_t pairs);
} rs_freq_kind;

/* What the other stages are prepared from. A kind's `prepare` makes its state of `state_size` bytes, zeroed before,
 * from this; what reads it later reads the state alone. What this points to outlives the state. */
typedef struct rs_stage_in {
  size_t length, heads, head_dim, width; /* L, H, D, H * D */
  double train_length;                   /* L0, tokens */
  double scale;                          /* s; NaN where the method has none */
  const rs_token_layout *tokens;
  const char *method;  /* its name, for messages */
  const rs_kind *kind; /* of the stage that is prepared */
  const void *params;  /* the kind's own struct */
  /* (read_count,) keys of the last query, which alone are read: a table by distance may be 0 elsewhere. NULL: all. */
  const size_t *read;
  size_t read_count;
} rs_stage_in;

/* Keys [begin, end) of one query row, read through view `view`. */
typedef struct rs_segment {
  size_t begin, end, view;
} rs_segment;

/* Positions of all tokens in every view, (L, A) tokens each. */
typedef struct rs_positions {
  size_t length, axes;
  double *const *q, *const *k;
} rs_positions;

typedef struct rs_pos_kind {
  rs_kind kind;
  bool scaled;
  bool text_only;   /* one axis, on which text counts by 1 */
  size_t views;     /* V, 1..RS_VIEWS */
  const char *seed; /* the parameter that positions are drawn by; NULL: they are not drawn */
  size_t state_size;
  rs_status (*prepare)(const rs_stage_in *in, void *state, rs_err *err); /* NULL: positions stay as the ids are */
  /* Moves the positions, which hold the token ids on entry. */
  rs_status (*fill)(const void *state, const rs_positions *positions, rs_err *err);
  /* Cuts keys 0..m of query m into consecutive segments; returns how many. NULL: one segment, view 0. */
  size_t (*segments)(const void *state, size_t query, rs_segment out[RS_VIEWS]);
} rs_pos_kind;

/* Rows and columns of patches that a learned table is for, which its parameter `table_grid` says or leaves to the
 * pictures. NULL: the table is for no grid. */
typedef void rs_kind_grid(const void *state, size_t *rows, size_t *columns);

/* A sine or cosine that stands in a channel of a table: sin(omega x) or cos(omega x) of one coordinate x. */
typedef struct rs_embed_wave {
  size_t channel, partner; /* partner: where the other of the two stands */
  bool cosine;
  uint16_t axis; /* 0 the position, 1 the row, 2 the column */
  double omega;  /* rad/token */
} rs_embed_wave;

typedef struct rs_embed_kind {
  rs_kind kind;
  rs_kind_check *check;
  /* A parameter that has another default beside these settings, and that default; NULL: none has. May be NULL. */
  const char *(*defaults)(const rs_settings *settings, const char **value);
  /* RS_INPUT, with the parameter as subject, where given numbers do not suit the tokens. NULL: they suit any. */
  rs_status (*fit)(const rs_binding *binding, size_t width, const rs_token_layout *tokens, rs_err *err);
  size_t state_size;
  /* RS_DOMAIN where there is no embedding for these tokens. */
  rs_status (*prepare)(const rs_stage_in *in, void *state, rs_err *err);
  void (*release)(void *state); /* what the state owns; NULL: nothing */
  /* Numbers of the tables that the state owns, and at most needs while it is prepared. NULL: none. */
  double (*numbers)(const rs_stage_in *in);
  /* Rows of the table for positions [begin, begin + count): out[row * width + dim]. RS_DOMAIN beyond its end. */
  rs_status (*fill)(const void *state, size_t begin, size_t count, double *out, rs_err *err);
  /* Wave number `index`, where channels are sums of sines and cosines, listed channel by channel; false past the last.
   * NULL: channels are no waves. */
  bool (*wave)(const void *state, size_t index, rs_embed_wave *wave);
  /* What training may change: one table (rows, columns). NULL: nothing; of the columns: the width. */
  size_t (*learned_rows)(const void *state);
  size_t (*learned_columns)(const void *state);
  void (*learned_get)(const void *state, double *table);
  rs_status (*learned_room)(void *state, rs_err *err); /* before the first set, or again. NULL: it needs none */
  void (*learned_set)(void *state, const double *table);
  /* Adds to `table` what `gradient` (count, width) by the rows that `fill` gives for these positions gives by it. */
  void (*gradient)(const void *state, size_t begin, size_t count, const double *gradient, double *table);
  rs_kind_grid *grid; /* of that table */
  bool by_position;   /* or its rows are positions 0, 1, ... up to the trained length */
} rs_embed_kind;

typedef struct rs_lscale_kind {
  rs_kind kind;
  rs_kind_check *check;
  /* Multiplies logit_scale (L,). */
  rs_status (*fill)(const rs_stage_in *in, double *logit_scale, rs_err *err);
  bool by_head; /* each head learns a factor of its own, 1 at first */
} rs_lscale_kind;

typedef struct rs_bias_kind {
  rs_kind kind;
  rs_kind_check *check;
  size_t state_size;
  /* Numbers in the table. NULL: one a head. */
  size_t (*table_size)(const rs_stage_in *in);
  /* Numbers that the state owns beside it. NULL: none. */
  double (*numbers)(const rs_stage_in *in);
  /* Fills `table` (table_size,), zeroed before, which outlives the state. */
  rs_status (*prepare)(const rs_stage_in *in, double *table, void *state, rs_err *err);
  void (*release)(void *state); /* what the state owns; NULL: nothing */
  /* What else the logits are multiplied by. NULL: nothing. */
  double (*logit_factor)(const void *state);
  /* The slope of the head, nats/token. NULL: the bias has no slopes. */
  double (*slope)(const void *state, size_t head);
  /* Whether the bias is a function of m - n alone. NULL: never. */
  bool (*by_distance)(const void *state);
  /* Whether it is one of n alone. NULL: never. */
  bool (*by_key)(const void *state);
  /* bias[n - begin] = bias(h, m, n) in nats for keys [begin, end). */
  void (*row)(const void *state, size_t head, size_t query, size_t begin, size_t end, double *bias);
  /* The same sum in another order, for the many rows of long sequences: a number depends on h, m and n alone, and errs
   * no more than that of `row`. NULL: `row` is quick. */
  void (*quick_row)(const void *state, size_t head, size_t query, size_t begin, size_t end, double *bias);
  /* The arrays that training may change: the table starts with them, one behind the other, and is read where they
   * stand. Returns how many. NULL: nothing is learned. */
  size_t (*learned)(const void *state, rs_learned out[RS_LEARNED]);
  void (*learned_changed)(void *state); /* makes the rest of the table again; NULL: it does not depend on them */
  /* Adds to each array what `gradient` (end - begin,) by the numbers that `row` gives gives by it. */
  void (*gradient)(const void *state, size_t head, size_t query, size_t begin, size_t end, const double *gradient,
                   double *const *learned);
  rs_kind_grid *grid; /* of the table that is learned */
} rs_bias_kind;

/* Form of the vectors of distance of a method. With d = n - m, clipped to -reach .. reach, a head has
 *
 *   < q[m] + u, k[n] > + < q[m] + v, r(d) > [+ < k[n], r(d) >]  in the place of < q[m], k[n] >,
 *   v[n] + a(d)                                                 in that of the value v[n]
 *
 * for the query at m and the key at n of the same sequence. Attention to an encoder's sequence has none of it. */
typedef struct rs_vectors {
  size_t reach;  /* tokens, < L */
  size_t tables; /* of r: 1 that the heads share, or H */
  bool added;    /* there are u and v, (D,) of each head */
  bool keys;     /* the keys read r, too */
  bool values;   /* there is a, which the heads share */
} rs_vectors;

/* Number of distances from -reach to reach, C. */
static inline size_t rs_vector_columns(const rs_vectors *vectors) {
  return 2 * vectors->reach + 1;
}

/* Column, from 0 to C - 1, of the distance from the query at m to the key at n. */
static inline size_t rs_vector_column(const rs_vectors *vectors, size_t query, size_t key) {
  if (key >= query) return vectors->reach + (key - query < vectors->reach ? key - query : vectors->reach);
  return vectors->reach - (query - key < vectors->reach ? query - key : vectors->reach);
}

/* Tables [table, table + tables) of r, at columns [begin, end). */
typedef struct rs_vector_part {
  size_t table, tables, begin, end;
} rs_vector_part;

/* Gradients by what the vectors are at one length, C = rs_vector_columns. */
typedef struct rs_vector_gradients {
  const double *r;      /* (tables, D, C) */
  const double *u, *v;  /* (H, D); NULL where none are added */
  const double *values; /* (D, C); NULL where there are none */
} rs_vector_gradients;

typedef struct rs_vector_kind {
  rs_kind kind;
  rs_kind_check *check;
  /* Each layer has its own: *seed gets the parameter that they are drawn by, NULL where they begin alike. */
  bool (*by_layer)(const rs_settings *settings, const char **seed);
  size_t state_size;
  size_t (*table_size)(const rs_stage_in *in); /* numbers that training may change */
  /* Fills `table` (table_size,), zeroed before, which outlives the state and is read where it stands. */
  rs_status (*prepare)(const rs_stage_in *in, double *table, void *state, rs_err *err);
  void (*form)(const rs_stage_in *in, rs_vectors *vectors);
  /* As rs_encoding_vectors_fill, _added and _values. NULL: nothing is added, or there are no values. */
  void (*fill)(const void *state, const rs_vector_part *part, double *out, size_t step);
  void (*added)(const void *state, size_t head, const double **u, const double **v);
  void (*values)(const void *state, double *out);
  size_t (*learned)(const void *state, rs_learned out[RS_LEARNED]); /* the arrays of the table, in order; how many */
  /* Adds to each learned array the gradient by it. */
  void (*gradient)(const void *state, const rs_vector_gradients *by, double *const *learned);
} rs_vector_kind;

/* The parameters that a stage has whatever its kind: every method's, every rotary method's, every scaled method's. */
extern const rs_kind rs_common_stage, rs_rotary_stage, rs_scale_stage;

/* The tables of kinds. `*count` gets the number; the order is that of `ropescope list`. */
const rs_freq_kind *const *rs_freq_kinds(size_t *count) RS_NONNULL(1);
const rs_pos_kind *const *rs_pos_kinds(size_t *count) RS_NONNULL(1);
const rs_embed_kind *const *rs_embed_kinds(size_t *count) RS_NONNULL(1);
const rs_lscale_kind *const *rs_lscale_kinds(size_t *count) RS_NONNULL(1);
const rs_bias_kind *const *rs_bias_kinds(size_t *count) RS_NONNULL(1);
const rs_vector_kind *const *rs_vector_kinds(size_t *count) RS_NONNULL(1);

/* The kind that `logit_scale` chooses, or NULL. */
const rs_lscale_kind *rs_lscale_chosen(const rs_settings *settings) RS_NONNULL(1);

/* ---- methods and recipes ----------------------------------------------------------------------------------------- */

/* A named recipe: which kind fills each stage (NULL: the stage is empty), and which defaults differ from the kinds'. */
typedef struct rs_method {
  const char *name, *summary, *reference;
  const rs_pos_kind *pos;
  const rs_freq_kind *freq;
  const rs_embed_kind *embed;
  const rs_bias_kind *bias;
  const rs_vector_kind *vectors; /* with positions that are not moved, and no rotation */
  struct {
    const char *name, *value;
  } defaults[4]; /* ends at the first NULL name */
} rs_method;

const rs_method *rs_methods(size_t *count) RS_NONNULL(1);

/* Whether the method has a scale s, and with it the parameters `scale` and `factor`. */
bool rs_method_scaled(const rs_method *method) RS_NONNULL(1);

/* The method called `name`, or NULL. */
const rs_method *rs_method_find(const char *name) RS_NONNULL(1);

/* Offers the names of all methods, and of former ones what says the same now. */
void rs_methods_near(rs_nearest *nearest) RS_NONNULL(1);

/* Methods beside those, for programs that bring their own; they outlive whatever is made with them. */
typedef struct rs_method_list {
  const rs_method *const *items; /* (count,) */
  size_t count;
} rs_method_list;

/* The same among these as well; `beside` may be NULL. */
const rs_method *rs_method_find_in(const rs_method_list *beside, const char *name) RS_NONNULL(2);

/* A method with its parameters. Zero-initialise; create with rs_recipe_init, release with rs_recipe_clear. */
typedef struct rs_recipe {
  const rs_method *method;
  rs_settings settings;
} rs_recipe;

/* `method` with every parameter at its default. On failure the recipe is cleared. */
rs_status rs_recipe_init(rs_recipe *recipe, const rs_method *method, rs_err *err) RS_NONNULL(1, 2);
rs_status rs_recipe_copy(rs_recipe *copy, const rs_recipe *from, rs_err *err) RS_NONNULL(1, 2);
void rs_recipe_clear(rs_recipe *recipe) RS_NONNULL(1);

/* Whether each layer that has the recipe learns or draws numbers of its own: it is then given a copy of its own, */
bool rs_recipe_by_layer(const rs_recipe *recipe) RS_NONNULL(1);

/* that of layer 1, 2, ... (it draws other numbers), RS_MEMORY, */
rs_status rs_recipe_of_layer(const rs_recipe *first, size_t layer, rs_recipe *recipe, rs_err *err) RS_NONNULL(1, 3);

/* and whether `recipe` is such a copy of `first`. */
bool rs_recipe_repeats(const rs_recipe *recipe, const rs_recipe *first) RS_NONNULL(1, 2);

/* The recipes of a model (count,) with changed[0] in the place of the first and of its copies: fills the others of
 * `changed`, which begin cleared. RS_MEMORY; what is filled by then stays. */
rs_status rs_recipes_with(const rs_recipe *recipes, size_t count, rs_recipe *changed, rs_err *err) RS_NONNULL(1, 3);

/* Sets a parameter from config text, as in "factor", "8", or to a number. RS_INPUT names it as subject. */
rs_status rs_recipe_set(rs_recipe *recipe, const char *name, const char *value, rs_err *err) RS_NONNULL(1, 2, 3);
rs_status rs_recipe_set_number(rs_recipe *recipe, const char *name, double number, rs_err *err) RS_NONNULL(1, 2);

/* Fills what was not given: from what the dialect always does, then from the model's published recipe (where the model
 * publishes this very method), then from the dialect's defaults. RS_INPUT, with the parameter as subject, where what
 * was given is not in the dialect's power, or the method has no such dialect. */
rs_status rs_recipe_resolve(rs_recipe *recipe, const rs_model *model, rs_err *err) RS_NONNULL(1, 2);

/* Whether s is L / L0 itself, below 1 too: scale is auto. */
bool rs_recipe_scale_auto(const rs_recipe *recipe) RS_NONNULL(1);

/* The rule for s where neither a scale nor a factor is given or published, as config text. */
#define RS_DEFAULT_SCALE "dynamic"

/* Whether that rule holds: rs_recipe_resolve then sets it. */
bool rs_recipe_scale_defaults(const rs_recipe *recipe, const rs_model *model) RS_NONNULL(1, 2);

/* RS_INPUT, with the parameter as subject, when the parameters contradict each other or the model. */
rs_status rs_recipe_check(const rs_recipe *recipe, const rs_model *model, rs_err *err) RS_NONNULL(1, 2);

/* RS_INPUT, with the parameter as subject, where a given table does not suit the model's width or `tokens`. */
rs_status rs_recipe_fit(const rs_recipe *recipe, const rs_model *model, const rs_token_layout *tokens, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* The parameter that fixes s: `factor` where there is no other, or where a model's is in force, else `scale`; NULL for
 * methods without. *given: the user has written one of them. */
const char *rs_recipe_scale_name(const rs_recipe *recipe, bool *given) RS_NONNULL(1, 2);

/* Whether its pairs are shared out among the axes t, h, w by sections, given or the model's. */
bool rs_recipe_has_sections(const rs_recipe *recipe, const rs_model *model) RS_NONNULL(1, 2);

/* L0 as the recipe has it, else the model's, tokens. */
double rs_recipe_train_length(const rs_recipe *recipe, const rs_model *model) RS_NONNULL(1, 2);

/* ---- dialects ---------------------------------------------------------------------------------------------------- */

/* What one implementation does differently, as parameters: with the method or with all of the frequency kind of that
 * name (NULL: with every rotary method), where the boolean parameter `when` is true (or `unless` is not). */
typedef struct rs_dialect {
  const char *name, *method, *summary, *reference;
  const char *when, *unless;
  struct {
    const char *name, *value; /* value NULL: unset */
    bool always;              /* the implementation has no choice there, whatever a model publishes */
  } settings[8];              /* ends at the first NULL name */
} rs_dialect;

/* All of them; those of one method are several entries. */
const rs_dialect *rs_dialects(size_t *count) RS_NONNULL(1);

/* Whether the entry is about this method. */
bool rs_dialect_fits(const rs_dialect *dialect, const rs_method *method) RS_NONNULL(1, 2);

/* ---- models ------------------------------------------------------------------------------------------------------ */

typedef enum rs_pair_layout {
  RS_LAYOUT_OF_MODEL = -1, /* of a recipe that does not say */
  RS_HALF_SPLIT,           /* pair j is dims (j, j + R/2): GPT-NeoX, Hugging Face Llama */
  RS_INTERLEAVED           /* pair j is dims (2j, 2j + 1): RoFormer, GPT-J, Meta's Llama */
} rs_pair_layout;
enum { RS_PAIR_LAYOUTS = RS_INTERLEAVED + 1 };
extern const char *const rs_pair_layout_words[RS_PAIR_LAYOUTS + 1];

/* How the pairs are shared out among the axes t, h, w (axes.c). */
typedef enum rs_axis_layout {
  RS_AXES_OF_MODEL = -1, /* of a recipe that does not say */
  RS_AXES_CONTIGUOUS,    /* t, then h, then w: Qwen2-VL */
  RS_AXES_INTERLEAVED,   /* h and w on pairs 1 and 2 of each three while they last, t on the rest: Qwen3-VL */
  RS_AXES_SPATIAL_FIRST, /* h and w alternate on the fastest pairs, t has the slowest: ERNIE 4.5-VL */
  RS_AXES_FAIR           /* at each pair the axis that is furthest behind its share: openPangu */
} rs_axis_layout;
enum { RS_AXIS_LAYOUTS = RS_AXES_FAIR + 1 };
extern const char *const rs_axis_layout_words[RS_AXIS_LAYOUTS + 1];

/* The geometry of a published (or invented) model. */
struct rs_model {
  char name[192];                     /* that of a checkpoint says all that differs from others */
  size_t heads, head_dim, rotary_dim; /* H; D, even; R, even, <= D */
  size_t width;                       /* numbers of a token that embeddings are added to; 0: H D */
  double rope_theta;                  /* > 1 */
  size_t train_length, max_length;    /* L0, and the length its publisher supports; tokens */
  rs_pair_layout pair_layout;
  size_t mrope_section[RS_AXES]; /* pairs per axis t, h, w; all 0 for text models */
  rs_axis_layout axis_layout;
  rs_recipe published; /* method NULL where nothing is published */
};

rs_status rs_model_copy(rs_model *copy, const rs_model *from, rs_err *err) RS_NONNULL(1, 2);
void rs_model_clear(rs_model *model) RS_NONNULL(1);

/* Width of the vectors that embeddings are added to: the model's, or heads * head_dim where it says none. */
static inline size_t rs_model_width(const rs_model *model) {
  return model->width > 0 ? model->width : model->heads * model->head_dim;
}

/* Whether a model (NULL: none) publishes a recipe that turns pairs. */
bool rs_model_turns(const rs_model *model);

/* ---- token layout: which tokens are text, image, video ----------------------------------------------------------- */

typedef enum rs_modality { RS_TEXT, RS_IMAGE, RS_VIDEO } rs_modality;

/* One run of tokens, at least 1. A vision run has tokens = frames * rows * columns (grid after patch merging, each at
 * least 1), in that order. */
typedef struct rs_token_run {
  rs_modality modality;
  size_t tokens;
  size_t frames, rows, columns;             /* vision only */
  double seconds_per_frame, ids_per_second; /* video, in time (Qwen2.5-VL): ids per frame are their product; 1 and 1 */
} rs_token_run;

/* Runs in order; tokens after the last run are text. No runs: all text. */
struct rs_token_layout {
  rs_token_run *runs; /* owned */
  size_t count;
  double *ids; /* (id_count, RS_AXES) position ids t, h, w that are given, whatever the runs say; owned; NULL: none */
  size_t id_count; /* tokens: the length, where ids are given */
};

/* Tokens the runs take. */
size_t rs_token_layout_tokens(const rs_token_layout *layout) RS_NONNULL(1);

/* RS_DOMAIN where the runs take more tokens than `length`, or ids are given for other than `length`. */
rs_status rs_token_layout_check(const rs_token_layout *layout, size_t length, rs_err *err) RS_NONNULL(1);

/* Positions from 0 to the last: `length`, or where ids are given the largest and 1, which transformers takes for the
 * length of a sequence (modeling_rope_utils.py, dynamic_rope_update). */
size_t rs_token_layout_reach(const rs_token_layout *layout, size_t length) RS_NONNULL(1);

/* How the tokens of images and videos are counted (tokens.c). */
typedef enum rs_id_scheme {
  RS_IDS_QWEN2_VL,
  RS_IDS_HF,
  RS_IDS_SPATIAL_RESET,
  RS_IDS_VIDEOROPE,
  RS_IDS_V2PE
} rs_id_scheme;
enum { RS_ID_SCHEMES = RS_IDS_V2PE + 1 };
extern const char *const rs_id_scheme_words[RS_ID_SCHEMES + 1];

/* How the time of a video's frame becomes an id (tokens.c): float32 products from the left, or doubles, the rates
 * first. They differ where a product is whole but for rounding. */
typedef enum rs_id_arithmetic { RS_IDS_UNNAMED = -1, RS_IDS_F32, RS_IDS_F64 } rs_id_arithmetic; /* unnamed: F32 */
enum { RS_ID_ARITHMETICS = RS_IDS_F64 + 1 };
extern const char *const rs_id_arithmetic_words[RS_ID_ARITHMETICS + 1];

typedef struct rs_id_rule {
  rs_id_scheme scheme;
  double step;                 /* videorope: ids per frame; v2pe: ids per vision token */
  rs_id_arithmetic arithmetic; /* the other schemes */
} rs_id_rule;

/* Position ids (length, RS_AXES) in the order t, h, w. `rule` NULL: as Qwen2-VL counts (arXiv:2409.12191, section 2.1):
 * text runs on all axes alike; a vision run that starts at id p has (p + floor(frame * seconds_per_frame *
 * ids_per_second), p + row, p + column); the next run starts at the largest id so far plus 1. `run` (length), where not
 * NULL, gets each token's run index (count for the text after the last). Ids that are given are taken as they are.
 * RS_DOMAIN as rs_token_layout_check. */
rs_status rs_token_positions(const rs_token_layout *layout, const rs_id_rule *rule, size_t length, double *ids,
                             uint32_t *run, rs_err *err) RS_NONNULL(1, 4);

/* The first run of image or video, and in *begin its first token; NULL where all is text. Borrows. */
const rs_token_run *rs_token_layout_picture(const rs_token_layout *layout, size_t *begin) RS_NONNULL(1, 2);

void rs_token_layout_clear(rs_token_layout *layout) RS_NONNULL(1);

/* ---- recipes, for programs that alter them ----------------------------------------------------------------------- */

/* Whether the method has a default of its own for the parameter. */
bool rs_method_presets(const rs_method *method, const char *name) RS_NONNULL(1, 2);

/* Whether the entry's condition (`when`, `unless`) holds for these parameters. */
bool rs_dialect_holds(const rs_dialect *dialect, const rs_settings *settings) RS_NONNULL(1, 2);

/* Sets a parameter that was not given by the user; `text` NULL unsets it. */
rs_status rs_recipe_preset(rs_recipe *recipe, const char *name, const char *text, rs_err *err) RS_NONNULL(1, 2);

/* What Position Interpolation divides by s: the words of `interpolate`. */
typedef enum rs_interpolated { RS_INTERPOLATE_FREQUENCIES, RS_INTERPOLATE_POSITIONS, RS_INTERPOLATED } rs_interpolated;

/* s by the rule in `settings`: fixed s = factor; auto s = L / L0; dynamic s = max(1, L / L0); hf_dynamic
 * s = factor * max(L, L0) / L0 - (factor - 1); vllm_dynamic the same as if L were factor * L0; qwen_dynamic
 * s = max(1, 2^ceil(log2(L / L0) + 1) - 1), get_ntk_alpha of Qwen 1. Without a rule: fixed with a factor, else dynamic.
 */
double rs_scale_resolve(const rs_settings *settings, double length, double train_length) RS_NONNULL(1);

enum { RS_STEPS = 16 };

typedef struct rs_encoding rs_encoding;

/* ---- encodings: tables at one length ----------------------------------------------------------------------------- */

/* The float format each quantity is rounded to; all RS_F64 (0) unless a study says otherwise. `running`: the angle is a
 * float32 product that is multiplied by one float32 ratio for each pair before, as ggml makes it, in place of position
 * times frequency. */
typedef struct rs_precision {
  rs_format positions, inv_freq, angle, table;
  bool running;
} rs_precision;

/* What becomes of the wavelengths after all scaling. */
typedef enum rs_wavelengths { RS_WAVES_EXACT, RS_WAVES_WHOLE, RS_WAVELENGTHS } rs_wavelengths;

typedef struct rs_stage_params rs_stage_params;

/* Tables; read-only once made, but for rs_encoding_learned_set. */
struct rs_encoding {
  size_t length, heads, head_dim, rotary_dim; /* L, H, D, R (0: no rotation) */
  size_t axes, views; /* A (1: text; 3: t, h, w; R/2: each pair has a coordinate of its own), V */
  bool sections;      /* pairs are shared out among axes (M-RoPE) */
  bool own_places;    /* each pair has a coordinate of its own: A = R/2, axis[j] = j */
  size_t tables;      /* 1, or H: omega (all three), axis_weight, pos_q and pos_k of each head, one behind the other */
  size_t width;       /* H * D: channels of a token */
  rs_pair_layout pair_layout;
  double train_length;     /* L0, tokens */
  double scale;            /* s; NaN where the method has none */
  double *omega;           /* (R/2,) rad/token */
  double *omega_exact;     /* (R/2,) rad/token: omega before it was rounded to precision.inv_freq */
  double *omega_trained;   /* (R/2,) rad/token: what training has seen, plain RoPE of the model where it is defined */
  uint16_t *axis;          /* (R/2,) */
  double amp;              /* multiplies cos and sin */
  double *pos_q[RS_VIEWS]; /* (L, A) tokens */
  double *pos_k[RS_VIEWS]; /* (L, A) tokens */
  double *gain_q[RS_VIEWS], *gain_k[RS_VIEWS]; /* (L, R/2) beside amp; NULL: all 1 */
  double *logit_scale;                         /* (L,) */
  double *head_scale;                          /* (H,) beside it; NULL: all 1 */
  double *axis_weight; /* (R/2, RS_AXES): how much a pair reads of each axis; NULL: axis says which one */
  double *mixed;  /* (2, tables, R/2) rad/patch: what a pair turns by for a column, and for a row; NULL: see above */
  double *places; /* (L, RS_AXES) t, h, w that such pairs mix; else NULL */
  double *bias_table;   /* (bias_size,), laid out by its kind; NULL without a bias */
  size_t bias_size;     /* 0 without a bias */
  rs_vectors vectors;   /* tables 0: there are none */
  double *vector_table; /* (vector_size,), laid out by its kind; NULL without vectors of distance */
  size_t vector_size;
  float ladder_ratio,
      *ladder_share;      /* precision.running: theta^(-2/R), and (R/2,) omega over the plain ladder; else NULL */
  double *steps;          /* cos, then sin, of 0 .. RS_STEPS - 1 tokens: (2, RS_STEPS, R/2); NULL: no plain turns */
  rs_token_layout tokens; /* copy of the layout it was made for */
  rs_precision precision;
  rs_wavelengths wavelengths;
  rs_id_rule id_rule;
  const rs_method *method;                                   /* its stages */
  void *pos_state, *embed_state, *bias_state, *vector_state; /* of the stages' kinds; NULL where a stage is empty */
  rs_stage_params *params;                                   /* the recipe's parameters; private to the layer */
  rs_settings settings;                                      /* the same as text, which owns their lists */
};

/* The tables of `recipe`, which rs_recipe_check has accepted, for `model` at `length` tokens. `tokens` may be NULL
 * (text). RS_DOMAIN where the recipe is undefined at this length or the runs take more than `length` tokens,
 * RS_UNSUPPORTED for stages that do not go together. Release with rs_encoding_free. */
rs_status rs_encoding_create(const rs_recipe *recipe, const rs_model *model, size_t length,
                             const rs_token_layout *tokens, const rs_precision *precision, rs_encoding **encoding,
                             rs_err *err) RS_NONNULL(1, 2, 6);
void rs_encoding_free(rs_encoding *encoding);
RS_HOLDS(rs_encoding)

/* The same in f64 for a reader of the last query and `keys` (count,) alone, which hold that query's own token: gains
 * and biases that take time for each token are made for these, and are 0 for others. A picture reads hundreds of 10^5.
 */
rs_status rs_encoding_create_for(const rs_recipe *recipe, const rs_model *model, size_t length, const size_t *keys,
                                 size_t count, rs_encoding **encoding, rs_err *err) RS_NONNULL(1, 2, 4, 6);

/* Bytes of the tables that an encoding of `recipe` has at `length` tokens, and at most needs while it is made; `tokens`
 * may be NULL. NaN where memory is too short to tell. */
double rs_encoding_bytes(const rs_recipe *recipe, const rs_model *model, size_t length, const rs_token_layout *tokens)
    RS_NONNULL(1, 2);

/* Cuts keys 0..m of query m into segments of one view each, ascending; returns how many (1..RS_VIEWS). With a single
 * view the segment reaches to L, for masks that see the future. */
size_t rs_encoding_segments(const rs_encoding *encoding, size_t query, rs_segment out[RS_VIEWS]) RS_NONNULL(1, 3);

/* The encoding as one head has it, with tables = 1: what turns that head, or reads omega, positions and turns, reads
 * this. Borrows, and is not freed. */
rs_encoding rs_encoding_of_head(const rs_encoding *encoding, size_t head) RS_NONNULL(1);

/* bias[n - begin] = bias(head, query, n) in nats for keys [begin, end), by their ids where such are given. Zeros
 * without a bias. */
void rs_encoding_bias_row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end,
                          double *bias) RS_NONNULL(1, 6);

/* The same, where many rows are asked for: it may be summed in another order, so that last digits differ, but errs no
 * more. A number is the same whatever range it is asked for in. */
void rs_encoding_quick_bias_row(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end,
                                double *bias) RS_NONNULL(1, 6);

/* Whether there is a bias, and it is a function of m - n alone (never where ids are given), or of n alone. */
bool rs_encoding_bias_of_distance(const rs_encoding *encoding) RS_NONNULL(1);
bool rs_encoding_bias_of_key(const rs_encoding *encoding) RS_NONNULL(1);

/* The slope of the head's bias, nats/token; NaN where biases have none. */
double rs_encoding_slope(const rs_encoding *encoding, size_t head) RS_NONNULL(1);

/* Whether there are vectors of distance; *vectors gets their form. */
bool rs_encoding_vectors(const rs_encoding *encoding, rs_vectors *vectors) RS_NONNULL(1, 2);

/* out[((table - part->table) * D + dim) * step + column - part->begin] = dim of r(d), d = column - reach. No
 * allocation, any thread; a number is the same whatever part it is made in. */
void rs_encoding_vectors_fill(const rs_encoding *encoding, const rs_vector_part *part, double *out, size_t step)
    RS_NONNULL(1, 2, 3);

/* *u and *v (D,) of the head; NULL where none are added. They follow what is learned. */
void rs_encoding_vectors_added(const rs_encoding *encoding, size_t head, const double **u, const double **v)
    RS_NONNULL(1, 3, 4);

/* out (D, C) = a(d), of vectors that have values. */
void rs_encoding_vectors_values(const rs_encoding *encoding, double *out) RS_NONNULL(1, 2);

/* Form of a recipe's vectors at `length`; false where it has none, or memory is too short to bind its parameters. */
bool rs_recipe_vectors(const rs_recipe *recipe, const rs_model *model, size_t length, rs_vectors *vectors)
    RS_NONNULL(1, 2, 4);

/* What is added to the tokens at [begin, begin + count): out[row * width + dim], zeros without an embedding; by their
 * ids where such are given. RS_DOMAIN beyond the end of its table. */
rs_status rs_encoding_embed(const rs_encoding *encoding, size_t begin, size_t count, double *out, rs_err *err)
    RS_NONNULL(1, 4);

/* Wave `index` of the embedding; false past the last, and where there is none. */
bool rs_encoding_wave(const rs_encoding *encoding, size_t index, rs_embed_wave *wave) RS_NONNULL(1, 3);

/* cos and sin of pair j at one coordinate, in the encoding's precision, without amp. */
void rs_encoding_cos_sin(const rs_encoding *encoding, size_t pair, double position, double *cosine, double *sine)
    RS_NONNULL(1, 4, 5);

/* The angle of pair j at one coordinate as the encoding's precision has it, rad, whole turns and all. */
double rs_encoding_angle(const rs_encoding *encoding, size_t pair, double position) RS_NONNULL(1);

/* out (D) = rot(x, position): `position` has A coordinates; no gain. `out` may be `x`. */
void rs_encoding_rotate(const rs_encoding *encoding, const double *position, const double *x, double *out)
    RS_NONNULL(1, 2, 3, 4);

typedef enum rs_side { RS_QUERY_SIDE, RS_KEY_SIDE } rs_side;

/* out (D) = rot(x, the token's position as query or key in `view`), with its gain. `out` may be `x`. */
void rs_encoding_rotate_token(const rs_encoding *encoding, rs_side side, size_t view, size_t token, const double *x,
                              double *out) RS_NONNULL(1, 5, 6);

/* What turns tokens [begin, end) of one side in `view`: cosine and sine (end - begin, R/2) of each pair at its
 * coordinate, in the encoding's precision, times amp and the token's gains. x is then rotated by (a, b) -> (a cosine -
 * b sine, a sine + b cosine) on each pair, as rs_row_turn says. Before amp and gains they are within 1e-15 of the
 * exact ones, as rs_encoding_cos_sin's are, and its very numbers where a precision is under study. A token's row is the
 * same in whatever run it is made. No allocation, any thread. */
void rs_encoding_turns(const rs_encoding *encoding, rs_side side, size_t view, size_t begin, size_t end, double *cosine,
                       double *sine) RS_NONNULL(1, 6, 7);

/* cos and sin of the turn of query m less that of key n <= m, for one pair, in the encoding's precision, times both
 * gains, without amp. */
void rs_encoding_turn(const rs_encoding *encoding, size_t query, size_t key, size_t pair, double *cosine, double *sine)
    RS_NONNULL(1, 5, 6);

/* Mean over the D/2 pairs of cos(turn of the query - turn of the key) for query m and key n <= m (any n where there is
 * one view); pairs past R/2 are not turned and count as 1. This is B_{m-n} / (D/2) of "Base of RoPE bounds context
 * length" (arXiv:2405.14591, eq. 6).
 */
double rs_encoding_mean_cosine(const rs_encoding *encoding, size_t query, size_t key) RS_NONNULL(1);

/* Whether pair j turns by (m - n) omega[j] in doubles. Not so with several views, positions that are not the tokens'
 * indices, gains, or short formats of angles or tables. */
bool rs_encoding_of_distance(const rs_encoding *encoding) RS_NONNULL(1);

/* The waves whose sum at m - n is D/2 times that mean cosine: one of amplitude 1 for each pair that turns, and where
 * R < D a still one for the others. `waves` has room for R/2 + 1; returns how many there are, or 0 where pairs do not
 * turn by the distance alone. */
size_t rs_encoding_waves(const rs_encoding *encoding, rs_wave *waves) RS_NONNULL(1, 2);

/* The tables of those waves, or NULL in *decay where there are none. RS_MEMORY. Release with rs_decay_free. */
rs_status rs_encoding_decay(const rs_encoding *encoding, rs_decay **decay, rs_err *err) RS_NONNULL(1, 2);

/* The largest |relative position| on an axis between any query and any key n <= m, tokens. */
double rs_encoding_reach(const rs_encoding *encoding, size_t axis) RS_NONNULL(1);

/* The view through which query m reads key n <= m. */
size_t rs_encoding_view(const rs_encoding *encoding, size_t query, size_t key) RS_NONNULL(1);

/* The frequencies of the encoding's recipe at any length: out->omega (R/2,), factor, logit_factor. RS_DOMAIN where they
 * are undefined there. */
rs_status rs_frequencies_at(const rs_encoding *encoding, const rs_model *model, size_t length, rs_freq_out *out,
                            rs_err *err) RS_NONNULL(1, 2, 4);

/* ---- what training changes --------------------------------------------------------------------------------------- */

/* The arrays that training may change; returns how many, 0 for plain RoPE. Several encodings of one recipe, at several
 * lengths, have the same. */
size_t rs_encoding_learned(const rs_encoding *encoding, rs_learned out[RS_LEARNED]);

/* values (rows, columns): what array `which` holds. */
void rs_encoding_learned_get(const rs_encoding *encoding, size_t which, double *values);

/* Room for what plain tables do without, such as a whole learned embedding beside the rows that are read: to be called
 * once before the first rs_encoding_learned_set. RS_MEMORY. */
rs_status rs_encoding_learned_room(rs_encoding *encoding, rs_err *err);

/* Puts values (rows, columns) in place of array `which`; the tables follow. Not while other threads read the encoding.
 */
void rs_encoding_learned_set(rs_encoding *encoding, size_t which, const double *values);

/* learned[which] (rows, columns), for all arrays: adds what `gradient` (end - begin,) by the biases that
 * rs_encoding_bias_row gives comes to by what is learned. Any thread, no allocation. */
void rs_encoding_bias_gradient(const rs_encoding *encoding, size_t head, size_t query, size_t begin, size_t end,
                               const double *gradient, double *const *learned);

/* The same for `gradient` (count, width) by what rs_encoding_embed adds to tokens [begin, begin + count). */
void rs_encoding_embed_gradient(const rs_encoding *encoding, size_t begin, size_t count, const double *gradient,
                                double *const *learned);

/* The same for `gradient` (end - begin, R/2) by the angles that pairs of the head turn by at tokens [begin, end), rad,
 * of queries or keys. */
void rs_encoding_turn_gradient(const rs_encoding *encoding, size_t head, size_t begin, size_t end,
                               const double *gradient, double *const *learned);

/* Whether it learns what those angles come from. */
bool rs_encoding_turns_learned(const rs_encoding *encoding);

/* Adds to `learned` the gradients by the arrays that vectors of distance learn, from those by the vectors. */
void rs_encoding_vectors_gradient(const rs_encoding *encoding, const rs_vector_gradients *by, double *const *learned);

/* Fixes in the recipe that `encoding` was made of what it leaves to the pictures (table_grid: own): elsewhere the very
 * table that training changes is then read, resized. RS_MEMORY. */
rs_status rs_recipe_fix(rs_recipe *recipe, const rs_encoding *encoding, rs_err *err) RS_NONNULL(1, 2);

/* Takes from `trained`, which is fixed, what `recipe` leaves to the pictures, where both have the same table.
 * RS_MEMORY.
 */
rs_status rs_recipe_follow(rs_recipe *recipe, const rs_recipe *trained, rs_err *err) RS_NONNULL(1, 2);

/* What the head's logit scales are multiplied by, learned (array "logit_scale": one number a head); 1 where nothing
 * such is learned. */
double rs_encoding_head_scale(const rs_encoding *encoding, size_t head);

#endif
