/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Command lines are read, and --help is printed, by argp. It says only that a command line is
 * wrong; explain() says what is wrong with it. */
#include "base/conf.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/suggestion.h"
#include "base/num.h"

enum { NAME_MAX_CHARS = 64 };

/* Keys given to argp: the letter of an option that has one, else KEY_LONG + its index. */
enum { KEY_LONG = 0x200, KEY_HELP = 0x100, KEY_VERSION = 0x101 };

/* --- values --------------------------------------------------------------------------------- */

static void *member(const struct conf_option *o, void *opts)
{
    return (char *)opts + o->offset;
}

/* " from 1 to 8", ", at least 1", ", at most 8" or nothing in buf, to be put behind "a number";
 * limits nobody reaches are not worth a mention. */
static const char *range(double min, double max, char *buf, size_t size)
{
    char lo[NUM_TEXT_MAX], hi[NUM_TEXT_MAX];
    const double far = 1e15;
    buf[0] = '\0';
    if (min == 0 && max == 0) return buf;
    bool low = min > -far, high = max < far;
    num_real(min, lo);
    num_real(max, hi);
    if (low && high) snprintf(buf, size, " from %s to %s", lo, hi);
    if (low && !high) snprintf(buf, size, ", at least %s", lo);
    if (!low && high) snprintf(buf, size, ", at most %s", hi);
    return buf;
}

int conf_int(const char *what, const char *text, int64_t min, int64_t max, int64_t *out)
{
    int64_t value = 0;
    char allowed[80];
    const bool any = min == 0 && max == 0;
    if (num_int_parse(text, &value) == 0 && (any || (value >= min && value <= max))) {
        *out = value;
        return 0;
    }
    return err_set(ERR_USAGE, "%s: \"%s\" is not allowed; give a whole number%s", what, text,
                   range((double)min, (double)max, allowed, sizeof allowed));
}

int conf_real(const char *what, const char *text, double min, double max, double *out)
{
    double value = 0;
    char allowed[80];
    const bool any = min == 0 && max == 0;
    if (num_real_parse(text, &value) == 0 && (any || (value >= min && value <= max))) {
        *out = value;
        return 0;
    }
    return err_set(ERR_USAGE, "%s: \"%s\" is not allowed; give a number%s", what, text,
                   range(min, max, allowed, sizeof allowed));
}

/* Which of "a|b|c" a text is, in capitals or not, from 0; -1: none. at: [out] where that begins. */
static int choice_of(const char *choices, const char *text, const char **at)
{
    const size_t len = strlen(text);
    int index = 0;
    for (const char *c = choices; c; c = strchr(c, '|'), index++) {
        if (*c == '|') c++;
        *at = c;
        if (strcspn(c, "|") == len && strncasecmp(c, text, len) == 0) return index;
    }
    return -1;
}

/* The choice as the table has it: texts that were asked for in other letters are kept here, each once,
 * until the program ends. NULL without memory. */
static const char *canonical(const char *at, size_t len)
{
    static struct word {
        struct word *next;
        char text[];
    } * words;
    for (struct word *w = words; w; w = w->next)
        if (strlen(w->text) == len && memcmp(w->text, at, len) == 0) return w->text;
    struct word *w = calloc(1, sizeof *w + len + 1);
    if (!w) return NULL;
    memcpy(w->text, at, len);
    w->next = words;
    words = w;
    return w->text;
}

static int set_choice(const struct conf_option *o, const char *what, const char *text,
                      const char **to)
{
    const char *at;
    char meant[SUGGESTION_TEXT_MAX];
    const size_t len = strlen(text);
    if (choice_of(o->choices, text, &at) < 0)
        return err_set(ERR_USAGE, "%s: \"%s\" is not allowed; choose one of %s%s", what, text,
                       o->choices, suggestion_of(text, o->choices, meant));
    *to = strncmp(at, text, len) == 0 ? text : canonical(at, len);
    return *to ? 0 : mem_error("the command line");
}

