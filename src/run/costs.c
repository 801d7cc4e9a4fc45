/* What a run takes, counted from sizes alone. A transformer's pass multiplies and adds once for each weight of a matrix
 * and token, and twice (queries with keys, weights with values) for each head dim and pair of tokens that is seen; a
 * pass back takes twice as much. Nothing is run here, and nothing timed. */
#include "costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Pairs of a query and a key that it sees. */
static double seen_pairs(const rs_mask *mask, double tokens) {
  bool band = mask->kind == RS_BAND, window = mask->kind == RS_WINDOW || mask->kind == RS_WINDOW_SINKS;
  double width = window || band ? fmin((double)mask->window, tokens) : tokens;
  double behind = tokens - width; /* queries that see less than all before them, and of sinks one more each */
  double sinks = mask->kind == RS_WINDOW_SINKS ? fmin((double)mask->sinks, behind) : 0;
  bool causal = window || mask->kind == RS_CAUSAL;
  if (mask->kind == RS_CHUNKS) {
    double chunk = fmin((double)mask->window, tokens), rest = fmod(tokens, chunk);
    return (tokens - rest) * (chunk + 1) / 2 + rest * (rest + 1) / 2;
  }
  if (band) return tokens + 2 * (width - 1) * (tokens - width / 2);
  if (!causal) return tokens * tokens;
  return width * (width + 1) / 2 + behind * width + sinks * (sinks + 1) / 2 + (behind - sinks) * sinks;
}

/* Weights of the matrices that give queries, keys and values and read what heads say. */
static double attention_weights(const rs_head_shape *heads, double d) {
  const rs_latent *latent = &heads->latent;
  double count = (double)heads->heads, queries = count * (double)heads->head_dim;
  double keys = (double)(heads->kv_heads * heads->head_dim);
  if (latent->kv_rank == 0) return d * (2 * queries + 2 * keys);
  double q_rank = (double)latent->q_rank, kv_rank = (double)latent->kv_rank, values = (double)latent->value_dim;
  double still = (double)(heads->head_dim - latent->turned);
  double asking = q_rank > 0 ? q_rank * (d + queries) : d * queries;
  return asking + d * (kv_rank + (double)latent->turned) + kv_rank * count * (still + values) + count * values * d;
}

/* Weights that one token meets in a feed-forward layer: of experts, those that it uses. */
static double feed_forward_weights(const rs_feed_forward *layer, double d) {
  const rs_experts *experts = &layer->experts;
  double matrices = layer->gated ? 3 : 2;
  if (experts->count == 0) return matrices * d * (double)layer->width;
  return matrices * d * (double)(experts->used * layer->width + experts->shared) + d * (double)experts->count;
}

static double block_flops(const rs_block *block, double d, double tokens, double source) {
  const rs_head_shape *heads = &block->attention;
  double queries = (double)(heads->heads * heads->head_dim), keys = (double)(heads->kv_heads * heads->head_dim);
  double products = tokens * (attention_weights(heads, d) + feed_forward_weights(&block->feed_forward, d));
  double attention = 2 * queries * seen_pairs(&block->mask, tokens);
  if (block->cross) {
    products += tokens * 2 * d * queries + source * 2 * d * keys;
    attention += 2 * queries * tokens * source;
  }
  return 2 * (products + attention);
}

double rs_stack_flops(const rs_stack *stack, size_t count, double width, double tokens, double source) {
  double flops = 0;
  for (size_t i = 0; i < count; i++) flops += block_flops(&stack->blocks[i], width, tokens, source);
  return flops;
}

/* Pairs of a query and a key read vectors of distance, as they do keys and values. */
static double vector_flops(const rs_transformer *t, const rs_stack *stack, double tokens) {
  double flops = 0;
  for (size_t i = 0; i < stack->count; i++) {
    const rs_block *block = &stack->blocks[i];
    double queries = (double)(block->attention.heads * block->attention.head_dim);
    rs_vectors v;
    if (rs_recipe_vectors(&t->recipes[block->recipe], &t->geometry, (size_t)tokens, &v))
      flops += 2 * queries * seen_pairs(&block->mask, tokens) * (1 + v.keys + v.values);
  }
  return flops;
}

