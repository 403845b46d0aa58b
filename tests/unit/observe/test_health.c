/* test_health.c - when a store is healthy, degraded, unhealthy. O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/world.h"

#include "pawl/operations.h"
#include "runtime/operate/observe/observe.h"

#define NOW WORLD_START
#define SECOND PAWL_SECONDS(1)
#define STATS(...)                                    \
    .stats = &(const pawl_stats)                      \
    {                                                 \
        .stats_size = sizeof(pawl_stats), __VA_ARGS__ \
    }
#define FIGURES .figures_size = sizeof(pawl_health_figures)

/* ---- Limits ------------------------------------------------------------------- */

static const struct {
    pawl_health_options options;
    int64_t             age, dead; /* age 0: nothing is pending */
    pawl_health_state   lag_state, dead_state;
} limits[] = {
    {{0}, 0, 0, PAWL_HEALTHY, PAWL_HEALTHY},
    {{0}, 60 * SECOND - 1, 0, PAWL_HEALTHY, PAWL_HEALTHY},
    {{0}, 60 * SECOND, 0, PAWL_DEGRADED, PAWL_HEALTHY},
    {{0}, 300 * SECOND - 1, 0, PAWL_DEGRADED, PAWL_HEALTHY},
    {{0}, 300 * SECOND, 0, PAWL_UNHEALTHY, PAWL_HEALTHY},
    {{0}, -SECOND, 0, PAWL_HEALTHY, PAWL_HEALTHY}, /* a clock behind the writer's */
    {{0}, 0, 1, PAWL_HEALTHY, PAWL_DEGRADED},
    {{0}, 0, 99, PAWL_HEALTHY, PAWL_DEGRADED},
    {{0}, 0, 100, PAWL_HEALTHY, PAWL_UNHEALTHY},
    {{0}, 61 * SECOND, 100, PAWL_DEGRADED, PAWL_UNHEALTHY},
    {{.lag_degraded = 5, .lag_unhealthy = 5}, 4, 0, PAWL_HEALTHY, PAWL_HEALTHY},
    {{.lag_degraded = 5, .lag_unhealthy = 5}, 5, 0, PAWL_UNHEALTHY, PAWL_HEALTHY},
    {{.lag_unhealthy = -1}, 400 * SECOND, 0, PAWL_DEGRADED, PAWL_HEALTHY},
    {{.lag_degraded = -1}, 299 * SECOND, 0, PAWL_HEALTHY, PAWL_HEALTHY},
    {{.lag_degraded = -1, .lag_unhealthy = -1}, PAWL_DAYS(9), 0, PAWL_HEALTHY, PAWL_HEALTHY},
    {{.dead_degraded = 3, .dead_unhealthy = 4}, 0, 2, PAWL_HEALTHY, PAWL_HEALTHY},
    {{.dead_degraded = 3, .dead_unhealthy = 4}, 0, 3, PAWL_HEALTHY, PAWL_DEGRADED},
    {{.dead_degraded = 3, .dead_unhealthy = 4}, 0, 4, PAWL_HEALTHY, PAWL_UNHEALTHY},
    {{.dead_degraded = -1, .dead_unhealthy = -1}, 0, 1000000, PAWL_HEALTHY, PAWL_HEALTHY},
};

static void check_result(const pawl_health_result *result, const char *name,
                         pawl_health_state state, int64_t value, size_t row)
{
    assert_string_equal(result->name, name);
    if (result->state != state)
        fail_msg("row %zu: %s is %s, not %s", row, name, pawl_health_name(result->state),
                 pawl_health_name(state));
    assert_int_equal(result->value, value);
    assert_int_equal(result->reason[0] == '\0', state == PAWL_HEALTHY);
}

