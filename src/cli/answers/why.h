/* why.h - answers about an id, for the parts of `pawl why`: why.c asks and prints,
 * why_answer.c keeps the list, why_messages.c looks among messages, why_saga.c among sagas, why_rows.c in the outbox, among
 * timeouts, streams, schedules, projections, partitions and queues.
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

/* A place where the id was found. Texts that are empty are not known. */
typedef struct pawl__answer {
    const char     *place; /* "queue", "dead letter" */
    pawl_text       name;  /* of what it is there: "billing, message m-2 (charge)" */
    pawl_text       waits_for;
    pawl_time       since;
    pawl_text       error; /* the last one */
    pawl_text       claimed_by;
    pawl_text       next; /* by itself */
    pawl_text       commands[PAWL__WHY_REMEDIES_MAX];
    pawl__text_list run; /* of the commands; set when it is added */
    pawl_text       place_text;
} pawl__answer;

typedef struct pawl__why {
    const pawl__store_fields *at;
    pawl_text                 word;
    const pawl__saga_book    *book; /* of --app; without it it has no tables */
    pawl_store               *store;
    pawl_arena               *arena;
    pawl_time                 now;
    pawl_worker_info         *workers;
    size_t                    worker_count;
    pawl_subscriptions        subscriptions;
    pawl__answer             *answers;
    size_t                    count, capacity;
    bool                      is_collected, may_be_collected; /* by an aggregator */
    pawl_error               *error;
} pawl__why;

/* Adds a copy, whose commands get the store's options. PAWL_OK. */
pawl_code pawl__why_add(pawl__why *why, const pawl__answer *answer);
/* The command with such a word: "pawl why ID". */
pawl_text pawl__why_command(const char *command, pawl_text word, pawl_arena *arena);
/* The words that say again where the sagas are: " --app APP.so --saga-prefix x_". */
pawl_text pawl__why_book_options(const pawl__saga_book *book, pawl_arena *arena);
/* The workers of an endpoint, or of the one that reads the queue of that name: "worker 019a... (pid 17)", or empty, none
 * lives. */
pawl_text pawl__why_workers(const pawl__why *why, pawl_text name);
/* The worker that has the lease KIND/NAME, where is_led. PAWL_EUNSUPPORTED: the store cannot tell. */
pawl_code pawl__why_leader(pawl__why *why, const char *kind, pawl_text name, bool *is_led,
                           pawl_worker_id *leader);
/* "worker 019a... (pid 17)", of one that lives. */
pawl_text pawl__why_worker(const pawl__why *why, const pawl_worker_info *worker);
/* A process that reads the queue and does not handle the type; 0: none lives, or it is not known. */
int64_t pawl__why_process_without(const pawl__why *why, pawl_text queue, pawl_text type);
/* The last failure in the JSON of a history, and when it was. */
pawl_text pawl__why_last(const pawl__why *why, pawl_text history, pawl_time *at);

/* Where the queue is paused: by whom, why, and the command that ends it, in place of the answer's. */
pawl_code pawl__why_pause(pawl__why *why, pawl_text queue, pawl__answer *answer, bool *is_paused);
/* The same while a breaker of its endpoint is open. */
pawl_code pawl__why_breaker(pawl__why *why, pawl_text queue, pawl__answer *answer, bool *is_open);
/* Where the receiver of a row that is due is unavailable: since when, and what the last try said. */
pawl_code pawl__why_route(pawl__why *why, const pawl_outbox_row *row, pawl__answer *answer);

/* Answers of one row, or of those that the query matches; `place` as an answer has it. */
pawl_code pawl__why_add_letter(pawl__why *why, const pawl_dead_row *row, const char *place);
pawl_code pawl__why_add_timeout(pawl__why *why, const pawl_timeout_row *row);
pawl_code pawl__why_add_rows(pawl__why *why, const pawl_outbox_query *query, const char *place);
#define PAWL__WHY_LIVE_STATES \
    (1U << PAWL_OUTBOX_PENDING | 1U << PAWL_OUTBOX_BLOCKED | 1U << PAWL_OUTBOX_DEAD)
#define PAWL__WHY_ROWS_MAX 10

typedef pawl_code pawl__why_fn(pawl__why *why);

pawl__why_fn pawl__why_letters, pawl__why_queues, pawl__why_handled;
pawl__why_fn pawl__why_outbox, pawl__why_timeout, pawl__why_saga, pawl__why_stream;
pawl__why_fn pawl__why_schedule, pawl__why_projection, pawl__why_partition, pawl__why_collected;
/* A flush that succeeded left an error: that of messages that cannot be decoded, and stay. */
bool         pawl__has_undecoded(const pawl_partition_row *row);
pawl__why_fn pawl__why_whole_queue;

#endif
