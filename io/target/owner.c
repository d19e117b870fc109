/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/target/owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "io/target/parts.h"
#include "io/target/reread.h"

/* What rank 0 broadcasts. */
struct question {
    char path[IO_PATH_MAX];
    int64_t n, dump_bytes, dumps_n, complete_n;
    enum io_layout layout;
    struct io_body body;
    bool force, by_identity;
    bool read_file; /* the file is to be judged by its content */
    int64_t read_n; /* by as many dumps, those that are complete and in it */
    int64_t parts_n, ids_n;
};

static int not_ours(const char *path, enum io_owner_ask ask, const char *why)
{
    return err_set(ERR_USAGE, "%s exists and was not written by this program (%s): %s", path, why,
                   ask == IO_OWNER_RESUME || ask == IO_OWNER_SEEN
                       ? "it is not continued; choose another --out, or run without --restart and "
                         "with --force to overwrite it"
                       : "choose another --out, or --force to overwrite it");
}

/* Whether the manifest knows the file, by identity and length. */
static bool listed(const char *path, const struct identity *id, int64_t ids_n)
{
    struct identity mine;
    if (!identity_of_path(path, &mine)) return false;
    for (int64_t i = 0; i < ids_n; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): ids_n > 0, so there is a list */
        if (identity_same(mine, id[i]) && mine.bytes == id[i].bytes) return true;
    return false;
}

static bool holds_no_data(const char *path)
{
    int fd;
    if (io_reread_open(path, false, &fd) < 0) {
        err_clear();
        return false;
    }
    const bool none = lseek(fd, 0, SEEK_DATA) < 0 && errno == ENXIO;
    close(fd);
    return none;
}

/* Whether the dumps of a container can be found: where they lie in chunks its structure alone tells. */
static bool can_be_read(const char *path, const struct io_body *b)
{
    struct io_container c;
    if (b->data_offset >= 0) return true;
    const bool found = io_container_open(&c, path, b->format) == 0;
    io_container_close(&c);
    if (!found) err_clear();
    return found;
}

/* Rank 0: judges the file without reading it. [out] q->read_file: that was not enough. */
static int judge_file(const struct io_target *t, const struct identity *id, struct question *q,
                      enum io_owner_ask ask)
{
    const struct io_past *p = &t->past;
    const bool ours = t->kind == IO_MANIFEST_OURS;
    int64_t whole = 0;
    char why[IO_PATH_MAX + 64], part[IO_PLACE_PATH_MAX];
    struct stat st;
    if (t->kind == IO_MANIFEST_FOREIGN && !q->force) {
        return err_set(ERR_USAGE,
                       "%s exists and is not a manifest of %s: choose another --out, or --force to "
                       "overwrite it",
                       t->manifest, io_path_base(t->path));
    }
    if (t->journal_foreign && !q->force && ask != IO_OWNER_REMOVE)
        return err_set(ERR_USAGE,
                       "%s exists and is not a journal of %s: choose another --out, or --force to "
                       "overwrite it",
                       t->journal, io_path_base(t->manifest));
    /* Parts without their boxes cannot be read. */
    io_part_path(t->path, 0, part);
    if (ours && !t->old && !q->force && lstat(part, &st) == 0)
        return not_ours(part, ask, "the manifest that gives its place cannot be read here");
    if (t->fresh || q->force || (t->old_bytes == 0 && (ours || !t->linked))) return 0;
    snprintf(why, sizeof why, "its manifest %s is damaged", t->manifest);
    if (!t->old && !ours) snprintf(why, sizeof why, "it has no manifest %s", t->manifest);
    if (!t->old) return not_ours(t->path, ask, why);
    if (__builtin_mul_overflow(q->dump_bytes, q->dumps_n, &whole)) whole = -1;
    if (q->body.format != IO_RAW) whole = q->body.file_bytes;
    /* While a file is replaced the manifest knows the old one as well, which may be longer. */
    const bool known = listed(t->path, id, q->ids_n);
    if (known && (p->complete_n == 0 || q->by_identity)) return 0;
    if (t->old_bytes > whole) {
        snprintf(why, sizeof why, "it is longer than in %s", t->manifest);
        return not_ours(t->path, ask, why);
    }
    if (ask == IO_OWNER_SEEN) return 0;
    if (t->old_bytes == whole && holds_no_data(t->path)) return 0;
    q->read_n = num_min(io_body_holds(&q->body, q->dump_bytes, t->old_bytes), p->complete_n);
    const bool readable = q->read_n == 0 || can_be_read(t->path, &q->body);
    q->read_file = q->read_n > 0 && readable;
    if (q->read_file || (!readable && known)) return 0;
    snprintf(why, sizeof why, "it is not the file that %s is about", t->manifest);
    return not_ours(t->path, ask, why);
}

