/* What `ropescope compare` says of causes: of recipes, of each kind of layers, of buffers. */
#include "compare.h"

static void put_bits(rs_text *text, unsigned bits) {
  static const char *const names[] = {"frequencies", "attention factor", "axes",     "pair layout",
                                      "rest",        "head_dim",         "positions"};
  bool any = false;
  for (size_t i = 0; i < RS_COUNT(names); i++) {
    if (!(bits & 1u << i)) continue;
    rs_text_printf(text, "%s%s", any ? ", " : "", names[i]);
    any = true;
  }
}

static void put_cause(rs_text *text, const rs_cause *cause) {
  rs_text_printf(text, "likely cause: %s", cause->text);
  if (!cause->whole) {
    rs_text_puts(text, " [the ");
    put_bits(text, cause->explains);
    rs_text_puts(text, " alone");
    if (cause->breaks != 0) {
      rs_text_puts(text, "; it would change the ");
      put_bits(text, cause->breaks);
    }
    rs_text_puts(text, "]");
  }
  if (cause->residual > 0) rs_text_printf(text, " (off by at most %.1e)", cause->residual);
  rs_text_puts(text, "\n");
}

void compare_put_causes(const rs_causes *causes, unsigned differs, const char *indent, rs_text *text) {
  unsigned explained = 0;
  size_t whole = 0, of_side[2] = {0}; /* "B is A", "A is B" */
  for (size_t i = 0; i < causes->count; i++) {
    rs_text_puts(text, indent);
    put_cause(text, &causes->items[i]);
    explained |= causes->items[i].explains;
    whole += causes->items[i].whole;
    of_side[causes->items[i].text[0] == 'A'] += causes->items[i].whole;
  }
  if (of_side[0] > 1 || of_side[1] > 1)
    rs_text_printf(text, "%smore than one change gives the same table here: which it was, the table does not tell\n",
                   indent);
  if (differs & ~explained) {
    rs_text_printf(text, "%sno known change explains the ", indent);
    put_bits(text, differs & ~explained);
    rs_text_puts(text, "\n");
    if (*causes->shape != '\0') rs_text_printf(text, "%sshape of the difference: %s\n", indent, causes->shape);
  }
  if (causes->untried > 0 && whole == 0)
    rs_text_printf(text,
                   "%s%zu changes were not tried, as they take long: wide heads, angles counted at many positions\n",
                   indent, causes->untried);
}

void compare_write_causes(const rs_causes *causes, rs_json *json) {
  rs_json_array(json, "likely_causes");
  for (size_t i = 0; causes != NULL && i < causes->count; i++) {
    rs_json_object(json, NULL);
    rs_json_string(json, "text", causes->items[i].text);
    rs_json_bool(json, "explains_all", causes->items[i].whole);
    rs_json_number(json, "residual", causes->items[i].residual);
    rs_json_end(json);
  }
  rs_json_end(json);
  rs_json_string(json, "shape", causes != NULL && *causes->shape != '\0' ? causes->shape : NULL);
  rs_json_number(json, "changes_not_tried", causes != NULL ? (double)causes->untried : 0);
}
