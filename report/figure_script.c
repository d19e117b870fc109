/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The script that draws a figure. It reads the CSV beside it and filters it by panel and series, so
 * that it still works when rows are added or taken away; gnuplot does not read fields in quotes
 * that hold a comma, so that there are none. Both drawings come from one loop. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "report/figure_impl.h"
#include "report/text.h"

enum {
    SINGLE_WIDTH = 720,
    TOTAL_WIDTH = 960,
    HEIGHT = 400,
    ROW_HEIGHT = 26,
    ROWS_MORE = 150,
    KEY_HEIGHT = 20,
    TICKS_LINES = 4 /* below a panel: ticks, label, room */
};

/* Okabe and Ito, without the yellow that vanishes on white; neighbours differ in grey, too. Points
 * are filled and open in turns. */
static const char *const colour[] = {"#0072B2", "#E69F00", "#009E73", "#D55E00",
                                     "#CC79A7", "#000000", "#56B4E9"};
static const int point[] = {7, 4, 9, 12, 5, 6, 13, 8, 11, 10};
#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

static int rows(const struct figure *f)
{
    int most = 0;
    for (int i = 0; i < f->panels_n; i++)
        if (f->panel[i].p.across && f->panel[i].ticks_n > most) most = f->panel[i].ticks_n;
    return most;
}

/* Lines that the longest key of a panel may need. */
static int keys(const struct figure *f)
{
    int most = 0;
    for (int i = 0; i < f->panels_n; i++) {
        const struct figure_page *p = &f->panel[i];
        const int lines = p->lines_n + (p->p.across ? 0 : p->levels_n);
        if (!p->p.no_key && lines > most) most = lines;
    }
    return most;
}

void figure_size(const struct figure *f, int *width, int *height)
{
    *width = f->panels_n == 1 ? SINGLE_WIDTH : TOTAL_WIDTH;
    const int key_lines = keys(f), side_by_side = f->panels_n > 1 && key_lines > 2;
    *height = rows(f) > 0 ? ROWS_MORE + ROW_HEIGHT * rows(f) + KEY_HEIGHT * key_lines
                          : HEIGHT + (side_by_side ? KEY_HEIGHT * (key_lines - 2) : 0);
}

static void quoted(FILE *to, text_writer *write, const char *text)
{
    fputc('"', to);
    write(to, text);
    fputc('"', to);
}

static const char *number(double x, char buf[NUM_TEXT_MAX])
{
    return num_real(x, buf);
}

static void looks(const struct figure *f, FILE *to)
{
    for (int i = 0; i < f->looks_n; i++)
        fprintf(to, "set linetype %d lc rgb \"%s\" pt %d dt %d lw 2 ps 1\n", i + 1,
                colour[i % COUNT(colour)], point[i % COUNT(point)], 1 + i / COUNT(colour) * 2);
}

/* The range of the y values, intervals included; low > high without any. */
static void y_range(const struct figure_page *p, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int k = 0; k < p->lines_n; k++)
        for (int i = 0; i < p->line[k].n; i++) {
            const struct figure_datum *d = &p->line[k].datum[i];
            *low = fmin(*low, fmin(d->y, d->low));
            *high = fmax(*high, fmax(d->y, d->high));
        }
}

/* Steps within a decade for ticks of an axis that spans a ratio: the narrower, the more. */
static const struct steps {
    double ratio; /* up to here */
    int n;
    double step[15];
} steps[] = {{3, 15, {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9}},
             {10, 6, {1, 1.5, 2, 3, 5, 7}},
             {1e3, 3, {1, 2, 5}}};

/* Ticks of a logarithmic y axis: gnuplot labels whole decades only, which are too few below three
 * of them, and too long for a panel across above. narrow: one of several panels across, where there
 * is room for few labels. */
