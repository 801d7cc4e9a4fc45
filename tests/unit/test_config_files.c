/* test_config_files.c: lists that a config keeps in files, from the file to the cells and back to a config. Each test
 * works in a folder of its own. */
#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fixtures/new_folder.h"
#include "run/run.h"

static char folder[4096];

static void enter_folder(void) {
  char name[FOLDER_NAME];
  cr_assert(new_folder(name, "files"));
  cr_assert_not_null(realpath(name, folder));
  cr_assert_eq(chdir(folder), 0);
  cr_assert_eq(mkdir("sub", 0777), 0);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info;
  (void)type;
  (void)walk;
  return remove(path);
}

static void leave_folder(void) {
  cr_assert_eq(chdir("/"), 0);
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(config_files, .init = enter_folder, .fini = leave_folder);

static void write_file(const char *path, const char *text) {
  cr_assert_eq(rs_file_write(path, text, strlen(text), NULL), RS_OK);
}

#define MODEL "model: {head_dim: 4, train_length: 64, rope_theta: 100}\nmetrics: decay\n"

/* The config's text in folder/sub, with at most one edit; a message where it is wrong. */
static rs_experiment *load(const char *text, const char *edit, char message[2048]) {
  rs_problems problems = {0};
  rs_err err = {0};
  rs_experiment *experiment = NULL;
  write_file("sub/c.yaml", text);
  rs_status status = rs_config_load("sub/c.yaml", (rs_config_edits){.edits = &edit, .count = edit != NULL}, &experiment,
                                    &problems, &err);
  cr_assert_eq(status == RS_OK, experiment != NULL);
  snprintf(message, 2048, "%s", problems.count > 0 ? rs_text_string(&problems.text) : err.message);
  rs_problems_clear(&problems);
  return experiment;
}

static rs_experiment *good(const char *text, const char *edit) {
  char message[2048];
  rs_experiment *experiment = load(text, edit, message);
  cr_assert_not_null(experiment, "%s: %s", text, message);
  return experiment;
}

static const rs_value *value_of(const rs_experiment *experiment, size_t method, const char *name) {
  return rs_setting(&experiment->methods.items[method].settings, name);
}

/* By default the folder is that of the config; on the command line it is where the program runs. */
Test(config_files, list__from_each_format__is_the_parameter_s) {
  static const struct {
    const char *file, *text, *config, *edit, *holds; /* the absolute path's end */
  } cases[] = {
      {"sub/f.json", "[0.5, 0.25]", MODEL "methods: [{name: explicit, inv_freq: f.json}]\n", NULL, "/sub/f.json"},
      {"sub/f.json", "[0.5, 0.25]", MODEL "methods: [{name: explicit, inv_freq: \"f.json\"}]\n", NULL, "/sub/f.json"},
      {"f.csv", "value\n0.5\n0.25\n", MODEL "methods: [{name: explicit, inv_freq: ../f.csv}]\n", NULL, "/f.csv"},
      {"g.json", "{\"inv_freq\": [0.5, 0.25]}", MODEL "methods: [{name: explicit, inv_freq: [1, 1]}]\n",
       "methods[0].inv_freq=g.json", "/g.json"},
      {"sub/h.json", "[0.5, 0.25]", MODEL "methods: explicit\n", "methods={name: explicit, inv_freq: sub/h.json}",
       "/sub/h.json"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char path[8192];
    write_file(cases[i].file, cases[i].text);
    rs_experiment *experiment = good(cases[i].config, cases[i].edit);
    const rs_value *value = value_of(experiment, 0, "inv_freq");
    cr_assert(value->given && value->count == 2 && value->list[0] == 0.5 && value->list[1] == 0.25, "%zu", i);
    snprintf(path, sizeof path, "%s%s", folder, cases[i].holds);
    cr_assert_str_eq(value->file, path);
    rs_experiment_free(experiment);
  }
}

/* A table of a class token and 1 x 2 patches, as a checkpoint has it, beside another tensor. */
static void write_checkpoint(const char *path) {
  static const double numbers[12] = {9, 8, 7, 6, 1, 2, 3, 4, 5, 6, 7, 8}, other[] = {1};
  static const size_t shape[] = {1, 3, 4}, none[] = {0}, one[] = {1};
  const rs_tensor_numbers tensors[] = {{"pos", RS_DTYPE_F32, 3, shape, .doubles = numbers},
                                       {"empty", RS_DTYPE_F32, 1, none, .doubles = other},
                                       {"other", RS_DTYPE_F64, 1, one, .doubles = other}};
  cr_assert_eq(rs_safetensors_write(path, tensors, 3, NULL), RS_OK);
}

#define PICTURE "model: {heads: 1, head_dim: 4, train_length: 64}\nmetrics: similarity_matrix\nlengths: 3\n"
#define TENSOR(name) "methods: [{name: learned_2d, table: m.safetensors:" name "}]\n"

Test(config_files, tensor_of_a_checkpoint__is_a_list) {
  char path[8192], message[2048];
  write_checkpoint("sub/m.safetensors");
  rs_experiment *experiment = good(PICTURE "tokens: [{text: 1}, {image: [1, 2]}]\n" TENSOR("pos"), NULL);
  const rs_value *value = value_of(experiment, 0, "table");
  cr_assert(value->count == 12 && value->list[0] == 9 && value->list[11] == 8);
  snprintf(path, sizeof path, "%s/sub/m.safetensors:pos", folder);
  cr_expect_str_eq(value->file, path);
  cr_expect_eq(strlen(value->hash), 64, "of the file");
  rs_experiment_free(experiment);
  static const char *const wrong[][2] = {
      {TENSOR("positions"),
       "sub/c.yaml:4:37: methods[0].table = m.safetensors:positions: sub/m.safetensors: has no tensor "
       "\"positions\" (it has 3, the first by name is \"empty\")"},
      {TENSOR("empty"),
       "sub/c.yaml:4:37: methods[0].table = m.safetensors:empty: sub/m.safetensors:empty: has 0 numbers, "
       "must be from 1 to 8388608"},
      {TENSOR("other"),
       "sub/c.yaml:4:37: methods[0].table = m.safetensors:other: has 1 numbers: not whole rows of heads * "
       "head_dim = 4"},
      {"methods: [{name: learned_2d, table: n.safetensors:pos}]\n",
       "sub/c.yaml:4:37: methods[0].table = n.safetensors:pos: sub/n.safetensors: cannot read: No such file or "
       "directory"},
      {"tokens: [{image: [1, 2]}]\n" TENSOR("pos"),
       "sub/c.yaml:5:37: methods[0].table = m.safetensors:pos: begins with 4 numbers of a class token, but no text "
       "opens "
       "the tokens (put {text: 1} before the picture, or leave these numbers out)"},
      {"tokens: [{text: 1}, {image: [3, 3]}]\n" TENSOR("pos"),
       "sub/c.yaml:5:37: methods[0].table = m.safetensors:pos: has 12 numbers; a grid of 3 x 3 takes 9 vectors of 4 "
       "(and "
       "may have one more, first, for the class token); table_grid says which grid it was made for"},
  };
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    char text[1000];
    snprintf(text, sizeof text, PICTURE "%s", wrong[i][0]);
    cr_expect_null(load(text, NULL, message));
    cr_expect_str_eq(message, wrong[i][1], "%zu: %s", i, message);
  }
}

/* [row, column] each, or flat as they are written back; another number of numbers has a place of its own. */
Test(config_files, references__are_pairs) {
  static const char *const lists[] = {"[[0, 1], [1, 0]]", "[0, 1, 1, 0]"};
  char text[500], message[2048];
  for (size_t i = 0; i < RS_COUNT(lists); i++) {
    snprintf(text, sizeof text,
             "model: {head_dim: 4, train_length: 64}\ntokens: [{image: [2, 2]}]\n"
             "metrics: {name: position_similarity, references: %s}\n",
             lists[i]);
    rs_experiment *experiment = good(text, NULL);
    const rs_value *value = rs_setting(&experiment->metrics.items[0].settings, "references");
    cr_assert(experiment->metrics.count == 1 && value->count == 4, "%s", lists[i]);
    cr_expect(value->list[0] == 0 && value->list[1] == 1 && value->list[2] == 1 && value->list[3] == 0);
    rs_experiment_free(experiment);
  }
  static const char *const wrong[][2] = {
      {"[[0, 1], [1]]", "sub/c.yaml:2:59: metrics.references[1] = [...]: must be 2 numbers"},
      {"[0, 1, 1]",
       "sub/c.yaml:2:50: metrics.references = [...]: must be a list of [row, column], as [[0, 0], [6, 7]]"},
      {"[[0, 1.5]]", "sub/c.yaml:2:50: metrics.references = [...]: lists 1.5, which is no row or column"}};
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    snprintf(text, sizeof text,
             "model: {head_dim: 4, train_length: 64}\nmetrics: {name: position_similarity, references: %s}\n",
             wrong[i][0]);
    cr_expect_null(load(text, NULL, message));
    cr_expect_str_eq(message, wrong[i][1], "%zu: %s", i, message);
  }
}

