/* records.h - the messages and the saga states of the replay.
 *
 *     read_on -> log_reader -> log_event -> open_case -> case_closed -> archived_case
 *                                    \-> by_group -> group_batch -> group_tally
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPLAY_RECORDS_H
#define REPLAY_RECORDS_H

#include "pawl/record.h"

/* ---- Messages ------------------------------------------------------------ */

/* Asks the reader, which sends it to itself, to send the next events. */
#define READ_ON(F)                 \
    F(TEXT, run, .required = true) \
    F(INT64, position)
PAWL_RECORD(read_on, READ_ON);

#define LOG_EVENT(F)                                   \
    F(TEXT, case_id, .json = "case", .required = true) \
    F(TEXT, activity)                                  \
    F(TEXT, group)                                     \
    F(TEXT, group_key, .required = true)               \
    F(TIME, at, .required = true)
PAWL_RECORD(log_event, LOG_EVENT);

/* To the reader, which counts the closings in this store. */
#define CASE_QUIET(F) F(TEXT, run, .required = true)
PAWL_RECORD(case_quiet, CASE_QUIET);

/* To the archive. */
#define CASE_CLOSED(F)                                 \
    F(TEXT, case_id, .json = "case", .required = true) \
    F(INT64, events)                                   \
    F(INT64, misplaced)                                \
    F(TIME, first)                                     \
    F(TIME, last)
PAWL_RECORD(case_closed, CASE_CLOSED);

#define GROUP_BATCH(F)                   \
    F(TEXT, group_key, .required = true) \
    F(TEXT, group)                       \
    F(INT64, events)
PAWL_RECORD(group_batch, GROUP_BATCH);

/* ---- Saga states --------------------------------------------------------- */

/* How far the log has been sent. Saved in the same commit as the sent messages, so that a killed run continues with the
 * next event. With a broker, `arrived` is the number of events that have certainly come back. */
#define LOG_READER(F)              \
    F(TEXT, run, .required = true) \
    F(TEXT, log)                   \
    F(INT64, events)               \
    F(INT64, position)             \
    F(BOOL, is_by_broker)          \
    F(INT64, arrived)              \
    F(BOOL, is_done)               \
    F(INT64, closings)
PAWL_RECORD(log_reader, LOG_READER);

/* A case that is still open. `misplaced` counts deviations from the log's time: an event out of order, or a closing not
 * at its due time. */
#define OPEN_CASE(F)                                   \
    F(TEXT, case_id, .json = "case", .required = true) \
    F(INT64, events)                                   \
    F(INT64, misplaced)                                \
    F(TIME, first)                                     \
    F(TIME, last)                                      \
    F(TEXT, last_activity)
PAWL_RECORD(open_case, OPEN_CASE);

/* `uneven` counts batches of another size than configured; only a group's last batch may be one. */
#define GROUP_TALLY(F)                   \
    F(TEXT, group_key, .required = true) \
    F(TEXT, group)                       \
    F(INT64, batches)                    \
    F(INT64, events)                     \
    F(INT64, uneven)                     \
    F(INT64, uneven_last)
PAWL_RECORD(group_tally, GROUP_TALLY);

/* In the second store; never completed, so that it counts each closing once. */
#define ARCHIVED_CASE(F)                               \
    F(TEXT, case_id, .json = "case", .required = true) \
    F(INT64, closings)                                 \
    F(INT64, events)                                   \
    F(INT64, misplaced)                                \
    F(TIME, last)
PAWL_RECORD(archived_case, ARCHIVED_CASE);

#endif
