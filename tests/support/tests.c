/* tests.c - see tests.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/test.h"
#include "support/world.h"

#include <dlfcn.h>
#include <stdatomic.h>

static struct {
    test_done_fn *done;
    void         *it;
} later[40];
static size_t later_count;

void test_later(test_done_fn *done, void *it)
{
    assert_true(later_count < COUNT(later));
    later[later_count].done = done;
    later[later_count++].it = it;
}

void test_now(void *it)
{
    bool is_found = it == NULL;
    for (size_t i = later_count; i-- > 0;)
        if (later[i].it == it) {
            test_done_fn *done = later[i].done;
            memmove(&later[i], &later[i + 1], (--later_count - i) * sizeof later[0]);
            done(it);
            is_found = true;
        }
    assert_true(is_found);
}

static _Thread_local pawl_error last_error;

pawl_error *world_error(void)
{
    last_error = (pawl_error)PAWL_ERROR_INIT;
    return &last_error;
}

void must(pawl_code code)
{
    world_ok(code, &last_error);
}

void must_fail(pawl_code code, pawl_code expected, const char *text)
{
    assert_int_equal(code, expected);
    assert_string_equal(last_error.text, text);
}

void must_fail_with(pawl_code code, pawl_code expected, const char *part)
{
    assert_int_equal(code, expected);
    if (strstr(last_error.text, part) == NULL)
        fail_msg("'%s' lacks '%s'", last_error.text, part);
}

static void close_store(void *store)
{
    pawl_store_close(store);
}

pawl_store *test_store(pawl_store *store)
{
    test_later(close_store, store);
    return store;
}

pawl_store *test_open(const char *url)
{
    pawl_store *store = NULL;
    must(pawl_store_open(url, NULL, &store, world_error()));
    return test_store(store);
}

static void destroy_arena(void *arena)
{
    pawl_arena_destroy(arena);
}

pawl_arena *test_arena(void)
{
    pawl_arena *arena = pawl_arena_create(0);
    assert_non_null(arena);
    test_later(destroy_arena, arena);
    return arena;
}

typedef struct made_text {
    struct made_text *next;
    char              text[];
} made_text;

static _Atomic(made_text *) made_texts;

const char *test_text(const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    size_t     size = 1 + (size_t)vsnprintf(NULL, 0, format, values);
    made_text *made = malloc(sizeof *made + size);
    if (made == NULL)
        abort();
    vsnprintf(made->text, size, format, again);
    va_end(again);
    va_end(values);
    made->next = atomic_load(&made_texts);
    while (!atomic_compare_exchange_weak(&made_texts, &made->next, made))
        continue;
    return made->text;
}

static void free_texts(void)
{
    made_text *next = NULL;
    for (made_text *it = atomic_exchange(&made_texts, NULL); it != NULL; it = next) {
        next = it->next;
        free(it);
    }
}

bool text_is(pawl_text text, const char *what)
{
    return pawl_text_equal(text, pawl_text_of(what));
}

pawl_stats test_stats(pawl_store *store, pawl_arena *arena)
{
    pawl_stats stats = PAWL_STATS_INIT;
    pawl_arena_reset(arena);
    must(pawl_store_stats(store, PAWL_TIME_MAX, arena, &stats, world_error()));
    return stats;
}

void test_send(pawl_sender *sender, const char *to, const pawl_send_options *options,
               const pawl_record *record, const void *message)
{
    must(pawl_sender_send(sender, to, options, record, message, world_error()));
    must(pawl_sender_commit(sender, world_error()));
}

void *test_zeroed(size_t size)
{
    void *memory = calloc(1, size);
    assert_non_null(memory);
    test_later(free, memory);
    return memory;
}

static void destroy_kit(void *kit)
{
    pawl_test_destroy(kit);
}

pawl_test *test_kit(const pawl_application *application, const pawl_test_options *options)
{
    pawl_test *kit = NULL;
    must(pawl_test_create(application, options, &kit, world_error()));
    test_later(destroy_kit, kit);
    return kit;
}

void test_line(pawl_text line, void *context)
{
    test_lines *lines = context;
    size_t      size  = strlen(lines->text);
    lines->count++;
    snprintf(lines->last, sizeof lines->last, "%.*s", PAWL_TEXT_ARGS(line));
    snprintf(lines->text + size, sizeof lines->text - size, "%s\n", lines->last);
}

static void hear(pawl_log_level level, const char *text, void *context)
{
    const test_lines *lines = context;
    if (lines->part == NULL || strstr(text, lines->part) != NULL)
        test_line(pawl_text_of(text), context);
}

void test_listen(test_lines *lines, pawl_log_level level, const char *part)
{
    *lines = (test_lines){.part = part};
    pawl_log_set(hear, level, lines);
}

void *test_module(const char *driver)
{
    const char *folder = getenv("PAWL_DRIVER_PATH");
    char        path[1000];
    snprintf(path, sizeof path, "%s/libpawl-%s.so", folder != NULL ? folder : ".", driver);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL)
        fail_msg("%s", dlerror());
    return module;
}

void *test_symbol(void *module, const char *name)
{
    void *found = dlsym(module, name);
    if (found == NULL)
        fail_msg("the driver exports no %s", name);
    return found;
}

void test_begin(void)
{
    later_count = 0;
}

void test_end(void)
{
    while (later_count > 0)
        test_now(later[later_count - 1].it);
    world_end_all();
    free_texts();
}

static struct CMUnitTest all[800];
static int               lines[COUNT(all)];
static size_t            all_count;

void tests_add(int line, const struct CMUnitTest *rows, size_t count)
{
    size_t at = all_count;
    if (count > COUNT(all) - all_count)
        abort();
    while (at > 0 && lines[at - 1] > line)
        at--;
    memmove(&all[at + count], &all[at], (all_count - at) * sizeof all[0]);
    memmove(&lines[at + count], &lines[at], (all_count - at) * sizeof lines[0]);
    for (size_t i = 0; i < count; i++) {
        all[at + i]   = rows[i];
        lines[at + i] = line;
    }
    all_count += count;
}

int tests_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    if (all_count != 0)
        return _cmocka_run_group_tests("tests", all, all_count, setup, teardown);
    puts("skipped: built without the library that it is about");
    return 77;
}

void test_run(void **state)
{
    test_fn *const *run = *state;
    test_begin();
    (*run)();
    test_end();
}
