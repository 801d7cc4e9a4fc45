/* What `ropescope explain` says of models whose positions turn nothing. */
#ifndef ROPESCOPE_CLI_EXPLAIN_H
#define ROPESCOPE_CLI_EXPLAIN_H

#include "advice/advice.h"
#include "cli.h"

/* Sentences, or JSON, on a length in tokens. RS_MEMORY. */
rs_status explain_put_unturned(const rs_portrait *portrait, size_t length, bool json, rs_text *text, rs_err *err);

#endif
