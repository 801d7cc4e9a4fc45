/* ropescope.h: positional encodings, and what attention makes of them, for programs.
 *
 * What is called "a recipe" is a method (RoPE, YaRN, ALiBi, ...) with its parameters on the layers of one model. At one
 * length it becomes tables, which are all that attention reads:
 *
 *   logit(h,m,n) = logit_scale[m] * < rot(q[m], position[m]), rot(k[n], position[n]) > / sqrt(D) + bias(h,m,n)
 *
 * rot(x,p) turns pair j of a head by p * inv_freq[j] radians and multiplies it by the attention factor (RoPE,
 * arXiv:2104.09864, equation 34; the factor is that of YaRN, arXiv:2309.00071, section 3.4).
 * Symbols: L length, H heads, D head_dim, R rotary_dim, P = R/2 pairs, A axes, V views, Q observed queries.
 *
 * Rules that hold for every function:
 *  - Nothing is printed, the program is never ended, and objects share no state: those that are not the same may be
 *    used by several threads at once, and so may one that is only read (a const pointer). The working directory, the
 *    locale and the environment are not changed. One thing of the process is: as the library is loaded, it switches the
 *    error handler of the GNU Scientific Library off (gsl_set_error_handler_off), which would end the program; a
 *    program that uses GSL too and sets a handler of its own must have one that returns.
 *  - A function that can fail returns a status and takes `error` last. NULL: why is not asked. Otherwise *error must be
 *    NULL before; on failure it becomes an object that the caller frees (ropescope_error_free), on success it stays.
 *    What the function would have made is then NULL, and arrays of the caller's hold no promise.
 *  - Objects are freed by the function called after them, which takes NULL. Text and structs that a function returns
 *    by pointer are borrowed: they live as long as the object that they were asked of, and are not to be changed.
 *  - Text is UTF-8. NULL stands for "not given" where a member or argument says so.
 *  - Structs that the caller fills start with `size`, which is sizeof of the struct (what a later version adds to their
 *    end is then known to be absent), and are all zero where nothing is said. Another size is ROPESCOPE_INPUT.
 *  - "Copies" says: returns how many numbers there are, and where `out` is not NULL and `capacity` (numbers) is enough
 *    for them, writes them; else it writes nothing. Ask with NULL, 0 for the count.
 *  - An index past the last one gives NULL, 0 or NaN; it is no fault.
 *
 * Declarations are plain C without macros between the lines that say "declarations begin" and "declarations end". */
#ifndef ROPESCOPE_H
#define ROPESCOPE_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; another number in the first place breaks programs, in the second adds to them. */
#define ROPESCOPE_VERSION_MAJOR 1 /* first number */
#define ROPESCOPE_VERSION_MINOR 0 /* second number */
#define ROPESCOPE_VERSION_PATCH 0 /* third number */

/* Whether this header is of that version or a later one, for #if. */
#define ROPESCOPE_CHECK_VERSION(major, minor, patch)                                                                   \
  (ROPESCOPE_VERSION_MAJOR > (major) || (ROPESCOPE_VERSION_MAJOR == (major) &&                                         \
                                         (ROPESCOPE_VERSION_MINOR > (minor) || (ROPESCOPE_VERSION_MINOR == (minor) &&  \
                                                                                ROPESCOPE_VERSION_PATCH >= (patch)))))

/* In the place of a position: the query seeks no key. */
#define ROPESCOPE_NO_TARGET SIZE_MAX

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- declarations begin ------------------------------------------------------------------------------------------ */

/* The version of the library that runs, "1.2.3" or, before that is released, "1.2.3-rc1". */
const char *ropescope_version(void);

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* How a call has ended. */
typedef enum ropescope_status {
  ROPESCOPE_OK = 0,          /* as it was asked */
  ROPESCOPE_INPUT = 1,       /* a file, a value or an argument is wrong */
  ROPESCOPE_DOMAIN = 2,      /* well formed, but undefined for these values (a learned table beyond its end) */
  ROPESCOPE_UNSUPPORTED = 3, /* meaningful, but not offered */
  ROPESCOPE_MEMORY = 4,      /* an allocation failed, or a size would overflow */
  ROPESCOPE_IO = 5,          /* a file could not be read or written */
  ROPESCOPE_INTERNAL = 6,    /* a bug in ropescope */
  ROPESCOPE_STOPPED = 7,     /* a callback has asked for it */
  ROPESCOPE_BUSY = 8         /* another process works on the folder; later it may do */
} ropescope_status;

/* Why a call has failed. */
typedef struct ropescope_error ropescope_error;

/* One thing that is wrong in a text or file. */
typedef struct ropescope_problem {
  const char *file;    /* as it was named; "": in no file */
  size_t line, column; /* from 1; 0: of the file as a whole */
  const char *key;     /* "methods[1].factor"; "": none */
  const char *text;    /* what is wrong: "methods[1].factor = 0: must be at least 1", without place and hint */
  const char *hint;    /* what would do; "": none */
} ropescope_problem;

/* The status that the call has returned; ROPESCOPE_OK of NULL. */
ropescope_status ropescope_error_status(const ropescope_error *error);

/* All that is wrong, as a program prints it: a line for each problem ("file:line:column: key = value: why (hint)"),
 * then a sentence about the whole. Without a new line at its end; "" of NULL. */
const char *ropescope_error_message(const ropescope_error *error);

/* The parameter at fault, "factor"; "" where it is none's. */
const char *ropescope_error_subject(const ropescope_error *error);

