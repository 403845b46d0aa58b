-- The script of the tables: tests/golden/schema.

-- VERSION_GET
select "VERSION" from "PAWL_SCHEMA" where "PART" = 'pawl';

-- WORKER_DELETE
delete from "PAWL_WORKERS" where "ID" = ?;

-- WORKER_COUNTERS
select coalesce(sum("MESSAGES"), 0), coalesce(sum("TIMEOUTS"), 0), coalesce(sum("FLUSHES"), 0),
coalesce(sum("FAILURES"), 0), coalesce(sum("CONFLICTS"), 0), coalesce(sum("DEAD"), 0) from
"PAWL_WORKERS";

-- WORKER_LIST
select "ID", "ENDPOINT", "TYPES", "EPOCH", "PID", "SEEN", "PROCESS", "SEEN", "MESSAGES", "TIMEOUTS",
"FLUSHES", "FAILURES", "CONFLICTS", "DEAD", "HOST", "PROGRAM", "PROGRAMVERSION", "PAWLVERSION",
"STARTED" from "PAWL_WORKERS" where "EPOCH" > 0 order by "ID";

-- WORKER_LIVES
select "PROCESS", "SEEN" from "PAWL_WORKERS" where "EPOCH" > 0;

-- LEAD_LIST
select substr(l."NAME", 6), l."WORKER", l."EXPIRES", w."PROCESS", w."SEEN" from "PAWL_LEASES" l join
"PAWL_WORKERS" w on w."ID" = l."WORKER" where substr(l."NAME", 1, 5) = 'lead:' and l."EXPIRES" > ?;

-- LEAD_GET
select l."WORKER", l."EPOCH", l."EXPIRES", w."ID", w."PROCESS", w."SEEN" from "PAWL_LEASES" l left
join "PAWL_WORKERS" w on w."ID" = l."WORKER" where l."NAME" = ?;

-- LEASE_INSERT
insert into "PAWL_LEASES" ("NAME", "WORKER", "PROCESS", "PID", "EPOCH", "EXPIRES") values (?, ?, ?,
?, ?, ?);

-- LEASE_UPDATE
update "PAWL_LEASES" set "WORKER" = ?, "PROCESS" = ?, "PID" = ?, "EPOCH" = ?, "EXPIRES" = ? where
"NAME" = ?;

-- LEASE_DELETE
delete from "PAWL_LEASES" where "NAME" = ? and "WORKER" = ?;

-- LEASE_DELETE_ALL
delete from "PAWL_LEASES" where "WORKER" = ?;

-- QUEUE_LIST
select "SEQ", "DUE", "PLACED", "ATTEMPTS", "DEATHS", "WAITINGSINCE", "HISTORY", "MESSAGEID", "TYPE",
"CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY", "ERROR" from "PAWL_QUEUE" where "QUEUE" = ? order
by "PLACED", "SEQ" fetch first ? rows only;

-- QUEUE_FIND
select "SEQ", "DUE", "PLACED", "ATTEMPTS", "DEATHS", "WAITINGSINCE", "HISTORY", "MESSAGEID", "TYPE",
"CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY", "ERROR" from "PAWL_QUEUE" where "QUEUE" = ? and
(? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or "TYPE" = ?) and "DUE" >= ? and "DUE" <= ? and
"SEQ" <= ? and ("DUE" > ? or "SEQ" > ?) order by "DUE", "SEQ" fetch first ? rows only;

-- QUEUE_FIND_TIE
select "SEQ", "DUE", "PLACED", "ATTEMPTS", "DEATHS", "WAITINGSINCE", "HISTORY", "MESSAGEID", "TYPE",
"CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY", "ERROR" from "PAWL_QUEUE" where "QUEUE" = ? and
(? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or "TYPE" = ?) and "DUE" = ? and "SEQ" <= ? and
"SEQ" > ? order by "DUE", "SEQ" fetch first ? rows only;

-- QUEUE_FIND_ONE
select "SEQ", "DUE", "PLACED", "ATTEMPTS", "DEATHS", "WAITINGSINCE", "HISTORY", "MESSAGEID", "TYPE",
"CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY", "ERROR" from "PAWL_QUEUE" where "QUEUE" = ? and
"MESSAGEID" = ? and "QUEUE" = ? and (? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or "TYPE" = ?)
and "DUE" >= ? and "DUE" <= ? and "SEQ" <= ? and ("DUE" > ? or "SEQ" > ?) order by "MESSAGEID" fetch
first ? rows only;

-- QUEUE_RETRIED
select "SEQ", "DUE", "PLACED", "ATTEMPTS", "DEATHS", "WAITINGSINCE", "HISTORY", "MESSAGEID", "TYPE",
"CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY" from "PAWL_QUEUE" where "SEQ" in (select "SEQ"
from (select "SEQ", "ATTEMPTS", "PLACED", "TYPE" from "PAWL_QUEUE" where "QUEUE" = ? and "DUE" > ?
order by "DUE", "SEQ" fetch first ? rows only) looked where "ATTEMPTS" > 0 and "TYPE" = ?) order by
"PLACED", "SEQ" fetch first ? rows only;

-- QUEUE_NAME
select "QUEUE" from "PAWL_QUEUE" where "QUEUE" > ? order by "QUEUE" fetch first 1 rows only;

-- QUEUE_READY
select count(*), min("DUE") from (select "DUE" from "PAWL_QUEUE" where "QUEUE" = ? and "DUE" <= ?
order by "DUE" fetch first ? rows only) counted;

-- QUEUE_SCHEDULED
select count(*) from (select 1 as "ONE" from "PAWL_QUEUE" where "QUEUE" = ? and "DUE" > ? fetch
first ? rows only) counted;

-- QUEUE_COUNT_RETRIED
select count(*), min("PLACED") from (select "SEQ", "ATTEMPTS", "PLACED", "TYPE" from "PAWL_QUEUE"
where "QUEUE" = ? and "DUE" > ? order by "DUE", "SEQ" fetch first ? rows only) looked where
"ATTEMPTS" > 0;

-- INBOX_COUNT
select count(*) from (select 1 as "ONE" from "PAWL_INBOX" fetch first ? rows only) counted;

-- TIMEOUT_LIST
select "ID", "GENERATION", "SAGAID", "SAGATYPE", "NAME", "DESTINATION", "DUE", "HEADERS",
"CORRELATIONID", "ATTEMPTS", "OWNER", "LEASEEXPIRES" from "PAWL_TIMEOUTS" where "DESTINATION" = ?
and "DUE" >= ? and ("DUE" > ? or "ID" > ?) order by "DUE", "ID" fetch first ? rows only;

-- TIMEOUT_LIST_SAGA
select "ID", "GENERATION", "SAGAID", "SAGATYPE", "NAME", "DESTINATION", "DUE", "HEADERS",
"CORRELATIONID", "ATTEMPTS", "OWNER", "LEASEEXPIRES" from "PAWL_TIMEOUTS" where (("SAGAID" = ? and
"NAME" <> chr(1)) or ("SAGAID" = ? and "NAME" = chr(1))) and "DUE" >= ? and ("DUE" > ? or "ID" > ?)
order by "DUE", "ID" fetch first ? rows only;

-- TIMEOUT_NAME
select "DESTINATION" from "PAWL_TIMEOUTS" where "DESTINATION" > ? order by "DESTINATION" fetch first
1 rows only;

-- TIMEOUT_READY
select count(*), min("DUE") from (select "DUE" from "PAWL_TIMEOUTS" where "DESTINATION" = ? and
"DUE" <= ? order by "DUE" fetch first ? rows only) counted;

-- TIMEOUT_SCHEDULED
select count(*) from (select 1 as "ONE" from "PAWL_TIMEOUTS" where "DESTINATION" = ? and "DUE" > ?
fetch first ? rows only) counted;

-- OUTBOX_PENDING
select count(*) from (select 1 as "ONE" from "PAWL_OUTBOX" where "STATE" = 'pending' fetch first ?
rows only) counted;

-- OUTBOX_FIND_ID
select "ID", "NEXTATTEMPT", "VERSION", "INDEX", "ATTEMPTS", "DISPATCHID", "SOURCE", "ENDPOINT",
"DESTINATION", "DUE", "AT", "ATTEMPTSBEFORE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID",
"HEADERS", "BODY", "STATE", "DISPATCHEDAT" from "PAWL_OUTBOX" where "ID" = ? and (? = 0 or "ID" = ?)
and (? is null or "DISPATCHID" = ?) and "ID" > ? and (? = 0 or bitand(?, case "STATE" when 'pending'
then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else
0 end) <> 0) and (? = chr(1) or "ENDPOINT" = ?) and (? = chr(1) or "SOURCE" = ?) and (? = chr(1) or
"DESTINATION" = ?) and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "CAUSATIONID" = ?) and
"ATTEMPTS" >= ? order by "ID" fetch first ? rows only;

-- OUTBOX_FIND_DISPATCH
select "ID", "NEXTATTEMPT", "VERSION", "INDEX", "ATTEMPTS", "DISPATCHID", "SOURCE", "ENDPOINT",
"DESTINATION", "DUE", "AT", "ATTEMPTSBEFORE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID",
"HEADERS", "BODY", "STATE", "DISPATCHEDAT" from "PAWL_OUTBOX" where "DISPATCHID" = ? and (? = 0 or
"ID" = ?) and (? is null or "DISPATCHID" = ?) and "ID" > ? and (? = 0 or bitand(?, case "STATE" when
'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded'
then 16 else 0 end) <> 0) and (? = chr(1) or "ENDPOINT" = ?) and (? = chr(1) or "SOURCE" = ?) and (?
= chr(1) or "DESTINATION" = ?) and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "CAUSATIONID" = ?)
and "ATTEMPTS" >= ? order by "ID" fetch first ? rows only;

-- OUTBOX_FIND_DEAD
select "ID", "NEXTATTEMPT", "VERSION", "INDEX", "ATTEMPTS", "DISPATCHID", "SOURCE", "ENDPOINT",
"DESTINATION", "DUE", "AT", "ATTEMPTSBEFORE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID",
"HEADERS", "BODY", "STATE", "DISPATCHEDAT" from "PAWL_OUTBOX" where "STATE" = 'dead' and (? = 0 or
"ID" = ?) and (? is null or "DISPATCHID" = ?) and "ID" > ? and (? = 0 or bitand(?, case "STATE" when
'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded'
then 16 else 0 end) <> 0) and (? = chr(1) or "ENDPOINT" = ?) and (? = chr(1) or "SOURCE" = ?) and (?
= chr(1) or "DESTINATION" = ?) and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "CAUSATIONID" = ?)
and "ATTEMPTS" >= ? order by "ID" fetch first ? rows only;

-- OUTBOX_FIND_HELD
select "ID", "NEXTATTEMPT", "VERSION", "INDEX", "ATTEMPTS", "DISPATCHID", "SOURCE", "ENDPOINT",
"DESTINATION", "DUE", "AT", "ATTEMPTSBEFORE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID",
"HEADERS", "BODY", "STATE", "DISPATCHEDAT" from "PAWL_OUTBOX" where "STATE" = 'held' and "ATTEMPTS"
>= 0 and (? = 0 or "ID" = ?) and (? is null or "DISPATCHID" = ?) and "ID" > ? and (? = 0 or
bitand(?, case "STATE" when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead'
then 8 when 'discarded' then 16 else 0 end) <> 0) and (? = chr(1) or "ENDPOINT" = ?) and (? = chr(1)
or "SOURCE" = ?) and (? = chr(1) or "DESTINATION" = ?) and (? = chr(1) or "TYPE" = ?) and (? =
chr(1) or "CAUSATIONID" = ?) and "ATTEMPTS" >= ? order by "ID" fetch first ? rows only;

-- OUTBOX_FIND_PENDING
select "ID", "NEXTATTEMPT", "VERSION", "INDEX", "ATTEMPTS", "DISPATCHID", "SOURCE", "ENDPOINT",
"DESTINATION", "DUE", "AT", "ATTEMPTSBEFORE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID",
"HEADERS", "BODY", "STATE", "DISPATCHEDAT" from "PAWL_OUTBOX" where "STATE" = 'pending' and (? = 0
or "ID" = ?) and (? is null or "DISPATCHID" = ?) and "ID" > ? and (? = 0 or bitand(?, case "STATE"
when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when
'discarded' then 16 else 0 end) <> 0) and (? = chr(1) or "ENDPOINT" = ?) and (? = chr(1) or "SOURCE"
= ?) and (? = chr(1) or "DESTINATION" = ?) and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or
"CAUSATIONID" = ?) and "ATTEMPTS" >= ? order by "ID" fetch first ? rows only;

