/* test_completion.c: what ropescope --complete offers, manual pages, the width of help. */
#include "../fixtures/program.h"

TestSuite(completion, .init = enter_folder, .fini = leave_folder);

/* ---- completion -------------------------------------------------------------------------------------------------- */

/* Whether a line of `out` is `word`, alone or with what is said of it behind a tab. */
static bool offers(const char *out, const char *word) {
  size_t length = strlen(word);
  for (const char *line = out; *line != '\0'; line += strcspn(line, "\n") + 1)
    if (strncmp(line, word, length) == 0 && (line[length] == '\n' || line[length] == '\t')) return true;
  return false;
}

static char *complete(const char *const *words) {
  command c = {.arguments = {"--complete"}};
  for (size_t i = 0; words[i] != NULL; i++) c.arguments[i + 1] = words[i];
  return output_of(&c);
}

Test(completion, words__offer_what_fits_and_nothing_else) {
  static const struct {
    const char *words[7], *with, *without;
  } cases[] = {
      {{NULL}, "run", "--help"},
      {{""}, "run", "--help"},
      {{"re"}, "reproduce", "run"},
      {{"--h"}, "--help", "help"},
      {{"frobnicate", ""}, NULL, "run"},
      /* options: those of the command, and no more once they are ended */
      {{"run", "--"}, "--set", "--rtol"},
      {{"compare", "--r"}, "--rtol", "--isa"},
      {{"run", "--", "--"}, ":files yaml yml", "--set"},
      {{"show", "--", "scale", ""}, ":files yaml yml", "layers"},
      {{"show", "--nonsense", ""}, "scale", ":files yaml yml"},
      {{"show", "-", ""}, "scale", ":files yaml yml"},
      {{"show", "-x", ""}, "scale", ":files yaml yml"},
      {{"show", "--model=x", "-"}, "--model", "scale"},
      {{"show", "--nonsense="}, NULL, "scale"},
      {{"show", "--quiet="}, NULL, "scale"},
      /* their values: behind a space, behind '=', and as bash takes them apart */
      {{"show", "--model", "gpt"}, "gpt2", "llama-2-7b"},
      {{"show", "--model=gpt"}, "--model=gpt2", "gpt2"},
      {{"show", "--model", "=", "gpt"}, "gpt2", "llama-2-7b"},
      {{"show", "--model", "="}, "llama-2-7b", ":files"},
      {{"show", "--model", "gpt2", ""}, "slopes", "gpt2"},
      {{"show", "--model=gpt2", ""}, "slopes", "gpt2"},
      {{"run", "--isa", ""}, "generic", "rope"},
      {{"run", "--quiet", ""}, ":files yaml yml", "generic"},
      {{"run", "--threads", ""}, NULL, ":files yaml yml"},
      {{"check", "--format", ""}, "sarif", "png"},
      {{"plot", "r", "--format", ""}, "png", "sarif"},
      {{"run", "--out", ""}, ":folders", ":files"},
      {{"run", "--methods", "rope,ya"}, "rope,yarn", "yarn"},
      {{"run", "--methods=rope,ya"}, "--methods=rope,yarn", "--methods=yarn"},
      {{"solve", "--method", "yar"}, "yarn", "rope"},
      {{"solve", "--methods", "rerope,ya"}, "rerope,yarn", "yarn"},
      {{"solve", "--checkpoint", ""}, ":files gguf", ":folders"},
      {{"solve", "--text", ""}, ":files npy", ":files"},
      {{"check", "--engine", "vllm,tr"}, "vllm,transformers", "vllm,vllm"},
      {{"check", "--ignore", "RS2"}, "RS201", "RS101"},
      {{"convert", "--to", ""}, "mlx", "hf"},
      {{"bench", "--job", "statistics_"}, "statistics_f32", "read"},
      /* arguments, by their number */
      {{"show", ""}, "layers", "base"},
      {{"show", "scale", ""}, ":files yaml yml", "layers"},
      {{"show", "scale", "a.yaml", ""}, NULL, ":files yaml yml"},
      {{"solve", ""}, "setting", "frequencies"},
      {{"list", ""}, "metrics", "entropy"},
      {{"list", "metrics", ""}, "needle", "yarn"},
      {{"help", "so"}, "solve", "show"},
      {{"compare", "gpt2", "gpt-"}, "gpt-oss", "llama-2-7b"},
      {{"compare", "gpt2", "gpt2", ""}, NULL, "gpt2"},
      {{"check", "a", "b", ""}, ":files json", ":files"},
      {{"logits", ""}, ":folders", ":files npy"},
      {{"logits", "f", ""}, ":files npy", ":folders"},
      {{"run", "--hf", "a", ""}, ":files json", ":files yaml yml"},
      {{"plot", ""}, ":folders", ":files"},
      /* what comes with the program */
      {{"run", "quick"}, "quickstart", "flip-flop"},
      {{"plan", "flip"}, "flip-flop", "quickstart"},
      {{"reproduce", "flip-flop", "yarn"}, "yarn-temperature", "yarn"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *out = complete(cases[i].words);
    if (cases[i].with != NULL) cr_expect(offers(out, cases[i].with), "%zu: no %s: %s", i, cases[i].with, out);
    cr_expect(!offers(out, cases[i].without), "%zu: %s: %s", i, cases[i].without, out);
    if (cases[i].with == NULL) cr_expect_str_empty(out, "%zu", i);
    free(out);
  }
}

Test(completion, columns__are_those_of_the_results) {
  static const struct {
    const char *words[6], *with;
  } cases[] = {
      {{"table", "r", ""}, "effective,tokens"},
      {{"table", "r", "method", "entropy"}, "entropy_nats"},
      {{"table", "r/summary.csv", "m"}, "method"},
      {{"table", "r", "--lines", ""}, "method"},
      {{"table", "r", "--where", "len"}, "length_tokens="},
      {{"plot", "r", "--only", "entropy_nats,dec"}, "entropy_nats,decay"},
      {{"plot", "r", "--only", "ent"}, "entropy_nats"},
  };
  static const char *const none[][5] = {
      {"table", "nowhere", ""}, {"table", ".", ""}, {"plot", "nowhere", "--only", ""}};
  cr_assert_eq(rs_make_directories("r", NULL), RS_OK);
  write_file("r/summary.csv", "method,length_tokens,entropy_nats,\"effective,tokens\"\nrope,1,2,3\n\"");
  write_file("r/decay.csv", "method,lag,score\n");
  /* Beside the curves: times, which are no picture, and names that none has. */
  char longest[160];
  snprintf(longest, sizeof longest, "r/%0*d.csv", 130, 0);
  write_file("r/timings.csv", "method,seconds\n");
  write_file("r/.csv", "method\n");
  write_file("r/decay.svg", "<svg/>");
  write_file(longest, "method\n");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *out = complete(cases[i].words);
    cr_expect(offers(out, cases[i].with), "%zu: %s: %s", i, cases[i].with, out);
    cr_expect(!offers(out, "summary") && !offers(out, "timings") && !offers(out, "decay.svg") && !offers(out, ""),
              "%zu: %s", i, out);
    cr_expect_null(strstr(out, "00000"), "%zu: %s", i, out);
    free(out);
  }
  for (size_t i = 0; i < RS_COUNT(none); i++) {
    char *out = complete(none[i]);
    cr_expect_str_empty(out, "%s", none[i][1]);
    free(out);
  }
}

