/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may be written over and what not, the lock, the manifest from step to step. */
#include "mpi_io_common.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "io/target/journal.h"
#include "io/target/place.h"

static const int slabs_z[3] = {1, 1, 0};

static int setup(void **state)
{
    (void)state;
    err_clear();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_empty();
    return 0;
}

/* Rank 0 makes a file with a text, or an empty one. */
static void put(const char *path, const char *text)
{
    FILE *file = rank == 0 ? fopen(path, "w") : NULL;
    if (file) {
        fputs(text, file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Whether the file holds just this text. */
static int holds(const char *path, const char *text)
{
    char got[256] = "";
    FILE *file = rank == 0 ? fopen(path, "r") : NULL;
    size_t len = file ? fread(got, 1, sizeof got - 1, file) : 0;
    if (file) fclose(file);
    return said_by_0(len == strlen(text) && strcmp(got, text) == 0);
}

static struct io_spec posix_spec(const char *path)
{
    return spec_for(path, "posix", 9, slabs_z);
}

/* Opening is refused with this code and words, the same on every rank. */
static void assert_refused(const struct io_spec *s, int code, const char *words)
{
    struct io_file *f = NULL;
    err_clear();
    int rc = io_file_open(&f, MPI_COMM_WORLD, s);
    int good = rc == code && !f && strstr(err_message(), words);
    if (!good) {
        print_error("%s: code %d, message '%s'\n", s->path ? s->path : "", rc, err_message());
    }
    assert_true(said_by_all(good));
    err_clear();
}

static void assert_written(const struct io_spec *s)
{
    struct io_file *f = NULL;
    int rc = write_all(&f, s);
    if (rc < 0) print_error("%s\n", err_message());
    assert_int_equal(rc, 0);
    io_file_free(f);
    assert_true(file_is_right(s, s->dumps_n));
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    static const char *const no_equals[] = {"cb_nodes"}, *const no_key[] = {"=3"};
    const struct io_spec good = posix_spec(in_scratch("dumps.bin"));
    struct io_spec s = good;
    s.writer = "nope";
    assert_refused(&s, ERR_USAGE, "--io 'nope': no such writer");
    s.writer = "check";
    assert_refused(&s, ERR_USAGE, "check:NAME");
    s.writer = NULL;
    assert_refused(&s, ERR_USAGE, "no such writer");
    s = good, s.tuning.group = -1;
    assert_refused(&s, ERR_USAGE, "group");
    s = good, s.dumps_n = 0;
    assert_refused(&s, ERR_USAGE, "no dump");
    s = good, s.dumps_n = INT64_MAX / 1000;
    assert_refused(&s, ERR_USAGE, "2^63");
    s = good, s.n = 0;
    assert_refused(&s, ERR_USAGE, "out of range");
    s = good, s.box.n[2]++, s.box.lo[2] = 9 - s.box.n[2] + 1;
    assert_refused(&s, ERR_USAGE, "outside");
    s = good, s.box.n[0]--;
    assert_refused(&s, ERR_USAGE, "boxes hold");
    s = good, s.hints_n = 1, s.hints = no_equals;
    assert_refused(&s, ERR_USAGE, "KEY=VALUE");
    s.hints = no_key;
    assert_refused(&s, ERR_USAGE, "KEY=VALUE");
    s = good, s.n = 7328, s.layout = IO_RECORDS;
    assert_refused(&s, ERR_USAGE, "7327");
    assert_int_equal(names_in_scratch(), 0);
}

static void bad_paths_are_refused(void **state)
{
    (void)state;
    struct io_spec s = posix_spec("");
    assert_refused(&s, ERR_USAGE, "--out");
    s.path = NULL;
    assert_refused(&s, ERR_USAGE, "--out");
    s.path = in_scratch("a:b.bin");
    assert_refused(&s, ERR_USAGE, "':'");
    s.path = in_scratch("");
    assert_refused(&s, ERR_USAGE, "directory");
    s.path = scratch;
    assert_refused(&s, ERR_USAGE, "is a directory");
    s.path = in_scratch("missing/dumps.bin");
    assert_refused(&s, ERR_IO, "missing");
    s.path = "/dev/null";
    assert_refused(&s, ERR_USAGE, "a device");
    s.path = "/proc/dumps.bin";
    assert_refused(&s, ERR_IO, "/proc");
    s.path = in_scratch("fifo");
    if (rank == 0) mkfifo(s.path, 0666);
    assert_refused(&s, ERR_USAGE, "a FIFO");
    s.force = true;
    assert_refused(&s, ERR_USAGE, "a FIFO");
    assert_int_equal(names_in_scratch(), 1);
    put(in_scratch("plain"), "x");
    s.path = in_scratch("plain/dumps.bin");
    assert_refused(&s, ERR_IO, "plain");
}

static void somebody_elses_file_is_untouched(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("thesis.bin"));
    put(s.path, "three years of work");
    assert_refused(&s, ERR_USAGE, "--force");
    assert_true(holds(s.path, "three years of work"));
    assert_int_equal(names_in_scratch(), 1);
    assert_int_equal(io_file_remove(MPI_COMM_WORLD, s.path, NULL, NULL), ERR_USAGE);
    assert_true(holds(s.path, "three years of work"));
    s.force = true;
    assert_written(&s);
}

/* Also when the manifest's place is taken by something else. */
static void somebody_elses_manifest_is_untouched(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "not JSON",
                                        "{}",
                                        "[1]",
                                        "{\"schema\": \"nht1-dump/1\"}",
                                        "{\"schema\": \"nht1-dump/1\", \"file\": \"other.bin\"}",
                                        "{\"schema\": \"nht1-bt/1\", \"file\": \"dumps.bin\"}"};
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    const char *manifest = in_scratch("dumps.bin.json");
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        put(manifest, texts[t]);
        assert_refused(&s, ERR_USAGE, "not a manifest");
        assert_true(holds(manifest, texts[t]));
        assert_int_equal(names_in_scratch(), 1);
    }
    s.force = true;
    assert_written(&s);
    scratch_empty();
    manifest = in_scratch("dumps.bin.json");
    if (rank == 0) mkdir(manifest, 0777);
    assert_refused(&s, ERR_USAGE, "in the way");
    assert_int_equal(names_in_scratch(), 1);
}

