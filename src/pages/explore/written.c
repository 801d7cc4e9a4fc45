/* How to get the same again: a command, and a config. */
#include "explore.h"

/* The recipe as it was given: "{name: yarn, factor: 8}". What a model publishes or a default is, is not written. */
static void put_given(const rs_recipe *given, rs_text *text) {
  rs_text_printf(text, "{name: %s", given->method->name);
  for (size_t p = 0; p < given->settings.count; p++) {
    if (!given->settings.values[p].given) continue;
    rs_text_printf(text, ", %s: ", given->settings.params[p]->name);
    rs_value_write(given->settings.params[p], &given->settings.values[p], text);
  }
  rs_text_puts(text, "}");
}

/* In double quotes, as YAML reads it. */
static void put_quoted(const char *word, rs_text *text) {
  rs_text_puts(text, "\"");
  for (; *word != '\0'; word++) {
    if (*word == '"' || *word == '\\') rs_text_puts(text, "\\");
    rs_text_add(text, word, 1);
  }
  rs_text_puts(text, "\"");
}

/* The model as a config names it. */
static void put_model(const rs_asked *asked, rs_text *text) {
  if (asked->preset != NULL && asked->layers == NULL && !asked->narrowed) {
    rs_text_puts(text, asked->preset);
    return;
  }
  if (asked->preset != NULL) {
    rs_text_printf(text, "{preset: %s", asked->preset);
  } else {
    rs_text_puts(text, "{hf: ");
    put_quoted(asked->explorer->piped ? "config.json" : asked->explorer->hf, text);
  }
  if (asked->layers != NULL) rs_text_printf(text, ", layers: %s", asked->layers);
  if (asked->narrowed)
    rs_text_printf(text, ", head_dim: %zu, rotary_dim: %zu", asked->model.head_dim, asked->model.rotary_dim);
  rs_text_puts(text, "}");
}

static const char *shown_table(const rs_method *method) {
  if (method->freq != NULL) return "frequencies";
  if (method->bias != NULL) return method->bias->slope != NULL ? "slopes" : "bias";
  return method->embed != NULL ? "embedding" : "scale";
}

/* A model with numbers of its own is said by a config's keys. */
static void put_set(const rs_asked *asked, rs_text *text) {
  rs_text word = {0};
  rs_text_puts(&word, "model=");
  put_model(asked, &word);
  rs_text_puts(text, " --set ");
  rs_text_shell(text, rs_text_string(&word));
  word.length = 0;
  rs_text_puts(&word, "methods=[");
  put_given(&asked->given, &word);
  rs_text_puts(&word, "]");
  rs_text_puts(text, " --set ");
  rs_text_shell(text, rs_text_string(&word));
  text->failed |= word.failed;
  rs_text_clear(&word);
}

static void put_options(const rs_asked *asked, rs_text *text) {
  rs_text recipe = {0};
  const rs_explorer *explorer = asked->explorer;
  rs_text_puts(text, asked->preset != NULL ? " --model " : " --hf ");
  rs_text_shell(text, asked->preset != NULL ? asked->preset : explorer->piped ? "-" : explorer->hf);
  if (asked->layers != NULL) {
    rs_text_puts(text, " --layers ");
    rs_text_shell(text, asked->layers);
  }
  put_given(&asked->given, &recipe);
  rs_text_puts(text, " --method ");
  rs_text_shell(text, rs_text_string(&recipe));
  text->failed |= recipe.failed;
  rs_text_clear(&recipe);
}

void rs_asked_command(const rs_asked *asked, rs_text *text) {
  rs_text_printf(text, "ropescope show %s", shown_table(asked->given.method));
  if (asked->narrowed)
    put_set(asked, text);
  else
    put_options(asked, text);
  rs_text_printf(text, " --length %zu", asked->length);
}

void rs_asked_config(const rs_asked *asked, rs_text *text) {
  rs_text_puts(text, "model: ");
  put_model(asked, text);
  rs_text_printf(text, "\nlengths: [%zu]\nmethods:\n  - ", asked->length);
  put_given(&asked->given, text);
  rs_text_puts(text, "\nmetrics: [");
  for (size_t i = 0; rs_explored_metrics[i] != NULL; i++)
    rs_text_printf(text, "%s%s", i > 0 ? ", " : "", rs_explored_metrics[i]);
  rs_text_puts(text, "]\n");
}
