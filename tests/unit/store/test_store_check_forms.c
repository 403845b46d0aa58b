/* test_store_check_forms.c - every field of every kind of change: at its limit it passes, one
 * beyond is refused, and so is what is empty, at NULL, no text, out of range or unknown.
 *
 * The limits are written out here: they are what include/pawl/limits.h promises. The order of
 * a stream's events is proved by test_store_check.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/changes.h"
#include "support/tests.h"

#define LARGE ((size_t)16 * 1024 * 1024)

static good_set set;

static int reset(void **state)
{
    good_make(&set);
    return 0;
}

static void *second(pawl_change_kind kind, size_t offset)
{
    return good_second(&set, kind, offset);
}

static void passes(const char *kind, const char *field)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (pawl_changes_check(&set.changes, &error) != PAWL_OK)
        fail_msg("%s: %s: %s", kind, field, error.text);
    good_make(&set);
}

/* "queue_settle 1: due: " and what follows. */
static void is_refused(pawl_change_kind kind, const char *field, pawl_code code, const char *format,
                       ...) PAWL_PRINTF(4, 5);

static void is_refused(pawl_change_kind kind, const char *field, pawl_code code, const char *format,
                       ...)
{
    char       text[600];
    pawl_error error = PAWL_ERROR_INIT;
    va_list    arguments;
    int        size = snprintf(text, sizeof text, "%s 1: %s: ", pawl_change_kind_name(kind), field);
    va_start(arguments, format);
    vsnprintf(text + size, sizeof text - (size_t)size, format, arguments);
    va_end(arguments);
    pawl_code answer = pawl_changes_check(&set.changes, &error);
    assert_string_equal(error.text, text);
    assert_int_equal(answer, code);
    assert_int_equal(error.code, code);
    good_make(&set);
}

TEST_BETWEEN(two_of_every_kind_pass, reset, NULL)
{
    passes("each", "good");
}

/* ---- Texts -------------------------------------------------------------- */

enum { NAME, NAME_OR_NONE, HEADERS, BYTES, STATE, WORDS, SOURCE };

static const struct {
    size_t size_max;
    bool   is_needed; /* empty is refused */
    bool   is_text;   /* UTF-8 without NUL */
} forms[] = {
    [NAME]         = {200, true, true},
    [NAME_OR_NONE] = {200, false, true},
    [HEADERS]      = {65536, false, true},
    [BYTES]        = {LARGE, false, false},
    [STATE]        = {LARGE, false, true},
    [WORDS]        = {500, false, false}, /* for people: whatever a handler has to say */
    [SOURCE]       = {401, false, true},
};

#define AT(kind, field) pawl_change_##kind, #field, offsetof(pawl_##kind, field)
#define MESSAGE_TEXTS(kind, of_type)                                           \
    {AT(kind, message.id), NAME}, {AT(kind, message.type), of_type},           \
        {AT(kind, message.body), BYTES}, {AT(kind, message.headers), HEADERS}, \
        {AT(kind, message.correlation_id), NAME_OR_NONE},                      \
    {                                                                          \
        AT(kind, message.causation_id), NAME_OR_NONE                           \
    }

