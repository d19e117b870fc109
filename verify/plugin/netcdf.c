/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The classic formats of netCDF: CDF-1, CDF-2 and CDF-5. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

#include "verify/plugin/plugin.h"

#define BUFFER_BYTES (4 << 20) /* read at a time; the library's own choice is some kilobytes */

/* rc: of the library, or 0 when it is `what` that says all. */
static int fail(struct plugin_file *f, const char *name, const char *what, int rc)
{
    if (rc == 0)
        snprintf(f->error, sizeof f->error, "%s%s", name, what);
    else
        snprintf(f->error, sizeof f->error, "%s%s (%s)", name, what, nc_strerror(rc));
    return -1;
}

/* Finds a variable and its dimensions. */
static int find(struct plugin_file *f, const char *name, int rank, int *id, nc_type *type,
                int dimension[PLUGIN_RANK])
{
    int n = 0;
    int rc = nc_inq_varid((int)f->file, name, id);
    if (rc == NC_ENOTVAR) return fail(f, name, " is not there", 0);
    if (rc == 0) rc = nc_inq_vartype((int)f->file, *id, type);
    if (rc == 0) rc = nc_inq_varndims((int)f->file, *id, &n);
    if (rc == 0 && n == rank) rc = nc_inq_vardimid((int)f->file, *id, dimension);
    if (rc != 0) return fail(f, name, " cannot be found", rc);
    return n == rank ? 0 : fail(f, name, " has another number of dimensions than it must have", 0);
}

static int open_file(struct plugin_file *f, const char *path, const char *variable)
{
    char name[NC_MAX_NAME + 1];
    int id, dimension[PLUGIN_RANK];
    size_t length, buffer = BUFFER_BYTES;
    nc_type type;
    memset(f, 0, sizeof *f);
    snprintf(f->library, sizeof f->library, "netCDF %.*s", (int)strcspn(nc_inq_libvers(), " "),
             nc_inq_libvers());
    int rc = nc__open(path, NC_NOWRITE, &buffer, &id);
    f->file = rc == 0 ? id : -1;
    if (rc != 0) return fail(f, "netCDF", " cannot open the file", rc);
    if (find(f, variable, PLUGIN_RANK, &id, &type, dimension) < 0) return -1;
    f->variable = id;
    if (type != NC_DOUBLE) return fail(f, variable, " is not of 8-byte IEEE numbers", 0);
    for (int q = 0; q < PLUGIN_RANK; q++) {
        rc = nc_inq_dim((int)f->file, dimension[q], name, &length);
        if (rc != 0) return fail(f, variable, " has no dimensions", rc);
        f->length[q] = length <= INT64_MAX ? (int64_t)length : INT64_MAX;
        snprintf(f->dimension[q], sizeof f->dimension[q], "%.31s", name);
    }
    return 0;
}

static int read_box(struct plugin_file *f, const int64_t *from, const int64_t *count, double *to)
{
    size_t start[PLUGIN_RANK], n[PLUGIN_RANK];
    for (int q = 0; q < PLUGIN_RANK; q++) {
        start[q] = (size_t)from[q];
        n[q] = (size_t)count[q];
    }
    const int rc = nc_get_vara_double((int)f->file, (int)f->variable, start, n, to);
    return rc == 0 ? 0 : fail(f, "netCDF", " cannot read its values", rc);
}

static int get_text(struct plugin_file *f, const char *name, char *to, size_t size)
{
    nc_type type;
    size_t length;
    int rc = nc_inq_att((int)f->file, NC_GLOBAL, name, &type, &length);
    if (rc == NC_ENOTATT) return fail(f, name, " is not there", 0);
    if (rc == 0 && type != NC_CHAR) return fail(f, name, " is no text", 0);
    if (rc == 0 && length >= size) return fail(f, name, " is too long", 0);
    if (rc == 0) rc = nc_get_att_text((int)f->file, NC_GLOBAL, name, to);
    if (rc != 0) return fail(f, name, " cannot be read", rc);
    to[length] = '\0';
    return 0;
}

static int get_number(struct plugin_file *f, const char *name, double *to)
{
    nc_type type;
    size_t length;
    int rc = nc_inq_att((int)f->file, NC_GLOBAL, name, &type, &length);
    if (rc == NC_ENOTATT) return fail(f, name, " is not there", 0);
    if (rc == 0 && type == NC_CHAR) return fail(f, name, " is not a number", 0);
    if (rc == 0 && length != 1) return fail(f, name, " is not a single value", 0);
    if (rc == 0) rc = nc_get_att_double((int)f->file, NC_GLOBAL, name, to);
    return rc == 0 ? 0 : fail(f, name, " cannot be read", rc);
}

static int get_series(struct plugin_file *f, const char *name, int64_t length, double *to)
{
    int id, dimension[PLUGIN_RANK];
    nc_type type;
    size_t have;
    if (find(f, name, 1, &id, &type, dimension) < 0) return -1;
    int rc = nc_inq_dimlen((int)f->file, dimension[0], &have);
    if (rc == 0 && (type == NC_CHAR || have != (size_t)length))
        return fail(f, name, " is not a number for each dump", 0);
    if (rc == 0) rc = nc_get_var_double((int)f->file, id, to);
    return rc == 0 ? 0 : fail(f, name, " cannot be read", rc);
}

static void close_file(struct plugin_file *f)
{
    if (f->file >= 0) nc_close((int)f->file);
    f->file = -1;
}

extern const struct plugin nht1_plugin;
const struct plugin nht1_plugin = {open_file,  read_box,   get_text,
                                   get_number, get_series, close_file};
