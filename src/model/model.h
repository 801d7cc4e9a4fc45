/* model/model.h: transformers that read the tables of encodings. Their shapes and weights, what they make of a
 * sequence, and the tasks they are trained and read on.
 *
 * Symbols, besides those of encoding.h: d width of the model, F width of a feed-forward layer, K heads of keys and
 * values, C classes of the output. Matrices are (outputs, inputs), row-major, as checkpoints have them: y = W x + b. */
#ifndef ROPESCOPE_MODEL_H
#define ROPESCOPE_MODEL_H

#include "attention/attention.h"
#include "io/io.h"

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Decoder: causal, a class at each token. Encoder: sees both ways, a class at each token. Encoder-decoder: a decoder
 * whose blocks read an encoder's last states, too. Vision: an encoder of patches behind a class token, which says one
 * class a picture. */
typedef enum rs_form { RS_DECODER, RS_ENCODER, RS_ENCODER_DECODER, RS_VISION } rs_form;
enum { RS_FORMS = RS_VISION + 1 };
extern const char *const rs_form_words[RS_FORMS + 1];

/* State that says the class of a sequence: the class token's, or the mean of all but that (z = 1/N sum z_i). The class
 * token of an encoder of text is its first token. */
typedef enum rs_pool { RS_POOL_CLASS, RS_POOL_MEAN } rs_pool;
enum { RS_POOLS = RS_POOL_MEAN + 1 };
extern const char *const rs_pool_words[RS_POOLS + 1];

/* Prediction by the head of the class alone, or by the mean of its softmaxes (the paper) or logits (transformers) and
 * those of the head of a distillation token (DeiT, arXiv:2012.12877). */
typedef enum rs_prediction { RS_PREDICTS_CLASS, RS_PREDICTS_SOFTMAXES, RS_PREDICTS_LOGITS } rs_prediction;
enum { RS_PREDICTIONS = RS_PREDICTS_LOGITS + 1 };
extern const char *const rs_prediction_words[RS_PREDICTIONS + 1];

/* RMS: x / rms(x) w. Layer: (x - mean) / sd w + b. L2: x / rms(x), nothing learned. None: x. */
typedef enum rs_norm_kind { RS_NORM_NONE, RS_NORM_RMS, RS_NORM_LAYER, RS_NORM_L2 } rs_norm_kind;
enum { RS_NORM_KINDS = RS_NORM_L2 + 1 };
extern const char *const rs_norm_words[RS_NORM_KINDS + 1];

typedef struct rs_norm {
  rs_norm_kind kind;
  bool bias;       /* of a layer norm */
  bool around_one; /* w is stored less 1 (Gemma) */
  double epsilon;  /* added to the mean square, or to the variance */
} rs_norm;

/* gelu: x Phi(x); gelu_tanh: its approximation by tanh (GPT-2); silu: x sigmoid(x); gelu_bloom: gelu_tanh with sqrt(2 /
 * pi) cut to 0.79788456, as BLOOM's code has it; relu2: relu(x)^2. */
typedef enum rs_activation { RS_GELU, RS_GELU_TANH, RS_RELU, RS_SILU, RS_GELU_BLOOM, RS_RELU2 } rs_activation;
enum { RS_ACTIVATIONS = RS_RELU2 + 1 };
extern const char *const rs_activation_words[RS_ACTIVATIONS + 1];

/* Which numbers one norm of q and k spans: each head's (Qwen3), the whole projection's (OLMo-2), or each head's with
 * weights of its own (Cohere). */
typedef enum rs_qk_span { RS_QK_HEAD, RS_QK_PROJECTION, RS_QK_OWN_HEAD } rs_qk_span;

/* Queries, keys and values by way of narrow layers (DeepSeek): q = W norm(W' x); the part of a key that does not turn,
 * and the value, alike, from one narrow layer; the part that turns is made of x, and the same for all heads. */
typedef struct rs_latent {
  size_t kv_rank;   /* width of that layer; 0: there is none, q, k and v are of x */
  size_t q_rank;    /* of the queries'; 0: they are of x */
  size_t turned;    /* of a head's D numbers, the first here and the last in weights */
  size_t value_dim; /* numbers of a head's value, at most D */
  rs_norm norm;     /* of what narrow layers give */
} rs_latent;

/* Heads of one attention. */
typedef struct rs_head_shape {
  size_t heads, kv_heads, head_dim; /* H; K, which divides H; D */
  bool qkv_bias, output_bias;
  rs_norm qk_norm; /* of q and k */
  rs_qk_span qk_span;
  bool qk_norm_turned; /* after the rotation (Llama 4, Hunyuan), not before; with weights not trained */
  double score_scale;  /* multiplies q.k; 0: 1/sqrt(D) */
  double soft_cap;     /* nats: q.k becomes cap tanh(q.k / cap), before the bias (Gemma-2); 0: none */
  double clip;         /* numbers of q, k and v, before their norms, are kept within it (OLMo); 0: none; not trained */
  rs_latent latent;    /* not trained */
  bool sinks;          /* a learned logit a head, which takes weight and gives nothing (gpt-oss) */
} rs_head_shape;

/* Experts of a feed-forward layer: of as many as there are, a token is read by those whose weights are largest, and
 * gets their answers times weights. These are the softmax of all scores (Mixtral), or their sigmoids (DeepSeek-V3). */
