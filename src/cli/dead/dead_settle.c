/* dead_settle.c - `pawl dead retry|discard|edit`: settling dead letters.
 *
 * Named letters are settled in one commit, all or none. With --all the selection is frozen at a time: it has the
 * letters that were dead-lettered by then, so a message that fails again meanwhile is not taken twice. The loop of
 * bulk_loop.h settles them, oldest first. Settled letters no longer exist, so the same command with the same --until
 * continues after an interruption.
 *
 * dead.c has the verb's options and the table of its actions, so each of the two files calls the other.
 *
 * Edit with --app checks the body as the program's handlers would read it, by the record of the letter's type in the
 * version that its headers name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/why.h"
#include "cli/dead/dead.h"
#include "pawl/upgrade.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_retry(const pawl__dead_fields *fields)
{
    return strcmp(fields->words.action, "retry") == 0;
}

/* ---- Words ------------------------------------------------------------------- */

pawl_code pawl__dead_settle_check(const pawl__dead_fields *fields, pawl_error *error)
{
    bool has_filter = fields->code != NULL || fields->error_part != NULL || fields->type != NULL ||
                      fields->saga != NULL || fields->since != 0 || fields->until != 0 ||
                      fields->newer != 0 || fields->older != 0;
    if (strcmp(fields->words.action, "edit") != 0)
        return pawl__bulk_words_check(&fields->words, "dead", "message IDs", "dead letters",
                                      has_filter, error);
    if (fields->body_file == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl dead edit needs --body-file FILE, which holds the new body");
    return PAWL_OK;
}

/* ---- What was done ------------------------------------------------------------ */

/* Texts of the loop for letters that are `done`: "retried". */
static pawl__bulk_loop loop_of(const pawl__dead_fields *fields, const char *done)
{
    return (pawl__bulk_loop){
        .at       = &fields->at,
        .words    = &fields->words,
        .question = is_retry(fields) ? "send" : "discard",
        .noun     = "dead letter",
        .ending   = is_retry(fields) ? " again" : ", for good",
        .done     = done,
        .key      = done,
        .left     = {
                {"no_longer_dead", 0, "was no longer dead", "were no longer dead"},
                {"already_queued", 0,
                 "stays: a copy of the message is in its queue already, or the saga has set the timeout again",
                 "stay: a copy of the message is in its queue already, or the saga has set the timeout again"},
                {"unsendable", 0, "has no queue or type, and can only be discarded",
                 "have no queue or type, and can only be discarded"}}};
}
enum { LEFT_GONE, LEFT_QUEUED, LEFT_UNSENDABLE };

/* ---- Queues of letters --------------------------------------------------------- */

#define QUEUES_MAX 32 /* one warning per queue; more queues are ignored */

static void add_queue(pawl__text_set *names, pawl_text queue)
{
    if (queue.size > 0 && names->count < QUEUES_MAX)
        (void)pawl__text_set_add(names, queue);
}

static void warn(const pawl__text_set *names, pawl_store *store)
{
    for (size_t i = 0; i < names->count; i++)
        pawl__reader_warn(store, names->items[i], names->arena);
}

/* ---- Letters whose time is over ------------------------------------------------ */

static bool is_expired(const pawl_dead_row *letter, pawl_arena *arena)
{
    pawl_time end  = 0;
    pawl_text text = pawl__must_header(letter->message.headers, PAWL_HEADER_EXPIRES, arena);
    return text.size > 0 && pawl_time_parse(text, &end, NULL) == PAWL_OK &&
           end <= pawl_clock_now(NULL);
}

static void warn_expired(int64_t count)
{
    if (count > 0)
        fprintf(
            stderr,
            "pawl: warning: the time of %lld of the dead letters is over (header " PAWL_HEADER_EXPIRES
            "): a worker drops %s\n",
            (long long)count, count == 1 ? "it" : "them");
}

/* ---- Letters that are named ---------------------------------------------------- */

static pawl_code settle_named(const pawl__dead_fields *fields, const pawl_dead_settle *settle,
                              pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    pawl_dead_row   letters[PAWL__TEXTS_MAX];
    pawl__bulk_loop loop   = loop_of(fields, is_retry(fields) ? "retried" : "discarded");
    pawl__text_set  named  = {.arena = arena};
    pawl__text_set  queues = {.arena = arena};
    size_t          count  = 0;
    int64_t         over   = 0;
    pawl_code       code   = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < fields->words.ids.count; i++) {
        if (pawl__text_set_add(&named, pawl_text_of(fields->words.ids.items[i])))
            code = pawl__dead_letter_find(fields, store, fields->words.ids.items[i], arena,
                                          &letters[count++], error);
    }
    if (code == PAWL_OK)
        code = pawl_store_dead_settle(store, letters, count, settle, pawl_clock_now(NULL), NULL,
                                      error);
    for (size_t i = 0; code == PAWL_OK && i < count && is_retry(fields); i++) {
        add_queue(&queues, letters[i].queue);
        over += is_expired(&letters[i], arena);
    }
    warn(&queues, store);
    warn_expired(over);
    loop.did = count;
    return code == PAWL_OK ? pawl__bulk_loop_print(&loop) : code;
}