static const struct text_field {
    pawl_change_kind kind;
    const char      *name;
    size_t           offset;
    int              form;
} texts[] = {
    {AT(queue_settle, queue), NAME},
    {AT(queue_settle, error), WORDS},
    {AT(queue_settle, history), BYTES},
    {AT(inbox_entry, endpoint), NAME},
    {AT(inbox_entry, message_id), NAME},
    {AT(saga_insert, metadata), STATE},
    {AT(saga_insert, data), STATE},
    {AT(saga_insert, type_version), NAME_OR_NONE},
    {AT(saga_update, metadata), STATE},
    {AT(saga_update, data), STATE},
    {AT(saga_update, type_version), NAME_OR_NONE},
    {AT(event_append, stream), NAME},
    {AT(event_append, event.type), NAME},
    {AT(event_append, event.body), BYTES},
    {AT(event_append, event.headers), HEADERS},
    {AT(event_append, event.message_id), NAME_OR_NONE},
    {AT(event_append, event.correlation_id), NAME_OR_NONE},
    {AT(event_append, event.causation_id), NAME_OR_NONE},
    {AT(checkpoint_set, name), NAME},
    {AT(outbox_settle, source), SOURCE},
    {AT(outbox_settle, error), WORDS},
    {AT(outbox_reset, note), WORDS},
    {AT(leased_batch_remove, partition), NAME},
    {AT(timeout_cancel, name), NAME_OR_NONE},
    {AT(timeout_set, saga_type), NAME_OR_NONE},
    {AT(timeout_set, name), NAME_OR_NONE},
    {AT(timeout_set, destination), NAME},
    {AT(timeout_set, headers), HEADERS},
    {AT(timeout_set, correlation_id), NAME_OR_NONE},
    {AT(outbox_add, source), SOURCE},
    {AT(outbox_add, endpoint), NAME_OR_NONE},
    {AT(outbox_add, destination), NAME},
    MESSAGE_TEXTS(outbox_add, NAME),
    {AT(outbox_block, source), SOURCE},
    {AT(stream_snapshot_set, stream), NAME},
    {AT(stream_snapshot_set, state), STATE},
    {AT(stream_snapshot_set, dispatches), STATE},
    {AT(queue_send, queue), NAME},
    MESSAGE_TEXTS(queue_send, NAME),
    {AT(aggregator_add, name), NAME},
    {AT(aggregator_add, partition), NAME},
    {AT(aggregator_add, key), NAME},
    MESSAGE_TEXTS(aggregator_add, NAME),
    {AT(aggregator_remove, partition), NAME},
    {AT(aggregator_remove, correlation_id), NAME_OR_NONE},
    {AT(leased_batch_release, partition), NAME},
    {AT(flush_set, partition), NAME},
    {AT(flush_set, error), WORDS},
    {AT(dead_set, endpoint), NAME},
    {AT(dead_set, queue), NAME_OR_NONE},
    /* A dead letter may be dead because it has no type. */
    MESSAGE_TEXTS(dead_set, NAME_OR_NONE),
    {AT(dead_set, code), NAME_OR_NONE},
    {AT(dead_set, error), WORDS},
    {AT(dead_set, history), BYTES},
    {AT(subscription_set, type), NAME},
    {AT(subscription_set, queue), NAME},
    {AT(history_add, entry.endpoint), NAME},
    {AT(history_add, entry.source), SOURCE},
    {AT(history_add, entry.message_id), NAME_OR_NONE},
    {AT(history_add, entry.type), NAME_OR_NONE},
    {AT(history_add, entry.kind), NAME},
    {AT(history_add, entry.outcome), NAME},
    {AT(history_add, entry.error), WORDS},
    {AT(history_add, entry.out), STATE},
};

static char long_bytes[LARGE + 1];

static void put(const struct text_field *field, const char *data, size_t size)
{
    *(pawl_text *)second(field->kind, field->offset) = (pawl_text){.data = data, .size = size};
}

TEST_BETWEEN(every_text_has_its_limit, reset, NULL)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        size_t limit = forms[texts[i].form].size_max;
        put(&texts[i], long_bytes, limit);
        passes(pawl_change_kind_name(texts[i].kind), texts[i].name);
        put(&texts[i], long_bytes, limit + 1);
        is_refused(texts[i].kind, texts[i].name, PAWL_ELIMIT, "it has %zu bytes, limit %zu",
                   limit + 1, limit);
    }
}

TEST_BETWEEN(every_text_that_is_needed_may_not_be_empty, reset, NULL)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        put(&texts[i], "", 0);
        if (forms[texts[i].form].is_needed)
            is_refused(texts[i].kind, texts[i].name, PAWL_EINVAL, "it is empty");
        else
            passes(pawl_change_kind_name(texts[i].kind), texts[i].name);
        put(&texts[i], NULL, 2);
        is_refused(texts[i].kind, texts[i].name, PAWL_EINVAL, "it has 2 bytes at NULL");
    }
}

