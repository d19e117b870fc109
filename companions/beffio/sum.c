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
    return beffio_counts(s, s->definition) ? "counted" : "not counted";
}

/* "Linux host 6.1 #1 SMP x86_64" */
static void system_print(FILE *to)
{
    struct utsname u;
    if (uname(&u) != 0) memset(&u, 0, sizeof u);
    fprintf(to, "%s %s %s %s %s", u.sysname, u.nodename, u.release, u.version, u.machine);
}

static long long memory_mbytes(const struct beffio_job *job)
{
    return (long long)(job->memory_per_process_bytes >> 20);
}

/* The scheduled time of a partition as it is printed. */
static double minutes(const struct beffio_job *job, const struct beffio_part *p)
{
    return beffio_partition_time_s(&job->setup->schedule, p->bench.index) / 60;
}

static double value_mb(const struct beffio_job *job, const struct beffio_part *p)
{
    return p->values.partition[job->setup->schedule.definition] / 1e6;
}

void beffio_sum_last_line(const struct beffio_job *job, bool valid, FILE *to)
{
    const struct beffio_part *p = &job->part[job->best];
    fprintf(to,
            " b_eff_io = %8.3f MB/s on %d processes with %lld MByte/PE, scheduled time=%.1f Min, "
            "on ",
            value_mb(job, p), p->bench.procs, memory_mbytes(job), minutes(job, p));
    system_print(to);
    if (!valid) fputs(", NOT VALID (see above)", to);
    if (job->wrong_n > 0) fprintf(to, ", with %lld ERRORS", (long long)job->wrong_n);
    fputc('\n', to);
}

static void head(const struct beffio_job *job, FILE *to)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    const time_t t = time(NULL);
    char date[64] = "";
    struct utsname u;
    struct tm now;
    fprintf(to, "nht1-beffio %s, definition %s\n\n", nht1_build,
            beffio_definition_name(c->definition));
    fprintf(to,
            "MEMORY_PER_PROCESSOR = %4lld MBytes  [1MBytes = 1024*1024 bytes, 1MB = 1e6 bytes]\n",
            memory_mbytes(job));
    fprintf(to, "Maximum chunk size   = %8.3f MBytes\n\n", (double)job->m_part_bytes / 1048576);
    fputs("-N ", to);
    for (int i = 0; i < c->partitions_n; i++)
        fprintf(to, "%s%d", i ? "," : " ", c->procs[i]);
    /* Whole seconds as released, which knows no others. */
    fprintf(to, c->t_s == floor(c->t_s) ? " T=%.0f" : " T=%g", c->t_s);
    fprintf(to, ", MT=%lld MBytes%s%s%s\n", (long long)(job->memory_total_bytes >> 20),
            job->setup->opt.noshared ? ", -noshared" : "",
            c->definition == BEFFIO_2_1 && !job->setup->unique ? ", -nounique" : "",
            job->setup->opt.rewrite ? ", -rewrite" : "");
    plain_line(to, "PATH=%s, PREFIX=%s", job->setup->opt.path, job->setup->prefix);
    if (uname(&u) != 0) memset(&u, 0, sizeof u);
    fprintf(to,
            "       system name : %s\n       hostname    : %s\n       OS release  : %s\n"
            "       OS version  : %s\n       machine     : %s\n",
            u.sysname, u.nodename, u.release, u.version, u.machine);
    if (localtime_r(&t, &now)) strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &now);
    fprintf(to, "\nDate of measurement: %s\n\n\n", date);
}

/* What the three criteria of release 2.1 say of a partition: of its own time, where the JSON's
 * judgement has T for all partitions as the manual page of the release has it. */
struct released {
    bool time, pointers, errors, valid;
    double time_min;
};

