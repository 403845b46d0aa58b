/* test_runtime_program.c - the rows of an endpoint's workers name the program and its version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

PAWL_RECORD(tick, A_NUMBER);

IDLE_MESSAGE_HANDLER(on_tick, tick);

static const pawl_endpoint_spec plain = {.name     = "plain",
                                         .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_tick)})};
static const pawl_application   shop  = {PAWL_APPLICATION_HEAD, .name = "shop",
                                         .endpoints = PAWL_ENDPOINTS(&plain), .version = "2.4.1"};

/* Runs one step of the application, and gives the row of its worker. */
static pawl_worker_info worker_of(const char *url, const pawl_application *application)
{
    pawl_worker_info *items = NULL;
    size_t            count = 0, found = 0;
    world            *it = world_begin(url, application, NULL, NULL);
    world_step(it);
    must(pawl_store_worker_list(it->store, it->arena, &items, &count, world_error()));
    for (size_t i = 0; i < count; i++)
        if (pawl_text_equal(items[i].endpoint, PAWL_TEXT("plain")) && items[i].types.size > 2)
            found = i + 1;
    assert_int_not_equal(found, 0);
    return items[found - 1];
}

ON_STORES(a_worker_is_one_of_its_program, const char *url)
{
    pawl_worker_info worker = worker_of(url, &shop);
    assert_string_equal(worker.program.data, "shop");
    assert_string_equal(worker.program_version.data, "2.4.1");
    assert_string_equal(worker.pawl_version.data, pawl_version());
    assert_true(worker.host.size > 0);
}

/* Bytes behind the size that an application gives are not its version. */
ON_STORES(an_older_application_says_no_version, const char *url)
{
    pawl_application older  = shop;
    older.application_size  = offsetof(pawl_application, version);
    older.version           = "no version";
    pawl_worker_info worker = worker_of(url, &older);
    assert_string_equal(worker.program.data, "shop");
    assert_int_equal(worker.program_version.size, 0);
}

ON_STORES(an_application_may_say_neither, const char *url)
{
    pawl_application bare   = shop;
    bare.name               = NULL;
    bare.version            = NULL;
    pawl_worker_info worker = worker_of(url, &bare);
    assert_int_equal(worker.program.size, 0);
    assert_int_equal(worker.program_version.size, 0);
}
