/* text.c - texts and bytes are read as they were written, up to the limits; longer ones are refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/suite.h"

#include <string.h>

#define ODD "it's \"odd\" \\ %s; -- \xf0\x9f\x8e\xbb \xc3\xa9"
#define ODD_JSON "{\"k\":\"it's \\\"odd\\\" \xf0\x9f\x8e\xbb\"}"

static pawl_message odd_message(suite *s)
{
    return (pawl_message){
        .id             = TEXT(ODD),
        .type           = TEXT("Type " ODD),
        .body           = suite_bytes(s, 3000),
        .headers        = TEXT(ODD_JSON),
        .correlation_id = TEXT("Corr " ODD),
        .causation_id   = TEXT("Cause " ODD),
    };
}

static void queues_keep_texts_with_quotes_backslashes_and_non_ascii_characters(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = odd_message(s);
    COMMIT_ONE(s, a, queue_send, .queue = TEXT(ODD), .message = sent, .due = SUITE_NOW);
    pawl_queue_rows rows = suite_claim(s, a, TEXT(ODD), SUITE_NOW, 9);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    COMMIT_ONE(s, a, queue_settle, .action = PAWL_QUEUE_RETRY, .queue = TEXT(ODD),
               .seq = rows.items[0].seq, .due = SUITE_NOW, .error = TEXT(ODD));
    rows = suite_queue(s, a, TEXT(ODD));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
}

static void the_outbox_keeps_texts_with_quotes_backslashes_and_non_ascii_characters(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = odd_message(s);
    COMMIT_ONE(s, a, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = TEXT("S/" ODD),
               .version = 1, .endpoint = TEXT(ODD), .destination = TEXT("D " ODD), .message = sent,
               .at = SUITE_NOW);
    pawl_outbox_rows rows = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    EXPECT_TEXT(s, rows.items[0].source, TEXT("S/" ODD));
    EXPECT_TEXT(s, rows.items[0].endpoint, TEXT(ODD));
    EXPECT_TEXT(s, rows.items[0].destination, TEXT("D " ODD));
    COMMIT_ONE(s, a, outbox_settle, .id = rows.items[0].id, .state = PAWL_OUTBOX_DEAD,
               .attempts = 1, .outcome = PAWL_ATTEMPT_REJECTED, .error = TEXT(ODD),
               .at = SUITE_NOW);
    EXPECT_TEXT(s, suite_attempts(s, a, rows.items[0].id).items[0].error, TEXT(ODD));
}

static void aggregators_keep_texts_with_quotes_backslashes_non_ascii_characters(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = odd_message(s);
    COMMIT_ONE(s, a, aggregator_add, .name = TEXT(ODD), .partition = TEXT(ODD "/k"),
               .key = TEXT("K" ODD), .message = sent, .at = SUITE_NOW, .due = SUITE_NOW);
    pawl_leased_batch rows = suite_rows(s, a, TEXT(ODD "/k"));
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    EXPECT_TEXT(s, rows.items[0].key, TEXT("K" ODD));
    EXPECT_TEXT(s, rows.items[0].name, TEXT(ODD));
    COMMIT_ONE(s, a, flush_set, .partition = TEXT(ODD "/k"), .due = SUITE_NOW, .error = TEXT(ODD));
    pawl_flush_rows flushes = {0};
    READ_ROWS(s, pawl_store_flush_list(a, TEXT(ODD), SUITE_NOW, 9, s->arena, &flushes, &s->error),
              flushes);
    EXPECT_EQ(s, flushes.count, 1);
    EXPECT_TEXT(s, flushes.items[0].partition, TEXT(ODD "/k"));
    EXPECT_TEXT(s, flushes.items[0].error, TEXT(ODD));
    pawl_leased_batch_claim claim = {.partition  = TEXT(ODD "/k"),
                                     .session    = suite_session_id(70),
                                     .types      = &sent.type,
                                     .type_count = 1,
                                     .now        = SUITE_NOW,
                                     .lease      = SUITE_LEASE};
    READ_ROWS(s, pawl_store_leased_batch_claim(a, &claim, s->arena, &rows, &s->error), rows);
    EXPECT_EQ(s, rows.count, 1);
    COMMIT_ONE(s, a, aggregator_remove, .partition = TEXT(ODD "/k"),
               .correlation_id = sent.correlation_id);
    EXPECT_EQ(s, suite_rows(s, a, TEXT(ODD "/k")).count, 0);
}

static void timeouts_keep_texts_with_quotes_backslashes_and_non_ascii_characters(suite *s)
{
    pawl_store *a = suite_open(s);
    COMMIT_ONE(s, a, timeout_set, .id = suite_timeout_id(1), .saga_id = suite_saga_id(1),
               .saga_type = TEXT("T " ODD), .name = TEXT("N " ODD), .destination = TEXT(ODD),
               .due = SUITE_NOW, .headers = TEXT(ODD_JSON), .correlation_id = TEXT("C " ODD));
    pawl_timeout_rows rows = suite_timeouts(s, a);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_TEXT(s, rows.items[0].saga_type, TEXT("T " ODD));
    EXPECT_TEXT(s, rows.items[0].name, TEXT("N " ODD));
    EXPECT_TEXT(s, rows.items[0].destination, TEXT(ODD));
    EXPECT_TEXT(s, rows.items[0].headers, TEXT(ODD_JSON));
    EXPECT_TEXT(s, rows.items[0].correlation_id, TEXT("C " ODD));
    COMMIT_ONE(s, a, timeout_cancel, .saga_id = suite_saga_id(1), .name = TEXT("N " ODD));
    EXPECT_EQ(s, suite_timeouts(s, a).count, 0);
}

static void all_other_rows_keep_texts_with_quotes_backslashes_non_ascii_characters(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = odd_message(s);
    COMMIT_ONE(s, a, dead_set, .endpoint = TEXT(ODD), .queue = TEXT("Q" ODD), .message = sent,
               .code = TEXT("C" ODD), .error = TEXT("E" ODD), .history = TEXT("[" ODD_JSON "]"),
               .at = SUITE_NOW);
    pawl_dead_rows dead = suite_dead_rows(s, a, TEXT(ODD));
    EXPECT_EQ(s, dead.count, 1);
    EXPECT_MESSAGE(s, &dead.items[0].message, &sent);
    EXPECT_TEXT(s, dead.items[0].queue, TEXT("Q" ODD));
    EXPECT_TEXT(s, dead.items[0].code, TEXT("C" ODD));
    EXPECT_TEXT(s, dead.items[0].error, TEXT("E" ODD));
    EXPECT_TEXT(s, dead.items[0].history, TEXT("[" ODD_JSON "]"));
    COMMIT_ONE(s, a, inbox_entry, .endpoint = TEXT(ODD), .message_id = TEXT(ODD), .at = SUITE_NOW);
    EXPECT(s, suite_knows(s, a, TEXT(ODD), TEXT(ODD)));
    COMMIT_ONE(s, a, subscription_set, .type = TEXT(ODD), .queue = TEXT("Q" ODD));
    pawl_subscriptions list = {0};
    READ_ROWS(s, pawl_store_subscriptions(a, s->arena, &list, &s->error), list);
    EXPECT_EQ(s, list.count, 1);
    EXPECT_TEXT(s, list.items[0].type, TEXT(ODD));
    EXPECT_TEXT(s, list.items[0].queue, TEXT("Q" ODD));
    bool is_held = false;
    EXPECT_OK(s, pawl_store_lead(a, TEXT(ODD), SUITE_NOW, SUITE_LEASE, &is_held, &s->error));
    EXPECT(s, is_held);
}

static void names_are_accepted_up_to_their_maximum_size(suite *s)
{
    pawl_store  *a         = suite_open(s);
    pawl_text    name      = suite_repeat(s, TEXT("\xf0\x9f\x8e\xbb"), PAWL_NAME_SIZE_MAX / 4);
    pawl_text    plain     = suite_repeat(s, TEXT("n"), PAWL_NAME_SIZE_MAX);
    pawl_text    id        = suite_repeat(s, TEXT("i"), PAWL_MESSAGE_ID_SIZE_MAX);
    pawl_message message   = suite_message(s, id);
    message.type           = name;
    message.correlation_id = id;
    suite_set set          = suite_changes(s);
    ADD(&set, queue_send, .queue = name, .message = message, .due = SUITE_NOW);
    ADD(&set, inbox_entry, .endpoint = plain, .message_id = id, .at = SUITE_NOW);
    ADD(&set, timeout_set, .id = suite_timeout_id(1), .saga_id = suite_saga_id(1),
        .saga_type = plain, .name = name, .destination = plain, .due = SUITE_NOW);
    ADD(&set, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = plain, .version = 1,
        .endpoint = plain, .destination = name, .message = message, .at = SUITE_NOW);
    ADD(&set, aggregator_add, .name = name, .partition = plain, .key = id, .message = message,
        .at = SUITE_NOW, .due = SUITE_NOW);
    ADD(&set, dead_set, .endpoint = plain, .queue = name, .message = message, .code = plain,
        .at = SUITE_NOW);
    ADD(&set, subscription_set, .type = plain, .queue = name);
    COMMIT(&set, a);
    EXPECT_MESSAGE(s, &suite_claim(s, a, name, SUITE_NOW, 1).items[0].message, &message);
    EXPECT(s, suite_knows(s, a, plain, id));
    EXPECT_TEXT(s, suite_timeouts(s, a).items[0].name, name);
    EXPECT_TEXT(s, suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING).items[0].destination, name);
    EXPECT_TEXT(s, suite_rows(s, a, plain).items[0].key, id);
    EXPECT_TEXT(s, suite_dead_rows(s, a, plain).items[0].code, plain);
}

static void refuse_name(suite *s, pawl_store *store, pawl_text queue, pawl_text id,
                        pawl_text headers)
{
    pawl_refusals refused;
    pawl_message  message = suite_message(s, TEXT("m-1"));
    suite_set     set     = suite_changes(s);
    message.id            = id;
    message.headers       = headers;
    /* An applicable change in the same group must not be applied either. */
    ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("beside"),
        .at = SUITE_NOW);
    ADD(&set, queue_send, .queue = queue, .message = message, .due = SUITE_NOW);
    pawl_code code = suite_try(&set, store, &refused);
    EXPECT(s, code == PAWL_EINVAL || code == PAWL_ELIMIT);
    EXPECT(s, s->error.text[0] != '\0');
    EXPECT(s, !suite_knows(s, store, TEXT("suite"), TEXT("beside")));
}