typedef struct rs_experts {
  size_t count, used;         /* 0: the layer is one for all tokens */
  bool sigmoid;               /* weights are sigmoids of scores */
  bool mixed;                 /* weights are as a sparse mixer has them (Phi-3.5-MoE): */
  double tolerance;           /* of each choice, the softmax among those that are behind it by at most this part */
  bool normed;                /* weights of those that are chosen are made to sum to 1, */
  double scale;               /* and all are multiplied by this */
  bool steered;               /* a learned number each is added to choose them, and not to weigh them */
  size_t groups, groups_used; /* chosen are experts of the best groups alone; 0 groups: of all */
  bool grouped_by_best;       /* a group is as good as its best expert (DeepSeek-V2), not its best two (V3) */
  bool scaled_inputs;         /* weights multiply what an expert reads (Llama 4), not what it says */
  size_t shared;              /* width of an expert that reads every token beside them; 0: none */
  bool shared_gated;          /* which is multiplied by a sigmoid of its own (Qwen2-MoE) */
  bool router_bias;           /* beside the matrix that scores are made by */
  double limit;               /* (u + 1) g sigmoid(1.702 g) with g at most, u within this; 0: the layer's activation */
} rs_experts;

typedef struct rs_feed_forward {
  size_t width; /* F */
  rs_activation activation;
  bool gated; /* W2 (act(Wg x) * (W1 x)) */
  bool bias;
  bool learned_curve; /* xIELU, with numbers of its own (Apertus), in the place of `activation`; not trained */
  rs_experts experts; /* each of this width; not trained */
} rs_feed_forward;

/* x += after(attention(before(x))), then the same with feed-forward; or, parallel, both of the same x at once (GPT-J
 * with one norm: before_feed_forward is then none, and the feed-forward reads what attention does). Where norms are of
 * sums, x = after(x + attention(before(x))), and so on: with norms behind alone, Vaswani et al. (arXiv:1706.03762, 3.1)
 * and BERT. */
typedef struct rs_block {
  rs_norm before_attention, after_attention, before_feed_forward, after_feed_forward;
  bool norm_sums; /* the norms behind are of the sums */
  bool parallel;
  rs_head_shape attention;
  bool cross;                        /* between the two: attention to the encoder's states, of the same heads, */
  rs_norm before_cross, after_cross; /* and its norms */
  rs_feed_forward feed_forward;
  size_t recipe; /* which of the model's positional recipes */
  rs_mask mask;  /* of its attention */
} rs_block;

/* Blocks one after the other, and the norm of what the last gives. */
typedef struct rs_stack {
  rs_block *blocks;
  size_t count;
  rs_norm final_norm;
} rs_stack;

typedef struct rs_shape {
  rs_form form;
  size_t width;            /* d */
  size_t vocabulary;       /* tokens; 0 for vision */
  size_t patch_numbers;    /* vision: numbers of a patch, which a matrix and a bias make a token of */
  rs_pool pool;            /* of vision; mean of an encoder: it says one class a sequence, not one a token */
  bool patches_alone;      /* vision without a class token */
  bool distillation_token; /* vision: a second learned token, behind the class token */
  rs_prediction prediction;
  size_t token_types;  /* each has a vector that is added to its tokens' (BERT); 0: none; not trained */
  bool leaves_padding; /* tokens `padding` have no position, but a vector of their own, and those behind are counted */
  int32_t padding;     /* on without them (RoBERTa); not trained */
  size_t classes;      /* C; 0: it says its last states alone, and is not trained */
  size_t embedding_width; /* of embeddings, which a matrix and a bias make d numbers of (ELECTRA); 0: d; not trained */
  double embedding_scale; /* multiplies embeddings (Gemma: sqrt(d)) */
  rs_norm embedding_norm; /* of embeddings (BLOOM) */
  bool tied;              /* the output's matrix is the embeddings' */
  bool output_bias;
  double output_scale; /* multiplies the logits of classes (Cohere) */
  double output_cap;   /* nats: soft cap of them (Gemma-2); 0: none */
  rs_stack encoder;    /* of encoder-decoders alone */
  rs_stack decoder;    /* of all forms: the stack whose last states become classes */
} rs_shape;

/* Number of tokens before a picture's patches (the class token and that of distillation), which pooling leaves out. */
size_t rs_shape_lead(const rs_shape *shape) RS_NONNULL(1);

/* Number of classes that a model says of a sequence of `length` tokens, A: one at each token, or one of all. */
size_t rs_shape_answers(const rs_shape *shape, size_t length) RS_NONNULL(1);

/* RS_INPUT where parts do not fit together, RS_MEMORY for more numbers than memory counts. */
rs_status rs_shape_check(const rs_shape *shape, rs_err *err) RS_NONNULL(1);

/* RS_UNSUPPORTED for what published models have and no way back is there for: experts, narrow layers, clipped
 * queries, learned curves, norms with weights behind the rotation, token types, no classes. */
rs_status rs_shape_trains(const rs_shape *shape, rs_err *err) RS_NONNULL(1);
rs_status rs_shape_copy(rs_shape *copy, const rs_shape *from, rs_err *err) RS_NONNULL(1, 2);
void rs_shape_clear(rs_shape *shape) RS_NONNULL(1);

/* ---- weights ----------------------------------------------------------------------------------------------------- */

typedef enum rs_init { RS_INIT_GAUSSIAN, RS_INIT_ONE, RS_INIT_ZERO, RS_INIT_LEARNED } rs_init;

