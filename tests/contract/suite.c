/* suite.c - runs the table of cases: expectations, handles, threads, the
 * runner and its main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const suite_cases *const all_cases[] = {
    &cases_queue,       &cases_inbox,        &cases_saga,       &cases_saga_value,
    &cases_timeout,     &cases_timeout_set,  &cases_aggregator, &cases_snapshot,
    &cases_flush,       &cases_outbox,       &cases_group,      &cases_lead,
    &cases_worker,      &cases_subscription, &cases_dead,       &cases_stats,
    &cases_sweep,       &cases_text,         &cases_size,       &cases_concurrent,
    &cases_random,      &cases_op_saga,      &cases_op_timeout, &cases_op_aggregator,
    &cases_op_snapshot, &cases_op_outbox,
};
#define CASES_COUNT (sizeof all_cases / sizeof all_cases[0])

/* ---- Expectations ------------------------------------------------------- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

void suite_fail(suite *s, const char *file, int line, const char *format, ...)
{
    int     at = snprintf(s->failure, sizeof s->failure, "%s:%d: ", file_name(file), line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->failure + at, sizeof s->failure - (size_t)at, format, arguments);
    va_end(arguments);
    longjmp(s->failed, 1);
}

void suite_expect_integer(suite *s, int64_t actual, int64_t expected, const char *what,
                          const char *file, int line)
{
    if (actual != expected)
        suite_fail(s, file, line, "%s is %" PRId64 ", expected %" PRId64, what, actual, expected);
}

void suite_expect_text(suite *s, pawl_text actual, pawl_text expected, const char *what,
                       const char *file, int line)
{
    if (pawl_text_equal(actual, expected))
        return;
    size_t at = 0;
    while (at < actual.size && at < expected.size && actual.data[at] == expected.data[at])
        at++;
    suite_fail(s, file, line,
               "%s has %zu bytes '%.*s', expected %zu bytes '%.*s', differing at %zu", what,
               actual.size, (int)(actual.size < 200 ? actual.size : 200), actual.data,
               expected.size, (int)(expected.size < 200 ? expected.size : 200), expected.data, at);
}

void suite_expect_code(suite *s, pawl_code actual, pawl_code expected, const char *what,
                       const char *file, int line)
{
    if (actual != expected)
        suite_fail(s, file, line, "%s is %s, expected %s%s%s", what, pawl_code_name(actual),
                   pawl_code_name(expected), actual != PAWL_OK ? ": " : "",
                   actual != PAWL_OK ? s->error.text : "");
}

/* ---- Handles ------------------------------------------------------------ */

pawl_store *suite_open_bare(suite *s)
{
    EXPECT(s, s->store_count < SUITE_STORES_MAX);
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CREATE;
    options.system_prefix      = s->address->prefix[0] != '\0' ? s->address->prefix : NULL;
    options.tables             = s->tables;
    options.table_count        = SUITE_TABLE_COUNT;
    pawl_store *store          = NULL;
    EXPECT_OK(s, pawl_store_open(s->address->url, &options, &store, &s->error));
    EXPECT(s, store != NULL && store->ops != NULL);
    s->stores[s->store_count++] = store;
    return store;
}

pawl_store *suite_open(suite *s)
{
    pawl_store *store = suite_open_bare(s);
    if (!store->is_attached) {
        EXPECT_OK(s, store->ops->worker_open(store, TEXT("suite"), TEXT("[\"PlaceOrder\"]"),
                                             SUITE_NOW, &s->error));
        store->is_attached = true;
    }
    return store;
}

void suite_end_worker(suite *s, pawl_store *store)
{
    EXPECT_OK(s, store->ops->worker_close(store, SUITE_NOW, &s->error));
    store->is_attached = false;
}

void suite_close(suite *s, pawl_store *store)
{
    for (size_t i = 0; i < s->store_count; i++) {
        if (s->stores[i] != store)
            continue;
        s->stores[i] = s->stores[--s->store_count];
        pawl_store_close(store);
        return;
    }
}

