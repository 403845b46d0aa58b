/* claim.c - claims timeouts and leased batches by writing leases into their rows ("stamps"), counts the rows of a
 * partition, and reads the outbox rows that are due.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/commit.h"
#include "store/sql/family.h"
#include "store/sql/operations.h"
#include "store/sql/rows.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Stamps ------------------------------------------------------------- */

/* The lease to be written: into a timeout, found by its id, or into an aggregator's row, found by its number. */
typedef struct stamp {
    pawl_session_id session;
    pawl_time       expires;
    pawl_worker_id  worker;
    pawl_timeout_id id;
    int64_t         row;
} stamp;

#define STAMP(member, as) PAWL__AS_OF(stamp, member, as)

static const pawl__sql_write stamp_timeout = {
    .statement  = PAWL__SQL_TIMEOUT_STAMP,
    .parameters = PAWL__FIELDS(STAMP(session, UUID), STAMP(expires, TIME), STAMP(worker, UUID),
                               STAMP(id, UUID)),
};
static const pawl__sql_write stamp_snapshot = {
    .statement  = PAWL__SQL_AGGREGATOR_STAMP,
    .parameters = PAWL__FIELDS(STAMP(session, UUID), STAMP(expires, TIME), STAMP(worker, UUID),
                               STAMP(row, INT)),
};

/* A copy of `like` for each row of a claim; the caller writes the row's id into each. */
static pawl_code make_stamps(const pawl_store *store, const stamp *like, size_t count,
                             pawl_arena *arena, stamp **stamps, pawl_error *error)
{
    *stamps = pawl_arena_take(arena, count * sizeof **stamps + 1);
    if (*stamps == NULL)
        return pawl__sql_no_memory(store, "a claim", error);
    for (size_t i = 0; i < count; i++)
        (*stamps)[i] = *like;
    return PAWL_OK;
}

/* ---- Timeouts ----------------------------------------------------------- */

typedef struct timeout_by {
    pawl_text destination;
    pawl_time due_max;
    pawl_time now;
    int64_t   limit;
} timeout_by;

#define BY(member, as) PAWL__AS_OF(timeout_by, member, as)

static const pawl__field by_destination[] = {BY(destination, TEXT), BY(due_max, TIME),
                                             BY(now, TIME), BY(limit, INT)};
/* due_any: without the destination; next_of: without the limit; next_any: without both. */
static const pawl__field_list due_of   = {by_destination, 4};
static const pawl__field_list due_any  = {by_destination + 1, 3};
static const pawl__field_list next_of  = {by_destination, 3};
static const pawl__field_list next_any = {by_destination + 1, 2};

static size_t count_of(const pawl_timeout_claim *claim)
{
    return claim->count_max != 0 ? claim->count_max : PAWL_TIMEOUTS_DEFAULT;
}

/* Reads free due rows, at most `limit`. */
static pawl_code read_rows(pawl_store *store, const pawl_timeout_claim *claim, int statement,
                           size_t limit, pawl_arena *arena, pawl_timeout_rows *rows,
                           pawl_error *error)
{
    bool                  is_any = claim->destination.size == 0;
    const timeout_by      by     = {claim->destination, claim->due_max, claim->now, (int64_t)limit};
    const pawl__sql_asked due    = {statement, is_any ? &due_any : &due_of, &by,
                                    &pawl__timeout_row_fields, sizeof *rows->items};
    pawl_found            found;
    pawl_code             code = pawl__sql_read(store, &due, arena, &found, error);
    *rows                      = (pawl_timeout_rows){.next_due = PAWL_TIME_MAX};
    rows->items                = found.items;
    rows->count                = found.count;
    return code;
}

/* With `writes_alone` TIMEOUT_CLAIM sorts only by due time. So one row more than `limit` is read: if it has the due
 * time of the last row, TIMEOUT_DUE reads again, sorted by id, too. */
static pawl_code read_unsorted(pawl_store *store, const pawl_timeout_claim *claim, size_t limit,
                               pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_code code =
        read_rows(store, claim, PAWL__SQL_TIMEOUT_CLAIM, limit + 1, arena, rows, error);
    if (code != PAWL_OK || rows->count == 0)
        return code;
    bool is_cut = rows->count > limit;
    if (is_cut && rows->items[limit - 1].due == rows->items[limit].due)
        return read_rows(store, claim, PAWL__SQL_TIMEOUT_DUE, limit, arena, rows, error);
    rows->count -= is_cut;
    qsort(rows->items, rows->count, sizeof *rows->items, pawl__sql_by_due);
    return PAWL_OK;
}

