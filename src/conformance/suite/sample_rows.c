/* sample_rows.c - a store with rows of every kind, and all that can be read of it as one text: two equal texts prove that
 * nothing was written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/sample_rows.h"

#include <inttypes.h>
#include <string.h>

/* ---- The sample rows ---------------------------------------------------------- */

static void add_bill(suite_set *set, const char *partition, const char *key)
{
    ADD(set, aggregator_add, .name = TEXT("Bills"), .partition = pawl_text_of(partition),
        .key = pawl_text_of(key), .message = suite_message(set->s, pawl_text_of(key)),
        .at = SUITE_NOW, .due = SUITE_NOW);
}

static void add_outbox(suite_set *set, unsigned number, const char *source, int64_t version)
{
    ADD(set, outbox_add, .dispatch_id = suite_dispatch_id(number), .source = pawl_text_of(source),
        .version = version, .endpoint = TEXT("suite"), .destination = TEXT("billing"),
        .message = suite_message(set->s, suite_printf(set->s, "o-%u", number)), .at = SUITE_NOW);
}

static void add_timeout(suite_set *set, unsigned number, unsigned saga, const char *name)
{
    ADD(set, timeout_set, .id = suite_timeout_id(number), .saga_id = suite_saga_id(saga),
        .saga_type = TEXT("Order"), .name = pawl_text_of(name), .destination = TEXT("orders"),
        .due = SUITE_NOW + number);
}

static void add_order(suite_set *set, unsigned number)
{
    ADD(set, saga_insert, .table = set->s->tables[SUITE_ORDER], .id = suite_saga_id(number),
        .main = pawl_value_text(suite_printf(set->s, "ref-%u", number)), .metadata = TEXT("{}"),
        .data = suite_printf(set->s, "{\"n\":%u}", number), .type_version = TEXT("1.0"));
}

static void add_event(suite_set *set, const char *stream, int64_t version, bool is_first)
{
    ADD(set, event_append, .stream = pawl_text_of(stream), .version = version, .is_first = is_first,
        .event = suite_event(set->s, suite_printf(set->s, "e-%d", (int)version)));
}

static void add_fold(suite_set *set, int64_t version)
{
    ADD(set, stream_snapshot_set, .stream = TEXT("Account/1"), .version = version,
        .type_version = 1, .state = suite_printf(set->s, "{\"at\":%d}", (int)version),
        .dispatches = TEXT("[]"), .at = SUITE_NOW);
}

static void add_events(suite_set *set)
{
    add_event(set, "Account/1", 1, true);
    add_event(set, "Account/1", 2, false);
    add_event(set, "Account/2", 1, true);
    add_fold(set, 1);
    ADD(set, checkpoint_set, .name = TEXT("totals"), .from = 0, .to = 5, .at = SUITE_NOW);
}

/* Makes the last pending row dead. */
static int64_t make_dead(suite *s, pawl_store *store)
{
    pawl_outbox_rows rows = suite_outbox_rows(s, store, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, rows.count, 4);
    COMMIT_ONE(s, store, outbox_settle, .id = rows.items[3].id, .source = TEXT("Order/5"),
               .state = PAWL_OUTBOX_DEAD, .attempts = 1, .outcome = PAWL_ATTEMPT_POISON,
               .error = TEXT("no such queue"), .at = SUITE_NOW);
    return rows.items[3].id;
}

void suite_sample_rows_make(suite_sample_rows *rows, suite *s, pawl_store *store)
{
    suite_set set = suite_changes(s);
    add_events(&set);
    for (int i = 1; i <= 2; i++)
        ADD(&set, queue_send, .queue = TEXT("orders"), .due = SUITE_NOW + i,
            .message = suite_message(s, suite_printf(s, "w-%d", i)));
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("known"), .at = SUITE_NOW);
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("d-1"), .at = SUITE_NOW);
    for (unsigned i = 1; i <= 3; i++)
        add_order(&set, i);
    add_timeout(&set, 1, 8, "first");
    add_timeout(&set, 2, 9, "payment");
    add_timeout(&set, 3, 9, "delivery");
    add_timeout(&set, 4, 8, "second");
    add_outbox(&set, 1, "Order/1", 1);
    add_outbox(&set, 2, "Order/2", 1);
    add_outbox(&set, 3, "Order/2", 2);
    add_outbox(&set, 5, "Order/5", 1);
    add_bill(&set, "Bills", "b-1");
    add_bill(&set, "Bills/2", "b-2");
    add_bill(&set, "Bills/3", "b-3");
    ADD(&set, dead_set, .endpoint = TEXT("suite"), .queue = TEXT("orders"),
        .message = suite_message(s, TEXT("d-1")), .code = TEXT("EPERSIST"), .at = SUITE_NOW);
    ADD(&set, subscription_set, .type = TEXT("Placed"), .queue = TEXT("orders"));
    COMMIT(&set, store);
    rows->dead_id     = make_dead(s, store);
    rows->claimed_seq = suite_claim(s, store, TEXT("orders"), SUITE_NOW + 1, 1).items[0].seq;
    rows->free_seq    = suite_queue(s, store, TEXT("orders")).items[1].seq;
    EXPECT_EQ(s, suite_claim_timeouts(s, store, 70, SUITE_NOW + 1, 1).count, 1);
    rows->outbox_id   = suite_outbox_rows(s, store, PAWL_OUTBOX_PENDING).items[0].id;
    rows->held_after  = suite_outbox_rows(s, store, PAWL_OUTBOX_PENDING).items[1].id;
    rows->snapshot_id = suite_snapshot_of(s, store, TEXT("Bills"), 70, SUITE_NOW).items[0].id;
    rows->unleased_id = suite_rows(s, store, TEXT("Bills/3")).items[0].id;
    EXPECT_EQ(s, suite_snapshot_of(s, store, TEXT("Bills/2"), 71, SUITE_NOW).count, 1);
}

