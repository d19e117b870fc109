/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/beside.h"
#include "base/mpilib.h"
#include "base/text.h"
#include "bt/machine.h"
#include "io/writers/writer.h"

/* Ranks that srun started by itself: as many as its step has tasks. Under mpirun a step has one task
 * per node, those of the launcher's own processes. */
static bool by_srun(int size)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    return size > 1 && tasks && strtol(tasks, NULL, 10) == size;
}

/* A process that was started without a launcher needs none here. */
static bool needs_no_launcher(int size)
{
    return size == 1 && !getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMI_SIZE") &&
           !getenv("SLURM_STEP_NUM_TASKS");
}

static void print_launcher(FILE *to, const struct bt_job *job)
{
    const struct bt_machine *m = &job->machine;
    if (getenv("OMP_NUM_THREADS")) fprintf(to, "OMP_NUM_THREADS=%d ", m->threads);
    if (needs_no_launcher(job->size)) return;
    if (by_srun(job->size)) {
        fprintf(to, "srun -n %d ", job->size);
        return;
    }
    fprintf(to, "%s -np %d ", beside_launcher(), job->size);
    if (mpilib()->kind != MPILIB_OPEN_MPI) return;
    if (m->width >= m->nodes.node_cores) fprintf(to, "--bind-to none ");
    if (job->size > m->nodes.cores) fprintf(to, "--oversubscribe ");
}

char *bt_command(const struct bt_job *job, const struct bt_options *options, const json_t *settings)
{
    char *line = NULL, *words = conf_line(&bt_program, options);
    struct text t;
    size_t i;
    const json_t *word;
    if (words && text_begin(&t) == 0) {
        print_launcher(t.to, job);
        conf_print_word(t.to, program_invocation_name);
        fprintf(t.to, "%s%s", words[0] ? " " : "", words);
        json_array_foreach(settings, i, word)
        {
            fputc(' ', t.to);
            conf_print_word(t.to, json_string_value(word));
        }
        (void)text_end(&t, &line);
    }
    free(words);
    return line;
}

char *bt_command_restart(const struct bt_job *job, const char *writer, const char *path)
{
    /* What is computed the same way, and what is done besides: neither is in the manifest, and
     * neither takes the place of a result. */
    static const char *const stays[] = {
        "decomp",           "isa",    "read",     "read-cache", "read-decomp", "read-ranks",
        "read-drop-system", "verify", "progress", "profile",    "quiet"};
    struct bt_options o = job->setup->opt;
    const unsigned caps = io_writer_caps(writer);
    if (job->setup->search || !(caps & IO_CAPS_DATA)) return NULL;
    for (const struct conf_option *of = bt_program.options; of->name; of++) {
        bool keep = false;
        for (size_t i = 0; i < sizeof stays / sizeof stays[0]; i++)
            keep = keep || strcmp(of->name, stays[i]) == 0;
        if (!keep) (void)conf_set_default(of, &o);
    }
    o.restart = true;
    o.out = path;
    if (caps & IO_CAP_PARTS) o.io = io_writer_plain()->name;
    char *line = bt_command(job, &o, NULL), *both = NULL;
    struct text t;
    if (!(caps & IO_CAP_PARTS) || !line) return line;
    if (text_begin(&t) == 0) {
        const char *slash = strrchr(program_invocation_name, '/');
        char verify[PATH_MAX];
        snprintf(verify, sizeof verify, "%.*snht1-verify",
                 slash ? (int)(slash + 1 - program_invocation_name) : 0, program_invocation_name);
        conf_print_word(t.to, verify);
        fprintf(t.to, " --merge ");
        conf_print_word(t.to, path);
        fprintf(t.to, " && %s", line);
        (void)text_end(&t, &both);
    }
    free(line);
    return both;
}
