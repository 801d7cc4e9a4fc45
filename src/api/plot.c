/* Pictures of results, as SVG. Apart from the rest, so that a program that is linked with the static library and draws
 * nothing takes nothing of it along. */
#include "api.h"

#include "pages/pages.h"

#include <stdlib.h>

struct ropescope_pictures {
  rs_plot_views views;
};

static rs_status draw(const ropescope_results *results, ropescope_pictures *pictures, rs_err *err) {
  char *scratch;
  RS_OWNED(rs_plot_report) report = {0};
  RS_TRY(rs_scratch_make(&scratch, err));
  rs_status status = rs_api_results_write(results, scratch, err);
  if (status == RS_OK) status = rs_plot_views_read(scratch, true, &pictures->views, &report, err);
  rs_scratch_remove(scratch);
  return status;
}

ropescope_status ropescope_plot(const ropescope_results *results, ropescope_pictures **pictures,
                                ropescope_error **error) {
  rs_err err = {0};
  *pictures = rs_alloc(1, sizeof **pictures, &err);
  rs_status status = *pictures != NULL ? draw(results, *pictures, &err) : RS_MEMORY;
  return RS_API_END(status, pictures, ropescope_pictures_free, error, &err, NULL);
}

void ropescope_pictures_free(ropescope_pictures *pictures) {
  if (pictures == NULL) return;
  rs_plot_views_clear(&pictures->views);
  free(pictures);
}

RS_API_AT(const char *, ropescope_pictures_name, pictures, pictures->views.count, pictures->views.items[index].name);

const char *ropescope_pictures_svg(const ropescope_pictures *pictures, size_t index) {
  return index < pictures->views.count ? pictures->views.items[index].svg : NULL;
}
