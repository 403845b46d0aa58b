/* ordered.c - lease, take-over and checks of the leader of an ordered queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/ordered/ordered.h"

/* The lease is free at once if the holder died and the store notices that. If the holder hangs, it lasts this long plus
 * twice its longest recent step. */
#define LEASE PAWL_SECONDS(60)
#define LEASE_MAX PAWL_HOURS(1)
#define RENEWAL PAWL_SECONDS(20)
#define TRIAL PAWL_SECONDS(3)     /* between tries of a worker that does not lead */
#define GIVE_WAY PAWL_SECONDS(10) /* to a worker of another program version */
#define TAKE_OVERS_MAX 5
#define PAGE_COUNT 128 /* rows are read with their bodies */

static bool is_ordered(const pawl__worker *worker)
{
    return worker->ordered != NULL;
}

/* ---- Life ------------------------------------------------------------------------ */

pawl_code pawl__ordered_create(pawl__worker *worker, pawl_error *error)
{
    const pawl__model *model = worker->endpoint->model;
    pawl__order_key    key;
    (void)pawl__order_read(worker->endpoint->settings.ordered, &key); /* checked before */
    if (key.kind == PAWL__ORDER_NONE)
        return PAWL_OK;
    struct pawl__ordered *made = pawl_allocate(sizeof *made);
    worker->ordered            = made;
    if (made != NULL) {
        made->order.key = key;
        made->name      = pawl__lease_name("ordered", model->queue, model->arena);
        made->ask_due   = PAWL_TIME_MIN;
    }
    if (made == NULL || made->name.data == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for a worker of an ordered queue");
    worker->engine.order = &made->order;
    return PAWL_OK;
}

void pawl__ordered_destroy(pawl__worker *worker)
{
    if (!is_ordered(worker))
        return;
    pawl__ordered_forget(worker);
    pawl__order_end(&worker->ordered->order);
    pawl_free(worker->ordered);
    worker->ordered = NULL;
}

/* ---- The fencing number ------------------------------------------------------------ */

void pawl__ordered_fence(pawl__worker *worker, pawl_changes *changes)
{
    struct pawl__ordered *it = worker->ordered;
    if (!is_ordered(worker) || !it->is_leader)
        return;
    it->raise = (pawl_checkpoint_set){
        .name = it->name, .from = it->number, .to = it->number + 1, .at = changes->now};
    changes->checkpoint_set.items = &it->raise;
    changes->checkpoint_set.count = 1;
}

/* The batch is one group: if anything is refused, the number was not raised. */
pawl_code pawl__ordered_settled(pawl__worker *worker, const pawl_refusals *refused,
                                pawl_error *error)
{
    struct pawl__ordered *it = worker->ordered;
    if (!is_ordered(worker) || worker->batch->changes.checkpoint_set.items != &it->raise)
        return PAWL_OK;
    if (pawl__refused_checkpoint(refused))
        return pawl_error_set(error, PAWL_EFENCED,
                              "another worker has taken the ordered queue %.*s over",
                              PAWL_TEXT_ARGS(worker->endpoint->model->queue));
    for (size_t i = 0; i < refused->count; i++)
        if (refused->items[i].group == it->raise.group)
            return PAWL_OK;
    it->number = it->raise.to;
    pawl__order_take(worker->batch);
    return PAWL_OK;
}

static pawl_code raise_number(pawl__worker *worker, bool *is_raised, pawl_error *error)
{
    struct pawl__ordered *it   = worker->ordered;
    pawl_code             code = PAWL_OK;
    *is_raised                 = false;
    for (int i = 0; i < TAKE_OVERS_MAX && code == PAWL_OK && !*is_raised; i++) {
        pawl_refusals       refused = {.arena = worker->read};
        pawl_checkpoint_set raise   = {.name = it->name, .at = pawl__machine_now(worker->endpoint)};
        pawl_changes        changes = {PAWL__ONE_UNIT(raise.at), .checkpoint_set = {&raise, 1}};
        code     = pawl_store_checkpoint_get(worker->store, it->name, &raise.from, error);
        raise.to = raise.from + 1;
        if (code == PAWL_OK)
            code = pawl_store_commit(worker->store, &changes, &refused, error);
        *is_raised = code == PAWL_OK && refused.count == 0;
        it->number = raise.to;
    }
    return code;
}

/* ---- Take-over -------------------------------------------------------------------- */

static bool was_put_off(const pawl_queue_row *row)
{
    return row->due != row->placed || row->attempts > 0 || row->waiting_since != 0;
}

static pawl_code note_page(pawl__worker *worker, const pawl_queue_messages *page)
{
    pawl_code code = PAWL_OK;
    pawl__batch_reset(worker->batch);
    for (size_t i = 0; i < page->count && code == PAWL_OK; i++)
        if (was_put_off(&page->items[i].row))
            code = pawl__order_note(worker->batch, &page->items[i].row);
    return code;
}

/* Renews the lease while the queue is read: a long queue takes longer than the lease lasts, and another worker that
 * took over would begin again. */
static pawl_code keep_lease(pawl__worker *worker, int64_t *begin, pawl_error *error)
{
    struct pawl__ordered *it      = worker->ordered;
    bool                  is_ours = true;
    int64_t               now     = pawl__lease_clock(worker->endpoint);
    if (now - *begin < RENEWAL)
        return PAWL_OK;
    *begin         = now;
    pawl_code code = pawl_store_lead(worker->store, it->name, pawl__machine_now(worker->endpoint),
                                     LEASE, &is_ours, error);
    it->is_leader &= is_ours;
    if (code == PAWL_OK && is_ours)
        atomic_store(&worker->endpoint->ordered_end, pawl_time_add(now, LEASE));
    return code;
}

/* Reads the deferred messages. Nobody defers any meanwhile, as commits with the old number are refused. */
static pawl_code read_queue(pawl__worker *worker, pawl_error *error)
{
    int64_t             begin = pawl__lease_clock(worker->endpoint);
    pawl_queue_query    query = {.queue = worker->endpoint->model->queue, .count_max = PAGE_COUNT};
    pawl_queue_messages page  = {.count = PAGE_COUNT};
    pawl_queue_row      after;
    pawl_code           code = PAWL_OK;
    if (!pawl__order_begin(&worker->ordered->order))
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for the buckets of a queue");
    while (code == PAWL_OK && page.count == PAGE_COUNT && worker->ordered->is_leader) {
        pawl_arena_point point = pawl_arena_position(worker->read);
        code = pawl_store_queue_find(worker->store, &query, worker->read, &page, error);
        if (code == PAWL_OK && note_page(worker, &page) != PAWL_OK)
            code = pawl_error_set(error, PAWL_ENOMEM, "no memory for keys of messages");
        if (code == PAWL_OK && page.count > 0)
            after = (pawl_queue_row){.due = page.items[page.count - 1].row.due,
                                     .seq = page.items[page.count - 1].row.seq};
        query.after = &after;
        pawl_arena_rewind(worker->read, point);
        if (code == PAWL_OK)
            code = keep_lease(worker, &begin, error);
    }
    pawl__batch_reset(worker->batch);
    return code;
}

static pawl_code take_over(pawl__worker *worker, pawl_error *error)
{
    pawl_code code = raise_number(worker, &worker->ordered->is_leader, error);
    if (code == PAWL_OK && worker->ordered->is_leader)
        code = read_queue(worker, error);
    if (code != PAWL_OK)
        worker->ordered->is_leader = false;
    else if (worker->ordered->is_leader)
        pawl_log(PAWL_LOG_INFO, "endpoint %s: this worker leads the ordered queue %.*s",
                 worker->endpoint->model->endpoint.data,
                 PAWL_TEXT_ARGS(worker->endpoint->model->queue));
    return code;
}

/* ---- The lease -------------------------------------------------------------------- */

/* Length of the lease. It outlasts the longest recent step: otherwise a worker with a slow handler would lose the lease
 * during each run, and never commit. */
static int64_t lease_of(const struct pawl__ordered *it)
{
    int64_t lease = pawl_time_add(LEASE, 2 * it->longest);
    return lease < LEASE_MAX ? lease : LEASE_MAX;
}

static void note_step(pawl__worker *worker)
{
    struct pawl__ordered *it   = worker->ordered;
    int64_t               now  = pawl__lease_clock(worker->endpoint);
    int64_t               more = it->begin != 0 ? now - it->begin - it->longest : 0;
    it->longest += more > 0 ? more : more / 8;
}

static void resign(pawl__worker *worker)
{
    if (!worker->ordered->is_leader)
        return;
    worker->ordered->is_leader = false;
    atomic_store(&worker->endpoint->ordered_end, 0);
}

static pawl_code ask(pawl__worker *worker, pawl_error *error)
{
    struct pawl__ordered *it      = worker->ordered;
    pawl_time             now     = pawl__machine_now(worker->endpoint);
    bool                  is_ours = false;
    int64_t               lease   = lease_of(it);
    int64_t               begin   = pawl__lease_clock(worker->endpoint);
    pawl_code code = pawl_store_lead(worker->store, it->name, now, lease, &is_ours, error);
    it->ask_due    = pawl_time_add(now, is_ours ? RENEWAL : TRIAL);
    if (code != PAWL_OK || !is_ours) {
        resign(worker);
        return code;
    }
    /* Published before a take-over, which may take long, so that no other thread of this process begins one, too. */
    atomic_store(&worker->endpoint->ordered_end, pawl_time_add(begin, lease));
    if (!it->is_leader)
        code = take_over(worker, error);
    if (!it->is_leader)
        atomic_store(&worker->endpoint->ordered_end, 0);
    return code;
}

/* Does another thread of this process lead? */
static bool is_siblings(const pawl__worker *worker)
{
    return !worker->ordered->is_leader &&
           pawl__lease_clock(worker->endpoint) < atomic_load(&worker->endpoint->ordered_end);
}

pawl_code pawl__ordered_lead(pawl__worker *worker, bool *leads, pawl_error *error)
{
    struct pawl__ordered *it   = worker->ordered;
    pawl_code             code = PAWL_OK;
    *leads                     = true;
    if (!is_ordered(worker))
        return PAWL_OK;
    pawl_time now = pawl__machine_now(worker->endpoint);
    if (pawl__is_due(it->ask_due, now, RENEWAL) && !is_siblings(worker))
        code = ask(worker, error);
    it->order.absent_count = it->order.absent_capacity = 0;
    it->order.absent                                   = NULL;
    it->order.is_stuck                                 = false;
    it->begin                                          = pawl__lease_clock(worker->endpoint);
    *leads                                             = code == PAWL_OK && it->is_leader;
    return code;
}

void pawl__ordered_forget(pawl__worker *worker)
{
    if (!is_ordered(worker))
        return;
    note_step(worker);
    resign(worker);
    worker->ordered->ask_due = PAWL_TIME_MIN;
    worker->ordered->begin   = 0;
}

pawl_code pawl__ordered_give_way(pawl__worker *worker, pawl_error *error)
{
    struct pawl__ordered *it = worker->ordered;
    if (!is_ordered(worker) || !it->is_leader)
        return PAWL_OK;
    /* A step that waits for another worker's message is short, and says nothing about handlers. */
    if (!pawl__ordered_is_stuck(worker))
        note_step(worker);
    it->begin = 0;
    if (!worker->batch->has_unit_of_other)
        return PAWL_OK;
    resign(worker);
    it->ask_due = pawl_time_add(pawl__machine_now(worker->endpoint), GIVE_WAY);
    return pawl_store_unlead(worker->store, it->name, error);
}

int64_t pawl__ordered_wait(const pawl__worker *worker)
{
    if (!is_ordered(worker))
        return INT64_MAX;
    int64_t wait = worker->ordered->ask_due - pawl__machine_now(worker->endpoint);
    return wait > 0 ? wait : 0;
}

bool pawl__ordered_is_standby(const pawl__worker *worker)
{
    return is_ordered(worker) && !worker->ordered->is_leader;
}

/* ---- Messages in flight in another worker -------------------------------------------- */

bool pawl__ordered_has(const pawl_queue_rows *rows, int64_t seq)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].seq == seq)
            return true;
    return false;
}