/* ---- Letters that have something in common ------------------------------------- */

typedef struct bulk {
    pawl__bulk_loop          loop;
    const pawl__dead_fields *fields;
    const pawl_dead_settle  *settle;
    pawl__dead_cursor        cursor;
    pawl_arena              *arena;      /* of one page */
    pawl__text_set           queues;     /* of the letters */
    pawl_dead_rows           found;      /* the page */
    char until[PAWL_TIME_TEXT_SIZE + 1]; /* letters dead-lettered later are not selected */
} bulk;

/* Reads `size` letters, or fewer if they are large. */
static pawl_code read_page(bulk *it, pawl__dead_cursor *cursor, size_t size, bool *is_last,
                           pawl_error *error)
{
    pawl_arena_reset(it->arena);
    pawl_code code = pawl__dead_page(cursor, size, it->arena, &it->found, error);
    *is_last       = it->found.count < size && !it->found.is_cut;
    return code;
}

/* Counts the selection, and warns before the question: letters whose queue nobody reads would only wait there. */
static pawl_code count_and_warn(bulk *it, pawl_error *error)
{
    pawl__dead_cursor cursor  = it->cursor;
    bool              is_last = false;
    int64_t           over    = 0;
    pawl_code         code    = PAWL_OK;
    while (code == PAWL_OK && !is_last) {
        code = read_page(it, &cursor, PAWL__BULK_PAGE, &is_last, error);
        it->loop.total += it->found.count;
        for (size_t i = 0; code == PAWL_OK && i < it->found.count && is_retry(it->fields); i++) {
            add_queue(&it->queues, it->found.items[i].queue);
            over += is_expired(&it->found.items[i], it->arena);
        }
    }
    if (code == PAWL_OK)
        warn(&it->queues, it->cursor.store);
    if (code == PAWL_OK)
        warn_expired(over);
    return code;
}

static pawl_code next_page(void *context, size_t size, size_t *count, bool *is_last,
                           pawl_error *error)
{
    bulk     *it   = context;
    pawl_code code = read_page(it, &it->cursor, size, is_last, error);
    *count         = it->found.count;
    return code;
}

/* Leaves letters that cannot be sent. */
static pawl_code settle_page(void *context, size_t first, size_t count, size_t *done,
                             pawl_error *error)
{
    bulk             *it       = context;
    pawl_dead_row    *letters  = &it->found.items[first];
    pawl_dead_settled not_done = {.gone_count = 0};
    size_t            kept     = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_retry(it->fields) || pawl__dead_is_sendable(&letters[i]))
            letters[kept++] = letters[i];
    pawl_code code = pawl_store_dead_settle(it->cursor.store, letters, kept, it->settle,
                                            pawl_clock_now(NULL), &not_done, error);
    if (code != PAWL_OK)
        return code;
    *done = kept - not_done.gone_count - not_done.left_count;
    it->loop.left[LEFT_GONE].count += not_done.gone_count;
    it->loop.left[LEFT_QUEUED].count += not_done.left_count;
    it->loop.left[LEFT_UNSENDABLE].count += count - kept;
    return PAWL_OK;
}

static void print_word(const bulk *it, const char *option, const char *value)
{
    if (value != NULL)
        fprintf(stderr, " --%s %s", option,
                pawl__shell_quoted(pawl_text_of(value), it->arena).data);
}

/* Prints the command that continues this selection after an interruption; ages are given as times. */
static pawl_code print_command(void *context, pawl_error *error)
{
    const bulk              *it     = context;
    const pawl__dead_fields *fields = it->fields;
    char                     since[PAWL_TIME_TEXT_SIZE + 1];
    (void)error;
    if (it->loop.total == 0 || fields->words.is_json)
        return PAWL_OK;
    fprintf(stderr, "pawl: if it is interrupted, this goes on: pawl dead %s --all",
            fields->words.action);
    print_word(it, "app", fields->book.app);
    print_word(it, "code", fields->code);
    print_word(it, "endpoint", fields->endpoint);
    print_word(it, "error", fields->error_part);
    print_word(it, "saga", fields->saga);
    print_word(it, "saga-prefix", fields->book.prefix);
    print_word(it, "type", fields->type);
    print_word(it, "reason", fields->words.reason);
    if (fields->words.rate != 0)
        fprintf(stderr, " --rate %" PRId64, fields->words.rate);
    if (it->cursor.query.at_min != 0) {
        pawl_time_format(it->cursor.query.at_min, since);
        print_word(it, "since", since);
    }
    print_word(it, "until", it->until);
    fprintf(stderr, "%s\n",
            pawl__store_command(&fields->at, PAWL_TEXT("pawl "), it->arena).data + strlen("pawl"));
    return PAWL_OK;
}

