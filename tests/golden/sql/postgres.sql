-- The script of the tables: tests/golden/schema.

-- VERSION_GET
select "Version" from "pawl_schema" where "Part" = 'pawl';

-- WORKER_FOLD
update "pawl_workers" set "Messages" = "pawl_workers"."Messages" + w."Messages", "Timeouts" =
"pawl_workers"."Timeouts" + w."Timeouts", "Flushes" = "pawl_workers"."Flushes" + w."Flushes",
"Failures" = "pawl_workers"."Failures" + w."Failures", "Conflicts" = "pawl_workers"."Conflicts" +
w."Conflicts", "Dead" = "pawl_workers"."Dead" + w."Dead" from "pawl_workers" w where
"pawl_workers"."Id" = $1 and w."Id" = $2;

-- WORKER_DELETE
delete from "pawl_workers" where "Id" = $1;

-- WORKER_COUNTERS
select cast(coalesce(sum("Messages"), 0) as bigint), cast(coalesce(sum("Timeouts"), 0) as bigint),
cast(coalesce(sum("Flushes"), 0) as bigint), cast(coalesce(sum("Failures"), 0) as bigint),
cast(coalesce(sum("Conflicts"), 0) as bigint), cast(coalesce(sum("Dead"), 0) as bigint) from
"pawl_workers";

-- WORKER_LIST
select "Id", "Endpoint", "Types", "Epoch", "Pid", "Seen", "Process", "Seen", "Messages", "Timeouts",
"Flushes", "Failures", "Conflicts", "Dead", "Host", "Program", "ProgramVersion", "PawlVersion",
"Started" from "pawl_workers" where "Epoch" > 0 order by "Id";

-- WORKER_LIVES
select "Process", "Seen" from "pawl_workers" where "Epoch" > 0;

-- LEAD_LIST
select substr(l."Name", 6), l."Worker", l."Expires", w."Process", w."Seen" from "pawl_leases" l join
"pawl_workers" w on w."Id" = l."Worker" where substr(l."Name", 1, 5) = 'lead:' and l."Expires" > $1;

-- LEAD_GET
select l."Worker", l."Epoch", l."Expires", w."Id", w."Process", w."Seen" from "pawl_leases" l left
join "pawl_workers" w on w."Id" = l."Worker" where l."Name" = $1;

-- LEASE_INSERT
insert into "pawl_leases" ("Name", "Worker", "Process", "Pid", "Epoch", "Expires") values ($1, $2,
$3, $4, $5, $6);

-- LEASE_UPDATE
update "pawl_leases" set "Worker" = $2, "Process" = $3, "Pid" = $4, "Epoch" = $5, "Expires" = $6
where "Name" = $1;

-- LEASE_DELETE
delete from "pawl_leases" where "Name" = $1 and "Worker" = $2;

-- LEASE_DELETE_ALL
delete from "pawl_leases" where "Worker" = $1;

-- QUEUE_LIST
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body", "Error" from "pawl_queue" where "Queue" = $1
order by "Placed", "Seq" limit $2;

-- QUEUE_FIND
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body", "Error" from "pawl_queue" where "Queue" = $1 and
($2 = '' or "MessageId" = $2) and ($3 = '' or "Type" = $3) and "Due" >= $4 and "Due" <= $5 and "Seq"
<= $6 and ("Due" > $7 or "Seq" > $8) order by "Due", "Seq" limit $9;

-- QUEUE_FIND_TIE
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body", "Error" from "pawl_queue" where "Queue" = $1 and
($2 = '' or "MessageId" = $2) and ($3 = '' or "Type" = $3) and "Due" = $4 and "Seq" <= $5 and "Seq"
> $6 order by "Due", "Seq" limit $7;

-- QUEUE_FIND_ONE
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body", "Error" from "pawl_queue" where "Queue" = $1 and
"MessageId" = $2 and "Queue" = $1 and ($2 = '' or "MessageId" = $2) and ($3 = '' or "Type" = $3) and
"Due" >= $4 and "Due" <= $5 and "Seq" <= $6 and ("Due" > $7 or "Seq" > $8) order by "MessageId"
limit $9;

-- QUEUE_RETRIED
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body" from "pawl_queue" where "Seq" in (select "Seq"
from (select "Seq", "Attempts", "Placed", "Type" from "pawl_queue" where "Queue" = $1 and "Due" > $2
order by "Due", "Seq" limit $3) looked where "Attempts" > 0 and "Type" = $4) order by "Placed",
"Seq" limit $5;

-- QUEUE_NAME
select "Queue" from "pawl_queue" where "Queue" > $1 order by "Queue" limit 1;

-- QUEUE_READY
select count(*), min("Due") from (select "Due" from "pawl_queue" where "Queue" = $1 and "Due" <= $2
order by "Due" limit $3) counted;

-- QUEUE_SCHEDULED
select count(*) from (select 1 as "One" from "pawl_queue" where "Queue" = $1 and "Due" > $2 limit
$3) counted;

-- QUEUE_COUNT_RETRIED
select count(*), min("Placed") from (select "Seq", "Attempts", "Placed", "Type" from "pawl_queue"
where "Queue" = $1 and "Due" > $2 order by "Due", "Seq" limit $3) looked where "Attempts" > 0;

-- INBOX_COUNT
select count(*) from (select 1 as "One" from "pawl_inbox" limit $1) counted;

-- TIMEOUT_LIST
select "Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due", "Headers",
"CorrelationId", "Attempts", "Owner", "LeaseExpires" from "pawl_timeouts" where "Destination" = $1
and "Due" >= $2 and ("Due" > $2 or "Id" > $3) order by "Due", "Id" limit $4;

-- TIMEOUT_NAME
select "Destination" from "pawl_timeouts" where "Destination" > $1 order by "Destination" limit 1;

-- TIMEOUT_READY
select count(*), min("Due") from (select "Due" from "pawl_timeouts" where "Destination" = $1 and
"Due" <= $2 order by "Due" limit $3) counted;

-- TIMEOUT_SCHEDULED
select count(*) from (select 1 as "One" from "pawl_timeouts" where "Destination" = $1 and "Due" > $2
limit $3) counted;

-- OUTBOX_PENDING
select count(*) from (select 1 as "One" from "pawl_outbox" where "State" = 'pending' limit $1)
counted;

-- OUTBOX_FIND_ID
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" where "Id" = $1 and ($1 = 0 or "Id" =
$1) and ($2 is null or "DispatchId" = $2) and "Id" > $3 and ($4 = 0 or ($4 & case "State" when
'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded'
then 16 else 0 end) <> 0) and ($5 = '' or "Endpoint" = $5) and ($6 = '' or "Source" = $6) and ($7 =
'' or "Destination" = $7) and ($8 = '' or "Type" = $8) and ($9 = '' or "CausationId" = $9) and
"Attempts" >= $10 order by "Id" limit $11;

-- OUTBOX_FIND_DEAD
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" where "State" = 'dead' and ($1 = 0 or
"Id" = $1) and ($2 is null or "DispatchId" = $2) and "Id" > $3 and ($4 = 0 or ($4 & case "State"
when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when
'discarded' then 16 else 0 end) <> 0) and ($5 = '' or "Endpoint" = $5) and ($6 = '' or "Source" =
$6) and ($7 = '' or "Destination" = $7) and ($8 = '' or "Type" = $8) and ($9 = '' or "CausationId" =
$9) and "Attempts" >= $10 order by "Id" limit $11;

-- OUTBOX_FIND_ANY
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" where ($1 = 0 or "Id" = $1) and ($2 is
null or "DispatchId" = $2) and "Id" > $3 and ($4 = 0 or ($4 & case "State" when 'pending' then 1
when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end)
<> 0) and ($5 = '' or "Endpoint" = $5) and ($6 = '' or "Source" = $6) and ($7 = '' or "Destination"
= $7) and ($8 = '' or "Type" = $8) and ($9 = '' or "CausationId" = $9) and "Attempts" >= $10 order
by "Id" limit $11;

-- OUTBOX_ATTEMPTS
select "Attempt", "Outcome", "Error", "At", "Duration" from "pawl_outbox_attempts" where "OutboxId"
= $1 order by "Attempt";

-- OUTBOX_HELD
select count(*) from (select 1 as "One" from "pawl_outbox" where "State" = 'held' limit $1) counted;

-- OUTBOX_DEAD
select count(*) from (select 1 as "One" from "pawl_outbox" where "State" = 'dead' limit $1) counted;

-- CHECKPOINT_GET
select "Position" from "pawl_checkpoints" where "Name" = $1;

-- EVENT_LIST_STREAM
select "Seq", "Position", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where "Stream" = $1 and
"Version" > $2 and ($3 = '' or "Type" = $3) and ($4 = '' or "MessageId" = $4) and ($5 = '' or
"CorrelationId" = $5) order by "Version" limit $6;

-- EVENT_LIST_POSITION
select "Seq", "Position", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where $1 = '' and "Position"
> $2 and ($3 = '' or "Type" = $3) and ($4 = '' or "MessageId" = $4) and ($5 = '' or "CorrelationId"
= $5) order by "Position" limit $6;

-- EVENT_LIST_SEQ
select "Seq", "Position", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where $1 = '' and "Seq" > $2
and ($3 = '' or "Type" = $3) and ($4 = '' or "MessageId" = $4) and ($5 = '' or "CorrelationId" = $5)
order by "Seq" limit $6;

-- EVENT_LIST_STREAM_BACK
select "Seq", "Position", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where "Stream" = $1 and
"Version" < $2 and ($3 = '' or "Type" = $3) and ($4 = '' or "MessageId" = $4) and ($5 = '' or
"CorrelationId" = $5) order by "Version" desc limit $6;

-- EVENT_LIST_POSITION_BACK
select "Seq", "Position", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where $1 = '' and "Position"
< $2 and ($3 = '' or "Type" = $3) and ($4 = '' or "MessageId" = $4) and ($5 = '' or "CorrelationId"
= $5) order by "Position" desc limit $6;

-- EVENT_LIST_SEQ_BACK
select "Seq", "Position", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where $1 = '' and "Seq" < $2
and ($3 = '' or "Type" = $3) and ($4 = '' or "MessageId" = $4) and ($5 = '' or "CorrelationId" = $5)
order by "Seq" desc limit $6;

-- BODIES_PAGE
select max("Stream"), count(*) from (select "Stream" from "pawl_events" where "Stream" > $1 and
"Stream" < $2 order by "Stream", "Version" limit $3) page;

-- BODIES_CLEAR
update "pawl_events" set "Body" = $1, "TypeVersion" = 2 where "Stream" > $2 and "Stream" <= $3 and
"At" < $4 and "TypeVersion" = 1 and "Type" in ('pawl.dead_edited', 'pawl.dead_discarded');

-- AGGREGATOR_GET
select "Type", "LeaseExpires", "Id", "Name", "Partition", "Key", "At", "Session", "MessageId",
"Type", "CorrelationId", "CausationId", "Headers", "Body" from "pawl_aggregator" where "Partition" =
$1 order by "At", "Id";

-- AGGREGATOR_FREE
update "pawl_aggregator" set "Session" = null, "LeaseExpires" = null, "LeaseWorker" = null where
"LeaseWorker" = $1;

-- AGGREGATOR_COUNT
select count(*) from (select 1 as "One" from "pawl_aggregator" limit $1) counted;

