/* ropescope help: what the tables of commands and options say. */
#include "cli.h"

#include <stdio.h>

static void put_line(rs_text *text, const char *usage, const char *help) {
  rs_text_printf(text, "  %-28s %s\n", usage, help);
}

int cli_help(void) {
  rs_text text = {0};
  rs_text_puts(&text, "ropescope: what does this positional setting do to attention at that length?\n\n"
                      "Usage: ropescope COMMAND [ARGUMENTS] [OPTIONS]\n\nCommands:\n");
  for (int i = 0; i < CLI_COMMANDS; i++) {
    char usage[64];
    snprintf(usage, sizeof usage, "%s %s", cli_commands[i].name, cli_commands[i].arguments);
    put_line(&text, usage, cli_commands[i].summary);
  }
  rs_text_puts(&text, "\nOptions of every command:\n");
  cli_options_help(CLI_HELP, &text);
  rs_text_puts(&text, "\nropescope help COMMAND shows the other options of a command, and two examples.\n"
                      "Exit status: 0 done, 1 failed, 2 wrong input, or input that cannot be read (nothing was run),\n"
                      "75 another process runs into the folder.\n");
  return cli_put(&text) ? CLI_OK : CLI_FAILED;
}

int cli_help_command(int command) {
  const cli_command *c = &cli_commands[command];
  rs_text text = {0};
  rs_text_printf(&text, "Usage: ropescope %s%s%s [OPTIONS]\n\n%s: %s.\n%s\nOptions:\n", c->name,
                 *c->arguments != '\0' ? " " : "", c->arguments, c->name, c->summary, c->details);
  cli_options_help(command, &text);
  rs_text_puts(&text, "\nExamples:\n");
  for (size_t i = 0; i < RS_COUNT(c->examples); i++) rs_text_printf(&text, "  %s\n", c->examples[i]);
  if (command == CLI_COMPARE) rs_text_puts(&text, "\nExit status: 0 equal, 1 different, 2 wrong input or failed.\n");
  return cli_put(&text) ? CLI_OK : CLI_FAILED;
}

int cmd_help(const cli_options *options) {
  if (options->argument_count == 0) return cli_help();
  int command = cli_command_find(options->arguments[0]);
  return command >= 0 ? cli_help_command(command) : CLI_USAGE;
}