static struct io_view part_view(const struct question *q, const struct io_box *box, int64_t part)
{
    return (struct io_view){q->n, q->layout, box[part]};
}

/* Judges one part without reading it. [out] read: that was not enough. */
static int judge_part(const struct question *q, const struct io_box *box, const struct identity *id,
                      int64_t part, enum io_owner_ask ask, bool *read)
{
    char path[IO_PLACE_PATH_MAX];
    struct stat st;
    const struct io_view v = part_view(q, box, part);
    int64_t whole;
    io_part_path(q->path, part, path);
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) return 0;
    const bool fits = !__builtin_mul_overflow(io_view_bytes(&v), q->dumps_n, &whole) &&
                      (int64_t)st.st_size == whole;
    if (listed(path, id, q->ids_n) || (fits && holds_no_data(path))) return 0;
    *read = fits && q->complete_n > 0;
    return *read ? 0 : not_ours(path, ask, "it is not the part that the manifest is about");
}

/* This rank's share of a dump's digest: some planes of the file. */
static int file_digest(const struct question *q, int rank, int size, int64_t dump, uint64_t *words)
{
    const int64_t k0 = q->n * rank / size, k1 = q->n * (rank + 1) / size;
    const struct io_view v = {q->n, q->layout, {{0, 0, k0}, {q->n, q->n, k1 - k0}}};
    int fd;
    if (k0 == k1) return 0;
    TRY(io_reread_open(q->path, false, &fd));
    const struct io_reread from = {.fd = fd, .path = q->path, .body = &q->body, .dump = dump};
    const int rc = io_reread_digest(&from, &v, words);
    close(fd);
    return rc;
}

/* The same from parts: every size-th one is this rank's. One that is missing leaves a wrong digest.
 */
static int parts_digest(const struct question *q, const struct io_box *box, int rank, int size,
                        int64_t dump, uint64_t *words)
{
    char path[IO_PLACE_PATH_MAX];
    for (int64_t part = rank; part < q->parts_n; part += size) {
        const struct io_view v = part_view(q, box, part);
        struct stat st;
        int fd;
        io_part_path(q->path, part, path);
        if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) continue;
        if (io_view_bytes(&v) == 0 || (int64_t)st.st_size / io_view_bytes(&v) <= dump) continue;
        TRY(io_reread_open(path, false, &fd));
        const struct io_reread from = {
            .fd = fd, .path = path, .body = &q->body, .dump = dump, .packed = true};
        const int rc = io_reread_digest(&from, &v, words);
        close(fd);
        TRY(rc);
    }
    return 0;
}

/* Whether one of the complete dumps has its digest: of the file, or (box) of its parts. */
static int one_is_right(MPI_Comm comm, const struct io_target *t, const struct question *q,
                        const struct io_box *box, int64_t dumps_n, bool *right)
{
    const size_t bytes = (size_t)digest_words(q->n) * sizeof(uint64_t);
    uint64_t *mine = mem_new((int64_t)bytes, 1, "a digest");
    int rank, size, rc = par_agree_memory(comm, mine != NULL);
    int64_t step;
    *right = false;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int64_t d = 0; rc == 0 && d < dumps_n && !*right; d++) {
        memset(mine, 0, bytes);
        rc = par_agree(comm, box ? parts_digest(q, box, rank, size, d, mine)
                                 : file_digest(q, rank, size, d, mine));
        if (rc == 0) rc = io_manifest_has(comm, t->old, q->n, d, mine, &step, right);
    }
    free(mine);
    return rc;
}

