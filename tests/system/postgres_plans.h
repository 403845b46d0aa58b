/* postgres_plans.h - every statement of the PostgreSQL driver that reads or writes
 * its tables: what is asserted of it with a million rows in each, or why nothing is.
 *
 * Values are SQL, with the functions that postgres_fill.h makes: at(seconds from
 * NOW), key(number) is a uuid; keys, numbers and names(prefix, first, step) are
 * arrays of 256 items, so is same(value).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SYSTEM_POSTGRES_PLANS_H
#define PAWL_TESTS_SYSTEM_POSTGRES_PLANS_H

#include "store/postgres/connection.h"

typedef struct plan_row {
    int         blocks; /* of the tables and their indexes, at most; 0: rare */
    int         rows;   /* that its scans may look at; 0: ROWS_MAX */
    const char *types;  /* as the driver sends them */
    const char *values;
    const char *reason; /* why it is rare, or may look at so many */
    bool        walks;  /* along an index without a condition, a few rows only */
} plan_row;

#define ROWS_MAX 2600 /* ten for each of 256 keys */
#define HOT(blocks, types, values)     \
    {                                  \
        blocks, 0, types, values, NULL \
    }
#define WIDE(blocks, rows, types, values, reason) \
    {                                             \
        blocks, rows, types, values, reason       \
    }
#define WALK(blocks, types, values, reason)    \
    {                                          \
        blocks, 0, types, values, reason, true \
    }
#define RARE(types, reason)       \
    {                             \
        0, 0, types, NULL, reason \
    }

#define MESSAGE_TYPES "text[], text[], text[], text[], text[], bytea[]"
#define MESSAGE_OF(ids) \
    ids ", same('line'::text), same('c'::text), same(''::text), same(''::text), same(''::bytea)"

#define COUNTER_TYPES \
    "uuid, timestamptz, bigint, bigint, bigint, bigint, bigint, bigint, uuid, bigint"
#define COUNTER_VALUES "key(9), at(0), 1, 1, 1, 1, 1, 1, key(1), 1"
#define PLACE_OF_WORKER ", (select ctid from pawl_workers where \"Id\" = key(1))"

/* Where the rows stand that the statement is about. */
#define PLACES_OF(table, key, list) \
    "(select array_agg(ctid order by " key ") from " table " where " key " = any (" list ")), " list
#define QUEUE_PLACES PLACES_OF("pawl_queue", "\"Seq\"", "numbers(1000, 1900)")

#define LEASE_TYPES \
    "text, timestamptz, timestamptz, timestamptz, bigint, bigint, uuid, timestamptz, uuid"
#define LEASE_VALUES "at(0), at(-9999999), at(0), 257, 256, key(9), at(30), key(1)"
#define ARM_TYPES "uuid[], bigint[], uuid[], text[], text[], text[], timestamptz[], text[], text[]"
#define ARM_VALUES(ids, sagas, name)                                                  \
    ids ", same(1::bigint), " sagas ", same('Order'::text), same('" name "'::text), " \
        "same('orders'::text), same(at(60)), same(''::text), same(''::text)"

