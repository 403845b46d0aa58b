/* postgres.c - the dialect of PostgreSQL: column types, settings of tables, and the SQL function (D16).
 *
 * The function lets programs in other languages, and triggers, send a message in a transaction
 * of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/queue_fields.h"
#include "store/sql/dialects.h"

/* ---- The function that sends -------------------------------------------- */

/* send() refuses what pawl refuses (pawl/limits.h), inserts what a commit inserts, and sends NOTIFY
 * to the handles that sleep for the queue. Its search path is that of the script: the schema of the
 * tables and no other. The channel's name is the driver's (wait.c); the function reads schema and
 * prefix for it from the catalog, since a template cannot have them in a literal. A template cannot
 * have braces either, so missing headers become an object that a function makes. */
const char pawl__pg_send_name[] = "send";
const char pawl__pg_send_function[] =
    "create or replace function {send} (\n"
    "    queue text,\n"
    "    type text,\n"
    "    body text,\n"
    "    due timestamptz default null, -- null: now()\n"
    "    message_id text default null, -- null: a new uuid\n"
    "    headers text default null, -- a JSON object of strings; null: none\n"
    "    correlation_id text default null -- null: the message id\n"
    ") returns text language plpgsql set search_path from current as $pawl$\n"
    "declare\n"
    "    id text := coalesce(message_id, gen_random_uuid()::text);\n"
    "    correlation text := coalesce(correlation_id, id);\n"
    "    at timestamptz := coalesce(due, now());\n"
    "    given text := coalesce(headers, json_build_object()::text);\n"
    "    is_object boolean;\n"
    "    bad record;\n"
    "begin\n"
    "    select v.name, v.value is null as is_null, octet_length(v.value) as size, v.size_max\n"
    "        into bad\n"
    "        from (values (1, 'queue', queue, 200, true), (2, 'type', type, 200, true),\n"
    "            (3, 'message_id', id, 200, true), (4, 'correlation_id', correlation, 200, false),\n"
    "            (5, 'headers', given, 65536, false), (6, 'body', body, 16777216, false))\n"
    "            as v (n, name, value, size_max, is_required)\n"
    "        where v.value is null or octet_length(v.value) > v.size_max\n"
    "            or (v.is_required and v.value = '')\n"
    "        order by v.n limit 1;\n"
    "    if found and bad.is_null then\n"
    "        raise exception 'pawl: % is null', bad.name using errcode = '22004';\n"
    "    elsif found and bad.size = 0 then\n"
    "        raise exception 'pawl: % is empty', bad.name using errcode = '22023';\n"
    "    elsif found then\n"
    "        raise exception 'pawl: % has % bytes, limit %', bad.name, bad.size, bad.size_max\n"
    "            using errcode = '22023';\n"
    "    elsif at < '0001-01-01 00:00:00+00' or at >= '10000-01-01 00:00:00+00' then\n"
    "        raise exception 'pawl: due is %, expected a time of the years 1 to 9999', at\n"
    "            using errcode = '22023';\n"
    "    end if;\n"
    "    if given <> '' and headers is not null then\n"
    "        begin\n"
    "            select jsonb_typeof(given::jsonb) = 'object' into is_object;\n"
    "            if is_object then\n"
    "                select coalesce(bool_and(jsonb_typeof(h.value) = 'string'), true)\n"
    "                    into is_object from jsonb_each(given::jsonb) as h;\n"
    "            end if;\n"
    "        exception when data_exception then\n"
    "            is_object := false;\n"
    "        end;\n"
    "        if not is_object then\n"
    "            raise exception 'pawl: headers are no JSON object of strings'\n"
    "                using errcode = '22023';\n"
    "        end if;\n"
    "    end if;\n"
    "    insert into {queue} ([Queue], [Due], [Placed], [Attempts], " PAWL__QUEUE_NEW_COLUMNS ",\n"
    "        [Error], [MessageId], [Type], [CorrelationId], [CausationId], [Headers], [Body])\n"
    "        values (queue, at, at, 0, " PAWL__QUEUE_NEW_VALUES
    ", '', id, type, correlation, '', given,\n"
    "            convert_to(body, 'UTF8'))\n"
    "        on conflict ([Queue], [MessageId]) do nothing;\n"
    "    perform pg_notify('pawl_' || md5(s.nspname || '.' || left(c.relname, -5)), queue)\n"
    "        from pg_type as t join pg_class as c on c.oid = t.typrelid\n"
    "            join pg_namespace as s on s.oid = c.relnamespace\n"
    "        where t.oid = pg_typeof(null::{queue});\n"
    "    return id;\n"
    "end $pawl$";

