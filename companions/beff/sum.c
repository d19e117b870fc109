/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What release 3.6 leaves for scripts: the summary (.sum), literally (tests/samples), and the protocol (.prot) in
 * the sections that the release brackets. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/units.h"
#include "base/version.h"
#include "companions/beff/report.h"

enum { CELL = UNITS_CELL_MAX };

static const char released_method[BEFF_METHODS_N][8] = {"Sndrcv", "Alltoal", "non-blk"};

/* The name that the release gives to a pattern. */
static void released_name(const struct beff_pattern *p, char out[BEFF_NAME_MAX])
{
    static const struct {
        const char *ours, *released;
    } table[] = {{"worst-cycle", "worst-cyc-1dim"},
                 {"best-bisection", "best  bi-section"},
                 {"worst-bisection", "worst bi-section"},
                 {"ping-pong", "one PingPong Pair"}};
    const char *const grid = strstr(p->name, "cyclic-"), *name = p->name;
    if (p->kind == BEFF_RANDOM) name = "random-cyc-1dim";
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(p->name, table[i].ours) == 0) name = table[i].released;
    if (!grid)
        snprintf(out, BEFF_NAME_MAX, "%s", name);
    else /* "cyclic-2d-x": "cyclic-2dim-x" */
        snprintf(out, BEFF_NAME_MAX, "%.*s%.1sdim%s", (int)(grid - name) + 7, name, grid + 7,
                 grid + 9);
}

static void head(const struct beff_job *job, FILE *to)
{
    const struct beff_plan *plan = &job->plan;
    const int rings = BEFF_RINGS_N, random = rings + plan->random_n;
    char name[BEFF_NAME_MAX];
    fprintf(to, BEFF_SUM_MARK "%s, definition %s\n\n", nht1_build, job->setup->opt.definition);
    fprintf(to, "MEMORY_PER_PROCESSOR = %lld MBytes  [1M = 1024*1024]\n",
            (long long)(job->memory.process_bytes >> 20));
    for (int g = 0; g < 2; g++) {
        fprintf(to, "%d-dim-patterns: size = ", g + 2);
        for (int d = 0; d < g + 2; d++)
            fprintf(to, "%s%d", d ? " * " : "", job->topology.grid[g].dims[d]);
        fputc('\n', to);
    }
    fputs("Used message lengths:\nmsglng=", to);
    for (int i = 0; i < BEFF_SIZES_N; i++)
        fprintf(to, " %lld", (long long)job->measured.size_bytes[i]);
    fputs("\nUsed methods: ", to);
    for (int m = 0; m < BEFF_METHODS_N; m++)
        if (job->setup->method[m]) fprintf(to, " %d=%s%s", m, released_method[m], m < 2 ? " " : "");
    for (int p = 0; p < plan->patterns_n; p++) {
        released_name(&plan->pattern[p], name);
        fprintf(to, "%s %2d=%-17s",
                p == 0       ? "\nUsed patterns:"
                : p % 4 == 0 ? "\n              "
                             : "",
                p, name);
    }
    fprintf(to,
            "\n\n               0-%d   used for ring pattern average of b_eff\n"
            "               %d-%-3d used for random pattern average of b_eff\n"
            "               %d-%d only reported, not used for b_eff average\n\n"
            "SECTION-HEAD-END\n\n",
            rings - 1, rings, random - 1, random, random + 11);
}

static void system_table(const struct beff_job *job, const struct utsname *u, FILE *to)
{
    const time_t t = time(NULL);
    char date[64] = "";
    struct tm now;
    if (localtime_r(&t, &now)) strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &now);
    fprintf(to,
            "system parameters  : %d nodes, %lld MB/node\n       system name : %s\n"
            "       hostname    : %s\n       OS release  : %s\n       OS version  : %s\n"
            "       machine     : %s\n\nDate of measurement: %s\n\n"
            "Total execution wall clock time = %5.0f seconds\n\n",
            job->summary.n, (long long)(job->memory.process_bytes >> 20), u->sysname, u->nodename,
            u->release, u->version, u->machine, date, job->measured.elapsed_s);
}

