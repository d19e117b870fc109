/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Datatypes of the MPI-IO writers, all of them in bytes. Dimensions and counts are ints, byte sizes
 * are MPI_Aint: what may exceed an int is put into displacements. */
#include "io/mpiio.h"

#include "base/err.h"
#include "base/par.h"

/* Takes over what was made of old and frees old. */
static int replace(MPI_Datatype *type, MPI_Datatype made)
{
    MPI_Datatype old = *type;
    *type = made;
    TRY_MPI(MPI_Type_free(&old));
    return 0;
}

/* [k][j][row of 40 N bytes] */
static int type_mijk(const struct io_view *v, MPI_Datatype *out)
{
    const int point = IO_NCOMP * IO_WORD_BYTES, n = (int)v->n;
    const int sizes[3] = {n, n, n * point};
    const int parts[3] = {(int)v->box.n[2], (int)v->box.n[1], (int)v->box.n[0] * point};
    const int starts[3] = {(int)v->box.lo[2], (int)v->box.lo[1], (int)v->box.lo[0] * point};
    TRY_MPI(MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, out));
    return 0;
}

/* [m][k][j][row of 8 N bytes] */
static int type_ijkm(const struct io_view *v, MPI_Datatype *out)
{
    const int word = IO_WORD_BYTES, n = (int)v->n;
    const int sizes[4] = {IO_NCOMP, n, n, n * word};
    const int parts[4] = {IO_NCOMP, (int)v->box.n[2], (int)v->box.n[1], (int)v->box.n[0] * word};
    const int starts[4] = {0, (int)v->box.lo[2], (int)v->box.lo[1], (int)v->box.lo[0] * word};
    TRY_MPI(MPI_Type_create_subarray(4, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, out));
    return 0;
}

/* The payload of one record: [m][j][row of 8 N bytes] */
static int type_payload(const struct io_view *v, MPI_Datatype *out)
{
    const int word = IO_WORD_BYTES, n = (int)v->n;
    const int sizes[3] = {IO_NCOMP, n, n * word};
    const int parts[3] = {IO_NCOMP, (int)v->box.n[1], (int)v->box.n[0] * word};
    const int starts[3] = {0, (int)v->box.lo[1], (int)v->box.lo[0] * word};
    TRY_MPI(MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, out));
    return 0;
}

/* One record: marker, payload, marker, those markers with length 0 that are not mine. */
static int type_record(const struct io_view *v, MPI_Datatype *out)
{
    const struct io_box *b = &v->box;
    const int64_t record_bytes = io_dump_bytes(IO_RECORDS, v->n) / v->n;
    bool first = b->lo[0] == 0 && b->lo[1] == 0;
    bool last = b->lo[0] + b->n[0] == v->n && b->lo[1] + b->n[1] == v->n;
    const int lengths[3] = {first ? IO_MARKER_BYTES : 0, 1, last ? IO_MARKER_BYTES : 0};
    const MPI_Aint places[3] = {0, IO_MARKER_BYTES, (MPI_Aint)(record_bytes - IO_MARKER_BYTES)};
    MPI_Datatype types[3] = {MPI_BYTE, MPI_DATATYPE_NULL, MPI_BYTE}, made;
    TRY(type_payload(v, &types[1]));
    TRY_MPI(MPI_Type_create_struct(3, lengths, places, types, out));
    TRY_MPI(MPI_Type_free(&types[1]));
    TRY_MPI(MPI_Type_create_resized(*out, 0, (MPI_Aint)record_bytes, &made));
    return replace(out, made);
}

static int type_records(const struct io_view *v, MPI_Datatype *out)
{
    const int n = (int)v->n, part = (int)v->box.n[2], start = (int)v->box.lo[2];
    MPI_Datatype record;
    TRY(type_record(v, &record));
    TRY_MPI(MPI_Type_create_subarray(1, &n, &part, &start, MPI_ORDER_C, record, out));
    TRY_MPI(MPI_Type_free(&record));
    return 0;
}

int io_mpiio_view_type(const struct io_view *v, MPI_Datatype *out)
{
    static int (*const make[])(const struct io_view *, MPI_Datatype *) = {
        [IO_MIJK] = type_mijk,
        [IO_IJKM] = type_ijkm,
        [IO_RECORDS] = type_records,
    };
    TRY(make[v->layout](v, out));
    TRY_MPI(MPI_Type_commit(out));
    return 0;
}