-- FLUSH_LIST
select "Name", "Partition", "Due", "Attempts", "Dead", "Error" from "pawl_aggregator_flush" where
"Name" = $1 and "Dead" = 0 and "Due" <= $2 order by "Due", "Partition" limit $3;

-- FLUSH_DEAD
select count(*) from (select 1 as "One" from "pawl_aggregator_flush" where "Dead" = 1 limit $1)
counted;

-- FLUSH_NAME
select "Name" from "pawl_aggregator_flush" where "Dead" = 0 and "Name" > $1 order by "Name" limit 1;

-- FLUSH_READY
select count(*), min("Due") from (select "Due" from "pawl_aggregator_flush" where "Dead" = 0 and
"Name" = $1 and "Due" <= $2 order by "Due" limit $3) counted;

-- DEAD_FIND_ONE
select "Endpoint", "Queue", "Code", "Error", "Attempts", "Deaths", "History", "At", "MessageId",
"Type", "CorrelationId", "CausationId", "Headers", "Body" from "pawl_dead" where "Endpoint" = $1 and
"MessageId" = $2 and $1 in ('', "Endpoint") and ($2 = '' or "MessageId" = $2) and ($3 = '' or "Type"
= $3) and ($4 = '' or "Code" = $4) and ($5 = '' or length(replace("Error", $5, '')) <>
length("Error")) and ("At" > $8 or ("At" = $8 and ("Endpoint" > $9 or ("Endpoint" = $9 and
"MessageId" > $10)))) and ($2 = '' or "At" >= $6) and ($2 = '' or "At" <= $7) order by "MessageId"
limit $11;

-- DEAD_ENDPOINT
select "Endpoint" from "pawl_dead" where "Endpoint" > $1 order by "Endpoint" limit 1;

-- DEAD_NAME
select "Queue" from "pawl_dead" where "Queue" > $1 order by "Queue" limit 1;

-- DEAD_OF_QUEUE
select count(*), min("At") from (select "At" from "pawl_dead" where "Queue" = $1 order by "At" limit
$2) counted;

-- DEAD_COUNT
select count(*) from (select 1 as "One" from "pawl_dead" limit $1) counted;

-- SUBSCRIPTION_LIST
select "Type", "Queue" from "pawl_subscriptions" order by "Type", "Queue";

-- HISTORY_FIND
select "Id", "Endpoint", "Source", "MessageId", "Type", "Kind", "Outcome", "Version", "Attempts",
"Duration", "At", "Error", "Out" from "pawl_history" where ($1 = '' or "Source" = $1) and ($2 = ''
or "MessageId" = $2) and "Id" > $3 order by "Id" limit $4;

-- HISTORY_FIND_SOURCE
select "Id", "Endpoint", "Source", "MessageId", "Type", "Kind", "Outcome", "Version", "Attempts",
"Duration", "At", "Error", "Out" from "pawl_history" where "Source" = $1 and "Source" <> '' and ($1
= '' or "Source" = $1) and ($2 = '' or "MessageId" = $2) and "Id" > $3 order by "Id" limit $4;

-- HISTORY_FIND_MESSAGE
select "Id", "Endpoint", "Source", "MessageId", "Type", "Kind", "Outcome", "Version", "Attempts",
"Duration", "At", "Error", "Out" from "pawl_history" where "MessageId" = $2 and ($1 = '' or "Source"
= $1) and ($2 = '' or "MessageId" = $2) and "Id" > $3 order by "Id" limit $4;

-- QUEUE_SCAN
select "Seq", "Queue", "MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body" from
"pawl_queue" where "Seq" > $1 order by "Seq" limit $2;

-- TIMEOUT_SCAN
select "Id", "Destination", "Name", "SagaType", "SagaId" from "pawl_timeouts" where "Id" > $1 order
by "Id" limit $2;

-- FOLD_SCAN
select "Stream", "TypeVersion", "State" from "pawl_folds" where "Stream" > $1 order by "Stream"
limit $2;

-- CHECKPOINT_SCAN
select "Name", "Position" from "pawl_checkpoints" where "Name" > $1 order by "Name" limit $2;

-- PARTITION_SCAN
select f."Partition", f."Name", f."Due", f."Attempts", f."Dead", f."Error", (select count(*) from
"pawl_aggregator" a where a."Partition" = f."Partition"), (select min(b."At") from "pawl_aggregator"
b where b."Partition" = f."Partition") from "pawl_aggregator_flush" f where f."Partition" > $1 and
($2 = '' or f."Partition" = $2) and ($3 = '' or f."Name" = $3) and ($4 = 0 or f."Dead" = 1) order by
f."Partition" limit $5;

-- AGGREGATOR_SCAN
select "Id", "Name", "MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body" from
"pawl_aggregator" where "Id" > $1 order by "Id" limit $2;

-- DEAD_SCAN
select "Endpoint", "Queue", "Code", "MessageId", "Type", "CorrelationId", "CausationId", "Headers",
"Body" from "pawl_dead" where "Endpoint" = $1 and "MessageId" > $2 order by "MessageId" limit $3;

-- DEAD_SCAN_NEXT
select "Endpoint", "Queue", "Code", "MessageId", "Type", "CorrelationId", "CausationId", "Headers",
"Body" from "pawl_dead" where "Endpoint" > $1 order by "Endpoint", "MessageId" limit $2;

-- QUEUE_IS_DUE
select (select true from "pawl_queue" where "Queue" = $1 and "Due" <= $2 and "Due" >= $3 order by
"Due", "Seq" limit 1) is not null;

-- NEXT_OF_ALL
select (select "Due" from "pawl_queue" where "Queue" = $1 and "Due" >= $2 and "Seq" <> all ($3)
order by "Due", "Seq" limit 1), (select "Due" from "pawl_timeouts" where "Destination" = $1 and
("Owner" is null or "LeaseExpires" <= $4) order by "Due", "Id" limit 1), (select min(f."Due") from
unnest($5) as k (name) cross join lateral (select "Due" from "pawl_aggregator_flush" where "Name" =
k.name and "Dead" = 0 order by "Due" limit 1) as f), exists (select 1 from (select "LeaseExpires",
"LeaseWorker" from "pawl_timeouts" where "Destination" = $1 and "Due" <= $6 order by "Due", "Id"
limit 1) as h where h."LeaseExpires" > $4 and h."LeaseWorker" <> $7);

-- QUEUE_THERE
select exists (select 1 from unnest($1, $2, $3, $4) as k (queue, due_min, due, timeout) where
(select true from "pawl_queue" as q where q."Queue" = k.queue and q."Due" >= k.due_min and q."Due" <
k.due order by q."Due", q."Seq" limit 1) or (select true from "pawl_timeouts" as t where
t."Destination" = k.queue and t."Due" < k.timeout and t."Owner" is null order by t."Due", t."Id"
limit 1));

-- OUTBOX_OLDEST, for OUTBOX_OLDEST
select "At" from "pawl_outbox" where "State" = 'pending' order by "Id", "NextAttempt" limit 1;

-- SWEEP_BEGIN
select pg_try_advisory_xact_lock($1), (select pg_relation_size(t.typrelid) /
current_setting('block_size')::bigint from pg_catalog.pg_type as t where t.oid =
pg_typeof(null::"pawl_inbox")), coalesce(max("Process"), 0), coalesce(max("Epoch"), 0),
coalesce(max("Expires"), 'epoch') from "pawl_leases" where "Name" = 'sweep:';

-- SWEEP_LEASE
insert into "pawl_leases" ("Name", "Process", "Pid", "Epoch", "Expires") values ('sweep:', $1, 0,
$2, $3) on conflict ("Name") do update set "Process" = excluded."Process", "Epoch" =
excluded."Epoch", "Expires" = excluded."Expires";

-- INBOX_SWEEP
with k as materialized (select ctid as tid from "pawl_inbox" where ctid >= $1 and ctid < $2 and "At"
< $3 limit $4 for update skip locked), gone as (delete from "pawl_inbox" where ctid = any
(array(select tid from k))) select count(*), max(tid) from k;

-- OUTBOX_SWEEP
with k as materialized (select ctid as tid, "DispatchedAt" as at from "pawl_outbox" where
"DispatchedAt" >= $1 and "DispatchedAt" < $2 order by "DispatchedAt" limit $3 for update skip
locked), gone as (delete from "pawl_outbox" where ctid = any (array(select tid from k))) select
count(*), max(at) from k;

-- HISTORY_SWEEP
with k as materialized (select ctid as tid, "Id" as id, "At" as at from "pawl_history" where "Id" >
$3 order by "Id" limit $2), gone as (delete from "pawl_history" where ctid = any (array(select tid
from k where at < $1))) select count(*) filter (where at < $1), count(*), coalesce(max(id), 0) from
k;

-- SCHEMA_UNQUOTED
select set_config('quote_all_identifiers', 'off', true);

-- SCHEMA_PATH
select set_config('search_path', quote_ident($1), true);

-- SCHEMA_KNOWN
select count(*) from pg_catalog.pg_namespace where nspname = $1;

-- SCHEMA_COLUMNS
select c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
coalesce(l.collname::text, ''), a.attnotnull, (a.atthasdef or a.attidentity <> '') from
pg_catalog.pg_namespace as s join pg_catalog.pg_class as c on c.relnamespace = s.oid and c.relkind
in ('r', 'p') join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not
a.attisdropped left join pg_catalog.pg_collation as l on l.oid = a.attcollation where s.nspname = $1
and c.relname = any ($2) order by c.relname, a.attnum;

-- SCHEMA_INDEXES
select c.relname::text, x.relname::text, (select coalesce(string_agg(pg_get_indexdef(i.indexrelid,
n, false), ', ' order by n), '') from generate_series(1, i.indnkeyatts) as n), i.indisprimary,
i.indisunique, (i.indisvalid and i.indisready), (i.indpred is not null) from pg_catalog.pg_namespace
as s join pg_catalog.pg_class as c on c.relnamespace = s.oid join pg_catalog.pg_index as i on
i.indrelid = c.oid join pg_catalog.pg_class as x on x.oid = i.indexrelid where s.nspname = $1 and
c.relname = any ($2) order by c.relname, x.relname;

-- SCHEMA_CASCADES
select count(*) from pg_catalog.pg_namespace as s join pg_catalog.pg_class as c on c.relnamespace =
s.oid join pg_catalog.pg_constraint as k on k.conrelid = c.oid where s.nspname = $1 and c.relname =
$2 and k.contype = 'f' and k.confdeltype = 'c';

-- SCHEMA_UNNAMED
select c.relname::text from pg_catalog.pg_namespace as s join pg_catalog.pg_class as c on
c.relnamespace = s.oid where s.nspname = $1 and c.relname = any ($2) and c.relreplident in ('d',
'i') and not exists (select from pg_catalog.pg_index as i where i.indrelid = c.oid and
i.indisreplident) order by c.relname;

-- SCHEMA_FUNCTION
select p.prosrc, coalesce(array_to_string(p.proconfig, ','), '') = 'search_path=' || quote_ident($1)
from pg_catalog.pg_namespace as s join pg_catalog.pg_proc as p on p.pronamespace = s.oid where
s.nspname = $1 and p.proname = $2 and p.pronargs = 7;