static void add_good_refusable(const suite_sample_rows *rows, suite_set *set)
{
    const pawl_saga_table *order = set->s->tables[SUITE_ORDER];
    ADD(set, queue_settle, .action = PAWL_QUEUE_DONE, .queue = TEXT("orders"),
        .seq = rows->claimed_seq);
    ADD(set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("new"), .at = SUITE_NOW);
    ADD(set, saga_delete, .table = order, .id = suite_saga_id(1), .version = 1);
    add_order(set, 4);
    ADD(set, saga_update, .table = order, .id = suite_saga_id(2), .version = 1,
        .metadata = TEXT("{\"by\":\"good\"}"), .data = TEXT("{\"n\":22}"),
        .type_version = TEXT("2.0"));
    add_event(set, "Account/1", 3, true);
    ADD(set, checkpoint_set, .name = TEXT("totals"), .from = 5, .to = 8, .at = SUITE_NOW);
    ADD(set, outbox_reset, .id = rows->dead_id, .action = PAWL_OUTBOX_DISCARD,
        .note = TEXT("no longer wanted"), .at = SUITE_NOW);
    ADD(set, timeout_settle, .id = suite_timeout_id(1), .has_owner = true,
        .owner = suite_session_id(70), .generation = 1);
    ADD(set, outbox_settle, .id = rows->outbox_id, .source = TEXT("Order/1"),
        .state = PAWL_OUTBOX_DISPATCHED, .attempts = 1, .outcome = PAWL_ATTEMPT_SUCCESS,
        .at = SUITE_NOW);
    ADD(set, leased_batch_remove, .partition = TEXT("Bills"), .session = suite_session_id(70),
        .ids = &rows->snapshot_id, .id_count = 1);
    add_timeout(set, 13, 9, "delivery");
    add_outbox(set, 4, "Order/4", 1);
}

void suite_sample_rows_add_changes(const suite_sample_rows *rows, suite_set *set)
{
    add_good_refusable(rows, set);
    ADD(set, timeout_cancel, .saga_id = suite_saga_id(9), .name = TEXT("payment"));
    ADD(set, outbox_block, .source = TEXT("Order/2"), .after = rows->held_after);
    add_fold(set, 2);
    ADD(set, queue_send, .queue = TEXT("billing"), .due = SUITE_NOW,
        .message = suite_message(set->s, TEXT("sent")));
    add_bill(set, "Bills/4", "b-4");
    ADD(set, aggregator_remove, .partition = TEXT("Bills/3"), .is_all = true);
    ADD(set, leased_batch_release, .partition = TEXT("Bills/2"), .session = suite_session_id(71));
    ADD(set, flush_set, .partition = TEXT("Bills/2"), .due = SUITE_NOW + 77, .attempts = 1,
        .error = TEXT("good"));
    ADD(set, dead_set, .is_remove = true, .endpoint = TEXT("suite"), .queue = TEXT("orders"),
        .message = suite_message(set->s, TEXT("d-1")), .at = SUITE_NOW);
    ADD(set, dead_set, .endpoint = TEXT("suite"), .queue = TEXT("orders"),
        .message = suite_message(set->s, TEXT("d-2")), .code = TEXT("EPERSIST"), .at = SUITE_NOW);
    ADD(set, subscription_set, .is_remove = true, .type = TEXT("Placed"), .queue = TEXT("orders"));
    ADD(set, subscription_set, .type = TEXT("Paid"), .queue = TEXT("orders"));
    ADD(set, history_add,
        .entry = {.endpoint   = TEXT("suite"),
                  .message_id = TEXT("w-1"),
                  .kind       = TEXT("message"),
                  .outcome    = TEXT("handled")});
}

