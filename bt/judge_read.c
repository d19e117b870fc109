/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/judge_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/balance.h"
#include "base/cache.h"
#include "base/stamp.h"
#include "base/units.h"
#include "bt/evidence.h"
#include "io/writers/writer.h"

json_t *bt_judge_reading(const struct bt_reading *r)
{
    const double share = bt_reading_cached(r);
    json_t *to = json_array();
    for (int64_t i = 0; i < r->dumps_n && !stamp_find(to, STAMP_READ_WRONG); i++)
        if (!r->dump[i].right)
            stamp_add(to, STAMP_READ_WRONG, SEVERITY_BAD,
                      stamp_number(NULL, "dump_n", (double)r->dump[i].dump + 1),
                      "What was read of dump %lld is not what the manifest's digest says: wrong on "
                      "disk, or misread.",
                      (long long)r->dump[i].dump + 1);
    if (r->warm && share < 1 - CACHE_SHARE)
        stamp_add(
            to, STAMP_READ_NOT_CACHED, SEVERITY_WARN, stamp_number(NULL, "cached_share", share),
            "Read warm, but only %.0f %% was in memory after it had been read once.", 100 * share);
    else if (r->warm && !isfinite(share) && !r->in_memory)
        stamp_add(to, STAMP_READ_NOT_CACHED, SEVERITY_WARN, NULL,
                  "Perhaps not read warm: the system does not report how much was in memory.");
    disturbance_stamp(&r->disturbance, to);
    if (r->warm) return to;
    if (r->in_memory)
        stamp_add(to, STAMP_READ_CACHED, SEVERITY_WARN, stamp_number(NULL, "cached_share", share),
                  "Not read cold: the file system is in memory.");
    else if (share > CACHE_SHARE)
        stamp_add(to, STAMP_READ_CACHED, SEVERITY_WARN, stamp_number(NULL, "cached_share", share),
                  "Not read cold: %.0f %% was still in memory after the file had been dropped "
                  "from it.",
                  100 * share);
    else if (!isfinite(share))
        stamp_add(to, STAMP_READ_CACHED, SEVERITY_WARN, NULL,
                  "Perhaps not read cold: the system does not report how much was in memory.");
    if (r->in_memory) return to; /* neither servers nor a disk hold anything of it */
    if (r->network)
        stamp_add(to, STAMP_READ_SERVER_CACHE, SEVERITY_NOTE, NULL,
                  "Read cold as far as the nodes go: what the servers of a network file system "
                  "hold in memory cannot be dropped or seen from here.");
    else if (r->virtual)
        stamp_add(to, STAMP_READ_SERVER_CACHE, SEVERITY_NOTE, NULL,
                  "Read cold as far as this virtual machine goes: what its host holds of the disk "
                  "in memory cannot be dropped or seen from here.");
    return to;
}

/* Why nothing can be concluded, as for a writer: processors, memory, too short, disturbed. */
static const char *unmeasurable(const struct bt_job *job, const struct bt_read_row *row,
                                const struct balance_rounds *evidence, enum balance found,
                                char why[BALANCE_WHY])
{
    const double cycle_s = row->median.computing_s + row->median.t_r_s;
    const char *reason = bt_evidence_cores(&job->machine, why);
    if (reason) return reason;
    if (!row->from_device) {
        snprintf(why, BALANCE_WHY, "T_R measures memory, not a device: %s",
                 row->first->warm
                     ? "the same was read just before; take --read-cache cold"
                     : "what was read lay there, or may have; write to a file system on a device "
                       "whose files can be dropped from the page cache");
        return "page-cache";
    }
    if (cycle_s < BALANCE_SHORT_S) {
        snprintf(why, BALANCE_WHY,
                 "reading and the computing that it is compared with take %.3g s, and start-up and "
                 "noise dominate times below %g s; %stake a larger class",
                 cycle_s, BALANCE_SHORT_S,
                 job->setup->read == BT_READ_ALL ? "" : "read more dumps (--read all), or ");
        return "too-short";
    }
    return balance_spoiled(evidence, found, row->zeta.conflict || row->data.conflict, "rounds",
                           "while they only computed", why);
}

/* How many rounds would decide, in all. */
static void undecided(json_t *to, const struct bt_job *job, const struct bt_read_row *row,
                      json_t *n)
{
    char sentence[512];
    const struct balance_open open = {.what = "zeta of reading",
                                      .parts = "data",
                                      .round = "round",
                                      .rounds = row->pairs ? row->pairs : row->runs,
                                      .most = BT_REPEAT_MAX,
                                      .until_decided = job->setup->rounds_auto,
                                      .alone_missing = row->pairs == 0 && row->runs > 1,
                                      .zeta = row->median.zeta,
                                      .data = row->median.zeta_data,
                                      .of_zeta = &row->zeta,
                                      .of_data = &row->data};
    stamp_add(to, STAMP_UNDECIDED, SEVERITY_NOTE, n, "%s", balance_undecided(&open, n, sentence));
}

/* How many times as slow data would do, whatever of them bookkeeping hides: a writer in the background reads ahead,
 * and if all of T_R were data, T_R would be so many times as long. INFINITY: it hides nothing. */
