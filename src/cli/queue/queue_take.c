/* queue_take.c - `pawl queue purge|move`: messages leave a queue.
 *
 * The selection is frozen by the number of the last message: what is sent meanwhile is not of it. It is
 * worked off in the order in which it would be claimed, in commits of PAGE at most, no faster than asked
 * for. Taken messages are in the queue no more: the same command with the same --last goes on after an
 * interruption. Messages in a worker's hand stay with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/queue/queue.h"

#include "cli/bulk/pace.h"
#include "cli/message/find.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#define PAGE 256

typedef struct taking {
    const pawl__queue_fields *fields;
    pawl_queue_take           take;
    pawl_store               *store;
    pawl_arena               *arena; /* of one page */
    pawl_queue_query          query;
    pawl_queue_row            last; /* of the page before: its key */
    pawl__find_conditions     where;
    bool                      is_last; /* the page was the last one */
    int64_t                   begun;
    size_t                    total, seen, done, unreadable;
} taking;

static volatile sig_atomic_t is_interrupted;

static void on_signal(int number)
{
    (void)number;
    is_interrupted = 1;
}

static pawl_code check_interrupted(pawl_error *error)
{
    return is_interrupted ? pawl_error_set(error, PAWL_EINTERRUPTED, "interrupted") : PAWL_OK;
}

static bool is_move(const taking *it)
{
    return it->take.action == PAWL_TAKE_MOVE;
}

static const char *done_word(const taking *it)
{
    return is_move(it)                                ? "moved"
           : it->take.action == PAWL_TAKE_DEAD_LETTER ? "dead-lettered"
                                                      : "discarded";
}

/* The key in JSON. */
static const char *done_key(const taking *it)
{
    return it->take.action == PAWL_TAKE_DEAD_LETTER ? "dead_lettered" : done_word(it);
}

/* ---- Pages ----------------------------------------------------------------- */

/* Keeps those of the page that meet the conditions of --where. */
static void keep_matches(taking *it, pawl_queue_messages *found)
{
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        pawl__find_verdict verdict = pawl__find_match(&it->where, &found->items[i].row.message);
        it->unreadable += verdict == PAWL__FIND_UNREADABLE;
        if (verdict == PAWL__FIND_YES)
            found->items[kept++] = found->items[i];
    }
    found->count = kept;
}

static pawl_code next_page(taking *it, size_t size, pawl_queue_messages *found, pawl_error *error)
{
    pawl_arena_reset(it->arena);
    it->query.count_max = size;
    pawl_code code      = check_interrupted(error);
    if (code == PAWL_OK)
        code = pawl_store_queue_find(it->store, &it->query, it->arena, found, error);
    it->is_last = found->count < size;
    if (code != PAWL_OK || found->count == 0)
        return code;
    it->last        = (pawl_queue_row){.due = found->items[found->count - 1].row.due,
                                       .seq = found->items[found->count - 1].row.seq};
    it->query.after = &it->last;
    keep_matches(it, found);
    return PAWL_OK;
}

/* Counts the selection, and freezes it at the last number. */
static pawl_code count_all(taking *it, pawl_error *error)
{
    pawl_queue_messages found = {.count = 0};
    pawl_code           code  = PAWL_OK;
    int64_t             last  = 0;
    while (code == PAWL_OK && !it->is_last) {
        code = next_page(it, PAGE, &found, error);
        for (size_t i = 0; code == PAWL_OK && i < found.count; i++)
            last = found.items[i].row.seq > last ? found.items[i].row.seq : last;
        it->total += code == PAWL_OK ? found.count : 0;
    }
    it->query.after = NULL;
    it->is_last     = false;
    if (last > 0) /* a number that is given may be larger than any that there is */
        it->query.seq_max = last;
    if (it->unreadable > 0)
        fprintf(stderr, "pawl: %zu message%s not compared: the body is not JSON\n", it->unreadable,
                it->unreadable == 1 ? " is" : "s are");
    return code;
}

