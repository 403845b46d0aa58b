/* op_alarm.c - alarms of endpoints' processes, as events in a stream of the endpoint.
 *
 * The last event of a worker and kind says whether its alarm is active. An alarm also ends when its worker is gone, has
 * another epoch, or has lost its lease to another leader; nobody has to write an event for that.
 *
 *     pawl.alarm/billing   1 raised (a, breaker)   2 raised (b, breaker)   3 ended (a, breaker) <- b's is active
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/action.h"

#include "pawl/store_alarm.h"
#include "pawl/store_calls.h"

#define TRIES_MAX 5
#define PAGE 64 /* events that are read at once */

/* ---- Writing -------------------------------------------------------------- */

/* NULL: out of memory. */
static yyjson_mut_doc *headers_of(const pawl_alarm *alarm)
{
    yyjson_mut_doc *doc = pawl__texts_begin();
    return pawl__texts_kept(
        doc, doc != NULL && pawl__texts_put(doc, "what", alarm->what) &&
                 (alarm->epoch == 0 || pawl__texts_put_number(doc, "epoch", alarm->epoch)) &&
                 (alarm->lease.size == 0 || pawl__texts_put(doc, "lease", alarm->lease)));
}

static pawl_code write_alarm(pawl_store *store, const pawl_alarm *alarm, const char *type,
                             pawl_error *error)
{
    char id[PAWL_UUID_TEXT_SIZE + 1];
    pawl_uuid_format(alarm->worker.uuid, id);
    const pawl__action action = {PAWL_ALARM_STREAMS, "alarm of endpoint", alarm->endpoint, type,
                                 pawl_text_of(id),   alarm->text};
    pawl__act          act;
    pawl_code          code = pawl__act_begin(&act, store, &action, alarm->since, error);
    if (code == PAWL_OK)
        code = PAWL_ECONFLICT;
    for (int tries = 0; tries < TRIES_MAX && code == PAWL_ECONFLICT; tries++)
        code = pawl__act_commit(&act, headers_of(alarm), error);
    pawl_arena_destroy(act.arena);
    return code;
}

pawl_code pawl_store_alarm_raise(pawl_store *store, const pawl_alarm *alarm, pawl_error *error)
{
    return write_alarm(store, alarm, PAWL_ALARM_RAISED, error);
}

pawl_code pawl_store_alarm_end(pawl_store *store, const pawl_alarm *alarm, pawl_error *error)
{
    return write_alarm(store, alarm, PAWL_ALARM_ENDED, error);
}

/* ---- Reading -------------------------------------------------------------- */

typedef struct seen {
    const pawl_worker_info *workers;
    size_t                  worker_count;
    pawl_arena             *arena;
    pawl_alarm_rows         told; /* the last event of each worker and kind, ended ones too */
    size_t                  capacity, told_from; /* of the endpoint at hand */
} seen;

static bool lives(const seen *it, const pawl_alarm *alarm)
{
    for (size_t i = 0; i < it->worker_count; i++)
        if (pawl_uuid_compare(it->workers[i].id.uuid, alarm->worker.uuid) == 0)
            return alarm->epoch == 0 || alarm->epoch == it->workers[i].epoch;
    return false;
}

static bool is_already_listed(const seen *it, const pawl_alarm *alarm)
{
    for (size_t i = it->told_from; i < it->told.count; i++)
        if (pawl_uuid_compare(it->told.items[i].worker.uuid, alarm->worker.uuid) == 0 &&
            pawl_text_equal(it->told.items[i].what, alarm->what))
            return true;
    return false;
}

/* An ended one is kept with `since` 0, for the events before it. Headers that another program wrote are
 * passed over. */
static pawl_code take_event(seen *it, pawl_text endpoint, const pawl_event *event,
                            pawl_error *error)
{
    yyjson_doc *doc   = pawl__texts_read(event->headers);
    yyjson_val *root  = yyjson_doc_get_root(doc);
    bool        is_up = pawl_text_equal(event->type, PAWL_TEXT(PAWL_ALARM_RAISED));
    pawl_text   by    = pawl__texts_text(root, "by", it->arena);
    pawl_alarm  alarm = {.endpoint = endpoint,
                         .what     = pawl__texts_text(root, "what", it->arena),
                         .text     = pawl__texts_text(root, "reason", it->arena),
                         .epoch    = yyjson_get_sint(yyjson_obj_get(root, "epoch")),
                         .lease    = pawl__texts_text(root, "lease", it->arena),
                         .since    = is_up ? event->at : 0};
    yyjson_doc_free(doc);
    if (by.data == NULL || alarm.what.data == NULL ||
        pawl_uuid_parse(by, &alarm.worker.uuid, NULL) != PAWL_OK || is_already_listed(it, &alarm) ||
        !lives(it, &alarm))
        return PAWL_OK;
    pawl_alarm *grown =
        pawl_arena_grow(it->arena, it->told.items, it->told.count, &it->capacity, sizeof *grown);
    if (grown == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "out of memory for alarms");
    it->told.items                   = grown;
    it->told.items[it->told.count++] = alarm;
    return PAWL_OK;
}

