/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

/* What is read, and how much of it so far. */
struct source {
    FILE *from;
    int64_t bytes;
};

static size_t read_some(void *to, size_t size, void *arg)
{
    struct source *s = arg;
    if (s->bytes > JS_BYTES_MAX) return (size_t)-1;
    const size_t n = fread(to, 1, size, s->from);
    s->bytes += (int64_t)n;
    return ferror(s->from) ? (size_t)-1 : n;
}

static int too_long(const char *path)
{
    return err_set(ERR_USAGE, "%s is longer than %lld MiB, which no file of this program is", path,
                   (long long)(JS_BYTES_MAX >> 20));
}

int js_read(const char *path, json_t **out)
{
    struct stat st;
    json_error_t error;
    *out = NULL;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > JS_BYTES_MAX)
        return too_long(path);
    FILE *from = text_open(path);
    if (!from) return err_set_errno(ERR_IO, errno, "%s: cannot open for reading", path);
    errno = 0;
    struct source source = {.from = from};
    json_t *value = json_load_callback(read_some, &source, JSON_REJECT_DUPLICATES, &error);
    const int errnum = errno;
    const bool broken = ferror(from) != 0;
    fclose(from);
    if (json_is_object(value)) {
        *out = value;
        return 0;
    }
    if (value) {
        json_decref(value);
        return err_set(ERR_USAGE, "%s:1: a JSON object is expected, starting with {", path);
    }
    if (source.bytes > JS_BYTES_MAX) return too_long(path);
    if (broken) return err_set_errno(ERR_IO, errnum, "%s: read failed", path);
    if (json_error_code(&error) == json_error_out_of_memory) return mem_error("reading %s", path);
    return err_set(ERR_USAGE, "%s:%d: not valid JSON: %s", path, error.line, error.text);
}

/* Shows what is there instead: its type and, when short, its text. */
static int unexpected(const char *where, const char *key, const char *what, const json_t *value)
{
    static const char *const type[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array",     [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a real number", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
    };
    char text[64];
    const char *there = value ? type[json_typeof(value)] : "nothing";
    if (value && !json_is_object(value) && !json_is_array(value)) {
        const size_t len = json_dumpb(value, text, sizeof text - 1, JSON_ENCODE_ANY);
        if (len > 0 && len < sizeof text) {
            text[len] = '\0';
            there = text;
        }
    }
    return err_set(ERR_USAGE, "%s: \"%s\": %s is expected, there is %s", where, key, what, there);
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
    snprintf(what, sizeof what, min == max ? "%" PRId64 : "an integer from %" PRId64 " to %" PRId64,
             min, max);
    return unexpected(where, key, what, value);
}

int js_get_real(const json_t *obj, const char *where, const char *key, double *out)
{
    const json_t *value = json_object_get(obj, key);
    if (!json_is_number(value)) return unexpected(where, key, "a number", value);
    *out = json_number_value(value);
    return 0;
}

double js_number(const json_t *obj, const char *key)
{
    const json_t *value = json_object_get(obj, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
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

json_t *js_printf(const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return js_text(text);
}

enum { WORD_DIGITS = 16 };

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int js_get_words(const json_t *obj, const char *where, const char *key, int64_t n, uint64_t *w)
{
    const json_t *value = json_object_get(obj, key);
    const size_t len = (size_t)n * WORD_DIGITS;
    bool good = json_is_string(value) && json_string_length(value) == len;
    const char *text = json_string_value(value);
    for (size_t d = 0; good && d < len; d++) {
        const int digit = hex_value(text[d]);
        uint64_t *word = &w[d / WORD_DIGITS];
        *word = (d % WORD_DIGITS ? *word << 4 : 0) | (uint64_t)digit;
        good = digit >= 0;
    }
    if (good) return 0;
    char what[96];
    snprintf(what, sizeof what, "a string of %zu lower-case hexadecimal digits", len);
    return unexpected(where, key, what, value);
}
