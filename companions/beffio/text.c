/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/columns.h"
#include "base/plain.h"
#include "base/units.h"
#include "base/version.h"

static const char *processes(int n)
{
    return n == 1 ? "process" : "processes";
}

void beffio_text_heading(const struct beffio_job *job, FILE *to)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    const struct nodes *n = &job->nodes;
    const double repeat = (double)job->setup->opt.repeat, check_s = beffio_job_check_s(job);
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], d[UNITS_TEXT_MAX], list[128] = "", check[128] = "";
    fprintf(to, "nht1-beffio %s: effective I/O bandwidth\n", nht1_build);
    plain_entry(to, "System", "%s%s, %lld cores (%s); %d rank%s", n->host,
                n->count > 1 ? " and others" : "", (long long)n->cores, n->cpu, job->size,
                units_plural(job->size));
    plain_entry(to, "Memory", "%s per process, %s in all; largest chunk M_PART = %s",
                units_bytes_iec((double)job->memory_per_process_bytes, a),
                units_bytes_iec((double)job->memory_total_bytes, b),
                units_bytes_iec((double)job->m_part_bytes, d));
    const bool told = job->fs.free_bytes >= 0 || job->room.limit_bytes > 0;
    plain_entry(to, "Files", "%s/%s_data_*, %s (%s); %s%s", job->setup->opt.path,
                job->setup->prefix, job->fs.type, job->fs.source,
                told ? units_bytes((double)job->room_bytes, a) : "it does not tell what is free",
                told ? " may be used" : "");
    if (job->probe_bytes > 0)
        plain_entry(to, "Probe", "wrote %s at %s", units_bytes((double)job->probe_bytes, a),
                    units_rate(job->rate, b));
    for (int i = 0; i < c->partitions_n; i++) {
        const struct beffio_part *p = &job->part[i];
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%d", i ? ", " : "", c->procs[i]);
        if (p->sample)
            plain_entry(to, "Note",
                        "data read back are checked in samples; --check read checks everything");
        if (p->expected_bytes > p->bench.share_bytes && !job->unasked && job->missing_bytes == 0)
            plain_entry(
                to, "Note",
                "at that rate %d %s would write %s: writing will stop for lack of space, and then "
                "the result is not valid",
                p->bench.procs, processes(p->bench.procs),
                units_bytes((double)p->expected_bytes, a));
    }
    if (job->room.in_memory)
        plain_entry(to, "Note", "the file system is in memory: no device is measured");
    if (strncmp(job->fs.type, "nfs", 3) == 0)
        plain_entry(to, "Note", "on NFS MPI-IO libraries lock each access and are very slow");
    if (check_s > 0)
        snprintf(check, sizeof check,
                 ", and about %s to read everything once more and check it (--check)",
                 units_duration(check_s * repeat, a));
    plain_entry(to, "Schedule",
                "definition %s, %g s %s; partitions of %s processes; %s by schedule%s",
                beffio_definition_name(c->definition), c->t_s,
                c->definition == BEFFIO_2_1 ? "for all partitions"
                : c->halves                 ? "for the first partition and half of it for the next"
                                            : "per partition",
                list, units_duration(beffio_run_time_s(c) * repeat, b), check);
    fflush(to);
}

