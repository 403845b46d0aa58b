-- Tables of pawl, version 5, for PostgreSQL 14 or later. To run it:
--     psql -v ON_ERROR_STOP=1 -f FILE
-- Makes what is missing, and leaves rows as they are: it may be run again
-- One transaction: all of it is done, or nothing. Two at once take turns
begin;
set local lock_timeout = '1min';
set local client_min_messages = warning;
select pg_advisory_xact_lock(1885435756);
select set_config('search_path', quote_ident(current_schema()), true);

-- Messages that wait to be handled
create table if not exists "pawl_queue" (
    "Seq" bigserial primary key,
    "Queue" text collate "C" not null,
    "Due" timestamptz not null,
    "Placed" timestamptz not null,
    "Attempts" bigint not null,
    "Deaths" bigint not null,
    "WaitingSince" timestamptz not null,
    "MessageId" text collate "C" not null,
    "Type" text collate "C" not null,
    "CorrelationId" text collate "C" not null,
    "CausationId" text collate "C" not null,
    "Error" text not null,
    "History" text null,
    "Headers" text not null,
    "Body" bytea not null
);
alter table "pawl_queue" add column if not exists "History" text null;
create unique index if not exists "pawl_queue_message"
    on "pawl_queue" ("Queue", "MessageId");
create index if not exists "pawl_queue_due"
    on "pawl_queue" ("Queue", "Due", "Seq");
alter table "pawl_queue" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create or replace function "pawl_send" (
    queue text,
    type text,
    body text,
    due timestamptz default null, -- null: now()
    message_id text default null, -- null: a new uuid
    headers text default null, -- a JSON object of strings; null: none
    correlation_id text default null -- null: the message id
) returns text language plpgsql set search_path from current as $pawl$
declare
    id text := coalesce(message_id, gen_random_uuid()::text);
    correlation text := coalesce(correlation_id, id);
    at timestamptz := coalesce(due, now());
    given text := coalesce(headers, json_build_object()::text);
    is_object boolean;
    bad record;
begin
    select v.name, v.value is null as is_null, octet_length(v.value) as size, v.size_max
        into bad
        from (values (1, 'queue', queue, 200, true), (2, 'type', type, 200, true),
            (3, 'message_id', id, 200, true), (4, 'correlation_id', correlation, 200, false),
            (5, 'headers', given, 65536, false), (6, 'body', body, 16777216, false))
            as v (n, name, value, size_max, is_required)
        where v.value is null or octet_length(v.value) > v.size_max
            or (v.is_required and v.value = '')
        order by v.n limit 1;
    if found and bad.is_null then
        raise exception 'pawl: % is null', bad.name using errcode = '22004';
    elsif found and bad.size = 0 then
        raise exception 'pawl: % is empty', bad.name using errcode = '22023';
    elsif found then
        raise exception 'pawl: % has % bytes, limit %', bad.name, bad.size, bad.size_max
            using errcode = '22023';
    elsif at < '0001-01-01 00:00:00+00' or at >= '10000-01-01 00:00:00+00' then
        raise exception 'pawl: due is %, expected a time of the years 1 to 9999', at
            using errcode = '22023';
    end if;
    if given <> '' and headers is not null then
        begin
            select jsonb_typeof(given::jsonb) = 'object' into is_object;
            if is_object then
                select coalesce(bool_and(jsonb_typeof(h.value) = 'string'), true)
                    into is_object from jsonb_each(given::jsonb) as h;
            end if;
        exception when data_exception then
            is_object := false;
        end;
        if not is_object then
            raise exception 'pawl: headers are no JSON object of strings'
                using errcode = '22023';
        end if;
    end if;
    insert into "pawl_queue" ("Queue", "Due", "Placed", "Attempts", "Deaths", "WaitingSince",
        "Error", "MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body")
        values (queue, at, at, 0, 0, 'epoch', '', id, type, correlation, '', given,
            convert_to(body, 'UTF8'))
        on conflict ("Queue", "MessageId") do nothing;
    perform pg_notify('pawl_' || md5(s.nspname || '.' || left(c.relname, -5)), queue)
        from pg_type as t join pg_class as c on c.oid = t.typrelid
            join pg_namespace as s on s.oid = c.relnamespace
        where t.oid = pg_typeof(null::"pawl_queue");
    return id;
