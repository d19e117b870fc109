/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options in force: the "options" object, and the echoed command line. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/json.h"
#include "base/num.h"
#include "base/text.h"

static json_t *value_json(const struct conf_option *o, const void *opts)
{
    const void *at = (const char *)opts + o->offset;
    json_t *list;
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
        list = json_array();
        for (int i = 0; i < ((const struct conf_list *)at)->n; i++)
            json_array_append_new(list, js_text(((const struct conf_list *)at)->item[i]));
        return list;
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

void conf_print_word(FILE *to, const char *text)
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

const char *conf_file_word(const char *path, char out[CONF_WORD_MAX])
{
    FILE *to = fmemopen(out, CONF_WORD_MAX, "w");
    out[0] = '\0';
    if (!to) return path;
    if (path[0] == '-') fputs("./", to); /* which is no option */
    conf_print_word(to, path);
    fclose(to);
    out[CONF_WORD_MAX - 1] = '\0';
    return out;
}

static void print_option(FILE *to, const struct conf_option *o, const json_t *value)
{
    char text[NUM_TEXT_MAX];
    if (json_is_null(value)) return;
    fprintf(to, "%s--%s", ftell(to) > 0 ? " " : "", o->name);
    if (json_is_integer(value)) fprintf(to, " %" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value)) fprintf(to, " %s", num_real(json_real_value(value), text));
    if (!json_is_string(value)) return;
    fputc(' ', to);
    conf_print_word(to, json_string_value(value));
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
        const bool changed = !json_equal(value, def);
        if (changed && !json_is_array(value)) print_option(t.to, o, value);
        for (size_t i = 0; changed && i < json_array_size(value); i++)
            print_option(t.to, o, json_array_get(value, i));
        json_decref(value);
        json_decref(def);
    }
    (void)text_end(&t, &line);
    return line;
}
