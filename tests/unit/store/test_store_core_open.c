/* test_store_core_open.c - opening around a driver: the range of each option and what the
 * driver is handed; schemas; what is taken as a driver, and how many; who waits for commits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/minimal.h"

#include "pawl/pawl.h"
#include "store/core/wait.h"

#include <sys/eventfd.h>
#include <unistd.h>

/* ---- A driver that keeps what it is handed ------------------------------ */

static struct {
    pawl_code          open_code, schema_code;
    unsigned           open_count, close_count, schema_count;
    pawl_store_options options;
    pawl_store         store; /* as it was at open */
    char               url[60], prefix[60], spec_prefix[60];
    pawl_schema_verb   verb;
    pawl_schema_spec   spec;
} fake;

static pawl_code fake_open(pawl_store *store, const char *url, const pawl_store_options *options,
                           pawl_error *error)
{
    fake.open_count++;
    fake.options = *options;
    fake.store   = *store;
    snprintf(fake.url, sizeof fake.url, "%s", url);
    snprintf(fake.prefix, sizeof fake.prefix, "%s", store->system_prefix);
    return minimal_answer(fake.open_code, error);
}

static void fake_close(pawl_store *store)
{
    fake.close_count++;
}

static pawl_code fake_schema(pawl_store *store, pawl_schema_verb verb, const pawl_schema_spec *spec,
                             pawl_line_fn *line, void *context, pawl_error *error)
{
    fake.schema_count++;
    fake.verb  = verb;
    fake.spec  = *spec;
    fake.store = *store;
    snprintf(fake.spec_prefix, sizeof fake.spec_prefix, "%s", spec->system_prefix);
    snprintf(fake.prefix, sizeof fake.prefix, "%s", store->system_prefix);
    line(PAWL_TEXT("a line"), context);
    return minimal_answer(fake.schema_code, error);
}

static pawl_code fake_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    return PAWL_OK;
}

#define FAKE                                                                               \
    .ops_size = sizeof(pawl_store_ops), .abi = PAWL_ABI, .store_size = sizeof(pawl_store), \
    .open = fake_open, .close = fake_close, .schema = fake_schema,                         \
    .worker_open = minimal_worker_open, .worker_close = minimal_worker_close,              \
    .commit = fake_commit, .resolve = minimal_resolve

static const pawl_store_ops fake_driver = {FAKE, .scheme = "kept"};

static int reset(void **state)
{
    memset(&fake, 0, sizeof fake);
    return 0;
}

static const pawl_saga_table        table    = {.type = PAWL_TEXT_INIT("Order")};
static const pawl_saga_table *const tables[] = {&table, &table};

/* ---- The program ---------------------------------------------------------- */

static void expect_kept(pawl_text given, pawl_text expected)
{
    pawl_store *store = NULL;
    assert_int_equal(pawl_store_open("kept:x", NULL, &store, NULL), PAWL_OK);
    const pawl_worker_info *about = pawl_store_program(store);
    pawl_store_program_set(store, PAWL_TEXT("another"), given);
    assert_string_equal(about->program.data, "another");
    assert_string_equal(about->program_version.data, expected.data);
    assert_int_equal(about->program_version.size, expected.size);
    pawl_store_program_set(store, given, PAWL_TEXT(""));
    assert_string_equal(about->program.data, expected.data);
    assert_int_equal(about->program_version.size, 0);
    pawl_store_close(store);
}

