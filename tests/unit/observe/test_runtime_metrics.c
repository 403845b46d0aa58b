/* test_runtime_metrics.c - counting, and the page that Prometheus reads. Contract
 * O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/message.h"
#include "runtime/operate/observe/observe.h"
#include "support/exposition.h"
#include "support/tests.h"

#include <pthread.h>

static exposition page;

static pawl_text write_page(const pawl__metrics_view *views, size_t count, pawl_arena *arena)
{
    pawl_text text;
    assert_int_equal(pawl__metrics_text(views, count, arena, &text), PAWL_OK);
    exposition_read(&page, text);
    return text;
}

/* ---- The table ------------------------------------------------------------------ */

/* The one rule that makes Prometheus's name of OpenTelemetry's. Of other units than "s" it keeps only
 * those in braces out of the name: a gauge of the unit "1" is a ratio. */
static void translate(const pawl__metric_row *row, char name[200])
{
    snprintf(name, 200, "%s%s%s", row->otlp_name, pawl__metric_is_seconds(row) ? ".seconds" : "",
             row->type == PAWL__COUNTER ? ".total" : "");
    for (char *at = name; *at != '\0'; at++)
        if (*at == '.')
            *at = '_';
}

TEST(o23_every_metric_has_names_unit_and_help)
{
    size_t slot = 0;
    for (size_t i = 0; i < PAWL__METRIC_COUNT; i++) {
        const pawl__metric_row *row    = &pawl__metric_rows[i];
        size_t                  labels = 0;
        char                    name[200];
        translate(row, name);
        assert_string_equal(row->name, name);
        assert_true(pawl__metric_is_seconds(row) || row->otlp_unit[0] == '{');
        assert_int_equal(row->help[strlen(row->help) - 1], '.');
        assert_int_equal(row->slot, slot);
        for (size_t j = 0; row->label != NULL && j <= row->slot_count; j++)
            labels += strlen(row->label[j]) > 0;
        assert_int_equal(labels, row->label != NULL ? row->slot_count + 1 : 0);
        slot += row->slot_count;
    }
    assert_int_equal(slot, PAWL__SLOT_COUNT);
}

TEST(o23_outcomes_are_named_in_their_order)
{
    assert_string_equal(pawl__outcome_names[PAWL_ATTEMPT_SUCCESS + 1], "success");
    assert_string_equal(pawl__outcome_names[PAWL_ATTEMPT_REJECTED + 1], "rejected");
    assert_string_equal(pawl__outcome_names[PAWL_ATTEMPT_TRANSIENT + 1], "transient");
    assert_string_equal(pawl__outcome_names[PAWL_ATTEMPT_POISON + 1], "poison");
}

/* ---- The page ------------------------------------------------------------------- */

TEST(o23_attempts_by_outcome)
{
    pawl__metrics      metrics = {{0}};
    pawl__metrics_view view    = {
           .owner = "endpoint", .name = PAWL_TEXT("orders"), .scopes = PAWL__SCOPE(ENDPOINT)};
    pawl_arena *arena = test_arena();
    pawl__metric_add(&metrics, PAWL__METRIC_ATTEMPTS, PAWL_ATTEMPT_SUCCESS, 3);
    pawl__metric_add(&metrics, PAWL__METRIC_ATTEMPTS, PAWL_ATTEMPT_POISON, 1);
    pawl__metrics_read(&metrics, &view);
    pawl_text text = write_page(&view, 1, arena);
#define ATTEMPTS(outcome) "pawl_outbox_attempts_total{endpoint=\"orders\",outcome=\"" outcome "\"}"
    assert_true(exposition_value(&page, ATTEMPTS("success")) == 3);
    assert_true(exposition_value(&page, ATTEMPTS("rejected")) == 0);
    assert_true(exposition_value(&page, ATTEMPTS("transient")) == 0);
    assert_true(exposition_value(&page, ATTEMPTS("poison")) == 1);
    static const char head[] =
        "# HELP pawl_outbox_attempts_total Attempts to deliver an outbox row, by outcome.\n"
        "# TYPE pawl_outbox_attempts_total counter\n" ATTEMPTS("success") " 3\n";
    assert_memory_equal(text.data, head, sizeof head - 1);
}

/* A duration on a bound belongs to it; every duration is in one bucket. */
TEST(o23_buckets_are_cumulative)
{
    pawl__metrics      metrics = {{0}};
    pawl__metrics_view view    = {
           .owner = "endpoint", .name = PAWL_TEXT("o"), .scopes = PAWL__SCOPE(ENDPOINT)};
    pawl_arena          *arena       = test_arena();
    static const int64_t durations[] = {-5, 0, 1000, 1001, 2500, 30000000, 30000001, 999};
    for (size_t i = 0; i < COUNT(durations); i++)
        pawl__metric_observe(&metrics, PAWL__METRIC_DISPATCH_DURATION, durations[i]);
    pawl__metrics_read(&metrics, &view);
    write_page(&view, 1, arena);
#define BUCKET(le) "pawl_outbox_dispatch_duration_seconds_bucket{endpoint=\"o\",le=\"" le "\"}"
    assert_true(exposition_value(&page, BUCKET("0.001")) == 4);
    assert_true(exposition_value(&page, BUCKET("0.0025")) == 6);
    assert_true(exposition_value(&page, BUCKET("10")) == 6);
    assert_true(exposition_value(&page, BUCKET("30")) == 7);
    assert_true(exposition_value(&page, BUCKET("+Inf")) == 8);
    assert_true(exposition_value(
                    &page, "pawl_outbox_dispatch_duration_seconds_count{endpoint=\"o\"}") == 8);
    double sum =
        exposition_value(&page, "pawl_outbox_dispatch_duration_seconds_sum{endpoint=\"o\"}");
    assert_true(sum > 60.005499 && sum < 60.005502); /* 1000 + 1001 + 2500 + 60000001 + 999 us */
}

