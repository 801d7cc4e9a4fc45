/* Sources with a checkpoint of their own: what published models hold while they read a text, beside what the same
 * checkpoints show when the experiment reads them; with other sources in one sweep; and what does not fit. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/models.h"
#include "../fixtures/npy.h"
#include "../fixtures/reading.h"
#include "../fixtures/runs.h"

TestSuite(text_rows, .init = enter_folder, .fini = leave_folder);

#define REST "queries: all\nengine: {scores: f64, epsilon: 0}\nmetrics: [entropy, sink_mass, score_by_distance]\n"

/* A config that says MODEL in the places of folders. */
static char *fill_in(const char *text, const char *model) {
  rs_text out = {0};
  for (const char *place; (place = strstr(text, "MODEL")) != NULL; text = place + strlen("MODEL")) {
    rs_text_add(&out, text, (size_t)(place - text));
    rs_text_puts(&out, model_path(model));
  }
  rs_text_puts(&out, text);
  return out.data;
}

static rs_run_summary run_in(const char *text, const char *model, const char *out) {
  char *yaml = fill_in(text, model);
  rs_run_summary summary = run(yaml, out);
  free(yaml);
  return summary;
}

/* The numbers of one row against another's, in the columns of values. */
static double row_difference(const rs_table *a, size_t i, const rs_table *b, size_t j) {
  static const char *const columns[] = {"entropy_nats", "sink_mass"};
  double most = 0;
  for (size_t c = 0; c < RS_COUNT(columns); c++) {
    double x, y;
    cr_assert(rs_number_read(field(a, i, columns[c]), &x) && rs_number_read(field(b, j, columns[c]), &y));
    most = fmax(most, fabs(x - y));
  }
  return most;
}

/* Under the published recipe, of every head at two lengths: partial rotation, shared keys, norms of heads, scales and
 * caps of scores, learned sinks are in it. */
Test(text_rows, published_recipe__rows_of_the_text__are_those_of_the_checkpoint) {
  static const struct {
    const char *model, *method;
  } cases[] = {{"llama3", "llama3"}, {"qwen3", "rope"},  {"gpt_neox", "rope"},
               {"olmo2", "rope"},    {"gemma2", "rope"}, {"gpt_oss", "yarn"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "model: {hf: MODEL/config.json}\nlengths: [9, 16]\nmethods: [%s]\n" REST
             "sources: [{name: model, checkpoint: MODEL, tokens: MODEL/tokens.npy, head: each, precision: f64, layer: "
             "[0, 1]}]\n",
             cases[i].method);
    cr_assert_eq(run_in(text, cases[i].model, "text").failed, 0, "%s", cases[i].model);
    run_in("checkpoint: {folder: MODEL, precision: f64}\ntask: {name: tokens, file: MODEL/tokens.npy}\nsequences: 1\n"
           "lengths: [9, 16]\ntargets: per_length\nbaselines: none\nmethods: [trained]\n" REST
           "sources: [{name: model, head: each, layer: [0, 1]}]\n",
           cases[i].model, "task");
    rs_table *a = read_table("text", "summary.csv"), *b = read_table("task", "summary.csv");
    cr_assert_eq(a->rows, 2 * 2 * 4);
    cr_assert_eq(b->rows, a->rows);
    for (size_t r = 0; r < a->rows; r++) {
      cr_assert_str_eq(field(a, r, "heads"), field(b, r, "heads"));
      cr_expect_lt(row_difference(a, r, b, r), 1e-12, "%s, row %zu", cases[i].model, r);
    }
    rs_table_free(a);
    rs_table_free(b);
  }
}

/* Side by side, and again from the resolved config; floats are near doubles, and not the same. */
Test(text_rows, run__beside_simulated_sources__each_its_own_and_again) {
  static const char text[] =
      "model: {hf: MODEL/config.json}\nlengths: [32]\nmethods: [llama3, pi, {name: self_extend, window: 8, group: 4}]\n"
      "heads: {each: [1, 2]}\nseeds: 2\n" REST
      "sources: [gaussian, {name: model, checkpoint: MODEL, tokens: MODEL/tokens.npy, precision: [f64, f32], head: 2}, "
      "{name: model, label: alone, checkpoint: MODEL, tokens: MODEL/tokens.npy, layer: 1}]\n";
  cr_assert_eq(run_in(text, "llama3", "a").failed, 0);
  rs_table *a = read_table("a", "summary.csv");
  cr_assert_eq(a->rows, 3 * (2 * 2 + 3 * 2));
  cr_expect_str_eq(field(a, 4, "source"), "model precision=f64");
  cr_expect_str_eq(field(a, 4, "heads"), "2");
  cr_expect_str_eq(field(a, 8, "source"), "alone");
  cr_expect_str_eq(field(a, 8, "heads"), "0 1 2 3");
  cr_expect_str_eq(field(a, 4, "entropy_nats"), field(a, 5, "entropy_nats"), "another seed reads the same text");
  cr_expect_lt(row_difference(a, 4, a, 6), 1e-5);
  cr_expect_gt(row_difference(a, 4, a, 6), 0);
  size_t length;
  char *again = read_path("a", "config.yaml", &length);
  run(again, "b");
  rs_table *b = read_table("b", "summary.csv");
  for (size_t i = 0; i < a->rows; i++) expect_same_row(b, i, a, i, 0, "resolved");
  char *manifest = read_path("a", "manifest.json", &length);
  cr_expect_not_null(strstr(manifest, "\"queries and keys of layer 1 of llama3 on tokens.npy\""));
  free(manifest);
  free(again);
  rs_table_free(a);
  rs_table_free(b);
}

