/* test_odbc_parameters.c - parameters for Oracle behind the scripted ODBC driver: types of long values, and the
 * form of UUIDs. D36.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/odbc_scripted.h"
#include "support/tests.h"

#define SCRIPTED(function) \
    TESTS(function, scripted *p, SCRIPTED_TEST(#function, function, "oracle"))

#define DEADLINE_MS 20000

static pawl_code send_sized(scripted *p, size_t headers_size, size_t body_size)
{
    char *headers = pawl_arena_take(p->arena, headers_size + 1);
    char *body    = pawl_arena_take(p->arena, body_size + 1);
    memset(headers, 'h', headers_size);
    memset(body, 'b', body_size);
    return pawl_store_commit(
        p->store,
        ONE_CHANGE(queue_send, SCRIPTED_NOW, .queue = PAWL_TEXT("orders"), .due = SCRIPTED_NOW,
                   .message = {.id      = PAWL_TEXT("m-1"),
                               .type    = PAWL_TEXT("t"),
                               .headers = {.data = headers, .size = headers_size},
                               .body    = {.data = body, .size = body_size}}),
        NULL, &p->error);
}

/* A longer one than a column of short texts or bytes can have is refused as such. */
SCRIPTED(d36_long_values_have_long_types)
{
    scripted_open(p, "types\n", DEADLINE_MS);
    scripted_code(p, send_sized(p, 4000, 2000), PAWL_OK);
    assert_int_equal(scripted_count(p, "* run insert* '.' 'hhh*'... 'bbb*'..."), 1);
    assert_int_equal(scripted_count(p, "* run insert* long *"), 0);
    scripted_mark(p);
    scripted_code(p, send_sized(p, 4001, 2001), PAWL_OK);
    assert_int_equal(scripted_count(p, "* run insert* '.' long 'hhh*'... long 'bbb*'..."), 1);
}

SCRIPTED(d36_uuids_are_texts_of_one_form)
{
    pawl_timeout_set set     = {.name        = PAWL_TEXT("pay"),
                                .saga_type   = PAWL_TEXT("Order"),
                                .destination = PAWL_TEXT("orders"),
                                .due         = SCRIPTED_NOW};
    pawl_changes     changes = {
            .now = SCRIPTED_NOW, ONE_UNIT, .timeout_set = {.items = &set, .count = 1}};
    assert_true(pawl_uuid_parse(PAWL_TEXT("ABCDEF01-2345-7789-8bcd-eF0123456789"), &set.id.uuid,
                                NULL) == PAWL_OK);
    assert_true(pawl_uuid_parse(PAWL_TEXT("0F1E2D3C-4B5A-7697-8887-A6B5C4D3E2F1"),
                                &set.saga_id.uuid, NULL) == PAWL_OK);
    scripted_open(p,
                  "on update \"PAWL_TIMEOUTS\"*\n count 0\n"
                  "on insert into \"PAWL_TIMEOUTS\"*\n count 1\n",
                  DEADLINE_MS);
    scripted_code(p, pawl_store_commit(p->store, &changes, NULL, &p->error), PAWL_OK);
    assert_int_equal(
        scripted_count(p, "* run update * '0f1e2d3c-4b5a-7697-8887-a6b5c4d3e2f1' 'pay'"), 1);
    assert_int_equal(scripted_count(p, "* run insert * 'abcdef01-2345-7789-8bcd-ef0123456789'*"
                                       "'0f1e2d3c-4b5a-7697-8887-a6b5c4d3e2f1'*"),
                     1);
}
