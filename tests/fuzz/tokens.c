/* tokens.c: a text as ids of tokens. The first byte chooses its format and name. */
#include "fuzz.h"

#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rs_token_file file = {0};
  rs_err err = {0};
  uint64_t sum = 0;
  if (size == 0) return 0;
  unsigned choice = data[0] % (RS_ID_FORMATS + 1);
  const char *name = choice == RS_ID_FORMATS ? "text.npy" : "text.bin";
  fuzz_file(name, data + 1, size - 1);
  rs_status status = rs_token_file_read(name, choice == RS_ID_FORMATS ? RS_ID_AUTO : (rs_id_format)choice, &file, &err);
  fuzz_says_why(status, &err);
  LAW(status != RS_OK || file.width == 1 || file.width == 2 || file.width == 4);
  for (size_t i = 0; status == RS_OK && i < file.count; i++) sum += rs_token_id(&file, i);
  LAW(sum <= (uint64_t)UINT32_MAX * size);
  rs_token_file_clear(&file);
  return 0;
}
