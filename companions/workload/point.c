/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/point.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/suggestion.h"
#include "base/num.h"

#define AT(member) offsetof(struct workload_point, member)
#define FRACTION(name_, member, help_)                                                             \
    {                                                                                              \
        .name = name_, .min = 0, .max = 1, .offset = AT(member), .help = help_                     \
    }

const struct workload_number workload_numbers[WORKLOAD_NUMBERS] = {
    {"processNum", 1, WORKLOAD_PROCESSES_MAX, true, AT(process_num), "processes involved"},
    {"sizeMean", 1, (double)WORKLOAD_BYTES_MAX, false, AT(size_mean),
     "mean bytes of one call of one process"},
    {"uniqueBytes", 1, (double)WORKLOAD_BYTES_MAX, true, AT(unique_bytes),
     "bytes transferred by all processes together"},
    FRACTION("readFrac", read_frac, "bytes read / bytes transferred"),
    FRACTION("collFrac", coll_frac, "collective calls / calls"),
    FRACTION("syncFrac", sync_frac, "blocking calls / calls"),
    FRACTION("seqFrac", seq_frac, "calls that begin where the one before ended / calls"),
    FRACTION("sharedFrac", shared_frac, "calls with the shared file pointer / calls"),
    {"contMean", 1, (double)WORKLOAD_BYTES_MAX, false, AT(cont_mean),
     "bytes in one piece in the file"},
};

struct workload_point workload_point_reference(void)
{
    return (struct workload_point){.process_num = 8,
                                   .size_mean = 8000,
                                   .unique_bytes = 1000000000,
                                   .read_frac = 0.8,
                                   .sync_frac = 0.78,
                                   .seq_frac = 0.2,
                                   .cont_mean = 8000};
}

double workload_point_number(const struct workload_point *p, int no)
{
    const char *at = (const char *)p + workload_numbers[no].offset;
    return workload_numbers[no].whole ? (double)*(const int64_t *)at : *(const double *)at;
}

int workload_point_set(struct workload_point *p, const char *name, const char *text)
{
    for (int i = 0; i < WORKLOAD_NUMBERS; i++) {
        const struct workload_number *number = &workload_numbers[i];
        void *at = (char *)p + number->offset;
        if (strcmp(number->name, name) != 0) continue;
        if (number->whole)
            return conf_int(name, text, (int64_t)number->min, (int64_t)number->max, at);
        return conf_real(name, text, number->min, number->max, at);
    }
    struct suggestion near = {.word = name};
    char meant[SUGGESTION_TEXT_MAX];
    for (int i = 0; i < WORKLOAD_NUMBERS; i++)
        suggestion_try(&near, workload_numbers[i].name);
    return err_set(ERR_USAGE, "%s: not one of the nine numbers of a working point%s", name,
                   suggestion_text(&near, "", meant));
}

static int check_fractions(const struct workload_point *p, bool separate, const char *where)
{
    const double limit = (double)WORKLOAD_CALLS_MAX;
    if (separate && (p->coll_frac > 0 || p->shared_frac > 0))
        return err_set(ERR_USAGE,
                       "%scollFrac and sharedFrac must be 0 with a file per process "
                       "(mode=\"separate\")",
                       where);
    if (p->shared_frac > 0 && p->cont_mean < p->size_mean && p->process_num > 1)
        return err_set(ERR_USAGE,
                       "%scontMean is smaller than sizeMean, so that each process has a view of "
                       "its own; the shared pointer needs the same view on all (sharedFrac 0)",
                       where);
    if ((double)p->unique_bytes / ((double)p->process_num * p->size_mean) > limit ||
        (p->list_n == 0 && workload_point_calls(p) > WORKLOAD_CALLS_MAX))
        return err_set(ERR_USAGE,
                       "%suniqueBytes / (processNum sizeMean): more than %" PRId64
                       " calls per process",
                       where, WORKLOAD_CALLS_MAX);
    return 0;
}

bool workload_calls_placed(const struct workload_calls *c)
{
    return c->skips > 0 || c->placed;
}

int64_t workload_calls_extent(const struct workload_calls *c)
{
    return c->skips > 0 ? c->span : c->bytes;
}

/* How much further on than those of the first process the calls of another one begin. */
static double shift_of(const struct workload_point *p, const struct workload_calls *c, int64_t rank)
{
    return (double)rank * (c->shifted ? (double)c->shift : p->size_mean);
}

