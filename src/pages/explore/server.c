/* The server: libmicrohttpd on 127.0.0.1. Connections are read side by side; answers are made one after the other. */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "explore.h"

enum { CONNECTIONS = 64, SECONDS = 10, CONNECTION_BYTES = 64 << 10, WAITING = 64 };

struct rs_explore_server {
  const rs_explorer *explorer;
  rs_explore_gate gate;
  char url[96];
  struct MHD_Daemon *daemon;
};

/* ---- responses --------------------------------------------------------------------------------------------------- */

static const char *const headers[][2] = {
    {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                                "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

/* Sends the response, which it releases. */
static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status, const char *type,
                               struct MHD_Response *response) {
  if (response == NULL) return MHD_NO;
  enum MHD_Result result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  for (size_t i = 0; i < RS_COUNT(headers) && result == MHD_YES; i++)
    result = MHD_add_response_header(response, headers[i][0], headers[i][1]);
  if (result == MHD_YES && status == 405) result = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET");
  if (result == MHD_YES) result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

/* Sends the text, which is then empty. */
static enum MHD_Result send_json(struct MHD_Connection *connection, unsigned status, rs_text *text) {
  if (text->failed || text->data == NULL) {
    rs_text_clear(text);
    return MHD_NO;
  }
  struct MHD_Response *response = MHD_create_response_from_buffer(text->length, text->data, MHD_RESPMEM_MUST_FREE);
  if (response != NULL)
    *text = (rs_text){0};
  else
    rs_text_clear(text);
  return respond(connection, status, "application/json", response);
}

static enum MHD_Result send_error(struct MHD_Connection *connection, unsigned status, const rs_err *err) {
  rs_text text = {0};
  rs_explore_error(err, &text);
  return send_json(connection, status, &text);
}

static enum MHD_Result send_refusal(struct MHD_Connection *connection, unsigned status, const char *why) {
  rs_err err = {0};
  (void)rs_fail(&err, RS_INPUT, "%s", why);
  return send_error(connection, status, &err);
}

/* The files of the page, which are part of the program. */
typedef struct page_file {
  const char *path, *type; /* behind the token; what it is */
  const unsigned char *data;
  const size_t *length;
} page_file;

#define DECLARE(symbol)                                                                                                \
  extern const unsigned char rs_explore_##symbol[];                                                                    \
  extern const size_t rs_explore_##symbol##_length;
DECLARE(page_html)
DECLARE(page_css)
DECLARE(chart_js)
DECLARE(page_js)

#define FILE_AT(symbol) rs_explore_##symbol, &rs_explore_##symbol##_length

static const page_file files[] = {
    {"", "text/html; charset=utf-8", FILE_AT(page_html)},
    {"page.css", "text/css; charset=utf-8", FILE_AT(page_css)},
    {"chart.js", "text/javascript; charset=utf-8", FILE_AT(chart_js)},
    {"page.js", "text/javascript; charset=utf-8", FILE_AT(page_js)},
};

static const page_file *find_file(const char *path) {
  for (size_t i = 0; i < RS_COUNT(files); i++)
    if (strcmp(files[i].path, path) == 0) return &files[i];
  return NULL;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* What is kept of a request while it is read. */
typedef struct request {
  bool read; /* its headers are */
  char target[];
} request;

/* Called with the request's first line; the memory goes to `forget`. */
static void *remember(void *context, const char *target, struct MHD_Connection *connection) {
  (void)context;
  (void)connection;
  size_t bytes = strlen(target) + 1;
  request *kept = rs_alloc(1, sizeof *kept + bytes, NULL);
  if (kept != NULL) memcpy(kept->target, target, bytes);
  return kept;
}

static void forget(void *context, struct MHD_Connection *connection, void **kept, enum MHD_RequestTerminationCode how) {
  (void)context;
  (void)connection;
  (void)how;
  free(*kept);
  *kept = NULL;
}

static enum MHD_Result read_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
  rs_explore_request *seen = context;
  (void)kind;
  if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0) {
    seen->host = value;
    seen->hosts++;
  } else if (strcasecmp(name, MHD_HTTP_HEADER_ORIGIN) == 0) {
    seen->origin = value != NULL ? value : "";
    seen->origins++;
  } else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
    seen->body = true;
  } else if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
    seen->body |= value == NULL || strcmp(value, "0") != 0;
  }
  return MHD_YES;
}