-- OUTBOX_FIND_TRIED
select "ID", "NEXTATTEMPT", "VERSION", "INDEX", "ATTEMPTS", "DISPATCHID", "SOURCE", "ENDPOINT",
"DESTINATION", "DUE", "AT", "ATTEMPTSBEFORE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID",
"HEADERS", "BODY", "STATE", "DISPATCHEDAT" from "PAWL_OUTBOX" where "STATE" = 'pending' and
"ATTEMPTS" > 0 and "NEXTATTEMPT" > timestamp '1970-01-01 00:00:00' and (? = 0 or "ID" = ?) and (? is
null or "DISPATCHID" = ?) and "ID" > ? and (? = 0 or bitand(?, case "STATE" when 'pending' then 1
when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end)
<> 0) and (? = chr(1) or "ENDPOINT" = ?) and (? = chr(1) or "SOURCE" = ?) and (? = chr(1) or
"DESTINATION" = ?) and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "CAUSATIONID" = ?) and
"ATTEMPTS" >= ? order by "ID" fetch first ? rows only;

-- OUTBOX_FIND_ANY
select "ID", "NEXTATTEMPT", "VERSION", "INDEX", "ATTEMPTS", "DISPATCHID", "SOURCE", "ENDPOINT",
"DESTINATION", "DUE", "AT", "ATTEMPTSBEFORE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID",
"HEADERS", "BODY", "STATE", "DISPATCHEDAT" from "PAWL_OUTBOX" where (? = 0 or "ID" = ?) and (? is
null or "DISPATCHID" = ?) and "ID" > ? and (? = 0 or bitand(?, case "STATE" when 'pending' then 1
when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end)
<> 0) and (? = chr(1) or "ENDPOINT" = ?) and (? = chr(1) or "SOURCE" = ?) and (? = chr(1) or
"DESTINATION" = ?) and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "CAUSATIONID" = ?) and
"ATTEMPTS" >= ? order by "ID" fetch first ? rows only;

-- OUTBOX_OLDEST
select "AT" from "PAWL_OUTBOX" where "STATE" = 'pending' order by "ID" fetch first 1 rows only;

-- OUTBOX_ATTEMPTS
select "ATTEMPT", "OUTCOME", "ERROR", "AT", "DURATION" from "PAWL_OUTBOX_ATTEMPTS" where "OUTBOXID"
= ? order by "ATTEMPT";

-- OUTBOX_HELD
select count(*) from (select 1 as "ONE" from "PAWL_OUTBOX" where "STATE" = 'held' fetch first ? rows
only) counted;

-- OUTBOX_DEAD
select count(*) from (select 1 as "ONE" from "PAWL_OUTBOX" where "STATE" = 'dead' fetch first ? rows
only) counted;

-- CHECKPOINT_GET
select "POSITION" from "PAWL_CHECKPOINTS" where "NAME" = ?;

-- EVENT_LIST_STREAM
select "SEQ", "POSITION", "STREAM", "VERSION", "TYPE", "TYPEVERSION", "MESSAGEID", "CORRELATIONID",
"CAUSATIONID", "DISPATCHID", "AT", "HEADERS", "BODY" from "PAWL_EVENTS" where "STREAM" = ? and
"VERSION" > ? and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or
"CORRELATIONID" = ?) order by "VERSION" fetch first ? rows only;

-- EVENT_LIST_POSITION
select "SEQ", "POSITION", "STREAM", "VERSION", "TYPE", "TYPEVERSION", "MESSAGEID", "CORRELATIONID",
"CAUSATIONID", "DISPATCHID", "AT", "HEADERS", "BODY" from "PAWL_EVENTS" where ? = chr(1) and
"POSITION" > ? and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or
"CORRELATIONID" = ?) order by "POSITION" fetch first ? rows only;

-- EVENT_LIST_SEQ
select "SEQ", "POSITION", "STREAM", "VERSION", "TYPE", "TYPEVERSION", "MESSAGEID", "CORRELATIONID",
"CAUSATIONID", "DISPATCHID", "AT", "HEADERS", "BODY" from "PAWL_EVENTS" where ? = chr(1) and "SEQ" >
? and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or
"CORRELATIONID" = ?) order by "SEQ" fetch first ? rows only;

-- EVENT_LIST_STREAM_BACK
select "SEQ", "POSITION", "STREAM", "VERSION", "TYPE", "TYPEVERSION", "MESSAGEID", "CORRELATIONID",
"CAUSATIONID", "DISPATCHID", "AT", "HEADERS", "BODY" from "PAWL_EVENTS" where "STREAM" = ? and
"VERSION" < ? and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or
"CORRELATIONID" = ?) order by "VERSION" desc fetch first ? rows only;

-- EVENT_LIST_POSITION_BACK
select "SEQ", "POSITION", "STREAM", "VERSION", "TYPE", "TYPEVERSION", "MESSAGEID", "CORRELATIONID",
"CAUSATIONID", "DISPATCHID", "AT", "HEADERS", "BODY" from "PAWL_EVENTS" where ? = chr(1) and
"POSITION" < ? and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or
"CORRELATIONID" = ?) order by "POSITION" desc fetch first ? rows only;

-- EVENT_LIST_SEQ_BACK
select "SEQ", "POSITION", "STREAM", "VERSION", "TYPE", "TYPEVERSION", "MESSAGEID", "CORRELATIONID",
"CAUSATIONID", "DISPATCHID", "AT", "HEADERS", "BODY" from "PAWL_EVENTS" where ? = chr(1) and "SEQ" <
? and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or
"CORRELATIONID" = ?) order by "SEQ" desc fetch first ? rows only;

-- BODIES_PAGE
select max("STREAM"), count(*) from (select "STREAM" from "PAWL_EVENTS" where "STREAM" > ? and
"STREAM" < ? order by "STREAM", "VERSION" fetch first ? rows only) page;

-- AGGREGATOR_GET
select "TYPE", "LEASEEXPIRES", "ID", "NAME", "PARTITION", "KEY", "AT", "SESSION", "MESSAGEID",
"TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY" from "PAWL_AGGREGATOR" where "PARTITION" =
? order by "AT", "ID";

-- AGGREGATOR_FREE
update "PAWL_AGGREGATOR" set "SESSION" = null, "LEASEEXPIRES" = null, "LEASEWORKER" = null where
"LEASEWORKER" = ?;

-- AGGREGATOR_COUNT
select count(*) from (select 1 as "ONE" from "PAWL_AGGREGATOR" fetch first ? rows only) counted;

-- FLUSH_LIST
select "NAME", "PARTITION", "DUE", "ATTEMPTS", "DEAD", "ERROR" from "PAWL_AGGREGATOR_FLUSH" where
"NAME" = ? and "DEAD" = 0 and "DUE" <= ? order by "DUE", "PARTITION" fetch first ? rows only;

-- FLUSH_DEAD
select count(*) from (select 1 as "ONE" from "PAWL_AGGREGATOR_FLUSH" where "DEAD" = 1 fetch first ?
rows only) counted;

-- FLUSH_NAME
select "NAME" from "PAWL_AGGREGATOR_FLUSH" where "DEAD" = 0 and "NAME" > ? order by "NAME" fetch
first 1 rows only;

-- FLUSH_READY
select count(*), min("DUE") from (select "DUE" from "PAWL_AGGREGATOR_FLUSH" where "DEAD" = 0 and
"NAME" = ? and "DUE" <= ? order by "DUE" fetch first ? rows only) counted;

-- DEAD_FIND
select "ENDPOINT", "QUEUE", "CODE", "ERROR", "ATTEMPTS", "DEATHS", "HISTORY", "AT", "MESSAGEID",
"TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY" from "PAWL_DEAD" where ? in (chr(1),
"ENDPOINT") and (? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or "TYPE" = ?) and (? = chr(1) or
"CODE" = ?) and (? = chr(1) or instr("ERROR", ?) > 0) and ("AT" > ? or ("AT" = ? and ("ENDPOINT" > ?
or ("ENDPOINT" = ? and "MESSAGEID" > ?)))) and "AT" >= ? and "AT" <= ? order by "AT", "ENDPOINT",
"MESSAGEID" fetch first ? rows only;

-- DEAD_FIND_ONE
select "ENDPOINT", "QUEUE", "CODE", "ERROR", "ATTEMPTS", "DEATHS", "HISTORY", "AT", "MESSAGEID",
"TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY" from "PAWL_DEAD" where "ENDPOINT" = ? and
"MESSAGEID" = ? and ? in (chr(1), "ENDPOINT") and (? = chr(1) or "MESSAGEID" = ?) and (? = chr(1) or
"TYPE" = ?) and (? = chr(1) or "CODE" = ?) and (? = chr(1) or instr("ERROR", ?) > 0) and ("AT" > ?
or ("AT" = ? and ("ENDPOINT" > ? or ("ENDPOINT" = ? and "MESSAGEID" > ?)))) and (? = chr(1) or "AT"
>= ?) and (? = chr(1) or "AT" <= ?) order by "MESSAGEID" fetch first ? rows only;

-- DEAD_ENDPOINT
select "ENDPOINT" from "PAWL_DEAD" where "ENDPOINT" > ? order by "ENDPOINT" fetch first 1 rows only;

-- DEAD_NAME
select "QUEUE" from "PAWL_DEAD" where "QUEUE" > ? order by "QUEUE" fetch first 1 rows only;

-- DEAD_OF_QUEUE
select count(*), min("AT") from (select "AT" from "PAWL_DEAD" where "QUEUE" = ? order by "AT" fetch
first ? rows only) counted;

-- DEAD_COUNT
select count(*) from (select 1 as "ONE" from "PAWL_DEAD" fetch first ? rows only) counted;

-- SUBSCRIPTION_LIST
select "TYPE", "QUEUE" from "PAWL_SUBSCRIPTIONS" order by "TYPE", "QUEUE";

-- HISTORY_FIND
select "ID", "ENDPOINT", "SOURCE", "MESSAGEID", "TYPE", "KIND", "OUTCOME", "VERSION", "ATTEMPTS",
"DURATION", "AT", "ERROR", "OUT" from "PAWL_HISTORY" where (? = chr(1) or "SOURCE" = ?) and (? =
chr(1) or "MESSAGEID" = ?) and "ID" > ? order by "ID" fetch first ? rows only;

-- HISTORY_FIND_SOURCE
select "ID", "ENDPOINT", "SOURCE", "MESSAGEID", "TYPE", "KIND", "OUTCOME", "VERSION", "ATTEMPTS",
"DURATION", "AT", "ERROR", "OUT" from "PAWL_HISTORY" where "SOURCE" = ? and "SOURCE" <> chr(1) and
(? = chr(1) or "SOURCE" = ?) and (? = chr(1) or "MESSAGEID" = ?) and "ID" > ? order by "ID" fetch
first ? rows only;

-- HISTORY_FIND_MESSAGE
select "ID", "ENDPOINT", "SOURCE", "MESSAGEID", "TYPE", "KIND", "OUTCOME", "VERSION", "ATTEMPTS",
"DURATION", "AT", "ERROR", "OUT" from "PAWL_HISTORY" where "MESSAGEID" = ? and (? = chr(1) or
"SOURCE" = ?) and (? = chr(1) or "MESSAGEID" = ?) and "ID" > ? order by "ID" fetch first ? rows only;

-- QUEUE_SCAN
select "SEQ", "QUEUE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY" from
"PAWL_QUEUE" where "SEQ" > ? order by "SEQ" fetch first ? rows only;

-- TIMEOUT_SCAN
select "ID", "DESTINATION", "NAME", "SAGATYPE", "SAGAID" from "PAWL_TIMEOUTS" where "ID" > ? order
by "ID" fetch first ? rows only;

-- FOLD_SCAN
select "STREAM", "TYPEVERSION", "STATE" from "PAWL_FOLDS" where "STREAM" > ? order by "STREAM" fetch
first ? rows only;

-- CHECKPOINT_SCAN
select "NAME", "POSITION" from "PAWL_CHECKPOINTS" where "NAME" > ? order by "NAME" fetch first ?
rows only;

-- PARTITION_SCAN
select f."PARTITION", f."NAME", f."DUE", f."ATTEMPTS", f."DEAD", f."ERROR", (select count(*) from
"PAWL_AGGREGATOR" a where a."PARTITION" = f."PARTITION"), (select min(b."AT") from "PAWL_AGGREGATOR"
b where b."PARTITION" = f."PARTITION") from "PAWL_AGGREGATOR_FLUSH" f where f."PARTITION" > ? and (?
= chr(1) or f."PARTITION" = ?) and (? = chr(1) or f."NAME" = ?) and (? = 0 or f."DEAD" = 1) order by
f."PARTITION" fetch first ? rows only;

-- AGGREGATOR_SCAN
select "ID", "NAME", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY" from
"PAWL_AGGREGATOR" where "ID" > ? order by "ID" fetch first ? rows only;

