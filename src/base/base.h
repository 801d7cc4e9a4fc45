/* base/base.h: what every room stands on. Status and errors, checked memory, growing text, numbers as text, and
 * the parameter specs from which the config check, `ropescope list` and the manifest are all driven.
 *
 * Nothing in the library prints, exits, or changes global state, but for GSL's error handler, which is off (error.c); a
 * function that can fail returns an rs_status and fills the rs_err it was given (which may be NULL). */
#ifndef ROPESCOPE_BASE_H
#define ROPESCOPE_BASE_H

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RS_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define RS_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

/* After a declaration: the arguments of these numbers, from 1, are never NULL. */
#define RS_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))

/* On a type: no function's result of it goes unread, unless by (void). */
#if defined(__clang__)
#define RS_NODISCARD __attribute__((warn_unused_result))
#elif defined(__GNUC__) && __GNUC__ >= 11
#define RS_NODISCARD [[nodiscard]]
#else
#define RS_NODISCARD
#endif

/* ---- status and errors ------------------------------------------------------------------------------------------ */

__extension__ typedef enum RS_NODISCARD rs_status {
  RS_OK = 0,
  RS_INPUT,       /* the user's file, flag or value is wrong */
  RS_DOMAIN,      /* well formed, but undefined for these values (a learned table beyond its end) */
  RS_UNSUPPORTED, /* meaningful, but not offered (Self-Extend on image tokens) */
  RS_MEMORY,      /* an allocation failed, or a size would overflow */
  RS_IO,          /* a file could not be read or written */
  RS_INTERNAL,    /* a bug in ropescope */
  RS_STOPPED,     /* the caller has asked for it; what it takes to go on is kept */
  RS_BUSY         /* another process has it; later it may do */
} rs_status;

/* The first failure of a call. `subject` names the parameter at fault where one is (so that a config check can point at
 * its line), else "". Zero-initialise before use. */
typedef struct rs_err {
  rs_status status;
  bool unread; /* RS_IO: a file that is wanted could not be read; else one could not be written */
  char subject[64];
  char message[1024];
} rs_err;

/* Records a failure and returns its status. The first error wins: a later call on the same `err` changes nothing and
 * returns the first status. `err` may be NULL. The message is made as rs_message makes it; the format "%s" hands on a
 * message, which keeps its lines. */
rs_status rs_fail(rs_err *err, rs_status status, const char *format, ...) RS_PRINTF(3, 4) RS_NONNULL(3);

/* The same, naming the parameter `subject` at fault. */
rs_status rs_fail_on(rs_err *err, rs_status status, const char *subject, const char *format, ...) RS_PRINTF(4, 5)
    RS_NONNULL(3, 4);

/* RS_IO of a file that could not be read: to whoever named it, as wrong as if it held nonsense. */
rs_status rs_fail_read(rs_err *err, const char *format, ...) RS_PRINTF(2, 3) RS_NONNULL(2);

/* "subject: message", or the message alone, as one line. */
void rs_err_words(const rs_err *err, char *words, size_t size) RS_NONNULL(1, 2);

/* What a function of GSL returned, as a status: RS_OK, RS_MEMORY, or RS_INTERNAL, with GSL's words behind `what`. GSL's
 * error handler, which would end the program, is off in whatever links this. */
rs_status rs_gsl(int failed, const char *what, rs_err *err) RS_NONNULL(2);

/* A short word for the status: "ok", "input", "domain", ... */
const char *rs_status_name(rs_status status);

/* Returns from the calling function with the status of `call` if it is not RS_OK. What the function owns by then is
 * RS_OWNED, RS_FREED or RS_HELD, or it has one `out:` label. */
#define RS_TRY(call)                                                                                                   \
  do {                                                                                                                 \
    rs_status rs_try_status = (call);                                                                                  \
    if (rs_try_status != RS_OK) return rs_try_status;                                                                  \
  } while (0)

/* Locals that are released where their block ends, however it is left (an attribute of GCC and Clang):
 * RS_OWNED(rs_text) text = {0} by rs_text_clear, RS_FREED char *data = NULL by free, and RS_HELD(rs_tree) tree = NULL,
 * a pointer, by rs_tree_free, of types that say RS_HOLDS. They are initialised there: what has failed to fill them is
 * followed by the release, too. */
#define RS_OWNED(type) __attribute__((cleanup(type##_clear))) type
#define RS_FREED __attribute__((cleanup(rs_free_at)))
#define RS_HELD(type) __attribute__((cleanup(type##_free_at))) type *
#define RS_HOLDS(type)                                                                                                 \
  static inline void type##_free_at(type **held) {                                                                     \
    type##_free(*held);                                                                                                \
  }
void rs_free_at(void *pointer) RS_NONNULL(1); /* the address of one */

/* An invariant, checked where tests are built: a broken one ends the program, as an assert does. Arguments and input
 * are not invariants; they give statuses. */
