/* Shapes of transformers, their geometry and their tokens as JSON: every field by its name. */
#include "records.h"

#include <stdlib.h>

/* Beyond what shapes may have (rs_shape_check says what), so that a number is refused with its place. */
static const double most = 1 << 24;

#define COUNT_FIELD(structure, field, least)                                                                           \
  { RS_FIELD(structure, field), .min = (least), .max = 1 << 28 }
#define REAL_FIELD(structure, field)                                                                                   \
  { RS_FIELD(structure, field), .min = -1e300, .max = 1e300 }
#define FLAG_FIELD(structure, field)                                                                                   \
  { RS_FIELD(structure, field), .max = 1 }
#define RECORD(text, list) .what = (text), RS_RECORD_FIELDS(list)

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static const rs_param norm_fields[] = {
    {RS_FIELD(rs_norm, kind), RS_WORDS(rs_norm_words)},
    FLAG_FIELD(rs_norm, bias),
    FLAG_FIELD(rs_norm, around_one),
    REAL_FIELD(rs_norm, epsilon),
};
static const rs_record norm_record = {RECORD("a norm", norm_fields)};
static const rs_record later_norm_record = {RECORD("a norm", norm_fields), .later = true};

static const char *const span_words[] = {
    [RS_QK_HEAD] = "head", [RS_QK_PROJECTION] = "projection", [RS_QK_OWN_HEAD] = "own_head", NULL};
static const rs_param head_fields[] = {
    COUNT_FIELD(rs_head_shape, heads, 1),      COUNT_FIELD(rs_head_shape, kv_heads, 1),
    COUNT_FIELD(rs_head_shape, head_dim, 1),   FLAG_FIELD(rs_head_shape, qkv_bias),
    FLAG_FIELD(rs_head_shape, output_bias),    {RS_FIELD(rs_head_shape, qk_span), RS_WORDS(span_words)},
    FLAG_FIELD(rs_head_shape, qk_norm_turned), REAL_FIELD(rs_head_shape, score_scale),
    REAL_FIELD(rs_head_shape, soft_cap),       FLAG_FIELD(rs_head_shape, sinks),
};
static const rs_record_part head_parts[] = {{"qk_norm", offsetof(rs_head_shape, qk_norm), &norm_record}};
static const rs_record head_record = {RECORD("attention heads", head_fields), head_parts, RS_COUNT(head_parts)};

static const rs_param feed_forward_fields[] = {
    COUNT_FIELD(rs_feed_forward, width, 1),
    {RS_FIELD(rs_feed_forward, activation), RS_WORDS(rs_activation_words)},
    FLAG_FIELD(rs_feed_forward, gated),
    FLAG_FIELD(rs_feed_forward, bias),
};
static const rs_record feed_forward_record = {RECORD("a feed-forward layer", feed_forward_fields)};

static const char *const mask_words[] = {[RS_CAUSAL] = "causal", [RS_BIDIRECTIONAL] = "bidirectional",
                                         [RS_WINDOW] = "window", [RS_WINDOW_SINKS] = "window_sinks",
                                         [RS_CROSS] = "cross",   [RS_CHUNKS] = "chunks",
                                         [RS_BAND] = "band",     NULL};
static const rs_param mask_fields[] = {
    {RS_FIELD(rs_mask, kind), RS_WORDS(mask_words)},
    COUNT_FIELD(rs_mask, window, 0),
    COUNT_FIELD(rs_mask, sinks, 0),
};
static const rs_record mask_record = {RECORD("a mask", mask_fields)};

