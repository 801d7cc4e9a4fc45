/* The values of a checkpoint's parameters by name, as columns and labels have them. */
#include <string.h>

#include "checkpoints.h"

const char *const rs_part_prefixes[RS_CHECKPOINT_PARTS] = {"", "train.", "tune."};

/* Methods of a checkpoint are no parameters of its specs. */
static const rs_param method_param = {.name = "method", .unit = "", .summary = "what the checkpoint is trained with"},
                      tuned_param = {.name = "tune.method", .unit = "", .summary = "what the checkpoint is tuned with"};

/* Where the value of a name stands in a checkpoint. */
typedef struct checkpoint_value {
  const rs_param *param; /* NULL: it has no such parameter */
  const rs_value *value; /* NULL: `recipe` is the value */
  const rs_recipe *recipe;
} checkpoint_value;

static checkpoint_value find_setting(const rs_settings *settings, const char *name) {
  int index = rs_settings_find(settings, name);
  if (index < 0) return (checkpoint_value){0};
  return (checkpoint_value){settings->params[index], &settings->values[index], NULL};
}

static checkpoint_value find_value(const rs_checkpoint *checkpoint, const char *name) {
  checkpoint_value found = {0};
  if (strcmp(name, method_param.name) == 0) return (checkpoint_value){&method_param, NULL, checkpoint->recipes};
  if (strcmp(name, tuned_param.name) == 0) return (checkpoint_value){&tuned_param, NULL, checkpoint->tuned_recipes};
  for (size_t part = 0; part < RS_CHECKPOINT_PARTS && found.param == NULL; part++)
    if (strncmp(name, rs_part_prefixes[part], strlen(rs_part_prefixes[part])) == 0)
      found = find_setting(&checkpoint->settings[part], name + strlen(rs_part_prefixes[part]));
  return found;
}

/* "yarn factor=4": the method, and what was given. */
static void put_recipe(const rs_recipe *recipe, rs_text *text) {
  rs_text_puts(text, recipe->method->name);
  for (size_t p = 0; p < recipe->settings.count; p++)
    if (recipe->settings.values[p].given) rs_label_param(text, &recipe->settings, (int)p, false);
}

void rs_checkpoint_value(const rs_checkpoint *checkpoint, const char *name, rs_text *text) {
  checkpoint_value found = find_value(checkpoint, name);
  if (found.value != NULL && found.value->set) rs_value_write(found.param, found.value, text);
  if (found.recipe != NULL) put_recipe(found.recipe, text);
}

const rs_param *rs_checkpoint_param(const rs_checkpoint *checkpoint, const char *name) {
  return find_value(checkpoint, name).param;
}
