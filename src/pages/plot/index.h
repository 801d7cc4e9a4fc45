/* index.h: a page that shows the pictures of a folder. */
#ifndef ROPESCOPE_PLOT_INDEX_H
#define ROPESCOPE_PLOT_INDEX_H

#include "base/base.h"

/* Writes folder/index.html, which shows what folder/.drawn lists, under the name of the experiment; without pictures
 * there is no index. A page of that name that is not ours stays. RS_IO, RS_MEMORY. */
rs_status rs_plot_index_write(const char *folder, const char *name, rs_err *err);

#endif