/* One array of weights. Those that are read by one product stand side by side: q, k, v; gate and up. */
typedef struct rs_tensor {
  char name[112];       /* as Hugging Face's Llama has it where Llama has one */
  size_t rows, columns; /* vectors have one row */
  bool vector;          /* has one dimension in a checkpoint */
  size_t offset;        /* of its first number among the values; SIZE_MAX: it stays in a file */
  rs_init init;
  double init_sd; /* Gaussian */
  bool decays;    /* is a matrix: weight decay acts on it */
  size_t recipe;  /* learned numbers of this recipe's stages, and which of them; read where init says learned */
  size_t learned;
} rs_tensor;

typedef struct rs_places rs_places;

/* A matrix that stays in its file. Row r is row first + r / run * group_step + r % run there: rows of several matrices
 * may alternate. Numbers are `row_step` apart from row to row and `column_step` within a row. Where rows are `paired`,
 * runs are halves of heads, and the rows of two alternate there. */
typedef struct rs_mapped_matrix {
  const unsigned char *numbers; /* little-endian, aligned to nothing, all finite in the model's format */
  rs_format format;
  const rs_stored_tensor *blocks; /* in the place of numbers: blocks of them, widened as they are read; NULL: numbers */
  size_t first, run, group_step;
  bool paired;
  size_t row_step, column_step;
} rs_mapped_matrix;

/* A model: what it is and its numbers. Values are float or double: the arithmetic it computes in. */
typedef struct rs_transformer {
  rs_shape shape;
  rs_model geometry;  /* what recipes are resolved for: heads, head_dim, theta, trained length */
  rs_recipe *recipes; /* (recipe_count,) resolved, and fixed (rs_recipe_fix); blocks name them by index */
  size_t recipe_count;
  rs_tensor *tensors; /* (tensor_count,) in the order of their offsets */
  size_t tensor_count;
  size_t size;                /* numbers in all */
  rs_format format;           /* RS_F32 or RS_F64 */
  void *values;               /* (size,), aligned to 64 bytes */
  bool mapped;                /* matrices stay where they are: it is read, not trained, and not written */
  rs_mapped_matrix *matrices; /* (tensor_count,) of matrices; whoever made the model says where; NULL: not mapped */
  rs_safetensors *file;       /* that holds them, freed with the model; NULL: it is somebody else's memory */
  rs_places *places;          /* where each stands; private to the layer */
} rs_transformer;

/* What a model is made of; all borrowed. */
typedef struct rs_transformer_in {
  const rs_shape *shape;
  const rs_model *geometry;
  const rs_recipe *recipes; /* (recipe_count,) resolved and checked */
  size_t recipe_count;
  const rs_token_layout *tokens; /* of what it is trained on, geometry->train_length tokens; NULL: text */
  rs_format format;              /* RS_F32 or RS_F64 */
  uint64_t seed;
  /* The file that its weights are to come from: whatever a shape claims, no more is allocated than this holds, and a
   * GiB for positions; RS_INPUT with the first tensor that does not fit. NULL: not from a file. */
  const rs_safetensors *stored;
  bool blank;  /* all weights 0: they are to be read */
  bool mapped; /* values are vectors and learned numbers alone; `matrices` are to be filled in */
} rs_transformer_in;

/* A model with weights drawn from the seed: Gaussian matrices, ones, zeros, and the learned numbers of its recipes as
 * these begin. Copies what it is given. RS_INPUT, RS_MEMORY, and what recipes fail with. */
rs_status rs_transformer_create(const rs_transformer_in *in, rs_transformer **transformer, rs_err *err)
    RS_NONNULL(1, 2);
void rs_transformer_free(rs_transformer *transformer);

/* Gives `to` the weights of `from` that it has, too, by name and size; the others stay. Of tables of positions that
 * differ in length it gets the rows that both have. Returns how many tensors. */
size_t rs_transformer_adopt(rs_transformer *to, const rs_transformer *from) RS_NONNULL(1, 2);

/* The tensor called `name`, or NULL. Borrows. */
const rs_tensor *rs_transformer_tensor(const rs_transformer *transformer, const char *name) RS_NONNULL(1, 2);

/* Number `index` of the values. */
double rs_transformer_get(const rs_transformer *transformer, size_t index) RS_NONNULL(1);
void rs_transformer_set(rs_transformer *transformer, size_t index, double value) RS_NONNULL(1);

/* Writes the weights as a file of safetensors, in the model's format; vectors have one dimension, matrices two. The
 * names and shapes are Hugging Face's where the model's are. RS_DOMAIN for a weight that is not finite; RS_IO. */
rs_status rs_weights_write(const rs_transformer *transformer, const char *path, rs_err *err) RS_NONNULL(1, 2);

/* Reads them from such a file, or from shards by their index: F64, F32, BF16 or F16. The file has the model's tensors,
 * of their shapes, and no other, else RS_INPUT with the tensor's name. The weights are unchanged on failure. */
rs_status rs_weights_read(rs_transformer *transformer, const char *path, rs_err *err) RS_NONNULL(1, 2);

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* A model at one length: the tables of its recipes, with what it has learned, in the numbers it computes in. */
typedef struct rs_context rs_context;

