/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_OWNER_H
#define IO_OWNER_H
/* Layer 1. Whether a file that is there is one of ours, judged by its content and not by what
 * lies beside it: a manifest stays when its file is replaced by something else. FILE is ours when
 *
 *   it is empty, and no symbolic link led to it but to the name in a manifest of ours; or
 *   it has the length in its manifest and holds no data at all (a hole, blocks never written); or
 *   its manifest calls dumps complete, it is no longer than the manifest says, and one of them has
 *   the digest given there; or
 *   its manifest calls none complete, and its length and identity (base/identity.h) are those there,
 *   of the file that was made or of the one that was about to be replaced; or
 *   it is so known, too, and a container with chunks whose structure is damaged.
 *
 * The same goes for the parts of perrank, whose digests make up a dump's together, or whose
 * identities and lengths are those in the manifest. */
#include <mpi.h>

#include "io/target/target.h"

enum io_owner_ask {
    IO_OWNER_REPLACE, /* the file is to be replaced */
    IO_OWNER_RESUME,  /* to be continued */
    IO_OWNER_SEEN,    /* the same, and one of its dumps is known to be right */
    IO_OWNER_REMOVE,  /* to be removed by the run that made it: its identity is enough */
};

/* Judges what io_target_take has found on rank 0. Collective. force: accepts any file and
 * manifest. Returns 0, ERR_USAGE when something is not ours, ERR_IO when it cannot be
 * read. */
int io_owner_check(MPI_Comm comm, const struct io_target *t, enum io_owner_ask ask, bool force);

#endif