/* ---- The dump ----------------------------------------------------------- */

typedef struct dump {
    suite *s;
    char  *data;
    size_t size;
    size_t capacity;
} dump;

static void draw(dump *p, const char *format, ...) PAWL_PRINTF(2, 3);

static void draw(dump *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(p->data + p->size, p->capacity - p->size, format, arguments);
    va_end(arguments);
    EXPECT(p->s, size >= 0 && p->size + (size_t)size < p->capacity);
    p->size += (size_t)size;
}

static void draw_message(dump *p, const pawl_message *message)
{
    draw(p, " [%.*s|%.*s|%.*s|%.*s]", PAWL_TEXT_ARGS(message->id), PAWL_TEXT_ARGS(message->type),
         PAWL_TEXT_ARGS(message->body), PAWL_TEXT_ARGS(message->headers));
}

static void draw_uuid(dump *p, pawl_uuid uuid)
{
    char text[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(uuid, text);
    draw(p, " %s", text);
}

static void draw_queue(dump *p, pawl_store *store, pawl_text queue)
{
    pawl_queue_rows rows = suite_queue(p->s, store, queue);
    for (size_t i = 0; i < rows.count; i++) {
        const pawl_queue_row *row = &rows.items[i];
        draw(p, "%.*s %" PRId64 " due %" PRId64 " placed %" PRId64 " tries %d,%d waits %" PRId64,
             PAWL_TEXT_ARGS(queue), row->seq, row->due, row->placed, row->attempts, row->crashes,
             row->waiting_since);
        draw_message(p, &row->message);
        draw(p, "\n");
    }
}

static void draw_sagas(dump *p, pawl_store *store)
{
    for (unsigned i = 1; i <= 20; i++) {
        pawl_saga_row row = suite_load_id(p->s, store, SUITE_ORDER, i);
        if (row.version == 0)
            continue;
        draw(p, "saga %u at %" PRId64 " '%.*s' %.*s %.*s %.*s\n", i, row.version,
             PAWL_TEXT_ARGS(row.main.as.text), PAWL_TEXT_ARGS(row.metadata),
             PAWL_TEXT_ARGS(row.data), PAWL_TEXT_ARGS(row.type_version));
    }
}

static void draw_timeouts(dump *p, pawl_store *store)
{
    pawl_timeout_rows rows = suite_timeouts(p->s, store);
    for (size_t i = 0; i < rows.count; i++) {
        const pawl_timeout_row *row = &rows.items[i];
        draw(p, "timeout %.*s due %" PRId64 " generation %" PRId64 " tries %d until %" PRId64,
             PAWL_TEXT_ARGS(row->name), row->due, row->generation, row->attempts,
             row->lease_expires);
        draw_uuid(p, row->id.uuid);
        draw_uuid(p, row->saga_id.uuid);
        draw_uuid(p, row->owner.uuid);
        draw(p, "\n");
    }
}

static void draw_outbox(dump *p, pawl_store *store)
{
    for (int state = PAWL_OUTBOX_PENDING; state <= PAWL_OUTBOX_DISCARDED; state++) {
        pawl_outbox_rows rows = suite_outbox_rows(p->s, store, (pawl_outbox_state)state);
        for (size_t i = 0; i < rows.count; i++) {
            const pawl_outbox_row *row = &rows.items[i];
            draw(p, "outbox %" PRId64 " %.*s state %d tries %d,%d next %" PRId64 " history %zu",
                 row->id, PAWL_TEXT_ARGS(row->source), (int)row->state, row->attempts,
                 row->attempts_before, row->next_attempt,
                 suite_attempts(p->s, store, row->id).count);
            draw_message(p, &row->message);
            draw(p, "\n");
        }
    }
}

static void draw_events(dump *p, pawl_store *store)
{
    static const char *const streams[] = {"Account/1", "Account/2"};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        pawl_stream stream = suite_stream(p->s, store, pawl_text_of(streams[i]), 0);
        draw(p, "stream %s at %" PRId64 "\n", streams[i], stream.version);
        for (size_t j = 0; j < stream.count; j++) {
            const pawl_event_row *row = &stream.events[j];
            draw(p, "event %" PRId64 " seq %" PRId64 " %.*s %.*s\n", row->version, row->seq,
                 PAWL_TEXT_ARGS(row->event.type), PAWL_TEXT_ARGS(row->event.body));
        }
        pawl_stream_snapshot_row snapshot =
            suite_stream(p->s, store, pawl_text_of(streams[i]), 1).snapshot;
        draw(p, "fold at %" PRId64 " %.*s\n", snapshot.version, PAWL_TEXT_ARGS(snapshot.state));
    }
    draw(p, "checkpoint at %" PRId64 "\n", suite_checkpoint(p->s, store, TEXT("totals")));
}

