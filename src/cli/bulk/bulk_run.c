/* bulk_run.c - `pawl bulk run`: runs a bulk action, records its progress, and ends it when an operator stops it.
 *
 * The verb runs as a child process, with the same output and signal handling as on a command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/bulk/bulk.h"
#include "cli/bulk/bulk_loop.h"

#include <stdlib.h>
#include <string.h>

#define PROGRESS_STEPS 20 /* progress events of one action at most, except in its first minute */
#define PROGRESS_FIRST PAWL_MINUTES(1)

/* ---- Words ------------------------------------------------------------------------------- */

static const pawl__bulk_kind kinds[] = {
    {"dead", "discard", "--all", "--until"},
    {"dead", "retry", "--all", "--until"},
    {"queue", "move", NULL, "--last"},
    {"queue", "purge", NULL, "--last"},
};

/* Is the word the option, as "--rate" or "--rate=5"? */
static bool is_option(const char *word, const char *option)
{
    size_t size = strlen(option);
    return strncmp(word, option, size) == 0 && (word[size] == '\0' || word[size] == '=');
}

size_t pawl__bulk_find(const char *const *words, size_t count, const char *option)
{
    const pawl__option *options = pawl__verb_find(words[0])->options;
    for (size_t i = 2; i < count && strcmp(words[i], "--") != 0; i++) {
        if (is_option(words[i], option))
            return i;
        const pawl__option *other =
            pawl__text_begins(pawl_text_of(words[i]), "--")
                ? pawl__option_find(options, words[i] + 2, strlen(words[i] + 2))
                : NULL;
        i += other != NULL && other->kind != PAWL__OPTION_FLAG; /* skips its value */
    }
    return count;
}

const pawl__bulk_kind *pawl__bulk_kind_find(const char *const *words, size_t count,
                                            pawl_error *error)
{
    static const char *const own[] = {"--app",    "--dry-run", "--help", "--json", "--prefix",
                                      "--reason", "--store",   "--yes",  "-h"};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof own / sizeof own[0]; j++) {
            if (is_option(words[i], own[j])) {
                pawl_error_set(error, PAWL_EINVAL, "%s does not belong to the words behind --",
                               own[j]);
                return NULL;
            }
        }
    for (size_t i = 0; count >= 2 && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(words[0], kinds[i].verb) == 0 && strcmp(words[1], kinds[i].action) == 0)
            return &kinds[i];
    pawl_error_set(
        error, PAWL_EINVAL,
        "a bulk action needs, behind --, one of: dead retry, dead discard, queue purge, queue move");
    return NULL;
}

void pawl__bulk_word(const char **words, size_t *count, const char *word)
{
    memmove(words + 3, words + 2, (*count - 2) * sizeof *words);
    words[2] = word;
    ++*count;
}

pawl_code pawl__bulk_run_words(const pawl__bulk_fields *fields, const char **words, size_t count,
                               const pawl__child *how, pawl_text asker, pawl_arena *arena,
                               pawl__child_result *result, pawl_error *error)
{
    pawl_text   prefix = pawl__must_printf(arena, "--prefix=%s", fields->at.prefix);
    pawl_text   app = pawl__must_printf(arena, "--app=%s", fields->app != NULL ? fields->app : "");
    pawl__child child = *how;
    if (fields->app != NULL && pawl__bulk_find(words, count, "--saga") < count)
        pawl__bulk_word(words, &count, app.data);
    pawl__bulk_word(words, &count, "--json");
    pawl__bulk_word(words, &count, prefix.data);
    child.words = words;
    child.count = count;
    child.store = fields->at.store;
    child.asker = asker;
    return pawl__child_run(&child, arena, result, error);
}

/* A child that was killed counts as interrupted: its last output is not the reason. */
pawl_code pawl__bulk_pass_on(const pawl__child_result *result, pawl_error *error)
{
    pawl_text text = pawl__child_said(result);
    if (text.size == 0 || result->exit_code < 0)
        text = PAWL_TEXT("the process of the action was killed; what was committed stays");
    pawl_code code = result->exit_code == 2    ? PAWL_EINVAL
                     : result->exit_code == 3  ? PAWL_EUNREACHABLE
                     : result->exit_code == 4  ? PAWL_ESCHEMA
                     : result->exit_code == 6  ? PAWL_ENOTFOUND
                     : result->exit_code == 70 ? PAWL_EBUG
                                               : PAWL_EINTERRUPTED;
    return pawl_error_set(error, code, "%.*s", PAWL_TEXT_ARGS(text));
}

/* ---- run --------------------------------------------------------------------------------- */

typedef struct running {
    pawl_store *store;
    pawl_text   id;
    int64_t     total, done; /* as in the last progress event */
    pawl_time   begun;
    bool        is_stopped;
} running;

/* The number that begins at `at`. */
static int64_t number_at(pawl_text text, size_t at)
{
    int64_t number = 0;
    for (;
         at < text.size && text.data[at] >= '0' && text.data[at] <= '9' && number < INT64_MAX / 16;
         at++)
        number = 10 * number + text.data[at] - '0';
    return number;
}

