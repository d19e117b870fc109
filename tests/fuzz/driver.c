/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main() of a fuzzer: see tests/fuzz/fuzz.h. The inputs are tried in a child process, which has the
 * present one in memory that it shares with its parent; so the parent can save what ended it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/plain.h"
#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX = 1 << 20, SEEDS_MAX = 4096, LIMIT_S = 20 };

struct input {
    size_t size;
    unsigned char bytes[INPUT_MAX];
};

/* What the child tells its parent. */
struct shared {
    int64_t tries;
    struct input input;
};

static struct {
    struct input *seed[SEEDS_MAX];
    int seeds_n;
} corpus;

FILE *fuzz_null;

/* Absurd requests for memory are answered by NULL, as they are outside of the sanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:abort_on_error=1";
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "fuzz: %s: %s\n", what, strerror(errno));
    exit(2);
}

_Noreturn void fuzz_failed(const char *cond, const char *file, int line)
{
    fprintf(stderr, "%s:%d: this must hold for every input and does not: %s\n", file, line, cond);
    abort();
}

void fuzz_file(const char *name, const void *bytes, size_t size)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) die(name);
    close(fd);
}

void fuzz_message(int rc)
{
    char text[ERR_MESSAGE_MAX];
    FUZZ_CHECK(rc >= 0 || err_message()[0]);
    plain_copy(text, sizeof text, err_message());
    FUZZ_CHECK(strcmp(text, err_message()) == 0);
    err_clear();
}

/* splitmix64 (Steele, Lea, Flood, 2014). */
static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static size_t below(uint64_t *state, size_t n)
{
    return n > 0 ? (size_t)(next(state) % n) : 0;
}

static void add_file(const char *path)
{
    struct input *in = calloc(1, sizeof *in);
    FILE *from = fopen(path, "re");
    if (!in || !from) die(path);
    in->size = fread(in->bytes, 1, INPUT_MAX, from);
    if (ferror(from) || corpus.seeds_n == SEEDS_MAX) die(path);
    fclose(from);
    corpus.seed[corpus.seeds_n++] = in;
}

/* A file, or the files of a folder in the order of their names. */
static void add(const char *path)
{
    struct stat st;
    struct dirent **entry;
    char name[4200];
    if (stat(path, &st) != 0) die(path);
    if (!S_ISDIR(st.st_mode)) {
        add_file(path);
        return;
    }
    const int n = scandir(path, &entry, NULL, alphasort);
    for (int e = 0; e < n; e++) {
        snprintf(name, sizeof name, "%s/%s", path, entry[e]->d_name);
        if (entry[e]->d_name[0] != '.') add_file(name);
        free(entry[e]);
    }
    if (n < 0) die(path);
    free(entry);
}

/* Puts count bytes in the place of the old_n ones at an offset, as far as there is room. */
static void exchange(struct input *in, size_t at, size_t old_n, const void *bytes, size_t count)
{
    if (in->size - old_n + count > INPUT_MAX) return;
    memmove(in->bytes + at + count, in->bytes + at + old_n, in->size - at - old_n);
    memcpy(in->bytes + at, bytes, count);
    in->size += count - old_n;
}

/* The heads of formats lie at the start: half of all changes happen in the first 2 KiB. */
static size_t anywhere(uint64_t *rng, const struct input *in)
{
    const size_t head = in->size < 2048 ? in->size : 2048;
    return below(rng, below(rng, 2) ? head + 1 : in->size + 1);
}

/* Replaces a number, or a word with letters, by something of the same kind that is odd. */
static void replace_word(struct input *in, uint64_t *rng)
{
    static const char *const odd[] = {
        "0",
        "-1",
        "1",
        "9223372036854775807",
        "9223372036854775808",
        "4294967296",
        "1e308",
        "1e999",
        "-0.0",
        "0.1",
        "1e-320",
        "null",
        "true",
        "[]",
        "{}",
        "\"\"",
        "[[[[[[",
        "\"\\u0000\"",
        "nan",
        "inf",
        "12k",
        "1Ti",
        "\"\\ud800\"",
        "6",
        "",
        "%s%n",
        "../..",
        "\xc2\x9b",
        "\x1b[2J",
        "18446744073709551616",
        ":",
        ",",
        "\n",
        "2147483648",
        "#",
        "=",
    };
    const char *text = odd[below(rng, sizeof odd / sizeof odd[0])];
    size_t at = anywhere(rng, in), end;
    while (at < in->size && !strchr("0123456789-", in->bytes[at] ? in->bytes[at] : 'x'))
        at++;
    for (end = at;
         end < in->size && strchr("0123456789-+.eE", in->bytes[end] ? in->bytes[end] : 'x');)
        end++;
    exchange(in, at, end - at, text, strlen(text));
}

