/* test_json_forms.c: show, solve and compare as JSON: the numbers of their other forms, and what these cannot say. */
#include "../fixtures/program.h"

TestSuite(json_forms, .init = enter_folder, .fini = leave_folder);

/* What a command prints as JSON with this exit status. Release with rs_tree_free. */
static rs_tree *tree_of(int status, const command *c) {
  rs_tree *tree;
  rs_err err = {0};
  result got = run(c);
  cr_assert_eq(got.status, status, "%s: status %d: %s", c->arguments[0], got.status, got.err);
  cr_assert_eq(rs_json_read(got.out, strlen(got.out), "stdout", &tree, &err), RS_OK, "%s: %.300s", err.message,
               got.out);
  result_clear(&got);
  return tree;
}

static const char *text_at(const rs_node *node, const char *key) {
  const rs_node *child = rs_node_get(node, key);
  cr_assert_not_null(child, "no %s", key);
  return child->kind == RS_SCALAR ? child->text : "[...]";
}

static void expect_text(const rs_node *node, const char *key, const char *want) {
  cr_expect_str_eq(text_at(node, key), want, "%s: %s", key, text_at(node, key));
}

/* Every column of a CSV text stands under "columns", field by field; empty fields are null. */
static void expect_columns(const rs_tree *tree, const char *csv) {
  rs_table *table = table_of(csv, "csv");
  const rs_node *columns = rs_node_get(&tree->root, "columns");
  cr_assert(columns != NULL && columns->count == table->columns);
  for (size_t c = 0; c < table->columns; c++) {
    const rs_node *column = &columns->items[c];
    cr_expect_str_eq(column->key, table->header[c]);
    cr_assert_eq(column->count, table->rows, "%s", column->key);
    for (size_t row = 0; row < table->rows; row++) {
      const char *want = table->fields[row * table->columns + c];
      cr_expect_str_eq(column->items[row].text, *want != '\0' ? want : "null", "%s %zu", column->key, row);
    }
  }
  rs_table_free(table);
}

Test(json_forms, show__names_its_recipe_and_length) {
  static const char *const tables[] = {"frequencies", "positions", "scale"};
  for (size_t i = 0; i < RS_COUNT(tables); i++) {
    const command csv = {.arguments = {"show", tables[i], "--model", "gpt-oss", "--length", "40"}};
    const command json = {.arguments = {"show", tables[i], "--model", "gpt-oss", "--length", "40", "--json"}};
    result got = run(&csv);
    rs_tree *tree = tree_of(0, &json);
    cr_expect_str_eq(got.err, "{name: yarn, factor: 32, truncate: false} on gpt-oss at 40 tokens\n", "%s", got.err);
    expect_text(&tree->root, "table", tables[i]);
    expect_text(&tree->root, "model", "gpt-oss");
    expect_text(&tree->root, "recipe", "{name: yarn, factor: 32, truncate: false}");
    expect_text(&tree->root, "length_tokens", "40");
    expect_columns(tree, got.out);
    rs_tree_free(tree);
    result_clear(&got);
  }
}

/* The longest that the model is published for, unless --length says otherwise; --quiet says nothing of it. */
Test(json_forms, show__default_length) {
  rs_tree *tree = tree_of(0, &(command){.arguments = {"show", "frequencies", "--model", "llama-3.1-8b", "--json"}});
  expect_text(&tree->root, "length_tokens", "131072");
  rs_tree_free(tree);
  char *help = output_of(&(command){.arguments = {"help", "show"}});
  cr_expect_not_null(strstr(help, "longest length that the model is"), "%s", help);
  result quiet = run(&(command){.arguments = {"show", "frequencies", "--model", "gpt-oss", "--quiet"}});
  cr_expect_str_eq(quiet.err, "");
  result_clear(&quiet);
  free(help);
}

