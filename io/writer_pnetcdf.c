/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dumps as one variable of a netCDF file (CDF-5), each rank's cells a part of it: collective
 * calls, or each rank for itself. All of it is in io/container.c and, with the library's calls, in
 * the plug-in io/format/netcdf.c. */
#include "base/err.h"
#include "io/container.h"
#include "io/writer.h"

static bool pnetcdf_usable(void)
{
    const bool loaded = io_container_load(IO_NETCDF) == 0;
    if (!loaded) err_clear();
    return loaded;
}

const struct io_writer io_writer_pnetcdf = {
    .name = "pnetcdf",
    .help = "one variable in a netCDF file, one collective write of PnetCDF per dump",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_HINTS,
    .format = IO_NETCDF,
    .state_size = sizeof(struct io_container),
    .usable = pnetcdf_usable,
    .open = io_container_open_collective,
    .write = io_container_write,
    .read = io_container_read,
    .sync = io_container_sync,
    .close = io_container_close,
    .describe = io_container_describe,
};

const struct io_writer io_writer_pnetcdf_indep = {
    .name = "pnetcdf-indep",
    .help = "as pnetcdf, each rank for itself",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_HINTS,
    .format = IO_NETCDF,
    .state_size = sizeof(struct io_container),
    .usable = pnetcdf_usable,
    .open = io_container_open_independent,
    .write = io_container_write,
    .read = io_container_read,
    .sync = io_container_sync,
    .close = io_container_close,
    .describe = io_container_describe,
};
