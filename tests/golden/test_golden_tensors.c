/* Tensors of published layouts, as safetensors holds them, against what Python's struct reads: float64, float32,
 * bfloat16 and float16, in two shards whose header is not in the order of the data. */
#include "../golden.h"

Test(golden, tensors__every_number__agrees) {
  rs_table *table = golden_read("tensors/numbers.csv");
  rs_safetensors *checkpoint = NULL;
  char path[4096], shape[64];
  rs_err err = {0};
  snprintf(path, sizeof path, "%s/golden/tensors/model.safetensors.index.json", getenv("ROPESCOPE_TESTS"));
  cr_assert_eq(rs_safetensors_map(path, &checkpoint, &err), RS_OK, "%s", err.message);
  size_t tensors = 0;
  for (size_t begin = 0, end; begin < table->rows; begin = end, tensors++) {
    end = golden_run(table, begin, "tensor");
    const rs_stored_tensor *tensor = &checkpoint->tensors[tensors];
    cr_expect_str_eq(tensor->name, golden_text(table, begin, "tensor"));
    cr_expect_str_eq(rs_dtype_words[tensor->dtype], golden_text(table, begin, "dtype"));
    snprintf(shape, sizeof shape, tensor->rank == 1 ? "%zu" : "%zux%zu", tensor->shape[0], tensor->shape[1]);
    cr_expect_str_eq(shape, golden_text(table, begin, "shape"));
    for (size_t row = begin; row < end; row++) {
      size_t index = golden_size(table, row, "index");
      double number = NAN, expected = golden_number(table, row, "value");
      float single = NAN;
      cr_assert_eq(rs_stored_doubles(tensor, index, 1, &number, &err), RS_OK, "%s", err.message);
      cr_assert_eq(rs_stored_floats(tensor, index, 1, &single, &err), RS_OK, "%s", err.message);
      cr_expect(number == expected && single == (float)expected, "%s[%zu]: got %.17g, expected %.17g", tensor->name,
                index, number, expected);
    }
  }
  cr_expect_eq(tensors, checkpoint->count);
  rs_safetensors_free(checkpoint);
  rs_table_free(table);
}
