-- The script of the tables: tests/golden/schema.

-- VERSION_GET
select "Version" from "pawl_schema" where "Part" = 'pawl';

-- WORKER_FOLD
update "pawl_workers" set "Messages" = "pawl_workers"."Messages" + w."Messages", "Timeouts" =
"pawl_workers"."Timeouts" + w."Timeouts", "Flushes" = "pawl_workers"."Flushes" + w."Flushes",
"Failures" = "pawl_workers"."Failures" + w."Failures", "Conflicts" = "pawl_workers"."Conflicts" +
w."Conflicts", "Dead" = "pawl_workers"."Dead" + w."Dead" from "pawl_workers" w where
"pawl_workers"."Id" = ?1 and w."Id" = ?2;

-- WORKER_DELETE
delete from "pawl_workers" where "Id" = ?1;

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
"pawl_workers" w on w."Id" = l."Worker" where substr(l."Name", 1, 5) = 'lead:' and l."Expires" > ?1;

-- LEAD_GET
select l."Worker", l."Epoch", l."Expires", w."Id", w."Process", w."Seen" from "pawl_leases" l left
join "pawl_workers" w on w."Id" = l."Worker" where l."Name" = ?1;

-- LEASE_INSERT
insert into "pawl_leases" ("Name", "Worker", "Process", "Pid", "Epoch", "Expires") values (?1, ?2,
?3, ?4, ?5, ?6);

-- LEASE_UPDATE
update "pawl_leases" set "Worker" = ?2, "Process" = ?3, "Pid" = ?4, "Epoch" = ?5, "Expires" = ?6
where "Name" = ?1;

-- LEASE_DELETE
delete from "pawl_leases" where "Name" = ?1 and "Worker" = ?2;

-- LEASE_DELETE_ALL
delete from "pawl_leases" where "Worker" = ?1;

-- QUEUE_LIST
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body", "Error" from "pawl_queue" where "Queue" = ?1
order by "Placed", "Seq" limit ?2;

-- QUEUE_FIND
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body", "Error" from "pawl_queue" indexed by
"pawl_queue_due" where "Queue" = ?1 and (?2 = '' or "MessageId" = ?2) and (?3 = '' or "Type" = ?3)
and "Due" >= ?4 and "Due" <= ?5 and "Seq" <= ?6 and ("Due" > ?7 or "Seq" > ?8) order by "Due", "Seq"
limit ?9;

-- QUEUE_FIND_TIE
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body", "Error" from "pawl_queue" indexed by
"pawl_queue_due" where "Queue" = ?1 and (?2 = '' or "MessageId" = ?2) and (?3 = '' or "Type" = ?3)
and "Due" = ?4 and "Seq" <= ?5 and "Seq" > ?6 order by "Due", "Seq" limit ?7;

-- QUEUE_FIND_ONE
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body", "Error" from "pawl_queue" where "Queue" = ?1 and
"MessageId" = ?2 and "Queue" = ?1 and (?2 = '' or "MessageId" = ?2) and (?3 = '' or "Type" = ?3) and
"Due" >= ?4 and "Due" <= ?5 and "Seq" <= ?6 and ("Due" > ?7 or "Seq" > ?8) order by "MessageId"
limit ?9;

-- QUEUE_RETRIED
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body" from "pawl_queue" where "Seq" in (select "Seq"
from (select "Seq", "Attempts", "Placed", "Type" from "pawl_queue" indexed by "pawl_queue_due" where
"Queue" = ?1 and "Due" > ?2 order by "Due", "Seq" limit ?3) looked where "Attempts" > 0 and "Type" =
?4) order by "Placed", "Seq" limit ?5;

-- QUEUE_NAME
select "Queue" from "pawl_queue" where "Queue" > ?1 order by "Queue" limit 1;

-- QUEUE_READY
select count(*), min("Due") from (select "Due" from "pawl_queue" where "Queue" = ?1 and "Due" <= ?2
order by "Due" limit ?3) counted;

-- QUEUE_SCHEDULED
select count(*) from (select 1 as "One" from "pawl_queue" indexed by "pawl_queue_due" where "Queue"
= ?1 and "Due" > ?2 limit ?3) counted;

-- QUEUE_COUNT_RETRIED
select count(*), min("Placed") from (select "Seq", "Attempts", "Placed", "Type" from "pawl_queue"
indexed by "pawl_queue_due" where "Queue" = ?1 and "Due" > ?2 order by "Due", "Seq" limit ?3) looked
where "Attempts" > 0;

-- INBOX_COUNT
select count(*) from (select 1 as "One" from "pawl_inbox" limit ?1) counted;

-- TIMEOUT_FOREIGN
with recursive d (name) as (select min("Destination") from "pawl_timeouts" union all select (select
min(t."Destination") from "pawl_timeouts" t where t."Destination" > d.name) from d where d.name is
not null), f (name, due) as (select d.name, (select t."Due" from "pawl_timeouts" t where
t."Destination" = d.name and (t."LeaseExpires" is null or t."LeaseExpires" <= ?2) order by t."Due"
limit 1) from d where d.name is not null and (d.name = ?1 or not exists (select 1 from
"pawl_subscriptions" s where s."Queue" = d.name))) select name, due from f where due is not null
order by name;

-- TIMEOUT_LIST
select "Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due", "Headers",
"CorrelationId", "Attempts", "Owner", "LeaseExpires" from "pawl_timeouts" indexed by
"pawl_timeouts_due" where "Destination" = ?1 and "Due" >= ?2 and ("Due" > ?2 or "Id" > ?3) order by
"Due", "Id" limit ?4;

-- TIMEOUT_LIST_SAGA
select "Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due", "Headers",
"CorrelationId", "Attempts", "Owner", "LeaseExpires" from "pawl_timeouts" where (("SagaId" = ?1 and
"Name" <> '') or ("SagaId" = ?1 and "Name" = '')) and "Due" >= ?2 and ("Due" > ?2 or "Id" > ?3)
order by "Due", "Id" limit ?4;

