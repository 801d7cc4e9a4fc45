/* test_picture_files.c: pictures with their classes, from every form of file, and what is none. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/heap.h"
#include "../fixtures/npy.h"
#include "../fixtures/picture_files.h"
#include "../fixtures/scratch.h"

/* Every number and label is what the formula says. */
static void check_file(const char *path, const char *labels, bool coarse, const size_t shape[4]) {
  rs_picture_file file;
  rs_err err = {0};
  cr_assert_eq(rs_picture_file_read(path, labels, coarse, &file, &err), RS_OK, "%s", err.message);
  cr_assert(file.count == shape[0] && file.rows == shape[1] && file.columns == shape[2] && file.channels == shape[3],
            "%s: %zu of %zu x %zu x %zu", path, file.count, file.rows, file.columns, file.channels);
  for (size_t n = 0; n < shape[0]; n++) {
    cr_assert_eq(file.labels[n], coarse ? n % 2 : picture_label(n), "%s: label %zu", path, n);
    for (size_t c = 0; c < shape[3]; c++)
      for (size_t y = 0; y < shape[1]; y++)
        for (size_t x = 0; x < shape[2]; x++)
          cr_assert_eq(rs_picture_number(&file, n, c, y, x), picture_byte(n, c, y, x), "%s: %zu %zu %zu %zu", path, n,
                       c, y, x);
  }
  rs_picture_file_clear(&file);
  cr_expect(file.labels == NULL && file.bytes == NULL && file.count == 0);
}

/* The bytes of IDX behind the header are those of a .npy file. */
static void write_npy(const char *path, const char *header, size_t rank, const size_t *shape, bool floats) {
  rs_text idx = {0}, data = {0};
  make_idx(&idx, rank, shape);
  for (size_t i = 4 + 4 * rank; i < idx.length; i++) {
    float number = (float)(unsigned char)idx.data[i];
    rs_text_add(&data, floats ? (const char *)&number : &idx.data[i], floats ? sizeof number : 1);
  }
  make_npy(path, 1, header, data.data, data.length);
  rs_text_clear(&idx);
  rs_text_clear(&data);
}

Test(picture_files, forms__are_told_by_content__numbers_are_the_formulas) {
  const size_t gray[] = {5, 3, 4, 1}, coloured[] = {3, 4, 2, 3}, cifar[] = {7, 32, 32, 3};
  enter_scratch();
  write_idx("a", "l", 3, gray);
  check_file("a", "l", false, gray);
  write_idx("a", "l", 4, coloured);
  check_file("a", "l", false, coloured);
  write_npy("a", NPY("|u1", "False", "(3, 4, 2, 3)"), 4, coloured, false);
  write_npy("b", NPY("<f4", "False", "(3, 4, 2, 3)"), 4, coloured, true);
  write_npy("c", NPY("<f4", "False", "(3,)"), 1, coloured, true);
  check_file("a", "c", false, coloured);
  check_file("b", "l", false, coloured);
  write_npy("b", NPY("<f4", "False", "(5, 3, 4)"), 3, gray, true);
  write_idx("a", "l", 3, gray);
  check_file("b", "l", false, gray);
  write_cifar("a", CIFAR_10, 7);
  check_file("a", NULL, false, cifar);
  write_cifar("a", CIFAR_100, 7);
  check_file("a", NULL, false, cifar);
  check_file("a", NULL, true, cifar);
  leaves((const char *[]){"a", "b", "c", "l"}, 4);
}

/* Several members too, as cat makes them of several files. */
Test(picture_files, gzip__is_decompressed) {
  const size_t shape[] = {5, 3, 4, 1}, cifar[] = {6, 32, 32, 3};
  rs_text text = {0}, label = {0}, half = {0};
  size_t length;
  char *bytes;
  enter_scratch();
  make_idx(&text, 3, shape);
  make_idx(&label, 1, shape);
  write_gzip("a", text.data, text.length);
  write_gzip("l", label.data, label.length);
  check_file("a", "l", false, shape);
  make_cifar(&half, CIFAR_10, 3);
  write_gzip("a", half.data, half.length);
  cr_assert_eq(rs_file_read("a", 1 << 20, &bytes, &length, NULL), RS_OK);
  rs_text_clear(&text);
  rs_text_add(&text, bytes, length);
  rs_text_add(&text, bytes, length);
  write_bytes("b", &text);
  rs_picture_file file;
  cr_assert_eq(rs_picture_file_read("b", NULL, false, &file, NULL), RS_OK);
  cr_expect_eq(file.count, cifar[0]);
  cr_expect(rs_picture_number(&file, 5, 2, 31, 31) == picture_byte(2, 2, 31, 31) && file.labels[4] == 1);
  rs_picture_file_clear(&file);
  free(bytes);
  rs_text_clear(&text);
  rs_text_clear(&half);
  rs_text_clear(&label);
  leaves((const char *[]){"a", "b", "l"}, 3);
}

