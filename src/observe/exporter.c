/* exporter.c - a thread that posts traces and metrics to a collector.
 *
 *     wait (the period, or a wake) -> traces until none wait, for a period at most
 *                                  -> metrics, after a period -> wait ...
 *                                      stop: once more, briefly, and end
 *
 * If the collector answers with Retry-After, nothing is posted before that time, not even at
 * stop. A slow collector delays this thread only. Traces are posted for one period at most, so
 * that a flood of them does not hold up the metrics. At stop the post under way has a second to
 * end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "observe/carrier.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define POST_MS_MAX 10000L
#define LAST_MS_MAX 1000L   /* for the post under way at stop, and for all posts after it */
#define PAUSE_MS_MAX 300000 /* limit of Retry-After */
#define URL_SIZE 2100

struct pawl__exporter {
    const pawl_observe_plan *plan;
    CURL                    *curl;
    struct curl_slist       *headers;
    char                     failure[CURL_ERROR_SIZE];
    pthread_t                thread;
    pthread_mutex_t          mutex;
    pthread_cond_t           call;
    bool                     is_awake; /* under the mutex */
    atomic_bool              is_stopping;
    int64_t                  stop_seen;  /* when the post under way saw stop: milliseconds, or 0 */
    int64_t                  end;        /* of this round's traces: milliseconds */
    int64_t                  pause_end;  /* milliseconds; nothing is sent before */
    bool                     is_last;    /* the round after stop */
    bool                     has_failed; /* the last post */
    size_t                   answer_size;
    char                     answer[PAWL_OBSERVE_ANSWER_SIZE_MAX]; /* to the last post */
};

/* ---- One post -------------------------------------------------------------- */

