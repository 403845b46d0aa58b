/* test_runtime_slow_soak.c - handlers that take longer than a session rests and a heartbeat lasts, with
 * two programs of two workers, in real time: each runs once.
 *
 * On Galera as well, where PAWL_TEST_GALERA names a cluster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/thread.h"

#include <sys/wait.h>
#include <unistd.h>

#define NUMBERS 3

RECORD(task, (INT32, number), (INT32, seconds));

static atomic_int runs[NUMBERS];
static atomic_int ended;

static pawl_code on_task(pawl_context *ctx, const task *message)
{
    atomic_fetch_add(&runs[message->number], 1);
    (void)sleep((unsigned)message->seconds);
    atomic_fetch_add(&ended, 1);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_task, task);

static const pawl_application application =
    ONE_ENDPOINT("slow", .name = "works", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_task)}));

static int64_t queued(pawl_store *store)
{
    pawl_arena     *arena = pawl_arena_create(0);
    pawl_queue_rows rows  = {.count = 0};
    must(pawl_store_queue_list(store, PAWL_TEXT("works"), 0, arena, &rows, world_error()));
    pawl_arena_destroy(arena);
    return (int64_t)rows.count;
}

static void send_all(const char *url, int seconds)
{
    pawl_sender *sender = NULL;
    must(pawl_sender_open(url, NULL, &sender, world_error()));
    for (int i = 0; i < NUMBERS; i++)
        must(pawl_sender_send(sender, "works", NULL,
                              PAWL_MESSAGE(task, .number = i, .seconds = i == 1 ? seconds : 0),
                              world_error()));
    must(pawl_sender_commit(sender, world_error()));
    pawl_sender_close(sender);
}

/* Long enough behind the end for another run, of one whose claim was lost meanwhile, to begin. */
static void run_for(const char *url, int seconds)
{
    const pawl_endpoint_options options = {.workers = 2};
    pawl_store                 *store   = NULL;
    runner                      first, second;
    for (int i = 0; i < NUMBERS; i++)
        atomic_store(&runs[i], 0);
    atomic_store(&ended, 0);
    world_make_tables(url, &application);
    must(pawl_store_open(url, NULL, &store, world_error()));
    runner_open(&first, &application, NULL, url, options);
    runner_open(&second, &application, NULL, url, options);
    send_all(url, seconds);
    for (int waited = 0;
         waited < 3 * seconds && (atomic_load(&ended) < NUMBERS || queued(store) > 0); waited++)
        (void)sleep(1);
    assert_int_equal(queued(store), 0);
    (void)sleep(3);
    runner_close(&first);
    runner_close(&second);
    for (int i = 0; i < NUMBERS; i++)
        print_message("%s: message %d ran %d times\n", url, i, atomic_load(&runs[i]));
    /* A batch ends behind the slow one; those before it are in its commit. */
    for (int i = 0; i < NUMBERS; i++)
        assert_int_equal(atomic_load(&runs[i]), 1);
    pawl_store_close(store);
}

static void a_handler_of_20_seconds_runs_once(const char *url)
{
    run_for(url, 20);
}

static void a_handler_of_65_seconds_runs_once(const char *url)
{
    run_for(url, 65);
}

/* The first node of the cluster stands for the server of MariaDB. */
static bool name_node(void)
{
    const char *cluster = getenv("PAWL_TEST_GALERA");
    const char *comma   = cluster != NULL ? strchr(cluster, ',') : NULL;
    if (comma == NULL)
        return false;
    return setenv("PAWL_TEST_MARIADB", test_text("%.*s/test", (int)(comma - cluster), cluster),
                  1) == 0;
}

/* In a process of its own, as the database of a server is made once for a process and kept for its later scenarios. */
static int run_on_galera(void)
{
    const struct CMUnitTest tests[] = {
        STORE_ROW(a_handler_of_20_seconds_runs_once, "mariadb"),
    };
    int   status = 0;
    pid_t child  = fork();
    if (child == 0)
        exit(name_node() ? cmocka_run_group_tests_name("on Galera", tests, NULL, NULL) : 0);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_ROW(a_handler_of_20_seconds_runs_once, "mongodb"),
        STORE_ROW(a_handler_of_65_seconds_runs_once, "postgres"),
        STORE_ROW(a_handler_of_65_seconds_runs_once, "mariadb"),
    };
    world_quiet();
    int failed = run_on_galera();
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
