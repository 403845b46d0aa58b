/* zone.h - time zones, read from the system's files (TZif, RFC 8536).
 *
 * The C library's localtime is not asked: its zone is the whole process's, so that two threads
 * cannot have two.
 *
 *     pawl__zone_create -> pawl__zone_span_at, as often as wanted -> pawl__zone_destroy
 *
 * Threads: a zone is not changed after it was made; any number of threads may ask it.
 * Tests: tests/unit/base/test_base_zone.c, tests/unit/base/test_base_cron_zones.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_ZONE_H
#define PAWL_BASE_ZONE_H

#include "pawl/base.h"

#define PAWL__ZONE_FOLDER "/usr/share/zoneinfo"
#define PAWL__ZONE_FILE_SIZE_MAX (256 * 1024) /* the largest of tzdata has 4 KiB */

typedef struct pawl__zone pawl__zone;

/* The time from one change of the clocks to the next, in seconds since the epoch. */
typedef struct pawl__zone_span {
    int64_t begin;         /* INT64_MIN: there was no change before */
    int64_t end;           /* the first second of the next; INT64_MAX: there is none */
    int32_t offset;        /* seconds east of UTC */
    int32_t offset_before; /* of the span before; `offset` when there is none */
} pawl__zone_span;

/* Reads the file `name` ("Europe/Berlin") of `folder`. "UTC" and the empty name need no file and give
 * NULL in `*zone`, which every call takes for UTC.
 *
 * PAWL_EINVAL: `name` is no name of a zone. PAWL_ENOTFOUND: there is no such file.
 * PAWL_EDECODE: the file is no zone, or counts leap seconds. PAWL_ENOMEM. */
pawl_code pawl__zone_create(const char *folder, pawl_text name, pawl__zone **zone,
                            pawl_error *error);
void      pawl__zone_destroy(pawl__zone *zone); /* accepts NULL */

/* The span that `seconds` lies in. */
pawl__zone_span pawl__zone_span_at(const pawl__zone *zone, int64_t seconds);

#endif
