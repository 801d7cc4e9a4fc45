/* test_logits_command.c: `ropescope logits` on checkpoints of the golden data. */
#include "../fixtures/models.h"
#include "../fixtures/npy.h"
#include "../fixtures/program.h"

TestSuite(logits_command, .init = enter_folder, .fini = leave_folder);

Test(logits_command, both_precisions__the_logits_as_numpy_has_them) {
  rs_array wanted = array_of(model_path("llama/logits.npy"));
  run_well(&(command){.arguments = {"logits", model_path("llama"), model_path("llama/tokens.npy"), "--out", "wide.npy",
                                    "--precision", "f64"}});
  run_well(
      &(command){.arguments = {"logits", model_path("llama"), model_path("llama/tokens.npy"), "--out", "short.npy"}});
  rs_array wide = array_of("wide.npy"), single = array_of("short.npy");
  cr_assert(wide.rank == 3 && wide.shape[0] == 2 && wide.shape[1] == wanted.shape[1] && wide.shape[2] == 97);
  cr_assert_eq(wide.count, single.count);
  cr_expect(largest_difference(&wide, wanted.numbers) < 1e-12);
  cr_expect(largest_difference(&single, wanted.numbers) < 1e-4);
  cr_expect(largest_difference(&single, wanted.numbers) > 1e-8, "floats are no doubles");
  rs_array_clear(&wide);
  rs_array_clear(&single);
  rs_array_clear(&wanted);
}

/* The program's arguments and the file that has what must come out, in the same folder of the golden data. */
typedef struct golden_case {
  const char *model, *tokens, *wanted, *mask; /* rows where the mask has 0 are not compared */
  struct {
    const char *option, *file;
  } beside[3];
} golden_case;

/* Padding has no answers: 0 here, anything there. */
static void leave_out(const rs_array *out, double *wanted, const golden_case *c) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", model_path(c->model), c->mask);
  rs_array mask = array_of(path);
  size_t width = out->count / mask.count;
  for (size_t i = 0; i < out->count; i++)
    if (mask.numbers[i / width] == 0) {
      cr_expect_eq(out->numbers[i], 0);
      wanted[i] = 0;
    }
  rs_array_clear(&mask);
}

static void expect_golden(const golden_case *c) {
  static const struct {
    const char *precision;
    double most;
  } precisions[] = {{"f64", 1e-12}, {"f32", 1e-4}};
  for (size_t p = 0; p < RS_COUNT(precisions); p++) {
    char paths[6][512], last[24];
    snprintf(paths[0], sizeof paths[0], "%s/%s", model_path(c->model), c->wanted);
    rs_array wanted = array_of(paths[0]);
    snprintf(last, sizeof last, "%zu", wanted.shape[1]);
    struct command given = {.arguments = {"logits", model_path(c->model), "--out", "out.npy", "--precision",
                                          precisions[p].precision, "--last", last}};
    size_t count = wanted.rank == 3 ? 8 : 6; /* one answer a picture has no last ones */
    given.arguments[count] = NULL;
    if (c->tokens != NULL) {
      snprintf(paths[1], sizeof paths[1], "%s/%s", model_path(c->model), c->tokens);
      given.arguments[count++] = paths[1];
    }
    for (size_t i = 0; i < RS_COUNT(c->beside) && c->beside[i].option != NULL; i++) {
      snprintf(paths[2 + i], sizeof paths[2], "%s/%s", model_path(c->model), c->beside[i].file);
      given.arguments[count++] = c->beside[i].option;
      given.arguments[count++] = paths[2 + i];
    }
    run_well(&given);
    rs_array out = array_of("out.npy");
    cr_assert_eq(out.rank, wanted.rank);
    cr_assert_arr_eq(out.shape, wanted.shape, out.rank * sizeof *out.shape);
    if (c->mask != NULL) leave_out(&out, wanted.numbers, c);
    double worst = largest_difference(&out, wanted.numbers);
    cr_expect(worst < precisions[p].most, "%s, %s: off by %.3g", c->model, precisions[p].precision, worst);
    rs_array_clear(&out);
    rs_array_clear(&wanted);
  }
}

