/* why_answer.c - the list of answers of `pawl why`, and the words that all of them use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/answers/why.h"
#include "cli/outbox/outbox.h"

#include "pawl/operations.h"
#include "pawl/store_queue.h"
#include "runtime/common/clock.h"
#include "store/core/action.h"

#include <string.h>

pawl_code pawl__why_add(pawl__why *why, const pawl__answer *answer)
{
    size_t     count = 0;
    pawl_text *run   = pawl__must_take(why->arena, sizeof answer->commands);
    why->answers =
        pawl__must_grow(why->arena, why->answers, why->count, &why->capacity, sizeof *why->answers);
    for (size_t i = 0; i < PAWL__WHY_REMEDIES_MAX; i++)
        if (answer->commands[i].size != 0)
            run[count++] = pawl__store_command(why->at, answer->commands[i], why->arena);
    pawl__answer *made = &why->answers[why->count++];
    *made              = *answer;
    made->run          = (pawl__text_list){.items = run, .count = count};
    made->place_text   = pawl_text_of(made->place);
    return PAWL_OK;
}

pawl_text pawl__why_command(const char *command, pawl_text word, pawl_arena *arena)
{
    return pawl__must_printf(arena, "%s %.*s", command,
                             PAWL_TEXT_ARGS(pawl__shell_word(word, arena)));
}

pawl_text pawl__why_book_options(const pawl__saga_book *book, pawl_arena *arena)
{
    pawl_text app = pawl__shell_word(pawl_text_of(book->app), arena);
    pawl_text own = pawl__shell_word(pawl_text_of(book->prefix), arena);
    return pawl__must_printf(arena, " --app %.*s%s%.*s", PAWL_TEXT_ARGS(app),
                             book->prefix != NULL ? " --saga-prefix " : "",
                             book->prefix != NULL ? (int)own.size : 0, own.data);
}

static bool worker_handles(const pawl_worker_info *worker, pawl_text type)
{
    const char *at = worker->types.data, *end = at + worker->types.size;
    for (; at != NULL && at + type.size + 2 <= end; at++)
        if (at[0] == '"' && at[type.size + 1] == '"' && memcmp(at + 1, type.data, type.size) == 0)
            return true;
    return false;
}

int64_t pawl__why_process_without(const pawl__why *why, pawl_text queue, pawl_text type)
{
    pawl_text endpoint = pawl__queue_reader(&why->subscriptions, queue);
    for (size_t i = 0; i < why->worker_count; i++)
        if (pawl_text_equal(why->workers[i].endpoint, endpoint) &&
            !worker_handles(&why->workers[i], type))
            return why->workers[i].pid;
    return 0;
}

pawl_code pawl__why_leader(pawl__why *why, const char *kind, pawl_text name, bool *is_led,
                           pawl_worker_id *leader)
{
    pawl_lead_row *leads = NULL;
    size_t         count = 0;
    pawl_text      lease = pawl__lease_name(kind, name, why->arena);
    pawl_code      code =
        pawl_store_lead_list(why->store, why->now, why->arena, &leads, &count, why->error);
    *is_led = false;
    for (size_t i = 0; code == PAWL_OK && i < count && !*is_led; i++) {
        *is_led = pawl_text_equal(leads[i].name, lease);
        *leader = leads[i].worker;
    }
    return code;
}

pawl_text pawl__why_worker(const pawl__why *why, const pawl_worker_info *worker)
{
    return pawl__must_printf(why->arena, "worker %s (pid %lld)",
                             pawl__uuid_text(worker->id.uuid, why->arena).data,
                             (long long)worker->pid);
}

pawl_text pawl__why_workers(const pawl__why *why, pawl_text name)
{
    pawl_text endpoint = pawl__queue_reader(&why->subscriptions, name);
    pawl_text all      = PAWL_TEXT("");
    size_t    count    = 0;
    for (size_t i = 0; i < why->worker_count; i++) {
        if (!pawl_text_equal(why->workers[i].endpoint, endpoint) || count++ >= 3)
            continue;
        all = pawl__must_join(why->arena, all, ", ", pawl__why_worker(why, &why->workers[i]));
    }
    if (count > 3)
        all = pawl__must_printf(why->arena, "%.*s and %zu more", PAWL_TEXT_ARGS(all), count - 3);
    return all;
}

pawl_text pawl__why_last(const pawl__why *why, pawl_text history, pawl_time *at)
{
    yyjson_doc *doc  = yyjson_read(history.data, history.size, YYJSON_READ_NOFLAG);
    yyjson_val *last = yyjson_arr_get_last(yyjson_doc_get_root(doc));
    const char *code = yyjson_get_str(yyjson_obj_get(last, "code"));
    const char *text = yyjson_get_str(yyjson_obj_get(last, "error"));
    const char *time = yyjson_get_str(yyjson_obj_get(last, "at"));
    pawl_text   made = PAWL_TEXT("");
    if (code != NULL)
        made = pawl__must_printf(why->arena, "%s: %s", code, text != NULL ? text : "");
    if (time != NULL)
        (void)pawl_time_parse(pawl_text_of(time), at, NULL);
    yyjson_doc_free(doc);
    return made;
}

pawl_code pawl__why_pause(pawl__why *why, pawl_text queue, pawl__answer *answer, bool *is_paused)
{
    pawl_queue_pause pause;
    pawl_code code = pawl_store_queue_pause_find(why->store, queue, why->arena, &pause, why->error);
    *is_paused     = code == PAWL_OK && pause.is_paused;
    if (!*is_paused)
        return code;
    answer->waits_for =
        pawl__must_printf(why->arena, "%.*s; queue %.*s is paused since %s, by %.*s%s%.*s",
                          PAWL_TEXT_ARGS(answer->waits_for), PAWL_TEXT_ARGS(queue),
                          pawl__time_text(pause.since, why->arena).data, PAWL_TEXT_ARGS(pause.by),
                          pause.reason.size != 0 ? ": " : "", PAWL_TEXT_ARGS(pause.reason));
    answer->next        = PAWL_TEXT("nothing, until the queue is resumed");
    answer->commands[0] = pawl__why_command("pawl queue resume", queue, why->arena);
    return PAWL_OK;
}

/* The command that shows the alarms of the endpoint, which are events. */
static pawl_text alarm_events(const pawl__why *why, pawl_text endpoint)
{
    pawl_text stream =
        pawl__must_printf(why->arena, PAWL_ALARM_STREAMS "/%.*s", PAWL_TEXT_ARGS(endpoint));
    return pawl__why_command("pawl events show", stream, why->arena);
}

