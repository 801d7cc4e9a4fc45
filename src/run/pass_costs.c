/* What passes and rows take, from the sizes alone. A transformer's pass multiplies and adds once for each weight of a
 * matrix and token, and twice (queries with keys, weights with values) for each head dim and pair of tokens that is
 * seen. */
#include "costs.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>

/* ---- flops ------------------------------------------------------------------------------------------------------- */

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

double rs_pass_flops(const rs_shape *shape, const rs_example_shape *example) {
  double d = (double)shape->width, tokens = (double)example->length, source = (double)example->source_length;
  bool vision = shape->form == RS_VISION;
  double flops = 2 * (vision ? 1 : tokens) * d * (double)shape->classes;
  if (vision) flops += 2 * tokens++ * d * (double)shape->patch_numbers; /* and then a class token */
  return flops + rs_stack_flops(&shape->encoder, shape->encoder.count, d, source, 0) +
         rs_stack_flops(&shape->decoder, shape->decoder.count, d, tokens, source);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static double norm_numbers(const rs_norm *norm, double width) {
  return norm->kind != RS_NORM_NONE ? width + 2 : 0;
}

/* Numbers that a block's pass forward keeps of so many tokens, of which its feed-forward takes `piece` at a time. */
static double block_numbers(const rs_block *block, double d, double rows, double piece) {
  const rs_head_shape *heads = &block->attention;
  double queries = (double)(heads->heads * heads->head_dim), keys = (double)(heads->kv_heads * heads->head_dim);
  const rs_norm *const norms[] = {&block->before_attention, &block->after_attention, &block->before_cross,
                                  &block->before_feed_forward, &block->after_feed_forward};
  double attention = 2 * queries + 2 * keys + (double)heads->heads + norm_numbers(&heads->qk_norm, queries + keys);
  double each = 4 * d + attention * (block->cross ? 2 : 1);
  for (size_t i = 0; i < RS_COUNT(norms); i++) each += norm_numbers(norms[i], d);
  return rows * each + piece * (double)block->feed_forward.width * (block->feed_forward.gated ? 3 : 2);
}

double rs_stack_numbers(const rs_stack *stack, size_t count, double width, double rows, bool training) {
  enum { PIECE = 1024 };
  double sum = 0, most = 0;
  for (size_t i = 0; i < count; i++) {
    double numbers = block_numbers(&stack->blocks[i], width, rows, training ? rows : fmin(rows, PIECE));
    sum += numbers;
    most = fmax(most, numbers);
  }
  return training ? sum + 2 * most : most; /* the pass back has arrays as wide as a block's own, once for all */
}

double rs_weight_bytes(const rs_transformer *transformer) {
  return (double)transformer->size * (transformer->format == RS_F64 ? 8 : 4);
}

/* ---- rows of attention ------------------------------------------------------------------------------------------- */

rs_row_needs rs_experiment_needs(const rs_experiment *experiment) {
  rs_row_needs needs = {0};
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *metric = &experiment->metrics.items[m];
    (void)rs_row_needs_add(&needs, metric->metric, metric->params, NULL); /* the config was checked for what can fail */
  }
  return needs;
}

bool rs_needs_heads(const rs_experiment *experiment) {
  rs_row_needs needs = rs_experiment_needs(experiment);
  return needs.rows || needs.content;
}

bool rs_projects(const rs_experiment *experiment, const rs_cell *cell) {
  return rs_experiment_method(experiment, cell->axis[RS_BY_MODEL], cell->axis[RS_BY_METHOD])->embed != NULL;
}

bool rs_experiment_cuts(const rs_experiment *experiment, rs_cut *cut) {
  for (size_t m = 0; m < experiment->metrics.count; m++) {
    const rs_variant *variant = &experiment->metrics.items[m];
    if (variant->metric->cut == NULL) continue;
    variant->metric->cut(variant->params, cut);
    return true;
  }
  return false;
}

size_t rs_query_count(const rs_query_set *set, size_t length) {
  if (set->choice == RS_QUERIES_EVERY) return (length + set->number - 1) / set->number;
  return set->choice == RS_QUERIES_ALL || set->number > length ? length : set->number;
}

bool rs_reads_model(const rs_experiment *experiment, const rs_cell *cell) {
  return experiment->sources.count > 0 && experiment->sources.items[cell->axis[RS_BY_SOURCE]].source->of_model;
}

