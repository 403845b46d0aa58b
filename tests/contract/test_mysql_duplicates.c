/* test_mysql_duplicates.c - errors of a key that is taken, on MySQL and MariaDB: of the row that is written, which is
 * there then, or of another row, such as that of an owner's trigger, which is a failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/mysql_fixture.h"
#include "support/tests.h"

#define MANY 16 /* on both servers a set, where there are sets */

typedef enum kind { SEND, NEW, ADD, OUT, DEAD, SUBSCRIBE, MOVE, FOLD, MARK, EVENT, SAGA } kind;

/* The changes of a commit, each in a group of its own. */
typedef struct set {
    char names[MANY][20];
    union {
        pawl_queue_send          send[MANY];
        pawl_aggregator_add      add[MANY];
        pawl_outbox_add          out[MANY];
        pawl_dead_set            dead[MANY];
        pawl_subscription_set    subscribe[MANY];
        pawl_checkpoint_set      move[MANY];
        pawl_stream_snapshot_set fold[MANY];
        pawl_inbox_entry         mark[MANY];
        pawl_event_append        event[MANY];
        pawl_saga_insert         saga[MANY];
    } of;
    pawl_changes changes;
} set;

#define LIST(kind_, member) s->changes.kind_.items = s->of.member, s->changes.kind_.count = count

static void make_message(set *s, kind of, uint32_t i)
{
    pawl_text    name    = pawl_text_of(s->names[i]);
    pawl_message message = {.id = name, .type = TEXT("t"), .body = TEXT("{}")};
    pawl_uuid    id      = uuid_of(i + 1);
    switch (of) {
    case SEND:
    case NEW:
        s->of.send[i] = (pawl_queue_send){.queue = TEXT("q"), .due = NOW, .message = message};
        s->of.send[i].is_new = of == NEW;
        s->of.send[i].group  = i;
        return;
    case ADD:
        s->of.add[i] = (pawl_aggregator_add){.group     = i,
                                             .name      = TEXT("daily"),
                                             .partition = name,
                                             .key       = name,
                                             .at        = NOW,
                                             .due       = NOW,
                                             .message   = message};
        return;
    case OUT:
        s->of.out[i] = (pawl_outbox_add){.group       = i,
                                         .dispatch_id = {id},
                                         .at          = NOW,
                                         .source      = name,
                                         .endpoint    = TEXT("orders"),
                                         .destination = TEXT("q"),
                                         .message     = message};
        return;
    case DEAD:
        s->of.dead[i] = (pawl_dead_set){.group    = i,
                                        .endpoint = TEXT("orders"),
                                        .queue    = TEXT("orders"),
                                        .code     = TEXT("REJECT"),
                                        .at       = NOW,
                                        .message  = message};
        return;
    default: return;
    }
}

static void make_row(set *s, kind of, uint32_t i)
{
    pawl_text name = pawl_text_of(s->names[i]);
    switch (of) {
    case SUBSCRIBE:
        s->of.subscribe[i] = (pawl_subscription_set){.group = i, .type = name, .queue = TEXT("q")};
        return;
    case MOVE:
        s->of.move[i] = (pawl_checkpoint_set){.group = i, .name = name, .to = 1, .at = NOW};
        return;
    case FOLD:
        s->of.fold[i] = (pawl_stream_snapshot_set){.group        = i,
                                                   .stream       = name,
                                                   .version      = 1,
                                                   .type_version = 1,
                                                   .state        = TEXT("{}"),
                                                   .at           = NOW};
        return;
    case MARK:
        s->of.mark[i] = (pawl_inbox_entry){
            .group = i, .endpoint = TEXT("orders"), .message_id = name, .at = NOW};
        return;
    case EVENT:
        s->of.event[i] = (pawl_event_append){.group    = i,
                                             .stream   = name,
                                             .version  = 1,
                                             .is_first = true,
                                             .event    = {.type         = TEXT("t"),
                                                          .type_version = 1,
                                                          .at           = NOW,
                                                          .headers      = TEXT("{}"),
                                                          .body         = TEXT("{}")}};
        return;
    case SAGA:
        s->of.saga[i] = (pawl_saga_insert){.group        = i,
                                           .table        = &order_table,
                                           .id           = {uuid_of(i + 1)},
                                           .main         = pawl_value_text(name),
                                           .metadata     = TEXT("{}"),
                                           .data         = TEXT("{}"),
                                           .type_version = TEXT("1.0")};
        return;
    default: make_message(s, of, i);
    }
}

static void make_set(set *s, kind of, uint32_t count)
{
    *s = (set){.changes = {.now = NOW, .unit_count = count, .group_count = count}};
    for (uint32_t i = 0; i < count; i++) {
        snprintf(s->names[i], sizeof s->names[i], "name-%u", i);
        make_row(s, of, i);
    }
    switch (of) {
    case SEND:
    case NEW: LIST(queue_send, send); break;
    case ADD: LIST(aggregator_add, add); break;
    case OUT: LIST(outbox_add, out); break;
    case DEAD: LIST(dead_set, dead); break;
    case SUBSCRIBE: LIST(subscription_set, subscribe); break;
    case MOVE: LIST(checkpoint_set, move); break;
    case FOLD: LIST(stream_snapshot_set, fold); break;
    case MARK: LIST(inbox_entry, mark); break;
    case EVENT: LIST(event_append, event); break;
    case SAGA: LIST(saga_insert, saga); break;
    }
}

