/* test_projection.c - readers of the event store: order, positions, who reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "support/fault_store.h"
#include "unit/runtime/test_projection_sample.h"

/* ---- Order and position ------------------------------------------------------------ */

ON_ALL_STORES(events_come_in_the_order_of_all_streams, const char *url)
{
    world *it = begin(url, &application);
    assert_int_equal(world_drain(it).projected, 0);
    append(it, "A/1", 1, 10);
    append(it, "B/1", 1, 20);
    append_as(it, "B/1", 2, "stranger", 1, "{}");
    append(it, "A/1", 2, 11);
    append_as(it, "C/1", 1, "stranger", 1, "{}");
    assert_int_equal(world_drain(it).projected, 5);
    expect_seen("A/1.1=10 B/1.1=20 A/1.2=11");
    assert_int_equal(position_of(it, "projection/names"), last_position(it));
    assert_true(position_of(it, "projection/names") > 0);
    pawl_step idle = world_drain(it);
    assert_int_equal(idle.projected, 0);
    assert_true(idle.next_due == PAWL_TIME_MAX);
    expect_seen("");
}

/* The pause is one behind the failure, however long the handler took. */
ON_STORES(an_event_whose_handler_is_slow_waits_from_its_failure_on, const char *url)
{
    world              *it = begin(url, &application);
    pawl_projection_row row;
    plan.fails  = -1;
    plan.number = 1;
    plan.code   = PAWL_REJECT;
    plan.slowed = it->machine;
    append_many(it, "A/1", 1, 1);
    (void)world_step(it);
    must(pawl_store_projection_find(it->store, PAWL_TEXT("names"), pawl_clock_now(it->machine),
                                    it->arena, &row, world_error()));
    assert_int_equal(row.failure.next, pawl_clock_now(it->machine) + PAWL_SECONDS(1));
}

ON_ALL_STORES(what_an_entity_emits_is_projected, const char *url)
{
    world *it  = begin(url, &box_application);
    plan.sends = plan.publishes = true;
    plan.destination            = "plain";
    world_post(it, "p-1", PAWL_MESSAGE(put, .box = PAWL_TEXT("1"), .number = 5));
    pawl_step sum = world_drain(it);
    assert_int_equal(sum.projected, 2);
    assert_int_equal(sum.handled, 1 + 4);
    expect_seen("Box/1.1=5 Box/1.2=6 heard(5) heard(-5) heard(6) heard(-6)");
    assert_int_equal(world_queue(it, "plain").count, 0);
}

/* Messages caused by an event without a message name it all the same: each has an id of its own,
 * the same one in each run. */
ON_ALL_STORES(events_that_came_another_way_have_ids_apart, const char *url)
{
    world *it  = begin(url, &application);
    plan.sends = true;
    append_of(it, "", "A/1", 1, "noted", 1, "{\"number\":1}");
    append_of(it, "", "A/1", 2, "noted", 1, "{\"number\":2}");
    append_of(it, "", "B/1", 1, "noted", 1, "{\"number\":3}");
    world_drain(it);
    pawl_queue_rows rows = world_queue(it, "out");
    assert_int_equal(rows.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(rows.items[i].message.causation_id.size, PAWL_UUID_TEXT_SIZE);
        assert_false(pawl_text_equal(rows.items[i].message.causation_id,
                                     rows.items[(i + 1) % 3].message.causation_id));
    }
}

ON_ALL_STORES(a_batch_is_a_commit, const char *url)
{
    world *it = begin(url, &small_application);
    append_many(it, "A/1", 1, 7);
    pawl_step step = world_step(it);
    assert_int_equal(step.projected, 3);
    assert_false(step.is_idle);
    assert_int_equal(position_of(it, "projection/names"), all_events(it).items[2].position);
    assert_int_equal(world_step(it).projected, 3);
    assert_int_equal(world_drain(it).projected, 1);
    expect_seen("A/1.1=1 A/1.2=2 A/1.3=3 A/1.4=4 A/1.5=5 A/1.6=6 A/1.7=7");
}

