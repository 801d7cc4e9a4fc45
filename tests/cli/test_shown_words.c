/* test_shown_words.c: words of users as they are shown: nothing that a terminal acts on, no line that a word forges,
 * and no message as long as the word. */
#include "../fixtures/hostile.h"

#include <ctype.h>

TestSuite(shown_words, .init = enter_folder, .fini = leave_folder);

/* ---- control characters ------------------------------------------------------------------------------------------ */

/* Every control character of C0 but newline and tab, DEL, all of C1, and the marks of direction. */
static const char *control_characters(bool raw) {
  static char texts[2][2048];
  char *out = texts[raw];
  size_t used = 0;
  for (unsigned c = 1; c < 0x2070; c++) {
    bool control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0);
    bool direction = c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    if (!control && !direction) continue;
    if (!raw)
      used += (size_t)sprintf(out + used, "\\u%04x", c);
    else if (c < 0x80)
      used += (size_t)sprintf(out + used, "%c", (int)c);
    else if (c < 0x800)
      used += (size_t)sprintf(out + used, "%c%c", (int)(0xC0 | c >> 6), (int)(0x80 | (c & 0x3F)));
    else
      used += (size_t)sprintf(out + used, "%c%c%c", (int)(0xE0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3F)),
                              (int)(0x80 | (c & 0x3F)));
  }
  return out;
}

/* The first byte that a terminal would act on, or that is no UTF-8; NULL: there is none. Written without the library's
 * own reader. */
static const char *find_harm(const char *text) {
  for (const unsigned char *b = (const unsigned char *)text; *b != '\0';) {
    size_t more = *b < 0x80 ? 0 : *b < 0xE0 ? 1 : *b < 0xF0 ? 2 : 3;
    bool fine = *b < 0x80 ? (*b >= 0x20 && *b != 0x7F) || *b == '\n' || *b == '\t' : *b >= 0xC2 && *b <= 0xF4;
    for (size_t i = 1; fine && i <= more; i++) fine = b[i] >= 0x80 && b[i] < 0xC0;
    fine = fine && !(b[0] == 0xC2 && b[1] < 0xA0);
    fine = fine && !(b[0] == 0xE2 && b[1] == 0x80 && (b[2] == 0x8E || b[2] == 0x8F || (b[2] >= 0xAA && b[2] <= 0xAE)));
    fine = fine && !(b[0] == 0xE2 && b[1] == 0x81 && b[2] >= 0xA6 && b[2] <= 0xA9);
    if (!fine) return (const char *)b;
    b += 1 + more;
  }
  return NULL;
}

static bool has_argument(const command *c, const char *word) {
  for (size_t i = 0; i < MOST_ARGUMENTS && c->arguments[i] != NULL; i++)
    if (strcmp(c->arguments[i], word) == 0) return true;
  return false;
}

/* CSV keeps the bytes of a word, JSON escapes what it must. */
static bool is_data(const command *c) {
  bool table =
      strcmp(c->arguments[0], "show") == 0 && (c->arguments[1] == NULL || strcmp(c->arguments[1], "layers") != 0);
  return has_argument(c, "--json") || has_argument(c, "sarif") || table;
}

static bool is_json(const char *text) {
  rs_tree *tree;
  if (rs_json_read(text, strlen(text), "stdout", &tree, NULL) != RS_OK) return false;
  rs_tree_free(tree);
  return true;
}

static void expect_harmless(const command *c, const result *got) {
  const char *first = c->arguments[0], *second = c->arguments[1] != NULL ? c->arguments[1] : "";
  const char *third = c->arguments[1] != NULL && c->arguments[2] != NULL ? c->arguments[2] : "";
  const char *harm = find_harm(got->err);
  cr_expect_null(harm, "%s %.40s %.40s: stderr: byte %02x: %s", first, second, third, harm != NULL ? *harm & 0xFF : 0,
                 got->err);
  cr_expect_null(strstr(got->err, "\nFORGED"), "%s %.40s %.40s: a forged line: %s", first, second, third, got->err);
  cr_expect_lt(got->status, 128, "%s %.40s: %d", first, second, got->status);
  bool json = has_argument(c, "--json") || has_argument(c, "sarif");
  if (json && *got->out != '\0')
    cr_expect(is_json(got->out), "%s %.40s %.40s: no JSON: %s", first, second, third, got->out);
  if (is_data(c)) return;
  harm = find_harm(got->out);
  cr_expect_null(harm, "%s %.40s %.40s: stdout: byte %02x: %s", first, second, third, harm != NULL ? *harm & 0xFF : 0,
                 got->out);
  cr_expect_null(strstr(got->out, "\nFORGED"), "%s %.40s %.40s: a forged line: %s", first, second, third, got->out);
}

