/* test_engine_transitional.c - a saga whose correlation property is being
 * replaced: S20 to S22.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hook.h"
#include "support/world.h"

#include "pawl/operations.h"

RECORD(parcel_state, (TEXT, number), (TEXT, barcode), (INT32, scans));

RECORD(register_parcel, (TEXT, number), (TEXT, barcode));

/* Some senders know the number still, others only the barcode. */
RECORD(scan, (TEXT, number), (TEXT, barcode), (TEXT, relabel));

/* A sender of the next version knows no number any more. */
RECORD(peek, (OPT_TEXT, number), (TEXT, barcode));

static world *around; /* another worker writes what it relabels next; NULL: nobody does */

static int retries; /* of a scan that is to come later */

static void write_as_another(pawl_text number);

static pawl_code on_register(pawl_context *ctx, parcel_state *parcel,
                             const register_parcel *message)
{
    parcel->barcode = message->barcode;
    return PAWL_OK;
}
PAWL_HANDLER(on_register, parcel_state, register_parcel);

static pawl_code on_scan(pawl_context *ctx, parcel_state *parcel, const scan *message)
{
    world_note(pawl_user(ctx), "scan(%.*s)", PAWL_TEXT_ARGS(parcel->number));
    if (pawl_text_equal(message->relabel, PAWL_TEXT("look")))
        return PAWL_OK;
    if (pawl_text_equal(message->relabel, PAWL_TEXT("later")))
        return retries-- > 0 ? pawl_retry_after(ctx, PAWL_MINUTES(1)) : PAWL_OK;
    if (pawl_text_equal(message->relabel, PAWL_TEXT("end"))) {
        pawl_complete(ctx);
        return PAWL_OK;
    }
    parcel->scans++;
    if (message->relabel.size > 0)
        parcel->barcode = message->relabel;
    if (message->relabel.size > 0 && around != NULL)
        write_as_another(parcel->number);
    return PAWL_OK;
}
PAWL_HANDLER(on_scan, parcel_state, scan);

static pawl_code on_peek(pawl_context *ctx, parcel_state *parcel, const peek *message)
{
    world_note(pawl_user(ctx), "peek(%.*s)", PAWL_TEXT_ARGS(parcel->number));
    parcel->scans++;
    return PAWL_OK;
}
PAWL_HANDLER(on_peek, parcel_state, peek);

static const pawl_saga parcel_saga = {
    .name         = "Parcel",
    .state        = PAWL_RECORD_OF(parcel_state),
    .correlation  = "number",
    .transitional = "barcode",
    .on =
        PAWL_ON({.handle           = PAWL_HANDLE(on_register),
                 .key              = "number",
                 .transitional_key = "barcode",
                 .starts           = true},
                {.handle = PAWL_HANDLE(on_scan), .key = "number", .transitional_key = "barcode"},
                {.handle = PAWL_HANDLE(on_peek), .key = "number", .transitional_key = "barcode"})};

static const pawl_application application =
    ONE_ENDPOINT("transitional", .name = "depot", .sagas = PAWL_SAGAS(&parcel_saga));

static world_log seen;

static const pawl_saga_table *parcel_table(const world *it)
{
    return world_table(it, &application, 0);
}

static void write_as_another(pawl_text number)
{
    const pawl_saga_table *table = parcel_table(around);
    pawl_saga_row          row;
    must(pawl_store_saga_find(around->store, table, PAWL_SAGA_BY_MAIN, pawl_value_text(number),
                              around->arena, &row, world_error()));
    must(pawl_store_saga_update(around->store, table, &row, WORLD_START, world_error()));
    around = NULL;
}

static world *open_ordered(const char *url, const char *ordered)
{
    pawl_endpoint_options options = {.user = &seen, .ordered = ordered};
    around                        = NULL;
    world_forget(&seen);
    return world_begin(url, &application, NULL, &options);
}

static world *open_world(const char *url)
{
    return open_ordered(url, NULL);
}

static void post_register(world *it, const char *number, const char *barcode)
{
    world_post(it, NULL,
               PAWL_MESSAGE(register_parcel, .number = pawl_text_of(number),
                            .barcode = pawl_text_of(barcode)));
}