/* Problem `index` in the order of the message (at most 20 are told); NULL past the last. */
const ropescope_problem *ropescope_error_problem(const ropescope_error *error, size_t index);
void ropescope_error_free(ropescope_error *error);

/* A short word for a status, "input"; "unknown" for what is none. */
const char *ropescope_status_name(ropescope_status status);

/* ---- what there is, and methods of the caller's ------------------------------------------------------------------ */

/* Methods beside the built-in ones. Wherever a function takes one, NULL stands for the built-in ones alone. It must
 * outlive the recipes and results that are made with it, and is not to be changed while any other call uses it. */
typedef struct ropescope_library ropescope_library;

/* Makes a library that has no method beside the built-in ones. ROPESCOPE_MEMORY. */
ropescope_status ropescope_library_create(ropescope_library **library, ropescope_error **error);
void ropescope_library_free(ropescope_library *library);

/* A parameter of a method: a real number. */
typedef struct ropescope_parameter_spec {
  const char *name;    /* letters, digits and _, none that the method has otherwise */
  const char *unit;    /* "tokens", "1" for a pure number */
  double min, max;     /* finite; the range is closed */
  double fallback;     /* what holds where it is not given; within the range */
  const char *summary; /* one line */
} ropescope_parameter_spec;

/* What a method's callbacks are asked about. */
typedef struct ropescope_method_call {
  size_t length, heads, head_dim, rotary_dim; /* L (tokens), H, D, R */
  double theta;                               /* base of the model's geometric ladder, > 1; NaN in `bias` */
  double train_length, max_length;            /* L0 and the published maximum, tokens; max_length is NaN in `bias` */
  double scale;                               /* s; NaN where the method is not `scaled` */
  const double *parameters;                   /* (parameter_count,) in the order of their specs */
} ropescope_method_call;

/* A method. All text is copied. */
typedef struct ropescope_method_spec {
  size_t size;
  const char *name;                           /* letters, digits and _; no other method of the library has it */
  const char *summary;                        /* one line */
  const char *reference;                      /* paper or code, and equation; NULL: "" */
  int version;                                /* >= 1; raised when the same parameters give other numbers; 0: 1 */
  int scaled;                                 /* not 0: has the parameters `scale` and `factor`, which make s */
  const ropescope_parameter_spec *parameters; /* (parameter_count,) */
  size_t parameter_count;                     /* at most 16 */
  /* Fills inv_freq (R/2,) in rad/token, finite and >= 0, and may change what cos and sin (*attention_factor) and the
   * logits (*logit_factor) are multiplied by, both 1 before. What is no ROPESCOPE_OK ends the call that asks; the text
   * then written into `message` (capacity bytes, with its NUL) is told. NULL: pairs do not turn. */
  ropescope_status (*frequencies)(void *user, const ropescope_method_call *call, double *inv_freq,
                                  double *attention_factor, double *logit_factor, char *message, size_t capacity);
  /* bias[n - begin] = bias(h, m, n) in nats, finite, of query m = `query` and keys n in [begin, end), n <= m unless the
   * mask lets queries see ahead or the bias is of distance. NULL: no bias. */
  void (*bias)(void *user, const ropescope_method_call *call, size_t head, size_t query, size_t begin, size_t end,
               double *bias);
  int bias_of_distance;        /* not 0: the bias is a function of h and m - n alone (faster) */
  void *user;                  /* handed to the callbacks, which may run on any thread, several at once */
  void (*release)(void *user); /* called when the library is freed; not where adding failed. May be NULL */
} ropescope_method_spec;

/* Adds a method, which recipes made with this library can name from then on. ROPESCOPE_INPUT, with the member as
 * subject, for a name that is taken or none, a parameter whose range or default is wrong, or a method that has neither
 * frequencies nor a bias; ROPESCOPE_MEMORY. */
ropescope_status ropescope_library_add_method(ropescope_library *library, const ropescope_method_spec *spec,
                                              ropescope_error **error);

/* Something that can be named. */
typedef struct ropescope_entry {
  const char *name, *summary, *reference; /* "" where there is none */
} ropescope_entry;

/* Fills *entry with method, metric, preset of a model, rule of `check`, engine that `check` knows, or consumer of
 * `convert` number `index`, in the order of `ropescope list`, and returns 1; 0 past the last. Methods of the library
 * follow the built-in ones. Words live as long as the library; built-in ones for ever. */
int ropescope_method_at(const ropescope_library *library, size_t index, ropescope_entry *entry);
int ropescope_metric_at(size_t index, ropescope_entry *entry);
int ropescope_preset_at(size_t index, ropescope_entry *entry);
int ropescope_rule_at(size_t index, ropescope_entry *entry);
int ropescope_engine_at(size_t index, ropescope_entry *entry);
int ropescope_consumer_at(size_t index, ropescope_entry *entry);

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

/* A method with its parameters, resolved for the layers of one model. Read-only once made. */
typedef struct ropescope_recipe ropescope_recipe;

/* Where a recipe comes from: a model, by one of `file`, `text` and `preset`, and what is said of it. All borrowed
 * during the call; NULL, 0: not said. */
