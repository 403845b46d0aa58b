/* suite.c - expectations, handles and threads of the cases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conformance/suite/run.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

/* ---- Expectations ------------------------------------------------------- */

/* Begins in the folder of the sources, wherever they were built. */
static const char *file_name(const char *path)
{
    const char *folder = "src/conformance/";
    const char *name   = NULL;
    for (const char *at = path; (at = strstr(at, folder)) != NULL; at++)
        name = at;
    return name != NULL ? name : path;
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

void suite_not_applicable(suite *s, const char *reason)
{
    s->not_applicable = reason;
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
    if (actual.data == NULL && actual.size > 0)
        suite_fail(s, file, line, "%s has %zu bytes, and their pointer is NULL", what, actual.size);
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

const char *suite_code_name(suite *s, pawl_code code)
{
    const char *name = pawl_code_name(code);
    return strcmp(name, "?") != 0 ? name : suite_printf(s, "code %d", (int)code).data;
}

void suite_expect_code(suite *s, pawl_code actual, pawl_code expected, const char *what,
                       const char *file, int line)
{
    if (s->is_over != NULL && s->is_over(s->context))
        suite_fail(s, file, line, "the run was ended in this case");
    if (actual != expected)
        suite_fail(s, file, line, "%s is %s, expected %s%s%s", what, suite_code_name(s, actual),
                   suite_code_name(s, expected), actual != PAWL_OK ? ": " : "",
                   actual != PAWL_OK ? s->error.text : "");
}

/* ---- Handles ------------------------------------------------------------ */

#define DEADLINE PAWL_MINUTES(2) /* few cases depend on it, and a server may be slow */
#define OVERLAP_S 10
#define BRIEF PAWL_MILLISECONDS(500)

static pawl_store *open_at(suite *s, const suite_address *address, size_t table_count,
                           int64_t deadline)
{
    EXPECT(s, s->store_count < SUITE_STORES_MAX);
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = PAWL_OPEN_CREATE;
    options.deadline           = deadline;
    options.system_prefix      = address->prefix[0] != '\0' ? address->prefix : NULL;
    options.tables             = s->tables;
    options.table_count        = table_count;
    pawl_store *store          = NULL;
    EXPECT_OK(s, pawl_store_open(address->url, &options, &store, &s->error));
    EXPECT(s, store != NULL);
    s->stores[s->store_count++] = store;
    return store;
}

pawl_store *suite_open_bare(suite *s)
{
    return open_at(s, s->address, SUITE_TABLE_COUNT, DEADLINE);
}

pawl_store *suite_open_brief(suite *s)
{
    return open_at(s, s->address, SUITE_TABLE_COUNT, BRIEF);
}

/* The transaction of a worker is open; the commit of another one must not wait for its end. */
void suite_need_overlap(suite *s, const pawl_store *store)
{
    if ((pawl_store_promises(store) & PAWL_STORE_ROW_LOCKS) == 0)
        suite_not_applicable(s, "the store runs one transaction at a time: commits do not overlap");
    pawl_store *first  = suite_open(s);
    pawl_store *second = open_at(s, s->address, SUITE_TABLE_COUNT, PAWL_SECONDS(OVERLAP_S));
    suite_set   one = suite_changes(s), two = suite_changes(s);
    ADD(&one, inbox_entry, .endpoint = TEXT("overlap"), .message_id = TEXT("1"), .at = SUITE_NOW);
    ADD(&two, inbox_entry, .endpoint = TEXT("overlap"), .message_id = TEXT("2"), .at = SUITE_NOW);
    EXPECT_OK(s, pawl_store_handler_transaction_begin(first, &s->error));
    suite_enlist(&one, first);
    pawl_refusals refused;
    pawl_code     code = suite_try(&two, second, &refused);
    if (code != PAWL_OK)
        suite_fail(s, __FILE__, __LINE__,
                   "PAWL_STORE_ROW_LOCKS is promised, but for %d s a commit waits for the open "
                   "transaction of another worker: %s: %s",
                   OVERLAP_S, suite_code_name(s, code), s->error.text);
    pawl_store_handler_transaction_end(first);
    suite_close(s, first);
    suite_close(s, second);
}

static void ignore_line(pawl_text line, void *context)
{
    (void)line;
    (void)context;
}

pawl_store *suite_open_other(suite *s)
{
    memcpy(s->other.url, s->address->url, sizeof s->other.url);
    int size = snprintf(s->other.prefix, sizeof s->other.prefix, "%so_", s->address->prefix);
    EXPECT(s, size > 0 && (size_t)size < sizeof s->other.prefix);
    if ((pawl_store_promises(s->stores[0]) & PAWL_STORE_CREATES) == 0) {
        pawl_schema_spec spec = {.system_prefix = s->other.prefix};
        EXPECT_OK(s, pawl_store_schema(s->other.url, PAWL_SCHEMA_APPLY, &spec, ignore_line, NULL,
                                       &s->error));
    }
    return open_at(s, &s->other, 0, DEADLINE);
}

pawl_store *suite_open(suite *s)
{
    pawl_store *store = suite_open_bare(s);
    if (!pawl_store_is_attached(store))
        EXPECT_OK(s, pawl_store_worker_open(store, TEXT("suite"), TEXT("[\"PlaceOrder\"]"),
                                            SUITE_NOW, &s->error));
    return store;
}

void suite_end_worker(suite *s, pawl_store *store)
{
    EXPECT_OK(s, pawl_store_worker_close(store, SUITE_NOW, &s->error));
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

void suite_close_all(suite *s)
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
    suite_close_all(&run->own);
    return NULL;
}

/* NULL when out of memory. */
static thread_run *thread_run_create(suite *s, unsigned index, suite_thread_function *function,
                                     void *context)
{
    thread_run *run = pawl_allocate(sizeof *run);
    if (run == NULL)
        return NULL;
    run->own.address = s->address;
    run->own.rounds  = s->rounds;
    run->own.is_over = s->is_over;
    run->own.context = s->context;
    memcpy(run->own.tables, s->tables, sizeof s->tables);
    run->own.arena = pawl_arena_create(0);
    pawl_random_seed(&run->own.random, pawl_random_next(&s->random));
    run->thread   = (suite_thread){&run->own, index, context};
    run->function = function;
    if (run->own.arena == NULL) {
        pawl_free(run);
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
            pawl_free(run);
            break;
        }
    }
    char failure[sizeof s->failure] = "";
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        if (failure[0] == '\0' && runs[i]->own.failure[0] != '\0')
            memcpy(failure, runs[i]->own.failure, sizeof failure);
        pawl_arena_destroy(runs[i]->own.arena);
        pawl_free(runs[i]);
    }
    if (failure[0] != '\0')
        suite_fail(s, __FILE__, __LINE__, "in a thread: %s", failure);
    EXPECT_EQ(s, started, count);
}
