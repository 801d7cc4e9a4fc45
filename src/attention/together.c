/* Blocks of queries are cut as one engine alone cuts them, and dealt to the members there and back, for under a causal
 * mask later queries see more keys: 0 1 2 2 1 0 0 1 2. What a block comes to depends on the job alone. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t member_of(size_t block, size_t members) {
  size_t round = block / members, place = block % members;
  return round % 2 == 0 ? place : members - 1 - place;
}

bool rs_block_is_own(const rs_team *team, size_t block) {
  return team == NULL || member_of(block, team->members) == team->member;
}

/* Rows on their way between members, one after the other: the numbers of each, then those of its bins. A member's begin
 * with what bias came up. */
typedef struct parcel {
  const rs_team *team;
  rs_observation *observation;
  size_t each, numbers; /* queries of a block; of a row beside it */
  size_t *begins;       /* (members + 1,) bytes; owned, as the next */
  char *bytes;
} parcel;

static size_t row_bytes(const parcel *p) {
  return sizeof(rs_row) + p->numbers * sizeof(double);
}

static rs_status make_parcel(const rs_attention_job *job, parcel *p, rs_err *err) {
  size_t members = p->team->members, count = p->observation->count;
  p->numbers = rs_row_numbers(job);
  p->begins = rs_alloc(members + 1, sizeof *p->begins, err);
  if (p->begins == NULL) return RS_MEMORY;
  for (size_t first = 0, block = 0; first < count; first += p->each, block++) {
    size_t rows = count - first < p->each ? count - first : p->each;
    p->begins[member_of(block, members) + 1] += rows * row_bytes(p);
  }
  for (size_t m = 0; m < members; m++) p->begins[m + 1] += p->begins[m] + sizeof(double);
  p->bytes = rs_alloc(p->begins[members], 1, err);
  return p->bytes != NULL ? RS_OK : RS_MEMORY;
}

/* Copies the rows of a member from or to the observation, whose pointers stay. */
static void copy_rows(const parcel *p, size_t member, bool in) {
  const rs_observation *seen = p->observation;
  char *at = p->bytes + p->begins[member] + sizeof(double);
  for (size_t i = 0; i < seen->count; i++) {
    if (member_of(i / p->each, p->team->members) != member) continue;
    rs_row *row = &seen->rows[i], kept = *row;
    double *numbers = row->bin_weight;
    memcpy(in ? (void *)row : at, in ? at : (void *)row, sizeof *row);
    row->top_weight = kept.top_weight;
    row->bin_weight = kept.bin_weight;
    row->bin_keys = kept.bin_keys;
    row->bin_mean = kept.bin_mean;
    row->bin_squares = kept.bin_squares;
    at += sizeof *row;
    memcpy(in ? (void *)numbers : at, in ? at : (void *)numbers, p->numbers * sizeof *numbers);
    at += p->numbers * sizeof *numbers;
  }
}

rs_status rs_rows_gather(rs_team *team, rs_status status, const rs_attention_job *job, size_t each,
                         rs_observation *observation, double *above, rs_err *err) {
  parcel p = {.team = team, .observation = observation, .each = each};
  if (team == NULL) return status;
  if (status == RS_OK) status = make_parcel(job, &p, err);
  if (status == RS_OK) {
    memcpy(p.bytes + p.begins[team->member], above, sizeof *above);
    copy_rows(&p, team->member, false);
  }
  status = rs_team_gather(team, status, p.bytes, p.begins, err);
  for (size_t m = 0; m < team->members && status == RS_OK; m++) {
    double other;
    memcpy(&other, p.bytes + p.begins[m], sizeof other);
    *above = fmax(*above, other);
    if (m != team->member) copy_rows(&p, m, true);
  }
  free(p.begins);
  free(p.bytes);
  return status;
}