/* One number is a list of one; of two it would be a picture's shift. */
Test(config_files, shift__is_a_number_or_a_list) {
  static const char *const shifts[] = {"7", "[7]", "0x7"};
  char text[500], message[2048];
  for (size_t i = 0; i < RS_COUNT(shifts); i++) {
    snprintf(text, sizeof text, "model: {head_dim: 4, train_length: 64}\nmetrics: {name: embedding_shift, shift: %s}\n",
             shifts[i]);
    rs_experiment *experiment = load(text, NULL, message);
    cr_expect_eq(experiment != NULL, i < 2, "%s", message);
    if (experiment == NULL) continue;
    const rs_value *value = rs_setting(&experiment->metrics.items[0].settings, "shift");
    cr_expect(value->count == 1 && value->list != NULL && value->list[0] == 7, "%s", shifts[i]);
    rs_experiment_free(experiment);
  }
}

/* A model's published recipe reads files too. */
Test(config_files, published__with_a_file__is_inherited) {
  write_file("sub/s.json", "[1, 2]");
  write_file("sub/l.json", "[3, 4]");
  rs_experiment *experiment = good("model: {head_dim: 4, train_length: 64, published: {name: longrope, short_factor: "
                                   "s.json, long_factor: l.json}}\nmethods: longrope\n",
                                   NULL);
  rs_recipe recipe;
  rs_err err = {0};
  cr_assert_eq(rs_experiment_recipe(experiment, 0, 0, &recipe, &err), RS_OK, "%s", err.message);
  const rs_value *value = rs_setting(&recipe.settings, "long_factor");
  cr_assert(value->count == 2 && value->list[1] == 4 && value->file != NULL);
  rs_recipe_clear(&recipe);
  rs_experiment_free(experiment);
}