double rs_row_flops(const rs_experiment *experiment, const rs_cell *cell) {
  size_t length = experiment->lengths[cell->axis[RS_BY_LENGTH]];
  double dims = (double)experiment->models[cell->axis[RS_BY_MODEL]].head_dim;
  bool sequences = experiment->checkpoints != NULL && rs_reads_model(experiment, cell);
  double times = sequences ? (double)experiment->sequences : 1;
  if (!rs_experiment_needs(experiment).rows) return 0;
  return times * 2 * dims * (double)length * (double)rs_query_count(&experiment->queries, length) *
         (double)rs_head_count(experiment, cell);
}

double rs_cell_work(const rs_experiment *experiment, const rs_cell *cell) {
  enum { KEY_COST = 64 }; /* rotating one key costs about as much as multiplying it by this many queries */
  size_t length = experiment->lengths[cell->axis[RS_BY_LENGTH]];
  bool rows = rs_experiment_needs(experiment).rows;
  double queries = rows ? (double)rs_query_count(&experiment->queries, length) + KEY_COST : 1;
  return queries * (double)length * (double)rs_head_count(experiment, cell);
}

double rs_row_bytes(const rs_experiment *experiment, size_t length, size_t dims, size_t views, size_t threads) {
  double queries = (double)rs_query_count(&experiment->queries, length);
  rs_row_needs needs = rs_experiment_needs(experiment);
  size_t bins = rs_log_bins(length, experiment->bins_per_octave);
  double content = 8 * (double)dims * ((double)length + 2 * queries) + (8 * RS_AXES + 4) * (double)length;
  double numbers = (double)bins * (needs.moments ? 4 : 1) + (double)needs.top_count;
  double observed = fmin(queries, RS_ROWS_AT_ONCE) * ((double)sizeof(rs_row) + 8 * numbers);
  double engine = rs_engine_bytes(length, dims, views, bins, threads);
  return content + observed + engine + (needs.top_count > 0 ? rs_top_bytes(length, threads) : 0);
}

size_t rs_longest(const rs_experiment *experiment) {
  size_t length = 0;
  for (size_t i = 0; i < experiment->length_count; i++)
    length = experiment->lengths[i] > length ? experiment->lengths[i] : length;
  return length;
}

/* ---- texts of sources with a checkpoint of their own ------------------------------------------------------------- */

/* ---- which passes there are -------------------------------------------------------------------------------------- */

/* What a cell's source says of a checkpoint of its own; NULL where it has none, or where nothing is observed. */
static const rs_model_source *source_of(const rs_experiment *experiment, const rs_cell *cell) {
  if (!rs_needs_heads(experiment) || !rs_reads_model(experiment, cell)) return NULL;
  const rs_model_source *source = experiment->sources.items[cell->axis[RS_BY_SOURCE]].params;
  return source->checkpoint.path != NULL ? source : NULL;
}

/* Whether no cell before number `index` has its rows from the same pass. */
static bool is_first(const rs_cell *cells, size_t index) {
  static const size_t shared[] = {RS_BY_MODEL, RS_BY_SOURCE, RS_BY_LENGTH};
  for (size_t i = 0; i < index; i++) {
    size_t same = 0;
    for (size_t a = 0; a < RS_COUNT(shared); a++) same += cells[i].axis[shared[a]] == cells[index].axis[shared[a]];
    if (same == RS_COUNT(shared)) return false;
  }
  return true;
}

static size_t length_of(const rs_experiment *experiment, const rs_cell *cell) {
  return experiment->lengths[cell->axis[RS_BY_LENGTH]];
}

static bool is_long_enough(const rs_model_source *source, size_t length) {
  rs_token_file file;
  if (rs_token_file_read(source->tokens, source->numbers, &file, NULL) != RS_OK) return false;
  bool enough = file.count >= length;
  rs_token_file_clear(&file);
  return enough;
}

/* ---- flops and bytes --------------------------------------------------------------------------------------------- */

static double pass_flops(const rs_shape *shape, const rs_model_source *source, size_t length) {
  return rs_stack_flops(&shape->decoder, source->layer + 1, (double)shape->width, (double)length, 0);
}

