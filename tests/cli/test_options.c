/* test_options.c: which options go with which commands, by the reader of the command line. */
#include "../fixtures/program.h"

#include "../../src/app/cli/cli.h"

static bool is_among(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)) != NULL; at++)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
  return false;
}

/* The status of reading one option and a word that ends the reading; *said is what it says on stderr. Release with
 * free(). */
static int read_words(int index, const char *option, char **said) {
  char *words[] = {(char *)cli_commands[index].name, (char *)option, "--xyzzy"};
  cli_options options = {0};
  FILE *file = tmpfile();
  int kept = dup(STDERR_FILENO);
  cr_assert(file != NULL && kept >= 0);
  fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  int status = cli_options_read(index, RS_COUNT(words), words, &options);
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  cli_options_clear(&options);
  *said = read_back(file);
  return status;
}

/* Each option with each command: wrong pairs are refused by name, right ones get as far as the word behind them, and
 * the help of a command shows its own options alone. */
Test(options, every_pair__goes_with_its_commands_alone) {
  static const struct {
    const char *option, *with; /* the commands it goes with; NULL: all */
  } options[] = {
      {"--set=seeds=2", "run plan show"},
      {"--lengths=8", "run plan"},
      {"--methods=rope", "run plan solve"},
      {"--checkpoint=x", "solve"},
      {"--text=x", "solve"},
      {"--reads=2", "solve"},
      {"--targets=2", "solve"},
      {"--length=8", "show plot convert compare solve explain explore"},
      {"--threads=1", NULL},
      {"--out=o", "run merge plan reproduce report convert logits solve"},
      {"--to=32k", "convert solve"},
      {"--inv-freq=csv", "convert"},
      {"--for=hf5", "solve"},
      {"--port=8080", "explore"},
      {"--pair=0", "explain"},
      {"--last=1", "logits"},
      {"--precision=f64", "logits"},
      {"--checkpoints=k", "run plan reproduce"},
      {"--position-ids=x", "logits"},
      {"--attention-mask=x", "logits"},
      {"--document-ids=x", "logits"},
      {"--decoder-tokens=x", "logits"},
      {"--pixels=x", "logits"},
      {"--token-types=x", "logits"},
      {"--force", "run merge reproduce solve"},
      {"--fresh", "run merge reproduce solve"},
      {"--partial", "run merge"},
      {"--shard=1/2", "run plan"},
      {"--still", "report"},
      {"--hf=x", "run plan show compare solve explore"},
      {"--model=gpt2", "show compare solve explore"},
      {"--method=rope", "show solve explore"},
      {"--layers=0", "run plan show convert compare solve explain explore"},
      {"--criterion=ood", "solve"},
      {"--head-dim=64", "solve"},
      {"--base=1e4", "solve"},
      {"--quiet", NULL},
      {"--rtol=0", "compare"},
      {"--csv=x", "bench"},
      {"--json", "list table show solve convert compare check explain"},
      {"--print", "run merge"},
      {"--markdown", "list table reproduce"},
      {"--lines=model", "table"},
      {"--where=seed=0", "table"},
      {"--sort=1", "table"},
      {"--less=a", "table"},
      {"--only=decay", "plot"},
      {"--man", "help"},
      {"--format=text", "plot check"},
      {"--findings", "check"},
      {"--engine=vllm", "check"},
      {"--ignore=RS603", "check"},
      {"--all", "plot"},
      {"--job=read", "bench"},
      {"--rounds=1", "bench"},
      {"--quick", "bench"},
      {"--all-isa", "bench"},
      {"--list", "bench reproduce"},
      {"--full", "reproduce"},
      {"--experiments=e", "reproduce"},
      {"--isa=auto", NULL},
  };
  for (int c = 0; c < CLI_COMMANDS; c++) {
    const char *verb = cli_commands[c].name;
    char *help = output_of(&(struct command){.arguments = {"help", verb}});
    for (size_t o = 0; o < RS_COUNT(options); o++) {
      char name[32], shown[40], want[80], *said;
      snprintf(name, sizeof name, "%.*s", (int)strcspn(options[o].option + 2, "="), options[o].option + 2);
      snprintf(shown, sizeof shown, "\n  --%s ", name);
      bool bare = strcmp(verb, "compare") == 0 || strcmp(verb, "show") == 0;
      if (strcmp(name, "csv") == 0 && bare) continue; /* there without a value */
      bool fits = options[o].with == NULL || is_among(options[o].with, verb);
      bool former = strcmp(name, "to") == 0 && strcmp(verb, "solve") == 0; /* which --length was called */
      cr_expect_eq(strstr(help, shown) != NULL, fits && !former, "help %s: --%s", verb, name);
      snprintf(want, sizeof want, fits ? "ropescope: no option --xyzzy" : "ropescope: --%s does not go with %s", name,
               verb);
      int status = read_words(c, options[o].option, &said);
      cr_expect(status == CLI_USAGE && strncmp(said, want, strlen(want)) == 0, "%s %s: %s", verb, options[o].option,
                said);
      free(said);
    }
    free(help);
  }
}

/* Of two values one would be ignored; lists grow, and flags say the same again. */
Test(options, twice__is_refused_but_for_lists_and_flags) {
  cli_options options = {0};
  char *twice[] = {"run", "--threads=1", "--quiet", "--quiet", "--set", "a=1", "--set", "b=2", "--threads", "1"};
  cr_expect_eq(cli_options_read(CLI_RUN, RS_COUNT(twice) - 2, twice, &options), CLI_OK);
  cr_expect_eq(options.edits.count, 2);
  cli_options_clear(&options);
  expect_failure(&(command){.arguments = {"run", "--threads", "2", "--threads=3"}}, 2,
                 "ropescope: --threads is given twice: keep one\n");
  expect_failure(&(command){.arguments = {"table", "x", "y", "--less=a", "--less", "a"}}, 2,
                 "ropescope: --less is given twice: keep one\n");
}
