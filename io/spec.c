/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which arguments of io_file_open and io_read_open make sense, whatever the target. */
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "io/writers/hint.h"
#include "io/writers/writer.h"

/* What a container's library is asked for. */
static int format_check(const struct io_spec *s)
{
    const enum io_format format = s->writer ? io_writer_format(s->writer) : IO_RAW;
    char which[80];
    if (format == IO_RAW) return 0;
    if (s->layout == IO_RECORDS)
        return err_set(ERR_USAGE,
                       "--layout records is a format of its own, and writer %s has another one: "
                       "give it --layout mijk or ijkm",
                       s->writer);
    if (io_container_load(format) == 0) return 0;
    snprintf(which, sizeof which, "writer %.40s: ", s->writer);
    err_prefix(which);
    return ERR_USAGE;
}

int io_spec_check(const struct io_spec *s)
{
    int64_t total;
    if (s->n < 1 || s->n > IO_N_MAX)
        return err_set(ERR_USAGE, "N = %" PRId64 " is out of range", s->n);
    if (s->layout == IO_RECORDS && s->n > IO_RECORDS_N_MAX)
        return err_set(ERR_USAGE, "layout records has 32-bit record lengths and ends at N = %d",
                       IO_RECORDS_N_MAX);
    if (s->dumps_n < 1)
        return err_set(ERR_USAGE,
                       "--interval %" PRId64 ": there is no dump to write in %" PRId64
                       " steps; choose a shorter --interval, or add --last",
                       s->interval, s->steps_n);
    if (__builtin_mul_overflow(s->dumps_n, io_dump_bytes(s->layout, s->n), &total))
        return err_set(ERR_USAGE,
                       "%" PRId64 " dumps of N = %" PRId64 " are longer than 2^63 bytes: choose a "
                       "longer --interval or fewer --steps",
                       s->dumps_n, s->n);
    for (int q = 0; q < 3; q++) {
        const int64_t lo = s->box.lo[q], n = s->box.n[q];
        if (lo < 0 || n < 0 || lo > s->n || n > s->n - lo)
            return err_set(ERR_USAGE, "a rank's box reaches outside the %" PRId64 "^3 cells", s->n);
    }
    TRY(format_check(s));
    TRY(io_tuning_check(&s->tuning));
    return io_hints_check(s->hints_n, s->hints);
}
