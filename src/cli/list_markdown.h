/* The lists of `ropescope list` as Markdown, from which the pages of docs/ are made. */
#ifndef ROPESCOPE_CLI_LIST_MARKDOWN_H
#define ROPESCOPE_CLI_LIST_MARKDOWN_H

#include "ropescope/base.h"

/* Adds the list called `name`: methods, kinds, sources, metrics, models or dialects. False where there is none such. */
bool cli_list_markdown(const char *name, rs_text *text);

#endif
