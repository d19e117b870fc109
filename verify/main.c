/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-verify: proves that a dump file of nht1-bt holds what it should. Serial; works from
 * docs/format.md alone and shares no code with the writers that knows the layout. From the command
 * line to the exit status is here; the verification itself is check_file and judge. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "base/plain.h"
#include "base/start.h"
#include "base/version.h"
#include "verify/check.h"
#include "verify/export.h"
#include "verify/judge.h"
#include "verify/merge.h"
#include "verify/summary.h"

#define AT(member)         CONF_AT(struct check_options, member)
#define CHOICE(member, of) CONF_CHOICE_AT(struct check_options, member, of)

static const struct conf_option options[] = {
    {.name = "diagonal",
     .help = "Print only the listing of the diagonal to standard output: for each "
             "dump, for i = 0 to N-1, for m = 0 to 4 the value U_m(i,i,i) as Fortran's F15.10, one "
             "per line.",
     AT(diagonal),
     .group = "What to do"},
    {.name = "merge",
     .help =
         "First assemble FILE from the files FILE.rank00000 and so on that --io perrank leaves.",
     AT(merge)},
    {.name = "against",
     .arg = "LISTING",
     .help = "Compare the diagonal with a listing, plain or gzipped; 'reference' is the one "
             "shipped with nht1 for the official runs of N = 12, 64 and 102, made by an "
             "independent program. Values agree when they differ by 1e-10 + 1e-9 |value| at most.",
     AT(against),
     .words = "reference"},
    {.name = "json",
     .arg = "FILE",
     .help = "Write the result, with every finding and its place, to FILE.",
     AT(json),
     .output = true},
    {.name = "export",
     .arg = "FORMAT",
     .help = "Export the complete dumps that are right to ParaView and similar programs, beside "
             "FILE: xdmf describes FILE in place, in FILE.xdmf; vti copies the dumps for VTK, "
             "FILE.pvd lists them; plot3d copies them to the five variables of PLOT3D, FILE.p3d "
             "lists them.",
     CHOICE(export, "xdmf|vti|plot3d"),
     .once = true},
    CONF_PROGRESS(struct check_options),
    {.name = "n",
     .arg = "N",
     CONF_RANGE(BT_N_MIN, BT_N_MAX),
     .help = "Grid points along each side.",
     AT(n),
     .group = "Shape of the file, where FILE.json lacks it or is not to be trusted; what is not "
              "given is inferred from the values"},
    {.name = "layout",
     .arg = "L",
     .help =
         "Order of the values: mijk, component fastest; ijkm, component slowest; records, Fortran "
         "records of a plane each.",
     CHOICE(layout, "mijk|ijkm|records")},
    {.name = "dumps",
     .arg = "D",
     CONF_RANGE(1, 4294967296.0),
     .help = "Dumps that the file must hold.",
     AT(dumps)},
    {.name = "endian",
     .arg = "ORDER",
     .def = "auto",
     .help = "Byte order of a raw file.",
     CHOICE(endian, "little|big|auto")},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "nht1-verify",
    .version = nht1_build,
    .summary = "Proves that a dump file of nht1-bt holds what it should.",
    .args = "FILE",
    .max_args = 1,
    .examples = "  nht1-verify btout.bin                       check values, norms and size\n"
                "  nht1-verify btout.bin --against reference   compare with the reference listing\n"
                "  nht1-verify btout.bin --diagonal >list.txt  the listing, F15.10\n"
                "  nht1-verify old.bin --n 64 --layout ijkm    a file without a manifest\n"
                "  nht1-verify btout.bin --export xdmf         btout.bin.xdmf, for ParaView\n"
                "\n"
                "The shape comes from the manifest FILE.json; options override it; what neither\n"
                "gives is inferred from the values. A file in HDF5 or netCDF has a shape of its\n"
                "own, with which both must agree, and is read by the library of that format.\n"
                "With its manifest every single bit of the values is checked. Without one, only\n"
                "norms, the exact values on the faces of the grid and listings can be checked.\n"
                "The last lines of the output say what was proved and what was not; the word\n"
                "VERIFIED is for files of which every value, or with --against the diagonal, was\n"
                "compared.\n"
                "\n"
                "Exit status: 0 the file is right, as far as the output says; 1 wrong option or\n"
                "damaged manifest; 2 the content is wrong; 3 the file cannot be read.\n",
    .options = options,
};

