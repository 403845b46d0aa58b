-- Tables of pawl, version 5, for SQLite 3.37 or later. To run it:
--     sqlite3 -bail DATABASE <FILE
-- Makes the tables and indexes that are missing, and leaves rows as they are: it may be run
-- again. Tables of an earlier version lack columns, too: "pawl schema apply" adds them
-- One transaction: all of it is done, or nothing. Two at once take turns
pragma busy_timeout = 60000;
pragma journal_mode = wal;
begin immediate;

-- Messages that wait to be handled
create table if not exists "pawl_queue" (
    "Seq" integer primary key autoincrement,
    "Queue" text collate binary not null,
    "Due" integer not null,
    "Placed" integer not null,
    "Attempts" integer not null,
    "Deaths" integer not null,
    "WaitingSince" integer not null,
    "MessageId" text collate binary not null,
    "Type" text collate binary not null,
    "CorrelationId" text collate binary not null,
    "CausationId" text collate binary not null,
    "Error" text not null,
    "History" text null,
    "Headers" text not null,
    "Body" text not null
) strict;
create unique index if not exists "pawl_queue_message"
    on "pawl_queue" ("Queue", "MessageId");
create index if not exists "pawl_queue_due"
    on "pawl_queue" ("Queue", "Due");

-- Dead letters: messages and timeouts that failed for good
create table if not exists "pawl_dead" (
    "Endpoint" text collate binary not null,
    "Queue" text collate binary not null,
    "MessageId" text collate binary not null,
    "Type" text collate binary not null,
    "CorrelationId" text collate binary not null,
    "CausationId" text collate binary not null,
    "Code" text collate binary not null,
    "Attempts" integer not null,
    "Deaths" integer not null,
    "At" integer not null,
    "Error" text not null,
    "History" text not null,
    "Headers" text not null,
    "Body" text not null
) strict;
create unique index if not exists "pawl_dead_message"
    on "pawl_dead" ("Endpoint", "MessageId");
create index if not exists "pawl_dead_at"
    on "pawl_dead" ("At");
create index if not exists "pawl_dead_queue"
    on "pawl_dead" ("Queue", "At");

-- Ids of the messages that an endpoint has handled
create table if not exists "pawl_inbox" (
    "Endpoint" text collate binary not null,
    "MessageId" text collate binary not null,
    "Outcome" text collate binary not null,
    "At" integer not null
) strict;
create unique index if not exists "pawl_inbox_message"
    on "pawl_inbox" ("Endpoint", "MessageId");

-- Messages to be delivered to other systems
create table if not exists "pawl_outbox" (
    "Id" integer primary key autoincrement,
    "DispatchId" text not null,
    "State" text collate binary not null,
    "Attempts" integer not null,
    "NextAttempt" integer not null,
    "Due" integer not null,
    "At" integer not null,
    "DispatchedAt" integer null,
    "Source" text not null,
    "Version" integer not null,
    "Index" integer not null,
    "Endpoint" text collate binary not null,
    "Destination" text collate binary not null,
    "AttemptsBefore" integer default 0 not null,
    "MessageId" text collate binary not null,
    "Type" text collate binary not null,
    "CorrelationId" text collate binary not null,
    "CausationId" text collate binary not null,
    "Headers" text not null,
    "Body" text not null
) strict;
create unique index if not exists "pawl_outbox_dispatch"
    on "pawl_outbox" ("DispatchId");
create index if not exists "pawl_outbox_pending"
    on "pawl_outbox" ("Id", "NextAttempt") where "State" = 'pending';
create index if not exists "pawl_outbox_held"
    on "pawl_outbox" ("Source") where "State" = 'held';
create index if not exists "pawl_outbox_ended"
    on "pawl_outbox" ("DispatchedAt") where "DispatchedAt" is not null;
create index if not exists "pawl_outbox_dead"
    on "pawl_outbox" ("Id") where "State" = 'dead';
create index if not exists "pawl_outbox_held_id"
    on "pawl_outbox" ("Id", "NextAttempt") where "State" = 'held' and "Attempts" >= 0;
create index if not exists "pawl_outbox_tried"
    on "pawl_outbox" ("Id", "Attempts") where "State" = 'pending' and "Attempts" > 0;

-- Attempts to deliver a row of the outbox
create table if not exists "pawl_outbox_attempts" (
    "OutboxId" integer not null,
    "Attempt" integer not null,
    "Outcome" text collate binary not null,
    "At" integer not null,
    "Duration" integer not null,
    "Error" text not null,
    primary key ("OutboxId", "Attempt"),
    foreign key ("OutboxId") references "pawl_outbox" ("Id") on delete cascade
) strict, without rowid;

