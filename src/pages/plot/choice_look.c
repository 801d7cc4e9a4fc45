/* choice_look.c: how each method looks and where it stands. Readers learn colours: a method that is green in one
 * picture and orange in the next is read wrongly. So looks belong to names, and not to places in a config. Colours
 * alone do not do: some readers cannot tell them apart, and paper is grey. So each method has a colour, a marker and a
 * dash. */
#include "choice.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Baselines are grey, and first. A look is a colour and a round: methods of one colour differ in marker and dash, and
 * are such as are seldom compared. */
#define LOOK(colour, round) ((colour) + RS_PLOT_COLOURS * (round))

enum { BLACK, BLUE, RED, GREEN, PINK, ORANGE, SKY, INDIGO, GREY, LIME, BROWN, OLIVE, MAGENTA, TAN, VIOLET, WINE };

static const struct {
  const char *name;
  size_t look;
} known[] = {
    {"window", LOOK(GREY, 1)},
    {"unchanged", LOOK(GREY, 2)},
    {"rope", LOOK(BLACK, 0)},
    {"nope", LOOK(GREY, 0)},
    {"abf", LOOK(TAN, 2)},
    {"p_rope", LOOK(TAN, 1)},
    {"resonance", LOOK(BLUE, 2)},
    {"xpos", LOOK(OLIVE, 3)},
    {"pi", LOOK(BLUE, 0)},
    {"dynamic_pi", LOOK(BLUE, 1)},
    {"ntk", LOOK(ORANGE, 0)},
    {"dynamic_ntk", LOOK(RED, 0)},
    {"ntk_fixed", LOOK(TAN, 0)},
    {"ntk_mixed", LOOK(OLIVE, 0)},
    {"critical_base", LOOK(RED, 2)},
    {"dprope", LOOK(PINK, 2)},
    {"riflex", LOOK(PINK, 3)},
    {"ntk_by_parts", LOOK(LIME, 0)},
    {"ntk_by_parts_v1", LOOK(LIME, 1)},
    {"yarn", LOOK(GREEN, 0)},
    {"dynamic_yarn", LOOK(GREEN, 1)},
    {"deepseek_yarn", LOOK(OLIVE, 1)},
    {"resonance_yarn", LOOK(SKY, 1)},
    {"llama3", LOOK(VIOLET, 0)},
    {"longrope", LOOK(SKY, 0)},
    {"proportional", LOOK(BROWN, 2)},
    {"explicit", LOOK(WINE, 1)},
    {"mrope", LOOK(RED, 1)},
    {"mrope_i", LOOK(ORANGE, 1)},
    {"videorope", LOOK(SKY, 2)},
    {"v2pe", LOOK(VIOLET, 1)},
    {"axial", LOOK(LIME, 2)},
    {"axial_by_parts", LOOK(LIME, 3)},
    {"rope_mixed", LOOK(OLIVE, 2)},
    {"self_extend", LOOK(INDIGO, 0)},
    {"rerope", LOOK(MAGENTA, 0)},
    {"leaky_rerope", LOOK(MAGENTA, 1)},
    {"lm_infinite", LOOK(WINE, 0)},
    {"dual_chunk", LOOK(BROWN, 0)},
    {"string", LOOK(BROWN, 1)},
    {"random_rope", LOOK(PINK, 1)},
    {"alibi", LOOK(PINK, 0)},
    {"t5", LOOK(BROWN, 3)},
    {"relative", LOOK(BLUE, 3)},
    {"swin", LOOK(ORANGE, 3)},
    {"kerple_log", LOOK(VIOLET, 2)},
    {"kerple_power", LOOK(INDIGO, 1)},
    {"fire", LOOK(MAGENTA, 2)},
    {"sandwich", LOOK(TAN, 3)},
    {"shaw", LOOK(ORANGE, 2)},
    {"transformer_xl", LOOK(GREEN, 2)},
    {"sinusoidal", LOOK(INDIGO, 2)},
    {"learned", LOOK(WINE, 2)},
    {"sinusoidal_2d", LOOK(GREEN, 3)},
    {"learned_2d", LOOK(RED, 3)},
};

/* ---- order ------------------------------------------------------------------------------------------------------- */

static bool ends_word(char letter) {
  return letter == '\0' || (!isalnum((unsigned char)letter) && letter != '_');
}

/* The method that a name is or starts with; their number: none. */
static size_t method_of(const char *name) {
  for (size_t i = 0; i < RS_COUNT(known); i++) {
    size_t length = strlen(known[i].name);
    if (strncmp(name, known[i].name, length) == 0 && ends_word(name[length])) return i;
  }
  return RS_COUNT(known);
}

/* Bytes of the number at `text`, as 16, 0.5 or 1e4, and the number; 0: there is none. */
static size_t read_number(const char *text, double *number) {
  char digits[32];
  size_t length = strspn(text, "0123456789"), more = text[length] == '.' ? strspn(text + length + 1, "0123456789") : 0;
  if (length == 0) return 0;
  if (more > 0) length += 1 + more;
  if (text[length] == 'e' && isdigit((unsigned char)text[length + 1]))
    length += 1 + strspn(text + length + 1, "0123456789");
  if (length >= sizeof digits) return 0;
  memcpy(digits, text, length);
  digits[length] = '\0';
  return rs_number_read(digits, number) ? length : 0;
}