Test(logits_command, position_ids__three_axes_of_qwen2_vl) {
  expect_golden(&(golden_case){"qwen2_vl", "tokens.npy", "logits.npy", NULL, {{"--position-ids", "position_ids.npy"}}});
}

Test(logits_command, bert__last_states_of_what_is_no_padding) {
  expect_golden(&(golden_case){"bert",
                               "tokens.npy",
                               "output.npy",
                               "attention_mask.npy",
                               {{"--token-types", "token_type_ids.npy"}, {"--attention-mask", "attention_mask.npy"}}});
}

Test(logits_command, t5__logits_of_the_decoder) {
  expect_golden(
      &(golden_case){"t5", "tokens.npy", "logits.npy", NULL, {{"--decoder-tokens", "decoder_input_ids.npy"}}});
}

/* Images of the sides it was trained on, of others, and smaller ones. */
Test(logits_command, vit__last_states_at_three_sizes) {
  static const char *const sizes[] = {"", "_interp", "_interp_small"};
  for (size_t i = 0; i < RS_COUNT(sizes); i++) {
    char pixels[40], wanted[40];
    snprintf(pixels, sizeof pixels, "pixel_values%s.npy", sizes[i]);
    snprintf(wanted, sizeof wanted, "output%s.npy", sizes[i]);
    expect_golden(&(golden_case){"vit", NULL, wanted, NULL, {{"--pixels", pixels}}});
  }
}

static void expect_file(const char *file, const char *golden, double most) {
  rs_array got = array_of(file), want = array_of(model_path(golden));
  cr_assert(got.rank == want.rank && got.count == want.count, "%s", golden);
  for (size_t i = 0; i < got.rank; i++) cr_expect_eq(got.shape[i], want.shape[i], "%s", golden);
  cr_expect_lt(largest_difference(&got, want.numbers), most, "%s", golden);
  rs_array_clear(&got);
  rs_array_clear(&want);
}

/* transformers' output_attentions of the first sequence, and numpy's rollout of them. */
Test(logits_command, attention__of_a_vit__is_that_of_transformers) {
  run_well(&(command){.arguments = {"logits", model_path("vit"), "--pixels", model_path("vit/pixel_values.npy"),
                                    "--attention", "a.npy", "--rollout", "r.npy", "--precision", "f64"}});
  expect_file("a.npy", "vit/attention.npy", 1e-12);
  expect_file("r.npy", "vit/rollout.npy", 1e-12);
  run_well(&(command){.arguments = {"logits", model_path("vit"), "--pixels", model_path("vit/pixel_values.npy"),
                                    "--rollout", "f.npy", "--out", "o.npy"}});
  expect_file("f.npy", "vit/rollout.npy", 1e-5);
  cr_expect(exists("o.npy"));
  expect_failure(&(command){.arguments = {"logits", model_path("vit"), "--pixels", model_path("vit/pixel_values.npy"),
                                          "--rollout", "none/r.npy"}},
                 1, "ropescope: none/r.npy: cannot write: No such file or directory\n");
}

/* Classes of two pictures, of ViT and of DeiT with and without what its teacher taught it; states, whose first two are
 * of no patch. The table's rows of both stay as they are where it is resized. */
Test(logits_command, classes_of_pictures__at_two_sizes) {
  static const char *const models[] = {"vit_classes", "deit_classes", "deit_teacher", "deit"};
  for (size_t i = 0; i < RS_COUNT(models); i++) {
    const char *name = i < 3 ? "logits" : "output";
    char wanted[2][40];
    snprintf(wanted[0], sizeof wanted[0], "%s.npy", name);
    snprintf(wanted[1], sizeof wanted[1], "%s_interp.npy", name);
    expect_golden(&(golden_case){models[i], NULL, wanted[0], NULL, {{"--pixels", "pixel_values.npy"}}});
    expect_golden(&(golden_case){models[i], NULL, wanted[1], NULL, {{"--pixels", "pixel_values_interp.npy"}}});
  }
}