typedef struct ropescope_recipe_source {
  size_t size;
  const char *file;      /* path of a Hugging Face config.json, of a folder that holds one, or of a GGUF file; beside
                            `text`: its name in messages */
  const char *text;      /* what such a file holds */
  const char *preset;    /* the name of a built-in model */
  const char *method;    /* a method on it as YAML: "yarn", "{name: yarn, factor: 8}"; NULL: what the model publishes,
                            else plain RoPE */
  const char *layers;    /* which of its layers: a kind ("sliding_attention") or a number; NULL: full attention that
                            turns, else what most layers are */
  size_t length;         /* tokens that it is for; 0: the longest that the model is published for */
  const char *tokens;    /* what the tokens are, as the key `tokens` of a config, YAML; NULL: text */
  const char *precision; /* what numbers are rounded to, as the key `precision`, YAML; NULL: doubles */
} ropescope_recipe_source;

/* Reads a model and resolves its method. ROPESCOPE_INPUT with the problems for whatever is wrong with the words, also
 * where the model says no length and `length` is 0; ROPESCOPE_IO for a file that cannot be read; ROPESCOPE_MEMORY. */
ropescope_status ropescope_recipe_create(const ropescope_library *library, const ropescope_recipe_source *source,
                                         ropescope_recipe **recipe, ropescope_error **error);
void ropescope_recipe_free(ropescope_recipe *recipe);

/* The model's name. */
const char *ropescope_recipe_model(const ropescope_recipe *recipe);

/* The method's name. */
const char *ropescope_recipe_method(const ropescope_recipe *recipe);

/* The whole recipe as it is written in configs, what differs from the defaults: "{name: yarn, factor: 8}". */
const char *ropescope_recipe_text(const ropescope_recipe *recipe);

/* What its author will hardly have meant at its length, whole sentences; "" where nothing is to be said. */
const char *ropescope_recipe_warning(const ropescope_recipe *recipe);

/* H. */
size_t ropescope_recipe_heads(const ropescope_recipe *recipe);

/* D. */
size_t ropescope_recipe_head_dim(const ropescope_recipe *recipe);

/* R, dims; 0: no pair turns. */
size_t ropescope_recipe_rotary_dim(const ropescope_recipe *recipe);

/* L, the tokens that it is for. */
size_t ropescope_recipe_length(const ropescope_recipe *recipe);

/* L0, the tokens that the model was trained for; 0: unknown. */
size_t ropescope_recipe_train_length(const ropescope_recipe *recipe);

/* The published maximum, tokens; 0: unknown. */
size_t ropescope_recipe_max_length(const ropescope_recipe *recipe);

/* Base of the model's geometric ladder, > 1. */
double ropescope_recipe_theta(const ropescope_recipe *recipe);

/* 1: pair j is dims (2j, 2j + 1); 0: dims (j, j + R/2). */
int ropescope_recipe_interleaved(const ropescope_recipe *recipe);

/* A parameter of the recipe, with the value that acts. */
typedef struct ropescope_parameter {
  const char *name;    /* "factor" */
  const char *value;   /* as configs have it: "8", "true", "[16, 24, 24]"; "": it has none */
  const char *unit;    /* "tokens", "1" for a pure number, "" where none applies */
  const char *summary; /* what it means, one line */
  int given;           /* 1: written by the caller or published by the model, no default */
} ropescope_parameter;

/* Parameter `index`, in the order of `ropescope list`; NULL past the last. */
const ropescope_parameter *ropescope_recipe_parameter(const ropescope_recipe *recipe, size_t index);

/* Layers of one kind. */
typedef struct ropescope_layer_kind {
  const char *name;   /* as layer_types has it: "sliding_attention" */
  const char *layers; /* their numbers: "0-4, 6-10" */
  size_t count;       /* how many there are */
  const char *sees;   /* "window 1024", "everything before"; "": they have no attention */
  const char *method; /* what is published for them; "": nothing */
  int attends;        /* 0: layers without attention */
  int chosen;         /* 1: the layers that this recipe is of */
} ropescope_layer_kind;

/* Kind `index` of the model's layers, in the order of their first layers; NULL past the last. */
const ropescope_layer_kind *ropescope_recipe_layer_kind(const ropescope_recipe *recipe, size_t index);

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* What a recipe is at one length. Read-only once made. */
typedef struct ropescope_tables ropescope_tables;

/* Whose positions: queries and keys may have different ones. */
typedef enum ropescope_side {
  ROPESCOPE_QUERY = 0, /* of queries */
  ROPESCOPE_KEY = 1    /* of keys */
} ropescope_side;

/* The tables at `length` tokens (0: the recipe's). They do not refer to the recipe. ROPESCOPE_DOMAIN where the recipe
 * is undefined at this length, ROPESCOPE_UNSUPPORTED for parts that do not go together, ROPESCOPE_MEMORY. */
ropescope_status ropescope_tables_create(const ropescope_recipe *recipe, size_t length, ropescope_tables **tables,
                                         ropescope_error **error);
void ropescope_tables_free(ropescope_tables *tables);

/* L, tokens. */
size_t ropescope_tables_length(const ropescope_tables *tables);

/* P; 0: no pair turns. */
size_t ropescope_tables_pairs(const ropescope_tables *tables);

/* A: 1 for text, 3 for t, h, w, P where each pair has positions of its own. */
size_t ropescope_tables_axes(const ropescope_tables *tables);

/* V: how many positions a token has in turn, by how far it is from who looks; 1 for most methods. */
size_t ropescope_tables_views(const ropescope_tables *tables);

/* H. */
size_t ropescope_tables_heads(const ropescope_tables *tables);

/* The numbers of a token that an embedding is added to. */
size_t ropescope_tables_width(const ropescope_tables *tables);

/* Copies the inverse frequencies (P,), rad/token, pair 0 the fastest of plain RoPE. Of pairs that read rows and columns
 * at once it is the length of what head 0 turns by, rad/patch. */
