/* dead_settle.c - `pawl dead retry|discard`: settling dead letters.
 *
 * Letters that are named go in one commit, all of them or none. With --all the selection is frozen by
 * a time: letters that were given up until then, so that one that dies again meanwhile is not taken
 * twice. They are worked off by time, in commits of PAGE at most, no faster than asked for. Those that
 * are done are letters no more: the same command with the same --until goes on after an interruption.
 *
 * dead.c has the verb's options and its table of actions, in which these and edit stand; so each of
 * the files calls the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/dead/dead.h"

#include "cli/bulk/pace.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define PAGE 256

typedef struct settle_kind {
    const char      *name;
    pawl_dead_action action;
    const char      *done;
    const char      *question; /* "%s 12 dead letters of URL%s?" */
    const char      *warning;
} settle_kind;

static const settle_kind kinds[] = {
    {"discard", PAWL_DEAD_DISCARD, "discarded", "discard", ", for good"},
    {"retry", PAWL_DEAD_RETRY, "retried", "send", " again"},
};

static const settle_kind *kind_of(const pawl__dead_fields *fields)
{
    return &kinds[strcmp(fields->action, "retry") == 0];
}

/* ---- Words ------------------------------------------------------------------- */

static pawl_code check_edit(const pawl__dead_fields *fields, pawl_error *error)
{
    if (fields->ids.count != 1)
        return pawl_error_set(error, PAWL_EINVAL, "pawl dead edit needs one message ID, got %zu",
                              fields->ids.count);
    if (fields->body_file == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl dead edit needs --body-file FILE, which holds the new body");
    return PAWL_OK;
}

/* Refuses --all beside ids, and what goes with --all without it. */
static pawl_code check_selection(const pawl__dead_fields *fields, pawl_error *error)
{
    bool has_filter = fields->code != NULL || fields->error_part != NULL || fields->type != NULL ||
                      fields->saga != NULL || fields->since != NULL || fields->until != NULL ||
                      fields->newer != 0 || fields->older != 0;
    if (fields->is_all && fields->ids.count > 0)
        return pawl_error_set(error, PAWL_EINVAL, "give --all or message IDs, not both");
    if (!fields->is_all && fields->ids.count == 0)
        return pawl_error_set(
            error, PAWL_EINVAL,
            "pawl dead %s needs message IDs, or --all and what they have in common",
            fields->action);
    if (!fields->is_all && (has_filter || fields->is_agreed || fields->is_dry || fields->rate != 0))
        return pawl_error_set(
            error, PAWL_EINVAL,
            "pawl dead %s: %s goes with --all, not with dead letters that are named",
            fields->action,
            has_filter          ? "a filter"
            : fields->is_agreed ? "--yes"
            : fields->is_dry    ? "--dry-run"
                                : "--rate");
    return PAWL_OK;
}

pawl_code pawl__dead_settle_check(const pawl__dead_fields *fields, pawl_error *error)
{
    bool      is_edit = strcmp(fields->action, "edit") == 0;
    pawl_code code    = pawl__text_check("--reason", fields->reason, error);
    size_t    size    = fields->reason != NULL ? strlen(fields->reason) : 0;
    if (code == PAWL_OK && size + PAWL__USER_SIZE > PAWL_ERROR_TEXT_SIZE_MAX)
        return pawl_error_set(error, PAWL_ELIMIT, "--reason: it has %zu bytes, limit %d", size,
                              PAWL_ERROR_TEXT_SIZE_MAX - PAWL__USER_SIZE);
    if (code != PAWL_OK)
        return code;
    return is_edit ? check_edit(fields, error) : check_selection(fields, error);
}

/* ---- What was done ------------------------------------------------------------ */

static pawl_code print_json(const char *done, const pawl__dead_counts *counts, pawl_error *error)
{
    yyjson_mut_doc *doc = pawl__json_create();
    if (doc != NULL) {
        yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
        yyjson_mut_obj_add_uint(doc, root, done, counts->done);
        yyjson_mut_obj_add_uint(doc, root, "no_longer_dead", counts->not_done.gone_count);
        yyjson_mut_obj_add_uint(doc, root, "already_queued", counts->not_done.left_count);
        yyjson_mut_obj_add_uint(doc, root, "unsendable", counts->unsent);
    }
    return pawl__json_print(doc, stdout, error);
}

pawl_code pawl__dead_print_done(const pawl__dead_fields *fields, const char *done,
                                const pawl__dead_counts *counts, pawl_error *error)
{
    size_t gone = counts->not_done.gone_count, stays = counts->not_done.left_count;
    if (fields->is_json)
        return print_json(done, counts, error);
    printf("%s %zu dead letter%s", done, counts->done, counts->done == 1 ? "" : "s");
    if (gone > 0)
        printf("; %zu %s no longer dead", gone, gone == 1 ? "was" : "were");
    if (stays > 0)
        printf("; %zu %s: a copy of the message is in its queue already, or the saga has set the "
               "timeout again",
               stays, stays == 1 ? "stays" : "stay");
    if (counts->unsent > 0)
        printf("; %zu %s no queue or type, and can only be discarded", counts->unsent,
               counts->unsent == 1 ? "has" : "have");
    putchar('\n');
    return PAWL_OK;
}

/* ---- Letters that are named ---------------------------------------------------- */

static pawl_code settle_named(const pawl__dead_fields *fields, const pawl_dead_settle *settle,
                              pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    pawl_dead_row letters[PAWL__TEXTS_MAX];
    size_t        count = 0;
    pawl_code     code  = PAWL_OK;
    for (size_t i = 0; code == PAWL_OK && i < fields->ids.count; i++) {
        bool is_known = false;
        for (size_t j = 0; j < i; j++)
            is_known = is_known || strcmp(fields->ids.items[i], fields->ids.items[j]) == 0;
        if (!is_known)
            code = pawl__dead_letter_find(fields, store, fields->ids.items[i], arena,
                                          &letters[count++], error);
    }
    if (code == PAWL_OK)
        code = pawl_store_dead_settle(store, letters, count, settle, pawl_clock_now(NULL), NULL,
                                      error);
    if (code != PAWL_OK)
        return code;
    const pawl__dead_counts counts = {.done = count};
    pawl__queue_names       queues = {.arena = arena};
    for (size_t i = 0; code == PAWL_OK && i < count && settle->action == PAWL_DEAD_RETRY; i++)
        code = pawl__queue_names_add(&queues, letters[i].queue, error);
    if (code == PAWL_OK)
        code = pawl__queue_names_warn(&queues, store, error);
    return code != PAWL_OK ? code
                           : pawl__dead_print_done(fields, kind_of(fields)->done, &counts, error);
}

/* ---- Letters that have something in common ------------------------------------- */

typedef struct bulk {
    const pawl__dead_fields *fields;
    const settle_kind       *kind;
    const pawl_dead_settle  *settle;
    pawl__dead_cursor        cursor;
    pawl_arena              *arena;  /* of one page */
    pawl__queue_names        queues; /* of the letters */
    pawl_time                until;  /* letters that were given up later are not of the selection */
    int64_t                  begun;  /* of a monotonic clock, in microseconds */
    pawl__dead_counts        counts;
    size_t                   total, seen;
} bulk;

static volatile sig_atomic_t is_interrupted;

static void on_signal(int number)
{
    (void)number;
    is_interrupted = 1;
}

static bool is_retry(const bulk *it)
{
    return it->kind->action == PAWL_DEAD_RETRY;
}

/* Counts the selection, and notes where it is sent. */
static pawl_code count_all(bulk *it, pawl_error *error)
{
    pawl__dead_cursor cursor = it->cursor;
    pawl_dead_rows    found  = {.count = 0};
    pawl_code         code   = PAWL_OK;
    do {
        pawl_arena_reset(it->arena);
        code = pawl__dead_page(&cursor, PAGE, it->arena, &found, error);
        it->total += found.count;
        for (size_t i = 0; code == PAWL_OK && i < found.count && is_retry(it); i++)
            code = pawl__queue_names_add(&it->queues, found.items[i].queue, error);
    } while (code == PAWL_OK && found.count == PAGE);
    return code;
}

/* Moves letters that cannot be sent out of the page; how many are left. */
static size_t keep_sendable(bulk *it, pawl_dead_rows *found)
{
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++)
        if (it->kind->action == PAWL_DEAD_DISCARD ||
            (found->items[i].queue.size != 0 && found->items[i].message.type.size != 0))
            found->items[kept++] = found->items[i];
    it->counts.unsent += found->count - kept;
    return kept;
}

