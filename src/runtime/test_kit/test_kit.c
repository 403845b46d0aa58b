/* test_kit.c - the test kit of applications: creates a test, sends messages, runs endpoints, moves the clocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/test_kit/test_kit.h"
#include "runtime/endpoint/endpoint.h"
#include "workflow/names.h"

#include "base/delay.h"
#include "base/sized.h"

#include <stdio.h>

#define SEED_DEFAULT 1

/* ---- Setting up ----------------------------------------------------------------- */

/* Takes options; those of a program that was built with an older test_kit.h are shorter. */
static pawl_code take_options(const pawl_test_options *given, pawl_test_options *options,
                              pawl_error *error)
{
    *options = (pawl_test_options)PAWL_TEST_OPTIONS_INIT;
    return pawl__sized_read(given, options, sizeof *options, "options of a test",
                            "PAWL_TEST_OPTIONS_INIT", error);
}

static pawl_code take_settings(pawl_test *test, const pawl_test_options *options, pawl_error *error)
{
    pawl_endpoint_options *settings = &test->settings;
    *settings                       = (pawl_endpoint_options)PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_code code =
        pawl__sized_read(options->endpoint, settings, sizeof *settings,
                         "options of a test's endpoints", "PAWL_ENDPOINT_OPTIONS_INIT", error);
    if (code != PAWL_OK)
        return code;
    pawl_time start = options->start != 0 ? options->start : PAWL_TEST_START;
    code            = pawl__check_time("the start of a test", "", start, PAWL_TEST_START, error);
    if (code != PAWL_OK)
        return code;
    test->business     = pawl_clock_create(start);
    test->machine      = pawl_clock_create(start);
    settings->mode     = PAWL_OPEN_CREATE;
    settings->business = test->business;
    settings->machine  = test->machine;
    settings->workers  = 1;
    if (settings->seed == 0)
        settings->seed = SEED_DEFAULT;
    if (test->business == NULL || test->machine == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the clocks of a test");
    return PAWL_OK;
}

/* Each endpoint has its own seed for ids. */
static pawl_code create_endpoints(pawl_test *test, const pawl_application *application,
                                  pawl_error *error)
{
    pawl_code code  = pawl_application_check(application, error);
    size_t    count = code == PAWL_OK ? pawl__list_count(application->endpoints) : 0;
    uint64_t  seed  = test->settings.seed;
    if (code == PAWL_OK)
        code = pawl__application_tables_check(application, test->settings.saga_prefix, test->arena,
                                              error);
    if (code == PAWL_OK && count > PAWL_TEST_ENDPOINTS_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "application has %zu endpoints, the limit is %d",
                              count, PAWL_TEST_ENDPOINTS_MAX);
    for (size_t i = 0; i < count && code == PAWL_OK; i++) {
        test->settings.seed = seed + i;
        code = pawl__endpoint_create(application, application->endpoints[i]->name, &test->settings,
                                     true, &test->endpoints[i], error);
        if (code == PAWL_OK)
            test->endpoint_count++;
    }
    return code;
}

pawl_code pawl_test_create(const pawl_application *application, const pawl_test_options *options,
                           pawl_test **test, pawl_error *error)
{
    pawl_test_options own;
    *test          = NULL;
    pawl_code code = take_options(options, &own, error);
    if (code != PAWL_OK)
        return code;
    pawl_test *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a test");
    made->arena = pawl_arena_create(0);
    code        = made->arena != NULL ? take_settings(made, &own, error)
                                      : pawl_error_set(error, PAWL_ENOMEM, "no memory for a test");
    if (code == PAWL_OK)
        code = pawl__test_store_open(made, application, &own, error);
    if (code == PAWL_OK)
        code = create_endpoints(made, application, error);
    if (code != PAWL_OK) {
        pawl_test_destroy(made);
        return code;
    }
    *test = made;
    return PAWL_OK;
}

void pawl_test_destroy(pawl_test *test)
{
    if (test == NULL)
        return;
    for (size_t i = 0; i < test->endpoint_count; i++)
        pawl_endpoint_destroy(test->endpoints[i]);
    pawl__test_store_close(test);
    pawl_upgrade_destroy(test->models);
    pawl_clock_destroy(test->business);
    pawl_clock_destroy(test->machine);
    pawl_arena_destroy(test->arena);
    pawl_free(test);
}

pawl_code pawl_test_watch(pawl_test *test, pawl_record_fn *record, pawl_error *error)
{
    if (record == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "the record is NULL");
    pawl_subscription_set set     = {.type  = pawl_text_of(pawl_record_type(record())),
                                     .queue = PAWL_TEXT(PAWL_TEST_EVENTS)};
    pawl_changes          changes = {PAWL__ONE_UNIT(pawl_clock_now(test->machine)),
                                     .subscription_set = {&set, 1}};
    return pawl_store_commit(test->store, &changes, NULL, error);
}

/* ---- Running -------------------------------------------------------------------- */

/* Adds the counts of a step. A due row that did not run is claimed by another worker, and does not count for
 * next_due. */
static void add_step(pawl_step *sum, const pawl_step *step, pawl_time now)
{
    pawl__step_add(sum, step);
    if (step->next_due > now && step->next_due < sum->next_due)
        sum->next_due = step->next_due;
}

/* One step of every endpoint; `sum->is_idle` when none had anything to do. */
static pawl_code step_all(pawl_test *test, pawl_step *sum, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    sum->is_idle   = true;
    sum->next_due  = PAWL_TIME_MAX;
    for (size_t i = 0; i < test->endpoint_count && code == PAWL_OK; i++) {
        pawl_step step = PAWL_STEP_INIT;
        code           = pawl_endpoint_step(test->endpoints[i], &step, error);
        add_step(sum, &step, pawl_clock_now(test->business));
        sum->is_idle &= step.is_idle;
    }
    return code;
}

pawl_code pawl_test_drain(pawl_test *test, pawl_step *sum, pawl_error *error)
{
    pawl_step total = {.next_due = PAWL_TIME_MAX};
    pawl_code code  = pawl__step_check(sum, error);
    if (code != PAWL_OK)
        return code;
    long steps = 0;
    do {
        if (steps++ == PAWL_TEST_STEPS_MAX)
            return pawl_error_set(error, PAWL_ELIMIT,
                                  "not idle after %d steps: does a handler send to itself?",
                                  PAWL_TEST_STEPS_MAX);
        code = step_all(test, &total, error);
    } while (code == PAWL_OK && !total.is_idle);
    if (sum != NULL)
        pawl__sized_write(sum, &total);
    return code;
}

static void set_clocks(pawl_test *test, pawl_time time)
{
    int64_t duration = time - pawl_clock_now(test->business);
    pawl_clock_set(test->business, time);
    pawl_clock_set(test->machine, pawl_time_add(pawl_clock_now(test->machine), duration));
}

pawl_code pawl_test_advance_to(pawl_test *test, pawl_time time, pawl_error *error)
{
    pawl_step step = PAWL_STEP_INIT;
    pawl_time now  = pawl_clock_now(test->business);
    if (time < now || time > PAWL_TIME_MAX) {
        char asked[PAWL_TIME_TEXT_SIZE + 1], is[PAWL_TIME_TEXT_SIZE + 1];
        pawl_time_format(time, asked);
        pawl_time_format(now, is);
        return pawl_error_set(error, PAWL_EINVAL, "clock cannot be set to %s, it is %s now", asked,
                              is);
    }
    pawl_code code = pawl_test_drain(test, &step, error);
    while (code == PAWL_OK && now < time) {
        now = step.next_due < time ? step.next_due : time;
        set_clocks(test, now);
        code = pawl_test_drain(test, &step, error);
    }
    return code;
}

pawl_code pawl_test_advance(pawl_test *test, int64_t duration, pawl_error *error)
{
    if (duration < 0)
        return pawl_error_set(error, PAWL_EINVAL, "clock cannot be moved by %lld microseconds",
                              (long long)duration);
    return pawl_test_advance_to(test, pawl_time_add(pawl_clock_now(test->business), duration),
                                error);
}

/* ---- Delivering ------------------------------------------------------------------- */

/* Fills in the test's time and a message id. Ids are counted, not drawn, so that runs are repeatable. */
static pawl_code take_send(pawl_test *test, const pawl_send_options *given,
                           pawl_send_options *options, pawl_error *error)
{
    *options       = (pawl_send_options){PAWL_SEND_OPTIONS_HEAD};
    pawl_code code = pawl__sized_read(given, options, sizeof *options, "options of a send",
                                      "PAWL_SEND_OPTIONS_HEAD", error);
    if (code != PAWL_OK)
        return code;
    if (options->id == NULL) {
        snprintf(test->id, sizeof test->id, "test-%u", ++test->message_count);
        options->id = test->id;
    }
    if (options->due == 0)
        options->due = pawl__after_delay(pawl_clock_now(test->business), options->delay);
    return PAWL_OK;
}

/* The same, and finds the queue to send to. */
static pawl_code choose_queue(pawl_test *test, const char **queue, const pawl_send_options *given,
                              pawl_send_options *options, pawl_error *error)
{
    pawl_code code = take_send(test, given, options, error);
    if (code != PAWL_OK || *queue != NULL)
        return code;
    if (test->endpoint_count != 1)
        return pawl_error_set(error, PAWL_EINVAL,
                              "application has %zu endpoints; say which queue to deliver to",
                              test->endpoint_count);
    *queue = test->endpoints[0]->model->queue.data;
    return PAWL_OK;
}

/* Ends a delivery, whose messages were collected with `code`. The sender keeps messages that were not committed: they
 * would go with the next delivery. */
static pawl_code commit_and_drain(pawl_test *test, pawl_code code, pawl_error *error)
{
    if (code == PAWL_OK)
        code = pawl_sender_commit(test->sender, error);
    if (code != PAWL_OK)
        pawl_sender_clear(test->sender);
    return code == PAWL_OK ? pawl_test_drain(test, NULL, error) : code;
}

pawl_code pawl_test_deliver_with(pawl_test *test, const char *queue,
                                 const pawl_send_options *options, const pawl_record *record,
                                 const void *message, pawl_error *error)
{
    pawl_send_options own;
    pawl_code         code = choose_queue(test, &queue, options, &own, error);
    if (code == PAWL_OK)
        code = pawl_sender_send(test->sender, queue, &own, record, message, error);
    return commit_and_drain(test, code, error);
}

pawl_code pawl_test_deliver(pawl_test *test, const char *queue, const pawl_record *record,
                            const void *message, pawl_error *error)
{
    return pawl_test_deliver_with(test, queue, NULL, record, message, error);
}

pawl_code pawl_test_deliver_json(pawl_test *test, const char *queue,
                                 const pawl_send_options *options, const char *type,
                                 const char *json, pawl_error *error)
{
    pawl_send_options own;
    pawl_code         code = choose_queue(test, &queue, options, &own, error);
    if (code == PAWL_OK)
        code = pawl__sender_send_text(test->sender, queue, &own, type, pawl_text_of(json), error);
    return commit_and_drain(test, code, error);
}

pawl_code pawl_test_publish(pawl_test *test, const pawl_record *record, const void *message,
                            pawl_error *error)
{
    pawl_send_options own;
    pawl_code         code = take_send(test, NULL, &own, error);
    if (code == PAWL_OK)
        code = pawl_sender_publish(test->sender, &own, record, message, error);
    return commit_and_drain(test, code, error);
}

/* ---- Dead letters ----------------------------------------------------------------- */

static pawl_code settle(pawl_test *test, const char *endpoint, const char *message_id,
                        pawl_dead_action action, const char *json, pawl_error *error)
{
    const pawl_dead_settle by = {
        .action = action, .by = PAWL_TEXT("test"), .body = pawl_text_of(json)};
    if (message_id == NULL || message_id[0] == '\0')
        return pawl_error_set(error, PAWL_EINVAL, "no id of a message is given");
    const pawl_dead_query query = {
        .endpoint = pawl_text_of(endpoint), .message_id = pawl_text_of(message_id), .count_max = 2};
    pawl_dead_rows rows;
    pawl_code      code = pawl_store_dead_find(test->store, &query, test->arena, &rows, error);
    if (code == PAWL_OK && rows.count != 1)
        return pawl_error_set(error, rows.count == 0 ? PAWL_EGONE : PAWL_EINVAL, "message %s is %s",
                              message_id,
                              rows.count == 0 ? "not a dead letter"
                                              : "a dead letter of several endpoints: say of which");
    if (code == PAWL_OK)
        code = pawl_store_dead_settle(test->store, rows.items, rows.count, &by, pawl_test_now(test),
                                      NULL, error);
    return code == PAWL_OK ? pawl_test_drain(test, NULL, error) : code;
}

pawl_code pawl_test_dead_retry(pawl_test *test, const char *endpoint, const char *message_id,
                               pawl_error *error)
{
    return settle(test, endpoint, message_id, PAWL_DEAD_RETRY, NULL, error);
}

pawl_code pawl_test_dead_edit(pawl_test *test, const char *endpoint, const char *message_id,
                              const char *json, pawl_error *error)
{
    return settle(test, endpoint, message_id, PAWL_DEAD_EDIT, json, error);
}

pawl_code pawl_test_dead_discard(pawl_test *test, const char *endpoint, const char *message_id,
                                 pawl_error *error)
{
    return settle(test, endpoint, message_id, PAWL_DEAD_DISCARD, NULL, error);
}

/* ---- Timeouts --------------------------------------------------------------------- */

static pawl_code amend(pawl_test *test, const char *saga, const char *key, const char *name,
                       pawl_amend_action action, int64_t shift, pawl_error *error)
{
    const pawl_timeout_amend how = {.action = action, .shift = shift, .by = PAWL_TEXT("test")};
    pawl_timeout_rows        rows;
    size_t                   at = 0, done = 0;
    if (saga == NULL || key == NULL || name == NULL)
        return pawl_error_set(error, PAWL_EINVAL, "a timeout needs a saga, its key and a name");
    pawl_code code = pawl_test_timeouts(test, saga, key, &rows, error);
    while (code == PAWL_OK && at < rows.count &&
           !pawl_text_equal(rows.items[at].name, pawl_text_of(name)))
        at++;
    if (code == PAWL_OK && at < rows.count)
        code = pawl_store_timeout_amend(test->store, &rows.items[at], 1, &how, pawl_test_now(test),
                                        &done, error);
    if (code == PAWL_OK && done == 0)
        return pawl_error_set(error, PAWL_EGONE, "%s '%s' has no timeout %s", saga, key, name);
    return code == PAWL_OK ? pawl_test_drain(test, NULL, error) : code;
}

pawl_code pawl_test_timeout_cancel(pawl_test *test, const char *saga, const char *key,
                                   const char *name, pawl_error *error)
{
    return amend(test, saga, key, name, PAWL_AMEND_CANCEL, 0, error);
}

pawl_code pawl_test_timeout_move(pawl_test *test, const char *saga, const char *key,
                                 const char *name, int64_t shift, pawl_error *error)
{
    return amend(test, saga, key, name, PAWL_AMEND_SHIFT, shift, error);
}

pawl_code pawl_test_timeout_run_now(pawl_test *test, const char *saga, const char *key,
                                    const char *name, pawl_error *error)
{
    return amend(test, saga, key, name, PAWL_AMEND_RUN_NOW, 0, error);
}
