/* mongo.c - the driver's table of operations, the module's only exported name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"

PAWL_API extern const pawl_store_ops pawl_store_driver;

const pawl_store_ops pawl_store_driver = {
    .ops_size   = sizeof(pawl_store_ops),
    .abi        = PAWL_ABI,
    .scheme     = "mongo",
    .store_size = sizeof(pawl__mongo),
    .promises   = PAWL_STORE_CREATES | PAWL_STORE_HAS_WAKE | PAWL_STORE_KNOWS_REFUSED,
    .open       = pawl__mongo_open,
    .close      = pawl__mongo_close,
    .ready      = pawl__mongo_ready,
    .schema     = pawl__mongo_schema,
    .commit     = pawl__mongo_commit,
    .enlist     = pawl__mongo_enlist,
    .interrupt  = pawl__mongo_interrupt,
#define ENTRY(name, ...) .name = pawl__mongo_##name,
#include "store/core/entries.h"
#undef ENTRY
};