/* end: the first and the last process that have these; the last before the first: none has. */
static int check_list(const struct workload_point *p, const struct workload_calls *list, int n,
                      bool separate, const int64_t end[2], const char *where)
{
    const bool holes = p->cont_mean < p->size_mean && p->process_num > 1;
    int64_t calls = 0;
    for (int i = 0; i < n; i++) {
        const struct workload_kind k = workload_kind_of(list[i].kind);
        calls = num_sum(calls, list[i].n);
        if (calls > WORKLOAD_CALLS_MAX)
            return err_set(ERR_USAGE, "%smore than %" PRId64 " calls", where, WORKLOAD_CALLS_MAX);
        if (list[i].n == 0 && list[i].bytes > 0)
            return err_set(ERR_USAGE, "%sbytes without calls of %s", where,
                           workload_kind_name(list[i].kind));
        if (separate && (k.collective || k.position == WORKLOAD_SHARED))
            return err_set(ERR_USAGE,
                           "%s%s is not possible with a file per process (mode=\"separate\")",
                           where, workload_kind_name(list[i].kind));
        if (holes && k.position == WORKLOAD_SHARED)
            return err_set(ERR_USAGE, "%s%s needs the same view on all processes, without holes",
                           where, workload_kind_name(list[i].kind));
        const bool gaps = list[i].skips != 0 || list[i].span != 0 || list[i].lead != 0;
        if (!gaps && !list[i].placed) continue;
        if (k.position == WORKLOAD_SHARED || holes)
            return err_set(
                ERR_USAGE,
                "%sspan, skips, lead, begin and shift need known offsets and no holes, not %s",
                where, workload_kind_name(list[i].kind));
        if (gaps && (list[i].skips < 1 || list[i].skips >= list[i].n ||
                     list[i].span < (list[i].bytes + list[i].n - 1) / list[i].n))
            return err_set(ERR_USAGE,
                           "%s%s: skips are 1 to n - 1, a span is at least as long as a call",
                           where, workload_kind_name(list[i].kind));
        if (gaps && list[i].lead > list[i].n - list[i].skips)
            return err_set(ERR_USAGE, "%s%s: lead is 1 to n - skips", where,
                           workload_kind_name(list[i].kind));
        for (int e = 0; e < 2 && end[0] <= end[1]; e++) {
            const double begin =
                (double)list[i].begin + (separate ? 0 : shift_of(p, &list[i], end[e]));
            if (begin < 0)
                return err_set(ERR_USAGE, "%s%s: process %" PRId64 " begins before the file does",
                               where, workload_kind_name(list[i].kind), end[e]);
            if (begin + (double)workload_calls_extent(&list[i]) > 2 * (double)WORKLOAD_BYTES_MAX)
                return err_set(ERR_USAGE, "%s%s: the span makes too long a file", where,
                               workload_kind_name(list[i].kind));
        }
    }
    return 0;
}

/* How often a list has a collective function, in all its entries. */
static int64_t collective_n(const struct workload_calls *list, int n, int kind)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += list[i].kind == kind ? list[i].n : 0;
    return sum;
}

/* Processes that call a collective function more often than others would wait for ever. */
static int check_rank(const struct workload_point *p, const struct workload_rank *r, bool separate,
                      const char *where)
{
    int64_t calls = 0, bytes = 0;
    if (r->of >= p->process_num)
        return err_set(ERR_USAGE, "%srank of=\"%d\": the point has processes 0 to %" PRId64, where,
                       r->of, p->process_num - 1);
    TRY(check_list(p, r->list, r->list_n, separate, (int64_t[]){r->of, r->of}, where));
    for (int i = 0; i < r->list_n; i++) {
        calls = num_sum(calls, r->list[i].n);
        bytes = num_sum(bytes, r->list[i].bytes);
    }
    if (r->calls == 0 && r->bytes > 0)
        return err_set(ERR_USAGE, "%srank of=\"%d\": bytes without calls", where, r->of);
    if (r->list_n > 0 && (calls != r->calls || bytes != r->bytes))
        return err_set(ERR_USAGE,
                       "%srank of=\"%d\": its calls add up to %" PRId64 " calls and %" PRId64
                       " bytes",
                       where, r->of, calls, bytes);
    const bool own = r->list_n > 0 || (r->calls == 0 && p->list_n > 0);
    for (int kind = 0; own && kind < WORKLOAD_KINDS; kind++)
        if (workload_kind_of(kind).collective &&
            collective_n(r->list, r->list_n, kind) != collective_n(p->list, p->list_n, kind))
            return err_set(ERR_USAGE,
                           "%srank of=\"%d\": %s is collective, all processes call it "
                           "equally often",
                           where, r->of, workload_kind_name(kind));
    return 0;
}

