/* test_command_table.c - rows as a table, a page and JSON objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Parts of the command, not of the library. */
#include "cli/base/memory.c"
#include "cli/base/output.c"
#include "cli/base/table.c"

#include "support/fault_memory.h"
#include "support/tests.h"

#include <sys/wait.h>
#include <unistd.h>

typedef enum colour { GREEN, RED } colour;
static const char *const colours[] = {"green", "red", NULL};

typedef struct sample {
    int64_t   id;
    pawl_text name;
    colour    colour;
    int32_t   count;
    int64_t   place;
    pawl_time at;
    int64_t   took;
    pawl_uuid key;
    pawl_text headers;
    pawl_text body;
} sample;

#define SAMPLE(key, kind, member, heading, level)                                              \
    {                                                                                          \
        key, PAWL__COLUMN_##kind, offsetof(sample, member), heading, PAWL__LEVEL_##level, NULL \
    }
static const pawl__column columns[] = {
    SAMPLE("id", COUNT, id, "id", LIST),
    SAMPLE("name", TEXT, name, "name", LIST),
    {"colour", PAWL__COLUMN_NAME, offsetof(sample, colour), "colour", PAWL__LEVEL_LIST, colours},
    SAMPLE("count", COUNT_32, count, NULL, LIST),
    SAMPLE("place", NUMBER, place, "place", LIST),
    SAMPLE("first_at", TIME, at, "at", LIST),
    SAMPLE("took", DURATION, took, NULL, LIST),
    SAMPLE("key", ID, key, "key", LIST),
    SAMPLE("body_size", SIZE, body, NULL, LIST),
    SAMPLE("headers", JSON, headers, NULL, SHOW),
    SAMPLE("body", TEXT, body, NULL, REVEAL),
    {.key = NULL},
};

#define NOON INT64_C(1767182400000000) /* 2025-12-31T12:00:00Z */

static const sample rows[] = {
    {7,
     PAWL_TEXT_INIT("a"),
     RED,
     3,
     5,
     NOON,
     1500,
     {{1}},
     PAWL_TEXT_INIT("{\"x\":0.10}"),
     PAWL_TEXT_INIT("{\"n\":1}")},
    {12, PAWL_TEXT_INIT("lon\xC3\xA9"), GREEN, -1, 0, 0, 0, {{0}}, {.size = 0}, {.size = 0}},
};

/* The output of a view; freed by the caller. */
typedef struct printed {
    pawl__view view;
    char      *text;
    size_t     size;
} printed;

static void begin(printed *page, bool is_json, pawl__level level)
{
    *page          = (printed){.text = NULL};
    page->view     = (pawl__view){.columns  = columns,
                                  .noun     = "sample",
                                  .row_size = sizeof(sample),
                                  .level    = level,
                                  .is_json  = is_json,
                                  .now      = NOON + PAWL_SECONDS(90),
                                  .arena    = pawl_arena_create(0)};
    page->view.out = open_memstream(&page->text, &page->size);
    assert_non_null(page->view.out);
}

static void expect_end(printed *page, const char *text)
{
    fclose(page->view.out);
    assert_string_equal(page->text, text);
    pawl_arena_destroy(page->view.arena);
    free(page->text);
}

TEST(a_table_is_aligned_by_characters)
{
    printed page;
    begin(&page, false, PAWL__LEVEL_LIST);
    assert_int_equal(pawl__rows_print(&page.view, rows, 2), PAWL_OK);
    expect_end(&page, "id  name  colour  place  at                                key\n"
                      " 7  a     red         5  2025-12-31T12:00:00Z (1.5 m ago)  "
                      "01000000-0000-0000-0000-000000000000\n"
                      "12  lon\xC3\xA9  green\n");
}

/* Two places for a character of Chinese, none for an accent that joins the one before. */
TEST(a_table_is_aligned_by_what_is_seen)
{
    sample  wide[] = {{.name = PAWL_TEXT("\xE4\xB8\xAD\xE6\x96\x87")},
                      {.name = PAWL_TEXT("e\xCC\x81te\xCC\x81")},
                      {.name = PAWL_TEXT("\xF0\x9F\x98\x80!")}};
    printed page;
    begin(&page, false, PAWL__LEVEL_LIST);
    assert_int_equal(pawl__rows_print(&page.view, wide, 3), PAWL_OK);
    expect_end(&page, "id  name  colour  place  at  key\n"
                      " 0  \xE4\xB8\xAD\xE6\x96\x87  green\n"
                      " 0  e\xCC\x81te\xCC\x81   green\n"
                      " 0  \xF0\x9F\x98\x80!   green\n");
}

typedef struct listed {
    pawl__text_list names;
} listed;

