/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plug-in for HDF5. The structure is in version 1.8's format, which marks no file as open for
 * writing: after a kill it can be opened like any other. */
#include <errno.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/writers/format.h"

#define RANK (IO_FORMAT_DIMS + 1)

struct hdf5_file {
    hid_t file, data, space, transfer;
    bool chunked;
};

/* The library's messages are on its error stack, the cause at its bottom. */
static herr_t take_cause(unsigned n, const H5E_error2_t *e, void *text)
{
    if (n == 0) snprintf(text, IO_FORMAT_WHY, "%s", e->desc ? e->desc : "");
    return 0;
}

/* Returns -1. [out] told: whether the library has told a cause; may be NULL. */
static int failed_told(const char *what, char *why, bool *told)
{
    char cause[IO_FORMAT_WHY] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_cause, cause);
    snprintf(why, IO_FORMAT_WHY, "%.64s: %.400s", what,
             cause[0] ? cause : "the library gives no reason; is the file damaged?");
    if (told) *told = cause[0] != '\0';
    H5Eclear2(H5E_DEFAULT);
    return -1;
}

static int failed(const char *what, char *why)
{
    return failed_told(what, why, NULL);
}

/* ------------------------------------------------------------------ making a file */

/* One value, or n of them, as an attribute. file_type: on the disk. */
static bool add_attribute(hid_t of, const char *name, hid_t file_type, hid_t type,
                          const void *value)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t a = H5Acreate2(of, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = a >= 0 && H5Awrite(a, type, value) >= 0;
    if (a >= 0) H5Aclose(a);
    H5Sclose(space);
    return done;
}

static bool add_text(hid_t of, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool done =
        H5Tset_size(type, strlen(text) + 1) >= 0 && add_attribute(of, name, type, type, text);
    H5Tclose(type);
    return done;
}

