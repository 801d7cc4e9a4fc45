/* The journal's file: one line that says what it is, then records of a head (RS_HEAD bytes, little-endian) and data:
 *
 *   bytes  0  magic
 *          4  length of the data
 *          8  solid: how much of the file was on the disk for sure when this was written
 *         16  key (32 bytes; all zero: no cell, the file was sealed)
 *         48  the first 16 bytes of the SHA-256 of what precedes, and of the data
 *
 * Records are written at the end alone. What a process or the power ends may leave the last ones torn, out of order or
 * missing; they are cut off, and their cells run again. `solid` tells that from damage: a bad record that a later good
 * one calls solid was once whole. */
#include "ledger.h"

#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RS_HEAD = 64, SUMMED = 48, SUM = 16 };
static const char title[] = "ropescope journal 1\n";
enum { TITLE = sizeof title - 1 };
static const uint8_t magic[4] = {0xc5, 'c', 'e', 'l'};

rs_status rs_folder_path(const char *directory, const char *name, char path[RS_PATH_CHARS], rs_err *err) {
  size_t length = strlen(directory);
  const char *slash = length == 0 || directory[length - 1] == '/' ? "" : "/";
  if (snprintf(path, RS_PATH_CHARS, "%s%s%s", directory, slash, name) < RS_PATH_CHARS) return RS_OK;
  return rs_fail(err, RS_IO, "%s: the path is too long", directory);
}

bool rs_folder_has(const char *directory, const char *name) {
  char path[RS_PATH_CHARS];
  return rs_folder_path(directory, name, path, NULL) == RS_OK && access(path, F_OK) == 0;
}

static rs_status fail_errno(const rs_journal *journal, const char *what, rs_err *err) {
  return rs_fail(err, RS_IO, "%s: %s: %s", journal->path, what, strerror(errno));
}

/* Where a journal is written anew. */
static rs_status name_copy(const rs_journal *journal, char path[RS_PATH_CHARS], rs_err *err) {
  if (snprintf(path, RS_PATH_CHARS, "%s.new", journal->path) < RS_PATH_CHARS) return RS_OK;
  return rs_fail(err, RS_IO, "%s: the path is too long", journal->path);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void put_number(uint8_t *out, uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) out[i] = (uint8_t)(number >> 8 * i);
}

static uint64_t get_number(const uint8_t *in, size_t bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes; i++) number |= (uint64_t)in[i] << 8 * i;
  return number;
}

static void sum_record(const uint8_t *head, const void *data, size_t length, uint8_t sum[SUM]) {
  uint8_t digest[32];
  rs_sha256_digest((const rs_bytes[]){{head, SUMMED}, {data, length}}, 2, digest);
  memcpy(sum, digest, SUM);
}

/* The length of a good record at the beginning of `bytes` (left,), head and data; 0: there is none. */
static size_t check_record(const uint8_t *bytes, size_t left) {
  uint8_t sum[SUM];
  if (left < RS_HEAD || memcmp(bytes, magic, sizeof magic) != 0) return 0;
  size_t length = (size_t)get_number(bytes + 4, 4);
  if (length > left - RS_HEAD) return 0;
  sum_record(bytes, bytes + RS_HEAD, length, sum);
  return memcmp(sum, bytes + SUMMED, SUM) == 0 ? RS_HEAD + length : 0;
}