static void our_own_file_is_taken_again(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    assert_written(&s);
    s.dumps_n = 5; /* longer */
    s.writer = "serial";
    assert_written(&s);
    s.dumps_n = 1; /* shorter */
    s.layout = IO_RECORDS;
    assert_written(&s);
    assert_int_equal(names_in_scratch(), 2);
}

static void an_empty_file_is_taken(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    put(s.path, "");
    assert_written(&s);
}

static void links_lead_only_to_files_of_ours(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("link.bin"));
    const char *real = in_scratch("real.bin");
    if (rank == 0) assert_int_equal(symlink(real, s.path), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    assert_refused(&s, ERR_IO, "symbolic link");
    put(real, "text");
    assert_refused(&s, ERR_USAGE, "--force");
    assert_true(holds(real, "text"));
    put(real, "");
    assert_refused(&s, ERR_USAGE, "--force");
    if (rank == 0) unlink(real);
    MPI_Barrier(MPI_COMM_WORLD);
    struct io_spec direct = posix_spec(real);
    assert_written(&direct);
    assert_written(&s);
    assert_false(there(in_scratch("link.bin.json")));
    assert_true(there(in_scratch("real.bin.json")));
}

/* Between the proof of room and the taking: neither the old file, which is used again, nor the new
 * one may be written to then. */
