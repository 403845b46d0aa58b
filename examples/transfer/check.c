/* check.c - checks all events in a single pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "check.h"

#include "application.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096

/* ---- What transfers and accounts may do --------------------------------------------- */

typedef enum stage { NONE, REQUESTED, WITHDRAWN, BOUNCED, DONE, FAILED, REFUNDED, OVER } stage;

static const char *const stage_names[] = {"nothing", "requested", "withdrawn", "bounced",
                                          "done",    "failed",    "refunded",  "over"};

/* Parts of a transfer's money that have moved. */
#define TAKEN 1u
#define GIVEN 2u
#define GIVEN_BACK 4u
static const char *const moved_names[] = {"not moved",
                                          "taken",
                                          "given",
                                          "taken and given",
                                          "given back",
                                          "taken and given back",
                                          "given and given back",
                                          "taken, given and given back"};

/* Events of a transfer: from which stage to which, and exactly which money must have moved by then. */
static const struct {
    const char *type;
    stage       from, to;
    unsigned    moved;
} moves[] = {
    {"requested", NONE, REQUESTED, 0},
    {"withdrawn", REQUESTED, WITHDRAWN, TAKEN},
    {"bounced", WITHDRAWN, BOUNCED, TAKEN},
    {"done", WITHDRAWN, DONE, TAKEN | GIVEN},
    {"failed", REQUESTED, FAILED, 0},
    {"failed", BOUNCED, REFUNDED, TAKEN | GIVEN_BACK},
    {"pawl.completed", DONE, OVER, TAKEN | GIVEN},
    {"pawl.completed", FAILED, OVER, 0},
    {"pawl.completed", REFUNDED, OVER, TAKEN | GIVEN_BACK},
};

/* Events of an account: the stage of the transfer in which it may occur, whose account it is, and its sign. Each occurs
 * once for a transfer. */
static const struct {
    const char *type;
    stage       during;
    unsigned    moves;
    bool        is_targets;
    int         sign;
} legs[] = {
    {"debited", REQUESTED, TAKEN, false, -1},
    {"credited", WITHDRAWN, GIVEN, true, 1},
    {"credited_back", BOUNCED, GIVEN_BACK, false, 1},
};
#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* ---- The books -------------------------------------------------------------------------- */

typedef struct one_transfer {
    stage    stage;
    unsigned moved;
    bool     is_overdue;
    int64_t  version;       /* of the last event */
    int64_t  stage_version; /* of the event that began the stage */
} one_transfer;

typedef struct one_account {
    int64_t version;
    int64_t cents;
} one_account;

typedef struct books {
    const transfer_plan *plan;
    transfer_found      *found;
    one_transfer        *transfers;
    one_account         *accounts;
    pawl_arena          *arena;
} books;

void transfer_differ(transfer_found *found, const char *format, ...)
{
    uint64_t number = found->difference_count++;
    if (number >= TRANSFER_DIFFERENCES_SHOWN)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(found->differences[number], sizeof found->differences[0], format, arguments);
    va_end(arguments);
}

/* A difference at an event: begins with its stream and version. */
#define differ_at(books, row, format, ...)                                \
    transfer_differ((books)->found, "%.*s: version %" PRId64 ": " format, \
                    PAWL_TEXT_ARGS((row)->stream), (row)->version, __VA_ARGS__)

static bool is_type(const pawl_event_row *row, const char *type)
{
    return pawl_text_equal(row->event.type, pawl_text_of(type));
}

static bool decode(const books *b, const pawl_event_row *row, const pawl_record *record, void *body)
{
    pawl_error error = PAWL_ERROR_INIT;
    if (pawl_record_decode(record, row->event.body, 0, b->arena, body, &error) == PAWL_OK)
        return true;
    differ_at(b, row, "%.100s", error.text);
    return false;
}

/* ---- Accounts ----------------------------------------------------------------------------- */

