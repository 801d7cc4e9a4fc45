/* test_journal.c: the journal's file, cut, turned and torn at every byte. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../src/run/ledger.h"
#include "../fixtures/scratch.h"

static int sync_error; /* errno to fail with; 0: all is well, and nothing waits for a disk */
static int syncs, sync_milliseconds;
static int calls_left; /* the process ends before the call that makes it 0; what was done stays, as after a kill */

static void count_call(void) {
  if (calls_left > 0 && --calls_left == 0) _exit(9);
}

int fsync(int file) {
  (void)file;
  count_call();
  syncs++;
  nanosleep(&(struct timespec){.tv_nsec = sync_milliseconds * 1000000L}, NULL);
  errno = sync_error;
  return sync_error != 0 ? -1 : 0;
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset) {
  count_call();
  return syscall(SYS_pwrite64, file, data, size, offset);
}

int rename(const char *from, const char *to) {
  count_call();
  return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

TestSuite(journal, .init = enter_scratch);

static const char *const texts[] = {"one", "", "three and some more", "4"};
enum { RECORDS = RS_COUNT(texts), MOST = 4096 };

static rs_cell_key key_of(size_t number) {
  rs_cell_key key;
  memset(key.bytes, (int)(number + 1), sizeof key.bytes);
  return key;
}

/* What a reader was told. */
typedef struct seen {
  size_t count;
  bool good; /* the records from the first on, in order */
} seen;

static rs_status see(void *context, const rs_cell_key *key, uint64_t offset, const uint8_t *data, size_t length,
                     rs_err *err) {
  seen *s = context;
  rs_cell_key wanted = key_of(s->count);
  (void)offset;
  (void)err;
  s->good = s->good && s->count < RECORDS && memcmp(key, &wanted, sizeof wanted) == 0 &&
            length == strlen(texts[s->count]) && memcmp(data, texts[s->count], length) == 0;
  s->count++;
  return RS_OK;
}

static rs_status open_and_see(seen *s, rs_journal *journal, rs_err *err) {
  *s = (seen){.good = true};
  return rs_journal_open("o", false, see, s, journal, err);
}

static void add(rs_journal *journal, size_t number) {
  rs_text data = {0};
  rs_cell_key key = key_of(number);
  uint64_t offset;
  rs_text_puts(&data, texts[number]);
  cr_assert_eq(rs_journal_add(journal, &key, &data, &offset, NULL), RS_OK);
  rs_text_clear(&data);
  cr_assert_eq(rs_journal_read(journal, offset, &data, NULL), RS_OK);
  cr_assert_str_eq(rs_text_string(&data), texts[number]);
  rs_text_clear(&data);
}

static const char path[] = "o/.ropescope/journal";

static size_t read_file(char out[MOST]) {
  FILE *file = fopen(path, "rb");
  cr_assert_not_null(file);
  size_t length = fread(out, 1, MOST, file);
  fclose(file);
  return length;
}

static void write_bytes(const char *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  cr_assert(file != NULL && fwrite(bytes, 1, length, file) == length);
  fclose(file);
}

/* All records, each on the disk before the next, and sealed where `sealed`. */
static size_t make(char out[MOST], bool sealed, size_t ends[RECORDS + 1]) {
  rs_journal journal;
  cr_assert_eq(rs_journal_open("o", true, see, NULL, &journal, NULL), RS_OK);
  for (size_t i = 0; i < RECORDS; i++) {
    ends[i] = journal.end;
    add(&journal, i);
    cr_assert_eq(rs_journal_sync(&journal, NULL), RS_OK);
  }
  ends[RECORDS] = journal.end;
  if (sealed) cr_assert_eq(rs_journal_seal(&journal, NULL), RS_OK);
  rs_journal_close(&journal);
  return read_file(out);
}

static void leave(void) {
  const char *const names[] = {path, "o/.ropescope", "o"};
  leaves(names, RS_COUNT(names));
}

Test(journal, open__truncated_at_every_byte__whole_records_stay_and_it_goes_on) {
  char bytes[MOST], again[MOST];
  size_t ends[RECORDS + 1], length = make(bytes, true, ends);
  for (size_t cut = 0; cut <= length; cut++) {
    rs_journal journal;
    seen s;
    rs_err err = {0};
    size_t whole = 0;
    while (whole < RECORDS && ends[whole + 1] <= cut) whole++;
    write_bytes(bytes, cut);
    cr_assert_eq(open_and_see(&s, &journal, &err), RS_OK, "%zu bytes: %s", cut, err.message);
    cr_assert(s.good && s.count == whole, "%zu bytes: %zu records, not %zu", cut, s.count, whole);
    for (size_t i = whole; i < RECORDS; i++) add(&journal, i);
    rs_journal_close(&journal);
    cr_assert_eq(open_and_see(&s, &journal, &err), RS_OK);
    cr_assert(s.good && s.count == RECORDS, "%zu bytes: %zu records after going on", cut, s.count);
    rs_journal_close(&journal);
    cr_assert_leq(read_file(again), length + 64);
  }
  leave();
}

/* A sealed journal tells of any bit that has turned: by an error that names the record, or, where that was the seal
 * alone or the title, by fewer records; never by another record. */
Test(journal, open__every_byte_turned__an_error_that_names_the_record) {
  char bytes[MOST], turned[MOST];
  size_t ends[RECORDS + 1], length = make(bytes, true, ends);
  for (size_t at = 0; at < length; at++) {
    rs_journal journal;
    seen s;
    rs_err err = {0};
    char words[64];
    size_t record = 0;
    while (record < RECORDS && ends[record + 1] <= at) record++;
    memcpy(turned, bytes, length);
    turned[at] ^= 0x10;
    write_bytes(turned, length);
    rs_status status = open_and_see(&s, &journal, &err);
    rs_journal_close(&journal);
    cr_assert(s.good, "byte %zu: another record", at);
    if (at < ends[0]) {
      cr_assert(status == RS_OK && s.count == 0, "byte %zu of the title: %s", at, err.message);
    } else if (at >= ends[RECORDS]) {
      cr_assert(status == RS_OK && s.count == RECORDS, "byte %zu of the seal: %s", at, err.message);
    } else {
      snprintf(words, sizeof words, ": record %zu, at byte %zu, is damaged", record + 1, ends[record]);
      cr_assert(status == RS_INPUT && strstr(err.message, words) != NULL, "byte %zu: %s", at, err.message);
      cr_assert(strstr(err.message, "--fresh") != NULL);
      cr_assert_eq(read_file(turned), length, "a damaged journal stays as it is");
    }
  }
  leave();
}

/* What was never said to be on the disk may come there in any order when the power fails: holes are no damage. */
Test(journal, open__tail_that_was_not_synced_has_a_hole__is_cut_off) {
  char bytes[MOST], torn[MOST];
  rs_journal journal;
  size_t ends[RECORDS + 1];
  cr_assert_eq(rs_journal_open("o", true, see, NULL, &journal, NULL), RS_OK);
  journal.syncing = 1e9; /* more than any share of the time: no record is synced for itself */
  for (size_t i = 0; i < RECORDS; i++) {
    ends[i] = journal.end;
    add(&journal, i);
    if (i == 0) cr_assert_eq(rs_journal_sync(&journal, NULL), RS_OK);
  }
  rs_journal_close(&journal);
  size_t length = read_file(bytes);
  for (size_t hole = 1; hole < RECORDS; hole++) {
    seen s;
    rs_err err = {0};
    memcpy(torn, bytes, length);
    memset(torn + ends[hole], 0, 64);
    write_bytes(torn, length);
    cr_assert_eq(open_and_see(&s, &journal, &err), RS_OK, "%s", err.message);
    cr_assert(s.good && s.count == hole, "hole at %zu: %zu records", hole, s.count);
    rs_journal_close(&journal);
  }
  leave();
}

Test(journal, open__other_version__begins_anew) {
  rs_journal journal;
  seen s;
  char bytes[MOST];
  size_t ends[RECORDS + 1], length = make(bytes, true, ends);
  bytes[ends[0] - 2] = '9';
  write_bytes(bytes, length);
  cr_assert_eq(open_and_see(&s, &journal, NULL), RS_OK);
  cr_expect_eq(s.count, 0);
  rs_journal_close(&journal);
  leave();
}

/* A full disk leaves no half record before the next one. */
Test(journal, add__fails__the_journal_is_as_before) {
  rs_journal journal;
  seen s;
  rs_err err = {0};
  rs_text data = {0};
  rs_cell_key key = key_of(1);
  uint64_t offset;
  cr_assert_eq(rs_journal_open("o", true, see, NULL, &journal, NULL), RS_OK);
  add(&journal, 0);
  for (int i = 0; i < 3000; i++) rs_text_puts(&data, "x");
  struct rlimit before;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &before);
  setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, before.rlim_max});
  cr_expect_eq(rs_journal_add(&journal, &key, &data, &offset, &err), RS_IO);
  cr_expect_str_eq(err.message, "o/.ropescope/journal: cannot write: File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  sync_error = EIO;
  rs_err late = {0};
  cr_expect_eq(rs_journal_sync(&journal, &late), RS_IO);
  cr_expect_str_eq(late.message, "o/.ropescope/journal: cannot write: Input/output error");
  sync_error = 0;
  rs_err again = {0};
  cr_expect_eq(rs_journal_sync(&journal, &again), RS_IO, "what was lost does not come back");
  cr_expect_eq(rs_journal_seal(&journal, &(rs_err){0}), RS_IO);
  rs_journal_close(&journal);
  cr_assert_eq(open_and_see(&s, &journal, NULL), RS_OK);
  cr_expect(s.good && s.count == 1);
  rs_journal_close(&journal);
  rs_text_clear(&data);
  leave();
}

