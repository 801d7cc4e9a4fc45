/* ropescope convert FILE --to CONSUMER: the positional recipe of a model for another engine. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the model --------------------------------------------------------------------------------------------------- */

/* A file, or else a preset. */
static rs_status read_model(const char *word, rs_convertible *model, rs_err *err) {
  RS_FREED char *name = NULL, *data = NULL;
  size_t length = 0;
  struct stat info;
  if (strcmp(word, "-") != 0 && stat(word, &info) != 0 && !rs_numbers_named(word) && strchr(word, '/') == NULL) {
    rs_err why = {0};
    rs_status read = rs_convertible_preset(word, model, &why);
    return read == RS_OK ? read : rs_fail(err, why.status, "%s is no file, and as a preset it %s", word, why.message);
  }
  rs_status status = cli_read_config(word, &name, &data, &length, err);
  if (status == RS_OK) status = rs_convertible_read(data, length, name, model, err);
  return status;
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

static int put_text(const cli_options *options, rs_text *text) {
  rs_err err = {0};
  if (options->out == NULL) {
    bool data = options->json || options->inv_freq != NULL;
    return cli_put(text, data ? CLI_DATA : CLI_TEXT) == CLI_OK ? CLI_OK : CLI_USAGE;
  }
  rs_status status = rs_text_check(text, &err);
  if (status == RS_OK) status = rs_file_write(options->out, text->data, text->length, &err);
  rs_text_clear(text);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}

/* What a JSON text says. */
static void add_node(rs_doc *in, const char *key, const rs_node *node) {
  double number;
  if (node->kind == RS_MAPPING || node->kind == RS_SEQUENCE) {
    rs_doc *part = rs_doc_add(in, key, node->kind == RS_MAPPING ? RS_DOC_OBJECT : RS_DOC_LIST);
    for (size_t i = 0; i < node->count; i++) add_node(part, node->items[i].key, &node->items[i]);
  } else if (node->quoted || strcmp(node->text, "null") == 0) {
    rs_doc_put(in, DOC_WORDS(key, node->quoted ? node->text : NULL));
  } else if (rs_number_read(node->text, &number)) {
    rs_doc_put(in, DOC_NUMBER(key, number));
  } else {
    rs_doc_put(in, DOC_FLAG(key, strcmp(node->text, "true") == 0));
  }
}

static void add_words(rs_doc *in, const char *key, const rs_words *words) {
  rs_doc *list = rs_doc_add(in, key, RS_DOC_ARRAY);
  for (size_t i = 0; i < words->count; i++) rs_doc_put(list, DOC_WORDS(NULL, words->items[i]));
}

rs_status cli_add_conversion(rs_doc *in, const char *to, const rs_conversion *conversion, rs_err *err) {
  const char *fragment = conversion->fragment;
  RS_HELD(rs_tree) tree = NULL;
  if (fragment != NULL) RS_TRY(rs_json_read(fragment, strlen(fragment), "fragment", &tree, err));
  rs_doc_put(in, DOC_WORDS("to", to));
  for (size_t i = 0; rs_consumers(i) != NULL; i++)
    if (strcmp(rs_consumers(i)->name, to) == 0) rs_doc_put(in, DOC_WORDS("reference", rs_consumers(i)->reference));
  if (tree != NULL)
    add_node(in, "fragment", &tree->root);
  else
    add_words(in, "arguments", &conversion->arguments);
  add_words(in, "notes", &conversion->notes);
  return RS_OK;
}

void cli_put_conversion(const rs_conversion *conversion, rs_text *text) {
  if (conversion->fragment != NULL) rs_text_puts(text, conversion->fragment);
  for (size_t i = 0; i < conversion->arguments.count; i++) {
    rs_text_puts(text, i > 0 ? " " : "");
    rs_text_shell(text, conversion->arguments.items[i]);
  }
  if (conversion->fragment == NULL) rs_text_puts(text, "\n");
}

static int convert_recipe(const cli_options *options, const rs_convertible *model) {
  RS_OWNED(rs_conversion) conversion = {0};
  RS_OWNED(rs_arena) arena = {0};
  RS_OWNED(rs_text) text = {0};
  rs_err err = {0};
  rs_status status = rs_convert(model, options->to, options->length, &conversion, &err);
  if (status == RS_OK && options->json) {
    rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
    status = cli_add_conversion(doc, options->to, &conversion, &err);
    rs_doc_json(doc, &text);
  } else if (status == RS_OK) {
    cli_put_conversion(&conversion, &text);
  }
  int code = status == RS_OK ? put_text(options, &text) : cli_fail(status, NULL, &err);
  for (size_t i = 0; i < conversion.notes.count && code == CLI_OK; i++)
    cli_note(options, "note: %s", conversion.notes.items[i]);
  return code;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static int put_npy(const cli_options *options, const rs_spectrum *spectrum) {
  rs_err err = {0};
  const rs_array array = {.rank = 1, .shape = {spectrum->pairs}, .count = spectrum->pairs, .numbers = spectrum->omega};
  if (options->out == NULL) return cli_error("--inv-freq npy needs --out FILE");
  rs_status status = rs_npy_write(options->out, &array, true, &err);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}

static int put_table(const cli_options *options, const rs_spectrum *spectrum) {
  rs_text text = {0};
  if (strcmp(options->inv_freq, "npy") == 0) return put_npy(options, spectrum);
  if (strcmp(options->inv_freq, "csv") == 0)
    rs_table_csv(spectrum, &text);
  else
    rs_table_json(spectrum, &text);
  return put_text(options, &text);
}

static int convert_table(const cli_options *options, const rs_convertible *model) {
  RS_OWNED(rs_spectrum) spectrum = {0};
  rs_err err = {0};
  rs_status status = rs_convert_spectrum(model, options->length, &spectrum, &err);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  int code = put_table(options, &spectrum);
  if (code == CLI_OK && spectrum.amp != 1 && strcmp(options->inv_freq, "npy") == 0)
    cli_note(options, "note: cos and sin are multiplied by %.10g, which the file does not hold.", spectrum.amp);
  if (code == CLI_OK && spectrum.logit_factor != 1)
    cli_note(options, "note: the logits are multiplied by %.10g as well.", spectrum.logit_factor);
  if (code == CLI_OK) cli_note_doubt(options, &model->profile);
  if (code == CLI_OK) cli_note_layers(options, &model->profile, model->kind);
  return code;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void ask_for_consumer(void) {
  RS_OWNED(rs_text) text = {0};
  rs_text_puts(&text, "convert needs --to CONSUMER, or --inv-freq FORM; consumers are");
  for (size_t i = 0; rs_consumers(i) != NULL; i++)
    rs_text_printf(&text, "\n  %-14s %s", rs_consumers(i)->name, rs_consumers(i)->summary);
  cli_error("%s", rs_text_string(&text));
}

static bool is_clear(const cli_options *options) {
  if (options->argument_count == 0)
    cli_error("convert needs a model, as in ropescope convert config.json --to vllm");
  else if (options->to == NULL && options->inv_freq == NULL)
    ask_for_consumer();
  else if (options->to != NULL && options->inv_freq != NULL)
    cli_error("--to and --inv-freq are two answers: keep one");
  else if (options->json && options->inv_freq != NULL)
    cli_error("--json goes with --to (the table as JSON: --inv-freq json)");
  else
    return true;
  return false;
}

int cmd_convert(const cli_options *options) {
  RS_OWNED(rs_convertible) model = {0};
  rs_err err = {0};
  if (!is_clear(options)) return CLI_USAGE;
  rs_status status = read_model(options->arguments[0], &model, &err);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  status = rs_profile_find(&model.profile, options->layers, &model.kind, &err);
  return status != RS_OK       ? cli_fail(status, NULL, &err)
         : options->to != NULL ? convert_recipe(options, &model)
                               : convert_table(options, &model);
}
