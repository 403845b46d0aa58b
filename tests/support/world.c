/* world.c - runs an application under a virtual clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "base/arena.h"
#include "contract/odbc_fixture.h"
#include "support/fault_strides.h"
#include "support/required.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yyjson.h>

static void say_nothing(pawl_log_level level, const char *text, void *context)
{
}

void world_quiet(void)
{
    pawl_log_set(say_nothing, PAWL_LOG_WARNING, NULL);
}

void world_ok(pawl_code code, const pawl_error *error)
{
    if (code != PAWL_OK)
        fail_msg("%s: %s", pawl_code_name(code), error->text);
}

bool world_says(pawl_text text, const char *part)
{
    return text.data != NULL && strstr(text.data, part) != NULL;
}

void world_note(world_log *log, const char *format, ...)
{
    if (log == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof log->text - log->size;
    int    size = vsnprintf(log->text + log->size, room, format, arguments);
    va_end(arguments);
    assert_true(size >= 0 && (size_t)size + 1 < room);
    log->size += (size_t)size;
    log->text[log->size++] = ' ';
    log->text[log->size]   = '\0';
}

void world_forget(world_log *log)
{
    log->size    = 0;
    log->text[0] = '\0';
}

/* ---- Scenarios ------------------------------------------------------------ */

/* A store behind a wrapping driver may be on a server. */
static bool is_made_by_open(const char *url)
{
    return strncmp(url, "memory:", 7) == 0 || strncmp(url, "sqlite:", 7) == 0;
}

static bool has_driver(const char *scheme)
{
    char        path[1000];
    const char *folder = getenv("PAWL_DRIVER_PATH");
    struct stat info;
    if (strcmp(scheme, "memory") == 0)
        return true;
    if (server_is(scheme) && !server_is_there(scheme))
        return false;
    snprintf(path, sizeof path, "%s/libpawl-%s.so", folder != NULL ? folder : ".",
             strcmp(scheme, "mariadb") == 0   ? "mysql"
             : strcmp(scheme, "mongodb") == 0 ? "mongo"
                                              : scheme);
    return stat(path, &info) == 0;
}

bool scenario_url(const char *scheme, char *url, size_t size)
{
    static int  count;
    const char *folder = getenv("TMPDIR");
    if (!has_driver(scheme))
        return false;
    count++;
    if (strcmp(scheme, "memory") == 0) {
        snprintf(url, size, "memory:scenario-%d", count);
        return true;
    }
    if (server_is(scheme)) {
        server_url(scheme, url, size);
        return true;
    }
    snprintf(url, size, "%s:%s/pawl-XXXXXX", scheme, folder != NULL ? folder : "/tmp");
    assert_non_null(mkdtemp(url + strlen(scheme) + 1));
    strcat(url, "/store.db");
    return true;
}

void scenario_files_in_memory(void)
{
    if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
}

void scenario_url_like(const char *given, char *url, size_t size)
{
    char scheme[20];
    snprintf(scheme, sizeof scheme, "%.*s", (int)strcspn(given, ":"), given);
    assert_true(scenario_url(scheme, url, size));
}

/* Held stores of the current test; a free entry has no store. */
static struct {
    char        url[1000];
    pawl_store *store;
} held[8];

/* `url` NULL: all. */
static void let_go(const char *url)
{
    for (size_t i = 0; i < COUNT(held); i++)
        if (held[i].store != NULL && (url == NULL || strcmp(held[i].url, url) == 0)) {
            pawl_store_close(held[i].store);
            held[i].store = NULL;
        }
}

