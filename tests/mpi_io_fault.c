/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One rank fails: every rank returns the same code with the same message, nobody waits for ever,
 * and the manifest claims no more than what is in the file. */
#include "mpi_io_common.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "fault_writer.h"
#include "io/aggregate.h"
#include "io/target/journal.h"
#include "skip.h"

static const int slabs_x[3] = {0, 1, 1};

static int setup(void **state)
{
    (void)state;
    err_clear();
    memset(&fault, 0, sizeof fault);
    memset(&pwrite_fault, 0, sizeof pwrite_fault);
    memset(&pread_fault, 0, sizeof pread_fault);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memset(&pwrite_fault, 0, sizeof pwrite_fault);
    memset(&pread_fault, 0, sizeof pread_fault);
    scratch_empty();
    return 0;
}

/* The same code and message on every rank, the message naming the failing rank. */
static void assert_agreed(int rc, int code, int bad, const char *words)
{
    char first[ERR_MESSAGE_MAX], start[64];
    snprintf(first, sizeof first, "%s", err_message());
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(start, sizeof start, "rank %d on ", bad);
    int good = rc == code && strcmp(first, err_message()) == 0 &&
               strncmp(first, start, strlen(start)) == 0 && strstr(first, words) != NULL;
    if (!good) print_error("rank %d: code %d, message '%s'\n", rank, rc, err_message());
    assert_true(said_by_all(good));
}