TEST(o23_limits_of_lag_and_dead_rows)
{
    for (size_t i = 0; i < COUNT(limits); i++) {
        pawl_health         health;
        int64_t             age     = limits[i].age;
        pawl_health_figures figures = {FIGURES, STATS(.outbox_oldest = age != 0 ? NOW - age : 0,
                                                      .outbox_dead   = limits[i].dead)};
        assert_int_equal(pawl_health_options_check(&limits[i].options, NULL), PAWL_OK);
        pawl_health_judge(&figures, &limits[i].options, NOW, &health);
        check_result(&health.checks[0], "outbox_lag", limits[i].lag_state, age > 0 ? age : 0, i);
        check_result(&health.checks[1], "outbox_dead", limits[i].dead_state, limits[i].dead, i);
        pawl_health_state worst =
            limits[i].lag_state > limits[i].dead_state ? limits[i].lag_state : limits[i].dead_state;
        assert_int_equal(health.state, worst);
    }
}

/* ---- Every check ---------------------------------------------------------------- */

static pawl_queue_stats one_queue[] = {
    {PAWL_TEXT_INIT("orders"), .ready = 3, .scheduled = 9, .oldest = NOW - 60 * SECOND}};
static pawl_queue_stats fresh_queues[] = {
    {PAWL_TEXT_INIT("orders"), .ready = 3, .scheduled = 9, .oldest = NOW - 60 * SECOND + 1},
    {PAWL_TEXT_INIT("mail"), .ready = 0, .scheduled = 9, .oldest = 0},
};
static pawl_queue_stats two_queues[] = {
    {PAWL_TEXT_INIT("orders"), .ready = 3, .scheduled = 9, .oldest = NOW - 70 * SECOND},
    {PAWL_TEXT_INIT("biling"), .ready = 1, .scheduled = 0, .oldest = NOW - 80 * SECOND},
};
static pawl_queue_stats retrying_queues[] = {
    {PAWL_TEXT_INIT("orders"), .scheduled = 3, .retried = 2, .retried_since = NOW - 310 * SECOND},
    {PAWL_TEXT_INIT("mail"), .scheduled = 3, .retried = 1, .retried_since = NOW - 299 * SECOND},
};
static pawl_queue_stats trying_queues[] = {
    {PAWL_TEXT_INIT("orders"), .scheduled = 3, .retried = 2,
     .retried_since = NOW - 300 * SECOND + 1},
    {PAWL_TEXT_INIT("mail"), .scheduled = 900, .retried_since = 0},
    {PAWL_TEXT_INIT("late"), .scheduled = 1, .retried = 1, .retried_since = NOW + 5},
};
static const pawl_worker_info one_worker[] = {{.endpoint = PAWL_TEXT_INIT("orders")}};
#define ORDERS_READS .workers = one_worker, .worker_count = 1
#define QUEUES(array) STATS(.queues = array, .queue_count = COUNT(array))

static pawl_projection_row near_projections[] = {
    {.name = PAWL_TEXT_INIT("totals"), .lag = 9999, .failure = {.since = NOW - 99 * SECOND}},
    {.name = PAWL_TEXT_INIT("names"), .failure = {.position = 5, .since = NOW - 10 * SECOND + 1}},
};
static pawl_projection_row far_projections[] = {
    {.name    = PAWL_TEXT_INIT("totals"),
     .lag     = 10001,
     .failure = {.position = 5, .since = NOW - 30 * SECOND}},
    {.name    = PAWL_TEXT_INIT("names"),
     .lag     = 10,
     .failure = {.position = 5, .since = NOW - 20 * SECOND}},
};
#define PROJECTIONS(array) .projections = {.items = array, .count = COUNT(array)}

static pawl_alarm late_alarms[] = {
    {.endpoint = PAWL_TEXT_INIT("bank"),
     .what     = PAWL_TEXT_INIT("breaker"),
     .since    = NOW - SECOND + 1},
    {.endpoint = PAWL_TEXT_INIT("mail"),
     .what     = PAWL_TEXT_INIT("breaker"),
     .since    = NOW - 5 * SECOND},
    {.endpoint = PAWL_TEXT_INIT("bank"),
     .what     = PAWL_TEXT_INIT("breaker"),
     .since    = NOW - 2 * SECOND},
    {.endpoint = PAWL_TEXT_INIT("post"),
     .what     = PAWL_TEXT_INIT("retention"),
     .since    = NOW - 7 * SECOND},
    {.endpoint = PAWL_TEXT_INIT("mail"),
     .what     = PAWL_TEXT_INIT("route"),
     .since    = NOW - 10 * SECOND},
};

