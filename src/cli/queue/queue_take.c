/* queue_take.c - `pawl queue purge|move`: removes messages from a queue, or moves them to another.
 *
 * The number of the last message, and with --due a time, limit the selection: messages that are sent or become due
 * meanwhile are not part of it. Messages are taken in queue order, in the loop of bulk_loop.h. Since taken ones are
 * gone, the same command with the same --last and --due-at resumes an interrupted run. Messages in flight are left to
 * their worker, or to the other command that has claimed them; at the end they are looked for again, since such a
 * command may have given them back behind this one's position.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/queue/queue.h"

#include "cli/message/find.h"

#include <inttypes.h>
#include <string.h>

pawl_code pawl__queue_info_find(pawl_store *store, const char *queue, pawl_time now,
                                pawl_arena *arena, pawl_queue_info *info, pawl_error *error)
{
    pawl_queue_infos infos = {.count = 0};
    pawl_code        code  = pawl_store_queue_infos(store, now, arena, &infos, error);
    if (code != PAWL_OK)
        return code;
    const pawl_queue_info *found =
        PAWL__ROW_OF(pawl_queue_info, queue, infos.items, infos.count, pawl_text_of(queue));
    if (found == NULL)
        return pawl_error_set(
            error, PAWL_ENOTFOUND,
            "there is no queue %s: it has no message, no dead letter and no consumer", queue);
    *info = *found;
    return PAWL_OK;
}

typedef struct taking {
    pawl__bulk_loop           loop;
    const pawl__queue_fields *fields;
    pawl_queue_take           take;
    pawl_store               *store;
    pawl_arena               *arena; /* of one page */
    pawl_queue_query          query;
    pawl_queue_row            last; /* last row of the previous page: only its key */
    pawl__find_conditions     where;
    pawl_queue_messages       found; /* the page */
    size_t                    unreadable;
    size_t                    taken;       /* of this round */
    bool                      is_end;      /* of the round: its last page was handed out */
    char due_at[PAWL_TIME_TEXT_SIZE + 1];  /* "": the selection is not by --due */
    char resume[PAWL_TIME_TEXT_SIZE + 60]; /* "--last 7 --due-at TIME" */
} taking;

static bool is_move(const taking *it)
{
    return it->take.action == PAWL_TAKE_MOVE;
}

/* ---- Pages ----------------------------------------------------------------- */

/* Starts from the beginning for messages that were in flight, as long as the last round took some: rounds end, since
 * each taken message is gone. */
static bool begin_round(taking *it)
{
    pawl__bulk_count *left = &it->loop.left[0];
    if (left->count == 0 || it->taken == 0)
        return false;
    it->loop.seen -= left->count;
    left->count     = 0;
    it->taken       = 0;
    it->is_end      = false;
    it->query.after = NULL;
    return true;
}

/* Reads a page of the queue, and keeps the messages that meet --where. */
static pawl_code next_matches(void *context, size_t size, size_t *count, bool *is_last,
                              pawl_error *error)
{
    taking *it = context;
    (void)size;
    *count   = 0;
    *is_last = it->is_end && !begin_round(it);
    if (*is_last)
        return PAWL_OK;
    pawl_arena_reset(it->arena);
    it->query.count_max = PAWL__BULK_PAGE;
    pawl_code code = pawl_store_queue_find(it->store, &it->query, it->arena, &it->found, error);
    it->is_end     = it->found.count < PAWL__BULK_PAGE && !it->found.is_cut;
    if (code != PAWL_OK || it->found.count == 0)
        return code;
    it->last        = (pawl_queue_row){.due = it->found.items[it->found.count - 1].row.due,
                                       .seq = it->found.items[it->found.count - 1].row.seq};
    it->query.after = &it->last;
    for (size_t i = 0; i < it->found.count; i++) {
        pawl__find_verdict verdict = pawl__find_match(&it->where, &it->found.items[i].row.message);
        it->unreadable += verdict == PAWL__FIND_UNREADABLE;
        if (verdict == PAWL__FIND_YES)
            it->found.items[(*count)++] = it->found.items[i];
    }
    return PAWL_OK;
}

