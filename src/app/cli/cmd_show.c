/* ropescope show TABLE: the tables of one recipe, as CSV or JSON on stdout. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH = 1 << 16 };
static const double most_rows = 5e7, most_kept_rows = 1e6;

/* Writes out what has piled up. */
static bool drain(cli_table *out) {
  return out->kept || out->csv.length < FLUSH || cli_put(&out->csv, CLI_DATA) == CLI_OK;
}

static bool too_many(const cli_table *out, double rows, size_t length) {
  if (rows <= (out->kept ? most_kept_rows : most_rows)) return false;
  cli_error("%g rows at length %zu: choose a smaller --length", rows, length);
  return true;
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

static const char *const axes[RS_AXES] = {"t", "h", "w"};

/* Embeddings of sines and cosines: dimensions that are the sum of two have a row for each. */
static int show_waves(const rs_encoding *encoding, cli_table *out) {
  rs_embed_wave wave;
  if (!rs_encoding_wave(encoding, 0, &wave))
    return cli_error("%s turns no pairs: it has no frequencies", encoding->method->name);
  cli_table_header(out, "dim", "wave", "axis", "omega_rad_per_token", "wavelength_tokens");
  for (size_t i = 0; rs_encoding_wave(encoding, i, &wave); i++) {
    cli_table_number(out, (double)wave.channel);
    cli_table_text(out, wave.cosine ? "cos" : "sin");
    cli_table_text(out, axes[wave.axis]);
    cli_table_row(out, wave.omega, 2 * M_PI / wave.omega);
  }
  return CLI_OK;
}

static int show_frequencies(const rs_encoding *encoding, cli_table *out) {
  if (encoding->rotary_dim == 0) return show_waves(encoding, out);
  cli_table_header(out, "pair", "axis", "omega_rad_per_token", "wavelength_tokens", "amp");
  for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
    double omega = encoding->omega[j];
    cli_table_number(out, (double)j);
    cli_table_text(out, encoding->own_places ? "own" : axes[encoding->axis[j]]);
    cli_table_row(out, omega, omega > 0 ? 2 * M_PI / omega : NAN, encoding->amp);
  }
  return CLI_OK;
}

/* Maps with several views: where each token stands as query and as key. */
static int show_views(const rs_encoding *encoding, cli_table *out) {
  cli_table_header(out, "token", "view", "query_position", "key_position");
  for (size_t n = 0; n < encoding->length; n++) {
    for (size_t v = 0; v < encoding->views; v++)
      cli_table_row(out, (double)n, (double)v, encoding->pos_q[v][n], encoding->pos_k[v][n]);
    if (!drain(out)) return CLI_FAILED;
  }
  return CLI_OK;
}

/* The positions keys are rotated by, on all three axes; segment is the run of the token layout. */
static int show_positions(const rs_encoding *encoding, cli_table *out) {
  if (encoding->views > 1) return show_views(encoding, out);
  if (encoding->own_places) return cli_error("each pair has positions of its own here (cached_keys or rope_mixed)");
  size_t segment = 0, left = encoding->tokens.count > 0 ? encoding->tokens.runs[0].tokens : SIZE_MAX;
  cli_table_header(out, "token", "segment", "t", "h", "w");
  for (size_t n = 0; n < encoding->length; n++) {
    while (left == 0) {
      segment++;
      left = segment < encoding->tokens.count ? encoding->tokens.runs[segment].tokens : SIZE_MAX;
    }
    left--;
    const double *at = encoding->pos_k[0] + n * encoding->axes;
    cli_table_row(out, (double)n, (double)segment, at[0], at[encoding->axes > 1 ? 1 : 0],
                  at[encoding->axes > 2 ? 2 : 0]);
    if (!drain(out)) return CLI_FAILED;
  }
  return CLI_OK;
}

static int show_scale(const rs_encoding *encoding, cli_table *out) {
  cli_table_header(out, "query", "logit_scale");
  for (size_t m = 0; m < encoding->length; m++) {
    cli_table_row(out, (double)m, encoding->logit_scale[m]);
    if (!drain(out)) return CLI_FAILED;
  }
  return CLI_OK;
}

static int show_slopes(const rs_encoding *encoding, cli_table *out) {
  if (encoding->method->bias == NULL) return cli_error("the method has no bias, hence no slopes (alibi has)");
  if (encoding->method->bias->slope == NULL) return cli_error("the bias has no slopes (alibi's has)");
  cli_table_header(out, "head", "slope");
  for (size_t h = 0; h < encoding->heads; h++) cli_table_row(out, (double)h, rs_encoding_slope(encoding, h));
  return CLI_OK;
}

