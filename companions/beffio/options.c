/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/version.h"

#define AT(member)         CONF_AT(struct beffio_options, member)
#define CHOICE(member, of) CONF_CHOICE_AT(struct beffio_options, member, of)

/* --quick: seconds for all partitions, and how much each writes. */
#define QUICK_S     60.0
#define QUICK_BYTES INT64_C(2000000000)

static const struct conf_option table[] = {
    {.name = "definition",
     .arg = "D",
     .def = "1.x",
     CHOICE(definition, "0.5|1.x|2.1"),
     .group = "What is measured",
     .help =
         "Which publication says how long to measure and what the value is. 0.5: bandwidths of "
         "the patterns, weighted by their time unit U. 1.x: 25 % writing, 25 % rewriting, 50 % "
         "reading. 2.1: square root of writing times reading, as the released program. The other "
         "two values are computed as well and marked as such."},
    {.name = "time",
     .arg = "SECONDS",
     .key = 'T',
     AT(t_s),
     CONF_RANGE(0.001, 1e7),
     .help = "Scheduled time: of each partition with 0.5 and 1.x, of all partitions together with "
             "2.1. It limits the writing; rewriting and reading repeat what was written. Default: "
             "the least for a valid result, 600, 900 and 1800 s."},
    {.name = "partitions",
     .arg = "N,N,...",
     .key = 'N',
     AT(partitions),
     .help = "Numbers of processes to measure, at most 10, in this order. Default: three, from few "
             "processes to all; with 0.5 all processes, then half of them for half of the time. "
             "The value of the system is the largest."},
    {.name = "termination",
     .arg = "HOW",
     .def = "definition",
     CHOICE(termination, "definition|geometric|per-call"),
     .help = "When it is decided whether time is up: after batches of 1, 1, 2, 4, ... calls, or "
             "after each call, which costs a barrier and a broadcast per call. As released it is "
             "each call under 2.1, else batches."},
    {.name = "noshared",
     AT(noshared),
     .help =
         "Pattern type 1 without the shared file pointer, where the library has none. Not valid."},
    {.name = "rewrite",
     AT(rewrite),
     .help =
         "With 2.1: the rewriting of types 1 to 4 takes part in the schedule and in the printed "
         "value of rewriting. All types are rewritten in any case."},
    {.name = "mb",
     .arg = "MBYTES",
     AT(mb),
     CONF_RANGE(1, 1e12),
     .help =
         "-MB: memory per process in units of 2^20 bytes, from which M_PART, the largest chunk, "
         "follows (see --m-part). Default: the memory of a node shared by its processes."},
    {.name = "mt",
     .arg = "MBYTES",
     AT(mt),
     CONF_RANGE(1, 1e15),
     .help = "-MT: memory of the whole system in units of 2^20 bytes. Default: that of all nodes."},
    {.name = "unique",
     AT(unique),
     .help = "Open files with MPI_MODE_UNIQUE_OPEN, the default with 2.1, as released. It allows a "
             "library to put off every sync until the file is closed. Not valid with 0.5 and 1.x."},
    {.name = "nounique",
     AT(nounique),
     .help = "Without MPI_MODE_UNIQUE_OPEN: the default with 0.5 and 1.x."},
    {.name = "buffer-offset",
     .arg = "BYTES",
     .def = "definition",
     AT(buffer_offset),
     .help = "Where buffers begin: so many bytes off a page, a multiple of 8 from 0 to 4088, or "
             "'malloc': where malloc puts them, 16 bytes off with glibc. By default malloc under "
             "2.1, as released, else 0. It is printed with the result, because reading depends on "
             "it (docs/beffio.md)."},
    {.name = "info",
     .arg = "FILE",
     .key = 'i',
     AT(info),
     .help = "Hints, a line each: processes access type chunk key value (docs/beffio.md)."},
    {.name = "count",
     .arg = "WHAT",
     .def = "definition",
     CHOICE(count, "definition|none|all"),
     .help =
         "Whether making files counts as opening them for writing, and removing them as closing "
         "them after reading. As released they do under 2.1, in the papers they do not: the "
         "definition decides, or never, or always."},
    {.name = "m-part",
     .arg = "WHOSE",
     .def = "definition",
     CHOICE(m_part, "definition|node|process"),
     .help = "Whose memory M_PART is 1/128 of: by default a node's with 0.5 and 1.x, a process's "
             "with 2.1."},
    {.name = "shift-read",
     .arg = "N",
     .def = "0",
     AT(shift_read),
     .help = "Reading, each process reads what the one N ranks further wrote; 'node': what one on "
             "another node wrote, whose memory does not help."},
    {.name = "drop-cache",
     AT(drop_cache),
     .help =
         "Before reading, evict the files from the page cache of all nodes, outside the clock."},
    {.name = "repeat",
     .arg = "N",
     .def = "1",
     AT(repeat),
     CONF_RANGE(1, 1000),
     .help = "Number of repetitions of the whole measurement. The result is the repetition with "
             "the median value; beside it stand the largest, which the papers take, and all "
             "others."},
    {.name = "quick",
     AT(quick),
     .help = "A trial run: usually under two minutes, at most 2 GB per partition, M_PART at most "
             "32 MB. "
             "Never valid."},

    {.name = "path",
     .arg = "DIR",
     .key = 'p',
     .def = ".",
     AT(path),
     .group = "Files",
     .help = "Directory of the data files, on the file system to be measured; all nodes share it."},
    {.name = "prefix",
     .arg = "NAME",
     .key = 'f',
     .def = "b_eff_io",
     AT(prefix),
     .help = "Data files are DIR/NAME_data_...; when given, text goes to NAME.prot and NAME.sum as "
             "well, in the current directory or where a path in NAME leads; also when both of -MB "
             "and -MT are given."},
    {.name = "keep",
     AT(keep),
     .help = "Keep the data files. Otherwise they are removed at the end and on Ctrl-C, and those "
             "of a run that was killed by the next run of any nht1 program in the same directory."},
    {.name = "force",
     AT(force),
     .help = "Overwrite data and text files of these names that this program did not write."},
    {.name = "max-space",
     .arg = "BYTES",
     AT(max_space),
     CONF_RANGE(1, 9e18),
     .help = "Limit on the space of the data files, up to 95 % of the free space (half of the free "
             "memory on a file system in memory). Default: twice the estimate of a probe, at least "
             "1/50 and at most 1/10 of the free space; a run that needs more is refused unless "
             "this option allows it. A run whose writing stops at the limit is not valid."},
    {.name = "cache",
     .arg = "BYTES",
     AT(cache),
     CONF_RANGE(1, 9e18),
     .help =
         "What the file system can keep in memory; a cache-honest result moves 20 times as much "
         "with each access. Default: the memory of the nodes of the partition."},

    {.name = "check",
     .arg = "WHAT",
     .def = "size",
     CHOICE(check, "size|none|sample|read|every"),
     .group = "What is checked and reported",
     .help =
         "What is read back outside the clock. read: everything after reading, and samples after "
         "writing and rewriting. sample: only samples. size: read, or sample where the files "
         "of a partition are larger than 256 GiB. every: everything after each access, which "
         "may change what the cache holds. none: only the last call of each timed read is "
         "looked at; not valid."},
    {.name = "errors",
     .arg = "N",
     .key = 'e',
     .def = "1",
     AT(errors),
     CONF_RANGE(0, 1000),
     .help = "How many errors in the data are described."},
    {.name = "dry-run",
     AT(dry_run),
     .help =
         "Print patterns, sizes, times and space, and end. The rate of writing is probed with a "
         "small file, unless --rate is given. With --json: as JSON."},
    {.name = "ranks",
     .arg = "N",
     AT(ranks),
     CONF_RANGE(1, 1e8),
     .help = "With --dry-run: of a job of N processes."},
    {.name = "nodes",
     .arg = "N",
     AT(nodes),
     CONF_RANGE(1, 1e7),
     .help = "With --dry-run and --ranks: on N nodes like this one."},
    {.name = "rate",
     .arg = "BYTES_PER_S",
     AT(rate),
     CONF_RANGE(1, 1e18),
     .help = "Rate of writing of all processes together that the estimate of space goes by."},
    {.name = "json",
     .arg = "FILE",
     AT(json),
     .output = true,
     .help = "Write the complete result to this file (docs/schema/nht1-beffio-1.json)."},
    {.name = "sum",
     .arg = "FILE",
     AT(sum),
     .output = true,
     .help = "Write the summary with the columns of the released program's .sum file."},
    {.name = "protocol",
     .arg = "FILE",
     AT(protocol),
     .output = true,
     .help = "Write a line per pattern, a .prot file."},
    CONF_PROGRESS(struct beffio_options),
    CONF_QUIET(struct beffio_options),
    {.name = NULL},
};