TEST_BETWEEN(every_text_is_text_unless_it_is_bytes, reset, NULL)
{
    static const struct {
        const char *bytes, *said;
    } bad[] = {
        {"ab\0", "byte 2 is NUL"}, {"\0bc", "byte 0 is NUL"}, {"ab\xC3", "byte 2 is not UTF-8"}};
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t j = 0; j < COUNT(bad); j++) {
            put(&texts[i], bad[j].bytes, 3);
            if (forms[texts[i].form].is_text)
                is_refused(texts[i].kind, texts[i].name, PAWL_EINVAL, "%s", bad[j].said);
            else
                passes(pawl_change_kind_name(texts[i].kind), texts[i].name);
        }
}

/* ---- The size of all ---------------------------------------------------- */

static size_t size_of_all(void)
{
    size_t size = 0;
    for (size_t i = 0; i < COUNT(texts); i++)
        size += good_size(&set, texts[i].kind, texts[i].offset);
    return size;
}

/* Each is small enough; together they are more than a server takes. */
TEST_BETWEEN(every_text_counts_in_the_size_of_all, reset, NULL)
{
    const size_t    limit = (size_t)256 * 1024 * 1024;
    pawl_queue_send sends[16];
    pawl_error      error = PAWL_ERROR_INIT;
    for (size_t i = 0; i < COUNT(texts); i++)
        put(&texts[i], long_bytes, i + 1);
    for (size_t i = 0; i < COUNT(sends); i++) {
        sends[i]              = set.queue_send[0];
        sends[i].message.body = (pawl_text){.data = long_bytes, .size = LARGE};
    }
    set.changes.queue_send.items = sends;
    set.changes.queue_send.count = COUNT(sends);
    assert_int_equal(pawl_changes_check(&set.changes, &error), PAWL_ELIMIT);
    assert_string_equal(
        error.text,
        test_text("change set: its texts have %zu bytes, limit 268435456", size_of_all()));
    sends[0].message.body.size -= size_of_all() - limit;
    assert_int_equal(pawl_changes_check(&set.changes, NULL), PAWL_OK);
    sends[0].message.body.size++;
    assert_int_equal(pawl_changes_check(&set.changes, NULL), PAWL_ELIMIT);
}

/* ---- Times -------------------------------------------------------------- */

typedef struct member {
    pawl_change_kind kind;
    const char      *name;
    size_t           offset;
} member;

static const member times[] = {
    {AT(queue_settle, due)},       {AT(queue_settle, waiting_since)},
    {AT(inbox_entry, at)},         {AT(event_append, event.at)},
    {AT(checkpoint_set, at)},      {AT(timeout_settle, due)},
    {AT(outbox_settle, at)},       {AT(outbox_settle, next_attempt)},
    {AT(outbox_reset, at)},        {AT(timeout_set, due)},
    {AT(outbox_add, due)},         {AT(outbox_add, at)},
    {AT(stream_snapshot_set, at)}, {AT(queue_send, due)},
    {AT(aggregator_add, at)},      {AT(aggregator_add, due)},
    {AT(flush_set, due)},          {AT(dead_set, at)},
    {AT(history_add, entry.at)},
};

/* 0001-01-01T00:00:00 and 9999-12-31T23:59:59.999999. */
#define FIRST INT64_C(-62135596800000000)
#define LAST INT64_C(253402300799999999)

TEST_BETWEEN(every_time_is_of_the_years_1_to_9999, reset, NULL)
{
    static const struct {
        pawl_time time;
        bool      is_good;
    } cases[] = {{FIRST, true}, {FIRST - 1, false}, {LAST, true}, {LAST + 1, false}};
    for (size_t i = 0; i < COUNT(times); i++)
        for (size_t j = 0; j < COUNT(cases); j++) {
            *(pawl_time *)second(times[i].kind, times[i].offset) = cases[j].time;
            if (cases[j].is_good)
                passes(pawl_change_kind_name(times[i].kind), times[i].name);
            else
                is_refused(times[i].kind, times[i].name, PAWL_EINVAL,
                           "time %lld is outside the years 1 to 9999", (long long)cases[j].time);
        }
}

/* ---- Choices, ids, numbers ---------------------------------------------- */

