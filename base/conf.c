/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf_impl.h"
#include "base/err.h"
#include "base/num.h"

/* Keys given to argp: the letter of an option that has one, else KEY_LONG + its index. */
enum { KEY_LONG = 0x200, KEY_HELP = 0x100, KEY_VERSION = 0x101 };

/* What the callback of argp works on. */
struct parse {
    const struct conf_program *program;
    void *opts;
    struct conf_list *args;
    bool *given;
    int result; /* CONF_HELP, CONF_VERSION or a negative cause, once argp has been stopped */
    int next;   /* word that argp would have read next when it found an error */
};

int conf_count(const struct conf_program *p)
{
    int n = 0;
    while (p->options[n].name) {
        n++;
    }
    return n;
}

void *conf_member(const struct conf_option *o, void *opts)
{
    return (char *)opts + o->offset;
}

/* A range from 0 to 0 is no range. */
static bool in_range(double x, double min, double max)
{
    return (min == 0 && max == 0) || (x >= min && x <= max);
}

/* ", from 1 to 8", ", at least 1" or nothing; limits nobody reaches are not worth a mention. */
const char *conf_range(double min, double max, char *buf, size_t size)
{
    char lo[NUM_TEXT_MAX], hi[NUM_TEXT_MAX];
    const double far = 1e15;
    buf[0] = '\0';
    if (min == 0 && max == 0) return buf;
    bool low = min > -far, high = max < far;
    num_real(min, lo);
    num_real(max, hi);
    if (low && high) snprintf(buf, size, " from %s to %s", lo, hi);
    if (low && !high) snprintf(buf, size, ", at least %s", lo);
    if (!low && high) snprintf(buf, size, ", at most %s", hi);
    return buf;
}

int conf_int(const char *what, const char *text, int64_t min, int64_t max, int64_t *out)
{
    int64_t value = 0;
    char range[80];
    bool any = min == 0 && max == 0;
    if (num_int_parse(text, &value) == 0 && (any || (value >= min && value <= max))) {
        *out = value;
        return 0;
    }
    return err_set(ERR_USAGE, "%s: \"%s\" is not allowed; give a whole number%s", what, text,
                   conf_range((double)min, (double)max, range, sizeof range));
}

int conf_real(const char *what, const char *text, double min, double max, double *out)
{
    double value = 0;
    char range[80];
    if (num_real_parse(text, &value) == 0 && in_range(value, min, max)) {
        *out = value;
        return 0;
    }
    return err_set(ERR_USAGE, "%s: \"%s\" is not allowed; give a number%s", what, text,
                   conf_range(min, max, range, sizeof range));
}

static bool has_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);
    for (const char *c = choices; c; c = strchr(c, '|')) {
        if (*c == '|') c++;
        if (strcspn(c, "|") == len && strncmp(c, text, len) == 0) return true;
    }
    return false;
}