static int put_bias_row(const rs_encoding *encoding, size_t head, size_t query, cli_table *out) {
  for (size_t key = 0; key <= query; key++) {
    double bias;
    rs_encoding_bias_row(encoding, head, query, key, key + 1, &bias);
    cli_table_row(out, (double)head, (double)query, (double)key, bias);
    if (!drain(out)) return CLI_FAILED;
  }
  return CLI_OK;
}

static int show_bias(const rs_encoding *encoding, cli_table *out) {
  double length = (double)encoding->length;
  if (encoding->method->bias == NULL) return cli_error("the method has no bias (alibi, t5, kerple and others have)");
  if (too_many(out, (double)encoding->heads * length * (length + 1) / 2, encoding->length)) return CLI_USAGE;
  cli_table_header(out, "head", "query", "key", "bias_nats");
  for (size_t head = 0; head < encoding->heads; head++)
    for (size_t query = 0; query < encoding->length; query++)
      if (put_bias_row(encoding, head, query, out) != CLI_OK) return CLI_FAILED;
  return CLI_OK;
}

/* The last row first: a table that ends too soon should not print what it has. */
static int put_embedding(const rs_encoding *encoding, double *row, cli_table *out) {
  rs_err err = {0};
  if (rs_encoding_embed(encoding, encoding->length - 1, 1, row, &err) != RS_OK) return cli_error("%s", err.message);
  cli_table_header(out, "position", "dim", "value");
  for (size_t n = 0; n < encoding->length; n++) {
    if (rs_encoding_embed(encoding, n, 1, row, &err) != RS_OK) return cli_error("%s", err.message);
    for (size_t d = 0; d < encoding->width; d++) cli_table_row(out, (double)n, (double)d, row[d]);
    if (!drain(out)) return CLI_FAILED;
  }
  return CLI_OK;
}

static int show_embedding(const rs_encoding *encoding, cli_table *out) {
  if (encoding->method->embed == NULL)
    return cli_error("the method adds no embedding (sinusoidal, learned and their 2d forms do)");
  if (too_many(out, (double)encoding->length * (double)encoding->width, encoding->length)) return CLI_USAGE;
  RS_FREED double *row = rs_alloc(encoding->width, sizeof *row, NULL);
  return row != NULL ? put_embedding(encoding, row, out) : cli_error("out of memory");
}

/* ---- shifts of embeddings ---------------------------------------------------------------------------------------- */

/* Rotations have two numbers in each row, their pair's; what is 0 by that is left out. */
static int put_shift(const rs_embedding_shift *shift, cli_table *out) {
  cli_table_header(out, "dim", "from_dim", "value", "largest_error");
  for (size_t c = 0; c < shift->width; c++) {
    for (size_t from = 0; from < shift->width; from++) {
      if (shift->rotations && from != c && from != shift->partner[c]) continue;
      cli_table_row(out, (double)c, (double)from, shift->matrix[c * shift->width + from], shift->error[c]);
    }
    if (!drain(out)) return CLI_FAILED;
  }
  return CLI_OK;
}

static void note_shift(const cli_options *options, const rs_embedding_shift *shift) {
  if (shift->rotations)
    cli_note(options, "M turns each pair of dims: largest error %.3g over %zu positions", shift->largest_error,
             shift->places);
  else
    cli_note(options, "M is fitted by least squares to %zu positions, rank %zu%s: largest error %.3g, residual %.3g",
             shift->places, shift->rank, shift->rank == shift->places ? ", which any table fits" : "",
             shift->largest_error, shift->residual);
}

/* "5", or "1,2" of a picture. */
static rs_status read_shift(const char *text, double by[2], size_t *count, rs_err *err) {
  static const rs_param param = {.name = "shift", .type = RS_INTEGER, .min = 0, .max = 1e9};
  char numbers[2][RS_NUMBER_CHARS] = {0};
  int end = 0, fields = sscanf(text, "%31[^,]%n,%31[^,]%n", numbers[0], &end, numbers[1], &end);
  if (fields < 1 || text[end] != '\0') return rs_fail(err, RS_INPUT, "is neither K nor ROWS,COLUMNS");
  *count = (size_t)fields;
  for (size_t i = 0; i < *count; i++) {
    rs_value value;
    RS_TRY(rs_value_parse(&param, numbers[i], &value, err));
    by[i] = value.number;
  }
  return RS_OK;
}

static int show_shift(const cli_options *options, const rs_encoding *encoding, cli_table *out) {
  RS_OWNED(rs_embedding_shift) shift = {0};
  rs_err err = {0};
  double by[2] = {0};
  size_t count = 0;
  if (encoding->method->embed == NULL) return show_embedding(encoding, out);
  rs_status status = read_shift(options->shift, by, &count, &err);
  if (status == RS_OK) status = rs_embedding_shift_find(encoding, by, count, &shift, &err);
  if (status != RS_OK) return cli_error("--shift %s: %s", options->shift, err.message);
  if (too_many(out, (double)shift.width * (shift.rotations ? 2 : (double)shift.width), encoding->length))
    return CLI_USAGE;
  note_shift(options, &shift);
  return put_shift(&shift, out);
}

