/* test_store_operations_rows.c - the changes that the public operations on sagas and the journal
 * ask a driver to commit, field by field, and their own refusals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/keeper.h"

#include "pawl/operations.h"

static const pawl_outbox_row row_to_send = {.id          = 8,
                                            .dispatch_id = {{{6}}},
                                            .source      = PAWL_TEXT_INIT("Order/1"),
                                            .version     = 3,
                                            .index       = 2,
                                            .endpoint    = PAWL_TEXT_INIT("orders"),
                                            .destination = PAWL_TEXT_INIT("billing"),
                                            .message     = {.id      = PAWL_TEXT_INIT("m-1"),
                                                            .type    = PAWL_TEXT_INIT("Charge"),
                                                            .body    = PAWL_TEXT_INIT("{\"a\":1}"),
                                                            .headers = PAWL_TEXT_INIT("{\"h\":\"1\"}"),
                                                            .correlation_id = PAWL_TEXT_INIT("c-1"),
                                                            .causation_id   = PAWL_TEXT_INIT("m-0")},
                                            .due         = KEEPER_NOW + 6};

/* ---- Sagas -------------------------------------------------------------- */

static const pawl_saga_table table = {
    .type         = PAWL_TEXT_INIT("Order"),
    .name         = PAWL_TEXT_INIT("t_order"),
    .main         = {.property = PAWL_TEXT_INIT("Ref"), .type = PAWL_VALUE_INT},
    .transitional = {.property = PAWL_TEXT_INIT("Number"), .type = PAWL_VALUE_INT}};

static pawl_saga_row saga_row(void)
{
    return (pawl_saga_row){.id           = {{{7}}},
                           .version      = 4,
                           .row          = 31,
                           .main         = pawl_value_integer(1),
                           .transitional = pawl_value_integer(2),
                           .metadata     = PAWL_TEXT("{\"m\":1}"),
                           .data         = PAWL_TEXT("{\"d\":1}"),
                           .type_version = PAWL_TEXT("2.0")};
}

static void a_saga_is_inserted_as_it_is(void)
{
    pawl_saga_row row = saga_row();
    assert_int_equal(pawl_store_saga_insert(keeper->store, &table, &row, KEEPER_NOW, NULL),
                     PAWL_OK);
    keeper_commit(1);
    assert_ptr_equal(kept.saga_insert.table, &table);
    SAME_ID(kept.saga_insert.id, saga_row().id);
    assert_int_equal(kept.saga_insert.main.as.integer, 1);
    assert_int_equal(kept.saga_insert.transitional.as.integer, 2);
    SAME_TEXT(kept.saga_insert.metadata, "{\"m\":1}");
    SAME_TEXT(kept.saga_insert.data, "{\"d\":1}");
    SAME_TEXT(kept.saga_insert.type_version, "2.0");
    SAME_ID(row.id, saga_row().id);
    assert_int_equal(row.presence, PAWL_SAGA_THERE);
    assert_int_equal(row.version, 1);
    assert_int_equal(row.row, 0); /* the hint of another row */

    row          = saga_row();
    row.id       = (pawl_saga_id){{{0}}};
    row.metadata = row.data = PAWL_TEXT("");
    assert_int_equal(pawl_store_saga_insert(keeper->store, &table, &row, KEEPER_NOW, NULL),
                     PAWL_OK);
    assert_false(pawl_uuid_is_zero(row.id.uuid));
    SAME_ID(kept.saga_insert.id, row.id);
    SAME_TEXT(kept.saga_insert.metadata, "{}");
    SAME_TEXT(kept.saga_insert.data, "{}");
}

static void a_saga_is_updated_at_the_version_that_was_read(void)
{
    pawl_saga_row row = saga_row();
    assert_int_equal(pawl_store_saga_update(keeper->store, &table, &row, KEEPER_NOW, NULL),
                     PAWL_OK);
    keeper_commit(1);
    assert_ptr_equal(kept.saga_update.table, &table);
    SAME_ID(kept.saga_update.id, saga_row().id);
    assert_int_equal(kept.saga_update.version, 4);
    assert_int_equal(kept.saga_update.row, 31);
    assert_int_equal(kept.saga_update.transitional.as.integer, 2);
    SAME_TEXT(kept.saga_update.metadata, "{\"m\":1}");
    SAME_TEXT(kept.saga_update.data, "{\"d\":1}");
    SAME_TEXT(kept.saga_update.type_version, "2.0");
    assert_int_equal(row.version, 5);
    assert_int_equal(row.row, 31);
    row.metadata = row.data = PAWL_TEXT("");
    assert_int_equal(pawl_store_saga_update(keeper->store, &table, &row, KEEPER_NOW, NULL),
                     PAWL_OK);
    SAME_TEXT(kept.saga_update.metadata, "{}");
    SAME_TEXT(kept.saga_update.data, "{}");
    assert_int_equal(kept.saga_update.version, 5);
}

