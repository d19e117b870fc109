/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/virtual.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 512

static FILE *open_below(const char *root, const char *path)
{
    char name[PATH_BYTES];
    snprintf(name, sizeof name, "%s%s", root, path);
    return fopen(name, "re");
}

/* Whether a line of a file begins with one text and, if that is not NULL, has another in it. [out]
 * found: there is a line with that beginning at all. */
static bool has_line(const char *root, const char *path, const char *begin, const char *in,
                     bool *found)
{
    FILE *f = open_below(root, path);
    char *line = NULL;
    size_t size = 0;
    bool has = false;
    while (f && !has && getline(&line, &size, f) >= 0) {
        if (strncmp(line, begin, strlen(begin)) != 0) continue;
        *found = true;
        has = !in || strstr(line, in);
    }
    free(line);
    if (f) fclose(f);
    return has;
}

static bool exists_under(const char *root, const char *path)
{
    char name[PATH_BYTES];
    struct stat st;
    snprintf(name, sizeof name, "%s%s", root, path);
    return stat(name, &st) == 0;
}

/* What makers of virtual machines write where hardware has its vendor's name. */
static bool known_to_dmi(const char *root)
{
    static const char *const file[] = {
        "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name",
        "/sys/class/dmi/id/board_vendor", "/sys/class/dmi/id/bios_vendor"};
    static const char *const name[] = {"QEMU",
                                       "KVM",
                                       "OpenStack",
                                       "KubeVirt",
                                       "VMware",
                                       "VMW",
                                       "Xen",
                                       "Bochs",
                                       "Parallels",
                                       "BHYVE",
                                       "Hyper-V",
                                       "VirtualBox",
                                       "innotek",
                                       "UTM",
                                       "Virtual Machine",
                                       "Google Compute Engine",
                                       "Apple Virtualization",
                                       "Alibaba Cloud"};
    bool found;
    for (size_t i = 0; i < sizeof file / sizeof file[0]; i++)
        for (size_t k = 0; k < sizeof name / sizeof name[0]; k++)
            if (has_line(root, file[i], name[k], NULL, &found)) return true;
    /* This vendor also lets whole machines. */
    return has_line(root, file[0], "Amazon EC2", NULL, &found) &&
           !has_line(root, file[1], "", ".metal", &found);
}

static bool known_to_device_tree(const char *root)
{
    char name[PATH_BYTES];
    bool is = exists_under(root, "/proc/device-tree/hypervisor") ||
              exists_under(root, "/proc/device-tree/ibm,partition-name");
    snprintf(name, sizeof name, "%s/proc/device-tree", root);
    DIR *dir = opendir(name);
    for (struct dirent *e; dir && !is && (e = readdir(dir));)
        is = strncmp(e->d_name, "fw-cfg", 6) == 0;
    if (dir) closedir(dir);
    return is;
}

bool virtual_machine(const char *root)
{
    bool x86 = false, found;
    if (has_line(root, "/proc/cpuinfo", "flags", " hypervisor", &x86)) return true;
    if (x86) return false;
    return known_to_dmi(root) || known_to_device_tree(root) ||
           exists_under(root, "/sys/hypervisor/type") ||
           has_line(root, "/proc/sysinfo", "VM00 Control Program", NULL, &found);
}
