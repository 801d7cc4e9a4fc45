/* Shapes of transformers as configs have them: plain blocks, all alike but for what `layers` says. */
#include "checkpoints.h"

#include <stdlib.h>
#include <string.h>

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static const char *const precisions[] = {[RS_F64] = "f64", [RS_F32] = "f32", NULL};

const rs_param rs_shape_specs[] = {
    {RS_FIELD(rs_shape_params, blocks), .unit = "1", .min = 1, .max = 1024, .fallback = "2",
     .summary = "blocks of attention and feed-forward; of an encoder-decoder: each of the two has as many"},
    {RS_FIELD(rs_shape_params, width), .unit = "dims", .min = 1, .max = 65536, .fallback = "64",
     .summary = "numbers of a token's state, d"},
    {RS_FIELD(rs_shape_params, heads), .unit = "1", .min = 1, .max = 4096, .fallback = "2",
     .summary = "heads of attention"},
    {RS_FIELD(rs_shape_params, kv_heads), .unit = "1", .min = 1, .max = 4096,
     .summary = "heads of keys and values, which heads share (default: heads)"},
    {RS_FIELD(rs_shape_params, head_dim), .unit = "dims", .min = 2, .max = 4096,
     .summary = "dims of a head (default: width / heads)"},
    {RS_FIELD(rs_shape_params, feed_forward), .unit = "dims", .min = 1, .max = 1 << 20,
     .summary = "width of the feed-forward layer (default: 4 width)"},
    {RS_FIELD(rs_shape_params, activation), .unit = "", RS_WORDS(rs_activation_words), .fallback = "gelu",
     .summary =
         "what the feed-forward layer does with each number; gelu_tanh: GELU's approximation by tanh; gelu_bloom: "
         "the same with BLOOM's constants; relu2: the square of relu"},
    {RS_FIELD(rs_shape_params, gated), .unit = "", .fallback = "false",
     .summary = "whether that is multiplied by a second projection (SwiGLU, with silu)"},
    {RS_FIELD(rs_shape_params, norm), .unit = "", RS_WORDS(rs_norm_words), .fallback = "rms",
     .summary =
         "norm before attention, before the feed-forward layer, and at the end; l2: RMS without learned numbers"},
    {RS_FIELD(rs_shape_params, epsilon), .unit = "1", .min = 0, .max = 1, .fallback = "1e-5",
     .summary = "what a norm adds to the mean square or variance"},
    {RS_FIELD(rs_shape_params, qk_norm), .unit = "", .fallback = "false",
     .summary = "the same norm of each head's query and key, before the rotation"},
    {RS_FIELD(rs_shape_params, biases), .unit = "", .fallback = "false",
     .summary = "biases of attention, of feed-forward layers and of layer norms"},
    {RS_FIELD(rs_shape_params, tied), .unit = "", .fallback = "false",
     .summary = "whether the output's matrix is the embeddings'"},
    {RS_FIELD(rs_shape_params, rope_theta), .unit = "1", .min = 1.000001, .max = 1e300, .fallback = "10000",
     .summary = "base of rotary frequencies"},
    {RS_FIELD(rs_shape_params, rotary_dim), .unit = "dims", .min = 2, .max = 4096,
     .summary = "dims of a head that turn (default: head_dim)"},
    {RS_FIELD(rs_shape_params, pair_layout), .unit = "", RS_WORDS(rs_pair_layout_words), .fallback = "half_split",
     .summary = "which two dims turn together"},
    {RS_FIELD(rs_shape_params, window), .unit = "tokens", .min = 1, .max = 1 << 28,
     .summary = "tokens that a causal head sees, itself included (default: all before it)"},
    {RS_FIELD(rs_shape_params, sinks), .unit = "tokens", .min = 1, .max = 1 << 28,
     .summary = "first tokens that are seen besides the window"},
    {RS_FIELD(rs_shape_params, precision), .unit = "", RS_WORDS(precisions), .fallback = "f32",
     .summary = "floats that the model is trained and read in"},
    {RS_FIELD(rs_shape_params, seed), .unit = "", .min = 0, .max = 9007199254740992.0,
     .summary = "one training for all cells, of this seed (default: each cell's seed trains a model of its own)"},
};
const size_t rs_shape_spec_count = RS_COUNT(rs_shape_specs);

