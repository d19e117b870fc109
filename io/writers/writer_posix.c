/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every rank writes and reads its own extents with pwrite and pread, all at the same time. */
#include "io/writers/fd.h"
#include "io/writers/pick.h"
#include "io/writers/writer.h"

const struct io_writer io_writer_posix = {
    .name = "posix",
    .help = "every rank writes its own pieces with pwrite",
    .caps = IO_CAP_SERIAL_FILE | IO_CAP_YARDSTICK,
    .state_size = sizeof(int),
    .open = io_fd_slot_open,
    .write = io_fd_slot_write,
    .read = io_pick_slot_read,
    .sync = io_fd_slot_sync,
    .close = io_fd_slot_close,
};
