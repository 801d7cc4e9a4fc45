/* Inverse frequencies as files that other programs, and compare, can read. */
#include "advice/advice.h"

void rs_table_csv(const rs_spectrum *spectrum, rs_text *text) {
  static const char *const header[] = {"pair", "inv_freq", "attention_factor"};
  for (size_t i = 0; i < RS_COUNT(header); i++) rs_csv_text(text, header[i]);
  rs_csv_end_row(text);
  for (size_t j = 0; j < spectrum->pairs; j++) {
    rs_csv_number(text, (double)j);
    rs_csv_number(text, spectrum->omega[j]);
    rs_csv_number(text, spectrum->amp);
    rs_csv_end_row(text);
  }
}

void rs_table_json(const rs_spectrum *spectrum, rs_text *text) {
  rs_json json = {.text = text};
  rs_json_object(&json, NULL);
  rs_json_list(&json, "inv_freq");
  for (size_t j = 0; j < spectrum->pairs; j++) rs_json_number(&json, NULL, spectrum->omega[j]);
  rs_json_end(&json);
  rs_json_number(&json, "attention_factor", spectrum->amp);
  if (spectrum->logit_factor != 1) rs_json_number(&json, "logit_factor", spectrum->logit_factor);
  rs_json_end(&json);
}