static void a_file_put_there_meanwhile_is_not_taken(void **state)
{
    (void)state;
    const char *path = in_scratch("dumps.bin"), *other = in_scratch("other.bin");
    const char *stem = in_scratch("dumps.bin.nht1");
    struct io_place p = IO_PLACE_NONE;
    int good = 1;
    put(path, "");
    put(other, "work");
    if (rank == 0) {
        good = io_place_prove(&p, path, stem, 4, true, NULL) == 0 && rename(other, path) == 0 &&
               io_place_take(&p) == ERR_IO;
        io_place_undo(&p);
        err_clear();
    }
    assert_true(said_by_0(good));
    assert_true(holds(path, "work"));
    assert_int_equal(names_in_scratch(), 1);
}

/* Makes the lock file and holds it as another process would, until told. */
static void held_lock_refuses(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    int fd = -1;
    if (rank == 0) {
        fd = open(in_scratch("dumps.bin.lock"), O_CREAT | O_RDWR, 0666);
        flock(fd, LOCK_EX);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    assert_refused(&s, ERR_IO, "another run");
    assert_false(there(s.path));
    assert_true(there(in_scratch("dumps.bin.lock")));
    if (fd >= 0) close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    assert_written(&s); /* a lock file without a holder is in nobody's way */
    assert_false(there(in_scratch("dumps.bin.lock")));
}

static void second_opener_is_refused(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    struct io_file *f = NULL;
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), 0);
    assert_true(there(in_scratch("dumps.bin.lock")));
    assert_refused(&s, ERR_IO, "another run");
    assert_int_equal(io_file_remove(MPI_COMM_WORLD, s.path, NULL, NULL), ERR_IO);
    err_clear();
    for (int64_t d = 0; d < 3; d++) {
        assert_int_equal(write_dump(f, &s, d), 0);
    }
    assert_int_equal(io_file_end(f), 0);
    io_file_free(f);
    assert_true(file_is_right(&s, 3));
    assert_int_equal(names_in_scratch(), 2);
}

/* The run's number, from the record. */
static void write_and_tell(const struct io_spec *s, char id[64])
{
    struct io_file *f = NULL;
    assert_int_equal(write_all(&f, s), 0);
    json_t *record = io_file_json(f);
    const char *text = json_string_value(json_object_get(record, "run_id"));
    snprintf(id, 64, "%s", text ? text : "");
    json_decref(record);
    io_file_free(f);
}

static void another_runs_file_is_not_removed(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    char first[64], second[64];
    write_and_tell(&s, first);
    assert_int_equal(strlen(first), 32);
    assert_true(said_by_0(rank != 0 || io_file_is_of_run(s.path, first)));
    write_and_tell(&s, second);
    assert_true(said_by_0(rank != 0 || !io_file_is_of_run(s.path, first)));
    assert_int_equal(io_file_remove(MPI_COMM_WORLD, s.path, first, NULL), 0);
    assert_true(file_is_right(&s, 3));
    assert_int_equal(names_in_scratch(), 2);
    assert_int_equal(io_file_remove(MPI_COMM_WORLD, s.path, second, NULL), 0);
    assert_int_equal(names_in_scratch(), 0);
    assert_true(said_by_0(rank != 0 || !io_file_is_of_run(s.path, second)));
}

static void somebody_elses_lock_file_is_untouched(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    put(in_scratch("dumps.bin.lock"), "mine");
    assert_refused(&s, ERR_IO, "in the way");
    assert_true(holds(in_scratch("dumps.bin.lock"), "mine"));
}

/* The manifest with its journal as rank 0 reads it, on rank 0; an empty object elsewhere. */
static json_t *manifest_of(const struct io_spec *s)
{
    char path[1024];
    snprintf(path, sizeof path, "%s.json", s->path);
    json_t *root = rank == 0 ? json_load_file(path, JSON_REJECT_DUPLICATES, NULL) : json_object();
    if (json_is_true(json_object_get(root, "journal"))) io_journal_merge(path, root);
    return root ? root : json_object();
}

