/* test_shards.c: checkpoints of several files. Messages are compared whole, since they are what a user sees. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../fixtures/scratch.h"
#include "../fixtures/tensor_files.h"

/* Two shards: s1 holds b and c, s2 holds a. */
static void make_shards(void) {
  make_tensors("s1", "{" ENTRY("c", "U8", "[2]", "[0,2]") "," ENTRY("b", "U8", "[1]", "[2,3]") "}", "123", 3);
  make_tensors("s2", "{" ENTRY("a", "U8", "[1]", "[0,1]") "}", "4", 1);
}

static void make_index(const char *path, const char *text) {
  put_bytes(path, text, strlen(text));
}

#define MAP(entries) "{\"metadata\":{\"total_size\":4},\"weight_map\":{" entries "}}"
#define GOOD "\"a\":\"s2\",\"b\":\"s1\",\"c\":\"s1\""

static void expect_shards(const char *path, const char *s1, const char *s2) {
  const char *const names[] = {"c", "b", "a"}, *const files[] = {s1, s1, s2};
  rs_safetensors *checkpoint = map_tensors(path);
  cr_assert_eq(checkpoint->count, 3);
  for (size_t i = 0; i < 3; i++) {
    cr_expect_str_eq(checkpoint->tensors[i].name, names[i]);
    cr_expect_str_eq(checkpoint->tensors[i].file, files[i]);
    cr_expect_eq(rs_safetensors_find(checkpoint, names[i]), &checkpoint->tensors[i]);
  }
  cr_expect_eq(memcmp(checkpoint->tensors[0].data, "12", 2), 0);
  cr_expect_eq(checkpoint->tensors[1].data[0], '3');
  cr_expect_eq(checkpoint->tensors[2].data[0], '4');
  rs_safetensors_free(checkpoint);
}

Test(shards, index__its_files_become_one_checkpoint) {
  enter_scratch();
  make_shards();
  make_index("i.json", MAP(GOOD));
  expect_shards("i.json", "s1", "s2");
  expect_shards("./i.json", "./s1", "./s2");
  char path[64], s1[64], s2[64];
  snprintf(path, sizeof path, "%s/i.json", scratch);
  snprintf(s1, sizeof s1, "%s/s1", scratch);
  snprintf(s2, sizeof s2, "%s/s2", scratch);
  cr_assert_eq(mkdir("d", 0777), 0);
  expect_shards("d/../i.json", "d/../s1", "d/../s2");
  expect_shards(path, s1, s2);
  leaves((const char *[]){"i.json", "s1", "s2", "d"}, 4);
}

Test(shards, index__what_does_not_fit__is_refused) {
#define WANTS_MAP "i.json: must have a weight_map, from the names of tensors to those of files"
#define PLACE "\" must be a name within the index's folder"
  static const struct {
    const char *index, *message;
    rs_status status;
  } cases[] = {
      {"[]", WANTS_MAP, RS_INPUT},
      {"{\"metadata\":{}}", WANTS_MAP, RS_INPUT},
      {"{\"weight_map\":[\"s1\"]}", WANTS_MAP, RS_INPUT},
      {"{\"weight_map\":{}}", WANTS_MAP, RS_INPUT},
      {"{\"weight_map\":{\"a\":1}}", "i.json: weight_map: tensor \"a\": must have the name of a file", RS_INPUT},
      {"{\"weight_map\":{\"a\":{}}}", "i.json: weight_map: tensor \"a\": must have the name of a file", RS_INPUT},
      {MAP("\"a\":\"\""), "i.json: weight_map: tensor \"a\": file \"" PLACE, RS_INPUT},
      {MAP("\"a\":\"..\""), "i.json: weight_map: tensor \"a\": file \".." PLACE, RS_INPUT},
      {MAP("\"a\":\"../s2\""), "i.json: weight_map: tensor \"a\": file \"../s2" PLACE, RS_INPUT},
      {MAP("\"a\":\"/tmp/s2\""), "i.json: weight_map: tensor \"a\": file \"/tmp/s2" PLACE, RS_INPUT},
      {MAP("\"a\":\"d/s2\""), "i.json: weight_map: tensor \"a\": file \"d/s2" PLACE, RS_INPUT},
      {MAP("\"a\":\".\""), "./.: cannot read: a directory, not a regular file (./i.json has tensor \"a\" in it)",
       RS_IO},
      {MAP("\"a\":\"s2\",\"b\":\"s3\""),
       "./s3: cannot read: No such file or directory (./i.json has tensor \"b\" in it)", RS_IO},
      {MAP(GOOD ",\"d\":\"s2\""), "./i.json: weight_map: tensor \"d\": is not in its file, s2", RS_INPUT},
      {MAP("\"a\":\"s2\",\"b\":\"s1\""),
       "./s1: tensor \"c\": is not in the index ./i.json (readers disagree whether it counts)", RS_INPUT},
      {MAP("\"a\":\"s2\",\"b\":\"s2\",\"c\":\"s1\""),
       "./s1: tensor \"b\": is here, but the index ./i.json has it in s2", RS_INPUT},
      {MAP("\"a\":\"s2\",\"a\":\"s1\""), "i.json:1:55: duplicate object key near '\"a\"' (keep one of them)", RS_INPUT},
      {MAP("\"a\":\"i.json\""),
       "./i.json: is no safetensors file: its first 8 bytes promise a header of 7017841271895827067 bytes, at most "
       "100000000 are read",
       RS_INPUT},
  };
  enter_scratch();
  make_shards();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    make_index("i.json", cases[i].index);
    bool in_folder = cases[i].message[0] == '.';
    refuses_tensors(in_folder ? "./i.json" : "i.json", cases[i].status, cases[i].message);
  }
  refuses_tensors("n.json", RS_IO, "n.json: cannot read: No such file or directory");
  leaves((const char *[]){"i.json", "s1", "s2"}, 3);
}

/* The same tensor in two shards, one of which the index has it in. */
Test(shards, name_in_two_files__is_refused) {
  enter_scratch();
  make_shards();
  make_tensors("s2", "{" ENTRY("a", "U8", "[1]", "[0,1]") "," ENTRY("c", "U8", "[1]", "[1,2]") "}", "45", 2);
  make_index("i.json", MAP(GOOD));
  refuses_tensors("i.json", RS_INPUT, "s2: tensor \"c\": is here, but the index i.json has it in s1");
  leaves((const char *[]){"i.json", "s1", "s2"}, 3);
}