static pawl_code commit(fixture *p, pawl_store *store, set *s, size_t *refused_count)
{
    pawl_refusals refused = {.arena = p->arena};
    pawl_code     code    = pawl_store_commit(store, &s->changes, &refused, &p->error);
    *refused_count        = refused.count;
    return code;
}

static pawl_store *open_worker(fixture *p)
{
    pawl_store *store;
    apply(p);
    ok(p, open_at(p, p->url, 20000, &store));
    ok(p, pawl_store_worker_open(store, TEXT("orders"), TEXT("[]"), NOW, &p->error));
    return store;
}

static const struct {
    const char *table; /* has the trigger */
    kind        of;
    bool        is_refused; /* the second time */
} cases[] = {
    {"pawl_queue", SEND, false},
    {"pawl_queue", NEW, true},
    {"pawl_aggregator", ADD, false},
    {"pawl_aggregator_flush", ADD, false},
    {"pawl_outbox", OUT, false},
    {"pawl_dead", DEAD, false},
    {"pawl_subscriptions", SUBSCRIBE, false},
    {"pawl_checkpoints", MOVE, true},
    {"pawl_folds", FOLD, false},
    {"pawl_inbox", MARK, true},
    {"pawl_events", EVENT, true},
    {"shop_Order", SAGA, true},
};

static void expect_rows(fixture *p, const char *table, long long count)
{
    assert_int_equal(raw_number(p->raw, test_text("select count(*) from %s", table)), count);
}

/* The row of the trigger's own table is there, the row that is written is not. Without the trigger it is written, and
 * then it is there. */
static void write_twice(fixture *p, pawl_store *store, size_t row, uint32_t count)
{
    const char *table = cases[row].table;
    set         s;
    size_t      refused;
    make_set(&s, cases[row].of, count);
    raw_run(
        p->raw,
        test_text("create trigger own after insert on %s for each row insert into audit values (1)",
                  table));
    pawl_code code = commit(p, store, &s, &refused);
    if (code != PAWL_EPERSIST || refused != 0)
        fail_msg("%u rows of %s: %s, %zu refused", count, table, pawl_code_name(code), refused);
    expect_text(p, "a key is taken, but not by this row");
    expect_text(p, "Duplicate entry '1' for key ");
    expect_text(p, "(error 1062)");
    expect_rows(p, table, 0);
    raw_run(p->raw, "drop trigger own");
    ok(p, commit(p, store, &s, &refused));
    assert_int_equal(refused, 0);
    expect_rows(p, table, count);
    ok(p, commit(p, store, &s, &refused));
    assert_int_equal(refused, cases[row].is_refused ? count : 0);
    expect_rows(p, table, count);
    raw_run(p->raw, test_text("delete from %s", table));
    raw_run(p->raw, "delete from pawl_aggregator");
    raw_run(p->raw, "delete from pawl_aggregator_flush");
}

ON_BOTH(a_key_that_a_trigger_finds_taken_is_a_failure, fixture *p)
{
    pawl_store *store = open_worker(p);
    raw_run(p->raw, "create table audit (n int primary key)");
    raw_run(p->raw, "insert into audit values (1)");
    for (size_t i = 0; i < COUNT(cases); i++) {
        write_twice(p, store, i, 1);
        write_twice(p, store, i, 3); /* sent ahead */
        write_twice(p, store, i, MANY);
    }
}

