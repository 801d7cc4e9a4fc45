/* What there is: the version, names to choose from, and methods of the caller's as kinds of stages. A kind is the first
 * member of its bridge, and stages are told which kind they are: so each finds its callbacks, and nothing is global. */
#include "api.h"

#include "advice/advice.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- methods of a caller's --------------------------------------------------------------------------------------- */

enum { MOST_PARAMETERS = 16, MOST_MESSAGE = 256 };

typedef struct callbacks {
  ropescope_status (*frequencies)(void *user, const ropescope_method_call *call, double *inv_freq,
                                  double *attention_factor, double *logit_factor, char *message, size_t capacity);
  void (*bias)(void *user, const ropescope_method_call *call, size_t head, size_t query, size_t begin, size_t end,
               double *bias);
  void (*release)(void *user);
  void *user;
  bool of_distance;
} callbacks;

typedef struct freq_bridge {
  rs_freq_kind kind; /* first */
  const callbacks *calls;
} freq_bridge;

typedef struct bias_bridge {
  rs_bias_kind kind; /* first, and its rs_kind first within */
  const callbacks *calls;
} bias_bridge;

typedef struct api_method {
  rs_method method;
  callbacks calls;
  freq_bridge freq;
  bias_bridge bias;
  rs_param params[MOST_PARAMETERS];
  rs_arena words;
} api_method;

/* The struct of the parameters. */
typedef struct values {
  double number[MOST_PARAMETERS];
} values;

_Static_assert(offsetof(rs_bias_kind, kind) == 0, "a bias's bridge is found by its rs_kind");

/* ---- what stages ask --------------------------------------------------------------------------------------------- */

static rs_status check_frequencies(const rs_freq_in *in, const rs_freq_out *out, rs_err *err) {
  const char *name = in->kind->kind.name;
  for (size_t j = 0; j < in->rotary_dim / 2; j++)
    if (!isfinite(out->omega[j]) || out->omega[j] < 0)
      return rs_fail(err, RS_DOMAIN, "%s gives pair %zu the frequency %g: it must be finite and not negative", name, j,
                     out->omega[j]);
  if (isfinite(out->factor) && isfinite(out->logit_factor)) return RS_OK;
  return rs_fail(err, RS_DOMAIN, "%s gives a factor that is not finite", name);
}

static rs_status fill(const rs_freq_in *in, rs_freq_out *out, rs_err *err) {
  const callbacks *calls = ((const freq_bridge *)in->kind)->calls;
  const ropescope_method_call call = {.length = in->length,
                                      .heads = in->heads,
                                      .head_dim = in->head_dim,
                                      .rotary_dim = in->rotary_dim,
                                      .theta = in->theta,
                                      .train_length = in->train_length,
                                      .max_length = in->max_length,
                                      .scale = in->scale,
                                      .parameters = ((const values *)in->params)->number};
  char message[MOST_MESSAGE] = "";
  for (size_t j = 0; j < in->rotary_dim / 2; j++) out->omega[j] = 0;
  ropescope_status status =
      calls->frequencies(calls->user, &call, out->omega, &out->factor, &out->logit_factor, message, sizeof message);
  if (status == ROPESCOPE_OK) return check_frequencies(in, out, err);
  message[sizeof message - 1] = '\0';
  bool known = status > ROPESCOPE_OK && status <= ROPESCOPE_BUSY;
  return rs_fail(err, known ? (rs_status)status : RS_INTERNAL, "%s: %s", in->kind->kind.name,
                 *message != '\0' ? message : "its frequencies could not be made");
}

/* What a row is asked with; the numbers are the state's own. */
typedef struct bias_state {
  const callbacks *calls;
  ropescope_method_call call;
  values parameters;
} bias_state;

static rs_status prepare(const rs_stage_in *in, double *table, void *state, rs_err *err) {
  (void)table;
  (void)err;
  bias_state *s = state;
  *s = (bias_state){.calls = ((const bias_bridge *)in->kind)->calls,
                    .call = {.length = in->length,
                             .heads = in->heads,
                             .head_dim = in->head_dim,
                             .rotary_dim = 0,
                             .theta = NAN,
                             .train_length = in->train_length,
                             .max_length = NAN,
                             .scale = in->scale},
                    .parameters = *(const values *)in->params};
  s->call.parameters = s->parameters.number;
  return RS_OK;
}

static bool by_distance(const void *state) {
  return ((const bias_state *)state)->calls->of_distance;
}

static void row(const void *state, size_t head, size_t query, size_t begin, size_t end, double *bias) {
  const bias_state *s = state;
  s->calls->bias(s->calls->user, &s->call, head, query, begin, end, bias);
}

/* ---- the spec ---------------------------------------------------------------------------------------------------- */

