/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/disturbance.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/json.h"
#include "base/stamp.h"
#include "base/stat.h"
#include "base/watch.h"

#define PF_KTHREAD    0x00200000 /* in the flags of /proc/N/stat: a thread of the kernel */
#define MHZ_CPUS_MAX  16         /* whose frequency is read: asking a processor may disturb it */
#define NODES_TOLD    16         /* of which the result has the numbers, the worst ones */
#define PRESSURE_TOLD 0.05       /* share of the time from which on memory pressure is mentioned */

/* Where / is: "" but for tests. */
static const char *root_of(enum disturbance_when when, char buf[512])
{
    const char *folder = getenv(DISTURBANCE_PROC);
    buf[0] = '\0';
    if (folder && folder[0])
        snprintf(buf, 512, "%.480s/%s", folder, when == DISTURBANCE_BEFORE ? "before" : "after");
    return buf;
}

/* Reads a small file. Returns false when it cannot be read or is empty. */
static bool read_small_file(const char *root, const char *path, char *out, size_t size)
{
    char name[1024];
    snprintf(name, sizeof name, "%s%s", root, path);
    FILE *f = fopen(name, "re");
    out[0] = '\0';
    if (!f) return false;
    out[fread(out, 1, size - 1, f)] = '\0';
    fclose(f);
    return out[0] != '\0';
}

/* The flags and the CPU time in a line of /proc/N/stat. The name, in brackets, may hold anything. */
static bool stat_parse(const char *line, unsigned *flags, double *user_s, double *system_s)
{
    const char *at = strrchr(line, ')');
    unsigned long long user, system;
    if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu", flags, &user,
                      &system) != 3)
        return false;
    *user_s = (double)user / (double)sysconf(_SC_CLK_TCK);
    *system_s = (double)system / (double)sysconf(_SC_CLK_TCK);
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct disturbance_task *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* The tasks of a folder whose sub-folders are numbers: the threads of this process, by schedstat, or
 * those of the kernel among all processes, by stat. Without memory there are none. */
static void tasks_read(const char *root, const char *folder, bool kernel,
                       struct disturbance_tasks *to)
{
    char name[1024], path[640], text[1024];
    snprintf(name, sizeof name, "%s%s", root, folder);
    DIR *dir = opendir(name);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        struct disturbance_task new = {.id = strtoll(e->d_name, NULL, 10)};
        unsigned long long ran_ns, waited_ns;
        unsigned flags;
        double system_s;
        if (!isdigit((unsigned char)e->d_name[0])) continue;
        snprintf(path, sizeof path, "%s/%.256s/%s", folder, e->d_name,
                 kernel ? "stat" : "schedstat");
        if (!read_small_file(root, path, text, sizeof text)) continue; /* it has ended by now */
        if (kernel) {
            if (!stat_parse(text, &flags, &new.ran_s, &system_s) || !(flags & PF_KTHREAD)) continue;
            new.ran_s += system_s;
        } else {
            if (sscanf(text, "%llu %llu", &ran_ns, &waited_ns) != 2) continue;
            new.ran_s = 1e-9 * (double)ran_ns;
            new.waited_s = 1e-9 * (double)waited_ns;
        }
        struct disturbance_task *more = realloc(to->task, ((size_t)to->n + 1) * sizeof *more);
        if (!more) {
            to->n = 0;
            break;
        }
        to->task = more;
        to->task[to->n++] = new;
    }
    if (dir) closedir(dir);
    if (to->n > 0) qsort(to->task, (size_t)to->n, sizeof *to->task, by_id);
}

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in ticks; guests are in user
 * and nice. Interrupts serve whoever asked for them and count for nobody. */
static void node_cpu_read(const char *root, struct disturbance_sample *s)
{
    char text[1 << 18]; /* a line for each processor, before a long one of interrupts */
    unsigned long long v[8] = {0};
    const double tick = (double)sysconf(_SC_CLK_TCK);
    if (!read_small_file(root, "/proc/stat", text, sizeof text)) return;
    const int n = sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2],
                         &v[3], &v[4], &v[5], &v[6], &v[7]);
    if (n < 4) return;
    s->busy_user_s = (double)(v[0] + v[1]) / tick;
    s->busy_system_s = (double)v[2] / tick;
    s->steal_s = n < 8 ? NAN : (double)v[7] / tick;
    for (const char *line = strchr(text, '\n'); line && strncmp(line, "\ncpu", 4) == 0;
         line = strchr(line + 1, '\n'))
        s->cpus_n++;
}

