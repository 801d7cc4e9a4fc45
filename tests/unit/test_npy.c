/* test_npy.c: arrays of NumPy with their shapes, in and out. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/models.h"
#include "../fixtures/npy.h"
#include "../fixtures/scratch.h"
#include "io/io.h"

Test(io, npy__shapes__are_read_as_they_are) {
  static const struct {
    const char *header;
    size_t rank, shape[RS_TENSOR_RANK];
  } cases[] = {{NPY("|u1", "False", "(1, 2, 3)"), 3, {1, 2, 3}},
               {NPY("|u1", "False", "(6,)"), 1, {6}},
               {NPY("|u1", "False", "(1, 1, 1, 1, 1, 1, 6, 1)"), 8, {1, 1, 1, 1, 1, 1, 6, 1}}};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_array array;
    rs_err err = {0};
    make_npy("a.npy", 1, cases[i].header, "\1\2\3\4\5\6", 6);
    cr_assert_eq(rs_npy_read("a.npy", &array, &err), RS_OK, "%s", err.message);
    cr_expect_eq(array.rank, cases[i].rank);
    cr_expect_arr_eq(array.shape, cases[i].shape, array.rank * sizeof *array.shape);
    cr_expect(array.count == 6 && array.numbers[0] == 1 && array.numbers[5] == 6);
    rs_array_clear(&array);
    cr_expect(array.numbers == NULL && array.count == 0);
  }
  leaves((const char *[]){"a.npy"}, 1);
}

Test(io, npy__what_is_no_array__is_refused_and_leaves_nothing) {
  rs_array array;
  rs_err few = {0}, deep = {0}, none = {0};
  enter_scratch();
  make_npy("a.npy", 1, NPY("<f4", "False", "(2, 2)"), "abcd", 4);
  cr_assert_eq(rs_npy_read("a.npy", &array, &few), RS_INPUT);
  cr_expect_str_eq(few.message, "a.npy: holds 4 bytes of numbers where its header says 16 (is it cut off?)");
  cr_expect(array.numbers == NULL && array.rank == 0);
  make_npy("a.npy", 1, NPY("|u1", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "a", 1);
  cr_assert_eq(rs_npy_read("a.npy", &array, &deep), RS_INPUT);
  cr_expect_str_eq(deep.message, "a.npy: the header's shape has more than 8 axes");
  cr_assert_eq(rs_npy_read("b.npy", &array, &none), RS_IO);
  cr_expect_str_eq(none.message, "b.npy: cannot read: No such file or directory");
  leaves((const char *[]){"a.npy"}, 1);
}

Test(io, npy__odd_headers__are_read_or_refused) {
  static const struct {
    const char *header, *message; /* NULL: it is read, */
    bool described;               /* also where it is */
  } cases[] = {
      {NPY("f4", "False", "(1,)"), NULL, true},
      {NPY("=f4", "False", "(1,)"), NULL, true},
      {NPY("<f4", "False", "(1,)"), NULL, true},
      {NPY(">f4", "False", "(1,)"), NULL, false},
      {NPY(">i1", "False", "(4,)"), NULL, true},
      {NPY("", "False", "(1,)"), "a.npy: holds records, not numbers (save one array of numbers)", false},
      {NPY("<f4", "False", "(2305843009213693952,)"), "a.npy: the header's shape is too large", false},
      {NPY("<f4", "False", "(2305843009213693951,)"), "a.npy: is cut off: its header promises more than it holds",
       false},
      {NPY("<f4", "False", "(4294967296, 4294967296)"), "a.npy: the header's shape is too large", false},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_array array;
    rs_mapping mapping;
    rs_stored_tensor tensor;
    rs_err err = {0}, there = {0};
    make_npy("a.npy", 1, cases[i].header, "\0\0\x80\x3f", 4);
    cr_expect_eq(rs_npy_read("a.npy", &array, &err), cases[i].message == NULL ? RS_OK : RS_INPUT, "case %zu", i);
    cr_expect_str_eq(err.message, cases[i].message == NULL ? "" : cases[i].message);
    rs_array_clear(&array);
    cr_assert_eq(rs_file_map("a.npy", &mapping, NULL), RS_OK);
    rs_status status = rs_npy_describe(&mapping, "a.npy", &tensor, &there);
    cr_expect_eq(status, cases[i].described ? RS_OK : RS_INPUT, "case %zu: %s", i, there.message);
    if (i == 3)
      cr_expect_str_eq(there.message, "a.npy: holds big-endian numbers, which are not read where they are (save "
                                      "x.astype('<f4') of it)");
    if (cases[i].described) cr_expect_eq(tensor.count, i == 4 ? 4 : 1);
    rs_file_unmap(&mapping);
  }
  leaves((const char *[]){"a.npy"}, 1);
}

