/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_FILE_H
#define IO_FILE_H
/* Layer 1. Public face of the writers: open, write a dump, close. The dispatcher behind it checks
 * arguments, creates and preallocates the file, holds the lock, times, counts, agrees on errors
 * over ranks and keeps the manifest FILE.json up to date (docs/format.md).
 *
 * Call order, all collective over the communicator given at open:
 *   io_file_open -> io_file_start -> io_file_write ... -> io_file_end -> io_file_settle -> io_file_free
 * open is before the benchmark's clock, settle behind it; start, write and end are inside. Every
 * function returns the same code on every rank and never leaves a rank waiting for another. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>

#include "io/setting.h"
#include "io/view.h"

#define IO_N_MAX (INT64_C(1) << 17) /* keeps 40 N^3 far from the end of 64 bits */

struct io_writer;
struct io_file;

enum io_sync { IO_SYNC_NONE, IO_SYNC_DUMP, IO_SYNC_END };

/* Of one call of a library or kernel at most: below what any of them counts in 32 bits, and a round
 * number, so that pieces stay aligned. */
#define IO_CALL_BYTES (INT64_C(1) << 30)

/* What to write and how. Strings are borrowed until io_file_free. */
struct io_spec {
    const char *path;
    const char *writer; /* name on the list, or "check:NAME" */
    enum io_layout layout;
    int64_t n;         /* N */
    struct io_box box; /* the calling rank's cells */
    int64_t dumps_n;   /* dumps that will be written */
    int64_t steps_n;   /* time steps of the run, for the manifest */
    double dt;
    int64_t interval; /* steps between dumps, for the manifest */
    enum io_sync sync;
    struct io_tuning tuning;
    bool force;                       /* overwrite a file that is not ours */
    bool resume;                      /* go on with the file that is there: see io_file_resumed */
    bool resume_seen;                 /* only after all dumps that are kept have been compared */
    const struct io_array *resume_to; /* where the last dump that is kept is put; NULL: nowhere.
                                         Borrowed until io_file_open returns */
    int hints_n;
    const char *const *hints;   /* "KEY=VALUE" */
    const char *kernel;         /* kernel version and ISA, for the manifest */
    const struct io_lock *lock; /* of path, which the caller holds; NULL: the file takes it */
};

/* FILE.lock, held over several runs in the same place whose files are all temporary: what a killed run leaves
 * is removed by the next run of any program. */
struct io_lock {
    struct own *own; /* of rank 0 (base/own.h) */
};

/* Whether io_file_open would take these arguments, whatever the target: for callers that want to
 * know before they begin. Local. ERR_USAGE with the option to change. */
int io_spec_check(const struct io_spec *spec);

/* Seconds of this rank by phase; the dispatcher's table. */
enum io_phase {
    IO_PHASE_CREATE,
    IO_PHASE_OPEN,
    IO_PHASE_WRITE,
    IO_PHASE_DRAIN,
    IO_PHASE_AGREE,
    IO_PHASE_MANIFEST,
    IO_PHASE_SYNC,
    IO_PHASE_CLOSE,
    IO_PHASES
};
extern const char *const io_phase_name[IO_PHASES];

/* One dump as this rank saw it; times are watch_now() values or durations in seconds. */
struct io_dump_times {
    int64_t step;
    double start_s;          /* when io_file_write was entered */
    double post_s;           /* duration of the writer's write call */
    double wait_s;           /* agreement on the previous dump, manifest, sync */
    double write_s;          /* when the writer's write call began */
    double end_s;            /* when io_file_write was left */
    double asked_s, given_s; /* when io_file_buffer was entered and left; 0: it was not */
};

struct io_stats {
    int64_t bytes;      /* written by this rank */
    int64_t requests_n; /* write calls of this rank */
    double phase_s[IO_PHASES];
    double compute_s; /* the caller's time between io_file_start and io_file_end */
    double io_s;      /* time in which data were on their way: in write, or behind the caller */
    double both_s;    /* what compute_s and io_s have in common: the overlap */
    int64_t dumps_n;
    int64_t kept_n;                   /* of these, taken over from an earlier run: no times */
    const struct io_dump_times *dump; /* [dumps_n], owned by the file */
};

/* Creates the file. Before anything that exists is changed: the target is checked (directory,
 * device, lock of another job), what lies there is found to be ours (io/target/owner.h) unless spec.force,
 * and room is proved for file, parts and manifest (io/target/place.h). Then a manifest without dumps takes
 * the place of the old one, the file takes its own, and the writer opens it. Collective; untimed by
 * the benchmark. [out] f. On error no file of other programs is changed. An earlier dump file of ours
 * is whole when the target is refused or room is not proved; it is lost when the writer then cannot
 * open, and what is left is a file whose manifest has no dumps. */
