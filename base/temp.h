/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_TEMP_H
#define BASE_TEMP_H
/* Layer 0. Files that are made under another name beside the one whose place they will take:
 * NAME.XXXXXXXX.tmp, eight hexadecimal digits. Leftovers of a killed program are recognised by their
 * names. Where NAME has more than 200 bytes it is cut, and a hash of the whole of it follows, so
 * that the leftovers of one file are told from those of another. Local. */
#include <stdbool.h>
#include <stddef.h>

enum { TEMP_STEM_MAX = 220 };

/* Makes an empty file beside path, open for reading and writing; the umask decides on its
 * permissions. [out] name: its path, to be freed; NULL on failure. Returns the descriptor,
 * ERR_IO or ERR_NOMEM. */
int temp_open(const char *path, char **name);

/* As temp_open, and held, as temp_sweep sees it, until the caller closes [out] hold, a descriptor for that
 * alone: -1 where there are no locks. */
int temp_open_held(const char *path, char **name, int *hold);

/* Removes the files beside path that temp_open_held has made for it and that no process holds: leftovers of
 * killed programs of this user. Where there are no locks they stay. */
void temp_sweep(const char *path);

/* Whether name, without directories, is one that temp_open gives to files beside the one called
 * base, without directories. */
bool temp_is_of(const char *name, const char *base);

/* What such names of files beside base begin with: base, or as much of it as leaves room for the rest, no half
 * of a UTF-8 character, and its hash (base/names.h). */
void temp_stem(const char *base, char out[TEMP_STEM_MAX]);

/* Bytes of the stem of a name, 0: temp_open gives no such name. */
size_t temp_stem_of(const char *name);

#endif
