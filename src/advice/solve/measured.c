/* Whole recipes for a length, measured on the model itself: an experiment in which each way reads the same targets
 * beside a window, what it takes, and what it came to. The run room reads the model; nothing here does but for a rate.
 */
#include "task.h"

#include "run/run.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ways that need no training. Their factor is L / L0, or what stands here. */
static const struct {
  const char *method;
  bool scaled;
  double factor; /* 0: L / L0 */
} usual[] = {
    {"dynamic_ntk", true, 2}, {"yarn", true, 0},        {"llama3", true, 0}, {"self_extend", false, 0},
    {"rerope", false, 0},     {"dual_chunk", false, 0}, {"ntk", true, 0},    {"pi", true, 0},
};

/* ---- the experiment ---------------------------------------------------------------------------------------------- */

/* One experiment of the model on the text. */
typedef struct plan {
  const rs_measuring *in;
  size_t length, reads, targets; /* targets 0: as many as can be */
  const rs_model *model;         /* NULL: it is read as it was trained alone, without baselines */
  bool plain;                    /* what it publishes is plain RoPE */
} plan;

/* The checkpoint's name as results folders may have it: letters, digits, '.', '_' and '-'. */
static void put_name(const char *checkpoint, rs_text *text) {
  enum { LETTERS = 60 };
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", end[] = ".gguf";
  char *real = realpath(checkpoint, NULL);
  const char *path = real != NULL ? real : checkpoint, *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  size_t length = strlen(name),
         most = length > strlen(end) && strcmp(name + length - strlen(end), end) == 0 ? length - strlen(end) : length;
  for (size_t i = 0; i < most && i < LETTERS; i++)
    rs_text_printf(text, "%c", strchr(letters, name[i]) != NULL || (name[i] == '.' && i > 0) ? name[i] : '_');
  if (most == 0) rs_text_puts(text, "model");
  free(real);
}

static void put_methods(const plan *p, rs_text *yaml) {
  rs_text_puts(yaml, "methods:\n");
  if (p->model == NULL || p->in->methods != NULL) {
    rs_text_puts(yaml, "  - " RS_TRAINED "\n"); /* others stand in its place */
    return;
  }
  if (!p->plain) rs_text_puts(yaml, "  - rope\n");
  for (size_t i = 0; i < RS_COUNT(usual); i++) {
    double factor = usual[i].factor > 0 ? usual[i].factor : (double)p->length / (double)p->model->train_length;
    rs_text_printf(yaml, "  - {name: %s", usual[i].method);
    if (usual[i].scaled) rs_text_puts(yaml, ", factor: "), rs_text_number(yaml, rs_ten_digits(factor));
    rs_text_puts(yaml, "}\n");
  }
}

static void put_config(const plan *p, rs_text *yaml) {
  rs_text_puts(yaml, "name: \"solve-");
  put_name(p->in->checkpoint, yaml);
  rs_text_printf(yaml, "-%zu\"\ndescription: ways to read %zu tokens, measured\ncheckpoint: {name: \"", p->length,
                 p->length);
  put_name(p->in->checkpoint, yaml);
  rs_text_puts(yaml, "\", folder: ");
  rs_text_quote(yaml, p->in->checkpoint);
  rs_text_puts(yaml, "}\ntask: {name: tokens, file: ");
  rs_text_quote(yaml, p->in->text);
  rs_text_printf(yaml, "}\nlengths: [%zu]\nsequences: %zu\ntargets: same\n", p->length, p->reads);
  if (p->targets > 0) rs_text_printf(yaml, "target_tokens: %zu\n", p->targets);
  rs_text_printf(yaml, "baselines: %s\n", p->model != NULL ? "[window, unchanged]" : "none");
  put_methods(p, yaml);
  rs_text_printf(yaml, "metrics: [loss%s]\n", p->model != NULL ? ", loss_difference" : "");
}

