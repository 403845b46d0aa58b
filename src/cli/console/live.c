/* live.c - the figures that every open page shows: asked for once, and sent to all browsers as server-sent events.
 *
 * `pawl stats` runs every two seconds and `pawl doctor` every twenty, while a browser reads the stream; without one
 * nothing is asked of the store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/console/console.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define PERIOD_S 2
#define DOCTOR_EACH 10 /* rounds */

enum { STATS, DOCTOR };
static const char *const names[] = {[STATS] = "stats", [DOCTOR] = "doctor"};

static struct timespec seconds_from_now(int seconds)
{
    struct timespec when;
    (void)clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += seconds;
    return when;
}

/* Runs the verb and makes its answer the news. A failure is news as well. */
static void ask(pawl__console *console, int which)
{
    pawl_error         error  = PAWL_ERROR_INIT;
    pawl_arena        *arena  = pawl_arena_create(0);
    pawl__console_call call   = {.count = 0};
    pawl__child_result result = {.exit_code = -1};
    if (arena == NULL)
        return;
    bool is_well = pawl__console_word(&call, arena, NULL, names[which]) &&
                   pawl__console_word(&call, arena, "prefix", console->prefix) &&
                   pawl__console_word(&call, arena, "deadline", "5s") &&
                   pawl__console_word(&call, arena, NULL, "--json");
    is_well = is_well && pawl__console_run(console, &call, arena, &result, &error) == PAWL_OK;
    /* Both exit with 1 when they find something. */
    pawl_text items = is_well ? pawl__console_array(result.out, arena) : (pawl_text){0};
    bool      is_ok = items.data != NULL && (result.exit_code == 0 || result.exit_code == 1);
    char     *made  = is_ok ? pawl_allocate(items.size + 1) : NULL;
    if (made != NULL)
        memcpy(made, items.data, items.size);
    pthread_mutex_lock(&console->mutex);
    pawl_free(console->news[which]);
    console->news[which]        = made;
    console->news_number[which] = ++console->number;
    pthread_cond_broadcast(&console->is_news);
    pthread_mutex_unlock(&console->mutex);
    pawl_arena_destroy(arena);
}

/* Waits for the next round; with nobody who watches, for the first of them. False: it is over. */
static bool wait_for_round(pawl__console *console)
{
    struct timespec when = seconds_from_now(PERIOD_S);
    pthread_mutex_lock(&console->mutex);
    while (!console->is_over &&
           pthread_cond_timedwait(&console->is_news, &console->mutex, &when) != ETIMEDOUT)
        continue;
    while (!console->is_over && console->watchers == 0)
        pthread_cond_wait(&console->is_news, &console->mutex);
    bool goes_on = !console->is_over;
    pthread_mutex_unlock(&console->mutex);
    return goes_on;
}

static void *run(void *context)
{
    pawl__console *console = context;
    for (unsigned round = 0; wait_for_round(console); round++) {
        ask(console, STATS);
        if (round % DOCTOR_EACH == 0)
            ask(console, DOCTOR);
    }
    return NULL;
}

pawl_code pawl__console_live_start(pawl__console *console, pawl_error *error)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    console->has_thread = pthread_create(&console->thread, NULL, run, console) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return console->has_thread ? PAWL_OK
                               : pawl_error_set(error, PAWL_ENOMEM, "no thread for live figures");
}

void pawl__console_live_stop(pawl__console *console)
{
    pthread_mutex_lock(&console->mutex);
    console->is_over = true;
    pthread_cond_broadcast(&console->is_news);
    pthread_mutex_unlock(&console->mutex);
    if (console->has_thread)
        pthread_join(console->thread, NULL);
    for (size_t i = 0; i < 2; i++) {
        pawl_free(console->news[i]);
        console->news[i] = NULL;
    }
}

/* ---- The stream of one browser ------------------------------------------------ */

/* The news that the browser has not seen yet, as events. */
static size_t write_news(const pawl__console *console, uint64_t seen, char *buffer, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < 2; i++) {
        const char *text = console->news[i] != NULL ? console->news[i] : "null";
        if (console->news_number[i] <= seen || strlen(text) + 40 > size - used)
            continue;
        used +=
            (size_t)snprintf(buffer + used, size - used, "event: %s\ndata: %s\n\n", names[i], text);
    }
    return used;
}

/* The state is the number of the last news that were sent, plus one. A line without news every two seconds finds the
 * connections whose browser is gone. */
long pawl__console_live_read(void *context, uint64_t *state, char *buffer, size_t size)
{
    static const char none[]  = ": \n\n";
    pawl__console    *console = context;
    struct timespec   when    = seconds_from_now(PERIOD_S);
    pthread_mutex_lock(&console->mutex);
    console->watchers++;
    pthread_cond_broadcast(&console->is_news);
    while (!console->is_over && *state != 0 && console->number < *state &&
           pthread_cond_timedwait(&console->is_news, &console->mutex, &when) != ETIMEDOUT)
        continue;
    size_t used = write_news(console, *state == 0 ? 0 : *state - 1, buffer, size);
    *state      = console->number + 1;
    console->watchers--;
    bool is_over = console->is_over;
    pthread_mutex_unlock(&console->mutex);
    if (is_over)
        return -1;
    if (used == 0) {
        memcpy(buffer, none, sizeof none - 1);
        used = sizeof none - 1;
    }
    return (long)used;
}
