/* ropescope help, and version: what the tables of commands and options say. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, NARROW = 72, WIDEST = 100 };

/* Characters of a line: what COLUMNS says, else those of the terminal, as far as lines stay readable. */
static size_t line_width(void) {
  const char *columns = getenv("COLUMNS");
  struct winsize size = {0};
  long width = columns != NULL ? strtol(columns, NULL, 10) : 0;
  if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width <= 0 || width > WIDEST) return WIDEST;
  return width < NARROWEST ? NARROWEST : (size_t)width;
}

/* A word and what it means, beside it from `column` on, or below where there is no room. */
static void put_line(rs_text *text, const char *usage, size_t column, const char *help) {
  size_t width = line_width(), length = strlen(usage) + 2;
  size_t indent = width < NARROW ? 6 : column;
  rs_text_printf(text, "  %s", usage);
  if (length + 1 > indent)
    rs_text_printf(text, "\n%*s", (int)indent, "");
  else
    rs_text_printf(text, "%*s", (int)(indent - length), "");
  rs_wrap(text, indent, indent, width, help);
  rs_text_puts(text, "\n");
}

static void put_paragraph(rs_text *text, const char *words) {
  rs_wrap(text, 0, 0, line_width(), words);
  rs_text_puts(text, "\n");
}

static void put_options(int command, rs_text *text) {
  enum { COLUMN = 27 };
  cli_option option;
  for (size_t i = 0; cli_option_at(command, i, &option); i++) {
    char usage[64];
    snprintf(usage, sizeof usage, "--%s%s%s", option.name, option.value != NULL ? " " : "",
             option.value != NULL ? option.value : "");
    put_line(text, usage, COLUMN, option.help);
  }
}

int cli_help(void) {
  enum { COLUMN = 27 };
  rs_text text = {0};
  put_paragraph(&text, "ropescope: what does this positional setting do to attention at that length?");
  rs_text_puts(&text, "\nUsage: ropescope COMMAND [ARGUMENTS] [OPTIONS]\n");
  for (int i = 0; i < CLI_COMMANDS; i++) {
    char usage[64];
    if (cli_commands[i].group != NULL) rs_text_printf(&text, "\n%s:\n", cli_commands[i].group);
    snprintf(usage, sizeof usage, "%s%s%s", cli_commands[i].name, *cli_commands[i].arguments != '\0' ? " " : "",
             cli_commands[i].arguments);
    put_line(&text, usage, COLUMN, cli_commands[i].summary);
  }
  rs_text_puts(&text, "\nOptions of every command:\n");
  put_options(CLI_VERSION, &text);
  rs_text_puts(&text, "\n");
  put_paragraph(&text, "ropescope help COMMAND shows the other options of a command, and two examples.");
  put_paragraph(&text, "Exit status: 0 done, 1 failed, 2 wrong input, or input that cannot be read (nothing was run), "
                       "75 another process runs into the folder.");
  return cli_put(&text, CLI_TEXT);
}

int cli_help_command(int command) {
  const cli_command *c = &cli_commands[command];
  rs_text text = {0}, summary = {0};
  rs_text_printf(&text, "Usage: ropescope %s%s%s [OPTIONS]\n\n", c->name, *c->arguments != '\0' ? " " : "",
                 c->arguments);
  rs_text_printf(&summary, "%s: %s.", c->name, c->summary);
  put_paragraph(&text, rs_text_string(&summary));
  if (*c->details != '\0') put_paragraph(&text, c->details);
  rs_text_puts(&text, "\nOptions:\n");
  put_options(command, &text);
  rs_text_puts(&text, "\nExamples:\n"); /* each on one line, so that it can be copied */
  for (size_t i = 0; i < RS_COUNT(c->examples); i++) rs_text_printf(&text, "  %s\n", c->examples[i]);
  rs_text_clear(&summary);
  return cli_put(&text, CLI_TEXT);
}

int cmd_help(const cli_options *options) {
  if (options->argument_count == 0) return options->manual ? cli_manual(CLI_COMMANDS) : cli_help();
  int command = cli_command_find(options->arguments[0]);
  if (command < 0) return CLI_USAGE;
  return options->manual ? cli_manual(command) : cli_help_command(command);
}

int cmd_version(const cli_options *options) {
  rs_text text = {0};
  (void)options;
  rs_text_puts(&text, "ropescope " ROPESCOPE_VERSION "\n");
  return cli_put(&text, CLI_TEXT);
}
