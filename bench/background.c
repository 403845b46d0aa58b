/* background.c - running an endpoint beside the benchmark's own thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "background.h"

#include <string.h>

#define LOOK_PERIOD PAWL_MILLISECONDS(5)

static void *run(void *argument)
{
    pawl__bench_background *background = argument;
    background->code = pawl_endpoint_run(background->endpoint, &background->error);
    atomic_store(&background->has_ended, true);
    return NULL;
}

pawl_code pawl__bench_background_start(pawl__bench_background *background, pawl_endpoint *endpoint,
                                       pawl_error *error)
{
    *background = (pawl__bench_background){.endpoint = endpoint, .error = PAWL_ERROR_INIT};
    int failure = pthread_create(&background->thread, NULL, run, background);
    if (failure != 0)
        return pawl_error_set(error, PAWL_EBUSY, "the endpoint's thread cannot be started: %s",
                              strerror(failure));
    background->is_started = true;
    return PAWL_OK;
}

pawl_code pawl__bench_background_look(pawl__bench_background *background, pawl_error *error)
{
    pawl_code code = pawl__bench_go_on(error);
    if (code == PAWL_OK && atomic_load(&background->has_ended))
        return pawl_error_set(error, PAWL_EBUG, "the endpoint ended before its work was done");
    return code;
}

pawl_code pawl__bench_background_stop(pawl__bench_background *background, pawl_code code,
                                      pawl_error *error)
{
    if (background->is_started) {
        pawl_endpoint_stop(background->endpoint);
        pthread_join(background->thread, NULL);
        if (background->code != PAWL_OK)
            code = pawl_error_set(error, background->code, "%s", background->error.text);
    }
    pawl_endpoint_destroy(background->endpoint);
    *background = (pawl__bench_background){.is_started = false};
    return code;
}

pawl_code pawl__bench_wait(pawl__bench_background *background, const char *what,
                           pawl__bench_left_fn *left, void *context, int64_t patience,
                           pawl_error *error)
{
    int64_t   last    = -1;
    int64_t   changed = pawl__bench_clock();
    int64_t   count   = 0;
    pawl_code code    = PAWL_OK;
    for (;;) {
        code = left(context, &count, error);
        if (code == PAWL_OK && count > 0)
            code = pawl__bench_background_look(background, error);
        if (code != PAWL_OK || count <= 0)
            return code;
        if (count != last)
            changed = pawl__bench_clock();
        else if (pawl__bench_clock() - changed > patience)
            return pawl_error_set(error, PAWL_EBUG,
                                  "%s: %lld are left, and as many %lld seconds ago", what,
                                  (long long)count, (long long)(patience / 1000000));
        last = count;
        pawl__bench_nap(LOOK_PERIOD);
    }
}