/* In the order of their names. */
static int (*const tables[])(const rs_encoding *encoding, cli_table *out) = {
    show_frequencies, show_positions, show_scale, show_slopes, show_bias, show_embedding};

const char *const cli_show_words[] = {"frequencies", "positions", "scale",  "slopes",
                                      "bias",        "embedding", "layers", NULL};

/* ---- which recipe ------------------------------------------------------------------------------------------------ */

/* Flags that would be ignored together. */
static const char *conflict(const cli_options *options) {
  bool named = options->hf != NULL || options->model != NULL;
  if (options->hf != NULL && options->model != NULL) return "--hf and --model both name a model: keep one";
  if (named && options->argument_count > 1) return "a config and --hf or --model both name a model: keep one";
  if (!named && options->method != NULL) return "--method needs --model or --hf";
  if (!named && options->layers != NULL) return "--layers needs --model or --hf";
  if (options->csv && options->json) return "--csv and --json are two forms: keep one";
  return NULL;
}

static int find_subject(const cli_options *options, rs_subject *subject) {
  const rs_subject_in in = {.config = options->argument_count > 1 ? options->arguments[1] : NULL,
                            .hf = options->hf,
                            .hf_text = options->hf_text,
                            .preset = options->model,
                            .layers = options->layers,
                            .method = options->method,
                            .edits = {options->edits.items, options->edits.count, NULL},
                            .length = options->length};
  RS_OWNED(rs_problems) problems = {0};
  rs_err err = {0};
  if (conflict(options) != NULL) return cli_error("%s", conflict(options));
  rs_status status = rs_subject_read(&in, subject, &problems, &err);
  return status == RS_OK ? CLI_OK : cli_fail(status, &problems, &err);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void put_json(const rs_subject *subject, const char *word, const cli_table *table, rs_text *text) {
  RS_OWNED(rs_arena) arena = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  rs_doc_put(doc, DOC_WORDS("table", word), DOC_WORDS("model", subject->model.name),
             DOC_WORDS("recipe", cli_recipe(doc, &subject->recipe)), DOC_NUMBER("length_tokens", subject->length));
  cli_table_add(table, "columns", doc);
  rs_doc_json(doc, text);
}

static int put_table(const cli_options *options, const rs_subject *subject, const rs_encoding *encoding, size_t table) {
  RS_OWNED(cli_table) out = {.kept = options->json};
  RS_OWNED(rs_text) recipe = {0}, doubts = {0};
  int code = options->shift != NULL ? show_shift(options, encoding, &out) : tables[table](encoding, &out);
  rs_recipe_write(&subject->recipe, &recipe);
  rs_recipe_warn(&subject->recipe, NULL, &subject->model, subject->length, &subject->tokens, &doubts);
  if (code == CLI_OK && !options->json) /* which a CSV file cannot say */
    cli_note(options, "%s on %s at %zu tokens", rs_text_string(&recipe), subject->model.name, subject->length);
  if (code == CLI_OK && options->layers == NULL) cli_note_layers(options, &subject->profile, subject->kind);
  if (code == CLI_OK) cli_note_doubt(options, &subject->profile);
  if (code == CLI_OK && doubts.length > 0) cli_note(options, "warning: %s", rs_text_string(&doubts));
  if (code == CLI_OK && options->json) put_json(subject, cli_show_words[table], &out, &out.csv);
  if (code == CLI_OK) code = cli_put(&out.csv, CLI_DATA);
  return code;
}

static int show(const cli_options *options, size_t table) {
  RS_OWNED(rs_subject) s = {0};
  RS_HELD(rs_encoding) encoding = NULL;
  rs_err err = {0};
  int code = find_subject(options, &s);
  if (code == CLI_OK) {
    rs_status status = rs_encoding_create(&s.recipe, &s.model, s.length, &s.tokens, &s.precision, &encoding, &err);
    code = status == RS_OK ? put_table(options, &s, encoding, table) : cli_fail(status, NULL, &err);
  }
  return code;
}

int cmd_show(const cli_options *options) {
  int table = cli_choose("table", options->arguments[0], cli_show_words);
  if (table >= 0 && options->shift != NULL && (table == RS_COUNT(tables) || tables[table] != show_embedding))
    return cli_error("--shift has no effect on show %s (show embedding takes it)", cli_show_words[table]);
  if (table == RS_COUNT(tables) && conflict(options) != NULL) return cli_error("%s", conflict(options));
  if (table == RS_COUNT(tables)) return show_layers(options);
  return table >= 0 ? show(options, (size_t)table) : CLI_USAGE;
}