/* Counts the selection, and limits it to the numbers that exist now. */
static pawl_code count_all(taking *it, pawl_error *error)
{
    pawl_code code = PAWL_OK;
    int64_t   last = 0;
    size_t    count;
    for (bool is_last = false; code == PAWL_OK && !is_last;) {
        code = next_matches(it, PAWL__BULK_PAGE, &count, &is_last, error);
        for (size_t i = 0; i < count; i++)
            last = it->found.items[i].row.seq > last ? it->found.items[i].row.seq : last;
        it->loop.total += count;
    }
    it->query.after = NULL;
    it->is_end      = false;
    if (last > 0) /* --last may be larger than any number that exists */
        it->query.seq_max = last;
    if (it->unreadable > 0)
        fprintf(stderr, "pawl: %zu message%s not compared: the body is not JSON\n", it->unreadable,
                it->unreadable == 1 ? " is" : "s are");
    return code;
}

static pawl_code take_some(void *context, size_t first, size_t count, size_t *done,
                           pawl_error *error)
{
    taking *it = context;
    int64_t seqs[PAWL__BULK_PAGE];
    size_t  taken, copies;
    for (size_t i = 0; i < count; i++)
        seqs[i] = it->found.items[first + i].row.seq;
    pawl_code code = pawl_store_queue_take(it->store, &it->take, seqs, count, pawl_clock_now(NULL),
                                           &taken, &copies, error);
    if (code != PAWL_OK)
        return code;
    *done = taken - copies;
    it->loop.left[0].count += count - taken;
    it->loop.left[1].count += copies;
    it->taken += taken;
    return code;
}

static pawl_code begin(void *context, pawl_error *error)
{
    taking *it = context;
    (void)error;
    if (is_move(it) && it->loop.total > 0)
        pawl__reader_warn(it->store, it->take.to, it->arena);
    if (it->loop.total > PAWL__BULK_PAGE || (it->fields->words.rate != 0 && it->loop.total > 1))
        fprintf(stderr, "pawl: if it is interrupted, the same command with %s goes on\n",
                it->resume);
    return PAWL_OK;
}

/* ---- The words ----------------------------------------------------------------- */

static void fill_words(taking *it)
{
    bool is_dead = it->take.action == PAWL_TAKE_DEAD_LETTER;
    it->loop     = (pawl__bulk_loop){
            .at       = &it->fields->at,
            .words    = &it->fields->words,
            .command  = it->fields->words.action,
            .question = is_move(it) ? "move"
                        : is_dead   ? "make dead letters of"
                                    : "discard",
            .noun     = "message",
            .done     = is_move(it) ? "moved"
                        : is_dead   ? "dead-lettered"
                                    : "discarded",
            .key      = is_move(it) ? "moved"
                        : is_dead   ? "dead_lettered"
                                    : "discarded",
            .first    = {.key = "queue", .text = it->fields->queue},
            .page     = next_matches,
            .settle   = take_some,
            .begin    = begin,
            .context  = it,
            .left     = {{"left", 0,
                  is_move(it) ? "was in flight, gone, or cannot be sent as it is"
                                      : "was in flight, or gone",
                  is_move(it) ? "were in flight, gone, or cannot be sent as they are"
                                      : "were in flight, or gone"},
                         {is_dead ? "copies" : NULL, 0,
                          "was a copy of a message with a record, and is deleted",
                          "were copies of messages with a record, and are deleted"}}};
}

