/* topology.c - declares the queue or exchange of a route when it is first used on a connection, and the queue and
 * bindings of an endpoint when it starts to read. Declaring what exists already, with the same properties, changes
 * nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transport/rabbitmq/rabbitmq.h"

#include <string.h>

#define NAMES_MAX 4096 /* beyond this, names are declared again */

/* ---- Names ------------------------------------------------------------------------------ */

void pawl__rabbitmq_names_forget(pawl__rabbitmq_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        pawl_free(names->items[i]);
    pawl_free(names->items);
    *names = (pawl__rabbitmq_names){0};
}

static bool knows(const pawl__rabbitmq_names *names, amqp_bytes_t name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strlen(names->items[i]) == name.len &&
            memcmp(names->items[i], name.bytes, name.len) == 0)
            return true;
    return false;
}

/* Remembers a declared name; without memory it is declared again later. */
static void keep(pawl__rabbitmq_names *names, amqp_bytes_t name)
{
    if (names->items == NULL)
        names->items = pawl_allocate(NAMES_MAX * sizeof names->items[0]);
    char *copy =
        names->items != NULL && names->count < NAMES_MAX ? pawl_allocate(name.len + 1) : NULL;
    if (copy == NULL)
        return;
    memcpy(copy, name.bytes, name.len);
    names->items[names->count++] = copy;
}

/* ---- Declaring ----------------------------------------------------------------------------- */

static bool is_lost(const amqp_rpc_reply_t *reply)
{
    return reply->reply_type != AMQP_RESPONSE_NORMAL &&
           !(reply->reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
             reply->reply.id == AMQP_CHANNEL_CLOSE_METHOD);
}

static amqp_rpc_reply_t open_channel(pawl__rabbitmq *self)
{
    amqp_rpc_reply_t reply = {.reply_type = AMQP_RESPONSE_NORMAL};
    if (self->can_declare)
        return reply;
    (void)amqp_channel_open(self->connection, PAWL__RABBITMQ_DECLARING);
    reply             = amqp_get_rpc_reply(self->connection);
    self->can_declare = reply.reply_type == AMQP_RESPONSE_NORMAL;
    return reply;
}

/* With a single active consumer the server sends messages to one of several readers, and to another when that one is
 * gone. */
static amqp_rpc_reply_t declare_queue(pawl__rabbitmq *self, amqp_bytes_t name, bool is_single)
{
    amqp_table_entry_t arguments[] = {
        {.key   = amqp_cstring_bytes("x-queue-type"),
         .value = {.kind        = AMQP_FIELD_KIND_UTF8,
                   .value.bytes = amqp_cstring_bytes(self->url.queue_type)}},
        {.key   = amqp_cstring_bytes("x-single-active-consumer"),
         .value = {.kind = AMQP_FIELD_KIND_BOOLEAN, .value.boolean = 1}}};
    const amqp_table_t table = {.num_entries = is_single ? 2 : 1, .entries = arguments};
    (void)amqp_queue_declare(self->connection, PAWL__RABBITMQ_DECLARING, name, false, true, false,
                             false, table);
    return amqp_get_rpc_reply(self->connection);
}

static amqp_rpc_reply_t declare_exchange(pawl__rabbitmq *self, amqp_bytes_t name)
{
    (void)amqp_exchange_declare(self->connection, PAWL__RABBITMQ_DECLARING, name,
                                amqp_cstring_bytes(self->url.exchange_type), false, true, false,
                                false, amqp_empty_table);
    return amqp_get_rpc_reply(self->connection);
}

/* Confirms that the server closed the channel; the next declaration opens it again. */
static void answer_close(pawl__rabbitmq *self)
{
    amqp_channel_close_ok_t ok = {0};
    (void)amqp_send_method(self->connection, PAWL__RABBITMQ_DECLARING, AMQP_CHANNEL_CLOSE_OK_METHOD,
                           &ok);
    self->can_declare = false;
}

