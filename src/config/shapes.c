/* Shapes of transformers as configs have them: plain blocks, all alike but for what `layers` says. */
#include "checkpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static const char *const norm_orders[] = {[RS_NORM_PRE] = "pre", [RS_NORM_POST] = "post", NULL};
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
    {RS_FIELD(rs_shape_params, norm_order), .unit = "", RS_WORDS(norm_orders), .fallback = "pre", .later = true,
     .summary = "post: norms of sums, x = norm(x + part(x)), and none at the end (the transformer of 2017, with norm: "
                "layer)"},
    {RS_FIELD(rs_shape_params, epsilon), .unit = "1", .min = 0, .max = 1, .fallback = "1e-5",
     .summary = "what a norm adds to the mean square or variance"},
    {RS_FIELD(rs_shape_params, qk_norm), .unit = "", .fallback = "false",
     .summary = "the same norm of each head's query and key, before the rotation"},
    {RS_FIELD(rs_shape_params, biases), .unit = "", .fallback = "false",
     .summary = "biases of attention, of feed-forward layers and of layer norms"},
    {RS_FIELD(rs_shape_params, tied), .unit = "", .fallback = "false",
     .summary = "whether the output's matrix is the embeddings'"},
    {RS_FIELD(rs_shape_params, pool), .unit = "", RS_WORDS(rs_pool_words), .fallback = "class", .later = true,
     .summary =
         "of models that say one class a picture or sequence, which state says it: the class token's, or the mean "
         "of all but that"},
    {RS_FIELD(rs_shape_params, class_token), .unit = "", .fallback = "true", .later = true,
     .summary = "whether a learned token stands before the patches of a picture; without one, pool must be mean"},
    {RS_FIELD(rs_shape_params, distilled), .unit = "", RS_WORDS(rs_prediction_words), .fallback = "none", .later = true,
     .summary = "a second learned token behind the class token, with a head of its own that learns what the `teacher` "
                "says (DeiT); what both predict: paper: the mean of their softmaxes, hf: of their logits"},
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

