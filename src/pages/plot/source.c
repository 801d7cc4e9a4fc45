/* source.c: the name of a source, and what its caption in the manifest says beyond it. */
#include "words.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *rs_plot_source_name(const rs_plot_measure *measure, const rs_plot_choice *choice) {
  if (choice->family != NULL) return choice->family->name;
  return choice->source == RS_PLOT_ANY ? "" : measure->data->sources.items[choice->source];
}

static bool is_shown(const rs_plot_choice *choice, size_t source) {
  return choice->family != NULL ? !isnan(choice->family->values[source]) : choice->source == source;
}

/* The entry of the list that has the name, or NULL. */
static const rs_node *find_entry(const rs_node *list, const char *name) {
  for (size_t i = 0; list != NULL && i < list->count; i++)
    if (strcmp(rs_node_get(&list->items[i], "name")->text, name) == 0) return &list->items[i];
  return NULL;
}

static bool has_phrase(const rs_node *entry, const char *phrase) {
  const rs_node *phrases = entry != NULL ? rs_node_get(entry, "caption") : NULL;
  for (size_t i = 0; phrases != NULL && i < phrases->count; i++)
    if (strcmp(phrases->items[i].text, phrase) == 0) return true;
  return false;
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '.' || c == '_';
}

/* Whether `text` begins with the words of `phrase`, whatever stands between words: "depth=0.5" says "depth 0.5". */
static bool begins(const char *text, const char *phrase) {
  for (; *phrase != '\0'; text++, phrase++)
    if (*text != *phrase && (is_word(*text) || is_word(*phrase) || *text == '\0')) return false;
  return !is_word(*text);
}

static bool says(const char *name, const char *phrase) {
  for (const char *c = name; *c != '\0'; c++)
    if ((c == name || !is_word(c[-1])) && begins(c, phrase)) return true;
  return false;
}

/* Those phrases of an entry that are not said by its name, and hold for all sources that are shown. */
static void put_phrases(const rs_plot_data *data, const rs_plot_choice *choice, const rs_node *entry, const char *name,
                        rs_text *out) {
  const rs_node *phrases = rs_node_get(entry, "caption");
  const char *kind = rs_node_get(entry, "kind")->text, *before = ": ";
  if (phrases->count == 0) return;
  if (!says(name, kind)) rs_text_printf(out, " (%s)", kind);
  for (size_t i = 0; i < phrases->count; i++) {
    const char *phrase = phrases->items[i].text;
    bool holds = !says(name, phrase);
    for (size_t s = 0; s < data->sources.count && choice != NULL && holds; s++)
      holds = !is_shown(choice, s) || has_phrase(find_entry(data->captions, data->sources.items[s]), phrase);
    if (!holds) continue;
    rs_text_printf(out, "%s%s", before, phrase);
    before = ", ";
  }
}

void rs_plot_source_caption(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_text *out) {
  const rs_plot_data *data = measure->data;
  const char *name = rs_plot_source_name(measure, choice);
  const rs_node *entry = NULL;
  for (size_t s = 0; s < data->sources.count && measure->column->sourced && entry == NULL; s++)
    if (is_shown(choice, s)) entry = find_entry(data->captions, data->sources.items[s]);
  if (entry != NULL) put_phrases(data, choice, entry, name, out);
}

void rs_plot_task_caption(const rs_plot_measure *measure, rs_text *out) {
  const rs_plot_data *data = measure->data;
  const rs_node *entry = measure->column->tasked && data->task != NULL ? find_entry(data->captions, data->task) : NULL;
  if (entry == NULL) return;
  rs_text_puts(out, data->task);
  put_phrases(data, NULL, entry, data->task, out);
}

void rs_plot_model_caption(const rs_plot_data *data, size_t model, rs_text *out) {
  const char *name = data->models.items[model], *before = "";
  const rs_node *entry = data->by_checkpoint ? data->checkpoints->items : find_entry(data->checkpoints, name);
  const rs_node *phrases = entry != NULL ? rs_node_get(entry, "caption") : NULL;
  bool said = phrases != NULL && phrases->count > 0 && strncmp(phrases->items[0].text, name, strlen(name)) == 0;
  if (!said) rs_text_puts(out, name), before = ": ";
  for (size_t i = 0; phrases != NULL && i < phrases->count; i++) {
    bool holds = true;
    for (size_t c = 0; data->by_checkpoint && c < data->checkpoints->count && holds; c++)
      holds = has_phrase(&data->checkpoints->items[c], phrases->items[i].text);
    if (!holds) continue;
    rs_text_printf(out, "%s%s", before, phrases->items[i].text);
    before = ", ";
  }
}
