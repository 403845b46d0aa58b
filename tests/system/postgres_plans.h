/* postgres_plans.h - every statement of the PostgreSQL driver that reads or writes
 * its tables: what is asserted of it with 250,000 rows in each, or why nothing is.
 *
 * Values are SQL, with the functions that postgres_fill.h makes: at(seconds from NOW), key(number) is a
 * uuid; keys, numbers and names(prefix, first, step) are arrays of 256 items, so is same(value).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SYSTEM_POSTGRES_PLANS_H
#define PAWL_TESTS_SYSTEM_POSTGRES_PLANS_H

#include "store/postgres/connection.h"
#include "system/postgres_event_store_plans.h"
#include "system/postgres_outbox_plans.h"

typedef struct plan_row {
    int         blocks; /* of the tables and their indexes, at most; 0: rare */
    int         rows;   /* limit of those its scans look at; 0: ROWS_MAX */
    const char *types;  /* as the driver sends them */
    const char *values;
    const char *reason; /* why it is rare, or may look at so many */
    bool        scans;  /* along an index without a condition, a few rows only */
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
#define CTID_OF_WORKER ", (select ctid from pawl_workers where \"Id\" = key(1))"

/* Where the rows stand that the statement is about. */
#define TIDS_OF(table, key, list) \
    "(select array_agg(ctid order by " key ") from " table " where " key " = any (" list "))"
#define CTIDS_OF(table, key, list) TIDS_OF(table, key, list) ", " list
#define QUEUE_TIDS TIDS_OF("pawl_queue", "\"Seq\"", "numbers(1000, 474)")
#define QUEUE_CTIDS CTIDS_OF("pawl_queue", "\"Seq\"", "numbers(1000, 474)")

#define DEAD_TYPES \
    "text, text, text, text, text, timestamptz, timestamptz, timestamptz, text, text, bigint"
#define PEEK_TYPES "text, text, text, timestamptz, timestamptz, bigint, timestamptz, bigint, bigint"
#define HISTORY_TYPES                                                                               \
    "text[], text[], text[], text[], text[], text[], bigint[], bigint[], bigint[], timestamptz[], " \
    "text[], text[]"
#define FOUND_TYPES "text, text, bigint, bigint"
#define LEAP "its first step, to the first destination"
#define LEASED_VALUES "keys(1, 2), same(key(7)), same(0::bigint)"
#define LEASE_TYPES                                                                                \
    "text, timestamptz, timestamptz, timestamptz, bigint, bigint, uuid, timestamptz, uuid, text, " \
    "bigint"
#define LEASE_VALUES \
    "at(0), at(-9999999), at(0), 257, 256, key(9), at(30), key(1), 'timeouts:000000000001:', 1"
#define ARM_TYPES "uuid[], uuid[], text[], text[], text[], timestamptz[], text[], text[]"
#define ARM_VALUES(ids, sagas, name)                                 \
    ids ", " sagas ", same('Order'::text), same('" name "'::text), " \
        "same('orders'::text), same(at(60)), same(''::text), same(''::text)"

