/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_OWN_NOTE_H
#define BASE_OWN_NOTE_H
/* Layer 0. The note in which a process lists its temporary files: its text, drawn in base/own.h, and
 * whether the process that wrote it is dead. For base/own.c, which writes notes, and base/own_sweep.c,
 * which reads those of others. All functions are local. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/identity.h"

#define OWN_PREFIX ".nht1-"
#define OWN_SUFFIX ".own"

enum {
    OWN_KEY_DIGITS = 16,
    OWN_MARK_MIN = 16,
    OWN_MARK_MAX = 63,
    OWN_LINE_MAX = 3 * NAME_MAX + 160
};

/* What tells a process from all others: it is the maker of a note. */
struct own_maker {
    char boot[40], host[128];
    int64_t namespace, pid, start; /* start: in ticks since the system was started */
    uint64_t job;                  /* 0: none */
    int held; /* whether it holds its note by flock, which tells that it lives */
};

/* A line behind the maker's. */
enum own_kind { OWN_FILE, OWN_FOLDER, OWN_TEXT, OWN_LOCK, OWN_TEMPS };
struct own_line {
    enum own_kind kind;
    struct identity id; /* of a file or folder */
    const char *mark;   /* of a text; borrowed */
    const char *name;   /* borrowed */
};

/* A note of this user that is open, and locked unless another process has locked it. */
struct own_note {
    int fd;
    int free_now;  /* whether no other process holds it; -1: it cannot be known here */
    bool is_empty; /* it has no maker yet: its maker was killed at once, or is about to write */
    struct own_maker maker;
    char *lines; /* behind that of the maker, for own_note_next; NULL: there is no maker */
    char *text;
};

/* This process, where pid is its own; of another one its host and namespace are taken to be the same. */
void own_maker_of(int64_t pid, struct own_maker *m);

/* Whether the maker of a note in this directory is dead, as far as can be known; free_now: of the note. */
bool own_maker_dead(const struct own_maker *m, int free_now, const char *dir);

/* Whether name can be that of a file in a directory, and has a place in a note. */
bool own_is_name(const char *name);

/* Whether name is that of a note; [out] key. */
bool own_is_note(const char *name, char key[OWN_KEY_DIGITS + 1]);

/* The beginning of a note; [out] text: what does not fit is cut off. */
void own_head_write(const struct own_maker *m, char *text, size_t bytes);

/* [out] text: the line with its end. Name must be one (own_is_name). */
void own_line_write(const struct own_line *l, char text[OWN_LINE_MAX]);

/* text: a line without its end, changed; [out] l, which borrows from it. False: it is none. */
bool own_line_read(char *text, struct own_line *l);

/* Whether the name is that of the open file still; st: [out] of that. */
bool own_still_named(int fd, int dir_fd, const char *name, struct stat *st);

/* Opens the note of that name in the directory dir_fd. False: there is none of this user. */
bool own_note_open(int dir_fd, const char *name, struct own_note *n);
void own_note_close(struct own_note *n);

/* The next line, without its end, borrowed; NULL: there is none that ends. */
char *own_note_next(struct own_note *n);

#endif