/* ---- long words -------------------------------------------------------------------------------------------------- */

/* Lines of stderr are short; where one has much of a word, it says that there is more. */
static void expect_short(const command *c, const result *got) {
  enum { LINE = 8192, WORD = 200 };
  const char *first = c->arguments[0], *second = c->arguments[1] != NULL ? c->arguments[1] : "";
  cr_expect_lt(got->status, 128, "%.40s %.40s: %d", first, second, got->status);
  cr_expect_null(find_harm(got->err), "%.40s %.40s: cut within a character: %.3000s", first, second, got->err);
  for (const char *line = got->err; *line != '\0'; line += line[strcspn(line, "\n")] == '\n') {
    size_t length = strcspn(line, "\n"), word = 0, longest = 0;
    for (size_t i = 0; i < length; i++) {
      word = line[i] == ' ' ? 0 : word + 1;
      longest = word > longest ? word : longest;
    }
    cr_expect(length < LINE && longest <= WORD, "%.40s %.40s: %zu bytes, a word of %zu: %.600s", first, second, length,
              longest, line);
    bool repeats = memmem(line, length, "\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac", 24) != NULL;
    cr_expect(!repeats || memmem(line, length, "...", 3) != NULL, "%.40s %.40s: %.600s", first, second, line);
    line += length;
  }
}

/* "€€€...", three bytes each. Release with free(). */
static char *long_word(size_t bytes) {
  char *word = calloc(bytes + 4, 1);
  for (size_t i = 0; i < bytes; i += 3) memcpy(word + i, "\u20ac", 3);
  return word;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void ask(const hostile_word *word, hostile_law *law, bool files_alone) {
  hostile h = {.word = *word, .law = law};
  hostile_ask_models(&h);
  hostile_ask_sweeps(&h);
  hostile_ask_tables(&h);
  if (!files_alone) hostile_ask_arguments(&h);
  if (!files_alone) hostile_ask_files(&h);
  cr_expect_gt(h.asked, files_alone ? 300 : 400, "%zu", h.asked);
}

/* In arguments and names of files all bytes stand; files that are no UTF-8 are refused where they are read. */
Test(shown_words, control_characters__are_spelled) {
  static const char line[] = "\nFORGED: \rFORGED", none[] = "\xff\x9b[31m\xe2\x80 \xc0\xaf\xed\xa0\x80x";
  rs_text argument = {0}, text = {0}, quoted = {0}, bytes = {0};
  rs_text_printf(&argument, "w%s%s%s", none, control_characters(true), line);
  rs_text_printf(&text, "w%s%s", control_characters(true), line);
  rs_text_printf(&quoted, "w%s\\nFORGED: \\rFORGED", control_characters(false));
  rs_text_printf(&bytes, "w%s%s", none, line);
  ask(&(hostile_word){argument.data, text.data, quoted.data}, expect_harmless, false);
  ask(&(hostile_word){bytes.data, bytes.data, bytes.data}, expect_harmless, true);
  rs_text_clear(&argument);
  rs_text_clear(&text);
  rs_text_clear(&quoted);
  rs_text_clear(&bytes);
}

Test(shown_words, long_words__are_cut) {
  char *word = long_word(1 << 16), *longer = long_word(1 << 20);
  ask(&(hostile_word){word, word, word}, expect_short, false);
  hostile_ask_tables(&(hostile){.word = {word, longer, longer}, .law = expect_short});
  free(word);
  free(longer);
}
