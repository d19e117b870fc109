/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/suggestion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_CHARS = 64 };

static int lower(char c)
{
    return tolower((unsigned char)c);
}

/* Characters of a word of "a|b|c". */
static int length(const char *word)
{
    return (int)strcspn(word, "|");
}

/* Fewest insertions, deletions and changes of a letter that turn a into the first word of b. */
static int edit_distance(const char *a, const char *b)
{
    int row[NAME_MAX_CHARS + 1];
    const int len = length(b);
    if (len > NAME_MAX_CHARS) return len;
    for (int j = 0; j <= len; j++)
        row[j] = j;
    for (int i = 0; a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 1; j <= len; j++) {
            int above = row[j];
            int least = diagonal + (lower(a[i]) != lower(b[j - 1]));
            if (least > above + 1) least = above + 1;
            if (least > row[j - 1] + 1) least = row[j - 1] + 1;
            row[j] = least;
            diagonal = above;
        }
    }
    return row[len];
}

void suggestion_try(struct suggestion *n, const char *known)
{
    const int enough = (int)(strlen(n->word) + 1) / 2, distance = edit_distance(n->word, known);
    /* A word of which nothing is left is not the one that was meant. */
    if (distance > enough || distance >= length(known)) return;
    if (n->best && distance >= n->distance) return;
    n->best = known;
    n->distance = distance;
}

void suggestion_try_all(struct suggestion *n, const char *choices)
{
    for (const char *c = choices; c && *c; c = strchr(c, '|') ? strchr(c, '|') + 1 : NULL)
        suggestion_try(n, c);
}

const char *suggestion_text(const struct suggestion *n, const char *before,
                            char out[SUGGESTION_TEXT_MAX])
{
    out[0] = '\0';
    if (n->best)
        snprintf(out, SUGGESTION_TEXT_MAX, "; did you mean %s%.*s?", before, length(n->best),
                 n->best);
    return out;
}

const char *suggestion_of(const char *word, const char *choices, char out[SUGGESTION_TEXT_MAX])
{
    struct suggestion n = {.word = word};
    suggestion_try_all(&n, choices);
    return suggestion_text(&n, "", out);
}