/* ---- Settings of the tables --------------------------------------------- */

/* Autovacuum counts dead rows here, not shares of the table. Every message leaves a dead row in the
 * queue and most leave one in another table, and the server's own rule (a fifth of the table) suits tables
 * that grow: after a backlog it would let a queue that is nearly empty keep hundreds of thousands
 * of dead entries, which a claim reads. Vacuum runs without delays: these tables are small, or
 * should become so. Long values in TOAST tables follow the settings of their table.
 *
 * inbox: it has the rows of a week, and each vacuum reads its whole index: so it runs, at the
 * server's own pace, when a fiftieth of the rows are dead.
 *
 * events: the same, since each is updated once for its position, and leaves an entry in the index
 * of those without one. folds and checkpoints: their rows are updated again and again.
 *
 * history: a sweep begins at the oldest entries, and would read those of deleted rows.
 *
 * workers, leases: each commit or renewal updates a row. With most of a page free the new version
 * stays on the page, and no index is written. timeouts: a lease is written and cleared, and no
 * index has its columns.
 *
 * A script sets these only if it makes or changes something: an administrator's own settings stay
 * as long as the schema is complete. */
#define BUSY_AND(more, table)                                                    \
    "alter table " table " set (" more "autovacuum_vacuum_scale_factor = 0.01, " \
    "autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0)"
#define BUSY(table) BUSY_AND("", table)

/* Logical replication identifies rows of a table without a primary key by one of its unique indexes; without one
 * the server refuses each delete in a publication. An administrator's own choice stays. */
#define IDENTITY(table, index)                                                                    \
    "do $do$ begin if exists (select from pg_class as c where c.oid = $pawl$" table               \
    "$pawl$::regclass "                                                                           \
    "and " PAWL__PG_IS_UNNAMED ") then alter table " table " replica identity using index " index \
    "; end if; end $do$"

/* Tables of few rows that are updated again and again. */
#define STEADY(table)                                                                  \
    "alter table " table " set (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, " \
    "autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)"

static const pawl__sql_extra after_create[] = {
    {"queue", BUSY("{queue}")},
    {"queue", pawl__pg_send_function},
    {"queue",
     "comment on function {send} (text, text, text, timestamptz, text, text, text) is "
     "'Sends a message to a queue in the caller''s transaction; returns its id. An id that is in "
     "the queue already changes nothing.'"},
    {"dead", IDENTITY("{dead}", "{dead_message}")},
    {"inbox", IDENTITY("{inbox}", "{inbox_message}")},
    {"inbox", "alter table {inbox} set (autovacuum_vacuum_scale_factor = 0.02, "
              "autovacuum_vacuum_threshold = 10000)"},
    {"outbox", BUSY("{outbox}")},
    {"outbox_attempts", BUSY("{outbox_attempts}")},
    {"events", "alter table {events} set (autovacuum_vacuum_scale_factor = 0.02, "
               "autovacuum_vacuum_threshold = 10000)"},
    {"folds", "alter table {folds} set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)"},
    {"checkpoints", STEADY("{checkpoints}")},
    {"leases", STEADY("{leases}")},
    {"history", "alter table {history} set (autovacuum_vacuum_scale_factor = 0.01, "
                "autovacuum_vacuum_threshold = 10000)"},
    {"timeouts", BUSY_AND("fillfactor = 50, ", "{timeouts}")},
    {"aggregator", BUSY("{aggregator}")},
    {"aggregator_flush", BUSY("{aggregator_flush}")},
    {"workers", STEADY("{workers}")},
    {NULL, NULL},
};