-- TIMEOUT_NAME
select "Destination" from "pawl_timeouts" where "Destination" > ?1 order by "Destination" limit 1;

-- TIMEOUT_READY
select count(*), min("Due") from (select "Due" from "pawl_timeouts" where "Destination" = ?1 and
"Due" <= ?2 order by "Due" limit ?3) counted;

-- TIMEOUT_SCHEDULED
select count(*) from (select 1 as "One" from "pawl_timeouts" where "Destination" = ?1 and "Due" > ?2
limit ?3) counted;

-- OUTBOX_FIND_ID
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" where "Id" = ?1 and (?1 = 0 or "Id" =
?1) and (?2 is null or "DispatchId" = ?2) and "Id" > ?3 and (?4 = 0 or (?4 & case "State" when
'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded'
then 16 else 0 end) <> 0) and (?5 = '' or "Endpoint" = ?5) and (?6 = '' or "Source" = ?6) and (?7 =
'' or "Destination" = ?7) and (?8 = '' or "Type" = ?8) and (?9 = '' or "CausationId" = ?9) and
"Attempts" >= ?10 order by "Id" limit ?11;

-- OUTBOX_FIND_DISPATCH
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" where "DispatchId" = ?2 and (?1 = 0 or
"Id" = ?1) and (?2 is null or "DispatchId" = ?2) and "Id" > ?3 and (?4 = 0 or (?4 & case "State"
when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when
'discarded' then 16 else 0 end) <> 0) and (?5 = '' or "Endpoint" = ?5) and (?6 = '' or "Source" =
?6) and (?7 = '' or "Destination" = ?7) and (?8 = '' or "Type" = ?8) and (?9 = '' or "CausationId" =
?9) and "Attempts" >= ?10 order by "Id" limit ?11;

-- OUTBOX_FIND_DEAD
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" indexed by "pawl_outbox_dead" where
"State" = 'dead' and (?1 = 0 or "Id" = ?1) and (?2 is null or "DispatchId" = ?2) and "Id" > ?3 and
(?4 = 0 or (?4 & case "State" when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when
'dead' then 8 when 'discarded' then 16 else 0 end) <> 0) and (?5 = '' or "Endpoint" = ?5) and (?6 =
'' or "Source" = ?6) and (?7 = '' or "Destination" = ?7) and (?8 = '' or "Type" = ?8) and (?9 = ''
or "CausationId" = ?9) and "Attempts" >= ?10 order by "Id" limit ?11;

-- OUTBOX_FIND_HELD
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" indexed by "pawl_outbox_held_id" where
"State" = 'held' and "Attempts" >= 0 and (?1 = 0 or "Id" = ?1) and (?2 is null or "DispatchId" = ?2)
and "Id" > ?3 and (?4 = 0 or (?4 & case "State" when 'pending' then 1 when 'held' then 2 when
'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end) <> 0) and (?5 = '' or
"Endpoint" = ?5) and (?6 = '' or "Source" = ?6) and (?7 = '' or "Destination" = ?7) and (?8 = '' or
"Type" = ?8) and (?9 = '' or "CausationId" = ?9) and "Attempts" >= ?10 order by "Id" limit ?11;

-- OUTBOX_FIND_PENDING
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" indexed by "pawl_outbox_pending" where
"State" = 'pending' and (?1 = 0 or "Id" = ?1) and (?2 is null or "DispatchId" = ?2) and "Id" > ?3
and (?4 = 0 or (?4 & case "State" when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4
when 'dead' then 8 when 'discarded' then 16 else 0 end) <> 0) and (?5 = '' or "Endpoint" = ?5) and
(?6 = '' or "Source" = ?6) and (?7 = '' or "Destination" = ?7) and (?8 = '' or "Type" = ?8) and (?9
= '' or "CausationId" = ?9) and "Attempts" >= ?10 order by "Id" limit ?11;

-- OUTBOX_FIND_TRIED
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" indexed by "pawl_outbox_tried" where
"State" = 'pending' and "Attempts" > 0 and "NextAttempt" > 0 and (?1 = 0 or "Id" = ?1) and (?2 is
null or "DispatchId" = ?2) and "Id" > ?3 and (?4 = 0 or (?4 & case "State" when 'pending' then 1
when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end)
<> 0) and (?5 = '' or "Endpoint" = ?5) and (?6 = '' or "Source" = ?6) and (?7 = '' or "Destination"
= ?7) and (?8 = '' or "Type" = ?8) and (?9 = '' or "CausationId" = ?9) and "Attempts" >= ?10 order
by "Id" limit ?11;

-- OUTBOX_FIND_ANY
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" where (?1 = 0 or "Id" = ?1) and (?2 is
null or "DispatchId" = ?2) and "Id" > ?3 and (?4 = 0 or (?4 & case "State" when 'pending' then 1
when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end)
<> 0) and (?5 = '' or "Endpoint" = ?5) and (?6 = '' or "Source" = ?6) and (?7 = '' or "Destination"
= ?7) and (?8 = '' or "Type" = ?8) and (?9 = '' or "CausationId" = ?9) and "Attempts" >= ?10 order
by "Id" limit ?11;

-- OUTBOX_ATTEMPTS
select "Attempt", "Outcome", "Error", "At", "Duration" from "pawl_outbox_attempts" where "OutboxId"
= ?1 order by "Attempt";

-- OUTBOX_HELD
select count(*) from (select 1 as "One" from "pawl_outbox" where "State" = 'held' limit ?1) counted;

-- OUTBOX_DEAD
select count(*) from (select 1 as "One" from "pawl_outbox" where "State" = 'dead' limit ?1) counted;

