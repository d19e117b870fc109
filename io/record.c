/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a result says about the file: where it lies, how it was made, what the library reports.
 *
 *   "writer", the same as "driver", "layout", "path", "dump_bytes", "dumps", "bytes", "group",
 *   "sync"
 *   "run_id"           that of the manifest, null without a file
 *   "file_system"      type, "unknown" when it cannot be found out
 *   "mount"            where it is mounted, "mount_options" how; null when unknown
 *   "server"           what a network file system is mounted from; null for others
 *   "preallocation"    "fallocate", "sparse" (the file system cannot) or "none" (no file)
 *   "locked"           whether other runs are kept out
 *   "hints_asked"      object, as given
 *   "hints_reported"   object, from the library; MPI-IO writers only
 *   "mpiio_component"  text; MPI-IO writers only
 *   "striping"         "count", "unit_bytes", "pool" on Lustre, BeeGFS, GPFS; null elsewhere
 *   "notices"          array of sentences that a reader of the result should know */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/mpilib.h"
#include "base/par.h"
#include "base/sys.h"
#include "io/file_state.h"
#include "io/writers/hint.h"
#include "io/target/striping.h"

static const char *allocated(const struct io_file *f)
{
    return f->has_parts ? f->part.allocated : f->place.allocated;
}

static void notice(json_t *notices, bool applies, const char *text)
{
    if (applies) json_array_append_new(notices, json_string(text));
}

/* Hints that nobody in force reads: libraries pass over them without a word. Those of striping are
 * for the making of the file, which no library sees. */
static void notice_hints(const struct io_file *f, const struct sys_fs *fs, bool library,
                         json_t *notices)
{
    const unsigned component = library ? mpilib_io(fs->type) : 0;
    const unsigned readers = component | (f->format == IO_NETCDF ? IO_HINT_PNETCDF : 0);
    for (int h = 0; h < f->spec.hints_n; h++) {
        const char *hint = f->spec.hints[h];
        const unsigned known = io_hint_readers(hint);
        const bool of_file = (known & IO_HINT_FILE) != 0;
        char text[512];
        if (of_file ? strcmp(fs->type, "lustre") == 0 : (known & readers) != 0) continue;
        if (of_file)
            snprintf(text, sizeof text, "Hint %.200s: no striping can be set on %.40s.", hint,
                     fs->type);
        else if (!library)
            snprintf(text, sizeof text, "Hint %.200s: this writer takes no hints.", hint);
        else
            snprintf(text, sizeof text,
                     "Hint %.200s is unknown to %sthe MPI-IO component in force, %s.", hint,
                     f->format == IO_NETCDF ? "PnetCDF and " : "",
                     component & IO_HINT_OMPIO ? "ompio" : "romio");
        notice(notices, true, text);
    }
}

static json_t *make_notices(const struct io_file *f, const struct sys_fs *fs)
{
    const unsigned caps = f->writer->caps | (f->ctx.inner ? f->ctx.inner->caps : 0);
    const bool library = (caps & IO_CAP_HINTS) != 0;
    json_t *all = json_array();
    notice(all, strcmp(allocated(f), "sparse") == 0,
           "The file system cannot preallocate: lack of space may show only while writing.");
    notice(all, fs->in_memory,
           "The file lies in memory: preallocation takes memory, and nothing reaches a "
           "device.");
    notice(
        all, fs->hides && !fs->in_memory,
        "Memory may hold data of the file where that is not seen: below FUSE, below a loop device "
        "without direct I/O (losetup --direct-io=on), or in a cache of the file system's own "
        "(ZFS, GPFS). Nothing shows that they were read from a device.");
    notice(all, strncmp(fs->type, "nfs", 3) == 0 && library,
           "MPI-IO on NFS: some libraries lock each access, others risk wrong data without locks.");
    notice(all, !f->target.locked && f->has_file,
           "The file system has no locks: another run could write to the same file.");
    notice(all, f->mended,
           "The structure of the file did not lead to its dumps, being damaged or because a read "
           "failed; it was made again from the manifest.");
    if (f->spec.hints_n > 0) notice_hints(f, fs, library, all);
    return all;
}

