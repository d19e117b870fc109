/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/prove.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/stop.h"
#include "base/watch.h"

#define PROGRAM "nht1-verify"

const char *bt_proof_name(enum bt_proof_state state)
{
    static const char *const name[] = {"none", "missing", "failed", "wrong", "right"};
    return name[state];
}

/* The path of the program that lies in the folder of the running one; 0 or -1. */
static int beside(char *out, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", out, size - 1);
    if (length < 0) return -1;
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    if (!slash || (size_t)(slash + 1 - out) + sizeof PROGRAM > size) return -1;
    memcpy(slash + 1, PROGRAM, sizeof PROGRAM);
    return access(out, X_OK);
}

/* An empty temporary file; 0 or -1. */
static int scratch(char *out, size_t size)
{
    const char *folder = getenv("TMPDIR");
    snprintf(out, size, "%s/nht1-proof-XXXXXX", folder && folder[0] ? folder : "/tmp");
    const int fd = mkstemp(out);
    if (fd < 0) return -1;
    close(fd);
    return 0;
}

/* Starts the program: its table goes nowhere, its messages into a file. Returns an errno value. */
static int start(const char *program, const char *path, const char *json, const char *messages,
                 pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    char *argv[] = {(char *)program, (char *)"--json", (char *)json,
                    (char *)"--",    (char *)path,     NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages, O_WRONLY | O_TRUNC, 0);
    const int rc = posix_spawn(pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Waits for the program, and stops it when this one is asked to stop. Returns the wait status. */
static int finish(pid_t pid)
{
    int status = 0;
    for (;;) {
        const pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid || (done < 0 && errno != EINTR)) return done < 0 ? -1 : status;
        if (stop_requested()) kill(pid, SIGTERM);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/* The first line of the program's messages becomes the note. */
static void take_note(const char *messages, char *note, size_t size)
{
    FILE *f = fopen(messages, "r");
    if (!f) return;
    if (!fgets(note, (int)size, f)) snprintf(note, size, "%s said nothing", PROGRAM);
    note[strcspn(note, "\n")] = '\0';
    fclose(f);
}

static enum bt_proof_state state_of(int status)
{
    if (!WIFEXITED(status)) return BT_PROOF_FAILED;
    if (WEXITSTATUS(status) == 0) return BT_PROOF_RIGHT;
    return WEXITSTATUS(status) == 2 ? BT_PROOF_WRONG : BT_PROOF_FAILED;
}

static void run_program(const char *program, const char *path, struct bt_proof *proof)
{
    char json[PATH_MAX] = "", messages[PATH_MAX] = "";
    pid_t pid;
    int rc = scratch(json, sizeof json) < 0 || scratch(messages, sizeof messages) < 0 ? errno : 0;
    if (rc == 0) rc = start(program, path, json, messages, &pid);
    if (rc != 0) {
        proof->state = BT_PROOF_MISSING;
        snprintf(proof->note, sizeof proof->note, "%.300s could not be started: %s", program,
                 strerror(rc));
    } else {
        proof->state = state_of(finish(pid));
        proof->summary = json_load_file(json, 0, NULL);
        if (proof->state != BT_PROOF_RIGHT) take_note(messages, proof->note, sizeof proof->note);
    }
    if (json[0]) unlink(json);
    if (messages[0]) unlink(messages);
}

void bt_prove(const char *path, struct bt_proof *proof)
{
    char program[PATH_MAX];
    const double start_s = watch_now();
    *proof = (struct bt_proof){.state = BT_PROOF_MISSING};
    if (beside(program, sizeof program) < 0)
        snprintf(proof->note, sizeof proof->note,
                 "%s was not found beside this program, so the file is not verified", PROGRAM);
    else
        run_program(program, path, proof);
    proof->seconds = watch_now() - start_s;
}

void bt_proof_free(struct bt_proof *proof)
{
    json_decref(proof->summary);
    proof->summary = NULL;
}
