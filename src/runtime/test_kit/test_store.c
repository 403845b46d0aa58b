/* test_store.c - creates the store of a test, checks that it is empty, and drops it in the end.
 *
 *     [drop] -> apply -> open -> is it empty? -> the test -> drop
 *
 * Each test starts its ids and clocks from the beginning. With deduplication records of an earlier run, its messages
 * would count as handled. So a store that is not empty is refused, which also protects a store that is in use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/test_kit/test_kit.h"

#include "store/core/core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Its URL ------------------------------------------------------------------- */

static pawl_code no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "no memory for the store of a test");
}

static pawl_code name_memory(pawl_test *test, pawl_error *error)
{
    static atomic_uint count;
    test->url =
        pawl_arena_printf(test->arena, "memory:pawl-test-%u", atomic_fetch_add(&count, 1)).data;
    return test->url != NULL ? PAWL_OK : no_memory(error);
}

/* Makes a file without syncs, as quick as memory: nothing of it has to survive a power cut. */
static pawl_code make_file(pawl_test *test, pawl_error *error)
{
    const char *folder = getenv("TMPDIR");
    folder             = folder != NULL && folder[0] != '\0' ? folder : "/tmp";
    pawl_text name     = pawl_arena_printf(test->arena, "%s/pawl-test-XXXXXX", folder);
    char *path = name.data != NULL ? pawl_arena_copy(test->arena, name.data, name.size + 1) : NULL;
    if (path == NULL)
        return no_memory(error);
    if (mkdtemp(path) == NULL)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "no folder for a file of a test in %s: %s",
                              folder, strerror(errno));
    test->folder = path;
    test->url    = pawl_arena_printf(test->arena, "sqlite:%s/store.db?synchronous=off", path).data;
    return test->url != NULL ? PAWL_OK : no_memory(error);
}

/* Names the file of an SQLite store: the part of the URL between the scheme and the settings. */
static pawl_code name_file(pawl_test *test, pawl_error *error)
{
    static const char scheme[] = "sqlite:";
    if (strncmp(test->url, scheme, strlen(scheme)) != 0)
        return PAWL_OK;
    const char *path = test->url + strlen(scheme);
    pawl_text   file = {.data = path, .size = strcspn(path, "?")};
    test->file       = pawl_arena_text(test->arena, file).data;
    return test->file != NULL ? PAWL_OK : no_memory(error);
}

const char *pawl_test_file(const pawl_test *test)
{
    return test->file;
}

/* ---- Its tables ------------------------------------------------------------------ */

static pawl_code find_tables(pawl_test *test, const pawl_application *application,
                             pawl_error *error)
{
    pawl_code code =
        pawl_upgrade_create(application, test->settings.saga_prefix, &test->models, error);
    if (code == PAWL_OK)
        test->tables = pawl_upgrade_tables(test->models, &test->table_count);
    return code;
}

static pawl_code run_schema(const pawl_test *test, pawl_schema_verb verb, pawl_error *error)
{
    const pawl_schema_spec spec = {.system_prefix = test->settings.system_prefix,
                                   .tables        = test->tables,
                                   .table_count   = test->table_count,
                                   .deadline      = test->settings.deadline};
    return pawl_store_schema(test->url, verb, &spec, NULL, NULL, error);
}

/* ---- Is it empty? ------------------------------------------------------------------ */

static pawl_code count_sagas(pawl_test *test, int64_t *sum, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < test->table_count; i++) {
        int64_t count = 0;
        code          = pawl_store_saga_count(test->store, test->tables[i], &count, error);
        *sum += count;
    }
    return code;
}

#define EMPTY_STORE_NEEDED                                                           \
    "a test begins with an empty store; give it one of its own, or let .is_emptied " \
    "drop what pawl has there"

static pawl_code refuse_rows(const char *what, int64_t count, pawl_error *error)
{
    return pawl_error_set(error, PAWL_ECONFIG,
                          "it is not empty, it has %s (%lld): " EMPTY_STORE_NEEDED, what,
                          (long long)count);
}

/* Refuses a store with subscriptions, messages or events: all other rows are those of endpoints,
 * which subscribe when they are created. */
static pawl_code check_rows(const pawl_test *test, pawl_store *store, pawl_error *error)
{
    pawl_subscriptions subscriptions = {.count = 0};
    pawl_event_rows    events        = {.count = 0};
    pawl_stats         stats         = PAWL_STATS_INIT;
    pawl_event_query   query         = {.count_max = 1};
    pawl_code          code = pawl_store_subscriptions(store, test->arena, &subscriptions, error);
    if (code == PAWL_OK)
        code = pawl_store_event_list(store, &query, test->arena, &events, error);
    if (code == PAWL_OK)
        code = pawl_store_stats(store, pawl_clock_now(test->machine), test->arena, &stats, error);
    if (code != PAWL_OK)
        return code;
    const struct {
        const char *what;
        int64_t     count;
    } rows[] = {{"subscriptions", (int64_t)subscriptions.count},
                {"queues with messages", (int64_t)stats.queue_count},
                {"events", (int64_t)events.count}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].count != 0)
            return refuse_rows(rows[i].what, rows[i].count, error);
    return PAWL_OK;
}