/* By the statement's number. Shared ones that the driver never names have no row. */
static const plan_row plan_rows[PAWL__PG_STATEMENT_COUNT] = {
    COUNT_PLANS,
    /* Workers and leases: small tables, but with the leases of dead workers go
     * those of timeouts and partitions. */
    [PAWL__SQL_VERSION_GET]         = RARE("", "at open, of a table with one row"),
    [PAWL__SQL_WORKER_FOLD]         = HOT(20, "uuid, uuid", "key(1), key(2)"),
    [PAWL__SQL_WORKER_DELETE]       = HOT(20, "uuid", "key(1)"),
    [PAWL__SQL_WORKER_COUNTERS]     = RARE("", "statistics, of a table with a row for each worker"),
    [PAWL__SQL_LEASE_DELETE]        = HOT(20, "text, uuid", "'lead:000000001', key(1)"),
    [PAWL__SQL_LEASE_DELETE_ALL]    = HOT(20, "uuid", "key(1)"),
    [PAWL__PG_WORKER_FENCE]         = HOT(20, COUNTER_TYPES ", tid", COUNTER_VALUES CTID_OF_WORKER),
    [PAWL__PG_WORKER_FENCE_ANY]     = HOT(20, COUNTER_TYPES, COUNTER_VALUES),
    [PAWL__PG_WORKER_FENCE_HARD]    = HOT(20, COUNTER_TYPES ", tid", COUNTER_VALUES CTID_OF_WORKER),
    [PAWL__PG_WORKER_HEARTBEAT]     = HOT(20, "timestamptz, uuid, bigint", "at(0), key(1), 1"),
    [PAWL__PG_WORKER_HEARTBEAT_ANY] = HOT(20, "timestamptz, uuid", "at(0), key(1)"),
    [PAWL__PG_WORKER_TAKE] =
        HOT(20, "uuid, text, text, bigint, bigint, timestamptz, text, text, text, text",
            "key(1), 'orders', '', 1, 1, at(0), 'h', 'p', '2', '1'"),
    [PAWL__PG_WORKER_RAISE]    = HOT(20, "uuid", "key(1)"),
    [PAWL__PG_END_HOLDER_OF]   = HOT(20, "uuid", "key(1)"),
    [PAWL__PG_END_STANDING_OF] = RARE("bigint, bigint", "after a wait as long as a deadline"),
    [PAWL__SQL_WORKER_LIST]    = RARE("", "a list for people"),
    [PAWL__SQL_WORKER_LIVES]   = RARE("", "statistics, of a table with a row for each worker"),
    [PAWL__SQL_LEAD_LIST]      = RARE("timestamptz", "a list for people"),
    [PAWL__PG_WORKER_LIVES] =
        RARE("timestamptz, bigint[], timestamptz[]", "lists for people and statistics"),
    [PAWL__PG_WORKER_DEAD_LIST] =
        HOT(31, "timestamptz, timestamptz, bigint", "at(0), at(-3600), 100"),
    [PAWL__PG_WORKER_KEEP]     = HOT(20, "uuid", "key(0)"),
    [PAWL__PG_LEASE_FREE_DEAD] = HOT(66, "timestamptz", "at(0)"),
    [PAWL__PG_END_LEASE_HOLDER] =
        HOT(20, "text, timestamptz, bigint", "'lead:000000001', at(0), 500"),
    [PAWL__PG_LEAD_TAKE] = HOT(20, "text, uuid, bigint, bigint, timestamptz, timestamptz",
                               "'lead:000000001', key(1), 1, 1, at(0), at(30)"),
    [PAWL__PG_LEAD_TAKE_ALONE] =
        HOT(20, "text, uuid, bigint, bigint, timestamptz, timestamptz, text",
            "'lead:000000001', key(1), 1, 1, at(0), at(30), '500'"),
    [PAWL__PG_SWEEP_BEGIN] = HOT(20, "bigint", "1"),
    [PAWL__PG_SWEEP_LEASE] = HOT(20, "bigint, bigint, timestamptz", "1, 1, at(0)"),

    /* The queue. */
    [PAWL__SQL_QUEUE_LIST]    = RARE("text, bigint", "a list for people, in the order of placing"),
    [PAWL__SQL_QUEUE_RETRIED] = RARE("text, timestamptz, bigint, text, bigint",
                                     "before a message is dropped for want of a saga"),
    [PAWL__SQL_QUEUE_SCAN]    = HOT(60, "bigint, bigint", "1000, 256"),
    [PAWL__PG_QUEUE_THERE] =
        HOT(20, "text[], timestamptz[], timestamptz[], timestamptz[]",
            "'{bulk,orders}', array[at(-9999999), at(0)], array[at(0), at(1)], "
            "array[at(-9999), at(0)]"),
    [PAWL__PG_QUEUE_IS_DUE] =
        HOT(20, "text, timestamptz, timestamptz", "'bulk', at(0), at(-9999999)"),
    [PAWL__PG_NEXT_OF_ALL] =
        HOT(65, "text, timestamptz, bigint[], timestamptz, text[], timestamptz, uuid",
            "'orders', at(-9999999), numbers(1, 1), at(0), '{daily,hourly}', at(0), key(1)"),
    [PAWL__PG_QUEUE_CLAIM] =
        HOT(1900, "text, timestamptz, timestamptz, bigint[], bigint, text, bigint",
            "'bulk', at(0), at(-9999999), numbers(1, 1), 256, 'billing', 65536"),
    [PAWL__PG_QUEUE_BODIES] = HOT(2200, "bigint[]", "numbers(1000, 474)"),
    [PAWL__PG_QUEUE_CLAIM_AGAIN] =
        HOT(2200, "bigint[], text, timestamptz, bigint", "numbers(1000, 474), 'bulk', at(0), 256"),
    [PAWL__PG_QUEUE_LOCK] =
        HOT(2200, "bigint[], timestamptz[]", "numbers(1000, 474), same(at(-3600))"),
    [PAWL__PG_QUEUE_DELETE] =
        HOT(1500, "tid[], bigint[], text[]", QUEUE_CTIDS ", same('bulk'::text)"),
    [PAWL__PG_QUEUE_RETRY] = HOT(
        6200,
        "tid[], timestamptz[], bigint[], bigint[], timestamptz[], text[], text[], bigint[], text[]",
        QUEUE_TIDS ", same(at(60)), same(1::bigint), same(0::bigint), same(at(-3600)), "
                   "same(''::text), same('[]'::text), numbers(1000, 474), same('bulk'::text)"),
    [PAWL__PG_QUEUE_SEND] =
        HOT(5100, "text[], timestamptz[], bigint[], " MESSAGE_TYPES,
            "same('bulk'::text), same(at(0)), same(0::bigint), " MESSAGE_OF("names('new', 1, 7)")),
    [PAWL__PG_QUEUE_OLDEST] =
        HOT(20, "text, timestamptz, bigint[]", "'bulk', at(0), numbers(1, 1)"),
    [PAWL__PG_QUEUE_FIRST] =
        HOT(20, "text, timestamptz, bigint[]", "'bulk', at(-9999999), numbers(1, 1)"),

    /* The inbox, dead letters and subscriptions. */
    [PAWL__PG_INBOX_KNOWN] = HOT(1500, "text, text[]", "'billing', names('m', 125001, 474)"),
    [PAWL__PG_INBOX_MARK]  = HOT(1500, "text[], text[], text[], timestamptz[]",
                                 "same('billing'::text), names('m', 1, 474), "
                                  "same('handled'::text), same(at(0))"),
    [PAWL__PG_INBOX_DELETE] =
        HOT(2600, "text[], text[]", "same('billing'::text), names('m', 125001, 474)"),
    [PAWL__PG_INBOX_SWEEP] =
        HOT(5700, "tid, tid, timestamptz, bigint", "'(64,0)', '(128,0)', at(0), 1000"),
    [PAWL__SQL_QUEUE_FIND]     = RARE(PEEK_TYPES, "a list for people, of a whole queue"),
    [PAWL__SQL_QUEUE_FIND_TIE] = HOT(20, "text, text, text, timestamptz, bigint, bigint, bigint",
                                     "'orders', '', '', at(0), 9999999999, 0, 1"),
    [PAWL__SQL_QUEUE_FIND_ONE] = HOT(
        20, PEEK_TYPES,
        "'orders', 'm000125001', '', at(-9999999), at(9999999), 9999999999, at(-9999999), 0, 1"),
    [PAWL__PG_DEAD_FIND] =
        HOT(300, DEAD_TYPES,
            "'', '', '', '', '', at(-99999999), at(99999999), at(-99999999), '', '', 100"),
    [PAWL__SQL_DEAD_FIND_ONE] = HOT(
        20, DEAD_TYPES,
        "'orders', 'm000125001', '', '', '', at(-9999999), at(9999999), at(-9999999), '', '', 1"),
    [PAWL__SQL_DEAD_SCAN] = RARE("text, text, bigint", "a tool's scan over letters, which are few"),
    [PAWL__PG_DEAD_ADD]   = HOT(
          1500,
          "text[], text[], text[], text[], bigint[], bigint[], text[], timestamptz[], " MESSAGE_TYPES,
          "same('billing'::text), same('bulk'::text), same('EUSER'::text), same(''::text), "
            "same(1::bigint), same(0::bigint), same(''::text), "
            "same(at(0)), " MESSAGE_OF("names('m', 1, 474)")),
    [PAWL__PG_DEAD_DELETE] =
        HOT(2600, "text[], text[]", "same('orders'::text), names('m', 125001, 474)"),
    [PAWL__PG_DEAD_DELETE_OF] = HOT(2600, "text[], text[], timestamptz[]",
                                    "same('orders'::text), names('m', 125001, 474), same(at(0))"),
    [PAWL__PG_HISTORY_ADD] =
        HOT(2600, HISTORY_TYPES,
            "same('orders'::text), names('Order/', 1, 97), names('m', 1, 474), same('line'::text), "
            "same('message'::text), same('handled'::text), same(1::bigint), same(0::bigint), "
            "same(5::bigint), same(at(0)), same(''::text), same(''::text)"),
    [PAWL__SQL_HISTORY_FIND]         = RARE(FOUND_TYPES, "a page of all lines, for people"),
    [PAWL__SQL_HISTORY_FIND_SOURCE]  = HOT(20, FOUND_TYPES, "name('Order/', 777), '', 0, 100"),
    [PAWL__SQL_HISTORY_FIND_MESSAGE] = HOT(20, FOUND_TYPES, "'', name('m', 7777), 0, 100"),
    [PAWL__PG_HISTORY_SWEEP]      = WALK(1500, "timestamptz, bigint, bigint", "at(-125000), 256, 0",
                                         "the first lines, which are the oldest"),
    [PAWL__SQL_SUBSCRIPTION_LIST] = RARE("", "read whole by each process, now and then"),
    [PAWL__PG_SUBSCRIPTION_ADD] =
        HOT(2600, "text[], text[]", "names('new', 1, 1), same('bulk'::text)"),
    [PAWL__PG_SUBSCRIPTION_DELETE] =
        HOT(1900, "text[], text[]", "names('t', 100, 3900), same('bulk'::text)"),

    /* Timeouts: 2,000 are due, 600 of them leased, most until later. */
    [PAWL__SQL_TIMEOUT_SCAN] = HOT(600, "uuid, bigint", "key(1000), 256"),
    [PAWL__SQL_TIMEOUT_LIST] =
        HOT(150, "text, timestamptz, uuid, bigint", "'bulk', at(0), key(1), 100"),
    [PAWL__PG_TIMEOUT_FIRST] =
        HOT(40, "text, timestamptz, timestamptz", "'orders', at(0), at(-9999999)"),
    [PAWL__PG_TIMEOUT_FIRST_ANY] =
        WALK(87, "text, timestamptz, timestamptz", "'', at(0), at(-9999999)", LEAP),
    [PAWL__PG_TIMEOUT_FOREIGN_DUE] =
        RARE("text, timestamptz", "reads all subscriptions, twice a minute for each endpoint; the "
                                  "rest is as in timeout_first_any"),
    [PAWL__PG_TIMEOUT_CLAIM]       = HOT(2700, LEASE_TYPES, "'orders', " LEASE_VALUES),
    [PAWL__PG_TIMEOUT_CLAIM_ANY]   = WALK(7600, LEASE_TYPES, "'', " LEASE_VALUES, LEAP),
    [PAWL__PG_TIMEOUT_REAP]        = HOT(3000, "timestamptz", "at(0)"),
    [PAWL__PG_TIMEOUT_RANGES_END]  = HOT(20, "bigint", "1"),
    [PAWL__PG_TIMEOUT_FREE_CLAIM]  = HOT(13000, "uuid", "key(7)"),
    [PAWL__PG_TIMEOUT_FREE_WORKER] = HOT(2600, "uuid", "key(1)"),
    [PAWL__PG_TIMEOUT_FREE_DEAD]   = HOT(18000, "timestamptz, bool", "at(100), true"),
    [PAWL__PG_TIMEOUT_LIST_SAGA] =
        HOT(20, "uuid, timestamptz, uuid, bigint", "key(500), at(-9999999), key(1), 100"),
    [PAWL__PG_TIMEOUT_DELETE]  = HOT(2600, "uuid[], uuid[], bigint[]", LEASED_VALUES),
    [PAWL__PG_TIMEOUT_RELEASE] = HOT(7000, "uuid[], uuid[], bigint[]", LEASED_VALUES),
    [PAWL__PG_TIMEOUT_RETRY]   = HOT(7000, "uuid[], uuid[], bigint[], timestamptz[], bigint[]",
                                     LEASED_VALUES ", same(at(60)), same(1::bigint)"),
    [PAWL__PG_TIMEOUT_LOCK_ID] = HOT(2200, "uuid[]", "keys(1000, 970)"),
    [PAWL__PG_TIMEOUT_LOCK]    = HOT(1800, "uuid[], text[]", "keys(1000, 970), same('pay'::text)"),
    [PAWL__PG_TIMEOUT_LOCK_NAMED] = HOT(1800, "uuid[]", "keys(1000, 970)"),
    [PAWL__PG_TIMEOUT_LOCK_OWN]   = HOT(1900, "uuid[]", "keys(1001, 970)"),
    [PAWL__PG_TIMEOUT_CANCEL] = HOT(2200, "uuid[], text[]", "keys(1000, 970), same('pay'::text)"),
    [PAWL__PG_TIMEOUT_CANCEL_NAMED] = HOT(2200, "uuid[]", "keys(1000, 970)"),
    [PAWL__PG_TIMEOUT_CANCEL_OWN]   = HOT(2200, "uuid[]", "keys(1001, 970)"),
    [PAWL__PG_TIMEOUT_REARM_SAGA] =
        HOT(7900, ARM_TYPES, ARM_VALUES("keys(3000000, 7)", "keys(1000, 970)", "pay")),
    [PAWL__PG_TIMEOUT_REARM] =
        HOT(6900, ARM_TYPES, ARM_VALUES("keys(1000, 970)", "keys(1000, 970)", "pay")),
    [PAWL__PG_TIMEOUT_REARM_SURE] =
        HOT(6000, ARM_TYPES, ARM_VALUES("keys(4000000, 7)", "keys(4000000, 7)", "pay")),
    [PAWL__PG_TIMEOUT_INSERT] =
        HOT(6000, ARM_TYPES, ARM_VALUES("keys(3000000, 7)", "keys(3000000, 7)", "pay")),

    OUTBOX_PLANS,

    EVENT_STORE_PLANS,

    /* Aggregators: partitions of 1,000 rows. */
    [PAWL__SQL_AGGREGATOR_SCAN] = HOT(60, "bigint, bigint", "1000, 256"),
    [PAWL__SQL_AGGREGATOR_GET]  = HOT(570, "text", "'p000000125'"),
    [PAWL__SQL_AGGREGATOR_FREE] = HOT(1300, "uuid", "key(1)"),
    [PAWL__PG_AGGREGATOR_FREE_DEAD] =
        WALK(13000, "timestamptz", "at(0)", "along an index of the leased rows alone"),
    [PAWL__PG_AGGREGATOR_CLAIM] =
        HOT(7700, "text, timestamptz, bigint, text[], bigint, uuid, timestamptz, uuid",
            "'p000000125', at(0), 9999999, '{line}', 256, key(8), at(30), key(1)"),
    [PAWL__PG_AGGREGATOR_UNRESOLVED] =
        HOT(850, "text, timestamptz, bigint, text[]", "'p000000125', at(0), 9999999, '{line}'"),
    [PAWL__PG_AGGREGATOR_TALLY] =
        HOT(760, "text, text[], timestamptz", "'p000000125', '{line}', at(0)"),
    [PAWL__PG_AGGREGATOR_ADD] =
        HOT(5100, "text[], text[], text[], timestamptz[], " MESSAGE_TYPES,
            "same('daily'::text), names('p', 1, 1), names('new', 1, 7), same(at(0)), " MESSAGE_OF(
                "names('new', 1, 7)")),
    [PAWL__PG_AGGREGATOR_LOCK_ID] = HOT(1800, "bigint[]", "numbers(125001, 1)"),
    [PAWL__PG_AGGREGATOR_DELETE]  = HOT(2600, "bigint[], text[], uuid[]",
                                        "numbers(125001, 1), same('p000000125'::text), "
                                         "same(null::uuid)"),
    [PAWL__PG_AGGREGATOR_RELEASE] =
        HOT(630, "text[], uuid[]", "'{p000000000,p000000125}', array[key(8), key(8)]"),
    [PAWL__PG_AGGREGATOR_DELETE_ALL] = HOT(6300, "text[]", "'{p000000125,p000000126}'"),
    [PAWL__PG_AGGREGATOR_LOCK_OLDEST] =
        HOT(2000, "text[], text[]", "names('p', 1, 1), same('c1'::text)"),
    [PAWL__PG_AGGREGATOR_DELETE_OLDEST] =
        HOT(2700, "text[], text[]", "names('p', 1, 1), same('c1'::text)"),

    /* Flush rows: one for each partition. */
    [PAWL__SQL_FLUSH_LIST] = HOT(26, "text, timestamptz, bigint", "'daily', at(0), 256"),
    [PAWL__PG_FLUSH_ADD]   = HOT(3200, "text[], text[], timestamptz[]",
                                 "names('p', 249000, 7), same('daily'::text), same(at(60))"),
    [PAWL__PG_FLUSH_LOCK]  = HOT(2200, "text[]", "names('p', 1, 970)"),
    [PAWL__PG_FLUSH_DONE]  = HOT(3300, "text[]", "names('p', 1, 970)"),
    [PAWL__PG_FLUSH_SET]   = HOT(4200, "timestamptz[], bigint[], bigint[], text[], text[]",
                                 "same(at(60)), same(1::bigint), same(0::bigint), same(''::text), "
                                   "names('p', 1, 970)"),
};

#endif