-- CHECKPOINT_GET
select "Position" from "pawl_checkpoints" where "Name" = ?1;

-- BODIES_PAGE
select max("Stream"), count(*) from (select "Stream" from "pawl_events" where "Stream" > ?1 and
"Stream" < ?2 order by "Stream", "Version" limit ?3) page;

-- BODIES_CLEAR
update "pawl_events" set "Body" = ?1, "TypeVersion" = 2 where "Stream" > ?2 and "Stream" <= ?3 and
"At" < ?4 and "TypeVersion" = 1 and "Type" in ('pawl.dead_edited', 'pawl.dead_discarded');

-- AGGREGATOR_GET, for AGGREGATOR_CLAIM
select "Type", "LeaseExpires", "Id", "Name", "Partition", "Key", "At", "Session", "MessageId",
"Type", "CorrelationId", "CausationId", "Headers", "Body" from "pawl_aggregator" where "Partition" =
?1 order by "At", "Id";

-- AGGREGATOR_FREE
update "pawl_aggregator" set "Session" = null, "LeaseExpires" = null, "LeaseWorker" = null where
"LeaseWorker" = ?1;

-- AGGREGATOR_COUNT
select count(*) from (select 1 as "One" from "pawl_aggregator" limit ?1) counted;

-- FLUSH_LIST
select "Name", "Partition", "Due", "Attempts", "Dead", "Error" from "pawl_aggregator_flush" where
"Name" = ?1 and "Dead" = 0 and "Due" <= ?2 order by "Due", "Partition" limit ?3;

-- FLUSH_DEAD
select count(*) from (select 1 as "One" from "pawl_aggregator_flush" where "Dead" = 1 limit ?1)
counted;

-- FLUSH_NAME
select "Name" from "pawl_aggregator_flush" where "Dead" = 0 and "Name" > ?1 order by "Name" limit 1;

-- FLUSH_READY
select count(*), min("Due") from (select "Due" from "pawl_aggregator_flush" where "Dead" = 0 and
"Name" = ?1 and "Due" <= ?2 order by "Due" limit ?3) counted;

-- DEAD_FIND
select "Endpoint", "Queue", "Code", "Error", "Attempts", "Deaths", "History", "At", "MessageId",
"Type", "CorrelationId", "CausationId", "Headers", "Body" from "pawl_dead" indexed by "pawl_dead_at"
where ?1 in ('', "Endpoint") and (?2 = '' or "MessageId" = ?2) and (?3 = '' or "Type" = ?3) and (?4
= '' or "Code" = ?4) and (?5 = '' or length(replace("Error", ?5, '')) <> length("Error")) and ("At"
> ?8 or ("At" = ?8 and ("Endpoint" > ?9 or ("Endpoint" = ?9 and "MessageId" > ?10)))) and "At" >= ?6
and "At" <= ?7 order by "At", "Endpoint", "MessageId" limit ?11;

-- DEAD_FIND_ONE
select "Endpoint", "Queue", "Code", "Error", "Attempts", "Deaths", "History", "At", "MessageId",
"Type", "CorrelationId", "CausationId", "Headers", "Body" from "pawl_dead" where "Endpoint" = ?1 and
"MessageId" = ?2 and ?1 in ('', "Endpoint") and (?2 = '' or "MessageId" = ?2) and (?3 = '' or "Type"
= ?3) and (?4 = '' or "Code" = ?4) and (?5 = '' or length(replace("Error", ?5, '')) <>
length("Error")) and ("At" > ?8 or ("At" = ?8 and ("Endpoint" > ?9 or ("Endpoint" = ?9 and
"MessageId" > ?10)))) and (?2 = '' or "At" >= ?6) and (?2 = '' or "At" <= ?7) order by "MessageId"
limit ?11;

-- DEAD_ENDPOINT
select "Endpoint" from "pawl_dead" where "Endpoint" > ?1 order by "Endpoint" limit 1;

-- DEAD_NAME
select "Queue" from "pawl_dead" where "Queue" > ?1 order by "Queue" limit 1;

-- DEAD_OF_QUEUE
select count(*), min("At") from (select "At" from "pawl_dead" where "Queue" = ?1 order by "At" limit
?2) counted;

-- DEAD_COUNT
select count(*) from (select 1 as "One" from "pawl_dead" limit ?1) counted;

-- SUBSCRIPTION_LIST
select "Type", "Queue" from "pawl_subscriptions" order by "Type", "Queue";

-- HISTORY_FIND
select "Id", "Endpoint", "Source", "MessageId", "Type", "Kind", "Outcome", "Version", "Attempts",
"Duration", "At", "Error", "Out" from "pawl_history" where (?1 = '' or "Source" = ?1) and (?2 = ''
or "MessageId" = ?2) and "Id" > ?3 order by "Id" limit ?4;

-- HISTORY_FIND_SOURCE
select "Id", "Endpoint", "Source", "MessageId", "Type", "Kind", "Outcome", "Version", "Attempts",
"Duration", "At", "Error", "Out" from "pawl_history" where "Source" = ?1 and "Source" <> '' and (?1
= '' or "Source" = ?1) and (?2 = '' or "MessageId" = ?2) and "Id" > ?3 order by "Id" limit ?4;

-- HISTORY_FIND_MESSAGE
select "Id", "Endpoint", "Source", "MessageId", "Type", "Kind", "Outcome", "Version", "Attempts",
"Duration", "At", "Error", "Out" from "pawl_history" where "MessageId" = ?2 and (?1 = '' or "Source"
= ?1) and (?2 = '' or "MessageId" = ?2) and "Id" > ?3 order by "Id" limit ?4;

-- QUEUE_SCAN
select "Seq", "Queue", "MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body" from
"pawl_queue" where "Seq" > ?1 order by "Seq" limit ?2;