/* ---- when records are on the disk -------------------------------------------------------------------------------- */

/* A cell that took long is on the disk when it is added; hundreds that did not share a call. */
Test(journal, add__syncs_take_a_fiftieth_of_the_time) {
  rs_journal journal;
  sync_milliseconds = 4;
  cr_assert_eq(rs_journal_open("o", true, see, NULL, &journal, NULL), RS_OK);
  syncs = 0;
  for (size_t i = 0; i < 500; i++) add(&journal, i % RECORDS);
  cr_expect_leq(syncs, 100, "%d calls", syncs);
  cr_expect_lt(journal.solid, journal.end);
  journal.opened -= 1000;
  for (size_t i = 0; i < 10; i++) {
    add(&journal, i % RECORDS);
    cr_expect_eq(journal.solid, journal.end);
  }
  sync_milliseconds = 0;
  sync_error = EIO;
  rs_text data = {0};
  rs_cell_key key = key_of(0);
  uint64_t offset;
  cr_expect_eq(rs_journal_add(&journal, &key, &data, &offset, NULL), RS_IO);
  sync_error = 0;
  rs_journal_close(&journal);
  leave();
}

/* ---- compaction -------------------------------------------------------------------------------------------------- */

/* The odd ones. */
static bool is_odd(const void *context, const rs_cell_key *key, uint64_t offset) {
  (void)context;
  (void)offset;
  return key->bytes[0] % 2 == 0; /* key_of counts from 1 */
}

