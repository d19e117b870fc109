/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_RESULT_H
#define BEFF_RESULT_H
/* Floor 2. The result of a run as JSON (docs/schema/nht1-beff-1.json). Local, for rank 0. */
#include <jansson.h>

#include "beff/cube.h"
#include "beff/job.h"

/* job: a struct beff_job; status: of the exit. New reference. */
json_t *beff_result_json(const void *job, int status);

#endif
