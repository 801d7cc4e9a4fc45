/* test_run_command.c: `ropescope run`: its files, rows and manifest. */
#include "../fixtures/program.h"

#include <sys/stat.h>

TestSuite(run_command, .init = enter_folder, .fini = leave_folder);

/* ---- run --------------------------------------------------------------------------------------------------------- */

Test(run_command, run__files_rows_and_lines) {
  run_small("o", NULL, NULL, NULL);
  char *names = names_in("o", ""), *rest = NULL;
  cr_expect_str_eq(names,
                   "config.yaml decay.csv distance_mass.csv manifest.json needle.csv ood_angles.csv "
                   "score_by_distance.csv summary.csv timings.csv",
                   "%s", names);
  for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
    size_t length;
    char *path = rs_path_join("o", name, NULL), *text = read_path(path, &length);
    cr_expect_null(memchr(text, '\r', length), "%s has a CR", name);
    cr_expect_gt(length, 0, "%s", name);
    if (ends_with(name, ".csv")) {
      rs_table *table = table_of(text, name);
      cr_expect_eq(text[length - 1], '\n', "%s", name);
      cr_expect_gt(table->rows, 0, "%s", name);
      cr_expect_str_eq(table->header[0], "cell", "%s", name);
      rs_table_free(table);
    }
    free(text);
    free(path);
  }
  free(names);
}

Test(run_command, run__a_row_for_each_cell_in_order) {
  static const char *const methods[] = {"rope",    "yarn scale=dynamic", "yarn scale=4", "self_extend", "alibi",
                                        "learned", "sinusoidal"};
  static const char *const sources[] = {"needle depth=0.25", "needle depth=0.75", "gaussian"};
  static const char *const lengths[] = {"32", "100"}, *const depths[] = {"0.25", "0.75", ""};
  run_small("o", NULL, NULL, NULL);
  rs_table *table = read_table("o/summary.csv");
  cr_assert_eq(table->rows, SMALL_CELLS, "%zu rows", table->rows);
  for (size_t row = 0; row < table->rows; row++) {
    size_t method = row / 12, length = row / 6 % 2, source = row / 2 % 3;
    cr_expect_eq(number(table, row, "cell"), (double)row);
    cr_expect_str_eq(field(table, row, "model"), "tiny");
    cr_expect_str_eq(field(table, row, "method"), methods[method]);
    cr_expect_str_eq(field(table, row, "length_tokens"), lengths[length]);
    cr_expect_str_eq(field(table, row, "source"), sources[source]);
    cr_expect_eq(number(table, row, "seed"), (double)(row % 2));
    cr_expect_str_eq(field(table, row, "heads"), "1 3");
    cr_expect_str_eq(field(table, row, "depth"), depths[source]);
    cr_expect_str_eq(field(table, row, "scale"), method == 1 ? (length == 0 ? "1" : "1.5625") : method == 2 ? "4" : "");
    static const char *const of_tables[] = {"mean_cosine_at_length", "ood_pairs", "first_violation_tokens"};
    for (size_t i = 0; i < RS_COUNT(of_tables); i++) /* the same for every source and seed */
      if (rs_table_column(table, of_tables[i]) >= 0)
        cr_expect_str_eq(field(table, row, of_tables[i]), field(table, row - row % 6, of_tables[i]));
    bool undefined = method == 5 && length == 1;
    cr_expect_str_eq(field(table, row, "status"), undefined ? "domain" : "ok");
    cr_expect_str_eq(field(table, row, "message"),
                     undefined ? "learned: position 99 is beyond the table of 64 rows" : "");
    cr_expect_eq(strlen(field(table, row, "entropy_nats")) == 0, undefined);
    cr_expect_eq(strlen(field(table, row, "entropy_nats_se")) == 0, undefined);
    cr_expect_eq(strlen(field(table, row, "needle_weight")) == 0, undefined || source == 2);
  }
  rs_table_free(table);
}

