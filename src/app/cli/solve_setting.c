/* ropescope solve setting --length N: whole recipes for a length in the order of a rule, what evidence says of each,
 * and the first that a config can say.
 */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was asked ---------------------------------------------------------------------------------------------- */

static int check(const cli_options *options) {
  const struct {
    bool wrong;
    const char *why;
  } rules[] = {{options->hf == NULL && options->model == NULL, "needs --hf or --model, which is to be served"},
               {options->hf != NULL && options->model != NULL, "takes one model: keep --hf or --model"},
               {options->length == 0, "needs --length, the context to be served, as in --length 256k"},
               {options->criterion != NULL, "takes no --criterion: it ranks by one rule (docs/solve.md)"},
               {options->method != NULL, "takes no --method: it ranks all of them"},
               {options->base > 0, "takes no --base: it is the model's"},
               {options->head_dim > 0, "takes no --head-dim: it is the model's"}};
  for (size_t i = 0; i < RS_COUNT(rules); i++)
    if (rules[i].wrong) return cli_error("solve setting %s", rules[i].why);
  if (cli_refuse_measuring(options) != CLI_OK) return CLI_USAGE;
  return CLI_OK;
}

/* ---- the best as a config ---------------------------------------------------------------------------------------- */

static const char *consumer_of(const cli_options *options) {
  return options->consumer != NULL ? options->consumer : "hf5";
}

static rs_status read_convertible(const cli_options *options, rs_convertible *model, rs_err *err) {
  if (options->model != NULL) return rs_convertible_preset(options->model, model, err);
  if (options->hf_text != NULL)
    return rs_convertible_read(options->hf_text, strlen(options->hf_text), options->hf, model, err);
  RS_FREED char *data = NULL;
  size_t length = 0;
  RS_TRY(rs_hf_config_load(options->hf, &data, &length, err));
  return rs_convertible_read(data, length, options->hf, model, err);
}

static rs_status convert(const cli_options *options, const rs_ranking *ranking, const rs_candidate *best,
                         rs_conversion *out, rs_err *err) {
  RS_OWNED(rs_convertible) model = {0};
  *out = (rs_conversion){0};
  RS_TRY(read_convertible(options, &model, err));
  return rs_candidate_convert(ranking, best, options->length, &model, consumer_of(options), out, err);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* "-0.012 nats [-0.09, 0.05], from 3 models (SmolLM2-135M, stories260K, ...)", or that there is no evidence. */
static void put_forecast(const rs_forecast *forecast, rs_text *text) {
  if (forecast->models == 0) {
    rs_text_puts(text, "no evidence");
    return;
  }
  rs_text_printf(text, "%+.2g nats [%+.2g, %+.2g], from %zu model%s (%s)", forecast->increase, forecast->low,
                 forecast->high, forecast->models, forecast->models > 1 ? "s" : "", forecast->from);
}

/* The window comes first where the first recipe is foretold to be behind it. */
static void put_advice(const rs_ranking *ranking, rs_text *text) {
  const rs_candidate *best = &ranking->items[0];
  const rs_forecast *forecast = &best->forecast;
  size_t said = rs_ranking_best_said(ranking);
  bool behind = forecast->models > 0 && forecast->low > 0;
  if (behind) rs_text_printf(text, "read the last %.0f tokens alone; next comes ", ranking->reads);
  if (!behind) rs_text_puts(text, best->unchanged ? "keep what the file says, " : "try ");
  rs_recipe_write(&best->recipe, text);
  if (behind && best->unchanged) rs_text_puts(text, ", the model as it is");
  if (!behind) rs_text_printf(text, ", or read the last %.0f tokens alone", ranking->reads);
  rs_text_puts(text, "; expected loss minus that of those tokens alone: ");
  put_forecast(forecast, text);
  if (forecast->models > 0 && !behind && forecast->high >= 0)
    rs_text_puts(text, ", so either may win: measure it (--checkpoint and --text)");
  if (said != 0 && said < ranking->count) {
    rs_text_puts(text, "; no config.json can express it, and the first recipe that one can is ");
    rs_recipe_write(&ranking->items[said].recipe, text);
  }
}

static void put_table(const cli_options *options, const rs_ranking *ranking, const rs_doc *doc, rs_text *text) {
  static const rs_doc_column columns[] = {
      {.key = "rank", .title = "rank"},
      {.key = "increase", .title = "loss", .none = "-", .digits = 2},
      {.key = "interval", .title = "80 % interval", .none = "no evidence", .right = true},
      {.key = "models", .title = "models"},
      {.key = "damage", .title = "needles", .digits = 3},
      {.key = "bends", .title = "bends"},
      {.key = "said", .title = "*"},
      {.key = "recipe", .title = "recipe (* a config.json can say)"}};
  rs_doc *rows = rs_doc_new(doc->arena, RS_DOC_ARRAY);
  const rs_doc *in = rs_doc_find(doc, "recipes")->first;
  for (size_t i = 0; i < ranking->count; i++, in = in->next) {
    const rs_candidate *c = &ranking->items[i];
    rs_text interval = {0};
    if (c->forecast.models > 0) rs_text_printf(&interval, "[%.2g, %.2g]", c->forecast.low, c->forecast.high);
    rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_NUMBER("rank", i + 1),
               DOC_NUMBER("increase", c->forecast.increase),
               DOC_WORDS("interval", c->forecast.models > 0 ? rs_doc_keep(rows, &interval) : NULL),
               DOC_NUMBER("models", c->forecast.models), DOC_NUMBER("damage", c->damage),
               DOC_WORDS("bends", c->bends ? "yes" : ""), DOC_WORDS("said", c->said.method != NULL ? "*" : ""),
               DOC_WORDS("recipe", rs_doc_text(in, "label")));
  }
  rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_NUMBER("increase", 0), DOC_WORDS("interval", "[0, 0]"),
             DOC_WORDS("recipe", rs_doc_text(doc, "window")));
  rs_doc_table(rows, columns, RS_COUNT(columns), 2, text);
  for (size_t i = 0; i < ranking->left_out_count && !options->quiet; i++)
    rs_text_printf(text, "left out   %s: %s\n", ranking->left_out[i].method, ranking->left_out[i].why);
}