/* No living worker of the endpoint raised an alarm before this time; allows for small differences of clocks. */
static pawl_time first_start(const seen *it, pawl_text endpoint)
{
    pawl_time first = PAWL_TIME_MAX;
    for (size_t i = 0; i < it->worker_count; i++)
        if (pawl_text_equal(it->workers[i].endpoint, endpoint) && it->workers[i].started < first)
            first = it->workers[i].started;
    return pawl_time_add(first, -PAWL_MINUTES(10));
}

static pawl_code read_endpoint(pawl_store *store, seen *it, pawl_text endpoint, pawl_error *error)
{
    pawl_event_query last  = {.is_backward = true, .count_max = PAGE};
    pawl_event_rows  rows  = {.count = PAGE};
    pawl_time        first = first_start(it, endpoint);
    pawl_code        code  = PAWL_OK;
    it->told_from          = it->told.count;
    for (size_t read = 0; code == PAWL_OK && rows.count == PAGE && read < PAWL_ALARM_EVENTS_MAX;
         read += PAGE) {
        code =
            pawl__action_query(store, PAWL_ALARM_STREAMS, endpoint, last, it->arena, &rows, error);
        for (size_t i = 0; i < rows.count && code == PAWL_OK; i++) {
            const pawl_event *event = &rows.items[i].event;
            if (event->at < first)
                return PAWL_OK;
            last.after = rows.items[i].version;
            code       = take_event(it, endpoint, event, error);
        }
    }
    return code;
}

static bool is_first_of_endpoint(const seen *it, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (pawl_text_equal(it->workers[i].endpoint, it->workers[at].endpoint))
            return false;
    return it->workers[at].endpoint.size > 0;
}

/* Has another worker the lease? An expired lease that no worker has taken still belongs to the last one. */
static bool has_other_leader(const pawl_alarm *alarm, const pawl_lead_row *leads, size_t count)
{
    const pawl_lead_row *lead = alarm->lease.size > 0
                                    ? PAWL__ROW_OF(pawl_lead_row, name, leads, count, alarm->lease)
                                    : NULL;
    return lead != NULL && pawl_uuid_compare(lead->worker.uuid, alarm->worker.uuid) != 0;
}

/* Removes ended alarms, and alarms of workers that are no longer the leader. */
static pawl_code remove_ended(pawl_store *store, seen *it, pawl_alarm_rows *rows, pawl_error *error)
{
    pawl_lead_row *leads    = NULL;
    size_t         count    = 0;
    bool           is_bound = false;
    for (size_t i = 0; i < it->told.count; i++)
        is_bound |= it->told.items[i].since != 0 && it->told.items[i].lease.size > 0;
    pawl_code code =
        is_bound ? pawl_store_lead_list(store, 0, it->arena, &leads, &count, error) : PAWL_OK;
    if (code != PAWL_OK && code != PAWL_EUNSUPPORTED)
        return code;
    for (size_t i = 0; i < it->told.count; i++)
        if (it->told.items[i].since != 0 && !has_other_leader(&it->told.items[i], leads, count))
            it->told.items[rows->count++] = it->told.items[i];
    rows->items = it->told.items;
    return PAWL_OK;
}

pawl_code pawl_store_alarms(pawl_store *store, pawl_arena *arena, pawl_alarm_rows *rows,
                            pawl_error *error)
{
    pawl_worker_info *workers = NULL;
    seen              it      = {.arena = arena};
    *rows                     = (pawl_alarm_rows){.count = 0};
    pawl_code code = pawl_store_worker_list(store, arena, &workers, &it.worker_count, error);
    it.workers     = workers;
    for (size_t i = 0; i < it.worker_count && code == PAWL_OK; i++)
        if (is_first_of_endpoint(&it, i))
            code = read_endpoint(store, &it, workers[i].endpoint, error);
    return code == PAWL_OK ? remove_ended(store, &it, rows, error) : code;
}