/* The patterns of a partition, and what it is to take. */
static void plan_partition(const struct beffio_job *job, FILE *to, int index)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    const struct beffio_part *p = &job->part[index];
    const int n = c->procs[index];
    struct beffio_layout l;
    char files[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX], seg[UNITS_TEXT_MAX];
    beffio_expected(c, index, n, job->m_part_bytes, job->rate * n / job->size, &l);
    struct columns t;
    columns_begin(&t, "4  -9 12 12 2 10 10 15");
    columns_row(&t, "no", "type", "l", "L", "U", "write s", "calls", "bytes of all", NULL);
    for (int no = 0; no < BEFFIO_PATTERNS; no++) {
        const struct beffio_pattern pat = beffio_layout_pattern(&l, no);
        const struct beffio_place at = beffio_place(&l, no);
        columns_cell(&t, "%d", no);
        columns_cell(&t, "%s", beffio_type_name(pat.type));
        columns_cell(&t, "%lld", (long long)at.chunk_bytes);
        columns_cell(&t, "%lld", (long long)(at.chunk_bytes * at.chunks_per_call));
        columns_cell(&t, "%d", pat.u);
        if (pat.type <= BEFFIO_SEPARATE)
            columns_cell(&t, "%.3f", beffio_pattern_time_s(c, index, pat.u));
        else
            columns_cell(&t, "-");
        columns_cell(&t, "%lld", (long long)at.calls_n);
        columns_cell(&t, "%lld", (long long)(beffio_place_bytes(&at) * l.procs));
    }
    fprintf(to, "\n%d %s\n", n, processes(n));
    columns_print(&t, to);
    plain_entry(to, "Files", "at %s: %s in all files, segment of %s (%lld bytes in one file)",
                units_rate(job->rate * n / job->size, rate),
                units_bytes((double)p->expected_bytes, files),
                units_bytes((double)l.segment_bytes, seg), (long long)l.segment_bytes * n);
    const int64_t share = p->bench.share_bytes;
    plain_entry(to, "Room", "%s may be used; the least possible is %s",
                units_bytes((double)(share < job->room_bytes ? share : job->room_bytes), files),
                units_bytes((double)beffio_least_bytes(n, job->m_part_bytes), seg));
}

void beffio_text_plan(const struct beffio_job *job, FILE *to)
{
    for (int i = 0; i < job->setup->schedule.partitions_n; i++)
        plan_partition(job, to, i);
    fflush(to);
}

static const char *mb(char out[UNITS_CELL_MAX], double bytes_per_s)
{
    return units_cell(out, "%.3f", bytes_per_s / 1e6);
}

/* Types over accesses, then the values under the three definitions. */
static void partition_text(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    const enum beffio_definition own = job->setup->schedule.definition;
    char c[UNITS_CELL_MAX], m[UNITS_TEXT_MAX];
    struct columns t;
    columns_begin(&t, "-19 10 10 10 10 10 10 10");
    columns_cell(&t, "%d %s, MB/s", p->bench.procs, processes(p->bench.procs));
    for (int type = 0; type < BEFFIO_TYPES; type++)
        columns_cell(&t, "%s", beffio_type_name((enum beffio_type)type));
    columns_row(&t, "access", "bytes/time", NULL);
    for (int a = 0; a < BEFFIO_ACCESSES; a++) {
        columns_cell(&t, "  %s", beffio_access_name((enum beffio_access)a));
        for (int type = 0; type < BEFFIO_TYPES; type++)
            columns_cell(&t, "%s", mb(c, p->values.type[a][type]));
        columns_cell(&t, "%s", mb(c, p->values.access[a]));
        columns_cell(&t, "%s", mb(c, p->values.plain[a]));
    }
    fputc('\n', to);
    columns_print(&t, to);
    plain_entry(to, "b_eff_io", "%s MB/s, definition %s%s", mb(c, p->values.partition[own]),
                beffio_definition_name(own), p->valid ? "" : ", not valid (see below)");
    for (int d = 0; d < BEFFIO_DEFINITIONS; d++)
        if (d != (int)own)
            plain_entry(to, "", "%s MB/s by definition %s, computed from a %s schedule",
                        mb(c, p->values.partition[d]),
                        beffio_definition_name((enum beffio_definition)d),
                        beffio_definition_name(own));
    plain_entry(to, "", "%s MB/s: all bytes over all time", mb(c, p->values.total));
    if (p->bench.offset_bytes[0] == p->bench.offset_bytes[1])
        plain_entry(to, "Buffers", "%d bytes off a page%s", p->bench.offset_bytes[0],
                    p->bench.buffer_offset == BUFFER_MALLOC ? ", where malloc puts them" : "");
    else
        plain_entry(to, "Buffers", "%d to %d bytes off a page, where malloc puts them",
                    p->bench.offset_bytes[0], p->bench.offset_bytes[1]);
    if (job->setup->shift != 0)
        plain_entry(to, "Shifted", "each process read what the one %d rank%s further wrote%s",
                    p->bench.shift, p->bench.shift == 1 ? "" : "s",
                    p->bench.shift == 0 ? ", its own: N is a multiple of the processes" : "");
    if (p->bench.layout.shared_m_part_bytes > 0)
        plain_entry(
            to, "Note",
            "M_PART of type 1 was reduced to %s: this library cannot move more in an ordered call",
            units_bytes_iec((double)p->bench.layout.shared_m_part_bytes, m));
}

