/* test_older_structs.c - structs that begin with their size, as a program has them that was built
 * with older headers: the library reads and writes no more than their size (pawl/api.h), and a size
 * that is none of its own is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "pawl/operate.h"
#include "pawl/test.h"
#include "support/tests.h"

/* ---- A desk that sends with the options of an older program ------------------ */

RECORD(ask, (INT64, n), (BOOL, is_published));

RECORD(answer, (INT64, n));

/* Their size is what a test says; headers stand behind it, and must not be read. */
static pawl_send_options options;

static pawl_code on_ask(pawl_context *ctx, const ask *message)
{
    if (message->is_published)
        return pawl_publish_with(ctx, &options, PAWL_MESSAGE(answer, .n = message->n));
    return pawl_send_with(ctx, "out", &options, PAWL_MESSAGE(answer, .n = message->n));
}
PAWL_MESSAGE_HANDLER(on_ask, ask);

static const pawl_endpoint_spec desk        = {.name     = "desk",
                                               .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_ask)})};
static const pawl_application   application = APPLICATION("desk", &desk);

static const pawl_header headers[] = {{"color", "red"}, {NULL, NULL}};

static pawl_test *begin(void)
{
    pawl_test *test = test_kit(&application, NULL);
    assert_int_equal(pawl_test_watch(test, PAWL_RECORD_OF(answer), NULL), PAWL_OK);
    return test;
}

static void check_refused(pawl_code code, const pawl_error *error, const char *says)
{
    assert_int_equal(code, PAWL_EINVAL);
    if (strstr(error->text, says) == NULL)
        fail_msg("'%s' does not say '%s'", error->text, says);
}

/* A struct of this library that has room for as much as it had without its last member. What
 * stands behind that is another object of the program. */
#define SPOILT 0xA5
#define OLDER(struct_type, member)                           \
    union {                                                  \
        struct_type   as;                                    \
        unsigned char bytes[sizeof(struct_type)];            \
    } older;                                                 \
    const size_t older_size = offsetof(struct_type, member); \
    memset(&older, SPOILT, sizeof older);                    \
    memcpy(&older, &older_size, sizeof older_size)

static void check_end(const unsigned char *bytes, size_t from, size_t size)
{
    for (size_t i = from; i < size; i++)
        if (bytes[i] != SPOILT)
            fail_msg("byte %zu was written, the program's struct has %zu", i, from);
}
#define CHECK_END() check_end(older.bytes, older_size, sizeof older)

/* ---- Structs that the library writes ------------------------------------------ */

static pawl_code step(pawl_test *test, pawl_step *counts, pawl_error *error)
{
    return pawl_endpoint_step(pawl_test_endpoint(test, NULL), counts, error);
}

static pawl_code drain(pawl_test *test, pawl_step *counts, pawl_error *error)
{
    return pawl_endpoint_drain(pawl_test_endpoint(test, NULL), counts, error);
}

TEST(a_step_is_no_longer_than_the_programs)
{
    static pawl_code (*const calls[])(pawl_test *, pawl_step *, pawl_error *) = {step, drain,
                                                                                 pawl_test_drain};
    for (size_t i = 0; i < COUNT(calls); i++) {
        pawl_error error = PAWL_ERROR_INIT;
        pawl_test *test  = begin();
        pawl_step  wrong = {.step_size = sizeof wrong + 1, .handled = 7};
        OLDER(pawl_step, projected);
        assert_int_equal(calls[i](test, &older.as, &error), PAWL_OK);
        assert_int_equal(older.as.step_size, older_size);
        assert_int_equal(older.as.handled, 0);
        assert_true(older.as.next_due == PAWL_TIME_MAX);
        CHECK_END();
        check_refused(calls[i](test, &wrong, &error), &error, "begin with PAWL_STEP_INIT");
        wrong.step_size = 0;
        check_refused(calls[i](test, &wrong, &error), &error, "their size is 0 bytes");
        assert_int_equal(wrong.handled, 7);
        assert_int_equal(calls[i](test, NULL, &error), PAWL_OK);
        test_now(test);
    }
}

TEST(stats_are_no_longer_than_the_programs)
{
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_test  *test  = begin();
    pawl_stats  wrong = {.stats_size = sizeof wrong + 8, .dead = 7};
    pawl_arena *arena = test_arena();
    OLDER(pawl_stats, counters);
    assert_int_equal(pawl_test_stats(test, &older.as, &error), PAWL_OK);
    assert_true(older.as.workers > 0);
    assert_int_equal(older.as.dead, 0);
    CHECK_END();
    pawl_endpoint *endpoint = pawl_test_endpoint(test, NULL);
    check_refused(pawl_endpoint_stats(endpoint, arena, &wrong, &error), &error,
                  "begin with PAWL_STATS_INIT");
    assert_int_equal(wrong.dead, 7);
}

