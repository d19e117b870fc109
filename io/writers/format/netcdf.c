/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plug-in for netCDF: PnetCDF and its format CDF-5, whose values are big endian. It has no sync: in
 * PnetCDF's ranks wait for one whose own has failed, and there is nothing but fsync in it. */
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/writers/format.h"

#define RANK      (IO_FORMAT_DIMS + 1)
#define ALIGNMENT 4096 /* of the values: they begin with a page */

struct netcdf_file {
    int id, data;
    bool collective;
};

static int failed(const char *what, int rc, char *why)
{
    snprintf(why, IO_FORMAT_WHY, "%.64s: %.400s", what, ncmpi_strerror(rc));
    return -1;
}

/* Calls one after the other, as long as they succeed. */
#define NC(call)                                                                                   \
    do {                                                                                           \
        if (rc == NC_NOERR) rc = (call);                                                           \
    } while (0)

static int put_text(int id, int of, const char *name, const char *text)
{
    return ncmpi_put_att_text(id, of, name, (MPI_Offset)strlen(text), text);
}

static int put_int(int id, const char *name, int64_t value)
{
    const long long x = value;
    return ncmpi_put_att_longlong(id, NC_GLOBAL, name, NC_INT64, 1, &x);
}

/* [out] var: of step, time and solution. */
static int define(int id, const struct io_format_shape *s, int var[3])
{
    int dim[RANK], rc = NC_NOERR;
    for (int q = 0; q < RANK; q++)
        NC(ncmpi_def_dim(id, s->dim_name[q], (MPI_Offset)s->dim[q], &dim[q]));
    NC(ncmpi_def_var(id, "step", NC_INT64, 1, dim, &var[0]));
    NC(ncmpi_def_var(id, "time", NC_DOUBLE, 1, dim, &var[1]));
    NC(ncmpi_def_var(id, "solution", NC_DOUBLE, RANK, dim, &var[2]));
    NC(put_text(id, var[2], "long_name", "conserved variables of the BT problem"));
    NC(put_text(id, var[2], "units", "1"));
    NC(put_text(id, var[2], "components", "density x_momentum y_momentum z_momentum energy"));
    NC(put_text(id, NC_GLOBAL, "title", "BT: conserved variables, a dump every few time steps"));
    NC(put_text(id, NC_GLOBAL, "source", s->source));
    NC(put_text(id, NC_GLOBAL, "run_id", s->run_id));
    NC(put_text(id, NC_GLOBAL, "layout", s->layout));
    NC(put_int(id, "n", s->n));
    NC(ncmpi_put_att_double(id, NC_GLOBAL, "dt", NC_DOUBLE, 1, &s->dt));
    NC(put_int(id, "interval", s->interval));
    NC(put_int(id, "steps", s->steps_n));
    return rc;
}

static int put_step_and_time(int id, const struct io_format_shape *s, const int var[3])
{
    const size_t n = (size_t)s->dim[0];
    long long *step = calloc(n, sizeof *step);
    double *time = calloc(n, sizeof *time);
    int rc = step && time ? NC_NOERR : NC_ENOMEM;
    for (size_t d = 0; rc == NC_NOERR && d < n; d++) {
        step[d] = s->step[d];
        time[d] = (double)s->step[d] * s->dt;
    }
    NC(ncmpi_put_var_longlong_all(id, var[0], step));
    NC(ncmpi_put_var_double_all(id, var[1], time));
    free(step);
    free(time);
    return rc;
}

/* The header is made twice: the second time with as much room behind it that the values, which come
 * last, begin where they should. */
