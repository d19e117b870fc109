/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H
/* Layer 0. Text that comes from a file, made harmless for a terminal. What a terminal
 * would interpret, or what disguises a line as another one, becomes '?', one for each
 * character: control characters (U+0000 to U+001F, U+007F to U+009F: ESC, CR, line feed, CSI),
 * separators of lines (U+2028, U+2029), marks that turn the direction of writing round (U+061C,
 * U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), and bytes that are no UTF-8. Error messages
 * (base/err), notes and findings of nht1-verify pass through here as they are made; what prints a
 * text out of a file in another way calls it. All functions are local. */
#include <stddef.h>
#include <stdio.h>

/* In place; the text does not grow. Returns text. */
char *plain_text(char *text);

/* Copies a text, cut to size bytes with its NUL, and makes it plain. Returns out. */
char *plain_copy(char *out, size_t size, const char *text);

/* Prints one line, made plain as a whole, and ends it: what comes out of files, names or the environment
 * cannot end it before. */
void plain_line(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints first and then the words of text, made plain, with a single blank between words, in lines
 * of at most width columns as far as words allow, and ends the last line. Lines after the first are
 * set in by indent columns. */
void plain_wrap(FILE *to, int width, const char *first, int indent, const char *text);

/* Prints "NAME text", the text in a column of its own and wrapped as by plain_wrap: the lines that
 * begin what a program says. name: of up to 9 characters. */
void plain_entry(FILE *to, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
