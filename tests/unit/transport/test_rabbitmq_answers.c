/* test_rabbitmq_answers.c - answers of a server to a sink, in an order that a real one seldom has: a server of the test's
 * own speaks as much of AMQP as that needs; and one that leaves a reader waiting. O9, O10, E29.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#ifdef PAWL_HAVE_RABBITMQ

#include "contract/rabbitmq_ground.h"

#include "pawl/inbound.h"
#include "pawl/transport.h"
#include "transport/rabbitmq/rabbitmq.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ITEMS 3

/* ---- The server ------------------------------------------------------------------------------ */

typedef struct server {
    int         listener, port, connection;
    const char *blocked_at; /* "begin", "publish"; or NULL */
    bool        is_freed;   /* messages are taken again after a while */
    bool        returns;    /* all messages come back, and then one ack is for all of them */
    int  acked; /* this many alone get their ack, and then the connection breaks, or is blocked */
    bool acks_each, acks_none; /* each message alone; nothing */
    bool breaks;               /* the connection, behind all messages */
    bool stays;                /* the connection, whatever was acked */
    const char *queues; /* a letter for each item of each call: "m" gets no ack; NULL: all "q" */
    char        outcomes[50];     /* of the calls: "SUT " for success, unreachable, transient */
    int         published, tag;   /* in all; of this connection */
    char        queue;            /* of the last message */
    char        bodies[100];      /* of what was published */
    int         timeout_s, calls; /* of the sink; 20 and 1 */
    int         later;            /* the call before which 11 minutes go by; 0: they do not */
    pthread_t   thread;
} server;

typedef struct frame {
    uint8_t  bytes[300];
    size_t   size;
    uint8_t  type;
    uint16_t channel;
} frame;

static void put(frame *f, uint64_t number, int size)
{
    for (int i = size - 1; i >= 0; i--)
        f->bytes[f->size++] = (uint8_t)(number >> (8 * i));
}

static void put_short(frame *f, const char *text)
{
    put(f, strlen(text), 1);
    memcpy(f->bytes + f->size, text, strlen(text));
    f->size += strlen(text);
}

static void put_long(frame *f, const char *text)
{
    put(f, strlen(text), 4);
    memcpy(f->bytes + f->size, text, strlen(text));
    f->size += strlen(text);
}

static frame method(uint16_t channel, uint16_t class_id, uint16_t method_id)
{
    frame f = {.type = 1, .channel = channel};
    put(&f, class_id, 2);
    put(&f, method_id, 2);
    return f;
}

static void send_frame(const server *s, const frame *f)
{
    frame whole = {.size = 0};
    put(&whole, f->type, 1);
    put(&whole, f->channel, 2);
    put(&whole, f->size, 4);
    memcpy(whole.bytes + whole.size, f->bytes, f->size);
    whole.size += f->size;
    put(&whole, 0xCE, 1);
    (void)send(s->connection, whole.bytes, whole.size, MSG_NOSIGNAL);
}

