/* sentences.c: sentences of a folder. Each says what the files say, and no more: where there is no value it says so,
 * equal methods share a place, and queries and keys that were made up are called that. */
#include "report.h"

#include <math.h>
#include <string.h>

enum { MOST_NAMES = 8, MOST_MESSAGES = 3 };

/* ---- lists of names ---------------------------------------------------------------------------------------------- */

/* A list that is being written: "a, b and 3 more". */
typedef struct listing {
  rs_text *out;
  size_t count, written;
} listing;

static void add_name(listing *list, const char *name) {
  if (list->count++ >= MOST_NAMES) return;
  report_put(list->out, list->written++ > 0 ? ", <b>%s</b>" : "<b>%s</b>", name);
}

static void end_list(const listing *list) {
  if (list->count > list->written) report_put(list->out, " and %z more", list->count - list->written);
}

/* Whether the field of `column` in the first row of line i stands in an earlier line. */
static bool is_repeated(const report_results *results, const char *column, size_t i) {
  const char *field = report_field(results, column, results->lines[i].row);
  for (size_t k = 0; k < i; k++)
    if (strcmp(report_field(results, column, results->lines[k].row), field) == 0) return true;
  return false;
}

/* The different words of a column; returns how many they are. */
static size_t put_words(const report_results *results, const char *column, rs_text *out) {
  listing list = {.out = out};
  for (size_t i = 0; i < results->line_count; i++) {
    const char *field = report_field(results, column, results->lines[i].row);
    if (*field != '\0' && !is_repeated(results, column, i)) add_name(&list, field);
  }
  end_list(&list);
  return list.count;
}

static size_t count_words(const report_results *results, const char *column) {
  size_t count = 0;
  for (size_t i = 0; i < results->line_count; i++)
    count += *report_field(results, column, results->lines[i].row) != '\0' && !is_repeated(results, column, i);
  return count;
}

/* Whether its values are read from sources or a task, not from tables alone. */
static bool is_read(const report_column *column) {
  return column->is->sourced || column->is->tasked;
}

static size_t count_seeds(const report_results *results) {
  size_t most = 0;
  for (size_t i = 0; i < results->line_count; i++)
    if (results->lines[i].rows > most) most = results->lines[i].rows;
  return report_column_find(results, "seed") != NULL ? most : 0;
}

/* ---- what was asked ---------------------------------------------------------------------------------------------- */

static void put_lengths(const report_results *results, rs_text *out) {
  double least = INFINITY;
  size_t count = count_words(results, "length_tokens");
  for (size_t i = 0; i < results->line_count; i++) least = fmin(least, results->lines[i].length);
  if (!isfinite(results->longest)) return;
  if (count > 1) {
    rs_text_printf(out, " at %zu lengths from ", count);
    rs_plot_tokens(least, out);
    rs_text_puts(out, " to ");
  } else {
    rs_text_puts(out, " at ");
  }
  rs_plot_tokens(results->longest, out);
  rs_text_puts(out, " tokens");
}

/* "llama-2-7b (trained at 4k tokens)": as the config states, whose model entries have names. */
static void put_models(const report_results *results, rs_text *out) {
  const rs_node *models = results->config != NULL && results->config->root.kind == RS_MAPPING
                              ? rs_node_get(&results->config->root, "model")
                              : NULL;
  size_t written = put_words(results, "model", out);
  if (models == NULL || models->kind != RS_SEQUENCE || models->count != 1 || written != 1) return;
  double length;
  if (!rs_number_read(report_member(&models->items[0], "train_length"), &length)) return;
  rs_text_puts(out, ", whose trained length is ");
  rs_plot_tokens(length, out);
  rs_text_puts(out, " tokens");
}

static bool has_checkpoints(const report_results *results) {
  const rs_node *list = rs_node_get(results->root, "checkpoints");
  return list != NULL && list->count > 0;
}

static void put_question(const report_results *results, rs_text *out) {
  const char *description = results->config != NULL ? report_member(&results->config->root, "description") : "";
  size_t methods = count_words(results, "method"), seeds = count_seeds(results);
  rs_text_puts(out, "<p>");
  if (*description != '\0') report_put(out, "%s ", description);
  rs_text_printf(out, "Asked: what %s ", methods == 1 ? "this method does:" : "these methods do:");
  (void)put_words(results, "method", out);
  put_lengths(results, out);
  rs_text_puts(out, has_checkpoints(results) ? ", on the checkpoints " : ", on the geometry of ");
  put_models(results, out);
  if (seeds > 1) rs_text_printf(out, "; values are means over up to %zu seeds", seeds);
  if (seeds == 1) rs_text_puts(out, "; one seed");
  rs_text_puts(out, ".</p>\n");
}

