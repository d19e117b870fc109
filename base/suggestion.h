/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_SUGGESTION_H
#define BASE_SUGGESTION_H
/* Layer 0. "Did you mean X?": of the known words the one at the smallest edit distance (insertions,
 * deletions and changes of a letter) from a word that is not known; case does not count. All functions
 * are local. */

/* Begin with {.word = WORD}. */
struct suggestion {
    const char *word; /* as it was given */
    const char *best; /* nearest so far, borrowed; NULL: none is near enough */
    int distance;     /* of best */
};

/* Compares with one more known word; of equally near ones the first stays. */
void suggestion_try(struct suggestion *n, const char *known);

/* The same for each word of "a|b|c", of which best then is the rest from there on: suggestion_text cuts it. */
void suggestion_try_all(struct suggestion *n, const char *choices);

#define SUGGESTION_TEXT_MAX 96

/* A suggestion for word out of "a|b|c", as suggestion_text without words before. */
const char *suggestion_of(const char *word, const char *choices, char out[SUGGESTION_TEXT_MAX]);

/* "; did you mean X?" behind the words before, "--" or "", or "" where nothing is near. Returns out. */
const char *suggestion_text(const struct suggestion *n, const char *before,
                            char out[SUGGESTION_TEXT_MAX]);

#endif
