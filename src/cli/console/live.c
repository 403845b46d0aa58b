/* live.c - the figures that every open page shows: read once, and sent to all browsers as server-sent events.
 *
 * `pawl stats` runs every two seconds and `pawl doctor` every twenty, while a browser reads the stream; without a
 * browser the store is not read. If they are slow, the pauses are longer, so that they run for about a tenth of the
 * time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/console/console.h"

#include <string.h>

#define PERIOD_S 2
#define SHARE 10      /* the pause is SHARE times as long as the round took, */
#define WAIT_MAX_S 30 /* up to this limit, */
#define FAILURE_S 5   /* and up to this one while the store does not answer */
#define DOCTOR_S 20
#define STREAMS_MAX 32 /* half of the connections that one address may have (observe/pages.c) */

enum { STATS, DOCTOR };
static const char *const names[] = {[STATS] = "stats", [DOCTOR] = "doctor"};

/* Under the mutex. */
static void release(pawl__console_news *news)
{
    if (news != NULL && --news->holders == 0)
        pawl_free(news);
}

/* Under the mutex: drops old events, from the time when a browser last read the stream. */
static void forget(pawl__console *console)
{
    for (size_t i = 0; i < 2; i++) {
        release(console->news[i]);
        console->news[i] = NULL;
    }
    console->doctor_due = 0;
}

/* Runs the verb, and makes its answer the new event; after a failure, null. False: the verb failed. */
static bool ask(pawl__console *console, int which)
{
    static const pawl_serve_request request = {.method = "GET"};
    char                            refusal[PAWL__CONSOLE_REFUSAL_SIZE];
    pawl_error                      error  = PAWL_ERROR_INIT;
    pawl_arena                     *arena  = pawl_arena_create(0);
    pawl__console_call              call   = {.count = 0};
    pawl__child_result              result = {.exit_code = -1};
    if (arena == NULL)
        return false;
    bool is_well = pawl__console_words(console, &request, pawl__console_route_find(names[which]),
                                       arena, &call, refusal) &&
                   pawl__console_run(console, &call, arena, &result, &error) == PAWL_OK;
    /* Both exit with 1 when they find something. */
    pawl_text items = is_well ? pawl__console_array(result.out, arena) : (pawl_text){0};
    bool      is_ok = items.data != NULL && (result.exit_code == 0 || result.exit_code == 1);
    pawl_text text  = pawl_arena_printf(arena, "event: %s\ndata: %s\n\n", names[which],
                                       is_ok ? items.data : "null");
    pawl__console_news *made = text.data != NULL ? pawl_allocate(sizeof *made + text.size) : NULL;
    if (made != NULL) {
        *made = (pawl__console_news){.holders = 1, .size = text.size};
        memcpy(made->text, text.data, text.size);
    }
    pthread_mutex_lock(&console->mutex);
    release(console->news[which]);
    console->news[which]        = made;
    console->news_number[which] = ++console->number;
    pthread_cond_broadcast(&console->is_news);
    pthread_mutex_unlock(&console->mutex);
    pawl_arena_destroy(arena);
    return is_ok;
}

/* Seconds until the next round. */
static int wait_after(int64_t took_ms, bool is_well)
{
    int64_t wait = took_ms * SHARE / 1000, most = is_well ? WAIT_MAX_S : FAILURE_S;
    return (int)(wait < PERIOD_S ? PERIOD_S : wait < most ? wait : most);
}

/* Waits for the next round, or if there is no browser, for the first one. False: the console ends. */
static bool wait_for_round(pawl__console *console, int seconds, bool *is_doctor)
{
    int64_t now = pawl__steady_now();
    pthread_mutex_lock(&console->mutex);
    while (pawl__console_wait(console, &console->is_news,
                              now + PAWL_SECONDS(console->doctor_due == 0 ? PERIOD_S : seconds)))
        continue;
    while (!console->is_over && console->streams == 0)
        pthread_cond_wait(&console->is_news, &console->mutex);
    bool goes_on = !console->is_over;
    *is_doctor   = console->doctor_due <= pawl__steady_now();
    if (*is_doctor)
        console->doctor_due = pawl__steady_now() + PAWL_SECONDS(DOCTOR_S);
    pthread_mutex_unlock(&console->mutex);
    return goes_on;
}