-- DEAD_SCAN
select "ENDPOINT", "QUEUE", "CODE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS",
"BODY" from "PAWL_DEAD" where "ENDPOINT" = ? and "MESSAGEID" > ? order by "MESSAGEID" fetch first ?
rows only;

-- DEAD_SCAN_NEXT
select "ENDPOINT", "QUEUE", "CODE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS",
"BODY" from "PAWL_DEAD" where "ENDPOINT" > ? order by "ENDPOINT", "MESSAGEID" fetch first ? rows
only;

-- WORKER_INSERT
insert into "PAWL_WORKERS" ("ID", "ENDPOINT", "TYPES", "EPOCH", "PROCESS", "PID", "SEEN",
"MESSAGES", "TIMEOUTS", "FLUSHES", "FAILURES", "CONFLICTS", "DEAD", "HOST", "PROGRAM",
"PROGRAMVERSION", "PAWLVERSION", "STARTED") values (?, ?, ?, 1, ?, ?, case when ? = 0 then
sys_extract_utc(systimestamp) else ? end, 0, 0, 0, 0, 0, 0, ?, ?, ?, ?, case when ? = 0 then
sys_extract_utc(systimestamp) else ? end);

-- WORKER_FENCE
update "PAWL_WORKERS" set "LASTCOMMIT" = ?, "SEEN" = case when "PROCESS" = 0 then
sys_extract_utc(systimestamp) else ? end, "MESSAGES" = "MESSAGES" + ?, "TIMEOUTS" = "TIMEOUTS" + ?,
"FLUSHES" = "FLUSHES" + ?, "FAILURES" = "FAILURES" + ?, "CONFLICTS" = "CONFLICTS" + ?, "DEAD" =
"DEAD" + ? where "ID" = ? and "EPOCH" = ?;

-- WORKER_REPLACE
update "PAWL_WORKERS" set "ENDPOINT" = ?, "TYPES" = ?, "PROCESS" = ?, "PID" = ?, "SEEN" = case when
? = 0 then sys_extract_utc(systimestamp) else ? end, "EPOCH" = "EPOCH" + 1, "HOST" = ?, "PROGRAM" =
?, "PROGRAMVERSION" = ?, "PAWLVERSION" = ?, "STARTED" = case when ? = 0 then
sys_extract_utc(systimestamp) else ? end where "ID" = ?;

-- WORKER_HEARTBEAT
update "PAWL_WORKERS" set "SEEN" = case when "PROCESS" = 0 then sys_extract_utc(systimestamp) else
"SEEN" end where "ID" = ?;

-- WORKER_DEAD_LOCK
select "EPOCH" from "PAWL_WORKERS" where "ID" = ? and "SEEN" < ? for update skip locked;

-- WORKER_RAISE
update "PAWL_WORKERS" set "EPOCH" = "EPOCH" + 1 where "ID" = ?;

-- WORKER_GET
select "EPOCH", "LASTCOMMIT" from "PAWL_WORKERS" where "ID" = ?;

-- LEASE_GET
select "WORKER", "PROCESS", "PID", "EPOCH", "EXPIRES" from "PAWL_LEASES" where "NAME" = ?;

-- LEASE_LOCK
select "EPOCH" from "PAWL_LEASES" where "NAME" = ? for update;

-- LEASE_FREE
update "PAWL_LEASES" set "WORKER" = null, "PROCESS" = 0 where "NAME" = ? and "PROCESS" = ?;

-- QUEUE_STAMP
insert into "PAWL_LEASES" ("NAME", "WORKER", "PROCESS", "PID", "EPOCH", "EXPIRES") values (?, ?, 0,
0, 1, timestamp '1970-01-01 00:00:00');

-- QUEUE_STAMP_KEEP
update "PAWL_LEASES" set "EPOCH" = 1 where "NAME" = ? and "WORKER" = ?;

-- QUEUE_ROW
select "SEQ", "DUE", "PLACED", "ATTEMPTS", "DEATHS", "WAITINGSINCE", "HISTORY", "MESSAGEID", "TYPE",
"CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY" from "PAWL_QUEUE" where "SEQ" = ? and "QUEUE" = ?
and "DUE" <= ?;

-- QUEUE_DELETE
delete from "PAWL_QUEUE" where "SEQ" = ? and "QUEUE" = ?;

-- QUEUE_RETRY
update "PAWL_QUEUE" set "DUE" = ?, "ATTEMPTS" = ?, "DEATHS" = ?, "WAITINGSINCE" = ?, "ERROR" = ?,
"HISTORY" = ? where "SEQ" = ? and "QUEUE" = ?;

-- QUEUE_SEND
insert into "PAWL_QUEUE" ("QUEUE", "DUE", "PLACED", "ATTEMPTS", "DEATHS", "WAITINGSINCE", "ERROR",
"MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY") values (?, ?, ?, ?, 0,
timestamp '1970-01-01 00:00:00', chr(1), ?, ?, ?, ?, ?, ?) ;

-- QUEUE_TAKEN
select 1 from "PAWL_QUEUE" where "QUEUE" = ? and "MESSAGEID" = ?;

-- QUEUE_OLDEST
select "PLACED", "SEQ" from "PAWL_QUEUE" where "QUEUE" = ? and "DUE" <= ? and "ATTEMPTS" = 0 and
"WAITINGSINCE" = timestamp '1970-01-01 00:00:00' order by "DUE", "SEQ" fetch first ? rows only;

-- INBOX_RANGE
select "MESSAGEID" from "PAWL_INBOX" where "ENDPOINT" = ? and "MESSAGEID" between ? and ? fetch
first ? rows only;

