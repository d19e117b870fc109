/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/jobfile.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/suggestion.h"
#include "base/num.h"
#include "companions/workload/options.h"

#define TEXT_BYTES_MAX (64 << 20)
#define WORD_MAX       1024
#define DEPTH_MAX      8
#define REPEAT_MAX     10000
#define DEFAULT_RECORD (INT64_C(64) << 10)

/* Where a directive was given, the stronger places last. */
enum level { BY_NOBODY, BY_JOB, BY_SECTION, BY_COMMAND };
#define DIRECTIVES_MAX 32

/* The directives of a section, as they are written. */
struct settings {
    unsigned char level[DIRECTIVES_MAX]; /* of each directive, enum level */
    const char *temporal, *method, *access, *memory, *file, *record, *data, *think_kind, *tile,
        *overlap;
    int64_t group, limit, memory_block, inner, element, blocks, vary, cells, guard, variables, plot,
        values, seed;
    double time_limit, think, fraction;
};

#define AT(member)         CONF_AT(struct settings, member)
#define CHOICE(member, of) CONF_CHOICE_AT(struct settings, member, of)
#define BYTES_MAX          1152921504606846976.0 /* 2^60 */
#define COUNT(name_, member, def_, min_, max_, help_)                                              \
    {                                                                                              \
        .name = name_, .def = def_, AT(member), CONF_RANGE(min_, max_), .help = help_              \
    }

const struct conf_option workload_directives[] = {
    {.name = "temporal",
     .def = "write,re-write,read,re-read,read-modify-write",
     AT(temporal),
     .help = "Temporal patterns to run, separated by commas, in the order given; all for the five "
             "of the default."},
    {.name = "method",
     .def = "independent",
     CHOICE(method, "independent|collective|posix"),
     .help = "Which calls access the file: MPI-IO, each process on its own; MPI-IO, all processes "
             "together; or POSIX."},
    {.name = "access",
     .def = "auto",
     CHOICE(access, "auto|view|offsets"),
     .help = "How a call is told where in the file to go: by a file view, set once, or by an "
             "explicit offset in each call. auto: view for collective calls, else offsets."},
    {.name = "memory",
     .def = "auto",
     CHOICE(memory, "auto|contiguous|strided"),
     .help = "Whether the data of an access lie in memory in one piece or in blocks with gaps "
             "between them. auto: contiguous, but strided for flash, whose guard cells are gaps."},
    COUNT("memory-block", memory_block, "512", 1, BYTES_MAX,
          "With strided memory: bytes of a block. The gap behind it is as long."),
    {.name = "file",
     .def = "auto",
     CHOICE(file, "auto|contiguous|strided"),
     .help = "contiguous: the records of a process one after the other, in a part of the file of "
             "its own. auto and strided: where the pattern has them."},
    {.name = "record",
     .def = "",
     AT(record),
     .help = "Bytes of a record. Several sizes separated by commas are measured one after the "
             "other: a curve over the size. For tiled it sets the columns of the tile, for flash "
             "the blocks, for mesh the values, rounded up; docs/workload.md says which holds. "
             "Default: 64Ki, or what "
             "those directives say."},
    COUNT("group", group, "0", 0, 1e9,
          "Accesses in one call; more than one needs a view. 0: with a view as many as make 1 MiB, "
          "at most 256, else one."),
    {.name = "data",
     .def = "auto",
     AT(data),
     .help = "Bytes of all processes together; a phase accesses its fraction of them. auto: found, "
             "as many as a measurement needs to be long enough."},
    COUNT("limit", limit, "2Gi", 1, BYTES_MAX,
          "With data auto: most bytes to try, but one repetition in any case."),
    {.name = "time-limit",
     .def = "60",
     AT(time_limit),
     CONF_RANGE(0.001, 1e6),
     .help = "With data auto: seconds that a phase may take to find the amount."},
    {.name = "think",
     .def = "0",
     AT(think),
     CONF_RANGE(0, 1e5),
     .help =
         "Seconds of thinking after each call, which may hold several accesses (group). Outside of "
         "sections it is a phase of its own: a pause between two measurements."},
    {.name = "think-kind",
     .def = "idle",
     CHOICE(think_kind, "idle|busy"),
     .help = "Whether a thinking process sleeps or keeps its core busy."},
    {.name = "fraction",
     .def = "1",
     AT(fraction),
     CONF_RANGE(1e-6, 1),
     .help = "Share of its accesses that a process makes, the first ones: with 0.25 it reads a "
             "quarter back."},
    COUNT("seed", seed, "1", 0, 9e18, "For random-strided and mesh: seed of the random numbers."),
    COUNT("inner", inner, "16", 1, 1e6,
          "For nested-strided: rows of a process's block in a plane."),
    {.name = "tile",
     .def = "128x128",
     AT(tile),
     .help = "For tiled: rows x columns of a tile, in elements."},
    {.name = "overlap",
     .def = "0x0",
     AT(overlap),
     .help = "For tiled: rows x columns that neighbouring tiles share (ghost elements)."},
    COUNT("element", element, "32", 1, 1e9, "For tiled: bytes of an element."),
    COUNT("blocks", blocks, "80", 1, 1e6, "For flash: blocks of the first process."),
    COUNT("vary", vary, "3", 1, 1e3,
          "For flash: how many numbers of blocks there are. With 3, processes have 80, 81, 82, and "
          "80 again."),
    COUNT("cells", cells, "8", 1, 1e3, "For flash: cells of a block in each dimension."),
    COUNT("guard", guard, "4", 0, 1e3,
          "For flash: guard cells on each side of a block, in memory only."),
    COUNT("variables", variables, "24", 1, 1e3,
          "For flash: variables of the checkpoint, 8 bytes per cell."),
    COUNT("plot", plot, "4", 0, 1e3, "For flash: variables of the plotfile, 4 bytes per cell."),
    COUNT("values", values, "20", 1, 1e7, "For mesh: values of a vertex, 8 bytes each."),
    {.name = NULL},
};