TESTS(a_program_is_kept_as_a_name_that_every_store_takes, void **state,
      cmocka_unit_test_setup(a_program_is_kept_as_a_name_that_every_store_takes, reset))
{
    char      name[PAWL_NAME_SIZE_MAX + 1], expected[PAWL_NAME_SIZE_MAX + 1];
    pawl_text whole = {.data = name, .size = PAWL_NAME_SIZE_MAX};
    expect_kept(PAWL_TEXT("2.4.1"), PAWL_TEXT("2.4.1"));
    expect_kept((pawl_text){.size = 0}, PAWL_TEXT(""));
    expect_kept((pawl_text){.data = "a\nb\xFF\0c", .size = 6}, PAWL_TEXT("a b??c"));

    for (size_t i = 0; i < sizeof name; i++)
        name[i] = "\xC3\xA9"[i % 2]; /* the last byte begins a character */
    memcpy(expected, name, PAWL_NAME_SIZE_MAX);
    expected[PAWL_NAME_SIZE_MAX] = '\0';
    expect_kept(whole, pawl_text_of(expected));
    /* 196 bytes and the dots: the next character would not fit. */
    memcpy(expected + 196, "...", 4);
    expect_kept((pawl_text){.data = name, .size = sizeof name}, pawl_text_of(expected));
}

TESTS(a_handle_knows_its_host_and_its_pawl, void **state,
      cmocka_unit_test_setup(a_handle_knows_its_host_and_its_pawl, reset))
{
    char        host[300] = "";
    pawl_store *store     = NULL;
    assert_int_equal(gethostname(host, sizeof host), 0);
    assert_int_equal(pawl_store_open("kept:x", NULL, &store, NULL), PAWL_OK);
    const pawl_worker_info *about = pawl_store_program(store);
    assert_string_equal(about->host.data, host);
    assert_string_equal(about->pawl_version.data, pawl_version());
    assert_int_equal(about->program.size, 0);
    assert_int_equal(about->program_version.size, 0);
    pawl_store_close(store);
}

/* ---- Options ------------------------------------------------------------ */

static void opens(const pawl_store_options *options)
{
    pawl_store *store = NULL;
    must(pawl_store_open("kept:x", options, &store, world_error()));
    assert_non_null(store);
    pawl_store_close(store);
}

static void is_refused(const pawl_store_options *options, pawl_code code, const char *text)
{
    pawl_store *store = (pawl_store *)&fake;
    fake.open_count   = 0;
    must_fail(pawl_store_open("kept:x", options, &store, world_error()), code, text);
    assert_null(store);
    assert_int_equal(fake.open_count, 0);
}

TEST_BETWEEN(the_driver_is_handed_what_was_given, reset, NULL)
{
    char               prefix[] = "shop_";
    pawl_store_options options  = PAWL_STORE_OPTIONS_INIT;
    pawl_store        *store    = NULL;
    options.mode                = PAWL_OPEN_EXISTING;
    options.system_prefix       = prefix;
    options.deadline            = 1233001; /* drivers get it rounded up */
    options.tables              = tables;
    options.table_count         = 2;
    assert_int_equal(pawl_store_open("kept:x", &options, &store, NULL), PAWL_OK);
    assert_string_equal(fake.url, "kept:x");
    assert_string_equal(fake.prefix, "shop_");
    assert_string_equal(fake.options.system_prefix, "shop_");
    assert_int_equal(fake.options.mode, PAWL_OPEN_EXISTING);
    assert_int_equal(fake.options.deadline, 1233001);
    assert_ptr_equal(fake.options.tables, tables);
    assert_int_equal(fake.options.table_count, 2);
    assert_int_equal(fake.store.mode, PAWL_OPEN_EXISTING);
    assert_int_equal(fake.store.deadline_ms, 1234);
    assert_ptr_equal(fake.store.ops, &fake_driver);
    assert_false(pawl_uuid_is_zero(fake.store.worker.uuid));
    assert_int_equal(fake.store.epoch + (int64_t)fake.store.commit_count, 0);
    memset(prefix, 'x', sizeof prefix - 1); /* was only lent */
    assert_string_equal(store->system_prefix, "shop_");
    pawl_store_close(store);
    assert_int_equal(fake.close_count, 1);
}