static void log_ticks(FILE *to, char name, const struct figure_page *p, bool narrow)
{
    double low, high;
    char from[NUM_TEXT_MAX], until[NUM_TEXT_MAX];
    const char *before = "(";
    const struct steps *s = steps;
    y_range(p, &low, &high);
    if (!(low > 0)) return;
    if (narrow) /* offsets of a logarithmic axis would leave room for decades */
        fprintf(to, "  set %crange [%s:%s]\n", name, number(low / 1.5, from),
                number(high * 1.5, until));
    if (high / low >= 1e3) {
        fprintf(to, "  set format %c \"%s\"\n", name, p->p.across ? "10^{%T}" : "%h");
        if (p->p.across)
            fprintf(to, "  set %ctics %d font \",10\"\n", name, high / low < 1e5 ? 10 : 100);
        return;
    }
    if (narrow && high / low >= 10) {
        fprintf(to, "  set %ctics 10\n", name);
        return;
    }
    while (high / low >= s->ratio || (narrow && s->n > 3))
        s++;
    fprintf(to, "  set %ctics ", name);
    for (int d = (int)floor(log10(low)); d <= (int)ceil(log10(high)); d++)
        for (int i = 0; i < s->n; i++) {
            char buf[NUM_TEXT_MAX];
            num_print(buf, sizeof buf, "%.6g", s->step[i] * pow(10, d));
            fprintf(to, "%s%s", before, buf);
            before = ", ";
        }
    fputs(")\n", to);
}

static void axis(FILE *to, char name, const struct figure_axis *a, const char *label)
{
    char buf[NUM_TEXT_MAX];
    fprintf(to, "  set %clabel ", name);
    quoted(to, text_gnuplot_enh, label);
    fprintf(to, "\n  unset logscale %c\n", name);
    if (a->log > 0) fprintf(to, "  set logscale %c %s\n", name, number(a->log, buf));
    fprintf(to, "  set %crange [%s:*]\n", name, a->from_zero ? "0" : "*");
    fprintf(to, "  set format %c \"%%h\"\n  set %ctics auto\n", name, name);
}

/* Texts at the ticks of the axis that holds x; room at both ends. */
static void ticks(FILE *to, const struct figure_page *p)
{
    const char name = p->p.across ? 'y' : 'x';
    char buf[NUM_TEXT_MAX], end[NUM_TEXT_MAX];
    if (p->ticks_n == 0) return;
    double low = INFINITY, high = -INFINITY;
    fprintf(to, "  set %ctics (", name);
    for (int i = 0; i < p->ticks_n; i++) {
        low = fmin(low, p->tick[i].x);
        high = fmax(high, p->tick[i].x);
        if (i > 0) fputs(", ", to);
        quoted(to, text_gnuplot, p->tick[i].text);
        fprintf(to, " %s", number(p->tick[i].x, buf));
    }
    fputs(") noenhanced\n", to);
    if (p->p.x.log > 0) return;
    number(p->p.across ? high + 0.6 : low - 0.6, buf);
    number(p->p.across ? low - 0.6 : high + 0.6, end);
    fprintf(to, "  set %crange [%s:%s]\n", name, buf, end);
}

/* The axis of a panel across begins left of all levels, and of all values. */
static void room_for_levels(FILE *to, const struct figure_page *p)
{
    double low, high, level = INFINITY;
    char buf[NUM_TEXT_MAX];
    y_range(p, &low, &high);
    for (int i = 0; i < p->levels_n; i++)
        level = fmin(level, p->level[i].y);
    if (p->p.across && p->p.y.log == 0 && level < low)
        fprintf(to, "  set xrange [%s:*]\n", number(level - 0.05 * (high - level), buf));
}

/* Levels of a panel across: upright lines with the note above. The others are plotted, with the
 * note in the key, where it covers nothing. */
static void levels_across(FILE *to, const struct figure_page *p)
{
    char buf[NUM_TEXT_MAX];
    for (int i = 0; p->p.across && i < p->levels_n; i++) {
        number(p->level[i].y, buf);
        fprintf(to,
                "  set arrow from %s, graph 0 to %s, graph 1 nohead lw 1.5 dt 2 lc rgb \"#555555\" "
                "back\n  set label ",
                buf, buf);
        quoted(to, text_gnuplot_enh, p->level[i].text);
        fprintf(to, " at %s, graph 1 center offset 0, 0.6 tc rgb \"#333333\"\n", buf);
    }
}