static const struct {
  const char *name, *value;
} tune_defaults[] = {{"steps", "80"}, {"length", "512"}, {"sequences", "8"}, {"rate", "0.001"}, {"warmup", "10"}};

const char *rs_tune_default(const rs_param *param) {
  for (size_t i = 0; i < RS_COUNT(tune_defaults); i++)
    if (strcmp(tune_defaults[i].name, param->name) == 0) return tune_defaults[i].value;
  return param->fallback;
}

rs_status rs_tune_settings(rs_settings *settings, rs_err *err) {
  RS_TRY(rs_settings_init_specs(settings, rs_training_specs, rs_training_spec_count, err));
  rs_status status = RS_OK;
  for (size_t i = 0; i < settings->count && status == RS_OK; i++)
    status = rs_value_parse(settings->params[i], rs_tune_default(settings->params[i]), &settings->values[i], err);
  if (status != RS_OK) rs_settings_clear(settings);
  return status;
}

/* ---- what was left out, and what must not be --------------------------------------------------------------------- */

bool rs_form_sees_ahead(rs_form form) {
  return form == RS_ENCODER || form == RS_VISION;
}

static rs_status settle_heads(rs_shape_params *p, rs_err *err) {
  if (p->head_dim == RS_NO_COUNT && p->width % p->heads != 0)
    return rs_fail_on(err, RS_INPUT, "heads",
                      "%zu heads cannot share a width of %zu: must divide it, or have a head_dim", p->heads, p->width);
  if (p->head_dim == RS_NO_COUNT) p->head_dim = p->width / p->heads;
  if (p->kv_heads == RS_NO_COUNT) p->kv_heads = p->heads;
  if (p->rotary_dim == RS_NO_COUNT) p->rotary_dim = p->head_dim;
  if (p->heads % p->kv_heads != 0)
    return rs_fail_on(err, RS_INPUT, "kv_heads", "%zu heads cannot share %zu heads of keys: must divide heads",
                      p->heads, p->kv_heads);
  if (p->head_dim % 2 != 0)
    return rs_fail_on(err, RS_INPUT, "head_dim", "%zu is odd: dims turn in pairs (width / heads, where it is left out)",
                      p->head_dim);
  if (p->rotary_dim % 2 != 0 || p->rotary_dim > p->head_dim)
    return rs_fail_on(err, RS_INPUT, "rotary_dim", "must be even, and at most head_dim = %zu", p->head_dim);
  return RS_OK;
}

rs_status rs_shape_settle(rs_shape_params *p, rs_form form, rs_err *err) {
  RS_TRY(settle_heads(p, err));
  if (p->feed_forward == RS_NO_COUNT) p->feed_forward = 4 * p->width;
  if (p->window != RS_NO_COUNT && rs_form_sees_ahead(form))
    return rs_fail_on(err, RS_INPUT, "window", "is one of causal heads, but the task's models (%s) see both ways",
                      rs_form_words[form]);
  if (p->sinks != RS_NO_COUNT && p->window == RS_NO_COUNT)
    return rs_fail_on(err, RS_INPUT, "sinks", "has no meaning without a window: all tokens are seen");
  if (p->tied && form == RS_VISION)
    return rs_fail_on(err, RS_INPUT, "tied", "a vision model has patches in place of embeddings: nothing to tie to");
  return RS_OK;
}

void rs_shape_defaults(const rs_shape_params *p, rs_settings *settings) {
  const struct {
    const char *name;
    size_t value;
  } settled[] = {{"kv_heads", p->kv_heads},
                 {"head_dim", p->head_dim},
                 {"feed_forward", p->feed_forward},
                 {"rotary_dim", p->rotary_dim}};
  for (size_t i = 0; i < RS_COUNT(settled); i++) {
    rs_value *value = &settings->values[rs_settings_find(settings, settled[i].name)];
    value->set = true;
    value->number = (double)settled[i].value;
  }
}

