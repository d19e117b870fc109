/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of writers, a row for each:
 *
 *   IO_SETTING(name, type, member, capability, argument, default, least, most, values, help)
 *
 * name       of the option and of the key in a result
 * member     of struct io_tuning, of this type: int64_t, or bool for an option without an argument
 * capability of the writers that obey it (io/writers/writer.h)
 * default    as on the command line; NULL: 0 or false. A number of 0 stands for it in io/ as well.
 * least, most  what a number may be
 * values     that a search tries: none, yes (a flag), ranks, dumps, or another of values_* in io/setting.c
 *
 * A new setting is a row here, the writers that obey it and its test (CONTRIBUTING.md has all):
 * io/setting.h says what follows from a row. No include guard: each who includes
 * this defines IO_SETTING. */
IO_SETTING(group, int64_t, group, IO_CAP_GROUP, "G", "16", 1, 1e9, ranks,
           "Ranks that may write at the same time, for writers with a group size (token, "
           "token-gather).")
IO_SETTING(aggregators, int64_t, aggregators, IO_CAP_AGGREGATORS, "A", "0", 0, 1e9, aggregators,
           "Number of ranks that collect and write the data of all, for writers that aggregate. "
           "0: up to 4 per node.")
IO_SETTING(buffer, int64_t, buffer_bytes, IO_CAP_BUFFER, "BYTES", "8Mi", 4 << 10, 1 << 30, request,
           "Bytes that an aggregator collects or writes at a time; Ki, Mi and Gi are powers of "
           "1024. --read takes a smaller size of its own unless this is given.")
IO_SETTING(staging, int64_t, staging, IO_CAP_STAGING, "DUMPS", "2", 1, 64, dumps,
           "Dumps that a background writer may hold in memory; when the disk is slower than the "
           "computation, the ranks wait.")
/* Smaller chunks make the index too large, larger ones exceed what HDF5 allows. Nobody searches for another
 * file format. */
IO_SETTING(chunk, int64_t, chunk, IO_CAP_CHUNK, "CELLS", NULL, 4, 256, none,
           "HDF5 files: store the array in chunks of so many cells along each side. Default: in "
           "one piece.")
IO_SETTING(direct, bool, direct, IO_CAP_DIRECT, NULL, NULL, 0, 0, yes,
           "Background writers bypass the page cache (O_DIRECT) where the file system allows it, "
           "which leaves more processor time to the computation.")
