/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "report/figure_impl.h"
#include "report/text.h"

/* A copy of a text, "" for none; notes in the figure that there was no memory. */
static char *copy(struct figure *f, const char *text)
{
    char *s = strdup(text ? text : "");
    if (!s) f->failed = true;
    return s;
}

/* Room for one more element at the end of an array of n, zeroed; NULL without memory. The room
 * doubles at powers of two. */
static void *grow(struct figure *f, void *array_at, int *n, size_t size)
{
    void *old;
    memcpy(&old, array_at, sizeof old);
    if ((*n & (*n - 1)) == 0) {
        void *wider = realloc(old, (*n ? 2 * (size_t)*n : 1) * size);
        if (!wider) {
            f->failed = true;
            return NULL;
        }
        memcpy(array_at, &wider, sizeof wider);
        old = wider;
    }
    return memset((char *)old + (size_t)(*n)++ * size, 0, size);
}

struct figure *figure_new(const char *name, const char *title)
{
    struct figure *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->name = copy(f, name);
    f->title = copy(f, title);
    if (!f->failed) return f;
    figure_free(f);
    return NULL;
}

static void texts_free(struct figure_text *t, int n)
{
    for (int i = 0; i < n; i++)
        free(t[i].text);
    free(t);
}

static void page_free(struct figure_page *p)
{
    for (int i = 0; i < p->lines_n; i++) {
        free(p->line[i].label);
        free(p->line[i].datum);
    }
    free(p->line);
    texts_free(p->tick, p->ticks_n);
    texts_free(p->level, p->levels_n);
    texts_free(p->note, p->notes_n);
    texts_free(p->extra, p->extras_n);
    free(p->title);
    free(p->x_label);
    free(p->y_label);
}

void figure_free(struct figure *f)
{
    if (!f) return;
    for (int i = 0; i < f->panels_n; i++)
        page_free(&f->panel[i]);
    free(f->panel);
    free(f->svg);
    free(f->name);
    free(f->title);
    free(f);
}

static struct figure_page *last_panel(struct figure *f)
{
    return f && f->panels_n > 0 ? &f->panel[f->panels_n - 1] : NULL;
}

void figure_panel(struct figure *f, const struct figure_panel *p)
{
    struct figure_page *page = f ? grow(f, &f->panel, &f->panels_n, sizeof *page) : NULL;
    if (!page) return;
    page->p = *p;
    page->title = copy(f, p->title);
    page->x_label = copy(f, p->x.label);
    page->y_label = copy(f, p->y.label);
}

/* The look of a label that was there before, or a new one. Rings have none. */
static int look_of(struct figure *f, const char *label, enum figure_style style)
{
    if (style == FIGURE_RINGS) return -1;
    for (int i = 0; i < f->panels_n; i++)
        for (int k = 0; k < f->panel[i].lines_n; k++) {
            const struct figure_line *l = &f->panel[i].line[k];
            if (l->label && l->look >= 0 && strcmp(l->label, label) == 0) return l->look;
        }
    return f->looks_n++;
}

void figure_series(struct figure *f, const char *label, enum figure_style style)
{
    struct figure_page *page = last_panel(f);
    if (!page) return;
    const int look = look_of(f, label, style);
    struct figure_line *line = grow(f, &page->line, &page->lines_n, sizeof *line);
    if (!line) return;
    line->label = copy(f, label);
    line->style = style;
    line->look = look;
}

void figure_interval(struct figure *f, double x, double y, double low, double high)
{
    struct figure_page *page = last_panel(f);
    if (!page || page->lines_n == 0 || !isfinite(x) || !isfinite(y)) return;
    struct figure_line *line = &page->line[page->lines_n - 1];
    struct figure_datum *d = grow(f, &line->datum, &line->n, sizeof *d);
    if (d) *d = (struct figure_datum){x, y, low, high};
}

void figure_point(struct figure *f, double x, double y)
{
    figure_interval(f, x, y, NAN, NAN);
}

static void add_text(struct figure *f, struct figure_text **to, int *n, struct figure_text t)
{
    struct figure_text *at = grow(f, to, n, sizeof *at);
    if (!at) return;
    *at = t;
    at->text = copy(f, t.text);
}

/* Texts are copied by add_text, which changes none. */
static struct figure_text at(double x, double y, const char *text)
{
    return (struct figure_text){x, y, (char *)(uintptr_t)text};
}

void figure_tick(struct figure *f, double x, const char *label)
{
    struct figure_page *p = last_panel(f);
    if (p) add_text(f, &p->tick, &p->ticks_n, at(x, 0, label));
}

void figure_level(struct figure *f, double y, const char *note)
{
    struct figure_page *p = last_panel(f);
    if (p && isfinite(y)) add_text(f, &p->level, &p->levels_n, at(0, y, note));
}

void figure_note(struct figure *f, double x, double y, const char *note)
{
    struct figure_page *p = last_panel(f);
    if (p && isfinite(x) && isfinite(y)) add_text(f, &p->note, &p->notes_n, at(x, y, note));
}

void figure_gnuplot(struct figure *f, const char *line)
{
    struct figure_page *p = last_panel(f);
    if (p) add_text(f, &p->extra, &p->extras_n, at(0, 0, line));
}

bool figure_has_points(const struct figure *f)
{
    for (int i = 0; f && i < f->panels_n; i++)
        for (int k = 0; k < f->panel[i].lines_n; k++)
            if (f->panel[i].line[k].n > 0) return true;
    return false;
}

bool figure_is_drawn(const struct figure *f)
{
    return f->svg != NULL;
}

const char *figure_name(const struct figure *f)
{
    return f->name;
}

const char *figure_title(const struct figure *f)
{
    return f->title;
}

const char *figure_panel_name(const struct figure *f, const struct figure_page *p)
{
    return p->title[0] || f->panels_n == 1 ? p->title : p->y_label;
}

static void csv_number(FILE *to, double x)
{
    char buf[NUM_TEXT_MAX];
    fprintf(to, ",%s", isfinite(x) ? num_real(x, buf) : "");
}

void figure_csv(const struct figure *f, FILE *to)
{
    fputs("panel,series,x,y,low,high\n", to);
    for (int i = 0; i < f->panels_n; i++)
        for (int k = 0; k < f->panel[i].lines_n; k++) {
            const struct figure_line *l = &f->panel[i].line[k];
            for (int d = 0; d < l->n; d++) {
                text_csv_plain(to, figure_panel_name(f, &f->panel[i]));
                fputc(',', to);
                text_csv_plain(to, l->label);
                csv_number(to, l->datum[d].x);
                csv_number(to, l->datum[d].y);
                csv_number(to, l->datum[d].low);
                csv_number(to, l->datum[d].high);
                fputc('\n', to);
            }
        }
}
