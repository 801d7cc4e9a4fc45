/* Tiny worlds: every method in contexts of 1 to 8 tokens with heads of 2, 4 and 6 dims, every query and key, against
 * the formula of encoding.h written out here from the papers: frequencies, positions, 2 x 2 rotations, temperature,
 * bias. Nothing but the recipe's name and the worlds' few numbers is shared with the library; drawn
 * numbers of learned biases alone are read from its tables. */
#include "../biases.h"
#include "../golden.h"
#include "ropescope/attention.h"

#define THETA 10.0
#define S 2.5 /* the scale of scaled methods */

enum { L0 = 7, MOST = 8, HEADS = 2, HEAD = 1, ROWS = 2, COLUMNS = 2, PICTURE = 1 + ROWS * COLUMNS };

/* One context of one head. */
typedef struct tiny {
  size_t length, dims, rotary; /* L, D, R */
  rs_pair_layout layout;
  bool picture; /* tokens 1 to 4 are an image of 2 x 2 */
} tiny;

/* What a method is, told apart from the library; NULL where it is plain. */
typedef struct oracle {
  const char *method, *settings;
  double (*omega)(const tiny *t, size_t j);                                         /* rad/token */
  void (*place)(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k); /* where pair j turns to */
  double (*gain)(const tiny *t, size_t m, size_t n, size_t j);                      /* on top of cos and sin */
  double (*factor)(const tiny *t, size_t m);                                        /* on the logit */
  double (*bias)(const tiny *t, size_t m, size_t n);                                /* nats, head 1 of 2 */
  double (*embed)(const tiny *t, size_t n, size_t d);                               /* added to token n */
  size_t rotary;       /* the only R it is defined for; 0: every one */
  bool table, picture; /* the bias is that of biases.h; it is defined with a picture only */
} oracle;

/* ---- frequencies ------------------------------------------------------------------------------------------------- */

static double ladder(double theta, double dims, size_t j) {
  return exp(-2 * (double)j / dims * log(theta));
}

static double plain(const tiny *t, size_t j) {
  return ladder(THETA, (double)t->rotary, j);
}

static double abf(const tiny *t, size_t j) {
  return ladder(500000, (double)t->rotary, j);
}

static double half_of_head(const tiny *t, size_t j) {
  return j < t->dims / 4 ? ladder(THETA, (double)t->dims, j) : 0;
}

static double half_of_head_divided(const tiny *t, size_t j) {
  return half_of_head(t, j) / 3;
}

static double whole(double omega) {
  return 2 * M_PI / round(2 * M_PI / omega); /* no wavelength here is a half */
}

static double resonance(const tiny *t, size_t j) {
  return whole(plain(t, j));
}

static double divided(const tiny *t, size_t j) {
  return plain(t, j) / S;
}

/* max(1, L / L0) */
static double stretch(const tiny *t) {
  return t->length > L0 ? (double)t->length / L0 : 1;
}

static double divided_dynamically(const tiny *t, size_t j) {
  return plain(t, j) / stretch(t);
}

static double ntk_of(const tiny *t, double s, size_t j) {
  double dims = (double)t->rotary;
  return ladder(THETA * pow(s, dims / (dims - 2)), dims, j);
}

static double ntk(const tiny *t, size_t j) {
  return ntk_of(t, S, j);
}

static double dynamic_ntk(const tiny *t, size_t j) {
  return ntk_of(t, S * stretch(t) - (S - 1), j);
}

static double ntk_fixed(const tiny *t, size_t j) {
  return ladder(THETA * S, (double)t->rotary, j) / pow(S, 2 / (double)t->rotary);
}

static double ntk_mixed(const tiny *t, size_t j) {
  double pairs = (double)t->rotary / 2;
  return plain(t, j) / exp(log(S) * pow((double)(j + 1) / pairs, 0.625));
}

static double critical_base(const tiny *t, size_t j) {
  double trained = log(L0 / (2 * M_PI)), wanted = log(S * L0 / (2 * M_PI));
  return ladder(pow(THETA, wanted / trained), (double)t->rotary, j);
}

enum { FIFTHS = 5 };

