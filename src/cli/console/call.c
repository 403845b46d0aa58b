/* call.c - runs a verb of this command as a process, with limits on time, output and processes at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/console/console.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define RUNNING_MAX 4  /* processes at a time, a connection to the store each */
#define WAITING_MAX 32 /* requests that wait until one of these processes ends */
#define TIME_MAX_MS 15000
#define WORD_SIZE_MAX 100000 /* Linux allows 128 KB for an argument of a process */

/* ---- Words ------------------------------------------------------------------- */

bool pawl__console_word(pawl__console_call *call, pawl_arena *arena, const char *name,
                        const char *value)
{
    pawl_text word =
        name == NULL ? pawl_text_of(value) : pawl_arena_printf(arena, "--%s=%s", name, value);
    if (word.data == NULL || word.size > WORD_SIZE_MAX || call->count == PAWL__CONSOLE_WORDS_MAX)
        return false;
    call->words[call->count++] = word.data;
    return true;
}

bool pawl__console_verb_words(const pawl__console *console, pawl__console_call *call,
                              pawl_arena *arena, const char *const *words)
{
    bool is_well = true;
    for (size_t i = 0; is_well && words[i] != NULL; i++)
        is_well = pawl__console_word(call, arena, NULL, words[i]);
    return is_well && pawl__console_word(call, arena, "prefix", console->prefix) &&
           pawl__console_word(call, arena, NULL, "--json");
}

pawl_text pawl__console_array(pawl_text lines, pawl_arena *arena)
{
    char  *made = pawl_arena_take(arena, lines.size + 3);
    size_t size = 0;
    if (made == NULL)
        return (pawl_text){0};
    made[size++] = '[';
    for (size_t i = 0; i < lines.size; i++)
        if (lines.data[i] != '\n')
            made[size++] = lines.data[i];
        else if (i + 1 < lines.size)
            made[size++] = ',';
    made[size++] = ']';
    made[size]   = '\0';
    return (pawl_text){.data = made, .size = size};
}

/* ---- Turns ------------------------------------------------------------------- */

bool pawl__console_is_over(pawl__console *console)
{
    pthread_mutex_lock(&console->mutex);
    bool is_over = console->is_over;
    pthread_mutex_unlock(&console->mutex);
    return is_over;
}

bool pawl__console_wait(pawl__console *console, pthread_cond_t *condition, int64_t until)
{
    const struct timespec when = {.tv_sec = until / 1000000, .tv_nsec = until % 1000000 * 1000};
    return !console->is_over &&
           pthread_cond_timedwait(condition, &console->mutex, &when) != ETIMEDOUT;
}

static bool goes_on(void *context, pawl_text errors)
{
    (void)errors;
    return !pawl__console_is_over(context);
}

static pawl_code take_turn(pawl__console *console, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    pthread_mutex_lock(&console->mutex);
    if (console->running >= RUNNING_MAX && console->waiting >= WAITING_MAX)
        code = pawl_error_set(error, PAWL_EBUSY, "%d requests wait already", WAITING_MAX);
    console->waiting++;
    while (code == PAWL_OK && console->running >= RUNNING_MAX && !console->is_over)
        pthread_cond_wait(&console->is_free, &console->mutex);
    if (code == PAWL_OK && console->is_over)
        code = pawl_error_set(error, PAWL_EBUSY, "the console ends");
    console->waiting--;
    console->running += code == PAWL_OK;
    pthread_mutex_unlock(&console->mutex);
    return code;
}

static void end_turn(pawl__console *console)
{
    pthread_mutex_lock(&console->mutex);
    console->running--;
    pthread_cond_signal(&console->is_free);
    pthread_mutex_unlock(&console->mutex);
}

static pawl_code run(pawl__console *console, const pawl__console_call *call, const pawl__child *how,
                     pawl_arena *arena, pawl__child_result *result, pawl_error *error)
{
    pawl__child child = *how;
    child.words       = call->words;
    child.count       = call->count;
    child.store       = console->store;
    child.asker       = pawl_text_of(call->user);
    child.input       = call->input;
    return pawl__child_run(&child, arena, result, error);
}

pawl_code pawl__console_run_long(pawl__console *console, const pawl__console_call *call,
                                 pawl_arena *arena, pawl__child_result *result, pawl_error *error)
{
    const pawl__child how = {.goes_on = goes_on, .context = console};
    return run(console, call, &how, arena, result, error);
}

pawl_code pawl__console_run(pawl__console *console, const pawl__console_call *call,
                            pawl_arena *arena, pawl__child_result *result, pawl_error *error)
{
    const pawl__child how  = {.time_max = TIME_MAX_MS, .goes_on = goes_on, .context = console};
    pawl_code         code = take_turn(console, error);
    if (code != PAWL_OK)
        return code;
    code = run(console, call, &how, arena, result, error);
    end_turn(console);
    return code;
}