static char large[PAWL_BODY_SIZE_MAX + 1];

static void append_large(world *it, int64_t version, size_t size)
{
    memset(large, 'x', size);
    memcpy(large, "{\"pad\":\"", 8);
    memcpy(large + size - 2, "\"}", 3);
    append_as(it, "A/1", version, "large", 1, large);
}

/* A read has 16 events at first, and then as many as have 16 MB together. */
ON_STORES(large_events_are_read_in_smaller_batches, const char *url)
{
    static const int reads[] = {16, 8, 4, 8, 16, 32, 1};
    world           *it      = begin(url, &application);
    for (int i = 1; i <= 16 + 8 + 4; i++)
        append_large(it, i, PAWL_BODY_SIZE_MAX / 8 - 100);
    for (size_t i = 0; i < COUNT(reads); i++) {
        if (i == 3) /* of small ones twice as many each time */
            append_many(it, "A/2", 1, 8 + 16 + 32 + 1);
        pawl_step step = world_step(it);
        assert_int_equal(step.projected, reads[i]);
    }
}

/* The largest ones are read one by one. */
ON_STORES(an_event_larger_than_a_read_is_read_alone, const char *url)
{
    world *it = begin(url, &application);
    append_large(it, 1, PAWL_BODY_SIZE_MAX);
    assert_int_equal(world_step(it).projected, 1);
    append_many(it, "A/2", 1, 3);
    assert_int_equal(world_step(it).projected, 1);
    assert_int_equal(world_step(it).projected, 2);
}

ON_ALL_STORES(each_projection_has_a_position_of_its_own, const char *url)
{
    world_hold(url);
    world *it = begin(url, &application);
    append(it, "A/1", 1, 1);
    append_as(it, "A/1", 2, "renamed", 2, "{\"title\":\"two\"}");
    (void)world_drain(it);
    expect_seen("A/1.1=1 two");
    world_close(it);
    it = begin(url, &both_application);
    append(it, "A/1", 3, 3);
    append_as(it, "A/1", 4, "renamed", 2, "{\"title\":\"four\"}");
    (void)world_drain(it);
    expect_seen("A/1.3=3 four two four");
    assert_int_equal(position_of(it, "projection/names"), last_position(it));
    assert_int_equal(position_of(it, "projection/titles"), last_position(it));
}

ON_ALL_STORES(the_position_outlives_the_endpoint, const char *url)
{
    world_hold(url);
    world *it = begin(url, &application);
    append_many(it, "A/1", 1, 2);
    (void)world_drain(it);
    expect_seen("A/1.1=1 A/1.2=2");
    append_many(it, "A/1", 3, 1);
    world_close(it);
    it = begin(url, &application);
    append_many(it, "A/1", 4, 1);
    (void)world_drain(it);
    expect_seen("A/1.3=3 A/1.4=4");
}

ON_ALL_STORES(events_of_older_records_are_upcast, const char *url)
{
    world *it = begin(url, &application);
    append_as(it, "A/1", 1, "renamed", 1, "{\"name\":\"x\"}");
    append_as(it, "A/1", 2, "renamed", 2, "{\"title\":\"new\"}");
    (void)world_drain(it);
    expect_seen("upcast 12 new");
}

/* ---- Another program ------------------------------------------------------------------- */

static const pawl_projection    old_names   = {.name = "names",
                                               .on   = PAWL_ON({.handle = PAWL_HANDLE(on_noted)})};
static const pawl_projection    new_names   = {.name = "names",
                                               .on   = PAWL_ON({.handle = PAWL_HANDLE(on_renamed)})};
static const pawl_endpoint_spec old_plain   = {.name        = "plain",
                                               .projections = PAWL_PROJECTIONS(&old_names)};
static const pawl_endpoint_spec new_plain   = {.name        = "plain",
                                               .projections = PAWL_PROJECTIONS(&new_names)};
static const pawl_endpoint_spec with_titles = {
    .name = "other", .projections = PAWL_PROJECTIONS(&old_names, &titles)};
