/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_PROVE_H
#define BT_PROVE_H
/* Layer 3, free of MPI. Proof of what is on disk: after the clock has stopped, one process starts
 * the separate serial program nht1-verify, which lies beside the running executable, and takes over
 * its verdict. */
#include <jansson.h>

enum bt_proof_state {
    BT_PROOF_NONE,    /* not asked for, or there is no file to read */
    BT_PROOF_MISSING, /* nht1-verify could not be started */
    BT_PROOF_FAILED,  /* it could not read the file, could not prove every value, or was stopped */
    BT_PROOF_WRONG,   /* the content is wrong */
    BT_PROOF_RIGHT,
};
const char *bt_proof_name(enum bt_proof_state state);

struct bt_proof {
    enum bt_proof_state state;
    double seconds;  /* that it took */
    char note[512];  /* what to tell the user when the state is not BT_PROOF_RIGHT */
    json_t *summary; /* the program's own JSON result, or NULL; freed by bt_proof_free */
};

/* Verifies the dump file at path with its manifest. Local: for one rank. [out] proof. Every outcome
 * is a state; nothing is returned. */
void bt_prove(const char *path, struct bt_proof *proof);
void bt_proof_free(struct bt_proof *proof);

#endif
