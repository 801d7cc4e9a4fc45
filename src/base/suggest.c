/* "Did you mean": the nearest of a few known words, by optimal string alignment distance (insert, delete, replace, swap
 * of neighbours), so that one slip of the fingers is one edit. */
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

/* Whether the candidate goes on where the word ends: "entropy" in "entropy_nats". */
static bool begins(const char *word, const char *candidate) {
  for (; *word != '\0'; word++, candidate++)
    if (folded(*word) != folded(*candidate)) return false;
  return folded(*candidate) == '_';
}

const char *rs_suggest(const char *word, const char *const *candidates, size_t count) {
  size_t length = strlen(word);
  if (length == 0 || length > LONGEST) return NULL;
  size_t allowed = length < 2 ? 0 : length <= 4 ? 1 : length / 3, nearest = allowed + 1;
  const char *found = NULL;
  for (size_t i = 0; i < count; i++) {
    if (strlen(candidates[i]) > LONGEST) continue;
    size_t distance = edit_distance(word, candidates[i]);
    if (distance >= nearest) continue;
    nearest = distance;
    found = candidates[i];
  }
  for (size_t i = 0; i < count && found == NULL; i++)
    if (begins(word, candidates[i])) found = candidates[i];
  return found;
}
