/* store_rows.h - structs of queries to a store, and of the rows that it returns.
 *
 * Threads: plain data. Answers live in the arena of the call.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_ROWS_H
#define PAWL_STORE_ROWS_H

#include "pawl/base.h"
#include "pawl/change.h"
#include "pawl/event_store_rows.h"
#include "pawl/limits.h"
#include "pawl/saga_rows.h"
#include "pawl/stats_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What claims and reads return --------------------------------------- */

typedef struct pawl_queue_row {
    pawl_message message;
    int64_t      seq; /* number of the row; never used again */
    pawl_time    due;
    pawl_time    placed; /* due time when first sent: with seq, its queue order */
    int32_t      attempts;
    int32_t      crashes;
    pawl_time    waiting_since; /* 0, or when it was first deferred for "no saga yet" */
    pawl_text    history;       /* as the last retry wrote it, or empty */
} pawl_queue_row;

typedef struct pawl_queue_rows {
    pawl_queue_row *items;
    size_t          count;
    bool            is_taken; /* another process works this queue (SQLite) */
    pawl_text       taken_by; /* the other process, for the log */
    bool            is_cut;   /* queue_retried: size_max ended the list; more may follow */
} pawl_queue_rows;

/* Messages of a type in delayed retry. */
typedef struct pawl_retried_query {
    pawl_text queue, type;
    pawl_time due_after;
    size_t    scan_max;  /* reads only so many rows due after that, by (due, seq) */
    size_t    count_max; /* most rows */
    size_t    size_max;  /* ends the rows once their messages have that size; 0: no limit */
} pawl_retried_query;

typedef struct pawl_queue_claim {
    pawl_text      queue;
    pawl_time      due_max;
    size_t         count_max;
    const int64_t *seqs; /* with seq_count > 0: claims only these rows (again) */
    size_t         seq_count;
    pawl_time      now;
    size_t         size_max; /* not for `seqs` */
} pawl_queue_claim;

typedef struct pawl_timeout_row {
    pawl_timeout_id id;
    int64_t         generation;
    pawl_saga_id    saga_id; /* zero when it belongs to none */
    pawl_text       saga_type;
    pawl_text       name;
    pawl_text       destination;
    pawl_time       due;
    pawl_text       headers;
    pawl_text       correlation_id;
    int32_t         attempts;
    pawl_session_id owner; /* zero when free */
    pawl_time       lease_expires;
} pawl_timeout_row;

typedef struct pawl_timeout_rows {
    pawl_timeout_row *items;
    size_t            count;
    pawl_time
        next_due; /* of the destination, earliest after due_max and not leased; PAWL_TIME_MAX */
} pawl_timeout_rows;

typedef struct pawl_timeout_claim {
    pawl_text       destination; /* empty: any */
    pawl_time       due_max;     /* <= is due */
    size_t          count_max;   /* 0: the store's default, PAWL_TIMEOUTS_DEFAULT or more */
    pawl_session_id owner;
    pawl_time       now;
    int64_t         lease; /* microseconds, positive */
} pawl_timeout_claim;

typedef struct pawl_aggregator_row {
    int64_t         id; /* of this delivery alone (A5) */
    pawl_text       name;
    pawl_text       partition;
    pawl_text       key;
    pawl_message    message;
    pawl_time       at;
    pawl_session_id session; /* zero when free */
    pawl_time       lease_expires;
} pawl_aggregator_row;

/* A claim on the oldest free rows of a partition whose type is known. */
typedef struct pawl_leased_batch_claim {
    pawl_text        partition;
    pawl_session_id  session;
    const pawl_text *types; /* message types this program can decode */
    size_t           type_count;
    size_t           count_max; /* 0: all */
    int64_t          id_max;    /* 0: all; else rows inserted later are left out */
    pawl_time        now;
    int64_t          lease; /* microseconds, positive */
} pawl_leased_batch_claim;

typedef struct pawl_leased_batch {
    pawl_aggregator_row *items; /* oldest first */
    size_t               count;
    /* Number of free rows of unknown type, which stay. If the claim got `count_max` rows, it may be any number from 0 up
     * to all of them. */
    int64_t unresolved;
} pawl_leased_batch;

typedef struct pawl_aggregator_counts {
    int64_t all;
    int64_t resolved; /* type known, leased or not */
    int64_t ready;    /* type known and free at `now` */
    int64_t id_last;  /* largest id of a row, 0 when empty */
    /* Of the partition's flush row; zero and false without one. */
    pawl_time flush_due;
    int32_t   flush_attempts;
    bool      flush_is_dead;
} pawl_aggregator_counts;

typedef struct pawl_flush_row {
    pawl_text name;
    pawl_text partition;
    pawl_time due;
    int32_t   attempts;
    bool      is_dead;
    pawl_text error;
} pawl_flush_row;

typedef struct pawl_flush_rows {
    pawl_flush_row *items;
    size_t          count;
} pawl_flush_rows;

