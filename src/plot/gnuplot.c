/* gnuplot.c: the same picture as a PNG, drawn by gnuplot where there is one. The script holds the shapes in pixels (the
 * data are in the CSV files), so that PNG and SVG agree to the last tick. gnuplot runs without a shell and without the
 * user's start-up file, and reads and writes files of ours that have no name, so that only a whole PNG gets one. */
#include "plot_internal.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the script -------------------------------------------------------------------------------------------------- */

enum { PNG_SCALE = 2 }; /* pixels of the PNG per pixel of the picture */

static void put(rs_text *out, double value) {
  rs_text_number(out, round(value * 100) / 100);
}

static void put_point(rs_text *out, double x, double y) {
  put(out, x);
  rs_text_puts(out, " ");
  put(out, y);
  rs_text_puts(out, "\n");
}

/* Where the font lacks a character gnuplot (5.4, cairo) spoils the whole picture. Fonts have what is below U+0800 and
 * the symbols of U+2000..U+2FFF; the rest (the SVG shows it) goes as '?'. */
static bool is_risky(char lead) {
  return (unsigned char)lead >= 0xE0 && (unsigned char)lead != 0xE2;
}

/* One '?' for the character at `text`; returns its last byte. */
static const char *put_unknown(rs_text *out, const char *text) {
  rs_text_puts(out, "?");
  while (((unsigned char)text[1] & 0xC0) == 0x80) text++;
  return text;
}

/* A text in double quotes. What is special within them goes as an octal escape: above all the backquote, which would
 * start a shell. (Single quotes would do but for two in a row, which gnuplot 5.4 takes for the end.) */
static void put_quoted(rs_text *out, const char *text, const char *power) {
  rs_text_puts(out, "\"");
  for (; *text != '\0'; text++) {
    if (strchr("\"\\`", *text) != NULL)
      rs_text_printf(out, "\\%03o", (unsigned)*text);
    else if (is_risky(*text))
      text = put_unknown(out, text);
    else
      rs_text_add(out, (unsigned char)*text < 0x20 ? " " : text, 1);
  }
  if (*power != '\0') rs_text_printf(out, "^{%s}", power);
  rs_text_puts(out, "\"");
}

static void put_marker(const rs_plot_shape *shape, const rs_plot_xy *at, rs_text *out) {
  enum { CIRCLE = 24 };
  rs_plot_xy corners[RS_PLOT_CORNERS];
  size_t count = rs_plot_marker_corners(shape->marker, shape->size, corners), sides = count > 0 ? count : CIRCLE;
  for (size_t i = 0; i <= sides; i++) {
    double angle = 2 * 3.14159265358979 * (double)i / (double)sides;
    rs_plot_xy corner = {shape->size * sin(angle), shape->size * cos(angle)};
    if (count > 0) corner = corners[i % count];
    put_point(out, at->x + corner.x, at->y + corner.y);
  }
  rs_text_puts(out, "\n");
}

/* A little larger on all sides: gnuplot's pixels are not quite the picture's, and the page would show between cells. */
static void put_cell(const rs_plot_shape *shape, const rs_plot_xy *at, rs_text *out) {
  const double over = 0.25;
  for (int corner = 0; corner <= 4; corner++) {
    bool right = corner == 1 || corner == 2, below = corner == 2 || corner == 3;
    put_point(out, at->x + (right ? shape->size + over : -over), at->y + (below ? shape->tall + over : -over));
  }
  rs_text_puts(out, "\n");
}

/* gnuplot's "with lines" (5.4, cairo) leaves a slanted start; its vectors do not, and most lines here have two points.
 */
static bool is_vector(const rs_plot_shape *shape) {
  return shape->kind == RS_PLOT_LINE && shape->count == 2;
}

static void write_data(const rs_plot_picture *picture, size_t index, rs_text *out) {
  const rs_plot_shape *shape = &picture->shapes[index];
  const rs_plot_xy *points = &picture->points[shape->begin];
  rs_text_printf(out, "$d%zu << EOD\n", index);
  if (is_vector(shape)) {
    put(out, points[0].x);
    rs_text_puts(out, " ");
    put(out, points[0].y);
    rs_text_puts(out, " ");
    put_point(out, points[1].x - points[0].x, points[1].y - points[0].y);
  } else {
    for (size_t i = 0; i < shape->count; i++) {
      if (shape->kind == RS_PLOT_MARKERS)
        put_marker(shape, &points[i], out);
      else if (shape->kind == RS_PLOT_CELLS)
        put_cell(shape, &points[i], out);
      else
        put_point(out, points[i].x, points[i].y);
    }
  }
  rs_text_puts(out, "EOD\n");
}

