/* test_numbers.c: files of numbers. Messages are compared whole, since they are what a user sees. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/npy.h"
#include "../fixtures/scratch.h"
#include "io/io.h"

/* The bytes are worked out by hand from IEEE 754 and two's complement. */
Test(io, numbers_npy__every_type_and_byte_order__gives_the_numbers) {
  static const struct {
    const char *header, *data;
    size_t size, count;
    double numbers[4];
    int version;
  } cases[] = {
      {NPY("<f8", "False", "(2,)"), "\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\xc0", 16, 2, {1.5, -2}, 1},
      {NPY(">f8", "False", "(1,)"), "\x3f\xf8\0\0\0\0\0\0", 8, 1, {1.5}, 2},
      {NPY("<f4", "False", "(2,)"), "\0\0\x80\x3e\xcd\xcc\xcc\x3d", 8, 2, {0.25, (double)0.1f}, 3},
      {NPY(">f4", "False", "(1,)"), "\xbf\0\0\0", 4, 1, {-0.5}, 1},
      {NPY("<f2", "False", "(4,)"), "\0\x3e\x01\0\0\x84\xff\x7b", 8, 4, {1.5, 0x1p-24, -0x1p-14, 65504}, 1},
      {NPY(">f2", "False", "(1,)"), "\xc0\x01", 2, 1, {-2 - 0x1p-9}, 1},
      {NPY("<i8", "False", "(2,)"), "\xfe\xff\xff\xff\xff\xff\xff\xff\x01\x01\0\0\0\0\0\0", 16, 2, {-2, 257}, 1},
      {NPY(">i4", "False", "(2,)"), "\x80\0\0\0\0\0\x01\0", 8, 2, {-2147483648.0, 256}, 1},
      {NPY("<i2", "False", "(1,)"), "\xfe\xff", 2, 1, {-2}, 1},
      {NPY("|i1", "False", "(2,)"), "\x80\x7f", 2, 2, {-128, 127}, 1},
      {NPY("|u1", "False", "(2,)"), "\x80\x7f", 2, 2, {128, 127}, 1},
      {NPY(">u2", "False", "(1,)"), "\xff\xfe", 2, 1, {65534}, 1},
      {NPY("|b1", "False", "(3,)"), "\x01\0\x01", 3, 3, {1, 0, 1}, 1},
      {NPY("|u1", "False", "(2, 2)"), "\1\2\3\4", 4, 4, {1, 2, 3, 4}, 1},
      {NPY("|u1", "True", "(1, 3)"), "\1\2\3", 3, 3, {1, 2, 3}, 1},
      {NPY("|u1", "False", "()"), "\7", 1, 1, {7}, 1},
      {"{\"x\": 0, 'shape':(2,),'fortran_order':False,'descr':'<i2'}", "\1\0\2\0", 4, 2, {1, 2}, 1},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double *list;
    size_t count;
    rs_err err = {0};
    make_npy("n.npy", cases[i].version, cases[i].header, cases[i].data, cases[i].size);
    cr_assert_eq(rs_numbers_read("n.npy", &list, &count, &err), RS_OK, "%s: %s", cases[i].header, err.message);
    cr_assert_eq(count, cases[i].count, "%s: %zu", cases[i].header, count);
    for (size_t k = 0; k < count; k++)
      cr_assert(list[k] == cases[i].numbers[k], "%s: number %zu is %.17g", cases[i].header, k, list[k]);
    free(list);
  }
  leaves((const char *[]){"n.npy"}, 1);
}

/* The header's length has two bytes, or four. */
Test(io, numbers_npy__long_headers__are_read_to_their_end) {
  static const struct {
    size_t spaces;
    int version;
  } cases[] = {{100, 1}, {300, 1}, {300, 2}, {70000, 2}};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text header = {0};
    double *list;
    size_t count;
    rs_err err = {0};
    rs_text_puts(&header, "{'descr': '|u1', 'fortran_order': False, ");
    for (size_t k = 0; k < cases[i].spaces; k++) rs_text_puts(&header, " ");
    rs_text_puts(&header, "'shape': (2,)}");
    make_npy("n.npy", cases[i].version, header.data, "\5\6", 2);
    cr_assert_eq(rs_numbers_read("n.npy", &list, &count, &err), RS_OK, "case %zu: %s", i, err.message);
    cr_assert(count == 2 && list[0] == 5 && list[1] == 6, "case %zu", i);
    free(list);
    rs_text_clear(&header);
  }
  leaves((const char *[]){"n.npy"}, 1);
}

