/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the MPI library itself is asked for. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/mpilib.h"
#include "base/mpilib_tool.h"
#include "base/text.h"

const struct mpilib *mpilib(void)
{
    static char name[MPI_MAX_LIBRARY_VERSION_STRING];
    static struct mpilib known;
    int length;
    if (!known.name) {
        MPI_Get_library_version(name, &length);
        known.kind = mpilib_kind_of(name);
        text_cut_words(name, ",\n");
        known.name = name;
    }
    return &known;
}

/* A user's choice is in the variable "io"; without one Open MPI decides by priority and file system, and
 * does not say how. Asked once: it loads all its components for each answer. */
const char *mpilib_component(void)
{
    static char chosen[4096];
    static bool asked;
    if (mpilib()->kind == MPILIB_MPICH) return "ROMIO";
    if (mpilib()->kind != MPILIB_OPEN_MPI) return "unknown";
    if (!asked) mpilib_variable("io", chosen, sizeof chosen);
    asked = true;
    return chosen[0] ? chosen : "unknown (Open MPI's default: ompio, on Lustre romio)";
}

unsigned mpilib_io(const char *fs_type)
{
    return mpilib_io_of(mpilib_component(), fs_type);
}

bool mpilib_may_be_ompio(void)
{
    return mpilib()->kind == MPILIB_OPEN_MPI && (mpilib_io(NULL) & MPILIB_OMPIO) != 0;
}

/* Whether the setting lets Open MPI use a component: a list of those that are wanted, or behind '^' of
 * those that are not. */
static bool component_enabled(const char *component)
{
    const char *list = mpilib_component();
    const bool except = list[0] == '^';
    char name[64];
    bool named = false;
    if (strncmp(list, "unknown", 7) == 0) return true;
    for (list += except; conf_next_word(&list, name, sizeof name);)
        named = named || strcmp(name, component) == 0;
    return named != except;
}

/* Open MPI has a variable io_NAME_priority for each component that it has loaded. */
static void take_component(const char *name, void *names)
{
    char component[64];
    int end_at = 0;
    if (sscanf(name, "io_%63[a-z0-9]_priority%n", component, &end_at) == 1 && end_at > 0 &&
        name[end_at] == '\0' && strcmp(component, "base") != 0 && component_enabled(component))
        json_array_append_new(names, json_string(component));
}

json_t *mpilib_components(void)
{
    json_t *names = json_array();
    if (mpilib()->kind == MPILIB_OPEN_MPI)
        mpilib_each_variable(take_component, names);
    else
        json_array_append_new(names,
                              json_string(mpilib()->kind == MPILIB_MPICH ? "ROMIO" : "its own"));
    return names;
}