/* What one process moves that is not listed among the ranks. */
static int check_sum(const struct workload_point *p, const char *where)
{
    int64_t calls = 0, bytes = 0, sum = 0;
    bool own_places = false;
    for (int i = 0; i < p->list_n; i++) {
        calls = num_sum(calls, p->list[i].n);
        bytes = num_sum(bytes, p->list[i].bytes);
        own_places = own_places || workload_calls_placed(&p->list[i]);
    }
    const int64_t others = workload_point_calls(p);
    for (int i = 0; i < p->ranks_n; i++) {
        sum = num_sum(sum, p->rank[i].bytes);
        if (p->rank[i].list_n == 0 && p->list_n > 0 && p->rank[i].calls > 0 &&
            (p->rank[i].calls != calls || own_places))
            return err_set(ERR_USAGE,
                           "%srank of=\"%d\": so many calls as the point's <calls>, or <calls> of "
                           "its own",
                           where, p->rank[i].of);
        if (p->rank[i].list_n == 0 && p->list_n == 0 && p->coll_frac > 0 &&
            p->rank[i].calls != others)
            return err_set(ERR_USAGE,
                           "%srank of=\"%d\": with collective calls all processes make equally "
                           "many, here %" PRId64,
                           where, p->rank[i].of, others);
    }
    if (p->list_n > 0) sum = num_sum(sum, num_product(bytes, p->process_num - p->ranks_n));
    if (sum == p->unique_bytes || (p->list_n == 0 && sum < p->unique_bytes)) return 0;
    return err_set(ERR_USAGE,
                   "%sthe parts of the processes make %" PRId64 " bytes, uniqueBytes is %" PRId64,
                   where, sum, p->unique_bytes);
}

/* The interleaved blocks of contMean bytes must make a file that can be. */
static int check_blocks(const struct workload_point *p, const char *where)
{
    double shortest = p->cont_mean, tile = p->cont_mean * (double)p->process_num;
    if (p->cont_mean >= p->size_mean) return 0;
    for (int i = 0; i < p->ranks_n; i++) {
        const double own = p->rank[i].cont_mean;
        if (own > 0) tile += own - p->cont_mean;
        if (own > 0 && own < shortest) shortest = own;
    }
    if (((double)p->unique_bytes / shortest + 1) * tile <= 4 * (double)WORKLOAD_BYTES_MAX) return 0;
    return err_set(ERR_USAGE, "%sblocks of contMean bytes of all processes make too long a file",
                   where);
}

int64_t workload_point_calls(const struct workload_point *p)
{
    int64_t calls = 0, listed = 0;
    for (int i = 0; i < p->list_n; i++)
        calls = num_sum(calls, p->list[i].n);
    if (p->list_n > 0 || p->ranks_n >= p->process_num) return calls;
    for (int i = 0; i < p->ranks_n; i++)
        listed = num_sum(listed, p->rank[i].bytes);
    const int64_t left = num_max(p->unique_bytes - listed, 0);
    const double each = (double)left / (double)(p->process_num - p->ranks_n);
    return num_round(ceil(each / p->size_mean));
}

void workload_point_usual(const struct workload_point *p, int64_t end[2])
{
    int first = 0, last = p->ranks_n - 1;
    end[0] = 0;
    end[1] = p->process_num - 1;
    while (first < p->ranks_n && p->rank[first].of == end[0]) {
        end[0]++;
        first++;
    }
    while (last >= 0 && p->rank[last].of == end[1]) {
        end[1]--;
        last--;
    }
}

int workload_point_check(const struct workload_point *p, bool separate, const char *where)
{
    int64_t usual[2];
    for (int i = 0; i < WORKLOAD_NUMBERS; i++) {
        const struct workload_number *number = &workload_numbers[i];
        const double value = workload_point_number(p, i);
        if (!(value >= number->min && value <= number->max))
            return err_set(ERR_USAGE, "%s%s is %g, not from %g to %g", where, number->name, value,
                           number->min, number->max);
    }
    if (!(p->think_s >= 0 && p->think_s <= WORKLOAD_THINK_S_MAX))
        return err_set(ERR_USAGE, "%sthink is %g, not from 0 to %g s", where, p->think_s,
                       WORKLOAD_THINK_S_MAX);
    if (p->ranks_n > p->process_num)
        return err_set(ERR_USAGE, "%smore <rank> than processes", where);
    TRY(check_fractions(p, separate, where));
    TRY(check_blocks(p, where));
    for (int i = 0; i < p->ranks_n; i++) {
        TRY(check_rank(p, &p->rank[i], separate, where));
        if (i > 0 && p->rank[i].of <= p->rank[i - 1].of)
            return err_set(ERR_USAGE, "%srank of=\"%d\" stands after rank of=\"%d\"", where,
                           p->rank[i].of, p->rank[i - 1].of);
    }
    workload_point_usual(p, usual);
    TRY(check_list(p, p->list, p->list_n, separate, usual, where));
    return check_sum(p, where);
}