static pawl_code settle_page(bulk *it, pawl_dead_rows *found, pawl_error *error)
{
    pawl_dead_settled not_done;
    size_t            count = keep_sendable(it, found);
    pawl_code code = pawl_store_dead_settle(it->cursor.store, found->items, count, it->settle,
                                            pawl_clock_now(NULL), &not_done, error);
    if (code != PAWL_OK)
        return code;
    it->seen += found->count;
    it->counts.done += count - not_done.gone_count - not_done.left_count;
    it->counts.not_done.gone_count += not_done.gone_count;
    it->counts.not_done.left_count += not_done.left_count;
    pawl__progress(it->kind->done, (int64_t)it->seen, (int64_t)it->total);
    return PAWL_OK;
}

static pawl_code settle_pages(bulk *it, pawl_error *error)
{
    size_t         size  = pawl__pace_page(it->fields->rate, PAGE);
    pawl_dead_rows found = {.count = 0};
    pawl_code      code  = PAWL_OK;
    it->begun            = pawl__pace_now();
    do {
        if (!is_interrupted)
            pawl__pace_wait(it->begun, (int64_t)it->seen, it->fields->rate);
        pawl_arena_reset(it->arena);
        if (is_interrupted)
            code = pawl_error_set(error, PAWL_EINTERRUPTED, "interrupted");
        if (code == PAWL_OK)
            code = pawl__dead_page(&it->cursor, size, it->arena, &found, error);
        if (code == PAWL_OK)
            code = settle_page(it, &found, error);
    } while (code == PAWL_OK && found.count == size);
    pawl__progress_end((int64_t)it->seen);
    return code;
}

