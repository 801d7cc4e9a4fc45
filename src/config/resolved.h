/* Parts of an experiment as YAML. Private to the config layer. */
#ifndef ROPESCOPE_CONFIG_RESOLVED_H
#define ROPESCOPE_CONFIG_RESOLVED_H

#include "config_internal.h"

/* A text in double quotes. */
void rs_put_string(rs_text *yaml, const char *text);

/* ", name: value" of what was given, and of the defaults too where `all`. */
void rs_put_settings(rs_text *yaml, const rs_settings *settings, bool all);

/* The key `checkpoint`, each of its entries one checkpoint. */
void rs_put_checkpoints(rs_text *yaml, const rs_experiment *experiment);

#endif