const struct conf_program beffio_program = {
    .name = "nht1-beffio",
    .version = nht1_build,
    .summary =
        "Effective I/O bandwidth: 43 patterns of file access through MPI-IO, in five types and "
        "seven chunk sizes, wellformed and not, written, rewritten and read on several numbers "
        "of processes, and one number that characterises them all: b_eff_io.",
    .examples = "  mpirun -np 4 nht1-beffio --quick -p /scratch/me\n"
                "      a trial run, usually under two minutes\n"
                "  mpirun -np 64 nht1-beffio -p /scratch/me --json result.json\n"
                "      three partitions of 15 minutes each, as the papers define it\n"
                "  mpirun -np 64 nht1-beffio --definition 2.1 -p /scratch/me -f site\n"
                "      as the released program does it, with site.prot and site.sum\n"
                "  mpirun -np 64 nht1-beffio -MB 2048 -MT 131072 -T 5400 -N 16,64 -p /scratch/me\n"
                "      the released program's spelling\n"
                "  mpirun -np 64 nht1-beffio --dry-run --rate 10G\n"
                "      patterns, sizes, times and space\n"
                "Exit status: 0 success, 1 wrong usage, 2 wrong data, 3 I/O, memory or MPI error,\n"
                "or interrupted, 4 finished but not valid as a result.\n",
    .options = table,
};

