/* sweep.c - finds the next due times, reads statistics, and deletes old rows.
 *
 * Rows of the inbox have no index on their time: it would make each insert write a fifth more
 * WAL and take an eighth longer, and the sweep no faster. The table's order serves as index: new
 * rows go where the sweep made room, so old rows lie together. A position that goes round the
 * pages, the hand, stays at them:
 *
 *     page    0        hand                        last
 *             |newer ...|oldest ......... newer ...|
 *
 * A sweep goes on from the hand, deletes, and stops after some pages without an old row. It
 * does not read deleted rows again, as it would in an index while a snapshot is open: beside
 * such a snapshot 2,000 rows took 4 ms, by an index 13 ms and more each time. Old rows may lie
 * elsewhere (clocks that differ, long transactions, another retention, a table that `vacuum
 * full` or a restore wrote anew): each sweep also scans a part of all pages, the whole table in
 * eight hours, and moves the hand where it finds many.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/bodies.h"
#include "store/postgres/front.h"
#include "store/postgres/operations.h"
#include "store/sql/operations.h"

#include <string.h>

/* ---- Next due times ----------------------------------------------------- */

/* First due times, also of rows that other workers have claimed. */
typedef struct first_seen {
    pawl_next_due next;
    bool          others_have; /* another worker has leased the first timeout, which is due */
} first_seen;

static void take_time(pawl__pg_request *request, pawl_time *time)
{
    bool      is_null = pawl__pg_is_null(request);
    pawl_time value   = pawl__pg_get_time(request);
    *time             = is_null ? PAWL_TIME_MAX : value;
}

static pawl_code read_next(pawl__pg *store, pawl__pg_connection *connection,
                           const pawl__pg_front *front, pawl_time from, pawl_text queue,
                           const pawl_text *aggregators, size_t aggregator_count, first_seen *first,
                           pawl_error *error)
{
    pawl__pg_request request;
    pawl__pg_begin(&request, connection, PAWL__PG_NEXT_OF_ALL, error);
    pawl__pg_put_text(&request, queue);
    pawl__pg_put_time_from(&request, from);
    pawl__pg_put_claims(&request, store, store->claims.count);
    pawl__pg_put_time(&request, pawl__pg_now(store));
    pawl__pg_put_texts(&request, aggregators, aggregator_count);
    pawl__pg_put_time(&request, front->due_max);
    pawl__pg_put_uuid(&request, store->sql.base.worker.uuid);
    pawl_code code = pawl__pg_run(&request);
    if (code == PAWL_OK && pawl__pg_next(&request)) {
        take_time(&request, &first->next.queue);
        take_time(&request, &first->next.timeout);
        take_time(&request, &first->next.flush);
        first->others_have = pawl__pg_get_bool(&request);
    }
    pawl__pg_end(&request);
    return code == PAWL_OK ? request.code : code;
}

/* SKIP LOCKED leaves out rows that others have claimed. The rollback unlocks the row that was found, and nothing is
 * written to disk. */
static pawl_code skip_taken(pawl__pg *store, pawl__pg_connection *connection, pawl_time from,
                            pawl_text queue, pawl_time *due, pawl_error *error)
{
    pawl__pg_request request;
    *due = PAWL_TIME_MAX;
    pawl__pg_begin_on(connection, error);
    pawl__pg_begin(&request, connection, PAWL__PG_QUEUE_FIRST, error);
    pawl__pg_put_text(&request, queue);
    pawl__pg_put_time_from(&request, from);
    pawl__pg_put_claims(&request, store, store->claims.count);
    pawl__pg_send(&request);
    pawl__pg_send_plain(connection, PAWL__PG_TRANSACTION_ROLLBACK, error);
    pawl_code code = pawl__pg_await(connection, error);
    if (code == PAWL_OK)
        connection->in_transaction = false;
    else
        pawl__pg_rollback_transaction(connection);
    if (code == PAWL_OK && pawl__pg_next(&request))
        *due = pawl__pg_get_time(&request);
    pawl__pg_end(&request);
    return code;
}