/* Reads free due rows, and one more, whose due time becomes next_due. Without stamping one row is enough: it shows
 * that something is due. */
static pawl_code read_due(pawl_store *store, const pawl_timeout_claim *claim, bool is_marking,
                          pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    static const int statements[2][2] = {{PAWL__SQL_TIMEOUT_DUE, PAWL__SQL_TIMEOUT_DUE_ANY},
                                         {PAWL__SQL_TIMEOUT_CLAIM, PAWL__SQL_TIMEOUT_CLAIM_ANY}};

    bool                  is_any = claim->destination.size == 0;
    size_t                count  = is_marking ? count_of(claim) : 1;
    const timeout_by      by     = {claim->destination, claim->due_max, claim->now, 0};
    const pawl__sql_asked next   = {is_any ? PAWL__SQL_TIMEOUT_NEXT_ANY : PAWL__SQL_TIMEOUT_NEXT,
                                  is_any ? &next_any : &next_of, &by, &pawl__one_time, 0};
    pawl_code code = is_marking && !is_any && pawl__sql_ops_of(store)->writes_alone
                         ? read_unsorted(store, claim, count + 1, arena, rows, error)
                         : read_rows(store, claim, statements[is_marking][is_any], count + 1, arena,
                                     rows, error);
    if (code != PAWL_OK)
        return code;
    if (rows->count <= count)
        return pawl__sql_read_first(store, &next, arena, &rows->next_due, error);
    rows->next_due = rows->items[--rows->count].due;
    return PAWL_OK;
}

/* Stamps all free rows up to a due time. Only if no other connection can have written since they were read. */
typedef struct stamp_until {
    stamp     stamp;
    pawl_text destination;
    pawl_time due_max;
    pawl_time now;
} stamp_until;

#define UNTIL(member, as) PAWL__AS_OF(stamp_until, member, as)

static const pawl__field_list free_until =
    PAWL__FIELDS(UNTIL(stamp.session, UUID), UNTIL(stamp.expires, TIME), UNTIL(stamp.worker, UUID),
                 UNTIL(destination, TEXT), UNTIL(due_max, TIME), UNTIL(now, TIME));

static pawl_code stamp_all(pawl_store *store, const pawl_timeout_claim *claim, const stamp *row,
                           const pawl_timeout_rows *rows, pawl_error *error)
{
    const stamp_until     until   = {*row, claim->destination, rows->items[rows->count - 1].due,
                                     claim->now};
    const pawl__sql_asked asked   = {PAWL__SQL_TIMEOUT_STAMP_UNTIL, &free_until, &until, NULL, 0};
    int64_t               changed = 0;
    pawl_code             code    = pawl__sql_execute(store, &asked, &changed, error);
    if (code == PAWL_OK && changed != (int64_t)rows->count)
        code = pawl_error_set(error, PAWL_EPERSIST, "%s: leased %lld timeouts of %zu",
                              pawl__sql_ops_of(store)->name, (long long)changed, rows->count);
    return code;
}

static pawl_code stamp_each(pawl_store *store, const stamp *row, pawl_arena *arena,
                            const pawl_timeout_rows *rows, pawl_error *error)
{
    stamp    *stamps;
    pawl_code code = make_stamps(store, row, rows->count, arena, &stamps, error);
    for (size_t i = 0; code == PAWL_OK && i < rows->count; i++)
        stamps[i].id = rows->items[i].id;
    return code != PAWL_OK ? code
                           : pawl__sql_write_rows(store, &stamp_timeout, stamps, sizeof *stamps,
                                                  rows->count, NULL, error);
}

static pawl_code stamp_timeouts(pawl_store *store, const pawl_timeout_claim *claim,
                                pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    const stamp row = {.session = claim->owner,
                       .expires = pawl_time_add(claim->now, claim->lease),
                       .worker  = store->worker};
    for (size_t i = 0; i < rows->count; i++) {
        rows->items[i].owner         = row.session;
        rows->items[i].lease_expires = row.expires;
    }
    /* Are the rows all that are free up to the due time of the last one? */
    bool is_whole = rows->count > 0 && rows->items[rows->count - 1].due < rows->next_due;
    return is_whole && claim->destination.size != 0 && pawl__sql_ops_of(store)->writes_alone
               ? stamp_all(store, claim, &row, rows, error)
               : stamp_each(store, &row, arena, rows, error);
}

