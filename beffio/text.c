/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beffio/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/units.h"
#include "base/version.h"
#include "base/wrap.h"

#define WIDTH 96

static void line(FILE *to, const char *name, const char *text)
{
    char first[64];
    const int indent = snprintf(first, sizeof first, "%-9s ", name);
    wrap_print(to, WIDTH, first, indent, text);
}

static const char *definition_of(const struct beffio_job *job)
{
    return beffio_definition_name(job->setup->schedule.definition);
}

static void partitions_text(const struct beffio_schedule *c, char *out, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < c->partitions_n && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%d", i ? ", " : "", c->procs[i]);
}

static void system_lines(const struct beffio_job *job, FILE *to)
{
    char text[512], each[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX], m[UNITS_TEXT_MAX];
    const struct nodes *n = &job->nodes;
    snprintf(text, sizeof text, "%s%s, %lld cores (%s); %d ranks", n->host,
             n->count > 1 ? " and others" : "", (long long)n->cores, n->cpu, job->size);
    line(to, "System", text);
    snprintf(text, sizeof text, "%s per process, %s in all; largest chunk M_PART = %s",
             units_bytes_iec((double)job->memory_per_process_bytes, each),
             units_bytes_iec((double)job->memory_total_bytes, all),
             units_bytes_iec((double)job->m_part_bytes, m));
    line(to, "Memory", text);
}

static void schedule_line(const struct beffio_job *job, FILE *to)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    char text[512], list[128], time[UNITS_TEXT_MAX];
    partitions_text(c, list, sizeof list);
    snprintf(text, sizeof text,
             "definition %s, %g s %s; partitions of %s processes; %s, and the time for checking "
             "what was read",
             definition_of(job), c->t_s,
             c->definition == BEFFIO_2_1 ? "for all partitions" : "per partition", list,
             units_duration(beffio_run_time_s(c), time));
    line(to, "Schedule", text);
}

static void file_lines(const struct beffio_job *job, FILE *to)
{
    char text[4096 + 512], room[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX];
    snprintf(text, sizeof text, "%s/%s_data_*, %s (%s); %s may be used", job->setup->opt.path,
             job->setup->prefix, job->fs.type, job->fs.source,
             units_bytes((double)job->room_bytes, room));
    line(to, "Files", text);
    for (int i = 0; i < job->setup->schedule.partitions_n; i++) {
        const struct beffio_part *p = &job->part[i];
        if (p->expected_bytes <= p->bench.share_bytes) continue;
        snprintf(text, sizeof text,
                 "at %s, as a probe was written, %d process%s would write %s: writing will end for "
                 "want of space, and then the result is not valid",
                 units_rate(job->rate, rate), p->bench.procs, units_plural(p->bench.procs),
                 units_bytes((double)p->expected_bytes, room));
        line(to, "Note", text);
    }
    if (job->room.in_memory)
        line(to, "Note", "the file system lies in memory: no device is measured");
    if (strncmp(job->fs.type, "nfs", 3) == 0)
        line(to, "Note", "on NFS MPI-IO libraries lock each access and are very slow");
}

void beffio_text_heading(const struct beffio_job *job, FILE *to)
{
    fprintf(to, "nht1-beffio %s: effective I/O bandwidth\n", NHT1_VERSION);
    system_lines(job, to);
    file_lines(job, to);
    schedule_line(job, to);
    fflush(to);
}

/* --- plan ----------------------------------------------------------------------------------- */

static void plan_pattern(const struct beffio_job *job, FILE *to, const struct beffio_layout *l,
                         int no)
{
    const struct beffio_pattern p = beffio_layout_pattern(l, no);
    const struct beffio_place at = beffio_place(l, no);
    char text[160];
    char time[NUM_TEXT_MAX] = "-";
    if (p.type <= BEFFIO_SEPARATE)
        snprintf(time, sizeof time, "%.3f", beffio_pattern_time_s(&job->setup->schedule, p.u));
    snprintf(text, sizeof text, "%4d  %-9s %12lld %12lld %2d %10s %10lld %15lld\n", no,
             beffio_type_name(p.type), (long long)at.chunk_bytes,
             (long long)(at.chunk_bytes * at.chunks_per_call), p.u, time, (long long)at.calls_n,
             (long long)(beffio_place_bytes(&at) * l->procs));
    fputs(text, to);
}