static void table(const struct beff_job *job, FILE *to)
{
    static const char *const heading[] = {
        "            | number  |   b_eff   |  Lmax  |   b_eff   |   b_eff   | Latency | Latency | "
        "Latency | ping-pong  ",
        "            | of pro  |           |        |  at Lmax  |  at Lmax  | rings & |  rings  |  "
        "ping-  | bandwith   ",
        "            | cessors |           |        |  rings &  |   rings   | random  |  only   |  "
        "pong   |            ",
        "            |         |           |        |  random   |   only    | micro-  | micro-  | "
        "micro-  |            ",
        "            |         |  MByte/s  |        |  MByte/s  |  MByte/s  |  sec    |  sec    |  "
        "sec    |  MByte/s   ",
        "------------------------------------------------------------------------------------------"
        "--------------------",
        "            |                                                                             "
        " "
        "                   "};
    const struct beff_summary *s = &job->summary;
    char a[CELL], b[CELL];
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; i++)
        fprintf(to, "%s\n", heading[i]);
    fprintf(to, "accumulated |%7d%13.0f %5.3g MB%11.0f%13.0f%10.3f%10.3f%10s%13s%20s\n", s->n,
            s->all.both / 1e6, (double)job->memory.lmax_bytes / 1048576, s->at_lmax.both / 1e6,
            s->at_lmax.rings / 1e6, s->latency_s * 1e6, s->rings_latency_s * 1e6,
            units_cell(a, "%.3f", s->ping_pong_s * 1e6),
            units_cell(b, "%.0f", s->ping_pong_bytes_per_s / 1e6), "");
    fprintf(to, "%s\n", heading[6]);
    fprintf(to, "per process |%20.0f%20.0f%13.0f%54s\n\n\n", s->all.both / s->n / 1e6,
            s->at_lmax.both / s->n / 1e6, s->at_lmax.rings / s->n / 1e6, "");
}

static void last_line(const struct beff_job *job, const struct utsname *u, FILE *to)
{
    const struct beff_summary *s = &job->summary;
    char a[CELL], b[CELL];
    fprintf(to, "%s = %10s MB/s = %7s * %3d PEs with %lld MB/PE on %s %s %s %s %s\n",
            beff_job_valid(job) ? "b_eff" : "b_eff(NOT_VALID)",
            units_cell(a, "%.3f", s->all.both / 1e6),
            units_cell(b, "%.3f", s->all.both / s->n / 1e6), s->n,
            (long long)(job->memory.process_bytes >> 20), u->sysname, u->nodename, u->release,
            u->version, u->machine);
}

/* What the release does not say, behind its last line. */
static void added(const struct beff_job *job, FILE *to)
{
    fputs("\nAdded by nht1-beff:\n", to);
    beff_text_system(job, to);
    fprintf(to, "Buffers    %d to %d bytes off a page\n", job->measured.offset_bytes[0],
            job->measured.offset_bytes[1]);
}

/* uname, empty where it fails. */
static struct utsname system_name(void)
{
    struct utsname u;
    if (uname(&u) != 0) memset(&u, 0, sizeof u);
    return u;
}

void beff_sum_write(const void *of, FILE *to)
{
    const struct beff_job *job = of;
    const struct utsname u = system_name();
    head(job, to);
    system_table(job, &u, to);
    table(job, to);
    fputs("SECTION-BEFF-END\n\n", to);
    last_line(job, &u, to);
    added(job, to);
    beff_text_notes(job, to);
}

/* --- protocol --- */

/* The time of every pass over the patterns, with what lies between the loops. */
static void protocol_times(const struct beff_job *job, FILE *to)
{
    fputs("SECTION-LOOP-BEGIN\n\n", to);
    for (int r = 0; r < job->setup->reps_n; r++)
        for (int i = 0; i < BEFF_SIZES_N; i++)
            fprintf(to, "rep=%d L=%9lld time= %.6f sec\n", r,
                    (long long)job->measured.size_bytes[i], job->measured.wall_s[r][i]);
    fputs("\nSECTION-LOOP-END\n\n", to);
}

/* Iterations by a method at a size in a repetition: under 3.6 the same for all patterns, else from
 * the least to the most; "-": not measured. */
