/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-probe: what works on a file system, what fails, crashes or hangs there. nht1-bt --probe is the
 * same: an option that both have means the same to both. */
#include <mpi.h>

#include "base/program.h"
#include "base/version.h"
#include "io/probe/probe.h"
#include "io/probe/process.h"

#define AT(member) CONF_AT(struct probe_request, member)

static const struct conf_option table[] = {
    {.name = "out",
     .arg = "PATH",
     .def = ".",
     AT(out),
     .group = "What is tried",
     .help =
         "A file that is to be written, or its folder. What works is tried in that folder, in a "
         "folder of the probe's own that is removed at the end; the file is not touched."},
    {.name = "probe-limit",
     .arg = "SECONDS",
     .def = "10",
     AT(limit_s),
     CONF_RANGE(1, 3600),
     .help = "Time after which a check counts as hanging."},
    {.name = "known", AT(known), .help = "Try only where nothing was found before."},
    {.name = "tc-store",
     .arg = "FILE",
     AT(tc_store),
     .group = "What is kept and reported",
     .help =
         "The store of compute-only times of nht1-bt: findings are kept in probe.json beside it, "
         "by file system and MPI library. Default: $XDG_STATE_HOME/nht1/tc.json, else "
         "~/.local/state/nht1/tc.json."},
    {.name = "json",
     .arg = "FILE",
     AT(json),
     .output = true,
     .help = "Write the complete result to this file (docs/schema/nht1-bt-probe-1.json)."},
    CONF_PROGRESS(struct probe_request),
    CONF_QUIET(struct probe_request),
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "nht1-probe",
    .version = nht1_build,
    .summary =
        "Tries what works on a file system, and says what fails, crashes or hangs there: MPI-IO "
        "with "
        "each of its components, O_DIRECT, io_uring, preallocation, locks and whatever else "
        "writing "
        "rests on, in processes with time limits. The findings are kept: nht1-bt --io all and --io "
        "auto leave out a writer that was found not to work.",
    .examples = "  nht1-probe\n"
                "      what works in this folder\n"
                "  nht1-probe --out /scratch/me/dump.bin\n"
                "      what works where that file is to be\n"
                "  nht1-probe --out /scratch/me --json probe.json\n"
                "      the same of a folder, with all findings as JSON\n"
                "  nht1-probe --out /scratch/me --known\n"
                "      what an earlier probe found there; tried now where there was none\n"
                "Needs no launcher: it starts the two processes that try MPI-IO itself.\n"
                "Exit status: 0 everything was tried, whatever came of it, 1 wrong usage, 3 the\n"
                "folder cannot be written to, has no room or does not answer, or interrupted.\n",
    .options = table,
};

static int run(void *of)
{
    return probe_run(MPI_COMM_WORLD, &program, of, of);
}

static const struct program frame = {
    .conf = &program, .setup_bytes = sizeof(struct probe_request), .run = run};

int main(int argc, char **argv)
{
    int status;
    if (probe_child(argc, argv, &status)) return status;
    return program_main(&frame, argc, argv);
}