size_t ropescope_tables_inv_freq(const ropescope_tables *tables, double *out, size_t capacity);

/* What multiplies cos and sin. */
double ropescope_tables_attention_factor(const ropescope_tables *tables);

/* What the logits are multiplied by besides; it is in logit_scale, too. */
double ropescope_tables_logit_factor(const ropescope_tables *tables);

/* s, what the method divides by; NaN where it has none. */
double ropescope_tables_scale(const ropescope_tables *tables);

/* Copies which axis each pair reads (P,): 0 t, 1 h, 2 w; -1 where it has positions of its own. */
size_t ropescope_tables_axis(const ropescope_tables *tables, int *out, size_t capacity);

/* Copies the positions of all tokens (L, A), tokens, as queries or keys in view 0 to V - 1 (of head 0, where heads
 * differ in them). */
size_t ropescope_tables_positions(const ropescope_tables *tables, ropescope_side side, size_t view, double *out,
                                  size_t capacity);

/* Copies what multiplies the logits of each query (L,). */
size_t ropescope_tables_logit_scale(const ropescope_tables *tables, double *out, size_t capacity);

/* What turns tokens [begin, end) of one side in `view`, for head `head`: cosine and sine (end - begin, P), times the
 * attention factor. A pair (a, b) becomes (a cosine - b sine, a sine + b cosine). Either may be NULL. ROPESCOPE_INPUT
 * for tokens, a view or a head that is not there. */
ropescope_status ropescope_tables_cos_sin(const ropescope_tables *tables, ropescope_side side, size_t view, size_t head,
                                          size_t begin, size_t end, double *cosine, double *sine,
                                          ropescope_error **error);

/* Copies the slopes of the bias by head (H,), nats/token; none where it has no slopes. */
size_t ropescope_tables_slopes(const ropescope_tables *tables, double *out, size_t capacity);

/* 1: a bias is added to the logits. */
int ropescope_tables_has_bias(const ropescope_tables *tables);

/* out[n - begin] = bias(head, query, n), nats, for keys [begin, end) (end - begin,); zeros without a bias.
 * ROPESCOPE_INPUT for a head, query or key that is not there. */
ropescope_status ropescope_tables_bias(const ropescope_tables *tables, size_t head, size_t query, size_t begin,
                                       size_t end, double *out, ropescope_error **error);

/* 1: something is added to the tokens before queries and keys are made of them. */
int ropescope_tables_has_embedding(const ropescope_tables *tables);

/* out[i * width + dim]: what is added to tokens [begin, begin + count) (count, width); zeros without an embedding.
 * ROPESCOPE_DOMAIN beyond the end of its table, ROPESCOPE_INPUT for a token that is not there. */
ropescope_status ropescope_tables_embedding(const ropescope_tables *tables, size_t begin, size_t count, double *out,
                                            ropescope_error **error);

/* ---- frames: columns of numbers and words ------------------------------------------------------------------------ */

/* A CSV file, or what would be one: rows of named columns. Borrowed from what it is part of. */
typedef struct ropescope_frame ropescope_frame;

/* How many rows and columns it has. */
size_t ropescope_frame_rows(const ropescope_frame *frame);
size_t ropescope_frame_columns(const ropescope_frame *frame);

/* The name of a column; NULL past the last. */
const char *ropescope_frame_name(const ropescope_frame *frame, size_t column);

/* Its unit, "" where none is known; NULL past the last. */
const char *ropescope_frame_unit(const ropescope_frame *frame, size_t column);

/* Its definition, "" where none is known; NULL past the last. */
const char *ropescope_frame_summary(const ropescope_frame *frame, size_t column);

/* 1: every field of the column is a number or empty. */
int ropescope_frame_is_numeric(const ropescope_frame *frame, size_t column);

/* 1: the column holds integers (counts, indices, positions, lengths, seeds), and no field of it is empty. */
int ropescope_frame_is_integer(const ropescope_frame *frame, size_t column);

/* The column called `name`; SIZE_MAX: none. */
size_t ropescope_frame_find(const ropescope_frame *frame, const char *name);

/* A field as text, and as a number (NaN where it is empty or none). NULL, NaN past the end. */
const char *ropescope_frame_text(const ropescope_frame *frame, size_t row, size_t column);
double ropescope_frame_number(const ropescope_frame *frame, size_t row, size_t column);

/* Copies a column as numbers (rows,), NaN where a field is empty or no number. */
size_t ropescope_frame_numbers(const ropescope_frame *frame, size_t column, double *out, size_t capacity);

/* Copies a column that holds integers (rows,); none of another column. */
size_t ropescope_frame_integers(const ropescope_frame *frame, size_t column, int64_t *out, size_t capacity);

/* ---- statistics of given queries and keys ------------------------------------------------------------------------ */

/* What a number is stored as. */
typedef enum ropescope_dtype {
  ROPESCOPE_F64 = 0,  /* double */
  ROPESCOPE_F32 = 1,  /* float */
  ROPESCOPE_BF16 = 2, /* uint16_t: the upper half of a float */
  ROPESCOPE_F16 = 3   /* uint16_t: IEEE 754 binary16 */
} ropescope_dtype;

/* Rows of numbers where they are, in the machine's byte order, aligned to their type. Number d of token t of head h
 * stands at data + h * head_stride + t * token_stride + d * dim_stride; strides are in numbers (not bytes), and may be
 * negative or 0. */
