/* test_task_pictures.c: pictures from files: their patches, normalisation, order, views and sizes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/npy.h"
#include "../fixtures/picture_files.h"
#include "../fixtures/scratch.h"
#include "../fixtures/task_desk.h"
#include "../golden.h"

enum { ROWS = 6, COLUMNS = 9, CHANNELS = 2 };

/* `count` pictures of the formula, and a desk that has them. */
static void open_pictures(task_desk *desk, size_t count, const char *settings) {
  write_idx("a", "l", 4, (const size_t[]){count, ROWS, COLUMNS, CHANNELS});
  desk_make(desk, "pictures");
  bound_set(&desk->parameters, "train", "a");
  bound_set(&desk->parameters, "labels", "l");
  desk_set(desk, settings);
  desk_prepare(desk, 3);
}

/* Number (channel, row, column) of the picture that was drawn, out of its patches. */
static double drawn_number(const task_desk *desk, size_t side, size_t channel, size_t row, size_t column) {
  size_t patch = row / side * desk->shape.columns + column / side;
  size_t number = (channel * side + row % side) * side + column % side;
  return (double)desk->example.patches[patch * desk->shape.patch_numbers + number];
}

/* Whether it is picture n of the formula, with row y of it y + down, mirrored first. */
static bool is_view(const task_desk *desk, size_t side, size_t n, int down, int across, bool mirrored) {
  for (size_t c = 0; c < CHANNELS; c++)
    for (size_t y = 0; y < ROWS; y++)
      for (size_t x = 0; x < COLUMNS; x++) {
        int row = (int)y + down, column = (int)(mirrored ? COLUMNS - 1 - x : x) + across;
        bool inside = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
        double wanted = inside ? picture_byte(n, c, (size_t)row, (size_t)column) / 255.0 : 0;
        if (fabs(drawn_number(desk, side, c, y, x) - wanted) > 1e-6) return false;
      }
  return true;
}

/* ---- patches and splits ------------------------------------------------------------------------------------------ */

Test(pictures, splits__are_those_of_the_file__patches_hold_channel_row_column) {
  task_desk desk;
  enter_scratch();
  open_pictures(&desk, 20, "patch_side=3 normalise=false share=0.25 pictures=12");
  for (uint64_t i = 0; i < 30; i++) {
    desk_draw(&desk, RS_SPLIT_EVALUATION, i, 6);
    cr_expect(is_view(&desk, 3, 15 + i % 5, 0, 0, false), "test picture %lu", (unsigned long)i);
    cr_expect_eq(desk.example.targets[0], picture_label(15 + i % 5));
    desk_draw(&desk, RS_SPLIT_TRAINED, i, 6);
    cr_expect(is_view(&desk, 3, i % 12, 0, 0, false), "picture %lu", (unsigned long)i);
    cr_expect_eq(desk.example.targets[0], picture_label(i % 12));
  }
  const rs_example_shape *shape = &desk.shape;
  cr_expect(shape->evaluations == 5 && shape->trained == 12 && shape->classes == 3 && shape->patch_numbers == 18);
  cr_expect(shape->rows == 2 && shape->columns == 3 && shape->frames == 1);
  desk_clear(&desk);
  leaves((const char *[]){"a", "l"}, 2);
}

/* A file for each: all pictures of one are trained on, those of the other are read. */
Test(pictures, test_file__has_the_pictures_of_evaluation) {
  task_desk desk;
  enter_scratch();
  write_cifar("a", CIFAR_10, 6);
  write_cifar("b", CIFAR_10, 4);
  desk_make(&desk, "pictures");
  bound_set(&desk.parameters, "train", "a");
  bound_set(&desk.parameters, "test", "b");
  desk_set(&desk, "normalise=false classes=10");
  desk_prepare(&desk, 3);
  desk_draw(&desk, RS_SPLIT_EVALUATION, 7, 64);
  cr_expect(desk.shape.evaluations == 4 && desk.shape.trained == 6 && desk.shape.classes == 10);
  cr_expect_eq(desk.example.targets[0], picture_label(3));
  for (size_t c = 0; c < 3; c++)
    for (size_t i = 0; i < CIFAR_SIDE * CIFAR_SIDE; i++)
      cr_assert_float_eq(drawn_number(&desk, 4, c, i / CIFAR_SIDE, i % CIFAR_SIDE),
                         picture_byte(3, c, i / CIFAR_SIDE, i % CIFAR_SIDE) / 255.0, 1e-6);
  cr_expect_float_eq(desk.kind->chance(desk.task.state, 0), 0.5, 1e-15, "labels 0 1 2 0: training's commonest, 0");
  desk_clear(&desk);
  leaves((const char *[]){"a", "b"}, 2);
}

/* ---- order and views --------------------------------------------------------------------------------------------- */

