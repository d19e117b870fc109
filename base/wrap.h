/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_WRAP_H
#define BASE_WRAP_H
/* Floor 0. Text for people in lines of limited width. */
#include <stdio.h>

/* Prints first and then the words of text, with a single blank between words, in lines of at most
 * width columns as far as words allow, and ends the last line. Lines after the first are set in by
 * indent columns. Local. */
void wrap_print(FILE *to, int width, const char *first, int indent, const char *text);

#endif