typedef struct ropescope_rows {
  const void *data;                                /* number 0 of token 0 of head 0 */
  ropescope_dtype dtype;                           /* of every number */
  ptrdiff_t head_stride, token_stride, dim_stride; /* from one to the next, in numbers */
} ropescope_rows;

/* An array of a file, mapped: its numbers stay on the disk until they are read. Read-only. */
typedef struct ropescope_array ropescope_array;

/* The array of a .npy file (little-endian, C order; `tensor` NULL), or the tensor called so of a file of safetensors or
 * their index. ROPESCOPE_INPUT as "file: why", also for a tensor that is not there; ROPESCOPE_UNSUPPORTED for numbers
 * that are no ropescope_dtype, or other than 1 to 3 axes; ROPESCOPE_IO; ROPESCOPE_MEMORY. */
ropescope_status ropescope_array_open(const char *path, const char *tensor, ropescope_array **array,
                                      ropescope_error **error);
void ropescope_array_free(ropescope_array *array);

/* How many axes it has, and numbers along one. */
size_t ropescope_array_rank(const ropescope_array *array);
size_t ropescope_array_extent(const ropescope_array *array, size_t axis);

/* Its numbers as rows, the axes being (heads,) tokens, dims. Borrows. */
ropescope_rows ropescope_array_rows(const ropescope_array *array);

/* Which keys n a query m sees. */
typedef enum ropescope_mask {
  ROPESCOPE_MASK_OF_LAYER = 0,      /* as the layers of the recipe have it, causal where the model does not say */
  ROPESCOPE_MASK_CAUSAL = 1,        /* n <= m */
  ROPESCOPE_MASK_BIDIRECTIONAL = 2, /* all */
  ROPESCOPE_MASK_WINDOW = 3,        /* also m - n < window */
  ROPESCOPE_MASK_WINDOW_SINKS = 4,  /* the same, or n < sinks (StreamingLLM, arXiv:2309.17453) */
  ROPESCOPE_MASK_CROSS = 5,         /* all, of another sequence: neither rotation nor bias acts */
  ROPESCOPE_MASK_CHUNKS = 6,        /* n <= m, both within the same `window` tokens (Llama 4) */
  ROPESCOPE_MASK_BAND = 7           /* |m - n| < window (ModernBERT) */
} ropescope_mask;

/* Attention that is to be observed. All borrowed during the call; 0, NULL: not said. */
typedef struct ropescope_attention {
  size_t size;
  const ropescope_recipe *recipe; /* what positions do to q and k */
  ropescope_rows q;               /* (heads, query_tokens, D) before rotation; row 0 stands at position first_query */
  ropescope_rows k;               /* (kv_heads, length, D) before rotation */
  size_t length;                  /* L: keys, tokens; at least 1 */
  size_t head_dim;                /* D; must be the recipe's */
  size_t heads;                   /* of q, at least 1 and at most the recipe's: head h here is head h of the model */
  size_t kv_heads;                /* of k, divides `heads`, as many queries' heads in turn share one; 0: as `heads` */
  size_t query_tokens;            /* rows of q; 0: L, from position 0 */
  size_t first_query;             /* the position of row 0, tokens */
  ropescope_mask mask;            /* which keys a query sees */
  size_t window;                  /* tokens, for masks that have one */
  size_t sinks;                   /* tokens, of ROPESCOPE_MASK_WINDOW_SINKS */
  const size_t *queries;          /* (query_count,) ascending positions among q's rows: which are observed; NULL: all */
  size_t query_count;             /* Q; not read where `queries` is NULL: Q is then the rows of q */
  const size_t *targets; /* (Q,) the key that each observed query seeks, by position, or ROPESCOPE_NO_TARGET; NULL:
                            none does */
  double softmax_scale;  /* multiplies products in place of 1/sqrt(D); 0: 1/sqrt(D) */
  double soft_cap;       /* nats: products become cap tanh(product / cap), before the bias; 0: they do not */
  const double *learned_sinks; /* (heads,) logits that take weight and are no key, nats; NULL: none */
  size_t first_keys;           /* how many keys from the start ROPESCOPE_FIRST_WEIGHT is of; 0: 4 */
  size_t bins_per_octave;      /* of distances; 0: 4 */
  double epsilon;  /* weight of a row that may be left unseen where that is certain; 0: 1e-12; negative: none */
  int exact;       /* 1: logits in doubles; 0: in float wherever that errs by at most 2e-4 nats */
  int by_distance; /* 1: the weight of each query by distance is kept (Q * bins numbers a head) */
  const char
      *metrics;   /* names of metrics and their parameters, a YAML list: "[entropy, {name: top_mass}]"; NULL: none */
  uint64_t seed;  /* of metrics that draw */
  size_t threads; /* at most; 0: all */
} ropescope_attention;

/* What is known of each observed query. Weights are those of the softmax, and sum to 1 over the keys that a query sees
 * and its head's learned sink. */
typedef enum ropescope_observable {
  ROPESCOPE_QUERY_POSITION = 0, /* m */
  ROPESCOPE_KEYS = 1,           /* how many it sees */
  ROPESCOPE_MAX_LOGIT = 2,      /* nats */
  ROPESCOPE_LOG_SUM_EXP = 3,    /* nats */
  ROPESCOPE_ENTROPY = 4,        /* nats */
  ROPESCOPE_ARGMAX = 5,         /* position of the key with the largest logit */
  ROPESCOPE_FIRST_WEIGHT = 6,   /* of the first keys together */
  ROPESCOPE_LEARNED_WEIGHT = 7, /* of the learned sink */
  ROPESCOPE_TARGET_DISTANCE =
      8,                        /* |m - n| of the key that it seeks; this and the next three are NaN without one that */
  ROPESCOPE_TARGET_LOGIT = 9,   /* the mask lets it see. nats */
  ROPESCOPE_TARGET_WEIGHT = 10, /* softmax weight of that key */
  ROPESCOPE_TARGET_RANK = 11,   /* keys with a larger logit; 0: the target wins */
  ROPESCOPE_SKIPPED_WEIGHT = 12 /* the most that keys left out can have together (epsilon) */
} ropescope_observable;