/* gnuplot sets text around the middle of its height, not on a baseline. */
static void write_label(const rs_plot_picture *picture, size_t index, rs_text *out) {
  static const char *const anchors[] = {"left", "center", "right"};
  const rs_plot_shape *shape = &picture->shapes[index];
  const rs_plot_xy *at = &picture->points[shape->begin];
  double up = 0.36 * shape->size, font = 0.75 * shape->size; /* a point is 3/4 of a CSS pixel */
  const char *power = shape->power != SIZE_MAX ? picture->text.data + shape->power : "";
  rs_text_puts(out, "set label ");
  put_quoted(out, picture->text.data + shape->text, power);
  rs_text_puts(out, " at ");
  put(out, at->x - (shape->upright ? up : 0));
  rs_text_puts(out, ",");
  put(out, at->y - (shape->upright ? 0 : up));
  rs_text_printf(out, " %s%s front font '%s,", anchors[shape->anchor], shape->upright ? " rotate by 90" : "",
                 shape->bold ? "Sans:Bold" : "Sans");
  put(out, font);
  rs_text_printf(out, "' textcolor rgb '#%06x' %s\n", (unsigned)shape->colour,
                 *power != '\0' ? "enhanced" : "noenhanced");
}

static void put_dashes(const rs_plot_shape *shape, rs_text *out) {
  if (shape->dashes == 0) return;
  const double scale = PNG_SCALE; /* gnuplot counts in pixels of the PNG */
  rs_text_puts(out, " dashtype (");
  if (shape->lead > 0) rs_text_puts(out, "0,");
  if (shape->lead > 0) put(out, shape->lead * scale);
  for (size_t i = 0; i < shape->dashes; i++) {
    double length = shape->dash[i];
    if (shape->lead > 0 && i == 1) length -= shape->lead;
    if (i > 0 || shape->lead > 0) rs_text_puts(out, ",");
    put(out, length * scale);
  }
  rs_text_puts(out, ")");
}

static void write_plot(const rs_plot_shape *shape, size_t index, rs_text *out) {
  bool hollow = shape->hollow;
  rs_text_printf(out, ", \\\n  $d%zu ", index);
  if (shape->kind == RS_PLOT_LINE) {
    rs_text_printf(out, "with %s linewidth ", is_vector(shape) ? "vectors nohead" : "lines");
    put(out, shape->size);
    rs_text_printf(out, " linecolor rgb '#%02x%06x'", (unsigned)lround(255 * (1 - shape->opacity)),
                   (unsigned)shape->colour);
    put_dashes(shape, out);
  } else if (shape->kind == RS_PLOT_AREA) {
    rs_text_printf(out, "with filledcurves closed fillstyle transparent solid ");
    put(out, shape->opacity);
    rs_text_printf(out, " noborder fillcolor rgb '#%06x'", (unsigned)shape->colour);
  } else if (shape->kind == RS_PLOT_CELLS) {
    rs_text_printf(out, "with filledcurves closed fillstyle solid noborder fillcolor rgb '#%06x'",
                   (unsigned)shape->colour);
  } else {
    rs_text_printf(out, "with filledcurves closed fillstyle solid noborder fillcolor rgb '#%06x'",
                   hollow ? 0xFFFFFFu : (unsigned)shape->colour);
    rs_text_printf(out, ", \\\n  $d%zu with lines linewidth %s linecolor rgb '#%06x'", index, hollow ? "1.5" : "0.8",
                   hollow ? (unsigned)shape->colour : 0xFFFFFFu);
  }
}

static void write_head(const rs_plot_picture *picture, rs_text *out) {
  rs_text_puts(out, "set encoding utf8\nset terminal pngcairo background rgb 'white' size ");
  put(out, PNG_SCALE * picture->width);
  rs_text_puts(out, ",");
  put(out, PNG_SCALE * picture->height);
  rs_text_printf(out, " fontscale %d linewidth %d\n", PNG_SCALE, PNG_SCALE);
  rs_text_puts(out, "unset key\nunset border\nunset tics\nset lmargin at screen 0\nset rmargin at screen 1\n"
                    "set tmargin at screen 1\nset bmargin at screen 0\nset xrange [0:");
  put(out, picture->width);
  rs_text_puts(out, "]\nset yrange [");
  put(out, picture->height);
  rs_text_puts(out, ":0]\n");
}

void rs_plot_gnuplot_write(const rs_plot_picture *picture, rs_text *out) {
  write_head(picture, out);
  for (size_t i = 0; i < picture->count; i++) {
    if (picture->shapes[i].kind == RS_PLOT_TEXT)
      write_label(picture, i, out);
    else if (picture->shapes[i].count > 0)
      write_data(picture, i, out);
  }
  rs_text_puts(out, "plot NaN notitle"); /* so that each shape can start with its comma */
  for (size_t i = 0; i < picture->count; i++) {
    const rs_plot_shape *shape = &picture->shapes[i];
    if (shape->kind != RS_PLOT_TEXT && shape->count > 0) write_plot(shape, i, out);
  }
  rs_text_puts(out, "\n");
}

/* ---- running it -------------------------------------------------------------------------------------------------- */

