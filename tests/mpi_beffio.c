/* SPDX-License-Identifier: GPL-3.0-or-later */
/* b_eff_io at any number of ranks: what it writes is found where the layout says, by way of POSIX
 * calls; a wrong byte, swapped data and a lost write are found and named; segments and patterns far
 * beyond 16 GB are reached. What rank 0 finds out about files is told to all before anybody
 * asserts. */
#include <fcntl.h>
#include <math.h>

#include "base/buffer.h"
#include "companions/beffio/bench.h"
#include "companions/beffio/check.h"
#include "companions/beffio/job.h"

#include "mpi_io_common.h"

#define M_PART (INT64_C(1) << 17)
#define MB_8   ((1 << 20) + 8) /* the longest chunk of type 1 beside M_PART */

static struct beffio_schedule schedule = {
    .definition = BEFFIO_1_X, .t_s = 0.001, .partitions_n = 1};
static struct beffio_files files;

/* Calls of this rank that carried the hint nht1_mark to the library. */
static int views_marked, infos_marked;

static int is_marked(MPI_Info info)
{
    char value[8];
    int flag = 0;
    if (info != MPI_INFO_NULL) MPI_Info_get(info, "nht1_mark", 7, value, &flag);
    return flag != 0;
}

/* Number of this rank among those that opened a file together, for reading. */
static int read_as;

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *fh)
{
    int n;
    MPI_Comm_size(comm, &n);
    if (n > 1 && (mode & MPI_MODE_RDONLY)) MPI_Comm_rank(comm, &read_as);
    return PMPI_File_open(comm, name, mode, info, fh);
}

int MPI_File_set_view(MPI_File fh, MPI_Offset from, MPI_Datatype etype, MPI_Datatype type,
                      const char *native, MPI_Info info)
{
    views_marked += is_marked(info);
    return PMPI_File_set_view(fh, from, etype, type, native, info);
}

int MPI_File_set_info(MPI_File fh, MPI_Info info)
{
    infos_marked += is_marked(info);
    return PMPI_File_set_info(fh, info);
}

/* The longest post of this rank, and how many there were of less than all of a call. */
static int64_t post_most;
static int posts_n;

static void post_note(int count, MPI_Datatype type)
{
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    posts_n++;
    if ((int64_t)count * bytes > post_most) post_most = (int64_t)count * bytes;
}

#define NOTED(call, buffer)                                                                        \
    int MPI_File_##call(MPI_File fh, buffer buf, int count, MPI_Datatype type, MPI_Status *status) \
    {                                                                                              \
        post_note(count, type);                                                                    \
        return PMPI_File_##call(fh, buf, count, type, status);                                     \
    }
NOTED(write, const void *)
NOTED(read, void *)
NOTED(write_all, const void *)
NOTED(read_all, void *)
NOTED(write_ordered, const void *)
NOTED(read_ordered, void *)

static void bench_open(struct beffio_bench *b, bool shared_pointer)
{
    schedule.procs[0] = size;
    files = (struct beffio_files){
        .dir = scratch, .prefix = "t", .rank = rank, .partitions_n = 1, .procs = {size}};
    *b = (struct beffio_bench){.comm = MPI_COMM_WORLD,
                               .rank = rank,
                               .procs = size,
                               .schedule = &schedule,
                               .files = &files,
                               .shared_pointer = shared_pointer,
                               .keeps = rank == 0,
                               .leads_node = rank == 0,
                               .share_bytes = INT64_C(1) << 40,
                               .layout = {.procs = size, .m_part_bytes = M_PART}};
    assert_int_equal(beffio_files_begin(&files, MPI_COMM_WORLD), 0);
    assert_int_equal(beffio_bench_begin(b), 0);
}

static void bench_close(struct beffio_bench *b)
{
    double s;
    for (int t = 0; t < BEFFIO_TYPES; t++)
        assert_int_equal(beffio_files_remove(&files, MPI_COMM_WORLD, 0, (enum beffio_type)t, &s),
                         0);
    beffio_files_end(&files);
    beffio_bench_free(b);
    int left = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    DIR *dir = opendir(scratch);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.') left++;
    if (dir) closedir(dir);
    MPI_Barrier(MPI_COMM_WORLD);
    assert_int_equal(left, 0);
}

