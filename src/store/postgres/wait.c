/* wait.c - NOTIFY for the handles that sleep, and only for them.
 *
 * A handle that sleeps for a queue holds an advisory lock of the queue in shared mode. After a
 * commit with rows for the queue the sender tries to take that lock exclusively: only if it
 * cannot, some handle sleeps, and NOTIFY is sent. So a busy queue needs no NOTIFY, whose commits
 * the server runs one after another. No row is missed: a sleeper takes the lock and then checks
 * once more for rows that became due meanwhile; a sender commits and then tries the
 * lock.
 *
 * A handle sleeps for the queues and the outbox from which it has claimed, and for the event
 * store if it read events by position; otherwise it does not listen. A NOTIFY is remembered until
 * the next claim: a wait before that returns at once. A NOTIFY for events ends one wait.
 *
 * If a worker dies, its row locks and leases end without NOTIFY. A handle that has found rows of
 * other workers therefore sleeps for seconds only, and releases the leases of dead workers.
 *
 * With a pooler there is no LISTEN: waits are short, and grow while nothing is found; a worker
 * writes a heartbeat into its row every five seconds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/wait.h"
#include "store/core/kinds.h"
#include "store/postgres/front.h"
#include "store/postgres/operations.h"
#include "store/postgres/share.h"
#include "store/postgres/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define BUSY_CLAIMS 8 /* non-empty claims in sequence: then the sleepers' locks are released */
#define POLL_MS_MIN 20
#define POLL_MS_MAX 1000
#define BEAT_MS 5000
#define WARN_MS 60000   /* between two warnings of a handle */
#define OTHERS_MS 10000 /* between checks of rows that others have: they may have died */

