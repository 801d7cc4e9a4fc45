/* json_param.c: the specs of parameters as JSON, for programs that ask what there is. */
#include "io/io.h"

static void write_words(rs_json *json, const rs_param *param) {
  rs_json_array(json, "words");
  for (size_t i = 0; i < param->word_count; i++) rs_json_string(json, NULL, param->words[i]);
  rs_json_end(json);
}

void rs_json_param(rs_json *json, const rs_param *param) {
  static const char *const types[] = {[RS_REAL] = "real",     [RS_INTEGER] = "integer", [RS_BOOL] = "bool",
                                      [RS_CHOICE] = "choice", [RS_REALS] = "reals",     [RS_FILE] = "file",
                                      [RS_NAME] = "name",     [RS_FOLDER] = "folder",   [RS_RECIPE] = "method"};
  rs_json_object(json, NULL);
  rs_json_string(json, "name", param->name);
  rs_json_string(json, "type", types[param->type]);
  if (param->words != NULL) write_words(json, param);
  bool numbers = param->type == RS_REAL || param->type == RS_INTEGER || param->type == RS_REALS;
  if (numbers) {
    rs_json_string(json, "unit", param->unit);
    rs_json_number(json, "min", param->min);
    rs_json_number(json, "max", param->max);
  }
  rs_json_string(json, "default", param->fallback);
  rs_json_string(json, "summary", param->summary);
  rs_json_end(json);
}
