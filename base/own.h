/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_OWN_H
#define BASE_OWN_H
/* Layer 0. Temporary files in a user's directory: data files that are written only to be measured,
 * locks, folders to try things in. The program removes them when it ends and when it is asked to stop;
 * after it was killed, the next run of any of the programs in that directory does (a sweep). Nothing
 * else is ever removed.
 *
 * A process lists what it makes in a note beside it, .nht1-KEY.own, KEY 16 hexadecimal digits. The
 * process, its maker, holds a flock on the note while it lives: a note without a lock has a dead maker.
 *
 *     nht1 own 1
 *     maker BOOT NAMESPACE PID START JOB HELD HOST
 *     file DEVICE INODE BORN NAME       a regular file, or
 *     folder DEVICE INODE BORN NAME     a folder with files, of this name and identity (base/identity.h)
 *     text MARK NAME                    a regular file in whose first 64 KiB this word stands, or
 *     lock NAME                         an empty file that nobody holds (base/lock.h)
 *     temps NAME                        NAME.XXXXXXXX.tmp (base/temp.h), unless a live maker lists them too
 *
 * A line counts when it ends. Control characters and % are written %XX.
 *
 * A file has a name that only the note explains, .nht1-KEY-NUMBER, until its line stands in the note;
 * then it is renamed, which replaces nothing. So at no time is one of ours unknown, nor is a file
 * of another program that took its place mistaken for ours. Only notes and files of the user who sweeps count.
 *
 * Where it cannot be known whether the maker lives, nothing is removed: a note of another host, or, on a
 * file system without locks (HELD 0), of another namespace of processes. A note of this host from before
 * it was last started is a dead one's, unless other hosts serve the file system: hosts may bear one name.
 *
 * All functions are local. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/identity.h"

struct own;

/* Removes from the directory what dead programs of this user have left there, and, unless job is 0, what
 * the processes of this job have made, dead or alive. What cannot be removed stays. */
void own_sweep(const char *dir, uint64_t job);

/* A number for own_begin that no other job has. */
uint64_t own_job(void);

/* Opens the directory; the note is made with the first file that it lists. To be called after own_sweep,
 * which one process of a job calls for all. job: a number that processes which stop together share, each
 * of them then removes what the others made; 0: none. keep: files and folders that are made are results:
 * not noted, never removed. [out] o: to be given to own_end, also after an error. Returns 0, ERR_IO or
 * ERR_NOMEM. */
int own_begin(struct own **o, const char *dir, uint64_t job, bool keep);

/* From here on a request to stop (base/stop.h) removes all that was made: the signal's handler unlinks
 * this process's files at once, a thread those of the rest of the job. Descriptors stay open; the kernel
 * frees the space when the process ends.
 * One at a time in a process; with keep, locks alone. Returns 0 or ERR_NOMEM. */
int own_watch(struct own *o);

/* Notes the lock file NAME, without a slash as all names here, and takes it (lock_take). One for
 * each struct own. Returns as lock_take. */
int own_lock(struct own *o, const char *name);

/* Whether own_lock has a lock; not where the file system has none. */
bool own_locked(const struct own *o);

/* Notes that temp_open will make files beside NAME, up to own_temps_end: to be called after an error,
 * too. */
int own_temps(struct own *o, const char *name);
void own_temps_end(struct own *o);

/* Makes an empty file; what is there already stays and is an error. Returns ERR_IO, or ERR_INTERRUPT
 * where the process was asked to stop meanwhile, and nothing is left. */
int own_make(struct own *o, const char *name);

/* The same of a folder, of which own_end and others remove the files and itself. */
int own_make_folder(struct own *o, const char *name);

/* For a file that the caller makes itself: expect notes it before it gets its name, and once it is there
 * it counts as made by own_make. id: of it. A file that own_adopt cannot open, or has no
 * room for, is removed. */
int own_expect(struct own *o, const char *name, struct identity id);
int own_adopt(struct own *o, const char *name, struct identity id);

/* Notes a file that is replaced again and again, and so has no identity of its own, by a word that no other
 * file holds; mark: of 16 bytes or more, without blanks. */
int own_expect_text(struct own *o, const char *name, const char *mark);

/* Whether a file of that name was made and not removed. */
bool own_has(const struct own *o, const char *name);

/* Removes it, if it is still the one that was made, and closes it, which gives the space free. Returns 0,
 * also where there is none, or ERR_IO. */
int own_remove(struct own *o, const char *name);

/* The folder of a path that need not be there, and the name in it, borrowed from path. */
const char *own_split(const char *path, char folder[PATH_MAX]);

/* Removes what is left, the lock and the note, and ends own_watch. o may be NULL. */
void own_end(struct own *o);

/* Lets go of the note and leaves everything as it is, for own_sweep of the job. maker, for own_begin_as:
 * who is to live for the files to stay, where that is not this process. */
int own_begin_as(struct own **o, const char *dir, uint64_t job, int64_t maker);
void own_detach(struct own *o);

#endif