/* "complete" of the dumps in the manifest and its journal as digits, "110"; "-" when there is no manifest. */
static const char *dumps_in_manifest(const char *path)
{
    static char text[64];
    char name[1024];
    snprintf(name, sizeof name, "%s.json", path);
    snprintf(text, sizeof text, "-");
    json_t *root = rank == 0 ? json_load_file(name, 0, NULL) : NULL;
    if (root && json_is_true(json_object_get(root, "journal"))) io_journal_merge(name, root);
    size_t d, used = 0;
    json_t *dump;
    json_array_foreach(json_object_get(root, "dumps"), d, dump)
    {
        text[used++] = json_is_true(json_object_get(dump, "complete")) ? '1' : '0';
    }
    if (root) text[used] = 0;
    json_decref(root);
    MPI_Bcast(text, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

static int write_all_with(struct io_file **f, const struct io_spec *s)
{
    TRY(io_file_open_with(f, MPI_COMM_WORLD, s, &fault_writer));
    for (int64_t d = 0; d < s->dumps_n; d++) {
        TRY(write_dump(*f, s, d));
    }
    return io_file_end(*f);
}

/* One planned failure; afterwards the file's functions go on returning the same. */
static void check_fault(const char *inner, enum fault_call call, int nth, int bad)
{
    struct io_spec s = spec_for(in_scratch("dumps.bin"), "fault", 9, slabs_x);
    s.sync = call == FAULT_SYNC && nth > 1 ? IO_SYNC_DUMP : IO_SYNC_END;
    struct io_file *f = NULL;
    err_clear();
    fault = (struct fault_plan){.call = call, .nth = nth, .rank = bad, .inner = inner};
    int rc = write_all_with(&f, &s);
    assert_agreed(rc, ERR_IO, bad, "planned failure");
    if (call == FAULT_OPEN) {
        assert_null(f);
        assert_int_equal(names_in_scratch(), 0);
        return;
    }
    assert_int_equal(io_file_end(f), ERR_IO);
    if (call == FAULT_WRITE) {
        assert_int_equal(write_dump(f, &s, 0), ERR_IO);
        char want[8] = "";
        for (int d = 1; d <= nth; d++) {
            strcat(want, d == nth ? "0" : "1");
        }
        assert_string_equal(dumps_in_manifest(s.path), want);
    }
    io_file_free(f);
    assert_int_equal(names_in_scratch(), 2);
    assert_int_equal(fault.made[FAULT_CLOSE], 1);
    scratch_empty();
}

static void failure_of_one_rank_reaches_all(void **state)
{
    (void)state;
    static const char *const inner[] = {"posix", "token", "serial", "mpiio"};
    static const enum fault_call calls[] = {FAULT_OPEN, FAULT_WRITE, FAULT_SYNC, FAULT_CLOSE};
    for (int i = 0; i < 4; i++) {
        for (int c = 0; c < 4; c++) {
            check_fault(inner[i], calls[c], 1, size - 1);
        }
    }
}

static void failure_in_any_dump_on_any_rank(void **state)
{
    (void)state;
    for (int nth = 1; nth <= 3; nth++) {
        for (int bad = 0; bad < size; bad++) {
            check_fault("posix", FAULT_WRITE, nth, bad);
        }
        check_fault("token", FAULT_SYNC, nth, 0);
    }
}

/* A pwrite that fails on one rank. The serial writer writes on rank 0 alone. */
static void check_pwrite_error(const char *writer, int errnum, int bad, int group)
{
    struct io_spec s = spec_for(in_scratch("dumps.bin"), writer, 9, slabs_x);
    struct io_file *f = NULL;
    s.tuning.group = group;
    err_clear();
    pwrite_fault = (struct pwrite_plan){0};
    if (rank == bad) pwrite_fault = (struct pwrite_plan){.nth = 1, .errnum = errnum};
    int rc = write_all(&f, &s);
    assert_agreed(rc, ERR_IO, bad, "pwrite");
    assert_non_null(strstr(err_message(), "dumps.bin"));
    assert_non_null(strstr(err_message(), strerror(errnum)));
    assert_string_equal(dumps_in_manifest(s.path), "0");
    io_file_free(f);
    scratch_empty();
}

static void errors_of_pwrite_are_everybodys(void **state)
{
    (void)state;
    check_pwrite_error("serial", EIO, 0, 1);
    check_pwrite_error("serial", ENOSPC, 0, 1);
    for (int bad = 0; bad < size; bad++) {
        check_pwrite_error("posix", ENOSPC, bad, 1);
        if (size <= IO_AGGREGATORS_PER_NODE) check_pwrite_error("twophase", ENOSPC, bad, 1);
        check_pwrite_error("token", EIO, bad, 1);
        check_pwrite_error("token-gather", EIO, bad, 1);
        check_pwrite_error("check:token", EDQUOT, bad, 2);
    }
}

/* Dumps claimed by the manifest, which must be in the file as they should be. */
static int claims_are_true(const struct io_spec *s, int *claims)
{
    const char *dumps = dumps_in_manifest(s->path);
    *claims = (int)strspn(dumps, "1");
    return strchr(dumps + *claims, '1') == NULL && file_is_right(s, *claims);
}

/* A writer in the background meets an error at any of its writes: it comes to light later, on every
 * rank, and no dump is claimed that was still in memory. */
static void check_late_error(const char *writer, bool direct, int nth, int bad)
{
    struct io_spec s = spec_for(in_scratch("dumps.bin"), writer, 9, slabs_x);
    struct io_file *f = NULL;
    int claims;
    s.dumps_n = 4;
    s.tuning = (struct io_tuning){.aggregators = size, .buffer_bytes = 4096, .direct = direct};
    err_clear();
    pwrite_fault = (struct pwrite_plan){0};
    if (rank == bad)
        pwrite_fault = (struct pwrite_plan){.nth = nth, .errnum = ENOSPC, .from_then = true};
    int rc = write_all(&f, &s);
    assert_agreed(rc, ERR_IO, bad, "pwrite");
    io_file_free(f);
    assert_true(claims_are_true(&s, &claims));
    assert_true(claims < 4);
    scratch_empty();
}

static void errors_in_the_background_are_everybodys(void **state)
{
    (void)state;
    for (int bad = 0; bad < size; bad++) {
        for (int nth = 1; nth <= 4; nth++) {
            check_late_error("async", false, nth, bad);
            check_late_error("check:async", false, nth, bad);
            if (bad == 0) check_late_error("async", true, nth, bad);
        }
    }
}

/* The disk stands still on the last rank: the caller goes on until the slots are full, nothing is
 * claimed, and all is there when the disk moves again. */
static void check_held(const char *writer, bool direct)
{
    struct io_spec s = spec_for(in_scratch("dumps.bin"), writer, 12, slabs_x);
    struct io_file *f = NULL;
    int claims;
    s.dumps_n = 4;
    s.tuning = (struct io_tuning){.aggregators = size, .staging = 3, .direct = direct};
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), 0);
    if (rank == size - 1) atomic_store(&pwrite_fault.hold, true);
    for (int64_t d = 0; d < 3; d++) {
        assert_int_equal(write_dump(f, &s, d), 0);
        assert_true(claims_are_true(&s, &claims));
        assert_int_equal(claims, 0);
    }
    atomic_store(&pwrite_fault.hold, false);
    assert_int_equal(write_dump(f, &s, 3), 0);
    assert_true(claims_are_true(&s, &claims));
    assert_int_equal(io_file_end(f), 0);
    assert_true(claims_are_true(&s, &claims));
    assert_int_equal(claims, 4);
    io_file_free(f);
    scratch_empty();
}

