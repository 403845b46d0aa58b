/* test_command_watch.c - the picture of `pawl stats --watch`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Parts of the command, not of the library. */
#include "cli/answers/watch_draw.c"
#include "cli/base/memory.c"
#include "cli/base/output.c"
#include "cli/base/table.c"
#include "support/tests.h"

#define NOON INT64_C(1767182400000000) /* 2025-12-31T12:00:00Z */

static pawl_queue_stats queues[] = {
    {PAWL_TEXT_INIT("mail"), .ready = 0, .scheduled = 7, .oldest = 0},
    {PAWL_TEXT_INIT("orders"), .ready = 3, .scheduled = 0, .oldest = NOON - PAWL_SECONDS(1)},
    {PAWL_TEXT_INIT("payments"), .ready = 100000, .scheduled = 0, .oldest = NOON - PAWL_HOURS(2)},
    {PAWL_TEXT_INIT("biling"), .ready = 1, .scheduled = 0, .oldest = NOON - PAWL_MINUTES(3)},
};
static const pawl_worker_info workers[] = {
    {.endpoint = PAWL_TEXT_INIT("payments")},
    {.endpoint = PAWL_TEXT_INIT("orders")},
    {.endpoint = PAWL_TEXT_INIT("payments")},
    {.endpoint = PAWL_TEXT_INIT("")},
};

static const pawl_stats counted = {.stats_size       = sizeof(pawl_stats),
                                   .queues           = queues,
                                   .queue_count      = 4,
                                   .outbox_pending   = 12,
                                   .outbox_dead      = 1,
                                   .outbox_oldest    = NOON - PAWL_MINUTES(5),
                                   .timeouts_due     = 2,
                                   .timeouts_pending = 30,
                                   .dead             = 5,
                                   .workers          = 4,
                                   .counters = {.messages = 2500000, .failures = 41, .dead = 5}};

static pawl__watch_sample sample_of(void)
{
    pawl__watch_sample sample = {.at      = NOON,
                                 .figures = {.figures_size  = sizeof(pawl_health_figures),
                                             .stats         = &counted,
                                             .workers       = workers,
                                             .worker_count  = 4,
                                             .timeout_first = NOON - PAWL_SECONDS(3)}};
    pawl_health_judge(&sample.figures, NULL, NOON, &sample.health);
    return sample;
}

static pawl__watch_picture picture_of(const pawl__watch_sample *sample)
{
    return (pawl__watch_picture){
        .store           = "postgres://shop@db/orders",
        .sample          = sample,
        .before          = NOON - PAWL_SECONDS(2),
        .counters_before = {.messages = 2497531, .failures = 40, .dead = 5},
        .period          = PAWL_SECONDS(2),
        .columns         = 80,
        .lines           = 24};
}

static void check(const pawl__watch_picture *picture, const char *wanted)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *out  = open_memstream(&text, &size);
    assert_non_null(out);
    pawl__watch_draw(picture, out);
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
}

static pawl_projection_row projections[] = {
    {.name = PAWL_TEXT_INIT("names"), .lag = 10},
    {.name = PAWL_TEXT_INIT("totals"), .lag = 412},
    {.name = PAWL_TEXT_INIT("tags"), .lag = 7},
};

static const char drawn[] =
    "pawl stats postgres://shop@db/orders             2025-12-31T12:00:00Z  every 2 s\n"
    "unhealthy  the oldest pending outbox row is 300 s old, the limit is 300 s\n"
    "degraded   dead outbox rows: 1, the limit is 1\n"
    "degraded   queue payments: the oldest is ready for 7200 s, the limit is 60 s\n"
    "degraded   queue biling: ready for 180 s without a consumer, the limit is 60 s\n"
    "degraded   dead letters: 5, the limit is 1\n"
    "\n"
    "                handled   timeouts    flushes   failures  conflicts       dead\n"
    "per second         1234          0          0        0.5          0          0\n"
    "ever              2.5 M          0          0         41          0          5\n"
    "\n"
    "outbox       pending 12        blocked 0         dead 1         oldest 5 m\n"
    "timeouts     pending 30        due     2                        late   3 s\n"
    "aggregators  messages 0        partitions dead 0\n"
    "projections  behind  412       totals\n"
    "store        dead letters 5    deduplication records 0       workers 4\n"
    "\n"
    "queue                           ready scheduled    oldest  workers\n"
    "biling                              1         0       3 m        0  no consumer\n"
    "payments                     100.0 k+         0       2 h        2\n"
    "orders                              3         0       1 s        1\n"
    "mail                                0         7         -        0\n";

TEST(a_picture_has_the_worst_first)
{
    pawl__watch_sample  sample  = sample_of();
    pawl__watch_picture picture = picture_of(&sample);
    sample.figures.projections  = (pawl_projection_rows){projections, 3};
    check(&picture, drawn);
}

/* A failing projection stands before one that is further behind. */
TEST(a_failing_projection_is_the_worst)
{
    pawl_projection_row rows[] = {
        {.name = PAWL_TEXT("far"), .lag = 500},
        {.name = PAWL_TEXT("stuck"), .lag = 3, .failure = {.position = 9}},
        {.name = PAWL_TEXT("also"), .lag = 2, .failure = {.position = 9}},
    };
    const pawl_health_figures figures = {.projections = {rows, 3}};
    assert_ptr_equal(worst_projection(&figures), &rows[1]);
    assert_null(worst_projection(&(const pawl_health_figures){.worker_count = 0}));
}