static double hidden_up_to(const struct bt_read_row *row)
{
    return io_writer_in_background(row->writer) ? BALANCE_GOAL / row->zeta.hi : INFINITY;
}

static json_t *numbers_of(const struct bt_read_row *row)
{
    const struct bt_read_values *v = &row->median;
    json_t *n = balance_numbers(NULL, "zeta_read", v->zeta, &row->zeta, v->zeta_data, &row->data,
                                hidden_up_to(row));
    stamp_number(n, "zeta_bookkeeping", v->zeta_bookkeeping);
    return stamp_number(n, "rounds_n", row->pairs > 0 ? row->pairs : row->runs);
}

/* One of the four answers, or undecided. None of what is no serial file, of what was read wrongly, and of
 * continued runs. */
static void judge_answer(json_t *to, const struct bt_job *job, struct bt_read_row *row,
                         const struct balance_rounds *evidence)
{
    const struct bt_read_values *v = &row->median;
    const enum balance found = balance_of(&row->zeta, &row->data);
    const bool serial = io_writer_caps(row->writer) & IO_CAP_SERIAL_FILE;
    /* Servers, or the host of a virtual machine, may have had it in memory: true of good answers alone. */
    const char *as_far = row->first->network   ? ", as far as the nodes go"
                         : row->first->virtual ? ", as far as this virtual machine goes"
                                               : "";
    char why[BALANCE_WHY], zeta[64], data[64], but[96], slower[BALANCE_SLOWER];
    const double most = hidden_up_to(row);
    if (!serial || !row->right || !isfinite(v->zeta) || evidence->rounds == 0) return;
    json_t *n = numbers_of(row);
    balance_words(v->zeta, &row->zeta, zeta);
    balance_words(v->zeta_data, &row->data, data);
    row->reason = unmeasurable(job, row, evidence, found, why);
    if (!row->reason && found == BALANCE_NOT_DATA) {
        snprintf(why, sizeof why,
                 "zeta of reading, %s, is above %.2f, but data, %s, are not: finding and placing "
                 "them takes the rest; take a larger class, or more ranks",
                 zeta, BALANCE_GOAL, data);
        row->reason = "bookkeeping";
    }
    if (row->reason)
        stamp_add(to, STAMP_NOT_MEASURABLE, SEVERITY_WARN, n, "Not measurable here and now: %s.",
                  why);
    else if (found == BALANCE_FASTER)
        stamp_add(to, STAMP_IO_FASTER_THAN_NEEDED, SEVERITY_GOOD, n,
                  "Reading back is faster than this computation needs%s: zeta of reading %s, data "
                  "%s, %d rounds%s.%s",
                  as_far, zeta, data, row->pairs, balance_but(&row->zeta, "rounds", n, but),
                  balance_slower(balance_spare(&row->zeta, &row->data, most), most, "the goal",
                                 "putting them into place", slower));
    else if (found == BALANCE_MET)
        stamp_add(to, STAMP_BALANCED, SEVERITY_GOOD, n,
                  "Balanced%s: zeta of reading %s, %d rounds; the goal is at most %.2f%s.", as_far,
                  zeta, row->pairs, BALANCE_GOAL, balance_but(&row->zeta, "rounds", n, but));
    else if (found == BALANCE_MISSED)
        stamp_add(to, STAMP_IO_TOO_SLOW, SEVERITY_BAD, n,
                  "I/O is too slow to read dumps back as often as this computation writes them: "
                  "zeta of reading %s, data alone %s, %d rounds; the goal is at most %.2f.",
                  zeta, data, row->pairs, BALANCE_GOAL);
    else
        undecided(to, job, row, n);
    row->answer = stamp_text(json_array_get(to, json_array_size(to) - 1), "code");
}

void bt_judge_readings(const struct bt_job *job, struct bt_read_row *row)
{
    const struct balance_rounds evidence = bt_evidence_of(job, row->writer, row->first);
    const struct disturbance *worst = NULL;
    row->stamps = json_array();
    judge_answer(row->stamps, job, row, &evidence);
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        const struct bt_reading *r = bt_reading_of(run, row->first);
        if (strcmp(run->writer, row->writer) != 0 || !r) continue;
        if (r->disturbance.disturbed || (r->disturbance.shared && !worst)) worst = &r->disturbance;
    }
    if (worst) bt_evidence_stamp(row->stamps, &evidence, &job->machine, worst);
    for (int i = 0; i < job->outcomes_n; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        const struct bt_reading *r = bt_reading_of(run, row->first);
        if (strcmp(run->writer, row->writer) != 0 || !r) continue;
        json_t *one, *of_reading = bt_judge_reading(r);
        size_t s;
        json_array_foreach(of_reading, s, one)
        {
            if (!stamp_find_text(row->stamps, stamp_text(one, "code")))
                json_array_append(row->stamps, one);
        }
        json_decref(of_reading);
    }
}

void bt_judge_read_name(const struct bt_read_row *row, char out[160])
{
    snprintf(out, 160, "%s, read back %s (%s)", row->writer, row->first->warm ? "warm" : "cold",
             row->first->decomp);
}
