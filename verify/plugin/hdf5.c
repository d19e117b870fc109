/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serial HDF5; also the files of netCDF-4, which are HDF5. What a call leaves open is closed with
 * the library, in close. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/plugin/plugin.h"

#define CACHE_MAX (INT64_C(256) << 20) /* bytes */

/* The reason that the library gives at the place where it noticed. */
static herr_t innermost(unsigned n, const H5E_error2_t *e, void *text)
{
    if (n == 0) snprintf(text, 160, " (%.150s)", e->desc);
    return 0;
}

static int fail(struct plugin_file *f, const char *name, const char *what)
{
    char why[160] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, why);
    snprintf(f->error, sizeof f->error, "%s%s%s", name, what, why);
    return -1;
}

/* Whether chunks have a size that a dataset can be made with, and one of them fits into the file: they are read, and
 * unpacked, as a whole, at the price of so much memory. */
static bool chunks_fit(const struct plugin_file *f, hid_t set, hid_t how)
{
    hsize_t chunk[H5S_MAX_RANK], most[H5S_MAX_RANK], file_bytes;
    const int rank = H5Pget_chunk(how, H5S_MAX_RANK, chunk);
    if (rank < 0 || H5Fget_filesize(f->file, &file_bytes) < 0) return false;
    if (H5Sget_simple_extent_dims(H5Dget_space(set), NULL, most) != rank) return false;
    double bytes = (double)H5Tget_size(H5Dget_type(set));
    for (int q = 0; q < rank; q++) {
        bytes *= (double)chunk[q];
        if (most[q] != H5S_UNLIMITED && chunk[q] > most[q]) return false;
    }
    return bytes <= PLUGIN_RATIO_MAX * (double)file_bytes;
}

/* Opens a dataset whose values lie in this file. Links may lead to other files, and so may the
 * dataset itself: to raw ones, or as one that is put together. */
static hid_t open_dataset(struct plugin_file *f, const char *name)
{
    H5L_info_t link;
    if (H5Lexists(f->file, name, H5P_DEFAULT) == 0) return fail(f, name, " is not there");
    if (H5Lget_info(f->file, name, &link, H5P_DEFAULT) < 0)
        return fail(f, name, " cannot be found");
    if (link.type != H5L_TYPE_HARD) return fail(f, name, " is a link to something else");
    const hid_t set = H5Dopen2(f->file, name, H5P_DEFAULT);
    if (set < 0) return fail(f, name, " is no dataset");
    const hid_t how = H5Dget_create_plist(set);
    if (how < 0) return fail(f, name, " cannot be opened");
    const bool elsewhere = H5Pget_layout(how) == H5D_VIRTUAL || H5Pget_external_count(how) != 0;
    const bool fit = H5Pget_layout(how) != H5D_CHUNKED || chunks_fit(f, set, how);
    H5Pclose(how); /* H5close crashes on one of a virtual dataset */
    if (elsewhere) return fail(f, name, " has its values in other files");
    return fit ? set : fail(f, name, " is in chunks of an impossible size");
}

/* A chunk is read, and unpacked, for each plane that is wanted of it unless it stays in memory: so
 * all those of one index along the two slowest dimensions shall. */
static hid_t open_cached(struct plugin_file *f, const char *name, hid_t set)
{
    hsize_t chunk[PLUGIN_RANK];
    const hid_t how = H5Dget_create_plist(set), access = H5Pcreate(H5P_DATASET_ACCESS);
    if (how < 0 || H5Pget_layout(how) != H5D_CHUNKED) return set;
    if (H5Pget_chunk(how, PLUGIN_RANK, chunk) != PLUGIN_RANK) return set;
    double bytes = 8, chunks = 1;
    for (int q = 0; q < PLUGIN_RANK; q++) {
        const double along = q < 2 ? 1 : ceil((double)f->length[q] / (double)chunk[q]);
        chunks *= along;
        bytes *= along * (double)chunk[q];
    }
    for (int q = 0; q < PLUGIN_RANK; q++)
        f->chunk[q] = (int64_t)chunk[q];
    if (bytes > (double)CACHE_MAX) bytes = (double)CACHE_MAX;
    if (chunks > 100000) chunks = 100000;
    if (H5Pset_chunk_cache(access, (size_t)(100 * chunks + 1), (size_t)bytes, 1) < 0) return set;
    H5Dclose(set);
    return H5Dopen2(f->file, name, access);
}

/* Labels of dimensions are an attribute of the dataset: a list of texts of any length. */
static void get_labels(struct plugin_file *f)
{
    char *label[PLUGIN_RANK] = {NULL};
    if (H5Aexists(f->variable, "DIMENSION_LABELS") <= 0) return;
    const hid_t list = H5Aopen(f->variable, "DIMENSION_LABELS", H5P_DEFAULT);
    const hid_t type = H5Aget_type(list), space = H5Aget_space(list);
    if (H5Tis_variable_str(type) <= 0 || H5Sget_simple_extent_npoints(space) != PLUGIN_RANK) return;
    if (H5Aread(list, type, label) < 0) return;
    for (int q = 0; q < PLUGIN_RANK; q++)
        if (label[q]) snprintf(f->dimension[q], sizeof f->dimension[q], "%s", label[q]);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, label);
}

