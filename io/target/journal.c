/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/target/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/json.h"
#include "base/temp.h"
#include "io/view.h"
#include "io/writers/fd.h"

#define MARK "nht1-journal/1 "

enum { SECTOR = 512, NUMBER = 0, DUMP, STEP, COMPLETE, DURABLE, DIGEST, DIGITS = 16 };

struct io_journal {
    char *path;
    int fd;
    int64_t n, record_bytes, records_n;
    uint64_t *word; /* record_bytes of it; what is behind the sum stays zero */
};

/* To be freed; NULL: no memory. */
static char *journal_path(const char *manifest)
{
    char *path;
    return asprintf(&path, "%s.journal", manifest) < 0 ? NULL : path;
}

static int no_memory(const char *manifest)
{
    return mem_error("the journal of %s", manifest);
}

/* Words before the sum. */
static int64_t words_n(int64_t n)
{
    return DIGEST + digest_words(n);
}

static int64_t record_bytes(int64_t n)
{
    return (8 * (words_n(n) + 1) + SECTOR - 1) / SECTOR * SECTOR;
}

static uint64_t sum_of(const uint64_t *word, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t w = 0; w < words_n(n); w++)
        sum += digest_hash(word[w], (uint64_t)w);
    return sum;
}

/* To and from words with the least significant byte first: nothing, on most machines. */
static void swap_words(uint64_t *word, int64_t n)
{
    const uint16_t probe = 1;
    if (*(const unsigned char *)&probe == 1) return;
    for (int64_t w = 0; w <= words_n(n); w++)
        word[w] = __builtin_bswap64(word[w]);
}

/* ------------------------------------------------------------------ writing */

static int write_at(const struct io_journal *j, const void *bytes, int64_t bytes_n, int64_t offset)
{
    struct io_fd_fault fault;
    int64_t requests_n = 0;
    if (io_fd_put(j->fd, (struct io_piece){bytes, bytes_n, offset}, 1, &requests_n, &fault) == 0)
        return 0;
    return err_set_errno(ERR_IO, fault.errnum,
                         "pwrite of %" PRId64 " bytes at offset %" PRId64 " of %s", fault.bytes,
                         fault.offset, j->path);
}

static bool is_journal(const char *path)
{
    char text[sizeof MARK] = "";
    struct stat st;
    if (lstat(path, &st) != 0) return errno == ENOENT;
    if (!S_ISREG(st.st_mode)) return false;
    if (st.st_size == 0) return true;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const bool is = fd >= 0 && pread(fd, text, sizeof MARK - 1, 0) == (ssize_t)sizeof MARK - 1 &&
                    strcmp(text, MARK) == 0;
    if (fd >= 0) close(fd);
    return is;
}

bool io_journal_is_there(const char *manifest)
{
    struct stat st;
    char *path = journal_path(manifest);
    const bool is_there = path && lstat(path, &st) == 0;
    free(path);
    return is_there;
}

bool io_journal_may_be(const char *manifest)
{
    char *path = journal_path(manifest);
    const bool may = path && is_journal(path);
    free(path);
    return may;
}

/* Under another name first: nobody sees one without its head. Room is taken where the file system has blocks to
 * give. */
static int make(struct io_journal *j, const char *temp, const char *run_id, int64_t dumps_n,
                bool flush)
{
    char head[SECTOR] = "";
    const off_t bytes = (off_t)(SECTOR + dumps_n * j->record_bytes);
    if (fallocate(j->fd, FALLOC_FL_KEEP_SIZE, 0, bytes) != 0 && errno != EOPNOTSUPP &&
        errno != ENOSYS && errno != EINTR)
        return err_set_errno(ERR_IO, errno, "cannot preallocate %" PRId64 " bytes for %s",
                             (int64_t)bytes, j->path);
    snprintf(head, sizeof head, MARK "%s\n", run_id);
    for (ssize_t done = 0, now; done < SECTOR; done += now) {
        now = write(j->fd, head + done, (size_t)(SECTOR - done));
        if (now < 0 && errno == EINTR) now = 0;
        if (now < 0) return err_set_errno(ERR_IO, errno, "write %s", temp);
    }
    if (flush && fsync(j->fd) != 0) return err_set_errno(ERR_IO, errno, "fsync %s", temp);
    if (rename(temp, j->path) != 0)
        return err_set_errno(ERR_IO, errno, "rename %s to %s", temp, j->path);
    const int rc = flush ? js_sync_directory(j->path) : 0;
    if (rc < 0) unlink(j->path);
    return rc;
}

