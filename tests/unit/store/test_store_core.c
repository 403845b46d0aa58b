/* test_store_core.c - drivers and their schemes, URLs that may be shown,
 * wake-up, and what commit does around a driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/store_driver.h"
#include "store/core/wait.h"
#include "support/tests.h"

#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A driver that answers what the test says --------------------------- */

typedef struct fake_store {
    pawl_store base;
    char       own[8];
} fake_store;

static struct {
    pawl_code commit_code;
    pawl_code resolve_code;
    bool      is_applied;
    int       open_count, close_count, worker_count, commit_count, resolve_count;
    pawl_uuid commit_id, earlier_id;
    char      prefix[PAWL_PREFIX_SIZE_MAX + 1];
    int64_t   deadline;
} fake;

static pawl_code fake_open(pawl_store *store, const char *url, const pawl_store_options *options,
                           pawl_error *error)
{
    fake.open_count++;
    fake.deadline = options->deadline;
    strcpy(fake.prefix, store->system_prefix);
    strcpy(store->identity, "fake:data");
    if (strcmp(url, "fake:closed") == 0)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "it is closed");
    return PAWL_OK;
}

static void fake_close(pawl_store *store)
{
    fake.close_count++;
}

static pawl_code fake_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error)
{
    line(pawl_text_of(spec->system_prefix), context);
    return PAWL_OK;
}

static pawl_code fake_worker_open(pawl_store *store, pawl_text endpoint, pawl_text types,
                                  pawl_time now, pawl_error *error)
{
    store->epoch = 7;
    fake.worker_count++;
    return PAWL_OK;
}

static pawl_code fake_worker_close(pawl_store *store, pawl_time now, pawl_error *error)
{
    return PAWL_OK;
}

static pawl_code fake_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    fake.commit_count++;
    fake.earlier_id = fake.commit_id;
    fake.commit_id  = changes->commit_id;
    if (changes->queue_settle.count != 0)
        return pawl_refusals_add(refused, pawl_change_queue_settle, 0, 0, PAWL_EGONE,
                                 PAWL_TEXT("it is gone"));
    if (fake.commit_code != PAWL_OK)
        return pawl_error_set(error, fake.commit_code, "the line went dead");
    return PAWL_OK;
}

static pawl_code fake_resolve(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                              pawl_error *error)
{
    fake.resolve_count++;
    assert_int_equal(pawl_uuid_compare(commit_id, fake.commit_id), 0);
    *is_applied = fake.is_applied;
    if (fake.resolve_code != PAWL_OK)
        return pawl_error_set(error, fake.resolve_code, "still no line");
    return PAWL_OK;
}

static const pawl_store_ops fake_driver = {
    .ops_size     = sizeof(pawl_store_ops),
    .abi          = PAWL_ABI,
    .scheme       = "fake",
    .store_size   = sizeof(fake_store),
    .open         = fake_open,
    .close        = fake_close,
    .schema       = fake_schema,
    .worker_open  = fake_worker_open,
    .worker_close = fake_worker_close,
    .commit       = fake_commit,
    .resolve      = fake_resolve,
};

static int reset_fake(void **state)
{
    memset(&fake, 0, sizeof fake);
    return 0;
}

/* ---- Drivers ------------------------------------------------------------ */

TEST(register_refuses_what_is_no_driver)
{
    pawl_store_ops bad = fake_driver;
    bad.ops_size       = offsetof(pawl_store_ops, queue_claim) - 1;
    must_fail_with(pawl_store_register(&bad, world_error()), PAWL_ECONFIG,
                   "built for another pawl");

    bad        = fake_driver;
    bad.scheme = "No Scheme";
    must_fail_with(pawl_store_register(&bad, world_error()), PAWL_ECONFIG,
                   "'No Scheme' is not the scheme");

    bad            = fake_driver;
    bad.store_size = sizeof(pawl_store) - 1;
    assert_int_equal(pawl_store_register(&bad, world_error()), PAWL_ECONFIG);

    bad        = fake_driver;
    bad.commit = NULL;
    must_fail_with(pawl_store_register(&bad, world_error()), PAWL_ECONFIG, "may not be absent");

    bad        = fake_driver;
    bad.scheme = "memory";
    assert_int_equal(pawl_store_register(&bad, world_error()), PAWL_EDUPLICATE);
    assert_int_equal(pawl_store_register(NULL, world_error()), PAWL_EINVAL);
}

