/* commit.c - splits a change set into parts, and commits each part in rounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/commit.h"

#include "store/core/field.h"

#define PART_DOCUMENTS_MAX 1000
#define PART_SIZE_MAX ((size_t)8 * 1024 * 1024)
#define ABORTS_BEFORE_SMALLER 2

/* ---- Choosing parts ------------------------------------------------------ */

/* Grammar: parts_open -> { parts_choose -> rounds -> parts_close }* while parts_are_left. */
typedef struct parts {
    const pawl_changes *changes;
    pawl_refusals      *refused;
    size_t count_max, size_max; /* of one part, in rows and bytes; a single group may exceed them */
    bool  *is_dropped;          /* by group: not in the current part */
    bool  *is_over;             /* by group: refused, or in an earlier part */
    size_t  *counts, *sizes;    /* by group */
    uint32_t first, end;        /* groups of the current part */
} parts;

/* Bytes of a change's texts. */
static size_t size_of(pawl_change_kind kind, const char *change)
{
    const pawl__field_list *fields = &pawl__change_fields[kind];
    size_t                  size   = 0;
    for (size_t i = 0; i < fields->count; i++)
        switch (fields->items[i].wire) {
        case PAWL__WIRE_TEXT:
        case PAWL__WIRE_ERROR_TEXT:
        case PAWL__WIRE_BYTES:
        case PAWL__WIRE_JSON:
            size += ((const pawl_text *)(const void *)(change + fields->items[i].offset))->size;
            break;
        default: break;
        }
    return size;
}

/* Requires changes, refused and limits to be set. PAWL_ENOMEM sets no error. */
static pawl_code parts_open(parts *p, pawl_arena *arena)
{
    const pawl_changes *changes = p->changes;
    size_t              groups  = changes->group_count + 1;
    p->is_dropped               = pawl_arena_take(arena, groups);
    p->is_over                  = pawl_arena_take(arena, groups);
    p->counts                   = pawl_arena_take(arena, groups * sizeof *p->counts);
    p->sizes                    = pawl_arena_take(arena, groups * sizeof *p->sizes);
    if (p->is_dropped == NULL || p->is_over == NULL || p->counts == NULL || p->sizes == NULL)
        return PAWL_ENOMEM;
    for (int kind = 0; kind < pawl_change_kind_count; kind++) {
        size_t      count = pawl__change_count(changes, (pawl_change_kind)kind);
        const char *item  = pawl__change_items(changes, (pawl_change_kind)kind);
        for (size_t i = 0; i < count; i++, item += pawl__kinds[kind].size) {
            uint32_t group = pawl__change_group(item);
            p->counts[group]++;
            p->sizes[group] += size_of((pawl_change_kind)kind, item);
        }
    }
    return PAWL_OK;
}

/* Selects the groups of a part, at least one, beginning with `first`. May be repeated with other limits. */
static void parts_choose(parts *p)
{
    size_t   count = 0, size = 0;
    uint32_t group = p->first, all = p->changes->group_count;
    pawl__drop_refused(p->refused, 0, p->is_over);
    for (; group < all; group++) {
        if (p->is_over[group])
            continue;
        count += p->counts[group];
        size += p->sizes[group];
        if (group != p->first && (count > p->count_max || size > p->size_max))
            break;
    }
    p->end = group;
    for (group = 0; group < all; group++)
        p->is_dropped[group] = p->is_over[group] || group < p->first || group >= p->end;
}

static void parts_close(parts *p)
{
    pawl__drop_refused(p->refused, 0, p->is_over);
    for (uint32_t group = p->first; group < p->end; group++)
        p->is_over[group] = true;
    p->first = p->end;
}

static bool parts_are_left(const parts *p)
{
    return p->end < p->changes->group_count;
}

/* Refuses the groups of this and later parts after an earlier part was committed; the caller runs them again. */
static pawl_code parts_refuse_rest(parts *p, const pawl_error *failure)
{
    pawl_error why = PAWL_ERROR_INIT;
    (void)pawl_error_set(&why, PAWL_ECONFLICT, "deferred: the commit before it is in, this one: %s",
                         failure != NULL ? failure->text : "failed");
    pawl__drop_refused(p->refused, 0, p->is_over);
    return pawl__refuse_others(p->refused, p->changes, p->is_over, &why);
}

/* ---- Kinds --------------------------------------------------------------- */

/* After a refusal the round is going to be aborted: kinds that cannot be refused are skipped, others only check. */
static pawl_code apply_all(pawl__mongo_writer *writer)
{
    size_t    before = writer->refused->count;
    pawl_code code   = PAWL_OK;
    for (int kind = 0; code == PAWL_OK && kind < pawl_change_kind_count; kind++)
        if (pawl__kinds[kind].is_refusable || writer->refused->count == before)
            code = pawl__mongo_apply(writer, (pawl_change_kind)kind);
    return code;
}

/* ---- Numbers ------------------------------------------------------------- */

