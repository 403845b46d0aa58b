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
#include "system/postgres_journal_plans.h"
#include "system/postgres_outbox_plans.h"

typedef struct plan_row {
    int         blocks; /* of the tables and their indexes, at most; 0: rare */
    int         rows;   /* that its scans may look at; 0: ROWS_MAX */
    const char *types;  /* as the driver sends them */
    const char *values;
    const char *reason; /* why it is rare, or may look at so many */
    bool        walks;  /* along an index without a condition, a few rows only */
} plan_row;

#define ROWS_MAX 2600 /* ten for each of 256 keys */
#define HOT(blocks, types, values)            \
    {                                         \
        blocks, 0, types, values, NULL, false \
    }
#define WIDE(blocks, rows, types, values, reason)  \
    {                                              \
        blocks, rows, types, values, reason, false \
    }
#define WALK(blocks, types, values, reason)    \
    {                                          \
        blocks, 0, types, values, reason, true \
    }
#define RARE(types, reason)              \
    {                                    \
        0, 0, types, NULL, reason, false \
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

#define OLDEST_TYPES "text[], text[], bigint[]"
#define OLDEST_VALUES "names('p', 1, 3), same('c1'::text), same(0::bigint)"
#define LEAP "its first step, to the first destination"
#define LEASE_TYPES                                                                                \
    "text, timestamptz, timestamptz, timestamptz, bigint, bigint, uuid, timestamptz, uuid, text, " \
    "bigint"
#define LEASE_VALUES \
    "at(0), at(-9999999), at(0), 257, 256, key(9), at(30), key(1), 'timeouts:000000000001:', 1"
#define ARM_TYPES "uuid[], bigint[], uuid[], text[], text[], text[], timestamptz[], text[], text[]"
#define ARM_VALUES(ids, sagas, name)                                                  \
    ids ", same(1::bigint), " sagas ", same('Order'::text), same('" name "'::text), " \
        "same('orders'::text), same(at(60)), same(''::text), same(''::text)"

/* By the statement's number. Shared ones that the driver never names have no row. */
static const plan_row plan_rows[pawl__postgres_statement_count] = {
    /* Workers and leases: small tables, but with the leases of dead workers go
     * those of timeouts and partitions. */
    [pawl__sql_schema_version]    = RARE("", "at open, of a table with one row"),
    [pawl__sql_worker_fold]       = HOT(20, "uuid, uuid", "key(1), key(2)"),
    [pawl__sql_worker_delete]     = HOT(20, "uuid", "key(1)"),
    [pawl__sql_worker_counters]   = RARE("", "statistics, of a table with a row for each worker"),
    [pawl__sql_lease_delete]      = HOT(20, "text, uuid", "'lead:000000001', key(1)"),
    [pawl__sql_lease_delete_all]  = HOT(20, "uuid", "key(1)"),
    [pawl__postgres_worker_guard] = HOT(20, COUNTER_TYPES ", tid", COUNTER_VALUES PLACE_OF_WORKER),
    [pawl__postgres_worker_guard_any] = HOT(20, COUNTER_TYPES, COUNTER_VALUES),
    [pawl__postgres_worker_guard_hard] =
        HOT(20, COUNTER_TYPES ", tid", COUNTER_VALUES PLACE_OF_WORKER),
    [pawl__postgres_worker_beat]      = HOT(20, "timestamptz, uuid, bigint", "at(0), key(1), 1"),
    [pawl__postgres_worker_take]      = HOT(20, "uuid, text, text, bigint, bigint, timestamptz",
                                            "key(1), 'orders', '', 1, 1, at(0)"),
    [pawl__postgres_worker_raise_row] = HOT(20, "uuid", "key(1)"),
    [pawl__postgres_end_holder_of]    = HOT(20, "uuid", "key(1)"),
    [pawl__postgres_end_standing_of] = RARE("bigint, bigint", "after a wait as long as a deadline"),
    [pawl__postgres_worker_alive_list]  = RARE("timestamptz", "a list for people"),
    [pawl__postgres_worker_alive_count] = RARE("timestamptz", "statistics"),
    [pawl__postgres_lead_alive_list]    = RARE("timestamptz", "a list for people"),
    [pawl__postgres_worker_dead_list] =
        HOT(31, "timestamptz, timestamptz, bigint", "at(0), at(-3600), 100"),
    [pawl__postgres_worker_retain]   = HOT(20, "uuid", "key(0)"),
    [pawl__postgres_lease_free_dead] = HOT(66, "timestamptz", "at(0)"),
    [pawl__postgres_end_lease_holder] =
        HOT(20, "text, timestamptz, bigint", "'lead:000000001', at(0), 500"),
    [pawl__postgres_lead_take] = HOT(20, "text, uuid, bigint, bigint, timestamptz, timestamptz",
                                     "'lead:000000001', key(1), 1, 1, at(0), at(30)"),
    [pawl__postgres_lead_take_alone] =
        HOT(20, "text, uuid, bigint, bigint, timestamptz, timestamptz, text",
            "'lead:000000001', key(1), 1, 1, at(0), at(30), '500'"),
    [pawl__postgres_sweep_begin] = HOT(20, "bigint", "1"),
    [pawl__postgres_sweep_place] = HOT(20, "bigint, bigint, timestamptz", "1, 1, at(0)"),

    /* The queue. */
    [pawl__sql_queue_list]  = RARE("text, bigint", "a list for people, in the order of placing"),
    [pawl__sql_queue_stats] = RARE("timestamptz", "statistics: counts all rows"),
    [pawl__postgres_queue_there] =
        HOT(20, "text[], timestamptz[], timestamptz[], timestamptz[]",
            "'{bulk,orders}', array[at(-9999999), at(0)], array[at(0), at(1)], "
            "array[at(-9999), at(0)]"),
    [pawl__postgres_queue_is_due] =
        HOT(20, "text, timestamptz, timestamptz", "'bulk', at(0), at(-9999999)"),
    [pawl__postgres_next_of_all] =
        HOT(65, "text, timestamptz, bigint[], timestamptz, text[], timestamptz, uuid",
            "'orders', at(-9999999), numbers(1, 1), at(0), '{daily,hourly}', at(0), key(1)"),
    [pawl__postgres_queue_claim] =
        HOT(1900, "text, timestamptz, timestamptz, bigint[], bigint, text, bigint",
            "'bulk', at(0), at(-9999999), numbers(1, 1), 256, 'billing', 65536"),
    [pawl__postgres_queue_bodies] = HOT(2200, "bigint[]", "numbers(1000, 1900)"),
    [pawl__postgres_queue_claim_again] =
        HOT(2200, "bigint[], text, timestamptz, bigint", "numbers(1000, 1900), 'bulk', at(0), 256"),
    [pawl__postgres_queue_lock] =
        HOT(2200, "bigint[], timestamptz[]", "numbers(1000, 1900), same(at(-3600))"),
    [pawl__postgres_queue_done] =
        HOT(1500, "tid[], bigint[], text[]", QUEUE_PLACES ", same('bulk'::text)"),
    [pawl__postgres_queue_again] = HOT(
        6200,
        "tid[], bigint[], text[], timestamptz[], bigint[], bigint[], timestamptz[], text[], text[]",
        QUEUE_PLACES ", same('bulk'::text), same(at(60)), same(1::bigint), "
                     "same(0::bigint), same(at(-3600)), same(''::text), same('[]'::text)"),
    [pawl__postgres_queue_add] =
        HOT(5100, "text[], timestamptz[], bigint[], " MESSAGE_TYPES,
            "same('bulk'::text), same(at(0)), same(0::bigint), " MESSAGE_OF("names('new', 1, 7)")),
    [pawl__postgres_queue_first_place] =
        HOT(20, "text, timestamptz, bigint[]", "'bulk', at(0), numbers(1, 1)"),
    [pawl__postgres_queue_first] =
        HOT(20, "text, timestamptz, bigint[]", "'bulk', at(-9999999), numbers(1, 1)"),

    /* The inbox, dead letters and subscriptions. */
    [pawl__sql_inbox_count]     = RARE("", "statistics: counts all rows"),
    [pawl__postgres_inbox_look] = HOT(1500, "text, text[]", "'billing', names('m', 500001, 1900)"),
    [pawl__postgres_inbox_add]  = HOT(1500, "text[], text[], text[], timestamptz[]",
                                      "same('billing'::text), names('m', 1, 1900), "
                                       "same('handled'::text), same(at(0))"),
    [pawl__postgres_inbox_drop] =
        HOT(2600, "text[], text[]", "same('billing'::text), names('m', 500001, 1900)"),
    [pawl__postgres_inbox_sweep] =
        HOT(5700, "tid, tid, timestamptz, bigint", "'(64,0)', '(128,0)', at(0), 1000"),
    [pawl__sql_dead_count] = RARE("", "statistics: counts all rows"),
    [pawl__sql_dead_list]  = RARE("bigint", "a list for people, in the order of time"),
    [pawl__sql_dead_list_endpoint] =
        RARE("text, bigint", "a list for people, in the order of time"),
    [pawl__postgres_dead_add] = HOT(
        1500,
        "text[], text[], text[], text[], bigint[], bigint[], text[], timestamptz[], " MESSAGE_TYPES,
        "same('billing'::text), same('bulk'::text), same('EUSER'::text), same(''::text), "
        "same(1::bigint), same(0::bigint), same(''::text), "
        "same(at(0)), " MESSAGE_OF("names('m', 1, 1900)")),
    [pawl__postgres_dead_drop] =
        HOT(2600, "text[], text[]", "same('orders'::text), names('m', 500001, 1900)"),
    [pawl__sql_subscription_list] = RARE("", "read whole by each process, now and then"),
    [pawl__postgres_subscription_put] =
        HOT(2600, "text[], text[]", "names('new', 1, 1), same('bulk'::text)"),
    [pawl__postgres_subscription_drop] =
        HOT(1900, "text[], text[]", "names('t', 100, 3900), same('bulk'::text)"),

    /* Timeouts: 2,000 are due, 600 of them leased, most until later. */
    [pawl__sql_timeout_stats] = RARE("timestamptz", "statistics: counts all rows"),
    [pawl__sql_timeout_list]  = RARE("bigint", "a list for people, in the order of time"),
    [pawl__postgres_timeout_first] =
        HOT(40, "text, timestamptz, timestamptz", "'orders', at(0), at(-9999999)"),
    [pawl__postgres_timeout_first_any] =
        WALK(87, "text, timestamptz, timestamptz", "'', at(0), at(-9999999)", LEAP),
    [pawl__postgres_timeout_elsewhere] =
        RARE("text, timestamptz", "reads all subscriptions, twice a minute for each endpoint; the "
                                  "rest is as in timeout_first_any"),
    [pawl__postgres_timeout_lease]       = HOT(2700, LEASE_TYPES, "'orders', " LEASE_VALUES),
    [pawl__postgres_timeout_lease_any]   = WALK(7600, LEASE_TYPES, "'', " LEASE_VALUES, LEAP),
    [pawl__postgres_timeout_expire]      = HOT(3000, "timestamptz", "at(0)"),
    [pawl__postgres_timeout_marks_end]   = HOT(20, "bigint", "1"),
    [pawl__postgres_timeout_free_claim]  = HOT(13000, "uuid", "key(7)"),
    [pawl__postgres_timeout_free_worker] = HOT(2600, "uuid", "key(1)"),
    [pawl__postgres_timeout_free_dead]   = HOT(18000, "timestamptz, bool", "at(100), true"),
    [pawl__postgres_timeout_of_saga]     = HOT(20, "uuid, bigint", "key(500), 100"),
    [pawl__postgres_timeout_remove] =
        HOT(2600, "uuid[], bigint[], uuid[]", "keys(1, 2), same(0::bigint), same(key(7))"),
    [pawl__postgres_timeout_release] =
        HOT(7000, "uuid[], bigint[], uuid[]", "keys(1, 2), same(0::bigint), same(key(7))"),
    [pawl__postgres_timeout_retry] =
        HOT(7000, "uuid[], timestamptz[], bigint[], bigint[], uuid[]",
            "keys(1, 2), same(at(60)), same(1::bigint), same(0::bigint), same(key(7))"),
    [pawl__postgres_timeout_lock_id]     = HOT(2200, "uuid[]", "keys(1000, 3900)"),
    [pawl__postgres_timeout_remove_any]  = HOT(2600, "uuid[]", "keys(1000, 3900)"),
    [pawl__postgres_timeout_release_any] = HOT(2600, "uuid[]", "keys(1000, 3900)"),
    [pawl__postgres_timeout_retry_any]   = HOT(7200, "uuid[], timestamptz[], bigint[]",
                                               "keys(1000, 3900), same(at(60)), same(1::bigint)"),
    [pawl__postgres_timeout_lock] =
        HOT(1800, "uuid[], text[]", "keys(1000, 3900), same('pay'::text)"),
    [pawl__postgres_timeout_drop] =
        HOT(2200, "uuid[], text[]", "keys(1000, 3900), same('pay'::text)"),
    [pawl__postgres_timeout_lock_named] = HOT(1800, "uuid[]", "keys(1000, 3900)"),
    [pawl__postgres_timeout_drop_named] = HOT(2200, "uuid[]", "keys(1000, 3900)"),
    [pawl__postgres_timeout_lock_own]   = HOT(1900, "uuid[]", "keys(1001, 3900)"),
    [pawl__postgres_timeout_drop_own]   = HOT(2200, "uuid[]", "keys(1001, 3900)"),
    [pawl__postgres_timeout_arm] =
        HOT(7900, ARM_TYPES, ARM_VALUES("keys(3000000, 7)", "keys(1000, 3900)", "pay")),
    [pawl__postgres_timeout_overwrite] =
        HOT(6900, ARM_TYPES, ARM_VALUES("keys(1000, 3900)", "keys(1000, 3900)", "pay")),
    [pawl__postgres_timeout_put] =
        HOT(6000, ARM_TYPES, ARM_VALUES("keys(3000000, 7)", "keys(3000000, 7)", "pay")),

    OUTBOX_PLANS,

    JOURNAL_PLANS,

    /* Aggregators: partitions of 1,000 rows. */
    [pawl__sql_aggregator_count] = RARE("", "statistics: counts all rows"),
    [pawl__sql_aggregator_get]   = HOT(570, "text", "'p000000500'"),
    [pawl__sql_aggregator_free]  = HOT(1300, "uuid", "key(1)"),
    [pawl__postgres_aggregator_free_dead] =
        WALK(13000, "timestamptz", "at(0)", "along an index of the leased rows alone"),
    [pawl__postgres_aggregator_lease] =
        HOT(7700, "text, timestamptz, bigint, text[], bigint, uuid, timestamptz, uuid",
            "'p000000500', at(0), 9999999, '{line}', 256, key(8), at(30), key(1)"),
    [pawl__postgres_aggregator_unresolved] =
        HOT(850, "text, timestamptz, bigint, text[]", "'p000000500', at(0), 9999999, '{line}'"),
    [pawl__postgres_aggregator_tally] =
        HOT(760, "text, text[], timestamptz", "'p000000500', '{line}', at(0)"),
    [pawl__postgres_aggregator_put] =
        HOT(5100, "text[], text[], text[], timestamptz[], " MESSAGE_TYPES,
            "same('daily'::text), names('p', 1, 3), names('new', 1, 7), same(at(0)), " MESSAGE_OF(
                "names('new', 1, 7)")),
    [pawl__postgres_aggregator_lock_id] = HOT(1800, "bigint[]", "numbers(500001, 1)"),
    [pawl__postgres_snapshot_delete]    = HOT(2600, "bigint[], text[], uuid[]",
                                              "numbers(500001, 1), same('p000000500'::text), "
                                                 "same(null::uuid)"),
    [pawl__postgres_snapshot_free] =
        HOT(630, "text[], uuid[]", "'{p000000000,p000000500}', array[key(8), key(8)]"),
    [pawl__postgres_partition_delete]         = HOT(6300, "text[]", "'{p000000500,p000000501}'"),
    [pawl__postgres_aggregator_lock_oldest]   = HOT(2000, OLDEST_TYPES, OLDEST_VALUES),
    [pawl__postgres_aggregator_delete_oldest] = HOT(2700, OLDEST_TYPES, OLDEST_VALUES),

    /* Flush rows: one for each partition. */
    [pawl__sql_flush_dead]      = RARE("", "statistics, over an index of the dead rows alone"),
    [pawl__sql_flush_list]      = HOT(26, "text, timestamptz, bigint", "'daily', at(0), 256"),
    [pawl__postgres_flush_keep] = HOT(3200, "text[], text[], timestamptz[]",
                                      "names('p', 999000, 7), same('daily'::text), same(at(60))"),
    [pawl__postgres_flush_lock] = HOT(2200, "text[]", "names('p', 1, 3900)"),
    [pawl__postgres_flush_write] =
        HOT(3300, "text[], timestamptz[], bigint[], bool[], bool[], text[]",
            "names('p', 1, 3900), same(at(60)), same(1::bigint), "
            "same(false), same(true), same(''::text)"),
};

#endif
