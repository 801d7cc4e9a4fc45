/* test_exit_status.c: one rule for all commands. What was asked for cannot be read, or is wrong: 2, and nothing was
 * done. What was done failed, as where there is no room for its output: 1. */
#include "../fixtures/program.h"

TestSuite(exit_status, .init = enter_folder, .fini = leave_folder);

Test(exit_status, what_cannot_be_read__is_wrong_input_everywhere) {
  static const command commands[] = {
      {.arguments = {"check", "none.json"}},
      {.arguments = {"check", "empty"}},
      {.arguments = {"explain", "none.json", "--length", "8k"}},
      {.arguments = {"explain", "empty", "--length", "8k"}},
      {.arguments = {"convert", "none.json", "--to", "hf4"}},
      {.arguments = {"show", "frequencies", "--hf", "none.json"}},
      {.arguments = {"show", "layers", "--hf", "empty"}},
      {.arguments = {"show", "frequencies", "none.yaml"}},
      {.arguments = {"solve", "length", "--hf", "none.json"}},
      {.arguments = {"compare", "none.json", "rope"}},
      {.arguments = {"compare", "empty", "rope"}},
      {.arguments = {"run", "none.yaml"}},
      {.arguments = {"plan", "none.yaml"}},
      {.arguments = {"table", "none.csv", "x"}},
      {.arguments = {"plot", "empty"}},
      {.arguments = {"logits", "empty", "none.npy", "--out", "x.npy"}},
  };
  cr_assert_eq(rs_make_directories("empty", NULL), RS_OK);
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    result got = run(&commands[i]);
    cr_expect_eq(got.status, 2, "%s %s: status %d, %s", commands[i].arguments[0], commands[i].arguments[1], got.status,
                 got.err);
    cr_expect_str_eq(got.out, "");
    cr_expect(strncmp(got.err, "ropescope: ", 11) == 0, "%s", got.err);
    result_clear(&got);
  }
}

Test(exit_status, what_cannot_be_written__has_failed) {
  static const command commands[] = {
      {.arguments = {"convert", "config.json", "--to", "hf4", "--out", "none/x.json"}},
      {.arguments = {"list", "methods"}, .out = "/dev/full"},
      {.arguments = {"show", "frequencies", "--hf", "config.json"}, .out = "/dev/full"},
  };
  write_file("config.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                            "\"num_hidden_layers\": 2, \"max_position_embeddings\": 64, \"rope_theta\": 10000.0}");
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    result got = run(&commands[i]);
    cr_expect_eq(got.status, 1, "%s: status %d, %s", commands[i].arguments[0], got.status, got.err);
    result_clear(&got);
  }
}

Test(exit_status, what_is_asked_wrongly__is_said) {
  static const struct {
    const char *arguments[6], *err;
  } cases[] = {
      {{"explain", "a", "b"}, "ropescope: explain takes at most 1 argument (ropescope help explain)\n"},
      {{"table", "r", "x", "--sort", "y"}, "ropescope: --sort y: must be a number\n"},
      {{"table", "r", "x", "--sort", "100"}, "ropescope: --sort 100: must be from -64 to 64\n"},
      {{"table", "r", "x", "--sort", "0"}, "ropescope: --sort 0: columns count from 1\n"},
      {{"verify"}, "ropescope: verify needs a results folder, as in ropescope verify results/quickstart\n"},
      {{"run", "x.yaml", "--shard", "/4"}, "ropescope: --shard /4: write the part and how many there are, as in 2/5\n"},
      {{"run", "x.yaml", "--shard", "2x"}, "ropescope: --shard 2x: write the part and how many there are, as in 2/5\n"},
      {{"run", "x.yaml", "--shard", "2/"}, "ropescope: --shard 2/: write the part and how many there are, as in 2/5\n"},
      {{"run", "x.yaml", "--shard", "2/x"},
       "ropescope: --shard 2/x: write the part and how many there are, as in 2/5\n"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    memcpy(c.arguments, cases[i].arguments, sizeof cases[i].arguments);
    expect_failure(&c, 2, cases[i].err);
  }
}