static void notes(FILE *to, const struct figure_page *p)
{
    char x[NUM_TEXT_MAX], y[NUM_TEXT_MAX];
    for (int i = 0; i < p->notes_n; i++) {
        fputs("  set label ", to);
        quoted(to, text_gnuplot_enh, p->note[i].text);
        number(p->note[i].x, x);
        number(p->note[i].y, y);
        fprintf(to, " at %s, %s center offset 0, 0.8 tc rgb \"#333333\" front\n",
                p->p.across ? y : x, p->p.across ? x : y);
    }
}

static bool has_intervals(const struct figure_line *l)
{
    for (int i = 0; i < l->n; i++)
        if (isfinite(l->datum[i].low) && isfinite(l->datum[i].high)) return true;
    return false;
}

/* How a series is drawn: columns beside x and y (3 low, 4 high of the data are 5 and 6; pos is
 * where x lies), for a panel up and for one across. */
struct drawing {
    const char *columns, *columns_across, *with;
};
static const struct drawing drawing[] = {
    [FIGURE_POINTS] = {"", "", "points"},
    [FIGURE_LINE_POINTS] = {"", "", "linespoints"},
    [FIGURE_LINE] = {"", "", "lines"},
    [FIGURE_BARS] = {":($3-0.35):($3+0.35):(0):4", ":(0):4:($3-0.35):($3+0.35)", "boxxyerror"},
    [FIGURE_BLOCKS] = {":($3-0.35):($3+0.35):5:6", ":5:6:($3-0.35):($3+0.35)", "boxxyerror"},
    [FIGURE_RINGS] = {"", "", "points pt 6 ps 2.2 lw 1.2 lc rgb \"#555555\""},
};
static const struct drawing intervals = {":5:6", ":5:6", NULL};

/* A series where it stands. */
struct place {
    const struct figure *f;
    const struct figure_page *p;
    const struct figure_line *l;
};

/* Hatched blocks lie between full ones, for prints in grey. */
static const char *const fill[] = {"solid 0.85", "pattern 4", "solid 0.5",
                                   "pattern 5",  "pattern 1", "solid 1"};

static bool is_block(const struct figure_line *l)
{
    return l->style == FIGURE_BLOCKS || l->style == FIGURE_BARS;
}

/* One clause of the plot command, without what stands between clauses. */
static void clause(FILE *to, const struct place *at, const struct drawing *how, const char *with)
{
    const struct figure *f = at->f;
    const struct figure_page *p = at->p;
    const struct figure_line *l = at->l;
    fputs(p->p.across ? "data using 4:(pick(" : "data using (pick(", to);
    quoted(to, text_csv_plain, figure_panel_name(f, p));
    fputs(", ", to);
    quoted(to, text_csv_plain, l->label);
    fputs(p->p.across ? "))" : ")):4", to);
    fprintf(to, "%s with %s", p->p.across ? how->columns_across : how->columns, with);
    if (l->look >= 0) fprintf(to, " lt %d", l->look + 1);
    if (is_block(l)) fprintf(to, " fs %s border lc rgb \"#333333\"", fill[l->look % COUNT(fill)]);
}

static void title(FILE *to, const struct figure_line *l)
{
    fputs(" title ", to);
    quoted(to, text_gnuplot, l->label);
    fputs(" noenhanced", to);
}

/* What stands before a clause: the command before the first. */
static void separate(FILE *to, bool *first)
{
    fputs(*first ? "  plot " : ", \\\n    ", to);
    *first = false;
}

static void plot_levels(FILE *to, const struct figure_page *p, bool *first)
{
    char buf[NUM_TEXT_MAX];
    for (int i = 0; !p->p.across && i < p->levels_n; i++) {
        separate(to, first);
        fprintf(to, "%s with lines lw 1.5 dt 2 lc rgb \"#555555\" title ",
                number(p->level[i].y, buf));
        quoted(to, text_gnuplot_enh, p->level[i].text);
    }
}

