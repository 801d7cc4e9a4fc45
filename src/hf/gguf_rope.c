/* What a GGUF file says of rotation: base, dims, scaling, and the factors that stand in tensors, as the rope dictionary
 * of a config.json. llama.cpp reads the same in src/llama-model.cpp, src/llama-context.cpp (YaRN's magnitude) and
 * ggml/src/ggml-cpu/ops.cpp; what it takes where a key is missing is said in a note. */
#include "gguf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most_factor = 1e6;

/* What of the rope dictionary is known on the way. */
typedef struct scaling {
  const char *type;                   /* "none", "linear", "yarn", "longrope" */
  double factor, attention;           /* rope.scaling.attn_factor */
  size_t original;                    /* 0: not said */
  double *factors, *shorter, *longer; /* (pairs,) rope_freqs.weight, rope_factors_*; NULL: there are none. Owned */
  const rs_node *sections;            /* rope.dimension_sections */
} scaling;

/* ---- base and dims ----------------------------------------------------------------------------------------------- */

static double write_base(rs_gguf_reader *r) {
  const char *name = r->row->architecture;
  bool local = strcmp(name, "gemma3") == 0 && r->windowed;
  double base = rs_gguf_real(r, "rope.freq_base", 1.000001, 1e300, 10000);
  if (rs_gguf_key(r, "rope.freq_base") == NULL)
    rs_gguf_note(r, "%s.rope.freq_base is missing: llama.cpp takes 10000", name);
  rs_json_number(r->json, "rope_theta", base);
  if (!local) return base;
  if (rs_gguf_key(r, "rope.freq_base_swa") == NULL)
    rs_gguf_note(r, "%s.rope.freq_base_swa is missing: llama.cpp takes 10000", name);
  rs_json_number(r->json, "rope_local_base_freq", rs_gguf_real(r, "rope.freq_base_swa", 1.000001, 1e300, 10000));
  return base;
}

/* A fraction of a head of which the reader makes the same number of dims. */
static void write_turned(rs_gguf_reader *r) {
  const rs_node *node = rs_gguf_key(r, "rope.dimension_count");
  r->turned = rs_gguf_count(r, "rope.dimension_count", 1, r->head_dim);
  if (r->turned == r->head_dim) return;
  if ((r->row->traits & RS_GGUF_PARTIAL) == 0 || r->turned > r->head_dim) {
    rs_problem(&r->problems, node, "must be the %zu dims of a head: llama.cpp turns whole heads of a %s", r->head_dim,
               r->row->architecture);
    return;
  }
  double fraction = (double)r->turned / (double)r->head_dim;
  if ((size_t)((double)r->head_dim * fraction) < r->turned) fraction = nextafter(fraction, 1);
  rs_json_number(r->json, "partial_rotary_factor", fraction);
}

/* [time, row, column, 0], or NULL with a problem. */
static const rs_node *read_sections(rs_gguf_reader *r) {
  const rs_node *node = rs_gguf_key(r, "rope.dimension_sections");
  bool list = node != NULL && node->kind == RS_SEQUENCE && node->count == RS_AXES + 1;
  if (node == NULL)
    rs_problem(&r->problems, r->metadata, "%s.rope.dimension_sections is missing: a %s file needs it",
               r->row->architecture, r->row->architecture);
  else if (!list || strcmp(rs_hf_word(&node->items[RS_AXES]), "0") != 0)
    rs_problem(&r->problems, node, "must be 4 entries: pairs of time, row and column, and 0");
  return list ? node : NULL;
}

static void write_sections(rs_gguf_reader *r, const rs_node *sections) {
  rs_json_list(r->json, "mrope_section");
  for (size_t a = 0; a < RS_AXES; a++)
    rs_json_number(r->json, NULL, (double)rs_read_count(&r->problems, &sections->items[a], 0, 32768, 0));
  rs_json_end(r->json);
}

/* ---- factors in tensors ------------------------------------------------------------------------------------------ */

/* (pairs,) *factors NULL where the file has no such tensor. */
static rs_status read_factors(rs_gguf_reader *r, const char *name, double **factors, rs_err *err) {
  const rs_stored_tensor *tensor = rs_gguf_tensor(r, name);
  *factors = NULL;
  if (tensor == NULL) return RS_OK;
  if (tensor->rank != 1 || tensor->count != r->turned / 2)
    return rs_fail(err, RS_INPUT, "%s: tensor \"%s\": has %zu numbers, wanted is one for each of %zu pairs",
                   tensor->file, name, tensor->count, r->turned / 2);
  *factors = rs_alloc(tensor->count, sizeof **factors, err);
  if (*factors == NULL) return RS_MEMORY;
  rs_status status = rs_stored_doubles(tensor, 0, tensor->count, *factors, err);
  for (size_t j = 0; j < tensor->count && status == RS_OK; j++)
    if (!((*factors)[j] > 0))
      status = rs_fail(err, RS_INPUT, "%s: tensor \"%s\": factor %zu is %g: must be more than 0", tensor->file, name, j,
                       (*factors)[j]);
  return status;
}

