/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library for LD_PRELOAD: MPI_File_iwrite_at of an MPI library that does not have it right. By
 * NHT1_PROBE_CALL it ends the process ("crash"), never returns ("hang"), which takes two hours of a test's
 * clock (clock.c), or fails without having written ("fail"). With "garbage" it works, but writes zeros,
 * words of the probe and a line of more than 64 KiB without an end to standard output, with "flood" it
 * writes there without end. With "interrupt" Ctrl-C comes when the folder of the probe has just been
 * made. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hang(void)
{
    const char *clock = getenv("NHT1_CLOCK");
    FILE *f = clock ? fopen(clock, "a") : NULL;
    if (f) fprintf(f, "%7200s", ""), fclose(f);
    for (;;)
        pause();
}

static void babble(const char *text, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t put = write(STDOUT_FILENO, text, bytes);
        if (put <= 0) _exit(1);
        text += put;
        bytes -= (size_t)put;
    }
}

int MPI_File_iwrite_at(MPI_File fh, MPI_Offset at, const void *buf, int count, MPI_Datatype type,
                       MPI_Request *request)
{
    const char *how = getenv("NHT1_PROBE_CALL");
    if (how && strcmp(how, "crash") == 0) abort();
    if (how && strcmp(how, "hang") == 0) hang();
    if (how && strcmp(how, "garbage") == 0) {
        static const char zeros[] = "a line with a zero \0 in it\n@nothing @end\n@end";
        char *line = malloc(100000);
        if (!line) abort();
        babble(zeros, sizeof zeros);
        babble(memset(line, 'x', 100000), 100000);
        free(line);
    }
    if (how && strcmp(how, "flood") == 0) {
        static char lines[1 << 20];
        memset(lines, '\n', sizeof lines);
        for (;;)
            babble(lines, sizeof lines);
    }
    if (how && strcmp(how, "fail") == 0) return MPI_ERR_UNSUPPORTED_OPERATION;
    return PMPI_File_iwrite_at(fh, at, buf, count, type, request);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    int (*real)(int, const char *, int, const char *, unsigned) =
        (int (*)(int, const char *, int, const char *, unsigned))dlsym(RTLD_NEXT, "renameat2");
    const char *how = getenv("NHT1_PROBE_CALL");
    const int rc = real(from_dir, from, to_dir, to, flags);
    if (how && strcmp(how, "interrupt") == 0 && strstr(to, ".nht1-probe")) kill(getppid(), SIGINT);
    return rc;
}
