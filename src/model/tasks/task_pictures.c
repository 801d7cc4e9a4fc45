/* Pictures from files, and the class of each. A picture is cut into square patches, which are the tokens; their numbers
 * stand as convolutions have them: channel, row, column. Training shows every picture once an epoch, in an order of the
 * epoch's, and may shift and mirror it (He et al., arXiv:1512.03385, section 4.2); evaluation reads the test pictures
 * as they are, and so does RS_SPLIT_TRAINED those of training. Where a reading has more patches than a picture, or
 * fewer, the picture is resized. */
#include "model/tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATCH_SIDE = 64, MOST_SHIFT = 64 };

typedef struct params {
  const char *train, *labels, *test, *test_labels;
  double share; /* NaN: not said */
  bool coarse;
  rs_count_or_word pictures, classes;
  size_t patch_side;
  bool normalise;
  double mirrored;
  size_t shift;
} params;

/* The default of `share`. */
static const double HELD_OUT = 0.2;

typedef struct state {
  params p;
  uint64_t seed;
  rs_picture_file train, test;          /* owned; `test` holds nothing where its pictures are the last of `train` */
  const rs_picture_file *tested;        /* where test pictures are */
  size_t trained, first_test, held_out; /* of the first file's, the first and last; of the test file's, all */
  size_t classes;
  double mean[RS_MOST_CHANNELS], scale[RS_MOST_CHANNELS]; /* what is read: (number - mean) scale */
  double chance;
} state;

/* ---- what the files must hold ------------------------------------------------------------------------------------ */

static rs_status check_params(const params *p, rs_err *err) {
  if (p->train == NULL) return rs_fail_on(err, RS_INPUT, "train", "must be given: the file of the pictures");
  if (p->test == NULL && p->test_labels != NULL)
    return rs_fail_on(err, RS_INPUT, "test_labels", "are of a file that is not given (test)");
  if (p->test != NULL && !isnan(p->share))
    return rs_fail_on(err, RS_INPUT, "share", "and test both say what is held out: leave one out");
  return RS_OK;
}

static rs_status check(const rs_binding *binding, rs_err *err) {
  return check_params(binding->fields, err);
}

/* One kind of pictures, in whole patches. */
static rs_status check_pictures(const state *s, rs_err *err) {
  const rs_picture_file *a = &s->train, *b = s->tested;
  if (a->rows != b->rows || a->columns != b->columns || a->channels != b->channels)
    return rs_fail_on(err, RS_INPUT, "test", "%s: pictures of %zu x %zu x %zu, those of training are %zu x %zu x %zu",
                      s->p.test, b->rows, b->columns, b->channels, a->rows, a->columns, a->channels);
  if (a->rows % s->p.patch_side != 0 || a->columns % s->p.patch_side != 0)
    return rs_fail_on(err, RS_INPUT, "patch_side", "pictures of %zu x %zu are not whole patches of %zu x %zu", a->rows,
                      a->columns, s->p.patch_side, s->p.patch_side);
  if (s->p.shift > 0 && (s->p.shift >= a->rows || s->p.shift >= a->columns))
    return rs_fail_on(err, RS_INPUT, "shift", "nothing is left of pictures of %zu x %zu (%zu at most)", a->rows,
                      a->columns, (a->rows < a->columns ? a->rows : a->columns) - 1);
  return RS_OK;
}

/* Which are trained on: the first of their file, as many as are wanted. */
static rs_status cut(state *s, rs_err *err) {
  size_t all = s->train.count, last = 0;
  if (s->p.test == NULL) last = all - (size_t)((1 - (isnan(s->p.share) ? HELD_OUT : s->p.share)) * (double)all);
  s->held_out = s->p.test == NULL ? last : s->test.count;
  s->first_test = s->p.test == NULL ? all - last : 0;
  s->trained = all - last;
  if (s->trained < 1 || s->held_out < 1)
    return rs_fail_on(err, RS_INPUT, isnan(s->p.share) || all == 1 ? "train" : "share",
                      "%s: %zu pictures to train on and %zu held out: each must be 1 or more (%s)", s->p.train,
                      s->trained, s->held_out, all == 1 ? "test: FILE has others" : "a smaller share leaves some");
  if (s->p.pictures.word != RS_NO_WORD) return RS_OK;
  if (s->p.pictures.number > s->trained)
    return rs_fail_on(err, RS_INPUT, "pictures", "%s has %zu to train on, fewer than %zu", s->p.train, s->trained,
                      s->p.pictures.number);
  s->trained = s->p.pictures.number;
  return RS_OK;
}

