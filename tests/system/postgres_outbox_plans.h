/* postgres_outbox_plans.h - the rows of the outbox's statements: 10,000 rows are pending,
 * twenty of them tried before, a few held and dead. Part of postgres_plans.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SYSTEM_POSTGRES_OUTBOX_PLANS_H
#define PAWL_TESTS_SYSTEM_POSTGRES_OUTBOX_PLANS_H

#define SETTLE_TYPES \
    "bigint[], bigint[], timestamptz[], timestamptz[], bigint[], text[], text[], text[]"
#define SETTLE_VALUES                                                                      \
    "numbers(990001, 30), same(1000::bigint), same(at(0)), same(at(0)), same(5::bigint), " \
    "same(''::text), same('dispatched'::text), same('success'::text)"
#define FIND_TYPES "bigint, bigint, text, text, text, text, text, bigint, bigint"
#define FIND_VALUES "0, 9999999, 'orders', '', 'mail', '', '', 20, 0"
#define FIND_STATES ", '{pending,held,dispatched,dead,discarded}'"

#define OUTBOX_PLANS                                                                               \
    [PAWL__SQL_OUTBOX_HELD]     = RARE("", "statistics, over an index of the held rows alone"),    \
    [PAWL__SQL_OUTBOX_DEAD]     = RARE("", "statistics, over an index of the dead rows alone"),    \
    [PAWL__SQL_OUTBOX_ATTEMPTS] = HOT(20, "bigint", "500000"),                                     \
    [PAWL__PG_OUTBOX_PENDING]   = RARE("", "statistics, over an index of the pending rows"),       \
    [PAWL__PG_OUTBOX_THERE]     = HOT(20, "timestamptz", "at(0)"),                                 \
    [PAWL__PG_OUTBOX_DUE] =                                                                        \
        HOT(100, "timestamptz, text, bigint, bigint, bigint", "at(0), 'orders', -1, 256, 1"),      \
    [PAWL__PG_OUTBOX_LIST_PENDING]     = RARE("bigint", "a list for people"),                      \
    [PAWL__PG_OUTBOX_LIST_HELD]        = RARE("bigint", "a list for people"),                      \
    [PAWL__SQL_OUTBOX_LIST_DISPATCHED] = RARE("bigint", "a list for people"),                      \
    [PAWL__SQL_OUTBOX_LIST_DEAD]       = RARE("bigint", "a list for people"),                      \
    [PAWL__SQL_OUTBOX_LIST_DISCARDED]  = RARE("bigint", "a list for people"),                      \
    [PAWL__PG_OUTBOX_ADD] =                                                                        \
        HOT(5100,                                                                                  \
            "uuid[], timestamptz[], timestamptz[], text[], bigint[], bigint[], text[], "           \
            "text[], " MESSAGE_TYPES,                                                              \
            "keys(3000000, 7), same(at(0)), same(at(0)), same('order-1'::text), same(1::bigint), " \
            "same(0::bigint), same('orders'::text), "                                              \
            "same('mail'::text), " MESSAGE_OF("names('new', 1, 7)")),                              \
    [PAWL__PG_OUTBOX_DIFFERS]     = HOT(1500, "uuid[], text[], bytea[]",                           \
                                        "keys(1000, 3900), same('line'::text), same(''::bytea)"),  \
    [PAWL__PG_OUTBOX_SETTLE]      = HOT(14000, SETTLE_TYPES, SETTLE_VALUES),                       \
    [PAWL__PG_OUTBOX_SETTLE_SURE] = HOT(14000, SETTLE_TYPES ", bigint", SETTLE_VALUES ", 0"),      \
    [PAWL__PG_OUTBOX_SETTLE_ALIKE] =                                                               \
        HOT(9000, "bigint[], text, bigint, timestamptz, timestamptz, bigint",                      \
            "numbers(990001, 30), 'dispatched', 1, at(0), at(0), 0"),                              \
    [PAWL__PG_OUTBOX_ATTEMPT_ALIKE] =                                                              \
        HOT(5000, "bigint[], bigint[], bigint, text, timestamptz",                                 \
            "numbers(990001, 30), same(1::bigint), 9, 'success', at(0)"),                          \
    [PAWL__PG_OUTBOX_RESET] = HOT(                                                                 \
        9000, "bigint[], timestamptz[], text[], bool[]",                                           \
        "(select array_agg(\"Id\") from (select \"Id\" from pawl_outbox where \"State\" = 'dead' " \
        "limit 90) as d), same(at(0)), same(''::text), same(true)"),                               \
    [PAWL__PG_OUTBOX_FIND_PENDING] = HOT(40, FIND_TYPES, FIND_VALUES),                             \
    [PAWL__PG_OUTBOX_FIND_TRIED] =                                                                 \
        HOT(40, FIND_TYPES, "0, 9999999, 'orders', '', 'mail', '', '', 500, 1"),                   \
    [PAWL__PG_OUTBOX_FIND_HELD] =                                                                  \
        WALK(200, FIND_TYPES, FIND_VALUES, "along an index of the held rows alone"),               \
    [PAWL__PG_OUTBOX_FIND_DEAD] =                                                                  \
        WALK(200, FIND_TYPES, FIND_VALUES, "along an index of the dead rows alone"),               \
    [PAWL__PG_OUTBOX_FIND_ANY] = HOT(40, FIND_TYPES ", text[]", FIND_VALUES FIND_STATES),          \
    [PAWL__PG_OUTBOX_FIND_DISPATCH] =                                                              \
        HOT(20, FIND_TYPES ", text[], uuid", FIND_VALUES FIND_STATES ", key(500000)"),             \
    [PAWL__PG_OUTBOX_RELEASE] = HOT(4000, "text[]", "names('order-', 10007, 10007)"),              \
    [PAWL__PG_OUTBOX_HOLD]    = WIDE(8500, 40000, "bigint, text[], bigint[]",                      \
                                     "990000, names('order-', 990001, 30), numbers(990000, 30)",   \
                                     "no index on the source of pending rows: walks over those"),  \
    [PAWL__PG_OUTBOX_SWEEP] =                                                                      \
        HOT(4000, "timestamptz, timestamptz, bigint", "at(-9999999), at(-500000), 256")

#endif
