/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mkreleased SAMPLE [valid | not-valid | noshared | errors | text]: the numbers of a released program's summary
 * (tests/samples), written to standard output by our own writer of summaries, of nht1-beffio or of nht1-beff: both
 * files ought to be the same, but for the line that names the program. A word makes another run of it: valid, not
 * valid, without the shared file pointer, or with 12 wrong values, of two patterns; "text" shows what
 * people read of that of b_eff. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/stamp.h"
#include "companions/beff/report.h"
#include "companions/beffio/report.h"

enum { PATTERN_2 = 2, WRONG_AT = 12, WRONG_N = 12 };

/* The system and the clock are those of the sample. */
static struct utsname sampled;
static time_t when;

int uname(struct utsname *u)
{
    *u = sampled;
    return 0;
}

time_t time(time_t *t)
{
    if (t) *t = when;
    return when;
}

static void system_line(const char *line)
{
    struct tm date = {0};
    (void)sscanf(line, " system name : %64[^\n]", sampled.sysname);
    (void)sscanf(line, " hostname : %64[^\n]", sampled.nodename);
    (void)sscanf(line, " OS release : %64[^\n]", sampled.release);
    (void)sscanf(line, " OS version : %64[^\n]", sampled.version);
    (void)sscanf(line, " machine : %64[^\n]", sampled.machine);
    if (strptime(line, "Date of measurement: %a %b %d %H:%M:%S %Y", &date)) when = timegm(&date);
}

/* --- b_eff_io --- */

static struct beffio_part part[BEFFIO_PARTITIONS_MAX];
static struct beffio_setup io_setup = {.schedule = {.definition = BEFFIO_2_1}, .unique = true};
static struct beffio_job io = {.setup = &io_setup, .part = part};

static enum beffio_access access_of(const char *name)
{
    for (int a = 0; a < BEFFIO_ACCESSES; a++)
        if (strcmp(beffio_access_name((enum beffio_access)a), name) == 0)
            return (enum beffio_access)a;
    fprintf(stderr, "mkreleased: %s is no access\n", name);
    exit(1);
}

/* MB/s of a table's cell, in bytes/s; "-": nothing was measured. */
static double rate(const char *cell)
{
    return strcmp(cell, "-") == 0 ? NAN : strtod(cell, NULL) * 1e6;
}

static void io_row(struct beffio_values *v, const char *line)
{
    char access[16], cell[BEFFIO_TYPES][16];
    int pos;
    if (sscanf(line, "%*d PEs total-%15s %15s %15s %15s %15s %15s", access, cell[0], cell[1],
               cell[2], cell[3], cell[4]) == 6)
        for (int t = 0; t < BEFFIO_TYPES; t++)
            v->type[access_of(access)][t] = rate(cell[t]);
    if (sscanf(line, "%*d PEs %d %*d %15s %15s %15s %15s %15s %15s", &pos, access, cell[0], cell[1],
               cell[2], cell[3], cell[4]) == 7)
        for (int t = 0; t < BEFFIO_TYPES; t++)
            for (int no = beffio_type_first((enum beffio_type)t);
                 no < beffio_type_end((enum beffio_type)t); no++)
                if (beffio_pattern(no, BEFFIO_WORD_BYTES).pos == pos)
                    v->pattern[access_of(access)][no] = rate(cell[t]);
}

static void io_head(const char *line)
{
    struct beffio_schedule *s = &io_setup.schedule;
    static char path[64];
    double mbytes;
    int mb, mt, p[2];
    if (sscanf(line, "MEMORY_PER_PROCESSOR = %d", &mb) == 1)
        io.memory_per_process_bytes = (int64_t)mb << 20;
    if (sscanf(line, "Maximum chunk size = %lf", &mbytes) == 1)
        io.m_part_bytes = (int64_t)(mbytes * 1048576);
    if (sscanf(line, "-N %d,%d T=%lf, MT=%d", &p[0], &p[1], &s->t_s, &mt) == 4) {
        io.memory_total_bytes = (int64_t)mt << 20;
        s->procs[0] = p[0];
        s->procs[1] = p[1];
    }
    if (sscanf(line, "PATH=%63[^,], PREFIX=%63s", path, io_setup.prefix) == 2)
        io_setup.opt.path = path;
}

static void io_line(const char *line)
{
    static struct beffio_part *p;
    char access[16];
    double v[3];
    int procs;
    io_head(line);
    if (sscanf(line, "Summary of file I/O bandwidth accumulated on %d", &procs) == 1) {
        p = &part[io_setup.schedule.partitions_n];
        p->bench.index = io_setup.schedule.partitions_n++;
        p->bench.procs = procs;
        p->bench.layout.m_part_bytes = io.m_part_bytes;
        p->done = true;
        for (int c = 0; c < BEFFIO_CRITERIA; c++)
            p->criterion[c].met = true;
    }
    if (!p) return;
    io_row(&p->values, line);
    if (sscanf(line, " bw_pat2= %lf MB/s write, %lf MB/s rewrite, %lf", &v[0], &v[1], &v[2]) == 3)
        for (int a = 0; a < BEFFIO_ACCESSES; a++)
            p->values.pattern[a][PATTERN_2] = v[a] * 1e6;
    if (sscanf(line, "weighted average bandwidth for %15s : %lf", access, &v[0]) == 2)
        p->values.access[access_of(access)] = v[0] * 1e6;
    if (sscanf(line, "Total amount of data written/read with each access method: %lf", &v[0]) == 1)
        p->values.access_bytes[BEFFIO_WRITE] = (int64_t)(v[0] * 1048576);
    if (sscanf(line, "b_eff_io of these measurements = %lf", &v[0]) == 1) {
        p->values.partition[BEFFIO_2_1] = v[0] * 1e6;
        if (p->values.partition[BEFFIO_2_1] > part[io.best].values.partition[BEFFIO_2_1])
            io.best = p->bench.index;
    }
}