static void measure_all(struct beffio_bench *b)
{
    for (int a = 0; a < BEFFIO_ACCESSES; a++)
        assert_int_equal(beffio_bench_access(b, (enum beffio_access)a), 0);
}

/* Wrong words in the files of a type, over all ranks. */
static struct beffio_findings check(const struct beffio_bench *b, enum beffio_type type,
                                    enum beffio_access access, bool sample)
{
    struct beffio_findings mine = {0}, all;
    assert_int_equal(beffio_check_type(b, type, access, sample, &mine), 0);
    assert_int_equal(beffio_findings_sum(b, &mine, &all), 0);
    return all;
}

static void whole_run(bool shared_pointer)
{
    struct beffio_bench b;
    int64_t bytes = 0;
    bench_open(&b, shared_pointer);
    measure_all(&b);
    for (int t = 0; t < BEFFIO_TYPES; t++) {
        const enum beffio_type type = (enum beffio_type)t;
        const struct beffio_findings f = check(&b, type, BEFFIO_REWRITE, false);
        assert_int_equal(f.wrong_n, 0);
        bytes += f.checked_bytes;
        assert_int_equal(check(&b, type, BEFFIO_REWRITE, true).wrong_n, 0);
        /* of the first writing nothing is left */
        assert_true(check(&b, type, BEFFIO_WRITE, false).wrong_n > 0);
        for (int a = 0; a < BEFFIO_ACCESSES; a++) {
            assert_true(b.measured.type[a][t].s > 0);
            assert_int_equal(b.measured.type[a][t].bytes, b.measured.type[0][t].bytes);
        }
    }
    assert_int_equal(bytes, beffio_layout_bytes(&b.layout));
    assert_int_equal(b.findings[BEFFIO_READ].wrong_n, 0);
    assert_true(b.findings[BEFFIO_READ].checked_bytes > 0);
    bench_close(&b);
}

static void all_is_where_it_belongs(void **state)
{
    (void)state;
    whole_run(true);
}

/* The library is given no more than a post at once; all lies where it belongs, and counts and bytes
 * are those of whole calls. Ordered calls cannot be cut: their chunks are. */
static void long_calls_are_made_in_posts(void **state)
{
    (void)state;
    enum { POST = 40 << 10 }; /* below M_PART and 1 MB, and no divisor of either */
    for (int pointer = 0; pointer <= 1 && size <= 3; pointer++) { /* more ranks add only time */
        struct beffio_bench b;
        bench_open(&b, pointer == 1);
        b.post_bytes = POST;
        post_most = posts_n = 0;
        measure_all(&b);
        assert_true(post_most <= (pointer ? MB_8 : POST));
        int64_t calls_n = 0, bytes = 0;
        for (int no = 0; no < BEFFIO_PATTERNS; no++)
            calls_n += BEFFIO_ACCESSES * b.layout.calls[no];
        assert_true(posts_n > calls_n);
        for (int t = 0; t < BEFFIO_TYPES; t++) {
            const struct beffio_findings f = check(&b, (enum beffio_type)t, BEFFIO_REWRITE, false);
            assert_int_equal(f.wrong_n, 0);
            bytes += f.checked_bytes;
        }
        assert_int_equal(bytes, beffio_layout_bytes(&b.layout));
        assert_int_equal(b.layout.shared_m_part_bytes, pointer ? POST / 8192 * 8192 : 0);
        bench_close(&b);
    }
}

/* Each rank finds what the next but one wrote, where that one wrote it. */
static void shifted_reading_finds_the_others_data(void **state)
{
    (void)state;
    struct beffio_bench b;
    bench_open(&b, true);
    b.shift = 2 % size;
    measure_all(&b);
    assert_int_equal(b.findings[BEFFIO_READ].wrong_n, 0);
    assert_true(b.findings[BEFFIO_READ].checked_bytes > 0);
    assert_int_equal(b.rank, rank);
    if (size > 1) assert_int_equal(read_as, (rank + 2) % size);
    bench_close(&b);
}

/* 1 MB + 8 is the longest chunk that cannot be made smaller. */
static void from_2048_processes_on_ompio_is_refused(void **state)
{
    (void)state;
    assert_true(beffio_ordered_most(2047, true) >= MB_8);
    assert_true(beffio_ordered_most(2048, true) < MB_8);
    assert_true(beffio_ordered_most(100000, false) >= MB_8);
}

