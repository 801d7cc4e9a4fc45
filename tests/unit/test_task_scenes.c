/* test_task_scenes.c: `where` and `film`, looked at patch by patch. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../fixtures/task_desk.h"

enum { MOST_SHAPES = 4 };

typedef struct place {
  size_t frame, row, column;
} place;

/* Ink by how much of it: at a side of 4 a line has 4 numbers, a cross 8, a border 12; at 3 and 5 a cross has one less.
 * Lines tell themselves apart by whether the first column they touch goes on. -1: none. */
static int shape_of(const float *patch, size_t side) {
  size_t ink = 0, first = 0;
  for (size_t i = side * side; i-- > 0;)
    if (patch[i] > 0.5f) ink++, first = i;
  if (ink == 0) return -1;
  if (ink == 4 * side - 4) return 3;
  if (ink == 2 * side - side % 2) return 2;
  cr_assert_eq(ink, side);
  return first / side == 0 && first % side > 0 ? 0 : 1;
}

/* Where each shape stands; each stands once. */
static void find_shapes(const task_desk *desk, size_t side, size_t shapes, place places[MOST_SHAPES]) {
  const rs_example_shape *grid = &desk->shape;
  size_t found[MOST_SHAPES] = {0};
  cr_assert_eq(grid->patch_numbers, side * side);
  for (size_t i = 0; i < grid->length; i++) {
    int shape = shape_of(desk->example.patches + i * side * side, side);
    if (shape < 0) continue;
    cr_assert_lt((size_t)shape, shapes);
    found[shape]++;
    places[shape] = (place){i / (grid->rows * grid->columns), i / grid->columns % grid->rows, i % grid->columns};
  }
  for (size_t s = 0; s < shapes; s++) cr_assert_eq(found[s], 1, "shape %zu stands %zu times", s, found[s]);
}

static size_t class_of(const place *places, size_t shapes, bool film) {
  size_t left = 0, top = 0, first = 0;
  for (size_t s = 1; s < shapes; s++) {
    if (places[s].column < places[left].column) left = s;
    if (places[s].row < places[top].row) top = s;
    if (places[s].frame < places[first].frame) first = s;
  }
  return film ? (left * shapes + top) * shapes + first : left * shapes + top;
}