/* A record whose label is 0 and whose first numbers are 0 and 8 begins as IDX does; and so many records of CIFAR-10 are
 * whole records of CIFAR-100, too. */
Test(picture_files, records_of_cifar__are_told_from_idx_and_from_each_other) {
  rs_text text = {0};
  rs_picture_file file;
  enter_scratch();
  for (size_t i = 0; i < 2 * CIFAR_10; i++) add_byte(&text, i % CIFAR_10 == 2 ? 8 : i % CIFAR_10 == 3 ? 3 : 0);
  write_bytes("a", &text);
  cr_assert_eq(rs_picture_file_read("a", NULL, false, &file, NULL), RS_OK);
  cr_expect(file.count == 2 && file.channels == 3 && rs_picture_number(&file, 1, 0, 0, 1) == 8);
  rs_picture_file_clear(&file);
  rs_text_clear(&text);
  for (size_t i = 0; i < (size_t)CIFAR_10 * CIFAR_100; i++) add_byte(&text, i % CIFAR_100 == 1 ? 99 : 17);
  write_bytes("a", &text);
  cr_assert_eq(rs_picture_file_read("a", NULL, false, &file, NULL), RS_OK);
  cr_expect(file.count == CIFAR_10 && file.labels[5] == 99 && file.coarse);
  rs_picture_file_clear(&file);
  for (size_t i = 0; i < text.length; i += CIFAR_10) text.data[i] = 9;
  write_bytes("a", &text);
  cr_assert_eq(rs_picture_file_read("a", NULL, false, &file, NULL), RS_OK);
  cr_expect(file.count == CIFAR_100 && file.labels[5] == 9 && !file.coarse);
  rs_picture_file_clear(&file);
  rs_text_clear(&text);
  leaves((const char *[]){"a"}, 1);
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

/* The file `a`, and what is said of it. */
static void refused_file(const char *labels, bool coarse, const char *message) {
  rs_picture_file file;
  rs_err err = {0};
  cr_expect_eq(rs_picture_file_read("a", labels, coarse, &file, &err), RS_INPUT, "%s", message);
  cr_expect_str_eq(err.message, message);
  cr_expect(file.labels == NULL && file.bytes == NULL && file.numbers == NULL && file.owned == NULL);
}

static void refused_bytes(const char *bytes, size_t length, const char *labels, const char *message) {
  cr_assert_eq(rs_file_write("a", bytes, length, NULL), RS_OK);
  refused_file(labels, false, message);
}

Test(picture_files, what_is_none__is_refused_with_what_is_wrong) {
  const size_t shape[] = {5, 3, 4, 1};
  rs_text text = {0};
  enter_scratch();
  write_idx("a", "l", 3, shape);
  refused_file(NULL, false, "a: has no labels in it, as CIFAR's files have: which file has its labels?");
  refused_file("a", false, "a: holds an array of 3 axes: labels are one row, a class for each picture");
  refused_file("l", true, "a: has one label a picture, no coarse ones (CIFAR-100 has)");
  write_idx("b", "m", 3, (const size_t[]){6, 1, 1});
  refused_file("m", false, "m: has 6 labels for 5 pictures (is it of other pictures?)");
  make_idx(&text, 3, shape);
  refused_bytes(text.data, text.length - 1, "l",
                "a: its header says more numbers than its 75 bytes hold (is it cut off?)");
  rs_text_puts(&text, "x");
  refused_bytes(text.data, text.length, "l",
                "a: its header says fewer numbers than its 77 bytes hold (is it cut off?)");
  refused_bytes("\0\0\x0d\3\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0", 20, "l",
                "a: an IDX file of numbers of type 0x0D, which are not read: bytes, 0x08, are");
  refused_bytes("\0\0\x8\5\0\0\0\1", 8, "l", "a: an IDX file of 5 axes: pictures have 3 or 4, labels 1");
  refused_bytes("P5 nonsense", 11, NULL,
                "a: begins neither as IDX, .npy nor gzip, and its 11 bytes are no whole number of CIFAR-10's records "
                "(3073 bytes) or CIFAR-100's (3074): is it cut off?");
  make_npy("a", 1, NPY("|u1", "False", "(1, 2, 2, 5)"), "abcdefghijklmnopqrst", 20);
  refused_file("l", false, "a: has 5 channels, at most 4 are read: they are the last axis");
  make_npy("a", 1, NPY("|u1", "False", "(4,)"), "abcd", 4);
  refused_file("l", false,
               "a: holds an array of 1 axes: pictures are (pictures, rows, columns) or with channels behind");
  rs_text_clear(&text);
  leaves((const char *[]){"a", "b", "l", "m"}, 4);
}

Test(picture_files, labels_and_archives__are_checked) {
  rs_text text = {0};
  const float labels[] = {0, 1.5f};
  enter_scratch();
  write_cifar("a", CIFAR_10, 2);
  refused_file("l", false, "a: a file of CIFAR has its labels in it (leave out l)");
  refused_file(NULL, true, "a: has one label a picture, no coarse ones (CIFAR-100 has)");
  make_cifar(&text, CIFAR_10, 2);
  text.data[CIFAR_10] = 10;
  refused_bytes(text.data, text.length, NULL,
                "a: label 1 (from 0) is 10, CIFAR-10 has 10 classes (is it another file?)");
  make_npy("a", 1, NPY("|u1", "False", "(2, 1, 1)"), "ab", 2);
  make_npy("l", 1, NPY("<f4", "False", "(2,)"), (const char *)labels, sizeof labels);
  refused_file("l", false, "l: label 1 (from 0) is 1.5, must be a whole number from 0 to 1048575");
  make_npy("l", 1, NPY("|i1", "False", "(2,)"), "\0\xff", 2);
  refused_file("l", false, "l: label 1 (from 0) is -1, must be a whole number from 0 to 1048575");
  cr_assert_eq(rs_file_write("l", "0,1", 3, NULL), RS_OK);
  refused_file("l", false, "l: begins neither as IDX nor as .npy: no labels are read from it");
  write_gzip("b", text.data, text.length);
  size_t length;
  char *bytes;
  cr_assert_eq(rs_file_read("b", 1 << 20, &bytes, &length, NULL), RS_OK);
  cr_assert_eq(rs_file_write("a", bytes, length - 9, NULL), RS_OK);
  rs_picture_file file;
  rs_err err = {0};
  cr_expect_eq(rs_picture_file_read("a", NULL, false, &file, &err), RS_INPUT);
  cr_expect(strstr(err.message, "a: cannot be decompressed beyond ") == err.message &&
                strstr(err.message, "it is cut off") != NULL,
            "%s", err.message);
  bytes[length - 6] ^= 1; /* of the checksum */
  cr_assert_eq(rs_file_write("a", bytes, length, NULL), RS_OK);
  rs_err damaged = {0};
  cr_expect_eq(rs_picture_file_read("a", NULL, false, &file, &damaged), RS_INPUT);
  cr_expect_str_eq(damaged.message, "a: cannot be decompressed beyond 0 bytes: incorrect data check");
  cr_expect_str_eq(damaged.subject, "");
  free(bytes);
  rs_text_clear(&text);
  leaves((const char *[]){"a", "b", "l"}, 3);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

Test(picture_files, every_failing_allocation__is_reported_and_leaves_nothing) {
  if (!COUNTS_MEMORY) return;
  const size_t shape[] = {3, 4, 2, 3};
  static const char *const files[][2] = {{"a", "l"}, {"b", "l"}, {"c", NULL}, {"z", "l"}};
  rs_text text = {0};
  enter_scratch();
  write_idx("a", "l", 4, shape);
  write_npy("b", NPY("<f4", "False", "(3, 4, 2, 3)"), 4, shape, true);
  write_cifar("c", CIFAR_10, 2);
  make_idx(&text, 4, shape);
  write_gzip("z", text.data, text.length);
  rs_text_clear(&text);
  for (size_t f = 0; f < RS_COUNT(files); f++)
    for (long first = 0;; first++) {
      rs_picture_file file;
      rs_err err = {0};
      long before = blocks;
      refused = false;
      allocations = first;
      rs_status status = rs_picture_file_read(files[f][0], files[f][1], false, &file, &err);
      allocations = -1;
      if (!refused) {
        cr_expect(status == RS_OK && first > 0);
        rs_picture_file_clear(&file);
        cr_expect_eq(blocks, before);
        break;
      }
      cr_expect_eq(status, RS_MEMORY, "%s, allocation %ld: %s", files[f][0], first, err.message);
      cr_expect_eq(blocks, before, "%s, allocation %ld: %ld left", files[f][0], first, blocks - before);
    }
  leaves((const char *[]){"a", "b", "c", "l", "z"}, 5);
}