/* Reads without a lock first, since usually nothing is due. */
static pawl_code claim_timeouts(pawl_store *store, const pawl_timeout_claim *claim,
                                pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_code code = read_due(store, claim, false, arena, rows, error);
    if (code != PAWL_OK || rows->count == 0)
        return code;
    code = pawl__sql_stamp_begin(store, error);
    if (code == PAWL_OK) {
        code = read_due(store, claim, true, arena, rows, error);
        if (code == PAWL_OK)
            code = stamp_timeouts(store, claim, arena, rows, error);
        code = pawl__sql_stamp_end(store, code, error);
    }
    return code;
}

pawl_code pawl__sql_timeout_claim(pawl_store *store, const pawl_timeout_claim *claim,
                                  pawl_arena *arena, pawl_timeout_rows *rows, pawl_error *error)
{
    pawl_code code;
    PAWL__SQL_TRY(store, code, claim_timeouts(store, claim, arena, rows, error));
    return code;
}

/* ---- Leased batches ------------------------------------------------------- */

/* The first three columns of a row decide whether the rest is wanted. */
typedef struct row_head {
    pawl_text type;
    pawl_time lease_expires;
    int64_t   id;
} row_head;

static const pawl__field_list head_row =
    PAWL__FIELDS(PAWL__AS_OF(row_head, type, PEEK), PAWL__AS_OF(row_head, lease_expires, TIME),
                 PAWL__AS_OF(row_head, id, INT));

/* Does the claim take the row? Counts free rows of unknown types. */
static bool takes(const pawl_leased_batch_claim *claim, const row_head *head,
                  pawl_leased_batch *rows)
{
    bool is_free = head->lease_expires == 0 || head->lease_expires <= claim->now;
    if (!is_free || (claim->id_max != 0 && head->id > claim->id_max))
        return false;
    if (pawl__find_word(head->type, claim->types, (int)claim->type_count) < 0) {
        rows->unresolved++;
        return false;
    }
    return true;
}

/* A full claim reads no more rows; a large partition takes several claims. */
static bool is_full(const pawl_leased_batch_claim *claim, const pawl_leased_batch *rows)
{
    return claim->count_max != 0 && rows->count == claim->count_max;
}

static pawl_code read_partition(pawl_store *store, const pawl_leased_batch_claim *claim,
                                pawl_arena *arena, pawl_leased_batch *rows, pawl_error *error)
{
    const pawl__sql_ops  *ops      = pawl__sql_ops_of(store);
    size_t                capacity = 0;
    row_head              head     = {.id = 0};
    pawl__sql_request    *request  = NULL;
    const pawl__sql_asked asked = {PAWL__SQL_AGGREGATOR_CLAIM, &pawl__one_text, &claim->partition,
                                   &head_row, 0};
    *rows                       = (pawl_leased_batch){0};
    pawl_code code              = pawl__sql_run(store, &asked, arena, &request, error);
    while (code == PAWL_OK && !is_full(claim, rows) && ops->next(request)) {
        ops->get(request, &head_row, &head);
        if (!takes(claim, &head, rows))
            continue;
        pawl_aggregator_row *grown =
            pawl_arena_grow(arena, rows->items, rows->count, &capacity, sizeof *grown);
        if (grown == NULL) {
            code = pawl__sql_no_memory(store, "rows", error);
            break;
        }
        rows->items              = grown;
        pawl_aggregator_row *row = &grown[rows->count++];
        *row                     = (pawl_aggregator_row){0};
        ops->get(request, &pawl__aggregator_row_fields, row);
    }
    pawl_code ended = ops->end(request);
    return code != PAWL_OK ? code : ended;
}

typedef struct partition_by {
    pawl_text partition;
    pawl_time now;
    int64_t   id_max;
    pawl_text types; /* in hexadecimal, with commas */
    int64_t   limit;
} partition_by;

#define OF_PARTITION(member, as) PAWL__AS_OF(partition_by, member, as)

static const pawl__field of_partition[] = {OF_PARTITION(partition, TEXT), OF_PARTITION(now, TIME),
                                           OF_PARTITION(id_max, INT), OF_PARTITION(types, TEXT),
                                           OF_PARTITION(limit, INT)};
