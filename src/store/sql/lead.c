/* lead.c - the leases of leaders, each held by a worker (entries lead, unlead).
 *
 * The row "lead:NAME" is read first without a transaction, since workers that do not lead
 * call this repeatedly. If the lease is free, it is read again in the transaction that takes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/lead.h"

#include "store/core/refusal.h"
#include "store/sql/operations.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

pawl_code pawl__sql_lease_name(const pawl_store *store, const char *kind, pawl_text name,
                               pawl__sql_lease_name_text *result, pawl_error *error)
{
    size_t size = strlen(kind);
    if (name.size == 0 || name.size > PAWL_NAME_SIZE_MAX)
        return pawl_error_set(error, PAWL_EINVAL, "%s: a name of %zu bytes for '%s', limit %d",
                              pawl__sql_ops_of(store)->name, name.size, kind, PAWL_NAME_SIZE_MAX);
    memcpy(result->data, kind, size);
    memcpy(result->data + size, name.data, name.size);
    result->text = (pawl_text){.data = result->data, .size = size + name.size};
    return PAWL_OK;
}

#define LEASE(member, as) PAWL__AS_OF(pawl__sql_lease, member, as)
const pawl__field pawl__sql_lease_fields[6] = {LEASE(name, TEXT),   LEASE(worker, UUID_OR_NULL),
                                               LEASE(process, INT), LEASE(pid, INT),
                                               LEASE(epoch, INT),   LEASE(expires, TIME)};

static const pawl__field_list lease_columns =
    PAWL__FIELDS(LEASE(worker, UUID), LEASE(epoch, INT), LEASE(expires, TIME), LEASE(there, UUID),
                 LEASE(life.process, INT), LEASE(life.seen, TIME));
static const pawl__field_list write_fields = {pawl__sql_lease_fields, 6};
static const pawl__field_list free_fields  = PAWL__FIELDS(LEASE(name, TEXT), LEASE(worker, UUID));
static const pawl__field_list by_name      = {pawl__sql_lease_fields, 1};

/* Taken: another living worker holds the lease, and it has not expired. */
static pawl_code read_lease(pawl_store *store, pawl_text name, pawl_time now,
                            pawl__sql_lease *found, bool *is_taken, pawl_error *error)
{
    const pawl__sql_asked asked = {PAWL__SQL_LEAD_GET, &by_name, found, &lease_columns, 0};
    *found                      = (pawl__sql_lease){.name = name};
    *is_taken                   = false;
    pawl_code code              = pawl__sql_read_first(store, &asked, NULL, found, error);
    bool is_other = found->epoch != 0 && pawl_uuid_compare(found->worker, store->worker.uuid) != 0;
    if (code == PAWL_OK && is_other && found->expires > now && !pawl_uuid_is_zero(found->there)) {
        pawl__sql_life *life = &found->life;
        code                 = pawl__sql_ops_of(store)->which_are_alive(store, &life, 1, error);
        *is_taken            = code == PAWL_OK && found->life.is_alive;
    }
    return code;
}

pawl_code pawl__sql_lease_raise(const pawl_store *store, pawl__sql_lease *lease, pawl_error *error)
{
    if (lease->epoch < 0 || lease->epoch == INT64_MAX)
        return pawl_error_set(error, PAWL_ENOTSTORE,
                              "%s: the lease '%.*s' is damaged: its epoch is %" PRId64
                              "; delete its row while no program runs",
                              pawl__sql_ops_of(store)->name, PAWL_TEXT_ARGS(lease->name),
                              lease->epoch);
    lease->epoch++;
    return PAWL_OK;
}

pawl_code pawl__sql_lease_write(pawl_store *store, const pawl__sql_lease *lease, bool is_there,
                                pawl_error *error)
{
    const pawl__sql_asked asked = {is_there ? PAWL__SQL_LEASE_UPDATE : PAWL__SQL_LEASE_INSERT,
                                   &write_fields, lease, NULL, 0};
    return pawl__sql_read_first(store, &asked, NULL, NULL, error);
}