/* ---- where the numbers come from --------------------------------------------------------------------------------- */

static const char *origin_of(const char *kind) {
  if (strcmp(kind, "model") == 0) return "read from a trained model";
  if (strcmp(kind, "tensors") == 0) return "read from files of tensors";
  return "made up by the program, not read from a trained model";
}

static void put_source(const rs_node *source, rs_text *out) {
  const rs_node *caption = rs_node_get(source, "caption");
  report_put(out, "<b>%s</b>", report_member(source, "name"));
  for (size_t i = 0; caption != NULL && caption->kind == RS_SEQUENCE && i < caption->count; i++) {
    rs_text_puts(out, i == 0 ? " (" : ", ");
    if (caption->items[i].kind == RS_SCALAR) rs_xml_escape(caption->items[i].text, out);
    if (i + 1 == caption->count) rs_text_puts(out, ")");
  }
}

/* A checkpoint that no source observes has its task in the place of one. */
static bool is_task(const report_results *results, const rs_node *source) {
  const char *task = report_member(rs_node_get(results->root, "task"), "kind");
  return *task != '\0' && strcmp(report_member(source, "kind"), task) == 0;
}

/* Of one origin: "Simulated heads: queries and keys are made up ...: gaussian, needle (depth 0.5)." */
static void put_sources(const report_results *results, const rs_node *sources, const char *origin, rs_text *out) {
  size_t count = 0;
  for (size_t i = 0; i < sources->count; i++) {
    if (is_task(results, &sources->items[i])) continue;
    if (strcmp(origin_of(report_member(&sources->items[i], "kind")), origin) != 0) continue;
    if (count++ == 0) {
      bool simulated = strncmp(origin, "made", 4) == 0;
      rs_text_printf(out, "%sueries and keys are %s: ", simulated ? "The heads are <em>simulated</em>: q" : "Q",
                     origin);
    } else {
      rs_text_puts(out, "; ");
    }
    put_source(&sources->items[i], out);
  }
  if (count > 0) rs_text_puts(out, ". ");
}

void report_sources(const report_results *results, rs_text *out) {
  const rs_node *sources = rs_node_get(results->root, "sources");
  for (size_t i = 0; sources != NULL && sources->kind == RS_SEQUENCE && i < sources->count; i++) {
    const rs_node *caption = rs_node_get(&sources->items[i], "caption");
    if (caption == NULL || caption->kind != RS_SEQUENCE || caption->count == 0) continue;
    rs_text_puts(out, "<p class=\"soft\">");
    put_source(&sources->items[i], out);
    rs_text_puts(out, "</p>\n");
  }
}

static void put_tables_alone(const report_results *results, rs_text *out) {
  listing list = {.out = out};
  for (size_t i = 0; i < results->count; i++) {
    const report_column *column = &results->columns[i];
    if (!column->value || !column->any || is_read(column)) continue;
    if (list.count == 0) rs_text_puts(out, "Computed from the encoding alone, whatever the heads hold: ");
    add_name(&list, column->name);
  }
  end_list(&list);
  if (list.count > 0) rs_text_puts(out, ".");
}

static void put_origins(const report_results *results, rs_text *out) {
  static const char *const kinds[] = {"model", "tensors", ""};
  const rs_node *sources = rs_node_get(results->root, "sources");
  rs_text_puts(out, "<p>");
  if (has_checkpoints(results)) {
    const char *task = report_member(rs_node_get(results->root, "task"), "name");
    rs_text_puts(out, "What reads the text here are <em>trained models</em> (checkpoints)");
    if (*task != '\0') report_put(out, ", on the task <b>%s</b>", task);
    rs_text_puts(out, ". ");
  }
  for (size_t i = 0; sources != NULL && sources->kind == RS_SEQUENCE && i < RS_COUNT(kinds); i++)
    put_sources(results, sources, origin_of(kinds[i]), out);
  if (!has_checkpoints(results)) put_tables_alone(results, out);
  rs_text_puts(out, "</p>\n");
}

/* ---- what failed ------------------------------------------------------------------------------------------------- */

static bool is_bad(const report_results *results, size_t row) {
  const char *status = report_field(results, "status", row);
  return *status != '\0' && strcmp(status, "ok") != 0;
}

/* Whether an earlier row failed with the same message. */
static bool is_told(const report_results *results, size_t row) {
  for (size_t i = 0; i < row; i++)
    if (is_bad(results, i) && strcmp(report_field(results, "message", i), report_field(results, "message", row)) == 0)
      return true;
  return false;
}

