/* Each allocation of an answer of explore fails in turn: it ends as out of memory, never with fewer words. */
#include <criterion/criterion.h>
#include <string.h>

#include "../fixtures/heap.h"
#include "../fixtures/question.h"

/* With the i-th allocation refused, for every i that is reached; `unnoticed` of libraries that do without. */
static void survives(const rs_explorer *explorer, const char *query, long unnoticed) {
  question q = question_of(query);
  rs_text whole = {0};
  rs_err first = {0};
  cr_assert_eq(rs_explore_answer(explorer, q.params, q.count, &whole, &first), RS_OK, "%s: %s", query, first.message);
  refused = true;
  for (long n = 0; refused; n++) {
    rs_err err = {0};
    rs_text text = {0};
    long before = blocks;
    refused = false;
    allocations = n;
    rs_status status = rs_explore_answer(explorer, q.params, q.count, &text, &err);
    allocations = -1;
    bool same = status == RS_OK && strcmp(rs_text_string(&text), rs_text_string(&whole)) == 0;
    rs_text_clear(&text);
    cr_assert_eq(blocks, before, "%s, allocation %ld: %ld blocks leaked", query, n, blocks - before);
    unnoticed -= refused && status == RS_OK;
    cr_assert_geq(unnoticed, 0, "%s, allocation %ld fails unnoticed", query, n);
    cr_assert(same || (refused && status == RS_MEMORY), "%s, allocation %ld: %d %s", query, n, (int)status,
              err.message);
  }
  rs_text_clear(&whole);
  free(q.text);
}

Test(explore_memory, each_failing_allocation__is_an_error) {
  const rs_subject_in in = {.preset = "llama-2-7b", .fallback = "rope", .length = 512};
  rs_explorer *explorer;
  rs_problems problems = {0};
  rs_err err = {0};
  cr_assert_eq(rs_explorer_create(&in, &explorer, &problems, &err), RS_OK, "%s", err.message);
  if (COUNTS_MEMORY) {
    spared_library = "libjansson."; /* it calls some failed allocations a syntax error */
    /* unnoticed: vasprintf's second block, without which its first one does; a note of convert is one */
    survives(explorer, "method=yarn&factor=4&length=512", 0);
    survives(explorer, "method=ntk&factor=4&length=512", 4); /* whose keys are plain RoPE's */
    survives(explorer, "method=alibi&length=512", 0);
  }
  rs_explorer_free(explorer);
}