static void draw_aggregators(dump *p, pawl_store *store)
{
    static const char *const partitions[] = {"Bills", "Bills/2", "Bills/3", "Bills/4"};
    for (size_t i = 0; i < sizeof partitions / sizeof partitions[0]; i++) {
        pawl_leased_batch rows = suite_rows(p->s, store, pawl_text_of(partitions[i]));
        for (size_t j = 0; j < rows.count; j++) {
            draw(p, "%s %" PRId64 " until %" PRId64, partitions[i], rows.items[j].id,
                 rows.items[j].lease_expires);
            draw_uuid(p, rows.items[j].session.uuid);
            draw_message(p, &rows.items[j].message);
            draw(p, "\n");
        }
    }
    pawl_flush_rows flushes = {0};
    EXPECT_OK(p->s, pawl_store_flush_list(store, TEXT("Bills"), PAWL_TIME_MAX, 100, p->s->arena,
                                          &flushes, &p->s->error));
    for (size_t i = 0; i < flushes.count; i++)
        draw(p, "flush %.*s due %" PRId64 " tries %d %.*s\n",
             PAWL_TEXT_ARGS(flushes.items[i].partition), flushes.items[i].due,
             flushes.items[i].attempts, PAWL_TEXT_ARGS(flushes.items[i].error));
}

static void draw_rest(dump *p, pawl_store *store)
{
    static const char *const ids[] = {"known", "new", "d-1", "d-2", "group-1"};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        draw(p, "mark %s %d\n", ids[i],
             suite_knows(p->s, store, TEXT("suite"), pawl_text_of(ids[i])));
    pawl_dead_rows dead = suite_dead_rows(p->s, store, TEXT(""));
    for (size_t i = 0; i < dead.count; i++) {
        draw(p, "dead %.*s", PAWL_TEXT_ARGS(dead.items[i].endpoint));
        draw_message(p, &dead.items[i].message);
        draw(p, "\n");
    }
    pawl_subscriptions list = {0};
    EXPECT_OK(p->s, pawl_store_subscriptions(store, p->s->arena, &list, &p->s->error));
    for (size_t i = 0; i < list.count; i++)
        draw(p, "subscription %.*s %.*s\n", PAWL_TEXT_ARGS(list.items[i].type),
             PAWL_TEXT_ARGS(list.items[i].queue));
    pawl_history_rows lines = {0};
    EXPECT_OK(p->s, pawl_store_history_find(store, &(pawl_history_query){0}, p->s->arena, &lines,
                                            &p->s->error));
    for (size_t i = 0; i < lines.count; i++)
        draw(p, "line %.*s\n", PAWL_TEXT_ARGS(lines.items[i].entry.message_id));
}

pawl_text suite_dump(suite *s, pawl_store *store)
{
    dump p = {.s = s, .capacity = 64 * 1024};
    p.data = pawl_arena_take(s->arena, p.capacity);
    EXPECT(s, p.data != NULL);
    draw_queue(&p, store, TEXT("orders"));
    draw_queue(&p, store, TEXT("billing"));
    draw_sagas(&p, store);
    draw_timeouts(&p, store);
    draw_outbox(&p, store);
    draw_events(&p, store);
    draw_aggregators(&p, store);
    draw_rest(&p, store);
    return (pawl_text){.data = p.data, .size = p.size};
}

static void hide_number(char *at)
{
    const char *end = at + strspn(at, "0123456789");
    memmove(at, end, strlen(end) + 1);
}

const char *suite_dump_unnumbered(suite *s, pawl_store *store)
{
    static const char *const rows[] = {"orders ", "billing ", "outbox ", "Bills"};
    pawl_text                all    = suite_dump(s, store);
    char                    *hidden = pawl_arena_copy(s->arena, all.data, all.size + 1);
    EXPECT(s, hidden != NULL);
    for (char *line = hidden; line[0] != '\0';
         line += strcspn(line, "\n"), line += line[0] != '\0') {
        char *number = strncmp(line, "event ", 6) == 0 ? strstr(line, " seq ") : NULL;
        if (number != NULL)
            hide_number(number + 5);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (strncmp(line, rows[i], strlen(rows[i])) == 0)
                hide_number(line + strcspn(line, " ") + 1);
    }
    return hidden;
}
