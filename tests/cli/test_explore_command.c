/* ropescope explore: the page of a server that this machine's browser alone can ask, and its end. */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "../fixtures/program.h"
#include "pages/pages.h"

enum { PATIENCE = 20 }; /* seconds, far beyond what any answer takes */

static void enter(void) {
  if (!rs_explore_serves()) cr_skip_test("this build has no libmicrohttpd");
  enter_folder();
}

TestSuite(explore_command, .init = enter, .fini = leave_folder, .timeout = 120);

/* ---- a server ---------------------------------------------------------------------------------------------------- */

typedef struct served {
  pid_t child;
  unsigned port;
  char token[RS_EXPLORE_TOKEN + 1];
} served;

/* Waits for the line that tells the address. */
static void read_address(served *s, int out) {
  char line[128];
  size_t length = 0;
  int path = 0;
  for (ssize_t got; length < sizeof line - 1 && (got = read(out, line + length, 1)) == 1;)
    if (line[length++] == '\n') break;
  line[length] = '\0';
  cr_assert_eq(sscanf(line, "http://127.0.0.1:%u/%32[0-9a-f]/%n", &s->port, s->token, &path), 2, "printed: %s", line);
  cr_assert_eq(strlen(s->token), RS_EXPLORE_TOKEN);
  cr_assert_str_eq(line + path, "\n");
}

static served serve(const command *c) {
  served s = {0};
  int out[2];
  cr_assert_eq(pipe(out), 0);
  s.child = fork();
  if (s.child == 0) {
    FILE *err = fopen("stderr", "wb");
    close(out[0]);
    start(c, out[1], fileno(err));
  }
  close(out[1]);
  read_address(&s, out[0]);
  close(out[0]);
  return s;
}

/* Ends it, which takes no longer than an answer. */
static void expect_end(const served *s, int with) {
  cr_assert_eq(kill(s->child, with), 0);
  cr_expect_eq(wait_for(s->child), 0);
}

static int connect_to(const served *s) {
  struct sockaddr_in there = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)s->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct timeval patience = {.tv_sec = PATIENCE};
  int connection = socket(AF_INET, SOCK_STREAM, 0);
  cr_assert_geq(connection, 0);
  cr_assert_eq(setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  cr_assert_eq(connect(connection, (struct sockaddr *)&there, sizeof there), 0);
  return connection;
}

/* Sends the bytes as they are; returns all that comes until the server closes. Release with free(). */
static char *exchange(const served *s, const char *bytes, size_t count) {
  rs_text got = {0};
  char part[4096];
  int connection = connect_to(s);
  for (ssize_t sent = 0, now; (size_t)sent < count; sent += now)
    if ((now = send(connection, bytes + sent, count - (size_t)sent, MSG_NOSIGNAL)) <= 0) break;
  for (ssize_t now; (now = recv(connection, part, sizeof part, 0)) > 0;) rs_text_add(&got, part, (size_t)now);
  rs_text_add(&got, "", 0);
  close(connection);
  return got.data;
}

/* One request; `more` are headers, each ended. */
static char *ask(const served *s, const char *method, const char *target, const char *host, const char *more) {
  rs_text request = {0};
  rs_text_printf(&request, "%s %s HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n", method, target, host, more);
  char *got = exchange(s, rs_text_string(&request), request.length);
  rs_text_clear(&request);
  return got;
}

/* What is answered at `path` behind the token. */
static char *get(const served *s, const char *path) {
  char target[512], host[64];
  snprintf(target, sizeof target, "/%s/%s", s->token, path);
  snprintf(host, sizeof host, "127.0.0.1:%u", s->port);
  return ask(s, "GET", target, host, "");
}

static void expect_in(char *got, int status, const char *part) {
  char line[32];
  snprintf(line, sizeof line, "HTTP/1.1 %d ", status);
  cr_expect_eq(strncmp(got, line, strlen(line)), 0, "want %d, got %.200s", status, got);
  cr_expect_not_null(strstr(got, part), "want %s in\n%.2000s", part, got);
  free(got);
}