/* Reserves as many numbers as the set may need. */
static pawl_code take_numbers(pawl__mongo_writer *writer)
{
    static const pawl_change_kind numbered[] = {pawl_change_queue_send, pawl_change_outbox_add,
                                                pawl_change_aggregator_add,
                                                pawl_change_event_append, pawl_change_history_add};
    size_t                        count      = 0;
    for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++)
        count += pawl__change_count(writer->changes, numbered[i]);
    return count != 0 ? pawl__mongo_numbers(writer->store, count, &writer->number, writer->error)
                      : PAWL_OK;
}

/* ---- Rounds -------------------------------------------------------------- */

/* Runs one transaction. `*is_done` false: groups were refused, and nothing was applied. */
static pawl_code run_round(pawl__mongo_writer *writer, bool *is_done)
{
    pawl_store      *store  = writer->store;
    pawl__mongo     *self   = pawl__mongo_of(store);
    size_t           before = writer->refused->count;
    int64_t          number = writer->number;
    pawl_arena_point point  = pawl_arena_position(writer->arena);
    self->is_transient = self->is_duplicate = self->is_in_doubt = self->is_mismatch = false;
    pawl_code code = pawl__mongo_transaction_begin(store, writer->error);
    if (code == PAWL_OK)
        code = pawl__mongo_fence(store, writer->changes, writer->error);
    if (code == PAWL_OK)
        code = apply_all(writer);
    *is_done = code == PAWL_OK && writer->refused->count == before;
    if (*is_done)
        code = pawl__mongo_transaction_commit(store, writer->error);
    else
        pawl__mongo_transaction_abort(store);
    if (code != PAWL_OK)
        writer->refused->count = before;
    writer->number_end = writer->number;
    if (code != PAWL_OK || !*is_done)
        writer->number = number;
    pawl__drop_refused(writer->refused, before, writer->is_dropped);
    pawl_arena_rewind(writer->arena, point);
    return code;
}

/* Raises the epoch, so that a commit that is still running cannot succeed later, and reads from the worker's document
 * whether the commit was applied. */
static pawl_code settle_doubt(pawl__mongo_writer *writer, bool *is_done)
{
    pawl_code code = writer->store->ops->resolve(writer->store, writer->changes->commit_id, is_done,
                                                 writer->error);
    if (code == PAWL_OK && *is_done)
        writer->number = writer->number_end;
    return code == PAWL_OK || code == PAWL_EFENCED ? code : PAWL_EUNKNOWN;
}

/* ---- Parts --------------------------------------------------------------- */

typedef struct part {
    pawl__mongo_writer writer;
    parts              parts;
} part;

/* Should the part be tried again? After a mismatch or a duplicate at once, with care; after a write conflict after a
 * pause. */
static bool is_begun_again(part *p, pawl_code code, int64_t begun_ms, unsigned *tries)
{
    pawl_store        *store = p->writer.store;
    const pawl__mongo *self  = pawl__mongo_of(store);
    if (code != PAWL_OK && !p->writer.commits_singly && (self->is_mismatch || self->is_duplicate)) {
        p->writer.commits_singly = true;
        return true;
    }
    if (!pawl__mongo_again(store, code, begun_ms, tries))
        return false;
    if (*tries % ABORTS_BEFORE_SMALLER == 0 && p->parts.count_max > 1) {
        p->parts.count_max /= 2;
        parts_choose(&p->parts);
    }
    return true;
}

/* Repeats rounds until the part is committed. */
static pawl_code run_part(part *p)
{
    pawl_store *store    = p->writer.store;
    int64_t     begun_ms = pawl__clock_ms();
    unsigned    tries    = 0;
    bool        is_done  = false;
    pawl_code   code     = PAWL_OK;
    pawl__mongo_of(store)->part++;
    parts_choose(&p->parts);
    p->writer.is_dropped     = p->parts.is_dropped;
    p->writer.commits_singly = false;
    while (code == PAWL_OK && !is_done) {
        code = run_round(&p->writer, &is_done);
        if (code == PAWL_EUNKNOWN)
            code = settle_doubt(&p->writer, &is_done);
        else if (is_begun_again(p, code, begun_ms, &tries)) {
            code    = PAWL_OK;
            is_done = false;
        }
    }
    return code;
}

/* Refuses later parts. If the outcome of the part is unknown, the caller has to resolve it. */
static pawl_code leave_rest(part *p)
{
    pawl_error why = p->writer.error != NULL ? *p->writer.error : (pawl_error)PAWL_ERROR_INIT;
    parts_close(&p->parts);
    if (parts_refuse_rest(&p->parts, &why) != PAWL_OK)
        return pawl__mongo_no_memory(p->writer.error);
    return PAWL_EUNKNOWN;
}

static pawl_code run_parts(part *p)
{
    bool      is_any = false;
    pawl_code code   = PAWL_OK;
    do {
        code = run_part(p);
        if (code == PAWL_OK)
            parts_close(&p->parts);
        else if (code == PAWL_EUNKNOWN)
            return leave_rest(p);
        else if (is_any)
            return parts_refuse_rest(&p->parts, p->writer.error) == PAWL_OK
                       ? PAWL_OK
                       : pawl__mongo_no_memory(p->writer.error);
        is_any = true;
    } while (code == PAWL_OK && parts_are_left(&p->parts));
    return code;
}