static const pawl_worker_info senders[] = {{.endpoint = PAWL_TEXT_INIT("")}};

/* Each check at its default limit, and just below it (reason NULL). */
static const struct {
    const char         *name;
    pawl_health_figures figures;
    const char         *reason;
} checks[] = {
    {"outbox_blocked", {FIGURES, STATS(.outbox_blocked = 999)}, NULL},
    {"outbox_blocked",
     {FIGURES, STATS(.outbox_blocked = 1000)},
     "outbox rows blocked behind another of their ordering key: 1000, the limit is 1000"},
    {"queue_age", {FIGURES, QUEUES(fresh_queues), ORDERS_READS}, NULL},
    {"queue_age",
     {FIGURES, QUEUES(one_queue), ORDERS_READS},
     "queue orders: the oldest is ready for 60 s, the limit is 60 s"},
    {"queue_age",
     {FIGURES, QUEUES(two_queues), ORDERS_READS},
     "queue orders: the oldest is ready for 70 s, the limit is 60 s"},
    {"queue_age", {FIGURES, QUEUES(two_queues)}, NULL},
    {"queue_no_consumer", {FIGURES, QUEUES(one_queue), ORDERS_READS}, NULL},
    {"queue_no_consumer", {FIGURES, QUEUES(fresh_queues)}, NULL},
    {"queue_no_consumer",
     {FIGURES, QUEUES(one_queue)},
     "queue orders: ready for 60 s without a consumer, the limit is 60 s"},
    {"queue_no_consumer",
     {FIGURES, QUEUES(two_queues), ORDERS_READS},
     "queue biling: ready for 80 s without a consumer, the limit is 60 s"},
    {"retry_age", {FIGURES, QUEUES(trying_queues)}, NULL},
    {"retry_age",
     {FIGURES, QUEUES(retrying_queues)},
     "queue orders: a message in delayed retry was first due 310 s ago, the limit is 300 s"},
    {"timeouts_late", {FIGURES, .timeout_first = NOW - 60 * SECOND + 1}, NULL},
    {"timeouts_late", {FIGURES, .timeout_first = NOW + 600 * SECOND}, NULL},
    {"timeouts_late",
     {FIGURES, .timeout_first = NOW - 61 * SECOND},
     "the earliest timeout is 61 s late, the limit is 60 s"},
    {"partitions_dead", {FIGURES, STATS(.flushes_dead = 0)}, NULL},
    {"partitions_dead",
     {FIGURES, STATS(.flushes_dead = 2)},
     "dead aggregator partitions: 2, the limit is 1"},
    {"projection_lag", {FIGURES, PROJECTIONS(near_projections)}, NULL},
    {"projection_lag",
     {FIGURES, PROJECTIONS(far_projections)},
     "projection totals: 10001 events behind, the limit is 10000"},
    {"projection_failing", {FIGURES, PROJECTIONS(near_projections)}, NULL},
    {"projection_failing",
     {FIGURES, PROJECTIONS(far_projections)},
     "projection totals: fails at an event for 30 s, the limit is 10 s"},
    {"queue_paused",
     {FIGURES, .paused = PAWL_TEXT_INIT("mail"), .paused_since = NOW - 600 * SECOND + 1},
     NULL},
    {"queue_paused",
     {FIGURES, .paused = PAWL_TEXT_INIT("mail"), .paused_since = NOW - 600 * SECOND},
     "queue mail: has messages and is paused for 600 s, the limit is 600 s"},
    {"breaker_open", {FIGURES, .alarms = {late_alarms, 1}}, NULL},
    {"breaker_open",
     {FIGURES, .alarms = {late_alarms, 3}},
     "endpoint mail: its breaker has been open for 5 s, the limit is 1 s"},
    {"retention_failing", {FIGURES, .alarms = {late_alarms, 2}}, NULL},
    {"retention_failing",
     {FIGURES, .alarms = {late_alarms, 4}},
     "endpoint post: its retention sweep has failed for 7 s, the limit is 1 s"},
    {"route_away", {FIGURES, .alarms = {late_alarms, 4}}, NULL},
    {"route_away",
     {FIGURES, .alarms = {late_alarms, 5}},
     "endpoint mail: a receiver of its outbox is unavailable for 10 s, the limit is 10 s"},
    {"no_worker", {FIGURES, QUEUES(one_queue), ORDERS_READS}, NULL},
    {"no_worker", {FIGURES, .timeout_first = NOW - 2 * SECOND, ORDERS_READS}, NULL},
    {"no_worker", {FIGURES, .timeout_first = NOW + SECOND}, NULL},
    {"no_worker", {FIGURES, STATS(.flushes_oldest = NOW - 2 * SECOND), ORDERS_READS}, NULL},
    {"no_worker", {FIGURES, STATS(.flushes_oldest = NOW - SECOND + 1)}, NULL},
    {"no_worker",
     {FIGURES, STATS(.flushes_oldest = NOW - 9 * SECOND), .timeout_first = NOW - 2 * SECOND},
     "messages, timeouts or partitions have been due for 9 s and no worker is alive, the limit is 1 s"},
    {"no_worker", {FIGURES, .timeout_first = NOW - SECOND + 1}, NULL},
    {"no_worker",
     {FIGURES, QUEUES(one_queue)},
     "messages, timeouts or partitions have been due for 60 s and no worker is alive, the limit is 1 s"},
    {"no_worker",
     {FIGURES, .timeout_first = NOW - 7 * SECOND, .workers = senders, .worker_count = 1},
     "messages, timeouts or partitions have been due for 7 s and no worker is alive, the limit is 1 s"},
    {"clock_offset", {FIGURES, .clock_offset = SECOND - 1}, NULL},
    {"clock_offset",
     {FIGURES, .clock_offset = 7 * SECOND},
     "the server's clock and this machine's differ by 7 s, the limit is 1 s"},
    {"transaction_age", {FIGURES, .transaction_age = 600 * SECOND - 1}, NULL},
    {"transaction_age",
     {FIGURES, .transaction_age = 600 * SECOND},
     "a transaction of the database is open for 600 s, the limit is 600 s"},
    {"dead_letters", {FIGURES, STATS(.dead = 0)}, NULL},
    {"dead_letters", {FIGURES, STATS(.dead = 1000000)}, "dead letters: 1000000, the limit is 1"},
};