TEST(figures_are_no_longer_than_the_programs)
{
    pawl_error          error = PAWL_ERROR_INIT;
    pawl_health         health;
    pawl_test          *test  = begin();
    pawl_health_figures wrong = {.figures_size = 1};
    pawl_arena         *arena = test_arena();
    OLDER(pawl_health_figures, subscriptions);
    must(
        pawl_health_query(pawl_test_store(test), PAWL_TEST_START, arena, &older.as, world_error()));
    assert_true(older.as.stats->workers > 0);
    CHECK_END();
    pawl_health_judge(&older.as, NULL, PAWL_TEST_START, &health);
    assert_int_equal(health.state, PAWL_HEALTHY);
    check_refused(pawl_health_query(pawl_test_store(test), PAWL_TEST_START, arena, &wrong, &error),
                  &error, "begin with PAWL_HEALTH_FIGURES_INIT");
    pawl_health_judge(&wrong, NULL, PAWL_TEST_START, &health);
    assert_int_equal(health.state, PAWL_UNHEALTHY);
    assert_non_null(strstr(health.checks[0].reason, "begin with PAWL_HEALTH_FIGURES_INIT"));
}

/* Stats that a program makes itself may be shorter, too: what stands behind them is not judged. */
TEST(stats_of_figures_are_read_by_their_size)
{
    pawl_health         health;
    pawl_health_figures figures = PAWL_HEALTH_FIGURES_INIT;
    pawl_stats          stats   = {.stats_size = offsetof(pawl_stats, dead), .dead = 1000};
    figures.stats               = &stats;
    pawl_health_judge(&figures, NULL, PAWL_TEST_START, &health);
    assert_int_equal(health.state, PAWL_HEALTHY);
    stats.stats_size = sizeof stats;
    pawl_health_judge(&figures, NULL, PAWL_TEST_START, &health);
    assert_int_equal(health.state, PAWL_DEGRADED);
}

/* ---- Structs that the library reads --------------------------------------------- */

static void check_sent(pawl_test *test, const char *queue, bool has_headers)
{
    pawl_queue_rows rows;
    assert_int_equal(pawl_test_sent(test, queue, &rows, NULL), PAWL_OK);
    assert_int_equal(rows.count, 1);
    assert_int_equal(strstr(rows.items[0].message.headers.data, "color") != NULL, has_headers);
}

TEST(a_handlers_options_are_read_by_their_size)
{
    static const struct {
        bool        is_published;
        const char *queue;
    } ways[] = {{false, "out"}, {true, PAWL_TEST_EVENTS}};
    for (size_t i = 0; i < COUNT(ways); i++) {
        pawl_dead_rows letters;
        pawl_test     *test = begin();
        options = (pawl_send_options){.options_size = offsetof(pawl_send_options, headers),
                                      .headers      = headers};
        pawl_test_deliver(test, NULL, PAWL_MESSAGE(ask, .is_published = ways[i].is_published),
                          NULL);
        check_sent(test, ways[i].queue, false);
        options.options_size = 0;
        pawl_test_deliver(test, NULL, PAWL_MESSAGE(ask, .is_published = ways[i].is_published),
                          NULL);
        assert_int_equal(pawl_test_dead(test, NULL, &letters, NULL), PAWL_OK);
        assert_int_equal(letters.count, 1);
        assert_non_null(strstr(letters.items[0].error.data, "begin with PAWL_SEND_OPTIONS_HEAD"));
        check_sent(test, ways[i].queue, false);
        test_now(test);
    }
}

static pawl_code send(pawl_sender *sender, const pawl_send_options *with, pawl_error *error)
{
    return pawl_sender_send(sender, "out", with, PAWL_MESSAGE(answer, .n = 1), error);
}

static pawl_code send_json(pawl_sender *sender, const pawl_send_options *with, pawl_error *error)
{
    return pawl_sender_send_json(sender, "out", with, "answer", PAWL_TEXT("{\"n\":1}"), error);
}

static pawl_code publish(pawl_sender *sender, const pawl_send_options *with, pawl_error *error)
{
    return pawl_sender_publish(sender, with, PAWL_MESSAGE(answer, .n = 1), error);
}