/* With row locks two workers may try to take an expired lease at the same time: the second waits here, and then
 * reads the row that the first has written. */
static pawl_code lock_row(pawl_store *store, pawl_text name, pawl_error *error)
{
    const pawl__sql_lease         row     = {.name = name};
    static const pawl__field_list nothing = {NULL, 0};
    const pawl__sql_asked         asked   = {PAWL__SQL_LEASE_LOCK, &by_name, &row, &nothing, 0};
    return pawl__sql_ops_of(store)->lock_begin != NULL
               ? pawl__sql_read_first(store, &asked, NULL, NULL, error)
               : PAWL_OK;
}

/* Another worker may have inserted the lease since it was not found. */
static pawl_code take(pawl_store *store, pawl_text name, pawl_time now, int64_t time,
                      int64_t process, bool *is_ours, pawl_error *error)
{
    pawl__sql_lease row;
    bool            is_taken;
    pawl_code       code = lock_row(store, name, error);
    if (code == PAWL_OK)
        code = read_lease(store, name, now, &row, &is_taken, error);
    if (code != PAWL_OK || is_taken)
        return code;
    bool is_there = row.epoch != 0;
    if ((!is_there || pawl_uuid_compare(row.worker, store->worker.uuid) != 0) &&
        (code = pawl__sql_lease_raise(store, &row, error)) != PAWL_OK)
        return code;
    row.worker  = store->worker.uuid;
    row.process = process;
    row.pid     = getpid();
    row.expires = pawl_time_add(now, time);
    code        = pawl__sql_lease_write(store, &row, is_there, error);
    *is_ours    = code == PAWL_OK;
    return code == PAWL_EDUPLICATE && !is_there ? PAWL_OK : code;
}

static pawl_code lead(pawl_store *store, pawl_text name, pawl_time now, int64_t time, bool *is_ours,
                      pawl_error *error)
{
    pawl__sql_lease_name_text full;
    pawl__sql_lease           row;
    int64_t                   process  = 0;
    bool                      is_taken = false;
    pawl_code                 code     = pawl__sql_lease_name(store, "lead:", name, &full, error);
    *is_ours                           = false; /* a try before this one may have said otherwise */
    if (code == PAWL_OK)
        code = pawl__sql_ops_of(store)->own_lock(store, &process, error);
    if (code == PAWL_OK)
        code = read_lease(store, full.text, now, &row, &is_taken, error);
    if (code == PAWL_OK && !is_taken && (code = pawl__sql_stamp_begin(store, error)) == PAWL_OK) {
        code = take(store, full.text, now, time, process, is_ours, error);
        code =
            pawl__sql_stamp_end(store, code, error); /* a failure's is_ours is false: core/call.c */
    }
    return code;
}

pawl_code pawl__sql_lead(pawl_store *store, pawl_text name, pawl_time now, int64_t time,
                         bool *is_ours, pawl_error *error)
{
    pawl_code code;
    PAWL__SQL_TRY(store, code, lead(store, name, now, time, is_ours, error));
    return code;
}

static pawl_code unlead(pawl_store *store, pawl_text name, pawl_error *error)
{
    pawl__sql_lease_name_text full;
    pawl_code                 code = pawl__sql_lease_name(store, "lead:", name, &full, error);
    if (code == PAWL_OK)
        code = pawl__sql_stamp_begin(store, error);
    if (code != PAWL_OK)
        return code;
    const pawl__sql_lease row   = {.name = full.text, .worker = store->worker.uuid};
    const pawl__sql_asked asked = {PAWL__SQL_LEASE_DELETE, &free_fields, &row, NULL, 0};
    return pawl__sql_stamp_end(store, pawl__sql_read_first(store, &asked, NULL, NULL, error),
                               error);
}

pawl_code pawl__sql_unlead(pawl_store *store, pawl_text name, pawl_error *error)
{
    pawl_code code;
    PAWL__SQL_TRY(store, code, unlead(store, name, error));
    return code;
}
