/* ropescope version. */
#include "cli.h"

int cmd_version(const cli_options *options) {
  rs_text text = {0};
  (void)options;
  rs_text_puts(&text, "ropescope " ROPESCOPE_VERSION "\n");
  return cli_put(&text, CLI_TEXT) ? CLI_OK : CLI_FAILED;
}
