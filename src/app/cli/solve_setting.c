/* ropescope solve setting --length N: whole recipes for a length, ranked by what they cost, and the best as a config.
 */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far the sums were put to the test: experiments/extrapolation/what-predicts-loss. */
static const char evidence[] =
    "derived from angles by formulas, measured on no model here. Where ways of untuned models were measured, the sum "
    "with the weights loss had them in the order of loss with a rank correlation of .82 to .96 (dictionary, 4 to 16 "
    "times the length, 104k parameters), .74 to .92 (three other tasks, on which zero_shot_damage has .81 to .94), .90 "
    "and .65 to .80 (two published models of 100M), three pairs of Llama-2-13B right, and RoPE and Position "
    "Interpolation of LLaMA-7B the wrong way round; needle_damage .73 to .97 with needles missed, .94 and .66 to .81, "
    "and LLaMA-7B right. Neither orders models that are tuned at the length";

/* ---- what was asked ---------------------------------------------------------------------------------------------- */

/* "near=2,far=0.02,out=1", where what is not named keeps the weight of loss. */
static bool read_weights(const char *text, rs_turn_costs *weights) {
  struct {
    const char *name;
    double *weight;
  } terms[] = {{"near", &weights->near}, {"far", &weights->far}, {"out", &weights->out}};
  *weights = strcmp(text, "needles") == 0 ? rs_needle_weights : rs_loss_weights;
  if (strcmp(text, "needles") == 0 || strcmp(text, "loss") == 0) return true;
  while (*text != '\0') {
    char digits[32];
    size_t length = strcspn(text, ","), term = 0, name = strcspn(text, "=,"), left = length - name;
    while (term < RS_COUNT(terms) && (strlen(terms[term].name) != name || strncmp(text, terms[term].name, name) != 0))
      term++;
    if (term == RS_COUNT(terms) || left < 2 || left > sizeof digits) return false;
    memcpy(digits, text + name + 1, left - 1);
    digits[left - 1] = '\0';
    if (!rs_number_read(digits, terms[term].weight)) return false;
    if (!(*terms[term].weight >= 0) || isinf(*terms[term].weight)) return false;
    text += length;
    if (*text == ',' && *++text == '\0') return false;
  }
  return true;
}