static bool receive(const server *s, uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = recv(s->connection, bytes, size, 0);
        if (count <= 0)
            return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

static void send_empty(const server *s, uint16_t channel, uint16_t class_id, uint16_t method_id)
{
    frame f = method(channel, class_id, method_id);
    send_frame(s, &f);
}

static void start_connection(const server *s)
{
    frame f = method(0, 10, 10);
    put(&f, 9, 2); /* version 0-9 */
    put(&f, 0, 4); /* no properties */
    put_long(&f, "PLAIN");
    put_long(&f, "en_US");
    send_frame(s, &f);
}

static void block(const server *s)
{
    frame f = method(0, 10, 60);
    put_short(&f, "low on memory");
    send_frame(s, &f);
}

static void unblock(const server *s)
{
    usleep(200000);
    send_empty(s, 0, 10, 61);
}

static void answer_all(const server *s)
{
    for (int i = 0; i < ITEMS && s->returns; i++) {
        frame f = method(1, 60, 50);
        put(&f, 312, 2);
        put_short(&f, "NO_ROUTE");
        put_short(&f, "");
        put_short(&f, "q");
        send_frame(s, &f);
        frame header = {.type = 2, .channel = 1};
        put(&header, 60, 2);
        put(&header, 0, 2);
        put(&header, 0, 8);      /* no body */
        put(&header, 1 << 7, 2); /* with an id */
        put_short(&header, "m-1");
        send_frame(s, &header);
    }
    frame ack = method(1, 60, 80);
    put(&ack, s->acked != 0 ? (uint64_t)s->acked : (uint64_t)s->published, 8);
    put(&ack, 1, 1);
    send_frame(s, &ack);
}

static void answer_one(const server *s)
{
    frame ack = method(1, 60, 80);
    put(&ack, (uint64_t)s->tag, 8);
    put(&ack, 0, 1);
    if (s->queue != 'm')
        send_frame(s, &ack);
}

/* The beginning of a message, whose body does not come. */
static void deliver_half(const server *s)
{
    frame deliver = method(1, 60, 60), header = {.type = 2, .channel = 1};
    put_short(&deliver, "pawl");
    put(&deliver, 1, 8);
    put(&deliver, 0, 1);
    put_short(&deliver, "");
    put_short(&deliver, "q");
    send_frame(s, &deliver);
    put(&header, 60, 2);
    put(&header, 0, 2);
    put(&header, 9, 8); /* bytes */
    put(&header, 0, 2);
    send_frame(s, &header);
}

static void answer(server *s, uint16_t channel, uint32_t what)
{
    bool  is_begin = s->blocked_at != NULL && strcmp(s->blocked_at, "begin") == 0;
    frame f        = method(channel, (uint16_t)(what >> 16), (uint16_t)((what & 0xFFFF) + 1));
    switch (what) {
    case 10 << 16 | 11: /* start-ok: tune */
        f = method(0, 10, 30);
        put(&f, 8, 2);
        put(&f, 131072, 4);
        put(&f, 0, 2);
        break;
    case 10 << 16 | 40: put_short(&f, ""); break; /* open */
    case 20 << 16 | 10: put(&f, 0, 4); break;
    case 60 << 16 | 20: put_short(&f, "pawl"); break; /* consume */
    case 60 << 16 | 10:                               /* qos */
    case 85 << 16 | 10:                               /* confirm.select */
    case 10 << 16 | 50:
    case 20 << 16 | 40: break;
    default: return;
    }
    is_begin = is_begin && what == (85 << 16 | 10);
    if (is_begin) /* before the answer, so that nothing is sent before it is read */
        block(s);
    send_frame(s, &f);
    if (is_begin && s->is_freed)
        unblock(s);
    if (what == (60 << 16 | 20))
        deliver_half(s);
}

static void serve_connection(server *s)
{
    uint8_t head[8];
    bool    goes_on = receive(s, head, 8);
    s->tag          = 0;
    if (goes_on)
        start_connection(s);
    while (goes_on && receive(s, head, 7)) {
        uint32_t size =
            (uint32_t)head[3] << 24 | (uint32_t)head[4] << 16 | (uint32_t)head[5] << 8 | head[6];
        uint8_t *payload = malloc(size + 1); /* and its end */
        goes_on          = payload != NULL && receive(s, payload, size + 1);
        if (goes_on && head[0] == 1)
            answer(s, (uint16_t)(head[1] << 8 | head[2]),
                   (uint32_t)payload[0] << 24 | (uint32_t)payload[1] << 16 |
                       (uint32_t)payload[2] << 8 | payload[3]);
        if (goes_on && head[0] == 1 && payload[1] == 60) /* to exchange "" */
            s->queue = (char)payload[8];
        if (goes_on && head[0] == 3) { /* each body is one frame */
            s->published++;
            s->tag++;
            payload[size] = '\0'; /* at the frame's end */
            strcat(s->bodies, (const char *)payload);
        }
        if (goes_on && head[0] == 3 && s->queues != NULL)
            answer_one(s);
        else if (goes_on && head[0] == 3 && (s->acks_each || s->published == ITEMS)) {
            bool is_blocked = s->blocked_at != NULL && strcmp(s->blocked_at, "publish") == 0;
            if (!s->acks_none && (!is_blocked || s->acked != 0))
                answer_all(s);
            if (is_blocked)
                block(s);
            goes_on = is_blocked || s->stays || (s->acked == 0 && !s->breaks);
        }
        free(payload);
    }
    close(s->connection);
}

static void *serve(void *argument)
{
    server *s = argument;
    while ((s->connection = accept(s->listener, NULL, NULL)) >= 0)
        serve_connection(s);
    return NULL;
}

static void listen_for(server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t          size    = sizeof address;
    address.sin_addr.s_addr    = htonl(INADDR_LOOPBACK);
    s->listener                = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(s->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(s->listener, 1), 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&address, &size), 0);
    s->port = ntohs(address.sin_port);
}

