/* test_help_command.c: help, version and wrong use. */
#include "../fixtures/program.h"
#include "../say.h"

TestSuite(help_command, .init = enter_folder, .fini = leave_folder);

static const char *const commands[] = {"run",     "plan",    "list",  "show",   "plot",  "table",   "reproduce",
                                       "convert", "compare", "solve", "logits", "bench", "version", "help"};

/* ---- help -------------------------------------------------------------------------------------------------------- */

Test(help_command, help__names_every_command_and_says_where_more_is) {
  char *first = output_of(&(command){.arguments = {"--help"}}), usage[32];
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    snprintf(usage, sizeof usage, "\n  %s ", commands[i]);
    cr_expect_not_null(strstr(first, usage), "no %s", commands[i]);
  }
  cr_expect_not_null(strstr(first, "ropescope help COMMAND"), "%s", first);
  cr_expect_not_null(strstr(first, "Exit status:"), "%s", first);
  static const command others[] = {{{"-h"}, {0}, NULL, 0, 0}, {{0}, {0}, NULL, 0, 0}, {{"help"}, {0}, NULL, 0, 0}};
  for (size_t i = 0; i < RS_COUNT(others); i++) {
    char *out = output_of(&others[i]);
    cr_expect_str_eq(out, first, "%zu", i);
    free(out);
  }
  free(first);
}

/* One text, whichever way it is asked for; a command line that is wrong behind it is not read. */
Test(help_command, help_of_a_command__four_ways) {
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    char usage[64], *first = output_of(&(command){.arguments = {"help", commands[i]}});
    const command ways[] = {{{commands[i], "--help"}, {0}, NULL, 0, 0},
                            {{commands[i], "-h"}, {0}, NULL, 0, 0},
                            {{commands[i], "--quiet", "a", "b", "c", "-h"}, {0}, NULL, 0, 0}};
    snprintf(usage, sizeof usage, "Usage: ropescope %s ", commands[i]);
    cr_expect_eq(strncmp(first, usage, strlen(usage)), 0, "%s", first);
    for (size_t w = 0; w < RS_COUNT(ways); w++) {
      char *out = output_of(&ways[w]);
      cr_expect_str_eq(out, first, "%s %zu", commands[i], w);
      free(out);
    }
    free(first);
  }
}

/* The examples are command lines of the command that the program understands: the shell reads them, with --help. */
Test(help_command, help_of_a_command__two_examples_that_hold) {
  for (size_t i = 0; i < RS_COUNT(commands); i++) {
    char begin[64], *help = output_of(&(command){.arguments = {"help", commands[i]}}), *rest = NULL;
    char *line = strtok_r(strstr(help, "Examples:\n") + strlen("Examples:\n"), "\n", &rest);
    size_t count = 0;
    snprintf(begin, sizeof begin, "  ropescope %s", commands[i]);
    for (; line != NULL && strncmp(line, "  ropescope ", 12) == 0; line = strtok_r(NULL, "\n", &rest), count++) {
      int status;
      bool version = strcmp(line, "  ropescope --version") == 0;
      cr_expect(version || strncmp(line, begin, strlen(begin)) == 0, "%s", line);
      if (version) continue;
      rs_text shell = {0};
      rs_text_printf(&shell, "%s --help", line + strlen("  ropescope "));
      char *out = say_line("\"$ROPESCOPE\"", rs_text_string(&shell), &status);
      cr_expect(status == 0 && strncmp(out, "Usage:", 6) == 0, "%s: %s", line, out);
      rs_text_clear(&shell);
      free(out);
    }
    cr_expect_eq(count, 2, "%s has %zu examples", commands[i], count);
    free(help);
  }
}

/* What the examples name is there. */
Test(help_command, help_of_a_command__examples_name_what_there_is) {
  char *bench = output_of(&(command){.arguments = {"help", "bench"}}), *found = strstr(bench, "--job "), word[64];
  char *reproduce = output_of(&(command){.arguments = {"help", "reproduce"}}), *jobs;
  while (found != NULL && sscanf(found, "--job %63[a-z_0-9] --threads", word) != 1) found = strstr(found + 1, "--job ");
  cr_assert_not_null(found, "%s", bench);
  jobs = output_of(&(command){.arguments = {"bench", "--list"}});
  rs_text listed = {0}, folder_of = {0};
  rs_text_printf(&listed, "\n    %s ", word);
  cr_expect_not_null(strstr(jobs, rs_text_string(&listed)), "%s is no job", word);
  found = strstr(reproduce, " --markdown\n");
  cr_assert_not_null(found);
  while (found[-1] != ' ') found--;
  cr_assert_eq(sscanf(found, "%63s", word), 1);
  rs_text_printf(&folder_of, "%s/../experiments/formulas/%s/expected.csv", getenv("ROPESCOPE_TESTS"), word);
  cr_expect(exists(rs_text_string(&folder_of)), "%s is no experiment", word);
  rs_text_clear(&listed);
  rs_text_clear(&folder_of);
  free(reproduce);
  free(bench);
  free(jobs);
}

