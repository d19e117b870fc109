/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dumps as one dataset of an HDF5 file, each rank's cells a hyperslab of it: collective calls, or
 * each rank for itself. All of it is in io/container.c and, with the library's calls, in the plug-in
 * io/format/hdf5.c. */
#include "base/err.h"
#include "io/container.h"
#include "io/writer.h"

static bool hdf5_usable(void)
{
    const bool loaded = io_container_load(IO_HDF5) == 0;
    if (!loaded) err_clear();
    return loaded;
}

const struct io_writer io_writer_hdf5 = {
    .name = "hdf5",
    .help = "one dataset in an HDF5 file, one collective write of a hyperslab per dump",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_HINTS,
    .format = IO_HDF5,
    .state_size = sizeof(struct io_container),
    .usable = hdf5_usable,
    .open = io_container_open_collective,
    .write = io_container_write,
    .read = io_container_read,
    .sync = io_container_sync,
    .close = io_container_close,
    .describe = io_container_describe,
};

const struct io_writer io_writer_hdf5_indep = {
    .name = "hdf5-indep",
    .help = "as hdf5, each rank for itself",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_HINTS,
    .format = IO_HDF5,
    .state_size = sizeof(struct io_container),
    .usable = hdf5_usable,
    .open = io_container_open_independent,
    .write = io_container_write,
    .read = io_container_read,
    .sync = io_container_sync,
    .close = io_container_close,
    .describe = io_container_describe,
};