/* What is wrong with the data, and whether the result is valid. */
static void judged(const struct beffio_job *job, FILE *to, const struct beffio_part *p)
{
    int64_t most = job->setup->opt.errors, shown_n = 0;
    char words[512];
    for (int i = 0; i < job->setup->schedule.partitions_n; i++)
        for (int a = 0; a < BEFFIO_ACCESSES; a++) {
            const struct beffio_findings *f = &job->part[i].wrong[a];
            if (f->wrong_n == 0) continue;
            shown_n++;
            if (most-- <= 0) continue;
            beffio_findings_words(f, words, sizeof words);
            plain_entry(to, "WRONG", "%s", words);
        }
    if (job->wrong_n > 0 && shown_n == 0 && most > 0) { /* not in the repetition above */
        beffio_findings_words(&job->wrong_first.found, words, sizeof words);
        plain_entry(to, "WRONG", "in repetition %d: %s", job->wrong_first.rep + 1, words);
    }
    fprintf(to, "%s by definition%s\n", p->valid ? "VALID" : "NOT VALID",
            p->valid && job->disturbance.disturbed ? ", but disturbed" : "");
    for (int c = 0; c < BEFFIO_CRITERIA; c++)
        plain_entry(to, "", "%s: %s", p->criterion[c].met ? "met" : "NOT MET",
                    p->criterion[c].words);
    fprintf(to, "%s\n", p->honesty.honest ? "CACHE-HONEST" : "NOT CACHE-HONEST");
    plain_entry(to, "", "%s", p->honesty.words);
    if (job->disturbance.disturbed || job->disturbance.shared)
        plain_entry(to, "Care", "%s", job->disturbance.sentence);
}

void beffio_text_results(const struct beffio_job *job, FILE *to)
{
    if (job->best < 0) return;
    const struct beffio_part *best = &job->part[job->best];
    double least = INFINITY;
    char total[UNITS_TEXT_MAX];
    for (int i = 0; i < job->setup->schedule.partitions_n; i++)
        if (job->part[i].done) partition_text(job, to, &job->part[i]);
    fprintf(to, "\nThe largest value is that of %d %s.\n", best->bench.procs,
            processes(best->bench.procs));
    plain_entry(
        to, "Memory",
        "the memory of %s takes %.3g min to write and %.3g min to read; the coffee-cup rule allows "
        "10",
        units_bytes_iec((double)job->memory_total_bytes, total),
        beffio_minutes(job->memory_total_bytes, best->values.access[BEFFIO_WRITE]),
        beffio_minutes(job->memory_total_bytes, best->values.access[BEFFIO_READ]));
    for (int r = 0; r < job->reps_done; r++)
        least = fmin(least, job->rep[r].value);
    if (job->reps_done > 1)
        plain_entry(
            to, "Repeated",
            "%d times: from %.3f MB/s to the maximum, which the papers take, %.3f MB/s; all "
            "above is of the median one",
            job->reps_done, least / 1e6, beffio_job_maximum(job, NULL) / 1e6);
    if (job->reps_done < (int)job->setup->opt.repeat && job->setup->opt.repeat > 1)
        plain_entry(to, "Care", "the job did not finish; %d of %d repetitions %s complete",
                    job->reps_done, (int)job->setup->opt.repeat,
                    job->reps_done == 1 ? "is" : "are");
    judged(job, to, best);
    beffio_sum_last_line(job, best->valid, to);
    fflush(to);
}
