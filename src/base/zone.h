/* zone.h - reads time zones from the system's files (TZif, RFC 8536), and finds a zone's offset at a time.
 *
 * The C library's localtime is not used, since its zone is one for the whole process.
 *
 *     pawl__zone_create -> pawl__zone_span_at, as often as wanted -> pawl__zone_destroy
 *
 * Threads: a zone is constant after its creation; any number of threads may use it.
 * Tests: tests/unit/base/test_base_zone.c, tests/unit/base/test_base_cron_zones.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_ZONE_H
#define PAWL_BASE_ZONE_H

#include "pawl/base.h"

#define PAWL__ZONE_FOLDER "/usr/share/zoneinfo"
#define PAWL__ZONE_FILE_SIZE_MAX (256 * 1024) /* the largest file of tzdata has 4 KiB */

typedef struct pawl__zone pawl__zone;

/* The time between two clock changes, in seconds since the epoch. */
typedef struct pawl__zone_span {
    int64_t begin;         /* INT64_MIN: no earlier change */
    int64_t end;           /* first second of the next span; INT64_MAX: no later change */
    int32_t offset;        /* seconds east of UTC */
    int32_t offset_before; /* offset of the span before; `offset` when there is none */
} pawl__zone_span;

/* Reads the file `name` ("Europe/Berlin") in `folder`. "UTC" and the empty name need no file: `*zone` is NULL, which
 * all functions take as UTC.
 *
 * PAWL_EINVAL: `name` cannot be a zone's name. PAWL_ENOTFOUND: there is no such file. PAWL_EDECODE: not a zone's file,
 * or one with leap seconds. PAWL_ENOMEM. */
pawl_code pawl__zone_create(const char *folder, pawl_text name, pawl__zone **zone,
                            pawl_error *error);
void      pawl__zone_destroy(pawl__zone *zone); /* accepts NULL */

/* The span that `seconds` lies in. */
pawl__zone_span pawl__zone_span_at(const pawl__zone *zone, int64_t seconds);

#endif
