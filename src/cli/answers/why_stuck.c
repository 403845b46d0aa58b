/* why_stuck.c - an id that is the name of a projection, of a partition of an aggregator, or of a queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/why.h"
#include "cli/queue/queue.h"

#include <inttypes.h>

/* ---- Projections -------------------------------------------------------- */

static void say_failing(const pawl__why *why, const pawl_projection_row *row, pawl__answer *answer)
{
    char                           span[PAWL__SPAN_SIZE];
    const pawl_projection_failure *failure = &row->failure;
    answer->waits_for                      = pawl__must_printf(
                             why->arena, "event %" PRId64 ", %.*s of stream %.*s, which it fails at: %" PRId64 " behind",
                             failure->position, PAWL_TEXT_ARGS(failure->type), PAWL_TEXT_ARGS(failure->stream),
                             row->lag);
    answer->since = failure->since;
    answer->error = pawl__must_printf(why->arena, "%.*s: %.*s", PAWL_TEXT_ARGS(failure->code),
                                      PAWL_TEXT_ARGS(failure->error));
    if (answer->claimed_by.size != 0)
        answer->next = pawl__must_printf(why->arena, "tried again %s",
                                         pawl__age_text(failure->next, why->now, span));
    answer->commands[1] = pawl__why_command("pawl projection restart", row->name, why->arena);
}

static pawl_code add_projection(pawl__why *why, const pawl_projection_row *row)
{
    char         id[PAWL_UUID_TEXT_SIZE + 1];
    bool         is_read = !pawl_uuid_is_zero(row->worker.uuid);
    pawl__answer answer  = {
         .place     = "projection",
         .name      = pawl__must_printf(why->arena, "%.*s, at global position %" PRId64,
                                        PAWL_TEXT_ARGS(row->name), row->position),
         .waits_for = row->lag > 0
                          ? pawl__must_printf(why->arena, "its worker: %" PRId64 " behind", row->lag)
                          : PAWL_TEXT("the next event"),
    };
    pawl_uuid_format(row->worker.uuid, id);
    if (is_read)
        answer.claimed_by = pawl__must_printf(why->arena, "worker %s, which reads", id);
    answer.next        = is_read ? PAWL_TEXT("its worker reads on")
                                 : PAWL_TEXT("nothing, until a worker that runs it is alive");
    answer.commands[0] = pawl__why_command("pawl projection show", row->name, why->arena);
    if (row->failure.position != 0)
        say_failing(why, row, &answer);
    if (!is_read)
        answer.claimed_by = PAWL_TEXT("nobody");
    return pawl__why_add(why, &answer);
}

pawl_code pawl__why_projection(pawl__why *why)
{
    pawl_projection_rows rows = {.count = 0};
    pawl_code            code =
        pawl_store_projection_list(why->store, why->now, why->arena, &rows, why->error);
    for (size_t i = 0; code == PAWL_OK && i < rows.count; i++)
        if (pawl_text_equal(rows.items[i].name, why->word))
            code = add_projection(why, &rows.items[i]);
    return code == PAWL_EUNSUPPORTED ? PAWL_OK : code;
}

/* ---- Partitions --------------------------------------------------------- */

static pawl_code add_partition(pawl__why *why, const pawl_partition_row *row)
{
    char         span[PAWL__SPAN_SIZE];
    pawl__answer answer = {
        .place      = "partition",
        .name       = pawl__must_printf(why->arena, "%.*s, %" PRId64 " message%s",
                                        PAWL_TEXT_ARGS(row->partition), row->count,
                                  row->count == 1 ? "" : "s"),
        .waits_for  = PAWL_TEXT("more messages, or its time"),
        .since      = row->oldest,
        .error      = row->error,
        .claimed_by = PAWL_TEXT("nobody, or the worker that hands it over"),
        .next       = PAWL_TEXT("handed over when it is full"),
    };
    if (row->is_dead) {
        answer.waits_for =
            pawl__must_printf(why->arena, "somebody who runs it now: it is dead after %d flush%s",
                              (int)row->attempts, row->attempts == 1 ? "" : "es");
        answer.claimed_by = PAWL_TEXT("nobody");
        answer.next       = PAWL_TEXT("nothing");
    } else if (row->due != PAWL_TIME_MAX)
        answer.next = pawl__must_printf(why->arena, "handed over %s at the latest",
                                        pawl__age_text(row->due, why->now, span));
    answer.commands[0] = pawl__why_command("pawl aggregator show", row->partition, why->arena);
    answer.commands[1] = pawl__why_command("pawl aggregator run-now", row->partition, why->arena);
    return pawl__why_add(why, &answer);
}

