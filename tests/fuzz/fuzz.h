/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H
/* Fuzzing. A target is one file tests/fuzz/NAME.c that defines fuzz_one, and a folder
 * tests/corpus/NAME of files that it starts from; the Makefile links it with driver.c:
 *
 *     build/fuzz/NAME FILE-OR-FOLDER...             each input once, as it is (also AFL++'s way)
 *     build/fuzz/NAME --tries N [--seconds S] [--seed K] [--save FOLDER] FILE-OR-FOLDER...
 *                                                   N inputs made from these by mutation
 *
 * An input is a finding when the program is ended by a signal, by a sanitizer, by FUZZ_CHECK, or
 * takes longer than 20 s. It is saved as FOLDER/NAME.TRY and the status is 1. Input number i
 * follows from seed and i alone. `make fuzz` runs all targets. */
#include <stddef.h>
#include <stdio.h>

/* Gives the bytes to what reads such input. Called in an empty folder of its own (tmpfs where there
 * is one), many times in one process: it frees what it takes, and clears the message. */
void fuzz_one(const unsigned char *bytes, size_t size);

/* For targets: makes a file of that name in the folder. */
void fuzz_file(const char *name, const void *bytes, size_t size);

/* Where targets print what nobody reads. */
extern FILE *fuzz_null;

/* What must hold for every input. */
#define FUZZ_CHECK(cond)                                                                           \
    do {                                                                                           \
        if (!(cond)) fuzz_failed(#cond, __FILE__, __LINE__);                                       \
    } while (0)
_Noreturn void fuzz_failed(const char *cond, const char *file, int line);

/* The message of a failed call says something, and nothing that a terminal obeys; it is cleared. */
void fuzz_message(int rc);

#endif
