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
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/err.h"
#include "base/plain.h"
#include "base/stop.h"
#include "base/watch.h"

#define PROGRAM  "nht1-verify"
#define VERIFIED "VERIFIED" /* how its verdict begins when every value was compared */

const char *bt_proof_name(enum bt_proof_state state)
{
    static const char *const name[] = {"none", "missing", "failed", "wrong", "right"};
    return name[state];
}

/* Starts the program: its table goes nowhere, its messages and its result into files that are in
 * memory alone, so that neither a full /tmp nor TMPDIR matters. Returns an errno value. */
static int start(const char *program, const char *path, int json, int messages, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    char result[32];
    char *argv[] = {(char *)program, (char *)"--json", result, (char *)"--", (char *)path, NULL};
    snprintf(result, sizeof result, "/dev/fd/%d", json);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    /* Signals that another thread of this process takes (base/stop.h) are not blocked there. */
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int rc = posix_spawn(pid, program, &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* Waits for the program, and stops it when this one is asked to stop. Returns the wait status. */
static int wait_for(pid_t pid)
{
    int status = 0;
    for (;;) {
        const pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid || (done < 0 && errno != EINTR)) return done < 0 ? -1 : status;
        if (stop_requested()) kill(pid, SIGTERM);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/* Status 0 without a word on every value, where the manifest has gone meanwhile, proves too little. */
static void doubt(struct bt_proof *proof)
{
    char said[64];
    const char *verdict = json_string_value(json_object_get(proof->summary, "verdict"));
    if (proof->state != BT_PROOF_RIGHT ||
        (verdict && strncmp(verdict, VERIFIED, strlen(VERIFIED)) == 0))
        return;
    proof->state = BT_PROOF_FAILED;
    snprintf(proof->note, sizeof proof->note, PROGRAM " could not prove every value: it says %s",
             verdict ? plain_copy(said, sizeof said, verdict) : "nothing");
}

static void run_program(const char *program, const char *path, struct bt_proof *proof)
{
    const int json = memfd_create("nht1-proof", 0), messages = memfd_create("nht1-proof", 0);
    char *note = proof->note;
    pid_t pid;
    int rc = json < 0 || messages < 0 ? errno : 0;
    if (rc == 0) rc = start(program, path, json, messages, &pid);
    if (rc != 0) {
        proof->state = BT_PROOF_MISSING;
        snprintf(note, sizeof proof->note, "%.300s could not be started: %s", program,
                 strerror(rc));
    } else {
        const int status = wait_for(pid), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        proof->state = code == 0 ? BT_PROOF_RIGHT : code == 2 ? BT_PROOF_WRONG : BT_PROOF_FAILED;
        lseek(json, 0, SEEK_SET);
        proof->summary = json_loadfd(json, 0, NULL);
        doubt(proof);
    }
    if (rc == 0 && proof->state != BT_PROOF_RIGHT &&
        !note[0]) { /* the first line of what it said */
        const ssize_t length = pread(messages, note, sizeof proof->note - 1, 0);
        note[length > 0 ? length : 0] = '\0';
        note[strcspn(note, "\n")] = '\0';
        if (!note[0]) snprintf(note, sizeof proof->note, "%s said nothing", PROGRAM);
    }
    if (json >= 0) close(json);
    if (messages >= 0) close(messages);
}

void bt_prove(const char *path, struct bt_proof *proof)
{
    char program[PATH_MAX];
    const double start_s = watch_now();
    *proof = (struct bt_proof){.state = BT_PROOF_MISSING};
    if (beside_path(program, PROGRAM) == 0 && access(program, X_OK) == 0) {
        run_program(program, path, proof);
    } else {
        err_clear();
        snprintf(proof->note, sizeof proof->note,
                 "%s was not found beside this program, so the file is not verified", PROGRAM);
    }
    proof->seconds = watch_now() - start_s;
}

void bt_proof_free(struct bt_proof *proof)
{
    json_decref(proof->summary);
    proof->summary = NULL;
}
