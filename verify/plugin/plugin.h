/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_PLUGIN_PLUGIN_H
#define VERIFY_PLUGIN_PLUGIN_H
/* What nht1-verify asks of the library of a file format. A plug-in is a shared object,
 * LIB/nht1/libnht1-read-FORMAT.so, that links the library and defines one struct plugin;
 * verify/container.c loads it when there is such a file. It uses nothing of the program and knows nothing of BT:
 * names, and what they must hold, come from outside. */
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_SYMBOL    "nht1_plugin"
#define PLUGIN_RANK      5    /* dimensions of the variable with the values */
#define PLUGIN_RATIO_MAX 1100 /* deflate makes data 1032 times smaller at most */

/* An open file. Numbers of any type are read as doubles: exact up to 2^53. */
struct plugin_file {
    int64_t file, variable;          /* the library's handles */
    char library[64];                /* name and version */
    int64_t length[PLUGIN_RANK];     /* of the dimensions, the slowest first */
    int64_t chunk[PLUGIN_RANK];      /* sides of the pieces that it is stored in; 0: it is in one */
    char dimension[PLUGIN_RANK][32]; /* their names, cut; "" where one has none */
    char error[256];                 /* why the last call failed: half a sentence */
};

/* All functions but close return 0, or -1 with a reason in `error`. */
struct plugin {
    /* Opens a file, and in it a variable of PLUGIN_RANK dimensions of 8-byte IEEE numbers whose
     * values lie in the file itself. f: [out] to be closed whatever is returned. */
    int (*open)(struct plugin_file *f, const char *path, const char *variable);
    /* Reads a box of the variable, `count` values along each dimension. */
    int (*read)(struct plugin_file *f, const int64_t *from, const int64_t *count, double *to);
    /* An attribute of the file: a text that fits, a single number. */
    int (*text)(struct plugin_file *f, const char *name, char *to, size_t size);
    int (*number)(struct plugin_file *f, const char *name, double *to);
    /* All of a variable of one dimension, which must be of this length. */
    int (*series)(struct plugin_file *f, const char *name, int64_t length, double *to);
    void (*close)(struct plugin_file *f);
};

#endif