/* What was observed. */
typedef struct ropescope_statistics ropescope_statistics;

/* Observes every head in memory linear in the length: no (Q, L) array is ever made. q and k are read where they are,
 * one head of them at a time. ROPESCOPE_INPUT for shapes that do not fit, a number that is not finite (which one), or
 * metrics that are none; ROPESCOPE_DOMAIN where the recipe is undefined at this length; ROPESCOPE_UNSUPPORTED where the
 * mask sees ahead and the recipe's views do not, for recipes that add to the tokens (their q and k must have it in them
 * already: take the method "nope"), and for metrics that read a trained model; ROPESCOPE_MEMORY. */
ropescope_status ropescope_statistics_create(const ropescope_attention *attention, ropescope_statistics **statistics,
                                             ropescope_error **error);
void ropescope_statistics_free(ropescope_statistics *statistics);

/* Heads that were observed, Q, and bins of distance. */
size_t ropescope_statistics_heads(const ropescope_statistics *statistics);
size_t ropescope_statistics_queries(const ropescope_statistics *statistics);
size_t ropescope_statistics_bins(const ropescope_statistics *statistics);

/* Copies one observable of the queries of one head (Q,). */
size_t ropescope_statistics_values(const ropescope_statistics *statistics, size_t head, ropescope_observable observable,
                                   double *out, size_t capacity);

/* Copies the edges of the bins (bins + 1,), tokens, ascending from 0 to L: bin i has edges[i] <= |m - n| < edges[i+1].
 */
size_t ropescope_statistics_edges(const ropescope_statistics *statistics, double *out, size_t capacity);

/* Copies the weight of the keys in each bin, for each query of one head (Q, bins); none without `by_distance`. */
size_t ropescope_statistics_mass(const ropescope_statistics *statistics, size_t head, double *out, size_t capacity);

/* The scalars of the metrics that were asked for, one row: columns as in summary.csv, over all heads. NULL without
 * metrics. */
const ropescope_frame *ropescope_statistics_summary(const ropescope_statistics *statistics);

/* Curve `index` of those metrics and the name of its metric; NULL past the last. */
const ropescope_frame *ropescope_statistics_curve(const ropescope_statistics *statistics, size_t index);
const char *ropescope_statistics_curve_name(const ropescope_statistics *statistics, size_t index);

/* ---- check: is a config.json right? ------------------------------------------------------------------------------ */

/* How much a finding matters, the least first. */
typedef enum ropescope_severity {
  ROPESCOPE_NOTE = 0,    /* worth knowing; nothing is wrong */
  ROPESCOPE_WARNING = 1, /* engines differ, or the author has hardly meant it */
  ROPESCOPE_ERROR = 2    /* nobody can have meant it, or engines stop */
} ropescope_severity;

/* One thing that `check` has to say. */
typedef struct ropescope_finding {
  const char *code, *rule;     /* "RS201", "no-original-length" */
  ropescope_severity severity; /* how much it matters */
  size_t line, column;         /* of the value that it is about, from 1; 0: of the file as a whole */
  const char *key;             /* "rope_scaling.factor"; "": none */
  const char *text;            /* what is wrong, with the file's numbers: whole sentences */
  const char *fix;             /* what to write in its place; "": nothing is to be done */
} ropescope_finding;

/* All of them, by line. */
typedef struct ropescope_findings ropescope_findings;

/* What is found in a config.json: `text` (length bytes), which messages call `name`; or, where `text` is NULL, the file
 * (a GGUF file, too) or folder `name`. `engines` names what it is to be read by, separated by commas ("vllm,
 * transformers@4.52"); NULL: any, and what they do otherwise is then a note. ROPESCOPE_INPUT where it is no JSON
 * object, or for an engine that is not known; ROPESCOPE_IO; ROPESCOPE_MEMORY. */
ropescope_status ropescope_check(const char *text, size_t length, const char *name, const char *engines,
                                 ropescope_findings **findings, ropescope_error **error);
void ropescope_findings_free(ropescope_findings *findings);

/* Finding `index`, by line; NULL past the last. */
const ropescope_finding *ropescope_findings_at(const ropescope_findings *findings, size_t index);

/* How many are at least this severe. */
size_t ropescope_findings_count(const ropescope_findings *findings, ropescope_severity least);

/* ---- sweeps ------------------------------------------------------------------------------------------------------ */