static pawl_code work(taking *it, pawl_error *error)
{
    char place[PAWL_NAME_SIZE_MAX + 20], to[PAWL_NAME_SIZE_MAX + 20] = "";
    char resume[sizeof it->resume + 20], until[sizeof it->due_at + 10];
    fill_words(it);
    pawl_code code = count_all(it, error);
    snprintf(place, sizeof place, " of queue %s", it->fields->queue);
    if (is_move(it))
        snprintf(to, sizeof to, " to %s", it->fields->to);
    snprintf(it->resume, sizeof it->resume, "--last %" PRId64 "%s%s", it->query.seq_max,
             it->due_at[0] != '\0' ? " --due-at " : "", it->due_at);
    snprintf(resume, sizeof resume, "; %s goes on", it->resume);
    it->loop.place  = place;
    it->loop.to     = to;
    it->loop.ending = is_move(it) ? to : it->take.action == PAWL_TAKE_DISCARD ? ", for good" : "";
    it->loop.resume = resume;
    it->loop.dry    = (pawl__fact){.key = "left"};
    if (it->due_at[0] != '\0') {
        snprintf(until, sizeof until, ", as of %s", it->due_at);
        it->loop.until      = until;
        it->loop.time_limit = (pawl__fact){.key = "due_at", .text = it->due_at};
    }
    it->loop.last = (pawl__fact){.key = "last", .number = it->query.seq_max};
    return code == PAWL_OK ? pawl__bulk_loop_run(&it->loop, error) : code;
}

pawl_code pawl__queue_take(const void *context, pawl_store *store, pawl_arena *arena,
                           pawl_error *error)
{
    const pawl__queue_fields *fields   = context;
    bool                      is_purge = strcmp(fields->words.action, "purge") == 0;
    taking                    it       = {.fields = fields,
                                          .store  = store,
                                          .take   = {.action = !is_purge ? PAWL_TAKE_MOVE
                                                               : fields->is_discarding ? PAWL_TAKE_DISCARD
                                                                                       : PAWL_TAKE_DEAD_LETTER,
                                                     .queue  = pawl_text_of(fields->queue),
                                                     .to     = pawl_text_of(fields->to),
                                                     .by     = pawl__user(),
                                                     .reason = pawl_text_of(fields->words.reason)},
                                          .query  = {.queue    = pawl_text_of(fields->queue),
                                                     .type     = pawl_text_of(fields->type),
                                                     .seq_max  = fields->last,
                                                     .size_max = PAWL_CLAIM_SIZE_MAX}};
    pawl_queue_info           info;
    pawl_time                 now    = pawl_clock_now(NULL);
    pawl_time                 due_at = fields->due_at != 0 ? fields->due_at : now;
    if (fields->due != NULL)
        pawl_time_format(due_at, it.due_at);
    if (fields->due != NULL && strcmp(fields->due, "later") == 0)
        it.query.due_min = due_at + 1;
    else if (fields->due != NULL)
        it.query.due_max = due_at;
    pawl_code code = pawl__queue_info_find(store, fields->queue, now, arena, &info, error);
    if (code == PAWL_ENOTFOUND && fields->last != 0) { /* resumed, but all were taken before */
        *error = (pawl_error)PAWL_ERROR_INIT;
        code   = PAWL_OK;
    }
    if (code != PAWL_OK)
        return code;
    it.arena = pawl__must_create();
    code = fields->where.count > 0 ? pawl__find_read(&fields->where, &it.where, error) : PAWL_OK;
    if (code == PAWL_OK)
        code = work(&it, error);
    pawl__find_free(&it.where);
    pawl_arena_destroy(it.arena);
    return code;
}

pawl_code pawl__queue_take_check(const pawl__queue_fields *fields, pawl_error *error)
{
    if (fields->to != NULL && strlen(fields->to) > PAWL_NAME_SIZE_MAX)
        return pawl_error_set(error, PAWL_EINVAL,
                              "the name of the other queue has %zu bytes, limit %d",
                              strlen(fields->to), PAWL_NAME_SIZE_MAX);
    if (fields->to != NULL && strcmp(fields->queue, fields->to) == 0)
        return pawl_error_set(error, PAWL_EINVAL, "the messages of queue %s are in it already",
                              fields->queue);
    pawl__find_conditions where = {.count = 0};
    pawl_code             code  = PAWL_OK;
    if (fields->where.count > 0)
        code = pawl__find_read(&fields->where, &where, error);
    pawl__find_free(&where);
    return code;
}
