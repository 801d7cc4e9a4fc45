/* test_table_command.c: `ropescope table` as JSON; its other forms stand beside the experiments. */
#include "../fixtures/program.h"

TestSuite(table_command, .init = enter_folder, .fini = leave_folder);

static const char csv[] = "method,length_tokens,entropy_nats\nrope,8,1\nrope,16,2\n\"a \"\"b\"\"\",8,\n";

Test(table_command, json__a_list_of_lines) {
  write_file("t.csv", csv);
  char *out =
      output_of(&(command){.arguments = {"table", "t.csv", "entropy_nats", "long: max(length_tokens)", "--json"}});
  cr_expect_str_eq(out,
                   "[\n"
                   "  {\n"
                   "    \"method\": \"rope\",\n"
                   "    \"entropy_nats\": 1.5,\n"
                   "    \"long\": 16\n"
                   "  },\n"
                   "  {\n"
                   "    \"method\": \"a \\\"b\\\"\",\n"
                   "    \"entropy_nats\": null,\n"
                   "    \"long\": 8\n"
                   "  }\n"
                   "]\n",
                   "%s", out);
  free(out);
}

Test(table_command, sort__by_column_0__is_refused) {
  write_file("t.csv", csv);
  expect_failure(&(command){.arguments = {"table", "t.csv", "entropy_nats", "--sort", "0"}}, 2,
                 "ropescope: --sort 0: columns count from 1\n");
}

Test(table_command, lines__of_no_column__say_which_was_meant) {
  write_file("t.csv", csv);
  expect_failure(&(command){.arguments = {"table", "t.csv", "entropy_nats", "--lines", "methd"}}, 2,
                 "ropescope: no column methd (did you mean method?)\n");
}

Test(table_command, columns_that_are_not_there__point_to_those_that_are) {
  static const struct {
    const char *column, *where, *said;
  } cases[] = {
      {"entropy", "", "entropy: no column entropy (did you mean entropy_nats?)"},
      {"max(lenght_tokens)", "", "max(lenght_tokens): no column lenght_tokens (did you mean length_tokens?)"},
      {"needle", "", "needle: no column needle (there are method, length_tokens, entropy_nats)"},
      {"entropy_nats", "length=8", "where: no column length (did you mean length_tokens?)"},
      {"entropy_nats", "length=", "where: \"length=\" has no value, or a very long one (as in method=yarn)"},
      {"entropy_nats", "method", "where: \"method\" is no condition (as in method=yarn)"},
      {"entropy_nats where head=1", "method=rope",
       "entropy_nats where head=1: no column head (there are method, length_tokens, entropy_nats)"},
  };
  write_file("t.csv", csv);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char wanted[256];
    snprintf(wanted, sizeof wanted, "ropescope: %s\n", cases[i].said);
    expect_failure(&(command){.arguments = {"table", "t.csv", cases[i].column, "--where", cases[i].where}}, 2, wanted);
  }
}

Test(table_command, two_forms__are_refused) {
  expect_failure(&(command){.arguments = {"table", "t.csv", "entropy_nats", "--json", "--markdown"}}, 2,
                 "ropescope: --markdown and --json are two forms: keep one\n");
}

/* A sparse file, which takes no disk: it is refused before it takes memory. */
Test(table_command, more_than_a_gibibyte__is_refused) {
  write_file("t.csv", csv);
  cr_assert_eq(truncate("t.csv", (off_t)1100 << 20), 0);
  expect_failure(&(command){.arguments = {"table", "t.csv", "entropy_nats"}, .memory = 1000 << 20}, 2,
                 "ropescope: t.csv: has 1100 MiB, and at most 1024 MiB are read (keep the columns or rows that are "
                 "wanted, or split it into several files)\n");
}
