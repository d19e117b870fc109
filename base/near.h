/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H
/* Layer 0. Which of the known words somebody may have meant: the one that fewest insertions, deletions
 * and changes of a letter turn the word into; case does not count. All functions are local. */

/* Begin with {.word = WORD}. */
struct near {
    const char *word; /* as it was given */
    const char *best; /* nearest so far, borrowed; NULL: none is near enough */
    int distance;     /* of best */
};

/* Looks at one more known word; of equally near ones the first stays. */
void near_try(struct near *n, const char *known);

/* The same for each word of "a|b|c", of which best then is the rest from there on: near_text cuts it. */
void near_try_all(struct near *n, const char *choices);

#define NEAR_TEXT_MAX 96

/* All three at once. */
const char *near_of(const char *word, const char *choices, char out[NEAR_TEXT_MAX]);

/* "; did you mean X?" behind the words before, "--" or "", or "" where nothing is near. Returns out. */
const char *near_text(const struct near *n, const char *before, char out[NEAR_TEXT_MAX]);

#endif
