/* test_runtime_unfit.c - queue rows that another program wrote, and that no dead letter could keep as they are:
 * each becomes a dead letter that names the field and its limit, and the messages behind it are handled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/mongodb.h"
#include "support/native.h"

PAWL_RECORD(news, A_NUMBER);

static world_log seen;
static world    *marks; /* on_news of "twin" lets another worker handle it meanwhile */

/* As the commit of another worker that handled the message. */
static void mark(world *it, pawl_text id)
{
    marks = NULL;
    MUST_COMMIT(it->store, inbox_entry, WORLD_START, .endpoint = PAWL_TEXT("desk"),
                .message_id = id, .outcome = PAWL_INBOX_HANDLED, .at = WORLD_START);
}

static pawl_code on_news(pawl_context *ctx, const news *message)
{
    const pawl_message *handled = pawl_message_in_flight(ctx);
    world_note(&seen, "news%d", message->number);
    if (marks != NULL && pawl_text_equal(handled->id, PAWL_TEXT("twin")))
        mark(marks, handled->id);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_news, news);

static const pawl_application application =
    ONE_ENDPOINT("unfit", .name = "desk", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_news)}));

static void post(world *it, const char *id, int32_t number)
{
    world_post(it, id, PAWL_MESSAGE(news, .number = number));
}

static const struct {
    const char *id, *column, *field; /* of the table, of the document */
    size_t      size;                /* the new size of the field, in bytes */
    const char *why;
} cases[] = {
    {"m-1", "MessageId", "message_id", 0, "field 'message id' has 0 bytes, the limit is 1 to 200"},
    {"m-2", "MessageId", "message_id", 300,
     "field 'message id' has 300 bytes, the limit is 1 to 200"},
    {"m-3", "Type", "type", 300, "field 'type' has 300 bytes, the limit is 200"},
    {"m-4", "CorrelationId", "correlation_id", 300,
     "field 'correlation id' has 300 bytes, the limit is 200"},
    {"m-5", "CausationId", "causation_id", 300,
     "field 'causation id' has 300 bytes, the limit is 200"},
    {"m-6", "Headers", "headers", 70000, "field 'headers' has 70000 bytes, the limit is 65536"},
};
#define CASES (sizeof cases / sizeof cases[0])

/* Characters of two bytes: 300 bytes of them fit a column of 200 characters. */
static const char *text_of(size_t size)
{
    static char text[70001];
    for (size_t i = 0; i < size; i += 2)
        memcpy(text + i, "\xC3\xA9", 2);
    text[size] = '\0';
    return text;
}

/* Sets a field of a message, as another program would have. */
static void set(const char *url, size_t number)
{
    size_t      size   = cases[number].size;
    const char *column = cases[number].column;
    char        sql[700], value[400];
    if (strncmp(url, "mongodb:", 8) == 0) {
        assert_true(mongodb_set(url, "pawl_queue", "message_id", cases[number].id,
                                cases[number].field, text_of(size)));
        return;
    }
    if (size < sizeof value - 2)
        snprintf(value, sizeof value, "'%s'", text_of(size));
    else
        snprintf(value, sizeof value,
                 server_is(url) ? "repeat('h', %zu)" : "hex(zeroblob(%zu / 2))", size);
    snprintf(sql, sizeof sql, "update {pawl_queue} set \"%s\" = %s where \"MessageId\" = '%s'",
             column, value, cases[number].id);
    native_exec(url, sql);
}

static void expect_letter(const pawl_dead_row *letter, size_t number)
{
    assert_true(world_says(letter->error, cases[number].why));
    assert_true(pawl_text_equal(letter->code, PAWL_TEXT("EDECODE")));
    assert_true(letter->message.id.size > 0 && letter->message.id.size <= 36);
    assert_int_equal(pawl_text_equal(letter->message.id, pawl_text_of(cases[number].id)),
                     number > 1);
    assert_int_equal(letter->message.type.size, number == 2 ? 0 : 4);
    assert_true(world_says(letter->message.body, "77"));
}

