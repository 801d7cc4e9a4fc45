/* Parameters bound to the fields of a struct. */
#include <criterion/criterion.h>
#include <math.h>

#include "base/base.h"

typedef enum shape { ROUND, SQUARE, SHAPES } shape;
typedef enum hue { HUE_UNSET = -1, RED, GREEN, HUES } hue;

typedef struct block {
  double depth;
  size_t rows;
} block;

typedef struct thing {
  double width;
  rs_real_or_word gain;
  size_t count;
  rs_count_or_word window;
  bool smooth, rough;
  shape outline;
  hue colour;
  rs_real_list weights, sections;
  const char *text, *notes;
  rs_name tensor, unnamed;
  block shared;
} thing;

static const char *const shapes[SHAPES + 1] = {[ROUND] = "round", [SQUARE] = "square"};
static const char *const hues[HUES + 1] = {[RED] = "red", [GREEN] = "green"};
static const char *const automatic[] = {"auto", NULL};

static const rs_param specs[] = {
    {RS_FIELD(thing, width), .min = 0, .max = 10, .fallback = "2.5"},
    {RS_FIELD(thing, gain), RS_WORDS(automatic), .min = 0, .max = 10, .fallback = "auto"},
    {RS_FIELD(thing, count), .min = 0, .max = 1e6, .fallback = "4k"},
    {RS_FIELD(thing, window), RS_WORDS(automatic), .min = 0, .max = 1e6},
    {RS_FIELD(thing, smooth), .fallback = "true"},
    {RS_FIELD(thing, rough)},
    {RS_FIELD(thing, outline), RS_WORDS(shapes), .fallback = "square"},
    {RS_FIELD(thing, colour), RS_WORDS(hues)},
    {RS_FIELD(thing, weights), .min = 0, .max = 9},
    {RS_FIELD(thing, sections), RS_WORDS(automatic), .min = 0, .max = 9, .fallback = "auto"},
    {RS_FIELD(thing, text)},
    {RS_FIELD(thing, notes)},
    {RS_FIELD(thing, tensor), .fallback = "q"},
    {RS_FIELD(thing, unnamed)},
    {RS_FIELD_IN(thing, shared, rows), .min = 0, .max = 9}, /* specs need not stand in the order of the fields */
    {RS_FIELD_AS(thing, shared.depth, "depth_m"), .min = 0, .max = 9, .fallback = "3"},
};

static void init(rs_settings *settings) {
  const rs_param *params[RS_COUNT(specs)];
  for (size_t i = 0; i < RS_COUNT(specs); i++) params[i] = &specs[i];
  cr_assert_eq(rs_settings_init(settings, params, RS_COUNT(specs), NULL), RS_OK);
}

static void give(rs_settings *settings, const char *name, const char *text) {
  int index = rs_settings_find(settings, name);
  cr_assert_geq(index, 0);
  cr_assert_eq(rs_value_parse(settings->params[index], text, &settings->values[index], NULL), RS_OK);
  settings->values[index].given = true;
}

Test(bind, fields__types__follow_from_them) {
  static const rs_type wanted[] = {RS_REAL,  RS_REAL,  RS_INTEGER, RS_INTEGER, RS_BOOL, RS_BOOL, RS_CHOICE,  RS_CHOICE,
                                   RS_REALS, RS_REALS, RS_FILE,    RS_FILE,    RS_NAME, RS_NAME, RS_INTEGER, RS_REAL};
  for (size_t i = 0; i < RS_COUNT(specs); i++) cr_expect_eq(specs[i].type, wanted[i], "%s", specs[i].name);
  cr_expect_eq(specs[6].word_count, SHAPES);
  cr_expect_eq(specs[1].word_count, 1);
}

Test(bind, defaults__each_in_its_field) {
  rs_settings settings;
  thing t;
  init(&settings);
  rs_bind(&settings, specs, RS_COUNT(specs), &t);
  cr_expect_eq(t.width, 2.5);
  cr_expect_eq(t.gain.word, 0);
  cr_expect(isnan(t.gain.number));
  cr_expect_eq(t.count, 4096);
  cr_expect(t.smooth);
  cr_expect_eq(t.outline, SQUARE);
  cr_expect_eq(t.sections.word, 0);
  cr_expect_null(t.sections.list);
  cr_expect_str_eq(t.tensor.text, "q");
  cr_expect_eq(t.shared.depth, 3);
  rs_settings_clear(&settings);
}

