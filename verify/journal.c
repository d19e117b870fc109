/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"

enum { BLOCK = 512, WORDS_BEFORE = 5, NAME_BYTES = 4300 };

struct journal {
    char path[NAME_BYTES];
    FILE *from;
    int64_t bytes;       /* of a record */
    int64_t words_n;     /* of a record, without its sum and what fills it up */
    unsigned char *text; /* of a record */
    uint64_t *word;      /* [words_n + 1] */
    int64_t complete_n;
};

static uint64_t word_at(const unsigned char *byte)
{
    uint64_t w = 0;
    for (int b = 7; b >= 0; b--)
        w = w << 8 | byte[b];
    return w;
}

/* Returns 1, 0 where the file ends before, or ERR_IO. */
static int read_block(const struct journal *j, void *to, int64_t bytes)
{
    if (fread(to, 1, (size_t)bytes, j->from) == (size_t)bytes) return 1;
    return ferror(j->from) ? err_set_errno(ERR_IO, errno, "reading %s", j->path) : 0;
}

/* Whether the record that was read counts. */
static bool is_record(struct journal *j, int64_t number)
{
    uint64_t sum = 0;
    for (int64_t w = 0; w <= j->words_n; w++)
        j->word[w] = word_at(j->text + 8 * w);
    for (int64_t w = 0; w < j->words_n; w++)
        sum += digest_hash(j->word[w], (uint64_t)w);
    return j->word[j->words_n] == sum && j->word[0] == (uint64_t)number;
}

static int bad_record(const struct journal *j, const char *what)
{
    return err_set(ERR_USAGE, "damaged journal %s: record %" PRIu64 " %s", j->path, j->word[0],
                   what);
}

static int grow(const struct journal *j, struct manifest *m)
{
    const int64_t words = digest_words(m->shape.n);
    struct manifest_dump *dump =
        mem_grow(m->dump, m->dumps_n + 1, sizeof *dump, "the dumps of %s", j->path);
    if (!dump) return ERR_NOMEM;
    m->dump = dump;
    uint64_t *word =
        mem_grow(m->words, (m->dumps_n + 1) * words, sizeof *word, "the dumps of %s", j->path);
    if (!word) return ERR_NOMEM;
    m->words = word;
    return 0;
}

/* All words of one direction add up to the same number in every direction. */
static bool agrees(const uint64_t *digest, int64_t n)
{
    uint64_t sum[4] = {0};
    for (int64_t w = 0; w < digest_words(n); w++)
        sum[w / n < 3 ? w / n : 3] += digest[w];
    return sum[0] == sum[1] && sum[0] == sum[2] && sum[0] == sum[3];
}

/* The next dump, or the last one again. */
static int add_record(struct journal *j, struct manifest *m)
{
    const int64_t words = digest_words(m->shape.n), last = m->dumps_n - 1;
    const uint64_t *w = j->word;
    const int64_t before = last >= 0 ? m->dump[last].step : 0;
    if (w[3] > w[1] + 1 || w[4] > w[3] || w[3] < (uint64_t)j->complete_n)
        return bad_record(j, "claims dumps that are not there");
    j->complete_n = (int64_t)w[3];
    if (last >= 0 && w[1] == (uint64_t)last)
        return w[2] == (uint64_t)before ? 0 : bad_record(j, "has another step than its dump");
    if (w[1] != (uint64_t)last + 1 || last + 1 >= m->shape.dumps_n)
        return bad_record(j, "is not of the next dump");
    if (w[2] <= (uint64_t)before || w[2] > (uint64_t)m->steps)
        return bad_record(j, "has a step that cannot be");
    if (!agrees(w + WORDS_BEFORE, m->shape.n))
        return bad_record(j, "has a digest that contradicts itself");
    TRY(grow(j, m));
    m->dump[m->dumps_n] = (struct manifest_dump){.step = (int64_t)w[2]};
    memcpy(m->words + m->dumps_n * words, w + WORDS_BEFORE, (size_t)words * 8);
    m->dumps_n++;
    return 0;
}

/* A record that does not count was being written when the run ended, or is being written now. */
static int read_records(struct journal *j, struct manifest *m)
{
    for (int64_t number = 1;; number++) {
        const int there = read_block(j, j->text, j->bytes);
        if (there < 0) return there;
        if (there == 0 || !is_record(j, number)) return 0;
        TRY(add_record(j, m));
    }
}

static void claim(const struct journal *j, struct manifest *m)
{
    m->complete_n = 0;
    for (int64_t d = 0; d < m->dumps_n; d++) {
        struct manifest_dump *dump = &m->dump[d];
        dump->complete = dump->complete || d < j->complete_n;
        dump->digest = dump->complete ? m->words + d * digest_words(m->shape.n) : NULL;
        m->complete_n += dump->complete;
    }
}

/* Whether it begins as the journal of that run: 1, 0 or ERR_IO. */
static int is_of(const struct journal *j, const char *run_id)
{
    char head[BLOCK + 1] = "", want[BLOCK];
    snprintf(want, sizeof want, "nht1-journal/1 %s\n", run_id);
    const int there = read_block(j, head, BLOCK);
    return there > 0 ? strcmp(head, want) == 0 : there;
}

int journal_read(const char *path, struct manifest *m)
{
    struct journal j = {.words_n = WORDS_BEFORE + digest_words(m->shape.n)};
    struct stat st;
    j.bytes = (8 * (j.words_n + 1) + BLOCK - 1) / BLOCK * BLOCK;
    snprintf(j.path, sizeof j.path, "%s.journal", path);
    if (stat(j.path, &st) < 0 && errno == ENOENT) return 0;
    if (!S_ISREG(st.st_mode)) return err_set(ERR_IO, "journal %s: not a regular file", j.path);
    j.from = fopen(j.path, "re");
    if (!j.from) return errno == ENOENT ? 0 : err_set_errno(ERR_IO, errno, "journal %s", j.path);
    j.text = mem_new(j.bytes, 1, "%s", j.path);
    j.word = mem_new(j.words_n + 1, sizeof *j.word, "%s", j.path);
    int rc = j.text && j.word ? is_of(&j, m->run_id) : ERR_NOMEM;
    if (rc > 0) {
        rc = read_records(&j, m);
        if (rc == 0) {
            claim(&j, m);
            rc = 1;
        }
    }
    fclose(j.from);
    free(j.text);
    free(j.word);
    return rc;
}
