/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A figure's files, and its drawing as a part of a page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/figure_impl.h"
#include "report/gnuplot.h"
#include "report/text.h"

bool figure_can_draw(void)
{
    return gnuplot_found();
}

typedef void figure_writer(const struct figure *f, FILE *to);

/* DIRECTORY/NAME.SUFFIX, malloc'ed. */
static char *path_of(const struct figure *f, const char *directory, const char *suffix)
{
    return text_print("%s/%s.%s", directory, f->name, suffix);
}

static int write_file(const struct figure *f, const char *directory, const char *suffix,
                      figure_writer *write)
{
    struct text t;
    char *path = path_of(f, directory, suffix);
    int rc = path ? text_begin(&t) : err_set(ERR_NOMEM, "no memory for the name of a figure");
    if (rc == 0) {
        write(f, t.to);
        rc = text_save(&t, path);
    }
    free(path);
    return rc;
}

/* The whole file as a string. */
static int read_file(const char *path, char **out)
{
    struct text t;
    char chunk[4096];
    size_t n;
    FILE *from = fopen(path, "re");
    if (!from) return err_set_errno(ERR_IO, errno, "%s: cannot open for reading", path);
    int rc = text_begin(&t);
    if (rc == 0) {
        while ((n = fread(chunk, 1, sizeof chunk, from)) > 0)
            fwrite(chunk, 1, n, t.to);
        rc = text_end(&t, out);
    }
    if (rc == 0 && ferror(from)) rc = err_set_errno(ERR_IO, errno, "%s: read failed", path);
    fclose(from);
    return rc;
}

static int draw_it(struct figure *f, const char *directory)
{
    char *script = text_print("%s.gp", f->name), *svg = path_of(f, directory, "svg");
    int rc = script && svg ? 0 : err_set(ERR_NOMEM, "no memory for the name of a figure");
    if (rc == 0) rc = gnuplot_run(directory, script);
    if (rc == 0) rc = read_file(svg, &f->svg);
    free(svg);
    free(script);
    return rc;
}

int figure_make(struct figure *f, const char *directory, bool draw)
{
    if (!f || f->failed) return err_set(ERR_NOMEM, "no memory for a figure");
    TRY(write_file(f, directory, "csv", figure_csv));
    TRY(write_file(f, directory, "gp", figure_script));
    return draw && figure_has_points(f) ? draw_it(f, directory) : 0;
}

/* Where ids are defined and where they are meant, as gnuplot writes them. */
static const char *const id_marks[] = {"id=\"", "id='", "href=\"#", "href='#", "url(#"};

static size_t id_mark_at(const char *at)
{
    for (size_t i = 0; i < sizeof id_marks / sizeof id_marks[0]; i++)
        if (strncmp(at, id_marks[i], strlen(id_marks[i])) == 0) return strlen(id_marks[i]);
    return 0;
}

int figure_svg(const struct figure *f, FILE *to)
{
    const char *at = f->svg ? strstr(f->svg, "<svg") : NULL;
    if (!at) return err_set(ERR_INVALID, "figure %s was not drawn", f->name);
    int width, height;
    figure_size(f, &width, &height);
    fprintf(to, "<svg style=\"max-width:%dpx\" role=\"img\" aria-label=\"", width);
    text_html(to, f->title);
    fputs("\"", to);
    for (at += strlen("<svg"); *at;) {
        const size_t mark = id_mark_at(at);
        fwrite(at, 1, mark ? mark : 1, to);
        if (mark) fprintf(to, "%s-", f->name);
        at += mark ? mark : 1;
    }
    return 0;
}
