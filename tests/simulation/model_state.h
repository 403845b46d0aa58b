/* model_state.h - the model's rows and tasks, for its files.
 *
 *     model.c            begin and end, rows of the store, deliveries, rest
 *     model_effects.c    effects of each commit
 *     model_jobs.c       processes
 *     model_abroad.c     timeouts for destinations without an endpoint
 *     model_ends.c       due times, order, attempts, copies, headers
 *
 * Threads: the program has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SIMULATION_MODEL_STATE_H
#define PAWL_SIMULATION_MODEL_STATE_H

#include "simulation/map.h"
#include "simulation/model.h"

#define TASKS_MAX 4001
#define INSTANCES_MAX 4000
#define GROUPS_MAX 4096
#define ROWS_MAX 16000
#define STREAMS_MAX 4000
#define ABROAD_MAX (PLAN_EVENTS_MAX + 1)
#define KEYS_MAX 10 /* of a digit */

/* The state of a task, at each endpoint. */
typedef struct task_fate {
    bool is_expected[ENDPOINTS], is_applied[ENDPOINTS], is_dead[ENDPOINTS];
    bool is_in_store;  /* of one from outside, or of cargo: a commit has it */
    bool is_delivered; /* of cargo */
    bool is_boxed;     /* of a parcel: it waits in the aggregator */
    int  answers;      /* of a fact that a saga sent */
    bool is_seen;      /* of a fact: the projection's effect is there */
    bool is_over;      /* of a job: its timeout came */
    int  heard;        /* of a job: answers */
    bool is_dropped;   /* of a poke: there was no saga */
    /* The commit that says that it was handled, and its group; 0 when its effect was found. */
    uint64_t  marked[ENDPOINTS];
    uint32_t  group[ENDPOINTS];
    pawl_time claimed[ENDPOINTS]; /* on the clock of its worker; of a timeout: its due time */
    struct {
        bool      is_set;
        pawl_time due;
    } timeout;                                /* of a job */
    uint64_t correlation, headers[ENDPOINTS]; /* hashes, as they were sent */
} task_fate;

typedef struct instance {
    bool    is_alive;
    int     endpoint, key;
    int64_t since;
    int64_t version;
    size_t  log_size;
    int64_t armed[TIMERS];    /* as the tasks say */
    bool    is_stuck[TIMERS]; /* by a dead letter */
    struct {
        bool            is_set;
        pawl_timeout_id id;
        pawl_time       due;
        int32_t         attempts;
    } timers[TIMERS]; /* as the rows say */
    bool is_touched;
} instance;

typedef struct queue_row {
    bool      is_live;
    int       endpoint;   /* -1: nobody reads the queue */
    int64_t   since;      /* when it came */
    pawl_time placed;     /* its place in the queue, */
    int64_t   seq;        /* and behind others of that time */
    int64_t   first;      /* when it was claimed first; 0: never */
    int64_t   claimed;    /* when it was, the last time, */
    pawl_time claim_time; /* and on the clock of its worker */
    int32_t   attempts;
    int64_t   number;  /* 0: an answer; -1: in a queue that nobody reads */
    uint64_t  content; /* hash of the message's type, body and correlation id */
} queue_row;

typedef struct box_state {
    int64_t   count;      /* parcels */
    pawl_time due;        /* when the period is over */
    int64_t   free_until; /* flushes of any size may come */
} box_state;

typedef struct fact_stream {
    int64_t version, facts, seen;
} fact_stream;

typedef struct outbox_row {
    int64_t number, version;
    int32_t index;
    int     source;
    bool    is_delivered;
} outbox_row;

typedef struct abroad_timeout {
    bool      is_set;
    pawl_time due;
    char      correlation[24];
    uint64_t  sent;  /* the commit with its message, */
    uint32_t  group; /* and the group */
} abroad_timeout;

