/* convert.c: a config.json for every consumer, at the length it is published for and beyond. */
#include "fuzz.h"

#include "advice/advice.h"

static void read_back(const char *json) {
  rs_tree *tree = NULL;
  rs_err err = {0};
  LAW(rs_json_read(json, strlen(json), "fragment", &tree, &err) == RS_OK);
  rs_tree_free(tree);
}

static void convert(const rs_convertible *model, const char *to, size_t length) {
  rs_conversion out = {0};
  rs_err err = {0};
  rs_status status = rs_convert(model, to, length, &out, &err);
  fuzz_says_why(status, &err);
  if (out.fragment != NULL) read_back(out.fragment);
  rs_conversion_clear(&out);
}

static void tabulate(const rs_convertible *model, size_t length) {
  rs_spectrum spectrum = {0};
  rs_err err = {0};
  rs_status status = rs_convert_spectrum(model, length, &spectrum, &err);
  fuzz_says_why(status, &err);
  if (status != RS_OK) return;
  rs_text csv = {0}, json = {0};
  rs_table_csv(&spectrum, &csv);
  rs_table_json(&spectrum, &json);
  read_back(rs_text_string(&json));
  rs_text_clear(&csv);
  rs_text_clear(&json);
  rs_spectrum_clear(&spectrum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const size_t lengths[] = {0, 1000, 200000};
  rs_convertible model = {0};
  rs_err err = {0};
  char *text = fuzz_text(data, size);
  rs_status status = rs_convertible_read(text, size, "config.json", &model, &err);
  fuzz_says_why(status, &err);
  for (size_t i = 0; i < RS_COUNT(lengths) && status == RS_OK; i++) {
    for (size_t c = 0; rs_consumers(c) != NULL; c++) convert(&model, rs_consumers(c)->name, lengths[i]);
    tabulate(&model, lengths[i]);
  }
  if (status == RS_OK) rs_convertible_clear(&model);
  free(text);
  return 0;
}