static const pawl_health_result *result_of(const pawl_health *health, const char *name)
{
    for (size_t i = 0; i < health->check_count; i++)
        if (strcmp(health->checks[i].name, name) == 0)
            return &health->checks[i];
    fail_msg("there is no check %s", name);
    return NULL;
}

/* None of them makes a process unhealthy by default: that would mend nothing. */
TEST(o23_checks_that_only_warn)
{
    for (size_t i = 0; i < COUNT(checks); i++) {
        pawl_health health;
        pawl_health_judge(&checks[i].figures, NULL, NOW, &health);
        const pawl_health_result *result = result_of(&health, checks[i].name);
        assert_int_equal(result->state, checks[i].reason != NULL ? PAWL_DEGRADED : PAWL_HEALTHY);
        assert_string_equal(result->reason, checks[i].reason != NULL ? checks[i].reason : "");
        assert_true(health.state != PAWL_UNHEALTHY);
    }
}

static pawl_subscription readers[] = {
    {.type = PAWL_TEXT_INIT("note"), .queue = PAWL_TEXT_INIT("biling")},
    {.type = PAWL_TEXT_INIT("reader:orders"), .queue = PAWL_TEXT_INIT("biling")},
};

/* Of a queue whose name is not the endpoint's. Figures of an older program do not say who reads it. */
TEST(o23_an_endpoint_with_a_queue_of_another_name_reads_it)
{
    pawl_health_figures figures = {FIGURES, QUEUES(two_queues), ORDERS_READS,
                                   .subscriptions = {.items = readers, .count = COUNT(readers)}};
    pawl_health         health;
    assert_int_equal(pawl_health_readers(&figures, PAWL_TEXT("biling")), 1);
    assert_int_equal(pawl_health_readers(&figures, PAWL_TEXT("mail")), 0);
    pawl_health_judge(&figures, NULL, NOW, &health);
    assert_int_equal(result_of(&health, "queue_no_consumer")->state, PAWL_HEALTHY);
    assert_string_equal(result_of(&health, "queue_age")->reason,
                        "queue biling: the oldest is ready for 80 s, the limit is 60 s");
    figures.figures_size = offsetof(pawl_health_figures, subscriptions);
    assert_int_equal(pawl_health_readers(&figures, PAWL_TEXT("biling")), 0);
}

