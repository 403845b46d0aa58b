/* commit.c - the only write path: rounds of applying and undoing.
 *
 *     fence -> round -> refused? undo, leave those groups out, next round
 *                    -> nothing refused: keep, write the fence
 *
 * A round writes the refusable kinds first. Every change sees the changes before
 * it, also those of groups that this round refuses; so a group may be refused
 * because of another group that is refused, too. The caller runs it again
 * like any refused group; only time is lost. Each round leaves out at least one
 * more group, which bounds the number of rounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include "store/core/kinds.h"

#include <stdio.h>
#include <string.h>

#define REFUSAL_TEXT_SIZE 500

typedef pawl_code apply_fn(memory_commit *commit, const void *item);

static apply_fn *const kinds[pawl_change_kind_count] = {
#define KIND_APPLY(name, is_refusable) pawl__memory_apply_##name,
    PAWL_CHANGE_KINDS(KIND_APPLY)
#undef KIND_APPLY
};

pawl_code pawl__memory_write(memory_commit *commit, memory_table *table, void *row,
                             const void *model)
{
    return pawl__undo_log_write(&commit->data->undo_log, table, row, model);
}

pawl_code pawl__memory_refuse(memory_commit *commit, pawl_code reason, const char *format, ...)
{
    char    text[REFUSAL_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    commit->refused_count++;
    return pawl_refusals_add(commit->refused, commit->kind, commit->change.unit,
                             commit->change.group, reason, pawl_text_of(text));
}

pawl_code pawl__memory_refuse_by(memory_commit *commit, pawl__why_fn *why, const void *item)
{
    pawl_error error  = PAWL_ERROR_INIT;
    pawl_code  reason = why(item, &error);
    return reason == PAWL_OK ? PAWL_OK : pawl__memory_refuse(commit, reason, "%s", error.text);
}

/* Applies the changes of one kind, except of groups that are left out. */
static pawl_code apply_kind(memory_commit *commit, pawl_change_kind kind)
{
    const char *item  = pawl__change_items(commit->changes, kind);
    size_t      count = pawl__change_count(commit->changes, kind);
    pawl_code   code  = PAWL_OK;
    commit->kind      = kind;
    for (size_t i = 0; code == PAWL_OK && i < count; i++, item += pawl__kinds[kind].size) {
        memcpy(&commit->change, item, sizeof commit->change);
        if (!commit->is_left_out[commit->change.group])
            code = kinds[kind](commit, item);
    }
    return code;
}

/* All kinds up to the last refusable one must be applied before a round ends: a refusal may
 * depend on any change before it. */
static int last_refusable(void)
{
    int last = (int)pawl_change_kind_count - 1;
    while (!pawl__kinds[last].is_refusable)
        last--;
    return last;
}

/* After a refusal the kinds after the last refusable one are skipped, since the
 * round will be undone. */
static pawl_code run_round(memory_commit *commit)
{
    pawl_code code        = PAWL_OK;
    commit->refused_count = 0;
    for (int kind = 0; code == PAWL_OK && kind < (int)pawl_change_kind_count; kind++)
        if (commit->refused_count == 0 || kind <= last_refusable())
            code = apply_kind(commit, (pawl_change_kind)kind);
    return code;
}

static pawl_code run_rounds(memory_commit *commit)
{
    for (;;) {
        pawl_code code = run_round(commit);
        if (code == PAWL_OK && commit->refused_count == 0) {
            pawl__undo_log_keep(&commit->data->undo_log);
            return PAWL_OK;
        }
        pawl__undo_log_roll_back(&commit->data->undo_log);
        if (code != PAWL_OK)
            return code;
        pawl__drop_refused(commit->refused, commit->refused->count - commit->refused_count,
                           commit->is_left_out);
    }
}

static pawl_code commit_fenced(memory_commit *commit, pawl_error *error)
{
    pawl_code code = pawl__memory_fence_check(commit->store, error);
    if (code != PAWL_OK)
        return code;
    commit->is_left_out = pawl_allocate(commit->changes->group_count + 1);
    code                = commit->is_left_out != NULL ? run_rounds(commit) : PAWL_ENOMEM;
    pawl_free(commit->is_left_out);
    if (code != PAWL_OK)
        return pawl__memory_out_of_memory("commit", error);
    pawl__memory_fence_write(commit->store, commit->changes);
    return PAWL_OK;
}

pawl_code pawl__memory_commit(pawl_store *store, const pawl_changes *changes,
                              pawl_refusals *refused, pawl_error *error)
{
    memory_data  *data   = pawl__memory_enter(store);
    memory_commit commit = {
        .store   = (memory_store *)store,
        .data    = data,
        .changes = changes,
        .refused = refused,
    };
    pawl_code code = commit_fenced(&commit, error);
    pawl__memory_leave(data);
    return code;
}