end $pawl$;
comment on function "pawl_send" (text, text, text, timestamptz, text, text, text) is 'Sends a message to a queue in the caller''s transaction; returns its id. An id that is in the queue already changes nothing.';

-- Dead letters: messages and timeouts that failed for good
create table if not exists "pawl_dead" (
    "Endpoint" text collate "C" not null,
    "Queue" text collate "C" not null,
    "MessageId" text collate "C" not null,
    "Type" text collate "C" not null,
    "CorrelationId" text collate "C" not null,
    "CausationId" text collate "C" not null,
    "Code" text collate "C" not null,
    "Attempts" bigint not null,
    "Deaths" bigint not null,
    "At" timestamptz not null,
    "Error" text not null,
    "History" text not null,
    "Headers" text not null,
    "Body" bytea not null
);
create unique index if not exists "pawl_dead_message"
    on "pawl_dead" ("Endpoint", "MessageId");
create index if not exists "pawl_dead_at"
    on "pawl_dead" ("At");
create index if not exists "pawl_dead_queue"
    on "pawl_dead" ("Queue", "At");
do $do$ begin if exists (select from pg_class as c where c.oid = $pawl$"pawl_dead"$pawl$::regclass and c.relreplident in ('d', 'i') and not exists (select from pg_catalog.pg_index as i where i.indrelid = c.oid and i.indisreplident)) then alter table "pawl_dead" replica identity using index "pawl_dead_message"; end if; end $do$;

-- Ids of the messages that an endpoint has handled
create table if not exists "pawl_inbox" (
    "Endpoint" text collate "C" not null,
    "MessageId" text collate "C" not null,
    "Outcome" text collate "C" not null,
    "At" timestamptz not null
);
create unique index if not exists "pawl_inbox_message"
    on "pawl_inbox" ("Endpoint", "MessageId");
do $do$ begin if exists (select from pg_class as c where c.oid = $pawl$"pawl_inbox"$pawl$::regclass and c.relreplident in ('d', 'i') and not exists (select from pg_catalog.pg_index as i where i.indrelid = c.oid and i.indisreplident)) then alter table "pawl_inbox" replica identity using index "pawl_inbox_message"; end if; end $do$;
alter table "pawl_inbox" set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);

-- Messages to be delivered to other systems
create table if not exists "pawl_outbox" (
    "Id" bigserial primary key,
    "DispatchId" uuid not null,
    "State" text collate "C" not null,
    "Attempts" bigint not null,
    "NextAttempt" timestamptz not null,
    "Due" timestamptz not null,
    "At" timestamptz not null,
    "DispatchedAt" timestamptz null,
    "Source" text not null,
    "Version" bigint not null,
    "Index" bigint not null,
    "Endpoint" text collate "C" not null,
    "Destination" text collate "C" not null,
    "AttemptsBefore" bigint default 0 not null,
    "MessageId" text collate "C" not null,
    "Type" text collate "C" not null,
    "CorrelationId" text collate "C" not null,
    "CausationId" text collate "C" not null,
    "Headers" text not null,
    "Body" bytea not null
);
alter table "pawl_outbox" add column if not exists "AttemptsBefore" bigint not null default 0;
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
alter table "pawl_outbox" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Attempts to deliver a row of the outbox
create table if not exists "pawl_outbox_attempts" (
    "OutboxId" bigint not null,
    "Attempt" bigint not null,
    "Outcome" text collate "C" not null,
    "At" timestamptz not null,
    "Duration" bigint not null,
    "Error" text not null,
    primary key ("OutboxId", "Attempt"),
    foreign key ("OutboxId") references "pawl_outbox" ("Id") on delete cascade
);
alter table "pawl_outbox_attempts" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Events of streams, in their order
create table if not exists "pawl_events" (
    "Seq" bigserial primary key,
    "Stream" text collate "C" not null,
    "Version" bigint not null,
    "Type" text collate "C" not null,
    "TypeVersion" bigint not null,
    "MessageId" text collate "C" not null,
    "CorrelationId" text collate "C" not null,
    "CausationId" text collate "C" not null,
    "DispatchId" uuid null,
    "At" timestamptz not null,
    "Position" bigint null,
    "Headers" text not null,
    "Body" bytea not null
);
create unique index if not exists "pawl_events_stream"
    on "pawl_events" ("Stream", "Version");