static void a_text_over_its_limit_is_refused_and_nothing_is_written(suite *s)
{
    pawl_store *a     = suite_open(s);
    pawl_text   long_ = suite_repeat(s, TEXT("n"), PAWL_NAME_SIZE_MAX + 1);
    pawl_text   nul   = {.data = "a\0b", .size = 3};
    pawl_text   good = TEXT("orders"), none = TEXT("{}");
    refuse_name(s, a, long_, good, none);
    refuse_name(s, a, TEXT(""), good, none);
    refuse_name(s, a, nul, good, none);
    refuse_name(s, a, TEXT("bad\xff"), good, none);
    refuse_name(s, a, good, long_, none);
    refuse_name(s, a, good, TEXT(""), none);
    refuse_name(s, a, good, nul, none);
    refuse_name(s, a, good, good, nul);
    EXPECT_EQ(s, suite_queue(s, a, good).count, 0);
}

/* ---- NUL ---------------------------------------------------------------- */

/* A text field of a change that add_all makes: the `index`th change of its kind. */
typedef struct nul_field {
    pawl_change_kind kind;
    unsigned         index;
    const char      *name;
    size_t           offset;
} nul_field;

#define NUL_IN(kind, field)                                         \
    {                                                               \
        pawl_change_##kind, 0, #field, offsetof(pawl_##kind, field) \
    }
