/* "Did you mean": the nearest of a few known words, by optimal string alignment distance (insert, delete, replace, swap
 * of neighbours), so that one slip of the fingers is one edit; words in another order are one edit, too. */
#include "base/base.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63 }; /* no name of ours is longer; a longer word has no near candidate */

static int folded(char letter) {
  return letter == '-' ? '_' : tolower((unsigned char)letter);
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

static size_t edit_distance(const char *a, const char *b) {
  size_t rows[3][LONGEST + 1], columns = strlen(b);
  size_t *before = rows[0], *last = rows[1], *now = rows[2];
  for (size_t j = 0; j <= columns; j++) last[j] = j;
  for (size_t i = 1; a[i - 1] != '\0'; i++) {
    now[0] = i;
    for (size_t j = 1; j <= columns; j++) {
      bool same = folded(a[i - 1]) == folded(b[j - 1]);
      now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same);
      bool swapped = i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]);
      if (swapped) now[j] = least(now[j], before[j - 2] + 1);
    }
    size_t *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[columns];
}

/* Which of two words of names comes first; negative: `a`. */
static int compare_words(const char *a, const char *b) {
  size_t size = least(strcspn(a, "_-"), strcspn(b, "_-"));
  for (size_t i = 0; i < size; i++)
    if (folded(a[i]) != folded(b[i])) return folded(a[i]) - folded(b[i]);
  return (int)strcspn(a, "_-") - (int)strcspn(b, "_-");
}

/* The words of a name, which '_' and '-' part, in alphabetical order. False where it is one word. */
static bool sort_words(const char *name, char sorted[LONGEST + 1]) {
  const char *words[LONGEST + 1];
  size_t count = 0, length = 0;
  for (const char *word = name; word != NULL; count++) {
    size_t place = count;
    for (; place > 0 && compare_words(word, words[place - 1]) < 0; place--) words[place] = words[place - 1];
    words[place] = word;
    const char *end = word + strcspn(word, "_-");
    word = *end != '\0' ? end + 1 : NULL;
  }
  for (size_t i = 0; i < count; i++) {
    size_t size = strcspn(words[i], "_-");
    memcpy(sorted + length, words[i], size);
    length += size;
    sorted[length++] = '_';
  }
  sorted[length - 1] = '\0'; /* in the place of the last '_' */
  return count > 1;
}

/* Whether the candidate goes on where the word ends: "entropy" in "entropy_nats". */
static bool begins(const char *word, const char *candidate) {
  for (; *word != '\0'; word++, candidate++)
    if (folded(*word) != folded(*candidate)) return false;
  return folded(*candidate) == '_';
}

static size_t distance_of(const char *word, const char *name) {
  char word_sorted[LONGEST + 1], name_sorted[LONGEST + 1];
  size_t distance = edit_distance(word, name);
  if (sort_words(word, word_sorted) && sort_words(name, name_sorted))
    distance = least(distance, 1 + edit_distance(word_sorted, name_sorted));
  return distance;
}

void rs_nearest_former(rs_nearest *nearest, const char *former, const char *name) {
  size_t length = strlen(nearest->word);
  if (length == 0 || length > LONGEST || strlen(former) > LONGEST) return;
  size_t allowed = length < 2 ? 0 : length <= 4 ? 1 : length / 3;
  size_t distance = distance_of(nearest->word, former);
  if (distance <= allowed && (nearest->near == NULL || distance < nearest->distance)) {
    nearest->distance = distance;
    nearest->near = name;
  }
  if (nearest->longer == NULL && begins(nearest->word, former)) nearest->longer = name;
}

void rs_nearest_add(rs_nearest *nearest, const char *name) {
  rs_nearest_former(nearest, name, name);
}

const char *rs_nearest_found(const rs_nearest *nearest) {
  return nearest->near != NULL ? nearest->near : nearest->longer;
}

const char *rs_suggest(const char *word, const char *const *candidates, size_t count) {
  rs_nearest nearest = {.word = word};
  for (size_t i = 0; i < count; i++) rs_nearest_add(&nearest, candidates[i]);
  return rs_nearest_found(&nearest);
}
