/* ropescope solve setting --length N --checkpoint MODEL --text IDS: recipes for a length, measured on the model. An
 * ordinary run with its results folder does the work; before it begins stands how long it takes. */
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
  } rules[] = {
      {options->text == NULL, "needs --text, the ids of tokens that it reads"},
      {options->length == 0, "needs --length, the context to be served, as in --length 16k"},
      {options->hf != NULL || options->model != NULL, "takes no --hf or --model: it is the model"},
      {options->layers != NULL, "takes no --layers: all of its layers read"},
      {options->consumer != NULL, "takes no --for: without --checkpoint the recipe that was chosen becomes a config"},
      {options->criterion != NULL, "takes no --criterion: it ranks by losses"},
      {options->method != NULL, "takes no --method: --methods lists the ways that are measured"},
      {options->base > 0, "takes no --base: it is the model's"},
      {options->head_dim > 0, "takes no --head-dim: it is the model's"}};
  for (size_t i = 0; i < RS_COUNT(rules); i++)
    if (rules[i].wrong) return cli_error("solve setting --checkpoint %s", rules[i].why);
  return CLI_OK;
}

int cli_refuse_measuring(const cli_options *options) {
  const struct {
    bool given;
    const char *name;
  } names[] = {{options->text != NULL, "text"},      {options->reads > 0, "reads"}, {options->targets > 0, "targets"},
               {options->out != NULL, "out"},        {options->fresh, "fresh"},     {options->force, "force"},
               {options->methods != NULL, "methods"}};
  for (size_t i = 0; i < RS_COUNT(names); i++)
    if (names[i].given) return cli_error("solve: --%s goes with setting --checkpoint", names[i].name);
  return CLI_OK;
}

/* ---- how long it takes ------------------------------------------------------------------------------------------- */

static rs_status put_time(const cli_options *options, const rs_measuring *in, const rs_experiment *experiment,
                          const char *directory, rs_text *text, rs_err *err) {
  rs_rest rest;
  rs_read_rate rate;
  RS_TRY(rs_rest_make(experiment, options->fresh ? NULL : directory, NULL, &rest, err));
  if (rest.cells == 0) return RS_OK;
  RS_TRY(rs_measure_rate(in, experiment, &rate, err));
  rs_text_printf(text, "%zu way%s, %zu read%s of %zu tokens each: ", rest.cells, rest.cells == 1 ? "" : "s",
                 experiment->sequences, experiment->sequences == 1 ? "" : "s", options->length);
  cli_put_duration(rest.flops / rate.flops, text);
  rs_text_printf(text, ", %.3g flop at %.3g flop/s, the rate of reads of %zu tokens", rest.flops, rate.flops,
                 rate.tokens);
  return RS_OK;
}