Test(run_command, run__undefined_cells_are_told_and_status_is_0) {
  write_file("small.yaml", small_config);
  result got = run(&(command){.arguments = {"run", "small.yaml"}});
  cr_expect_eq(got.status, 0);
  cr_expect_str_eq(got.out, "", "%s", got.out);
  cr_expect_not_null(strstr(got.err, "84 cells in "), "%s", got.err);
  cr_expect_not_null(
      strstr(got.err, "6 of them without values: see status and message in results/small/summary.csv (cell "), "%s",
      got.err);
  cr_expect(exists("results/small/summary.csv"));
  cr_expect_null(strchr(got.err, '\033'), "%s", got.err);
  cr_expect_null(strchr(got.err, '\r'), "%s", got.err);
  result_clear(&got);
}

/* A column of a parameter is empty where nothing gives it. */
Test(run_command, run__columns_of_parameters__are_empty_where_there_are_none) {
  write_file("c.yaml", "model: {head_dim: 8, heads: 2, train_length: 64}\nlengths: [64]\nmetrics: [decay]\n"
                       "methods: [yarn, {name: yarn, factor: 2, label: b}, rope]\ncolumns: [factor]\n");
  run_well(&(command){.arguments = {"run", "c.yaml", "--out", "o", "--quiet"}});
  rs_table *table = read_table("o/summary.csv");
  static const char *const factors[] = {"", "2", ""};
  cr_assert_eq(table->rows, 3);
  for (size_t i = 0; i < 3; i++) cr_expect_str_eq(field(table, i, "factor"), factors[i]);
  rs_table_free(table);
}

/* Somebody's file under one of our names stays; a folder that a run has made is made anew. */
Test(run_command, run__folder_of_something_else__is_left_alone) {
  write_file("mine.yaml", "model: {head_dim: 8, heads: 2, train_length: 64}\nmethods: [rope]\nlengths: [64]\n");
  cr_assert_eq(mkdir("theirs", 0777), 0);
  write_file("theirs/decay.csv", "precious\n");
  result got = run(&(command){.arguments = {"run", "mine.yaml", "--out", "theirs"}});
  cr_expect_eq(got.status, 1);
  cr_expect_not_null(strstr(got.err, "theirs/decay.csv is there already, and no manifest.json says that a run made it"),
                     "%s", got.err);
  cr_expect(exists("theirs/decay.csv") && !exists("theirs/summary.csv"));
  result_clear(&got);
  static const char *const others[] = {"", "cell", "cells,a\n"};
  for (size_t i = 0; i < RS_COUNT(others); i++) {
    write_file("theirs/decay.csv", others[i]);
    got = run(&(command){.arguments = {"run", "mine.yaml", "--out", "theirs"}});
    cr_expect(got.status == 1 && !exists("theirs/summary.csv"), "\"%s\": %s", others[i], got.err);
    result_clear(&got);
  }
  write_file("theirs/decay.csv", "cell,model,method\n"); /* a result that was kept without its manifest is made anew */
  got = run(&(command){.arguments = {"run", "mine.yaml", "--out", "theirs"}});
  cr_expect(got.status == 0 && exists("theirs/summary.csv"), "%s", got.err);
  result_clear(&got);
  for (int again = 0; again < 2; again++) {
    got = run(&(command){.arguments = {"run", "mine.yaml", "--out", "theirs", "--quiet"}});
    cr_expect(got.status == 0 && *got.err == '\0', "%s", got.err);
    result_clear(&got);
  }
  got = run(&(command){.arguments = {"run", "mine.yaml", "--out", "o", "--quiet", "--set", "tokens=[{text: 100}]"}});
  cr_expect(got.status == 1 &&
                strstr(got.err, "\nropescope: no cell has values: see status and message in o/summary.csv\n") != NULL,
            "%s", got.err);
  result_clear(&got);
}

