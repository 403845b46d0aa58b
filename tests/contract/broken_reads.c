/* broken_reads.c - defects of reads, claims and leases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/broken_store.h"
#include "support/tests.h"

#include <unistd.h>

#define SELF (&pawl__memory_driver)

#define SWAP(type, a, b)        \
    do {                        \
        type swapped = (a);     \
        (a)          = (b);     \
        (b)          = swapped; \
    } while (0)

/* ---- Sagas -------------------------------------------------------------- */

/* Versions that begin at two: what is stored is one less than what is said. */
static pawl_code load_one_more(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                               const pawl_value *values, size_t count, pawl_saga_lock lock,
                               pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    pawl_code code = SELF->saga_load(store, table, key, values, count, lock, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        rows[i].version += rows[i].version != 0;
    return code;
}

static void store_one_less(edit *e)
{
    for (size_t i = 0; i < e->changes.saga_update.count; i++)
        e->changes.saga_update.items[i].version--;
    for (size_t i = 0; i < e->changes.saga_delete.count; i++)
        e->changes.saga_delete.items[i].version--;
}

/* Versions that go up by two. */
static pawl_code load_double(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                             const pawl_value *values, size_t count, pawl_saga_lock lock,
                             pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    pawl_code code = SELF->saga_load(store, table, key, values, count, lock, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++)
        if (rows[i].version != 0)
            rows[i].version = 2 * rows[i].version - 1;
    return code;
}

static void store_half(edit *e)
{
    for (size_t i = 0; i < e->changes.saga_update.count; i++)
        e->changes.saga_update.items[i].version = (e->changes.saga_update.items[i].version + 1) / 2;
    for (size_t i = 0; i < e->changes.saga_delete.count; i++)
        e->changes.saga_delete.items[i].version = (e->changes.saga_delete.items[i].version + 1) / 2;
}

static pawl_text lower(pawl_arena *arena, pawl_text text)
{
    char *copy = pawl_arena_take(arena, text.size + 1);
    for (size_t i = 0; copy != NULL && i < text.size; i++)
        copy[i] =
            (char)(text.data[i] >= 'A' && text.data[i] <= 'Z' ? text.data[i] + 32 : text.data[i]);
    return copy != NULL ? (pawl_text){.data = copy, .size = text.size} : text;
}

/* `change` makes of a correlation text what the store then compares. */
static pawl_code load_changed(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                              const pawl_value *values, size_t count, pawl_saga_lock lock,
                              pawl_arena *arena, pawl_saga_row *rows, pawl_error *error,
                              pawl_text (*change)(pawl_arena *arena, pawl_text text))
{
    pawl_value *changed = pawl_arena_take(arena, (count + 1) * sizeof *changed);
    if (changed == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        changed[i] = values[i];
        if (values[i].type == PAWL_VALUE_TEXT)
            changed[i].as.text = change(arena, values[i].as.text);
    }
    return SELF->saga_load(store, table, key, changed, count, lock, arena, rows, error);
}

static void store_changed(edit *e, pawl_text (*change)(pawl_arena *arena, pawl_text text))
{
    for (size_t i = 0; i < e->changes.saga_insert.count; i++) {
        pawl_saga_insert *insert = &e->changes.saga_insert.items[i];
        if (insert->main.type == PAWL_VALUE_TEXT)
            insert->main.as.text = change(e->arena, insert->main.as.text);
    }
}

static pawl_code load_lower(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                            const pawl_value *values, size_t count, pawl_saga_lock lock,
                            pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    return load_changed(store, table, key, values, count, lock, arena, rows, error, lower);
}

static void store_lower(edit *e)
{
    store_changed(e, lower);
}

static pawl_text cut(pawl_arena *arena, pawl_text text)
{
    return (pawl_text){.data = text.data, .size = text.size < 199 ? text.size : 199};
}

static pawl_code load_cut(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                          const pawl_value *values, size_t count, pawl_saga_lock lock,
                          pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    return load_changed(store, table, key, values, count, lock, arena, rows, error, cut);
}

static void store_cut(edit *e)
{
    store_changed(e, cut);
}

/* Every saga in one table: one type sees the rows of another. */
static const pawl_saga_table *one_table(pawl_arena *arena, const pawl_saga_table *table)
{
    pawl_saga_table *one = pawl_arena_take(arena, sizeof *one);
    if (one == NULL)
        return table;
    *one      = *table;
    one->name = PAWL_TEXT("sagas");
    return one;
}

static pawl_code load_from_one(pawl_store *store, const pawl_saga_table *table, pawl_saga_key key,
                               const pawl_value *values, size_t count, pawl_saga_lock lock,
                               pawl_arena *arena, pawl_saga_row *rows, pawl_error *error)
{
    return SELF->saga_load(store, one_table(arena, table), key, values, count, lock, arena, rows,
                           error);
}

static void store_in_one(edit *e)
{
    for (size_t i = 0; i < e->changes.saga_insert.count; i++)
        e->changes.saga_insert.items[i].table =
            one_table(e->arena, e->changes.saga_insert.items[i].table);
    for (size_t i = 0; i < e->changes.saga_update.count; i++)
        e->changes.saga_update.items[i].table =
            one_table(e->arena, e->changes.saga_update.items[i].table);
    for (size_t i = 0; i < e->changes.saga_delete.count; i++)
        e->changes.saga_delete.items[i].table =
            one_table(e->arena, e->changes.saga_delete.items[i].table);
}

/* All loads hand out the same bytes. */
static pawl_code load_into_one_buffer(pawl_store *store, const pawl_saga_table *table,
                                      pawl_saga_key key, const pawl_value *values, size_t count,
                                      pawl_saga_lock lock, pawl_arena *arena, pawl_saga_row *rows,
                                      pawl_error *error)
{
    static char buffer[4096];
    pawl_code   code = SELF->saga_load(store, table, key, values, count, lock, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < count; i++) {
        if (rows[i].data.size > sizeof buffer || rows[i].version == 0)
            continue;
        memcpy(buffer, rows[i].data.data, rows[i].data.size);
        rows[i].data.data = buffer;
    }
    return code;
}

/* ---- Timeouts ----------------------------------------------------------- */

static pawl_code claim_timeouts(pawl_store *store, pawl_timeout_claim claim, pawl_arena *arena,
                                pawl_timeout_rows *rows, pawl_error *error)
{
    return SELF->timeout_claim(store, &claim, arena, rows, error);
}

static pawl_code claim_leased(pawl_store *store, const pawl_timeout_claim *claim, pawl_arena *arena,
                              pawl_timeout_rows *rows, pawl_error *error)
{
    int64_t count;
    SELF->timeout_reap(store, PAWL_TIME_MAX, &count, NULL);
    return claim_timeouts(store, *claim, arena, rows, error);
}

static pawl_code claim_before_due(pawl_store *store, const pawl_timeout_claim *claim,
                                  pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_timeout_claim changed = *claim;
    changed.due_max--;
    return claim_timeouts(store, changed, arena, rows, error);
}

static pawl_code claim_any_number(pawl_store *store, const pawl_timeout_claim *claim,
                                  pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_timeout_claim changed = *claim;
    changed.count_max          = 1000;
    return claim_timeouts(store, changed, arena, rows, error);
}

static pawl_code claim_for_half_the_time(pawl_store *store, const pawl_timeout_claim *claim,
                                         pawl_arena *arena, pawl_timeout_rows *rows,
                                         pawl_error *error)
{
    pawl_timeout_claim changed = *claim;
    changed.lease              = claim->lease / 2 + 1;
    return claim_timeouts(store, changed, arena, rows, error);
}

static pawl_code claim_latest_first(pawl_store *store, const pawl_timeout_claim *claim,
                                    pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_code code = claim_timeouts(store, *claim, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < rows->count / 2; i++)
        SWAP(pawl_timeout_row, rows->items[i], rows->items[rows->count - 1 - i]);
    return code;
}

static pawl_code claim_without_next(pawl_store *store, const pawl_timeout_claim *claim,
                                    pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_code code = claim_timeouts(store, *claim, arena, rows, error);
    rows->next_due = PAWL_TIME_MAX;
    return code;
}

static pawl_code reap_live_leases(pawl_store *store, pawl_time now, int64_t *count,
                                  pawl_error *error)
{
    return SELF->timeout_reap(store, now + PAWL_HOURS(1), count, error);
}

/* Re-arming that keeps the generation: nobody ever sees another than the first. */
static void first_generation(pawl_timeout_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rows[i].generation = 1;
}
BROKEN_FIND(list_first_generation, PAWL_FIND_TIMEOUTS, ,
            first_generation(found->items, found->count))

/* Destinations of endpoints as well. */
BROKEN_FIND(list_every_destination, PAWL_FIND_FOREIGN, changed.name = PAWL_TEXT("orders"), )

BROKEN_FIND(list_leased_destinations, PAWL_FIND_FOREIGN, changed.time += PAWL_HOURS(1), )

/* ---- Aggregators -------------------------------------------------------- */

static pawl_code snapshot_without_lease(pawl_store *store, const pawl_leased_batch_claim *claim,
                                        pawl_arena *arena, pawl_leased_batch *leased,
                                        pawl_error *error)
{
    pawl_leased_batch_claim changed = *claim;
    changed.lease                   = 0;
    return SELF->leased_batch_claim(store, &changed, arena, leased, error);
}

static pawl_code snapshot_forgets_unresolved(pawl_store                    *store,
                                             const pawl_leased_batch_claim *claim,
                                             pawl_arena *arena, pawl_leased_batch *leased,
                                             pawl_error *error)
{
    pawl_code code     = SELF->leased_batch_claim(store, claim, arena, leased, error);
    leased->unresolved = 0;
    return code;
}

static pawl_code count_leases(pawl_store *store, pawl_text partition, const pawl_text *types,
                              size_t type_count, pawl_time now, pawl_aggregator_counts *counts,
                              pawl_error *error)
{
    pawl_arena             *arena  = pawl_arena_create(0);
    pawl_leased_batch       leased = {0};
    pawl_leased_batch_claim claim  = {.partition  = partition,
                                      .session    = {{{9}}},
                                      .types      = types,
                                      .type_count = type_count,
                                      .now        = now,
                                      .lease      = PAWL_MINUTES(5)};
    if (arena == NULL)
        return PAWL_ENOMEM;
    pawl_code code =
        SELF->aggregator_count(store, partition, types, type_count, now, counts, error);
    SELF->leased_batch_claim(store, &claim, arena, &leased, NULL);
    pawl_arena_destroy(arena);
    return code;
}

static pawl_code count_free_rows(pawl_store *store, pawl_text partition, const pawl_text *types,
                                 size_t type_count, pawl_time now, pawl_aggregator_counts *counts,
                                 pawl_error *error)
{
    pawl_code code =
        SELF->aggregator_count(store, partition, types, type_count, now, counts, error);
    counts->all = counts->ready;
    return code;
}

static void latest_first(pawl_aggregator_row *rows, size_t count)
{
    for (size_t i = 0; i < count / 2; i++)
        SWAP(pawl_aggregator_row, rows[i], rows[count - 1 - i]);
}
BROKEN_FIND(get_latest_first, PAWL_FIND_PARTITION, , latest_first(found->items, found->count))

BROKEN_FIND(no_flush_rows, PAWL_FIND_FLUSHES, , found->count = 0)

/* ---- Queue, inbox, outbox, workers -------------------------------------- */

/* Claims are free again at once. */
static pawl_code claim_and_let_go(pawl_store *store, const pawl_queue_claim *claim,
                                  pawl_arena *arena, pawl_queue_rows *rows, pawl_error *error)
{
    pawl_code code = SELF->queue_claim(store, claim, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++) {
        pawl_queue_settle settle = {
            .action = PAWL_QUEUE_RELEASE, .queue = claim->queue, .seq = rows->items[i].seq};
        pawl_changes changes = {
            .now = claim->now, ONE_UNIT, .queue_settle = {.items = &settle, .count = 1}};
        pawl_refusals refused = {.arena = arena};
        SELF->commit(store, &changes, &refused, NULL);
    }
    return code;
}

static pawl_code know_any_case(pawl_store *store, pawl_text endpoint, const pawl_text *ids,
                               size_t count, bool *known, pawl_error *error)
{
    pawl_arena *arena   = pawl_arena_create(0);
    pawl_text  *lowered = arena != NULL ? pawl_arena_take(arena, (count + 1) * sizeof *ids) : NULL;
    if (lowered == NULL) {
        pawl_arena_destroy(arena);
        return PAWL_ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        lowered[i] = lower(arena, ids[i]);
    pawl_code code = SELF->inbox_known(store, endpoint, lowered, count, known, error);
    pawl_arena_destroy(arena);
    return code;
}

static void mark_lower(edit *e)
{
    for (size_t i = 0; i < e->changes.inbox_entry.count; i++)
        e->changes.inbox_entry.items[i].message_id =
            lower(e->arena, e->changes.inbox_entry.items[i].message_id);
}

static pawl_code claim_outbox_early(pawl_store *store, pawl_text endpoint, pawl_time now,
                                    size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                    pawl_error *error)
{
    return SELF->outbox_claim(store, endpoint, now + PAWL_DAYS(1), count_max, arena, rows, error);
}

static pawl_code claim_outbox_by_id(pawl_store *store, pawl_text endpoint, pawl_time now,
                                    size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                    pawl_error *error)
{
    pawl_code code = SELF->outbox_claim(store, endpoint, now, count_max, arena, rows, error);
    for (size_t i = 1; code == PAWL_OK && i < rows->count; i++)
        for (size_t j = i; j > 0 && rows->items[j - 1].id > rows->items[j].id; j--)
            SWAP(pawl_outbox_row, rows->items[j - 1], rows->items[j]);
    return code;
}

static pawl_code claim_outbox_unretried(pawl_store *store, pawl_text endpoint, pawl_time now,
                                        size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                        pawl_error *error)
{
    pawl_code code = SELF->outbox_claim(store, endpoint, now, count_max, arena, rows, error);
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++)
        rows->items[i].attempts_before = 0;
    return code;
}

BROKEN_FIND(no_attempts, PAWL_FIND_ATTEMPTS, , found->count = found->count > 1 ? 1 : found->count)

static pawl_code sweep_young_rows(pawl_store *store, const pawl_sweep *sweep, int64_t *count,
                                  bool *more, pawl_error *error)
{
    pawl_sweep changed    = *sweep;
    changed.outbox_before = PAWL_TIME_MAX;
    return SELF->sweep(store, &changed, count, more, error);
}

static pawl_code everybody_leads(pawl_store *store, pawl_text name, pawl_time now, int64_t lease,
                                 bool *is_held, pawl_error *error)
{
    pawl_code code = SELF->lead(store, name, now, lease, is_held, error);
    *is_held       = true;
    return code;
}

/* Leases of all times, ended ones with them. */
BROKEN_FIND(list_old_leads, PAWL_FIND_LEADS, changed.time = PAWL_TIME_MIN, )

/* Pages that begin with the row before. */
static pawl_code scan_from_the_start(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                                     pawl_scan_rows *rows, pawl_error *error)
{
    pawl_scan changed = *scan;
    changed.after     = NULL;
    return SELF->scan(store, &changed, arena, rows, error);
}

/* Pages of letters that begin with the first one. */
BROKEN_FIND(find_dead_from_the_start, PAWL_FIND_DEAD,
            (changed.after       = (pawl_find_after){.time = PAWL_TIME_MIN},
             changed.dead.at_min = PAWL_TIME_MIN), )

BROKEN_FIND(find_messages_from_the_start, PAWL_FIND_MESSAGES,
            (changed.after            = (pawl_find_after){.time = PAWL_TIME_MIN},
             changed.messages.due_min = PAWL_TIME_MIN), )

/* Letters whatever their error says. */
BROKEN_FIND(find_dead_of_any_error, PAWL_FIND_DEAD, changed.dead.error_part.size = 0, )

/* Whole tables where a page was asked for. */
static pawl_code scan_all(pawl_store *store, const pawl_scan *scan, pawl_arena *arena,
                          pawl_scan_rows *rows, pawl_error *error)
{
    pawl_scan changed = *scan;
    changed.count_max = 0;
    return SELF->scan(store, &changed, arena, rows, error);
}

/* A worker that was replaced takes its place back. */
static pawl_code commit_unfenced(pawl_store *store, const pawl_changes *changes,
                                 pawl_refusals *refused, pawl_error *error)
{
    bool      is_applied;
    pawl_code code = SELF->commit(store, changes, refused, error);
    if (code != PAWL_EFENCED ||
        SELF->resolve(store, changes->commit_id, &is_applied, error) != PAWL_OK)
        return code;
    return SELF->commit(store, changes, refused, error);
}

/* A commit that fails does not say why. */
static pawl_code commit_without_a_word(pawl_store *store, const pawl_changes *changes,
                                       pawl_refusals *refused, pawl_error *error)
{
    pawl_code code = SELF->commit(store, changes, refused, error);
    if (code != PAWL_OK && error != NULL)
        error->text[0] = '\0';
    return code;
}

static void swap_ends(pawl_subscription *rows, size_t count)
{
    if (count > 1)
        SWAP(pawl_subscription, rows[0], rows[count - 1]);
}
BROKEN_FIND(subscriptions_in_any_order, PAWL_FIND_SUBSCRIPTIONS, ,
            swap_ends(found->items, found->count))

static pawl_code nothing_ever_landed(pawl_store *store, pawl_uuid commit_id, bool *is_applied,
                                     pawl_error *error)
{
    pawl_code code = SELF->resolve(store, commit_id, is_applied, error);
    *is_applied    = false;
    return code;
}

static pawl_code count_no_work(pawl_store *store, pawl_time now, pawl_arena *arena,
                               pawl_stats *stats, pawl_error *error)
{
    pawl_code code  = SELF->stats(store, now, arena, stats, error);
    stats->counters = (pawl_counters){0};
    return code;
}

/* Workers that live are told dead. */
static pawl_code bury_the_living(pawl_store *store, pawl_arena *arena, pawl_worker_info **items,
                                 size_t *count, pawl_error *error)
{
    const pawl_find asked = {.kind = PAWL_FIND_WORKERS, .limit = INT64_MAX};
    pawl_found      found = {.count = 0};
    pawl_code       code  = SELF->find(store, &asked, arena, &found, error);
    *items                = found.items;
    *count                = found.count;
    return code;
}

static pawl_code wait_whatever_is_ready(pawl_store *store, int64_t microseconds, int wake_fd,
                                        pawl_error *error)
{
    return SELF->wait(store, microseconds, -1, error);
}

/* The byte that ends a wait is the caller's, who would miss it. */
static pawl_code take_the_byte(pawl_store *store, int64_t microseconds, int wake_fd,
                               pawl_error *error)
{
    char      byte;
    pawl_code code = SELF->wait(store, microseconds, wake_fd, error);
    return wake_fd >= 0 && read(wake_fd, &byte, 1) < 0 ? PAWL_EPERSIST : code;
}

/* Retried rows are not told. */
BROKEN_FIND(tell_no_retries, PAWL_FIND_RETRIED, , found->count = 0)

const defect broken_reads[] = {
    {"version begins at two", "S4", store_one_less, {.saga_load = load_one_more}},
    {"version goes up by two", "S6", store_half, {.saga_load = load_double}},
    {"texts compare without case", "D20", store_lower, {.saga_load = load_lower}},
    {"correlation text is cut", "D19", store_cut, {.saga_load = load_cut}},
    {"saga types share a table", "S28", store_in_one, {.saga_load = load_from_one}},
    {"loads share their bytes", "S3", NULL, {.saga_load = load_into_one_buffer}},
    {"lease ignored", "T8", NULL, {.timeout_claim = claim_leased}},
    {"due is < and not <=", "T5", NULL, {.timeout_claim = claim_before_due}},
    {"batch size ignored", "T4", NULL, {.timeout_claim = claim_any_number}},
    {"lease of half its time", "T6", NULL, {.timeout_claim = claim_for_half_the_time}},
    {"order wrong", "T4", NULL, {.timeout_claim = claim_latest_first}},
    {"next due forgotten", "T17", NULL, {.timeout_claim = claim_without_next}},
    {"reap clears live leases", "T14", NULL, {.timeout_reap = reap_live_leases}},
    {"re-arming keeps the generation", "E13", NULL, {.find = list_first_generation}},
    {"destinations of endpoints are foreign", "E13", NULL, {.find = list_every_destination}},
    {"leased timeouts are listed", "E13", NULL, {.find = list_leased_destinations}},
    {"snapshot without lease", "A16", NULL, {.leased_batch_claim = snapshot_without_lease}},
    {"unresolved rows not counted",
     "A10",
     NULL,
     {.leased_batch_claim = snapshot_forgets_unresolved}},
    {"count that leases", "A19", NULL, {.aggregator_count = count_leases}},
    {"count of free rows only", "A17", NULL, {.aggregator_count = count_free_rows}},
    {"rows latest first", "A8", NULL, {.find = get_latest_first}},
    {"flush row missing", "E20", NULL, {.find = no_flush_rows}},
    {"claim not exclusive", "T7", NULL, {.queue_claim = claim_and_let_go}},
    {"marks compare without case", "D20", mark_lower, {.inbox_known = know_any_case}},
    {"retry before its time", "O10", NULL, {.outbox_claim = claim_outbox_early}},
    {"outbox by id and not sequence", "O8", NULL, {.outbox_claim = claim_outbox_by_id}},
    {"claims forget an operator's retry", "O19", NULL, {.outbox_claim = claim_outbox_unretried}},
    {"attempts overwritten", "O15", NULL, {.find = no_attempts}},
    {"sweep of young rows", "O19", NULL, {.sweep = sweep_young_rows}},
    {"many leaders", "O20", NULL, {.lead = everybody_leads}},
    {"leaders of the past", "O20", NULL, {.find = list_old_leads}},
    {"scans that begin again", "E28", NULL, {.scan = scan_from_the_start}},
    {"messages that are found again", "E26", NULL, {.find = find_messages_from_the_start}},
    {"letters that are found again", "E34", NULL, {.find = find_dead_from_the_start}},
    {"letters of another error", "E34", NULL, {.find = find_dead_of_any_error}},
    {"scans without pages", "S27", NULL, {.scan = scan_all}},
    {"fence skipped", "O32", NULL, {.commit = commit_unfenced}},
    {"fence without a word", "O32", NULL, {.commit = commit_without_a_word}},
    {"subscriptions in any order", "E9", NULL, {.find = subscriptions_in_any_order}},
    {"resolve says no", "O32", NULL, {.resolve = nothing_ever_landed}},
    {"workers that live are told dead", "E26", NULL, {.worker_crashed = bury_the_living}},
    {"wait ignores the descriptor", "O21", NULL, {.wait = wait_whatever_is_ready}},
    {"wait takes what ends it", "O21", NULL, {.wait = take_the_byte}},
    {"retried rows are not told", "E3", NULL, {.find = tell_no_retries}},
    {"counters lost", "O23", NULL, {.stats = count_no_work}},
};
const size_t broken_reads_count = COUNT(broken_reads);