/* Reads from the due time at which the last claim began. A row that was due then and was not claimed belongs to
 * another worker: only in that case it tries row locks. */
static pawl_code find_next(pawl__pg *store, pawl__pg_connection *connection, pawl_text queue,
                           const pawl_text *aggregators, size_t aggregator_count,
                           pawl_next_due *next, pawl_error *error)
{
    pawl__pg_front *front = pawl__pg_front_of(store, queue);
    pawl_time       from  = front->start;
    first_seen      first = {{PAWL_TIME_MAX, PAWL_TIME_MAX, PAWL_TIME_MAX}, false};
    pawl_code code = read_next(store, connection, front, from, queue, aggregators, aggregator_count,
                               &first, error);
    *next          = first.next;
    bool may_be_taken =
        next->queue < PAWL_TIME_MAX && (!front->is_queue || next->queue <= front->due_max);
    if (code == PAWL_OK && may_be_taken)
        code = skip_taken(store, connection, from, queue, &next->queue, error);
    if (code != PAWL_OK)
        return code;
    store->others_have = first.others_have || next->queue != first.next.queue;
    front->queue_due   = next->queue;
    front->timeout_due = next->timeout;
    return PAWL_OK;
}

pawl_code pawl__pg_next_due(pawl_store *base, pawl_text queue, const pawl_text *aggregators,
                            size_t aggregator_count, pawl_next_due *next, pawl_error *error)
{
    pawl__pg            *store = pawl__pg_of(base);
    pawl__pg_connection *connection;
    pawl_code            code = pawl__pg_free_connection(store, &connection, error);
    if (code != PAWL_OK)
        return code;
    return find_next(store, connection, queue, aggregators, aggregator_count, next, error);
}

/* ---- Statistics --------------------------------------------------------- */

/* Statistics take one round trip, and one for the living workers. */
pawl_code pawl__pg_stats(pawl_store *base, pawl_time now, pawl_arena *arena, pawl_stats *stats,
                         pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    if (now > store->last_now)
        store->last_now = now;
    return pawl__sql_stats(base, now, arena, stats, error);
}

/* ---- Sweep: the inbox --------------------------------------------------- */

#define CLEAN_PAGES 64   /* pages without an old row that end a sweep: about 5,000 rows */
#define PAGES_MAX 1024   /* from the hand, in one sweep */
#define SCANS_A_ROUND 96 /* scans of the whole table; idle, one in five minutes: eight hours */

typedef struct sweep_state {
    pawl__pg         *store;
    const pawl_sweep *sweep;
    pawl_error       *error;
    int64_t           limit;
    int64_t           count;
    bool              more;
    bool              is_ours; /* no other worker sweeps */
    /* The inbox. */
    int64_t pages;
    int64_t hand; /* page where old rows were found last */
    int64_t scan; /* page where the next scan begins */
    /* The outbox: the dispatch time of the last row that was deleted, if more are left. */
    pawl_time dispatched;
} sweep_state;

#define STATE(member, as) PAWL__AS_OF(sweep_state, member, as)
static const pawl__field_list state_fields =
    PAWL__FIELDS(STATE(is_ours, BOOL), STATE(pages, INT), STATE(hand, INT), STATE(scan, INT),
                 STATE(dispatched, TIME));
static const pawl__field_list kept_fields =
    PAWL__FIELDS(STATE(hand, INT), STATE(scan, INT), STATE(dispatched, TIME));

/* A statement that deletes old rows, and its answer. A ctid is the page and, in the last 16 bits, the row in it. */
typedef struct removal {
    int64_t   from_page, to_page; /* of the inbox: ctids of rows 0 */
    pawl_time from;               /* of the outbox */
    pawl_time before;
    int64_t   limit;
    int64_t   count;
    int64_t   last_row; /* of the inbox: its ctid */
    pawl_time last;     /* of the outbox: its dispatch time */
} removal;

#define REMOVAL(member, as) PAWL__AS_OF(removal, member, as)
#define ROW(member)                                              \
    {                                                            \
        offsetof(removal, member), #member, PAWL__PG_TID_HINT, 0 \
    }