Test(text_rows, run__longer_than_the_text__fails_those_cells_alone) {
  static const char text[] =
      "model: {hf: MODEL/config.json}\nlengths: [32, 200]\nmethods: [rope]\nheads: 1\n" REST
      "sources: [gaussian, {name: model, checkpoint: MODEL, tokens: MODEL/tokens.npy, head: 0}]\n";
  cr_expect_eq(run_in(text, "llama3", "long").failed, 1);
  rs_table *t = read_table("long", "summary.csv");
  cr_expect_str_eq(field(t, 3, "status"), "domain");
  cr_expect_str_eq(field(t, 3, "message"), "tokens.npy: has 160 tokens, the length is 200");
  rs_table_free(t);
}

/* Weights that are not whole are found out when they are read: those cells say so, others have their values. */
Test(text_rows, run__weights_cut_off__fails_those_cells_alone) {
  size_t length;
  char *config = read_path(model_path("llama3"), "config.json", &length);
  cr_assert_eq(rs_make_directories("cut", NULL), RS_OK);
  cr_assert_eq(rs_file_write("cut/config.json", config, length, NULL), RS_OK);
  free(config);
  char *weights = read_path(model_path("llama3"), "model.safetensors", &length);
  cr_assert_eq(rs_file_write("cut/model.safetensors", weights, length - 4, NULL), RS_OK);
  free(weights);
  static const char text[] = "model: {hf: MODEL/config.json}\nlengths: [32]\nmethods: [rope]\nheads: 1\n" REST
                             "sources: [gaussian, {name: model, checkpoint: cut, tokens: MODEL/tokens.npy, head: 0}]\n";
  cr_expect_eq(run_in(text, "llama3", "out").failed, 1);
  rs_table *t = read_table("out", "summary.csv");
  cr_expect_str_eq(field(t, 1, "status"), "input");
  cr_expect_not_null(strstr(field(t, 1, "message"), "cut/model.safetensors"), "%s", field(t, 1, "message"));
  rs_table_free(t);
}

