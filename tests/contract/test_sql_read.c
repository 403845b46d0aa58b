/* test_sql_read.c - reading rows through a connection whose every step fails in turn (O32): each
 * failure is told as it is, what was sent is awaited and ended all the same, and no row of a
 * list that failed is given.
 *
 * Through the functions of the driver's module, which a test's build exports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/tests.h"

#ifndef PAWL_HAVE_SQLITE
int main(void)
{
    puts("skipped: built without SQLite");
    return 77;
}
#else

#include "store/sql/connection.h"

static struct reading {
    pawl_code (*read)(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                      pawl_found *rows, pawl_error *error);
    pawl_code (*read_first)(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                            void *row, pawl_error *error);
    int64_t (*limit)(size_t count_max);
} reading;

static int load(void **state)
{
    void *module                  = test_module("sqlite");
    *(void **)&reading.read       = test_symbol(module, "pawl__sql_read");
    *(void **)&reading.read_first = test_symbol(module, "pawl__sql_read_first");
    *(void **)&reading.limit      = test_symbol(module, "pawl__sql_limit");
    return 0;
}

/* ---- A connection ------------------------------------------------------------- */

typedef struct number_row {
    int64_t number;
    int64_t rest; /* nothing fills it */
} number_row;

typedef struct fake {
    pawl__sql_store store; /* first */
    pawl_code       send, await, end;
    int64_t         row_count, row;
    int             send_count, await_count, end_count;
    bool            is_sent; /* there is a request, to be ended */
    pawl_arena     *arena;
    pawl_error      error;
} fake;

static pawl_code answer(pawl_code code, const char *step, pawl_error *error)
{
    return code == PAWL_OK ? PAWL_OK : pawl_error_set(error, code, "%s", step);
}

static pawl_code send(pawl_store *store, const pawl__sql_asked *asked, pawl_arena *arena,
                      pawl__sql_request **request, pawl_error *error)
{
    fake *it = (fake *)store;
    it->send_count++;
    *request = it->is_sent ? (pawl__sql_request *)it : NULL;
    return answer(it->send, "send", error);
}

static pawl_code await(pawl_store *store, pawl_error *error)
{
    fake *it = (fake *)store;
    it->await_count++;
    return answer(it->await, "await", error);
}

static bool next(pawl__sql_request *request)
{
    fake *it = (fake *)request;
    return it->row++ < it->row_count;
}

static void get(pawl__sql_request *request, const pawl__field_list *columns, void *row)
{
    ((number_row *)row)->number = ((fake *)request)->row;
}

static pawl_code end(pawl__sql_request *request)
{
    fake *it = (fake *)request;
    if (it == NULL)
        return PAWL_OK;
    it->end_count++;
    return it->end;
}

static const pawl__sql_ops ops = {
    .name = "fake", .send = send, .await = await, .next = next, .get = get, .end = end};

static const pawl__sql_asked numbers = {.row_size = sizeof(number_row)};

static fake open_fake(int64_t row_count)
{
    return (fake){.store     = {.ops = &ops},
                  .row_count = row_count,
                  .is_sent   = true,
                  .arena     = test_arena(),
                  .error     = PAWL_ERROR_INIT};
}

/* Rows that stood in the caller's list before are none of this read's. */
static const pawl_found older = {.items = (void *)&older, .count = 3};

/* The read fails with the code and the words, gives no row, and ends what it began. */
static void expect_failure(fake *it, pawl_code code, const char *words)
{
    pawl_found rows = older;
    assert_int_equal(reading.read(&it->store.base, &numbers, it->arena, &rows, &it->error), code);
    assert_int_equal(rows.count, 0);
    assert_null(rows.items);
    if (words != NULL)
        assert_string_equal(it->error.text, words);
    assert_int_equal(it->await_count, it->send_count);
    assert_int_equal(it->end_count, it->send_count > 0 && it->is_sent);
}

/* ---- Lists ---------------------------------------------------------------------- */