/* As in a run, a link stands for the file that it leads to, beside which manifest, lock and parts lie. */
static const char *file_of(const char *path, char full[PATH_MAX])
{
    struct stat st;
    char manifest[PATH_MAX + 8];
    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode) || !realpath(path, full)) return path;
    snprintf(manifest, sizeof manifest, "%s.json", full);
    return access(manifest, F_OK) == 0 ? full : path;
}

/* What follows the file's name in that of another file of its folder, else NULL. */
static const char *suffix_of(const char *other, const char *path)
{
    char folder[PATH_MAX], here[CONF_NAME_MAX], there[CONF_NAME_MAX];
    const char *name = own_split(path, folder);
    conf_name_full(folder, here);
    const char *base = own_split(other, folder);
    conf_name_full(folder, there);
    const size_t length = strlen(name);
    return strcmp(here, there) == 0 && strncmp(base, name, length) == 0 ? base + length : NULL;
}

/* A result file must not take the place of what is being verified, nor a name that is meant for
 * something else. */
static int check_json_name(const char *json, const char *path, const char *export)
{
    static const char *const taken[][2] = {
        {".json", "manifest"}, {".json.journal", "journal"}, {".lock", "lock"}};
    struct stat a, b;
    char manifest[PATH_MAX + 8];
    const char *suffix = suffix_of(json, path);
    for (size_t t = 0; suffix && t < sizeof taken / sizeof taken[0]; t++)
        if (strcmp(suffix, taken[t][0]) == 0)
            return err_set(ERR_USAGE, "--json: %s is the name of the file's %s; choose another",
                           json, taken[t][1]);
    if (suffix && export && export_makes(export, suffix))
        return err_set(ERR_USAGE, "--json: %s is a file that --export %s makes; choose another",
                       json, export);
    snprintf(manifest, sizeof manifest, "%s.json", path);
    const bool there = stat(json, &a) == 0;
    for (int f = 0; there && f < 2; f++)
        if (stat(f ? manifest : path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
            return err_set(ERR_USAGE, "--json: %s is the file being verified or its manifest",
                           json);
    const int rc = js_check_target(json, "nht1-verify/");
    if (rc < 0) err_prefix("--json: ");
    return rc;
}

static int verify(const char *path, const struct check_options *o)
{
    static struct check c; /* too large for a stack */
    char name[4200];
    int rc = check_file(&c, path, o, stdout);
    if (rc == 0) {
        judge(&c);
        const int status = c.verdict == CHECK_FAILED ? ERR_VERIFY : 0;
        summary_print(o->diagonal ? stderr : stdout, &c, o->diagonal);
        /* Scripts that drop the table still learn what is wrong; on a terminal once is enough. */
        if (status < 0 && !o->diagonal && !isatty(STDOUT_FILENO))
            fprintf(stderr, "nht1-verify: %s: WRONG: %s\n", plain_copy(name, sizeof name, c.path),
                    c.findings.item[0].text);
        if (o->json) {
            json_t *result = summary_json(&c, conf_json(&program, o), err_exit_status(status));
            rc = js_result(o->json, result);
            if (rc < 0) err_prefix("--json: ");
            json_decref(result);
        }
        if (rc == 0 && o->export) rc = export_dumps(&c, o, o->diagonal ? stderr : stdout);
        if (rc == 0) rc = start_printed();
        if (rc == 0 && status < 0) {
            err_clear(); /* told already */
            rc = status;
        }
    }
    check_free(&c);
    return rc;
}

static int run(const void *opts, const struct conf_list *args)
{
    const struct check_options *o = opts;
    if (args->n != 1)
        return err_set(ERR_USAGE, "which file? usage: nht1-verify [OPTION...] FILE; see --help");
    char full[PATH_MAX];
    const char *path = file_of(args->item[0], full);
    if (o->diagonal && o->json && js_is_stdout(o->json))
        return err_set(ERR_USAGE, "--diagonal and --json -: both are for standard output; give "
                                  "--json a file");
    if (!path[0]) return err_set(ERR_USAGE, "the name of the file is empty");
    if (o->json) TRY(check_json_name(o->json, path, o->export));
    if (o->merge) TRY(merge_file(path));
    return verify(path, o);
}

int main(int argc, char **argv)
{
    struct check_options o;
    return start_program(&program, argc, argv, &o, run);
}
