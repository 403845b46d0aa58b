/* postgres_journal_plans.h - the rows of the journal's statements: streams of ten
 * events, the last 10,000 without a position. Part of postgres_plans.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SYSTEM_POSTGRES_JOURNAL_PLANS_H
#define PAWL_TESTS_SYSTEM_POSTGRES_JOURNAL_PLANS_H

#define EVENT_TYPES                                                                \
    "text[], bigint[], bool[], text[], bigint[], text[], text[], text[], uuid[], " \
    "timestamptz[], text[], bytea[]"
#define EVENT_VALUES                                                                     \
    "names('Account/', 1, 390), same(11::bigint), same(true), same('Deposited'::text), " \
    "same(1::bigint), same('m'::text), same('c1'::text), same(''::text), keys(1, 1), "   \
    "same(at(0)), same(''::text), same(''::bytea)"
#define EVENTS_TYPES "text, bigint, text, text, text, bigint"
#define EVENTS_VALUES "'Deposited', '', '', 20"

#define JOURNAL_PLANS                                                                           \
    [pawl__postgres_events_there] =                                                             \
        WALK(20, "bigint", "980000", "its first step, to one without a position"),              \
    [pawl__postgres_event_put]      = HOT(5000, EVENT_TYPES, EVENT_VALUES),                     \
    [pawl__postgres_event_put_sure] = HOT(5000, EVENT_TYPES, EVENT_VALUES),                     \
    [pawl__postgres_event_there] =                                                              \
        HOT(1500, "text[], bigint[]", "names('Account/', 1, 390), same(7::bigint)"),            \
    [pawl__postgres_event_list_stream] =                                                        \
        HOT(40, EVENTS_TYPES, "'Account/000050000', 3, " EVENTS_VALUES),                        \
    [pawl__postgres_event_list_position] = HOT(40, EVENTS_TYPES, "'', 500000, " EVENTS_VALUES), \
    [pawl__postgres_event_list_seq]      = HOT(40, EVENTS_TYPES, "'', 500000, " EVENTS_VALUES), \
    [pawl__postgres_event_list_stream_back] =                                                   \
        HOT(40, EVENTS_TYPES, "'Account/000050000', 8, " EVENTS_VALUES),                        \
    [pawl__postgres_event_list_position_back] =                                                 \
        HOT(40, EVENTS_TYPES, "'', 500000, " EVENTS_VALUES),                                    \
    [pawl__postgres_event_list_seq_back] = HOT(40, EVENTS_TYPES, "'', 500000, " EVENTS_VALUES), \
    [pawl__postgres_stream_load_all] =                                                          \
        HOT(6000, "text[], bigint[], bigint[]",                                                 \
            "names('Account/', 1, 390), same(2::bigint), same(1::bigint)"),                     \
    [pawl__postgres_event_number_next] =                                                        \
        WALK(9000, "bigint, bigint", "-1, 256", "its first step, to the largest position"),     \
    [pawl__postgres_fold_put] =                                                                 \
        HOT(4000, "text[], bigint[], bigint[], timestamptz[], text[], text[]",                  \
            "names('Account/', 1, 390), same(7::bigint), same(1::bigint), same(at(0)), "        \
            "same('{}'::text), same('[]'::text)"),                                              \
    [pawl__sql_checkpoint_read]     = HOT(20, "text", "'c000000100'"),                          \
    [pawl__postgres_checkpoint_put] = HOT(2600, "text[], bigint[], timestamptz[]",              \
                                          "names('new', 1, 1), same(1::bigint), same(at(0))"),  \
    [pawl__postgres_checkpoint_step] =                                                          \
        HOT(2000, "text[], bigint[], timestamptz[], bigint[]",                                  \
            "names('c', 1, 1), numbers(1001, 1), same(at(0)), numbers(1, 1)")

#endif