static bool is_behind(const pawl_queue_row *row, const pawl_queue_row *last)
{
    return row->due > last->due || (row->due == last->due && row->seq > last->seq);
}

/* Reads the queue up to the last claimed message, to find those that are missing in the claim. */
static pawl_code read_absent(pawl__worker *worker, const pawl_queue_rows *rows, pawl_error *error)
{
    const pawl_queue_row *last  = &rows->items[rows->count - 1];
    pawl_queue_query      query = {.queue     = worker->endpoint->model->queue,
                                   .due_max   = last->due,
                                   .count_max = rows->count + PAGE_COUNT};
    pawl_queue_messages   page  = {.count = query.count_max};
    pawl_queue_row        after;
    bool                  is_over = false;
    pawl_code             code    = PAWL_OK;
    while (code == PAWL_OK && !is_over && page.count == query.count_max) {
        code = pawl_store_queue_find(worker->store, &query, worker->read, &page, error);
        for (size_t i = 0; i < page.count && code == PAWL_OK && !is_over; i++) {
            const pawl_queue_row *row = &page.items[i].row;
            is_over                   = is_behind(row, last);
            if (!is_over && !pawl__ordered_has(rows, row->seq) &&
                pawl__order_note_absent(worker->batch, row, worker->read) != PAWL_OK)
                code = pawl_error_set(error, PAWL_ENOMEM, "no memory for keys of messages");
        }
        if (code == PAWL_OK && page.count > 0)
            after = page.items[page.count - 1].row;
        query.after = &after;
    }
    return code;
}