static const pawl__field_list known_by  = {.items = of_partition, .count = 5};
static const pawl__field_list others_by = {.items = of_partition, .count = 4};

/* NULL: no memory. */
static char *list_types(const pawl_leased_batch_claim *claim, pawl_arena *arena)
{
    size_t size = 1;
    for (size_t i = 0; i < claim->type_count; i++)
        size += 2 * claim->types[i].size + 1;
    char *list = pawl_arena_take(arena, size), *at = list;
    for (size_t i = 0; list != NULL && i < claim->type_count; i++) {
        if (i > 0)
            *at++ = ',';
        for (size_t byte = 0; byte < claim->types[i].size; byte++, at += 2)
            (void)snprintf(at, 3, "%02X", (unsigned char)claim->types[i].data[byte]);
    }
    if (list != NULL)
        *at = '\0';
    return list;
}

/* As read_partition, by two statements of the family, which neither lock nor read rows over the limit. */
static pawl_code read_known(pawl_store *store, const pawl_leased_batch_claim *claim,
                            pawl_arena *arena, pawl_leased_batch *rows, pawl_error *error)
{
    const pawl__sql_family *family = ((pawl__sql_store *)store)->family;
    const char             *types  = list_types(claim, arena);
    pawl_found              found  = {0};
    const partition_by      by     = {.partition = claim->partition,
                                      .now       = claim->now,
                                      .id_max    = claim->id_max != 0 ? claim->id_max : INT64_MAX,
                                      .types     = pawl_text_of(types != NULL ? types : ""),
                                      .limit     = pawl__sql_limit(claim->count_max)};
    const pawl__sql_asked   known  = {family->partition_known, &known_by, &by,
                                      &pawl__aggregator_row_fields, sizeof *rows->items};
    const pawl__sql_asked   others = {family->partition_others, &others_by, &by, &pawl__one_int, 0};
    if (types == NULL)
        return pawl__sql_no_memory(store, "a claim", error);
    pawl_code code = pawl__sql_read(store, &known, arena, &found, error);
    *rows          = (pawl_leased_batch){.items = found.items, .count = found.count};
    if (code != PAWL_OK || is_full(claim, rows))
        return code;
    return pawl__sql_read_first(store, &others, NULL, &rows->unresolved, error);
}

static pawl_code mark_partition(pawl_store *store, const pawl_leased_batch_claim *claim,
                                pawl_arena *arena, pawl_leased_batch *leased, pawl_error *error)
{
    stamp      *stamps;
    const stamp row  = {.session = claim->session,
                        .expires = pawl_time_add(claim->now, claim->lease),
                        .worker  = store->worker};
    pawl_code   code = make_stamps(store, &row, leased->count, arena, &stamps, error);
    for (size_t i = 0; code == PAWL_OK && i < leased->count; i++) {
        leased->items[i].session       = row.session;
        leased->items[i].lease_expires = row.expires;
        stamps[i].row                  = leased->items[i].id;
    }
    return code != PAWL_OK ? code
                           : pawl__sql_write_rows(store, &stamp_snapshot, stamps, sizeof *stamps,
                                                  leased->count, NULL, error);
}

static pawl_code claim_snapshot(pawl_store *store, const pawl_leased_batch_claim *claim,
                                pawl_arena *arena, pawl_leased_batch *leased, pawl_error *error)
{
    pawl_code code = pawl__sql_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = ((pawl__sql_store *)store)->family->partition_known != 0
               ? read_known(store, claim, arena, leased, error)
               : read_partition(store, claim, arena, leased, error);
    if (code == PAWL_OK)
        code = mark_partition(store, claim, arena, leased, error);
    return pawl__sql_stamp_end(store, code, error);
}

pawl_code pawl__sql_leased_batch_claim(pawl_store *store, const pawl_leased_batch_claim *claim,
                                       pawl_arena *arena, pawl_leased_batch *leased,
                                       pawl_error *error)
{
    pawl_code code;
    PAWL__SQL_TRY(store, code, claim_snapshot(store, claim, arena, leased, error));
    return code;
}

/* ---- Counts of a partition ------------------------------------------------ */

static const pawl__field_list flush_row =
    PAWL__FIELDS(PAWL__AS_OF(pawl_aggregator_counts, flush_due, TIME),
                 PAWL__AS_OF(pawl_aggregator_counts, flush_attempts, INT32),
                 PAWL__AS_OF(pawl_aggregator_counts, flush_is_dead, FLAG));

