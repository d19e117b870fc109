/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_TEXT_TARGET_H
#define BEFF_TEXT_TARGET_H
/* Floor 2, free of MPI. Whether a text of results can be written, asked before the measurement. */

/* A file that is there may be replaced when it is empty, or begins with the program's name as all
 * its texts do. What is no file, /dev/stdout or a pipe, is not looked into: reading could wait for
 * ever. option: for messages. Local; makes the file when there is none. Returns 0, ERR_USAGE or
 * ERR_IO. */
int beff_text_check(const char *option, const char *path, const char *program);

#endif