#define NUL_IN_VALUE(kind, index, field)                                        \
    {                                                                           \
        pawl_change_##kind, index, #field, offsetof(pawl_##kind, field.as.text) \
    }
#define NUL_IN_MESSAGE(kind)                                                             \
    NUL_IN(kind, message.id), NUL_IN(kind, message.type), NUL_IN(kind, message.headers), \
        NUL_IN(kind, message.correlation_id), NUL_IN(kind, message.causation_id)

static const nul_field nul_fields[] = {
    NUL_IN(queue_settle, queue),
    NUL_IN(inbox_entry, endpoint),
    NUL_IN(inbox_entry, message_id),
    NUL_IN_VALUE(saga_insert, 0, main),
    NUL_IN_VALUE(saga_insert, 1, transitional),
    NUL_IN(saga_insert, metadata),
    NUL_IN(saga_insert, data),
    NUL_IN(saga_insert, type_version),
    NUL_IN_VALUE(saga_update, 0, transitional),
    NUL_IN(saga_update, metadata),
    NUL_IN(saga_update, data),
    NUL_IN(saga_update, type_version),
    NUL_IN(event_append, stream),
    NUL_IN(event_append, event.type),
    NUL_IN(event_append, event.headers),
    NUL_IN(event_append, event.message_id),
    NUL_IN(event_append, event.correlation_id),
    NUL_IN(event_append, event.causation_id),
    NUL_IN(checkpoint_set, name),
    NUL_IN(outbox_settle, source),
    NUL_IN(leased_batch_remove, partition),
    NUL_IN(timeout_cancel, name),
    NUL_IN(timeout_set, saga_type),
    NUL_IN(timeout_set, name),
    NUL_IN(timeout_set, destination),
    NUL_IN(timeout_set, headers),
    NUL_IN(timeout_set, correlation_id),
    NUL_IN(outbox_add, source),
    NUL_IN(outbox_add, endpoint),
    NUL_IN(outbox_add, destination),
    NUL_IN_MESSAGE(outbox_add),
    NUL_IN(outbox_block, source),
    NUL_IN(stream_snapshot_set, stream),
    NUL_IN(stream_snapshot_set, state),
    NUL_IN(stream_snapshot_set, dispatches),
    NUL_IN(queue_send, queue),
    NUL_IN_MESSAGE(queue_send),
    NUL_IN(aggregator_add, name),
    NUL_IN(aggregator_add, partition),
    NUL_IN(aggregator_add, key),
    NUL_IN_MESSAGE(aggregator_add),
    NUL_IN(aggregator_remove, partition),
    NUL_IN(aggregator_remove, correlation_id),
    NUL_IN(leased_batch_release, partition),
    NUL_IN(flush_set, partition),
    NUL_IN(dead_set, endpoint),
    NUL_IN(dead_set, queue),
    NUL_IN_MESSAGE(dead_set),
    NUL_IN(dead_set, code),
    NUL_IN(subscription_set, type),
    NUL_IN(subscription_set, queue),
};