/* 1 where no cell has values: the config asked for nothing that there is. */
Test(run_command, run__status__0_with_some_values_1_with_none) {
  static const struct {
    const char *methods, *lengths;
    int status;
    const char *err; /* after "cells in T s: o\n" */
  } cases[] = {
      {"[learned]", "[64]", 0, ""},
      {"[learned]", "[64, 65]", 0,
       "1 of them without values: see status and message in o/summary.csv (cell 1: learned: position 64 is beyond the "
       "table of 64 rows)\n"},
      {"[learned, rope]", "[65]", 0,
       "1 of them without values: see status and message in o/summary.csv (cell 0: learned: position 64 is beyond the "
       "table of 64 rows)\n"},
      {"[learned]", "[65]", 1,
       "ropescope: cell 0: learned: position 64 is beyond the table of 64 rows\nropescope: no cell has values: see "
       "status and message in o/summary.csv\n"},
      {"[learned]", "[65, 90]", 1,
       "ropescope: cell 0: learned: position 64 is beyond the table of 64 rows\nropescope: no cell has values: see "
       "status and message in o/summary.csv\n"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text yaml = {0};
    rs_text_printf(&yaml, "model: {head_dim: 8, heads: 2, train_length: 64}\nmethods: %s\nlengths: %s\n",
                   cases[i].methods, cases[i].lengths);
    write_file("c.yaml", yaml.data);
    result got = run(&(command){.arguments = {"run", "c.yaml", "--out", "o", "--force"}});
    const char *line = strstr(got.err, " s: o\n");
    cr_expect_eq(got.status, cases[i].status, "%s: status %d", yaml.data, got.status);
    cr_expect(line != NULL && strcmp(line + 6, cases[i].err) == 0, "%s: %s", yaml.data, got.err);
    cr_expect(exists("o/summary.csv"));
    rs_text_clear(&yaml);
    result_clear(&got);
  }
}

Test(run_command, run__quiet_is_silent_and_print_fills_stdout) {
  write_file("small.yaml", small_config);
  result quiet = run(&(command){.arguments = {"run", "small.yaml", "--quiet", "--out", "o"}});
  cr_expect_eq(quiet.status, 0);
  cr_expect_str_eq(quiet.out, "");
  cr_expect_str_eq(quiet.err, "", "%s", quiet.err);
  char *print = output_of(&(command){.arguments = {"run", "small.yaml", "--quiet", "--out", "p", "--print"}});
  cr_expect_eq(strncmp(print, "small at 100 tokens, mean over seeds, heads and models\n", 55), 0, "%s", print);
  static const char *const rows[] = {"\nrope ", "\nyarn scale=dynamic ", "\nalibi ", "\nlearned ", "\nsinusoidal "};
  for (size_t i = 0; i < RS_COUNT(rows); i++) cr_expect_not_null(strstr(print, rows[i]), "%s in %s", rows[i], print);
  free(print);
  result_clear(&quiet);
}

Test(run_command, run__manifest_tells_config_and_columns) {
  char sha[65];
  size_t length;
  rs_tree *tree;
  rs_err err = {0};
  run_small("o", NULL, NULL, NULL);
  char *config = read_path("o/config.yaml", &length);
  rs_sha256_hex(config, length, sha);
  char *text = read_path("o/manifest.json", &length);
  cr_assert_eq(rs_json_read(text, length, "manifest.json", &tree, &err), RS_OK, "%s", err.message);
  cr_expect_str_eq(rs_node_get(&tree->root, "config_sha256")->text, sha);
  cr_expect_str_eq(rs_node_get(&tree->root, "config")->text, config);
  cr_expect_str_eq(rs_node_get(&tree->root, "name")->text, "small");
  const rs_node *files = rs_node_get(&tree->root, "files");
  cr_expect_eq(files->count, 6, "%zu", files->count);
  for (size_t f = 0; f < files->count; f++) {
    const rs_node *columns = rs_node_get(&files->items[f], "columns");
    char *path = rs_path_join("o", rs_node_get(&files->items[f], "file")->text, NULL);
    rs_table *table = read_table(path);
    cr_assert_eq(table->columns, columns->count, "%s: %zu columns, the manifest has %zu", path, table->columns,
                 columns->count);
    for (size_t c = 0; c < columns->count; c++) {
      const char *unit = rs_node_get(&columns->items[c], "unit")->text;
      cr_expect_str_eq(table->header[c], rs_node_get(&columns->items[c], "name")->text);
      if (strcmp(unit, "nats") == 0) cr_expect_not_null(strstr(table->header[c], "_nats"), "%s", table->header[c]);
    }
    rs_table_free(table);
    free(path);
  }
  rs_tree_free(tree);
  free(text);
  free(config);
}

/* Every kind that took part: stage by stage, the temperature among them. */
Test(run_command, run__manifest_lists_every_kind) {
  static const char *const parts[] = {"\"identity\"",  "\"self_extend\"", "\"default\"",   "\"yarn\"",   "\"alibi\"",
                                      "\"learned\"",   "\"sinusoidal\"",  "\"log_n\"",     "\"needle\"", "\"gaussian\"",
                                      "\"sink_mass\"", "\"entropy\"",     "\"version\": 1"};
  run_small("o", NULL, NULL, NULL);
  char *text = read_path("o/manifest.json", NULL), *kinds = strstr(text, "\"kinds\"");
  cr_assert_not_null(kinds);
  *strstr(kinds, "\"files\"") = '\0';
  for (size_t i = 0; i < RS_COUNT(parts); i++) cr_expect_not_null(strstr(kinds, parts[i]), "no %s", parts[i]);
  free(text);
}

Test(run_command, run__set_and_lengths_change_the_config) {
  write_file("small.yaml", small_config);
  run_well(
      &(command){.arguments = {"run", "small.yaml", "--out", "o", "--lengths", "8,12,16", "--set", "methods[1].scale=2",
                               "--set", "seeds=1", "--set=sources=gaussian", "--set=metrics=[entropy]"}});
  rs_table *table = read_table("o/summary.csv");
  cr_expect_eq(table->rows, 6 * 3);
  cr_expect_str_eq(field(table, 1, "length_tokens"), "12");
  cr_expect_eq(number(table, 3, "scale"), 2);
  rs_table_free(table);
}

/* From 1024 on whole multiples of it are thousands; other numbers of tokens are whole. */
Test(run_command, print__tokens_as_people_count_them) {
  write_file("c.yaml", "name: brief\nmodel: {head_dim: 16, heads: 2, train_length: 64}\nmethods: rope\nseeds: 1\n"
                       "lengths: 64\nmetrics: first_violation\n");
  static const char *const cases[][2] = {
      {"1024", "brief at 1k tokens"}, {"1023", "brief at 1023 tokens"}, {"1536", "brief at 1536 tokens"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *out = output_of(&(command){
        .arguments = {"run", "c.yaml", "--quiet", "--force", "--out", "o", "--print", "--lengths", cases[i][0]}});
    cr_expect_eq(strncmp(out, cases[i][1], strlen(cases[i][1])), 0, "%s", out);
    free(out);
  }
}

Test(run_command, run__no_config_is_the_demo) {
  run_well(&(command){.arguments = {"run", "--quiet", "--lengths", "16,64", "--set", "metrics=[decay, ood_angles]"}});
  rs_table *table = read_table("results/quickstart/summary.csv");
  cr_expect_eq(table->rows % 2, 0);
  cr_expect_geq(table->rows, 14);
  rs_table_free(table);
}

/* Every column of the config's metrics, those that no source changes once; tokens as whole numbers or thousands. */
Test(run_command, print__the_columns_that_were_asked_for) {
  static const char *const once[] = {"first_violation_tokens", "ood_pairs", "ood_overshoot_rad"};
  static const char *const twice[] = {"median_distance_tokens", "entropy_nats", "entropy_share"};
  write_file("c.yaml", "name: wide\nmodel: {head_dim: 16, heads: 2, train_length: 1024}\nlengths: [64, 2k]\n"
                       "methods: [rope, {name: pi, factor: 4}]\nsources: [gaussian, needle]\nseeds: 1\nheads: 1\n"
                       "queries: {last: 2}\nmetrics: [first_violation, ood_angles, entropy, distance_mass, needle]\n");
  char *out = output_of(&(command){.arguments = {"run", "c.yaml", "--quiet", "--out", "o", "--print"}});
  cr_expect_eq(strncmp(out, "wide at 2k tokens, ", 19), 0, "%s", out);
  char *gaussian = strstr(out, "\nsource gaussian\n"), *needle = strstr(out, "\nsource needle\n");
  cr_assert(gaussian != NULL && needle != NULL && gaussian < needle, "%s", out);
  for (size_t i = 0; i < RS_COUNT(once); i++) {
    char *first = strstr(out, once[i]);
    cr_expect(first != NULL && first < gaussian && strstr(first + 1, once[i]) == NULL, "%s in %s", once[i], out);
  }
  for (size_t i = 0; i < RS_COUNT(twice); i++) {
    char *first = strstr(out, twice[i]);
    cr_expect(first > gaussian && first < needle && strstr(needle, twice[i]) != NULL, "%s in %s", twice[i], out);
  }
  cr_expect(strstr(out, "needle_win_rate") > needle, "%s", out);
  char *caveat = strstr(needle, "no ranking of trained models: "); /* stands before the first number */
  cr_expect(caveat != NULL && strstr(out, "no ranking") == caveat && caveat < strstr(needle, "\nmethod "), "%s", out);
  rs_table *table = read_table("o/summary.csv");
  char tokens[32];
  snprintf(tokens, sizeof tokens, " %.0f ", number(table, 2, "first_violation_tokens"));
  cr_expect_str_eq(field(table, 2, "length_tokens"), "2048");
  cr_expect_not_null(strstr(out, tokens), "%s in %s", tokens, out);
  cr_expect_null(strstr(out, "e+03"), "%s", out);
  rs_table_free(table);
  free(out);
}

/* A folder keeps what another config gave, unless --force says otherwise; the same config is run again. */
Test(run_command, run__folder_of_another_config__asks_for_force) {
  static const char config[] = "name: mine\nmodel: {head_dim: 8, heads: 2, train_length: 64}\nmethods: [rope]\n"
                               "lengths: [64]\nmetrics: [decay]\n";
  static const char same[] = "methods: rope\nmetrics: decay\nlengths: 64\nmodel: {train_length: 64, heads: 2, "
                             "head_dim: 8}\nname: mine\n";
  write_file("a.yaml", config);
  write_file("b.yaml", same);
  run_well(&(command){.arguments = {"run", "a.yaml"}});
  run_well(&(command){.arguments = {"run", "a.yaml"}});
  run_well(&(command){.arguments = {"run", "results/mine/config.yaml"}});
  run_well(&(command){.arguments = {"run", "b.yaml"}});
  char *before = read_path("results/mine/config.yaml", NULL);
  expect_failure(&(command){.arguments = {"run", "a.yaml", "--lengths", "32"}}, 2,
                 "ropescope: results/mine holds the results of another config: choose another --out or name, or "
                 "--force to replace them\n");
  char *after = read_path("results/mine/config.yaml", NULL);
  cr_expect_str_eq(before, after);
  run_well(&(command){.arguments = {"run", "a.yaml", "--lengths", "32", "--out", "elsewhere"}});
  run_well(&(command){.arguments = {"run", "a.yaml", "--lengths", "32", "--force"}});
  rs_table *table = read_table("results/mine/summary.csv");
  cr_expect_str_eq(field(table, 0, "length_tokens"), "32");
  rs_table_free(table);
  free(before);
  free(after);
}

/* Without summary.csv there is nothing to lose; a config that this version cannot read is another one. */
Test(run_command, run__folder_of_no_results_or_of_an_unknown_config) {
  write_file("a.yaml", "model: {head_dim: 8, heads: 2, train_length: 64}\nmethods: [rope]\nmetrics: [decay]\n");
  const command brief = {.arguments = {"run", "a.yaml", "--out", "o", "--lengths", "8"}};
  run_well(&(command){.arguments = {"run", "a.yaml", "--out", "o", "--lengths", "16"}});
  cr_assert_eq(remove("o/summary.csv"), 0);
  run_well(&brief);
  run_well(&brief);
  write_file("o/config.yaml", "methods: [of, another, time]\n");
  expect_failure(&brief, 2,
                 "ropescope: o holds the results of another config: choose another --out or name, or --force to "
                 "replace them\n");
}