TEST(a_senders_options_are_read_by_their_size)
{
    static const struct {
        pawl_code (*send)(pawl_sender *, const pawl_send_options *, pawl_error *);
        const char *queue;
    } ways[] = {{send, "out"}, {send_json, "out"}, {publish, PAWL_TEST_EVENTS}};
    for (size_t i = 0; i < COUNT(ways); i++) {
        pawl_sender      *sender;
        pawl_error        error = PAWL_ERROR_INIT;
        pawl_test        *test  = begin();
        pawl_send_options older = {.options_size = offsetof(pawl_send_options, headers),
                                   .headers      = headers};
        assert_int_equal(pawl_sender_open(pawl_test_url(test), NULL, &sender, NULL), PAWL_OK);
        assert_int_equal(ways[i].send(sender, &older, &error), PAWL_OK);
        older.options_size = sizeof older + 1;
        check_refused(ways[i].send(sender, &older, &error), &error,
                      "begin with PAWL_SEND_OPTIONS_HEAD");
        assert_int_equal(pawl_sender_commit(sender, &error), PAWL_OK);
        check_sent(test, ways[i].queue, false);
        pawl_sender_close(sender);
        test_now(test);
    }
}

TEST(the_test_kits_options_are_read_by_their_size)
{
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_test            *test     = NULL;
    pawl_endpoint_options endpoint = {.workers = 1};
    pawl_test_options     given    = {.start = PAWL_TEST_START};
    pawl_send_options     with     = {.headers = headers};
    check_refused(pawl_test_create(&application, &given, &test, &error), &error,
                  "options of a test: their size is 0 bytes");
    given.options_size = sizeof given;
    given.endpoint     = &endpoint;
    check_refused(pawl_test_create(&application, &given, &test, &error), &error,
                  "options of a test's endpoints: their size is 0 bytes");
    endpoint.options_size = sizeof endpoint + 1;
    check_refused(pawl_test_create(&application, &given, &test, &error), &error,
                  "begin with PAWL_ENDPOINT_OPTIONS_INIT");
    given.options_size = offsetof(pawl_test_options, endpoint); /* which is not read */
    test               = test_kit(&application, &given);
    check_refused(pawl_test_deliver_with(test, "out", &with, PAWL_MESSAGE(answer, .n = 1), &error),
                  &error, "options of a send: their size is 0 bytes");
    check_refused(pawl_test_deliver_json(test, "out", &with, "answer", "{\"n\":1}", &error), &error,
                  "begin with PAWL_SEND_OPTIONS_HEAD");
    with.options_size = offsetof(pawl_send_options, headers);
    assert_int_equal(
        pawl_test_deliver_with(test, "out", &with, PAWL_MESSAGE(answer, .n = 1), &error), PAWL_OK);
    check_sent(test, "out", false);
}

/* ---- Rows of an endpoint's options ----------------------------------------------- */

/* A size that is none of a version's, one byte beyond each end. */
TEST(rows_whose_size_no_version_had_are_refused)
{
    const size_t recovery = offsetof(pawl_recovery, then) + sizeof(pawl_then);
    const struct {
        size_t      route, recovery;
        const char *says; /* NULL: it is taken */
    } rows[] = {{offsetof(pawl_route, outbound), recovery, NULL},
                {sizeof(pawl_route), sizeof(pawl_recovery), NULL},
                {0, 0, NULL},
                {offsetof(pawl_route, outbound) - 1, 0, "option route_size: rows of "},
                {sizeof(pawl_route) + 1, 0, "option route_size: rows of "},
                {0, recovery - 1, "option recovery_size: rows of "},
                {0, sizeof(pawl_recovery) + 1, "option recovery_size: rows of "}};
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        const bool            is_table = i >= COUNT(rows);
        pawl_endpoint_options given    = PAWL_ENDPOINT_OPTIONS_INIT;
        pawl_endpoint_spec    spec     = desk;
        pawl_application      of_spec  = APPLICATION("desk", &spec);
        pawl_error            error    = PAWL_ERROR_INIT;
        pawl_test            *test     = NULL;
        pawl_test_options     kit      = PAWL_TEST_OPTIONS_INIT;
        given.route_size               = rows[i % COUNT(rows)].route;
        given.recovery_size            = rows[i % COUNT(rows)].recovery;
        spec.options                   = is_table ? &given : NULL;
        kit.endpoint                   = is_table ? NULL : &given;
        pawl_code   code               = pawl_test_create(&of_spec, &kit, &test, &error);
        const char *says               = rows[i % COUNT(rows)].says;
        pawl_test_destroy(test);
        assert_int_equal(code, says == NULL ? PAWL_OK : PAWL_ECONFIG);
        if (says != NULL && strstr(error.text, says) == NULL)
            fail_msg("'%s' does not say '%s'", error.text, says);
    }
}