/* Compares texts with the numbers in them as numbers: "x=9" is before "x=16", and "base 500" before "base 1e4". */
static int compare_texts(const char *a, const char *b) {
  while (*a != '\0' && *b != '\0') {
    double x, y;
    size_t first = read_number(a, &x), second = read_number(b, &y);
    if (first > 0 && second > 0) {
      if (x != y) return x < y ? -1 : 1;
      a += first;
      b += second;
    } else {
      if (*a != *b) return (unsigned char)*a - (unsigned char)*b;
      a++, b++;
    }
  }
  return (unsigned char)*a - (unsigned char)*b;
}

/* What a checkpoint was trained with is what the others are compared with: before them all. */
static size_t rank_of(const char *name) {
  static const char trained[] = "trained";
  bool first = strncmp(name, trained, sizeof trained - 1) == 0 && ends_word(name[sizeof trained - 1]);
  return first ? 0 : 1 + method_of(name);
}

int rs_plot_methods_order(const void *left, const void *right) {
  const char *a = *(char *const *)left, *b = *(char *const *)right;
  size_t first = rank_of(a), second = rank_of(b);
  int sign = first != second ? (first > second) - (first < second) : compare_texts(a, b);
  return sign != 0 ? sign : strcmp(a, b);
}

rs_status rs_plot_methods_sort(rs_plot_data *data, rs_err *err) {
  size_t count = data->methods.count;
  if (count == 0) return RS_OK;
  rs_arena memory = {0};
  char **before = rs_arena_take(&memory, count, sizeof *before);
  size_t *places = rs_arena_take(&memory, count, sizeof *places);
  rs_status status = rs_arena_check(&memory, err);
  if (status == RS_OK) {
    memcpy(before, data->methods.items, count * sizeof *before);
    qsort(data->methods.items, count, sizeof *before, rs_plot_methods_order);
    for (size_t i = 0; i < count; i++)
      while (data->methods.items[places[i]] != before[i]) places[i]++;
    for (size_t f = 0; f < data->count; f++)
      for (size_t i = 0; i < data->files[f].cell_count; i++)
        data->files[f].cells[i].method = places[data->files[f].cells[i].method];
  }
  rs_arena_clear(&memory);
  return status;
}

/* ---- looks ------------------------------------------------------------------------------------------------------- */

/* Okabe and Ito, "Color Universal Design" (2008), but for their yellow, which is lost on white paper, with the indigo
 * of Paul Tol's "muted" scheme in its place, and grey. The other seven were chosen one by one, each the furthest from
 * all before it: any two differ by more than 26 (CIE76). Methods that share a plot and are mixed up by some eyes still
 * differ in marker and dash. */
static const uint32_t colours[RS_PLOT_COLOURS] = {0x000000, 0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00,
                                                  0x56B4E9, 0x332288, 0x808080, 0x73C000, 0x661100, 0x777700,
                                                  0xEE3377, 0xA07040, 0x8F3FD0, 0x882255};

/* In pixels; made by eye for lines of RS_PLOT_LINE_WIDTH. */
static const struct {
  double dash[4];
  size_t count;
} dashes[] = {{{0}, 0}, {{8, 3}, 2}, {{3, 2.5}, 2}, {{9, 3, 2.5, 3}, 4}};

rs_plot_style rs_plot_style_of(size_t look) {
  enum { MARKERS = 8 };
  size_t colour = look % RS_PLOT_COLOURS, round = look / RS_PLOT_COLOURS % RS_PLOT_ROUNDS;
  size_t half = colour / MARKERS, dash = (colour + half + round) % RS_COUNT(dashes);
  rs_plot_style style = {
      .colour = colours[colour], .marker = (colour + 3 * round) % MARKERS, .hollow = (half + round) % 2 == 1};
  for (size_t i = 0; i < 4; i++) style.dash[i] = dashes[dash].dash[i];
  style.dashes = dashes[dash].count;
  return style;
}

/* FNV-1a, 32 bits: any spread will do, if it is the same everywhere. */
static size_t hash(const char *name) {
  uint32_t value = 2166136261u;
  for (; *name != '\0'; name++) value = (value ^ (unsigned char)*name) * 16777619u;
  return value;
}

/* The look of a name of its own: a free colour, or, when all are in use, that of its letters again. */
static size_t free_look(const char *name, bool used[RS_PLOT_COLOURS]) {
  size_t first = hash(name) % RS_PLOT_COLOURS, round = hash(name) / RS_PLOT_COLOURS % RS_PLOT_ROUNDS;
  for (size_t i = 0; i < RS_PLOT_COLOURS; i++) {
    size_t colour = (first + i) % RS_PLOT_COLOURS;
    if (used[colour]) continue;
    used[colour] = true;
    return LOOK(colour, 0);
  }
  return LOOK(first, round);
}

void rs_plot_methods_style(const rs_plot_names *methods, rs_plot_style *styles) {
  bool used[RS_PLOT_COLOURS] = {false};
  for (int pass = 0; pass < 2; pass++) { /* the known ones first, so that nothing takes their colours */
    for (size_t i = 0; i < methods->count; i++) {
      size_t method = method_of(methods->items[i]);
      bool known_name = method < RS_COUNT(known) && strcmp(methods->items[i], known[method].name) == 0;
      if (known_name != (pass == 0)) continue;
      size_t look = known_name ? known[method].look : free_look(methods->items[i], used);
      used[look % RS_PLOT_COLOURS] = true;
      styles[i] = rs_plot_style_of(look);
    }
  }
}