/* Shares of the circle's fifths, each from 2^-14 counts, that n positions fall in. */
static void fifths(double omega, size_t n, double *share) {
  for (size_t b = 0; b < FIFTHS; b++) share[b] = 0x1p-14 / (double)n;
  for (size_t m = 0; m < n; m++) {
    double turns = (double)m * omega / (2 * M_PI);
    share[(size_t)((turns - floor(turns)) * FIFTHS)] += 1 / (double)n;
  }
}

static double relative_entropy(const double *p, const double *q) {
  double sum = 0;
  for (size_t b = 0; b < FIFTHS; b++) sum += p[b] * (log(p[b]) - log(q[b]));
  return sum;
}

/* Kept or divided, in S * L0 = 17.5, that is 18 positions. */
static double nearer_in_angles(const tiny *t, size_t j) {
  double trained[FIFTHS], kept[FIFTHS], shrunk[FIFTHS], omega = plain(t, j);
  fifths(omega, L0, trained);
  fifths(omega, 18, kept);
  fifths(omega / S, 18, shrunk);
  return relative_entropy(trained, shrunk) < relative_entropy(trained, kept) ? omega / S : omega;
}

static double clamp01(double x) {
  return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* The code's ramp between the pairs that turn `fast` and `slow` times in L0 tokens. */
static double ramp(const tiny *t, double fast, double slow, bool rounded, size_t j) {
  double dims = (double)t->rotary, low = dims * log(L0 / (fast * 2 * M_PI)) / (2 * log(THETA));
  double high = dims * log(L0 / (slow * 2 * M_PI)) / (2 * log(THETA));
  low = fmax(rounded ? floor(low) : low, 0);
  high = fmin(rounded ? ceil(high) : high, dims - 1);
  if (low == high) high += 0.001;
  return clamp01(((double)j - low) / (high - low));
}

static double blend(double from, double to, double share) {
  return from * (1 - share) + to * share;
}

static double by_parts_of(const tiny *t, double s, size_t j) {
  return blend(plain(t, j), plain(t, j) / s, ramp(t, 0.8, 0.05, false, j));
}

static double by_parts(const tiny *t, size_t j) {
  return by_parts_of(t, S, j);
}

static double by_parts_dynamic(const tiny *t, size_t j) {
  return by_parts_of(t, stretch(t), j);
}

static double by_parts_whole(const tiny *t, size_t j) {
  return whole(by_parts(t, j));
}

static double by_rotations(const tiny *t, size_t j) {
  double turns = L0 * plain(t, j) / (2 * M_PI);
  return blend(plain(t, j) / S, plain(t, j), clamp01((turns - 0.05) / (0.8 - 0.05)));
}

static double by_parts_v1(const tiny *t, size_t j) {
  double inner = blend(ntk(t, j), divided(t, j), ramp(t, 1.25, 0.75, true, j));
  return blend(plain(t, j), inner, ramp(t, 16, 2, true, j));
}

static double llama3(const tiny *t, size_t j) {
  double wavelength = 2 * M_PI / plain(t, j), smooth = (L0 / wavelength - 1) / (4 - 1);
  if (wavelength < L0 / 4.0) return plain(t, j);
  return wavelength > L0 ? divided(t, j) : (1 - smooth) * divided(t, j) + smooth * plain(t, j);
}

static double longrope(const tiny *t, size_t j) {
  static const double shorter[] = {1, 1.25, 1.5}, longer[] = {2, 4, 8};
  return plain(t, j) / (t->length > L0 ? longer[j] : shorter[j]);
}

static double listed(const tiny *t, size_t j) {
  static const double list[] = {0.3, 1.6, 0};
  (void)t;
  return list[j];
}

static double one(const tiny *t, size_t j) {
  (void)t;
  (void)j;
  return 1;
}

/* ---- positions --------------------------------------------------------------------------------------------------- */

static void divided_places(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  *q = (double)m / S;
  *k = (double)n / S;
}

/* window = 2, group = 3 */
static void grouped(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  if (m - n < 2) return;
  *q = (double)(m / 3 + 2 - 2 / 3);
  *k = (double)(n / 3);
}

/* How far a bent map puts two tokens apart, as a place of the query beside the key's. */
static void apart(double distance, size_t n, double *q, double *k) {
  *q = (double)n + distance;
  *k = (double)n;
}

/* window = 2 */
static void clamped(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  apart(fmin((double)(m - n), 2), n, q, k);
}

/* window = 2, a quarter of what is beyond */
static void leaking(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  double d = (double)(m - n);
  apart(d < 2 ? d : 2 + (d - 2) / 4, n, q, k);
}

static void ceiling(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  apart(fmin((double)(m - n), L0), n, q, k);
}

/* Chunks of 3, positions up to 4: exact within a chunk, up to 4 - n mod 3 in the next, that constant beyond. */
static void chunked(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  double d = (double)(m - n), most = 4 - (double)(n % 3);
  apart(m / 3 == n / 3 ? d : m / 3 == n / 3 + 1 ? fmin(d, most) : most, n, q, k);
}

/* shift = 3, local = 1 */
static void shifted(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)t;
  (void)j;
  double d = (double)(m - n);
  apart(d < 3 ? d : d - 3 + 1, n, q, k);
}

