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

/* "Send the next events": to the reader, by itself. */
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

/* To the reader, which counts the closings of this side. */
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

/* How far the log has been sent. Saved in the commit of the messages sent, so
 * that a run that was killed goes on with the next event, whatever happened. Of events that travel
 * through a broker, `arrived` tells how many have come back for certain. */
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

/* A case that is not quiet yet. `misplaced` counts what did not happen in the
 * log's own time: an event out of order, a closing not at its due time. */
#define OPEN_CASE(F)                                   \
    F(TEXT, case_id, .json = "case", .required = true) \
    F(INT64, events)                                   \
    F(INT64, misplaced)                                \
    F(TIME, first)                                     \
    F(TIME, last)                                      \
    F(TEXT, last_activity)
PAWL_RECORD(open_case, OPEN_CASE);

/* `uneven` counts batches of another size than asked for; only the last of a
 * group may be one. */
#define GROUP_TALLY(F)                   \
    F(TEXT, group_key, .required = true) \
    F(TEXT, group)                       \
    F(INT64, batches)                    \
    F(INT64, events)                     \
    F(INT64, uneven)                     \
    F(INT64, uneven_last)
PAWL_RECORD(group_tally, GROUP_TALLY);

/* In the second store; never ends, so that it counts each closing once. */
#define ARCHIVED_CASE(F)                               \
    F(TEXT, case_id, .json = "case", .required = true) \
    F(INT64, closings)                                 \
    F(INT64, events)                                   \
    F(INT64, misplaced)                                \
    F(TIME, last)
PAWL_RECORD(archived_case, ARCHIVED_CASE);

#endif
