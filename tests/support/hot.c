/* hot.c - an application with contended sagas, which other workers write, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/hot.h"

#include "support/locks.h"

/* ---- The application -------------------------------------------------------- */

RECORD(other_state, (TEXT, other), (INT32, count));
RECORD(counter_state, (TEXT, name), (INT32, number), (INT32, count));
RECORD(safe_state, (TEXT, name), (INT32, count));

int          hot_meddlings;
bool         hot_is_taken_then;
int          hot_fails;
pawl_saga_id hot_counter_id;
world_log    hot_seen;

static world *around;

static void meddle(pawl_text name);

static pawl_code count_up(pawl_context *ctx, counter_state *counter, const char *what)
{
    world_note(&hot_seen, "%s(%.*s)", what, PAWL_TEXT_ARGS(counter->name));
    hot_counter_id = pawl_saga_id_in_flight(ctx);
    counter->count++;
    if (hot_meddlings > 0) {
        hot_meddlings--;
        meddle(counter->name);
    }
    return hot_fails-- > 0 ? PAWL_RETRY : PAWL_OK;
}

static pawl_code on_bump(pawl_context *ctx, counter_state *counter, const bump *message)
{
    counter->number = message->number != 0 ? message->number : 1000;
    return count_up(ctx, counter, "bump");
}
PAWL_HANDLER(on_bump, counter_state, bump);

static pawl_code on_touch(pawl_context *ctx, counter_state *counter, const touch *message)
{
    return count_up(ctx, counter, "touch");
}
PAWL_HANDLER(on_touch, counter_state, touch);

static pawl_code on_both_counter(pawl_context *ctx, counter_state *counter, const both *message)
{
    return count_up(ctx, counter, "both");
}
PAWL_HANDLER(on_both_counter, counter_state, both);

static pawl_code on_both_other(pawl_context *ctx, other_state *other, const both *message)
{
    other->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_both_other, other_state, both);

static pawl_code on_nudge(pawl_context *ctx, other_state *other, const nudge *message)
{
    world_note(&hot_seen, "nudge(%.*s,%d)", PAWL_TEXT_ARGS(other->other), (int)other->count);
    return PAWL_OK;
}
PAWL_HANDLER(on_nudge, other_state, nudge);

static pawl_code on_found(pawl_context *ctx, counter_state *counter, const found *message)
{
    return count_up(ctx, counter, "found");
}
PAWL_HANDLER(on_found, counter_state, found);

static pawl_code on_begin_found(pawl_context *ctx, counter_state *counter,
                                const begin_found *message)
{
    return count_up(ctx, counter, "begin");
}
PAWL_HANDLER(on_begin_found, counter_state, begin_found);

static pawl_code on_no(pawl_context *ctx, counter_state *counter, const pawl_rejected *answer)
{
    return count_up(ctx, counter, "no");
}
PAWL_HANDLER(on_no, counter_state, pawl_rejected);

static pawl_code find_counter(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    *id = hot_counter_id;
    return PAWL_OK;
}

static pawl_code on_ring(pawl_context *ctx, counter_state *counter)
{
    return count_up(ctx, counter, "ring");
}
PAWL_TIMEOUT_HANDLER(on_ring, counter_state);

static pawl_saga_id safe_id; /* of the last inserted Safe */

static pawl_code on_put_in(pawl_context *ctx, safe_state *safe, const put_in *message)
{
    safe_id = pawl_saga_id_in_flight(ctx);
    safe->count++;
    return PAWL_OK;
}
PAWL_HANDLER(on_put_in, safe_state, put_in);

static pawl_code on_take_out(pawl_context *ctx, safe_state *safe, const take_out *message)
{
    safe->count--;
    return PAWL_OK;
}
PAWL_HANDLER(on_take_out, safe_state, take_out);

static pawl_code find_safe(pawl_context *ctx, const void *message, pawl_saga_id *id)
{
    *id = safe_id;
    return PAWL_OK;
}

static const pawl_saga other_saga =
    SAGA_OF("Other", other_state, "other",
            {.handle = PAWL_HANDLE(on_both_other), .key = "name", .starts = true},
            {.handle = PAWL_HANDLE(on_nudge), .key = "name"});
static const pawl_saga counter_saga = {
    .name         = "Counter",
    .state        = PAWL_RECORD_OF(counter_state),
    .correlation  = "name",
    .transitional = "number",
    .on           = PAWL_ON({.handle           = PAWL_HANDLE(on_bump),
                             .key              = "name",
                             .transitional_key = "number",
                             .starts           = true},
                            {.handle = PAWL_HANDLE(on_touch), .key = "name", .transitional_key = "number"},
                            {.handle = PAWL_HANDLE(on_both_counter), .key = "name"},
                            {.handle = PAWL_HANDLE(on_found), .key = "name", .find = find_counter},
                            {.handle = PAWL_HANDLE(on_begin_found),
                             .key    = "name",
                             .find   = find_counter,
                             .starts = true},
                            {.handle = PAWL_HANDLE(on_no)},
                            {.handle = PAWL_HANDLE(on_ring), .timeout = "ring"})};