static void print_word(const char *option, const char *value)
{
    if (value == NULL)
        return;
    fprintf(stderr, " --%s '", option);
    for (const char *at = value; *at != '\0'; at++)
        if (*at == '\'')
            fputs("'\\''", stderr);
        else
            fputc(*at, stderr);
    fputc('\'', stderr);
}

/* The command that goes on with this selection, whatever becomes of this one. Ages are times by
 * now. */
static void print_command(const bulk *it)
{
    const pawl__dead_fields *fields = it->fields;
    char                     time[PAWL_TIME_TEXT_SIZE + 1];
    fprintf(stderr, "pawl: if it is interrupted, this goes on: pawl dead %s --all", fields->action);
    print_word("app", fields->application);
    print_word("code", fields->code);
    print_word("endpoint", fields->endpoint);
    print_word("error", fields->error_part);
    print_word("saga", fields->saga);
    print_word("saga-prefix", fields->saga_prefix);
    print_word("type", fields->type);
    print_word("reason", fields->reason);
    if (fields->rate != 0)
        fprintf(stderr, " --rate %" PRId64, fields->rate);
    if (it->cursor.query.at_min != 0) {
        pawl_time_format(it->cursor.query.at_min, time);
        print_word("since", time);
    }
    pawl_time_format(it->until, time);
    print_word("until", time);
    fputc('\n', stderr);
}

