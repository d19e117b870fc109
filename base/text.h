/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H
/* Layer 0. A text that is assembled in memory and used as a whole. All functions are local.
 */
#include <stdio.h>

/* Grows as needed. */
struct text {
    FILE *to; /* write here */
    char *body;
    size_t size;
};

/* Returns 0 or ERR_NOMEM. */
int text_begin(struct text *t);

/* Closes it. out: [out] what was written, malloc'ed. Returns 0, or ERR_NOMEM when some of it was
 * lost; out is NULL then. */
int text_end(struct text *t, char **out);

/* Closes it and writes it to a file as js_result_text does. Returns 0, ERR_NOMEM or what that returns. */
int text_save(struct text *t, const char *path);

/* Opens a file for reading as fopen does, but without waiting: a pipe without a writer reads as empty, where
 * fopen would wait for one. NULL with errno set. */
FILE *text_open(const char *path);

/* Cuts a text at the first of ends and leaves single blanks, none at the end: what MPI libraries say of
 * themselves holds tabs, line feeds, and blanks behind. In place. */
void text_cut_words(char *text, const char *ends);

#endif
