/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_FIGURE_IMPL_H
#define REPORT_FIGURE_IMPL_H
/* Serial. The inside of a figure, shared by figure.c (adding), figure_script.c (gnuplot's script)
 * and figure_draw.c (files and programs). */
#include "report/figure.h"

struct figure_datum {
    double x, y, low, high; /* low, high: NaN without an interval */
};

struct figure_line {
    char *label;
    enum figure_style style;
    int look; /* number of the colour and point; that of the first series of this label */
    int n;
    struct figure_datum *datum;
};

struct figure_text {
    double x, y;
    char *text;
};

/* Growing arrays; each element's texts are its own. */
struct figure_page {
    char *title, *x_label, *y_label;
    struct figure_panel p; /* its texts are not valid; those above are */
    int lines_n, ticks_n, levels_n, notes_n, extras_n;
    struct figure_line *line;
    struct figure_text *tick, *level, *note, *extra;
};

struct figure {
    char *name, *title;
    int panels_n, looks_n;
    struct figure_page *panel;
    char *svg; /* as gnuplot made it, NULL before */
    bool failed;
};

/* What the data call a panel: its title, or what its y axis shows. */
const char *figure_panel_name(const struct figure *f, const struct figure_page *p);

/* Size of the drawing in pixels. */
void figure_size(const struct figure *f, int *width, int *height);

/* The script for gnuplot. */
void figure_script(const struct figure *f, FILE *to);

#endif