static const pawl_health_options strict = {.blocked_degraded       = 1,
                                           .retried_degraded       = 1,
                                           .retried_unhealthy      = 5,
                                           .blocked_unhealthy      = 5,
                                           .queue_age_degraded     = 1,
                                           .queue_age_unhealthy    = 5,
                                           .no_consumer_degraded   = 1,
                                           .no_consumer_unhealthy  = 5,
                                           .late_degraded          = 1,
                                           .late_unhealthy         = 5,
                                           .partitions_unhealthy   = 5,
                                           .dead_letters_unhealthy = 5,
                                           .behind_degraded        = 1,
                                           .behind_unhealthy       = 5,
                                           .failing_degraded       = 1,
                                           .failing_unhealthy      = 5,
                                           .clock_degraded         = 1,
                                           .clock_unhealthy        = 5,
                                           .open_degraded          = 1,
                                           .open_unhealthy         = 5,
                                           .paused_degraded        = 1,
                                           .paused_unhealthy       = 5,
                                           .breaker_degraded       = 1,
                                           .breaker_unhealthy      = 5,
                                           .cleaning_degraded      = 1,
                                           .cleaning_unhealthy     = 5,
                                           .route_degraded         = 1,
                                           .route_unhealthy        = 5,
                                           .idle_degraded          = 1,
                                           .idle_unhealthy         = 5,
                                           .version_degraded       = 1,
                                           .version_unhealthy      = 5};
static const pawl_health_options off    = {.blocked_degraded      = -1,
                                           .retried_degraded      = -1,
                                           .queue_age_degraded    = -1,
                                           .no_consumer_degraded  = -1,
                                           .late_degraded         = -1,
                                           .partitions_degraded   = -1,
                                           .dead_letters_degraded = -1,
                                           .behind_degraded       = -1,
                                           .failing_degraded      = -1,
                                           .clock_degraded        = -1,
                                           .open_degraded         = -1,
                                           .paused_degraded       = -1,
                                           .breaker_degraded      = -1,
                                           .cleaning_degraded     = -1,
                                           .route_degraded        = -1,
                                           .idle_degraded         = -1,
                                           .version_degraded      = -1};