TEST_BETWEEN(every_choice_is_one_of_its_list, reset, NULL)
{
    static const struct {
        member where;
        int    last;
        int    except; /* has a sentence of its own */
    } choices[] = {
        {{AT(queue_settle, action)}, 2, -1},   {{AT(inbox_entry, outcome)}, PAWL_INBOX_DEAD, -1},
        {{AT(timeout_settle, action)}, 2, -1}, {{AT(outbox_settle, state)}, 3, PAWL_OUTBOX_BLOCKED},
        {{AT(outbox_settle, outcome)}, 3, -1}, {{AT(outbox_reset, action)}, 1, -1},
    };
    for (size_t i = 0; i < COUNT(choices); i++)
        for (int choice = -1; choice <= choices[i].last + 1; choice++) {
            const member *at                     = &choices[i].where;
            *(int *)second(at->kind, at->offset) = choice;
            if (choice < 0 || choice > choices[i].last)
                is_refused(at->kind, at->name, PAWL_EINVAL, "%d is unknown", choice);
            else if (choice == choices[i].except)
                is_refused(at->kind, at->name, PAWL_EINVAL,
                           "an attempt ends pending, dispatched or dead");
            else
                passes(pawl_change_kind_name(at->kind), at->name);
        }
}

TEST_BETWEEN(no_id_is_zero, reset, NULL)
{
    static const member ids[] = {{AT(saga_insert, id)},
                                 {AT(timeout_cancel, saga_id)},
                                 {AT(timeout_set, id)},
                                 {AT(outbox_add, dispatch_id)}};
    for (size_t i = 0; i < COUNT(ids); i++) {
        pawl_uuid *id = second(ids[i].kind, ids[i].offset);
        *id           = (pawl_uuid){{0}};
        is_refused(ids[i].kind, ids[i].name, PAWL_EINVAL, "it is zero");
        id->bytes[0]  = 0;
        id->bytes[15] = 1; /* not zero, wherever its one bit is */
        passes(pawl_change_kind_name(ids[i].kind), ids[i].name);
    }
}

static void back(int64_t from, int64_t to)
{
    set.checkpoint_set[1].from    = from;
    set.checkpoint_set[1].to      = to;
    set.checkpoint_set[1].is_back = true;
}

TEST_BETWEEN(a_checkpoint_goes_back_to_where_it_may, reset, NULL)
{
    back(5, 1);
    passes("checkpoint_set", "to");
    back(5, PAWL_CHECKPOINT_START);
    passes("checkpoint_set", "to");
    back(5, 0);
    is_refused(pawl_change_checkpoint_set, "to", PAWL_EINVAL,
               "it is 0, which does not go back from 5");
    back(5, 5);
    is_refused(pawl_change_checkpoint_set, "to", PAWL_EINVAL,
               "it is 5, which does not go back from 5");
    back(5, PAWL_CHECKPOINT_START - 1);
    is_refused(pawl_change_checkpoint_set, "to", PAWL_EINVAL,
               "it is -2, which does not go back from 5");
}

TEST_BETWEEN(numbers_begin_where_they_begin, reset, NULL)
{
    set.event_append[1].version = 0;
    is_refused(pawl_change_event_append, "version", PAWL_EINVAL, "it is 0, the first is 1");
    set.event_append[1].version = INT64_MAX;
    passes("event_append", "version");
    set.event_append[1].event.type_version = 0;
    is_refused(pawl_change_event_append, "event.type_version", PAWL_EINVAL,
               "it is 0, the first is 1");
    set.stream_snapshot_set[1].version = 0;
    is_refused(pawl_change_stream_snapshot_set, "version", PAWL_EINVAL,
               "it is 0 of a state of version 1, both begin at 1");
    set.stream_snapshot_set[1].type_version = 0;
    is_refused(pawl_change_stream_snapshot_set, "version", PAWL_EINVAL,
               "it is 1 of a state of version 0, both begin at 1");
    set.checkpoint_set[1].from = 1;
    is_refused(pawl_change_checkpoint_set, "to", PAWL_EINVAL, "it is 1, which is not behind 1");
    set.checkpoint_set[1].from = 2;
    is_refused(pawl_change_checkpoint_set, "to", PAWL_EINVAL, "it is 1, which is not behind 2");
    set.checkpoint_set[1].from = PAWL_CHECKPOINT_START - 1;
    is_refused(pawl_change_checkpoint_set, "from", PAWL_EINVAL,
               "it is -2, which is not a global position");
    set.checkpoint_set[1].from = PAWL_CHECKPOINT_START;
    set.checkpoint_set[1].to   = 0;
    is_refused(pawl_change_checkpoint_set, "to", PAWL_EINVAL, "it is 0, which is not behind -1");
    const int64_t id                    = 1;
    set.leased_batch_remove[1].id_count = 1;
    is_refused(pawl_change_leased_batch_remove, "ids", PAWL_EINVAL, "1 ids at NULL");
    set.leased_batch_remove[1].id_count = 1;
    set.leased_batch_remove[1].ids      = &id;
    passes("leased_batch_remove", "ids");
}

