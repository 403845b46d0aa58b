/* test_sqlite_between.c - a commit of another handle in the middle of a claim, whose rows are
 * those of its begin: a claim that ends then is of a row that is no longer what the claim reads.
 *
 * The first row's body is so large that reading it needs memory; the allocator then makes the
 * commit, which is about the second row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/sqlite_fixture.h"
#include "support/tests.h"

#define LARGE ((size_t)3 << 20) /* of the body; nothing else asks for as much at once */

static struct between {
    bool              is_armed;
    fixture          *p;
    pawl_store       *other;
    pawl_queue_settle settle;
    pawl_code         code;
} between;

static pawl_code settle(fixture *p, pawl_store *store, pawl_queue_settle *change)
{
    pawl_changes changes = {.now = NOW, ONE_UNIT, .queue_settle = {.items = change, .count = 1}};
    return pawl_store_commit(store, &changes, NULL, &p->error);
}

static void *resize(void *memory, size_t size, void *context)
{
    struct between *it = context;
    if (size == 0) {
        free(memory);
        return NULL;
    }
    if (it->is_armed && size >= LARGE) {
        it->is_armed = false;
        it->code     = settle(it->p, it->other, &it->settle);
    }
    return realloc(memory, size);
}

static void send_large(fixture *p, pawl_store *store)
{
    char *body = calloc(1, LARGE + 3);
    assert_non_null(body);
    memset(body, 'x', LARGE + 2);
    body[0] = body[LARGE + 1] = '"';
    pawl_queue_send send      = send_of("orders", "m-1");
    send.message.body         = (pawl_text){.data = body, .size = LARGE + 2};
    pawl_changes changes      = {.now = NOW, ONE_UNIT, .queue_send = {.items = &send, .count = 1}};
    ok(p, pawl_store_commit(store, &changes, NULL, &p->error));
    free(body);
}

/* Two rows; the second is in the other handle's hand. Its number. */
static int64_t hold_second(fixture *p, pawl_store *other)
{
    send_large(p, other);
    ok(p, send_one(p, other, "orders", "m-2"));
    pawl_queue_rows rows = claim_some(p, other, "orders", 2);
    assert_int_equal(rows.count, 2);
    pawl_queue_settle release = {
        .queue = TEXT("orders"), .action = PAWL_QUEUE_RELEASE, .seq = rows.items[0].seq};
    ok(p, settle(p, other, &release));
    return rows.items[1].seq;
}

/* Claims all while the other handle settles its row. */
static pawl_queue_rows claim_while(fixture *p, pawl_store *store, pawl_store *other,
                                   pawl_queue_settle change)
{
    between = (struct between){.p = p, .other = other, .settle = change, .code = PAWL_EBUG};
    const pawl_allocator allocator = {resize, &between};
    pawl_allocator_set(&allocator);
    between.is_armed     = true;
    pawl_queue_rows rows = claim_some(p, store, "orders", 9);
    pawl_allocator_set(NULL);
    ok(p, between.code);
    return rows;
}

/* A due time that moves between the read and the claim: the claim neither gets nor keeps the row. */
ON_FIXTURE(a_row_put_off_in_the_middle_is_not_claimed, fixture *p)
{
    pawl_store       *a = open_store(p, p->url), *b = open_store(p, p->url);
    pawl_queue_settle later = {.queue    = TEXT("orders"),
                               .action   = PAWL_QUEUE_RETRY,
                               .seq      = hold_second(p, b),
                               .due      = NOW + 5,
                               .attempts = 1};
    pawl_queue_rows   rows  = claim_while(p, a, b, later);
    assert_int_equal(rows.count, 1);
    assert_int_not_equal(rows.items[0].seq, later.seq);
    expect_code(p, settle_one(p, a, "orders", later.seq), PAWL_EGONE);

    pawl_queue_claim claim = {
        .queue = TEXT("orders"), .due_max = NOW + 5, .count_max = 9, .now = NOW + 5};
    ok(p, pawl_store_queue_claim(b, &claim, p->arena, &rows, &p->error));
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.items[0].seq, later.seq);
}

ON_FIXTURE(a_row_that_goes_in_the_middle_is_not_claimed, fixture *p)
{
    pawl_store       *a = open_store(p, p->url), *b = open_store(p, p->url);
    pawl_queue_settle done = {.queue = TEXT("orders"), .seq = hold_second(p, b)};
    pawl_queue_rows   rows = claim_while(p, a, b, done);
    assert_int_equal(rows.count, 1);
    assert_int_not_equal(rows.items[0].seq, done.seq);
}

/* The row is due still, but no longer as it was read. */
ON_FIXTURE(a_row_that_changes_in_the_middle_is_claimed_as_it_is, fixture *p)
{
    pawl_store       *a = open_store(p, p->url), *b = open_store(p, p->url);
    pawl_queue_settle again = {.queue    = TEXT("orders"),
                               .action   = PAWL_QUEUE_RETRY,
                               .seq      = hold_second(p, b),
                               .due      = NOW,
                               .attempts = 4};
    pawl_queue_rows   rows  = claim_while(p, a, b, again);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.items[0].message.body.size, LARGE + 2);
    assert_int_equal(rows.items[1].seq, again.seq);
    assert_int_equal(rows.items[1].attempts, 4);
    expect_code(p, settle_one(p, b, "orders", again.seq), PAWL_EGONE);
    ok(p, settle_one(p, a, "orders", again.seq));
}