int64_t pawl__pg_lock_number(const pawl__pg *store, const char *kind, pawl_text name)
{
    char     text[PAWL_NAME_SIZE_MAX + 200];
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    int      size = snprintf(text, sizeof text, "pawl/%s.%s/%s/%.*s", store->schema,
                             store->sql.base.system_prefix, kind, PAWL_TEXT_ARGS(name));
    for (int i = 0; i < size && i < (int)sizeof text - 1; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return (int64_t)(hash >> 1 | 1); /* positive, never 0 */
}

/* ---- The handle's queues ------------------------------------------------- */

static pawl_text name_of(const pawl__pg_front *front)
{
    return (pawl_text){.data = front->queue, .size = front->queue_size};
}

/* The fronts of the queues that this handle claims from; returns how many. */
static size_t list_queues(const pawl__pg *store, const pawl__pg_front **queues)
{
    size_t count = 0;
    for (size_t i = 0; i < store->front_count && i < PAWL__PG_QUEUES_MAX; i++)
        if (store->fronts[i].is_queue)
            queues[count++] = &store->fronts[i];
    return count;
}

/* ---- Topics of a commit -------------------------------------------------- */

#define OUTBOX_PAYLOAD "/outbox"
#define EVENTS_PAYLOAD "/events"
#define TOPICS_MAX 16 /* queues of one commit; with more the NOTIFY is for all */

/* The queues and other topics of a commit for which handles may sleep. */
typedef struct topics {
    pawl_text queues[TOPICS_MAX];
    size_t    count;
    bool      has_outbox;
    bool      is_all; /* too many to name */
} topics;

static void add_topic(topics *list, pawl_text queue)
{
    for (size_t i = list->count; i > 0; i--)
        if (pawl_text_equal(list->queues[i - 1], queue))
            return;
    if (list->count == TOPICS_MAX)
        list->is_all = true;
    else
        list->queues[list->count++] = queue;
}

/* Adds the queues that this handle claims from, whose timeouts and aggregators it leases. An operator's handle
 * claims from none: then all queues. */
static void add_own_topics(const pawl__pg *store, topics *list)
{
    const pawl__pg_front *queues[PAWL__PG_QUEUES_MAX];
    size_t                count = list_queues(store, queues);
    for (size_t i = 0; i < count; i++)
        add_topic(list, name_of(queues[i]));
    list->is_all |= count == 0;
}

static bool find_topics(const pawl__pg *store, const pawl_changes *changes, topics *list)
{
    *list = (topics){.has_outbox = changes->outbox_add.count + changes->outbox_block.count +
                                       changes->outbox_reset.count !=
                                   0};
    for (size_t i = 0; i < changes->queue_send.count && !list->is_all; i++)
        add_topic(list, changes->queue_send.items[i].queue);
    for (size_t i = 0; i < changes->timeout_set.count && !list->is_all; i++)
        add_topic(list, changes->timeout_set.items[i].destination);
    if (pawl__changes_free_leases(changes))
        add_own_topics(store, list);
    return list->has_outbox || list->count != 0 || list->is_all;
}

static pawl_text payload_of(const topics *list)
{
    if (list->count == 1 && !list->has_outbox && !list->is_all)
        return list->queues[0];
    return list->count == 0 && !list->is_all ? PAWL_TEXT(OUTBOX_PAYLOAD) : (pawl_text){0};
}

static int64_t queue_lock(const pawl__pg *store, pawl_text queue)
{
    return pawl__pg_lock_number(store, "sleep", queue);
}

static int64_t outbox_lock(const pawl__pg *store)
{
    return pawl__pg_lock_number(store, "sleep-outbox", (pawl_text){0});
}

static int64_t events_lock(const pawl__pg *store)
{
    return pawl__pg_lock_number(store, "sleep-events", (pawl_text){0});
}

void pawl__pg_send_notify_events(pawl__pg *store, pawl__pg_connection *connection,
                                 pawl__pg_request *request, pawl_error *error)
{
    const int64_t lock = events_lock(store);
    pawl__pg_begin(request, connection,
                   connection->is_ours ? PAWL__PG_NOTIFY : PAWL__PG_NOTIFY_ALWAYS, error);
    pawl__pg_put_text(request, pawl_text_of(store->channel));
    pawl__pg_put_text(request, PAWL_TEXT(EVENTS_PAYLOAD));
    if (connection->is_ours)
        pawl__pg_put_ints(request, &lock, 1);
    pawl__pg_send(request);
}

bool pawl__pg_send_notify(pawl__pg *store, pawl__pg_connection *connection,
                          pawl__pg_request *request, const pawl_changes *changes)
{
    topics  list;
    int64_t locks[TOPICS_MAX + 1];
    size_t  count = 0;
    if (!find_topics(store, changes, &list))
        return false;
    for (size_t i = 0; i < list.count; i++)
        locks[count++] = queue_lock(store, list.queues[i]);
    if (list.has_outbox)
        locks[count++] = outbox_lock(store);
    bool is_conditional = connection->is_ours && !list.is_all;
    pawl__pg_begin(request, connection, is_conditional ? PAWL__PG_NOTIFY : PAWL__PG_NOTIFY_ALWAYS,
                   NULL);
    pawl__pg_put_text(request, pawl_text_of(store->channel));
    pawl__pg_put_text(request, payload_of(&list));
    if (is_conditional)
        pawl__pg_put_ints(request, locks, count);
    pawl__pg_send(request);
    return true;
}

/* A lost connection is not logged here, but when it is connected again. */
void pawl__pg_notified(pawl__pg *store, const pawl__pg_connection *connection, pawl_code code,
                       const pawl_error *why)
{
    int64_t now = pawl__clock_ms();
    if (code == PAWL_OK || connection->is_lost ||
        (store->warned_ms != 0 && now - store->warned_ms < WARN_MS))
        return;
    store->warned_ms = now;
    pawl_log(PAWL_LOG_WARNING,
             "postgres: %s: a NOTIFY after a commit failed, so sleeping workers find what was "
             "committed at their next check, up to a minute later: %s",
             store->given, why->text);
}

/* ---- The sleepers' locks ------------------------------------------------ */

static bool has_outbox(const pawl__pg *store)
{
    return store->outbox.is_claimed;
}

static bool has_claims(const pawl__pg *store)
{
    const pawl__pg_front *queues[PAWL__PG_QUEUES_MAX];
    return has_outbox(store) || list_queues(store, queues) != 0;
}

bool pawl__pg_has_topics(const pawl__pg *store)
{
    return store->reads_events || has_claims(store);
}

int64_t pawl__pg_payload_lock(const pawl__pg *store, const char *payload)
{
    if (strcmp(payload, OUTBOX_PAYLOAD) == 0)
        return outbox_lock(store);
    return strcmp(payload, EVENTS_PAYLOAD) == 0 ? events_lock(store)
                                                : queue_lock(store, pawl_text_of(payload));
}

void pawl__pg_list_sleep_locks(pawl__pg *store)
{
    const pawl__pg_front *queues[PAWL__PG_QUEUES_MAX];
    size_t                count = list_queues(store, queues);
    for (size_t i = 0; i < count; i++)
        store->sleep_locks[i] = queue_lock(store, name_of(queues[i]));
    if (has_outbox(store))
        store->sleep_locks[count++] = outbox_lock(store);
    if (store->reads_events)
        store->sleep_locks[count++] = events_lock(store);
    store->sleep_lock_count = count;
}

pawl_code pawl__pg_sleep_locks(const pawl__pg *store, pawl__pg_connection *connection,
                               int statement, pawl_error *error)
{
    pawl__pg_request request;
    pawl__pg_begin(&request, connection, statement, error);
    pawl__pg_put_ints(&request, store->sleep_locks, store->sleep_lock_count);
    pawl_code code = pawl__pg_run(&request);
    pawl__pg_end(&request);
    return code;
}

pawl_code pawl__pg_stop_sleeping(pawl__pg *store, pawl_error *error)
{
    if (!store->sleeps)
        return PAWL_OK;
    if (store->member.share != NULL) {
        pawl__pg_share_stop_sleeping(store);
        return PAWL_OK;
    }
    pawl_code code = pawl__pg_sleep_locks(store, &store->main, PAWL__PG_UNLISTEN_LOCKS, error);
    store->sleeps  = code != PAWL_OK;
    return code;
}

void pawl__pg_note_claim(pawl__pg *store, bool is_empty)
{
    store->poll_ms     = is_empty ? store->poll_ms : POLL_MS_MIN;
    store->busy_claims = is_empty ? 0 : store->busy_claims + 1;
    if (store->busy_claims < BUSY_CLAIMS || !store->sleeps || store->sql.in_handler_transaction)
        return;
    /* A failure shows at the next operation: the connection is lost. */
    (void)pawl__pg_stop_sleeping(store, NULL);
}

/* ---- Waiting ------------------------------------------------------------ */

/* Is the NOTIFY for a queue of this handle, or for all? Not if this session sent it: its own process knows about
 * the change already. */
static bool is_for_us(const pawl__pg *store, const PGnotify *notify)
{
    const pawl__pg_front *queues[PAWL__PG_QUEUES_MAX];
    size_t                count = list_queues(store, queues);
    if (notify->be_pid == store->backend_pid)
        return false;
    if (notify->extra[0] == '\0' ||
        (has_outbox(store) && strcmp(notify->extra, OUTBOX_PAYLOAD) == 0))
        return true;
    for (size_t i = 0; i < count; i++)
        if (pawl_text_equal(name_of(queues[i]), pawl_text_of(notify->extra)))
            return true;
    return false;
}

static void take_notifies(pawl__pg *store)
{
    PGnotify *notify;
    while ((notify = PQnotifies(store->main.pg)) != NULL) {
        if (strcmp(notify->extra, EVENTS_PAYLOAD) == 0)
            store->has_events |= store->reads_events && notify->be_pid != store->backend_pid;
        else
            store->is_woken |= is_for_us(store, notify);
        PQfreemem(notify);
    }
}

static void put_times(pawl__pg_request *request, const pawl__pg_front *const *queues, size_t count,
                      int wire, size_t offset)
{
    pawl__pg_array_begin(request, wire, PAWL_VALUE_NONE, count);
    for (size_t i = 0; i < count; i++)
        pawl__pg_array_put(request, wire, (const char *)queues[i] + offset);
    pawl__pg_array_end(request);
}

static void send_queues_check(pawl__pg_request *request, const pawl__pg_front *const *queues,
                              size_t count)
{
    pawl__pg_array_begin(request, PAWL__WIRE_TEXT, PAWL_VALUE_NONE, count);
    for (size_t i = 0; i < count; i++) {
        pawl_text name = name_of(queues[i]);
        pawl__pg_array_put(request, PAWL__WIRE_TEXT, &name);
    }
    pawl__pg_array_end(request);
    put_times(request, queues, count, PAWL__WIRE_TIME_FROM, offsetof(pawl__pg_front, from));
    put_times(request, queues, count, PAWL__WIRE_TIME, offsetof(pawl__pg_front, queue_due));
    put_times(request, queues, count, PAWL__WIRE_TIME, offsetof(pawl__pg_front, timeout_due));
    pawl__pg_send(request);
}

void pawl__pg_check_send(const pawl__pg *store, pawl__pg_connection *connection,
                         pawl__pg_request requests[PAWL__PG_CHECKS], pawl_error *error)
{
    const pawl__pg_front *queues[PAWL__PG_QUEUES_MAX];
    size_t                count = list_queues(store, queues);
    pawl_time             now   = pawl__pg_now(store);
    memset(requests, 0, PAWL__PG_CHECKS * sizeof *requests);
    connection->is_gathered = true;
    if (count != 0) {
        pawl__pg_begin(&requests[0], connection, PAWL__PG_QUEUE_THERE, error);
        send_queues_check(&requests[0], queues, count);
    }
    if (has_outbox(store))
        pawl__pg_send_with(&requests[1], connection, PAWL__PG_OUTBOX_THERE, &pawl__one_time, &now,
                           error);
    if (store->reads_events)
        pawl__pg_send_with(&requests[2], connection, PAWL__PG_EVENTS_THERE, &pawl__one_int,
                           &store->events_read, error);
}

bool pawl__pg_check_read(pawl__pg_request *request)
{
    bool is_there = pawl__pg_next(request) && pawl__pg_get_bool(request);
    pawl__pg_end(request);
    return is_there;
}

pawl_code pawl__pg_check(pawl__pg *store, pawl__pg_connection *connection, pawl_error *error)
{
    pawl__pg_request requests[PAWL__PG_CHECKS];
    pawl__pg_check_send(store, connection, requests, error);
    pawl_code code = pawl__pg_await(connection, error);
    for (int i = 0; i < PAWL__PG_CHECKS; i++)
        *(i < 2 ? &store->is_woken : &store->has_events) |= pawl__pg_check_read(&requests[i]);
    return code;
}

pawl_code pawl__pg_listen(pawl__pg *store, pawl_error *error)
{
    char text[100];
    (void)snprintf(text, sizeof text, "listen \"%s\"", store->channel);
    return pawl__pg_execute(&store->main, text, error);
}

/* LISTEN, the sleepers' advisory locks, and then one more check: a commit from before the locks
 * sent no NOTIFY. */
static pawl_code prepare_to_sleep(pawl__pg *store, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (!store->listens) {
        code           = pawl__pg_listen(store, error);
        store->listens = code == PAWL_OK;
    }
    pawl__pg_list_sleep_locks(store);
    if (code == PAWL_OK)
        code = pawl__pg_sleep_locks(store, &store->main, PAWL__PG_LISTEN_LOCKS, error);
    store->sleeps      = code == PAWL_OK;
    store->busy_claims = 0;
    return code == PAWL_OK ? pawl__pg_check(store, &store->main, error) : code;
}

pawl_time pawl__pg_now(const pawl__pg *store)
{
    int64_t passed = (pawl__clock_ms() - store->last_now_ms) * 1000;
    return store->last_now == PAWL_TIME_MIN ? PAWL_TIME_MIN
                                            : pawl_time_add(store->last_now, passed);
}

static pawl_code beat(pawl__pg *store, pawl_error *error)
{
    pawl__pg_request request;
    int64_t          now_ms = pawl__clock_ms();
    if (!store->is_pooled || !store->sql.base.is_attached || now_ms - store->beat_ms < BEAT_MS)
        return PAWL_OK;
    store->beat_ms        = now_ms;
    store->has_worker_tid = false; /* a new version of the row, at another ctid */
    pawl__pg_begin(&request, &store->main, PAWL__PG_WORKER_HEARTBEAT, error);
    pawl__pg_put_time(&request, pawl__pg_now(store));
    pawl__pg_put_uuid(&request, store->sql.base.worker.uuid);
    pawl__pg_put_int(&request, store->sql.base.epoch);
    pawl_code code = pawl__pg_run(&request);
    pawl__pg_end(&request);
    return code;
}

pawl_code pawl__pg_worker_heartbeat(pawl_store *base, const pawl_worker_id *workers, size_t count,
                                    pawl_time now, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    pawl_code code  = PAWL_OK;
    if (!store->is_pooled)
        return pawl_error_set(error, PAWL_EUNSUPPORTED,
                              "postgres: workers hold a session lock and send no heartbeats");
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        pawl__pg_request request;
        pawl__pg_begin(&request, &store->main, PAWL__PG_WORKER_HEARTBEAT_ANY, error);
        pawl__pg_put_time(&request, now);
        pawl__pg_put_uuid(&request, workers[i].uuid);
        code = pawl__pg_run(&request);
        pawl__pg_end(&request);
    }
    return code;
}