TEST_BETWEEN(options_that_are_absent_have_defaults, reset, NULL)
{
    const pawl_store_options none = PAWL_STORE_OPTIONS_INIT;
    for (int i = 0; i < 2; i++) {
        reset(NULL);
        opens(i == 0 ? NULL : &none);
        assert_string_equal(fake.prefix, "pawl_");
        assert_string_equal(fake.options.system_prefix, "pawl_");
        assert_int_equal(fake.options.options_size, sizeof(pawl_store_options));
        assert_int_equal(fake.options.mode, PAWL_OPEN_CREATE);
        assert_int_equal(fake.options.deadline, PAWL_SECONDS(30));
        assert_int_equal(fake.store.deadline_ms, 30000);
        assert_int_equal(fake.options.table_count, 0);
    }
}

/* A program built with an older pawl has shorter options. Longer ones are of a newer pawl, and refused. */
TEST_BETWEEN(options_of_another_version_are_read_to_their_end, reset, NULL)
{
    static const size_t wrong[] = {0, sizeof(size_t) - 1, sizeof(pawl_store_options) + 1, SIZE_MAX};
    pawl_store_options  given   = PAWL_STORE_OPTIONS_INIT;
    given.mode                  = PAWL_OPEN_CHECK;
    given.deadline              = -7; /* behind the end of an older one */
    given.options_size          = offsetof(pawl_store_options, deadline);
    given.system_prefix         = "older_";
    opens(&given);
    assert_int_equal(fake.options.mode, PAWL_OPEN_CHECK);
    assert_int_equal(fake.options.deadline, PAWL_SECONDS(30));
    assert_string_equal(fake.prefix, "older_");
    given.options_size = sizeof(size_t);
    opens(&given);
    assert_int_equal(fake.options.mode, PAWL_OPEN_CREATE);
    assert_string_equal(fake.prefix, "pawl_");
    assert_int_equal(fake.options.options_size, sizeof(pawl_store_options));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const char *text =
            test_text("options of a store: their size is %zu bytes, the limit is %zu; begin with "
                      "PAWL_STORE_OPTIONS_INIT",
                      wrong[i], sizeof given);
        given.options_size = wrong[i];
        is_refused(&given, PAWL_EINVAL, text);
    }
}

TEST_BETWEEN(every_option_has_its_range, reset, NULL)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    for (int mode = PAWL_OPEN_CREATE; mode <= PAWL_OPEN_SCHEMA; mode++) {
        options.mode = (pawl_open_mode)mode;
        opens(&options);
        assert_int_equal(fake.options.mode, mode);
    }
    options.mode = (pawl_open_mode)(PAWL_OPEN_SCHEMA + 1);
    is_refused(&options, PAWL_EINVAL, "options of a store: mode 4 is unknown");
    options.mode = (pawl_open_mode)-1;
    is_refused(&options, PAWL_EINVAL, "options of a store: mode -1 is unknown");
    options.mode     = PAWL_OPEN_CREATE;
    options.deadline = 1;
    opens(&options);
    assert_int_equal(fake.options.deadline, 1);
    options.deadline = -1;
    is_refused(&options, PAWL_EINVAL, "options of a store: deadline is -1, at least 0 is needed");
}

TEST_BETWEEN(a_prefix_holds_letters_digits_and_underscores, reset, NULL)
{
    char               prefix[] = "p?x", text[120];
    pawl_store_options options  = PAWL_STORE_OPTIONS_INIT;
    options.system_prefix       = prefix;
    for (int c = 1; c < 256; c++) {
        prefix[1] = (char)c;
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_')
            opens(&options);
        else {
            snprintf(text, sizeof text,
                     "system prefix '%s': it may hold letters, digits and '_' only", prefix);
            is_refused(&options, PAWL_ECONFIG, text);
        }
    }
    options.system_prefix = "";
    opens(&options);
    assert_string_equal(fake.prefix, "");
    options.system_prefix = "forty_bytes_are_the_most_that_there_may_"; /* 40 */
    opens(&options);
    assert_string_equal(fake.prefix, options.system_prefix);
    options.system_prefix = "forty_bytes_are_the_most_that_there_may_1";
    is_refused(&options, PAWL_ECONFIG, "system prefix: it has 41 bytes, limit 40");
}

