/* plot_fixture.h: what the tests of pictures share: folders of results, which are made and removed again,
 * and the words, places and colours that an SVG shows. */
#ifndef ROPESCOPE_TESTS_PLOT_FIXTURE_H
#define ROPESCOPE_TESTS_PLOT_FIXTURE_H

#include "../fixtures/new_folder.h"
#include "io/io.h"
#include "pages/pages.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

/* ---- folders ----------------------------------------------------------------------------------------------------- */

static char folder[4096];

UNUSED static void make_folder(void) {
  cr_assert(new_folder(folder, "plot"));
}

UNUSED static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info, (void)kind, (void)walk;
  return remove(path);
}

UNUSED static void remove_folder(void) {
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

UNUSED static const char *path_in(const char *name) {
  static char path[5000];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

UNUSED static void put_file(const char *name, const char *text) {
  cr_assert_eq(rs_file_write(path_in(name), text, strlen(text), NULL), RS_OK);
}

UNUSED static bool exists(const char *name) {
  return access(path_in(name), F_OK) == 0;
}

/* The bytes of a picture with a NUL behind them; the caller frees. `length` may be NULL. */
UNUSED static char *read_picture(const char *name, size_t *length) {
  char *text = NULL;
  size_t size;
  cr_assert_eq(rs_file_read(path_in(name), 1 << 24, &text, &size, NULL), RS_OK, "no %s", name);
  if (length != NULL) *length = size;
  return text;
}

UNUSED static char *picture_text(const char *name) {
  return read_picture(name, NULL);
}

UNUSED static size_t occurrences(const char *text, const char *word) {
  size_t count = 0;
  for (const char *found = text; (found = strstr(found, word)) != NULL; found += strlen(word)) count++;
  return count;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

#define KEY(name) "{\"name\":\"" name "\",\"role\":\"key\"}"
#define KEYS                                                                                                           \
  KEY("cell")                                                                                                          \
  "," KEY("model") "," KEY("method") "," KEY("length_tokens") "," KEY("scale") "," KEY("source") "," KEY(              \
      "seed") "," KEY("heads")
#define HEADER "cell,model,method,length_tokens,scale,source,seed,heads"
#define STATUS "{\"name\":\"status\",\"role\":\"status\"},{\"name\":\"message\",\"role\":\"status\"}"
#define ENTROPY                                                                                                        \
  "{\"name\":\"entropy_nats\",\"role\":\"value\",\"unit\":\"nats\",\"axis\":\"linear\",\"summary\":\"mean "            \
  "<entropy>\"}"

/* A summary with one value column, given as manifest entries, header and rows. */
UNUSED static void put_summary(const char *columns, const char *header, const char *rows) {
  char text[20000];
  snprintf(text, sizeof text, "{\"name\":\"demo\",\"files\":[{\"file\":\"summary.csv\",\"columns\":[%s,%s]}]}", KEYS,
           columns);
  put_file("manifest.json", text);
  snprintf(text, sizeof text, "%s,%s\n%s", HEADER, header, rows);
  put_file("summary.csv", text);
}

#define ROWS                                                                                                           \
  "0,m,rope,1024,1,gaussian,1,8,5,ok,\n1,m,rope,4096,1,gaussian,1,8,6.5,ok,\n"                                         \
  "2,m,\"a<b>&\",1024,1,gaussian,1,8,5.5,ok,\n3,m,\"a<b>&\",4096,1,gaussian,1,8,,domain,\"too\n\"\"long\"\"\"\n"

/* Draws the folder; `words` must be part of the error message, NULL: there must be none. */
UNUSED static void draw(const rs_plot_options *options, rs_plot_report *report, rs_status wanted, const char *words) {
  rs_err err = {0};
  *report = (rs_plot_report){0};
  rs_status status = rs_plot_results(folder, options, report, &err);
  cr_assert_eq(status, wanted, "%s: %s", rs_status_name(status), err.message);
  if (words != NULL) cr_assert_not_null(strstr(err.message, words), "\"%s\" is not in \"%s\"", words, err.message);
  for (size_t i = 0; i < report->count; i++) cr_assert_eq(access(report->files[i], R_OK), 0, "%s", report->files[i]);
}

/* The same where nothing of the report is asked for but the number of its files. */
UNUSED static size_t draw_all(const rs_plot_options *options, rs_status wanted, const char *words) {
  rs_plot_report report;
  draw(options, &report, wanted, words);
  size_t count = report.count;
  rs_plot_report_clear(&report);
  return count;
}

#endif