static struct released released(const struct beffio_job *job, const struct beffio_part *p)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    const bool of_2_1 = c->definition == BEFFIO_2_1;
    const double s = of_2_1 ? beffio_partition_time_s(c, p->bench.index) : c->t_s;
    struct released r = {.time = of_2_1 ? s >= beffio_valid_time_s(c->definition)
                                        : p->criterion[BEFFIO_TIME].met,
                         .pointers = p->criterion[BEFFIO_POINTERS].met,
                         .errors = of_2_1 ? job->wrong_n == 0 : p->criterion[BEFFIO_ERRORS].met,
                         .time_min = s / 60};
    r.valid =
        of_2_1 ? r.time && r.pointers && r.errors && p->criterion[BEFFIO_PARTITIONS].met : p->valid;
    return r;
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

/* MB/s of a pattern; a wrong one shows itself by a value that no rate has. */
static double pattern_mb(const struct beffio_part *p, int a, int no)
{
    return p->wrong[a].wrong_by_pattern[no] > 0 ? -999.999 : p->values.pattern[a][no] / 1e6;
}

/* Five columns. */
static void columns(FILE *to, const double v[BEFFIO_TYPES])
{
    for (int t = 0; t < BEFFIO_TYPES; t++)
        if (isfinite(v[t]))
            fprintf(to, " %8.3f", v[t]);
        else
            fprintf(to, " %8s", "-");
    fputc('\n', to);
}

/* Under 2.1 the rewriting of types 1 to 4 is in no value, and not in the table either. */
static bool has_column(const struct beffio_schedule *s, int access, int type)
{
    return access != BEFFIO_REWRITE || type == BEFFIO_SCATTER || s->definition != BEFFIO_2_1 ||
           s->all_rewrites;
}

/* Chunk sizes over types, for one access. */
static void sum_access(const struct beffio_job *job, FILE *to, const struct beffio_part *p, int a)
{
    const struct beffio_schedule *s = &job->setup->schedule;
    const char *access = beffio_access_name((enum beffio_access)a);
    char total[32];
    double v[BEFFIO_TYPES];
    for (int pos = 1; pos <= BEFFIO_POSITIONS; pos++) {
        for (int t = 0; t < BEFFIO_TYPES; t++)
            v[t] =
                has_column(s, a, t) ? pattern_mb(p, a, pattern_at((enum beffio_type)t, pos)) : NAN;
        fprintf(to, "%4d PEs %d %8lld %-7s", p->bench.procs, pos,
                (long long)beffio_position_bytes(pos, p->bench.layout.m_part_bytes), access);
        columns(to, v);
    }
    for (int t = 0; t < BEFFIO_TYPES; t++)
        v[t] = has_column(s, a, t) ? p->values.type[a][t] / 1e6 : NAN;
    snprintf(total, sizeof total, "total-%s", access);
    fprintf(to, "%4d PEs      %-13s", p->bench.procs, total);
    columns(to, v);
    fputc('\n', to);
}

static void sum_table(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    const char *rule =
        "-----------------------------------------------------------------------------";
    fprintf(to, "Summary of file I/O bandwidth accumulated on %3d processes with %4lld MByte/PE\n",
            p->bench.procs, memory_mbytes(job));
    fprintf(to, "%s\n\n", rule);
    fputs(" number pos chunk-   access   type=0   type=1   type=2   type=3   type=4\n", to);
    fputs(" of PEs     size (l) methode scatter  shared  separate segmened seg-coll\n", to);
    fputs("            [bytes]  methode  [MB/s]   [MB/s]   [MB/s]   [MB/s]   [MB/s]\n", to);
    fprintf(to, " %.71s\n\n", rule);
    for (int a = 0; a < BEFFIO_ACCESSES; a++)
        sum_access(job, to, p, a);
    fputs("This table shows all results, except pattern 2 (scatter, l=1MBytes, L=2MBytes): \n", to);
    fprintf(to, "  bw_pat2= %8.3f MB/s write, %8.3f MB/s rewrite, %8.3f MB/s read\n\n",
            pattern_mb(p, BEFFIO_WRITE, 2), pattern_mb(p, BEFFIO_REWRITE, 2),
            pattern_mb(p, BEFFIO_READ, 2));
}