#ifdef RS_ASSERTIONS
#define RS_ASSERT(condition) assert(condition)
#else
#define RS_ASSERT(condition) ((void)sizeof(condition)) /* not evaluated */
#endif

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* Seconds of a clock that only goes forward, from any beginning. */
double rs_seconds(void);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* `count` zeroed elements of `size` bytes, or NULL with RS_MEMORY (also when the product overflows). A count of 0 gives
 * one element, so that NULL always means failure. Release with free(). */
void *rs_alloc(size_t count, size_t size, rs_err *err);

/* Grows the list at `array`, the address of a pointer, to hold at least `needed` elements of `size` bytes, at least
 * doubling `*capacity`; what is new is zero. Nothing changes on failure. */
rs_status rs_grow(void *array, size_t *capacity, size_t needed, size_t size, rs_err *err) RS_NONNULL(1, 2);

/* The same of the pointer itself: RS_TRY(RS_GROW(list->items, &list->capacity, list->count + 1, err)). */
#define RS_GROW(array, capacity, needed, err) rs_grow(&(array), capacity, needed, sizeof *(array), err)

/* The memory of one object, given back at once. Zero-initialise. After a failed allocation every later one fails, so
 * that the maker of an object checks once, at its end. */
typedef struct rs_arena {
  struct rs_arena_block *blocks; /* the last first */
  bool failed;
  size_t count, size; /* of what it failed at */
} rs_arena;

/* `count` zeroed elements of `size` bytes, aligned for any type; NULL after a failure. A count of 0 gives one. */
void *rs_arena_take(rs_arena *arena, size_t count, size_t size) RS_NONNULL(1);

/* A copy of `text`. */
char *rs_arena_text(rs_arena *arena, const char *text) RS_NONNULL(1, 2);

/* RS_OK, or RS_MEMORY where an allocation failed. */
rs_status rs_arena_check(const rs_arena *arena, rs_err *err) RS_NONNULL(1);

/* Frees all of it; the arena is then as new. */
void rs_arena_clear(rs_arena *arena) RS_NONNULL(1);

/* A copy of `text`, or NULL with RS_MEMORY. */
char *rs_strdup(const char *text, rs_err *err) RS_NONNULL(1);

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Growing text; `data` is NUL-terminated once anything was added, NULL before. A failed allocation sets `failed` and
 * makes every later call a no-op, so that a writer checks once, at its end. Zero-initialise; release with
 * rs_text_clear. */
typedef struct rs_text {
  char *data;
  size_t length, capacity;
  bool failed;
} rs_text;

void rs_text_add(rs_text *text, const char *bytes, size_t count) RS_NONNULL(1);
void rs_text_puts(rs_text *text, const char *string) RS_NONNULL(1, 2);
void rs_text_printf(rs_text *text, const char *format, ...) RS_PRINTF(2, 3) RS_NONNULL(1, 2);
void rs_text_number(rs_text *text, double value) RS_NONNULL(1);        /* as rs_number_format */
void rs_text_quote(rs_text *text, const char *words) RS_NONNULL(1, 2); /* in double quotes, as YAML reads them */
void rs_text_shell(rs_text *text, const char *word)
    RS_NONNULL(1, 2); /* as a word that a shell reads, quoted if need be */
void rs_text_clear(rs_text *text) RS_NONNULL(1);
const char *rs_text_string(const rs_text *text) __attribute__((returns_nonnull)) RS_NONNULL(1); /* never NULL */

/* RS_OK, or RS_MEMORY when an addition to `text` failed. */
rs_status rs_text_check(const rs_text *text, rs_err *err) RS_NONNULL(1);

/* Replaces in text[from, length) what a terminal would act on by its spelling: control characters but those in `kept`
 * ("\x1b", "\n"), marks of the direction of writing and of lines ("\u202e"), and bytes that are no UTF-8. */
void rs_text_spell(rs_text *text, size_t from, const char *kept) RS_NONNULL(1, 3);

/* Ends the line that text[from] begins, spelled so that no word in it begins another. */
void rs_text_end_line(rs_text *text, size_t from) RS_NONNULL(1);

/* Adds such a line. */
void rs_text_line(rs_text *text, const char *format, ...) RS_PRINTF(2, 3) RS_NONNULL(1, 2);

/* Bytes of the UTF-8 character at `text`, and the character; 0 if it is none (Unicode 15, table 3-7). */
size_t rs_utf8_read(const char *text, uint32_t *character) RS_NONNULL(1, 2);

/* Bytes of the longest beginning of `text` that has at most `most` of them and ends between two characters. */
size_t rs_utf8_cut(const char *text, size_t most) RS_NONNULL(1);

/* Whether `word` is one of `words`, which have one space between them. */
bool rs_word_among(const char *word, const char *words) RS_NONNULL(1, 2);

/* Copies `text`, of which what does not fit into `size` (> 4) bytes becomes "...". */
void rs_shorten(const char *text, size_t size, char *out) RS_NONNULL(1, 3);

