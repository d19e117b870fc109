/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns a raw dump file of layout mijk or ijkm into one in HDF5 or netCDF, from docs/format.md
 * section 7 alone and through the serial libraries, for tests of readers:
 *
 *     mkcontainer RAW FILE hdf5|netcdf [WORD...]
 *
 * RAW.json becomes FILE.json. Words, of hdf5: chunked, deflate, big (byte order), float, rank4,
 * missing, group, link, external, virtual; of netcdf: cdf1, cdf2, netcdf4, float, missing; of both:
 * names (of dimensions: others), bare (no attributes), astray (the step of the second dump). */
#ifdef HAVE_HDF5
#include <hdf5.h>
#endif
#include <inttypes.h>
#include <jansson.h>
#ifdef HAVE_NETCDF
#include <netcdf.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANK = 5 };

struct job {
    char **words;
    const char *raw, *path, *layout, *run_id;
    json_t *manifest;
    size_t length[RANK];
    int64_t n, steps, interval, dumps;
    double dt;
    double *values;
    int64_t *step;
    double *time;
};

static const char *const dimensions[2][RANK] = {{"dump", "z", "y", "x", "component"},
                                                {"dump", "component", "z", "y", "x"}};

static void need(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "mkcontainer: %s\n", what);
    exit(3);
}

static int said(const struct job *job, const char *word)
{
    for (char **w = job->words; *w; w++)
        if (strcmp(*w, word) == 0) return 1;
    return 0;
}

static const char *dimension(const struct job *job, int q)
{
    if (q == 1 && said(job, "names")) return "height";
    return dimensions[strcmp(job->layout, "ijkm") == 0][q];
}

static void read_raw(struct job *job)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.json", job->raw);
    json_t *m = job->manifest = json_load_file(name, 0, NULL);
    need(m != NULL, name);
    json_int_t n, steps, interval, dumps;
    need(json_unpack(m, "{s:I,s:I,s:I,s:I,s:f,s:s,s:s}", "n", &n, "steps", &steps, "interval",
                     &interval, "dumps_planned", &dumps, "dt", &job->dt, "layout", &job->layout,
                     "run_id", &job->run_id) == 0,
         "the manifest");
    job->n = n;
    job->steps = steps;
    job->interval = interval;
    job->dumps = dumps;
    const int slow = strcmp(job->layout, "ijkm") == 0;
    for (int q = 0; q < RANK; q++)
        job->length[q] = (size_t)n;
    job->length[0] = (size_t)dumps;
    job->length[slow ? 1 : 4] = 5;
    const size_t count = (size_t)(dumps * 5 * n * n * n);
    job->values = malloc(count * 8);
    job->step = calloc((size_t)dumps, 8);
    job->time = calloc((size_t)dumps, 8);
    FILE *from = fopen(job->raw, "r");
    need(from && fread(job->values, 8, count, from) == count, job->raw);
    fclose(from);
    for (int64_t d = 0; d < dumps; d++) {
        job->step[d] = (d + 1) * interval;
        job->time[d] = (double)job->step[d] * job->dt;
    }
    if (said(job, "astray")) job->step[1]--;
}

static void write_manifest(struct job *job, const char *format)
{
    char name[4096];
    const char *slash = strrchr(job->path, '/');
    snprintf(name, sizeof name, "%s.json", job->path);
    json_object_set_new(job->manifest, "file", json_string(slash ? slash + 1 : job->path));
    json_object_set_new(job->manifest, "format", json_string(format));
    json_object_set_new(job->manifest, "variable", json_string("solution"));
    need(json_dump_file(job->manifest, name, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0, name);
}

#ifdef HAVE_HDF5
static void h5_text(hid_t at, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text));
    const hid_t a = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    need(H5Awrite(a, type, text) >= 0, name);
}

static void h5_number(hid_t at, const char *name, hid_t type, const void *value)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t a = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    need(H5Awrite(a, type, value) >= 0, name);
}

/* As H5DSset_label does it. */
static void h5_labels(const struct job *job, hid_t set)
{
    const char *label[RANK];
    const hsize_t rank = RANK;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &rank, NULL);
    for (int q = 0; q < RANK; q++)
        label[q] = dimension(job, q);
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t a = H5Acreate2(set, "DIMENSION_LABELS", type, space, H5P_DEFAULT, H5P_DEFAULT);
    need(H5Awrite(a, type, label) >= 0, "labels");
}

static void h5_series(const struct job *job, hid_t file, const char *name, hid_t type,
                      const void *values)
{
    const hsize_t n = (hsize_t)job->dumps;
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    need(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, name);
}