static void a_saga_is_deleted_at_the_version_that_was_read(void)
{
    const pawl_saga_row row = saga_row();
    assert_int_equal(pawl_store_saga_delete(keeper->store, &table, &row, KEEPER_NOW, NULL),
                     PAWL_OK);
    keeper_commit(1);
    assert_ptr_equal(kept.saga_delete.table, &table);
    SAME_ID(kept.saga_delete.id, row.id);
    assert_int_equal(kept.saga_delete.version, 4);
}

/* S18, S21: null in a column that the table has. */
static void s21_a_saga_without_its_values_is_refused(void)
{
    static const char *const no_main  = "saga 'Order': null correlation property 'Ref' is not "
                                        "allowed";
    static const char *const no_other = "saga 'Order': null transitional property 'Number' is not "
                                        "allowed";
    pawl_saga_row            row      = saga_row();
    pawl_saga_table          without  = table; /* a table without columns needs no values */
    row.main                          = (pawl_value){.type = PAWL_VALUE_NONE};
    keeper_refused(pawl_store_saga_insert(keeper->store, &table, &row, KEEPER_NOW, &keeper->error),
                   PAWL_EINVAL, no_main);
    row              = saga_row();
    row.transitional = (pawl_value){.type = PAWL_VALUE_NONE};
    keeper_refused(pawl_store_saga_insert(keeper->store, &table, &row, KEEPER_NOW, &keeper->error),
                   PAWL_EINVAL, no_other);
    keeper_refused(pawl_store_saga_update(keeper->store, &table, &row, KEEPER_NOW, &keeper->error),
                   PAWL_EINVAL, no_other);
    assert_int_equal(row.version, 4);
    row.main                  = (pawl_value){.type = PAWL_VALUE_NONE};
    without.main.type         = PAWL_VALUE_NONE;
    without.transitional.type = PAWL_VALUE_NONE;
    assert_int_equal(pawl_store_saga_insert(keeper->store, &without, &row, KEEPER_NOW, NULL),
                     PAWL_OK);
    assert_int_equal(pawl_store_saga_update(keeper->store, &without, &row, KEEPER_NOW, NULL),
                     PAWL_OK);
}

static void a_saga_table_of_null_is_refused(void)
{
    pawl_saga_row row = saga_row();
    keeper_refused(pawl_store_saga_insert(keeper->store, NULL, &row, KEEPER_NOW, &keeper->error),
                   PAWL_EINVAL, "the saga table is NULL");
    keeper_refused(pawl_store_saga_update(keeper->store, NULL, &row, KEEPER_NOW, &keeper->error),
                   PAWL_EINVAL, "the saga table is NULL");
    keeper_refused(pawl_store_saga_delete(keeper->store, NULL, &row, KEEPER_NOW, &keeper->error),
                   PAWL_EINVAL, "saga_delete 0: table: it is NULL");
}

/* ---- The journal -------------------------------------------------------- */

static void o2_an_append_is_its_events_and_its_dispatches(void)
{
    const pawl_event      events[] = {{.type = PAWL_TEXT_INIT("Opened"), .type_version = 2},
                                      {.type = PAWL_TEXT_INIT("Paid"), .type_version = 1}};
    const pawl_outbox_row rows[]   = {row_to_send, row_to_send};
    const pawl_append     append   = {.stream         = PAWL_TEXT_INIT("Account/1"),
                                      .version        = 6,
                                      .events         = events,
                                      .event_count    = 2,
                                      .dispatches     = rows,
                                      .dispatch_count = 2,
                                      .outbox         = PAWL_TEXT_INIT("accounts")};
    assert_int_equal(pawl_store_append(keeper->store, &append, KEEPER_NOW, NULL), PAWL_OK);
    keeper_commit(4);
    assert_int_equal(kept.changes.event_append.count, 2);
    assert_int_equal(kept.event_append.version, 7);
    assert_true(kept.event_append.is_first);
    SAME_TEXT(kept.event_append.stream, "Account/1");
    SAME_TEXT(kept.event_append.event.type, "Opened");
    assert_int_equal(kept.event_append.event.type_version, 2);
    const pawl_outbox_add *adds[] = {&kept.outbox_add, &kept.second_add};
    for (int32_t i = 0; i < 2; i++) { /* the stream's, whatever the row says */
        SAME_ID(adds[i]->dispatch_id, row_to_send.dispatch_id);
        SAME_TEXT(adds[i]->source, "Account/1");
        assert_int_equal(adds[i]->version, 8);
        assert_int_equal(adds[i]->index, i);
        SAME_TEXT(adds[i]->endpoint, "accounts");
        SAME_TEXT(adds[i]->destination, "billing");
        keeper_is_message(&adds[i]->message);
        assert_int_equal(adds[i]->due, KEEPER_NOW + 6);
        assert_int_equal(adds[i]->at, KEEPER_NOW);
    }
}