static const char *const temporal_names[WORKLOAD_TEMPORALS] = {
    [WORKLOAD_WRITE] = "write",
    [WORKLOAD_REWRITE] = "re-write",
    [WORKLOAD_READ] = "read",
    [WORKLOAD_REREAD] = "re-read",
    [WORKLOAD_MODIFY] = "read-modify-write",
};

const char *workload_temporal_name(enum workload_temporal t)
{
    return temporal_names[t];
}

const char *workload_method_name(enum workload_method m)
{
    static const char *const names[] = {"independent", "collective", "posix"};
    return names[m];
}

/* --- reading -------------------------------------------------------------------------------- */

struct text_kept {
    struct text_kept *next;
    char text[];
};

struct reader {
    const char *name, *at, *end;
    bool ini;
    int line;
    const char *line_begin;
    int token_line, token_column;
    struct text_kept *kept; /* words that settings point into */
    struct settings common; /* outside of sections */
    struct settings own;    /* of the open section */
    bool in_pattern;
    enum workload_pattern pattern;
    int pattern_line, pattern_column;
    const struct conf_list *set;
    struct workload_jobfile *j;
    int depth, room;
    struct {
        int first, times;
    } repeat[DEPTH_MAX];
};

/* Prefixes the current error message with line and column. */
static int prefix_position(const struct reader *r, int rc, int line, int column)
{
    char at[320];
    if (rc >= 0) return rc;
    snprintf(at, sizeof at, "%.200s:%d:%d: ", r->name, line, column);
    err_prefix(at);
    return rc;
}

/* A copy that lives as long as the reading. */
static const char *copy_text(struct reader *r, const char *text)
{
    const size_t n = strlen(text) + 1;
    struct text_kept *k = malloc(sizeof *k + n);
    if (!k) return NULL;
    memcpy(k->text, text, n);
    k->next = r->kept;
    r->kept = k;
    return k->text;
}