/* Takes `count` messages of a page, when the rate allows it. */
static pawl_code take_some(taking *it, const pawl_queue_message *messages, size_t count,
                           pawl_error *error)
{
    int64_t seqs[PAGE];
    size_t  taken = 0;
    pawl__pace_wait(it->begun, (int64_t)it->seen, it->fields->rate);
    pawl_code code = check_interrupted(error);
    for (size_t i = 0; i < count; i++)
        seqs[i] = messages[i].row.seq;
    if (code == PAWL_OK)
        code = pawl_store_queue_take(it->store, &it->take, seqs, count, pawl_clock_now(NULL),
                                     &taken, error);
    if (code != PAWL_OK)
        return code;
    it->seen += count;
    it->done += taken;
    pawl__progress(done_word(it), (int64_t)it->seen, (int64_t)it->total);
    return PAWL_OK;
}

static pawl_code take_pages(taking *it, pawl_error *error)
{
    size_t              size = pawl__pace_page(it->fields->rate, PAGE);
    pawl_queue_messages found;
    pawl_code           code = PAWL_OK;
    it->begun                = pawl__pace_now();
    if (it->total > size)
        fprintf(stderr,
                "pawl: if it is interrupted, the same command with --last %" PRId64 " goes on\n",
                it->query.seq_max);
    while (code == PAWL_OK && !it->is_last) {
        code = next_page(it, PAGE, &found, error);
        for (size_t i = 0; code == PAWL_OK && i < found.count; i += size)
            code = take_some(it, &found.items[i], found.count - i < size ? found.count - i : size,
                             error);
    }
    pawl__progress_end((int64_t)it->seen);
    return code == PAWL_OK
               ? code
               : pawl_error_wrap(error, code,
                                 "after %zu of %zu messages were %s; --last %" PRId64 " goes on",
                                 it->done, it->total, done_word(it), it->query.seq_max);
}

/* ---- What is asked and said ------------------------------------------------- */

static pawl_code print_done(const taking *it, pawl_error *error)
{
    const char *key  = it->fields->is_dry ? "matching" : done_key(it);
    size_t      done = it->fields->is_dry ? it->total : it->done, left = it->seen - it->done;
    if (it->fields->is_json) {
        yyjson_mut_doc *doc = pawl__json_create();
        if (doc != NULL) {
            yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
            yyjson_mut_obj_add_str(doc, root, "queue", it->fields->queue);
            yyjson_mut_obj_add_uint(doc, root, key, done);
            yyjson_mut_obj_add_uint(doc, root, "left", left);
            yyjson_mut_obj_add_sint(doc, root, "last", it->query.seq_max);
        }
        return pawl__json_print(doc, stdout, error);
    }
    printf(it->fields->is_dry ? "would be %s: %zu message%s of queue %s"
                              : "%s %zu message%s of queue %s",
           done_word(it), done, done == 1 ? "" : "s", it->fields->queue);
    if (is_move(it))
        printf(" to %s", it->fields->to);
    if (left > 0)
        printf("; %zu %s in flight, or gone", left, left == 1 ? "was" : "were");
    putchar('\n');
    return PAWL_OK;
}

static pawl_code ask(const taking *it, pawl_error *error)
{
    char url[PAWL_URL_SIZE_MAX + 1], question[PAWL_URL_SIZE_MAX + 3 * PAWL_NAME_SIZE_MAX];
    if (it->fields->is_agreed || it->total == 0)
        return PAWL_OK;
    snprintf(question, sizeof question, "%s %zu message%s of queue %s of %s%s%s?",
             is_move(it)                            ? "move"
             : it->take.action == PAWL_TAKE_DISCARD ? "discard"
                                                    : "make dead letters of",
             it->total, it->total == 1 ? "" : "s", it->fields->queue,
             pawl__masked(it->fields->at.store, url, sizeof url),
             is_move(it)                            ? " to "
             : it->take.action == PAWL_TAKE_DISCARD ? ", for good"
                                                    : "",
             is_move(it) ? it->fields->to : "");
    return pawl__agree(it->fields->action, done_word(it), question, error);
}

