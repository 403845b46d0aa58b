/* rabbitmq_fixture.h - an application that sends through the outbox to a RabbitMQ, and a connection of the
 * test's own that looks what arrived.
 *
 *     broker_open -> { far_open -> far_send -> world_* -> far_close, broker_* }* -> broker_close
 *
 * Whatever fails fails the test. Names of queues and exchanges are of the process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_RABBITMQ_FIXTURE_H
#define PAWL_TESTS_RABBITMQ_FIXTURE_H

#include "pawl/store_alarm.h"

#include "support/required.h"
#include "support/world.h"

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <sys/time.h>
#include <unistd.h>

PAWL_RECORD(note, A_NUMBER);
RECORD(call, (INT32, number), (INT32, count));

static pawl_code on_call(pawl_context *ctx, const call *message)
{
    pawl_code code = PAWL_OK;
    for (int32_t i = 0; i < message->count && code == PAWL_OK; i++)
        code = pawl_send(ctx, "far", PAWL_MESSAGE(note, .number = message->number + i));
    return code;
}
PAWL_MESSAGE_HANDLER(on_call, call);

static const pawl_application application =
    ONE_ENDPOINT("broker", .name = "source", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_call)}));

/* ---- The broker -------------------------------------------------------------------------- */

typedef struct broker {
    amqp_connection_state_t connection;
    char                    server[200]; /* "amqp://guest:guest@127.0.0.1:5672/" */
    char                    host[100];
    int                     port;
} broker;

static inline void broker_connect(broker *b)
{
    b->connection         = amqp_new_connection();
    amqp_socket_t *socket = amqp_tcp_socket_new(b->connection);
    if (amqp_socket_open(socket, b->host, b->port) != 0)
        fail_msg("no connection to %s:%d", b->host, b->port);
    amqp_rpc_reply_t reply =
        amqp_login(b->connection, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
    assert_int_equal(reply.reply_type, AMQP_RESPONSE_NORMAL);
    (void)amqp_channel_open(b->connection, 1);
    assert_int_equal(amqp_get_rpc_reply(b->connection).reply_type, AMQP_RESPONSE_NORMAL);
}

static inline void broker_open(broker *b, const char *server)
{
    snprintf(b->server, sizeof b->server, "%s", server);
    if (sscanf(server, "amqp://guest:guest@%99[^:]:%d/", b->host, &b->port) != 2)
        fail_msg("%s is not a URL of guest:guest@host:port", server);
    broker_connect(b);
}

static inline void broker_close(broker *b)
{
    (void)amqp_connection_close(b->connection, AMQP_REPLY_SUCCESS);
    (void)amqp_destroy_connection(b->connection);
    b->connection = NULL;
}

static inline void broker_ok(broker *b)
{
    assert_int_equal(amqp_get_rpc_reply(b->connection).reply_type, AMQP_RESPONSE_NORMAL);
}

/* "pawl-1234-name" */
static inline const char *own_name(const char *name)
{
    static char names[8][80];
    static int  next;
    char       *text = names[next++ % 8];
    snprintf(text, sizeof names[0], "pawl-%d-%s", (int)getpid(), name);
    return text;
}

static inline void broker_queue(broker *b, const char *name, const char *type)
{
    amqp_table_entry_t entry = {
        .key   = amqp_cstring_bytes("x-queue-type"),
        .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes(type)}};
    (void)amqp_queue_declare(b->connection, 1, amqp_cstring_bytes(name), false, true, false, false,
                             (amqp_table_t){1, &entry});
    broker_ok(b);
}

static inline void broker_bind(broker *b, const char *queue, const char *exchange, const char *key)
{
    (void)amqp_queue_bind(b->connection, 1, amqp_cstring_bytes(queue), amqp_cstring_bytes(exchange),
                          amqp_cstring_bytes(key), amqp_empty_table);
    broker_ok(b);
}

static inline void broker_delete(broker *b, const char *queue)
{
    (void)amqp_queue_delete(b->connection, 1, amqp_cstring_bytes(queue), false, false);
    broker_ok(b);
}

static inline void broker_delete_exchange(broker *b, const char *exchange)
{
    (void)amqp_exchange_delete(b->connection, 1, amqp_cstring_bytes(exchange), false);
    broker_ok(b);
}

