/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The child's side. */
#include "io/probe/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mpilib.h"
#include "base/own.h"
#include "base/par.h"
#include "base/start.h"
#include "base/sys.h"
#include "base/watch.h"

/* A line in one piece, whatever goes on beside it: what a library has written may lack its end. */
static void print_line(const char *word, const char *text)
{
    char *line;
    const int length = asprintf(&line, "\n@%s %s\n", word, text);
    if (length < 0) return;
    fflush(stdout);
    ssize_t written = write(STDOUT_FILENO, line, (size_t)length);
    (void)written;
    free(line);
}

static void tell_number(const char *word, long number)
{
    char text[24];
    snprintf(text, sizeof text, "%ld", number);
    print_line(word, text);
}

static void print_json(const char *word, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    print_line(word, text ? text : "{}");
    free(text);
    json_decref(value);
}

static void tell_end(const struct probe_try *t, int rc, double seconds)
{
    const char *state = rc == 0 ? "works" : t->absent ? "absent" : "fails";
    json_t *o = json_pack("{ss so si sf so}", "state", state, "note",
                          js_text(rc == 0 ? t->note : err_message()), "errno", t->errnum, "seconds",
                          seconds, "values", t->values);
    print_json("end", o);
    err_clear();
}

/* Directory of a path that is to be written, or the path where that is one itself. */
static void folder_of(const char *path, char *out, size_t size)
{
    struct stat st;
    snprintf(out, size, "%s", path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return;
    char *slash = strrchr(out, '/');
    if (!slash) snprintf(out, size, ".");
    if (slash) slash[slash == out] = '\0';
}

/* Number of the probe, from its folder's name. */
static uint64_t job_of(const char *path)
{
    const char *dash = strrchr(path, '-');
    return dash ? strtoull(dash + 1, NULL, 16) : 0;
}

/* name: of the folder to be made beside the dump file. It is the parent's, who must not touch the file
 * system, to be removed when that has died. */
static int folder(struct probe_try *t, const char *name)
{
    char dir[4096], work[4300];
    struct sys_fs fs;
    folder_of(t->path, dir, sizeof dir);
    js_set(t->values, "dir", js_text(dir));
    TRY(sys_path_fs(dir, &fs));
    js_set(t->values, "file_system", sys_fs_json(&fs));
    snprintf(work, sizeof work, "%s/%s", dir, name);
    js_set(t->values, "work", js_text(work));
    struct own *own;
    own_sweep(dir, 0);
    int rc = own_begin_as(&own, dir, job_of(name), (int64_t)getppid());
    if (rc == 0) rc = own_make_folder(own, name);
    if (rc < 0)
        own_end(own);
    else
        own_detach(own);
    snprintf(work, sizeof work, "no folder can be made in %.4000s: ", dir);
    if (rc < 0) err_prefix(work);
    return rc;
}

static int check_folder(struct probe_try *t)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/alive", t->path);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || close(fd) < 0 || unlink(path) < 0)
        return err_set_errno(ERR_IO, errno, "making a file in %s", t->path);
    return 0;
}

static int stat_path(struct probe_try *t)
{
    char dir[4096];
    folder_of(t->path, dir, sizeof dir);
    return 0;
}

/* The folder of that name, and the note of it. */
static int remove_all(struct probe_try *t)
{
    char dir[4096], work[4300];
    folder_of(t->path, dir, sizeof dir);
    snprintf(work, sizeof work, "%s/%s", dir, t->fs_type);
    own_sweep(dir, job_of(t->fs_type));
    DIR *d = opendir(work);
    if (!d) return errno == ENOENT ? 0 : err_set_errno(ERR_IO, errno, "opendir %s", work);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    return rmdir(work) == 0 ? 0 : err_set_errno(ERR_IO, errno, "rmdir %s", work);
}

/* One check, its file, and its words from rank 0. */
static void run_check(struct probe_try *t, const char *work, const struct probe_check *c,
                      int number)
{
    snprintf(t->path, sizeof t->path, "%s/%d", work, number);
    t->values = json_object();
    t->absent = false;
    t->errnum = 0;
    t->note[0] = '\0';
    if (t->rank == 0) tell_number("begin", number);
    const double since_s = watch_now();
    int rc = c->run(t);
    if (t->comm != MPI_COMM_NULL) rc = par_agree(t->comm, rc);
    if (t->rank == 0) {
        tell_end(t, rc, watch_now() - since_s);
        /* It may be open or mapped still: the next check has the room of its blocks. */
        const int emptied = truncate(t->path, 0);
        (void)emptied; /* there may be none */
        unlink(t->path);
    } else {
        json_decref(t->values);
        err_clear();
    }
}

static void print_library(const struct probe_try *t)
{
    json_t *components = mpilib_components();
    if (t->rank == 0)
        print_json("about", json_pack("{so si sO}", "library", js_text(mpilib()->name), "processes",
                                      t->size, "components", components));
    json_decref(components);
}

/* first < 0: for the components alone, for which Open MPI takes a third of a second. */
static int run_mpi_checks(struct probe_try *t, const char *work, int first)
{
    int level;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    t->comm = MPI_COMM_WORLD;
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->size);
    if (first < 0)
        print_library(t);
    else
        for (int i = first; probe_mpiio[i].name; i++)
            run_check(t, work, &probe_mpiio[i], i);
    MPI_Finalize();
    return 0;
}

bool probe_child(int argc, char **argv, int *status)
{
    struct probe_try t = {.comm = MPI_COMM_NULL, .size = 1};
    static const struct probe_check place[] = {
        {"alive", 0, check_folder}, {"stat", 0, stat_path}, {"sweep", 0, remove_all}};
    cpu_set_t all;
    if (argc != 7 || strcmp(argv[1], "--probe-child") != 0) return false;
    const char *part = argv[2], *path = argv[4];
    const int first = (int)strtol(argv[3], NULL, 10);
    start_clean();
    /* Who starts a check may be killed, and no launcher's binding decides about what overlaps. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    tell_number("pid", (long)getpid());
    t.fs_type = argv[5];
    t.room_bytes = strtoll(argv[6], NULL, 10);
    snprintf(t.path, sizeof t.path, "%s", path);
    *status = 0;
    if (strcmp(part, "mpi-io") == 0) {
        *status = run_mpi_checks(&t, path, first);
    } else if (strcmp(part, "files") == 0) {
        for (int i = first; probe_files[i].name; i++)
            run_check(&t, path, &probe_files[i], i);
    } else if (strcmp(part, "folder") == 0) {
        t.values = json_object();
        tell_number("begin", 0);
        tell_end(&t, folder(&t, t.fs_type), 0);
    }
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++)
        if (strcmp(part, place[i].name) == 0) {
            t.values = json_object();
            tell_number("begin", 0);
            tell_end(&t, place[i].run(&t), 0);
        }
    return true;
}
