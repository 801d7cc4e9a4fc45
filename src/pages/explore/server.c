/* The server: libmicrohttpd on 127.0.0.1, which takes URLs apart. Connections are read side by side; answers are made
 * one after the other. Answered are requests that this machine's own browser sends to the page that it was given the
 * address of. Another page in that browser may send requests here, and by a name of its own that leads here (DNS
 * rebinding) may even read answers; it knows neither the token nor sends this Host. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "explore.h"

/* ---- who is answered --------------------------------------------------------------------------------------------- */

static const char *const hosts[] = {"127.0.0.1", "localhost"};

/* Whether `word` is `scheme` and this server's name and port; browsers leave out port 80. */
static bool is_here(const rs_explore_gate *gate, const char *scheme, const char *word) {
  for (size_t i = 0; i < RS_COUNT(hosts); i++) {
    char name[64];
    snprintf(name, sizeof name, "%s%s:%u", scheme, hosts[i], gate->port);
    if (strcasecmp(word, name) == 0) return true;
    snprintf(name, sizeof name, "%s%s", scheme, hosts[i]);
    if (gate->port == 80 && strcasecmp(word, name) == 0) return true;
  }
  return false;
}

/* Compares all digits, whichever differ, so that the time does not tell how many were right. */
static bool has_token(const rs_explore_gate *gate, const char *target) {
  unsigned differ = 0;
  if (strlen(target) < RS_EXPLORE_TOKEN + 2) return false;
  for (size_t i = 0; i < RS_EXPLORE_TOKEN; i++) differ |= (unsigned)(gate->token[i] ^ target[1 + i]);
  return differ == 0 && target[0] == '/' && target[RS_EXPLORE_TOKEN + 1] == '/';
}

static unsigned refuse(unsigned status, const char *because, const char **why) {
  *why = because;
  return status;
}

unsigned rs_explore_admit(const rs_explore_gate *gate, const rs_explore_request *request, const char **path,
                          const char **why) {
  *path = NULL;
  *why = NULL;
  if (request->hosts != 1 || request->host == NULL || !is_here(gate, "", request->host))
    return refuse(403, "this server answers to 127.0.0.1 and localhost alone", why);
  if (request->origins > 1 || (request->origin != NULL && !is_here(gate, "http://", request->origin)))
    return refuse(403, "this server answers its own page alone", why);
  if (request->path == NULL || !has_token(gate, request->path))
    return refuse(404, "there is nothing here: the address that ropescope explore printed has a longer path", why);
  if (strcmp(request->method, "GET") != 0) return refuse(405, "only GET is answered", why);
  if (request->body) return refuse(400, "a GET request has no body", why);
  *path = request->path + RS_EXPLORE_TOKEN + 2;
  return 0;
}

#ifdef ROPESCOPE_MICROHTTPD

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 64, SECONDS = 10, CONNECTION_BYTES = 64 << 10, WAITING = 64 };

struct rs_explore_server {
  const rs_explorer *explorer;
  rs_explore_gate gate;
  char url[96];
  struct MHD_Daemon *daemon;
};

/* ---- responses --------------------------------------------------------------------------------------------------- */

/* dygraphs gives its elements styles by attributes. */
static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src 'self'; "
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

/* ---- requests ---------------------------------------------------------------------------------------------------- */

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

/* The parameters of a question; those that have no room are counted alone. */
typedef struct question {
  rs_explore_param params[RS_EXPLORE_PARAMS];
  size_t count;
} question;

static enum MHD_Result read_param(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                  const char *value, size_t value_size) {
  question *q = context;
  (void)kind;
  bool whole = strlen(name) == name_size && (value == NULL || strlen(value) == value_size); /* no NUL within */
  if (q->count < RS_EXPLORE_PARAMS) q->params[q->count] = (rs_explore_param){name, whole ? value : NULL};
  q->count++;
  return MHD_YES;
}

static enum MHD_Result send_answer(const rs_explore_server *server, struct MHD_Connection *connection, bool choices) {
  question q = {.count = 0};
  RS_OWNED(rs_text) text = {0};
  rs_err err = {0};
  MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, read_param, &q);
  rs_status status = choices ? rs_explore_choices(server->explorer, &text, &err)
                             : rs_explore_answer(server->explorer, q.params, q.count, &text, &err);
  if (status == RS_OK) return send_json(connection, MHD_HTTP_OK, &text);
  bool asked_wrong = status == RS_INPUT || status == RS_DOMAIN || status == RS_UNSUPPORTED;
  return send_error(connection, asked_wrong ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_INTERNAL_SERVER_ERROR, &err);
}

/* `path` stands behind the token. */
static enum MHD_Result route(const rs_explore_server *server, struct MHD_Connection *connection, const char *path) {
  rs_page_file file = rs_page_find(path);
  bool choices = strcmp(path, "choices") == 0;
  if (choices || strcmp(path, "answer") == 0) return send_answer(server, connection, choices);
  if (file.data == NULL) return send_refusal(connection, MHD_HTTP_NOT_FOUND, "there is nothing of this name");
  return respond(connection, MHD_HTTP_OK, file.type,
                 MHD_create_response_from_buffer(file.length, (void *)(uintptr_t)file.data, MHD_RESPMEM_PERSISTENT));
}

/* Called when the headers are read, and again, with `*begun`, when the whole request is. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_length, void **begun) {
  const rs_explore_server *server = context;
  rs_explore_request seen = {.method = method, .path = url};
  const char *path, *why;
  (void)version;
  (void)upload;
  if (*upload_length > 0) return MHD_NO;
  MHD_get_connection_values(connection, MHD_HEADER_KIND, read_header, &seen);
  unsigned status = rs_explore_admit(&server->gate, &seen, &path, &why);
  if (status != 0) return send_refusal(connection, status, why);
  if (*begun != NULL) return route(server, connection, path);
  *begun = context;
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
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
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

#else

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

#endif