static double pass_bytes(const rs_shape *shape, const rs_model *model, const rs_model_source *source, size_t length) {
  const rs_head_shape *heads = &shape->decoder.blocks[source->layer].attention;
  double rows = (double)length, kept = (double)((heads->heads + heads->kv_heads) * heads->head_dim);
  double numbers = rs_stack_numbers(&shape->decoder, source->layer + 1, (double)shape->width, rows, false);
  bool known = model->published.method != NULL;
  double tables = known ? rs_encoding_bytes(&model->published, model, length, NULL) : 0;
  return numbers * (source->precision == RS_F64 ? 8 : 4) + 8 * rows * kept + 2 * tables;
}

/* A checkpoint that cannot be read fails its cells, and takes nothing. */
static rs_status fill_cost(const rs_experiment *experiment, const rs_cell *cell, rs_text_cost *cost, rs_err *err) {
  const rs_model_source *source = source_of(experiment, cell);
  size_t length = length_of(experiment, cell);
  rs_shape shape;
  rs_err why = {0};
  if (!is_long_enough(source, length)) return RS_OK;
  if (rs_folder_shape(source->checkpoint.path, &shape, &why) != RS_OK)
    return why.status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
  if (source->layer < shape.decoder.count) {
    cost->flops = pass_flops(&shape, source, length);
    cost->bytes = pass_bytes(&shape, &experiment->models[cell->axis[RS_BY_MODEL]], source, length);
  }
  rs_shape_clear(&shape);
  return RS_OK;
}

rs_status rs_text_costs(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_text_cost *costs,
                        rs_err *err) {
  for (size_t i = 0; i < count; i++) {
    costs[i] = (rs_text_cost){0};
    if (source_of(experiment, &cells[i]) == NULL || !is_first(cells, i)) continue;
    RS_TRY(fill_cost(experiment, &cells[i], &costs[i], err));
  }
  return RS_OK;
}

/* ---- seconds ----------------------------------------------------------------------------------------------------- */

/* Seconds of a pass over the first `length` tokens; 0 where it cannot be. */
static double time_pass(rs_text_model *model, const rs_model_source *source, size_t length) {
  rs_text_rows rows;
  double start = rs_seconds();
  rs_status status = rs_text_rows_read(model, source, length, &rows, NULL);
  double seconds = rs_seconds() - start;
  rs_text_rows_clear(&rows);
  return status == RS_OK ? seconds : 0;
}

/* Seconds of a flop: of longer and longer passes, up to `longest` tokens, as the budget has room; 0 where there is
 * none. The first reads the weights and is not counted. */
static double find_pace(const rs_model_source *source, size_t longest, double budget) {
  enum { FIRST = 32 };
  rs_text_model model = {0};
  rs_shape shape;
  double pace = 0;
  size_t length = longest < FIRST ? longest : FIRST;
  if (rs_folder_shape(source->checkpoint.path, &shape, NULL) != RS_OK) return 0;
  bool there = source->layer < shape.decoder.count && time_pass(&model, source, length) > 0;
  for (double start = rs_seconds(); there && length <= longest && (pace == 0 || rs_seconds() - start < budget / 3);
       length *= 2)
    pace = time_pass(&model, source, length) / pass_flops(&shape, source, length);
  rs_shape_clear(&shape);
  rs_text_model_clear(&model);
  return pace;
}

/* The longest pass of a source; 0: none. */
static size_t find_longest(const rs_experiment *experiment, const rs_cell *cells, const rs_text_cost *costs,
                           size_t count, size_t source) {
  size_t longest = 0;
  for (size_t i = 0; i < count; i++) {
    size_t length = length_of(experiment, &cells[i]);
    if (costs[i].flops > 0 && cells[i].axis[RS_BY_SOURCE] == source && length > longest) longest = length;
  }
  return longest;
}

rs_status rs_text_seconds(const rs_experiment *experiment, const rs_cell *cells, size_t count, double budget,
                          double *seconds, rs_err *err) {
  rs_text_cost *costs = rs_alloc(count, sizeof *costs, err);
  rs_status status = costs != NULL ? rs_text_costs(experiment, cells, count, costs, err) : RS_MEMORY;
  for (size_t s = 0; s < experiment->sources.count && status == RS_OK; s++) {
    size_t longest = find_longest(experiment, cells, costs, count, s);
    if (longest == 0) continue;
    double pace = find_pace(experiment->sources.items[s].params, longest, budget / (double)experiment->sources.count);
    for (size_t i = 0; i < count; i++)
      if (cells[i].axis[RS_BY_SOURCE] == s) seconds[i] += pace * costs[i].flops;
  }
  free(costs);
  return status;
}