enum { MANY = 12, SIZE = 100, WHOLE = 64 + SIZE };

static void add_many(rs_journal *journal) {
  for (size_t i = 0; i < MANY; i++) {
    rs_text data = {0};
    rs_cell_key key = key_of(i);
    uint64_t offset;
    for (size_t b = 0; b < SIZE; b++) rs_text_add(&data, &(char){(char)('a' + i)}, 1);
    cr_assert_eq(rs_journal_add(journal, &key, &data, &offset, NULL), RS_OK);
    rs_text_clear(&data);
  }
  cr_assert_eq(rs_journal_seal(journal, NULL), RS_OK);
}

/* The numbers of the records as letters, in their order. */
typedef struct letters {
  char words[MANY + 2];
  size_t count;
} letters;

static rs_status spell(void *context, const rs_cell_key *key, uint64_t offset, const uint8_t *data, size_t length,
                       rs_err *err) {
  letters *l = context;
  (void)offset;
  (void)err;
  cr_assert(l->count <= MANY && length == SIZE && data[0] == data[SIZE - 1] && data[0] == 'a' + key->bytes[0] - 1);
  l->words[l->count++] = (char)data[0];
  return RS_OK;
}

static void expect_letters(const char *words) {
  rs_journal journal;
  letters l = {0};
  rs_err err = {0};
  cr_assert_eq(rs_journal_open("o", false, spell, &l, &journal, &err), RS_OK, "%s", err.message);
  cr_expect_str_eq(l.words, words);
  rs_journal_close(&journal);
}

