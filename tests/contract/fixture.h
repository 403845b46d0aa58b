/* fixture.h - the members and the calls that fixtures of all stores share. The header of a store includes it between
 * FIXTURE_OWN, which has the members url and those of its own, and fixture_setup and fixture_teardown:
 *
 *     fixture_begin -> the server's part -> the test -> the server's part -> fixture_end
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_CONTRACT_FIXTURE_H
#define PAWL_TESTS_CONTRACT_FIXTURE_H

#include "pawl/store_driver.h"
#include "support/required.h"
#include "support/tests.h"

#include <time.h>
#include <unistd.h>

#define NOW INT64_C(1767225600000000)
#define TEXT(literal) PAWL_TEXT(literal)
#define SKIPPED 77

typedef struct fixture fixture;
typedef void           fixture_fn(fixture *p);

struct fixture {
    fixture_fn *test; /* of the row */
    pawl_arena *arena;
    pawl_error  error;
    FIXTURE_OWN;
};

static const pawl_saga_table order_table = {
    .type = PAWL_TEXT_INIT("Order"),
    .name = PAWL_TEXT_INIT("shop_Order"),
    .main = {.property = PAWL_TEXT_INIT("order_id"), .type = PAWL_VALUE_TEXT},
};
static const pawl_saga_table *const order_tables[] __attribute__((unused)) = {&order_table};

static inline fixture *fixture_begin(void **state)
{
    fixture           *p    = calloc(1, sizeof *p);
    fixture_fn *const *test = *state;
    assert_non_null(p);
    p->test  = test != NULL ? *test : NULL;
    p->arena = pawl_arena_create(0);
    *state   = p;
    return p;
}

static inline void fixture_end(fixture *p)
{
    pawl_arena_destroy(p->arena);
    free(p);
}

/* The store is closed when the test ends. */
static inline pawl_code fixture_open(fixture *p, const char *url, const pawl_store_options *options,
                                     pawl_store **store)
{
    pawl_code code = pawl_store_open(url, options, store, &p->error);
    if (code == PAWL_OK)
        test_store(*store);
    return code;
}

static inline void fixture_run(void **state)
{
    fixture *p = *state;
    test_begin();
    p->test(p);
    test_end();
}

static inline void expect_code(const fixture *p, pawl_code code, pawl_code expected)
{
    if (code != expected)
        fail_msg("is %s, expected %s: %s", pawl_code_name(code), pawl_code_name(expected),
                 p->error.text);
}

static inline void ok(const fixture *p, pawl_code code)
{
    expect_code(p, code, PAWL_OK);
}

/* Commits one change, ONE_CHANGE. */
#define COMMIT_OK(p, store, kind, now, ...) \
    ok(p, pawl_store_commit(store, ONE_CHANGE(kind, now, __VA_ARGS__), NULL, &(p)->error))

static inline void expect_text(const fixture *p, const char *part)
{
    if (strstr(p->error.text, part) == NULL)
        fail_msg("'%s' does not say '%s'", p->error.text, part);
}

/* The call's code, and a part of its text. */
static inline void refuses(const fixture *p, pawl_code code, pawl_code expected, const char *part)
{
    expect_code(p, code, expected);
    expect_text(p, part);
}

static inline pawl_message message_of(const char *id)
{
    return (pawl_message){.id             = pawl_text_of(id),
                          .type           = TEXT("place_order"),
                          .body           = TEXT("{\"order_id\":\"order-1\"}"),
                          .correlation_id = pawl_text_of(id)};
}

static inline pawl_queue_send send_of(const char *queue, const char *id)
{
    return (pawl_queue_send){.queue = pawl_text_of(queue), .message = message_of(id), .due = NOW};
}

static inline pawl_code send_one(fixture *p, pawl_store *store, const char *queue, const char *id)
{
    pawl_queue_send send    = send_of(queue, id);
    pawl_changes    changes = {.now = NOW, ONE_UNIT, .queue_send = {.items = &send, .count = 1}};
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static inline pawl_uuid uuid_of(unsigned number)
{
    pawl_uuid uuid = {{0}};
    uuid.bytes[0]  = 1;
    uuid.bytes[15] = (uint8_t)number;
    return uuid;
}

#endif