/* Keeps the answer. Bytes over the limit are read and discarded, so that the connection can be used again. */
static size_t keep_answer(char *data, size_t size, size_t count, void *context)
{
    pawl__exporter *exporter = context;
    size_t          room     = sizeof exporter->answer - exporter->answer_size;
    size_t          kept     = size * count < room ? size * count : room;
    memcpy(exporter->answer + exporter->answer_size, data, kept);
    exporter->answer_size += kept;
    return size * count;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Aborts the post LAST_MS_MAX after stop. curl calls it about once a second, and when data is transferred. */
static int on_progress(void *context, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                       curl_off_t up)
{
    pawl__exporter *exporter = context;
    (void)down_all;
    (void)down;
    (void)up_all;
    (void)up;
    if (!atomic_load(&exporter->is_stopping) || exporter->is_last)
        return 0;
    if (exporter->stop_seen == 0)
        exporter->stop_seen = now_ms();
    return now_ms() - exporter->stop_seen >= LAST_MS_MAX;
}

/* The protocol's meaning of each status. */
static pawl_observe_outcome outcome_of(long status)
{
    if (status >= 200 && status < 300)
        return PAWL_OBSERVE_ACCEPTED;
    return status == 429 || status == 502 || status == 503 || status == 504 ? PAWL_OBSERVE_AGAIN
                                                                            : PAWL_OBSERVE_REFUSED;
}

/* The time limit of a post; all posts of the last round share LAST_MS_MAX. */
static long time_for_post(const pawl__exporter *exporter)
{
    int64_t left = exporter->end - now_ms();
    if (!exporter->is_last)
        return POST_MS_MAX;
    return left > 1 ? (long)left : 1;
}

/* Retry-After of the last answer, a number or a date, in seconds; 0: none. */
static int pause_asked(pawl__exporter *exporter)
{
    curl_off_t asked = 0;
    curl_easy_getinfo(exporter->curl, CURLINFO_RETRY_AFTER, &asked);
    if (asked > PAUSE_MS_MAX / 1000)
        return PAUSE_MS_MAX / 1000;
    return asked > 0 ? (int)asked : 0;
}

static pawl_observe_outcome read_status(pawl__exporter *exporter, char why[CURL_ERROR_SIZE])
{
    long status = 0;
    int  pause  = 0;
    curl_easy_getinfo(exporter->curl, CURLINFO_RESPONSE_CODE, &status);
    pawl_observe_outcome outcome = outcome_of(status);
    if (outcome == PAWL_OBSERVE_AGAIN)
        pause = pause_asked(exporter);
    exporter->pause_end = now_ms() + pause * INT64_C(1000);
    if (pause == 0)
        snprintf(why, CURL_ERROR_SIZE, "it answers with status %ld", status);
    else
        snprintf(why, CURL_ERROR_SIZE, "it answers with status %ld; the next attempt is in %d s",
                 status, pause);
    return outcome;
}

static pawl_observe_outcome post(pawl__exporter *exporter, pawl_observe_signal signal,
                                 pawl_text body, char why[CURL_ERROR_SIZE])
{
    static const char *const paths[] = {"traces", "metrics"};
    char                     url[URL_SIZE];
    snprintf(url, sizeof url, "%s/v1/%s", exporter->plan->otlp, paths[signal]);
    exporter->failure[0]  = '\0';
    exporter->answer_size = 0;
    curl_easy_setopt(exporter->curl, CURLOPT_URL, url);
    curl_easy_setopt(exporter->curl, CURLOPT_POSTFIELDS, body.data);
    curl_easy_setopt(exporter->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.size);
    curl_easy_setopt(exporter->curl, CURLOPT_TIMEOUT_MS, time_for_post(exporter));
    CURLcode result = curl_easy_perform(exporter->curl);
    if (result == CURLE_ABORTED_BY_CALLBACK) {
        snprintf(why, CURL_ERROR_SIZE, "it had not answered when the end came");
        return PAWL_OBSERVE_AGAIN;
    }
    if (result != CURLE_OK) {
        snprintf(why, CURL_ERROR_SIZE, "%s",
                 exporter->failure[0] != '\0' ? exporter->failure : curl_easy_strerror(result));
        return PAWL_OBSERVE_AGAIN;
    }
    return read_status(exporter, why);
}

/* Posts the next part of the signal. False: there was nothing to post, or the collector refused it. */
static bool export_one(pawl__exporter *exporter, pawl_observe_signal signal)
{
    const pawl_observe_source *source = &exporter->plan->source;
    char                       why[CURL_ERROR_SIZE];
    pawl_text                  body   = {0};
    pawl_observe_result        result = {.outcome = PAWL_OBSERVE_REFUSED, .why = why};
    pawl_arena                *arena  = pawl_arena_create(0);
    if (arena == NULL)
        return false;
    bool is_there = source->next(source->context, signal, arena, &body);
    if (is_there) {
        result.outcome       = post(exporter, signal, body, why);
        result.answer        = (pawl_text){.data = exporter->answer, .size = exporter->answer_size};
        exporter->has_failed = result.outcome != PAWL_OBSERVE_ACCEPTED;
        source->done(source->context, signal, &result);
    }
    pawl_arena_destroy(arena);
    return is_there && result.outcome == PAWL_OBSERVE_ACCEPTED;
}

static void export_traces(pawl__exporter *exporter)
{
    while (export_one(exporter, PAWL_OBSERVE_TRACES) && now_ms() < exporter->end) {
    }
}

static bool is_paused(const pawl__exporter *exporter)
{
    return now_ms() < exporter->pause_end;
}

/* The last round, for which stop waits: it ends at the first failed post. */
static void export_last(pawl__exporter *exporter)
{
    exporter->is_last = true;
    exporter->end     = now_ms() + LAST_MS_MAX;
    if (is_paused(exporter) || (exporter->stop_seen != 0 && exporter->has_failed))
        return;
    exporter->has_failed = false;
    export_traces(exporter);
    if (!exporter->has_failed)
        export_one(exporter, PAWL_OBSERVE_METRICS);
}

/* ---- The thread -------------------------------------------------------------- */

static int64_t end_of_period(const pawl__exporter *exporter)
{
    int64_t period = exporter->plan->period / 1000;
    return now_ms() + (period > 0 ? period : 1);
}

/* Under the mutex: waits for a wake or for stop, until `end` at most. */
static void wait_some(pawl__exporter *exporter, int64_t end)
{
    struct timespec until = {.tv_sec = end / 1000, .tv_nsec = end % 1000 * 1000000};
    pthread_cond_timedwait(&exporter->call, &exporter->mutex, &until);
}

/* Waits until the period is over or a wake comes, and for the end of a pause. */
static void wait_for_round(pawl__exporter *exporter)
{
    pthread_mutex_lock(&exporter->mutex);
    while (!atomic_load(&exporter->is_stopping) && is_paused(exporter))
        wait_some(exporter, exporter->pause_end);
    while (!atomic_load(&exporter->is_stopping) && !exporter->is_awake && now_ms() < exporter->end)
        wait_some(exporter, exporter->end);
    exporter->is_awake = false;
    pthread_mutex_unlock(&exporter->mutex);
}

static void *run(void *argument)
{
    pawl__exporter *exporter = argument;
    exporter->end            = end_of_period(exporter);
    while (!atomic_load(&exporter->is_stopping)) {
        wait_for_round(exporter);
        if (atomic_load(&exporter->is_stopping))
            break;
        bool is_over = now_ms() >= exporter->end;
        if (is_over)
            exporter->end = end_of_period(exporter);
        export_traces(exporter);
        if (is_over && !is_paused(exporter))
            export_one(exporter, PAWL_OBSERVE_METRICS);
    }
    export_last(exporter);
    return NULL;
}

/* ---- Start and stop ---------------------------------------------------------- */

static void begin_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* Is the URL on this machine? Then a proxy that the environment names is not used. */
static bool is_here(const char *url)
{
    static const char *const hosts[] = {"127.", "localhost", "[::1]"};
    const char              *host    = strstr(url, "://");
    for (size_t i = 0; host != NULL && i < sizeof hosts / sizeof hosts[0]; i++)
        if (strncmp(host + 3, hosts[i], strlen(hosts[i])) == 0)
            return true;
    return false;
}

static pawl_code open_curl(pawl__exporter *exporter, pawl_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_curl);
    exporter->curl    = curl_easy_init();
    exporter->headers = curl_slist_append(NULL, "Content-Type: application/json");
    CURL *curl        = exporter->curl;
    if (curl == NULL || exporter->headers == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory to send traces and metrics");
    if (strlen(exporter->plan->otlp) + sizeof "/v1/metrics" > URL_SIZE)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "the collector's URL has %zu bytes, the limit is %zu",
                              strlen(exporter->plan->otlp), URL_SIZE - sizeof "/v1/metrics");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, exporter->headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep_answer);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, exporter);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, exporter->failure);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, exporter);
    if (is_here(exporter->plan->otlp))
        curl_easy_setopt(curl, CURLOPT_PROXY, "");
    return PAWL_OK;
}

