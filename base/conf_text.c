/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options table as text: --help, the "options" object and the echoed command line. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf_impl.h"
#include "base/json.h"
#include "base/num.h"
#include "base/text.h"

/* What an option does, and what it may be. malloc'ed. */
static char *help_text(const struct conf_option *o)
{
    char *text = NULL, range[80], allowed[160] = "", def[160] = "";
    conf_range(o->min, o->max, range, sizeof range);
    if (range[0]) snprintf(allowed, sizeof allowed, " A number%s.", range);
    if (o->choices && o->arg) snprintf(allowed, sizeof allowed, " One of %s.", o->choices);
    if (o->def && o->type != CONF_FLAG) {
        const bool stop = strcmp(o->def, ".") == 0; /* the folder, not the end of the sentence */
        snprintf(def, sizeof def, stop ? " Default: '%s'." : " Default: %s.", o->def);
    }
    return asprintf(&text, "%s%s%s", o->help ? o->help : "", allowed, def) < 0 ? NULL : text;
}

void conf_help(const struct conf_program *p, FILE *to)
{
    char **help = calloc((size_t)conf_count(p) + 1, sizeof *help);
    struct argp_option *table = conf_argp_table(p);
    const struct conf_option *o = p->options;
    int n = 0;
    for (struct argp_option *t = table; t && help && o->name; t++) {
        if (!t->name) continue;
        t->doc = help[n++] = help_text(o++);
    }
    const struct argp argp = {.options = table, .args_doc = p->args, .doc = p->summary};
    const unsigned what = ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC | ARGP_HELP_LONG;
    if (table && help) argp_help(&argp, to, what, (char *)p->name);
    /* argp would fill their lines. */
    if (p->examples) fprintf(to, "\nExamples:\n%s", p->examples);
    while (n > 0)
        free(help[--n]);
    free(help);
    free(table);
}

static json_t *list_json(const struct conf_list *list)
{
    json_t *array = json_array();
    for (int i = 0; array && i < list->n; i++) {
        json_array_append_new(array, js_text(list->item[i]));
    }
    return array;
}

static json_t *value_json(const struct conf_option *o, const void *opts)
{
    const void *at = (const char *)opts + o->offset;
    switch (o->type) {
    case CONF_FLAG:
        return json_boolean(*(const bool *)at);
    case CONF_INT:
        return json_integer(*(const int64_t *)at);
    case CONF_REAL:
        return json_real(*(const double *)at);
    case CONF_STRING:
    case CONF_CHOICE:
        return js_text(*(const char *const *)at);
    case CONF_LIST:
        return list_json(at);
    }
    return NULL;
}

static void set_option(json_t *to, const struct conf_option *o, json_t *value)
{
    char key[80];
    snprintf(key, sizeof key, "%s", o->name);
    for (char *c = strchr(key, '-'); c; c = strchr(c, '-')) {
        *c = '_';
    }
    json_object_set_new(to, key, value);
}

json_t *conf_json(const struct conf_program *p, const void *opts)
{
    json_t *object = json_object();
    for (const struct conf_option *o = p->options; object && o->name; o++) {
        set_option(object, o, value_json(o, opts));
    }
    return object;
}

/* A word as a shell reads it back. */
static void print_quoted(FILE *to, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=:,./@%";
    if (*text && strspn(text, plain) == strlen(text)) {
        fputs(text, to);
        return;
    }
    fputc('\'', to);
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", to);
        } else {
            fputc(*text, to);
        }
    }
    fputc('\'', to);
}

static void print_option(FILE *to, const struct conf_option *o, const char *value)
{
    fprintf(to, "%s--%s", ftell(to) > 0 ? " " : "", o->name);
    if (!value) return;
    fputc(' ', to);
    print_quoted(to, value);
}

/* Values are compared as JSON, the one form in which all types can be. */
static void print_if_changed(FILE *to, const struct conf_option *o, const json_t *value,
                             const json_t *def)
{
    char text[NUM_TEXT_MAX];
    if (json_equal(value, def)) return;
    if (json_is_boolean(value)) {
        print_option(to, o, NULL);
    } else if (json_is_integer(value)) {
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        print_option(to, o, text);
    } else if (json_is_real(value)) {
        print_option(to, o, num_real(json_real_value(value), text));
    } else if (json_is_string(value)) {
        print_option(to, o, json_string_value(value));
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        print_option(to, o, json_string_value(json_array_get(value, i)));
    }
}

/* The default as JSON: set where a member of its type stands alone. */
static json_t *default_json(const struct conf_option *o)
{
    union {
        bool flag;
        int64_t integer;
        double real;
        const char *text;
        struct conf_list list;
    } alone;
    memset(&alone, 0, sizeof alone);
    struct conf_option at_0 = *o;
    at_0.offset = 0;
    json_t *value = conf_set_default(&at_0, &alone) < 0 ? NULL : value_json(&at_0, &alone);
    if (o->type == CONF_LIST) free(alone.list.item);
    return value;
}

json_t *conf_changed_json(const struct conf_program *p, const void *opts)
{
    json_t *object = json_object();
    for (const struct conf_option *o = p->options; object && o->name; o++) {
        json_t *value = value_json(o, opts), *def = default_json(o);
        if (!json_equal(value, def)) set_option(object, o, json_incref(value));
        json_decref(value);
        json_decref(def);
    }
    return object;
}

char *conf_line(const struct conf_program *p, const void *opts)
{
    char *line;
    struct text t;
    if (text_begin(&t) < 0) return NULL;
    for (const struct conf_option *o = p->options; o->name; o++) {
        json_t *value = value_json(o, opts), *def = default_json(o);
        print_if_changed(t.to, o, value, def);
        json_decref(value);
        json_decref(def);
    }
    (void)text_end(&t, &line);
    return line;
}