/* Whether two names are the same but for case, '-' and '_'. */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '-' || *a == '_')
            a++;
        while (*b == '-' || *b == '_')
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return false;
        if (!*a) return true;
    }
}

static int set_directive(struct reader *r, struct settings *s, const char *key, const char *value,
                         enum level level)
{
    for (int i = 0; workload_directives[i].name; i++) {
        if (!same_name(workload_directives[i].name, key)) continue;
        const char *kept = copy_text(r, value);
        if (!kept) return mem_error("reading %s", r->name);
        TRY(conf_set_as(workload_directives[i].name, &workload_directives[i], s, kept));
        s->level[i] = (unsigned char)level;
        return 0;
    }
    struct suggestion near = {.word = key};
    char meant[SUGGESTION_TEXT_MAX];
    for (int i = 0; workload_directives[i].name; i++)
        suggestion_try(&near, workload_directives[i].name);
    return err_set(ERR_USAGE, "there is no directive \"%s\"%s (docs/workload.md lists them)", key,
                   suggestion_text(&near, "", meant));
}

/* --- directives that contradict each other -------------------------------------------------- */

static int parse_pair(const char *what, const char *text, int64_t least, int64_t out[2])
{
    char first[64];
    const char *x = strchr(text, 'x');
    if (!x || x - text > 60)
        return err_set(ERR_USAGE, "%s: \"%s\" is not allowed; give rows x columns, 64x32", what,
                       text);
    snprintf(first, sizeof first, "%.*s", (int)(x - text), text);
    TRY(conf_int(what, first, least, 1 << 30, &out[0]));
    return conf_int(what, x + 1, least, 1 << 30, &out[1]);
}

static enum level directive_level(const struct settings *s, const char *name)
{
    int i = 0;
    while (strcmp(workload_directives[i].name, name) != 0)
        i++;
    return (enum level)s->level[i];
}

/* Tells of a directive that another one overrides. */
static int note_override(struct reader *r, const char *strong, enum level by, const char *weak,
                         enum level weak_by)
{
    static const char *const level_name[] = {"the default", "the job", "the section", "--set"};
    char text[400];
    snprintf(text, sizeof text, "%.200s:%d:%d: %.40s of %s overrides %.60s of %s", r->name,
             r->pattern_line, r->pattern_column, strong, level_name[by], weak, level_name[weak_by]);
    return json_array_append_new(r->j->notes, js_text(text)) == 0
               ? 0
               : mem_error("reading %s", r->name);
}

/* For some patterns `record` says the same as another directive. [out] name: of that one, NULL for other
 * patterns; bytes, text: of its value. */
static int rival_of_record(const struct settings *s, enum workload_pattern pattern, int64_t *bytes,
                           char text[64], const char **name)
{
    int64_t tile[2];
    *name = NULL;
    switch (pattern) {
    case WORKLOAD_TILED:
        TRY(parse_pair("tile", s->tile, 1, tile));
        *name = "tile";
        *bytes = num_product(tile[1], s->element);
        snprintf(text, 64, "the columns of tile %.20s", s->tile);
        return 0;
    case WORKLOAD_FLASH:
        *name = "blocks";
        *bytes = num_product(s->blocks, s->cells * s->cells * s->cells * 8);
        snprintf(text, 64, "blocks %" PRId64, s->blocks);
        return 0;
    case WORKLOAD_MESH:
        *name = "values";
        *bytes = num_product(s->values, 8);
        snprintf(text, 64, "values %" PRId64, s->values);
        return 0;
    default:
        return 0;
    }
}

/* Of `record` and the directive that says the same for this pattern the stronger one holds, which a note
 * says; two of the same strength must agree. */