/* The limit of the table as an integer; doubles reach beyond int64_t. */
static int64_t to_limit(double x)
{
    if (x >= 0x1p63) return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

static int list_append(struct conf_list *list, const char *text)
{
    const char **item = mem_grow(list->item, list->n + 1, sizeof *item, "the command line");
    if (!item) return ERR_NOMEM;
    list->item = item;
    list->item[list->n++] = text;
    return 0;
}

int conf_set_as(const char *what, const struct conf_option *o, void *opts, const char *text)
{
    void *to = member(o, opts);
    switch (o->type) {
    case CONF_FLAG:
        *(bool *)to = true;
        return 0;
    case CONF_INT:
        return conf_int(what, text, to_limit(o->min), to_limit(o->max), to);
    case CONF_REAL:
        return conf_real(what, text, o->min, o->max, to);
    case CONF_CHOICE:
        return set_choice(o, what, text, to);
    case CONF_STRING:
        *(const char **)to = text;
        return 0;
    case CONF_LIST:
        return list_append(to, text);
    }
    return err_set(ERR_USAGE, "%s: an option of unknown type", what);
}

int conf_set(const struct conf_option *o, void *opts, const char *text)
{
    char what[80];
    snprintf(what, sizeof what, "--%s", o->name);
    return conf_set_as(what, o, opts, text);
}

int conf_set_default(const struct conf_option *o, void *opts)
{
    static const size_t bytes[] = {
        [CONF_FLAG] = sizeof(bool),           [CONF_INT] = sizeof(int64_t),
        [CONF_REAL] = sizeof(double),         [CONF_STRING] = sizeof(const char *),
        [CONF_CHOICE] = sizeof(const char *), [CONF_LIST] = sizeof(struct conf_list),
    };
    memset(member(o, opts), 0, bytes[o->type]);
    return o->def ? conf_set(o, opts, o->def) : 0;
}

/* --- what argp works on --------------------------------------------------------------------- */

static int options_n(const struct conf_program *p)
{
    int n = 0;
    while (p->options[n].name)
        n++;
    return n;
}

/* The option that a key of argp stands for, -1 for none. */
static int index_of_key(const struct conf_program *p, int key)
{
    if (key >= KEY_LONG && key < KEY_LONG + options_n(p)) return key - KEY_LONG;
    for (int o = 0; p->options[o].name; o++)
        if (key && p->options[o].key == key) return o;
    return -1;
}

static const char *value_name(const struct conf_option *o)
{
    return o->arg ? o->arg : o->choices ? o->choices : "VALUE";
}

/* To be freed; NULL without memory. A group's heading is an entry of its own; --help and --version
 * are the last group. help: a text for each option, or NULL. */
static struct argp_option *argp_table(const struct conf_program *p, char *const *help)
{
    int n = options_n(p), used = 0, group = 1;
    struct argp_option *t = calloc(2 * (size_t)n + 3, sizeof *t);
    if (!t) return NULL;
    for (int o = 0; o < n; o++) {
        const struct conf_option *c = &p->options[o];
        group += c->group != NULL;
        if (c->group) t[used++] = (struct argp_option){.doc = c->group, .group = group};
        t[used++] = (struct argp_option){.name = c->name,
                                         .key = c->key ? c->key : KEY_LONG + o,
                                         .arg = c->type == CONF_FLAG ? NULL : value_name(c),
                                         .doc = help ? help[o] : NULL,
                                         .group = group};
    }
    const int key = index_of_key(p, 'h') < 0 ? 'h' : KEY_HELP;
    t[used++] =
        (struct argp_option){.name = "help", .key = key, .doc = "Print this text", .group = -1};
    t[used] = (struct argp_option){
        .name = "version", .key = KEY_VERSION, .doc = "Print the version", .group = -1};
    return t;
}

/* What an option does, and what it may be. malloc'ed. */
static char *help_text(const struct conf_option *o)
{
    char *text = NULL, number[80], allowed[160] = "", def[160] = "";
    if (range(o->min, o->max, number, sizeof number)[0])
        snprintf(allowed, sizeof allowed, " A number%s.", number);
    if (o->choices && o->arg) snprintf(allowed, sizeof allowed, " One of %s.", o->choices);
    if (o->def && o->type != CONF_FLAG) {
        const bool stop = strcmp(o->def, ".") == 0; /* the folder, not the end of the sentence */
        snprintf(def, sizeof def, stop ? " Default: '%s'." : " Default: %s.", o->def);
    }
    return asprintf(&text, "%s%s%s%s", o->help ? o->help : "",
                    o->output ? " '-' is standard output; what is printed goes to standard error "
                                "then."
                              : "",
                    allowed, def) < 0
               ? NULL
               : text;
}

void conf_help(const struct conf_program *p, FILE *to)
{
    const int n = options_n(p);
    char **help = calloc((size_t)n + 1, sizeof *help);
    for (int o = 0; help && o < n; o++)
        help[o] = help_text(&p->options[o]);
    struct argp_option *table = argp_table(p, help);
    const struct argp argp = {.options = table, .args_doc = p->args, .doc = p->summary};
    const unsigned what = ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC | ARGP_HELP_LONG;
    if (table && help) argp_help(&argp, to, what, (char *)p->name);
    /* argp would fill their lines. */
    if (p->examples) fprintf(to, "\nExamples:\n%s", p->examples);
    for (int o = 0; help && o < n; o++)
        free(help[o]);
    free(help);
    free(table);
}

/* The words of "a|b|c" appended to a list. */
static void add_words(json_t *list, const char *words)
{
    while (words && *words) {
        const size_t len = strcspn(words, "|");
        json_array_append_new(list, json_stringn(words, len));
        words += len + (words[len] == '|');
    }
}

json_t *conf_table_json(const struct conf_program *p)
{
    json_t *options = json_array();
    for (const struct conf_option *o = p->options; o->name; o++) {
        char *help = help_text(o), letter[2] = {(char)o->key, '\0'};
        json_t *words = json_array();
        add_words(words, o->choices);
        add_words(words, o->words);
        for (int i = 0; o->word && o->word(i); i++)
            json_array_append_new(words, json_string(o->word(i)));
        json_array_append_new(options, json_pack("{ss ss* ss* ss* ss* ss* so sb}", "name", o->name,
                                                 "letter", o->key ? letter : NULL, "value",
                                                 o->type == CONF_FLAG ? NULL : value_name(o),
                                                 "help", help, "kind", o->kind, "group", o->group,
                                                 "words", words, "repeats", o->type == CONF_LIST));
        free(help);
    }
    return json_pack("{ss ss ss ss* ss* so}", "name", p->name, "version", p->version, "summary",
                     p->summary, "args", p->args, "examples", p->examples, "options", options);
}

/* --- what is wrong with a command line ------------------------------------------------------ */

/* The option, of the program or of all, meant by a name or an unambiguous prefix of one. Returns 0, or ERR_USAGE with those
 * that it could be, or the nearest one. */
static int find(const struct conf_program *p, const char *name, const struct conf_option **found)
{
    static const struct conf_option of_all[] = {{.name = "help", .type = CONF_FLAG},
                                                {.name = "version", .type = CONF_FLAG}};
    char list[256] = "";
    struct suggestion near = {.word = name};
    char meant[SUGGESTION_TEXT_MAX];
    const int own_n = options_n(p);
    int n = 0;
    for (int i = 0; i < own_n + 2; i++) {
        const struct conf_option *o = i < own_n ? &p->options[i] : &of_all[i - own_n];
        suggestion_try(&near, o->name);
        if (strncmp(o->name, name, strlen(name)) != 0) continue;
        *found = o;
        if (strcmp(o->name, name) == 0) return 0;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s--%s", n++ ? ", " : "", o->name);
    }
    if (n == 1) return 0;
    if (n > 1) return err_set(ERR_USAGE, "--%s could be any of %s; write it out", name, list);
    return err_set(ERR_USAGE, "unknown option --%s%s (see --help)", name,
                   suggestion_text(&near, "--", meant));
}

static int explain_missing(const struct conf_option *o)
{
    return err_set(ERR_USAGE, "--%s needs a value: --%s %s", o->name, o->name,
                   o->choices ? o->choices : value_name(o));
}

/* Returns 0 when nothing is wrong with "--name" or "--name=value". last: no word follows. */
static int explain_long(const struct conf_program *p, const char *word, bool last)
{
    char name[NAME_MAX_CHARS + 1];
    const struct conf_option *o = NULL;
    const size_t len = strcspn(word + 2, "=");
    const bool has_value = word[2 + len] == '=';
    snprintf(name, sizeof name, "%.*s", (int)len, word + 2);
    TRY(find(p, name, &o));
    if (o->type == CONF_FLAG && has_value)
        return err_set(ERR_USAGE, "--%s takes no value", o->name);
    return o->type != CONF_FLAG && !has_value && last ? explain_missing(o) : 0;
}

/* The same for letters: "-ab", "-xVALUE". */
static int explain_short(const struct conf_program *p, const char *word, bool last)
{
    for (const char *c = word + 1; *c; c++) {
        const int index = index_of_key(p, *c);
        const struct conf_option *o = &p->options[index < 0 ? 0 : index];
        if (index < 0 && *c != 'h')
            return err_set(ERR_USAGE, "unknown option -%c (see --help)", *c);
        if (index >= 0 && o->type != CONF_FLAG) return !c[1] && last ? explain_missing(o) : 0;
    }
    return 0;
}

/* Records what is wrong with a command line that argp has refused. argv: as argp left it. next:
 * index of the word that would have been read next. The word refused is the one just read, or the
 * next one when it stands in a bundle of letters. */
static int explain(const struct conf_program *p, int argc, char **argv, int next)
{
    for (int w = next - 1; w <= next; w++) {
        if (w < 1 || w >= argc || argv[w][0] != '-' || !argv[w][1]) continue;
        TRY((argv[w][1] == '-' ? explain_long : explain_short)(p, argv[w], w == argc - 1));
    }
    return err_set(ERR_USAGE, "cannot read the command line (see --help)");
}

/* --- reading it ----------------------------------------------------------------------------- */

/* What the callback of argp works on. */
struct parse {
    const struct conf_program *program;
    void *opts;
    struct conf_list *args;
    bool *given;
    int result; /* CONF_HELP, CONF_VERSION or a negative cause, once argp has been stopped */
    int next;   /* word that argp would have read next when it found an error */
};

static int take_argument(const struct conf_program *p, struct conf_list *args, const char *text)
{
    const int most = p->args ? p->max_args : 0;
    if (args && args->n < most) return list_append(args, text);
    if (most == 0)
        return err_set(ERR_USAGE, "unexpected word \"%s\"; %s takes options only (see --help)",
                       text, p->name);
    return err_set(ERR_USAGE, "unexpected word \"%s\" after the %d allowed (see --help)", text,
                   most);
}

/* The callback. Any error number stops argp; the reason is in result. */
static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct parse *ps = state->input;
    const int index = index_of_key(ps->program, key);
    if (index >= 0) {
        const struct conf_option *o = &ps->program->options[index];
        /* Values of a list on the command line stand in for the default, they are not added. */
        if (o->type == CONF_LIST && !ps->given[index])
            ((struct conf_list *)member(o, ps->opts))->n = 0;
        if (o->once && ps->given[index])
            ps->result = err_set(ERR_USAGE, "--%s takes one value: run %s once for each", o->name,
                                 ps->program->name);
        else
            ps->result = conf_set(o, ps->opts, text);
        ps->given[index] = true;
    } else if (key == ARGP_KEY_ARG) {
        ps->result = take_argument(ps->program, ps->args, text);
    } else if (key == KEY_HELP || key == 'h') {
        ps->result = CONF_HELP;
    } else if (key == KEY_VERSION) {
        ps->result = CONF_VERSION;
    } else {
        if (key == ARGP_KEY_ERROR) ps->next = state->next;
        return ARGP_ERR_UNKNOWN;
    }
    return ps->result ? ECANCELED : 0;
}

