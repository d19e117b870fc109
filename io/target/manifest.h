/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_MANIFEST_H
#define IO_MANIFEST_H
/* Layer 1. The manifest FILE.json beside a dump file FILE: its shape, and which dumps are in it.
 * Rank 0 alone keeps it. A reader sees a whole one at any time: a version replaces the last one in one
 * step; while the run lasts, dumps are entered in a journal beside it (io/target/journal.h).
 *
 *   "schema"         "nht1-dump/1"
 *   "run_id"         32 hexadecimal digits, drawn for each run
 *   "file"           name of the dump file without directories
 *   "layout"         "mijk", "ijkm" or "records" (io/view.h)
 *   "endian"         "little" or "big"
 *   "n"              N
 *   "components"     5
 *   "word_bytes"     8
 *   "dump_bytes"     bytes from one dump to the next
 *   "dumps_planned"  dumps that the run will write
 *   "steps"          time steps of the run
 *   "dt"             time step
 *   "interval"       steps between dumps
 *   "writer"         name of the writer
 *   "sync"           "none", "dump" or "end": when the last run that wrote flushes the file
 *   "settings"       of the writer of that run: each of io/setting_list.h by its name, numbers and
 *                    booleans, and "hints", texts "KEY=VALUE"
 *   "kernel"         version and instruction set of the solver's kernel
 *   "hash"           "nht1-h64/1": digests are those of base/digest.h
 *   "format", "variable", "data_offset" or "chunk", "file_bytes"
 *                    only of a container (io/writers/container.h): "hdf5" or "netcdf", "solution", where
 *                    the dumps begin or how long the sides of a chunk are, length of the file
 *   "journal"        true while the run lasts, and when it was killed: the journal goes on from here
 *   "dumps"          one object for each dump written, in file order:
 *     "step"           time step that the state belongs to
 *     "complete"       true when all ranks have written their part
 *     "durable"        true when it was flushed to the device after that
 *     "digest"         "i", "j", "k": N words each, "m": 5 words; a word is 16 hexadecimal digits,
 *                      most significant first, without separators
 *
 *   "resumed"        only after a restart: one object for each, with "dump" and "step" where it
 * went on (step 0: from the beginning), "writer" and "kernel" of the run that did
 *
 *   "inodes"         identities of the files that the run has made, and of those that it was about
 * to replace: texts "DEVICE:INODE:BIRTH:BYTES", the time of birth in ns since 1970 or 0, the length
 * (base/identity.h); numbers would lose digits in readers that know doubles alone
 *
 * A manifest is ours when it says "nht1-dump/1" and names the file beside it; whether that file is
 * ours is another question (io/target/owner.h). Local, all functions but io_past_read and
 * io_manifest_has. */
#include <stdbool.h>
#include <stdint.h>

#include "io/writers/container.h"
#include "io/file.h"
#include "base/identity.h"

#define IO_MANIFEST_SCHEMA "nht1-dump/1"
#define IO_MANIFEST_BYTES_MAX                                                                      \
    (INT64_C(256) << 20) /* of the text; nht1-verify reads no longer one */

struct io_manifest;

/* "none", "dump", "end"; static text. The policy of that name: -1 when there is none. Local. */
const char *io_sync_name(enum io_sync sync);
int io_sync_find(const char *name);

/* A manifest without dumps. path: where it will be written, borrowed. name: of the dump file. */
int io_manifest_new(struct io_manifest **m, const char *path, const char *name,
                    const struct io_spec *spec);

/* Says that the dumps are in a container. */
int io_manifest_body(struct io_manifest *m, const struct io_body *body);

/* Says that the dumps are in files FILE.rankNNNNN of ranks_n ranks: "parts", an array of boxes
 * [lo x, lo y, lo z, n x, n y, n z] in rank order. */
int io_manifest_parts(struct io_manifest *m, const struct io_view *views, int ranks_n);

/* Replaces "inodes"; IDENTITY_NONE among them are left out. */
int io_manifest_identities(struct io_manifest *m, const struct identity *id, int64_t ids_n);

/* Proves room for the manifest with the digests of all dumps, and for its temporary beside it; what
 * the old one takes is given back by then. ERR_USAGE when the text would be longer than
 * IO_MANIFEST_BYTES_MAX. */
int io_manifest_room(const struct io_manifest *m, int64_t dumps_n);

/* Withdraws the claims of a manifest that was read: its file goes on without dumps, with these
 * identities. Durable. */
int io_manifest_withdraw_claims(struct io_manifest *m, const struct identity *id, int64_t ids_n);

