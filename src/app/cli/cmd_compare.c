/* ropescope compare A B: where two positional settings part, and which change makes one the other. What it tells other
 * programs stands here: all of it as a tree, and every pair as CSV. */
#include "cli.h"

#include <math.h>

enum { DIFFERENT = 1 };

/* ---- for other programs ------------------------------------------------------------------------------------------ */

static void add_side(rs_doc *in, const char *key, const rs_contender *s) {
  static const char *const origins[] = {"recipe", "hf", "preset", "dump"};
  bool dump = s->origin == RS_FROM_DUMP;
  int layout = s->spectrum.pair_layout;
  rs_doc_put(rs_doc_add(in, key, RS_DOC_OBJECT), DOC_WORDS("text", s->text), DOC_WORDS("origin", origins[s->origin]),
             DOC_WORDS("model", dump ? NULL : s->model.name),
             DOC_WORDS("recipe", dump ? NULL : cli_recipe(in, &s->recipe)),
             DOC_NUMBER("length_tokens", dump ? NAN : (double)s->length), DOC_NUMBER("pairs", s->spectrum.pairs),
             DOC_NUMBER("attention_factor", s->spectrum.amp), DOC_NUMBER("logit_factor", s->spectrum.logit_factor),
             DOC_WORDS("pair_layout", layout < 0                 ? NULL
                                      : layout == RS_INTERLEAVED ? "interleaved"
                                                                 : "half_split"),
             DOC_WORDS("beyond_frequencies", s->spectrum.beyond), DOC_WORDS("read", *s->read != '\0' ? s->read : NULL));
}

static void add_causes(rs_doc *in, const rs_causes *causes) {
  rs_doc *list = rs_doc_add(in, "likely_causes", RS_DOC_ARRAY);
  for (size_t i = 0; causes != NULL && i < causes->count; i++)
    rs_doc_put(rs_doc_add(list, NULL, RS_DOC_OBJECT), DOC_WORDS("text", causes->items[i].text),
               DOC_FLAG("explains_all", causes->items[i].whole), DOC_NUMBER("residual", causes->items[i].residual));
  rs_doc_put(in, DOC_WORDS("shape", causes != NULL && *causes->shape != '\0' ? causes->shape : NULL),
             DOC_NUMBER("changes_not_tried", causes != NULL ? causes->untried : 0));
}

/* In how many pairs tables part, and by how much at most. */
static void add_pairs(rs_doc *in, const rs_difference *d) {
  rs_doc_put(in, DOC_NUMBER("pairs_that_differ", d->count),
             DOC_NUMBER("largest_relative_difference", d->count > 0 ? d->largest : NAN));
}

/* The layers of a profile that are of this kind, and where `other` is given, of that kind in it. */
static void add_layers(rs_doc *in, const rs_profile *profile, size_t kind, const rs_profile *other, size_t other_kind) {
  rs_doc *list = rs_doc_add(in, "layers", RS_DOC_LIST);
  for (size_t l = 0; profile != NULL && l < profile->layer_count; l++)
    if (profile->layers[l] == kind && (other == NULL || other->layers[l] == other_kind))
      rs_doc_put(list, DOC_NUMBER(NULL, l));
}

static void add_kind(rs_doc *in, const char *key, const outcome *o, const rs_layer_difference *d, size_t side) {
  const rs_layer_kind *kind = d->kind[side] != RS_NO_KIND ? &o->sides[side].profile.kinds[d->kind[side]] : NULL;
  bool attends = kind != NULL && kind->attends, recipe = attends && kind->model.published.method != NULL;
  rs_text mask = {0};
  if (attends) rs_layer_kind_write_mask(kind, &mask);
  const char *sees = rs_doc_keep(in, &mask);
  rs_doc_put(rs_doc_add(in, key, RS_DOC_OBJECT), DOC_WORDS("kind", kind != NULL ? kind->name : NULL),
             DOC_WORDS("sees", attends ? sees : NULL),
             DOC_WORDS("recipe", recipe ? cli_recipe(in, &kind->model.published) : NULL));
}