/* The next message of the queue, whose message is to be destroyed; false when it is empty. */
static inline bool broker_get(broker *b, const char *queue, amqp_message_t *message)
{
    amqp_maybe_release_buffers(b->connection);
    amqp_rpc_reply_t reply = amqp_basic_get(b->connection, 1, amqp_cstring_bytes(queue), true);
    if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
        reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const amqp_channel_close_t *closed = reply.reply.decoded;
        fail_msg("%s: %.*s", queue, (int)closed->reply_text.len,
                 (const char *)closed->reply_text.bytes);
    }
    assert_int_equal(reply.reply_type, AMQP_RESPONSE_NORMAL);
    if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD)
        return false;
    reply = amqp_read_message(b->connection, 1, message, 0);
    assert_int_equal(reply.reply_type, AMQP_RESPONSE_NORMAL);
    return true;
}

static inline void bytes_are(amqp_bytes_t bytes, const char *expected)
{
    bool is_same = bytes.len == strlen(expected) &&
                   (bytes.len == 0 || memcmp(bytes.bytes, expected, bytes.len) == 0);
    if (!is_same)
        fail_msg("'%.*s' is not '%s'", (int)bytes.len, (const char *)bytes.bytes, expected);
}

/* The number in a note; a body has no NUL at its end. */
static inline int note_number(const amqp_message_t *message)
{
    char body[60] = "";
    int  number   = -1;
    assert_true(message->body.len < sizeof body);
    if (message->body.len > 0)
        memcpy(body, message->body.bytes, message->body.len);
    assert_int_equal(sscanf(body, "{\"number\":%d}", &number), 1);
    return number;
}

static inline void header_is(const amqp_message_t *message, const char *key, const char *expected)
{
    const amqp_table_t *headers = &message->properties.headers;
    for (int i = 0; i < headers->num_entries; i++)
        if (headers->entries[i].key.len == strlen(key) &&
            memcmp(headers->entries[i].key.bytes, key, strlen(key)) == 0) {
            bytes_are(headers->entries[i].value.value.bytes, expected);
            return;
        }
    fail_msg("there is no header %s", key);
}

/* ---- The world ------------------------------------------------------------------------------- */

typedef struct far {
    world      it;
    char       store[1000];
    char       url[400];
    pawl_route routes[2];
} far;

static inline void far_close(void *context)
{
    far *f = context;
    world_close(&f->it);
    scenario_forget(f->store);
    free(f);
}

/* Until the test ends. */
static inline far *far_open_url(const char *url, const char *queue, int32_t attempts)
{
    far *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->routes[0] = (pawl_route){.name = "far", .url = f->url, .queue = queue};
    snprintf(f->url, sizeof f->url, "%s", url);
    pawl_endpoint_options options = {
        .routes = f->routes, .outbox_batch = 100, .outbox_attempts = attempts};
    assert_true(scenario_url("memory", f->store, sizeof f->store));
    world_open(&f->it, f->store, &application, "source", &options);
    test_later(far_close, f);
    return f;
}

/* `query` follows the server's URL: "?declare=no". */
static inline far *far_open(const broker *b, const char *query, const char *queue)
{
    return far_open_url(test_text("%s%s", b->server, query), queue, 100);
}

/* Enters messages numbered from `first` on, without delivering more than a step does. */
static inline void far_post(far *f, int32_t first, int32_t count)
{
    world_post(&f->it, NULL, PAWL_MESSAGE(call, .number = first, .count = count));
}

static inline void far_send(far *f, int32_t first, int32_t count)
{
    far_post(f, first, count);
    world_drain(&f->it);
}

static inline size_t far_count(far *f, pawl_outbox_state state)
{
    return world_outbox(&f->it, state).count;
}

/* The error of the last attempt of the only pending row, or the alarm while it was not tried, says the part, and no
 * password. */
static inline void far_says(far *f, const char *part)
{
    pawl_alarm_rows  alarms = {.count = 0};
    pawl_outbox_rows rows   = world_outbox(&f->it, PAWL_OUTBOX_PENDING);
    if (rows.count == 0)
        rows = world_outbox(&f->it, PAWL_OUTBOX_DEAD);
    assert_int_equal(rows.count, 1);
    pawl_attempt_rows attempts = world_attempts(&f->it, rows.items[0].id);
    if (attempts.count == 0)
        must(pawl_store_alarms(f->it.store, f->it.arena, &alarms, world_error()));
    assert_true(attempts.count + alarms.count > 0);
    const char *text = attempts.count > 0 ? attempts.items[attempts.count - 1].error.data
                                          : alarms.items[0].text.data;
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not say '%s'", text, part);
    if (strstr(text, "guest:guest") != NULL || strstr(text, "Se-kret") != NULL)
        fail_msg("'%s' shows a password", text);
}

#endif