static void plan_partition(const struct beffio_job *job, FILE *to, int index)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    const struct beffio_part *p = &job->part[index];
    const int n = c->procs[index];
    struct beffio_layout l;
    char text[256], files[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX], seg[UNITS_TEXT_MAX];
    beffio_expected(c, n, job->m_part_bytes, job->rate * n / job->size, &l);
    fprintf(to, "\n%d process%s\n", n, units_plural(n));
    fprintf(to, "%4s  %-9s %12s %12s %2s %10s %10s %15s\n", "no", "type", "l", "L", "U", "write s",
            "calls", "bytes of all");
    for (int no = 0; no < BEFFIO_PATTERNS; no++)
        plan_pattern(job, to, &l, no);
    snprintf(text, sizeof text, "at %s: %s in all files, segment of %s (%lld bytes in one file)",
             units_rate(job->rate * n / job->size, rate),
             units_bytes((double)p->expected_bytes, files),
             units_bytes((double)l.segment_bytes, seg), (long long)l.segment_bytes * n);
    line(to, "Files", text);
    snprintf(text, sizeof text, "%s may be used; the least possible is %s",
             units_bytes((double)p->bench.share_bytes, files),
             units_bytes((double)beffio_least_bytes(n, job->m_part_bytes), seg));
    line(to, "Room", text);
}

void beffio_text_plan(const struct beffio_job *job, FILE *to)
{
    for (int i = 0; i < job->setup->schedule.partitions_n; i++)
        plan_partition(job, to, i);
    fflush(to);
}

/* --- results -------------------------------------------------------------------------------- */

static const char *cell(char out[16], double bytes_per_s)
{
    if (isfinite(bytes_per_s))
        snprintf(out, 16, "%.3f", bytes_per_s / 1e6);
    else
        snprintf(out, 16, "-");
    return out;
}

static void table(FILE *to, const struct beffio_part *p)
{
    char c[16];
    char who[32];
    snprintf(who, sizeof who, "%d process%s, MB/s", p->bench.procs, units_plural(p->bench.procs));
    fprintf(to, "\n%-19s", who);
    for (int t = 0; t < BEFFIO_TYPES; t++)
        fprintf(to, " %10s", beffio_type_name((enum beffio_type)t));
    fprintf(to, " %10s %10s\n", "access", "bytes/time");
    for (int a = 0; a < BEFFIO_ACCESSES; a++) {
        fprintf(to, "  %-17s", beffio_access_name((enum beffio_access)a));
        for (int t = 0; t < BEFFIO_TYPES; t++)
            fprintf(to, " %10s", cell(c, p->values.type[a][t]));
        fprintf(to, " %10s", cell(c, p->values.access[a]));
        fprintf(to, " %10s\n", cell(c, p->values.plain[a]));
    }
}

static void values(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    char text[256], c[16];
    const enum beffio_definition own = job->setup->schedule.definition;
    snprintf(text, sizeof text, "%s MB/s, definition %s", cell(c, p->values.partition[own]),
             beffio_definition_name(own));
    line(to, "b_eff_io", text);
    for (int d = 0; d < BEFFIO_DEFINITIONS; d++) {
        if (d == (int)own) continue;
        snprintf(text, sizeof text, "%s MB/s by definition %s, computed from a %s schedule",
                 cell(c, p->values.partition[d]), beffio_definition_name((enum beffio_definition)d),
                 definition_of(job));
        line(to, "", text);
    }
    snprintf(text, sizeof text, "%s MB/s: all bytes over all time", cell(c, p->values.total));
    line(to, "", text);
    if (p->bench.layout.shared_m_part_bytes == 0) return;
    char m[UNITS_TEXT_MAX];
    snprintf(text, sizeof text,
             "M_PART of type 1 was reduced to %s: this library cannot move more in an ordered call",
             units_bytes_iec((double)p->bench.layout.shared_m_part_bytes, m));
    line(to, "Note", text);
}

