/* test_plan_command.c: `ropescope plan`. */
#include "../fixtures/models.h"
#include "../fixtures/program.h"

TestSuite(plan_command, .init = enter_folder, .fini = leave_folder);

Test(plan_command, plan__counts_and_runs_nothing) {
  write_file("small.yaml", small_config);
  char *out = output_of(&(command){.arguments = {"plan", "small.yaml"}});
  cr_expect_not_null(strstr(out, "name            small\n"), "%s", out);
  cr_expect_not_null(
      strstr(out,
             "cells           84 (1 model, 7 methods, 2 lengths, 3 sources, 2 seeds)\nsummary.csv     84 rows of "),
      "%s", out);
  char *names = names_in(".", "");
  cr_expect_str_eq(names, "small.yaml", "%s", names);
  run_small("o", NULL, NULL, NULL);
  rs_table *table = read_table("o/summary.csv");
  char columns[64];
  snprintf(columns, sizeof columns, "84 rows of %zu columns\n", table->columns);
  cr_expect_not_null(strstr(out, columns), "%s: %s", columns, out);
  size_t rows = 0;
  static const char *const curves[] = {"decay", "distance_mass", "needle", "ood_angles", "score_by_distance"};
  for (size_t i = 0; i < RS_COUNT(curves); i++) {
    char path[64];
    snprintf(path, sizeof path, "o/%s.csv", curves[i]);
    rs_table *curve = read_table(path);
    rows += curve->rows;
    rs_table_free(curve);
  }
  double most = 0;
  cr_expect_eq(sscanf(strstr(out, "curves"), "curves at most %lf rows", &most), 1, "%s", out);
  cr_expect_geq(most, (double)rows);
  double bytes = 0, available = 0;
  cr_expect_not_null(strstr(out, "\ntime            rate unknown: run it, end it after some seconds"), "%s", out);
  cr_expect_eq(sscanf(strstr(out, "memory "), "memory %lf MiB of %lf available", &bytes, &available), 2, "%s", out);
  cr_expect(bytes > 0 && available > bytes, "%s", out);
  rs_table_free(table);
  free(names);
  free(out);
}

/* Time is told by the rate of the last run into the folder, or beside it. */
Test(plan_command, plan__tells_time_by_the_rate_of_a_run) {
  static const char *const folders[] = {"results/small", "results/other"};
  double seconds, rate;
  write_file("small.yaml", small_config);
  run_well(&(command){.arguments = {"run", "small.yaml", "--quiet"}});
  for (size_t i = 0; i < RS_COUNT(folders); i++) {
    char *out = output_of(&(command){.arguments = {"plan", "small.yaml", "--shard", "1/2", "--out", folders[i]}});
    const char *line = strstr(out, "\ntime ");
    cr_assert_eq(sscanf(line, "\ntime about %lf s at %lf flop/s, the rate of results/small\n", &seconds, &rate), 2,
                 "%s", out);
    cr_expect(seconds > 0 && rate > 0, "%s", out);
    cr_expect_not_null(strstr(line, " flop, about "), "%s", out);
    free(out);
  }
}

/* The part of each shard: together they have all cells and all work. */
Test(plan_command, plan__of_a_shard__is_its_part) {
  size_t all = 0;
  double shares = 0;
  write_file("small.yaml", small_config);
  for (int i = 1; i <= 3; i++) {
    char shard[8];
    size_t number = 0, of = 0, cells = 0, total = 0;
    double flops = 0, share = 0, least = 0, most = 0;
    snprintf(shard, sizeof shard, "%d/3", i);
    char *out = output_of(&(command){.arguments = {"plan", "small.yaml", "--shard", shard}});
    const char *line = strstr(out, "shard "), *work = line != NULL ? strstr(line, "; ") : NULL;
    cr_assert_not_null(work, "%s", out);
    cr_expect_eq(sscanf(line, "shard %zu/%zu %zu of %zu cells, %lf flop", &number, &of, &cells, &total, &flops), 5,
                 "%s", line);
    cr_expect_eq(sscanf(work, "; %lf %% of the work, where shards have %lf to %lf %%", &share, &least, &most), 3, "%s",
                 work);
    cr_expect(number == (size_t)i && of == 3 && total == 84 && flops > 0, "%s", line);
    cr_expect(least <= share && share <= most, "%s", work);
    all += cells;
    shares += share;
    free(out);
  }
  cr_expect_eq(all, 84);
  cr_expect_float_eq(shares, 100, 0.5); /* each to three digits */
}