/* Remaining rows by the verb's last "retried 512 of 2000"; -1: there is no such line. */
static int64_t count_left(pawl_text errors)
{
    static const char mark[] = " of ";
    const size_t      size   = sizeof mark - 1;
    for (size_t i = errors.size > size ? errors.size - size : 0; i > 0; i--) {
        size_t digits = i;
        while (digits > 0 && errors.data[digits - 1] >= '0' && errors.data[digits - 1] <= '9')
            digits--;
        if (digits < i && memcmp(errors.data + i, mark, size) == 0)
            return number_at(errors, i + size) - number_at(errors, digits);
    }
    return -1;
}

/* Records each step of progress, and at the end of the run any progress. */
static void note_progress(running *it, pawl_text errors, bool is_end)
{
    char    text[24];
    int64_t left     = count_left(errors); /* of the total: an earlier run did the others */
    int64_t done     = left >= 0 ? it->total - left : -1;
    bool    is_young = pawl_clock_now(NULL) - it->begun < PROGRESS_FIRST;
    if (done <= it->done || (!is_end && !is_young && done - it->done < it->total / PROGRESS_STEPS))
        return;
    (void)snprintf(text, sizeof text, "%lld", (long long)done);
    const pawl__bulk_note what  = {.type   = PAWL__BULK_PROGRESS_EVENT,
                                   .by     = pawl__user(),
                                   .keys   = {"done"},
                                   .values = {pawl_text_of(text)}};
    pawl_error            error = PAWL_ERROR_INIT;
    if (pawl__bulk_append(it->store, it->id, &what, &error) == PAWL_OK)
        it->done = done;
}

/* Is the action in this state? */
static bool is_over(const running *it, pawl__bulk_state state)
{
    pawl_error      error = PAWL_ERROR_INIT;
    pawl__bulk_row  row;
    pawl_event_rows events;
    pawl_arena     *arena = pawl__must_create();
    bool is_so = pawl__bulk_load(it->store, it->id, arena, &row, &events, &error) == PAWL_OK &&
                 row.state == state;
    pawl_arena_destroy(arena);
    return is_so;
}

/* Called once a second. Ignores store failures: the verb notices them itself. */
static bool goes_on(void *context, pawl_text errors)
{
    running *it    = context;
    it->is_stopped = it->is_stopped || is_over(it, PAWL__BULK_STOPPED);
    if (!it->is_stopped)
        note_progress(it, errors, false);
    return !it->is_stopped && !pawl__is_interrupted();
}

static pawl_code finish(running *it, const pawl__bulk_fields *fields, pawl_text result,
                        pawl_error *error)
{
    while (result.size > 0 && result.data[result.size - 1] == '\n')
        result.size--;
    const pawl__bulk_note what = {.type   = PAWL__BULK_FINISHED_EVENT,
                                  .by     = pawl__user(),
                                  .keys   = {"result"},
                                  .values = {result}};
    pawl_code             code = pawl__bulk_append(it->store, it->id, &what, error);
    if (code == PAWL_ECONFLICT && is_over(it, PAWL__BULK_FINISHED)) /* by another `run` */
        code = PAWL_OK;
    if (code != PAWL_OK)
        return code;
    return pawl__done_print(fields->is_json,
                            PAWL__FACTS({.key = "id", .text = fields->words.items[0]},
                                        {.key = "result", .json = result}),
                            "%.*s", PAWL_TEXT_ARGS(result));
}

/* Reads the stored words; false: too many, too few, or not an array of words. */
static bool read_words(pawl_text text, pawl_arena *arena, const char **words, size_t *count)
{
    yyjson_doc *doc = yyjson_read(text.data, text.size, YYJSON_READ_NOFLAG);
    yyjson_val *word;
    size_t      i, all;
    bool        is_well = true;
    *count              = 0;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), i, all, word)
    {
        pawl_text copy = pawl__must_text(arena, pawl_text_of(yyjson_get_str(word)));
        is_well        = is_well && *count < PAWL__BULK_WORDS_MAX;
        if (is_well)
            words[(*count)++] = copy.data;
    }
    yyjson_doc_free(doc);
    return is_well && *count >= 2;
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
    if (code == PAWL_OK && pawl__bulk_kind_find(words, count, error) == NULL)
        code = pawl_error_wrap(error, PAWL_EINPUT, "bulk action %.*s", PAWL_TEXT_ARGS(it.id));
    if (code != PAWL_OK)
        return code;
    it.total = row.total;
    it.done  = row.done;
    pawl__interrupts_note(0);
    pawl_text why = row.reason.size > 0
                        ? pawl__must_printf(arena, "--reason=%.*s", PAWL_TEXT_ARGS(row.reason))
                        : (pawl_text){0};
    if (why.data != NULL)
        pawl__bulk_word(words, &count, why.data);
    pawl__bulk_word(words, &count, "--yes");
    if (row.asker.size == 0 && !pawl_text_equal(row.by, pawl__user()))
        row.asker = row.by; /* another user started the action */
    code = pawl__bulk_run_words(fields, words, count, &how, row.asker, arena, &result, error);
    if (code != PAWL_OK)
        return code;
    if (result.exit_code == 0)
        return finish(&it, fields, result.out, error);
    note_progress(&it, result.err, true);
    if (it.is_stopped)
        return pawl_error_set(error, PAWL_EINTERRUPTED, "bulk action %.*s was stopped",
                              PAWL_TEXT_ARGS(it.id));
    return pawl__bulk_pass_on(&result, error);
}
