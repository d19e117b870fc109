/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a workload, on expat. One table says which element stands in which and which attributes
 * it has; a document type, and with it every entity of the file's own, is refused. */
#include <expat.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/mem.h"
#include "companions/workload/point.h"

#define TEXT_BYTES_MAX (256 << 20)
#define POINTS_MAX     (1 << 22)
#define RANKS_MAX      (1 << 20)

enum element { NONE, WORKLOAD, NAMED_FILE, POINT, RANK, CALLS };

struct parse {
    XML_Parser parser;
    const char *name;
    struct workload *w;
    enum element stack[4]; /* the elements that are open */
    int depth;
    struct workload_point point;
    struct workload_rank rank;
    struct workload_calls calls;
    int file_index;
    char *file_name; /* owned */
    int rc;
};

/* "w.xml:3:17: " */
static void position_text(const struct parse *ps, char *out, size_t size)
{
    snprintf(out, size, "%.200s:%lu:%lu: ", ps->name, XML_GetCurrentLineNumber(ps->parser),
             XML_GetCurrentColumnNumber(ps->parser) + 1);
}

/* Ends the parsing; prefixes the current error message with line and column. */
static void fail(struct parse *ps, int rc)
{
    char at[320];
    if (ps->rc < 0) return;
    position_text(ps, at, sizeof at);
    err_prefix(at);
    ps->rc = rc;
    XML_StopParser(ps->parser, XML_FALSE);
}

/* --- attributes ----------------------------------------------------------------------------- */

static int set_workload(struct parse *ps, const char *name, const char *value)
{
    int64_t version, seed;
    if (strcmp(name, "version") == 0) return conf_int("version", value, 1, 1, &version);
    if (strcmp(name, "seed") == 0) {
        TRY(conf_int("seed", value, 0, INT64_MAX, &seed));
        ps->w->seed = (uint64_t)seed;
        return 0;
    }
    if (strcmp(name, "mode") != 0) return ERR_USAGE;
    ps->w->separate = strcmp(value, "separate") == 0;
    if (ps->w->separate || strcmp(value, "common") == 0) return 0;
    return err_set(ERR_USAGE, "mode: \"%s\" is neither common nor separate", value);
}

static int set_point(struct parse *ps, const char *name, const char *value)
{
    struct workload_point *p = &ps->point;
    int64_t file;
    if (strcmp(name, "file") == 0) {
        TRY(conf_int("file", value, 0, WORKLOAD_FILES_MAX - 1, &file));
        p->file = (int)file;
        return 0;
    }
    if (strcmp(name, "think") == 0)
        return conf_real("think", value, 0, WORKLOAD_THINK_S_MAX, &p->think_s);
    if (strcmp(name, "nonblockingCollective") == 0) {
        p->request = strcmp(value, "request") == 0;
        if (p->request || strcmp(value, "split") == 0) return 0;
        return err_set(ERR_USAGE, "%s: \"%s\" is neither split nor request", name, value);
    }
    for (int i = 0; i < WORKLOAD_NUMBERS; i++)
        if (strcmp(workload_numbers[i].name, name) == 0) return workload_point_set(p, name, value);
    return ERR_USAGE;
}

static int set_rank(struct parse *ps, const char *name, const char *value)
{
    struct workload_rank *r = &ps->rank;
    int64_t of;
    if (strcmp(name, "calls") == 0) return conf_int(name, value, 0, WORKLOAD_CALLS_MAX, &r->calls);
    if (strcmp(name, "bytes") == 0) return conf_int(name, value, 0, WORKLOAD_BYTES_MAX, &r->bytes);
    if (strcmp(name, "contMean") == 0)
        return conf_real(name, value, 1, (double)WORKLOAD_BYTES_MAX, &r->cont_mean);
    if (strcmp(name, "of") != 0) return ERR_USAGE;
    TRY(conf_int(name, value, 0, WORKLOAD_PROCESSES_MAX, &of));
    r->of = (int)of;
    return 0;
}

static int set_calls(struct parse *ps, const char *name, const char *value)
{
    struct workload_calls *c = &ps->calls;
    if (strcmp(name, "n") == 0) return conf_int(name, value, 0, WORKLOAD_CALLS_MAX, &c->n);
    if (strcmp(name, "bytes") == 0) return conf_int(name, value, 0, WORKLOAD_BYTES_MAX, &c->bytes);
    if (strcmp(name, "begin") == 0) {
        c->placed = true;
        return conf_int(name, value, -WORKLOAD_BYTES_MAX, WORKLOAD_BYTES_MAX, &c->begin);
    }
    if (strcmp(name, "lead") == 0) return conf_int(name, value, 1, WORKLOAD_CALLS_MAX, &c->lead);
    if (strcmp(name, "shift") == 0) {
        c->placed = c->shifted = true;
        return conf_int(name, value, -WORKLOAD_BYTES_MAX, WORKLOAD_BYTES_MAX, &c->shift);
    }
    if (strcmp(name, "span") == 0) return conf_int(name, value, 1, WORKLOAD_BYTES_MAX, &c->span);
    if (strcmp(name, "skips") == 0) return conf_int(name, value, 1, WORKLOAD_CALLS_MAX, &c->skips);
    if (strcmp(name, "function") != 0) return ERR_USAGE;
    c->kind = workload_kind_find(value);
    if (c->kind >= 0) return 0;
    return err_set(ERR_USAGE, "function: \"%s\" is not a data access function of MPI-IO", value);
}

