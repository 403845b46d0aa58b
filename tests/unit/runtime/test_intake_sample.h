/* test_intake_sample.h - an endpoint that reads from a broker which is a list in memory: it counts what was settled, and fails
 * where a test says.
 *
 *     open_reading -> { put, takes_in, step, world_* }*
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_UNIT_INTAKE_SAMPLE_H
#define PAWL_TESTS_UNIT_INTAKE_SAMPLE_H

#include "runtime/inbound/intake.h"
#include "support/world.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

PAWL_RECORD(note, A_NUMBER);

static world_log happened;
static int       failures_left;

static inline pawl_code on_note(pawl_context *ctx, const note *message)
{
    if (failures_left > 0) {
        failures_left--;
        return pawl_fail(ctx, PAWL_RETRY, "not yet");
    }
    world_note(&happened, "note(%d)", (int)message->number);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_note, note);

static const pawl_application application =
    ONE_ENDPOINT("intake", .name = "reader", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)}));

/* ---- A broker ------------------------------------------------------------------------ */

#define LETTERS_MAX 40

typedef struct letter {
    pawl_taken taken;
    bool       is_out, is_settled; /* taken on the channel that is open; gone for good */
    int        outs;               /* how often it was handed out */
} letter;

static struct broker {
    letter   letters[LETTERS_MAX];
    size_t   count;
    uint64_t channel;
    int      takes, leaves, closes, settles_to_fail, finishes;
    void (*at_finish)(void); /* called when the endpoint wants no more messages; or NULL */
    char                  queue[100];
    size_t                prefetch, type_count;
    char                  type[100];
    int                   wake_fd;        /* of the last take */
    bool                  breaks;         /* a take that waits loses the connection */
    const pawl__app_call *call;           /* of the intake; or NULL */
    int                   stopping_takes; /* while the endpoint stops */
    bool                  is_silent;      /* failures have no text */
    int unmarked; /* calls during which it does not tell that it waits for a broker */
} broker;

static atomic_int gone;    /* messages that were settled, for a test in another thread */
static atomic_int losses;  /* takes that lost the connection */
static atomic_int hanging; /* 1: a take does not return; 2: one does not */

static inline void note_call(void)
{
    broker.unmarked += broker.call != NULL && broker.call->waits == NULL;
}

static inline pawl_code open_list(pawl_inbound *inbound, const char *url,
                                  const pawl_inbound_options *options, pawl_error *error)
{
    if (strcmp(url, "list://mute/") == 0)
        return PAWL_EDENIED;
    if (strcmp(url, "list://here/") != 0)
        return pawl_error_set(error, PAWL_EINVAL, "list: '%s' is not here", url);
    snprintf(broker.queue, sizeof broker.queue, "%s", options->queue);
    broker.prefetch   = options->prefetch;
    broker.type_count = options->type_count;
    snprintf(broker.type, sizeof broker.type, "%s", options->types[0].data);
    return PAWL_OK;
}

static inline void close_list(pawl_inbound *inbound)
{
    broker.closes++;
}

static inline size_t count_settled(void)
{
    size_t count = 0;
    for (size_t i = 0; i < broker.count; i++)
        count += broker.letters[i].is_settled;
    return count;
}

static inline size_t count_out(void)
{
    size_t count = 0;
    for (size_t i = 0; i < broker.count; i++)
        count += broker.letters[i].is_out && !broker.letters[i].is_settled;
    return count;
}

static inline pawl_code take(pawl_inbound *inbound, const pawl_take *by, pawl_arena *arena,
                             pawl_takings *takings, pawl_error *error)
{
    takings->items = pawl_arena_take(arena, (by->count_max + 1) * sizeof(pawl_taken));
    if (takings->items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "list: no memory");
    broker.takes++;
    note_call();
    (void)atomic_compare_exchange_strong(&hanging, &(int){1}, 2);
    while (atomic_load(&hanging) != 0)
        usleep(1000);
    broker.stopping_takes +=
        by->stop_fd > 0 && poll(&(struct pollfd){.fd = by->stop_fd, .events = POLLIN}, 1, 0) > 0;
    broker.wake_fd = by->wake_fd;
    if (broker.breaks && by->wait > 0) {
        atomic_fetch_add(&losses, 1);
        return broker.is_silent ? PAWL_ELOST
                                : pawl_error_set(error, PAWL_ELOST, "list: the connection is lost");
    }
    if (count_settled() + count_out() == broker.count && by->wake_fd >= 0 && by->wait > 0)
        (void)poll(&(struct pollfd){.fd = by->wake_fd, .events = POLLIN}, 1, 1000);
    for (size_t i = 0; i < broker.count && takings->count < by->count_max; i++) {
        letter *next = &broker.letters[i];
        if (next->is_out || next->is_settled)
            continue;
        next->is_out                   = true;
        takings->items[takings->count] = next->taken;
        takings->items[takings->count].is_redelivered |= next->outs++ > 0;
        takings->items[takings->count].channel = broker.channel;
        takings->items[takings->count++].tag   = i;
    }
    return PAWL_OK;
}