/* llama.cpp loads no file with a tensor that it does not ask for. */
static bool reads_tensor(const rs_gguf_reader *r, const char *name, const char *type) {
  bool llama = (r->row->traits & RS_GGUF_FREQUENCIES) != 0, phi = strcmp(r->row->architecture, "phi3") == 0;
  bool longrope = strcmp(type, "longrope") == 0;
  if (strcmp(name, "rope_freqs.weight") == 0) return llama && !longrope;
  bool factors = strcmp(name, "rope_factors_short.weight") == 0 || strcmp(name, "rope_factors_long.weight") == 0;
  return factors && (phi || (llama && longrope));
}

static void refuse_tensors(rs_gguf_reader *r, const char *type) {
  const rs_safetensors *checkpoint = rs_gguf_checkpoint(r->file);
  for (size_t i = 0; i < checkpoint->count; i++) {
    const char *name = checkpoint->tensors[i].name;
    bool positions = strstr(name, "rope_freqs") != NULL || strstr(name, "rope_factors") != NULL;
    if (!positions || reads_tensor(r, name, type)) continue;
    bool llama = (r->row->traits & RS_GGUF_FREQUENCIES) != 0;
    rs_problem(&r->problems, r->metadata,
               "tensor \"%s\": llama.cpp does not read it of a %s%s%s, and loads no file that has it", name,
               r->row->architecture, llama ? " whose rope.scaling.type is " : "", llama ? type : "");
  }
}

static bool all_one(const double *factors, size_t count) {
  size_t ones = 0;
  while (ones < count && factors[ones] == 1) ones++;
  return ones == count;
}

/* As the class of transformers divides frequencies, and convert_hf_to_gguf.py writes it. */
static double factor_of(const rs_llama3 *recipe, double wavelength) {
  double smooth = (recipe->original / wavelength - recipe->low) / (recipe->high - recipe->low);
  if (wavelength < recipe->original / recipe->high) return 1;
  if (wavelength > recipe->original / recipe->low) return recipe->factor;
  return 1 / ((1 - smooth) / recipe->factor + smooth);
}

static bool is_made_by(const rs_llama3 *recipe, const double *factors, size_t count, double theta) {
  static const double tolerance = 4e-6; /* of floats, whose frequencies are rounded before they are compared */
  for (size_t j = 0; j < count; j++) {
    double made = factor_of(recipe, 2 * M_PI * pow(theta, (double)j / (double)count));
    if (!(fabs(made - factors[j]) <= tolerance * made)) return false;
  }
  return true;
}

/* With s what `smooth` is for a wavelength w, s = a / w - b: two of the factors between 1 and the largest say both, one
 * alone where b = 1 / 3, as of Llama 3.1's bounds. */
static bool solve(const double *factors, size_t count, double theta, double *a, double *b) {
  static const double apart = 1e-4; /* from 1 and from the largest: what is nearer says little in float */
  double most = factors[count - 1], inverse[2], smooth[2];
  size_t first = 0, last = count;
  while (first < count && factors[first] <= 1 + apart) first++;
  while (last > first && factors[last - 1] >= most * (1 - apart)) last--;
  if (last <= first) return false;
  const size_t at[2] = {first, last - 1};
  for (size_t i = 0; i < 2; i++) {
    inverse[i] = pow(theta, -(double)at[i] / (double)count) / (2 * M_PI);
    smooth[i] = (1 / factors[at[i]] - 1 / most) / (1 - 1 / most);
  }
  bool one = at[0] == at[1];
  *b = 1.0 / 3;
  *a = one ? (smooth[0] + *b) / inverse[0] : (smooth[0] - smooth[1]) / (inverse[0] - inverse[1]);
  if (!one) *b = *a * inverse[0] - smooth[0];
  return *a > 0 && *b > 0;
}

static double rounded(double number, double step) {
  return round(number / step) * step;
}

