/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/text_target.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"

int beff_text_check(const char *option, const char *path, const char *program)
{
    char line[32] = "";
    struct stat st;
    const size_t name = strlen(program);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return 0;
    FILE *f = fopen(path, "ae+");
    if (!f) return err_set_errno(ERR_IO, errno, "%s %s", option, path);
    rewind(f);
    const bool empty = !fgets(line, sizeof line, f);
    fclose(f);
    if (empty || (strncmp(line, program, name) == 0 && line[name] == ' ')) return 0;
    return err_set(ERR_USAGE, "%s %s: this file is none of %s's: choose another name", option, path,
                   program);
}
