/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/prove.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/child.h"
#include "base/err.h"
#include "base/plain.h"
#include "base/watch.h"

#define PROGRAM  "nht1-verify"
#define VERIFIED "VERIFIED" /* how its verdict begins when every value was compared */

const char *bt_proof_name(enum bt_proof_state state)
{
    static const char *const name[] = {"none", "missing", "failed", "wrong", "right"};
    return name[state];
}

/* Status 0 alone does not prove every value: the manifest may have been removed meanwhile. */
static void require_verified(struct bt_proof *proof)
{
    char said[64];
    const char *verdict = json_string_value(json_object_get(proof->summary, "verdict"));
    if (proof->state != BT_PROOF_RIGHT ||
        (verdict && strncmp(verdict, VERIFIED, strlen(VERIFIED)) == 0))
        return;
    proof->state = BT_PROOF_FAILED;
    snprintf(proof->note, sizeof proof->note,
             PROGRAM " could not prove every value: its verdict is %s",
             verdict ? plain_copy(said, sizeof said, verdict) : "nothing");
}

/* The program's table is discarded; its result goes into a file in memory, so that neither a full /tmp nor
 * TMPDIR matters. */
static void run_program(const char *program, const char *path, struct bt_proof *proof)
{
    int json = memfd_create("nht1-proof", 0);
    const char *const argv[] = {program, "--json", "/dev/fd/3", "--", path, NULL};
    const struct child_start how = {.argv = argv, .err = CHILD_KEPT, .pass_fd = json};
    struct child c = {.out = -1, .err = -1, .errnum = errno};
    const bool ended = json >= 0 && child_run(&c, &how, INFINITY) == 0;
    err_clear();
    if (c.errnum != 0) {
        proof->state = BT_PROOF_MISSING;
        snprintf(proof->note, sizeof proof->note, "%.300s could not be started: %s", program,
                 strerror(c.errnum));
    } else {
        const int code = ended ? child_status(&c) : -1;
        proof->state = code == 0 ? BT_PROOF_RIGHT : code == 2 ? BT_PROOF_WRONG : BT_PROOF_FAILED;
        /* jansson reads a descriptor byte by byte. */
        FILE *result = fdopen(json, "r");
        if (result) {
            rewind(result);
            proof->summary = json_loadf(result, 0, NULL);
            fclose(result);
            json = -1;
        }
        require_verified(proof);
        if (proof->state != BT_PROOF_RIGHT && !proof->note[0]) {
            child_first_error(&c, proof->note, sizeof proof->note);
            if (!proof->note[0])
                snprintf(proof->note, sizeof proof->note, "%s printed nothing", PROGRAM);
        }
    }
    child_free(&c);
    if (json >= 0) close(json);
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
