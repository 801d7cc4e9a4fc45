/* caption.h: the words of a picture. */
#ifndef ROPESCOPE_PLOT_CAPTION_H
#define ROPESCOPE_PLOT_CAPTION_H

#include "content.h"

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

#endif
