/* tables.c - the shared tables and the columns of saga tables.
 *
 * Each index costs a page or two of the log per message, so there are few. Rows in a state that most of them leave
 * have a partial index, which costs nothing afterwards. Long texts are the last columns, so that the others can be
 * read from the first page of a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/tables.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A message's columns; Headers and Body follow. */
#define MESSAGE_COLUMNS                                                    \
    {"MessageId", PAWL__SQL_NAME, false}, {"Type", PAWL__SQL_NAME, false}, \
        {"CorrelationId", PAWL__SQL_NAME, false},                          \
    {                                                                      \
        "CausationId", PAWL__SQL_NAME, false                               \
    }
#define BODY_COLUMNS                    \
    {"Headers", PAWL__SQL_TEXT, false}, \
    {                                   \
        "Body", PAWL__SQL_BODY, false   \
    }

static const pawl__sql_column schema_columns[] = {
    {"Part", PAWL__SQL_NAME, false},
    {"Version", PAWL__SQL_INTEGER, false},
};

static const pawl__sql_column queue_columns[] = {
    {"Seq", PAWL__SQL_SERIAL, false},
    {"Queue", PAWL__SQL_NAME, false},
    {"Due", PAWL__SQL_TIME, false},
    {"Placed", PAWL__SQL_TIME, false},
    {"Attempts", PAWL__SQL_INTEGER, false},
    {"Deaths", PAWL__SQL_INTEGER, false},
    {"WaitingSince", PAWL__SQL_TIME, false},
    MESSAGE_COLUMNS,
    {"Error", PAWL__SQL_TEXT, false},
    {"History", PAWL__SQL_TEXT, true},
    BODY_COLUMNS,
};
static const pawl__sql_index queue_indexes[] = {
    {"queue_message", "[Queue], [MessageId]", true, NULL, NULL, NULL, false},
    {"queue_due", "[Queue], [Due]{tie:[Seq]}", false, NULL, NULL, NULL, false},
};

/* Rows lie roughly in the order of their times, so a sweep begins at the first row, without an index on At. Databases
 * that store rows in the order of a key have this index. */
static const pawl__sql_column inbox_columns[] = {
    {"Endpoint", PAWL__SQL_NAME, false},
    {"MessageId", PAWL__SQL_NAME, false},
    {"Outcome", PAWL__SQL_NAME, false},
    {"At", PAWL__SQL_TIME, false},
};
static const pawl__sql_index inbox_indexes[] = {
    {"inbox_message", "[Endpoint], [MessageId]", true, NULL, NULL, NULL, false},
    {"inbox_at", "[At]", false, NULL, NULL, " mysql mariadb oracle mssql ", false},
};

static const pawl__sql_column dead_columns[] = {
    {"Endpoint", PAWL__SQL_NAME, false},
    {"Queue", PAWL__SQL_NAME, false},
    MESSAGE_COLUMNS,
    {"Code", PAWL__SQL_NAME, false},
    {"Attempts", PAWL__SQL_INTEGER, false},
    {"Deaths", PAWL__SQL_INTEGER, false},
    {"At", PAWL__SQL_TIME, false},
    {"Error", PAWL__SQL_TEXT, false},
    {"History", PAWL__SQL_TEXT, false},
    BODY_COLUMNS,
};
static const pawl__sql_index dead_indexes[] = {
    {"dead_message", "[Endpoint], [MessageId]", true, NULL, NULL, NULL, false},
    {"dead_at", "[At]", false, NULL, NULL, NULL, true},
    {"dead_queue", "[Queue], [At]", false, NULL, NULL, NULL, true},
};

/* No index on Source for pending rows: it would cost a third of the throughput (measured), and only be used after a
 * failed delivery. */
