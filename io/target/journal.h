/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_JOURNAL_H
#define IO_JOURNAL_H
/* Layer 1. The journal FILE.json.journal beside the manifest FILE.json: what a run has entered since it
 * replaced the manifest for the last time. A dump costs one write of one record, appended, and nothing
 * that was written before is touched.
 *
 *   0      "nht1-journal/1 RUN_ID\n", zeros up to byte 512; RUN_ID that of the manifest
 *   512    records of R bytes, R = 8 (3 N + 11) rounded up to a multiple of 512, of 64-bit words with the
 *          least significant byte first:
 *            0   number of the record, from 1
 *            1   number of a dump, the first is 0
 *            2   its step
 *            3   dumps from the first on that are complete
 *            4   dumps from the first on that are durable
 *            5   its digest, 3 N + 5 words
 *            3 N + 10   the sum of digest_hash(word w, place w) of all words before
 *
 * A record counts when its sum is right, its number follows that of the one before, and its dump is the
 * next one or the last. So what is being written when the process or the machine stops counts as a whole or
 * not at all. A manifest with "journal": true and its journal are what a manifest without that member is,
 * to whose dumps those of the journal were added. A journal with another RUN_ID is an old one, which means
 * nothing. Local, all functions. */
#include <stdbool.h>
#include <stdint.h>

#include "io/target/manifest.h"

struct io_journal; /* that is written to */

/* Makes an empty journal with room for dumps_n records, in the place of an old one: with its name, and, with flush, down
 * to the device. Returns 0, ERR_IO or ERR_NOMEM. */
int io_journal_new(struct io_journal **j, const char *manifest, const char *run_id, int64_t n,
                   int64_t dumps_n, bool flush);

/* Appends a record: of dump d, and what is claimed with it. digest: digest_words(n) words. flush: down to the device.
 * Returns 0 or ERR_IO. */
int io_journal_add(struct io_journal *j, int64_t d, int64_t step, const uint64_t *digest,
                   int64_t complete_n, int64_t durable_n, bool flush);

/* Closes it. remove: and removes it; else it stays for those who read it. j may be NULL. */
void io_journal_end(struct io_journal *j, bool remove);

/* Puts what the journal of a manifest says into that: "dumps" grow and claims are set, "journal" goes. root: of
 * the manifest at that path. Returns 1; 0 when there is no journal of that run, as when the manifest has been
 * replaced meanwhile; ERR_IO or ERR_NOMEM. */
int io_journal_merge(const char *manifest, json_t *root);

/* Whether there is a file, of whatever kind, with the name of the journal. */
bool io_journal_is_there(const char *manifest);

/* Whether the name of the journal is free, an empty file's or an old journal's. */
bool io_journal_may_be(const char *manifest);

#endif