static int judge_parts(MPI_Comm comm, const struct io_target *t, const struct question *q,
                       const struct io_box *box, const struct identity *id, enum io_owner_ask ask)
{
    int rank, size, rc = 0;
    bool read = false, any = false, right = true;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int64_t part = rank; part < q->parts_n && rc == 0; part += size) {
        bool one = false;
        rc = judge_part(q, box, id, part, ask, &one);
        read = read || one;
    }
    TRY(par_agree(comm, rc));
    TRY_MPI(MPI_Allreduce(&read, &any, 1, MPI_C_BOOL, MPI_LOR, comm));
    if (any) TRY(one_is_right(comm, t, q, box, q->complete_n, &right));
    if (right) return 0;
    return not_ours(q->path, ask, "none of the manifest's complete dumps is in its parts");
}

/* Rank 0's part of the question. */
static int ask_here(const struct io_target *t, struct question *q, struct identity **id,
                    struct io_box **box, enum io_owner_ask ask)
{
    snprintf(q->path, sizeof q->path, "%s", t->path);
    if (t->old) {
        q->n = t->past.n;
        q->layout = t->past.layout;
        q->body = t->past.body;
        q->dump_bytes = io_dump_bytes(q->layout, q->n);
        q->dumps_n = t->past.dumps_n;
        q->complete_n = t->past.complete_n;
        q->parts_n = q->force ? 0 : t->parts_n;
        *id = io_manifest_inodes(t->old, &q->ids_n);
        *box = calloc((size_t)q->parts_n + 1, sizeof **box);
        if (!*id || !*box) return mem_error("the manifest %s", t->manifest);
        for (int64_t part = 0; part < q->parts_n; part++)
            (*box)[part] = io_manifest_part(t->old, part);
    }
    return judge_file(t, *id, q, ask);
}

/* The lists of the question, on the other ranks. */
static int share_lists(MPI_Comm comm, const struct question *q, struct identity **id,
                       struct io_box **box)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank != 0) *id = mem_new(q->ids_n + 1, sizeof **id, "a list of files");
    if (rank != 0) *box = mem_new(q->parts_n + 1, sizeof **box, "a list of parts");
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): of rank 0 both are kept */
    TRY(par_agree_memory(comm, *id && *box));
    TRY_MPI(MPI_Bcast(*id, (int)(IDENTITY_WORDS * q->ids_n), MPI_INT64_T, 0, comm));
    return par_check(MPI_Bcast(*box, (int)(6 * q->parts_n), MPI_INT64_T, 0, comm), "MPI_Bcast");
}

int io_owner_check(MPI_Comm comm, const struct io_target *t, enum io_owner_ask ask, bool force)
{
    struct question q = {.force = force, .by_identity = ask == IO_OWNER_REMOVE};
    struct identity *id = NULL;
    struct io_box *box = NULL;
    int rank, rc;
    bool right = true;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_TO(out, rc, par_agree(comm, rank == 0 ? ask_here(t, &q, &id, &box, ask) : 0));
    TRY_MPI_TO(out, rc, MPI_Bcast(&q, sizeof q, MPI_BYTE, 0, comm));
    if (q.read_file) TRY_TO(out, rc, one_is_right(comm, t, &q, NULL, q.read_n, &right));
    if (!right) rc = not_ours(q.path, ask, "none of its manifest's complete dumps is in it");
    if (right && q.parts_n > 0) {
        TRY_TO(out, rc, share_lists(comm, &q, &id, &box));
        rc = judge_parts(comm, t, &q, box, id, ask);
    }
out:
    free(id);
    free(box);
    return rc;
}