static int netcdf_create(const struct io_format_shape *s, const char *path, int64_t *data_offset,
                         char *why)
{
    int id = -1, var[3];
    MPI_Offset at = 0;
    int rc = ncmpi_create(MPI_COMM_SELF, path, NC_CLOBBER | NC_64BIT_DATA, s->info, &id);
    if (rc != NC_NOERR) return failed("ncmpi_create", rc, why);
    NC(define(id, s, var));
    NC(ncmpi__enddef(id, 0, 8, 0, 8));
    NC(ncmpi_inq_varoffset(id, var[2], &at));
    NC(ncmpi_redef(id));
    NC(ncmpi__enddef(id, (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT, 8, 0, 8));
    NC(ncmpi_inq_varoffset(id, var[2], &at));
    NC(put_step_and_time(id, s, var));
    const int close_rc = ncmpi_close(id);
    *data_offset = (int64_t)at;
    if (rc != NC_NOERR) return failed("making a netCDF file", rc, why);
    return close_rc == NC_NOERR ? 0 : failed("ncmpi_close", close_rc, why);
}

static int netcdf_open(MPI_Comm comm, const char *path, bool write, bool collective, MPI_Info info,
                       void **file, char *why)
{
    struct netcdf_file *f = malloc(sizeof *f);
    int rc = f ? NC_NOERR : NC_ENOMEM;
    *file = NULL;
    NC(ncmpi_open(comm, path, write ? NC_WRITE : NC_NOWRITE, info, &f->id));
    if (rc != NC_NOERR) {
        free(f);
        return failed("ncmpi_open", rc, why);
    }
    *file = f;
    f->collective = collective;
    NC(ncmpi_inq_varid(f->id, "solution", &f->data));
    if (!collective) NC(ncmpi_begin_indep_data(f->id));
    return rc == NC_NOERR ? 0 : failed("ncmpi_open", rc, why);
}

/* A block in the types that the library takes. */
struct place {
    MPI_Offset start[RANK], count[RANK];
};

static struct place place_of(int64_t dump, const struct io_format_block *b)
{
    struct place p = {{(MPI_Offset)dump}, {1}};
    for (int q = 0; q < IO_FORMAT_DIMS; q++) {
        p.start[q + 1] = (MPI_Offset)b->start[q];
        p.count[q + 1] = (MPI_Offset)b->count[q];
    }
    return p;
}

static int netcdf_put(void *file, int64_t dump, const struct io_format_block *b, double *values,
                      char *why)
{
    const struct netcdf_file *f = file;
    const struct place p = place_of(dump, b);
    const int rc = f->collective
                       ? ncmpi_put_vara_double_all(f->id, f->data, p.start, p.count, values)
                       : ncmpi_put_vara_double(f->id, f->data, p.start, p.count, values);
    return rc == NC_NOERR ? 0 : failed(nht1_format.put_name[f->collective], rc, why);
}

static int netcdf_get(void *file, int64_t dump, const struct io_format_block *b, double *values,
                      char *why)
{
    const struct netcdf_file *f = file;
    const struct place p = place_of(dump, b);
    const int rc = f->collective
                       ? ncmpi_get_vara_double_all(f->id, f->data, p.start, p.count, values)
                       : ncmpi_get_vara_double(f->id, f->data, p.start, p.count, values);
    return rc == NC_NOERR ? 0 : failed(nht1_format.get_name[f->collective], rc, why);
}

static int netcdf_close(void *file, char *why)
{
    struct netcdf_file *f = file;
    const int rc = ncmpi_close(f->id);
    free(f);
    return rc == NC_NOERR ? 0 : failed("ncmpi_close", rc, why);
}

static int netcdf_hints(void *file, MPI_Info *info, char *why)
{
    const struct netcdf_file *f = file;
    const int rc = ncmpi_inq_file_info(f->id, info);
    return rc == NC_NOERR ? 0 : failed("ncmpi_inq_file_info", rc, why);
}

/* "1.12.3 of 21 Oct 2022" */
static void netcdf_library(char *text, size_t size)
{
    snprintf(text, size, "PnetCDF %s", ncmpi_inq_libvers());
}

const struct io_format_plugin nht1_format = {
    .bytes = sizeof(struct io_format_plugin),
    .create = netcdf_create,
    .open = netcdf_open,
    .put = netcdf_put,
    .get = netcdf_get,
    .put_name = {"ncmpi_put_vara_double", "ncmpi_put_vara_double_all"},
    .get_name = {"ncmpi_get_vara_double", "ncmpi_get_vara_double_all"},
    .close = netcdf_close,
    .hints = netcdf_hints,
    .library = netcdf_library,
};