static bool is_program(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* DIRECTORY/gnuplot, if it is a program. */
static rs_status look_in(const char *directory, size_t length, char **path, rs_err *err) {
  rs_text candidate = {0};
  rs_text_add(&candidate, directory, length);
  rs_text_puts(&candidate, "/gnuplot");
  rs_status status = rs_text_check(&candidate, err);
  bool found = status == RS_OK && is_program(rs_text_string(&candidate));
  if (found) *path = candidate.data;
  if (!found) rs_text_clear(&candidate);
  return status;
}

rs_status rs_plot_gnuplot_find(char **path, rs_err *err) {
  const char *rest = getenv("PATH");
  *path = NULL;
  while (rest != NULL && *rest != '\0' && *path == NULL) {
    size_t length = strcspn(rest, ":");
    if (length > 0) RS_TRY(look_in(rest, length, path, err)); /* not in "", the current directory */
    rest += length + (rest[length] == ':');
  }
  return RS_OK;
}

/* The three files of a run; none has a name. */
typedef struct streams {
  FILE *script, *output, *complaints;
} streams;

static rs_status open_streams(streams *files, const rs_text *script, rs_err *err) {
  files->script = tmpfile();
  files->output = tmpfile();
  files->complaints = tmpfile();
  bool opened = files->script != NULL && files->output != NULL && files->complaints != NULL;
  if (opened && fwrite(script->data, 1, script->length, files->script) == script->length &&
      fflush(files->script) == 0 && fseek(files->script, 0, SEEK_SET) == 0)
    return RS_OK;
  return rs_fail(err, RS_IO, "cannot make a temporary file for gnuplot: %s", strerror(errno));
}

static void close_streams(streams *files) {
  if (files->script != NULL) fclose(files->script);
  if (files->output != NULL) fclose(files->output);
  if (files->complaints != NULL) fclose(files->complaints);
}

static rs_status spawn(const char *gnuplot, const streams *files, pid_t *child, rs_err *err) {
  char *arguments[] = {(char *)"gnuplot", (char *)"-d", (char *)"-", NULL};
  posix_spawn_file_actions_t actions;
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure != 0) return rs_fail(err, RS_IO, "%s: cannot be started: %s", gnuplot, strerror(failure));
  failure = posix_spawn_file_actions_adddup2(&actions, fileno(files->script), 0);
  if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, fileno(files->output), 1);
  if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, fileno(files->complaints), 2);
  if (failure == 0) failure = posix_spawn(child, gnuplot, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure == 0 ? RS_OK : rs_fail(err, RS_IO, "%s: cannot be started: %s", gnuplot, strerror(failure));
}

static rs_status run(const char *gnuplot, const streams *files, bool *succeeded, rs_err *err) {
  pid_t child;
  int how;
  RS_TRY(spawn(gnuplot, files, &child, err));
  while (waitpid(child, &how, 0) < 0) {
    if (errno != EINTR) return rs_fail(err, RS_IO, "%s: lost sight of it: %s", gnuplot, strerror(errno));
  }
  *succeeded = WIFEXITED(how) && WEXITSTATUS(how) == 0;
  return RS_OK;
}

/* What was written to `file`, with a NUL behind it. */
static rs_status take(FILE *file, char **data, size_t *length, rs_err *err) {
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (size < 0) return rs_fail(err, RS_IO, "cannot read gnuplot's output: %s", strerror(errno));
  rewind(file);
  *data = rs_alloc((size_t)size + 1, 1, err);
  if (*data == NULL) return RS_MEMORY;
  *length = fread(*data, 1, (size_t)size, file);
  return *length == (size_t)size ? RS_OK : rs_fail(err, RS_IO, "cannot read gnuplot's output");
}

/* gnuplot shows the script's line, a caret, and then says what is wrong after "line N:"; else take the first line. */
static rs_status complain(const char *name, FILE *complaints, rs_err *err) {
  char *words = NULL;
  size_t length = 0;
  rs_status status = take(complaints, &words, &length, err);
  if (status == RS_OK) {
    char *said = strstr(words, "line ");
    if (said == NULL) said = words + strspn(words, " \n");
    said[strcspn(said, "\n")] = '\0';
    status = rs_fail(err, RS_IO, "%s: gnuplot failed: %.200s", name, *said != '\0' ? said : "without a word");
  }
  free(words);
  return status;
}

static bool is_png(const char *data, size_t length) {
  return length > 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0;
}

rs_status rs_plot_gnuplot_run(const char *gnuplot, const rs_text *script, const char *name, char **png, size_t *length,
                              rs_err *err) {
  streams files = {0};
  bool succeeded = false;
  *png = NULL;
  rs_status status = open_streams(&files, script, err);
  if (status == RS_OK) status = run(gnuplot, &files, &succeeded, err);
  if (status == RS_OK) status = take(files.output, png, length, err);
  if (status == RS_OK && !(succeeded && is_png(*png, *length))) status = complain(name, files.complaints, err);
  close_streams(&files);
  if (status == RS_OK) return RS_OK;
  free(*png);
  *png = NULL;
  return status;
}