static void expect_letters(const char *url)
{
    char id[20];
    world_forget(&seen);
    world *it = world_begin(url, &application, NULL, &(pawl_endpoint_options){0});
    for (size_t i = 0; i < CASES; i++) {
        snprintf(id, sizeof id, "good-%zu", i);
        post(it, cases[i].id, 77);
        post(it, id, (int32_t)i + 1);
        set(url, i);
    }
    LOG_AFTER(world_drain(it), seen, "news1 news2 news3 news4 news5 news6 ");
    assert_int_equal(world_queue(it, "desk").count, 0);
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, CASES);
    for (size_t i = 0; i < CASES; i++)
        expect_letter(&dead.items[i], i);
}

ON_SQL_STORES(an_unfit_row_is_a_dead_letter_and_the_others_go_on, const char *url)
{
    expect_letters(url);
}

ON_STORE(an_unfit_document_is_a_dead_letter, const char *url, "mongodb")
{
    expect_letters(url);
}

/* Stores keep a body of 16 MB; the database keeps a larger one that another program wrote. */
ON_STORE(a_body_that_no_dead_letter_has_is_left_out, const char *url, "sqlite")
{
    world_forget(&seen);
    world *it = world_begin(url, &application, NULL, &(pawl_endpoint_options){0});
    post(it, "large", 77);
    post(it, "good", 1);
    native_exec(
        url,
        "update {pawl_queue} set \"Body\" = hex(zeroblob(8388609)) where \"MessageId\" = 'large'");
    LOG_AFTER(world_drain(it), seen, "news1 ");
    pawl_dead_row dead = world_dead_letter(it);
    assert_true(pawl_text_equal(dead.message.id, PAWL_TEXT("large")));
    assert_int_equal(dead.message.body.size, 0);
    assert_true(world_says(dead.error, "its body has 16777218 bytes, the limit is 16777216"));
}

/* Handlers fail, or the body has no number. A message with a crash runs in isolation, which reads its history. */
ON_STORE(an_overlong_history_is_begun_anew, const char *url, "sqlite")
{
    world_forget(&seen);
    world *it = world_begin(url, &application, NULL, &(pawl_endpoint_options){0});
    post(it, "unreadable", 77);
    post(it, "crashed", 78);
    post(it, "garbled", 79);
    post(it, "good", 1);
    native_exec(url, "update {pawl_queue} set \"Body\" = 'x', \"History\" = hex(zeroblob(9000000)) "
                     "where \"MessageId\" = 'unreadable'");
    native_exec(url, "update {pawl_queue} set \"Body\" = 'x', \"Deaths\" = 1, "
                     "\"History\" = hex(zeroblob(9000000)) where \"MessageId\" = 'crashed'");
    native_exec(url, "update {pawl_queue} set \"Body\" = 'x', \"Deaths\" = 1, "
                     "\"History\" = 'garbled' where \"MessageId\" = 'garbled'");
    LOG_AFTER(world_drain(it), seen, "news1 ");
    pawl_dead_rows dead = world_dead(it);
    assert_int_equal(dead.count, 3);
    for (size_t i = 0; i < dead.count; i++)
        assert_true(world_says(dead.items[i].history, "EDECODE"));
}

/* PostgreSQL has times before the first one of pawl. The refused "twin" has the claims locked anew. */
ON_STORE(a_row_due_before_the_year_1_is_due_now, const char *url, "postgres")
{
    world_forget(&seen);
    world *it = world_begin(url, &application, NULL, &(pawl_endpoint_options){0});
    post(it, "m-1", 1);
    post(it, "m-2", 2);
    post(it, "twin", 3);
    native_exec(url, "update {pawl_queue} set \"Due\" = '-infinity', \"Placed\" = '-infinity' "
                     "where \"MessageId\" = 'm-1'");
    native_exec(url, "update {pawl_queue} set \"Due\" = '0044-03-15 12:00:00+00 BC' "
                     "where \"MessageId\" = 'm-2'");
    marks = it;
    LOG_AFTER(world_drain(it), seen, "news1 news2 news3 ");
    assert_int_equal(world_queue(it, "desk").count, 0);
    assert_int_equal(world_dead(it).count, 0);
}