static bool is_name(const char *word) {
  size_t length = word != NULL ? strlen(word) : 0;
  for (size_t i = 0; i < length; i++)
    if (!isalnum((unsigned char)word[i]) && word[i] != '_') return false;
  return length > 0 && length < 48 && !isdigit((unsigned char)word[0]);
}

static bool has_param(const rs_kind *stage, const char *name) {
  for (size_t i = 0; i < stage->param_count; i++)
    if (strcmp(stage->params[i].name, name) == 0) return true;
  return strcmp(name, "name") == 0 || strcmp(name, "label") == 0 || strcmp(name, "zip") == 0;
}

static rs_status check_parameter(const ropescope_method_spec *spec, size_t index, rs_err *err) {
  const ropescope_parameter_spec *p = &spec->parameters[index];
  static const char member[] = "parameters";
  if (!is_name(p->name))
    return rs_fail_on(err, RS_INPUT, member, "number %zu has no name of letters, digits and _", index);
  bool taken = has_param(&rs_common_stage, p->name) || has_param(&rs_rotary_stage, p->name) ||
               has_param(&rs_scale_stage, p->name);
  for (size_t i = 0; i < index; i++) taken |= strcmp(spec->parameters[i].name, p->name) == 0;
  if (taken) return rs_fail_on(err, RS_INPUT, member, "%s is taken: the method has it already", p->name);
  if (!isfinite(p->min) || !isfinite(p->max) || !(p->min <= p->fallback && p->fallback <= p->max))
    return rs_fail_on(err, RS_INPUT, member, "%s must have finite bounds around its default", p->name);
  return RS_OK;
}

static rs_status check_spec(const ropescope_method_spec *spec, rs_err *err) {
  RS_TRY(rs_api_sized(spec, sizeof *spec, "ropescope_method_spec", err));
  if (!is_name(spec->name)) return rs_fail_on(err, RS_INPUT, "name", "must be letters, digits and _");
  if (spec->summary == NULL) return rs_fail_on(err, RS_INPUT, "summary", "is missing");
  if (spec->version < 0) return rs_fail_on(err, RS_INPUT, "version", "must be at least 1");
  if (spec->frequencies == NULL && spec->bias == NULL)
    return rs_fail_on(err, RS_INPUT, "frequencies", "and bias are both missing: the method would do nothing");
  if (spec->parameter_count > MOST_PARAMETERS)
    return rs_fail_on(err, RS_INPUT, "parameters", "are %zu, and %d at most", spec->parameter_count, MOST_PARAMETERS);
  if (spec->parameter_count > 0 && spec->parameters == NULL)
    return rs_fail_on(err, RS_INPUT, "parameters", "are missing");
  if (spec->scaled && spec->frequencies == NULL)
    return rs_fail_on(err, RS_INPUT, "scaled", "is of no use without frequencies");
  for (size_t i = 0; i < spec->parameter_count; i++) RS_TRY(check_parameter(spec, i, err));
  return RS_OK;
}

static const char *keep_word(api_method *method, const char *word) {
  return rs_arena_text(&method->words, rs_api_word(word));
}

static void make_parameter(api_method *method, const ropescope_parameter_spec *from, size_t index) {
  char fallback[RS_NUMBER_CHARS];
  rs_number_format(from->fallback, fallback);
  method->params[index] = (rs_param){.name = keep_word(method, from->name),
                                     .type = RS_REAL,
                                     .offset = index * sizeof(double),
                                     .unit = keep_word(method, from->unit),
                                     .min = from->min,
                                     .max = from->max,
                                     .fallback = keep_word(method, fallback),
                                     .summary = keep_word(method, from->summary)};
}

static void make_method(const ropescope_method_spec *spec, api_method *made) {
  const char *name = keep_word(made, spec->name), *summary = keep_word(made, spec->summary),
             *reference = keep_word(made, spec->reference);
  for (size_t i = 0; i < spec->parameter_count; i++) make_parameter(made, &spec->parameters[i], i);
  const rs_kind kind = {.name = name,
                        .summary = summary,
                        .reference = reference,
                        .version = spec->version,
                        .params = made->params,
                        .param_count = spec->parameter_count,
                        .params_size = sizeof(values)};
  made->calls = (callbacks){spec->frequencies, spec->bias, spec->release, spec->user, spec->bias_of_distance != 0};
  made->freq = (freq_bridge){{.kind = kind, .scaled = spec->scaled != 0, .fill = fill}, &made->calls};
  made->bias = (bias_bridge){
      {.kind = kind, .state_size = sizeof(bias_state), .prepare = prepare, .by_distance = by_distance, .row = row},
      &made->calls};
  made->method = (rs_method){.name = name,
                             .summary = summary,
                             .reference = reference,
                             .pos = rs_method_find("rope")->pos,
                             .freq = spec->frequencies != NULL ? &made->freq.kind : NULL,
                             .bias = spec->bias != NULL ? &made->bias.kind : NULL};
}