bool rs_llama3_fit(const double *factors, size_t count, double theta, double original, rs_llama3 *recipe) {
  static const double steps[] = {8192, 1024, 256, 1};
  double a, b;
  if (count == 0 || !(factors[count - 1] > 1)) return false;
  *recipe = (rs_llama3){factors[count - 1], 1, 4, original > 0 ? original : 8192}; /* Llama 3.1's */
  if (is_made_by(recipe, factors, count, theta)) return true;
  if (!solve(factors, count, theta, &a, &b)) return false;
  for (size_t i = 0; i < RS_COUNT(steps);
       i++) { /* lengths and bounds scale together: the lower one is 1 unless known */
    recipe->original = original > 0 ? original : rounded(a / b, steps[i]);
    recipe->low = original > 0 ? rounded(original * b / a, 1.0 / 1024) : 1;
    recipe->high = rounded(recipe->low * (1 + 1 / b), 1.0 / 1024);
    if (recipe->low > 0 && recipe->high > recipe->low && is_made_by(recipe, factors, count, theta)) return true;
  }
  return false;
}

/* Of each pair its factor times `scale`. */
static void write_list(rs_gguf_reader *r, const char *key, const double *factors, double scale) {
  rs_json_list(r->json, key);
  for (size_t j = 0; j < r->turned / 2; j++) {
    char shortest[RS_NUMBER_CHARS];
    double number = factors[j] * scale;
    (void)rs_number_format_single((float)number, shortest);
    (void)rs_number_read(shortest, &number);
    rs_json_number(r->json, NULL, number);
  }
  rs_json_end(r->json);
}

/* rope_freqs.weight: Llama 3's recipe, or what divides each frequency. */
static void write_factors(rs_gguf_reader *r, const scaling *s, double base) {
  rs_llama3 recipe;
  if (rs_llama3_fit(s->factors, r->turned / 2, base, (double)s->original, &recipe)) {
    rs_json_string(r->json, "rope_type", "llama3");
    rs_json_number(r->json, "factor", recipe.factor);
    rs_json_number(r->json, "low_freq_factor", recipe.low);
    rs_json_number(r->json, "high_freq_factor", recipe.high);
    rs_json_number(r->json, "original_max_position_embeddings", recipe.original);
    return;
  }
  rs_json_string(r->json, "rope_type", "longrope");
  write_list(r, "short_factor", s->factors, 1);
  write_list(r, "long_factor", s->factors, 1);
  rs_json_number(r->json, "attention_factor", 1);
  rs_gguf_note(r, "rope_freqs.weight is of no recipe that is known here: its factors are read one by one, as longrope "
                  "that divides by the same at every length");
}

/* ---- scaling ----------------------------------------------------------------------------------------------------- */

/* The type, which llama.cpp takes for linear where the file has none. */
static const char *read_type(rs_gguf_reader *r, double factor) {
  static const char *const types[] = {"none", "linear", "yarn", "longrope"};
  const rs_node *node = rs_gguf_key(r, "rope.scaling.type");
  if (node == NULL && factor != 1)
    rs_gguf_note(r, "%s.rope.scaling.type is missing: llama.cpp takes linear", r->row->architecture);
  if (node == NULL) return "linear";
  for (size_t i = 0; i < RS_COUNT(types); i++)
    if (strcmp(rs_hf_word(node), types[i]) == 0) return types[i];
  rs_problem(&r->problems, node, "is no type of llama.cpp's (none, linear, yarn, longrope)");
  return "none";
}

/* By the key's old name, too; 0 is 1. */
static double read_factor(rs_gguf_reader *r) {
  const char *name = r->row->architecture;
  const rs_node *said = rs_gguf_key(r, "rope.scaling.factor"), *older = rs_gguf_key(r, "rope.scale_linear"),
                *type = rs_gguf_key(r, "rope.scaling.type");
  const char *word = rs_hf_word(type);
  double factor = rs_gguf_real(r, "rope.scale_linear", 0, most_factor, 1);
  factor = rs_gguf_real(r, "rope.scaling.factor", 0, most_factor, factor);
  if (said == NULL && older == NULL && (strcmp(word, "linear") == 0 || strcmp(word, "yarn") == 0))
    rs_gguf_note(r, "%s.rope.scaling.factor is missing: llama.cpp takes 1", name);
  if (said != NULL && older != NULL)
    rs_gguf_note(r, "%s.rope.scale_linear is not read beside rope.scaling.factor", name);
  if (factor > 0) return factor;
  rs_gguf_note(r, "%s.%s = 0: llama.cpp takes 1", name, said != NULL ? "rope.scaling.factor" : "rope.scale_linear");
  return 1;
}

static bool same_float(double a, double b) {
  return (float)a == (float)b;
}

