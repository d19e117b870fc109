/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_FORMAT_H
#define IO_FORMAT_H
/* Layer 1. What a plug-in does: lib/nht1/libnht1-hdf5.so and -netcdf.so (io/writers/format/), which make dump
 * files in the format of a library. Such a library brings twenty others, so a program loads it when a
 * writer asks for it (io/writers/container.h), not when it starts. A plug-in knows nothing of the program but
 * this header.
 *
 * The file holds one variable, "solution", an array of IEEE doubles with the dumps along its slowest
 * dimension, as docs/format.md describes it. */
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IO_FORMAT_DIMS 4 /* of one dump, slowest first: z y x component, or component z y x */
#define IO_FORMAT_WHY  512
/* Values, or chunks of them, of at least so many bytes begin with a page. */
#define IO_FORMAT_PAGED_BYTES 32768
#define IO_FORMAT_PAGE_BYTES  4096
/* The structure of HDF5 is allocated in such pieces, so that it lies together. */
#define IO_FORMAT_BLOCK_BYTES 16384

/* What a file is made for. */
struct io_format_shape {
    const char *const *dim_name; /* [IO_FORMAT_DIMS + 1], that of the dumps first */
    int64_t dim[IO_FORMAT_DIMS + 1];
    int64_t chunk[IO_FORMAT_DIMS + 1]; /* 0: values lie as in memory, without chunks */
    const int64_t *step;               /* [dim[0]] time step of each dump */
    int64_t n, interval, steps_n;
    double dt;
    const char *layout, *run_id, *source; /* the program and its version */
    MPI_Info info;                        /* hints, never MPI_INFO_NULL */
};

/* A part of a dump: its first place and its length along each dimension. */
struct io_format_block {
    int64_t start[IO_FORMAT_DIMS], count[IO_FORMAT_DIMS];
};

/* Functions return 0, or -1 with the reason in why, which has IO_FORMAT_WHY bytes. */
struct io_format_plugin {
    size_t bytes; /* of this struct: that the plug-in was built with the program */

    /* Makes a file at path, in memory or not, of its full length, which is sparse. [out] data_offset:
     * of the values, -1 where they do not lie in one piece. Local. */
    int (*create)(const struct io_format_shape *s, const char *path, int64_t *data_offset,
                  char *why);

    /* Opens a file: for writing or for reading alone, for collective or for independent calls.
     * Collective over comm. [out] file; not NULL after an error that came when it was open, and then
     * to be closed, which is collective, too. */
    int (*open)(MPI_Comm comm, const char *path, bool write, bool collective, MPI_Info info,
                void **file, char *why);

    /* Writes or reads a part of a dump, contiguous in memory and maybe empty. Collective where the
     * file was opened for that. put may change the values while it is at work. */
    int (*put)(void *file, int64_t dump, const struct io_format_block *b, double *values,
               char *why);
    int (*get)(void *file, int64_t dump, const struct io_format_block *b, double *values,
               char *why);
    const char *put_name[2], *get_name[2]; /* of the library's function; [1]: collective */

    /* Frees file, also after an error. Collective. */
    int (*close)(void *file, char *why);

    /* The hints that are in force, to be freed; MPI_INFO_NULL when they are not told. Local. */
    int (*hints)(void *file, MPI_Info *info, char *why);

    /* Name and version of the library. Local. */
    void (*library)(char *text, size_t size);
};

/* The symbol of a plug-in. */
#define IO_FORMAT_SYMBOL "nht1_format"
extern const struct io_format_plugin nht1_format;

#endif