static int say_time(const cli_options *options, const rs_measuring *in, const rs_experiment *experiment,
                    const char *directory) {
  RS_OWNED(rs_text) text = {0};
  rs_err err = {0};
  if (options->quiet) return CLI_OK;
  rs_status status = put_time(options, in, experiment, directory, &text, &err);
  if (status == RS_OK) status = rs_text_check(&text, &err);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  if (text.length > 0) cli_note(options, "%s", rs_text_string(&text));
  return CLI_OK;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

static void add_way(rs_doc *list, const rs_measured_way *way, size_t reads) {
  rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
  rs_doc_put(in, DOC_WORDS("way", way->label), DOC_FLAG("window", way->window), DOC_FLAG("unchanged", way->unchanged),
             DOC_WORDS("recipe", cli_recipe(in, &way->recipe)), DOC_NUMBER("tokens", way->tokens),
             DOC_NUMBER("loss_nats", way->loss), DOC_NUMBER("loss_difference_nats", way->difference.mean),
             DOC_NUMBER("loss_difference_nats_low", way->difference.low),
             DOC_NUMBER("loss_difference_nats_high", way->difference.high), DOC_FLAG("apart_from_window", way->apart),
             DOC_NUMBER("less_best_nats", way->above.mean), DOC_NUMBER("less_best_nats_low", way->above.low),
             DOC_NUMBER("less_best_nats_high", way->above.high), DOC_FLAG("apart_from_best", way->behind),
             DOC_WORDS("message", *way->why ? way->why : NULL));
  rs_doc *losses = rs_doc_add(in, "read_losses_nats", RS_DOC_LIST);
  for (size_t i = 0; i < reads; i++) rs_doc_put(losses, DOC_NUMBER(NULL, way->reads[i]));
}

static void add_all(rs_doc *doc, const cli_options *options, const rs_experiment *experiment, const char *directory,
                    const rs_measured *measured) {
  rs_text advice = {0};
  rs_measured_advise(measured, &advice);
  rs_doc_put(doc, DOC_WORDS("quantity", "setting"), DOC_WORDS("advice", rs_doc_keep(doc, &advice)),
             DOC_FLAG("measured", true), DOC_WORDS("checkpoint", options->checkpoint), DOC_WORDS("text", options->text),
             DOC_NUMBER("length_tokens", options->length), DOC_NUMBER("trained_tokens", measured->window_tokens),
             DOC_NUMBER("reads", measured->reads), DOC_NUMBER("target_tokens", experiment->targets.tokens),
             DOC_WORDS("best", measured->items[measured->best].label), DOC_WORDS("results", directory));
  rs_doc *list = rs_doc_add(doc, "ways", RS_DOC_ARRAY);
  for (size_t i = 0; i < measured->count; i++) add_way(list, &measured->items[i], measured->reads);
}

static void put_table(const rs_doc *doc, const rs_measured *measured, rs_text *text) {
  static const rs_doc_column columns[] = {{.key = "rank", .title = "rank"},
                                          {.key = "loss_nats", .title = "loss", .digits = 4},
                                          {.key = "loss_difference_nats", .title = "less window", .digits = 3},
                                          {.key = "loss_difference_nats_low", .title = "low", .digits = 3},
                                          {.key = "loss_difference_nats_high", .title = "high", .digits = 3},
                                          {.key = "apart", .title = "*"},
                                          {.key = "way", .title = "way"},
                                          {.key = "recipe", .title = "recipe"}};
  rs_doc *rows = rs_doc_new(doc->arena, RS_DOC_ARRAY);
  for (size_t i = 0; i < measured->count; i++) {
    const rs_measured_way *way = &measured->items[i];
    if (isnan(way->loss)) continue;
    rs_doc *row = rs_doc_add(rows, NULL, RS_DOC_OBJECT);
    rs_text name = {0};
    bool stands = way->unchanged && strcmp(way->label, rs_baseline_words[RS_BASELINE_UNCHANGED]) != 0;
    rs_text_printf(&name, "%s%s", way->label, stands ? " (unchanged)" : "");
    rs_doc_put(row, DOC_NUMBER("rank", i + 1), DOC_NUMBER("loss_nats", way->loss),
               DOC_NUMBER("loss_difference_nats", way->difference.mean),
               DOC_NUMBER("loss_difference_nats_low", way->difference.low),
               DOC_NUMBER("loss_difference_nats_high", way->difference.high), DOC_WORDS("apart", way->apart ? "*" : ""),
               DOC_WORDS("way", rs_doc_keep(row, &name)), DOC_WORDS("recipe", cli_recipe(row, &way->recipe)));
  }
  rs_doc_table(rows, columns, RS_COUNT(columns), 2, text);
  for (size_t i = 0; i < measured->count; i++) {
    const rs_measured_way *way = &measured->items[i];
    if (*way->why != '\0')
      rs_text_line(text, "%s%s: %s", isnan(way->loss) ? "left out   " : "note       ", way->label, way->why);
  }
}

static void put_all(const cli_options *options, const rs_experiment *experiment, const char *directory,
                    const rs_measured *measured, const rs_doc *doc, rs_text *text) {
  const rs_model *model = &experiment->models[0];
  size_t reads = measured->reads;
  rs_text_line(text, "advice     %s", rs_doc_text(doc, "advice"));
  rs_text_line(text, "target     %zu tokens, %.4g times the %zu of training; %s: base %g, %zu of %zu dims turn",
               options->length, (double)options->length / (double)measured->window_tokens, measured->window_tokens,
               model->name, model->rope_theta, model->rotary_dim, model->head_dim);
  rs_text_line(text,
               "measured   loss in nats on the last %zu tokens of %zu read%s of %s, the same under every way; window: "
               "a read of the last %zu tokens alone",
               experiment->targets.tokens, reads, reads == 1 ? "" : "s", options->text, measured->window_tokens);
  put_table(doc, measured, text);
  rs_text_line(text,
               "intervals  95 %% of the difference to the window over %zu read%s, paired, by the bootstrap; * apart: "
               "Student's does not hold 0 either",
               reads, reads == 1 ? "" : "s");
  rs_text_line(text, "results    %s", directory);
}

static int put(const cli_options *options, const rs_experiment *experiment, const char *directory) {
  RS_OWNED(rs_arena) arena = {0};
  RS_OWNED(rs_measured) measured = {0};
  rs_text text = {0};
  rs_err err = {0};
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  rs_status status = rs_measured_read(experiment, directory, &measured, &err);
  if (status == RS_OK) {
    add_all(doc, options, experiment, directory, &measured);
    if (options->json)
      rs_doc_json(doc, &text);
    else
      put_all(options, experiment, directory, &measured, doc, &text);
    status = rs_arena_check(&arena, &err);
  }
  return cli_answer(status, &err, &text, options->json ? CLI_DATA : CLI_TEXT);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int measure(const cli_options *options, const rs_measuring *in, const rs_experiment *experiment,
                   const char *directory) {
  const cli_target target = {.directory = directory, .plain = true};
  int code = cli_check_folder(options, experiment, directory);
  if (code == CLI_OK) code = cli_check_memory(options, experiment, &target, NULL);
  if (code == CLI_OK) code = say_time(options, in, experiment, directory);
  if (code == CLI_OK) code = cli_run(options, experiment, &target);
  return code == CLI_OK ? put(options, experiment, directory) : code;
}

int cli_solve_measured(const cli_options *options) {
  const rs_measuring in = {.checkpoint = options->checkpoint,
                           .text = options->text,
                           .methods = options->methods,
                           .length = options->length,
                           .reads = options->reads,
                           .targets = options->targets};
  RS_HELD(rs_experiment) experiment = NULL;
  RS_OWNED(rs_problems) problems = {0};
  rs_err err = {0};
  int code = check(options);
  if (code != CLI_OK) return code;
  rs_status status = rs_measure_make(&in, &experiment, &problems, &err);
  if (status != RS_OK) return cli_fail(status, &problems, &err);
  RS_FREED char *directory = cli_results_folder(options, experiment, (rs_sweep_shard){0}, &err);
  code = directory != NULL ? measure(options, &in, experiment, directory) : cli_fail(RS_MEMORY, NULL, &err);
  return code;
}