static void put_failures(const report_results *results, rs_text *out) {
  size_t bad = 0, told = 0, rows = results->summary->table->rows;
  for (size_t i = 0; i < rows; i++) bad += is_bad(results, i);
  if (report_column_find(results, "status") == NULL) return;
  if (bad == 0) {
    rs_text_printf(out, "<p>%s %zu cell%s of the sweep came out.</p>\n", rows == 1 ? "The" : "All", rows,
                   rows == 1 ? "" : "s");
    return;
  }
  rs_text_printf(out, "<p class=\"bad\">%zu of %zu cells failed and %s no value:</p>\n<ul>\n", bad, rows,
                 bad == 1 ? "has" : "have");
  for (size_t i = 0; i < rows && told < MOST_MESSAGES; i++) {
    if (!is_bad(results, i) || is_told(results, i)) continue;
    told++;
    report_put(out, "<li><b>%s</b> at %s tokens (%s): %s</li>\n", report_field(results, "method", i),
               report_field(results, "length_tokens", i), report_field(results, "status", i),
               report_field(results, "message", i));
  }
  rs_text_puts(out, "</ul>\n");
}

void report_asked(const report_results *results, rs_text *out) {
  if (results->summary == NULL || results->summary->table->rows == 0) {
    rs_text_puts(out, "<p>There is no summary of this folder.</p>\n");
    return;
  }
  put_question(results, out);
  put_origins(results, out);
  put_failures(results, out);
}

/* ---- what came out ----------------------------------------------------------------------------------------------- */

/* Lines that compare: at the longest length, of one model, source and heads. */
static bool compares(const report_results *results, size_t i, size_t with) {
  static const char *const keys[] = {"model", "source", "heads"};
  for (size_t k = 0; k < RS_COUNT(keys); k++)
    if (strcmp(report_field(results, keys[k], results->lines[i].row),
               report_field(results, keys[k], results->lines[with].row)) != 0)
      return false;
  return results->lines[i].length == results->longest;
}