static const pawl__sql_extra before_drop[] = {
    {"queue", "drop function if exists {send} (text, text, text, timestamptz, text, text, text)"},
    {NULL, NULL},
};

/* With an index on the columns of a lease each lease would write all indexes of the row: leases are found through
 * the ranges of timeout_statements.h instead. */
static const char *const no_indexes[] = {"timeouts_lease", "timeouts_worker", NULL};

/* fillfactor: a saga is saved a few times, mostly with the same correlation values. With room on the page the new
 * version stays there, and no index is written. */
#define SAGA_END " with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)"

/* An advisory lock makes two scripts run one after the other; 1885435756 is 'pawl'. The script waits a minute for
 * it, and for locks of tables that programs use. The search path is the schema of the tables alone, for the
 * function. The server cuts names longer than 63 bytes, so none is sent. */
#define WORDS                                                                                   \
    .name = "postgres", .product = "PostgreSQL 14 or later",                                    \
    .client     = "psql -v ON_ERROR_STOP=1 -f FILE",                                            \
    .safety     = "One transaction: all of it is done, or nothing. Two at once take turns",     \
    .in_schema  = "create schema if not exists %n;\n"                                           \
                  "select set_config('search_path', quote_ident(%s), true);",                   \
    .quote_open = '"', .quote_close = '"',                                                      \
    .types =                                                                                    \
        {                                                                                       \
            [PAWL__SQL_SERIAL]    = "bigserial primary key",                                    \
            [PAWL__SQL_INTEGER]   = "bigint",                                                   \
            [PAWL__SQL_TIME]      = "timestamptz",                                              \
            [PAWL__SQL_NAME]      = "text collate \"C\"",                                       \
            [PAWL__SQL_LONG_NAME] = "text",                                                     \
            [PAWL__SQL_UUID]      = "uuid",                                                     \
            [PAWL__SQL_TEXT]      = "text",                                                     \
            [PAWL__SQL_BODY]      = "bytea",                                                    \
            [PAWL__SQL_JSON]      = "jsonb",                                                    \
            [PAWL__SQL_METADATA]  = "text",                                                     \
            [PAWL__SQL_VERSION]   = "character varying(23)",                                    \
            [PAWL__SQL_KEY_TEXT]  = "character varying(200) collate \"C\"",                     \
            [PAWL__SQL_KEY_INT]   = "bigint",                                                   \
            [PAWL__SQL_KEY_TIME]  = "timestamp",                                                \
    },                                                                                          \
    .catalog_types =                                                                            \
        {                                                                                       \
            [PAWL__SQL_SERIAL]   = "bigint",                                                    \
            [PAWL__SQL_TIME]     = "timestamp with time zone",                                  \
            [PAWL__SQL_VERSION]  = "character varying(23)",                                     \
            [PAWL__SQL_KEY_TEXT] = "character varying(200)",                                    \
            [PAWL__SQL_KEY_TIME] = "timestamp without time zone",                               \
    },                                                                                          \
    .collation = "C", .json_check = "", .integer = "cast(%s as bigint)", .epoch = "'epoch'",    \
    .locks  = {"", " for update", " for update skip locked"},                                   \
    .ignore = "on conflict (%s) do nothing", .table_end = "", .keyed_end = "",                  \
    .saga_end = SAGA_END, .name_size_max = 63, .prefix_size_max = 20, .hashed_index = "Index_", \
    .hash_digits = 32, .tells_case = true, .adds_columns = true, .no_indexes = no_indexes,      \
    .after_create = after_create, .before_drop = before_drop,                                   \
    .script_begin = "begin;\n"                                                                  \
                    "set local lock_timeout = '1min';\n"                                        \
                    "set local client_min_messages = warning;\n"                                \
                    "select pg_advisory_xact_lock(1885435756);\n"                               \
                    "select set_config('search_path', quote_ident(current_schema()), true);",   \
    .script_end   = "commit;"

const pawl__sql_dialect pawl__pg_dialect       = {WORDS, .parameter = "$%u"};
const pawl__sql_dialect pawl__pg_plain_dialect = {WORDS, .parameter = "?", .clock = "now()"};
