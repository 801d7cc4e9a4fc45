/* The journal of a folder: a record for each cell that is done, added behind the others and on the disk before the run
 * goes on for long. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_JOURNAL_H
#define ROPESCOPE_SWEEP_JOURNAL_H

#include "io/io.h"

enum { RS_KEY_BYTES = 32 };

/* What a cell's numbers are determined by, as a SHA-256. */
typedef struct rs_cell_key {
  uint8_t bytes[RS_KEY_BYTES];
} rs_cell_key;

typedef struct rs_journal {
  int file;       /* -1: closed */
  char *path;     /* owned */
  uint64_t end;   /* bytes that are written, */
  uint64_t solid; /* and that are on the disk for sure */
  double opened;  /* seconds of the clock, when this was */
  double syncing; /* seconds that went into bringing records to the disk */
  bool broken;    /* that failed: what is on the disk is not known any more */
} rs_journal;

/* Told of each record, in their order; `data` (length,) is borrowed. */
typedef rs_status rs_journal_reader(void *context, const rs_cell_key *key, uint64_t offset, const uint8_t *data,
                                    size_t length, rs_err *err);

/* Opens directory/.ropescope/journal, made where it is missing or `fresh`, and tells of its records. A tail that is
 * torn (the end of a process or of the power) is cut off. RS_INPUT, with the record's number and place, for one that
 * is damaged though it has been on the disk; RS_IO, RS_MEMORY, and what `each` fails with. Close it in any case. */
rs_status rs_journal_open(const char *directory, bool fresh, rs_journal_reader *each, void *context,
                          rs_journal *journal, rs_err *err);
void rs_journal_close(rs_journal *journal);

/* Tells of the records of a folder's journal, and changes nothing: a torn tail is passed over. Without a journal there
 * are none. RS_INPUT for a damaged record, and for a file that is no journal of this version; RS_IO, RS_MEMORY, and
 * what `each` fails with. */
rs_status rs_journal_scan(const char *directory, rs_journal_reader *each, void *context, rs_err *err);

/* Adds a record; *offset is where it can be read. A failure leaves the journal as it was. Brings it to the disk as
 * well, unless that has taken more than a fiftieth of the time since the journal was opened: what then waits was done
 * within the time of fifty such calls, and goes with the next record or rs_journal_sync. RS_IO, RS_MEMORY. */
rs_status rs_journal_add(rs_journal *journal, const rs_cell_key *key, const rs_text *data, uint64_t *offset,
                         rs_err *err);

/* Brings what was added to the disk. RS_IO, from then on always: a kernel tells of lost pages once. */
rs_status rs_journal_sync(rs_journal *journal, rs_err *err);

/* The same, and says so in the journal: damage to any record before is then told from a torn tail. */
rs_status rs_journal_seal(rs_journal *journal, rs_err *err);

/* Whether a record is needed. */
typedef bool rs_journal_chooser(const void *context, const rs_cell_key *key, uint64_t offset);

/* Writes the journal anew where its records that are not needed take more than `room` bytes: the oldest of them go,
 * until half of that is left. The new file takes the old one's place as one, with all offsets changed; a failure leaves
 * the old one. RS_IO, RS_MEMORY. */
rs_status rs_journal_compact(rs_journal *journal, rs_journal_chooser *needed, const void *context, uint64_t room,
                             rs_err *err);

/* The data of a record, added to `data`. RS_IO, RS_MEMORY. */
rs_status rs_journal_read(const rs_journal *journal, uint64_t offset, rs_text *data, rs_err *err);

#endif