static double mhz_read(const char *root)
{
    char path[128];
    char text[1 << 16];
    double sum = 0, one;
    int n = 0;
    for (int c = 0; c < MHZ_CPUS_MAX; c++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", c);
        if (!read_small_file(root, path, text, sizeof text) || sscanf(text, "%lf", &one) != 1)
            break;
        sum += one / 1000;
        n++;
    }
    if (n == 0 && read_small_file(root, "/proc/cpuinfo", text, sizeof text))
        for (const char *at = text; (at = strstr(at, "cpu MHz")) != NULL; at++)
            if (sscanf(at, "cpu MHz%*[ \t]: %lf", &one) == 1) {
                sum += one;
                n++;
            }
    return n > 0 ? sum / n : NAN;
}

/* A number behind a word at the start of a line; NaN where there is none. */
static double number_after(const char *text, const char *word)
{
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, word, strlen(word)) == 0) return strtod(line + strlen(word), NULL);
    return NAN;
}

/* The quota of one control group, as processors, and the time for which it withheld them. */
static void quota_of_group(const char *root, const char *group, bool second,
                           struct disturbance_sample *s)
{
    char path[1024], text[2048];
    double quota, period = NAN;
    const char *mount = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    snprintf(path, sizeof path, "%s%s/%s", mount, group, second ? "cpu.max" : "cpu.cfs_quota_us");
    if (!read_small_file(root, path, text, sizeof text)) return;
    if (sscanf(text, "%lf %lf", &quota, &period) < 1 || quota <= 0) return; /* "max", -1: none */
    if (!second) {
        snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", mount, group);
        if (read_small_file(root, path, text, sizeof text)) period = strtod(text, NULL);
    }
    snprintf(path, sizeof path, "%s%s/cpu.stat", mount, group);
    if (!(period > 0) || !read_small_file(root, path, text, sizeof text)) return;
    const double withheld_s = second ? 1e-6 * number_after(text, "throttled_usec ")
                                     : 1e-9 * number_after(text, "throttled_time ");
    if (!isfinite(withheld_s) || (isfinite(s->quota_cpus) && s->quota_cpus <= quota / period))
        return;
    s->quota_cpus = quota / period;
    s->throttled_s = withheld_s;
}

/* The group in a line of /proc/self/cgroup, "NUMBER:CONTROLLERS:GROUP", that has processors to give:
 * that of version 2, which names no controllers, or of "cpu". NULL for another one. */
static char *group_of_line(char *line, bool *second)
{
    char *controllers = strchr(line, ':'), *group, *name;
    if (!controllers || !(group = strchr(controllers + 1, ':'))) return NULL;
    *controllers++ = *group++ = '\0';
    *second = controllers[0] == '\0';
    bool cpu = *second;
    while ((name = strsep(&controllers, ",")) != NULL)
        cpu = cpu || strcmp(name, "cpu") == 0;
    return cpu && group[0] == '/' ? group : NULL;
}

/* The narrowest quota of the control groups that this process is in, each in the one above it. */
static void quota_read(const char *root, struct disturbance_sample *s)
{
    char text[4096], *line, *rest = text;
    bool second;
    if (!read_small_file(root, "/proc/self/cgroup", text, sizeof text)) return;
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *group = group_of_line(line, &second), *slash = group;
        while (slash) {
            quota_of_group(root, group, second, s);
            slash = strrchr(group, '/');
            if (slash) *slash = '\0';
        }
    }
}

static void node_read(const char *root, struct disturbance_sample *s)
{
    char text[512];
    unsigned long long us;
    const char *total;
    node_cpu_read(root, s);
    quota_read(root, s);
    s->pressure_s = NAN;
    if (read_small_file(root, "/proc/pressure/memory", text, sizeof text) &&
        (total = strstr(text, "total=")) != NULL && sscanf(total, "total=%llu", &us) == 1)
        s->pressure_s = 1e-6 * (double)us;
}

/* Batch systems and shells suspend a job by SIGSTOP and SIGTSTP, and continue it so. The kernel sends it, too, to
 * what runs in a terminal that closes (nohup), and has stopped nothing then. */
static volatile sig_atomic_t continued_n;