static int set_file(struct parse *ps, const char *name, const char *value)
{
    int64_t index;
    if (strcmp(name, "index") == 0) {
        TRY(conf_int(name, value, 0, WORKLOAD_FILES_MAX - 1, &index));
        ps->file_index = (int)index;
        return 0;
    }
    if (strcmp(name, "name") != 0) return ERR_USAGE;
    free(ps->file_name);
    ps->file_name = strdup(value);
    return ps->file_name ? 0 : mem_error("the name of a file");
}

/* An element: where it stands, how one of its attributes is set (ERR_USAGE without a message: it
 * has none of that name), and which it must have. */
static const struct {
    const char *name;
    enum element id, parent, other_parent;
    int (*set)(struct parse *ps, const char *name, const char *value);
    const char *required[WORKLOAD_NUMBERS + 1];
} elements[] = {
    {"workload", WORKLOAD, NONE, NONE, set_workload, {"version"}},
    {"file", NAMED_FILE, WORKLOAD, WORKLOAD, set_file, {"index", "name"}},
    {"workingPoint",
     POINT,
     WORKLOAD,
     WORKLOAD,
     set_point,
     {"processNum", "sizeMean", "uniqueBytes", "readFrac", "collFrac", "syncFrac", "seqFrac",
      "sharedFrac", "contMean"}},
    {"rank", RANK, POINT, POINT, set_rank, {"of", "calls", "bytes"}},
    {"calls", CALLS, POINT, RANK, set_calls, {"function", "n", "bytes"}},
};

static int attributes(struct parse *ps, size_t e, const XML_Char **attribute)
{
    for (int a = 0; attribute[a]; a += 2) {
        const int rc = elements[e].set(ps, attribute[a], attribute[a + 1]);
        if (rc < 0 && !err_message()[0])
            return err_set(ERR_USAGE, "<%s> has no attribute \"%s\"", elements[e].name,
                           attribute[a]);
        if (rc < 0) return rc;
    }
    for (int r = 0; elements[e].required[r]; r++) {
        int a = 0;
        while (attribute[a] && strcmp(attribute[a], elements[e].required[r]) != 0)
            a += 2;
        if (!attribute[a])
            return err_set(ERR_USAGE, "<%s> lacks the attribute \"%s\"", elements[e].name,
                           elements[e].required[r]);
    }
    return 0;
}

/* --- elements ------------------------------------------------------------------------------- */

static void XMLCALL begin(void *data, const XML_Char *name, const XML_Char **attribute)
{
    struct parse *ps = data;
    const enum element parent = ps->depth > 0 ? ps->stack[ps->depth - 1] : NONE;
    size_t e = 0;
    while (e < sizeof elements / sizeof elements[0] && strcmp(elements[e].name, name) != 0)
        e++;
    if (e == sizeof elements / sizeof elements[0]) {
        fail(ps, err_set(ERR_USAGE, "<%s> is not an element of a workload", name));
        return;
    }
    if (parent != elements[e].parent && parent != elements[e].other_parent) {
        fail(ps, err_set(ERR_USAGE, "<%s> cannot stand here", name));
        return;
    }
    ps->stack[ps->depth++] = elements[e].id;
    if (elements[e].id == POINT)
        ps->point = (struct workload_point){
            .line = (int)XML_GetCurrentLineNumber(ps->parser),
            .column = (int)XML_GetCurrentColumnNumber(ps->parser) + 1,
        };
    if (elements[e].id == RANK) ps->rank = (struct workload_rank){.of = 0};
    if (elements[e].id == CALLS) ps->calls = (struct workload_calls){.kind = 0};
    const int rc = attributes(ps, e, attribute);
    if (rc < 0) fail(ps, rc);
}

/* One more place in an array that is doubled when it is full. */
static void *grow_array(void *array, int n, size_t size)
{
    if ((n & (n - 1)) != 0) return array;
    return realloc(array, (n == 0 ? 1 : 2 * (size_t)n) * size);
}

static int end_calls(struct parse *ps, bool of_rank)
{
    int *n = of_rank ? &ps->rank.list_n : &ps->point.list_n;
    struct workload_calls **list = of_rank ? &ps->rank.list : &ps->point.list;
    struct workload_calls *more = *n < WORKLOAD_KINDS ? grow_array(*list, *n, sizeof *more) : NULL;
    if (!more) return err_set(ERR_USAGE, "more <calls> than there are functions");
    *list = more;
    more[(*n)++] = ps->calls;
    return 0;
}