Test(config_files, wrong_files__are_told_with_place_and_index) {
  static const struct {
    const char *text, *config, *message;
  } cases[] = {
      {"[0.5, -1]", "inv_freq: f.json",
       "sub/c.yaml:3:38: methods[0].inv_freq = f.json: sub/f.json: number 1 (from 0) is -1, must be from 0 to 1000000"},
      {"[0.5, 2e6]", "inv_freq: f.json",
       "sub/c.yaml:3:38: methods[0].inv_freq = f.json: sub/f.json: number 1 (from 0) is 2000000, must be from 0 to "
       "1000000"},
      {"[0.5, \"x\"]", "inv_freq: f.json",
       "sub/c.yaml:3:38: methods[0].inv_freq = f.json: sub/f.json: entry 1 is no number"},
      {"[0.5, \"1\"]", "inv_freq: f.json",
       "sub/c.yaml:3:38: methods[0].inv_freq = f.json: sub/f.json: entry 1 is no number"},
      {"[true, 1]", "inv_freq: f.json",
       "sub/c.yaml:3:38: methods[0].inv_freq = f.json: sub/f.json: entry 0 is no number"},
      {"[0.5, [1]]", "inv_freq: f.json",
       "sub/c.yaml:3:38: methods[0].inv_freq = f.json: sub/f.json: entry 1 is no number (the list must be flat)"},
      {"[0.5]", "inv_freq: f.json", "sub/c.yaml:3:38: methods[0].inv_freq = f.json: has 1 number, but 2 pairs turn"},
      {"[]", "inv_freq: g.npy",
       "sub/c.yaml:3:38: methods[0].inv_freq = g.npy: sub/g.npy: cannot read: No such file or directory"},
      {"[]", "inv_freq: f.txt", "sub/c.yaml:3:38: methods[0].inv_freq = f.txt: must be a list of numbers, like [1, 2]"},
      {"[1]", "inv_freq: [1, 1], attention_factor: f.json",
       "sub/c.yaml:3:64: methods[0].attention_factor = f.json: must be a number"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char config[512], message[2048];
    write_file("sub/f.json", cases[i].text);
    snprintf(config, sizeof config, MODEL "methods: [{name: explicit, %s}]\n", cases[i].config);
    rs_experiment *experiment = load(config, NULL, message);
    cr_expect_null(experiment);
    cr_expect_str_eq(message, cases[i].message, "%s", message);
    rs_experiment_free(experiment);
  }
}

/* What is swept is labelled by the files' names, or by the ends of the lists, and in full only where it must be. */
Test(config_files, labels__of_lists__stay_readable) {
  static const char ten_a[] = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", ten_b[] = "[1, 2, 3.5, 4, 5, 6, 7, 8, 9, 10]";
  static const char model[] = "model: {head_dim: 20, train_length: 64}\nmetrics: decay\n";
  static const struct {
    const char *value, *labels[2];
  } cases[] = {
      {"[a.json, b.json]", {"explicit inv_freq=a.json", "explicit inv_freq=b.json"}},
      {"[a.json, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]]",
       {"explicit inv_freq=a.json", "explicit inv_freq=[9, 8, ..., 0; 10 numbers]"}},
      {"[[9, 8, 7, 6, 5, 4, 3, 2, 1, 0], a.json]",
       {"explicit inv_freq=[9, 8, ..., 0; 10 numbers]", "explicit inv_freq=a.json"}},
      {"[a.json, d/a.json]",
       {"explicit inv_freq=a.json inv_freq=[1, 2, ..., 10; 10 numbers]",
        "explicit inv_freq=a.json inv_freq=[3, 2, ..., 10; 10 numbers]"}},
      {"[[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 2, 3.5, 4, 5, 6, 7, 8, 9, 10]]",
       {"explicit inv_freq=[1, 2, ..., 10; 10 numbers] inv_freq=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
        "explicit inv_freq=[1, 2, ..., 10; 10 numbers] inv_freq=[1, 2, 3.5, 4, 5, 6, 7, 8, 9, 10]"}},
  };
  cr_assert_eq(mkdir("sub/d", 0777), 0);
  write_file("sub/a.json", ten_a);
  write_file("sub/b.json", ten_b);
  write_file("sub/d/a.json", "[3, 2, 3, 4, 5, 6, 7, 8, 9, 10]");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char config[512];
    snprintf(config, sizeof config, "%smethods: [{name: explicit, inv_freq: %s}]\n", model, cases[i].value);
    rs_experiment *experiment = good(config, NULL);
    cr_assert_eq(experiment->methods.count, 2u);
    for (size_t k = 0; k < 2; k++) cr_expect_str_eq(experiment->methods.items[k].label, cases[i].labels[k]);
    rs_experiment_free(experiment);
  }
  char message[2048];
  write_file("sub/d/a.json", ten_b);
  rs_experiment *experiment = load("model: {head_dim: 20, train_length: 64}\nmetrics: decay\n"
                                   "methods: [{name: explicit, inv_freq: [a.json, d/a.json]}]\n",
                                   NULL, message);
  cr_expect_null(experiment);
  cr_expect_str_eq(
      message, "sub/c.yaml:3:11: methods[0] = {...}: two of its combinations have the label \"explicit inv_freq=a.json "
               "inv_freq=[1, 2, ..., 10; 10 numbers]\" (take one of them away)");
  rs_experiment_free(experiment);
}

