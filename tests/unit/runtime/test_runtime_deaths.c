/* test_runtime_deaths.c - messages that were in hand when a process died (E26): who died alone with a
 * message counts, who died with a batch does not, and both run alone afterwards.
 *
 * Where processes share the store a child dies; in memory a handle is closed without a word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"
#include "support/thread.h"
#include "test_deaths_sample.h"

/* ---- Last words ---------------------------------------------------------------- */

static void hold_all(pawl_store *store, pawl_arena *arena)
{
    assert_int_equal(claim(store, arena, 9).count, 3);
}

static void hold_nothing(pawl_store *store, pawl_arena *arena)
{
}

ON_STORES_THAT_SEE_DEATHS(e26_a_death_with_a_batch_counts_for_none, const char *url)
{
    prepare(url);
    die(url, hold_all);
    world *it = open_world(url, 1);
    assert_int_equal(world_drain(it).handled, 3);
    assert_string_equal(seen.text, "1~ 2~ 3~ ");
    assert_int_equal(world_dead(it).count, 0);
    assert_int_equal(count_died(it), 0);
    world_forget(&seen);
    world_post(it, "m-4", PAWL_MESSAGE(load, .number = 4));
    assert_int_equal(world_go_both(it, PAWL_SECONDS(5)).handled, 1);
    assert_string_equal(seen.text, "4 ");
}

ON_STORES_THAT_SEE_DEATHS(e26_a_death_alone_counts_and_the_last_is_a_letter, const char *url)
{
    prepare(url);
    die(url, stamp_first);
    world *it = open_world(url, 1);
    world_drain(it); /* a lost connection comes back within a second */
    assert_string_equal(seen.text, "");
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(2)), seen, "2~ 3~ ");
    pawl_dead_row dead = world_dead_letter(it);
    assert_string_equal(dead.message.id.data, "m-1");
    assert_string_equal(dead.code.data, "ECRASHED");
    assert_int_equal(dead.crashes, 1);
    assert_true(world_says(dead.error, "its process crashed 1 time while"));
    assert_true(
        world_says(dead.history, "crashed while it ran this message in isolation (worker "));
    assert_false(world_says(dead.history, "in flight"));
    assert_int_equal(count_died(it), 0);
    assert_int_equal(world_queue(it, "dock").count, 0);
}

static pawl_worker_info died_of(world *it)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0;
    must(pawl_store_worker_crashed(it->store, it->arena, &items, &count, world_error()));
    assert_int_equal(count, 1);
    return items[0];
}

ON_STORES_THAT_SEE_DEATHS(e26_a_noted_signal_is_in_the_history, const char *url)
{
    int64_t           count = 0;
    pawl_worker_crash death = {.signal = SIGSEGV, .by = PAWL_TEXT_INIT("ann")};
    prepare(url);
    die(url, stamp_first);
    world *it = open_world(url, 1);
    death.pid = died_of(it).pid;
    must(pawl_store_worker_note_crash(it->store, &death, WORLD_START, &count, world_error()));
    assert_int_equal(count, 1);
    world_drain(it);
    world_go_both(it, PAWL_SECONDS(2));
    pawl_dead_row dead = world_dead_letter(it);
    assert_true(world_says(
        dead.history,
        " was killed by signal 11 (SIGSEGV) while it ran this message in isolation (worker "));
    assert_false(world_says(dead.history, "without saying why"));
}

static void stamp_first_supervised(pawl_store *store, pawl_arena *arena)
{
    process = (pawl_uuid){{7}};
    stamp_first(store, arena);
    process = (pawl_uuid){{0}};
}

/* The worker of a supervised process says so in its marker; its note may come after a second. */
ON_STORES_THAT_SEE_DEATHS(e26_a_note_is_waited_for, const char *url)
{
    prepare(url);
    die(url, stamp_first_supervised);
    world *it = open_world(url, 1);
    world_drain(it);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(9)), seen, "");
    assert_int_equal(world_dead(it).count, 0);
    world_go_both(it, PAWL_SECONDS(2));
    pawl_dead_row dead = world_dead_letter(it);
    assert_true(world_says(dead.history, ", without saying why"));
    assert_false(world_says(dead.history, "\"process\""));
}

/* In memory, where a thousand die fast. A death that is forgotten and met anew is never sure. */
TEST(e26_more_deaths_than_are_remembered)
{
    const char *url = "memory:many";
    prepare(url);
    pawl_arena    *arena = pawl_arena_create(0);
    pawl_worker_id last; /* in the order of the list */
    memset(&last, 0xff, sizeof last);
    pawl_store *store = open_worker_as(url, &last);
    stamp_first_supervised(store, arena);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    for (int i = 0; i < PAWL__CRASHES_MAX + 200; i++)
        pawl_store_close(open_worker(url));
    world *it = open_world(url, 1);
    world_drain(it);
    for (int i = 0; i < 13; i++)
        world_go_both(it, PAWL_SECONDS(1));
    assert_int_equal(world_dead(it).count, 1);
    assert_string_equal(seen.text, "2~ 3~ ");
    assert_int_equal(count_died(it), 0); /* with those beyond the room */
}

