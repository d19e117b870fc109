/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/target/striping.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"
#include "base/err.h"
#include "base/json.h"

#define ANSWER_MAX 16384
#define LIMIT_S    60.0 /* for a tool: a server that does not answer keeps it waiting */

/* Runs a program and keeps what it says, errors too. Returns whether it was there and content. */
static bool run(const char *const argv[], char *answer)
{
    const struct child_start how = {.argv = argv, .out = CHILD_KEPT, .err = CHILD_JOINED};
    struct child c;
    const int rc = child_run(&c, &how, LIMIT_S);
    child_text(&c, answer, ANSWER_MAX);
    const bool content = rc == 0 && child_status(&c) == 0;
    if (rc < 0) err_clear();
    child_free(&c);
    return content;
}

/* "512K" and "512KiB" are 524288. */
static int64_t size_of(const char *text)
{
    static const char letters[] = "KMGT";
    char *end;
    int64_t bytes = strtoll(text, &end, 10);
    const char *letter = *end ? strchr(letters, *end) : NULL;
    for (const char *l = letters; letter && l <= letter; l++)
        bytes *= 1024;
    return bytes;
}

/* lfs getstripe. A layout of several components (PFL): the widest, which long files end in. */
static bool parse_lustre(const char *line, struct io_striping *out)
{
    int64_t n;
    if (sscanf(line, " lmm_stripe_count: %" SCNd64, &n) == 1 && n > out->count) {
        out->count = n;
        out->unit_bytes = 0; /* comes in the next line */
    }
    if (sscanf(line, " lmm_stripe_size: %" SCNd64, &n) == 1 && out->unit_bytes == 0)
        out->unit_bytes = n;
    sscanf(line, " lmm_pool: %63s", out->pool);
    return out->count > 0;
}

/* beegfs-ctl --getentryinfo, and beegfs entry info since version 8. */
static bool parse_beegfs(const char *line, struct io_striping *out)
{
    int64_t n;
    char size[32];
    const char *actual = strstr(line, "actual: "), *raid = strstr(line, "RAID");
    if (sscanf(line, " + Chunksize: %31s", size) == 1) out->unit_bytes = size_of(size);
    if (strstr(line, "storage targets") && actual && sscanf(actual, "actual: %" SCNd64, &n) == 1)
        out->count = n;
    if (raid && sscanf(raid, "RAID%*d (%" SCNd64 "x%31[0-9KMGTiB])", &n, size) == 2) {
        out->count = n;
        out->unit_bytes = size_of(size);
    }
    sscanf(line, " + Storage Pool: %*d (%63[^)])", out->pool);
    return out->count > 0;
}

/* mmlsattr -L: the pool; a file is spread over all of its disks. */
static bool parse_gpfs(const char *line, struct io_striping *out)
{
    return sscanf(line, "storage pool name: %63s", out->pool) == 1;
}

/* Whom to ask; the next where a tool is not there. */
static const struct {
    const char *fs_type;
    const char *argv[4]; /* and the path */
    bool (*parse)(const char *line, struct io_striping *out);
} tools[] = {
    {"lustre", {"lfs", "getstripe"}, parse_lustre},
    {"beegfs", {"beegfs-ctl", "--getentryinfo"}, parse_beegfs},
    {"beegfs", {"beegfs", "entry", "info"}, parse_beegfs},
    {"gpfs", {"mmlsattr", "-L"}, parse_gpfs},
};
#define TOOLS ((int)(sizeof tools / sizeof tools[0]))

bool io_striping_parse(const char *fs_type, const char *answer, struct io_striping *out)
{
    bool (*parse)(const char *, struct io_striping *) = NULL;
    bool understood = false;
    char line[1024];
    *out = (struct io_striping){0};
    for (int t = 0; t < TOOLS; t++)
        if (strcmp(tools[t].fs_type, fs_type) == 0) parse = tools[t].parse;
    while (parse && *answer) {
        const size_t length = strcspn(answer, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line),
                 answer);
        if (parse(line, out)) understood = true;
        answer += length + (answer[length] == '\n');
    }
    return understood;
}

bool io_striping_ask(const char *fs_type, const char *path, struct io_striping *out)
{
    bool found = false;
    struct stat st;
    char *answer = NULL;
    *out = (struct io_striping){0};
    for (int t = 0; t < TOOLS && !found; t++) {
        const char *argv[6] = {NULL};
        int n = 0;
        if (strcmp(tools[t].fs_type, fs_type) != 0) continue;
        if (!answer) answer = malloc(ANSWER_MAX);
        if (!answer) break;
        for (; tools[t].argv[n]; n++)
            argv[n] = tools[t].argv[n];
        argv[n] = path;
        found = run(argv, answer) && io_striping_parse(fs_type, answer, out);
    }
    if (found && out->unit_bytes == 0 && stat(path, &st) == 0) out->unit_bytes = st.st_blksize;
    free(answer);
    return found;
}

int io_striping_make(const char *fs_type, const char *path, int64_t count, int64_t unit_bytes)
{
    char c[24], u[24], answer[ANSWER_MAX];
    if (strcmp(fs_type, "lustre") != 0 || (count <= 0 && unit_bytes <= 0)) return 0;
    snprintf(c, sizeof c, "%" PRId64, count > 0 ? count : 0);
    snprintf(u, sizeof u, "%" PRId64, unit_bytes > 0 ? unit_bytes : 0);
    const char *const argv[] = {"lfs", "setstripe", "-c", c, "-S", u, path, NULL};
    const bool made = run(argv, answer);
    if (made) return 1;
    answer[strcspn(answer, "\n")] = '\0';
    return err_set(ERR_IO,
                   "lfs setstripe -c %s -S %s %s (hints striping_factor, striping_unit): %.256s", c,
                   u, path, answer[0] ? answer : "failed");
}

json_t *io_striping_json(const struct io_striping *s)
{
    return json_pack("{so so so}", "count", s->count > 0 ? json_integer(s->count) : json_null(),
                     "unit_bytes", s->unit_bytes > 0 ? json_integer(s->unit_bytes) : json_null(),
                     "pool", s->pool[0] ? js_text(s->pool) : json_null());
}