Test(bind, no_value__unset) {
  rs_settings settings;
  thing t;
  init(&settings);
  rs_bind(&settings, specs, RS_COUNT(specs), &t);
  cr_expect_eq(t.window.number, RS_NO_COUNT);
  cr_expect_eq(t.window.word, RS_NO_WORD);
  cr_expect(!t.rough);
  cr_expect_eq(t.colour, HUE_UNSET);
  cr_expect_null(t.weights.list);
  cr_expect_null(t.notes);
  cr_expect_null(t.unnamed.text);
  cr_expect_eq(t.weights.word, RS_NO_WORD);
  cr_expect_eq(t.shared.rows, RS_NO_COUNT);
  rs_settings_clear(&settings);
}

Test(bind, given__values_and_lists) {
  static const double list[] = {1, 2, 5};
  rs_settings settings;
  thing t;
  init(&settings);
  give(&settings, "gain", "7.5");
  give(&settings, "window", "12");
  give(&settings, "outline", "round");
  give(&settings, "colour", "green");
  give(&settings, "smooth", "false");
  give(&settings, "rows", "3");
  give(&settings, "text", "a folder/a.txt");
  int weights = rs_settings_find(&settings, "weights");
  cr_assert_eq(rs_value_list(&specs[weights], list, 3, &settings.values[weights], NULL), RS_OK);
  rs_bind(&settings, specs, RS_COUNT(specs), &t);
  cr_expect_eq(t.gain.number, 7.5);
  cr_expect_eq(t.gain.word, RS_NO_WORD);
  cr_expect_eq(t.window.number, 12);
  cr_expect_eq(t.outline, ROUND);
  cr_expect_eq(t.colour, GREEN);
  cr_expect(!t.smooth);
  cr_expect_eq(t.shared.rows, 3);
  cr_expect_str_eq(t.text, "a folder/a.txt");
  cr_expect_eq(t.weights.count, 3);
  cr_expect_eq(t.weights.list[2], 5);
  rs_settings_clear(&settings);
}

Test(bind, parameter_that_the_settings_lack__unset) {
  const rs_param *one[] = {&specs[0]};
  rs_settings settings;
  thing t;
  cr_assert_eq(rs_settings_init(&settings, one, 1, NULL), RS_OK);
  rs_bind(&settings, specs, RS_COUNT(specs), &t);
  cr_expect_eq(t.width, 2.5);
  cr_expect_eq(t.count, RS_NO_COUNT);
  rs_settings_clear(&settings);
}

Test(binding, given__the_user_s_alone) {
  rs_settings settings;
  rs_binding binding;
  init(&settings);
  give(&settings, "count", "7");
  cr_assert_eq(rs_binding_make(&settings, specs, RS_COUNT(specs), sizeof(thing), &binding, NULL), RS_OK);
  const thing *t = binding.fields;
  cr_expect_eq(t->count, 7);
  cr_expect(rs_binding_given(&binding, offsetof(thing, count)));
  cr_expect_not(rs_binding_given(&binding, offsetof(thing, width)));
  cr_expect_str_eq(rs_binding_param(&binding, offsetof(thing, shared.depth))->name, "depth_m");
  cr_expect_null(rs_binding_param(&binding, sizeof(thing)));
  rs_binding_clear(&binding);
  rs_settings_clear(&settings);
}

Test(binding, unused__an_error_where_given) {
  rs_settings settings;
  rs_binding binding;
  rs_err err = {0};
  init(&settings);
  give(&settings, "count", "7");
  cr_assert_eq(rs_binding_make(&settings, specs, RS_COUNT(specs), sizeof(thing), &binding, NULL), RS_OK);
  cr_expect_eq(rs_binding_unused(&binding, offsetof(thing, width), "gain", &err), RS_OK);
  cr_expect_eq(rs_binding_unused(&binding, offsetof(thing, count), "gain", &err), RS_INPUT);
  cr_expect_str_eq(err.subject, "count");
  cr_expect_str_eq(err.message, "has no effect with gain (leave one of them out)");
  rs_binding_clear(&binding);
  rs_settings_clear(&settings);
}

Test(binding, over_a_struct_of_the_caller__given_and_named_alike) {
  rs_settings settings;
  thing t;
  init(&settings);
  give(&settings, "count", "7");
  rs_binding binding = rs_binding_over(&settings, specs, RS_COUNT(specs), &t);
  cr_expect_eq(binding.fields, (void *)&t);
  cr_expect_eq(t.count, 7);
  cr_expect(rs_binding_given(&binding, offsetof(thing, count)));
  cr_expect_not(rs_binding_given(&binding, offsetof(thing, width)));
  rs_settings_clear(&settings);
}

Test(binding, no_struct__nothing_to_fill) {
  rs_settings settings;
  rs_binding binding;
  init(&settings);
  cr_assert_eq(rs_binding_make(&settings, NULL, 0, 0, &binding, NULL), RS_OK);
  cr_expect_null(binding.fields);
  rs_binding_clear(&binding);
  rs_settings_clear(&settings);
}
