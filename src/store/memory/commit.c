/* commit.c - the one way to write: rounds of applying and taking back.
 *
 *     fence -> round -> refused? take back, leave those groups out, next round
 *                    -> nothing refused: keep, write the fence
 *
 * A round writes the refusable kinds first. Every change of a round sees those
 * before it, whoever's they are: a change of a group that is refused in this round can
 * be the reason for another refusal. Such a group runs again like any other,
 * so no more is lost than a moment. Each round leaves out at least one group
 * more, which bounds their number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include <stdio.h>
#include <string.h>

#define REFUSAL_TEXT_SIZE 500

typedef pawl_code apply_fn(memory_commit *commit, const void *item);

typedef struct kind_rule {
    apply_fn *apply;
    size_t    item_size;
    size_t    items_offset; /* in pawl_changes */
    size_t    count_offset;
    bool      is_refusable;
} kind_rule;

static const kind_rule kinds[] = {
#define KIND_RULE(name, is_refusable)                                                    \
    {pawl__memory_apply_##name, sizeof(pawl_##name), offsetof(pawl_changes, name.items), \
     offsetof(pawl_changes, name.count), is_refusable},
    PAWL_CHANGE_KINDS(KIND_RULE)
#undef KIND_RULE
};

pawl_code pawl__memory_refuse(memory_commit *commit, pawl_code reason, const char *format, ...)
{
    char    text[REFUSAL_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    commit->refused_count++;
    return pawl_refusals_add(commit->refused, commit->kind, commit->unit, commit->group, reason,
                             pawl_text_of(text));
}

/* Applies the changes of one kind whose groups are still in. */
static pawl_code apply_kind(memory_commit *commit, pawl_change_kind kind)
{
    const kind_rule *rule = &kinds[kind];
    const char      *items;
    size_t           count;
    memcpy(&items, (const char *)commit->changes + rule->items_offset, sizeof items);
    memcpy(&count, (const char *)commit->changes + rule->count_offset, sizeof count);
    commit->kind   = kind;
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        const char *item = items + i * rule->item_size;
        memcpy(&commit->unit, item, sizeof commit->unit);
        memcpy(&commit->group, item + sizeof commit->unit, sizeof commit->group);
        if (!commit->is_left_out[commit->group])
            code = rule->apply(commit, item);
    }
    return code;
}

/* Later kinds are refused for what kinds before them did, those that cannot be
 * refused themselves too. */
static int last_refusable(void)
{
    int last = (int)pawl_change_kind_count - 1;
    while (!kinds[last].is_refusable)
        last--;
    return last;
}

/* Once something was refused, what follows the last kind that can be need not be
 * written: the round is taken back anyway. */
static pawl_code run_round(memory_commit *commit)
{
    pawl_code code        = PAWL_OK;
    commit->refused_count = 0;
    for (int kind = 0; code == PAWL_OK && kind < (int)pawl_change_kind_count; kind++)
        if (commit->refused_count == 0 || kind <= last_refusable())
            code = apply_kind(commit, (pawl_change_kind)kind);
    return code;
}

static void leave_out_refused(memory_commit *commit)
{
    const pawl_refusals *refused = commit->refused;
    for (size_t i = refused->count - commit->refused_count; i < refused->count; i++)
        commit->is_left_out[refused->items[i].group] = true;
}

static pawl_code run_rounds(memory_commit *commit)
{
    for (;;) {
        pawl_code code = run_round(commit);
        if (code == PAWL_OK && commit->refused_count == 0) {
            pawl__journal_keep(&commit->data->journal);
            return PAWL_OK;
        }
        pawl__journal_undo(&commit->data->journal);
        if (code != PAWL_OK)
            return code;
        leave_out_refused(commit);
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
