/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/restart.h"

#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/par.h"
#include "io/target/manifest.h"
#include "io/writers/writer.h"

int bt_restart_adopt(MPI_Comm comm, struct bt_setup *s)
{
    struct bt_problem *p = &s->problem;
    struct io_past past;
    if (!s->opt.restart) return 0;
    TRY(io_past_read(comm, s->opt.out, &past));
    if (!s->given_io) {
        if (!io_writer_find(past.writer))
            return err_set(ERR_USAGE,
                           "%s was begun by a writer '%s' that is not here: name one with --io",
                           s->opt.out, past.writer);
        char word[CONF_WORD_MAX];
        if (io_writer_caps(past.writer) & IO_CAP_PARTS)
            return err_set(ERR_USAGE,
                           "%s was begun by %s, which leaves a file for each rank and cannot go "
                           "on: make one file of them with nht1-verify --merge %s, then name "
                           "another writer, such as --restart --io posix",
                           s->opt.out, past.writer, conf_file_word(s->opt.out, word));
        TRY(par_agree(comm, bt_setup_take(s, past.writer, &past.tuning, past.hints_n, past.hints)));
    }
    if (!s->given_sync) {
        s->sync = past.sync;
        s->opt.sync = io_sync_name(past.sync);
    }
    if (s->given_layout && s->layout != past.layout)
        return err_set(ERR_USAGE, "--layout %s: %s has layout %s, which --restart keeps",
                       io_layout_name(s->layout), s->opt.out, io_layout_name(past.layout));
    s->layout = past.layout;
    s->opt.layout = io_layout_name(past.layout);
    /* A class, or its N, brings steps and dt. */
    if (!s->opt.cls && !s->opt.n) {
        p->n = past.n;
        if (!s->opt.steps) p->steps = past.steps_n;
        if (!(s->opt.dt > 0)) p->dt = past.dt;
    }
    if (!s->opt.interval) p->interval = past.interval;
    if (!s->opt.last) p->last = bt_problem_dumps(p) < past.dumps_n;
    const struct bt_reference *ref = bt_reference_find(p->n, p->steps, p->dt);
    p->cls = ref && !ref->computed ? ref->cls : 'U';
    /* The values of a manifest are as good as those of a command line, and checked like them. */
    if (p->n >= BT_N_MIN && p->n <= BT_N_MAX && p->dt > 0) return 0;
    return err_set(ERR_USAGE, "%s.json: N = %lld with dt = %g is no problem for this program",
                   s->opt.out, (long long)p->n, p->dt);
}

bool bt_restart_bitwise(const char *past, const char *now)
{
    const size_t a = strcspn(past, "/"), b = strcspn(now, "/");
    return a == b && strncmp(past, now, a) == 0;
}