static void add_layer_differences(rs_doc *doc, const outcome *o) {
  const rs_profile *a = &o->sides[0].profile, *b = &o->sides[1].profile;
  rs_doc *list = rs_doc_add(doc, "layers", RS_DOC_ARRAY);
  for (size_t i = 0; i < o->layers.count; i++) {
    const rs_layer_difference *d = &o->layers.items[i];
    rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
    add_layers(in, o->layers.by_layer ? a : NULL, d->kind[0], b, d->kind[1]);
    add_kind(in, "a", o, d, 0);
    add_kind(in, "b", o, d, 1);
    rs_doc_put(in, DOC_FLAG("equal", !rs_layers_differ(d)));
    add_pairs(in, &d->difference);
    add_causes(in, d->causes);
  }
}

static void add_kind_matches(rs_doc *doc, const outcome *o) {
  const rs_profile *profile = &o->sides[o->kinds.model].profile;
  rs_doc *list = rs_doc_add(doc, "beside_layers", RS_DOC_ARRAY);
  for (size_t i = 0; i < o->kinds.count; i++) {
    const rs_kind_match *match = &o->kinds.items[i];
    rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
    rs_doc_put(in, DOC_WORDS("kind", profile->kinds[match->kind].name));
    add_layers(in, profile->counted ? profile : NULL, match->kind, NULL, 0);
    rs_doc_put(in, DOC_FLAG("equal", match->difference.differs == 0));
    add_pairs(in, &match->difference);
  }
}

static void add_buffers(rs_doc *doc, const outcome *o) {
  rs_doc *list = rs_doc_add(doc, "buffers", RS_DOC_ARRAY);
  for (size_t i = 0; i < o->buffers.count; i++) {
    const rs_buffer_check *check = &o->buffers.items[i];
    bool all = check->first == RS_NO_KIND;
    rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
    rs_doc_put(in, DOC_WORDS("side", check->buffers == 0 ? "a" : "b"),
               DOC_NUMBER("first_layer", all ? NAN : (double)check->first),
               DOC_NUMBER("last_layer", all ? NAN : (double)check->last),
               DOC_WORDS("kind", o->sides[check->config].profile.kinds[check->kind].name),
               DOC_FLAG("as_config", check->difference.differs == 0),
               DOC_NUMBER("pairs_that_differ", check->difference.count));
    add_causes(in, check->causes);
  }
}

/* Every pair: "pair", axis and frequency of either side, and their ratio. */
static void put_pairs(const outcome *o, cli_table *table) {
  static const char *const axes[RS_AXES] = {"t", "h", "w"};
  const rs_spectrum *sides[2] = {&o->sides[0].spectrum, &o->sides[1].spectrum};
  cli_table_header(table, "pair", "axis_a", "omega_a_rad_per_token", "axis_b", "omega_b_rad_per_token", "ratio");
  for (size_t j = 0; j < sides[0]->pairs || j < sides[1]->pairs; j++) {
    cli_table_number(table, (double)j);
    for (size_t i = 0; i < 2; i++) {
      bool there = j < sides[i]->pairs;
      cli_table_text(table, there && sides[i]->axis != NULL ? axes[sides[i]->axis[j]] : "");
      cli_table_number(table, there ? sides[i]->omega[j] : NAN);
    }
    bool both = j < sides[0]->pairs && j < sides[1]->pairs && sides[0]->omega[j] > 0;
    cli_table_row(table, both ? sides[1]->omega[j] / sides[0]->omega[j] : NAN);
  }
}

static void add_turning(rs_doc *doc, const outcome *o) {
  const rs_difference *d = &o->difference;
  RS_OWNED(cli_table) table = {.kept = true};
  rs_doc_put(doc, DOC_NUMBER("pairs_that_differ", d->count),
             DOC_NUMBER("worst_pair", d->count > 0 ? (double)d->worst : NAN),
             DOC_NUMBER("differs_at_tokens", o->other_length > 0 ? (double)o->other_length : NAN),
             DOC_NUMBER("largest_relative_difference", d->count > 0 ? d->largest : NAN));
  add_causes(doc, &o->causes);
  add_layer_differences(doc, o);
  add_kind_matches(doc, o);
  add_buffers(doc, o);
  put_pairs(o, &table);
  cli_table_add(&table, "columns", doc);
}

/* Where sides that turn nothing differ most: not where one has more heads. */
static void add_biases(rs_doc *doc, const outcome *o) {
  const rs_bias_difference *d = &o->biases;
  bool told = d->differs && !isnan(d->largest);
  rs_doc_put(doc, DOC_NUMBER("heads", d->heads), DOC_NUMBER("heads_that_differ", d->count),
             DOC_NUMBER("worst_head", told ? (double)d->head : NAN),
             DOC_NUMBER("worst_distance_tokens", told ? (double)d->distance : NAN),
             DOC_NUMBER("bias_a_nats", told ? d->a : NAN), DOC_NUMBER("bias_b_nats", told ? d->b : NAN),
             DOC_FLAG("rows_apart_by_a_constant", d->shifted));
  add_causes(doc, &o->causes);
}