static void add_sagas(suite *s, suite_set *set)
{
    pawl_text text = TEXT("x"), none = TEXT("{}");
    ADD(set, saga_insert, .table = s->tables[SUITE_MOVE], .id = suite_saga_id(1),
        .main = pawl_value_text(text), .metadata = none, .data = none, .type_version = text);
    ADD(set, saga_insert, .table = s->tables[SUITE_SHIFT], .id = suite_saga_id(2),
        .main = pawl_value_integer(2), .transitional = pawl_value_text(text), .metadata = none,
        .data = none, .type_version = text);
    ADD(set, saga_update, .table = s->tables[SUITE_SHIFT], .id = suite_saga_id(3), .version = 1,
        .transitional = pawl_value_text(text), .metadata = none, .data = none,
        .type_version = text);
}

/* Adds an applicable change of each kind that has names. */
static void add_all(suite *s, suite_set *set)
{
    pawl_text    text    = TEXT("x");
    pawl_message message = suite_message(s, text);
    add_sagas(s, set);
    ADD(set, queue_settle, .queue = text, .seq = 1);
    ADD(set, inbox_entry, .endpoint = text, .message_id = text, .at = SUITE_NOW);
    ADD(set, event_append, .stream = text, .version = 1, .is_first = true,
        .event = suite_event(s, text));
    ADD(set, checkpoint_set, .name = text, .from = 0, .to = 1);
    ADD(set, stream_snapshot_set, .stream = text, .version = 1, .type_version = 1, .state = text,
        .dispatches = text);
    ADD(set, outbox_settle, .id = 1, .source = text, .state = PAWL_OUTBOX_DISPATCHED);
    ADD(set, leased_batch_remove, .partition = text);
    ADD(set, timeout_cancel, .saga_id = suite_saga_id(1), .name = text);
    ADD(set, timeout_set, .id = suite_timeout_id(1), .destination = text, .due = SUITE_NOW);
    ADD(set, outbox_add, .dispatch_id = suite_dispatch_id(1), .source = text, .endpoint = text,
        .destination = text, .message = message);
    ADD(set, outbox_block, .source = text);
    ADD(set, queue_send, .queue = text, .message = message, .due = SUITE_NOW);
    ADD(set, aggregator_add, .name = text, .partition = text, .key = text, .message = message);
    ADD(set, aggregator_remove, .partition = text, .correlation_id = text);
    ADD(set, leased_batch_release, .partition = text);
    ADD(set, flush_set, .partition = text);
    ADD(set, dead_set, .endpoint = text, .queue = text, .message = message, .code = text);
    ADD(set, subscription_set, .type = text, .queue = text);
}