/* Lists that are longer are counted. */
#define EXPLICIT_8 "{name: explicit, inv_freq: [8, 7, 6, 5, 4, 3, 2, 1], rotary_dim: 16}"
#define EXPLICIT_9 "{name: explicit, inv_freq: [9, 8, 7, 6, 5, 4, 3, 2, 1], rotary_dim: 18}"

/* --set changes the recipe that the model publishes, or that of --method. */
Test(json_forms, show__set_on_models) {
  static const struct {
    const char *arguments[8], *recipe;
  } cases[] = {
      {{"--model", "gpt-oss", "--set", "factor=2"}, "{name: yarn, factor: 2, truncate: false}"},
      {{"--model", "llama-2-7b", "--method", "yarn", "--set", "factor=4", "--set", "beta_fast=16"},
       "{name: yarn, factor: 4, beta_fast: 16}"},
      {{"--model", "llama-2-7b", "--method", "yarn", "--set", "methods[0].factor=4"}, "{name: yarn, factor: 4}"},
      {{"--model", "llama-2-7b", "--method", EXPLICIT_8}, EXPLICIT_8},
      {{"--model", "llama-2-7b", "--method", EXPLICIT_9}, "{name: explicit, inv_freq: 9 numbers, rotary_dim: 18}"},
      {{"--model", "llama-2-7b", "--set", "methods=[{name: pi, factor: 8}]"}, "{name: pi, factor: 8}"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {.arguments = {"show", "frequencies", "--length", "1k", "--json"}};
    for (size_t k = 0; k < RS_COUNT(cases[i].arguments) && cases[i].arguments[k] != NULL; k++)
      c.arguments[5 + k] = cases[i].arguments[k];
    rs_tree *tree = tree_of(0, &c);
    const char *recipe = text_at(&tree->root, "recipe");
    cr_expect_str_eq(recipe, cases[i].recipe, "%s", recipe);
    rs_tree_free(tree);
  }
  result got = run(&(command){.arguments = {"show", "frequencies", "--model", "gpt-oss", "--set", "fcator=2"}});
  cr_expect(got.status == 2 && strstr(got.err, "did you mean factor?") != NULL, "%s", got.err);
  result_clear(&got);
}

/* Of a config's keys, --set changes tokens and precision of a model, too; --length chooses among a config's lengths. */
Test(json_forms, show__tokens_precision_and_length) {
  write_file("c.yaml", "model: {head_dim: 8, train_length: 64}\nmethods: [pi]\nlengths: [16, 128]\n");
  rs_tree *tree = tree_of(0, &(command){.arguments = {"show", "frequencies", "c.yaml", "--length", "256", "--json"}});
  expect_text(&tree->root, "length_tokens", "256");
  rs_tree_free(tree);
  char *out = output_of(&(command){.arguments = {"show", "frequencies", "--model", "llama-2-7b", "--method", "rope",
                                                 "--length", "4", "--set", "precision=bf16"}});
  rs_table *table = table_of(out, "bf16");
  double omega = number(table, 63, "omega_rad_per_token"), exact = pow(1e4, -63.0 / 64);
  cr_expect(omega != exact && fabs(omega - exact) <= 0x1p-9 * exact && fmod(omega, 0x1p-21) == 0, "%.17g", omega);
  rs_table_free(table);
  free(out);
  out = output_of(&(command){.arguments = {"show", "positions", "--model", "qwen2-vl", "--length", "8", "--set",
                                           "tokens=[{text: 1}, {image: [2, 3]}]"}});
  cr_expect_not_null(strstr(out, "\n6,1,1,2,3\n"), "%s", out);
  free(out);
}

Test(json_forms, solve__value_and_what_it_means) {
  const command text = {.arguments = {"solve", "length", "--criterion", "ood", "--model", "llama-2-7b"}};
  const command json = {.arguments = {"solve", "length", "--criterion", "ood", "--model", "llama-2-7b", "--json"}};
  char *out = output_of(&text), *rest = NULL;
  rs_tree *tree = tree_of(0, &json);
  expect_text(&tree->root, "quantity", "length");
  expect_text(&tree->root, "value", strtok_r(out, "\n", &rest));
  size_t rows = 0;
  for (char *line; (line = strtok_r(NULL, "\n", &rest)) != NULL; rows++) {
    char name[12] = "";
    cr_assert_eq(sscanf(line, "%11s", name), 1);
    expect_text(&tree->root, name, line + 11);
  }
  cr_expect(rows >= 3 && tree->root.count == rows + 2, "%zu rows", rows);
  rs_tree_free(tree);
  free(out);
}

Test(json_forms, solve__all_criteria) {
  rs_tree *tree = tree_of(0, &(command){.arguments = {"solve", "length", "--model", "llama-2-7b", "--json"}});
  const rs_node *criteria = rs_node_get(&tree->root, "criteria");
  cr_assert_eq(criteria->count, 4);
  expect_text(&criteria->items[0], "criterion", "first_violation");
  expect_text(&criteria->items[0], "value", "1707");
  expect_text(&criteria->items[2], "criterion", "ood");
  expect_text(&criteria->items[2], "value", "4097");
  expect_text(&criteria->items[2], "why_not", "null");
  expect_text(&criteria->items[3], "value", "null");
  expect_text(&criteria->items[3], "why_not", "needs --base, the base to be judged");
  rs_tree_free(tree);
}

Test(json_forms, compare__sides_difference_and_causes) {
  const char *const sides[] = {"gpt-oss", "{name: yarn, truncate: true}"};
  rs_tree *tree = tree_of(1, &(command){.arguments = {"compare", sides[0], sides[1], "--json"}});
  const rs_node *a = rs_node_get(&tree->root, "a"), *b = rs_node_get(&tree->root, "b");
  expect_text(a, "origin", "preset");
  expect_text(b, "origin", "recipe");
  expect_text(b, "text", sides[1]);
  expect_text(b, "model", "gpt-oss");
  expect_text(b, "recipe", "{name: yarn, factor: 32}");
  expect_text(a, "pairs", "32");
  expect_text(a, "pair_layout", "half_split");
  expect_text(&tree->root, "equal", "false");
  const rs_node *differs = rs_node_get(&tree->root, "differs");
  cr_expect(differs->count == 1 && strcmp(differs->items[0].text, "frequencies") == 0);
  expect_text(&tree->root, "pairs_that_differ", "9");
  expect_text(&tree->root, "worst_pair", "17");
  const rs_node *causes = rs_node_get(&tree->root, "likely_causes");
  cr_assert(causes != NULL && causes->count > 0);
  expect_text(&causes->items[0], "text", "B is A with truncate: true (A has false)");
  expect_text(&causes->items[0], "explains_all", "true");
  result csv = run(&(command){.arguments = {"compare", sides[0], sides[1], "--csv"}});
  expect_columns(tree, csv.out);
  result_clear(&csv);
  rs_tree_free(tree);
}

/* A dump knows no model, no recipe and no length: null. */
Test(json_forms, compare__what_a_dump_does_not_say_is_null) {
  write_file("a.json", "[1, 0.5]");
  rs_tree *tree = tree_of(0, &(command){.arguments = {"compare", "a.json", "a.json", "--json"}});
  const rs_node *a = rs_node_get(&tree->root, "a");
  static const char *const unknown[] = {"model",        "recipe",      "length_tokens",     "attention_factor",
                                        "logit_factor", "pair_layout", "beyond_frequencies"};
  for (size_t i = 0; i < RS_COUNT(unknown); i++) expect_text(a, unknown[i], "null");
  expect_text(a, "origin", "dump");
  expect_text(&tree->root, "equal", "true");
  cr_expect_eq(rs_node_get(&tree->root, "differs")->count, 0);
  expect_text(&tree->root, "worst_pair", "null");
  rs_tree_free(tree);
  expect_failure(&(command){.arguments = {"compare", "a.json", "a.json", "--json", "--csv"}}, 2,
                 "ropescope: --csv and --json are two forms: keep one\n");
}
