/* ropescope explore: one recipe at a time on a page of this machine, until Ctrl-C. */
#include "cli.h"

#include "pages/pages.h"

#include <pthread.h>
#include <signal.h>

static const char usual_model[] = "llama-3.1-8b";

static int serve(const cli_options *options, const rs_explorer *explorer) {
  rs_explore_server *server;
  rs_text address = {0};
  rs_err err = {0};
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before the server's thread begins, which then has them blocked as well */
  rs_status status = rs_explore_start(explorer, (unsigned)options->port, &server, &err);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  rs_text_printf(&address, "%s\n", rs_explore_url(server));
  bool printed = cli_put(&address, CLI_TEXT) == CLI_OK;
  if (printed) {
    if (rs_explorer_subject_length(explorer) > RS_EXPLORE_LONGEST)
      cli_note(options, "The model is for %zu tokens; the page begins with %d, the most that it shows.",
               rs_explorer_subject_length(explorer), RS_EXPLORE_LONGEST);
    cli_note(options, "Open this address in a browser of this machine; Ctrl-C ends it.");
    for (int caught; sigwait(&ends, &caught) != 0;) continue;
  }
  rs_explore_stop(server);
  return printed ? CLI_OK : CLI_FAILED;
}

int cmd_explore(const cli_options *options) {
  if (options->hf != NULL && options->model != NULL) return cli_error("--hf and --model both name a model: keep one");
  const rs_subject_in in = {.hf = options->hf,
                            .hf_text = options->hf_text,
                            .preset = options->model != NULL ? options->model : usual_model,
                            .layers = options->layers,
                            .method = options->method,
                            .fallback = "rope",
                            .length = options->length};
  rs_explorer *explorer;
  RS_OWNED(rs_problems) problems = {0};
  rs_err err = {0};
  rs_status status = rs_explorer_create(&in, &explorer, &problems, &err);
  int code = status == RS_OK ? serve(options, explorer) : cli_fail(status, &problems, &err);
  if (status == RS_OK) rs_explorer_free(explorer);
  return code;
}