static pawl_text refusal(const pawl__rabbitmq *self, const pawl__piece *piece, bool is_queue,
                         const amqp_rpc_reply_t *reply, pawl_arena *arena)
{
    amqp_bytes_t name = is_queue ? piece->envelope.routing_key : piece->envelope.exchange;
    pawl_text    says = pawl__rabbitmq_says(reply);
    int          code = pawl__rabbitmq_reply_code(reply);
    const char  *what = is_queue ? "queue" : "exchange";
    (void)self;
    if (code == AMQP_PRECONDITION_FAILED)
        return pawl_arena_printf(
            arena,
            "%s '%.*s' is there, declared otherwise: give %s-type%s as it is, or "
            "leave it alone by declare=no: %.*s",
            what, (int)name.len, (const char *)name.bytes, what,
            is_queue ? " and single-active-consumer" : "", PAWL_TEXT_ARGS(says));
    return pawl_arena_printf(
        arena,
        "%s '%.*s' cannot be declared; one that is there already is left alone by "
        "declare=no: %.*s",
        what, (int)name.len, (const char *)name.bytes, PAWL_TEXT_ARGS(says));
}

/* Must the exchange be declared? Those named amq.* are the server's. */
static bool is_needed(const pawl__rabbitmq *self, const pawl__piece *piece, amqp_bytes_t name)
{
    return piece->state == PAWL__PIECE_OPEN && !knows(&self->declared, name) &&
           !(name.len >= 4 && memcmp(name.bytes, "amq.", 4) == 0);
}

static pawl_code declare_one(pawl__rabbitmq *self, pawl__piece *piece, pawl_arena *arena,
                             pawl_error *error)
{
    bool             is_queue = piece->envelope.exchange.len == 0;
    amqp_bytes_t     name     = is_queue ? piece->envelope.routing_key : piece->envelope.exchange;
    amqp_rpc_reply_t reply    = {.reply_type = AMQP_RESPONSE_NORMAL};
    if (!is_needed(self, piece, name))
        return PAWL_OK;
    reply = open_channel(self);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        reply = is_queue ? declare_queue(self, name, self->url.is_single == 1)
                         : declare_exchange(self, name);
    if (is_lost(&reply)) {
        pawl_text says = pawl__rabbitmq_says(&reply);
        return pawl_error_set(error, PAWL_ELOST, "rabbitmq: the declaration of '%.*s': %.*s",
                              (int)name.len, (const char *)name.bytes, PAWL_TEXT_ARGS(says));
    }
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
        keep(&self->declared, name);
    } else {
        /* The exchange serves all messages of the route, unless each type has its own. */
        pawl__piece_fail(piece,
                         self->url.is_per_type ? PAWL_ATTEMPT_TRANSIENT : PAWL_ATTEMPT_UNREACHABLE,
                         refusal(self, piece, is_queue, &reply, arena));
        answer_close(self);
    }
    amqp_maybe_release_buffers(self->connection);
    return PAWL_OK;
}

pawl_code pawl__rabbitmq_declare(pawl__rabbitmq *self, pawl__posting *posting, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; i < posting->count && self->url.declares && code == PAWL_OK; i++)
        code = declare_one(self, &posting->pieces[i], posting->arena, error);
    return code;
}

/* ---- What an endpoint reads ----------------------------------------------------------------- */

static amqp_rpc_reply_t bind(pawl__rabbitmq *self, const char *queue, amqp_bytes_t exchange)
{
    const char *key = self->url.routing_key != NULL ? self->url.routing_key : queue;
    (void)amqp_queue_bind(self->connection, PAWL__RABBITMQ_DECLARING, amqp_cstring_bytes(queue),
                          exchange, amqp_cstring_bytes(key), amqp_empty_table);
    return amqp_get_rpc_reply(self->connection);
}