static int settle_record(struct reader *r, struct settings *s)
{
    char other[64], record[64];
    const char *name;
    int64_t bytes, given;
    TRY(rival_of_record(s, r->pattern, &bytes, other, &name));
    if (!name) return 0;
    const enum level of_record = directive_level(s, "record"), of_other = directive_level(s, name);
    if (of_record == BY_NOBODY || of_other == BY_NOBODY || !s->record[0]) return 0;
    snprintf(record, sizeof record, "record %.40s", s->record);
    if (of_record > of_other) return note_override(r, record, of_record, other, of_other);
    if (of_record == of_other && num_int_parse(s->record, &given) == 0 && given == bytes) return 0;
    if (of_record == of_other)
        return err_set(ERR_USAGE,
                       "%s and %s contradict each other, %" PRId64 " bytes: give one of them, or "
                       "%s in a section of its own",
                       record, other, bytes, name);
    s->record = "";
    return note_override(r, other, of_other, record, of_record);
}

/* With an amount that is given, nothing limits the search for one. */
static int settle_limits(struct reader *r, const struct settings *s)
{
    static const char *const limits[] = {"limit", "time-limit"};
    char data[64];
    if (strcmp(s->data, "auto") == 0) return 0;
    snprintf(data, sizeof data, "data %.40s", s->data);
    for (int i = 0; i < 2; i++)
        if (directive_level(s, limits[i]) > BY_NOBODY)
            TRY(note_override(r, data, directive_level(s, "data"), limits[i],
                              directive_level(s, limits[i])));
    return 0;
}

/* --- from settings to phases ---------------------------------------------------------------- */

/* The next word of a list separated by commas. Returns what follows it, NULL at the end. */
static const char *list_word(const char *list, char word[64])
{
    while (*list == ' ' || *list == ',')
        list++;
    if (!*list) return NULL;
    const size_t n = strcspn(list, ", ");
    snprintf(word, 64, "%.*s", (int)(n < 63 ? n : 63), list);
    return list + n;
}

/* The shape of a pattern for one process and one repetition. record: bytes, 0 for the default. */
static int shape_of(const struct settings *s, enum workload_pattern pattern, int64_t record,
                    struct workload_shape *out)
{
    int64_t tile[2], overlap[2];
    TRY(parse_pair("tile", s->tile, 1, tile));
    TRY(parse_pair("overlap", s->overlap, 0, overlap));
    *out = (struct workload_shape){.pattern = pattern,
                                   .procs = 1,
                                   .n = 1,
                                   .record_bytes = record > 0 ? record : DEFAULT_RECORD,
                                   .seed = (uint64_t)s->seed,
                                   .inner = s->inner,
                                   .rows = tile[0],
                                   .columns = tile[1],
                                   .element_bytes = s->element,
                                   .overlap_rows = overlap[0],
                                   .overlap_columns = overlap[1],
                                   .blocks = s->blocks,
                                   .vary = s->vary,
                                   .cells = s->cells,
                                   .guard = s->guard,
                                   .variables = s->variables,
                                   .plot = s->plot,
                                   .values = s->values};
    const int64_t block = s->cells * s->cells * s->cells * 8; /* at most 8e9 */
    const double side = (double)(s->cells + 2 * s->guard);
    double rank_bytes; /* of one repetition, at most */
    switch (pattern) {
    case WORKLOAD_NESTED:
        rank_bytes = (double)out->record_bytes * (double)out->inner;
        break;
    case WORKLOAD_TILED:
        if (record > 0) out->columns = (record + s->element - 1) / s->element;
        out->record_bytes = out->columns * out->element_bytes;
        rank_bytes = (double)out->record_bytes * (double)out->rows;
        if (out->overlap_rows >= out->rows || out->overlap_columns >= out->columns)
            return err_set(ERR_USAGE, "overlap: \"%s\" is not smaller than the tile of %d x %d",
                           s->overlap, (int)out->rows, (int)out->columns);
        break;
    case WORKLOAD_FLASH:
        if (record > 0) out->blocks = (record + block - 1) / block;
        out->record_bytes = out->blocks * block;
        rank_bytes = (double)(out->blocks + out->vary) * 8 * (double)(out->variables + out->plot) *
                     side * side * side;
        break;
    case WORKLOAD_MESH:
        if (record > 0) out->values = (record + 7) / 8;
        out->record_bytes = out->values * 8;
        rank_bytes = (double)out->record_bytes;
        break;
    default:
        rank_bytes = (double)out->record_bytes;
        break;
    }
    if (rank_bytes > (double)(INT64_C(1) << 40))
        return err_set(ERR_USAGE, "one repetition of %s takes more than a terabyte per process",
                       workload_pattern_name(pattern));
    return 0;
}

