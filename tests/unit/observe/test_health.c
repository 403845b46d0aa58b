/* test_health.c - when a store is healthy, degraded, unhealthy. O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/lean.h"
#include "support/world.h"

#include "pawl/operations.h"
#include "runtime/observe/health.h"

#include <string.h>

#define NOW WORLD_START
#define SECOND PAWL_SECONDS(1)

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

static void o23_limits_of_lag_and_dead_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        pawl_health         health;
        int64_t             age     = limits[i].age;
        pawl_health_figures figures = {
            .stats = {.outbox_oldest = age != 0 ? NOW - age : 0, .outbox_dead = limits[i].dead}};
        assert_int_equal(pawl__health_options_check(&limits[i].options, NULL), PAWL_OK);
        pawl_health_judge(&figures, &limits[i].options, NOW, &health);
        assert_int_equal(health.check_count, 2);
        check_result(&health.checks[0], "outbox_lag", limits[i].lag_state, age > 0 ? age : 0, i);
        check_result(&health.checks[1], "outbox_dead", limits[i].dead_state, limits[i].dead, i);
        pawl_health_state worst =
            limits[i].lag_state > limits[i].dead_state ? limits[i].lag_state : limits[i].dead_state;
        assert_int_equal(health.state, worst);
    }
}

static void o23_reasons_name_value_and_limit(void **state)
{
    pawl_health         health;
    pawl_health_figures figures = {
        .stats = {.outbox_oldest = NOW - 75 * SECOND, .outbox_dead = 130}};
    (void)state;
    pawl_health_judge(&figures, NULL, NOW, &health);
    assert_string_equal(health.checks[0].reason,
                        "the oldest pending outbox row is 75 s old, the limit is 60 s");
    assert_string_equal(health.checks[1].reason, "dead outbox rows: 130, the limit is 100");
    assert_string_equal(pawl_health_name(PAWL_HEALTHY), "healthy");
    assert_string_equal(pawl_health_name(PAWL_DEGRADED), "degraded");
    assert_string_equal(pawl_health_name(PAWL_UNHEALTHY), "unhealthy");
    assert_string_equal(pawl_health_name((pawl_health_state)77), "?");
}

static void o23_limits_in_the_wrong_order_are_refused(void **state)
{
    static const pawl_health_options wrong[] = {
        {.lag_degraded = 10, .lag_unhealthy = 9},
        {.lag_degraded = PAWL_HOURS(1)}, /* above the default of the other */
        {.dead_degraded = 101},
        {.dead_unhealthy = 4, .dead_degraded = 5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pawl_error error = PAWL_ERROR_INIT;
        assert_int_equal(pawl__health_options_check(&wrong[i], &error), PAWL_EINVAL);
        assert_non_null(strstr(error.text, "is below degraded from"));
    }
}

/* ---- A store -------------------------------------------------------------------- */

/* A row that was dispatched to nowhere waits; another one is dead. */
static void o23_a_store_is_asked(const char *url)
{
    pawl_error      error = PAWL_ERROR_INIT;
    pawl_store     *store = NULL;
    pawl_health     health;
    pawl_outbox_row row = {.dispatch_id = {{{1}}},
                           .endpoint    = PAWL_TEXT("orders"),
                           .destination = PAWL_TEXT("far"),
                           .message     = {.id      = PAWL_TEXT("m1"),
                                           .type    = PAWL_TEXT("note"),
                                           .body    = PAWL_TEXT("{}"),
                                           .headers = PAWL_TEXT("")}};
    world_ok(pawl_store_open(url, NULL, &store, &error), &error);
    world_ok(pawl_health_check(store, NULL, NOW, &health, &error), &error);
    assert_int_equal(health.state, PAWL_HEALTHY);
    world_ok(pawl_store_outbox_insert(store, &row, NOW, &error), &error);
    world_ok(pawl_health_check(store, NULL, NOW + 59 * SECOND, &health, &error), &error);
    assert_int_equal(health.state, PAWL_HEALTHY);
    world_ok(pawl_health_check(store, NULL, NOW + 60 * SECOND, &health, &error), &error);
    assert_int_equal(health.state, PAWL_DEGRADED);
    assert_int_equal(health.checks[0].value, 60 * SECOND);
    world_ok(pawl_health_check(store, NULL, NOW + 300 * SECOND, &health, NULL), &error);
    assert_int_equal(health.state, PAWL_UNHEALTHY);
    pawl_arena        *arena  = pawl_arena_create(0);
    pawl_outbox_rows   rows   = {.count = 0};
    pawl_outbox_result result = {.outcome = PAWL_ATTEMPT_REJECTED, .error = PAWL_TEXT("no")};
    world_ok(pawl_store_outbox_list(store, PAWL_OUTBOX_PENDING, 0, arena, &rows, &error), &error);
    assert_int_equal(rows.count, 1);
    world_ok(pawl_store_outbox_settle(store, &rows.items[0], &result, NOW, &error), &error);
    world_ok(pawl_health_check(store, NULL, NOW + 300 * SECOND, &health, &error), &error);
    assert_int_equal(health.checks[0].state, PAWL_HEALTHY);
    assert_int_equal(health.checks[1].state, PAWL_DEGRADED);
    assert_int_equal(health.state, PAWL_DEGRADED);
    pawl_arena_destroy(arena);
    pawl_store_close(store);
}

