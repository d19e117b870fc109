/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/par.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/stat.h"
#include "base/sys.h"
#include "base/text.h"

int(par_check)(int mpi_rc, const char *call)
{
    if (mpi_rc == MPI_SUCCESS) return 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;
    if (MPI_Error_string(mpi_rc, text, &len) != MPI_SUCCESS) {
        snprintf(text, sizeof text, "MPI error %d", mpi_rc);
    }
    text_cut_words(text, "");
    return err_set(ERR_MPI, "%s: %s", call, text);
}

int par_info_add(MPI_Info *info, const char *key, const char *value)
{
    char name[MPI_MAX_INFO_KEY + 1];
    const size_t length = value ? strlen(key) : strcspn(key, "=");
    if (length >= sizeof name || (!value && !key[length]))
        return err_set(ERR_USAGE, "hint %.300s: not KEY=VALUE, or the key is too long for MPI",
                       key);
    snprintf(name, sizeof name, "%.*s", (int)length, key);
    if (*info == MPI_INFO_NULL) TRY_MPI(MPI_Info_create(info));
    TRY_MPI(MPI_Info_set(*info, name, value ? value : key + length + 1));
    return 0;
}

const char *par_file_name(const char *path, char longer[4])
{
    if (strlen(path) != 1) return path;
    snprintf(longer, 4, "./%c", path[0]);
    return longer;
}

int par_file_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *fh)
{
    char longer[4];
    return MPI_File_open(comm, par_file_name(path, longer), mode, info, fh);
}

/* What the lowest failing rank tells the others. */
struct verdict {
    int rc;
    char text[ERR_MESSAGE_MAX];
};

int(par_agree_memory)(MPI_Comm comm, bool has)
{
    return (par_agree)(comm, has ? 0 : ERR_NOMEM);
}

int(par_agree)(MPI_Comm comm, int rc)
{
    int rank, size, lowest, len;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Comm_size(comm, &size));
    int mine = rc < 0 ? rank : size;
    TRY_MPI(MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm));
    if (lowest == size) return 0;
    struct verdict v = {.rc = rc};
    if (rank == lowest) {
        char host[MPI_MAX_PROCESSOR_NAME] = "?";
        TRY_MPI(MPI_Get_processor_name(host, &len));
        const char *text = err_message()[0] ? err_message() : err_text(rc);
        if (rc == ERR_USAGE || err_is_shared())
            snprintf(v.text, sizeof v.text, "%s", text);
        else
            snprintf(v.text, sizeof v.text, "rank %d on %.64s: %.900s", rank, host, text);
    }
    TRY_MPI(MPI_Bcast(&v, (int)sizeof v, MPI_BYTE, lowest, comm));
    err_share(v.text);
    return v.rc;
}

int par_in_turn(MPI_Comm comm, int (*act)(void *arg), void *arg)
{
    int rank, size, failed = 0, rc = 0;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Comm_size(comm, &size));
    if (rank > 0) TRY_MPI(MPI_Recv(&failed, 1, MPI_INT, rank - 1, 0, comm, MPI_STATUS_IGNORE));
    if (!failed) rc = act(arg);
    failed |= rc < 0;
    if (rank + 1 < size) {
        const int sent = par_check(MPI_Send(&failed, 1, MPI_INT, rank + 1, 0, comm), "MPI_Send");
        if (rc == 0) rc = sent;
    }
    return rc;
}

static int read_file(const char *path, int64_t most_bytes, char **text, int64_t *bytes)
{
    char chunk[65536];
    struct text all;
    struct stat st;
    FILE *from = text_open(path);
    if (!from) return err_set_errno(ERR_USAGE, errno, "%s", path);
    int rc = text_begin(&all), errnum = 0;
    if (rc == 0) {
        for (size_t n; *bytes <= most_bytes && (n = fread(chunk, 1, sizeof chunk, from)) > 0;
             *bytes += (int64_t)n)
            fwrite(chunk, 1, n, all.to);
        errnum = ferror(from) ? errno : 0;
        rc = text_end(&all, text);
    }
    if (rc == 0 && errnum) rc = err_set_errno(ERR_USAGE, errnum, "%s", path);
    if (rc == 0 && *bytes == 0 && fstat(fileno(from), &st) == 0 && S_ISFIFO(st.st_mode))
        rc = err_set(ERR_USAGE, "%s: no process writes to this pipe: start its writer first", path);
    fclose(from);
    if (rc == 0 && *bytes > most_bytes)
        rc = err_set(ERR_USAGE, "%s: more than %lld bytes", path, (long long)most_bytes);
    return rc;
}

int par_read_file(MPI_Comm comm, const char *path, int64_t most_bytes, char **text, int64_t *bytes)
{
    int rank;
    *text = NULL;
    *bytes = 0;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY(par_agree(comm, rank == 0 ? read_file(path, most_bytes, text, bytes) : 0));
    TRY_MPI(MPI_Bcast(bytes, 1, MPI_INT64_T, 0, comm));
    if (rank > 0) *text = mem_new(*bytes + 1, 1, "%s", path);
    TRY(par_agree_memory(comm, *text != NULL));
    (*text)[*bytes] = '\0';
    return par_check(MPI_Bcast(*text, (int)*bytes, MPI_BYTE, 0, comm), "MPI_Bcast");
}

/* Memory that every rank has or none goes on without. Collective. */
static int agreed_alloc(MPI_Comm comm, size_t bytes, void **out)
{
    *out = bytes ? malloc(bytes) : NULL;
    int rc = 0;
    if (bytes && !*out) rc = mem_error("%zu bytes", bytes);
    rc = par_agree(comm, rc);
    if (rc < 0) {
        free(*out);
        *out = NULL;
    }
    return rc;
}