static void destroy(pawl__exporter *exporter)
{
    curl_easy_cleanup(exporter->curl);
    curl_slist_free_all(exporter->headers);
    pthread_cond_destroy(&exporter->call);
    pthread_mutex_destroy(&exporter->mutex);
    pawl_free(exporter);
}

/* Starts the thread with all signals blocked: they are for the application's threads. */
static int start_thread(pawl__exporter *exporter)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&exporter->thread, NULL, run, exporter);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

pawl_code pawl__exporter_start(const pawl_observe_plan *plan, pawl__exporter **exporter,
                               pawl_error *error)
{
    pthread_condattr_t monotonic;
    pawl__exporter    *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory to send traces and metrics");
    made->plan = plan;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&made->call, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pawl_code code    = open_curl(made, error);
    int       failure = code == PAWL_OK ? start_thread(made) : 0;
    if (failure != 0)
        code = pawl_error_set(error, PAWL_EBUSY, "no thread to send traces and metrics: %s",
                              strerror(failure));
    if (code != PAWL_OK) {
        destroy(made);
        return code;
    }
    *exporter = made;
    return PAWL_OK;
}

void pawl__exporter_wake(pawl__exporter *exporter)
{
    if (exporter == NULL)
        return;
    pthread_mutex_lock(&exporter->mutex);
    exporter->is_awake = true;
    pthread_cond_signal(&exporter->call);
    pthread_mutex_unlock(&exporter->mutex);
}

void pawl__exporter_stop(pawl__exporter *exporter)
{
    if (exporter == NULL)
        return;
    pthread_mutex_lock(&exporter->mutex);
    atomic_store(&exporter->is_stopping, true);
    pthread_cond_signal(&exporter->call);
    pthread_mutex_unlock(&exporter->mutex);
    pthread_join(exporter->thread, NULL);
    destroy(exporter);
}