Test(logits_command, last_tokens_of_classes__are_refused) {
  char pixels[512];
  snprintf(pixels, sizeof pixels, "%s", model_path("deit_teacher/pixel_values.npy"));
  expect_failure(&(command){.arguments = {"logits", model_path("deit_teacher"), "--out", "o.npy", "--pixels", pixels,
                                          "--last", "2"}},
                 2, "ropescope: --last 2: the model says one class a sequence, and none of single tokens\n");
  cr_expect(!exists("o.npy"));
}

Test(logits_command, inputs_of_another_model__are_refused) {
  static const struct {
    const char *arguments[7], *said;
  } cases[] = {
      {{"logits", "t5", "tokens.npy", "--out", "o.npy"},
       "ropescope: the model reads tokens of an encoder and of a decoder\n"},
      {{"logits", "llama", "tokens.npy", "--out", "o.npy", "--decoder-tokens", "tokens.npy"},
       "ropescope: the model does not read tokens of an encoder and of a decoder\n"},
      {{"logits", "t5", "tokens.npy", "--out", "o.npy", "--decoder-tokens", "two.npy"},
       "ropescope: two.npy: has 2 sequences, the encoder's tokens have 1\n"},
      {{"logits", "vit", "tokens.npy", "--out", "o.npy"}, "ropescope: the model reads images\n"},
      {{"logits", "vit", "--out", "o.npy", "--pixels", "tokens.npy"},
       "ropescope: tokens.npy: pixels are (B, 3, H, W), H and W at least 8\n"},
      {{"logits", "llama", "--out", "o.npy", "--pixels", "tokens.npy"},
       "ropescope: --pixels: the checkpoint reads none: it is no ViT\n"},
      {{"logits", "vit", "tokens.npy", "--out", "o.npy", "--pixels", "tokens.npy"},
       "ropescope: --pixels stands in the place of token ids and of what is said of them: keep one\n"},
  };
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(2,)"), "\1\2", 2);
  make_npy("two.npy", 1, NPY("|u1", "False", "(2, 1)"), "\1\2", 2);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    struct command c = {.arguments = {"logits", model_path(cases[i].arguments[1])}};
    for (size_t k = 2; k < RS_COUNT(cases[i].arguments); k++) c.arguments[k] = cases[i].arguments[k];
    expect_failure(&c, 2, cases[i].said);
    cr_expect(!exists("o.npy"));
  }
}

/* A folder that this program wrote: the numbers of tests/golden/llama. */
Test(logits_command, own_folder__the_logits_of_its_model) {
  char folder_of[512], csv[600], tokens[64], header[64];
  snprintf(folder_of, sizeof folder_of, "%s/golden/llama", getenv("ROPESCOPE_TESTS"));
  snprintf(csv, sizeof csv, "%s/logits.csv", folder_of);
  rs_table *table = read_table(csv);
  cr_assert(table->rows < sizeof tokens);
  for (size_t row = 0; row < table->rows; row++) tokens[row] = (char)number(table, row, "token");
  snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu,), }", table->rows);
  make_npy("tokens.npy", 1, header, tokens, table->rows);
  run_well(&(command){.arguments = {"logits", folder_of, "tokens.npy", "--out", "out.npy", "--precision", "f64"}});
  rs_array out = array_of("out.npy");
  size_t classes = table->columns - 1;
  cr_assert(out.shape[1] == table->rows && out.shape[2] == classes);
  for (size_t i = 0; i < out.count; i++) {
    double wanted = 0;
    cr_assert(rs_number_read(table->fields[i / classes * table->columns + 1 + i % classes], &wanted));
    cr_expect_float_eq(out.numbers[i], wanted, 1e-9, "number %zu", i);
  }
  rs_array_clear(&out);
  rs_table_free(table);
}