static const rs_param block_fields[] = {
    FLAG_FIELD(rs_block, parallel),
    FLAG_FIELD(rs_block, cross),
    COUNT_FIELD(rs_block, recipe, 0),
    {RS_FIELD(rs_block, norm_sums), .max = 1, .later = true},
};
static const rs_record_part block_parts[] = {
    {"before_attention", offsetof(rs_block, before_attention), &norm_record},
    {"after_attention", offsetof(rs_block, after_attention), &norm_record},
    {"before_feed_forward", offsetof(rs_block, before_feed_forward), &norm_record},
    {"after_feed_forward", offsetof(rs_block, after_feed_forward), &norm_record},
    {"before_cross", offsetof(rs_block, before_cross), &norm_record},
    {"after_cross", offsetof(rs_block, after_cross), &later_norm_record},
    {"attention", offsetof(rs_block, attention), &head_record},
    {"feed_forward", offsetof(rs_block, feed_forward), &feed_forward_record},
    {"mask", offsetof(rs_block, mask), &mask_record},
};
static const rs_record block_record = {RECORD("a block", block_fields), block_parts, RS_COUNT(block_parts)};

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static const rs_param shape_fields[] = {
    {RS_FIELD(rs_shape, form), RS_WORDS(rs_form_words)},
    COUNT_FIELD(rs_shape, width, 1),
    COUNT_FIELD(rs_shape, vocabulary, 0),
    COUNT_FIELD(rs_shape, patch_numbers, 0),
    COUNT_FIELD(rs_shape, classes, 1),
    REAL_FIELD(rs_shape, embedding_scale),
    FLAG_FIELD(rs_shape, tied),
    FLAG_FIELD(rs_shape, output_bias),
    REAL_FIELD(rs_shape, output_scale),
    REAL_FIELD(rs_shape, output_cap),
    {RS_FIELD(rs_shape, pool), RS_WORDS(rs_pool_words), .later = true},
    {RS_FIELD(rs_shape, patches_alone), .max = 1, .later = true},
    {RS_FIELD(rs_shape, distillation_token), .max = 1, .later = true},
    {RS_FIELD(rs_shape, prediction), RS_WORDS(rs_prediction_words), .later = true},
};
static const rs_record_part shape_parts[] = {
    {"embedding_norm", offsetof(rs_shape, embedding_norm), &norm_record},
    {"encoder_norm", offsetof(rs_shape, encoder.final_norm), &norm_record},
    {"decoder_norm", offsetof(rs_shape, decoder.final_norm), &norm_record},
};
static const char *const stack_keys[] = {"encoder", "decoder", NULL};
static const rs_record shape_record = {RECORD("a shape", shape_fields), shape_parts, RS_COUNT(shape_parts), stack_keys};

static void write_stack(rs_json *json, const char *key, const rs_stack *stack) {
  rs_json_array(json, key);
  for (size_t i = 0; i < stack->count; i++) {
    rs_json_object(json, NULL);
    rs_record_write(json, &block_record, &stack->blocks[i]);
    rs_json_end(json);
  }
  rs_json_end(json);
}

void rs_shape_write(rs_json *json, const char *key, const rs_shape *shape) {
  rs_json_object(json, key);
  rs_record_write(json, &shape_record, shape);
  write_stack(json, stack_keys[0], &shape->encoder);
  write_stack(json, stack_keys[1], &shape->decoder);
  rs_json_end(json);
}

static void read_stack(rs_problems *problems, const rs_node *parent, const char *key, rs_stack *stack) {
  const rs_node *node = rs_member_of(problems, parent, key, RS_SEQUENCE, "a list of blocks");
  if (node == NULL || node->count == 0) return;
  stack->blocks = rs_alloc(node->count, sizeof *stack->blocks, NULL);
  if (stack->blocks == NULL) rs_problem_memory(problems);
  for (; stack->blocks != NULL && stack->count < node->count; stack->count++) {
    rs_record_read(problems, &node->items[stack->count], &block_record, NULL, &stack->blocks[stack->count]);
  }
}

void rs_shape_read(rs_problems *problems, const rs_node *node, rs_shape *shape) {
  rs_record_read(problems, node, &shape_record, NULL, shape);
  if (node->kind != RS_MAPPING) return;
  read_stack(problems, node, stack_keys[0], &shape->encoder);
  read_stack(problems, node, stack_keys[1], &shape->decoder);
}

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

static const rs_param geometry_fields[] = {
    COUNT_FIELD(rs_model, heads, 1),
    COUNT_FIELD(rs_model, head_dim, 1),
    COUNT_FIELD(rs_model, rotary_dim, 0),
    {RS_FIELD(rs_model, rope_theta), .min = 1, .max = 1e300},
    COUNT_FIELD(rs_model, train_length, 1),
    COUNT_FIELD(rs_model, max_length, 0),
    {RS_FIELD(rs_model, pair_layout), RS_WORDS(rs_pair_layout_words)},
    {RS_FIELD_AS(rs_model, mrope_section[0], "mrope_t"), .max = 1 << 24},
    {RS_FIELD_AS(rs_model, mrope_section[1], "mrope_h"), .max = 1 << 24},
    {RS_FIELD_AS(rs_model, mrope_section[2], "mrope_w"), .max = 1 << 24},
    {RS_FIELD_AS(rs_model, axis_layout, "mrope_layout"), RS_WORDS(rs_axis_layout_words)},
};
static const rs_record geometry_record = {RECORD("a geometry", geometry_fields)};

