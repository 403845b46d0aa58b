/* test_runtime_observe_module.c - the module alone over real sockets, with a source that
 * is the test's. O23.
 *
 * Nothing sleeps: who waits, waits for what is to come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/thread.h"

#ifdef PAWL_HAVE_OBSERVE

#include "runtime/operate/observe/observe.h"
#include "support/collector.h"

#include <limits.h>
#include <pthread.h>
#include <time.h>

/* ---- The source --------------------------------------------------------------- */

/* A carrier that gives the module the answers of a test; a thread that waits in it waits no longer
 * than WAIT_SECONDS, and says so. */
#define WAIT_SECONDS 120
#define TRACES_MAX 100000 /* more than a second has room for */

typedef struct source {
    pthread_mutex_t mutex;
    pthread_cond_t  change;
    bool            is_entered, is_free; /* of who asks for /readyz */
    bool            is_late;
    bool            is_done;         /* once or more */
    bool            is_again;        /* a second trace was given */
    int             traces_max;      /* no more are given */
    int             traces, metrics; /* bodies given */
    int64_t         given[2];        /* monotonic time of the first two traces */
    /* Of the last `done`: */
    pawl_observe_outcome outcome;
    char                 why[200];
    size_t               answer_size;
} source;

static void wait_for(source *it, const bool *what)
{
    struct timespec end;
    int             result = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += WAIT_SECONDS;
    while (!*what && result == 0)
        result = pthread_cond_timedwait(&it->change, &it->mutex, &end);
    it->is_late = it->is_late || !*what;
}

static void wait_until(source *it, const bool *what)
{
    pthread_mutex_lock(&it->mutex);
    wait_for(it, what);
    pthread_mutex_unlock(&it->mutex);
    assert_false(it->is_late);
}

static void set(source *it, bool *what)
{
    pthread_mutex_lock(&it->mutex);
    *what = true;
    pthread_cond_broadcast(&it->change);
    pthread_mutex_unlock(&it->mutex);
}

static void answer(void *context, pawl_text path, pawl_arena *arena, pawl_observe_answer *given)
{
    source *it = context;
    if (pawl_text_equal(path, PAWL_TEXT("/readyz"))) {
        set(it, &it->is_entered);
        pthread_mutex_lock(&it->mutex);
        wait_for(it, &it->is_free);
        pthread_mutex_unlock(&it->mutex);
    }
    *given = (pawl_observe_answer){200, "text/plain", PAWL_TEXT("here\n")};
}

static bool next_body(void *context, pawl_observe_signal signal, pawl_arena *arena, pawl_text *body)
{
    source *it = context;
    pthread_mutex_lock(&it->mutex);
    bool is_trace = signal == PAWL_OBSERVE_TRACES;
    bool is_there = !is_trace || it->traces < it->traces_max;
    if (is_trace && is_there && it->traces < 2)
        it->given[it->traces] = pawl__monotonic_now();
    it->traces += is_trace && is_there;
    it->metrics += !is_trace;
    it->is_again = it->traces > 1;
    pthread_cond_broadcast(&it->change);
    pthread_mutex_unlock(&it->mutex);
    *body = PAWL_TEXT("{}");
    return is_there;
}

static void done(void *context, pawl_observe_signal signal, const pawl_observe_result *result)
{
    source *it = context;
    pthread_mutex_lock(&it->mutex);
    it->outcome = result->outcome;
    snprintf(it->why, sizeof it->why, "%s", result->why);
    it->answer_size = result->answer.size;
    pthread_mutex_unlock(&it->mutex);
    set(it, &it->is_done);
}

static void *start_module(source *it, int traces_max, pawl_observe_plan *plan,
                          const pawl_observe_ops **ops, int *port)
{
    void *carrier = NULL;
    *it           = (source){.traces_max = traces_max};
    pthread_mutex_init(&it->mutex, NULL);
    pthread_cond_init(&it->change, NULL);
    plan->source  = (pawl_observe_source){it, answer, next_body, done};
    plan->address = "127.0.0.1";
    must(pawl__observe_load(ops, world_error()));
    must((*ops)->start(plan, &carrier, port, world_error()));
    return carrier;
}

