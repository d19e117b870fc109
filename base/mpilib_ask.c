/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the MPI library itself is asked for. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/mpilib.h"
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

/* Value of a text control variable of the library, "" when it has none of that name. */
static void library_setting(const char *name, char *value, int size)
{
    MPI_T_cvar_handle handle;
    int provided, index, count = 0;
    value[0] = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        if (count <= size) MPI_T_cvar_read(handle, value);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
}

/* A user's choice is in the variable "io"; without one Open MPI decides by priority and file system, and
 * does not say how. Asked once: it loads all its components for each answer. */
const char *mpilib_component(void)
{
    static char chosen[4096];
    static bool asked;
    if (mpilib()->kind == MPILIB_MPICH) return "ROMIO";
    if (mpilib()->kind != MPILIB_OPEN_MPI) return "unknown";
    if (!asked) library_setting("io", chosen, sizeof chosen);
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
static void ask_open_mpi(json_t *names)
{
    int provided, n = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        char name[256], component[64];
        int name_size = sizeof name, desc_size = 0, verbosity, bind, scope, end_at = 0;
        MPI_Datatype type;
        MPI_T_enum enumtype;
        if (MPI_T_cvar_get_info(i, name, &name_size, &verbosity, &type, &enumtype, NULL, &desc_size,
                                &bind, &scope) != MPI_SUCCESS)
            continue;
        if (sscanf(name, "io_%63[a-z0-9]_priority%n", component, &end_at) == 1 && end_at > 0 &&
            name[end_at] == '\0' && strcmp(component, "base") != 0 && component_enabled(component))
            json_array_append_new(names, json_string(component));
    }
    MPI_T_finalize();
}

json_t *mpilib_components(void)
{
    json_t *names = json_array();
    if (mpilib()->kind == MPILIB_OPEN_MPI)
        ask_open_mpi(names);
    else
        json_array_append_new(names,
                              json_string(mpilib()->kind == MPILIB_MPICH ? "ROMIO" : "its own"));
    return names;
}