static enum MHD_Result send_answer(const rs_explore_server *server, struct MHD_Connection *connection,
                                   const char *query) {
  rs_text text = {0};
  rs_err err = {0};
  rs_status status = query == NULL ? rs_explore_choices(server->explorer, &text, &err)
                                   : rs_explore_answer(server->explorer, query, &text, &err);
  if (status == RS_OK) return send_json(connection, MHD_HTTP_OK, &text);
  bool asked_wrong = status == RS_INPUT || status == RS_DOMAIN || status == RS_UNSUPPORTED;
  rs_text_clear(&text);
  return send_error(connection, asked_wrong ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_INTERNAL_SERVER_ERROR, &err);
}

/* `path` stands behind the token. */
static enum MHD_Result route(const rs_explore_server *server, struct MHD_Connection *connection, const char *path) {
  static const char answer[] = "answer?";
  const page_file *file = find_file(path);
  if (file != NULL)
    return respond(
        connection, MHD_HTTP_OK, file->type,
        MHD_create_response_from_buffer(*file->length, (void *)(uintptr_t)file->data, MHD_RESPMEM_PERSISTENT));
  if (strcmp(path, "choices") == 0) return send_answer(server, connection, NULL);
  if (strncmp(path, answer, strlen(answer)) == 0) return send_answer(server, connection, path + strlen(answer));
  return send_refusal(connection, MHD_HTTP_NOT_FOUND, "there is nothing of this name");
}

/* Called when the headers are read, and again when the whole request is. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_length, void **kept) {
  const rs_explore_server *server = context;
  request *here = *kept;
  const char *path, *why;
  (void)url;
  (void)version;
  (void)upload;
  if (here == NULL || *upload_length > 0) return MHD_NO;
  rs_explore_request seen = {.method = method, .target = here->target};
  MHD_get_connection_values(connection, MHD_HEADER_KIND, read_header, &seen);
  unsigned status = rs_explore_admit(&server->gate, &seen, &path, &why);
  if (status != 0) return send_refusal(connection, status, why);
  if (here->read) return route(server, connection, path);
  here->read = true;
  return MHD_YES;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

static rs_status draw_token(char token[RS_EXPLORE_TOKEN + 1], rs_err *err) {
  unsigned char bytes[RS_EXPLORE_TOKEN / 2];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    return rs_fail(err, RS_IO, "no random numbers for the address: %s", strerror(errno));
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
  return RS_OK;
}

/* A socket that listens on 127.0.0.1; the port that it has goes to *port. */
static rs_status listen_here(unsigned *port, int *out, rs_err *err) {
  struct sockaddr_in here = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof here;
  int yes = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool good = listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
              bind(listener, (struct sockaddr *)&here, size) == 0 && listen(listener, WAITING) == 0 &&
              getsockname(listener, (struct sockaddr *)&here, &size) == 0;
  if (!good) {
    rs_status status = rs_fail(err, RS_IO, "cannot listen on 127.0.0.1 port %u: %s", *port, strerror(errno));
    if (listener >= 0) close(listener);
    return status;
  }
  *port = ntohs(here.sin_port);
  *out = listener;
  return RS_OK;
}

static rs_status start(rs_explore_server *server, rs_err *err) {
  int listener = -1;
  RS_TRY(draw_token(server->gate.token, err));
  RS_TRY(listen_here(&server->gate.port, &listener, err));
  snprintf(server->url, sizeof server->url, "http://127.0.0.1:%u/%s/", server->gate.port, server->gate.token);
  server->daemon = MHD_start_daemon(
      MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, handle, server, MHD_OPTION_LISTEN_SOCKET, listener,
      MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SECONDS,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_URI_LOG_CALLBACK, remember, NULL, MHD_OPTION_NOTIFY_COMPLETED, forget, NULL, MHD_OPTION_END);
  if (server->daemon != NULL) return RS_OK;
  close(listener);
  return rs_fail(err, RS_IO, "the server does not start: %s", strerror(errno));
}

bool rs_explore_serves(void) {
  return true;
}

rs_status rs_explore_start(const rs_explorer *explorer, unsigned port, rs_explore_server **server, rs_err *err) {
  *server = rs_alloc(1, sizeof **server, err);
  if (*server == NULL) return RS_MEMORY;
  (*server)->explorer = explorer;
  (*server)->gate.port = port;
  rs_status status = start(*server, err);
  if (status == RS_OK) return RS_OK;
  free(*server);
  *server = NULL;
  return status;
}

const char *rs_explore_url(const rs_explore_server *server) {
  return server->url;
}

void rs_explore_stop(rs_explore_server *server) {
  if (server == NULL) return;
  MHD_stop_daemon(server->daemon);
  free(server);
}
