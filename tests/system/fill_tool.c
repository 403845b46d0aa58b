/* fill_tool.c - rows for the tests of the command.
 *
 *     fill URL outbox      one outbox row of each kind:
 *                          1 Order/1 waits for its retry, 2 Order/1 is held behind it,
 *                          3 Order/2 is dead, 4 Order/3 was dispatched, 5 is dead and
 *                          has no source, 6 Order/4 was never tried
 *     fill URL neighbour   a row of Order/1 of another endpoint, "stall", and one of
 *                          Order/2 of "shop"
 *     fill URL dead COUNT  more dead rows, of the type Bulk
 *     fill URL letters COUNT [FROM [ENDPOINT]]  so many dead letters of "billing", by turns of the types charge
 *                          (EREJECT), parcel (EREJECT) and note (EUNREACHABLE), a second apart and
 *                          with their inbox marks; their ids and bodies count from FROM, else 0
 *     fill URL queue COUNT [FROM]  so many messages q-N of the queues billing and shipping by turns,
 *                          a second apart, the body with {"customer_id":N,"of":{"trip":N % 10}};
 *                          each tenth has a body that is no JSON
 *     fill URL collected COUNT  so many rows of the aggregator sums, with {"customer_id":N}
 *     fill URL timeouts COUNT  so many timeouts for "billing", by turns of the names remind and
 *                          expire, each of an Order of its own: the first is due since three
 *                          minutes, the others in an hour, a second apart
 *     fill URL events      three events of Account/7 and one of Account/8
 *     fill URL events COUNT  so many of Account/9
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pawl/operate.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pawl_store *store;
static pawl_arena *arena;
static pawl_time   now;
static pawl_error  error = PAWL_ERROR_INIT;

static void must(pawl_code code)
{
    if (code == PAWL_OK)
        return;
    fprintf(stderr, "fill: %s: %s\n", pawl_code_name(code), error.text);
    exit(1);
}

static pawl_uuid uuid_of(unsigned number)
{
    pawl_uuid uuid = {{0x0d, 0x15, [6] = 0x40, [8] = 0x80}};
    uuid.bytes[14] = (uint8_t)(number >> 8);
    uuid.bytes[15] = (uint8_t)number;
    return uuid;
}

/* ---- Outbox ---------------------------------------------------------------- */

static pawl_outbox_row row_of(unsigned number, const char *source, int64_t version,
                              const char *type)
{
    pawl_outbox_row row = {.dispatch_id = {uuid_of(number)},
                           .source      = pawl_text_of(source),
                           .version     = version,
                           .endpoint    = PAWL_TEXT("shop"),
                           .destination = PAWL_TEXT("billing"),
                           .due         = now};
    row.message         = (pawl_message){.id             = pawl_arena_printf(arena, "m-%u", number),
                                         .type           = pawl_text_of(type),
                                         .body           = PAWL_TEXT("{\"card\":\"4711-secret\"}"),
                                         .headers        = PAWL_TEXT("{\"tenant\":\"blue\"}"),
                                         .correlation_id = PAWL_TEXT("c-1"),
                                         .causation_id   = PAWL_TEXT("order-1")};
    return row;
}

static void put(unsigned number, const char *source, int64_t version)
{
    pawl_outbox_row row = row_of(number, source, version, "ChargeCard");
    must(pawl_store_outbox_insert(store, &row, now, &error));
}

static void try_once(unsigned number, const pawl_outbox_result *result)
{
    pawl_outbox_query query = {.dispatch_id = {uuid_of(number)}};
    pawl_outbox_rows  found;
    must(pawl_store_outbox_find(store, &query, arena, &found, &error));
    must(pawl_store_outbox_settle(store, &found.items[0], result, now, &error));
}

static void fill_outbox(void)
{
    const pawl_outbox_result later   = {.outcome      = PAWL_ATTEMPT_TRANSIENT,
                                        .error        = PAWL_TEXT("connection \x1b[31mrefused\xff"),
                                        .duration     = 12300,
                                        .next_attempt = now + PAWL_HOURS(2)};
    const pawl_outbox_result refused = {
        .outcome = PAWL_ATTEMPT_REJECTED, .error = PAWL_TEXT("no such account"), .duration = 900};
    const pawl_outbox_result sent = {.outcome = PAWL_ATTEMPT_SUCCESS, .duration = 1500000};
    put(1, "Order/1", 1);
    put(2, "Order/1", 2);
    put(3, "Order/2", 1);
    put(4, "Order/3", 1);
    put(5, "", 0);
    put(6, "Order/4", 1);
    try_once(1, &later);
    try_once(3, &refused);
    try_once(4, &sent);
    try_once(5, &refused);
}