static void begin(server *s)
{
    listen_for(s);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void end(server *s)
{
    (void)shutdown(s->listener, SHUT_RDWR); /* ends its accept() */
    pthread_join(s->thread, NULL);
    close(s->listener);
}

/* ---- The sink --------------------------------------------------------------------------------- */

static pawl_text queue_of(const server *s, int item)
{
    return s->queues != NULL ? (pawl_text){.data = &s->queues[item], .size = 1} : PAWL_TEXT("q");
}

static void note_outcomes(server *s, const pawl_delivery *items)
{
    char *end = s->outcomes + strlen(s->outcomes);
    for (int i = 0; i < ITEMS; i++)
        *end++ = items[i].outcome == PAWL_ATTEMPT_SUCCESS     ? 'S'
                 : items[i].outcome == PAWL_ATTEMPT_TRANSIENT ? 'T'
                                                              : 'U';
    *end++ = ' ';
    *end   = '\0';
}

/* Each message of the call has the same id, as copies have, and its number as body. Milliseconds that the calls took. */
static int64_t deliver(server *s, pawl_delivery *items, pawl_arena *arena, pawl_code *code)
{
    static const pawl_text numbers[ITEMS] = {PAWL_TEXT_INIT("0"), PAWL_TEXT_INIT("1"),
                                             PAWL_TEXT_INIT("2")};
    char                   url[200];
    pawl_error             error = PAWL_ERROR_INIT;
    begin(s);
    snprintf(url, sizeof url, "amqp://guest:guest@127.0.0.1:%d/?declare=no&timeout=%d", s->port,
             s->timeout_s != 0 ? s->timeout_s : 20);
    const pawl_transport_ops *ops = pawl_transport_find(url);
    assert_non_null(ops);
    pawl_transport *transport = pawl_allocate(ops->transport_size);
    assert_non_null(transport);
    transport->ops = ops;
    must(ops->open(transport, url, "pawl_", world_error()));
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int turn = 0; turn < (s->calls != 0 ? s->calls : 1); turn++) {
        for (int i = 0; i < ITEMS; i++)
            items[i] = (pawl_delivery){.queue   = queue_of(s, turn * ITEMS + i),
                                       .message = {.id             = PAWL_TEXT("m-1"),
                                                   .type           = PAWL_TEXT("note"),
                                                   .body           = numbers[i],
                                                   .headers        = PAWL_TEXT(""),
                                                   .correlation_id = PAWL_TEXT(""),
                                                   .causation_id   = PAWL_TEXT("")}};
        if (s->later != 0 && turn == s->later)
            ((pawl__rabbitmq *)transport)->some_at -= PAWL_MINUTES(11);
        *code = ops->deliver(transport, items, ITEMS, arena, &error);
        note_outcomes(s, items);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    ops->close(transport);
    pawl_free(transport);
    end(s);
    return (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
}

TEST(o9_messages_of_one_id_come_back_each)
{
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&(server){.returns = true}, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i].outcome, PAWL_ATTEMPT_TRANSIENT);
    deliver(&(server){.returns = false}, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i].outcome, PAWL_ATTEMPT_SUCCESS);
}

/* No attempt is lost, nothing is sent while it is blocked, and the call ends soon, for the other routes. */
TEST(o10_a_server_that_is_blocked_counts_as_away)
{
    static const char *const places[] = {"begin", "publish"};
    pawl_arena              *arena    = test_arena();
    for (int i = 0; i < 2; i++) {
        server        s = {.blocked_at = places[i]};
        pawl_delivery items[ITEMS];
        pawl_code     code;
        int64_t       time = deliver(&s, items, arena, &code);
        assert_int_equal(code, PAWL_OK);
        for (int j = 0; j < ITEMS; j++)
            assert_int_equal(items[j].outcome, PAWL_ATTEMPT_UNREACHABLE);
        assert_int_equal(s.published, i == 0 ? 0 : ITEMS);
        assert_true(time < 10000); /* a second, and not the 20 of the URL */
    }
}