TEST(open_refuses_what_is_no_url)
{
    static const char *const urls[] = {"", "orders.db", "://host", "Memory:", "1x:y", "a b:c"};
    pawl_error               error  = PAWL_ERROR_INIT;
    pawl_store              *store  = NULL;
    for (size_t i = 0; i < COUNT(urls); i++) {
        assert_int_equal(pawl_store_open(urls[i], NULL, &store, &error), PAWL_EINVAL);
        assert_null(store);
        assert_non_null(strstr(error.text, "is not a URL of a store"));
    }
    assert_int_equal(pawl_store_open(NULL, NULL, &store, &error), PAWL_EINVAL);
    assert_int_equal(pawl_store_open("No://user:hunter2@host", NULL, &store, &error), PAWL_EINVAL);
    assert_null(strstr(error.text, "hunter2"));

    char url[PAWL_URL_SIZE_MAX + 20] = "memory:";
    memset(url + 7, 'x', PAWL_URL_SIZE_MAX);
    must_fail(pawl_store_open(url, NULL, &store, world_error()), PAWL_ELIMIT,
              "URL of a store: it has 2007 bytes, limit 2000");
}

TEST(a_missing_driver_names_its_package)
{
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *store = NULL;
    assert_int_equal(pawl_store_open("nosuch://u:secret@host/db", NULL, &store, &error),
                     PAWL_EUNREACHABLE);
    const char *expected =
        "no driver for 'nosuch://': pawl has none of that name, but memory, sqlite, postgres, "
        "mysql, mariadb, odbc, mssql, oracle, mongodb, and for routes amqp, or load your own (a store's driver or a "
        "transport: pawl --load FILE VERB); looked "
        "for libpawl-nosuch.so in /";
    assert_memory_equal(error.text, expected, strlen(expected));
    assert_null(strstr(error.text, "secret"));
    assert_int_equal(pawl_store_open("nosuch:file", NULL, &store, &error), PAWL_EUNREACHABLE);
    expected = "no driver for 'nosuch:': pawl has none of that name, but memory, sqlite,";
    assert_memory_equal(error.text, expected, strlen(expected));
}

/* Whether the module for the broker is there or not. */
TEST(a_broker_is_no_store)
{
    static const char *const urls[] = {"amqp://u:secret@host/", "amqps://host/vhost"};
    pawl_store              *store  = NULL;
    for (size_t i = 0; i < COUNT(urls); i++) {
        char expected[200];
        snprintf(
            expected, sizeof expected,
            "'%.*s://' is not a store: RabbitMQ is a transport, for a route (--route) or a queue that an "
            "endpoint reads (--transport)",
            (int)strcspn(urls[i], ":"), urls[i]);
        must_fail(pawl_store_open(urls[i], NULL, &store, world_error()), PAWL_EINVAL, expected);
        assert_null(store);
    }
    assert_int_equal(pawl_store_open("amq://host/", NULL, &store, world_error()),
                     PAWL_EUNREACHABLE);
    assert_int_equal(pawl_store_open("amqpt://host/", NULL, &store, world_error()),
                     PAWL_EUNREACHABLE);
    assert_int_equal(pawl_store_open("stomp://host/", NULL, &store, world_error()),
                     PAWL_EUNREACHABLE);
}

TEST_BETWEEN(a_failed_open_is_closed, reset_fake, NULL)
{
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *store = NULL;
    assert_int_equal(pawl_store_open("fake:closed", NULL, &store, &error), PAWL_EUNREACHABLE);
    assert_null(store);
    assert_string_equal(error.text, "it is closed");
    assert_int_equal(fake.open_count, 1);
    assert_int_equal(fake.close_count, 1);
    pawl_store_close(NULL);
}