static pawl_code no_stats(pawl_store *store, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                          pawl_error *error)
{
    (void)store;
    (void)now;
    (void)arena;
    (void)stats;
    return pawl_error_set(error, PAWL_EUNREACHABLE, "the server is away");
}

static pawl_code no_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                           pawl_error *error)
{
    (void)store;
    (void)changes;
    (void)refused;
    (void)error;
    return PAWL_OK;
}

static void o23_a_store_that_does_not_answer_is_unhealthy(void **state)
{
    static pawl_store_ops ops   = {LEAN_STORE, .scheme = "mute", .commit = no_commit,
                                   .stats = no_stats};
    pawl_store           *store = NULL;
    pawl_error            error = PAWL_ERROR_INIT;
    pawl_health           health;
    (void)state;
    assert_int_equal(pawl_store_register(&ops, &error), PAWL_OK);
    assert_int_equal(pawl_store_open("mute:", NULL, &store, &error), PAWL_OK);
    assert_int_equal(pawl_health_check(store, NULL, NOW, &health, &error), PAWL_EUNREACHABLE);
    assert_int_equal(health.state, PAWL_UNHEALTHY);
    assert_int_equal(health.check_count, 1);
    assert_string_equal(health.checks[0].name, "store");
    assert_string_equal(health.checks[0].reason, "the server is away");
    assert_int_equal(pawl_health_check(store, NULL, NOW, &health, NULL), PAWL_EUNREACHABLE);
    assert_string_equal(health.checks[0].reason, "the server is away");
    ops.stats = NULL;
    assert_int_equal(pawl_health_check(store, NULL, NOW, &health, &error), PAWL_EUNSUPPORTED);
    assert_int_equal(health.state, PAWL_UNHEALTHY);
    pawl_health_options wrong = {.dead_degraded = 200};
    assert_int_equal(pawl_health_check(store, &wrong, NOW, &health, &error), PAWL_EINVAL);
    assert_int_equal(health.state, PAWL_UNHEALTHY);
    pawl_store_close(store);
}

static void o23_a_reason_that_is_too_long_says_so(void **state)
{
    pawl_health health;
    char        reason[402] = "";
    (void)state;
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

static void o23_health_as_json(void **state)
{
    pawl_health         health;
    pawl_text           json;
    pawl_health_figures figures = {.stats = {.outbox_dead = 2}};
    pawl_arena         *arena   = pawl_arena_create(0);
    (void)state;
    pawl_health_judge(&figures, NULL, NOW, &health);
    assert_int_equal(pawl__health_json(&health, arena, &json), PAWL_OK);
    assert_string_equal(json.data, "{\"status\":\"degraded\",\"checks\":["
                                   "{\"name\":\"outbox_lag\",\"status\":\"healthy\"},"
                                   "{\"name\":\"outbox_dead\",\"status\":\"degraded\","
                                   "\"reason\":\"dead outbox rows: 2, the limit is 1\"}]}");
    pawl__health_of_failure("cannot open \"x\"\n", &health);
    assert_int_equal(pawl__health_json(&health, arena, &json), PAWL_OK);
    assert_string_equal(json.data,
                        "{\"status\":\"unhealthy\",\"checks\":[{\"name\":\"store\","
                        "\"status\":\"unhealthy\",\"reason\":\"cannot open \\\"x\\\"\\n\"}]}");
    pawl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(o23_limits_of_lag_and_dead_rows),
        cmocka_unit_test(o23_reasons_name_value_and_limit),
        cmocka_unit_test(o23_limits_in_the_wrong_order_are_refused),
        ON_ALL_STORES(o23_a_store_is_asked),
        cmocka_unit_test(o23_a_store_that_does_not_answer_is_unhealthy),
        cmocka_unit_test(o23_a_reason_that_is_too_long_says_so),
        cmocka_unit_test(o23_health_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