Test(logits_command, arrays_beside_the_tokens_that_do_not_fit__are_refused) {
  static const struct {
    const char *option, *header, *data, *said;
    size_t size;
  } cases[] = {
      {"--position-ids", NPY("|u1", "False", "(2,)"), "\0\1",
       "ropescope: x.npy: position ids must be (1, 3) as the token ids are, or (3, 1, 3)\n", 2},
      {"--position-ids", NPY("|u1", "False", "(2, 1, 3)"), "\0\1\2\0\1\2",
       "ropescope: x.npy: position ids must be (1, 3) as the token ids are, or (3, 1, 3)\n", 6},
      {"--position-ids", NPY("|u1", "False", "(3, 2, 3)"), "\0\1\2\0\1\2\0\1\2\0\1\2\0\1\2\0\1\2",
       "ropescope: x.npy: position ids must be (1, 3) as the token ids are, or (3, 1, 3)\n", 18},
      {"--position-ids", NPY("|u1", "False", "(3, 1, 2)"), "\0\1\0\1\0\1",
       "ropescope: x.npy: position ids must be (1, 3) as the token ids are, or (3, 1, 3)\n", 6},
      {"--position-ids", NPY("|u1", "False", "(2, 3)"), "\0\1\2\0\1\2",
       "ropescope: x.npy: position ids must be (1, 3) as the token ids are, or (3, 1, 3)\n", 6},
      {"--position-ids", NPY("<f8", "False", "(3,)"), "\0\0\0\0\0\0\0\0\x9c\x75\0\x88\x3c\xe4\x37\x7e\0\0\0\0\0\0\0\0",
       "ropescope: x.npy: number 1 is 1e+300: positions are at most 2^53\n", 24},
      {"--token-types", NPY("|u1", "False", "(2,)"), "\0\0",
       "ropescope: x.npy: token types must be (1, 3) as the token ids are\n", 2},
      {"--token-types", NPY("|u1", "False", "(3,)"), "\0\0\0",
       "ropescope: x.npy: token type 0 of sequence 0 at position 0: there are 0\n", 3},
      {"--attention-mask", NPY("|u1", "False", "(1, 2)"), "\1\1",
       "ropescope: x.npy: the mask must be (1, 3) as the token ids are\n", 2},
      {"--attention-mask", NPY("|u1", "False", "(3,)"), "\1\2\0",
       "ropescope: x.npy: number 1 is 2: a mask holds 0 and 1 (numbers of documents: --document-ids)\n", 3},
      {"--attention-mask", NPY("|u1", "False", "(3,)"), "\1\0\1",
       "ropescope: x.npy: sequence 0 has padding at token 1, between tokens: where those behind it stand is not said "
       "(--position-ids says it)\n",
       3},
      {"--attention-mask", NPY("|u1", "False", "(3,)"), "\0\0\0",
       "ropescope: x.npy: sequence 0 has 0 of 3 tokens: at least 1\n", 3},
      {"--position-ids", NPY("|u1", "False", "(3, 1, 3)"), "\0\1\2\0\1\2\0\1\1",
       "ropescope: x.npy: the model has one position a token, and those of token 2 of sequence 0 are 2, 2 and 1\n", 9},
      {"--document-ids", NPY("|u1", "False", "(1, 2)"), "\1\1",
       "ropescope: x.npy: document ids must be (1, 3) as the token ids are\n", 2},
      {"--document-ids", NPY("<f2", "False", "(3,)"), "\0\0\0\x3e\0\0",
       "ropescope: x.npy: number 1 is 1.5, which is no document id\n", 6},
  };
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(3,)"), "\1\2\3", 3);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    make_npy("x.npy", 1, cases[i].header, cases[i].data, cases[i].size);
    expect_failure(&(command){.arguments = {"logits", model_path("llama"), "tokens.npy", "--out", "out.npy",
                                            cases[i].option, "x.npy"}},
                   2, cases[i].said);
  }
}