/* By the statement's number. Shared ones that the driver never names have no row. */
static const plan_row plan_rows[pawl__postgres_statement_count] = {
    /* Workers and leases: small tables, but with the leases of dead workers go
     * those of timeouts and partitions. */
    [pawl__sql_schema_version]    = RARE("", "at open, of a table with one row"),
    [pawl__sql_worker_fold]       = HOT(40, "uuid, uuid", "key(1), key(2)"),
    [pawl__sql_worker_delete]     = HOT(20, "uuid", "key(1)"),
    [pawl__sql_worker_counters]   = RARE("", "statistics, of a table with a row for each worker"),
    [pawl__sql_lease_delete]      = HOT(20, "text, uuid", "'lead:000000001', key(1)"),
    [pawl__sql_lease_delete_all]  = HOT(20, "uuid", "key(1)"),
    [pawl__postgres_worker_guard] = HOT(20, COUNTER_TYPES ", tid", COUNTER_VALUES PLACE_OF_WORKER),
    [pawl__postgres_worker_guard_any] = HOT(20, COUNTER_TYPES, COUNTER_VALUES),
    [pawl__postgres_worker_guard_hard] =
        HOT(20, COUNTER_TYPES ", tid", COUNTER_VALUES PLACE_OF_WORKER),
    [pawl__postgres_worker_beat]        = HOT(20, "timestamptz, uuid, bigint", "at(0), key(1), 1"),
    [pawl__postgres_worker_take]        = HOT(30, "uuid, text, text, bigint, bigint, timestamptz",
                                              "key(1), 'orders', '', 1, 1, at(0)"),
    [pawl__postgres_worker_raise_row]   = HOT(20, "uuid", "key(1)"),
    [pawl__postgres_end_holder]         = HOT(20, "uuid", "key(1)"),
    [pawl__postgres_worker_alive_list]  = RARE("timestamptz", "a list for people"),
    [pawl__postgres_worker_alive_count] = RARE("timestamptz", "statistics"),
    [pawl__postgres_worker_dead_list] =
        HOT(600, "timestamptz, timestamptz, bigint", "at(0), at(-3600), 100"),
    [pawl__postgres_worker_retain]   = HOT(20, "uuid", "key(0)"),
    [pawl__postgres_lease_free_dead] = HOT(300, "timestamptz", "at(0)"),
    [pawl__postgres_lead_look] =
        HOT(20, "text, uuid, timestamptz", "'lead:000000001', key(1), at(0)"),
    [pawl__postgres_lead_take]   = HOT(40, "text, uuid, bigint, bigint, timestamptz, timestamptz",
                                       "'lead:000000001', key(1), 1, 1, at(0), at(30)"),
    [pawl__postgres_sweep_begin] = HOT(20, "bigint", "1"),
    [pawl__postgres_sweep_place] = HOT(20, "bigint, bigint, timestamptz", "1, 1, at(0)"),

    /* The queue. */
    [pawl__sql_queue_list]  = RARE("text, bigint", "a list for people, in the order of placing"),
    [pawl__sql_queue_stats] = RARE("timestamptz", "statistics: counts all rows"),
    [pawl__postgres_queue_there] = HOT(60, "text[], timestamptz[], timestamptz[]",
                                       "'{bulk,spread}', array[at(-9999999), at(-9999999)], "
                                       "array[at(0), at(0)]"),
    [pawl__postgres_queue_claim] = HOT(1000, "text, timestamptz, timestamptz, bigint[], bigint",
                                       "'bulk', at(0), at(-9999999), numbers(1, 1), 256"),
    [pawl__postgres_queue_claim_again] =
        HOT(3000, "bigint[], text, timestamptz, bigint", "numbers(1000, 1900), 'bulk', at(0), 256"),
    [pawl__postgres_queue_lock] =
        HOT(3000, "bigint[], timestamptz[]", "numbers(1000, 1900), same(at(-3600))"),
    [pawl__postgres_queue_done] =
        HOT(600, "tid[], bigint[], text[]", QUEUE_PLACES ", same('bulk'::text)"),
    [pawl__postgres_queue_again] = HOT(
        6000, "tid[], bigint[], text[], timestamptz[], bigint[], bigint[], timestamptz[], text[]",
        QUEUE_PLACES ", same('bulk'::text), same(at(60)), same(1::bigint), "
                     "same(0::bigint), same(at(-3600)), same(''::text)"),
    [pawl__postgres_queue_add] =
        HOT(5000, "text[], timestamptz[], bigint[], " MESSAGE_TYPES,
            "same('bulk'::text), same(at(0)), same(0::bigint), " MESSAGE_OF("names('new', 1, 7)")),
    [pawl__postgres_queue_first_place] =
        HOT(300, "text, timestamptz, bigint[]", "'bulk', at(0), numbers(1, 1)"),
    [pawl__postgres_queue_first] =
        HOT(300, "text, timestamptz, bigint[]", "'bulk', at(-9999999), numbers(1, 1)"),

    /* The inbox, dead letters and subscriptions. */
    [pawl__sql_inbox_count]     = RARE("", "statistics: counts all rows"),
    [pawl__postgres_inbox_look] = HOT(2600, "text, text[]", "'billing', names('m', 500001, 1900)"),
    [pawl__postgres_inbox_add]  = HOT(3000, "text[], text[], text[], timestamptz[]",
                                      "same('billing'::text), names('m', 1, 1900), "
                                       "same('handled'::text), same(at(0))"),
    [pawl__postgres_inbox_drop] =
        HOT(2600, "text[], text[]", "same('billing'::text), names('m', 500001, 1900)"),
    [pawl__postgres_inbox_sweep] =
        WIDE(8000, 8000, "tid, tid, timestamptz, bigint", "'(64,0)', '(128,0)', at(0), 1000",
             "reads 64 pages, as many as the caller says"),
    [pawl__sql_dead_count] = RARE("", "statistics: counts all rows"),
    [pawl__sql_dead_list]  = RARE("bigint", "a list for people, in the order of time"),
    [pawl__sql_dead_list_endpoint] =
        RARE("text, bigint", "a list for people, in the order of time"),
    [pawl__postgres_dead_add] = HOT(
        3000,
        "text[], text[], text[], text[], bigint[], bigint[], text[], timestamptz[], " MESSAGE_TYPES,
        "same('billing'::text), same('bulk'::text), same('EUSER'::text), same(''::text), "
        "same(1::bigint), same(0::bigint), same(''::text), "
        "same(at(0)), " MESSAGE_OF("names('m', 1, 1900)")),
    [pawl__postgres_dead_drop] =
        HOT(2600, "text[], text[]", "same('billing'::text), names('m', 500001, 1900)"),
    [pawl__sql_subscription_list] = RARE("", "read whole by each process, now and then"),
    [pawl__postgres_subscription_put] =
        HOT(2600, "text[], text[]", "names('new', 1, 1), same('bulk'::text)"),
    [pawl__postgres_subscription_drop] =
        HOT(2600, "text[], text[]", "names('t', 1, 3900), same('bulk'::text)"),

    /* Timeouts. Every 1,000th is leased, every 2,000th until later. */
    [pawl__sql_timeout_stats]          = RARE("timestamptz", "statistics: counts all rows"),
    [pawl__sql_timeout_list]           = RARE("bigint", "a list for people, in the order of time"),
    [pawl__sql_timeout_first]          = HOT(20, "text", "'orders'"),
    [pawl__sql_timeout_free]           = HOT(8000, "uuid", "key(1)"),
    [pawl__postgres_timeout_free_dead] = HOT(20000, "timestamptz", "at(0)"),
    [pawl__postgres_timeout_first] =
        HOT(20, "text, timestamptz, timestamptz", "'orders', at(0), at(-9999999)"),
    [pawl__postgres_timeout_first_any] =
        HOT(60, "text, timestamptz, timestamptz", "'', at(0), at(-9999999)"),
    [pawl__postgres_timeout_lease]     = HOT(6000, LEASE_TYPES, "'orders', " LEASE_VALUES),
    [pawl__postgres_timeout_lease_any] = HOT(6000, LEASE_TYPES, "'', " LEASE_VALUES),
    [pawl__postgres_timeout_expire]    = HOT(9000, "timestamptz", "at(0)"),
    [pawl__postgres_timeout_of_saga]   = HOT(20, "uuid, bigint", "key(500), 100"),
    [pawl__postgres_timeout_remove] =
        HOT(3000, "uuid[], bigint[], uuid[]", "keys(2000, 2000), same(0::bigint), same(key(7))"),
    [pawl__postgres_timeout_release] =
        HOT(6000, "uuid[], bigint[], uuid[]", "keys(2000, 2000), same(0::bigint), same(key(7))"),
    [pawl__postgres_timeout_retry] =
        HOT(6000, "uuid[], timestamptz[], bigint[], bigint[], uuid[]",
            "keys(2000, 2000), same(at(60)), same(1::bigint), same(0::bigint), same(key(7))"),
    [pawl__postgres_timeout_remove_any]  = HOT(3000, "uuid[]", "keys(1000, 3900)"),
    [pawl__postgres_timeout_release_any] = HOT(6000, "uuid[]", "keys(1000, 3900)"),
    [pawl__postgres_timeout_retry_any]   = HOT(6000, "uuid[], timestamptz[], bigint[]",
                                               "keys(1000, 3900), same(at(60)), same(1::bigint)"),
    [pawl__postgres_timeout_lock] =
        HOT(3000, "uuid[], text[]", "keys(1000, 3900), same('pay'::text)"),
    [pawl__postgres_timeout_drop] =
        HOT(3000, "uuid[], text[]", "keys(1000, 3900), same('pay'::text)"),
    [pawl__postgres_timeout_lock_named] = HOT(3000, "uuid[]", "keys(1000, 3900)"),
    [pawl__postgres_timeout_drop_named] = HOT(3000, "uuid[]", "keys(1000, 3900)"),
    [pawl__postgres_timeout_lock_own]   = HOT(3000, "uuid[]", "keys(1001, 3900)"),
    [pawl__postgres_timeout_drop_own]   = HOT(3000, "uuid[]", "keys(1001, 3900)"),
    [pawl__postgres_timeout_arm] =
        HOT(9000, ARM_TYPES, ARM_VALUES("keys(3000000, 7)", "keys(1000, 3900)", "pay")),
    [pawl__postgres_timeout_overwrite] =
        HOT(9000, ARM_TYPES, ARM_VALUES("keys(1000, 3900)", "keys(1000, 3900)", "pay")),
    [pawl__postgres_timeout_put] =
        HOT(7000, ARM_TYPES, ARM_VALUES("keys(3000000, 7)", "keys(3000000, 7)", "pay")),

    /* The outbox: 10,000 rows are pending, a few held and dead. */
    [pawl__sql_outbox_held]     = RARE("", "statistics, over an index of the held rows alone"),
    [pawl__sql_outbox_dead]     = RARE("", "statistics, over an index of the dead rows alone"),
    [pawl__sql_outbox_attempts] = HOT(20, "bigint", "500000"),
    [pawl__postgres_outbox_pending_count] =
        RARE("", "statistics, over an index of the pending rows"),
    [pawl__postgres_outbox_there] = HOT(20, "timestamptz", "at(0)"),
    [pawl__postgres_outbox_due] =
        HOT(1000, "timestamptz, text, bigint, bigint", "at(0), 'orders', -1, 256"),
    [pawl__postgres_outbox_list_pending]    = RARE("bigint", "a list for people"),
    [pawl__postgres_outbox_list_held]       = RARE("bigint", "a list for people"),
    [pawl__postgres_outbox_list_dispatched] = RARE("bigint", "a list for people"),
    [pawl__postgres_outbox_list_dead]       = RARE("bigint", "a list for people"),
    [pawl__postgres_outbox_put] =
        HOT(5000,
            "uuid[], timestamptz[], timestamptz[], text[], bigint[], bigint[], text[], "
            "text[], " MESSAGE_TYPES,
            "keys(3000000, 7), same(at(0)), same(at(0)), same('order-1'::text), same(1::bigint), "
            "same(0::bigint), same('orders'::text), "
            "same('mail'::text), " MESSAGE_OF("names('new', 1, 7)")),
    [pawl__postgres_outbox_differs] = HOT(2600, "uuid[], text[], bytea[]",
                                          "keys(1000, 3900), same('line'::text), same(''::bytea)"),
    [pawl__postgres_outbox_end]     = HOT(
            9000, "bigint[], bigint[], timestamptz[], timestamptz[], bigint[], text[], text[], text[]",
            "numbers(990001, 30), same(1::bigint), same(at(0)), same(at(0)), same(5::bigint), "
                "same(''::text), same('dispatched'::text), same('success'::text)"),
    [pawl__postgres_outbox_release] = HOT(1000, "text[]", "names('order-', 1, 77)"),
    [pawl__postgres_outbox_keep]    = WIDE(30000, 40000, "bigint, text[], bigint[]",
                                           "990000, names('order-', 990001, 30), numbers(990001, 30)",
                                           "no index on the source of pending rows: walks over those"),
    [pawl__postgres_outbox_clear] =
        HOT(9000, "timestamptz, timestamptz, bigint", "at(-9999999), at(-500000), 256"),

    /* Aggregators: partitions of 1,000 rows. */
    [pawl__sql_aggregator_count]          = RARE("", "statistics: counts all rows"),
    [pawl__sql_aggregator_get]            = HOT(1500, "text", "'p000000500'"),
    [pawl__sql_aggregator_free]           = HOT(9000, "uuid", "key(1)"),
    [pawl__postgres_aggregator_free_dead] = HOT(20000, "timestamptz", "at(0)"),
    [pawl__postgres_aggregator_lease] =
        HOT(6000, "text, timestamptz, bigint, text[], bigint, uuid, timestamptz, uuid",
            "'p000000500', at(0), 9999999, '{line}', 256, key(8), at(30), key(1)"),
    [pawl__postgres_aggregator_unresolved] =
        HOT(1500, "text, timestamptz, bigint, text[]", "'p000000500', at(0), 9999999, '{line}'"),
    [pawl__postgres_aggregator_tally] =
        HOT(1500, "text, text[], timestamptz", "'p000000500', '{line}', at(0)"),
    [pawl__postgres_aggregator_put] =
        HOT(7000, "text[], text[], text[], timestamptz[], " MESSAGE_TYPES,
            "same('daily'::text), names('p', 1, 3), names('new', 1, 7), same(at(0)), " MESSAGE_OF(
                "names('new', 1, 7)")),
    [pawl__postgres_snapshot_delete] = HOT(3000, "bigint[], text[], uuid[]",
                                           "numbers(500001, 1), same('p000000500'::text), "
                                           "same(null::uuid)"),
    [pawl__postgres_snapshot_free] =
        HOT(9000, "text[], uuid[]", "'{p000000000,p000000500}', array[key(8), key(8)]"),
    [pawl__postgres_partition_delete]         = HOT(6000, "text[]", "'{p000000500,p000000501}'"),
    [pawl__postgres_aggregator_delete_oldest] = HOT(
        6000, "text[], text[], bigint[]", "names('p', 1, 3), same('c1'::text), same(0::bigint)"),

    /* Flush rows: one for each partition. */
    [pawl__sql_flush_dead]          = RARE("", "statistics, over an index of the dead rows alone"),
    [pawl__sql_flush_list]          = HOT(600, "text, timestamptz, bigint", "'daily', at(0), 256"),
    [pawl__postgres_flush_first_of] = HOT(30, "text[]", "'{daily,hourly}'"),
    [pawl__postgres_flush_keep]     = HOT(6000, "text[], text[], timestamptz[]",
                                          "names('p', 999000, 7), same('daily'::text), same(at(60))"),
    [pawl__postgres_flush_lock]     = HOT(3000, "text[]", "names('p', 1, 3900)"),
    [pawl__postgres_flush_write] =
        HOT(9000, "text[], timestamptz[], bigint[], bool[], bool[], text[]",
            "names('p', 1, 3900), same(at(60)), same(1::bigint), "
            "same(false), same(true), same(''::text)"),
};