PROJECTING(old_program, &old_plain);
PROJECTING(new_program, &new_plain);
PROJECTING(titles_program, &with_titles);

/* The one has the lease, and the other's worker is there. */
static world *open_old(world **newer, const char *url, const pawl_application *newer_application)
{
    world *old = begin(url, &old_program);
    (void)world_drain(old);
    *newer = world_begin(url, newer_application, NULL, NULL);
    (void)world_drain(*newer);
    return old;
}

/* Of these events the `stranger` is no program's. */
ON_ALL_STORES(e28_an_event_that_another_program_projects_is_left_to_it, const char *url)
{
    world *newer;
    world *old = open_old(&newer, url, &application);
    append(old, "A/1", 1, 1);
    append_as(old, "A/1", 2, "stranger", 1, "{}");
    append(old, "A/1", 3, 3);
    append_as(old, "A/1", 4, "renamed", 2, "{\"title\":\"four\"}");
    append(old, "A/1", 5, 5);
    assert_int_equal(world_step(old).projected, 3); /* in one commit */
    assert_int_equal(world_drain(old).projected, 0);
    expect_seen("A/1.1=1 A/1.3=3");
    assert_int_equal(position_of(old, "projection/names"), numbered_events(old).items[2].position);
    assert_int_equal(world_go_machine(old, PAWL_SECONDS(14)).projected, 0);
    assert_int_equal(world_go_machine(newer, PAWL_SECONDS(14)).projected, 2);
    expect_seen("four A/1.5=5");
    append(old, "A/1", 6, 6);
    assert_int_equal(world_go_machine(old, PAWL_SECONDS(20)).projected, 0);
    assert_int_equal(world_drain(newer).projected, 1);
    expect_seen("A/1.6=6");
}

/* Each leaves to the other what only the other takes. */
ON_ALL_STORES(e28_programs_that_project_other_events_take_turns, const char *url)
{
    world *newer;
    world *old = open_old(&newer, url, &new_program);
    append(old, "A/1", 1, 1);
    append_as(old, "A/1", 2, "renamed", 2, "{\"title\":\"two\"}");
    append(old, "A/1", 3, 3);
    append_as(old, "A/1", 4, "renamed", 2, "{\"title\":\"four\"}");
    for (int i = 0; i < 4; i++) {
        (void)world_go_machine(old, PAWL_SECONDS(15));
        (void)world_go_machine(newer, PAWL_SECONDS(15));
    }
    expect_seen("A/1.1=1 two A/1.3=3 four");
}

/* Neither a program that ended counts, nor another projection. */
ON_ALL_STORES(e28_an_event_that_no_live_program_projects_is_passed_over, const char *url)
{
    world *newer;
    world *old = open_old(&newer, url, &application);
    (void)world_drain(world_begin(url, &titles_program, NULL, NULL));
    append_as(old, "A/1", 1, "renamed", 2, "{\"title\":\"one\"}");
    append(old, "A/1", 2, 2);
    assert_int_equal(world_drain(old).projected, 0);
    world_close(newer);
    assert_int_equal(world_go_machine(old, PAWL_SECONDS(15)).projected, 2);
    expect_seen("A/1.2=2");
}

/* Workers are listed for an event of an unknown type alone, and a list that fails moves nothing. */
ON_STORES(e28_a_read_of_known_events_lists_no_workers, const char *url)
{
    fault_plan fault = {
        .kind = FAULT_BEFORE, .op = fault_op_worker_list, .n = 1, .code = PAWL_EPERSIST};
    fault_bind("others", url);
    world *newer;
    world *old = open_old(&newer, "fault:others", &application);
    append_many(old, "A/1", 1, 2);
    fault_plan_set(&fault);
    assert_int_equal(world_drain(old).projected, 2);
    assert_false(fault_was_reached());
    append_as(old, "A/1", 3, "renamed", 2, "{\"title\":\"three\"}");
    assert_int_not_equal(pawl_endpoint_drain(old->endpoint, NULL, world_error()), PAWL_OK);
    assert_true(fault_was_reached());
    fault_plan_set(NULL);
    assert_int_equal(position_of(old, "projection/names"), numbered_events(old).items[1].position);
    assert_int_equal(world_go_machine(newer, PAWL_SECONDS(60)).projected, 1);
    expect_seen("A/1.1=1 A/1.2=2 three");
}