/* What multiplies cos and sin of YaRN, where the file says it otherwise than by the factor. */
static void write_yarn(rs_gguf_reader *r, const scaling *s) {
  static const char *const keys[][2] = {{"rope.scaling.yarn_beta_fast", "beta_fast"},
                                        {"rope.scaling.yarn_beta_slow", "beta_slow"}};
  const char *name = r->row->architecture;
  const rs_node *extent = rs_gguf_key(r, "rope.scaling.yarn_ext_factor"),
                *attention = rs_gguf_key(r, "rope.scaling.yarn_attn_factor");
  double usual = s->factor > 1 ? 0.1 * log(s->factor) + 1 : 1;
  rs_json_string(r->json, "rope_type", "yarn");
  rs_json_number(r->json, "factor", s->factor);
  rs_json_number(r->json, "original_max_position_embeddings", (double)(s->original > 0 ? s->original : r->context));
  if (s->original == 0)
    rs_gguf_note(r, "%s.rope.scaling.original_context_length is missing: llama.cpp takes context_length", name);
  for (size_t i = 0; i < RS_COUNT(keys); i++) {
    const rs_node *node = rs_gguf_key(r, keys[i][0]);
    if (node == NULL) continue;
    rs_json_number(r->json, keys[i][1], rs_read_real(&r->problems, node, 0, most_factor, 1));
    rs_gguf_note(r, "%s.%s is read here, but by llama.cpp for other architectures alone", name, keys[i][0]);
  }
  if (extent != NULL && rs_read_real(&r->problems, extent, 0, 1, 1) != 1)
    rs_problem(&r->problems, extent, "mixes YaRN's frequencies with interpolated ones, which is not offered here");
  if (attention != NULL) {
    usual = rs_read_real(&r->problems, attention, 0, most_factor, usual);
    rs_gguf_note(r, "%s.rope.scaling.yarn_attn_factor is read here, but by llama.cpp for other architectures alone",
                 name);
  }
  if (attention != NULL || s->attention != 1) rs_json_number(r->json, "attention_factor", usual * s->attention);
}

/* What multiplies cos and sin is left out where it is the recipe's own in float. */
static void write_longrope(rs_gguf_reader *r, const scaling *s) {
  double original = (double)(s->original > 0 ? s->original : r->context), ratio = (double)r->context / original;
  double usual = ratio > 1 ? sqrt(1 + log(ratio) / log(original)) : 1;
  bool scaled = s->factor != 1 && strcmp(s->type, "none") != 0;
  if (s->shorter == NULL || s->longer == NULL) {
    rs_problem(&r->problems, r->metadata, "longrope needs the tensors rope_factors_short.weight and _long.weight");
    return;
  }
  if (s->original == 0)
    rs_gguf_note(r, "%s.rope.scaling.original_context_length is missing: llama.cpp takes context_length",
                 r->row->architecture);
  if (rs_gguf_key(r, "rope.scaling.attn_factor") == NULL)
    rs_gguf_note(r, "%s.rope.scaling.attn_factor is missing: llama.cpp takes 1", r->row->architecture);
  if (scaled)
    rs_gguf_note(r,
                 "%s.rope.scaling.factor divides frequencies beside the factors of pairs: these are multiplied by it",
                 r->row->architecture);
  rs_json_string(r->json, "rope_type", "longrope");
  write_list(r, "short_factor", s->shorter, scaled ? s->factor : 1);
  write_list(r, "long_factor", s->longer, scaled ? s->factor : 1);
  if (!same_float(usual, s->attention)) rs_json_number(r->json, "attention_factor", s->attention);
  rs_json_number(r->json, "original_max_position_embeddings", original);
}

/* Phi-3's files have factors of pairs, whatever type they say. */
static bool is_longrope(const scaling *s) {
  return strcmp(s->type, "longrope") == 0 || s->shorter != NULL || s->longer != NULL;
}

