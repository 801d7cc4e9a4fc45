/* What may stand in the place of a word that is being typed. Private to completion. */
#ifndef ROPESCOPE_CLI_COMPLETE_H
#define ROPESCOPE_CLI_COMPLETE_H

#include "cli.h"

typedef struct cli_completion {
  int command;
  const char *arguments[CLI_WORDS]; /* before the word */
  size_t argument_count;
  bool of_models;      /* --hf stands before it */
  const char *before;  /* what every candidate begins with: "--model=", "rope," */
  size_t before_count; /* its characters */
  const char *part;    /* what is typed behind that */
  rs_text out;
} cli_completion;

/* Adds a word that begins as what is typed, and what is said of it, or NULL. */
void cli_candidate(cli_completion *c, const char *word, const char *summary);

/* Adds what a value of this name may be ("PRESET"), as the option or command called `owner` has it. */
void cli_complete_value(cli_completion *c, const char *owner, const char *value, size_t length);

#endif