static void check_opened(books *b, const pawl_event_row *row, int64_t number)
{
    const open_account *planned = &b->plan->accounts[number - 1];
    account_opened      body;
    if (!decode(b, row, PAWL_RECORD_OF(account_opened)(), &body))
        return;
    if (row->version != 1 || body.cents != planned->cents || body.is_closed != planned->is_closed)
        differ_at(b, row, "opened with %" PRId64 " cents, not once with %" PRId64, body.cents,
                  planned->cents);
    b->accounts[number - 1].cents += body.cents;
}

/* Is it the id of the command that the transfer's event of this version sent? */
static bool is_dispatch_of(const pawl_event_row *row, int64_t transfer, int64_t version)
{
    char             name[60];
    int              size   = snprintf(name, sizeof name, "Transfer/%" PRId64, transfer);
    pawl_dispatch_id wanted = pawl_dispatch_id_make(
        PAWL_TEXT(TRANSFER_TRANSFERS), (pawl_text){.data = name, .size = (size_t)size}, version, 0);
    return pawl_uuid_compare(wanted.uuid, row->event.dispatch_id.uuid) == 0;
}

static void check_leg(books *b, const pawl_event_row *row, int64_t number, size_t leg)
{
    debited body; /* all three events have the same fields */
    if (!decode(b, row, PAWL_RECORD_OF(debited)(), &body))
        return;
    b->accounts[number - 1].cents += legs[leg].sign * body.cents;
    if (body.transfer < 1 || (size_t)body.transfer > b->plan->transfer_count) {
        differ_at(b, row, "of transfer %" PRId64 ", which nobody asked for", body.transfer);
        return;
    }
    const request_transfer *asked = &b->plan->transfers[body.transfer - 1];
    one_transfer           *of    = &b->transfers[body.transfer - 1];
    int64_t                 whose = legs[leg].is_targets ? asked->target : asked->source;
    if ((of->moved & legs[leg].moves) != 0)
        differ_at(b, row, "%s by transfer %" PRId64 " a second time", legs[leg].type,
                  body.transfer);
    else if (of->stage != legs[leg].during)
        differ_at(b, row, "%s by transfer %" PRId64 ", which is %s", legs[leg].type, body.transfer,
                  stage_names[of->stage]);
    else if (!is_dispatch_of(row, body.transfer, of->stage_version))
        differ_at(b, row,
                  "%s by another dispatch than that of Transfer/%" PRId64 ", version %" PRId64,
                  legs[leg].type, body.transfer, of->stage_version);
    if (whose != number || body.cents != asked->cents)
        differ_at(b, row, "%s %" PRId64 " cents, asked for were %" PRId64 " of account %" PRId64,
                  legs[leg].type, body.cents, asked->cents, whose);
    of->moved |= legs[leg].moves;
}

static void check_account(books *b, const pawl_event_row *row, int64_t number)
{
    one_account *account = &b->accounts[number - 1];
    if (row->version != account->version + 1)
        differ_at(b, row, "follows version %" PRId64, account->version);
    account->version = row->version;
    size_t leg       = 0;
    while (leg < COUNT(legs) && !is_type(row, legs[leg].type))
        leg++;
    if (leg < COUNT(legs))
        check_leg(b, row, number, leg);
    else if (is_type(row, "account_opened"))
        check_opened(b, row, number);
    else
        differ_at(b, row, "event '%.*s' of an account", PAWL_TEXT_ARGS(row->event.type));
    if (account->cents < 0)
        differ_at(b, row, "the balance is %" PRId64, account->cents);
}

/* ---- Transfers ------------------------------------------------------------------------------ */