/* `count` numbers. Release with free(). */
static char *long_list(size_t count) {
  rs_text text = {0};
  for (size_t i = 0; i < count; i++) rs_text_printf(&text, "%s%g", i == 0 ? "[" : ",", 0.001 * (double)(i % 700));
  rs_text_puts(&text, "]");
  return text.data;
}

/* Up to 4096 numbers stand in the config itself, so that the file may go; more by the file's whole path. Written and
 * read again the list is there; no method takes so many yet, hence the check that says how many it found. */
Test(config_files, written_config__reproduces_the_lists) {
  static const size_t counts[] = {RS_INLINE_NUMBERS, RS_INLINE_NUMBERS + 1};
  for (size_t i = 0; i < RS_COUNT(counts); i++) {
    bool stays = counts[i] > RS_INLINE_NUMBERS;
    rs_problems problems = {0};
    rs_err err = {0};
    rs_text yaml = {0};
    rs_experiment *again = NULL;
    const char *name = stays ? "sub/a \"b\"'.json" : "sub/short.json";
    char *list = long_list(counts[i]);
    write_file(name, list);
    rs_value value;
    static const rs_param param = {.name = "inv_freq", .type = RS_REALS, .min = 0, .max = 1};
    double *numbers;
    size_t count;
    cr_assert_eq(rs_numbers_read(name, &numbers, &count, &err), RS_OK, "%s", err.message);
    cr_assert_eq(count, counts[i]);
    cr_assert_eq(rs_value_list(&param, numbers, count, &value, &err), RS_OK);
    value.file = realpath(name, NULL);
    value.given = true;
    rs_experiment *experiment = good(MODEL "methods: [{name: explicit, inv_freq: [1, 1], rotary_dim: 4}]\n", NULL);
    rs_settings *settings = &experiment->methods.items[0].settings;
    rs_value *slot = &settings->values[rs_settings_find(settings, "inv_freq")];
    rs_value_clear(slot);
    *slot = value;
    rs_experiment_write(experiment, &yaml);
    cr_assert_eq(strstr(rs_text_string(&yaml), "sub/") != NULL, stays, "%zu", i);
    cr_assert_eq(rs_config_read(rs_text_string(&yaml), "again.yaml", (rs_config_edits){0}, &again, &problems, &err),
                 RS_INPUT);
    char want[128];
    snprintf(want, sizeof want, "has %zu numbers, but 2 pairs turn", counts[i]);
    cr_assert_null(again);
    cr_assert_not_null(strstr(rs_text_string(&problems.text), want), "%.300s", rs_text_string(&problems.text));
    rs_problems_clear(&problems);
    rs_text_clear(&yaml);
    rs_experiment_free(experiment);
    free(numbers);
    free(list);
  }
}