static void dumps_in_memory_are_not_claimed(void **state)
{
    (void)state;
    check_held("async", false);
    check_held("async", true);
    check_held("check:async", false);
}

static void a_write_of_nothing_is_an_error(void **state)
{
    (void)state;
    struct io_spec s = spec_for(in_scratch("dumps.bin"), "posix", 9, slabs_x);
    struct io_file *f = NULL;
    if (rank == 0) pwrite_fault = (struct pwrite_plan){.nth = 1, .nothing = true};
    int rc = write_all(&f, &s);
    assert_agreed(rc, ERR_IO, 0, "pwrite");
    io_file_free(f);
}

/* Short writes and interrupts are no errors: the rest follows. */
static void short_writes_go_on(void **state)
{
    (void)state;
    static const struct pwrite_plan plans[] = {{.nth = 1, .half = true},
                                               {.nth = 1, .half = true, .from_then = true},
                                               {.nth = 1, .errnum = EINTR},
                                               {.nth = 2, .errnum = EINTR}};
    static const char *const writers[] = {"serial", "posix", "token", "twophase", "async", "async"};
    for (int p = 0; p < 4; p++) {
        for (int d = 0; d < 6; d++) {
            struct io_spec s = spec_for(in_scratch("dumps.bin"), writers[d], 14, slabs_x);
            s.tuning.direct = d == 5 && p != 1; /* half a block, for ever, gets nowhere */
            struct io_file *f = NULL;
            pwrite_fault = plans[p];
            assert_int_equal(write_all(&f, &s), 0);
            io_file_free(f);
            assert_true(file_is_right(&s, 3));
            scratch_empty();
        }
    }
}

/* A limit on file sizes that comes while the run is on its way, on one rank. */
static void a_size_limit_is_an_error(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    struct io_spec s = spec_for(in_scratch("dumps.bin"), "posix", 9, slabs_x);
    struct io_file *f = NULL;
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 16384;
    assert_int_equal(io_file_open(&f, MPI_COMM_WORLD, &s), 0);
    int rc = write_dump(f, &s, 0);
    if (rc == 0 && rank == size - 1) setrlimit(RLIMIT_FSIZE, &small);
    if (rc == 0) rc = write_dump(f, &s, 1);
    setrlimit(RLIMIT_FSIZE, &before);
    if (rc == 0) rc = io_file_end(f);
    assert_agreed(rc, ERR_IO, size - 1, "pwrite");
    assert_string_equal(dumps_in_manifest(s.path), "10");
    io_file_free(f);
}

/* And one that is there from the beginning is found before the file is made. */
static void a_size_limit_is_seen_at_open(void **state)
{
    (void)state;
    struct io_spec s = spec_for(in_scratch("dumps.bin"), "posix", 9, slabs_x);
    struct io_file *f = NULL;
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 16384;
    setrlimit(RLIMIT_FSIZE, &small);
    int rc = io_file_open(&f, MPI_COMM_WORLD, &s);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_agreed(rc, ERR_IO, 0, "preallocate");
    assert_int_equal(names_in_scratch(), 0);
}

