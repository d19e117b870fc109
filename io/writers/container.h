/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_CONTAINER_H
#define IO_CONTAINER_H
/* Layer 1. Dump files in the format of a library: what the writers hdf5, hdf5-indep, pnetcdf and
 * pnetcdf-indep share. FILE then is a container: a structure of the library's, with the dumps in it.
 *
 * The structure is made in memory by the library (a sparse file of full length), on rank 0 and before
 * anything is touched, so that the length of FILE is known, room for it can be proved, and FILE is
 * preallocated like any other. It is copied into FILE before the ranks open that with the library; it
 * is not changed any more: after a kill at any time the file can be opened, and the manifest says
 * which dumps are in it.
 *
 * A rank's bytes go to the library from the staging buffer as they lie there, in blocks of at most
 * tuning.call_bytes. The library is loaded when it is needed first (io/writers/format.h). */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/writers/format.h"
#include "io/view.h"

struct io_context;
struct io_spec;
struct io_taker;

enum io_format { IO_RAW, IO_HDF5, IO_NETCDF };

/* "raw", "hdf5", "netcdf", and the inverse: -1 for an unknown name. Local. */
const char *io_format_name(enum io_format format);
int io_format_find(const char *name);

/* Where the dumps lie in FILE. */
struct io_body {
    enum io_format format;
    int64_t file_bytes;  /* length of FILE; 0 for IO_RAW, where it follows from the dumps */
    int64_t data_offset; /* of dump 0, the others follow; -1: they lie in chunks */
    int64_t chunk;       /* cells along each side of a chunk; 0: there are none */
};

/* Whether the values have another byte order than this machine's. Local. */
bool io_body_swapped(const struct io_body *b);

/* How many dumps from the first on a file of that length can hold. Local. */
int64_t io_body_holds(const struct io_body *b, int64_t dump_bytes, int64_t bytes);

/* Length of the file that a spec asks for, structure included; of a container an upper bound, and seldom more
 * than 20 KiB above what the library makes. NUM_ENDLESS: too long to tell. Local, without the library. */
int64_t io_container_bytes(enum io_format format, const struct io_spec *spec);

/* Loads the plug-in of a format. ERR_USAGE, with what is to be installed, when it cannot be loaded.
 * Local; the first call takes some time. */
int io_container_load(enum io_format format);

/* What it has loaded; NULL before. Local. */
const struct io_format_plugin *io_container_plugin(enum io_format format);

/* A structure, on its way into FILE. */
struct io_structure {
    int fd; /* in memory; -1: there is none */
    struct io_body body;
};

/* Makes the structure for dumps of a spec. info: hints. [out] s: to be freed, after an error too.
 * Local. */
int io_container_make(struct io_structure *s, enum io_format format, const struct io_spec *spec,
                      const char *run_id, MPI_Info info);

/* Whether it can be put into a file that has values without touching these: pages of the one hold nothing of the
 * other. Not so with small chunks. Local. */
bool io_container_apart(const struct io_body *b, const struct io_spec *spec);

/* Copies it, by pages, into the file at path, which has its length, and down to the device. Local. */
int io_container_put(const struct io_structure *s, const char *path);

void io_container_free(struct io_structure *s);

/* A writer's state. */
struct io_container {
    const struct io_format_plugin *plugin;
    void *file; /* the library's; NULL: not open */
    int fd;     /* for fsync, while writing */
    bool collective;
    struct io_format_block mine; /* my cells in a dump */
    int64_t calls_n;             /* collective ones for a dump, on every rank the same */
};

/* The cells of a view along the dimensions of a dump, slowest first: z y x component, or component z
 * y x. Local. */
struct io_format_block io_container_block(const struct io_view *v);

/* Opens a container for reading by this process alone, some cells at a time: those of a view by
 * io_container_read, after io_container_select. A library that crashes or goes in circles here, as it
 * may on a damaged file, ends the program (base/crash.h): so one that may be damaged is opened before
 * all ranks open it together. Local. [out] c: to be given to io_container_close, after an error too. */
int io_container_open(struct io_container *c, const char *path, enum io_format format);
void io_container_select(struct io_container *c, const struct io_view *v);
void io_container_close(struct io_container *c);

/* The writers' read slot (io/writers/writer.h); state: a struct io_container. */
int io_container_read(void *state, const struct io_context *ctx, int64_t dump,
                      const struct io_taker *to);

#endif