#define SAGA_BY_ID HOT(2600, "uuid[]", "keys(1000, 3900)")
#define SAGA_BY_MAIN HOT(2600, "text[]", "names('order-', 1000, 3900)")
#define SAGA_BY_OTHER HOT(2600, "text[]", "names('old-', 1000, 3900)")

#define SAVE_TYPES "uuid[], bigint[], text[], jsonb[], text[]"
#define SAVE_VALUES ", same(1::bigint), same('{}'::text), same('{}'::jsonb), same('1'::text)"
#define MOVE_TYPES SAVE_TYPES ", text[]"
#define MOVE_VALUES SAVE_VALUES ", names('old-', 1000, 3900)"
#define ORDER_PLACES PLACES_OF("\"shop_Order\"", "\"Id\"", "keys(1000, 3900)")
#define MOVE_PLACES PLACES_OF("\"shop_Move\"", "\"Id\"", "keys(1000, 3900)")

/* The same for the statements on a saga table. */
static const plan_row saga_rows[pawl__postgres_saga_statement_count] = {
    [PAWL__POSTGRES_SAGA_BY_ID]                  = SAGA_BY_ID,
    [PAWL__POSTGRES_SAGA_BY_ID_LOCKED]           = SAGA_BY_ID,
    [PAWL__POSTGRES_SAGA_BY_ID_SKIP]             = SAGA_BY_ID,
    [PAWL__POSTGRES_SAGA_BY_ID_THERE]            = SAGA_BY_ID,
    [PAWL__POSTGRES_SAGA_BY_MAIN]                = SAGA_BY_MAIN,
    [PAWL__POSTGRES_SAGA_BY_MAIN_LOCKED]         = SAGA_BY_MAIN,
    [PAWL__POSTGRES_SAGA_BY_MAIN_SKIP]           = SAGA_BY_MAIN,
    [PAWL__POSTGRES_SAGA_BY_MAIN_THERE]          = SAGA_BY_MAIN,
    [PAWL__POSTGRES_SAGA_BY_TRANSITIONAL]        = SAGA_BY_OTHER,
    [PAWL__POSTGRES_SAGA_BY_TRANSITIONAL_LOCKED] = SAGA_BY_OTHER,
    [PAWL__POSTGRES_SAGA_BY_TRANSITIONAL_SKIP]   = SAGA_BY_OTHER,
    [PAWL__POSTGRES_SAGA_BY_TRANSITIONAL_THERE]  = SAGA_BY_OTHER,
    [PAWL__POSTGRES_SAGA_INSERT]    = HOT(6000, "uuid[], text[], jsonb[], text[], text[], text[]",
                                          "keys(3000000, 7), same('{}'::text), same('{}'::jsonb), "
                                             "same('1'::text), names('n', 1, 7), names('n', 1, 7)"),
    [PAWL__POSTGRES_SAGA_UPDATE]    = HOT(6000, "tid[], " MOVE_TYPES, MOVE_PLACES MOVE_VALUES),
    [PAWL__POSTGRES_SAGA_UPDATE_ID] = HOT(6000, MOVE_TYPES, "keys(1000, 3900)" MOVE_VALUES),
    [PAWL__POSTGRES_SAGA_DELETE] =
        HOT(2600, "uuid[], bigint[]", "keys(1000, 3900), same(1::bigint)"),
    [PAWL__POSTGRES_SAGA_COUNT] = RARE("", "statistics: counts all rows"),
};

/* And for a table without a transitional value, where they differ. */
static const plan_row plain_saga_rows[pawl__postgres_saga_statement_count] = {
    [PAWL__POSTGRES_SAGA_INSERT]    = HOT(5000, "uuid[], text[], jsonb[], text[], text[]",
                                          "keys(3000000, 7), same('{}'::text), same('{}'::jsonb), "
                                             "same('1'::text), names('n', 1, 7)"),
    [PAWL__POSTGRES_SAGA_UPDATE]    = HOT(5000, "tid[], " SAVE_TYPES, ORDER_PLACES SAVE_VALUES),
    [PAWL__POSTGRES_SAGA_UPDATE_ID] = HOT(5000, SAVE_TYPES, "keys(1000, 3900)" SAVE_VALUES),
};

#endif
