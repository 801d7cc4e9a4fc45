/* Which requests are answered: those that this machine's own browser sends to the page that it was given the address
 * of. Another page in that browser may send requests here, and by a name of its own that leads here (DNS rebinding) may
 * even read answers; it knows neither the token nor sends this Host. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "explore.h"

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
  if (request->target == NULL || !has_token(gate, request->target))
    return refuse(404, "there is nothing here: the address that ropescope explore printed has a longer path", why);
  if (strcmp(request->method, "GET") != 0) return refuse(405, "only GET is answered", why);
  if (request->body) return refuse(400, "a GET request has no body", why);
  if (strlen(request->target) > RS_EXPLORE_TOKEN + RS_EXPLORE_QUERY) return refuse(414, "the query is too long", why);
  *path = request->target + RS_EXPLORE_TOKEN + 2;
  return 0;
}