static const pawl__sql_column outbox_columns[] = {
    {"Id", PAWL__SQL_SERIAL, false},
    {"DispatchId", PAWL__SQL_UUID, false},
    {"State", PAWL__SQL_NAME, false},
    {"Attempts", PAWL__SQL_INTEGER, false},
    {"NextAttempt", PAWL__SQL_TIME, false},
    {"Due", PAWL__SQL_TIME, false},
    {"At", PAWL__SQL_TIME, false},
    {"DispatchedAt", PAWL__SQL_TIME, true},
    {"Source", PAWL__SQL_LONG_NAME, false},
    {"Version", PAWL__SQL_INTEGER, false},
    {"Index", PAWL__SQL_INTEGER, false},
    {"Endpoint", PAWL__SQL_NAME, false},
    {"Destination", PAWL__SQL_NAME, false},
    {"AttemptsBefore", PAWL__SQL_INTEGER, false},
    MESSAGE_COLUMNS,
    BODY_COLUMNS,
};
static const pawl__sql_index outbox_indexes[] = {
    {"outbox_dispatch", "[DispatchId]", true, NULL, NULL, NULL, false},
    {"outbox_pending", "[Id], [NextAttempt]", false, "[State] = 'pending'",
     "[State], [Id], [NextAttempt]", " sqlite postgres mssql oracle ", false},
    /* With Endpoint in the index, rows of other endpoints are skipped without reading the table: a claim behind
     * 500,000 of them takes 0.03 s in place of 1.05 s. */
    {"outbox_pending", "[State], [Id], [NextAttempt], [Endpoint]", false, NULL, NULL,
     " mysql mariadb ", false},
    {"outbox_held", "[Source]", false, "[State] = 'held'", "[HeldSource]", NULL, false},
    {"outbox_ended", "[DispatchedAt]", false, "[DispatchedAt] is not null", NULL, NULL, false},
    {"outbox_dead", "[Id]", false, "[State] = 'dead'", "", NULL, false},
    /* "Attempts >= 0" is always true, and keeps a statement that asks for a source from using this index. */
    {"outbox_held_id", "[Id], [NextAttempt]", false, "[State] = 'held' and [Attempts] >= 0", "",
     NULL, false},
    {"outbox_tried", "[Id], [Attempts]", false, "[State] = 'pending' and [Attempts] > 0", "", NULL,
     false},
};

static const pawl__sql_column attempt_columns[] = {
    {"OutboxId", PAWL__SQL_INTEGER, false}, {"Attempt", PAWL__SQL_INTEGER, false},
    {"Outcome", PAWL__SQL_NAME, false},     {"At", PAWL__SQL_TIME, false},
    {"Duration", PAWL__SQL_INTEGER, false}, {"Error", PAWL__SQL_TEXT, false},
};

/* If the database commits in the order of Seq, Seq is the global position, and Position has no indexes. */
static const pawl__sql_column event_columns[] = {
    {"Seq", PAWL__SQL_SERIAL, false},          {"Stream", PAWL__SQL_NAME, false},
    {"Version", PAWL__SQL_INTEGER, false},     {"Type", PAWL__SQL_NAME, false},
    {"TypeVersion", PAWL__SQL_INTEGER, false}, {"MessageId", PAWL__SQL_NAME, false},
    {"CorrelationId", PAWL__SQL_NAME, false},  {"CausationId", PAWL__SQL_NAME, false},
    {"DispatchId", PAWL__SQL_UUID, true},      {"At", PAWL__SQL_TIME, false},
    {"Position", PAWL__SQL_INTEGER, true},     BODY_COLUMNS,
};
static const pawl__sql_index event_indexes[] = {
    {"events_stream", "[Stream], [Version]", true, NULL, NULL, NULL, false},
    {"events_position", "[Position]", true, "[Position] is not null", NULL, NULL, false},
    {"events_unnumbered", "[Seq], [Version]", false, "[Position] is null", "", NULL, false},
    /* Oracle's indexes leave out rows whose indexed columns are all null. */
    {"events_numbering", "[Position], [Seq]", false, NULL, NULL, " oracle ", false},
};

static const pawl__sql_column fold_columns[] = {
    {"Stream", PAWL__SQL_NAME, false},         {"Version", PAWL__SQL_INTEGER, false},
    {"TypeVersion", PAWL__SQL_INTEGER, false}, {"At", PAWL__SQL_TIME, false},
    {"State", PAWL__SQL_TEXT, false},          {"Dispatches", PAWL__SQL_TEXT, false},
};

