/* test_runtime_size.c - large messages: what an endpoint reads at once, and in what
 * order it handles what comes after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include <malloc.h>

#define MEGABYTE ((size_t)1024 * 1024)
#define LARGE (4 * MEGABYTE)
#define AT_ONCE (PAWL_CLAIM_SIZE_MAX / LARGE)

/* ---- How much memory there is in use ---------------------------------------------- */

static size_t in_use, in_use_most;

static void *resize_counted(void *memory, size_t size, void *context)
{
    in_use -= memory != NULL ? malloc_usable_size(memory) : 0;
    if (size == 0) {
        free(memory);
        return NULL;
    }
    void *made = realloc(memory, size);
    in_use += malloc_usable_size(made);
    if (in_use > in_use_most)
        in_use_most = in_use;
    return made;
}

static const pawl_allocator counted = {resize_counted, NULL};

RECORD(page, (TEXT, book_id), (INT32, number), (TEXT, text));
RECORD(note, (TEXT, book_id));
RECORD(book, (TEXT, book_id));

static world_log said;
static bool      is_away; /* pages fail, and are tried again later */

static pawl_code on_page(pawl_context *ctx, book *state, const page *message)
{
    if (is_away)
        return pawl_fail(ctx, PAWL_EUNREACHABLE, "away");
    if (message->number >= 0) /* the log has no room for thousands */
        world_note(&said, "%d", (int)message->number);
    return message->number == 0 ? pawl_timeout(ctx, "reading", PAWL_SECONDS(10)) : PAWL_OK;
}
PAWL_HANDLER(on_page, book, page);

IDLE_HANDLER(on_note, book, note);

static pawl_code on_reading(pawl_context *ctx, book *state)
{
    world_note(&said, "late");
    return PAWL_OK;
}
PAWL_TIMEOUT_HANDLER(on_reading, book);

static const pawl_saga book_saga = SAGA_OF(
    "Book", book, "book_id", {.handle = PAWL_HANDLE(on_page), .key = "book_id", .starts = true},
    {.handle = PAWL_HANDLE(on_note), .key = "book_id"},
    {.handle = PAWL_HANDLE(on_reading), .timeout = "reading"});
static const pawl_application application =
    ONE_ENDPOINT("books", .name = "reader", .sagas = PAWL_SAGAS(&book_saga));

static world *open_world(const char *url)
{
    const pawl_endpoint_options options = {
        .batch_messages = 64, .immediate_retries = -1, .retry_delay = PAWL_MINUTES(10)};
    world_forget(&said);
    is_away = false;
    return world_begin(url, &application, NULL, &options);
}

/* Page `number`, after as many seconds. */
static void post_page(world *it, int number, size_t size)
{
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, 'x', size);
    text[size]         = '\0';
    const page message = {.book_id = PAWL_TEXT("b"), .number = number, .text = pawl_text_of(text)};
    world_post_at(it, NULL, world_now(it) + PAWL_SECONDS(number), PAWL_MESSAGE_OF(page, &message));
    free(text);
}

ON_ALL_STORES(large_messages_are_read_some_at_a_time, const char *url)
{
    world *it = open_world(url);
    for (size_t i = 0; i < 3 * AT_ONCE; i++)
        post_page(it, 1, LARGE);
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(1));
    size_t before = in_use;
    in_use_most   = in_use;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(world_step(it).handled, AT_ONCE);
    /* The rows are read, parsed and decoded: five times the bytes of a claim. All of the messages
     * at once would take three times as much. */
    assert_true(in_use_most - before < 6 * PAWL_CLAIM_SIZE_MAX);
}

/* A message without a saga waits while larger starters are retried than are read: one of the others may be meant. */
ON_ALL_STORES(large_starters_in_retry_are_not_all_read, const char *url)
{
    world *it = open_world(url);
    is_away   = true;
    for (size_t i = 0; i < 2 * AT_ONCE; i++)
        post_page(it, 0, LARGE);
    world_drain(it);
    assert_int_equal(world_queue(it, "reader").count, 2 * AT_ONCE);
    world_post(it, "n", PAWL_MESSAGE(note, .book_id = PAWL_TEXT("other")));
    size_t before = in_use;
    in_use_most   = in_use;
    world_step(it);
    assert_true(in_use_most - before < 6 * PAWL_CLAIM_SIZE_MAX);
    assert_false(world_is_marked(it, "n"));
    assert_int_equal(world_queue(it, "reader").count, 2 * AT_ONCE + 1);
}

ON_ALL_STORES(as_many_are_claimed_as_came, const char *url)
{
    world *it = open_world(url);
    for (size_t i = 0; i < AT_ONCE; i++)
        post_page(it, 0, LARGE);
    for (size_t i = 0; i < 5 * AT_ONCE; i++)
        post_page(it, 0, 1);
    assert_int_equal(world_step(it).handled, AT_ONCE);
    assert_int_equal(world_step(it).handled, AT_ONCE);
    assert_int_equal(world_step(it).handled, 2 * AT_ONCE);
    assert_int_equal(world_step(it).handled, 2 * AT_ONCE);
}

/* A timeout due between two messages is handled between them, though a claim ended before it by its
 * size. */
ON_ALL_STORES(due_times_keep_their_order, const char *url)
{
    world *it = open_world(url);
    post_page(it, 0, 1);
    assert_int_equal(world_drain(it).handled, 1);
    for (int i = 1; i <= 12; i++)
        post_page(it, i, LARGE);
    assert_int_equal(world_go(it, PAWL_SECONDS(20)).handled, 13);
    assert_string_equal(said.text, "0 1 2 3 4 5 6 7 8 9 late 10 11 12 ");
}

/* A commit has 4096 units; timeouts are claimed beside the messages. */
ON_STORE(a_batch_of_more_messages_than_a_commit_has_room_for, const char *url, "memory")
{
    const pawl_endpoint_options options = {.batch_messages = PAWL_BATCH_MESSAGES_MAX,
                                           .batch_time_max = PAWL_MINUTES(10)};
    world_forget(&said);
    world *it = world_begin(url, &application, NULL, &options);
    post_page(it, 0, 1);
    assert_int_equal(world_drain(it).handled, 1);
    pawl_clock_set(it->business, WORLD_START + PAWL_SECONDS(10));
    const pawl_send_options now = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it)};
    for (int i = 0; i < PAWL_BATCH_MESSAGES_MAX; i++)
        must(pawl_sender_send(it->sender, "reader", &now,
                              PAWL_MESSAGE(page, .book_id = PAWL_TEXT("b"), .number = -1),
                              world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
    assert_int_equal(world_step(it).handled, 1 + 1365);
    assert_string_equal(said.text, "0 late ");
    assert_int_equal(world_step(it).handled, 1365);
    assert_int_equal(world_step(it).handled, 1365);
    assert_int_equal(world_step(it).handled, 1);
}

int main(void)
{
    pawl_allocator_set(&counted);
    return tests_run(NULL, NULL);
}