static const pawl__field_list inbox_range =
    PAWL__FIELDS(ROW(from_page), ROW(to_page), REMOVAL(before, TIME), REMOVAL(limit, INT));
static const pawl__field_list inbox_removed = PAWL__FIELDS(REMOVAL(count, INT), ROW(last_row));
static const pawl__field_list outbox_range =
    PAWL__FIELDS(REMOVAL(from, TIME), REMOVAL(before, TIME), REMOVAL(limit, INT));
static const pawl__field_list outbox_removed =
    PAWL__FIELDS(REMOVAL(count, INT), REMOVAL(last, TIME));
#define PAGE(member, as) PAWL__AS_OF(pawl__old_page, member, as)
static const pawl__field_list history_range =
    PAWL__FIELDS(PAGE(before, TIME), PAGE(limit, INT), PAGE(after, INT));
static const pawl__field_list history_removed =
    PAWL__FIELDS(PAGE(deleted, INT), PAGE(count, INT), PAGE(last, INT));

/* Deletes up to `limit` old rows of the inbox in these pages. `*found`: how many; `*last`: page of the last one. */
static pawl_code scan(sweep_state *s, int64_t from, int64_t to, int64_t limit, int64_t *found,
                      int64_t *last)
{
    removal   r    = {.from_page = from << 16,
                      .to_page   = to << 16,
                      .before    = s->sweep->inbox_before,
                      .limit     = limit};
    pawl_code code = pawl__pg_ask(pawl__pg_in_use(s->store), PAWL__PG_INBOX_SWEEP, &inbox_range, &r,
                                  &inbox_removed, &r, s->error);
    *found         = r.count;
    if (r.count > 0)
        *last = r.last_row >> 16;
    s->count += r.count;
    return code;
}

/* Sweeps from the hand on, round the table at most once. */
static pawl_code sweep_from_hand(sweep_state *s, int64_t *left, int64_t *seen)
{
    pawl_code code  = PAWL_OK;
    int64_t   from  = s->hand < s->pages ? s->hand : 0;
    int64_t   clean = 0;
    int64_t   found;
    while (code == PAWL_OK && *left > 0 && clean < CLEAN_PAGES && *seen < s->pages &&
           *seen < PAGES_MAX) {
        int64_t to = s->pages - from > CLEAN_PAGES ? from + CLEAN_PAGES : s->pages;
        code       = scan(s, from, to, *left, &found, &s->hand);
        clean      = found != 0 ? 0 : clean + to - from;
        *left -= found;
        *seen += to - from;
        from = to < s->pages ? to : 0;
    }
    s->more |= *left == 0 || (clean < CLEAN_PAGES && *seen < s->pages);
    return code;
}

/* Scans a part of all pages; a short one if more is left to delete, because the next sweep then follows soon. */
static pawl_code scan_part(sweep_state *s, int64_t left)
{
    int64_t   size = CLEAN_PAGES + (s->more ? 0 : s->pages / SCANS_A_ROUND);
    int64_t   from = s->scan < s->pages ? s->scan : 0;
    int64_t   to   = s->pages - from > size ? from + size : s->pages;
    int64_t   last = 0, found;
    pawl_code code = scan(s, from, to, left, &found, &last);
    if (code != PAWL_OK)
        return code;
    s->scan = to < s->pages ? to : 0;
    if (found == left) {
        s->hand = last;
        s->more = true;
    }
    return PAWL_OK;
}

static pawl_code sweep_inbox(sweep_state *s)
{
    int64_t   left = s->limit;
    int64_t   seen = 0;
    pawl_code code = sweep_from_hand(s, &left, &seen);
    if (code == PAWL_OK && left > 0 && seen < s->pages)
        code = scan_part(s, left);
    return code;
}

/* ---- Sweep: the rest ---------------------------------------------------- */

/* Begins where the last sweep ended if that left more: index entries of deleted rows stay until a vacuum, and would
 * be read again each time. */
