/* queue_rows.h - structs of queries of queues and their messages, and of the rows returned.
 *
 * Threads: plain data. Texts are borrowed for the call; answers live in the arena of the call.
 * Tests: src/conformance/store/queue_find.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_QUEUE_ROWS_H
#define PAWL_QUEUE_ROWS_H

#include "pawl/store_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prefix of the error of a message that waits for a program that reads its version, or that of its saga or
 * stream. After it the error has the version found and the version known. */
#define PAWL_QUEUE_AWAITS_VERSION "EVERSION: "

/* A message that is in its queue, claimed or not. */
typedef struct pawl_queue_message {
    pawl_queue_row row; /* first */
    pawl_text
        error; /* of the last run, when it is retried or waits for another program; or empty */
} pawl_queue_message;

typedef struct pawl_queue_messages {
    pawl_queue_message *items;
    size_t              count;
    bool                is_cut; /* size_max ended the list; more may follow */
} pawl_queue_messages;

/* A filter of a queue's messages; a field that is empty or zero matches any. */
typedef struct pawl_queue_query {
    pawl_text             queue; /* never empty */
    pawl_text             message_id;
    pawl_text             type;
    pawl_time             due_min; /* due at this time or later */
    pawl_time             due_max; /* at this time or earlier */
    int64_t               seq_max; /* leaves out rows with a larger number, which were sent later */
    const pawl_queue_row *after;   /* messages after this one; only its due and seq are read, and
                                      it may be gone. NULL: from the first */
    size_t                count_max; /* 0: all */
    size_t size_max; /* ends the page once its messages have that size; 0: no limit */
} pawl_queue_query;

/* The dead letters that a retry would send to a queue. */
typedef struct pawl_dead_count {
    pawl_text queue; /* empty: of dead letters that can only be discarded */
    int64_t   count;
    pawl_time oldest; /* when the first of them was dead-lettered */
} pawl_dead_count;

typedef struct pawl_dead_counts {
    pawl_dead_count *items;
    size_t           count;
} pawl_dead_counts;

/* Whether a queue is paused, and the operator who paused or resumed it last. */
typedef struct pawl_queue_pause {
    bool      is_paused;
    pawl_time since;      /* of the pause, or of the end of the last one; 0: never paused */
    pawl_text by, reason; /* or empty */
} pawl_queue_pause;

/* A queue that has messages or dead letters, is read, or is subscribed. */
typedef struct pawl_queue_info {
    pawl_text        queue;
    int64_t          ready;     /* messages that are due, those in flight among them */
    int64_t          scheduled; /* due later: sent with a due time, or retried */
    pawl_time        oldest;    /* due time of the oldest ready one, or 0 */
    int64_t          workers;   /* alive, of the endpoint that reads it */
    int64_t          types;     /* of messages that are published to it */
    int64_t          dead;      /* dead letters */
    pawl_queue_pause pause;
} pawl_queue_info;

typedef struct pawl_queue_infos {
    pawl_queue_info *items;
    size_t           count;
} pawl_queue_infos;

#ifdef __cplusplus
}
#endif
#endif
