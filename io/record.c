/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a result says about the file: where it lies, how it was made, what the library reports.
 *
 *   "driver", "layout", "path", "dump_bytes", "dumps", "bytes", "group", "sync"
 *   "file_system"      type, "unknown" when the magic number is not in the table
 *   "preallocation"    "fallocate", "sparse" (the file system cannot) or "none" (no file)
 *   "locked"           whether other runs are kept out
 *   "hints_asked"      object, as given
 *   "hints_reported"   object, from the library; MPI-IO drivers only
 *   "mpiio_component"  text; MPI-IO drivers only
 *   "notices"          array of sentences that a reader of the result should know */
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/err.h"
#include "base/json.h"
#include "base/par.h"
#include "io/file_state.h"

struct magic {
    uint32_t number;
    const char *name;
};

/* statfs(2) */
static const struct magic magics[] = {
    {0xef53, "ext4"},      {0x58465342, "xfs"},      {0x9123683e, "btrfs"},
    {0x01021994, "tmpfs"}, {0x6969, "nfs"},          {0x0bd00bd0, "lustre"},
    {0x47504653, "gpfs"},  {0x794c7630, "overlay"},  {0x65735546, "fuse"},
    {0x2fc12fc1, "zfs"},   {0xff534d42, "cifs"},     {0xfe534d42, "smb2"},
    {0x00c36400, "ceph"},  {0x20030528, "orangefs"}, {0x19830326, "beegfs"},
    {0x01161970, "gfs2"},  {0x7461636f, "ocfs2"},    {0xf2f52010, "f2fs"},
    {0x858458f6, "ramfs"},
};

static const char *file_system(const char *path)
{
    struct statfs fs;
    if (statfs(path, &fs) != 0) return "unknown";
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        if (magics[i].number == (uint32_t)fs.f_type) return magics[i].name;
    }
    return "unknown";
}

static json_t *hints_asked(const struct io_spec *spec)
{
    json_t *hints = json_object();
    for (int h = 0; h < spec->hints_n; h++) {
        const char *hint = spec->hints[h], *equals = strchr(hint, '=');
        json_object_setn_new(hints, hint, (size_t)(equals - hint), js_text(equals + 1));
    }
    return hints;
}

static void notice(json_t *notices, bool applies, const char *text)
{
    if (applies) json_array_append_new(notices, json_string(text));
}

static json_t *make_notices(const struct io_file *f, const char *fs)
{
    const unsigned caps = f->driver->caps | (f->ctx.inner ? f->ctx.inner->caps : 0);
    const bool library = (caps & IO_CAP_HINTS) != 0;
    json_t *all = json_array();
    notice(all, strcmp(f->target.allocated, "sparse") == 0,
           "The file system cannot preallocate: lack of space may show only while writing.");
    notice(all, strcmp(fs, "tmpfs") == 0,
           "The file lies in memory (tmpfs): preallocation takes memory, and nothing reaches a "
           "device.");
    notice(all, strcmp(fs, "nfs") == 0 && library,
           "MPI-IO on NFS: some libraries lock each access, others risk wrong data without locks.");
    notice(all, !f->target.locked && f->has_file,
           "The file system has no locks: another run could write to the same file.");
    notice(all, f->spec.hints_n > 0 && !library, "This driver takes no hints.");
    return all;
}

static json_t *describe_here(struct io_file *f)
{
    static const char *const sync_name[] = {
        [IO_SYNC_NONE] = "none", [IO_SYNC_DUMP] = "dump", [IO_SYNC_END] = "end"};
    const char *fs = f->has_file ? file_system(f->target.path) : "none";
    json_t *r = json_object();
    json_object_set_new(r, "driver", js_text(f->spec.driver ? f->spec.driver : f->driver->name));
    json_object_set_new(r, "layout", json_string(io_layout_name(f->spec.layout)));
    json_object_set_new(r, "path", f->has_file ? js_text(f->target.path) : json_null());
    json_object_set_new(r, "dump_bytes", json_integer(f->ctx.dump_bytes));
    json_object_set_new(r, "dumps", json_integer(f->ctx.dumps_n));
    json_object_set_new(r, "bytes", json_integer(f->ctx.dump_bytes * f->ctx.dumps_n));
    json_object_set_new(r, "group", json_integer(f->ctx.group));
    json_object_set_new(r, "sync", json_string(sync_name[f->spec.sync]));
    json_object_set_new(r, "file_system", json_string(fs));
    json_object_set_new(r, "preallocation", json_string(f->target.allocated));
    json_object_set_new(r, "locked", json_boolean(f->target.locked));
    json_object_set_new(r, "hints_asked", hints_asked(&f->spec));
    json_object_set_new(r, "notices", make_notices(f, fs));
    return r;
}

/* Rank 0's text becomes everybody's record. */
static int share(struct io_file *f, char **text)
{
    MPI_Comm comm = f->ctx.comm;
    int bytes = *text ? (int)strlen(*text) : 0;
    TRY_MPI(MPI_Bcast(&bytes, 1, MPI_INT, 0, comm));
    if (f->ctx.rank != 0) *text = calloc((size_t)bytes + 1, 1);
    TRY(par_agree(comm, *text ? 0 : err_set(ERR_NOMEM, "no memory for the record of a file")));
    TRY_MPI(MPI_Bcast(*text, bytes, MPI_CHAR, 0, comm));
    f->record = json_loads(*text, 0, NULL);
    return par_agree(comm,
                     f->record ? 0 : err_set(ERR_NOMEM, "no memory for the record of a file"));
}

int io_record_make(struct io_file *f)
{
    int rc = 0;
    json_t *mine = describe_here(f);
    if (f->driver->describe) rc = f->driver->describe(f->state, &f->ctx, mine);
    rc = par_agree(f->ctx.comm, rc);
    char *text = f->ctx.rank == 0 && rc == 0 ? json_dumps(mine, JSON_COMPACT) : NULL;
    if (rc == 0) rc = share(f, &text);
    json_decref(mine);
    free(text);
    return rc;
}