/* Labels say which picture it is: as many classes as pictures. */
Test(pictures, epochs__show_every_picture_once__each_in_another_order) {
  enum { MOST = 70, EPOCHS = 40 };
  rs_text labels = {0};
  enter_scratch();
  for (size_t count = 1; count <= MOST; count += count < 10 ? 1 : 15) {
    size_t all = count + 1, first_places[MOST] = {0}, same = 0;
    int32_t orders[EPOCHS][MOST];
    task_desk desk;
    const size_t shape[] = {all, 1, 1};
    write_idx("a", "l", 3, shape);
    labels = (rs_text){0};
    rs_text_add(&labels, (const char[]){0, 0, 8, 1, 0, 0, 0, (char)all}, 8);
    for (size_t n = 0; n < all; n++) add_byte(&labels, (unsigned char)(n < count ? n : 0));
    write_bytes("l", &labels);
    rs_text_clear(&labels);
    desk_make(&desk, "pictures");
    bound_set(&desk.parameters, "train", "a");
    bound_set(&desk.parameters, "labels", "l");
    bound_number(&desk.parameters, "share", 0.5 / (double)all);
    desk_set(&desk, "patch_side=1 normalise=false");
    if (count == 1) desk_set(&desk, "classes=2");
    desk_prepare(&desk, 5);
    for (size_t e = 0; e < EPOCHS; e++) {
      bool there[MOST] = {false};
      for (size_t i = 0; i < count; i++) {
        desk_draw(&desk, RS_SPLIT_TRAINING, e * count + i, 1);
        cr_assert_not(there[desk.example.targets[0]], "%zu pictures: %d twice", count, desk.example.targets[0]);
        there[desk.example.targets[0]] = true;
        orders[e][i] = desk.example.targets[0];
      }
      first_places[orders[e][0]]++;
      same += e > 0 && memcmp(orders[e], orders[e - 1], count * sizeof(int32_t)) == 0;
    }
    if (count > 4) cr_expect_leq(same, 2, "%zu pictures: %zu epochs as the one before", count, same);
    for (size_t n = 0; n < count && count < 10; n++)
      cr_expect(within_four_sigma(first_places[n], EPOCHS, 1 / (double)count), "%zu of %zu first %zu times", n, count,
                first_places[n]);
    desk_clear(&desk);
  }
  leaves((const char *[]){"a", "l"}, 2);
}