TEST_BETWEEN(options_have_defaults_and_limits, reset_fake, NULL)
{
    pawl_store        *store   = test_open("fake:");
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    assert_string_equal(fake.prefix, "pawl_");
    assert_int_equal(fake.deadline, PAWL_SECONDS(30));
    assert_false(pawl_uuid_is_zero(store->worker.uuid));
    pawl_store *other = test_open("fake:");
    assert_int_not_equal(pawl_uuid_compare(store->worker.uuid, other->worker.uuid), 0);
    test_now(other);
    test_now(store);

    options.options_size = 3;
    assert_int_equal(pawl_store_open("fake:", &options, &store, world_error()), PAWL_EINVAL);
    options          = (pawl_store_options)PAWL_STORE_OPTIONS_INIT;
    options.deadline = -1;
    assert_int_equal(pawl_store_open("fake:", &options, &store, world_error()), PAWL_EINVAL);
    options               = (pawl_store_options)PAWL_STORE_OPTIONS_INIT;
    options.system_prefix = "p\"; drop";
    assert_int_equal(pawl_store_open("fake:", &options, &store, world_error()), PAWL_ECONFIG);
    options.system_prefix = "a_prefix_that_has_more_than_forty_bytes__";
    must_fail(pawl_store_open("fake:", &options, &store, world_error()), PAWL_ECONFIG,
              "system prefix: it has 41 bytes, limit 40");
    options.system_prefix = "other_";
    must(pawl_store_open("fake:", &options, &store, world_error()));
    test_store(store);
    assert_string_equal(fake.prefix, "other_");
}

static void keep_line(pawl_text line, void *context)
{
    memcpy(context, line.data, line.size);
}

TEST_BETWEEN(printing_a_schema_needs_no_connection, reset_fake, NULL)
{
    char line[20] = "";
    must(pawl_store_schema("fake:", PAWL_SCHEMA_PRINT, NULL, keep_line, line, world_error()));
    assert_string_equal(line, "pawl_");
    assert_int_equal(fake.open_count, 0);
    assert_int_equal(fake.close_count, 0);
    must(pawl_store_schema("fake:", PAWL_SCHEMA_APPLY, NULL, keep_line, line, world_error()));
    assert_int_equal(fake.open_count, 1);
    assert_int_equal(fake.close_count, 1);
}

static const pawl_message some_message = {.id   = PAWL_TEXT_INIT("m-1"),
                                          .type = PAWL_TEXT_INIT("place_order"),
                                          .body = PAWL_TEXT_INIT("{}")};

/* ---- Commit around a driver --------------------------------------------- */

TEST_BETWEEN(commit_attaches_a_worker_once_and_counts, reset_fake, NULL)
{
    pawl_store   *store   = test_open("fake:");
    pawl_changes  changes = {0};
    pawl_refusals refused = {.arena = pawl_arena_create(0)};
    assert_int_equal(pawl_store_commit(store, &changes, &refused, NULL), PAWL_OK);
    assert_int_equal(pawl_store_commit(store, &changes, &refused, NULL), PAWL_OK);
    assert_int_equal(fake.worker_count, 1);
    assert_int_equal(fake.commit_count, 2);
    assert_int_not_equal(pawl_uuid_compare(fake.commit_id, fake.earlier_id), 0);
    assert_false(pawl_uuid_is_zero(fake.earlier_id));

    changes.unit_count = 5000;
    assert_int_equal(pawl_store_commit(store, &changes, &refused, NULL), PAWL_ELIMIT);
    assert_int_equal(fake.commit_count, 2);
    pawl_arena_destroy(refused.arena);
}

