/* timed.c - the driver "timed:", which hands every call on.
 *
 * Its table is a copy of the other driver's but for the calls that are noted. A
 * handle is the other driver's own, so what that driver's functions call among
 * themselves is not noted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "timed.h"

#include "pawl/store_driver.h"

#include <pthread.h>
#include <string.h>

#define SCHEME "timed"

/* The timeouts that a thread has claimed and not yet ended. */
typedef struct in_hand {
    pawl_timeout_id id;
    pawl_time       due;
} in_hand;

static _Thread_local in_hand timeouts[PAWL_BATCH_MESSAGES_MAX];
static _Thread_local size_t  timeout_count;

/* The messages that a thread has handled and not yet committed. */
static _Thread_local pawl__bench_moment handled[PAWL_BATCH_MESSAGES_MAX];
static _Thread_local size_t             handled_count;

static const pawl_store_ops *other;
static const char           *other_url;
static pawl_store_ops        timed_ops;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Under the mutex. */
static pawl__bench_claim *claims;
static size_t             claim_count, claim_capacity;
static double            *lateness;
static size_t             lateness_count, lateness_capacity;
static int64_t            claimed;
static int64_t            sent;

static pawl__bench_moment *moments;
static size_t              moment_count, moment_capacity;

/* The items with room for `count` more; NULL when there is no memory, and they
 * are as they were. */
static void *grow(void *items, size_t used, size_t count, size_t *capacity, size_t item_size)
{
    if (items != NULL && used + count <= *capacity)
        return items;
    size_t wanted = (used + count) * 2;
    void  *grown  = pawl_resize(items, wanted * item_size);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

static pawl_code note_claim(int64_t begin, size_t rows, pawl_error *error)
{
    int64_t duration = pawl__bench_clock() - begin;
    pthread_mutex_lock(&mutex);
    pawl__bench_claim *grown = grow(claims, claim_count, 1, &claim_capacity, sizeof *claims);
    if (grown != NULL) {
        claims                = grown;
        claims[claim_count++] = (pawl__bench_claim){begin, duration, (int64_t)rows};
    }
    claimed += (int64_t)rows;
    pthread_mutex_unlock(&mutex);
    return grown != NULL ? PAWL_OK
                         : pawl_error_set(error, PAWL_ENOMEM, "no memory to note a claim");
}

/* ---- The calls that are noted ------------------------------------------------ */

static pawl_code timed_open(pawl_store *store, const char *url, const pawl_store_options *options,
                            pawl_error *error)
{
    (void)url;
    return other->open(store, other_url, options, error);
}

static pawl_code timed_queue_claim(pawl_store *store, const pawl_queue_claim *claim,
                                   pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    int64_t   begin = pawl__bench_clock();
    pawl_code code  = other->queue_claim(store, claim, arena, rows, error);
    handled_count   = 0; /* messages without a commit come again */
    return code == PAWL_OK ? note_claim(begin, rows->count, error) : code;
}

static pawl_code timed_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                     pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_code code = other->timeout_claim(store, claim, arena, rows, error);
    timeout_count  = 0;
    for (size_t i = 0; code == PAWL_OK && i < rows->count && i < PAWL_BATCH_MESSAGES_MAX; i++)
        timeouts[timeout_count++] = (in_hand){rows->items[i].id, rows->items[i].due};
    return code;
}

/* Settled as a rule in the order they were claimed in: the search goes on where
 * the last one ended. */
static const in_hand *find(pawl_timeout_id id, size_t *from)
{
    for (size_t i = 0; i < timeout_count; i++) {
        size_t index = (*from + i) % timeout_count;
        if (pawl_uuid_compare(timeouts[index].id.uuid, id.uuid) == 0) {
            *from = index + 1;
            return &timeouts[index];
        }
    }
    return NULL;
}

static bool is_refused(const pawl_refusals *refused, uint32_t group)
{
    for (size_t i = 0; i < refused->count; i++)
        if (refused->items[i].group == group)
            return true;
    return false;
}

static pawl_code note_lateness(const pawl_changes *changes, const pawl_refusals *refused,
                               pawl_error *error)
{
    pawl_time now   = pawl_clock_now(NULL);
    size_t    from  = 0;
    size_t    count = changes->timeout_settle.count;
    pthread_mutex_lock(&mutex);
    double *grown = grow(lateness, lateness_count, count, &lateness_capacity, sizeof *lateness);
    if (grown != NULL)
        lateness = grown;
    for (size_t i = 0; grown != NULL && i < count; i++) {
        const pawl_timeout_settle *settle = &changes->timeout_settle.items[i];
        const in_hand             *timeout =
            settle->action == PAWL_TIMEOUT_REMOVE && !is_refused(refused, settle->group)
                            ? find(settle->id, &from)
                            : NULL;
        if (timeout != NULL)
            lateness[lateness_count++] = (double)(now - timeout->due);
    }
    pthread_mutex_unlock(&mutex);
    return grown != NULL ? PAWL_OK
                         : pawl_error_set(error, PAWL_ENOMEM, "no memory to note timeouts");
}