/* What does not go together. */
static void refuse_mixed(rs_gguf_reader *r, const scaling *s, bool divided) {
  const char *name = r->row->architecture;
  const rs_node *factor = rs_gguf_key(r, "rope.scaling.factor"), *type = rs_gguf_key(r, "rope.scaling.type"),
                *attention = rs_gguf_key(r, "rope.scaling.attn_factor");
  bool linear = strcmp(s->type, "linear") == 0 && s->factor != 1, yarn = strcmp(s->type, "yarn") == 0;
  bool unscaled = strcmp(s->type, "none") == 0 && s->factor != 1;
  if (factor == NULL) factor = rs_gguf_key(r, "rope.scale_linear");
  if (divided && (linear || yarn))
    rs_problem(&r->problems, factor != NULL ? factor : type,
               "stands beside rope_freqs.weight: both at once are not offered here");
  if (s->attention != 1 && !yarn && !is_longrope(s))
    rs_problem(&r->problems, attention, "multiplies cos and sin of a model without YaRN or longrope: not offered here");
  if (yarn && is_longrope(s))
    rs_problem(&r->problems, type, "stands beside rope_factors_*.weight: both at once are not offered here");
  else if (yarn && strcmp(name, "phi3") == 0)
    rs_problem(&r->problems, type, "is another name of longrope in a phi3's config.json: not offered here");
  if (s->attention != 1 && yarn && r->windowed && strcmp(name, "gemma3") == 0)
    rs_problem(&r->problems, attention,
               "multiplies cos and sin of layers with a window, too, which have no YaRN: not offered here");
  if (unscaled && r->windowed && strcmp(name, "gemma2") == 0)
    rs_problem(&r->problems, factor,
               "divides frequencies of layers with a window alone where the type is none: not offered here");
}

static void note_unused(rs_gguf_reader *r, const scaling *s, bool divided) {
  const char *name = r->row->architecture;
  bool original = rs_gguf_key(r, "rope.scaling.original_context_length") != NULL;
  if (strcmp(s->type, "none") == 0 && s->factor != 1)
    rs_gguf_note(r, "%s.rope.scaling.factor is not read where the type is none", name);
  if (original && !divided && strcmp(s->type, "yarn") != 0 && !is_longrope(s))
    rs_gguf_note(r, "%s.rope.scaling.original_context_length is not read where the type is %s", name, s->type);
}

static bool read_tuned(rs_gguf_reader *r) {
  const rs_node *node = rs_gguf_key(r, "rope.scaling.finetuned");
  bool tuned = strcmp(rs_hf_word(node), "true") == 0;
  bool flag = node != NULL && node->kind == RS_SCALAR && !node->quoted;
  if (node != NULL && !(flag && (tuned || strcmp(node->text, "false") == 0)))
    rs_problem(&r->problems, node, "must be true or false");
  return tuned;
}

static void write_scaling(rs_gguf_reader *r, const scaling *s, double base) {
  bool divided = s->factors != NULL && !all_one(s->factors, r->turned / 2), tuned = read_tuned(r);
  bool linear = strcmp(s->type, "linear") == 0 && s->factor != 1, yarn = strcmp(s->type, "yarn") == 0;
  bool longrope = is_longrope(s);
  refuse_mixed(r, s, divided);
  note_unused(r, s, divided);
  if (!divided && !linear && !yarn && !longrope && s->sections == NULL) return;
  rs_json_object(r->json, "rope_scaling");
  if (longrope)
    write_longrope(r, s);
  else if (divided)
    write_factors(r, s, base);
  else if (yarn)
    write_yarn(r, s);
  else
    rs_json_string(r->json, "rope_type", linear ? "linear" : "default");
  if (linear && !longrope && !divided) rs_json_number(r->json, "factor", s->factor);
  if (s->sections != NULL) write_sections(r, s->sections);
  if (tuned) rs_json_bool(r->json, "finetuned", true);
  rs_json_end(r->json);
}

rs_status rs_gguf_write_rope(rs_gguf_reader *r, rs_err *err) {
  scaling s = {0};
  if ((r->row->traits & RS_GGUF_UNTURNED) != 0) {
    refuse_tensors(r, "none");
    return RS_OK;
  }
  double base = write_base(r);
  write_turned(r);
  s.factor = read_factor(r);
  s.type = read_type(r, s.factor);
  refuse_tensors(r, s.type);
  if ((r->row->traits & RS_GGUF_SECTIONS) != 0) s.sections = read_sections(r);
  s.attention = r->attn_factor = rs_gguf_real(r, "rope.scaling.attn_factor", 1e-6, most_factor, 1);
  s.original = rs_gguf_count(r, "rope.scaling.original_context_length", 0, 0);
  rs_status status = RS_OK;
  if (r->problems.count == 0) {
    status = read_factors(r, "rope_factors_short.weight", &s.shorter, err);
    if (status == RS_OK) status = read_factors(r, "rope_factors_long.weight", &s.longer, err);
    if (status == RS_OK) status = read_factors(r, "rope_freqs.weight", &s.factors, err);
    if (status == RS_OK) write_scaling(r, &s, base);
  }
  free(s.factors);
  free(s.shorter);
  free(s.longer);
  return status;
}
