/* outbox_reset.c - `pawl outbox retry|discard`: settling dead rows.
 *
 * Rows that are named go in one commit, all of them or none. With --all the selection is taken
 * first and asked about, then worked off in commits of COMMIT_ROWS: a row that dies anew meanwhile
 * is not taken twice, and a row that another command or worker settled meanwhile is counted, not an error.
 *
 * outbox.c has the verb's options and its table of actions, in which these two stand; so each
 * of the two files calls the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/outbox/outbox.h"

#include <inttypes.h>
#include <string.h>

#define COMMIT_ROWS 256

typedef struct reset_kind {
    const char        *name;
    pawl_outbox_action action;
    const char        *done;
    const char        *question; /* "%s 12 dead outbox rows of URL%s? " */
    const char        *warning;  /* printed when rows have a source */
} reset_kind;

static const reset_kind kinds[] = {
    {"discard", PAWL_OUTBOX_DISCARD, "discarded", "discard", ", for good"},
    {"retry", PAWL_OUTBOX_RETRY, "retried", "send", " again, out of order"},
};

static const reset_kind *kind_of(const pawl__outbox_fields *fields)
{
    return &kinds[strcmp(fields->action, "retry") == 0];
}

/* Numbers of the rows to settle, taken before any row is changed. */
typedef struct selection {
    int64_t *ids;
    size_t   count, capacity;
} selection;

static pawl_code select_row(selection *chosen, int64_t id, pawl_error *error)
{
    if (chosen->count == chosen->capacity) {
        size_t   capacity = chosen->capacity * 2 + COMMIT_ROWS;
        int64_t *grown    = pawl_resize(chosen->ids, capacity * sizeof *grown);
        if (grown == NULL)
            return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu rows", capacity);
        chosen->ids      = grown;
        chosen->capacity = capacity;
    }
    chosen->ids[chosen->count++] = id;
    return PAWL_OK;
}

static bool is_selected(const selection *chosen, int64_t id)
{
    for (size_t i = 0; i < chosen->count; i++)
        if (chosen->ids[i] == id)
            return true;
    return false;
}

/* Selects the rows that were named; all must be dead before any is settled. */
static pawl_code select_named(const pawl__outbox_fields *fields, pawl_store *store,
                              pawl_arena *arena, selection *chosen, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < fields->ids.count; i++) {
        pawl_outbox_row row;
        pawl_arena_reset(arena);
        code = pawl__outbox_row_find(store, fields->ids.items[i], arena, &row, error);
        if (code == PAWL_OK && row.state != PAWL_OUTBOX_DEAD)
            return pawl_error_set(
                error, PAWL_EGONE, "outbox row %s is %s; only a dead one can be %s",
                fields->ids.items[i], pawl__outbox_state_name(row.state), kind_of(fields)->done);
        if (code == PAWL_OK && !is_selected(chosen, row.id))
            code = select_row(chosen, row.id, error);
    }
    return code;
}

/* Selects every dead row that the options match now. */
static pawl_code select_all(const pawl__outbox_fields *fields, pawl_store *store, pawl_arena *arena,
                            selection *chosen, pawl_error *error)
{
    pawl_outbox_query query;
    pawl_outbox_rows  rows = {.count = 0};
    pawl_arena       *kept = pawl_arena_create(0); /* beyond a page */
    pawl_code         code = pawl__outbox_query(fields, &query, error);
    if (code == PAWL_OK && kept == NULL)
        code = pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    if (code == PAWL_OK)
        code = pawl__outbox_query_saga(fields, store, kept, &query, error);
    query.states    = 1U << PAWL_OUTBOX_DEAD;
    query.count_max = COMMIT_ROWS;
    do {
        pawl_arena_reset(arena);
        if (code == PAWL_OK)
            code = pawl_store_outbox_find(store, &query, arena, &rows, error);
        for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
            query.after = rows.items[i].id;
            code        = select_row(chosen, rows.items[i].id, error);
        }
    } while (code == PAWL_OK && rows.count == query.count_max);
    pawl_arena_destroy(kept);
    return code;
}

static pawl_code ask(const pawl__outbox_fields *fields, const reset_kind *kind, size_t count,
                     pawl_error *error)
{
    char url[PAWL_URL_SIZE_MAX + 1], question[PAWL_URL_SIZE_MAX + 100];
    if (fields->is_agreed || count == 0)
        return PAWL_OK;
    snprintf(question, sizeof question, "%s %zu dead outbox row%s of %s%s?", kind->question, count,
             count == 1 ? "" : "s", pawl__masked(fields->at.store, url, sizeof url), kind->warning);
    char action[40];
    snprintf(action, sizeof action, "%s --all", kind->name);
    return pawl__agree(action, kind->done, question, error);
}

/* Makes the note that the row's attempts show: "by anna: the receiver was down". */
static pawl_code make_note(const char *reason, char text[PAWL_ERROR_TEXT_SIZE_MAX + 1],
                           pawl_error *error)
{
    char name[PAWL__USER_SIZE];
    int  size = snprintf(text, PAWL_ERROR_TEXT_SIZE_MAX + 1, "by %s%s%s", pawl__user(name),
                        reason != NULL ? ": " : "", reason != NULL ? reason : "");
    if (size <= PAWL_ERROR_TEXT_SIZE_MAX)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ELIMIT,
                          "--reason: with the user's name it has %d bytes, limit %d", size,
                          PAWL_ERROR_TEXT_SIZE_MAX);
}