static double pass_flops(const rs_transformer *t, const rs_example_shape *example) {
  const rs_shape *shape = &t->shape;
  double d = (double)shape->width, tokens = (double)example->length, source = (double)example->source_length;
  double flops = 2 * (double)rs_shape_answers(shape, example->length) * d * (double)shape->classes;
  flops += 2 * tokens * d * (double)shape->patch_numbers;
  if (shape->form == RS_VISION) tokens += (double)rs_shape_lead(shape);
  flops += vector_flops(t, &shape->encoder, source) + vector_flops(t, &shape->decoder, tokens);
  return flops + rs_stack_flops(&shape->encoder, shape->encoder.count, d, source, 0) +
         rs_stack_flops(&shape->decoder, shape->decoder.count, d, tokens, source);
}

static double norm_numbers(const rs_norm *norm, double width) {
  return norm->kind != RS_NORM_NONE ? width + 2 : 0;
}

/* Numbers that a block's pass forward keeps of so many tokens, of which its feed-forward takes `piece` at a time. */
static double block_numbers(const rs_block *block, double d, double rows, double piece) {
  const rs_head_shape *heads = &block->attention;
  double queries = (double)(heads->heads * heads->head_dim), keys = (double)(heads->kv_heads * heads->head_dim);
  const rs_norm *const norms[] = {&block->before_attention, &block->after_attention,     &block->before_cross,
                                  &block->after_cross,      &block->before_feed_forward, &block->after_feed_forward};
  double attention = 2 * queries + 2 * keys + (double)heads->heads + norm_numbers(&heads->qk_norm, queries + keys);
  double each = 4 * d + attention * (block->cross ? 2 : 1);
  for (size_t i = 0; i < RS_COUNT(norms); i++) each += norm_numbers(norms[i], d);
  return rows * each + piece * (double)block->feed_forward.width * (block->feed_forward.gated ? 3 : 2);
}

static double stack_numbers(const rs_stack *stack, size_t count, double width, double rows, bool training) {
  enum { PIECE = 1024 };
  double sum = 0, most = 0;
  for (size_t i = 0; i < count; i++) {
    double numbers = block_numbers(&stack->blocks[i], width, rows, training ? rows : fmin(rows, PIECE));
    sum += numbers;
    most = fmax(most, numbers);
  }
  return training ? sum + 2 * most : most; /* the pass back has arrays as wide as a block's own, once for all */
}

static double weight_bytes(const rs_transformer *transformer) {
  return (double)transformer->size * (transformer->format == RS_F64 ? 8 : 4);
}

/* ---- rows and tables --------------------------------------------------------------------------------------------- */

static size_t length_of(const rs_experiment *experiment, const rs_cell *cell) {
  return rs_experiment_read_length(experiment, cell);
}

double rs_cell_work(const rs_experiment *experiment, const rs_cell *cell) {
  enum { KEY_COST = 64 }; /* rotating one key costs about as much as multiplying it by this many queries */
  size_t length = length_of(experiment, cell);
  bool rows = rs_experiment_needs(experiment).rows;
  double queries = rows ? (double)rs_query_count(&experiment->queries, length) + KEY_COST : 1;
  return queries * (double)length * (double)rs_head_count(experiment, cell);
}

/* How often a pair of the cell's rows is multiplied: once, and by vectors of distance as often as they are read. */
static double products_of_pair(const rs_experiment *experiment, const rs_cell *cell) {
  const rs_variant *variant = &experiment->methods.items[cell->axis[RS_BY_METHOD]];
  const rs_recipe recipe = {.method = variant->method, .settings = variant->settings};
  rs_vectors v;
  if (variant->method == NULL || !rs_recipe_vectors(&recipe, &experiment->models[cell->axis[RS_BY_MODEL]], 1, &v))
    return 1;
  return v.keys ? 3 : 2;
}

/* Queries times keys, over all sequences: an upper bound, every query seeing every key. */
static double row_flops(const rs_experiment *experiment, const rs_cell *cell) {
  size_t length = length_of(experiment, cell);
  double dims = (double)experiment->models[cell->axis[RS_BY_MODEL]].head_dim;
  bool sequences = experiment->checkpoints != NULL && rs_reads_model(experiment, cell);
  double times = (sequences ? (double)experiment->sequences : 1) * products_of_pair(experiment, cell);
  if (!rs_experiment_needs(experiment).rows) return 0;
  return times * 2 * dims * (double)length * (double)rs_query_count(&experiment->queries, length) *
         (double)rs_head_count(experiment, cell);
}