/* Each view of training is one of those that there are, all as often; evaluation has none. */
Test(pictures, shifts_and_mirrors__are_all_as_likely__of_training_alone) {
  enum { DRAWS = 600, SHIFT = 1, PLACES = 2 * SHIFT + 1 };
  size_t shifts[PLACES][PLACES] = {{0}}, mirrored = 0;
  task_desk desk;
  enter_scratch();
  open_pictures(&desk, 8, "patch_side=1 normalise=false shift=1 mirrored=0.25 share=0.5 classes=3");
  for (uint64_t i = 0; i < DRAWS; i++) {
    size_t found = 0;
    desk_draw(&desk, RS_SPLIT_TRAINING, i, ROWS * COLUMNS);
    for (size_t n = 0; n < 4; n++)
      for (int down = -SHIFT; down <= SHIFT; down++)
        for (int across = -SHIFT; across <= SHIFT; across++)
          for (int mirror = 0; mirror < 2; mirror++) {
            if (!is_view(&desk, 1, n, down, across, mirror)) continue;
            found++;
            shifts[down + SHIFT][across + SHIFT]++;
            mirrored += (size_t)mirror;
            cr_expect_eq(desk.example.targets[0], picture_label(n));
          }
    cr_assert_eq(found, 1, "draw %lu is %zu views", (unsigned long)i, found);
    desk_draw(&desk, RS_SPLIT_EVALUATION, i, ROWS * COLUMNS);
    cr_assert(is_view(&desk, 1, 4 + i % 4, 0, 0, false));
    desk_draw(&desk, RS_SPLIT_TRAINED, i, ROWS * COLUMNS);
    cr_assert(is_view(&desk, 1, i % 4, 0, 0, false));
  }
  for (int i = 0; i < PLACES * PLACES; i++)
    cr_expect(within_four_sigma(shifts[i / PLACES][i % PLACES], DRAWS, 1.0 / (PLACES * PLACES)),
              "%d down, %d across: %zu", i / PLACES - SHIFT, i % PLACES - SHIFT, shifts[i / PLACES][i % PLACES]);
  cr_expect(within_four_sigma(mirrored, DRAWS, 0.25), "%zu mirrored", mirrored);
  desk_clear(&desk);
  leaves((const char *[]){"a", "l"}, 2);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* What torch says of another size, and numpy of mean and deviation over the first three (tests/golden/pictures). */
Test(pictures, resized_and_normalised__as_torch_and_numpy_have_it) {
  rs_table *golden = golden_read("pictures/resized.csv");
  static const char *const forms[] = {"bytes", "floats"};
  size_t compared = 0;
  enter_scratch();
  for (size_t form = 0; form < RS_COUNT(forms); form++) {
    task_desk desk;
    size_t last = 0;
    open_pictures(&desk, 4, "patch_side=1 share=0.25");
    if (form == 1) {
      rs_text idx = {0}, floats = {0};
      make_idx(&idx, 4, (const size_t[]){4, ROWS, COLUMNS, CHANNELS});
      for (size_t i = 20; i < idx.length; i++) {
        float number = (float)(unsigned char)idx.data[i];
        rs_text_add(&floats, (const char *)&number, sizeof number);
      }
      make_npy("a", 1, NPY("<f4", "False", "(4, 6, 9, 2)"), floats.data, floats.length);
      rs_text_clear(&idx);
      rs_text_clear(&floats);
      rs_task_clear(&desk.task);
      desk_prepare(&desk, 3);
    }
    for (size_t row = 0; row < golden->rows; row++, compared++) {
      size_t times = golden_size(golden, row, "times");
      if (times != last) desk_draw(&desk, RS_SPLIT_EVALUATION, 0, 6 * times * times);
      last = times;
      double got = drawn_number(&desk, 1, golden_size(golden, row, "channel"), golden_size(golden, row, "row"),
                                golden_size(golden, row, "column"));
      double wanted = golden_number(golden, row, "value");
      cr_assert_float_eq(got, wanted, 4e-7 * (1 + fabs(wanted)), "%s, row %zu: %.9g, not %.9g", forms[form], row, got,
                         wanted);
    }
    desk_clear(&desk);
  }
  cr_expect_eq(compared, 2u * 552);
  rs_table_free(golden);
  leaves((const char *[]){"a", "l"}, 2);
}

/* Larger patches of a resized picture hold the same numbers as small ones. */
Test(pictures, resized__patches_of_any_side_hold_the_same_picture) {
  task_desk small, large;
  enter_scratch();
  open_pictures(&small, 4, "patch_side=1 share=0.25");
  open_pictures(&large, 4, "patch_side=3 share=0.25");
  desk_draw(&small, RS_SPLIT_EVALUATION, 0, 12 * 18);
  desk_draw(&large, RS_SPLIT_EVALUATION, 0, 24);
  for (size_t c = 0; c < CHANNELS; c++)
    for (size_t i = 0; i < 12 * 18; i++)
      cr_assert_eq(drawn_number(&small, 1, c, i / 18, i % 18), drawn_number(&large, 3, c, i / 18, i % 18));
  desk_clear(&small);
  desk_clear(&large);
  leaves((const char *[]){"a", "l"}, 2);
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

static void refused_task(const char *settings, const char *test, rs_status wanted, const char *subject,
                         const char *message) {
  task_desk desk;
  rs_task task;
  rs_err err = {0};
  desk_make(&desk, "pictures");
  bound_set(&desk.parameters, "train", "a");
  bound_set(&desk.parameters, "labels", "l");
  if (test != NULL) bound_set(&desk.parameters, "test", test);
  if (test != NULL) bound_set(&desk.parameters, "test_labels", "m");
  desk_set(&desk, settings);
  const rs_task_in in = {desk.parameters.binding.fields, 1};
  cr_expect_eq(rs_task_prepare(desk.kind, &in, &task, &err), wanted, "%s", message);
  cr_expect_str_eq(err.subject, subject);
  cr_expect_str_eq(err.message, message);
  cr_expect_null(task.state);
  desk_clear(&desk);
}

Test(pictures, what_cannot_be__names_the_parameter_and_the_file) {
  rs_text labels = {0};
  enter_scratch();
  write_idx("a", "l", 4, (const size_t[]){8, ROWS, COLUMNS, CHANNELS});
  write_idx("b", "m", 4, (const size_t[]){4, ROWS, COLUMNS, 1});
  refused_task("patch_side=3", "b", RS_INPUT, "test", "b: pictures of 6 x 9 x 1, those of training are 6 x 9 x 2");
  refused_task("", NULL, RS_INPUT, "patch_side", "pictures of 6 x 9 are not whole patches of 4 x 4");
  refused_task("patch_side=2", NULL, RS_INPUT, "patch_side", "pictures of 6 x 9 are not whole patches of 2 x 2");
  refused_task("patch_side=3 share=0.01", "b", RS_INPUT, "share", "and test both say what is held out: leave one out");
  refused_task("patch_side=3 share=0.99", NULL, RS_INPUT, "share",
               "a: 0 pictures to train on and 8 held out: each must be 1 or more (a smaller share leaves some)");
  refused_task("patch_side=3 shift=6", NULL, RS_INPUT, "shift", "nothing is left of pictures of 6 x 9 (5 at most)");
  refused_task("patch_side=3 share=0.25 pictures=7", NULL, RS_INPUT, "pictures", "a has 6 to train on, fewer than 7");
  refused_task("patch_side=3 classes=2", NULL, RS_INPUT, "classes", "l: label 2 (from 0) is 2, of 2 classes");
  refused_task("patch_side=3 share=0.25 pictures=1", NULL, RS_INPUT, "labels",
               "l: label 7 (from 0) is 1, training has 1 classes");
  write_idx("b", "m", 4, (const size_t[]){2, ROWS, COLUMNS, CHANNELS});
  rs_text_add(&labels, (const char[]){0, 0, 8, 1, 0, 0, 0, 2, 0, 3}, 10);
  write_bytes("m", &labels);
  rs_text_clear(&labels);
  refused_task("patch_side=3", "b", RS_INPUT, "test_labels", "m: label 1 (from 0) is 3, training has 3 classes");
  refused_task("patch_side=3 classes=3", "b", RS_INPUT, "classes", "m: label 1 (from 0) is 3, of 3 classes");
  refused_task("patch_side=3 classes=4", "b", RS_INPUT, "train",
               "a: none of the 8 pictures to train on is of class 3, 1 of the test are (do they stand class by class? "
               "shuffle them)");
  make_npy("a", 1, NPY("|u1", "False", "(4, 1, 1)"), "AAAB", 4);
  write_idx("b", "l", 3, (const size_t[]){4, 1, 1});
  refused_task("patch_side=1 share=0.2 classes=3", NULL, RS_INPUT, "normalise",
               "channel 0 of all pictures of a is 65: leave its numbers as they are (normalise: false)");
  refused_task("patch_side=1", "c", RS_IO, "test", "c: cannot read: No such file or directory");
  write_idx("b", "m", 3, (const size_t[]){3, 1, 1});
  cr_assert_eq(rename("m", "l"), 0);
  refused_task("patch_side=1", NULL, RS_INPUT, "labels", "l: has 3 labels for 4 pictures (is it of other pictures?)");
  write_idx("c", "l", 3, (const size_t[]){4, 1, 1});
  refused_task("patch_side=1", "b", RS_IO, "test_labels", "m: cannot read: No such file or directory");
  write_idx("c", "m", 3, (const size_t[]){2, 1, 1});
  refused_task("patch_side=1", "b", RS_INPUT, "test_labels",
               "m: has 2 labels for 3 pictures (is it of other pictures?)");
  write_idx("a", "l", 3, (const size_t[]){1, 1, 1});
  refused_task("patch_side=1 share=0.5", NULL, RS_INPUT, "train",
               "a: 0 pictures to train on and 1 held out: each must be 1 or more (test: FILE has others)");
  leaves((const char *[]){"a", "b", "c", "l", "m"}, 5);
}

Test(pictures, parameters__that_contradict_each_other__are_told) {
  static const struct {
    const char *train, *test, *labels, *subject, *message;
  } wrong[] = {{NULL, NULL, NULL, "train", "must be given: the file of the pictures"},
               {"a", NULL, "m", "test_labels", "are of a file that is not given (test)"}};
  for (size_t i = 0; i < RS_COUNT(wrong); i++) {
    task_desk desk;
    rs_err err = {0};
    desk_make(&desk, "pictures");
    if (wrong[i].train != NULL) bound_set(&desk.parameters, "train", wrong[i].train);
    if (wrong[i].labels != NULL) bound_set(&desk.parameters, "test_labels", wrong[i].labels);
    cr_expect_eq(desk.kind->check(&desk.parameters.binding, &err), RS_INPUT);
    cr_expect_str_eq(err.subject, wrong[i].subject);
    cr_expect_str_eq(err.message, wrong[i].message);
    desk_clear(&desk);
  }
}

Test(pictures, lengths__are_grids_in_the_proportion_of_the_pictures) {
  task_desk desk;
  rs_example_shape shape;
  rs_err err = {0};
  enter_scratch();
  open_pictures(&desk, 8, "patch_side=3");
  for (size_t length = 0; length < 200; length++) {
    size_t times = (size_t)lround(sqrt((double)length / 6));
    bool grid = length > 0 && 6 * times * times == length;
    cr_assert_eq(desk.kind->shape(desk.task.state, length, &shape, NULL), grid ? RS_OK : RS_DOMAIN, "%zu", length);
    if (grid) cr_assert(shape.rows == 2 * times && shape.columns == 3 * times);
  }
  cr_assert_eq(desk.kind->shape(desk.task.state, 53, &shape, &err), RS_DOMAIN);
  cr_expect_str_eq(err.message, "53 patches make no grid in the proportion of 2 x 3, that of the pictures (the nearest "
                                "below: 24)");
  desk_clear(&desk);
  leaves((const char *[]){"a", "l"}, 2);
}
