/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/output.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/stop.h"
#include "report/text.h"

#define MARK "nht1-report" /* near the start of everything that is written here */

/* A file that begins like a report. */
static bool is_ours(const char *path)
{
    char head[512] = "";
    FILE *from = fopen(path, "re");
    if (!from) return false;
    const size_t n = fread(head, 1, sizeof head - 1, from);
    fclose(from);
    head[n] = '\0';
    return n == 0 || strstr(head, MARK) != NULL;
}

int output_check(const char *path, const char *option)
{
    struct stat s;
    if (!path[0]) return err_set(ERR_USAGE, "%s: the name of the file is empty", option);
    if (stat(path, &s) < 0 && errno == ENAMETOOLONG)
        return err_set(ERR_USAGE, "%s: a name of %zu bytes is too long", option, strlen(path));
    if (stat(path, &s) < 0) return 0;
    if (S_ISDIR(s.st_mode))
        return err_set(ERR_USAGE, "%s: %s is a directory; name a file", option, path);
    if (!S_ISREG(s.st_mode) || is_ours(path)) return 0;
    return err_set(ERR_USAGE,
                   "%s: %s is there and is no earlier report: it is left alone; choose another "
                   "name, or remove it",
                   option, path);
}

int output_directory(const char *path, const char *option)
{
    struct stat s;
    if (!path[0]) return err_set(ERR_USAGE, "%s: the name of the folder is empty", option);
    if (stat(path, &s) == 0 && !S_ISDIR(s.st_mode))
        return err_set(ERR_USAGE, "%s: %s is there and is no folder", option, path);
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return 0;
    return err_set_errno(ERR_IO, errno, "%s: cannot make the folder %s", option, path);
}

int output_html(const struct page *page, const char *path)
{
    struct text t;
    TRY(text_begin(&t));
    page_html(page, t.to);
    return text_save(&t, path);
}

/* The way from a file to a directory, both as the user named them: as many ".." as the file lies
 * deep, when both begin where the program stands. malloc'ed. */
static char *way_to(const char *file, const char *directory)
{
    struct text t;
    char *out = NULL;
    if (text_begin(&t) < 0) return NULL;
    for (const char *at = file; directory[0] != '/' && file[0] != '/' && (at = strchr(at, '/'));
         at++)
        fputs("../", t.to);
    fputs(directory, t.to);
    return text_end(&t, &out) < 0 ? NULL : out;
}

int output_markdown(const struct page *page, const char *path, const char *figures)
{
    struct text t;
    char *way = figures ? way_to(path, figures) : NULL;
    int rc = text_begin(&t);
    if (rc == 0) {
        page_markdown(page, t.to, way);
        rc = text_save(&t, path);
    }
    free(way);
    return rc;
}

static int scratch_make(char *buf, size_t size)
{
    const char *parent = getenv("TMPDIR");
    const int n =
        snprintf(buf, size, "%s/nht1-report-XXXXXX", parent && parent[0] ? parent : "/tmp");
    if (n < 0 || (size_t)n >= size) return err_set(ERR_USAGE, "TMPDIR: the name is too long");
    if (mkdtemp(buf)) return 0;
    return err_set_errno(ERR_IO, errno, "cannot make a folder for figures in %s (TMPDIR)", buf);
}

static void scratch_remove(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
    rmdir(path);
}

static int draw_in(struct page *page, const char *directory, enum progress_mode mode)
{
    const bool can = figure_can_draw();
    if (!can) {
        fprintf(stderr, "nht1-report: %s\n", FIGURE_NO_GNUPLOT);
        page_text(page, PAGE_CARE, "%s", FIGURE_NO_GNUPLOT);
    }
    const int rc = page_draw(page, directory, can, mode);
    if (rc != ERR_INVALID && rc != ERR_TIMEOUT) return rc;
    fprintf(stderr, "nht1-report: warning: %s\n", err_message());
    page_text(page, PAGE_CARE, "Some figures are not drawn: %s", err_message());
    err_clear();
    return 0;
}

/* From here on a signal is asked for between figures, and files are written to their end. While
 * results are read it has its default action: a pipe that nobody writes to would hold the program
 * for ever. */
int output_draw(struct page *page, const char *directory, enum progress_mode mode)
{
    char scratch[4096];
    TRY(stop_install());
    if (page_figures(page) == 0) return 0;
    if (directory) return draw_in(page, directory, mode);
    TRY(scratch_make(scratch, sizeof scratch));
    const int rc = draw_in(page, scratch, mode);
    scratch_remove(scratch);
    return rc;
}