/* An empty list is another thing than a list that is not known. */
TEST(a_list_is_an_array_and_a_cell)
{
    static const pawl__column list_columns[] = {
        {"names", PAWL__COLUMN_LIST, offsetof(listed, names), "names", PAWL__LEVEL_LIST, NULL},
        {.key = NULL},
    };
    const pawl_text names[] = {PAWL_TEXT("one"), PAWL_TEXT("t\x1Bwo")};
    const listed    lists[] = {{{names, 2}}, {{names, 0}}, {{NULL, 0}}};
    printed         page;
    begin(&page, true, PAWL__LEVEL_LIST);
    page.view.columns  = list_columns;
    page.view.row_size = sizeof(listed);
    assert_int_equal(pawl__rows_print(&page.view, lists, 3), PAWL_OK);
    expect_end(&page, "{\"names\":[\"one\",\"t\\u001Bwo\"]}\n{\"names\":[]}\n{\"names\":null}\n");
    begin(&page, false, PAWL__LEVEL_LIST);
    page.view.columns  = list_columns;
    page.view.row_size = sizeof(listed);
    assert_int_equal(pawl__rows_print(&page.view, lists, 3), PAWL_OK);
    expect_end(&page, "names\none, t?wo\n\n\n");
}

TEST(a_page_leaves_out_what_a_row_does_not_have)
{
    printed page;
    begin(&page, false, PAWL__LEVEL_SHOW);
    pawl__row_page(&page.view, &rows[0]);
    pawl__row_page(&page.view, &rows[1]);
    expect_end(&page, "id                 7\n"
                      "name               a\n"
                      "colour             red\n"
                      "count              3\n"
                      "place              5\n"
                      "first at           2025-12-31T12:00:00.000000Z (1.5 m ago)\n"
                      "took               1.5 ms\n"
                      "key                01000000-0000-0000-0000-000000000000\n"
                      "body size          7 bytes; --reveal shows it\n"
                      "headers            {\"x\":0.10}\n"
                      "id                 12\n"
                      "name               lon\xC3\xA9\n"
                      "colour             green\n"
                      "count              -1\n"
                      "took               0 us\n"
                      "body size          0 bytes; --reveal shows it\n");
}

/* Rows come in portions, and each is below the one before. */
TEST(a_list_may_be_of_pages)
{
    static const char first[] = "id                 7\nname               a\n";
    printed           page;
    begin(&page, false, PAWL__LEVEL_REVEAL);
    page.view.is_pages = true;
    assert_int_equal(pawl__rows_print(&page.view, rows, 2), PAWL_OK);
    assert_int_equal(pawl__rows_print(&page.view, rows, 1), PAWL_OK);
    assert_int_equal(page.view.printed, 3);
    fflush(page.view.out);
    assert_memory_equal(page.text, first, sizeof first - 1);
    const char *second = strstr(page.text, "\n\nid                 12\n");
    assert_non_null(second);
    assert_non_null(strstr(second + 2, "\n\nid                 7\n"));
    assert_non_null(strstr(page.text, "\nbody               {\"n\":1}\n"));
    fclose(page.view.out);
    pawl_arena_destroy(page.view.arena);
    free(page.text);
}

TEST(objects_have_every_key)
{
    printed page;
    begin(&page, true, PAWL__LEVEL_REVEAL);
    assert_int_equal(pawl__rows_print(&page.view, rows, 2), PAWL_OK);
    expect_end(&page, "{\"id\":7,\"name\":\"a\",\"colour\":\"red\",\"count\":3,\"place\":5,"
                      "\"first_at\":\"2025-12-31T12:00:00.000000Z\",\"took\":1500,"
                      "\"key\":\"01000000-0000-0000-0000-000000000000\",\"body_size\":7,"
                      "\"headers\":{\"x\":0.10},\"body\":\"{\\\"n\\\":1}\"}\n"
                      "{\"id\":12,\"name\":\"lon\xC3\xA9\",\"colour\":\"green\",\"count\":-1,"
                      "\"place\":null,\"first_at\":null,\"took\":0,\"key\":null,\"body_size\":0,"
                      "\"headers\":null,\"body\":null}\n");
}

TEST(bodies_are_revealed_alone)
{
    const pawl__level levels[] = {PAWL__LEVEL_LIST, PAWL__LEVEL_SHOW};
    for (size_t i = 0; i < 4; i++) {
        printed page;
        begin(&page, i < 2, levels[i % 2]);
        assert_int_equal(pawl__rows_print(&page.view, rows, 1), PAWL_OK);
        pawl__row_page(&page.view, rows);
        fflush(page.view.out);
        assert_null(strstr(page.text, "\"n\":"));
        assert_null(strstr(page.text, "\\\"n\\\":"));
        fclose(page.view.out);
        pawl_arena_destroy(page.view.arena);
        free(page.text);
    }
}