/* The same event in version 1, and in version 2 without an upcaster. */
RECORD_WITH(renamed_before, ((TEXT, name)), .type = "renamed");
PAWL_RECORD_WITH(renamed_only, RENAMED, .type = "renamed", .version = 2);

static pawl_code on_renamed_before(pawl_context *ctx, const renamed_before *event)
{
    world_note(&seen, "before(%.*s)", PAWL_TEXT_ARGS(event->name));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_renamed_before, renamed_before);

static pawl_code on_renamed_only(pawl_context *ctx, const renamed_only *event)
{
    world_note(&seen, "only(%.*s)", PAWL_TEXT_ARGS(event->title));
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_renamed_only, renamed_only);

#define NAMES_OF(program, handler)                                           \
    static const pawl_projection program##_names = {                         \
        .name = "names", .on = PAWL_ON({.handle = PAWL_HANDLE(handler)})};   \
    static const pawl_endpoint_spec program##_plain = {                      \
        .name = "plain", .projections = PAWL_PROJECTIONS(&program##_names)}; \
    PROJECTING(program, &program##_plain)
NAMES_OF(of_version_1, on_renamed_before);
NAMES_OF(of_version_2, on_renamed_only);

ON_ALL_STORES(e28_an_event_of_a_newer_version_is_left_to_a_program_that_reads_it, const char *url)
{
    world *newer;
    world *old = begin(url, &of_version_1);
    (void)world_drain(old);
    newer = world_begin(url, &new_program, NULL, NULL);
    (void)world_drain(newer);
    append_as(old, "A/1", 1, "renamed", 1, "{\"name\":\"one\"}");
    append_as(old, "A/1", 2, "renamed", 2, "{\"title\":\"two\"}");
    append_as(old, "A/1", 3, "renamed", 1, "{\"name\":\"x\"}");
    assert_int_equal(world_drain(old).projected, 1);
    assert_int_equal(world_go_machine(old, PAWL_SECONDS(14)).projected, 0);
    expect_seen("before(one)");
    assert_int_equal(world_go_machine(newer, PAWL_SECONDS(14)).projected, 2);
    expect_seen("two upcast 12");
}

/* The event has failed before the other program is there. */
ON_ALL_STORES(e28_an_event_that_waits_for_its_version_goes_on_with_a_program_that_reads_it,
              const char *url)
{
    pawl_projection_row row;
    world              *old = begin(url, &of_version_1);
    append_as(old, "A/1", 1, "renamed", 2, "{\"title\":\"one\"}");
    append_as(old, "A/1", 2, "renamed", 1, "{\"name\":\"x\"}");
    (void)world_go_machine(old, PAWL_SECONDS(30));
    must(pawl_store_projection_find(old->store, PAWL_TEXT("names"), pawl_clock_now(old->machine),
                                    old->arena, &row, world_error()));
    assert_true(row.failure.attempts > 0);
    world *newer = world_begin(url, &new_program, NULL, NULL);
    (void)world_drain(newer);
    assert_int_equal(world_go_machine(old, PAWL_MINUTES(5)).projected, 0);
    assert_int_equal(world_go_machine(newer, PAWL_SECONDS(15)).projected, 2);
    expect_seen("one upcast 12");
    must(pawl_store_projection_find(old->store, PAWL_TEXT("names"), pawl_clock_now(old->machine),
                                    old->arena, &row, world_error()));
    assert_int_equal(row.failure.attempts, 0);
}

/* Without an upcaster the newer program leaves older events to the old one; none reads a third version, for which
 * nobody gives way. */
ON_ALL_STORES(e28_programs_that_read_other_versions_take_turns, const char *url)
{
    world *old = begin(url, &of_version_1);
    (void)world_drain(old);
    world *newer = world_begin(url, &of_version_2, NULL, NULL);
    (void)world_drain(newer);
    append_as(old, "A/1", 1, "renamed", 2, "{\"title\":\"one\"}");
    append_as(old, "A/1", 2, "renamed", 1, "{\"name\":\"two\"}");
    append_as(old, "A/1", 3, "renamed", 3, "{}");
    for (int i = 0; i < 4; i++) {
        (void)world_go_machine(old, PAWL_SECONDS(15));
        (void)world_go_machine(newer, PAWL_SECONDS(15));
    }
    expect_seen("only(one) before(two)");
    assert_int_equal(position_of(old, "projection/names"), numbered_events(old).items[1].position);
    pawl_projection_row row;
    must(pawl_store_projection_find(old->store, PAWL_TEXT("names"), pawl_clock_now(old->machine),
                                    old->arena, &row, world_error()));
    assert_true(row.failure.attempts > 1);
}

/* ---- Several endpoints ----------------------------------------------------------------- */

ON_ALL_STORES(one_reads_and_the_other_takes_over, const char *url)
{
    world *first  = begin(url, &application);
    world *second = world_begin(url, &other_application, NULL, NULL);
    plan.sends    = true;
    append_many(first, "A/1", 1, 2);
    assert_int_equal(world_drain(first).projected, 2);
    append_many(first, "A/1", 3, 1);
    (void)world_go_machine(second, PAWL_SECONDS(30));
    assert_int_equal(world_drain(second).projected, 0);
    expect_seen("A/1.1=1 A/1.2=2");
    assert_int_equal(world_drain(first).projected, 1);
    append_many(first, "A/1", 4, 2);
    world_close(first);
    (void)world_go_machine(second, PAWL_SECONDS(20));
    expect_seen("A/1.3=3 A/1.4=4 A/1.5=5");
    assert_int_equal(world_queue(second, "out").count, 5);
}

/* The first reader stood still for longer than its lease, and does not know it. Its commits from
 * its old position leave no trace. */
ON_ALL_STORES(who_comes_back_too_late_does_nothing, const char *url)
{
    world *first  = begin(url, &application);
    world *second = world_begin(url, &application, NULL, NULL);
    plan.sends    = true;
    append_many(first, "A/1", 1, 2);
    assert_int_equal(world_drain(first).projected, 2);
    append_many(first, "A/1", 3, 2);
    assert_int_equal(world_go_machine(second, PAWL_MINUTES(2)).projected, 2);
    expect_seen("A/1.1=1 A/1.2=2 A/1.3=3 A/1.4=4");
    append_many(first, "A/1", 5, 1);
    int64_t before = position_of(first, "projection/names");
    assert_int_equal(world_drain(first).projected, 0);
    assert_int_equal(position_of(first, "projection/names"), before);
    expect_seen("A/1.3=3 A/1.4=4 A/1.5=5");
    assert_int_equal(world_drain(second).projected, 1);
    expect_seen("A/1.5=5");
    expect_sent_once(first, "plain");
}

/* ---- Names --------------------------------------------------------------------------------- */

/* Refused before a store is opened. */
ON_STORE(a_name_must_leave_room_for_its_prefix, const char *url, "memory")
{
    char                  name[300];
    pawl_endpoint        *endpoint = NULL;
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    options.store                  = url;
    for (int size = 189; size <= 190; size++) {
        memset(name, 'n', sizeof name);
        name[size]                          = '\0';
        const pawl_projection    projection = {.name = name, .on = names.on};
        const pawl_endpoint_spec spec       = {.name        = "plain",
                                               .projections = PAWL_PROJECTIONS(&projection)};
        const pawl_application   long_names = APPLICATION("long", &spec);
        pawl_code code = pawl_endpoint_create(&long_names, NULL, &options, &endpoint, &error);
        assert_int_equal(code, size == 189 ? PAWL_OK : PAWL_ECONFIG);
        pawl_endpoint_destroy(endpoint);
    }
    assert_true(world_says(pawl_text_of(error.text), "has 190 bytes, the limit is 189"));
}