/* More than is read of a config; a hole of zeros takes no place on the disk. */
Test(io, npy__larger_than_64_mib__is_read) {
  enum { COUNT = (RS_LARGEST_FILE >> 3) + 3 };
  rs_array array;
  rs_err err = {0};
  enter_scratch();
  char header[128];
  snprintf(header, sizeof header, NPY("<f8", "False", "(%d,)"), COUNT);
  make_npy("a.npy", 1, header, "", 0);
  FILE *file = fopen("a.npy", "r+b");
  cr_assert_not_null(file);
  cr_assert_eq(fseek(file, 8L * (COUNT - 1), SEEK_END), 0);
  cr_assert_eq(fwrite("\0\0\0\0\0\0\xf0\x3f", 1, 8, file), 8);
  fclose(file);
  cr_assert_eq(rs_npy_read("a.npy", &array, &err), RS_OK, "%s", err.message);
  cr_expect(array.count == COUNT && array.numbers[0] == 0 && array.numbers[COUNT - 1] == 1);
  rs_array_clear(&array);
  leaves((const char *[]){"a.npy"}, 1);
}

static void read_whole(const char *path, char **data, size_t *length) {
  rs_err err = {0};
  cr_assert_eq(rs_file_read(path, RS_LARGEST_FILE, data, length, &err), RS_OK, "%s", err.message);
}

/* NumPy's own file, read and written again. */
Test(io, npy_write__what_numpy_wrote__same_bytes) {
  const char *path = model_path("gpt2/logits.npy");
  char *theirs, *ours;
  size_t wanted, length;
  rs_array array;
  rs_err err = {0};
  enter_scratch();
  cr_assert_eq(rs_npy_read(path, &array, &err), RS_OK, "%s", err.message);
  cr_expect(array.rank == 3 && array.shape[0] == 1 && array.shape[1] == 64 && array.shape[2] == 97);
  cr_assert_eq(rs_npy_write("a.npy", &array, true, &err), RS_OK, "%s", err.message);
  read_whole(path, &theirs, &wanted);
  read_whole("a.npy", &ours, &length);
  cr_expect_eq(length, wanted);
  cr_expect_eq(memcmp(ours, theirs, wanted), 0);
  rs_array_clear(&array);
  free(ours);
  free(theirs);
  leaves((const char *[]){"a.npy"}, 1);
}

/* More numbers than are put at once; as floats they are rounded. */
Test(io, npy_write__floats__read_back_rounded) {
  enum { COUNT = 20000 };
  rs_array array = {.rank = 1, .shape = {COUNT}, .count = COUNT}, back;
  rs_err err = {0};
  array.numbers = malloc(COUNT * sizeof *array.numbers);
  for (size_t i = 0; i < COUNT; i++) array.numbers[i] = 0.1 * (double)i - 7;
  enter_scratch();
  cr_assert_eq(rs_npy_write("a.npy", &array, false, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_npy_read("a.npy", &back, &err), RS_OK, "%s", err.message);
  cr_assert(back.rank == 1 && back.count == COUNT);
  for (size_t i = 0; i < COUNT; i++) cr_assert(back.numbers[i] == (double)(float)array.numbers[i], "number %zu", i);
  rs_array_clear(&back);
  rs_array_clear(&array);
  leaves((const char *[]){"a.npy"}, 1);
}

Test(npy, name__is_told_by_its_end) {
  cr_expect(rs_is_npy(".npy") && rs_is_npy("a/k.npy") && !rs_is_npy("k.npz") && !rs_is_npy("npy.k"));
  cr_expect_not(rs_is_npy(&".npy"[1]), "what stands before a name is none of it");
}