static void expect_said(const command *c, int status, const char *part) {
  result got = run(c);
  cr_expect_eq(got.status, status, "%s", got.err);
  cr_expect_str_eq(got.out, "");
  cr_expect_not_null(strstr(got.err, part), "got:  %s\nwant: %s", got.err, part);
  result_clear(&got);
}

/* ---- pages and answers ------------------------------------------------------------------------------------------- */

Test(explore_command, page__is_there_with_its_headers) {
  served s = serve(&(command){.arguments = {"explore"}});
  static const char *const headers[] = {
      "\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; ",
      "\r\nX-Content-Type-Options: nosniff\r\n",
      "\r\nReferrer-Policy: no-referrer\r\n",
      "\r\nCache-Control: no-store\r\n",
      "\r\nContent-Type: text/html; charset=utf-8\r\n",
      "<title>ropescope explore</title>",
  };
  for (size_t i = 0; i < RS_COUNT(headers); i++) expect_in(get(&s, ""), 200, headers[i]);
  expect_in(get(&s, "page.css"), 200, "Content-Type: text/css");
  expect_in(get(&s, "page.js"), 200, "Content-Type: text/javascript");
  expect_in(get(&s, "chart.js"), 200, "ropescope.chart(parent, spec)");
  expect_in(get(&s, "explore.css"), 200, "Content-Type: text/css");
  expect_in(get(&s, "dygraph.js"), 200, "Content-Type: text/javascript");
  expect_in(get(&s, "choices"), 200,
            "\"model\": \"llama-3.1-8b\",\n    \"method\": \"llama3\",\n    \"length\": \"131072\"\n");
  expect_in(get(&s, "answer?method=yarn&factor=8&length=4k"), 200, "\"recipe\": \"{name: yarn, factor: 8}\"");
  expect_in(get(&s, "answer?factor=x"), 400, "\"error\": \"factor: ");
  expect_in(get(&s, "answer"), 200, "\"recipe\": ");
  expect_in(get(&s, "answer?method=ro%70e&model=llama-2-7b"), 200, "\"method\": \"rope\"");
  expect_in(get(&s, "answer?method=ro+pe"), 400, "ro pe is none");
  expect_in(get(&s, "answer?method=rope%00"), 400, "is no name=value");
  expect_in(get(&s, "answer?yarn"), 400, "is no name=value");
  expect_in(get(&s, "answer?method=%c3%a9"), 400, "outside printable ASCII");
  expect_in(get(&s, "answer?factor=8&factor=8"), 400, "is given twice");
  expect_in(get(&s, "answers"), 404, "nothing of this name");
  expect_in(get(&s, "../page.js"), 404, "nothing of this name");
  expect_end(&s, SIGINT);
}

/* The command that an answer shows prints its numbers. */
Test(explore_command, command_of_an_answer__prints_the_same) {
  served s = serve(&(command){.arguments = {"explore"}});
  char *got = get(&s, "answer?model=llama-2-7b&method=yarn&factor=8&beta_fast=20&length=32k");
  char *table = output_of(&(command){.arguments = {"show", "frequencies", "--model", "llama-2-7b", "--method",
                                                   "{name: yarn, factor: 8, beta_fast: 20}", "--length", "32768"}});
  rs_table *csv = table_of(table, "frequencies");
  rs_text column = {0};
  cr_expect_not_null(strstr(got, "ropescope show frequencies --model llama-2-7b --method '{name: yarn, factor: 8, "
                                 "beta_fast: 20}' --length 32768"));
  for (size_t row = 0; row < csv->rows; row++)
    rs_text_printf(&column, "%s%s", row > 0 ? ", " : "\"omega_rad_per_token\": [",
                   field(csv, row, "omega_rad_per_token"));
  rs_text_puts(&column, "]");
  cr_expect_not_null(strstr(got, rs_text_string(&column)), "%s\n%s", rs_text_string(&column), got);
  rs_text_clear(&column);
  rs_table_free(csv);
  free(table);
  free(got);
  expect_end(&s, SIGTERM);
}