/* `recipes` (recipe_count,) stand in the place of the model's own, resolved and checked; NULL: its own. They read the
 * arrays that the model has learned by these names, and follow the grid it was trained on (rs_recipe_follow). Borrows
 * `transformer`. `tokens` NULL: text. RS_DOMAIN where a recipe is undefined at the length, or has an array of another
 * shape than the model; RS_MEMORY. */
rs_status rs_context_create(const rs_transformer *transformer, const rs_recipe *recipes, size_t length,
                            size_t source_length, const rs_token_layout *tokens, rs_context **context, rs_err *err)
    RS_NONNULL(1, 6);
void rs_context_free(rs_context *context);

/* The tables of its first recipe, with what the model has learned. Borrows. */
const rs_encoding *rs_context_encoding(const rs_context *context) RS_NONNULL(1);

/* The tables that block `block` of the decoder reads. Borrows. */
const rs_encoding *rs_context_block_encoding(const rs_context *context, size_t block) RS_NONNULL(1);

/* Reads the model's weights again, which have changed. */
rs_status rs_context_refresh(rs_context *context, rs_err *err) RS_NONNULL(1);

/* Draws random positions anew, where a recipe has such; the lowest 53 bits of `seed` count. RS_MEMORY: the context is
 * then good for nothing but rs_context_free. */
rs_status rs_context_redraw(rs_context *context, uint64_t seed, rs_err *err) RS_NONNULL(1);

/* Sequences that a model reads side by side, each of the context's length. Dropout (Vaswani et al., arXiv:1706.03762,
 * section 5.4) is of what blocks read first, of weights of attention, and of what each part of a block adds. */
typedef struct rs_batch {
  size_t sequences;
  const int32_t *tokens;  /* (sequences, L); NULL for vision */
  const int32_t *types;   /* (sequences, L) of the tokens, where the model has such; NULL: all 0 */
  const int32_t *source;  /* (sequences, source_length); NULL but for encoder-decoders */
  const float *patches;   /* (sequences, L, patch_numbers), L without the class token; NULL but for vision */
  const int32_t *targets; /* (sequences, A) or RS_NO_TARGET; NULL: none. A as rs_shape_answers has it */
  const int32_t *taught;  /* (sequences, A) the classes that a teacher says, which a pass back of two heads wants */
  rs_drop drop; /* `sequence` is the first one's number, those of the others follow; share 0: nothing is dropped.
                   Of passes made for training */
} rs_batch;

/* Room for passes of one thread, for so many sequences at a time. `training` keeps what the pass back needs, and is
 * RS_UNSUPPORTED for a shape that is not trained, and where the context's recipes learn arrays that the model has not.
 * RS_MEMORY. */
typedef struct rs_pass rs_pass;
rs_status rs_pass_create(const rs_context *context, size_t sequences, bool training, rs_pass **pass, rs_err *err)
    RS_NONNULL(1, 4);
void rs_pass_free(rs_pass *pass);

/* What is wanted of a pass besides the losses; NULL: not wanted. Arrays are the caller's. */
typedef struct rs_pass_out {
  double *losses;   /* (sequences, A) nats at each target; NaN without one */
  int32_t *answers; /* (sequences, A) the class with the largest logit, the first of equals */
  double *logits;   /* (sequences, A, C) */
  /* Gets the logits of each answer (C,), in order, in the place of the array: they need not all be in memory. */
  void (*take)(void *context, const double *logits);
  void *context;
  size_t skipped; /* of the A answers of each sequence, at its start: the others' are A - skipped */
  double *states; /* (sequences, L, d) behind the final norm */
  /* Queries and keys of one block and the batch's first sequence, behind their norms, before rotation: (L, H, D), (L,
   * K, D). */
  size_t block;
  double *q, *k;
  /* Called when they hold those of a block, which are of every block then, in order; NULL: of that one alone. */
  void (*rows)(void *context, size_t block);
  void *rows_context;
} rs_pass_out;

/* Reads a batch of any size, as many sequences at a time as the pass has room for. */
void rs_forward(rs_pass *pass, const rs_batch *batch, const rs_pass_out *out) RS_NONNULL(1, 2, 3);

/* Reads a batch, and adds to `gradient` (size,), in the model's format, `weight` times the gradient of the sum of its
 * losses. Returns that sum, and in *targets how many there were. For a pass made for training. The loss of two heads is
 * (CE(class, target) + CE(distillation, what the teacher says)) / 2 (arXiv:2012.12877, eq. 3). */
double rs_backward(rs_pass *pass, const rs_batch *batch, double weight, void *gradient, size_t *targets)
    RS_NONNULL(1, 2, 4, 5);

/* Sequences to be read, side by side. */
typedef struct rs_reader_in {
  size_t count, length;  /* sequences; tokens of each, L */
  const int32_t *tokens; /* (count, L) */
  const int32_t *types;  /* (count, L) of the tokens; NULL: all 0 */
  size_t source_length;
  const int32_t *source; /* (count, source_length) of an encoder beside the decoder; else NULL */
  const float *patches;  /* (count, rows * columns, patch_numbers) of images, in the place of tokens; else NULL */
  size_t rows, columns;  /* of them: L is rows * columns and the tokens before them (rs_shape_lead) */
  size_t last;           /* tokens at the end of each that are answered, 1 to L; 1 where one class a sequence is said */
  const uint8_t *present;   /* (count, L) 0 where there is padding, which nothing reads; NULL: nowhere */
  const double *ids;        /* (count, L, RS_AXES) position ids t, h, w; NULL: as tokens are counted */
  const int32_t *documents; /* (count, L) tokens of one number are a document of their own; NULL: ids say it */
} rs_reader_in;