ON_STORES_THAT_SEE_DEATHS(e26_a_note_ends_the_wait, const char *url)
{
    int64_t           count = 0;
    pawl_worker_crash death = {.exit_code = 7, .by = PAWL_TEXT_INIT("ann")};
    prepare(url);
    die(url, stamp_first_supervised);
    world *it = open_world(url, 1);
    world_drain(it);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(2)), seen, "");
    death.pid = died_of(it).pid;
    must(pawl_store_worker_note_crash(it->store, &death, WORLD_START, &count, world_error()));
    world_drain(it);
    assert_true(world_says(world_dead_letter(it).history, " exited with code 7 while it ran this"));
}

ON_STORES_THAT_SEE_DEATHS(e26_a_supervised_process_says_so, const char *url)
{
    prepare(url);
    die(url, hold_all);
    world *it = open_world(url, 1);
    pawl_worker_set_supervised((pawl_uuid){{7}});
    world_drain(it);
    pawl_worker_set_supervised((pawl_uuid){{0}});
    assert_string_equal(seen.text, "1~s 2~s 3~s ");
}

ON_STORES_THAT_SEE_DEATHS(e26_fewer_deaths_run_again, const char *url)
{
    prepare(url);
    die(url, stamp_first);
    world *it = open_world(url, 2);
    answer    = PAWL_RETRY;
    world_drain(it);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(2)), seen, "1! 2~ 3~ ");
    pawl_queue_rows rows = world_queue(it, "dock");
    assert_int_equal(rows.count, 3);
    assert_int_equal(rows.items[0].crashes, 1);
    assert_int_equal(rows.items[0].attempts, 1);
    assert_true(world_says(rows.items[0].history,
                           "crashed while it ran this message in isolation (worker "));
    assert_true(world_says(rows.items[0].history, "\"attempt\":2"));
    assert_false(world_says(rows.items[0].history, "in flight"));
    assert_int_equal(rows.items[1].crashes, 0);
    assert_false(world_says(rows.items[1].history, "in flight"));
    world_forget(&seen);
    answer = PAWL_OK;
    world_go_both(it, PAWL_MINUTES(1));
    assert_non_null(strstr(seen.text, "1!"));
    assert_int_equal(world_queue(it, "dock").count, 0);
    assert_int_equal(world_dead(it).count, 0);
}

ON_STORES_THAT_SEE_DEATHS(e26_no_number_of_deaths_is_too_many, const char *url)
{
    prepare(url);
    die(url, stamp_first);
    world *it = open_world(url, -1);
    world_drain(it);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(2)), seen, "1! 2~ 3~ ");
    assert_int_equal(world_dead(it).count, 0);
}

/* A worker that ends in order, or lost its connection, has left its marker behind. */
ON_STORES_THAT_SEE_DEATHS(e26_who_ended_in_order_did_not_die, const char *url)
{
    prepare(url);
    pawl_store *other = open_worker(url);
    pawl_arena *arena = pawl_arena_create(0);
    stamp_first(other, arena);
    close_worker(other);
    pawl_arena_destroy(arena);
    world *it = open_world(url, 1);
    answer    = PAWL_RETRY;
    LOG_AFTER(world_drain(it), seen, "1! 2~ 3~ ");
    assert_int_equal(world_queue(it, "dock").items[0].crashes, 0);
    assert_int_equal(world_dead(it).count, 0);
}

/* On SQLite it would keep the whole queue. */
ON_STORES_THAT_SEE_DEATHS(e26_a_message_in_hand_is_left_alone, const char *url)
{
    prepare(url);
    world      *it    = open_world(url, 1);
    pawl_store *other = open_worker(url);
    stamp_first(other, it->arena);
    LOG_AFTER(world_drain(it), seen, "");
    assert_int_equal(world_queue(it, "dock").items[0].crashes, 1);
    close_worker(other);
    LOG_AFTER(world_drain(it), seen, "1! 2~ 3~ ");
    assert_int_equal(world_dead(it).count, 0);
}

/* As a worker does that another one took an ordered queue from. The queue would stand still as long as it lives. */
ON_STORES_THAT_SEE_DEATHS(e26_a_stamp_that_its_worker_left_holds_no_message, const char *url)
{
    prepare(url);
    world      *it    = open_world(url, 1);
    pawl_store *other = open_worker(url);
    stamp_first(other, it->arena);
    world_drain(it);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(59)), seen, "");
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(2)), seen, "1! 2~ 3~ ");
    assert_int_equal(world_dead(it).count, 0);
    pawl_store_close(other);
}