static pawl_code note_moments(pawl_error *error)
{
    int64_t committed = pawl__bench_clock();
    pthread_mutex_lock(&mutex);
    pawl__bench_moment *grown =
        grow(moments, moment_count, handled_count, &moment_capacity, sizeof *moments);
    if (grown != NULL)
        moments = grown;
    for (size_t i = 0; grown != NULL && i < handled_count; i++) {
        handled[i].committed    = committed;
        moments[moment_count++] = handled[i];
    }
    pthread_mutex_unlock(&mutex);
    handled_count = 0;
    return grown != NULL ? PAWL_OK
                         : pawl_error_set(error, PAWL_ENOMEM, "no memory to note messages");
}

static void note_sent(const pawl_changes *changes, const pawl_refusals *refused)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < changes->outbox_settle.count; i++)
        sent += changes->outbox_settle.items[i].state == PAWL_OUTBOX_DISPATCHED &&
                !is_refused(refused, changes->outbox_settle.items[i].group);
    pthread_mutex_unlock(&mutex);
}

static pawl_code timed_commit(pawl_store *store, const pawl_changes *changes,
                              pawl_refusals *refused, pawl_error *error)
{
    pawl_code code = other->commit(store, changes, refused, error);
    if (code == PAWL_OK && changes->timeout_settle.count > 0)
        code = note_lateness(changes, refused, error);
    if (code == PAWL_OK && changes->outbox_settle.count > 0)
        note_sent(changes, refused);
    if (code == PAWL_OK && handled_count > 0 && refused->count == 0)
        code = note_moments(error);
    return code;
}

/* ---- The tape ----------------------------------------------------------------- */

/* The other driver is known from a handle of its own. */
static pawl_code register_driver(const char *url, pawl_error *error)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store   = NULL;
    options.mode               = PAWL_OPEN_SCHEMA;
    pawl_code code             = pawl_store_open(url, &options, &store, error);
    if (code != PAWL_OK)
        return code;
    other                   = store->ops;
    timed_ops               = *other;
    timed_ops.ops_size      = sizeof timed_ops;
    timed_ops.scheme        = SCHEME;
    timed_ops.open          = timed_open;
    timed_ops.commit        = timed_commit;
    timed_ops.queue_claim   = timed_queue_claim;
    timed_ops.timeout_claim = timed_timeout_claim;
    pawl_store_close(store);
    return pawl_store_register(&timed_ops, error);
}

pawl_code pawl__bench_tape_begin(const char *url, const char **timed, pawl_error *error)
{
    pawl__bench_tape_end();
    other_url = url;
    *timed    = SCHEME ":";
    return other == NULL ? register_driver(url, error) : PAWL_OK;
}

int64_t pawl__bench_tape_claimed(void)
{
    pthread_mutex_lock(&mutex);
    int64_t count = claimed;
    pthread_mutex_unlock(&mutex);
    return count;
}

int64_t pawl__bench_tape_sent(void)
{
    pthread_mutex_lock(&mutex);
    int64_t count = sent;
    pthread_mutex_unlock(&mutex);
    return count;
}

int64_t pawl__bench_tape_fired(void)
{
    pthread_mutex_lock(&mutex);
    int64_t count = (int64_t)lateness_count;
    pthread_mutex_unlock(&mutex);
    return count;
}

void pawl__bench_tape_handled(int64_t number)
{
    if (handled_count < PAWL_BATCH_MESSAGES_MAX)
        handled[handled_count++] =
            (pawl__bench_moment){.number = number, .handled = pawl__bench_clock()};
}

int64_t pawl__bench_tape_committed(void)
{
    pthread_mutex_lock(&mutex);
    int64_t count = (int64_t)moment_count;
    pthread_mutex_unlock(&mutex);
    return count;
}

pawl__bench_tape pawl__bench_tape_read(void)
{
    return (pawl__bench_tape){claims, claim_count, lateness, lateness_count, moments, moment_count};
}

void pawl__bench_tape_end(void)
{
    pawl_free(claims);
    pawl_free(lateness);
    pawl_free(moments);
    claims      = NULL;
    lateness    = NULL;
    moments     = NULL;
    claim_count = claim_capacity = lateness_count = lateness_capacity = 0;
    moment_count = moment_capacity = 0;
    claimed = sent = 0;
}