Test(explore_command, hf_file__is_where_it_begins) {
  write_file("config.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                            "\"max_position_embeddings\": 2048, \"rope_theta\": 10000.0, \"rope_scaling\": "
                            "{\"rope_type\": \"linear\", \"factor\": 4.0}}");
  served s = serve(&(command){.arguments = {"explore", "--hf", "config.json", "--quiet"}});
  expect_in(get(&s, "choices"), 200, "\"model\": \"file\",\n    \"method\": \"pi\",\n    \"length\": \"8192\"\n");
  expect_in(get(&s, "answer?model=file&method=pi&length=2048"), 200,
            "ropescope show frequencies --hf config.json --method '{name: pi}' --length 2048");
  expect_in(get(&s, "answer?"), 200, "\"scale\": 4,");
  expect_end(&s, SIGINT);
  size_t length;
  char *err = read_path("stderr", &length);
  cr_expect_eq(length, 0, "%s", err);
  free(err);
}

Test(explore_command, hf_file_of_an_odd_name__is_quoted_in_yaml) {
  write_file("a\"b\\c.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                             "\"max_position_embeddings\": 2048, \"rope_theta\": 10000.0}");
  served s = serve(&(command){.arguments = {"explore", "--hf", "a\"b\\c.json", "--quiet"}});
  expect_in(get(&s, "answer?model=file&method=rope"), 200, "model: {hf: \\\"a\\\\\\\"b\\\\\\\\c.json\\\"}\\n");
  expect_end(&s, SIGINT);
}

Test(explore_command, given_recipe_and_port__hold) {
  served first = serve(&(command){
      .arguments = {"explore", "--model", "llama-2-7b", "--method", "{name: yarn, factor: 8}", "--length", "32k"}});
  char port[16];
  snprintf(port, sizeof port, "%u", first.port);
  expect_in(
      get(&first, "choices"), 200,
      "\"model\": \"llama-2-7b\",\n    \"method\": \"yarn\",\n    \"length\": \"32768\",\n    \"factor\": \"8\"\n");
  expect_said(&(command){.arguments = {"explore", "--port", port}}, 1, "Address already in use");
  expect_end(&first, SIGINT);
  served second = serve(&(command){.arguments = {"explore", "--port", port}});
  cr_expect_eq(second.port, first.port);
  cr_expect_str_neq(second.token, first.token);
  expect_end(&second, SIGINT);
}

Test(explore_command, longest_models__are_shortened_with_a_note) {
  write_file("config.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                            "\"max_position_embeddings\": 4194304, \"rope_theta\": 10000.0}");
  served s = serve(&(command){.arguments = {"explore", "--hf", "config.json"}});
  expect_in(get(&s, "choices"), 200, "\"model\": \"file\",\n    \"method\": \"rope\",\n    \"length\": \"1048576\"\n");
  expect_end(&s, SIGINT);
  size_t length;
  char *err = read_path("stderr", &length);
  cr_expect_not_null(strstr(err, "The model is for 4194304 tokens; the page begins with 1048576,"), "%s", err);
  free(err);
}

/* ---- strangers --------------------------------------------------------------------------------------------------- */