static const pawl__sql_column checkpoint_columns[] = {
    {"Name", PAWL__SQL_NAME, false},
    {"Position", PAWL__SQL_INTEGER, false},
    {"At", PAWL__SQL_TIME, false},
};

static const pawl__sql_column timeout_columns[] = {
    {"Id", PAWL__SQL_UUID, false},         {"Generation", PAWL__SQL_INTEGER, false},
    {"SagaId", PAWL__SQL_UUID, true},      {"SagaType", PAWL__SQL_NAME, false},
    {"Name", PAWL__SQL_NAME, false},       {"Destination", PAWL__SQL_NAME, false},
    {"Due", PAWL__SQL_TIME, false},        {"Attempts", PAWL__SQL_INTEGER, false},
    {"Owner", PAWL__SQL_UUID, true},       {"LeaseExpires", PAWL__SQL_TIME, true},
    {"LeaseWorker", PAWL__SQL_UUID, true}, {"CorrelationId", PAWL__SQL_NAME, false},
    {"Headers", PAWL__SQL_TEXT, false},
};
static const pawl__sql_index timeout_indexes[] = {
    {"timeouts_saga", "[SagaId], [Name]", true, "[SagaId] is not null and [Name] <> ''",
     "[SagaId], [SagaName]", NULL, false},
    {"timeouts_own", "[SagaId]", false, "[SagaId] is not null and [Name] = ''", "", NULL, false},
    {"timeouts_due", "[Destination], [Due]{tie:[Id]}", false, NULL, NULL, NULL, false},
    {"timeouts_lease", "[LeaseExpires]", false, "[LeaseExpires] is not null", NULL, NULL, false},
    /* Oracle's unique indexes compare the columns that are not null; so both columns are null, or none. Timeouts
     * without a name are found by a plain index. */
    {"timeouts_named", "[NamedSaga], [NamedName]", true, NULL, NULL, " oracle ", false},
    {"timeouts_of_saga", "[SagaId]", false, NULL, NULL, " oracle ", false},
    /* On SQL Server a claim for any destination locks each row that it reads: this index limits them to due rows. */
    {"timeouts_any", "[Due], [Id]", false, NULL, NULL, " mssql ", false},
    {"timeouts_worker", "[LeaseWorker]", false, "[LeaseWorker] is not null", NULL, NULL, false},
};

static const pawl__sql_column aggregator_columns[] = {
    {"Id", PAWL__SQL_SERIAL, false},
    {"Name", PAWL__SQL_NAME, false},
    {"Partition", PAWL__SQL_NAME, false},
    {"Key", PAWL__SQL_NAME, false},
    {"At", PAWL__SQL_TIME, false},
    {"Session", PAWL__SQL_UUID, true},
    {"LeaseExpires", PAWL__SQL_TIME, true},
    {"LeaseWorker", PAWL__SQL_UUID, true},
    MESSAGE_COLUMNS,
    BODY_COLUMNS,
};
static const pawl__sql_index aggregator_indexes[] = {
    {"aggregator_key", "[Partition], [Key]", true, NULL, NULL, NULL, false},
    {"aggregator_at", "[Partition], [At]{tie:[Id]}", false, NULL, NULL, NULL, false},
    {"aggregator_lease", "[LeaseWorker]", false, "[LeaseWorker] is not null", NULL, NULL, false},
};

static const pawl__sql_column flush_columns[] = {
    {"Partition", PAWL__SQL_NAME, false}, {"Name", PAWL__SQL_NAME, false},
    {"Due", PAWL__SQL_TIME, false},       {"Attempts", PAWL__SQL_INTEGER, false},
    {"Dead", PAWL__SQL_INTEGER, false},   {"Error", PAWL__SQL_TEXT, false},
};
static const pawl__sql_index flush_indexes[] = {
    {"aggregator_flush_due", "[Name], [Due]", false, "[Dead] = 0", "[Name], [Dead], [Due]", NULL,
     false},
    {"aggregator_flush_dead", "[Name]", false, "[Dead] = 1", "", NULL, false},
};

static const pawl__sql_column subscription_columns[] = {
    {"Type", PAWL__SQL_NAME, false},
    {"Queue", PAWL__SQL_NAME, false},
};

