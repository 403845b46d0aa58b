/* rabbitmq.c - the outbound transport's table, and one call that delivers messages.
 *
 * Messages of a call are published without waiting, and each is settled by its own confirm, so one may fail and the
 * next arrive. Hence the transport does not promise PAWL_TRANSPORT_PREFIX, and the outbox passes one message of an
 * ordering key at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transport/rabbitmq/rabbitmq.h"

#include "pawl/loop.h"

#include <limits.h>
#include <string.h>

/* After a call in which only some messages were confirmed, this many calls without any confirm count as attempts,
 * within SOME_TIME. Without that limit a much later outage would use up attempts. */
#define SILENCES_OF_SOME 3
#define SOME_TIME PAWL_MINUTES(10)

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
        size_t       item  = (i + (size_t)(self->silences > 0 ? self->silences : 0)) % count;
        pawl__piece *piece = &posting->pieces[posting->count++];
        pawl_text    why   = {.data = "", .size = 0};
        *piece             = (pawl__piece){.item = &items[item]};
        code = pawl__envelope_make(&self->url, piece->item, now, posting->arena, &piece->envelope,
                                   &why);
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
            piece->state = PAWL__PIECE_OPEN; /* its outcome is unknown, so it is published again */
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
    /* The time starts here; connecting, which tries several hosts, has a limit of its own. */
    posting->end = posting->end_whole = pawl__rabbitmq_now() + PAWL_SECONDS(self->url.timeout_s);
    if (code == PAWL_OK)
        code = pawl__rabbitmq_declare(self, posting, error);
    if (code == PAWL_OK)
        code = pawl__rabbitmq_publish(self, posting, error);
    if (code != PAWL_OK) /* of a closed channel the host is well, and is tried first again */
        pawl__rabbitmq_disconnect(self, code == PAWL_EPERSIST || code == PAWL_EDENIED);
    return code;
}

/* The server closes the channel at a message that it cannot accept, without saying which. So each message is sent
 * alone and waits for its confirm. */
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

static bool is_equal(amqp_bytes_t a, amqp_bytes_t b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

static bool has_address_of(const pawl__piece *piece, const pawl__piece *other)
{
    return is_equal(piece->envelope.exchange, other->envelope.exchange) &&
           is_equal(piece->envelope.routing_key, other->envelope.routing_key);
}

/* Moves the first open piece of each exchange and routing key to the front, and returns their number. */
static size_t choose_first(pawl__posting *posting)
{
    size_t count = 0;
    for (size_t i = 0; i < posting->count; i++) {
        pawl__piece piece  = posting->pieces[i];
        bool        is_new = piece.state == PAWL__PIECE_OPEN;
        for (size_t j = 0; j < count && is_new; j++)
            is_new = !has_address_of(&piece, &posting->pieces[j]);
        if (is_new) {
            posting->pieces[i]       = posting->pieces[count];
            posting->pieces[count++] = piece;
        }
    }
    return count;
}

/* Is the time over without any confirm? Other messages would then wait as long in vain. */
static bool is_silent(const pawl__posting *posting, pawl_code code)
{
    bool is_any = code != PAWL_ETIMEOUT;
    for (size_t i = 0; i < posting->count; i++)
        is_any |= posting->pieces[i].tag != 0 && posting->pieces[i].state == PAWL__PIECE_DONE;
    return !is_any;
}

/* Sends one message per exchange and routing key first, if the server confirmed nothing last time: a long outage then
 * makes few copies, and a single silent queue is told from a silent server. `prepare` begins with another message each
 * time, since one of them may never be confirmed. */
static pawl_code try_first(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    if (self->silences <= 0)
        return PAWL_OK;
    pawl__posting one  = {.pieces = posting->pieces, .arena = posting->arena};
    one.count          = choose_first(posting);
    pawl_code code     = try_once(self, &one, error);
    bool      is_there = code == PAWL_ETIMEOUT && !is_silent(&one, code);
    return is_there ? PAWL_OK : code;
}

/* Is the failure an outage, which is no attempt of any message? Connecting failed, an exchange is missing or refused,
 * nothing was sent, or the server did not answer at all (unless it confirmed other messages not long ago). */
static bool is_outage(const pawl__rabbitmq *self, const pawl__posting *posting, pawl_code code)
{
    size_t sent = 0;
    for (size_t i = 0; i < posting->count; i++)
        sent += posting->pieces[i].tag != 0;
    return code == PAWL_EUNREACHABLE || code == PAWL_EDENIED ||
           (self->silences > 0 && is_silent(posting, code)) || (sent == 0 && code != PAWL_ENOMEM);
}

/* Gives messages without an outcome the failure of the call. The call itself returns PAWL_OK, as otherwise the outbox
 * would close the transport, which would then forget which host failed. */
static void share_failure(const pawl__rabbitmq *self, pawl__posting *posting, pawl_code code,
                          const pawl_error *error)
{
    if (count_open(posting) == 0 || code == PAWL_OK)
        return;
    bool      is_away = is_outage(self, posting, code);
    pawl_text why     = pawl_arena_text(posting->arena, pawl_text_of(error->text));
    for (size_t i = 0; i < posting->count; i++)
        if (posting->pieces[i].state == PAWL__PIECE_OPEN)
            pawl__piece_fail(&posting->pieces[i],
                             is_away ? PAWL_ATTEMPT_UNREACHABLE : PAWL_ATTEMPT_TRANSIENT, why);
}

/* If only some messages were confirmed, the server works: later calls with the others alone count as attempts. A call
 * with all messages confirmed does not reset this, as it may not have contained those others; without attempts a
 * message that is never confirmed would block the route forever. */
static void note_silence(pawl__rabbitmq *self, const pawl__posting *posting, pawl_code code)
{
    if (is_silent(posting, code)) {
        self->silences += self->silences < INT_MAX;
    } else if (code == PAWL_ETIMEOUT) {
        self->silences = -SILENCES_OF_SOME;
        self->some_at  = pawl__rabbitmq_now();
    } else if (code == PAWL_OK && self->silences > 0) {
        self->silences = 0;
    }
}

static pawl_code deliver(pawl_transport *transport, pawl_delivery *items, size_t count,
                         pawl_arena *arena, pawl_error *error)
{
    pawl__rabbitmq *self    = (pawl__rabbitmq *)transport;
    pawl__posting   posting = {.arena = arena};
    pawl_code       code    = prepare(self, items, count, &posting);
    if (self->silences < 0 && pawl__rabbitmq_now() - self->some_at >= SOME_TIME)
        self->silences = 0;
    if (code != PAWL_OK)
        return pawl_error_set(error, code, "rabbitmq: no memory for %zu messages", count);
    code = try_first(self, &posting, error);
    if (code == PAWL_OK)
        code = try_once(self, &posting, error);
    /* A connection that broke while idle is noticed only here: one more try at once. */
    if (code == PAWL_ELOST && self->was_idle)
        code = try_once(self, &posting, error);
    if (code == PAWL_EPERSIST && count_open(&posting) > 1)
        code = try_each(self, &posting, error);
    note_silence(self, &posting, code);
    share_failure(self, &posting, code, error);
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
