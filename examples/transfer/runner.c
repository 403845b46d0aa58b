/* runner.c - runs two endpoints, each on its own thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runner.h"

#include "application.h"
#include "support/store.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

typedef struct side {
    pawl_endpoint *endpoint;
    pawl_code      code;
    pawl_error     error;
} side;

#define SIDES 2
static const char *const names[SIDES] = {TRANSFER_ACCOUNTS, TRANSFER_TRANSFERS};
static side              sides[SIDES];

static void stop_all(void)
{
    for (int i = 0; i < SIDES; i++)
        if (sides[i].endpoint != NULL)
            pawl_endpoint_stop(sides[i].endpoint);
}

static void on_signal(int number)
{
    (void)number;
    stop_all();
}

/* Runs an endpoint; if it cannot continue, ends the other one, too. */
static void *run(void *argument)
{
    side *s = argument;
    s->code = pawl_endpoint_run(s->endpoint, &s->error);
    stop_all();
    return NULL;
}

static pawl_code open_all(const transfer_options *options, transfer_settings *settings,
                          pawl_error *error)
{
    static char           prefix[PAWL_PREFIX_SIZE_MAX + 1];
    pawl_endpoint_options how = PAWL_ENDPOINT_OPTIONS_INIT;
    snprintf(prefix, sizeof prefix, TRANSFER_PREFIX_FORMAT, options->run);
    how.store         = options->store;
    how.mode          = PAWL_OPEN_CREATE;
    how.system_prefix = prefix;
    how.routes        = transfer_routes;
    how.user          = settings;
    pawl_code code    = PAWL_OK;
    for (int i = 0; i < SIDES && code == PAWL_OK; i++)
        code =
            pawl_endpoint_create(&transfer_application, names[i], &how, &sides[i].endpoint, error);
    return code;
}

static pawl_code run_all(pawl_error *error)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, &sides[1]) != 0)
        return pawl_error_set(error, PAWL_EPERSIST, "no thread for an endpoint");
    run(&sides[0]);
    pthread_join(thread, NULL);
    for (int i = 0; i < SIDES; i++)
        if (sides[i].code != PAWL_OK)
            return pawl_error_set(error, sides[i].code, "%s: %s", names[i], sides[i].error.text);
    return PAWL_OK;
}

pawl_code transfer_runner_work(const transfer_options *options, pawl_error *error)
{
    transfer_settings settings = {.late = options->late};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends with the parent, whatever ends that */
    pawl_log_set(NULL, PAWL_LOG_ERROR, NULL);
    pawl_code code = open_all(options, &settings, error);
    if (code == PAWL_OK) {
        const struct sigaction action = {.sa_handler = on_signal};
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGINT, &action, NULL);
        code = run_all(error);
    }
    for (int i = 0; i < SIDES; i++)
        pawl_endpoint_destroy(sides[i].endpoint);
    return code == PAWL_OK ? code : example_store_wrap(options->store, code, error);
}
