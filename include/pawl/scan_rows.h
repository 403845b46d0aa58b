/* scan_rows.h - a scan of all live rows of a kind, page by page: for tools that read
 * everything that is stored, and write nothing.
 *
 * Threads: plain data. Answers live in the arena of the call.
 * Tests: src/conformance/store/scan.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SCAN_ROWS_H
#define PAWL_SCAN_ROWS_H

#include "pawl/base.h"
#include "pawl/message.h"
#include "pawl/saga_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pawl_scan_kind {
    PAWL_SCAN_SAGAS, /* of one table, by id */
    PAWL_SCAN_QUEUE, /* messages of all queues, by number */
    PAWL_SCAN_TIMEOUTS,
    PAWL_SCAN_OUTBOX, /* by number; those that were dispatched or discarded are left out */
    PAWL_SCAN_EVENTS, /* of all streams, by number */
    PAWL_SCAN_STREAM_SNAPSHOTS, /* by stream */
    PAWL_SCAN_AGGREGATORS,      /* by number */
    PAWL_SCAN_DEAD,             /* by endpoint and message id */
    PAWL_SCAN_CHECKPOINTS,      /* by name */
    PAWL_SCAN_PARTITIONS        /* of aggregators, by name */
} pawl_scan_kind;
#define PAWL_SCAN_KINDS 10

/* A row of any kind; members that its kind does not have are empty. */
typedef struct pawl_scan_row {
    pawl_uuid id; /* of a saga or a timeout */
    int64_t
        number; /* of a message in a queue, an outbox row, an event, an aggregator's row; global position
                         of a checkpoint */
    pawl_text belongs_to; /* queue; destination of a timeout or an outbox row; stream of an event or
                             a snapshot; aggregator; endpoint of a dead letter; name of a checkpoint,
                             or of a partition */
    pawl_text
        name; /* of a timeout; queue of a dead letter; aggregator of a partition; endpoint that
                             sent an outbox row */
    pawl_text code;                /* of a dead letter: "EDECODE" */
    pawl_text type_version;        /* of a saga: "1.0" */
    pawl_text persistence_version; /* of a saga: the pawl that wrote it last */
    int32_t   version;             /* of the record of an event or a snapshot */
    pawl_message
        message; /* of a timeout only the type, its saga's; of a saga and a snapshot only the
                               body, its state; of an event type, body, headers and ids */
    /* Of a partition, from here on. */
    int64_t   count;    /* rows, leased ones too */
    pawl_time oldest;   /* when the oldest was added; 0: there is none */
    pawl_time due;      /* business time of the next flush; PAWL_TIME_MAX: none */
    int32_t   attempts; /* failures in a row */
    bool      is_dead;
    pawl_text error; /* of the last failure */
    /* Of a timeout. */
    pawl_uuid saga_id; /* zero: it has no saga */
} pawl_scan_row;

typedef struct pawl_scan_rows {
    pawl_scan_row *items;
    size_t         count;
} pawl_scan_rows;

typedef struct pawl_scan {
    pawl_scan_kind         kind;
    const pawl_saga_table *table;     /* of SAGAS; its correlation columns are not read */
    const pawl_scan_row   *after;     /* rows after this one, by its key. NULL: from the first */
    size_t                 count_max; /* 0: all */
    /* Filters of PARTITIONS: one of that name, those of an aggregator, dead ones only. */
    pawl_text partition, aggregator;
    bool      is_dead;
} pawl_scan;

#ifdef __cplusplus
}
#endif
#endif
