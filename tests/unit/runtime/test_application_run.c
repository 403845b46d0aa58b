/* test_application_run.c - pawl_application_run: all endpoints of a program, until a signal, a stop or a
 * failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/thread.h"

#include "runtime/runtime.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

RECORD(ball, (INT32, hits));

/* The run that a handler stops; what the program heard of it. */
static pawl_run   *running;
static atomic_int  hits;
static world_log   seen;
static int         stop_signal; /* the handler raises it; 0: it calls pawl_run_stop */
static pawl_code   answer;
static const char *signal_at; /* as this endpoint is created a signal comes; NULL: none */

static pawl_code on_ping(pawl_context *ctx, const ball *message)
{
    return pawl_send(ctx, "pong", PAWL_MESSAGE(ball, .hits = message->hits + 1));
}
PAWL_MESSAGE_HANDLER(on_ping, ball);

static pawl_code on_pong(pawl_context *ctx, const ball *message)
{
    atomic_store(&hits, message->hits);
    if (message->hits < 3)
        return pawl_send(ctx, "ping", PAWL_MESSAGE(ball, .hits = message->hits + 1));
    if (stop_signal != 0)
        kill(getpid(), stop_signal);
    else
        pawl_run_stop(running);
    return PAWL_OK;
}
PAWL_MESSAGE_HANDLER(on_pong, ball);

static const pawl_endpoint_spec ping         = {.name     = "ping",
                                                .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_ping)})};
static const pawl_endpoint_spec pong         = {.name     = "pong",
                                                .handlers = PAWL_ON({.handle = PAWL_HANDLE(on_pong)})};
static const pawl_application   table_tennis = APPLICATION("tennis", &ping, &pong);

/* ---- A program -------------------------------------------------------------- */

static pawl_code configure(void *context, const char *endpoint, pawl_endpoint_options *options,
                           pawl_error *error)
{
    assert_ptr_equal(context, &seen);
    world_note(&seen, "%s", endpoint);
    options->workers = 2;
    if (signal_at != NULL && strcmp(endpoint, signal_at) == 0)
        raise(SIGTERM);
    return strcmp(endpoint, "pong") == 0 && answer != PAWL_OK
               ? pawl_error_set(error, answer, "no options of %s", endpoint)
               : PAWL_OK;
}

static void serve(const char *url)
{
    pawl_sender *sender;
    must(pawl_sender_open(url, NULL, &sender, world_error()));
    test_send(sender, "ping", NULL, PAWL_MESSAGE(ball, .hits = 0));
    pawl_sender_close(sender);
}

static const char *store_url;

static void changed(void *context, pawl_run *run, pawl_run_state state)
{
    static const char *const names[] = {"created", "started", "stopped"};
    assert_ptr_equal(context, &seen);
    if (state == PAWL_RUN_CREATED)
        running = run;
    world_note(&seen, "%s", names[state]);
    if (state == PAWL_RUN_STARTED)
        serve(store_url);
}

static pawl_code run(const char *url, pawl_run_options *options, pawl_error *error)
{
    static pawl_endpoint_options endpoint = PAWL_ENDPOINT_OPTIONS_INIT;
    endpoint.store                        = url;
    store_url                             = url;
    seen                                  = (world_log){.size = 0};
    options->endpoint                     = &endpoint;
    options->configure                    = configure;
    options->changed                      = changed;
    options->context                      = &seen;
    atomic_store(&hits, 0);
    *error = (pawl_error)PAWL_ERROR_INIT;
    return pawl_application_run(&table_tennis, options, error);
}

/* The run with the defaults, of which `hear` hears. */
static pawl_code run_heard(const char *url, void (*hear)(void *, pawl_run *, pawl_run_state))
{
    pawl_endpoint_options endpoint = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_run_options      options  = PAWL_RUN_OPTIONS_INIT;
    endpoint.store                 = url;
    options.endpoint               = &endpoint;
    options.changed                = hear;
    return pawl_application_run(&table_tennis, &options, world_error());
}