/* ---- A set --------------------------------------------------------------- */

/* A set that only releases claims is one write, without a transaction. */
static pawl_code release_rows(pawl__mongo_writer *writer)
{
    size_t before          = writer->refused->count;
    writer->commits_singly = true;
    pawl_code code         = pawl__mongo_apply(writer, pawl_change_queue_settle);
    pawl__drop_refused(writer->refused, before, writer->is_dropped);
    return code;
}

static pawl_code commit(part *p)
{
    pawl__mongo_writer *writer = &p->writer;
    if (parts_open(&p->parts, writer->arena) != PAWL_OK)
        return pawl__mongo_no_memory(writer->error);
    writer->is_dropped = p->parts.is_dropped;
    if (pawl__changes_only_release(writer->changes))
        return release_rows(writer);
    pawl_code code = take_numbers(writer);
    return code == PAWL_OK ? run_parts(p) : code;
}

pawl_code pawl__mongo_commit(pawl_store *store, const pawl_changes *changes, pawl_refusals *refused,
                             pawl_error *error)
{
    part         p     = {.writer = {.store   = store,
                                     .changes = changes,
                                     .refused = refused,
                                     .arena   = pawl_arena_create(0),
                                     .error   = error},
                          .parts  = {.changes   = changes,
                                     .refused   = refused,
                                     .count_max = PART_DOCUMENTS_MAX,
                                     .size_max  = PART_SIZE_MAX}};
    pawl__mongo *self  = pawl__mongo_of(store);
    self->part         = 0;
    self->is_in_commit = true;
    pawl_code code     = p.writer.arena != NULL ? commit(&p) : pawl__mongo_no_memory(error);
    self->is_in_commit = false;
    pawl_arena_destroy(p.writer.arena);
    return code;
}

/* ---- Enlist -------------------------------------------------------------- */

static pawl_code apply_enlisted(pawl__mongo_writer *writer)
{
    writer->is_dropped = pawl_arena_take(writer->arena, writer->changes->group_count + 1);
    if (writer->is_dropped == NULL)
        return pawl__mongo_no_memory(writer->error);
    pawl_code code = take_numbers(writer);
    if (code == PAWL_OK)
        code = apply_all(writer);
    if (code != PAWL_OK || writer->refused->count == 0)
        return code;
    return pawl__refusal_error(&writer->refused->items[0], writer->error);
}

/* Enlisted changes read first, and the server refuses to read from secondaries inside a transaction. */
static bool reads_from_secondaries(const mongoc_client_session_t *session)
{
    mongoc_transaction_opt_t  *options = mongoc_session_opts_get_transaction_opts(session);
    const mongoc_read_prefs_t *prefs =
        options != NULL ? mongoc_transaction_opts_get_read_prefs(options) : NULL;
    bool is_so = prefs != NULL && mongoc_read_prefs_get_mode(prefs) != MONGOC_READ_PRIMARY;
    if (options != NULL)
        mongoc_transaction_opts_destroy(options);
    return is_so;
}

static pawl_code check_session(mongoc_client_session_t *session, pawl_error *error)
{
    mongoc_client_t *client = mongoc_client_session_get_client(session);
    if (!mongoc_write_concern_is_acknowledged(mongoc_client_get_write_concern(client)))
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "enlist: the session's client has the write concern w=0: a write that "
            "nobody acknowledges may be lost; set another one on the client");
    if (!mongoc_client_session_in_transaction(session))
        return pawl_error_set(error, PAWL_EINVAL,
                              "enlist: the session has no open transaction: start one first");
    if (reads_from_secondaries(session))
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "enlist: the transaction's read preference is not primary, which MongoDB's reads in a "
            "transaction must have: set it with mongoc_transaction_opts_set_read_prefs");
    return PAWL_OK;
}

/* Writes in the transaction of the caller's session, which the caller must abort after a failure. */
pawl_code pawl__mongo_enlist(pawl_store *store, void *native, const pawl_changes *changes,
                             pawl_error *error)
{
    pawl__mongo             *self    = pawl__mongo_of(store);
    mongoc_client_session_t *session = native;
    pawl_refusals            refused = {.arena = pawl_arena_create(0)};
    pawl__mongo_writer       writer  = {.store          = store,
                                        .is_enlisted    = true,
                                        .commits_singly = true,
                                        .changes        = changes,
                                        .refused        = &refused,
                                        .arena          = refused.arena,
                                        .error          = error};
    if (refused.arena == NULL)
        return pawl__mongo_no_memory(error);
    pawl_code code   = check_session(session, error);
    self->at_client  = mongoc_client_session_get_client(session);
    self->at_session = session;
    if (code == PAWL_OK)
        code = apply_enlisted(&writer);
    self->at_client  = self->client;
    self->at_session = NULL;
    pawl_arena_destroy(refused.arena);
    return code;
}