/* t, h, w of a token; the picture starts at id 1, the text after it at 3. */
static double id(const tiny *t, size_t n, size_t axis) {
  if (!t->picture || n == 0) return (double)n;
  if (n >= PICTURE) return (double)(3 + n - PICTURE);
  return axis == 0 ? 1 : axis == 1 ? 1 + (double)((n - 1) / COLUMNS) : 1 + (double)((n - 1) % COLUMNS);
}

/* Thirds of at most three pairs: t, h, w in this order. */
static void thirds(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  *q = id(t, m, j);
  *k = id(t, n, j);
}

/* MRoPE-I: the same thirds; rows and columns from 0. */
static void reset_thirds(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  bool vision_m = t->picture && m > 0 && m < PICTURE, vision_n = t->picture && n > 0 && n < PICTURE;
  *q = id(t, m, j) - (vision_m && j > 0 ? 1 : 0);
  *k = id(t, n, j) - (vision_n && j > 0 ? 1 : 0);
}

/* VideoRoPE: one pair t; two h, t; three h, w, t. A single frame takes one id of t, and text goes on from there. */
static void spatial_first(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  static const size_t axes[][3] = {{0}, {1, 0}, {1, 2, 0}};
  size_t axis = axes[t->rotary / 2 - 1][j];
  *q = id(t, m, axis) - (t->picture && m >= PICTURE ? 1 : 0);
  *k = id(t, n, axis) - (t->picture && n >= PICTURE ? 1 : 0);
}

/* V2PE: a patch every quarter of an id; text at the next whole one. */
static double quartered(const tiny *t, size_t n) {
  if (!t->picture || n == 0) return (double)n;
  return n < PICTURE ? (double)n / 4 : (double)(2 + n - PICTURE);
}

static void quarters(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  (void)j;
  *q = quartered(t, m);
  *k = quartered(t, n);
}

/* One pair for the column, one for the row. */
static void column_and_row(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  *q = id(t, m, j == 0 ? 2 : 1);
  *k = id(t, n, j == 0 ? 2 : 1);
}

static double mixed_place(const tiny *t, size_t n, size_t j) {
  static const double fx[] = {1, -0.5, 0.25}, fy[] = {0.2, 0.5, -2};
  return id(t, n, 2) * fx[j] + id(t, n, 1) * fy[j];
}

static void mixed(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  *q = mixed_place(t, m, j);
  *k = mixed_place(t, n, j);
}