-- SESSION
select pg_backend_pid()::bigint, 'pawl_' || md5($1 || '.' || $2), case when pg_backend_pid() = $3
and current_setting('transaction_timeout', true) <> '0' then set_config('transaction_timeout', '0',
false) end, octet_length(repeat(repeat(' ', 1024), 1024));

-- TRANSACTION_BEGIN
begin isolation level read committed;

-- TRANSACTION_COMMIT
commit;

-- TRANSACTION_ROLLBACK
rollback;

-- ROUND_BEGIN
savepoint pawl_round;

-- ROUND_UNDO
rollback to savepoint pawl_round;

-- HANDLER_BEGIN
savepoint pawl_handler;

-- HANDLER_END
release savepoint pawl_handler;

-- HANDLER_PLANS
select set_config(k.name, k.value, true) from (values ('enable_seqscan', 'on'),
('enable_bitmapscan', 'on'), ('enable_hashjoin', 'on'), ('enable_mergejoin', 'on'), ('enable_sort',
'on'), ('enable_incremental_sort', 'on'), ('jit', 'on'), ('plan_cache_mode', 'auto'),
('idle_in_transaction_session_timeout', $1)) as k (name, value);

-- POOLED_PLANS
select set_config(k.name, k.value, true) from (values ('enable_seqscan', 'off'),
('enable_bitmapscan', 'off'), ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off'),
('enable_sort', 'off'), ('enable_incremental_sort', 'off'), ('jit', 'off'), ('plan_cache_mode',
'force_generic_plan'), ('idle_in_transaction_session_timeout', $1)) as k (name, value);

-- STAMP
select set_config('synchronous_commit', 'off', true);

-- NOTIFY
select set_config('synchronous_commit', 'off', true), pg_notify($1, $2) where (select bool_or(not
pg_try_advisory_xact_lock(k.n)) from unnest($3) as k (n));

-- NOTIFY_ALWAYS
select pg_notify($1, $2);

-- LISTEN_LOCKS
select pg_advisory_lock_shared(k.n) from unnest($1) as k (n);

-- OUTBOX_THERE
select exists (select 1 from "pawl_outbox" where "State" = 'pending' and "NextAttempt" <= $1);

-- UNLISTEN_LOCKS
select pg_advisory_unlock_shared(k.n) from unnest($1) as k (n);

-- WORKER_FENCE
update "pawl_workers" set "LastCommit" = $1, "Seen" = greatest("Seen", $2), "Messages" = "Messages"
+ $3, "Timeouts" = "Timeouts" + $4, "Flushes" = "Flushes" + $5, "Failures" = "Failures" + $6,
"Conflicts" = "Conflicts" + $7, "Dead" = "Dead" + $8 where ctid = $11 and "Id" = $9 and "Epoch" =
$10 returning ctid;

-- WORKER_FENCE_ANY
update "pawl_workers" set "LastCommit" = $1, "Seen" = greatest("Seen", $2), "Messages" = "Messages"
+ $3, "Timeouts" = "Timeouts" + $4, "Flushes" = "Flushes" + $5, "Failures" = "Failures" + $6,
"Conflicts" = "Conflicts" + $7, "Dead" = "Dead" + $8 where "Id" = $9 and "Epoch" = $10 returning
ctid;

-- WORKER_FENCE_HARD
with w as (update "pawl_workers" set "LastCommit" = $1, "Seen" = greatest("Seen", $2), "Messages" =
"Messages" + $3, "Timeouts" = "Timeouts" + $4, "Flushes" = "Flushes" + $5, "Failures" = "Failures" +
$6, "Conflicts" = "Conflicts" + $7, "Dead" = "Dead" + $8 where ctid = $11 and "Id" = $9 and "Epoch"
= $10 returning ctid) select (select ctid from w), 1 / (select count(*) from w);

-- WORKER_HEARTBEAT_ANY
update "pawl_workers" set "Seen" = $1 where "Id" = $2;

-- WORKER_HEARTBEAT
update "pawl_workers" set "Seen" = $1 where "Id" = $2 and "Epoch" = $3;

-- WORKER_TAKE
insert into "pawl_workers" as w ("Id", "Endpoint", "Types", "Epoch", "Process", "Pid", "Seen",
"Messages", "Timeouts", "Flushes", "Failures", "Conflicts", "Dead", "Host", "Program",
"ProgramVersion", "PawlVersion", "Started") values ($1, $2, $3, 1, $4, $5, $6, 0, 0, 0, 0, 0, 0, $7,
$8, $9, $10, $6) on conflict ("Id") do update set "Endpoint" = excluded."Endpoint", "Types" =
excluded."Types", "Process" = excluded."Process", "Pid" = excluded."Pid", "Seen" = excluded."Seen",
"Epoch" = w."Epoch" + 1, "Host" = excluded."Host", "Program" = excluded."Program", "ProgramVersion"
= excluded."ProgramVersion", "PawlVersion" = excluded."PawlVersion", "Started" = excluded."Started"
returning w."Epoch", w.ctid;

-- WORKER_RAISE
update "pawl_workers" set "Epoch" = "Epoch" + 1 where "Id" = $1 returning "Epoch", "LastCommit",
ctid;

-- LOCK_TIMEOUT
select set_config('lock_timeout', $1, true);

-- WORKER_LOCK_WAIT
select pg_advisory_lock($1);

-- WORKER_UNLOCK
select pg_advisory_unlock($1);

-- WORKER_TAG
select pg_advisory_xact_lock_shared($1);

-- WORKER_TAG_WAIT
select pg_advisory_xact_lock($1);

-- END_SESSION
select pg_terminate_backend(l.pid) from pg_locks as l where l.locktype = 'advisory' and l.objsubid =
1 and l.granted and l.classid = (($1 >> 32) & 4294967295)::oid and l.objid = ($1 & 4294967295)::oid
and l.pid <> pg_backend_pid() and l.database = (select oid from pg_database where datname =
current_database());

-- END_HOLDER_OF
select pg_terminate_backend(a.pid) from "pawl_workers" as w join pg_stat_activity as a on
a.backend_xid = w.xmax where w."Id" = $1 and a.pid <> pg_backend_pid();

-- END_STANDING_OF
select pg_terminate_backend(a.pid) from pg_stat_activity as a where a.pid <> pg_backend_pid() and
a.wait_event = 'ClientRead' and a.state_change < clock_timestamp() - $1 * interval '1 millisecond'
and (a.backend_xid in (select w.xmax from "pawl_workers" as w) or a.pid in (select l.pid from
pg_locks as l where l.locktype = 'advisory' and l.objsubid = 1 and l.granted and l.classid = (($2 >>
32) & 4294967295)::oid and l.objid = ($2 & 4294967295)::oid and l.database = (select oid from
pg_database where datname = current_database())));

-- WORKER_LIVES
select w.n from unnest($2, $3) with ordinality as w ("Process", "Seen", n) where w."Process" <> 0
and pg_is_in_recovery() or case when w."Process" <> 0 then w."Process" in (select l.classid::bigint
<< 32 | l.objid::bigint from pg_catalog.pg_locks as l where l.locktype = 'advisory' and l.objsubid =
1 and l.granted and l.database = (select b.oid from pg_catalog.pg_database as b where b.datname =
current_database())) else w."Seen" > coalesce(nullif($1, '0001-01-01 00:00:00Z'), now()) - interval
'15 seconds' end;

-- WORKER_DEAD_LIST
select w."Id", w."Pid" <> -(4611686018427387904 | (((extract(epoch from w."Seen") * 1000000)::bigint
& 1099511627775) << 22) | (case when w."Pid" > 0 then w."Pid" when w."Pid" <= -4611686018427387904
then -w."Pid" & 4194303 else 0 end)) from "pawl_workers" as w where w."Epoch" > 0 and w."Seen" < $2
and not case when w."Process" <> 0 then w."Process" in (select l.classid::bigint << 32 |
l.objid::bigint from pg_catalog.pg_locks as l where l.locktype = 'advisory' and l.objsubid = 1 and
l.granted and l.database = (select b.oid from pg_catalog.pg_database as b where b.datname =
current_database())) else w."Seen" > $1 - interval '15 seconds' end order by w."Id" limit $3 for
update of w skip locked;

-- AGGREGATOR_FREE_DEAD
update "pawl_aggregator" set "Session" = null, "LeaseExpires" = null, "LeaseWorker" = null where
"LeaseWorker" = any (array(select w."Id" from "pawl_workers" as w where w."Epoch" > 0 and not case
when w."Process" <> 0 then w."Process" in (select l.classid::bigint << 32 | l.objid::bigint from
pg_catalog.pg_locks as l where l.locktype = 'advisory' and l.objsubid = 1 and l.granted and
l.database = (select b.oid from pg_catalog.pg_database as b where b.datname = current_database()))
else w."Seen" > $1 - interval '15 seconds' end));