static void post_scan(world *it, const char *number, const char *barcode, const char *relabel)
{
    world_post(it, NULL,
               PAWL_MESSAGE(scan, .number = pawl_text_of(number), .barcode = pawl_text_of(barcode),
                            .relabel = pawl_text_of(relabel)));
}

static void post_peek(world *it, const char *barcode)
{
    world_post(it, NULL, PAWL_MESSAGE(peek, .barcode = pawl_text_of(barcode)));
}

/* ---- Finding ------------------------------------------------------------------ */

ON_ALL_STORES(s22_main_first_then_transitional, const char *url)
{
    world *it = open_world(url);
    post_register(it, "n1", "b1");
    post_register(it, "n2", "b2");
    world_drain(it);
    /* The number says n1, the barcode b2: the number wins. */
    post_scan(it, "n1", "b2", "");
    post_scan(it, "unknown", "b2", "");
    LOG_AFTER(world_drain(it), seen, "scan(n1) scan(n2) ");
    world_json_equal(it, world_saga_text(it, "Parcel", "n2", NULL),
                     "{\"number\":\"n2\",\"barcode\":\"b2\",\"scans\":1}");
}

ON_ALL_STORES(s22_a_saga_begun_in_the_batch_is_found_by_both, const char *url)
{
    world *it = open_world(url);
    post_register(it, "n1", "b1");
    post_scan(it, "other", "b1", "");
    post_scan(it, "n1", "b1", "");
    world_drain(it);
    world_json_equal(it, world_saga_text(it, "Parcel", "n1", NULL),
                     "{\"number\":\"n1\",\"barcode\":\"b1\",\"scans\":2}");
}

ON_ALL_STORES(s22_a_starter_continues_what_the_transitional_value_finds, const char *url)
{
    world *it = open_world(url);
    post_register(it, "n1", "b1");
    world_drain(it);
    post_register(it, "renumbered", "b1");
    world_drain(it);
    assert_int_equal(world_saga_count(it, "Parcel"), 1);
    assert_int_equal(world_dead(it).count, 0);
}

/* In one batch, and in one each: a parcel that is over is found by neither value, and the one that begins
 * with its barcode is another. */
ON_ALL_STORES(s22_a_saga_that_ended_is_found_by_neither, const char *url)
{
    for (int i = 0; i < 2; i++) {
        char fixture[1000];
        scenario_url_like(url, fixture, sizeof fixture);
        world *it = open_world(fixture);
        post_register(it, "n1", "b1");
        world_drain(it);
        post_scan(it, "unknown", "b1", "end");
        if (i == 1)
            world_drain(it);
        post_register(it, "n3", "b1");
        if (i == 1)
            world_drain(it);
        post_scan(it, "unknown", "b1", "");
        post_scan(it, "n3", "b1", "");
        LOG_AFTER(world_drain(it), seen, "scan(n1) scan(n3) scan(n3) ");
        assert_int_equal(world_saga_count(it, "Parcel"), 1);
        world_json_equal(it, world_saga_text(it, "Parcel", "n3", NULL),
                         "{\"number\":\"n3\",\"barcode\":\"b1\",\"scans\":2}");
        assert_int_equal(world_queue(it, "depot").count, 0);
        world_close(it);
        scenario_forget(fixture);
    }
}

/* The first scan is refused and runs again. The saga that the second found by the barcode is not
 * the first one's: it is written with its own message. */
ON_ALL_STORES(e35_what_the_transitional_value_finds_belongs_to_its_unit, const char *url)
{
    world *it = open_world(url);
    post_register(it, "n1", "b1");
    post_register(it, "n2", "b2");
    world_drain(it);
    post_scan(it, "n1", "", "b9");
    post_scan(it, "unknown", "b2", "");
    around         = it;
    pawl_step step = world_drain(it);
    assert_int_equal(step.refused, 1);
    assert_int_equal(world_queue(it, "depot").count, 0);
    world_json_equal(it, world_saga_text(it, "Parcel", "n1", NULL),
                     "{\"number\":\"n1\",\"barcode\":\"b9\",\"scans\":1}");
    world_json_equal(it, world_saga_text(it, "Parcel", "n2", NULL),
                     "{\"number\":\"n2\",\"barcode\":\"b2\",\"scans\":1}");
}