int par_spread(MPI_Comm comm, double value, struct par_spread *out)
{
    int size, rc;
    void *block;
    TRY_MPI(MPI_Comm_size(comm, &size));
    TRY(agreed_alloc(comm, (size_t)size * sizeof(double), &block));
    double *all = block, sum = 0;
    TRY_MPI_TO(done, rc, MPI_Allgather(&value, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, comm));
    out->max_rank = 0;
    for (int r = 0; r < size; r++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): size > 0, so there is memory */
        if (all[r] > all[out->max_rank]) out->max_rank = r;
        sum += all[r];
    }
    out->mean = sum / size;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as above */
    out->max = all[out->max_rank];
    gsl_sort(all, 1, (size_t)size);
    out->min = all[0];
    out->median = stat_sorted_median(all, size);
done:
    free(block);
    return rc;
}

int par_slowest(MPI_Comm comm, const double *took_s, int64_t n, double *sum_s)
{
    enum { MOST = 512 };
    double slowest_s[MOST];
    *sum_s = 0;
    for (int64_t from = 0; from < n; from += MOST) {
        const int m = (int)(n - from < MOST ? n - from : MOST);
        TRY_MPI(MPI_Allreduce(took_s + from, slowest_s, m, MPI_DOUBLE, MPI_MAX, comm));
        for (int i = 0; i < m; i++)
            *sum_s += slowest_s[i];
    }
    return 0;
}

/* One block on the root: size pointers, then size names of fixed width. */
int par_hosts(MPI_Comm comm, int root, char ***hosts)
{
    enum { WIDTH = MPI_MAX_PROCESSOR_NAME };
    char mine[WIDTH] = "";
    int rank, size, len, rc;
    void *block;
    *hosts = NULL;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Comm_size(comm, &size));
    TRY_MPI(MPI_Get_processor_name(mine, &len));
    size_t bytes = rank == root ? (size_t)size * (sizeof(char *) + WIDTH) : 0;
    TRY(agreed_alloc(comm, bytes, &block));
    char **name = block;
    char *text = rank == root ? (char *)(name + size) : NULL;
    TRY_MPI_TO(fail, rc, MPI_Gather(mine, WIDTH, MPI_CHAR, text, WIDTH, MPI_CHAR, root, comm));
    for (int r = 0; rank == root && r < size; r++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the root has asked for memory */
        name[r] = text + (size_t)r * WIDTH;
    }
    *hosts = name;
    return 0;
fail:
    free(block);
    return rc;
}

static const char *thread_level(int level)
{
    static const struct {
        int level;
        const char *name;
    } table[] = {
        {MPI_THREAD_SINGLE, "single"},
        {MPI_THREAD_FUNNELED, "funneled"},
        {MPI_THREAD_SERIALIZED, "serialized"},
        {MPI_THREAD_MULTIPLE, "multiple"},
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        if (table[t].level == level) return table[t].name;
    }
    return "unknown";
}

/* The hosts with their numbers of ranks. Host names are few even when ranks are many, and equal
 * ones stand together as a rule: the last entry is tried first. */
static json_t *hosts_json(char *const *hosts, int size)
{
    json_t *list = json_array();
    for (int r = 0; r < size; r++) {
        json_t *entry = NULL;
        for (size_t h = json_array_size(list); h-- > 0 && !entry;) {
            json_t *known = json_array_get(list, h);
            /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): par_hosts sets all of them */
            if (strcmp(json_string_value(json_object_get(known, "name")), hosts[r]) == 0)
                entry = known;
        }
        if (!entry) {
            /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): as above */
            entry = json_pack("{s:s, s:i}", "name", hosts[r], "ranks_n", 0);
            json_array_append_new(list, entry);
        }
        json_t *n = json_object_get(entry, "ranks_n");
        json_integer_set(n, json_integer_value(n) + 1);
    }
    return list;
}

static int own_json(char *const *hosts, int size, json_t **out)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", standard[32];
    int len, version, subversion, level;
    TRY_MPI(MPI_Get_library_version(library, &len));
    TRY_MPI(MPI_Get_version(&version, &subversion));
    TRY_MPI(MPI_Query_thread(&level));
    text_cut_words(library, "\n");
    snprintf(standard, sizeof standard, "%d.%d", version, subversion);
    json_t *list = hosts_json(hosts, size);
    *out = json_pack("{s:s, s:s, s:s, s:i, s:i, s:o}", "library", library, "standard", standard,
                     "thread_level", thread_level(level), "ranks_n", size, "nodes_n",
                     (int)json_array_size(list), "hosts", list);
    return *out ? 0 : mem_error("the record of MPI");
}

/* Processors that a rank may run on count 0 where the system does not say. */
int par_json(MPI_Comm comm, json_t **out)
{
    int size;
    char **hosts;
    struct par_spread width;
    *out = NULL;
    TRY_MPI(MPI_Comm_size(comm, &size));
    TRY(par_spread(comm, sys_cpus_allowed(NULL), &width));
    TRY(par_hosts(comm, 0, &hosts));
    int rc = par_agree(comm, hosts ? own_json(hosts, size, out) : 0);
    free(hosts);
    if (*out) {
        json_object_set_new(*out, "affinity_cpus_min_n", json_integer((json_int_t)width.min));
        json_object_set_new(*out, "affinity_cpus_max_n", json_integer((json_int_t)width.max));
    }
    return rc;
}