static rs_status make_experiment(const plan *p, rs_experiment **experiment, rs_problems *problems, rs_err *err) {
  RS_OWNED(rs_text) yaml = {0};
  const rs_config_edits edits = {.methods = p->model != NULL ? p->in->methods : NULL};
  put_config(p, &yaml);
  RS_TRY(rs_text_check(&yaml, err));
  return rs_config_read(rs_text_string(&yaml), "solve setting", edits, experiment, problems, err);
}

/* ---- what is refused before anything is read --------------------------------------------------------------------- */

static size_t reads_of(const rs_measuring *in) {
  return in->reads > 0 ? in->reads : RS_MEASURED_READS;
}

static rs_status check_count(const rs_measuring *in, const rs_token_file *file, rs_err *err) {
  size_t reads = reads_of(in), fit = file->count > 0 ? (file->count - 1) / in->length : 0;
  if (fit >= reads) return RS_OK;
  if (fit > 0)
    return rs_fail(err, RS_INPUT, "%s: %zu ids: %zu reads of %zu tokens and the one behind them take %zu (--reads %zu)",
                   in->text, file->count, reads, in->length, reads * in->length + 1, fit);
  return rs_fail(err, RS_INPUT, "%s: %zu ids: a read of %zu tokens and the one behind them takes %zu", in->text,
                 file->count, in->length, in->length + 1);
}

/* Ids that the model has not are of another one's tokenizer. */
static rs_status check_ids(const rs_measuring *in, const rs_token_file *file, size_t vocabulary, rs_err *err) {
  for (size_t i = 0; i < file->count; i++)
    if (rs_token_id(file, i) >= vocabulary)
      return rs_fail(err, RS_INPUT, "%s: id %u at place %zu: the %zu of %s end at %zu (is it of another tokenizer?)",
                     in->text, (unsigned)rs_token_id(file, i), i, vocabulary, in->checkpoint, vocabulary - 1);
  return RS_OK;
}

static rs_status check_model(const rs_measuring *in, const rs_experiment *probe, const rs_token_file *file,
                             rs_err *err) {
  const rs_model *model = &probe->models[0];
  const rs_recipe *published = rs_trained_recipe(probe, 0, 0);
  size_t trained = probe->checkpoints[0].trained_tokens;
  RS_TRY(rs_need_trained(model, (double)trained, err));
  if (published->method->freq == NULL)
    return rs_fail(err, RS_UNSUPPORTED, "%s turns no pairs on %s: there is no setting to measure",
                   published->method->name, model->name);
  if (in->length <= trained)
    return rs_fail(err, RS_DOMAIN, "%zu tokens are within the %zu that %s was trained at: no setting is called for",
                   in->length, trained, model->name);
  if (in->targets > trained)
    return rs_fail(err, RS_INPUT, "%zu targets are more than the %zu tokens that the window reads, the trained length",
                   in->targets, trained);
  return check_ids(in, file, probe->checkpoints[0].shape.vocabulary, err);
}

static rs_status make_checked(const rs_measuring *in, const rs_token_file *file, rs_experiment **experiment,
                              rs_problems *problems, rs_err *err) {
  RS_HELD(rs_experiment) probe = NULL;
  plan p = {.in = in, .length = in->length, .reads = reads_of(in)};
  RS_TRY(check_count(in, file, err));
  RS_TRY(make_experiment(&p, &probe, problems, err));
  RS_TRY(check_model(in, probe, file, err));
  p.model = &probe->models[0];
  p.plain = strcmp(rs_trained_recipe(probe, 0, 0)->method->name, "rope") == 0;
  p.targets = in->targets > 0 ? in->targets : RS_MEASURED_TARGETS;
  if (p.targets > probe->targets.tokens) p.targets = probe->targets.tokens;
  return make_experiment(&p, experiment, problems, err);
}

rs_status rs_measure_make(const rs_measuring *in, rs_experiment **experiment, rs_problems *problems, rs_err *err) {
  rs_token_file file;
  *experiment = NULL;
  RS_TRY(rs_token_file_read(in->text, RS_ID_AUTO, &file, err));
  rs_status status = make_checked(in, &file, experiment, problems, err);
  rs_token_file_clear(&file);
  return status;
}

/* ---- how long it takes ------------------------------------------------------------------------------------------- */

