/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_COMMA_H
#define TESTS_COMMA_H
/* A locale whose decimal point is a comma, made on the spot where none is installed. */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Sets it for the whole process; false, and nothing changed, where it cannot be had. */
static inline bool comma_locale_set(void)
{
    char dir[] = "/tmp/comma_XXXXXX", command[256];
    if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8")) return true;
    if (!mkdtemp(dir)) return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
             dir, dir);
    bool made = system(command) == 0;
    setenv("LOCPATH", dir, 1);
    made = made && setlocale(LC_ALL, "de_DE.UTF-8");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) == 0 && made && localeconv()->decimal_point[0] == ',';
}

#endif