static const pawl__sql_column worker_columns[] = {
    {"Id", PAWL__SQL_UUID, false},          {"Endpoint", PAWL__SQL_NAME, false},
    {"Epoch", PAWL__SQL_INTEGER, false},    {"LastCommit", PAWL__SQL_UUID, true},
    {"Process", PAWL__SQL_INTEGER, false},  {"Pid", PAWL__SQL_INTEGER, false},
    {"Seen", PAWL__SQL_TIME, false},        {"Messages", PAWL__SQL_INTEGER, false},
    {"Timeouts", PAWL__SQL_INTEGER, false}, {"Flushes", PAWL__SQL_INTEGER, false},
    {"Failures", PAWL__SQL_INTEGER, false}, {"Conflicts", PAWL__SQL_INTEGER, false},
    {"Dead", PAWL__SQL_INTEGER, false},     {"Host", PAWL__SQL_NAME, true},
    {"Program", PAWL__SQL_NAME, true},      {"ProgramVersion", PAWL__SQL_NAME, true},
    {"PawlVersion", PAWL__SQL_NAME, true},  {"Started", PAWL__SQL_TIME, true},
    {"Types", PAWL__SQL_TEXT, false},
};

/* Names: "queue:NAME" belongs to a process, "lead:NAME" and "claim:SEQ" (queue_stamp.c) to a worker. */
static const pawl__sql_column lease_columns[] = {
    {"Name", PAWL__SQL_LONG_NAME, false},  {"Worker", PAWL__SQL_UUID, true},
    {"Process", PAWL__SQL_INTEGER, false}, {"Pid", PAWL__SQL_INTEGER, false},
    {"Epoch", PAWL__SQL_INTEGER, false},   {"Expires", PAWL__SQL_TIME, false},
};

/* No index on At, since rows lie roughly in the order of their times. A row without a saga is found only by its
 * message. */
static const pawl__sql_column history_columns[] = {
    {"Id", PAWL__SQL_SERIAL, false},        {"Endpoint", PAWL__SQL_NAME, false},
    {"Source", PAWL__SQL_LONG_NAME, false}, {"MessageId", PAWL__SQL_NAME, false},
    {"Type", PAWL__SQL_NAME, false},        {"Kind", PAWL__SQL_NAME, false},
    {"Outcome", PAWL__SQL_NAME, false},     {"Version", PAWL__SQL_INTEGER, false},
    {"Attempts", PAWL__SQL_INTEGER, false}, {"Duration", PAWL__SQL_INTEGER, false},
    {"At", PAWL__SQL_TIME, false},          {"Error", PAWL__SQL_TEXT, false},
    {"Out", PAWL__SQL_TEXT, false},
};
static const pawl__sql_index history_indexes[] = {
    {"history_source", "[Source], [Id]", false, "[Source] <> ''", "[Source], [Id]", NULL, false},
    {"history_message", "[MessageId], [Id]", false, NULL, NULL, NULL, false},
};

#define COLUMNS(list) (list), COUNT(list)
#define NO_INDEXES NULL, 0

