/* test_engine_now.c - pawl_send_now from a handler that has its transaction open: by
 * another connection at once, on SQLite in the commit that says what became of the
 * message. E23.
 *
 * A crash is a child process that ends in the middle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "support/fault_memory.h"
#include "support/hook.h"
#include "support/native.h"

#include "pawl/process.h"

#include <sys/wait.h>
#include <unistd.h>

RECORD(work, (TEXT, name), (TEXT, to));
PAWL_RECORD(notice, A_NUMBER);
PAWL_RECORD(plain, A_NUMBER);

static int         fails;           /* so many runs fail */
static int         runs;            /* of the handler */
static int         times;           /* sends of the handler, in both ways */
static bool        ends_in_handler; /* the program ends right after the send */
static bool        is_done;         /* the handler has answered */
static world      *around;
static size_t      seen_at_once; /* rows of the queue "out" before the handler returned */
static const char  other_name[] = "far";
static const char *kept_to; /* where the sends go that wait for the commit */
static int         kept;    /* the number of the first of them */

static pawl_code on_work(pawl_context *ctx, const work *message)
{
    runs++;
    assert_non_null(native_of(ctx));
    pawl_code code = pawl_send_now(ctx, message->to.data, PAWL_MESSAGE(notice, .number = 1));
    if (ends_in_handler)
        _exit(0);
    if (code == PAWL_OK && around != NULL)
        seen_at_once = world_queue(around, "out").count;
    is_done = true;
    if (code == PAWL_OK && fails-- > 0)
        return PAWL_RETRY;
    for (int i = 1; i < times && code == PAWL_OK; i++)
        code = pawl_send_now(ctx, message->to.data, PAWL_MESSAGE(notice, .number = 1));
    for (int i = 0; i < times && code == PAWL_OK; i++)
        code = pawl_send(ctx, kept_to, PAWL_MESSAGE(notice, .number = kept + i));
    return code;
}
PAWL_MESSAGE_HANDLER(on_work, work);

IDLE_MESSAGE_HANDLER(on_plain, plain);

static const pawl_application application =
    ONE_ENDPOINT("now", .name = "office",
                 .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_work), .own_sql = true},
                                     {.handle = PAWL_HANDLE(on_plain)}));

static const pawl_route routes[] = {{.name = other_name, .is_outbox = true}, {.name = NULL}};

static world *open_world(const char *url)
{
    fails = runs    = 0;
    times           = 1;
    ends_in_handler = is_done = false;
    around                    = NULL;
    seen_at_once              = 0;
    kept_to                   = "out";
    kept                      = 2;
    return world_begin(url, &application, NULL,
                       &(pawl_endpoint_options){.routes = routes, .no_service = true});
}

static void post_work(world *it, const char *id, const char *to)
{
    world_post(it, id, PAWL_MESSAGE(work, .name = pawl_text_of(id), .to = pawl_text_of(to)));
}

/* How many in the queue "out" have the number. */
static size_t count_out(world *it, const char *json)
{
    pawl_queue_rows rows  = world_queue(it, "out");
    size_t          count = 0;
    for (size_t i = 0; i < rows.count; i++)
        count += world_says(rows.items[i].message.body, json);
    return count;
}

static bool is_sqlite(const char *url)
{
    return strncmp(url, "sqlite", 6) == 0;
}

/* ---- Whatever becomes of the message ------------------------------------------------ */

ON_SQL_STORES(e23_now_leaves_whatever_becomes_of_the_message, const char *url)
{
    world *it = open_world(url);
    fails     = 5; /* the first run, its three immediate retries, and one more */
    post_work(it, "a", "out");
    world_post(it, NULL, PAWL_MESSAGE(plain, .number = 1));
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(count_out(it, "1}"), 4);
    assert_int_equal(count_out(it, "2}"), 0);
    assert_int_equal(world_go(it, PAWL_HOURS(1)).handled, 1);
    assert_int_equal(runs, 6);
    assert_int_equal(count_out(it, "1}"), 6);
    assert_int_equal(count_out(it, "2}"), 1);
    /* By way of the outbox, too. */
    fails = 1;
    post_work(it, "b", other_name);
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 2);
    assert_int_equal(count_out(it, "2}"), 2);
}

ON_SQL_STORES(e23_all_of_a_handlers_sends_leave_once, const char *url)
{
    for (int i = 0; i < 2; i++) {
        long   before = fault_memory_live();
        world *it     = open_world(url);
        /* The ids are made of the seed and the time. */
        pawl_clock_set(it->machine, WORLD_START + PAWL_HOURS(i));
        times = 3;
        post_work(it, i == 0 ? "a" : "b", "out");
        post_work(it, i == 0 ? "c" : "d", other_name);
        assert_int_equal(world_drain(it).handled, 2);
        assert_int_equal(count_out(it, "1}"), 3 * (i + 1));
        assert_int_equal(count_out(it, "2}"), 2 * (i + 1));
        assert_int_equal(count_out(it, "3}"), 2 * (i + 1));
        assert_int_equal(count_out(it, "4}"), 2 * (i + 1));
        assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 3 * (i + 1));
        world_close(it);
        if (i == 1) /* nothing is left open; the first time the driver is loaded */
            assert_int_equal(fault_memory_live(), before);
    }
}