-- TIMEOUT_SCAN
select "Id", "Destination", "Name", "SagaType", "SagaId" from "pawl_timeouts" where "Id" > ?1 order
by "Id" limit ?2;

-- FOLD_SCAN
select "Stream", "TypeVersion", "State" from "pawl_folds" where "Stream" > ?1 order by "Stream"
limit ?2;

-- CHECKPOINT_SCAN
select "Name", "Position" from "pawl_checkpoints" where "Name" > ?1 order by "Name" limit ?2;

-- PARTITION_SCAN
select f."Partition", f."Name", f."Due", f."Attempts", f."Dead", f."Error", (select count(*) from
"pawl_aggregator" a where a."Partition" = f."Partition"), (select min(b."At") from "pawl_aggregator"
b where b."Partition" = f."Partition") from "pawl_aggregator_flush" f where f."Partition" > ?1 and
(?2 = '' or f."Partition" = ?2) and (?3 = '' or f."Name" = ?3) and (?4 = 0 or f."Dead" = 1) order by
f."Partition" limit ?5;

-- AGGREGATOR_SCAN
select "Id", "Name", "MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body" from
"pawl_aggregator" where "Id" > ?1 order by "Id" limit ?2;

-- DEAD_SCAN
select "Endpoint", "Queue", "Code", "MessageId", "Type", "CorrelationId", "CausationId", "Headers",
"Body" from "pawl_dead" where "Endpoint" = ?1 and "MessageId" > ?2 order by "MessageId" limit ?3;

-- DEAD_SCAN_NEXT
select "Endpoint", "Queue", "Code", "MessageId", "Type", "CorrelationId", "CausationId", "Headers",
"Body" from "pawl_dead" where "Endpoint" > ?1 order by "Endpoint", "MessageId" limit ?2;

-- WORKER_INSERT
insert into "pawl_workers" ("Id", "Endpoint", "Types", "Epoch", "Process", "Pid", "Seen",
"Messages", "Timeouts", "Flushes", "Failures", "Conflicts", "Dead", "Host", "Program",
"ProgramVersion", "PawlVersion", "Started") values (?1, ?2, ?3, 1, ?4, ?5, ?6, 0, 0, 0, 0, 0, 0, ?7,
?8, ?9, ?10, ?6);

-- WORKER_FENCE
update "pawl_workers" set "LastCommit" = ?1, "Seen" = ?2, "Messages" = "Messages" + ?3, "Timeouts" =
"Timeouts" + ?4, "Flushes" = "Flushes" + ?5, "Failures" = "Failures" + ?6, "Conflicts" = "Conflicts"
+ ?7, "Dead" = "Dead" + ?8 where "Id" = ?9 and "Epoch" = ?10;

-- WORKER_REPLACE
update "pawl_workers" set "Endpoint" = ?1, "Types" = ?2, "Process" = ?3, "Pid" = ?4, "Seen" = ?5,
"Epoch" = "Epoch" + 1, "Host" = ?7, "Program" = ?8, "ProgramVersion" = ?9, "PawlVersion" = ?10,
"Started" = ?5 where "Id" = ?6;

-- WORKER_HEARTBEAT
update "pawl_workers" set "Seen" = "Seen" where "Id" = ?1;

-- WORKER_DEAD_LOCK
select "Epoch" from "pawl_workers" where "Id" = ?1 and "Seen" < ?2;

-- WORKER_RAISE
update "pawl_workers" set "Epoch" = "Epoch" + 1 where "Id" = ?1;

-- WORKER_GET
select "Epoch", "LastCommit" from "pawl_workers" where "Id" = ?1;

-- WORKER_KEEP
insert into "pawl_workers" ("Id", "Endpoint", "Types", "Epoch", "Process", "Pid", "Seen",
"Messages", "Timeouts", "Flushes", "Failures", "Conflicts", "Dead") values (?1, '', '', 0, 0, 0, 0,
0, 0, 0, 0, 0, 0) on conflict ("Id") do nothing;

-- LEASE_GET
select "Worker", "Process", "Pid", "Epoch", "Expires" from "pawl_leases" where "Name" = ?1;

-- LEASE_LOCK
select "Epoch" from "pawl_leases" where "Name" = ?1;

-- LEASE_FREE
update "pawl_leases" set "Worker" = null, "Process" = 0 where "Name" = ?1 and "Process" = ?2;

-- QUEUE_STAMP
insert into "pawl_leases" ("Name", "Worker", "Process", "Pid", "Epoch", "Expires") values (?1, ?2,
0, 0, 1, 0);

-- QUEUE_STAMP_KEEP
update "pawl_leases" set "Epoch" = 1 where "Name" = ?1 and "Worker" = ?2;

-- QUEUE_ROW
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body" from "pawl_queue" where "Seq" = ?1 and "Queue" =
?2 and "Due" <= ?3;

-- QUEUE_DELETE
delete from "pawl_queue" where "Seq" = ?1 and "Queue" = ?2;

-- QUEUE_RETRY
update "pawl_queue" set "Due" = ?1, "Attempts" = ?2, "Deaths" = ?3, "WaitingSince" = ?4, "Error" =
?5, "History" = ?6 where "Seq" = ?7 and "Queue" = ?8;

-- QUEUE_SEND
insert into "pawl_queue" ("Queue", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "Error",
"MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body") values (?1, ?2, ?2, ?3, 0,
0, '', ?4, ?5, ?6, ?7, ?8, ?9) on conflict ("Queue", "MessageId") do nothing;

-- QUEUE_TAKEN
select 1 from "pawl_queue" where "Queue" = ?1 and "MessageId" = ?2;

-- QUEUE_FIRST
select "Due" from "pawl_queue" where "Queue" = ?1 and pawl_is_free("Seq") order by "Due" limit 1;