/* A character as people are shown it: its bytes, or its spelling. */
typedef struct rs_shown {
  char text[8];
  size_t length, bytes; /* of `text`; of the character, 1 where there is none */
} rs_shown;

/* The character at `at`, which a NUL ends, as rs_text_spell has it. */
rs_shown rs_show(const char *at, const char *kept) RS_NONNULL(1, 2);

/* Prints one line of a message into `out` (size bytes, at least 16): spelled as by rs_text_spell, a word of more than
 * 200 bytes without its middle, and so the line itself where it is longer than `size`; "..." stands in the gap. */
void rs_message(char *out, size_t size, const char *format, ...) RS_PRINTF(3, 4) RS_NONNULL(1, 3);

/* The same of several lines, where `lines`: newlines are kept. */
void rs_message_print(char *out, size_t size, bool lines, const char *format, va_list words) RS_PRINTF(4, 0)
    RS_NONNULL(1, 4);

/* The name that a word is likely to mean, among those that are added: the nearest by edit distance (case folded, '-' as
 * '_', words in another order one edit more), close enough to be a slip of the pen: at most one edit for words of 2 to
 * 4 letters, else at most a third of the letters. Where there is none, the first name that goes on with '_' after the
 * word ("entropy_nats"). Begin with {.word = word}. Borrows all of them. */
typedef struct rs_nearest {
  const char *word, *near, *longer; /* near: the nearest so far; longer: the first that goes on; NULL: none */
  size_t distance;                  /* of `near` */
} rs_nearest;

void rs_nearest_add(rs_nearest *nearest, const char *name) RS_NONNULL(1, 2);

/* Adds `name` by a name that it had in an earlier release. */
void rs_nearest_former(rs_nearest *nearest, const char *former, const char *name) RS_NONNULL(1, 2, 3);

/* NULL: nothing is near. */
const char *rs_nearest_found(const rs_nearest *nearest) RS_NONNULL(1);

/* That of a list of names, or NULL. */
const char *rs_suggest(const char *word, const char *const *candidates, size_t count) RS_NONNULL(1);

/* ---- numbers as text, in every locale with a '.' ----------------------------------------------------------------- */

enum { RS_NUMBER_CHARS = 32 };

/* The shortest decimal that reads back to the same double ("0.1", "1e+300"); "nan", "inf", "-inf". `out` holds
 * RS_NUMBER_CHARS bytes. Returns the length. */
size_t rs_number_format(double value, char *out) RS_NONNULL(2);

/* The shortest that reads back to the same float ("0.1" of the float next to it). */
size_t rs_number_format_single(float value, char *out) RS_NONNULL(2);

/* Reads the whole of `text` as a decimal number. RS_INPUT with the reason (decimal comma, leading zero that looks
 * octal, hexadecimal, out of double's range, not finite, trailing text); a NaN or an infinity is never accepted. */
rs_status rs_number_parse(const char *text, double *value, rs_err *err) RS_NONNULL(1, 2);

/* As rs_number_parse, in the C locale, accepting what rs_number_format prints; for reading back CSV. False if not one.
 */
bool rs_number_read(const char *text, double *value) RS_NONNULL(1, 2);

/* ---- parameters -------------------------------------------------------------------------------------------------- */

typedef enum rs_type {
  RS_REAL,    /* a finite double */
  RS_INTEGER, /* a whole number; "4k" is 4096 and "1M" 1048576 */
  RS_BOOL,
  RS_CHOICE, /* one of `words` */
  RS_REALS,  /* a list of doubles */
  RS_FILE,   /* the path of a file */
  RS_FOLDER, /* the path of a folder */
  RS_NAME,   /* what something is called, within a file for example */
  RS_RECIPE  /* a method with its parameters */
} rs_type;

/* One parameter of a method, source or metric, and the field that it fills in the struct of its owner. The range is
 * closed: min <= value <= max (elementwise for lists). */
typedef struct rs_param {
  const char *name;
  rs_type type;
  size_t offset;            /* of the field, bytes; written by RS_FIELD and its like */
  const char *unit;         /* "tokens", "rotations", "1" for a pure number, "" where none applies */
  const char *const *words; /* (word_count + 1,), the last NULL: of RS_CHOICE; beside other types they may stand in
                               place of the number or list. A word's index is its value in the enum it belongs to. */
  size_t word_count;
  double min, max;
  const char *fallback; /* default as config text; NULL: none (unset unless given) */
  bool reading;         /* of a task: says how a trained model is read alone; its weights do not depend on it */
  bool later;           /* records leave it out where it is 0, as those from before it have it; and resolved configs
                           where it was not given */
  size_t tuple; /* of RS_REALS: the list may be written in lists of so many, as [[0, 0], [6, 7]]; 0: it may not */
  bool single;  /* of RS_REALS: a number that stands alone is a list of one */
  const char *summary;
} rs_param;