ON_STORES(all_endpoints_run_until_a_stop, const char *url)
{
    pawl_run_options options = PAWL_RUN_OPTIONS_INIT;
    must(run(url, &options, world_error()));
    assert_int_equal(atomic_load(&hits), 3);
    assert_string_equal(seen.text, "ping pong created started stopped ");
    must(run(url, &options, world_error())); /* and again */
    assert_int_equal(atomic_load(&hits), 3);
}

/* ---- Signals ------------------------------------------------------------------ */

static atomic_int own_signals;

static void on_own_signal(int number)
{
    atomic_fetch_add(&own_signals, 1);
}

/* The rest is not about stores. */
ON_STORE(a_signal_stops_them_and_is_as_before_then, const char *url, "memory")
{
    static const int signals[] = {SIGINT, SIGTERM};
    pawl_run_options options   = PAWL_RUN_OPTIONS_INIT;
    atomic_store(&own_signals, 0);
    for (size_t i = 0; i < 2; i++) {
        signal(signals[i], on_own_signal);
        stop_signal = signals[i];
        must(run(url, &options, world_error()));
        assert_int_equal(atomic_load(&hits), 3);
        assert_int_equal(atomic_load(&own_signals), (int)i);
        raise(signals[i]);
        assert_int_equal(atomic_load(&own_signals), (int)i + 1);
        signal(signals[i], SIG_DFL);
    }
    stop_signal = 0;
}

/* No further endpoint is created, and none runs. */
ON_STORE(e29_a_signal_while_endpoints_are_created_stops_the_run, const char *url, "memory")
{
    pawl_run_options options = PAWL_RUN_OPTIONS_INIT;
    signal_at                = "ping";
    must(run(url, &options, world_error()));
    assert_string_equal(seen.text, "ping ");
    signal_at = "pong";
    must(run(url, &options, world_error()));
    assert_string_equal(seen.text, "ping pong ");
    signal_at = NULL;
    must(run(url, &options, world_error())); /* the signals are free again */
    assert_string_equal(seen.text, "ping pong created started stopped ");
}

static void stop_by_hand(int number)
{
    on_own_signal(number);
    pawl_run_stop(running);
}

ON_STORE(signals_may_stay_the_programs, const char *url, "memory")
{
    pawl_run_options options = PAWL_RUN_OPTIONS_INIT;
    options.keeps_signals    = true;
    stop_signal              = SIGTERM;
    atomic_store(&own_signals, 0);
    signal(SIGTERM, stop_by_hand);
    must(run(url, &options, world_error()));
    signal(SIGTERM, SIG_DFL);
    stop_signal = 0;
    assert_int_equal(atomic_load(&own_signals), 1);
}

static pawl_code  inner_code;
static pawl_error inner_error;

static void run_inside(void *context, pawl_run *run, pawl_run_state state)
{
    pawl_run_options options = PAWL_RUN_OPTIONS_INIT;
    if (state == PAWL_RUN_CREATED)
        inner_code = pawl_application_run(&table_tennis, &options, &inner_error);
    if (state == PAWL_RUN_STARTED)
        pawl_run_stop(run);
}

ON_STORE(one_run_has_the_signals, const char *url, "memory")
{
    must(run_heard(url, run_inside));
    assert_int_equal(inner_code, PAWL_EINVAL);
    assert_non_null(strstr(inner_error.text, "another run of this process has SIGINT and SIGTERM"));
}

/* ---- Children of fork ------------------------------------------------------------ */

static void signal_a_child(void *context, pawl_run *run, pawl_run_state state)
{
    int status = 0;
    if (state != PAWL_RUN_STARTED)
        return;
    pid_t child = fork();
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* when the test fails */
    while (child == 0)
        pause();
    kill(child, SIGTERM);
    patience left = patience_of(THREAD_SECONDS);
    while (waitpid(child, &status, WNOHANG) == 0)
        patience_wait(&left, "the child does not end");
    assert_int_equal(WTERMSIG(status), SIGTERM);
    pawl_run_stop(run);
}

/* The child has the parent's signal handler, but not its run. */
ON_STORE(a_signal_ends_a_child_and_not_the_run, const char *url, "memory")
{
    must(run_heard(url, signal_a_child));
}