/* Each token keeps the frequencies of the context it came into: L / L0 of its own. In units of today's. */
static void as_cached(const tiny *t, size_t m, size_t n, size_t j, double *q, double *k) {
  tiny at_query = *t, at_key = *t;
  at_query.length = m + 1;
  at_key.length = n + 1;
  *q = (double)m * dynamic_ntk(&at_query, j) / dynamic_ntk(t, j);
  *k = (double)n * dynamic_ntk(&at_key, j) / dynamic_ntk(t, j);
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

static double xpos(const tiny *t, size_t m, size_t n, size_t j) {
  double zeta = (2 * (double)j / (double)t->rotary + 0.4) / 1.4;
  return pow(zeta, ((double)m - (double)n) / 512);
}

static double g_of(double s) {
  return 0.1 * log(s) + 1;
}

static double yarn_squared(const tiny *t, size_t m, size_t n, size_t j) {
  (void)t;
  (void)m;
  (void)n;
  (void)j;
  return g_of(S) * g_of(S);
}

static double dynamic_yarn_squared(const tiny *t, size_t m, size_t n, size_t j) {
  (void)m;
  (void)n;
  (void)j;
  return g_of(stretch(t)) * g_of(stretch(t));
}

static double one_and_a_half_squared(const tiny *t, size_t m, size_t n, size_t j) {
  (void)t;
  (void)m;
  (void)n;
  (void)j;
  return 2.25;
}

static double longrope_squared(const tiny *t, size_t m, size_t n, size_t j) {
  (void)t;
  (void)m;
  (void)n;
  (void)j;
  return 1 + log(4) / log(L0); /* max_length = 4 L0 */
}

static double on_softmax(const tiny *t, size_t m) {
  (void)t;
  (void)m;
  return g_of(S) * g_of(S);
}

static double log_n(const tiny *t, size_t m) {
  (void)t;
  return fmax(1, log((double)m + 1) / log(L0));
}

static double entropy_invariant(const tiny *t, size_t m) {
  (void)t;
  return log((double)m + 1) / log(L0);
}

/* s = 1 / mean of ln 1 .. ln L0 */
static double ssmax(const tiny *t, size_t m) {
  (void)t;
  double sum = 0;
  for (size_t n = 1; n <= L0; n++) sum += log((double)n);
  return log((double)m + 1) * L0 / sum;
}

/* beta = 0.5, every 3 tokens */
static double llama4(const tiny *t, size_t m) {
  (void)t;
  return 1 + 0.5 * log((double)(1 + (m + 1) / 3));
}

static double ministral(const tiny *t, size_t m) {
  (void)t;
  return 1 + 0.5 * log((double)(1 + m / 3));
}

/* ---- biases and embeddings --------------------------------------------------------------------------------------- */

static double alibi(const tiny *t, size_t m, size_t n) {
  (void)t;
  return -fabs((double)m - (double)n) / 256; /* the second of two heads */
}

static double sinusoid(const tiny *t, size_t n, size_t d) {
  double angle = (double)n / pow(10000, (double)(d - d % 2) / (double)(HEADS * t->dims));
  return d % 2 ? cos(angle) : sin(angle);
}

/* MAE: the first half of the channels is the column's, the second the row's; in each half sines, then cosines. */
static double patch_concat(const tiny *t, size_t n, size_t d) {
  size_t half = HEADS * t->dims / 2, quarter = half / 2, k = d % half % quarter;
  if (n == 0 || n >= PICTURE) return 0;
  double place = (double)(d < half ? (n - 1) % COLUMNS : (n - 1) / COLUMNS);
  double angle = place / pow(10000, (double)k / (double)quarter);
  return d % half < quarter ? sin(angle) : cos(angle);
}

/* The whole width for the column, and once more for the row. */
static double patch_sum(const tiny *t, size_t n, size_t d) {
  size_t half = HEADS * t->dims / 2;
  double omega = pow(10000, -(double)(d % half) / (double)half);
  double x = (double)((n - 1) % COLUMNS) * omega, y = (double)((n - 1) / COLUMNS) * omega;
  if (n == 0 || n >= PICTURE) return 0;
  return d < half ? sin(x) + sin(y) : cos(x) + cos(y);
}

/* ---- the methods ------------------------------------------------------------------------------------------------- */

#define LISTS(a, b) "short_factor=" a " long_factor=" b

static const oracle oracles[] = {
    {.method = "nope"},
    {.method = "nope", .settings = "logit_scale=log_n", .factor = log_n},
    {.method = "nope", .settings = "logit_scale=entropy_invariant", .factor = entropy_invariant},
    {.method = "nope", .settings = "logit_scale=ssmax", .factor = ssmax},
    {.method = "nope", .settings = "logit_scale=llama4 logit_scale_factor=0.5 logit_scale_length=3", .factor = llama4},
    {.method = "nope",
     .settings = "logit_scale=ministral logit_scale_factor=0.5 logit_scale_length=3",
     .factor = ministral},
    {.method = "rope", .omega = plain},
    {.method = "rope", .settings = "cached_keys=3", .omega = plain},
    {.method = "abf", .omega = abf},
    {.method = "p_rope", .settings = "rotary_fraction=0.5", .omega = half_of_head},
    {.method = "resonance", .omega = resonance},
    {.method = "xpos", .omega = plain, .gain = xpos},
    {.method = "pi", .settings = "scale=2.5", .omega = divided},
    {.method = "pi", .settings = "factor=2.5 interpolate=positions", .omega = plain, .place = divided_places},
    {.method = "dynamic_pi", .omega = divided_dynamically},
    {.method = "ntk", .settings = "factor=2.5", .omega = ntk},
    {.method = "dynamic_ntk", .settings = "factor=2.5", .omega = dynamic_ntk},
    {.method = "dynamic_ntk", .settings = "factor=2.5 cached_keys=1", .omega = dynamic_ntk, .place = as_cached},
    {.method = "ntk_fixed", .settings = "factor=2.5", .omega = ntk_fixed},
    {.method = "ntk_mixed", .settings = "factor=2.5", .omega = ntk_mixed},
    {.method = "critical_base", .settings = "factor=2.5", .omega = critical_base},
    {.method = "dprope", .settings = "factor=2.5 angle_bins=5", .omega = nearer_in_angles},
    {.method = "ntk_by_parts", .settings = "factor=2.5 beta_fast=0.8 beta_slow=0.05 truncate=false", .omega = by_parts},
    {.method = "ntk_by_parts", .settings = "factor=2.5 beta_fast=0.8 beta_slow=0.05 ramp=paper", .omega = by_rotations},
    {.method = "ntk_by_parts_v1", .settings = "factor=2.5", .omega = by_parts_v1},
    {.method = "yarn",
     .settings = "factor=2.5 beta_fast=0.8 beta_slow=0.05 truncate=false",
     .omega = by_parts,
     .gain = yarn_squared},
    {.method = "dynamic_yarn",
     .settings = "beta_fast=0.8 beta_slow=0.05 truncate=false",
     .omega = by_parts_dynamic,
     .gain = dynamic_yarn_squared},
    {.method = "deepseek_yarn",
     .settings = "factor=2.5 beta_fast=0.8 beta_slow=0.05 truncate=false",
     .omega = by_parts,
     .factor = on_softmax},
    {.method = "resonance_yarn",
     .settings = "factor=2.5 beta_fast=0.8 beta_slow=0.05 truncate=false",
     .omega = by_parts_whole,
     .gain = yarn_squared},
    {.method = "llama3", .settings = "factor=2.5", .omega = llama3},
    {.method = "longrope", .settings = LISTS("1", "2"), .omega = longrope, .gain = longrope_squared, .rotary = 2},
    {.method = "longrope",
     .settings = LISTS("1,1.25", "2,4"),
     .omega = longrope,
     .gain = longrope_squared,
     .rotary = 4},
    {.method = "longrope",
     .settings = LISTS("1,1.25,1.5", "2,4,8"),
     .omega = longrope,
     .gain = longrope_squared,
     .rotary = 6},
    {.method = "proportional", .settings = "rotary_fraction=0.5 factor=3", .omega = half_of_head_divided},
    {.method = "explicit", .settings = "inv_freq=0.3", .omega = listed, .rotary = 2},
    {.method = "explicit",
     .settings = "inv_freq=0.3,1.6 attention_factor=1.5",
     .omega = listed,
     .gain = one_and_a_half_squared,
     .rotary = 4},
    {.method = "explicit", .settings = "inv_freq=0.3,1.6,0", .omega = listed, .rotary = 6},
    {.method = "mrope", .omega = plain, .place = thirds},
    {.method = "mrope_i", .omega = plain, .place = reset_thirds},
    {.method = "videorope", .omega = plain, .place = spatial_first},
    {.method = "v2pe", .omega = plain, .place = quarters},
    {.method = "axial", .omega = one, .place = column_and_row, .rotary = 4},
    {.method = "rope_mixed", .settings = "freq_x=1 freq_y=0.2", .omega = one, .place = mixed, .rotary = 2},
    {.method = "rope_mixed", .settings = "freq_x=1,-0.5 freq_y=0.2,0.5", .omega = one, .place = mixed, .rotary = 4},
    {.method = "rope_mixed",
     .settings = "freq_x=1,-0.5,0.25 freq_y=0.2,0.5,-2",
     .omega = one,
     .place = mixed,
     .rotary = 6},
    {.method = "self_extend", .settings = "window=2 group=3", .omega = plain, .place = grouped},
    {.method = "rerope", .settings = "window=2", .omega = plain, .place = clamped},
    {.method = "leaky_rerope", .settings = "window=2 leak=0.25", .omega = plain, .place = leaking},
    {.method = "lm_infinite", .omega = plain, .place = ceiling},
    {.method = "dual_chunk", .settings = "chunk_size=4 local_size=1", .omega = plain, .place = chunked},
    {.method = "string", .settings = "shift=3 local=1", .omega = plain, .place = shifted},
    {.method = "random_rope", .settings = "position_range=8", .omega = plain}, /* L = 8: all of them, in order */
    {.method = "alibi", .bias = alibi},
    {.method = "t5", .settings = "num_buckets=4 max_distance=6", .table = true},
    {.method = "t5", .settings = "num_buckets=8 max_distance=6 bidirectional=true", .table = true},
    {.method = "relative", .settings = "clip=2", .table = true},
    {.method = "swin", .table = true, .picture = true},
    {.method = "kerple_log", .table = true},
    {.method = "kerple_power", .table = true},
    {.method = "fire", .settings = "threshold=3", .table = true},
    {.method = "sandwich", .table = true},
    {.method = "sinusoidal", .embed = sinusoid},
    {.method = "learned"},
    {.method = "sinusoidal_2d", .embed = patch_concat, .picture = true},
    {.method = "sinusoidal_2d", .settings = "combine=sum", .embed = patch_sum, .picture = true},
    {.method = "learned_2d", .picture = true},
};

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

/* <R_q q, R_k k>: each pair a matrix [[cos, -sin], [sin, cos]], the angle turning its first dim towards its second. */
static double turned_product(const oracle *o, const tiny *t, size_t m, size_t n, const double *q, const double *k) {
  size_t pairs = o->omega != NULL ? t->rotary / 2 : 0;
  bool interleaved = t->layout == RS_INTERLEAVED;
  double sum = 0;
  for (size_t d = 2 * pairs; d < t->dims; d++) sum += q[d] * k[d];
  for (size_t j = 0; j < pairs; j++) {
    size_t first = interleaved ? 2 * j : j, second = interleaved ? 2 * j + 1 : j + pairs;
    double at = (double)m, other = (double)n, gain = o->gain != NULL ? o->gain(t, m, n, j) : 1;
    if (o->place != NULL) o->place(t, m, n, j, &at, &other);
    double a = at * o->omega(t, j), b = other * o->omega(t, j);
    double left[2] = {cos(a) * q[first] - sin(a) * q[second], sin(a) * q[first] + cos(a) * q[second]};
    double right[2] = {cos(b) * k[first] - sin(b) * k[second], sin(b) * k[first] + cos(b) * k[second]};
    sum += gain * (left[0] * right[0] + left[1] * right[1]);
  }
  return sum;
}

static double expected_logit(const oracle *o, const tiny *t, const rs_encoding *encoding, size_t m, size_t n,
                             const double *q, const double *k) {
  double factor = o->factor != NULL ? o->factor(t, m) : 1, bias = o->bias != NULL ? o->bias(t, m, n) : 0;
  if (o->table) bias = (double)expected_bias(encoding, HEAD, m, n);
  return factor * turned_product(o, t, m, n, q, k) / sqrt((double)t->dims) + bias;
}

/* Every query against every key it sees, through the reference row. */
static void check_rows(const oracle *o, const tiny *t, const rs_encoding *encoding, bool future, uint64_t *state) {
  double q[MOST * 6], k[MOST * 6], logits[MOST], needle;
  size_t queries[MOST];
  for (size_t i = 0; i < t->length * t->dims; i++) {
    q[i] = draw_real(state, -1, 1);
    k[i] = draw_real(state, -1, 1);
  }
  for (size_t m = 0; m < t->length; m++) queries[m] = m;
  rs_attention_job job = {.encoding = encoding,
                          .head = HEAD,
                          .mask = {.kind = future ? RS_BIDIRECTIONAL : RS_CAUSAL},
                          .queries = queries,
                          .query_count = t->length,
                          .q = q,
                          .k = k};
  for (size_t m = 0; m < t->length; m++) {
    cr_assert_eq(rs_reference_row(&job, m, logits, &needle, NULL), RS_OK);
    for (size_t n = 0; n < (future ? t->length : m + 1); n++) {
      double expected = expected_logit(o, t, encoding, m, n, q + m * t->dims, k + n * t->dims);
      cr_assert(close_to(logits[n], expected, 1e-12, 1e-13),
                "%s %s D %zu R %zu L %zu layout %d (%zu, %zu): got %.17g, expected %.17g", o->method,
                o->settings != NULL ? o->settings : "", t->dims, t->rotary, t->length, (int)t->layout, m, n, logits[n],
                expected);
    }
  }
}

static void check_embedding(const oracle *o, const tiny *t, const rs_encoding *encoding) {
  double rows[MOST * HEADS * 6];
  if (o->embed == NULL) return;
  cr_assert_eq(encoding->method->embed->fill(encoding, 0, t->length, rows, NULL), RS_OK);
  for (size_t n = 0; n < t->length; n++)
    for (size_t d = 0; d < encoding->width; d++) {
      double expected = o->embed(t, n, d), got = rows[n * encoding->width + d];
      cr_assert(close_to(got, expected, 0, 1e-15), "%s token %zu channel %zu: got %.17g, expected %.17g", o->method, n,
                d, got, expected);
    }
}

static void check_world(const oracle *o, const tiny *t, uint64_t *state) {
  rs_model model = plain_model(t->dims, THETA, o->embed != NULL || strcmp(o->method, "learned") == 0 ? MOST : L0);
  rs_token_run runs[] = {{.modality = RS_TEXT, .tokens = 1}, {RS_IMAGE, ROWS * COLUMNS, 1, ROWS, COLUMNS, 1, 1}};
  rs_token_layout tokens = {runs, t->picture ? RS_COUNT(runs) : 0};
  model.heads = HEADS;
  model.rotary_dim = t->rotary;
  model.max_length = 4 * L0;
  rs_recipe recipe = make_recipe(o->method, o->settings != NULL ? o->settings : "");
  if (o->omega != NULL)
    recipe_set_word(&recipe, "pair_layout", t->layout == RS_INTERLEAVED ? "interleaved" : "half_split");
  rs_encoding *encoding = encode_recipe(&recipe, &model, t->length, &tokens);
  check_rows(o, t, encoding, false, state);
  if (encoding->views == 1) check_rows(o, t, encoding, true, state);
  check_embedding(o, t, encoding);
  rs_encoding_free(encoding);
  rs_recipe_clear(&recipe);
}

/* Whether the method is defined there: NTK's exponent R / (R - 2) is not for one pair. */
static bool defined(const oracle *o, size_t rotary, size_t length, bool picture) {
  bool ntk_based = o->omega == ntk || o->omega == dynamic_ntk || o->omega == by_parts_v1;
  bool random = strcmp(o->method, "random_rope") == 0; /* where its places come from is the unit tests' matter */
  return (o->rotary == 0 || o->rotary == rotary) && !(ntk_based && rotary == 2) && !(random && length < MOST) &&
         (picture || !o->picture);
}

Test(tiny, worlds__every_method_query_and_key__is_the_formula) {
  uint64_t state = 20240613;
  size_t worlds = 0;
  for (size_t i = 0; i < RS_COUNT(oracles); i++)
    for (size_t dims = 2; dims <= 6; dims += 2)
      for (size_t rotary = 2; rotary <= dims; rotary += 2)
        for (size_t length = 1; length <= MOST; length++)
          for (int variant = 0; variant < 4; variant++) {
            bool picture = variant > 1 && length >= PICTURE;
            if (!defined(&oracles[i], rotary, length, picture)) continue;
            tiny t = {.length = length,
                      .dims = dims,
                      .rotary = rotary,
                      .layout = variant % 2 ? RS_INTERLEAVED : RS_HALF_SPLIT,
                      .picture = picture};
            check_world(&oracles[i], &t, &state);
            worlds++;
          }
  cr_assert_gt(worlds, 3000u, "%zu", worlds);
}

/* A method that nobody described here would go unseen. */
Test(tiny, oracles__every_method__has_one) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  for (size_t m = 0; m < count; m++) {
    bool found = false;
    for (size_t i = 0; i < RS_COUNT(oracles); i++) found |= strcmp(oracles[i].method, methods[m].name) == 0;
    cr_assert(found, "%s has no tiny world", methods[m].name);
  }
}
