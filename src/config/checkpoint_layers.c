/* What the blocks of a checkpoint are trained with: its own method, and those that `layers` gives to some of them. */
#include <stdlib.h>
#include <string.h>

#include "checkpoints.h"

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
  if (rule->window != RS_NO_COUNT && rs_form_sees_ahead(form))
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