static pawl_code sweep_outbox(sweep_state *s)
{
    removal   r    = {.from   = s->dispatched != 0 ? s->dispatched : PAWL_TIME_MIN,
                      .before = s->sweep->outbox_before,
                      .limit  = s->limit};
    pawl_code code = pawl__pg_ask(pawl__pg_in_use(s->store), PAWL__PG_OUTBOX_SWEEP, &outbox_range,
                                  &r, &outbox_removed, &r, s->error);
    s->dispatched  = r.count == s->limit ? r.last : 0;
    s->count += r.count;
    s->more |= r.count == s->limit;
    if (s->sweep->outbox_count != NULL)
        *s->sweep->outbox_count = r.count;
    return code;
}

static pawl_code sweep_page(void *context, pawl__old_page *page, pawl_error *error)
{
    sweep_state *s = context;
    return pawl__pg_ask(pawl__pg_in_use(s->store), PAWL__PG_HISTORY_SWEEP, &history_range, page,
                        &history_removed, page, error);
}

static pawl_code sweep_history(sweep_state *s)
{
    pawl__old_page page = {
        .before = s->sweep->history_before, .limit = s->limit, .looks = s->limit};
    if (page.before == 0)
        return PAWL_OK;
    return pawl__old_sweep(&s->store->history_place, &page, sweep_page, s, &s->count, &s->more,
                           s->error);
}

/* Takes the lock for numbering events. Clearing a body moves its row to another ctid, by which numbering finds
 * rows, so the two must not run at once. */
pawl_code pawl__pg_bodies_begin(pawl_store *base, pawl_error *error)
{
    pawl__pg *store = pawl__pg_of(base);
    int64_t   turn  = pawl__pg_turn_number(store);
    return pawl__pg_ask(pawl__pg_in_use(store), PAWL__PG_EVENT_TURN, &pawl__one_int, &turn, NULL,
                        NULL, error);
}

static pawl_code sweep_bodies(sweep_state *s)
{
    int64_t   cleared = 0;
    pawl_code code =
        pawl__sql_sweep_bodies(&s->store->sql.base, s->sweep, &cleared, &s->more, s->error);
    s->count += cleared;
    return code;
}

/* Goes on where the last sweep of any worker ended. If another worker has the advisory lock, that one sweeps, and
 * this call deletes nothing. */
static pawl_code sweep_all(sweep_state *s)
{
    int64_t   lock = pawl__pg_lock_number(s->store, "sweep", (pawl_text){0});
    pawl_code code = pawl__pg_ask(pawl__pg_in_use(s->store), PAWL__PG_SWEEP_BEGIN, &pawl__one_int,
                                  &lock, &state_fields, s, s->error);
    if (code != PAWL_OK || !s->is_ours)
        return code;
    sweep_state before = *s;
    code               = sweep_outbox(s);
    if (code == PAWL_OK)
        code = sweep_inbox(s);
    if (code == PAWL_OK &&
        (s->hand != before.hand || s->scan != before.scan || s->dispatched != before.dispatched))
        code = pawl__pg_ask(pawl__pg_in_use(s->store), PAWL__PG_SWEEP_LEASE, &kept_fields, s, NULL,
                            NULL, s->error);
    if (code == PAWL_OK)
        code = sweep_history(s);
    if (code == PAWL_OK)
        code = pawl__pg_worker_sweep(s->store, s->sweep->workers_before, (size_t)s->limit,
                                     &s->count, &s->more, s->error);
    if (code == PAWL_OK)
        code = sweep_bodies(s);
    return code;
}

pawl_code pawl__pg_sweep(pawl_store *base, const pawl_sweep *sweep, int64_t *count, bool *more,
                         pawl_error *error)
{
    pawl__pg   *store = pawl__pg_of(base);
    sweep_state s     = {.store = store, .sweep = sweep, .error = error};
    uint64_t    most  = sweep->count_max; /* a size_t of 32 bits is always below */
    s.limit           = most < INT64_MAX ? (int64_t)most : INT64_MAX;
    pawl_code code    = pawl__pg_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = pawl__pg_stamp_end(store, sweep_all(&s), error);
    if (code != PAWL_OK)
        return code;
    *count = s.count;
    *more  = s.more;
    return PAWL_OK;
}