/* Whether a form's heads see what follows. */
static bool sees_ahead(rs_form form) {
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

static rs_status check_pool(const rs_shape_params *p, rs_form form, rs_err *err) {
  if (p->pool == RS_POOL_MEAN && form != RS_VISION && form != RS_ENCODER)
    return rs_fail_on(err, RS_INPUT, "pool", "the task's models (%s) say a class at each token: nothing to pool",
                      rs_form_words[form]);
  if (!p->class_token && form != RS_VISION)
    return rs_fail_on(err, RS_INPUT, "class_token",
                      "the task's models (%s) read no pictures: none is before their tokens", rs_form_words[form]);
  if (!p->class_token && p->pool == RS_POOL_CLASS)
    return rs_fail_on(err, RS_INPUT, "class_token",
                      "pool: class reads the class token, and there is none (pool: mean reads the patches)");
  if (p->distilled != RS_PREDICTS_CLASS && (form != RS_VISION || !p->class_token))
    return rs_fail_on(err, RS_INPUT, "distilled",
                      "%s: the distillation token stands behind the class token of a picture",
                      form != RS_VISION ? "the task has no pictures" : "class_token: false");
  return RS_OK;
}

rs_status rs_shape_settle(rs_shape_params *p, rs_form form, rs_err *err) {
  RS_TRY(settle_heads(p, err));
  RS_TRY(check_pool(p, form, err));
  if (p->feed_forward == RS_NO_COUNT) p->feed_forward = 4 * p->width;
  if (p->window != RS_NO_COUNT && sees_ahead(form))
    return rs_fail_on(err, RS_INPUT, "window", "is one of causal heads, but the task's models (%s) see both ways",
                      rs_form_words[form]);
  if (p->sinks != RS_NO_COUNT && p->window == RS_NO_COUNT)
    return rs_fail_on(err, RS_INPUT, "sinks", "has no meaning without a window: all tokens are seen");
  if (p->norm_order == RS_NORM_POST && p->norm == RS_NORM_NONE)
    return rs_fail_on(err, RS_INPUT, "norm_order", "has no meaning without a norm (norm: layer, or rms)");
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
  if (sees_ahead(form)) return (rs_mask){.kind = RS_BIDIRECTIONAL};
  if (window == RS_NO_COUNT) return (rs_mask){.kind = RS_CAUSAL};
  if (sinks == RS_NO_COUNT) return (rs_mask){.kind = RS_WINDOW, .window = window};
  return (rs_mask){.kind = RS_WINDOW_SINKS, .window = window, .sinks = sinks};
}

static rs_norm plain_norm(const rs_shape_params *p) {
  return (rs_norm){.kind = p->norm, .bias = p->biases && p->norm == RS_NORM_LAYER, .epsilon = p->epsilon};
}

static rs_block plain_block(const rs_shape_params *p, rs_form form) {
  const rs_norm norm = plain_norm(p), none = {.kind = RS_NORM_NONE};
  bool cross = form == RS_ENCODER_DECODER, post = p->norm_order == RS_NORM_POST;
  const rs_norm before = post ? none : norm, after = post ? norm : none;
  return (rs_block){
      .before_attention = before,
      .after_attention = after,
      .before_feed_forward = before,
      .after_feed_forward = after,
      .norm_sums = post,
      .attention = {.heads = p->heads,
                    .kv_heads = p->kv_heads,
                    .head_dim = p->head_dim,
                    .qkv_bias = p->biases,
                    .output_bias = p->biases,
                    .qk_norm = p->qk_norm ? norm : none},
      .cross = cross,
      .before_cross = cross ? before : none,
      .after_cross = cross ? after : none,
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
  if (p->norm_order == RS_NORM_PRE) stack->final_norm = plain_norm(p);
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
  *shape = (rs_shape){.form = form,
                      .width = p->width,
                      .pool = p->pool,
                      .patches_alone = form == RS_VISION && !p->class_token,
                      .distillation_token = p->distilled != RS_PREDICTS_CLASS,
                      .prediction = p->distilled,
                      .embedding_scale = 1,
                      .tied = p->tied,
                      .output_scale = 1};
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

/* ---- axes -------------------------------------------------------------------------------------------------------- */

bool rs_entry_failed(const rs_entry *e) {
  return e->config->problems->count > e->problems_before;
}

/* Takes over the methods; NULL: the node's items are the values. */
static void add_axis(rs_entry *e, const rs_node *node, const char *prefix, rs_variants *methods) {
  size_t axis = e->choices.count;
  bool grown = RS_GROW(e->axes, &e->axis_room, axis + 1, NULL) == RS_OK;
  if (!grown || !rs_choices_add(&e->choices, methods != NULL ? methods->count : node->count)) {
    rs_problem_memory(e->config->problems);
    if (methods != NULL) rs_variants_clear(methods);
    return;
  }
  e->axes[axis] = (rs_entry_axis){.node = node, .methods = methods != NULL ? *methods : (rs_variants){0}};
  snprintf(e->axes[axis].name, sizeof e->axes[axis].name, "%.20s%.40s", prefix, node->key);
}

static void add_methods(rs_entry *e, const rs_node *node, const char *prefix) {
  rs_variants methods = {0};
  rs_read_recipes(e->config->problems, node, &methods);
  add_axis(e, node, prefix, &methods);
}

/* Keys that are no parameters, and so never axes. */
static bool stands_alone(const char *key) {
  static const char *const keys[] = {"name", "folder", "zip", "train", "tune", "layers", "teacher"};
  for (size_t i = 0; i < RS_COUNT(keys); i++)
    if (strcmp(key, keys[i]) == 0) return true;
  return false;
}

/* The lists among the values of a mapping. `prefix` stands before their names: "train.". */
static void add_axes(rs_entry *e, const rs_node *mapping, const char *prefix) {
  for (size_t i = 0; mapping->kind == RS_MAPPING && i < mapping->count; i++) {
    const rs_node *child = &mapping->items[i];
    if (stands_alone(child->key)) continue;
    if (strcmp(child->key, "method") == 0)
      add_methods(e, child, prefix);
    else if (child->kind == RS_SEQUENCE && child->count == 0)
      rs_problem(e->config->problems, child, "is an empty list");
    else if (child->kind == RS_SEQUENCE)
      add_axis(e, child, prefix, NULL);
  }
}

void rs_entry_find_axes(rs_entry *e) {
  const rs_node *layers = rs_node_get(e->node, "layers");
  const char *const inner[] = {"train", "tune"};
  add_axes(e, e->node, "");
  for (size_t i = 0; i < RS_COUNT(inner); i++) {
    const rs_node *node = rs_node_get(e->node, inner[i]);
    char prefix[8];
    snprintf(prefix, sizeof prefix, "%s.", inner[i]);
    if (node != NULL) add_axes(e, node, prefix);
  }
  for (size_t i = 0; layers != NULL && layers->kind == RS_SEQUENCE && i < layers->count; i++) {
    char prefix[32];
    snprintf(prefix, sizeof prefix, "layers[%zu].", i);
    add_axes(e, &layers->items[i], prefix);
  }
}

void rs_entry_clear(rs_entry *e) {
  for (size_t a = 0; a < e->choices.count; a++) rs_variants_clear(&e->axes[a].methods);
  free(e->axes);
  rs_choices_clear(&e->choices);
}

static const rs_entry_axis *axis_of(const rs_entry *e, const rs_node *node) {
  for (size_t a = 0; a < e->choices.count; a++)
    if (e->axes[a].node == node) return &e->axes[a];
  return NULL;
}

const rs_node *rs_entry_value(const void *entry, const rs_node *child) {
  const rs_entry *e = entry;
  const rs_entry_axis *list = axis_of(e, child);
  if (list == NULL || list->methods.count > 0) return child;
  return &child->items[rs_choices_pick(&e->choices, (size_t)(list - e->axes), e->combination)];
}

const rs_variant *rs_entry_method(const rs_entry *e, const rs_node *mapping) {
  const rs_node *node = mapping != NULL ? rs_node_get(mapping, "method") : NULL;
  const rs_entry_axis *list = node != NULL ? axis_of(e, node) : NULL;
  return list != NULL && list->methods.count > 0
             ? &list->methods.items[rs_choices_pick(&e->choices, (size_t)(list - e->axes), e->combination)]
             : NULL;
}

void rs_entry_report(const rs_entry *e, const rs_err *why) {
  const rs_node *node = *why->subject != '\0' ? rs_node_get(e->node, why->subject) : NULL;
  if (why->status == RS_MEMORY)
    rs_problem_memory(e->config->problems);
  else
    rs_problem(e->config->problems, node != NULL ? rs_entry_value(e, node) : e->node, "%s%s%s",
               node == NULL ? why->subject : "", node == NULL && *why->subject != '\0' ? ": " : "", why->message);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static void refuse_rule(const rs_entry *e, const rs_node *node, const rs_layer_rule *rule, bool ranged, rs_form form) {
  rs_problems *problems = e->config->problems;
  if (ranged == (rule->every > 0)) rs_problem(problems, node, "needs {every: N} or {from: I, to: J}, one of the two");
  if (rule->to < rule->from)
    rs_problem(problems, node, "ends with block %zu, before it begins with %zu", rule->to, rule->from);
  if (rule->method == NULL && rule->window == RS_NO_COUNT)
    rs_problem(problems, node, "changes nothing (give it a method or a window)");
  if (rule->sinks != RS_NO_COUNT && rule->window == RS_NO_COUNT)
    rs_problem(problems, node, "has sinks without a window");
  if (rule->window != RS_NO_COUNT && sees_ahead(form))
    rs_problem(problems, node, "has a window of causal heads, but the task's models (%s) see both ways",
               rs_form_words[form]);
}

static void read_rule(const rs_entry *e, const rs_node *node, const rs_shape_params *params, rs_form form,
                      rs_layer_rule *rule) {
  static const char *const others[] = {"method", NULL};
  const double blocks = (double)params->blocks, longest = 1 << 28;
  const rs_param fields[] = {
      {RS_FIELD(rs_layer_rule, every), .min = 1, .max = blocks},
      {RS_FIELD(rs_layer_rule, from), .max = blocks - 1},
      {RS_FIELD(rs_layer_rule, to), .max = blocks - 1},
      {RS_FIELD(rs_layer_rule, window), .min = 1, .max = longest},
      {RS_FIELD(rs_layer_rule, sinks), .min = 1, .max = longest},
  };
  const rs_record record = {.what = "a rule of layers", RS_RECORD_FIELDS(fields), .others = others, .partial = true};
  const rs_chooser chooser = {rs_entry_value, e};
  size_t before = e->config->problems->count;
  if (!rs_expect(e->config->problems, node, RS_MAPPING, "a mapping, like {every: 4, method: nope}")) return;
  *rule = (rs_layer_rule){
      .to = params->blocks - 1, .method = rs_entry_method(e, node), .window = RS_NO_COUNT, .sinks = RS_NO_COUNT};
  rs_record_read(e->config->problems, node, &record, &chooser, rule);
  bool ranged = rs_node_get(node, "from") != NULL || rs_node_get(node, "to") != NULL;
  if (e->config->problems->count == before) refuse_rule(e, node, rule, ranged, form);
}

rs_layer_rule *rs_entry_rules(const rs_entry *e, const rs_shape_params *params, rs_form form, size_t *count) {
  const rs_node *layers = rs_node_get(e->node, "layers");
  bool listed =
      layers != NULL && rs_expect(e->config->problems, layers, RS_SEQUENCE, "a list, like [{every: 4, method: nope}]");
  *count = listed ? layers->count : 0;
  rs_layer_rule *rules = rs_alloc(*count, sizeof *rules, NULL);
  if (rules == NULL) rs_problem_memory(e->config->problems);
  for (size_t i = 0; i < *count && rules != NULL; i++) {
    read_rule(e, &layers->items[i], params, form, &rules[i]);
  }
  if (!rs_entry_failed(e)) return rules;
  free(rules);
  return NULL;
}

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

/* Whether training fills a table with a row for each position. */
static bool has_table(const rs_recipe *recipe) {
  return recipe->method->embed != NULL && recipe->method->embed->by_position;
}

/* A recipe keeps the length it is trained at, whatever its model sees later; but a table grows with its model. */
static void keep_length(rs_recipe *recipe, const rs_model *geometry, size_t tokens) {
  int index = rs_settings_find(&recipe->settings, "train_length");
  if (has_table(recipe) && tokens < geometry->train_length) tokens = geometry->train_length;
  rs_value *value = index >= 0 ? &recipe->settings.values[index] : NULL;
  if (value == NULL || value->given) return;
  *value = (rs_value){.set = true, .choice = RS_NO_WORD, .number = (double)tokens};
}

/* What the mapping's method is made of, before it is resolved. */
static rs_status init_recipe(const rs_entry *e, const rs_node *mapping, const rs_recipe *otherwise, rs_recipe *recipe,
                             rs_err *err) {
  const rs_variant *method = rs_entry_method(e, mapping);
  const rs_recipe given = method != NULL ? (rs_recipe){method->method, method->settings} : *otherwise;
  return given.method != NULL ? rs_recipe_copy(recipe, &given, err)
                              : rs_recipe_init(recipe, rs_method_find("rope"), err);
}

bool rs_entry_recipe(const rs_entry *e, const rs_node *mapping, const rs_recipe *otherwise, const rs_model *geometry,
                     size_t tokens, rs_recipe *recipe) {
  const rs_node *node = rs_node_get(mapping, "method");
  rs_err why = {0};
  rs_status status = init_recipe(e, mapping, otherwise, recipe, &why);
  if (status == RS_OK) status = rs_recipe_resolve(recipe, geometry, &why);
  if (status == RS_OK) status = rs_recipe_check(recipe, geometry, &why);
  if (status == RS_OK) keep_length(recipe, geometry, tokens);
  if (status == RS_OK) return true;
  rs_recipe_clear(recipe);
  if (status == RS_MEMORY)
    rs_problem_memory(e->config->problems);
  else
    rs_problem(e->config->problems, node != NULL ? node : mapping, "%s%s%s", why.subject,
               *why.subject != '\0' ? ": " : "", why.message);
  return false;
}

static bool same_method(const rs_variant *a, const rs_variant *b) {
  bool same = a->method == b->method;
  for (size_t p = 0; same && p < a->settings.count; p++) {
    const rs_value *x = &a->settings.values[p], *y = &b->settings.values[p];
    same = x->given == y->given && rs_value_same(x, y);
  }
  return same;
}

/* The recipe of rule `wanted`, which an earlier one may have made, too: its index among the checkpoint's. */
static size_t rule_recipe(const rs_entry *e, const rs_layer_rule *rules, size_t wanted, const rs_model *geometry,
                          size_t *numbers, rs_checkpoint *checkpoint) {
  static const rs_recipe none = {0};
  const rs_node *layers = rs_node_get(e->node, "layers");
  for (size_t r = 0; r < layers->count && numbers[wanted] == 0; r++)
    if (numbers[r] > 0 && same_method(rules[r].method, rules[wanted].method)) numbers[wanted] = numbers[r];
  if (numbers[wanted] == 0 && rs_entry_recipe(e, &layers->items[wanted], &none, geometry, checkpoint->trained_tokens,
                                              &checkpoint->recipes[checkpoint->recipe_count]))
    numbers[wanted] = checkpoint->recipe_count++;
  return numbers[wanted];
}

/* Blocks name recipes in the order in which they have them, each once. Returns how many keep the checkpoint's own. */
static size_t number_recipes(const rs_entry *e, const rs_layer_rule *rules, size_t *numbers, const rs_model *geometry,
                             rs_checkpoint *checkpoint) {
  rs_stack *stacks[] = {&checkpoint->shape.decoder, &checkpoint->shape.encoder};
  size_t plain = 0;
  for (size_t s = 0; s < RS_COUNT(stacks); s++)
    for (size_t b = 0; b < stacks[s]->count && !rs_entry_failed(e); b++) {
      size_t *recipe = &stacks[s]->blocks[b].recipe;
      plain += *recipe == 0;
      if (*recipe > 0) *recipe = rule_recipe(e, rules, *recipe - 1, geometry, numbers, checkpoint);
    }
  return plain;
}

/* A recipe that each layer has for itself is the first's of its blocks; the others get copies. */
static rs_status part_layers(rs_checkpoint *checkpoint, rs_err *err) {
  rs_stack *stacks[] = {&checkpoint->shape.decoder, &checkpoint->shape.encoder};
  size_t capacity = checkpoint->recipe_count, shared = checkpoint->recipe_count;
  for (size_t r = 0; r < shared; r++)
    for (size_t s = 0, layers = 0; s < RS_COUNT(stacks) && rs_recipe_by_layer(&checkpoint->recipes[r]); s++)
      for (size_t b = 0; b < stacks[s]->count; b++) {
        rs_block *block = &stacks[s]->blocks[b];
        if (block->recipe != r || layers++ == 0) continue;
        RS_TRY(RS_GROW(checkpoint->recipes, &capacity, checkpoint->recipe_count + 1, err));
        block->recipe = checkpoint->recipe_count;
        RS_TRY(rs_recipe_of_layer(&checkpoint->recipes[r], layers - 1, &checkpoint->recipes[block->recipe], err));
        checkpoint->recipe_count++;
      }
  return RS_OK;
}

void rs_entry_recipes(const rs_entry *e, const rs_layer_rule *rules, size_t rule_count, const rs_model *geometry,
                      rs_checkpoint *checkpoint) {
  static const rs_recipe none = {0};
  const rs_node *layers = rs_node_get(e->node, "layers");
  size_t *numbers = rs_alloc(rule_count, sizeof *numbers, NULL), plain = 0;
  checkpoint->recipes = rs_alloc(1 + rule_count, sizeof *checkpoint->recipes, NULL);
  if (numbers == NULL || checkpoint->recipes == NULL) {
    rs_problem_memory(e->config->problems);
  } else if (rs_entry_recipe(e, e->node, &none, geometry, checkpoint->trained_tokens, &checkpoint->recipes[0])) {
    checkpoint->recipe_count = 1;
    plain = number_recipes(e, rules, numbers, geometry, checkpoint);
    if (!rs_entry_failed(e) && part_layers(checkpoint, NULL) != RS_OK) rs_problem_memory(e->config->problems);
  }
  free(numbers);
  if (plain == 0 && !rs_entry_failed(e))
    rs_problem(e->config->problems, layers,
               "gives every block a method of its own: the checkpoint's has none left (leave it a block)");
}

void rs_entry_tuned_recipes(const rs_entry *e, const rs_model *geometry, rs_checkpoint *checkpoint) {
  const rs_node *tune = rs_node_get(e->node, "tune");
  rs_err why = {0};
  if (rs_entry_method(e, tune) == NULL && !has_table(&checkpoint->recipes[0])) return;
  checkpoint->tuned_recipes = rs_alloc(checkpoint->recipe_count, sizeof *checkpoint->tuned_recipes, &why);
  if (checkpoint->tuned_recipes != NULL && rs_entry_recipe(e, tune, &checkpoint->recipes[0], geometry,
                                                           checkpoint->trained_tokens, &checkpoint->tuned_recipes[0]))
    (void)rs_recipes_with(checkpoint->recipes, checkpoint->recipe_count, checkpoint->tuned_recipes, &why);
  if (why.status != RS_OK) rs_entry_report(e, &why);
}