/* A message that has its ack is delivered, whatever happens to the others of the call. */
TEST(o10_what_was_confirmed_before_the_connection_was_lost_stands)
{
    static const struct {
        const char          *blocked_at;
        pawl_attempt_outcome others;
    } ends[]          = {{NULL, PAWL_ATTEMPT_TRANSIENT}, {"publish", PAWL_ATTEMPT_UNREACHABLE}};
    pawl_arena *arena = test_arena();
    for (int i = 0; i < 2; i++) {
        server        s = {.acked = 1, .blocked_at = ends[i].blocked_at};
        pawl_delivery items[ITEMS];
        pawl_code     code;
        deliver(&s, items, arena, &code);
        assert_int_equal(code, PAWL_OK);
        assert_int_equal(items[0].outcome, PAWL_ATTEMPT_SUCCESS);
        for (int j = 1; j < ITEMS; j++) {
            assert_int_equal(items[j].outcome, ends[i].others);
            assert_true(items[j].error.size > 0);
        }
    }
}

TEST(o10_a_server_that_was_blocked_gets_the_messages)
{
    server        s     = {.blocked_at = "begin", .is_freed = true};
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_int_equal(s.published, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i].outcome, PAWL_ATTEMPT_SUCCESS);
}

/* Other routes would wait with each row for as long. It is asked with one message at a time, each in its turn. */
TEST(o10_a_server_that_confirms_nothing_counts_as_away)
{
    pawl_arena   *arena = test_arena();
    server        mute  = {.acks_none = true, .timeout_s = 1, .calls = 3};
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&mute, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i].outcome, PAWL_ATTEMPT_UNREACHABLE);
    assert_string_equal(mute.bodies, "01212");
}

/* Its own queue may be the reason. */
TEST(o10_what_is_not_confirmed_while_others_are_loses_an_attempt)
{
    pawl_arena   *arena = test_arena();
    server        s     = {.acked = 1, .stays = true, .timeout_s = 1};
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_int_equal(items[0].outcome, PAWL_ATTEMPT_SUCCESS);
    assert_int_equal(items[1].outcome, PAWL_ATTEMPT_TRANSIENT);
    assert_int_equal(items[2].outcome, PAWL_ATTEMPT_TRANSIENT);
}

/* The server confirms those of others: then what is not confirmed loses attempts, for some calls. */
TEST(o10_a_queue_that_alone_confirms_nothing_does_not_count_as_away)
{
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    server        s = {.queues = "mmmmmqmmmqqqmmmmmmmmmmmm", .timeout_s = 1, .calls = 8};
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_string_equal(s.outcomes, "UUU TTS TTT SSS TTT TTT UUU UUU ");
    /* All; one for each queue, then the others; four times all, and once more; one. */
    assert_string_equal(s.bodies, "012"
                                  "12"
                                  "10"
                                  "012"
                                  "012"
                                  "012"
                                  "012"
                                  "012"
                                  "1");
}

/* Some were confirmed long ago, then all: that a server then falls silent is an outage. */
TEST(o10_a_silence_long_after_some_were_confirmed_counts_as_away)
{
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    server        s = {.queues = "qqmqqqmmmmmm", .timeout_s = 1, .calls = 4, .later = 2};
    deliver(&s, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    assert_string_equal(s.outcomes, "SST SSS UUU UUU ");
    assert_string_equal(s.bodies, "012"
                                  "012"
                                  "012"
                                  "1");
}

/* The first of two hosts takes all and confirms nothing, as a node does that is cut off from the others. */
TEST(o10_of_two_hosts_the_one_that_confirms_gets_the_messages)
{
    char   url[200];
    server mute = {.acks_none = true}, well = {.acks_each = true};
    begin(&mute);
    begin(&well);
    snprintf(url, sizeof url, "amqp://guest:guest@127.0.0.1:%d,127.0.0.1:%d/?declare=no&timeout=1",
             mute.port, well.port);
    far *f = far_open_url(url, "q", 1); /* of one attempt none is used up */
    far_send(f, 1, ITEMS);
    assert_int_equal(far_count(f, PAWL_OUTBOX_PENDING), ITEMS);
    far_post(f, 4, 1);
    world_go_machine(&f->it, PAWL_MINUTES(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), ITEMS + 1);
    far_send(f, 5, 2);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), ITEMS + 3);
    test_now(f);
    end(&mute);
    end(&well);
    assert_int_equal(mute.published, ITEMS);
    /* The second host gets one message first, as the first host was silent; then the others; then all as they stand. */
    assert_string_equal(well.bodies, "{\"number\":2}{\"number\":3}{\"number\":4}{\"number\":1}"
                                     "{\"number\":5}{\"number\":6}");
}

