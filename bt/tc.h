/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_TC_H
#define BT_TC_H
/* Layer 3, free of MPI and of everything in io/. The store of T_C: the best compute-only times per
 * system and problem, remembered across runs in one JSON file (base/store.h):
 *
 *   { "schema": "nht1-tc/1",
 *     "entries": [
 *       the key:
 *       { "cpu": "...", "hosts": "n1", "memory_gib": 64, "mpi": "Open MPI v4.1.4",
 *         "nodes": 1, "cores": 8, "n": 102, "steps": 200, "dt": 0.0003, "kernel": "1",
 *       what was measured, how, where and when:
 *         "t_c_s": 20.1, "verified": true, "decomp": "1x1x8", "ranks": 8, "threads": 1,
 *         "isa": "avx2", "host": "n1", "utc": "2001-01-31T12:00:00Z",
 *       and the evidence that nothing disturbed it (base/disturbance.h), null what cannot be read:
 *         "undisturbed": true, "share_min": 0.998, "steal": 0.0, "others": 0.004 } ] }
 *
 * Only undisturbed times are kept, and none above the one for fewer cores, of as many nodes or fewer, and
 * the same everything else, since that one could be had with these cores, too. Entries without sound evidence, of older versions
 * or damaged, and those above one for fewer cores are told and not used.
 * An entry that lacks a member of the key is kept and never found. One process per job (rank 0) calls these
 * functions. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What has to agree for two compute-only times to be comparable. */
struct bt_tc_key {
    char cpu[128];      /* CPU model */
    char hosts[128];    /* by bt_tc_hosts */
    char mpi[64];       /* MPI library and its version */
    int64_t memory_gib; /* of a node */
    char kernel[32];    /* version of the arithmetic */
    int64_t nodes;      /* hosts in use */
    int64_t cores;      /* min(ranks x threads, cores of these hosts) */
    int64_t n, steps;   /* N, N_S */
    double dt;
};

struct bt_tc_entry {
    double t_c_s;
    bool verified;   /* norms agreed with published ones; false where none are published */
    char decomp[40]; /* of the run that took this time */
    char isa[32], host[128];
    int64_t ranks, threads;
    bool undisturbed;
    double share_min, steal, others; /* as in struct disturbance; NaN: not readable */
    char utc[32];                    /* when; [out] of bt_tc_find, set to now by bt_tc_offer */
};

/* The hosts of a job as the key has them: the name of a single host; of several nodes the name with #
 * for every number, "node#", since a batch system assigns different ones each time. */
void bt_tc_hosts(const char *host, int64_t nodes, char out[128]);

/* Name of the store: asked when not NULL, else $XDG_STATE_HOME/nht1/tc.json, else
 * $HOME/.local/state/nht1/tc.json. ERR_USAGE when neither is set or the name is too long. */
int bt_tc_path(const char *asked, char *out, size_t size);

/* Looks a key up. [out] entry: the best one; why: where there is one that is not used, a sentence that
 * says so, else "". Returns 1 when found, 0 when not (a missing file is an empty store), ERR_USAGE when
 * the file is there but is not a store, ERR_IO when it cannot be read. */
#define BT_TC_WHY_MAX 256
int bt_tc_find(const char *path, const struct bt_tc_key *key, struct bt_tc_entry *entry,
               char why[BT_TC_WHY_MAX]);

/* Offers a time. It is stored when it is undisturbed and not above the one for fewer cores, and the key
 * is new, or it is verified and the stored one is not, or it is shorter and not less verified. Returns
 * 1 when stored, 0 when not; errors as bt_tc_find, and then the file is as it was. */
int bt_tc_offer(const char *path, const struct bt_tc_key *key, const struct bt_tc_entry *entry);

/* Whether a time would replace the one stored. */
bool bt_tc_is_better(const struct bt_tc_entry *candidate, const struct bt_tc_entry *stored);

#endif