-- LEASE_FREE_DEAD
delete from "pawl_leases" where "Worker" = any (array(select w."Id" from "pawl_workers" as w where
w."Epoch" > 0 and w."Process" <> 0 and not case when w."Process" <> 0 then w."Process" in (select
l.classid::bigint << 32 | l.objid::bigint from pg_catalog.pg_locks as l where l.locktype =
'advisory' and l.objsubid = 1 and l.granted and l.database = (select b.oid from
pg_catalog.pg_database as b where b.datname = current_database())) else w."Seen" > $1 - interval '15
seconds' end));

-- WORKER_KEEP
insert into "pawl_workers" ("Id", "Endpoint", "Types", "Epoch", "Process", "Pid", "Seen",
"Messages", "Timeouts", "Flushes", "Failures", "Conflicts", "Dead") values ($1, '', '', 0, 0, 0,
'epoch', 0, 0, 0, 0, 0, 0) on conflict ("Id") do nothing;

-- END_LEASE_HOLDER
select pg_terminate_backend(a.pid, 2000) from "pawl_leases" as l join pg_stat_activity as a on
a.backend_xid = l.xmax where l."Name" = $1 and l."Expires" <= $2 and a.pid <> pg_backend_pid() and
a.wait_event = 'ClientRead' and a.state_change < clock_timestamp() - $3 * interval '1 millisecond';

-- LEAD_TAKE
with seen as materialized (select l."Worker", l."Epoch", l."Expires", (l."Worker" is null or
l."Worker" = $2 or l."Expires" <= $5 or not exists (select 1 from "pawl_workers" as w where w."Id" =
l."Worker" and (w."Process" = 0 or case when w."Process" <> 0 then w."Process" in (select
l.classid::bigint << 32 | l.objid::bigint from pg_catalog.pg_locks as l where l.locktype =
'advisory' and l.objsubid = 1 and l.granted and l.database = (select b.oid from
pg_catalog.pg_database as b where b.datname = current_database())) else w."Seen" > $5 - interval '15
seconds' end))) as is_free from "pawl_leases" as l where l."Name" = $1) insert into "pawl_leases" as
l ("Name", "Worker", "Process", "Pid", "Epoch", "Expires") select $1, $2, $3, $4, 1, $6 where not
exists (select 1 from seen where not is_free) on conflict ("Name") do update set "Worker" =
excluded."Worker", "Process" = excluded."Process", "Pid" = excluded."Pid", "Epoch" = l."Epoch" +
case when l."Worker" = excluded."Worker" then 0 else 1 end, "Expires" = excluded."Expires" where
exists (select 1 from seen as s where s."Worker" is not distinct from l."Worker" and s."Epoch" =
l."Epoch" and s."Expires" = l."Expires") returning (select s."Worker" from seen as s where
s."Worker" <> $2);

-- LEAD_TAKE_ALONE
with waits as materialized (select set_config('lock_timeout', $7, true)), seen as materialized
(select l."Worker", l."Epoch", l."Expires", (l."Worker" is null or l."Worker" = $2 or l."Expires" <=
$5 or not exists (select 1 from "pawl_workers" as w where w."Id" = l."Worker" and (w."Process" = 0
or case when w."Process" <> 0 then w."Process" in (select l.classid::bigint << 32 | l.objid::bigint
from pg_catalog.pg_locks as l where l.locktype = 'advisory' and l.objsubid = 1 and l.granted and
l.database = (select b.oid from pg_catalog.pg_database as b where b.datname = current_database()))
else w."Seen" > $5 - interval '15 seconds' end))) as is_free from "pawl_leases" as l where l."Name"
= $1) insert into "pawl_leases" as l ("Name", "Worker", "Process", "Pid", "Epoch", "Expires") select
$1, $2, $3, $4, 1, $6 from waits where not exists (select 1 from seen where not is_free) on conflict
("Name") do update set "Worker" = excluded."Worker", "Process" = excluded."Process", "Pid" =
excluded."Pid", "Epoch" = l."Epoch" + case when l."Worker" = excluded."Worker" then 0 else 1 end,
"Expires" = excluded."Expires" where exists (select 1 from seen as s where s."Worker" is not
distinct from l."Worker" and s."Epoch" = l."Epoch" and s."Expires" = l."Expires") returning (select
s."Worker" from seen as s where s."Worker" <> $2), set_config('synchronous_commit', 'off', true);

-- TIMEOUT_FIRST
select "Due" from "pawl_timeouts" where "Destination" = $1 and "Due" >= $3 and ("LeaseExpires" is
null or "LeaseExpires" <= $2) order by "Due", "Id" limit 1;

-- TIMEOUT_FIRST_ANY
with recursive d (name) as ((select "Destination" from "pawl_timeouts" order by "Destination" limit
1) union all select (select t."Destination" from "pawl_timeouts" as t where t."Destination" > d.name
order by t."Destination" limit 1) from d where d.name is not null) select f."Due" from d cross join
lateral (select "Due" from "pawl_timeouts" where "Destination" = d.name and "Due" >= $3 and
("LeaseExpires" is null or "LeaseExpires" <= $2) order by "Due", "Id" limit 1) as f order by f."Due"
limit 1;

-- TIMEOUT_FOREIGN_DUE, for TIMEOUT_FOREIGN
with recursive d (name) as ((select "Destination" from "pawl_timeouts" order by "Destination" limit
1) union all select (select t."Destination" from "pawl_timeouts" as t where t."Destination" > d.name
order by t."Destination" limit 1) from d where d.name is not null) select k.name, f."Due" from
(select name from d where name = $1 or name <> all (array(select "Queue" from "pawl_subscriptions"))
offset 0) as k cross join lateral (select "Due" from "pawl_timeouts" where "Destination" = k.name
and ("LeaseExpires" is null or "LeaseExpires" <= $2) order by "Due", "Id" limit 1) as f order by
k.name;

-- TIMEOUT_CLAIM
with due as materialized (select "Id", "Destination", "Due", ctid as tid from "pawl_timeouts" where
"Destination" = $1 and "Due" >= $3 and "Due" <= $4 and ("LeaseExpires" is null or "LeaseExpires" <=
$2) order by "Due", "Id" limit $5 for update skip locked), ranges as (insert into "pawl_leases" as l
("Name", "Process", "Pid", "Epoch", "Expires") select r.name, r.first - 60000000, 0, $11, r.last +
interval '1 minute' from (select ($10 || "Destination") collate "default" as name, (extract(epoch
from min("Due")) * 1000000)::bigint as first, max("Due") as last from due group by "Destination") as
r where not exists (select 1 from "pawl_leases" as o where o."Name" = r.name and o."Process" <=
r.first and o."Expires" >= r.last) order by r.name on conflict ("Name") do update set "Process" =
least(l."Process", excluded."Process"), "Expires" = greatest(l."Expires", excluded."Expires")),
taken as (update "pawl_timeouts" as t set "Owner" = $7, "LeaseExpires" = $8, "LeaseWorker" = $9 from
(select tid from due order by "Due", "Id" limit $6) as k where t.ctid = k.tid returning t."Id",
t."Generation", t."SagaId", t."SagaType", t."Name", t."Destination", t."Due", t."Headers",
t."CorrelationId", t."Attempts", t."Owner", t."LeaseExpires") select a.*, taken.* from (select
count(*), min("Due"), max("Due") from due) as a left join taken on true order by taken."Due",
taken."Id";

-- TIMEOUT_CLAIM_ANY
with recursive d (name) as ((select "Destination" from "pawl_timeouts" order by "Destination" limit
1) union all select (select t."Destination" from "pawl_timeouts" as t where t."Destination" > d.name
order by t."Destination" limit 1) from d where d.name is not null) , due as materialized (select
f."Id", f."Destination", f."Due", f.tid from d cross join lateral (select "Id", "Destination",
"Due", ctid as tid from "pawl_timeouts" where "Destination" = d.name and "Due" >= $3 and "Due" <= $4
and ("LeaseExpires" is null or "LeaseExpires" <= $2) order by "Due", "Id" limit $5 for update skip
locked) as f order by f."Due", f."Id" limit $5), ranges as (insert into "pawl_leases" as l ("Name",
"Process", "Pid", "Epoch", "Expires") select r.name, r.first - 60000000, 0, $11, r.last + interval
'1 minute' from (select ($10 || "Destination") collate "default" as name, (extract(epoch from
min("Due")) * 1000000)::bigint as first, max("Due") as last from due group by "Destination") as r
where not exists (select 1 from "pawl_leases" as o where o."Name" = r.name and o."Process" <=
r.first and o."Expires" >= r.last) order by r.name on conflict ("Name") do update set "Process" =
least(l."Process", excluded."Process"), "Expires" = greatest(l."Expires", excluded."Expires")),
taken as (update "pawl_timeouts" as t set "Owner" = $7, "LeaseExpires" = $8, "LeaseWorker" = $9 from
(select tid from due order by "Due", "Id" limit $6) as k where t.ctid = k.tid returning t."Id",
t."Generation", t."SagaId", t."SagaType", t."Name", t."Destination", t."Due", t."Headers",
t."CorrelationId", t."Attempts", t."Owner", t."LeaseExpires") select a.*, taken.* from (select
count(*), min("Due"), max("Due") from due) as a left join taken on true order by taken."Due",
taken."Id";

-- TIMEOUT_REAP
with ranged as materialized (select substr("Name", 23) as destination, 'epoch'::timestamptz +
min("Process") * interval '1 microsecond' as first, max("Expires") as last from "pawl_leases" where
"Name" like 'timeouts:%' and true group by 1), old as materialized (select f.tid from ranged as m
cross join lateral (select ctid as tid from "pawl_timeouts" where "Destination" = m.destination and
"Due" >= m.first and "Due" <= m.last and "LeaseExpires" <= $1 order by "Due", "Id" for update skip
locked) as f) update "pawl_timeouts" as t set "Owner" = null, "LeaseExpires" = null, "LeaseWorker" =
null from old where t.ctid = old.tid;

-- TIMEOUT_RANGES_END
delete from "pawl_leases" where "Name" like 'timeouts:%' and "Epoch" <= $1;

-- TIMEOUT_FREE_CLAIM
with ranged as materialized (select substr("Name", 23) as destination, 'epoch'::timestamptz +
min("Process") * interval '1 microsecond' as first, max("Expires") as last from "pawl_leases" where
"Name" like 'timeouts:%' and true group by 1), old as materialized (select f.tid from ranged as m
cross join lateral (select ctid as tid from "pawl_timeouts" where "Destination" = m.destination and
"Due" >= m.first and "Due" <= m.last and "Owner" = $1 order by "Due", "Id" for update) as f) update
"pawl_timeouts" as t set "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null from old where
t.ctid = old.tid;

-- TIMEOUT_FREE_WORKER
with ranged as materialized (select substr("Name", 23) as destination, 'epoch'::timestamptz +
min("Process") * interval '1 microsecond' as first, max("Expires") as last from "pawl_leases" where
"Name" like 'timeouts:%' and true group by 1), old as materialized (select f.tid from ranged as m
cross join lateral (select ctid as tid from "pawl_timeouts" where "Destination" = m.destination and
"Due" >= m.first and "Due" <= m.last and "LeaseWorker" = $1 order by "Due", "Id" for update) as f)
update "pawl_timeouts" as t set "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null from old
where t.ctid = old.tid;

-- TIMEOUT_FREE_DEAD
with dead as materialized (select w."Id", w.ctid as tid from "pawl_workers" as w where w."Epoch" > 0
and w."Pid" <> -(4611686018427387904 | (((extract(epoch from w."Seen") * 1000000)::bigint &
1099511627775) << 22) | (case when w."Pid" > 0 then w."Pid" when w."Pid" <= -4611686018427387904
then -w."Pid" & 4194303 else 0 end)) and ($2 or w."Process" <> 0) and not case when w."Process" <> 0
then w."Process" in (select l.classid::bigint << 32 | l.objid::bigint from pg_catalog.pg_locks as l
where l.locktype = 'advisory' and l.objsubid = 1 and l.granted and l.database = (select b.oid from
pg_catalog.pg_database as b where b.datname = current_database())) else w."Seen" > $1 - interval '15
seconds' end for update of w skip locked), freed as (update "pawl_workers" as w set "Pid" =
-(4611686018427387904 | (((extract(epoch from w."Seen") * 1000000)::bigint & 1099511627775) << 22) |
(case when w."Pid" > 0 then w."Pid" when w."Pid" <= -4611686018427387904 then -w."Pid" & 4194303
else 0 end)) from dead where w.ctid = dead.tid), ranged as materialized (select substr("Name", 23)
as destination, 'epoch'::timestamptz + min("Process") * interval '1 microsecond' as first,
max("Expires") as last from "pawl_leases" where "Name" like 'timeouts:%' and exists (select 1 from
dead) group by 1), old as materialized (select f.tid from ranged as m cross join lateral (select
ctid as tid from "pawl_timeouts" where "Destination" = m.destination and "Due" >= m.first and "Due"
<= m.last and "LeaseWorker" = any (array(select "Id" from dead)) order by "Due", "Id" for update
skip locked) as f) update "pawl_timeouts" as t set "Owner" = null, "LeaseExpires" = null,
"LeaseWorker" = null from old where t.ctid = old.tid;

-- TIMEOUT_LIST_SAGA, for TIMEOUT_LIST_SAGA
select "Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due", "Headers",
"CorrelationId", "Attempts", "Owner", "LeaseExpires" from "pawl_timeouts" where "SagaId" = $1 and
"Name" <> '' and "Due" >= $2 and ("Due" > $2 or "Id" > $3) union all select "Id", "Generation",
"SagaId", "SagaType", "Name", "Destination", "Due", "Headers", "CorrelationId", "Attempts", "Owner",
"LeaseExpires" from "pawl_timeouts" where "SagaId" = $1 and "Name" = '' and "Due" >= $2 and ("Due" >
$2 or "Id" > $3) order by "Due", "Id" limit $4;

-- TIMEOUT_LOCK_ID
select f."Id" from unnest($1) as k (id) cross join lateral (select o."Id" from "pawl_timeouts" as o
where o."Id" >= k.id and o."Id" <= k.id order by o."Id" limit 1 for update) as f;

-- TIMEOUT_DELETE
delete from "pawl_timeouts" as t using unnest($1, $2, $3) with ordinality as k (id, owner,
generation, n) cross join lateral (select o.ctid as tid from "pawl_timeouts" as o where o."Id" >=
k.id and o."Id" <= k.id order by o."Id" limit 1) as f where t.ctid = f.tid and (k.owner is null or
t."Owner" = k.owner) and (k.generation = 0 or t."Generation" = k.generation) returning k.n;

-- TIMEOUT_RELEASE
update "pawl_timeouts" as t set "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null from
unnest($1, $2, $3) with ordinality as k (id, owner, generation, n) cross join lateral (select o.ctid
as tid from "pawl_timeouts" as o where o."Id" >= k.id and o."Id" <= k.id order by o."Id" limit 1) as
f where t.ctid = f.tid and (k.owner is null or t."Owner" = k.owner) and (k.generation = 0 or
t."Generation" = k.generation) returning k.n;

-- TIMEOUT_RETRY
update "pawl_timeouts" as t set "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null, "Due" =
k.due, "Attempts" = k.attempts from unnest($1, $2, $3, $4, $5) with ordinality as k (id, owner,
generation, due, attempts, n) cross join lateral (select o.ctid as tid from "pawl_timeouts" as o
where o."Id" >= k.id and o."Id" <= k.id order by o."Id" limit 1) as f where t.ctid = f.tid and
(k.owner is null or t."Owner" = k.owner) and (k.generation = 0 or t."Generation" = k.generation)
returning k.n;

-- TIMEOUT_LOCK
select f."Id" from unnest($1, $2) as k (saga_id, name) cross join lateral (select o."Id" from
"pawl_timeouts" as o where o."SagaId" = k.saga_id and o."Name" = k.name and o."Name" <> '' for
update) as f;

-- TIMEOUT_CANCEL
delete from "pawl_timeouts" as t using unnest($1, $2) as k (saga_id, name) cross join lateral
(select o.ctid as tid from "pawl_timeouts" as o where o."SagaId" = k.saga_id and o."Name" = k.name
and o."Name" <> '' offset 0) as f where t.ctid = f.tid;

-- TIMEOUT_LOCK_NAMED
select f."Id" from unnest($1) as k (saga_id) cross join lateral (select o."Id" from "pawl_timeouts"
as o where o."SagaId" = k.saga_id and o."Name" <> '' for update) as f;

-- TIMEOUT_CANCEL_NAMED
delete from "pawl_timeouts" as t using unnest($1) as k (saga_id) cross join lateral (select o.ctid
as tid from "pawl_timeouts" as o where o."SagaId" = k.saga_id and o."Name" <> '' offset 0) as f
where t.ctid = f.tid;

-- TIMEOUT_LOCK_OWN
select f."Id" from unnest($1) as k (saga_id) cross join lateral (select o."Id" from "pawl_timeouts"
as o where o."SagaId" = k.saga_id and o."Name" = '' for update) as f;

-- TIMEOUT_CANCEL_OWN
delete from "pawl_timeouts" as t using unnest($1) as k (saga_id) cross join lateral (select o.ctid
as tid from "pawl_timeouts" as o where o."SagaId" = k.saga_id and o."Name" = '' offset 0) as f where
t.ctid = f.tid;

-- TIMEOUT_REARM_SURE
insert into "pawl_timeouts" as t ("Id", "Generation", "SagaId", "SagaType", "Name", "Destination",
"Due", "Attempts", "CorrelationId", "Headers") select k.id, 1, k.saga_id, k.saga_type, k.name,
k.destination, k.due, 0, k.correlation_id, k.headers from unnest($1, $2, $3, $4, $5, $6, $7, $8) as
k (id, saga_id, saga_type, name, destination, due, correlation_id, headers) ;

-- TIMEOUT_REARM_SAGA
insert into "pawl_timeouts" as t ("Id", "Generation", "SagaId", "SagaType", "Name", "Destination",
"Due", "Attempts", "CorrelationId", "Headers") select k.id, 1, k.saga_id, k.saga_type, k.name,
k.destination, k.due, 0, k.correlation_id, k.headers from unnest($1, $2, $3, $4, $5, $6, $7, $8) as
k (id, saga_id, saga_type, name, destination, due, correlation_id, headers) where (select o."SagaId"
is not distinct from k.saga_id and o."Name" = k.name from "pawl_timeouts" as o where o."Id" >= k.id
and o."Id" <= k.id order by o."Id" limit 1) is not false or (select true from "pawl_timeouts" as o
where o."SagaId" = k.saga_id and o."Name" = k.name and o."Name" <> '') on conflict ("SagaId",
"Name") where "SagaId" is not null and "Name" <> '' do update set "Generation" = t."Generation" + 1,
"SagaType" = excluded."SagaType", "Destination" = excluded."Destination", "Due" = excluded."Due",
"Attempts" = 0, "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null, "CorrelationId" =
excluded."CorrelationId", "Headers" = excluded."Headers" returning t."SagaId", t."Name";

-- TIMEOUT_REARM
insert into "pawl_timeouts" as t ("Id", "Generation", "SagaId", "SagaType", "Name", "Destination",
"Due", "Attempts", "CorrelationId", "Headers") select k.id, 1, k.saga_id, k.saga_type, k.name,
k.destination, k.due, 0, k.correlation_id, k.headers from unnest($1, $2, $3, $4, $5, $6, $7, $8) as
k (id, saga_id, saga_type, name, destination, due, correlation_id, headers) on conflict ("Id") do
update set "Generation" = t."Generation" + 1, "SagaType" = excluded."SagaType", "Destination" =
excluded."Destination", "Due" = excluded."Due", "Attempts" = 0, "Owner" = null, "LeaseExpires" =
null, "LeaseWorker" = null, "CorrelationId" = excluded."CorrelationId", "Headers" =
excluded."Headers", "SagaId" = excluded."SagaId", "Name" = excluded."Name";

-- OUTBOX_DUE
with taken as materialized (select count(*) as count, case when count(*) < $4 then (select p."Id"
from "pawl_outbox" as p where p."State" = 'pending' and p."Id" >= $3 order by p."Id" desc,
p."NextAttempt" desc limit 1) else max(t."Id") end as last from (select "Id" from "pawl_outbox"
where "State" = 'pending' and ($2 = '' or "Endpoint" = $2) and "Id" >= $3 and "NextAttempt" <= $1
order by "Id", "NextAttempt" limit $4) as t), later as (select min(w."NextAttempt") as next_attempt,
min(w."Id") as id from (select "Id", "NextAttempt" from "pawl_outbox" where "State" = 'pending' and
($2 = '' or "Endpoint" = $2) and "Id" >= $3 and "NextAttempt" > $1 and "Id" <= (select case when
t.count < $4 then 9223372036854775807 else t.last end from taken as t) order by "Id", "NextAttempt"
) as w) select null, later.next_attempt, later.id,
pg_snapshot_xmin(pg_current_snapshot())::text::bigint, case when taken.last >= $5 then
pg_current_xact_id()::text::bigint end, null, null, null, null, null, null, taken.last, null, null,
null, null, null, null from taken cross join later union all select due.* from (select "Id",
"NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint", "Destination",
"Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId", "Headers",
"Body" from "pawl_outbox" where "State" = 'pending' and ($2 = '' or "Endpoint" = $2) and "Id" >= $3
and "NextAttempt" <= $1 order by "Id", "NextAttempt" limit $4) as due;

-- OUTBOX_FIND_PENDING, for OUTBOX_FIND_PENDING
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" where "State" = 'pending' and ($1 = 0
or "Id" = $1) and ($2 is null or "DispatchId" = $2) and "Id" > $3 and ($4 = 0 or ($4 & case "State"
when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when
'discarded' then 16 else 0 end) <> 0) and ($5 = '' or "Endpoint" = $5) and ($6 = '' or "Source" =
$6) and ($7 = '' or "Destination" = $7) and ($8 = '' or "Type" = $8) and ($9 = '' or "CausationId" =
$9) and "Attempts" >= $10 order by "Id", "NextAttempt" limit $11;

-- OUTBOX_FIND_TRIED, for OUTBOX_FIND_TRIED
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" where "State" = 'pending' and
"Attempts" > 0 and ($1 = 0 or "Id" = $1) and ($2 is null or "DispatchId" = $2) and "Id" > $3 and ($4
= 0 or ($4 & case "State" when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when
'dead' then 8 when 'discarded' then 16 else 0 end) <> 0) and ($5 = '' or "Endpoint" = $5) and ($6 =
'' or "Source" = $6) and ($7 = '' or "Destination" = $7) and ($8 = '' or "Type" = $8) and ($9 = ''
or "CausationId" = $9) and "Attempts" >= $10 order by "Id", "Attempts" limit $11;

-- OUTBOX_FIND_HELD, for OUTBOX_FIND_HELD
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" where "State" = 'held' and "Attempts"
>= 0 and ($1 = 0 or "Id" = $1) and ($2 is null or "DispatchId" = $2) and "Id" > $3 and ($4 = 0 or
($4 & case "State" when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead'
then 8 when 'discarded' then 16 else 0 end) <> 0) and ($5 = '' or "Endpoint" = $5) and ($6 = '' or
"Source" = $6) and ($7 = '' or "Destination" = $7) and ($8 = '' or "Type" = $8) and ($9 = '' or
"CausationId" = $9) and "Attempts" >= $10 order by "Id", "NextAttempt" limit $11;

-- OUTBOX_FIND_DISPATCH, for OUTBOX_FIND_DISPATCH
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" where "DispatchId" = $2 and ($1 = 0 or
"Id" + 0 = $1) and ($2 is null or "DispatchId" = $2) and "Id" + 0 > $3 and ($4 = 0 or ($4 & case
"State" when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when
'discarded' then 16 else 0 end) <> 0) and ($5 = '' or "Endpoint" = $5) and ($6 = '' or "Source" =
$6) and ($7 = '' or "Destination" = $7) and ($8 = '' or "Type" = $8) and ($9 = '' or "CausationId" =
$9) and "Attempts" >= $10 limit $11;

-- OUTBOX_SETTLE
update "pawl_outbox" as o set "State" = k.state, "Attempts" = k.attempts, "NextAttempt" =
k.next_attempt, "DispatchedAt" = k.dispatched_at from (select u.*, f.tid, f.seen from unnest($1, $2,
$3, $4, $5) with ordinality as u (state, attempts, next_attempt, dispatched_at, id, n) cross join
lateral (select q.ctid as tid, q."State" as seen from "pawl_outbox" as q where q."Id" = u.id and
q."State" || '' = 'pending' limit 1) as f) as k where o.ctid = k.tid and o."State" is not distinct
from k.seen returning k.n;

-- OUTBOX_ENABLE
update "pawl_outbox" as o set "State" = 'pending', "NextAttempt" = k.at, "AttemptsBefore" =
o."Attempts" + 1, "Attempts" = o."Attempts" + 1 from (select u.*, f.tid, f.seen from unnest($1, $2)
with ordinality as u (at, id, n) cross join lateral (select q.ctid as tid, q."State" as seen from
"pawl_outbox" as q where q."Id" = u.id and q."State" || '' = 'dead' limit 1) as f) as k where o.ctid
= k.tid and o."State" is not distinct from k.seen returning k.n;

-- OUTBOX_DISCARD
update "pawl_outbox" as o set "State" = 'discarded', "DispatchedAt" = k.at, "Attempts" =
o."Attempts" + 1 from (select u.*, f.tid, f.seen from unnest($1, $2) with ordinality as u (at, id,
n) cross join lateral (select q.ctid as tid, q."State" as seen from "pawl_outbox" as q where q."Id"
= u.id and q."State" || '' = 'dead' limit 1) as f) as k where o.ctid = k.tid and o."State" is not
distinct from k.seen returning k.n;

-- OUTBOX_ATTEMPT_NEXT
insert into "pawl_outbox_attempts" ("OutboxId", "Attempt", "Outcome", "At", "Duration", "Error")
select o."Id", (select coalesce(max(a."Attempt"), 0) + 1 from "pawl_outbox_attempts" as a where
a."OutboxId" = o."Id"), k.outcome, k.at, k.duration, k.error from unnest($1, $2, $3, $4, $5, $6) as
k (id, attempts, outcome, at, duration, error) cross join lateral (select q."Id" from "pawl_outbox"
as q where q."Id" = k.id limit 1) as o on conflict ("OutboxId", "Attempt") do nothing;

-- OUTBOX_ATTEMPT
insert into "pawl_outbox_attempts" ("OutboxId", "Attempt", "Outcome", "At", "Duration", "Error")
select o."Id", (select coalesce(max(a."Attempt"), 0) + 1 from "pawl_outbox_attempts" as a where
a."OutboxId" = o."Id"), k.outcome, k.at, k.duration, k.error from unnest($1, $2, $3, $4, $5) as k
(id, outcome, at, duration, error) cross join lateral (select q."Id" from "pawl_outbox" as q where
q."Id" = k.id limit 1) as o on conflict ("OutboxId", "Attempt") do nothing;

-- OUTBOX_SETTLE_ALIKE
with settled as (update "pawl_outbox" as o set "State" = $2, "Attempts" = $3, "NextAttempt" = $4,
"DispatchedAt" = case $2 when 'dispatched' then $5 end where o."Id" = any ($1) and o."State" || '' =
'pending' returning 1) select 1 / (count(*) >= $6)::integer from settled;

-- OUTBOX_ATTEMPT_ALIKE
insert into "pawl_outbox_attempts" ("OutboxId", "Attempt", "Outcome", "At", "Duration", "Error")
select unnest($1), $3, $4, $5, unnest($2), '';

-- OUTBOX_UNBLOCK
update "pawl_outbox" set "State" = 'pending' where "State" = 'held' and "Source" = any ($1);

-- OUTBOX_BLOCK_ROWS
update "pawl_outbox" o set "State" = 'held' from unnest($1, $2) w (id, source) where o."Id" = any
(array_append(null, w.id)) and o."Source" is not distinct from w.source and o."State" || '' =
'pending' and o."Attempts" = 0;

-- OUTBOX_BLOCK
with behind as materialized (select ctid as tid from "pawl_outbox" where "State" = 'pending' and
"Attempts" = 0 and "Id" > $1 and "Id" > ((select jsonb_object_agg(k.source, k.after) from unnest($2,
$3) as k (source, after)) ->> "Source")::bigint order by "Id", "NextAttempt" ) update "pawl_outbox"
as o set "State" = 'held' from behind where o.ctid = behind.tid;

-- AGGREGATOR_CLAIM
with free as (select ctid as tid from "pawl_aggregator" where "Partition" = $1 and ("LeaseExpires"
is null or "LeaseExpires" <= $2) and "Id" <= $3 and "Type" = any ($4) order by "At", "Id" limit $5
for update skip locked), taken as (update "pawl_aggregator" as t set "Session" = $6, "LeaseExpires"
= $7, "LeaseWorker" = $8 from free where t.ctid = free.tid returning "Type", "LeaseExpires", "Id",
"Name", "Partition", "Key", "At", "Session", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body") select * from taken order by "At", "Id";

-- AGGREGATOR_UNRESOLVED
select count(*) from "pawl_aggregator" where "Partition" = $1 and ("LeaseExpires" is null or
"LeaseExpires" <= $2) and "Id" <= $3 and "Type" <> all ($4);

-- AGGREGATOR_TALLY
select c.size, c.resolved, c.ready, c.id_last, f."Due", f."Attempts", f."Dead" from (select count(*)
as size, count(*) filter (where "Type" = any ($2)) as resolved, count(*) filter (where "Type" = any
($2) and ("LeaseExpires" is null or "LeaseExpires" <= $3)) as ready, coalesce(max("Id"), 0) as
id_last from "pawl_aggregator" where "Partition" = $1) as c left join "pawl_aggregator_flush" as f
on f."Partition" = $1;

-- AGGREGATOR_LOCK_ID
select f."Id" from unnest($1) as k (id) cross join lateral (select o."Id" from "pawl_aggregator" as
o where o."Id" >= k.id and o."Id" <= k.id order by o."Id" limit 1 for update) as f;

-- AGGREGATOR_DELETE
delete from "pawl_aggregator" as a using unnest($1, $2, $3) with ordinality as k (id, partition,
session, n) cross join lateral (select o.ctid as tid from "pawl_aggregator" as o where o."Id" >=
k.id and o."Id" <= k.id order by o."Id" limit 1) as f where a.ctid = f.tid and a."Partition" is not
distinct from k.partition and (k.session is null or a."Session" = k.session) returning k.n;

-- AGGREGATOR_LOCK_OLDEST
select f."Id" from unnest($1, $2) as k (partition, correlation_id) cross join lateral (select o."Id"
from "pawl_aggregator" as o where o."Partition" = k.partition and o."CorrelationId" =
k.correlation_id order by o."At", o."Id" limit 1 for update) as f;

-- AGGREGATOR_DELETE_OLDEST
delete from "pawl_aggregator" as a using unnest($1, $2) with ordinality as k (partition,
correlation_id, n) cross join lateral (select o.ctid as tid from "pawl_aggregator" as o where
o."Partition" = k.partition and o."CorrelationId" = k.correlation_id order by o."At", o."Id" limit
1) as f where a.ctid = f.tid returning k.n;

-- FLUSH_ADD
with k as materialized (select distinct on (u.partition collate "C") u.* from unnest($1, $2, $3)
with ordinality as u (partition, name, due, n) order by u.partition collate "C", u.n), kept as
materialized (select k.partition from k join "pawl_aggregator_flush" as f on f."Partition" = any
(array_append(null, k.partition)) order by k.partition collate "C" for key share of f) insert into
"pawl_aggregator_flush" ("Partition", "Name", "Due", "Attempts", "Dead", "Error") select
k.partition, k.name, k.due, 0, 0, '' from k where k.partition not in (select partition from kept)
order by k.partition collate "C" on conflict ("Partition") do update set "Name" = excluded."Name";

-- FLUSH_LOCK
select 1 from unnest($1) with ordinality as k (partition, n) join "pawl_aggregator_flush" as f on
f."Partition" = any (array_append(null, k.partition)) order by k.n for update of f;

-- EVENT_INSERT
insert into "pawl_events" ("Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body") select k.stream, k.version, k.type,
k.type_version, k.message_id, k.correlation_id, k.causation_id, k.dispatch_id, k.at, k.headers,
k.body from (select unnest($1) as stream, unnest($2) as version, unnest($3) as type, unnest($4) as
type_version, unnest($5) as message_id, unnest($6) as correlation_id, unnest($7) as causation_id,
unnest($8) as dispatch_id, unnest($9) as at, unnest($10) as headers, unnest($11) as body,
unnest($12) as is_first) as k where pg_current_xact_id() is not null and (not k.is_first or
k.version = 1 or (select true from "pawl_events" as o where o."Stream" = k.stream and o."Version" =
k.version - 1 limit 1)) is true on conflict ("Stream", "Version") do nothing returning "Stream",
"Version";

-- EVENT_INSERT_SURE
insert into "pawl_events" ("Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body") select k.stream, k.version / ((not k.is_first
or k.version = 1 or (select true from "pawl_events" as o where o."Stream" = k.stream and o."Version"
= k.version - 1 limit 1)) is true)::integer, k.type, k.type_version, k.message_id, k.correlation_id,
k.causation_id, k.dispatch_id, k.at, k.headers, k.body from (select unnest($1) as stream, unnest($2)
as version, unnest($3) as type, unnest($4) as type_version, unnest($5) as message_id, unnest($6) as
correlation_id, unnest($7) as causation_id, unnest($8) as dispatch_id, unnest($9) as at, unnest($10)
as headers, unnest($11) as body, unnest($12) as is_first) as k where pg_current_xact_id() is not
null;

-- EVENT_TAKEN
select k.n from unnest($1, $2) with ordinality as k (stream, version, n) cross join lateral (select
from "pawl_events" where "Stream" = k.stream and "Version" = k.version limit 1) as e;

-- STREAM_LOAD_ALL
with f as materialized (select k.n, k.stream, greatest(k.after, coalesce(s.version, 0)) as base,
(select o."Version" from "pawl_events" as o where o."Stream" = k.stream order by o."Version" desc
limit 1) as last, s.* from unnest($1, $2, $3) with ordinality as k (stream, after, type_version_max,
n) left join lateral (select o."Version" as version, o."TypeVersion" as type_version, o."At" as at,
o."State" as state, o."Dispatches" as dispatches from "pawl_folds" as o where o."Stream" = k.stream
and o."TypeVersion" <= k.type_version_max and o."Version" > k.after limit 1) as s on true) select
f.n, f.version, null, f.last, null, f.type_version, null, null, null, null, f.at, null, null,
f.state, f.dispatches from f union all select f.n, e.*, null, null from f cross join lateral (select
"Version", "Seq", "Position", "Type", "TypeVersion", "MessageId", "CorrelationId", "CausationId",
"DispatchId", "At", "Headers", "Body" from "pawl_events" where "Stream" = f.stream and "Version" >
f.base order by "Version") as e;

-- EVENTS_THERE
select exists (select 1 from "pawl_events" where "Position" > $1) or exists (select 1 from
"pawl_events" where "Position" is null);

-- EVENT_TURN
select pg_advisory_xact_lock($1);

-- EVENT_NUMBER
with k as materialized (select u.seq, u.tid, row_number() over (order by u.seq, u.version) as n from
(select "Seq" as seq, "Version" as version, ctid as tid from "pawl_events" where "Position" is null
and "Seq" >= $1 order by "Seq", "Version" limit $2) as u), numbered as (update "pawl_events" as e
set "Position" = k.n + (select coalesce((select "Position" from "pawl_events" where "Position" is
not null order by "Position" desc limit 1), 0)) from k where e.ctid = k.tid) select count(*),
max(seq), pg_snapshot_xmin(pg_current_snapshot())::text::bigint, case when count(*) <> 0 then
pg_current_xact_id()::text::bigint end from k;

-- DEAD_FIND, for DEAD_FIND
select * from (select "Endpoint", "Queue", "Code", "Error", "Attempts", "Deaths", "History", "At",
"MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body" from "pawl_dead" where $1 in
('', "Endpoint") and ($2 = '' or "MessageId" = $2) and ($3 = '' or "Type" = $3) and ($4 = '' or
"Code" = $4) and ($5 = '' or length(replace("Error", $5, '')) <> length("Error")) and ("At" > $8 or
("At" = $8 and ("Endpoint" > $9 or ("Endpoint" = $9 and "MessageId" > $10)))) and "At" >= $6 and
"At" <= $7 order by "At" fetch first ($11) rows with ties) as found order by "At", "Endpoint",
"MessageId" limit $11;

-- QUEUE_CLAIM
select (select true from "pawl_inbox" as i where i."Endpoint" = $6 and i."MessageId" = q."MessageId"
limit 1), q.ctid, q."Seq", q."Due", q."Placed", q."Attempts", q."Deaths", q."WaitingSince",
q."History", "MessageId", "Type", "CorrelationId", "CausationId", "Headers", case when
octet_length("Body") <= $7 then "Body" end, octet_length("Body")::bigint from "pawl_queue" as q
where q."Queue" = $1 and q."Due" <= $2 and q."Due" >= $3 and q."Seq" <> all ($4) order by q."Due",
q."Seq" limit $5 for update of q skip locked;

-- QUEUE_CLAIM_AGAIN
select q.* from (select distinct u.seq from unnest($1) as u (seq)) as k cross join lateral (select
ctid, "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body" from "pawl_queue" where "Seq" >= k.seq and "Seq"
<= k.seq and "Queue" || '' = $2 and "Due" <= $3 order by "Seq" limit 1 for update skip locked) as q
order by q."Due", q."Seq" limit $4;

-- QUEUE_BODIES
select k.n, t."Body" from unnest($1) with ordinality as k (seq, n) cross join lateral (select
o."Body" from "pawl_queue" as o where o."Seq" >= k.seq and o."Seq" <= k.seq order by o."Seq" limit
1) as t;

-- QUEUE_LOCK
select f."Seq", f.tid from unnest($1, $2) as k (seq, due) cross join lateral (select o."Seq", o.ctid
as tid from "pawl_queue" as o where o."Seq" >= k.seq and o."Seq" <= k.seq and greatest(o."Due",
'0001-01-01 00:00:00+00') = k.due order by o."Seq" limit 1 for update skip locked) as f order by
f."Seq";

-- QUEUE_DELETE
delete from "pawl_queue" as q using unnest($1, $2, $3) with ordinality as k (tid, seq, queue, n)
where q.ctid = k.tid and q."Seq" + 0 = k.seq and q."Queue" || '' = k.queue returning k.n;

-- QUEUE_RETRY
update "pawl_queue" as q set "Due" = k.due, "Attempts" = k.attempts, "Deaths" = k.deaths,
"WaitingSince" = k.waiting_since, "Error" = k.error, "History" = k.history from unnest($1, $2, $3,
$4, $5, $6, $7, $8, $9) with ordinality as k (tid, due, attempts, deaths, waiting_since, error,
history, seq, queue, n) where q.ctid = k.tid and q."Seq" + 0 = k.seq and q."Queue" || '' = k.queue
returning k.n;

-- QUEUE_OLDEST
select "Placed", "Seq" from "pawl_queue" where "Queue" = $1 and "Due" <= $2 and "Attempts" = 0 and
"WaitingSince" = 'epoch' and "Seq" <> all ($3) order by "Due", "Seq" limit 1;

-- QUEUE_FIRST
select "Due" from "pawl_queue" where "Queue" = $1 and "Due" >= $2 and "Seq" <> all ($3) order by
"Due", "Seq" limit 1 for update skip locked;

-- INBOX_KNOWN
select k.n from unnest($2) with ordinality as k (id, n) cross join lateral (select from "pawl_inbox"
where "Endpoint" = $1 and "MessageId" = k.id limit 1) as i;

-- DEAD_DELETE_OF
delete from "pawl_dead" as t using unnest($1, $2, $3) with ordinality as k (endpoint, id, at, n)
cross join lateral (select o.ctid as tid, o."At" as at from "pawl_dead" as o where o."Endpoint" =
k.endpoint and o."MessageId" = k.id offset 0) as f where t.ctid = f.tid and f.at = k.at returning
k.n;

-- INBOX_MARK
insert into "pawl_inbox" ("Endpoint", "MessageId", "Outcome", "At") select k.p1, k.p2, k.p3, k.p4
from (select unnest($1) as p1, unnest($2) as p2, unnest($3) as p3, unnest($4) as p4) as k on
conflict ("Endpoint", "MessageId") do nothing returning "Endpoint", "MessageId";

-- CHECKPOINT_ADD
insert into "pawl_checkpoints" ("Name", "Position", "At") select k.p1, k.p2, k.p3 from (select
unnest($1) as p1, unnest($2) as p2, unnest($3) as p3) as k on conflict ("Name") do nothing;

-- CHECKPOINT_MOVE
update "pawl_checkpoints" set "Position" = k.p2, "At" = k.p3 from unnest($1, $2, $3, $4) with
ordinality as k (p1, p2, p3, p4, n) where "Name" = any (array_append(null, k.p1)) and "Position" =
any (array_append(null, k.p4)) returning k.n;

-- TIMEOUT_INSERT
insert into "pawl_timeouts" ("Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due",
"Attempts", "CorrelationId", "Headers") select k.p1, 1, k.p2, k.p3, k.p4, k.p5, k.p6, 0, k.p7, k.p8
from (select unnest($1) as p1, unnest($2) as p2, unnest($3) as p3, unnest($4) as p4, unnest($5) as
p5, unnest($6) as p6, unnest($7) as p7, unnest($8) as p8) as k on conflict do nothing returning "Id";

-- OUTBOX_ADD
insert into "pawl_outbox" ("DispatchId", "State", "Attempts", "NextAttempt", "Due", "At", "Source",
"Version", "Index", "Endpoint", "Destination", "AttemptsBefore", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body") select k.p1, 'pending', 0, 'epoch', k.p3, k.p2,
k.p4, k.p5, k.p6, k.p7, k.p8, 0, k.p9, k.p10, k.p11, k.p12, k.p13, k.p14 from (select unnest($1) as
p1, unnest($2) as p2, unnest($3) as p3, unnest($4) as p4, unnest($5) as p5, unnest($6) as p6,
unnest($7) as p7, unnest($8) as p8, unnest($9) as p9, unnest($10) as p10, unnest($11) as p11,
unnest($12) as p12, unnest($13) as p13, unnest($14) as p14) as k where pg_current_xact_id() is not
null on conflict ("DispatchId") do nothing returning "DispatchId";

-- OUTBOX_ATTEMPT_PUT
insert into "pawl_outbox_attempts" ("OutboxId", "Attempt", "Outcome", "At", "Duration", "Error")
select k.p1, k.p2, k.p3, k.p4, k.p5, k.p6 from (select unnest($1) as p1, unnest($2) as p2,
unnest($3) as p3, unnest($4) as p4, unnest($5) as p5, unnest($6) as p6) as k;

-- OUTBOX_SAME
select k.n from unnest($1, $2, $3) with ordinality as k (p1, p2, p3, n) cross join lateral (select 1
from "pawl_outbox" where "DispatchId" = k.p1 and "Type" = k.p2 and "Body" = k.p3 limit 1) as f;

-- QUEUE_SEND
insert into "pawl_queue" ("Queue", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "Error",
"MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body") select k.p1, k.p2, k.p2,
k.p3, 0, 'epoch', '', k.p4, k.p5, k.p6, k.p7, k.p8, k.p9 from (select unnest($1) as p1, unnest($2)
as p2, unnest($3) as p3, unnest($4) as p4, unnest($5) as p5, unnest($6) as p6, unnest($7) as p7,
unnest($8) as p8, unnest($9) as p9) as k on conflict ("Queue", "MessageId") do nothing;

-- FOLD_SET
insert into "pawl_folds" ("Stream", "Version", "TypeVersion", "State", "Dispatches", "At") select
k.p1, k.p2, k.p3, k.p4, k.p5, k.p6 from (select unnest($1) as p1, unnest($2) as p2, unnest($3) as
p3, unnest($4) as p4, unnest($5) as p5, unnest($6) as p6) as k on conflict ("Stream") do update set
"Version" = excluded."Version", "TypeVersion" = excluded."TypeVersion", "State" = excluded."State",
"Dispatches" = excluded."Dispatches", "At" = excluded."At" where excluded."Version" >
"pawl_folds"."Version";

-- AGGREGATOR_ADD
insert into "pawl_aggregator" ("Name", "Partition", "Key", "At", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body") select k.p1, k.p2, k.p3, k.p4, k.p5, k.p6, k.p7,
k.p8, k.p9, k.p10 from (select unnest($1) as p1, unnest($2) as p2, unnest($3) as p3, unnest($4) as
p4, unnest($5) as p5, unnest($6) as p6, unnest($7) as p7, unnest($8) as p8, unnest($9) as p9,
unnest($10) as p10) as k on conflict ("Partition", "Key") do nothing;

-- AGGREGATOR_DELETE_ALL
delete from "pawl_aggregator" using unnest($1) with ordinality as k (p1, n) where "Partition" = any
(array_append(null, k.p1)) returning k.n;

-- AGGREGATOR_RELEASE
update "pawl_aggregator" set "Session" = null, "LeaseExpires" = null, "LeaseWorker" = null from
unnest($1, $2) with ordinality as k (p1, p2, n) where "Partition" = any (array_append(null, k.p1))
and "Session" = any (array_append(null, k.p2)) returning k.n;

-- FLUSH_DONE
delete from "pawl_aggregator_flush" using unnest($1) with ordinality as k (p1, n) where "Partition"
= any (array_append(null, k.p1)) and not exists (select 1 from "pawl_aggregator" where "Partition" =
any (array_append(null, k.p1))) returning k.n;

-- FLUSH_SET
update "pawl_aggregator_flush" set "Due" = k.p1, "Attempts" = k.p2, "Dead" = k.p3, "Error" = k.p4
from unnest($1, $2, $3, $4, $5) with ordinality as k (p1, p2, p3, p4, p5, n) where "Partition" = any
(array_append(null, k.p5)) returning k.n;

-- DEAD_ADD
insert into "pawl_dead" ("Endpoint", "Queue", "Code", "Error", "Attempts", "Deaths", "History",
"At", "MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body") select k.p1, k.p2,
k.p3, k.p4, k.p5, k.p6, k.p7, k.p8, k.p9, k.p10, k.p11, k.p12, k.p13, k.p14 from (select unnest($1)
as p1, unnest($2) as p2, unnest($3) as p3, unnest($4) as p4, unnest($5) as p5, unnest($6) as p6,
unnest($7) as p7, unnest($8) as p8, unnest($9) as p9, unnest($10) as p10, unnest($11) as p11,
unnest($12) as p12, unnest($13) as p13, unnest($14) as p14) as k on conflict ("Endpoint",
"MessageId") do nothing;

-- DEAD_DELETE
delete from "pawl_dead" as t using unnest($1, $2) with ordinality as k (p1, p2, n) cross join
lateral (select o.ctid as tid from "pawl_dead" as o where "Endpoint" = k.p1 and "MessageId" = k.p2
offset 0) as f where t.ctid = f.tid returning k.n;

-- INBOX_DELETE
delete from "pawl_inbox" as t using unnest($1, $2) with ordinality as k (p1, p2, n) cross join
lateral (select o.ctid as tid from "pawl_inbox" as o where "Endpoint" = k.p1 and "MessageId" = k.p2
offset 0) as f where t.ctid = f.tid returning k.n;

-- SUBSCRIPTION_ADD
insert into "pawl_subscriptions" ("Type", "Queue") select k.p1, k.p2 from (select unnest($1) as p1,
unnest($2) as p2) as k on conflict ("Type", "Queue") do nothing;

-- SUBSCRIPTION_DELETE
delete from "pawl_subscriptions" as t using unnest($1, $2) with ordinality as k (p1, p2, n) cross
join lateral (select o.ctid as tid from "pawl_subscriptions" as o where "Type" = k.p1 and "Queue" =
k.p2 offset 0) as f where t.ctid = f.tid returning k.n;

-- HISTORY_ADD
insert into "pawl_history" ("Endpoint", "Source", "MessageId", "Type", "Kind", "Outcome", "Version",
"Attempts", "Duration", "At", "Error", "Out") select k.p1, k.p2, k.p3, k.p4, k.p5, k.p6, k.p7, k.p8,
k.p9, k.p10, k.p11, k.p12 from (select unnest($1) as p1, unnest($2) as p2, unnest($3) as p3,
unnest($4) as p4, unnest($5) as p5, unnest($6) as p6, unnest($7) as p7, unnest($8) as p8, unnest($9)
as p9, unnest($10) as p10, unnest($11) as p11, unnest($12) as p12) as k;

-- saga Order 0
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion",
s."Correlation_OrderId", s."Correlation_OldId" from unnest($1) with ordinality as k (v, n) cross
join lateral (select o.ctid as tid, o.* from "shop_Order" as o where o."Id" = k.v limit 1) as s;

-- saga Order 1
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion",
s."Correlation_OrderId", s."Correlation_OldId" from unnest($1) with ordinality as k (v, n) cross
join lateral (select o.ctid as tid, o.* from "shop_Order" as o where o."Correlation_OrderId" = k.v
limit 1) as s;

-- saga Order 2
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion",
s."Correlation_OrderId", s."Correlation_OldId" from unnest($1) with ordinality as k (v, n) cross
join lateral (select o.ctid as tid, o.* from "shop_Order" as o where o."Correlation_OldId" = k.v
limit 1) as s;

-- saga Order 3
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion",
s."Correlation_OrderId", s."Correlation_OldId" from unnest($1) with ordinality as k (v, n) cross
join lateral (select o.ctid as tid, o.* from "shop_Order" as o where o."Id" = k.v limit 1 for
update) as s;

-- saga Order 4
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion",
s."Correlation_OrderId", s."Correlation_OldId" from unnest($1) with ordinality as k (v, n) cross
join lateral (select o.ctid as tid, o.* from "shop_Order" as o where o."Correlation_OrderId" = k.v
limit 1 for update) as s;

-- saga Order 5
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion",
s."Correlation_OrderId", s."Correlation_OldId" from unnest($1) with ordinality as k (v, n) cross
join lateral (select o.ctid as tid, o.* from "shop_Order" as o where o."Correlation_OldId" = k.v
limit 1 for update) as s;

-- saga Order 6
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion",
s."Correlation_OrderId", s."Correlation_OldId" from unnest($1) with ordinality as k (v, n) cross
join lateral (select o.ctid as tid, o.* from "shop_Order" as o where o."Id" = k.v limit 1 for update
skip locked) as s;

-- saga Order 7
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion",
s."Correlation_OrderId", s."Correlation_OldId" from unnest($1) with ordinality as k (v, n) cross
join lateral (select o.ctid as tid, o.* from "shop_Order" as o where o."Correlation_OrderId" = k.v
limit 1 for update skip locked) as s;

-- saga Order 8
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion",
s."Correlation_OrderId", s."Correlation_OldId" from unnest($1) with ordinality as k (v, n) cross
join lateral (select o.ctid as tid, o.* from "shop_Order" as o where o."Correlation_OldId" = k.v
limit 1 for update skip locked) as s;

-- saga Order 9
select k.n, s."Concurrency" from unnest($1) with ordinality as k (v, n) cross join lateral (select
o.ctid as tid, o.* from "shop_Order" as o where o."Id" = k.v limit 1) as s;

-- saga Order 10
select k.n, s."Concurrency" from unnest($1) with ordinality as k (v, n) cross join lateral (select
o.ctid as tid, o.* from "shop_Order" as o where o."Correlation_OrderId" = k.v limit 1) as s;

-- saga Order 11
select k.n, s."Concurrency" from unnest($1) with ordinality as k (v, n) cross join lateral (select
o.ctid as tid, o.* from "shop_Order" as o where o."Correlation_OldId" = k.v limit 1) as s;

-- saga Order 12
insert into "shop_Order" ("Id", "Metadata", "Data", "PersistenceVersion", "SagaTypeVersion",
"Concurrency", "Correlation_OrderId", "Correlation_OldId") select k.id, k.metadata, k.data, 'VERSION',
k.version, 1, k.a, k.b from unnest($1, $2, $3, $4, $5, $6) as k (id, metadata, data, version, a, b)
on conflict do nothing returning "Id";

-- saga Order 13
update "shop_Order" as s set "Concurrency" = s."Concurrency" + 1, "Metadata" = k.metadata, "Data" =
k.data, "PersistenceVersion" = 'VERSION', "SagaTypeVersion" = k.type_version, "Correlation_OldId" =
k.b from (select u.*, row_number() over (partition by u.b order by u.n) as turn from unnest($1, $2,
$3, $4, $5, $6, $7) with ordinality as u (b, metadata, data, type_version, tid, id, version, n)) as
k where s.ctid = k.tid and s."Id" is not distinct from k.id and s."Concurrency" = k.version and (k.b
is null or (k.turn = 1 and (select o."Id" from "shop_Order" as o where o."Correlation_OldId" = k.b
limit 1) is null or k.turn = 1 and (select o."Id" from "shop_Order" as o where o."Correlation_OldId"
= k.b limit 1) = k.id)) returning k.n;

-- saga Order 14
update "shop_Order" as s set "Concurrency" = s."Concurrency" + 1, "Metadata" = k.metadata, "Data" =
k.data, "PersistenceVersion" = 'VERSION', "SagaTypeVersion" = k.type_version, "Correlation_OldId" =
k.b from (select u.*, row_number() over (partition by u.b order by u.n) as turn from (select k.*,
f.tid from unnest($1, $2, $3, $4, $5, $6) with ordinality as k (b, metadata, data, type_version, id,
version, n) cross join lateral (select o.ctid as tid from "shop_Order" as o where o."Id" = k.id
limit 1) as f) as u) as k where s.ctid = k.tid and s."Id" is not distinct from k.id and
s."Concurrency" = k.version and (k.b is null or (k.turn = 1 and (select o."Id" from "shop_Order" as
o where o."Correlation_OldId" = k.b limit 1) is null or k.turn = 1 and (select o."Id" from
"shop_Order" as o where o."Correlation_OldId" = k.b limit 1) = k.id)) returning k.n;

-- saga Order 15
select k.n from unnest($1, $2) with ordinality as k (id, version, n) cross join lateral (select from
"shop_Order" as o where o."Id" = k.id and o."Concurrency" = k.version limit 1) as s;

-- saga Order 16
delete from "shop_Order" as s using (select k.*, f.tid from unnest($1, $2) with ordinality as k (id,
version, n) cross join lateral (select o.ctid as tid from "shop_Order" as o where o."Id" = k.id
limit 1) as f) as k where s.ctid = k.tid and s."Id" is not distinct from k.id and s."Concurrency" =
k.version returning k.n;

-- saga Order 17
select count(*) from "shop_Order";

-- saga Order 18
select "Id", "PersistenceVersion", "SagaTypeVersion", "Data" from "shop_Order" where "Id" > $1 order
by "Id" limit $2;

-- saga Plain 0
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion" from
unnest($1) with ordinality as k (v, n) cross join lateral (select o.ctid as tid, o.* from
"shop_Plain" as o where o."Id" = k.v limit 1) as s;

-- saga Plain 3
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion" from
unnest($1) with ordinality as k (v, n) cross join lateral (select o.ctid as tid, o.* from
"shop_Plain" as o where o."Id" = k.v limit 1 for update) as s;

-- saga Plain 6
select k.n, s.tid, s."Id", s."Concurrency", s."Metadata", s."Data", s."SagaTypeVersion" from
unnest($1) with ordinality as k (v, n) cross join lateral (select o.ctid as tid, o.* from
"shop_Plain" as o where o."Id" = k.v limit 1 for update skip locked) as s;

-- saga Plain 9
select k.n, s."Concurrency" from unnest($1) with ordinality as k (v, n) cross join lateral (select
o.ctid as tid, o.* from "shop_Plain" as o where o."Id" = k.v limit 1) as s;

-- saga Plain 12
insert into "shop_Plain" ("Id", "Metadata", "Data", "PersistenceVersion", "SagaTypeVersion",
"Concurrency") select k.id, k.metadata, k.data, 'VERSION', k.version, 1 from unnest($1, $2, $3, $4) as
k (id, metadata, data, version) on conflict do nothing returning "Id";

-- saga Plain 13
update "shop_Plain" as s set "Concurrency" = s."Concurrency" + 1, "Metadata" = k.metadata, "Data" =
k.data, "PersistenceVersion" = 'VERSION', "SagaTypeVersion" = k.type_version from unnest($1, $2, $3,
$4, $5, $6) with ordinality as k (metadata, data, type_version, tid, id, version, n) where s.ctid =
k.tid and s."Id" is not distinct from k.id and s."Concurrency" = k.version returning k.n;

-- saga Plain 14
update "shop_Plain" as s set "Concurrency" = s."Concurrency" + 1, "Metadata" = k.metadata, "Data" =
k.data, "PersistenceVersion" = 'VERSION', "SagaTypeVersion" = k.type_version from (select k.*, f.tid
from unnest($1, $2, $3, $4, $5) with ordinality as k (metadata, data, type_version, id, version, n)
cross join lateral (select o.ctid as tid from "shop_Plain" as o where o."Id" = k.id limit 1) as f)
as k where s.ctid = k.tid and s."Id" is not distinct from k.id and s."Concurrency" = k.version
returning k.n;

-- saga Plain 15
select k.n from unnest($1, $2) with ordinality as k (id, version, n) cross join lateral (select from
"shop_Plain" as o where o."Id" = k.id and o."Concurrency" = k.version limit 1) as s;

-- saga Plain 16
delete from "shop_Plain" as s using (select k.*, f.tid from unnest($1, $2) with ordinality as k (id,
version, n) cross join lateral (select o.ctid as tid from "shop_Plain" as o where o."Id" = k.id
limit 1) as f) as k where s.ctid = k.tid and s."Id" is not distinct from k.id and s."Concurrency" =
k.version returning k.n;

-- saga Plain 17
select count(*) from "shop_Plain";

-- saga Plain 18
select "Id", "PersistenceVersion", "SagaTypeVersion", "Data" from "shop_Plain" where "Id" > $1 order
by "Id" limit $2;