typedef struct asking {
    int  port, status;
    char page[1000];
} asking;

static void *ask_ready(void *context)
{
    asking *it = context;
    it->status = fetch(it->port, "GET", "/readyz", it->page, sizeof it->page);
    return NULL;
}

/* ---- The server ------------------------------------------------------------------ */

/* A store that does not answer is no reason to take the process for dead. */
TEST(o23_who_lives_says_so_while_the_store_is_asked)
{
    const pawl_observe_ops *ops;
    source                  it;
    asking                  slow = {.status = 0};
    char                    page[1000];
    pthread_t               thread;
    pawl_observe_plan       plan    = {.port = PAWL_OBSERVE_PORT_ANY};
    void                   *carrier = start_module(&it, 0, &plan, &ops, &slow.port);
    assert_int_equal(pthread_create(&thread, NULL, ask_ready, &slow), 0);
    wait_until(&it, &it.is_entered);
    assert_int_equal(fetch(slow.port, "GET", "/livez", page, sizeof page), 200);
    set(&it, &it.is_free);
    pthread_join(thread, NULL);
    assert_int_equal(slow.status, 200);
    assert_false(it.is_late);
    ops->stop(carrier);
}

/* ---- The exporter ---------------------------------------------------------------- */

static bool has_metrics(source *it)
{
    pthread_mutex_lock(&it->mutex);
    bool has_some = it->metrics != 0 || it->traces >= TRACES_MAX;
    pthread_mutex_unlock(&it->mutex);
    return has_some;
}

/* There is always another span to send: metrics go out all the same, and the end does
 * not wait for all of them. */
TEST(o23_traces_without_an_end)
{
    const pawl_observe_ops *ops;
    source                  it;
    int                     port;
    patience                left    = patience_of(WAIT_SECONDS);
    collector              *far     = collector_open(INT_MAX, 200); /* which keeps nothing */
    pawl_observe_plan       plan    = {.otlp = collector_url(far), .period = PAWL_MILLISECONDS(5)};
    void                   *carrier = start_module(&it, TRACES_MAX, &plan, &ops, &port);
    while (!has_metrics(&it))
        patience_wait(&left, "no metrics were asked for");
    ops->stop(carrier);
    assert_true(it.traces > 0 && it.traces < TRACES_MAX);
    collector_close(far);
}

/* One trace, answered so, then the end: it asks once more unless the collector wants to
 * be left alone. */
static void send_a_trace(source *it, int status, const char *said, const char *retry_after)
{
    const pawl_observe_ops *ops;
    int                     port;
    collector              *far     = collector_open(INT_MAX, status);
    pawl_observe_plan       plan    = {.otlp = collector_url(far), .period = PAWL_HOURS(1)};
    void                   *carrier = start_module(it, 1, &plan, &ops, &port);
    collector_say(far, said, retry_after);
    ops->wake(carrier);
    wait_until(it, &it->is_done);
    ops->stop(carrier);
    assert_int_equal(it->traces, 1);
    collector_close(far);
}

