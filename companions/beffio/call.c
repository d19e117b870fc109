/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/call.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/par.h"
#include "base/sys.h"
#include "io/writers/guard.h"
#include "io/writers/mpiio.h"

typedef int call_write(MPI_File, const void *, int, MPI_Datatype, MPI_Status *);
typedef int call_read(MPI_File, void *, int, MPI_Datatype, MPI_Status *);

enum call_form { ORDERED, ALL, ALONE };

static const struct {
    const char *write_name, *read_name;
    call_write *write;
    call_read *read;
} call_forms[] = {
    [ORDERED] = {"MPI_File_write_ordered", "MPI_File_read_ordered", MPI_File_write_ordered,
                 MPI_File_read_ordered},
    [ALL] = {"MPI_File_write_all", "MPI_File_read_all", MPI_File_write_all, MPI_File_read_all},
    [ALONE] = {"MPI_File_write", "MPI_File_read", MPI_File_write, MPI_File_read},
};

static enum call_form call_form_of(const struct beffio_file *f)
{
    static const enum call_form by_type[BEFFIO_TYPES] = {ALL, ORDERED, ALONE, ALONE, ALL};
    if (f->type == BEFFIO_SHARED && !f->shared_pointer) return ALL;
    return by_type[f->type];
}

/* Whether all ranks set a view for each pattern. */
static bool is_strided(const struct beffio_file *f)
{
    return f->type == BEFFIO_SCATTER || (f->type == BEFFIO_SHARED && !f->shared_pointer);
}

bool beffio_file_collective(const struct beffio_file *f)
{
    return call_form_of(f) != ALONE;
}

/* The function that moves the data, for messages: "MPI_File_write_ordered". */
static const char *function_of(const struct beffio_file *f)
{
    const enum call_form form = call_form_of(f);
    return f->access == BEFFIO_READ ? call_forms[form].read_name : call_forms[form].write_name;
}

static int check(const struct beffio_file *f, int mpi_rc, const char *call)
{
    if (mpi_rc == MPI_SUCCESS) return 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;
    MPI_Error_string(mpi_rc, text, &len);
    return err_set(ERR_IO, "%s on %s, type %d: %s", call, f->path, (int)f->type, text);
}

const char *beffio_advice(const char *full)
{
    return full[0] ? "; free some space, give another -p, or a smaller --max-space" : "";
}

static int short_call(const struct beffio_file *f, int64_t bytes, int64_t done)
{
    const char *full = f->access != BEFFIO_READ ? sys_full_words(f->path, bytes) : "";
    return err_set(ERR_IO, "%s, pattern %d: moved %" PRId64 " of %" PRId64 " bytes of %s%s%s",
                   function_of(f), f->pattern, done, bytes, f->path, full, beffio_advice(full));
}

/* A status of an error may say anything: the count is asked for only after success. A write may have failed that the
 * library took for done (io/writers/guard.h). */
static int post_check(const struct beffio_file *f, int64_t bytes, int mpi_rc,
                      const MPI_Status *status)
{
    const int errnum = io_guard_errnum();
    MPI_Count done = 0;
    if (mpi_rc == MPI_SUCCESS) {
        if (MPI_Get_elements_x(status, MPI_BYTE, &done) != MPI_SUCCESS) done = -1;
        if (done != bytes) return short_call(f, bytes, (int64_t)done);
        if (errnum == 0) return 0;
    }
    if (f->access != BEFFIO_READ && sys_full_words(f->path, bytes)[0])
        return short_call(f, bytes, 0);
    if (mpi_rc != MPI_SUCCESS) return check(f, mpi_rc, function_of(f));
    return err_set_errno(ERR_IO, errnum, "%s, pattern %d, on %s", function_of(f), f->pattern,
                         f->path);
}

/* The info object of a spot: MPI_INFO_NULL when no hint applies. */
static int info_make(const struct beffio_file *f, int pos, MPI_Info *info)
{
    const struct beffio_spot at = {f->procs, f->access, f->type, pos};
    *info = MPI_INFO_NULL;
    for (int i = 0; f->hints && i < f->hints->n; i++) {
        const struct beffio_hint *h = &f->hints->hint[i];
        if (!beffio_hint_applies(h, &at)) continue;
        TRY(par_info_add(info, h->key, h->value));
    }
    return 0;
}

static void info_free(MPI_Info *info)
{
    if (*info != MPI_INFO_NULL) MPI_Info_free(info);
}

int beffio_file_open(struct beffio_file *f)
{
    MPI_Info info;
    f->fh = MPI_FILE_NULL;
    f->viewed = false;
    const int rc = info_make(f, BEFFIO_ON_OPEN, &info);
    const int mode = (f->access == BEFFIO_READ ? MPI_MODE_RDONLY : MPI_MODE_RDWR) |
                     (f->unique ? MPI_MODE_UNIQUE_OPEN : 0);
    const MPI_Comm comm = f->type == BEFFIO_SEPARATE ? MPI_COMM_SELF : f->comm;
    const struct io_context guarded = {.comm = comm, .rank = f->rank, .path = f->path};
    io_guard_begin(&guarded);
    io_guard_at(IO_GUARD_OPENING);
    const int mpi_rc = par_file_open(comm, f->path, mode, info, &f->fh);
    io_guard_at(NULL);
    const int opened = io_mpiio_check(&guarded, mpi_rc, IO_GUARD_OPENING);
    io_guard_end(&guarded);
    info_free(&info);
    return rc < 0 ? rc : opened;
}

