/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a dump file with its manifest from docs/format.md alone, with code of its own, for tests
 * of readers:
 *
 *     mkdump FILE [N [LAYOUT [ENDIAN [DUMPS [COMPLETE [SIZE]]]]]]      defaults 12 mijk little 6 6 0.5
 *
 * The content is the exact solution on the faces and, inside, the exact solution plus a smooth bump
 * that differs from dump to dump, of this SIZE. Only COMPLETE dumps are written and listed; the others are a
 * hole, as after a run that was killed. Memory: one plane, and the digests. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPS = 5, INTERVAL = 5 };

struct job {
    const char *path, *layout, *endian;
    int64_t n, dumps, complete;
    FILE *file;
    uint64_t *digest; /* [dump][3 n + 5] */
    double size;      /* of the bump of U_0 in dump 0 */
    double *sine;     /* [i]: sin(pi i / (n - 1)), exactly 0 at both ends */
};

/* [BT] section 3: constant, then x y z, x^2 y^2 z^2, ... */
static const double table[COMPS][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

static void die(const char *what)
{
    fprintf(stderr, "mkdump: %s: %s\n", what, strerror(errno));
    exit(3);
}

static double exact(int m, double x, double y, double z)
{
    const double at[3] = {x, y, z};
    double sum = table[m][0];
    for (int q = 0; q < 3; q++) {
        double power = 1;
        for (int p = 0; p < 4; p++) {
            power *= at[q];
            sum += table[m][1 + 3 * p + q] * power;
        }
    }
    return sum;
}

static double value(const struct job *job, int64_t d, int64_t i, int64_t j, int64_t k, int m)
{
    const double h = 1.0 / (double)(job->n - 1);
    const double bump = job->sine[i] * job->sine[j] * job->sine[k];
    const double size = job->size * (double)(m + 1) / (double)(d + 1);
    return exact(m, (double)i * h, (double)j * h, (double)k * h) + size * bump;
}

static uint64_t hash(uint64_t bits, uint64_t g)
{
    uint64_t x = bits + (g + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 32);
}

/* Adds a value to the four words it belongs to. */
static void digest_add(const struct job *job, int64_t d, const int64_t at[4], uint64_t bits)
{
    const int64_t n = job->n;
    uint64_t *w = job->digest + d * (3 * n + COMPS);
    const uint64_t h = hash(bits, (uint64_t)(((at[2] * n + at[1]) * n + at[0]) * COMPS + at[3]));
    for (int q = 0; q < 4; q++)
        w[q * n + at[q]] += h;
}

static void put(const struct job *job, uint64_t x, int bytes)
{
    unsigned char text[8] = {0};
    const int big = strcmp(job->endian, "big") == 0;
    for (int b = 0; b < bytes; b++)
        text[big ? bytes - 1 - b : b] = (unsigned char)(x >> (8 * b));
    if (fwrite(text, (size_t)bytes, 1, job->file) != 1) die(job->path);
}

static void put_value(const struct job *job, int64_t d, int64_t i, int64_t j, int64_t k, int m)
{
    const double u = value(job, d, i, j, k, m);
    uint64_t bits;
    memcpy(&bits, &u, sizeof bits);
    digest_add(job, d, (const int64_t[4]){i, j, k, m}, bits);
    put(job, bits, 8);
}

static void put_mijk(const struct job *job, int64_t d)
{
    for (int64_t k = 0; k < job->n; k++)
        for (int64_t j = 0; j < job->n; j++)
            for (int64_t i = 0; i < job->n; i++)
                for (int m = 0; m < COMPS; m++)
                    put_value(job, d, i, j, k, m);
}

static void put_plane(const struct job *job, int64_t d, int64_t k, int m)
{
    for (int64_t j = 0; j < job->n; j++)
        for (int64_t i = 0; i < job->n; i++)
            put_value(job, d, i, j, k, m);
}

static void put_ijkm(const struct job *job, int64_t d)
{
    for (int m = 0; m < COMPS; m++)
        for (int64_t k = 0; k < job->n; k++)
            put_plane(job, d, k, m);
}

static void put_records(const struct job *job, int64_t d)
{
    const uint64_t payload = (uint64_t)(40 * job->n * job->n);
    for (int64_t k = 0; k < job->n; k++) {
        put(job, payload, 4);
        for (int m = 0; m < COMPS; m++)
            put_plane(job, d, k, m);
        put(job, payload, 4);
    }
}

static int64_t dump_bytes(const struct job *job)
{
    const int64_t plane = 40 * job->n * job->n;
    return job->n * (plane + (strcmp(job->layout, "records") == 0 ? 8 : 0));
}

static void write_file(struct job *job)
{
    static const struct {
        const char *name;
        void (*put)(const struct job *job, int64_t d);
    } layouts[] = {{"mijk", put_mijk}, {"ijkm", put_ijkm}, {"records", put_records}};
    job->file = fopen(job->path, "w");
    if (!job->file) die(job->path);
    for (int64_t d = 0; d < job->complete; d++)
        for (int l = 0; l < 3; l++)
            if (strcmp(job->layout, layouts[l].name) == 0) layouts[l].put(job, d);
    if (fflush(job->file) != 0 || ftruncate(fileno(job->file), job->dumps * dump_bytes(job)) != 0)
        die(job->path);
    fclose(job->file);
}

static void write_words(FILE *to, const char *name, const uint64_t *w, int64_t count)
{
    fprintf(to, "\"%s\": \"", name);
    for (int64_t x = 0; x < count; x++)
        fprintf(to, "%016" PRIx64, w[x]);
    fputs("\"", to);
}

static void write_entry(FILE *to, const struct job *job, int64_t d)
{
    static const char *const axis[4] = {"i", "j", "k", "m"};
    const uint64_t *w = job->digest + d * (3 * job->n + COMPS);
    fprintf(to, "%s\n  {\"step\": %" PRId64 ", \"complete\": true, \"durable\": false,\n",
            d ? "," : "", (d + 1) * INTERVAL);
    fputs("   \"digest\": {", to);
    for (int q = 0; q < 4; q++) {
        if (q) fputs(",\n              ", to);
        write_words(to, axis[q], w + q * job->n, q < 3 ? job->n : COMPS);
    }
    fputs("}}", to);
}

static void write_head(FILE *to, const struct job *job)
{
    const char *slash = strrchr(job->path, '/');
    fprintf(to,
            "{\"schema\": \"nht1-dump/1\", \"run_id\": \"0123456789abcdef0123456789abcdef\",\n"
            " \"file\": \"%s\", \"layout\": \"%s\", \"endian\": \"%s\", \"n\": %" PRId64 ",\n"
            " \"components\": 5, \"word_bytes\": 8, \"dump_bytes\": %" PRId64 ",\n"
            " \"dumps_planned\": %" PRId64 ", \"steps\": %" PRId64
            ", \"dt\": 0.0123, \"interval\": %d,\n"
            " \"writer\": \"mkdump\", \"kernel\": \"none/none\", \"hash\": \"nht1-h64/1\",\n"
            " \"sync\": \"end\", \"settings\": {\"group\": 16, \"aggregators\": 0,"
            " \"buffer_bytes\": 8388608, \"staging\": 2, \"chunk\": 0, \"direct\": false,"
            " \"hints\": []},\n"
            " \"dumps\": [",
            slash ? slash + 1 : job->path, job->layout, job->endian, job->n, dump_bytes(job),
            job->dumps, job->dumps * INTERVAL, INTERVAL);
}

static void write_manifest(const struct job *job)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.json", job->path);
    FILE *to = fopen(path, "w");
    if (!to) die(path);
    write_head(to, job);
    for (int64_t d = 0; d < job->complete; d++)
        write_entry(to, job, d);
    fputs("]}\n", to);
    if (fclose(to) != 0) die(path);
}