/* The version comes last, so that an aborted script leaves none. */
const pawl__sql_table pawl__sql_tables[] = {
    {"queue", PAWL__SQL_TABLES_OF_MESSAGES, "Messages that wait to be handled",
     COLUMNS(queue_columns), NULL, false, COLUMNS(queue_indexes)},
    {"dead", PAWL__SQL_TABLES_OF_MESSAGES,
     "Dead letters: messages and timeouts that failed for good", COLUMNS(dead_columns), NULL, false,
     COLUMNS(dead_indexes)},
    {"inbox", PAWL__SQL_TABLES_OF_MESSAGES, "Ids of the messages that an endpoint has handled",
     COLUMNS(inbox_columns), NULL, false, COLUMNS(inbox_indexes)},
    {"outbox", PAWL__SQL_TABLES_OF_OUTBOX, "Messages to be delivered to other systems",
     COLUMNS(outbox_columns), NULL, false, COLUMNS(outbox_indexes)},
    {"outbox_attempts", PAWL__SQL_TABLES_OF_OUTBOX, "Attempts to deliver a row of the outbox",
     COLUMNS(attempt_columns),
     "primary key ([OutboxId], [Attempt]),\n"
     "    foreign key ([OutboxId]) references {outbox} ([Id]) on delete cascade",
     true, NO_INDEXES},
    {"events", PAWL__SQL_TABLES_OF_EVENTS, "Events of streams, in their order",
     COLUMNS(event_columns), NULL, false, COLUMNS(event_indexes)},
    {"folds", PAWL__SQL_TABLES_OF_EVENTS, "States of streams, so that not all events are read",
     COLUMNS(fold_columns), "primary key ([Stream])", false, NO_INDEXES},
    {"checkpoints", PAWL__SQL_TABLES_OF_EVENTS, "How far a projection has read the events",
     COLUMNS(checkpoint_columns), "primary key ([Name])", true, NO_INDEXES},
    {"timeouts", PAWL__SQL_TABLES_OF_TIMEOUTS, "Timeouts that are set", COLUMNS(timeout_columns),
     "primary key ([Id])", false, COLUMNS(timeout_indexes)},
    {"aggregator", PAWL__SQL_TABLES_OF_AGGREGATORS, "Messages that aggregators collect",
     COLUMNS(aggregator_columns), NULL, false, COLUMNS(aggregator_indexes)},
    {"aggregator_flush", PAWL__SQL_TABLES_OF_AGGREGATORS,
     "When a partition of an aggregator is due", COLUMNS(flush_columns),
     "primary key ([Partition])", false, COLUMNS(flush_indexes)},
    {"subscriptions", PAWL__SQL_TABLES_OF_MESSAGES, "Queues that get a copy of what is published",
     COLUMNS(subscription_columns), "primary key ([Type], [Queue])", true, NO_INDEXES},
    {"workers", PAWL__SQL_TABLES_OF_WORKERS, "Threads at work, and their counts",
     COLUMNS(worker_columns), "primary key ([Id])", false, NO_INDEXES},
    {"leases", PAWL__SQL_TABLES_OF_WORKERS, "Rights that only one worker or process has",
     COLUMNS(lease_columns), "primary key ([Name])", true, NO_INDEXES},
    {"history", PAWL__SQL_TABLES_OF_MESSAGES,
     "What became of each message, where an endpoint keeps it", COLUMNS(history_columns), NULL,
     false, COLUMNS(history_indexes)},
    {"schema", PAWL__SQL_TABLES_OF_WORKERS, "Version of these tables", COLUMNS(schema_columns),
     "primary key ([Part])", true, NO_INDEXES},
};
const size_t pawl__sql_table_count = COUNT(pawl__sql_tables);

/* HeldSource: an index on the sources of all rows would cost a third of the throughput. SagaName, NamedSaga,
 * NamedName: names of a saga's timeouts are unique, except the empty one. */
#define NAMED(column) "case when [SagaId] is not null and [Name] <> {empty} then " column " end"
const pawl__sql_computed pawl__sql_computed_columns[] = {
    {"outbox", "HeldSource", PAWL__SQL_LONG_NAME, "case when [State] = 'held' then [Source] end",
     NULL, false},
    {"timeouts", "SagaName", PAWL__SQL_NAME, "nullif([Name], {empty})", " mysql mariadb ", false},
    {"timeouts", "NamedSaga", PAWL__SQL_UUID, NAMED("[SagaId]"), " oracle ", true},
    {"timeouts", "NamedName", PAWL__SQL_NAME, NAMED("[Name]"), " oracle ", true},
};
const size_t pawl__sql_computed_count = COUNT(pawl__sql_computed_columns);

const pawl__sql_column pawl__sql_saga_columns[] = {
    {"Id", PAWL__SQL_UUID, false},
    {"Metadata", PAWL__SQL_METADATA, false},
    {"Data", PAWL__SQL_JSON, false},
    {"PersistenceVersion", PAWL__SQL_VERSION, false},
    {"SagaTypeVersion", PAWL__SQL_VERSION, false},
    {"Concurrency", PAWL__SQL_INTEGER, false},
};
const size_t pawl__sql_saga_column_count = COUNT(pawl__sql_saga_columns);
