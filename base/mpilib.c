/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mpilib.h"

#include <string.h>

/* OpenRTE and PRRTE are the launchers of Open MPI. */
enum mpilib_kind mpilib_kind_of(const char *said)
{
    static const struct {
        const char *word;
        enum mpilib_kind kind;
    } known[] = {{"Open MPI", MPILIB_OPEN_MPI},
                 {"OpenRTE", MPILIB_OPEN_MPI},
                 {"PRRTE", MPILIB_OPEN_MPI},
                 {"MPICH", MPILIB_MPICH},
                 {"Intel", MPILIB_INTEL}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(said, known[i].word)) return known[i].kind;
    return MPILIB_OTHER;
}

/* A setting is a list of names, or of those that are not wanted after '^'. */
unsigned mpilib_io_of(const char *setting, const char *fs_type)
{
    const bool ompio = strstr(setting, "ompio") != NULL,
               romio = strcasestr(setting, "romio") != NULL;
    if (fs_type && strncmp(setting, "unknown (", 9) == 0)
        return strcmp(fs_type, "lustre") == 0 ? MPILIB_ROMIO : MPILIB_OMPIO;
    if (setting[0] == '^') return ompio ? MPILIB_ROMIO : MPILIB_OMPIO;
    if (ompio != romio) return ompio ? MPILIB_OMPIO : MPILIB_ROMIO;
    return MPILIB_OMPIO | MPILIB_ROMIO;
}
