/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/plain.h"
#include "base/version.h"

static const char *counted(const struct beffio_schedule *s)
{
    return beffio_counts(s, s->definition) ? "creation and removal of files counted"
                                           : "creation and removal of files not counted";
}

void beffio_sum_last_line(const struct beffio_job *job, FILE *to)
{
    const struct beffio_part *p = &job->part[job->best];
    const struct beffio_schedule *c = &job->setup->schedule;
    struct utsname u;
    if (uname(&u) != 0) memset(&u, 0, sizeof u);
    fprintf(
        to,
        " b_eff_io = %8.3f MB/s on %d processes with %lld MByte/PE, scheduled time=%.1f Min, on "
        "%s %s %s %s %s",
        p->values.partition[c->definition] / 1e6, p->bench.procs,
        (long long)(job->memory_per_process_bytes >> 20), beffio_partition_time_s(c) / 60,
        u.sysname, u.nodename, u.release, u.version, u.machine);
    if (!p->valid) fputs(", NOT VALID (see above)", to);
    if (job->wrong_n > 0) fprintf(to, ", with %lld ERRORS", (long long)job->wrong_n);
    fprintf(to, ", %s (%.3g x cache), %s\n",
            p->honesty.honest ? "CACHE-HONEST" : "NOT CACHE-HONEST", p->honesty.factor, counted(c));
}

static void head(const struct beffio_job *job, FILE *to)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    const time_t t = time(NULL);
    char date[64] = "";
    struct utsname u;
    struct tm now;
    fprintf(to, "nht1-beffio %s, definition %s\n", nht1_build,
            beffio_definition_name(c->definition));
    fprintf(to,
            "MEMORY_PER_PROCESSOR = %lld MBytes  [1MBytes = 1024*1024 bytes, 1MB = 1e6 bytes]\n",
            (long long)(job->memory_per_process_bytes >> 20));
    fprintf(to, "Maximum chunk size   = %8.3f MBytes\n", (double)job->m_part_bytes / 1048576);
    fputs("-N", to);
    for (int i = 0; i < c->partitions_n; i++)
        fprintf(to, "%s%d", i ? "," : " ", c->procs[i]);
    fprintf(to, " T=%g, MT=%lld MBytes%s%s\n", c->t_s, (long long)(job->memory_total_bytes >> 20),
            job->setup->opt.noshared ? ", -noshared" : "",
            job->setup->opt.rewrite ? ", -rewrite" : "");
    plain_line(to, "PATH=%s, PREFIX=%s", job->setup->opt.path, job->setup->prefix);
    if (uname(&u) == 0)
        fprintf(to,
                "       system name : %s\n       hostname    : %s\n       OS release  : %s\n"
                "       OS version  : %s\n       machine     : %s\n",
                u.sysname, u.nodename, u.release, u.version, u.machine);
    if (localtime_r(&t, &now)) strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &now);
    fprintf(to, "Date of measurement: %s\n", date);
}

/* --- summary -------------------------------------------------------------------------------- */

/* The pattern of a type at a position of the table. */
static int pattern_at(enum beffio_type type, int pos)
{
    int no = beffio_type_first(type);
    while (beffio_pattern(no, BEFFIO_WORD_BYTES).pos != pos)
        no++;
    return no;
}

/* Five columns; a wrong pattern shows itself by a value that no rate has. */
static void columns(FILE *to, const double v[BEFFIO_TYPES])
{
    for (int t = 0; t < BEFFIO_TYPES; t++)
        if (isfinite(v[t]))
            fprintf(to, " %8.3f", v[t]);
        else
            fprintf(to, " %8s", "-");
    fputc('\n', to);
}

/* Chunk sizes over types, for each access. */
static void sum_table(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    const char *rule =
        "-----------------------------------------------------------------------------";
    const int n = p->bench.procs;
    double v[BEFFIO_TYPES];
    fprintf(to,
            "\n\nSummary of file I/O bandwidth accumulated on %3d processes with %lld MByte/PE\n",
            n, (long long)(job->memory_per_process_bytes >> 20));
    fprintf(to, "%s\n\n", rule);
    fputs(" number pos chunk-   access   type=0   type=1   type=2   type=3   type=4\n", to);
    fputs(" of PEs     size (l) methode scatter  shared  separate segmened seg-coll\n", to);
    fputs("            [bytes]  methode  [MB/s]   [MB/s]   [MB/s]   [MB/s]   [MB/s]\n", to);
    fprintf(to, " %.71s\n", rule);
    for (int a = 0; a < BEFFIO_ACCESSES; a++) {
        const char *access = beffio_access_name((enum beffio_access)a);
        fputc('\n', to);
        for (int pos = 1; pos <= BEFFIO_POSITIONS; pos++) {
            for (int t = 0; t < BEFFIO_TYPES; t++) {
                const int no = pattern_at((enum beffio_type)t, pos);
                const bool is_wrong = p->wrong[a].wrong_by_pattern[no] > 0;
                v[t] = is_wrong ? -999.999 : p->values.pattern[a][no] / 1e6;
            }
            fprintf(to, "%4d PEs %d %8lld %-7s", n, pos,
                    (long long)beffio_position_bytes(pos, p->bench.layout.m_part_bytes), access);
            columns(to, v);
        }
        for (int t = 0; t < BEFFIO_TYPES; t++)
            v[t] = p->values.type[a][t] / 1e6;
        fprintf(to, "%4d PEs total-%-11s", n, access);
        columns(to, v);
    }
    fprintf(to, "\n%4d PEs bw_pat2= %8.3f %8.3f %8.3f MB/s (write, rewrite, read)\n", n,
            p->values.pattern[BEFFIO_WRITE][2] / 1e6, p->values.pattern[BEFFIO_REWRITE][2] / 1e6,
            p->values.pattern[BEFFIO_READ][2] / 1e6);
}

