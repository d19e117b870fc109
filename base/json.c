/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* What kept a text from being read as JSON. */
static int explain(const char *path, FILE *from, const json_error_t *error, int errnum)
{
    if (ferror(from)) return err_set_errno(ERR_IO, errnum, "%s: read failed", path);
    if (json_error_code(error) == json_error_out_of_memory) {
        return err_set(ERR_NOMEM, "%s: no memory to read it", path);
    }
    return err_set(ERR_USAGE, "%s:%d: not valid JSON: %s", path, error->line, error->text);
}

static int read_object(const char *path, FILE *from, json_t **out)
{
    json_error_t error;
    errno = 0;
    json_t *value = json_loadf(from, JSON_REJECT_DUPLICATES, &error);
    if (!value) return explain(path, from, &error, errno);
    if (json_is_object(value)) {
        *out = value;
        return 0;
    }
    json_decref(value);
    return err_set(ERR_USAGE, "%s:1: a JSON object is expected, starting with {", path);
}

int js_read(const char *path, json_t **out)
{
    *out = NULL;
    FILE *from = fopen(path, "re");
    if (!from) return err_set_errno(ERR_IO, errno, "%s: cannot open for reading", path);
    int rc = read_object(path, from, out);
    fclose(from);
    return rc;
}

/* A value as a message shows it: its type and, when short, its text. */
static const char *show(const json_t *value, char *buf, size_t size)
{
    static const char *const type[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array",     [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a real number", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
    };
    if (!value) return "nothing";
    size_t len = json_dumpb(value, buf, size - 1, JSON_ENCODE_ANY);
    if (json_is_object(value) || json_is_array(value) || len == 0 || len > size - 1) {
        return type[json_typeof(value)];
    }
    buf[len] = '\0';
    return buf;
}

static int unexpected(const char *where, const char *key, const char *what, const json_t *value)
{
    char text[64];
    return err_set(ERR_USAGE, "%s: \"%s\": %s is expected, there is %s", where, key, what,
                   show(value, text, sizeof text));
}

int js_get_int(const json_t *obj, const char *where, const char *key, int64_t min, int64_t max,
               int64_t *out)
{
    const json_t *value = json_object_get(obj, key);
    if (json_is_integer(value) && json_integer_value(value) >= min &&
        json_integer_value(value) <= max) {
        *out = json_integer_value(value);
        return 0;
    }
    char what[96];
    snprintf(what, sizeof what, "an integer from %" PRId64 " to %" PRId64, min, max);
    return unexpected(where, key, what, value);
}

int js_get_real(const json_t *obj, const char *where, const char *key, double *out)
{
    const json_t *value = json_object_get(obj, key);
    if (!json_is_number(value)) return unexpected(where, key, "a number", value);
    *out = json_number_value(value);
    return 0;
}

int js_get_bool(const json_t *obj, const char *where, const char *key, bool *out)
{
    const json_t *value = json_object_get(obj, key);
    if (!json_is_boolean(value)) return unexpected(where, key, "true or false", value);
    *out = json_is_true(value);
    return 0;
}

int js_get_text(const json_t *obj, const char *where, const char *key, const char **out)
{
    const json_t *value = json_object_get(obj, key);
    if (!json_is_string(value)) return unexpected(where, key, "a string", value);
    *out = json_string_value(value);
    return 0;
}

int js_get_object(const json_t *obj, const char *where, const char *key, json_t **out)
{
    *out = json_object_get(obj, key);
    return json_is_object(*out) ? 0 : unexpected(where, key, "an object", *out);
}

int js_get_array(const json_t *obj, const char *where, const char *key, json_t **out)
{
    *out = json_object_get(obj, key);
    return json_is_array(*out) ? 0 : unexpected(where, key, "an array", *out);
}

json_t *js_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *js_text(const char *text)
{
    if (!text) return json_null();
    json_t *value = json_string(text);
    if (value) return value;
    char *ascii = strdup(text);
    for (char *c = ascii; c && *c; c++) {
        if ((unsigned char)*c >= 0x80) *c = '?';
    }
    value = ascii ? json_string(ascii) : NULL;
    free(ascii);
    return value;
}

enum { WORD_DIGITS = 16 };

json_t *js_words(const uint64_t *w, int64_t n)
{
    static const char digit[] = "0123456789abcdef";
    size_t len = (size_t)n * WORD_DIGITS;
    char *text = malloc(len + 1);
    if (!text) return NULL;
    for (size_t d = 0; d < len; d++) {
        uint64_t word = w[d / WORD_DIGITS];
        text[d] = digit[word >> (60 - 4 * (d % WORD_DIGITS)) & 15];
    }
    json_t *value = json_stringn_nocheck(text, len);
    free(text);
    return value;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns false at the first character that is no digit. */
static bool read_word(const char *text, uint64_t *word)
{
    *word = 0;
    for (int d = 0; d < WORD_DIGITS; d++) {
        int value = hex_value(text[d]);
        if (value < 0) return false;
        *word = *word << 4 | (uint64_t)value;
    }
    return true;
}

int js_get_words(const json_t *obj, const char *where, const char *key, int64_t n, uint64_t *w)
{
    const json_t *value = json_object_get(obj, key);
    bool good = json_is_string(value) && json_string_length(value) == (size_t)n * WORD_DIGITS;
    const char *text = json_string_value(value);
    for (int64_t i = 0; good && i < n; i++) {
        good = read_word(text + i * WORD_DIGITS, &w[i]);
    }
    if (good) return 0;
    char what[96];
    snprintf(what, sizeof what, "a string of %" PRId64 " lower-case hexadecimal digits",
             n * WORD_DIGITS);
    return unexpected(where, key, what, value);
}
