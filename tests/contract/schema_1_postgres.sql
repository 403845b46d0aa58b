-- What "pawl schema print --dialect postgres" printed when the schema had version 1.
-- SPDX-License-Identifier: Apache-2.0
begin;
select pg_advisory_xact_lock(1885435756);
select set_config('search_path', quote_ident(current_schema()), true);
create table if not exists "pawl_schema" (
    "Part" text collate "C" not null,
    "Version" bigint not null,
    primary key ("Part")
);
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
    "Headers" text not null,
    "Body" bytea not null
);
create unique index if not exists "pawl_queue_message"
    on "pawl_queue" ("Queue", "MessageId");
create index if not exists "pawl_queue_due"
    on "pawl_queue" ("Queue", "Due", "Seq");
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
create table if not exists "pawl_inbox" (
    "Endpoint" text collate "C" not null,
    "MessageId" text collate "C" not null,
    "Outcome" text collate "C" not null,
    "At" timestamptz not null
);
create unique index if not exists "pawl_inbox_message"
    on "pawl_inbox" ("Endpoint", "MessageId");
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
    "MessageId" text collate "C" not null,
    "Type" text collate "C" not null,
    "CorrelationId" text collate "C" not null,
    "CausationId" text collate "C" not null,
    "Headers" text not null,
    "Body" bytea not null
);
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
    "OutboxId" bigint not null,
    "Attempt" bigint not null,
    "Outcome" text collate "C" not null,
    "At" timestamptz not null,
    "Duration" bigint not null,
    "Error" text not null,
    primary key ("OutboxId", "Attempt"),
    foreign key ("OutboxId") references "pawl_outbox" ("Id") on delete cascade
);
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
create table if not exists "pawl_subscriptions" (
    "Type" text collate "C" not null,
    "Queue" text collate "C" not null,
    primary key ("Type", "Queue")
);
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
    "Types" text not null,
    primary key ("Id")
);
create table if not exists "pawl_leases" (
    "Name" text not null,
    "Worker" uuid null,
    "Process" bigint not null,
    "Pid" bigint not null,
    "Epoch" bigint not null,
    "Expires" timestamptz not null,
    primary key ("Name")
);
alter table "pawl_queue" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
alter table "pawl_outbox" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
alter table "pawl_outbox_attempts" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
alter table "pawl_timeouts" set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
alter table "pawl_aggregator" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
alter table "pawl_aggregator_flush" set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
alter table "pawl_inbox" set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
alter table "pawl_workers" set (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
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
insert into "pawl_schema" ("Part", "Version") values ('pawl', 1) on conflict ("Part") do nothing;
commit;