int conf_parse(const struct conf_program *p, int argc, char **argv, void *opts,
               struct conf_list *args, bool *given)
{
    const size_t n = (size_t)options_n(p);
    int rc = 0;
    if (args) memset(args, 0, sizeof *args);
    for (size_t o = 0; o < n; o++) {
        const int set = conf_set_default(&p->options[o], opts);
        if (rc == 0) rc = set;
    }
    bool *seen = calloc(n + 1, sizeof *seen);
    char **copy = calloc((size_t)argc + 1, sizeof *copy); /* getopt reorders what it reads */
    struct argp_option *table = argp_table(p, NULL);
    if (!seen || !copy || !table) rc = mem_error("the command line");
    if (rc == 0) {
        memcpy(copy, argv, (size_t)argc * sizeof *copy);
        struct parse ps = {p, opts, args, seen, 0, 0};
        const struct argp argp = {.options = table, .parser = parse_option};
        const unsigned flags = ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP;
        const error_t failed = argp_parse(&argp, argc, copy, flags, NULL, &ps);
        rc = failed && ps.result == 0 ? explain(p, argc, copy, ps.next) : ps.result;
    }
    if (given && seen) memcpy(given, seen, n * sizeof *seen);
    if (rc < 0) conf_free(p, opts, args);
    free(table);
    free(copy);
    free(seen);
    return rc;
}

