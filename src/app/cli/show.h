/* The parts of `ropescope show`. Private to the command. */
#ifndef ROPESCOPE_CLI_SHOW_H
#define ROPESCOPE_CLI_SHOW_H

#include "cli.h"

/* Which layers of a model turn how and see what. Returns an exit status. */
int show_layers(const cli_options *options);

/* Adds the line of one kind of layers: which, what they see, their recipe and geometry. */
void show_put_kind(const rs_profile *profile, size_t kind, rs_text *text);

#endif
