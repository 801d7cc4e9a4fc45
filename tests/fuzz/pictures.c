/* pictures.c: pictures and their labels. The first byte says whether labels are coarse and whether there is a file of
 * them, two more how many bytes the pictures have; the labels stand behind. */
#include "fuzz.h"

#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rs_picture_file file;
  rs_err err = {0};
  double sum = 0;
  if (size < 3) return 0;
  size_t pictures = data[1] | (size_t)data[2] << 8;
  if (pictures > size - 3) pictures = size - 3;
  fuzz_file("pictures", data + 3, pictures);
  fuzz_file("labels", data + 3 + pictures, size - 3 - pictures);
  rs_status status = rs_picture_file_read("pictures", data[0] & 2 ? NULL : "labels", data[0] & 1, &file, &err);
  fuzz_says_why(status, &err);
  LAW(status == RS_OK || (file.labels == NULL && file.owned == NULL && file.numbers == NULL));
  for (size_t n = 0; status == RS_OK && n < file.count; n++)
    for (size_t i = 0; i < file.channels * file.rows * file.columns; i++)
      sum += rs_picture_number(&file, n, i / file.columns / file.rows, i / file.columns % file.rows, i % file.columns);
  LAW(status != RS_OK || (sum == sum && file.channels <= RS_MOST_CHANNELS));
  rs_picture_file_clear(&file);
  return 0;
}