static void without_shared_pointer_too(void **state)
{
    (void)state;
    if (size <= 3) whole_run(false); /* more ranks add nothing but time */
}

/* Changes bytes of this rank's file of a type, by one rank. */
static void spoil(const struct beffio_bench *b, enum beffio_type type, int by, int64_t offset,
                  int flip)
{
    char path[BEFFIO_PATH_MAX];
    unsigned char byte = 0;
    beffio_files_path(b->files, 0, type, rank, path);
    int flipped = 0;
    if (rank == by) {
        const int fd = open(path, O_RDWR);
        flipped = pread(fd, &byte, 1, (off_t)offset) == 1;
        byte = (unsigned char)(byte ^ flip);
        flipped = flipped && pwrite(fd, &byte, 1, (off_t)offset) == 1;
        close(fd);
    }
    MPI_Bcast(&flipped, 1, MPI_INT, by, MPI_COMM_WORLD);
    assert_true(flipped);
}

/* One flipped bit in the chunk of the last rank, in each pattern of each type. */
static void a_wrong_byte_is_found_and_named(void **state)
{
    (void)state;
    struct beffio_bench b;
    bench_open(&b, true);
    assert_int_equal(beffio_bench_access(&b, BEFFIO_WRITE), 0);
    for (int no = 0; no < BEFFIO_PATTERNS; no++) {
        const struct beffio_pattern p = beffio_pattern(no, M_PART);
        const struct beffio_place at = beffio_place(&b.layout, no);
        if (at.calls_n == 0) continue;
        const int64_t chunk = at.calls_n * at.chunks_per_call - 1;
        const int64_t word = beffio_chunk_offset(&at, size - 1, chunk) + at.chunk_bytes / 16 * 8;
        char words[512], text[64];
        spoil(&b, p.type, size - 1, word + 3, 0x10);
        const struct beffio_findings f = check(&b, p.type, BEFFIO_WRITE, false);
        spoil(&b, p.type, size - 1, word + 3, 0x10);
        assert_int_equal(f.wrong_n, 1);
        assert_int_equal(f.wrong_by_pattern[no], 1);
        assert_int_equal(f.o.pattern, no);
        assert_int_equal(f.o.rank, size - 1);
        assert_int_equal(f.offset_bytes, word);
        assert_int_equal(f.expected ^ f.found, UINT64_C(0x10) << 24);
        beffio_findings_words(&f, words, sizeof words);
        snprintf(text, sizeof text, "pattern %d, data of rank %d, offset %lld", no, size - 1,
                 (long long)word);
        assert_non_null(strstr(words, text));
    }
    bench_close(&b);
}

/* As released, both ends of each chunk are compared after each call that reads; by the papers' definitions the
 * last call alone is, and the rest by the check that follows. Each has its buffers where they belong. */
