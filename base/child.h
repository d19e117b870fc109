/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H
/* Layer 0. Another program, started, watched and ended by this one. Its output is kept in memory,
 * not in a pipe: it never waits for a reader, and a child that cannot be killed does not block this
 * process. Descriptors of this process are not passed on. Local, all functions.
 *
 *     struct child c;
 *     const char *const argv[] = {"lfs", "getstripe", path, NULL};
 *     const struct child_start how = {.argv = argv, .out = CHILD_KEPT};
 *     if (child_run(&c, &how, 30) == 0 && child_status(&c) == 0) child_text(&c, text, sizeof text);
 *     child_free(&c);
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CHILD_LINE_SIZE 65536               /* a line of as many bytes or more is passed over */
#define CHILD_KEPT_MAX  (INT64_C(64) << 20) /* bytes that a child may write: they take memory */

/* Where a child's standard output or error goes. */
enum child_stream {
    CHILD_NOTHING, /* to /dev/null */
    CHILD_KEPT,    /* into memory, for child_lines, child_text and child_first_error */
    CHILD_JOINED,  /* standard error alone: to where standard output goes */
    CHILD_SHARED,  /* to where that of this process goes */
    CHILD_FD,      /* to the descriptor fd */
};

/* What a child finds a signal set to: the default or ignored. */
struct child_signal {
    int number;
    struct sigaction action;
};

struct child_start {
    const char *const *argv; /* ends with NULL; [0] is looked for in PATH where it holds no '/' */
    char *const *env;        /* as child_environment makes it; NULL: that of this process */
    enum child_stream out, err;
    int fd;      /* with CHILD_FD */
    int pass_fd; /* another one that the child finds as descriptor 3, without FD_CLOEXEC; 0: none */
    bool group;  /* in a process group of its own, which the terminal's signals do not reach */
    bool
        in_place; /* as a shell would start it: with standard input, open descriptors, signal mask */
    const struct child_signal *signal; /* [signals_n] */
    int signals_n;
};

struct child {
    pid_t pid;
    int errnum;   /* why it could not be started, 0: it was */
    bool ended;   /* and was waited for */
    int status;   /* of waitpid then, -1: lost */
    int out, err; /* descriptors of what is kept, -1: nothing is */
    /* Private. */
    const char *name;
    bool group;
    off_t seen;    /* bytes of out that child_lines has read */
    size_t line_n; /* bytes of the line that is not whole yet; CHILD_LINE_SIZE: it is passed over */
    char *line;
};

/* The variables of this process for which passed (NULL: all) says so, then those of set
 * ("NAME=VALUE", ends with NULL), which take the place of others of their name. Returns an array to be
 * freed by free(), whose texts are borrowed; NULL: no memory. */
char **child_environment(bool (*passed)(const char *variable), char *const *set);

/* Starts a program. [out] c: to be freed by child_free, also after an error. Returns 0, ERR_IO with the
 * reason in the message and in errnum, or ERR_NOMEM. */
int child_start(struct child *c, const struct child_start *how);

/* Whether the child has ended; waits for that, most_s seconds at most, INFINITY: as long as it takes,
 * and 5 ms at least. A child that has ended leaves no zombie. */
bool child_wait(struct child *c, double most_s);

/* Ends a child with its process group: asks it (SIGTERM) and gives it ask_s seconds, 0: does not ask;
 * then kills, and waits kill_s seconds for the kernel, which keeps a process that a file system does not
 * answer. A child without a group of its own is ended alone. */
void child_stop(struct child *c, double ask_s, double kill_s);

/* Starts a program and waits for its end. It is stopped when it takes longer than limit_s seconds
 * (INFINITY: no limit), writes more than CHILD_KEPT_MAX, or this process is asked to stop (base/stop.h).
 * Returns 0 when it ended by itself, whatever its status; errors of child_start, ERR_IO or
 * ERR_INTERRUPT. */
int child_run(struct child *c, const struct child_start *how, double limit_s);

/* Gives each line that standard output has got since the last call and that is whole to take, without
 * its end. A line that is too long or holds a zero byte is passed over. */
void child_lines(struct child *c, void (*take)(void *arg, const char *line), void *arg);

/* Whether it has written more than CHILD_KEPT_MAX. */
bool child_floods(const struct child *c);

/* The beginning of standard output, as far as size allows, ended by a zero. */
void child_text(const struct child *c, char *out, size_t size);

/* The first line of standard error that is more than a ruler, fit for a terminal; "" where there is
 * none. */
void child_first_error(const struct child *c, char *out, size_t size);

/* Exit status of a child that has ended, as a shell has it: 128 and more for signals. */
int child_status(const struct child *c);

/* How it ended, for people: "ended with status 3: what it said", "ended by signal 9 (Killed)". Launchers
 * pass signals of their processes on as 128 and more, which is read as the signal. */
void child_ending(const struct child *c, char *out, size_t size);

/* Frees what is kept. A child that runs on goes on. */
void child_free(struct child *c);

#endif