/* The dataset with the values, in whatever way was asked for. */
static void h5_solution(const struct job *job, hid_t file, const char *name)
{
    hsize_t length[RANK], chunk[RANK];
    int rank = RANK;
    hid_t type = said(job, "big") ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    for (int q = 0; q < RANK; q++) {
        length[q] = job->length[q];
        chunk[q] = q == 0 ? 1 : length[q] > 5 ? 5 : length[q];
    }
    if (said(job, "rank4")) {
        length[3] *= length[4];
        rank = 4;
    }
    const hid_t space = H5Screate_simple(rank, length, NULL);
    if (said(job, "float")) type = H5T_IEEE_F32LE;
    if (said(job, "chunked") || said(job, "deflate")) H5Pset_chunk(how, RANK, chunk);
    if (said(job, "deflate")) H5Pset_deflate(how, 1);
    if (said(job, "external")) H5Pset_external(how, job->raw, 0, H5F_UNLIMITED);
    if (said(job, "virtual")) H5Pset_virtual(how, space, job->raw, "solution", space);
    const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    need(set >= 0, name);
    if (!said(job, "external") && !said(job, "virtual"))
        need(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, job->values) >= 0,
             name);
    if (rank == RANK) h5_labels(job, set);
}

static void write_hdf5(struct job *job)
{
    const hid_t file = H5Fcreate(job->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    need(file >= 0, job->path);
    if (!said(job, "bare")) {
        h5_text(file, "layout", job->layout);
        h5_text(file, "run_id", job->run_id);
        h5_number(file, "n", H5T_NATIVE_INT64, &job->n);
        h5_number(file, "steps", H5T_NATIVE_INT64, &job->steps);
        h5_number(file, "interval", H5T_NATIVE_INT64, &job->interval);
        h5_number(file, "dt", H5T_NATIVE_DOUBLE, &job->dt);
    }
    h5_series(job, file, "step", H5T_NATIVE_INT64, job->step);
    h5_series(job, file, "time", H5T_NATIVE_DOUBLE, job->time);
    if (said(job, "group"))
        H5Gcreate2(file, "solution", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    else if (said(job, "link"))
        H5Lcreate_external(job->raw, "solution", file, "solution", H5P_DEFAULT, H5P_DEFAULT);
    else if (!said(job, "missing"))
        h5_solution(job, file, "solution");
    need(H5close() >= 0, job->path);
}
#endif

#ifdef HAVE_NETCDF
static void nc_good(int rc)
{
    need(rc == 0, nc_strerror(rc));
}

static void write_netcdf(struct job *job)
{
    int file, id[RANK], solution = -1, step, time;
    const int mode = said(job, "cdf1")      ? 0
                     : said(job, "cdf2")    ? NC_64BIT_OFFSET
                     : said(job, "netcdf4") ? NC_NETCDF4
                                            : NC_64BIT_DATA;
    const int wide = mode == NC_64BIT_DATA || mode == NC_NETCDF4;
    nc_good(nc_create(job->path, NC_CLOBBER | mode, &file));
    for (int q = 0; q < RANK; q++)
        nc_good(nc_def_dim(file, dimension(job, q), job->length[q], &id[q]));
    nc_good(nc_def_var(file, "step", wide ? NC_INT64 : NC_INT, 1, id, &step));
    nc_good(nc_def_var(file, "time", NC_DOUBLE, 1, id, &time));
    if (!said(job, "missing"))
        nc_good(nc_def_var(file, "solution", said(job, "float") ? NC_FLOAT : NC_DOUBLE, RANK, id,
                           &solution));
    if (!said(job, "bare")) {
        const nc_type whole = wide ? NC_INT64 : NC_INT;
        nc_put_att_text(file, NC_GLOBAL, "layout", strlen(job->layout), job->layout);
        nc_put_att_text(file, NC_GLOBAL, "run_id", strlen(job->run_id), job->run_id);
        nc_good(nc_put_att_long(file, NC_GLOBAL, "n", whole, 1, &job->n));
        nc_good(nc_put_att_long(file, NC_GLOBAL, "steps", whole, 1, &job->steps));
        nc_good(nc_put_att_long(file, NC_GLOBAL, "interval", whole, 1, &job->interval));
        nc_good(nc_put_att_double(file, NC_GLOBAL, "dt", NC_DOUBLE, 1, &job->dt));
    }
    nc_good(nc_enddef(file));
    nc_good(nc_put_var_long(file, step, job->step));
    nc_good(nc_put_var_double(file, time, job->time));
    if (solution >= 0) nc_good(nc_put_var_double(file, solution, job->values));
    nc_good(nc_close(file));
}
#endif

int main(int argc, char **argv)
{
    need(argc > 3, "usage: mkcontainer RAW FILE hdf5|netcdf [WORD...]");
    struct job job = {.words = argv + 4, .raw = argv[1], .path = argv[2]};
    read_raw(&job);
    unlink(job.path);
#ifdef HAVE_HDF5
    if (strcmp(argv[3], "hdf5") == 0) {
        write_hdf5(&job);
        write_manifest(&job, argv[3]);
        return 0;
    }
#endif
#ifdef HAVE_NETCDF
    if (strcmp(argv[3], "netcdf") == 0) {
        write_netcdf(&job);
        write_manifest(&job, argv[3]);
        return 0;
    }
#endif
    need(0, "built without the library of this format");
    return 1;
}