/* Lines that gnuplot understands: the axis of chunk sizes, title and labels. */
static void sum_gnuplot(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    fputs("\nset xtics (", to);
    for (int pos = 1; pos <= BEFFIO_POSITIONS; pos++)
        fprintf(to, "%s\"%s\" %d", pos > 1 ? ", " : "", beffio_position_name(pos),
                beffio_position_x(pos));
    fputs(")\n", to);
    fprintf(to, "set title \"b_eff_io, %d processes\"\n", p->bench.procs);
    const char *const names[] = {
        "write", "rewrite", "read", "MByte/PE", "scheduled time [s]", "b_eff_io [MB/s]"};
    const double v[] = {p->values.access[BEFFIO_WRITE] / 1e6,
                        p->values.access[BEFFIO_REWRITE] / 1e6,
                        p->values.access[BEFFIO_READ] / 1e6,
                        (double)(job->memory_per_process_bytes >> 20),
                        beffio_partition_time_s(&job->setup->schedule),
                        p->values.partition[job->setup->schedule.definition] / 1e6};
    for (int i = 0; i < 6; i++)
        fprintf(to, "set label %d \"%s = %.3f\"\n", i + 1, names[i], v[i]);
}

static void sum_values(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    const double memory = (double)job->memory_total_bytes;
    const double bytes = (double)p->values.access_bytes[BEFFIO_WRITE];
    const struct beffio_schedule *c = &job->setup->schedule;
    fputc('\n', to);
    for (int a = 0; a < BEFFIO_ACCESSES; a++)
        fprintf(to, "weighted average bandwidth for %-7s : %8.3f MB/s on %d processes\n",
                beffio_access_name((enum beffio_access)a), p->values.access[a] / 1e6,
                p->bench.procs);
    fprintf(to,
            "\nTotal amount of data written/read with each access method: %.3f MBytes\n"
            "  = %.1f percent of the total memory (%lld MBytes)\n",
            bytes / 1048576, 100 * bytes / memory, (long long)(job->memory_total_bytes >> 20));
    fprintf(to,
            "\nb_eff_io of these measurements = %8.3f MB/s on %d processes with %lld MByte/PE and "
            "scheduled time=%.1f min\n",
            p->values.partition[c->definition] / 1e6, p->bench.procs,
            (long long)(job->memory_per_process_bytes >> 20), beffio_partition_time_s(c) / 60);
    fprintf(to, "\n%s for comparison\n", p->valid ? "VALID" : "NOT VALID");
    for (int i = 0; i < BEFFIO_CRITERIA; i++)
        fprintf(to, " criterion %d: %s is %s: %s\n", i + 1,
                beffio_criterion_name((enum beffio_criterion)i),
                p->criterion[i].met ? "met" : "NOT met", p->criterion[i].words);
    fprintf(to, "%s: %s\n", p->honesty.honest ? "CACHE-HONEST" : "NOT CACHE-HONEST",
            p->honesty.words);
}

void beffio_sum_write(const void *of, FILE *to)
{
    const struct beffio_job *job = of;
    const struct beffio_schedule *c = &job->setup->schedule;
    head(job, to);
    for (int i = 0; i < c->partitions_n; i++) {
        const struct beffio_part *p = &job->part[i];
        if (!p->done) continue;
        sum_table(job, to, p);
        sum_gnuplot(job, to, p);
        sum_values(job, to, p);
    }
    const struct beffio_part *best = &job->part[job->best];
    fprintf(to, "\nMaximum over all partitions: b_eff_io = %8.3f MB/s on %d processes, %s\n",
            best->values.partition[c->definition] / 1e6, best->bench.procs, counted(c));
    beffio_sum_last_line(job, to);
}

/* --- protocol ------------------------------------------------------------------------------- */