TEST_BETWEEN(an_unknown_outcome_is_asked_for, reset_fake, NULL)
{
    pawl_store   *store   = test_open("fake:");
    pawl_changes  changes = {0};
    pawl_refusals refused = {.arena = pawl_arena_create(0)};
    pawl_error    error   = PAWL_ERROR_INIT;
    fake.commit_code      = PAWL_EUNKNOWN;
    fake.is_applied       = true;
    must(pawl_store_commit(store, &changes, &refused, world_error()));
    fake.is_applied = false;
    assert_int_equal(pawl_store_commit(store, &changes, &refused, &error), PAWL_ELOST);
    assert_int_equal(error.code, PAWL_ELOST);
    assert_string_equal(error.text, "commit: nothing was applied: the line went dead");
    fake.resolve_code = PAWL_EUNREACHABLE;
    must_fail_with(pawl_store_commit(store, &changes, &refused, world_error()), PAWL_EUNKNOWN,
                   "still no line");
    assert_int_equal(fake.resolve_count, 3);

    fake.commit_code = PAWL_EBUSY;
    assert_int_equal(pawl_store_commit(store, &changes, &refused, &error), PAWL_EBUSY);
    assert_int_equal(fake.resolve_count, 3);
    pawl_arena_destroy(refused.arena);
}

TEST_BETWEEN(without_a_list_the_refusal_is_the_answer, reset_fake, NULL)
{
    pawl_store       *store   = test_open("fake:");
    pawl_queue_settle settle  = {.queue = PAWL_TEXT("orders"), .seq = 9};
    pawl_changes      changes = {ONE_UNIT, .queue_settle = {&settle, 1}};
    must_fail(pawl_store_commit(store, &changes, NULL, world_error()), PAWL_EGONE, "it is gone");
    changes.queue_settle.count = 0;
    must(pawl_store_commit(store, &changes, NULL, world_error()));
}