static bool add_int(hid_t of, const char *name, int64_t value)
{
    return add_attribute(of, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

static bool add_real(hid_t of, const char *name, double value)
{
    return add_attribute(of, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

static bool add_file_attributes(hid_t file, const struct io_format_shape *s)
{
    return add_text(file, "title", "BT: conserved variables, a dump every few time steps") &&
           add_text(file, "source", s->source) && add_text(file, "run_id", s->run_id) &&
           add_text(file, "layout", s->layout) && add_int(file, "n", s->n) &&
           add_real(file, "dt", s->dt) && add_int(file, "interval", s->interval) &&
           add_int(file, "steps", s->steps_n);
}

/* One value for each dump. */
static bool add_series(hid_t file, const char *name, hid_t file_type, hid_t type,
                       const struct io_format_shape *s, const void *value)
{
    const hsize_t n = (hsize_t)s->dim[0];
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t d = H5Dcreate2(file, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = d >= 0 && H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0 &&
                      H5DSset_label(d, 0, s->dim_name[0]) >= 0;
    if (d >= 0) H5Dclose(d);
    H5Sclose(space);
    return done;
}

static bool add_step_and_time(hid_t file, const struct io_format_shape *s)
{
    double *time = malloc((size_t)s->dim[0] * sizeof *time);
    for (int64_t d = 0; time && d < s->dim[0]; d++)
        time[d] = (double)s->step[d] * s->dt;
    const bool done = time &&
                      add_series(file, "step", H5T_STD_I64LE, H5T_NATIVE_INT64, s, s->step) &&
                      add_series(file, "time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, s, time);
    free(time);
    return done;
}

/* The values get their place at once; they come last, since the structure was given room before. */
static bool add_solution(hid_t file, const struct io_format_shape *s, int64_t *data_offset)
{
    hsize_t dim[RANK], chunk[RANK];
    const bool chunked = s->chunk[0] > 0;
    for (int q = 0; q < RANK; q++) {
        dim[q] = (hsize_t)s->dim[q];
        chunk[q] = (hsize_t)s->chunk[q];
    }
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(RANK, dim, NULL);
    bool done = H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) >= 0 &&
                H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) >= 0 &&
                (!chunked || H5Pset_chunk(how, RANK, chunk) >= 0);
    const hid_t d =
        done ? H5Dcreate2(file, "solution", H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT)
             : -1;
    done = d >= 0 && add_text(d, "long_name", "conserved variables of the BT problem") &&
           add_text(d, "units", "1") &&
           add_text(d, "components", "density x_momentum y_momentum z_momentum energy");
    for (unsigned q = 0; done && q < RANK; q++)
        done = H5DSset_label(d, q, s->dim_name[q]) >= 0;
    *data_offset = done && !chunked ? (int64_t)H5Dget_offset(d) : -1;
    if (d >= 0) H5Dclose(d);
    H5Sclose(space);
    H5Pclose(how);
    return done;
}

/* By way of MPI-IO like all the rest: HDF5's own way wants a path that leads somewhere. */
static int hdf5_create(const struct io_format_shape *s, const char *path, int64_t *data_offset,
                       char *why)
{
    const hsize_t series_bytes = 2 * sizeof(double) * (hsize_t)s->dim[0];
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    bool done = H5Pset_fapl_mpio(access, MPI_COMM_SELF, s->info) >= 0 &&
                H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
                H5Pset_alignment(access, IO_FORMAT_PAGED_BYTES, IO_FORMAT_PAGE_BYTES) >= 0 &&
                H5Pset_meta_block_size(access, IO_FORMAT_BLOCK_BYTES) >= 0 &&
                H5Pset_small_data_block_size(access, IO_FORMAT_BLOCK_BYTES + series_bytes) >= 0 &&
                H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) >= 0;
    const hid_t file = done ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access) : -1;
    done = file >= 0 && add_file_attributes(file, s) && add_step_and_time(file, s) &&
           add_solution(file, s, data_offset);
    const int rc = done ? 0 : failed("making an HDF5 file", why);
    const bool closed = file < 0 || H5Fclose(file) >= 0;
    H5Pclose(access);
    if (rc == 0 && !closed) return failed("H5Fclose", why);
    return rc;
}

/* ------------------------------------------------------------------ using it */

static int hdf5_close(void *file, char *why)
{
    struct hdf5_file *f = file;
    const bool closed = f->file < 0 || H5Fclose(f->file) >= 0;
    if (f->space >= 0) H5Sclose(f->space);
    if (f->transfer >= 0) H5Pclose(f->transfer);
    free(f);
    return closed ? 0 : failed("H5Fclose", why);
}

static int hdf5_open(MPI_Comm comm, const char *path, bool write, bool collective, MPI_Info info,
                     void **file, char *why)
{
    struct hdf5_file *f = malloc(sizeof *f);
    *file = NULL;
    if (!f) {
        snprintf(why, IO_FORMAT_WHY, "no memory");
        return -1;
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    *f = (struct hdf5_file){-1, -1, -1, H5Pcreate(H5P_DATASET_XFER), false};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const bool ready = H5Pset_fapl_mpio(access, comm, info) >= 0 &&
                       H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
                       H5Pset_all_coll_metadata_ops(access, true) >= 0 &&
                       H5Pset_dxpl_mpio(f->transfer, collective ? H5FD_MPIO_COLLECTIVE
                                                                : H5FD_MPIO_INDEPENDENT) >= 0;
    if (ready) f->file = H5Fopen(path, write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
    if (f->file < 0)
        failed("H5Fopen", why); // while the library knows why: the next call forgets it
    H5Pclose(access);
    if (f->file < 0) {
        hdf5_close(f, (char[IO_FORMAT_WHY]){0});
        return -1;
    }
    *file = f;
    f->data = H5Dopen2(f->file, "solution", H5P_DEFAULT);
    if (f->data >= 0) f->space = H5Dget_space(f->data);
    const hid_t how = f->data >= 0 ? H5Dget_create_plist(f->data) : -1;
    f->chunked = how >= 0 && H5Pget_layout(how) == H5D_CHUNKED;
    if (how >= 0) H5Pclose(how);
    return f->space >= 0 ? 0 : failed("H5Dopen", why);
}

/* [out] memory: the values as they lie there. */
static bool select_block(const struct hdf5_file *f, int64_t dump, const struct io_format_block *b,
                         hid_t *memory)
{
    hsize_t start[RANK] = {(hsize_t)dump}, count[RANK] = {1}, values = 1;
    for (int q = 0; q < IO_FORMAT_DIMS; q++) {
        start[q + 1] = (hsize_t)b->start[q];
        count[q + 1] = (hsize_t)b->count[q];
        values *= (hsize_t)b->count[q];
    }
    const bool empty = values == 0;
    if (empty) values = 1;
    *memory = H5Screate_simple(1, &values, NULL);
    if (empty) return H5Sselect_none(*memory) >= 0 && H5Sselect_none(f->space) >= 0;
    return H5Sselect_hyperslab(f->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
}

/* A transfer has failed, on this rank alone perhaps: then the others wait for it in the collective calls of MPI-IO that
 * HDF5 did not come to. Where MPI-IO failed, which is told, the view was not set back; where a chunk was not found nothing
 * was called. */
static int failed_transfer(const struct hdf5_file *f, const char *what, bool write, char *why)
{
    MPI_File *handle = NULL;
    MPI_Offset at;
    MPI_Datatype element, type;
    MPI_Status status;
    H5FD_mpio_xfer_t mode = H5FD_MPIO_INDEPENDENT;
    char representation[MPI_MAX_DATAREP_STRING];
    int n[3], combiner = MPI_COMBINER_NAMED;
    const int errnum = errno;
    bool told;
    const int rc = failed_told(what, why, &told);
    if (H5Pget_dxpl_mpio(f->transfer, &mode) < 0 || mode != H5FD_MPIO_COLLECTIVE ||
        H5Fget_vfd_handle(f->file, H5P_DEFAULT, (void **)&handle) < 0 || !handle ||
        MPI_File_get_view(*handle, &at, &element, &type, representation) != MPI_SUCCESS)
        return rc;
    MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        MPI_Type_free(&type);
    } else if (f->chunked && !told && errnum == 0) {
        MPI_File_set_view(*handle, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        if (write)
            MPI_File_write_at_all(*handle, 0, NULL, 0, MPI_BYTE, &status);
        else
            MPI_File_read_at_all(*handle, 0, NULL, 0, MPI_BYTE, &status);
    } else {
        return rc;
    }
    MPI_File_set_view(*handle, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    return rc;
}

static int hdf5_put(void *file, int64_t dump, const struct io_format_block *b, double *values,
                    char *why)
{
    const struct hdf5_file *f = file;
    hid_t memory;
    bool done = select_block(f, dump, b, &memory);
    errno = 0;
    done = done && H5Dwrite(f->data, H5T_NATIVE_DOUBLE, memory, f->space, f->transfer, values) >= 0;
    H5Sclose(memory);
    return done ? 0 : failed_transfer(f, "H5Dwrite", true, why);
}

static int hdf5_get(void *file, int64_t dump, const struct io_format_block *b, double *values,
                    char *why)
{
    const struct hdf5_file *f = file;
    hid_t memory;
    bool done = select_block(f, dump, b, &memory);
    errno = 0;
    done = done && H5Dread(f->data, H5T_NATIVE_DOUBLE, memory, f->space, f->transfer, values) >= 0;
    H5Sclose(memory);
    return done ? 0 : failed_transfer(f, "H5Dread", false, why);
}

static int hdf5_hints(void *file, MPI_Info *info, char *why)
{
    const struct hdf5_file *f = file;
    MPI_File *handle = NULL;
    *info = MPI_INFO_NULL;
    if (H5Fget_vfd_handle(f->file, H5P_DEFAULT, (void **)&handle) < 0)
        return failed("H5Fget_vfd_handle", why);
    if (handle) MPI_File_get_info(*handle, info);
    return 0;
}

static void hdf5_library(char *text, size_t size)
{
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    snprintf(text, size, "HDF5 %u.%u.%u", major, minor, release);
}

const struct io_format_plugin nht1_format = {
    .bytes = sizeof(struct io_format_plugin),
    .create = hdf5_create,
    .open = hdf5_open,
    .put = hdf5_put,
    .get = hdf5_get,
    .put_name = {"H5Dwrite", "H5Dwrite"},
    .get_name = {"H5Dread", "H5Dread"},
    .close = hdf5_close,
    .hints = hdf5_hints,
    .library = hdf5_library,
};
