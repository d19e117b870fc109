/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_JSON_H
#define BASE_JSON_H
/* Layer 0. JSON files on jansson. Names start with js_, json_ is the library's. Files are replaced
 * as a whole: a reader, and a run that is killed, sees the old text or the new one. Real numbers
 * are written with 17 significant digits. All functions are local. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum js_sync {
    JS_SYNC_NONE, /* atomic against other processes and kills, not against loss of power */
    JS_SYNC_FILE, /* the text is durable before it takes the place of the old one */
    JS_SYNC_ALL,  /* and the new directory entry is durable on return */
};

/* Replaces the file by a new text: written to a file of another name in the same directory, then
 * renamed. A symbolic link keeps pointing where it did, and one to nothing is an error; anything
 * that is not a regular file (a pipe that somebody reads, /dev/stdout) is written to as it is. Returns
 * 0, ERR_IO (what existed is unharmed) or ERR_NOMEM.
 */
int js_write(const char *path, const json_t *value, enum js_sync sync);

/* The same of a text, JSON or not, as it is, by a caller whose note lists the temporary file (own_temps): it
 * is not held for temp_sweep, which would be calls inside the clock. */
int js_write_text(const char *path, const char *text, enum js_sync sync);

/* Whether a text for that name goes into a pipe or device, behind what is there already, instead of
 * taking a file's place. */
bool js_is_stream(const char *path);

/* Makes the directory entry of a path durable, as far as the file system can. Returns 0, ERR_IO or
 * ERR_NOMEM. */
int js_sync_directory(const char *path);

/* A result that the user asked for: as js_write and js_write_text without waiting for the device, and "-"
 * is standard output, see js_take_stdout. Local. Return what these do. */
int js_result(const char *path, const json_t *value);
int js_result_text(const char *path, const char *text);

/* Whether a name stands for standard output there: "-". Local. */
bool js_is_stdout(const char *path);

/* Keeps standard output for a result, from here on: what is printed goes to standard error, and so does
 * what children print. Once, before anything is printed. Local. Returns 0 or ERR_IO. */
int js_take_stdout(void);
bool js_stdout_taken(void);

/* Whether js_write could write a result there, asked before the work that the result is of. A file
 * that is there may be replaced when it is empty or an earlier result: JSON whose "schema" begins
 * with the one given, "nht1-bt/", and is its first member: no more than that is read. A pipe must have
 * its reader, who has the process as a writer from then on. Returns 0, ERR_USAGE or ERR_IO; nothing is changed. */
int js_check_target(const char *path, const char *schema);

/* The same for js_write_text of another text: ours begins with the mark, "nht1-beff ". */
int js_check_text(const char *path, const char *mark);

/* Longest text that is read, in bytes: no result and no manifest is longer. */
#define JS_BYTES_MAX (INT64_C(512) << 20)

/* Reads a file that holds one JSON object. [out] new reference. Returns 0, ERR_IO when it cannot be
 * read, ERR_USAGE with file, line and what is wrong when it is not a JSON object, or when it is longer
 * than JS_BYTES_MAX; no more than that is read, of a pipe either. */
int js_read(const char *path, json_t **out);

/* Typed members. where: what the object is, "btout.bin.json: dumps[3]", start of the message.
 * Return 0 or ERR_USAGE with where, the key, what is expected and what is there. Results point into
 * the object. */
int js_get_int(const json_t *obj, const char *where, const char *key, int64_t min, int64_t max,
               int64_t *out);
int js_get_real(const json_t *obj, const char *where, const char *key, double *out);
int js_get_bool(const json_t *obj, const char *where, const char *key, bool *out);
int js_get_text(const json_t *obj, const char *where, const char *key, const char **out);
int js_get_object(const json_t *obj, const char *where, const char *key, json_t **out);
int js_get_array(const json_t *obj, const char *where, const char *key, json_t **out);

/* A member's number, NaN where it is missing or no number. obj may be NULL. */
double js_number(const json_t *obj, const char *key);

/* Sets a member of an object. value: stolen. */
static inline void js_set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

/* A real number, null when it is not finite. New reference. */
json_t *js_real(double x);

/* A text, null for NULL; bytes that are no UTF-8 become '?'. New reference. */
json_t *js_text(const char *text);

/* The same of a text that is made printf-style, up to 1023 bytes of it. New reference. */
json_t *js_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A member that must hold exactly n words, as one string of 16 lower-case hexadecimal digits each, in
 * order. Returns 0 or ERR_USAGE. */
int js_get_words(const json_t *obj, const char *where, const char *key, int64_t n, uint64_t *w);

#endif
