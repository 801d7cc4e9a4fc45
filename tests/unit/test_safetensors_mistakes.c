/* test_safetensors_mistakes.c: what is no file of safetensors, and what it is told. Messages are compared whole. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../fixtures/scratch.h"
#include "../fixtures/tensor_files.h"
#include "../fixtures/trees.h"

Test(safetensors, what_is_no_file__is_refused) {
  enter_scratch();
  cr_assert_eq(mkfifo("p", 0666), 0);
  cr_assert_eq(mkdir("d", 0777), 0);
  put_bytes("e", "", 0);
  refuses_tensors("n", RS_IO, "n: cannot read: No such file or directory");
  refuses_tensors("p", RS_IO, "p: cannot read: a pipe or device, not a regular file");
  refuses_tensors("/dev/null", RS_IO, "/dev/null: cannot read: a pipe or device, not a regular file");
  refuses_tensors("d", RS_IO, "d: cannot read: a directory, not a regular file");
  refuses_tensors("e", RS_INPUT, "e: is empty (was a download broken off?)");
  leaves((const char *[]){"p", "d", "e"}, 3);
}

Test(safetensors, first_bytes__are_checked) {
#define FIRST "m: is no safetensors file: "
  static const struct {
    const char *bytes;
    size_t size;
    const char *message;
  } cases[] = {
      {"\2\0\0\0\0\0\0", 7, FIRST "has 7 bytes, the header's length alone takes 8"},
      {"\0\0\0\0\0\0\0\0", 8, FIRST "its header does not begin with {"},
      {"\3\0\0\0\0\0\0\0 {}", 11, FIRST "its header does not begin with {"},
      {"\5\0\0\0\0\0\0\0\xEF\xBB\xBF{}", 13, FIRST "its header does not begin with {"},
      {"\3\0\0\0\0\0\0\0{}", 10, "m: is cut off: 3 bytes of header are promised, 2 are there"},
      {"\0\xe1\xf5\x05\0\0\0\0{}", 10, "m: is cut off: 100000000 bytes of header are promised, 2 are there"},
      {"\1\xe1\xf5\x05\0\0\0\0{}", 10,
       FIRST "its first 8 bytes promise a header of 100000001 bytes, at most 100000000 are read"},
      {"\0\0\0\x80\0\0\0\0{}", 10,
       FIRST "its first 8 bytes promise a header of 2147483648 bytes, at most 100000000 are read"},
      {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10,
       FIRST "its first 8 bytes promise a header of 18446744073709551615 bytes, at most 100000000 are read"},
      {"\0\0\0\0\0\0\0\2{}", 10, /* big-endian */
       FIRST "its first 8 bytes promise a header of 144115188075855872 bytes, at most 100000000 are read"},
      {"GGUF\3\0\0\0\0\0", 10, "m: is no safetensors file, but one of GGUF"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4\n", 64,
       "m: is a pointer of Git LFS, not the file itself (git lfs pull fetches it)"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    put_bytes("m", cases[i].bytes, cases[i].size);
    refuses_tensors("m", RS_INPUT, cases[i].message);
  }
  leaves((const char *[]){"m"}, 1);
}

typedef struct mistake {
  const char *header;
  size_t size; /* bytes of data */
  const char *message;
} mistake;

static void expect_mistakes(const mistake *cases, size_t count) {
  static const char zeros[64];
  enter_scratch();
  for (size_t i = 0; i < count; i++) {
    make_tensors("m", cases[i].header, zeros, cases[i].size);
    refuses_tensors("m", RS_INPUT, cases[i].message);
  }
  leaves((const char *[]){"m"}, 1);
}

#define A "m: tensor \"a\": "

Test(safetensors, headers_that_are_no_json__are_refused) {
#define SYNTAX "(JSON wants double quotes, no comments and no comma after the last item)"
  static const mistake cases[] = {
      {"{", 0, "m (header):1:1: string or '}' expected near end of file " SYNTAX},
      {"{} x", 0, "m (header):1:4: end of file expected near 'x' " SYNTAX},
      {"{\"a\xff\":1}", 0, "m (header):1:3: unable to decode byte 0xff near '\"a' (save the file as UTF-8)"},
      {"{\xff}", 0, "m (header):1:1: unable to decode byte 0xff (save the file as UTF-8)"},
      {"{\"a\\u0000b\":1}", 0,
       "m (header):1:11: NUL byte in object key not supported near '\"a\\u0000b\"' (a text cannot hold a NUL "
       "character)"},
      {"{" ENTRY("a", "U8", "[1]", "[0,1]") "," ENTRY("a", "U8", "[1]", "[1,2]") "}", 2,
       "m (header):1:56: duplicate object key near '\"a\"' (keep one of them)"},
      {"{\"a\":{\"shape\":[1],\"shape\":[1]}}", 0,
       "m (header):1:25: duplicate object key near '\"shape\"' (keep one of them)"},
      {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775808],\"data_offsets\":[0,1]}}", 0,
       "m (header):1:47: too big integer near '9223372036854775808' (a double ends at 1.8e308, a whole number at "
       "9223372036854775807)"},
  };
  expect_mistakes(cases, RS_COUNT(cases));
}

