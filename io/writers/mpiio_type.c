/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Datatypes of the MPI-IO writers, all of them in bytes. Dimensions and counts are ints, byte sizes
 * are MPI_Aint: what may exceed an int is put into displacements. */
#include "io/writers/mpiio.h"

#include "base/err.h"
#include "base/par.h"

/* From my part of one payload to my part of all records: each gets its markers, those that are not
 * mine with length 0. payload is freed. */
static int type_records(const struct io_view *v, MPI_Datatype payload, MPI_Datatype *out)
{
    const struct io_markers mine = io_view_markers(v);
    const int64_t record_bytes = io_dump_bytes(IO_RECORDS, v->n) / v->n;
    const int lengths[3] = {(int)mine.lead, 1, (int)mine.trail};
    const MPI_Aint places[3] = {0, IO_MARKER_BYTES, (MPI_Aint)(record_bytes - IO_MARKER_BYTES)};
    const MPI_Datatype types[3] = {MPI_BYTE, payload, MPI_BYTE};
    const int n = (int)v->n, part = (int)v->box.n[2], start = (int)v->box.lo[2];
    MPI_Datatype framed, record;
    TRY_MPI(MPI_Type_create_struct(3, lengths, places, types, &framed));
    TRY_MPI(MPI_Type_create_resized(framed, 0, (MPI_Aint)record_bytes, &record));
    TRY_MPI(MPI_Type_create_subarray(1, &n, &part, &start, MPI_ORDER_C, record, out));
    TRY_MPI(MPI_Type_free(&payload));
    TRY_MPI(MPI_Type_free(&framed));
    TRY_MPI(MPI_Type_free(&record));
    return 0;
}

/* My box of [k][j][row of 40 N bytes] (mijk), of [m][k][j][row of 8 N bytes] (ijkm), or of one
 * plane's [m][j][row of 8 N bytes] (records). */
int io_mpiio_view_type(const struct io_view *v, MPI_Datatype *out)
{
    const struct io_box *b = &v->box;
    const bool records = v->layout == IO_RECORDS;
    const int n = (int)v->n, first = v->layout == IO_IJKM ? 0 : 1;
    const int cell = v->layout == IO_MIJK ? IO_NCOMP * IO_WORD_BYTES : IO_WORD_BYTES;
    const int slow = records ? IO_NCOMP : n, mine = records ? IO_NCOMP : (int)b->n[2];
    const int sizes[4] = {IO_NCOMP, slow, n, n * cell};
    const int parts[4] = {IO_NCOMP, mine, (int)b->n[1], (int)b->n[0] * cell};
    const int starts[4] = {0, records ? 0 : (int)b->lo[2], (int)b->lo[1], (int)b->lo[0] * cell};
    MPI_Datatype box;
    TRY_MPI(MPI_Type_create_subarray(4 - first, sizes + first, parts + first, starts + first,
                                     MPI_ORDER_C, MPI_BYTE, &box));
    *out = box;
    if (records) TRY(type_records(v, box, out));
    TRY_MPI(MPI_Type_commit(out));
    return 0;
}