-- Events of streams, in their order
create table if not exists "pawl_events" (
    "Seq" integer primary key autoincrement,
    "Stream" text collate binary not null,
    "Version" integer not null,
    "Type" text collate binary not null,
    "TypeVersion" integer not null,
    "MessageId" text collate binary not null,
    "CorrelationId" text collate binary not null,
    "CausationId" text collate binary not null,
    "DispatchId" text null,
    "At" integer not null,
    "Position" integer null,
    "Headers" text not null,
    "Body" text not null
) strict;
create unique index if not exists "pawl_events_stream"
    on "pawl_events" ("Stream", "Version");
drop index if exists "pawl_events_position";
drop index if exists "pawl_events_unnumbered";

-- States of streams, so that not all events are read
create table if not exists "pawl_folds" (
    "Stream" text collate binary not null,
    "Version" integer not null,
    "TypeVersion" integer not null,
    "At" integer not null,
    "State" text not null,
    "Dispatches" text not null,
    primary key ("Stream")
) strict;

-- How far a projection has read the events
create table if not exists "pawl_checkpoints" (
    "Name" text collate binary not null,
    "Position" integer not null,
    "At" integer not null,
    primary key ("Name")
) strict, without rowid;

-- Timeouts that are set
create table if not exists "pawl_timeouts" (
    "Id" text not null,
    "Generation" integer not null,
    "SagaId" text null,
    "SagaType" text collate binary not null,
    "Name" text collate binary not null,
    "Destination" text collate binary not null,
    "Due" integer not null,
    "Attempts" integer not null,
    "Owner" text null,
    "LeaseExpires" integer null,
    "LeaseWorker" text null,
    "CorrelationId" text collate binary not null,
    "Headers" text not null,
    primary key ("Id")
) strict;
create unique index if not exists "pawl_timeouts_saga"
    on "pawl_timeouts" ("SagaId", "Name") where "SagaId" is not null and "Name" <> '';
create index if not exists "pawl_timeouts_own"
    on "pawl_timeouts" ("SagaId") where "SagaId" is not null and "Name" = '';
create index if not exists "pawl_timeouts_due"
    on "pawl_timeouts" ("Destination", "Due");
create index if not exists "pawl_timeouts_lease"
    on "pawl_timeouts" ("LeaseExpires") where "LeaseExpires" is not null;
create index if not exists "pawl_timeouts_worker"
    on "pawl_timeouts" ("LeaseWorker") where "LeaseWorker" is not null;

-- Messages that aggregators collect
create table if not exists "pawl_aggregator" (
    "Id" integer primary key autoincrement,
    "Name" text collate binary not null,
    "Partition" text collate binary not null,
    "Key" text collate binary not null,
    "At" integer not null,
    "Session" text null,
    "LeaseExpires" integer null,
    "LeaseWorker" text null,
    "MessageId" text collate binary not null,
    "Type" text collate binary not null,
    "CorrelationId" text collate binary not null,
    "CausationId" text collate binary not null,
    "Headers" text not null,
    "Body" text not null
) strict;
create unique index if not exists "pawl_aggregator_key"
    on "pawl_aggregator" ("Partition", "Key");
create index if not exists "pawl_aggregator_at"
    on "pawl_aggregator" ("Partition", "At");
create index if not exists "pawl_aggregator_lease"
    on "pawl_aggregator" ("LeaseWorker") where "LeaseWorker" is not null;

-- When a partition of an aggregator is due
create table if not exists "pawl_aggregator_flush" (
    "Partition" text collate binary not null,
    "Name" text collate binary not null,
    "Due" integer not null,
    "Attempts" integer not null,
    "Dead" integer not null,
    "Error" text not null,
    primary key ("Partition")
) strict;
create index if not exists "pawl_aggregator_flush_due"
    on "pawl_aggregator_flush" ("Name", "Due") where "Dead" = 0;
create index if not exists "pawl_aggregator_flush_dead"
    on "pawl_aggregator_flush" ("Name") where "Dead" = 1;

-- Queues that get a copy of what is published
create table if not exists "pawl_subscriptions" (
    "Type" text collate binary not null,
    "Queue" text collate binary not null,
    primary key ("Type", "Queue")
) strict, without rowid;

-- Threads at work, and their counts
create table if not exists "pawl_workers" (
    "Id" text not null,
    "Endpoint" text collate binary not null,
    "Epoch" integer not null,
    "LastCommit" text null,
    "Process" integer not null,
    "Pid" integer not null,
    "Seen" integer not null,
    "Messages" integer not null,
    "Timeouts" integer not null,
    "Flushes" integer not null,
    "Failures" integer not null,
    "Conflicts" integer not null,
    "Dead" integer not null,
    "Host" text collate binary null,
    "Program" text collate binary null,
    "ProgramVersion" text collate binary null,
    "PawlVersion" text collate binary null,
    "Started" integer null,
    "Types" text not null,
    primary key ("Id")
) strict;

-- Rights that only one worker or process has
create table if not exists "pawl_leases" (
    "Name" text not null,
    "Worker" text null,
    "Process" integer not null,
    "Pid" integer not null,
    "Epoch" integer not null,
    "Expires" integer not null,
    primary key ("Name")
) strict, without rowid;