/* What a field holds that is a number or a list, or one of the parameter's words in place of it. `word` is RS_NO_WORD
 * where there is none; a number that is unset is NaN or RS_NO_COUNT, a list that is unset NULL. */
typedef struct rs_real_or_word {
  double number;
  int word;
} rs_real_or_word;

typedef struct rs_count_or_word {
  size_t number;
  int word;
} rs_count_or_word;

typedef struct rs_real_list {
  const double *list; /* (count,); borrowed from the settings */
  size_t count;
  int word;
} rs_real_list;

/* NULL where it is unset. */
typedef struct rs_name {
  const char *text; /* borrowed from the settings */
} rs_name;

/* NULL where it is unset. */
typedef struct rs_folder {
  const char *path; /* borrowed from the settings */
} rs_folder;

/* A recipe, or a word in place of it; `method` is NULL beside a word, and where it is unset. */
typedef struct rs_recipe_or_word {
  const char *method;                 /* borrowed from the settings, */
  const struct rs_settings *settings; /* as are its parameters */
  int word;
} rs_recipe_or_word;

enum { RS_NO_WORD = -1 };
#define RS_NO_COUNT SIZE_MAX

/* The type of a parameter follows from that of its field; an enum is an unsigned int, or an int where one of its
 * constants is negative. */
#define RS_TYPE_OF(field)                                                                                              \
  _Generic((field), double                                                                                             \
           : RS_REAL, rs_real_or_word                                                                                  \
           : RS_REAL, size_t                                                                                           \
           : RS_INTEGER, rs_count_or_word                                                                              \
           : RS_INTEGER, bool                                                                                          \
           : RS_BOOL, int                                                                                              \
           : RS_CHOICE, unsigned                                                                                       \
           : RS_CHOICE, rs_real_list                                                                                   \
           : RS_REALS, const char *                                                                                    \
           : RS_FILE, rs_folder                                                                                        \
           : RS_FOLDER, rs_name                                                                                          \
           : RS_NAME, rs_recipe_or_word                                                                                   \
           : RS_RECIPE)

/* The first members of a spec: its name, type and place are those of `field` in `structure`. RS_FIELD_AS is for
 * names that are no good identifiers, RS_FIELD_IN for a field of the block of shared parameters `block`. */
#define RS_FIELD_AS(structure, field, word)                                                                            \
  .name = word, .type = RS_TYPE_OF(((structure *)0)->field), .offset = offsetof(structure, field)
#define RS_FIELD(structure, field) RS_FIELD_AS(structure, field, #field)
#define RS_FIELD_IN(structure, block, field) RS_FIELD_AS(structure, block.field, #field)

/* The words of a spec, from an array (not a pointer) that ends with NULL:
 *
 *   typedef enum rs_shape { RS_ROUND, RS_SQUARE, RS_SHAPES } rs_shape;
 *   static const char *const shapes[RS_SHAPES + 1] = {[RS_ROUND] = "round", [RS_SQUARE] = "square"}; */
#define RS_WORDS(array) .words = (array), .word_count = RS_COUNT(array) - 1

/* The value of one parameter. */
typedef struct rs_value {
  bool set;      /* given, or filled from the default */
  bool given;    /* written by the user, not a default */
  int choice;    /* index of the word, or RS_NO_WORD when it is a number or list */
  double number; /* RS_REAL, RS_INTEGER; RS_BOOL as 0 or 1 */
  double *list;  /* RS_REALS, owned */
  size_t count;
  char *file;    /* RS_FILE, RS_FOLDER: it; else the one the list was read from. Its absolute path, owned; NULL: none */
  char hash[65]; /* SHA-256 of that file when it was read, in hexadecimal; "" of a folder */
  char *name;    /* RS_NAME: it; RS_RECIPE: that of the method. Owned */
  struct rs_settings *inner; /* RS_RECIPE: the method's parameters, owned */
} rs_value;

/* A list from a file that is longer than this stays there: it is written as the file's name. */
enum { RS_INLINE_NUMBERS = 4096 };

/* Whether the value is written as a file's name. */
bool rs_value_is_file(const rs_param *param, const rs_value *value) RS_NONNULL(1, 2);

/* The values of one item's parameters, in the order of its specs. Create with rs_settings_init. */
typedef struct rs_settings {
  const rs_param **params; /* owned array of borrowed specs */
  rs_value *values;
  size_t count;
} rs_settings;

/* All parameters at their defaults. On failure the settings are cleared. */
rs_status rs_settings_init(rs_settings *settings, const rs_param *const *params, size_t count, rs_err *err)
    RS_NONNULL(1);

/* The same for the specs of one kind, which stand in an array. */
rs_status rs_settings_init_specs(rs_settings *settings, const rs_param *specs, size_t count, rs_err *err) RS_NONNULL(1);
rs_status rs_settings_copy(rs_settings *copy, const rs_settings *from, rs_err *err) RS_NONNULL(1, 2);
void rs_settings_clear(rs_settings *settings) RS_NONNULL(1);