static bool is_seal(const uint8_t *bytes) {
  static const uint8_t none[RS_KEY_BYTES];
  return memcmp(bytes + 16, none, sizeof none) == 0;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A bad record: good ones behind it that call it solid. */
static size_t count_witnesses(const uint8_t *bytes, size_t length, size_t bad) {
  size_t witnesses = 0;
  for (size_t at = bad + 1; at < length;) {
    const uint8_t *next = memmem(bytes + at, length - at, magic, sizeof magic);
    if (next == NULL) break;
    size_t place = (size_t)(next - bytes), size = check_record(next, length - place);
    witnesses += size > 0 && get_number(next + 8, 8) > bad;
    at = place + (size > 0 ? size : 1);
  }
  return witnesses;
}

static rs_status scan(rs_journal *journal, const uint8_t *bytes, size_t length, rs_journal_reader *each, void *context,
                      rs_err *err) {
  size_t at = TITLE, number = 1;
  for (size_t size; at < length && (size = check_record(bytes + at, length - at)) > 0; at += size, number++) {
    rs_cell_key key;
    memcpy(key.bytes, bytes + at + 16, sizeof key.bytes);
    if (!is_seal(bytes + at)) RS_TRY(each(context, &key, at, bytes + at + RS_HEAD, size - RS_HEAD, err));
  }
  size_t witnesses = at < length ? count_witnesses(bytes, length, at) : 0;
  if (witnesses > 0)
    return rs_fail(err, RS_INPUT,
                   "%s: record %zu, at byte %zu, is damaged, and not at the end: %zu good ones follow (put back a copy "
                   "of the file, or --fresh starts over without it)",
                   journal->path, number, at, witnesses);
  journal->end = at;
  return RS_OK;
}

/* Whether this is no journal that can be gone on with: another version's, or one whose title is torn. */
static bool is_other(const uint8_t *bytes, size_t length) {
  return length < TITLE || memcmp(bytes, title, TITLE) != 0;
}

static rs_status write_at(const rs_journal *journal, const void *data, size_t length, uint64_t offset, rs_err *err) {
  const char *left = data;
  while (length > 0) {
    ssize_t put = pwrite(journal->file, left, length, (off_t)offset);
    if (put == -1 && errno == EINTR) continue;
    if (put == -1) return fail_errno(journal, "cannot write", err);
    left += put;
    offset += (uint64_t)put;
    length -= (size_t)put;
  }
  return RS_OK;
}

static rs_status begin(rs_journal *journal, rs_err *err) {
  if (ftruncate(journal->file, 0) != 0) return fail_errno(journal, "cannot write", err);
  RS_TRY(write_at(journal, title, TITLE, 0, err));
  journal->end = TITLE;
  return RS_OK;
}

static rs_status read_all(rs_journal *journal, rs_journal_reader *each, void *context, rs_err *err) {
  rs_mapping mapping = {0};
  off_t size = lseek(journal->file, 0, SEEK_END);
  if (size < 0) return fail_errno(journal, "cannot read", err);
  if (size == 0) return begin(journal, err);
  RS_TRY(rs_file_map(journal->path, &mapping, err));
  bool other = is_other(mapping.bytes, mapping.length);
  rs_status status = other ? RS_OK : scan(journal, mapping.bytes, mapping.length, each, context, err);
  rs_file_unmap(&mapping);
  if (status == RS_OK && other) return begin(journal, err);
  if (status == RS_OK && ftruncate(journal->file, (off_t)journal->end) != 0)
    return fail_errno(journal, "cannot write", err);
  return status;
}

rs_status rs_journal_open(const char *directory, bool fresh, rs_journal_reader *each, void *context,
                          rs_journal *journal, rs_err *err) {
  *journal = (rs_journal){.file = -1, .opened = rs_seconds()};
  char *folder, copy[RS_PATH_CHARS];
  RS_TRY(rs_work_folder_make(directory, &folder, err));
  rs_status status = rs_folder_path(folder, "journal", journal->path, err);
  free(folder);
  RS_TRY(status);
  RS_TRY(name_copy(journal, copy, err));
  journal->file = open(journal->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (journal->file == -1) return fail_errno(journal, "cannot write", err);
  (void)unlink(copy); /* a process that was killed may have left one */
  RS_TRY(fresh ? begin(journal, err) : read_all(journal, each, context, err));
  return rs_journal_sync(journal, err);
}

static rs_status scan_file(rs_journal *journal, rs_journal_reader *each, void *context, rs_err *err) {
  rs_mapping mapping = {0};
  struct stat info;
  if (stat(journal->path, &info) != 0 && errno == ENOENT) return RS_OK;
  if (stat(journal->path, &info) == 0 && info.st_size == 0) return RS_OK; /* a run that was killed at once */
  RS_TRY(rs_file_map(journal->path, &mapping, err));
  bool other = is_other(mapping.bytes, mapping.length);
  rs_status status = other ? rs_fail(err, RS_INPUT, "%s: is no journal of this version", journal->path)
                           : scan(journal, mapping.bytes, mapping.length, each, context, err);
  rs_file_unmap(&mapping);
  return status;
}

rs_status rs_journal_scan(const char *directory, rs_journal_reader *each, void *context, rs_err *err) {
  rs_journal journal = {.file = -1};
  char *folder;
  RS_TRY(rs_work_folder_find(directory, &folder, err));
  rs_status status = rs_folder_path(folder, "journal", journal.path, err);
  free(folder);
  return status == RS_OK ? scan_file(&journal, each, context, err) : status;
}

void rs_journal_close(rs_journal *journal) {
  if (journal->file != -1) close(journal->file);
  *journal = (rs_journal){.file = -1};
}

rs_status rs_journal_read(const rs_journal *journal, uint64_t offset, rs_text *data, rs_err *err) {
  uint8_t head[RS_HEAD], block[4096];
  if (pread(journal->file, head, sizeof head, (off_t)offset) != sizeof head)
    return fail_errno(journal, "cannot read", err);
  size_t left = (size_t)get_number(head + 4, 4);
  for (offset += RS_HEAD; left > 0;) {
    ssize_t got = pread(journal->file, block, left < sizeof block ? left : sizeof block, (off_t)offset);
    if (got == -1 && errno == EINTR) continue;
    if (got <= 0) return fail_errno(journal, "cannot read", err);
    rs_text_add(data, (const char *)block, (size_t)got);
    offset += (uint64_t)got;
    left -= (size_t)got;
  }
  return rs_text_check(data, err);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static rs_status put_record(rs_journal *journal, const rs_cell_key *key, const void *data, size_t length, rs_err *err) {
  uint8_t head[RS_HEAD];
  if (length > UINT32_MAX) return rs_fail(err, RS_IO, "%s: a record of 4 GiB has no room", journal->path);
  memcpy(head, magic, sizeof magic);
  put_number(head + 4, length, 4);
  put_number(head + 8, journal->solid, 8);
  memcpy(head + 16, key->bytes, sizeof key->bytes);
  sum_record(head, data, length, head + SUMMED);
  rs_status status = write_at(journal, head, sizeof head, journal->end, err);
  if (status == RS_OK) status = write_at(journal, data, length, journal->end + sizeof head, err);
  if (status == RS_OK)
    journal->end += sizeof head + length;
  else
    (void)!ftruncate(journal->file, (off_t)journal->end);
  return status;
}

/* Cells that take long are worth a call each. Those that are soon done share one: a disk takes milliseconds for it, and
 * a thousand cells may take no more. */
rs_status rs_journal_add(rs_journal *journal, const rs_cell_key *key, const rs_text *data, uint64_t *offset,
                         rs_err *err) {
  static const double share = 0.02;
  uint64_t place = journal->end;
  RS_TRY(rs_text_check(data, err));
  RS_TRY(put_record(journal, key, rs_text_string(data), data->length, err));
  *offset = place;
  return journal->syncing <= share * (rs_seconds() - journal->opened) ? rs_journal_sync(journal, err) : RS_OK;
}

rs_status rs_journal_sync(rs_journal *journal, rs_err *err) {
  double begin = rs_seconds();
  if (journal->broken) return rs_fail(err, RS_IO, "%s: cannot write: what went before was lost", journal->path);
  if (fsync(journal->file) != 0) {
    journal->broken = true;
    return fail_errno(journal, "cannot write", err);
  }
  journal->solid = journal->end;
  journal->syncing += rs_seconds() - begin;
  return RS_OK;
}

rs_status rs_journal_seal(rs_journal *journal, rs_err *err) {
  static const rs_cell_key none;
  RS_TRY(rs_journal_sync(journal, err));
  RS_TRY(put_record(journal, &none, "", 0, err));
  return rs_journal_sync(journal, err);
}

/* ---- compaction -------------------------------------------------------------------------------------------------- */

/* A journal that is written anew. */
typedef struct compaction {
  const uint8_t *bytes; /* (length,) the old one, whose records are all good */
  size_t length;
  rs_journal_chooser *needed;
  const void *context;
} compaction;

/* Copies the records that are needed, or those that are not but for the first `skip` bytes of them; without a copy it
 * counts them. */
static rs_status copy_records(const compaction *c, bool needed, uint64_t skip, rs_journal *copy, uint64_t *bytes,
                              rs_err *err) {
  *bytes = 0;
  for (size_t at = TITLE, size; at < c->length && (size = check_record(c->bytes + at, c->length - at)) > 0;
       at += size) {
    rs_cell_key key;
    memcpy(key.bytes, c->bytes + at + 16, sizeof key.bytes);
    if (is_seal(c->bytes + at) || c->needed(c->context, &key, at) != needed) continue;
    *bytes += size;
    if (copy == NULL || *bytes - size < skip) continue;
    copy->solid = copy->end; /* it is nobody's before all of it is on the disk */
    RS_TRY(put_record(copy, &key, c->bytes + at + RS_HEAD, size - RS_HEAD, err));
  }
  return RS_OK;
}

static rs_status fill_copy(const compaction *c, uint64_t skip, rs_journal *copy, rs_err *err) {
  uint64_t bytes;
  RS_TRY(begin(copy, err));
  RS_TRY(copy_records(c, false, skip, copy, &bytes, err));
  RS_TRY(copy_records(c, true, 0, copy, &bytes, err));
  return rs_journal_seal(copy, err);
}

/* Where the power fails before the new name is on the disk, the old journal is there again, which is as good. */
static rs_status replace(rs_journal *journal, rs_journal *copy, rs_err *err) {
  if (rename(copy->path, journal->path) != 0) return fail_errno(journal, "cannot write", err);
  int file = copy->file;
  copy->file = journal->file;
  journal->file = file;
  journal->end = copy->end;
  journal->solid = copy->solid;
  return RS_OK;
}

static rs_status write_anew(rs_journal *journal, const compaction *c, uint64_t skip, rs_err *err) {
  rs_journal copy = {.file = -1};
  RS_TRY(name_copy(journal, copy.path, err));
  copy.file = open(copy.path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  rs_status status = copy.file != -1 ? fill_copy(c, skip, &copy, err) : fail_errno(&copy, "cannot write", err);
  if (status == RS_OK) status = replace(journal, &copy, err);
  if (status != RS_OK) unlink(copy.path);
  rs_journal_close(&copy);
  return status;
}

rs_status rs_journal_compact(rs_journal *journal, rs_journal_chooser *needed, const void *context, uint64_t room,
                             rs_err *err) {
  rs_mapping mapping;
  uint64_t others;
  RS_TRY(rs_file_map(journal->path, &mapping, err));
  const compaction c = {mapping.bytes, mapping.length, needed, context};
  rs_status status = copy_records(&c, false, 0, NULL, &others, err);
  if (status == RS_OK && others > room) status = write_anew(journal, &c, others - room / 2, err);
  rs_file_unmap(&mapping);
  return status;
}
