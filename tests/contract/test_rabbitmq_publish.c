/* test_rabbitmq_publish.c - rows of a real outbox delivered to a real RabbitMQ: what arrives, and what the row says when
 * the server does not take it. O9, O10.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/rabbitmq_fixture.h"
#include "support/tests.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <time.h>

static broker server;

static void says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not say '%s'", text, part);
}

/* ---- What arrives ------------------------------------------------------------------------ */

TEST(o9_a_thousand_arrive_in_a_quorum_queue)
{
    static bool seen[1001];
    const char *queue = own_name("thousand");
    memset(seen, 0, sizeof seen);
    far *f = far_open(&server, "", queue);
    far_send(f, 1, 1000);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1000);
    broker_queue(&server, queue, "quorum"); /* as it was declared */
    for (int i = 0; i < 1000; i++) {
        amqp_message_t message;
        assert_true(broker_get(&server, queue, &message));
        int number = note_number(&message);
        assert_in_range(number, 1, 1000);
        assert_false(seen[number]);
        seen[number] = true;
        assert_int_equal(message.properties.delivery_mode, 2);
        bytes_are(message.properties.type, "note");
        bytes_are(message.properties.content_type, "application/json");
        assert_true(message.properties.message_id.len > 0);
        amqp_destroy_message(&message);
    }
    broker_delete(&server, queue);
}

