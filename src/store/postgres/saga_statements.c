/* saga_statements.c - the statements on a saga table. All but the count and the scan take arrays of
 * items, so they are PostgreSQL's own. Their texts are made at first use on a connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pawl/pawl.h"
#include "store/postgres/postgres.h"
#include "store/sql/saga_text.h"

#include <stdio.h>

/* ---- Texts -------------------------------------------------------------- */

/* With a subquery for each value the planner can only use the index of the key. Otherwise, with statistics of an
 * empty table, it would take any plan for equally fast. */
#define FIND(lock)                                                     \
    " from unnest(?1) with ordinality as k (v, n) cross join lateral " \
    "(select o.ctid as tid, o.* from {saga} as o where o.{key} = k.v limit 1" lock ") as s"
#define LOAD(lock)                                                         \
    "select k.n, s.tid, s.[Id], s.[Concurrency], s.[Metadata], s.[Data], " \
    "s.[SagaTypeVersion]{columns:s.}" FIND(lock)
#define LOCK " for update"
#define SKIP " for update skip locked"
#define THERE "select k.n, s.[Concurrency]" FIND("")

#define INSERT                                                                                   \
    "insert into {saga} ([Id], [Metadata], [Data], [PersistenceVersion], [SagaTypeVersion], "    \
    "[Concurrency]{columns:}) select k.id, k.metadata, k.data, '" PAWL_VERSION "', k.version, 1" \
    "{1:, k.a}{2:, k.b} from unnest(?1, ?2, ?3, ?4{1:, ?5}{2:, ?6}) "                            \
    "as k (id, metadata, data, version{1:, a}{2:, b}) on conflict do nothing returning [Id]"

/* The items, each with the ctid of the row that has its id. */
#define WITH_TIDS(parameters, names)                                                      \
    "(select k.*, f.tid from unnest(" parameters ") with ordinality as k (" names ", n) " \
    "cross join lateral (select o.ctid as tid from {saga} as o where o.[Id] = k.id limit 1) as f)"

/* IS NOT DISTINCT FROM cannot use the index on the id, so the row is found by its ctid. */
#define WHERE_TID                                                 \
    " where s.ctid = k.tid and s.[Id] is not distinct from k.id " \
    "and s.[Concurrency] = k.version"

/* A transitional value that another saga has, or an earlier item of the statement takes, would be a
 * unique violation, which ends the transaction: such an item is left out. */
#define OTHER "(select o.[Id] from {saga} as o where o.{b} = k.b limit 1)"
#define UPDATE(items, names)                                                                 \
    "update {saga} as s set [Concurrency] = s.[Concurrency] + 1, [Metadata] = k.metadata, "  \
    "[Data] = k.data, [PersistenceVersion] = '" PAWL_VERSION "', "                           \
    "[SagaTypeVersion] = k.type_version{b:, {b} = k.b} from "                                \
    "{b:(select u.*, row_number() over (partition by u.b order by u.n) as turn from }" items \
    " as {b:u}{-b:k}" names "{b:) as k}" WHERE_TID                                           \
    "{b: and (k.b is null or (k.turn = 1 and " OTHER " is null or k.turn = 1 and " OTHER     \
    " = k.id))} returning k.n"
#define UPDATE_NAMES(id) "{b:b, }metadata, data, type_version, " id ", version"
/* The items whose rows still have the expected version: their updates were left out because of a value. */
#define TAKEN                                                                                  \
    "select k.n from unnest(?1, ?2) with ordinality as k (id, version, n) cross join lateral " \
    "(select from {saga} as o where o.[Id] = k.id and o.[Concurrency] = k.version limit 1) as s"

#define BY_KEY(first, by_key)                                                               \
    [(first) + PAWL_SAGA_BY_ID]               = {.text = by_key, .key = PAWL_SAGA_BY_ID},   \
               [(first) + PAWL_SAGA_BY_MAIN]  = {.text = by_key, .key = PAWL_SAGA_BY_MAIN}, \
               [(first) +                                                                   \
                   PAWL_SAGA_BY_TRANSITIONAL] = {.text = by_key, .key = PAWL_SAGA_BY_TRANSITIONAL}