static int phase_of(const struct reader *r, const struct settings *s,
                    enum workload_temporal temporal, int64_t record, struct workload_phase *p)
{
    const bool natural = r->pattern == WORKLOAD_SEQUENTIAL || r->pattern == WORKLOAD_SEGMENTED;
    *p = (struct workload_phase){.pattern = r->pattern,
                                 .temporal = temporal,
                                 .limit_bytes = s->limit,
                                 .time_limit_s = s->time_limit,
                                 .think_s = s->think,
                                 .fraction = s->fraction,
                                 .think_busy = strcmp(s->think_kind, "busy") == 0,
                                 .line = r->pattern_line};
    p->method = strcmp(s->method, "posix") == 0        ? WORKLOAD_POSIX
                : strcmp(s->method, "collective") == 0 ? WORKLOAD_COLLECTIVE
                                                       : WORKLOAD_INDEPENDENT;
    p->view = strcmp(s->access, "view") == 0 ||
              (strcmp(s->access, "auto") == 0 && p->method == WORKLOAD_COLLECTIVE);
    if (p->view && p->method == WORKLOAD_POSIX)
        return err_set(ERR_USAGE, "access view: POSIX has no views; take offsets");
    TRY(shape_of(s, r->pattern, record, &p->shape));
    if (natural && strcmp(s->file, "strided") == 0)
        return err_set(ERR_USAGE, "file strided: %s is contiguous in the file by definition",
                       workload_pattern_name(r->pattern));
    p->shape.packed = !natural && strcmp(s->file, "contiguous") == 0;
    p->memory.block_bytes = s->memory_block;
    p->memory.strided = strcmp(s->memory, "strided") == 0 ||
                        (strcmp(s->memory, "auto") == 0 && r->pattern == WORKLOAD_FLASH);
    p->group = s->group;
    p->group_given = s->group > 0;
    if (!p->view && s->group > 1)
        return err_set(ERR_USAGE, "group: several accesses in one call need access view");
    if (r->pattern == WORKLOAD_FLASH) {
        if (s->group > 1) return err_set(ERR_USAGE, "group: a call of flash is one variable");
        p->group = 1;
    }
    if (p->group == 0 && p->view) {
        p->group = (INT64_C(1) << 20) / p->shape.record_bytes;
        if (p->group > 256) p->group = 256;
    }
    if (p->group < 1) p->group = 1;
    if (strcmp(s->data, "auto") != 0)
        TRY(conf_int("data", s->data, 1, (int64_t)BYTES_MAX, &p->data_bytes));
    return 0;
}

static int append(struct reader *r, const struct workload_phase *p)
{
    struct workload_jobfile *j = r->j;
    if (j->n == WORKLOAD_PHASES_MAX)
        return err_set(ERR_USAGE, "more than %d phases, repetitions counted", WORKLOAD_PHASES_MAX);
    if (j->n == r->room) {
        const int room = r->room == 0 ? 16 : 2 * r->room;
        struct workload_phase *more = mem_grow(j->phase, room, sizeof *more, "%d phases", room);
        if (!more) return ERR_NOMEM;
        j->phase = more;
        r->room = room;
    }
    j->phase[j->n++] = *p;
    return 0;
}