static void method_free(api_method *method) {
  rs_arena_clear(&method->words);
  free(method);
}

/* From a spec, all of whose words are copied. RS_INPUT, with the member as subject; RS_MEMORY. */
static rs_status method_make(const ropescope_method_spec *spec, api_method **method, rs_err *err) {
  RS_TRY(check_spec(spec, err));
  *method = rs_alloc(1, sizeof **method, err);
  if (*method == NULL) return RS_MEMORY;
  make_method(spec, *method);
  rs_status status = rs_arena_check(&(*method)->words, err);
  if (status != RS_OK) method_free(*method);
  return status;
}

/* ---- the library ------------------------------------------------------------------------------------------------- */

struct ropescope_library {
  api_method **methods;   /* (count,) owned */
  const rs_method **list; /* (count,) the same as internals have them */
  size_t count, method_room, list_room;
};

rs_method_list rs_api_methods(const ropescope_library *library) {
  return library != NULL ? (rs_method_list){library->list, library->count} : (rs_method_list){0};
}

const char *ropescope_version(void) {
  return ROPESCOPE_VERSION;
}

ropescope_status ropescope_library_create(ropescope_library **library, ropescope_error **error) {
  rs_err err = {0};
  *library = rs_alloc(1, sizeof **library, &err);
  return *library != NULL ? ROPESCOPE_OK : rs_api_fail(error, &err, NULL);
}

void ropescope_library_free(ropescope_library *library) {
  if (library == NULL) return;
  for (size_t i = 0; i < library->count; i++) {
    const callbacks *calls = &library->methods[i]->calls;
    if (calls->release != NULL) calls->release(calls->user);
    method_free(library->methods[i]);
  }
  free(library->methods);
  free(library->list);
  free(library);
}

static rs_status add(ropescope_library *library, const ropescope_method_spec *spec, rs_err *err) {
  api_method *method;
  RS_TRY(RS_GROW(library->methods, &library->method_room, library->count + 1, err));
  RS_TRY(RS_GROW(library->list, &library->list_room, library->count + 1, err));
  RS_TRY(method_make(spec, &method, err));
  const rs_method *made = &method->method;
  const rs_method_list mine = rs_api_methods(library);
  if (rs_method_find_in(&mine, made->name) != NULL || strcmp(made->name, RS_PUBLISHED) == 0 ||
      strcmp(made->name, RS_TRAINED) == 0) {
    rs_status status = rs_fail_on(err, RS_INPUT, "name", "%s is taken: there is such a method", made->name);
    method_free(method);
    return status;
  }
  library->methods[library->count] = method;
  library->list[library->count++] = made;
  return RS_OK;
}

ropescope_status ropescope_library_add_method(ropescope_library *library, const ropescope_method_spec *spec,
                                              ropescope_error **error) {
  rs_err err = {0};
  return rs_api_end(add(library, spec, &err), error, &err, NULL);
}

/* ---- names to choose from ---------------------------------------------------------------------------------------- */

static int tell(ropescope_entry *entry, const char *name, const char *summary, const char *reference) {
  *entry = (ropescope_entry){name, rs_api_word(summary), rs_api_word(reference)};
  return 1;
}

int ropescope_method_at(const ropescope_library *library, size_t index, ropescope_entry *entry) {
  const rs_method_list mine = rs_api_methods(library);
  size_t count;
  const rs_method *methods = rs_methods(&count);
  if (index >= count && index - count >= mine.count) return 0;
  const rs_method *method = index < count ? &methods[index] : mine.items[index - count];
  return tell(entry, method->name, method->summary, method->reference);
}

int ropescope_metric_at(size_t index, ropescope_entry *entry) {
  size_t count;
  const rs_metric_kind *const *kinds = rs_metric_kinds(&count);
  if (index >= count) return 0;
  return tell(entry, kinds[index]->kind.name, kinds[index]->kind.summary, kinds[index]->kind.reference);
}

int ropescope_preset_at(size_t index, ropescope_entry *entry) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  return index < count ? tell(entry, presets[index].name, NULL, NULL) : 0;
}

int ropescope_rule_at(size_t index, ropescope_entry *entry) {
  const rs_rule *rule = rs_rules(index);
  return rule != NULL ? tell(entry, rule->code, rule->summary, rule->reference) : 0;
}

int ropescope_engine_at(size_t index, ropescope_entry *entry) {
  const rs_config_engine *engine = rs_config_engines(index);
  return engine != NULL ? tell(entry, engine->name, engine->title, engine->source) : 0;
}

int ropescope_consumer_at(size_t index, ropescope_entry *entry) {
  const rs_consumer *consumer = rs_consumers(index);
  return consumer != NULL ? tell(entry, consumer->name, consumer->summary, consumer->reference) : 0;
}
