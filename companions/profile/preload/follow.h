/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_FOLLOW_H
#define PROFILE_PRELOAD_FOLLOW_H
/* Layer 3. The files that a program has open by POSIX calls, by descriptor, and its data accesses on them:
 * counted, and answered by the library while writes are dropped. Free of MPI. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "companions/profile/preload/count.h"
#include "companions/profile/preload/paths.h"

/* Hidden: none of these names may interpose one of the program's. */
#pragma GCC visibility push(hidden)

/* An open file description that is traced. */
struct followed {
    int refs;            /* descriptors of this process that refer to it */
    struct use use;      /* use.file -1: this process has counted nothing on it */
    char *name;          /* whole path, owned */
    bool counted;        /* else only answered, while writes are dropped */
    uint64_t touched_ns; /* when a write that was dropped has set the time */
    int flags;           /* of open */
    int content;         /* what is read while writes are dropped: -1 not open, -2 there is none */
    struct profile_before *note; /* of the name it was opened by; NULL: it is only read */
    struct profile_stand_in
        *state; /* while writes are dropped; owned; NULL: it is the file itself */
};

/* Whether a handler of the program calls, whose calls are not followed (count_called_back). Safe in handlers. */
bool follow_back(void);

/* Whether a call comes from the MPI library, whose own files are none of the program's. caller: the address to which it
 * returns. */
bool follow_is_mpi(const void *caller);

/* Whether the library is tracing in this thread just now. */
bool follow_on(void);
void follow_begin(void); /* with the files that the program has inherited */
void follow_stop(void);  /* for good: nothing can be counted */

/* Whether this is the program itself, not its child in vfork, which shares all its memory. */
bool follow_is_process(void);
void follow_forked(void);

/* count_chosen of the file of a descriptor, which was entered as it was opened. */
void follow_chosen(int fd, const char *whole, int at);

/* The file of a descriptor, NULL: none that is traced. Local. */
struct followed *follow_find(int fd);

/* Stops tracing a descriptor until it is closed. */
void follow_ignore(int fd);

/* Begins to trace an open file. flags: of open. Returns -1 without memory. */
int follow_add(int fd, const char *whole, int flags, struct profile_before *note,
               struct profile_stand_in *state);

/* A second descriptor of the same description. */
void follow_same(int fd, int old);

/* The descriptor is closed: returns its file, NULL for none, to be given to follow_end. */
struct followed *follow_take(int fd);
void follow_end(struct followed *f);

/* Whether it is a descriptor of this library's own, which the program must not close. */
bool follow_is_own(int fd);

/* Bytes that any call of the program has written to anything; examines unknown descriptors. */
void follow_seen(int fd, ssize_t written);

/* Bytes that this thread has written past the library; 0: none, or not known. */
int64_t follow_unseen_bytes(void);

/* What has come to these bytes since there were so many was written by the C library itself: it does not count. */
void follow_pardon(int64_t unseen);

/* A data access under way. */
struct access {
    struct followed *f;
    int fd;
    bool write;
    bool appends;              /* at the end, whatever the offset is */
    int64_t at;                /* an explicit offset, else -1 */
    int64_t bytes;             /* asked for */
    uint64_t start_ns, end_ns; /* end 0: when it is counted */
};

/* Begins one; false: the file is not traced. A write to a file that is open with O_APPEND appends. */
bool follow_access(struct access *a, int fd, bool write, int64_t at, int64_t bytes);

/* Whether the library answers it instead of making the call; and the answer. into: of a read. */
bool follow_answers(const struct access *a);
ssize_t follow_answer(struct access *a, const struct iovec *into, int n);

/* It is over: counts it. from: what was read. Returns got, with errno as it was. */
ssize_t follow_over(struct access *a, ssize_t got, const struct iovec *into, int n);

/* Counts another function on an open file, or on a name. at: what tells two calls of it apart. */
void follow_other(struct followed *f, enum profile_other what, int64_t at, uint64_t start_ns);
/* The same for a flush, unless it failed. call: WORKLOAD_RUN_FSYNC or _FDATASYNC. */
void follow_flush(struct followed *f, int call, int64_t at, int rc, uint64_t start_ns);
/* A flush of more than one file. */
void follow_flush_all(uint64_t start_ns);
void follow_name(const char *whole, bool folder, enum profile_other what, int64_t at,
                 uint64_t start_ns);
/* One call, which both names are traced by. */
void follow_rename(const char *from, const char *to, uint64_t start_ns);

#pragma GCC visibility pop

#endif
