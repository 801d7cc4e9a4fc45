/* What the tests of pages share. */
#ifndef ROPESCOPE_TESTS_REPORT_FIXTURE_H
#define ROPESCOPE_TESTS_REPORT_FIXTURE_H

#include "pages/pages.h"
#include "plot_fixture.h"

/* The page of the folders; the caller frees. */
static char *page_of(const char *const *folders, size_t count) {
  rs_text page = {0};
  rs_plot_report notes = {0};
  rs_err err = {0};
  rs_status status = rs_report_write(folders, count, true, &page, &notes, &err);
  cr_assert_eq(status, RS_OK, "%s: %s", rs_status_name(status), err.message);
  rs_plot_report_clear(&notes);
  return page.data;
}

#endif