static int check(const cli_options *options, rs_turn_costs *weights) {
  const struct {
    bool wrong;
    const char *why;
  } rules[] = {{options->hf == NULL && options->model == NULL, "needs --hf or --model, which is to be served"},
               {options->hf != NULL && options->model != NULL, "takes one model: keep --hf or --model"},
               {options->length == 0, "needs --length, the context to be served, as in --length 256k"},
               {options->criterion != NULL, "takes no --criterion: it ranks by costs (--weights)"},
               {options->method != NULL, "takes no --method: it ranks all of them"},
               {options->base > 0, "takes no --base: it is the model's"},
               {options->head_dim > 0, "takes no --head-dim: it is the model's"}};
  for (size_t i = 0; i < RS_COUNT(rules); i++)
    if (rules[i].wrong) return cli_error("solve setting %s", rules[i].why);
  if (cli_refuse_measuring(options) != CLI_OK) return CLI_USAGE;
  *weights = rs_loss_weights;
  if (options->weights != NULL && !read_weights(options->weights, weights))
    return cli_error("--weights %s: write loss, needles, or numbers from 0 as in near=2,far=0.02,out=1",
                     options->weights);
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

/* The model with the recipe in the place of what it publishes. */
static rs_status convert(const cli_options *options, const rs_ranking *ranking, const rs_candidate *best,
                         rs_conversion *out, rs_err *err) {
  RS_OWNED(rs_convertible) model = {0};
  *out = (rs_conversion){0};
  RS_TRY(read_convertible(options, &model, err));
  const rs_replacement by = {&best->said, best->theta, (size_t)ranking->train_length, options->length};
  model.kind = ranking->kind;
  RS_TRY(rs_convertible_replace(&model, ranking->kind, &by, err));
  return rs_convert(&model, consumer_of(options), options->length, out, err);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* What rounding has left is nothing. */
static double shown(double cost) {
  return fabs(cost) < 1e-9 ? 0 : cost;
}

static void put_terms(const rs_turn_costs *costs, rs_text *text) {
  rs_text_printf(text, "near %.4g, far %.4g, out %.4g", shown(costs->near), costs->far, shown(costs->out));
}

/* What the first one takes away from what leaving RoPE as it is costs. */
static void put_reason(const rs_ranking *ranking, const rs_candidate *best, rs_text *text) {
  const rs_candidate *plain = &ranking->items[ranking->unchanged];
  if (best == plain) {
    rs_text_puts(text, "leaving RoPE as it is costs least");
    return;
  }
  rs_text_printf(text, "its cost of %.4g is the least of %zu recipes (", best->sum, ranking->count);
  put_terms(&best->costs, text);
  rs_text_printf(text, "), against %.4g of RoPE as it is (", plain->sum);
  put_terms(&plain->costs, text);
  rs_text_puts(text, ")");
}

static void put_short(const rs_ranking *ranking, const rs_candidate *best, rs_text *text) {
  double plain = ranking->items[ranking->unchanged].early_sum, more = best->early_sum - plain;
  if (fabs(more) <= 1e-9 * fabs(plain))
    rs_text_printf(text, "nothing at the trained %g tokens", ranking->train_length);
  else
    rs_text_printf(text, "%.4g at the trained %g tokens, where RoPE as it is costs %.4g", best->early_sum,
                   ranking->train_length, plain);
}

static void put_advice(const rs_ranking *ranking, rs_text *text) {
  const rs_candidate *best = &ranking->items[0], *needles = &ranking->items[ranking->by_needles];
  size_t said = rs_ranking_best_said(ranking);
  rs_text_puts(text, "use ");
  rs_recipe_write(&best->recipe, text);
  rs_text_puts(text, " because ");
  put_reason(ranking, best, text);
  rs_text_puts(text, "; it costs ");
  put_short(ranking, best, text);
  if (said != 0 && said < ranking->count) {
    rs_text_puts(text, "; no config.json can say it, and the best that one can say is ");
    rs_recipe_write(&ranking->items[said].recipe, text);
  }
  if (ranking->by_needles != 0) {
    rs_text_puts(text, "; for needles alone it would be ");
    rs_recipe_write(&needles->recipe, text);
  }
}

static void put_table(const cli_options *options, const rs_ranking *ranking, const rs_doc *doc, rs_text *text) {
  char at[32];
  snprintf(at, sizeof at, "at %g", ranking->train_length);
  const rs_doc_column columns[] = {{.key = "rank", .title = "rank"},
                                   {.key = "cost", .title = "cost", .digits = 4},
                                   {.key = "near", .title = "near", .digits = 3},
                                   {.key = "far", .title = "far", .digits = 4},
                                   {.key = "out", .title = "out", .digits = 4},
                                   {.key = "needle_damage", .title = "needles", .digits = 4},
                                   {.key = "cost_at_trained_length", .title = at, .digits = 4},
                                   {.key = "said", .title = "*"},
                                   {.key = "recipe", .title = "recipe (* a config.json can say)"}};
  rs_doc *rows = rs_doc_new(doc->arena, RS_DOC_ARRAY);
  const rs_doc *in = rs_doc_find(doc, "recipes")->first;
  for (size_t i = 0; i < ranking->count; i++, in = in->next) {
    const rs_candidate *c = &ranking->items[i];
    rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_NUMBER("rank", i + 1), DOC_NUMBER("cost", c->sum),
               DOC_NUMBER("near", shown(c->costs.near)), DOC_NUMBER("far", c->costs.far),
               DOC_NUMBER("out", shown(c->costs.out)), DOC_NUMBER("needle_damage", c->needles),
               DOC_NUMBER("cost_at_trained_length", c->early_sum), DOC_WORDS("said", c->said.method != NULL ? "*" : ""),
               DOC_WORDS("recipe", rs_doc_text(in, "recipe")));
  }
  rs_doc_table(rows, columns, RS_COUNT(columns), 2, text);
  for (size_t i = 0; i < ranking->left_out_count && !options->quiet; i++)
    rs_text_printf(text, "left out   %s: %s\n", ranking->left_out[i].method, ranking->left_out[i].why);
}

static void put_all(const cli_options *options, const rs_turn_costs *weights, const rs_ranking *ranking,
                    const rs_conversion *config, const rs_doc *doc, rs_text *text) {
  const rs_model *model = ranking->model;
  size_t said = rs_ranking_best_said(ranking);
  rs_text_printf(text, "advice     %s\n", rs_doc_text(doc, "advice"));
  rs_text_line(text, "target     %zu tokens, %.4g times the %g of training; %s: base %g, %zu of %zu dims turn",
               options->length, (double)options->length / ranking->train_length, ranking->train_length, model->name,
               model->rope_theta, model->rotary_dim, model->head_dim);
  if (rs_profile_mixed(&ranking->profile)) {
    rs_text_puts(text, "layers     ");
    rs_profile_write_choice(&ranking->profile, ranking->kind, text);
    rs_text_puts(text, "\n");
  }
  rs_text_printf(
      text,
      "cost       %g near + %g far + %g out; needles: %g far + %g out (docs/reference/metrics.md: lookback_damage)\n",
      weights->near, weights->far, weights->out, rs_needle_weights.far, rs_needle_weights.out);
  put_table(options, ranking, doc, text);
  rs_text_printf(text, "evidence   %s.\n", evidence);
  if (said >= ranking->count) return;
  rs_text_printf(text, "config     of rank %zu, for %s\n", said + 1, consumer_of(options));
  cli_put_conversion(config, text);
}

/* ---- for other programs ------------------------------------------------------------------------------------------ */

static void add_terms(rs_doc *in, const char *key, const rs_turn_costs *costs) {
  rs_doc_put(rs_doc_add(in, key, RS_DOC_OBJECT), DOC_NUMBER("near", costs->near), DOC_NUMBER("far", costs->far),
             DOC_NUMBER("out", costs->out));
}

static void add_candidate(rs_doc *list, const rs_candidate *c) {
  rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
  rs_doc_put(in, DOC_WORDS("recipe", cli_recipe(in, &c->recipe)), DOC_WORDS("reference", c->recipe.method->reference),
             DOC_NUMBER("cost", c->sum));
  add_terms(in, "terms", &c->costs);
  rs_doc_put(in, DOC_NUMBER("needle_damage", c->needles), DOC_NUMBER("cost_at_trained_length", c->early_sum),
             DOC_FLAG("config", c->said.method != NULL));
}

static rs_status add_all(rs_doc *doc, const cli_options *options, const rs_turn_costs *weights,
                         const rs_ranking *ranking, const rs_conversion *config, rs_err *err) {
  rs_text advice = {0};
  size_t said = rs_ranking_best_said(ranking);
  put_advice(ranking, &advice);
  rs_doc_put(doc, DOC_WORDS("quantity", "setting"), DOC_WORDS("advice", rs_doc_keep(doc, &advice)),
             DOC_WORDS("evidence", evidence), DOC_NUMBER("target_tokens", options->length),
             DOC_NUMBER("trained_tokens", ranking->train_length),
             DOC_WORDS("layers", ranking->profile.kinds[ranking->kind].name));
  add_terms(doc, "weights", weights);
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

static int put(const cli_options *options, const rs_turn_costs *weights, const rs_ranking *ranking) {
  RS_OWNED(rs_conversion) config = {0};
  RS_OWNED(rs_arena) arena = {0};
  rs_text text = {0};
  rs_err err = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  size_t said = rs_ranking_best_said(ranking);
  rs_status status = said < ranking->count ? convert(options, ranking, &ranking->items[said], &config, &err) : RS_OK;
  if (status == RS_OK) status = add_all(doc, options, weights, ranking, &config, &err);
  if (status == RS_OK) status = rs_arena_check(&arena, &err);
  if (status == RS_OK && options->json)
    rs_doc_json(doc, &text);
  else if (status == RS_OK)
    put_all(options, weights, ranking, &config, doc, &text);
  int code = cli_answer(status, &err, &text, options->json ? CLI_DATA : CLI_TEXT);
  for (size_t i = 0; i < config.notes.count && code == CLI_OK && !options->json; i++)
    cli_note(options, "note: %s", config.notes.items[i]);
  return code;
}

int cli_solve_setting(const cli_options *options) {
  rs_ranking_in in = {.length = options->length,
                      .hf = options->hf,
                      .hf_text = options->hf_text,
                      .preset = options->model,
                      .layers = options->layers};
  RS_OWNED(rs_ranking) ranking = {0};
  rs_err err = {0};
  if (options->checkpoint != NULL) return cli_solve_measured(options);
  int code = check(options, &in.weights);
  if (code != CLI_OK) return code;
  rs_status status = rs_rank_settings(&in, &ranking, &err);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  code = put(options, &in.weights, &ranking);
  return code;
}
