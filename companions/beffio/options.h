/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_OPTIONS_H
#define BEFFIO_OPTIONS_H
/* Layer 2, free of MPI. The command line of nht1-beffio, in its own spelling and in that of the
 * released program: -MB, -MT, -noshared, -nounique, -unique, -rewrite, -keep, -N, -T, -p, -i, -f,
 * -e. Every rank reads the same command line to the same result. */
#include <stdbool.h>
#include <stdint.h>

#include "base/conf.h"
#include "companions/beffio/schedule.h"

struct beffio_options {
    const char *definition, *termination, *partitions;
    double t_s; /* 0: what the definition asks for */
    bool rewrite, noshared, nounique, unique, quick;
    int64_t mb, mt; /* 2^20 bytes; 0: what the system has */
    const char *path, *prefix, *info;
    bool keep, force;
    int64_t max_space, cache;
    int64_t rate; /* assumed, 0: probe */
    const char *check;
    int64_t errors;
    const char *count;
    const char *m_part, *shift_read, *buffer_offset;
    bool drop_cache;
    int64_t repeat;
    bool dry_run;
    int64_t ranks, nodes; /* of the job that a dry run is about; 0: of this one */
    const char *json, *sum, *protocol, *progress;
    bool quiet;
};

/* What is read back outside the clock; by size: everything, or samples of large files. */
enum beffio_check {
    BEFFIO_CHECK_SIZE,
    BEFFIO_CHECK_NONE,
    BEFFIO_CHECK_SAMPLE,
    BEFFIO_CHECK_READ,
    BEFFIO_CHECK_EVERY
};

/* Whose memory M_PART is the 128th part of. */
enum beffio_m_part { BEFFIO_M_PART_DEFINITION, BEFFIO_M_PART_NODE, BEFFIO_M_PART_PROCESS };

struct beffio_setup {
    struct beffio_options opt;
    struct beffio_schedule schedule; /* partitions and time: after beffio_setup_schedule */
    /* Where text goes: --sum and --protocol, or PREFIX.sum and PREFIX.prot when -f was given, or
     * both of -MB and -MT, without which the released program does not start. */
    char sum[4096], protocol[4096];
    char prefix[256]; /* of the data files: the last component of -f */
    enum beffio_check check;
    int64_t quick_bytes; /* that the files of a --quick run may take; 0: it is none */
    enum beffio_m_part m_part;
    bool unique;       /* MPI_MODE_UNIQUE_OPEN */
    int buffer_offset; /* bytes from a page, or BUFFER_MALLOC */
    int64_t shift;     /* of reading, in ranks; -1: to another node */
};

extern const struct conf_program beffio_program;

/* Reads the command line. Local. [out] s: a struct beffio_setup. Returns CONF_RUN, CONF_HELP,
 * CONF_VERSION or ERR_USAGE. */
int beffio_setup_parse(void *s, int argc, char **argv);

/* The partitions and their time for a job of so many processes. Returns 0 or ERR_USAGE. */
int beffio_setup_schedule(struct beffio_setup *s, int procs);

#endif