static void fill_neighbour(void)
{
    pawl_outbox_row row = row_of(7, "Order/1", 9, "ChargeCard");
    row.endpoint        = PAWL_TEXT("stall");
    must(pawl_store_outbox_insert(store, &row, now, &error));
    put(8, "Order/2", 2);
}

static void fill_dead(size_t count)
{
    pawl_outbox_add    *adds    = pawl_arena_take(arena, count * sizeof *adds);
    pawl_outbox_settle *settles = pawl_arena_take(arena, count * sizeof *settles);
    for (size_t i = 0; i < count; i++) {
        pawl_outbox_row row = row_of((unsigned)(1000 + i), "", 0, "Bulk");
        adds[i]             = (pawl_outbox_add){.dispatch_id = row.dispatch_id,
                                                .endpoint    = row.endpoint,
                                                .destination = row.destination,
                                                .message     = row.message,
                                                .at          = now};
    }
    pawl_changes add = {.now = now, .unit_count = 1, .group_count = 1, .outbox_add = {adds, count}};
    must(pawl_store_commit(store, &add, NULL, &error));
    pawl_outbox_query query = {.states       = 1U << PAWL_OUTBOX_PENDING,
                               .message_type = PAWL_TEXT("Bulk")};
    pawl_outbox_rows  found;
    must(pawl_store_outbox_find(store, &query, arena, &found, &error));
    for (size_t i = 0; i < found.count; i++)
        settles[i] = (pawl_outbox_settle){.id       = found.items[i].id,
                                          .state    = PAWL_OUTBOX_DEAD,
                                          .attempts = 1,
                                          .outcome  = PAWL_ATTEMPT_POISON,
                                          .at       = now};
    pawl_changes settle = {
        .now = now, .unit_count = 1, .group_count = 1, .outbox_settle = {settles, found.count}};
    must(pawl_store_commit(store, &settle, NULL, &error));
}

/* ---- Dead letters ---------------------------------------------------------- */

#define LETTERS 500 /* of one commit */

static const char *letter_endpoint = "billing";

static void put_letters(size_t from, size_t count)
{
    static const char *const types[] = {"charge", "parcel", "note"};
    static pawl_dead_set     letters[LETTERS];
    static pawl_inbox_entry  marks[LETTERS];
    for (size_t i = 0; i < count; i++) {
        const char *type = types[(from + i) % 3];
        pawl_time   at   = now - PAWL_DAYS(1) + PAWL_SECONDS((int64_t)(from + i));
        letters[i]       = (pawl_dead_set){
                  .endpoint = pawl_text_of(letter_endpoint),
                  .queue    = PAWL_TEXT("billing"),
                  .code     = pawl_text_of(*type == 'n' ? "EUNREACHABLE" : "REJECT"),
                  .error    = pawl_text_of(*type == 'n' ? "no route to the bank" : "the bank is closed"),
                  .attempts = 6,
                  .history  = PAWL_TEXT("[{\"attempt\":1,\"at\":\"2026-01-01T09:00:00Z\","
                                               "\"code\":\"REJECT\",\"error\":\"closed\"}]"),
                  .at       = at};
        letters[i].message =
            (pawl_message){.id             = pawl_arena_printf(arena, "m-%zu", from + i),
                           .type           = pawl_text_of(type),
                           .body           = pawl_arena_printf(arena, "{\"n\":%zu}", from + i),
                           .headers        = PAWL_TEXT("{\"tenant\":\"blue\"}"),
                           .correlation_id = PAWL_TEXT("c-1")};
        marks[i] = (pawl_inbox_entry){.endpoint   = pawl_text_of(letter_endpoint),
                                      .message_id = letters[i].message.id,
                                      .outcome    = PAWL_INBOX_DEAD,
                                      .at         = at};
    }
    pawl_changes changes = {.now         = now,
                            .unit_count  = 1,
                            .group_count = 1,
                            .inbox_entry = {marks, count},
                            .dead_set    = {letters, count}};
    must(pawl_store_commit(store, &changes, NULL, &error));
}

static void fill_letters(size_t from, size_t count)
{
    for (size_t i = 0; i < count; i += LETTERS)
        put_letters(from + i, count - i < LETTERS ? count - i : LETTERS);
}

/* ---- Messages ------------------------------------------------------------- */

static pawl_message message_of(const char *prefix, size_t number)
{
    pawl_message made = {.id             = pawl_arena_printf(arena, "%s-%zu", prefix, number),
                         .type           = PAWL_TEXT("charge"),
                         .headers        = PAWL_TEXT("{\"tenant\":\"blue\"}"),
                         .correlation_id = pawl_arena_printf(arena, "c-%zu", number / 2),
                         .causation_id   = PAWL_TEXT("order-1")};
    made.body         = number % 10 == 9
                            ? PAWL_TEXT("4711-secret")
                            : pawl_arena_printf(arena,
                                                "{\"customer_id\":%zu,\"card\":\"4711-secret\","
                                                        "\"of\":{\"trip\":%zu}}",
                                                number, number % 10);
    return made;
}

