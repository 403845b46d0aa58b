/* store.c - opens the store that a verb works on; makes commands that can be pasted; warns of queues without reader.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include "base/calm.h"
#include "pawl/store_calls.h"
#include "store/core/action.h"

#include <stdlib.h>
#include <string.h>

pawl_code pawl__store_url(pawl__store_fields *fields, pawl_error *error)
{
    if (fields->store == NULL)
        fields->store = getenv("PAWL_STORE");
    if (fields->store == NULL || fields->store[0] == '\0')
        return pawl_error_set(error, PAWL_EINVAL,
                              "no store: give --store URL or set the variable PAWL_STORE");
    return PAWL_OK;
}

pawl_code pawl__shared_store_url(pawl__store_fields *fields, pawl_error *error)
{
    pawl_code code = pawl__store_url(fields, error);
    if (code == PAWL_OK && strncmp(fields->store, "memory:", strlen("memory:")) == 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "%s is a store inside one process: this command would have an empty "
                              "one of its own",
                              fields->store);
    return code;
}

pawl_store_options pawl__store_options(const pawl__store_fields *fields, pawl_open_mode mode)
{
    pawl_store_options options = PAWL_STORE_OPTIONS_INIT;
    options.mode               = mode;
    options.system_prefix      = fields->prefix;
    options.deadline           = fields->deadline;
    return options;
}

int pawl__on_store(pawl__store_fields *at, pawl__action_fn *action, const void *fields)
{
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_store *store = NULL;
    pawl_code   code  = pawl__shared_store_url(at, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    pawl_arena        *arena   = pawl__must_create();
    pawl_store_options options = pawl__store_options(at, PAWL_OPEN_EXISTING);
    code                       = pawl_store_open(at->store, &options, &store, &error);
    if (code == PAWL_OK)
        code = action(fields, store, arena, &error);
    /* Without this the worker would count as alive for a while, on MongoDB for 15 s. */
    if (code == PAWL_OK && pawl_store_is_attached(store))
        (void)pawl_store_worker_close(store, pawl_clock_now(NULL), NULL);
    pawl_store_close(store);
    pawl_arena_destroy(arena);
    return pawl__fail_store(code, &error, at->store);
}

int pawl__verb_on_store(const pawl__verb *verb, int count, char **words, void *fields,
                        pawl__store_fields *at, pawl__check_fn *check,
                        pawl__action_fn *const *actions)
{
    pawl_error error = PAWL_ERROR_INIT;
    pawl_code  code  = pawl__verb_parse(verb, count, words, fields, &error);
    if (code == PAWL_OK)
        code = check(fields, &error);
    if (code != PAWL_OK)
        return pawl__fail(code, &error);
    const pawl__argument *action = &verb->arguments[0];
    if (action->choices == NULL)
        return pawl__on_store(at, actions[0], fields);
    const char *word = *(const char **)(void *)((char *)fields + action->offset);
    return pawl__on_store(at, actions[pawl__choice_of(action->choices, pawl_text_of(word))],
                          fields);
}

pawl_text pawl__shell_quoted(pawl_text text, pawl_arena *arena)
{
    char  *word  = pawl__must_take(arena, text.size * 4 + 3);
    size_t size  = 0;
    word[size++] = '\'';
    for (size_t i = 0; i < text.size; i++) {
        word[size++] = text.data[i];
        if (text.data[i] == '\'') { /* it's is 'it'\''s' */
            memcpy(word + size, "\\''", 3);
            size += 3;
        }
    }
    word[size++] = '\'';
    word[size]   = '\0';
    return (pawl_text){.data = word, .size = size};
}

pawl_text pawl__shell_word(pawl_text text, pawl_arena *arena)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:-";
    size_t i = 0;
    while (i < text.size && text.data[i] != '\0' && strchr(plain, text.data[i]) != NULL)
        i++;
    return i == text.size && text.size != 0 && text.data[0] != '-'
               ? text
               : pawl__shell_quoted(text, arena);
}

pawl_text pawl__shell_argument(pawl_text text, pawl_arena *arena)
{
    bool is_dash = text.size > 0 && text.data[0] == '-';
    return pawl__must_printf(arena, "%s%s", is_dash ? "-- " : "",
                             pawl__shell_quoted(text, arena).data);
}

/* Bytes of the first word of a command, with its quotes. */
static size_t word_size(pawl_text rest)
{
    bool   is_quoted = false;
    size_t i         = 0;
    for (; i < rest.size && (is_quoted || rest.data[i] != ' '); i++)
        if (rest.data[i] == '\'')
            is_quoted = !is_quoted;
        else if (rest.data[i] == '\\' && !is_quoted && i + 1 < rest.size)
            i++;
    return i;
}

