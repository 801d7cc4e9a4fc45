/* Words: titles, captions, sources and legends. */
#ifndef ROPESCOPE_PAGES_PLOT_WORDS_H
#define ROPESCOPE_PAGES_PLOT_WORDS_H

#include "choice.h"

/* ---- source: what a picture says of its queries and keys, or of the checkpoint and task in their place ----------- */

/* The name of the source, or what is common to the names of a family; "": of none. Borrows. */
const char *rs_plot_source_name(const rs_plot_measure *measure, const rs_plot_choice *choice);

/* Appends to that name the phrases of the manifest that hold for all sources shown: ": a copy of the query, depth 0.5".
 * What the name says already is left out; a name that does not tell the kind gets it: " (needle): ...". Nothing where
 * the values come from tables alone. */
void rs_plot_source_caption(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_text *out);

/* Appends the name of a model and, where it is a checkpoint, what the manifest says of it: "rope: trained here, 1000
 * steps at 64 tokens, 103872 parameters". Of several checkpoints that one method reads: the method and what holds for
 * all; "trained", which the phrases say, is left out. */
void rs_plot_model_caption(const rs_plot_data *data, size_t model, rs_text *out);

/* Adds what a value that is read from the task, whatever the source, is read from: "dictionary: 64 sequences a cell".
 * Nothing for other values. */
void rs_plot_task_caption(const rs_plot_measure *measure, rs_text *out);

/* ---- caption: the words of a picture ----------------------------------------------------------------------------- */

/* Zero-initialise; all texts are owned. */
typedef struct rs_plot_caption {
  rs_text title, definition, subtitle, description;
  rs_text x_name, y_name, panel_name, name; /* y_name and panel_name: of maps alone; name: of the value */
} rs_plot_caption;

/* The name of the picture's files: "entropy_nats--gaussian", "decay--mean_cosine--llama-3-8b--gaussian--128k". */
void rs_plot_caption_slug(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_text *out);
void rs_plot_caption_write(const rs_plot_measure *measure, const rs_plot_choice *choice, const rs_plot_content *content,
                           rs_plot_caption *caption);

/* RS_MEMORY when any text has none. */
rs_status rs_plot_caption_check(const rs_plot_caption *caption, rs_err *err);
void rs_plot_caption_clear(rs_plot_caption *caption);

/* ---- events: what a summary says of a point of a curve ----------------------------------------------------------- */

/* Sets the event of each series of a curve that the summary knows one of: the first violation of a mean cosine. */
rs_status rs_plot_events_read(const rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_set *set,
                              rs_err *err);

/* What the curve's events are, in words; NULL: it has none. */
const char *rs_plot_events_words(const rs_plot_measure *measure);

/* ---- legend: which line is which method -------------------------------------------------------------------------- */

typedef struct rs_plot_legend {
  const rs_plot_series *series; /* (count,) in their order. Borrowed. */
  size_t count;
  double column_width, width, height; /* pixels */
  bool failed;                        /* no memory to measure it */
} rs_plot_legend;

/* How large the legend of `series` is. */
void rs_plot_legend_measure(rs_plot_legend *legend, const rs_plot_series *series, size_t count);
void rs_plot_legend_draw(const rs_plot_legend *legend, double left, double top, rs_plot_picture *picture);

#endif
