/* The words of config.json that are texts of their own. Private to the config layer. */
#ifndef ROPESCOPE_CONFIG_TRAINED_H
#define ROPESCOPE_CONFIG_TRAINED_H

#include "config_internal.h"
#include "records.h"

/* Whether the value is another than where nothing is said. */
bool rs_value_unusual(const rs_param *param, const rs_value *value);

/* A recipe as text that reads back to the same values for this model. RS_UNSUPPORTED where no words do. */
rs_status rs_recipe_spell(const rs_recipe *recipe, const rs_model *model, rs_text *words, rs_err *err);

/* A task with its parameters: the `whole`, or what determines what is trained, to which it does not matter where a file
 * is, nor how a model will be read (those parameters stand at their defaults). */
void rs_task_write(rs_json *json, const char *key, const rs_variant *task, bool whole);
void rs_task_read(rs_problems *problems, const rs_node *node, const rs_path *path, rs_variant *task);

#endif
