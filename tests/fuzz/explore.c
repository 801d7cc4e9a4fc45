/* explore.c: a request to the page of `explore`: lines of its method, Host, Origin and target, which may be empty. What
 * the target has behind its '?' is then asked, whether the request is let in or not. */
#include "fuzz.h"

#include "../../src/pages/explore/explore.h"
#include "../fixtures/question.h"

enum { LENGTH = 64, DIMS = 8, PORT = 8080 }; /* tokens, head_dim: answers of more are long, and read as one */
static const char token[] = "0123456789abcdef0123456789abcdef";

static const char *or_none(const char *word) {
  return *word != '\0' ? word : NULL;
}

static void admit(const char *method, const char *host, const char *origin, const char *target) {
  rs_explore_gate gate = {.port = PORT};
  const rs_explore_request request = {.method = method,
                                      .path = or_none(target),
                                      .host = or_none(host),
                                      .origin = or_none(origin),
                                      .hosts = *host != '\0',
                                      .origins = *origin != '\0'};
  const char *path, *why;
  memcpy(gate.token, token, sizeof gate.token);
  unsigned status = rs_explore_admit(&gate, &request, &path, &why);
  LAW((status == 0) == (path != NULL) && (status == 0) == (why == NULL));
  LAW(status == 0 || status == 400 || status == 403 || status == 404 || status == 405);
  if (status != 0) return;
  LAW(strcmp(method, "GET") == 0 && strncmp(target + 1, token, RS_EXPLORE_TOKEN) == 0);
  LAW(path == target + RS_EXPLORE_TOKEN + 2 && strstr(host, ":8080") != NULL);
}

static void read_back(const rs_text *json) {
  rs_tree *tree = NULL;
  rs_err err = {0};
  LAW(rs_json_read(rs_text_string(json), json->length, "answer", &tree, &err) == RS_OK);
  rs_tree_free(tree);
}

static void answer(const rs_explorer *explorer, const char *query) {
  rs_text json = {0};
  rs_err err = {0};
  rs_status status = ask_explorer(explorer, query, &json, &err);
  fuzz_says_why(status, &err);
  if (status != RS_OK) rs_explore_error(&err, &json);
  read_back(&json);
  rs_text_clear(&json);
}

static void ask(const rs_explorer *explorer, const char *text) {
  question q = question_of(text);
  rs_asked asked;
  rs_err err = {0};
  rs_status status = rs_asked_read(explorer, q.params, q.count, &asked, &err);
  fuzz_says_why(status, &err);
  bool brief = status == RS_OK && asked.length <= LENGTH && asked.model.head_dim <= DIMS;
  if (status == RS_OK) rs_asked_clear(&asked);
  free(q.text);
  if (brief || status != RS_OK) answer(explorer, text);
}

static rs_explorer *make_explorer(void) {
  rs_explorer *explorer = NULL;
  rs_problems problems = {0};
  rs_err err = {0};
  const rs_subject_in in = {.preset = "llama-2-7b", .fallback = "rope", .length = LENGTH};
  LAW(rs_explorer_create(&in, &explorer, &problems, &err) == RS_OK);
  rs_problems_clear(&problems);
  return explorer;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static rs_explorer *explorer;
  if (explorer == NULL) explorer = make_explorer();
  char *method = fuzz_text(data, size), *host = fuzz_rest(method, '\n'), *origin = fuzz_rest(host, '\n');
  char *target = fuzz_rest(origin, '\n'), *query = strchr(target, '?');
  admit(method, host, origin, target);
  ask(explorer, query != NULL ? query + 1 : target);
  free(method);
  return 0;
}