-- INBOX_AMONG
select "MESSAGEID" from "PAWL_INBOX" where "ENDPOINT" = ? and "MESSAGEID" in (?, ?, ?, ?, ?, ?, ?,
?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- INBOX_KNOWN
select 1 from "PAWL_INBOX" where "ENDPOINT" = ? and "MESSAGEID" = ?;

-- INBOX_MARK
insert into "PAWL_INBOX" ("ENDPOINT", "MESSAGEID", "OUTCOME", "AT") values (?, ?, ?, ?);

-- INBOX_DELETE
delete from "PAWL_INBOX" where "ENDPOINT" = ? and "MESSAGEID" = ?;

-- TIMEOUT_DUE
select "ID", "GENERATION", "SAGAID", "SAGATYPE", "NAME", "DESTINATION", "DUE", "HEADERS",
"CORRELATIONID", "ATTEMPTS", "OWNER", "LEASEEXPIRES" from "PAWL_TIMEOUTS" where "DESTINATION" = ?
and "DUE" <= ? and ("LEASEEXPIRES" is null or "LEASEEXPIRES" <= ?) order by "DUE", "ID" fetch first
? rows only;

-- TIMEOUT_DUE_ANY
select "ID", "GENERATION", "SAGAID", "SAGATYPE", "NAME", "DESTINATION", "DUE", "HEADERS",
"CORRELATIONID", "ATTEMPTS", "OWNER", "LEASEEXPIRES" from "PAWL_TIMEOUTS" where "DUE" <= ? and
("LEASEEXPIRES" is null or "LEASEEXPIRES" <= ?) order by "DUE", "ID" fetch first ? rows only;

-- TIMEOUT_NEXT
select "DUE" from "PAWL_TIMEOUTS" where "DESTINATION" = ? and "DUE" > ? and ("LEASEEXPIRES" is null
or "LEASEEXPIRES" <= ?) order by "DUE" fetch first 1 rows only;

-- TIMEOUT_NEXT_ANY
select min("DUE") from "PAWL_TIMEOUTS" where "DUE" > ? and ("LEASEEXPIRES" is null or "LEASEEXPIRES"
<= ?) having min("DUE") is not null;

-- TIMEOUT_FIRST
select "DUE" from "PAWL_TIMEOUTS" where "DESTINATION" = ? and "OWNER" is null order by "DUE" fetch
first 1 rows only;

-- TIMEOUT_STAMP
update "PAWL_TIMEOUTS" set "OWNER" = ?, "LEASEEXPIRES" = ?, "LEASEWORKER" = ? where "ID" = ?;

-- TIMEOUT_STAMP_UNTIL
update "PAWL_TIMEOUTS" set "OWNER" = ?, "LEASEEXPIRES" = ?, "LEASEWORKER" = ? where "DESTINATION" =
? and "DUE" <= ? and ("LEASEEXPIRES" is null or "LEASEEXPIRES" <= ?);

-- TIMEOUT_FREE
update "PAWL_TIMEOUTS" set "OWNER" = null, "LEASEEXPIRES" = null, "LEASEWORKER" = null where
"LEASEWORKER" = ?;

-- TIMEOUT_REAP
update "PAWL_TIMEOUTS" set "OWNER" = null, "LEASEEXPIRES" = null, "LEASEWORKER" = null where
"LEASEEXPIRES" <= ?;

-- TIMEOUT_DELETE
delete from "PAWL_TIMEOUTS" where "ID" = ? and (? is null or "OWNER" = ?) and (? = 0 or "GENERATION"
= ?);

-- TIMEOUT_RELEASE
update "PAWL_TIMEOUTS" set "OWNER" = null, "LEASEEXPIRES" = null, "LEASEWORKER" = null where "ID" =
? and (? is null or "OWNER" = ?) and (? = 0 or "GENERATION" = ?);

-- TIMEOUT_RETRY
update "PAWL_TIMEOUTS" set "OWNER" = null, "LEASEEXPIRES" = null, "LEASEWORKER" = null, "DUE" = ?,
"ATTEMPTS" = ? where "ID" = ? and (? is null or "OWNER" = ?) and (? = 0 or "GENERATION" = ?);

-- TIMEOUT_CANCEL
delete from "PAWL_TIMEOUTS" where "SAGAID" = ? and "NAME" = ? and "NAME" <> chr(1);

-- TIMEOUT_CANCEL_ALL
delete from "PAWL_TIMEOUTS" where (("SAGAID" = ? and "NAME" <> chr(1)) or ("SAGAID" = ? and "NAME" =
chr(1)));

-- TIMEOUT_INSERT
insert into "PAWL_TIMEOUTS" ("ID", "GENERATION", "SAGAID", "SAGATYPE", "NAME", "DESTINATION", "DUE",
"ATTEMPTS", "CORRELATIONID", "HEADERS") values (?, 1, ?, ?, ?, ?, ?, 0, ?, ?);

-- TIMEOUT_REARM_SAGA
update "PAWL_TIMEOUTS" set "GENERATION" = "GENERATION" + 1, "SAGATYPE" = ?, "DESTINATION" = ?, "DUE"
= ?, "ATTEMPTS" = 0, "OWNER" = null, "LEASEEXPIRES" = null, "LEASEWORKER" = null, "CORRELATIONID" =
?, "HEADERS" = ? where "SAGAID" = ? and "NAME" = ? and "NAME" <> chr(1);

-- TIMEOUT_REARM
update "PAWL_TIMEOUTS" set "GENERATION" = "GENERATION" + 1, "SAGATYPE" = ?, "DESTINATION" = ?, "DUE"
= ?, "ATTEMPTS" = 0, "OWNER" = null, "LEASEEXPIRES" = null, "LEASEWORKER" = null, "CORRELATIONID" =
?, "HEADERS" = ?, "SAGAID" = ?, "NAME" = ? where "ID" = ?;

-- OUTBOX_DUE
select "ID", "NEXTATTEMPT", "VERSION", "INDEX", "ATTEMPTS", "DISPATCHID", "SOURCE", "ENDPOINT",
"DESTINATION", "DUE", "AT", "ATTEMPTSBEFORE", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID",
"HEADERS", "BODY", "STATE", "DISPATCHEDAT" from "PAWL_OUTBOX" where "STATE" = 'pending' and
"NEXTATTEMPT" <= ? and (? = chr(1) or "ENDPOINT" = ?) order by "ID" fetch first ? rows only;

-- OUTBOX_NEXT
select min("NEXTATTEMPT") from "PAWL_OUTBOX" where "STATE" = 'pending' and "NEXTATTEMPT" > ? and (?
= chr(1) or "ENDPOINT" = ?);

-- OUTBOX_ADD
insert into "PAWL_OUTBOX" ("DISPATCHID", "STATE", "ATTEMPTS", "NEXTATTEMPT", "DUE", "AT", "SOURCE",
"VERSION", "INDEX", "ENDPOINT", "DESTINATION", "ATTEMPTSBEFORE", "MESSAGEID", "TYPE",
"CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY") values (?, 'pending', 0, timestamp '1970-01-01
00:00:00', ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?) ;

-- OUTBOX_TAKEN
select 1 from "PAWL_OUTBOX" where "DISPATCHID" = ?;

-- OUTBOX_SETTLE
update "PAWL_OUTBOX" set "STATE" = ?, "ATTEMPTS" = ?, "NEXTATTEMPT" = ?, "DISPATCHEDAT" = ? where
"ID" = ? and "STATE" = 'pending';

-- OUTBOX_ENABLE
update "PAWL_OUTBOX" set "STATE" = 'pending', "NEXTATTEMPT" = ?, "ATTEMPTSBEFORE" = "ATTEMPTS" + 1,
"ATTEMPTS" = "ATTEMPTS" + 1 where "ID" = ? and "STATE" = 'dead';

-- OUTBOX_DISCARD
update "PAWL_OUTBOX" set "STATE" = 'discarded', "DISPATCHEDAT" = ?, "ATTEMPTS" = "ATTEMPTS" + 1
where "ID" = ? and "STATE" = 'dead';

-- OUTBOX_ATTEMPT_PUT
insert into "PAWL_OUTBOX_ATTEMPTS" ("OUTBOXID", "ATTEMPT", "OUTCOME", "AT", "DURATION", "ERROR")
values (?, ?, ?, ?, ?, ?);

-- OUTBOX_ATTEMPT
insert into "PAWL_OUTBOX_ATTEMPTS" ("OUTBOXID", "ATTEMPT", "OUTCOME", "AT", "DURATION", "ERROR")
select ?, coalesce(max("ATTEMPT"), 0) + 1, ?, ?, ?, ? from "PAWL_OUTBOX_ATTEMPTS" where "OUTBOXID" =
?;

-- OUTBOX_BLOCK
update "PAWL_OUTBOX" set "STATE" = 'held' where "ID" = ? and "STATE" = 'pending' and "ATTEMPTS" = 0;

-- OUTBOX_BLOCK_KNOWN
update "PAWL_OUTBOX" set "STATE" = 'held' where "ID" = ? and "SOURCE" = ? and "STATE" = 'pending'
and "ATTEMPTS" = 0;

-- OUTBOX_SOURCES
select "ID", "SOURCE" from "PAWL_OUTBOX" where "STATE" = 'pending' and "ATTEMPTS" = 0 and "ID" > ?
order by "ID";

-- HISTORY_ADD
insert into "PAWL_HISTORY" ("ENDPOINT", "SOURCE", "MESSAGEID", "TYPE", "KIND", "OUTCOME", "VERSION",
"ATTEMPTS", "DURATION", "AT", "ERROR", "OUT") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- HISTORY_PAGE
select count(*), coalesce(max("ID"), 0) from (select "ID" from "PAWL_HISTORY" where "ID" > ? order
by "ID" fetch first ? rows only) page;

-- HISTORY_SWEEP
delete from "PAWL_HISTORY" where "ID" in (select "ID" from (select "ID", "AT" from "PAWL_HISTORY"
where "ID" > ? order by "ID" fetch first ? rows only) old where "AT" < ?);

-- EVENT_LAST
select max("VERSION") from "PAWL_EVENTS" where "STREAM" = ?;

-- EVENT_BEHIND
select "SEQ", "POSITION", "STREAM", "VERSION", "TYPE", "TYPEVERSION", "MESSAGEID", "CORRELATIONID",
"CAUSATIONID", "DISPATCHID", "AT", "HEADERS", "BODY" from "PAWL_EVENTS" where "STREAM" = ? and
"VERSION" > ? order by "VERSION";

-- EVENT_TURN
select "VERSION" from "PAWL_SCHEMA" where "PART" = 'pawl' for update;

-- EVENT_POSITION
select max("POSITION") from "PAWL_EVENTS";

-- EVENT_UNNUMBERED
select "SEQ" from "PAWL_EVENTS" where "POSITION" is null order by "SEQ" fetch first ? rows only;

-- EVENT_NUMBER
update "PAWL_EVENTS" set "POSITION" = ? where "SEQ" = ?;

-- EVENT_INSERT
insert into "PAWL_EVENTS" ("STREAM", "VERSION", "TYPE", "TYPEVERSION", "MESSAGEID", "CORRELATIONID",
"CAUSATIONID", "DISPATCHID", "AT", "HEADERS", "BODY") values (case when ? = 0 or ? = 1 or exists
(select 1 from "PAWL_EVENTS" where "STREAM" = ? and "VERSION" = ? - 1) then ? end, ?, ?, ?, ?, ?, ?,
?, ?, ?, ?);

-- EVENT_TAKEN
select 1 from "PAWL_EVENTS" where "STREAM" = ? and "VERSION" = ?;

-- FOLD_ADD
insert into "PAWL_FOLDS" ("STREAM", "VERSION", "TYPEVERSION", "STATE", "DISPATCHES", "AT") values
(?, ?, ?, ?, ?, ?);

-- FOLD_TAKEN
select 1 from "PAWL_FOLDS" where "STREAM" = ?;

-- FOLD_GET
select "VERSION", "TYPEVERSION", "STATE", "DISPATCHES", "AT" from "PAWL_FOLDS" where "STREAM" = ?
and "TYPEVERSION" <= ? and "VERSION" > ?;

-- CHECKPOINT_ADD
insert into "PAWL_CHECKPOINTS" ("NAME", "POSITION", "AT") values (?, ?, ?) ;

-- CHECKPOINT_TAKEN
select 1 from "PAWL_CHECKPOINTS" where "NAME" = ?;

-- CHECKPOINT_MOVE
update "PAWL_CHECKPOINTS" set "POSITION" = ?, "AT" = ? where "NAME" = ? and "POSITION" = ?;

-- AGGREGATOR_ADD
insert into "PAWL_AGGREGATOR" ("NAME", "PARTITION", "KEY", "AT", "MESSAGEID", "TYPE",
"CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ;

-- AGGREGATOR_TAKEN
select 1 from "PAWL_AGGREGATOR" where "PARTITION" = ? and "KEY" = ?;

-- AGGREGATOR_HEAD
select "TYPE", "LEASEEXPIRES", "ID" from "PAWL_AGGREGATOR" where "PARTITION" = ?;

-- AGGREGATOR_CLAIM
select "TYPE", "LEASEEXPIRES", "ID", "NAME", "PARTITION", "KEY", "AT", "SESSION", "MESSAGEID",
"TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY" from "PAWL_AGGREGATOR" where "PARTITION" =
? order by "AT", "ID" for update skip locked;

-- AGGREGATOR_STAMP
update "PAWL_AGGREGATOR" set "SESSION" = ?, "LEASEEXPIRES" = ?, "LEASEWORKER" = ? where "ID" = ?;

-- AGGREGATOR_DELETE
delete from "PAWL_AGGREGATOR" where "ID" = ? and "PARTITION" = ? and (? is null or "SESSION" = ?);

-- AGGREGATOR_DELETE_ALL
delete from "PAWL_AGGREGATOR" where "PARTITION" = ?;

-- AGGREGATOR_RELEASE
update "PAWL_AGGREGATOR" set "SESSION" = null, "LEASEEXPIRES" = null, "LEASEWORKER" = null where
"PARTITION" = ? and "SESSION" = ?;

-- FLUSH_TAKEN
select 1 from "PAWL_AGGREGATOR_FLUSH" where "PARTITION" = ?;

-- FLUSH_TOUCH
update "PAWL_AGGREGATOR_FLUSH" set "NAME" = "NAME" where "PARTITION" = ?;

-- FLUSH_DONE
delete from "PAWL_AGGREGATOR_FLUSH" where "PARTITION" = ? and not exists (select 1 from
"PAWL_AGGREGATOR" where "PARTITION" = ?);

-- FLUSH_SET
update "PAWL_AGGREGATOR_FLUSH" set "DUE" = ?, "ATTEMPTS" = ?, "DEAD" = ?, "ERROR" = ? where
"PARTITION" = ?;

-- FLUSH_GET
select "DUE", "ATTEMPTS", "DEAD" from "PAWL_AGGREGATOR_FLUSH" where "PARTITION" = ?;

-- FLUSH_FIRST
select "DUE" from "PAWL_AGGREGATOR_FLUSH" where "NAME" = ? and "DEAD" = 0 order by "DUE" fetch first
1 rows only;

-- DEAD_ADD
insert into "PAWL_DEAD" ("ENDPOINT", "QUEUE", "CODE", "ERROR", "ATTEMPTS", "DEATHS", "HISTORY",
"AT", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY") values (?, ?, ?, ?, ?,
?, ?, ?, ?, ?, ?, ?, ?, ?) ;

-- DEAD_TAKEN
select 1 from "PAWL_DEAD" where "ENDPOINT" = ? and "MESSAGEID" = ?;

-- DEAD_DELETE
delete from "PAWL_DEAD" where "ENDPOINT" = ? and "MESSAGEID" = ?;

-- DEAD_DELETE_OF
delete from "PAWL_DEAD" where "ENDPOINT" = ? and "MESSAGEID" = ? and "AT" = ?;

-- SUBSCRIPTION_ADD
insert into "PAWL_SUBSCRIPTIONS" ("TYPE", "QUEUE") values (?, ?) ;

-- SUBSCRIPTION_TAKEN
select 1 from "PAWL_SUBSCRIPTIONS" where "TYPE" = ? and "QUEUE" = ?;

-- SUBSCRIPTION_DELETE
delete from "PAWL_SUBSCRIPTIONS" where "TYPE" = ? and "QUEUE" = ?;

-- QUEUE_CLAIM
declare cursor c is select /*+ index(q (queue, due, seq)) */ "SEQ" from "PAWL_QUEUE" q where "QUEUE"
= ? and "DUE" <= ? order by "DUE", "SEQ" for update skip locked; n pls_integer :=
least(to_number(?), 32767); m sys.odcinumberlist; r sys_refcursor; begin open c; fetch c bulk
collect into m limit n; close c; open r for select /*+ leading(k) use_nl(t) cardinality(k 10) */
"SEQ", "DUE", "PLACED", "ATTEMPTS", "DEATHS", "WAITINGSINCE", "HISTORY", "MESSAGEID", "TYPE",
"CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY" from table(m) k join "PAWL_QUEUE" t on t."SEQ" =
k.column_value where "QUEUE" = ? and "DUE" <= ? order by "DUE", "SEQ"; dbms_sql.return_result(r);
end;

-- QUEUE_CLAIM_MORE
declare l clob := ',' || ? || ','; cursor c is select /*+ index(q (queue, due, seq)) */ "SEQ" from
"PAWL_QUEUE" q where "QUEUE" = ? and "DUE" <= ? and instr(l, ',' || "SEQ" || ',') = 0 order by
"DUE", "SEQ" for update skip locked; n pls_integer := least(to_number(?), 32767); m
sys.odcinumberlist; r sys_refcursor; begin open c; fetch c bulk collect into m limit n; close c;
open r for select /*+ leading(k) use_nl(t) cardinality(k 10) */ "SEQ", "DUE", "PLACED", "ATTEMPTS",
"DEATHS", "WAITINGSINCE", "HISTORY", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS",
"BODY" from table(m) k join "PAWL_QUEUE" t on t."SEQ" = k.column_value where "QUEUE" = ? and "DUE"
<= ? order by "DUE", "SEQ"; dbms_sql.return_result(r); end;

-- QUEUE_CLAIM_AGAIN
select "SEQ", "DUE", "PLACED", "ATTEMPTS", "DEATHS", "WAITINGSINCE", "HISTORY", "MESSAGEID", "TYPE",
"CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY" from "PAWL_QUEUE" where "SEQ" = ? and "QUEUE" = ?
and "DUE" <= ? for update skip locked;

-- QUEUE_COUNT_DUE
select count(*) from (select /*+ index(q (queue, due, seq)) */ 1 from "PAWL_QUEUE" q where "QUEUE" =
? and "DUE" <= ? fetch first ? rows only);

-- QUEUE_LOCK
select "SEQ" from "PAWL_QUEUE" where "SEQ" = ? and "DUE" = ? for update skip locked;

-- QUEUE_FIRST, for QUEUE_FIRST
declare cursor c is select /*+ index(q (queue, due, seq)) */ "DUE" from "PAWL_QUEUE" q where "QUEUE"
= ? order by "DUE" for update skip locked; d timestamp(6); r sys_refcursor; begin open c; fetch c
into d; close c; open r for select d from dual where d is not null; dbms_sql.return_result(r); end;

-- OUTBOX_BLOCK_BEHIND
update "PAWL_OUTBOX" set "STATE" = 'held' where "STATE" = 'pending' and "ATTEMPTS" = 0 and "ID" > ?
and "SOURCE" = ?;

-- OUTBOX_UNBLOCK, for OUTBOX_UNBLOCK
update "PAWL_OUTBOX" set "STATE" = 'pending' where "HELDSOURCE" = ?;

-- WORKER_FOLD, for WORKER_FOLD
merge into "PAWL_WORKERS" t using (select "MESSAGES", "TIMEOUTS", "FLUSHES", "FAILURES",
"CONFLICTS", "DEAD" from "PAWL_WORKERS" where "ID" = ?) w on (t."ID" = ?) when matched then update
set t."MESSAGES" = t."MESSAGES" + w."MESSAGES", t."TIMEOUTS" = t."TIMEOUTS" + w."TIMEOUTS",
t."FLUSHES" = t."FLUSHES" + w."FLUSHES", t."FAILURES" = t."FAILURES" + w."FAILURES", t."CONFLICTS" =
t."CONFLICTS" + w."CONFLICTS", t."DEAD" = t."DEAD" + w."DEAD";

-- WORKER_KEEP, for WORKER_KEEP
merge into "PAWL_WORKERS" t using (select ? id from dual) k on (t."ID" = k.id) when matched then
update set t."EPOCH" = t."EPOCH" when not matched then insert ("ID", "ENDPOINT", "TYPES", "EPOCH",
"PROCESS", "PID", "SEEN", "MESSAGES", "TIMEOUTS", "FLUSHES", "FAILURES", "CONFLICTS", "DEAD") values
(k.id, chr(1), chr(1), 0, 0, 0, timestamp '1970-01-01 00:00:00', 0, 0, 0, 0, 0, 0);

-- FLUSH_ADD, for FLUSH_ADD
merge into "PAWL_AGGREGATOR_FLUSH" t using (select ? p from dual) k on (t."PARTITION" = k.p) when
matched then update set t."ATTEMPTS" = t."ATTEMPTS" when not matched then insert ("PARTITION",
"NAME", "DUE", "ATTEMPTS", "DEAD", "ERROR") values (k.p, ?, ?, 0, 0, chr(1)) ;

-- INBOX_SWEEP, for INBOX_SWEEP
delete from "PAWL_INBOX" where rowid in (select rowid from "PAWL_INBOX" where "AT" < ? order by "AT"
fetch first ? rows only);

-- OUTBOX_SWEEP, for OUTBOX_SWEEP
delete from "PAWL_OUTBOX" where rowid in (select rowid from "PAWL_OUTBOX" where "DISPATCHEDAT" < ?
order by "DISPATCHEDAT" fetch first ? rows only);

-- AGGREGATOR_DELETE_OLDEST, for AGGREGATOR_DELETE_OLDEST
delete from "PAWL_AGGREGATOR" where rowid in (select rowid from "PAWL_AGGREGATOR" where "PARTITION"
= ? and "CORRELATIONID" = ? order by "AT", "ID" fetch first 1 rows only);

-- OUTBOX_SAME, for OUTBOX_SAME
declare b blob := ?; r sys_refcursor; begin open r for select 1 from "PAWL_OUTBOX" where
"DISPATCHID" = ? and "TYPE" = ? and (dbms_lob.compare("BODY", b, 32000) = 0 or b is null and
dbms_lob.getlength("BODY") = 0); dbms_sql.return_result(r); end;

-- BODIES_CLEAR, for BODIES_CLEAR
update "PAWL_EVENTS" set "BODY" = empty_blob(), "TYPEVERSION" = 2 where "STREAM" > ? and "STREAM" <=
? and "AT" < ? and "TYPEVERSION" = 1 and "TYPE" in ('pawl.dead_edited', 'pawl.dead_discarded');

-- TIMEOUT_CLAIM, for TIMEOUT_CLAIM
declare cursor c is select /*+ index(q (destination, due, id)) */ "ID" from "PAWL_TIMEOUTS" q where
"DESTINATION" = ? and "DUE" <= ? and ("LEASEEXPIRES" is null or "LEASEEXPIRES" <= ?) order by "DUE",
"ID" for update skip locked; n pls_integer := least(to_number(?), 32767); m sys.odcivarchar2list; r
sys_refcursor; begin open c; fetch c bulk collect into m limit n; close c; open r for select /*+
leading(k) use_nl(t) cardinality(k 10) */ "ID", "GENERATION", "SAGAID", "SAGATYPE", "NAME",
"DESTINATION", "DUE", "HEADERS", "CORRELATIONID", "ATTEMPTS", "OWNER", "LEASEEXPIRES" from table(m)
k join "PAWL_TIMEOUTS" t on t."ID" = k.column_value where "DESTINATION" = ? and "DUE" <= ? and
("LEASEEXPIRES" is null or "LEASEEXPIRES" <= ?) order by "DUE", "ID"; dbms_sql.return_result(r);
end;

-- TIMEOUT_CLAIM_ANY, for TIMEOUT_CLAIM_ANY
declare cursor c is select "ID" from "PAWL_TIMEOUTS" q where "DUE" <= ? and ("LEASEEXPIRES" is null
or "LEASEEXPIRES" <= ?) order by "DUE", "ID" for update skip locked; n pls_integer :=
least(to_number(?), 32767); m sys.odcivarchar2list; r sys_refcursor; begin open c; fetch c bulk
collect into m limit n; close c; open r for select /*+ leading(k) use_nl(t) cardinality(k 10) */
"ID", "GENERATION", "SAGAID", "SAGATYPE", "NAME", "DESTINATION", "DUE", "HEADERS", "CORRELATIONID",
"ATTEMPTS", "OWNER", "LEASEEXPIRES" from table(m) k join "PAWL_TIMEOUTS" t on t."ID" =
k.column_value where "DUE" <= ? and ("LEASEEXPIRES" is null or "LEASEEXPIRES" <= ?) order by "DUE",
"ID"; dbms_sql.return_result(r); end;

-- TIMEOUT_FOREIGN, for TIMEOUT_FOREIGN
with d (name) as (select min("DESTINATION") from "PAWL_TIMEOUTS" union all select (select
min(t."DESTINATION") from "PAWL_TIMEOUTS" t where t."DESTINATION" > d.name) from d where d.name is
not null), f (name, due) as (select d.name, (select min(t."DUE") from "PAWL_TIMEOUTS" t where
t."DESTINATION" = d.name and (t."LEASEEXPIRES" is null or t."LEASEEXPIRES" <= ?)) from d where
d.name is not null and (d.name = ? or not exists (select 1 from "PAWL_SUBSCRIPTIONS" s where
s."QUEUE" = d.name))) select name, due from f where due is not null order by name;

-- FOLD_SET, for FOLD_SET
update "PAWL_FOLDS" set "VERSION" = ?, "TYPEVERSION" = ?, "STATE" = ?, "DISPATCHES" = ?, "AT" = ?
where "STREAM" = ? and "VERSION" < ?;

-- NEWS, for NEWS
select coalesce((select max("SEQ") from "PAWL_QUEUE"), 0), coalesce((select max("ID") from
"PAWL_OUTBOX"), 0), coalesce((select max("SEQ") from "PAWL_EVENTS"), 0), coalesce((select max("ID")
from "PAWL_AGGREGATOR"), 0) from dual;

-- SCHEMA_COLUMNS
select table_name, column_name, data_type || case when data_type like '%CHAR2' then '(' || case
char_used when 'C' then char_length else data_length end || ')' when data_type = 'NUMBER' then '('
|| data_precision || ')' end, 'none', case nullable when 'N' then 1 else 0 end, case when
default_length is null then 0 else 1 end from all_tab_columns where owner = sys_context('userenv',
'current_schema') and table_name = upper(?) order by column_id;

-- SCHEMA_INDEXES
select i.table_name, i.index_name, (select listagg('"' || c.column_name || '"', ', ') within group
(order by c.column_position) from all_ind_columns c where c.index_owner = i.owner and c.index_name =
i.index_name), (select count(*) from all_constraints p where p.owner = i.table_owner and
p.constraint_type = 'P' and p.index_owner = i.owner and p.index_name = i.index_name), case
i.uniqueness when 'UNIQUE' then 1 else 0 end, case when i.status = 'VALID' and i.visibility =
'VISIBLE' then 1 else 0 end, 0 from all_indexes i where i.table_owner = sys_context('userenv',
'current_schema') and i.table_name = upper(?) and i.index_type <> 'LOB' order by i.index_name;

-- saga Order 0
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION", "CORR_ORDERID", "CORR_OLDID"
from "SHOP_ORDER" where "ID" = ?;

-- saga Order 1
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION", "CORR_ORDERID", "CORR_OLDID"
from "SHOP_ORDER" where "CORR_ORDERID" = ?;

-- saga Order 2
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION", "CORR_ORDERID", "CORR_OLDID"
from "SHOP_ORDER" where "CORR_OLDID" = ?;

-- saga Order 3
insert into "SHOP_ORDER" ("ID", "METADATA", "DATA", "PERSISTENCEVERSION", "SAGATYPEVERSION",
"CONCURRENCY", "CORR_ORDERID", "CORR_OLDID") values (?, ?, ?, 'VERSION', ?, 1, ?, ?);

-- saga Order 4
update "SHOP_ORDER" set "CONCURRENCY" = "CONCURRENCY" + 1, "CORR_OLDID" = ?, "METADATA" = ?, "DATA"
= ?, "PERSISTENCEVERSION" = 'VERSION', "SAGATYPEVERSION" = ? where 0 = ? and "ID" = ? and
"CONCURRENCY" = ?;

-- saga Order 5
update "SHOP_ORDER" set "CONCURRENCY" = "CONCURRENCY" + 1, "CORR_OLDID" = ?, "METADATA" = ?, "DATA"
= ?, "PERSISTENCEVERSION" = 'VERSION', "SAGATYPEVERSION" = ? where "ID" = ? and "CONCURRENCY" = ?;

-- saga Order 6
delete from "SHOP_ORDER" where "ID" = ? and "CONCURRENCY" = ?;

-- saga Order 7
select count(*) from "SHOP_ORDER";

-- saga Order 8
select "ID", "PERSISTENCEVERSION", "SAGATYPEVERSION", "DATA" from "SHOP_ORDER" where "ID" > ? order
by "ID" fetch first ? rows only;

-- saga Order 9
select 1 from "SHOP_ORDER" where "ID" <> ? and "CORR_OLDID" = ?;

-- saga Order 10
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION", "CORR_ORDERID", "CORR_OLDID"
from "SHOP_ORDER" where "ID" = ? for update;

-- saga Order 11
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION", "CORR_ORDERID", "CORR_OLDID"
from "SHOP_ORDER" where "CORR_ORDERID" = ? for update;

-- saga Order 12
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION", "CORR_ORDERID", "CORR_OLDID"
from "SHOP_ORDER" where "CORR_OLDID" = ? for update;

-- saga Order 13
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION", "CORR_ORDERID", "CORR_OLDID"
from "SHOP_ORDER" where "ID" = ? for update skip locked;

-- saga Order 14
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION", "CORR_ORDERID", "CORR_OLDID"
from "SHOP_ORDER" where "CORR_ORDERID" = ? for update skip locked;

-- saga Order 15
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION", "CORR_ORDERID", "CORR_OLDID"
from "SHOP_ORDER" where "CORR_OLDID" = ? for update skip locked;

-- saga Plain 0
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION" from "SHOP_PLAIN" where "ID" =
?;

-- saga Plain 3
insert into "SHOP_PLAIN" ("ID", "METADATA", "DATA", "PERSISTENCEVERSION", "SAGATYPEVERSION",
"CONCURRENCY") values (?, ?, ?, 'VERSION', ?, 1);

-- saga Plain 4
update "SHOP_PLAIN" set "CONCURRENCY" = "CONCURRENCY" + 1, "METADATA" = ?, "DATA" = ?,
"PERSISTENCEVERSION" = 'VERSION', "SAGATYPEVERSION" = ? where 0 = ? and "ID" = ? and "CONCURRENCY" = ?;

-- saga Plain 5
update "SHOP_PLAIN" set "CONCURRENCY" = "CONCURRENCY" + 1, "METADATA" = ?, "DATA" = ?,
"PERSISTENCEVERSION" = 'VERSION', "SAGATYPEVERSION" = ? where "ID" = ? and "CONCURRENCY" = ?;

-- saga Plain 6
delete from "SHOP_PLAIN" where "ID" = ? and "CONCURRENCY" = ?;

-- saga Plain 7
select count(*) from "SHOP_PLAIN";

-- saga Plain 8
select "ID", "PERSISTENCEVERSION", "SAGATYPEVERSION", "DATA" from "SHOP_PLAIN" where "ID" > ? order
by "ID" fetch first ? rows only;

-- saga Plain 9
select 1 from "SHOP_PLAIN" where "ID" <> ? and 1 = 0;

-- saga Plain 10
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION" from "SHOP_PLAIN" where "ID" =
? for update;

-- saga Plain 13
select 0, "ID", "CONCURRENCY", "METADATA", "DATA", "SAGATYPEVERSION" from "SHOP_PLAIN" where "ID" =
? for update skip locked;

-- round: fence
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of timestamp(6); p2 t2; type t3 is table of number; p3 t3;
type t4 is table of number; p4 t4; type t5 is table of number; p5 t5; type t6 is table of number; p6
t6; type t7 is table of number; p7 t7; type t8 is table of number; p8 t8; type t9 is table of
varchar2(4000); p9 t9; type t10 is table of number; p10 t10; begin select c1, to_timestamp(c2,
'YYYY-MM-DD HH24:MI:SS.FF6'), c3, c4, c5, c6, c7, c8, c9, c10 bulk collect into p1, p2, p3, p4, p5,
p6, p7, p8, p9, p10 from json_table(j, '$[*]' error on error columns (n for ordinality, c1
varchar2(4000) path '$[0]', c2 varchar2(26) path '$[1]', c3 number path '$[2]', c4 number path
'$[3]', c5 number path '$[4]', c6 number path '$[5]', c7 number path '$[6]', c8 number path '$[7]',
c9 varchar2(4000) path '$[8]', c10 number path '$[9]')) order by n; forall i in 1 .. p1.count update
"PAWL_WORKERS" set "LASTCOMMIT" = p1(i), "SEEN" = case when "PROCESS" = 0 then
sys_extract_utc(systimestamp) else p2(i) end, "MESSAGES" = "MESSAGES" + p3(i), "TIMEOUTS" =
"TIMEOUTS" + p4(i), "FLUSHES" = "FLUSHES" + p5(i), "FAILURES" = "FAILURES" + p6(i), "CONFLICTS" =
"CONFLICTS" + p7(i), "DEAD" = "DEAD" + p8(i) where "ID" = p9(i) and "EPOCH" = p10(i); for i in 1 ..
p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open
r for select s from dual; dbms_sql.return_result(r); end;

-- round: QUEUE_DELETE
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of number; p1
t1; type t2 is table of varchar2(4000); p2 t2; begin select c1, c2 bulk collect into p1, p2 from
json_table(j, '$[*]' error on error columns (n for ordinality, c1 number path '$[0]', c2
varchar2(4000) path '$[1]')) order by n; forall i in 1 .. p1.count delete from "PAWL_QUEUE" where
"SEQ" = p1(i) and "QUEUE" = p2(i); for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i)
when 0 then 'm' else 'a' end; end loop; end; open r for select s from dual;
dbms_sql.return_result(r); end;

-- round: INBOX_MARK
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of varchar2(4000); p2 t2; type t3 is table of
varchar2(4000); p3 t3; type t4 is table of timestamp(6); p4 t4; begin select c1, c2, c3,
to_timestamp(c4, 'YYYY-MM-DD HH24:MI:SS.FF6') bulk collect into p1, p2, p3, p4 from json_table(j,
'$[*]' error on error columns (n for ordinality, c1 varchar2(4000) path '$[0]', c2 varchar2(4000)
path '$[1]', c3 varchar2(4000) path '$[2]', c4 varchar2(26) path '$[3]')) order by n; forall i in 1
.. p1.count insert into "PAWL_INBOX" ("ENDPOINT", "MESSAGEID", "OUTCOME", "AT") values (p1(i),
p2(i), p3(i), p4(i)); for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then
'm' else 'a' end; end loop; end; open r for select s from dual; dbms_sql.return_result(r); end;

-- round: saga Order
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of number; p2 t2; begin select c1, c2 bulk collect into p1,
p2 from json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(4000) path
'$[0]', c2 number path '$[1]')) order by n; forall i in 1 .. p1.count delete from "SHOP_ORDER" where
"ID" = p1(i) and "CONCURRENCY" = p2(i); for i in 1 .. p1.count loop s := s || case
sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open r for select s from dual;
dbms_sql.return_result(r); end;

