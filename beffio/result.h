/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_RESULT_H
#define BEFFIO_RESULT_H
/* Floor 2. The complete result as JSON; its members are described in
 * docs/schema/nht1-beffio-1.json. */
#include "beffio/job.h"

/* The result of a job so far. New reference. For rank 0. status: exit status of the program. */
json_t *beffio_result_json(const struct beffio_job *job, int status);

#endif