/* ---- Writing -------------------------------------------------------------------- */

/* Both values that were asked for, or the one that there was. */
ON_ALL_STORES(s22_none_names_what_was_asked_for, const char *url)
{
    static const char *const asked[][3] = {
        {"n-9", "b-9", "no saga Parcel for 'n-9' or barcode 'b-9'"},
        {"", "b-8", "no saga Parcel for '' or barcode 'b-8'"},
        {"b-7", "b-7", "no saga Parcel for 'b-7'"}};
    world            *it = open_world(url);
    static test_lines warnings;
    test_listen(&warnings, PAWL_LOG_WARNING, NULL);
    for (size_t i = 0; i < COUNT(asked); i++) {
        post_scan(it, asked[i][0], asked[i][1], "");
        world_drain(it);
        const char *part = strstr(warnings.last, asked[i][2]);
        if (part == NULL || strcmp(part, asked[i][2]) != 0)
            fail_msg("'%s' does not end with '%s'", warnings.last, asked[i][2]);
    }
    world_quiet();
}

ON_ALL_STORES(s20_the_transitional_value_is_written_at_every_update, const char *url)
{
    world *it = open_world(url);
    post_register(it, "n1", "b1");
    world_drain(it);
    post_scan(it, "n1", "", "b9");
    post_scan(it, "x", "b9", "");
    world_drain(it);
    post_peek(it, "b9"); /* in the row, too */
    post_scan(it, "z", "b1", "");
    world_drain(it);
    LOG_AFTER(world_go_both(it, PAWL_MINUTES(1)), seen, "scan(n1) scan(n1) peek(n1) ");
}

ON_ALL_STORES(s21_a_null_transitional_value_is_refused_at_save, const char *url)
{
    world *it = open_world(url);
    post_register(it, "n1", "");
    world_drain(it);
    assert_true(world_says(world_dead_letter(it).error, "null transitional property not allowed"));
    assert_int_equal(world_saga_count(it, "Parcel"), 0);
}

/* A row of before the roll-out has no transitional value until it is touched. */
ON_ALL_STORES(s21_reading_an_old_row_is_fine, const char *url)
{
    int64_t version = 0;
    world  *it      = open_world(url);
    MUST_COMMIT(it->store, saga_insert, WORLD_START, .table = parcel_table(it), .id = {{{1}}},
                .main = pawl_value_text(PAWL_TEXT("old")), .metadata = PAWL_TEXT("{}"),
                .data = PAWL_TEXT("{\"number\":\"old\"}"), .type_version = PAWL_TEXT("1.0"));
    post_scan(it, "old", "", "look");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 0);
    world_saga_text(it, "Parcel", "old", &version);
    assert_int_equal(version, 1);
    post_scan(it, "old", "", "b7");
    post_scan(it, "gone", "b7", "");
    world_drain(it);
    world_json_equal(it, world_saga_text(it, "Parcel", "old", &version),
                     "{\"number\":\"old\",\"barcode\":\"b7\",\"scans\":2}");
    assert_int_equal(version, 2);
}

/* ---- Between two reads --------------------------------------------------------- */

static int loads_left;

static pawl_code begin_before_load(hook_point point, void *context)
{
    world *it = context;
    if (point != HOOK_BEFORE_LOAD || loads_left-- != 0)
        return PAWL_OK;
    MUST_COMMIT(it->store, saga_insert, WORLD_START, .table = parcel_table(it), .id = {{{3}}},
                .main         = pawl_value_text(PAWL_TEXT("n1")),
                .transitional = pawl_value_text(PAWL_TEXT("b1")), .metadata = PAWL_TEXT("{}"),
                .data         = PAWL_TEXT("{\"number\":\"n1\",\"barcode\":\"b1\"}"),
                .type_version = PAWL_TEXT("1.0"));
    return PAWL_OK;
}