static void list_free(struct conf_list *list)
{
    free(list->item);
    memset(list, 0, sizeof *list);
}

void conf_free(const struct conf_program *p, void *opts, struct conf_list *args)
{
    for (const struct conf_option *o = p->options; o->name; o++)
        if (o->type == CONF_LIST) list_free(member(o, opts));
    if (args) list_free(args);
}

/* The option of the table that has this name. */
static int index_of_name(const struct conf_program *p, const char *name)
{
    int o = 0;
    while (p->options[o].name && strcmp(p->options[o].name, name) != 0)
        o++;
    ERR_ASSERT(p->options[o].name);
    return o;
}

bool conf_given(const struct conf_program *p, const bool *given, const char *name)
{
    return given[index_of_name(p, name)];
}

int conf_chosen(const struct conf_program *p, const void *opts, const char *name)
{
    const struct conf_option *o = &p->options[index_of_name(p, name)];
    const char *at;
    return choice_of(o->choices, *(const char *const *)((const char *)opts + o->offset), &at);
}

bool conf_takes_stdout(const struct conf_program *p, const void *opts)
{
    for (const struct conf_option *o = p->options; o->name; o++) {
        const char *value =
            o->output ? *(const char *const *)((const char *)opts + o->offset) : NULL;
        if (value && js_is_stdout(value)) return true;
    }
    return false;
}

