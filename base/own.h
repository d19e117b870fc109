/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_OWN_H
#define BASE_OWN_H
/* Layer 0. Files of a program's own: what it makes in a user's directory and what must not survive it,
 * such as data files that are written to be measured, locks, folders to try things in. They go when
 * the program ends, when it is asked to stop, and where it was killed, with the next run of any of the
 * programs in that directory. Nothing else is ever removed.
 *
 * What is made stands in a note beside it, .nht1-KEY.own, KEY 16 hexadecimal digits. Its maker holds it
 * with flock for as long as it lives, and so who finds it free knows that the maker is dead:
 *
 *     nht1 own 1
 *     maker BOOT NAMESPACE PID START JOB HELD HOST
 *     file DEVICE INODE BORN NAME       a regular file, or
 *     folder DEVICE INODE BORN NAME     a folder with files, of this name and identity (base/identity.h)
 *     lock NAME                         an empty file that nobody holds (base/lock.h)
 *     temps NAME                        NAME.XXXXXXXX.tmp (base/temp.h), unless who lives has them too
 *
 * A line counts when it ends. Control characters and % are written %XX.
 *
 * A file has a name that only the note explains, .nht1-KEY-NUMBER, until its line stands in the note;
 * then it is renamed, which replaces nothing. So at no time is one of ours unknown, nor is what
 * somebody else put in its place taken for ours. Only notes and files of the user who sweeps count.
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

enum { OWN_FILES_MAX = 128 }; /* there at a time, of one struct own */

struct own;

/* Removes from the directory what dead programs of this user have left there, and, unless job is 0, what
 * the processes of this job have made, dead or alive. What cannot be removed stays. */
void own_sweep(const char *dir, uint64_t job);

/* A number for own_begin that no other job has. */
uint64_t own_job(void);

/* To be called behind own_sweep, which one of a job's processes does. Nothing is made in the directory
 * before there is something to note. job: the same for
 * processes that are to stop together, each of which then removes what the others made; 0: none. keep:
 * files and folders that are made are results: not noted, never removed. [out] o: to be given to
 * own_end, also after an error. Returns 0, ERR_IO or ERR_NOMEM. */
int own_begin(struct own **o, const char *dir, uint64_t job, bool keep);

/* From here on, once the process is asked to stop (base/stop.h), all that was made goes: what this
 * process made in the handler of the signal, at once, and then that of the rest of the job. Only names are
 * taken away there: descriptors are held, and the kernel gives the space free when the process is gone.
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
 * it counts as made by own_make. id: of it. */
int own_expect(struct own *o, const char *name, struct identity id);
int own_there(struct own *o, const char *name, struct identity id);

/* Whether a file of that name was made and not removed. */
bool own_has(const struct own *o, const char *name);

/* Removes it, if it is still the one that was made, and closes it, which gives the space free. Returns 0,
 * also where there is none, or ERR_IO. */
int own_remove(struct own *o, const char *name);

/* Leaves it to the user from here on. */
void own_give(struct own *o, const char *name);

/* The folder of a path that need not be there, and the name in it, borrowed from path. */
const char *own_split(const char *path, char folder[PATH_MAX]);

/* Removes what is left, the lock and the note, and ends own_watch. o may be NULL. */
void own_end(struct own *o);

/* Lets go of the note and leaves everything as it is, for own_sweep of the job. maker, for own_begin_as:
 * who is to live for the files to stay, where that is not this process. */
int own_begin_as(struct own **o, const char *dir, uint64_t job, int64_t maker);
void own_leave(struct own *o);

#endif
