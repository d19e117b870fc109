/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sys.h"

#include <glob.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/json.h"
#include "base/num.h"
#include "base/text.h"

/* How this file was compiled; the Makefile passes the flags. */
#ifndef BUILD_FLAGS
#define BUILD_FLAGS ""
#endif
#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

static hwloc_topology_t open_topology(void)
{
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) < 0) return NULL;
    if (hwloc_topology_load(t) == 0) return t;
    hwloc_topology_destroy(t);
    return NULL;
}

/* The value of a line "KEY : VALUE" of a file of /proc, "" when it has none. */
static void proc_value(const char *path, const char *key, char *out, size_t size)
{
    char line[512];
    size_t len = strlen(key);
    out[0] = '\0';
    FILE *f = fopen(path, "re");
    if (!f) return;
    while (!out[0] && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, len) != 0 || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(out, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    }
    fclose(f);
}

static cpu_set_t told;

void sys_cpus_tell(const cpu_set_t *more)
{
    told = *more;
}

void sys_cpus_unbind(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (CPU_COUNT(&told) == 0 || sched_getaffinity(0, sizeof set, &set) < 0) return;
    CPU_OR(&set, &set, &told);
    (void)sched_setaffinity(0, sizeof set, &set); /* without it the thread stays where it is */
}

int sys_cpus_allowed(uint64_t *mask)
{
    cpu_set_t set;
    uint64_t hash = 1;
    CPU_ZERO(&set);
    if (mask) *mask = 0;
    if (sched_getaffinity(0, sizeof set, &set) < 0) return 0;
    CPU_OR(&set, &set, &told);
    for (size_t c = 0; c < CPU_SETSIZE; c++)
        hash = hash * UINT64_C(6364136223846793005) + (CPU_ISSET(c, &set) ? 3 : 1);
    if (mask) *mask = hash;
    return CPU_COUNT(&set);
}

static int objects_n(hwloc_topology_t t, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(t, type);
    return n > 0 ? n : 0;
}

/* Without a topology every logical processor counts as a core. */
static void fill_cpu(hwloc_topology_t t, struct sys_cpu *out)
{
    memset(out, 0, sizeof *out);
    out->cpus_n = (int)sysconf(_SC_NPROCESSORS_ONLN);
    out->cpus_allowed_n = sys_cpus_allowed(NULL);
    hwloc_obj_t package = t ? hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE, 0) : NULL;
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (model && model[0])
        snprintf(out->model, sizeof out->model, "%s", model);
    else
        proc_value("/proc/cpuinfo", "model name", out->model, sizeof out->model);
    text_cut_words(out->model, ""); /* some processors fill their name up with blanks */
    if (t) {
        out->packages_n = objects_n(t, HWLOC_OBJ_PACKAGE);
        out->cores_n = objects_n(t, HWLOC_OBJ_CORE);
        /* Cores of which the affinity mask has at least one logical processor. */
        hwloc_bitmap_t mask = hwloc_bitmap_alloc();
        if (mask && hwloc_get_cpubind(t, mask, HWLOC_CPUBIND_PROCESS) == 0) {
            for (unsigned c = 0; c < CPU_SETSIZE; c++)
                if (CPU_ISSET(c, &told)) hwloc_bitmap_set(mask, c);
            for (int c = 0; c < out->cores_n; c++) {
                hwloc_obj_t core = hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, (unsigned)c);
                out->cores_allowed_n += hwloc_bitmap_intersects(core->cpuset, mask) != 0;
            }
        }
        hwloc_bitmap_free(mask);
    }
    if (out->cores_n == 0) out->cores_n = out->cpus_n;
    if (out->cores_allowed_n == 0) out->cores_allowed_n = out->cpus_allowed_n;
}

void sys_cpu(struct sys_cpu *out)
{
    hwloc_topology_t t = open_topology();
    fill_cpu(t, out);
    if (t) hwloc_topology_destroy(t);
}

int64_t sys_cache2_bytes(void)
{
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? bytes : 0;
}