Test(help_command, version__name_and_number) {
  static const char *const words[] = {"version", "--version", "-V"};
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    char *out = output_of(&(command){.arguments = {words[i]}});
    unsigned number[3], candidate;
    int length = 0;
    cr_expect_eq(sscanf(out, "ropescope %u.%u.%u%n", &number[0], &number[1], &number[2], &length), 3, "%s", out);
    bool ends = strcmp(out + length, "\n") == 0 || sscanf(out + length, "-rc%u", &candidate) == 1;
    cr_expect(ends && strchr(out, '\n')[1] == '\0', "%s", out);
    free(out);
  }
}

Test(help_command, wrong_use__status_2_and_why) {
  static const struct {
    const char *arguments[6], *err;
  } cases[] = {
      {{"frobnicate"}, "no command frobnicate (ropescope --help shows them)"},
      {{"plann"}, "no command plann (did you mean plan?)"},
      {{"--quiet"}, "no command --quiet (ropescope --help shows them)"},
      {{"run", "--ouy", "x"}, "no option --ouy (did you mean --out?)"},
      {{"run", "--xyzzy"}, "no option --xyzzy (ropescope help run shows them)"},
      {{"run", "--out"}, "--out needs a value"},
      {{"run", "--set"}, "--set needs a value"},
      {{"run", "--out", ""}, "--out is empty (write --out DIR)"},
      {{"show", "scale", "--model="}, "--model is empty (write --model PRESET)"},
      {{"run", "--threads", "0"}, "--threads 0: must be from 1 to 1024"},
      {{"run", "--threads", "two"}, "--threads two: must be a number"},
      {{"run", "--threads", "1.5"}, "--threads 1.5: must be a whole number"},
      {{"show", "scale", "--length", "-3"}, "--length -3: must be from 1 to 268435456"},
      {{"run", "a", "b"}, "one config is read at a time (files of models stand behind --hf)"},
      {{"show", "a", "b", "c"}, "show takes at most 2 arguments (ropescope help show)"},
      {{"version", "x"}, "version takes no arguments (ropescope help version)"},
      {{"plot"}, "plot needs a results folder, as in ropescope plot results/quickstart"},
      {{"show", "slope"}, "no table slope (did you mean slopes?)"},
      {{"--hlep"}, "no command --hlep (did you mean --help?)"},
      {{"help", "rum"}, "no command rum (did you mean run?)"},
      {{"run", "-q"}, "no option -q (ropescope help run shows them)"},
      {{"run", "--quie"}, "no option --quie (did you mean --quiet?)"},
      {{"run", "--", "-a", "--set"}, "one config is read at a time (files of models stand behind --hf)"},
      {{"run", "--length", "8k"}, "--length does not go with run (did you mean --lengths?)"},
      {{"run", "--quiet=yes"}, "--quiet takes no value"},
      {{"run", "--isa", "v5"}, "no --isa v5 (did you mean v4?)"},
      {{"run", "--isa=xyzzy"}, "no --isa xyzzy (there are auto, v4, v3, neon and generic)"},
      {{"solve"}, "a quantity is missing: base, factor, length, setting or evidence"},
      {{"solve", "base", "--criterion", "odd"}, "no --criterion odd (did you mean ood?)"},
      {{"show"}, "a table is missing: frequencies, positions, scale, slopes, bias, embedding or layers"},
      {{"show", "xyzzy"},
       "no table xyzzy (there are frequencies, positions, scale, slopes, bias, embedding and layers)"},
      {{"list", "metric"}, "nothing is called metric (did you mean metrics?)"},
      {{"list", "yanr"}, "nothing is called yanr (did you mean yarn?)"},
      {{"list", "metrics", "needel"}, "nothing is called needel (did you mean needle?)"},
      {{"list", "metrics", "yarn"}, "nothing in metrics is called yarn (ropescope list metrics shows them)"},
      {{"list", "metric", "needle"}, "no list metric (did you mean metrics?)"},
      {{"list", "things", "needle"},
       "no list things (there are methods, kinds, sources, tasks, checkpoint, metrics, models, architectures, "
       "dialects, findings and engines)"},
      {{"plan", "--set", "x"}, "--set x: has no '=' (like --set methods[1].factor=8)"},
      {{"plan", "--set", "methods[99].factor=8"},
       "--set methods[99].factor=8: the list has 7 entries, and indices start at 0"},
      {{"show", "scale"}, "the config has 7 methods: choose one with --set methods=[yarn]"},
      {{"show", "scale", "--set", "methods=rope"}, "the config has 6 lengths: choose one with --length"},
      {{"show", "slopes", "--model", "gpt2"}, "the method has no bias, hence no slopes (alibi has)"},
      {{"show", "slopes", "--model", "gpt2", "--method", "t5"}, "the bias has no slopes (alibi's has)"},
      {{"show", "bias", "--model", "gpt2"}, "the method has no bias (alibi, t5, kerple and others have)"},
      {{"show", "embedding", "--model", "llama-2-7b"},
       "the method adds no embedding (sinusoidal, learned and their 2d forms do)"},
      {{"show", "frequencies", "--model", "mpt-7b"}, "alibi turns no pairs: it has no frequencies"},
      {{"show", "scale", "--hf=x.json", "--model=gpt2"}, "--hf and --model both name a model: keep one"},
      {{"show", "scale", "c.yaml", "--model=gpt2"}, "a config and --hf or --model both name a model: keep one"},
      {{"show", "scale", "c.yaml", "--hf=x.json"}, "a config and --hf or --model both name a model: keep one"},
      {{"show", "scale", "--method=rope"}, "--method needs --model or --hf"},
      {{"show", "scale", "c.yaml", "--method=rope"}, "--method needs --model or --hf"},
      {{"list", "yarn", "--markdown"}, "--markdown goes with a whole list, as in ropescope list models --markdown"},
      {{"list", "--markdown", "models", "gpt-oss"},
       "--markdown goes with a whole list, as in ropescope list models --markdown"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    rs_text err = {0};
    for (size_t k = 0; k < RS_COUNT(cases[i].arguments); k++) c.arguments[k] = cases[i].arguments[k];
    rs_text_printf(&err, "ropescope: %s\n", cases[i].err);
    expect_failure(&c, 2, err.data);
    rs_text_clear(&err);
  }
}

Test(help_command, missing_files__status_2_and_their_names) {
  static const struct {
    const char *arguments[4], *err;
  } cases[] = {
      {{"run", "no.yaml"}, "ropescope: no.yaml: cannot read: No such file or directory\n"},
      {{"plan", "."}, "ropescope: .: cannot read: Is a directory\n"},
      {{"show", "scale", "--hf", "no.json"}, "ropescope: no.json: cannot read: No such file or directory\n"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    for (size_t k = 0; k < RS_COUNT(cases[i].arguments); k++) c.arguments[k] = cases[i].arguments[k];
    expect_failure(&c, 2, cases[i].err);
  }
}

Test(help_command, wrong_config__status_2_all_problems_and_nothing_written) {
  write_file("bad.yaml", "model: lama-2-7b\nmethods: [yarm]\nlengths: 1,5\n");
  static const char *const words[] = {"run", "plan"};
  for (size_t i = 0; i < RS_COUNT(words); i++)
    expect_failure(&(command){.arguments = {words[i], "bad.yaml"}}, 2,
                   "bad.yaml:1:8: model = lama-2-7b: is no model preset (did you mean llama-2-7b?)\n"
                   "bad.yaml:3:10: lengths = 1,5: has a comma (write decimals with '.', thousands bare)\n"
                   "bad.yaml:2:11: methods[0] = yarm: is no method (did you mean yarn?)\n"
                   "ropescope: bad.yaml: 3 problems\n");
  expect_failure(&(command){.arguments = {"run", "bad.yaml", "--out", "o"}, .file_size = 0}, 2,
                 "bad.yaml:1:8: model = lama-2-7b: is no model preset (did you mean llama-2-7b?)\n"
                 "bad.yaml:3:10: lengths = 1,5: has a comma (write decimals with '.', thousands bare)\n"
                 "bad.yaml:2:11: methods[0] = yarm: is no method (did you mean yarn?)\n"
                 "ropescope: bad.yaml: 3 problems\n");
  char *names = names_in(".", "");
  cr_expect_str_eq(names, "bad.yaml", "%s", names);
  free(names);
}