static json_t *describe_here(struct io_file *f)
{
    struct sys_fs fs = {.type = "none"};
    if (f->has_file && sys_path_fs(f->target.path, &fs) < 0) {
        err_clear();
        fs = (struct sys_fs){.type = "unknown"}; /* the mount table does not tell */
    }
    json_t *r = json_object(), *hints = json_object();
    for (int h = 0; h < f->spec.hints_n; h++) {
        const char *hint = f->spec.hints[h], *equals = strchr(hint, '=');
        json_object_setn_new(hints, hint, (size_t)(equals - hint), js_text(equals + 1));
    }
    const char *writer = f->spec.writer ? f->spec.writer : f->writer->name;
    json_object_set_new(r, "writer", js_text(writer));
    json_object_set_new(r, "driver", js_text(writer)); /* its name in earlier versions */
    json_object_set_new(r, "layout", json_string(io_layout_name(f->spec.layout)));
    json_object_set_new(r, "path", f->has_file ? js_text(f->target.path) : json_null());
    json_object_set_new(r, "run_id", js_text(f->manifest ? io_manifest_run_id(f->manifest) : NULL));
    json_object_set_new(r, "dump_bytes", json_integer(f->ctx.dump_bytes));
    json_object_set_new(r, "dumps", json_integer(f->ctx.dumps_n));
    json_object_set_new(r, "bytes", json_integer(f->ctx.dump_bytes * f->ctx.dumps_n));
    json_object_set_new(r, "group", json_integer(f->ctx.tuning.group));
    json_object_set_new(r, "sync", json_string(io_sync_name(f->spec.sync)));
    json_object_set_new(r, "file_system", js_text(fs.type));
    json_object_set_new(r, "mount", js_text(fs.mount[0] ? fs.mount : NULL));
    json_object_set_new(r, "mount_options", js_text(fs.options[0] ? fs.options : NULL));
    json_object_set_new(r, "server", js_text(fs.network && fs.source[0] ? fs.source : NULL));
    json_object_set_new(r, "preallocation", json_string(allocated(f)));
    json_object_set_new(r, "locked", json_boolean(f->target.locked));
    json_object_set_new(r, "hints_asked", hints);
    struct io_striping striping;
    const bool striped =
        f->ctx.rank == 0 && f->has_file && io_striping_ask(fs.type, f->target.path, &striping);
    json_object_set_new(r, "striping", striped ? io_striping_json(&striping) : json_null());
    json_object_set_new(r, "notices", make_notices(f, &fs));
    return r;
}

/* Rank 0's text becomes everybody's record. */
static int share(struct io_file *f, char **text)
{
    MPI_Comm comm = f->ctx.comm;
    int bytes = *text ? (int)strlen(*text) : 0;
    TRY_MPI(MPI_Bcast(&bytes, 1, MPI_INT, 0, comm));
    if (f->ctx.rank != 0) *text = mem_new(bytes + 1, 1, "the record of a file");
    TRY(par_agree_memory(comm, *text != NULL));
    TRY_MPI(MPI_Bcast(*text, bytes, MPI_CHAR, 0, comm));
    f->record = json_loads(*text, 0, NULL);
    return par_agree(comm, f->record ? 0 : mem_error("the record of a file"));
}

int io_record_make(struct io_file *f)
{
    int rc = 0;
    json_t *mine = describe_here(f);
    if (f->writer->describe) rc = f->writer->describe(f->state, &f->ctx, mine);
    rc = par_agree(f->ctx.comm, rc);
    char *text = f->ctx.rank == 0 && rc == 0 ? json_dumps(mine, JSON_COMPACT) : NULL;
    if (rc == 0) rc = share(f, &text);
    json_decref(mine);
    free(text);
    return rc;
}