static json_t *cpu_json(void)
{
    static const hwloc_obj_type_t level[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
                                             HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE};
    struct sys_cpu cpu;
    hwloc_topology_t t = open_topology();
    json_t *caches = json_array();
    fill_cpu(t, &cpu);
    for (int l = 0; t && l < 4; l++) {
        hwloc_obj_t first = hwloc_get_obj_by_type(t, level[l], 0);
        if (!first) continue;
        json_array_append_new(caches, json_pack("{s:i, s:I, s:i}", "level", l + 1, "bytes",
                                                (json_int_t)first->attr->cache.size, "n",
                                                objects_n(t, level[l])));
    }
    if (t) hwloc_topology_destroy(t);
    return json_pack("{s:o, s:i, s:i, s:i, s:i, s:i, s:o}", "model", js_text(cpu.model),
                     "packages_n", cpu.packages_n, "cores_n", cpu.cores_n, "cpus_n", cpu.cpus_n,
                     "cores_allowed_n", cpu.cores_allowed_n, "cpus_allowed_n", cpu.cpus_allowed_n,
                     "caches", caches);
}

/* The smaller limit; 0 is none. Version 1 says "none" by a huge number. */
static int64_t smaller_limit(int64_t a, int64_t b)
{
    if (a <= 0) return b > 0 ? b : 0;
    return b > 0 && b < a ? b : a;
}

/* Names of a group's files, and in its statistics, of version 1 and 2. */
enum { GIVEN_BACK = 3 };
static const struct group_names {
    const char *limit, *used, *kernel, *given_back[GIVEN_BACK];
} group_names[] = {{"memory.limit_in_bytes",
                    "memory.usage_in_bytes",
                    "memory.kmem.usage_in_bytes",
                    {"total_active_file ", "total_inactive_file "}},
                   {"memory.max",
                    "memory.current",
                    NULL,
                    {"active_file ", "inactive_file ", "slab_reclaimable "}}};

/* Bytes that a group gives back when programs need memory: pages of files, and what the kernel keeps of their names. Version 1 does not
 * tell how much of the kernel's memory that is: most of it. */
static int64_t given_back(const char *folder, const struct group_names *of)
{
    char path[2 * SYS_PATH_MAX + 64], line[128];
    int64_t bytes = 0, one;
    snprintf(path, sizeof path, "%s/%s", folder, of->kernel ? of->kernel : "");
    if (of->kernel) bytes = num_max(num_int_read(path), 0);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        for (int i = 0; i < GIVEN_BACK && of->given_back[i]; i++) {
            const size_t length = strlen(of->given_back[i]);
            line[strcspn(line, "\n")] = '\0';
            if (strncmp(line, of->given_back[i], length) == 0 &&
                num_int_parse(line + length, &one) == 0)
                bytes = num_sum(bytes, one);
        }
    if (f) fclose(f);
    return bytes;
}

/* The smallest limit of a group and of those that it is in, up to the mount point. [in,out] left */
static int64_t limit_up(const char *mount, const char *group, const struct group_names *of,
                        int64_t *left)
{
    char folder[2 * SYS_PATH_MAX], path[2 * SYS_PATH_MAX + 64], at[SYS_PATH_MAX];
    int64_t limit = 0;
    snprintf(at, sizeof at, "%s", group);
    for (;;) {
        char *slash = strrchr(at, '/');
        snprintf(folder, sizeof folder, "%s%s", mount, at);
        snprintf(path, sizeof path, "%s/%s", folder, of->limit);
        const int64_t its = num_int_read(path);
        limit = smaller_limit(limit, its);
        if (its > 0) {
            snprintf(path, sizeof path, "%s/%s", folder, of->used);
            const int64_t used = num_max(num_int_read(path), 0) - given_back(folder, of);
            *left = num_min(*left, num_max(its - num_max(used, 0), 0));
        }
        if (!slash) return limit;
        *slash = '\0';
    }
}

/* One line of /proc/self/cgroup: "NUMBER:CONTROLLERS:GROUP", version 2 without controllers. */
static int64_t limit_of_line(const char *root, char *line, int64_t *left)
{
    char mount[SYS_PATH_MAX];
    char *controllers = strchr(line, ':'), *group;
    if (!controllers || !(group = strchr(controllers + 1, ':'))) return 0;
    *controllers++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (group[0] != '/') return 0;
    if (strcmp(group, "/") == 0) group[0] = '\0';
    const bool second = controllers[0] == '\0';
    bool memory = false; /* one of the names separated by ',' */
    for (char *name; (name = strsep(&controllers, ",")) != NULL;)
        memory = memory || strcmp(name, "memory") == 0;
    if (!second && !memory) return 0;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, second ? "" : "/memory");
    return limit_up(mount, group, &group_names[second], left);
}