static void mutate(struct input *in, uint64_t *rng)
{
    static unsigned char piece[INPUT_MAX];
    const struct input *other = corpus.seed[below(rng, (size_t)corpus.seeds_n)];
    const size_t at = anywhere(rng, in), left = in->size - at;
    size_t count = below(rng, 1 + below(rng, below(rng, 4) ? 16 : 4096));
    const size_t here = count < left ? count : left;
    switch (below(rng, 8)) {
    case 0:
        if (left > 0) in->bytes[at] ^= (unsigned char)(1u << below(rng, 8));
        break;
    case 1:
        if (left > 0) in->bytes[at] = (unsigned char)next(rng);
        break;
    case 2: /* away with some */
        exchange(in, at, here, "", 0);
        break;
    case 3: /* once more */
        memcpy(piece, in->bytes + at, here);
        exchange(in, anywhere(rng, in), 0, piece, here);
        break;
    case 4: { /* a piece of another one */
        const size_t from = below(rng, other->size + 1);
        if (count > other->size - from) count = other->size - from;
        exchange(in, at, below(rng, 2) ? here : 0, other->bytes + from, count);
        break;
    }
    case 5:
        if (below(rng, 8) == 0) in->size = at; /* cut off */
        break;
    default:
        replace_word(in, rng);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void try_all(struct shared *s, int64_t tries, double seconds, uint64_t seed)
{
    const double end = now() + seconds;
    for (int64_t t = 0; t < tries && (seconds <= 0 || now() < end); t++) {
        uint64_t rng = seed ^ (uint64_t)t * UINT64_C(0x2545f4914f6cdd1d);
        const struct input *from = corpus.seed[below(&rng, (size_t)corpus.seeds_n)];
        s->input.size = from->size;
        memcpy(s->input.bytes, from->bytes, from->size);
        for (size_t m = 1 + below(&rng, 6); m > 0; m--)
            mutate(&s->input, &rng);
        s->tries = t;
        alarm(LIMIT_S);
        fuzz_one(s->input.bytes, s->input.size);
    }
    s->tries++;
    alarm(0);
}

static void replay(struct shared *s)
{
    for (s->tries = 0; s->tries < corpus.seeds_n; s->tries++) {
        s->input = *corpus.seed[s->tries];
        alarm(LIMIT_S);
        fuzz_one(s->input.bytes, s->input.size);
    }
    alarm(0);
}

static void enter_folder(char *folder, size_t size)
{
    const char *tmp = getenv("TMPDIR");
    if (access("/dev/shm", W_OK | X_OK) == 0) tmp = "/dev/shm";
    snprintf(folder, size, "%s/nht1-fuzz.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0) die(folder);
}

/* Targets make plain files only. */
static void remove_folder(const char *folder)
{
    struct dirent *entry;
    DIR *dir = opendir(folder);
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' || entry->d_name[1]) unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) closedir(dir);
    rmdir(folder);
}

static int save(const struct shared *s, const char *folder, const char *name, int status)
{
    char path[9000];
    snprintf(path, sizeof path, "%s/%s.%" PRId64, folder, name, s->tries);
    fuzz_file(path, s->input.bytes, s->input.size);
    fprintf(stderr, "%s: input %" PRId64 " %s: saved as %s\n", name, s->tries,
            WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "took too long"
            : s->tries == 0 && WIFEXITED(status)               ? "or a leak at the end made it fail"
                                                               : "made it fail",
            path);
    return 1;
}

int main(int argc, char **argv)
{
    int64_t tries = 0;
    double seconds = 0;
    uint64_t seed = 1993;
    const char *to = ".";
    char folder[4096], home[4096], save_to[8200];
    int a = 1, status;
    const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    for (; a + 1 < argc && strncmp(argv[a], "--", 2) == 0; a += 2) {
        if (strcmp(argv[a], "--tries") == 0) tries = atoll(argv[a + 1]);
        if (strcmp(argv[a], "--seconds") == 0) seconds = atof(argv[a + 1]);
        if (strcmp(argv[a], "--seed") == 0) seed = strtoull(argv[a + 1], NULL, 10);
        if (strcmp(argv[a], "--save") == 0) to = argv[a + 1];
    }
    for (; a < argc; a++)
        add(argv[a]);
    if (corpus.seeds_n == 0) {
        fprintf(stderr, "%s: no inputs to start from\n", name);
        return 2;
    }
    struct shared *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fuzz_null = fopen("/dev/null", "we");
    if (s == MAP_FAILED || !fuzz_null || !getcwd(home, sizeof home)) die(name);
    snprintf(save_to, sizeof save_to, "%s%s%s", to[0] == '/' ? "" : home, to[0] == '/' ? "" : "/",
             to);
    enter_folder(folder, sizeof folder);
    const pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
        if (tries > 0 || seconds > 0)
            try_all(s, tries > 0 ? tries : INT64_MAX, seconds, seed);
        else
            replay(s);
        exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    remove_folder(folder);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return save(s, save_to, name, status);
    printf("%s: %" PRId64 " inputs\n", name, s->tries);
    return 0;
}