/* ---- Saga tables and values --------------------------------------------- */

static const member tables[] = {
    {AT(saga_delete, table)}, {AT(saga_insert, table)}, {AT(saga_update, table)}};

static const pawl_saga_table **table_of(const member *at)
{
    const pawl_saga_table **place = second(at->kind, at->offset);
    *place                        = &set.table;
    return place;
}

TEST_BETWEEN(every_saga_table_has_a_type_and_a_name, reset, NULL)
{
    static const struct {
        const char *field;
        size_t      offset;
    } parts[] = {{"table.type", offsetof(pawl_saga_table, type)},
                 {"table.name", offsetof(pawl_saga_table, name)}};
    for (size_t i = 0; i < COUNT(tables); i++) {
        pawl_change_kind kind = tables[i].kind;
        *table_of(&tables[i]) = NULL;
        is_refused(kind, "table", PAWL_EINVAL, "it is NULL");
        for (size_t j = 0; j < COUNT(parts); j++) {
            pawl_text *text = (pawl_text *)(void *)((char *)&set.table + parts[j].offset);
            table_of(&tables[i]);
            *text = (pawl_text){.data = long_bytes, .size = 200};
            passes(pawl_change_kind_name(kind), parts[j].field);
            table_of(&tables[i]);
            *text = (pawl_text){.data = long_bytes, .size = 201};
            is_refused(kind, parts[j].field, PAWL_ELIMIT, "it has 201 bytes, limit 200");
            table_of(&tables[i]);
            *text = PAWL_TEXT("");
            is_refused(kind, parts[j].field, PAWL_EINVAL, "it is empty");
            table_of(&tables[i]);
            *text = PAWL_TEXT("a\0b");
            is_refused(kind, parts[j].field, PAWL_EINVAL, "byte 1 is NUL");
        }
    }
}

static const struct value_field {
    member          where;
    pawl_value_type type; /* of its column */
} values[] = {
    {{AT(saga_insert, main)}, PAWL_VALUE_TEXT},
    {{AT(saga_insert, transitional)}, PAWL_VALUE_INT},
    {{AT(saga_update, transitional)}, PAWL_VALUE_INT},
};

static pawl_value value_of(pawl_value_type type)
{
    return type == PAWL_VALUE_TEXT ? pawl_value_text(PAWL_TEXT("1"))
                                   : (pawl_value){.type = type, .as = {.integer = 1}};
}

TEST_BETWEEN(every_value_is_of_its_columns_type, reset, NULL)
{
    for (size_t i = 0; i < COUNT(values); i++)
        for (int type = PAWL_VALUE_NONE; type <= PAWL_VALUE_TIME; type++) {
            const member *at                            = &values[i].where;
            *(pawl_value *)second(at->kind, at->offset) = value_of((pawl_value_type)type);
            if (type == PAWL_VALUE_NONE || type == (int)values[i].type)
                passes(pawl_change_kind_name(at->kind), at->name);
            else
                is_refused(at->kind, at->name, PAWL_EINVAL, "it is of type %s, the column's is %s",
                           pawl_value_type_name((pawl_value_type)type),
                           pawl_value_type_name(values[i].type));
        }
}

