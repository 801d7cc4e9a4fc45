/* selection.c: what ropescope table is asked: a question a line, and the last line is --where. */
#include "fuzz.h"

#include "app/app.h"

enum { QUESTIONS = 4 };

static const char csv[] = "method,length_tokens,seed,status,entropy_nats,word\n"
                          "rope,1024,1,ok,2.5,a\n"
                          "rope,2048,1,ok,2.75,b\n"
                          "yarn,1024,1,ok,1e-300,c\n"
                          "yarn,2048,2,memory,,\"d, \"\"e\"\"\"\n"
                          "ntk,4096,2,ok,-3,-inf\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool ready;
  const char *lines[QUESTIONS + 1];
  size_t count = 0;
  rs_text text = {0};
  rs_err err = {0};
  char *words = fuzz_text(data, size), *rest = words;
  if (!ready) fuzz_file("summary.csv", csv, sizeof csv - 1);
  ready = true;
  for (; *rest != '\0' && count <= QUESTIONS; count++) {
    lines[count] = rest;
    rest = fuzz_rest(rest, '\n');
  }
  const rs_pivot_wanted wanted = {.lines = "method",
                                  .questions = lines,
                                  .count = count > 1 ? count - 1 : count,
                                  .where = count > 1 ? lines[count - 1] : "",
                                  .form = RS_PIVOT_MARKDOWN};
  if (count > 0) fuzz_says_why(rs_pivot("summary.csv", &wanted, &text, &err), &err);
  rs_text_clear(&text);
  free(words);
  return 0;
}