/* Steps, completeness and durability of the dumps as text, "5cd 10c". */
static const char *dumps_of(const struct io_spec *s)
{
    static char text[256];
    json_t *root = manifest_of(s), *dump;
    size_t d, used = 0;
    text[0] = 0;
    json_array_foreach(json_object_get(root, "dumps"), d, dump)
    {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d%s%s", d ? " " : "",
                                 (int)json_integer_value(json_object_get(dump, "step")),
                                 json_is_true(json_object_get(dump, "complete")) ? "c" : "",
                                 json_is_true(json_object_get(dump, "durable")) ? "d" : "");
    }
    json_decref(root);
    MPI_Bcast(text, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

static void check_states(enum io_sync sync, const char *const want[4])
{
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    struct io_file *f = NULL;
    s.sync = sync;
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), 0);
    assert_true(there(in_scratch("dumps.bin.json")));
    for (int64_t d = 0; d < 3; d++) {
        assert_int_equal(write_dump(f, &s, d), 0);
        assert_string_equal(dumps_of(&s), want[d]);
    }
    assert_int_equal(io_file_end(f), 0);
    assert_string_equal(dumps_of(&s), want[3]);
    io_file_free(f);
    assert_string_equal(dumps_of(&s), want[3]);
}

/* A dump appears at the call after it; opening withdraws what the last run claimed. */
static void manifest_follows_the_dumps(void **state)
{
    (void)state;
    static const char *const none[] = {"", "5c", "5c 10c", "5c 10c 15c"};
    static const char *const dump[] = {"", "5cd", "5cd 10cd", "5cd 10cd 15cd"};
    static const char *const end[] = {"", "5c", "5c 10c", "5cd 10cd 15cd"};
    check_states(IO_SYNC_NONE, none);
    check_states(IO_SYNC_DUMP, dump);
    check_states(IO_SYNC_END, end);
}

static int text_is(const json_t *root, const char *key, const char *want)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text && strcmp(text, want) == 0;
}

static int number_is(const json_t *root, const char *key, int64_t want)
{
    const json_t *value_of = json_object_get(root, key);
    return json_is_integer(value_of) && json_integer_value(value_of) == want;
}

/* The digest of dump d, all values visited one by one. */
static void oracle_digest(int64_t n, int64_t d, uint64_t *w)
{
    for (int64_t c = 0; c < 5 * n * n * n; c++) {
        int64_t m = c % 5, i = c / 5 % n, j = c / 5 / n % n, k = c / 5 / n / n;
        double v = value(i, j, k, m, d);
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        uint64_t h = digest_hash(bits, (uint64_t)c);
        w[i] += h;
        w[n + j] += h;
        w[2 * n + k] += h;
        w[3 * n + m] += h;
    }
}

static int words_are(const json_t *digest, const char *key, const uint64_t *w, int64_t count)
{
    const char *hex = json_string_value(json_object_get(digest, key));
    int same = hex && strlen(hex) == (size_t)(16 * count);
    for (int64_t i = 0; same && i < count; i++) {
        char want[17];
        snprintf(want, sizeof want, "%016llx", (unsigned long long)w[i]);
        same = memcmp(hex + 16 * i, want, 16) == 0;
    }
    return same;
}

static int digests_are_right(const json_t *root, int64_t n)
{
    size_t d;
    json_t *dump;
    int right = json_array_size(json_object_get(root, "dumps")) == 3;
    json_array_foreach(json_object_get(root, "dumps"), d, dump)
    {
        const json_t *digest = json_object_get(dump, "digest");
        uint64_t *w = calloc((size_t)digest_words(n), sizeof *w);
        oracle_digest(n, (int64_t)d, w);
        right = right && words_are(digest, "i", w, n) && words_are(digest, "j", w + n, n) &&
                words_are(digest, "k", w + 2 * n, n) && words_are(digest, "m", w + 3 * n, 5);
        free(w);
    }
    return right;
}

