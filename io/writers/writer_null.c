/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accepts and drops every dump: what is left of a run's time is computing, staging, digests and the
 * dispatcher's own work. There is no file. */
#include "io/writers/writer.h"

static int null_open(void *state, const struct io_context *ctx)
{
    (void)state, (void)ctx;
    return 0;
}

static int null_write(void *state, const struct io_context *ctx, int64_t dump, const void *buf)
{
    (void)state, (void)ctx, (void)dump, (void)buf;
    return 0;
}

const struct io_writer io_writer_null = {
    .name = "null",
    .help = "accepts and drops everything: measures the harness",
    .state_size = 0,
    .open = null_open,
    .write = null_write,
    .sync = null_open,
    .close = null_open,
};