/* The words of a released command line in our spelling: one dash and several letters do not mean
 * what they say. [out] argc + 1 pointers, the last NULL, some borrowed from argv. */
static void words_of(int argc, char **argv, char **out)
{
    static struct {
        const char *released;
        char ours[16];
    } word[] = {{"-MB", "--mb"},
                {"-MT", "--mt"},
                {"-noshared", "--noshared"},
                {"-nounique", "--nounique"},
                {"-unique", "--unique"},
                {"-rewrite", "--rewrite"},
                {"-keep", "--keep"}};
    for (int i = 0; i < argc; i++) {
        out[i] = argv[i];
        for (size_t w = 0; i > 0 && w < sizeof word / sizeof word[0]; w++)
            if (strcmp(argv[i], word[w].released) == 0) out[i] = word[w].ours;
    }
    out[argc] = NULL;
}

static int name_set(char out[4096], const char *option, const char *given, const char *end)
{
    if (!given) return 0;
    const int n = snprintf(out, 4096, "%s%s", given, end);
    if (given[0] && n < 4096 - 16) return 0;
    return err_set(ERR_USAGE, "%s: the name of the file is empty or too long", option);
}

/* texts: .sum and .prot are wanted as well. */
static int names_set(struct beffio_setup *s, bool texts)
{
    const struct beffio_options *o = &s->opt;
    const char *slash = strrchr(o->prefix, '/'), *base = slash ? slash + 1 : o->prefix;
    if (!base[0] || strcmp(base, ".") == 0 || strcmp(base, "..") == 0 ||
        strlen(base) >= sizeof s->prefix - 32)
        return err_set(ERR_USAGE, "-f '%s': what files are to be called is missing or too long",
                       o->prefix);
    snprintf(s->prefix, sizeof s->prefix, "%s", base);
    TRY(name_set(s->sum, "-f", texts ? o->prefix : NULL, ".sum"));
    TRY(name_set(s->protocol, "-f", texts ? o->prefix : NULL, ".prot"));
    TRY(name_set(s->sum, "--sum", o->sum, ""));
    return name_set(s->protocol, "--protocol", o->protocol, "");
}