/* Not there by its number, there by its barcode a moment later: it is one saga to the
 * batch, and what both messages do to it is saved at once. */
ON_ALL_STORES(s22_a_saga_that_begins_between_the_reads_is_one, const char *url)
{
    world *it = open_world(hook_url(url));
    post_scan(it, "n1", "", "");
    post_scan(it, "other", "b1", "");
    loads_left = 1;
    hook_set(begin_before_load, it);
    pawl_step step = world_step(it);
    hook_set(NULL, NULL);
    assert_string_equal(seen.text, "scan(n1) scan(n1) ");
    assert_int_equal(step.handled, 2);
    assert_int_equal(step.refused, 0);
    world_json_equal(it, world_saga_text(it, "Parcel", "n1", NULL),
                     "{\"number\":\"n1\",\"barcode\":\"b1\",\"scans\":2}");
}

ON_ALL_STORES(s22_a_message_without_the_main_value_is_found_by_the_other, const char *url)
{
    world *it = open_world(url);
    post_register(it, "n1", "b1");
    post_peek(it, "b1");
    world_drain(it);
    post_peek(it, "b1");
    LOG_AFTER(world_drain(it), seen, "peek(n1) peek(n1) ");
    assert_int_equal(world_dead(it).count, 0);
    world_json_equal(it, world_saga_text(it, "Parcel", "n1", NULL),
                     "{\"number\":\"n1\",\"barcode\":\"b1\",\"scans\":2}");
}

/* "None" for it is no more final than for a number: it is read again after a look at the
 * queue, and dropped when there is still none (E3). */
ON_ALL_STORES(s22_a_message_without_the_main_value_is_read_again, const char *url)
{
    world *it = open_world(hook_url(url));
    post_peek(it, "b1");
    loads_left = 1;
    hook_set(begin_before_load, it);
    pawl_step step = world_step(it);
    hook_set(NULL, NULL);
    assert_string_equal(seen.text, "peek(n1) ");
    assert_int_equal(step.handled, 1);
    post_peek(it, "b9");
    assert_int_equal(world_step(it).handled, 1);
    assert_int_equal(world_queue(it, "depot").count, 0);
    assert_int_equal(world_dead(it).count, 0);
}

ON_ALL_STORES(e3_a_message_without_the_main_value_waits_for_older_ones, const char *url)
{
    world *it = open_world(url);
    post_register(it, "n1", "b1");
    pawl_queue_row row = world_claim_oldest(it, "depot");
    post_peek(it, "b1");
    assert_int_equal(world_drain(it).handled, 0);
    assert_int_equal(world_queue(it, "depot").count, 2);
    world_give_back(it, "depot", &row, PAWL_QUEUE_RELEASE);
    LOG_AFTER(world_go(it, PAWL_SECONDS(1)), seen, "peek(n1) ");
    assert_int_equal(world_queue(it, "depot").count, 0);
}

/* ---- In an ordered endpoint ----------------------------------------------------- */

ON_ALL_STORES(e26_the_transitional_value_is_the_key_of_a_message_without_the_main_one,
              const char *url)
{
    world *it = open_ordered(url, PAWL_ORDERED_BY_SAGA);
    retries   = 1;
    post_register(it, "n1", "b1");
    world_drain(it);
    world_post_json(it, NULL, "scan", "{\"barcode\":\"b1\",\"relabel\":\"later\"}");
    post_scan(it, "n1", "b1", "look"); /* has another key, */
    world_post_json(it, NULL, "scan", "{\"number\":null,\"barcode\":\"b1\"}");
    post_peek(it, "b1");
    post_peek(it, "b9"); /* and so has this one, for no saga */
    LOG_AFTER(world_drain(it), seen, "scan(n1) scan(n1) ");
    assert_int_equal(world_queue(it, "depot").count, 3);
    LOG_AFTER(world_go(it, PAWL_MINUTES(2)), seen, "scan(n1) scan(n1) scan(n1) scan(n1) peek(n1) ");
    assert_int_equal(world_dead(it).count, 0);
}