static int open_file(struct plugin_file *f, const char *path, const char *variable)
{
    unsigned major, minor, release;
    hsize_t length[PLUGIN_RANK];
    memset(f, 0, sizeof *f);
    /* A file that is only read needs no lock, which not every file system has. */
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5get_libversion(&major, &minor, &release);
    snprintf(f->library, sizeof f->library, "HDF5 %u.%u.%u", major, minor, release);
    f->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (f->file < 0) return fail(f, "HDF5", " cannot open the file");
    const hid_t set = open_dataset(f, variable);
    if (set < 0) return -1;
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    if (H5Tequal(type, H5T_IEEE_F64LE) <= 0 && H5Tequal(type, H5T_IEEE_F64BE) <= 0)
        return fail(f, variable, " is not of 8-byte IEEE numbers");
    if (H5Sget_simple_extent_ndims(space) != PLUGIN_RANK)
        return fail(f, variable, " does not have 5 dimensions");
    if (H5Sget_simple_extent_dims(space, length, NULL) < 0)
        return fail(f, variable, " has no dimensions");
    for (int q = 0; q < PLUGIN_RANK; q++)
        f->length[q] = length[q] <= INT64_MAX ? (int64_t)length[q] : INT64_MAX;
    f->variable = open_cached(f, variable, set);
    if (f->variable < 0) return fail(f, variable, " cannot be opened");
    get_labels(f);
    return 0;
}

static int read_box(struct plugin_file *f, const int64_t *from, const int64_t *count, double *to)
{
    hsize_t start[PLUGIN_RANK], n[PLUGIN_RANK];
    for (int q = 0; q < PLUGIN_RANK; q++) {
        start[q] = (hsize_t)from[q];
        n[q] = (hsize_t)count[q];
    }
    /* With the same shape on both sides chunks are not copied value by value. */
    const hid_t memory = H5Screate_simple(PLUGIN_RANK, n, NULL), file = H5Dget_space(f->variable);
    herr_t rc = H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, n, NULL);
    if (rc >= 0) rc = H5Dread(f->variable, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, to);
    if (rc < 0) fail(f, "HDF5", " cannot read its values");
    H5Sclose(memory);
    H5Sclose(file);
    return rc < 0 ? -1 : 0;
}

/* An attribute of the root group that has one element. */
static hid_t open_attribute(struct plugin_file *f, const char *name)
{
    if (H5Aexists(f->file, name) == 0) return fail(f, name, " is not there");
    const hid_t attribute = H5Aopen(f->file, name, H5P_DEFAULT);
    if (attribute < 0) return fail(f, name, " cannot be opened");
    if (H5Sget_simple_extent_npoints(H5Aget_space(attribute)) != 1)
        return fail(f, name, " is not a single value");
    return attribute;
}

static int get_text(struct plugin_file *f, const char *name, char *to, size_t size)
{
    char *text = NULL;
    const hid_t attribute = open_attribute(f, name);
    if (attribute < 0) return -1;
    const hid_t type = H5Aget_type(attribute), own = H5Tcopy(H5T_C_S1);
    if (H5Tget_class(type) != H5T_STRING) return fail(f, name, " is no text");
    const bool any_length = H5Tis_variable_str(type) > 0;
    H5Tset_cset(own, H5Tget_cset(type));
    H5Tset_size(own, any_length ? H5T_VARIABLE : size);
    if (H5Aread(attribute, own, any_length ? (void *)&text : to) < 0)
        return fail(f, name, " cannot be read");
    if (any_length) snprintf(to, size, "%s", text ? text : "");
    if (text) H5free_memory(text);
    return 0;
}

static bool is_number(hid_t type)
{
    return H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT;
}

static int get_number(struct plugin_file *f, const char *name, double *to)
{
    const hid_t attribute = open_attribute(f, name);
    if (attribute < 0) return -1;
    if (!is_number(H5Aget_type(attribute))) return fail(f, name, " is not a number");
    if (H5Aread(attribute, H5T_NATIVE_DOUBLE, to) < 0) return fail(f, name, " cannot be read");
    return 0;
}

static int get_series(struct plugin_file *f, const char *name, int64_t length, double *to)
{
    hsize_t n;
    const hid_t set = open_dataset(f, name);
    if (set < 0) return -1;
    const hid_t space = H5Dget_space(set);
    if (!is_number(H5Dget_type(set))) return fail(f, name, " is not of numbers");
    if (H5Sget_simple_extent_ndims(space) != 1 || H5Sget_simple_extent_dims(space, &n, NULL) < 0 ||
        n != (hsize_t)length)
        return fail(f, name, " does not have an entry for each dump");
    if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0)
        return fail(f, name, " cannot be read");
    return 0;
}

static void close_file(struct plugin_file *f)
{
    H5close();
    f->file = f->variable = -1;
}

extern const struct plugin nht1_plugin;
const struct plugin nht1_plugin = {open_file,  read_box,   get_text,
                                   get_number, get_series, close_file};
