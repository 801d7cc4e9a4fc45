/* checkpoint.c: config.json of a folder with weights: one of a run of this program, or in Hugging Face's layout. */
#include "fuzz.h"

#include "config/config.h"

/* What is written of a trained model is read as the same. */
static void write_again(const rs_trained *trained) {
  rs_text json = {0};
  rs_trained again = {0};
  rs_err err = {0};
  char hash[65], same[65];
  if (rs_trained_fingerprint(trained, hash, &err) != RS_OK) return;
  err = (rs_err){0};
  LAW(rs_trained_write(trained, &json, &err) == RS_OK);
  fuzz_file("config.json", json.data, json.length);
  rs_status status = rs_trained_read(".", &again, &err);
  if (status != RS_OK) fprintf(stderr, "%s\n%s\n", json.data, err.message);
  LAW(status == RS_OK);
  LAW(rs_trained_fingerprint(&again, same, &err) == RS_OK && strcmp(hash, same) == 0);
  rs_trained_clear(&again);
  rs_text_clear(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rs_trained trained = {0};
  rs_hf_checkpoint checkpoint = {0};
  rs_err err = {0}, why = {0};
  fuzz_file("config.json", data, size);
  bool marked;
  LAW(rs_trained_marked(".", &marked, NULL) == RS_OK);
  rs_status status = rs_hf_checkpoint_read(".", &checkpoint, &why);
  fuzz_says_why(status, &why);
  if (status == RS_OK) rs_hf_checkpoint_clear(&checkpoint);
  status = rs_trained_read(".", &trained, &err);
  fuzz_says_why(status, &err);
  if (status == RS_OK) {
    write_again(&trained);
    rs_trained_clear(&trained);
  }
  return 0;
}