static void *run(void *context)
{
    pawl__console *console   = context;
    bool           is_doctor = false, was_well = true;
    int            seconds = PERIOD_S;
    while (wait_for_round(console, seconds, &is_doctor)) {
        int64_t begun   = pawl__steady_now();
        bool    is_well = ask(console, STATS);
        if (is_doctor || is_well != was_well) /* its finding about the connection is outdated */
            (void)ask(console, DOCTOR);
        was_well = is_well;
        seconds  = wait_after((pawl__steady_now() - begun) / 1000, is_well);
    }
    return NULL;
}

pawl_code pawl__console_live_start(pawl__console *console, pawl_error *error)
{
    console->has_thread = pthread_create(&console->thread, NULL, run, console) == 0;
    return console->has_thread ? PAWL_OK
                               : pawl_error_set(error, PAWL_ENOMEM, "no thread for live figures");
}

void pawl__console_live_stop(pawl__console *console)
{
    pthread_mutex_lock(&console->mutex);
    console->is_over = true;
    pthread_cond_broadcast(&console->is_news);
    pthread_cond_broadcast(&console->is_free);
    pthread_mutex_unlock(&console->mutex);
    if (console->has_thread)
        pthread_join(console->thread, NULL);
    pthread_mutex_lock(&console->mutex);
    forget(console);
    pthread_mutex_unlock(&console->mutex);
}

/* ---- The stream of one browser ------------------------------------------------ */

/* The progress of one browser: an event with many queues is sent in several calls. */
typedef struct reader {
    pawl__console_news *current; /* event that is being sent, counted as a holder; or NULL */
    size_t              at;
    uint64_t            seen[2]; /* numbers of the last news of each kind */
} reader;

/* Under the mutex: takes the next news that the browser has not seen. False: there is none. */
static bool take_news(pawl__console *console, reader *it)
{
    for (size_t i = 0; it->current == NULL && i < 2; i++)
        if (console->news[i] != NULL && console->news_number[i] > it->seen[i]) {
            it->seen[i] = console->news_number[i];
            it->current = console->news[i];
            it->at      = 0;
            it->current->holders++;
        }
    return it->current != NULL;
}

static size_t write_news(reader *it, char *buffer, size_t size)
{
    size_t left = it->current->size - it->at, count = left < size ? left : size;
    memcpy(buffer, it->current->text + it->at, count);
    it->at += count;
    if (it->at == it->current->size) {
        release(it->current);
        it->current = NULL;
    }
    return count;
}

static long end_reader(pawl__console *console, reader *it)
{
    pthread_mutex_lock(&console->mutex);
    if (it != NULL) {
        release(it->current);
        console->streams--;
    }
    pthread_mutex_unlock(&console->mutex);
    pawl_free(it);
    return -1;
}

bool pawl__console_live_has_room(pawl__console *console)
{
    pthread_mutex_lock(&console->mutex);
    bool has_room = console->streams < STREAMS_MAX;
    pthread_mutex_unlock(&console->mutex);
    return has_room;
}

/* `*state` points to the reader. An empty line every two seconds detects connections whose browser is gone. */
long pawl__console_live_read(void *context, uint64_t *state, char *buffer, size_t size)
{
    static const char none[]  = ": \n\n";
    pawl__console    *console = context;
    int64_t           when    = pawl__steady_now() + PAWL_SECONDS(PERIOD_S);
    bool              is_new  = *state == 0;
    reader *it = is_new && buffer != NULL ? pawl_allocate(sizeof *it) : (reader *)(uintptr_t)*state;
    size_t  used = 0;
    if (buffer == NULL)
        return end_reader(console, (reader *)(uintptr_t)*state);
    if (it == NULL)
        return -1;
    if (is_new)
        *it = (reader){.current = NULL};
    *state = (uintptr_t)it;
    pthread_mutex_lock(&console->mutex);
    if (is_new && console->streams++ == 0)
        forget(console);
    pthread_cond_broadcast(&console->is_news);
    while (!console->is_over && !take_news(console, it) && !is_new &&
           pawl__console_wait(console, &console->is_news, when))
        continue;
    if (!console->is_over && it->current != NULL)
        used = write_news(it, buffer, size);
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
