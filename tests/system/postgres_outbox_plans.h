/* postgres_outbox_plans.h - the rows of the outbox's statements: 10,000 rows are pending,
 * twenty of them tried before, a few held and dead. Part of postgres_plans.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SYSTEM_POSTGRES_OUTBOX_PLANS_H
#define PAWL_TESTS_SYSTEM_POSTGRES_OUTBOX_PLANS_H

#define SETTLE_TYPES "text[], bigint[], timestamptz[], timestamptz[], bigint[]"
#define SETTLE_VALUES                                                          \
    "same('dispatched'::text), same(1000::bigint), same(at(0)), same(at(0)), " \
    "numbers(240001, 30)"
#define ATTEMPT_TYPES(number) "bigint[], " number "text[], timestamptz[], bigint[], text[]"
#define ATTEMPT_VALUES(number)     \
    "numbers(240001, 30), " number \
    "same('success'::text), same(at(0)), same(1::bigint), same(''::text)"
#define DEAD_IDS \
    "(select array_agg(\"Id\") from (select \"Id\" from pawl_outbox where \"State\" = 'dead' limit 90) as d)"
#define FIND_TYPES "bigint, uuid, bigint, bigint, text, text, text, text, text, bigint, bigint"
#define FIND_VALUES(states) "0, null, 0, " states ", 'orders', '', 'mail', '', '', 0, 20"

/* Statistics: counts end at their limit. */
#define COUNTED(types, values)                                       \
    {                                                                \
        1100, 1000, types, values, "a count ends at its limit", true \
    }
#define COUNTED_DUE COUNTED("text, timestamptz, bigint", "'bulk', at(0), 1000")
#define COUNTED_ALL COUNTED("bigint", "1000")
#define NEXT_NAME HOT(10, "text", "''")

#define COUNT_PLANS                                                                              \
    [PAWL__SQL_QUEUE_NAME] = NEXT_NAME, [PAWL__SQL_QUEUE_READY] = COUNTED_DUE,                   \
    [PAWL__SQL_QUEUE_SCHEDULED]     = COUNTED_DUE,                                               \
    [PAWL__SQL_QUEUE_COUNT_RETRIED] = WIDE(4300, 4200, "text, timestamptz, bigint",              \
                                           "'bulk', at(0), 4096", "the first that are not due"), \
    [PAWL__SQL_TIMEOUT_NAME] = NEXT_NAME, [PAWL__SQL_TIMEOUT_READY] = COUNTED_DUE,               \
    [PAWL__SQL_TIMEOUT_SCHEDULED] = COUNTED_DUE, [PAWL__SQL_DEAD_NAME] = NEXT_NAME,              \
    [PAWL__SQL_DEAD_ENDPOINT] = NEXT_NAME,                                                       \
    [PAWL__SQL_DEAD_OF_QUEUE] = COUNTED("text, bigint", "'orders', 1000"),                       \
    [PAWL__SQL_DEAD_COUNT] = COUNTED_ALL, [PAWL__SQL_INBOX_COUNT] = COUNTED_ALL,                 \
    [PAWL__SQL_AGGREGATOR_COUNT] = COUNTED_ALL, [PAWL__SQL_FLUSH_DEAD] = COUNTED_ALL,            \
    [PAWL__SQL_FLUSH_NAME]     = NEXT_NAME,                                                      \
    [PAWL__SQL_FLUSH_READY]    = COUNTED("text, timestamptz, bigint", "'daily', at(0), 1000"),   \
    [PAWL__SQL_OUTBOX_PENDING] = COUNTED_ALL, [PAWL__SQL_OUTBOX_HELD] = COUNTED_ALL,             \
    [PAWL__SQL_OUTBOX_DEAD] = COUNTED_ALL, [PAWL__PG_OUTBOX_OLDEST] = {20,                       \
                                                                       0,                        \
                                                                       "",                       \
                                                                       "",                       \
                                                                       "the first pending row",  \
                                                                       true}

