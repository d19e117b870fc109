/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as one HTML file: styles and drawings inside, no script, nothing fetched. */
#include "base/version.h"
#include "report/page_impl.h"

static const char style[] =
    ":root{color-scheme:light}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:62rem;"
    "margin:0 auto;padding:1rem 1.25rem 4rem}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:1rem 0}\n"
    "h2{font-size:1.3rem;border-bottom:2px solid #0072b2;padding-bottom:.2rem;margin-top:2.2rem}\n"
    "h3{font-size:1.05rem;margin-top:1.6rem}\n"
    "nav ul{columns:2;padding-left:1.2rem}\nnav a,a{color:#00558a}\n"
    "p.good,p.bad,p.care{padding:.5rem .8rem;border-left:6px solid;border-radius:2px}\n"
    "p.good{border-color:#009e73;background:#eef8f4}\n"
    "p.bad{border-color:#d55e00;background:#fdf1ea}\n"
    "p.care{border-color:#e69f00;background:#fff8e8}\n"
    "p.good::before{content:'\\2713\\00a0 '}p.bad::before{content:'\\2717\\00a0 '}"
    "p.care::before{content:'!\\00a0 ';font-weight:bold}\n"
    "div.table{overflow-x:auto}\n"
    "table{border-collapse:collapse;margin:1rem 0;font-size:.9rem}\n"
    "caption{text-align:left;font-weight:600;padding:.3rem 0}\n"
    "th,td{border-bottom:1px solid #ccc;padding:.25rem .6rem;text-align:left;vertical-align:top}\n"
    "th{background:#f2f5f7}td.n{text-align:right;font-variant-numeric:tabular-nums;"
    "white-space:nowrap}\n"
    "figure{margin:1.2rem 0;break-inside:avoid}figure svg{width:100%;height:auto}\n"
    "figcaption{font-size:.9rem;color:#333;max-width:52rem}\n"
    "pre{background:#f5f5f5;padding:.7rem;overflow-x:auto;white-space:pre-wrap;font-size:.85rem}\n"
    "footer{margin-top:3rem;font-size:.85rem;color:#555}\n"
    "@media print{body{max-width:none;font-size:10.5pt;padding:0}nav{display:none}"
    "a{color:inherit;text-decoration:none}h2{break-after:avoid}tr,pre{break-inside:avoid}}\n";

static void heading(const struct page_part *part, FILE *to)
{
    fprintf(to, "<h%d id=\"", part->level);
    text_html(to, part->id);
    fputs("\">", to);
    text_html_prose(to, part->text);
    fprintf(to, "</h%d>\n", part->level);
}

static void paragraph(const struct page_part *part, FILE *to)
{
    static const char *const open[] = {
        [PAGE_PLAIN] = "<p>",
        [PAGE_GOOD] = "<p class=\"good\">",
        [PAGE_BAD] = "<p class=\"bad\">",
        [PAGE_CARE] = "<p class=\"care\">",
    };
    fputs(open[part->mark], to);
    text_html_prose(to, part->text);
    fputs("</p>\n", to);
}

static void code(const struct page_part *part, FILE *to)
{
    fputs("<pre><code>", to);
    text_html(to, part->text);
    fputs("</code></pre>\n", to);
}

static void table(const struct page_part *part, FILE *to)
{
    table_html(part->table, to);
}

static void figure(const struct page_part *part, FILE *to)
{
    fprintf(to, "<figure id=\"%s\">\n", figure_name(part->figure));
    if (figure_is_drawn(part->figure)) figure_svg(part->figure, to);
    fputs("<figcaption>", to);
    if (!figure_is_drawn(part->figure)) fputs("(Not drawn.) ", to);
    text_html_prose(to, part->text);
    fputs("</figcaption>\n</figure>\n", to);
}

static void (*const write_part[])(const struct page_part *, FILE *) = {
    [PAGE_SECTION] = heading, [PAGE_PARAGRAPH] = paragraph, [PAGE_CODE] = code,
    [PAGE_TABLE] = table,     [PAGE_FIGURE] = figure,
};

static void contents(const struct page *p, FILE *to)
{
    fputs("<nav aria-label=\"Contents\"><ul>\n", to);
    for (int i = 0; i < p->parts_n; i++) {
        if (p->part[i].kind != PAGE_SECTION || p->part[i].level != 2) continue;
        fputs("<li><a href=\"#", to);
        text_html(to, p->part[i].id);
        fputs("\">", to);
        text_html_prose(to, p->part[i].text);
        fputs("</a></li>\n", to);
    }
    fputs("</ul></nav>\n", to);
}

void page_html(const struct page *p, FILE *to)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", to);
    fprintf(to, "<meta name=\"generator\" content=\"nht1-report %s\">\n", NHT1_VERSION);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          to);
    text_html(to, p->title);
    fprintf(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
    text_html_prose(to, p->title);
    fputs("</h1>\n", to);
    contents(p, to);
    for (int i = 0; i < p->parts_n; i++)
        write_part[p->part[i].kind](&p->part[i], to);
    fprintf(to, "<footer>Made by nht1-report %s.</footer>\n</body>\n</html>\n", NHT1_VERSION);
}
