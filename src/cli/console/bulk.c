/* bulk.c - runs the bulk actions of the store: those that this console began, and open ones that it finds.
 *
 * Each runs as `pawl bulk run ID` until it is finished or stopped, or the console ends; the next console resumes it.
 * Two consoles on one store do no harm: rows that one has changed no longer match for the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/calm.h"
#include "cli/console/console.h"

#include <stdlib.h>
#include <string.h>

#define PERIOD_S 20 /* between two looks for open actions */

typedef struct work {
    pawl__console *console;
    char           id[64];
} work;

static void end_work(work *it)
{
    pawl__console *console = it->console;
    pthread_mutex_lock(&console->mutex);
    for (size_t i = 0; i < console->bulk_count; i++)
        if (strcmp(console->bulk_ids[i], it->id) == 0) {
            memcpy(console->bulk_ids[i], console->bulk_ids[console->bulk_count - 1],
                   sizeof console->bulk_ids[i]);
            console->bulk_count--;
            break;
        }
    pthread_cond_broadcast(&console->is_bulk);
    pthread_mutex_unlock(&console->mutex);
    pawl_free(it);
}

static void *run_one(void *context)
{
    work              *it      = context;
    pawl_error         error   = PAWL_ERROR_INIT;
    pawl_arena        *arena   = pawl_arena_create(0);
    pawl__console_call call    = {.count = 0};
    pawl__child_result result  = {.exit_code = -1};
    const char *const  words[] = {"bulk", "run", NULL};
    pawl_code          code    = PAWL_OK;
    char               shown[sizeof it->id];
    bool               is_well =
        arena != NULL && pawl__console_verb_words(it->console, &call, arena, words) &&
        (it->console->app == NULL || pawl__console_word(&call, arena, "app", it->console->app)) &&
        pawl__console_word(&call, arena, NULL, "--") &&
        pawl__console_word(&call, arena, NULL, it->id);
    if (is_well)
        code = pawl__console_run_long(it->console, &call, arena, &result, &error);
    memcpy(shown, it->id, sizeof shown); /* made calm below, as it comes from the store */
    pawl__calm_line(shown, strlen(shown));
    bool is_line = result.err.size > 0 && result.err.data[result.err.size - 1] == '\n';
    if (code != PAWL_OK)
        pawl__say(stderr, "pawl: bulk action %s: %s", shown, error.text);
    else if (is_well && result.exit_code != 0)
        fprintf(stderr, "bulk action %s ended with exit code %d: %.*s%s", shown, result.exit_code,
                PAWL_TEXT_ARGS(result.err), is_line ? "" : "\n");
    pawl_arena_destroy(arena);
    end_work(it);
    return NULL;
}

/* Under the mutex: does the action run already? */
static bool is_taken(const pawl__console *console, const char *id)
{
    for (size_t i = 0; i < console->bulk_count; i++)
        if (strcmp(console->bulk_ids[i], id) == 0)
            return true;
    return console->is_over;
}

static void begin_one(pawl__console *console, const char *id)
{
    pthread_t thread;
    work     *it = pawl_allocate(sizeof *it);
    if (it == NULL || strlen(id) >= sizeof it->id) {
        pawl_free(it);
        return;
    }
    it->console = console;
    memcpy(it->id, id, strlen(id) + 1);
    pthread_mutex_lock(&console->mutex);
    bool is_new = !is_taken(console, id) && console->bulk_count < PAWL__CONSOLE_BULKS_MAX;
    if (is_new)
        memcpy(console->bulk_ids[console->bulk_count++], it->id, sizeof it->id);
    pthread_mutex_unlock(&console->mutex);
    if (!is_new) {
        pawl_free(it);
        return;
    }
    if (pthread_create(&thread, NULL, run_one, it) == 0)
        (void)pthread_detach(thread);
    else
        end_work(it);
}

void pawl__console_bulk_begin(pawl__console *console, pawl_text lines, pawl_arena *arena)
{
    pawl_text   items = pawl__console_array(lines, arena);
    yyjson_doc *doc   = yyjson_read(items.data, items.size, YYJSON_READ_NOFLAG);
    yyjson_val *row;
    size_t      i, count;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, count, row)
    {
        const char *id = yyjson_get_str(yyjson_obj_get(row, "id"));
        if (id != NULL)
            begin_one(console, id);
    }
    yyjson_doc_free(doc);
}

/* Looks for open actions and begins them. */
static void begin_open(pawl__console *console)
{
    pawl_error         error   = PAWL_ERROR_INIT;
    pawl_arena        *arena   = pawl_arena_create(0);
    pawl__console_call call    = {.count = 0};
    pawl__child_result result  = {.exit_code = -1};
    const char *const  words[] = {"bulk", "list", "--open", NULL};
    bool is_well = arena != NULL && pawl__console_verb_words(console, &call, arena, words);
    if (is_well && pawl__console_run_long(console, &call, arena, &result, &error) != PAWL_OK)
        pawl__say(stderr, "pawl: open bulk actions cannot be looked for: %s", error.text);
    else if (is_well && result.exit_code == 0)
        pawl__console_bulk_begin(console, result.out, arena);
    else if (is_well && !pawl__console_is_over(console))
        pawl__say(stderr, "pawl: open bulk actions cannot be looked for: %.*s",
                  PAWL_TEXT_ARGS(pawl__child_said(&result)));
    pawl_arena_destroy(arena);
}

static void *run(void *context)
{
    pawl__console *console = context;
    while (!pawl__console_is_over(console)) {
        begin_open(console);
        int64_t when = pawl__steady_now() + PAWL_SECONDS(PERIOD_S);
        pthread_mutex_lock(&console->mutex);
        while (pawl__console_wait(console, &console->is_bulk, when))
            continue;
        pthread_mutex_unlock(&console->mutex);
    }
    return NULL;
}

pawl_code pawl__console_bulk_start(pawl__console *console, pawl_error *error)
{
    if (!console->may_write)
        return PAWL_OK;
    console->has_bulk_thread = pthread_create(&console->bulk_thread, NULL, run, console) == 0;
    return console->has_bulk_thread
               ? PAWL_OK
               : pawl_error_set(error, PAWL_ENOMEM, "no thread for bulk actions");
}

void pawl__console_bulk_stop(pawl__console *console)
{
    if (!console->has_bulk_thread)
        return;
    pthread_mutex_lock(&console->mutex);
    pthread_cond_broadcast(&console->is_bulk);
    pthread_mutex_unlock(&console->mutex);
    pthread_join(console->bulk_thread, NULL);
    pthread_mutex_lock(&console->mutex);
    while (console->bulk_count > 0)
        pthread_cond_wait(&console->is_bulk, &console->mutex);
    pthread_mutex_unlock(&console->mutex);
}