TEST_BETWEEN(a_url_has_2000_bytes_at_most, reset, NULL)
{
    char        url[2002] = "kept:";
    pawl_store *store     = NULL;
    memset(url + 5, 'x', 1995);
    must(pawl_store_open(url, NULL, &store, world_error()));
    pawl_store_close(store);
    url[2000] = 'x';
    must_fail(pawl_store_open(url, NULL, &store, world_error()), PAWL_ELIMIT,
              "URL of a store: it has 2001 bytes, limit 2000");
    assert_int_equal(fake.open_count, 1);
    assert_int_equal(pawl_store_schema(url, PAWL_SCHEMA_PRINT, NULL, NULL, NULL, world_error()),
                     PAWL_ELIMIT);
}

TEST_BETWEEN(no_two_handles_have_the_same_worker, reset, NULL)
{
    enum { HANDLES = 8 };
    pawl_worker_id ids[HANDLES];
    for (size_t i = 0; i < HANDLES; i++) {
        opens(NULL);
        ids[i] = fake.store.worker;
        assert_int_equal(ids[i].uuid.bytes[6] >> 4, 4); /* drawn at random */
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(pawl_uuid_compare(ids[i].uuid, ids[j].uuid), 0);
    }
}

/* ---- Schemas ------------------------------------------------------------ */

static void keep_line(pawl_text line, void *context)
{
    assert_true(pawl_text_equal(line, PAWL_TEXT("a line")));
    ++*(int *)context;
}

TEST_BETWEEN(a_schema_is_asked_for_by_its_spec, reset, NULL)
{
    char                   prefix[] = "shop_";
    const pawl_schema_spec spec     = {.system_prefix = prefix,
                                       .tables        = tables,
                                       .table_count   = 2,
                                       .deadline      = PAWL_MILLISECONDS(77)};
    for (int verb = PAWL_SCHEMA_PRINT; verb <= PAWL_SCHEMA_PLAN; verb++)
        for (int i = 0; i < 2; i++) {
            int lines = 0;
            reset(NULL);
            must(pawl_store_schema("kept:y", (pawl_schema_verb)verb, i == 0 ? &spec : NULL,
                                   keep_line, &lines, world_error()));
            assert_int_equal(lines, 1);
            assert_int_equal(fake.schema_count, 1);
            assert_int_equal(fake.verb, verb);
            assert_int_equal(fake.open_count, verb != PAWL_SCHEMA_PRINT);
            assert_int_equal(fake.close_count, verb != PAWL_SCHEMA_PRINT);
            assert_int_equal(fake.store.mode, PAWL_OPEN_SCHEMA);
            assert_int_equal(fake.store.deadline_ms, i == 0 ? 77 : 30000);
            assert_string_equal(fake.spec_prefix, i == 0 ? "shop_" : "pawl_");
            assert_string_equal(fake.prefix, i == 0 ? "shop_" : "pawl_");
            assert_ptr_equal(fake.spec.tables, i == 0 ? tables : NULL);
            assert_int_equal(fake.spec.table_count, i == 0 ? 2 : 0);
            if (verb != PAWL_SCHEMA_PRINT) {
                assert_int_equal(fake.options.mode, PAWL_OPEN_SCHEMA);
                assert_ptr_equal(fake.options.tables, i == 0 ? tables : NULL);
                assert_int_equal(fake.options.table_count, i == 0 ? 2 : 0);
            }
        }
}

TEST_BETWEEN(a_schema_that_fails_is_closed_as_well, reset, NULL)
{
    int lines      = 0;
    fake.open_code = PAWL_EUNREACHABLE;
    assert_int_equal(pawl_store_schema("kept:", PAWL_SCHEMA_APPLY, NULL, keep_line, &lines, NULL),
                     PAWL_EUNREACHABLE);
    assert_int_equal(fake.schema_count, 0);
    assert_int_equal(fake.close_count, 1);
    reset(NULL);
    fake.schema_code = PAWL_ESCHEMA;
    assert_int_equal(pawl_store_schema("kept:", PAWL_SCHEMA_VERIFY, NULL, keep_line, &lines, NULL),
                     PAWL_ESCHEMA);
    assert_int_equal(fake.close_count, 1);
}