int64_t sys_group_limit(const char *root, int64_t *left)
{
    char path[SYS_PATH_MAX], line[SYS_PATH_MAX];
    int64_t limit = 0;
    *left = INT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        limit = smaller_limit(limit, limit_of_line(root, line, left));
    if (f) fclose(f);
    return limit;
}

void sys_memory(struct sys_memory *out)
{
    char text[64];
    int64_t available_kib = 0, left;
    out->total_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    proc_value("/proc/meminfo", "MemAvailable", text, sizeof text);
    text[strcspn(text, " ")] = '\0';
    if (num_int_parse(text, &available_kib) < 0) available_kib = 0;
    out->available_bytes = available_kib * 1024;
    out->limit_bytes = sys_group_limit("", &left);
    if (out->limit_bytes >= out->total_bytes) out->limit_bytes = 0;
    out->usable_bytes = smaller_limit(out->limit_bytes, out->total_bytes);
    out->free_bytes = out->available_bytes > 0 ? num_min(left, out->available_bytes) : INT64_MAX;
}

#define REPORTING_BIT 5  /* VIRTIO_BALLOON_F_REPORTING, [VIRTIO] 5.5.3 */
#define ORDER_OFF     11 /* blocks of 2^11 pages and more do not occur: nothing is reported */

/* The features of a device are a line of 0 and 1, the first for bit 0. */
static bool reports(const char *features_path)
{
    char text[REPORTING_BIT + 2] = "";
    FILE *f = fopen(features_path, "re");
    if (!f) return false;
    if (!fgets(text, sizeof text, f)) text[0] = '\0';
    fclose(f);
    return strlen(text) > REPORTING_BIT && text[REPORTING_BIT] == '1';
}

bool sys_memory_returned(const char *sysfs)
{
    char path[SYS_PATH_MAX];
    glob_t found;
    bool yes = false;
    snprintf(path, sizeof path, "%s/module/page_reporting/parameters/page_reporting_order", sysfs);
    if (num_int_read(path) >= ORDER_OFF) return false;
    snprintf(path, sizeof path, "%s/bus/virtio/drivers/virtio_balloon/virtio*/features", sysfs);
    if (glob(path, 0, NULL, &found) != 0) return false;
    for (size_t i = 0; i < found.gl_pathc; i++)
        yes = yes || reports(found.gl_pathv[i]);
    globfree(&found);
    return yes;
}

static json_t *memory_json(void)
{
    struct sys_memory m;
    sys_memory(&m);
    return json_pack("{s:I, s:I, s:I, s:b}", "total_bytes", (json_int_t)m.total_bytes,
                     "available_bytes", (json_int_t)m.available_bytes, "limit_bytes",
                     (json_int_t)m.limit_bytes, "returned_to_host",
                     (int)sys_memory_returned("/sys"));
}

const char *sys_job_id(void)
{
    static const char *const name[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        const char *id = getenv(name[i]);
        if (id && id[0]) return id;
    }
    return NULL;
}

/* Every OMP_ and GOMP_ variable: each of them can change what is measured. */
static json_t *openmp_json(void)
{
    json_t *out = json_object();
    for (char **e = environ; out && *e; e++) {
        char name[64];
        size_t len = strcspn(*e, "=");
        bool wanted = strncmp(*e, "OMP_", 4) == 0 || strncmp(*e, "GOMP_", 5) == 0;
        if (!wanted || (*e)[len] != '=' || len >= sizeof name) continue;
        snprintf(name, sizeof name, "%.*s", (int)len, *e);
        json_object_set_new(out, name, js_text(*e + len + 1));
    }
    return out;
}

json_t *sys_json(void)
{
    struct utsname u;
    char kernel[256] = "", host[256] = "";
    if (uname(&u) == 0) {
        snprintf(kernel, sizeof kernel, "%.64s %.64s %.64s", u.sysname, u.release, u.machine);
        snprintf(host, sizeof host, "%s", u.nodename);
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:s, s:s, s:o}", "host", js_text(host), "kernel",
                     js_text(kernel), "cpu", cpu_json(), "memory", memory_json(), "compiler",
                     COMPILER, "flags", BUILD_FLAGS, "openmp", openmp_json());
}