/* A round with such a row is done again, with each answer awaited. */
ON_BOTH(rows_beside_one_that_is_there_are_written, fixture *p)
{
    pawl_store *store = open_worker(p);
    set         s;
    size_t      refused;
    for (kind of = SEND; of <= SAGA; of++) {
        make_set(&s, of, 1);
        ok(p, commit(p, store, &s, &refused));
        make_set(&s, of, MANY);
        ok(p, commit(p, store, &s, &refused));
        assert_int_equal(refused, of == NEW ? MANY : of >= MOVE && of != FOLD);
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_rows(p, cases[i].table, MANY);
}

/* ---- Numbers ------------------------------------------------------------- */

/* Behind the last number there is none: the key of a row that is there is tried again. */
ON_BOTH(a_queue_whose_numbers_are_used_up_takes_nothing_without_a_word, fixture *p)
{
    pawl_store *store = open_worker(p);
    set         s;
    size_t      refused;
    make_set(&s, SEND, 1);
    ok(p, commit(p, store, &s, &refused));
    raw_run(p->raw, "update pawl_queue set Seq = 9223372036854775807");
    s.of.send[0].message.id = TEXT("next");
    expect_code(p, commit(p, store, &s, &refused), PAWL_EPERSIST);
    expect_rows(p, "pawl_queue", 1);
}

/* ---- Sagas ---------------------------------------------------------------- */

static const pawl_saga_table shift_table = {
    .type         = PAWL_TEXT_INIT("Shift"),
    .name         = PAWL_TEXT_INIT("shop_Shift"),
    .main         = {.property = PAWL_TEXT_INIT("Name"), .type = PAWL_VALUE_TEXT},
    .transitional = {.property = PAWL_TEXT_INIT("Next"), .type = PAWL_VALUE_TEXT}};

typedef struct shift {
    unsigned    id;
    const char *name, *next, *version;
} shift;

static pawl_value next_of(const pawl_saga_table *table, const shift *one)
{
    return table->transitional.type == PAWL_VALUE_NONE ? (pawl_value){0}
                                                       : pawl_value_text(pawl_text_of(one->next));
}

static pawl_code begin_shift(fixture *p, pawl_store *store, const pawl_saga_table *table, shift one,
                             size_t *refused)
{
    pawl_saga_insert insert = {.table        = table,
                               .id           = {uuid_of(one.id)},
                               .main         = pawl_value_text(pawl_text_of(one.name)),
                               .transitional = next_of(table, &one),
                               .metadata     = TEXT("{}"),
                               .data         = TEXT("{}"),
                               .type_version = pawl_text_of(one.version)};
    set              s      = {.changes = {.now = NOW, ONE_UNIT, .saga_insert = {&insert, 1}}};
    return commit(p, store, &s, refused);
}

static pawl_code move_shift(fixture *p, pawl_store *store, const pawl_saga_table *table, shift one,
                            size_t *refused)
{
    pawl_saga_update update = {.table        = table,
                               .id           = {uuid_of(one.id)},
                               .version      = 1,
                               .transitional = next_of(table, &one),
                               .metadata     = TEXT("{}"),
                               .data         = TEXT("{}"),
                               .type_version = pawl_text_of(one.version)};
    set              s      = {.changes = {.now = NOW, ONE_UNIT, .saga_update = {&update, 1}}};
    return commit(p, store, &s, refused);
}

/* The owner's own index on a saga table refuses what pawl's keys do not. */
ON_BOTH(d37_an_index_of_the_owners_is_not_a_correlation, fixture *p)
{
    const pawl_saga_table *tables[] = {&order_table, &shift_table};
    const pawl_schema_spec spec     = {.tables = tables, .table_count = COUNT(tables)};
    pawl_store            *store    = open_worker(p);
    size_t                 refused;
    ok(p, pawl_store_schema(p->url, PAWL_SCHEMA_APPLY, &spec, no_line, NULL, &p->error));
    raw_run(p->raw, "create unique index own on shop_Shift (SagaTypeVersion)");
    raw_run(p->raw, "create unique index own on shop_Order (SagaTypeVersion)");
    for (size_t i = 0; i < COUNT(tables); i++) {
        const pawl_saga_table *table   = tables[i];
        static const shift     taken[] = {
                {1, "c", "c", "3.0"}, {3, "a", "c", "3.0"}, {3, "c", "a", "3.0"}};
        ok(p, begin_shift(p, store, table, (shift){1, "a", "a", "1.0"}, &refused));
        ok(p, begin_shift(p, store, table, (shift){2, "b", "b", "2.0"}, &refused));
        for (size_t t = 0; t < COUNT(taken) - (table == &order_table); t++) {
            ok(p, begin_shift(p, store, table, taken[t], &refused));
            assert_int_equal(refused, 1);
        }
        refuses(p, begin_shift(p, store, table, (shift){3, "c", "c", "1.0"}, &refused),
                PAWL_EPERSIST, "Duplicate entry '1.0' for key ");
        refuses(p, move_shift(p, store, table, (shift){2, "b", "b", "1.0"}, &refused),
                PAWL_EPERSIST, "Duplicate entry '1.0' for key ");
    }
    ok(p, move_shift(p, store, &shift_table, (shift){2, "b", "a", "2.0"}, &refused));
    assert_int_equal(refused, 1);
}

/* ---- Callers' transactions ------------------------------------------------- */

/* A message that another program sent behind the beginning of the transaction is there, though that sees an older state. */
ON_BOTH(a_row_that_a_callers_transaction_does_not_see_is_there, fixture *p)
{
    pawl_store *store = open_worker(p);
    MYSQL      *own   = raw_connect(p, p->database);
    set         s;
    size_t      refused;
    make_set(&s, SEND, 1);
    raw_run(own, "set transaction isolation level repeatable read");
    raw_run(own, "begin");
    assert_int_equal(raw_number(own, "select count(*) from pawl_queue"), 0);
    ok(p, commit(p, store, &s, &refused));
    assert_int_equal(raw_number(own, "select count(*) from pawl_queue"), 0);
    ok(p, pawl_store_enlist(store, own, &s.changes, &p->error));
    make_set(&s, SAGA, 1);
    ok(p, commit(p, store, &s, &refused));
    expect_code(p, pawl_store_enlist(store, own, &s.changes, &p->error), PAWL_EDUPLICATE);
    raw_run(own, "commit");
    expect_rows(p, "pawl_queue", 1);
    mysql_close(own);
}