/* Of an encoder and a decoder, the file that has the token. */
Test(logits_command, tokens_of_an_encoder_that_are_none) {
  make_npy("low.npy", 1, NPY("|u1", "False", "(2,)"), "\1\2", 2);
  make_npy("high.npy", 1, NPY("|u1", "False", "(2,)"), "\1\xff", 2);
  static const char *const cases[][2] = {{"high.npy", "low.npy"}, {"low.npy", "high.npy"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    result got = run(&(command){
        .arguments = {"logits", model_path("t5"), cases[i][0], "--out", "o.npy", "--decoder-tokens", cases[i][1]}});
    static const char said[] = "ropescope: high.npy: token 255 of sequence 0 at position 1: the vocabulary has ";
    cr_expect(got.status == 2 && strncmp(got.err, said, strlen(said)) == 0, "%s", got.err);
    result_clear(&got);
  }
}

Test(logits_command, pixels_of_other_shapes__are_refused) {
  static const char *const headers[] = {NPY("|u1", "False", "(1, 1, 8, 8)"), NPY("|u1", "False", "(1, 3, 7, 8)"),
                                        NPY("|u1", "False", "(1, 3, 8, 7)")};
  static const size_t sizes[] = {64, 168, 168};
  char pixels[168] = {0};
  for (size_t i = 0; i < RS_COUNT(headers); i++) {
    make_npy("x.npy", 1, headers[i], pixels, sizes[i]);
    expect_failure(&(command){.arguments = {"logits", model_path("vit"), "--pixels", "x.npy", "--out", "out.npy"}}, 2,
                   "ropescope: x.npy: pixels are (B, 3, H, W), H and W at least 8\n");
  }
}

Test(logits_command, pixels_beyond_floats__are_refused) {
  char pixels[3 * 8 * 8 * 8] = {0};
  memcpy(pixels + 8, "\x9c\x75\0\x88\x3c\xe4\x37\x7e", 8);
  make_npy("x.npy", 1, NPY("<f8", "False", "(1, 3, 8, 8)"), pixels, sizeof pixels);
  expect_failure(&(command){.arguments = {"logits", model_path("vit"), "--pixels", "x.npy", "--out", "out.npy"}}, 2,
                 "ropescope: x.npy: number 1 is 1e+300, beyond the range of floats\n");
}

/* The golden model whose output matrix has numbers so large that logits of token 78 alone are 1.4 times the largest
 * float, those of token 44 alone 0.7 times. */
static void write_enormous(void) {
  rs_tensor_numbers tensors[32] = {{0}};
  rs_safetensors *checkpoint;
  size_t length;
  char path[600], *config;
  snprintf(path, sizeof path, "%s/model.safetensors", model_path("llama"));
  cr_assert_eq(rs_safetensors_map(path, &checkpoint, NULL), RS_OK);
  cr_assert_leq(checkpoint->count, RS_COUNT(tensors));
  for (size_t t = 0; t < checkpoint->count; t++) {
    const rs_stored_tensor *from = &checkpoint->tensors[t];
    float *numbers = calloc(from->count, sizeof *numbers);
    cr_assert_eq(rs_stored_floats(from, 0, from->count, numbers, NULL), RS_OK);
    for (size_t i = 0; i < from->count && strcmp(from->name, "lm_head.weight") == 0; i++)
      numbers[i] = copysignf(0x1.8p123f, numbers[i]);
    tensors[t] = (rs_tensor_numbers){
        .name = from->name, .dtype = RS_DTYPE_F32, .rank = from->rank, .shape = from->shape, .floats = numbers};
  }
  cr_assert_eq(rs_make_directories("enormous", NULL), RS_OK);
  cr_assert_eq(rs_safetensors_write("enormous/model.safetensors", tensors, checkpoint->count, NULL), RS_OK);
  snprintf(path, sizeof path, "%s/config.json", model_path("llama"));
  cr_assert_eq(rs_file_read(path, RS_LARGEST_FILE, &config, &length, NULL), RS_OK);
  cr_assert_eq(rs_file_write("enormous/config.json", config, length, NULL), RS_OK);
  for (size_t t = 0; t < checkpoint->count; t++) free((float *)tensors[t].floats);
  free(config);
  rs_safetensors_free(checkpoint);
}

Test(logits_command, sums_beyond_floats__are_told_not_written) {
  write_enormous();
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(2, 2)"), (const char[]){44, 44, 78, 78}, 4);
  expect_failure(
      &(command){.arguments = {"logits", "enormous", "tokens.npy", "--out", "out.npy"}}, 2,
      "ropescope: what the model says of sequence 1 at answer 0 is not finite in floats (--precision f64)\n");
  cr_expect(!exists("out.npy"));
  run_well(&(command){.arguments = {"logits", "enormous", "tokens.npy", "--out", "out.npy", "--precision", "f64"}});
}

/* One sequence, without the axis of sequences. */
Test(logits_command, last__of_one_axis__as_many_rows) {
  make_npy("tokens.npy", 1, NPY("<i4", "False", "(3,)"), "\1\0\0\0\2\0\0\0\3\0\0\0", 12);
  run_well(&(command){.arguments = {"logits", model_path("gpt2"), "tokens.npy", "--out", "all.npy"}});
  run_well(&(command){.arguments = {"logits", model_path("gpt2"), "tokens.npy", "--out", "last.npy", "--last", "2"}});
  rs_array all = array_of("all.npy"), last = array_of("last.npy");
  cr_assert(all.rank == 3 && all.shape[0] == 1 && all.shape[1] == 3 && all.shape[2] == 97);
  cr_assert(last.rank == 3 && last.shape[0] == 1 && last.shape[1] == 2 && last.shape[2] == 97);
  cr_expect(largest_difference(&last, all.numbers + 97) < 1e-6);
  rs_array_clear(&all);
  rs_array_clear(&last);
}

Test(logits_command, wrong_use__says_what_is_needed) {
  expect_failure(&(command){.arguments = {"logits", "x"}}, 2,
                 "ropescope: logits needs a checkpoint, token ids and --out (or --attention, or --rollout), as in "
                 "ropescope logits FOLDER tokens.npy --out logits.npy\n");
  expect_failure(&(command){.arguments = {"logits", "x", "y.npy"}}, 2,
                 "ropescope: logits needs a checkpoint, token ids and --out (or --attention, or --rollout), as in "
                 "ropescope logits FOLDER tokens.npy --out logits.npy\n");
  expect_failure(&(command){.arguments = {"logits", "x", "y.npy", "--out", "z.npy"}}, 2,
                 "ropescope: x/config.json: cannot read: No such file or directory\n");
  expect_failure(&(command){.arguments = {"logits", "x", "y.npy", "--out", "x/model.safetensors"}}, 2,
                 "ropescope: --out x/model.safetensors is a file of the checkpoint, which it would be written over "
                 "(give --out another name)\n");
  expect_failure(&(command){.arguments = {"logits", model_path("llama"), "y.npy", "--out", "z.npy"}}, 2,
                 "ropescope: y.npy: cannot read: No such file or directory\n");
  expect_failure(&(command){.arguments = {"logits", model_path("t5"), "y.npy", "--out", "z.npy", "--decoder-tokens",
                                          "y.npy", "--attention-mask", "y.npy"}},
                 2,
                 "ropescope: --attention-mask does not go with --decoder-tokens: an encoder's padding is not "
                 "offered\n");
}

/* By path, by another spelling of it, by a link: before the checkpoint, of which there is none here, is read. */
Test(logits_command, files_written_over_others__are_refused) {
  static const struct {
    const char *arguments[9], *said;
  } cases[] = {
      {{"logits", "none", "t.npy", "--out", "t.npy"}, "--out t.npy is the file of TOKENS"},
      {{"logits", "none", "t.npy", "--out", "o.npy", "--attention", "link.npy"},
       "--attention link.npy is the file of TOKENS"},
      {{"logits", "none", "t.npy", "--rollout", "soft.npy"}, "--rollout soft.npy is the file of TOKENS"},
      {{"logits", "none", "t.npy", "--out", "a.npy", "--attention", "./a.npy"},
       "--out a.npy is the file of --attention"},
      {{"logits", "none", "t.npy", "--out", "o.npy", "--attention", "a.npy", "--rollout", "a.npy"},
       "--attention a.npy is the file of --rollout"},
      {{"logits", "none", "--pixels", "t.npy", "--rollout", "./t.npy"}, "--rollout ./t.npy is the file of --pixels"},
      {{"logits", "none", "y.npy", "--token-types", "t.npy", "--out", "t.npy"},
       "--out t.npy is the file of --token-types"},
      {{"logits", "none", "y.npy", "--position-ids", "t.npy", "--out", "t.npy"},
       "--out t.npy is the file of --position-ids"},
      {{"logits", "none", "y.npy", "--attention-mask", "t.npy", "--out", "t.npy"},
       "--out t.npy is the file of --attention-mask"},
      {{"logits", "none", "y.npy", "--document-ids", "t.npy", "--out", "t.npy"},
       "--out t.npy is the file of --document-ids"},
      {{"logits", "none", "y.npy", "--decoder-tokens", "t.npy", "--out", "t.npy"},
       "--out t.npy is the file of --decoder-tokens"},
      {{"logits", "t.npy", "y.npy", "--out", "t.npy"}, "--out t.npy is the file of FOLDER"},
  };
  make_npy("t.npy", 1, NPY("|u1", "False", "(2,)"), "\1\2", 2);
  cr_assert_eq(link("t.npy", "link.npy"), 0);
  cr_assert_eq(symlink("t.npy", "soft.npy"), 0);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    struct command c = {0};
    char said[200];
    for (size_t k = 0; k < RS_COUNT(cases[i].arguments); k++) c.arguments[k] = cases[i].arguments[k];
    snprintf(said, sizeof said, "ropescope: %s, which it would be written over (give %s another name)\n", cases[i].said,
             strncmp(cases[i].said, "--out", 5) == 0       ? "--out"
             : strncmp(cases[i].said, "--rollout", 9) == 0 ? "--rollout"
                                                           : "--attention");
    expect_failure(&c, 2, said);
    cr_expect(!exists("o.npy") && !exists("a.npy"));
  }
}