/* Limits of an operator's own hold for these, too. */
STATE_TEST(o23_own_limits_of_every_check, void **state)
{
    const pawl_health_figures all = {FIGURES,
                                     STATS(.queues = two_queues, .queue_count = 2,
                                           .outbox_blocked = 5, .flushes_dead = 5, .dead = 5),
                                     .timeout_first         = NOW - 5,
                                     .paused_since          = NOW - 5,
                                     .version_awaited_since = NOW - 5,
                                     .alarms                = {late_alarms, 5},
                                     .clock_offset          = 5 * SECOND,
                                     .transaction_age       = 600 * SECOND,
                                     PROJECTIONS(far_projections),
                                     ORDERS_READS};
    two_queues[0].retried_since   = NOW - 5;
    pawl_health health;
    assert_int_equal(pawl_health_options_check(&strict, NULL), PAWL_OK);
    assert_int_equal(pawl_health_options_check(&off, NULL), PAWL_OK);
    pawl_health_judge(&all, &strict, NOW, &health);
    for (size_t i = 0; i < health.check_count; i++)
        assert_int_equal(health.checks[i].state,
                         strncmp(health.checks[i].name, "outbox_l", 8) == 0 ||
                                 strcmp(health.checks[i].name, "outbox_dead") == 0 ||
                                 strcmp(health.checks[i].name, "no_worker") == 0
                             ? PAWL_HEALTHY
                             : PAWL_UNHEALTHY);
    pawl_health_judge(&all, &off, NOW, &health);
    assert_int_equal(health.state, PAWL_HEALTHY);
}

TEST(o23_reasons_name_value_and_limit)
{
    pawl_health         health;
    pawl_health_figures figures = {FIGURES,
                                   STATS(.outbox_oldest = NOW - 75 * SECOND, .outbox_dead = 130)};
    pawl_health_judge(&figures, NULL, NOW, &health);
    assert_string_equal(health.checks[0].reason,
                        "the oldest pending outbox row is 75 s old, the limit is 60 s");
    assert_string_equal(health.checks[1].reason, "dead outbox rows: 130, the limit is 100");
    assert_string_equal(pawl_health_name(PAWL_HEALTHY), "healthy");
    assert_string_equal(pawl_health_name(PAWL_DEGRADED), "degraded");
    assert_string_equal(pawl_health_name(PAWL_UNHEALTHY), "unhealthy");
    assert_string_equal(pawl_health_name((pawl_health_state)77), "?");
}

TEST(o23_limits_in_the_wrong_order_are_refused)
{
    static const pawl_health_options wrong[] = {
        {.lag_degraded = 10, .lag_unhealthy = 9},
        {.lag_degraded = PAWL_HOURS(1)}, /* above the default of the other */
        {.lag_degraded = PAWL_SECONDS(90), .lag_unhealthy = PAWL_MILLISECONDS(89500)},
        {.dead_degraded = 101},
        {.dead_unhealthy = 4, .dead_degraded = 5},
    };
    static const char *const texts[] = {
        "unhealthy from 9us is below degraded from 10us",
        "unhealthy from 5m is below degraded from 1h",
        "unhealthy from 89500ms is below degraded from 90s",
        "unhealthy from 100 is below degraded from 101",
        "unhealthy from 4 is below degraded from 5",
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        pawl_error error = PAWL_ERROR_INIT;
        assert_int_equal(pawl_health_options_check(&wrong[i], &error), PAWL_EINVAL);
        assert_non_null(strstr(error.text, texts[i]));
    }
}

/* ---- Reasons --------------------------------------------------------------------- */

TEST(o23_a_reason_that_is_too_long_says_so)
{
    pawl_health health;
    char        reason[402] = "";
    for (size_t i = 0; i < 400; i += 2)
        memcpy(reason + i, "é", 3);
    pawl__health_of_failure(reason, &health);
    const char *cut = health.checks[0].reason;
    assert_true(pawl_text_is_valid(pawl_text_of(cut), NULL));
    assert_string_equal(cut + strlen(cut) - 5, "é...");
    assert_in_range(strlen(cut), sizeof health.checks[0].reason - 2,
                    sizeof health.checks[0].reason - 1);
    memcpy(reason + 198, "x", 2);
    pawl__health_of_failure(reason, &health);
    assert_string_equal(health.checks[0].reason, reason);
}

