/* ropescope help --man: manual pages in mdoc(7), from the tables that --help is made of. */
#include "cli.h"

#include <ctype.h>
#include <string.h>

/* Appends one word or example as roff takes it: no escape, no macro, minus signs that can be copied. */
static void put_literal(rs_text *text, const char *words, size_t length) {
  static const char special[] = "\\-\"'`~^";
  static const char *const escapes[] = {"\\e", "\\-", "\\(dq", "\\(aq", "\\(ga", "\\(ti", "\\(ha"};
  for (size_t i = 0; i < length; i++) {
    const char *found = strchr(special, words[i]);
    if (found != NULL)
      rs_text_puts(text, escapes[found - special]);
    else
      rs_text_add(text, &words[i], 1);
  }
}

/* Text to be filled: sentences begin lines, as roff asks for, lines are short, and none begins like a macro. */
static void put_sentences(rs_text *text, const char *words) {
  enum { LINE = 76 };
  size_t start = text->length; /* of the line */
  for (words += strspn(words, " \n"); *words != '\0';) {
    size_t length = strcspn(words, " \n");
    bool begins = text->length == start;
    if (!begins && text->length - start + length > LINE) {
      rs_text_puts(text, "\n");
      start = text->length;
      begins = true;
    }
    rs_text_puts(text, !begins ? " " : *words == '.' || *words == '\'' ? "\\&" : "");
    put_literal(text, words, length);
    const char *rest = words + length + strspn(words + length, " \n");
    if (length > 2 && words[length - 1] == '.' && isupper((unsigned char)*rest)) { /* a sentence ends */
      rs_text_puts(text, "\n");
      start = text->length;
    }
    words = rest;
  }
  if (text->length > start) rs_text_puts(text, "\n");
}

/* A summary begins small, without a full stop. */
static void put_summary(rs_text *text, const char *summary) {
  char first = (char)toupper((unsigned char)*summary);
  RS_OWNED(rs_text) line = {0};
  rs_text_printf(&line, "%c%s.", first, summary + 1);
  put_sentences(text, rs_text_string(&line));
}

static void put_head(rs_text *text, const char *command, const char *summary) {
  rs_text_puts(text, ".\\\" Made by ropescope help --man.\n.Dd " ROPESCOPE_DATE "\n.Dt ROPESCOPE");
  if (*command != '\0') rs_text_puts(text, "-");
  for (const char *c = command; *c != '\0'; c++) rs_text_printf(text, "%c", toupper((unsigned char)*c));
  rs_text_printf(text, " 1\n.Os\n.Sh NAME\n.Nm ropescope%s%s\n.Nd ", *command != '\0' ? "-" : "", command);
  put_literal(text, summary, strlen(summary));
  rs_text_puts(text, "\n");
}

static void put_options(rs_text *text, int command) {
  cli_option option;
  rs_text_puts(text, ".Bl -tag -width Ds\n");
  for (size_t i = 0; cli_option_at(command, i, &option); i++) {
    rs_text_puts(text, ".It Fl \\-");
    put_literal(text, option.name, strlen(option.name));
    if (option.value != NULL) {
      rs_text_puts(text, " Ar \"");
      put_literal(text, option.value, strlen(option.value));
      rs_text_puts(text, "\"");
    }
    rs_text_puts(text, "\n");
    put_sentences(text, option.help);
  }
  rs_text_puts(text, ".El\n");
}

static void put_examples(rs_text *text, int command) {
  rs_text_puts(text, ".Bd -literal -offset indent\n");
  for (size_t i = 0; i < RS_COUNT(cli_commands[command].examples); i++) {
    const char *example = cli_commands[command].examples[i];
    put_literal(text, example, strlen(example));
    rs_text_puts(text, "\n");
  }
  rs_text_puts(text, ".Ed\n");
}

static void put_status(rs_text *text) {
  rs_text_puts(text, ".Sh EXIT STATUS\n"
                     "0: done.\n"
                     "1: it was begun and failed.\n"
                     "2: what was asked is wrong or cannot be read, and nothing was run.\n"
                     "75: another process runs into the folder.\n"
                     "A command whose answer is its exit status says so above.\n");
}

static void put_command(rs_text *text, int command) {
  const cli_command *c = &cli_commands[command];
  put_head(text, c->name, c->summary);
  rs_text_printf(text, ".Sh SYNOPSIS\n.Nm ropescope %s\n", c->name);
  if (*c->arguments != '\0') {
    rs_text_puts(text, ".Ar \"");
    put_literal(text, c->arguments, strlen(c->arguments));
    rs_text_puts(text, "\"\n");
  }
  rs_text_puts(text, ".Op Ar options\n.Sh DESCRIPTION\n");
  put_summary(text, c->summary);
  if (*c->details != '\0') {
    rs_text_puts(text, ".Pp\n");
    put_sentences(text, c->details);
  }
  rs_text_puts(text, ".Pp\nThe options are:\n");
  put_options(text, command);
  put_status(text);
  rs_text_puts(text, ".Sh EXAMPLES\n");
  put_examples(text, command);
  rs_text_puts(text, ".Sh SEE ALSO\n.Xr ropescope 1\n");
}

static void put_commands(rs_text *text) {
  for (int i = 0; i < CLI_COMMANDS; i++) {
    if (cli_commands[i].group != NULL)
      rs_text_printf(text, "%s.Pp\n%s:\n.Bl -tag -width Ds\n", i > 0 ? ".El\n" : "", cli_commands[i].group);
    rs_text_printf(text, ".It Xr ropescope-%s 1\n", cli_commands[i].name);
    put_summary(text, cli_commands[i].summary);
  }
  rs_text_puts(text, ".El\n");
}

static void put_program(rs_text *text) {
  put_head(text, "", "attention under the positional encodings of transformers");
  rs_text_puts(text, ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar arguments\n.Op Ar options\n.Nm\n.Fl \\-version\n"
                     ".Sh DESCRIPTION\n.Nm\nsays what a positional setting does to attention at a length.\n");
  put_sentences(text, "It simulates attention under RoPE and its scalings, bent position maps, biases, and encodings "
                      "of images and video, trains small transformers under them, sweeps lengths from a YAML config, "
                      "and writes CSV files and pictures.");
  rs_text_puts(text, ".Pp\nIts commands have a page each:\n");
  put_commands(text);
  rs_text_puts(text, ".Pp\nEvery command takes these options:\n");
  put_options(text, CLI_VERSION);
  rs_text_puts(text, ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n"
                     ".It Ev ROPESCOPE_DATADIR\nWhere configs and experiments are looked for first.\n"
                     ".It Ev COLUMNS\nCharacters of a line of help, at most 100.\n"
                     ".It Ev NO_COLOR\nMessages have no colour where it is set.\n.El\n"
                     ".Sh FILES\n.Bl -tag -width Ds\n"
                     ".It Pa ../share/ropescope\nBeside the folder of the program: configs and experiments, which\n"
                     ".Cm run , plan\nand\n.Cm reproduce\nfind by their names.\n"
                     ".It Pa ../share/doc/ropescope\nThe documents.\n"
                     ".It Pa results/NAME\nWhat a run writes, below the folder that it was called in.\n.El\n");
  put_status(text);
  rs_text_puts(text, ".Sh EXAMPLES\n");
  put_examples(text, CLI_RUN);
}

int cli_manual(int command) {
  rs_text text = {0};
  if (command == CLI_COMMANDS)
    put_program(&text);
  else
    put_command(&text, command);
  return cli_put(&text, CLI_DATA);
}