/* Mounts a small file system in memory; 0 when that is not allowed here. */
static int mount_small(const char *path)
{
    int done = 0;
    if (rank == 0 && mkdir(path, 0777) == 0) {
        done = mount("none", path, "tmpfs", 0, "size=256k") == 0;
        if (!done) rmdir(path);
    }
    return said_by_0(done);
}

static void unmount_small(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        umount2(path, MNT_DETACH); // a library may still hold a file of a failed run
        rmdir(path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void a_full_disk_is_seen_at_open(void **state)
{
    (void)state;
    char disk[sizeof scratch + 8];
    snprintf(disk, sizeof disk, "%s/disk", scratch); // in_scratch keeps the last few names alone
    if (!mount_small(disk)) SKIP_NOT_PERMITTED("mounting a file system");
    struct io_spec s = spec_for(in_scratch("disk/dumps.bin"), "mpiio", 9, slabs_x);
    struct io_file *f = NULL;
    s.dumps_n = 10;
    int rc = io_file_open(&f, MPI_COMM_WORLD, &s);
    int empty = !there(s.path) && !there(in_scratch("disk/dumps.bin.json"));
    unmount_small(disk);
    assert_agreed(rc, ERR_IO, 0, "free");
    assert_non_null(strstr(err_message(), "291600 bytes"));
    assert_int_equal(empty, 1);
}

/* Rank 0: the blocks of the dumps are taken away, and another file takes all that is free. */
static void fill_disk(const struct io_spec *s)
{
    const struct container c = container_of(s);
    const int fd = open(s->path, O_RDWR);
    if (fd >= 0)
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, c.offset, c.bytes - c.offset);
    if (fd >= 0) close(fd);
    FILE *filler = fopen(in_scratch("disk/filler"), "wb");
    for (int n = 0; filler && n < 1 << 20; n++) {
        if (fputc(n, filler) == EOF) break;
    }
    if (filler) fclose(filler);
}

/* Writes three dumps to a disk that is full from the moment on when the file has been made. */
static int write_to_full_disk(const char *writer)
{
    struct io_spec s = spec_for(in_scratch("disk/dumps.bin"), writer, 9, slabs_x);
    struct io_file *f = NULL;
    err_clear();
    int rc = io_file_open(&f, MPI_COMM_WORLD, &s);
    if (rank == 0 && rc == 0) fill_disk(&s);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t dump = 0; dump < 3 && rc == 0; dump++) {
        rc = write_dump(f, &s, dump);
    }
    if (rc == 0) rc = io_file_end(f);
    if (rc == 0)
        rc = io_file_settle(f); // OMPIO's collective calls hide the error: the manifest meets it
    io_file_free(f);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(in_scratch("disk/filler"));
    if (rank == 0) unlink(s.path);
    MPI_Barrier(MPI_COMM_WORLD);
    return rc;
}

/* The file's blocks are taken away after it was made, as a copy-on-write file system may do: every
 * writer then meets a full disk while it writes. */
static void a_full_disk_is_seen_while_writing(void **state)
{
    (void)state;
    char disk[sizeof scratch + 8];
    snprintf(disk, sizeof disk, "%s/disk", scratch); // in_scratch keeps the last few names alone
    if (!mount_small(disk)) SKIP_NOT_PERMITTED("mounting a file system");
    const struct io_writer *writer;
    int tried = 0, wrong = 0;
    for (int i = 0; (writer = io_writer_at(i)); i++) {
        if (!(writer->caps & IO_CAP_SERIAL_FILE) || (writer->caps & IO_CAP_WRAPPER)) continue;
        if (!io_writer_usable(writer)) continue;
        const int rc = write_to_full_disk(writer->name);
        if (rc != ERR_IO)
            print_error("%s: code %d on a full disk, '%s'\n", writer->name, rc, err_message());
        tried++;
        wrong += rc != ERR_IO;
    }
    unmount_small(disk);
    assert_true(tried >= 8);
    assert_int_equal(wrong, 0);
}

/* ------------------------------------------------------------------ reading */

static const char *const with_pread[] = {"serial",       "posix",    "token", "check:posix",
                                         "token-gather", "twophase", "async", "perrank"};
#define WITH_PREAD 8