static void prepare(struct job *job)
{
    const size_t words = (size_t)(job->dumps * (3 * job->n + COMPS));
    job->digest = calloc(words + 1, sizeof *job->digest);
    job->sine = calloc((size_t)job->n, sizeof *job->sine);
    if (!job->digest || !job->sine) die("memory");
    for (int64_t i = 1; i < job->n - 1; i++)
        job->sine[i] = sin(3.14159265358979 * (double)i / (double)(job->n - 1));
}

static const char *argument(int argc, char **argv, int which, const char *otherwise)
{
    return argc > which ? argv[which] : otherwise;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: mkdump FILE [N [LAYOUT [ENDIAN [DUMPS [COMPLETE [SIZE]]]]]]\n", stderr);
        return 1;
    }
    struct job job = {.path = argv[1],
                      .n = atoll(argument(argc, argv, 2, "12")),
                      .layout = argument(argc, argv, 3, "mijk"),
                      .endian = argument(argc, argv, 4, "little"),
                      .dumps = atoll(argument(argc, argv, 5, "6"))};
    job.complete = argc > 6 ? atoll(argv[6]) : job.dumps;
    job.size = argc > 7 ? strtod(argv[7], NULL) : 0.5;
    prepare(&job);
    write_file(&job);
    write_manifest(&job);
    free(job.digest);
    free(job.sine);
    return 0;
}