void scenario_forget(const char *url)
{
    static const char *const suffixes[] = {"",      "-wal",     "-shm", "-lock",
                                           ".lock", "-journal", "-pawl"};
    char                     path[1100];
    const char              *file = strchr(url, ':') + 1;
    let_go(url);
    if (strncmp(url, "memory:", 7) == 0)
        return;
    if (server_is(url)) {
        server_forget(url);
        return;
    }
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        snprintf(path, sizeof path, "%s%s", file, suffixes[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%.*s", (int)(strrchr(file, '/') - file), file);
    if (rmdir(path) != 0)
        fail_msg("%s is not empty when a test ends", path);
}

/* A scenario that also runs on the memory store needs nothing of a driver that the contract tests do not check. So each
 * scenario runs on one of the servers, in turn, and on all with PAWL_TEST_WHOLE (./test --long). */
static bool is_left_to_the_long_run(const scenario *it)
{
#define NAME(argument, scheme, variable) #scheme,
    static const char *const schemes[] = {SERVERS(NAME, )};
    const unsigned           count     = COUNT(schemes);
    static unsigned          turn;
    static scenario_fn      *shared;
    if (strcmp(it->scheme, "memory") == 0) {
        shared = it->run;
        turn++;
    }
    for (unsigned i = 0; i < count; i++)
        if (it->run == shared && strcmp(it->scheme, schemes[i]) == 0)
            return i != turn % count && !is_long_run();
    return false;
}

/* Worlds of the current test; a free entry has no business clock. */
static world begun[8];

/* With PAWL_TEST_LONG_ONES only the long ones run. */
void scenario_run(void **state)
{
    const scenario *it      = *state;
    bool            is_long = strcmp(it->scheme, LONG_MONGODB) == 0;
    bool            is_odbc = strcmp(it->scheme, MARIADB_ODBC) == 0;
    const char     *scheme  = is_long ? "mongodb" : is_odbc ? "mariadb" : it->scheme;
    char            url[1000], through[ODBC_URL_SIZE];
    if (is_long != (getenv("PAWL_TEST_LONG_ONES") != NULL))
        skip();
    if (is_left_to_the_long_run(it)) {
        print_message("left to ./test --long\n");
        skip();
    }
    bool is_missing = is_odbc && (!has_driver("odbc") || !odbc_driver(through, sizeof through));
    if (is_missing || !scenario_url(scheme, url, sizeof url)) {
        if (!server_may_be_missing(scheme))
            fail_msg("the %s driver is not built, or its server not there", it->scheme);
        print_message("the %s driver is not built, or its server not there\n", it->scheme);
        skip();
    }
    if (is_odbc)
        assert_true(odbc_url_of(url, "", through));
    pawl__arena_overwrite(true);
    memset(begun, 0, sizeof begun); /* worlds of a failed test are left as they are */
    memset(held, 0, sizeof held);
    test_begin();
    it->run(is_odbc ? through : url);
    test_end();
    scenario_forget(url);
}

/* ---- Opening and closing ------------------------------------------------------ */

void world_make_tables_of(const char *url, const pawl_application *application, const char *name,
                          const char *saga_prefix)
{
    if (is_made_by_open(url))
        return;
    pawl_schema_spec spec  = {.table_count = 0};
    pawl_arena      *arena = pawl_arena_create(0);
    must(pawl_endpoint_tables(application, name, saga_prefix, arena, &spec.tables,
                              &spec.table_count, world_error()));
    must(pawl_store_schema(url, PAWL_SCHEMA_APPLY, &spec, NULL, NULL, world_error()));
    pawl_arena_destroy(arena);
}

void world_make_tables(const char *url, const pawl_application *application)
{
    for (size_t i = 0; application->endpoints[i] != NULL; i++)
        world_make_tables_of(url, application, application->endpoints[i]->name, NULL);
}

void world_open_made(world *it, const char *url, const pawl_application *application,
                     const char *name, const pawl_endpoint_options *options)
{
    pawl_store_options look = PAWL_STORE_OPTIONS_INIT;
    memset(it, 0, sizeof *it);
    it->url      = url;
    it->queue    = name != NULL ? name : application->endpoints[0]->name;
    it->business = pawl_clock_create(WORLD_START);
    it->machine  = pawl_clock_create(WORLD_START);
    it->arena    = pawl_arena_create(0);
    if (options != NULL)
        it->options = *options;
    it->options.options_size = sizeof it->options;
    it->options.store        = url;
    it->options.business     = it->business;
    it->options.machine      = it->machine;
    it->options.seed         = 7;
    must(pawl_endpoint_create(application, name, &it->options, &it->endpoint, world_error()));
    must(pawl_store_open(url, &look, &it->store, world_error()));
    must(pawl_sender_open(url, &look, &it->sender, world_error()));
}

void world_open(world *it, const char *url, const pawl_application *application, const char *name,
                const pawl_endpoint_options *options)
{
    world_make_tables_of(url, application, name, options != NULL ? options->saga_prefix : NULL);
    world_open_made(it, url, application, name, options);
}

world *world_begin(const char *url, const pawl_application *application, const char *name,
                   const pawl_endpoint_options *options)
{
    size_t i = 0;
    while (i < COUNT(begun) && begun[i].business != NULL)
        i++;
    assert_true(i < COUNT(begun));
    world_open(&begun[i], url, application, name, options);
    return &begun[i];
}

void world_close(world *it)
{
    pawl_sender_close(it->sender);
    pawl_endpoint_destroy(it->endpoint);
    if (it->store != NULL && it->store->is_attached)
        pawl_store_worker_close(it->store, WORLD_START, NULL);
    pawl_store_close(it->store);
    pawl_clock_destroy(it->business);
    pawl_clock_destroy(it->machine);
    pawl_arena_destroy(it->arena);
    it->business = NULL;
}

void world_hold(const char *url)
{
    size_t i = 0;
    if (strncmp(url, "memory:", 7) != 0)
        return;
    while (i < COUNT(held) && held[i].store != NULL)
        i++;
    assert_true(i < COUNT(held));
    snprintf(held[i].url, sizeof held[i].url, "%s", url);
    must(pawl_store_open(url, NULL, &held[i].store, world_error()));
}

void world_end_all(void)
{
    for (size_t i = COUNT(begun); i-- > 0;)
        if (begun[i].business != NULL)
            world_close(&begun[i]);
    let_go(NULL);
}

/* ---- Sending -------------------------------------------------------------------- */

pawl_time world_now(const world *it)
{
    return pawl_clock_now(it->business);
}

void world_post_at(world *it, const char *id, pawl_time due, const pawl_record *record,
                   const void *message)
{
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = due, .id = id};
    must(pawl_sender_send(it->sender, it->queue, &options, record, message, world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
}

void world_post(world *it, const char *id, const pawl_record *record, const void *message)
{
    world_post_at(it, id, world_now(it), record, message);
}

void world_post_json(world *it, const char *id, const char *type, const char *json)
{
    pawl_send_options options = {PAWL_SEND_OPTIONS_HEAD, .due = world_now(it), .id = id};
    must(pawl_sender_send_json(it->sender, it->queue, &options, type, pawl_text_of(json),
                               world_error()));
    must(pawl_sender_commit(it->sender, world_error()));
}

void world_post_text(world *it, const char *id, const char *type, const char *text)
{
    MUST_COMMIT(it->store, queue_send, world_now(it), .queue = pawl_text_of(it->queue),
                .due     = world_now(it),
                .message = {.id             = pawl_text_of(id),
                            .type           = pawl_text_of(type),
                            .body           = pawl_text_of(text),
                            .correlation_id = pawl_text_of(id)});
}

/* ---- Time ------------------------------------------------------------------------- */

pawl_step world_drain(world *it)
{
    pawl_step sum = PAWL_STEP_INIT;
    must(pawl_endpoint_drain(it->endpoint, &sum, world_error()));
    return sum;
}

pawl_step world_step(world *it)
{
    pawl_step step = PAWL_STEP_INIT;
    must(pawl_endpoint_step(it->endpoint, &step, world_error()));
    return step;
}

pawl_step world_go(world *it, int64_t duration)
{
    pawl_clock_set(it->business, pawl_clock_now(it->business) + duration);
    return world_drain(it);
}

/* Writes the time into the clock directly. */
void world_set_back(world *it, int64_t duration)
{
    atomic_fetch_sub((_Atomic pawl_time *)(void *)it->machine, duration);
}

pawl_step world_go_machine(world *it, int64_t duration)
{
    pawl_clock_set(it->machine, pawl_clock_now(it->machine) + duration);
    return world_drain(it);
}

pawl_step world_go_both(world *it, int64_t duration)
{
    pawl_clock_set(it->business, pawl_clock_now(it->business) + duration);
    return world_go_machine(it, duration);
}

/* ---- What is there ------------------------------------------------------------------ */

const char *world_saga(world *it, const char *saga, const pawl_value *value, int64_t *version)
{
    pawl_text data = {0};
    int64_t   own  = 0;
    must(pawl_endpoint_saga(it->endpoint, saga, value, it->arena, &data,
                            version != NULL ? version : &own, world_error()));
    return data.data != NULL ? data.data : "";
}

const char *world_saga_text(world *it, const char *saga, const char *value, int64_t *version)
{
    pawl_value by = pawl_value_text(pawl_text_of(value));
    return world_saga(it, saga, &by, version);
}

const pawl_saga_table *world_table(const world *it, const pawl_application *of, size_t number)
{
    const pawl_saga_table *const *tables = NULL;
    size_t                        count  = 0;
    must(pawl_endpoint_tables(of, NULL, NULL, it->arena, &tables, &count, world_error()));
    assert_true(number < count);
    return tables[number];
}

void world_insert(world *it, const pawl_application *of, const char *correlation, const char *data)
{
    MUST_COMMIT(it->store, saga_insert, WORLD_START, .table = world_table(it, of, 0), .id = {{{3}}},
                .main = pawl_value_text(pawl_text_of(correlation)), .metadata = PAWL_TEXT("{}"),
                .data = pawl_text_of(data), .type_version = PAWL_TEXT("1.0"));
}

pawl_saga_id world_overwrite(pawl_store *store, pawl_arena *arena,
                             const pawl_application *application, const char *correlation,
                             const char *data)
{
    const pawl_saga_table *const *tables = NULL;
    size_t                        count  = 0;
    pawl_saga_row                 row    = {.version = 0};
    pawl_value                    value  = pawl_value_text(pawl_text_of(correlation));
    must(pawl_endpoint_tables(application, NULL, NULL, arena, &tables, &count, world_error()));
    must(pawl_store_saga_load(store, tables[0], PAWL_SAGA_BY_MAIN, &value, 1, PAWL_SAGA_UNLOCKED,
                              arena, &row, world_error()));
    MUST_COMMIT(store, saga_update, WORLD_START, .table = tables[0], .id = row.id,
                .version = row.version, .row = row.row, .metadata = row.metadata,
                .data         = data != NULL ? pawl_text_of(data) : row.data,
                .type_version = row.type_version);
    return row.id;
}

int64_t world_saga_count(world *it, const char *saga)
{
    int64_t count = 0;
    must(pawl_endpoint_saga_count(it->endpoint, saga, &count, world_error()));
    return count;
}

bool world_json_is(const char *url, const char *found, const char *expected)
{
    if (found == NULL || is_made_by_open(url))
        return found != NULL && strcmp(found, expected) == 0;
    yyjson_doc *left  = yyjson_read(found, strlen(found), 0);
    yyjson_doc *right = yyjson_read(expected, strlen(expected), 0);
    bool        is_it = left == NULL || right == NULL
                            ? strcmp(found, expected) == 0
                            : yyjson_equals(yyjson_doc_get_root(left), yyjson_doc_get_root(right));
    yyjson_doc_free(left);
    yyjson_doc_free(right);
    return is_it;
}

void world_json_equal(const world *it, const char *found, const char *expected)
{
    if (!world_json_is(it->url, found, expected))
        assert_string_equal(found, expected);
}

int64_t world_json_number(const char *json, const char *name)
{
    yyjson_doc *doc    = yyjson_read(json, strlen(json), 0);
    yyjson_val *number = yyjson_obj_get(yyjson_doc_get_root(doc), name);
    int64_t     found  = yyjson_get_sint(number);
    if (!yyjson_is_int(number))
        fail_msg("'%s' has no number %s", json, name);
    yyjson_doc_free(doc);
    return found;
}

pawl_queue_rows world_queue(world *it, const char *queue)
{
    pawl_queue_rows rows = {.count = 0};
    must(pawl_store_queue_list(it->store, pawl_text_of(queue), 0, it->arena, &rows, world_error()));
    return rows;
}

pawl_timeout_rows world_timeouts(world *it)
{
    pawl_timeout_rows rows = {.count = 0};
    must(pawl_store_timeout_list(it->store, (pawl_saga_id){{{0}}}, 0, it->arena, &rows,
                                 world_error()));
    return rows;
}

pawl_outbox_rows world_outbox(world *it, pawl_outbox_state state)
{
    pawl_outbox_rows rows = {.count = 0};
    must(pawl_store_outbox_list(it->store, state, 0, it->arena, &rows, world_error()));
    return rows;
}

pawl_attempt_rows world_attempts(world *it, int64_t id)
{
    pawl_attempt_rows rows = {.count = 0};
    must(pawl_store_outbox_attempts(it->store, id, it->arena, &rows, world_error()));
    return rows;
}

pawl_dead_rows world_dead(world *it)
{
    pawl_dead_rows rows = {.count = 0};
    must(pawl_store_dead_list(it->store, (pawl_text){.data = "", .size = 0}, 0, it->arena, &rows,
                              world_error()));
    return rows;
}

pawl_event_rows world_events(world *it, const char *stream)
{
    pawl_event_rows        rows  = {.count = 0};
    const pawl_event_query query = {.stream = pawl_text_of(stream)};
    must(pawl_store_event_list(it->store, &query, it->arena, &rows, world_error()));
    return rows;
}

pawl_queue_row world_queue_row(world *it, const char *queue)
{
    pawl_queue_rows rows = world_queue(it, queue);
    assert_int_equal(rows.count, 1);
    return rows.items[0];
}

pawl_timeout_row world_timeout(world *it)
{
    pawl_timeout_rows rows = world_timeouts(it);
    assert_int_equal(rows.count, 1);
    return rows.items[0];
}

pawl_outbox_row world_outbox_row(world *it, pawl_outbox_state state)
{
    pawl_outbox_rows rows = world_outbox(it, state);
    assert_int_equal(rows.count, 1);
    return rows.items[0];
}

pawl_dead_row world_dead_letter(world *it)
{
    pawl_dead_rows rows = world_dead(it);
    assert_int_equal(rows.count, 1);
    return rows.items[0];
}

pawl_stats world_stats(world *it)
{
    pawl_stats stats = PAWL_STATS_INIT;
    must(pawl_endpoint_stats(it->endpoint, it->arena, &stats, world_error()));
    return stats;
}

bool world_is_marked(world *it, const char *message_id)
{
    pawl_text id    = pawl_text_of(message_id);
    bool      known = false;
    must(pawl_store_inbox_known(it->store, pawl_text_of(it->queue), &id, 1, &known, world_error()));
    return known;
}

pawl_aggregator_counts world_aggregated(world *it, const char *partition, const char *type)
{
    pawl_text              types  = pawl_text_of(type);
    pawl_aggregator_counts counts = {0};
    must(pawl_store_aggregator_counts(it->store, pawl_text_of(partition), &types, 1,
                                      pawl_clock_now(it->machine), &counts, world_error()));
    return counts;
}

pawl_queue_row world_claim_oldest(world *it, const char *queue)
{
    pawl_queue_rows  rows  = {.count = 0};
    pawl_queue_claim claim = {.queue     = pawl_text_of(queue),
                              .due_max   = world_now(it),
                              .count_max = 1,
                              .now       = pawl_clock_now(it->machine)};
    if (!it->store->is_attached) {
        must(pawl_store_worker_open(it->store, pawl_text_of(queue), PAWL_TEXT("[]"), WORLD_START,
                                    world_error()));
        it->store->is_attached = true;
    }
    must(pawl_store_queue_claim(it->store, &claim, it->arena, &rows, world_error()));
    assert_int_equal(rows.count, 1);
    return rows.items[0];
}

void world_give_back(world *it, const char *queue, const pawl_queue_row *row,
                     pawl_queue_action action)
{
    MUST_COMMIT(it->store, queue_settle, WORLD_START, .queue = pawl_text_of(queue), .seq = row->seq,
                .action = action, .due = row->due);
}