static void manifest_says_what_the_file_is(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    s.layout = IO_RECORDS;
    s.dt = 0.0003;
    assert_written(&s);
    json_t *m = manifest_of(&s);
    const char *id = json_string_value(json_object_get(m, "run_id"));
    int right =
        rank != 0 ||
        (text_is(m, "schema", "nht1-dump/1") && text_is(m, "file", "dumps.bin") &&
         text_is(m, "layout", "records") && text_is(m, "endian", "little") &&
         text_is(m, "writer", "posix") && text_is(m, "kernel", "1/generic") &&
         text_is(m, "hash", "nht1-h64/1") && number_is(m, "n", 9) &&
         number_is(m, "components", 5) && number_is(m, "word_bytes", 8) &&
         number_is(m, "dump_bytes", 9 * (40 * 81 + 8)) && number_is(m, "dumps_planned", 3) &&
         number_is(m, "steps", 50) && number_is(m, "interval", 5) && id &&
         strspn(id, "0123456789abcdef") == 32 && !id[32]);
    right = right && (rank != 0 || json_real_value(json_object_get(m, "dt")) == 0.0003);
    assert_true(said_by_all(right));
    int digests = rank != 0 || digests_are_right(m, 9);
    assert_true(said_by_all(digests));
    json_decref(m);
}

/* A run that ends by itself early leaves its complete dumps, and no lock. */
static void a_short_run_keeps_its_dumps(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    struct io_file *f = NULL;
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), 0);
    assert_int_equal(write_dump(f, &s, 0), 0);
    assert_int_equal(io_file_end(f), 0);
    io_file_free(f);
    assert_true(file_is_right(&s, 1));
    assert_string_equal(dumps_of(&s), "5c");
    assert_int_equal(names_in_scratch(), 2);
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), 0);
    io_file_free(f); /* without a word */
    assert_string_equal(dumps_of(&s), "");
}

static void dumps_beyond_the_plan_are_refused(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    struct io_file *f = NULL;
    s.dumps_n = 1;
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), 0);
    assert_int_equal(write_dump(f, &s, 0), 0);
    assert_int_equal(write_dump(f, &s, 1), ERR_INVALID);
    assert_int_equal(io_file_end(f), 0);
    assert_int_equal(write_dump(f, &s, 1), ERR_INVALID);
    io_file_free(f);
    io_file_free(NULL);
    assert_true(file_is_right(&s, 1));
}

/* A file that does not fit is refused and what was there stays. */
static void too_little_space_harms_nothing(void **state)
{
    (void)state;
    struct io_spec s = posix_spec(in_scratch("dumps.bin"));
    assert_written(&s);
    struct io_spec huge = spec_for(s.path, "posix", 1000, slabs_z);
    huge.dumps_n = 1000000;
    assert_refused(&huge, ERR_IO, "free");
    huge = posix_spec(s.path);
    huge.dumps_n = INT64_C(1) << 43; /* their times would fill any memory */
    assert_refused(&huge, ERR_IO, "free");
    assert_true(file_is_right(&s, 3));
    assert_string_equal(dumps_of(&s), "5c 10c 15c");
    assert_int_equal(names_in_scratch(), 2);
}

#define IO_TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        IO_TEST(bad_arguments_are_refused),
        IO_TEST(bad_paths_are_refused),
        IO_TEST(somebody_elses_file_is_untouched),
        IO_TEST(somebody_elses_manifest_is_untouched),
        IO_TEST(our_own_file_is_taken_again),
        IO_TEST(an_empty_file_is_taken),
        IO_TEST(links_lead_only_to_files_of_ours),
        IO_TEST(held_lock_refuses),
        IO_TEST(second_opener_is_refused),
        IO_TEST(somebody_elses_lock_file_is_untouched),
        IO_TEST(manifest_follows_the_dumps),
        IO_TEST(manifest_says_what_the_file_is),
        IO_TEST(a_short_run_keeps_its_dumps),
        IO_TEST(dumps_beyond_the_plan_are_refused),
        IO_TEST(too_little_space_harms_nothing),
        IO_TEST(another_runs_file_is_not_removed),
        IO_TEST(a_file_put_there_meanwhile_is_not_taken),
    };
    tests_begin(&argc, &argv);
    return tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