static pawl_code ask(const bulk *it, pawl_error *error)
{
    const settle_kind *kind = it->kind;
    char               url[PAWL_URL_SIZE_MAX + 1], question[PAWL_URL_SIZE_MAX + 100], action[40];
    if (it->fields->is_agreed || it->total == 0)
        return PAWL_OK;
    snprintf(question, sizeof question, "%s %zu dead letter%s of %s%s?", kind->question, it->total,
             it->total == 1 ? "" : "s", pawl__masked(it->fields->at.store, url, sizeof url),
             kind->warning);
    snprintf(action, sizeof action, "%s --all", kind->name);
    return pawl__agree(action, kind->done, question, error);
}

static pawl_code print_dry(const bulk *it, pawl_error *error)
{
    char since[PAWL_TIME_TEXT_SIZE + 1], until[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(it->until, until);
    if (!it->fields->is_json) {
        printf("would be %s: %zu dead letter%s until %s\n", it->kind->done, it->total,
               it->total == 1 ? "" : "s", until);
        return PAWL_OK;
    }
    yyjson_mut_doc *doc = pawl__json_create();
    if (doc != NULL) {
        yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
        yyjson_mut_obj_add_uint(doc, root, "matching", it->total);
        pawl_time_format(it->cursor.query.at_min, since);
        if (it->cursor.query.at_min != 0)
            yyjson_mut_obj_add_strcpy(doc, root, "since", since);
        yyjson_mut_obj_add_strcpy(doc, root, "until", until);
    }
    return pawl__json_print(doc, stdout, error);
}

static pawl_code work_off(bulk *it, pawl_error *error)
{
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    if (it->total > 0 && !it->fields->is_json)
        print_command(it);
    pawl_code code = settle_pages(it, error);
    if (code == PAWL_OK)
        return pawl__dead_print_done(it->fields, it->kind->done, &it->counts, error);
    char until[PAWL_TIME_TEXT_SIZE + 1];
    pawl_time_format(it->until, until);
    return pawl_error_wrap(error, code, "after %zu of %zu dead letters were %s; --until %s goes on",
                           it->counts.done, it->total, it->kind->done, until);
}

/* Before it is asked: letters whose queue nobody reads would only wait elsewhere. */
static pawl_code count_and_warn(bulk *it, pawl_error *error)
{
    pawl_code code = count_all(it, error);
    return code == PAWL_OK ? pawl__queue_names_warn(&it->queues, it->cursor.store, error) : code;
}

static pawl_code settle_all(const pawl__dead_fields *fields, const pawl_dead_settle *settle,
                            pawl_store *store, pawl_arena *arena, pawl_error *error)
{
    pawl_time now  = pawl_clock_now(NULL);
    bulk      it   = {.fields = fields,
                      .kind   = kind_of(fields),
                      .settle = settle,
                      .queues = {.arena = arena},
                      .arena  = pawl_arena_create(0)};
    pawl_code code = it.arena != NULL
                         ? pawl__dead_cursor_begin(fields, store, arena, &it.cursor, error)
                         : pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    if (code == PAWL_OK)
        code = pawl__dead_query(fields, now, &it.cursor.query, error);
    if (it.cursor.query.at_max == 0 || it.cursor.query.at_max > now)
        it.cursor.query.at_max = now;
    it.until = it.cursor.query.at_max;
    if (code == PAWL_OK)
        code = count_and_warn(&it, error);
    if (code == PAWL_OK && fields->is_dry)
        code = print_dry(&it, error);
    else if (code == PAWL_OK)
        code = ask(&it, error);
    if (code == PAWL_OK && !fields->is_dry)
        code = work_off(&it, error);
    pawl_arena_destroy(it.arena);
    return code;
}

pawl_code pawl__dead_settle(const void *context, pawl_store *store, pawl_arena *arena,
                            pawl_error *error)
{
    const pawl__dead_fields *fields = context;
    char                     user[PAWL__USER_SIZE];
    const pawl_dead_settle   settle = {.action = kind_of(fields)->action,
                                       .by     = pawl_text_of(pawl__user(user)),
                                       .reason = pawl_text_of(fields->reason)};
    return fields->is_all ? settle_all(fields, &settle, store, arena, error)
                          : settle_named(fields, &settle, store, arena, error);
}