/* ---- the shape --------------------------------------------------------------------------------------------------- */

rs_mask rs_form_mask(rs_form form, size_t window, size_t sinks) {
  if (rs_form_sees_ahead(form)) return (rs_mask){.kind = RS_BIDIRECTIONAL};
  if (window == RS_NO_COUNT) return (rs_mask){.kind = RS_CAUSAL};
  if (sinks == RS_NO_COUNT) return (rs_mask){.kind = RS_WINDOW, .window = window};
  return (rs_mask){.kind = RS_WINDOW_SINKS, .window = window, .sinks = sinks};
}

static rs_norm plain_norm(const rs_shape_params *p) {
  return (rs_norm){.kind = p->norm, .bias = p->biases && p->norm == RS_NORM_LAYER, .epsilon = p->epsilon};
}

static rs_block plain_block(const rs_shape_params *p, rs_form form) {
  const rs_norm norm = plain_norm(p), none = {.kind = RS_NORM_NONE};
  bool cross = form == RS_ENCODER_DECODER;
  return (rs_block){
      .before_attention = norm,
      .before_feed_forward = norm,
      .attention = {.heads = p->heads,
                    .kv_heads = p->kv_heads,
                    .head_dim = p->head_dim,
                    .qkv_bias = p->biases,
                    .output_bias = p->biases,
                    .qk_norm = p->qk_norm ? norm : none},
      .cross = cross,
      .before_cross = cross ? norm : none,
      .feed_forward = {p->feed_forward, p->activation, p->gated, p->biases},
      .mask = rs_form_mask(form, p->window, p->sinks),
  };
}

static bool applies(const rs_layer_rule *rule, size_t block) {
  return rule->every > 0 ? (block + 1) % rule->every == 0 : block >= rule->from && block <= rule->to;
}

/* Blocks of one stack; an encoder of an encoder-decoder has none of its windows. */
static rs_status build_stack(const rs_shape_params *p, rs_form form, const rs_layer_rule *rules, size_t rule_count,
                             rs_stack *stack, rs_err *err) {
  stack->blocks = rs_alloc(p->blocks, sizeof *stack->blocks, err);
  if (stack->blocks == NULL) return RS_MEMORY;
  stack->count = p->blocks;
  stack->final_norm = plain_norm(p);
  for (size_t b = 0; b < p->blocks; b++) {
    rs_block *block = &stack->blocks[b];
    *block = plain_block(p, form);
    for (size_t r = 0; r < rule_count; r++) {
      if (!applies(&rules[r], b)) continue;
      if (rules[r].method != NULL) block->recipe = r + 1;
      if (rules[r].window != RS_NO_COUNT) block->mask = rs_form_mask(form, rules[r].window, rules[r].sinks);
    }
  }
  return RS_OK;
}

rs_status rs_shape_build(const rs_shape_params *p, rs_form form, const rs_layer_rule *rules, size_t rule_count,
                         rs_shape *shape, rs_err *err) {
  *shape = (rs_shape){.form = form, .width = p->width, .embedding_scale = 1, .tied = p->tied, .output_scale = 1};
  rs_status status = build_stack(p, form, rules, rule_count, &shape->decoder, err);
  if (status == RS_OK && form == RS_ENCODER_DECODER)
    status = build_stack(p, RS_ENCODER, rules, rule_count, &shape->encoder, err);
  if (status != RS_OK) rs_shape_clear(shape);
  return status;
}

rs_model rs_shape_geometry(const rs_shape_params *p) {
  return (rs_model){.heads = p->heads,
                    .head_dim = p->head_dim,
                    .rotary_dim = p->rotary_dim,
                    .rope_theta = p->rope_theta,
                    .pair_layout = p->pair_layout};
}