/* One read by each thread that will read, as the model was trained: its flops and seconds. */
static rs_status time_read(const plan *p, const rs_transformer *transformer, double *flops, double *seconds,
                           rs_err *err) {
  RS_HELD(rs_experiment) experiment = NULL;
  RS_OWNED(rs_problems) problems = {0};
  RS_TRY(make_experiment(p, &experiment, &problems, err));
  rs_plan cost;
  rs_task task;
  rs_context *context = NULL;
  rs_reading reading = {0};
  RS_TRY(rs_plan_make(experiment, NULL, &cost, err));
  RS_TRY(rs_checkpoint_task(experiment, experiment->seeds[0], &task, err));
  double start = rs_seconds();
  rs_status status = rs_context_of_task(transformer, NULL, &task, p->length, &context, err);
  if (status == RS_OK)
    status = rs_reading_make(context, &task, RS_SPLIT_EVALUATION, p->length, p->reads, &reading, err);
  *seconds = rs_seconds() - start;
  *flops = cost.flops;
  rs_reading_clear(&reading);
  rs_context_free(context);
  rs_task_clear(&task);
  return status;
}

rs_status rs_measure_rate(const rs_measuring *in, const rs_experiment *experiment, rs_read_rate *rate, rs_err *err) {
  enum { SHORTEST = 256, SHARE = 4 }; /* no read takes more than a part of what one of the length does */
  static const double enough = 0.5;   /* seconds */
  const rs_weights_in weights = {.seed = experiment->seeds[0]};
  const rs_checkpoint_place place = {0};
  size_t threads = rs_engine_threads(), reads = reads_of(in);
  plan p = {.in = in, .length = in->length / SHARE < SHORTEST ? in->length / SHARE : SHORTEST};
  p.reads = reads < threads ? reads : threads;
  if (p.length < 2) p.length = 2;
  rs_transformer *transformer;
  RS_TRY(rs_checkpoint_obtain(experiment, &weights, &place, &transformer, err));
  rs_status status;
  double flops, seconds;
  for (bool warm = false;; warm = true) {
    status = time_read(&p, transformer, &flops, &seconds, err);
    if (status != RS_OK || (warm && (seconds >= enough || 2 * p.length > in->length / SHARE))) break;
    if (warm) p.length *= 2; /* the first one brings weights from the disk */
  }
  rs_transformer_free(transformer);
  /* Of reads that threads do not share evenly, the last ones leave some idle. */
  size_t rounds = (reads + p.reads - 1) / p.reads;
  if (status == RS_OK)
    *rate = (rs_read_rate){flops / seconds * (double)reads / (double)(rounds * p.reads), p.length, seconds};
  return status;
}

/* ---- what came out ----------------------------------------------------------------------------------------------- */

/* A CSV file of a results folder. */
static rs_status read_table(const char *directory, const char *name, rs_table **table, rs_err *err) {
  RS_FREED char *csv = NULL, *path = rs_path_join(directory, name, err);
  size_t bytes;
  if (path == NULL) return RS_MEMORY;
  RS_TRY(rs_results_read(path, RS_LARGEST_TABLE, &csv, &bytes, err));
  return rs_csv_read(csv, bytes, path, table, err);
}

static double number_of(const rs_table *table, size_t row, const char *column) {
  double number;
  return rs_number_read(rs_table_field(table, row, column), &number) ? number : NAN;
}

/* The losses of each read; NaN where one is missing. */
static void take_reads(const rs_table *curve, rs_measured_way *way, size_t reads) {
  for (size_t b = 0; b < reads; b++) way->reads[b] = NAN;
  for (size_t row = 0; row < curve->rows; row++) {
    double block = number_of(curve, row, "block");
    if (strcmp(rs_table_field(curve, row, "method"), way->label) == 0 && block >= 0 && block < (double)reads)
      way->reads[(size_t)block] = number_of(curve, row, "loss_nats");
  }
}