/* ---- classes ----------------------------------------------------------------------------------------------------- */

static uint32_t test_label(const state *s, size_t picture) {
  return s->tested->labels[s->first_test + picture];
}

/* Where labels are: a file of their own, or that of their pictures. */
typedef struct label_place {
  const char *key, *file;
} label_place;

static label_place find_labels(const state *s, bool tested) {
  const params *p = &s->p;
  if (tested && p->test != NULL)
    return p->test_labels != NULL ? (label_place){"test_labels", p->test_labels} : (label_place){"test", p->test};
  return p->labels != NULL ? (label_place){"labels", p->labels} : (label_place){"train", p->train};
}

/* Classes end with the largest label of training, unless it is said where; test labels must be among them. */
static rs_status find_classes(state *s, rs_err *err) {
  bool said = s->p.classes.word == RS_NO_WORD;
  s->classes = said ? s->p.classes.number : 0;
  for (size_t i = 0; i < s->trained; i++) {
    size_t needed = (size_t)s->train.labels[i] + 1;
    if (needed > s->classes && said)
      return rs_fail_on(err, RS_INPUT, "classes", "%s: label %zu (from 0) is %zu, of %zu classes",
                        find_labels(s, false).file, i, needed - 1, s->classes);
    if (needed > s->classes) s->classes = needed;
  }
  label_place tested = find_labels(s, true);
  for (size_t i = 0; i < s->held_out; i++)
    if (test_label(s, i) >= s->classes)
      return rs_fail_on(err, RS_INPUT, said ? "classes" : tested.key, "%s: label %zu (from 0) is %u, %s %zu classes",
                        tested.file, s->first_test + i, (unsigned)test_label(s, i), said ? "of" : "training has",
                        s->classes);
  return RS_OK;
}