void rs_geometry_write(rs_json *json, const char *key, const rs_model *model) {
  rs_json_object(json, key);
  rs_record_write(json, &geometry_record, model);
  rs_json_end(json);
}

void rs_geometry_read(rs_problems *problems, const rs_node *node, rs_model *model) {
  size_t before = problems->count;
  rs_record_read(problems, node, &geometry_record, NULL, model);
  size_t pairs = model->mrope_section[0] + model->mrope_section[1] + model->mrope_section[2];
  bool fits = model->rotary_dim % 2 == 0 && model->head_dim % 2 == 0 && model->rotary_dim <= model->head_dim &&
              (pairs == 0 || pairs == model->rotary_dim / 2);
  if (problems->count == before && !fits)
    rs_problem(problems, node, "turns %zu of %zu dims, with sections of %zu pairs: they do not fit together",
               model->rotary_dim, model->head_dim, pairs);
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static const char *const modality_words[] = {[RS_TEXT] = "text", [RS_IMAGE] = "image", [RS_VIDEO] = "video", NULL};
static const rs_param run_fields[] = {
    {RS_FIELD(rs_token_run, modality), RS_WORDS(modality_words)},
    COUNT_FIELD(rs_token_run, tokens, 1),
    COUNT_FIELD(rs_token_run, frames, 0),
    COUNT_FIELD(rs_token_run, rows, 0),
    COUNT_FIELD(rs_token_run, columns, 0),
    REAL_FIELD(rs_token_run, seconds_per_frame),
    REAL_FIELD(rs_token_run, ids_per_second),
};
static const rs_record run_record = {RECORD("a run of tokens", run_fields)};

void rs_layout_write(rs_json *json, const char *key, const rs_token_layout *tokens) {
  rs_json_array(json, key);
  for (size_t i = 0; i < tokens->count; i++) {
    rs_json_object(json, NULL);
    rs_record_write(json, &run_record, &tokens->runs[i]);
    rs_json_end(json);
  }
  rs_json_end(json);
}

static void check_run(rs_problems *problems, const rs_node *node, const rs_token_run *run) {
  bool grid = run->frames <= most && run->rows <= most && run->columns <= most &&
              (double)run->frames * (double)run->rows * (double)run->columns == (double)run->tokens;
  if (run->modality != RS_TEXT && !grid)
    rs_problem(problems, node, "has %zu tokens, but %zu x %zu x %zu patches", run->tokens, run->frames, run->rows,
               run->columns);
}

void rs_layout_read(rs_problems *problems, const rs_node *node, rs_token_layout *tokens) {
  if (!rs_expect(problems, node, RS_SEQUENCE, "a list of runs of tokens") || node->count == 0) return;
  tokens->runs = rs_alloc(node->count, sizeof *tokens->runs, NULL);
  if (tokens->runs == NULL) rs_problem_memory(problems);
  for (; tokens->runs != NULL && tokens->count < node->count; tokens->count++) {
    size_t before = problems->count;
    rs_token_run *run = &tokens->runs[tokens->count];
    rs_record_read(problems, &node->items[tokens->count], &run_record, NULL, run);
    if (problems->count == before) check_run(problems, &node->items[tokens->count], run);
  }
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static rs_record training_record(void) {
  return (rs_record){.what = "a training", .fields = rs_training_specs, .field_count = rs_training_spec_count};
}

void rs_training_write(rs_json *json, const char *key, const rs_training *training) {
  rs_record record = training_record();
  rs_json_object(json, key);
  rs_record_write(json, &record, training);
  rs_json_end(json);
}

void rs_training_read(rs_problems *problems, const rs_node *node, rs_training *training) {
  rs_record record = training_record();
  rs_record_read(problems, node, &record, NULL, training);
}