-- round: saga Order
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of varchar2(4000); p2 t2; type t3 is table of
varchar2(4000); p3 t3; type t4 is table of varchar2(4000); p4 t4; type t5 is table of
varchar2(4000); p5 t5; type t6 is table of varchar2(4000); p6 t6; begin select c1, c2, c3, c4, c5,
c6 bulk collect into p1, p2, p3, p4, p5, p6 from json_table(j, '$[*]' error on error columns (n for
ordinality, c1 varchar2(4000) path '$[0]', c2 varchar2(4000) path '$[1]', c3 varchar2(4000) path
'$[2]', c4 varchar2(4000) path '$[3]', c5 varchar2(4000) path '$[4]', c6 varchar2(4000) path
'$[5]')) order by n; forall i in 1 .. p1.count insert into "SHOP_ORDER" ("ID", "METADATA", "DATA",
"PERSISTENCEVERSION", "SAGATYPEVERSION", "CONCURRENCY", "CORR_ORDERID", "CORR_OLDID") values (p1(i),
p2(i), p3(i), 'VERSION', p4(i), 1, p5(i), p6(i)); for i in 1 .. p1.count loop s := s || case
sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open r for select s from dual;
dbms_sql.return_result(r); end;

-- round: saga Order
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of varchar2(4000); p2 t2; type t3 is table of
varchar2(4000); p3 t3; type t4 is table of varchar2(4000); p4 t4; type t5 is table of
varchar2(4000); p5 t5; type t6 is table of number; p6 t6; begin select c1, c2, c3, c4, c5, c6 bulk
collect into p1, p2, p3, p4, p5, p6 from json_table(j, '$[*]' error on error columns (n for
ordinality, c1 varchar2(4000) path '$[0]', c2 varchar2(4000) path '$[1]', c3 varchar2(4000) path
'$[2]', c4 varchar2(4000) path '$[3]', c5 varchar2(4000) path '$[4]', c6 number path '$[5]')) order
by n; forall i in 1 .. p1.count update "SHOP_ORDER" set "CONCURRENCY" = "CONCURRENCY" + 1,
"CORR_OLDID" = p1(i), "METADATA" = p2(i), "DATA" = p3(i), "PERSISTENCEVERSION" = 'VERSION',
"SAGATYPEVERSION" = p4(i) where "ID" = p5(i) and "CONCURRENCY" = p6(i); for i in 1 .. p1.count loop
s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open r for select s
from dual; dbms_sql.return_result(r); end;