static const pawl_saga safe_saga = {
    .name           = "Safe",
    .state          = PAWL_RECORD_OF(safe_state),
    .correlation    = "name",
    .is_pessimistic = true,
    .on             = PAWL_ON({.handle = PAWL_HANDLE(on_put_in), .key = "name", .starts = true},
                              {.handle = PAWL_HANDLE(on_take_out), .key = "name", .find = find_safe})};

static const pawl_endpoint_spec desk = {
    .name = "desk", .sagas = PAWL_SAGAS(&other_saga, &counter_saga, &safe_saga)};

static const pawl_application application = APPLICATION("hot", &desk);

/* ---- Another worker -------------------------------------------------------------- */

static pawl_saga_row load(pawl_text name, const pawl_saga_table **table)
{
    const pawl_saga_table *const *tables = NULL;
    size_t                        count  = 0;
    pawl_saga_row                 row    = {.version = 0};
    pawl_value                    value  = pawl_value_text(name);
    pawl_store                   *store  = around->store;
    must(pawl_endpoint_tables(&application, NULL, NULL, around->arena, &tables, &count,
                              world_error()));
    *table = tables[1];
    must(pawl_store_saga_load(store, *table, PAWL_SAGA_BY_MAIN, &value, 1, PAWL_SAGA_UNLOCKED,
                              around->arena, &row, world_error()));
    return row;
}

/* Saves the counter unchanged, without a lock; afterwards a stranger may lock "a". */
static void meddle(pawl_text name)
{
    const pawl_saga_table *table = NULL;
    pawl_saga_row          row   = load(name, &table);
    MUST_COMMIT(around->store, saga_update, WORLD_START, .table = table, .id = row.id,
                .version = row.version, .row = row.row, .transitional = row.transitional,
                .metadata = row.metadata, .data = row.data, .type_version = row.type_version);
    world_note(&hot_seen, "meddled");
    if (hot_is_taken_then && hot_meddlings == 0)
        locks_hold("a");
}

void hot_delete_a(void)
{
    const pawl_saga_table *table = NULL;
    pawl_saga_row          row   = load(PAWL_TEXT("a"), &table);
    MUST_COMMIT(around->store, saga_delete, WORLD_START, .table = table, .id = row.id,
                .version = row.version);
}

/* ---- The world ------------------------------------------------------------------------ */

void hot_bump(world *it, const char *name)
{
    world_post(it, NULL, PAWL_MESSAGE(bump, .name = pawl_text_of(name), .number = name[0]));
}

void hot_touch(world *it, const char *name, int32_t number)
{
    world_post(it, NULL, PAWL_MESSAGE(touch, .name = pawl_text_of(name), .number = number));
}

void hot_answer(world *it, pawl_saga_id id)
{
    char              address[sizeof "Counter/" + PAWL_UUID_TEXT_SIZE] = "Counter/";
    const pawl_header list[]  = {{PAWL_HEADER_PROCESS, address}, {NULL, NULL}};
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it), .headers = list};
    pawl_uuid_format(id.uuid, address + strlen(address));
    must(pawl_sender_send(it->sender, "desk", &options,
                          PAWL_MESSAGE(pawl_rejected, .reason = PAWL_TEXT("no")), world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
}

world *hot_open(const char *url)
{
    return hot_open_on(locks_url(url), NULL);
}

world *hot_open_on(const char *url, const char *ordered)
{
    hot_meddlings = hot_fails = 0;
    hot_is_taken_then         = false;

    const pawl_endpoint_options options = {
        .immediate_retries = -1, .retry_delay = 1000, .ordered = ordered};
    world *it = world_begin(url, &application, NULL, &options);
    around    = it;
    locks_ignore(it->store);
    hot_bump(it, "b");
    hot_bump(it, "a");
    world_drain(it);
    locks_loads();
    world_forget(&hot_seen);
    return it;
}

void hot_make(world *it)
{
    hot_make_each(it, "a");
}

void hot_make_each(world *it, const char *names)
{
    for (; *names != '\0'; names++) {
        hot_meddlings = 2;
        hot_bump(it, (char[]){*names, '\0'});
        assert_int_equal(world_drain(it).refused, 2);
        assert_int_equal(hot_meddlings, 0);
    }
    locks_loads();
    world_forget(&hot_seen);
}

int hot_count(world *it, const char *name)
{
    return (int)world_json_number(world_saga_text(it, "Counter", name, NULL), "count");
}

void hot_set_timeout(world *it, pawl_saga_id id, pawl_time due)
{
    MUST_COMMIT(it->store, timeout_set, WORLD_START, .id = {{{5}}}, .saga_id = id,
                .saga_type = PAWL_TEXT("Counter"), .name = PAWL_TEXT("ring"),
                .destination = PAWL_TEXT("desk"), .due = due);
}
