/* The cells of a run, their keys, their records and the folder they stand in. */
#ifndef ROPESCOPE_RUN_LEDGER_H
#define ROPESCOPE_RUN_LEDGER_H

#include <pthread.h>

#include "io/io.h"

#include "cell.h"

/* ---- paths ------------------------------------------------------------------------------------------------------- */

enum { RS_PATH_CHARS = 4096 };

/* The path of what is called so in a folder. RS_IO for one that no system call would take. */
rs_status rs_folder_path(const char *directory, const char *name, char path[RS_PATH_CHARS], rs_err *err);

/* Whether something is. */
bool rs_folder_has(const char *directory, const char *name);

/* ---- journal --------------------------------------------------------------------------------------------------- */

/* The journal of a folder: a record for each cell that is done, added behind the others and on the disk before the run
 * goes on for long. */

enum { RS_KEY_BYTES = 32 };

/* What a cell's numbers are determined by, as a SHA-256. */
typedef struct rs_cell_key {
  uint8_t bytes[RS_KEY_BYTES];
} rs_cell_key;

typedef struct rs_journal {
  int file; /* -1: closed */
  char path[RS_PATH_CHARS];
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

/* ---- cell key -------------------------------------------------------------------------------------------------- */

/* Raised when a record holds something else, a key is made in another way, or last digits change whatever the kinds. */
enum { RS_CELL_SCHEMA = 4 };

/* ---- ledger ---------------------------------------------------------------------------------------------------- */

/* The cells of a run: what each is, which are to be done here, and which are done. It has some hundred bytes for a
 * cell, however many there are; results stand in the journal. */

typedef struct rs_ledger {
  rs_arena arena;                  /* of the lists here but for cells */
  const rs_experiment *experiment; /* borrowed */
  const char *isa;                 /* the instruction set whose numbers these are; borrowed */
  rs_cell *cells;                  /* (count,) as all here */
  rs_cell_role *roles;
  rs_cell_key *keys;
  bool *others;     /* cells that are done elsewhere: of another shard, by another rank */
  uint64_t *places; /* of records in the journal; 0: the cell is to be done */
  double *weights;  /* in the progress of the run, of those; no unit */
  size_t *by_key;   /* indices in the order of keys */
  size_t count;
  size_t wanted, done, resumed; /* cells that are not of others, and of those */
  rs_journal journal;
  pthread_mutex_t lock; /* held while a record is added or brought to the disk */
} rs_ledger;

/* Lists the cells, none of which is of others or done; no journal is open. Close it in any case. RS_IO where a
 * checkpoint cannot be read, RS_MEMORY. */
rs_status rs_ledger_make(const rs_experiment *experiment, const char *isa, rs_ledger *ledger, rs_err *err);
void rs_ledger_close(rs_ledger *ledger);

/* Leaves a cell to others. Before the journal is opened. */
void rs_ledger_leave(rs_ledger *ledger, size_t cell);

/* Opens the journal of a folder and finds the cells that are done in it; none where `fresh`. As rs_journal_open. */
rs_status rs_ledger_open(rs_ledger *ledger, const char *directory, bool fresh, rs_err *err);

/* Finds the same cells, and changes nothing in the folder. As rs_journal_scan. */
rs_status rs_ledger_scan(rs_ledger *ledger, const char *directory, rs_err *err);

/* The cells (*count,) that have a key, in their order. Borrows; none where no cell has it. */
const size_t *rs_ledger_find(const rs_ledger *ledger, const rs_cell_key *key, size_t *count);

/* Whether a cell is to be done here, and is not done yet. */
static inline bool rs_ledger_pending(const rs_ledger *ledger, size_t cell) {
  return ledger->places[cell] == 0 && !ledger->others[cell];
}

/* A state for cell number `index`, nothing done yet. Release with rs_cell_state_clear, also after a failure. */
rs_status rs_ledger_state(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err);

/* Records what a cell came to. RS_IO, RS_MEMORY. */
rs_status rs_ledger_add(rs_ledger *ledger, const rs_cell_state *state, rs_err *err);

/* The same of a record that was made elsewhere. */
rs_status rs_ledger_put(rs_ledger *ledger, size_t cell, const rs_text *record, rs_err *err);

/* Adds the records of another folder's journal that are not there, those of other configs as well, and brings them to
 * the disk; `all`: also of cells that another run tries again. RS_BUSY where a process runs into that folder;
 * RS_INPUT, RS_IO, RS_MEMORY. */
rs_status rs_ledger_take(rs_ledger *ledger, const char *folder, bool all, rs_err *err);

/* Brings what was added to the disk. RS_IO. */
rs_status rs_ledger_sync(rs_ledger *ledger, rs_err *err);

/* Drops the oldest records of other configs from the journal where all of them take more than 256 MiB. After it no
 * record can be read. RS_IO, RS_MEMORY: the journal is as it was. */
rs_status rs_ledger_compact(rs_ledger *ledger, rs_err *err);

/* Reads into a new state what is recorded of the cell. */
rs_status rs_ledger_read(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err);

/* ---- target ---------------------------------------------------------------------------------------------------- */

/* Refuses a folder in which something stands under our names that no run has made, or that is no file. RS_IO,
 * RS_MEMORY. */
rs_status rs_target_check(const rs_experiment *experiment, const char *directory, rs_err *err);

/* Writes the cells that are done, in their order, as the set of files of a folder that this process has locked, and
 * says in `summary` what became of them. What stood there is replaced as one; results that are there stay where cells
 * ran out of memory, unless a part is wanted: RS_MEMORY then. RS_IO, RS_MEMORY, RS_INPUT for a record that does not fit
 * its cell. */
rs_status rs_target_write(const rs_ledger *ledger, const char *directory, bool partial, rs_run_summary *summary,
                          rs_err *err);

/* ---- folders of ranks ------------------------------------------------------------------------------------------- */

/* Ranks of MPI but the first record what they do in folders of their own, in the hidden one of the results. */

/* Makes those of all but the first of so many ranks. RS_IO, RS_MEMORY. */
rs_status rs_rank_folders_make(const char *directory, size_t ranks, rs_err *err);

/* Locks that of a rank, and opens an empty journal in it. RS_INPUT where it is not there; as rs_ledger_open. */
rs_status rs_rank_folder_open(rs_ledger *ledger, const char *directory, size_t rank, rs_folder_lock *lock, rs_err *err);

/* Takes what is recorded in all into the ledger, and removes them. `now`: of ranks of this run, whatever they recorded,
 * and what one that is not at its end has recorded later stays there; else RS_BUSY. As rs_ledger_take. */
rs_status rs_rank_folders_merge(rs_ledger *ledger, const char *directory, bool now, rs_err *err);

/* RS_IO. */
rs_status rs_rank_folders_remove(const char *directory, rs_err *err);

/* ---- shard file ------------------------------------------------------------------------------------------------ */

#define RS_SHARD_FILE "shard.json"

typedef struct rs_shard_file {
  rs_tree *tree; /* owned; the rest borrows from it */
  rs_sweep_shard shard;
  const char *version, *isa, *config;
  size_t schema;                 /* of keys */
  const rs_node *kinds, *inputs; /* as the manifest lists them */
} rs_shard_file;

/* Writes directory/shard.json. RS_IO, RS_MEMORY. */
rs_status rs_shard_file_write(const rs_ledger *ledger, rs_sweep_shard shard, const char *directory, rs_err *err);

/* Reads it. RS_INPUT where there is none, or it is no such file; RS_IO, RS_MEMORY. Clear it in any case. */
rs_status rs_shard_file_read(const char *directory, rs_shard_file *file, rs_err *err);
void rs_shard_file_clear(rs_shard_file *file);

#endif
