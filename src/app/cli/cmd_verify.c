/* ropescope verify RESULTS...: is each file of a results folder what its manifest says. */
#include "cli.h"

#include "io/io.h"

/* Findings are data, and go to stdout; what is fine is a note. */
static int verify(const cli_options *options, const char *directory) {
  rs_folder_verdict verdict;
  rs_text findings = {0}, incomplete = {0};
  rs_err err = {0};
  rs_status status = rs_results_verify(directory, &verdict, &findings, &err);
  if (status == RS_OK) status = rs_results_incomplete(directory, &incomplete, &err);
  int code = status != RS_OK ? cli_fail(status, NULL, &err) : verdict.differing > 0 ? CLI_FAILED : CLI_OK;
  if (status != RS_OK) code = CLI_USAGE; /* what cannot be checked is no verdict */
  if (status == RS_OK && findings.length > 0 && !cli_put(&findings, CLI_TEXT)) code = CLI_FAILED;
  const char *comma = incomplete.length > 0 ? ", " : "";
  if (status == RS_OK && verdict.differing > 0)
    cli_note(options, "%s: %zu of %zu files are not what manifest.json says%s%s", directory, verdict.differing,
             verdict.files, comma, rs_text_string(&incomplete));
  else if (status == RS_OK)
    cli_note(options, "%s: %zu files are what manifest.json says%s%s", directory, verdict.files, comma,
             rs_text_string(&incomplete));
  rs_text_clear(&findings);
  rs_text_clear(&incomplete);
  return code;
}

/* All are checked; the worst decides. */
int cmd_verify(const cli_options *options) {
  int worst = CLI_OK;
  if (options->argument_count == 0) {
    cli_error("verify needs a results folder, as in ropescope verify results/quickstart");
    return CLI_USAGE;
  }
  for (size_t i = 0; i < options->argument_count; i++) {
    int code = verify(options, options->arguments[i]);
    worst = code > worst ? code : worst;
  }
  return worst;
}
