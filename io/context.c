/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/context.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/par.h"

/* An empty object where there are no hints. */
static int make_info(struct io_context *c, const struct io_spec *spec)
{
    TRY_MPI(MPI_Info_create(&c->info));
    for (int h = 0; h < spec->hints_n; h++)
        TRY(par_info_add(&c->info, spec->hints[h], NULL));
    return 0;
}

/* Errors of the communicator come back as codes. */
int io_context_make(struct io_context *c, MPI_Comm comm, const struct io_spec *spec)
{
    struct io_tuning *t = &c->tuning;
    struct io_view *all;
    int64_t covered_bytes = 0;
    c->dump_bytes = io_dump_bytes(spec->layout, spec->n);
    c->dumps_n = spec->dumps_n;
    c->sync = spec->sync;
    c->inner = spec->writer ? io_writer_inner(spec->writer) : NULL;
    *t = spec->tuning;
    io_tuning_complete(t);
    if (t->call_bytes == 0) t->call_bytes = IO_CALL_BYTES;
    TRY_MPI(MPI_Comm_dup(comm, &c->comm));
    TRY_MPI(MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN));
    TRY_MPI(MPI_Comm_rank(c->comm, &c->rank));
    TRY_MPI(MPI_Comm_size(c->comm, &c->size));
    c->all_views = all = mem_new(c->size, sizeof *all, "the ranks' cells");
    TRY(par_agree_memory(c->comm, all != NULL));
    c->view = &all[c->rank];
    all[c->rank] = (struct io_view){spec->n, spec->layout, spec->box};
    TRY_MPI(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, (int)sizeof *all, MPI_BYTE,
                          c->comm));
    for (int r = 0; r < c->size; r++)
        covered_bytes += io_view_bytes(&all[r]);
    if (covered_bytes != c->dump_bytes)
        return err_set(ERR_USAGE, "the ranks' boxes hold %" PRId64 " bytes of a dump of %" PRId64,
                       covered_bytes, c->dump_bytes);
    return par_agree(c->comm, make_info(c, spec));
}

void io_context_free(struct io_context *c)
{
    if (c->info != MPI_INFO_NULL) MPI_Info_free(&c->info);
    if (c->comm != MPI_COMM_NULL) MPI_Comm_free(&c->comm);
    free((void *)c->all_views);
    c->all_views = NULL;
}