TEST(o23_what_is_sent_again_and_when)
{
    static const struct {
        int                  status;
        const char          *retry_after;
        pawl_observe_outcome outcome;
        int                  pause; /* seconds */
    } rows[] = {
        {200, NULL, PAWL_OBSERVE_ACCEPTED, 0},
        {202, "7", PAWL_OBSERVE_ACCEPTED, 0},
        {301, "7", PAWL_OBSERVE_REFUSED, 0},
        {400, NULL, PAWL_OBSERVE_REFUSED, 0},
        {404, "7", PAWL_OBSERVE_REFUSED, 0},
        {413, NULL, PAWL_OBSERVE_REFUSED, 0},
        {429, "7", PAWL_OBSERVE_AGAIN, 7},
        {429, NULL, PAWL_OBSERVE_AGAIN, 0},
        {500, NULL, PAWL_OBSERVE_REFUSED, 0},
        {501, "7", PAWL_OBSERVE_REFUSED, 0},
        {502, NULL, PAWL_OBSERVE_AGAIN, 0},
        {503, "300", PAWL_OBSERVE_AGAIN, 300},
        {503, "301", PAWL_OBSERVE_AGAIN, 300},
        {503, "999999999", PAWL_OBSERVE_AGAIN, 300},
        {503, "0", PAWL_OBSERVE_AGAIN, 0},
        {503, "-7", PAWL_OBSERVE_AGAIN, 0},
        {503, "soon", PAWL_OBSERVE_AGAIN, 0},
        {503, "Sun, 06 Nov 1994 08:49:37 GMT", PAWL_OBSERVE_AGAIN, 0},
        {503, "Sat, 06 Nov 2094 08:49:37 GMT", PAWL_OBSERVE_AGAIN, 300},
        {504, NULL, PAWL_OBSERVE_AGAIN, 0},
    };
    source it;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char expected[200];
        snprintf(expected, sizeof expected, "it answers with status %d", rows[i].status);
        if (rows[i].pause > 0)
            snprintf(expected, sizeof expected,
                     "it answers with status %d; the next attempt is in %d s", rows[i].status,
                     rows[i].pause);
        send_a_trace(&it, rows[i].status, "{}", rows[i].retry_after);
        if (it.outcome != rows[i].outcome || strcmp(it.why, expected) != 0 ||
            it.metrics != (rows[i].pause == 0))
            fail_msg("row %zu: outcome %d, %d metrics, %s", i, it.outcome, it.metrics, it.why);
    }
}

TEST(o23_a_pause_until_a_date)
{
    source    it;
    char      date[100];
    int       seconds = 0;
    struct tm parts;
    time_t    end = time(NULL) + 250;
    assert_true(strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&end, &parts)));
    send_a_trace(&it, 503, "{}", date);
    assert_int_equal(
        sscanf(it.why, "it answers with status 503; the next attempt is in %d s", &seconds), 1);
    assert_in_range(seconds, 250 - WAIT_SECONDS, 250);
}

TEST(o23_a_long_answer_is_cut)
{
    static char long_one[3 * PAWL_OBSERVE_ANSWER_SIZE_MAX];
    source      it;
    send_a_trace(&it, 400, "no", NULL);
    assert_int_equal(it.answer_size, 2);
    memset(long_one, 'x', sizeof long_one - 1);
    send_a_trace(&it, 400, long_one, NULL);
    assert_int_equal(it.answer_size, PAWL_OBSERVE_ANSWER_SIZE_MAX);
    assert_int_equal(it.metrics, 1); /* on the same connection */
}

/* Neither the end of the period nor a call makes it shorter, and it ends. */
TEST(o23_a_pause_is_kept_and_ends)
{
    const pawl_observe_ops *ops;
    source                  it;
    int                     port;
    collector              *far  = collector_open(1, 429);
    pawl_observe_plan       plan = {.otlp = collector_url(far), .period = PAWL_MILLISECONDS(1)};
    collector_say(far, "{}", "1");
    void *carrier = start_module(&it, TRACES_MAX, &plan, &ops, &port);
    wait_until(&it, &it.is_done);
    ops->wake(carrier);
    wait_until(&it, &it.is_again);
    collector_next(far, "traces");
    ops->stop(carrier);
    assert_true(it.given[1] - it.given[0] >= PAWL_MILLISECONDS(999)); /* whole ms are counted */
    collector_close(far);
}

#else

int main(void)
{
    const char *required = getenv("PAWL_REQUIRE");
    puts("the module observe is not built (libmicrohttpd and libcurl)");
    return required != NULL && required[0] != '\0' ? 1 : 77;
}
#endif
