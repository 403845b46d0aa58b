/* rabbitmq.c - the sink: one call of it, and its table.
 *
 * Messages of one call are published one behind the other without waiting, and each is settled by its own
 * confirm, so that one may fail and the next arrive: the sink does not promise PAWL_TRANSPORT_PREFIX, and
 * the runner hands over one message of a source at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transport/rabbitmq/rabbitmq.h"

#include "pawl/loop.h"

#include <string.h>

static pawl_code open_rabbitmq(pawl_transport *transport, const char *url,
                               const char *system_prefix, pawl_error *error)
{
    (void)system_prefix;
    pawl__rabbitmq *self = (pawl__rabbitmq *)transport;
    self->name           = "pawl outbox";
    return pawl__rabbitmq_url_read(&self->url, PAWL__RABBITMQ_ROUTE, url, error);
}

static void close_rabbitmq(pawl_transport *transport)
{
    pawl__rabbitmq *self = (pawl__rabbitmq *)transport;
    pawl__rabbitmq_disconnect(self, true);
    pawl__rabbitmq_url_free(&self->url);
}

/* ---- A call ------------------------------------------------------------------------------- */

static pawl_code prepare(pawl__rabbitmq *self, pawl_delivery *items, size_t count,
                         pawl__posting *posting)
{
    pawl_time now   = pawl_clock_now(NULL);
    posting->pieces = pawl_arena_take(posting->arena, (count + 1) * sizeof posting->pieces[0]);
    pawl_code code  = posting->pieces != NULL ? PAWL_OK : PAWL_ENOMEM;
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        pawl__piece *piece = &posting->pieces[posting->count++];
        pawl_text    why   = {.data = "", .size = 0};
        *piece             = (pawl__piece){.item = &items[i]};
        code =
            pawl__envelope_make(&self->url, &items[i], now, posting->arena, &piece->envelope, &why);
        if (why.size > 0)
            pawl__piece_fail(piece, PAWL_ATTEMPT_REJECTED, why);
    }
    return code;
}

static size_t count_open(pawl__posting *posting)
{
    size_t count = 0;
    for (size_t i = 0; i < posting->count; i++) {
        pawl__piece *piece = &posting->pieces[i];
        if (piece->state == PAWL__PIECE_SENT)
            piece->state = PAWL__PIECE_OPEN; /* nobody knows, so that it is published again */
        count += piece->state == PAWL__PIECE_OPEN;
    }
    posting->sent_count = 0;
    return count;
}

static pawl_code try_once(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    self->was_idle = self->connection != NULL;
    if (count_open(posting) == 0)
        return code;
    if (self->connection == NULL)
        code = pawl__rabbitmq_connect(self, error);
    /* Connecting, which tries one host after another, has a time of its own. */
    posting->end = posting->end_whole = pawl__rabbitmq_now() + PAWL_SECONDS(self->url.timeout_s);
    if (code == PAWL_OK)
        code = pawl__rabbitmq_declare(self, posting, error);
    if (code == PAWL_OK)
        code = pawl__rabbitmq_publish(self, posting, error);
    if (code != PAWL_OK) /* of a closed channel the host is well, and is tried first again */
        pawl__rabbitmq_disconnect(self, code == PAWL_EPERSIST);
    return code;
}

/* The server closes the channel at a message that it cannot take, and does not say at which: each goes out alone, up to its
 * confirm. */
static pawl_code try_each(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < posting->count && code == PAWL_OK; i++) {
        pawl__posting one = {.pieces = &posting->pieces[i], .count = 1, .arena = posting->arena};
        code              = try_once(self, &one, error);
        if (code != PAWL_EPERSIST)
            continue;
        pawl__piece_fail(one.pieces, PAWL_ATTEMPT_TRANSIENT,
                         pawl_arena_text(posting->arena, pawl_text_of(error->text)));
        code = PAWL_OK;
    }
    return code;
}

/* A server that confirmed nothing is asked with one message first, so that a long outage makes few copies; with another one
 * each time, as it may be that message which is never confirmed. */
static pawl_code try_first(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    pawl__posting one = {.pieces = &posting->pieces[self->silences % posting->count],
                         .count  = 1,
                         .arena  = posting->arena};
    return self->silences > 0 ? try_once(self, &one, error) : PAWL_OK;
}

/* Was the time over, and of all that was published nothing settled? Then other messages would wait as long for nothing. */
static bool is_silent(const pawl__posting *posting, pawl_code code)
{
    bool is_any = code != PAWL_ETIMEOUT;
    for (size_t i = 0; i < posting->count; i++)
        is_any |= posting->pieces[i].tag != 0 && posting->pieces[i].state == PAWL__PIECE_DONE;
    return !is_any;
}

/* A connection that could not be made, a call that sent nothing, and one that the server left without any answer: of no
 * message that is an attempt. */
static bool is_outage(const pawl__posting *posting, pawl_code code)
{
    size_t sent = 0;
    for (size_t i = 0; i < posting->count; i++)
        sent += posting->pieces[i].tag != 0;
    return code == PAWL_EUNREACHABLE || code == PAWL_EDENIED || is_silent(posting, code) ||
           (sent == 0 && code != PAWL_ENOMEM);
}

/* Of the messages without an outcome the failure is that of the call. The call itself does not fail, or the outbox would
 * close the transport, which then forgets which host failed. */
static void share_failure(pawl__posting *posting, pawl_code code, const pawl_error *error)
{
    size_t open_count = count_open(posting);
    if (code == PAWL_OK || open_count == 0)
        return;
    bool      is_away = is_outage(posting, code);
    pawl_text why     = pawl_arena_text(posting->arena, pawl_text_of(error->text));
    for (size_t i = 0; i < posting->count; i++)
        if (posting->pieces[i].state == PAWL__PIECE_OPEN)
            pawl__piece_fail(&posting->pieces[i],
                             is_away ? PAWL_ATTEMPT_UNREACHABLE : PAWL_ATTEMPT_TRANSIENT, why);
    if (!is_away)
        pawl_log(PAWL_LOG_WARNING, "outbox: %zu of %zu messages not delivered: %s", open_count,
                 posting->count, error->text);
}

static pawl_code deliver(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    pawl__rabbitmq *self    = (pawl__rabbitmq *)transport;
    pawl__posting   posting = {.arena = arena};
    pawl_code       code    = prepare(self, items, count, &posting);
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "rabbitmq: no memory for %zu messages", count);
    code = try_first(self, &posting, error);
    if (code == PAWL_OK)
        code = try_once(self, &posting, error);
    /* A connection that broke while nothing was sent is noticed only now: that is worth one more try
     * at once. */
    if (code == PAWL_ELOST && self->was_idle)
        code = try_once(self, &posting, error);
    if (code == PAWL_EPERSIST && count_open(&posting) > 1)
        code = try_each(self, &posting, error);
    if (is_silent(&posting, code))
        self->silences++;
    else if (code == PAWL_OK)
        self->silences = 0;
    share_failure(&posting, code, error);
    return PAWL_OK;
}

PAWL_API extern const pawl_transport_ops pawl_transport_driver;
const pawl_transport_ops                 pawl_transport_driver = {
                    .ops_size       = sizeof(pawl_transport_ops),
                    .transport_size = sizeof(pawl__rabbitmq),
                    .scheme         = "amqp",
                    .open           = open_rabbitmq,
                    .close          = close_rabbitmq,
                    .deliver        = deliver,
};