TEST_BETWEEN(every_value_is_checked, reset, NULL)
{
    const struct {
        pawl_value  value;
        const char *said;
    } cases[] = {
        {pawl_value_text((pawl_text){.data = long_bytes, .size = 200}), NULL},
        {pawl_value_text((pawl_text){.data = long_bytes, .size = 201}),
         "text of 201 characters, the limit is 200"},
        {pawl_value_text(PAWL_TEXT("a\0b")), "NUL at byte 1 of the text"},
        {pawl_value_text(PAWL_TEXT("a\xC3")), "not UTF-8 at byte 1 of the text"},
        {pawl_value_text((pawl_text){.size = 2}), "text of 2 bytes at NULL"},
        {pawl_value_text((pawl_text){.size = 0}), NULL},
        {pawl_value_time(FIRST), NULL},
        {pawl_value_time(LAST), NULL},
        {pawl_value_time(FIRST - 1), "time -62135596800000001 is outside the years 0001 to 9999"},
        {pawl_value_time(LAST + 1), "time 253402300800000000 is outside the years 0001 to 9999"},
    };
    for (size_t i = 0; i < COUNT(values); i++)
        for (size_t j = 0; j < COUNT(cases); j++) {
            const member *at                            = &values[i].where;
            set.table.main.type                         = cases[j].value.type;
            set.table.transitional.type                 = cases[j].value.type;
            set.saga_insert[1].table                    = &set.table;
            set.saga_update[1].table                    = &set.table;
            *(pawl_value *)second(at->kind, at->offset) = cases[j].value;
            if (cases[j].said == NULL)
                passes(pawl_change_kind_name(at->kind), at->name);
            else
                is_refused(at->kind, at->name, PAWL_EINVAL, "%s", cases[j].said);
        }
}

/* ---- Units, groups, lists ----------------------------------------------- */

TEST_BETWEEN(every_change_is_of_a_unit_and_a_group_of_the_set, reset, NULL)
{
    for (int kind = 0; kind < (int)pawl_change_kind_count; kind++) {
        uint32_t *base = second((pawl_change_kind)kind, 0); /* its unit, its group */
        base[0]        = 2;
        base[1]        = 1;
        passes(pawl_change_kind_name((pawl_change_kind)kind), "unit");
        base[0] = 3;
        is_refused((pawl_change_kind)kind, "unit", PAWL_EINVAL, "it is 3, the set has 3 units");
        base[1] = 2;
        is_refused((pawl_change_kind)kind, "group", PAWL_EINVAL, "it is 2, the set has 2 groups");
    }
}

TEST_BETWEEN(changes_at_null_are_refused, reset, NULL)
{
    for (int kind = 0; kind < (int)pawl_change_kind_count; kind++) {
        pawl_error  error = PAWL_ERROR_INIT;
        const char *text =
            test_text("%s: 2 changes at NULL", pawl_change_kind_name((pawl_change_kind)kind));
        memset(good_items(&set, (pawl_change_kind)kind), 0, sizeof(void *));
        assert_int_equal(pawl_changes_check(&set.changes, &error), PAWL_EINVAL);
        assert_string_equal(error.text, text);
        *good_count(&set, (pawl_change_kind)kind) = 0;
        passes(pawl_change_kind_name((pawl_change_kind)kind), "none at NULL");
    }
}

TEST_BETWEEN(units_and_groups_are_limited, reset, NULL)
{
    set.changes.unit_count = set.changes.group_count = 4096;
    passes("set", "units and groups");
    set.changes.unit_count = 4097;
    must_fail(pawl_changes_check(&set.changes, world_error()), PAWL_ELIMIT,
              "change set: it has 4097 units, limit 4096");
    good_make(&set);
    set.changes.group_count = 4097;
    must_fail(pawl_changes_check(&set.changes, world_error()), PAWL_ELIMIT,
              "change set: it has 4097 groups, limit 4096");
}

int main(void)
{
    memset(long_bytes, 'x', sizeof long_bytes);
    return tests_run(NULL, NULL);
}