/* A handler's error may hold anything; a terminal would obey some of it. The last bytes of U+3080 and U+102082 would be
 * a control character if they stood alone. */
TEST(texts_are_made_harmless)
{
    const pawl_text text =
        PAWL_TEXT("a\x1b[1mb\n\x7f\xC2\x9B\xC2\xA0\xE2\x80\xAE\xE3\x82\x80\xF4\x82\x82\x82\xffz");
    sample  row = {.name = text, .body = text, .headers = PAWL_TEXT("{spoilt")};
    printed page;
    begin(&page, true, PAWL__LEVEL_REVEAL);
    assert_int_equal(pawl__rows_print(&page.view, &row, 1), PAWL_OK);
    expect_end(
        &page,
        "{\"id\":0,\"name\":\"a\\u001B[1mb\\n\\u007F\\u009B\xC2\xA0\\u202E\xE3\x82\x80\xF4\x82\x82\x82\xEF\xBF\xBDz\","
        "\"colour\":\"green\",\"count\":0,\"place\":null,\"first_at\":null,"
        "\"took\":0,\"key\":null,\"body_size\":24,\"headers\":\"{spoilt\","
        "\"body\":\"a\\u001B[1mb\\n\\u007F\\u009B\xC2\xA0\\u202E\xE3\x82\x80\xF4\x82\x82\x82\xEF\xBF\xBDz\"}\n");
    begin(&page, false, PAWL__LEVEL_REVEAL);
    pawl__row_page(&page.view, &row);
    expect_end(
        &page,
        "id                 0\n"
        "name               a?[1mb????\xC2\xA0???\xE3\x82\x80\xF4\x82\x82\x82\xEF\xBF\xBDz\n"
        "colour             green\n"
        "count              0\n"
        "took               0 us\n"
        "body size          24 bytes\n"
        "headers            {spoilt\n"
        "body               a?[1mb\n???\xC2\xA0???\xE3\x82\x80\xF4\x82\x82\x82\xEF\xBF\xBDz\n");
}

TEST(spans_and_ages)
{
    const struct {
        int64_t     span;
        const char *text, *age;
    } cases[] = {
        {-5, "0 us", NULL},
        {0, "0 us", "0 us ago"},
        {999, "999 us", "999 us ago"},
        {1000, "1 ms", "1 ms ago"},
        {1500, "1.5 ms", NULL},
        {12999, "12 ms", NULL},
        {PAWL_SECONDS(1), "1 s", NULL},
        {PAWL_SECONDS(59), "59 s", NULL},
        {PAWL_MINUTES(3), "3 m", NULL},
        {PAWL_MINUTES(90), "1.5 h", NULL},
        {PAWL_DAYS(400), "400 d", "400 d ago"},
    };
    char text[PAWL__SPAN_SIZE];
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_string_equal(pawl__span_text(cases[i].span, text), cases[i].text);
        if (cases[i].age != NULL)
            assert_string_equal(pawl__age_text(NOON - cases[i].span, NOON, text), cases[i].age);
    }
    assert_string_equal(pawl__age_text(NOON + PAWL_SECONDS(12), NOON, text), "in 12 s");
    assert_string_equal(pawl__age_text(PAWL_TIME_MAX, 0, text), "in 2932896 d");
}

/* A source of so many rows; what it was asked for. */
typedef struct source {
    sample items[350];
    size_t count, at, calls, largest;
} source;

static pawl_code next_rows(void *context, size_t count_max, pawl_arena *arena, const void **found,
                           size_t *count, pawl_error *error)
{
    source *all = context;
    all->calls++;
    if (all->largest < count_max)
        all->largest = count_max;
    *count = all->count - all->at < count_max ? all->count - all->at : count_max;
    *found = all->items + all->at;
    all->at += *count;
    return PAWL_OK;
}

static int64_t list(source *all, size_t count, bool is_json, int64_t limit)
{
    printed page;
    begin(&page, is_json, PAWL__LEVEL_LIST);
    *all = (source){.count = count};
    assert_int_equal(pawl__rows_list(&page.view, limit, next_rows, all, NULL), PAWL_OK);
    fclose(page.view.out);
    int64_t lines = 0;
    for (size_t i = 0; i < page.size; i++)
        lines += page.text[i] == '\n';
    assert_int_equal(page.view.printed, lines - (!is_json && count > 0));
    pawl_arena_destroy(page.view.arena);
    free(page.text);
    return page.view.printed;
}