/* Pictures that stand class by class would be trained without some classes. The best guess says the commonest. */
static rs_status find_chance(state *s, rs_err *err) {
  size_t *counts = rs_alloc(2 * s->classes, sizeof *counts, err), *tested = counts + s->classes, commonest = 0;
  if (counts == NULL) return RS_MEMORY;
  rs_status status = RS_OK;
  for (size_t i = 0; i < s->trained; i++) counts[s->train.labels[i]]++;
  for (size_t i = 0; i < s->held_out; i++) tested[test_label(s, i)]++;
  for (size_t c = 0; c < s->classes && status == RS_OK; c++) {
    if (counts[c] > counts[commonest]) commonest = c;
    if (counts[c] == 0 && tested[c] > 0)
      status =
          rs_fail_on(err, RS_INPUT, "train",
                     "%s: none of the %zu pictures to train on is of class %zu, %zu of the test are (do they stand "
                     "class by class? shuffle them)",
                     s->p.train, s->trained, c, tested[c]);
  }
  s->chance = (double)tested[commonest] / (double)s->held_out;
  free(counts);
  return status;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* The sum of (number - mean)^power over a channel of all training pictures. */
static double sum_powers(const state *s, size_t channel, double mean, int power) {
  const rs_picture_file *f = &s->train;
  rs_sum sum = {0};
  for (size_t n = 0; n < s->trained; n++)
    for (size_t i = 0; i < f->rows * f->columns; i++)
      rs_sum_add(&sum, pow(rs_picture_number(f, n, channel, i / f->columns, i % f->columns) - mean, power));
  return rs_sum_total(&sum);
}

/* The same of bytes, by how often each comes. */
static double sum_byte_powers(const size_t counts[256], double mean, int power) {
  rs_sum sum = {0};
  for (size_t b = 0; b < 256; b++) rs_sum_add(&sum, (double)counts[b] * pow((double)b - mean, power));
  return rs_sum_total(&sum);
}

static void count_bytes(const state *s, size_t channel, size_t counts[256]) {
  const rs_picture_file *f = &s->train;
  for (size_t n = 0; n < s->trained; n++)
    for (size_t y = 0; y < f->rows; y++)
      for (size_t x = 0; x < f->columns; x++)
        counts[f->bytes[n * f->step + channel * f->channel_step + y * f->row_step + x * f->column_step]]++;
}

/* Mean and standard deviation of a channel over all training pictures. */
static void find_moments(const state *s, size_t channel, double *mean, double *deviation) {
  size_t counts[256] = {0};
  bool bytes = s->train.bytes != NULL;
  double count = (double)s->trained * (double)s->train.rows * (double)s->train.columns;
  if (bytes) count_bytes(s, channel, counts);
  *mean = (bytes ? sum_byte_powers(counts, 0, 1) : sum_powers(s, channel, 0, 1)) / count;
  *deviation = sqrt((bytes ? sum_byte_powers(counts, *mean, 2) : sum_powers(s, channel, *mean, 2)) / count);
}

static rs_status find_scales(state *s, rs_err *err) {
  for (size_t c = 0; c < s->train.channels; c++) {
    double deviation = s->train.bytes != NULL ? 255 : 1;
    if (s->p.normalise) find_moments(s, c, &s->mean[c], &deviation);
    if (deviation == 0)
      return rs_fail_on(err, RS_INPUT, "normalise",
                        "channel %zu of all pictures of %s is %g: leave its numbers as they are (normalise: false)", c,
                        s->p.train, s->mean[c]);
    s->scale[c] = 1 / deviation;
  }
  return RS_OK;
}

/* ---- the state --------------------------------------------------------------------------------------------------- */

static void release(void *memory) {
  state *s = memory;
  rs_picture_file_clear(&s->train);
  rs_picture_file_clear(&s->test);
}

/* `keys`: of the pictures, and of their labels. */
static rs_status read_file(const char *const keys[2], const char *path, const char *labels, bool coarse,
                           rs_picture_file *file, rs_err *err) {
  rs_err why = {0};
  if (rs_picture_file_read(path, labels, coarse, file, &why) == RS_OK) return RS_OK;
  (void)rs_fail_on(err, why.status, keys[*why.subject != '\0'], "%s", why.message);
  if (err != NULL) err->unread = why.unread;
  return why.status;
}

static rs_status read_files(state *s, rs_err *err) {
  RS_TRY(check_params(&s->p, err));
  static const char *const train[] = {"train", "labels"}, *const test[] = {"test", "test_labels"};
  RS_TRY(read_file(train, s->p.train, s->p.labels, s->p.coarse, &s->train, err));
  s->tested = s->p.test != NULL ? &s->test : &s->train;
  return s->p.test != NULL ? read_file(test, s->p.test, s->p.test_labels, s->p.coarse, &s->test, err) : RS_OK;
}

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  state *s = memory;
  *s = (state){.p = *(const params *)in->params, .seed = in->seed};
  rs_status status = read_files(s, err);
  if (status == RS_OK) status = check_pictures(s, err);
  if (status == RS_OK) status = cut(s, err);
  if (status == RS_OK) status = find_classes(s, err);
  if (status == RS_OK) status = find_chance(s, err);
  if (status == RS_OK) status = find_scales(s, err);
  if (status != RS_OK) release(s);
  return status;
}

/* ---- grids ------------------------------------------------------------------------------------------------------- */

static size_t common_divisor(size_t a, size_t b) {
  return b == 0 ? a : common_divisor(b, a % b);
}

/* The largest grid in the pictures' proportion of at most `length` patches. */
static void find_grid(const state *s, size_t length, size_t *rows, size_t *columns) {
  size_t divisor = common_divisor(s->train.rows, s->train.columns);
  size_t down = s->train.rows / divisor, across = s->train.columns / divisor;
  size_t times = (size_t)sqrt((double)(length / (down * across)));
  *rows = times * down;
  *columns = times * across;
}