TEST(o32_a_list_has_all_rows_and_nothing_else)
{
    fake       it   = open_fake(1000);
    pawl_found rows = older;
    /* Memory that was used before. */
    memset(pawl_arena_take(it.arena, 60000), 0x5a, 60000);
    pawl_arena_reset(it.arena);
    assert_int_equal(reading.read(&it.store.base, &numbers, it.arena, &rows, &it.error), PAWL_OK);
    assert_int_equal(rows.count, 1000);
    const number_row *items = rows.items;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(items[i].number, i + 1);
        assert_int_equal(items[i].rest, 0);
    }
    assert_int_equal(it.await_count, 1);
    assert_int_equal(it.end_count, 1);
    it   = open_fake(0);
    rows = older;
    assert_int_equal(reading.read(&it.store.base, &numbers, it.arena, &rows, &it.error), PAWL_OK);
    assert_int_equal(rows.count, 0);
    assert_int_equal(it.end_count, 1);
}

/* A part of it may be on its way; the first failure is the one that is told. */
TEST(o32_what_could_not_be_sent_is_awaited_and_ended)
{
    for (int i = 0; i < 4; i++) {
        fake it    = open_fake(2);
        it.send    = PAWL_ENOMEM;
        it.await   = i % 2 == 0 ? PAWL_OK : PAWL_ELOST;
        it.is_sent = i < 2;
        expect_failure(&it, PAWL_ENOMEM, "send");
    }
}

TEST(o32_a_failed_answer_is_not_read)
{
    fake it  = open_fake(2);
    it.await = PAWL_ELOST;
    expect_failure(&it, PAWL_ELOST, "await");
    assert_int_equal(it.row, 0);
}

TEST(o32_a_list_that_fails_on_its_way_gives_no_row)
{
    fake it = open_fake(2);
    it.end  = PAWL_EBUSY;
    expect_failure(&it, PAWL_EBUSY, NULL);
}

static bool is_short;

static void *resize(void *memory, size_t size, void *context)
{
    if (size == 0) {
        free(memory);
        return NULL;
    }
    return is_short ? NULL : realloc(memory, size);
}

TEST(o32_a_list_without_room_gives_no_row)
{
    const pawl_allocator allocator = {resize, NULL};
    pawl_allocator_set(&allocator);
    fake it  = open_fake(1000000);
    is_short = true;
    expect_failure(&it, PAWL_ENOMEM, "fake: out of memory for rows");
    is_short = false;
    pawl_allocator_set(NULL);
}

/* ---- One row -------------------------------------------------------------------- */

static void expect_first(fake *it, pawl_code code, int64_t expected)
{
    number_row row = {.number = 77};
    assert_int_equal(reading.read_first(&it->store.base, &numbers, it->arena, &row, &it->error),
                     code);
    assert_int_equal(row.number, expected);
    assert_int_equal(it->await_count, 1);
    assert_int_equal(it->end_count, it->is_sent);
}

TEST(o32_one_row_is_the_first_or_left_as_it_is)
{
    fake it = open_fake(2);
    expect_first(&it, PAWL_OK, 1);
    it = open_fake(0);
    expect_first(&it, PAWL_OK, 77);
    it     = open_fake(0);
    it.end = PAWL_EBUSY;
    expect_first(&it, PAWL_EBUSY, 77);
    it       = open_fake(2);
    it.await = PAWL_ELOST;
    expect_first(&it, PAWL_ELOST, 77);
    for (int i = 0; i < 2; i++) {
        it         = open_fake(2);
        it.send    = PAWL_ENOMEM;
        it.is_sent = i == 0;
        expect_first(&it, PAWL_ENOMEM, 77);
    }
}

TEST(a_limit_of_none_is_no_limit)
{
    assert_int_equal(reading.limit(0), INT64_MAX);
    assert_int_equal(reading.limit(1), 1);
    assert_int_equal(reading.limit(SIZE_MAX), INT64_MAX);
}

int main(void)
{
    return tests_run(load, NULL);
}

#endif