int io_journal_new(struct io_journal **out, const char *manifest, const char *run_id, int64_t n,
                   int64_t dumps_n, bool flush)
{
    *out = NULL;
    struct io_journal *j = calloc(1, sizeof *j);
    if (!j) return no_memory(manifest);
    *j = (struct io_journal){.fd = -1, .n = n, .record_bytes = record_bytes(n)};
    j->path = journal_path(manifest);
    j->word = calloc(1, (size_t)j->record_bytes);
    char *temp = NULL;
    int rc = j->path && j->word ? 0 : no_memory(manifest);
    if (rc == 0) rc = j->fd = temp_open(manifest, &temp);
    if (rc >= 0) rc = make(j, temp, run_id, dumps_n, flush);
    if (rc < 0 && temp) unlink(temp);
    free(temp);
    if (rc < 0)
        io_journal_end(j, false);
    else
        *out = j;
    return rc;
}

int io_journal_add(struct io_journal *j, int64_t d, int64_t step, const uint64_t *digest,
                   int64_t complete_n, int64_t durable_n, bool flush)
{
    uint64_t *w = j->word;
    w[NUMBER] = (uint64_t)j->records_n + 1;
    w[DUMP] = (uint64_t)d;
    w[STEP] = (uint64_t)step;
    w[COMPLETE] = (uint64_t)complete_n;
    w[DURABLE] = (uint64_t)durable_n;
    memcpy(w + DIGEST, digest, (size_t)digest_words(j->n) * sizeof *w);
    w[words_n(j->n)] = sum_of(w, j->n);
    swap_words(w, j->n);
    TRY(write_at(j, w, j->record_bytes, SECTOR + j->records_n * j->record_bytes));
    j->records_n++;
    while (flush && fdatasync(j->fd) != 0)
        if (errno != EINTR) return err_set_errno(ERR_IO, errno, "fdatasync %s", j->path);
    return 0;
}

void io_journal_end(struct io_journal *j, bool remove)
{
    if (!j) return;
    if (remove) unlink(j->path);
    if (j->fd >= 0) close(j->fd);
    free(j->path);
    free(j->word);
    free(j);
}

/* ------------------------------------------------------------------ reading */

struct reader {
    const char *path;
    int fd;
    int64_t n, dumps_n, planned_n; /* dumps_n: so far */
    int64_t complete_n, durable_n;
    uint64_t *word;
    json_t *dumps;
};

/* Returns 1, 0 where the file ends before, or ERR_IO. */
static int read_at(const struct reader *r, void *to, int64_t bytes, int64_t offset)
{
    struct io_fd_fault fault;
    int64_t requests_n = 0;
    const struct io_want want = {to, bytes, offset, bytes};
    if (io_fd_get(r->fd, want, 1, &requests_n, &fault) == 0) return 1;
    if (fault.errnum == IO_FD_ENDED) return 0;
    return err_set_errno(ERR_IO, fault.errnum,
                         "pread of %" PRId64 " bytes at offset %" PRId64 " of %s", fault.bytes,
                         fault.offset, r->path);
}

static json_t *axis(const uint64_t *word, int64_t count)
{
    char *text = malloc((size_t)count * DIGITS + 1);
    for (int64_t w = 0; text && w < count; w++)
        sprintf(text + w * DIGITS, "%016" PRIx64, word[w]);
    json_t *said = text ? json_string(text) : NULL;
    free(text);
    return said;
}