/* Tokens that see each other and no others, in the order that they are read in. */
typedef struct rs_document {
  size_t sequence, count;        /* of whose tokens it has so many */
  const size_t *places;          /* (count,) where they stand in the sequence */
  const int32_t *tokens, *types; /* (count,); NULL where the sequences have none */
  const double *ids;             /* (count, RS_AXES); NULL: 0, 1, 2, ... */
} rs_document;

/* How the tokens of one sequence were told apart and put in order. */
typedef struct rs_sequence_order {
  size_t documents, padding; /* how many; tokens of padding */
  bool restarts;             /* documents begin where ids begin again at 0 */
  bool sorted;               /* tokens are read in the order of their ids, which is not the list's */
  bool axes;                 /* ids of time, row and column: in the list's order, and masks go by index */
  size_t fall;               /* then: the first token whose time falls; 0: none */
} rs_sequence_order;

/* What sequences are made of. Release with rs_documents_clear. */
typedef struct rs_documents {
  rs_document *items; /* (count,) one sequence after the other */
  size_t count;
  rs_sequence_order *orders; /* (sequences,) */
  rs_arena arena;            /* that holds all but what is borrowed from the sequences */
} rs_documents;

/* The documents of sequences. Where ids of all axes are the same, distinct ids are one document in their order; ids
 * that do not fall are one in the list's; else a document begins at each 0 behind a fall, and any other fall is
 * RS_INPUT. Numbers of documents stand above that: each has distinct ids, or such that do not fall. Tokens without ids
 * follow each other, so that padding between them is RS_INPUT. Subjects: ids, documents, present. RS_MEMORY. */
rs_status rs_documents_find(const rs_reader_in *in, rs_documents *documents, rs_err *err) RS_NONNULL(1, 2);
void rs_documents_clear(rs_documents *documents);

/* What the model says of each: logits (count, last, C), or last states (count, last, d) where it has no classes; 0 of
 * padding. A model that says one class a sequence (rs_shape_answers) gives one answer. Each document is read alone,
 * with masks, biases and added rows by its ids. RS_INPUT for a token or type that is none of its own, with its place,
 * and with the array as subject: tokens, source, types; RS_DOMAIN, RS_UNSUPPORTED for position ids that a recipe cannot
 * read (subject ids) and what rs_documents_find fails with; RS_MEMORY. */