static void close_all(suite *s)
{
    while (s->store_count > 0)
        pawl_store_close(s->stores[--s->store_count]);
}

/* ---- Threads ------------------------------------------------------------ */

typedef struct thread_run {
    suite                  own;
    suite_thread           thread;
    suite_thread_function *function;
} thread_run;

static void *thread_main(void *context)
{
    thread_run *run = context;
    if (setjmp(run->own.failed) == 0)
        run->function(&run->thread);
    close_all(&run->own);
    return NULL;
}

/* NULL when out of memory. */
static thread_run *thread_run_create(suite *s, unsigned index, suite_thread_function *function,
                                     void *context)
{
    thread_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return NULL;
    run->own.address = s->address;
    memcpy(run->own.tables, s->tables, sizeof s->tables);
    run->own.arena = pawl_arena_create(0);
    pawl_random_seed(&run->own.random, pawl_random_next(&s->random));
    run->thread   = (suite_thread){&run->own, index, context};
    run->function = function;
    if (run->own.arena == NULL) {
        free(run);
        return NULL;
    }
    return run;
}

void suite_threads(suite *s, unsigned count, suite_thread_function *function, void *context)
{
    thread_run *runs[SUITE_THREADS_MAX];
    pthread_t   threads[SUITE_THREADS_MAX];
    unsigned    started = 0;
    EXPECT(s, count <= SUITE_THREADS_MAX);
    for (; started < count; started++) {
        thread_run *run = thread_run_create(s, started, function, context);
        if (run == NULL)
            break;
        runs[started] = run;
        if (pthread_create(&threads[started], NULL, thread_main, run) != 0) {
            pawl_arena_destroy(run->own.arena);
            free(run);
            break;
        }
    }
    char failure[sizeof s->failure] = "";
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        if (failure[0] == '\0' && runs[i]->own.failure[0] != '\0')
            memcpy(failure, runs[i]->own.failure, sizeof failure);
        pawl_arena_destroy(runs[i]->own.arena);
        free(runs[i]);
    }
    if (failure[0] != '\0')
        suite_fail(s, __FILE__, __LINE__, "in a thread: %s", failure);
    EXPECT_EQ(s, started, count);
}

/* ---- The runner --------------------------------------------------------- */

/* The saga tables of one case; their names carry its prefix. */
typedef struct table_set {
    pawl_saga_table tables[SUITE_TABLE_COUNT];
    char            names[SUITE_TABLE_COUNT][PAWL_NAME_SIZE_MAX];
} table_set;

static const struct {
    const char     *type;
    const char     *main;
    pawl_value_type main_type;
    const char     *transitional;
    pawl_value_type transitional_type;
} table_rows[SUITE_TABLE_COUNT] = {
    [SUITE_ORDER]  = {"Order", "OrderRef", PAWL_VALUE_TEXT, NULL, PAWL_VALUE_NONE},
    [SUITE_TWIN]   = {"Twin", "OrderRef", PAWL_VALUE_TEXT, NULL, PAWL_VALUE_NONE},
    [SUITE_TICKET] = {"Ticket", "Number", PAWL_VALUE_INT, NULL, PAWL_VALUE_NONE},
    [SUITE_PARCEL] = {"Parcel", "ParcelId", PAWL_VALUE_UUID, NULL, PAWL_VALUE_NONE},
    [SUITE_ALARM]  = {"Alarm", "RingsAt", PAWL_VALUE_TIME, NULL, PAWL_VALUE_NONE},
    [SUITE_MOVE]   = {"Move", "OldRef", PAWL_VALUE_TEXT, "NewNumber", PAWL_VALUE_INT},
    [SUITE_SHIFT]  = {"Shift", "OldNumber", PAWL_VALUE_INT, "NewRef", PAWL_VALUE_TEXT},
    [SUITE_PLAIN]  = {"Plain", NULL, PAWL_VALUE_NONE, NULL, PAWL_VALUE_NONE},
};