static const pawl__sql_saga_template statements[] = {
    BY_KEY(PAWL__PG_SAGA_BY_ID, LOAD("")),
    BY_KEY(PAWL__PG_SAGA_BY_ID_LOCKED, LOAD(LOCK)),
    BY_KEY(PAWL__PG_SAGA_BY_ID_SKIP, LOAD(SKIP)),
    BY_KEY(PAWL__PG_SAGA_BY_ID_THERE, THERE),
    [PAWL__PG_SAGA_INSERT]    = {.text = INSERT},
    [PAWL__PG_SAGA_UPDATE]    = {.text = UPDATE("unnest(?1, ?2, ?3, ?4, ?5, ?6{b:, ?7}) "
                                                   "with ordinality",
                                                " (" UPDATE_NAMES("tid, id") ", n)")},
    [PAWL__PG_SAGA_UPDATE_ID] = {.text = UPDATE(
                                     WITH_TIDS("?1, ?2, ?3, ?4, ?5{b:, ?6}", UPDATE_NAMES("id")),
                                     "")},
    [PAWL__PG_SAGA_TAKEN]     = {.text = TAKEN},
    [PAWL__PG_SAGA_DELETE]    = {.text = "delete from {saga} as s using " WITH_TIDS(
                                     "?1, ?2", "id, version") " as k" WHERE_TID " returning k.n"},
    [PAWL__PG_SAGA_COUNT]     = {.text = "select count(*) from {saga}"},
    [PAWL__PG_SAGA_SCAN]      = {.text = PAWL__SQL_SAGA_SCAN_TEXT("?1", "?2")},
};
_Static_assert(sizeof statements / sizeof statements[0] == pawl__pg_saga_statement_count,
               "a text for each statement");

void pawl__pg_saga_text(pawl__sql_text *text, const pawl__sql_dialect *dialect,
                        const pawl_saga_table *table, int which)
{
    pawl__sql_saga_expand(text, dialect, table, &statements[which]);
}

/* ---- The tables of a connection ----------------------------------------- */

static pawl_code add_saga(pawl__pg_connection *connection, const pawl_saga_table *table,
                          pawl__pg_saga **saga, pawl_error *error)
{
    pawl__pg_saga *made = pawl_allocate(sizeof *made);
    if (made == NULL)
        return pawl__pg_no_memory(error);
    pawl_code code =
        pawl__sql_saga_copy(&pawl__pg_dialect, table, &made->table, &made->texts, error);
    if (code != PAWL_OK) {
        pawl_free(made);
        return code;
    }
    made->number      = connection->saga_count++;
    made->next        = connection->sagas;
    connection->sagas = made;
    *saga             = made;
    return PAWL_OK;
}

static pawl_code make_text(const pawl__pg_connection *connection, const pawl__pg_saga *saga,
                           int which, pawl__pg_statement *statement, pawl_error *error)
{
    pawl__sql_text text = {0};
    pawl__pg_saga_text(&text, &connection->dialect, &saga->table, which);
    if (text.is_failed) {
        pawl__sql_text_free(&text);
        return pawl__pg_no_memory(error);
    }
    statement->text = text.data;
    (void)snprintf(statement->name, sizeof statement->name, "pawl_s%u_%d", saga->number, which);
    return PAWL_OK;
}

static pawl_code statement_of(pawl__pg_connection *connection, const pawl_saga_table *table,
                              int which, pawl__pg_statement **statement, pawl_error *error)
{
    pawl__pg_saga *saga = connection->sagas;
    pawl_code      code = PAWL_OK;
    while (saga != NULL && !pawl__sql_saga_same(&saga->table, table))
        saga = saga->next;
    if (saga == NULL)
        code = add_saga(connection, table, &saga, error);
    if (code != PAWL_OK)
        return code;
    *statement = &saga->statements[which];
    return (*statement)->text == NULL ? make_text(connection, saga, which, *statement, error)
                                      : PAWL_OK;
}

void pawl__pg_saga_begin(pawl__pg_request *request, pawl__pg_connection *connection,
                         const pawl_saga_table *table, int which, pawl_error *error)
{
    pawl__pg_statement *statement = NULL;
    pawl_code           code      = statement_of(connection, table, which, &statement, error);
    pawl__pg_begin_with(request, connection, statement, error);
    request->code = code;
}