TEST(a_body_over_the_frames_of_amqp_arrives_whole)
{
    amqp_message_t message;
    size_t         size  = 300000;
    char          *body  = malloc(size + 20);
    const char    *queue = own_name("large");
    assert_non_null(body);
    strcpy(body, "{\"text\":\"");
    memset(body + strlen(body), 'x', size);
    strcpy(body + strlen("{\"text\":\"") + size, "\"}");
    far            *f             = far_open(&server, "", queue);
    pawl_message    large         = {.id             = PAWL_TEXT("m-large"),
                                     .type           = PAWL_TEXT("letter"),
                                     .body           = pawl_text_of(body),
                                     .headers        = PAWL_TEXT("{\"tone\":\"kind\",\"empty\":\"\"}"),
                                     .correlation_id = PAWL_TEXT("c-1"),
                                     .causation_id   = PAWL_TEXT("m-0")};
    pawl_outbox_add add           = {.endpoint    = PAWL_TEXT("source"),
                                     .destination = PAWL_TEXT("far"),
                                     .source      = PAWL_TEXT(""),
                                     .message     = large};
    pawl_changes    changes       = {ONE_UNIT, .outbox_add = {.items = &add, .count = 1}};
    pawl_refusals   refused       = {.arena = f->it.arena};
    add.dispatch_id.uuid.bytes[0] = 7;
    must(pawl_store_commit(f->it.store, &changes, &refused, world_error()));
    world_go_machine(&f->it, PAWL_SECONDS(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    assert_true(broker_get(&server, queue, &message));
    assert_int_equal(message.body.len, strlen(body));
    assert_memory_equal(message.body.bytes, body, message.body.len);
    bytes_are(message.properties.message_id, "m-large");
    bytes_are(message.properties.correlation_id, "c-1");
    header_is(&message, "tone", "kind");
    header_is(&message, "empty", "");
    header_is(&message, "pawl.causation_id", "m-0");
    amqp_destroy_message(&message);
    broker_delete(&server, queue);
    free(body);
}

TEST(an_exchange_leads_by_the_key)
{
    amqp_message_t message;
    const char    *queue = own_name("bound"), *exchange = own_name("events");
    far           *f = far_open(
                  &server, test_text("?exchange=%s&routing_key=note.made&exchange-type=direct", exchange),
                  NULL);
    far_send(f, 1, 1); /* makes the exchange, which nothing is bound to */
    assert_int_equal(far_count(f, PAWL_OUTBOX_PENDING), 1);
    far_says(f, "no queue is bound to exchange 'pawl-");
    far_says(f, "for the key 'note.made' (returned: NO_ROUTE); mandatory=no takes that for");
    broker_queue(&server, queue, "classic");
    broker_bind(&server, queue, exchange, "note.made");
    world_go_machine(&f->it, PAWL_HOURS(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    assert_true(broker_get(&server, queue, &message));
    amqp_destroy_message(&message);
    assert_false(broker_get(&server, queue, &message));
    broker_delete(&server, queue);
    broker_delete_exchange(&server, exchange);
}

TEST(each_type_has_its_exchange)
{
    amqp_message_t message;
    const char    *queue = own_name("subscriber");
    far           *f     = far_open(&server, "?per-type=yes&headers=nservicebus", NULL);
    far_send(f, 1, 1); /* nobody subscribes, which is not a failure */
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    broker_queue(&server, queue, "classic");
    broker_bind(&server, queue, "note", "");
    far_send(f, 2, 1);
    assert_true(broker_get(&server, queue, &message));
    bytes_are(message.body, "{\"number\":2}");
    amqp_destroy_message(&message);
    assert_false(broker_get(&server, queue, &message));
    broker_delete(&server, queue);
    broker_delete_exchange(&server, "note");
}

/* ---- What does not ---------------------------------------------------------------------- */

TEST(a_queue_that_is_missing_returns_the_message)
{
    const char *queue = own_name("missing");
    far        *f     = far_open(&server, "?declare=no", queue);
    far_send(f, 1, 1);
    assert_int_equal(far_count(f, PAWL_OUTBOX_PENDING), 1);
    far_says(f, "RabbitMQ has no queue 'pawl-");
    broker_queue(&server, queue, "classic");
    world_go_machine(&f->it, PAWL_HOURS(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    broker_delete(&server, queue);
}

/* Somebody has deleted it since this connection declared it. */
TEST(a_queue_that_is_deleted_is_declared_again)
{
    const char *queue = own_name("deleted");
    far        *f     = far_open(&server, "", queue);
    far_send(f, 1, 1);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    broker_delete(&server, queue);
    far_send(f, 2, 1);
    far_says(f, "RabbitMQ has no queue 'pawl-");
    world_go_machine(&f->it, PAWL_MINUTES(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 2);
    broker_delete(&server, queue);
}

TEST(a_queue_declared_otherwise_is_named)
{
    const char *queue = own_name("classic");
    broker_queue(&server, queue, "classic");
    far *f = far_open(&server, "", queue);
    far_send(f, 1, 1);
    far_says(
        f,
        "is there, declared otherwise: give queue-type and single-active-consumer as it is, or leave it alone by "
        "declare=no: PRECONDITION_FAILED");
    /* The route is away, which an alarm says, and the row waits without an attempt. */
    assert_int_equal(far_count(f, PAWL_OUTBOX_PENDING), 1);
    assert_int_equal(world_outbox(&f->it, PAWL_OUTBOX_PENDING).items[0].attempts, 0);
    world_go_machine(&f->it, PAWL_HOURS(1));
    assert_int_equal(world_outbox(&f->it, PAWL_OUTBOX_PENDING).items[0].attempts, 0);
    broker_delete(&server, queue);
    world_go_machine(&f->it, PAWL_MINUTES(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    broker_delete(&server, queue);
    broker_queue(&server, queue, "classic");
    test_now(f);
    f = far_open(&server, "?queue-type=classic", queue);
    far_send(f, 1, 1);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    broker_delete(&server, queue);
}

/* A port that takes connections, and says nothing. */
static int listen_mutely(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t          size    = sizeof address;
    int                made    = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr    = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(made, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(made, 9), 0);
    assert_int_equal(getsockname(made, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return made;
}

static void add_of_types(far *f, const char *const *types, size_t count)
{
    pawl_outbox_add adds[5];
    char            ids[5][8];
    pawl_changes    changes = {ONE_UNIT, .outbox_add = {.items = adds, .count = count}};
    pawl_refusals   refused = {.arena = f->it.arena};
    assert_in_range(count, 1, 5);
    for (size_t i = 0; i < count; i++) {
        snprintf(ids[i], sizeof ids[i], "m-%d", (int)i);
        adds[i]                           = (pawl_outbox_add){.endpoint    = PAWL_TEXT("source"),
                                                              .destination = PAWL_TEXT("far"),
                                                              .source      = PAWL_TEXT(""),
                                                              .message     = {.id             = pawl_text_of(ids[i]),
                                                                              .type           = pawl_text_of(types[i]),
                                                                              .body           = PAWL_TEXT("{}"),
                                                                              .headers        = PAWL_TEXT(""),
                                                                              .correlation_id = PAWL_TEXT("c-1"),
                                                                              .causation_id   = PAWL_TEXT("")}};
        adds[i].dispatch_id.uuid.bytes[0] = (uint8_t)(i + 1);
    }
    must(pawl_store_commit(f->it.store, &changes, &refused, world_error()));
}

/* Two types have no exchange, at which the server closes the channel. The connection is made anew to the same host, and not to
 * the next one, which hangs. */
TEST(o9_a_message_that_closes_the_channel_fails_alone)
{
    struct timespec from, to;
    int             port;
    int             mute  = listen_mutely(&port);
    const char     *queue = own_name("alone"), *type = own_name("known");
    const char     *types[] = {type, own_name("lost"), type, own_name("lost2"), type};
    far            *f       = far_open_url(test_text("amqp://guest:guest@%s:%d,127.0.0.1:%d/"
                                                                      "?per-type=yes&declare=no&mandatory=yes&connect-timeout=5",
                                                     server.host, server.port, port),
                                           NULL, 100);
    (void)amqp_exchange_declare(server.connection, 1, amqp_cstring_bytes(type),
                                amqp_cstring_bytes("fanout"), false, true, false, false,
                                amqp_empty_table);
    broker_ok(&server);
    broker_queue(&server, queue, "classic");
    broker_bind(&server, queue, type, "");
    add_of_types(f, types, 5);
    clock_gettime(CLOCK_MONOTONIC, &from);
    world_go_machine(&f->it, PAWL_MILLISECONDS(1));
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true(to.tv_sec - from.tv_sec < 5);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 3);
    pawl_outbox_rows left = world_outbox(&f->it, PAWL_OUTBOX_PENDING);
    assert_int_equal(left.count, 2);
    for (size_t i = 0; i < left.count; i++) {
        pawl_attempt_rows attempts = world_attempts(&f->it, left.items[i].id);
        assert_int_equal(attempts.count, 1);
        says(attempts.items[0].error.data, "closed the channel: NOT_FOUND - no exchange 'pawl-");
        says(attempts.items[0].error.data, left.items[i].message.type.data);
    }
    broker_delete(&server, queue);
    broker_delete_exchange(&server, type);
    close(mute);
}

/* Nothing can be sent to it: that is not a failure of a message, and costs no login for each. */
static void expect_route_away(const char *exchange, const char *part)
{
    char            url[500];
    struct timespec from, to;
    int             port;
    int             mute = listen_mutely(&port);
    snprintf(
        url, sizeof url,
        "amqp://guest:guest@%s:%d,127.0.0.1:%d/?declare=no&mandatory=no&connect-timeout=5&exchange=%s",
        server.host, server.port, port, exchange);
    clock_gettime(CLOCK_MONOTONIC, &from);
    far *f = far_open_url(url, "q", 1); /* of one attempt none is used up */
    far_send(f, 1, 3);
    pawl_outbox_rows rows = world_outbox(&f->it, PAWL_OUTBOX_PENDING);
    assert_int_equal(rows.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rows.items[i].attempts, 0);
    pawl_alarm_rows alarms = {.count = 0};
    must(pawl_store_alarms(f->it.store, f->it.arena, &alarms, world_error()));
    assert_int_equal(alarms.count, 1);
    says(alarms.items[0].text.data, part);
    (void)amqp_exchange_delete(server.connection, 1, amqp_cstring_bytes(exchange), false);
    broker_ok(&server);
    (void)amqp_exchange_declare(server.connection, 1, amqp_cstring_bytes(exchange),
                                amqp_cstring_bytes("fanout"), false, true, false, false,
                                amqp_empty_table);
    broker_ok(&server);
    world_go_machine(&f->it, PAWL_MINUTES(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 3);
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true(to.tv_sec - from.tv_sec < 5); /* at the same host, which is well */
    broker_delete_exchange(&server, exchange);
    test_now(f);
    close(mute);
}

TEST(o10_an_exchange_that_is_missing_or_closed_to_the_user_is_an_outage)
{
    const char *exchange = own_name("nowhere");
    expect_route_away(exchange, "closed the channel: NOT_FOUND - no exchange 'pawl-");
    /* An exchange that others may not publish to, as one without the right to write. */
    exchange = own_name("internal");
    (void)amqp_exchange_declare(server.connection, 1, amqp_cstring_bytes(exchange),
                                amqp_cstring_bytes("fanout"), false, true, false, true,
                                amqp_empty_table);
    broker_ok(&server);
    expect_route_away(exchange,
                      "closed the channel: ACCESS_REFUSED - cannot publish to internal exchange");
}

/* The queue that is declared otherwise is refused, and the other of the same call gets its message. */
TEST(a_full_queue_refuses)
{
    const char        *queue     = own_name("full");
    amqp_table_entry_t entries[] = {
        {.key   = amqp_cstring_bytes("x-max-length"),
         .value = {.kind = AMQP_FIELD_KIND_I32, .value.i32 = 1}},
        {.key   = amqp_cstring_bytes("x-overflow"),
         .value = {.kind        = AMQP_FIELD_KIND_UTF8,
                   .value.bytes = amqp_cstring_bytes("reject-publish")}}};
    (void)amqp_queue_declare(server.connection, 1, amqp_cstring_bytes(queue), false, true, false,
                             false, (amqp_table_t){2, entries});
    broker_ok(&server);
    far *f = far_open(&server, "?declare=no", queue);
    far_send(f, 1, 2);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    far_says(f, "did not take it (basic.nack): the queue is full");
    broker_delete(&server, queue);
}

TEST(nobody_listens)
{
    far *f = far_open_url("amqp://guest:Se-kret@127.0.0.1:1/", "q", 2);
    far_send(f, 1, 1);
    far_says(f, "rabbitmq: 127.0.0.1:1: no connection: ");
    far_says(f, ": does RabbitMQ run there, and is it its port of AMQP");
    assert_int_equal(far_count(f, PAWL_OUTBOX_PENDING), 1);
    for (int i = 0; i < 5; i++)
        world_go_machine(&f->it, PAWL_HOURS(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_PENDING), 1); /* of two attempts none is used up */
    assert_int_equal(world_outbox(&f->it, PAWL_OUTBOX_PENDING).items[0].attempts, 0);
}

TEST(the_second_host_is_tried)
{
    const char *queue = own_name("hosts");
    far        *f     = far_open_url(
                   test_text("amqp://guest:guest@127.0.0.1:1,%s:%d", server.host, server.port), queue, 1);
    far_send(f, 1, 1);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    broker_delete(&server, queue);
}

TEST(a_wrong_password_is_told_in_one_line)
{
    far *f =
        far_open_url(test_text("amqp://clerk:Se-kret@%s:%d/", server.host, server.port), "q", 100);
    far_send(f, 1, 1);
    far_says(f, "refuses the user 'clerk' or its password");
    far_says(f, "ACCESS_REFUSED");
    test_now(f);
    f = far_open_url(test_text("%snowhere", server.server), "q", 100);
    far_send(f, 1, 1);
    far_says(f, "virtual host 'nowhere' is not there, or not open to the user 'guest'");
}

/* The connection breaks while nothing is sent: the next message does not fail. */
TEST(a_connection_lost_while_idle_is_made_anew)
{
    const char *queue = own_name("idle");
    far        *f     = far_open(&server, "?heartbeat=1", queue);
    far_send(f, 1, 1);
    /* Two heartbeats of the client are missed, and the server hangs up. */
    struct timeval three_seconds = {.tv_sec = 5};
    amqp_frame_t   frame;
    (void)amqp_simple_wait_frame_noblock(server.connection, &frame, &three_seconds);
    far_send(f, 2, 1);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 2);
    broker_delete(&server, queue);
}

/* ---- Programs that know nothing of pawl ----------------------------------------------------- */

/* The program of docs/INTEROP.md reads three messages; with Debian's interpreter, which has Debian's pika. */
TEST(a_consumer_in_python_reads_what_was_sent)
{
    char        text[3000];
    const char *queue  = own_name("python");
    const char *folder = getenv("PAWL_SOURCE_DIR");
    if (system("/usr/bin/python3 -c 'import pika' 2>/dev/null") != 0) {
        if (!server_may_be_missing("python3-pika"))
            fail_msg("python3-pika is not installed");
        skip();
    }
    far *f = far_open(&server, "?headers=nservicebus", queue);
    far_send(f, 1, 3);
    const char *command =
        test_text("/usr/bin/python3 '%s/examples/interop/consumer.py' '%s' '%s' 3 2>&1",
                  folder != NULL ? folder : ".", server.server, queue);
    FILE *program = popen(command, "r");
    assert_non_null(program);
    text[fread(text, 1, sizeof text - 1, program)] = '\0';
    if (pclose(program) != 0)
        fail_msg("%s: %s", command, text);
    says(text, "\"type\": \"note\"");
    says(text, "\"content_type\": \"application/json\"");
    says(text, "\"persistent\": true");
    says(text, "\"NServiceBus.EnclosedMessageTypes\": \"note\"");
    for (int i = 1; i <= 3; i++)
        says(text, test_text("\"body\": {\"number\": %d}", i));
    amqp_message_t message;
    assert_false(broker_get(&server, queue, &message)); /* acknowledged */
    broker_delete(&server, queue);
}

int main(void)
{
    const char *url = getenv("PAWL_TEST_RABBITMQ");
    if (url == NULL) {
        puts("skipped: PAWL_TEST_RABBITMQ names no server");
        return server_may_be_missing("rabbitmq") ? 77 : 1;
    }
    broker_open(&server, url);
    int failed = tests_run(NULL, NULL);
    broker_close(&server);
    return failed;
}