static void add_slopes(rs_doc *doc, const outcome *o) {
  const rs_slope_difference *d = &o->slopes;
  bool differ = d->count > 0, first = o->sides[0].origin == RS_FROM_DUMP;
  rs_doc_put(doc, DOC_NUMBER("heads", d->heads), DOC_NUMBER("slopes_listed", d->listed),
             DOC_NUMBER("first_head_listed", d->first), DOC_NUMBER("heads_that_differ", d->count),
             DOC_NUMBER("worst_head", differ ? (double)d->head : NAN),
             DOC_NUMBER("slope_a_nats_per_token", !differ ? NAN
                                                  : first ? d->list
                                                          : d->recipe),
             DOC_NUMBER("slope_b_nats_per_token", !differ ? NAN
                                                  : first ? d->recipe
                                                          : d->list));
  add_causes(doc, &o->causes);
}

static bool is_equal(const outcome *o) {
  return o->form == COMPARE_BIASES   ? !o->biases.differs
         : o->form == COMPARE_SLOPES ? o->slopes.count == 0
                                     : o->difference.differs == 0 && !o->layers.differs && !o->buffers.differ;
}

static void add_all(rs_doc *doc, const outcome *o) {
  static const char *const words[] = {"frequencies",        "attention_factor", "axes",     "pair_layout",
                                      "beyond_frequencies", "head_dim",         "positions"};
  add_side(doc, "a", &o->sides[0]);
  add_side(doc, "b", &o->sides[1]);
  rs_doc_put(doc, DOC_FLAG("equal", is_equal(o)), DOC_NUMBER("rtol", o->rtol));
  rs_doc *list = rs_doc_add(doc, "differs", RS_DOC_LIST);
  for (size_t i = 0; i < RS_COUNT(words) && o->form == COMPARE_TURNING; i++)
    if (o->difference.differs & 1u << i) rs_doc_put(list, DOC_WORDS(NULL, words[i]));
  if (o->form != COMPARE_TURNING && !is_equal(o))
    rs_doc_put(list, DOC_WORDS(NULL, o->form == COMPARE_BIASES ? "biases" : "slopes"));
  (o->form == COMPARE_TURNING ? add_turning : o->form == COMPARE_BIASES ? add_biases : add_slopes)(doc, o);
}

/* Every pair; of sides that turn nothing the one row of where they differ most. */
static void put_csv(const outcome *o, const rs_doc *doc, rs_text *text) {
  static const rs_doc_column bias_columns[] = {{.key = "worst_head", .title = "head"},
                                               {.key = "worst_distance_tokens", .title = "distance_tokens"},
                                               {.key = "bias_a_nats"},
                                               {.key = "bias_b_nats"}};
  static const rs_doc_column slope_columns[] = {
      {.key = "worst_head", .title = "head"}, {.key = "slope_a_nats_per_token"}, {.key = "slope_b_nats_per_token"}};
  cli_table pairs = {0};
  if (o->form == COMPARE_TURNING) {
    put_pairs(o, &pairs);
    *text = pairs.csv;
    return;
  }
  bool biases = o->form == COMPARE_BIASES;
  rs_doc row = *doc, rows = {.kind = RS_DOC_ARRAY, .first = is_equal(o) ? NULL : &row, .arena = doc->arena};
  row.next = NULL;
  rs_doc_csv(&rows, biases ? bias_columns : slope_columns, biases ? RS_COUNT(bias_columns) : RS_COUNT(slope_columns),
             text);
}

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

static rs_compared compared(const rs_contender *s) {
  bool dump = s->origin == RS_FROM_DUMP;
  return (rs_compared){.recipe = dump ? NULL : &s->recipe,
                       .model = dump ? NULL : &s->model,
                       .length = s->length,
                       .spectrum = &s->spectrum};
}

/* Whether the side says what each of its layers does. */
static bool knows_layers(const rs_contender *side) {
  return side->origin == RS_FROM_HF || (side->origin == RS_FROM_PRESET && side->profile.counted);
}

