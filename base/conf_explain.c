/* SPDX-License-Identifier: GPL-3.0-or-later */
/* argp says only that a command line is wrong; this says what is wrong with it. */
#include <stdio.h>
#include <string.h>

#include "base/conf_impl.h"
#include "base/err.h"

enum { NAME_MAX_CHARS = 64 };

/* Fewest insertions, deletions and changes of a letter that turn a into b. */
static int edit_distance(const char *a, const char *b)
{
    int row[NAME_MAX_CHARS + 1];
    int len = (int)strlen(b);
    if (len > NAME_MAX_CHARS) return len;
    for (int j = 0; j <= len; j++) {
        row[j] = j;
    }
    for (int i = 0; a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 1; j <= len; j++) {
            int above = row[j];
            int least = diagonal + (a[i] != b[j - 1]);
            if (least > above + 1) least = above + 1;
            if (least > row[j - 1] + 1) least = row[j - 1] + 1;
            row[j] = least;
            diagonal = above;
        }
    }
    return row[len];
}

/* The known name nearest to a wrong one, NULL when none is near. */
static const char *nearest(const struct conf_program *p, const char *name)
{
    const char *best = NULL;
    int least = (int)(strlen(name) + 1) / 2 + 1;
    for (const struct conf_option *o = p->options; o->name; o++) {
        int d = edit_distance(name, o->name);
        if (d >= least) continue;
        least = d;
        best = o->name;
    }
    return best;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The option meant by a name or an unambiguous prefix of one; [out] n: how many it could be. */
static const struct conf_option *find(const struct conf_program *p, const char *name, int *n)
{
    const struct conf_option *found = NULL;
    *n = 0;
    for (const struct conf_option *o = p->options; o->name; o++) {
        if (!starts_with(o->name, name)) continue;
        *n = strcmp(o->name, name) == 0 ? 1 : *n + 1;
        found = o;
        if (strcmp(o->name, name) == 0) break;
    }
    return found;
}

/* What is wrong with a name that is the start of none, or of several. */
static int explain_name(const struct conf_program *p, const char *name)
{
    char list[256] = "";
    for (const struct conf_option *o = p->options; o->name; o++) {
        size_t used = strlen(list);
        if (!starts_with(o->name, name)) continue;
        snprintf(list + used, sizeof list - used, "%s--%s", used ? ", " : "", o->name);
    }
    if (list[0]) return err_set(ERR_USAGE, "--%s could be any of %s; write it out", name, list);
    const char *near = nearest(p, name);
    if (!near) return err_set(ERR_USAGE, "unknown option --%s (see --help)", name);
    return err_set(ERR_USAGE, "unknown option --%s; did you mean --%s? (see --help)", name, near);
}

static int explain_missing(const struct conf_option *o)
{
    const char *arg = o->choices ? o->choices : o->arg ? o->arg : "VALUE";
    return err_set(ERR_USAGE, "--%s needs a value: --%s %s", o->name, o->name, arg);
}

/* Returns 0 when nothing is wrong with "--name" or "--name=value". last: no word follows. */
static int explain_long(const struct conf_program *p, const char *word, bool last)
{
    char name[NAME_MAX_CHARS + 1];
    int n;
    size_t len = strcspn(word + 2, "=");
    bool has_value = word[2 + len] == '=';
    snprintf(name, sizeof name, "%.*s", (int)len, word + 2);
    const struct conf_option *o = find(p, name, &n);
    if (n != 1) return explain_name(p, name);
    if (o->type == CONF_FLAG && has_value) {
        return err_set(ERR_USAGE, "--%s takes no value", o->name);
    }
    if (o->type != CONF_FLAG && !has_value && last) return explain_missing(o);
    return 0;
}

/* The same for letters: "-ab", "-xVALUE". */
static int explain_short(const struct conf_program *p, const char *word, bool last)
{
    for (const char *c = word + 1; *c; c++) {
        const struct conf_option *o = p->options;
        while (o->name && o->key != *c) {
            o++;
        }
        if (!o->name && *c != 'h') {
            return err_set(ERR_USAGE, "unknown option -%c (see --help)", *c);
        }
        if (o->name && o->type != CONF_FLAG) {
            return !c[1] && last ? explain_missing(o) : 0;
        }
    }
    return 0;
}

/* The word refused is the one just read, or the next one when it stands in a bundle of letters. */
int conf_explain(const struct conf_program *p, int argc, char **argv, int next)
{
    for (int w = next - 1; w <= next; w++) {
        if (w < 1 || w >= argc || argv[w][0] != '-' || !argv[w][1]) continue;
        TRY((argv[w][1] == '-' ? explain_long : explain_short)(p, argv[w], w == argc - 1));
    }
    return err_set(ERR_USAGE, "cannot read the command line (see --help)");
}