/* ---- manual pages ------------------------------------------------------------------------------------------------ */

/* The names of all commands, as completion has them, in turn. NULL past the last. */
static char *next_command(char **rest) {
  char *line = strsep(rest, "\n");
  if (line == NULL || *line == '\0') return NULL;
  line[strcspn(line, "\t")] = '\0';
  return line;
}

Test(completion, manual__a_page_for_each_command_with_its_options) {
  char *all = complete((const char *[]){"", NULL}), *program = output_of(&(command){.arguments = {"help", "--man"}});
  size_t count = 0;
  char *rest = all;
  for (char *name; (name = next_command(&rest)) != NULL; count++) {
    char line[64], *page = output_of(&(command){.arguments = {"help", name, "--man"}});
    snprintf(line, sizeof line, "\n.Nm ropescope-%s\n", name);
    cr_expect_not_null(strstr(page, line), "%s", page);
    snprintf(line, sizeof line, "\n.Nm ropescope %s\n", name);
    cr_expect_not_null(strstr(page, line), "%s", page);
    snprintf(line, sizeof line, ".It Xr ropescope-%s 1\n", name);
    cr_expect_not_null(strstr(program, line), "%s", name);
    char *options = complete((const char *[]){name, "--", NULL}), *more = options;
    for (char *option; (option = next_command(&more)) != NULL;) {
      rs_text item = {0};
      rs_text_puts(&item, "\n.It Fl ");
      for (const char *c = option + 1; *c != '\0'; c++) rs_text_printf(&item, *c == '-' ? "\\-" : "%c", *c);
      cr_expect_not_null(strstr(page, rs_text_string(&item)), "%s %s: %s", name, option, page);
      rs_text_clear(&item);
    }
    free(options);
    free(page);
  }
  cr_expect_geq(count, 19);
  free(program);
  free(all);
}

/* ---- width ------------------------------------------------------------------------------------------------------- */

/* Lines but examples, which stand as they can be copied, and usage. */
static size_t widest_line(const char *help) {
  size_t widest = 0;
  for (const char *line = help; *line != '\0'; line += strcspn(line, "\n") + 1) {
    size_t length = strcspn(line, "\n");
    if (strncmp(line, "Examples:", 9) == 0) break;
    if (strncmp(line, "Usage:", 6) != 0 && length > widest) widest = length;
  }
  return widest;
}

Test(completion, help__as_wide_as_columns_says_and_never_wider_than_100) {
  static const struct {
    const char *columns;
    size_t least, most;
  } cases[] = {{"COLUMNS=60", 50, 60}, {"COLUMNS=80", 70, 80},    {"COLUMNS=100", 90, 100}, {"COLUMNS=300", 90, 100},
               {"COLUMNS=1", 30, 40},  {"COLUMNS=wide", 90, 100}, {"COLUMNS=-5", 90, 100}};
  char *all = complete((const char *[]){"", NULL}), *rest = all;
  for (char *name; (name = next_command(&rest)) != NULL;) {
    char *out = output_of(&(command){.arguments = {"help", name}, .environment = {"COLUMNS=60"}});
    cr_expect_leq(widest_line(out), 60, "%s", out);
    free(out);
  }
  free(all);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *out = output_of(&(command){.arguments = {"help", "run"}, .environment = {cases[i].columns}});
    cr_expect_leq(widest_line(out), cases[i].most, "%s: %s", cases[i].columns, out);
    cr_expect_geq(widest_line(out), cases[i].least, "%s: %s", cases[i].columns, out);
    free(out);
    out = output_of(&(command){.arguments = {"--help"}, .environment = {cases[i].columns}});
    cr_expect_leq(widest_line(out), cases[i].most, "%s: %s", cases[i].columns, out);
    free(out);
  }
}