TEST(lists_come_in_pages)
{
    static source all;
    assert_int_equal(list(&all, 350, true, 0), 350);
    assert_int_equal(all.calls, 4);
    assert_int_equal(all.largest, 100);
    assert_int_equal(list(&all, 350, true, 101), 101);
    assert_int_equal(list(&all, 350, false, 0), PAWL__LINES_DEFAULT);
    assert_int_equal(all.at, PAWL__LINES_DEFAULT + 1); /* one more, to know that there are more */
    assert_int_equal(list(&all, 350, false, 250), 250);
    assert_int_equal(all.at, 250);
    assert_int_equal(list(&all, 350, false, 1000), 350);
    assert_int_equal(list(&all, 200, true, 0), 200);
    assert_int_equal(all.calls, 3);
    assert_int_equal(list(&all, 0, true, 0), 0);
    assert_int_equal(list(&all, 0, false, 0), 0);
}

static pawl_code failing(void *context, size_t count_max, pawl_arena *arena, const void **found,
                         size_t *count, pawl_error *error)
{
    source *all = context;
    if (all->calls == 1)
        return pawl_error_set(error, PAWL_ELOST, "the connection is gone");
    return next_rows(context, count_max, arena, found, count, error);
}

TEST(a_page_that_fails_ends_the_list)
{
    static source all;
    printed       page;
    pawl_error    error = PAWL_ERROR_INIT;
    all.count           = 350;
    begin(&page, true, PAWL__LEVEL_LIST);
    assert_int_equal(pawl__rows_list(&page.view, 0, failing, &all, &error), PAWL_ELOST);
    assert_int_equal(page.view.printed, 100);
    assert_string_equal(error.text, "the connection is gone");
    fclose(page.view.out);
    pawl_arena_destroy(page.view.arena);
    free(page.text);
}

static char *print_all(const sample *many)
{
    printed page;
    begin(&page, true, PAWL__LEVEL_REVEAL);
    fault_memory_go_on();
    (void)pawl__rows_print(&page.view, many, 3);
    page.view.is_json = false;
    page.view.printed = 0;
    (void)pawl__rows_print(&page.view, many, 3);
    pawl__row_page(&page.view, &many[2]);
    fault_memory_pause();
    fclose(page.view.out);
    pawl_arena_destroy(page.view.arena);
    return page.text;
}

/* The exit code of a process in which the n-th allocation fails; 0: it had no more than n, and its answer is whole. */
static int exit_code_without(long n, const sample *many, const char *whole)
{
    int   status = 0;
    pid_t child  = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        fault_memory_set(n);
        char *text = print_all(many);
        _exit(fault_memory_was_reached() || strcmp(text, whole) != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* With each allocation failing in turn, an answer is whole, or the process ends with the exit code of PAWL_ENOMEM. */
TEST(every_allocation_may_fail)
{
    static char big[40000]; /* more than an arena has at first */
    sample      many[3] = {rows[0], rows[1], rows[0]};
    long        n       = 0;
    int         code    = -1;
    memset(big, 'x', sizeof big);
    many[2].body = (pawl_text){.data = big, .size = sizeof big};
    fault_memory_set(0);
    char *whole = print_all(many);
    while (code != 0) {
        code = exit_code_without(++n, many, whole);
        assert_true(code == 0 || code == pawl_code_exit(PAWL_ENOMEM));
    }
    assert_true(n > 8);
    assert_int_equal(fault_memory_live(), 0);
    free(whole);
}

/* Names in an application's tables are C strings of any bytes. */
TEST(json_is_utf8_whatever_a_name_has)
{
    char           *text = NULL;
    size_t          size = 0;
    FILE           *out  = open_memstream(&text, &size);
    yyjson_mut_doc *doc  = pawl__json_create();
    assert_true(yyjson_mut_obj_add_str(doc, yyjson_mut_doc_get_root(doc), "name", "a\xFF\xC3"));
    assert_int_equal(pawl__json_print(doc, out), PAWL_OK);
    fclose(out);
    assert_string_equal(text, "{\"name\":\"a??\"}\n");
    free(text);
}

TEST(progress_is_drawn_often_and_said_now_and_then)
{
    pawl__progress_times drawn = {.next = 0}, said = {.next = 0};
    int64_t              now = PAWL_SECONDS(100);
    assert_true(pawl__progress_is_due(&drawn, true, now));
    assert_false(pawl__progress_is_due(&drawn, true, now + PAWL_MILLISECONDS(99)));
    assert_true(pawl__progress_is_due(&drawn, true, now + PAWL_MILLISECONDS(100)));
    assert_false(pawl__progress_is_due(&said, false, now));
    assert_false(pawl__progress_is_due(&said, false, now + PAWL_SECONDS(10) - 1));
    assert_true(pawl__progress_is_due(&said, false, now + PAWL_SECONDS(10)));
    assert_false(pawl__progress_is_due(&said, false, now + PAWL_SECONDS(20) - 1));
    assert_true(pawl__progress_is_due(&said, false, now + PAWL_SECONDS(20)));
}

void (*const tests_first)(void) = fault_memory_install;