/* What pread number nth of rank bad does, for the duration of a reading. */
static int read_with(const struct io_read_spec *r, int bad, struct pread_plan plan)
{
    err_clear();
    pread_fault = (struct pread_plan){0};
    if (rank == bad) pread_fault = plan;
    const int rc = read_all(r);
    pread_fault.nth = 0;
    return rc;
}

/* Each pread of each rank, or a sample of them: an error and the end of a file are everybody's,
 * short reads and interrupts are none. */
static void check_preads(const struct io_read_spec *r, int first)
{
    for (int bad = 0; bad < size; bad++) {
        assert_int_equal(read_with(r, bad, (struct pread_plan){0}), 0);
        int made = pread_fault.made;
        MPI_Bcast(&made, 1, MPI_INT, bad, MPI_COMM_WORLD);
        const int stride = 1 + made / 4;
        for (int nth = 1 + (first + bad) % stride; nth <= made; nth += stride) {
            const struct pread_plan error = {.nth = nth, .errnum = EIO},
                                    end = {.nth = nth, .nothing = true},
                                    interrupt = {.nth = nth, .errnum = EINTR},
                                    part = {.nth = nth, .half = true};
            assert_agreed(read_with(r, bad, error), ERR_IO, bad, strerror(EIO));
            assert_agreed(read_with(r, bad, end), ERR_IO, bad, "dumps.bin");
            assert_int_equal(read_with(r, bad, interrupt), 0);
            assert_int_equal(read_with(r, bad, part), 0);
        }
    }
}

static void every_pread_may_fail(void **state)
{
    (void)state;
    static const int blocks[3] = {2, 2, 0}, slabs_z[3] = {1, 1, 0};
    for (int w = 0; w < WITH_PREAD; w++) {
        const bool parts = strcmp(with_pread[w], "perrank") == 0;
        struct io_spec s =
            spec_for(in_scratch("dumps.bin"), parts ? "perrank" : "posix", 9, slabs_z);
        struct io_file *f = NULL;
        assert_int_equal(write_all(&f, &s), 0);
        io_file_free(f);
        struct io_read_spec r = reader(&s, with_pread[w], w % 2 ? slabs_x : blocks, size);
        r.dumps_n = 2;
        r.tuning = (struct io_tuning){.aggregators = w % 2 ? 2 : 0, .buffer_bytes = 12000};
        check_preads(&r, w);
        scratch_empty();
    }
}

static void an_error_of_pread_names_dump_offset_and_remedy(void **state)
{
    (void)state;
    struct io_spec s = spec_for(in_scratch("dumps.bin"), "posix", 9, slabs_x);
    struct io_file *f = NULL;
    assert_int_equal(write_all(&f, &s), 0);
    io_file_free(f);
    struct io_read_spec r = reader(&s, "serial", slabs_x, size);
    r.tuning.buffer_bytes = 40 * 729;
    const int rc = read_with(&r, 0, (struct pread_plan){.nth = 2, .errnum = EIO});
    assert_agreed(rc, ERR_IO, 0, "cannot read dump 1 of ");
    assert_non_null(strstr(err_message(), "take another"));
    assert_non_null(strstr(err_message(), "pread of 29160 bytes at offset 29160"));
}

#define IO_TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        IO_TEST(failure_of_one_rank_reaches_all),
        IO_TEST(failure_in_any_dump_on_any_rank),
        IO_TEST(errors_of_pwrite_are_everybodys),
        IO_TEST(errors_in_the_background_are_everybodys),
        IO_TEST(dumps_in_memory_are_not_claimed),
        IO_TEST(a_write_of_nothing_is_an_error),
        IO_TEST(short_writes_go_on),
        IO_TEST(a_size_limit_is_an_error),
        IO_TEST(a_size_limit_is_seen_at_open),
        IO_TEST(a_full_disk_is_seen_at_open),
        IO_TEST(a_full_disk_is_seen_while_writing),
        IO_TEST(every_pread_may_fail),
        IO_TEST(an_error_of_pread_names_dump_offset_and_remedy),
    };
    tests_begin(&argc, &argv);
    return tests_end(cmocka_run_group_tests(tests, NULL, NULL));
}