/* The limit of the table as an integer; doubles reach beyond int64_t. */
static int64_t to_limit(double x)
{
    if (x >= 0x1p63) return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

static int list_append(struct conf_list *list, const char *text)
{
    const char **item = realloc(list->item, ((size_t)list->n + 1) * sizeof *item);
    if (!item) return err_set(ERR_NOMEM, "no memory for the command line");
    list->item = item;
    list->item[list->n++] = text;
    return 0;
}

static int set_choice(const char *what, const struct conf_option *o, const char *text,
                      const char **out)
{
    *out = text;
    if (has_choice(o->choices, text)) return 0;
    return err_set(ERR_USAGE, "%s: \"%s\" is not allowed; choose one of %s", what, text,
                   o->choices);
}

int conf_set(const struct conf_option *o, void *opts, const char *text)
{
    char what[80];
    void *to = conf_member(o, opts);
    snprintf(what, sizeof what, "--%s", o->name);
    switch (o->type) {
    case CONF_FLAG:
        *(bool *)to = true;
        return 0;
    case CONF_INT:
        return conf_int(what, text, to_limit(o->min), to_limit(o->max), to);
    case CONF_REAL:
        return conf_real(what, text, o->min, o->max, to);
    case CONF_STRING:
        *(const char **)to = text;
        return 0;
    case CONF_CHOICE:
        return set_choice(what, o, text, to);
    case CONF_LIST:
        return list_append(to, text);
    }
    return err_set(ERR_USAGE, "%s: an option of unknown type", what);
}

static size_t type_bytes(enum conf_type type)
{
    static const size_t bytes[] = {
        [CONF_FLAG] = sizeof(bool),           [CONF_INT] = sizeof(int64_t),
        [CONF_REAL] = sizeof(double),         [CONF_STRING] = sizeof(const char *),
        [CONF_CHOICE] = sizeof(const char *), [CONF_LIST] = sizeof(struct conf_list),
    };
    return bytes[type];
}

void conf_clear(const struct conf_option *o, void *opts)
{
    memset(conf_member(o, opts), 0, type_bytes(o->type));
}

int conf_set_default(const struct conf_option *o, void *opts)
{
    return o->def ? conf_set(o, opts, o->def) : 0;
}

/* Stops argp: any error number does, the reason is in ps->result. */
static error_t stop(struct parse *ps, int result)
{
    ps->result = result;
    return ECANCELED;
}

/* Values of a list on the command line stand in for the default, they are not added to it. */
static int take_option(struct parse *ps, int index, const char *text)
{
    const struct conf_option *o = &ps->program->options[index];
    if (o->type == CONF_LIST && !ps->given[index]) {
        ((struct conf_list *)conf_member(o, ps->opts))->n = 0;
    }
    ps->given[index] = true;
    return conf_set(o, ps->opts, text);
}

static int take_word(struct parse *ps, const char *text)
{
    const struct conf_program *p = ps->program;
    if (ps->args && p->args && ps->args->n < p->max_args) return list_append(ps->args, text);
    if (!p->args || p->max_args == 0) {
        return err_set(ERR_USAGE, "unexpected word \"%s\"; %s takes options only (see --help)",
                       text, p->name);
    }
    return err_set(ERR_USAGE, "unexpected word \"%s\" after the %d allowed (see --help)", text,
                   p->max_args);
}

static int index_of_key(const struct conf_program *p, int key)
{
    if (key >= KEY_LONG && key < KEY_LONG + conf_count(p)) return key - KEY_LONG;
    for (int o = 0; p->options[o].name; o++) {
        if (key && p->options[o].key == key) return o;
    }
    return -1;
}

static error_t take(int key, char *text, struct argp_state *state)
{
    struct parse *ps = state->input;
    int rc = 0, index = index_of_key(ps->program, key);
    if (index >= 0) {
        rc = take_option(ps, index, text);
    } else if (key == ARGP_KEY_ARG) {
        rc = take_word(ps, text);
    } else if (key == KEY_HELP || key == 'h') {
        return stop(ps, CONF_HELP);
    } else if (key == KEY_VERSION) {
        return stop(ps, CONF_VERSION);
    } else {
        if (key == ARGP_KEY_ERROR) ps->next = state->next;
        return ARGP_ERR_UNKNOWN;
    }
    return rc < 0 ? stop(ps, rc) : 0;
}

/* A group's heading is an entry of its own; --help and --version are the last group. */
struct argp_option *conf_argp_table(const struct conf_program *p)
{
    int n = conf_count(p), used = 0, group = 1;
    struct argp_option *t = calloc(2 * (size_t)n + 3, sizeof *t);
    if (!t) return NULL;
    for (int o = 0; o < n; o++) {
        const struct conf_option *c = &p->options[o];
        if (c->group) t[used++] = (struct argp_option){.doc = c->group, .group = ++group};
        const char *arg = c->arg ? c->arg : c->choices ? c->choices : "VALUE";
        t[used++] = (struct argp_option){.name = c->name,
                                         .key = c->key ? c->key : KEY_LONG + o,
                                         .arg = c->type == CONF_FLAG ? NULL : arg,
                                         .doc = c->help,
                                         .group = group};
    }
    const int help = index_of_key(p, 'h') < 0 ? 'h' : KEY_HELP;
    t[used++] =
        (struct argp_option){.name = "help", .key = help, .doc = "Print this text", .group = -1};
    t[used] = (struct argp_option){
        .name = "version", .key = KEY_VERSION, .doc = "Print the version", .group = -1};
    return t;
}

static int run_argp(struct parse *ps, int argc, char **argv)
{
    char **copy = calloc((size_t)argc + 1, sizeof *copy); /* getopt reorders what it reads */
    struct argp_option *table = conf_argp_table(ps->program);
    int rc = 0;
    if (!copy || !table) {
        rc = err_set(ERR_NOMEM, "no memory for the command line");
    } else {
        memcpy(copy, argv, (size_t)argc * sizeof *copy);
        const struct argp argp = {.options = table, .parser = take};
        unsigned flags = ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP;
        error_t failed = argp_parse(&argp, argc, copy, flags, NULL, ps);
        rc = ps->result;
        if (failed && rc == 0) rc = conf_explain(ps->program, argc, copy, ps->next);
    }
    free(table);
    free(copy);
    return rc;
}

int conf_parse(const struct conf_program *p, int argc, char **argv, void *opts,
               struct conf_list *args, bool *given)
{
    int n = conf_count(p), rc = 0;
    if (args) memset(args, 0, sizeof *args);
    bool *seen = calloc((size_t)n + 1, sizeof *seen);
    if (!seen) return err_set(ERR_NOMEM, "no memory for the command line");
    for (int o = 0; o < n; o++) {
        conf_clear(&p->options[o], opts);
    }
    for (int o = 0; o < n && rc == 0; o++) {
        rc = conf_set_default(&p->options[o], opts);
    }
    struct parse ps = {p, opts, args, seen, 0, 0};
    if (rc == 0) rc = run_argp(&ps, argc, argv);
    if (given) memcpy(given, seen, (size_t)n * sizeof *seen);
    if (rc < 0) conf_free(p, opts, args);
    free(seen);
    return rc;
}

static void list_free(struct conf_list *list)
{
    free(list->item);
    memset(list, 0, sizeof *list);
}

void conf_free(const struct conf_program *p, void *opts, struct conf_list *args)
{
    for (const struct conf_option *o = p->options; o->name; o++) {
        if (o->type == CONF_LIST) list_free(conf_member(o, opts));
    }
    if (args) list_free(args);
}

int conf_files_differ(int n, const char *const *option, const char *const *name)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (name[i] && name[k] && name[i][0] && strcmp(name[i], name[k]) == 0)
                return err_set(ERR_USAGE, "%s and %s have the same file, %s", option[k], option[i],
                               name[i]);
    return 0;
}
