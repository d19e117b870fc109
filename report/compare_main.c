/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-report compare A B. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/version.h"
#include "report/commands.h"
#include "report/compare.h"
#include "report/output.h"

struct options {
    double threshold_percent, level;
    const char *json, *html;
    bool quiet;
};

#define OPT(member) offsetof(struct options, member)

static const struct conf_option options[] = {
    {.name = "threshold",
     .arg = "PCT",
     .def = "5",
     .min = 0,
     .max = 1000,
     .help = "By how many percent B may be worse before it counts, beyond chance.",
     .offset = OPT(threshold_percent),
     .type = CONF_REAL},
    {.name = "level",
     .arg = "P",
     .def = "0.95",
     .min = 0.5,
     .max = 0.999,
     .help = "Confidence of intervals, and certainty that not one of the differences found is "
             "there by chance.",
     .offset = OPT(level),
     .type = CONF_REAL},
    {.name = "json",
     .arg = "FILE",
     .help = "Write the comparison to FILE as JSON.",
     .offset = OPT(json),
     .type = CONF_STRING},
    {.name = "html",
     .arg = "FILE",
     .help = "Write the comparison to FILE as a page with a figure.",
     .offset = OPT(html),
     .type = CONF_STRING},
    {.name = "quiet",
     .help = "Print nothing; the exit status tells.",
     .offset = OPT(quiet),
     .type = CONF_FLAG},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "nht1-report compare",
    .version = NHT1_VERSION,
    .summary = "Whether result B is better or worse than A, beyond chance.",
    .args = "A B",
    .max_args = 2,
    .examples =
        "  nht1-report compare before.json after.json\n"
        "  nht1-report compare runs/monday runs/friday --threshold 10 --html c.html\n"
        "\n"
        "A and B are result files, or folders of them. Runs of the same problem, writer and\n"
        "configuration are compared: run time T_T, rate while writing, T_C. Each needs 3 runs\n"
        "or more on each side, better 5 (--repeat 5).\n"
        "\n"
        "Exit status: 0 B is the same or better; 2 worse than the threshold in a metric;\n"
        "1 not comparable (other N, steps, interval, layout, durability, definition; too few\n"
        "runs), with the reasons; 3 a file cannot be read or written.\n",
    .options = options,
};

static int check(const struct options *o)
{
    if (o->html) TRY(output_check(o->html, "--html"));
    const int rc = o->json ? js_check_target(o->json, "nht1-compare/") : 0;
    if (rc < 0) err_prefix("--json: ");
    return rc;
}

static int write_json(const struct compare *c, const struct options *o, const char *const *name)
{
    json_t *result = compare_json(c, name[0], name[1]);
    const int rc = js_write(o->json, result, JS_SYNC_NONE);
    if (rc < 0) err_prefix("--json: ");
    json_decref(result);
    return rc;
}

static int write_html(const struct compare *c, const struct options *o, const char *const *name)
{
    struct page *page = compare_page(c, name[0], name[1]);
    int rc = page_ok(page) ? output_draw(page, NULL, PROGRESS_NEVER)
                           : err_set(ERR_NOMEM, "no memory for the page");
    if (rc == 0) rc = output_html(page, o->html);
    page_free(page);
    return rc;
}

/* What the exit status is made of. */
static int verdict(const struct compare *c)
{
    if (!compare_is_possible(c)) {
        const char *why = json_string_value(json_array_get(c->reasons, 0));
        return err_set(ERR_USAGE, "not comparable: %s",
                       why ? why : "fewer than 3 values of the same quantity on a side");
    }
    return compare_is_worse(c) ? ERR_VERIFY : 0;
}

static int work(const struct options *o, const char *const *name)
{
    struct docs a = {0}, b = {0};
    struct compare c = {.level = o->level, .threshold = o->threshold_percent / 100};
    int rc = check(o);
    if (rc == 0) rc = docs_load(&a, &name[0], 1);
    if (rc == 0) rc = docs_load(&b, &name[1], 1);
    if (rc == 0) rc = compare_docs(&c, &a, &b);
    if (rc == 0 && !o->quiet) compare_text(&c, name[0], name[1], stdout);
    if (rc == 0 && o->json) rc = write_json(&c, o, name);
    if (rc == 0 && o->html) rc = write_html(&c, o, name);
    if (rc == 0) rc = verdict(&c);
    compare_free(&c);
    docs_free(&b);
    docs_free(&a);
    return rc;
}

int compare_main(int argc, char **argv)
{
    struct options o;
    struct conf_list args;
    const int what = conf_parse(&program, argc, argv, &o, &args, NULL);
    int rc = what < 0 ? what : 0;
    if (what < 0) return rc;
    if (what == CONF_HELP) conf_help(&program, stdout);
    if (what == CONF_VERSION) printf("nht1-report %s\n", NHT1_VERSION);
    if (what == CONF_RUN)
        rc = args.n == 2 ? work(&o, args.item)
                         : err_set(ERR_USAGE, "two results are compared: nht1-report compare "
                                              "[OPTION...] A B; see --help");
    conf_free(&program, &o, &args);
    return rc;
}