static void count_continued(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_code <= 0) continued_n++; /* by a process */
}

/* What concerns this process alone is read next to the clock. */
void disturbance_take(struct disturbance_sample *s, enum disturbance_when when, bool of_node)
{
    char buf[512], text[1024];
    const char *root = root_of(when, buf);
    const bool before = when == DISTURBANCE_BEFORE;
    const struct sigaction counted = {.sa_sigaction = count_continued,
                                      .sa_flags = SA_RESTART | SA_SIGINFO};
    struct rusage used;
    unsigned flags;
    sigaction(SIGCONT, &counted, NULL);
    *s = (struct disturbance_sample){
        .of_node = of_node, .mhz = NAN, .pressure_s = NAN, .throttled_s = NAN, .quota_cpus = NAN};
    if (of_node && before) {
        s->mhz = mhz_read(root);
        tasks_read(root, "/proc", true, &s->kernel);
        node_read(root, s);
    }
    tasks_read(root, "/proc/self/task", false, &s->threads);
    s->at_s = watch_now();
    s->continued_n = continued_n;
    if (root[0]) {
        s->at_s = read_small_file(root, "/proc/uptime", text, sizeof text) ? strtod(text, NULL) : 0;
        s->user_s = s->system_s = NAN;
        if (read_small_file(root, "/proc/self/stat", text, sizeof text))
            stat_parse(text, &flags, &s->user_s, &s->system_s);
    } else if (getrusage(RUSAGE_SELF, &used) == 0) {
        s->user_s = (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
        s->system_s = (double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec;
    }
    if (of_node && !before) {
        node_read(root, s);
        tasks_read(root, "/proc", true, &s->kernel);
        s->mhz = mhz_read(root);
    }
}

void disturbance_free(struct disturbance_sample *s)
{
    free(s->threads.task);
    free(s->kernel.task);
    s->threads = s->kernel = (struct disturbance_tasks){0};
}

/* What tasks did between two samples: those that are in both, and those that began in between. */
static void tasks_between(const struct disturbance_tasks *before,
                          const struct disturbance_tasks *after, double *ran_s, double *waited_s)
{
    *ran_s = *waited_s = 0;
    for (int i = 0, k = 0; i < after->n; i++) {
        const struct disturbance_task *now = &after->task[i];
        while (k < before->n && before->task[k].id < now->id)
            k++;
        const bool old = k < before->n && before->task[k].id == now->id;
        *ran_s += fmax(0, now->ran_s - (old ? before->task[k].ran_s : 0));
        *waited_s += fmax(0, now->waited_s - (old ? before->task[k].waited_s : 0));
    }
}

struct disturbance_part disturbance_unread(void)
{
    return (struct disturbance_part){.share = NAN,
                                     .tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK),
                                     .steal_s = NAN,
                                     .kernel_s = NAN,
                                     .pressure = NAN,
                                     .mhz = NAN,
                                     .throttled_s = NAN,
                                     .quota_cpus = NAN};
}

void disturbance_between(const struct disturbance_sample *before,
                         const struct disturbance_sample *after, int width,
                         struct disturbance_part *out)
{
    double ran_s, waited_s;
    *out = disturbance_unread();
    out->wall_s = after->at_s - before->at_s;
    out->user_s = after->user_s - before->user_s;
    out->system_s = after->system_s - before->system_s;
    out->suspended = after->continued_n != before->continued_n;
    out->of_node = after->of_node;
    if (gethostname(out->host, sizeof out->host - 1) < 0) out->host[0] = '\0';
    tasks_between(&before->threads, &after->threads, &ran_s, &waited_s);
    if (after->threads.n > 0 && ran_s + waited_s > 0)
        out->share = ran_s / (ran_s + waited_s);
    else if (after->threads.n == 0 && width > 0 && out->wall_s > 0)
        out->share = (out->user_s + out->system_s) / (width * out->wall_s);
    if (out->share > 1) out->share = 1; /* more threads than were to compute */
    if (!after->of_node) return;
    if (before->cpus_n > 0) out->cpus_n = after->cpus_n;
    out->busy_user_s = after->busy_user_s - before->busy_user_s;
    out->busy_system_s = after->busy_system_s - before->busy_system_s;
    out->steal_s = after->steal_s - before->steal_s;
    if (after->kernel.n > 0)
        tasks_between(&before->kernel, &after->kernel, &out->kernel_s, &waited_s);
    if (out->wall_s > 0) out->pressure = (after->pressure_s - before->pressure_s) / out->wall_s;
    out->mhz = (before->mhz + after->mhz) / 2;
    out->throttled_s = after->throttled_s - before->throttled_s;
    out->quota_cpus = after->quota_cpus;
}

/* ------------------------------------------------------------------ all ranks */

/* A node, of the ranks that stand on it. */
struct node {
    const struct disturbance_part *part; /* of the rank that read the node's numbers */
    int ranks_n;
    double share_min, user_s, system_s;
    double steal, others; /* NaN: not readable, or the time too short for the system's counters */
    double throttled;     /* NaN: no quota */
    bool too_short, noticed;
};

/* The system's counters go in steps, and a value counts as above a threshold when it is so by more than a step. */
bool disturbance_noticed(double steal, double others, double step)
{
    return others > DISTURBANCE_OTHERS + step || steal > DISTURBANCE_STEAL + step;
}

/* Of the processors of a node, what others had. Where no thread of the kernel can be seen, the time that
 * the node spent in its kernel cannot be told from that of flushing and is left out. */
static void node_judge(struct node *n)
{
    const struct disturbance_part *p = n->part;
    n->steal = n->others = n->throttled = NAN;
    if (p->cpus_n == 0 || !(p->wall_s > 0)) return;
    const double all_s = p->cpus_n * p->wall_s, step = p->tick_s / p->wall_s;
    if (isfinite(p->throttled_s)) n->throttled = fmin(1, fmax(0, p->throttled_s / all_s));
    n->noticed = n->throttled > DISTURBANCE_THROTTLED;
    n->too_short = step > DISTURBANCE_OTHERS;
    if (n->too_short) return;
    double others_s = p->busy_user_s - n->user_s;
    if (isfinite(p->kernel_s)) others_s += p->busy_system_s - n->system_s - p->kernel_s;
    if (isfinite(others_s)) n->others = fmin(1, fmax(0, others_s / all_s));
    if (isfinite(p->steal_s)) n->steal = fmin(1, fmax(0, p->steal_s / all_s));
    n->noticed = n->noticed || disturbance_noticed(n->steal, n->others, step);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The larger one that is a number. */
static double larger_known(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmax(a, b);
}

static json_t *node_json(const struct node *n)
{
    const struct disturbance_part *p = n->part;
    const double all_s = p->cpus_n * p->wall_s;
    return json_pack("{so si so so so so so so so so}", "host", js_text(p->host), "ranks_n",
                     n->ranks_n, "share_min", js_real(n->share_min), "steal", js_real(n->steal),
                     "others", js_real(n->others), "kernel", js_real(p->kernel_s / all_s),
                     "throttled", js_real(n->throttled), "memory_pressure", js_real(p->pressure),
                     "frequency_mhz", js_real(p->mhz), "wall_s", js_real(p->wall_s));
}

static void append(char *to, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *to, size_t size, const char *fmt, ...)
{
    const size_t used = strlen(to);
    va_list args;
    va_start(args, fmt);
    vsnprintf(to + used, size - used, fmt, args);
    va_end(args);
}

/* On how many nodes something cannot be told, and of how many ranks. */
struct unread {
    int shares, steal, others, inside, pressure, mhz;
    bool too_short;
};

/* What cannot be told about a run of n ranks, separated by commas. */
static void name_unreadable(struct disturbance *d, const struct unread *u, int n)
{
    const struct {
        int missing;
        const char *name;
    } of_node[] = {{u->too_short ? 0 : u->steal, "steal"},
                   {u->too_short ? 0 : u->others, "other programs"},
                   {u->too_short ? 0 : u->inside, "what other programs do inside the kernel"},
                   {u->pressure, "memory pressure"},
                   {u->mhz, "frequency"}};
    char *to = d->unreadable;
    const size_t size = sizeof d->unreadable;
    if (u->shares > 0)
        append(to, size, ", the ranks' share of their processors%s",
               u->shares < n ? " for some ranks" : "");
    if (u->too_short) append(to, size, ", steal and other programs in so short a time");
    for (size_t i = 0; i < sizeof of_node / sizeof of_node[0]; i++)
        if (of_node[i].missing > 0)
            append(to, size, ", %s%s", of_node[i].name,
                   of_node[i].missing < d->nodes_n ? " on some nodes" : "");
    if (to[0]) memmove(to, to + 2, strlen(to + 2) + 1);
}

/* What a run had of its processors, in one sentence that ends with what cannot be told. host: the
 * node with the most work of other programs. */
static void make_sentence(struct disturbance *d, const char *host)
{
    char *s = d->sentence;
    const size_t size = sizeof d->sentence;
    append(s, size, "%s",
           d->undisturbed ? "Undisturbed: "
           : d->disturbed ? "Disturbed: "
           : d->shared    ? "Processors shared: "
                          : "Not known whether undisturbed: ");
    const size_t head = strlen(s);
    if (d->suspended) append(s, size, "the job was suspended for some time");
    if (!isnan(d->share_min))
        append(s, size,
               "%sranks got %.3g %% of their processors (rank %d the least, %.3g %% in the median)",
               strlen(s) > head ? ", " : "", 100 * d->share_min, d->share_rank,
               100 * d->share_median);
    if (!isnan(d->others))
        append(s, size, "%sother programs had %.2g %% of the processors of %s",
               strlen(s) > head ? ", " : "", 100 * d->others, host);
    if (!isnan(d->steal) && d->steal > 0)
        append(s, size, "%ssteal was %.2g %%", strlen(s) > head ? ", " : "", 100 * d->steal);
    if (d->throttled > 0)
        append(s, size, "%sa CPU quota of %.3g processors withheld %.2g %%",
               strlen(s) > head ? ", " : "", d->quota_cpus, 100 * d->throttled);
    if (d->pressure > PRESSURE_TOLD)
        append(s, size, "%stasks waited for memory in %.2g %% of the time",
               strlen(s) > head ? ", " : "", 100 * d->pressure);
    if (d->shared)
        append(s, size, "; what they lacked went to threads of this job or to flushing its files");
    if (d->unreadable[0])
        append(s, size, "%snot readable here: %s", strlen(s) > head ? "; " : "", d->unreadable);
    append(s, size, ".");
}

/* Sorts ranks into nodes, in the order in which they come, and takes what is told of ranks. share: [out]
 * those that can be read, ascending. Returns their number. */
static int sort_ranks(const struct disturbance_part *part, int n, struct disturbance *d,
                      struct node *node, double *share)
{
    int shares_n = 0;
    for (int r = 0; r < n; r++) {
        struct node *of = node;
        while (of->part && of->part->node != part[r].node)
            of++;
        if (!of->part) {
            *of = (struct node){.part = &part[r], .share_min = NAN};
            d->nodes_n++;
        }
        if (part[r].of_node) of->part = &part[r];
        of->ranks_n++;
        of->user_s += part[r].user_s;
        of->system_s += part[r].system_s;
        d->wall_s = fmax(d->wall_s, part[r].wall_s);
        if (isnan(part[r].share)) continue;
        share[shares_n++] = part[r].share;
        of->share_min = fmin(of->share_min, part[r].share);
        if (isnan(d->share_min) || part[r].share < d->share_min) {
            d->share_min = part[r].share;
            d->share_rank = r;
        }
    }
    qsort(share, (size_t)shares_n, sizeof *share, ascending);
    return shares_n;
}

/* The nodes in results: of many, those that show something come first. */
static void list_nodes(struct disturbance *d, const struct node *node)
{
    for (int pass = 0; pass < 2; pass++)
        for (const struct node *of = node; of->part; of++) {
            const bool shows = of->noticed || of->share_min < DISTURBANCE_SHARE;
            if (shows == (pass == 0) && json_array_size(d->nodes) < NODES_TOLD)
                json_array_append_new(d->nodes, node_json(of));
        }
}

void disturbance_judge(const struct disturbance_part *part, int n, struct disturbance *d)
{
    struct node *node = calloc((size_t)n + 1, sizeof *node); /* an empty one ends them */
    double *share = calloc((size_t)n + 1, sizeof *share);
    const struct node *worst = NULL;
    struct unread unread = {0};
    bool noticed = false;
    *d = (struct disturbance){.share_min = NAN,
                              .share_median = NAN,
                              .steal = NAN,
                              .others = NAN,
                              .pressure = NAN,
                              .mhz = NAN,
                              .throttled = NAN,
                              .quota_cpus = NAN,
                              .nodes = json_array()};
    if (!node || !share) goto out;
    const int shares_n = sort_ranks(part, n, d, node, share);
    if (shares_n > 0) d->share_median = stat_sorted_median(share, shares_n);
    unread.shares = n - shares_n;
    for (int r = 0; r < n; r++)
        d->suspended = d->suspended || part[r].suspended;
    noticed = d->suspended;
    for (struct node *of = node; of->part; of++) {
        node_judge(of);
        noticed = noticed || of->noticed;
        unread.too_short = unread.too_short || of->too_short;
        unread.steal += isnan(of->steal);
        unread.others += isnan(of->others);
        unread.inside += !isnan(of->others) && !isfinite(of->part->kernel_s);
        unread.pressure += isnan(of->part->pressure);
        unread.mhz += isnan(of->part->mhz);
        if (!worst || of->others > worst->others) worst = of;
        d->steal = larger_known(d->steal, of->steal);
        d->others = larger_known(d->others, of->others);
        d->pressure = larger_known(d->pressure, of->part->pressure);
        d->throttled = larger_known(d->throttled, of->throttled);
        d->quota_cpus = fmin(d->quota_cpus, of->part->quota_cpus);
        if (isnan(d->mhz) || of->part->mhz < d->mhz) d->mhz = of->part->mhz;
    }
    const bool low = d->share_min < DISTURBANCE_SHARE;
    d->known = n > 0;
    d->shared = low && !noticed && unread.others == 0;
    d->disturbed = noticed || (low && !d->shared);
    d->undisturbed = shares_n == n && n > 0 && !low && !noticed;
    list_nodes(d, node);
    name_unreadable(d, &unread, n);
    if (worst) make_sentence(d, worst->part->host);
out:
    free(node);
    free(share);
}

void disturbance_end(struct disturbance *d)
{
    json_decref(d->nodes);
    d->nodes = NULL;
}

json_t *disturbance_json(const struct disturbance *d)
{
    const char *recorded = getenv(DISTURBANCE_PROC);
    if (!d->known) return json_null();
    const bool told = d->undisturbed || d->disturbed || d->shared;
    return json_pack(
        "{so sb sb sb so so si so so so so so so so si sO ss so s{sf sf sf sf} ss}", "undisturbed",
        told ? json_boolean(d->undisturbed) : json_null(), "disturbed", (int)d->disturbed,
        "processors_shared", (int)d->shared, "suspended", (int)d->suspended, "share_min",
        js_real(d->share_min), "share_median", js_real(d->share_median), "share_min_rank",
        d->share_rank, "steal", js_real(d->steal), "others", js_real(d->others), "throttled",
        js_real(d->throttled), "quota_cpus", js_real(d->quota_cpus), "memory_pressure",
        js_real(d->pressure), "frequency_mhz", js_real(d->mhz), "wall_s", js_real(d->wall_s),
        "nodes_n", d->nodes_n, "nodes", d->nodes, "not_readable", d->unreadable, "recorded",
        js_text(recorded && recorded[0] ? recorded : NULL), "thresholds", "share_min",
        DISTURBANCE_SHARE, "steal_max", DISTURBANCE_STEAL, "others_max", DISTURBANCE_OTHERS,
        "throttled_max", DISTURBANCE_THROTTLED, "sentence", d->sentence);
}

void disturbance_stamp(const struct disturbance *d, json_t *stamps)
{
    const bool told = isfinite(d->share_min) || isfinite(d->others) || isfinite(d->steal);
    if (d->known && !told && !d->disturbed && !d->shared)
        stamp_add(stamps, STAMP_DISTURBANCE_UNKNOWN, SEVERITY_NOTE, NULL, "%s", d->sentence);
    if (!d->disturbed && !d->shared) return;
    const struct {
        const char *key;
        double value;
    } number[] = {{"share_min", d->share_min},
                  {"share_median", d->share_median},
                  {"steal", d->steal},
                  {"others", d->others},
                  {"throttled", d->throttled},
                  {"quota_cpus", d->quota_cpus},
                  {"memory_pressure", d->pressure}};
    json_t *numbers = json_object();
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        if (isfinite(number[i].value)) js_set(numbers, number[i].key, json_real(number[i].value));
    stamp_add(stamps, d->disturbed ? STAMP_DISTURBED : STAMP_PROCESSORS_SHARED, SEVERITY_WARN,
              numbers, "%s", d->sentence);
}