static void make_tables(suite *s, table_set *set)
{
    const char *prefix = s->address->prefix[0] != '\0' ? s->address->prefix : "suite_";
    for (size_t i = 0; i < SUITE_TABLE_COUNT; i++) {
        snprintf(set->names[i], sizeof set->names[i], "%s%s", prefix, table_rows[i].type);
        set->tables[i] = (pawl_saga_table){
            .type         = pawl_text_of(table_rows[i].type),
            .name         = pawl_text_of(set->names[i]),
            .main         = {pawl_text_of(table_rows[i].main), table_rows[i].main_type},
            .transitional = {pawl_text_of(table_rows[i].transitional),
                             table_rows[i].transitional_type},
        };
        s->tables[i] = &set->tables[i];
    }
}

static void run_guarded(suite *s, const suite_case *item)
{
    if (setjmp(s->failed) == 0)
        item->run(s);
}

static bool run_case(const suite_place *place, const char *noun, const suite_case *item,
                     unsigned number, uint64_t seed, FILE *out)
{
    suite_address address = {.url = ""};
    table_set     set;
    suite         s = {.address = &address, .arena = pawl_arena_create(0)};
    if (s.arena == NULL) {
        fprintf(out, "FAIL %s: %s: out of memory\n", noun, item->name);
        return false;
    }
    place->fresh(place, number, &address);
    make_tables(&s, &set);
    pawl_random_seed(&s.random, seed + number);
    run_guarded(&s, item);
    close_all(&s);
    pawl_arena_destroy(s.arena);
    if (place->drop != NULL)
        place->drop(place, &address);
    if (s.failure[0] != '\0')
        fprintf(out, "FAIL %s: %s\n     %s\n", noun, item->name, s.failure);
    fflush(out); /* a later case may crash */
    return s.failure[0] == '\0';
}

static bool is_chosen(const char *noun, const suite_case *item, const char *filter)
{
    char name[400];
    snprintf(name, sizeof name, "%s: %s", noun, item->name);
    return filter == NULL || strstr(name, filter) != NULL;
}

unsigned suite_run(const suite_place *place, const char *filter, uint64_t seed, FILE *out)
{
    unsigned run = 0, failed = 0, number = 0;
    for (size_t i = 0; i < CASES_COUNT; i++) {
        for (size_t j = 0; j < all_cases[i]->count; j++) {
            const suite_case *item = &all_cases[i]->items[j];
            number++;
            if (!is_chosen(all_cases[i]->noun, item, filter))
                continue;
            run++;
            if (!run_case(place, all_cases[i]->noun, item, number, seed, out))
                failed++;
        }
    }
    fprintf(out, "%s: %u cases, %u failed; seed %" PRIu64 " (again with PAWL_SEED=%" PRIu64 ")\n",
            place->name, run, failed, seed, seed);
    if (run == 0)
        fprintf(out, "%s: no case is named like '%s'\n", place->name, filter);
    return run == 0 ? 1 : failed;
}

static void list_cases(FILE *out)
{
    for (size_t i = 0; i < CASES_COUNT; i++)
        for (size_t j = 0; j < all_cases[i]->count; j++)
            fprintf(out, "%s: %s\n", all_cases[i]->noun, all_cases[i]->items[j].name);
}

int suite_main(const suite_place *place, int argument_count, char **arguments)
{
    const char *filter = argument_count > 1 ? arguments[1] : NULL;
    if (filter != NULL && strcmp(filter, "--list") == 0) {
        list_cases(stdout);
        return 0;
    }
    const char *given = getenv("PAWL_SEED");
    uint64_t    seed  = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    return suite_run(place, filter, seed, stdout) == 0 ? 0 : 1;
}
