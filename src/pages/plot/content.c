/* content.c: which form the numbers of a picture have, and whether they say anything. */
#include "choice.h"

#include "words.h"

#include <math.h>

/* Whether all points that have a value share their x; its methods are then rows, not lines. */
static bool is_single(const rs_plot_set *set) {
  double place = NAN;
  for (size_t s = 0; s < set->count; s++) {
    for (size_t i = 0; i < set->series[s].count; i++) {
      const rs_plot_point *point = &set->series[s].points[i];
      if (isnan(point->y)) continue;
      if (!isnan(place) && point->x != place) return false;
      place = point->x;
    }
  }
  return true;
}

static rs_status read_map(rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_content *content,
                          rs_err *err) {
  bool strips = measure->strip;
  if (choice->family != NULL) RS_TRY(rs_plot_family_places(choice->family, choice->model, measure, &strips, err));
  content->form = strips ? RS_PLOT_STRIPS : RS_PLOT_HEAT;
  return rs_plot_map_read(measure, choice, &content->map, err);
}

rs_status rs_plot_content_read(rs_plot_measure *measure, const rs_plot_choice *choice, rs_plot_content *content,
                               rs_err *err) {
  *content = (rs_plot_content){0};
  if (choice->family != NULL || measure->map || measure->strip) return read_map(measure, choice, content, err);
  RS_TRY(rs_plot_set_read(measure, choice, &content->set, err));
  bool rows = measure->category || is_single(&content->set);
  content->form = rows ? RS_PLOT_DOTS : RS_PLOT_LINES;
  return rs_plot_events_read(measure, choice, &content->set, err);
}

void rs_plot_content_clear(rs_plot_content *content) {
  rs_plot_set_clear(&content->set);
  rs_plot_map_clear(&content->map);
  *content = (rs_plot_content){0};
}

static bool has_map(const rs_plot_content *content) {
  return content->form == RS_PLOT_HEAT || content->form == RS_PLOT_STRIPS;
}

bool rs_plot_content_any(const rs_plot_content *content) {
  return has_map(content) ? content->map.any : content->set.any;
}

/* Beyond the rounding of sums that are made in another order, and of differences of numbers as large as `largest`. */
static bool is_equal(double a, double b, double largest) {
  double slack = fmax(1e-12 * fmax(fabs(a), fabs(b)), 1e-15 * largest);
  return (isnan(a) && isnan(b)) || fabs(a - b) <= slack;
}

static double largest_of(const rs_plot_set *set) {
  double largest = 0;
  for (size_t s = 0; s < set->count; s++)
    for (size_t i = 0; i < set->series[s].count; i++) largest = fmax(largest, fabs(set->series[s].points[i].y));
  return largest;
}

static bool same_points(const rs_plot_series *a, const rs_plot_series *b, double largest) {
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++) {
    const rs_plot_point *p = &a->points[i], *q = &b->points[i];
    bool same =
        is_equal(p->y, q->y, largest) && is_equal(p->low, q->low, largest) && is_equal(p->high, q->high, largest);
    if (p->x != q->x || !same) return false;
  }
  return true;
}

/* One number, wherever there is one. */
static bool is_constant(const rs_plot_set *set) {
  double value = NAN;
  for (size_t s = 0; s < set->count; s++) {
    for (size_t i = 0; i < set->series[s].count; i++) {
      const rs_plot_point *point = &set->series[s].points[i];
      if (isnan(point->y)) continue;
      if (!isnan(value) && !is_equal(point->y, value, 0)) return false;
      if (point->low < point->high) return false;
      value = point->y;
    }
  }
  return true;
}

/* Two or more methods with a value, and all the same. */
static bool all_alike(const rs_plot_set *set) {
  const rs_plot_series *first = NULL;
  double largest = largest_of(set);
  size_t count = 0;
  for (size_t s = 0; s < set->count; s++) {
    if (set->series[s].count == 0) continue;
    if (first == NULL) first = &set->series[s];
    if (!same_points(first, &set->series[s], largest)) return false;
    count++;
  }
  return count > 1;
}

bool rs_plot_content_plain(const rs_plot_content *content) {
  if (has_map(content)) return is_equal(content->map.low, content->map.high, 0);
  return content->set.trendless || is_constant(&content->set) || all_alike(&content->set);
}
