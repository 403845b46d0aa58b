/* export.c - makes exports for a collector and handles their results.
 *
 *     next:  lend spans -> JSON
 *     done:  taken   -> release; rejected ones are counted
 *            later   -> lend them again, until a span had TRIES_MAX tries
 *            refused -> release, lost
 *
 * Metrics are cumulative, so the next export replaces one that did not arrive.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate/observe/observe.h"

#define EXPORT_COUNT_MAX 512 /* spans: about half a megabyte of JSON */
#define TRIES_MAX 6
#define PARTIAL_PERIOD PAWL_MINUTES(10) /* between log lines about rejected items */
#define MESSAGE_SIZE_MAX 300            /* of a collector's text, in a line of the log */

/* ---- Next ---------------------------------------------------------------- */

/* Releases the spans in the export; `lost` of them did not arrive. */
static void release_lent(pawl__observer *observer, size_t lost)
{
    pawl__metrics *metrics = &observer->metrics;
    pawl__metric_add(metrics, PAWL__METRIC_SPANS_EXPORTED, 0, (int64_t)(observer->lent - lost));
    pawl__metric_add(metrics, PAWL__METRIC_SPANS_DROPPED, 0, (int64_t)lost);
    pawl__spans_release(observer->spans, observer->lent);
    observer->lent = 0;
}

static bool next_traces(pawl__observer *observer, const pawl__otlp_source *source,
                        pawl_arena *arena, pawl_text *body)
{
    const pawl__span *items = NULL;
    observer->lent          = pawl__spans_peek(observer->spans, EXPORT_COUNT_MAX, &items);
    if (observer->lent == 0)
        return false;
    if (pawl__otlp_traces(source, items, observer->lent, arena, body) == PAWL_OK)
        return true;
    release_lent(observer, observer->lent);
    return false;
}

static bool next_metrics(pawl__observer *observer, const pawl__otlp_source *source,
                         pawl_arena *arena, pawl_text *body)
{
    bool                is_virtual;
    size_t              count = 0;
    pawl__metrics_view *views = pawl__observe_views(observer, arena, &count);
    return views != NULL &&
           pawl__otlp_metrics(source, views, count, pawl__observe_now(observer, &is_virtual), arena,
                              body) == PAWL_OK;
}

bool pawl__observe_next(void *context, pawl_observe_signal signal, pawl_arena *arena,
                        pawl_text *body)
{
    pawl__observer   *observer = context;
    pawl__otlp_source source   = {observer->options.service_name, observer->instance,
                                  observer->start};
    return signal == PAWL_OBSERVE_TRACES ? next_traces(observer, &source, arena, body)
                                         : next_metrics(observer, &source, arena, body);
}

/* ---- The log --------------------------------------------------------------- */

/* "URL: why: message". */
static pawl_text name_answer(const pawl__observer *observer, pawl_observe_signal signal,
                             const char *why, pawl_text message, pawl_arena *arena)
{
    pawl_text url  = pawl_url_masked(observer->plan.otlp, arena);
    int       size = message.size < MESSAGE_SIZE_MAX ? (int)message.size : MESSAGE_SIZE_MAX;
    return pawl_arena_printf(arena, "%.*s/v1/%s: %s%s%.*s", PAWL_TEXT_ARGS(url),
                             pawl__signal_names[signal + 1], why, size > 0 ? ": " : "", size,
                             size > 0 ? message.data : "");
}

/* Logs a line when a collector begins to fail, fails in another way, or succeeds again. */
static void say_outcome(pawl__observer *observer, pawl_observe_signal signal,
                        const pawl_observe_result *result, pawl_arena *arena)
{
    pawl__export *export = &observer->exports[signal];
    const char *name     = pawl__signal_names[signal + 1];
    if (export->said == result->outcome)
        return;
    export->said = result->outcome;
    if (result->outcome == PAWL_OBSERVE_ACCEPTED) {
        pawl_log(PAWL_LOG_INFO, "the collector takes %s again", name);
        return;
    }
    pawl_text message = pawl__otlp_refused(result->answer, arena);
    pawl_text answer  = name_answer(observer, signal, result->why, message, arena);
    pawl_log(PAWL_LOG_WARNING, "the collector %s %s: %.*s",
             result->outcome == PAWL_OBSERVE_AGAIN ? "does not take" : "refuses", name,
             PAWL_TEXT_ARGS(answer));
}

/* Logs rejected items, one line for many exports, as a collector usually rejects some each time. */
static void say_partial(pawl__observer *observer, pawl_observe_signal signal,
                        const pawl_observe_result *result, const pawl__otlp_partial *partial,
                        pawl_arena *arena)
{
    static const char *const items[] = {"spans", "data points"};
    pawl__export *export             = &observer->exports[signal];
    int64_t now                      = pawl__monotonic_now();
    export->rejected += partial->rejected;
    if ((partial->rejected == 0 && partial->message.size == 0) || now < export->due)
        return;
    pawl_text answer = name_answer(observer, signal, result->why, partial->message, arena);
    pawl_log(PAWL_LOG_WARNING, "the collector rejected %lld %s of late: %.*s",
             (long long)export->rejected, items[signal], PAWL_TEXT_ARGS(answer));
    export->rejected = 0;
    export->due      = now + PARTIAL_PERIOD;
}

/* ---- Done ------------------------------------------------------------------ */

/* Reads the number of rejected spans or data points. */
static int64_t read_answer(pawl__observer *observer, pawl_observe_signal signal,
                           const pawl_observe_result *result)
{
    pawl__otlp_partial partial = {0};
    pawl_arena        *arena   = pawl_arena_create(0);
    if (arena == NULL)
        return 0;
    say_outcome(observer, signal, result, arena);
    if (result->outcome == PAWL_OBSERVE_ACCEPTED) {
        partial = pawl__otlp_accepted(signal, result->answer, arena);
        say_partial(observer, signal, result, &partial, arena);
    }
    pawl_arena_destroy(arena);
    return partial.rejected;
}

static void settle_traces(pawl__observer *observer, pawl_observe_outcome outcome, size_t rejected)
{
    if (outcome == PAWL_OBSERVE_ACCEPTED) {
        release_lent(observer, rejected < observer->lent ? rejected : observer->lent);
    } else if (outcome == PAWL_OBSERVE_REFUSED) {
        release_lent(observer, observer->lent);
    } else {
        pawl__metric_add(&observer->metrics, PAWL__METRIC_SPANS_DROPPED, 0,
                         (int64_t)pawl__spans_again(observer->spans, TRIES_MAX));
        observer->lent = 0;
    }
}

void pawl__observe_done(void *context, pawl_observe_signal signal,
                        const pawl_observe_result *result)
{
    pawl__observer *observer = context;
    int64_t         rejected = read_answer(observer, signal, result);
    if (result->outcome != PAWL_OBSERVE_ACCEPTED)
        pawl__metric_add(&observer->metrics, PAWL__METRIC_EXPORT_FAILURES, signal, 1);
    pawl__metric_add(&observer->metrics, PAWL__METRIC_EXPORT_REJECTED, signal, rejected);
    if (signal == PAWL_OBSERVE_TRACES)
        settle_traces(observer, result->outcome, (size_t)rejected);
}
