/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests to nht1-stats. What is understood is answered by finite numbers, null or a sentence. */
#include <stdlib.h>

#include "base/json.h"
#include "base/stats/request.h"
#include "tests/fuzz/fuzz.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    json_t *asked = NULL, *requests = NULL;
    fuzz_file("requests.json", bytes, size);
    int rc = js_read("requests.json", &asked);
    if (rc == 0) rc = js_get_array(asked, "requests.json", "requests", &requests);
    for (size_t i = 0; rc == 0 && i < json_array_size(requests); i++) {
        json_t *one = NULL;
        rc = answer(json_array_get(requests, i), "requests[0]", &one);
        if (rc == 0) FUZZ_CHECK(json_is_object(one));
        json_decref(one);
    }
    fuzz_message(rc);
    json_decref(asked);
}