/* What a run would warn of is told before it. */
Test(plan_command, plan__warns_as_run_does) {
  static const char want[] = "warning: scale: auto is 0.5 at 32 tokens";
  write_file("c.yaml", "model: {head_dim: 8, heads: 2, train_length: 64}\nmethods: [{name: pi, scale: auto}]\n"
                       "lengths: [32]\nmetrics: [decay]\n");
  result loud = run(&(command){.arguments = {"plan", "c.yaml"}});
  result quiet = run(&(command){.arguments = {"plan", "c.yaml", "--quiet"}});
  cr_expect(loud.status == 0 && strncmp(loud.err, want, strlen(want)) == 0, "%s", loud.err);
  cr_expect_str_eq(quiet.err, "");
  result_clear(&loud);
  result_clear(&quiet);
}

/* Each sequence is read once for the loss, and once for the rows of each layer; rows are products of 8 queries, 24 keys
 * and 8 dims, of 2 heads in 3 sequences. */
Test(plan_command, plan__of_a_checkpoint__counts_its_rows) {
  write_file("c.yaml", "checkpoint: {width: 16, train: {steps: 1, length: 16}}\ntask: copy\nsequences: 3\nlengths: "
                       "[24]\nmetrics: [loss, entropy]\nsources: [{name: model, layer: [0, 1]}]\nqueries: {last: 8}\n");
  write_file("d.yaml", "checkpoint: {width: 16, train: {steps: 1, length: 16}}\ntask: copy\nsequences: 3\nlengths: "
                       "[24]\nmetrics: [loss]\n");
  char *rows = output_of(&(command){.arguments = {"plan", "c.yaml"}});
  char *loss = output_of(&(command){.arguments = {"plan", "d.yaml"}});
  double reading = 0, plain = 0, products = 0;
  cr_expect_not_null(strstr(rows, "(1 checkpoint, 1 method, 1 length, 2 sources, 1 seed)"), "%s", rows);
  cr_expect_eq(sscanf(strstr(rows, "reading"), "reading %lf", &reading), 1);
  cr_expect_eq(sscanf(strstr(loss, "reading"), "reading %lf", &plain), 1);
  cr_expect_eq(sscanf(strstr(rows, "queries x keys"), "queries x keys %lf", &products), 1, "%s", rows);
  cr_expect_null(strstr(loss, "queries x keys"), "%s", loss);
  const double want = 2.0 * (2 * 8 * 24 * 8 * 2 * 3); /* of two layers */
  cr_expect(fabs(products / want - 1) < 0.01, "%g, not %g", products, want);
  cr_expect(fabs(reading / (3 * plain + want) - 1) < 0.01, "%g of %g", reading, plain);
  free(rows);
  free(loss);
}

/* Rows of a text are those of a pass of the checkpoint up to the layer, at each length: twice the tokens take more than
 * twice as much. */
Test(plan_command, plan__of_a_text__counts_its_passes) {
  double flops[2] = {0};
  for (size_t i = 0; i < 2; i++) {
    char yaml[1024];
    const char *model = model_path("llama3");
    snprintf(
        yaml, sizeof yaml,
        "model: {name: m, heads: 4, head_dim: 16, train_length: 64}\nlengths: [%d]\nmethods: [rope, nope]\nmetrics: "
        "[entropy]\nsources: [{name: model, checkpoint: %s, tokens: %s/tokens.npy, layer: 1, head: 2}]\n",
        i == 0 ? 8 : 16, model, model);
    write_file("text.yaml", yaml);
    char *out = output_of(&(command){.arguments = {"plan", "text.yaml"}});
    const char *reading = strstr(out, "\nreading ");
    cr_assert_not_null(reading, "%s", out);
    cr_expect_eq(sscanf(reading, "\nreading %lf flop", &flops[i]), 1, "%s", reading);
    free(out);
  }
  cr_expect(flops[0] > 0 && flops[1] > 2 * flops[0] && flops[1] < 4 * flops[0], "%g, then %g", flops[0], flops[1]);
}