static void forget_mark(world *it, const char *id)
{
    MUST_COMMIT(it->store, dead_set, WORLD_START, .is_remove = true,
                .endpoint = PAWL_TEXT("office"),
                .message  = {.id = pawl_text_of(id), .type = PAWL_TEXT("work")});
}

/* The message comes again, and its row of the outbox has another body by now: what its
 * handler did is refused as a whole, each time, but for what it sent now. */
ON_SQL_STORES(e23_now_leaves_although_the_handlers_group_is_refused, const char *url)
{
    world *it = open_world(url);
    kept_to   = other_name;
    times     = 3;
    post_work(it, "a", "out");
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(count_out(it, "1}"), 3);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 3);
    forget_mark(it, "a");
    pawl_clock_set(it->machine, WORLD_START + PAWL_SECONDS(1));
    kept = 7;
    post_work(it, "a", "out");
    assert_int_equal(world_drain(it).dead, 1);
    assert_string_equal(world_dead(it).items[0].code.data, "EMISMATCH");
    assert_int_equal(count_out(it, "1}"), 3 * runs);
    assert_int_equal(world_outbox(it, PAWL_OUTBOX_PENDING).count, 3);
}

ON_STORE(e23_now_is_there_before_the_handler_returns, const char *url, "postgres")
{
    world *it = open_world(url);
    around    = it;
    post_work(it, "a", "out");
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(seen_at_once, 1);
    assert_int_equal(count_out(it, "1}"), 1);
}

static pawl_code refuse_commit(hook_point point, void *context)
{
    int *left = context;
    return point == HOOK_BEFORE_COMMIT && is_done && (*left)-- > 0 ? PAWL_EUNREACHABLE : PAWL_OK;
}

/* The store goes away between the handler and its commit: the program lives, and sends
 * what it was told to when the store is back. */
ON_SQL_STORES(e23_now_outlives_a_commit_that_failed, const char *url)
{
    int        left  = 1;
    pawl_error error = PAWL_ERROR_INIT;
    world     *it    = open_world(hook_url(url));
    post_work(it, "a", "out");
    hook_set(refuse_commit, &left);
    assert_int_equal(pawl_endpoint_step(it->endpoint, NULL, &error), PAWL_EUNREACHABLE);
    hook_set(NULL, NULL);
    assert_int_equal(world_drain(it).handled, 1);
    assert_int_equal(count_out(it, "1}"), 2);
    assert_int_equal(count_out(it, "2}"), 1);
}

/* ---- Crashes ---------------------------------------------------------------------- */

static pawl_code end_after_commit(hook_point point, void *context)
{
    if (point == HOOK_AFTER_COMMIT && is_done)
        _exit(0);
    return PAWL_OK;
}

static void prepare(const char *url)
{
    world *it = open_world(url);
    post_work(it, "a", "out");
    world_close(it);
}

/* In a process of its own, which does not come back. */
static void crash(const char *url, bool is_in_handler)
{
    pid_t child  = fork();
    int   status = 0;
    if (child == 0) {
        world *it       = open_world(hook_url(url));
        ends_in_handler = is_in_handler;
        hook_set(end_after_commit, NULL);
        world_drain(it);
        _exit(1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

ON_SQL_STORES(e23_now_is_not_lost_by_a_crash_after_the_commit, const char *url)
{
    prepare(url);
    crash(url, false);
    world *it = open_world(url);
    assert_true(world_is_marked(it, "a"));
    assert_int_equal(count_out(it, "1}"), 1);
    assert_int_equal(count_out(it, "2}"), 1);
    world_go_both(it, PAWL_MINUTES(1));
    assert_int_equal(runs, 0);
    assert_int_equal(count_out(it, "1}"), 1);
}

ON_SQL_STORES(e23_now_is_sent_again_after_a_crash_in_the_handler, const char *url)
{
    prepare(url);
    crash(url, true);
    world *it = open_world(url);
    assert_false(world_is_marked(it, "a"));
    assert_int_equal(count_out(it, "1}"), is_sqlite(url) ? 0 : 1);
    world_go_both(it, PAWL_MINUTES(1));
    assert_int_equal(runs, 1);
    assert_int_equal(count_out(it, "1}"), is_sqlite(url) ? 1 : 2);
    assert_int_equal(count_out(it, "2}"), 1);
}

void (*const tests_first)(void) = fault_memory_install;
