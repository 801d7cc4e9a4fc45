/* ropescope compare A B: where two positional settings part, and which change makes one the other. */
#include "compare.h"

enum { DIFFERENT = 1 };

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

/* What is wrong in layers, and why; of frequencies in buffers, too. */
static rs_status explain_layers(const cli_options *options, outcome *o, rs_err *err) {
  const size_t known[2] = {o->sides[0].kind, o->sides[1].kind};
  if (options->csv || o->layers.count == 0) return RS_OK;
  return rs_layers_explain(&o->sides[0].profile, &o->sides[1].profile, known, o->sides[0].length, o->rtol, &o->layers,
                           err);
}

/* Two models as wholes. Whoever names a kind of layers asks of these alone. */
static rs_status compare_layers(const cli_options *options, outcome *o, rs_err *err) {
  if (!knows_layers(&o->sides[0]) || !knows_layers(&o->sides[1]) || options->layers != NULL) return RS_OK;
  return rs_layers_compare(&o->sides[0].profile, &o->sides[1].profile, o->sides[0].length, o->rtol, &o->layers, err);
}

/* Sides that turn nothing: their spectra are empty. */
static int compare_biases(const cli_options *options, outcome *o) {
  rs_err err = {0};
  rs_text text = {0};
  rs_compared a = compared(&o->sides[0]), b = compared(&o->sides[1]);
  if (rs_biases_compare(&a, &b, o->rtol, &o->biases, &o->causes, &err) != RS_OK) {
    cli_error("%s", err.message);
    return CLI_USAGE;
  }
  if (options->csv || options->json)
    compare_write_biases(o, options->csv, &text);
  else
    compare_put_biases(o, &text);
  if (!cli_put(&text, options->csv || options->json ? CLI_DATA : CLI_TEXT)) return CLI_USAGE;
  return o->biases.differs ? DIFFERENT : CLI_OK;
}

/* One side adds slopes, and the other is a list of them. */
static int compare_slopes(const cli_options *options, outcome *o) {
  rs_err err = {0};
  rs_text text = {0};
  const rs_compared sides[2] = {compared(&o->sides[0]), compared(&o->sides[1])};
  if (rs_slopes_compare(sides, o->rtol, &o->slopes, &o->causes, &err) != RS_OK) {
    cli_error("%s", err.message);
    return CLI_USAGE;
  }
  if (options->csv || options->json)
    compare_write_slopes(o, options->csv, &text);
  else
    compare_put_slopes(o, &text);
  if (!cli_put(&text, options->csv || options->json ? CLI_DATA : CLI_TEXT)) return CLI_USAGE;
  return o->slopes.count > 0 ? DIFFERENT : CLI_OK;
}

/* Sides that are equal here may part at other lengths, which nobody would ask about again. */
static rs_status look_elsewhere(const rs_compared *a, const rs_compared *b, outcome *o, rs_err *err) {
  if (o->difference.differs != 0) return RS_OK;
  return rs_compare_elsewhere(a, b, o->rtol, &o->other_length, &o->other_difference, err);
}

static int compare(const cli_options *options, outcome *o) {
  if (o->sides[0].spectrum.pairs == 0 && o->sides[1].spectrum.pairs == 0) return compare_biases(options, o);
  if (o->sides[0].spectrum.pairs == 0 || o->sides[1].spectrum.pairs == 0) return compare_slopes(options, o);
  rs_err err = {0};
  rs_text text = {0};
  rs_compared a = compared(&o->sides[0]), b = compared(&o->sides[1]);
  o->difference = rs_spectrum_compare(a.spectrum, b.spectrum, o->rtol);
  if (compare_layers(options, o, &err) != RS_OK || explain_layers(options, o, &err) != RS_OK ||
      rs_buffers_check(o->sides, o->rtol, &o->buffers, &err) != RS_OK ||
      rs_kinds_match(o->sides, o->rtol, &o->kinds, &err) != RS_OK || look_elsewhere(&a, &b, o, &err) != RS_OK ||
      (!options->csv && rs_causes_find(&a, &b, o->rtol, &o->causes, &err) != RS_OK)) {
    cli_error("%s", err.message);
    return CLI_USAGE;
  }
  rs_kinds_cause(o->sides, &o->kinds, &o->difference, &o->causes);
  if (options->csv) {
    cli_table pairs = {0};
    compare_put_pairs(o, &pairs);
    text = pairs.csv;
  } else if (!options->json)
    compare_put_text(o, &text);
  else if (compare_put_json(o, &text, &err) != RS_OK)
    text.failed = true;
  if (!cli_put(&text, options->csv || options->json ? CLI_DATA : CLI_TEXT)) return CLI_USAGE;
  return o->difference.differs == 0 && !o->layers.differs && !o->buffers.differ ? CLI_OK : DIFFERENT;
}

int cmd_compare(const cli_options *options) {
  outcome o = {.rtol = options->rtol};
  if (options->argument_count < 2) {
    cli_error("compare needs two sides, as in ropescope compare config.json '{name: yarn, factor: 8}'");
    return CLI_USAGE;
  }
  if (options->csv && options->json) {
    cli_error("--csv and --json are two forms: keep one");
    return CLI_USAGE;
  }
  if (options->hf != NULL && options->model != NULL) {
    cli_error("--hf and --model both name a model: keep one");
    return CLI_USAGE;
  }
  const rs_contest contest = {.text = {options->arguments[0], options->arguments[1]},
                              .hf = options->hf,
                              .hf_text = options->hf_text,
                              .preset = options->model,
                              .layers = options->layers,
                              .length = options->length,
                              .rtol = o.rtol,
                              .biases = true};
  rs_problems problems = {0};
  rs_err err = {0};
  int code = CLI_USAGE; /* 1 says that they differ: whatever failed, nothing was compared */
  if (rs_contest_read(&contest, o.sides, &problems, &err) == RS_OK)
    code = compare(options, &o);
  else
    cli_fail(err.status, &problems, &err);
  for (size_t i = 0; i < RS_COUNT(o.sides) && err.status == RS_OK; i++) cli_note_doubt(options, &o.sides[i].profile);
  rs_problems_clear(&problems);
  rs_layer_differences_clear(&o.layers);
  rs_buffer_checks_clear(&o.buffers);
  rs_kind_matches_clear(&o.kinds);
  rs_contest_clear(o.sides);
  return code;
}