/* Text stays text up to here. What follows up to rs_bind is for code that reads and writes configs; what computes reads
 * fields. */

/* Index of the parameter called `name`, or -1. */
int rs_settings_find(const rs_settings *settings, const char *name) RS_NONNULL(1, 2);

/* The value of `name`; an unset one when the item has no such parameter. Never NULL. Borrows. */
const rs_value *rs_setting(const rs_settings *settings, const char *name) RS_NONNULL(1, 2);

/* Reads `text` as a scalar of `param`'s type and range into `*value`; a path is taken as it stands. RS_INPUT with the
 * reason; `value` is then unset. */
rs_status rs_value_parse(const rs_param *param, const char *text, rs_value *value, rs_err *err) RS_NONNULL(1, 2, 3);

/* Makes a copy of a method's parameters the value of an RS_RECIPE. */
rs_status rs_value_recipe(const char *method, const rs_settings *settings, rs_value *value, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* Makes a finite number the value of an RS_REAL or RS_INTEGER, as if it had been written. RS_INPUT as above. */
rs_status rs_value_number(const rs_param *param, double number, rs_value *value, rs_err *err) RS_NONNULL(1, 3);

/* Index of `word` among the words of `param`, or RS_NO_WORD. */
int rs_param_word(const rs_param *param, const char *word) RS_NONNULL(1, 2);

/* Sets a list value (elementwise range check; copies). RS_INPUT when `param` takes no list. */
rs_status rs_value_list(const rs_param *param, const double *list, size_t count, rs_value *value, rs_err *err)
    RS_NONNULL(1, 4);

/* The value as config text ("16", "auto", "[16, 24, 24]"); a list of more than RS_INLINE_NUMBERS from a file as its
 * path in double quotes. */
void rs_value_write(const rs_param *param, const rs_value *value, rs_text *text) RS_NONNULL(1, 2, 3);
rs_status rs_value_copy(rs_value *copy, const rs_value *from, rs_err *err) RS_NONNULL(1, 2);

/* Whether it is what the parameter has where nothing is said. */
bool rs_value_usual(const rs_param *param, const rs_value *value) RS_NONNULL(1, 2);

/* Adds ", name: value" of each parameter that was given, or (all) has a value, as an entry of a config has it: names
 * and paths in double quotes. */
void rs_settings_write(const rs_settings *settings, bool all, rs_text *text) RS_NONNULL(1, 3);

/* Adds a whole entry, "{name: yarn, factor: 8}": what was given. */
void rs_entry_write(const char *name, const rs_settings *settings, rs_text *text) RS_NONNULL(1, 2, 3);

/* Whether two values of one parameter are the same, given or not. */
bool rs_value_same(const rs_value *a, const rs_value *b) RS_NONNULL(1, 2);
void rs_value_clear(rs_value *value) RS_NONNULL(1);

/* Writes the value of each of `params` (count,) into its field of the struct `fields`. Parameters that `settings` does
 * not have, or has no value for, are unset there: NaN, RS_NO_COUNT, false, NULL, RS_NO_WORD. Lists and paths are
 * borrowed from `settings`. */
void rs_bind(const rs_settings *settings, const rs_param *params, size_t count, void *fields);

/* Writes one value into the field of its parameter. */
void rs_bind_value(const rs_param *param, const rs_value *value, void *fields) RS_NONNULL(1, 2, 3);

/* A struct of parameters beside the settings that it was bound from. */
typedef struct rs_binding {
  const rs_settings *settings; /* borrowed */
  const rs_param *params;      /* (count,); borrowed */
  size_t count;
  void *fields; /* owned */
} rs_binding;

/* Binds `params` to a new struct of `size` bytes; none (NULL) where that is 0. Release with rs_binding_clear; it is
 * cleared on failure. */
rs_status rs_binding_make(const rs_settings *settings, const rs_param *params, size_t count, size_t size,
                          rs_binding *binding, rs_err *err);
void rs_binding_clear(rs_binding *binding) RS_NONNULL(1);

/* Binds to `fields`, a struct of the caller's: nothing is owned, nothing to clear. */
rs_binding rs_binding_over(const rs_settings *settings, const rs_param *params, size_t count, void *fields);

/* The parameter whose field stands at `offset`: write it as offsetof(structure, field). NULL: none. */
const rs_param *rs_binding_param(const rs_binding *binding, size_t offset) RS_NONNULL(1);

/* Whether the user has written that parameter: it is no default, and nothing that a model publishes. */
bool rs_binding_given(const rs_binding *binding, size_t offset) RS_NONNULL(1);

/* RS_INPUT with that parameter as subject, for checks: "must exceed ...". */
rs_status rs_binding_fail(const rs_binding *binding, size_t offset, rs_err *err, const char *format, ...)
    RS_PRINTF(4, 5) RS_NONNULL(1, 4);

/* RS_INPUT when the user has written that parameter, which has no effect with `with`. */
rs_status rs_binding_unused(const rs_binding *binding, size_t offset, const char *with, rs_err *err) RS_NONNULL(1, 3);

/* ==== math ====================================================================================================== */

/* What GSL lacks: random numbers that depend on their index alone, angles reduced once, sums that do not depend on who
 * adds them, rounding to short float formats, log-spaced edges, tables on grids; and over GSL: orthonormal columns,
 * curves fitted by waves. */

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

/* What each stream is for: two purposes never share a number. Their numbers are part of every result. */
typedef enum rs_purpose {
  RS_PURPOSE_KEYS = 1,
  RS_PURPOSE_QUERIES,
  RS_PURPOSE_NEEDLES,
  RS_PURPOSE_QUERY_POSITIONS,
  RS_PURPOSE_FIELD_WAVES,
  RS_PURPOSE_FIELD_PHASES,
  RS_PURPOSE_PROJECTION,
  RS_PURPOSE_BIASES = 0x626961,      /* "bia" */
  RS_PURPOSE_TABLE = 0x6c6561,       /* "lea": of embeddings in a row */
  RS_PURPOSE_TABLE_2D = 0x6c6532,    /* "le2": of embeddings on a grid */
  RS_PURPOSE_POSITIONS = 0x706f73,   /* "pos" */
  RS_PURPOSE_FREQUENCIES = 0x667265, /* "fre": angles of mixed frequencies */
  RS_PURPOSE_VECTORS = 0x766563,     /* "vec": vectors of distance */
  RS_PURPOSE_CURVE = 0x637572,       /* "cur": noise that a curve of logits is fitted to */
  RS_PURPOSE_SHIFT = 0x736869,       /* "shi": queries and keys of shift_invariance */
  RS_PURPOSE_TRAINING = 0x747261,    /* "tra": sequences of tasks that models are trained on */
  RS_PURPOSE_EVALUATION = 0x657661,  /* "eva": sequences of tasks that they are read on */
  RS_PURPOSE_EPOCH = 0x65706f,       /* "epo": the order of pictures in an epoch of training */
  RS_PURPOSE_RULES = 0x72756c,       /* "rul": what is the same in all sequences of a task */
  RS_PURPOSE_WEIGHTS = 0x776569,     /* "wei": of transformers before training */
  RS_PURPOSE_BOOTSTRAP = 0x626f6f,   /* "boo": seeds and blocks of resamples */
  RS_PURPOSE_DROPOUT = 0x64726f,     /* "dro": numbers that training drops */
} rs_purpose;

/* One stream of numbers. Element i is a function of these fields and i alone (Philox4x64-10: Salmon et al., "Parallel
 * random numbers: as easy as 1, 2, 3", SC 2011), so that any thread may make any part of it. */
typedef struct rs_stream {
  uint64_t seed;
  uint32_t purpose; /* what the numbers are for: two purposes never share a number */
  uint32_t head;
} rs_stream;

/* Elements [first, first + count) of the stream as iid N(0, 1), by Box and Muller's transform. */
void rs_gaussian_fill(rs_stream stream, uint64_t first, size_t count, double *out) RS_NONNULL(4);

/* Element `index` as a uniform number in [0, 1), a multiple of 2^-53. */
double rs_uniform(rs_stream stream, uint64_t index);

/* Elements 4 block .. 4 block + 3, in the time of one of them. */
void rs_uniform_block(rs_stream stream, uint64_t block, double out[4]) RS_NONNULL(3);

/* `number` of the integers 0 .. range - 1 in ascending order, each set of them equally likely; number <= range. Reads
 * the uniform elements 0 .. range - 1 of the stream. */
void rs_subset(rs_stream stream, size_t number, size_t range, size_t *out) RS_NONNULL(4);

/* Which numbers training drops at one place of a model and in one sequence (dropout): a function of this, row and
 * column alone. */
typedef struct rs_drop {
  double share; /* of numbers that become 0, in [0, 1), cut to a multiple of 2^-32; the others are divided by 1 - share.
                   0: none */
  uint64_t seed, sequence, place;
} rs_drop;

/* Bit i says that column 64 block + i of the row is kept, for i below `count`, at most 64. */
uint64_t rs_drop_kept(const rs_drop *drop, uint64_t row, uint64_t block, size_t count) RS_NONNULL(1);

/* ---- float formats ----------------------------------------------------------------------------------------------- */

typedef enum rs_format { RS_F64, RS_F32, RS_BF16, RS_F16 } rs_format;
enum { RS_FORMATS = RS_F16 + 1 };
extern const char *const rs_format_words[RS_FORMATS + 1];

static inline size_t rs_format_bytes(rs_format format) {
  return format == RS_F64 ? 8 : format == RS_F32 ? 4 : 2;
}

/* `value` rounded to the format, ties to even; beyond its range an infinity, below it a subnormal or zero. */
double rs_round(rs_format format, double value);

/* The most that a position below `length` is off where it is held in the format, tokens; infinite beyond its range. */
double rs_position_error(rs_format format, size_t length);

/* The most that an angle is off, rad, where omega (rad/token), a position below `length` and their product are rounded
 * to the format: half a unit in the last place of the largest product, and what the roundings of omega and of the
 * position come to there. An upper bound, which most pairs come near. */
double rs_angle_error(rs_format format, double omega, size_t length);

/* ---- angles ------------------------------------------------------------------------------------------------------ */

/* cos and sin of position * omega (tokens, rad/token). The product's rounding error is kept by a fused multiply-add and
 * turned in afterwards, so that the result is good to 1e-15 for the given doubles at any |position * omega| < 2^31,
 * where a plain product drifts to 2e-7. */
void rs_cos_sin(double position, double omega, double *cosine, double *sine) RS_NONNULL(3, 4);

/* A fraction of a turn, (high 2^64 + low) 2^-128; sums and multiples wrap, as angles do. */
typedef struct rs_turns {
  uint64_t high, low;
} rs_turns;

/* radians / (2 pi) modulo 1 for the given double, finite and of any size, towards zero to less than 2^-127 turns. */
rs_turns rs_turns_of(double radians);

rs_turns rs_turns_add(rs_turns a, rs_turns b);
rs_turns rs_turns_subtract(rs_turns a, rs_turns b);

/* Exactly `times` the fraction, modulo 1: at position p the angle of a frequency is good to p * 2^-127 turns. */
rs_turns rs_turns_times(rs_turns turns, uint64_t times);

/* position * omega / (2 pi) modulo 1 for `turn` = rs_turns_of(omega): exactly that multiple at a whole position (of
 * either sign, below 2^62), else the fraction of the rounded product. */
rs_turns rs_turns_at(rs_turns turn, double omega, double position);

/* cos and sin of the angle, to 1.5e-16 with a libm that is good to 0.6 of a last place. */
void rs_turns_cos_sin(rs_turns turns, double *cosine, double *sine) RS_NONNULL(2, 3);

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* A compensated running sum (Neumaier, ZAMM 54, 1974). Zero-initialise. */
typedef struct rs_sum {
  double sum, lost;
} rs_sum;

static inline void rs_sum_add(rs_sum *total, double term) {
  double sum = total->sum + term;
  double kept = (total->sum < 0 ? -total->sum : total->sum) >= (term < 0 ? -term : term) ? (total->sum - sum) + term
                                                                                         : (term - sum) + total->sum;
  total->sum = sum;
  total->lost += kept;
}

static inline double rs_sum_total(const rs_sum *total) {
  return total->sum + total->lost;
}

/* sum of a[i] b[i], in eight sums side by side: three times as fast as GSL's BLAS, whose one sum waits for itself. */
double rs_dot(const double *a, const double *b, size_t count) RS_NONNULL(1, 2);

/* Mean and spread of a sample, one value at a time (Welford, Technometrics 4, 1962). Zero-initialise. GSL's running
 * statistics are allocated one by one and cannot be joined. */
typedef struct rs_moments {
  double count, mean, squares; /* squares: sum of squared deviations from the mean */
} rs_moments;

void rs_moments_add(rs_moments *moments, double value) RS_NONNULL(1);

/* Sample standard deviation (n - 1); NaN below two values. */
double rs_moments_sd(const rs_moments *moments) RS_NONNULL(1);

/* Standard error of the mean, sd / sqrt(n), as if the values were independent; NaN below two values. */
double rs_moments_se(const rs_moments *moments) RS_NONNULL(1);

/* The mean; NaN for no values. */
double rs_moments_mean(const rs_moments *moments) RS_NONNULL(1);

/* ---- grids ------------------------------------------------------------------------------------------------------- */

/* Integer edges 0 = e[0] < e[1] < ... < e[count] = length with `per_octave` edges in each doubling (every integer
 * while those are denser than the integers): bin b holds the distances e[b] <= d < e[b+1], and the last edge is
 * `length`.
 * `*edges` has *count + 1 entries; release with free(). length >= 1, per_octave >= 1. */
rs_status rs_log_edges(size_t length, size_t per_octave, size_t **edges, size_t *count, rs_err *err) RS_NONNULL(3, 4);

/* At most how many bins these are: one for each distance, or for each step. */
size_t rs_log_bins(size_t length, size_t per_octave);

/* ---- tables on grids --------------------------------------------------------------------------------------------- */

/* How a table is carried to another grid; each as torch's interpolate with the size given. */
typedef enum rs_resize {
  RS_BICUBIC,           /* a = -0.75; samples are areas, and the border's is repeated */
  RS_BILINEAR,          /* the same areas */
  RS_BICUBIC_ANTIALIAS, /* a = -0.5; where the grid shrinks the kernel widens by the ratio; cut at the border, and the
                           weights made to sum to 1 */
  RS_BICUBIC_ALIGN,     /* a = -0.75; first on first and last on last sample */
  RS_CROP               /* the first rows and columns as they are; there are not more than the table has */
} rs_resize;
enum { RS_RESIZES = RS_CROP + 1 };

/* From tables (rows, columns, channels) to (new_rows, new_columns, channels), axis by axis, in double. All sizes >= 1.
 */
typedef struct rs_resizer rs_resizer;

/* RS_MEMORY. Release with rs_resizer_free. */
rs_status rs_resizer_create(rs_resize mode, size_t rows, size_t columns, size_t new_rows, size_t new_columns,
                            rs_resizer **resizer, rs_err *err) RS_NONNULL(6);
void rs_resizer_free(rs_resizer *resizer);

/* No allocation, any thread. */
void rs_resizer_apply(const rs_resizer *resizer, const double *in, size_t channels, double *out) RS_NONNULL(1, 2, 4);

/* Adds to by_in (rows, columns, channels), which points to the first channel in question, what by_out (count,), a
 * gradient by `count` channels of the vector at `row` and `column` of the new table, gives by the old one. No
 * allocation. */
void rs_resizer_gradient(const rs_resizer *resizer, size_t row, size_t column, const double *by_out, size_t count,
                         size_t channels, double *by_in) RS_NONNULL(1, 4, 7);

/* ---- projections ------------------------------------------------------------------------------------------------- */

/* `columns` orthonormal columns of width `rows` >= columns: out[column * rows + row]. Drawn uniformly (Haar) from the
 * stream: Gaussian columns, then QR with positive diagonal (Mezzadri, Notices AMS 54, 2007). */
rs_status rs_orthonormal(rs_stream stream, size_t rows, size_t columns, double *out, rs_err *err) RS_NONNULL(4);

/* ---- curves fitted by waves -------------------------------------------------------------------------------------- */

/* How the least-squares problem is solved. Its functions are nearly dependent, so that without a ridge the answers
 * differ wildly past the fitted points, and in rounding alone from one library to another. */
typedef enum rs_solver {
  RS_SOLVER_QR,  /* Householder QR, no function left out */
  RS_SOLVER_SUMS /* normal equations whose sums have a closed form, Cholesky: fast, and as good with a ridge */
} rs_solver;

typedef struct rs_wave_fit_in {
  const double *omega; /* (waves,) rad/token */
  size_t waves;
  const double *wanted; /* (count,) at x = 0 .. count - 1 */
  size_t count;
  rs_solver solver;
  double ridge; /* >= 0: times the sum of squared coefficients is added to what is minimised */
} rs_wave_fit_in;

/* y(x) = sum_j cosine[j] cos(omega_j x) + sine[j] sin(omega_j x). */
typedef struct rs_wave_fit {
  double *sine, *cosine; /* (waves,): sine is owned, and cosine the other half of it */
  size_t waves;
} rs_wave_fit;

/* The least-squares fit. RS_DOMAIN where it is not determined (fewer points than functions, or a singular system) and
 * no ridge chooses one; RS_MEMORY. Release with rs_wave_fit_clear, on success alone. */
rs_status rs_wave_fit_create(const rs_wave_fit_in *in, rs_wave_fit *fit, rs_err *err) RS_NONNULL(1, 2);
void rs_wave_fit_clear(rs_wave_fit *fit) RS_NONNULL(1);

/* The solver for a fit where nothing depends on which: sums where the ridge keeps the condition of the normal equations
 * below 1e7 (errors of 1e-9), else QR. */
rs_solver rs_wave_fit_solver(size_t count, size_t waves, double ridge);

/* ---- the ladder of frequencies ----------------------------------------------------------------------------------- */

/* Plain RoPE: omega[j] = theta^(-2j/dims), of one pair and for j < pairs. */
double rs_ladder_at(double theta, double dims, size_t pair);
void rs_ladder(double theta, double dims, size_t pairs, double *omega);

/* The base of frequencies c base^(-2j/R), read off the first and the last pair; NaN unless all between are within
 * `slack`, relative, of that ladder: fewer than two pairs, or the last stands still. */
double rs_ladder_base(const double *omega, size_t pairs, double slack);

/* The first pair that did not go full circle within L0 tokens; `pairs` where all did. */
size_t rs_critical_pair(const double *trained, size_t pairs, double train_length);

/* The largest angle that is not new to a pair which turned by `angle` radians within L0 tokens, that angle itself and
 * what rounding adds to it; infinite where it went full circle. */
double rs_angle_range(double angle);

/* NTK-aware scaling between factor and base: b = theta s^(R/(R-2)), pairs >= 2. */
double rs_base_ntk(double theta, size_t pairs, double factor);
double rs_factor_ntk(double theta, size_t pairs, double base);

/* What multiplies cos and sin, 1 up to s = 1: 0.1 mscale ln s + 1 (YaRN, arXiv:2309.00071, equation 22), and
 * sqrt(1 + ln s / ln L0) (LongRoPE, arXiv:2402.13753). */
double rs_yarn_magnitude(double mscale, double s);
double rs_longrope_magnitude(double s, double train_length);

#endif