create unique index if not exists "pawl_events_position"
    on "pawl_events" ("Position") where "Position" is not null;
create index if not exists "pawl_events_unnumbered"
    on "pawl_events" ("Seq", "Version") where "Position" is null;
alter table "pawl_events" set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);

-- States of streams, so that not all events are read
create table if not exists "pawl_folds" (
    "Stream" text collate "C" not null,
    "Version" bigint not null,
    "TypeVersion" bigint not null,
    "At" timestamptz not null,
    "State" text not null,
    "Dispatches" text not null,
    primary key ("Stream")
);
alter table "pawl_folds" set (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- How far a projection has read the events
create table if not exists "pawl_checkpoints" (
    "Name" text collate "C" not null,
    "Position" bigint not null,
    "At" timestamptz not null,
    primary key ("Name")
);
alter table "pawl_checkpoints" set (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- Timeouts that are set
create table if not exists "pawl_timeouts" (
    "Id" uuid not null,
    "Generation" bigint not null,
    "SagaId" uuid null,
    "SagaType" text collate "C" not null,
    "Name" text collate "C" not null,
    "Destination" text collate "C" not null,
    "Due" timestamptz not null,
    "Attempts" bigint not null,
    "Owner" uuid null,
    "LeaseExpires" timestamptz null,
    "LeaseWorker" uuid null,
    "CorrelationId" text collate "C" not null,
    "Headers" text not null,
    primary key ("Id")
);
create unique index if not exists "pawl_timeouts_saga"
    on "pawl_timeouts" ("SagaId", "Name") where "SagaId" is not null and "Name" <> '';
create index if not exists "pawl_timeouts_own"
    on "pawl_timeouts" ("SagaId") where "SagaId" is not null and "Name" = '';
create index if not exists "pawl_timeouts_due"
    on "pawl_timeouts" ("Destination", "Due", "Id");
drop index if exists "pawl_timeouts_lease";
drop index if exists "pawl_timeouts_worker";
alter table "pawl_timeouts" set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Messages that aggregators collect
create table if not exists "pawl_aggregator" (
    "Id" bigserial primary key,
    "Name" text collate "C" not null,
    "Partition" text collate "C" not null,
    "Key" text collate "C" not null,
    "At" timestamptz not null,
    "Session" uuid null,
    "LeaseExpires" timestamptz null,
    "LeaseWorker" uuid null,
    "MessageId" text collate "C" not null,
    "Type" text collate "C" not null,
    "CorrelationId" text collate "C" not null,
    "CausationId" text collate "C" not null,
    "Headers" text not null,
    "Body" bytea not null
);
create unique index if not exists "pawl_aggregator_key"
    on "pawl_aggregator" ("Partition", "Key");
create index if not exists "pawl_aggregator_at"
    on "pawl_aggregator" ("Partition", "At", "Id");
create index if not exists "pawl_aggregator_lease"
    on "pawl_aggregator" ("LeaseWorker") where "LeaseWorker" is not null;
alter table "pawl_aggregator" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- When a partition of an aggregator is due
create table if not exists "pawl_aggregator_flush" (
    "Partition" text collate "C" not null,
    "Name" text collate "C" not null,
    "Due" timestamptz not null,
    "Attempts" bigint not null,
    "Dead" bigint not null,
    "Error" text not null,
    primary key ("Partition")
);
create index if not exists "pawl_aggregator_flush_due"
    on "pawl_aggregator_flush" ("Name", "Due") where "Dead" = 0;
create index if not exists "pawl_aggregator_flush_dead"
    on "pawl_aggregator_flush" ("Name") where "Dead" = 1;
alter table "pawl_aggregator_flush" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Queues that get a copy of what is published
create table if not exists "pawl_subscriptions" (
    "Type" text collate "C" not null,
    "Queue" text collate "C" not null,
    primary key ("Type", "Queue")
);

-- Threads at work, and their counts
create table if not exists "pawl_workers" (
    "Id" uuid not null,
    "Endpoint" text collate "C" not null,
    "Epoch" bigint not null,
    "LastCommit" uuid null,
    "Process" bigint not null,
    "Pid" bigint not null,
    "Seen" timestamptz not null,
    "Messages" bigint not null,
    "Timeouts" bigint not null,
    "Flushes" bigint not null,
    "Failures" bigint not null,
    "Conflicts" bigint not null,
    "Dead" bigint not null,
    "Host" text collate "C" null,
    "Program" text collate "C" null,
    "ProgramVersion" text collate "C" null,
    "PawlVersion" text collate "C" null,
    "Started" timestamptz null,
    "Types" text not null,
    primary key ("Id")
);
alter table "pawl_workers" add column if not exists "Host" text collate "C" null;
alter table "pawl_workers" add column if not exists "Program" text collate "C" null;
alter table "pawl_workers" add column if not exists "ProgramVersion" text collate "C" null;
alter table "pawl_workers" add column if not exists "PawlVersion" text collate "C" null;
alter table "pawl_workers" add column if not exists "Started" timestamptz null;
alter table "pawl_workers" set (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- Rights that only one worker or process has
create table if not exists "pawl_leases" (
    "Name" text not null,
    "Worker" uuid null,
    "Process" bigint not null,
    "Pid" bigint not null,
    "Epoch" bigint not null,
    "Expires" timestamptz not null,
    primary key ("Name")
);
alter table "pawl_leases" set (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

-- What became of each message, where an endpoint keeps it
create table if not exists "pawl_history" (
    "Id" bigserial primary key,
    "Endpoint" text collate "C" not null,
    "Source" text not null,
    "MessageId" text collate "C" not null,
    "Type" text collate "C" not null,
    "Kind" text collate "C" not null,
    "Outcome" text collate "C" not null,
    "Version" bigint not null,
    "Attempts" bigint not null,
    "Duration" bigint not null,
    "At" timestamptz not null,
    "Error" text not null,
    "Out" text not null
);
create index if not exists "pawl_history_source"
    on "pawl_history" ("Source", "Id") where "Source" <> '';
create index if not exists "pawl_history_message"
    on "pawl_history" ("MessageId", "Id");
alter table "pawl_history" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000);

-- Version of these tables
create table if not exists "pawl_schema" (
    "Part" text collate "C" not null,
    "Version" bigint not null,
    primary key ("Part")
);
drop index if exists "pawl_outbox_dispatched";
insert into "pawl_schema" ("Part", "Version") values ('pawl', 5) on conflict ("Part") do nothing;
update "pawl_schema" set "Version" = 5 where "Part" = 'pawl' and "Version" < 5;

-- Saga Plain: no correlation property
create table if not exists "shop_Plain" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- Saga Text: found by OrderId
create table if not exists "shop_Text" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    "Correlation_OrderId" character varying(200) collate "C" null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
alter table "shop_Text" add column if not exists "Correlation_OrderId" character varying(200) collate "C" null;
create unique index if not exists "Index_0f4ad9c395fd59fc94c361c1ed15a72b"
    on "shop_Text" ("Correlation_OrderId");

-- Saga Int: found by Number
create table if not exists "shop_Int" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    "Correlation_Number" bigint null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
alter table "shop_Int" add column if not exists "Correlation_Number" bigint null;
create unique index if not exists "Index_c50ca0f2671c5716905c8671b024cd62"
    on "shop_Int" ("Correlation_Number");

-- Saga Guid: found by Id
create table if not exists "shop_Guid" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    "Correlation_Id" uuid null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
alter table "shop_Guid" add column if not exists "Correlation_Id" uuid null;
create unique index if not exists "Index_a2d3d4e30f1a53f38dd1849754a9a602"
    on "shop_Guid" ("Correlation_Id");

-- Saga Time: found by At
create table if not exists "shop_Time" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    "Correlation_At" timestamp null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
alter table "shop_Time" add column if not exists "Correlation_At" timestamp null;
create unique index if not exists "Index_3de884396d085122b52d24bed3214a1d"
    on "shop_Time" ("Correlation_At");

-- Saga Two: found by OrderId, which OrderNumber is to replace
create table if not exists "shop_Two" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    "Correlation_OrderId" character varying(200) collate "C" null,
    "Correlation_OrderNumber" bigint null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
alter table "shop_Two" add column if not exists "Correlation_OrderId" character varying(200) collate "C" null;
create unique index if not exists "Index_3d0d8b8fdefd527e9e411d419893c572"
    on "shop_Two" ("Correlation_OrderId");
alter table "shop_Two" add column if not exists "Correlation_OrderNumber" bigint null;
create unique index if not exists "Index_1793e9fadd775befabde4f94f2109df5"
    on "shop_Two" ("Correlation_OrderNumber");

-- Saga Long: found by abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLM
create table if not exists "shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    "Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLM" character varying(200) collate "C" null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
alter table "shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST" add column if not exists "Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLM" character varying(200) collate "C" null;
create unique index if not exists "Index_a71204bdafac5bc8b8ea47f8951b74ce"
    on "shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST" ("Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLM");

-- Saga Größe 値 äöüäöüäöüäöüäöüäöüäöüäö: found by Maß_値äöüäöüäöüäöüäöüäöüäöü, which Straße is to replace
create table if not exists "shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäö" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    "Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöü" character varying(200) collate "C" null,
    "Correlation_Straße" uuid null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
alter table "shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäö" add column if not exists "Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöü" character varying(200) collate "C" null;
create unique index if not exists "Index_16e188e9ff6254a09857685aa4d15cd1"
    on "shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäö" ("Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöü");
alter table "shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäö" add column if not exists "Correlation_Straße" uuid null;
create unique index if not exists "Index_017c37d4a8ee5660bfbd97d78f08e055"
    on "shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäö" ("Correlation_Straße");

-- Saga it's a \ table? -- no?: found by what's \ this?
create table if not exists "shop_it's a \ table; -- no?" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    "Correlation_what's \ this?" timestamp null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
alter table "shop_it's a \ table; -- no?" add column if not exists "Correlation_what's \ this?" timestamp null;
create unique index if not exists "Index_312c68774da856aeb68ca29144ffc440"
    on "shop_it's a \ table; -- no?" ("Correlation_what's \ this?");

-- Saga select: found by key, which index is to replace
create table if not exists "shop_select" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    "Correlation_key" character varying(200) collate "C" null,
    "Correlation_index" character varying(200) collate "C" null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
alter table "shop_select" add column if not exists "Correlation_key" character varying(200) collate "C" null;
create unique index if not exists "Index_ee6d2be596b45e478c44d091c912289d"
    on "shop_select" ("Correlation_key");
alter table "shop_select" add column if not exists "Correlation_index" character varying(200) collate "C" null;
create unique index if not exists "Index_61e43ba81a3253ffac16bf7a5c6189ad"
    on "shop_select" ("Correlation_index");
commit;
