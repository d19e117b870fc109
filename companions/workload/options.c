/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/options.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/version.h"
#include "companions/workload/access.h"

#define AT(member)         CONF_AT(struct workload_options, member)
#define CHOICE(member, of) CONF_CHOICE_AT(struct workload_options, member, of)

static const struct conf_option table[] = {
    {.name = "make",
     .arg = "FILE",
     AT(make),
     .group = "What is run",
     .help = "Write a workload of one working point and exit: the arguments are KEY=VALUE, the "
             "keys are the nine numbers; those not given are taken from the reference workload (1 "
             "GB in calls of 8 kB by 8 processes, 80 % read). FILE - is standard "
             "output."},
    {.name = "reference",
     AT(reference),
     .help = "Instead of a file, replay the reference workload, as changed by --set; "
             "processNum is the number of processes that were started, and contMean follows "
             "sizeMean, unless they are set."},
    {.name = "patterns",
     AT(patterns),
     .help = "Instead of a file, run all spatial patterns in all temporal patterns, as changed by "
             "--set."},
    {.name = "set",
     .arg = "KEY=VALUE",
     AT(set),
     .help =
         "Replace one of the nine numbers in every working point, not in those of a profile, which "
         "name their calls, or a directive in every section of a job file. May be repeated."},
    {.name = "seed",
     .arg = "N",
     .def = "-1",
     AT(seed),
     CONF_RANGE(-1, 9e18),
     .help = "Seed of everything that is random; the same seed gives the same calls at the same "
             "places. -1: that of the file."},
    {.name = "depth",
     .arg = "N",
     .def = "4",
     AT(depth),
     CONF_RANGE(1, WORKLOAD_DEPTH_MAX),
     .help =
         "Number of nonblocking calls that a process keeps in flight. A split collective call is "
         "one, until the next call."},
    {.name = "buffer",
     .arg = "BYTES",
     .def = "256Mi",
     AT(buffer),
     CONF_RANGE(4096, 1e15),
     .help = "Memory for data, per process. What was read last and fits into it is checked after "
             "the clock; data with gaps must fit into it."},
    {.name = "think",
     AT(think),
     .help = "Keep the times between the calls of working points (think=\"seconds\"), which are "
             "left out otherwise. Job files say themselves when they think."},
    {.name = "sync",
     .arg = "WHEN",
     .def = "end",
     CHOICE(sync, "none|call|end"),
     .help = "When data are flushed to the device, inside the clock. end: at the end of each phase "
             "that writes; call: also after each collective writing call, each of POSIX, and each "
             "writing call of "
             "recorded accesses; none: not at all."},

    {.name = "out",
     .arg = "FILE",
     .def = "nht1-workload.dat",
     AT(out),
     .group = "Files",
     .help = "The data file, on the file system to be measured; further ones are FILE.1 and so on, "
             "a process's own have its number behind them."},
    {.name = "keep",
     AT(keep),
     .help = "Keep the data files. Otherwise they are removed at the end and on Ctrl-C, and those "
             "of a run that was killed by the next run of any nht1 program in the same directory."},
    {.name = "force",
     AT(force),
     .help = "Overwrite regular files of these names, once there is room for the new ones."},
    {.name = "hint",
     .arg = "KEY=VALUE",
     AT(hint),
     .help = "Hint for MPI_File_open. May be repeated."},

    {.name = "check",
     .arg = "WHAT",
     .def = "all",
     CHOICE(check, "none|all"),
     .group = "What is checked and reported",
     .help = "Check data outside the clock: what was read while it lies in the buffers, what was "
             "written by reading it back."},
    {.name = "dry-run",
     AT(dry_run),
     .help = "Print what would be run, with calls, bytes and the lengths of the files, and exit. "
             "With data auto, whose amount is found by trying, these are of the first try. Ends "
             "with the status of the run where that would be refused, for lack of room say."},
    {.name = "json",
     .arg = "FILE",
     AT(json),
     .output = true,
     .help = "Write the complete result to this file (docs/schema/nht1-workload-1.json)."},
    CONF_PROGRESS(struct workload_options),
    CONF_QUIET(struct workload_options),
    {.name = NULL},
};

const struct conf_program workload_program = {
    .name = "nht1-workload",
    .version = nht1_build,
    .summary =
        "Synthetic workloads of file access: a list of working points, nine numbers each, as a "
        "profile of a program or a person describes them, replayed through all data access "
        "functions of MPI-IO; a job file of spatial and temporal patterns; or the accesses of a "
        "program, as nht1-profile --accesses records them, as the same POSIX calls.",
    .args = "FILE.xml|FILE.conf|FILE.ini|FILE.jsonl",
    .max_args = WORKLOAD_WORDS_MAX,
    .examples = "  nht1-workload --make office.xml processNum=4 uniqueBytes=200000000\n"
                "      a working point; what is not given is that of the reference workload\n"
                "  mpirun -np 4 nht1-workload office.xml --out /scratch/me/data\n"
                "      replay it\n"
                "  mpirun -np 4 nht1-workload office.xml --set seqFrac=0.5 --json r.json\n"
                "      the same with half of the calls sequential\n"
                "  mpirun -np 4 nht1-workload config/patterns.conf --out /scratch/me/data\n"
                "      all spatial and temporal patterns\n"
                "  nht1-profile --accesses a.jsonl -- mpirun -np 4 ./program\n"
                "  mpirun -np 4 nht1-workload a.jsonl --out /scratch/me/data\n"
                "      the same bytes at the same offsets as the program\n"
                "Exit status: 0 success, 1 wrong usage or description, 2 wrong data, 3 I/O,\n"
                "memory or MPI error, or interrupted, 4 finished but not valid as a result (too\n"
                "little data).\n",
    .options = table,
};

int workload_options_pair(const char *option, const char *word, char key[64], const char **value)
{
    const char *equal = strchr(word, '=');
    if (!equal || equal - word > 60)
        return err_set(ERR_USAGE, "%s %s: give KEY=VALUE", option, word);
    snprintf(key, 64, "%.*s", (int)(equal - word), word);
    *value = equal + 1;
    return 0;
}

int workload_options_parse(struct workload_options *opt, struct conf_list *words, int argc,
                           char **argv)
{
    memset(opt, 0, sizeof *opt);
    memset(words, 0, sizeof *words);
    const int rc = conf_parse(&workload_program, argc, argv, opt, words, NULL);
    if (rc != CONF_RUN) return rc;
    if (opt->reference && opt->patterns)
        return err_set(ERR_USAGE, "--reference and --patterns exclude each other: give one");
    if (!opt->make && words->n != (opt->reference || opt->patterns ? 0 : 1))
        return err_set(ERR_USAGE, words->n == 0
                                      ? "no workload is named: give a FILE.xml, FILE.conf, "
                                        "FILE.ini or FILE.jsonl (see --help)"
                                      : "more files are named than there is use for");
    return opt->make ? 0 : conf_name_ends("--out", opt->out);
}
