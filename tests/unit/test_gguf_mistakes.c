/* test_gguf_mistakes.c: what is no file of GGUF, and what it is told. Messages are compared whole. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fixtures/gguf_files.h"
#include "../fixtures/scratch.h"
#include "../fixtures/trees.h"

static void expect_refused(rs_text *file, rs_status status, const char *message) {
  g_write("m", file);
  refuses_gguf("m", status, message);
}

Test(gguf, what_is_no_file__is_refused) {
  enter_scratch();
  cr_assert_eq(mkfifo("p", 0666), 0);
  cr_assert_eq(mkdir("d", 0777), 0);
  put_bytes("e", "", 0);
  put_bytes("short", "GGU", 3);
  refuses_gguf("n", RS_IO, "n: cannot read: No such file or directory");
  refuses_gguf("p", RS_IO, "p: cannot read: a pipe or device, not a regular file");
  refuses_gguf("/dev/null", RS_IO, "/dev/null: cannot read: a pipe or device, not a regular file");
  refuses_gguf("d", RS_IO, "d: cannot read: a directory, not a regular file");
  refuses_gguf("e", RS_INPUT, "e: is empty (was a download broken off?)");
  refuses_gguf("short", RS_INPUT, "short: is no GGUF file: it does not begin with GGUF");
  static const char *const none[] = {"n", "p", "d", "e", "short", "/dev/null"};
  for (size_t i = 0; i < RS_COUNT(none); i++) cr_expect_not(rs_gguf_is(none[i]), "%s", none[i]);
  int pipe = open("p", O_RDWR);
  cr_assert_eq(write(pipe, "GGUF", 4), 4);
  cr_expect_not(rs_gguf_is("p"), "what a pipe holds is another reader's");
  close(pipe);
  put_bytes("four", "GGUF", 4);
  cr_expect(rs_gguf_is("four"));
  leaves((const char *[]){"p", "d", "e", "short", "four"}, 5);
}

Test(gguf, first_bytes__are_checked) {
#define CUT(subject, what, wanted, left)                                                                               \
  "m: " subject ": " what " takes " wanted " bytes, the file ends after " left " (was a download broken off?)"
  static const struct {
    const char *bytes;
    size_t size;
    rs_status status;
    const char *message;
  } cases[] = {
      {"GGML\3\0\0\0", 8, RS_INPUT, "m: is no GGUF file: it does not begin with GGUF"},
      {"FUGG\0\0\0\3", 8, RS_INPUT, "m: is no GGUF file: it does not begin with GGUF"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4\n", 64, RS_INPUT,
       "m: is a pointer of Git LFS, not the file itself (git lfs pull fetches it)"},
      {"GGUF", 4, RS_INPUT, CUT("header", "the version", "4", "0")},
      {"GGUF\3\0\0", 7, RS_INPUT, CUT("header", "the version", "4", "3")},
      {"GGUF\3\0\0\0\1", 9, RS_INPUT, CUT("header", "the number of tensors", "8", "1")},
      {"GGUF\3\0\0\0\1\0\0\0\0\0\0\0", 16, RS_INPUT, CUT("header", "the number of keys", "8", "0")},
      {"GGUF\0\0\0\0", 8, RS_UNSUPPORTED, "m: is a GGUF file of version 0, versions 2 and 3 are read"},
      {"GGUF\1\0\0\0", 8, RS_UNSUPPORTED,
       "m: is a GGUF file of version 1, versions 2 and 3 are read (convert the model again)"},
      {"GGUF\4\0\0\0", 8, RS_UNSUPPORTED, "m: is a GGUF file of version 4, versions 2 and 3 are read"},
      {"GGUF\0\1\0\0", 8, RS_UNSUPPORTED, "m: is a GGUF file of version 256, versions 2 and 3 are read"},
      {"GGUF\0\0\0\1", 8, RS_UNSUPPORTED, "m: is a GGUF file of version 16777216, versions 2 and 3 are read"},
      {"GGUF\0\0\3\0", 8, RS_UNSUPPORTED, "m: is a GGUF file of version 196608, versions 2 and 3 are read"},
      {"GGUF\0\0\0\3", 8, RS_UNSUPPORTED,
       "m: is a GGUF file in big-endian, little-endian is read (convert the model again)"},
      {"GGUF\0\0\0\2", 8, RS_UNSUPPORTED,
       "m: is a GGUF file in big-endian, little-endian is read (convert the model again)"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    put_bytes("m", cases[i].bytes, cases[i].size);
    refuses_gguf("m", cases[i].status, cases[i].message);
  }
  leaves((const char *[]){"m"}, 1);
}

Test(gguf, numbers_of_things__are_checked) {
  static const struct {
    uint64_t tensors, keys;
    const char *message;
  } cases[] = {
      {0, 1, "m: header: promises 1 keys, the file ends after 0 bytes"},
      {0, 1ULL << 63, "m: header: promises 9223372036854775808 keys, the file ends after 0 bytes"},
      {0, UINT64_MAX, "m: header: promises 18446744073709551615 keys, the file ends after 0 bytes"},
      {1, 0, "m: tensors: 1 are promised, the file ends after 0 bytes"},
      {1ULL << 63, 0, "m: tensors: 9223372036854775808 are promised, the file ends after 0 bytes"},
      {UINT64_MAX, 0, "m: tensors: 18446744073709551615 are promised, the file ends after 0 bytes"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text file = {0};
    g_header(&file, 3, cases[i].tensors, cases[i].keys);
    expect_refused(&file, RS_INPUT, cases[i].message);
  }
  rs_text file = {0};
  g_header(&file, 3, 500001, 0);
  g_data(&file, 1, (size_t)500001 * 25);
  expect_refused(&file, RS_INPUT, "m: tensors: 500001 are promised, at most 500000 are read");
  leaves((const char *[]){"m"}, 1);
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

/* One key, with bytes (size,) behind its type, and room for what is promised. */
typedef struct value_case {
  const char *key;
  uint32_t type;
  const char *bytes;
  size_t size;
  const char *message;
} value_case;

