/* Transformers that learn, and that read: steps of training and readings of the task "dictionary". Floats.
 *
 * Flops are those of the matrix products, an attention's over what a causal mask lets through, as half of a square; a
 * step has three products of each matrix (forwards, by inputs, by weights), and seven of an attention (two forwards,
 * five back: logits are computed again). Embeddings, norms, softmax, the curve, AdamW and the drawing of sequences
 * count nothing, but take their time. */
#include "bench.h"

#include "model/model.h"

#include <stdlib.h>

/* A decoder: RoPE, RMS norms before, GELU, no biases, output not tied. */
typedef struct plan {
  size_t blocks, width, heads; /* feed-forward: 4 width */
  size_t classes;              /* and tokens; 0: as many as the task has */
  bool trains;                 /* a run is a step; else a reading */
} plan;

enum { RECIPE, WIDE, RECIPE_READS };
static const plan plans[] = {
    [RECIPE] = {2, 64, 2, 0, true},
    [WIDE] = {4, 256, 4, 256, true},
    [RECIPE_READS] = {2, 64, 2, 0, false},
};
enum { MOST_BLOCKS = 4, SEED = 1, ENDLESS = 1000000 };

/* sizes: tokens of a sequence, sequences of a run. */
static const rs_bench_job jobs[] = {
    {"train_step", "a training step: 2 layers, d 64, 64 x 64 tokens", RS_LIMIT_FMA_F32, "token", .full = {64, 64},
     .quick = {32, 8}, .variant = RECIPE},
    {"train_step_256", "a training step: 4 layers, d 256, 32 x 256 tokens", RS_LIMIT_FMA_F32, "token",
     .full = {256, 32}, .quick = {32, 2}, .variant = WIDE},
    {"evaluate_2k", "the loss of 16 x 2048 tokens: 2 layers, d 64", RS_LIMIT_FMA_F32, "token", .full = {2048, 16},
     .quick = {128, 2}, .variant = RECIPE_READS},
};

typedef struct learner {
  rs_settings settings; /* of the task: its defaults */
  rs_binding binding;
  rs_task task;
  rs_recipe recipe;
  rs_transformer *transformer;
  rs_trainer *trainer; /* NULL for a reading */
  rs_context *context; /* of a reading */
  size_t length, sequences;
} learner;

static void free_learner(void *state) {
  learner *l = state;
  if (l == NULL) return;
  rs_trainer_free(l->trainer);
  rs_context_free(l->context);
  rs_transformer_free(l->transformer);
  rs_recipe_clear(&l->recipe);
  rs_task_clear(&l->task);
  rs_binding_clear(&l->binding);
  rs_settings_clear(&l->settings);
  free(l);
}

static rs_status prepare_task(learner *l, rs_err *err) {
  const rs_task_kind *dictionary = rs_task_find("dictionary");
  const rs_kind *kind = &dictionary->kind;
  RS_TRY(rs_settings_init_specs(&l->settings, kind->params, kind->param_count, err));
  RS_TRY(rs_binding_make(&l->settings, kind->params, kind->param_count, kind->params_size, &l->binding, err));
  return rs_task_prepare(dictionary, &(rs_task_in){.params = l->binding.fields, .seed = SEED}, &l->task, err);
}

static rs_status make_transformer(learner *l, const plan *p, rs_err *err) {
  const rs_norm rms = {.kind = RS_NORM_RMS, .epsilon = 1e-5};
  size_t head_dim = p->width / p->heads;
  rs_block blocks[MOST_BLOCKS];
  rs_example_shape example;
  RS_TRY(l->task.kind->shape(l->task.state, l->length, &example, err));
  for (size_t i = 0; i < p->blocks; i++)
    blocks[i] = (rs_block){.before_attention = rms,
                           .before_feed_forward = rms,
                           .attention = {.heads = p->heads, .kv_heads = p->heads, .head_dim = head_dim},
                           .feed_forward = {.width = 4 * p->width, .activation = RS_GELU},
                           .mask = {.kind = RS_CAUSAL}};
  const rs_shape shape = {.form = RS_DECODER,
                          .width = p->width,
                          .vocabulary = p->classes > 0 ? p->classes : example.vocabulary,
                          .classes = p->classes > 0 ? p->classes : example.classes,
                          .embedding_scale = 1,
                          .output_scale = 1,
                          .decoder = {blocks, p->blocks, rms}};
  const rs_model geometry = {.name = "bench",
                             .heads = p->heads,
                             .head_dim = head_dim,
                             .rotary_dim = head_dim,
                             .rope_theta = 10000,
                             .train_length = l->length,
                             .max_length = l->length};
  RS_TRY(rs_recipe_init(&l->recipe, rs_method_find("rope"), err));
  RS_TRY(rs_recipe_resolve(&l->recipe, &geometry, err));
  const rs_transformer_in in = {
      .shape = &shape, .geometry = &geometry, .recipes = &l->recipe, .recipe_count = 1, .format = RS_F32, .seed = SEED};
  return rs_transformer_create(&in, &l->transformer, err);
}

static rs_status make_trainer(learner *l, rs_err *err) {
  const rs_training training = {.steps = ENDLESS,
                                .length = l->length,
                                .sequences = l->sequences,
                                .rate = 1e-3,
                                .final_rate = 1,
                                .warmup = 50,
                                .beta1 = 0.9,
                                .beta2 = 0.98,
                                .epsilon = 1e-8,
                                .decay = 0.01,
                                .clip = 1};
  return rs_trainer_create(l->transformer, &training, &l->task, SEED, &l->trainer, err);
}

static double flops(const rs_shape *shape, const plan *p, double length) {
  double d = (double)shape->width, blocks = (double)p->blocks;
  double matrices = 12 * blocks * d * d + d * (double)shape->classes; /* q, k, v: 3, output: 1, feed-forward: 8 */
  double pairs = length / 2 * d * blocks;                             /* multiply-adds of one attention product */
  return 2 * length * (p->trains ? 3 * matrices + 7 * pairs : matrices + 2 * pairs);
}

static rs_status create(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work, rs_err *err) {
  const plan *p = &plans[job->variant];
  learner *l = *state = rs_alloc(1, sizeof *l, err);
  if (l == NULL) return RS_MEMORY;
  l->length = sizes[0];
  l->sequences = sizes[1];
  RS_TRY(prepare_task(l, err));
  RS_TRY(make_transformer(l, p, err));
  RS_TRY(p->trains ? make_trainer(l, err)
                   : rs_context_of_task(l->transformer, NULL, &l->task, l->length, &l->context, err));
  work->items = (double)(l->length * l->sequences);
  work->amount = (double)l->sequences * flops(&l->transformer->shape, p, (double)l->length);
  return RS_OK;
}

static rs_status run(void *state, rs_err *err) {
  learner *l = state;
  rs_train_step done;
  rs_reading reading;
  if (l->trainer != NULL) return rs_trainer_step(l->trainer, &done, err);
  RS_TRY(rs_reading_make(l->context, &l->task, RS_SPLIT_EVALUATION, l->length, l->sequences, &reading, err));
  rs_reading_clear(&reading);
  return RS_OK;
}

const rs_bench_family rs_bench_train = {
    .name = "train", .jobs = jobs, .job_count = RS_COUNT(jobs), .create = create, .run = run, .free = free_learner};
