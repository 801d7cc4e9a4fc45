/* command_line.c: a command and its words, a line each, through the reader of options. Nothing is run. */
#include "fuzz.h"

#include "../../src/app/cli/cli.h"

enum { WORDS = 5000 }; /* more than are kept */

static void split(const cli_list *list) {
  rs_arena arena = {0};
  size_t count = 0;
  const char *const *names = cli_split_names(list, &arena, &count);
  LAW(!arena.failed);
  for (size_t i = 0; i < count; i++) LAW(names[i][0] != '\0' && strchr(names[i], ',') == NULL);
  rs_arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char *words[WORDS];
  int count = 0;
  char *text = fuzz_text(data, size), *rest = text;
  for (; *rest != '\0' && count < WORDS; count++) {
    words[count] = rest;
    rest = fuzz_rest(rest, '\n');
  }
  int command = count > 0 ? cli_command_find(words[0]) : -1;
  if (command >= 0) {
    cli_options options = {0};
    int status = cli_options_read(command, count, words, &options);
    LAW(status == CLI_OK || status == CLI_USAGE);
    split(&options.jobs);
    split(&options.only);
    cli_options_clear(&options);
  }
  free(text);
  return 0;
}
