/* The small keys of a config: lengths, seeds, heads, queries, mask, tokens, precision, engine. */
#include "config_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LENGTHS = 100000, MOST_SEEDS = 100000 };
static const double longest =
    1 << 28; /* tokens: 2^28 x 128 doubles of keys are 256 GiB, beyond any machine this runs on */

/* ---- lists of whole numbers -------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Reports the first number that stands in the list twice, where it stands for the second time. */
static void refuse_repeats(rs_config_context *config, const rs_node *node, const rs_path *path, const double *numbers) {
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
    rs_path place = rs_path_index(path, i);
    seen += numbers[i] == sorted[twice];
    if (seen == 2) rs_problem(config->problems, &node->items[i], &place, "is given twice");
    seen += seen == 2;
  }
  free(sorted);
}

/* The numbers of a list, each from `min` to `max` and there once; NULL (and reported) when something is wrong. */
static double *read_list(rs_config_context *config, const rs_node *node, const rs_path *path, double min, double max) {
  size_t before = config->problems->count;
  if (node->count == 0) rs_problem(config->problems, node, path, "is an empty list");
  double *numbers = config->problems->count == before ? rs_alloc(node->count, sizeof *numbers, NULL) : NULL;
  if (numbers == NULL && config->problems->count == before) rs_problem_memory(config->problems);
  for (size_t i = 0; i < node->count && numbers != NULL; i++) {
    rs_path place = rs_path_index(path, i);
    numbers[i] = (double)rs_read_count(config->problems, &node->items[i], &place, min, max, 0);
  }
  if (config->problems->count == before) refuse_repeats(config, node, path, numbers);
  if (config->problems->count == before) return numbers;
  free(numbers);
  return NULL;
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

static void add_length(rs_config_context *config, size_t *capacity, size_t length) {
  rs_experiment *experiment = config->experiment;
  void *lengths = experiment->lengths;
  if (experiment->length_count > 0 && experiment->lengths[experiment->length_count - 1] == length) return;
  if (rs_grow(&lengths, capacity, experiment->length_count + 1, sizeof length, NULL) != RS_OK) {
    rs_problem_memory(config->problems);
    return;
  }
  experiment->lengths = lengths;
  experiment->lengths[experiment->length_count++] = length;
}

/* The next length after `length`, or 0 when `steps` is not understood. */
static double next_length(const char *steps, double length) {
  double step;
  if (strcmp(steps, "octaves") == 0) return length * 2;
  if (strcmp(steps, "half_octaves") == 0) return length * M_SQRT2;
  rs_err ignored = {0};
  rs_param param = {.name = "steps", .type = RS_INTEGER, .min = 1, .max = longest};
  rs_value value;
  step = rs_value_parse(&param, steps, &value, &ignored) == RS_OK ? value.number : 0;
  return step > 0 ? length + step : 0;
}

static void length_range(rs_config_context *config, const rs_node *node, const rs_path *path) {
  static const char *const known[] = {"from", "to", "steps"};
  rs_path from_path = rs_path_key(path, "from"), to_path = rs_path_key(path, "to"),
          step_path = rs_path_key(path, "steps");
  const rs_node *from = rs_node_get(node, "from"), *to = rs_node_get(node, "to"), *steps = rs_node_get(node, "steps");
  size_t capacity = 0;
  rs_check_keys(config->problems, node, path, "a range of lengths", known, RS_COUNT(known));
  if (from == NULL || to == NULL) {
    rs_problem(config->problems, node, path, "needs from and to, like {from: 4k, to: 128k, steps: octaves}");
    return;
  }
  double first = (double)rs_read_count(config->problems, from, &from_path, 1, longest, 0);
  double last = (double)rs_read_count(config->problems, to, &to_path, 1, longest, 0);
  const char *word = steps != NULL ? rs_read_word(config->problems, steps, &step_path) : "octaves";
  if (first == 0 || last == 0 || word == NULL) return;
  if (last < first)
    rs_problem(config->problems, to, &to_path, "must be at least from = %g", first);
  else if (next_length(word, first) == 0)
    rs_problem(config->problems, steps, &step_path, "must be octaves, half_octaves, or a number of tokens");
  else if ((last - first) / (next_length(word, first) - first) > MOST_LENGTHS)
    rs_problem(config->problems, node, path, "has more than %d lengths", MOST_LENGTHS);
  else
    for (double length = first; length <= last * (1 + 1e-12); length = next_length(word, length))
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
  const rs_path path = rs_path_key(NULL, "lengths");
  size_t capacity = 0;
  if (node == NULL) {
    if (config->experiment->model_count > 0) add_length(config, &capacity, own_length(config->experiment));
    return;
  }
  if (node->kind == RS_MAPPING) {
    length_range(config, node, &path);
    return;
  }
  if (node->kind == RS_SCALAR) {
    add_length(config, &capacity, rs_read_count(config->problems, node, &path, 1, longest, 1));
    return;
  }
  double *lengths = read_list(config, node, &path, 1, longest);
  for (size_t i = 0; i < node->count && lengths != NULL; i++) add_length(config, &capacity, (size_t)lengths[i]);
  free(lengths);
}

/* ---- seeds ------------------------------------------------------------------------------------------------------- */

static const double largest_seed = 9007199254740992.0; /* 2^53: every whole number up to it is a double */

void rs_config_seeds(rs_config_context *config, const rs_node *node) {
  const rs_path path = rs_path_key(NULL, "seeds");
  bool listed = node != NULL && node->kind == RS_SEQUENCE;
  double *numbers = listed ? read_list(config, node, &path, 0, largest_seed) : NULL;
  if (listed && numbers == NULL) return;
  size_t count = listed ? node->count : rs_read_count(config->problems, node, &path, 1, MOST_SEEDS, 1);
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

static void head_choice(rs_config_context *config, const rs_node *node, const rs_path *path) {
  rs_head_choice *heads = &config->experiment->heads;
  double most = (double)fewest_heads(config->experiment);
  if (node->kind == RS_SEQUENCE) {
    heads->listed = read_list(config, node, path, 0, most - 1);
    heads->listed_count = heads->listed != NULL ? node->count : 0;
    return;
  }
  heads->all = node->kind == RS_SCALAR && strcmp(node->text, "all") == 0;
  if (!heads->all) heads->number = rs_read_count(config->problems, node, path, 1, most, 1);
}

void rs_config_heads(rs_config_context *config, const rs_node *node) {
  static const char *const known[] = {"each"};
  const rs_path path = rs_path_key(NULL, "heads"), inner = rs_path_key(&path, "each");
  rs_head_choice *heads = &config->experiment->heads;
  size_t fewest = fewest_heads(config->experiment);
  heads->all = rs_reads_checkpoint(config);
  if (heads->all || config->experiment->model_count == 0) return; /* the model's own problem is reported already */
  if (node == NULL) {
    heads->number = DEFAULT_HEADS < fewest ? DEFAULT_HEADS : fewest;
    return;
  }
  if (node->kind != RS_MAPPING) {
    head_choice(config, node, &path);
    return;
  }
  rs_check_keys(config->problems, node, &path, "heads", known, RS_COUNT(known));
  heads->each = rs_node_get(node, "each") != NULL;
  if (!heads->each && rs_mistyped(node, "each") == NULL)
    rs_problem(config->problems, node, &path, "must be a number, all, a list, or {each: one of these}");
  if (heads->each) head_choice(config, rs_node_get(node, "each"), &inner);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

void rs_config_queries(rs_config_context *config, const rs_node *node) {
  const char *const *numbered = &rs_query_choice_words[RS_QUERIES_ALL + 1];
  const rs_path path = rs_path_key(NULL, "queries");
  config->experiment->queries = (rs_query_set){RS_QUERIES_LAST, 64};
  if (node == NULL || (rs_reads_checkpoint(config) && !rs_reads_sources(config))) return;
  if (node->kind == RS_SCALAR && strcmp(node->text, rs_query_choice_words[RS_QUERIES_ALL]) == 0) {
    config->experiment->queries = (rs_query_set){RS_QUERIES_ALL, 0};
    return;
  }
  if (node->kind != RS_MAPPING || node->count != 1) {
    rs_problem(config->problems, node, &path, "must be all, {last: K}, {every: K} or {random: K}");
    return;
  }
  rs_check_keys(config->problems, node, &path, "queries", numbered, RS_QUERY_CHOICES - 1);
  for (size_t choice = RS_QUERIES_ALL + 1; choice < RS_QUERY_CHOICES; choice++) {
    const rs_node *number = rs_node_get(node, rs_query_choice_words[choice]);
    rs_path inner = rs_path_key(&path, rs_query_choice_words[choice]);
    if (number == NULL) continue;
    config->experiment->queries =
        (rs_query_set){(rs_query_choice)choice, rs_read_count(config->problems, number, &inner, 1, longest, 1)};
  }
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

enum { MOST_RUNS = 10000, MOST_SIDE = 65536 };

/* [rows, columns] of an image or [frames, rows, columns] of a video. */
static void read_grid(rs_config_context *config, const rs_node *node, const rs_path *path, size_t sides,
                      rs_token_run *run) {
  size_t side[3] = {1, 1, 1};
  if (node->kind != RS_SEQUENCE || node->count != sides) {
    rs_problem(config->problems, node, path,
               sides == 2 ? "must be [rows, columns], after patch merging"
                          : "must be [frames, rows, columns], after patch merging");
    return;
  }
  for (size_t i = 0; i < sides; i++) {
    rs_path place = rs_path_index(path, i);
    side[3 - sides + i] = rs_read_count(config->problems, &node->items[i], &place, 1, MOST_SIDE, 1);
  }
  run->frames = side[0];
  run->rows = side[1];
  run->columns = side[2];
  run->tokens = side[0] * side[1] * side[2];
}

/* A video in time: two numbers of which each is 1 where it is left out. */
static void read_rates(rs_config_context *config, const rs_node *node, const rs_path *path, rs_token_run *run) {
  const struct {
    const char *key;
    double *field;
  } rates[] = {{"seconds_per_frame", &run->seconds_per_frame}, {"ids_per_second", &run->ids_per_second}};
  for (size_t i = 0; i < RS_COUNT(rates); i++) {
    const rs_node *rate = rs_node_get(node, rates[i].key);
    rs_path place = rs_path_key(path, rates[i].key);
    if (rate == NULL) continue;
    if (run->modality != RS_VIDEO) rs_problem(config->problems, rate, &place, "belongs to a video");
    *rates[i].field = rs_read_real(config->problems, rate, &place, 0, 1e6, 1);
  }
}

static void read_run(rs_config_context *config, const rs_node *node, const rs_path *path, rs_token_run *run) {
  static const char *const known[] = {"text",           "image",           "video", "seconds_per_frame",
                                      "ids_per_second", "timestamp_tokens"};
  rs_path text_path = rs_path_key(path, "text"), image_path = rs_path_key(path, "image");
  rs_path video_path = rs_path_key(path, "video");
  const rs_node *text = rs_node_get(node, "text"), *image = rs_node_get(node, "image"),
                *video = rs_node_get(node, "video");
  *run = (rs_token_run){.seconds_per_frame = 1, .ids_per_second = 1};
  if (node->kind != RS_MAPPING || (text != NULL) + (image != NULL) + (video != NULL) != 1) {
    rs_problem(config->problems, node, path,
               "must be {text: N}, {image: [rows, columns]} or {video: [frames, rows, columns]}");
    return;
  }
  rs_check_keys(config->problems, node, path, "a run of tokens", known, RS_COUNT(known));
  run->modality = text != NULL ? RS_TEXT : image != NULL ? RS_IMAGE : RS_VIDEO;
  if (text != NULL) run->tokens = rs_read_count(config->problems, text, &text_path, 1, longest, 1);
  if (image != NULL) read_grid(config, image, &image_path, 2, run);
  if (video != NULL) read_grid(config, video, &video_path, 3, run);
  read_rates(config, node, path, run);
}

/* Text tokens before each frame; 0: the video is one run. */
static size_t read_timestamps(rs_config_context *config, const rs_node *node, const rs_path *path,
                              const rs_token_run *run) {
  static const char *const rates[] = {"seconds_per_frame", "ids_per_second"};
  const rs_node *stamp = rs_node_get(node, "timestamp_tokens");
  rs_path place = rs_path_key(path, "timestamp_tokens");
  if (stamp == NULL) return 0;
  if (run->modality != RS_VIDEO) rs_problem(config->problems, stamp, &place, "belongs to a video");
  for (size_t i = 0; i < RS_COUNT(rates) && run->modality == RS_VIDEO; i++) {
    const rs_node *rate = rs_node_get(node, rates[i]);
    rs_path rate_path = rs_path_key(path, rates[i]);
    if (rate != NULL)
      rs_problem(config->problems, rate, &rate_path,
                 "has no meaning with timestamp_tokens, where text tells the time and each frame is an image");
  }
  return rs_read_count(config->problems, stamp, &place, 1, longest, 1);
}

static bool add_run(rs_config_context *config, size_t *capacity, const rs_token_run *run) {
  rs_token_layout *tokens = &config->experiment->tokens;
  void *runs = tokens->runs;
  if (rs_grow(&runs, capacity, tokens->count + 1, sizeof *run, NULL) != RS_OK) {
    rs_problem_memory(config->problems);
    return false;
  }
  tokens->runs = runs;
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
static bool add_entry(rs_config_context *config, size_t *capacity, const rs_node *node, const rs_path *path) {
  rs_token_run run;
  size_t before = config->problems->count;
  read_run(config, node, path, &run);
  size_t stamp = config->problems->count == before ? read_timestamps(config, node, path, &run) : 0;
  size_t added = stamp > 0 ? 2 * run.frames : 1;
  if (config->experiment->tokens.count + added > MOST_RUNS) {
    rs_problem(config->problems, node, path, "takes the layout past %d runs (with timestamp_tokens each frame is two)",
               MOST_RUNS);
    return false;
  }
  return stamp > 0 ? add_frames(config, capacity, &run, stamp) : add_run(config, capacity, &run);
}

static void read_tokens(rs_config_context *config, const rs_node *node) {
  const rs_path path = rs_path_key(NULL, "tokens");
  size_t capacity = 0;
  bool room = true;
  if (node == NULL) return;
  if (!rs_expect(config->problems, node, &path, RS_SEQUENCE, "a list of runs, like [{text: 10}, {image: [16, 24]}]"))
    return;
  for (size_t i = 0; i < node->count && room; i++) {
    rs_path place = rs_path_index(&path, i);
    room = add_entry(config, &capacity, &node->items[i], &place);
  }
}

void rs_config_tokens(rs_config_context *config, const rs_node *node) {
  if (!rs_reads_checkpoint(config)) read_tokens(config, node);
  rs_refuse_pictureless(config);
}

/* ---- precision --------------------------------------------------------------------------------------------------- */

static rs_format read_format(rs_config_context *config, const rs_node *node, const rs_path *path) {
  static const rs_param param = {.name = "precision", .type = RS_CHOICE, RS_WORDS(rs_format_words)};
  rs_value value;
  return node != NULL && rs_read_value(config->problems, node, path, &param, &value) ? (rs_format)value.choice : RS_F64;
}

void rs_config_precision(rs_config_context *config, const rs_node *node) {
  static const char *const known[] = {"positions", "inv_freq", "angle", "table", "running"};
  static const rs_param running = {.name = "running", .type = RS_BOOL};
  const rs_path path = rs_path_key(NULL, "precision"), running_path = rs_path_key(&path, "running");
  rs_precision *precision = &config->experiment->precision;
  rs_format *const fields[] = {&precision->positions, &precision->inv_freq, &precision->angle, &precision->table};
  if (node == NULL || rs_reads_checkpoint(config)) return;
  if (node->kind == RS_MAPPING) rs_check_keys(config->problems, node, &path, "precision", known, RS_COUNT(known));
  for (size_t i = 0; i < RS_COUNT(fields); i++) {
    rs_path place = node->kind == RS_MAPPING ? rs_path_key(&path, known[i]) : path;
    *fields[i] = read_format(config, node->kind == RS_MAPPING ? rs_node_get(node, known[i]) : node, &place);
    if (node->kind != RS_MAPPING && config->problems->count > 0) return; /* one word, one complaint */
  }
  const rs_node *switched = rs_node_get(node, "running");
  rs_value value;
  if (switched != NULL && rs_read_value(config->problems, switched, &running_path, &running, &value))
    precision->running = value.number == 1;
}

/* ---- engine ------------------------------------------------------------------------------------------------------ */

void rs_config_engine(rs_config_context *config, const rs_node *node) {
  static const char *const known[] = {"scores", "epsilon"};
  static const rs_param scores = {.name = "scores", .type = RS_CHOICE, RS_WORDS(rs_score_format_words)};
  static const rs_param epsilon = {.name = "epsilon", .type = RS_REAL, .min = 0, .max = 1e-3};
  const rs_path path = rs_path_key(NULL, "engine"),
                place[] = {rs_path_key(&path, known[0]), rs_path_key(&path, known[1])};
  rs_engine_choice *engine = &config->experiment->engine;
  rs_value value;
  engine->epsilon = RS_EPSILON;
  if (node == NULL || (rs_reads_checkpoint(config) && !rs_reads_sources(config))) return;
  if (!rs_expect(config->problems, node, &path, RS_MAPPING, "a mapping, like {scores: f64, epsilon: 0}")) return;
  rs_check_keys(config->problems, node, &path, "engine", known, RS_COUNT(known));
  const rs_node *of_scores = rs_node_get(node, "scores"), *of_epsilon = rs_node_get(node, "epsilon");
  if (of_scores != NULL && rs_read_value(config->problems, of_scores, &place[0], &scores, &value))
    engine->scores = (rs_score_format)value.choice;
  if (of_epsilon != NULL && rs_read_value(config->problems, of_epsilon, &place[1], &epsilon, &value))
    engine->epsilon = value.number;
}