int io_file_open(struct io_file **f, MPI_Comm comm, const struct io_spec *spec);

/* As io_file_open with a writer that is on no list (tests). */
int io_file_open_with(struct io_file **f, MPI_Comm comm, const struct io_spec *spec,
                      const struct io_writer *writer);

/* What a run that goes on with a file (spec.resume) has found there. */
struct io_resumed {
    int64_t dumps_n;   /* kept: all from the first on whose content has the manifest's digests */
    int64_t unseen_n;  /* of these, not compared yet: io_file_kept_right */
    int64_t claimed_n; /* that the manifest called complete */
    int64_t step;      /* of the last one kept; 0 when there is none */
    double read_s;     /* for reading that, slowest rank; 0: it was not read */
    char kernel[64];   /* that the manifest names */
};

/* The same on every rank; zeros when spec.resume was not set. Borrowed. Local. */
const struct io_resumed *io_file_resumed(const struct io_file *f);

/* Compares the dumps that were kept unseen, after io_file_end. Collective. [out] right: all are; if
 * not, the file is to be continued once more with spec.resume_seen. */
int io_file_kept_right(struct io_file *f, bool *right);

/* The code of this rank's last write, 0 while all is well: other ranks may not know yet. Local. */
int io_file_error(const struct io_file *f);

/* Marks the start of the clock in the statistics. Local. */
void io_file_start(struct io_file *f);

/* Memory in which to stage the next dump (io_view_bytes), if the writer has some that saves a copy;
 * valid until io_file_write, which then gets this very pointer. NULL: the caller has to have a
 * buffer of its own; either for all dumps or for none, but NULL also after an error. Local; waits
 * when all memory is still being written. */
void *io_file_buffer(struct io_file *f);

/* Writes the next dump. Collective. step: the time step that the state belongs to. buf: this rank's
 * staging buffer (io_view_bytes). digest: this rank's part, digest_words(n) words; borrowed only
 * during the call. The outcome on the other ranks is known at the next call or at io_file_end: an
 * error of dump d is returned by then on every rank. */
int io_file_write(struct io_file *f, int64_t step, const void *buf, const uint64_t *digest);

/* Finishes: last agreement, manifest, durability by policy, writer's close. Collective. */
int io_file_end(struct io_file *f);

/* Gives the manifest its last form: what is in its journal goes into FILE.json. A file that is not settled, because
 * of an error, io_file_free settles as far as that can be. Collective. */
int io_file_settle(struct io_file *f);

/* Statistics of this rank so far. Borrowed. Local. */
const struct io_stats *io_file_stats(const struct io_file *f);

/* Whether the writer leaves one file in serial format. Local. */
bool io_file_has_file(const struct io_file *f);

/* This rank's view, to stage into. Borrowed. Local. */
const struct io_view *io_file_view(const struct io_file *f);

/* The MPI-IO component and the hints as the library reports them, file system type, preallocation
 * used, number of the run: what the result record says about the file. New reference, the same on
 * every rank. */
json_t *io_file_json(const struct io_file *f);

/* Whether the file is still that of a run ("run_id" in io_file_json): the lock goes with
 * io_file_free, and then another run may write to the same file. Local. */
bool io_file_is_of_run(const char *path, const char *run_id);

/* Whether name, a path, belongs to what a run of this writer with spec.path path makes or may
 * remove: the file, its manifest, lock, temporaries, parts of ranks (writer NULL: no parts). No
 * other output may be written there. Links and other spellings of a folder are seen through.
 * Local. */
bool io_file_takes(const char *path, const char *writer, const char *name);

/* Removes data file, parts and manifest; with a run_id only when they are still of that run, NULL for
 * any. lock: as in the spec. Rank 0's business; collective for the agreement. */
int io_file_remove(MPI_Comm comm, const char *path, const char *run_id, const struct io_lock *lock);

/* Takes the lock of a path, so that no other run comes between those of the caller; the owner of
 * a file there is not checked. Collective. [out] lock, to be given to io_file_unlock, also after an error. */
int io_file_lock(MPI_Comm comm, const char *path, struct io_lock *lock);
void io_file_unlock(struct io_lock *lock);

/* Frees everything, closes what is open, releases the lock; f may be NULL. Collective. */
void io_file_free(struct io_file *f);

#endif
