/* thread.c - runs an endpoint in its own thread, and waits for its effects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/thread.h"

static void *run(void *argument)
{
    runner *self = argument;
    self->code   = pawl_endpoint_run(self->endpoint, &self->error);
    return NULL;
}

void runner_create(runner *it, const pawl_application *application, const char *name,
                   const char *url, pawl_endpoint_options options)
{
    options.options_size = sizeof options;
    options.route_size   = sizeof(pawl_route);
    options.store        = url;
    *it                  = (runner){.code = PAWL_EBUG};
    world_make_tables_of(url, application, name, options.saga_prefix);
    must(pawl_endpoint_create(application, name, &options, &it->endpoint, world_error()));
}

void runner_start(runner *it)
{
    assert_int_equal(pthread_create(&it->thread, NULL, run, it), 0);
}

void runner_join(runner *it)
{
    patience left = patience_of(THREAD_SECONDS);
    while (pthread_tryjoin_np(it->thread, NULL) != 0)
        patience_wait(&left, "the endpoint does not stop");
}

void runner_stop(runner *it)
{
    pawl_endpoint_stop(it->endpoint);
    runner_join(it);
    world_ok(it->code, &it->error);
}

void runner_destroy(runner *it)
{
    pawl_endpoint_destroy(it->endpoint);
}

void runner_open(runner *it, const pawl_application *application, const char *name, const char *url,
                 pawl_endpoint_options options)
{
    runner_create(it, application, name, url, options);
    runner_start(it);
}

void runner_close(runner *it)
{
    runner_stop(it);
    runner_destroy(it);
}

static void end_runner(void *it)
{
    runner_close(it);
    free(it);
}

runner *runner_begin(const pawl_application *application, const char *name, const char *url,
                     pawl_endpoint_options options)
{
    runner *it = calloc(1, sizeof *it);
    assert_non_null(it);
    runner_open(it, application, name, url, options);
    test_later(end_runner, it);
    return it;
}

#define LOOK_MS_MAX 250

static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

patience patience_of(int seconds)
{
    return (patience){.left_ms = (int64_t)seconds * 1000, .looked_ms = monotonic_ms()};
}

void patience_wait(patience *left, const char *format, ...)
{
    const struct timespec moment = {0, 2000000};
    char                  text[500];
    va_list               arguments;
    int64_t               now_ms = monotonic_ms();
    int64_t               passed = now_ms - left->looked_ms;
    left->left_ms -= passed < LOOK_MS_MAX ? passed : LOOK_MS_MAX;
    left->looked_ms = now_ms;
    if (left->left_ms < 0) {
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        fail_msg("%s", text);
    }
    nanosleep(&moment, NULL);
}

void wait_for_count(atomic_int *count, int wanted)
{
    patience left = patience_of(THREAD_SECONDS);
    while (atomic_load(count) < wanted)
        patience_wait(&left, "is %d, waited for %d", atomic_load(count), wanted);
}