Test(gguf, values__are_checked) {
#define X8 "\xff\xff\xff\xff\xff\xff\xff\xff"
#define ZERO7 "\0\0\0\0\0\0\0"
  static const value_case cases[] = {
      {"a.b", G_NO_TYPE, "", 0, "m: a.b: its type is 13, known are 0 to 12 (is the file damaged?)"},
      {"a.b", UINT32_MAX, "", 0, "m: a.b: its type is 4294967295, known are 0 to 12 (is the file damaged?)"},
      {"a.b", G_BOOL, "\2", 1, "m: a.b: a truth value is 2, it must be 0 or 1"},
      {"a.b", G_U32, "\1\2\3", 3, CUT("a.b", "its value", "4", "3")},
      {"a.b", G_F64, "\1\2\3", 3, CUT("a.b", "its value", "8", "3")},
      {"a.b", G_STRING, "\1\2\3", 3, CUT("a.b", "its text", "8", "3")},
      {"a.b", G_STRING, "\4" ZERO7 "abc", 11, CUT("a.b", "its text", "4", "3")},
      {"a.b", G_STRING, X8 "abc", 11, CUT("a.b", "its text", "18446744073709551615", "3")},
      {"a.b", G_STRING, "\3" ZERO7 "a\0c", 11, "m: a.b: its text has a NUL character, which no text can hold"},
      {"a.b", G_STRING,
       "\3" ZERO7 "a\xff"
       "c",
       11, "m: a.b: its text is no UTF-8 at its byte 1"},
      {"a.b", G_STRING, "\2" ZERO7 "a\xc3", 10, "m: a.b: its text is no UTF-8 at its byte 1"},
      {"a.b", G_ARRAY, "\4\0\0", 3, CUT("a.b", "the type of its elements", "4", "3")},
      {"a.b", G_ARRAY, "\4\0\0\0\1", 5, CUT("a.b", "the number of its elements", "8", "1")},
      {"a.b", G_ARRAY, "\15\0\0\0\1" ZERO7, 12,
       "m: a.b: the type of its elements is 13, known are 0 to 12 (is the file damaged?)"},
      {"a.b", G_ARRAY, "\11\0\0\0\1" ZERO7 "\4\0\0\0\0" ZERO7, 24,
       "m: a.b: is an array of arrays, which llama.cpp does not read either"},
      {"a.b", G_ARRAY, "\4\0\0\0\2" ZERO7 "abcdefg", 19,
       "m: a.b: promises 2 elements of 4 bytes, the file ends after 7 bytes"},
      {"a.b", G_ARRAY, "\4\0\0\0" X8 "abcdefg", 19,
       "m: a.b: promises 18446744073709551615 elements of 4 bytes, the file ends after 7 bytes"},
      {"a.b", G_ARRAY,
       "\4\0\0\0" ZERO7 "\x40"
       "abcdefgh",
       20, /* times 4 it is 2^64 */
       "m: a.b: promises 4611686018427387904 elements of 4 bytes, the file ends after 8 bytes"},
      {"a.b", G_ARRAY, "\10\0\0\0\2" ZERO7 "\1" ZERO7 "x\1" ZERO7, 29, CUT("a.b", "its text", "1", "0")},
      {"a.b", G_ARRAY, "\7\0\0\0\2" ZERO7 "\1\3", 14, "m: a.b: a truth value is 3, it must be 0 or 1"},
      /* What is not kept is checked as well. */
      {"tokenizer.x", G_ARRAY, "\7\0\0\0\2" ZERO7 "\1\3", 14, "m: tokenizer.x: a truth value is 3, it must be 0 or 1"},
      {"tokenizer.x", G_ARRAY, "\11\0\0\0\1" ZERO7 "\4\0\0\0\0" ZERO7, 24,
       "m: tokenizer.x: is an array of arrays, which llama.cpp does not read either"},
      {"tokenizer.x", G_ARRAY, "\10\0\0\0\2" ZERO7 "\1" ZERO7 "x" X8, 29,
       CUT("tokenizer.x", "its text", "18446744073709551615", "0")},
      {"tokenizer.x", G_ARRAY, "\10\0\0\0" X8 "abcdefg", 19,
       "m: tokenizer.x: promises 18446744073709551615 elements of 8 bytes, the file ends after 7 bytes"},
      {"general.alignment", G_U32, "\0\0\0\0", 4, "m: general.alignment: is 0, it must be a power of two"},
      {"general.alignment", G_U32, "\60\0\0\0", 4, "m: general.alignment: is 48, it must be a power of two"},
      {"general.alignment", G_U64, "\40" ZERO7, 8,
       "m: general.alignment: is of type 10, it must be of type 4, a whole number of 32 bits"},
      {"general.alignment", G_STRING, "\2" ZERO7 "32", 10,
       "m: general.alignment: is of type 8, it must be of type 4, a whole number of 32 bits"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text file = {0};
    g_header(&file, 3, 0, 1);
    g_key(&file, cases[i].key, cases[i].type);
    rs_text_add(&file, cases[i].bytes, cases[i].size);
    expect_refused(&file, RS_INPUT, cases[i].message);
  }
  leaves((const char *[]){"m"}, 1);
}

Test(gguf, names_of_keys__are_checked) {
  static const struct {
    const char *name;
    size_t size;
    uint64_t promised;
    const char *message;
  } cases[] = {
      {"", 0, 0, "m: key 2 of 2: its name has 0 bytes, it must have 1 to 65535"},
      {"ab", 2, 3, CUT("key 2 of 2", "its name", "100", "36")},
      {"ab", 2, 1ULL << 63, CUT("key 2 of 2", "its name", "9223372036854775808", "36")},
      {"a\0b", 3, 3, "m: key 2 of 2: its name has a NUL character, which no text can hold"},
      {"a\xff", 2, 2, "m: key 2 of 2: its name is no UTF-8 at its byte 1"},
      {"a\xe2\x82", 3, 3, "m: key 2 of 2: its name is no UTF-8 at its byte 1"},
      {"first", 5, 5, "m: first: is there twice"},
  };
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text file = {0};
    g_header(&file, 3, 0, 2);
    g_u32(&file, "first", 1);
    bool cut = cases[i].promised > cases[i].size;
    g_number(&file, 8, cut && cases[i].promised == 3 ? 100 : cases[i].promised);
    rs_text_add(&file, cases[i].name, cases[i].size);
    g_number(&file, 4, G_U16);
    g_number(&file, 2, 7);
    if (cut) g_data(&file, 1, 28);
    expect_refused(&file, RS_INPUT, cases[i].message);
  }
  leaves((const char *[]){"m"}, 1);
}