static char *change_at(suite_set *set, pawl_change_kind kind, size_t index)
{
    char *items = NULL;
#define SUITE__KIND(name, is_refusable) \
    if (kind == pawl_change_##name)     \
        items = (char *)(set->changes.name.items + index);
    PAWL_CHANGE_KINDS(SUITE__KIND)
#undef SUITE__KIND
    return items;
}

static void a_nul_in_a_text_is_refused_and_the_error_names_the_field(suite *s)
{
    static const pawl_text nul    = {.data = "a\0b", .size = 3};
    pawl_store            *a      = suite_open(s);
    suite_set              beside = suite_changes(s);
    add_all(s, &beside);
    EXPECT_OK(s, pawl_changes_check(&beside.changes, &s->error));
    for (size_t i = 0; i < sizeof nul_fields / sizeof nul_fields[0]; i++) {
        const nul_field *field = &nul_fields[i];
        const char      *kind  = pawl_change_kind_name(field->kind);
        pawl_refusals    refused;
        suite_set        set = suite_changes(s);
        add_all(s, &set);
        memcpy(change_at(&set, field->kind, field->index) + field->offset, &nul, sizeof nul);
        /* Its group could be applied without the others. */
        suite_unit(&set, 1, 1);
        ADD(&set, inbox_entry, .endpoint = TEXT("suite"), .message_id = TEXT("beside"),
            .at = SUITE_NOW);
        pawl_code code = suite_try(&set, a, &refused);
        pawl_text said = pawl_text_of(s->error.text);
        pawl_text path = suite_printf(s, "%s %u: %s", kind, field->index, field->name);
        if (code != PAWL_EINVAL || !suite_text_has(said, path) ||
            !suite_text_has(said, TEXT("NUL")))
            suite_fail(s, __FILE__, __LINE__,
                       "NUL in %s: expected EINVAL naming the field, got %s: %s", path.data,
                       suite_code_name(s, code), s->error.text);
        EXPECT(s, !suite_knows(s, a, TEXT("suite"), TEXT("beside")));
    }
}

/* A saga's text: some stores keep it as JSON, where the escape means the character itself. */
static void expect_escape_refused(suite *s, pawl_store *store, const nul_field *field,
                                  const char *text, unsigned at)
{
    pawl_refusals refused;
    pawl_text     given = pawl_text_of(text);
    suite_set     set   = suite_changes(s);
    add_all(s, &set);
    memcpy(change_at(&set, field->kind, field->index) + field->offset, &given, sizeof given);
    EXPECT_EQ(s, suite_try(&set, store, &refused), PAWL_EINVAL);
    EXPECT(s, suite_text_has(pawl_text_of(s->error.text),
                             suite_printf(s, "%s %u: %s: byte %u is NUL",
                                          pawl_change_kind_name(field->kind), field->index,
                                          field->name, at)));
}

static void expect_text_taken(suite *s, const nul_field *field, const char *text)
{
    pawl_text given = pawl_text_of(text);
    suite_set set   = suite_changes(s);
    add_all(s, &set);
    memcpy(change_at(&set, field->kind, field->index) + field->offset, &given, sizeof given);
    EXPECT_OK(s, pawl_changes_check(&set.changes, &s->error));
}

static void an_escaped_nul_in_a_sagas_json_is_refused_and_the_error_names_the_field(suite *s)
{
    pawl_store *a = suite_open(s);
    for (size_t i = 0; i < sizeof nul_fields / sizeof nul_fields[0]; i++) {
        const nul_field *field = &nul_fields[i];
        if (strcmp(field->name, "metadata") == 0 || strcmp(field->name, "data") == 0) {
            expect_escape_refused(s, a, field, "{\"a\":\"\\u0000\"}", 6);
            expect_escape_refused(s, a, field, "{\"\\\\\\u0000\":1}", 4);
            expect_text_taken(s, field, "{\"a\":\"\\\\u0000\"}");
            expect_text_taken(s, field, "{\"a\":\"\\u000");
        } else if (strcmp(field->name, "message.headers") == 0) {
            expect_text_taken(s, field, "{\"a\":\"\\u0000\"}");
        }
    }
}

static void empty_texts_are_read_as_empty_not_as_null(suite *s)
{
    pawl_store  *a    = suite_open(s);
    pawl_message sent = {.id = TEXT("m-1"), .type = TEXT("T")};
    COMMIT_ONE(s, a, queue_send, .queue = TEXT("orders"), .message = sent, .due = SUITE_NOW);
    pawl_queue_rows rows = suite_claim(s, a, TEXT("orders"), SUITE_NOW, 1);
    EXPECT_EQ(s, rows.count, 1);
    EXPECT_MESSAGE(s, &rows.items[0].message, &sent);
    COMMIT_ONE(s, a, outbox_add, .dispatch_id = suite_dispatch_id(1), .version = 1,
               .endpoint = TEXT("suite"), .destination = TEXT("billing"), .message = sent,
               .at = SUITE_NOW);
    pawl_outbox_rows outbox = suite_outbox_rows(s, a, PAWL_OUTBOX_PENDING);
    EXPECT_EQ(s, outbox.items[0].source.size, 0);
    EXPECT_MESSAGE(s, &outbox.items[0].message, &sent);
}

static const suite_case cases[] = {
    {"S31 queues keep texts with quotes, backslashes and non-ASCII characters",
     queues_keep_texts_with_quotes_backslashes_and_non_ascii_characters},
    {"O24 the outbox keeps texts with quotes, backslashes and non-ASCII characters",
     the_outbox_keeps_texts_with_quotes_backslashes_and_non_ascii_characters},
    {"A1 aggregators keep texts with quotes, backslashes, non-ASCII characters",
     aggregators_keep_texts_with_quotes_backslashes_non_ascii_characters},
    {"T1 timeouts keep texts with quotes, backslashes and non-ASCII characters",
     timeouts_keep_texts_with_quotes_backslashes_and_non_ascii_characters},
    {"E26 all other rows keep texts with quotes, backslashes, non-ASCII characters",
     all_other_rows_keep_texts_with_quotes_backslashes_non_ascii_characters},
    {"D19 A7 names are accepted up to their maximum size",
     names_are_accepted_up_to_their_maximum_size},
    {"D19 a text over its limit is refused and nothing is written",
     a_text_over_its_limit_is_refused_and_nothing_is_written},
    {"D19 S31 a NUL in a text is refused, and the error names the field",
     a_nul_in_a_text_is_refused_and_the_error_names_the_field},
    {"S31 an escaped NUL in a saga's JSON is refused and the error names the field",
     an_escaped_nul_in_a_sagas_json_is_refused_and_the_error_names_the_field},
    {"E26 empty texts are read as empty, not as null", empty_texts_are_read_as_empty_not_as_null},
};

const suite_cases cases_text = SUITE_CASES("text", cases);