/* Metrics of tables are computed for the first of the cells that share them, and read each number of them. */
static double table_flops(const rs_experiment *experiment, const rs_cell *cell) {
  double numbers = (double)(length_of(experiment, cell) * experiment->models[cell->axis[RS_BY_MODEL]].head_dim),
         sum = 0;
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_metric_kind *metric = experiment->metrics.items[m].metric;
    bool first = cell->axis[RS_BY_SOURCE] == 0 && (metric->draws || cell->axis[RS_BY_SEED] == 0);
    if (first && !rs_metric_observes(metric)) sum += 2 * numbers;
  }
  return sum;
}

/* Making the queries and keys of a cell, in the flops of a query with a key: drawing the numbers of a key takes about
 * as long as multiplying it by KEY_NUMBERS queries (measured: 400 to 500). A projection takes each key's embedding, as
 * wide as all heads, through the columns of a head; making those takes about as long as EMBEDDING columns (measured: as
 * the columns of 64 dims). */
static double content_flops(const rs_experiment *experiment, const rs_cell *cell) {
  enum { KEY_NUMBERS = 400, EMBEDDING = 64 };
  const rs_model *model = &experiment->models[cell->axis[RS_BY_MODEL]];
  double dims = (double)model->head_dim, width = (double)model->heads * dims;
  double keys = (double)length_of(experiment, cell) * (double)rs_head_count(experiment, cell);
  if (!rs_needs_heads(experiment)) return 0;
  return 2 * keys * (dims * KEY_NUMBERS + (rs_projects(experiment, cell) ? width * (dims + EMBEDDING) : 0));
}

/* Bytes of content, engine and observations of one head, with so many threads inside. */
static double row_bytes(const rs_experiment *experiment, size_t length, size_t dims, size_t views, size_t threads) {
  double queries = (double)rs_query_count(&experiment->queries, length);
  rs_row_needs needs = rs_experiment_needs(experiment);
  size_t bins = rs_log_bins(length, experiment->bins_per_octave);
  size_t mapped = needs.map_keys.end < length ? needs.map_keys.end : length; /* they begin before the length */
  double content = 8 * (double)dims * ((double)length + 2 * queries) + (8 * RS_AXES + 4) * (double)length;
  double numbers =
      (double)bins * (needs.moments ? 4 : 1) + (double)needs.top_count + (double)(mapped - needs.map_keys.begin);
  double observed = fmin(queries, RS_ROWS_AT_ONCE) * ((double)sizeof(rs_row) + 8 * numbers);
  double engine = rs_engine_bytes(length, dims, views, bins, threads);
  return content + observed + engine + (needs.top_count > 0 ? rs_top_bytes(length, threads) : 0);
}

/* The most views that a method of the experiment has. */
static size_t most_views(const rs_experiment *experiment) {
  size_t views = 1;
  for (size_t i = 0; i < experiment->model_count * experiment->methods.count; i++) {
    const rs_method *method =
        rs_experiment_method(experiment, i / experiment->methods.count, i % experiment->methods.count);
    if (method != NULL && method->pos->views > views) views = method->pos->views;
  }
  return views;
}

/* ---- simulated heads --------------------------------------------------------------------------------------------- */

static bool is_long_enough(const rs_model_source *source, size_t length) {
  rs_token_file file;
  if (rs_token_file_read(source->tokens, source->numbers, &file, NULL) != RS_OK) return false;
  bool enough = file.count >= length;
  rs_token_file_clear(&file);
  return enough;
}

static double text_bytes(const rs_shape *shape, const rs_model *model, const rs_model_source *source, size_t length) {
  const rs_head_shape *heads = &shape->decoder.blocks[source->layer].attention;
  double rows = (double)length, kept = (double)((heads->heads + heads->kv_heads) * heads->head_dim);
  double numbers = stack_numbers(&shape->decoder, source->layer + 1, (double)shape->width, rows, false);
  bool known = model->published.method != NULL;
  double tables = known ? rs_encoding_bytes(&model->published, model, length, NULL) : 0;
  return numbers * (source->precision == RS_F64 ? 8 : 4) + 8 * rows * kept + 2 * tables;
}

/* The pass of a source's own checkpoint over its text, up to the layer. One that cannot be read fails its cells, and
 * takes nothing. */
