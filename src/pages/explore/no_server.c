/* In place of the server where the build has no libmicrohttpd. */
#include "pages/pages.h"

bool rs_explore_serves(void) {
  return false;
}

rs_status rs_explore_start(const rs_explorer *explorer, unsigned port, rs_explore_server **server, rs_err *err) {
  (void)explorer;
  (void)port;
  *server = NULL;
  return rs_fail(err, RS_UNSUPPORTED,
                 "this build has no server: install libmicrohttpd (libmicrohttpd-dev on Debian), then meson setup "
                 "--reconfigure build and build again");
}

const char *rs_explore_url(const rs_explore_server *server) {
  (void)server;
  return "";
}

void rs_explore_stop(rs_explore_server *server) {
  (void)server;
}
