/* test_runtime_file.c - an endpoint whose SQLite file is taken away goes on when it is
 * back, and makes no empty one meanwhile; nor does a route make one before its first row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include <unistd.h>

PAWL_RECORD(note, A_NUMBER);

static int handled;

static pawl_code on_note(pawl_context *ctx, const note *message)
{
    handled++;
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_note, note);

static const pawl_application application =
    ONE_ENDPOINT("file", .name = "reader", .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_note)}));

static void expect_step(pawl_endpoint *endpoint, pawl_code expected)
{
    pawl_step  step  = PAWL_STEP_INIT;
    pawl_error error = PAWL_ERROR_INIT;
    pawl_code  code  = pawl_endpoint_step(endpoint, &step, &error);
    if (code != expected)
        fail_msg("is %s, expected %s: %s", pawl_code_name(code), pawl_code_name(expected),
                 error.text);
}

static void send_note(const char *url)
{
    pawl_sender *sender = NULL;
    must(pawl_sender_open(url, NULL, &sender, world_error()));
    test_send(sender, "reader", NULL, PAWL_MESSAGE(note, .number = 1));
    pawl_sender_close(sender);
}

ON_STORE(a_file_that_is_gone_is_waited_for_not_made, const char *url, "sqlite")
{
    const char           *path     = strchr(url, ':') + 1;
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_endpoint        *endpoint = NULL;
    const char           *away     = test_text("%.*s-away", (int)strcspn(path, "?"), path);
    const char           *here     = test_text("%.*s", (int)strcspn(path, "?"), path);
    handled                        = 0;
    options.store                  = url;
    must(pawl_endpoint_create(&application, NULL, &options, &endpoint, world_error()));
    send_note(url);
    expect_step(endpoint, PAWL_OK);
    assert_int_equal(handled, 1);

    static test_lines left; /* of a worker that is left in the store */
    test_listen(&left, PAWL_LOG_WARNING,
                "endpoint reader: worker not ended in the store: sqlite: ");
    assert_int_equal(rename(here, away), 0);
    for (int i = 0; i < 3; i++) {
        expect_step(endpoint, PAWL_EUNREACHABLE);
        assert_int_equal(access(here, F_OK), -1);
    }
    assert_int_equal(rename(away, here), 0);
    send_note(url);
    expect_step(endpoint, PAWL_OK);
    assert_int_equal(handled, 2);
    assert_int_equal(left.count, 0);
    /* At a stop nobody comes back to end it. */
    pawl_endpoint_stop(endpoint);
    assert_int_equal(rename(here, away), 0);
    pawl_endpoint_destroy(endpoint);
    world_quiet();
    assert_int_equal(left.count, 1);
    assert_int_equal(rename(away, here), 0);
}

ON_STORE(a_route_to_a_file_that_is_not_there_makes_none_at_the_start, const char *url, "sqlite")
{
    pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_endpoint        *endpoint = NULL;
    const char           *far      = test_text("%.*s-far", (int)strcspn(url, "?"), url);
    options.store                  = url;
    options.routes                 = PAWL_ROUTES({.name = "far", .url = far},
                                                 {.name = "away", .url = "sqlite:/nowhere/at/all.db"});
    must(pawl_endpoint_create(&application, NULL, &options, &endpoint, world_error()));
    assert_int_equal(access(strchr(far, ':') + 1, F_OK), -1);
    pawl_endpoint_destroy(endpoint);
}