static void expect_no_numbers(const char *path, const char *message) {
  double *list = (double *)&path;
  size_t count = 99;
  rs_err err = {0};
  cr_expect_eq(rs_numbers_read(path, &list, &count, &err), RS_INPUT, "%s was accepted, not %s", path, message);
  cr_expect_str_eq(err.message, message);
  cr_expect(list == NULL && count == 0, "%s: %s left something", path, message);
}

Test(io, numbers_npy__what_it_cannot_hold__is_refused) {
  static const struct {
    const char *header, *data;
    size_t size;
    const char *message;
    int version;
  } cases[] = {
      {NPY("<f8", "False", "(2,)"), "\0\0\0\0\0\0\xf8\x3f", 8,
       "n.npy: holds 8 bytes of numbers where its header says 16 (is it cut off?)", 1},
      {NPY("|u1", "False", "(1,)"), "ab", 2, "n.npy: holds 2 bytes of numbers where its header says 1 (is it cut off?)",
       1},
      {NPY("<f8", "False", "(2,)"), "", 0, "n.npy: holds 0 bytes of numbers where its header says 16 (is it cut off?)",
       1},
      {NPY("<f8", "False", "(99999999999,)"), "", 0, "n.npy: is cut off: its header promises more than it holds", 1},
      {NPY("<f8", "False", "(99999999999, 99999999999)"), "", 0, "n.npy: the header's shape is too large", 1},
      {NPY("<f8", "False", "(0,)"), "", 0, "n.npy: holds no numbers", 1},
      {NPY("<f8", "False", "(-1,)"), "", 0, "n.npy: the header's shape is no list of whole numbers", 1},
      {NPY("<f8", "False", "(x,)"), "", 0, "n.npy: the header's shape is no list of whole numbers", 1},
      {NPY("|u1", "True", "(2, 2)"), "abcd", 4,
       "n.npy: is stored column by column (save numpy.ascontiguousarray of it)", 1},
      {NPY("<c8", "False", "(1,)"), "abcdefgh", 8,
       "n.npy: holds numbers of type <c8, which is not read here (save them as f4 or f8)", 1},
      {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", "abcdefgh", 8,
       "n.npy: holds records, not numbers (save one array of numbers)", 1},
      {"{'fortran_order': False, 'shape': (1,)}", "", 0, "n.npy: the header names no type (descr)", 1},
      {"{'descr': '<f8', 'fortran_order': False}", "", 0, "n.npy: the header names no shape", 1},
      {"{'descr': '|u1', 'shape': (1,)}", "a", 1, "n.npy: the header does not name the order (fortran_order)", 1},
      {NPY("<f4", "False", "(2,)"), "\0\0\x80\x3f\0\0\xc0\x7f", 8, "n.npy: number 1 is not finite", 1},
      {NPY("<f2", "False", "(1,)"), "\0\x7c", 2, "n.npy: number 0 is not finite", 1},
      {NPY("<f2", "False", "(1,)"), "\x01\x7c", 2, "n.npy: number 0 is not finite", 1},
      {NPY("<i8", "False", "(1,)"), "\1\0\0\0\0\0\0\x40", 8, "n.npy: number 0 is beyond 2^53", 1},
      {NPY("|u1", "False", "(1,)"), "a", 1, "n.npy: has .npy version 4, known are 1 to 3", 4},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    make_npy("n.npy", cases[i].version, cases[i].header, cases[i].data, cases[i].size);
    expect_no_numbers("n.npy", cases[i].message);
  }
  static const struct {
    const char *data, *message;
    size_t size;
  } broken[] = {{"\x93NUMPX\1\0\0\0", "n.npy: is no .npy file", 10},
                {"\x93NUMPY\1\0\0", "n.npy: is no .npy file", 9},
                {"\x93NUMPY\1\0\1\0", "n.npy: is cut off within the header", 10},
                {"\x93NUMPY\2\0\0\0", "n.npy: is cut off within the header", 10},
                {"\x93NUMPY\2\0\0\0\1\0", "n.npy: is cut off within the header", 12}};
  for (size_t i = 0; i < RS_COUNT(broken); i++) {
    cr_assert_eq(rs_file_write("n.npy", broken[i].data, broken[i].size, NULL), RS_OK);
    expect_no_numbers("n.npy", broken[i].message);
  }
  leaves((const char *[]){"n.npy"}, 1);
}