-- QUEUE_OLDEST
select "Placed", "Seq" from "pawl_queue" where "Queue" = ?1 and "Due" <= ?2 and "Attempts" = 0 and
"WaitingSince" = 0 order by "Due", "Seq" limit ?3;

-- INBOX_RANGE
select "MessageId" from "pawl_inbox" where "Endpoint" = ?1 and "MessageId" between ?2 and ?3 limit
?4;

-- INBOX_AMONG
select "MessageId" from "pawl_inbox" where "Endpoint" = ?1 and "MessageId" in (?2, ?3, ?4, ?5, ?6,
?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26,
?27, ?28, ?29, ?30, ?31, ?32, ?33);

-- INBOX_KNOWN
select 1 from "pawl_inbox" where "Endpoint" = ?1 and "MessageId" = ?2;

-- INBOX_MARK
insert into "pawl_inbox" ("Endpoint", "MessageId", "Outcome", "At") values (?1, ?2, ?3, ?4);

-- INBOX_DELETE
delete from "pawl_inbox" where "Endpoint" = ?1 and "MessageId" = ?2;

-- TIMEOUT_DUE
select "Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due", "Headers",
"CorrelationId", "Attempts", "Owner", "LeaseExpires" from "pawl_timeouts" where "Destination" = ?1
and "Due" <= ?2 and ("LeaseExpires" is null or "LeaseExpires" <= ?3) order by "Due", "Id" limit ?4;

-- TIMEOUT_DUE_ANY, for TIMEOUT_CLAIM_ANY
select "Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due", "Headers",
"CorrelationId", "Attempts", "Owner", "LeaseExpires" from "pawl_timeouts" where "Due" <= ?1 and
("LeaseExpires" is null or "LeaseExpires" <= ?2) order by "Due", "Id" limit ?3;

-- TIMEOUT_NEXT
select "Due" from "pawl_timeouts" where "Destination" = ?1 and "Due" > ?2 and ("LeaseExpires" is
null or "LeaseExpires" <= ?3) order by "Due" limit 1;

-- TIMEOUT_NEXT_ANY
select min("Due") from "pawl_timeouts" where "Due" > ?1 and ("LeaseExpires" is null or
"LeaseExpires" <= ?2) having min("Due") is not null;

-- TIMEOUT_FIRST
select "Due" from "pawl_timeouts" where "Destination" = ?1 and "Owner" is null order by "Due" limit
1;

-- TIMEOUT_STAMP
update "pawl_timeouts" set "Owner" = ?1, "LeaseExpires" = ?2, "LeaseWorker" = ?3 where "Id" = ?4;

-- TIMEOUT_STAMP_UNTIL
update "pawl_timeouts" set "Owner" = ?1, "LeaseExpires" = ?2, "LeaseWorker" = ?3 where "Destination"
= ?4 and "Due" <= ?5 and ("LeaseExpires" is null or "LeaseExpires" <= ?6);

-- TIMEOUT_FREE
update "pawl_timeouts" set "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null where
"LeaseWorker" = ?1;

-- TIMEOUT_REAP
update "pawl_timeouts" set "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null where
"LeaseExpires" <= ?1;

-- TIMEOUT_DELETE
delete from "pawl_timeouts" where "Id" = ?1 and (?2 is null or "Owner" = ?2) and (?3 = 0 or
"Generation" = ?3);

-- TIMEOUT_RELEASE
update "pawl_timeouts" set "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null where "Id" =
?1 and (?2 is null or "Owner" = ?2) and (?3 = 0 or "Generation" = ?3);

-- TIMEOUT_RETRY
update "pawl_timeouts" set "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null, "Due" = ?4,
"Attempts" = ?5 where "Id" = ?1 and (?2 is null or "Owner" = ?2) and (?3 = 0 or "Generation" = ?3);

-- TIMEOUT_CANCEL
delete from "pawl_timeouts" where "SagaId" = ?1 and "Name" = ?2 and "Name" <> '';

-- TIMEOUT_CANCEL_ALL
delete from "pawl_timeouts" where (("SagaId" = ?1 and "Name" <> '') or ("SagaId" = ?1 and "Name" =
''));

-- TIMEOUT_INSERT
insert into "pawl_timeouts" ("Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due",
"Attempts", "CorrelationId", "Headers") values (?1, 1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8);

-- TIMEOUT_REARM_SAGA
update "pawl_timeouts" set "Generation" = "Generation" + 1, "SagaType" = ?1, "Destination" = ?2,
"Due" = ?3, "Attempts" = 0, "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null,
"CorrelationId" = ?4, "Headers" = ?5 where "SagaId" = ?6 and "Name" = ?7 and "Name" <> '';

-- TIMEOUT_REARM
update "pawl_timeouts" set "Generation" = "Generation" + 1, "SagaType" = ?1, "Destination" = ?2,
"Due" = ?3, "Attempts" = 0, "Owner" = null, "LeaseExpires" = null, "LeaseWorker" = null,
"CorrelationId" = ?4, "Headers" = ?5, "SagaId" = ?6, "Name" = ?7 where "Id" = ?8;

-- OUTBOX_DUE
select "Id", "NextAttempt", "Version", "Index", "Attempts", "DispatchId", "Source", "Endpoint",
"Destination", "Due", "At", "AttemptsBefore", "MessageId", "Type", "CorrelationId", "CausationId",
"Headers", "Body", "State", "DispatchedAt" from "pawl_outbox" indexed by "pawl_outbox_pending" where
"State" = 'pending' and "NextAttempt" <= ?1 and (?3 = '' or "Endpoint" = ?3) order by "Id" limit ?2;

-- OUTBOX_NEXT
select min("NextAttempt") from "pawl_outbox" indexed by "pawl_outbox_pending" where "State" =
'pending' and "NextAttempt" > ?1 and (?2 = '' or "Endpoint" = ?2);