/* Six records are not needed. */
Test(journal, compact__the_oldest_that_are_not_needed_go) {
  static const struct {
    size_t room;
    const char *left;
  } cases[] = {{6 * WHOLE, "abcdefghijkl"},
               {6 * WHOLE - 1, "ikbdfhjl"},
               {2 * WHOLE, "kbdfhjl"},
               {2 * WHOLE - 1, "bdfhjl"},
               {0, "bdfhjl"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_journal journal;
    rs_text data = {0};
    rs_err err = {0};
    cr_assert_eq(rs_journal_open("o", true, see, NULL, &journal, NULL), RS_OK);
    add_many(&journal);
    cr_assert_eq(rs_journal_compact(&journal, is_odd, NULL, cases[i].room, &err), RS_OK, "%s", err.message);
    cr_expect_eq(rs_journal_read(&journal, 20, &data, NULL), RS_OK); /* behind the title */
    cr_expect_eq(data.data[0], cases[i].left[0]);
    cr_expect_eq(journal.solid, journal.end);
    rs_journal_close(&journal);
    expect_letters(cases[i].left);
    rs_text_clear(&data);
  }
  leave();
}

/* The new file's records are called solid: damage to one is told. */
Test(journal, compact__a_byte_turned_later__is_an_error) {
  char bytes[MOST];
  rs_journal journal;
  letters l = {0};
  cr_assert_eq(rs_journal_open("o", true, see, NULL, &journal, NULL), RS_OK);
  add_many(&journal);
  cr_assert_eq(rs_journal_compact(&journal, is_odd, NULL, 0, NULL), RS_OK);
  rs_journal_close(&journal);
  size_t length = read_file(bytes);
  bytes[20 + WHOLE + 70] ^= 1;
  write_bytes(bytes, length);
  rs_err err = {0};
  cr_expect_eq(rs_journal_open("o", false, spell, &l, &journal, &err), RS_INPUT);
  cr_expect_not_null(strstr(err.message, "record 2, at byte 184, is damaged"), "%s", err.message);
  rs_journal_close(&journal);
  leave();
}

/* Killed before any of its calls, it leaves the old journal or the new one, and the next to open it no copy. */
Test(journal, compact__killed_before_each_call__one_of_both_is_there) {
  bool done = false;
  size_t old = 0, new = 0;
  for (int kill = 1; !done; kill++) {
    rs_journal journal;
    int status;
    cr_assert_eq(rs_journal_open("o", true, see, NULL, &journal, NULL), RS_OK);
    add_many(&journal);
    pid_t child = fork();
    if (child == 0) {
      calls_left = kill;
      _exit(rs_journal_compact(&journal, is_odd, NULL, 0, NULL) == RS_OK ? 0 : 1);
    }
    rs_journal_close(&journal);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 9 || WEXITSTATUS(status) == 0));
    done = WEXITSTATUS(status) == 0;
    old += !done;
    new += done;
    expect_letters(done ? "bdfhjl" : "abcdefghijkl");
    cr_expect_neq(access("o/.ropescope/journal.new", F_OK), 0);
  }
  cr_expect(old >= 8 && new == 1);
  leave();
}

Test(journal, compact__fails__the_journal_is_as_before) {
  rs_journal journal;
  rs_err err = {0};
  cr_assert_eq(rs_journal_open("o", true, see, NULL, &journal, NULL), RS_OK);
  add_many(&journal);
  sync_error = ENOSPC;
  cr_expect_eq(rs_journal_compact(&journal, is_odd, NULL, 0, &err), RS_IO);
  cr_expect_str_eq(err.message, "o/.ropescope/journal.new: cannot write: No space left on device");
  sync_error = 0;
  cr_expect_eq(rs_journal_seal(&journal, NULL), RS_OK);
  cr_expect_neq(access("o/.ropescope/journal.new", F_OK), 0);
  rs_journal_close(&journal);
  expect_letters("abcdefghijkl");
  leave();
}