pawl_code pawl__why_breaker(pawl__why *why, pawl_text queue, pawl__answer *answer, bool *is_open)
{
    const pawl_alarm *found    = NULL;
    pawl_text         endpoint = pawl__queue_reader(&why->subscriptions, queue);
    pawl_code         code =
        pawl__alarm_find(why->store, endpoint, "breaker", why->arena, &found, why->error);
    *is_open = found != NULL;
    if (found == NULL)
        return code;
    answer->waits_for = pawl__must_printf(
        why->arena, "%.*s; the breaker of endpoint %.*s is open since %s: %.*s",
        PAWL_TEXT_ARGS(answer->waits_for), PAWL_TEXT_ARGS(endpoint),
        pawl__time_text(found->since, why->arena).data, PAWL_TEXT_ARGS(found->text));
    answer->next = PAWL_TEXT(
        "the endpoint probes by itself, one message at a time, and goes on when that succeeds");
    answer->commands[0] = alarm_events(why, endpoint);
    return PAWL_OK;
}

pawl_code pawl__why_route(pawl__why *why, const pawl_outbox_row *row, pawl__answer *answer)
{
    const pawl_alarm *found = NULL;
    pawl_code         code  = pawl__outbox_alarm(why->store, row, why->arena, &found, why->error);
    if (found == NULL)
        return code;
    answer->waits_for = pawl__must_printf(
        why->arena, "its receiver, which is unavailable since %s: %.*s",
        pawl__time_text(found->since, why->arena).data, PAWL_TEXT_ARGS(found->text));
    answer->next =
        PAWL_TEXT("the outbox tries the receiver by itself, and again within half a minute");
    answer->commands[1] = alarm_events(why, row->endpoint);
    return code;
}