static inline void leave(pawl_inbound *inbound)
{
    broker.leaves++;
    broker.channel++;
    for (size_t i = 0; i < broker.count; i++)
        broker.letters[i].is_out = false;
}

static inline pawl_code settle(pawl_inbound *inbound, const pawl_taken *items, size_t count,
                               pawl_error *error)
{
    note_call();
    if (broker.settles_to_fail > 0) {
        broker.settles_to_fail--;
        return broker.is_silent ? PAWL_ELOST
                                : pawl_error_set(error, PAWL_ELOST, "list: the connection is lost");
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(items[i].channel, broker.channel);
        if (!broker.letters[items[i].tag].is_settled)
            atomic_fetch_add(&gone, 1);
        broker.letters[items[i].tag].is_settled = true;
    }
    return PAWL_OK;
}

static inline pawl_code finish(pawl_inbound *inbound, pawl_error *error)
{
    broker.finishes++;
    note_call();
    if (broker.at_finish != NULL)
        broker.at_finish();
    return PAWL_OK;
}

static const pawl_inbound_ops list = {.ops_size     = sizeof list,
                                      .inbound_size = sizeof(pawl_inbound),
                                      .scheme       = "list",
                                      .open         = open_list,
                                      .close        = close_list,
                                      .take         = take,
                                      .settle       = settle,
                                      .leave        = leave,
                                      .finish       = finish};

static inline pawl_taken *put(const char *id, const char *type, const char *body)
{
    assert_true(broker.count < LETTERS_MAX);
    pawl_taken *made = &broker.letters[broker.count++].taken;
    *made            = (pawl_taken){.message = {.id             = pawl_text_of(id),
                                                .type           = pawl_text_of(type),
                                                .body           = pawl_text_of(body),
                                                .headers        = PAWL_TEXT(""),
                                                .correlation_id = PAWL_TEXT(""),
                                                .causation_id   = PAWL_TEXT("")},
                                    .refusal = PAWL_TEXT("")};
    return made;
}

/* ---- An endpoint that reads it ---------------------------------------------------------- */

typedef struct reading {
    world         it;
    pawl__intake *inbound;
} reading;

static inline void close_reading(void *context)
{
    reading *r = context;
    assert_int_equal(broker.unmarked, 0);
    pawl__intake_leave(r->inbound);
    pawl__intake_destroy(r->inbound);
    world_close(&r->it);
    free(r);
}

/* Until the test ends. */
static inline reading *open_reading_of(const pawl_application *of, const char *url,
                                       const pawl_endpoint_options *options)
{
    pawl_endpoint_options with = *options;
    reading              *r    = calloc(1, sizeof *r);
    assert_non_null(r);
    broker = (struct broker){.channel = 1};
    atomic_store(&gone, 0);
    atomic_store(&losses, 0);
    failures_left = 0;
    world_forget(&happened);
    must(pawl_inbound_register(&list, world_error()));
    if (with.transport == NULL)
        with.transport = "list://here/";
    world_open(&r->it, url, of, "reader", &with);
    must(pawl__intake_create(r->it.endpoint, &r->inbound, world_error()));
    broker.call = &r->inbound->app_call;
    test_later(close_reading, r);
    return r;
}

static inline reading *open_reading(const char *url, const pawl_endpoint_options *options)
{
    return open_reading_of(&application, url, options);
}

static inline void end_direct(void *context)
{
    reading *r = context;
    pawl__intake_end_offers(r->inbound);
    close(r->inbound->wake_fd);
}

/* From now on messages are for workers first. */
static inline void begin_direct(reading *r)
{
    r->inbound->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pawl__offers_begin(&r->it.endpoint->offers, r->inbound->wake_fd);
    test_later(end_direct, r);
}

static inline pawl_code step(reading *r, size_t *count)
{
    pawl_error error = PAWL_ERROR_INIT;
    return pawl__intake_step(r->inbound, 0, -1, count, &error);
}

static inline void takes_in(reading *r, size_t expected)
{
    size_t count = 0;
    assert_int_equal(step(r, &count), PAWL_OK);
    assert_int_equal(count, expected);
}

#endif
