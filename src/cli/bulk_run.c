/* bulk_run.c - `pawl bulk run`: works a bulk action off, tells how far it is, and ends it when somebody stops it.
 *
 * The verb runs as a process, since it prints and ends on signals as it does for people.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/bulk.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_STEPS 20 /* events of one action, at most, but for those of its first minute */
#define PROGRESS_FIRST PAWL_MINUTES(1)

/* Runs the words with more words behind them, on this store. */
pawl_code pawl__bulk_run_words(const pawl__bulk_fields *fields, const char **words, size_t count,
                               const pawl__child *how, pawl_text asker, pawl_arena *arena,
                               pawl__child_result *result, pawl_error *error)
{
    pawl_text   store = pawl_arena_printf(arena, "PAWL_STORE=%s", fields->at.store);
    pawl_text   user  = pawl_arena_printf(arena, PAWL__CONSOLE_USER "=%.*s", PAWL_TEXT_ARGS(asker));
    pawl_text   prefix      = pawl_arena_printf(arena, "--prefix=%s", fields->at.prefix);
    const char *variables[] = {store.data, user.data, NULL};
    pawl__child child       = *how;
    if (store.data == NULL || user.data == NULL || prefix.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    words[count++]  = "--json";
    words[count++]  = prefix.data;
    child.words     = words;
    child.count     = count;
    child.variables = variables;
    return pawl__child_run(&child, arena, result, error);
}

/* The last line of what the verb said, as this one's failure. */
pawl_code pawl__bulk_pass_on(const pawl__child_result *result, pawl_error *error)
{
    static const char mark[] = "pawl: ";
    pawl_text         text   = result->err;
    while (text.size > 0 && text.data[text.size - 1] == '\n')
        text.size--;
    for (size_t i = text.size; i > 0; i--)
        if (text.data[i - 1] == '\n') {
            text = (pawl_text){.data = text.data + i, .size = text.size - i};
            break;
        }
    if (text.size > sizeof mark && memcmp(text.data, mark, sizeof mark - 1) == 0)
        text =
            (pawl_text){.data = text.data + sizeof mark - 1, .size = text.size - sizeof mark + 1};
    pawl_code code = result->exit_code == 2   ? PAWL_EINVAL
                     : result->exit_code == 5 ? PAWL_EINTERRUPTED
                     : result->exit_code == 6 ? PAWL_ENOTFOUND
                                              : PAWL_EUNREACHABLE;
    return pawl_error_set(error, code, "%.*s", PAWL_TEXT_ARGS(text));
}

pawl_code pawl__bulk_print(bool is_json, const char *const *keys, const pawl_text *values,
                           const char *people, pawl_error *error)
{
    if (!is_json) {
        puts(people);
        return PAWL_OK;
    }
    yyjson_mut_doc *doc = pawl__json_create();
    for (size_t i = 0; doc != NULL && keys[i] != NULL; i++) {
        yyjson_mut_val *value = strcmp(keys[i], "id") == 0 || strcmp(keys[i], "stopped") == 0
                                    ? yyjson_mut_strn(doc, values[i].data, values[i].size)
                                    : pawl__json_value(doc, values[i]);
        yyjson_mut_obj_add_val(doc, yyjson_mut_doc_get_root(doc), keys[i], value);
    }
    return pawl__json_print(doc, stdout, error);
}

/* ---- run --------------------------------------------------------------------------------- */

typedef struct running {
    pawl_store *store;
    pawl_text   id;
    int64_t     total, done; /* as the last event of progress says */
    pawl_time   begun;
    bool        is_stopped;
    pawl_error *error;
} running;

static volatile sig_atomic_t is_interrupted;

static void on_signal(int number)
{
    (void)number;
    is_interrupted = 1;
}

/* The number of the last "retried 512 of 2000" that the verb said; -1: none. */
static int64_t progress_of(pawl_text errors)
{
    static const char mark[] = " of ";
    const size_t      size   = sizeof mark - 1;
    for (size_t i = errors.size > size ? errors.size - size : 0; i > 0; i--) {
        size_t digits = i;
        while (digits > 0 && errors.data[digits - 1] >= '0' && errors.data[digits - 1] <= '9')
            digits--;
        if (digits < i && memcmp(errors.data + i, mark, size) == 0)
            return strtoll(errors.data + digits, NULL, 10);
    }
    return -1;
}

static void note_progress(running *it, pawl_text errors)
{
    char    text[24], user[PAWL__USER_SIZE];
    int64_t done     = progress_of(errors);
    bool    is_young = pawl_clock_now(NULL) - it->begun < PROGRESS_FIRST;
    if (done <= it->done || (!is_young && done - it->done < it->total / PROGRESS_STEPS))
        return;
    (void)snprintf(text, sizeof text, "%lld", (long long)done);
    const pawl__bulk_note what  = {.type   = PAWL__BULK_PROGRESS_EVENT,
                                   .by     = pawl_text_of(pawl__user(user)),
                                   .keys   = {"done"},
                                   .values = {pawl_text_of(text)}};
    pawl_error            error = PAWL_ERROR_INIT;
    if (pawl__bulk_append(it->store, it->id, &what, &error) == PAWL_OK)
        it->done = done;
}

/* Once a second. A store that does not answer does not end the work: the verb finds out itself. */
static bool goes_on(void *context, pawl_text errors)
{
    running        *it    = context;
    pawl_error      error = PAWL_ERROR_INIT;
    pawl__bulk_row  row;
    pawl_event_rows events;
    pawl_arena     *arena = pawl_arena_create(0);
    if (arena != NULL &&
        pawl__bulk_load(it->store, it->id, arena, &row, &events, &error) == PAWL_OK)
        it->is_stopped = row.state == PAWL__BULK_STOPPED;
    pawl_arena_destroy(arena);
    if (!it->is_stopped)
        note_progress(it, errors);
    return !it->is_stopped && !is_interrupted;
}

static pawl_code finish(running *it, const pawl__bulk_fields *fields, pawl_text result,
                        pawl_error *error)
{
    char                  user[PAWL__USER_SIZE];
    const pawl__bulk_note what = {.type   = PAWL__BULK_FINISHED_EVENT,
                                  .by     = pawl_text_of(pawl__user(user)),
                                  .keys   = {"result"},
                                  .values = {result}};
    while (result.size > 0 && result.data[result.size - 1] == '\n')
        result.size--;
    pawl__bulk_note trimmed = what;
    trimmed.values[0]       = result;
    pawl_code code          = pawl__bulk_append(it->store, it->id, &trimmed, error);
    if (code != PAWL_OK)
        return code;
    const char *const keys[]   = {"id", "result", NULL};
    const pawl_text   values[] = {it->id, result};
    return pawl__bulk_print(fields->is_json, keys, values, result.data, error);
}

/* The words of the stored array; false: there are too many. */
static bool read_words(pawl_text text, pawl_arena *arena, const char **words, size_t *count)
{
    yyjson_doc *doc = yyjson_read(text.data, text.size, YYJSON_READ_NOFLAG);
    yyjson_val *word;
    size_t      i, all;
    *count = 0;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, all, word)
    {
        pawl_text copy = pawl_arena_text(arena, pawl_text_of(yyjson_get_str(word)));
        if (copy.data != NULL && *count < PAWL__BULK_WORDS_MAX)
            words[(*count)++] = copy.data;
    }
    yyjson_doc_free(doc);
    return *count >= 2;
}