/* The phases of a section, as --set changes it: for each record, each temporal pattern. */
static int section_phases(struct reader *r)
{
    const char *all = workload_directives[0].def, *value;
    char word[64], kind[64], key[64];
    for (int i = 0; r->set && i < r->set->n; i++) {
        TRY(workload_options_pair("--set", r->set->item[i], key, &value));
        TRY(set_directive(r, &r->own, key, value, BY_COMMAND));
    }
    TRY(settle_record(r, &r->own));
    TRY(settle_limits(r, &r->own));
    const char *records = r->own.record;
    const char *kinds = strcmp(r->own.temporal, "all") == 0 ? all : r->own.temporal;
    do {
        int64_t record = 0;
        records = list_word(records, word);
        if (records) TRY(conf_int("record", word, 1, INT64_C(1) << 40, &record));
        int n = 0;
        for (const char *at = list_word(kinds, kind); at; at = list_word(at, kind), n++) {
            struct workload_phase p;
            int t = 0;
            while (t < WORKLOAD_TEMPORALS && !same_name(temporal_names[t], kind))
                t++;
            if (t == WORKLOAD_TEMPORALS) {
                char meant[SUGGESTION_TEXT_MAX];
                struct suggestion near = {.word = kind};
                for (t = 0; t < WORKLOAD_TEMPORALS; t++)
                    suggestion_try(&near, temporal_names[t]);
                return err_set(ERR_USAGE, "temporal: \"%s\" is none of %s%s", kind, all,
                               suggestion_text(&near, "", meant));
            }
            TRY(phase_of(r, &r->own, (enum workload_temporal)t, record, &p));
            TRY(append(r, &p));
        }
        if (n == 0) return err_set(ERR_USAGE, "temporal: no pattern is named");
    } while (records && list_word(records, word));
    return 0;
}

/* --- sections ------------------------------------------------------------------------------- */

static int close_pattern(struct reader *r)
{
    if (!r->in_pattern) return 0;
    r->in_pattern = false;
    return prefix_position(r, section_phases(r), r->pattern_line, r->pattern_column);
}

static int open_pattern(struct reader *r, const char *name)
{
    for (int p = 0; p < WORKLOAD_PATTERNS; p++) {
        if (!same_name(workload_pattern_name((enum workload_pattern)p), name)) continue;
        r->pattern = (enum workload_pattern)p;
        r->in_pattern = true;
        r->pattern_line = r->token_line;
        r->pattern_column = r->token_column;
        r->own = r->common;
        return 0;
    }
    struct suggestion near = {.word = name};
    char meant[SUGGESTION_TEXT_MAX];
    for (int p = 0; p < WORKLOAD_PATTERNS; p++)
        suggestion_try(&near, workload_pattern_name((enum workload_pattern)p));
    return err_set(ERR_USAGE,
                   "there is no pattern \"%s\": simple-strided, nested-strided, random-strided, "
                   "sequential, segmented, tiled, flash, mesh%s",
                   name, suggestion_text(&near, "", meant));
}

static int open_repeat(struct reader *r, const char *times)
{
    int64_t n;
    TRY(conf_int("repeat", times, 1, REPEAT_MAX, &n));
    if (r->depth == DEPTH_MAX)
        return err_set(ERR_USAGE, "repetitions are nested more than %d deep", DEPTH_MAX);
    r->repeat[r->depth].first = r->j->n;
    r->repeat[r->depth++].times = (int)n;
    return 0;
}

static int close_repeat(struct reader *r)
{
    if (r->depth == 0) return err_set(ERR_USAGE, "no repetition is open here");
    const int first = r->repeat[--r->depth].first, last = r->j->n;
    for (int i = 1; i < r->repeat[r->depth].times; i++)
        for (int p = first; p < last; p++) {
            const struct workload_phase copy = r->j->phase[p];
            TRY(append(r, &copy));
        }
    return 0;
}

static int pause_phase(struct reader *r, const char *seconds)
{
    struct workload_phase p = {.line = r->token_line};
    TRY(conf_real("think", seconds, 0, 1e5, &p.pause_s));
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the option has a default */
    p.think_busy = strcmp(r->common.think_kind, "busy") == 0;
    return p.pause_s > 0 ? append(r, &p) : 0;
}

