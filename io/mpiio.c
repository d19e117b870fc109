/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/par.h"
#include "io/fd.h"

/* Opening is collective, but libraries let it fail on one rank alone, and then closing hangs on the
 * others: so everybody tries to open the file without the library first. */
static int can_open(const struct io_context *ctx)
{
    int fd;
    int rc = io_fd_open(ctx, &fd);
    int close_rc = io_fd_close(ctx, &fd);
    return par_agree(ctx->comm, rc < 0 ? rc : close_rc);
}

int io_mpiio_open(const struct io_context *ctx, MPI_File *fh)
{
    *fh = MPI_FILE_NULL;
    TRY(can_open(ctx));
    int mpi_rc = MPI_File_open(ctx->comm, ctx->path, MPI_MODE_WRONLY, ctx->info, fh);
    int rc = io_mpiio_check(ctx, mpi_rc, "MPI_File_open", NULL, 0);
    rc = par_agree(ctx->comm, rc);
    /* A handle that only some ranks have cannot be closed; it is dropped. */
    if (rc < 0) *fh = MPI_FILE_NULL;
    return rc;
}

static int write_was_short(const struct io_context *ctx, const char *call, int64_t bytes,
                           int64_t done)
{
    int64_t room = io_free_bytes(ctx->path);
    const char *why = room >= 0 && room < bytes ? ": the file system is full" : "";
    return err_set(
        ERR_IO, "%s took %" PRId64 " of %" PRId64 " bytes of %s (%" PRId64 " bytes free there)%s",
        call, done, bytes, ctx->path, room, why);
}

int io_mpiio_check(const struct io_context *ctx, int mpi_rc, const char *call,
                   const MPI_Status *status, int64_t bytes)
{
    if (mpi_rc != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int len = 0;
        MPI_Error_string(mpi_rc, text, &len);
        return err_set(ERR_IO, "%s on %s: %s", call, ctx->path, text);
    }
    if (!status) return 0;
    MPI_Count done = 0;
    TRY_MPI(MPI_Get_elements_x(status, MPI_BYTE, &done));
    return done == bytes ? 0 : write_was_short(ctx, call, bytes, (int64_t)done);
}

int io_mpiio_set_view(const struct io_context *ctx, MPI_File fh)
{
    static char representation[] = "native";
    MPI_Datatype file_type = MPI_BYTE;
    int rc = io_view_bytes(ctx->view) > 0 ? io_mpiio_view_type(ctx->view, &file_type) : 0;
    TRY(par_agree(ctx->comm, rc));
    int mpi_rc = MPI_File_set_view(fh, 0, MPI_BYTE, file_type, representation, ctx->info);
    if (file_type != MPI_BYTE) MPI_Type_free(&file_type);
    return io_mpiio_check(ctx, mpi_rc, "MPI_File_set_view", NULL, 0);
}

int io_mpiio_sync(const struct io_context *ctx, MPI_File fh)
{
    if (fh == MPI_FILE_NULL) return 0;
    return io_mpiio_check(ctx, MPI_File_sync(fh), "MPI_File_sync", NULL, 0);
}

int io_mpiio_close(const struct io_context *ctx, MPI_File *fh)
{
    if (*fh == MPI_FILE_NULL) return 0;
    return io_mpiio_check(ctx, MPI_File_close(fh), "MPI_File_close", NULL, 0);
}

static int add_hint(MPI_Info info, int i, json_t *hints)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int there;
    TRY_MPI(MPI_Info_get_nthkey(info, i, key));
    TRY_MPI(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there));
    json_object_set_new(hints, key, json_string(value));
    return 0;
}

/* Some libraries echo keys that they do not know, others leave out what they obey. */
static int add_hints(MPI_File fh, json_t *into)
{
    MPI_Info info;
    int keys = 0, rc = 0;
    json_t *hints = json_object();
    json_object_set_new(into, "hints_reported", hints);
    TRY_MPI(MPI_File_get_info(fh, &info));
    if (info == MPI_INFO_NULL) return 0;
    TRY_MPI_TO(done, rc, MPI_Info_get_nkeys(info, &keys));
    for (int i = 0; i < keys; i++) {
        TRY_TO(done, rc, add_hint(info, i, hints));
    }
done:
    MPI_Info_free(&info);
    return rc;
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

/* Open MPI has several components. A user's choice is in the variable "io"; without one the library
 * decides by priority and file system, and does not say how. Asked once: Open MPI loads all its
 * components for each answer, which takes a third of a second. */
static const char *component(void)
{
    static char chosen[4096];
    static bool asked;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int len;
    MPI_Get_library_version(version, &len);
    if (strstr(version, "MPICH")) return "ROMIO";
    if (!strstr(version, "Open MPI")) return "unknown";
    if (!asked) library_setting("io", chosen, sizeof chosen);
    asked = true;
    return chosen[0] ? chosen : "unknown (Open MPI's default: ompio, on Lustre romio)";
}

bool io_mpiio_is_ompio(void)
{
    return strstr(component(), "ompio") != NULL;
}

int io_mpiio_describe(const struct io_context *ctx, MPI_File fh, json_t *into)
{
    (void)ctx;
    json_object_set_new(into, "mpiio_component", json_string(component()));
    return add_hints(fh, into);
}
