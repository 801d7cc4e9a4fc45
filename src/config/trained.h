/* The words of config.json that are texts of their own. Private to the config layer. */
#ifndef ROPESCOPE_CONFIG_TRAINED_H
#define ROPESCOPE_CONFIG_TRAINED_H

#include "config_internal.h"
#include "records.h"

/* Whether the value is another than where nothing is said. */
bool rs_value_unusual(const rs_param *param, const rs_value *value);

/* A recipe as text that reads back to the same values for this model. RS_UNSUPPORTED where no words do. */
rs_status rs_recipe_spell(const rs_recipe *recipe, const rs_model *model, rs_text *words, rs_err *err);

/* A task with its parameters. A file's contents count, not where it is: its path stands there where `paths`. */
void rs_task_write(rs_json *json, const char *key, const rs_variant *task, bool paths);
void rs_task_read(rs_problems *problems, const rs_node *node, const rs_path *path, rs_variant *task);

#endif