static void release_2_1_compares_every_call(void **state)
{
    (void)state;
    for (int d = BEFFIO_1_X; d <= BEFFIO_2_1; d++) {
        struct beffio_bench b;
        int64_t wrong_n = 0, spoilt_n = 0;
        const struct beffio_schedule before = schedule;
        schedule.definition = (enum beffio_definition)d;
        schedule.t_s = 1e6; /* space ends the patterns, not time */
        bench_open(&b, true);
        b.evenly = true;
        b.share_bytes = beffio_least_bytes(size, M_PART) + size * (INT64_C(4) << 20);
        assert_int_equal(beffio_bench_access(&b, BEFFIO_WRITE), 0);
        assert_int_equal(beffio_bench_access(&b, BEFFIO_REWRITE), 0);
        schedule = before;
        schedule.definition = (enum beffio_definition)d;
        for (int no = 0; no < BEFFIO_PATTERNS; no++) {
            const struct beffio_place at = beffio_place(&b.layout, no);
            const enum beffio_type type = beffio_pattern(no, M_PART).type;
            if (at.calls_n < 2) continue;
            spoil(&b, type, size - 1, beffio_chunk_offset(&at, size - 1, 0) + at.chunk_bytes - 1,
                  1);
            spoilt_n++;
        }
        assert_true(spoilt_n > 0);
        assert_int_equal(beffio_bench_access(&b, BEFFIO_READ), 0);
        MPI_Allreduce(&b.findings[BEFFIO_READ].wrong_n, &wrong_n, 1, MPI_INT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
        assert_int_equal(wrong_n, d == BEFFIO_2_1 ? spoilt_n : 0);
        bench_close(&b);
        schedule = before;
    }
}

static void buffers_begin_where_they_are_told(void **state)
{
    (void)state;
    static const int offset[] = {0, 8, 16, 4088};
    struct beffio_bench b = {.comm = MPI_COMM_WORLD, .layout = {.m_part_bytes = M_PART}};
    for (int i = 0; i < 4; i++) {
        b.buffer_offset = offset[i];
        assert_int_equal(beffio_bench_begin(&b), 0);
        assert_true(b.offset_bytes[0] == offset[i] && b.offset_bytes[1] == offset[i]);
        assert_int_equal((uintptr_t)b.buf % 4096, offset[i]);
        beffio_bench_free(&b);
    }
    free(malloc(8 << 20)); /* as an earlier part of a program might */
    b.buffer_offset = BUFFER_MALLOC;
    assert_int_equal(beffio_bench_begin(&b), 0);
    assert_in_range((uintptr_t)b.buf % 4096, b.offset_bytes[0], b.offset_bytes[1]);
    beffio_bench_free(&b);
}

/* Data of two ranks, each whole, in each other's place. */
static void swapped_ranks_are_found(void **state)
{
    (void)state;
    struct beffio_layout l = {.procs = 2, .m_part_bytes = M_PART};
    for (int no = 0; no < 25; no++)
        l.calls[no] = 1;
    beffio_layout_segments(&l);
    for (int no = 0; no < 25; no += 12) {
        const struct beffio_place at = beffio_place(&l, no);
        const int64_t bytes = at.chunks_per_call * at.chunk_bytes;
        uint64_t *buf = malloc((size_t)bytes);
        const struct beffio_origin other = {1, no, BEFFIO_WRITE};
        struct beffio_findings f = {0};
        beffio_fill(buf, bytes, &other);
        beffio_stamp(buf, &at, &other, 0);
        struct beffio_expect e = {.o = {0, no, BEFFIO_WRITE}, .procs = 1, .place = at};
        beffio_compare(&e, 0, buf, bytes, &f);
        assert_int_equal(f.wrong_n, bytes / 8);
        char words[512];
        beffio_findings_words(&f, words, sizeof words);
        assert_non_null(strstr(words, "the stamp of rank 1"));
        free(buf);
    }
}

/* A call that was not made, or one too many, shows in the stamps. */
static void a_stale_call_is_found(void **state)
{
    (void)state;
    struct beffio_layout l = {.procs = 1, .m_part_bytes = M_PART, .calls = {1, 1, 1, 1, 3}};
    const struct beffio_place at = beffio_place(&l, 4);
    const int64_t bytes = at.chunks_per_call * at.chunk_bytes;
    const struct beffio_origin o = {0, 4, BEFFIO_READ};
    uint64_t *buf = malloc((size_t)bytes);
    struct beffio_expect e = {.o = o, .procs = 1, .place = at};
    struct beffio_findings f = {0};
    beffio_fill(buf, bytes, &o);
    beffio_stamp(buf, &at, &o, 1);
    beffio_compare(&e, bytes, buf, bytes, &f);
    assert_int_equal(f.wrong_n, 0);
    beffio_compare(&e, 2 * bytes, buf, bytes, &f);
    assert_int_equal(f.wrong_n, at.chunks_per_call);
    free(buf);
}

/* One pattern of a type, moved far into its file by what is said to be before it. */
static void far_pattern(struct beffio_bench *b, int no, enum beffio_access access)
{
    char path[BEFFIO_PATH_MAX];
    const enum beffio_type type = beffio_pattern(no, M_PART).type;
    const struct beffio_place at = beffio_place(&b->layout, no);
    const int64_t bytes = at.chunks_per_call * at.chunk_bytes;
    const struct beffio_origin o = {rank, no, BEFFIO_REWRITE};
    struct beffio_file f = {.comm = MPI_COMM_WORLD,
                            .rank = rank,
                            .procs = size,
                            .type = type,
                            .access = access,
                            .shared_pointer = true,
                            .path = path,
                            .post_bytes = BEFFIO_POST_BYTES};
    beffio_files_path(b->files, 0, type, rank, path);
    assert_int_equal(beffio_file_open(&f), 0);
    assert_int_equal(beffio_file_view(&f, no, &at), 0);
    beffio_fill(b->buf, bytes, &o);
    for (int64_t c = 0; c < at.calls_n; c++) {
        if (access == BEFFIO_READ)
            beffio_poison(b->buf, bytes);
        else
            beffio_stamp(b->buf, &at, &o, c);
        assert_int_equal(beffio_file_call(&f, b->buf), 0);
        struct beffio_findings wrong = {0};
        struct beffio_expect e = {.o = o, .procs = 1, .place = at};
        beffio_compare(&e, c * bytes, b->buf, bytes, &wrong);
        assert_int_equal(wrong.wrong_n, 0);
    }
    assert_int_equal(beffio_file_close(&f), 0);
}

/* Segments of 9 GB and more, and patterns that begin beyond 16 GB; files are sparse. */
static void beyond_16_gb(void **state)
{
    (void)state;
    struct beffio_bench b;
    static const int far[BEFFIO_TYPES] = {4, 12, 20, 28, 37};
    bench_open(&b, true);
    for (int no = 0; no < 25; no++)
        b.layout.calls[no] = 9000;
    b.layout.calls[4] = b.layout.calls[12] = b.layout.calls[20] = 2;
    beffio_layout_segments(&b.layout);
    b.layout.calls[27] = b.layout.calls[36] = 18000; /* 18 GB before */
    b.layout.calls[28] = b.layout.calls[37] = 2;
    b.layout.segment_bytes = INT64_C(40) << 30;
    for (int t = 0; t < BEFFIO_TYPES; t++) {
        const enum beffio_type type = (enum beffio_type)t;
        const struct beffio_place at = beffio_place(&b.layout, far[t]);
        assert_true(beffio_chunk_offset(&at, size - 1, 0) > (t == 2 ? INT64_C(9) : INT64_C(16))
                                                                << 30);
        double made_s;
        assert_int_equal(beffio_files_make(&files, MPI_COMM_WORLD, 0, type, &made_s), 0);
        far_pattern(&b, far[t], BEFFIO_WRITE);
        MPI_Barrier(MPI_COMM_WORLD);
        far_pattern(&b, far[t], BEFFIO_READ);
        MPI_Barrier(MPI_COMM_WORLD);
        struct beffio_expect e = beffio_expect(&b.layout, far[t], rank, BEFFIO_REWRITE);
        const int64_t bytes =
            beffio_place_bytes(&e.place) < 65536 ? beffio_place_bytes(&e.place) : 65536;
        char path[BEFFIO_PATH_MAX];
        struct beffio_findings wrong = {0};
        beffio_files_path(&files, 0, type, rank, path);
        const int fd = open(path, O_RDONLY);
        const ssize_t got = pread(fd, b.buf, (size_t)bytes, (off_t)beffio_expect_offset(&e));
        close(fd);
        assert_int_equal(got, bytes);
        beffio_compare(&e, 0, b.buf, bytes, &wrong);
        assert_int_equal(wrong.wrong_n, 0);
    }
    bench_close(&b);
}

/* What lies there already is not overwritten unless it is ours. */
static void foreign_files_are_refused(void **state)
{
    (void)state;
    char path[BEFFIO_PATH_MAX];
    files = (struct beffio_files){
        .dir = scratch, .prefix = "t", .rank = rank, .partitions_n = 1, .procs = {size}};
    beffio_files_path(&files, 0, BEFFIO_SEGMENTED, rank, path);
    if (rank == 0) {
        const int fd = open(path, O_WRONLY | O_CREAT, 0600);
        if (write(fd, "somebody's data, long enough", 28) != 28) abort();
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    assert_int_equal(beffio_files_begin(&files, MPI_COMM_WORLD), ERR_USAGE);
    assert_non_null(strstr(err_message(), "was not written by this program"));
    beffio_files_end(&files);
    err_clear();
    files.force = true;
    assert_int_equal(beffio_files_begin(&files, MPI_COMM_WORLD), 0);
    beffio_files_end(&files);
}

/* With the view where a pattern has one of its own, else by themselves; in the access, type and
 * chunk size that the line names. */
static void hints_of_a_chunk_size_reach_the_library(void **state)
{
    (void)state;
    struct beffio_bench b;
    struct beffio_hints h;
    static const struct {
        const char *text;
        int views, infos;
    } line[] = {
        {"all write scatter 1032 nht1_mark a\n"       /* pattern 7, with the view */
         "all write segmented on_open nht1_mark a\n", /* for opening alone */
         1, 0},
        {"all rewrite separated 1032 nht1_mark a\n" /* pattern 23 */
         "99 all all all nht1_mark a\n",
         0, 1},
        {"all read shared 1048576 nht1_mark a", 1, 1}, /* pattern 9, with the view, and 11 */
    };
    /* The third line shows nothing that one rank could not, and three ranks nothing that two. */
    const size_t lines_n = size == 1 ? 3 : size == 2 ? 2 : 0;
    for (size_t i = 0; i < lines_n; i++) {
        bench_open(&b, true);
        assert_int_equal(beffio_hints_parse(&h, "hints", line[i].text), 0);
        b.hints = &h;
        views_marked = infos_marked = 0;
        measure_all(&b);
        assert_int_equal(views_marked, line[i].views);
        assert_int_equal(infos_marked, line[i].infos);
        beffio_hints_free(&h);
        bench_close(&b);
    }
}

/* One that space cut short, say, is not what the papers take the largest of. */
static void the_maximum_is_that_of_a_valid_repetition(void **state)
{
    (void)state;
    struct beffio_rep rep[] = {
        {.value = 5, .valid = true}, {.value = 9}, {.value = 7, .valid = true}};
    struct beffio_job job = {.rep = rep, .reps_done = 3};
    bool valid = false;
    assert_true(beffio_job_maximum(&job, &valid) == 7 && valid);
    job.wrong_n = 1;
    assert_true(beffio_job_maximum(&job, &valid) == 7 && !valid);
    rep[0].valid = rep[2].valid = false;
    assert_true(beffio_job_maximum(&job, &valid) == 9 && !valid);
    job.reps_done = 0;
    assert_true(isnan(beffio_job_maximum(&job, &valid)) && !valid);
}

/* A value of a busy machine is valid by its definition, and no good one. */
static void valid_but_disturbed_is_no_good_stamp(void **state)
{
    (void)state;
    struct beffio_part part = {.done = true, .valid = true};
    struct beffio_setup setup = {.schedule = {.definition = BEFFIO_1_X}};
    struct beffio_job job = {.setup = &setup, .part = &part};
    for (int disturbed = 0; disturbed <= 1; disturbed++) {
        job.disturbance.disturbed = disturbed;
        json_t *const list = beffio_job_stamps(&job, &part), *const first = json_array_get(list, 0);
        assert_string_equal(json_string_value(json_object_get(first, "code")), "valid");
        assert_string_equal(json_string_value(json_object_get(first, "severity")),
                            disturbed ? "note" : "good");
        assert_string_equal(json_string_value(json_object_get(first, "sentence")),
                            disturbed ? "Valid by definition 1.x, but disturbed."
                                      : "Valid by definition 1.x.");
        json_decref(list);
    }
}

static int clear(void **state)
{
    (void)state;
    err_clear();
    scratch_empty();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_is_where_it_belongs, clear),
        cmocka_unit_test_setup(shifted_reading_finds_the_others_data, clear),
        cmocka_unit_test_setup(from_2048_processes_on_ompio_is_refused, clear),
        cmocka_unit_test_setup(without_shared_pointer_too, clear),
        cmocka_unit_test_setup(long_calls_are_made_in_posts, clear),
        cmocka_unit_test_setup(a_wrong_byte_is_found_and_named, clear),
        cmocka_unit_test_setup(release_2_1_compares_every_call, clear),
        cmocka_unit_test_setup(buffers_begin_where_they_are_told, clear),
        cmocka_unit_test_setup(swapped_ranks_are_found, clear),
        cmocka_unit_test_setup(a_stale_call_is_found, clear),
        cmocka_unit_test_setup(beyond_16_gb, clear),
        cmocka_unit_test_setup(foreign_files_are_refused, clear),
        cmocka_unit_test_setup(hints_of_a_chunk_size_reach_the_library, clear),
        cmocka_unit_test_setup(the_maximum_is_that_of_a_valid_repetition, clear),
        cmocka_unit_test_setup(valid_but_disturbed_is_no_good_stamp, clear),
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scratch_init();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove();
    MPI_Finalize();
    return failed;
}