static void io_write(const char *word)
{
    struct beffio_schedule *s = &io_setup.schedule;
    struct beffio_part *last = &part[s->partitions_n - 1];
    if (strcmp(word, "valid") == 0) s->t_s = beffio_valid_time_s(BEFFIO_2_1) * s->partitions_n;
    if (strcmp(word, "noshared") == 0) {
        io_setup.opt.noshared = true;
        for (int i = 0; i < s->partitions_n; i++)
            part[i].criterion[BEFFIO_POINTERS].met = false;
    }
    if (strcmp(word, "errors") == 0) {
        io.wrong_n = WRONG_N;
        last->wrong[BEFFIO_READ].wrong_n = WRONG_N;
        last->wrong[BEFFIO_READ].wrong_by_pattern[WRONG_AT] = WRONG_N - 1;
        last->wrong[BEFFIO_READ].wrong_by_pattern[PATTERN_2] = 1;
    }
    beffio_sum_write(&io, stdout);
}

/* --- b_eff --- */

static struct beff_setup beff_setup = {.opt = {.definition = "3.6"},
                                       .definition = BEFF_36,
                                       .random_n = BEFF_RANDOM_STANDARD,
                                       .reps_n = BEFF_REPS_STANDARD,
                                       .method = {true, true, true}};
static struct beff_job beff = {.setup = &beff_setup,
                               .memory = {.source = "the sample"},
                               .measured = {.offset_bytes = {0, 16}},
                               .placement = "one node"};

static void beff_line(const char *line)
{
    int *const two = beff.topology.grid[0].dims, *const three = beff.topology.grid[1].dims;
    struct beff_summary *s = &beff.summary;
    double a[3], l[3], ping_pong;
    int mb;
    (void)sscanf(line, "2-dim-patterns: size = %d * %d", two, two + 1);
    (void)sscanf(line, "3-dim-patterns: size = %d * %d * %d", three, three + 1, three + 2);
    (void)sscanf(line, "Total execution wall clock time = %lf", &beff.measured.elapsed_s);
    if (sscanf(line, "MEMORY_PER_PROCESSOR = %d", &mb) == 1) {
        beff.memory.process_bytes = (int64_t)mb << 20;
        beff.memory.lmax_bytes = beff_size_lmax(BEFF_36, beff.memory.process_bytes);
        beff_sizes(beff.memory.lmax_bytes, beff.measured.size_bytes);
    }
    if (sscanf(line, "accumulated | %d %lf %*f MB %lf %lf %lf %lf %lf %lf", &s->n, &a[0], &a[1],
               &a[2], &l[0], &l[1], &l[2], &ping_pong) == 8) {
        s->at_lmax = (struct beff_mean){.both = a[1] * 1e6, .rings = a[2] * 1e6};
        s->latency_s = l[0] / 1e6;
        s->rings_latency_s = l[1] / 1e6;
        s->ping_pong_s = l[2] / 1e6;
        s->ping_pong_bytes_per_s = ping_pong * 1e6;
    }
    if (sscanf(line, "b_eff = %lf", &a[0]) == 1) s->all.both = a[0] * 1e6;
}

static int beff_write(const char *word)
{
    static int row[64];
    for (int i = 0; i < (int)(sizeof row / sizeof row[0]); i++)
        row[i] = i;
    const struct beff_plan_spec spec = {
        .definition = BEFF_36,
        .n = beff.summary.n,
        .random_n = BEFF_RANDOM_STANDARD,
        .seed = 1,
        .analysis = true,
        .grid = {{{beff.topology.grid[0].dims[0], beff.topology.grid[0].dims[1], 1}, row},
                 {{beff.topology.grid[1].dims[0], beff.topology.grid[1].dims[1],
                   beff.topology.grid[1].dims[2]},
                  row}}};
    beff.nodes.size = beff.summary.n;
    beff.stamps = json_array();
    if (strcmp(word, "not-valid") == 0)
        stamp_add(beff.stamps, STAMP_NOT_VALID, SEVERITY_BAD, NULL, "The sample is not.");
    const int rc = beff_plan_make(&spec, &beff.plan);
    if (rc == 0 && strcmp(word, "text") == 0)
        beff_text_result(&beff, stdout);
    else if (rc == 0)
        beff_sum_write(&beff, stdout);
    beff_plan_free(&beff.plan);
    json_decref(beff.stamps);
    return rc;
}

int main(int argc, char **argv)
{
    char line[4096];
    const char *const word = argc > 2 ? argv[2] : "";
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    bool is_io = false;
    if (!f) {
        fprintf(stderr, "mkreleased SAMPLE [valid | not-valid | noshared | errors | text]\n");
        return 1;
    }
    setenv("TZ", "UTC0", 1);
    while (fgets(line, sizeof line, f)) {
        is_io = is_io || strncmp(line, "b_eff_io.c", 10) == 0;
        system_line(line);
        if (is_io)
            io_line(line);
        else
            beff_line(line);
    }
    fclose(f);
    if (is_io) io_write(word);
    return is_io || beff_write(word) == 0 ? 0 : 1;
}