/* One byte more than a name may have, and a name of as many as it may. */
Test(gguf, longest_names__are_read) {
  static char name[65537];
  memset(name, 'k', 65536);
  enter_scratch();
  for (int longer = 0; longer < 2; longer++) {
    rs_text file = {0};
    g_header(&file, 3, 0, 1);
    g_u32(&file, name + !longer, 1);
    g_write("m", &file);
    if (longer == 1) {
      refuses_gguf("m", RS_INPUT, "m: key 1 of 1: its name has 65536 bytes, it must have 1 to 65535");
    } else {
      rs_gguf *gguf = open_gguf("m");
      cr_expect_str_eq(rs_gguf_metadata(gguf)->items[0].key, name + 1);
      rs_gguf_close(gguf);
    }
  }
  leaves((const char *[]){"m"}, 1);
}

/* Keys that take the fewest bytes, up to the end of the file. */
Test(gguf, shortest_keys__are_read) {
  enter_scratch();
  rs_text file = {0};
  g_header(&file, 3, 0, 20);
  for (char name[] = "a"; *name < 'a' + 20; ++*name) {
    g_key(&file, name, G_U8);
    g_number(&file, 1, (unsigned char)*name);
  }
  g_write("m", &file);
  rs_gguf *gguf = open_gguf("m");
  cr_expect_str_eq(rs_node_get(rs_gguf_metadata(gguf), "t")->text, "116");
  rs_gguf_close(gguf);
  leaves((const char *[]){"m"}, 1);
}