static int directive(struct reader *r, const char *key, const char *value)
{
    if (r->in_pattern) return set_directive(r, &r->own, key, value, BY_SECTION);
    if (same_name(key, "think")) return pause_phase(r, value);
    return set_directive(r, &r->common, key, value, BY_JOB);
}

/* <word argument> or [word argument]; without an argument it is "". */
static int open_tag(struct reader *r, const char *word, const char *argument)
{
    if (r->in_pattern && !r->ini && strcmp(word, "/pattern") != 0)
        return err_set(ERR_USAGE, "<%s> inside of a pattern's section: </Pattern> is missing",
                       word);
    if (strcmp(word, "pattern") == 0) {
        TRY(close_pattern(r));
        return open_pattern(r, argument);
    }
    if (strcmp(word, "repeat") == 0) {
        TRY(close_pattern(r));
        return open_repeat(r, argument);
    }
    if (!r->ini && strcmp(word, "/pattern") == 0)
        return r->in_pattern ? close_pattern(r) : err_set(ERR_USAGE, "no pattern is open here");
    if (strcmp(word, r->ini ? "end" : "/repeat") == 0) {
        TRY(close_pattern(r));
        return close_repeat(r);
    }
    if (r->ini && strcmp(word, "think") == 0) {
        TRY(close_pattern(r));
        return pause_phase(r, argument);
    }
    if (r->ini && strcmp(word, "job") == 0) return close_pattern(r);
    char meant[SUGGESTION_TEXT_MAX];
    return err_set(
        ERR_USAGE, "there is no section \"%s\"%s", word,
        suggestion_of(word, r->ini ? "pattern|repeat|end|think|job" : "pattern|repeat", meant));
}

/* --- words ---------------------------------------------------------------------------------- */

static void step(struct reader *r)
{
    if (*r->at++ != '\n') return;
    r->line++;
    r->line_begin = r->at;
}

/* Blanks, line ends where they do not matter, and comments. */
static void skip(struct reader *r, bool lines)
{
    for (; r->at < r->end; step(r)) {
        if (*r->at == '#' || (r->ini && *r->at == ';'))
            while (r->at + 1 < r->end && r->at[1] != '\n')
                step(r);
        else if (!strchr(" \t\r\n", *r->at) || !*r->at || (*r->at == '\n' && !lines))
            return;
    }
}

static void mark_token(struct reader *r)
{
    r->token_line = r->line;
    r->token_column = (int)(r->at - r->line_begin) + 1;
}

/* Takes characters until one of stop, which stays. */
static int read_until(struct reader *r, const char *stop, char word[WORD_MAX])
{
    size_t n = 0;
    mark_token(r);
    while (r->at < r->end && !strchr(stop, *r->at)) {
        if (n == WORD_MAX - 1) return err_set(ERR_USAGE, "a word of more than %d bytes", WORD_MAX);
        if ((unsigned char)*r->at < 0x20 && *r->at != '\t' && *r->at != '\r')
            return err_set(ERR_USAGE, "a control character");
        word[n++] = *r->at;
        step(r);
    }
    if (r->at < r->end && !*r->at) return err_set(ERR_USAGE, "a byte of 0");
    while (n > 0 && strchr(" \t\r", word[n - 1]))
        n--;
    word[n] = 0;
    return 0;
}

/* <word argument>, [word argument] */
static int read_tag(struct reader *r)
{
    char text[WORD_MAX], word[WORD_MAX];
    const int line = r->line, column = (int)(r->at - r->line_begin) + 1;
    step(r);
    TRY(read_until(r, r->ini ? "]\n" : "><\n", text));
    r->token_line = line;
    r->token_column = column;
    if (r->at == r->end || *r->at != (r->ini ? ']' : '>'))
        return err_set(ERR_USAGE, "a section's name is not closed by %c", r->ini ? ']' : '>');
    step(r);
    const char *begin = text + strspn(text, " \t");
    const size_t n = strcspn(begin, " \t");
    for (size_t i = 0; i < n; i++)
        word[i] = (char)tolower((unsigned char)begin[i]);
    word[n] = 0;
    return open_tag(r, word, begin + n + strspn(begin + n, " \t"));
}

