/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_VALUE_H
#define BEFFIO_VALUE_H
/* Layer 2, pure. From bytes and seconds to bandwidths under the three definitions, and what is
 * missing for a valid result. All functions are local. Rates are bytes per second of all processes
 * of a partition; NAN where nothing was measured. */
#include <stdbool.h>
#include <stdint.h>

#include "companions/beffio/pattern.h"
#include "companions/beffio/schedule.h"

/* What was measured. */
struct beffio_amount {
    int64_t bytes; /* of all processes */
    double s;      /* 0: not measured */
};

struct beffio_measured {
    struct beffio_amount pattern[BEFFIO_ACCESSES][BEFFIO_PATTERNS];
    struct beffio_amount type[BEFFIO_ACCESSES][BEFFIO_TYPES]; /* from opening till closing */
    double create_s[BEFFIO_TYPES], remove_s[BEFFIO_TYPES];    /* of the files; 0 with --keep */
};

struct beffio_values {
    double pattern[BEFFIO_ACCESSES][BEFFIO_PATTERNS];
    double type[BEFFIO_ACCESSES][BEFFIO_TYPES];
    double type_s[BEFFIO_ACCESSES][BEFFIO_TYPES]; /* with all that counts */
    /* Mean over types, type 0 counted twice [RK01, 5.1]; in a run of 2.1 without --rewrite, that of
     * rewriting is type 0 alone. */
    double access[BEFFIO_ACCESSES];
    double weighted[BEFFIO_ACCESSES]; /* sum of U b / sum of U over patterns [RK00, IV] */
    double plain[BEFFIO_ACCESSES];    /* all bytes / all time */
    double write_side;                /* of 2.1: (write of five types + rewrite of type 0) / 6 */
    double partition[BEFFIO_DEFINITIONS]; /* the value of the partition under each definition */
    double total;                         /* all bytes / all time of the three accesses */
    int64_t access_bytes[BEFFIO_ACCESSES];
};

/*   0.5   mean over accesses of weighted; total beside it
 *   1.x   0.25 write + 0.25 rewrite + 0.5 read, of access
 *   2.1   sqrt(write_side read), read = access of reading
 *
 * Under 2.1 making the files counts as writing and removing them as reading (beffio_counts): types,
 * accesses and total are those of the definition that the run was scheduled for, each value of a
 * partition counts as its own definition does. [out] v. */
void beffio_values(const struct beffio_schedule *s, const struct beffio_measured *m,
                   struct beffio_values *v);

/* Criteria of a valid result. */
enum beffio_criterion {
    BEFFIO_TIME,
    BEFFIO_POINTERS,
    BEFFIO_ERRORS,
    BEFFIO_CAP,
    BEFFIO_WHOLE,
    BEFFIO_SYNC,
    BEFFIO_PARTITIONS,
    BEFFIO_CRITERIA
};

/* What the verdicts are made of. */
struct beffio_facts {
    const struct beffio_schedule *schedule;
    bool shared;         /* type 1 with the shared pointer */
    int64_t errors_n;    /* wrong values read */
    int64_t elsewhere_n; /* those of other partitions and repetitions of the run */
    bool unchecked;      /* but for the last call of a read, nobody looked */
    int64_t least_bytes; /* of the accesses: the one that moved least */
    int64_t cache_bytes; /* what the file system may keep in memory */
    double cached_share; /* of the files, in memory before they were read; NAN: unknown */
    int64_t nodes_n;     /* of the partition */
    bool shifted;        /* read by another node than wrote it */
    bool in_memory;      /* the file system itself is in memory */
    const char *behind;  /* what else may have had it in memory (sys_fs_behind); NULL */
    bool hides;          /* or hides what lies in memory below it (base/sys.h) */
    bool capped;         /* writing ended early for want of space */
    bool unique;         /* files were opened with MPI_MODE_UNIQUE_OPEN */
    bool quick;          /* sizes and times of a try-out */
    int left_n;          /* partitions that were not measured, as the run ended early */
};

#define BEFFIO_WORDS_MAX 320

struct beffio_criterion_result {
    bool met;
    char words[BEFFIO_WORDS_MAX]; /* what was asked and what there is */
};

/* [out] r: one per criterion. Returns whether none failed. */
bool beffio_judge(const struct beffio_facts *f, struct beffio_criterion_result r[BEFFIO_CRITERIA]);

/* "scheduled_time", "shared_pointers", ...: names in results. */
const char *beffio_criterion_name(enum beffio_criterion c);

/* Whether what was read came from a device, as far as it can be known: it is too much for the
 * memory, was not in it, or was written by another node. A stamp of its own: a result may be valid
 * by its definition and still be one of memory. */
struct beffio_honesty {
    bool honest;
    double factor; /* data of the access that moved least, over the memory that may cache them */
    char words[BEFFIO_WORDS_MAX];
};
void beffio_honesty(const struct beffio_facts *f, struct beffio_honesty *h);

/* Minutes that moving bytes takes at a rate: the coffee-cup rule asks for at most 10 for the total
 * memory [RK01, 2.2]. NAN without a rate. */
#define BEFFIO_COFFEE_MIN 10.0
double beffio_minutes(int64_t bytes, double bytes_per_s);

#endif