TEST_BETWEEN(a_handle_is_refused_after_fork, reset_fake, NULL)
{
    pawl_store  *store   = test_open("fake:");
    pawl_changes changes = {0};
    pid_t        child   = fork();
    assert_int_not_equal(child, -1);
    if (child == 0) {
        pawl_error error = PAWL_ERROR_INIT;
        pawl_code  code  = pawl_store_commit(store, &changes, NULL, &error);
        _exit(code == PAWL_EINVAL && fake.commit_count == 0 &&
                      strstr(error.text, "fork first") != NULL
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
}

/* ---- Wake-up ------------------------------------------------------------ */

/* How often the descriptor was written to since the last call. */
static uint64_t wakes_of(int fd)
{
    uint64_t count = 0;
    return read(fd, &count, sizeof count) == (ssize_t)sizeof count ? count : 0;
}

TEST_BETWEEN(events_wake_who_reads_the_event_store, reset_fake, NULL)
{
    int worker = eventfd(0, EFD_NONBLOCK), reader = eventfd(0, EFD_NONBLOCK);
    int both = eventfd(0, EFD_NONBLOCK);
    assert_int_equal(pawl__wake_add("fake:data", worker, NULL), PAWL_OK);
    assert_int_equal(pawl__wake_add_reader("fake:data", reader, NULL), PAWL_OK);
    assert_int_equal(pawl__wake_add_reader("fake:data", reader, NULL), PAWL_OK);
    assert_int_equal(pawl__wake_add("fake:data", both, NULL), PAWL_OK);
    assert_int_equal(pawl__wake_add_reader("fake:data", both, NULL), PAWL_OK);

    pawl_store       *store   = test_open("fake:");
    pawl_queue_send   send    = {.queue = PAWL_TEXT("orders"), .message = some_message};
    pawl_event_append event   = {.stream   = PAWL_TEXT("A/1"),
                                 .version  = 1,
                                 .is_first = true,
                                 .event    = {.type = PAWL_TEXT("t"), .type_version = 1}};
    pawl_changes      changes = {ONE_UNIT, .event_append = {.items = &event, .count = 1}};
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    assert_int_equal(wakes_of(worker), 0);
    assert_int_equal(wakes_of(reader), 1);
    assert_int_equal(wakes_of(both), 1);

    changes.queue_send.items = &send;
    changes.queue_send.count = 1;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    assert_int_equal(wakes_of(worker), 1);
    assert_int_equal(wakes_of(reader), 1);
    assert_int_equal(wakes_of(both), 2);

    pawl__wake_remove(both);
    changes.queue_send.count = 0;
    fake.commit_code         = PAWL_EBUSY;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_EBUSY);
    assert_int_equal(wakes_of(reader), 0);
    fake.commit_code = PAWL_OK;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    assert_int_equal(wakes_of(reader), 1);
    assert_int_equal(wakes_of(both), 0);
    test_now(store);
    pawl__wake_remove(reader);
    pawl__wake_remove(worker);
    close(reader);
    close(worker);
    close(both);
}

static bool wakes(pawl_store *store, int fd, pawl_changes changes)
{
    changes.unit_count = changes.group_count = 1;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    return wakes_of(fd) == 1;
}

#define WAKES(store, fd, kind, ...) \
    wakes(store, fd, (pawl_changes){.kind = {&(pawl_##kind){__VA_ARGS__}, 1}})

/* A claim or a lease that is given back is for others to take. */
TEST_BETWEEN(what_is_given_back_wakes, reset_fake, NULL)
{
    int         here  = eventfd(0, EFD_NONBLOCK);
    pawl_store *store = test_open("fake:");
    pawl_text   name  = PAWL_TEXT("Bills");
    assert_int_equal(pawl__wake_add("fake:data", here, NULL), PAWL_OK);
    assert_false(WAKES(store, here, timeout_settle, .action = PAWL_TIMEOUT_REMOVE));
    assert_true(WAKES(store, here, timeout_settle, .action = PAWL_TIMEOUT_RELEASE));
    assert_true(WAKES(store, here, timeout_settle, .action = PAWL_TIMEOUT_RETRY));
    assert_true(WAKES(store, here, leased_batch_release, .partition = name));
    assert_true(WAKES(store, here, flush_set, .partition = name));
    assert_false(WAKES(store, here, flush_set, .partition = name, .is_done = true));
    assert_false(WAKES(store, here, flush_set, .partition = name, .is_dead = true));
    assert_true(WAKES(store, here, outbox_block, .source = name, .is_unblock = true));
    assert_false(WAKES(store, here, outbox_block, .source = name));
    pawl__wake_remove(here);
    test_now(store);
    close(here);
}

TEST_BETWEEN(commits_wake_who_waits_on_the_store, reset_fake, NULL)
{
    int here = eventfd(0, EFD_NONBLOCK), elsewhere = eventfd(0, EFD_NONBLOCK);
    assert_int_equal(pawl__wake_add("fake:data", here, NULL), PAWL_OK);
    assert_int_equal(pawl__wake_add("fake:data", here, NULL), PAWL_OK);
    assert_int_equal(pawl__wake_add("fake:other", elsewhere, NULL), PAWL_OK);

    pawl_store      *store   = test_open("fake:");
    pawl_queue_send  send    = {.queue = PAWL_TEXT("orders"), .message = some_message};
    pawl_inbox_entry mark    = {.endpoint = PAWL_TEXT("e"), .message_id = PAWL_TEXT("m")};
    pawl_changes     changes = {ONE_UNIT, .queue_send = {.items = &send, .count = 1}};
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    assert_int_equal(wakes_of(here), 1);
    assert_int_equal(wakes_of(elsewhere), 0);

    fake.commit_code = PAWL_EBUSY;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_EBUSY);
    assert_int_equal(wakes_of(here), 0);

    fake.commit_code          = PAWL_OK;
    changes.queue_send.count  = 0;
    changes.inbox_entry.items = &mark;
    changes.inbox_entry.count = 1;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    assert_int_equal(wakes_of(here), 0);

    pawl_outbox_reset reset    = {.id = 1}; /* an operator made a dead row due again */
    changes.outbox_reset.items = &reset;
    changes.outbox_reset.count = 1;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    assert_int_equal(wakes_of(here), 1);
    changes.outbox_reset.count = 0;

    pawl__wake_remove(here);
    changes.queue_send.count = 1;
    assert_int_equal(pawl_store_commit(store, &changes, NULL, NULL), PAWL_OK);
    assert_int_equal(wakes_of(here), 0);
    pawl__wake_all("fake:other");
    assert_int_equal(wakes_of(elsewhere), 1);
    pawl__wake_remove(elsewhere);
    test_now(store);
    close(here);
    close(elsewhere);
}

const pawl_store_ops *const tests_drivers[] = {&fake_driver, NULL};
