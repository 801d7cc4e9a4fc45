/* test_gguf_mutations.c: files of GGUF that were damaged at random are read or refused with a reason that names them,
 * and what is read lies within the file. The sanitizers see the rest. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/dice.h"
#include "../fixtures/gguf_files.h"
#include "../fixtures/scratch.h"

enum { MUTATIONS = 10000, ROOM = 2048 };

static size_t make_good(char bytes[ROOM]) {
  rs_text file = {0};
  g_header(&file, 3, 4, 6);
  g_u32(&file, "general.alignment", 16);
  g_string(&file, "general.name", "a model");
  g_array(&file, "layers", G_I16, 3);
  g_data(&file, 1, 6);
  g_array(&file, "tokenizer.t", G_STRING, 2);
  g_text(&file, "x");
  g_text(&file, "yz");
  g_key(&file, "flag", G_BOOL);
  g_number(&file, 1, 1);
  g_key(&file, "base", G_F32);
  g_number(&file, 4, 0x461c4000);
  g_tensor(&file, "f", (const uint64_t[4]){3, 2}, T_F32, 0);
  g_tensor(&file, "q", (const uint64_t[4]){64}, T_Q4_0, 32);
  g_tensor(&file, "k", (const uint64_t[4]){256}, T_Q4_K, 80);
  g_tensor(&file, "i", (const uint64_t[4]){256}, T_IQ4_XS, 224);
  g_data(&file, 16, 360);
  cr_assert(!file.failed && file.length <= ROOM / 2);
  size_t length = file.length;
  memcpy(bytes, file.data, length);
  rs_text_clear(&file);
  return length;
}

/* One damage: a byte, a bit, a number of 4 or 8 bytes that is small or at an end of its range, a copy of another part,
 * bytes more or fewer. Returns the file's length. Half of all are in the header. */
static size_t damage(dice *d, char *bytes, size_t length) {
  static const uint64_t numbers[] = {0,  1,   2,         4,          8,         9,          13,        16,
                                     32, 255, INT32_MAX, UINT32_MAX, INT64_MAX, 1ULL << 63, UINT64_MAX};
  size_t width = once_in(d, 2) ? 4 : 8, place = pick(d, 0, once_in(d, 2) ? 100 : length - 40),
         other = pick(d, 0, length - 40);
  uint64_t number = numbers[pick(d, 0, RS_COUNT(numbers) - 1)];
  switch (pick(d, 0, 5)) {
  case 0: bytes[place] = (char)pick(d, 0, 255); break;
  case 1: bytes[place] ^= (char)(1 << pick(d, 0, 7)); break;
  case 2: memcpy(bytes + place, &number, width); break;
  case 3: memmove(bytes + place, bytes + other, pick(d, 1, 40)); break;
  case 4: return pick(d, length - 60, length);
  default:
    if (length + width > ROOM) return length;
    memmove(bytes + place + width, bytes + place, length - place);
    return length + width;
  }
  return length;
}

static void read_all(const rs_gguf *gguf, size_t length) {
  const rs_safetensors *checkpoint = rs_gguf_checkpoint(gguf);
  float floats[ROOM];
  size_t bytes = 0;
  for (size_t i = 0; i < checkpoint->count; i++) {
    const rs_stored_tensor *tensor = &checkpoint->tensors[i];
    bytes += tensor->bytes;
    cr_assert_eq(rs_safetensors_find(checkpoint, tensor->name), tensor);
    size_t count = tensor->count < ROOM ? tensor->count : ROOM;
    (void)!rs_stored_floats(tensor, tensor->count - count, count, floats, NULL);
  }
  cr_assert_lt(bytes, length);
}

Test(gguf_mutations, damaged_files__are_read_or_refused) {
  size_t good = 0;
  enter_scratch();
  for (uint32_t job = 0; job < MUTATIONS; job++) {
    dice d = {.seed = test_seed(), .job = job};
    char bytes[ROOM];
    size_t length = make_good(bytes);
    for (size_t i = pick(&d, 0, 3); i > 0; i--) length = damage(&d, bytes, length);
    put_bytes("m", bytes, length);
    rs_gguf *gguf = NULL;
    rs_err err = {0};
    rs_status status = rs_gguf_open("m", &gguf, &err);
    cr_assert(status == RS_OK || status == RS_INPUT || status == RS_UNSUPPORTED, "seed %llu, job %u: %s",
              (unsigned long long)d.seed, job, err.message);
    cr_assert_eq(status == RS_OK, gguf != NULL);
    cr_assert(status == RS_OK || (strncmp(err.message, "m: ", 3) == 0 && strchr(err.message, '\n') == NULL),
              "seed %llu, job %u: %s", (unsigned long long)d.seed, job, err.message);
    if (status == RS_OK) read_all(gguf, length);
    good += status == RS_OK;
    rs_gguf_close(gguf);
  }
  /* Damage to the data alone, or to a name, is none that the format knows. */
  cr_assert(good > MUTATIONS / 4 && good < MUTATIONS / 4 * 3, "seed %llu: %zu were read",
            (unsigned long long)test_seed(), good);
  leaves((const char *[]){"m"}, 1);
}