static void loop_length(const struct beff_cube *c, int rep, int size, int method, FILE *to)
{
    int64_t least = 0, most = 0;
    for (int p = 0; p < c->patterns_n; p++) {
        const int64_t loop = beff_cell_at(c, rep, size, method, p)->loop;
        if (loop > 0 && (least == 0 || loop < least)) least = loop;
        if (loop > most) most = loop;
    }
    if (most == 0)
        fputs(" -", to);
    else if (least == most)
        fprintf(to, " %lld", (long long)most);
    else
        fprintf(to, " %lld-%lld", (long long)least, (long long)most);
}

static void protocol_loops(const struct beff_job *job, FILE *to)
{
    fputs("SECTION-LOOPLNGS-BEGIN\n\n", to);
    for (int i = 0; i < BEFF_SIZES_N; i++)
        for (int m = 0; m < BEFF_METHODS_N; m++) {
            if (!job->setup->method[m]) continue;
            fprintf(to, "L=%9lld mthd=%d looplng:", (long long)job->measured.size_bytes[i], m);
            for (int r = 0; r < job->setup->reps_n; r++)
                loop_length(&job->measured.cube, r, i, m, to);
            fputc('\n', to);
        }
    fputs("\nSECTION-LOOPLNGS-END\n\n", to);
}

enum statistic { LEAST, MEAN, MOST, STATISTICS };

static double statistic_of(const struct beff_cell *cell, enum statistic which)
{
    const double of[STATISTICS] = {cell->process_min, cell->process_mean, cell->process_max};
    return of[which];
}

/* MB/s that a process sends: every repetition, the best of them, the time that all took. */
static void protocol_line(const struct beff_job *job, int size, int method, int pattern,
                          enum statistic which, FILE *to)
{
    static const char word[STATISTICS][4] = {"min", "avg", "max"};
    const struct beff_cube *c = &job->measured.cube;
    double best = 0, time_s = 0;
    fprintf(to, "L=%9lld mthd=%d pat=%2d %s:", (long long)job->measured.size_bytes[size], method,
            pattern, word[which]);
    for (int r = 0; r < c->reps_n; r++) {
        const struct beff_cell *cell = beff_cell_at(c, r, size, method, pattern);
        const double value = cell->loop > 0 ? statistic_of(cell, which) : 0;
        if (cell->loop > 0)
            fprintf(to, " %13.6f", value / 1e6);
        else
            fprintf(to, " %13s", "-");
        if (value > best) best = value;
        if (cell->loop > 0) time_s += cell->time_s;
    }
    fprintf(to, " -> %13.6f (%.6f sec)\n", best / 1e6, time_s);
}

static bool was_measured(const struct beff_cube *c, int size, int method, int pattern)
{
    for (int r = 0; r < c->reps_n; r++)
        if (beff_cell_at(c, r, size, method, pattern)->loop > 0) return true;
    return false;
}

static void protocol_values(const struct beff_job *job, FILE *to)
{
    const struct beff_cube *c = &job->measured.cube;
    fputs("SECTION-VALUES-BEGIN\n\n", to);
    for (int i = 0; i < BEFF_SIZES_N; i++)
        for (int m = 0; m < BEFF_METHODS_N; m++)
            for (int p = 0; p < c->patterns_n; p++)
                for (int w = 0; was_measured(c, i, m, p) && w < STATISTICS; w++)
                    protocol_line(job, i, m, p, (enum statistic)w, to);
    fputs("\nSECTION-VALUES-END\n\n", to);
}

void beff_sum_protocol(const void *of, FILE *to)
{
    const struct beff_job *job = of;
    const struct beff_elapsed e = beff_elapsed(&job->measured.cube);
    const struct utsname u = system_name();
    head(job, to);
    protocol_times(job, to);
    protocol_loops(job, to);
    protocol_values(job, to);
    last_line(job, &u, to);
    added(job, to);
    fprintf(to,
            "Elapsed    %.3f s; in the loops of whole repetitions, slowest process: %.3f s, and "
            "%.3f s had all been as fast as the fastest\n",
            job->measured.elapsed_s, e.measured_s, e.undisturbed_s);
    beff_text_details(job, to);
}
