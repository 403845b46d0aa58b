/* timeout_settle.c - `pawl timeout cancel|move|reap|run-now`.
 *
 * The selection is taken first and asked about, then worked off in commits of COMMIT_ROWS; what is set
 * meanwhile is not of it, and what is set anew meanwhile is left alone. Each commit leaves an event that
 * says who, why and which.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/timeout/timeout.h"

#include "cli/base/actions.h"

#include <string.h>

#define COMMIT_ROWS 256

typedef struct settle_kind {
    const char       *name;
    pawl_amend_action action;
    const char       *key; /* in JSON */
    const char       *done;
    const char       *question; /* "%s 12 timeouts of URL%s?" */
    const char       *ending;
    const char       *left; /* why some are left alone */
} settle_kind;

#define LEFT "fired, cancelled or set anew meanwhile"
static const settle_kind kinds[] = {
    {"cancel", PAWL_AMEND_CANCEL, "cancelled", "cancelled", "cancel", ", for good", LEFT},
    {"move", PAWL_AMEND_MOVE, "moved", "moved", "move", "", LEFT},
    {"reap", PAWL_AMEND_REAP, "reaped", "reaped", "clear expired leases of", "",
     "no lease that ran out"},
    {"run-now", PAWL_AMEND_RUN_NOW, "run_now", "run now", "let", " fire now", LEFT},
};

static const settle_kind *kind_of(const pawl__timeout_fields *fields)
{
    const settle_kind *kind = kinds;
    while (strcmp(kind->name, fields->action) != 0)
        kind++;
    return kind;
}

/* ---- Words ------------------------------------------------------------------- */

pawl_code pawl__timeout_settle_check(const pawl__timeout_fields *fields, pawl_error *error)
{
    bool has_filter = fields->destination != NULL || fields->name != NULL || fields->saga != NULL ||
                      fields->saga_type != NULL || fields->since != NULL || fields->until != NULL;
    if (fields->is_all && fields->ids.count > 0)
        return pawl_error_set(error, PAWL_EINVAL, "give --all or IDs, not both");
    if (!fields->is_all && fields->ids.count == 0)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout %s needs IDs, or --all and what they have in common",
                              fields->action);
    if (!fields->is_all && (has_filter || fields->is_agreed || fields->is_dry))
        return pawl_error_set(
            error, PAWL_EINVAL,
            "pawl timeout %s: %s goes with --all, not with timeouts that are named", fields->action,
            has_filter          ? "a filter"
            : fields->is_agreed ? "--yes"
                                : "--dry-run");
    if (kind_of(fields)->action == PAWL_AMEND_MOVE && (fields->by == 0) == (fields->to == NULL))
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl timeout move needs --by DURATION or --to TIME, one of them");
    return pawl__reason_check(fields->reason, error);
}

/* ---- Settling ------------------------------------------------------------------ */

static pawl_timeout_amend amend_of(const pawl__timeout_fields *fields, pawl_time to,
                                   char user[PAWL__USER_SIZE])
{
    pawl_timeout_amend amend = {.action = kind_of(fields)->action,
                                .due    = to,
                                .shift  = fields->by,
                                .by     = pawl_text_of(pawl__user(user)),
                                .reason = pawl_text_of(fields->reason)};
    if (amend.action == PAWL_AMEND_MOVE && fields->by != 0)
        amend.action = PAWL_AMEND_SHIFT;
    return amend;
}