/* Releases the timeout leases of dead workers at once, before they expire. */
static pawl_code free_dead(pawl__pg *store, pawl_error *error)
{
    pawl__pg_request request;
    int64_t          now_ms = pawl__clock_ms();
    if (!store->others_have || now_ms - store->freed_ms < OTHERS_MS ||
        pawl__pg_share_is_away(store))
        return PAWL_OK;
    store->freed_ms = now_ms;
    pawl__pg_send_timeout_free_dead(store, &request, false, error);
    pawl_code code = pawl__pg_await(&store->main, error);
    store->is_woken |= code == PAWL_OK && pawl__pg_rows(&request) > 0;
    pawl__pg_end(&request);
    return code;
}

typedef struct sleep_list {
    struct pollfd items[3]; /* the caller's, the interrupt's, the socket */
} sleep_list;

/* Polls until something can be read; a signal ends it, and the wait with it. */
static pawl_code sleep_once(pawl__pg *store, int64_t milliseconds, int wake_fd, pawl_error *error)
{
    sleep_list list = {
        {{.fd = wake_fd, .events = POLLIN},
         {.fd = atomic_load(&store->wait.interrupt_fd), .events = POLLIN},
         {.fd = store->is_pooled ? -1 : PQsocket(store->main.pg), .events = POLLIN}}};
    int ready = poll(list.items, 3, milliseconds > 60000 ? 60000 : (int)milliseconds);
    store->is_woken |= ready < 0 || list.items[0].revents != 0;
    if (ready < 0 && errno != EINTR)
        return pawl_error_set(error, PAWL_EPERSIST, "postgres: cannot wait: %s", strerror(errno));
    if (ready > 0 && list.items[1].revents != 0)
        return pawl_error_set(error, PAWL_EINTERRUPTED, "postgres: the wait was interrupted");
    if (ready <= 0 || list.items[2].revents == 0)
        return PAWL_OK;
    if (PQconsumeInput(store->main.pg) == 0 || PQstatus(store->main.pg) == CONNECTION_BAD) {
        store->main.is_lost = true;
        return pawl__pg_failed(store->main.pg, NULL, "while waiting", error);
    }
    take_notifies(store);
    return PAWL_OK;
}