static rs_status take_way(const rs_experiment *experiment, const rs_table *summary, const rs_table *curve, size_t row,
                          rs_measured *out, rs_err *err) {
  rs_measured_way *way = &out->items[out->count];
  const char *label = rs_table_field(summary, row, "method");
  size_t method = 0;
  while (method < experiment->methods.count && strcmp(experiment->methods.items[method].label, label) != 0) method++;
  if (method == experiment->methods.count) return rs_fail(err, RS_INTERNAL, "no way is called %s", label);
  *way = (rs_measured_way){.label = rs_arena_text(&out->arena, label),
                           .why = rs_arena_text(&out->arena, rs_table_field(summary, row, "message")),
                           .reads = rs_arena_take(&out->arena, out->reads, sizeof *way->reads),
                           .tokens = experiment->lengths[0],
                           .loss = number_of(summary, row, "loss_nats"),
                           .difference = {number_of(summary, row, "loss_difference_nats"),
                                          number_of(summary, row, "loss_difference_nats_low"),
                                          number_of(summary, row, "loss_difference_nats_high")}};
  RS_TRY(rs_arena_check(&out->arena, err));
  way->window = method == rs_experiment_baseline(experiment, RS_BASELINE_WINDOW);
  way->unchanged = method == rs_experiment_baseline(experiment, RS_BASELINE_UNCHANGED);
  if (way->window) way->tokens = out->window_tokens;
  take_reads(curve, way, out->reads);
  if (experiment->methods.items[method].added) /* which has a length of its own besides */
    RS_TRY(rs_recipe_copy(&way->recipe, &experiment->models[0].published, err));
  else
    RS_TRY(rs_experiment_recipe(experiment, 0, method, &way->recipe, err));
  out->count++;
  return RS_OK;
}

/* The least loss first, then the window and the model as it is; ways without a loss last. */
static int by_loss(const void *a, const void *b) {
  const rs_measured_way *x = a, *y = b;
  if (isnan(x->loss) != isnan(y->loss)) return isnan(x->loss) ? 1 : -1;
  if (x->loss != y->loss && !isnan(x->loss)) return x->loss < y->loss ? -1 : 1;
  if (x->window != y->window) return x->window ? -1 : 1;
  if (x->unchanged != y->unchanged) return x->unchanged ? -1 : 1;
  return strcmp(x->label, y->label);
}

/* Losses of a way less those of another, read by read: their mean with its bootstrap interval, and whether they part.
 * Of few reads that interval is too narrow (of 4 normal numbers 1.7 standard errors to either side, and Student's 3.2):
 * Student's must not hold 0 either. */
static rs_status compare(const rs_measured_way *way, const rs_measured_way *other, size_t reads, double *differences,
                         rs_interval *interval, bool *apart, rs_err *err) {
  rs_moments moments = {0};
  for (size_t b = 0; b < reads; b++) {
    differences[b] = way->reads[b] - other->reads[b];
    rs_moments_add(&moments, differences[b]);
  }
  RS_TRY(rs_bootstrap_mean(differences, 1, reads, interval, err));
  *apart = reads > 1 && rs_interval_parts(interval) &&
           fabs(interval->mean) > gsl_cdf_tdist_Pinv(0.975, (double)reads - 1) * rs_moments_se(&moments);
  return RS_OK;
}

/* Each way against the window, and then against the best, which is the first that is apart below the window, else the
 * first of all. */
static rs_status compare_ways(rs_measured *out, rs_err *err) {
  double *differences = rs_arena_take(&out->arena, out->reads, sizeof *differences);
  const rs_measured_way *window = out->items;
  rs_interval again; /* the same as the results have */
  RS_TRY(rs_arena_check(&out->arena, err));
  while (!window->window) window++;
  for (size_t i = out->count; i-- > 0;) {
    rs_measured_way *way = &out->items[i];
    RS_TRY(compare(way, window, out->reads, differences, &again, &way->apart, err));
    if (way->apart && again.mean < 0) out->best = i;
  }
  for (size_t i = 0; i < out->count; i++)
    RS_TRY(compare(&out->items[i], &out->items[out->best], out->reads, differences, &out->items[i].above,
                   &out->items[i].behind, err));
  return RS_OK;
}