/* Beyond the rounding of a sum. */
static bool is_equal(double a, double b) {
  return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

typedef struct ends {
  double low, high;
  size_t with, without; /* lines with and without a value */
} ends;

static ends find_ends(const report_results *results, size_t column, size_t first) {
  ends e = {INFINITY, -INFINITY, 0, 0};
  for (size_t i = 0; i < results->line_count; i++) {
    double value = results->lines[i].means[column];
    if (!compares(results, i, first)) continue;
    if (isnan(value)) {
      e.without++;
      continue;
    }
    e.with++;
    e.low = fmin(e.low, value);
    e.high = fmax(e.high, value);
  }
  return e;
}

/* The methods of the lines that have this value; NaN: that have none. */
static void put_holders(const report_results *results, size_t column, size_t first, double value, rs_text *out) {
  listing list = {.out = out};
  for (size_t i = 0; i < results->line_count; i++) {
    double here = results->lines[i].means[column];
    bool holds = isnan(value) ? isnan(here) : !isnan(here) && is_equal(here, value);
    if (compares(results, i, first) && holds) add_name(&list, report_field(results, "method", results->lines[i].row));
  }
  end_list(&list);
}

static void put_value(const report_column *column, double value, rs_text *out) {
  rs_text_puts(out, " (");
  report_number(value, out);
  if (*rs_plot_unit(column->is->unit) != '\0') report_put(out, " %s", column->is->unit);
  rs_text_puts(out, ")");
}

static void put_place(const report_results *results, size_t first, bool sourced, rs_text *out) {
  size_t row = results->lines[first].row;
  const char *source = report_field(results, "source", row);
  if (count_words(results, "model") > 1) report_put(out, ", %s", report_field(results, "model", row));
  if (sourced && *source != '\0') report_put(out, ", %s", source);
}

static void put_metric(const report_results *results, size_t index, size_t first, const ends *e, rs_text *out) {
  const report_column *column = &results->columns[index];
  bool higher = column->is->better > 0;
  report_put(out, "<li><b>%s</b>", column->name);
  put_place(results, first, is_read(column), out);
  rs_text_printf(out, " (%s is better): ", higher ? "higher" : "lower");
  if (e->with > 1 && is_equal(e->low, e->high)) {
    rs_text_puts(out, "equal for all that have a value");
    put_value(column, e->low, out);
  } else {
    rs_text_puts(out, e->with == 1 ? "only " : e->without > 0 ? "of those with a value, best " : "best ");
    put_holders(results, index, first, higher ? e->high : e->low, out);
    put_value(column, higher ? e->high : e->low, out);
    if (e->with > 1) {
      rs_text_puts(out, ", worst ");
      put_holders(results, index, first, higher ? e->low : e->high, out);
      put_value(column, higher ? e->low : e->high, out);
    }
  }
  if (e->without > 0) {
    rs_text_puts(out, "; no value: ");
    put_holders(results, index, first, NAN, out);
  }
  report_put(out, ". <span class=\"soft\">%s.</span></li>\n", column->is->summary);
}

/* The lines that compare with the `first` (results->line_count at most), and who they are. */
static rs_status find_rivals(const report_results *results, const report_column *column, size_t first, rs_arena *memory,
                             rs_rival *rivals, size_t *lines, size_t *count, rs_err *err) {
  *count = 0;
  for (size_t i = 0; i < results->line_count; i++) {
    if (!compares(results, i, first)) continue;
    lines[*count] = i;
    RS_TRY(report_rival(results, &results->lines[i], column, memory, &rivals[(*count)++], err));
  }
  return RS_OK;
}

/* Who is best, as far as intervals tell: one that is apart from all others, or those that are not apart from it. */
static rs_status put_ranked(const report_results *results, size_t index, size_t first, rs_arena *memory, rs_text *out,
                            rs_err *err) {
  const report_column *column = &results->columns[index];
  rs_rival *rivals = rs_arena_take(memory, results->line_count, sizeof *rivals);
  size_t *lines = rs_arena_take(memory, results->line_count, sizeof *lines), count, best;
  bool won, higher = column->is->better > 0, blocks = column->blocks.table != NULL;
  listing list = {.out = out};
  RS_TRY(rs_arena_check(memory, err));
  RS_TRY(find_rivals(results, column, first, memory, rivals, lines, &count, err));
  RS_TRY(rs_blocks_rank(&column->blocks, higher, rivals, count, &best, &won, err));
  report_put(out, "<li><b>%s</b>", column->name);
  put_place(results, first, is_read(column), out);
  rs_text_printf(out, " (%s is better): %s", higher ? "higher" : "lower",
                 won      ? "best, and apart from all others (95&nbsp;%), "
                 : blocks ? "not apart (95&nbsp;%): "
                          : "no blocks here to tell methods apart by");
  for (size_t i = 0; i < count && blocks; i++)
    if (rivals[i].near) add_name(&list, report_field(results, "method", results->lines[lines[i]].row));
  end_list(&list);
  rs_text_puts(out, won ? " (" : "");
  if (won) report_value(&results->lines[lines[best]], index, out);
  if (won) report_put(out, " %s)", rs_plot_unit(column->is->unit));
  report_put(out, ". <span class=\"soft\">%s.</span></li>\n", column->is->summary);
  return RS_OK;
}

/* Whether an earlier line stands for the same comparison. What tables alone give is the same for all sources. */
static bool is_compared(const report_results *results, size_t column, size_t i) {
  for (size_t k = 0; k < i; k++) {
    bool same =
        !is_read(&results->columns[column]) && strcmp(report_field(results, "model", results->lines[i].row),
                                                      report_field(results, "model", results->lines[k].row)) == 0;
    if (results->lines[k].length == results->longest && (same || compares(results, k, i))) return true;
  }
  return false;
}

rs_status report_found(const report_results *results, rs_text *out, rs_err *err) {
  size_t items = 0;
  for (size_t c = 0; c < results->count; c++) {
    const report_column *column = &results->columns[c];
    if (!column->value || !column->any || column->end || column->is->better == 0) continue;
    for (size_t i = 0; i < results->line_count; i++) {
      if (results->lines[i].length != results->longest || is_compared(results, c, i)) continue;
      const ends e = find_ends(results, c, i);
      if (e.with == 0) continue;
      if (items++ == 0) {
        rs_text_puts(out, "<p>Came out at ");
        rs_plot_tokens(results->longest, out);
        rs_text_puts(out, " tokens, by each metric of which one side is better:</p>\n<ul>\n");
      }
      rs_arena memory = {0};
      rs_status status = RS_OK;
      if ((column->interval || column->blocks.table != NULL) && e.with > 1)
        status = put_ranked(results, c, i, &memory, out, err);
      else
        put_metric(results, c, i, &e, out);
      rs_arena_clear(&memory);
      RS_TRY(status);
    }
  }
  if (items > 0) rs_text_puts(out, "</ul>\n");
  return RS_OK;
}