/* Under a virtual clock, message by message, too. */
static void write_stamp(pawl_store *store, pawl_arena *arena, pawl_text stream, int64_t version,
                        int64_t among)
{
    const pawl__history_marker marker = {pawl_store_worker(store).uuid,
                                         pawl_store_epoch(store),
                                         getpid(),
                                         WORLD_START,
                                         {{0}},
                                         among};
    MUST_COMMIT(store, event_append, WORLD_START, .stream = stream, .version = version,
                .is_first = true,
                .event    = {.type         = PAWL_TEXT(PAWL_ISOLATED_IN_FLIGHT),
                             .type_version = 1,
                             .headers      = PAWL_TEXT("{}"),
                             .body         = pawl__history_marker_add(arena, PAWL_TEXT(""), &marker),
                             .at           = WORLD_START});
}

/* Markers the only timeout. */
static void stamp_timeout_among(pawl_store *store, pawl_arena *arena, int64_t among)
{
    static const pawl_saga_id any;
    char                      id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_timeout_rows         rows;
    must(pawl_store_timeout_list(store, any, 0, arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    pawl_uuid_format(rows.items[0].id.uuid, id);
    write_stamp(store, arena, pawl_arena_printf(arena, PAWL_ISOLATED_STREAMS "/%s/1", id), 1,
                among);
}

/* As a worker that has it in hand alone. */
static void stamp_timeout(pawl_store *store, pawl_arena *arena)
{
    stamp_timeout_among(store, arena, 0);
}

static void stamp_timeout_of_two(pawl_store *store, pawl_arena *arena)
{
    stamp_timeout_among(store, arena, 2);
}

/* A ship's timeout, and a worker that died with these last words. */
static void leave_timeout(const char *url, last_words *say)
{
    world *it = open_world(url, 1);
    assert_int_equal(world_drain(it).handled, 3);
    world_post(it, NULL, PAWL_MESSAGE(docked, .name = PAWL_TEXT("ms anna")));
    world_drain(it);
    world_close(it);
    die(url, say);
}

ON_STORES_THAT_SEE_DEATHS(e26_a_timeout_after_a_death_is_named, const char *url)
{
    prepare(url);
    leave_timeout(url, stamp_timeout_of_two);
    world            *it = open_world(url, 1);
    static test_lines lines;
    test_listen(&lines, PAWL_LOG_INFO, " timeout ");
    world_go_both(it, PAWL_SECONDS(30));
    world_quiet();
    assert_non_null(strstr(lines.last, "endpoint dock: after a crash timeout "));
    assert_non_null(strstr(lines.last, ", 'late' of Ship "));
    assert_non_null(strstr(lines.last, ", is in flight, isolated"));
}

static pawl_store_ops        behind_look;
static const pawl_store_ops *look;
static pawl_store           *faster; /* another worker */

/* The last event of the timeout is marked since, as by one that claimed it when its lease was over. */
static pawl_code look_and_stamp(pawl_store *store, const pawl_find *asked, pawl_arena *arena,
                                pawl_found *found, pawl_error *error)
{
    pawl_code             code = look->find(store, asked, arena, found, error);
    const pawl_event_row *rows = found->items;
    if (faster != NULL && asked->kind == PAWL_FIND_EVENTS &&
        world_says(asked->events.stream, PAWL_ISOLATED_STREAMS "/"))
        write_stamp(faster, arena, asked->events.stream, found->count > 0 ? rows[0].version + 1 : 1,
                    0);
    return code;
}

ON_STORES_THAT_SEE_DEATHS(e26_a_timeout_that_another_worker_stamped_since_is_left, const char *url)
{
    prepare(url);
    leave_timeout(url, stamp_timeout);
    world_forget(&seen);
    world *it = open_world(url, 2);
    world_go_both(it, PAWL_SECONDS(30)); /* its worker may come back */
    faster            = open_worker(url);
    pawl_store *store = it->endpoint->worker->store;
    look              = store->ops;
    behind_look       = *look;
    behind_look.find  = look_and_stamp;
    store->ops        = &behind_look;
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(2)), seen, "");
    store->ops = look;
    close_worker(faster); /* in order: its marker is left behind */
    faster = NULL;
    world_go_both(it, PAWL_MINUTES(2));
    world_go_both(it, PAWL_SECONDS(2));
    assert_true(world_says(pawl_text_of(seen.text), "late"));
    assert_int_equal(world_dead(it).count, 0);
}