static void check_requested(books *b, const pawl_event_row *row, int64_t number)
{
    const request_transfer *asked = &b->plan->transfers[number - 1];
    requested               body;
    char                    id[PAWL_UUID_TEXT_SIZE + 1];
    if (!decode(b, row, PAWL_RECORD_OF(requested)(), &body))
        return;
    transfer_plan_id(b->plan, number, id);
    if (!pawl_text_equal(row->event.message_id, pawl_text_of(id)))
        differ_at(b, row, "message %.*s, asked for by %s", PAWL_TEXT_ARGS(row->event.message_id),
                  id);
    if (body.transfer != number || body.source != asked->source || body.target != asked->target ||
        body.cents != asked->cents)
        differ_at(b, row, "%" PRId64 " cents from %" PRId64 " to %" PRId64 " were not asked for",
                  body.cents, body.source, body.target);
}

static void check_transfer(books *b, const pawl_event_row *row, int64_t number)
{
    one_transfer *of = &b->transfers[number - 1];
    size_t        i  = 0;
    if (row->version != of->version + 1)
        differ_at(b, row, "follows version %" PRId64, of->version);
    of->version = row->version;
    if (is_type(row, "overdue") && !of->is_overdue && of->stage != NONE && of->stage != OVER) {
        of->is_overdue = true;
        b->found->overdue++;
        return;
    }
    while (i < COUNT(moves) && (moves[i].from != of->stage || !is_type(row, moves[i].type)))
        i++;
    if (i == COUNT(moves)) {
        differ_at(b, row, "%.*s after %s", PAWL_TEXT_ARGS(row->event.type), stage_names[of->stage]);
        return;
    }
    if (moves[i].moved != of->moved)
        differ_at(b, row, "%s, but the money was %s", moves[i].type, moved_names[of->moved]);
    of->stage         = moves[i].to;
    of->stage_version = row->version;
    b->found->done += of->stage == DONE;
    b->found->failed += of->stage == FAILED;
    b->found->refunded += of->stage == REFUNDED;
    if (of->stage == REQUESTED)
        check_requested(b, row, number);
}

/* ---- The pass -------------------------------------------------------------------------------- */

/* The number in "KIND/number"; 0: invalid, or larger than `count`. */
static int64_t number_in(pawl_text stream, const char *kind, size_t count)
{
    char   back[60];
    size_t size = strlen(kind);
    if (stream.size <= size || memcmp(stream.data, kind, size) != 0)
        return 0;
    int64_t number = strtoll(stream.data + size, NULL, 10);
    snprintf(back, sizeof back, "%s%" PRId64, kind, number);
    bool is_good = number > 0 && (size_t)number <= count;
    return is_good && pawl_text_equal(stream, pawl_text_of(back)) ? number : 0;
}

/* An event of the library, for example about a timeout that ran alone after a crash. */
static bool is_of_library(const pawl_event_row *row)
{
    static const char prefix[] = "pawl.";
    size_t            size     = sizeof prefix - 1;
    return row->stream.size > size && memcmp(row->stream.data, prefix, size) == 0;
}

static void check_event(books *b, const pawl_event_row *row)
{
    if (is_of_library(row))
        return;
    int64_t account  = number_in(row->stream, "Account/", b->plan->account_count);
    int64_t transfer = number_in(row->stream, "Transfer/", b->plan->transfer_count);
    b->found->events++;
    if (account != 0)
        check_account(b, row, account);
    else if (transfer != 0)
        check_transfer(b, row, transfer);
    else
        differ_at(b, row, "%s", "a stream that nobody asked for");
}

/* Reads by seq: the event that caused another was committed before that was inserted, so it comes first. */
static pawl_code read_all(books *b, pawl_store *store, pawl_error *error)
{
    pawl_event_query query = {.count_max = PAGE};
    pawl_event_rows  rows;
    pawl_code        code;
    do {
        pawl_arena_reset(b->arena);
        code = pawl_store_events(store, &query, b->arena, &rows, error);
        for (size_t i = 0; code == PAWL_OK && i < rows.count; i++) {
            check_event(b, &rows.items[i]);
            query.after = rows.items[i].seq;
        }
    } while (code == PAWL_OK && rows.count == PAGE);
    return code;
}