/* Two models as wholes, and what is wrong in their layers. Whoever names a kind of layers asks of these alone. */
static rs_status compare_layers(const cli_options *options, outcome *o, rs_err *err) {
  const rs_profile *a = &o->sides[0].profile, *b = &o->sides[1].profile;
  const size_t known[2] = {o->sides[0].kind, o->sides[1].kind}, length = o->sides[0].length;
  if (!knows_layers(&o->sides[0]) || !knows_layers(&o->sides[1]) || options->layers != NULL) return RS_OK;
  RS_TRY(rs_layers_compare(a, b, length, o->rtol, &o->layers, err));
  if (options->csv || o->layers.count == 0) return RS_OK;
  return rs_layers_explain(a, b, known, length, o->rtol, &o->layers, err);
}

/* Sides that are equal here may part at other lengths, which nobody would ask about again. */
static rs_status compare(const cli_options *options, outcome *o, rs_err *err) {
  const rs_compared sides[2] = {compared(&o->sides[0]), compared(&o->sides[1])};
  bool turn[2] = {sides[0].spectrum->pairs > 0, sides[1].spectrum->pairs > 0};
  o->form = turn[0] && turn[1] ? COMPARE_TURNING : turn[0] || turn[1] ? COMPARE_SLOPES : COMPARE_BIASES;
  if (o->form == COMPARE_BIASES) return rs_biases_compare(&sides[0], &sides[1], o->rtol, &o->biases, &o->causes, err);
  if (o->form == COMPARE_SLOPES) return rs_slopes_compare(sides, o->rtol, &o->slopes, &o->causes, err);
  o->difference = rs_spectrum_compare(sides[0].spectrum, sides[1].spectrum, o->rtol);
  RS_TRY(compare_layers(options, o, err));
  RS_TRY(rs_buffers_check(o->sides, o->rtol, &o->buffers, err));
  RS_TRY(rs_kinds_match(o->sides, o->rtol, &o->kinds, err));
  if (o->difference.differs == 0)
    RS_TRY(rs_compare_elsewhere(&sides[0], &sides[1], o->rtol, &o->other_length, &o->other_difference, err));
  if (!options->csv) RS_TRY(rs_causes_find(&sides[0], &sides[1], o->rtol, &o->causes, err));
  rs_kinds_cause(o->sides, &o->kinds, &o->difference, &o->causes);
  return RS_OK;
}

static int put(const cli_options *options, const outcome *o) {
  RS_OWNED(rs_arena) arena = {0};
  rs_text text = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  if (doc != NULL) add_all(doc, o);
  if (options->json)
    rs_doc_json(doc, &text);
  else if (options->csv && !arena.failed)
    put_csv(o, doc, &text);
  else if (!arena.failed)
    compare_put_text(o, &arena, &text);
  text.failed |= arena.failed;
  if (cli_put(&text, options->csv || options->json ? CLI_DATA : CLI_TEXT) != CLI_OK) return CLI_USAGE;
  return is_equal(o) ? CLI_OK : DIFFERENT;
}

int cmd_compare(const cli_options *options) {
  outcome o = {.rtol = options->rtol};
  if (options->argument_count < 2)
    return cli_error("compare needs two sides, as in ropescope compare config.json '{name: yarn, factor: 8}'");
  if (options->csv && options->json) return cli_error("--csv and --json are two forms: keep one");
  if (options->hf != NULL && options->model != NULL) return cli_error("--hf and --model both name a model: keep one");
  const rs_contest contest = {.text = {options->arguments[0], options->arguments[1]},
                              .hf = options->hf,
                              .hf_text = options->hf_text,
                              .preset = options->model,
                              .layers = options->layers,
                              .length = options->length,
                              .rtol = o.rtol,
                              .biases = true};
  RS_OWNED(rs_problems) problems = {0};
  rs_err err = {0};
  int code = CLI_USAGE; /* 1 says that they differ: whatever failed, nothing was compared */
  rs_status status = rs_contest_read(&contest, o.sides, &problems, &err);
  if (status != RS_OK)
    cli_fail(status, &problems, &err);
  else if (compare(options, &o, &err) != RS_OK)
    cli_error("%s", err.message);
  else
    code = put(options, &o);
  for (size_t i = 0; i < RS_COUNT(o.sides) && status == RS_OK; i++) cli_note_doubt(options, &o.sides[i].profile);
  rs_layer_differences_clear(&o.layers);
  rs_buffer_checks_clear(&o.buffers);
  rs_kind_matches_clear(&o.kinds);
  rs_contest_clear(o.sides);
  return code;
}