static void put_all(const cli_options *options, const rs_ranking *ranking, const rs_conversion *config,
                    const rs_doc *doc, rs_text *text) {
  const rs_model *model = ranking->model;
  size_t said = rs_ranking_best_said(ranking);
  rs_text_printf(text, "advice     %s\n", rs_doc_text(doc, "advice"));
  rs_text_line(text,
               "target     %zu tokens, %.4g times the %.0f that it reads as it is; %s: base %g, %zu of %zu dims turn",
               options->length, (double)options->length / ranking->reads, ranking->reads, model->name,
               model->rope_theta, model->rotary_dim, model->head_dim);
  if (rs_profile_mixed(&ranking->profile)) {
    rs_text_puts(text, "layers     ");
    rs_profile_write_choice(&ranking->profile, ranking->kind, text);
    rs_text_puts(text, "\n");
  }
  put_table(options, ranking, doc, text);
  rs_text_line(text, "order      %s", rs_doc_text(doc, "order"));
  rs_text_line(text, "loss       %s", rs_doc_text(doc, "evidence"));
  if (said >= ranking->count) return;
  rs_text_printf(text, "config     of rank %zu, for %s\n", said + 1, consumer_of(options));
  cli_put_conversion(config, text);
}

/* ---- for other programs ------------------------------------------------------------------------------------------ */

static void add_candidate(rs_doc *list, const rs_candidate *c) {
  rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
  const rs_forecast *forecast = &c->forecast;
  rs_text label = {0};
  rs_recipe_write(&c->recipe, &label);
  if (c->unchanged) rs_text_puts(&label, ", as it is");
  rs_doc_put(in, DOC_WORDS("recipe", cli_recipe(in, &c->recipe)), DOC_WORDS("label", rs_doc_keep(in, &label)),
             DOC_WORDS("reference", c->recipe.method->reference), DOC_FLAG("unchanged", c->unchanged),
             DOC_FLAG("bends", c->bends), DOC_NUMBER("needle_damage", c->damage),
             DOC_NUMBER("loss_increase_nats", forecast->increase), DOC_NUMBER("low_nats", forecast->low),
             DOC_NUMBER("high_nats", forecast->high), DOC_NUMBER("models", forecast->models),
             DOC_WORDS("from", forecast->models > 0 ? forecast->from : NULL),
             DOC_FLAG("config", c->said.method != NULL));
}

static const char order[] =
    "what is published for the length, then recipes that bend the map of positions, then the others, each by "
    "needle_damage: the rule that was best on models left out (ropescope solve evidence, docs/extrapolation.md)";
