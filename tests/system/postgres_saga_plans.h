/* postgres_saga_plans.h - the table of postgres_plans.h for the statements on a saga
 * table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SYSTEM_POSTGRES_SAGA_PLANS_H
#define PAWL_TESTS_SYSTEM_POSTGRES_SAGA_PLANS_H

#include "system/postgres_plans.h"

#define SAGA_BY_ID HOT(2600, "uuid[]", "keys(1000, 970)")
#define SAGA_BY_MAIN HOT(2600, "text[]", "names('order-', 1000, 970)")
#define SAGA_BY_OTHER HOT(2600, "text[]", "names('old-', 1000, 970)")

#define SAVE_TYPES(row) "text[], jsonb[], text[], " row "uuid[], bigint[]"
#define SAVE_VALUES(row) \
    "same('{}'::text), same('{}'::jsonb), same('1'::text), " row ", same(1::bigint)"
#define MOVE_TYPES(row) "text[], " SAVE_TYPES(row)
#define MOVE_VALUES(row) "names('old-', 1000, 970), " SAVE_VALUES(row)
#define ORDER_CTIDS CTIDS_OF("\"shop_Order\"", "\"Id\"", "keys(1000, 970)")
#define MOVE_CTIDS CTIDS_OF("\"shop_Move\"", "\"Id\"", "keys(1000, 970)")

/* The same for the statements on a saga table. */
static const plan_row saga_rows[pawl__pg_saga_statement_count] = {
    [PAWL__PG_SAGA_BY_ID]                  = SAGA_BY_ID,
    [PAWL__PG_SAGA_BY_ID_LOCKED]           = SAGA_BY_ID,
    [PAWL__PG_SAGA_BY_ID_SKIP]             = SAGA_BY_ID,
    [PAWL__PG_SAGA_BY_ID_THERE]            = SAGA_BY_ID,
    [PAWL__PG_SAGA_BY_MAIN]                = SAGA_BY_MAIN,
    [PAWL__PG_SAGA_BY_MAIN_LOCKED]         = SAGA_BY_MAIN,
    [PAWL__PG_SAGA_BY_MAIN_SKIP]           = SAGA_BY_MAIN,
    [PAWL__PG_SAGA_BY_MAIN_THERE]          = SAGA_BY_MAIN,
    [PAWL__PG_SAGA_BY_TRANSITIONAL]        = SAGA_BY_OTHER,
    [PAWL__PG_SAGA_BY_TRANSITIONAL_LOCKED] = SAGA_BY_OTHER,
    [PAWL__PG_SAGA_BY_TRANSITIONAL_SKIP]   = SAGA_BY_OTHER,
    [PAWL__PG_SAGA_BY_TRANSITIONAL_THERE]  = SAGA_BY_OTHER,
    [PAWL__PG_SAGA_INSERT]    = HOT(6000, "uuid[], text[], jsonb[], text[], text[], text[]",
                                    "keys(3000000, 7), same('{}'::text), same('{}'::jsonb), "
                                       "same('1'::text), names('n', 1, 7), names('n', 1, 7)"),
    [PAWL__PG_SAGA_UPDATE]    = HOT(6000, MOVE_TYPES("tid[], "), MOVE_VALUES(MOVE_CTIDS)),
    [PAWL__PG_SAGA_UPDATE_ID] = HOT(6000, MOVE_TYPES(""), MOVE_VALUES("keys(1000, 970)")),
    [PAWL__PG_SAGA_TAKEN]     = HOT(2600, "uuid[], bigint[]", "keys(1000, 970), same(1::bigint)"),
    [PAWL__PG_SAGA_DELETE]    = HOT(2600, "uuid[], bigint[]", "keys(1000, 970), same(1::bigint)"),
    [PAWL__PG_SAGA_COUNT]     = RARE("", "statistics: counts all rows"),
    [PAWL__PG_SAGA_SCAN]      = HOT(600, "uuid, bigint", "key(1000), 256"),
};

/* And for a table without a transitional value, where they differ. */
static const plan_row plain_saga_rows[pawl__pg_saga_statement_count] = {
    [PAWL__PG_SAGA_INSERT]    = HOT(5000, "uuid[], text[], jsonb[], text[], text[]",
                                    "keys(3000000, 7), same('{}'::text), same('{}'::jsonb), "
                                       "same('1'::text), names('n', 1, 7)"),
    [PAWL__PG_SAGA_UPDATE]    = HOT(5000, SAVE_TYPES("tid[], "), SAVE_VALUES(ORDER_CTIDS)),
    [PAWL__PG_SAGA_UPDATE_ID] = HOT(5000, SAVE_TYPES(""), SAVE_VALUES("keys(1000, 970)")),
};

#endif