Test(logits_command, tokens_that_are_none__are_refused) {
  static const struct {
    const char *header, *data, *said;
    size_t size;
  } cases[] = {
      {NPY("|u1", "False", "(2,)"), "\1\x61",
       "ropescope: tokens.npy: token 97 of sequence 0 at position 1: the vocabulary has 97\n", 2},
      {NPY("|i1", "False", "(1,)"), "\xff",
       "ropescope: tokens.npy: token -1 of sequence 0 at position 0: the vocabulary has 97\n", 1},
      {NPY("<f2", "False", "(1,)"), "\0\x3e", "ropescope: tokens.npy: number 0 is 1.5, which is no token id\n", 2},
      {NPY("<u4", "False", "(1,)"), "\0\0\0\x80",
       "ropescope: tokens.npy: number 0 is 2.14748e+09, which is no token id\n", 4},
      {NPY("|u1", "False", "(1, 1, 1)"), "\1", "ropescope: tokens.npy: has 3 axes: token ids are (L,) or (B, L)\n", 1},
      {NPY("|u1", "False", "()"), "\1", "ropescope: tokens.npy: has 0 axes: token ids are (L,) or (B, L)\n", 1},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    make_npy("tokens.npy", 1, cases[i].header, cases[i].data, cases[i].size);
    expect_failure(&(command){.arguments = {"logits", model_path("llama"), "tokens.npy", "--out", "logits.npy"}}, 2,
                   cases[i].said);
    cr_expect(!exists("logits.npy"));
  }
}

Test(logits_command, a_text_beyond_a_learned_table__fails) {
  char ones[73];
  memset(ones, 1, sizeof ones);
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(73,)"), ones, sizeof ones);
  expect_failure(&(command){.arguments = {"logits", model_path("gpt2"), "tokens.npy", "--out", "logits.npy"}}, 2,
                 "ropescope: learned: position 72 is beyond the table of 72 rows\n");
}