static const char evidence[] =
    "expected loss minus that of a window of what the model reads, on the same targets, from models that were measured "
    "(share/evidence.csv); the interval held 80 % of what was foretold of models left out, as a mean over groups of "
    "them";

static rs_status add_all(rs_doc *doc, const cli_options *options, const rs_ranking *ranking,
                         const rs_conversion *config, rs_err *err) {
  rs_text advice = {0}, window = {0};
  size_t said = rs_ranking_best_said(ranking);
  put_advice(ranking, &advice);
  rs_text_printf(&window, "window: the last %.0f tokens alone", ranking->reads);
  rs_doc_put(doc, DOC_WORDS("quantity", "setting"), DOC_WORDS("advice", rs_doc_keep(doc, &advice)),
             DOC_WORDS("order", order), DOC_WORDS("evidence", evidence), DOC_WORDS("window", rs_doc_keep(doc, &window)),
             DOC_NUMBER("target_tokens", options->length), DOC_NUMBER("trained_tokens", ranking->train_length),
             DOC_NUMBER("reads_tokens", ranking->reads),
             DOC_WORDS("layers", ranking->profile.kinds[ranking->kind].name));
  rs_doc *list = rs_doc_add(doc, "recipes", RS_DOC_ARRAY);
  for (size_t i = 0; i < ranking->count; i++) add_candidate(list, &ranking->items[i]);
  list = rs_doc_add(doc, "left_out", RS_DOC_ARRAY);
  for (size_t i = 0; i < ranking->left_out_count; i++)
    rs_doc_put(rs_doc_add(list, NULL, RS_DOC_OBJECT), DOC_WORDS("method", ranking->left_out[i].method),
               DOC_WORDS("why", ranking->left_out[i].why));
  if (said >= ranking->count) return RS_OK;
  rs_doc_put(doc, DOC_NUMBER("config_rank", said + 1));
  return cli_add_conversion(rs_doc_add(doc, "config", RS_DOC_OBJECT), consumer_of(options), config, err);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int put(const cli_options *options, const rs_ranking *ranking) {
  RS_OWNED(rs_conversion) config = {0};
  RS_OWNED(rs_arena) arena = {0};
  rs_text text = {0};
  rs_err err = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  size_t said = rs_ranking_best_said(ranking);
  rs_status status = said < ranking->count ? convert(options, ranking, &ranking->items[said], &config, &err) : RS_OK;
  if (status == RS_OK) status = add_all(doc, options, ranking, &config, &err);
  if (status == RS_OK) status = rs_arena_check(&arena, &err);
  if (status == RS_OK && options->json)
    rs_doc_json(doc, &text);
  else if (status == RS_OK)
    put_all(options, ranking, &config, doc, &text);
  int code = cli_answer(status, &err, &text, options->json ? CLI_DATA : CLI_TEXT);
  for (size_t i = 0; i < config.notes.count && code == CLI_OK && !options->json; i++)
    cli_note(options, "note: %s", config.notes.items[i]);
  return code;
}

/* That no setting is called for is an answer, too. */
static int put_no_setting(const cli_options *options, const rs_err *err) {
  RS_OWNED(rs_arena) arena = {0};
  RS_OWNED(rs_text) text = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  rs_doc_put(doc, DOC_WORDS("quantity", "setting"), DOC_WORDS("advice", err->message),
             DOC_NUMBER("target_tokens", options->length));
  rs_doc_add(doc, "recipes", RS_DOC_ARRAY);
  if (options->json)
    rs_doc_json(doc, &text);
  else
    rs_text_printf(&text, "advice     %s\n", err->message);
  text.failed |= arena.failed;
  return cli_put(&text, options->json ? CLI_DATA : CLI_TEXT);
}

int cli_solve_setting(const cli_options *options) {
  rs_ranking_in in = {.length = options->length,
                      .hf = options->hf,
                      .hf_text = options->hf_text,
                      .preset = options->model,
                      .layers = options->layers};
  RS_OWNED(rs_ranking) ranking = {0};
  RS_HELD(rs_evidence) known = NULL;
  rs_err err = {0};
  if (options->checkpoint != NULL) return cli_solve_measured(options);
  int code = check(options);
  if (code != CLI_OK) return code;
  rs_status status = rs_evidence_load(&known, &err);
  in.evidence = known;
  if (status == RS_OK) status = rs_rank_settings(&in, &ranking, &err);
  if (status == RS_DOMAIN) return put_no_setting(options, &err);
  return status == RS_OK ? put(options, &ranking) : cli_fail(status, NULL, &err);
}
