/* outbox.c - words and order of outbox rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/outbox.h"

#include <stdlib.h>

const pawl_text pawl__sql_state_words[] = {
    [PAWL_OUTBOX_PENDING]    = PAWL_TEXT_INIT("pending"),
    [PAWL_OUTBOX_HELD]       = PAWL_TEXT_INIT("held"),
    [PAWL_OUTBOX_DISPATCHED] = PAWL_TEXT_INIT("dispatched"),
    [PAWL_OUTBOX_DEAD]       = PAWL_TEXT_INIT("dead"),
    [PAWL_OUTBOX_DISCARDED]  = PAWL_TEXT_INIT("discarded"),
};

const pawl_text pawl__sql_outcome_words[] = {
    [PAWL_ATTEMPT_SUCCESS]   = PAWL_TEXT_INIT("success"),
    [PAWL_ATTEMPT_REJECTED]  = PAWL_TEXT_INIT("rejected"),
    [PAWL_ATTEMPT_TRANSIENT] = PAWL_TEXT_INIT("transient"),
    [PAWL_ATTEMPT_POISON]    = PAWL_TEXT_INIT("poison"),
    [PAWL_ATTEMPT_ENABLED]   = PAWL_TEXT_INIT("enabled"),
    [PAWL_ATTEMPT_DISCARDED] = PAWL_TEXT_INIT("discarded"),
};

const pawl_text pawl__sql_inbox_words[] = {
    [PAWL_INBOX_HANDLED]   = PAWL_TEXT_INIT("handled"),
    [PAWL_INBOX_DISCARDED] = PAWL_TEXT_INIT("discarded"),
    [PAWL_INBOX_DEAD]      = PAWL_TEXT_INIT("dead"),
};

pawl_text pawl__sql_reset_word(pawl_outbox_action action)
{
    return pawl__sql_outcome_words[action == PAWL_OUTBOX_ENABLE ? PAWL_ATTEMPT_ENABLED
                                                                : PAWL_ATTEMPT_DISCARDED];
}

int pawl__sql_find_word(pawl_text word, const pawl_text *words, int count)
{
    for (int i = 0; i < count; i++)
        if (pawl_text_equal(word, words[i]))
            return i;
    return -1;
}

static int by_version(const void *left, const void *right)
{
    const pawl_outbox_row *l     = *(const pawl_outbox_row *const *)left;
    const pawl_outbox_row *r     = *(const pawl_outbox_row *const *)right;
    int                    order = pawl_text_compare(l->source, r->source);
    if (order == 0)
        order = (l->version > r->version) - (l->version < r->version);
    if (order == 0)
        order = (l->index > r->index) - (l->index < r->index);
    return order != 0 ? order : (l->id > r->id) - (l->id < r->id);
}

static int by_id(const void *left, const void *right)
{
    const pawl_outbox_row *l     = *(const pawl_outbox_row *const *)left;
    const pawl_outbox_row *r     = *(const pawl_outbox_row *const *)right;
    int                    order = pawl_text_compare(l->source, r->source);
    return order != 0 ? order : (l->id > r->id) - (l->id < r->id);
}

pawl_code pawl__sql_order_sources(pawl_outbox_rows *rows, pawl_arena *arena, pawl_error *error)
{
    size_t                  count    = rows->count;
    const pawl_outbox_row **ids      = pawl_arena_take(arena, (count + 1) * sizeof *ids);
    const pawl_outbox_row **versions = pawl_arena_take(arena, (count + 1) * sizeof *versions);
    pawl_outbox_row        *result   = pawl_arena_take(arena, (count + 1) * sizeof *result);
    if (ids == NULL || versions == NULL || result == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for outbox rows");
    for (size_t i = 0; i < count; i++) {
        ids[i] = versions[i] = &rows->items[i];
        result[i]            = rows->items[i];
    }
    if (count > 1) {
        qsort(ids, count, sizeof(pawl_outbox_row *), by_id);
        qsort(versions, count, sizeof(pawl_outbox_row *), by_version);
    }
    for (size_t i = 0; i < count; i++)
        if (versions[i]->source.size != 0)
            result[ids[i] - rows->items] = *versions[i];
    rows->items = result;
    return PAWL_OK;
}