/* Handles a store that cannot be read: it has no tables yet, or apply will report the problem. Refuses tables of an
 * older version, which apply would upgrade. */
static pawl_code check_version(const pawl_error *why, pawl_error *error)
{
    const char *version = strstr(why->text, PAWL__SCHEMA_HAS_VERSION);
    if (version == NULL)
        return PAWL_OK;
    return pawl_error_set(
        error, PAWL_ECONFIG,
        "it is not empty, its tables are of schema %d and not of this program's: " EMPTY_STORE_NEEDED,
        atoi(version + strlen(PAWL__SCHEMA_HAS_VERSION)));
}

/* Checks the store before anything is created or upgraded, so that a store in use is not changed. */
static pawl_code check_as_found(const pawl_test *test, pawl_error *error)
{
    pawl_store              *store   = NULL;
    const pawl_store_options options = {.options_size  = sizeof options,
                                        .mode          = PAWL_OPEN_EXISTING,
                                        .system_prefix = test->settings.system_prefix,
                                        .deadline      = test->settings.deadline};
    pawl_error               why     = PAWL_ERROR_INIT;
    pawl_code                code    = pawl_store_open(test->url, &options, &store, &why);
    if (code != PAWL_OK)
        return check_version(&why, error);
    code = check_rows(test, store, error);
    pawl_store_close(store);
    return code;
}

static pawl_code check_as_made(pawl_test *test, pawl_error *error)
{
    int64_t   count = 0;
    pawl_code code  = check_rows(test, test->store, error);
    if (code == PAWL_OK)
        code = count_sagas(test, &count, error);
    return code == PAWL_OK && count != 0 ? refuse_rows("sagas", count, error) : code;
}

/* ---- Opening and closing ------------------------------------------------------------- */

static pawl_code choose_url(pawl_test *test, const char *given, pawl_error *error)
{
    if (given == NULL)
        return name_memory(test, error);
    if (strcmp(given, PAWL_TEST_SQLITE) == 0)
        return make_file(test, error);
    test->url = pawl_arena_text(test->arena, pawl_text_of(given)).data;
    return test->url != NULL ? PAWL_OK : no_memory(error);
}

pawl_code pawl__test_store_open(pawl_test *test, const pawl_application *application,
                                const pawl_test_options *options, pawl_error *error)
{
    const pawl_store_options open = {.options_size  = sizeof open,
                                     .system_prefix = test->settings.system_prefix,
                                     .deadline      = test->settings.deadline};
    pawl_code                code = choose_url(test, options->store, error);
    test->settings.store          = test->url;
    test->is_kept                 = options->is_kept;
    if (code == PAWL_OK)
        code = name_file(test, error);
    if (code == PAWL_OK)
        code = find_tables(test, application, error);
    if (code != PAWL_OK)
        return code;
    if (!options->is_emptied)
        code = check_as_found(test, error);
    else /* a table that cannot be dropped is found below */
        (void)run_schema(test, PAWL_SCHEMA_DROP, NULL);
    if (code == PAWL_OK)
        code = run_schema(test, PAWL_SCHEMA_APPLY, error);
    if (code == PAWL_OK)
        code = pawl_store_open(test->url, &open, &test->store, error);
    if (code == PAWL_OK)
        code = check_as_made(test, error);
    if (code == PAWL_OK)
        code = pawl_sender_open(test->url, &open, &test->sender, error);
    test->is_opened = code == PAWL_OK;
    return code == PAWL_OK ? code : pawl_error_wrap(error, code, "store of a test");
}

static void remove_file(const pawl_test *test)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-pawl"};
    char                     path[PAWL_URL_SIZE_MAX + 1];
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(path, sizeof path, "%s/store.db%s", test->folder, suffixes[i]);
        (void)unlink(path);
    }
    if (rmdir(test->folder) != 0)
        pawl_log(PAWL_LOG_WARNING, "a test's folder %s stays: %s", test->folder, strerror(errno));
}

void pawl__test_store_close(pawl_test *test)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_sender_close(test->sender);
    if (test->store != NULL && pawl_store_is_attached(test->store))
        (void)pawl_store_worker_close(test->store, pawl_clock_now(test->machine), NULL);
    pawl_store_close(test->store);
    if (test->is_kept)
        return;
    if (test->folder != NULL)
        remove_file(test);
    else if (test->is_opened && run_schema(test, PAWL_SCHEMA_DROP, &error) != PAWL_OK)
        pawl_log(PAWL_LOG_WARNING, "the tables of a test stay: %s", error.text);
}
