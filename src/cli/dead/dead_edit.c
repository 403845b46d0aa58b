/* dead_edit.c - `pawl dead edit`: a dead letter is tried again with another body.
 *
 * With --app the body is looked at as the program's handlers would read it, by the record of the
 * letter's type in the version that its headers name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/dead/dead.h"

#include "pawl/upgrade.h"

/* The first thing that keeps the program from handling the body. */
typedef struct check {
    bool       is_refused;
    pawl_error why;
} check;

static void take_finding(const pawl_upgrade_found *found, void *context)
{
    check *it       = context;
    bool   is_wrong = pawl_upgrade_is_finding(found->reason) ||
                    found->reason == PAWL_UPGRADE_FOREIGN; /* another program's letter */
    if (is_wrong && !it->is_refused)
        pawl_error_set(&it->why, PAWL_EINPUT, "the new body %s: %.*s",
                       pawl_upgrade_reason_text(found->reason), PAWL_TEXT_ARGS(found->text));
    else if (!is_wrong)
        fprintf(stderr, "pawl: warning: the new body %s: %.*s\n",
                pawl_upgrade_reason_text(found->reason), PAWL_TEXT_ARGS(found->text));
    it->is_refused = it->is_refused || is_wrong;
}

static pawl_code check_by(pawl_upgrade *upgrade, pawl_store *store, const pawl_dead_row *letter,
                          pawl_text body, pawl_arena *arena, pawl_error *error)
{
    pawl_scan_row row = {
        .belongs_to = letter->endpoint, .name = letter->queue, .message = letter->message};
    const pawl_scan      walk = {.kind = PAWL_SCAN_DEAD};
    const pawl_scan_rows rows = {.items = &row, .count = 1};
    check                it   = {.is_refused = false, .why = PAWL_ERROR_INIT};
    row.message.body          = body;
    pawl_code code =
        pawl_upgrade_rows(upgrade, store, &walk, &rows, arena, take_finding, &it, error);
    if (code != PAWL_OK || !it.is_refused)
        return code;
    return pawl_error_set(error, PAWL_EINPUT, "%s", it.why.text);
}

/* Without --app the body need only be JSON. */
static pawl_code check_body(const pawl__dead_fields *fields, pawl_store *store,
                            const pawl_dead_row *letter, pawl_text body, pawl_arena *arena,
                            pawl_error *error)
{
    pawl__loaded  loaded  = {.library = NULL};
    pawl_upgrade *upgrade = NULL;
    pawl_code     code    = pawl__json_check(body, error);
    if (code != PAWL_OK || fields->application == NULL)
        return code;
    code = pawl__application_load(fields->application, &loaded, error);
    if (code == PAWL_OK)
        code = pawl_upgrade_create(loaded.application, NULL, &upgrade, error);
    if (code == PAWL_OK)
        code = check_by(upgrade, store, letter, body, arena, error);
    pawl_upgrade_destroy(upgrade);
    pawl__application_unload(&loaded);
    return code;
}

static pawl_code edit(const pawl__dead_fields *fields, pawl_store *store,
                      const pawl_dead_row *letter, pawl_arena *arena, pawl_error *error)
{
    pawl__input      input;
    char             user[PAWL__USER_SIZE];
    pawl_dead_settle settle = {.action = PAWL_DEAD_EDIT,
                               .by     = pawl_text_of(pawl__user(user)),
                               .reason = pawl_text_of(fields->words.reason)};
    pawl_code        code   = pawl__input_open(&input, fields->body_file, error);
    if (code != PAWL_OK)
        return code;
    code = pawl__input_all(&input, &settle.body, error);
    if (code == PAWL_OK)
        code = check_body(fields, store, letter, settle.body, arena, error);
    if (code != PAWL_OK)
        code = pawl_error_wrap(error, code, "%s", input.name);
    if (code == PAWL_OK)
        code = pawl_store_dead_settle(store, letter, 1, &settle, pawl_clock_now(NULL), NULL, error);
    if (code == PAWL_OK)
        code = pawl__reader_warn(store, letter->queue, arena, error);
    pawl__input_close(&input);
    pawl__bulk_loop loop = pawl__dead_loop(fields, "edited");
    loop.did             = 1;
    return code == PAWL_OK ? pawl__bulk_loop_print(&loop, error) : code;
}

pawl_code pawl__dead_edit(const void *context, pawl_store *store, pawl_arena *arena,
                          pawl_error *error)
{
    const pawl__dead_fields *fields = context;
    pawl_dead_row            letter;
    pawl_code                code =
        pawl__dead_letter_find(fields, store, fields->words.ids.items[0], arena, &letter, error);
    return code == PAWL_OK ? edit(fields, store, &letter, arena, error) : code;
}