static void protocol_pattern(const struct beffio_job *job, FILE *to, const struct beffio_part *p,
                             enum beffio_access a, int no)
{
    const struct beffio_bench *b = &p->bench;
    const struct beffio_pattern pat = beffio_layout_pattern(&b->layout, no);
    const struct beffio_place at = beffio_place(&b->layout, no);
    const struct beffio_pattern_time *t = &b->result[a].pattern[no];
    char path[BEFFIO_PATH_MAX];
    beffio_files_path(&job->files, b->index, pat.type, 0, path);
    fprintf(
        to,
        "n=%3d a=%d type=%d p=%2d Tp=%7.3f l=%9lld L=%9lld %s r=%7lld S=%11.3f MB t=%8.3f = %.3f io"
        "+ %.3f wait+ %.3f sync, bw=%9.3f",
        b->procs, (int)a, (int)pat.type, no, beffio_pattern_time_s(b->schedule, pat.u),
        (long long)at.chunk_bytes, (long long)(at.chunk_bytes * at.chunks_per_call),
        strrchr(path, '/') + 1, (long long)at.calls_n,
        (double)b->measured.pattern[a][no].bytes / 1e6, t->s, t->view_s + t->calls_s, t->wait_s,
        t->sync_s, p->values.pattern[a][no] / 1e6);
    const int64_t wrong_n = p->wrong[a].wrong_by_pattern[no];
    if (wrong_n > 0) fprintf(to, " %lld ERRORS", (long long)wrong_n);
    fprintf(to, "%s%s\n", t->capped ? " (space)" : "",
            beffio_bench_single_read(b, a, no) ? " (one call)" : "");
}

static void protocol_access(const struct beffio_job *job, FILE *to, const struct beffio_part *p,
                            enum beffio_access a)
{
    /* Type 2 is "separated" in names of values and "separate" in the head of the table, as
     * released. */
    static const char *const type_word[BEFFIO_TYPES] = {"scatter", "shared", "separated",
                                                        "segmented", "seg_coll"};
    const struct beffio_measured *m = &p->bench.measured;
    for (int type = 0; type < BEFFIO_TYPES; type++) {
        const struct beffio_type_time *t = &p->bench.result[a].type[type];
        const int end = beffio_type_end((enum beffio_type)type);
        for (int no = beffio_type_first((enum beffio_type)type); no < end; no++)
            if (p->bench.result[a].pattern[no].s > 0) protocol_pattern(job, to, p, a, no);
        fprintf(to, "total pattern type: S=%.3f MB t=%.3f t_op=%.3f t_cl=%.3f",
                (double)m->type[a][type].bytes / 1e6, p->values.type_s[a][type], t->open_s,
                t->close_s);
        if (a == BEFFIO_WRITE) fprintf(to, " t_create=%.3f", m->create_s[type]);
        if (a == BEFFIO_READ) fprintf(to, " t_remove=%.3f", m->remove_s[type]);
        fprintf(to, " b_eff_io_%s_%s= %.3f MB/s", beffio_access_name(a), type_word[type],
                p->values.type[a][type] / 1e6);
        if (type >= BEFFIO_SEGMENTED)
            fprintf(to, " Lseg=%lld", (long long)p->bench.layout.segment_bytes);
        fputc('\n', to);
    }
    fprintf(to,
            "total access method: n=%d %s S=%.3f MB wbw=%.3f bw=%.3f b_eff_io_%s= %.3f MB/s\n\n",
            p->bench.procs, beffio_access_name(a), (double)p->values.access_bytes[a] / 1e6,
            p->values.weighted[a] / 1e6, p->values.plain[a] / 1e6, beffio_access_name(a),
            p->values.access[a] / 1e6);
}

static void protocol_partition(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    size_t i;
    json_t *file, *value;
    const char *key;
    if (job->hints.n > 0) /* as the library tells them, of each file that was opened */
        json_array_foreach(p->bench.library, i, file)
        {
            json_object_foreach(json_object_get(file, "hints_reported"), key, value)
            {
                plain_line(to, "file_info reported n=%d %s %s %s = %s", p->bench.procs,
                           json_string_value(json_object_get(file, "access")),
                           json_string_value(json_object_get(file, "type")), key,
                           json_string_value(value));
            }
        }
    for (int a = 0; a < BEFFIO_ACCESSES; a++)
        protocol_access(job, to, p, (enum beffio_access)a);
    for (int d = 0; d < BEFFIO_DEFINITIONS; d++)
        fprintf(to, "total partition: n=%d definition %s: %.3f MB/s%s\n", p->bench.procs,
                beffio_definition_name((enum beffio_definition)d), p->values.partition[d] / 1e6,
                d == (int)job->setup->schedule.definition ? ""
                                                          : " (computed from another schedule)");
    fputc('\n', to);
}

void beffio_sum_protocol(const void *of, FILE *to)
{
    const struct beffio_job *job = of;
    head(job, to);
    for (int i = 0; i < job->hints.n; i++)
        plain_line(to, "file_info set %s = %s", job->hints.hint[i].key, job->hints.hint[i].value);
    fputc('\n', to);
    for (int i = 0; i < job->setup->schedule.partitions_n; i++)
        if (job->part[i].done) protocol_partition(job, to, &job->part[i]);
    fprintf(to, "total execution time: %.1f s\n", job->took_s);
    fprintf(to, " b_eff_io := maximum over all bw_partition = %.3f MB/s\n",
            job->part[job->best].values.partition[job->setup->schedule.definition] / 1e6);
    beffio_sum_last_line(job, to);
}