/* Lines that gnuplot understands: the axis of chunk sizes, title and labels. */
static void sum_gnuplot(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    const char *const definition = beffio_definition_name(job->setup->schedule.definition);
    fputs("(For gnuplot:)\n  set xtics (", to);
    for (int pos = 1; pos < BEFFIO_POSITIONS; pos++) {
        const char *const name = beffio_position_name(pos), *const plus = strchr(name, '+');
        fprintf(to, " '%s' %d,", plus ? plus : name, beffio_position_x(pos));
    }
    fprintf(to, " '%gM' %d)\n", (double)p->bench.layout.m_part_bytes / 1048576,
            beffio_position_x(BEFFIO_POSITIONS));
    fputs("  set title '", to);
    system_print(to);
    fputs("' -4\n  set label 1 'b_eff_io'  at 10,50000 right\n", to);
    fprintf(to, "  set label 2 'rel. %s'  at 10,25000 right\n", definition);
    fprintf(to, "  set label 3 'T=%.1fmin' at 10,12500 right\n", minutes(job, p));
    fprintf(to, "  set label 4 'n=%d'     at 10,6250  right\n\n", p->bench.procs);
}

static const char *reached(bool met)
{
    return met ? "reached" : "NOT reached";
}

static void sum_values(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    const double bytes = (double)p->values.access_bytes[BEFFIO_WRITE];
    const struct beffio_schedule *c = &job->setup->schedule;
    for (int a = 0; a < BEFFIO_ACCESSES; a++)
        fprintf(to, "weighted average bandwidth for %-7s : %8.3f MB/s on %d processes\n",
                beffio_access_name((enum beffio_access)a), p->values.access[a] / 1e6,
                p->bench.procs);
    fprintf(to,
            "(type=0 is weighted double)\n\n"
            "Total amount of data written/read with each access method: %8.3f MBytes\n"
            "  = %.1f percent of the total memory (%lld MBytes)\n\n",
            bytes / 1048576, 100 * bytes / (double)job->memory_total_bytes,
            (long long)(job->memory_total_bytes >> 20));
    fprintf(to,
            "b_eff_io of these measurements = %8.3f MB/s on %d processes with %lld MByte/PE and "
            "scheduled time=%.1f min\n\n",
            value_mb(job, p), p->bench.procs, memory_mbytes(job), minutes(job, p));
    const struct released r = released(job, p);
    fprintf(to, "%s for comparison of different systems\n", r.valid ? "VALID" : "NOT VALID");
    fprintf(to, "  criterion 1: scheduled time %.1f min >= %g min -- %s\n", r.time_min,
            beffio_valid_time_s(c->definition) / 60, reached(r.time));
    fprintf(to,
            "  criterion 2: shared file pointers must be used for pattern type 1 -- %s\n"
            "  criterion 3: error count (%lld) == 0 -- %s\n\n",
            reached(r.pointers), (long long)job->wrong_n, reached(r.errors));
}

/* What the released program does not say stands behind its last line. */
static void sum_added(const struct beffio_job *job, FILE *to)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    fprintf(to, "\nAdded by nht1-beffio:\n  creation and removal of files are %s\n", counted(c));
    if (job->reps_done < (int)job->setup->opt.repeat)
        fprintf(to, "  INTERRUPTED: %d of %d repetitions are complete\n", job->reps_done,
                (int)job->setup->opt.repeat);
    for (int i = 0; i < c->partitions_n; i++) {
        const struct beffio_part *p = &job->part[i];
        if (!p->done) continue;
        for (int k = 0; k < BEFFIO_CRITERIA; k++)
            if (!p->criterion[k].met)
                fprintf(to, "  %d PEs: NOT VALID: %s\n", p->bench.procs, p->criterion[k].words);
        fprintf(to, "  %d PEs: buffers %d to %d bytes off a page\n", p->bench.procs,
                p->bench.offset_bytes[0], p->bench.offset_bytes[1]);
        fprintf(to, "  %d PEs: %s: %s\n", p->bench.procs,
                p->honesty.honest ? "CACHE-HONEST" : "NOT CACHE-HONEST", p->honesty.words);
    }
}