#define OUTBOX_PLANS                                                                                 \
    [PAWL__SQL_OUTBOX_ATTEMPTS] = HOT(20, "bigint", "125000"),                                       \
    [PAWL__PG_OUTBOX_THERE]     = HOT(20, "timestamptz", "at(0)"),                                   \
    [PAWL__PG_OUTBOX_DUE] =                                                                          \
        HOT(100, "timestamptz, text, bigint, bigint, bigint", "at(0), 'orders', -1, 256, 1"),        \
    [PAWL__PG_OUTBOX_ADD] =                                                                          \
        HOT(5100,                                                                                    \
            "uuid[], timestamptz[], timestamptz[], text[], bigint[], bigint[], text[], "             \
            "text[], " MESSAGE_TYPES,                                                                \
            "keys(3000000, 7), same(at(0)), same(at(0)), same('order-1'::text), same(1::bigint), "   \
            "same(0::bigint), same('orders'::text), "                                                \
            "same('mail'::text), " MESSAGE_OF("names('new', 1, 7)")),                                \
    [PAWL__PG_OUTBOX_SAME]   = HOT(1500, "uuid[], text[], bytea[]",                                  \
                                   "keys(1000, 970), same('line'::text), same(''::bytea)"),          \
    [PAWL__PG_OUTBOX_SETTLE] = HOT(9000, SETTLE_TYPES, SETTLE_VALUES),                               \
    [PAWL__PG_OUTBOX_ATTEMPT_NEXT] =                                                                 \
        HOT(7000, ATTEMPT_TYPES("bigint[], "), ATTEMPT_VALUES("same(1000::bigint), ")),              \
    [PAWL__PG_OUTBOX_ATTEMPT_PUT] =                                                                  \
        HOT(5000, ATTEMPT_TYPES("bigint[], "), ATTEMPT_VALUES("same(1000::bigint), ")),              \
    [PAWL__PG_OUTBOX_ATTEMPT] = HOT(7000, ATTEMPT_TYPES(""), ATTEMPT_VALUES("")),                    \
    [PAWL__PG_OUTBOX_SETTLE_ALIKE] =                                                                 \
        HOT(9000, "bigint[], text, bigint, timestamptz, timestamptz, bigint",                        \
            "numbers(240001, 30), 'dispatched', 1, at(0), at(0), 0"),                                \
    [PAWL__PG_OUTBOX_ATTEMPT_ALIKE] =                                                                \
        HOT(5000, "bigint[], bigint[], bigint, text, timestamptz",                                   \
            "numbers(240001, 30), same(1::bigint), 9, 'success', at(0)"),                            \
    [PAWL__PG_OUTBOX_ENABLE]       = HOT(9000, "timestamptz[], bigint[]", "same(at(0)), " DEAD_IDS), \
    [PAWL__PG_OUTBOX_DISCARD]      = HOT(9000, "timestamptz[], bigint[]", "same(at(0)), " DEAD_IDS), \
    [PAWL__PG_OUTBOX_FIND_PENDING] = HOT(40, FIND_TYPES, FIND_VALUES("1")),                          \
    [PAWL__PG_OUTBOX_FIND_TRIED] =                                                                   \
        HOT(40, FIND_TYPES, "0, null, 0, 1, 'orders', '', 'mail', '', '', 1, 500"),                  \
    [PAWL__PG_OUTBOX_FIND_HELD] =                                                                    \
        WALK(200, FIND_TYPES, FIND_VALUES("2"), "along an index of the held rows alone"),            \
    [PAWL__SQL_OUTBOX_FIND_DEAD] = HOT(60, FIND_TYPES, FIND_VALUES("8")),                            \
    [PAWL__SQL_OUTBOX_FIND_ANY]  = HOT(40, FIND_TYPES, FIND_VALUES("0")),                            \
    [PAWL__SQL_OUTBOX_FIND_ID] =                                                                     \
        HOT(20, FIND_TYPES, "125000, null, 0, 0, '', '', '', '', '', 0, 20"),                        \
    [PAWL__PG_OUTBOX_FIND_DISPATCH] =                                                                \
        HOT(20, FIND_TYPES, "0, key(125000), 0, 0, '', '', '', '', '', 0, 20"),                      \
    [PAWL__PG_OUTBOX_UNBLOCK] = HOT(4000, "text[]", "names('order-', 2503, 2503)"),                  \
    [PAWL__PG_OUTBOX_BLOCK_ROWS] =                                                                   \
        HOT(9000, "bigint[], text[]", "numbers(240001, 30), names('order-', 240001, 30)"),           \
    [PAWL__PG_OUTBOX_BLOCK] = WIDE(8500, 40000, "bigint, text[], bigint[]",                          \
                                   "240000, names('order-', 240001, 30), numbers(240000, 30)",       \
                                   "no index on the source of pending rows: scans over those"),      \
    [PAWL__PG_OUTBOX_SWEEP] =                                                                        \
        HOT(4000, "timestamptz, timestamptz, bigint", "at(-9999999), at(-125000), 256")

#endif