Test(text_rows, what_does_not_fit__is_named) {
  static const struct {
    const char *model, *entry, *message;
  } cases[] = {
      {"llama3", "checkpoint: MODEL", "tokens: must be given beside checkpoint: the ids of the text that it reads"},
      {"llama3", "tokens: MODEL/tokens.npy", "is what the source's own checkpoint reads (add checkpoint: FOLDER)"},
      {"llama3", "layer: 0",
       "hands on what a checkpoint's heads hold: there is none (add checkpoint: {method: rope} "
       "and a task, or to the source checkpoint: FOLDER, tokens: FILE)"},
      {"llama3", "checkpoint: MODEL, tokens: MODEL/tokens.npy, layer: 2",
       "layer = 2: must be from 0 to 1: the checkpoint has 2 layers"},
      {"llama3", "checkpoint: MODEL, tokens: MODEL/tokens.npy, head: 4",
       "head = 4: must be from 0 to 3: the checkpoint has 4 heads"},
      {"llama3", "checkpoint: MODEL, tokens: big.npy", "token 2 (from 0) is 97, the vocabulary has 97"},
      {"llama3", "checkpoint: MODEL, tokens: big.bin", "token 1 (from 0) is 65535, the vocabulary has 97"},
      {"llama3", "checkpoint: MODEL, tokens: big.bin, numbers: uint32",
       "token 0 (from 0) is 4294901763, the vocabulary has 97"},
      {"llama3", "checkpoint: MODEL, tokens: odd.bin", "odd.bin: 3 bytes are no whole number of ids of 16 bits"},
      {"llama3", "checkpoint: ., tokens: MODEL/tokens.npy", "config.json: cannot read: No such file or directory"},
      {"llama3", "checkpoint: '', tokens: MODEL/tokens.npy", "checkpoint = \"\": must be the path of a folder"},
      {"llama3", "checkpoint: nowhere, tokens: MODEL/tokens.npy",
       "nowhere: cannot be found: No such file or directory"},
      {"llama3", "checkpoint: MODEL/../bert, tokens: MODEL/tokens.npy",
       "is no decoder: no text alone gives its layers what they read"},
      {"llama3", "checkpoint: MODEL/../opt, tokens: MODEL/tokens.npy",
       "has 4 heads of 8 in layer 0, model llama3 has 4 of 16"},
  };
  make_npy("big.npy", 1, NPY("<i4", "False", "(3,)"), "\1\0\0\0\2\0\0\0\x61\0\0\0", 12);
  cr_assert_eq(rs_file_write("big.bin", "\3\0\xff\xff", 4, NULL), RS_OK);
  cr_assert_eq(rs_file_write("odd.bin", "\3\0\1", 3, NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char text[1024];
    rs_run_summary summary;
    rs_problems problems = {0};
    rs_err err = {0};
    snprintf(text, sizeof text,
             "model: {hf: MODEL/config.json, name: llama3}\nlengths: [8]\n" REST "sources: [{name: model, %s}]\n",
             cases[i].entry);
    char *yaml = fill_in(text, cases[i].model);
    cr_expect_neq(attempt(yaml, "out", &summary, &problems, &err), RS_OK, "%s", cases[i].entry);
    cr_expect_not_null(strstr(rs_text_string(&problems.text), cases[i].message), "%s\n%s\n%s", cases[i].entry,
                       rs_text_string(&problems.text), cases[i].message);
    rs_problems_clear(&problems);
    free(yaml);
  }
}

/* Where an experiment's checkpoint reads its task, that is found out when the two meet. */
Test(text_rows, task_with_an_id_beyond_the_vocabulary__names_it) {
  static const char ids[] = "\1\0\2\0\x61\0\4\0\5\0";
  cr_assert_eq(rs_file_write("ids.bin", ids, sizeof ids - 1, NULL), RS_OK);
  cr_expect_eq(run_in("checkpoint: {folder: MODEL}\ntask: {name: tokens, file: ids.bin}\nlengths: [3]\nbaselines: "
                      "none\nmetrics: [loss]\n",
                      "llama3", "out")
                   .failed,
               1);
  rs_table *t = read_table("out", "summary.csv");
  cr_expect_str_eq(field(t, 0, "message"), "ids.bin: token 2 (from 0) is 97, the model knows 97");
  rs_table_free(t);
}

/* Nobody says which token holds what a text asks for; and one checkpoint at a time. */
Test(text_rows, needles_and_a_second_checkpoint__are_refused) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"model: {hf: MODEL/config.json}\nlengths: [8]\nmetrics: [needle]\n"
       "sources: [{name: model, checkpoint: MODEL, tokens: MODEL/tokens.npy}]\n",
       "has needle, but no source plants needles (add sources: [needle])"},
      {"checkpoint: {folder: MODEL}\ntask: {name: tokens, file: MODEL/tokens.npy}\nlengths: [8]\nmetrics: [entropy]\n"
       "sources: [{name: model, checkpoint: MODEL, tokens: MODEL/tokens.npy}]\n",
       "stands beside the config's checkpoint, whose heads the source hands on (keep one of them)"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_run_summary summary;
    rs_problems problems = {0};
    rs_err err = {0};
    char *yaml = fill_in(cases[i].text, "llama3");
    cr_expect_eq(attempt(yaml, "out", &summary, &problems, &err), RS_INPUT);
    cr_expect_not_null(strstr(rs_text_string(&problems.text), cases[i].message), "%s", rs_text_string(&problems.text));
    rs_problems_clear(&problems);
    free(yaml);
  }
}

static rs_plan plan_of(const char *lengths, const char *metric, const char *source) {
  char text[1024];
  rs_plan plan;
  snprintf(text, sizeof text,
           "model: {hf: MODEL/config.json}\nlengths: %s\nmethods: [llama3, pi]\nmetrics: [%s]\nsources: [%s]\n",
           lengths, metric, source);
  char *yaml = fill_in(text, "llama3");
  rs_experiment *experiment = good(yaml);
  cr_assert_eq(rs_plan_make(experiment, NULL, &plan, NULL), RS_OK);
  rs_experiment_free(experiment);
  free(yaml);
  return plan;
}

/* A text is read once for all heads and methods, through the blocks up to the layer: 9984 weights of matrices a block
 * and token, and 64 head dims of each pair of tokens, twice. One that is too short is not read, nor one of which nobody
 * observes rows. */
Test(text_rows, plan__counts_passes_of_a_source_s_own_checkpoint) {
  static const struct {
    const char *layers, *lengths, *metric;
    double passes;
  } cases[] = {{"0", "[16]", "entropy", 1},
               {"[0, 1]", "[16]", "entropy", 3},
               {"1", "[16, 200]", "entropy", 2},
               {"1", "[16]", "decay", 0}};
  const double pass = 2 * (16 * 9984.0 + 2 * 64 * 136);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char source[256];
    snprintf(source, sizeof source, "{name: model, checkpoint: MODEL, tokens: MODEL/tokens.npy, layer: %s, head: each}",
             cases[i].layers);
    rs_plan plan = plan_of(cases[i].lengths, cases[i].metric, source);
    rs_plan other = plan_of(cases[i].lengths, cases[i].metric, "gaussian");
    cr_expect_float_eq(plan.reading_flops, cases[i].passes * pass, 1, "%zu: %.17g, not %.17g", i, plan.reading_flops,
                       cases[i].passes * pass);
    cr_expect_eq(other.reading_flops, 0);
    cr_expect_eq(plan.peak_bytes > other.peak_bytes, cases[i].passes > 0, "%g, %g", plan.peak_bytes, other.peak_bytes);
  }
}