/* A key may be the beginning of another. */
Test(gguf, keys_that_differ_in_length__are_two) {
  enter_scratch();
  rs_text file = {0};
  g_header(&file, 3, 0, 3);
  g_u32(&file, "ab", 2);
  g_u32(&file, "a", 1);
  g_u32(&file, "abc", 3);
  g_write("m", &file);
  rs_gguf *gguf = open_gguf("m");
  cr_expect_str_eq(rs_node_get(rs_gguf_metadata(gguf), "a")->text, "1");
  cr_expect_eq(rs_gguf_metadata(gguf)->count, 3);
  rs_gguf_close(gguf);
  leaves((const char *[]){"m"}, 1);
}

/* Keys that are there twice need not be neighbours, nor be of one type, nor be kept. */
Test(gguf, keys_that_are_there_twice__are_refused) {
  static const char *const names[] = {"b", "tokenizer.a", "ab"};
  enter_scratch();
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    char message[64];
    rs_text file = {0};
    g_header(&file, 3, 0, 4);
    g_u32(&file, "b", 1);
    g_array(&file, "tokenizer.a", G_U8, 0);
    g_string(&file, "ab", "b");
    g_array(&file, names[i], G_U8, 0);
    snprintf(message, sizeof message, "m: %s: is there twice", names[i]);
    expect_refused(&file, RS_INPUT, message);
  }
  leaves((const char *[]){"m"}, 1);
}

Test(gguf, parts_of_split_models__are_refused) {
  enter_scratch();
  for (int parts = 0; parts < 4; parts++) {
    rs_text file = {0};
    g_header(&file, 3, 0, 2);
    g_key(&file, "split.no", G_U16);
    g_number(&file, 2, 1);
    g_key(&file, "split.count", G_U16);
    g_number(&file, 2, (uint64_t)parts);
    g_write("m", &file);
    if (parts < 2)
      rs_gguf_close(open_gguf("m"));
    else
      refuses_gguf("m", RS_UNSUPPORTED,
                   parts == 2 ? "m: is part 2 of 2 of a split model, which is not read (llama-gguf-split --merge joins "
                                "them)"
                              : "m: is part 2 of 3 of a split model, which is not read (llama-gguf-split --merge joins "
                                "them)");
  }
  leaves((const char *[]){"m"}, 1);
}