/* The record that was read last: next or again the last dump, and what is claimed now. */
static bool fits(const struct reader *r, int64_t number)
{
    const uint64_t *w = r->word;
    if (w[words_n(r->n)] != sum_of(w, r->n) || w[NUMBER] != (uint64_t)number) return false;
    const bool next = w[DUMP] == (uint64_t)r->dumps_n && r->dumps_n < r->planned_n;
    const json_t *last = json_array_get(r->dumps, (size_t)r->dumps_n - 1); /* NULL: none */
    const bool again = last && w[DUMP] == (uint64_t)r->dumps_n - 1 &&
                       w[STEP] == (uint64_t)json_integer_value(json_object_get(last, "step"));
    return ((next && w[STEP] <= INT64_MAX) || again) && w[COMPLETE] <= w[DUMP] + 1 &&
           w[DURABLE] <= w[COMPLETE];
}

static int add_record(struct reader *r)
{
    const uint64_t *w = r->word, *digest = w + DIGEST;
    r->complete_n = (int64_t)w[COMPLETE];
    r->durable_n = (int64_t)w[DURABLE];
    if (w[DUMP] < (uint64_t)r->dumps_n) return 0;
    json_t *one =
        json_pack("{sI sb sb s{so so so so}}", "step", (json_int_t)w[STEP], "complete", 0,
                  "durable", 0, "digest", "i", axis(digest, r->n), "j", axis(digest + r->n, r->n),
                  "k", axis(digest + 2 * r->n, r->n), "m", axis(digest + 3 * r->n, IO_NCOMP));
    r->dumps_n++;
    return one && json_array_append_new(r->dumps, one) == 0 ? 0 : ERR_NOMEM;
}

/* What is claimed in the manifest stays so. */
static int claim(const struct reader *r)
{
    int rc = 0;
    for (int64_t d = 0; d < r->complete_n; d++) {
        json_t *one = json_array_get(r->dumps, (size_t)d);
        rc |= json_object_set_new(one, "complete", json_true());
        if (d < r->durable_n) rc |= json_object_set_new(one, "durable", json_true());
    }
    return rc == 0 ? 0 : ERR_NOMEM;
}

static int read_records(struct reader *r)
{
    const int64_t bytes = record_bytes(r->n);
    int there = 1;
    for (int64_t number = 1; there > 0; number++) {
        TRY(there = read_at(r, r->word, bytes, SECTOR + (number - 1) * bytes));
        swap_words(r->word, r->n);
        if (there == 0 || !fits(r, number)) break;
        TRY(add_record(r));
    }
    return claim(r);
}

/* Whether the file is the journal of that run: 1, 0 or ERR_IO. */
static int is_of(const struct reader *r, const char *run_id)
{
    char head[SECTOR + 1] = "", want[SECTOR];
    struct stat st;
    const int length = snprintf(want, sizeof want, MARK "%s\n", run_id);
    if (fstat(r->fd, &st) != 0 || !S_ISREG(st.st_mode)) return 0;
    const int there = read_at(r, head, SECTOR, 0);
    return there > 0 ? length < SECTOR && strcmp(head, want) == 0 : there;
}

static int merge(struct reader *r, json_t *root, const char *run_id)
{
    r->fd = open(r->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (r->fd < 0 && (errno == ENOENT || errno == ELOOP)) return 0;
    if (r->fd < 0) return err_set_errno(ERR_IO, errno, "cannot open %s", r->path);
    int rc = is_of(r, run_id);
    if (rc > 0) {
        r->word = calloc(1, (size_t)record_bytes(r->n));
        rc = r->word ? read_records(r) : ERR_NOMEM;
        free(r->word);
        if (rc == 0) rc = json_object_del(root, "journal") == 0;
    }
    close(r->fd);
    return rc;
}

int io_journal_merge(const char *manifest, json_t *root)
{
    const char *run_id = json_string_value(json_object_get(root, "run_id"));
    struct reader r = {.n = json_integer_value(json_object_get(root, "n")),
                       .planned_n = json_integer_value(json_object_get(root, "dumps_planned")),
                       .dumps = json_object_get(root, "dumps")};
    if (!run_id || r.n < 1 || r.n > IO_N_MAX || !json_is_array(r.dumps)) return 0; /* damaged */
    char *path = journal_path(manifest);
    r.path = path;
    r.dumps_n = (int64_t)json_array_size(r.dumps);
    const int rc = path ? merge(&r, root, run_id) : ERR_NOMEM;
    free(path);
    return rc == ERR_NOMEM ? no_memory(manifest) : rc;
}