Test(io, numbers_text__json_and_csv__gives_the_numbers_or_why_not) {
  static const struct {
    const char *file, *text, *message; /* NULL: 1, 2.5 */
  } cases[] = {
      {"n.json", "[1, 2.5]", NULL},
      {"n.json", "{\"a\": 3, \"factors\": [1, 2.5], \"b\": {}}", NULL},
      {"n.json", "{\"other\": [3], \"inv_freq\": [1, 2.5], \"more\": [7]}", NULL},
      {"n.json", "{\"a\": [1], \"b\": [2]}", "n.json: holds 2 lists (call the right one inv_freq)"},
      {"n.json", "{\"a\": 1}", "n.json: must be a list of numbers, or an object with one (inv_freq)"},
      {"n.json", "7", "n.json: must be a list of numbers, or an object with one (inv_freq)"},
      {"n.json", "[]", "n.json: holds no numbers"},
      {"n.json", "[1, \"2\"]", "n.json: entry 1 is no number"},
      {"n.json", "[1, null]", "n.json: entry 1 is no number"},
      {"n.json", "[[1], 2]", "n.json: entry 0 is no number (the list must be flat)"},
      {"n.csv", "pair,inv_freq\n0,1\n1,2.5\n", NULL},
      {"n.csv", "omega_rad_per_token,amp\n1,3\n2.5,3\n", NULL},
      {"n.csv", "value,inv_freq,x\n9,1,9\n9,2.5,9\n", NULL},
      {"n.csv", "i,value\n0,1\n1,2.5\n", NULL},
      {"n.csv", "axis,w\nt,1\nh,2.5\n", NULL},
      {"n.csv", "w,axis\n1,t\n2.5,h\n", NULL},
      {"n.csv", "w\n1\n2.5\n", NULL},
      {"n.csv", "i,w\n0,1\n", "n.csv:1: 2 columns hold numbers alone (call the right one inv_freq or value)"},
      {"n.csv", "a,b\nx,y\n", "n.csv:1: 0 columns hold numbers alone (call the right one inv_freq or value)"},
      {"n.csv", "w\n1\ntwo\n", "n.csv:3: \"two\" is no number"},
      {"n.csv", "i,inv_freq\n0,1\n1,\n", "n.csv:3: \"\" is no number"},
      {"n.csv", "inv_freq\n1\nnan\n", "n.csv:3: \"nan\" is no number"},
      {"n.csv", "inv_freq\ninf\n", "n.csv:2: \"inf\" is no number"},
      {"n.csv", "0.5\n1\n2\n", "n.csv:1: the first line is a number (it must name the column: any name will do)"},
      {"n.csv", "inv_freq\n", "n.csv: holds no numbers"},
      {"n.csv", "a,b\n1\n", "n.csv:2: 1 field where the header has 2"},
      {"n.txt", "1\n", "n.txt: is no file of numbers (.npy, .json or .csv)"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    double *list;
    size_t count;
    rs_err err = {0};
    cr_assert_eq(rs_file_write(cases[i].file, cases[i].text, strlen(cases[i].text), NULL), RS_OK);
    cr_expect_eq(rs_numbers_named(cases[i].file), strcmp(cases[i].file, "n.txt") != 0);
    if (cases[i].message != NULL) {
      expect_no_numbers(cases[i].file, cases[i].message);
      continue;
    }
    cr_assert_eq(rs_numbers_read(cases[i].file, &list, &count, &err), RS_OK, "%s: %s", cases[i].text, err.message);
    cr_assert(count == 2 && list[0] == 1 && list[1] == 2.5, "%s: %zu numbers, %g", cases[i].text, count, list[0]);
    free(list);
  }
  double *list;
  size_t count;
  rs_err err = {0};
  cr_assert_eq(rs_numbers_read("m.npy", &list, &count, &err), RS_IO);
  cr_assert_str_eq(err.message, "m.npy: cannot read: No such file or directory");
  cr_assert(!rs_numbers_named(".npy") && !rs_numbers_named("npy") && !rs_numbers_named("") &&
            !rs_numbers_named("a.jsonx"));
  leaves((const char *[]){"n.json", "n.csv", "n.txt"}, 3);
}
