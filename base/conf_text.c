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

enum { HELP_COLUMNS = 80, HELP_INDENT = 26, LEFT_MAX = 160 };

/* Prints words from column HELP_INDENT on; [in,out] column: where the cursor stands. */
static void print_words(FILE *to, const char *text, int *column)
{
    while (*text) {
        text += strspn(text, " ");
        int len = (int)strcspn(text, " ");
        if (len == 0) break;
        bool fresh = *column == HELP_INDENT;
        if (!fresh && *column + 1 + len > HELP_COLUMNS - 1) {
            fprintf(to, "\n%*s", HELP_INDENT, "");
            *column = HELP_INDENT;
            fresh = true;
        }
        fprintf(to, "%s%.*s", fresh ? "" : " ", len, text);
        *column += len + !fresh;
        text += len;
    }
}

/* Left part of an entry, then the cursor in column HELP_INDENT. */
static void print_left(FILE *to, const char *left)
{
    int len = (int)strlen(left);
    if (len + 2 > HELP_INDENT) {
        fprintf(to, "%s\n%*s", left, HELP_INDENT, "");
    } else {
        fprintf(to, "%-*s", HELP_INDENT, left);
    }
}

static void print_entry(FILE *to, const struct conf_option *o)
{
    char left[LEFT_MAX], letter[8] = "    ", range[80], tail[160] = "";
    int column = HELP_INDENT;
    if (o->key) snprintf(letter, sizeof letter, "-%c, ", o->key);
    const char *arg = o->arg ? o->arg : o->choices ? o->choices : "VALUE";
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, o->type == CONF_FLAG ? "" : " ",
             o->type == CONF_FLAG ? "" : arg);
    print_left(to, left);
    print_words(to, o->help ? o->help : "", &column);
    conf_range(o->min, o->max, range, sizeof range);
    if (range[0]) snprintf(tail, sizeof tail, "A number%s.", range);
    print_words(to, tail, &column);
    if (o->choices && o->arg) {
        snprintf(tail, sizeof tail, "One of %s.", o->choices);
        print_words(to, tail, &column);
    }
    if (o->def && o->type != CONF_FLAG) {
        const bool stop = strcmp(o->def, ".") == 0; /* the folder, not the end of the sentence */
        snprintf(tail, sizeof tail, stop ? "Default: '%s'." : "Default: %s.", o->def);
        print_words(to, tail, &column);
    }
    fputc('\n', to);
}

void conf_help(const struct conf_program *p, FILE *to)
{
    fprintf(to, "Usage: %s [OPTION...]%s%s\n", p->name, p->args ? " " : "", p->args ? p->args : "");
    if (p->summary) fprintf(to, "%s\n", p->summary);
    if (!p->options[0].group) fputc('\n', to);
    for (const struct conf_option *o = p->options; o->name; o++) {
        if (o->group) fprintf(to, "\n%s:\n", o->group);
        print_entry(to, o);
    }
    static const struct conf_option help = {.name = "help", .help = "Prints this text."};
    static const struct conf_option version = {.name = "version", .help = "Prints the version."};
    fputc('\n', to);
    print_entry(to, &help);
    print_entry(to, &version);
    if (p->examples) fprintf(to, "\nExamples:\n%s", p->examples);
    if (p->examples && !strchr("\n", p->examples[strlen(p->examples) - 1])) fputc('\n', to);
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