TEST(o23_labels_are_escaped)
{
    pawl__metrics_view view  = {.owner  = "endpoint",
                                .name   = PAWL_TEXT("a\\b\"c\nd\xC3\xA4"),
                                .scopes = PAWL__SCOPE(ENDPOINT)};
    pawl_arena        *arena = test_arena();
    write_page(&view, 1, arena);
    assert_true(exposition_has(
        &page, "pawl_outbox_retention_deleted_total{endpoint=\"a\\\\b\\\"c\\nd\xC3\xA4\"}"));
}

/* Two endpoints stand under one head; what the store has is left out without it. */
TEST(o23_each_owner_shows_its_own)
{
    pawl__metrics       metrics = {{0}};
    pawl__metrics_view *views   = pawl_allocate(3 * sizeof *views);
    pawl_arena         *arena   = test_arena();
    assert_non_null(views);
    views[0].owner  = "endpoint";
    views[0].name   = PAWL_TEXT("left");
    views[0].scopes = PAWL__SCOPE(ENDPOINT) | PAWL__SCOPE(RUNNER);
    views[1].owner  = "endpoint";
    views[1].name   = PAWL_TEXT("right");
    views[1].scopes = PAWL__SCOPE(ENDPOINT);
    pawl__metric_set(&metrics, PAWL__METRIC_OUTBOX_AGE, 61500000);
    pawl__metric_set(&metrics, PAWL__METRIC_OUTBOX_PENDING, 7);
    pawl__metric_set(&metrics, PAWL__METRIC_STORE_UP, 1);
    pawl__metrics_read(&metrics, &views[2]);
    views[2].scopes = PAWL__SCOPE(STORE) | PAWL__SCOPE(OBSERVER);
    write_page(views, 3, arena);
    assert_true(exposition_has(&page, "pawl_outbox_retention_deleted_total{endpoint=\"left\"}"));
    assert_true(exposition_has(&page, "pawl_outbox_retention_deleted_total{endpoint=\"right\"}"));
    assert_true(exposition_value(&page, "pawl_outbox_pending") == 7);
    assert_true(exposition_value(&page, "pawl_outbox_oldest_age_seconds") == 61.5);
    assert_true(exposition_has(&page, "pawl_leader{endpoint=\"left\"}"));
    assert_false(exposition_has(&page, "pawl_leader{endpoint=\"right\"}"));
    views[2].scopes = PAWL__SCOPE(OBSERVER);
    write_page(views, 3, arena);
    assert_false(exposition_has(&page, "pawl_outbox_pending"));
    assert_true(exposition_value(&page, "pawl_store_up") == 1);
    pawl_free(views);
}

/* ---- Counting -------------------------------------------------------------------- */

TEST(o23_a_counter_read_elsewhere_never_falls)
{
    pawl__metrics      metrics = {{0}};
    pawl__metrics_view view    = {.scopes = PAWL__SCOPE(STORE)};
    static const int   read[]  = {5, 3, 4, 6};
    static const int   shown[] = {5, 5, 5, 6};
    for (size_t i = 0; i < COUNT(read); i++) {
        pawl__metric_raise(&metrics, PAWL__METRIC_HANDLED, read[i]);
        pawl__metrics_read(&metrics, &view);
        assert_int_equal(view.values[PAWL__SLOT_HANDLED], shown[i]);
    }
}

#define THREADS 4
#define ROUNDS 20000

static void *count_much(void *argument)
{
    pawl__metrics *metrics = argument;
    for (int i = 0; i < ROUNDS; i++) {
        pawl__metric_add(metrics, PAWL__METRIC_ATTEMPTS, PAWL_ATTEMPT_TRANSIENT, 1);
        pawl__metric_observe(metrics, PAWL__METRIC_DISPATCH_DURATION, 2);
        pawl__metric_raise(metrics, PAWL__METRIC_HANDLED, i);
    }
    return NULL;
}

/* While others count, every value read is one that was there, and none falls. */
TEST(o23_threads_lose_no_count)
{
    static pawl__metrics metrics;
    pawl__metrics_view   view = {.scopes = PAWL__SCOPE(STORE)};
    pthread_t            threads[THREADS];
    int64_t              last = 0;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_much, &metrics), 0);
    do {
        pawl__metrics_read(&metrics, &view);
        int64_t seen = view.values[PAWL__SLOT_ATTEMPTS + PAWL_ATTEMPT_TRANSIENT];
        assert_true(seen >= last && seen <= THREADS * ROUNDS);
        last = seen;
    } while (last < THREADS * ROUNDS);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pawl__metrics_read(&metrics, &view);
    assert_int_equal(view.values[PAWL__SLOT_DISPATCH_DURATION], THREADS * ROUNDS);
    assert_int_equal(view.values[PAWL__SLOT_DISPATCH_DURATION_LAST], 2 * THREADS * ROUNDS);
    assert_int_equal(view.values[PAWL__SLOT_HANDLED], ROUNDS - 1);
}