/* Splits the command: `last` has "--" and the arguments if one of them begins with a dash, `first` has the rest. */
static void split_arguments(pawl_text command, pawl_arena *arena, pawl_text *first, pawl_text *last)
{
    char  *parts[2] = {pawl__must_take(arena, command.size + 2),
                       pawl__must_take(arena, command.size + 5)};
    size_t sizes[2] = {0, 0};
    bool   is_last = false, is_value = false; /* of an option */
    for (size_t at = 0, size; at < command.size; at += size + 1) {
        pawl_text word = {.data = command.data + at, .size = command.size - at};
        word.size = size = word_size(word);
        bool is_option = pawl__text_begins(word, "--"), is_argument = !is_option && !is_value;
        if (is_argument && !is_last && pawl__text_begins(word, "'-")) {
            memcpy(parts[1], " --", 3);
            sizes[1] = 3;
            is_last  = true;
        }
        int which = is_argument && is_last;
        if (at > 0 || which == 1)
            parts[which][sizes[which]++] = ' ';
        memcpy(parts[which] + sizes[which], word.data, size);
        sizes[which] += size;
        is_value = is_option;
    }
    *first = (pawl_text){.data = parts[0], .size = sizes[0]};
    *last  = (pawl_text){.data = parts[1], .size = sizes[1]};
}

pawl_text pawl__shell_command(pawl_text command, pawl_arena *arena)
{
    pawl_text first, last;
    split_arguments(command, arena, &first, &last);
    return pawl__must_printf(arena, "%.*s%.*s", PAWL_TEXT_ARGS(first), PAWL_TEXT_ARGS(last));
}

pawl_text pawl__store_command(const pawl__store_fields *at, pawl_text command, pawl_arena *arena)
{
    char url[PAWL_URL_SIZE_MAX + 1];
    bool has_prefix = at->prefix != NULL && strcmp(at->prefix, PAWL__PREFIX_DEFAULT) != 0;
    if (!pawl__text_begins(command, "pawl "))
        return command.size != 0 ? pawl__must_text(arena, command) : PAWL_TEXT("");
    pawl_text first, last;
    split_arguments(command, arena, &first, &last);
    pawl_text store = pawl_text_of(pawl__masked(at->store, url, sizeof url));
    return pawl__must_printf(arena, "%.*s --store %s%s%s%.*s", PAWL_TEXT_ARGS(first),
                             pawl__shell_quoted(store, arena).data, has_prefix ? " --prefix " : "",
                             has_prefix ? at->prefix : "", PAWL_TEXT_ARGS(last));
}

pawl_code pawl__has_worker(pawl_store *store, pawl_text endpoint, pawl_arena *arena, bool *is_there,
                           pawl_error *error)
{
    pawl_worker_info *workers;
    size_t            count = 0;
    pawl_code         code  = pawl_store_worker_list(store, arena, &workers, &count, error);
    *is_there               = false;
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        *is_there = *is_there || pawl_text_equal(workers[i].endpoint, endpoint);
    return code;
}

pawl_code pawl__alarm_find(pawl_store *store, pawl_text endpoint, const char *what,
                           pawl_arena *arena, const pawl_alarm **found, pawl_error *error)
{
    pawl_alarm_rows rows = {.count = 0};
    pawl_code       code = pawl_store_alarms(store, arena, &rows, error);
    *found               = NULL;
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        if (pawl_text_equal(rows.items[i].endpoint, endpoint) &&
            pawl_text_equal(rows.items[i].what, pawl_text_of(what)))
            *found = &rows.items[i];
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

void pawl__reader_warn(pawl_store *store, pawl_text queue, pawl_arena *arena)
{
    pawl_queue_pause   pause   = {.is_paused = false};
    pawl_subscriptions list    = {.count = 0};
    pawl_error         none    = PAWL_ERROR_INIT;
    bool               is_read = true;
    pawl_text          line    = {0};
    if (pawl_store_queue_pause_find(store, queue, arena, &pause, &none) != PAWL_OK)
        return;
    if (pause.is_paused)
        line = pawl__must_printf(
            arena, "queue %.*s is paused, by %.*s: what is in it waits for `pawl queue resume %s`",
            PAWL_TEXT_ARGS(queue), PAWL_TEXT_ARGS(pause.by),
            pawl__shell_argument(queue, arena).data);
    else if (pawl_store_subscriptions(store, arena, &list, &none) == PAWL_OK &&
             pawl__has_worker(store, pawl__queue_reader(&list, queue), arena, &is_read, &none) ==
                 PAWL_OK &&
             !is_read)
        line = pawl__must_printf(arena, "queue %.*s has no consumer just now: what is in it waits",
                                 PAWL_TEXT_ARGS(queue));
    if (line.size == 0)
        return;
    pawl__calm_line((char *)(uintptr_t)line.data, line.size); /* names come from the store */
    fprintf(stderr, "pawl: %s\n", line.data);
}