/* OPERATING.md has this very picture, indented. */
TEST(the_page_has_the_picture)
{
    char        page[128 * 1024];
    const char *folder = getenv("PAWL_SOURCE_DIR");
    if (folder == NULL)
        skip();
    FILE *file = fopen(test_text("%s/docs/OPERATING.md", folder), "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = '\0';
    for (const char *line = drawn, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        const char *indented =
            test_text("\n%s%.*s\n", end > line ? "    " : "", (int)(end - line), line);
        if (strstr(page, indented) == NULL)
            fail_msg("the page has not: %s", indented);
    }
}

TEST(a_name_cannot_move_the_cursor)
{
    pawl_queue_stats    odd     = {PAWL_TEXT_INIT("\033[2J\nx"), .ready = 1, .scheduled = 0,
                                   .oldest = NOON};
    pawl_stats          one     = {.stats_size = sizeof one, .queues = &odd, .queue_count = 1};
    pawl__watch_sample  sample  = {.at = NOON, .figures = {.stats = &one}};
    pawl__watch_picture picture = picture_of(&sample);
    char               *text    = NULL;
    size_t              size    = 0;
    FILE               *out     = open_memstream(&text, &size);
    assert_non_null(out);
    pawl__watch_draw(&picture, out);
    fclose(out);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "\n?[2J x   "));
    free(text);
}

TEST(a_small_screen_loses_the_end)
{
    pawl__watch_sample  sample  = sample_of();
    pawl__watch_picture picture = picture_of(&sample);
    picture.columns = 40, picture.lines = 3;
    check(&picture, "pawl stats  2025-12-31T12:00:00Z  every \n"
                    "unhealthy  the oldest pending outbox row\n"
                    "degraded   dead outbox rows: 1, the limi\n");
    picture.columns = 60, picture.lines = 1;
    check(&picture, "pawl stats postgres://shop@d 2025-12-31T12:00:00Z  every 2 s\n");
}

TEST(what_is_not_known_is_a_dash)
{
    pawl__watch_sample  sample  = {.at = NOON};
    pawl__watch_picture picture = picture_of(&sample);
    picture.before              = 0;
    check(&picture,
          "pawl stats postgres://shop@db/orders             2025-12-31T12:00:00Z  every 2 s\n"
          "healthy    nothing is stuck\n"
          "\n"
          "                handled   timeouts    flushes   failures  conflicts       dead\n"
          "per second            -          -          -          -          -          -\n"
          "ever                  0          0          0          0          0          0\n"
          "\n"
          "outbox       pending 0         blocked 0         dead 0         oldest -\n"
          "timeouts     pending 0         due     0                        late   -\n"
          "aggregators  messages 0        partitions dead 0\n"
          "store        dead letters 0    deduplication records 0       workers 0\n"
          "\n"
          "queue                           ready scheduled    oldest  workers\n");
}

TEST(a_store_that_does_not_answer_shows_no_numbers)
{
    pawl__watch_sample  sample  = {.at = NOON};
    pawl__watch_picture picture = picture_of(&sample);
    picture.failure             = "cannot connect\nat all";
    check(&picture,
          "pawl stats postgres://shop@db/orders             2025-12-31T12:00:00Z  every 2 s\n"
          "no answer  cannot connect at all\n");
}

/* A counter that is taken back makes no rate below zero, and a huge one stays in its column. */
TEST(rates_of_counters)
{
    static const struct {
        int64_t     before, after, span;
        const char *text;
    } cases[] = {
        {0, 0, PAWL_SECONDS(1), "0"},
        {0, 1, PAWL_SECONDS(10), "0.1"},
        {5, 4, PAWL_SECONDS(1), "0"},
        {0, 250, PAWL_MILLISECONDS(500), "500"},
        {0, 250000, PAWL_SECONDS(1), "250.0 k"},
        {0, 1, 0, "-"},
        {0, 1, -5, "-"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char                text[NUMBER_SIZE];
        pawl__watch_sample  sample  = {.at = NOON};
        pawl__watch_picture picture = {.sample = &sample, .before = NOON - cases[i].span};
        assert_string_equal(format_rate(&picture, cases[i].before, cases[i].after, text),
                            cases[i].text);
    }
}

TEST(a_line_sums_all_queues)
{
    pawl__watch_sample  sample  = sample_of();
    pawl__watch_picture picture = picture_of(&sample);
    char               *text    = NULL;
    size_t              size    = 0;
    FILE               *out     = open_memstream(&text, &size);
    assert_non_null(out);
    pawl__watch_heading(out);
    pawl__watch_line(&picture, out);
    fclose(out);
    assert_string_equal(text,
                        "at                   handled/s  failed/s   confl/s    ready scheduled "
                        "   oldest  outbox  dead workers health\n"
                        "2025-12-31T12:00:00Z      1234       0.5         0 100.0 k+         7 "
                        "      2 h      12     5       4 unhealthy\n");
    free(text);
}
