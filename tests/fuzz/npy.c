/* npy.c: a file of numbers. The first byte chooses the name that it has: .npy, .json, .csv. */
#include "fuzz.h"

#include <math.h>

#include "io/io.h"

/* What is described is what is read, and lies in the file. */
static void describe(const char *name) {
  rs_mapping mapping = {0};
  rs_stored_tensor tensor;
  rs_array array = {0};
  rs_err err = {0}, why = {0}, reason = {0};
  rs_status status = rs_npy_read(name, &array, &err);
  fuzz_says_why(status, &err);
  for (size_t i = 0; i < array.count; i++) LAW(isfinite(array.numbers[i]));
  if (rs_file_map(name, &mapping, &reason) != RS_OK) return;
  if (rs_npy_describe(&mapping, name, &tensor, &why) == RS_OK) {
    LAW(tensor.data >= mapping.bytes && tensor.data + tensor.bytes <= mapping.bytes + mapping.length);
    if (status == RS_OK) LAW(tensor.count == array.count && tensor.rank == array.rank);
  }
  rs_file_unmap(&mapping);
  if (status == RS_OK) rs_array_clear(&array);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"a.npy", "a.json", "a.csv"};
  double *list = NULL;
  size_t count = 0;
  rs_err err = {0};
  if (size == 0) return 0;
  const char *name = names[data[0] % RS_COUNT(names)];
  fuzz_file(name, data + 1, size - 1);
  if (name == names[0]) describe(name);
  rs_status status = rs_numbers_read(name, &list, &count, &err);
  fuzz_says_why(status, &err);
  LAW((status == RS_OK) == (list != NULL));
  for (size_t i = 0; status == RS_OK && i < count; i++) LAW(isfinite(list[i]));
  free(list);
  return 0;
}