Test(explore_command, strangers__are_refused) {
  served s = serve(&(command){.arguments = {"explore"}});
  char right[128], wrong[128], host[64], name[64], other[64], origin[96];
  snprintf(right, sizeof right, "/%s/", s.token);
  snprintf(wrong, sizeof wrong, "/%s/", s.token);
  wrong[5] = wrong[5] == '0' ? '1' : '0';
  snprintf(host, sizeof host, "127.0.0.1:%u", s.port);
  snprintf(name, sizeof name, "localhost:%u", s.port);
  snprintf(other, sizeof other, "evil.example:%u", s.port);
  snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%u\r\n", s.port);
  expect_in(ask(&s, "GET", right, host, origin), 200, "<title>");
  expect_in(ask(&s, "GET", right, name, ""), 200, "<title>");
  expect_in(ask(&s, "GET", "/", host, ""), 404, "there is nothing here");
  expect_in(ask(&s, "GET", wrong, host, ""), 404, "there is nothing here");
  expect_in(ask(&s, "GET", right, other, ""), 403, "127.0.0.1 and localhost alone");
  expect_in(ask(&s, "GET", right, "127.0.0.1", ""), 403, "127.0.0.1 and localhost alone");
  expect_in(ask(&s, "GET", right, host, "Host: evil.example\r\n"), 403, "127.0.0.1 and localhost alone");
  expect_in(ask(&s, "GET", right, host, "Origin: http://evil.example\r\n"), 403, "its own page alone");
  expect_in(ask(&s, "GET", right, host, "Origin: null\r\n"), 403, "its own page alone");
  expect_in(ask(&s, "POST", right, host, "Content-Length: 0\r\n"), 405, "\r\nAllow: GET\r\n");
  char *whole = ask(&s, "GET", right, host, "");
  cr_expect_null(strstr(whole, "\r\nAllow:"), "what may be asked is said of what may not");
  free(whole);
  expect_in(ask(&s, "PUT", right, host, ""), 405, "only GET");
  expect_in(ask(&s, "GET", right, host, "Content-Length: 5\r\n"), 400, "has no body");
  expect_in(ask(&s, "GET", right, host, "Transfer-Encoding: chunked\r\n"), 400, "has no body");
  /* libmicrohttpd 1.0 (Debian 13) refuses this one itself, in its own words. */
  expect_in(ask(&s, "GET", right, host, "Transfer-Encoding: identity\r\nContent-Length: 0\r\n"), 400, "Bad Request");
  expect_in(ask(&s, "OPTIONS", right, host, "Origin: http://evil.example\r\nAccess-Control-Request-Method: GET\r\n"),
            403, "its own page alone");
  expect_end(&s, SIGINT);
}

/* Whoever listens on another address of this machine finds nothing. */
Test(explore_command, other_addresses__are_not_served) {
  served s = serve(&(command){.arguments = {"explore"}});
  struct sockaddr_in there = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)s.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1)};
  int connection = socket(AF_INET, SOCK_STREAM, 0);
  cr_expect_neq(connect(connection, (struct sockaddr *)&there, sizeof there), 0);
  close(connection);
  expect_end(&s, SIGINT);
}

/* ---- bad clients ------------------------------------------------------------------------------------------------- */