/* A ship's timeout, and a message behind it; a worker died of the timeout alone. */
static world *open_after_timeout(const char *url, int32_t crashes_max)
{
    leave_timeout(url, stamp_timeout);
    world_forget(&seen);
    world *it = open_world(url, crashes_max);
    world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(20), PAWL_MESSAGE(load, .number = 6));
    world_go_both(it, PAWL_SECONDS(30));
    assert_string_equal(seen.text, ""); /* a lost connection comes back within a second */
    world_go_both(it, PAWL_SECONDS(2));
    return it;
}

ON_STORES_THAT_SEE_DEATHS(e26_a_timeout_that_kills_alone_is_a_letter, const char *url)
{
    prepare(url);
    world *it = open_after_timeout(url, 1);
    assert_true(world_says(pawl_text_of(seen.text), "6"));
    assert_false(world_says(pawl_text_of(seen.text), "late"));
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_string_equal(dead.items[0].message.type.data, "late");
    assert_string_equal(dead.items[0].code.data, "ECRASHED");
    assert_int_equal(dead.items[0].crashes, 1);
    assert_true(world_says(dead.items[0].history,
                           "crashed while it ran this timeout in isolation (worker "));
    assert_false(world_says(dead.items[0].history, "in flight"));
    assert_int_equal(count_died(it), 0);
    /* The retried one begins anew: a worker that dies now does so the first time. */
    must(pawl_store_dead_settle(it->store, dead.items, 1,
                                &(const pawl_dead_settle){.by = PAWL_TEXT("ann")},
                                WORLD_START + PAWL_SECONDS(31), NULL, world_error()));
    world_close(it);
    die(url, hold_nothing);
    it = open_world(url, 1);
    world_go_both(it, PAWL_SECONDS(60));
    world_go_both(it, PAWL_SECONDS(2));
    assert_true(world_says(pawl_text_of(seen.text), "late"));
    assert_int_equal(world_dead(it).count, 0);
}

ON_STORES_THAT_SEE_DEATHS(e26_a_timeout_of_fewer_deaths_runs_again, const char *url)
{
    prepare(url);
    world *it = open_after_timeout(url, 2);
    assert_true(world_says(pawl_text_of(seen.text), "late!")); /* marked while it runs */
    assert_true(world_says(pawl_text_of(seen.text), "6"));
    assert_int_equal(world_dead(it).count, 0);
}

/* By the system's clock for what is due: the timeout, and more messages than the dead could have had. */
ON_STORES_THAT_SEE_DEATHS(e26_a_timeout_that_kills_is_judged_beside_messages, const char *url)
{
    prepare(url);
    world *it = open_world(url, 1);
    assert_int_equal(world_drain(it).handled, 3);
    world_post(it, NULL, PAWL_MESSAGE(docked, .name = PAWL_TEXT("ms anna")));
    world_drain(it);
    for (int i = 1; i <= 9; i++)
        world_post(it, NULL, PAWL_MESSAGE(load, .number = i));
    world_close(it);
    die(url, stamp_timeout);
    world_forget(&seen);
    it = open_world(url, 1);
    pawl_endpoint_destroy(it->endpoint);
    it->options.business       = NULL;
    it->options.batch_messages = 2;
    must(pawl_endpoint_create(&application, NULL, &it->options, &it->endpoint, world_error()));
    /* Pauses between two looks at a marker are of the monotonic clock, which no test moves. */
    for (patience left = patience_of(30); world_dead(it).count == 0;) {
        patience_wait(&left, "the timeout is not a dead letter");
        world_go_machine(it, PAWL_MILLISECONDS(10));
    }
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_string_equal(dead.items[0].message.type.data, "late");
    LOG_AFTER(world_go_machine(it, PAWL_SECONDS(3)), seen, "1~ 2~ 3~ 4~ 5~ 6~ 7~ 8~ 9~ ");
}

ON_STORES_THAT_SEE_DEATHS(e26_care_keeps_to_due_times, const char *url)
{
    prepare(url);
    world *it = open_world(url, 1);
    assert_int_equal(world_drain(it).handled, 3);
    world_post(it, NULL, PAWL_MESSAGE(docked, .name = PAWL_TEXT("ms anna")));
    world_drain(it);
    world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(20), PAWL_MESSAGE(load, .number = 6));
    world_post_at(it, NULL, WORLD_START + PAWL_SECONDS(10), PAWL_MESSAGE(load, .number = 5));
    for (int i = 1; i <= 3; i++)
        world_post(it, NULL, PAWL_MESSAGE(load, .number = i));
    world_close(it);
    die(url, hold_all);
    world_forget(&seen);
    it = open_world(url, 1);
    LOG_AFTER(world_go_both(it, PAWL_SECONDS(30)), seen, "1~ 2~ 3~ late~ 5~ 6~ ");
}