-- round: EVENT_INSERT
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of number; p2 t2; type t3 is table of varchar2(4000); p3 t3;
type t4 is table of number; p4 t4; type t5 is table of varchar2(4000); p5 t5; type t6 is table of
varchar2(4000); p6 t6; type t7 is table of varchar2(4000); p7 t7; type t8 is table of
varchar2(4000); p8 t8; type t9 is table of timestamp(6); p9 t9; type t10 is table of varchar2(4000);
p10 t10; type t11 is table of raw(2000); p11 t11; type t12 is table of number; p12 t12; begin select
c1, c2, c3, c4, c5, c6, c7, c8, to_timestamp(c9, 'YYYY-MM-DD HH24:MI:SS.FF6'), c10, hextoraw(c11),
c12 bulk collect into p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12 from json_table(j, '$[*]'
error on error columns (n for ordinality, c1 varchar2(4000) path '$[0]', c2 number path '$[1]', c3
varchar2(4000) path '$[2]', c4 number path '$[3]', c5 varchar2(4000) path '$[4]', c6 varchar2(4000)
path '$[5]', c7 varchar2(4000) path '$[6]', c8 varchar2(4000) path '$[7]', c9 varchar2(26) path
'$[8]', c10 varchar2(4000) path '$[9]', c11 varchar2(4000) path '$[10]', c12 number path '$[11]'))
order by n; forall i in 1 .. p1.count insert into "PAWL_EVENTS" ("STREAM", "VERSION", "TYPE",
"TYPEVERSION", "MESSAGEID", "CORRELATIONID", "CAUSATIONID", "DISPATCHID", "AT", "HEADERS", "BODY")
values (case when p12(i) = 0 or p2(i) = 1 or exists (select 1 from "PAWL_EVENTS" where "STREAM" =
p1(i) and "VERSION" = p2(i) - 1) then p1(i) end, p2(i), p3(i), p4(i), p5(i), p6(i), p7(i), p8(i),
p9(i), p10(i), p11(i)); for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then
'm' else 'a' end; end loop; end; open r for select s from dual; dbms_sql.return_result(r); end;

-- round: CHECKPOINT_ADD
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of number; p2 t2; type t3 is table of timestamp(6); p3 t3;
begin select c1, c2, to_timestamp(c3, 'YYYY-MM-DD HH24:MI:SS.FF6') bulk collect into p1, p2, p3 from
json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(4000) path '$[0]', c2
number path '$[1]', c3 varchar2(26) path '$[2]')) order by n; forall i in 1 .. p1.count insert into
"PAWL_CHECKPOINTS" ("NAME", "POSITION", "AT") values (p1(i), p2(i), p3(i)) ; for i in 1 .. p1.count
loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open r for
select s from dual; dbms_sql.return_result(r); end;

-- round: TIMEOUT_DELETE
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of varchar2(4000); p2 t2; type t3 is table of number; p3 t3;
begin select c1, c2, c3 bulk collect into p1, p2, p3 from json_table(j, '$[*]' error on error
columns (n for ordinality, c1 varchar2(4000) path '$[0]', c2 varchar2(4000) path '$[1]', c3 number
path '$[2]')) order by n; forall i in 1 .. p1.count delete from "PAWL_TIMEOUTS" where "ID" = p1(i)
and (p2(i) is null or "OWNER" = p2(i)) and (p3(i) = 0 or "GENERATION" = p3(i)); for i in 1 ..
p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open
r for select s from dual; dbms_sql.return_result(r); end;

-- round: OUTBOX_SETTLE
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of number; p2 t2; type t3 is table of timestamp(6); p3 t3;
type t4 is table of varchar2(4000); p4 t4; type t5 is table of number; p5 t5; begin select c1, c2,
to_timestamp(c3, 'YYYY-MM-DD HH24:MI:SS.FF6'), c4, c5 bulk collect into p1, p2, p3, p4, p5 from
json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(4000) path '$[0]', c2
number path '$[1]', c3 varchar2(26) path '$[2]', c4 varchar2(4000) path '$[3]', c5 number path
'$[4]')) order by n; forall i in 1 .. p1.count update "PAWL_OUTBOX" set "STATE" = p1(i), "ATTEMPTS"
= p2(i), "NEXTATTEMPT" = p3(i), "DISPATCHEDAT" = p4(i) where "ID" = p5(i) and "STATE" = 'pending';
for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end
loop; end; open r for select s from dual; dbms_sql.return_result(r); end;

-- round: OUTBOX_ENABLE
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
timestamp(6); p1 t1; type t2 is table of number; p2 t2; begin select to_timestamp(c1, 'YYYY-MM-DD
HH24:MI:SS.FF6'), c2 bulk collect into p1, p2 from json_table(j, '$[*]' error on error columns (n
for ordinality, c1 varchar2(26) path '$[0]', c2 number path '$[1]')) order by n; forall i in 1 ..
p1.count update "PAWL_OUTBOX" set "STATE" = 'pending', "NEXTATTEMPT" = p1(i), "ATTEMPTSBEFORE" =
"ATTEMPTS" + 1, "ATTEMPTS" = "ATTEMPTS" + 1 where "ID" = p2(i) and "STATE" = 'dead'; for i in 1 ..
p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open
r for select s from dual; dbms_sql.return_result(r); end;

-- round: TIMEOUT_CANCEL_ALL
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; begin select c1 bulk collect into p1 from json_table(j, '$[*]' error on error
columns (n for ordinality, c1 varchar2(4000) path '$[0]')) order by n; forall i in 1 .. p1.count
delete from "PAWL_TIMEOUTS" where (("SAGAID" = p1(i) and "NAME" <> chr(1)) or ("SAGAID" = p1(i) and
"NAME" = chr(1))); for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm'
else 'a' end; end loop; end; open r for select s from dual; dbms_sql.return_result(r); end;

-- round: TIMEOUT_REARM
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of varchar2(4000); p2 t2; type t3 is table of timestamp(6);
p3 t3; type t4 is table of varchar2(4000); p4 t4; type t5 is table of varchar2(4000); p5 t5; type t6
is table of varchar2(4000); p6 t6; type t7 is table of varchar2(4000); p7 t7; type t8 is table of
varchar2(4000); p8 t8; begin select c1, c2, to_timestamp(c3, 'YYYY-MM-DD HH24:MI:SS.FF6'), c4, c5,
c6, c7, c8 bulk collect into p1, p2, p3, p4, p5, p6, p7, p8 from json_table(j, '$[*]' error on error
columns (n for ordinality, c1 varchar2(4000) path '$[0]', c2 varchar2(4000) path '$[1]', c3
varchar2(26) path '$[2]', c4 varchar2(4000) path '$[3]', c5 varchar2(4000) path '$[4]', c6
varchar2(4000) path '$[5]', c7 varchar2(4000) path '$[6]', c8 varchar2(4000) path '$[7]')) order by
n; forall i in 1 .. p1.count update "PAWL_TIMEOUTS" set "GENERATION" = "GENERATION" + 1, "SAGATYPE"
= p1(i), "DESTINATION" = p2(i), "DUE" = p3(i), "ATTEMPTS" = 0, "OWNER" = null, "LEASEEXPIRES" =
null, "LEASEWORKER" = null, "CORRELATIONID" = p4(i), "HEADERS" = p5(i), "SAGAID" = p6(i), "NAME" =
p7(i) where "ID" = p8(i); for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i) when 0
then 'm' else 'a' end; end loop; end; open r for select s from dual; dbms_sql.return_result(r); end;