/* Of a request that never ends the server waits for more; we do not. */
static void set_patience(int connection) {
  const struct timeval patience = {.tv_usec = 300000};
  (void)setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

/* Nothing that is sent ends the server, or gets an answer that is none. */
Test(explore_command, malformed_requests__do_no_harm) {
  served s = serve(&(command){.arguments = {"explore"}});
  static const char *const bytes[] = {
      "\r\n\r\n",
      "garbage\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost\r\n\r\n",
      "GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
      "GET /\x01\xff HTTP/1.1\r\nHost: \xff\r\nConnection: close\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  };
  for (size_t i = 0; i < RS_COUNT(bytes); i++) {
    int connection = connect_to(&s);
    set_patience(connection);
    (void)!send(connection, bytes[i], strlen(bytes[i]), MSG_NOSIGNAL);
    shutdown(connection, SHUT_WR);
    char part[512] = "";
    (void)!recv(connection, part, sizeof part - 1, 0);
    cr_expect_null(strstr(part, " 200 "), "request %zu", i);
    close(connection);
  }
  expect_in(get(&s, "answer?length=1k"), 200, "\"length_tokens\": 1024");
  expect_end(&s, SIGINT);
}

/* Changes, drops, doubles or adds a few bytes at random. */
static void garble(rs_text *request, unsigned *seed) {
  static const char marks[] = "\r\n :/?&=%+\0\x7f\xff";
  for (int i = 1 + rand_r(seed) % 4; i > 0 && request->length > 1; i--) {
    size_t at = (size_t)rand_r(seed) % request->length, size = 1 + (size_t)rand_r(seed) % 16;
    if (size > request->length - at) size = request->length - at;
    char byte = rand_r(seed) % 2 ? marks[(size_t)rand_r(seed) % (sizeof marks - 1)] : (char)rand_r(seed), copy[16];
    memcpy(copy, request->data + at, size);
    switch (rand_r(seed) % 4) {
    case 0: request->data[at] = byte; break;
    case 1: memset(request->data + at, byte, size); break;
    case 2: rs_text_add(request, copy, size); break;
    default: /* dropped */
      memmove(request->data + at, request->data + at + size, request->length - at - size);
      request->length -= size;
    }
  }
}

/* What comes back, of its beginning. */
static void send_garbled(const served *s, const rs_text *request, char *part, size_t room) {
  const struct linger at_once = {.l_onoff = 1};
  int connection = connect_to(s);
  size_t length = 0;
  set_patience(connection);
  (void)setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  (void)!send(connection, rs_text_string(request), request->length, MSG_NOSIGNAL);
  for (ssize_t now; length < room - 1 && (now = recv(connection, part + length, room - 1 - length, 0)) > 0;)
    length += (size_t)now;
  part[length] = '\0';
  close(connection);
}

/* Whatever it is, the answer is one of HTTP and no failure of the server's own, and the page goes only to its reader.
 */
Test(explore_command, garbled_requests__get_an_answer_or_none) {
  enum { REQUESTS = 500 };
  served s = serve(&(command){.arguments = {"explore"}});
  unsigned seed = 1, answered = 0, refused = 0;
  for (int i = 0; i < REQUESTS; i++) {
    static const char *const paths[] = {"", "page.js", "choices", "answer?method=yarn&factor=8&length=1k",
                                        "answer?a=%20"};
    unsigned before = seed, number = 0;
    rs_text request = {0};
    char part[64];
    rs_text_printf(&request, "GET /%s/%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nOrigin: http://127.0.0.1:%u\r\n\r\n",
                   s.token, paths[(size_t)i % RS_COUNT(paths)], s.port, s.port);
    garble(&request, &seed);
    rs_text_puts(&request, "\r\n\r\n");
    send_garbled(&s, &request, part, sizeof part);
    cr_assert(part[0] == '\0' || sscanf(part, "HTTP/1.%*1[01] %3u ", &number) == 1, "seed %u: %s", before, part);
    cr_assert(number < 500 || number == 501 || number == 505, "seed %u: %s", before, part);
    answered += number == 200;
    refused += number >= 400;
    rs_text_clear(&request);
  }
  cr_expect(answered > 20 && refused > 100, "%u answers, %u refusals", answered, refused);
  expect_in(get(&s, "answer?length=1k"), 200, "\"length_tokens\": 1024");
  expect_end(&s, SIGINT);
}

Test(explore_command, huge_requests__are_refused) {
  served s = serve(&(command){.arguments = {"explore"}});
  rs_text header = {0}, query = {0};
  rs_text_printf(&header, "GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nX: ", s.token, s.port);
  for (size_t i = 0; i < 1 << 20; i++) rs_text_puts(&header, "x");
  rs_text_puts(&header, "\r\n\r\n");
  char *got = exchange(&s, rs_text_string(&header), header.length);
  cr_expect_null(strstr(got, " 200 "), "%.100s", got);
  free(got);
  rs_text_printf(&query, "GET /%s/answer?method=", s.token);
  for (size_t i = 0; i < 1 << 17; i++) rs_text_puts(&query, "x");
  rs_text_printf(&query, " HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n", s.port);
  got = exchange(&s, rs_text_string(&query), query.length);
  cr_expect_null(strstr(got, " 200 "), "%.100s", got);
  free(got);
  expect_in(get(&s, "answer?length=1k"), 200, "\"length_tokens\": 1024");
  rs_text_clear(&header);
  rs_text_clear(&query);
  expect_end(&s, SIGINT);
}

/* Clients that send half a request and wait: others are answered, and Ctrl-C ends it all. */
Test(explore_command, slow_requests__do_not_hold_others) {
  enum { SLOW = 20 };
  served s = serve(&(command){.arguments = {"explore"}});
  int slow[SLOW];
  for (size_t i = 0; i < SLOW; i++) {
    slow[i] = connect_to(&s);
    cr_assert_eq(send(slow[i], "GET / HT", 8, MSG_NOSIGNAL), 8);
  }
  expect_in(get(&s, "answer?length=1k"), 200, "\"length_tokens\": 1024");
  expect_end(&s, SIGINT);
  for (size_t i = 0; i < SLOW; i++) close(slow[i]);
}

/* Clients that ask for much and read nothing: the same. */
Test(explore_command, clients_that_do_not_read__do_not_hold_others) {
  enum { DEAF = 20, QUESTIONS = 40 };
  served s = serve(&(command){.arguments = {"explore"}});
  int deaf[DEAF];
  rs_text request = {0};
  for (size_t i = 0; i < QUESTIONS; i++)
    rs_text_printf(&request, "GET /%s/chart.js HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", s.token, s.port);
  for (size_t i = 0; i < DEAF; i++) {
    int small = 1;
    deaf[i] = connect_to(&s);
    (void)setsockopt(deaf[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    cr_assert_eq(send(deaf[i], rs_text_string(&request), request.length, MSG_NOSIGNAL), (ssize_t)request.length);
  }
  expect_in(get(&s, "answer?length=1k"), 200, "\"length_tokens\": 1024");
  expect_end(&s, SIGINT);
  for (size_t i = 0; i < DEAF; i++) close(deaf[i]);
  rs_text_clear(&request);
}

/* More of them than are served at once: others wait until they are let go: the suite `full`
 * waits. */
Test(explore_command, more_clients_than_are_served__others_wait) {
  enum { CLIENTS = 80 };
  if (getenv("ROPESCOPE_WAITS") == NULL) return;
  served s = serve(&(command){.arguments = {"explore"}});
  int silent[CLIENTS];
  for (size_t i = 0; i < CLIENTS; i++) silent[i] = connect_to(&s);
  expect_in(get(&s, "answer?length=1k"), 200, "\"length_tokens\": 1024");
  expect_end(&s, SIGINT);
  for (size_t i = 0; i < CLIENTS; i++) close(silent[i]);
}

/* One that sends nothing more is let go, after as many seconds as the server has patience: the suite `full` waits. */
Test(explore_command, silent_clients__are_let_go) {
  if (getenv("ROPESCOPE_WAITS") == NULL) return;
  served s = serve(&(command){.arguments = {"explore"}});
  char byte;
  int silent = connect_to(&s);
  time_t began = time(NULL);
  cr_assert_eq(send(silent, "GET / HT", 8, MSG_NOSIGNAL), 8);
  while (recv(silent, &byte, 1, 0) > 0) {
  }
  cr_expect_lt(time(NULL) - began, PATIENCE);
  close(silent);
  expect_end(&s, SIGINT);
}

/* ---- wrong use --------------------------------------------------------------------------------------------------- */

Test(explore_command, wrong_use__is_said) {
  write_file("wrong.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8,\n"
                           " \"max_position_embeddings\": 2048, \"rope_scaling\": {\"rope_type\": \"yarn\", "
                           "\"factor\": -4}}");
  static const struct {
    const char *arguments[6], *err;
    int status;
  } cases[] = {
      {{"explore", "--hf", "wrong.json"}, "wrong.json:2:", 2},
      {{"explore", "--hf", "none.json"}, "none.json: cannot read", 2},
      {{"explore", "--hf", "wrong.json", "--model", "llama-2-7b"}, "both name a model", 2},
      {{"explore", "--model", "llama-2"}, "is no model preset", 2},
      {{"explore", "--method", "{name: yarn, facto: 8}"}, "did you mean factor?", 2},
      {{"explore", "--port", "65536"}, "--port 65536: must be from 1 to 65535", 2},
      {{"explore", "--length", "2M"}, "--length 2M: must be from 1 to 1048576", 2},
      {{"explore", "config.json"}, "explore takes no arguments", 2},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    for (size_t a = 0; a < 6 && cases[i].arguments[a] != NULL; a++) c.arguments[a] = cases[i].arguments[a];
    expect_said(&c, cases[i].status, cases[i].err);
  }
}
