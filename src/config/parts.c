/* The small keys of a config: lengths, seeds, heads, queries, mask, tokens, precision, engine. */
#include "config_internal.h"
#include "records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- masks ------------------------------------------------------------------------------------------------------- */

/* A mask that is one word. */
static bool mask_word(const char *word, rs_mask_kind *kind) {
  static const struct {
    const char *word;
    rs_mask_kind kind;
  } words[] = {{"causal", RS_CAUSAL},
               {"decoder", RS_CAUSAL},
               {"bidirectional", RS_BIDIRECTIONAL},
               {"encoder", RS_BIDIRECTIONAL},
               {"cross", RS_CROSS}};
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    if (strcmp(words[i].word, word) != 0) continue;
    *kind = words[i].kind;
    return true;
  }
  return false;
}

static bool same_mask(const rs_mask *a, const rs_mask *b) {
  return a->kind == b->kind && a->window == b->window;
}

/* What the layers that are read see, which must be the same in all models. */
static void read_model_mask(rs_config_context *config, const rs_node *node) {
  const rs_experiment *experiment = config->experiment;
  for (size_t i = 0; i < experiment->model_count && experiment->layers != NULL; i++) {
    const rs_layer_kind *kind = experiment->layers[i].kind;
    const char *name = experiment->models[i].name;
    if (kind == NULL) {
      rs_problem(config->problems, node, "model %s says no mask: its layers are not known", name);
      return;
    }
    bool odd = kind->compression > 0;
    if (odd) rs_problem(config->problems, node, "no mask here is what layers of %s see", name);
    if (!odd && i > 0 && !same_mask(&kind->mask, &experiment->layers[0].kind->mask))
      rs_problem(config->problems, node, "%s sees other keys than %s: write a config for each", name,
                 experiment->models[0].name);
    config->experiment->mask = kind->mask;
  }
}

static bool names_size(const rs_node *node) {
  return rs_node_get(node, "window") != NULL || rs_node_get(node, "chunk") != NULL || rs_node_get(node, "band") != NULL;
}

/* {window: W}, {window: W, sinks: S}, {chunk: W} or {band: W}. */
typedef struct mask_sizes {
  size_t window, sinks, chunk, band; /* tokens */
} mask_sizes;

static const rs_param size_fields[] = {
    {RS_FIELD(mask_sizes, window), .min = 1, .max = 1 << 28},
    {RS_FIELD(mask_sizes, sinks), .min = 1, .max = 1 << 28},
    {RS_FIELD(mask_sizes, chunk), .min = 1, .max = 1 << 28},
    {RS_FIELD(mask_sizes, band), .min = 1, .max = 1 << 28},
};
static const rs_record size_record = {.what = "mask", RS_RECORD_FIELDS(size_fields), .partial = true};

static void read_mask_sizes(rs_config_context *config, const rs_node *node) {
  mask_sizes read = {0};
  const rs_node *size = NULL;
  rs_mask *mask = &config->experiment->mask;
  rs_record_read(config->problems, node, &size_record, NULL, &read);
  const struct {
    const char *key;
    rs_mask_kind kind;
    size_t size;
  } sizes[] = {{"window", RS_WINDOW, read.window}, {"chunk", RS_CHUNKS, read.chunk}, {"band", RS_BAND, read.band}};
  bool sinks = rs_node_get(node, "sinks") != NULL;
  for (size_t i = 0; i < RS_COUNT(sizes); i++) {
    const rs_node *other = rs_node_get(node, sizes[i].key);
    if (other == NULL) continue;
    if (size != NULL || (sinks && sizes[i].kind != RS_WINDOW))
      rs_problem(config->problems, other, "stands beside a %s (keep one of them)", size != NULL ? size->key : "window");
    *mask = (rs_mask){.kind = sizes[i].kind, .window = sizes[i].size};
    size = other;
  }
  if (sinks && mask->kind == RS_WINDOW)
    *mask = (rs_mask){.kind = RS_WINDOW_SINKS, .window = read.window, .sinks = read.sinks};
}

void rs_config_mask(rs_config_context *config, const rs_node *node) {
  config->experiment->mask = (rs_mask){.kind = RS_CAUSAL};
  if (rs_reads_checkpoint(config)) return;
  if (node == NULL || (node->kind == RS_SCALAR && mask_word(node->text, &config->experiment->mask.kind))) return;
  if (node->kind == RS_SCALAR && strcmp(node->text, "model") == 0)
    read_model_mask(config, node);
  else if (node->kind != RS_MAPPING || !names_size(node))
    rs_problem(config->problems, node,
               "must be causal (decoder), bidirectional (encoder), cross, model, {window: W}, {window: W, sinks: S}, "
               "{chunk: W} or {band: W}");
  else
    read_mask_sizes(config, node);
}