-- round: OUTBOX_ADD
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of timestamp(6); p2 t2; type t3 is table of timestamp(6); p3
t3; type t4 is table of varchar2(4000); p4 t4; type t5 is table of number; p5 t5; type t6 is table
of number; p6 t6; type t7 is table of varchar2(4000); p7 t7; type t8 is table of varchar2(4000); p8
t8; type t9 is table of varchar2(4000); p9 t9; type t10 is table of varchar2(4000); p10 t10; type
t11 is table of varchar2(4000); p11 t11; type t12 is table of varchar2(4000); p12 t12; type t13 is
table of varchar2(4000); p13 t13; type t14 is table of raw(2000); p14 t14; begin select c1,
to_timestamp(c2, 'YYYY-MM-DD HH24:MI:SS.FF6'), to_timestamp(c3, 'YYYY-MM-DD HH24:MI:SS.FF6'), c4,
c5, c6, c7, c8, c9, c10, c11, c12, c13, hextoraw(c14) bulk collect into p1, p2, p3, p4, p5, p6, p7,
p8, p9, p10, p11, p12, p13, p14 from json_table(j, '$[*]' error on error columns (n for ordinality,
c1 varchar2(4000) path '$[0]', c2 varchar2(26) path '$[1]', c3 varchar2(26) path '$[2]', c4
varchar2(4000) path '$[3]', c5 number path '$[4]', c6 number path '$[5]', c7 varchar2(4000) path
'$[6]', c8 varchar2(4000) path '$[7]', c9 varchar2(4000) path '$[8]', c10 varchar2(4000) path
'$[9]', c11 varchar2(4000) path '$[10]', c12 varchar2(4000) path '$[11]', c13 varchar2(4000) path
'$[12]', c14 varchar2(4000) path '$[13]')) order by n; forall i in 1 .. p1.count insert into
"PAWL_OUTBOX" ("DISPATCHID", "STATE", "ATTEMPTS", "NEXTATTEMPT", "DUE", "AT", "SOURCE", "VERSION",
"INDEX", "ENDPOINT", "DESTINATION", "ATTEMPTSBEFORE", "MESSAGEID", "TYPE", "CORRELATIONID",
"CAUSATIONID", "HEADERS", "BODY") values (p1(i), 'pending', 0, timestamp '1970-01-01 00:00:00',
p3(i), p2(i), p4(i), p5(i), p6(i), p7(i), p8(i), 0, p9(i), p10(i), p11(i), p12(i), p13(i), p14(i)) ;
for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end
loop; end; open r for select s from dual; dbms_sql.return_result(r); end;

-- round: FOLD_SET
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of number; p2 t2; type t3 is table of number; p3 t3; type t4
is table of varchar2(4000); p4 t4; type t5 is table of varchar2(4000); p5 t5; type t6 is table of
timestamp(6); p6 t6; begin select c1, c2, c3, c4, c5, to_timestamp(c6, 'YYYY-MM-DD HH24:MI:SS.FF6')
bulk collect into p1, p2, p3, p4, p5, p6 from json_table(j, '$[*]' error on error columns (n for
ordinality, c1 varchar2(4000) path '$[0]', c2 number path '$[1]', c3 number path '$[2]', c4
varchar2(4000) path '$[3]', c5 varchar2(4000) path '$[4]', c6 varchar2(26) path '$[5]')) order by n;
forall i in 1 .. p1.count update "PAWL_FOLDS" set "VERSION" = p2(i), "TYPEVERSION" = p3(i), "STATE"
= p4(i), "DISPATCHES" = p5(i), "AT" = p6(i) where "STREAM" = p1(i) and "VERSION" < p2(i); for i in 1
.. p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end;
open r for select s from dual; dbms_sql.return_result(r); end;

-- round: QUEUE_SEND
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of timestamp(6); p2 t2; type t3 is table of number; p3 t3;
type t4 is table of varchar2(4000); p4 t4; type t5 is table of varchar2(4000); p5 t5; type t6 is
table of varchar2(4000); p6 t6; type t7 is table of varchar2(4000); p7 t7; type t8 is table of
varchar2(4000); p8 t8; type t9 is table of raw(2000); p9 t9; begin select c1, to_timestamp(c2,
'YYYY-MM-DD HH24:MI:SS.FF6'), c3, c4, c5, c6, c7, c8, hextoraw(c9) bulk collect into p1, p2, p3, p4,
p5, p6, p7, p8, p9 from json_table(j, '$[*]' error on error columns (n for ordinality, c1
varchar2(4000) path '$[0]', c2 varchar2(26) path '$[1]', c3 number path '$[2]', c4 varchar2(4000)
path '$[3]', c5 varchar2(4000) path '$[4]', c6 varchar2(4000) path '$[5]', c7 varchar2(4000) path
'$[6]', c8 varchar2(4000) path '$[7]', c9 varchar2(4000) path '$[8]')) order by n; forall i in 1 ..
p1.count insert into "PAWL_QUEUE" ("QUEUE", "DUE", "PLACED", "ATTEMPTS", "DEATHS", "WAITINGSINCE",
"ERROR", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY") values (p1(i),
p2(i), p2(i), p3(i), 0, timestamp '1970-01-01 00:00:00', chr(1), p4(i), p5(i), p6(i), p7(i), p8(i),
p9(i)) ; for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a'
end; end loop; end; open r for select s from dual; dbms_sql.return_result(r); end;

-- round: AGGREGATOR_ADD
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of varchar2(4000); p2 t2; type t3 is table of
varchar2(4000); p3 t3; type t4 is table of timestamp(6); p4 t4; type t5 is table of varchar2(4000);
p5 t5; type t6 is table of varchar2(4000); p6 t6; type t7 is table of varchar2(4000); p7 t7; type t8
is table of varchar2(4000); p8 t8; type t9 is table of varchar2(4000); p9 t9; type t10 is table of
raw(2000); p10 t10; begin select c1, c2, c3, to_timestamp(c4, 'YYYY-MM-DD HH24:MI:SS.FF6'), c5, c6,
c7, c8, c9, hextoraw(c10) bulk collect into p1, p2, p3, p4, p5, p6, p7, p8, p9, p10 from
json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(4000) path '$[0]', c2
varchar2(4000) path '$[1]', c3 varchar2(4000) path '$[2]', c4 varchar2(26) path '$[3]', c5
varchar2(4000) path '$[4]', c6 varchar2(4000) path '$[5]', c7 varchar2(4000) path '$[6]', c8
varchar2(4000) path '$[7]', c9 varchar2(4000) path '$[8]', c10 varchar2(4000) path '$[9]')) order by
n; forall i in 1 .. p1.count insert into "PAWL_AGGREGATOR" ("NAME", "PARTITION", "KEY", "AT",
"MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID", "HEADERS", "BODY") values (p1(i), p2(i), p3(i),
p4(i), p5(i), p6(i), p7(i), p8(i), p9(i), p10(i)) ; for i in 1 .. p1.count loop s := s || case
sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open r for select s from dual;
dbms_sql.return_result(r); end;

-- round: AGGREGATOR_DELETE_ALL
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; begin select c1 bulk collect into p1 from json_table(j, '$[*]' error on error
columns (n for ordinality, c1 varchar2(4000) path '$[0]')) order by n; forall i in 1 .. p1.count
delete from "PAWL_AGGREGATOR" where "PARTITION" = p1(i); for i in 1 .. p1.count loop s := s || case
sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open r for select s from dual;
dbms_sql.return_result(r); end;

-- round: AGGREGATOR_RELEASE
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of varchar2(4000); p2 t2; begin select c1, c2 bulk collect
into p1, p2 from json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(4000)
path '$[0]', c2 varchar2(4000) path '$[1]')) order by n; forall i in 1 .. p1.count update
"PAWL_AGGREGATOR" set "SESSION" = null, "LEASEEXPIRES" = null, "LEASEWORKER" = null where
"PARTITION" = p1(i) and "SESSION" = p2(i); for i in 1 .. p1.count loop s := s || case
sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open r for select s from dual;
dbms_sql.return_result(r); end;

-- round: FLUSH_SET
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
timestamp(6); p1 t1; type t2 is table of number; p2 t2; type t3 is table of number; p3 t3; type t4
is table of varchar2(4000); p4 t4; type t5 is table of varchar2(4000); p5 t5; begin select
to_timestamp(c1, 'YYYY-MM-DD HH24:MI:SS.FF6'), c2, c3, c4, c5 bulk collect into p1, p2, p3, p4, p5
from json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(26) path '$[0]', c2
number path '$[1]', c3 number path '$[2]', c4 varchar2(4000) path '$[3]', c5 varchar2(4000) path
'$[4]')) order by n; forall i in 1 .. p1.count update "PAWL_AGGREGATOR_FLUSH" set "DUE" = p1(i),
"ATTEMPTS" = p2(i), "DEAD" = p3(i), "ERROR" = p4(i) where "PARTITION" = p5(i); for i in 1 ..
p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open
r for select s from dual; dbms_sql.return_result(r); end;

-- round: DEAD_ADD
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of varchar2(4000); p2 t2; type t3 is table of
varchar2(4000); p3 t3; type t4 is table of varchar2(4000); p4 t4; type t5 is table of number; p5 t5;
type t6 is table of number; p6 t6; type t7 is table of varchar2(4000); p7 t7; type t8 is table of
timestamp(6); p8 t8; type t9 is table of varchar2(4000); p9 t9; type t10 is table of varchar2(4000);
p10 t10; type t11 is table of varchar2(4000); p11 t11; type t12 is table of varchar2(4000); p12 t12;
type t13 is table of varchar2(4000); p13 t13; type t14 is table of raw(2000); p14 t14; begin select
c1, c2, c3, c4, c5, c6, c7, to_timestamp(c8, 'YYYY-MM-DD HH24:MI:SS.FF6'), c9, c10, c11, c12, c13,
hextoraw(c14) bulk collect into p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14 from
json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(4000) path '$[0]', c2
varchar2(4000) path '$[1]', c3 varchar2(4000) path '$[2]', c4 varchar2(4000) path '$[3]', c5 number
path '$[4]', c6 number path '$[5]', c7 varchar2(4000) path '$[6]', c8 varchar2(26) path '$[7]', c9
varchar2(4000) path '$[8]', c10 varchar2(4000) path '$[9]', c11 varchar2(4000) path '$[10]', c12
varchar2(4000) path '$[11]', c13 varchar2(4000) path '$[12]', c14 varchar2(4000) path '$[13]'))
order by n; forall i in 1 .. p1.count insert into "PAWL_DEAD" ("ENDPOINT", "QUEUE", "CODE", "ERROR",
"ATTEMPTS", "DEATHS", "HISTORY", "AT", "MESSAGEID", "TYPE", "CORRELATIONID", "CAUSATIONID",
"HEADERS", "BODY") values (p1(i), p2(i), p3(i), p4(i), p5(i), p6(i), p7(i), p8(i), p9(i), p10(i),
p11(i), p12(i), p13(i), p14(i)) ; for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i)
when 0 then 'm' else 'a' end; end loop; end; open r for select s from dual;
dbms_sql.return_result(r); end;

-- round: SUBSCRIPTION_ADD
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of varchar2(4000); p2 t2; begin select c1, c2 bulk collect
into p1, p2 from json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(4000)
path '$[0]', c2 varchar2(4000) path '$[1]')) order by n; forall i in 1 .. p1.count insert into
"PAWL_SUBSCRIPTIONS" ("TYPE", "QUEUE") values (p1(i), p2(i)) ; for i in 1 .. p1.count loop s := s ||
case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; open r for select s from
dual; dbms_sql.return_result(r); end;