int64_t pawl__pg_slice_of(pawl__pg *store, int64_t milliseconds)
{
    int64_t slice = milliseconds;
    if (store->others_have)
        slice = slice < OTHERS_MS ? slice : OTHERS_MS;
    const pawl__pg_front *queues[PAWL__PG_QUEUES_MAX];
    for (size_t count = list_queues(store, queues); count > 0; count--) {
        int64_t rest = pawl__pg_front_rest_ms(queues[count - 1]);
        slice        = slice < rest ? slice : rest;
    }
    if (store->is_pooled && !pawl__pg_has_topics(store)) {
        slice = slice < BEAT_MS ? slice : BEAT_MS;
    } else if (store->is_pooled) {
        store->poll_ms = store->poll_ms < POLL_MS_MIN ? POLL_MS_MIN : store->poll_ms;
        slice          = slice < store->poll_ms ? slice : store->poll_ms;
        store->poll_ms = store->poll_ms * 2 < POLL_MS_MAX ? store->poll_ms * 2 : POLL_MS_MAX;
    }
    return slice;
}

/* Prepares the wait: ends a transaction without claims, and sends a heartbeat if it is time. */
static pawl_code begin_wait(pawl__pg *store, pawl_error *error)
{
    if (store->sql.in_handler_transaction)
        return pawl_error_set(error, PAWL_EINVAL,
                              "postgres: cannot wait while a handler transaction is open");
    pawl__pg_rollback_unclaimed(store);
    return beat(store, error);
}