static rs_status shape(const void *memory, size_t length, rs_example_shape *shape, rs_err *err) {
  const state *s = memory;
  size_t rows, columns, side = s->p.patch_side;
  find_grid(s, length, &rows, &columns);
  if (rows * columns != length || length == 0)
    return rs_fail(err, RS_DOMAIN,
                   "%zu patches make no grid in the proportion of %zu x %zu, that of the pictures (the nearest below: "
                   "%zu)",
                   length, s->train.rows / side, s->train.columns / side, rows * columns);
  *shape = (rs_example_shape){.length = length,
                              .classes = s->classes,
                              .patch_numbers = s->train.channels * side * side,
                              .frames = 1,
                              .rows = rows,
                              .columns = columns,
                              .evaluations = s->held_out,
                              .trained = s->trained};
  return RS_OK;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

/* One picture as it is shown: row y of it is row y + down of the file's, and black beyond its edges. */
typedef struct view {
  const state *s;
  const rs_picture_file *file;
  size_t picture;
  ptrdiff_t down, across;
  bool mirrored;
} view;

static double number_at(const view *v, size_t channel, size_t row, size_t column) {
  size_t columns = v->file->columns, y = row + (size_t)v->down;
  size_t x =
      (v->mirrored ? columns - 1 - column : column) + (size_t)v->across; /* beyond an edge, negative too: large */
  double number = y < v->file->rows && x < columns ? rs_picture_number(v->file, v->picture, channel, y, x) : 0;
  return (number - v->s->mean[channel]) * v->s->scale[channel];
}

/* The numbers of a line that a number of its resized line is a mean of, weighted by a triangle that is as wide as the
 * larger of the two distances of numbers (bilinear, without aliases where it shrinks). */
typedef struct taps {
  size_t begin, end;
  double centre, width, total;
} taps;

static double tap_weight(const taps *t, size_t index) {
  return fmax(0, 1 - fabs((double)index + 0.5 - t->centre) / t->width);
}

static taps find_taps(size_t place, size_t length, size_t from) {
  double ratio = (double)from / (double)length;
  taps t = {.centre = ((double)place + 0.5) * ratio, .width = fmax(1, ratio)};
  t.begin = (size_t)fmax(0, floor(t.centre - t.width + 0.5));
  t.end = (size_t)fmin((double)from, floor(t.centre + t.width + 0.5));
  for (size_t i = t.begin; i < t.end; i++) t.total += tap_weight(&t, i);
  return t;
}

/* Number (row, column) of a picture of `rows` x `columns`. */
static double resized_at(const view *v, size_t channel, size_t row, size_t column, size_t rows, size_t columns) {
  if (rows == v->file->rows) return number_at(v, channel, row, column);
  taps down = find_taps(row, rows, v->file->rows), across = find_taps(column, columns, v->file->columns);
  double sum = 0;
  for (size_t y = down.begin; y < down.end; y++)
    for (size_t x = across.begin; x < across.end; x++)
      sum += tap_weight(&down, y) * tap_weight(&across, x) * number_at(v, channel, y, x);
  return sum / (down.total * across.total);
}

static void cut_patches(const view *v, size_t length, float *patches) {
  size_t side = v->s->p.patch_side, grid_rows, grid_columns;
  find_grid(v->s, length, &grid_rows, &grid_columns);
  for (size_t i = 0; i < length; i++)
    for (size_t c = 0; c < v->file->channels; c++)
      for (size_t k = 0; k < side * side; k++)
        *patches++ = (float)resized_at(v, c, i / grid_columns * side + k / side, i % grid_columns * side + k % side,
                                       grid_rows * side, grid_columns * side);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Number `place` of 0 .. count - 1 in the order of an epoch: a permutation that needs no memory, of four Feistel rounds
 * on as many bits as count has, or one more, walked until it is below count (Black and Rogaway, "Ciphers with arbitrary
 * finite domains", CT-RSA 2002). */
static size_t place_in_epoch(uint64_t seed, uint64_t epoch, size_t place, size_t count) {
  enum { ROUNDS = 4 };
  const rs_stream stream = {seed, RS_PURPOSE_EPOCH, (uint32_t)epoch};
  unsigned half = 1;
  while (count > (size_t)1 << 2 * half) half++;
  size_t mask = ((size_t)1 << half) - 1;
  do {
    size_t left = place >> half, right = place & mask;
    for (uint64_t round = 0; round < ROUNDS; round++) {
      size_t drawn = (size_t)(rs_uniform(stream, round << 32 | right) * (double)(mask + 1)), next = left ^ drawn;
      left = right;
      right = next;
    }
    place = left << half | right;
  } while (place >= count);
  return place;
}

static ptrdiff_t draw_shift(rs_dice *dice, size_t most) {
  return (ptrdiff_t)rs_dice_below(dice, 2 * most + 1) - (ptrdiff_t)most;
}

static view find_view(const state *s, rs_split split, uint64_t index) {
  if (split == RS_SPLIT_EVALUATION)
    return (view){.s = s, .file = s->tested, .picture = s->first_test + (size_t)(index % s->held_out)};
  view v = {.s = s, .file = &s->train, .picture = (size_t)(index % s->trained)};
  if (split == RS_SPLIT_TRAINED) return v;
  rs_dice dice = rs_dice_sequence(s->seed, split, index);
  v.picture = place_in_epoch(s->seed, index / s->trained, v.picture, s->trained);
  v.mirrored = rs_dice_falls(&dice, s->p.mirrored);
  v.down = draw_shift(&dice, s->p.shift);
  v.across = draw_shift(&dice, s->p.shift);
  return v;
}

static void draw(const void *memory, rs_split split, uint64_t index, size_t length, rs_example *example) {
  view v = find_view(memory, split, index);
  cut_patches(&v, length, example->patches);
  rs_example_blank(example, length);
  example->targets[0] = (int32_t)v.file->labels[v.picture];
}

static double chance(const void *memory, size_t part) {
  (void)part;
  return ((const state *)memory)->chance;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static const char *const all_words[] = {"all", NULL};
static const char *const class_words[] = {"largest", NULL};
static const rs_param specs[] = {
    {RS_FIELD(params, train), .unit = "",
     .summary = "the pictures to train on: CIFAR-10's or CIFAR-100's binary files, IDX (MNIST's), or .npy (pictures, "
                "rows, columns[, channels]); gzip is read, too. CIFAR's batches become one file by cat"},
    {RS_FIELD(params, labels), .unit = "", .summary = "their labels, IDX or .npy; CIFAR's files have them"},
    {RS_FIELD(params, test), .unit = "", .summary = "the pictures of evaluation (default: the last of `train`)"},
    {RS_FIELD(params, test_labels), .unit = "", .summary = "their labels"},
    {RS_FIELD(params, share), .unit = "1", .min = 0.001, .max = 0.999,
     .summary = "share of the pictures of `train`, at their end, that evaluation reads (default 0.2 without `test`)"},
    {RS_FIELD(params, coarse), .unit = "", .fallback = "false", .summary = "CIFAR-100: its 20 coarse classes"},
    {RS_FIELD(params, pictures), RS_WORDS(all_words), .unit = "", .min = 1, .max = 1e9, .fallback = "all",
     .summary = "how many are trained on, the first there are"},
    {RS_FIELD(params, classes), RS_WORDS(class_words), .unit = "", .min = 2, .max = 1 << 20, .fallback = "largest",
     .summary = "different classes; largest: up to the largest label of training"},
    {RS_FIELD(params, patch_side), .unit = "1", .min = 1, .max = MOST_PATCH_SIDE, .fallback = "4",
     .summary = "rows and columns of a patch; divides those of a picture. A length of another grid of the same "
                "proportion reads pictures that are resized to it (bilinear)"},
    {RS_FIELD(params, normalise), .unit = "", .fallback = "true",
     .summary =
         "channels less their mean over the training pictures, in standard deviations; false: bytes / 255, other "
         "numbers as they are"},
    {RS_FIELD(params, mirrored), .unit = "1", .min = 0, .max = 1, .fallback = "0",
     .summary = "chance that training mirrors a picture, left to right"},
    {RS_FIELD(params, shift), .unit = "1", .min = 0, .max = MOST_SHIFT, .fallback = "0",
     .summary =
         "training shifts a picture by up to so many rows and columns; what comes in is 0 in the file's numbers"},
};

const rs_task_kind rs_task_pictures = {
    .kind = {.name = "pictures",
             .summary = "pictures from files, and the class of each",
             .reference = "Dosovitskiy et al., arXiv:2010.11929, section 3.1: patches as tokens",
             RS_KIND(specs, params)},
    .check = check,
    .form = RS_VISION,
    .parts = {"class"},
    .state_size = sizeof(state),
    .prepare = prepare,
    .release = release,
    .shape = shape,
    .draw = draw,
    .chance = chance,
};