/* Of a name of 200 bytes the start is there, whole characters of it, and all that is said of it. */
TEST(o23_a_reason_says_more_than_a_long_name)
{
    static const char *const shapes[] = {"", "x", "xx"};
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        char        name[PAWL_NAME_SIZE_MAX + 1];
        pawl_health health;
        size_t      size = strlen(shapes[shape]);
        strcpy(name, shapes[shape]);
        for (; size + 3 < sizeof name; size += 3)
            memcpy(name + size, "\xE2\x82\xAC", 4);
        pawl_text        place = {.data = name, .size = size};
        pawl_queue_stats queue = {
            .queue = place, .ready = 1, .oldest = 1, .retried = 1, .retried_since = 1};
        pawl_projection_row row = {
            .name = place, .lag = INT64_MAX / 2, .failure = {.position = 1, .since = 1}};
        pawl_alarm alarms[] = {{.what = PAWL_TEXT("breaker"), .since = 1, .endpoint = place},
                               {.what = PAWL_TEXT("retention"), .since = 1, .endpoint = place},
                               {.what = PAWL_TEXT("route"), .since = 1, .endpoint = place}};
        pawl_health_figures figures = {
            FIGURES,
            STATS(.queues = &queue, .queue_count = 1, .outbox_oldest = 1, .dead = 5),
            .projections           = {&row, 1},
            .alarms                = {alarms, COUNT(alarms)},
            .paused                = place,
            .paused_since          = 1,
            .version_awaited       = place,
            .version_awaited_since = 1,
            .timeout_first         = 1,
            .clock_offset          = INT64_MAX,
            .transaction_age       = INT64_MAX};
        size_t cut_count = 0;
        pawl_health_judge(&figures, NULL, INT64_MAX, &health);
        for (size_t i = 0; i < health.check_count; i++) {
            const char *reason = health.checks[i].reason;
            assert_true(pawl_text_is_valid(pawl_text_of(reason), NULL));
            if (reason[0] != '\0' && strstr(reason, "the limit is ") == NULL)
                fail_msg("%s: %s", health.checks[i].name, reason);
            assert_in_range(strlen(reason), 0, sizeof health.checks[i].reason - 2);
            cut_count += strstr(reason, "\xE2\x82\xAC...: ") != NULL;
        }
        assert_int_equal(cut_count, 9);
    }
    char cut[PAWL__PLACE_SIZE], name[PAWL__PLACE_SIZE + 1] = "";
    memset(name, 'x', PAWL__PLACE_SIZE - 1);
    assert_true(pawl__health_place(pawl_text_of(name), cut).data == name);
    name[PAWL__PLACE_SIZE - 1] = 'x';
    assert_int_equal(pawl__health_place(pawl_text_of(name), cut).size, PAWL__PLACE_SIZE - 1);
}

TEST(o23_health_as_json)
{
    pawl_health         health;
    pawl_text           json;
    pawl_health_figures figures = {FIGURES, STATS(.outbox_dead = 2)};
    pawl_arena         *arena   = test_arena();
    pawl_health_judge(&figures, NULL, NOW, &health);
    assert_int_equal(pawl__health_json(&health, arena, &json), PAWL_OK);
    static const char begin[] = "{\"status\":\"degraded\",\"checks\":["
                                "{\"name\":\"outbox_lag\",\"status\":\"healthy\"},"
                                "{\"name\":\"outbox_dead\",\"status\":\"degraded\","
                                "\"reason\":\"dead outbox rows: 2, the limit is 1\"},";
    assert_memory_equal(json.data, begin, sizeof begin - 1);
    pawl__health_of_failure("cannot open \"x\"\n", &health);
    assert_int_equal(pawl__health_json(&health, arena, &json), PAWL_OK);
    assert_string_equal(json.data,
                        "{\"status\":\"unhealthy\",\"checks\":[{\"name\":\"store\","
                        "\"status\":\"unhealthy\",\"reason\":\"cannot open \\\"x\\\"\\n\"}]}");
    pawl__health_of_failure("a\xFFz \xE2\x82 \xC3\xA4", &health);
    assert_int_equal(pawl__health_json(&health, arena, &json), PAWL_OK);
    assert_non_null(strstr(json.data, "\"reason\":\"a?z ?? \xC3\xA4\""));
}