int beffio_setup_parse(void *setup, int argc, char **argv)
{
    struct beffio_setup *s = setup;
    const struct beffio_options *o = &s->opt;
    const struct conf_program *const p = &beffio_program;
    bool given[sizeof table / sizeof table[0]] = {false};
    memset(s, 0, sizeof *s);
    char **words = mem_new(argc + 1, sizeof *words, "the command line");
    if (!words) return ERR_NOMEM;
    words_of(argc, argv, words);
    const int rc = conf_parse(p, argc, words, &s->opt, NULL, given);
    free(words);
    if (rc != CONF_RUN) return rc;
    const struct {
        bool both;
        const char *names;
    } clash[] = {{o->unique && o->nounique, "--unique and --nounique"},
                 {o->quick && o->t_s > 0, "--quick and -T"},
                 {o->keep && o->repeat > 1, "--keep and --repeat"}};
    for (size_t i = 0; i < sizeof clash / sizeof clash[0]; i++)
        if (clash[i].both)
            return err_set(ERR_USAGE, "%s exclude each other: give one", clash[i].names);
    if ((o->ranks > 0 || o->nodes > 0) && !o->dry_run)
        return err_set(ERR_USAGE, "--ranks and --nodes are for --dry-run");
    s->schedule.definition = (enum beffio_definition)conf_chosen(p, o, "definition");
    s->schedule.count = (enum beffio_count)conf_chosen(p, o, "count");
    s->schedule.all_rewrites = o->rewrite;
    const bool released = s->schedule.definition == BEFFIO_2_1;
    const int termination = conf_chosen(p, o, "termination");
    s->schedule.per_call = termination == 2 || (termination == 0 && released);
    s->unique = o->unique || (released && !o->nounique);
    TRY(buffer_offset_parse(o->buffer_offset, released ? BUFFER_MALLOC : 0, &s->buffer_offset));
    s->check = (enum beffio_check)conf_chosen(p, o, "check");
    s->m_part = (enum beffio_m_part)conf_chosen(p, o, "m-part");
    s->shift = -1;
    if (strcmp(o->shift_read, "node") != 0 &&
        (num_int_parse(o->shift_read, &s->shift) < 0 || s->shift < 0))
        return err_set(ERR_USAGE, "--shift-read '%s': a number of ranks from 0 on, or 'node'",
                       o->shift_read);
    const bool as_released = conf_given(p, given, "mb") && conf_given(p, given, "mt");
    return names_set(s, as_released || conf_given(p, given, "prefix"));
}

int beffio_setup_schedule(struct beffio_setup *s, int procs)
{
    struct beffio_schedule *c = &s->schedule;
    char word[32];
    int64_t n;
    c->partitions_n = 0;
    c->halves = false;
    for (const char *list = s->opt.partitions; conf_next_word(&list, word, sizeof word);) {
        if (num_int_parse(word, &n) < 0 || n < 1 || n > procs)
            return err_set(ERR_USAGE,
                           "-N '%s': no number of processes between 1 and the %d that were started",
                           word, procs);
        if (c->partitions_n == BEFFIO_PARTITIONS_MAX)
            return err_set(ERR_USAGE, "-N: more than %d partitions", BEFFIO_PARTITIONS_MAX);
        c->procs[c->partitions_n++] = (int)n;
    }
    if (c->partitions_n == 0 && c->definition == BEFFIO_0_5) beffio_halves(c, procs);
    if (c->partitions_n == 0) c->partitions_n = beffio_default_partitions(procs, c->procs);
    c->t_s = s->opt.t_s > 0 ? s->opt.t_s : beffio_valid_time_s(c->definition);
    if (!s->opt.quick) return 0;
    c->t_s = 1;
    c->t_s = QUICK_S / beffio_run_time_s(c);
    s->quick_bytes =
        QUICK_BYTES *
        (beffio_partition_by_partition(c->definition) && !s->opt.keep ? 1 : c->partitions_n);
    return 0;
}