static pawl_code count_rows(pawl_store *store, pawl_text partition, const pawl_text *types,
                            size_t type_count, pawl_time now, pawl_aggregator_counts *counts,
                            pawl_error *error)
{
    const pawl__sql_ops  *ops     = pawl__sql_ops_of(store);
    row_head              head    = {.id = 0};
    pawl__sql_request    *request = NULL;
    const pawl__sql_asked asked   = {PAWL__SQL_AGGREGATOR_HEAD, &pawl__one_text, &partition,
                                     &head_row, 0};
    pawl_code             code    = pawl__sql_run(store, &asked, NULL, &request, error);
    while (code == PAWL_OK && ops->next(request)) {
        ops->get(request, &head_row, &head);
        bool resolved = pawl__find_word(head.type, types, (int)type_count) >= 0;
        counts->all++;
        counts->resolved += resolved;
        counts->ready += resolved && (head.lease_expires == 0 || head.lease_expires <= now);
        if (head.id > counts->id_last)
            counts->id_last = head.id;
    }
    pawl_code ended = ops->end(request);
    return code != PAWL_OK ? code : ended;
}

pawl_code pawl__sql_aggregator_count(pawl_store *store, pawl_text partition, const pawl_text *types,
                                     size_t type_count, pawl_time now,
                                     pawl_aggregator_counts *counts, pawl_error *error)
{
    const pawl__sql_asked gate = {PAWL__SQL_FLUSH_GET, &pawl__one_text, &partition, &flush_row, 0};
    pawl_code             code = pawl__sql_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = count_rows(store, partition, types, type_count, now, counts, error);
    if (code == PAWL_OK)
        code = pawl__sql_read_first(store, &gate, NULL, counts, error);
    return pawl__sql_read_end(store, code, error);
}

/* ---- The outbox --------------------------------------------------------- */

typedef struct outbox_by {
    pawl_time now;
    int64_t   limit;
    pawl_text endpoint;
} outbox_by;

static const pawl__field_list outbox_due =
    PAWL__FIELDS(PAWL__AS_OF(outbox_by, now, TIME), PAWL__AS_OF(outbox_by, limit, INT),
                 PAWL__AS_OF(outbox_by, endpoint, TEXT));
static const pawl__field_list outbox_next =
    PAWL__FIELDS(PAWL__AS_OF(outbox_by, now, TIME), PAWL__AS_OF(outbox_by, endpoint, TEXT));
static const pawl__field_list one_time_or_never = PAWL__FIELDS(PAWL__AS_ONE(TIME_OR_NEVER));

/* Reads one row more than asked for: its time becomes next_attempt. */
static pawl_code scan_outbox(pawl_store *store, const outbox_by *by, pawl_arena *arena,
                             pawl_outbox_rows *rows, pawl_error *error)
{
    const pawl__sql_asked due  = {PAWL__SQL_OUTBOX_DUE, &outbox_due, by, &pawl__outbox_row_fields,
                                  sizeof *rows->items};
    const pawl__sql_asked next = {PAWL__SQL_OUTBOX_NEXT, &outbox_next, by, &one_time_or_never, 0};
    pawl_found            found;
    pawl_code             code = pawl__sql_read(store, &due, arena, &found, error);
    *rows                      = (pawl_outbox_rows){
                             .items = found.items, .count = found.count, .next_attempt = PAWL_TIME_MAX};
    if (code != PAWL_OK)
        return code;
    if ((int64_t)rows->count < by->limit)
        return pawl__sql_read_first(store, &next, NULL, &rows->next_attempt, error);
    rows->next_attempt = rows->items[--rows->count].next_attempt;
    return PAWL_OK;
}

pawl_code pawl__sql_outbox_claim(pawl_store *store, pawl_text endpoint, pawl_time now,
                                 size_t count_max, pawl_arena *arena, pawl_outbox_rows *rows,
                                 pawl_error *error)
{
    const outbox_by by   = {now, (int64_t)count_max + 1, endpoint};
    pawl_code       code = pawl__sql_read_begin(store, error);
    if (code != PAWL_OK)
        return code;
    code = scan_outbox(store, &by, arena, rows, error);
    code = pawl__sql_read_end(store, code, error);
    return code == PAWL_OK ? pawl__sql_order_sources(rows, arena, error) : code;
}