TEST_BETWEEN(what_no_schema_can_be_reaches_no_driver, reset, NULL)
{
    int                    lines = 0;
    const pawl_schema_spec quote = {.system_prefix = "a'b"}, late = {.deadline = -1};
    assert_int_equal(
        pawl_store_schema("kept:", PAWL_SCHEMA_APPLY, &quote, keep_line, &lines, world_error()),
        PAWL_ECONFIG);
    assert_int_equal(
        pawl_store_schema("kept:", PAWL_SCHEMA_APPLY, &late, keep_line, &lines, world_error()),
        PAWL_EINVAL);
    static const int verbs[] = {-1, PAWL_SCHEMA_PLAN + 1};
    for (size_t i = 0; i < COUNT(verbs); i++) {
        must_fail(pawl_store_schema("kept:", (pawl_schema_verb)verbs[i], NULL, keep_line, &lines,
                                    world_error()),
                  PAWL_EINVAL, test_text("schema of a store: verb %d is unknown", verbs[i]));
    }
    assert_int_equal(fake.open_count + fake.schema_count, 0);
}

/* ---- Drivers ------------------------------------------------------------ */

static void is_no_driver(const pawl_store_ops *ops, const char *text)
{
    must_fail(pawl_store_register(ops, world_error()), PAWL_ECONFIG, text);
}

TEST(what_a_driver_cannot_be_without)
{
    pawl_store_ops bad[7];
    for (size_t i = 0; i < COUNT(bad); i++) {
        bad[i]        = fake_driver;
        bad[i].scheme = "never";
    }
    bad[0].open         = NULL;
    bad[1].close        = NULL;
    bad[2].schema       = NULL;
    bad[3].worker_open  = NULL;
    bad[4].worker_close = NULL;
    bad[5].commit       = NULL;
    bad[6].resolve      = NULL;
    for (size_t i = 0; i < COUNT(bad); i++)
        is_no_driver(&bad[i], "driver 'never': open, close, schema, worker_open, worker_close, "
                              "commit and resolve may not be absent");
}

TEST(a_driver_of_another_abi_is_refused)
{
    pawl_store_ops bad = fake_driver;
    bad.scheme         = "never";
    bad.abi            = PAWL_ABI - 1;
    is_no_driver(&bad, test_text("the driver was built for ABI %d of pawl, this library has ABI %d",
                                 PAWL_ABI - 1, PAWL_ABI));
}

TEST(a_drivers_sizes_have_limits)
{
    pawl_store_ops bad = fake_driver;
    bad.scheme         = "never";
    bad.ops_size       = offsetof(pawl_store_ops, queue_claim) - 1;
    is_no_driver(
        &bad,
        test_text(
            "the driver was built for another pawl: its table has %zu bytes, at least %zu are "
            "needed",
            bad.ops_size, bad.ops_size + 1));
    bad.ops_size = offsetof(pawl_store_ops, queue_claim) + 1;
    is_no_driver(&bad, test_text("the driver's table has %zu bytes, which end within an entry",
                                 bad.ops_size));
    bad            = fake_driver;
    bad.scheme     = "never";
    bad.store_size = sizeof(pawl_store) - 1;
    is_no_driver(&bad, test_text("driver 'never': its store has %zu bytes, at least %zu are needed",
                                 sizeof(pawl_store) - 1, sizeof(pawl_store)));
    static pawl_store_ops newer; /* of a pawl that has appended an entry */
    newer          = fake_driver;
    newer.scheme   = "newer";
    newer.ops_size = sizeof newer + sizeof(void *);
    assert_int_equal(pawl_store_register(&newer, NULL), PAWL_OK);
}

