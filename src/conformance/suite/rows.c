/* rows.c - texts, ids, change sets and claims of the cases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"
#include "pawl/operations.h"

#include <string.h>

/* ---- Making rows -------------------------------------------------------- */

static pawl_text checked(suite *s, pawl_text text)
{
    EXPECT(s, text.data != NULL);
    return text;
}

pawl_text suite_printf(suite *s, const char *format, ...)
{
    char    buffer[4000];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    EXPECT(s, size >= 0 && (size_t)size < sizeof buffer);
    return checked(s, pawl_arena_text(s->arena, (pawl_text){.data = buffer, .size = (size_t)size}));
}

pawl_text suite_bytes(suite *s, size_t size)
{
    unsigned char *bytes = pawl_arena_take(s->arena, size);
    EXPECT(s, bytes != NULL);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i < 256 ? i : pawl_random_next(&s->random));
    return (pawl_text){.data = (const char *)bytes, .size = size};
}

pawl_text suite_repeat(suite *s, pawl_text text, size_t count)
{
    char *made = pawl_arena_take(s->arena, text.size * count + 1);
    EXPECT(s, made != NULL);
    for (size_t i = 0; i < count; i++)
        memcpy(made + i * text.size, text.data, text.size);
    return (pawl_text){.data = made, .size = text.size * count};
}

pawl_text suite_compact(suite *s, pawl_text json)
{
    char *made = pawl_arena_take(s->arena, json.size + 1);
    EXPECT(s, made != NULL);
    size_t size      = 0;
    bool   is_string = false;
    for (size_t i = 0; i < json.size; i++) {
        char c = json.data[i];
        if (is_string && c == '\\' && i + 1 < json.size)
            made[size++] = json.data[i++];
        else if (c == '"')
            is_string = !is_string;
        else if (!is_string && (c == ' ' || c == '\n' || c == '\t'))
            continue;
        made[size++] = json.data[i];
    }
    return (pawl_text){.data = made, .size = size};
}

pawl_uuid suite_uuid(unsigned number)
{
    pawl_uuid uuid = {{0x5a, 0, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0}};
    for (int i = 0; i < 4; i++)
        uuid.bytes[15 - i] = (uint8_t)(number >> (8 * i));
    return uuid;
}

pawl_saga_id suite_saga_id(unsigned number)
{
    return (pawl_saga_id){suite_uuid(number)};
}

pawl_timeout_id suite_timeout_id(unsigned number)
{
    return (pawl_timeout_id){suite_uuid(number)};
}

pawl_session_id suite_session_id(unsigned number)
{
    return (pawl_session_id){suite_uuid(number)};
}

pawl_dispatch_id suite_dispatch_id(unsigned number)
{
    return (pawl_dispatch_id){suite_uuid(number)};
}

pawl_message suite_message(suite *s, pawl_text id)
{
    return (pawl_message){
        .id             = id,
        .type           = TEXT("PlaceOrder"),
        .body           = suite_printf(s, "{\"id\":\"%.*s\"}", PAWL_TEXT_ARGS(id)),
        .headers        = suite_printf(s, "{\"from\":\"%.*s\"}", PAWL_TEXT_ARGS(id)),
        .correlation_id = TEXT("conversation-1"),
        .causation_id   = TEXT("cause-1"),
    };
}

pawl_event suite_event(suite *s, pawl_text message_id)
{
    return (pawl_event){
        .type           = TEXT("Deposited"),
        .type_version   = 1,
        .body           = suite_printf(s, "{\"by\":\"%.*s\"}", PAWL_TEXT_ARGS(message_id)),
        .message_id     = message_id,
        .correlation_id = TEXT("conversation-1"),
        .causation_id   = TEXT("cause-1"),
        .at             = SUITE_NOW,
    };
}

void suite_expect_message(suite *s, const pawl_message *actual, const pawl_message *expected,
                          const char *file, int line)
{
    suite_expect_text(s, actual->id, expected->id, "the message's id", file, line);
    suite_expect_text(s, actual->type, expected->type, "the message's type", file, line);
    suite_expect_text(s, actual->body, expected->body, "the message's body", file, line);
    suite_expect_text(s, actual->headers, expected->headers, "the message's headers", file, line);
    suite_expect_text(s, actual->correlation_id, expected->correlation_id,
                      "the message's correlation id", file, line);
    suite_expect_text(s, actual->causation_id, expected->causation_id, "the message's causation id",
                      file, line);
}

/* ---- Change sets -------------------------------------------------------- */

