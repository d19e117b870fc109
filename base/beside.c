/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/beside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/version.h"

int beside_path(char path[PATH_MAX], const char *name)
{
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return err_set_errno(ERR_IO, errno, "/proc/self/exe");
    self[length] = '\0';
    const int folder = (int)(strrchr(self, '/') - self);
    if (snprintf(path, PATH_MAX, "%.*s/%s", folder, self, name) < PATH_MAX) return 0;
    return err_set_errno(ERR_IO, ENAMETOOLONG, "%s beside %s", name, self);
}

int beside_library(char path[PATH_MAX], const char *name)
{
    char relative[PATH_MAX];
    snprintf(relative, sizeof relative, "../lib/nht1/%s", name);
    TRY(beside_path(path, relative));
    if (nht1_libdir[0] && access(path, R_OK) != 0)
        snprintf(path, PATH_MAX, "%s/nht1/%s", nht1_libdir, name);
    return 0;
}

/* In share beside the folder of the programs. */
const char *beside_launcher(void)
{
    static char name[256];
    char path[PATH_MAX];
    snprintf(name, sizeof name, "mpirun");
    FILE *f = beside_path(path, "../share/nht1/runs/launcher") == 0 ? fopen(path, "re") : NULL;
    if (f && fscanf(f, "%255s", name) != 1) snprintf(name, sizeof name, "mpirun");
    if (f) fclose(f);
    return name;
}