/* Waits on the handle's own session. */
static pawl_code wait_on(pawl__pg *store, int64_t microseconds, int wake_fd, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    if (!store->is_pooled && !store->sleeps && pawl__pg_has_topics(store))
        code = prepare_to_sleep(store, error);
    if (!store->is_pooled)
        take_notifies(store);
    int64_t end = pawl__clock_ms() + pawl__pg_slice_of(store, (microseconds + 999) / 1000);
    for (int64_t rest = 1; code == PAWL_OK && !store->is_woken && !store->has_events && rest > 0;) {
        rest = end - pawl__clock_ms();
        if (rest > 0)
            code = sleep_once(store, rest, wake_fd, error);
    }
    return code;
}

pawl_code pawl__pg_wait(pawl_store *base, int64_t microseconds, int wake_fd, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    pawl_code code  = begin_wait(store, error);
    if (code == PAWL_OK && microseconds > 0 && store->main.pg != NULL)
        code = free_dead(store, error);
    if (code != PAWL_OK)
        return code;
    if (store->member.share != NULL)
        code = pawl__pg_share_wait(store, microseconds, wake_fd, error);
    else if (microseconds > 0)
        code = wait_on(store, microseconds, wake_fd, error);
    else
        return PAWL_OK;
    /* Usually the next claim clears is_woken; a handle without claims clears it here. */
    if (!has_claims(store))
        store->is_woken = false;
    store->has_events = false;
    return code;
}

void pawl__pg_interrupt(pawl_store *base)
{
    pawl__wait_interrupt(&pawl__pg_of(base)->wait);
}