static rs_status take_all(const rs_experiment *experiment, const rs_table *summary, const rs_table *curve,
                          rs_measured *out, rs_err *err) {
  out->reads = experiment->sequences;
  out->window_tokens = experiment->checkpoints[0].trained_tokens;
  out->items = rs_arena_take(&out->arena, summary->rows, sizeof *out->items);
  RS_TRY(rs_arena_check(&out->arena, err));
  for (size_t row = 0; row < summary->rows; row++) RS_TRY(take_way(experiment, summary, curve, row, out, err));
  qsort(out->items, out->count, sizeof *out->items, by_loss);
  return compare_ways(out, err);
}

rs_status rs_measured_read(const rs_experiment *experiment, const char *directory, rs_measured *out, rs_err *err) {
  RS_HELD(rs_table) summary = NULL;
  RS_HELD(rs_table) curve = NULL;
  *out = (rs_measured){0};
  RS_TRY(read_table(directory, "summary.csv", &summary, err));
  RS_TRY(read_table(directory, "loss_difference.csv", &curve, err));
  rs_status status = take_all(experiment, summary, curve, out, err);
  if (status != RS_OK) rs_measured_clear(out);
  return status;
}

void rs_measured_clear(rs_measured *measured) {
  for (size_t i = 0; i < measured->count; i++) rs_recipe_clear(&measured->items[i].recipe);
  rs_arena_clear(&measured->arena);
  *measured = (rs_measured){0};
}

/* ---- the advice -------------------------------------------------------------------------------------------------- */

static void put_interval(const rs_interval *interval, rs_text *text) {
  rs_text_printf(text, "%.3g [%.3g, %.3g] nats", interval->mean, interval->low, interval->high);
}

static void put_below(const rs_measured_way *way, rs_text *text) {
  const rs_interval below = {-way->difference.mean, -way->difference.high, -way->difference.low};
  put_interval(&below, text);
  rs_text_puts(text, " below the window");
}

/* Ways that the best one is not apart from, itself left out. */
static void put_rivals(const rs_measured *m, rs_text *text) {
  size_t count = 0;
  for (size_t i = 0; i < m->count; i++) {
    const rs_measured_way *way = &m->items[i];
    if (i == m->best || isnan(way->loss) || way->behind) continue;
    rs_text_printf(text, "%s%s", count++ > 0 ? ", " : ", and not apart from ", way->label);
  }
  if (count == 0) rs_text_puts(text, ", and apart from every other way");
}

/* The window is not beaten: the way that comes nearest. */
static void put_window(const rs_measured *m, rs_text *text) {
  rs_text_printf(text, "read the last %zu tokens alone: nothing clearly beats the window on this text",
                 m->window_tokens);
  for (size_t i = 0; i < m->count && !isnan(m->items[i].loss); i++) {
    const rs_measured_way *way = &m->items[i];
    if (way->window) continue;
    rs_text_printf(text, "; %s comes nearest: ", way->label);
    put_interval(&way->difference, text);
    rs_text_printf(text, " less the window%s", way->apart ? "" : ", not apart from it");
    return;
  }
}

void rs_measured_advise(const rs_measured *m, rs_text *text) {
  const rs_measured_way *best = &m->items[m->best], *unchanged = m->items;
  while (!unchanged->unchanged) unchanged++;
  if (m->reads < 2) {
    rs_text_printf(text, "nothing is decided: %s has the least loss, and one read has no interval (more --reads)",
                   best->label);
  } else if (!(best->apart && best->difference.mean < 0)) {
    put_window(m, text);
  } else if (unchanged->apart && unchanged->difference.mean < 0 && !unchanged->behind) {
    rs_text_puts(text, "keep what the file says: it is ");
    put_below(unchanged, text);
    rs_text_puts(text, ", and nothing is clearly better");
  } else {
    rs_text_puts(text, "use ");
    rs_recipe_write(&best->recipe, text);
    rs_text_puts(text, ": it is ");
    put_below(best, text);
    put_rivals(m, text);
  }
}
