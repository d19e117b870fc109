/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/cache.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/json.h"
#include "base/par.h"
#include "base/resident.h"
#include "base/sys.h"
#include "base/units.h"

/* What one node or rank adds, as numbers that can be summed; the last counts those that cannot tell. */
enum { FILE_BYTES, CACHED, DIRTY, MEMORY, IN_MEMORY, NEVER_FLUSHED, NO_DIRTY, NO_ANSWER, SUMS };

static void ask_here(const char *path, int64_t sum[SUMS], struct cache *c)
{
    struct resident r;
    struct sys_memory memory;
    const int rc = resident_ask(path, &r);
    sum[IN_MEMORY] = r.in_memory;
    sum[NEVER_FLUSHED] = r.never_flushed;
    if (rc < 0) {
        err_clear();
        sum[NO_ANSWER] = 1;
        return;
    }
    sys_memory(&memory);
    sum[FILE_BYTES] = r.file_bytes;
    snprintf(c->how, sizeof c->how, "%s", r.how);
    sum[CACHED] = r.cached_bytes;
    sum[DIRTY] = r.dirty_bytes > 0 ? r.dirty_bytes : 0;
    sum[NO_DIRTY] = r.dirty_bytes < 0;
    sum[MEMORY] = memory.total_bytes;
}

bool cache_stamp(const struct cache *c)
{
    const bool flushed = c->flushed && !c->never_flushed;
    if (c->in_memory) return true;
    if (!c->known) return !flushed;
    /* What is dirty behind a flush was not flushed, whoever said so. */
    const int64_t behind = c->dirty_bytes >= 0 ? c->dirty_bytes : flushed ? 0 : c->cached_bytes;
    return (double)behind > CACHE_SHARE * (double)c->file_bytes;
}

const char *cache_why(const struct cache *c)
{
    if (c->in_memory) return "the file system is in memory";
    if (c->flushed)
        return "data were flushed and had not reached the device: flushing does nothing here, as "
               "under eatmydata or on an overlay mounted volatile";
    return c->known ? "data had not reached the device, and nothing waited for it: --sync end does"
                    : "the system does not tell what has reached the device, and nothing waited "
                      "for it: --sync end does";
}

int cache_ask(const struct nodes *n, const char *path, bool own, bool flushed, struct cache *c)
{
    int64_t mine[SUMS] = {0}, all[SUMS];
    *c = (struct cache){.flushed = flushed};
    if (n->node_rank == 0 || own) ask_here(path, mine, c);
    if (n->node_rank > 0) mine[MEMORY] = 0; /* is the node's */
    if (n->rank > 0 && !own) mine[FILE_BYTES] = 0;
    TRY_MPI(MPI_Allreduce(mine, all, SUMS, MPI_INT64_T, MPI_SUM, n->comm));
    c->file_bytes = all[FILE_BYTES];
    TRY_MPI(MPI_Bcast(c->how, sizeof c->how, MPI_CHAR, 0, n->comm));
    c->known = all[NO_ANSWER] == 0;
    c->cached_bytes = num_min(all[CACHED], c->file_bytes);
    c->dirty_bytes = all[NO_DIRTY] > 0 ? -1 : num_min(all[DIRTY], c->file_bytes);
    c->memory_bytes = all[MEMORY];
    c->in_memory = all[IN_MEMORY] > 0;
    c->never_flushed = all[NEVER_FLUSHED] > 0;
    c->page_cache = cache_stamp(c);
    return 0;
}

static double times_memory(const struct cache *c)
{
    return c->memory_bytes > 0 ? (double)c->file_bytes / (double)c->memory_bytes : 0;
}

void cache_words(const struct cache *c, char *out, size_t size)
{
    char file[UNITS_TEXT_MAX], dirty[UNITS_TEXT_MAX + 64] = "", bytes[UNITS_TEXT_MAX];
    if (!c->known) {
        snprintf(out, size, "The system cannot say how much of the file is in memory.");
        return;
    }
    if (c->dirty_bytes >= 0)
        snprintf(dirty, sizeof dirty, ", %s of it not yet on the device",
                 units_bytes((double)c->dirty_bytes, bytes));
    snprintf(
        out, size,
        "When the clock stopped, %.0f %% of the file's %s was in memory%s. The file is %.2g times "
        "the memory; only from %d times on does reading it back certainly come from the device.",
        c->file_bytes > 0 ? 100 * (double)c->cached_bytes / (double)c->file_bytes : 0.0,
        units_bytes((double)c->file_bytes, file), dirty, times_memory(c), RESIDENT_RULE);
}

json_t *cache_json(const struct cache *c)
{
    if (!c->known) return json_null();
    return json_pack("{sI sI so sI so si sb sb sb sb ss}", "file_bytes", (json_int_t)c->file_bytes,
                     "cached_bytes", (json_int_t)c->cached_bytes, "dirty_bytes",
                     c->dirty_bytes >= 0 ? json_integer(c->dirty_bytes) : json_null(),
                     "memory_bytes", (json_int_t)c->memory_bytes, "file_to_memory",
                     js_real(times_memory(c)), "rule", RESIDENT_RULE, "beyond_memory",
                     (int)(times_memory(c) >= RESIDENT_RULE), "in_memory_file_system",
                     (int)c->in_memory, "flushed", (int)c->flushed, "page_cache",
                     (int)c->page_cache, "how", c->how);
}