static rs_status count_text(rs_costs *costs, const rs_cell *cell, rs_cell_cost *cost, rs_err *err) {
  const rs_experiment *experiment = costs->experiment;
  const rs_model_source *source = experiment->sources.items[cell->axis[RS_BY_SOURCE]].params;
  size_t length = length_of(experiment, cell);
  rs_shape shape;
  rs_err why = {0};
  if (!is_long_enough(source, length)) return RS_OK;
  if (rs_folder_shape(source->checkpoint.path, &shape, &why) != RS_OK)
    return why.status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
  if (source->layer < shape.decoder.count) {
    const rs_model *model = &experiment->models[cell->axis[RS_BY_MODEL]];
    cost->made = rs_stack_flops(&shape.decoder, source->layer + 1, (double)shape.width, (double)length, 0);
    costs->passes += cost->made;
    costs->pass_bytes = fmax(costs->pass_bytes, text_bytes(&shape, model, source, length));
  }
  rs_shape_clear(&shape);
  return RS_OK;
}

static rs_status count_simulated(rs_costs *costs, rs_err *err) {
  const rs_experiment *experiment = costs->experiment;
  bool heads = rs_needs_heads(experiment);
  RS_TRY(rs_cells_sort(experiment, costs->cells, costs->count, NULL, costs->order, costs->opens, err));
  for (size_t i = 0; i < costs->count; i++) {
    const rs_cell *cell = &costs->cells[costs->order[i]];
    rs_cell_cost *cost = &costs->items[costs->order[i]];
    double dims = (double)experiment->models[cell->axis[RS_BY_MODEL]].head_dim;
    double rows = heads ? 2 * dims * rs_cell_work(experiment, cell) * products_of_pair(experiment, cell) : 0;
    cost->own = fmax(1, rows + table_flops(experiment, cell));
    if (!costs->opens[i]) continue;
    if (heads && rs_reads_model(experiment, cell))
      RS_TRY(count_text(costs, cell, cost, err));
    else
      cost->made = content_flops(experiment, cell);
  }
  return RS_OK;
}

/* Of vectors of distance, of one head, or of all with those of values. */
static double vector_numbers(const rs_recipe *recipe, const rs_model *model, size_t length, bool all) {
  rs_vectors v;
  if (!rs_recipe_vectors(recipe, model, length, &v)) return 0;
  return (double)(rs_vector_columns(&v) * model->head_dim) * (all ? (double)(v.tables + v.values) : 1);
}

/* A method's tables at the longest length, for the model that has the largest. */
static double bytes_of_tables(const rs_experiment *experiment, const rs_variant *variant, size_t length) {
  double most = 0;
  for (size_t i = 0; i < experiment->model_count; i++) {
    const rs_model *model = &experiment->models[i];
    const rs_recipe given = {.method = variant->method, .settings = variant->settings};
    const rs_recipe recipe = variant->published ? model->published : given;
    double dims = (double)model->head_dim, width = dims * (double)model->heads;
    double bytes = rs_encoding_bytes(&recipe, model, length, &experiment->tokens);
    /* A projected embedding: its keys, and while it is made the head's 2D columns of the width, twice. */
    if (recipe.method->embed != NULL) bytes += 8 * ((double)length * dims + 2 * 2 * dims * width);
    bytes += 8 * vector_numbers(&recipe, model, length, false) * (double)rs_engine_threads();
    most = fmax(most, bytes);
  }
  return most;
}

/* The most that is alive at one time: every method's tables at the longest length, the rows of one head, a text's pass.
 */