void beffio_sum_write(const void *of, FILE *to)
{
    const struct beffio_job *job = of;
    head(job, to);
    fputc('\n', to);
    for (int i = 0; i < job->setup->schedule.partitions_n; i++) {
        const struct beffio_part *p = &job->part[i];
        if (!p->done) continue;
        sum_table(job, to, p);
        sum_gnuplot(job, to, p);
        sum_values(job, to, p);
    }
    fputs("Maximum over all number of PEs\n------------------------------\n\n\n", to);
    beffio_sum_last_line(job, released(job, &job->part[job->best]).valid, to);
    sum_added(job, to);
}

/* --- protocol ------------------------------------------------------------------------------- */

/* The name of a file behind that of the run: "i00_002_1". */
static const char *file_name(const struct beffio_job *job, const char *path)
{
    return strrchr(path, '/') + 1 + strlen(job->setup->prefix) + strlen("_data_");
}

static void protocol_pattern(const struct beffio_job *job, FILE *to, const struct beffio_part *p,
                             enum beffio_access a, int no)
{
    const struct beffio_bench *b = &p->bench;
    const struct beffio_pattern pat = beffio_layout_pattern(&b->layout, no);
    const struct beffio_place at = beffio_place(&b->layout, no);
    const struct beffio_pattern_time *t = &b->result[a].pattern[no];
    char path[BEFFIO_PATH_MAX];
    beffio_files_path(&job->files, b->index, pat.type, 0, path);
    fprintf(to,
            "n=%3d a=%d type=%d p=%2d Tp=%7.3f l=%9lld L=%9lld %s r=%7lld S=%11.3f MB t=%8.3f "
            "=%.3f+%.3f+%.3f+%.3f, last io %.6f, last barrier+bcast %.6f, bw=%9.3f",
            b->procs, (int)a, (int)pat.type, no,
            beffio_pattern_time_s(b->schedule, b->index, pat.u), (long long)at.chunk_bytes,
            (long long)(at.chunk_bytes * at.chunks_per_call), file_name(job, path),
            (long long)at.calls_n, (double)b->measured.pattern[a][no].bytes / 1e6, t->s,
            t->view_s + t->calls_s, t->barrier_s, t->wait_s - t->barrier_s, t->sync_s, t->last_s,
            t->last_wait_s, p->values.pattern[a][no] / 1e6);
    const int64_t wrong_n = p->wrong[a].wrong_by_pattern[no];
    if (wrong_n > 0) fprintf(to, " %lld ERRORS", (long long)wrong_n);
    fputc('\n', to);
}

/* Sum of U b / sum of U over the patterns of a type. */
static double weighted_of(const struct beffio_part *p, enum beffio_access a, int type)
{
    double sum = 0, u = 0;
    for (int no = beffio_type_first((enum beffio_type)type);
         no < beffio_type_end((enum beffio_type)type); no++) {
        const int weight = beffio_pattern(no, BEFFIO_WORD_BYTES).u;
        if (weight > 0) sum += weight * p->values.pattern[a][no];
        u += weight;
    }
    return sum / u;
}