static time_t later_s; /* than it is */

/* Stands before the system's. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec += later_s;
    return failed;
}

static time_t second_signal_s; /* behind the first one */

static void signal_twice(void *context, pawl_run *run, pawl_run_state state)
{
    if (state != PAWL_RUN_STARTED)
        return;
    raise(SIGTERM);
    later_s = second_signal_s;
    raise(SIGTERM);
    later_s = 0;
}

/* systemd and timeout(1) may send one stop twice. Then 0, else the signal that ended the process. */
ON_STORE(a_second_signal_ends_the_process_unless_it_is_the_same_stop, const char *url, "memory")
{
    for (second_signal_s = 0; second_signal_s < 2; second_signal_s++) {
        int   status = 0;
        pid_t child  = fork();
        if (child == 0)
            _exit(run_heard(url, signal_twice) == PAWL_OK ? 0 : 1);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, second_signal_s == 0 ? 0 : SIGTERM);
    }
}

/* The child shares the descriptor. */
ON_STORE(a_stop_in_a_child_does_not_wake_the_parent, const char *url, "memory")
{
    int    status = 0;
    runner it;
    runner_create(&it, &table_tennis, "ping", url, (pawl_endpoint_options){0});
    struct pollfd stop  = {.fd = it.endpoint->stop_fd, .events = POLLIN};
    pid_t         child = fork();
    if (child == 0) {
        pawl_endpoint_stop(it.endpoint);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(poll(&stop, 1, 0), 0);
    pawl_endpoint_stop(it.endpoint);
    assert_int_equal(poll(&stop, 1, 0), 1);
    runner_destroy(&it);
}

/* ---- A thread that stops is slow ----------------------------------------------------- */

static _Thread_local bool is_slow;
static pawl_endpoint     *slowly_stopped; /* or NULL */
static atomic_bool        has_returned, is_seen;
static atomic_int         slow_writes;
static pthread_t          stopper;

/* Stands before the system's: what a slow thread finds when it comes to write. */
__attribute__((visibility("default"))) ssize_t write(int fd, const void *data, size_t size)
{
    const struct timespec moment = {0, 10000000};
    atomic_fetch_add(&slow_writes, is_slow);
    if (is_slow && slowly_stopped != NULL)
        atomic_store(&is_seen, atomic_load(&slowly_stopped->is_stopping));
    for (int i = 0; i < 30 && is_slow && slowly_stopped == NULL && !atomic_load(&has_returned); i++)
        nanosleep(&moment, NULL); /* longer than another stop takes */
    if (is_slow && slowly_stopped == NULL)
        atomic_store(&is_seen, atomic_load(&has_returned));
    return syscall(SYS_write, fd, data, size);
}

/* From then on run() may return, and the endpoint be destroyed. */
ON_STORE(e29_a_stop_touches_nothing_behind_its_mark, const char *url, "memory")
{
    runner it;
    runner_create(&it, &table_tennis, "ping", url, (pawl_endpoint_options){0});
    slowly_stopped = it.endpoint;
    atomic_store(&is_seen, true);
    is_slow = true;
    pawl_endpoint_stop(it.endpoint);
    is_slow        = false;
    slowly_stopped = NULL;
    assert_false(atomic_load(&is_seen));
    assert_true(atomic_load(&it.endpoint->is_stopping));
    runner_destroy(&it);
}

static void *stop_slowly(void *run)
{
    is_slow = true;
    pawl_run_stop(run);
    return NULL;
}

static void stop_twice(void *context, pawl_run *run, pawl_run_state state)
{
    if (state != PAWL_RUN_STARTED)
        return;
    assert_int_equal(pthread_create(&stopper, NULL, stop_slowly, run), 0);
    wait_for_count(&slow_writes, 1);
    pawl_run_stop(run);
}

/* Endpoints are there until each call that stops them is over. */
ON_STORE(e29_a_run_ends_behind_each_of_its_stops, const char *url, "memory")
{
    atomic_store(&has_returned, false);
    atomic_store(&slow_writes, 0);
    must(run_heard(url, stop_twice));
    atomic_store(&has_returned, true);
    pthread_join(stopper, NULL);
    assert_false(atomic_load(&is_seen));
}

/* ---- Failures ------------------------------------------------------------------ */

/* ping has a store of its own, which cannot be opened any more when it begins to run. */
static const char *own_url;

static pawl_code give_own_store(void *context, const char *endpoint, pawl_endpoint_options *options,
                                pawl_error *error)
{
    if (strcmp(endpoint, "ping") == 0)
        options->store = own_url;
    return PAWL_OK;
}

static void take_store_away(void *context, pawl_run *run, pawl_run_state state)
{
    const char *path = strchr(own_url, ':') + 1;
    if (state == PAWL_RUN_CREATED)
        assert_true(unlink(path) == 0 && mkdir(path, 0700) == 0);
    if (state == PAWL_RUN_STOPPED)
        assert_int_equal(rmdir(path), 0);
}

ON_STORE(one_that_fails_stops_all, const char *url, "sqlite")
{
    pawl_error            error    = PAWL_ERROR_INIT;
    pawl_endpoint_options endpoint = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_run_options      options  = PAWL_RUN_OPTIONS_INIT;
    own_url                        = url;
    endpoint.store                 = "memory:others";
    options.endpoint               = &endpoint;
    options.configure              = give_own_store;
    options.changed                = take_store_away;
    assert_int_not_equal(pawl_application_run(&table_tennis, &options, &error), PAWL_OK);
    assert_non_null(strstr(error.text, "endpoint 'ping'"));
}

/* The program's options end before their last member; its `configure`, which is newer, sets it. */
static pawl_code set_the_last(void *context, const char *endpoint, pawl_endpoint_options *options,
                              pawl_error *error)
{
    options->handler_time_max = -5;
    return PAWL_OK;
}

ON_STORE(what_configure_sets_is_used_with_older_options, const char *url, "memory")
{
    pawl_endpoint_options endpoint = PAWL_ENDPOINT_OPTIONS_INIT;
    pawl_run_options      options  = PAWL_RUN_OPTIONS_INIT;
    endpoint.options_size          = offsetof(pawl_endpoint_options, handler_time_max);
    endpoint.store                 = url;
    options.endpoint               = &endpoint;
    options.configure              = set_the_last;
    must_fail_with(pawl_application_run(&table_tennis, &options, world_error()), PAWL_ECONFIG,
                   "handler_time_max");
}

ON_STORE(one_endpoint_alone, const char *url, "memory")
{
    pawl_error       error;
    pawl_run_options options = PAWL_RUN_OPTIONS_INIT;
    options.only             = "lob";
    assert_int_equal(run(url, &options, &error), PAWL_ENOTFOUND);
    assert_non_null(strstr(error.text, "lob"));
    assert_string_equal(seen.text, "");
    options.only = "pong";
    answer       = PAWL_ECONFIG;
    assert_int_equal(run(url, &options, &error), PAWL_ECONFIG);
    assert_string_equal(seen.text, "pong ");
    answer = PAWL_OK;
}

/* The first endpoint is created by then, and is destroyed. */
ON_STORE(what_cannot_be_created_runs_nothing, const char *url, "memory")
{
    pawl_error       error;
    pawl_run_options options = PAWL_RUN_OPTIONS_INIT;
    answer                   = PAWL_ECONFIG;
    assert_int_equal(run(url, &options, &error), PAWL_ECONFIG);
    assert_string_equal(error.text, "no options of pong");
    assert_string_equal(seen.text, "ping pong ");
    answer = PAWL_OK;
    must(run(url, &options, world_error())); /* the signals are free again */
}

ON_STORE(options_of_another_size_are_refused, const char *url, "memory")
{
    pawl_error       error;
    pawl_run_options options = PAWL_RUN_OPTIONS_INIT;
    options.options_size     = sizeof options + 1;
    assert_int_equal(run(url, &options, &error), PAWL_EINVAL);
    assert_non_null(strstr(error.text, "begin with PAWL_RUN_OPTIONS_INIT"));
    assert_int_equal(pawl_application_run(NULL, NULL, &error), PAWL_EINVAL);
}