static pawl_code settle_rows(const pawl__timeout_fields *fields, pawl_time to, pawl_store *store,
                             const pawl_timeout_rows *rows, size_t *done, pawl_error *error)
{
    char               user[PAWL__USER_SIZE];
    pawl_timeout_amend amend = amend_of(fields, to, user);
    const char        *word  = kind_of(fields)->done;
    size_t             seen = 0, amended = 0;
    pawl_code          code = PAWL_OK;
    *done                   = 0;
    while (code == PAWL_OK && seen < rows->count) {
        size_t left  = rows->count - seen;
        size_t count = left < COMMIT_ROWS ? left : COMMIT_ROWS;
        code         = pawl_store_timeout_amend(store, rows->items + seen, count, &amend,
                                                pawl_clock_now(NULL), &amended, error);
        if (code == PAWL_OK) {
            seen += count;
            *done += amended;
        }
        if (code == PAWL_OK && fields->is_all)
            pawl__progress(word, (int64_t)seen, (int64_t)rows->count);
    }
    if (fields->is_all)
        pawl__progress_end((int64_t)seen);
    if (code == PAWL_OK || seen == 0)
        return code;
    return pawl_error_wrap(error, code, "after %zu of %zu timeouts were %s", *done, rows->count,
                           word);
}

/* ---- What is asked and said ------------------------------------------------------ */

static pawl_code ask(const pawl__timeout_fields *fields, size_t count, pawl_error *error)
{
    const settle_kind *kind = kind_of(fields);
    char               url[PAWL_URL_SIZE_MAX + 1], question[PAWL_URL_SIZE_MAX + 100], action[40];
    if (!fields->is_all || fields->is_agreed || count == 0)
        return PAWL_OK;
    snprintf(question, sizeof question, "%s %zu timeout%s of %s%s?", kind->question, count,
             count == 1 ? "" : "s", pawl__masked(fields->at.store, url, sizeof url), kind->ending);
    snprintf(action, sizeof action, "%s --all", kind->name);
    return pawl__agree(action, kind->done, question, error);
}

static pawl_code print_counts(const pawl__timeout_fields *fields, size_t done, size_t left,
                              pawl_error *error)
{
    const settle_kind *kind = kind_of(fields);
    if (fields->is_json) {
        yyjson_mut_doc *doc = pawl__json_create();
        if (doc != NULL) {
            yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
            yyjson_mut_obj_add_uint(doc, root, fields->is_dry ? "matching" : kind->key, done);
            if (!fields->is_dry)
                yyjson_mut_obj_add_uint(doc, root, "left", left);
        }
        return pawl__json_print(doc, stdout, error);
    }
    printf("%s%s%s %zu timeout%s", fields->is_dry ? "would be " : "", kind->done,
           fields->is_dry ? ":" : "", done, done == 1 ? "" : "s");
    if (left > 0)
        printf("; %zu left as they were: %s", left, kind->left);
    putchar('\n');
    return PAWL_OK;
}

/* Of reap: the timeouts whose lease ran out, and says whose they are. A named one without such a lease
 * stays in the selection, and is said to be left alone. */
static pawl_code show_expired(const pawl__timeout_fields *fields, pawl_store *store,
                              pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_time now   = pawl_clock_now(NULL);
    size_t    count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (!pawl_uuid_is_zero(rows->items[i].owner.uuid) && rows->items[i].lease_expires <= now)
            rows->items[count++] = rows->items[i];
    if (fields->is_all)
        rows->count = count;
    return count > 0 && !fields->is_json
               ? pawl__timeout_print_leases(fields, store, rows->items, count, arena, error)
               : PAWL_OK;
}

pawl_code pawl__timeout_settle(const void *context, pawl_store *store, pawl_arena *arena,
                               pawl_error *error)
{
    const pawl__timeout_fields *fields = context;
    pawl__timeout_query         query;
    pawl_timeout_rows           rows = {.count = 0};
    size_t                      done = 0;
    pawl_code                   code = pawl__timeout_query_read(fields, &query, error);
    if (code == PAWL_OK)
        code = pawl__timeout_select(fields, &query, store, arena, &rows, error);
    if (code == PAWL_OK && kind_of(fields)->action == PAWL_AMEND_REAP)
        code = show_expired(fields, store, arena, &rows, error);
    if (code == PAWL_OK && fields->is_dry)
        return print_counts(fields, rows.count, 0, error);
    if (code == PAWL_OK)
        code = ask(fields, rows.count, error);
    if (code == PAWL_OK)
        code = settle_rows(fields, query.to, store, &rows, &done, error);
    return code == PAWL_OK ? print_counts(fields, done, rows.count - done, error) : code;
}
