/* ropescope --complete WORD...: what may stand in the place of the last word. The scripts of completions/ ask it. A
 * line is a candidate, a tab and what it is; or ":files EXTENSION..." or ":folders", which a shell lists itself. */
#include "cli.h"

#include <string.h>

/* The option of the command that a word like --model or --model=gpt2 names. */
static bool find_option(int command, const char *word, cli_option *option) {
  if (strncmp(word, "--", 2) != 0) return false;
  size_t length = strcspn(word + 2, "=");
  for (size_t i = 0; cli_option_at(command, i, option); i++)
    if (strlen(option->name) == length && strncmp(option->name, word + 2, length) == 0) return true;
  return false;
}

static void complete_commands(cli_completion *c) {
  for (int i = 0; i < CLI_COMMANDS; i++) cli_candidate(c, cli_commands[i].name, cli_commands[i].summary);
  if (*c->part != '-') return;
  cli_candidate(c, "--help", "what there is");
  cli_candidate(c, "--version", "print the version");
}

static void complete_option(cli_completion *c) {
  cli_option option;
  for (size_t i = 0; cli_option_at(c->command, i, &option); i++) {
    char word[64] = "--";
    strncat(word, option.name, sizeof word - 3);
    cli_candidate(c, word, option.help);
  }
}

/* `part` is what is typed of the value. A list with commas is completed behind the last. */
static void complete_option_value(cli_completion *c, const cli_option *option, const char *part) {
  const char *comma = strrchr(part, ',');
  bool list = strchr(option->value, ',') != NULL || strcmp(option->value, "LIST") == 0;
  c->part = list && comma != NULL ? comma + 1 : part;
  c->before_count = (size_t)(c->part - c->before);
  for (const char *const *word = option->words; word != NULL && *word != NULL; word++) cli_candidate(c, *word, NULL);
  if (option->words == NULL) cli_complete_value(c, option->name, option->value, strcspn(option->value, ","));
}

/* The argument behind those that are there: part `argument_count` of a text like "RESULTS COLUMN..." or "[NAME]". */
static void complete_argument(cli_completion *c) {
  const char *place = cli_commands[c->command].arguments, *name = cli_commands[c->command].name;
  for (size_t left = c->argument_count; left > 0; left--) {
    size_t length = strcspn(place, " ");
    if (place[length] == '\0') {
      if (strstr(place, "...") == NULL && !c->of_models) return;
      break;
    }
    place += length + 1;
  }
  place += *place == '[';
  cli_complete_value(c, name, place, strcspn(place, " ].,"));
}

/* Bash hands on --model=gpt2 as three words, the others as one. */
static void complete_words(cli_completion *c, size_t count, char **words) {
  cli_option option = {0}, pending = {0};
  const char *last = words[count - 1];
  bool ended = false;
  for (size_t i = 1; i + 1 < count; i++) {
    const char *word = words[i];
    if (pending.name != NULL) {
      if (strcmp(word, "=") != 0) pending = (cli_option){0};
    } else if (ended || *word != '-') {
      if (c->argument_count < CLI_WORDS) c->arguments[c->argument_count++] = word;
    } else if (strcmp(word, "--") == 0) {
      ended = true;
    } else if (find_option(c->command, word, &option)) {
      c->of_models |= strcmp(option.name, "hf") == 0;
      if (option.value != NULL && strchr(word, '=') == NULL) pending = option;
    }
  }
  c->before = c->part = last;
  if (pending.name != NULL) {
    c->before += strcmp(last, "=") == 0;
    complete_option_value(c, &pending, c->before);
  } else if (ended || *last != '-') {
    complete_argument(c);
  } else if (strchr(last, '=') == NULL) {
    complete_option(c);
  } else if (find_option(c->command, last, &option) && option.value != NULL) {
    complete_option_value(c, &option, strchr(last, '=') + 1);
  }
}

int cli_complete(size_t count, char **words) {
  cli_completion c = {.before = "", .part = count > 0 ? words[0] : ""};
  if (count < 2) {
    complete_commands(&c);
    return cli_put(&c.out, CLI_DATA) ? CLI_OK : CLI_FAILED;
  }
  for (; c.command < CLI_COMMANDS; c.command++)
    if (strcmp(cli_commands[c.command].name, words[0]) == 0) break;
  if (c.command < CLI_COMMANDS) complete_words(&c, count, words);
  return cli_put(&c.out, CLI_DATA) ? CLI_OK : CLI_FAILED;
}
