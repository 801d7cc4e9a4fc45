/* interval_fixture.h: a folder with paired differences, their intervals and their blocks. */
#ifndef ROPESCOPE_TESTS_INTERVAL_FIXTURE_H
#define ROPESCOPE_TESTS_INTERVAL_FIXTURE_H

#include "plot_fixture.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* Blocks of a row have four values, twice: fewer than eight part nobody. */
enum { VALUES = 4, BLOCKS = 2 * VALUES };

/* One row of the summary: its mean is that of its blocks, and its ends are what they are said to be. */
typedef struct trial {
  const char *method;
  int length, seed;
  double low, high, blocks[VALUES];
} trial;

/* How a folder is not as it is wont to be. */
typedef struct oddity {
  bool higher;          /* is better */
  bool unmapped;        /* the manifest does not say which columns are ends */
  bool blockless;       /* there is no loss_difference.csv */
  bool few;             /* the last block is missing of all */
  const char *cut;      /* a method whose last block is missing, */
  const char *numbered; /* or has another number */
} oddity;

UNUSED static void copy_blocks(const trial *t, double values[BLOCKS]) {
  for (size_t b = 0; b < BLOCKS; b++) values[b] = t->blocks[b % VALUES];
}

static void put_end(rs_text *out, double end) {
  if (!isnan(end)) rs_text_number(out, end);
  rs_text_puts(out, ",");
}

static void put_trial(const trial *t, size_t cell, const oddity *odd, rs_text *summary, rs_text *curve) {
  rs_text_printf(summary, "%zu,m,%s,%d,,text,%d,,", cell, t->method, t->length, t->seed);
  rs_text_number(summary, 2 + gsl_stats_mean(t->blocks, 1, VALUES));
  rs_text_puts(summary, ",");
  rs_text_number(summary, gsl_stats_mean(t->blocks, 1, VALUES));
  rs_text_puts(summary, ",");
  put_end(summary, t->low);
  put_end(summary, t->high);
  rs_text_puts(summary, "ok,\n");
  for (size_t b = 0; b < BLOCKS; b++) {
    bool last = b + 1 == BLOCKS;
    if (last && odd->few) continue;
    if (last && odd->cut != NULL && strcmp(odd->cut, t->method) == 0) continue;
    bool other = last && odd->numbered != NULL && strcmp(odd->numbered, t->method) == 0;
    rs_text_printf(curve, "%zu,m,%s,%d,,text,%d,,%zu,", cell, t->method, t->length, t->seed, b + other);
    rs_text_number(curve, 2 + t->blocks[b % VALUES]);
    rs_text_puts(curve, ",");
    rs_text_number(curve, t->blocks[b % VALUES]);
    rs_text_puts(curve, "\n");
  }
}

#define INTERVAL_VALUE(name, more)                                                                                     \
  "{\"name\":\"" name "\",\"role\":\"value\",\"unit\":\"nats\",\"axis\":\"linear\",\"summary\":\"what it is\"" more "}"
#define INTERVAL_FILE(name, columns) "{\"file\":\"" name "\",\"columns\":[" KEYS "," columns "]}"

static void put_interval_manifest(const oddity *odd) {
  static const char curve[] =
      "," INTERVAL_FILE("loss_difference.csv", "{\"name\":\"block\",\"role\":\"index\"}," INTERVAL_VALUE(
                                                   "loss_nats", "") "," INTERVAL_VALUE("loss_difference_nats", ""));
  char text[8000], better[40];
  snprintf(better, sizeof better, ",\"better\":\"%s\"", odd->higher ? "higher" : "lower");
  snprintf(text, sizeof text,
           "{\"name\":\"demo\",\"files\":[" INTERVAL_FILE(
               "summary.csv",
               INTERVAL_VALUE("loss_nats", "%s") "," INTERVAL_VALUE("loss_difference_nats", "%s") "," INTERVAL_VALUE(
                   "loss_difference_nats_low", "%s") "," INTERVAL_VALUE("loss_difference_nats_high",
                                                                        "%s") "," STATUS) "%s]}",
           better, better, odd->unmapped ? "" : ",\"map\":\"low\"", odd->unmapped ? "" : ",\"map\":\"high\"",
           odd->blockless ? "" : curve);
  put_file("manifest.json", text);
}

UNUSED static void put_trials(const trial *trials, size_t count, const oddity *odd) {
  static const oddity none = {0};
  rs_text summary = {0}, curve = {0};
  rs_text_puts(&summary, HEADER ",loss_nats,loss_difference_nats,loss_difference_nats_low,loss_difference_nats_high,"
                                "status,message\n");
  rs_text_puts(&curve, HEADER ",block,loss_nats,loss_difference_nats\n");
  for (size_t i = 0; i < count; i++) put_trial(&trials[i], i, odd != NULL ? odd : &none, &summary, &curve);
  put_file("summary.csv", rs_text_string(&summary));
  put_file("loss_difference.csv", rs_text_string(&curve));
  put_interval_manifest(odd != NULL ? odd : &none);
  rs_text_clear(&summary);
  rs_text_clear(&curve);
}

#endif
