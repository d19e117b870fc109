/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_PATHS_H
#define PROFILE_PRELOAD_PATHS_H
/* Layer 3. The names of files that a program changes: which are followed, what was there before, and what
 * stands for them while writes are dropped. Free of MPI; threads may call at the same time. Functions that
 * return -1 or NULL set errno. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "companions/profile/record.h"

/* Hidden: none of these names may interpose one of the program's. */
#pragma GCC visibility push(hidden)

/* The whole path of a name, seen from an open folder (or AT_FDCWD); links are followed, the last one, too,
 * if follow. Returns 0 or -1. */
int paths_whole(int at, const char *name, bool follow, char out[PROFILE_PATH_MAX]);

/* Whether an error of paths_whole is the one that the call itself would have: it changes nothing. */
bool paths_refused(int why, const char *name);

/* Whether a name is a link like those in /proc/self/fd to a file that has no name any more; [out] whole: the last
 * one that it had. */
bool paths_removed(const char *name, char whole[PROFILE_PATH_MAX]);

/* The folder of a whole path. */
void paths_folder(const char *whole, char out[PROFILE_PATH_MAX]);

/* Whether files of that name are followed at all: no devices, nothing of the system's and nothing of ours;
 * with --files only those below that folder. */
bool paths_followed(const char *whole);

/* Whether a file of that name would be written in both runs of --t-c: it is not below the folder of --files. */
bool paths_outside(const char *whole);

/* Whether it is one of memory that processes share, which has a name for shm_open, too: it is not followed, and would be written in
 * both runs of --t-c. */
bool paths_in_memory(const char *whole);

/* Whether --files has named the folder: then files that are only read are counted, too. */
bool paths_asked(void);

/* Whether an entry of an open folder is the profiler's own, which the program is not to see. Quick. */
bool paths_hidden(int folder, const char *name);

/* Whether a name can be one of those that the program changes, by its last part. While writes are dropped:
 * that it has changed in the real run. Quick. */
bool paths_maybe(const char *name);

/* The same for what lies in a folder: whether anything there was noted. */
bool paths_maybe_in(const char *folder);

/* Reads a note by the name of its file, below an open folder. Returns whether it is a whole one. */
bool paths_read_note(int at, const char *name, struct profile_before *note);

/* What was noted of a name, mapped and kept; NULL: nothing. */
struct profile_before *paths_find(const char *whole);

/* Notes what is under a name, unless that was done, before a call that changes it. While writes are dropped
 * what stands for it is made as well. NULL: this cannot be kept. */
struct profile_before *paths_note(const char *whole);

/* Notes that the program has made what is no file under a name. Returns 0 or -1. */
int paths_note_special(const char *whole);

/* A last part by which a followed name is known as well. */
void paths_mark(const char *name);

/* count_file of a whole path; what mkstemp has chosen of it, which is another in each run, is noted. */
int paths_count(const char *whole, int comm_size, int comm_rank, enum profile_interface interface);

/* The process was forked: another thread of its parent may have been changing what is known of names. */
void paths_forked(void);

/* --- while writes are dropped --- */

/* What the run with writes has noted of what is no file, mapped and kept; written: this run has made it, too. NULL:
 * nothing. */
struct profile_before *paths_find_special(const char *whole);

/* Whether there is what is no file, and this run has not made it yet: for the program it is not there. */
bool paths_unmade(const char *whole);

/* A path that leads to what stands for a folder becomes that of the folder. Returns whether it does. */
bool paths_of_stand_in(char path[PROFILE_PATH_MAX]);

/* Whether relative names are seen from what stands for a folder that the real run has not left. Quick for
 * AT_FDCWD; paths_moved: the program has changed its folder. */
bool paths_away(int at);
void paths_moved(void);

/* The path of what stands for a name; it exists if the file would. */
void paths_stand_in(const char *whole, char out[PROFILE_PATH_MAX]);

/* Whether a name can be made in its folder while writes are dropped; sets errno. */
bool paths_can_create(const char *whole);

/* Makes it, as a file of that size, unless it is there. Returns 0, or -1: EEXIST. */
int paths_make(const char *whole, mode_t mode, int64_t size);

/* What is in it, mapped; NULL: there is none, or it is a folder. To be unmapped by paths_unmap. */
struct profile_stand_in *paths_map(const char *stand_in);
void paths_unmap(struct profile_stand_in *s);

/* The file is at least so long now. -1: not known, nothing is changed. */
void paths_grow(struct profile_stand_in *s, int64_t end);

/* The file of the real run that holds what the program would read: to open for reading. Returns 0, or -1:
 * it has left none. */
int paths_content(const struct profile_stand_in *s, char out[PROFILE_PATH_MAX]);

#pragma GCC visibility pop

#endif
