/* test_engine_disagree.c - rows of sagas that were changed by other means than pawl: the state names
 * another value than the column by which the row is found. E10.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/operations.h"

RECORD(account, (TEXT, owner), (INT64, cents));
#define METER(F)  \
    F(TIME, read) \
    F(INT64, number)
PAWL_RECORD(meter, METER);
RECORD(open_account, (TEXT, owner), (INT64, cents));
RECORD(charge, (TEXT, owner), (INT64, cents));
RECORD(charged, (TEXT, owner), (INT64, cents));
RECORD(begin_meter, (TIME, read));
RECORD(close_meter, (TIME, read));

static pawl_saga_id the_meter;

static pawl_code on_open_account(pawl_context *ctx, account *state, const open_account *message)
{
    state->cents = message->cents;
    return pawl_timeout(ctx, "monthly", PAWL_DAYS(30));
}
PAWL_HANDLER(on_open_account, account, open_account);

/* Charges whom the state names. */
static pawl_code on_charge(pawl_context *ctx, account *state, const charge *message)
{
    if (state->owner.size == 0)
        state->owner = message->owner;
    state->cents -= message->cents;
    return pawl_send(ctx, "bank",
                     PAWL_MESSAGE(charged, .owner = state->owner, .cents = message->cents));
}
PAWL_HANDLER(on_charge, account, charge);

static pawl_code on_monthly(pawl_context *ctx, account *state)
{
    state->cents -= 1;
    return pawl_send(ctx, "bank", PAWL_MESSAGE(charged, .owner = state->owner, .cents = 1));
}
PAWL_TIMEOUT_HANDLER(on_monthly, account);

static pawl_code on_begin_meter(pawl_context *ctx, meter *state, const begin_meter *message)
{
    the_meter = pawl_saga_id_in_flight(ctx);
    state->number++;
    return PAWL_OK;
}
PAWL_HANDLER(on_begin_meter, meter, begin_meter);

static pawl_code find_meter(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    *id = the_meter;
    return PAWL_OK;
}

static pawl_code on_close_meter(pawl_context *ctx, meter *state, const close_meter *message)
{
    return pawl_complete(ctx);
}
PAWL_HANDLER(on_close_meter, meter, close_meter);

static const pawl_saga account_saga =
    SAGA_OF("Account", account, "owner",
            {.handle = PAWL_HANDLE(on_open_account), .key = "owner", .starts = true},
            {.handle = PAWL_HANDLE(on_charge), .key = "owner"},
            {.handle = PAWL_HANDLE(on_monthly), .timeout = "monthly"});
static const pawl_saga meter_saga = SAGA_OF(
    "Meter", meter, "read", {.handle = PAWL_HANDLE(on_begin_meter), .key = "read", .starts = true},
    {.handle    = PAWL_HANDLE(on_close_meter),
     .key       = "read",
     .find      = find_meter,
     .not_found = PAWL_NOT_FOUND_DEAD});
static const pawl_application application =
    ONE_ENDPOINT("disagree", .name = "till", .sagas = PAWL_SAGAS(&account_saga, &meter_saga));

/* Writes the state as somebody would with SQL: the column stays. */
static void overwrite(world *it, size_t table, pawl_value by, const char *data)
{
    const pawl_saga_table *of = world_table(it, &application, table);
    pawl_saga_row          row;
    must(
        pawl_store_saga_find(it->store, of, PAWL_SAGA_BY_MAIN, by, it->arena, &row, world_error()));
    row.data = pawl_text_of(data);
    must(pawl_store_saga_update(it->store, of, &row, WORLD_START, world_error()));
}

static void overwrite_account(world *it, const char *owner, const char *data)
{
    overwrite(it, 0, pawl_value_text(pawl_text_of(owner)), data);
}

static void post_charge(world *it, const char *id, const char *owner)
{
    world_post(it, id, PAWL_MESSAGE(charge, .owner = pawl_text_of(owner), .cents = 5));
}

static world *open_accounts(const char *url)
{
    world *it = world_begin(url, &application, NULL, NULL);
    world_post(it, NULL, PAWL_MESSAGE(open_account, .owner = PAWL_TEXT("ann"), .cents = 100));
    world_post(it, NULL, PAWL_MESSAGE(open_account, .owner = PAWL_TEXT("bob"), .cents = 100));
    world_drain(it);
    return it;
}

/* ---- Disagreement -------------------------------------------------------------- */

