/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"

char *text_print(const char *fmt, ...)
{
    va_list args;
    char *out = NULL;
    va_start(args, fmt);
    const int n = vasprintf(&out, fmt, args);
    va_end(args);
    return n < 0 ? NULL : out;
}

/* One character in one notation: what stands for it. */
struct escape {
    char c;
    const char *as;
};

static void put(FILE *to, char c, const struct escape *table)
{
    for (; table->as; table++)
        if (table->c == c) {
            fputs(table->as, to);
            return;
        }
    if (!iscntrl((unsigned char)c)) fputc(c, to);
}

static void put_all(FILE *to, const char *text, const struct escape *table)
{
    for (; *text; text++)
        put(to, *text, table);
}

static const struct escape html[] = {
    {'&', "&amp;"},  {'<', "&lt;"}, {'>', "&gt;"},  {'"', "&quot;"},
    {'\'', "&#39;"}, {'\n', "\n"},  {'\t', "    "}, {0}};
static const struct escape markdown[] = {
    {'|', "\\|"},  {'*', "\\*"},   {'_', "\\_"}, {'`', "\\`"}, {'<', "&lt;"},
    {'>', "&gt;"}, {'&', "&amp;"}, {'[', "\\["}, {']', "\\]"}, {'\\', "\\\\"},
    {'\n', " "},   {'\t', " "},    {0}};
/* gnuplot starts what stands in backquotes, even inside "...". */
static const struct escape gnuplot[] = {{'`', "\\140"}, {'"', "\\\""}, {'\\', "\\\\"},
                                        {'\n', " "},    {'\t', " "},   {0}};
static const struct escape gnuplot_enh[] = {{'`', "\\140"},
                                            {'"', "\\\""},
                                            {'\\', "\\\\"},
                                            {'_', "\\\\_"},
                                            {'^', "\\\\^"},
                                            {'{', "\\\\{"},
                                            {'}', "\\\\}"},
                                            {'@', "\\\\@"},
                                            {'&', "\\\\&"},
                                            {'~', "\\\\~"},
                                            {'\n', " "},
                                            {'\t', " "},
                                            {0}};

/* The benchmark's symbols. */
struct symbol {
    const char *plain, *html, *enh;
};
static const struct symbol symbols[] = {
    {"T_T", "T<sub>T</sub>", "T_T"},         {"T_C", "T<sub>C</sub>", "T_C"},
    {"R_IO", "R<sub>IO</sub>", "R_{IO}"},    {"N_S", "N<sub>S</sub>", "N_S"},
    {"I_W", "I<sub>W</sub>", "I_W"},         {"zeta", "&zeta;", "ζ"},
    {"R_max", "R<sub>max</sub>", "R_{max}"},
};

/* The symbol that a text begins with, standing alone; NULL when there is none. before: the
 * character in front. */
static const struct symbol *symbol_at(const char *text, char before)
{
    if (isalnum((unsigned char)before) || before == '_') return NULL;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        const size_t len = strlen(symbols[i].plain);
        const char after = strncmp(text, symbols[i].plain, len) == 0 ? text[len] : '_';
        if (!isalnum((unsigned char)after) && after != '_') return &symbols[i];
    }
    return NULL;
}

static void put_prose(FILE *to, const char *text, const struct escape *table, bool enh)
{
    for (char before = ' '; *text;) {
        const struct symbol *s = symbol_at(text, before);
        if (s) fputs(enh ? s->enh : s->html, to);
        if (!s) put(to, *text, table);
        text += s ? strlen(s->plain) : 1;
        before = text[-1];
    }
}

void text_html(FILE *to, const char *text)
{
    put_all(to, text, html);
}

void text_html_prose(FILE *to, const char *text)
{
    put_prose(to, text, html, false);
}

void text_markdown(FILE *to, const char *text)
{
    put_all(to, text, markdown);
}

void text_gnuplot(FILE *to, const char *text)
{
    put_all(to, text, gnuplot);
}

void text_gnuplot_enh(FILE *to, const char *text)
{
    put_prose(to, text, gnuplot_enh, true);
}

void text_csv(FILE *to, const char *text)
{
    const bool quote = strpbrk(text, ",\"\n\r") != NULL;
    if (quote) fputc('"', to);
    for (; *text; text++) {
        if (*text == '"') fputc('"', to);
        fputc(*text, to);
    }
    if (quote) fputc('"', to);
}

void text_csv_plain(FILE *to, const char *text)
{
    static const struct escape plain[] = {{',', ";"}, {'"', "'"}, {'`', "'"}, {'\\', "/"}, {0}};
    put_all(to, text, plain);
}

const char *text_number(double x, char buf[TEXT_NUMBER_MAX])
{
    const double size = fabs(x);
    if (!isfinite(x)) return strcpy(buf, "-");
    if (x == 0) return strcpy(buf, "0");
    if (size >= 1e7 || size < 1e-4)
        num_print(buf, TEXT_NUMBER_MAX, "%.2e", x);
    else
        num_print(buf, TEXT_NUMBER_MAX, "%.*f",
                  size >= 99.95 ? 0 : 2 - (int)floor(log10(size * 1.0005)), x);
    return buf;
}

const char *text_percent(double share, char buf[TEXT_NUMBER_MAX])
{
    if (!isfinite(share)) return strcpy(buf, "-");
    num_print(buf, TEXT_NUMBER_MAX, "%+.1f %%", 100 * share);
    return buf;
}
