/* postgres_event_store_plans.h - the rows of the event store's statements: streams of ten
 * events, the last 10,000 without a position. Part of postgres_plans.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SYSTEM_POSTGRES_EVENT_STORE_PLANS_H
#define PAWL_TESTS_SYSTEM_POSTGRES_EVENT_STORE_PLANS_H

#define EVENT_TYPES                                                        \
    "text[], bigint[], text[], bigint[], text[], text[], text[], uuid[], " \
    "timestamptz[], text[], bytea[], bool[]"
#define EVENT_VALUES                                                                   \
    "names('Account/', 1, 97), same(11::bigint), same('Deposited'::text), "            \
    "same(1::bigint), same('m'::text), same('c1'::text), same(''::text), keys(1, 1), " \
    "same(at(0)), same(''::text), same(''::bytea), same(true)"
#define EVENTS_TYPES "text, bigint, text, text, text, bigint"
#define EVENTS_VALUES "'Deposited', '', '', 20"

#define EVENT_STORE_PLANS                                                                          \
    [PAWL__PG_EVENTS_THERE] =                                                                      \
        WALK(20, "bigint", "230000", "its first step, to one without a position"),                 \
    [PAWL__PG_EVENT_INSERT]      = HOT(5000, EVENT_TYPES, EVENT_VALUES),                           \
    [PAWL__PG_EVENT_INSERT_SURE] = HOT(5000, EVENT_TYPES, EVENT_VALUES),                           \
    [PAWL__PG_EVENT_TAKEN] =                                                                       \
        HOT(1500, "text[], bigint[]", "names('Account/', 1, 97), same(7::bigint)"),                \
    [PAWL__SQL_EVENT_LIST_STREAM] =                                                                \
        HOT(40, EVENTS_TYPES, "'Account/000012500', 3, " EVENTS_VALUES),                           \
    [PAWL__SQL_EVENT_LIST_POSITION] = HOT(40, EVENTS_TYPES, "'', 125000, " EVENTS_VALUES),         \
    [PAWL__SQL_EVENT_LIST_SEQ]      = HOT(40, EVENTS_TYPES, "'', 125000, " EVENTS_VALUES),         \
    [PAWL__SQL_EVENT_LIST_STREAM_BACK] =                                                           \
        HOT(40, EVENTS_TYPES, "'Account/000012500', 8, " EVENTS_VALUES),                           \
    [PAWL__SQL_EVENT_LIST_POSITION_BACK] = HOT(40, EVENTS_TYPES, "'', 125000, " EVENTS_VALUES),    \
    [PAWL__SQL_EVENT_LIST_SEQ_BACK]      = HOT(40, EVENTS_TYPES, "'', 125000, " EVENTS_VALUES),    \
    [PAWL__PG_STREAM_LOAD_ALL] =                                                                   \
        HOT(6000, "text[], bigint[], bigint[]",                                                    \
            "names('Account/', 1, 97), same(2::bigint), same(1::bigint)"),                         \
    [PAWL__PG_EVENT_NUMBER] =                                                                      \
        WALK(9000, "bigint, bigint", "-1, 256", "its first step, to the largest position"),        \
    [PAWL__PG_FOLD_SET]   = HOT(4000, "text[], bigint[], bigint[], text[], text[], timestamptz[]", \
                                "names('Account/', 1, 97), same(7::bigint), same(1::bigint), "     \
                                  "same('{}'::text), same('[]'::text), same(at(0))"),                \
    [PAWL__SQL_FOLD_SCAN] = HOT(600, "text, bigint", "'Account/000001000', 256"),                  \
    [PAWL__SQL_CHECKPOINT_GET] = HOT(20, "text", "'c000000100'"),                                  \
    [PAWL__PG_CHECKPOINT_ADD]  = HOT(2600, "text[], bigint[], timestamptz[]",                      \
                                     "names('new', 1, 1), same(1::bigint), same(at(0))"),          \
    [PAWL__PG_CHECKPOINT_MOVE] =                                                                   \
        HOT(2000, "text[], bigint[], timestamptz[], bigint[]",                                     \
            "names('c', 1, 1), numbers(1001, 1), same(at(0)), numbers(1, 1)")

#endif