static void expect_refused(const pawl_dead_row *letter)
{
    assert_true(pawl_text_equal(letter->code, PAWL_TEXT("EINVAL")));
    assert_true(world_says(letter->error, "saga Account "));
    assert_true(world_says(letter->error, "property 'owner' has 'ann', its state 'bob'"));
}

/* In a batch with others, which go on: neither account is charged for it, and once the row is mended
 * the letter is handled. */
ON_ALL_STORES(e10_a_state_that_names_another_is_refused, const char *url)
{
    const int64_t half = PAWL_DAYS(15);
    world        *it   = open_accounts(url);
    overwrite_account(it, "ann", "{\"owner\":\"bob\",\"cents\":100}");
    post_charge(it, "c-1", "bob");
    post_charge(it, "c-2", "ann");
    post_charge(it, "c-3", "bob");
    world_go_both(it, half);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    assert_string_equal(dead.items[0].message.id.data, "c-2");
    expect_refused(&dead.items[0]);
    assert_int_equal(world_queue(it, "bank").count, 2);
    world_json_equal(it, world_saga_text(it, "Account", "bob", NULL),
                     "{\"owner\":\"bob\",\"cents\":90}");
    world_json_equal(it, world_saga_text(it, "Account", "ann", NULL),
                     "{\"owner\":\"bob\",\"cents\":100}");
    overwrite_account(it, "ann", "{\"owner\":\"ann\",\"cents\":100}");
    must(pawl_store_dead_retry(it->store, PAWL_TEXT("till"), PAWL_TEXT("c-2"), PAWL_TEXT("ann"),
                               PAWL_TEXT(""), world_now(it), world_error()));
    world_go_both(it, PAWL_SECONDS(10));
    world_json_equal(it, world_saga_text(it, "Account", "ann", NULL),
                     "{\"owner\":\"ann\",\"cents\":95}");
    assert_int_equal(world_dead(it).count, 0);
}

/* A state from before the property has no value of it, which its handler may set. */
ON_ALL_STORES(d27_a_state_without_a_value_is_no_other, const char *url)
{
    world *it = open_accounts(url);
    overwrite_account(it, "ann", "{\"cents\":100}");
    post_charge(it, "c-1", "ann");
    world_drain(it);
    assert_int_equal(world_dead(it).count, 0);
    world_json_equal(it, world_saga_text(it, "Account", "ann", NULL),
                     "{\"owner\":\"ann\",\"cents\":95}");
}

/* A timeout finds the row by its id. */
ON_ALL_STORES(e10_a_timeout_does_not_believe_it_either, const char *url)
{
    world *it = open_accounts(url);
    overwrite_account(it, "ann", "{\"owner\":\"bob\",\"cents\":100}");
    world_go_both(it, PAWL_DAYS(31));
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 1);
    expect_refused(&dead.items[0]);
    assert_int_equal(world_queue(it, "bank").count, 1);
}

/* Columns of some databases keep seconds only: a difference of less is none. */
ON_ALL_STORES(d22_a_time_that_the_column_rounds_is_the_same, const char *url)
{
    static const struct {
        const char *data;
        size_t      letters;
    } rows[]  = {{"{\"read\":\"2026-01-01T09:00:00.900000Z\",\"number\":1}", 0},
                 {"{\"read\":\"2026-01-01T08:59:59.500000Z\",\"number\":1}", 0},
                 {"{\"read\":\"2026-01-01T09:00:01.000000Z\",\"number\":1}", 1},
                 {"{\"read\":\"2026-01-01T08:59:58.000000Z\",\"number\":1}", 2}};
    world *it = world_begin(url, &application, NULL, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        /* Found by a finder, thus by its id; completed, so that its property is not compared again. */
        pawl_time day = WORLD_START;
        if (i < 3)
            world_post(it, NULL, PAWL_MESSAGE(begin_meter, .read = day));
        world_drain(it);
        overwrite(it, 1, (pawl_value){.type = PAWL_VALUE_TIME, .as.time = day}, rows[i].data);
        world_post(it, NULL, PAWL_MESSAGE(close_meter, .read = day));
        world_drain(it);
        assert_int_equal(world_dead(it).count, rows[i].letters);
        assert_int_equal(world_saga_count(it, "Meter"), rows[i].letters != 0);
    }
    assert_true(world_says(world_dead(it).items[0].error, "'read' has "));
}

void (*const tests_first)(void) = scenario_files_in_memory;