/* Settles rows in one commit; each row is a group of its own unless `is_whole`. */
static pawl_code commit_rows(pawl_store *store, const int64_t *ids, size_t count,
                             const pawl_outbox_reset *like, bool is_whole, pawl_arena *arena,
                             size_t *refused_count, pawl_error *error)
{
    pawl_arena_reset(arena);
    pawl_refusals      refused = {.arena = arena};
    pawl_outbox_reset *items   = pawl_arena_take(arena, count * sizeof *items);
    if (items == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu rows", count);
    for (size_t i = 0; i < count; i++) {
        items[i]       = *like;
        items[i].id    = ids[i];
        items[i].unit  = (uint32_t)i;
        items[i].group = is_whole ? 0 : (uint32_t)i;
    }
    pawl_changes changes = {.now          = like->at,
                            .unit_count   = (uint32_t)count,
                            .group_count  = is_whole ? 1 : (uint32_t)count,
                            .outbox_reset = {items, count}};
    pawl_code    code    = pawl_store_commit(store, &changes, is_whole ? NULL : &refused, error);
    *refused_count += refused.count;
    return code;
}

static pawl_code reset_rows(const pawl__outbox_fields *fields, const reset_kind *kind,
                            pawl_store *store, const selection *chosen, pawl_arena *arena,
                            size_t *refused, pawl_error *error)
{
    char              note[PAWL_ERROR_TEXT_SIZE_MAX + 1];
    size_t            done = 0;
    pawl_code         code = make_note(fields->reason, note, error);
    pawl_outbox_reset like = {.action = kind->action, .note = pawl_text_of(note)};
    while (code == PAWL_OK && done < chosen->count) {
        size_t left  = chosen->count - done;
        size_t count = left < COMMIT_ROWS ? left : COMMIT_ROWS;
        like.at      = pawl_clock_now(NULL);
        code = commit_rows(store, chosen->ids + done, count, &like, !fields->is_all, arena, refused,
                           error);
        if (code != PAWL_OK)
            break;
        done += count;
        if (fields->is_all)
            pawl__progress(kind->done, (int64_t)done, (int64_t)chosen->count);
    }
    if (fields->is_all)
        pawl__progress_end((int64_t)done);
    if (code == PAWL_OK || done == 0)
        return code;
    return pawl_error_wrap(error, code, "after %zu rows were %s", done - *refused, kind->done);
}

static pawl_code print_done(const pawl__outbox_fields *fields, const reset_kind *kind, size_t done,
                            size_t refused, pawl_error *error)
{
    if (fields->is_json) {
        yyjson_mut_doc *doc = pawl__json_create();
        if (doc != NULL) {
            yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
            yyjson_mut_obj_add_uint(doc, root, kind->done, done);
            yyjson_mut_obj_add_uint(doc, root, "no_longer_dead", refused);
        }
        return pawl__json_print(doc, stdout, error);
    }
    printf("%s %zu outbox row%s", kind->done, done, done == 1 ? "" : "s");
    if (done > 0 && kind->action == PAWL_OUTBOX_RETRY)
        fputs("; rows with an ordering key go out of order", stdout);
    if (refused > 0)
        printf("; %zu %s no longer dead", refused, refused == 1 ? "was" : "were");
    putchar('\n');
    return PAWL_OK;
}

/* Refuses --all beside row numbers, and filters without --all. */
pawl_code pawl__outbox_reset_check(const pawl__outbox_fields *fields, pawl_error *error)
{
    char note[PAWL_ERROR_TEXT_SIZE_MAX + 1];
    bool has_filter = fields->id != 0 || fields->dispatch_id != NULL || fields->endpoint != NULL ||
                      fields->source != NULL || fields->destination != NULL ||
                      fields->type != NULL || fields->causation_id != NULL ||
                      fields->states != NULL || fields->attempts != 0;
    if (fields->is_all && fields->ids.count > 0)
        return pawl_error_set(error, PAWL_EINVAL, "give --all or rows, not both");
    if (!fields->is_all && fields->ids.count == 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl outbox %s needs rows, or --all and what they have in common",
                              fields->action);
    if (!fields->is_all && (has_filter || fields->is_agreed))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl outbox %s: %s goes with --all, not with rows that are named",
                              fields->action, has_filter ? "a filter" : "--yes");
    if (fields->states != NULL && strcmp(fields->states, "dead") != 0)
        return pawl_error_set(error, PAWL_EINVAL, "--state %s: only dead rows can be %s",
                              fields->states, kind_of(fields)->done);
    pawl_code code = pawl__text_check("--reason", fields->reason, error);
    return code == PAWL_OK ? make_note(fields->reason, note, error) : code;
}

pawl_code pawl__outbox_reset(const void *context, pawl_store *store, pawl_arena *arena,
                             pawl_error *error)
{
    const pawl__outbox_fields *fields  = context;
    const reset_kind          *kind    = kind_of(fields);
    selection                  chosen  = {NULL, 0, 0};
    size_t                     refused = 0;
    pawl_code code = fields->is_all ? select_all(fields, store, arena, &chosen, error)
                                    : select_named(fields, store, arena, &chosen, error);
    if (code == PAWL_OK && fields->is_all)
        code = ask(fields, kind, chosen.count, error);
    if (code == PAWL_OK)
        code = reset_rows(fields, kind, store, &chosen, arena, &refused, error);
    if (code == PAWL_OK)
        code = print_done(fields, kind, chosen.count - refused, refused, error);
    pawl_free(chosen.ids);
    return code;
}