TEST(a_drivers_scheme_is_one_of_a_url)
{
    static const char *const schemes[] = {
        "",    "1x",  "X",  "aB", "a_b",
        "a.b", "a b", "a:", "-a", "forty-bytes-are-one-more-than-it-may-has"};
    pawl_store_ops bad = fake_driver;
    for (size_t i = 0; i < COUNT(schemes); i++) {
        bad.scheme = schemes[i];
        is_no_driver(&bad, test_text("'%s' is not the scheme of a URL", schemes[i]));
    }
    bad.scheme = NULL;
    is_no_driver(&bad, "'' is not the scheme of a URL");
}

/* A driver is found by its whole scheme, however much others look like it. The last test: it
 * fills the list. */
TEST_BETWEEN(there_are_32_drivers_at_most, reset, NULL)
{
    static pawl_store_ops many[40];
    static char           schemes[40][16];
    pawl_error            error = PAWL_ERROR_INIT;
    size_t                count = 0;
    for (; count < COUNT(many); count++) {
        snprintf(schemes[count], sizeof schemes[count], "kept%zu", count);
        many[count]        = fake_driver;
        many[count].scheme = schemes[count];
        if (pawl_store_register(&many[count], &error) != PAWL_OK)
            break;
    }
    assert_int_equal(error.code, PAWL_ELIMIT);
    assert_string_equal(error.text, "driver 'kept29': there are 32 drivers, limit 32");
    assert_int_equal(count + 3, 32); /* with memory, kept and newer */
    for (size_t i = 0; i < count; i++) {
        pawl_store *store = NULL;
        assert_int_equal(pawl_store_open(test_text("kept%zu:", i), NULL, &store, &error), PAWL_OK);
        assert_ptr_equal(fake.store.ops, &many[i]);
        pawl_store_close(store);
        assert_int_equal(pawl_store_register(&many[i], NULL), PAWL_EDUPLICATE);
    }
    pawl_store *store = NULL;
    assert_int_equal(pawl_store_open("kep:", NULL, &store, &error), PAWL_EUNREACHABLE);
}

/* ---- Who waits ---------------------------------------------------------- */

static uint64_t wakes_of(int fd)
{
    uint64_t count = 0;
    return read(fd, &count, sizeof count) == (ssize_t)sizeof count ? count : 0;
}

/* Each of many waits for two stores, the odd ones for the event stores. */
TEST(many_wait)
{
    enum { MANY = 70 };
    int fds[MANY];
    for (int round = 0; round < 2; round++) { /* the list is empty in between */
        for (int i = 0; i < MANY; i++) {
            fds[i] = eventfd(0, EFD_NONBLOCK);
            for (int twice = 0; twice < 2; twice++)
                for (int store = 0; store < 2; store++)
                    assert_int_equal((i % 2 == 0 ? pawl__wake_add : pawl__wake_add_reader)(
                                         store == 0 ? "a" : "ab", fds[i], NULL),
                                     PAWL_OK);
        }
        for (int i = 0; i < MANY; i += 3)
            pawl__wake_remove(fds[i]);
        pawl__wake_all("a");
        pawl__wake_all("ab");
        pawl__wake_readers("ab");
        pawl__wake_readers("b");
        pawl__wake_all("");
        for (int i = 0; i < MANY; i++) {
            assert_int_equal(wakes_of(fds[i]), i % 3 == 0 ? 0 : i % 2 == 0 ? 2 : 1);
            pawl__wake_remove(fds[i]);
            close(fds[i]);
        }
    }
}

TEST(a_stores_identity_has_199_bytes_at_most)
{
    char identity[201];
    int  fd = eventfd(0, EFD_NONBLOCK);
    memset(identity, 'i', sizeof identity);
    identity[200] = '\0';
    for (int i = 0; i < 2; i++) { /* a refused open keeps no lock */
        must_fail(pawl__wake_add(identity, fd, world_error()), PAWL_ELIMIT,
                  "identity of a store: it has 200 bytes, limit 199");
    }
    identity[199] = '\0';
    must(pawl__wake_add(identity, fd, world_error()));
    pawl__wake_all(identity);
    assert_int_equal(wakes_of(fd), 1);
    pawl__wake_remove(fd);
    close(fd);
}

const pawl_store_ops *const tests_drivers[] = {&fake_driver, NULL};