static double simulated_bytes(const rs_costs *costs) {
  const rs_experiment *experiment = costs->experiment;
  size_t longest = 0, dims = 0;
  double bytes = costs->pass_bytes;
  for (size_t i = 0; i < experiment->length_count; i++)
    longest = experiment->lengths[i] > longest ? experiment->lengths[i] : longest;
  for (size_t i = 0; i < experiment->model_count; i++)
    dims = experiment->models[i].head_dim > dims ? experiment->models[i].head_dim : dims;
  for (size_t i = 0; i < experiment->methods.count; i++)
    bytes += bytes_of_tables(experiment, &experiment->methods.items[i], longest);
  if (!rs_needs_heads(experiment)) return bytes;
  return bytes + row_bytes(experiment, longest, dims, most_views(experiment), rs_engine_threads());
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

/* Of what cells read, the first to read so many tokens as a baseline; what follows takes that reading. */
static bool opens_baseline(const rs_experiment *experiment, const rs_cell *cell) {
  for (rs_cell before = *cell; before.axis[RS_BY_LENGTH]-- > 0;)
    if (rs_experiment_read_length(experiment, &before) == rs_experiment_read_length(experiment, cell)) return false;
  return true;
}

/* How often each sequence of so many tokens is read beside that, counted by tokens, where contexts are cut. */
static double cut_passes(const rs_experiment *experiment, size_t length) {
  rs_cut cut;
  if (!rs_experiment_cuts(experiment, &cut)) return 0;
  double windows = length >= cut.context ? floor((double)(length - cut.context) / (double)cut.step) + 1 : 0;
  return (cut.trained ? 1 : 0) + windows * (double)rs_cut_window(&cut, length) / (double)length;
}

/* Whether losses are compared with those of the cell's method, which are read for that once more. */
static bool stands_apart(const rs_experiment *experiment, const rs_cell *cell) {
  const rs_variant *method = &experiment->methods.items[cell->axis[RS_BY_METHOD]];
  rs_baseline baseline;
  return method->stands && !method->added && rs_experiment_compares(experiment, &baseline) &&
         method->baseline == baseline;
}

/* Of the readings and rows of one cell: each sequence is read for its metrics of readings, unless it shares them with
 * the first source, and for the rows of its layer. */
static double reading_flops(const rs_costs *costs, const rs_cell *cell) {
  const rs_experiment *experiment = costs->experiment;
  const rs_transformer *begun = costs->models[cell->axis[RS_BY_MODEL]].begun;
  size_t length = length_of(experiment, cell);
  rs_example_shape example;
  if (begun == NULL || rs_task_shape(&costs->task, length, &example, NULL) != RS_OK) return 0;
  bool first = cell->axis[RS_BY_SOURCE] == 0 && cell->group == 0;
  first = first && (!experiment->methods.items[cell->axis[RS_BY_METHOD]].added || opens_baseline(experiment, cell));
  size_t trained = first && rs_experiment_reads_trained(experiment) ? example.trained : 0;
  if (trained > experiment->sequences) trained = experiment->sequences;
  double passes = (first ? 1 + cut_passes(experiment, length) + (stands_apart(experiment, cell) ? 1 : 0) : 0) +
                  (rs_needs_heads(experiment) && rs_reads_model(experiment, cell) ? 1 : 0);
  return pass_flops(begun, &example) *
             (passes * (double)rs_example_count(&example, experiment->sequences) + (double)trained) +
         row_flops(experiment, cell);
}

/* Of the rows that each thread observes, and of the queries and keys that it observes them from. */
static double observed_bytes(const rs_experiment *experiment, const rs_model *model, size_t tokens) {
  double given = 8.0 * 2 * (double)(tokens * model->heads * model->head_dim);
  if (!rs_observes(experiment) || !rs_needs_heads(experiment)) return 0;
  return (double)rs_engine_threads() *
         (given + row_bytes(experiment, tokens, model->head_dim, most_views(experiment), 1));
}

/* Of the passes of all threads, and of the tables: `rows` tokens side by side, in sequences of `tokens`. Attention has
 * the keys of one head in each view twice and its values, and their gradients. */
static double pass_bytes(const rs_experiment *experiment, const rs_transformer *t, double rows,
                         const rs_example_shape *example, bool training) {
  const rs_shape *shape = &t->shape;
  double d = (double)shape->width, lead = shape->form == RS_VISION ? (double)rs_shape_lead(shape) : 0;
  double tokens = (double)example->length + lead;
  double source = rows / tokens * (double)example->source_length, tables = 0, vectors = 0,
         real = t->format == RS_F64 ? 8 : 4;
  for (size_t r = 0; r < t->recipe_count; r++) {
    tables += rs_encoding_bytes(&t->recipes[r], &t->geometry, (size_t)tokens, NULL);
    vectors += vector_numbers(&t->recipes[r], &t->geometry, (size_t)tokens, true);
  }
  /* Both ways about and where they are made; in training each thread sums their gradients, and makes doubles of them.
   */
  vectors *= 2 * real + 8 + (training ? (double)rs_engine_threads() * (real + 8) : 0);
  double views = training ? 1 : (double)most_views(experiment);
  double head = (double)t->geometry.head_dim * (tokens + (double)example->source_length);
  double numbers = stack_numbers(&shape->decoder, shape->decoder.count, d, rows, training) +
                   stack_numbers(&shape->encoder, shape->encoder.count, d, source, training) +
                   head * (training ? 3 * views + 2 : 2 * views + 1);
  return (double)rs_engine_threads() * numbers * real + 2 * tables + vectors;
}

/* Of what a model has said to so many sequences. */
static double said_bytes(const rs_transformer *t, const rs_example_shape *example, size_t sequences) {
  double answers = (double)rs_shape_answers(&t->shape, example->length);
  double one = sizeof(double) + 2 * sizeof(int32_t) + sizeof(uint8_t) + sizeof(float);
  return (double)rs_example_count(example, sequences) * answers * one;
}

/* Of what baselines have said, at each length, to one seed's sequences, and of a model that is not tuned yet. */
static double baseline_bytes(const rs_costs *costs, size_t model) {
  const rs_experiment *experiment = costs->experiment;
  const rs_transformer *t = costs->models[model].begun;
  rs_example_shape example;
  double bytes = experiment->checkpoints[model].tuned ? weight_bytes(t) : 0;
  for (size_t i = 0; i < experiment->length_count; i++)
    if (rs_task_shape(&costs->task, experiment->lengths[i], &example, NULL) == RS_OK)
      bytes += said_bytes(t, &example, experiment->sequences);
  return rs_experiment_baseline(experiment, RS_BASELINE_WINDOW) != RS_NO_COUNT ||
                 rs_experiment_baseline(experiment, RS_BASELINE_UNCHANGED) != RS_NO_COUNT
             ? bytes
             : 0;
}

static double reading_bytes(const rs_costs *costs, const rs_cell *cell) {
  const rs_experiment *experiment = costs->experiment;
  size_t model = cell->axis[RS_BY_MODEL];
  const rs_transformer *t = costs->models[model].begun;
  rs_example_shape example;
  if (t == NULL || rs_task_shape(&costs->task, length_of(experiment, cell), &example, NULL) != RS_OK) return 0;
  return weight_bytes(t) + said_bytes(t, &example, experiment->sequences) + baseline_bytes(costs, model) +
         pass_bytes(experiment, t, (double)example.length, &example, false) +
         observed_bytes(experiment, &experiment->models[model], example.length);
}

/* Flops of a whole training, and what is alive meanwhile; neither where the task has no sequence of the length. */
static double count_training(const rs_costs *costs, const rs_training *training, rs_checkpoint_cost *cost) {
  enum { PARTS = 8, ARRAYS = 3, ROWS = 64 }; /* gradients; weights and two moments; tokens read side by side */
  rs_example_shape example;
  const rs_task *task = &costs->task;
  if (task->kind->shape(task->state, training->length, &example, NULL) != RS_OK) return 0;
  double weights = weight_bytes(cost->begun), sequences = (double)training->sequences;
  double numbers = (double)(example.length * (4 + example.patch_numbers) + example.source_length);
  double pass = pass_bytes(costs->experiment, cost->begun, fmax(ROWS, (double)example.length), &example, true);
  cost->bytes = fmax(cost->bytes, weights * (ARRAYS + fmin(PARTS, sequences)) + 4 * sequences * numbers + pass);
  return 3 * pass_flops(cost->begun, &example) * sequences * (double)training->steps;
}

/* One that cannot be made fails its cells, and takes nothing; but memory for its description must be there. */
static rs_status count_checkpoint(const rs_costs *costs, size_t model, rs_err *err) {
  const rs_checkpoint *checkpoint = &costs->experiment->checkpoints[model];
  rs_checkpoint_cost *cost = &costs->models[model];
  rs_err why = {0};
  rs_status status = rs_checkpoint_create(costs->experiment, model, &cost->begun, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK) return RS_OK;
  if (checkpoint->folder == NULL) cost->training = count_training(costs, &checkpoint->training, cost);
  if (checkpoint->tuned) cost->tuning = count_training(costs, &checkpoint->tuning, cost);
  return RS_OK;
}

/* What its teacher reads of a training, all of its sequences once. */
static double count_teaching(const rs_costs *costs, const rs_training *training, const rs_transformer *teacher,
                             rs_checkpoint_cost *cost) {
  rs_example_shape example;
  const rs_task *task = &costs->task;
  if (task->kind->shape(task->state, training->length, &example, NULL) != RS_OK) return 0;
  cost->bytes += 2 * weight_bytes(teacher) /* its matrices are turned, too */ +
                 pass_bytes(costs->experiment, teacher, (double)example.length, &example, false);
  return pass_flops(teacher, &example) * (double)training->sequences * (double)training->steps;
}

static void count_teacher(const rs_costs *costs, size_t model) {
  const rs_checkpoint *checkpoint = &costs->experiment->checkpoints[model];
  const rs_transformer *teacher = checkpoint->taught ? costs->models[checkpoint->teacher].begun : NULL;
  rs_checkpoint_cost *cost = &costs->models[model];
  if (teacher == NULL) return;
  if (cost->training > 0) cost->training += count_teaching(costs, &checkpoint->training, teacher, cost);
  if (cost->tuning > 0) cost->tuning += count_teaching(costs, &checkpoint->tuning, teacher, cost);
}

/* Whether weights that were counted before these have the same training. */
static bool is_counted(const rs_costs *costs, const rs_weights *w, rs_checkpoint_stage stage) {
  for (size_t i = 0; i < rs_weights_count(costs->experiment); i++)
    if (&costs->weights[i] != w && strcmp(costs->weights[i].hashes[stage], w->hashes[stage]) == 0) return true;
  return false;
}

/* A checkpoint that cannot be made has no training. */
static rs_status count_weights(const rs_costs *costs, const rs_cell *cell, const char *checkpoints, rs_weights *w,
                               rs_err *err) {
  rs_weights_in in = rs_cell_weights(costs->experiment, cell);
  const rs_checkpoint_cost *cost = &costs->models[in.model];
  const double flops[RS_STAGES] = {[RS_STAGE_TRAINING] = cost->training, [RS_STAGE_TUNING] = cost->tuning};
  rs_stage_state stages[RS_STAGES];
  rs_err why = {0};
  w->read = true;
  if (cost->begun == NULL) return RS_OK;
  rs_status status = rs_checkpoint_stages(costs->experiment, &in, checkpoints, stages, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  for (size_t i = 0; i < RS_STAGES && status == RS_OK; i++) {
    if (flops[i] == 0 || !(stages[i].wanted || stages[i].there)) continue;
    memcpy(w->hashes[i], stages[i].hash, sizeof w->hashes[i]);
    if (is_counted(costs, w, i)) continue;
    w->there += stages[i].there;
    w->trainings += stages[i].wanted;
    if (stages[i].wanted) w->flops[i] = flops[i];
  }
  return RS_OK;
}

/* Numbers the trainings that weights are, or are tuned from. */
static void number_trainings(const rs_costs *costs) {
  for (size_t i = 0; i < rs_weights_count(costs->experiment); i++) {
    rs_weights *w = &costs->weights[i], *first = costs->weights;
    size_t stage = *w->hashes[RS_STAGE_TRAINING] != '\0' ? RS_STAGE_TRAINING : RS_STAGE_TUNING;
    if (*w->hashes[stage] == '\0') continue;
    while (strcmp(first->hashes[stage], w->hashes[stage]) != 0) first++;
    w->training = (size_t)(first - costs->weights) + 1;
  }
}

static rs_status count_trained(rs_costs *costs, const char *checkpoints, rs_err *err) {
  const rs_experiment *experiment = costs->experiment;
  size_t models = experiment->model_count, *trainings = rs_arena_take(&costs->arena, costs->count, sizeof *trainings);
  costs->models = rs_arena_take(&costs->arena, models, sizeof *costs->models);
  costs->weights = rs_arena_take(&costs->arena, rs_weights_count(experiment), sizeof *costs->weights);
  RS_TRY(rs_arena_check(&costs->arena, err));
  RS_TRY(rs_checkpoint_task(experiment, 0, &costs->task, err));
  for (size_t m = 0; m < models; m++) RS_TRY(count_checkpoint(costs, m, err));
  for (size_t m = 0; m < models; m++) count_teacher(costs, m);
  for (size_t i = 0; i < costs->count; i++) {
    rs_weights *w = &costs->weights[rs_weights_index(experiment, &costs->cells[i])];
    if (!w->read) RS_TRY(count_weights(costs, &costs->cells[i], checkpoints, w, err));
  }
  number_trainings(costs);
  for (size_t i = 0; i < costs->count; i++)
    trainings[i] = costs->weights[rs_weights_index(experiment, &costs->cells[i])].training;
  RS_TRY(rs_cells_sort(experiment, costs->cells, costs->count, trainings, costs->order, costs->opens, err));
  size_t last = SIZE_MAX;
  for (size_t i = 0; i < costs->count; i++) {
    const rs_cell *cell = &costs->cells[costs->order[i]];
    size_t index = rs_weights_index(experiment, cell);
    const double *flops = costs->weights[index].flops;
    double own = fmax(1, reading_flops(costs, cell));
    costs->items[costs->order[i]] = index == last ? (rs_cell_cost){own, 0, 0} : (rs_cell_cost){own, flops[0], flops[1]};
    last = index;
  }
  return RS_OK;
}

/* A run keeps each model as it begins. */
static double trained_bytes(const rs_costs *costs) {
  double most = 0, kept = 0;
  for (size_t i = 0; i < costs->count; i++) {
    const rs_cell *cell = &costs->cells[i];
    const rs_weights *w = &costs->weights[rs_weights_index(costs->experiment, cell)];
    most = fmax(most, reading_bytes(costs, cell));
    if (w->trainings > 0) most = fmax(most, costs->models[cell->axis[RS_BY_MODEL]].bytes);
  }
  for (size_t m = 0; m < costs->experiment->model_count; m++)
    if (costs->models[m].begun != NULL) kept += weight_bytes(costs->models[m].begun);
  return most + kept;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

rs_status rs_costs_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, const char *checkpoints,
                        rs_costs *costs, rs_err *err) {
  *costs = (rs_costs){.experiment = experiment, .cells = cells, .count = count};
  costs->items = rs_arena_take(&costs->arena, count, sizeof *costs->items);
  costs->order = rs_arena_take(&costs->arena, count, sizeof *costs->order);
  costs->opens = rs_arena_take(&costs->arena, count, sizeof *costs->opens);
  RS_TRY(rs_arena_check(&costs->arena, err));
  return experiment->checkpoints != NULL ? count_trained(costs, checkpoints, err) : count_simulated(costs, err);
}

void rs_costs_clear(rs_costs *costs) {
  for (size_t m = 0; costs->models != NULL && m < costs->experiment->model_count; m++)
    rs_transformer_free(costs->models[m].begun);
  if (costs->task.kind != NULL) rs_task_clear(&costs->task);
  rs_arena_clear(&costs->arena);
}

static void sum_up(const rs_costs *costs, rs_plan *plan) {
  bool trained = costs->experiment->checkpoints != NULL;
  const rs_same_targets *same = &costs->experiment->targets;
  rs_example_shape shape;
  if (same->longest > 0 && rs_task_shape(&costs->task, same->longest, &shape, NULL) == RS_OK)
    plan->blocks = rs_example_count(&shape, costs->experiment->sequences);
  plan->reading_flops = costs->passes;
  for (size_t i = 0; i < costs->count; i++) {
    const rs_cell_cost *cost = &costs->items[i];
    plan->curve_rows += rs_curve_rows(costs->experiment, &costs->cells[i]);
    plan->score_flops += row_flops(costs->experiment, &costs->cells[i]);
    plan->flops += cost->own + cost->made + cost->tuned;
    if (trained) plan->reading_flops += cost->own, plan->training_flops += cost->made + cost->tuned;
  }
  for (size_t i = 0; trained && i < rs_weights_count(costs->experiment); i++) {
    plan->trainings += costs->weights[i].trainings;
    plan->trained += costs->weights[i].there;
  }
  plan->peak_bytes = trained ? trained_bytes(costs) : simulated_bytes(costs);
}

rs_status rs_plan_make(const rs_experiment *experiment, const char *checkpoints, rs_plan *plan, rs_err *err) {
  rs_cell *cells;
  rs_out_columns columns;
  rs_costs costs;
  *plan = (rs_plan){0};
  RS_TRY(rs_columns_make(experiment, -1, &columns, err));
  plan->summary_columns = columns.count;
  free(columns.columns);
  RS_TRY(rs_experiment_cells(experiment, &cells, &plan->cells, err));
  rs_status status = rs_costs_make(experiment, cells, plan->cells, checkpoints, &costs, err);
  if (status == RS_OK) sum_up(&costs, plan);
  rs_costs_clear(&costs);
  free(cells);
  return status;
}