/* O5: dispatches without ids get those that a replay makes again, each its own. */
static void o5_each_dispatch_of_an_append_gets_an_id(void)
{
    const pawl_event      opened = {.type = PAWL_TEXT_INIT("Opened"), .type_version = 1};
    const pawl_outbox_row none   = {.destination = PAWL_TEXT_INIT("billing"),
                                    .message     = {.type = PAWL_TEXT_INIT("Charge")}};
    const pawl_outbox_row rows[] = {none, none};
    const pawl_append     append = {.stream         = PAWL_TEXT_INIT("Account/1"),
                                    .version        = 6,
                                    .events         = &opened,
                                    .event_count    = 1,
                                    .dispatches     = rows,
                                    .dispatch_count = 2,
                                    .outbox         = PAWL_TEXT_INIT("accounts")};
    assert_int_equal(pawl_store_append(keeper->store, &append, KEEPER_NOW, NULL), PAWL_OK);
    for (int32_t i = 0; i < 2; i++) {
        const pawl_outbox_add *add  = i == 0 ? &kept.outbox_add : &kept.second_add;
        pawl_dispatch_id       made = pawl_dispatch_id_make(append.outbox, append.stream, 7, i);
        SAME_ID(add->dispatch_id, made);
    }
}

static void an_append_has_limits(void)
{
    static pawl_event events[PAWL_BATCH_MESSAGES_MAX];
    for (size_t i = 0; i < COUNT(events); i++)
        events[i] = (pawl_event){.type = PAWL_TEXT("Opened"), .type_version = 1};
    pawl_append append = {.stream      = PAWL_TEXT_INIT("Account/1"),
                          .version     = INT64_MAX - PAWL_BATCH_MESSAGES_MAX,
                          .events      = events,
                          .event_count = COUNT(events)};
    assert_int_equal(pawl_store_append(keeper->store, &append, KEEPER_NOW, &keeper->error),
                     PAWL_OK);
    keeper_commit(4096);
    append.version++;
    keeper_refused(pawl_store_append(keeper->store, &append, KEEPER_NOW, &keeper->error),
                   PAWL_EINVAL,
                   "append to stream 'Account/1': version 9223372036854771712, the first append "
                   "has 0");
    append.version = -1;
    keeper_refused(pawl_store_append(keeper->store, &append, KEEPER_NOW, &keeper->error),
                   PAWL_EINVAL, "append to stream 'Account/1': version -1, the first append has 0");
    append.version        = 0;
    append.event_count    = 1;
    append.dispatch_count = 4097;
    keeper_refused(pawl_store_append(keeper->store, &append, KEEPER_NOW, &keeper->error),
                   PAWL_ELIMIT,
                   "append to stream 'Account/1': 1 events and 4097 dispatches, limit 4096 of "
                   "each");
    append.dispatch_count = 0;
    append.event_count    = 0;
    keeper_refused(pawl_store_append(keeper->store, &append, KEEPER_NOW, &keeper->error),
                   PAWL_EINVAL, "append to stream 'Account/1': no event and 0 dispatches");
}

static void a_fold_and_a_checkpoint_are_set_as_they_are(void)
{
    const pawl_stream_snapshot_row snapshot = {.version      = 5,
                                               .type_version = 3,
                                               .state        = PAWL_TEXT_INIT("{\"s\":1}"),
                                               .dispatches   = PAWL_TEXT_INIT("[]")};
    assert_int_equal(pawl_store_stream_snapshot_save(keeper->store, PAWL_TEXT("Account/1"),
                                                     &snapshot, KEEPER_NOW, NULL),
                     PAWL_OK);
    keeper_commit(1);
    SAME_TEXT(kept.stream_snapshot_set.stream, "Account/1");
    assert_int_equal(kept.stream_snapshot_set.version, 5);
    assert_int_equal(kept.stream_snapshot_set.type_version, 3);
    SAME_TEXT(kept.stream_snapshot_set.state, "{\"s\":1}");
    SAME_TEXT(kept.stream_snapshot_set.dispatches, "[]");
    assert_int_equal(kept.stream_snapshot_set.at, KEEPER_NOW);
    assert_int_equal(
        pawl_store_checkpoint_set(keeper->store, PAWL_TEXT("totals"), 3, 9, KEEPER_NOW, NULL),
        PAWL_OK);
    keeper_commit(1);
    SAME_TEXT(kept.checkpoint_set.name, "totals");
    assert_int_equal(kept.checkpoint_set.from, 3);
    assert_int_equal(kept.checkpoint_set.to, 9);
    assert_int_equal(kept.checkpoint_set.at, KEEPER_NOW);
}

const struct CMUnitTest tests[] = {
    ON_KEEPER(a_saga_is_inserted_as_it_is),
    ON_KEEPER(a_saga_is_updated_at_the_version_that_was_read),
    ON_KEEPER(a_saga_is_deleted_at_the_version_that_was_read),
    ON_KEEPER(s21_a_saga_without_its_values_is_refused),
    ON_KEEPER(a_saga_table_of_null_is_refused),
    ON_KEEPER(o2_an_append_is_its_events_and_its_dispatches),
    ON_KEEPER(o5_each_dispatch_of_an_append_gets_an_id),
    ON_KEEPER(an_append_has_limits),
    ON_KEEPER(a_fold_and_a_checkpoint_are_set_as_they_are),
    {.name = NULL},
};
