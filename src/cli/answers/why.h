/* why.h - the parts of `pawl why ID`, which says where an id is and what it waits for. why.c calls the others and
 * prints; why_answer.c keeps the list of answers. why_messages.c looks for the id among messages, why_saga.c among
 * sagas, why_rows.c in the outbox, and among timeouts, streams, schedules, projections, partitions and queues.
 *
 * Threads: none; called from main.
 * Tests: tests/system/command_why.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CLI_WHY_H
#define PAWL_CLI_WHY_H

#include "cli/saga/saga_find.h"

#define PAWL__WHY_REMEDIES_MAX 5

/* A place where the id was found. An empty text is not known. */
typedef struct pawl__answer {
    const char     *place; /* "queue", "dead letter" */
    pawl_text       name;  /* of the row: "billing, message m-2 (charge)" */
    pawl_text       waits_for;
    pawl_time       since;
    pawl_text       error; /* the last one */
    pawl_text       claimed_by;
    pawl_text       next; /* event that comes without an operator */
    pawl_text       commands[PAWL__WHY_REMEDIES_MAX];
    pawl__text_list run; /* `commands` as a list, and `place` as a text: set by pawl__why_add */
    pawl_text       place_text;
} pawl__answer;

typedef struct pawl__why {
    const pawl__store_fields *at;
    pawl_text                 word;
    const pawl__saga_book    *book; /* of --app; empty without it */
    pawl_store               *store;
    pawl_arena               *arena;
    pawl_time                 now;
    pawl_worker_info         *workers;
    size_t                    worker_count;
    pawl_subscriptions        subscriptions;
    pawl__answer             *answers;
    size_t                    count, capacity;
    bool        is_collected, may_be_collected; /* by an aggregator; may: not all read */
    pawl_error *error;
} pawl__why;

/* Adds a copy of the answer, with the store's options in its commands. Always PAWL_OK. */
pawl_code pawl__why_add(pawl__why *why, const pawl__answer *answer);
/* The command with the word, quoted, as its argument: "pawl why ID". */
pawl_text pawl__why_command(const char *command, pawl_text word, pawl_arena *arena);
/* The options for a command about the same sagas: " --app APP.so --saga-prefix x_". */
pawl_text pawl__why_book_options(const pawl__saga_book *book, pawl_arena *arena);
/* The live workers of endpoint `name`, or of the one that reads queue `name`: "worker 019a... (pid 17)", or "". */
pawl_text pawl__why_workers(const pawl__why *why, pawl_text name);
/* Finds the holder of the lease KIND/NAME; `*is_led`: it has one. PAWL_EUNSUPPORTED: the store lists no leases. */
pawl_code pawl__why_leader(pawl__why *why, const char *kind, pawl_text name, bool *is_led,
                           pawl_worker_id *leader);
/* A live worker as text: "worker 019a... (pid 17)". */
pawl_text pawl__why_worker(const pawl__why *why, const pawl_worker_info *worker);
/* The pid of a live process that reads the queue but does not handle the type; 0: there is none, or it is not known. */
int64_t pawl__why_process_without(const pawl__why *why, pawl_text queue, pawl_text type);
/* The last failure in the JSON of a history, and when it was. */
pawl_text pawl__why_last(const pawl__why *why, pawl_text history, pawl_time *at);

/* If the queue is paused, the answer says instead by whom, why, and which command resumes it. */
pawl_code pawl__why_pause(pawl__why *why, pawl_text queue, pawl__answer *answer, bool *is_paused);
/* The same while the circuit breaker of the queue's endpoint is open. */
pawl_code pawl__why_breaker(pawl__why *why, pawl_text queue, pawl__answer *answer, bool *is_open);
/* If the receiver of a due row is unavailable, the answer says since when, and the last error. */
pawl_code pawl__why_route(pawl__why *why, const pawl_outbox_row *row, pawl__answer *answer);

/* Add the answer for one row, or one for each row that the query matches; `place` as in pawl__answer. */
pawl_code pawl__why_add_letter(pawl__why *why, const pawl_dead_row *row, const char *place);
pawl_code pawl__why_add_timeout(pawl__why *why, const pawl_timeout_row *row);
pawl_code pawl__why_add_rows(pawl__why *why, const pawl_outbox_query *query, const char *place);
#define PAWL__WHY_LIVE_STATES \
    (1U << PAWL_OUTBOX_PENDING | 1U << PAWL_OUTBOX_BLOCKED | 1U << PAWL_OUTBOX_DEAD)
#define PAWL__WHY_ROWS_MAX 10

typedef pawl_code pawl__why_fn(pawl__why *why);

pawl__why_fn pawl__why_letters, pawl__why_queues, pawl__why_inbox;
pawl__why_fn pawl__why_outbox, pawl__why_timeout, pawl__why_saga, pawl__why_stream;
pawl__why_fn pawl__why_schedule, pawl__why_projection, pawl__why_partition, pawl__why_collected;
/* Did a successful flush leave an error? Then the partition still has messages that cannot be decoded. */
bool         pawl__has_undecoded(const pawl_partition_row *row);
pawl__why_fn pawl__why_whole_queue;

#endif
