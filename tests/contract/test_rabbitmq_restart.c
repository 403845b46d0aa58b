/* test_rabbitmq_restart.c - a RabbitMQ of the test's own that crashes while the outbox delivers to it, comes back, and
 * takes no messages for a while. O10.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/own_server.h"
#include "contract/rabbitmq_fixture.h"
#include "support/tests.h"

#include <signal.h>
#include <time.h>

#define MANY 1000

static broker server;

/* ---- The server -------------------------------------------------------------------------- */

static void look_again(void)
{
    broker_open(&server, test_text("amqp://guest:guest@127.0.0.1:%d/", own.port));
}

/* The Erlang machine that is the server. */
static pid_t server_pid(void)
{
    char command[600], line[40] = "";
    snprintf(command, sizeof command,
             "for p in $(grep -lzxF 'PAWL_RABBITMQ_FOLDER=%s' /proc/[0-9]*/environ 2>/dev/null | "
             "tr -dc '0-9\\n'); do [ \"$(cat /proc/$p/comm)\" != beam.smp ] || echo $p; done",
             own.folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    (void)pclose(pipe);
    assert_true(atoi(line) > 1);
    return (pid_t)atoi(line);
}

static void step_until(far *f, size_t count)
{
    while (far_count(f, PAWL_OUTBOX_DISPATCHED) < count)
        assert_true(world_step(&f->it).sent > 0);
}

/* Takes everything out of the queue; each number has arrived, and one that came twice has one id. */
static size_t check_queue(const char *queue)
{
    static char    ids[MANY + 1][60];
    amqp_message_t message;
    size_t         distinct = 0, twice = 0;
    memset(ids, 0, sizeof ids);
    while (broker_get(&server, queue, &message)) {
        int  number = note_number(&message);
        char id[60] = "";
        assert_true(message.properties.message_id.len < sizeof id);
        memcpy(id, message.properties.message_id.bytes, message.properties.message_id.len);
        assert_in_range(number, 1, MANY);
        if (ids[number][0] == '\0')
            distinct++;
        else
            twice++;
        if (ids[number][0] != '\0')
            assert_string_equal(ids[number], id);
        memcpy(ids[number], id, sizeof id);
        amqp_destroy_message(&message);
    }
    print_message("%zu arrived, %zu of them twice\n", distinct, twice);
    return distinct;
}

/* First the server stands still for longer than the deadline, so that nobody knows of a hundred; then it is killed. */
TEST(o10_a_crash_in_the_middle_loses_nothing)
{
    size_t      count;
    pid_t       pid   = server_pid();
    const char *queue = own_name("crash");
    /* A quorum queue on a single node may stay without a leader after a restart (rabbitmq-server issue 10070). */
    far *f = far_open_url(
        test_text("amqp://guest:guest@127.0.0.1:%d/?timeout=2&queue-type=classic", own.port), queue,
        1000);
    far_post(f, 1, MANY);
    while (far_count(f, PAWL_OUTBOX_DISPATCHED) < 200)
        (void)world_step(&f->it);
    count        = far_count(f, PAWL_OUTBOX_DISPATCHED);
    int64_t late = 100; /* confirms that were on their way: seldom all of them */
    for (int tries = 0; tries < 3 && late == 100; tries++) {
        assert_int_equal(kill(pid, SIGSTOP), 0);
        late = world_step(&f->it).sent;
        count += (size_t)late;
        assert_int_equal(kill(pid, SIGCONT), 0);
    }
    assert_in_range(late, 0, 99);
    if (late == 0) /* the route is away for a moment */
        pawl_clock_set(f->it.machine, pawl_clock_now(f->it.machine) + PAWL_MINUTES(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), count);
    step_until(f, 500);
    assert_int_equal(kill(pid, SIGKILL), 0);
    while (world_step(&f->it).sent > 0) {
    }
    own_server_must_run("crash", "");
    world_go_machine(&f->it, PAWL_SECONDS(30)); /* while it is away */
    count = far_count(f, PAWL_OUTBOX_DISPATCHED);
    print_message("%zu were dispatched before\n", count);
    assert_in_range(count, 500, MANY - 1);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DEAD), 0);
    own_server_must_run("start", "");
    for (int tries = 0; far_count(f, PAWL_OUTBOX_DISPATCHED) < MANY && tries < 100; tries++)
        world_go_machine(&f->it, PAWL_HOURS(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), MANY);
    look_again();
    assert_int_equal(check_queue(queue), MANY);
    broker_close(&server);
}

/* Out of memory, it says: that is named, and costs no attempt. */
TEST(a_server_that_takes_nothing_is_named)
{
    const char *queue = own_name("blocked");
    const char *url =
        test_text("amqp://guest:guest@127.0.0.1:%d/?timeout=2&queue-type=classic", own.port);
    own_server_must_run("control", "set_vm_memory_high_watermark absolute 1");
    far *f = far_open_url(url, queue, 1000);
    far_send(f, 1, 1);
    far_says(f, "takes no messages for now (connection.blocked), it is low on memory");
    for (int i = 0; i < 3; i++)
        world_go_machine(&f->it, PAWL_HOURS(1));
    assert_int_equal(world_outbox(&f->it, PAWL_OUTBOX_PENDING).count, 1);
    assert_int_equal(world_outbox(&f->it, PAWL_OUTBOX_PENDING).items[0].attempts, 0);
    own_server_must_run("control", "set_vm_memory_high_watermark 0.8");
    for (int tries = 0; far_count(f, PAWL_OUTBOX_DISPATCHED) < 1 && tries < 100; tries++)
        world_go_machine(&f->it, PAWL_HOURS(1));
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
}

static far *open_tls(const char *host, const char *options, const char *queue)
{
    far *f = far_open_url(test_text("amqps://guest:guest@%s:%d/?ssl-ca=%s/tls/cert.pem%s", host,
                                    own.port + 3, own.folder, options),
                          queue, 1000);
    far_send(f, 1, 1);
    return f;
}

TEST(tls_checks_the_authority_and_the_name)
{
    const char *queue = own_name("tls");
    far        *f     = open_tls("localhost", "", queue);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    test_now(f);
    f = open_tls("127.0.0.1", "", queue); /* the certificate is localhost's */
    far_says(f, "SSL hostname verification failed");
    test_now(f);
    f = open_tls("127.0.0.1", "&ssl-mode=verify-ca", queue);
    assert_int_equal(far_count(f, PAWL_OUTBOX_DISPATCHED), 1);
    test_now(f);
    f = far_open_url(test_text("amqps://guest:guest@localhost:%d/", own.port + 3), queue,
                     1000); /* by the authorities of the machine */
    far_send(f, 1, 1);
    far_says(f, ": is it the port of TLS, and does ssl-ca name its authority");
    test_now(f);
    f = far_open_url(test_text("amqps://guest:guest@localhost:%d/?ssl-ca=/nowhere", own.port + 3),
                     queue, 1000);
    far_send(f, 1, 1);
    far_says(f, "ssl-ca is '/nowhere', which cannot be read");
}

int main(void)
{
    if (getenv("PAWL_TEST_RABBITMQ") == NULL) {
        puts("skipped: PAWL_TEST_RABBITMQ names no server, so that none is started here");
        return server_may_be_missing("rabbitmq") ? 77 : 1;
    }
    if (!own_server_begin("rabbitmq", 4)) {
        fprintf(stderr, "RabbitMQ does not start: see %s.said\n", own.folder);
        return 1;
    }
    int failed = tests_run(NULL, NULL);
    own_server_end();
    return failed;
}
