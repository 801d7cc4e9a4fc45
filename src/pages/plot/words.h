/* Words: names, titles, captions. */
#ifndef ROPESCOPE_PAGES_PLOT_WORDS_H
#define ROPESCOPE_PAGES_PLOT_WORDS_H

#include "choice.h"

/* ---- names: words for people and names for files ----------------------------------------------------------------- */

/* "entropy_nats" of unit "nats" as "entropy". */
void rs_plot_words(const char *name, const char *unit, rs_text *out);

/* The same as a title says it: "ood_overshoot_rad" of unit "rad" as "out-of-range overshoot". */
void rs_plot_phrase(const char *name, const char *unit, rs_text *out);

/* Whether the values are paired differences, as those of "loss_difference_nats". */
bool rs_plot_is_difference(const rs_plot_column *column);

/* Appends `text` with its formulas in symbols: "sum_j cos(angle_j)" as "Σⱼ cos(θⱼ)", "2 pi / omega_j" as "2π / ωⱼ". */
void rs_plot_symbols(const char *text, rs_text *out);

/* Appends `text` as part of a file name: lower-case letters, digits, '.', '_', '=' and single '-', at most 80 bytes. */
void rs_plot_slug(const char *text, rs_text *out);

/* ---- caption: the words of a picture ----------------------------------------------------------------------------- */

/* Texts are in an arena of the caller's. */
typedef struct rs_plot_caption {
  rs_plot_head head;
  const char *x_name, *y_name, *panel_name; /* y_name and panel_name: of maps alone */
  const char *name, *unit;                  /* of the value; with "95 %" where it has an interval */
} rs_plot_caption;

/* The name of the picture's files: "entropy_nats--gaussian", "decay--mean_cosine--llama-3-8b--gaussian--128k". */
void rs_plot_caption_slug(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_text *out);

/* All words of it, in `memory`, which is to be checked. */
rs_plot_caption rs_plot_caption_write(const rs_plot_measure *measure, const rs_plot_choice *choice,
                                      const rs_plot_content *content, rs_arena *memory);

/* ---- events: what a summary says of a point of a curve ----------------------------------------------------------- */

/* Sets the event of each series of a curve that the summary knows one of: the first violation of a mean cosine. */
rs_status rs_plot_events_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set,
                              rs_err *err);

/* ---- categories: names of what a curve counts -------------------------------------------------------------------- */

typedef struct rs_plot_categories {
  const char **names; /* (count,) of x = 0, 1, ... */
  size_t count;
} rs_plot_categories;

/* Names the first `count` of what a column called `what` counts. "part": of the manifest's task; "segment": of the
 * token layout in its config, as "text", "image 24 × 32", "video 32 × 12 × 16", where what it does not list is text;
 * others have numbers, as "head 0". All stand in `memory`. */
rs_status rs_plot_categories_read(const rs_plot_data *data, const char *what, size_t count, rs_arena *memory,
                                  rs_plot_categories *categories, rs_err *err);

/* ---- grids: what the lengths of a task on images or films are: grids of patches ---------------------------------- */

/* Zero-initialise. */
typedef struct rs_plot_grids {
  rs_plot_mark *marks; /* (count,) a length, and "6 × 6" or "8" */
  size_t count;
  const char *name; /* "image" or "film" */
  const char *unit; /* "patches" or "frames of 3 × 3 patches" */
} rs_plot_grids;

/* Reads the grids of the manifest's task into `memory`; none where it has none. RS_MEMORY. */
rs_status rs_plot_grids_read(const rs_plot_data *data, rs_arena *memory, rs_plot_grids *grids, rs_err *err);

#endif
