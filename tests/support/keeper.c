/* keeper.c - a driver that keeps what it was asked to commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/keeper.h"

struct keeper_set kept;
fixture          *keeper;

static pawl_code keep_changes(pawl_store *store, const pawl_changes *changes,
                              pawl_refusals *refused, pawl_error *error)
{
    (void)store, (void)refused, (void)error;
    unsigned commits = kept.commit_count;
    memset(&kept, 0, sizeof kept);
    kept.commit_count = commits + 1;
    kept.changes      = *changes;
#define KEEP(name, is_refusable)              \
    kept.change_count += changes->name.count; \
    if (changes->name.count != 0)             \
        kept.name = changes->name.items[0];
    PAWL_CHANGE_KINDS(KEEP)
#undef KEEP
    if (changes->outbox_add.count > 1)
        kept.second_add = changes->outbox_add.items[1];
    return PAWL_OK;
}

/* Its presence says that there is an outbox. */
static pawl_code no_claim(pawl_store *store, pawl_text endpoint, pawl_time now, size_t count_max,
                          pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    (void)store, (void)endpoint, (void)now, (void)count_max, (void)arena, (void)rows, (void)error;
    return PAWL_OK;
}

static const pawl_store_ops keeping_driver = {LEAN_STORE, .scheme = "keeping",
                                              .commit = keep_changes, .outbox_claim = no_claim};

int keeper_setup(void **state)
{
    static bool is_registered;
    (void)state;
    if (!is_registered && pawl_store_register(&keeping_driver, NULL) != PAWL_OK)
        return -1;
    is_registered = true;
    memset(&kept, 0, sizeof kept);
    keeper = lean_open("keeping:");
    return 0;
}

int keeper_teardown(void **state)
{
    (void)state;
    lean_close(keeper);
    return 0;
}

void keeper_commit(size_t change_count)
{
    assert_int_equal(kept.commit_count, 1);
    assert_int_equal(kept.change_count, change_count);
    assert_int_equal(kept.changes.unit_count, 1);
    assert_int_equal(kept.changes.group_count, 1);
    assert_int_equal(kept.changes.now, KEEPER_NOW);
    kept.commit_count = 0;
}

void keeper_refused(pawl_code answer, pawl_code code, const char *text)
{
    assert_string_equal(keeper->error.text, text);
    assert_int_equal(answer, code);
    assert_int_equal(kept.commit_count, 0);
}

const pawl_message keeper_message = {.id             = PAWL_TEXT_INIT("m-1"),
                                     .type           = PAWL_TEXT_INIT("Charge"),
                                     .body           = PAWL_TEXT_INIT("{\"a\":1}"),
                                     .headers        = PAWL_TEXT_INIT("{\"h\":\"1\"}"),
                                     .correlation_id = PAWL_TEXT_INIT("c-1"),
                                     .causation_id   = PAWL_TEXT_INIT("m-0")};

void keeper_is_message(const pawl_message *is)
{
    SAME_TEXT(is->id, "m-1");
    SAME_TEXT(is->type, "Charge");
    SAME_TEXT(is->body, "{\"a\":1}");
    SAME_TEXT(is->headers, "{\"h\":\"1\"}");
    SAME_TEXT(is->correlation_id, "c-1");
    SAME_TEXT(is->causation_id, "m-0");
}
