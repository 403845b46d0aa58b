/* app_aggregator.c - an application that collects, for the tests of `pawl aggregator`: parcels go out in
 * vans of three, one partition for each depot, and a van fails while the file of PAWL_TEST_CLOSED is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/pawl.h>

#include <stdlib.h>
#include <unistd.h>

#define PARCEL(F)                    \
    F(TEXT, depot, .required = true) \
    F(INT64, n)
PAWL_RECORD(parcel, PARCEL);

static pawl_code on_parcels(pawl_context *ctx, const parcel *parcels, size_t count)
{
    const char *closed = getenv("PAWL_TEST_CLOSED");
    (void)parcels;
    if (closed != NULL && access(closed, F_OK) == 0)
        return pawl_fail(ctx, PAWL_EPERSIST, "the van for %zu parcels is broken", count);
    return PAWL_OK;
}
PAWL_BATCH_HANDLER(on_parcels, parcel);

static const pawl_aggregator vans = {.name         = "vans",
                                     .handle       = PAWL_HANDLE(on_parcels),
                                     .key          = "depot",
                                     .size         = 3,
                                     .max          = 5,
                                     .period       = PAWL_HOURS(2),
                                     .attempts_max = 1};

static const pawl_endpoint_spec post = {.name = "post", .aggregators = PAWL_AGGREGATORS(&vans)};
static const pawl_application   application = {PAWL_APPLICATION_HEAD, .name = "aggregator",
                                               .endpoints = PAWL_ENDPOINTS(&post)};

PAWL_EXPORT_APPLICATION(application);
