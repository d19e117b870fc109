/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as Markdown. Drawings are files beside it. */
#include "base/version.h"
#include "report/page_impl.h"

static void figure(const struct page_part *part, FILE *to, const char *figures)
{
    if (figures && figure_is_drawn(part->figure)) {
        fputs("![", to);
        text_markdown(to, figure_title(part->figure));
        fprintf(to, "](<%s/%s.png>)\n\n", figures, figure_name(part->figure));
    }
    text_markdown(to, part->text);
    fputs("\n\n", to);
}

static void paragraph(const struct page_part *part, FILE *to)
{
    static const char *const open[] = {[PAGE_PLAIN] = "",
                                       [PAGE_GOOD] = "**OK:** ",
                                       [PAGE_BAD] = "**Poor:** ",
                                       [PAGE_CARE] = "**Note:** "};
    fputs(open[part->mark], to);
    text_markdown(to, part->text);
    fputs("\n\n", to);
}

/* Indented: nothing in the text can end it. */
static void code(const char *text, FILE *to)
{
    fputs("    ", to);
    for (; *text; text++) {
        fputc(*text, to);
        if (*text == '\n') fputs("    ", to);
    }
    fputs("\n\n", to);
}

static void part_out(const struct page_part *part, FILE *to, const char *figures)
{
    switch (part->kind) {
    case PAGE_SECTION:
        fprintf(to, "%.*s ", part->level, "####");
        text_markdown(to, part->text);
        fputs("\n\n", to);
        break;
    case PAGE_PARAGRAPH:
        paragraph(part, to);
        break;
    case PAGE_CODE:
        code(part->text, to);
        break;
    case PAGE_TABLE:
        table_markdown(part->table, to);
        break;
    case PAGE_FIGURE:
        figure(part, to, figures);
        break;
    }
}

void page_markdown(const struct page *p, FILE *to, const char *figures)
{
    fprintf(to, "<!-- nht1-report %s -->\n# ", NHT1_VERSION);
    text_markdown(to, p->title);
    fputs("\n\n", to);
    for (int i = 0; i < p->parts_n; i++)
        part_out(&p->part[i], to, figures);
}
