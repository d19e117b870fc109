/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_TARGET_H
#define IO_TARGET_H
/* Layer 1. The path that a run writes to, and its names: data file FILE, manifest FILE.json and its
 * journal FILE.json.journal, lock FILE.lock, parts FILE.rank00000 (io/target/parts.h), temporaries FILE.json.XXXXXXXX.tmp and
 * FILE.nht1.XXXXXXXX.tmp. For rank 0: checks that the path can be written, locks it, and looks at what
 * lies there. io/target/owner.h decides whose that is, io/target/place.h proves room. Lock and temporaries
 * are removed after a kill, too (base/own.h). Nothing else that exists is changed here but by io_target_sweep and
 * io_target_remove. Local. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "io/target/manifest.h"

enum { IO_PATH_MAX = PATH_MAX };

struct io_target {
    char path[IO_PATH_MAX]; /* as given; a symbolic link is replaced by what it leads to */
    char manifest[IO_PATH_MAX + 8];
    char journal[IO_PATH_MAX + 16];
    char lock[IO_PATH_MAX + 8];
    char stem[IO_PATH_MAX + 8]; /* second files begin with it */
    struct own *own;            /* the lock, and temporaries; NULL: the caller has them */
    bool locked;
    bool linked;                /* a symbolic link led here */
    bool fresh;                 /* there is no file */
    int64_t old_bytes;          /* length of the old file */
    enum io_manifest_kind kind; /* of what lies in the manifest's place */
    struct io_manifest *old;    /* the old manifest, NULL when it is none of ours or damaged */
    struct io_past past;        /* what it says, with its journal */
    bool journal_foreign;       /* what has the journal's name is none */
    int64_t parts_n;            /* files of single ranks that it lists */
};

/* Checks the path, takes the lock, looks at file and manifest. t need not be initialised; to be
 * given to io_target_release, after an error too. held: the lock that the caller has and keeps, or
 * NULL. Nothing that is there is judged. */
int io_target_take(struct io_target *t, const char *path, const struct io_lock *held);

/* Removes what a killed run may have left: regular files that are named as temporaries of this
 * path's. While the lock is held. */
void io_target_sweep(const struct io_target *t);

/* Drops the lock, frees the manifest. */
void io_target_release(struct io_target *t);

/* Removes data file, parts, manifest and journal: while the lock is held, and once they were found ours. */
int io_target_remove(const struct io_target *t);

/* The last component of a path. Borrowed. */
const char *io_path_base(const char *path);

#endif