/* A declaration that is not answered, and a file that is not there: nothing was sent, and of one attempt none is used up. */
TEST(o10_a_call_that_sent_nothing_is_no_attempt)
{
    char   urls[2][200];
    server mute = {.acks_none = true};
    begin(&mute);
    snprintf(urls[0], sizeof urls[0], "amqp://guest:guest@127.0.0.1:%d/?timeout=1", mute.port);
    snprintf(urls[1], sizeof urls[1], "amqps://guest:guest@127.0.0.1:%d/?ssl-ca=/nowhere",
             mute.port);
    for (int i = 0; i < 2; i++) {
        far *f = far_open_url(urls[i], "q", 1);
        far_send(f, 1, 1);
        assert_int_equal(far_count(f, PAWL_OUTBOX_PENDING), 1);
        assert_int_equal(world_outbox(&f->it, PAWL_OUTBOX_PENDING).items[0].attempts, 0);
        far_says(f, i == 0 ? "the declaration of 'q'" : "ssl-ca is '/nowhere'");
        test_now(f);
    }
    end(&mute);
    assert_int_equal(mute.published, 0);
}

/* A message may be what breaks it. */
TEST(o10_messages_at_which_the_connection_breaks_lose_an_attempt)
{
    pawl_arena   *arena = test_arena();
    pawl_delivery items[ITEMS];
    pawl_code     code;
    deliver(&(server){.acks_none = true, .breaks = true}, items, arena, &code);
    assert_int_equal(code, PAWL_OK);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i].outcome, PAWL_ATTEMPT_TRANSIENT);
}

/* ---- A reader --------------------------------------------------------------------------------- */

/* Takes from the URL in an endpoint that is stopping: an error. */
static void take_while_stopping(const char *url, pawl_error *error)
{
    const pawl_inbound_ops *ops     = NULL;
    pawl_inbound_options    options = {
           .options_size = sizeof options, .queue = "q", .prefetch = 1, .types = NULL};
    pawl_take by = {.count_max = 1, .size_max = 1 << 20, .wait = PAWL_SECONDS(30), .wake_fd = -1};
    pawl_takings    takings;
    struct timespec from, to;
    int             pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    close(pipe_ends[1]); /* readable */
    by.stop_fd = pipe_ends[0];
    must(pawl_inbound_find(url, &ops, world_error()));
    pawl_inbound *inbound = pawl_allocate(ops->inbound_size);
    assert_non_null(inbound);
    inbound->ops = ops;
    must(ops->open(inbound, url, &options, world_error()));
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_int_not_equal(ops->take(inbound, &by, test_arena(), &takings, error), PAWL_OK);
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true(to.tv_sec - from.tv_sec < 10);
    ops->close(inbound);
    pawl_free(inbound);
    close(pipe_ends[0]);
}

TEST(e29_a_reader_that_stops_leaves_a_message_that_does_not_go_on)
{
    char       url[200];
    server     s     = {.port = 0};
    pawl_error error = PAWL_ERROR_INIT;
    begin(&s);
    snprintf(url, sizeof url, "amqp://guest:guest@127.0.0.1:%d/?declare=no", s.port);
    take_while_stopping(url, &error);
    end(&s);
    assert_non_null(strstr(error.text, "broke off in a message"));
}

/* Each host that does not answer costs its time. */
TEST(e29_a_reader_that_stops_tries_no_further_host)
{
    char       url[200];
    server     mute[2] = {{.port = 0}, {.port = 0}};
    pawl_error error   = PAWL_ERROR_INIT;
    listen_for(&mute[0]);
    listen_for(&mute[1]);
    snprintf(url, sizeof url, "amqp://guest:guest@127.0.0.1:%d,127.0.0.1:%d/?connect-timeout=1",
             mute[0].port, mute[1].port);
    take_while_stopping(url, &error);
    for (int i = 0; i < 2; i++) {
        struct pollfd asked = {.fd = mute[i].listener, .events = POLLIN};
        assert_int_equal(poll(&asked, 1, 0), 1 - i);
        close(mute[i].listener);
    }
}

#endif