/* How a config is run. All borrowed during the call; 0, NULL: not said. */
typedef struct ropescope_run_options {
  size_t size;
  const char *const *edits; /* (edit_count,) changes of the config: "methods[1].factor=8", as --set */
  size_t edit_count;        /* how many; 0: none */
  const char *directory;   /* where the results go, as `ropescope run --out`, which goes on from the cells that are done
                              there; NULL: in memory, and no folder that stays is touched */
  const char *checkpoints; /* where models that are trained are kept and found again; NULL: nowhere */
  size_t threads;          /* at most; 0: all */
  /* Told as cells, and parts of long ones, are done: `done` of `cells`, and the share of the work in [0, 1]. From any
   * thread of this run, never twice at once. It may call what it likes, another run too, or wait for one. NULL: nobody
   * is told. */
  void (*progress)(void *context, size_t done, size_t cells, double share);
  /* Asked again and again, from any thread, several at once: not 0 ends the run with ROPESCOPE_STOPPED. NULL: it is not
   * asked. */
  int (*stop)(void *context);
  void *context; /* of both */
} ropescope_run_options;

/* A folder of results, in memory. */
typedef struct ropescope_results ropescope_results;

/* Runs a config: `text` (YAML), which messages call `name`, and in whose folder its relative paths start (NULL:
 * "config", in the working directory); or, where `text` is NULL, the file `name`; where both are, the built-in demo.
 * `options` may be NULL. A cell that is undefined at its length is a row with its error. ROPESCOPE_INPUT with the
 * problems of the config, or where `directory` holds the results of another one; ROPESCOPE_IO; ROPESCOPE_MEMORY;
 * ROPESCOPE_STOPPED; ROPESCOPE_BUSY; ROPESCOPE_INTERNAL. */
ropescope_status ropescope_run(const ropescope_library *library, const char *text, const char *name,
                               const ropescope_run_options *options, ropescope_results **results,
                               ropescope_error **error);

/* Reads a folder that a run has written. ROPESCOPE_INPUT where a file is not what manifest.json says, ROPESCOPE_IO,
 * ROPESCOPE_MEMORY. */
ropescope_status ropescope_results_open(const char *directory, ropescope_results **results, ropescope_error **error);
void ropescope_results_free(ropescope_results *results);

/* File `index` by name ("summary.csv"), in alphabetical order; NULL past the last. */
const char *ropescope_results_name(const ropescope_results *results, size_t index);

/* The bytes of a file, as the folder has them, followed by a NUL; *length, where not NULL, gets their number. NULL
 * where there is no such file. */
const char *ropescope_results_file(const ropescope_results *results, const char *name, size_t *length);

/* A CSV file of them as a frame; NULL where there is no such CSV file. */
const ropescope_frame *ropescope_results_frame(const ropescope_results *results, const char *name);

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

/* What `ropescope plot` draws of results. */
typedef struct ropescope_pictures ropescope_pictures;

/* Draws everything that says something, curves at the longest length that has data. ROPESCOPE_INPUT where there is
 * nothing to draw; ROPESCOPE_IO (a temporary folder, which is removed); ROPESCOPE_MEMORY. */
ropescope_status ropescope_plot(const ropescope_results *results, ropescope_pictures **pictures,
                                ropescope_error **error);
void ropescope_pictures_free(ropescope_pictures *pictures);

/* Picture `index`: its name ("entropy_nats--llama-2-7b"), and itself as a whole SVG document; NULL past the last. */
const char *ropescope_pictures_name(const ropescope_pictures *pictures, size_t index);
const char *ropescope_pictures_svg(const ropescope_pictures *pictures, size_t index);

/* ---- solve: which setting serves a length ------------------------------------------------------------------------ */

/* What is looked for. */
typedef enum ropescope_sought {
  ROPESCOPE_SOLVE_BASE = 0,   /* the base that serves `length` */
  ROPESCOPE_SOLVE_FACTOR = 1, /* the factor that does */
  ROPESCOPE_SOLVE_LENGTH = 2  /* the length that a setting serves */
} ropescope_sought;

/* What "serves a length" means. */
typedef enum ropescope_criterion {
  ROPESCOPE_FIRST_VIOLATION = 0, /* sum_j cos(m omega_j) >= 0 at all distances m (arXiv:2405.14591) */
  ROPESCOPE_CRITICAL_DIM = 1,    /* the period of the critical pair (arXiv:2310.05209) */
  ROPESCOPE_OUT_OF_RANGE = 2,    /* no angle that training has not shown */
  ROPESCOPE_NTK_AWARE = 3        /* the NTK-aware rule, b = theta s^(R / (R - 2)) */
} ropescope_criterion;

/* A question. All borrowed during the call; 0, NULL: not said. */
typedef struct ropescope_question {
  size_t size;
  ropescope_sought sought;                            /* what is looked for */
  ropescope_criterion criterion;                      /* when a length is served */
  double length;                                      /* the context to be served, tokens */
  double base;                                        /* plain RoPE at this base, in place of a recipe */
  size_t head_dim;                                    /* D in place of a model; even */
  const char *file, *text, *preset, *layers, *method; /* as in ropescope_recipe_source */
} ropescope_question;

/* Something to be said of an answer. */
typedef struct ropescope_remark {
  const char *name, *text; /* "means", "search", "note", ...; one sentence */
} ropescope_remark;

/* The answer to a question. */
typedef struct ropescope_solution ropescope_solution;

/* Answers a question; some searches take minutes. ROPESCOPE_INPUT for wrong words or a question without what it needs,
 * ROPESCOPE_DOMAIN where nothing serves, ROPESCOPE_UNSUPPORTED for methods that do more than turn pairs, ROPESCOPE_IO,
 * ROPESCOPE_MEMORY. */
ropescope_status ropescope_solve(const ropescope_question *question, ropescope_solution **solution,
                                 ropescope_error **error);
void ropescope_solution_free(ropescope_solution *solution);

/* The base, factor or length (tokens), and the same to the digits that hold. */
double ropescope_solution_value(const ropescope_solution *solution);
const char *ropescope_solution_number(const ropescope_solution *solution);

