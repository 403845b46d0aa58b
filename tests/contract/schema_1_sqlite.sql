-- What "pawl schema print --dialect sqlite" printed when the schema had version 1.
-- SPDX-License-Identifier: Apache-2.0
pragma journal_mode = wal;
begin immediate;
create table if not exists "pawl_schema" (
    "Part" text collate binary not null,
    "Version" integer not null,
    primary key ("Part")
) strict, without rowid;
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
    "Headers" text not null,
    "Body" text not null
) strict;
create unique index if not exists "pawl_queue_message"
    on "pawl_queue" ("Queue", "MessageId");
create index if not exists "pawl_queue_due"
    on "pawl_queue" ("Queue", "Due");
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
create table if not exists "pawl_inbox" (
    "Endpoint" text collate binary not null,
    "MessageId" text collate binary not null,
    "Outcome" text collate binary not null,
    "At" integer not null
) strict;
create unique index if not exists "pawl_inbox_message"
    on "pawl_inbox" ("Endpoint", "MessageId");
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
create index if not exists "pawl_outbox_dispatched"
    on "pawl_outbox" ("DispatchedAt") where "State" = 'dispatched';
create index if not exists "pawl_outbox_dead"
    on "pawl_outbox" ("Id") where "State" = 'dead';
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
create table if not exists "pawl_subscriptions" (
    "Type" text collate binary not null,
    "Queue" text collate binary not null,
    primary key ("Type", "Queue")
) strict, without rowid;
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
    "Types" text not null,
    primary key ("Id")
) strict;
create table if not exists "pawl_leases" (
    "Name" text not null,
    "Worker" text null,
    "Process" integer not null,
    "Pid" integer not null,
    "Epoch" integer not null,
    "Expires" integer not null,
    primary key ("Name")
) strict, without rowid;
insert into "pawl_schema" ("Part", "Version") values ('pawl', 1) on conflict ("Part") do nothing;
commit;
