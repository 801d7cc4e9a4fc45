/* test_tensor_mutations.c: files of safetensors that were damaged at random are read or refused with a reason that
 * names them, and what is read lies within the file. The sanitizers see the rest. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/dice.h"
#include "../fixtures/scratch.h"
#include "../fixtures/tensor_files.h"

enum { MUTATIONS = 10000, ROOM = 1024 };

static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"}," ENTRY("b", "F64", "[2,1]", "[0,16]") "," ENTRY(
    "a.weight", "F32", "[2]", "[16,24]") "," ENTRY("c", "BF16", "[]", "[24,26]") "," ENTRY("d", "F16", "[1,2]",
                                                                                           "[26,30]") "}  ";

/* Pieces that matter to the format, to be written over what is there. */
static const char *const pieces[] = {"0",
                                     "9",
                                     "-1",
                                     "1e9",
                                     ".5",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     ",",
                                     ":",
                                     "\"",
                                     "\\",
                                     "\\u0000",
                                     "null",
                                     "true",
                                     "[]",
                                     "{}",
                                     " ",
                                     "\"a.weight\"",
                                     "\"b\"",
                                     "F64",
                                     "BOOL",
                                     "shape",
                                     "9223372036854775807",
                                     "18446744073709551615"};

static size_t put_over(dice *d, char *bytes, size_t length, const char *piece, size_t size) {
  size_t place = pick(d, 0, length - 1), replaced = pick(d, 0, size < length - place ? size : length - place);
  if (length + size > ROOM) return length;
  memmove(bytes + place + size, bytes + place + replaced, length - place - replaced);
  memcpy(bytes + place, piece, size);
  return length + size - replaced;
}

/* One damage: a byte, a bit, a piece, a copy of another part, a cut. The length of the header follows half the time, so
 * that damage gets past the first check. Returns the file's length. */
static size_t damage(dice *d, char *bytes, size_t length) {
  char copy[32];
  const char *piece = pieces[pick(d, 0, RS_COUNT(pieces) - 1)];
  size_t size = pick(d, 1, sizeof copy), before = length;
  switch (pick(d, 0, 5)) {
  case 0: bytes[pick(d, 0, length - 1)] = (char)pick(d, 0, 255); break;
  case 1: bytes[pick(d, 0, length - 1)] ^= (char)(1 << pick(d, 0, 7)); break;
  case 2:
    memcpy(copy, bytes + pick(d, 0, length - sizeof copy), size);
    length = put_over(d, bytes, length, copy, size);
    break;
  case 3: length = pick(d, sizeof copy, length); break;
  default: length = put_over(d, bytes, length, piece, strlen(piece)); break;
  }
  if (once_in(d, 2)) {
    size_t promised = (unsigned char)bytes[0] + 256 * (size_t)(unsigned char)bytes[1] + length - before;
    bytes[0] = (char)promised;
    bytes[1] = (char)(promised >> 8);
  }
  return length;
}

static size_t read_all(const rs_safetensors *checkpoint, size_t length) {
  size_t bytes = 0;
  for (size_t i = 0; i < checkpoint->count; i++) {
    const rs_stored_tensor *tensor = &checkpoint->tensors[i];
    float floats[ROOM];
    double doubles[ROOM];
    bytes += tensor->bytes;
    cr_assert(bytes <= length && tensor->count <= 2 * ROOM);
    cr_assert_eq(rs_safetensors_find(checkpoint, tensor->name), tensor);
    size_t count = tensor->count < ROOM ? tensor->count : ROOM;
    (void)!rs_stored_floats(tensor, 0, count, floats, NULL);
    (void)!rs_stored_doubles(tensor, 0, count, doubles, NULL);
  }
  return bytes;
}

Test(tensor_mutations, damaged_files__are_read_or_refused) {
  size_t good = 0;
  enter_scratch();
  for (uint32_t job = 0; job < MUTATIONS; job++) {
    dice d = {.seed = test_seed(), .job = job};
    char bytes[ROOM] = {(char)(sizeof header - 1), (char)((sizeof header - 1) >> 8)};
    size_t length = 8 + sizeof header - 1 + 30;
    memcpy(bytes + 8, header, sizeof header - 1);
    for (size_t i = pick(&d, 1, 3); i > 0; i--) length = damage(&d, bytes, length);
    put_bytes("m", bytes, length);
    rs_safetensors *checkpoint = NULL;
    rs_err err = {0};
    rs_status status = rs_safetensors_map("m", &checkpoint, &err);
    cr_assert(status == RS_OK || status == RS_INPUT, "seed %llu, job %u: %s", (unsigned long long)d.seed, job,
              err.message);
    cr_assert_eq(status == RS_OK, checkpoint != NULL);
    cr_assert(status == RS_OK || (err.message[0] == 'm' && strchr(err.message, '\n') == NULL), "seed %llu, job %u: %s",
              (unsigned long long)d.seed, job, err.message);
    if (status == RS_OK) cr_assert_leq(read_all(checkpoint, length), length);
    good += status == RS_OK;
    rs_safetensors_free(checkpoint);
  }
  /* Damage to the data alone, or to a name, is none that the format knows. */
  cr_assert(good > MUTATIONS / 50 && good < MUTATIONS / 2, "seed %llu: %zu were read", (unsigned long long)test_seed(),
            good);
  leaves((const char *[]){"m"}, 1);
}