static void fill_queue(size_t from, size_t count)
{
    pawl_queue_send *sends = pawl_arena_take(arena, count * sizeof *sends);
    for (size_t i = 0; i < count; i++)
        sends[i] =
            (pawl_queue_send){.queue   = i % 2 == 0 ? PAWL_TEXT("billing") : PAWL_TEXT("shipping"),
                              .message = message_of("q", from + i),
                              .due     = now - PAWL_HOURS(1) + PAWL_SECONDS((int64_t)i)};
    pawl_changes changes = {
        .now = now, .unit_count = 1, .group_count = 1, .queue_send = {sends, count}};
    must(pawl_store_commit(store, &changes, NULL, &error));
}

static void fill_collected(size_t count)
{
    pawl_aggregator_add *adds = pawl_arena_take(arena, count * sizeof *adds);
    for (size_t i = 0; i < count; i++) {
        pawl_message message = message_of("a", i);
        adds[i]              = (pawl_aggregator_add){.name      = PAWL_TEXT("sums"),
                                                     .partition = PAWL_TEXT("sums/x"),
                                                     .key       = message.id,
                                                     .message   = message,
                                                     .at        = now,
                                                     .due       = PAWL_TIME_MAX};
    }
    pawl_changes changes = {
        .now = now, .unit_count = 1, .group_count = 1, .aggregator_add = {adds, count}};
    must(pawl_store_commit(store, &changes, NULL, &error));
}

/* ---- Events ---------------------------------------------------------------- */

static void append(const char *stream, int64_t version, const char *type, const char *message_id)
{
    pawl_event  event = {.type           = pawl_text_of(type),
                         .type_version   = 2,
                         .body           = PAWL_TEXT("{\"card\":\"4711-secret\"}"),
                         .headers        = PAWL_TEXT("{\"tenant\":\"blue\"}"),
                         .message_id     = pawl_text_of(message_id),
                         .correlation_id = PAWL_TEXT("c-1"),
                         .at             = now};
    pawl_append one   = {
          .stream = pawl_text_of(stream), .version = version - 1, .events = &event, .event_count = 1};
    must(pawl_store_append(store, &one, now, &error));
}

static void fill_events(size_t count)
{
    for (size_t i = 0; i < count; i++)
        append("Account/9", (int64_t)i + 1, "Counted", "m-9");
    if (count > 0)
        return;
    append("Account/7", 1, "Opened", "m-1");
    append("Account/8", 1, "Opened", "m-2");
    append("Account/7", 2, "Deposited", "m-3");
    append("Account/7", 3, "Withdrawn", "");
}

/* ---- Timeouts -------------------------------------------------------------- */

static void fill_timeouts(size_t count)
{
    for (unsigned i = 0; i < count; i++) {
        const pawl_timeout_row row = {
            .id          = {uuid_of(i + 1)},
            .saga_id     = {uuid_of(10000 + i)},
            .saga_type   = PAWL_TEXT("Order"),
            .name        = pawl_text_of(i % 2 == 0 ? "remind" : "expire"),
            .destination = PAWL_TEXT("billing"),
            .due         = i == 0 ? now : pawl_time_add(now, PAWL_HOURS(1) + PAWL_SECONDS(i)),
            .headers     = PAWL_TEXT("{\"tenant\":\"blue\"}")};
        must(pawl_store_timeout_insert(store, &row, now, &error));
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: fill URL outbox | neighbour | dead COUNT | "
                        "letters COUNT [FROM [ENDPOINT]] | queue COUNT [FROM] | collected COUNT | "
                        "timeouts COUNT | events [COUNT]\n");
        return 2;
    }
    size_t count = argc > 3 ? (size_t)atoi(argv[3]) : 0;
    size_t from  = argc > 4 ? (size_t)atoi(argv[4]) : 0;
    arena        = pawl_arena_create(0);
    now          = pawl_clock_now(NULL) - PAWL_MINUTES(3);
    must(pawl_store_open(argv[1], NULL, &store, &error));
    if (strcmp(argv[2], "outbox") == 0)
        fill_outbox();
    else if (strcmp(argv[2], "neighbour") == 0)
        fill_neighbour();
    else if (strcmp(argv[2], "dead") == 0)
        fill_dead(count);
    else if (strcmp(argv[2], "letters") == 0) {
        letter_endpoint = argc > 5 ? argv[5] : letter_endpoint;
        fill_letters(from, count);
    } else if (strcmp(argv[2], "queue") == 0)
        fill_queue(from, count);
    else if (strcmp(argv[2], "collected") == 0)
        fill_collected(count);
    else if (strcmp(argv[2], "timeouts") == 0)
        fill_timeouts(count);
    else
        fill_events(count);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    return 0;
}