static pawl_code run_loop(bulk *it, pawl_error *error)
{
    char since[PAWL_TIME_TEXT_SIZE + 1], until[PAWL_TIME_TEXT_SIZE + 8],
        resume[PAWL_TIME_TEXT_SIZE + 30];
    pawl_time_format(it->cursor.query.at_min, since);
    pawl_time_format(it->cursor.query.at_max, it->until);
    snprintf(until, sizeof until, " until %s", it->until);
    snprintf(resume, sizeof resume, "; --until %s goes on", it->until);
    it->loop.until   = until;
    it->loop.resume  = resume;
    it->loop.page    = next_page;
    it->loop.settle  = settle_page;
    it->loop.begin   = print_command;
    it->loop.context = it;
    if (it->fields->words.is_dry && it->cursor.query.at_min != 0)
        it->loop.dry = (pawl__fact){.key = "since", .text = since};
    if (it->fields->words.is_dry)
        it->loop.last = (pawl__fact){.key = "until", .text = it->until};
    pawl_code code = count_and_warn(it, error);
    return code == PAWL_OK ? pawl__bulk_loop_run(&it->loop, error) : code;
}

static pawl_code settle_all(const pawl__dead_fields *fields, const pawl_dead_settle *settle,
                            pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    pawl_time now   = pawl_clock_now(NULL);
    bulk      it    = {.loop   = loop_of(fields, is_retry(fields) ? "retried" : "discarded"),
                       .fields = fields,
                       .settle = settle,
                       .queues = {.arena = arena},
                       .arena  = pawl__must_create()};
    pawl_code code  = pawl__dead_cursor_begin(fields, store, arena, &it.cursor, error);
    it.cursor.query = pawl__dead_query(fields, now);
    if (it.cursor.query.at_max == 0 || it.cursor.query.at_max > now)
        it.cursor.query.at_max = now;
    if (code == PAWL_OK)
        code = run_loop(&it, error);
    pawl_arena_destroy(it.arena);
    return code;
}

pawl_code pawl__dead_settle(const void *context, pawl_store *store, pawl_arena *arena,
                            pawl_error *error)
{
    const pawl__dead_fields *fields = context;
    const pawl_dead_settle   settle = {.action =
                                         is_retry(fields) ? PAWL_DEAD_RETRY : PAWL_DEAD_DISCARD,
                                       .by     = pawl__user(),
                                       .reason = pawl_text_of(fields->words.reason)};
    return fields->words.is_all ? settle_all(fields, &settle, store, arena, error)
                                : settle_named(fields, &settle, store, arena, error);
}

/* The first reason why the program could not handle the body. */
typedef struct check {
    bool       is_refused;
    pawl_error why;
} check;

static void take_finding(const pawl_upgrade_found *found, void *context)
{
    check *it = context;
    bool   is_wrong =
        pawl_upgrade_is_finding(found->reason) ||
        found->reason == PAWL_UPGRADE_FOREIGN; /* the letter belongs to another program */
    if (is_wrong && !it->is_refused)
        pawl_error_set(&it->why, PAWL_EINPUT, "the new body %s: %.*s",
                       pawl_upgrade_reason_text(found->reason), PAWL_TEXT_ARGS(found->text));
    else if (!is_wrong)
        pawl__say(stderr, "pawl: warning: the new body %s: %.*s",
                  pawl_upgrade_reason_text(found->reason), PAWL_TEXT_ARGS(found->text));
    it->is_refused = it->is_refused || is_wrong;
}

static pawl_code check_by(pawl_upgrade *upgrade, pawl_store *store, const pawl_dead_row *letter,
                          pawl_text body, pawl_arena *arena, pawl_error *error)
{
    pawl_scan_row row = {
        .belongs_to = letter->endpoint, .name = letter->queue, .message = letter->message};
    const pawl_scan      scan = {.kind = PAWL_SCAN_DEAD};
    const pawl_scan_rows rows = {.items = &row, .count = 1};
    check                it   = {.is_refused = false, .why = PAWL_ERROR_INIT};
    row.message.body          = body;
    pawl_code code =
        pawl_upgrade_rows(upgrade, store, &scan, &rows, arena, take_finding, &it, error);
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
    if (code != PAWL_OK || fields->book.app == NULL)
        return code;
    code = pawl__application_load(fields->book.app, &loaded, error);
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
    pawl_dead_settle settle = {
        .action = PAWL_DEAD_EDIT, .by = pawl__user(), .reason = pawl_text_of(fields->words.reason)};
    pawl_code code = pawl__input_open(&input, fields->body_file, error);
    if (code != PAWL_OK)
        return code;
    code = pawl__input_all(&input, &settle.body, error);
    if (code == PAWL_OK &&
        (code = check_body(fields, store, letter, settle.body, arena, error)) != PAWL_OK)
        code = pawl_error_wrap(error, code, "%s", input.name);
    if (code == PAWL_OK)
        code = pawl_store_dead_settle(store, letter, 1, &settle, pawl_clock_now(NULL), NULL, error);
    if (code == PAWL_OK)
        pawl__reader_warn(store, letter->queue, arena);
    if (code == PAWL_OK)
        warn_expired(is_expired(letter, arena));
    pawl__input_close(&input);
    pawl__bulk_loop loop = loop_of(fields, "edited");
    loop.did             = 1;
    return code == PAWL_OK ? pawl__bulk_loop_print(&loop) : code;
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
