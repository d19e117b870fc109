/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_FIGURE_H
#define REPORT_FIGURE_H
/* Serial. A figure is data and axes; gnuplot draws it. Each one leaves four files: NAME.csv (the
 * data), NAME.gp (the script, which works by itself: `gnuplot NAME.gp`), NAME.svg, NAME.png.
 *
 *     struct figure *f = figure_new("fig4-rate", "I/O rate against processors");
 *     figure_panel(f, &(struct figure_panel){.x = {"processors", .log = 2}, .y = {"R_IO in
 * MB/s"}}); figure_series(f, "this system", FIGURE_LINE_POINTS); figure_interval(f, 2, 130.1, 128,
 * 133);
 *     ...
 *     figure_make(f, "figures", true);
 *
 * Series have the colours of Okabe and Ito, which colour-blind readers tell apart, each with a
 * shape of point of its own for prints in grey; a label means the same colour in every panel. Texts
 * that are given are copied. Axis labels, titles and notes are prose (report/text.h), with units;
 * labels of series and ticks are drawn as they stand. An adding function that finds no memory is
 * noticed by figure_make. All functions are local. */
#include <stdbool.h>
#include <stdio.h>

enum figure_style {
    FIGURE_POINTS,
    FIGURE_LINE_POINTS,
    FIGURE_LINE,   /* without points: a fit, a model */
    FIGURE_BARS,   /* from 0 up to y, one per x */
    FIGURE_BLOCKS, /* from low to high, without an end at 0: stacked bars, spans */
    FIGURE_RINGS,  /* around points of other series: "look twice" */
};

struct figure_axis {
    const char *label; /* with its unit: "R_IO in MB/s" */
    double log;        /* base of a logarithmic axis, 2 or 10; 0: linear */
    bool from_zero;    /* of a linear axis */
};

struct figure_panel {
    const char *title; /* above the panel; NULL when there is only one */
    struct figure_axis x, y;
    bool across; /* x runs down the page as a list of rows, y to the right */
    bool no_key; /* series are not listed below the panel */
};

struct figure;

/* name: of its files, letters, digits and '-'. title: above it. Freed by figure_free. NULL without
 * memory, which every function below takes. */
struct figure *figure_new(const char *name, const char *title);
void figure_free(struct figure *f);

/* Begins a panel; panels stand side by side. At least one. */
void figure_panel(struct figure *f, const struct figure_panel *p);

/* Begins a series of the last panel. */
void figure_series(struct figure *f, const char *label, enum figure_style style);

/* A point of the last series; x and y finite, else it is left out. Lines join the points in the
 * order given. */
void figure_point(struct figure *f, double x, double y);

/* The same with an interval around y, or, for FIGURE_BLOCKS, the block. NaN: no interval. */
void figure_interval(struct figure *f, double x, double y, double low, double high);

/* A text instead of a number at x, on the x axis of the last panel: names of writers. */
void figure_tick(struct figure *f, double x, const char *label);

/* A dashed line across the last panel at y, with a note beside it: a goal. */
void figure_level(struct figure *f, double y, const char *note);

/* A note at a point of the last panel. */
void figure_note(struct figure *f, double x, double y, const char *note);

/* A line of gnuplot for what the functions above do not do, run before the last panel is drawn. */
void figure_gnuplot(struct figure *f, const char *line);

/* Whether the figure has any point; whether figure_make has drawn it. */
bool figure_has_points(const struct figure *f);
bool figure_is_drawn(const struct figure *f);
const char *figure_name(const struct figure *f);
const char *figure_title(const struct figure *f);

/* Writes the files into a directory that is there; draw: by gnuplot, else data and script only.
 * Returns 0, ERR_IO or ERR_NOMEM; when gnuplot fails ERR_INVALID or ERR_TIMEOUT with what it says.
 */
int figure_make(struct figure *f, const char *directory, bool draw);

/* The drawing as an <svg> element that stands in a page beside others: no prologue, ids of its own.
 * Returns 0, or ERR_INVALID when it was not drawn. */
int figure_svg(const struct figure *f, FILE *to);

/* The data: panel, series, x, y, low, high; names without commas and quotes (text_csv_plain). */
void figure_csv(const struct figure *f, FILE *to);

/* Whether gnuplot can be started; what to do about it when it can not. */
bool figure_can_draw(void);
#define FIGURE_NO_GNUPLOT                                                                          \
    "Figures are not drawn, because gnuplot was not found: install it (Debian and Ubuntu: "        \
    "apt-get install gnuplot-nox; others: the package gnuplot) and run this again."

#endif