Test(scenes, classes__follow_from_the_places_of_shapes) {
  static const struct {
    const char *name, *settings;
    size_t side, shapes, lengths[2];
  } cases[] = {
      {"where", "", 4, 2, {16, 4}},
      {"where", "shapes=4 patch_side=5 noise=0.49", 5, 4, {16, 49}},
      {"where", "shapes=3 patch_side=3 noise=0", 3, 3, {9, 64}},
      {"film", "", 4, 2, {32, 128}},
      {"film", "shapes=3 side=5 noise=0.4", 4, 3, {75, 100}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    task_desk desk;
    bool film = strcmp(cases[i].name, "film") == 0;
    desk_open(&desk, cases[i].name, cases[i].settings, i);
    for (uint64_t k = 0; k < 400; k++) {
      place places[MOST_SHAPES];
      desk_draw(&desk, (rs_split)(k / 2 % 2), k, cases[i].lengths[k % 2]);
      find_shapes(&desk, cases[i].side, cases[i].shapes, places);
      for (size_t s = 0; s < cases[i].shapes; s++)
        for (size_t o = 0; o < s; o++)
          cr_assert(places[s].column != places[o].column && places[s].row != places[o].row &&
                    (!film || places[s].frame != places[o].frame));
      cr_assert_eq(desk.shape.classes, (size_t)pow((double)cases[i].shapes, film ? 3 : 2));
      cr_assert_eq((size_t)desk.example.targets[0], class_of(places, cases[i].shapes, film));
    }
    size_t base, count;
    desk.kind->digits(desk.task.state, &base, &count);
    cr_expect(base == cases[i].shapes && count == (film ? 3 : 2), "%zu digits to the base %zu", count, base);
    desk_clear(&desk);
  }
}

/* Where a shape stands alone, or when, says nothing of whether it is the first of its axis at the same place. */
/* The class token, then a picture, or a film whose frames are a second and an id apart. */
Test(scenes, layout__is_that_of_one_picture_or_film) {
  for (size_t frames = 1; frames < 4; frames += 2) {
    const rs_example_shape shape = {
        .length = frames * 6, .patch_numbers = 9, .frames = frames, .rows = 2, .columns = 3, .classes = 4};
    rs_token_layout layout;
    size_t tokens;
    cr_assert_eq(rs_task_layout(&shape, 1, &layout, &tokens, NULL), RS_OK);
    cr_assert_eq(tokens, frames * 6 + 1);
    cr_assert_eq(layout.count, 2u);
    cr_expect(layout.runs[0].modality == RS_TEXT && layout.runs[0].tokens == 1);
    const rs_token_run *seen = &layout.runs[1];
    cr_expect_eq(seen->modality, frames > 1 ? RS_VIDEO : RS_IMAGE);
    cr_expect(seen->tokens == frames * 6 && seen->frames == frames && seen->rows == 2 && seen->columns == 3);
    cr_expect(seen->seconds_per_frame == 1 && seen->ids_per_second == 1);
    free(layout.runs);
  }
}

Test(scenes, places__are_all_as_likely) {
  enum { SCENES = 3000 };
  task_desk desk;
  size_t columns[4] = {0}, rows[4] = {0}, frames[3] = {0};
  desk_open(&desk, "film", "", 8);
  for (uint64_t k = 0; k < SCENES; k++) {
    place places[MOST_SHAPES];
    desk_draw(&desk, RS_SPLIT_TRAINING, k, 48);
    cr_assert(desk.shape.frames == 3 && desk.shape.rows == 4 && desk.shape.columns == 4);
    find_shapes(&desk, 4, 2, places);
    columns[places[1].column]++;
    rows[places[1].row]++;
    frames[places[1].frame]++;
  }
  for (size_t i = 0; i < 4; i++) {
    cr_expect(within_four_sigma(columns[i], SCENES, 0.25), "column %zu: %zu", i, columns[i]);
    cr_expect(within_four_sigma(rows[i], SCENES, 0.25), "row %zu: %zu", i, rows[i]);
    if (i < 3) cr_expect(within_four_sigma(frames[i], SCENES, 1.0 / 3), "frame %zu: %zu", i, frames[i]);
  }
  desk_clear(&desk);
}

/* Every number of a patch is off by at most the noise, evenly: in the mean by nothing, and its square by noise^2 / 3.
 * Nothing tells one place from another. */
Test(scenes, noise__is_even_and_within_its_bound) {
  task_desk desk;
  rs_moments corner = {0}, middle = {0}, sign = {0};
  desk_open(&desk, "where", "noise=0.3", 8);
  for (uint64_t k = 0; k < 500; k++) {
    desk_draw(&desk, RS_SPLIT_TRAINING, k, 9);
    for (size_t i = 0; i < 9 * 16; i++) {
      double off = desk.example.patches[i], ink = off > 0.5;
      cr_assert_leq(fabs(off - ink), 0.3 + 1e-6);
      rs_moments_add(&sign, off - ink);
      if (i / 16 == 0) rs_moments_add(&corner, (off - ink) * (off - ink));
      if (i / 16 == 4) rs_moments_add(&middle, (off - ink) * (off - ink));
    }
  }
  cr_expect_float_eq(rs_moments_mean(&sign), 0, 4 * rs_moments_se(&sign));
  cr_expect_float_eq(rs_moments_mean(&corner), 0.03, 4 * rs_moments_se(&corner));
  cr_expect_float_eq(rs_moments_mean(&middle), 0.03, 4 * rs_moments_se(&middle));
  desk_clear(&desk);
}
