/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFFIO_RESULT_H
#define BEFFIO_RESULT_H
/* Floor 2. The complete result as JSON; its members are described in
 * docs/schema/nht1-beffio-1.json. */
#include "beffio/job.h"

/* The result of a job so far, and the plan of a dry run with the keys that studies read. For struct
 * program_output: job is a struct beffio_job. New reference. For rank 0. */
json_t *beffio_result_json(const void *job, int status);
json_t *beffio_result_plan(const void *job, int status);

#endif
