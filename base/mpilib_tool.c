/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mpilib_tool.h"

#include <mpi.h>
#include <stddef.h>

void mpilib_variable(const char *name, char *value, int size)
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

void mpilib_each_variable(void (*take)(const char *name, void *arg), void *arg)
{
    int provided, n = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        char name[256];
        int name_size = sizeof name, desc_size = 0, verbosity, bind, scope;
        MPI_Datatype type;
        MPI_T_enum enumtype;
        if (MPI_T_cvar_get_info(i, name, &name_size, &verbosity, &type, &enumtype, NULL, &desc_size,
                                &bind, &scope) == MPI_SUCCESS)
            take(name, arg);
    }
    MPI_T_finalize();
}