-- round: HISTORY_ADD
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of varchar2(4000); p2 t2; type t3 is table of
varchar2(4000); p3 t3; type t4 is table of varchar2(4000); p4 t4; type t5 is table of
varchar2(4000); p5 t5; type t6 is table of varchar2(4000); p6 t6; type t7 is table of number; p7 t7;
type t8 is table of number; p8 t8; type t9 is table of number; p9 t9; type t10 is table of
timestamp(6); p10 t10; type t11 is table of varchar2(4000); p11 t11; type t12 is table of
varchar2(4000); p12 t12; begin select c1, c2, c3, c4, c5, c6, c7, c8, c9, to_timestamp(c10,
'YYYY-MM-DD HH24:MI:SS.FF6'), c11, c12 bulk collect into p1, p2, p3, p4, p5, p6, p7, p8, p9, p10,
p11, p12 from json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(4000) path
'$[0]', c2 varchar2(4000) path '$[1]', c3 varchar2(4000) path '$[2]', c4 varchar2(4000) path '$[3]',
c5 varchar2(4000) path '$[4]', c6 varchar2(4000) path '$[5]', c7 number path '$[6]', c8 number path
'$[7]', c9 number path '$[8]', c10 varchar2(26) path '$[9]', c11 varchar2(4000) path '$[10]', c12
varchar2(4000) path '$[11]')) order by n; forall i in 1 .. p1.count insert into "PAWL_HISTORY"
("ENDPOINT", "SOURCE", "MESSAGEID", "TYPE", "KIND", "OUTCOME", "VERSION", "ATTEMPTS", "DURATION",
"AT", "ERROR", "OUT") values (p1(i), p2(i), p3(i), p4(i), p5(i), p6(i), p7(i), p8(i), p9(i), p10(i),
p11(i), p12(i)); for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm'
else 'a' end; end loop; end; open r for select s from dual; dbms_sql.return_result(r); end;

-- round: three sets
declare s varchar2(4000); r sys_refcursor; begin declare j clob := ?; type t1 is table of
varchar2(4000); p1 t1; type t2 is table of number; p2 t2; type t3 is table of timestamp(6); p3 t3;
begin select c1, c2, to_timestamp(c3, 'YYYY-MM-DD HH24:MI:SS.FF6') bulk collect into p1, p2, p3 from
json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(4000) path '$[0]', c2
number path '$[1]', c3 varchar2(26) path '$[2]')) order by n; forall i in 1 .. p1.count insert into
"PAWL_CHECKPOINTS" ("NAME", "POSITION", "AT") values (p1(i), p2(i), p3(i)) ; for i in 1 .. p1.count
loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; declare j clob
:= ?; type t1 is table of varchar2(4000); p1 t1; type t2 is table of number; p2 t2; type t3 is table
of timestamp(6); p3 t3; begin select c1, c2, to_timestamp(c3, 'YYYY-MM-DD HH24:MI:SS.FF6') bulk
collect into p1, p2, p3 from json_table(j, '$[*]' error on error columns (n for ordinality, c1
varchar2(4000) path '$[0]', c2 number path '$[1]', c3 varchar2(26) path '$[2]')) order by n; forall
i in 1 .. p1.count insert into "PAWL_CHECKPOINTS" ("NAME", "POSITION", "AT") values (p1(i), p2(i),
p3(i)) ; for i in 1 .. p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a'
end; end loop; end; declare j clob := ?; type t1 is table of varchar2(4000); p1 t1; type t2 is table
of number; p2 t2; type t3 is table of timestamp(6); p3 t3; begin select c1, c2, to_timestamp(c3,
'YYYY-MM-DD HH24:MI:SS.FF6') bulk collect into p1, p2, p3 from json_table(j, '$[*]' error on error
columns (n for ordinality, c1 varchar2(4000) path '$[0]', c2 number path '$[1]', c3 varchar2(26)
path '$[2]')) order by n; forall i in 1 .. p1.count insert into "PAWL_CHECKPOINTS" ("NAME",
"POSITION", "AT") values (p1(i), p2(i), p3(i)) ; for i in 1 .. p1.count loop s := s || case
sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end; declare j clob := ?; type t1 is
table of varchar2(4000); p1 t1; type t2 is table of number; p2 t2; type t3 is table of timestamp(6);
p3 t3; begin select c1, c2, to_timestamp(c3, 'YYYY-MM-DD HH24:MI:SS.FF6') bulk collect into p1, p2,
p3 from json_table(j, '$[*]' error on error columns (n for ordinality, c1 varchar2(4000) path
'$[0]', c2 number path '$[1]', c3 varchar2(26) path '$[2]')) order by n; forall i in 1 .. p1.count
insert into "PAWL_CHECKPOINTS" ("NAME", "POSITION", "AT") values (p1(i), p2(i), p3(i)) ; for i in 1
.. p1.count loop s := s || case sql%bulk_rowcount(i) when 0 then 'm' else 'a' end; end loop; end;
open r for select s from dual; dbms_sql.return_result(r); end;

-- settings
alter session set nls_comp = 'BINARY' nls_sort = 'BINARY' nls_numeric_characters = '.,'
nls_length_semantics = 'BYTE' nls_timestamp_format = 'YYYY-MM-DD HH24:MI:SS.FF6' time_zone =
'+00:00' isolation_level = read committed commit_logging = 'IMMEDIATE' commit_wait = 'WAIT'
ddl_lock_timeout = 27000;

-- begin
declare i varchar2(100); begin i := dbms_transaction.local_transaction_id(true); end;

-- commit
commit;

-- rollback
rollback;

-- savepoint
savepoint pawl_set;

-- to the savepoint
rollback to savepoint pawl_set;

-- who lives
select case when sys_extract_utc(systimestamp) < timestamp '1970-01-01 00:00:15' +
numtodsinterval(0, 'DAY') + numtodsinterval(0.000000, 'SECOND') then '1' else '0' end || case when
sys_extract_utc(systimestamp) < timestamp '1970-01-01 00:00:15' + numtodsinterval(19675, 'DAY') +
numtodsinterval(80000.123456, 'SECOND') then '1' else '0' end from dual;

-- doctor: clock
select extract(day from d) * 86400000000 + extract(hour from d) * 3600000000 + extract(minute from
d) * 60000000 + round(extract(second from d) * 1000000), null, null from (select
sys_extract_utc(systimestamp) - timestamp '1970-01-01 00:00:00' d from dual);

-- doctor: indexes
select 2, 'the index ' || index_name || ' of ' || table_name || ' is ' || lower(status), 'alter
index "' || index_name || '" rebuild' from all_indexes where table_owner = sys_context('userenv',
'current_schema') and status = 'UNUSABLE';

-- doctor: quota
select 1, 'the tablespace ' || tablespace_name || ' has ' || round((max_bytes - bytes) / 1048576) ||
' MB left for this user', null from user_ts_quotas where max_bytes > 0 and bytes > max_bytes * 0.9;

-- doctor: order
select 1, 'numbers of ' || table_name || '.' || column_name || ' are not ordered: on a cluster (RAC)
rows are taken out of their order, and news are missed', 'alter table "' || table_name || '" modify
("' || column_name || '" generated always as identity (order))' from all_tab_identity_cols where
owner = sys_context('userenv', 'current_schema') and '"' || table_name || '"' in ('"PAWL_QUEUE"',
'"PAWL_OUTBOX"', '"PAWL_EVENTS"', '"PAWL_AGGREGATOR"', '"PAWL_HISTORY"') and identity_options like
'%ORDER_FLAG: N%' order by table_name;

-- doctor: histogram
select 1, 'the column STATE of ' || table_name || ' has statistics without a histogram: rows that
are pending may be found by a scan', 'exec dbms_stats.set_table_prefs(''' || owner || ''', ''' ||
table_name || ''', ''METHOD_OPT'', ''for all columns size auto for columns size 254 STATE'');
dbms_stats.gather_table_stats(''' || owner || ''', ''' || table_name || ''')' from
all_tab_col_statistics where owner = sys_context('userenv', 'current_schema') and '"' || table_name
|| '"' = '"PAWL_OUTBOX"' and column_name = 'STATE' and num_distinct > 1 and histogram = 'NONE';

-- Statements whose parameters are not taken once and in their order
-- LEASE_UPDATE: 2 3 4 5 6 1
-- QUEUE_FIND: 1 2 2 3 3 4 5 6 7 8 9
-- QUEUE_FIND_TIE: 1 2 2 3 3 4 5 6 7
-- QUEUE_FIND_ONE: 1 2 1 2 2 3 3 4 5 6 7 8 9
-- TIMEOUT_LIST: 1 2 2 3 4
-- TIMEOUT_LIST_SAGA: 1 1 2 2 3 4
-- OUTBOX_FIND_ID: 1 1 1 2 2 3 4 4 5 5 6 6 7 7 8 8 9 9 10 11
-- OUTBOX_FIND_DISPATCH: 2 1 1 2 2 3 4 4 5 5 6 6 7 7 8 8 9 9 10 11
-- OUTBOX_FIND_DEAD: 1 1 2 2 3 4 4 5 5 6 6 7 7 8 8 9 9 10 11
-- OUTBOX_FIND_HELD: 1 1 2 2 3 4 4 5 5 6 6 7 7 8 8 9 9 10 11
-- OUTBOX_FIND_PENDING: 1 1 2 2 3 4 4 5 5 6 6 7 7 8 8 9 9 10 11
-- OUTBOX_FIND_TRIED: 1 1 2 2 3 4 4 5 5 6 6 7 7 8 8 9 9 10 11
-- OUTBOX_FIND_ANY: 1 1 2 2 3 4 4 5 5 6 6 7 7 8 8 9 9 10 11
-- EVENT_LIST_STREAM: 1 2 3 3 4 4 5 5 6
-- EVENT_LIST_POSITION: 1 2 3 3 4 4 5 5 6
-- EVENT_LIST_SEQ: 1 2 3 3 4 4 5 5 6
-- EVENT_LIST_STREAM_BACK: 1 2 3 3 4 4 5 5 6
-- EVENT_LIST_POSITION_BACK: 1 2 3 3 4 4 5 5 6
-- EVENT_LIST_SEQ_BACK: 1 2 3 3 4 4 5 5 6
-- DEAD_FIND: 1 2 2 3 3 4 4 5 5 8 8 9 9 10 6 7 11
-- DEAD_FIND_ONE: 1 2 1 2 2 3 3 4 4 5 5 8 8 9 9 10 2 6 2 7 11
-- HISTORY_FIND: 1 1 2 2 3 4
-- HISTORY_FIND_SOURCE: 1 1 1 2 2 3 4
-- HISTORY_FIND_MESSAGE: 2 1 1 2 2 3 4
-- PARTITION_SCAN: 1 2 2 3 3 4 5
-- WORKER_INSERT: 1 2 3 4 5 4 6 7 8 9 10 4 6
-- WORKER_REPLACE: 1 2 3 4 3 5 7 8 9 10 3 5 6
-- QUEUE_SEND: 1 2 2 3 4 5 6 7 8 9
-- TIMEOUT_DELETE: 1 2 2 3 3
-- TIMEOUT_RELEASE: 1 2 2 3 3
-- TIMEOUT_RETRY: 4 5 1 2 2 3 3
-- TIMEOUT_CANCEL_ALL: 1 1
-- OUTBOX_DUE: 1 3 3 2
-- OUTBOX_NEXT: 1 2 2
-- OUTBOX_ADD: 1 3 2 4 5 6 7 8 9 10 11 12 13 14
-- OUTBOX_ATTEMPT: 1 2 3 4 5 1
-- HISTORY_SWEEP: 3 2 1
-- EVENT_INSERT: 12 2 1 2 1 2 3 4 5 6 7 8 9 10 11
-- CHECKPOINT_MOVE: 2 3 1 4
-- AGGREGATOR_DELETE: 1 2 3 3
-- FLUSH_DONE: 1 1
-- QUEUE_CLAIM: 1 2 3 1 2
-- QUEUE_CLAIM_MORE: 4 1 2 3 1 2
-- OUTBOX_BLOCK_BEHIND: 2 1
-- WORKER_FOLD: 2 1
-- OUTBOX_SAME: 3 1 2
-- BODIES_CLEAR: 2 3 4
-- TIMEOUT_CLAIM: 1 2 3 4 1 2 3
-- TIMEOUT_CLAIM_ANY: 1 2 3 1 2
-- TIMEOUT_FOREIGN: 2 1
-- FOLD_SET: 2 3 4 5 6 1 2

-- Parameters of the writes
-- WORKER_FENCE: uuid time int int int int int int uuid int
-- QUEUE_DELETE: int text
-- INBOX_MARK: text text inbox time
-- EVENT_INSERT: text int text int32 text text text uuid_or_null time text bytes bool
-- CHECKPOINT_ADD: text int time
-- TIMEOUT_DELETE: uuid null int
-- OUTBOX_SETTLE: state int32 time null int
-- OUTBOX_ENABLE: time int
-- TIMEOUT_CANCEL_ALL: uuid
-- TIMEOUT_REARM: text text time text text uuid_or_null text uuid
-- OUTBOX_ADD: uuid time time text int int32 text text text text text text text bytes
-- FOLD_SET: text int int32 text text time
-- QUEUE_SEND: text time int32 text text text text text bytes
-- AGGREGATOR_ADD: text text text time text text text text text bytes
-- AGGREGATOR_DELETE_ALL: text
-- AGGREGATOR_RELEASE: text uuid
-- FLUSH_SET: time int32 flag error_text text
-- DEAD_ADD: text text text error_text int32 int32 error_text time text text text text text bytes
-- SUBSCRIPTION_ADD: text text
-- HISTORY_ADD: text text text text text text int int32 int time error_text text
