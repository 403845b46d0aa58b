/* history.c - the attempts at a message, for its dead letter: the time, code and error of each
 * (E26).
 *
 *     [{"attempt":1,"at":"2026-01-01T09:00:00.000000Z","code":"RETRY","error":"..."}, ...]
 *
 * Each run of the handlers that failed is an attempt, the immediate retries in memory included.
 * Between delayed retries the list is in the message's row. Of many attempts only the first and the
 * last are kept; their numbers show the gap. A handled message writes no list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"

#include <yyjson.h>

#define ATTEMPTS_MAX 32
#define FIRST_KEPT 8

void pawl__unit_note(pawl__batch *batch, pawl__unit *unit, pawl_code code, pawl_text error)
{
    pawl__attempt *grown = pawl_arena_grow(batch->arena, unit->attempts, unit->attempt_count,
                                           &unit->attempt_capacity, sizeof unit->attempts[0]);
    if (grown == NULL)
        return; /* the letter has the last error in any case */
    unit->attempts = grown;
    unit->attempts[unit->attempt_count++] =
        (pawl__attempt){code, error, batch->engine->machine(batch->engine->runtime)};
}

/* NULL when out of memory. */
static yyjson_mut_val *make_attempt(yyjson_mut_doc *doc, const pawl__attempt *attempt,
                                    int64_t number)
{
    char            at[PAWL_TIME_TEXT_SIZE + 1];
    yyjson_mut_val *made = yyjson_mut_obj(doc);
    pawl_time_format(attempt->at, at);
    bool is_whole =
        yyjson_mut_obj_add_sint(doc, made, "attempt", number) &&
        yyjson_mut_obj_add_strcpy(doc, made, "at", at) &&
        yyjson_mut_obj_add_str(doc, made, "code", pawl_code_name(attempt->code)) &&
        yyjson_mut_obj_add_strn(doc, made, "error", attempt->error.data, attempt->error.size);
    return is_whole ? made : NULL;
}

/* Adds the attempts that the row has, and reads the number of the last. A text that is no JSON has none. */
static bool add_stored(yyjson_mut_doc *doc, yyjson_mut_val *list, pawl_text stored, int64_t *number)
{
    size_t          index, count;
    yyjson_val     *item;
    bool            is_whole = true;
    yyjson_read_err why;
    if (stored.size == 0)
        return true;
    yyjson_doc *read =
        yyjson_read_opts((char *)(uintptr_t)stored.data, stored.size, 0, &pawl__json_memory, &why);
    if (read == NULL)
        return why.code != YYJSON_READ_ERROR_MEMORY_ALLOCATION;
    yyjson_arr_foreach(yyjson_doc_get_root(read), index, count, item)
    {
        *number = yyjson_get_sint(yyjson_obj_get(item, "attempt"));
        is_whole &= yyjson_mut_arr_append(list, yyjson_val_mut_copy(doc, item));
    }
    yyjson_doc_free(read);
    return is_whole;
}

static void cut(yyjson_mut_val *list)
{
    size_t count = yyjson_mut_arr_size(list);
    if (count > ATTEMPTS_MAX)
        yyjson_mut_arr_remove_range(list, FIRST_KEPT, count - ATTEMPTS_MAX);
}

/* Out of memory: keeps the row's list. The dead letter matters more than its history. */
pawl_text pawl__unit_history(pawl__batch *batch, const pawl__unit *unit)
{
    pawl_text       stored = unit->row.history;
    size_t          size   = 0;
    pawl_text       made   = {.data = NULL, .size = 0};
    yyjson_mut_doc *doc = unit->attempt_count > 0 ? yyjson_mut_doc_new(&pawl__json_memory) : NULL;
    if (doc == NULL)
        return stored;
    yyjson_mut_val *list     = yyjson_mut_arr(doc);
    int64_t         number   = 0;
    bool            is_whole = add_stored(doc, list, stored, &number);
    for (size_t i = 0; i < unit->attempt_count; i++)
        is_whole &= yyjson_mut_arr_append(list, make_attempt(doc, &unit->attempts[i], ++number));
    cut(list);
    yyjson_mut_doc_set_root(doc, list);
    char *text = is_whole ? yyjson_mut_write_opts(doc, 0, &pawl__json_memory, &size, NULL) : NULL;
    if (text != NULL)
        made = pawl_arena_text(batch->arena, (pawl_text){.data = text, .size = size});
    pawl_free(text);
    yyjson_mut_doc_free(doc);
    return made.data != NULL ? made : stored;
}