rs_status rs_read_logits(const rs_transformer *transformer, const rs_reader_in *in, double *logits, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* The same of the documents of `in`, each answer handed to `take` with its number, 0 to count * last - 1, and in no
 * order, so that no more than a few are in memory at a time. */
rs_status rs_read_rows(const rs_transformer *transformer, const rs_reader_in *in, const rs_documents *documents,
                       void (*take)(void *context, size_t answer, const double *row), void *context, rs_err *err)
    RS_NONNULL(1, 2, 3, 4);

/* Context and batch of the first sequence, which must be one document, for callers that want more of a pass than its
 * answers. The caller frees the context; the batch borrows from both. Fails as rs_read_logits. */
rs_status rs_reader_context(const rs_transformer *transformer, const rs_reader_in *in, const rs_documents *documents,
                            rs_context **context, rs_batch *batch, rs_err *err) RS_NONNULL(1, 2, 3, 4, 5);

/* Numbers of each answer: C or d. */
size_t rs_reader_width(const rs_transformer *transformer) RS_NONNULL(1);

/* Whether the model says one class a sequence. */
bool rs_reader_single(const rs_transformer *transformer) RS_NONNULL(1);

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* Sequences of one split share no random number with those of another. Trained: what training draws from, each once and
 * as evaluation would read it, of tasks that have an end of it (rs_example_shape.trained). */
typedef enum rs_split { RS_SPLIT_TRAINING, RS_SPLIT_EVALUATION, RS_SPLIT_TRAINED } rs_split;

enum { RS_NO_TARGET = -1, RS_TASK_PARTS = 8, RS_MOST_VOCABULARY = 1 << 24 };

/* What a task's sequences are made of, at one length; what is 0 is not there. */
typedef struct rs_example_shape {
  size_t length;                /* tokens that the model reads (of an encoder-decoder: the decoder's), L */
  size_t source_length;         /* tokens of the encoder of an encoder-decoder */
  size_t vocabulary;            /* tokens are 0 .. vocabulary - 1 */
  const char *file;             /* that they are read from; NULL: not said. Borrowed from the task's state */
  size_t largest;               /* of them: the number, from 0, of that which is vocabulary - 1 */
  size_t classes;               /* targets are 0 .. classes - 1 */
  size_t patch_numbers;         /* vision: numbers of a patch; the patches are the tokens, without the class token */
  size_t frames, rows, columns; /* vision: the grid of patches; their product is the length */
  bool untrainable;             /* there are no sequences to train on */
  size_t evaluated;   /* fewest tokens of evaluation sequences, where they need more than training's; 0: any will do */
  size_t evaluations; /* different sequences of evaluation, after which they come again; 0: no end */
  size_t trained;     /* sequences of RS_SPLIT_TRAINED; 0: training draws without end */
} rs_example_shape;

/* One sequence. The caller gives the arrays. */
typedef struct rs_example {
  int32_t *tokens;  /* (L,); NULL for vision */
  int32_t *source;  /* (source_length,); NULL but for encoder-decoders */
  float *patches;   /* (L, patch_numbers); NULL but for vision */
  int32_t *targets; /* (L,) what is to be said at each token, or RS_NO_TARGET; vision: the class at [0] alone */
  uint8_t *parts;   /* (L,) which part of the task a target belongs to; read where there is a target */
  float *depths;    /* (L,) where in the sequence that stands which a target asks for, 0 (start) to 1; NaN: nowhere */
  size_t *sought;   /* (L,) the token that holds it, or RS_NO_NEEDLE; NULL: not wanted */
} rs_example;

/* What a reading of fewer tokens leaves out of an evaluation sequence, of which it has the last ones. */
typedef enum rs_crop {
  RS_CROP_NEVER,       /* its answers need what stands there, or it has no last tokens */
  RS_CROP_START,       /* the tokens at its start */
  RS_CROP_BEHIND_FIRST /* those behind its first token, which begins every sequence */
} rs_crop;

/* What a task is prepared from. */
typedef struct rs_task_in {
  const void *params; /* the task's own struct */
  uint64_t seed;
} rs_task_in;

/* A task is a generator: each sequence is a function of (parameters, seed, split, index, length) alone. */
typedef struct rs_task_kind {
  rs_kind kind;
  rs_form form; /* of the models it is for */
  /* RS_INPUT, with the parameter as subject, when parameters contradict each other. May be NULL. */
  rs_status (*check)(const rs_binding *binding, rs_err *err);
  /* Names of its parts, as columns have them ("filler", "repeat", "needle"); the list ends with NULL. */
  const char *parts[RS_TASK_PARTS + 1];
  /* Bit p: part p is asked beside what models are trained on (a needle), and counts in no loss. */
  unsigned probes;
  /* Bit p: part p asks for what was read before in the sequence, once or more. */
  unsigned recalled;
  bool seeks;  /* evaluation sequences say which token holds what a target asks for (rs_example.sought) */
  bool single; /* of encoders: a sequence has one target, at token 0, which is the class of all of it */
  bool twins;  /* evaluation sequences 2k and 2k + 1 are a pair: an even number of them is read */
  rs_crop crop;
  size_t state_size;
  /* Fills the state, zeroed before. RS_INPUT, RS_IO (a text that cannot be read), RS_MEMORY. */
  rs_status (*prepare)(const rs_task_in *in, void *state, rs_err *err);
  void (*release)(void *state); /* NULL: the state owns nothing */
  /* RS_DOMAIN where there is no sequence of so many tokens. */
  rs_status (*shape)(const void *state, size_t length, rs_example_shape *shape, rs_err *err);
  /* Any thread, no allocation. `length` is one that `shape` has accepted for the split. */
  void (*draw)(const void *state, rs_split split, uint64_t index, size_t length, rs_example *example);
  /* Accuracy of a guess that reads nothing, at a target of this part. */
  double (*chance)(const void *state, size_t part);
  /* The least mean loss there is over the evaluation targets at this length, probes left out, nats; NaN where nobody
   * knows. NULL: never known. */
  double (*best_loss)(const void *state, size_t length);
  /* Scenes: a class says which of so many shapes (the base) stands first along the columns, the rows and, where there
   * are three digits, the frames; the most significant digit is that of the columns. NULL: classes say no such thing.
   */
  void (*digits)(const void *state, size_t *base, size_t *count);
} rs_task_kind;

/* How many sequences of evaluation are read where `wanted` are: none twice. */
size_t rs_example_count(const rs_example_shape *shape, size_t wanted) RS_NONNULL(1);

const rs_task_kind *const *rs_task_kinds(size_t *count) RS_NONNULL(1);
const rs_task_kind *rs_task_find(const char *name) RS_NONNULL(1);

/* Bits of the parts that ask for needles: the probes, or all where a task has none. */
unsigned rs_task_needles(const rs_task_kind *kind) RS_NONNULL(1);

/* The targets that readings of all lengths score: of evaluation sequences of `longest` tokens those of the last
 * `tokens` tokens. A reading of fewer tokens crops its sequences (rs_crop). longest 0: each length has sequences of its
 * own. */
typedef struct rs_same_targets {
  size_t longest, tokens; /* longest >= any length that is read >= tokens >= 1 */
} rs_same_targets;

/* A task with its state. */
typedef struct rs_task {
  const rs_task_kind *kind;
  void *state;
  rs_same_targets same; /* nothing when it is prepared */
} rs_task;

/* What evaluation sequences are made of that are read with so many tokens. RS_DOMAIN where the task has none such, or
 * none of the longest length. */
rs_status rs_task_shape(const rs_task *task, size_t length, rs_example_shape *shape, rs_err *err) RS_NONNULL(1, 3);

/* Release with rs_task_clear; it is cleared on failure. */
rs_status rs_task_prepare(const rs_task_kind *kind, const rs_task_in *in, rs_task *task, rs_err *err)
    RS_NONNULL(1, 2, 3);
void rs_task_clear(rs_task *task) RS_NONNULL(1);

/* The token layout of a task's sequences: an image behind `lead` tokens (rs_shape_lead), or text (no runs). Release
 * with rs_token_layout_clear. *tokens gets how many tokens the model reads. */
rs_status rs_task_layout(const rs_example_shape *shape, size_t lead, rs_token_layout *layout, size_t *tokens,
                         rs_err *err) RS_NONNULL(1, 3, 4);

/* The context that a task's sequences of `length` tokens need: as rs_context_create, for its sources, images and class
 * tokens. RS_INPUT where the model cannot read them. */
rs_status rs_context_of_task(const rs_transformer *transformer, const rs_recipe *recipes, const rs_task *task,
                             size_t length, rs_context **context, rs_err *err) RS_NONNULL(1, 3, 5);

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* AdamW with decay on matrices alone, a linear warm-up, and a cosine down to a share of the rate; gradients are clipped
 * by their norm over all weights. */
typedef struct rs_training {
  size_t steps, length, sequences; /* of a step: sequences of `length` tokens */
  double rate, final_rate;         /* the largest; the last, as a share of it */
  size_t warmup;                   /* steps */
  double beta1, beta2, epsilon;
  double decay;   /* what a step takes off a matrix, in parts of the rate */
  double clip;    /* largest norm of a gradient; 0: none */
  double dropout; /* share of numbers that are dropped (rs_batch), below 1 */
} rs_training;

/* RS_INPUT, with the parameter as subject, where all numbers would be dropped. */
rs_status rs_training_check(const rs_training *training, rs_err *err) RS_NONNULL(1);

/* Its parameters, for configs. */
extern const rs_param rs_training_specs[];
extern const size_t rs_training_spec_count;

/* What a step came to. */
typedef struct rs_train_step {
  size_t step;          /* from 1 */
  double loss;          /* mean over the targets, nats, before the step */
  double gradient_norm; /* before clipping */
  double rate;
} rs_train_step;

/* Training under way. The batch is cut into a fixed number of parts, whose gradients are summed in their order: weights
 * are the same bits for any number of threads, and for a training that was interrupted. */
typedef struct rs_trainer rs_trainer;

/* Begins at step 0 of `training`, with `task`'s sequences of that length; `seed` draws random positions. Borrows all.
 * RS_DOMAIN where task or recipes are undefined at the length, RS_INPUT where the task does not fit the model. */
rs_status rs_trainer_create(rs_transformer *transformer, const rs_training *training, const rs_task *task,
                            uint64_t seed, rs_trainer **trainer, rs_err *err) RS_NONNULL(1, 2, 3, 5);
void rs_trainer_free(rs_trainer *trainer);

/* Gives a model of two heads its teacher, of as many classes and of the same patches, which reads each step's sequences
 * with its own recipes and is borrowed; before the first step. RS_INPUT where they do not go together, RS_MEMORY. */
rs_status rs_trainer_teach(rs_trainer *trainer, const rs_transformer *teacher, rs_err *err) RS_NONNULL(1, 2);

/* One step. RS_DOMAIN where loss or gradient is not finite, with step and rate; weights are then as before. RS_INPUT
 * without the teacher that a model of two heads learns from. */
rs_status rs_trainer_step(rs_trainer *trainer, rs_train_step *done, rs_err *err) RS_NONNULL(1, 2);

/* What an interrupted training goes on from, besides the weights: read, and written before the first step. */
typedef struct rs_train_state {
  uint64_t drawn;       /* sequences of the trainings before this one, whose numbers it leaves out; 0 at first */
  size_t step;          /* steps done */
  void *first, *second; /* (size,) moments, in the model's format */
} rs_train_state;

rs_train_state *rs_trainer_state(rs_trainer *trainer) RS_NONNULL(1);

/* A training that was interrupted, as a file has it. Zero-initialise; release with rs_train_saved_clear. */
typedef struct rs_train_saved {
  size_t step;
  void *values, *first, *second; /* (size,) weights and moments, in the model's format */
  rs_train_step *history;        /* (step,) what each came to */
} rs_train_saved;

/* Writes weights, state and history (state->step,) as a file of safetensors, whole or not at all. `key` says which
 * training it is: hexadecimal digits, of which the first 12 count. RS_DOMAIN for a number that is not finite, RS_IO. */
rs_status rs_train_state_write(const rs_transformer *transformer, const rs_train_state *state,
                               const rs_train_step *history, const char *key, const char *path, rs_err *err)
    RS_NONNULL(1, 2, 4, 5);

/* Reads it back for a model of the same shape and format. RS_INPUT where the file is damaged in any bit, or of another
 * training. Cleared on failure. */
rs_status rs_train_saved_read(const rs_transformer *transformer, const char *key, const char *path,
                              rs_train_saved *saved, rs_err *err) RS_NONNULL(1, 2, 3, 4);
void rs_train_saved_clear(rs_train_saved *saved) RS_NONNULL(1);

/* What a model says of sequences, whole and cut, and what attention reads in one of its blocks. */

/* ---- readings ---------------------------------------------------------------------------------------------------- */

/* What a model said to sequences of a task; A answers a sequence, as in rs_batch. */
typedef struct rs_reading {
  size_t sequences, answers; /* A */
  size_t cropped;            /* tokens of each sequence before the first that was read (rs_same_targets) */
  double *losses;            /* (sequences, A) nats; NaN without a target */
  int32_t *said, *targets;   /* (sequences, A) */
  uint8_t *parts;            /* (sequences, A) of the task */
  float *depths;             /* (sequences, A) shares of the sequence with what was cropped */
  rs_arena arena;            /* that holds them */
} rs_reading;

/* Reads sequences [0, sequences) of the split, no more than there are (rs_example_count; rs_example_shape.trained, and
 * RS_UNSUPPORTED where that is 0), with all threads; the same bits for any number of them. `context` is of the task's
 * length. Release with rs_reading_clear. RS_MEMORY, RS_DOMAIN, RS_INPUT as rs_trainer_create. */
rs_status rs_reading_make(const rs_context *context, const rs_task *task, rs_split split, size_t length,
                          size_t sequences, rs_reading *reading, rs_err *err) RS_NONNULL(1, 2, 6);
void rs_reading_clear(rs_reading *reading) RS_NONNULL(1);

/* RS_DOMAIN where the decoder has no block `block`. */
rs_status rs_block_check(const rs_shape *shape, size_t block, rs_err *err) RS_NONNULL(1);

/* q (length, H, D), k (length, K, D) of the block while a decoder reads a text with its own recipes. RS_INPUT for a
 * token that is none of its own; what rs_block_check and rs_context_create fail with. */
rs_status rs_read_block(const rs_transformer *transformer, const int32_t *tokens, size_t length, size_t block,
                        double *q, double *k, rs_err *err) RS_NONNULL(1, 2, 5, 6);

/* sinks (H,): the learned ones of the block, where it has such. */
void rs_block_sinks(const rs_transformer *transformer, size_t block, double *sinks) RS_NONNULL(1);

/* One head of those, before rotation, behind their norms; heads that share keys are given the same. `sinks` (H,) may be
 * NULL where there are none. Borrows q and k. */
rs_given_rows rs_block_head(const rs_head_shape *shape, size_t head, const double *q, const double *k,
                            const double *sinks) RS_NONNULL(1);

/* What attention reads in one block while a model reads sequences of a task: room of one thread. Borrows `context`, of
 * the task's length, and `task`. RS_MEMORY, RS_DOMAIN, RS_INPUT as rs_reading_make. */
typedef struct rs_block_reader rs_block_reader;
rs_status rs_block_reader_create(const rs_context *context, const rs_task *task, size_t length,
                                 rs_block_reader **reader, rs_err *err) RS_NONNULL(1, 2, 4);
void rs_block_reader_free(rs_block_reader *reader);

/* Reads sequence `index` of the split, and keeps what block `block` (rs_block_check) computes from it. */
void rs_block_reader_read(rs_block_reader *reader, rs_split split, uint64_t index, size_t block) RS_NONNULL(1);

/* One head of that, as rs_block_head. It seeks needles where the task says of what it asks with probes, or with any
 * target if it has none, which token holds it. Borrowed until the next is read. */
rs_given_rows rs_block_reader_head(const rs_block_reader *reader, size_t head) RS_NONNULL(1);

/* ---- weights of attention ---------------------------------------------------------------------------------------- */

/* Called with the weights of each head of each block, in order: (L, L), queries by keys, 0 where a key is not seen.
 * Rows sum to 1, or to less by a learned sink. */
typedef struct rs_weights_watch {
  void (*take)(void *context, size_t block, size_t head, const double *weights);
  void *context;
} rs_weights_watch;

/* Reads the first sequence of the batch, and shows what the decoder's blocks (those of all forms but an
 * encoder-decoder's encoder) attend to in it. As rs_block_check of each; RS_MEMORY: 8 bytes for each query and key. */
rs_status rs_read_weights(const rs_context *context, const rs_batch *batch, const rs_weights_watch *watch, rs_err *err)
    RS_NONNULL(1, 2, 3);

enum { RS_ROLLOUT_TOKENS = 2048 }; /* most for which layers are multiplied: seconds a layer */

/* Attention rollout of the first sequence of the batch: *rollout (L, L), the product over blocks, the last first, of
 * (A + I) / 2 with rows that sum to 1, A the mean weights of the block's heads (Abnar and Zuidema, arXiv:2005.00928).
 * Release it with free(). RS_DOMAIN for more tokens than RS_ROLLOUT_TOKENS; as rs_read_weights. */
rs_status rs_read_rollout(const rs_context *context, const rs_batch *batch, double **rollout, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* The same of evaluation sequence `index` of a task, whose context it is. RS_DOMAIN where there is no such sequence; as
 * rs_block_reader_create. */
rs_status rs_task_rollout(const rs_context *context, const rs_task *task, size_t length, size_t index, double **rollout,
                          rs_err *err) RS_NONNULL(1, 2, 5);

/* ---- contexts that are cut --------------------------------------------------------------------------------------- */

/* How contexts are cut: `step` targets share where theirs begins, which is `context` tokens to `context` + `step` - 1
 * before what they ask for. Both >= 1. */
typedef struct rs_cut {
  size_t context, step;
  bool trained; /* the model reads by its own recipes, whatever the method */
} rs_cut;

/* Tokens of the windows that a sequence of `length` is cut into. */
size_t rs_cut_window(const rs_cut *cut, size_t length) RS_NONNULL(1);

/* The losses of rs_reading_make for contexts that are cut: (sequences, A) nats; NaN without a target, and where the
 * whole context has fewer than `context` tokens. `context` has the length of rs_cut_window, and is a decoder's; else
 * RS_UNSUPPORTED. Release *losses with free(). Fails as rs_reading_make. */
rs_status rs_cut_losses(const rs_context *context, const rs_task *task, rs_split split, size_t length, size_t sequences,
                        const rs_cut *cut, double **losses, rs_err *err) RS_NONNULL(1, 2, 6, 7);

#endif