static int read_directive(struct reader *r)
{
    char key[WORD_MAX], value[WORD_MAX];
    TRY(read_until(r, r->ini ? "=\n" : " \t\r\n<#", key));
    const int line = r->token_line, column = r->token_column;
    if (r->ini && (r->at == r->end || *r->at != '='))
        return err_set(ERR_USAGE, "\"%s\" has no value: KEY = VALUE", key);
    if (r->ini) step(r);
    skip(r, !r->ini);
    if (r->at < r->end && *r->at == '"') {
        step(r);
        TRY(read_until(r, "\"\n", value));
        if (r->at == r->end || *r->at != '"') return err_set(ERR_USAGE, "a quote is not closed");
        step(r);
    } else {
        TRY(read_until(r, r->ini ? ";#\n" : " \t\r\n<#", value));
    }
    r->token_line = line;
    r->token_column = column;
    if (!value[0]) return err_set(ERR_USAGE, "\"%s\" has no value", key);
    return directive(r, key, value);
}

static int read_all(struct reader *r)
{
    for (skip(r, true); r->at < r->end; skip(r, true)) {
        mark_token(r);
        const int rc = *r->at == (r->ini ? '[' : '<') ? read_tag(r) : read_directive(r);
        /* What is wrong with a whole section has named its place already. */
        if (rc < 0 && strncmp(err_message(), r->name, strlen(r->name)) == 0) return rc;
        TRY(prefix_position(r, rc, r->token_line, r->token_column));
    }
    mark_token(r);
    if (r->in_pattern && !r->ini)
        return prefix_position(r, err_set(ERR_USAGE, "</Pattern> is missing"), r->token_line,
                               r->token_column);
    TRY(close_pattern(r));
    if (r->depth > 0)
        return prefix_position(r,
                               err_set(ERR_USAGE, "%s is missing", r->ini ? "[end]" : "</Repeat>"),
                               r->token_line, r->token_column);
    if (r->j->n == 0) return err_set(ERR_USAGE, "%s:1:1: a job without a phase", r->name);
    return 0;
}

int workload_jobfile_read(const char *name, const char *text, size_t bytes, bool ini,
                          const struct conf_list *list, struct workload_jobfile *j)
{
    struct reader r = {.name = name,
                       .at = text,
                       .end = text + bytes,
                       .ini = ini,
                       .line = 1,
                       .line_begin = text,
                       .set = list,
                       .j = j};
    *j = (struct workload_jobfile){.n = 0};
    if (bytes > TEXT_BYTES_MAX)
        return err_set(ERR_USAGE, "%s: more than %d bytes", name, TEXT_BYTES_MAX);
    j->notes = json_array();
    if (!j->notes) return mem_error("reading %s", name);
    for (int i = 0; workload_directives[i].name; i++)
        ERR_ASSERT(conf_set_default(&workload_directives[i], &r.common) == 0);
    const int rc = read_all(&r);
    while (r.kept) {
        struct text_kept *next = r.kept->next;
        free(r.kept);
        r.kept = next;
    }
    if (rc < 0) workload_jobfile_free(j);
    return rc;
}

void workload_jobfile_free(struct workload_jobfile *j)
{
    free(j->phase);
    json_decref(j->notes);
    *j = (struct workload_jobfile){.n = 0};
}

struct workload_shape workload_phase_shape(const struct workload_phase *p, int procs, int64_t n)
{
    struct workload_shape s = p->shape;
    s.procs = procs;
    s.n = n;
    return s;
}

const char *workload_phase_title(const struct workload_phase *p, char out[64])
{
    snprintf(out, 64, "%s (%s)", workload_pattern_title(p->pattern), temporal_names[p->temporal]);
    return out;
}