bool conf_next_word(const char **list, char *word, size_t size)
{
    if (!*list) return false;
    snprintf(word, size, "%.*s", (int)strcspn(*list, ","), *list);
    const char *comma = strchr(*list, ',');
    *list = comma ? comma + 1 : NULL;
    return true;
}

int conf_name_ends(const char *option, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL, *last = slash ? slash + 1 : path;
    if (!path) return 0;
    if (!path[0]) return err_set(ERR_USAGE, "%s: the name of the file is empty", option);
    if (last[0] && strcmp(last, ".") != 0 && strcmp(last, "..") != 0) return 0;
    return err_set(ERR_USAGE, "%s: %s is a directory; name a file", option, path);
}

int conf_name_file(const char *option, const char *path)
{
    struct stat st;
    TRY(conf_name_ends(option, path));
    if (!path || stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) return 0;
    return err_set(ERR_USAGE, "%s: %s is a directory; name a file", option, path);
}

void conf_name_full(const char *path, char out[CONF_NAME_MAX])
{
    char folder[PATH_MAX], full[PATH_MAX];
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    snprintf(out, CONF_NAME_MAX, "%s", path);
    if (strlen(path) >= PATH_MAX || realpath(path, out)) return;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(base - path) : 1, slash ? path : ".");
    if (realpath(folder, full))
        snprintf(out, CONF_NAME_MAX, "%s/%s", strcmp(full, "/") == 0 ? "" : full, base);
    else
        snprintf(out, CONF_NAME_MAX, "%s", path);
}

int conf_files_differ(const char *option, const char *path, const char *other, const char *there)
{
    char file[2][CONF_NAME_MAX];
    if (!path || !there || !path[0]) return 0;
    conf_name_full(path, file[0]);
    conf_name_full(there, file[1]);
    if (strcmp(file[0], file[1]) != 0) return 0;
    return err_set(ERR_USAGE, "%s and %s have the same file, %s", other, option, path);
}