/* Ends a declaration. A refusal closes the channel only; the connection stays usable. */
static pawl_code end_declaration(pawl__rabbitmq *self, const amqp_rpc_reply_t *reply,
                                 const char *what, amqp_bytes_t name, pawl_error *error)
{
    pawl_text   says = pawl__rabbitmq_says(reply);
    const char *hint =
        pawl__rabbitmq_reply_code(reply) == AMQP_PRECONDITION_FAILED
            ? "give its type, and of a queue single-active-consumer, as it is, or leave it "
              "alone by declare=no"
            : "one that is there already is left alone by declare=no";
    if (reply->reply_type == AMQP_RESPONSE_NORMAL)
        return PAWL_OK;
    if (is_lost(reply))
        return pawl_error_set(error, PAWL_ELOST, "rabbitmq: the declaration of %s '%.*s': %.*s",
                              what, (int)name.len, (const char *)name.bytes, PAWL_TEXT_ARGS(says));
    pawl_error_set(error, PAWL_ECONFIG, "rabbitmq: %s '%.*s' cannot be declared: %s: %.*s", what,
                   (int)name.len, (const char *)name.bytes, hint, PAWL_TEXT_ARGS(says));
    answer_close(self);
    return PAWL_ECONFIG;
}

static pawl_code subscribe(pawl__rabbitmq *self, const char *queue, amqp_bytes_t exchange,
                           pawl_error *error)
{
    amqp_rpc_reply_t reply = {.reply_type = AMQP_RESPONSE_NORMAL};
    if (!(exchange.len >= 4 && memcmp(exchange.bytes, "amq.", 4) == 0))
        reply = declare_exchange(self, exchange);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        reply = bind(self, queue, exchange);
    return end_declaration(self, &reply, "exchange", exchange, error);
}

/* The URL decides, else the endpoint's need. */
static bool is_single(const pawl__rabbitmq *self, const pawl_inbound_options *options)
{
    return self->url.is_single < 0 ? options->is_ordered : self->url.is_single == 1;
}

pawl_code pawl__rabbitmq_declare_intake(pawl__rabbitmq *self, const pawl_inbound_options *options,
                                        pawl_error *error)
{
    amqp_bytes_t     queue = amqp_cstring_bytes(options->queue);
    amqp_rpc_reply_t reply = {.reply_type = AMQP_RESPONSE_NORMAL};
    if (!self->url.declares)
        return PAWL_OK;
    reply = open_channel(self);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        reply = declare_queue(self, queue, is_single(self, options));
    pawl_code code = end_declaration(self, &reply, "queue", queue, error);
    if (code == PAWL_OK && self->url.exchange[0] != '\0')
        code = subscribe(self, options->queue, amqp_cstring_bytes(self->url.exchange), error);
    for (size_t i = 0; self->url.is_per_type && i < options->type_count && code == PAWL_OK; i++)
        code = subscribe(self, options->queue, pawl__amqp_bytes(options->types[i]), error);
    amqp_maybe_release_buffers(self->connection);
    return code;
}

pawl_code pawl__rabbitmq_remove_queue(pawl__rabbitmq *self, const char *queue, pawl_error *error)
{
    amqp_rpc_reply_t reply = open_channel(self);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
        (void)amqp_queue_delete(self->connection, PAWL__RABBITMQ_DECLARING,
                                amqp_cstring_bytes(queue), false, false);
        reply = amqp_get_rpc_reply(self->connection);
    }
    if (reply.reply_type == AMQP_RESPONSE_NORMAL ||
        pawl__rabbitmq_reply_code(&reply) == AMQP_NOT_FOUND)
        return PAWL_OK;
    pawl_text says = pawl__rabbitmq_says(&reply);
    return pawl_error_set(error, is_lost(&reply) ? PAWL_ELOST : PAWL_EDENIED,
                          "rabbitmq: queue '%s' cannot be removed: %.*s", queue,
                          PAWL_TEXT_ARGS(says));
}
