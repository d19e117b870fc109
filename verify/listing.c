/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/listing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/beside.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "bt/solver/problem.h"
#include "verify/shape.h"

#define LINE_MAX_BYTES 128
#define BLANKS         " \t\r\n"

void listing_print(FILE *to, int64_t n, const double *diagonal)
{
    for (int64_t v = 0; v < BT_NCOMP * n; v++)
        fprintf(to, "%15.10f\n", diagonal[v]);
}

/* Whether the folder holds the listing of this N; then its name is in l. */
static bool look_in(struct listing *l, const char *folder, int64_t n)
{
    const int length = snprintf(l->path, sizeof l->path, "%s/n%" PRId64 ".txt.gz", folder, n);
    return length < (int)sizeof l->path && access(l->path, R_OK) == 0;
}

static int find_reference(struct listing *l, int64_t n)
{
    static const char *const beside[] = {"../share/nht1/listings", "../../verify/listings"};
    char folder[PATH_MAX];
    const char *given = getenv("NHT1_LISTINGS");
    if (given && look_in(l, given, n)) return 0;
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (beside_path(folder, beside[i]) == 0 && look_in(l, folder, n)) return 0;
    err_clear();
    return err_set(ERR_USAGE,
                   "--against reference: no reference listing of N = %" PRId64
                   " found; they exist for N = 12, 64 and 102, in the folder that the environment "
                   "variable NHT1_LISTINGS names",
                   n);
}

int listing_open(struct listing *l, const char *name, int64_t n)
{
    struct shape_file f;
    memset(l, 0, sizeof *l);
    if (strcmp(name, "reference") == 0)
        TRY(find_reference(l, n));
    else if (snprintf(l->path, sizeof l->path, "%s", name) >= (int)sizeof l->path)
        return err_set(ERR_USAGE, "--against: %.60s...: the name is too long", name);
    TRY(shape_open(&f, "listing ", l->path, NULL));
    l->file = gzdopen(f.fd, "rb");
    if (l->file) return 0;
    close(f.fd);
    return mem_error("reading the listing %s", l->path);
}

/* The next line with something on it. Returns 1, 0 at the end, ERR_IO, or ERR_USAGE for one that is not read whole. */
static int next_line(struct listing *l, char *line)
{
    int code = 0;
    for (z_off_t from = gztell(l->file); gzgets(l->file, line, LINE_MAX_BYTES);
         from = gztell(l->file)) {
        const size_t length = strlen(line);
        l->line++;
        if ((z_off_t)length != gztell(l->file) - from ||
            (line[length - 1] != '\n' && !gzeof(l->file)))
            return err_set(ERR_USAGE,
                           "listing %s, line %" PRId64
                           ": has a zero byte, or more than %d characters",
                           l->path, l->line, LINE_MAX_BYTES - 2);
        if (line[strspn(line, BLANKS)] != '\0') return 1;
    }
    const char *text = gzerror(l->file, &code);
    if (code < 0) return err_set(ERR_IO, "listing %s: reading: %s", l->path, text);
    return 0;
}

/* The next value. Returns 1, 0 at the end, ERR_IO, or ERR_USAGE for a line that is not one number. */
static int next_value(struct listing *l, double *value)
{
    char line[LINE_MAX_BYTES];
    const int rc = next_line(l, line);
    if (rc <= 0) return rc;
    const size_t from = strspn(line, BLANKS);
    size_t end = strlen(line);
    while (strchr(BLANKS, line[end - 1]))
        end--;
    line[end] = '\0';
    if (num_real_parse(line + from, value) == 0) return 1;
    return err_set(ERR_USAGE, "listing %s, line %" PRId64 ": \"%.40s\" is not a number", l->path,
                   l->line, line + from);
}

int listing_compare(struct listing *l, int64_t n, int64_t dump, const double *diagonal)
{
    double want;
    for (int64_t v = 0; v < BT_NCOMP * n && !l->ends_early; v++) {
        const int rc = next_value(l, &want);
        if (rc < 0) return rc;
        if (rc == 0 && !diagonal) return 0;
        l->ends_early = rc == 0;
        if (rc == 0 || !diagonal) continue;
        const double have = diagonal[v], deviation = fabs(have - want);
        l->compared_n++;
        l->deviation = fmax(l->deviation, isnan(deviation) ? INFINITY : deviation);
        if (deviation <= LISTING_ABS + LISTING_REL * fabs(want) || l->wrong_n++ > 0) continue;
        l->first_dump = dump;
        l->first_i = v / BT_NCOMP;
        l->first_m = (int)(v % BT_NCOMP);
        l->first_line = l->line;
        l->first_have = have;
        l->first_want = want;
    }
    return 0;
}

int listing_close(struct listing *l)
{
    char line[LINE_MAX_BYTES];
    if (!l->file) return 0;
    const int rc = l->ends_early ? 0 : next_line(l, line);
    l->goes_on = rc > 0;
    gzclose(l->file);
    l->file = NULL;
    return rc < 0 ? rc : 0;
}