static void coffee(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    char text[256], total[UNITS_TEXT_MAX];
    snprintf(text, sizeof text,
             "the memory of %s takes %.3g min to write and %.3g min to read; the coffee-cup rule "
             "allows 10",
             units_bytes_iec((double)job->memory_total_bytes, total),
             beffio_minutes(job->memory_total_bytes, p->values.access[BEFFIO_WRITE]),
             beffio_minutes(job->memory_total_bytes, p->values.access[BEFFIO_READ]));
    line(to, "Memory", text);
}

static void cached(FILE *to, const struct beffio_part *p)
{
    double share = 0, bytes = 0;
    char text[128];
    for (int t = 0; t < BEFFIO_TYPES; t++) {
        const double part = p->bench.result[BEFFIO_READ].type[t].cached_share;
        const double size = (double)p->bench.measured.type[BEFFIO_READ][t].bytes;
        if (!isfinite(part)) continue;
        share += part * size;
        bytes += size;
    }
    if (!(bytes > 0)) return;
    snprintf(text, sizeof text,
             "%.0f %% of the files lay in the memory of rank 0's node before they were read",
             100 * share / bytes);
    line(to, "Cache", text);
}

static void criteria(FILE *to, const struct beffio_part *p)
{
    static const char *const word[] = {"met", "NOT MET", "waived"};
    char text[BEFFIO_WORDS_MAX + 16];
    fprintf(to, "%s\n", p->valid ? "VALID" : "NOT VALID");
    for (int c = 0; c < BEFFIO_CRITERIA; c++) {
        snprintf(text, sizeof text, "%s: %s", word[p->criterion[c].verdict], p->criterion[c].words);
        line(to, "", text);
    }
}

static void wrong(const struct beffio_job *job, FILE *to, int64_t most)
{
    char words[512];
    for (int i = 0; i < job->setup->schedule.partitions_n; i++)
        for (int a = 0; a < BEFFIO_ACCESSES; a++) {
            const struct beffio_findings *f = &job->part[i].wrong[a];
            if (f->wrong_n == 0 || most-- <= 0) continue;
            beffio_findings_words(f, words, sizeof words);
            line(to, "WRONG", words);
        }
}

void beffio_text_last_line(const struct beffio_job *job, FILE *to)
{
    const struct beffio_part *p = &job->part[job->best];
    const struct beffio_schedule *c = &job->setup->schedule;
    char text[512], uname_text[256];
    beffio_sum_uname(uname_text, sizeof uname_text);
    int used = snprintf(text, sizeof text,
                        " b_eff_io = %8.3f MB/s on %d processes with %lld MByte/PE, scheduled "
                        "time=%.1f Min, on %s",
                        p->values.partition[c->definition] / 1e6, p->bench.procs,
                        (long long)(job->memory_per_process_bytes >> 20),
                        beffio_partition_time_s(c) / 60, uname_text);
    if (!p->valid)
        used += snprintf(text + used, sizeof text - (size_t)used, ", NOT VALID (see above)");
    if (job->wrong_n > 0)
        snprintf(text + used, sizeof text - (size_t)used, ", with %lld ERRORS",
                 (long long)job->wrong_n);
    fprintf(to, "%s\n", text);
}

void beffio_text_results(const struct beffio_job *job, FILE *to)
{
    if (job->best < 0) return;
    const struct beffio_part *best = &job->part[job->best];
    for (int i = 0; i < job->setup->schedule.partitions_n; i++)
        if (job->part[i].done) {
            table(to, &job->part[i]);
            values(job, to, &job->part[i]);
        }
    fprintf(to, "\nThe largest value is that of %d process%s.\n", best->bench.procs,
            units_plural(best->bench.procs));
    coffee(job, to, best);
    cached(to, best);
    wrong(job, to, job->setup->opt.errors);
    criteria(to, best);
    beffio_text_last_line(job, to);
    fflush(to);
}