static pawl_code work(taking *it, pawl_error *error)
{
    struct sigaction action = {.sa_handler = on_signal};
    pawl_code        code   = count_all(it, error);
    if (code == PAWL_OK && it->fields->is_dry)
        return print_done(it, error);
    if (code == PAWL_OK)
        code = ask(it, error);
    if (code != PAWL_OK)
        return code;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    if (is_move(it) && it->total > 0)
        code = pawl__reader_warn(it->store, it->take.to, it->arena, error);
    if (code == PAWL_OK && it->total > 0)
        code = take_pages(it, error);
    return code == PAWL_OK ? print_done(it, error) : code;
}

pawl_code pawl__queue_take(const void *context, pawl_store *store, pawl_arena *arena,
                           pawl_error *error)
{
    const pawl__queue_fields *fields = context;
    char                      user[PAWL__USER_SIZE];
    bool                      is_purge = strcmp(fields->action, "purge") == 0;
    taking                    it       = {.fields = fields,
                                          .store  = store,
                                          .take   = {.action = !is_purge ? PAWL_TAKE_MOVE
                                                               : fields->is_discarding ? PAWL_TAKE_DISCARD
                                                                                       : PAWL_TAKE_DEAD_LETTER,
                                                     .queue  = pawl_text_of(fields->queue),
                                                     .to     = pawl_text_of(fields->to),
                                                     .by     = pawl_text_of(pawl__user(user)),
                                                     .reason = pawl_text_of(fields->reason)},
                                          .query  = {.queue   = pawl_text_of(fields->queue),
                                                     .type    = pawl_text_of(fields->type),
                                                     .seq_max = fields->last}};
    pawl_queue_info           info;
    pawl_time                 now = pawl_clock_now(NULL);
    if (fields->due != NULL && strcmp(fields->due, "later") == 0)
        it.query.due_min = now + 1;
    else if (fields->due != NULL)
        it.query.due_max = now;
    pawl_code code = pawl__queue_info_find(store, fields->queue, now, arena, &info, error);
    if (code != PAWL_OK)
        return code;
    it.arena = pawl_arena_create(0);
    if (it.arena == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory");
    code = fields->where.count > 0 ? pawl__find_read(&fields->where, &it.where, error) : PAWL_OK;
    if (code == PAWL_OK)
        code = work(&it, error);
    pawl__find_free(&it.where);
    pawl_arena_destroy(it.arena);
    return code;
}

pawl_code pawl__queue_take_check(const pawl__queue_fields *fields, pawl_error *error)
{
    bool is_purge = strcmp(fields->action, "purge") == 0;
    bool is_moved = strcmp(fields->action, "move") == 0;
    if (!is_moved && fields->to != NULL)
        return pawl_error_set(error, PAWL_EINVAL, "pawl queue %s takes one QUEUE, not '%s' as well",
                              fields->action, fields->to);
    if (is_moved && fields->to == NULL)
        return pawl_error_set(error, PAWL_EINVAL,
                              "pawl queue move needs the QUEUE that the messages go to");
    if (is_moved && strcmp(fields->queue, fields->to) == 0)
        return pawl_error_set(error, PAWL_EINVAL, "the messages of queue %s are in it already",
                              fields->queue);
    pawl__find_conditions where = {.count = 0};
    pawl_code             code  = PAWL_OK;
    if (fields->where.count > 0)
        code = pawl__find_read(&fields->where, &where, error);
    pawl__find_free(&where);
    return code == PAWL_OK && (is_purge || is_moved) ? pawl__filter_check("TO", fields->to, error)
                                                     : code;
}
