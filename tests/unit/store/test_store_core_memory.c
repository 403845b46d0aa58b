/* test_store_core_memory.c - the store core without memory: each allocation of each call fails
 * in turn; the call says so, keeps nothing, and the next one works.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/fault_memory.h"
#include "support/minimal.h"

#include "pawl/operations.h"
#include "store/core/wait.h"

#define NOW INT64_C(1767225600000000)

/* While it is set, the driver refuses every commit with a text of its own. */
static bool is_refusing;

static pawl_code fake_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    if (is_refusing && pawl_refusals_add(refused, pawl_change_checkpoint_set, 0, 0, PAWL_ECONFLICT,
                                         PAWL_TEXT("it is taken")) != PAWL_OK)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a refusal");
    return PAWL_OK;
}

static pawl_code fake_claim(pawl_store *store, pawl_text endpoint, pawl_time now, size_t count_max,
                            pawl_arena *arena, pawl_outbox_rows *rows, pawl_error *error)
{
    return PAWL_OK;
}

static pawl_code refuse_to_open(pawl_store *store, const char *url,
                                const pawl_store_options *options, pawl_error *error)
{
    return minimal_answer(PAWL_EUNREACHABLE, error);
}

static const pawl_store_ops poor_driver = {MINIMAL_STORE, .scheme = "poor", .commit = fake_commit,
                                           .outbox_claim = fake_claim};
static pawl_store_ops       closed_driver;

static pawl_store *store;

/* ---- Calls, each of which leaves nothing -------------------------------- */

static pawl_code open_and_close(pawl_error *error)
{
    pawl_store *opened = NULL;
    pawl_code   code   = pawl_store_open("poor:", NULL, &opened, error);
    assert_int_equal(code == PAWL_OK, opened != NULL);
    pawl_store_close(opened);
    return code;
}

static pawl_code open_what_is_closed(pawl_error *error)
{
    pawl_store *opened = NULL;
    pawl_code   code   = pawl_store_open("shut:", NULL, &opened, error);
    assert_null(opened);
    return code == PAWL_EUNREACHABLE ? PAWL_OK : code;
}

static pawl_code ask_for_a_schema(pawl_error *error)
{
    pawl_code code = pawl_store_schema("poor:", PAWL_SCHEMA_PRINT, NULL, NULL, NULL, error);
    return code == PAWL_OK ? pawl_store_schema("poor:", PAWL_SCHEMA_APPLY, NULL, NULL, NULL, error)
                           : code;
}

static pawl_code commit_without_a_list(pawl_error *error)
{
    pawl_changes changes = {.now = NOW};
    is_refusing          = false;
    return pawl_store_commit(store, &changes, NULL, error);
}

static pawl_code commit_what_is_refused(pawl_error *error)
{
    pawl_checkpoint_set set     = {.name = PAWL_TEXT("bills"), .to = 1, .at = NOW};
    pawl_changes        changes = {
               .now = NOW, .unit_count = 1, .group_count = 1, .checkpoint_set = {&set, 1}};
    is_refusing    = true;
    pawl_code code = pawl_store_commit(store, &changes, NULL, error);
    is_refusing    = false;
    return code == PAWL_ECONFLICT ? PAWL_OK : code;
}

static pawl_code append_with_dispatches(pawl_error *error)
{
    static const pawl_event      event  = {.type = PAWL_TEXT_INIT("Opened"), .type_version = 1};
    static const pawl_outbox_row row    = {.destination = PAWL_TEXT_INIT("billing"),
                                           .message     = {.type = PAWL_TEXT_INIT("Charge")}};
    const pawl_append            append = {.stream         = PAWL_TEXT_INIT("Account/1"),
                                           .events         = &event,
                                           .event_count    = 1,
                                           .dispatches     = &row,
                                           .dispatch_count = 1,
                                           .outbox         = PAWL_TEXT_INIT("accounts")};
    return pawl_store_append(store, &append, NOW, error);
}

static pawl_code wait_for_commits(pawl_error *error)
{
    pawl_code code = pawl__wake_add("poor", 1000, error);
    for (int fd = 1001; code == PAWL_OK && fd < 1040; fd++)
        code = pawl__wake_add_reader("poor", fd, error);
    for (int fd = 1000; fd < 1040; fd++)
        pawl__wake_remove(fd);
    return code;
}

/* ---- The test ----------------------------------------------------------- */

typedef pawl_code call_fn(pawl_error *error);

static const struct {
    const char *name;
    call_fn    *call;

} calls[] = {
    {"open", open_and_close},
    {"open what is closed", open_what_is_closed},
    {"schema", ask_for_a_schema},
    {"commit", commit_without_a_list},
    {"commit what is refused", commit_what_is_refused},
    {"append", append_with_dispatches},
    {"wait", wait_for_commits},
};

TEST(each_call_survives_a_shortage)
{
    for (size_t i = 0; i < COUNT(calls); i++) {
        long n = 0, live = fault_memory_live();
        for (bool was_reached = true; was_reached;) {
            pawl_error error = PAWL_ERROR_INIT;
            fault_memory_begin(++n);
            pawl_code code = calls[i].call(&error);
            was_reached    = fault_memory_end();
            if (code != (was_reached ? PAWL_ENOMEM : PAWL_OK))
                fail_msg("%s, allocation %ld: code %d: %s", calls[i].name, n, (int)code,
                         error.text);
            if (fault_memory_live() != live)
                fail_msg("%s, allocation %ld: %ld blocks are not freed", calls[i].name, n,
                         fault_memory_live() - live);
        }
        assert_true(n > 1);
    }
}

int main(void)
{
    pawl_error error = PAWL_ERROR_INIT;
    fault_memory_install();
    closed_driver        = poor_driver;
    closed_driver.scheme = "shut";
    closed_driver.open   = refuse_to_open;
    if (pawl_store_register(&poor_driver, &error) != PAWL_OK ||
        pawl_store_register(&closed_driver, &error) != PAWL_OK ||
        pawl_store_open("poor:", NULL, &store, &error) != PAWL_OK) {
        print_error("%s\n", error.text);
        return 1;
    }
    int failed = tests_run(NULL, NULL);
    pawl_store_close(store);
    return failed;
}
