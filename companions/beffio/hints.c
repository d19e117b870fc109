/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/suggestion.h"
#include "base/num.h"
#include "io/writers/hint.h"

enum { FIELDS = 5 }; /* before the value */

struct word {
    const char *name;
    int value;
};

static const struct word access_words[] = {
    {"all", -1}, {"write", BEFFIO_WRITE}, {"rewrite", BEFFIO_REWRITE}, {"read", BEFFIO_READ}, {0}};

static const struct word type_words[] = {{"all", -1},
                                         {"scatter", BEFFIO_SCATTER},
                                         {"shared", BEFFIO_SHARED},
                                         {"separated", BEFFIO_SEPARATE},
                                         {"separate", BEFFIO_SEPARATE},
                                         {"segmented", BEFFIO_SEGMENTED},
                                         {"seg_coll", BEFFIO_SEG_COLL},
                                         {0}};

static const struct word chunk_words[] = {{"on_open", BEFFIO_ON_OPEN},
                                          {"all", BEFFIO_EVERYWHERE},
                                          {"1024", 1},
                                          {"1032", 2},
                                          {"32768", 3},
                                          {"32776", 4},
                                          {"1048576", 5},
                                          {"1048584", 6},
                                          {"Lmax", 7},
                                          {0}};

/* Where a line stands, for messages. */
struct hint_line {
    const char *name;
    int line;
};

/* The value of a word, or which ones there are. */
static int word_find(const struct hint_line *at, const char *what, const struct word *words,
                     const char *text, int *value)
{
    char known[256] = "", meant[SUGGESTION_TEXT_MAX];
    struct suggestion near = {.word = text};
    for (; words->name; words++) {
        if (strcmp(words->name, text) == 0) {
            *value = words->value;
            return 0;
        }
        suggestion_try(&near, words->name);
        strncat(known, " ", sizeof known - strlen(known) - 1);
        strncat(known, words->name, sizeof known - strlen(known) - 1);
    }
    return err_set(ERR_USAGE, "%s:%d: '%s' is no %s; there are:%s%s", at->name, at->line, text,
                   what, known, suggestion_text(&near, "", meant));
}

/* Cuts the line into five words and the rest. Returns how many were found. */
static int split(char *line, char *field[FIELDS + 1])
{
    int n = 0;
    char *at = line + strspn(line, " \t");
    while (*at && n < FIELDS) {
        field[n++] = at;
        at += strcspn(at, " \t");
        if (*at) *at++ = '\0';
        at += strspn(at, " \t");
    }
    if (*at && n == FIELDS) field[n++] = at;
    return n;
}

static int add_line(struct beffio_hints *h, const struct hint_line *at, char *line)
{
    char *field[FIELDS + 1];
    int64_t procs = 0;
    for (size_t n = strlen(line); n > 0 && strchr(" \t\r", line[n - 1]);)
        line[--n] = '\0';
    if (line[0] == '#' || line[strspn(line, " \t")] == '\0') return 0;
    if (split(line, field) != FIELDS + 1)
        return err_set(ERR_USAGE,
                       "%s:%d: a line is 'processes access type chunk key value', such as "
                       "'all write scatter on_open cb_nodes 2'",
                       at->name, at->line);
    if (strcmp(field[0], "all") != 0 &&
        (num_int_parse(field[0], &procs) < 0 || procs < 1 || procs > INT32_MAX))
        return err_set(ERR_USAGE,
                       "%s:%d: '%s' is not a number of processes: give 'all' or a number from 1 on",
                       at->name, at->line, field[0]);
    struct beffio_hint hint = {.procs = (int)procs};
    TRY(word_find(at, "access", access_words, field[1], &hint.access));
    TRY(word_find(at, "pattern type", type_words, field[2], &hint.type));
    TRY(word_find(at, "chunk size", chunk_words, field[3], &hint.chunk));
    /* What is known to make libraries crash or go wrong is refused. */
    char pair[1024], place[4200];
    const char *const one = pair;
    snprintf(pair, sizeof pair, "%s=%s", field[4], field[5]);
    const int rc = io_hints_check(1, &one);
    if (rc < 0) {
        snprintf(place, sizeof place, "%s:%d: ", at->name, at->line);
        err_prefix(place);
        return rc;
    }
    struct beffio_hint *grown = realloc(h->hint, (size_t)(h->n + 1) * sizeof *grown);
    if (grown) {
        h->hint = grown;
        hint.key = strdup(field[4]);
        hint.value = strdup(field[5]);
        grown[h->n++] = hint;
    }
    return grown && hint.key && hint.value ? 0 : mem_error("the hints of %s", at->name);
}

int beffio_hints_parse(struct beffio_hints *h, const char *name, const char *text)
{
    struct hint_line at = {.name = name};
    *h = (struct beffio_hints){0};
    char *copy = strdup(text);
    if (!copy) return mem_error("the hints of %s", name);
    int rc = 0;
    for (char *line = copy, *next; rc == 0 && line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        at.line++;
        rc = add_line(h, &at, line);
    }
    free(copy);
    return rc;
}

void beffio_hints_free(struct beffio_hints *h)
{
    for (int i = 0; i < h->n; i++) {
        free(h->hint[i].key);
        free(h->hint[i].value);
    }
    free(h->hint);
    *h = (struct beffio_hints){0};
}

bool beffio_hint_applies(const struct beffio_hint *h, const struct beffio_spot *at)
{
    return (h->procs == 0 || h->procs == at->procs) &&
           (h->access == -1 || h->access == (int)at->access) &&
           (h->type == -1 || h->type == (int)at->type) &&
           (h->chunk == BEFFIO_EVERYWHERE || h->chunk == at->pos);
}
