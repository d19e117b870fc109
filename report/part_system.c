/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the results were measured on, and how to measure them again. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "report/report.h"

enum { COMMANDS_MAX = 60 };

static void fact(struct table *t, const char *what, const char *value)
{
    if (!value[0]) return;
    table_cell(t, "%s", what);
    table_cell(t, "%s", value);
}

static void fact_int(struct table *t, const char *what, const json_t *root, const char *at)
{
    const int64_t x = doc_int(root, at, -1);
    char buf[NUM_TEXT_MAX];
    if (x < 0) return;
    num_print(buf, sizeof buf, "%" PRId64, x);
    fact(t, what, buf);
}

/* The first run that wrote, which knows the file system. */
static const json_t *writing_run(const json_t *root)
{
    size_t i;
    const json_t *run;
    json_array_foreach(json_object_get(root, "runs"), i, run)
    {
        if (doc_text(run, "file.file_system")[0]) return run;
    }
    return NULL;
}

/* The options that MPI-IO said it obeyed, and what was asked for. */
static void hints(struct table *t, const json_t *run, const char *what, const char *at)
{
    const json_t *h = doc_at(run, at);
    char *text = json_object_size(h) > 0 ? json_dumps(h, JSON_COMPACT) : NULL;
    if (text) fact(t, what, text);
    free(text);
}

static void storage(struct table *t, const json_t *root)
{
    const json_t *run = writing_run(root);
    const char *type = doc_text(root, "system.file_system.type");
    fact(t, "file system", run ? doc_text(run, "file.file_system") : type);
    fact(t, "mounted at", doc_text(run, "file.mount"));
    fact(t, "mount options", doc_text(run, "file.mount_options"));
    fact(t, "preallocation", doc_text(run, "file.preallocation"));
    hints(t, run, "hints asked for", "file.hints_asked");
}

static void memory(struct table *t, const json_t *root)
{
    char buf[UNITS_TEXT_MAX];
    const double bytes = doc_real(root, "system.memory.total_bytes");
    if (isfinite(bytes)) fact(t, "memory of a node", units_bytes_iec(bytes, buf));
}

static struct table *record(const json_t *root, const char *name)
{
    struct table *t = table_new(name, "System record of the first result");
    table_column(t, "");
    table_column(t, "");
    fact(t, "host", doc_text(root, "system.host"));
    fact(t, "processor", doc_text(root, "system.cpu.model"));
    fact_int(t, "cores of the host", root, "system.cpu.cores_n");
    fact_int(t, "logical processors", root, "system.cpu.cpus_n");
    fact_int(t, "nodes", root, "system.nodes");
    fact_int(t, "cores of the nodes", root, "system.cores_of_nodes");
    memory(t, root);
    fact(t, "kernel", doc_text(root, "system.kernel"));
    storage(t, root);
    fact(t, "MPI", doc_text(root, "system.mpi.library"));
    fact(t, "compiler", doc_text(root, "system.compiler"));
    fact(t, "flags", doc_text(root, "system.flags"));
    fact(t, "solver kernel", doc_text(root, "system.solver_kernel"));
    fact(t, "version", doc_text(root, "version"));
    return t;
}

/* Settings of OpenMP that stood in the environment. */
static void environment(FILE *to, const json_t *root)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)doc_at(root, "system.openmp"), key, value)
    {
        if (json_is_string(value)) fprintf(to, "%s=%s ", key, json_string_value(value));
    }
}

/* One line per different command. */
static char *command_of(const struct doc *doc)
{
    struct text t;
    char *out = NULL;
    if (text_begin(&t) < 0) return NULL;
    environment(t.to, doc->root);
    fprintf(t.to, "mpirun -np %" PRId64 " --bind-to none %s %s",
            doc_int(doc->root, "system.ranks", 1), doc->kind, doc_text(doc->root, "command_line"));
    return text_end(&t, &out) < 0 ? NULL : out;
}

/* The command without the name of its result file, which differs from run to run. */
static void drop_json(char *command)
{
    char *at = strstr(command, " --json ");
    if (!at) return;
    char *end = strchr(at + strlen(" --json "), ' ');
    if (end)
        memmove(at, end, strlen(end) + 1);
    else
        *at = '\0';
}

static void commands(struct report *r)
{
    char *line[COMMANDS_MAX];
    int n = 0, more = 0;
    struct text t;
    char *all = NULL;
    if (text_begin(&t) < 0) return;
    for (int i = 0; i < r->docs->n; i++) {
        char *command = command_of(&r->docs->doc[i]);
        bool known = !command;
        if (command) drop_json(command);
        for (int k = 0; k < n && !known; k++)
            known = strcmp(line[k], command) == 0;
        if (known || n == COMMANDS_MAX) {
            more += !known;
            free(command);
            continue;
        }
        line[n++] = command;
        fprintf(t.to, "%s%s", n > 1 ? "\n" : "", command);
    }
    if (more > 0) fprintf(t.to, "\n(and %d more)", more);
    if (text_end(&t, &all) == 0) page_code(r->page, all);
    free(all);
    for (int i = 0; i < n; i++)
        free(line[i]);
}

/* What the programs noted, each once. */
static void notices(struct report *r)
{
    const json_t *seen[COMMANDS_MAX];
    int n = 0;
    for (int i = 0; i < r->docs->n; i++) {
        size_t k;
        const json_t *v;
        json_array_foreach(json_object_get(r->docs->doc[i].root, "notices"), k, v)
        {
            bool known = !json_is_string(v) || n == COMMANDS_MAX;
            for (int s = 0; s < n && !known; s++)
                known = json_equal(seen[s], v);
            if (known) continue;
            seen[n++] = v;
            page_text(r->page, PAGE_CARE, "%s", json_string_value(v));
        }
    }
}

static void sources(struct report *r)
{
    struct table *t = table_new("results", "Results in this report");
    table_column(t, "file");
    table_column(t, "schema");
    table_column(t, "seed");
    for (int i = 0; i < r->docs->n; i++) {
        const struct doc *d = &r->docs->doc[i];
        table_cell(t, "%s", d->path);
        table_cell(t, "%s/%" PRId64, d->kind, d->version);
        table_cell(t, "%" PRId64, doc_int(d->root, "seed", 0));
    }
    page_table(r->page, t);
}

int part_system(struct report *r)
{
    page_section(r->page, 2, "system", "System");
    page_table(r->page, record(r->docs->doc[0].root, "system"));
    notices(r);
    page_section(r->page, 2, "again", "How to measure this again");
    page_text(r->page, PAGE_PLAIN,
              "The commands as they were started. Folders of files that are written have to exist; "
              "runs/study, which started those below runs/out, makes and empties them.");
    commands(r);
    sources(r);
    return 0;
}
