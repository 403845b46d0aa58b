/* alarm.c - raises and ends alarms of an endpoint in the store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/text.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <string.h>

#define PAUSE_MIN PAWL_SECONDS(2) /* between two raises of an alarm that comes and goes */
#define PAUSE_MAX PAWL_MINUTES(10)
#define TRY_PERIOD PAWL_SECONDS(1) /* between tries if the store cannot be written */

#define MORE_SIZE 32 /* "; and 3 more", with any number */
#define REASONS_SIZE (PAWL__ALARM_WHY_SIZE - MORE_SIZE)

void pawl__alarm_want(pawl__alarm *alarm, size_t subject, pawl_text why)
{
    if (alarm->is_wanted)
        return;
    alarm->is_wanted = true;
    alarm->is_longer = false;
    alarm->subject   = subject;
    if (snprintf(alarm->why, REASONS_SIZE, "%.*s", PAWL_TEXT_ARGS(why)) >= REASONS_SIZE)
        pawl__text_end_cut(alarm->why, REASONS_SIZE);
    alarm->reasons_size = strlen(alarm->why);
}

void pawl__alarm_add(pawl__alarm *alarm, pawl_text why)
{
    size_t room = REASONS_SIZE - alarm->reasons_size;
    if (why.size + 2 >= room)
        return;
    alarm->is_longer = true;
    alarm->reasons_size +=
        (size_t)snprintf(alarm->why + alarm->reasons_size, room, "; %.*s", PAWL_TEXT_ARGS(why));
}

void pawl__alarm_more(pawl__alarm *alarm, size_t count)
{
    char more[MORE_SIZE] = "";
    if (count > 0)
        (void)snprintf(more, sizeof more, "; and %zu more", count);
    alarm->is_longer |= strcmp(alarm->why + alarm->reasons_size, more) != 0;
    memcpy(alarm->why + alarm->reasons_size, more, sizeof more);
}

void pawl__alarm_unwant(pawl__alarm *alarm)
{
    alarm->is_wanted = false;
}

void pawl__alarm_forget(pawl__alarm *alarm, pawl_worker_id worker)
{
    if (pawl_uuid_compare(alarm->by.uuid, worker.uuid) == 0)
        alarm->is_raised = false;
}

void pawl__alarm_check_epoch(pawl__alarm *alarm, const pawl_store *store)
{
    if (alarm->epoch != pawl_store_epoch(store))
        pawl__alarm_forget(alarm, pawl_store_worker(store));
}

/* If the subject has changed, the old alarm is ended at once, and the new one is raised after the pause. */
pawl__alarm_act pawl__alarm_next(const pawl__alarm *alarm, int64_t now)
{
    bool is_other = alarm->is_raised && alarm->raised_subject != alarm->subject;
    if (!pawl__is_due(alarm->try_due, now, TRY_PERIOD))
        return PAWL__ALARM_NOTHING;
    bool is_true = alarm->is_wanted && alarm->is_raised && !is_other;
    if (is_true && !alarm->is_longer)
        return PAWL__ALARM_NOTHING;
    if (alarm->is_wanted && pawl__is_due(alarm->raised + alarm->pause, now, PAUSE_MAX))
        return PAWL__ALARM_RAISE;
    return alarm->is_raised && !is_true ? PAWL__ALARM_END : PAWL__ALARM_NOTHING;
}

pawl_alarm pawl__alarm_of(const pawl__alarm *alarm, pawl__alarm_act act, const pawl_store *store,
                          const pawl_endpoint *endpoint, pawl_text what)
{
    bool is_raise = act == PAWL__ALARM_RAISE;
    return (pawl_alarm){.worker   = is_raise ? pawl_store_worker(store) : alarm->by,
                        .epoch    = is_raise ? pawl_store_epoch(store) : alarm->epoch,
                        .endpoint = endpoint->model->endpoint,
                        .what     = what,
                        .text     = is_raise ? pawl_text_of(alarm->why) : PAWL_TEXT(""),
                        .since    = pawl__machine_now(endpoint)};
}

pawl_code pawl__alarm_write(pawl_store *store, const pawl_alarm *alarm, pawl__alarm_act act,
                            pawl_error *error)
{
    return act == PAWL__ALARM_RAISE ? pawl_store_alarm_raise(store, alarm, error)
                                    : pawl_store_alarm_end(store, alarm, error);
}

static void note_raised(pawl__alarm *alarm, const pawl_store *store, int64_t now)
{
    bool is_quiet =
        alarm->pause == 0 || now < alarm->raised || now - alarm->raised >= 2 * PAUSE_MAX;
    int64_t doubled       = 2 * alarm->pause < PAUSE_MAX ? 2 * alarm->pause : PAUSE_MAX;
    alarm->pause          = is_quiet ? PAUSE_MIN : doubled;
    alarm->raised         = now;
    alarm->by             = pawl_store_worker(store);
    alarm->epoch          = pawl_store_epoch(store);
    alarm->raised_subject = alarm->subject;
    alarm->is_longer      = false;
}

/* A store without events has no alarms: the write counts as done. */
void pawl__alarm_note(pawl__alarm *alarm, pawl__alarm_act act, const pawl_store *store,
                      pawl_code code, int64_t now)
{
    if (code != PAWL_OK && code != PAWL_EUNSUPPORTED) {
        alarm->try_due = now + TRY_PERIOD;
        return;
    }
    alarm->try_due   = 0;
    alarm->is_raised = act == PAWL__ALARM_RAISE;
    if (alarm->is_raised)
        note_raised(alarm, store, now);
}