static int end_rank(struct parse *ps)
{
    struct workload_point *p = &ps->point;
    struct workload_rank *more =
        p->ranks_n < RANKS_MAX ? grow_array(p->rank, p->ranks_n, sizeof *more) : NULL;
    if (!more) return mem_error("so many <rank>");
    p->rank = more;
    more[p->ranks_n++] = ps->rank;
    ps->rank = (struct workload_rank){.of = 0};
    return 0;
}

static int end_point(struct parse *ps)
{
    char at[320];
    snprintf(at, sizeof at, "%.200s:%d:%d: ", ps->name, ps->point.line, ps->point.column);
    if (ps->w->points_n == POINTS_MAX)
        return err_set(ERR_USAGE, "more than %d working points", POINTS_MAX);
    TRY(workload_add(ps->w, &ps->point));
    ps->point = (struct workload_point){.file = 0};
    /* The mode stands in the element around it, so that it is known here. */
    return workload_point_check(&ps->w->point[ps->w->points_n - 1], ps->w->separate, at);
}

static int end_file(struct parse *ps)
{
    char **to = &ps->w->file_name[ps->file_index];
    if (*to) return err_set(ERR_USAGE, "file %d has a name already", ps->file_index);
    *to = ps->file_name;
    ps->file_name = NULL;
    return 0;
}

static void XMLCALL end(void *data, const XML_Char *name)
{
    struct parse *ps = data;
    int rc = 0;
    (void)name;
    /* expat calls this for an empty element even if its beginning has stopped the parser. */
    if (ps->rc < 0) return;
    switch (ps->stack[--ps->depth]) {
    case CALLS:
        rc = end_calls(ps, ps->stack[ps->depth - 1] == RANK);
        break;
    case RANK:
        rc = end_rank(ps);
        break;
    case POINT:
        rc = end_point(ps);
        if (rc < 0 && ps->rc == 0) { /* it names the place itself */
            ps->rc = rc;
            XML_StopParser(ps->parser, XML_FALSE);
        }
        return;
    case NAMED_FILE:
        rc = end_file(ps);
        break;
    case WORKLOAD:
    case NONE:
        break;
    }
    if (rc < 0) fail(ps, rc);
}

static void XMLCALL characters(void *data, const XML_Char *text, int n)
{
    struct parse *ps = data;
    for (int i = 0; i < n; i++)
        if (!strchr(" \t\r\n", text[i])) {
            fail(ps, err_set(ERR_USAGE, "text where only elements can stand"));
            return;
        }
}

static void XMLCALL doctype(void *data, const XML_Char *name, const XML_Char *system_id,
                            const XML_Char *public_id, int internal)
{
    struct parse *ps = data;
    (void)name;
    (void)system_id;
    (void)public_id;
    (void)internal;
    fail(ps, err_set(ERR_USAGE, "a document type, and with it entities, is not allowed"));
}

/* --- the whole text ------------------------------------------------------------------------- */

static int parse_text(struct parse *ps, const char *text, size_t bytes)
{
    char at[320];
    XML_SetUserData(ps->parser, ps);
    XML_SetElementHandler(ps->parser, begin, end);
    XML_SetCharacterDataHandler(ps->parser, characters);
    XML_SetStartDoctypeDeclHandler(ps->parser, doctype);
    const enum XML_Status status = XML_Parse(ps->parser, text, (int)bytes, XML_TRUE);
    if (ps->rc < 0) return ps->rc;
    if (status == XML_STATUS_OK) return 0;
    position_text(ps, at, sizeof at);
    return err_set(XML_GetErrorCode(ps->parser) == XML_ERROR_NO_MEMORY ? ERR_NOMEM : ERR_USAGE,
                   "%s%s", at, XML_ErrorString(XML_GetErrorCode(ps->parser)));
}

int workload_read(const char *name, const char *text, size_t bytes, struct workload *w)
{
    struct parse ps = {.name = name, .w = w};
    memset(w, 0, sizeof *w);
    w->seed = 1;
    if (bytes > TEXT_BYTES_MAX)
        return err_set(ERR_USAGE, "%s: more than %d bytes", name, TEXT_BYTES_MAX);
    ps.parser = XML_ParserCreate(NULL);
    if (!ps.parser) return mem_error("reading %s", name);
    int rc = parse_text(&ps, text, bytes);
    if (rc == 0 && w->points_n == 0)
        rc = err_set(ERR_USAGE, "%s:1:1: a workload without a working point", name);
    XML_ParserFree(ps.parser);
    workload_point_free(&ps.point);
    free(ps.rank.list);
    free(ps.file_name);
    if (rc < 0) workload_free(w);
    return rc;
}