-- OUTBOX_ADD
insert into "pawl_outbox" ("DispatchId", "State", "Attempts", "NextAttempt", "Due", "At", "Source",
"Version", "Index", "Endpoint", "Destination", "AttemptsBefore", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body") values (?1, 'pending', 0, 0, ?3, ?2, ?4, ?5, ?6,
?7, ?8, 0, ?9, ?10, ?11, ?12, ?13, ?14) on conflict ("DispatchId") do nothing;

-- OUTBOX_TAKEN
select 1 from "pawl_outbox" where "DispatchId" = ?1;

-- OUTBOX_SAME
select 1 from "pawl_outbox" where "DispatchId" = ?1 and "Type" = ?2 and "Body" = ?3;

-- OUTBOX_SETTLE
update "pawl_outbox" set "State" = ?1, "Attempts" = ?2, "NextAttempt" = ?3, "DispatchedAt" = ?4
where "Id" = ?5 and "State" = 'pending';

-- OUTBOX_ENABLE
update "pawl_outbox" set "State" = 'pending', "NextAttempt" = ?1, "AttemptsBefore" = "Attempts" + 1,
"Attempts" = "Attempts" + 1 where "Id" = ?2 and "State" = 'dead';

-- OUTBOX_DISCARD
update "pawl_outbox" set "State" = 'discarded', "DispatchedAt" = ?1, "Attempts" = "Attempts" + 1
where "Id" = ?2 and "State" = 'dead';

-- OUTBOX_ATTEMPT_PUT
insert into "pawl_outbox_attempts" ("OutboxId", "Attempt", "Outcome", "At", "Duration", "Error")
values (?1, ?2, ?3, ?4, ?5, ?6);

-- OUTBOX_ATTEMPT
insert into "pawl_outbox_attempts" ("OutboxId", "Attempt", "Outcome", "At", "Duration", "Error")
select ?1, coalesce(max("Attempt"), 0) + 1, ?2, ?3, ?4, ?5 from "pawl_outbox_attempts" where
"OutboxId" = ?1;

-- OUTBOX_BLOCK
update "pawl_outbox" set "State" = 'held' where "Id" = ?1 and "State" = 'pending' and "Attempts" = 0;

-- OUTBOX_BLOCK_KNOWN
update "pawl_outbox" set "State" = 'held' where "Id" = ?1 and "Source" = ?2 and "State" = 'pending'
and "Attempts" = 0;

-- OUTBOX_SOURCES
select "Id", "Source" from "pawl_outbox" indexed by "pawl_outbox_pending" where "State" = 'pending'
and "Attempts" = 0 and "Id" > ?1 order by "Id";

-- OUTBOX_UNBLOCK
update "pawl_outbox" set "State" = 'pending' where "State" = 'held' and "Source" = ?1;

-- HISTORY_ADD
insert into "pawl_history" ("Endpoint", "Source", "MessageId", "Type", "Kind", "Outcome", "Version",
"Attempts", "Duration", "At", "Error", "Out") values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
?12);

-- HISTORY_PAGE
select count(*), coalesce(max("Id"), 0) from (select "Id" from "pawl_history" where "Id" > ?1 order
by "Id" limit ?2) page;

-- HISTORY_SWEEP
delete from "pawl_history" where "Id" in (select "Id" from (select "Id", "At" from "pawl_history"
where "Id" > ?3 order by "Id" limit ?2) old where "At" < ?1);

-- OUTBOX_SWEEP
delete from "pawl_outbox" where "Id" in (select "Id" from "pawl_outbox" where "DispatchedAt" < ?1
order by "DispatchedAt" limit ?2);

-- EVENT_LAST
select max("Version") from "pawl_events" where "Stream" = ?1;

-- EVENT_TURN
select "Version" from "pawl_schema" where "Part" = 'pawl';

-- EVENT_POSITION
select max("Position") from "pawl_events";

-- EVENT_UNNUMBERED
select "Seq" from "pawl_events" where "Position" is null order by "Seq" limit ?1;

-- EVENT_NUMBER
update "pawl_events" set "Position" = ?1 where "Seq" = ?2;