/* Place of the oldest message outside of the claim that is due by `due_max`. */
static pawl_code find_outside(pawl__worker *worker, pawl_time due_max, const int64_t *except,
                              size_t count, pawl__place *found, pawl_error *error)
{
    *found = (pawl__place){PAWL_TIME_MAX, INT64_MAX};
    return pawl_store_queue_oldest(worker->store, worker->endpoint->model->queue, due_max, except,
                                   count, &found->placed, &found->seq, error);
}

/* Place of the youngest message of the claim. */
static pawl__place newest_of(const pawl_queue_rows *rows)
{
    pawl__place newest = {PAWL_TIME_MIN, 0};
    for (size_t i = 0; i < rows->count; i++)
        if (pawl__place_is_older(newest, pawl__place_of(&rows->items[i])))
            newest = pawl__place_of(&rows->items[i]);
    return newest;
}

/* A claim has all messages that are due up to its last one, except those in flight in another worker and those that
 * became visible later. So if no other is due by then, none is missing. Of messages due at the time of the last one,
 * some may follow it. An SQL store finds the first by due time, which for a deferred message is not that of its place;
 * so earlier due times are asked for separately. */
pawl_code pawl__ordered_check(pawl__worker *worker, const pawl_queue_rows *rows, pawl_error *error)
{
    if (!is_ordered(worker) || rows->count == 0)
        return PAWL_OK;
    const pawl_queue_row *last = &rows->items[rows->count - 1];
    pawl__place           found;
    int64_t              *except = pawl_arena_take(worker->read, rows->count * sizeof *except);
    if (except == NULL)
        return pawl_error_set(error, PAWL_ENOMEM, "no memory for numbers of messages");
    for (size_t i = 0; i < rows->count; i++)
        except[i] = rows->items[i].seq;
    pawl_code code = find_outside(worker, last->due, except, rows->count, &found, error);
    if (code != PAWL_OK || found.seq == INT64_MAX)
        return code;
    bool is_behind_all = found.seq > last->seq && pawl__place_is_older(newest_of(rows), found);
    if (is_behind_all)
        code = find_outside(worker, last->due - 1, except, rows->count, &found, error);
    if (code != PAWL_OK || (is_behind_all && found.seq == INT64_MAX))
        return code;
    return read_absent(worker, rows, error);
}

bool pawl__ordered_is_stuck(const pawl__worker *worker)
{
    return is_ordered(worker) &&
           (worker->ordered->order.absent_count > 0 || worker->ordered->order.is_stuck);
}