/* What is to be said of it; NULL past the last. */
const ropescope_remark *ropescope_solution_remark(const ropescope_solution *solution, size_t index);

/* ---- compare: why two settings differ ---------------------------------------------------------------------------- */

/* Bits of ropescope_comparison_differs. */
enum {
  ROPESCOPE_DIFFERS_FREQUENCY = 1, /* or in the number of pairs */
  ROPESCOPE_DIFFERS_AMPLITUDE = 2, /* in what multiplies cos and sin, or logits */
  ROPESCOPE_DIFFERS_AXIS = 4,
  ROPESCOPE_DIFFERS_LAYOUT = 8,
  ROPESCOPE_DIFFERS_BEYOND = 16,   /* in what is no frequency: positions, biases, temperatures by position */
  ROPESCOPE_DIFFERS_WIDTH = 32,    /* head_dim, which 1/sqrt(D) puts on the logits */
  ROPESCOPE_DIFFERS_POSITIONS = 64 /* in what positions are rounded to */
};

/* What is compared. All borrowed during the call; 0, NULL: not said. */
typedef struct ropescope_contest {
  size_t size;
  const char *a, *b;  /* a file (.json config or dump, .npy, .csv, .safetensors, GGUF), the folder of a config.json,
                         a preset's name, or a method as YAML */
  const char *layers; /* of configs, as in ropescope_recipe_source */
  const char *file, *text, *preset; /* the model on which methods stand; none: the other side's */
  size_t length;                    /* tokens; 0: the longest that A's model is published for, else B's, else 4096 */
  double tolerance;                 /* relative difference of a frequency that counts as none; 0: 1e-6 */
} ropescope_contest;

/* In what two sides differ, and why. */
typedef struct ropescope_comparison ropescope_comparison;

/* A change that makes one side the other, found by trying it. */
typedef struct ropescope_cause {
  const char *text; /* "B is A with truncate: true (A has false)" */
  int whole;        /* 1: nothing differs under it */
  double residual;  /* the largest relative difference of a frequency under it; NaN where it says nothing of them */
} ropescope_cause;

/* Compares two sides, and tries what makes one the other. ROPESCOPE_INPUT as "A, TEXT: why", or with the problems of a
 * method; ROPESCOPE_DOMAIN where a side is undefined at this length; ROPESCOPE_IO; ROPESCOPE_MEMORY. */
ropescope_status ropescope_compare(const ropescope_contest *contest, ropescope_comparison **comparison,
                                   ropescope_error **error);

/* The same with a recipe in the place of `a` or `b` of the contest, which is then NULL; a recipe that is NULL leaves
 * the side to its text. A method as YAML on the other side stands on the recipe's model where the contest names none,
 * and length 0 is that of the recipe. The library of methods that a recipe names must outlive the comparison.
 * ROPESCOPE_UNSUPPORTED, besides, for recipes with tokens or a precision. */
ropescope_status ropescope_compare_recipes(const ropescope_contest *contest, const ropescope_recipe *a,
                                           const ropescope_recipe *b, ropescope_comparison **comparison,
                                           ropescope_error **error);
void ropescope_comparison_free(ropescope_comparison *comparison);

/* What the sides differ in, ROPESCOPE_DIFFERS_* together; 0: in nothing that both say. */
unsigned ropescope_comparison_differs(const ropescope_comparison *comparison);

/* How many pairs' frequencies differ. */
size_t ropescope_comparison_pairs(const ropescope_comparison *comparison);

/* The largest relative difference of a frequency. */
double ropescope_comparison_largest(const ropescope_comparison *comparison);

/* The pair that has it. */
size_t ropescope_comparison_worst(const ropescope_comparison *comparison);

/* Copies the inverse frequencies of side 0 (A) or 1 (B) (P,), rad/token. */
size_t ropescope_comparison_inv_freq(const ropescope_comparison *comparison, int side, double *out, size_t capacity);

/* Cause `index`, those that explain everything first; NULL past the last. */
const ropescope_cause *ropescope_comparison_cause(const ropescope_comparison *comparison, size_t index);

/* ---- convert: a recipe for another consumer ---------------------------------------------------------------------- */

/* What to write for a consumer. */
typedef struct ropescope_conversion ropescope_conversion;

/* The recipe of a model (as in ropescope_recipe_source: one of `file`, `text`, `preset`, then `layers`, and a `method`
 * in the place of what these layers publish; the rest is not read) for the consumer called `to`, who is to serve
 * `length` tokens (0: what is published). ROPESCOPE_INPUT, with the problems of the method; ROPESCOPE_DOMAIN where the
 * recipe is undefined at this length, ROPESCOPE_IO, ROPESCOPE_MEMORY. */
ropescope_status ropescope_convert(const ropescope_recipe_source *source, const char *to, size_t length,
                                   ropescope_conversion **conversion, ropescope_error **error);
void ropescope_conversion_free(ropescope_conversion *conversion);

/* A JSON object of keys for the consumer's config; "" where it takes arguments. */
const char *ropescope_conversion_fragment(const ropescope_conversion *conversion);

/* Argument `index` of its command line, and note `index` of what it cannot say, or reads otherwise; NULL past the last.
 */
const char *ropescope_conversion_argument(const ropescope_conversion *conversion, size_t index);
const char *ropescope_conversion_note(const ropescope_conversion *conversion, size_t index);

/* ---- declarations end -------------------------------------------------------------------------------------------- */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