int workload_add(struct workload *w, const struct workload_point *p)
{
    /* Room for 2^k points: doubled whenever it is full. */
    if ((w->points_n & (w->points_n - 1)) == 0) {
        const size_t room = w->points_n == 0 ? 1 : 2 * (size_t)w->points_n;
        struct workload_point *more =
            mem_grow(w->point, (int64_t)room, sizeof *more, "%d working points", w->points_n + 1);
        if (!more) return ERR_NOMEM;
        w->point = more;
    }
    w->point[w->points_n++] = *p;
    return 0;
}

void workload_point_free(struct workload_point *p)
{
    for (int i = 0; i < p->ranks_n; i++)
        free(p->rank[i].list);
    free(p->rank);
    free(p->list);
    p->rank = NULL;
    p->list = NULL;
    p->ranks_n = p->list_n = 0;
}

void workload_free(struct workload *w)
{
    for (int i = 0; i < w->points_n; i++)
        workload_point_free(&w->point[i]);
    for (int i = 0; i < WORKLOAD_FILES_MAX; i++)
        free(w->file_name[i]);
    free(w->point);
    memset(w, 0, sizeof *w);
}

/* --- writing -------------------------------------------------------------------------------- */

/* Names of other programs' files hold what they like. Control characters are not allowed in XML. */
static void write_text(const char *text, FILE *to)
{
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte < 0x20 || byte >= 0x7f)
            fputc('?', to);
        else if (strchr("<>&\"'", *c))
            fprintf(to, "&#%d;", *c);
        else
            fputc(*c, to);
    }
}

static void write_calls(const struct workload_calls *list, int n, const char *indent, FILE *to)
{
    for (int i = 0; i < n; i++) {
        fprintf(to, "%s<calls function=\"%s\" n=\"%" PRId64 "\" bytes=\"%" PRId64 "\"", indent,
                workload_kind_name(list[i].kind), list[i].n, list[i].bytes);
        if (list[i].skips > 0)
            fprintf(to, " span=\"%" PRId64 "\" skips=\"%" PRId64 "\"", list[i].span, list[i].skips);
        if (list[i].lead > 0) fprintf(to, " lead=\"%" PRId64 "\"", list[i].lead);
        if (list[i].begin != 0 || (list[i].placed && !list[i].shifted && list[i].skips == 0))
            fprintf(to, " begin=\"%" PRId64 "\"", list[i].begin);
        if (list[i].shifted) fprintf(to, " shift=\"%" PRId64 "\"", list[i].shift);
        fprintf(to, "/>\n");
    }
}

static void write_rank(const struct workload_rank *r, FILE *to)
{
    char text[NUM_TEXT_MAX];
    fprintf(to, "    <rank of=\"%d\" calls=\"%" PRId64 "\" bytes=\"%" PRId64 "\"", r->of, r->calls,
            r->bytes);
    if (r->cont_mean > 0) fprintf(to, " contMean=\"%s\"", num_real(r->cont_mean, text));
    fprintf(to, "%s>\n", r->list_n > 0 ? "" : "/");
    if (r->list_n == 0) return;
    write_calls(r->list, r->list_n, "      ", to);
    fprintf(to, "    </rank>\n");
}

static void write_point(const struct workload_point *p, FILE *to)
{
    char text[NUM_TEXT_MAX];
    fprintf(to, "  <workingPoint file=\"%d\"", p->file);
    for (int i = 0; i < WORKLOAD_NUMBERS; i++) {
        const struct workload_number *number = &workload_numbers[i];
        const char *at = (const char *)p + number->offset;
        if (number->whole)
            fprintf(to, " %s=\"%" PRId64 "\"", number->name, *(const int64_t *)at);
        else
            fprintf(to, " %s=\"%s\"", number->name, num_real(*(const double *)at, text));
    }
    if (p->think_s > 0) fprintf(to, " think=\"%s\"", num_real(p->think_s, text));
    if (p->request) fprintf(to, " nonblockingCollective=\"request\"");
    const bool empty = p->list_n == 0 && p->ranks_n == 0;
    fprintf(to, "%s>\n", empty ? "/" : "");
    if (empty) return;
    write_calls(p->list, p->list_n, "    ", to);
    for (int i = 0; i < p->ranks_n; i++)
        write_rank(&p->rank[i], to);
    fprintf(to, "  </workingPoint>\n");
}

void workload_write(const struct workload *w, FILE *to)
{
    fprintf(to, WORKLOAD_TEXT_BEGIN "\"1\" mode=\"%s\" seed=\"%" PRIu64 "\">\n",
            w->separate ? "separate" : "common", w->seed);
    for (int i = 0; i < WORKLOAD_FILES_MAX; i++) {
        if (!w->file_name[i]) continue;
        fprintf(to, "  <file index=\"%d\" name=\"", i);
        write_text(w->file_name[i], to);
        fprintf(to, "\"/>\n");
    }
    for (int i = 0; i < w->points_n; i++)
        write_point(&w->point[i], to);
    fprintf(to, "</workload>\n");
}