Test(safetensors, entries__are_checked) {
#define OFFSETS "data_offsets must be two whole numbers >= 0: begin and end"
  static const mistake cases[] = {
      {"{\"a\":[]}", 0, A "is a list, it must be an object with dtype, shape and data_offsets"},
      {"{\"a\":null}", 0, A "is null, it must be an object with dtype, shape and data_offsets"},
      {"{\"a\":{}}", 0, A "has no dtype"},
      {"{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, A "has no shape"},
      {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, A "has no data_offsets"},
      {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"scale\":2}}", 1,
       A "has a field \"scale\", known are dtype, shape and data_offsets"},
      {"{" ENTRY("a", "float32", "[1]", "[0,4]") "}", 4,
       A "dtype is float32, which is no type of this format (\"F32\", \"BF16\", \"F16\", ...)"},
      {"{" ENTRY("a", "", "[1]", "[0,4]") "}", 4,
       A "dtype is , which is no type of this format (\"F32\", \"BF16\", \"F16\", ...)"},
      {"{\"a\":{\"dtype\":[\"U8\"],\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
       A "dtype is a list, which is no type of this format (\"F32\", \"BF16\", \"F16\", ...)"},
      {"{" ENTRY("a", "U8", "1", "[0,1]") "}", 1, A "shape is 1, it must be a list of whole numbers"},
      {"{" ENTRY("a", "U8", "{\"x\":1}", "[0,1]") "}", 1, A "shape is an object, it must be a list of whole numbers"},
      {"{" ENTRY("a", "U8", "[1,-1]", "[0,1]") "}", 1, A "shape[1] is -1, it must be a whole number >= 0"},
      {"{" ENTRY("a", "U8", "[1.5]", "[0,1]") "}", 1, A "shape[0] is 1.5, it must be a whole number >= 0"},
      {"{" ENTRY("a", "U8", "[\"1\"]", "[0,1]") "}", 1, A "shape[0] is 1, it must be a whole number >= 0"},
      {"{" ENTRY("a", "U8", "[\"\"]", "[0,1]") "}", 1, A "shape[0] is , it must be a whole number >= 0"},
      {"{" ENTRY("a", "U8", "[1e30]", "[0,1]") "}", 1, A "shape[0] is 1e+30, it must be a whole number >= 0"},
      {"{" ENTRY("a", "U8", "[[1]]", "[0,1]") "}", 1, A "shape[0] is a list, it must be a whole number >= 0"},
      {"{" ENTRY("a", "U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]") "}", 1, A "shape has 9 extents, at most 8 are read"},
      {"{" ENTRY("a", "U8", "[4294967296,4294967296]", "[0,1]") "}", 1,
       A "U8 (4294967296, 4294967296) takes more bytes than can be counted, or ends within a byte"},
      {"{" ENTRY("a", "F64", "[2305843009213693952]", "[0,0]") "}", 0,
       A "F64 (2305843009213693952,) takes more bytes than can be counted, or ends within a byte"},
      {"{" ENTRY("a", "F4", "[3]", "[0,1]") "}", 1,
       A "F4 (3,) takes more bytes than can be counted, or ends within a byte"},
      {"{" ENTRY("a", "U8", "[1]", "1") "}", 1, A OFFSETS},
      {"{" ENTRY("a", "U8", "[1]", "[1]") "}", 1, A OFFSETS},
      {"{" ENTRY("a", "U8", "[1]", "[0,1,2]") "}", 1, A OFFSETS},
      {"{" ENTRY("a", "U8", "[1]", "[-1,0]") "}", 1, A OFFSETS},
      {"{" ENTRY("a", "U8", "[1]", "[0,\"1\"]") "}", 1, A OFFSETS},
      {"{" ENTRY("a\\n\\\"", "U8", "[1]", "[0,9]") "}", 1,
       "m: tensor \"a\\n\"\": data_offsets [0, 9] go beyond the data's 1 bytes (is the file cut off?)"},
  };
  expect_mistakes(cases, RS_COUNT(cases));
}

Test(safetensors, places__fill_the_data) {
  static const mistake cases[] = {
      {"{" ENTRY("a", "U8", "[4]", "[4,0]") "}", 4, A "data_offsets [4, 0] end before they begin"},
      {"{" ENTRY("a", "F32", "[2]", "[0,8]") "}", 7,
       A "data_offsets [0, 8] go beyond the data's 7 bytes (is the file cut off?)"},
      {"{" ENTRY("a", "U8", "[0]", "[9223372036854775807,9223372036854775807]") "}", 4,
       A "data_offsets [9223372036854775807, 9223372036854775807] go beyond the data's 4 bytes (is the file cut off?)"},
      {"{" ENTRY("a", "F32", "[2,1]", "[0,4]") "}", 4, A "data_offsets [0, 4] hold 4 bytes, F32 (2, 1) takes 8"},
      {"{" ENTRY("a", "F32", "[]", "[0,8]") "}", 8, A "data_offsets [0, 8] hold 8 bytes, F32 () takes 4"},
      {"{" ENTRY("a", "F32", "[0]", "[0,4]") "}", 4, A "data_offsets [0, 4] hold 4 bytes, F32 (0,) takes 0"},
      {"{" ENTRY("b", "U8", "[4]", "[0,4]") "," ENTRY("a", "U8", "[4]", "[2,6]") "}", 6,
       A "begins at byte 2 of the data, within tensor \"b\", which ends at 4"},
      {"{" ENTRY("b", "U8", "[2]", "[0,2]") "," ENTRY("a", "U8", "[4]", "[0,4]") "}", 4,
       A "begins at byte 0 of the data, within tensor \"b\", which ends at 2"},
      {"{" ENTRY("b", "U8", "[4]", "[0,4]") "," ENTRY("a", "U8", "[0]", "[2,2]") "}", 4,
       A "begins at byte 2 of the data, within tensor \"b\", which ends at 4"},
      {"{" ENTRY("b", "U8", "[4]", "[0,4]") "," ENTRY("a", "U8", "[2]", "[6,8]") "}", 8,
       A "begins at byte 6 of the data, but what is before ends at 4: nobody's bytes"},
      {"{" ENTRY("a", "U8", "[2]", "[1,3]") "}", 3,
       A "begins at byte 1 of the data, but what is before ends at 0: nobody's bytes"},
      {"{" ENTRY("a", "U8", "[2]", "[0,2]") "}", 3, "m: has 3 bytes of data, its tensors end at 2: nobody's bytes"},
      {"{}", 1, "m: has 1 bytes of data, its tensors end at 0: nobody's bytes"},
  };
  expect_mistakes(cases, RS_COUNT(cases));
}

Test(safetensors, metadata__is_a_map_of_strings) {
  static const mistake cases[] = {
      {"{\"__metadata__\":[]}", 0, "m: __metadata__ is a list, it must be a map of strings"},
      {"{\"__metadata__\":null}", 0, "m: __metadata__ is null, it must be a map of strings"},
      {"{\"__metadata__\":{\"step\":3}}", 0, "m: __metadata__: \"step\" is 3, it must be a string"},
      {"{\"__metadata__\":{\"step\":{}}}", 0, "m: __metadata__: \"step\" is an object, it must be a string"},
  };
  expect_mistakes(cases, RS_COUNT(cases));
}

/* No header takes more memory than its limit of values allows. */
Test(safetensors, too_many_values__are_not_even_parsed) {
  enter_scratch();
  char *header = repeat("{\"a\":[[]", ",[]", 4000000, "]}");
  make_tensors("m", header, "", 0);
  refuses_tensors("m", RS_INPUT, "m (header): more than 4000000 values (split the file)");
  free(header);
  leaves((const char *[]){"m"}, 1);
}

Test(safetensors, cut_off_anywhere__is_refused) {
  enter_scratch();
  make_tensors("m",
               "{" ENTRY("a", "F32", "[2]", "[2,10]") "," ENTRY("b", "F16", "[1]", "[0,2]") "," ENTRY("c", "U8", "[0]",
                                                                                                      "[10,10]") "}   ",
               "0123456789", 10);
  char *data;
  size_t length;
  rs_safetensors_free(map_tensors("m"));
  cr_assert_eq(rs_file_read("m", 1000, &data, &length, NULL), RS_OK);
  for (size_t size = 0; size < length; size++) {
    rs_safetensors *checkpoint = NULL;
    rs_err err = {0};
    put_bytes("m", data, size);
    cr_assert_eq(rs_safetensors_map("m", &checkpoint, &err), RS_INPUT, "%zu of %zu bytes", size, length);
    cr_assert_eq(strncmp(err.message, "m", 1), 0, "%s", err.message);
  }
  free(data);
  leaves((const char *[]){"m"}, 1);
}