pawl_code pawl__why_partition(pawl__why *why)
{
    pawl_partition_row row;
    pawl_error         none = PAWL_ERROR_INIT;
    if (why->word.size == 0 || why->word.size > PAWL_PARTITION_SIZE_MAX)
        return PAWL_OK;
    pawl_code code = pawl_store_partition_find(why->store, why->word, why->arena, &row, &none);
    if (code == PAWL_ENOTFOUND || code == PAWL_EUNSUPPORTED)
        return PAWL_OK;
    return code == PAWL_OK ? add_partition(why, &row)
                           : pawl_error_set(why->error, code, "%s", none.text);
}

/* ---- Queues ------------------------------------------------------------- */

#define KEYS_SAID 3

/* The keys of an ordered queue that are held back, those for which most messages wait by name. */
static pawl_code say_keys(const pawl__why *why, const pawl_queue_info *info, pawl__answer *answer)
{
    pawl__held  held;
    pawl_arena *arena = why->arena;
    pawl_code   code = pawl__held_read(why->store, info->queue, why->now, arena, &held, why->error);
    for (size_t i = 0; code == PAWL_OK && i < held.count && i < KEYS_SAID; i++) {
        const pawl__held_key *key = &held.items[i];
        char                  since[PAWL__SPAN_SIZE];
        pawl_text             whose =
            key->is_there ? pawl__must_printf(arena, "message %.*s", PAWL_TEXT_ARGS(key->holder))
                                      : PAWL_TEXT("a message that is gone");
        answer->waits_for = pawl__must_printf(
            arena, "%.*s; %.*s blocks its key%s%s: %.*s", PAWL_TEXT_ARGS(answer->waits_for),
            PAWL_TEXT_ARGS(whose), key->since != 0 ? " since " : "",
            key->since != 0 ? pawl__age_text(key->since, why->now, since) : "",
            PAWL_TEXT_ARGS(pawl__held_words(&held, key, arena)));
        if (i == 0 && key->is_there)
            answer->commands[3] = pawl__why_command("pawl why", key->holder, arena);
    }
    if (code == PAWL_OK && held.count > KEYS_SAID)
        answer->waits_for =
            pawl__must_printf(arena, "%.*s; and %s%zu more key%s",
                              PAWL_TEXT_ARGS(answer->waits_for), held.is_cut ? "at least " : "",
                              held.count - KEYS_SAID, held.count == KEYS_SAID + 1 ? "" : "s");
    return code;
}

static pawl_code add_queue(pawl__why *why, const pawl_queue_info *info)
{
    char         ready[PAWL__SPAN_SIZE], scheduled[PAWL__SPAN_SIZE];
    bool         is_paused = false;
    pawl_text    workers   = pawl__why_workers(why, info->queue);
    pawl__answer answer    = {
           .place     = "queue",
           .name      = pawl__must_printf(why->arena, "%.*s, %s due, %s scheduled",
                                          PAWL_TEXT_ARGS(info->queue), pawl__rows_text(info->ready, ready),
                                          pawl__rows_text(info->scheduled, scheduled)),
           .waits_for = info->ready + info->scheduled == 0 ? PAWL_TEXT("messages")
                        : info->workers == 0               ? PAWL_TEXT("a worker that reads it")
                        : info->ready > 0                  ? PAWL_TEXT("its workers")
                                                           : PAWL_TEXT("the time of its messages"),
           .since     = info->oldest,
           .claimed_by =
            workers.size != 0
                   ? pawl__must_printf(why->arena, "%.*s; one of each process is its service",
                                       PAWL_TEXT_ARGS(workers))
                   : PAWL_TEXT("nobody"),
           .next = pawl__queue_next(info, why->arena),
    };
    if (info->workers == 0)
        answer.commands[0] = PAWL_TEXT("pawl run APP.so");
    answer.commands[1] = pawl__why_command("pawl queue show", info->queue, why->arena);
    answer.commands[2] = pawl__why_command("pawl queue peek", info->queue, why->arena);
    pawl_code code     = info->scheduled > 0 ? say_keys(why, info, &answer) : PAWL_OK;
    if (code == PAWL_OK)
        code = pawl__why_pause(why, info->queue, &answer, &is_paused);
    return code == PAWL_OK ? pawl__why_add(why, &answer) : code;
}

pawl_code pawl__why_whole_queue(pawl__why *why)
{
    pawl_queue_infos infos = {.count = 0};
    pawl_code code = pawl_store_queue_infos(why->store, why->now, why->arena, &infos, why->error);
    for (size_t i = 0; code == PAWL_OK && i < infos.count; i++)
        if (pawl_text_equal(infos.items[i].queue, why->word))
            code = add_queue(why, &infos.items[i]);
    return code;
}
