/* test_plot_memory.c: each allocation of a chart fails in turn: that is an error, never a chart without some words. */
#include "../../src/pages/plot/forms.h"
#include "../../src/pages/plot/paper.h"
#include "../fixtures/heap.h"
#include "plot_fixture.h"

typedef rs_status drawing(const rs_plot_chart *chart, rs_plot_picture *picture, rs_err *err);

static void survives(const char *name, drawing *draw_chart, const rs_plot_chart *chart) {
  long tried = 0;
  refused = true;
  for (; refused; tried++) {
    rs_plot_picture picture = {0};
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = tried;
    rs_status status = draw_chart(chart, &picture, &err);
    allocations = -1;
    cr_assert_eq(status, refused ? RS_MEMORY : RS_OK, "%s, allocation %ld: %d %s", name, tried, (int)status,
                 err.message);
    rs_plot_picture_clear(&picture);
    cr_assert_eq(blocks, before, "%s, allocation %ld: %ld blocks leaked", name, tried, blocks - before);
  }
  cr_assert_gt(tried, 10, "%s", name);
}

Test(plot_memory, each_failing_allocation__is_an_error) {
  static const char *const categories[] = {"text", "image 2 × 2"};
  rs_plot_point points[] = {{.x = 0, .y = 1, .low = 0, .high = 2}, {.x = 1, .y = 2e9, .low = 1e9, .high = 3e9}};
  rs_plot_series series[] = {{.label = "a", .style = rs_plot_style_of(1), .points = points, .count = 2},
                             {.label = "b", .style = rs_plot_style_of(2), .points = points, .count = 1}};
  rs_plot_chart chart = {.head = {"T", "", "", ""},
                         .x_name = "x",
                         .x_unit = "1",
                         .y_name = "value",
                         .y_unit = "nats",
                         .series = series,
                         .count = 2};
  if (!COUNTS_MEMORY) cr_skip("the heap is another's here");
  survives("lines", rs_plot_chart_draw, &chart);
  survives("dots", rs_plot_dots_draw, &chart);
  chart.categories = categories;
  chart.category_count = RS_COUNT(categories);
  survives("categories", rs_plot_dots_draw, &chart);
}