-- EVENT_INSERT
insert into "pawl_events" ("Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body") values (case when ?12 = 0 or ?2 = 1 or exists
(select 1 from "pawl_events" where "Stream" = ?1 and "Version" = ?2 - 1) then ?1 end, ?2, ?3, ?4,
?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- EVENT_TAKEN
select 1 from "pawl_events" where "Stream" = ?1 and "Version" = ?2;

-- FOLD_SET
insert into "pawl_folds" ("Stream", "Version", "TypeVersion", "State", "Dispatches", "At") values
(?1, ?2, ?3, ?4, ?5, ?6) on conflict ("Stream") do update set "Version" = excluded."Version",
"TypeVersion" = excluded."TypeVersion", "State" = excluded."State", "Dispatches" =
excluded."Dispatches", "At" = excluded."At" where excluded."Version" > "pawl_folds"."Version";

-- FOLD_ADD
insert into "pawl_folds" ("Stream", "Version", "TypeVersion", "State", "Dispatches", "At") values
(?1, ?2, ?3, ?4, ?5, ?6)on conflict ("Stream") do nothing;

-- FOLD_TAKEN
select 1 from "pawl_folds" where "Stream" = ?1;

-- FOLD_GET
select "Version", "TypeVersion", "State", "Dispatches", "At" from "pawl_folds" where "Stream" = ?1
and "TypeVersion" <= ?2 and "Version" > ?3;

-- CHECKPOINT_ADD
insert into "pawl_checkpoints" ("Name", "Position", "At") values (?1, ?2, ?3) on conflict ("Name")
do nothing;

-- CHECKPOINT_TAKEN
select 1 from "pawl_checkpoints" where "Name" = ?1;

-- CHECKPOINT_MOVE
update "pawl_checkpoints" set "Position" = ?2, "At" = ?3 where "Name" = ?1 and "Position" = ?4;

-- AGGREGATOR_ADD
insert into "pawl_aggregator" ("Name", "Partition", "Key", "At", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body") values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
on conflict ("Partition", "Key") do nothing;

-- AGGREGATOR_TAKEN
select 1 from "pawl_aggregator" where "Partition" = ?1 and "Key" = ?2;

-- AGGREGATOR_HEAD
select "Type", "LeaseExpires", "Id" from "pawl_aggregator" where "Partition" = ?1;

-- AGGREGATOR_STAMP
update "pawl_aggregator" set "Session" = ?1, "LeaseExpires" = ?2, "LeaseWorker" = ?3 where "Id" = ?4;

-- AGGREGATOR_DELETE
delete from "pawl_aggregator" where "Id" = ?1 and "Partition" = ?2 and (?3 is null or "Session" =
?3);

-- AGGREGATOR_DELETE_ALL
delete from "pawl_aggregator" where "Partition" = ?1;

-- AGGREGATOR_DELETE_OLDEST
delete from "pawl_aggregator" where "Id" = (select "Id" from "pawl_aggregator" where "Partition" =
?1 and "CorrelationId" = ?2 order by "At", "Id" limit 1);

-- AGGREGATOR_RELEASE
update "pawl_aggregator" set "Session" = null, "LeaseExpires" = null, "LeaseWorker" = null where
"Partition" = ?1 and "Session" = ?2;

-- FLUSH_ADD
insert into "pawl_aggregator_flush" ("Partition", "Name", "Due", "Attempts", "Dead", "Error") values
(?1, ?2, ?3, 0, 0, '') on conflict ("Partition") do nothing;

-- FLUSH_TAKEN
select 1 from "pawl_aggregator_flush" where "Partition" = ?1;

-- FLUSH_TOUCH
update "pawl_aggregator_flush" set "Name" = "Name" where "Partition" = ?1;

-- FLUSH_DONE
delete from "pawl_aggregator_flush" where "Partition" = ?1 and not exists (select 1 from
"pawl_aggregator" where "Partition" = ?1);

-- FLUSH_SET
update "pawl_aggregator_flush" set "Due" = ?1, "Attempts" = ?2, "Dead" = ?3, "Error" = ?4 where
"Partition" = ?5;

-- FLUSH_GET
select "Due", "Attempts", "Dead" from "pawl_aggregator_flush" where "Partition" = ?1;

-- FLUSH_FIRST
select "Due" from "pawl_aggregator_flush" where "Name" = ?1 and "Dead" = 0 order by "Due" limit 1;

-- DEAD_ADD
insert into "pawl_dead" ("Endpoint", "Queue", "Code", "Error", "Attempts", "Deaths", "History",
"At", "MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body") values (?1, ?2, ?3,
?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) on conflict ("Endpoint", "MessageId") do nothing;

-- DEAD_TAKEN
select 1 from "pawl_dead" where "Endpoint" = ?1 and "MessageId" = ?2;

-- DEAD_DELETE
delete from "pawl_dead" where "Endpoint" = ?1 and "MessageId" = ?2;

-- DEAD_DELETE_OF
delete from "pawl_dead" where "Endpoint" = ?1 and "MessageId" = ?2 and "At" = ?3;

-- SUBSCRIPTION_ADD
insert into "pawl_subscriptions" ("Type", "Queue") values (?1, ?2) on conflict ("Type", "Queue") do
nothing;

-- SUBSCRIPTION_TAKEN
select 1 from "pawl_subscriptions" where "Type" = ?1 and "Queue" = ?2;

-- SUBSCRIPTION_DELETE
delete from "pawl_subscriptions" where "Type" = ?1 and "Queue" = ?2;

-- NEWS
select coalesce((select max("Seq") from "pawl_queue"), 0), coalesce((select max("Id") from
"pawl_outbox"), 0), coalesce((select max("Seq") from "pawl_events"), 0), coalesce((select max("Id")
from "pawl_aggregator"), 0);

-- TRANSACTION_BEGIN
begin immediate;

-- TRANSACTION_BEGIN_READ
begin;

-- TRANSACTION_COMMIT
commit;

-- TRANSACTION_ROLLBACK
rollback;

-- DATA_VERSION
pragma data_version;

-- QUEUE_CLAIM
select "Seq", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "History", "MessageId", "Type",
"CorrelationId", "CausationId", "Headers", "Body" from "pawl_queue" where "Queue" = ?1 and "Due" <=
?2 and pawl_is_free("Seq") order by "Due", "Seq" limit ?3;

-- TIMEOUT_CLAIM, for TIMEOUT_CLAIM
select "Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due", "Headers",
"CorrelationId", "Attempts", "Owner", "LeaseExpires" from "pawl_timeouts" where "Destination" = ?1
and "Due" <= ?2 and ("LeaseExpires" is null or "LeaseExpires" <= ?3) order by "Due" limit ?4;

-- INBOX_PAGE
select count(*), coalesce(max(r), 0) from (select rowid as r from "pawl_inbox" where rowid > ?1
order by rowid limit ?2);

-- INBOX_SWEEP, for INBOX_SWEEP
delete from "pawl_inbox" where rowid in (select r from (select rowid as r, "At" from "pawl_inbox"
where rowid > ?3 order by rowid limit ?4) where "At" < ?1 limit ?2);

-- OUTBOX_PENDING, for OUTBOX_PENDING
select count(*) from (select 1 as "One" from "pawl_outbox" indexed by "pawl_outbox_pending" where
"State" = 'pending' limit ?1) counted;

-- OUTBOX_OLDEST, for OUTBOX_OLDEST
select "At" from "pawl_outbox" indexed by "pawl_outbox_pending" where "State" = 'pending' order by
"Id" limit 1;

-- EVENT_ALL, for EVENT_LIST_SEQ
select "Seq", "Seq", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where "Seq" > ?2 and (?3 =
'' or "Type" = ?3) and (?4 = '' or "MessageId" = ?4) and (?5 = '' or "CorrelationId" = ?5) order by
"Seq" limit ?6;

-- EVENT_ALL_BACK, for EVENT_LIST_SEQ_BACK
select "Seq", "Seq", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where "Seq" < ?2 and (?3 =
'' or "Type" = ?3) and (?4 = '' or "MessageId" = ?4) and (?5 = '' or "CorrelationId" = ?5) order by
"Seq" desc limit ?6;

-- EVENT_BEHIND, for EVENT_BEHIND
select "Seq", "Seq", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where "Stream" = ?1 and
"Version" > ?2 order by "Version";

-- EVENT_STREAM, for EVENT_LIST_STREAM
select "Seq", "Seq", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where "Stream" = ?1 and
"Version" > ?2 and (?3 = '' or "Type" = ?3) and (?4 = '' or "MessageId" = ?4) and (?5 = '' or
"CorrelationId" = ?5) order by "Version" limit ?6;

-- EVENT_STREAM_BACK, for EVENT_LIST_STREAM_BACK
select "Seq", "Seq", "Stream", "Version", "Type", "TypeVersion", "MessageId", "CorrelationId",
"CausationId", "DispatchId", "At", "Headers", "Body" from "pawl_events" where "Stream" = ?1 and
"Version" < ?2 and (?3 = '' or "Type" = ?3) and (?4 = '' or "MessageId" = ?4) and (?5 = '' or
"CorrelationId" = ?5) order by "Version" desc limit ?6;

-- SCHEMA_COLUMNS
select ?1, c.name, c.type, '', c."notnull" <> 0 or c.pk <> 0, c.dflt_value is not null or c.pk <> 0
from pragma_table_info(?1) as c where exists (select 1 from sqlite_schema where type = 'table' and
name = ?1);

-- SCHEMA_INDEXES
select ?1, i.name, (select coalesce(group_concat('"' || x.name || '"', ', '), '') from (select name
from pragma_index_info(i.name) order by seqno) as x), i.origin = 'pk', i."unique", 1, i.partial from
pragma_index_list(?1) as i;

-- saga Order 0
select rowid, "Id", "Concurrency", "Metadata", "Data", "SagaTypeVersion", "Correlation_OrderId",
"Correlation_OldId" from "shop_Order" where "Id" = ?1;

-- saga Order 1
select rowid, "Id", "Concurrency", "Metadata", "Data", "SagaTypeVersion", "Correlation_OrderId",
"Correlation_OldId" from "shop_Order" where "Correlation_OrderId" = ?1;

-- saga Order 2
select rowid, "Id", "Concurrency", "Metadata", "Data", "SagaTypeVersion", "Correlation_OrderId",
"Correlation_OldId" from "shop_Order" where "Correlation_OldId" = ?1;

-- saga Order 3
insert into "shop_Order" ("Id", "Metadata", "Data", "PersistenceVersion", "SagaTypeVersion",
"Concurrency", "Correlation_OrderId", "Correlation_OldId") values (?1, ?2, ?3, 'VERSION', ?4, 1, ?5,
?6);

-- saga Order 4
update "shop_Order" set "Concurrency" = "Concurrency" + 1, "Correlation_OldId" = ?1, "Metadata" =
?2, "Data" = ?3, "PersistenceVersion" = 'VERSION', "SagaTypeVersion" = ?4 where rowid = ?5 and "Id" =
?6 and "Concurrency" = ?7;

-- saga Order 5
update "shop_Order" set "Concurrency" = "Concurrency" + 1, "Correlation_OldId" = ?1, "Metadata" =
?2, "Data" = ?3, "PersistenceVersion" = 'VERSION', "SagaTypeVersion" = ?4 where "Id" = ?5 and
"Concurrency" = ?6;

-- saga Order 6
delete from "shop_Order" where "Id" = ?1 and "Concurrency" = ?2;

-- saga Order 7
select count(*) from "shop_Order";

-- saga Order 8
select "Id", "PersistenceVersion", "SagaTypeVersion", "Data" from "shop_Order" where "Id" > ?1 order
by "Id" limit ?2;

-- saga Order 9
select 1 from "shop_Order" where "Id" <> ?1 and "Correlation_OldId" = ?2;

-- saga Plain 0
select rowid, "Id", "Concurrency", "Metadata", "Data", "SagaTypeVersion" from "shop_Plain" where
"Id" = ?1;

-- saga Plain 3
insert into "shop_Plain" ("Id", "Metadata", "Data", "PersistenceVersion", "SagaTypeVersion",
"Concurrency") values (?1, ?2, ?3, 'VERSION', ?4, 1);

-- saga Plain 4
update "shop_Plain" set "Concurrency" = "Concurrency" + 1, "Metadata" = ?1, "Data" = ?2,
"PersistenceVersion" = 'VERSION', "SagaTypeVersion" = ?3 where rowid = ?4 and "Id" = ?5 and
"Concurrency" = ?6;

-- saga Plain 5
update "shop_Plain" set "Concurrency" = "Concurrency" + 1, "Metadata" = ?1, "Data" = ?2,
"PersistenceVersion" = 'VERSION', "SagaTypeVersion" = ?3 where "Id" = ?4 and "Concurrency" = ?5;

-- saga Plain 6
delete from "shop_Plain" where "Id" = ?1 and "Concurrency" = ?2;

-- saga Plain 7
select count(*) from "shop_Plain";

-- saga Plain 8
select "Id", "PersistenceVersion", "SagaTypeVersion", "Data" from "shop_Plain" where "Id" > ?1 order
by "Id" limit ?2;

-- saga Plain 9
select 1 from "shop_Plain" where "Id" <> ?1 and 1 = 0;