typedef struct pawl_outbox_row {
    int64_t           id;
    pawl_dispatch_id  dispatch_id;
    pawl_text         source;
    int64_t           version;
    int32_t           index;
    pawl_text         endpoint;
    pawl_text         destination;
    pawl_message      message;
    pawl_time         due; /* business time; 0: when it arrives */
    pawl_outbox_state state;
    int32_t           attempts;
    pawl_time         next_attempt; /* 0: not tried yet, and due whatever the time is */
    pawl_time         at;
    pawl_time         dispatched;      /* time of dispatch or discard; else 0 */
    int32_t           attempts_before; /* attempts before an operator's retry */
} pawl_outbox_row;

typedef struct pawl_outbox_rows {
    pawl_outbox_row *items;
    size_t           count;
    pawl_time        next_attempt; /* earliest waiting row not returned; PAWL_TIME_MAX: none */
} pawl_outbox_rows;

/* A filter of outbox rows; a field that is empty or zero matches any. */
typedef struct pawl_outbox_query {
    unsigned         states; /* bits 1 << pawl_outbox_state; 0: any */
    int64_t          id;
    pawl_dispatch_id dispatch_id;
    pawl_text        endpoint;
    pawl_text        source;
    pawl_text        destination;
    pawl_text        message_type;
    pawl_text        causation_id; /* id of the message whose handler sent it */
    int64_t          after;        /* rows with a larger id */
    size_t           count_max;    /* 0: all */
    int32_t          attempts_min; /* rows with at least so many attempts */
} pawl_outbox_query;

typedef struct pawl_subscription {
    pawl_text type;
    pawl_text queue;
} pawl_subscription;

typedef struct pawl_subscriptions {
    pawl_subscription *items;
    size_t             count;
} pawl_subscriptions;

typedef struct pawl_dead_row {
    pawl_text    endpoint;
    pawl_text    queue;
    pawl_message message;
    pawl_text    code;
    pawl_text    error;
    int32_t      attempts;
    int32_t      crashes;
    pawl_text    history;
    pawl_time    at;
} pawl_dead_row;

typedef struct pawl_dead_rows {
    pawl_dead_row *items;
    size_t         count;
    bool           is_cut; /* size_max ended the list; more may follow */
} pawl_dead_rows;

typedef struct pawl_attempt_row {
    int32_t              attempt; /* from 1 */
    pawl_attempt_outcome outcome;
    pawl_text            error;
    pawl_time            at;
    int64_t              duration; /* microseconds */
} pawl_attempt_row;

typedef struct pawl_attempt_rows {
    pawl_attempt_row *items;
    size_t            count;
} pawl_attempt_rows;

/* A destination of timeouts that no endpoint of this store handles. */
typedef struct pawl_foreign_row {
    pawl_text destination;
    pawl_time due; /* of its earliest free timeout */
} pawl_foreign_row;

typedef struct pawl_foreign_rows {
    pawl_foreign_row *items; /* by destination, bytewise */
    size_t            count;
} pawl_foreign_rows;

/* Earliest due times of an endpoint's rows that are not in flight. PAWL_TIME_MAX: none. The runtime
 * sleeps until then, or sets a virtual clock. */
typedef struct pawl_next_due {
    pawl_time queue;
    pawl_time timeout;
    pawl_time flush;
} pawl_next_due;

typedef struct pawl_worker_info {
    pawl_worker_id id;
    pawl_text      endpoint; /* or "" for a sender */
    pawl_text      types;    /* JSON array of message types it handles */
    int64_t        epoch;
    int64_t        pid;  /* of its process; 0: not known */
    pawl_time      seen; /* its last commit or heartbeat */
    pawl_counters  counters;
    pawl_text      host, program, program_version, pawl_version; /* empty: not known */
    pawl_time      started; /* when worker_open wrote the row; 0: not known */
} pawl_worker_info;

/* A leader's lease. */
typedef struct pawl_lead_row {
    pawl_text      name; /* as it was given to lead() */
    pawl_worker_id worker;
    pawl_time      expires; /* machine time, unless it is renewed */
} pawl_lead_row;

/* The last stream that a sweep of old bodies reached; the next sweep continues after it. Zeroed: at the first stream. */
typedef struct pawl_sweep_cursor {
    size_t size;
    char   stream[PAWL_STREAM_SIZE_MAX];
} pawl_sweep_cursor;

typedef struct pawl_sweep {
    pawl_time inbox_before;   /* deletes older deduplication records of all endpoints */
    pawl_time outbox_before;  /* deletes rows that were dispatched before */
    pawl_time workers_before; /* deletes rows of dead workers not seen since; counters are kept */
    size_t    count_max;      /* most rows of each kind in one call */
    int64_t  *outbox_count;   /* or NULL: how many of them were outbox rows, set on PAWL_OK */
    pawl_time history_before; /* deletes older lines of history; 0: none */
    /* Deletes bodies of dead letters that were edited or discarded before this; their events stay, without
     * the body (store_dead.h). 0: none. A sweep reads `count_max` events, and counts those
     * whose body it deleted. */
    pawl_time bodies_before;
    pawl_sweep_cursor
        *bodies_cursor; /* moved by the sweep, zeroed after a failure; NULL: first stream */
} pawl_sweep;

#ifdef __cplusplus
}
#endif
#endif