enum { MOST_LENGTHS = 100000, MOST_SEEDS = 100000 };
static const double longest =
    1 << 28; /* tokens: 2^28 x 128 doubles of keys are 256 GiB, beyond any machine this runs on */

/* ---- lists of whole numbers -------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Reports the first number that stands in the list twice, where it stands for the second time. */
static void refuse_repeats(rs_config_context *config, const rs_node *node, const double *numbers) {
  double *sorted = rs_alloc(node->count, sizeof *sorted, NULL);
  if (sorted == NULL) {
    rs_problem_memory(config->problems);
    return;
  }
  memcpy(sorted, numbers, node->count * sizeof *sorted);
  qsort(sorted, node->count, sizeof *sorted, by_value);
  size_t twice = 1, seen = 0;
  while (twice < node->count && sorted[twice] != sorted[twice - 1]) twice++;
  for (size_t i = 0; i < node->count && twice < node->count; i++) {
    seen += numbers[i] == sorted[twice];
    if (seen == 2) rs_problem(config->problems, &node->items[i], "is given twice");
    seen += seen == 2;
  }
  free(sorted);
}

/* The numbers of a list, each from `min` to `max` and there once; NULL (and reported) when something is wrong. */
static double *read_list(rs_config_context *config, const rs_node *node, double min, double max) {
  size_t before = config->problems->count;
  if (node->count == 0) rs_problem(config->problems, node, "is an empty list");
  double *numbers = config->problems->count == before ? rs_alloc(node->count, sizeof *numbers, NULL) : NULL;
  if (numbers == NULL && config->problems->count == before) rs_problem_memory(config->problems);
  for (size_t i = 0; i < node->count && numbers != NULL; i++) {
    numbers[i] = (double)rs_read_count(config->problems, &node->items[i], min, max, 0);
  }
  if (config->problems->count == before) refuse_repeats(config, node, numbers);
  if (config->problems->count == before) return numbers;
  free(numbers);
  return NULL;
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

static void add_length(rs_config_context *config, size_t *capacity, size_t length) {
  rs_experiment *experiment = config->experiment;
  if (experiment->length_count > 0 && experiment->lengths[experiment->length_count - 1] == length) return;
  if (RS_GROW(experiment->lengths, capacity, experiment->length_count + 1, NULL) != RS_OK) {
    rs_problem_memory(config->problems);
    return;
  }
  experiment->lengths[experiment->length_count++] = length;
}

enum { OCTAVES, HALF_OCTAVES, STEPS };
static const char *const step_words[STEPS + 1] = {[OCTAVES] = "octaves", [HALF_OCTAVES] = "half_octaves"};

/* {from: 4k, to: 128k, steps: octaves}. */
typedef struct length_range {
  size_t from, to;
  rs_count_or_word steps; /* tokens, or a word */
} length_range;

static const rs_param range_fields[] = {
    {RS_FIELD(length_range, from), .min = 1, .max = 1 << 28},
    {RS_FIELD(length_range, to), .min = 1, .max = 1 << 28},
    {RS_FIELD(length_range, steps), .min = 1, .max = 1 << 28, RS_WORDS(step_words), .fallback = "octaves"},
};
static const rs_record range_record = {.what = "a range of lengths", RS_RECORD_FIELDS(range_fields), .partial = true};

static double next_length(rs_count_or_word steps, double length) {
  return steps.word == OCTAVES        ? length * 2
         : steps.word == HALF_OCTAVES ? length * M_SQRT2
                                      : length + (double)steps.number;
}

static void read_range(rs_config_context *config, const rs_node *node) {
  const rs_node *to = rs_node_get(node, "to");
  length_range range;
  size_t capacity = 0, before = config->problems->count;
  rs_record_read(config->problems, node, &range_record, NULL, &range);
  if (to == NULL || rs_node_get(node, "from") == NULL)
    rs_problem(config->problems, node, "needs from and to, like {from: 4k, to: 128k, steps: octaves}");
  if (config->problems->count > before) return;
  double first = (double)range.from, last = (double)range.to;
  if (last < first)
    rs_problem(config->problems, to, "must be at least from = %g", first);
  else if ((last - first) / (next_length(range.steps, first) - first) > MOST_LENGTHS)
    rs_problem(config->problems, node, "has more than %d lengths", MOST_LENGTHS);
  else
    for (double length = first; length <= last * (1 + 1e-12); length = next_length(range.steps, length))
      add_length(config, &capacity, (size_t)floor(length + 1e-6));
}

/* The length of the first model, or that of its last training. */
static size_t own_length(const rs_experiment *experiment) {
  const rs_checkpoint *checkpoint = experiment->checkpoints;
  if (checkpoint == NULL || (checkpoint->folder != NULL && !checkpoint->tuned))
    return experiment->models[0].train_length;
  return checkpoint->tuned ? checkpoint->tuning.length : checkpoint->training.length;
}

void rs_config_lengths(rs_config_context *config, const rs_node *node) {
  size_t capacity = 0;
  if (node == NULL) {
    if (config->experiment->model_count > 0) add_length(config, &capacity, own_length(config->experiment));
    return;
  }
  if (node->kind == RS_MAPPING) {
    read_range(config, node);
    return;
  }
  if (node->kind == RS_SCALAR) {
    add_length(config, &capacity, rs_read_count(config->problems, node, 1, longest, 1));
    return;
  }
  double *lengths = read_list(config, node, 1, longest);
  for (size_t i = 0; i < node->count && lengths != NULL; i++) add_length(config, &capacity, (size_t)lengths[i]);
  free(lengths);
}

/* ---- seeds ------------------------------------------------------------------------------------------------------- */

static const double largest_seed = 9007199254740992.0; /* 2^53: every whole number up to it is a double */

void rs_config_seeds(rs_config_context *config, const rs_node *node) {
  bool listed = node != NULL && node->kind == RS_SEQUENCE;
  double *numbers = listed ? read_list(config, node, 0, largest_seed) : NULL;
  if (listed && numbers == NULL) return;
  size_t count = listed ? node->count : rs_read_count(config->problems, node, 1, MOST_SEEDS, 1);
  config->experiment->seeds = rs_alloc(count, sizeof *config->experiment->seeds, NULL);
  if (config->experiment->seeds == NULL) rs_problem_memory(config->problems);
  for (size_t i = 0; i < count && config->experiment->seeds != NULL; i++)
    config->experiment->seeds[i] = listed ? (uint64_t)numbers[i] : i;
  config->experiment->seed_count = config->experiment->seeds != NULL ? count : 0;
  free(numbers);
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

enum { DEFAULT_HEADS = 4 };

static size_t fewest_heads(const rs_experiment *experiment) {
  size_t fewest = SIZE_MAX;
  for (size_t i = 0; i < experiment->model_count; i++)
    if (experiment->models[i].heads < fewest) fewest = experiment->models[i].heads;
  return fewest;
}

static void head_choice(rs_config_context *config, const rs_node *node) {
  rs_head_choice *heads = &config->experiment->heads;
  double most = (double)fewest_heads(config->experiment);
  if (node->kind == RS_SEQUENCE) {
    heads->listed = read_list(config, node, 0, most - 1);
    heads->listed_count = heads->listed != NULL ? node->count : 0;
    return;
  }
  heads->all = node->kind == RS_SCALAR && strcmp(node->text, "all") == 0;
  if (!heads->all) heads->number = rs_read_count(config->problems, node, 1, most, 1);
}

void rs_config_heads(rs_config_context *config, const rs_node *node) {
  static const char *const known[] = {"each"};
  rs_head_choice *heads = &config->experiment->heads;
  size_t fewest = fewest_heads(config->experiment);
  heads->all = rs_reads_checkpoint(config);
  if (heads->all || config->experiment->model_count == 0) return; /* the model's own problem is reported already */
  if (node == NULL) {
    heads->number = DEFAULT_HEADS < fewest ? DEFAULT_HEADS : fewest;
    return;
  }
  if (node->kind != RS_MAPPING) {
    head_choice(config, node);
    return;
  }
  rs_check_keys(config->problems, node, "heads", known, RS_COUNT(known));
  heads->each = rs_node_get(node, "each") != NULL;
  if (!heads->each && rs_mistyped(node, "each") == NULL)
    rs_problem(config->problems, node, "must be a number, all, a list, or {each: one of these}");
  if (heads->each) head_choice(config, rs_node_get(node, "each"));
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

void rs_config_queries(rs_config_context *config, const rs_node *node) {
  const char *const *numbered = &rs_query_choice_words[RS_QUERIES_ALL + 1];
  config->experiment->queries = (rs_query_set){RS_QUERIES_LAST, 64};
  if (node == NULL || (rs_reads_checkpoint(config) && !rs_reads_sources(config))) return;
  if (node->kind == RS_SCALAR && strcmp(node->text, rs_query_choice_words[RS_QUERIES_ALL]) == 0) {
    config->experiment->queries = (rs_query_set){RS_QUERIES_ALL, 0};
    return;
  }
  if (node->kind != RS_MAPPING || node->count != 1) {
    rs_problem(config->problems, node, "must be all, {last: K}, {every: K} or {random: K}");
    return;
  }
  rs_check_keys(config->problems, node, "queries", numbered, RS_QUERY_CHOICES - 1);
  for (size_t choice = RS_QUERIES_ALL + 1; choice < RS_QUERY_CHOICES; choice++) {
    const rs_node *number = rs_node_get(node, rs_query_choice_words[choice]);
    if (number == NULL) continue;
    config->experiment->queries =
        (rs_query_set){(rs_query_choice)choice, rs_read_count(config->problems, number, 1, longest, 1)};
  }
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

enum { MOST_RUNS = 10000, MOST_SIDE = 65536 };

/* [rows, columns] of an image or [frames, rows, columns] of a video. */
static void read_grid(rs_config_context *config, const rs_node *node, size_t sides, rs_token_run *run) {
  size_t side[3] = {1, 1, 1};
  if (node->kind != RS_SEQUENCE || node->count != sides) {
    rs_problem(config->problems, node,
               sides == 2 ? "must be [rows, columns], after patch merging"
                          : "must be [frames, rows, columns], after patch merging");
    return;
  }
  for (size_t i = 0; i < sides; i++) {
    side[3 - sides + i] = rs_read_count(config->problems, &node->items[i], 1, MOST_SIDE, 1);
  }
  run->frames = side[0];
  run->rows = side[1];
  run->columns = side[2];
  run->tokens = side[0] * side[1] * side[2];
}

/* A run as its mapping has it: what it holds is a union, and the fields are of a video in time. */
typedef struct written_run {
  rs_token_run run;        /* first: its fields have the same places in it */
  size_t timestamp_tokens; /* text tokens before each frame; 0: the video is one run */
} written_run;

static const rs_param run_fields[] = {
    {RS_FIELD_IN(written_run, run, seconds_per_frame), .max = 1e6, .fallback = "1"},
    {RS_FIELD_IN(written_run, run, ids_per_second), .max = 1e6, .fallback = "1"},
    {RS_FIELD(written_run, timestamp_tokens), .min = 1, .max = 1 << 28},
};
const rs_record rs_run_rates = {.fields = run_fields, .field_count = 2};
static const char *const contents[] = {"text", "image", "video", NULL};
static const rs_record run_record = {
    .what = "a run of tokens", RS_RECORD_FIELDS(run_fields), .others = contents, .partial = true};

/* What is of a video, and what has no meaning there. */
static void refuse_rates(rs_config_context *config, const rs_node *node, rs_modality modality) {
  bool stamped = rs_node_get(node, "timestamp_tokens") != NULL;
  for (size_t i = 0; i < RS_COUNT(run_fields); i++) {
    const rs_node *child = rs_node_get(node, run_fields[i].name);
    if (child != NULL && modality != RS_VIDEO)
      rs_problem(config->problems, child, "belongs to a video");
    else if (child != NULL && stamped && i + 1 < RS_COUNT(run_fields))
      rs_problem(config->problems, child,
                 "has no meaning with timestamp_tokens, where text tells the time and each frame is an image");
  }
}

static void read_run(rs_config_context *config, const rs_node *node, written_run *written) {
  rs_token_run *run = &written->run;
  const rs_node *content = NULL;
  size_t count = 0;
  *written = (written_run){.run = {.seconds_per_frame = 1, .ids_per_second = 1}};
  for (size_t i = 0; node->kind == RS_MAPPING && contents[i] != NULL; i++) {
    const rs_node *child = rs_node_get(node, contents[i]);
    if (child == NULL) continue;
    content = child;
    run->modality = (rs_modality)i;
    count++;
  }
  if (count != 1) {
    rs_problem(config->problems, node,
               "must be {text: N}, {image: [rows, columns]} or {video: [frames, rows, columns]}");
    return;
  }
  rs_record_read(config->problems, node, &run_record, NULL, written);
  if (run->modality == RS_TEXT)
    run->tokens = rs_read_count(config->problems, content, 1, longest, 1);
  else
    read_grid(config, content, run->modality == RS_IMAGE ? 2 : 3, run);
  refuse_rates(config, node, run->modality);
}

static bool add_run(rs_config_context *config, size_t *capacity, const rs_token_run *run) {
  rs_token_layout *tokens = &config->experiment->tokens;
  if (RS_GROW(tokens->runs, capacity, tokens->count + 1, NULL) != RS_OK) {
    rs_problem_memory(config->problems);
    return false;
  }
  tokens->runs[tokens->count++] = *run;
  return true;
}

/* A video in Qwen3-VL's way: before each frame, an image of its own, `stamp` text tokens say when it was. */
static bool add_frames(rs_config_context *config, size_t *capacity, const rs_token_run *video, size_t stamp) {
  rs_token_run text = {.modality = RS_TEXT, .tokens = stamp, .seconds_per_frame = 1, .ids_per_second = 1};
  rs_token_run frame = *video;
  frame.modality = RS_IMAGE;
  frame.frames = 1;
  frame.tokens = video->rows * video->columns;
  for (size_t i = 0; i < video->frames; i++)
    if (!add_run(config, capacity, &text) || !add_run(config, capacity, &frame)) return false;
  return true;
}

/* One entry of the list; false when there is no room for it. */
static bool add_entry(rs_config_context *config, size_t *capacity, const rs_node *node) {
  written_run written;
  read_run(config, node, &written);
  size_t stamp = written.timestamp_tokens, added = stamp > 0 ? 2 * written.run.frames : 1;
  if (config->experiment->tokens.count + added > MOST_RUNS) {
    rs_problem(config->problems, node, "takes the layout past %d runs (with timestamp_tokens each frame is two)",
               MOST_RUNS);
    return false;
  }
  return stamp > 0 ? add_frames(config, capacity, &written.run, stamp) : add_run(config, capacity, &written.run);
}

static void read_tokens(rs_config_context *config, const rs_node *node) {
  size_t capacity = 0;
  bool room = true;
  if (node == NULL) return;
  if (!rs_expect(config->problems, node, RS_SEQUENCE, "a list of runs, like [{text: 10}, {image: [16, 24]}]")) return;
  for (size_t i = 0; i < node->count && room; i++) {
    room = add_entry(config, &capacity, &node->items[i]);
  }
}

void rs_config_tokens(rs_config_context *config, const rs_node *node) {
  if (!rs_reads_checkpoint(config)) read_tokens(config, node);
}

/* ---- precision --------------------------------------------------------------------------------------------------- */

static const rs_param precision_fields[] = {
    {RS_FIELD(rs_precision, positions), RS_WORDS(rs_format_words), .fallback = "f64"},
    {RS_FIELD(rs_precision, inv_freq), RS_WORDS(rs_format_words), .fallback = "f64"},
    {RS_FIELD(rs_precision, angle), RS_WORDS(rs_format_words), .fallback = "f64"},
    {RS_FIELD(rs_precision, table), RS_WORDS(rs_format_words), .fallback = "f64"},
    {RS_FIELD(rs_precision, running), .fallback = "false"},
};
const rs_record rs_precision_record = {.what = "precision", RS_RECORD_FIELDS(precision_fields), .partial = true};

/* A mapping, or one word for all formats. */
void rs_config_precision(rs_config_context *config, const rs_node *node) {
  rs_precision *precision = &config->experiment->precision;
  rs_value value;
  if (node == NULL || rs_reads_checkpoint(config)) return;
  if (node->kind == RS_MAPPING)
    rs_record_read(config->problems, node, &rs_precision_record, NULL, precision);
  else if (rs_read_value(config->problems, node, &precision_fields[0], &value))
    for (size_t i = 0; i + 1 < RS_COUNT(precision_fields); i++) rs_bind_value(&precision_fields[i], &value, precision);
}

/* ---- engine ------------------------------------------------------------------------------------------------------ */

static const rs_param engine_fields[] = {
    {RS_FIELD(rs_engine_choice, scores), RS_WORDS(rs_score_format_words)},
    {RS_FIELD(rs_engine_choice, epsilon), .min = 0, .max = 1e-3},
};
const rs_record rs_engine_record = {.what = "engine", RS_RECORD_FIELDS(engine_fields), .partial = true};

void rs_config_engine(rs_config_context *config, const rs_node *node) {
  rs_engine_choice *engine = &config->experiment->engine;
  engine->epsilon = RS_EPSILON;
  if (node == NULL || (rs_reads_checkpoint(config) && !rs_reads_sources(config))) return;
  if (rs_expect(config->problems, node, RS_MAPPING, "a mapping, like {scores: f64, epsilon: 0}"))
    rs_record_read(config->problems, node, &rs_engine_record, NULL, engine);
}
