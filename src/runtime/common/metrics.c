/* metrics.c - the table of metrics, and counting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/common/metrics.h"

#include <assert.h>
#include <string.h>

const int64_t pawl__bucket_bounds[PAWL__BUCKET_COUNT - 1] = {
    1000,   2500,   5000,    10000,   25000,   50000,    100000,
    250000, 500000, 1000000, 2500000, 5000000, 10000000, 30000000};

const char *const pawl__outcome_names[] = {"outcome", "success", "rejected", "transient", "poison"};
const char *const pawl__signal_names[]  = {"signal", "traces", "metrics"};
const char *const pawl__queue_state_names[] = {"state", "ready", "scheduled"};

#define CHECK_NAME(check, field, kind, degraded_default, unhealthy_default, reason, help) #check,
const char *const pawl__health_check_names[] = {"check", PAWL__HEALTH_ROWS(CHECK_NAME)};

#define ROW(id, scope_, type_, slots, name_, otlp_name_, unit, label_, help_) \
    [PAWL__METRIC_##id] = {.name       = (name_),                             \
                           .otlp_name  = (otlp_name_),                        \
                           .otlp_unit  = (unit),                              \
                           .label      = (label_),                            \
                           .help       = (help_),                             \
                           .scope      = PAWL__OF_##scope_,                   \
                           .type       = PAWL__##type_,                       \
                           .slot       = PAWL__SLOT_##id,                     \
                           .slot_count = (slots)},

const pawl__metric_row pawl__metric_rows[PAWL__METRIC_COUNT] = {PAWL__METRICS(ROW)};

bool pawl__metric_is_seconds(const pawl__metric_row *row)
{
    return strcmp(row->otlp_unit, "s") == 0;
}

static _Atomic int64_t *slot_of(pawl__metrics *metrics, pawl__metric id, size_t index)
{
    assert(index < pawl__metric_rows[id].slot_count);
    return &metrics->slots[pawl__metric_rows[id].slot + index];
}

void pawl__metric_add(pawl__metrics *metrics, pawl__metric id, size_t label, int64_t count)
{
    atomic_fetch_add_explicit(slot_of(metrics, id, label), count, memory_order_relaxed);
}

void pawl__metric_set_at(pawl__metrics *metrics, pawl__metric id, size_t label, int64_t value)
{
    atomic_store_explicit(slot_of(metrics, id, label), value, memory_order_relaxed);
}

void pawl__metric_set(pawl__metrics *metrics, pawl__metric id, int64_t value)
{
    pawl__metric_set_at(metrics, id, 0, value);
}

void pawl__metric_raise(pawl__metrics *metrics, pawl__metric id, int64_t value)
{
    _Atomic int64_t *slot = slot_of(metrics, id, 0);
    int64_t          seen = atomic_load_explicit(slot, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak_explicit(
                               slot, &seen, value, memory_order_relaxed, memory_order_relaxed)) {
    }
}

void pawl__metric_observe(pawl__metrics *metrics, pawl__metric id, int64_t microseconds)
{
    size_t bucket = 0;
    if (microseconds < 0) /* a virtual clock may go back */
        microseconds = 0;
    while (bucket < PAWL__BUCKET_COUNT - 1 && microseconds > pawl__bucket_bounds[bucket])
        bucket++;
    pawl__metric_add(metrics, id, bucket, 1);
    pawl__metric_add(metrics, id, PAWL__BUCKET_COUNT, microseconds);
}

void pawl__metrics_read(const pawl__metrics *metrics, pawl__metrics_view *view)
{
    for (size_t i = 0; i < PAWL__SLOT_COUNT; i++)
        view->values[i] = atomic_load_explicit(&metrics->slots[i], memory_order_relaxed);
}

void pawl__metrics_merge(pawl__metrics_view *view, const pawl__metrics_view *other)
{
    if (!other->has_left)
        view->scopes |= other->scopes;
    for (const pawl__metric_row *row = pawl__metric_rows;
         row < pawl__metric_rows + PAWL__METRIC_COUNT; row++)
        for (size_t slot = row->slot; slot < row->slot + row->slot_count; slot++)
            if (row->type != PAWL__GAUGE)
                view->values[slot] += other->values[slot];
            else if (!other->has_left && view->values[slot] < other->values[slot])
                view->values[slot] = other->values[slot];
}

bool pawl__metrics_has(const pawl__metrics_view *view, const pawl__metric_row *row)
{
    return (view->scopes & 1u << row->scope) != 0 && !(view->has_left && row->type == PAWL__GAUGE);
}