/* words doubles in a row, also where an int cannot count them. */
static int words_type(int64_t words, MPI_Datatype *out)
{
    enum { BLOCK = 1 << 20 };
    MPI_Datatype block, body;
    if (words <= INT_MAX) {
        TRY_MPI(MPI_Type_contiguous((int)words, MPI_DOUBLE, out));
        return 0;
    }
    TRY_MPI(MPI_Type_contiguous(BLOCK, MPI_DOUBLE, &block));
    TRY_MPI(MPI_Type_contiguous((int)(words / BLOCK), block, &body));
    TRY_MPI(MPI_Type_free(&block));
    const int64_t rest = words % BLOCK;
    const int lengths[2] = {1, (int)rest};
    const MPI_Aint places[2] = {0, (MPI_Aint)((words - rest) * BEFFIO_WORD_BYTES)};
    const MPI_Datatype types[2] = {body, MPI_DOUBLE};
    TRY_MPI(MPI_Type_create_struct(2, lengths, places, types, out));
    TRY_MPI(MPI_Type_free(&body));
    return 0;
}

/* A chunk of l bytes at the beginning of n l bytes. */
static int stride_type(const struct beffio_place *p, MPI_Datatype *out)
{
    MPI_Datatype chunk;
    TRY(words_type(p->chunk_bytes / BEFFIO_WORD_BYTES, &chunk));
    TRY_MPI(MPI_Type_create_resized(chunk, 0, (MPI_Aint)p->step_bytes, out));
    TRY_MPI(MPI_Type_free(&chunk));
    TRY_MPI(MPI_Type_commit(out));
    return 0;
}

/* A rank without memory for the type still takes part: otherwise the others would wait. */
static int view_set(struct beffio_file *f, MPI_Info info)
{
    static char native[] = "native";
    MPI_Datatype type = MPI_DOUBLE;
    const bool strided = is_strided(f);
    const MPI_Offset from = f->type == BEFFIO_SHARED && !strided
                                ? f->at.base_bytes
                                : beffio_chunk_offset(&f->at, f->rank, 0);
    const int rc = strided ? stride_type(&f->at, &type) : 0;
    if (rc < 0) type = MPI_DOUBLE;
    const int mpi_rc = MPI_File_set_view(f->fh, from, MPI_DOUBLE, type, native, info);
    if (type != MPI_DOUBLE) MPI_Type_free(&type);
    f->viewed = true;
    const int set = check(f, mpi_rc, "MPI_File_set_view");
    return rc < 0 ? rc : set;
}

/* The chunk size that hints know a pattern by; a fill-up's is on no list, so that only "all" is for
 * it. */
static int hint_position(int pattern)
{
    const struct beffio_pattern p = beffio_pattern(pattern, BEFFIO_WORD_BYTES);
    const int one_mb = 5, none = BEFFIO_POSITIONS + 1;
    if (p.fill) return none;
    return p.pos >= 1 && p.pos <= BEFFIO_POSITIONS ? p.pos : one_mb;
}

int beffio_file_view(struct beffio_file *f, int pattern, const struct beffio_place *at)
{
    MPI_Info info;
    f->pattern = pattern;
    f->at = *at;
    const int made = info_make(f, hint_position(pattern), &info);
    int set = 0;
    if (!f->viewed || is_strided(f))
        set = view_set(f, info);
    else if (info != MPI_INFO_NULL) /* with what hints it has: the others are there, too */
        set = check(f, MPI_File_set_info(f->fh, info), "MPI_File_set_info");
    info_free(&info);
    return made < 0 ? made : set;
}

int beffio_file_call(struct beffio_file *f, void *buf)
{
    const enum call_form form = call_form_of(f);
    const bool writes = f->access != BEFFIO_READ;
    const int64_t bytes = f->at.chunks_per_call * f->at.chunk_bytes;
    const int64_t most = form == ORDERED ? bytes : f->post_bytes;
    int rc = 0;
    for (int64_t from = 0, n; from < bytes && (rc == 0 || form != ALONE); from += n) {
        MPI_Status status;
        void *part = (char *)buf + from;
        n = bytes - from < most ? bytes - from : most;
        memset(&status, 0, sizeof status);
        const int words = (int)(n / BEFFIO_WORD_BYTES);
        if (writes) io_guard_at(function_of(f));
        const int mpi_rc = writes ? call_forms[form].write(f->fh, part, words, MPI_DOUBLE, &status)
                                  : call_forms[form].read(f->fh, part, words, MPI_DOUBLE, &status);
        io_guard_at(NULL);
        const int moved = post_check(f, n, mpi_rc, &status);
        if (rc == 0) rc = moved;
    }
    return rc;
}

int beffio_file_sync(struct beffio_file *f)
{
    return check(f, MPI_File_sync(f->fh), "MPI_File_sync");
}

int beffio_file_close(struct beffio_file *f)
{
    if (f->fh == MPI_FILE_NULL) return 0;
    return check(f, MPI_File_close(&f->fh), "MPI_File_close");
}