/* Intervals come first: the points are drawn over them. */
static void plot(FILE *to, const struct figure *f, const struct figure_page *p)
{
    bool first = true;
    for (int k = 0; k < p->lines_n; k++) {
        const struct figure_line *l = &p->line[k];
        if (is_block(l) || !has_intervals(l)) continue;
        separate(to, &first);
        clause(to, &(struct place){f, p, l}, &intervals, p->p.across ? "xerrorbars" : "yerrorbars");
        fputs(" notitle", to);
    }
    for (int k = 0; k < p->lines_n; k++) {
        const struct figure_line *l = &p->line[k];
        if (l->n == 0) continue;
        separate(to, &first);
        clause(to, &(struct place){f, p, l}, &drawing[l->style], drawing[l->style].with);
        if (p->p.no_key)
            fputs(" notitle", to);
        else
            title(to, l);
    }
    plot_levels(to, p, &first);
    fputc('\n', to);
}

static void panel(FILE *to, const struct figure *f, const struct figure_page *p)
{
    const struct figure_panel *s = &p->p;
    fputs("  unset label\n  unset arrow\n  set title ", to);
    quoted(to, text_gnuplot_enh, f->panels_n == 1 ? f->title : p->title);
    fputc('\n', to);
    axis(to, s->across ? 'y' : 'x', &s->x, p->x_label);
    axis(to, s->across ? 'x' : 'y', &s->y, p->y_label);
    if (s->y.log == 10) log_ticks(to, s->across ? 'x' : 'y', p, s->across && f->panels_n > 1);
    ticks(to, p);
    room_for_levels(to, p);
    levels_across(to, p);
    fprintf(to, "  set offsets graph 0.04, graph 0.04, graph %s, graph 0.04\n",
            p->notes_n > 0 ? "0.18" : "0.04");
    notes(to, p);
    for (int i = 0; i < p->extras_n; i++)
        fprintf(to, "  %s\n", p->extra[i].text);
    plot(to, f, p);
}

static void head(FILE *to, const struct figure *f)
{
    fputs("# ", to);
    text_gnuplot(to, f->title); /* on one line: what follows a line's end would be obeyed */
    fprintf(to, ": drawn from %s.csv by gnuplot %s.gp\n", f->name, f->name);
    fprintf(to, "data = \"%s.csv\"\n", f->name);
    fputs("set encoding utf8\n"
          "set datafile separator comma\n"
          "set datafile missing \"\"\n"
          "set key bmargin center horizontal Left reverse samplen 2 height 1\n"
          "set autoscale noextend\n"
          "set grid lc rgb \"#dddddd\" lw 1\n"
          "set border lc rgb \"#555555\"\n"
          "pick(panel, series) = \\\n"
          "    strcol(1) eq panel && strcol(2) eq series ? column(3) : NaN\n",
          to);
    looks(f, to);
}

/* Panels side by side have the same height, whatever stands in their keys. */
static void even_panels(const struct figure *f, FILE *to)
{
    if (rows(f) > 0) return;
    fprintf(to, "  set key vertical maxcols 1\n  set bmargin %d\n", TICKS_LINES + keys(f));
}

void figure_script(const struct figure *f, FILE *to)
{
    int width, height;
    figure_size(f, &width, &height);
    head(to, f);
    fputs("do for [form in \"svg png\"] {\n", to);
    fprintf(to,
            "  if (form eq \"svg\") {\n"
            "    set terminal svg size %d,%d dynamic enhanced font \"sans-serif,13\"\n"
            "  } else {\n"
            "    set terminal pngcairo size %d,%d enhanced font \"sans,13\" fontscale 1.5 "
            "linewidth 1.5 pointscale 1.5\n"
            "  }\n",
            width, height, width * 3 / 2, height * 3 / 2);
    fprintf(to, "  set output \"%s.\" . form\n", f->name);
    if (f->panels_n > 1) {
        fprintf(to, "  set multiplot layout 1,%d title ", f->panels_n);
        quoted(to, text_gnuplot_enh, f->title);
        fputc('\n', to);
        even_panels(f, to);
    }
    for (int i = 0; i < f->panels_n; i++)
        panel(to, f, &f->panel[i]);
    fputs(f->panels_n > 1 ? "  unset multiplot\n" : "", to);
    fputs("  unset output\n}\n", to);
}