static void check_ends(books *b)
{
    for (size_t i = 0; i < b->plan->transfer_count; i++) {
        const one_transfer *of     = &b->transfers[i];
        int64_t             number = (int64_t)i + 1;
        if (of->stage != OVER)
            transfer_differ(b->found, "Transfer/%" PRId64 ": is %s, not settled", number,
                            stage_names[of->stage]);
        else if ((of->moved & GIVEN) != 0 && transfer_plan_is_closed(b->plan, number))
            transfer_differ(b->found, "Transfer/%" PRId64 ": done, to a closed account", number);
        else if (of->moved != 0 && transfer_plan_is_too_much(b->plan, number))
            transfer_differ(b->found, "Transfer/%" PRId64 ": begun, with more than there is",
                            number);
        else if (of->moved == (TAKEN | GIVEN_BACK) && !transfer_plan_is_closed(b->plan, number))
            transfer_differ(b->found, "Transfer/%" PRId64 ": refunded, from an open account",
                            number);
    }
    for (size_t i = 0; i < b->plan->account_count; i++) {
        if (b->accounts[i].version == 0)
            transfer_differ(b->found, "Account/%zu: was never opened", i + 1);
        b->found->cents += b->accounts[i].cents;
    }
    if (b->found->cents != b->plan->cents)
        transfer_differ(b->found, "the balances are %" PRId64 " cents, paid in were %" PRId64,
                        b->found->cents, b->plan->cents);
}

/* Compares with the state that the entity would load: its snapshot and the events after it. */
static pawl_code check_fold(books *b, pawl_store *store, size_t place, pawl_error *error)
{
    char          name[60];
    pawl_stream   stream;
    account_state state = {.cents = 0};
    int           size  = snprintf(name, sizeof name, "Account/%zu", place + 1);
    pawl_arena_reset(b->arena);
    const pawl_stream_read read = {.stream               = {.data = name, .size = (size_t)size},
                                   .snapshot_version_max = 1};
    pawl_code              code = pawl_store_stream_read(store, &read, b->arena, &stream, error);
    if (code != PAWL_OK)
        return code;
    if (stream.snapshot.version > 0)
        code = pawl_record_decode(PAWL_RECORD_OF(account_state)(), stream.snapshot.state, 0,
                                  b->arena, &state, error);
    for (size_t i = 0; i < stream.count && code == PAWL_OK; i++) {
        debited body = {.cents = 0}; /* account_opened has this field, too */
        if (decode(b, &stream.events[i], PAWL_RECORD_OF(debited)(), &body))
            state.cents += is_type(&stream.events[i], "debited") ? -body.cents : body.cents;
    }
    if (code == PAWL_OK &&
        (state.cents != b->accounts[place].cents || stream.version != b->accounts[place].version))
        transfer_differ(b->found,
                        "%s: loaded as %" PRId64 " cents at version %" PRId64 ", the journal says "
                        "%" PRId64 " at %" PRId64,
                        name, state.cents, stream.version, b->accounts[place].cents,
                        b->accounts[place].version);
    return code;
}

pawl_code transfer_check(pawl_store *store, const transfer_plan *plan, transfer_found *found,
                         pawl_error *error)
{
    *found         = (transfer_found){.events = 0};
    books b        = {.plan = plan, .found = found, .arena = pawl_arena_create(0)};
    b.transfers    = pawl_allocate(plan->transfer_count * sizeof b.transfers[0]);
    b.accounts     = pawl_allocate(plan->account_count * sizeof b.accounts[0]);
    pawl_code code = b.arena != NULL && b.transfers != NULL && b.accounts != NULL
                         ? read_all(&b, store, error)
                         : pawl_error_set(error, PAWL_ENOMEM, "out of memory for %zu transfers",
                                          plan->transfer_count);
    if (code == PAWL_OK)
        check_ends(&b);
    for (size_t i = 0; i < plan->account_count && code == PAWL_OK; i++)
        code = check_fold(&b, store, i, error);
    pawl_free(b.transfers);
    pawl_free(b.accounts);
    pawl_arena_destroy(b.arena);
    return code;
}