/* Adds the next dump. digest: digest_words(n) words, summed over the ranks. */
int io_manifest_add(struct io_manifest *m, int64_t step, bool complete, bool durable,
                    const uint64_t *digest);

/* Marks the first dumps_n dumps as complete: all ranks have their bytes in the file. */
void io_manifest_mark_complete(struct io_manifest *m, int64_t dumps_n);

/* Marks all complete dumps as durable. */
void io_manifest_mark_durable(struct io_manifest *m);

/* Replaces the file by the present state. flush: also down to the device, unless
 * the run's policy is IO_SYNC_NONE. */
int io_manifest_write(struct io_manifest *m, bool flush);

/* The same, and from here on what is added and marked goes into a journal, until io_manifest_end. */
int io_manifest_begin(struct io_manifest *m, bool flush);

/* Brings journal or file to the present state after dumps were added or marked. With a journal a dump costs
 * one write, of its own digest alone. flush: also down to the device, unless the policy is IO_SYNC_NONE. */
int io_manifest_update(struct io_manifest *m, bool flush);

/* After io_manifest_begin: as io_manifest_write with flush, and the journal goes. After an error file and journal
 * stay as they are, say the same, and it may be tried again. Else nothing. */
int io_manifest_end(struct io_manifest *m);

/* Instead of io_manifest_end: the journal goes, the file stays. */
void io_manifest_drop_journal(struct io_manifest *m);

void io_manifest_free(struct io_manifest *m);

/* The run's number, 32 hexadecimal digits. Borrowed. */
const char *io_manifest_run_id(const struct io_manifest *m);

#define IO_PAST_HINTS_BYTES 4096

/* What a manifest says about the run that wrote it, for one that goes on with it. */
struct io_past {
    enum io_layout layout;
    struct io_body body;
    int64_t n, dumps_n, steps_n, interval; /* as planned then */
    double dt;
    int64_t complete_n; /* dumps from the first on that are complete */
    char writer[64];    /* of the last run that wrote */
    char kernel[64];    /* of the first */
    enum io_sync sync;  /* this and what follows: of the last */
    struct io_tuning tuning;
    int hints_n;
    char hints[IO_PAST_HINTS_BYTES]; /* texts, each with its zero, one behind the other */
};

/* What the manifest of a dump file says. Rank 0 reads it. Collective. Nothing is locked: another
 * run may change it before this one opens the file. Errors as io_manifest_load. */
int io_past_read(MPI_Comm comm, const char *path, struct io_past *past);

/* Reads the manifest of the dump file called name. path: borrowed. [out] m, past. ERR_USAGE when
 * there is none, or when it is damaged or made on a machine of another byte order. */
int io_manifest_load(struct io_manifest **m, const char *path, const char *name,
                     struct io_past *past);

/* Number of "parts" of a manifest that was read, and the box of one of them: one of no cells when
 * it is damaged. */
int64_t io_manifest_parts_n(const struct io_manifest *m);
struct io_box io_manifest_part(const struct io_manifest *m, int64_t part);

/* The "inodes" of a manifest that was read; [out] ids_n. To be freed; NULL when there are none or
 * no memory. */
struct identity *io_manifest_inodes(const struct io_manifest *m, int64_t *ids_n);

/* Time step and digest (digest_words(n) words) of dump d. ERR_USAGE when they are damaged. */
int io_manifest_dump(const struct io_manifest *m, int64_t d, int64_t *step, uint64_t *digest);

/* Whether the ranks' digests of dump d (digest_words(n) words each, n that of the manifest) add up
 * to that in a manifest that was read, m on rank 0. A damaged entry is as good as a wrong one.
 * [out] step: its time step, on rank 0; has: on all. Collective. */
int io_manifest_has(MPI_Comm comm, const struct io_manifest *m, int64_t n, int64_t d,
                    const uint64_t *mine, int64_t *step, bool *has);

/* Forgets all dumps from number dumps_n on and notes that a run with this spec, and a number of its
 * own, goes on from there. merged: all is in one file, "parts" go. */
int io_manifest_resume(struct io_manifest *m, int64_t dumps_n, const struct io_spec *spec,
                       bool merged);

enum io_manifest_kind {
    IO_MANIFEST_NONE,    /* nothing there */
    IO_MANIFEST_OURS,    /* a manifest of the dump file called name */
    IO_MANIFEST_FOREIGN, /* a regular file that is something else */
    IO_MANIFEST_BLOCKED, /* no regular file: a manifest can never be put there */
};

/* What lies at path. */
enum io_manifest_kind io_manifest_identify(const char *path, const char *name);

/* Whether a manifest of the run with this number lies at path. */
bool io_manifest_is_of_run(const char *path, const char *run_id);

#endif
