/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/sys.h"

/* The smaller limit; 0 is none. Version 1 says "none" by a huge number. */
static int64_t smaller_limit(int64_t a, int64_t b)
{
    if (a <= 0) return b > 0 ? b : 0;
    return b > 0 && b < a ? b : a;
}

/* The smallest limit of a group and of those that it is in, up to the mount point. */
static int64_t limit_up(const char *mount, const char *group, const char *file)
{
    char path[2 * SYS_PATH_MAX + 64], at[SYS_PATH_MAX];
    int64_t limit = 0;
    snprintf(at, sizeof at, "%s", group);
    for (;;) {
        char *slash = strrchr(at, '/');
        snprintf(path, sizeof path, "%s%s/%s", mount, at, file);
        limit = smaller_limit(limit, num_int_read(path));
        if (!slash) return limit;
        *slash = '\0';
    }
}

/* Whether "memory" is one of the names separated by ','. */
static bool has_memory(const char *controllers)
{
    for (const char *c = controllers; c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL)
        if (strncmp(c, "memory", 6) == 0 && (c[6] == ',' || c[6] == '\0')) return true;
    return false;
}

/* One line of /proc/self/cgroup: "NUMBER:CONTROLLERS:GROUP", version 2 without controllers. */
static int64_t limit_of_line(const char *root, char *line)
{
    char mount[SYS_PATH_MAX];
    char *controllers = strchr(line, ':'), *group;
    if (!controllers || !(group = strchr(controllers + 1, ':'))) return 0;
    *controllers++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (group[0] != '/') return 0;
    if (strcmp(group, "/") == 0) group[0] = '\0';
    const bool second = controllers[0] == '\0';
    if (!second && !has_memory(controllers)) return 0;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, second ? "" : "/memory");
    return limit_up(mount, group, second ? "memory.max" : "memory.limit_in_bytes");
}

int64_t sys_group_limit(const char *root)
{
    char path[SYS_PATH_MAX], line[SYS_PATH_MAX];
    int64_t limit = 0;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        limit = smaller_limit(limit, limit_of_line(root, line));
    if (f) fclose(f);
    return limit;
}