extern struct model_state {
    task_fate      results[TASKS_MAX];
    instance       instances[INSTANCES_MAX];
    int            instance_count;
    queue_row      queue[ROWS_MAX];
    int            queue_count;
    outbox_row     outbox[ROWS_MAX];
    int            outbox_count, source_count;
    fact_stream    streams[STREAMS_MAX];
    int            stream_count;
    abroad_timeout abroad[ABROAD_MAX]; /* by number, from 1 */
    box_state      boxes[ENDPOINTS][KEYS_MAX];
    map            stream_names;
    map            messages;   /* id -> number of the task */
    map            rows;       /* queue and id -> queue */
    map            seqs;       /* -> queue */
    map            sagas;      /* id -> instances */
    map            dispatches; /* id -> outbox */
    map            sources;
    map            timeouts; /* id -> number of the task */
    uint64_t       serial;
    int64_t        sent; /* messages that came into queues */
    uint32_t       unmatched;
    bool           is_refused[GROUPS_MAX];
    int64_t        done;
    int64_t        clock_slack;
    bool           has_faults;
} model;

/* The changes of a kind whose group was not refused. */
#define EACH(kind, it)                                                                           \
    for (const pawl_##kind *it       = changes->kind.items,                                      \
                           *it##_end = changes->kind.count != 0 ? it + changes->kind.count : it; \
         it != it##_end; it++)                                                                   \
        if (!model.is_refused[it->group])

/* Of the task whose message has that id; 0: an answer, which is no task's; -1: nobody sent it. */
int64_t   model_number_of(pawl_text id);
pawl_text model_uuid_text(pawl_uuid uuid, char text[PAWL_UUID_TEXT_SIZE + 1]);
/* Its message will be handled, by each endpoint that it goes to. */
void model_expect(int64_t number);
/* The effect that the end of the message promised was found. */
void model_take_mark(task_fate *it, int endpoint);
/* May the task fail, with this error? */
bool model_may_die(const sim_task *it, pawl_text error);

/* The row of a message in a queue. */
int model_row_of(pawl_text queue, pawl_text id);

/* A message or a timeout of the task ended in this commit: an effect must be found. */
void model_mark(int64_t number, int endpoint, uint32_t group);

/* In the order in which model_committed calls them. */
void model_see_handled(const pawl_changes *changes);
void model_see_timeouts(const pawl_changes *changes);
void model_see_sagas(const pawl_changes *changes);
void model_see_pokes(const pawl_changes *changes);
void model_see_flushes(const pawl_changes *changes);
void model_see_events(const pawl_changes *changes);
void model_see_timers(const pawl_changes *changes);
void model_see_order(const pawl_changes *changes);
void model_see_copies(const pawl_changes *changes);
void model_see_boxes(const pawl_changes *changes);

/* Of processes: an event, and the timeouts, false: of another saga. */
void model_see_job(const pawl_event_append *it);
bool model_settle_job(const pawl_timeout_settle *it);
bool model_set_job(const pawl_timeout_set *it);
/* The part of a job that it has not had; NULL: none. */
const char *model_job_lacks(int64_t number);

/* Of timeouts for destinations without an endpoint: one of a number, what is sent, and the timeouts, false: of others. */
void model_draw_abroad(int64_t number, pawl_timeout_row *made);
void model_see_abroad(const pawl_changes *changes);
bool model_settle_abroad(const pawl_timeout_settle *it);
bool model_set_abroad(const pawl_timeout_set *it);
/* The number of one that is set; 0: none. */
int64_t model_waits_abroad(void);

/* Is the row an audit copy? */
bool model_is_copy(const pawl_outbox_add *it);
/* A hash of the type, body and correlation id. */
uint64_t model_content(const pawl_message *message);
/* The text of a member of JSON as the library writes it; empty: there is none. */
pawl_text model_member(pawl_text json, const char *name);
/* Checks of a task's message or timeout as it is sent, is tried again, or is a dead letter. */
void model_check_due(int64_t number, pawl_time due);
void model_check_timeout_due(int64_t number, pawl_time begun, pawl_time due);
void model_check_correlation(int64_t number, pawl_text correlation);
void model_check_retry(const sim_task *it, const pawl_queue_settle *settle, const queue_row *row);
void model_check_dead(int64_t number, int endpoint, const pawl_dead_set *it);
void model_note_message(int64_t number, int endpoint, const pawl_message *message);
void model_note_timeout(int64_t number, int endpoint, const pawl_timeout_set *it);

#endif