suite_set suite_changes(suite *s)
{
    uint8_t random[16];
    for (size_t i = 0; i < sizeof random; i++)
        random[i] = (uint8_t)pawl_random_next(&s->random);
    return (suite_set){
        .s       = s,
        .changes = {.commit_id   = pawl_uuid_v4(random),
                    .now         = SUITE_NOW,
                    .group_count = 1,
                    .unit_count  = 1},
    };
}

void suite_unit(suite_set *set, uint32_t unit, uint32_t group)
{
    set->unit  = unit;
    set->group = group;
    if (set->changes.unit_count <= unit)
        set->changes.unit_count = unit + 1;
    if (set->changes.group_count <= group)
        set->changes.group_count = group + 1;
}

#define SUITE__KIND(name, is_refusable)                                                      \
    void suite_add_##name(suite_set *set, pawl_##name change)                                \
    {                                                                                        \
        pawl_##name *items =                                                                 \
            pawl_arena_grow(set->s->arena, set->changes.name.items, set->changes.name.count, \
                            &set->capacities[pawl_change_##name], sizeof *items);            \
        EXPECT(set->s, items != NULL);                                                       \
        change.unit                      = set->unit;                                        \
        change.group                     = set->group;                                       \
        items[set->changes.name.count++] = change;                                           \
        set->changes.name.items          = items;                                            \
    }
PAWL_CHANGE_KINDS(SUITE__KIND)
#undef SUITE__KIND

void suite_enlist(suite_set *set, pawl_store *store)
{
    suite *s      = set->s;
    void  *native = pawl_store_native(store, pawl_store_native_type(store));
    EXPECT_OK(s, pawl_store_enlist(store, native, &set->changes, &s->error));
}

pawl_code suite_try(suite_set *set, pawl_store *store, pawl_refusals *refused)
{
    *refused       = (pawl_refusals){.arena = set->s->arena};
    set->s->error  = (pawl_error)PAWL_ERROR_INIT;
    pawl_code code = pawl_store_commit(store, &set->changes, refused, &set->s->error);
    if (code != PAWL_OK)
        if (set->s->error.text[0] == '\0')
            suite_fail(set->s, __FILE__, __LINE__,
                       "the commit that failed with %s has no error text",
                       suite_code_name(set->s, code));
    return code;
}

void suite_commit_at(suite_set *set, pawl_store *store, const char *file, int line)
{
    pawl_refusals refused;
    suite_expect_code(set->s, suite_try(set, store, &refused), PAWL_OK, "commit", file, line);
    if (refused.count > 0)
        suite_fail(set->s, file, line, "%s of unit %u was refused: %s: %.*s",
                   pawl_change_kind_name(refused.items[0].kind), (unsigned)refused.items[0].unit,
                   suite_code_name(set->s, refused.items[0].reason),
                   PAWL_TEXT_ARGS(refused.items[0].text));
}

pawl_refusals suite_refused_at(suite_set *set, pawl_store *store, const char *file, int line)
{
    pawl_refusals refused;
    suite_expect_code(set->s, suite_try(set, store, &refused), PAWL_OK, "commit", file, line);
    if (refused.count == 0)
        suite_fail(set->s, file, line, "nothing was refused");
    for (size_t i = 0; i < refused.count; i++)
        if (refused.items[i].text.size == 0)
            suite_fail(set->s, file, line, "refusal %zu has no text", i);
    return refused;
}

/* The kind of the only change in the set. */
static pawl_change_kind only_kind(const pawl_changes *changes)
{
    pawl_change_kind kind = pawl_change_kind_count;
#define SUITE__KIND(name, is_refusable) \
    if (changes->name.count > 0)        \
        kind = pawl_change_##name;
    PAWL_CHANGE_KINDS(SUITE__KIND)
#undef SUITE__KIND
    return kind;
}

void suite_refuse_at(suite_set *set, pawl_store *store, pawl_code reason, const char *file,
                     int line)
{
    pawl_refusals       refused = suite_refused_at(set, store, file, line);
    const pawl_refusal *only    = &refused.items[0];
    suite_expect_integer(set->s, (int64_t)refused.count, 1, "the count of refusals", file, line);
    suite_expect_integer(set->s, only->kind, only_kind(&set->changes), "the refused kind", file,
                         line);
    suite_expect_integer(set->s, only->unit, 0, "the refused unit", file, line);
    suite_expect_integer(set->s, only->group, 0, "the refused group", file, line);
    if (only->reason != reason)
        suite_fail(set->s, file, line, "refused with %s, expected %s: %.*s",
                   suite_code_name(set->s, only->reason), pawl_code_name(reason),
                   PAWL_TEXT_ARGS(only->text));
}

const pawl_refusal *suite_refusal(const pawl_refusals *refused, uint32_t unit)
{
    for (size_t i = 0; i < refused->count; i++)
        if (refused->items[i].unit == unit)
            return &refused->items[i];
    return NULL;
}

bool suite_text_has(pawl_text text, pawl_text part)
{
    for (size_t i = 0; i + part.size <= text.size; i++)
        if (memcmp(text.data + i, part.data, part.size) == 0)
            return true;
    return false;
}

/* ---- Reads and claims that must succeed --------------------------------- */

#define SPARE_COUNT 8 /* zeroed rows after those that were read */

void *suite_rows_padded(suite *s, const void *items, size_t count, size_t size, const char *what,
                        const char *file, int line)
{
    char *made = pawl_arena_take(s->arena, (count + SPARE_COUNT) * size);
    if (made == NULL)
        suite_fail(s, file, line, "out of memory for %zu rows", count);
    if (count > 0 && items == NULL)
        suite_fail(s, file, line, "%s says %zu rows, and their array is NULL", what, count);
    if (count > 0)
        memcpy(made, items, count * size);
    return made;
}

void suite_send(suite *s, pawl_store *store, pawl_text queue, const char *id, pawl_time due)
{
    COMMIT_ONE(s, store, queue_send, .queue = queue, .message = suite_message(s, pawl_text_of(id)),
               .due = due);
}

pawl_queue_rows suite_claim(suite *s, pawl_store *store, pawl_text queue, pawl_time due_max,
                            size_t count_max)
{
    pawl_queue_rows  rows  = {0};
    pawl_queue_claim claim = {
        .queue = queue, .due_max = due_max, .count_max = count_max, .now = SUITE_NOW};
    READ_ROWS(s, pawl_store_queue_claim(store, &claim, s->arena, &rows, &s->error), rows);
    return rows;
}

pawl_queue_rows suite_queue(suite *s, pawl_store *store, pawl_text queue)
{
    pawl_queue_rows rows = {0};
    READ_ROWS(s, pawl_store_queue_list(store, queue, 0, s->arena, &rows, &s->error), rows);
    return rows;
}

bool suite_knows(suite *s, pawl_store *store, pawl_text endpoint, pawl_text id)
{
    bool known = false;
    EXPECT_OK(s, pawl_store_inbox_known(store, endpoint, &id, 1, &known, &s->error));
    return known;
}

pawl_saga_row suite_load(suite *s, pawl_store *store, suite_table table, pawl_saga_key key,
                         pawl_value value)
{
    pawl_saga_row row = {.presence = PAWL_SAGA_LOCKED_BY_ANOTHER, .version = -1};
    EXPECT_OK(s, pawl_store_saga_load(store, s->tables[table], key, &value, 1, PAWL_SAGA_UNLOCKED,
                                      s->arena, &row, &s->error));
    EXPECT(s, row.version >= 0);
    EXPECT_EQ(s, row.presence, row.version > 0 ? PAWL_SAGA_THERE : PAWL_SAGA_MISSING);
    return row;
}

pawl_saga_row suite_load_id(suite *s, pawl_store *store, suite_table table, unsigned number)
{
    return suite_load(s, store, table, PAWL_SAGA_BY_ID, pawl_value_uuid(suite_uuid(number)));
}

int64_t suite_saga_count(suite *s, pawl_store *store, suite_table table)
{
    int64_t count = -1;
    EXPECT_OK(s, pawl_store_saga_count(store, s->tables[table], &count, &s->error));
    return count;
}

void suite_insert_order(suite *s, pawl_store *store, unsigned number, const char *ref)
{
    COMMIT_ONE(s, store, saga_insert, .table = s->tables[SUITE_ORDER], .id = suite_saga_id(number),
               .main = pawl_value_text(pawl_text_of(ref)), .metadata = TEXT("{}"),
               .data = suite_printf(s, "{\"ref\":\"%s\"}", ref), .type_version = TEXT("1.0"));
}

pawl_timeout_rows suite_timeouts(suite *s, pawl_store *store)
{
    pawl_timeout_rows rows = {0};
    pawl_saga_id      all  = {{{0}}};
    READ_ROWS(s, pawl_store_timeout_list(store, all, 0, s->arena, &rows, &s->error), rows);
    return rows;
}

pawl_timeout_rows suite_claim_timeouts(suite *s, pawl_store *store, unsigned session, pawl_time now,
                                       size_t count_max)
{
    pawl_timeout_rows  rows  = {0};
    pawl_timeout_claim claim = {.destination = TEXT("orders"),
                                .due_max     = now,
                                .count_max   = count_max,
                                .owner       = suite_session_id(session),
                                .now         = now,
                                .lease       = SUITE_LEASE};
    READ_ROWS(s, pawl_store_timeout_claim(store, &claim, s->arena, &rows, &s->error), rows);
    return rows;
}

pawl_leased_batch suite_rows(suite *s, pawl_store *store, pawl_text partition)
{
    pawl_leased_batch rows = {0};
    READ_ROWS(s, pawl_store_aggregator_get(store, partition, s->arena, &rows, &s->error), rows);
    return rows;
}

static const pawl_text known_types[] = {PAWL_TEXT_INIT("PlaceOrder"),
                                        PAWL_TEXT_INIT("CancelOrder")};

pawl_leased_batch suite_snapshot_of(suite *s, pawl_store *store, pawl_text partition,
                                    unsigned session, pawl_time now)
{
    pawl_leased_batch       rows  = {0};
    pawl_leased_batch_claim claim = {.partition  = partition,
                                     .session    = suite_session_id(session),
                                     .types      = known_types,
                                     .type_count = 2,
                                     .now        = now,
                                     .lease      = SUITE_LEASE};
    READ_ROWS(s, pawl_store_leased_batch_claim(store, &claim, s->arena, &rows, &s->error), rows);
    return rows;
}

pawl_aggregator_counts suite_counts(suite *s, pawl_store *store, pawl_text partition, pawl_time now)
{
    pawl_aggregator_counts counts = {.all = -1, .resolved = -1, .ready = -1, .id_last = -1};
    EXPECT_OK(
        s, pawl_store_aggregator_counts(store, partition, known_types, 2, now, &counts, &s->error));
    return counts;
}

pawl_outbox_rows suite_outbox_rows(suite *s, pawl_store *store, pawl_outbox_state state)
{
    pawl_outbox_rows rows = {0};
    READ_ROWS(s, pawl_store_outbox_list(store, state, 0, s->arena, &rows, &s->error), rows);
    return rows;
}

pawl_outbox_row suite_outbox_row(suite *s, pawl_store *store, unsigned number)
{
    pawl_outbox_rows  rows  = {0};
    pawl_outbox_query query = {.dispatch_id = suite_dispatch_id(number)};
    EXPECT_OK(s, pawl_store_outbox_find(store, &query, s->arena, &rows, &s->error));
    EXPECT_EQ(s, rows.count, 1);
    return rows.items[0];
}

void suite_outbox_settle(suite *s, pawl_store *store, unsigned number, pawl_attempt_outcome outcome,
                         pawl_time now)
{
    pawl_outbox_row    row    = suite_outbox_row(s, store, number);
    pawl_outbox_result result = {.outcome = outcome, .next_attempt = now + 1};
    EXPECT_OK(s, pawl_store_outbox_settle(store, &row, &result, now, &s->error));
}

pawl_attempt_rows suite_attempts(suite *s, pawl_store *store, int64_t id)
{
    pawl_attempt_rows rows = {0};
    READ_ROWS(s, pawl_store_outbox_attempts(store, id, s->arena, &rows, &s->error), rows);
    return rows;
}

pawl_dead_rows suite_dead_rows(suite *s, pawl_store *store, pawl_text endpoint)
{
    pawl_dead_rows rows = {0};
    READ_ROWS(s, pawl_store_dead_list(store, endpoint, 0, s->arena, &rows, &s->error), rows);
    return rows;
}

pawl_stream suite_stream(suite *s, pawl_store *store, pawl_text stream,
                         int32_t snapshot_version_max)
{
    pawl_stream      found = {0};
    pawl_stream_read read  = {.stream = stream, .snapshot_version_max = snapshot_version_max};
    READ_STREAM(s, pawl_store_stream_load(store, &read, 1, s->arena, &found, &s->error), found);
    return found;
}

int64_t suite_checkpoint(suite *s, pawl_store *store, pawl_text name)
{
    int64_t position = -1;
    EXPECT_OK(s, pawl_store_checkpoint_get(store, name, &position, &s->error));
    return position;
}

pawl_stats suite_stats_of(suite *s, pawl_store *store, pawl_time now)
{
    pawl_stats stats = PAWL_STATS_INIT;
    EXPECT_OK(s, pawl_store_stats(store, now, s->arena, &stats, &s->error));
    return stats;
}