-- What became of each message, where an endpoint keeps it
create table if not exists "pawl_history" (
    "Id" integer primary key autoincrement,
    "Endpoint" text collate binary not null,
    "Source" text not null,
    "MessageId" text collate binary not null,
    "Type" text collate binary not null,
    "Kind" text collate binary not null,
    "Outcome" text collate binary not null,
    "Version" integer not null,
    "Attempts" integer not null,
    "Duration" integer not null,
    "At" integer not null,
    "Error" text not null,
    "Out" text not null
) strict;
create index if not exists "pawl_history_source"
    on "pawl_history" ("Source", "Id") where "Source" <> '';
create index if not exists "pawl_history_message"
    on "pawl_history" ("MessageId", "Id");

-- Version of these tables
create table if not exists "pawl_schema" (
    "Part" text collate binary not null,
    "Version" integer not null,
    primary key ("Part")
) strict, without rowid;
drop index if exists "pawl_outbox_dispatched";
insert into "pawl_schema" ("Part", "Version") values ('pawl', 5) on conflict ("Part") do nothing;

-- Saga Plain: no correlation property
create table if not exists "shop_Plain" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    primary key ("Id")
) strict;

-- Saga Text: found by OrderId
create table if not exists "shop_Text" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    "Correlation_OrderId" text collate binary null,
    primary key ("Id")
) strict;
create unique index if not exists "Index_shop_Text_Correlation_OrderId"
    on "shop_Text" ("Correlation_OrderId");

-- Saga Int: found by Number
create table if not exists "shop_Int" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    "Correlation_Number" integer null,
    primary key ("Id")
) strict;
create unique index if not exists "Index_shop_Int_Correlation_Number"
    on "shop_Int" ("Correlation_Number");

-- Saga Guid: found by Id
create table if not exists "shop_Guid" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    "Correlation_Id" text null,
    primary key ("Id")
) strict;
create unique index if not exists "Index_shop_Guid_Correlation_Id"
    on "shop_Guid" ("Correlation_Id");

-- Saga Time: found by At
create table if not exists "shop_Time" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    "Correlation_At" integer null,
    primary key ("Id")
) strict;
create unique index if not exists "Index_shop_Time_Correlation_At"
    on "shop_Time" ("Correlation_At");

-- Saga Two: found by OrderId, which OrderNumber is to replace
create table if not exists "shop_Two" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    "Correlation_OrderId" text collate binary null,
    "Correlation_OrderNumber" integer null,
    primary key ("Id")
) strict;
create unique index if not exists "Index_shop_Two_Correlation_OrderId"
    on "shop_Two" ("Correlation_OrderId");
create unique index if not exists "Index_shop_Two_Correlation_OrderNumber"
    on "shop_Two" ("Correlation_OrderNumber");

-- Saga Long: found by abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLM
create table if not exists "shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    "Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLM" text collate binary null,
    primary key ("Id")
) strict;
create unique index if not exists "Index_shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST_Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLM"
    on "shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST" ("Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLM");

-- Saga Größe 値 😀 äöüäöüäöüäöüäöüäöüäöüäöü: found by Maß_値äöüäöüäöüäöüäöüäöüäöüäöü, which Straße is to replace
create table if not exists "shop_Größe 値 😀 äöüäöüäöüäöüäöüäöüäöüäöü" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    "Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü" text collate binary null,
    "Correlation_Straße" text null,
    primary key ("Id")
) strict;
create unique index if not exists "Index_shop_Größe 値 😀 äöüäöüäöüäöüäöüäöüäöüäöü_Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü"
    on "shop_Größe 値 😀 äöüäöüäöüäöüäöüäöüäöüäöü" ("Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü");
create unique index if not exists "Index_shop_Größe 値 😀 äöüäöüäöüäöüäöüäöüäöüäöü_Correlation_Straße"
    on "shop_Größe 値 😀 äöüäöüäöüäöüäöüäöüäöüäöü" ("Correlation_Straße");

-- Saga it's a \ table? -- no?: found by what's \ this?
create table if not exists "shop_it's a \ table; -- no?" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    "Correlation_what's \ this?" integer null,
    primary key ("Id")
) strict;
create unique index if not exists "Index_shop_it's a \ table; -- no?_Correlation_what's \ this?"
    on "shop_it's a \ table; -- no?" ("Correlation_what's \ this?");

-- Saga select: found by key, which index is to replace
create table if not exists "shop_select" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    "Correlation_key" text collate binary null,
    "Correlation_index" text collate binary null,
    primary key ("Id")
) strict;
create unique index if not exists "Index_shop_select_Correlation_key"
    on "shop_select" ("Correlation_key");
create unique index if not exists "Index_shop_select_Correlation_index"
    on "shop_select" ("Correlation_index");
commit;
