/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_STAMP_H
#define BASE_STAMP_H
/* Layer 0. Judgements of a result, made once by the program that measured:
 *
 *     {"code": "cache-honest", "severity": "good", "numbers": {"cache_factor": 21.3},
 *      "sentence": "Each access moved 21.3 times what the nodes can keep in memory."}
 *
 * Reports, comparisons and studies repeat them. The codes, and what each means, are those of
 * base/stamp_list.h. Local. */
#include <jansson.h>
#include <stdbool.h>

enum stamp_code {
#define STAMP(name, code, programs, severities, spoils, meaning) STAMP_##name,
#include "base/stamp_list.h"
#undef STAMP
    STAMP_CODES
};

enum stamp_severity { SEVERITY_GOOD, SEVERITY_NOTE, SEVERITY_WARN, SEVERITY_BAD };

/* Appends one to an array. numbers: an object of numbers with a unit in their names, or NULL for
 * none (stolen). */
void stamp_add(json_t *list, enum stamp_code code, enum stamp_severity severity, json_t *numbers,
               const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Sets one of the numbers of a stamp, nothing where the value is not finite; NULL begins a new object.
 * Returns the object. */
json_t *stamp_number(json_t *numbers, const char *key, double value);

/* A text of a stamp, "code", "severity" or "sentence", "" without one; whether it has this code. The
 * text is borrowed. */
const char *stamp_text(const json_t *stamp, const char *member);
bool stamp_is(const json_t *stamp, enum stamp_code code);

/* The first stamp of a list with this code, or NULL. Borrowed. */
const json_t *stamp_find(const json_t *list, enum stamp_code code);

/* The same for a code as text, of another stamp. */
const json_t *stamp_find_text(const json_t *list, const char *code);

/* All codes: {"schema": "nht1-stamps/1", "stamps": {CODE: {"programs": [...], "severities": [...],
 * "spoils": "...", "meaning": "..."}, ...}}, spoils where it does. The caller's; NULL without memory. */
json_t *stamp_codes_json(void);

#endif