static void protocol_type(const struct beffio_job *job, FILE *to, const struct beffio_part *p,
                          enum beffio_access a, int type)
{
    /* Type 2 is "separated" in names of values and "separate" in the head of the table, as
     * released. */
    static const char *const type_word[BEFFIO_TYPES] = {"scatter", "shared", "separated",
                                                        "segmented", "seg_coll"};
    const struct beffio_measured *m = &p->bench.measured;
    const struct beffio_type_time *t = &p->bench.result[a].type[type];
    const bool with_files = beffio_counts(p->bench.schedule, p->bench.schedule->definition);
    double open_s = t->open_s, close_s = t->close_s;
    if (with_files && a == BEFFIO_WRITE) open_s += m->create_s[type];
    if (with_files && a == BEFFIO_READ) close_s += m->remove_s[type];
    for (int no = beffio_type_first((enum beffio_type)type);
         no < beffio_type_end((enum beffio_type)type); no++)
        if (p->bench.result[a].pattern[no].s > 0) protocol_pattern(job, to, p, a, no);
    fprintf(to,
            "total pattern type: S=%.3f MB t=%.3f t_op=%.3f t_cl=%.3f wbw=%.3f b_eff_io_%s_%s= "
            "%.3f MB/s",
            (double)m->type[a][type].bytes / 1e6, p->values.type_s[a][type], open_s, close_s,
            weighted_of(p, a, type) / 1e6, beffio_access_name(a), type_word[type],
            p->values.type[a][type] / 1e6);
    if (type >= BEFFIO_SEGMENTED)
        fprintf(to, " Lseg=%.3f MBytes", (double)p->bench.layout.segment_bytes / 1048576);
    fputc('\n', to);
}

/* The hints in effect as the library tells them, of each file that was opened. */
static void protocol_hints(const struct beffio_part *p, FILE *to)
{
    size_t i;
    json_t *file, *value;
    const char *key;
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
}

static void protocol_partition(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    if (job->hints.n > 0) protocol_hints(p, to);
    for (int a = 0; a < BEFFIO_ACCESSES; a++) {
        const char *const name = beffio_access_name((enum beffio_access)a);
        for (int type = 0; type < BEFFIO_TYPES; type++)
            protocol_type(job, to, p, (enum beffio_access)a, type);
        fprintf(
            to,
            "total access method: n=%d %s S=%.3f MB wbw=%.3f bw=%.3f b_eff_io_%s= %.3f MB/s\n\n",
            p->bench.procs, name, (double)p->values.access_bytes[a] / 1e6,
            p->values.weighted[a] / 1e6, p->values.plain[a] / 1e6, name, p->values.access[a] / 1e6);
    }
    fprintf(to, "total partition: n=%d b_eff_io= %.3f MB/s\n\n", p->bench.procs, value_mb(job, p));
}

/* Behind the last line: where buffers begin, the other definitions, and patterns whose values say less than others. */
static void protocol_added(const struct beffio_job *job, FILE *to)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    fputs("\nAdded by nht1-beffio:\n", to);
    for (int i = 0; i < c->partitions_n; i++) {
        const struct beffio_part *p = &job->part[i];
        if (!p->done) continue;
        fprintf(to, "  n=%d buffers %d to %d bytes off a page\n", p->bench.procs,
                p->bench.offset_bytes[0], p->bench.offset_bytes[1]);
        for (int d = 0; d < BEFFIO_DEFINITIONS; d++)
            if (d != (int)c->definition)
                fprintf(to, "  n=%d definition %s: %.3f MB/s (computed from another schedule)\n",
                        p->bench.procs, beffio_definition_name((enum beffio_definition)d),
                        p->values.partition[d] / 1e6);
        for (int no = 0; no < BEFFIO_PATTERNS; no++) {
            if (p->bench.result[BEFFIO_WRITE].pattern[no].capped)
                fprintf(to, "  n=%d p=%d ended for want of space\n", p->bench.procs, no);
            if (beffio_bench_single_read(&p->bench, BEFFIO_READ, no))
                fprintf(to, "  n=%d p=%d was read by one call\n", p->bench.procs, no);
        }
    }
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
            value_mb(job, &job->part[job->best]));
    beffio_sum_last_line(job, released(job, &job->part[job->best]).valid, to);
    protocol_added(job, to);
}