pawl_code pawl__bulk_run(const void *context, pawl_store *store, pawl_arena *arena,
                         pawl_error *error)
{
    const pawl__bulk_fields *fields = context;
    const char              *words[PAWL__BULK_WORDS_MAX + 8];
    size_t                   count = 0;
    pawl__bulk_row           row;
    pawl_event_rows          events;
    pawl__child_result       result = {.exit_code = -1};
    struct sigaction         action = {.sa_handler = on_signal};
    running                  it     = {
                             .store = store, .id = pawl_text_of(fields->words.items[0]), .begun = pawl_clock_now(NULL)};
    const pawl__child how  = {.goes_on = goes_on, .context = &it};
    pawl_code         code = pawl__bulk_load(store, it.id, arena, &row, &events, error);
    if (code == PAWL_OK && row.state != PAWL__BULK_OPEN)
        code = pawl_error_set(error, PAWL_ECONFLICT, "bulk action %.*s is %s",
                              PAWL_TEXT_ARGS(it.id), pawl__bulk_state_names[row.state]);
    if (code == PAWL_OK && !read_words(row.words, arena, words, &count))
        code = pawl_error_set(error, PAWL_EINPUT, "bulk action %.*s has no words",
                              PAWL_TEXT_ARGS(it.id));
    if (code != PAWL_OK)
        return code;
    it.total = row.total;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    pawl_text why = row.reason.size > 0
                        ? pawl_arena_printf(arena, "--reason=%.*s", PAWL_TEXT_ARGS(row.reason))
                        : (pawl_text){0};
    if (why.data != NULL)
        words[count++] = why.data;
    words[count++] = "--yes";
    code = pawl__bulk_run_words(fields, words, count, &how, row.asker, arena, &result, error);
    if (code != PAWL_OK)
        return code;
    if (result.exit_code == 0)
        return finish(&it, fields, result.out, error);
    if (it.is_stopped)
        return pawl_error_set(error, PAWL_EINTERRUPTED, "bulk action %.*s was stopped",
                              PAWL_TEXT_ARGS(it.id));
    return pawl__bulk_pass_on(&result, error);
}
