/* expected.c: an expected.csv, judged by small results, and its report in all forms. */
#include "fuzz.h"

#include <sys/stat.h>

#include "app/app.h"

static const char csv[] = "method,length_tokens,seed,entropy_nats\n"
                          "rope,1024,1,2.5\nrope,2048,1,2.75\nyarn,1024,1,1.5\nyarn,2048,2,\nntk,4096,2,-3\n";

static void write_results(void) {
  fuzz_file("expected.csv", "", 0);
  LAW(mkdir("results", 0700) == 0 && mkdir("results/x", 0700) == 0);
  fuzz_file("results/x/summary.csv", csv, sizeof csv - 1);
}

static void report(const rs_claims *claims, const rs_claim_result *findings) {
  static void (*const forms[])(const rs_claims *, const rs_claim_result *,
                               rs_text *) = {rs_claims_print, rs_claims_markdown, rs_claims_csv};
  rs_tally tally = {0};
  rs_text line = {0};
  for (size_t i = 0; i < RS_COUNT(forms); i++) {
    rs_text text = {0};
    forms[i](claims, findings, &text);
    LAW(!text.failed);
    rs_text_clear(&text);
  }
  rs_tally_add(&tally, claims, findings);
  rs_tally_print(&tally, &line);
  rs_text_clear(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool ready;
  rs_claims *claims = NULL;
  rs_err err = {0}, why = {0};
  if (!ready) write_results();
  ready = true;
  fuzz_file("expected.csv", data, size);
  rs_status status = rs_claims_read("expected.csv", &claims, &err);
  fuzz_says_why(status, &err);
  if (status != RS_OK) return 0;
  rs_claim_result *findings = calloc(claims->count + 1, sizeof *findings);
  LAW(findings != NULL);
  status = rs_claims_check(claims, "results", "x", true, findings, &why);
  fuzz_says_why(status, &why);
  if (status == RS_OK) report(claims, findings);
  free(findings);
  rs_claims_free(claims);
  return 0;
}
