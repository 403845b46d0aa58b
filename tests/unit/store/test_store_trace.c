/* test_store_trace.c - the hook that is told of each call of a store: what it is told, and the
 * line of the log that it may be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/called.h"

#include "pawl/store_calls.h"

#include <time.h>

static const pawl_text      name = {.data = "orders", .size = 6};
static const pawl_worker_id us   = {.uuid = {.bytes = {1}}};

static struct told {
    char            name[40], text[200];
    pawl_store_call call;
    unsigned        count;
} told;

static void tell(const pawl_store_call *call, void *context)
{
    assert_ptr_equal(context, &told);
    told.call = *call;
    told.count++;
    snprintf(told.name, sizeof told.name, "%s", call->name);
    snprintf(told.text, sizeof told.text, "%s", call->text);
}

static void expect_told(const pawl_store *store, const char *call, pawl_code code, const char *text)
{
    assert_int_equal(told.count, 1);
    assert_string_equal(told.name, call);
    assert_int_equal(told.call.code, code);
    assert_non_null(strstr(told.text, text));
    assert_int_equal(told.text[0] == '\0', code == PAWL_OK);
    assert_ptr_equal(told.call.store, store);
    assert_in_range(told.call.microseconds, 0, 600000000);
    told.count = 0;
}

/* worker_open is told, too, and ends first. */
TEST(a_commit_is_told_with_what_it_calls)
{
    pawl_store  *store   = called_open("called:");
    pawl_changes changes = {0};
    pawl_store_trace_set(tell, &told);
    told.count = 0;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    assert_int_equal(told.count--, 2);
    expect_told(store, "commit", PAWL_OK, "");
    bool is_applied;
    assert_int_equal(pawl_store_resolve(store, us.uuid, &is_applied, NULL), PAWL_OK);
    expect_told(store, "resolve", PAWL_OK, "");
    pawl_store_trace_set(NULL, NULL);
}

/* A refusal's text is told, and none of an older one. */
TEST(a_call_is_told_with_its_failure)
{
    pawl_store *store = called_open("called:");
    pawl_store_trace_set(tell, &told);
    told.count  = 0;
    called.code = PAWL_EBUSY;
    assert_int_equal(pawl_store_unlead(store, name, world_error()), PAWL_EBUSY);
    expect_told(store, "unlead", PAWL_EBUSY, "page 7 is damaged");
    called.code = PAWL_OK;
    must(pawl_store_unlead(store, name, world_error()));
    expect_told(store, "unlead", PAWL_OK, "");
    pawl_store_trace_set(NULL, NULL);
    must(pawl_store_unlead(store, name, world_error()));
    assert_int_equal(told.count, 0);
}

static int64_t now_us(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static pawl_code take_a_while(pawl_store *store, pawl_text lease, pawl_error *error)
{
    int64_t end = now_us() + 200;
    while (now_us() < end) {
    }
    return PAWL_OK;
}

TEST(a_call_is_told_with_the_time_it_took)
{
    pawl_store *store = called_open("called:");
    called_ops.unlead = take_a_while;
    pawl_store_trace_set(tell, &told);
    int64_t begin = now_us();
    assert_int_equal(pawl_store_unlead(store, name, NULL), PAWL_OK);
    assert_in_range(told.call.microseconds, 200, now_us() - begin + 1);
    pawl_store_trace_set(NULL, NULL);
}

static void keep_line(pawl_log_level level, const char *text, void *context)
{
    assert_int_equal(level, PAWL_LOG_DEBUG);
    snprintf(context, 200, "%s", text);
}

TEST(a_call_is_a_line_of_the_log)
{
    pawl_store *store = called_open("called:");
    char        line[200], id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(pawl_store_worker(store).uuid, id);
    const char *start = test_text("called: worker %s: unlead: ", id);
    pawl_log_set(keep_line, PAWL_LOG_DEBUG, line);
    pawl_store_trace_set(pawl_store_trace_log, NULL);
    must(pawl_store_unlead(store, name, world_error()));
    assert_memory_equal(line, start, strlen(start));
    assert_non_null(strstr(line, "OK after "));
    assert_string_equal(line + strlen(line) - 3, " us");
    called.code = PAWL_EBUSY;
    assert_int_equal(pawl_store_unlead(store, name, world_error()), PAWL_EBUSY);
    assert_non_null(strstr(line, "EBUSY after "));
    assert_non_null(strstr(line, " us: page 7 is damaged"));
    pawl_store_trace_set(NULL, NULL);
    pawl_log_set(NULL, PAWL_LOG_WARNING, NULL);
}
