/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The protocol: all measurements as text, one section per size. */
#include "base/num.h"
#include "beff/beff_report.h"
#include "beff/beff_traffic.h"

static void head(const struct beff_job *job, int size, FILE *to)
{
    fprintf(to, "\nsize %d: %lld bytes\n", size + 1, (long long)job->measured.size_bytes[size]);
    fprintf(to, "%-20s %-12s %12s", "pattern", "method", "best MB/s");
    for (int r = 0; r < job->setup->reps_n; r++)
        fprintf(to, " | %8s %10s %10s %10s %12s", "loop", "min", "mean", "max", "seconds");
    fprintf(to, "\n");
}

static double best(const struct beff_cube *c, int size, int method, int pattern)
{
    double most = 0;
    for (int r = 0; r < c->reps_n; r++) {
        const struct beff_cell *cell = beff_cell_at(c, r, size, method, pattern);
        if (cell->loop > 0 && cell->bandwidth > most) most = cell->bandwidth;
    }
    return most;
}

static void line(const struct beff_job *job, int size, int method, int pattern, FILE *to)
{
    const struct beff_cube *c = &job->measured.cube;
    const double most = best(c, size, method, pattern);
    if (!(most > 0)) return;
    fprintf(to, "%-20s %-12s %12.3f", job->plan.pattern[pattern].name, beff_method_name(method),
            most / 1e6);
    for (int r = 0; r < c->reps_n; r++) {
        const struct beff_cell *cell = beff_cell_at(c, r, size, method, pattern);
        if (cell->loop == 0) {
            fprintf(to, " | %8s %10s %10s %10s %12s", "-", "-", "-", "-", "-");
            continue;
        }
        fprintf(to, " | %8lld %10.3f %10.3f %10.3f %12.9f", (long long)cell->loop,
                cell->process_min / 1e6, cell->process_mean / 1e6, cell->process_max / 1e6,
                cell->time_s);
    }
    fprintf(to, "\n");
}

static void elapsed(const struct beff_job *job, FILE *to)
{
    const struct beff_elapsed e = beff_elapsed(&job->measured.cube);
    fprintf(
        to,
        "\nelapsed %.3f s; in the loops of whole repetitions, slowest process: %.3f s, and %.3f "
        "s had all been as fast as the fastest\n",
        job->measured.elapsed_s, e.measured_s, e.undisturbed_s);
}

void beff_report_protocol(const struct beff_job *job, const struct beff_summary *s, FILE *to)
{
    fprintf(to, "nht1-beff %s protocol\n", NHT1_VERSION);
    fprintf(to, "best: of the pattern as a whole; then for each repetition iterations, MB/s that a "
                "process sends (least, mean and most of all processes), time of the slowest\n");
    for (int i = 0; i < BEFF_SIZES_N; i++) {
        head(job, i, to);
        for (int p = 0; p < job->plan.patterns_n; p++)
            for (int m = 0; m < BEFF_METHODS_N; m++)
                line(job, i, m, p, to);
    }
    elapsed(job, to);
    beff_report_details(job, s, to);
    fprintf(to, "\n");
    beff_report_sum(job, s, to);
}
