/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-report RESULT...: one report out of any number of results. */
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/units.h"
#include "base/version.h"
#include "report/commands.h"
#include "report/output.h"
#include "report/report.h"

#define FILES_MAX 100000

struct options {
    const char *output, *figures, *markdown, *csv, *title, *progress;
    double level;
};

#define OPT(member) offsetof(struct options, member)

static const struct conf_option options[] = {
    {.name = "output",
     .key = 'o',
     .arg = "FILE",
     .def = "report.html",
     .help = "Write the report to FILE: one HTML file with all figures in it, which needs no "
             "network and prints well.",
     .offset = OPT(output),
     .type = CONF_STRING},
    {.name = "figures",
     .arg = "DIR",
     .help = "Keep every figure in DIR, made when it is not there: NAME.svg, NAME.png, its data "
             "NAME.csv and NAME.gp, the script that draws it (gnuplot NAME.gp).",
     .offset = OPT(figures),
     .type = CONF_STRING},
    {.name = "markdown",
     .arg = "FILE",
     .help = "Write the report as Markdown, too; with --figures it shows the drawings.",
     .offset = OPT(markdown),
     .type = CONF_STRING},
    {.name = "csv",
     .arg = "DIR",
     .help = "Write every table as NAME.csv into DIR, made when it is not there.",
     .offset = OPT(csv),
     .type = CONF_STRING},
    {.name = "title",
     .arg = "TEXT",
     .help = "Heading of the report; by default it names the system.",
     .offset = OPT(title),
     .type = CONF_STRING},
    {.name = "level",
     .arg = "P",
     .def = "0.95",
     .min = 0.5,
     .max = 0.999,
     .help = "Confidence of the intervals.",
     .offset = OPT(level),
     .type = CONF_REAL},
    {.name = "progress",
     .arg = "WHEN",
     .def = "auto",
     .choices = "auto|always|never",
     .help = "Show how far the drawing has come, on standard error; auto: on a terminal.",
     .offset = OPT(progress),
     .type = CONF_CHOICE},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "nht1-report",
    .version = NHT1_VERSION,
    .summary = "Reports, comparisons and statistics of results.",
    .args = "RESULT.json...",
    .max_args = FILES_MAX,
    .examples =
        "  nht1-report result.json                     report.html out of one result\n"
        "  nht1-report runs/out/processors -o p.html   all results below a folder\n"
        "  nht1-report *.json --figures fig --csv tab  figures and tables as files, too\n"
        "  nht1-report compare old.json new.json       better or worse, beyond chance\n"
        "  nht1-report stats 2.31 2.35 2.29            median, interval, outliers as JSON\n"
        "\n"
        "Results are what nht1-bt, nht1-beff and nht1-beffio write with --json. Runs of the\n"
        "same problem, writer and configuration are repetitions of each other, whichever file\n"
        "they stand in. Figures are drawn by gnuplot (the one that NHT1_GNUPLOT names, else the\n"
        "one on the PATH); without it the report has tables and text, and the data and scripts\n"
        "of the figures can be kept with --figures.\n"
        "\n"
        "Exit status: 0 success; 1 wrong option, or a file that is no result; 3 a file cannot\n"
        "be read or written.\n",
    .options = options,
};

/* Everything that would fail is found out before the work. */
static int check(const struct options *o)
{
    TRY(output_check(o->output, "-o"));
    if (o->markdown) TRY(output_check(o->markdown, "--markdown"));
    if (o->figures) TRY(output_directory(o->figures, "--figures"));
    if (o->csv) TRY(output_directory(o->csv, "--csv"));
    return 0;
}

static int write_all(const struct page *page, const struct options *o)
{
    TRY(output_html(page, o->output));
    if (o->markdown) TRY(output_markdown(page, o->markdown, o->figures));
    return o->csv ? page_csv(page, o->csv) : 0;
}

static void say(const struct report *r, const struct options *o)
{
    if (strncmp(o->output, "/dev/", strlen("/dev/")) == 0) return; /* the page is the output */
    printf("%d result%s", r->docs->n, units_plural(r->docs->n));
    if (r->runs.runs_n > 0) printf(", %d run%s", r->runs.runs_n, units_plural(r->runs.runs_n));
    printf(": %s\n", o->output);
    if (r->docs->skipped_n > 0)
        printf("%d other JSON file%s passed over\n", r->docs->skipped_n,
               units_plural(r->docs->skipped_n));
}

static int make(const struct options *o, const struct docs *docs)
{
    struct report r = {.docs = docs, .level = o->level};
    int rc = report_build(&r, o->title);
    if (rc == 0) rc = output_draw(r.page, o->figures, progress_mode_of(o->progress));
    if (rc == 0) rc = write_all(r.page, o);
    if (rc == 0) say(&r, o);
    report_free(&r);
    return rc;
}

static int work(const struct options *o, const struct conf_list *args)
{
    struct docs docs = {0};
    if (args->n < 1)
        return err_set(ERR_USAGE, "which results? usage: nht1-report RESULT.json...; see --help");
    int rc = docs_load(&docs, args->item, args->n);
    if (rc == 0) rc = check(o);
    if (rc == 0) rc = make(o, &docs);
    docs_free(&docs);
    return rc;
}

int report_main(int argc, char **argv)
{
    struct options o;
    struct conf_list args;
    const int what = conf_parse(&program, argc, argv, &o, &args, NULL);
    if (what < 0) return what;
    if (what == CONF_HELP) conf_help(&program, stdout);
    if (what == CONF_VERSION) printf("%s %s\n", program.name, program.version);
    const int rc = what == CONF_RUN ? work(&o, &args) : 0;
    conf_free(&program, &o, &args);
    return rc;
}
