-- The script of the tables: tests/golden/schema.

-- VERSION_GET
select `Version` from `pawl_schema` where `Part` = 'pawl';

-- WORKER_DELETE
delete from `pawl_workers` where `Id` = ?;

-- WORKER_COUNTERS
select cast(coalesce(sum(`Messages`), 0) as signed), cast(coalesce(sum(`Timeouts`), 0) as signed),
cast(coalesce(sum(`Flushes`), 0) as signed), cast(coalesce(sum(`Failures`), 0) as signed),
cast(coalesce(sum(`Conflicts`), 0) as signed), cast(coalesce(sum(`Dead`), 0) as signed) from
`pawl_workers`;

-- WORKER_LIST
select `Id`, `Endpoint`, `Types`, `Epoch`, `Pid`, `Seen`, `Process`, `Seen`, `Messages`, `Timeouts`,
`Flushes`, `Failures`, `Conflicts`, `Dead`, `Host`, `Program`, `ProgramVersion`, `PawlVersion`,
`Started` from `pawl_workers` where `Epoch` > 0 order by `Id`;

-- WORKER_LIVES
select `Process`, `Seen` from `pawl_workers` where `Epoch` > 0;

-- LEAD_LIST
select substr(l.`Name`, 6), l.`Worker`, l.`Expires`, w.`Process`, w.`Seen` from `pawl_leases` l join
`pawl_workers` w on w.`Id` = l.`Worker` where substr(l.`Name`, 1, 5) = 'lead:' and l.`Expires` > ?;

-- LEAD_GET
select l.`Worker`, l.`Epoch`, l.`Expires`, w.`Id`, w.`Process`, w.`Seen` from `pawl_leases` l left
join `pawl_workers` w on w.`Id` = l.`Worker` where l.`Name` = ?;

-- LEASE_INSERT
insert into `pawl_leases` (`Name`, `Worker`, `Process`, `Pid`, `Epoch`, `Expires`) values (?, ?, ?,
?, ?, ?);

-- LEASE_UPDATE
update `pawl_leases` set `Worker` = ?, `Process` = ?, `Pid` = ?, `Epoch` = ?, `Expires` = ? where
`Name` = ?;

-- LEASE_DELETE
delete from `pawl_leases` where `Name` = ? and `Worker` = ?;

-- LEASE_DELETE_ALL
delete from `pawl_leases` where `Worker` = ?;

-- QUEUE_LIST
select `Seq`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `History`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body`, `Error` from `pawl_queue` where `Queue` = ? order
by `Placed`, `Seq` limit ?;

-- QUEUE_FIND
select `Seq`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `History`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body`, `Error` from `pawl_queue` force index
(`pawl_queue_due`) where `Queue` = ? and (? = '' or `MessageId` = ?) and (? = '' or `Type` = ?) and
`Due` >= ? and `Due` <= ? and `Seq` <= ? and (`Due` > ? or `Seq` > ?) order by `Due`, `Seq` limit ?;

-- QUEUE_FIND_TIE
select `Seq`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `History`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body`, `Error` from `pawl_queue` force index
(`pawl_queue_due`) where `Queue` = ? and (? = '' or `MessageId` = ?) and (? = '' or `Type` = ?) and
`Due` = ? and `Seq` <= ? and `Seq` > ? order by `Due`, `Seq` limit ?;

-- QUEUE_FIND_ONE
select `Seq`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `History`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body`, `Error` from `pawl_queue` where `Queue` = ? and
`MessageId` = ? and `Queue` = ? and (? = '' or `MessageId` = ?) and (? = '' or `Type` = ?) and `Due`
>= ? and `Due` <= ? and `Seq` <= ? and (`Due` > ? or `Seq` > ?) order by `MessageId` limit ?;

-- QUEUE_RETRIED
select `Seq`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `History`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_queue` where `Seq` in (select `Seq`
from (select `Seq`, `Attempts`, `Placed`, `Type` from `pawl_queue` force index (`pawl_queue_due`)
where `Queue` = ? and `Due` > ? order by `Due`, `Seq` limit ?) looked where `Attempts` > 0 and
`Type` = ?) order by `Placed`, `Seq` limit ?;

-- QUEUE_NAME
select `Queue` from `pawl_queue` where `Queue` > ? order by `Queue` limit 1;

-- QUEUE_READY
select count(*), min(`Due`) from (select `Due` from `pawl_queue` where `Queue` = ? and `Due` <= ?
order by `Due` limit ?) counted;

-- QUEUE_SCHEDULED
select count(*) from (select 1 as `One` from `pawl_queue` force index (`pawl_queue_due`) where
`Queue` = ? and `Due` > ? limit ?) counted;

-- QUEUE_COUNT_RETRIED
select count(*), min(`Placed`) from (select `Seq`, `Attempts`, `Placed`, `Type` from `pawl_queue`
force index (`pawl_queue_due`) where `Queue` = ? and `Due` > ? order by `Due`, `Seq` limit ?) looked
where `Attempts` > 0;

-- INBOX_COUNT
select count(*) from (select 1 as `One` from `pawl_inbox` limit ?) counted;

-- TIMEOUT_LIST
select `Id`, `Generation`, `SagaId`, `SagaType`, `Name`, `Destination`, `Due`, `Headers`,
`CorrelationId`, `Attempts`, `Owner`, `LeaseExpires` from `pawl_timeouts` force index
(`pawl_timeouts_due`) where `Destination` = ? and `Due` >= ? and (`Due` > ? or `Id` > ?) order by
`Due`, `Id` limit ?;

-- TIMEOUT_LIST_SAGA
select `Id`, `Generation`, `SagaId`, `SagaType`, `Name`, `Destination`, `Due`, `Headers`,
`CorrelationId`, `Attempts`, `Owner`, `LeaseExpires` from `pawl_timeouts` where ((`SagaId` = ? and
`Name` <> '') or (`SagaId` = ? and `Name` = '')) and `Due` >= ? and (`Due` > ? or `Id` > ?) order by
`Due`, `Id` limit ?;

-- TIMEOUT_NAME
select `Destination` from `pawl_timeouts` where `Destination` > ? order by `Destination` limit 1;

-- TIMEOUT_READY
select count(*), min(`Due`) from (select `Due` from `pawl_timeouts` where `Destination` = ? and
`Due` <= ? order by `Due` limit ?) counted;

-- TIMEOUT_SCHEDULED
select count(*) from (select 1 as `One` from `pawl_timeouts` where `Destination` = ? and `Due` > ?
limit ?) counted;

-- OUTBOX_PENDING
select count(*) from (select 1 as `One` from `pawl_outbox` where `State` = 'pending' limit ?)
counted;

-- OUTBOX_FIND_ID
select `Id`, `NextAttempt`, `Version`, `Index`, `Attempts`, `DispatchId`, `Source`, `Endpoint`,
`Destination`, `Due`, `At`, `AttemptsBefore`, `MessageId`, `Type`, `CorrelationId`, `CausationId`,
`Headers`, `Body`, `State`, `DispatchedAt` from `pawl_outbox` where `Id` = ? and (? = 0 or `Id` = ?)
and (? is null or `DispatchId` = ?) and `Id` > ? and (? = 0 or (? & case `State` when 'pending' then
1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0
end) <> 0) and (? = '' or `Endpoint` = ?) and (? = '' or `Source` = ?) and (? = '' or `Destination`
= ?) and (? = '' or `Type` = ?) and (? = '' or `CausationId` = ?) and `Attempts` >= ? order by `Id`
limit ?;

-- OUTBOX_FIND_DISPATCH
select `Id`, `NextAttempt`, `Version`, `Index`, `Attempts`, `DispatchId`, `Source`, `Endpoint`,
`Destination`, `Due`, `At`, `AttemptsBefore`, `MessageId`, `Type`, `CorrelationId`, `CausationId`,
`Headers`, `Body`, `State`, `DispatchedAt` from `pawl_outbox` where `DispatchId` = ? and (? = 0 or
`Id` = ?) and (? is null or `DispatchId` = ?) and `Id` > ? and (? = 0 or (? & case `State` when
'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded'
then 16 else 0 end) <> 0) and (? = '' or `Endpoint` = ?) and (? = '' or `Source` = ?) and (? = '' or
`Destination` = ?) and (? = '' or `Type` = ?) and (? = '' or `CausationId` = ?) and `Attempts` >= ?
order by `Id` limit ?;

-- OUTBOX_FIND_DEAD
select `Id`, `NextAttempt`, `Version`, `Index`, `Attempts`, `DispatchId`, `Source`, `Endpoint`,
`Destination`, `Due`, `At`, `AttemptsBefore`, `MessageId`, `Type`, `CorrelationId`, `CausationId`,
`Headers`, `Body`, `State`, `DispatchedAt` from `pawl_outbox` force index (`pawl_outbox_pending`)
where `State` = 'dead' and (? = 0 or `Id` = ?) and (? is null or `DispatchId` = ?) and `Id` > ? and
(? = 0 or (? & case `State` when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when
'dead' then 8 when 'discarded' then 16 else 0 end) <> 0) and (? = '' or `Endpoint` = ?) and (? = ''
or `Source` = ?) and (? = '' or `Destination` = ?) and (? = '' or `Type` = ?) and (? = '' or
`CausationId` = ?) and `Attempts` >= ? order by `Id` limit ?;

-- OUTBOX_FIND_HELD
select `Id`, `NextAttempt`, `Version`, `Index`, `Attempts`, `DispatchId`, `Source`, `Endpoint`,
`Destination`, `Due`, `At`, `AttemptsBefore`, `MessageId`, `Type`, `CorrelationId`, `CausationId`,
`Headers`, `Body`, `State`, `DispatchedAt` from `pawl_outbox` force index (`pawl_outbox_pending`)
where `State` = 'held' and `Attempts` >= 0 and (? = 0 or `Id` = ?) and (? is null or `DispatchId` =
?) and `Id` > ? and (? = 0 or (? & case `State` when 'pending' then 1 when 'held' then 2 when
'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end) <> 0) and (? = '' or
`Endpoint` = ?) and (? = '' or `Source` = ?) and (? = '' or `Destination` = ?) and (? = '' or `Type`
= ?) and (? = '' or `CausationId` = ?) and `Attempts` >= ? order by `Id` limit ?;

-- OUTBOX_FIND_PENDING
select `Id`, `NextAttempt`, `Version`, `Index`, `Attempts`, `DispatchId`, `Source`, `Endpoint`,
`Destination`, `Due`, `At`, `AttemptsBefore`, `MessageId`, `Type`, `CorrelationId`, `CausationId`,
`Headers`, `Body`, `State`, `DispatchedAt` from `pawl_outbox` force index (`pawl_outbox_pending`)
where `State` = 'pending' and (? = 0 or `Id` = ?) and (? is null or `DispatchId` = ?) and `Id` > ?
and (? = 0 or (? & case `State` when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4
when 'dead' then 8 when 'discarded' then 16 else 0 end) <> 0) and (? = '' or `Endpoint` = ?) and (?
= '' or `Source` = ?) and (? = '' or `Destination` = ?) and (? = '' or `Type` = ?) and (? = '' or
`CausationId` = ?) and `Attempts` >= ? order by `Id` limit ?;

-- OUTBOX_FIND_TRIED
select `Id`, `NextAttempt`, `Version`, `Index`, `Attempts`, `DispatchId`, `Source`, `Endpoint`,
`Destination`, `Due`, `At`, `AttemptsBefore`, `MessageId`, `Type`, `CorrelationId`, `CausationId`,
`Headers`, `Body`, `State`, `DispatchedAt` from `pawl_outbox` force index (`pawl_outbox_pending`)
where `State` = 'pending' and `Attempts` > 0 and `NextAttempt` > '1970-01-01 00:00:00' and (? = 0 or
`Id` = ?) and (? is null or `DispatchId` = ?) and `Id` > ? and (? = 0 or (? & case `State` when
'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded'
then 16 else 0 end) <> 0) and (? = '' or `Endpoint` = ?) and (? = '' or `Source` = ?) and (? = '' or
`Destination` = ?) and (? = '' or `Type` = ?) and (? = '' or `CausationId` = ?) and `Attempts` >= ?
order by `Id` limit ?;

-- OUTBOX_FIND_ANY
select `Id`, `NextAttempt`, `Version`, `Index`, `Attempts`, `DispatchId`, `Source`, `Endpoint`,
`Destination`, `Due`, `At`, `AttemptsBefore`, `MessageId`, `Type`, `CorrelationId`, `CausationId`,
`Headers`, `Body`, `State`, `DispatchedAt` from `pawl_outbox` where (? = 0 or `Id` = ?) and (? is
null or `DispatchId` = ?) and `Id` > ? and (? = 0 or (? & case `State` when 'pending' then 1 when
'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end) <> 0)
and (? = '' or `Endpoint` = ?) and (? = '' or `Source` = ?) and (? = '' or `Destination` = ?) and (?
= '' or `Type` = ?) and (? = '' or `CausationId` = ?) and `Attempts` >= ? order by `Id` limit ?;

-- OUTBOX_OLDEST
select `At` from `pawl_outbox` where `State` = 'pending' order by `Id` limit 1;

-- OUTBOX_ATTEMPTS
select `Attempt`, `Outcome`, `Error`, `At`, `Duration` from `pawl_outbox_attempts` where `OutboxId`
= ? order by `Attempt`;

-- OUTBOX_HELD
select count(*) from (select 1 as `One` from `pawl_outbox` where `State` = 'held' limit ?) counted;

-- OUTBOX_DEAD
select count(*) from (select 1 as `One` from `pawl_outbox` where `State` = 'dead' limit ?) counted;

-- CHECKPOINT_GET
select `Position` from `pawl_checkpoints` where `Name` = ?;

-- EVENT_LIST_STREAM
select `Seq`, `Position`, `Stream`, `Version`, `Type`, `TypeVersion`, `MessageId`, `CorrelationId`,
`CausationId`, `DispatchId`, `At`, `Headers`, `Body` from `pawl_events` where `Stream` = ? and
`Version` > ? and (? = '' or `Type` = ?) and (? = '' or `MessageId` = ?) and (? = '' or
`CorrelationId` = ?) order by `Version` limit ?;

-- EVENT_LIST_POSITION
select `Seq`, `Position`, `Stream`, `Version`, `Type`, `TypeVersion`, `MessageId`, `CorrelationId`,
`CausationId`, `DispatchId`, `At`, `Headers`, `Body` from `pawl_events` where ? = '' and `Position`
> ? and (? = '' or `Type` = ?) and (? = '' or `MessageId` = ?) and (? = '' or `CorrelationId` = ?)
order by `Position` limit ?;

-- EVENT_LIST_SEQ
select `Seq`, `Position`, `Stream`, `Version`, `Type`, `TypeVersion`, `MessageId`, `CorrelationId`,
`CausationId`, `DispatchId`, `At`, `Headers`, `Body` from `pawl_events` where ? = '' and `Seq` > ?
and (? = '' or `Type` = ?) and (? = '' or `MessageId` = ?) and (? = '' or `CorrelationId` = ?) order
by `Seq` limit ?;

-- EVENT_LIST_STREAM_BACK
select `Seq`, `Position`, `Stream`, `Version`, `Type`, `TypeVersion`, `MessageId`, `CorrelationId`,
`CausationId`, `DispatchId`, `At`, `Headers`, `Body` from `pawl_events` where `Stream` = ? and
`Version` < ? and (? = '' or `Type` = ?) and (? = '' or `MessageId` = ?) and (? = '' or
`CorrelationId` = ?) order by `Version` desc limit ?;

-- EVENT_LIST_POSITION_BACK
select `Seq`, `Position`, `Stream`, `Version`, `Type`, `TypeVersion`, `MessageId`, `CorrelationId`,
`CausationId`, `DispatchId`, `At`, `Headers`, `Body` from `pawl_events` where ? = '' and `Position`
< ? and (? = '' or `Type` = ?) and (? = '' or `MessageId` = ?) and (? = '' or `CorrelationId` = ?)
order by `Position` desc limit ?;

-- EVENT_LIST_SEQ_BACK
select `Seq`, `Position`, `Stream`, `Version`, `Type`, `TypeVersion`, `MessageId`, `CorrelationId`,
`CausationId`, `DispatchId`, `At`, `Headers`, `Body` from `pawl_events` where ? = '' and `Seq` < ?
and (? = '' or `Type` = ?) and (? = '' or `MessageId` = ?) and (? = '' or `CorrelationId` = ?) order
by `Seq` desc limit ?;

-- BODIES_PAGE
select max(`Stream`), count(*) from (select `Stream` from `pawl_events` where `Stream` > ? and
`Stream` < ? order by `Stream`, `Version` limit ?) page;

-- BODIES_CLEAR
update `pawl_events` set `Body` = ?, `TypeVersion` = 2 where `Stream` > ? and `Stream` <= ? and `At`
< ? and `TypeVersion` = 1 and `Type` in ('pawl.dead_edited', 'pawl.dead_discarded');

-- AGGREGATOR_GET
select `Type`, `LeaseExpires`, `Id`, `Name`, `Partition`, `Key`, `At`, `Session`, `MessageId`,
`Type`, `CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_aggregator` where `Partition` =
? order by `At`, `Id`;

-- AGGREGATOR_FREE
update `pawl_aggregator` set `Session` = null, `LeaseExpires` = null, `LeaseWorker` = null where
`LeaseWorker` = ?;

-- AGGREGATOR_COUNT
select count(*) from (select 1 as `One` from `pawl_aggregator` limit ?) counted;

-- FLUSH_LIST
select `Name`, `Partition`, `Due`, `Attempts`, `Dead`, `Error` from `pawl_aggregator_flush` where
`Name` = ? and `Dead` = 0 and `Due` <= ? order by `Due`, `Partition` limit ?;

-- FLUSH_DEAD
select count(*) from (select 1 as `One` from `pawl_aggregator_flush` where `Dead` = 1 limit ?)
counted;

-- FLUSH_NAME
select `Name` from `pawl_aggregator_flush` where `Dead` = 0 and `Name` > ? order by `Name` limit 1;

-- FLUSH_READY
select count(*), min(`Due`) from (select `Due` from `pawl_aggregator_flush` where `Dead` = 0 and
`Name` = ? and `Due` <= ? order by `Due` limit ?) counted;

-- DEAD_FIND
select `Endpoint`, `Queue`, `Code`, `Error`, `Attempts`, `Deaths`, `History`, `At`, `MessageId`,
`Type`, `CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_dead` force index
(`pawl_dead_at`) where ? in ('', `Endpoint`) and (? = '' or `MessageId` = ?) and (? = '' or `Type` =
?) and (? = '' or `Code` = ?) and (? = '' or length(replace(`Error`, ?, '')) <> length(`Error`)) and
(`At` > ? or (`At` = ? and (`Endpoint` > ? or (`Endpoint` = ? and `MessageId` > ?)))) and `At` >= ?
and `At` <= ? order by `At`, `Endpoint`, `MessageId` limit ?;

-- DEAD_FIND_ONE
select `Endpoint`, `Queue`, `Code`, `Error`, `Attempts`, `Deaths`, `History`, `At`, `MessageId`,
`Type`, `CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_dead` where `Endpoint` = ? and
`MessageId` = ? and ? in ('', `Endpoint`) and (? = '' or `MessageId` = ?) and (? = '' or `Type` = ?)
and (? = '' or `Code` = ?) and (? = '' or length(replace(`Error`, ?, '')) <> length(`Error`)) and
(`At` > ? or (`At` = ? and (`Endpoint` > ? or (`Endpoint` = ? and `MessageId` > ?)))) and (? = '' or
`At` >= ?) and (? = '' or `At` <= ?) order by `MessageId` limit ?;

-- DEAD_ENDPOINT
select `Endpoint` from `pawl_dead` where `Endpoint` > ? order by `Endpoint` limit 1;

-- DEAD_NAME
select `Queue` from `pawl_dead` where `Queue` > ? order by `Queue` limit 1;

-- DEAD_OF_QUEUE
select count(*), min(`At`) from (select `At` from `pawl_dead` where `Queue` = ? order by `At` limit
?) counted;

-- DEAD_COUNT
select count(*) from (select 1 as `One` from `pawl_dead` limit ?) counted;

-- SUBSCRIPTION_LIST
select `Type`, `Queue` from `pawl_subscriptions` order by `Type`, `Queue`;

-- HISTORY_FIND
select `Id`, `Endpoint`, `Source`, `MessageId`, `Type`, `Kind`, `Outcome`, `Version`, `Attempts`,
`Duration`, `At`, `Error`, `Out` from `pawl_history` where (? = '' or `Source` = ?) and (? = '' or
`MessageId` = ?) and `Id` > ? order by `Id` limit ?;

-- HISTORY_FIND_SOURCE
select `Id`, `Endpoint`, `Source`, `MessageId`, `Type`, `Kind`, `Outcome`, `Version`, `Attempts`,
`Duration`, `At`, `Error`, `Out` from `pawl_history` where `Source` = ? and `Source` <> '' and (? =
'' or `Source` = ?) and (? = '' or `MessageId` = ?) and `Id` > ? order by `Id` limit ?;

-- HISTORY_FIND_MESSAGE
select `Id`, `Endpoint`, `Source`, `MessageId`, `Type`, `Kind`, `Outcome`, `Version`, `Attempts`,
`Duration`, `At`, `Error`, `Out` from `pawl_history` where `MessageId` = ? and (? = '' or `Source` =
?) and (? = '' or `MessageId` = ?) and `Id` > ? order by `Id` limit ?;

-- QUEUE_SCAN
select `Seq`, `Queue`, `MessageId`, `Type`, `CorrelationId`, `CausationId`, `Headers`, `Body` from
`pawl_queue` where `Seq` > ? order by `Seq` limit ?;

-- TIMEOUT_SCAN
select `Id`, `Destination`, `Name`, `SagaType`, `SagaId` from `pawl_timeouts` where `Id` > ? order
by `Id` limit ?;

-- FOLD_SCAN
select `Stream`, `TypeVersion`, `State` from `pawl_folds` where `Stream` > ? order by `Stream` limit
?;

-- CHECKPOINT_SCAN
select `Name`, `Position` from `pawl_checkpoints` where `Name` > ? order by `Name` limit ?;

-- PARTITION_SCAN
select f.`Partition`, f.`Name`, f.`Due`, f.`Attempts`, f.`Dead`, f.`Error`, (select count(*) from
`pawl_aggregator` a where a.`Partition` = f.`Partition`), (select min(b.`At`) from `pawl_aggregator`
b where b.`Partition` = f.`Partition`) from `pawl_aggregator_flush` f where f.`Partition` > ? and (?
= '' or f.`Partition` = ?) and (? = '' or f.`Name` = ?) and (? = 0 or f.`Dead` = 1) order by
f.`Partition` limit ?;

-- AGGREGATOR_SCAN
select `Id`, `Name`, `MessageId`, `Type`, `CorrelationId`, `CausationId`, `Headers`, `Body` from
`pawl_aggregator` where `Id` > ? order by `Id` limit ?;

-- DEAD_SCAN
select `Endpoint`, `Queue`, `Code`, `MessageId`, `Type`, `CorrelationId`, `CausationId`, `Headers`,
`Body` from `pawl_dead` where `Endpoint` = ? and `MessageId` > ? order by `MessageId` limit ?;

-- DEAD_SCAN_NEXT
select `Endpoint`, `Queue`, `Code`, `MessageId`, `Type`, `CorrelationId`, `CausationId`, `Headers`,
`Body` from `pawl_dead` where `Endpoint` > ? order by `Endpoint`, `MessageId` limit ?;

-- WORKER_INSERT
insert into `pawl_workers` (`Id`, `Endpoint`, `Types`, `Epoch`, `Process`, `Pid`, `Seen`,
`Messages`, `Timeouts`, `Flushes`, `Failures`, `Conflicts`, `Dead`, `Host`, `Program`,
`ProgramVersion`, `PawlVersion`, `Started`) values (?, ?, ?, 1, ?, ?, case when ? = 0 then
utc_timestamp(6) else ? end, 0, 0, 0, 0, 0, 0, ?, ?, ?, ?, case when ? = 0 then utc_timestamp(6)
else ? end);

-- WORKER_FENCE
update `pawl_workers` set `LastCommit` = ?, `Seen` = case when `Process` = 0 then utc_timestamp(6)
else ? end, `Messages` = `Messages` + ?, `Timeouts` = `Timeouts` + ?, `Flushes` = `Flushes` + ?,
`Failures` = `Failures` + ?, `Conflicts` = `Conflicts` + ?, `Dead` = `Dead` + ? where `Id` = ? and
`Epoch` = ?;

-- WORKER_REPLACE
update `pawl_workers` set `Endpoint` = ?, `Types` = ?, `Process` = ?, `Pid` = ?, `Seen` = case when
? = 0 then utc_timestamp(6) else ? end, `Epoch` = `Epoch` + 1, `Host` = ?, `Program` = ?,
`ProgramVersion` = ?, `PawlVersion` = ?, `Started` = case when ? = 0 then utc_timestamp(6) else ?
end where `Id` = ?;

-- WORKER_HEARTBEAT
update `pawl_workers` set `Seen` = case when `Process` = 0 then utc_timestamp(6) else `Seen` end
where `Id` = ?;

-- WORKER_DEAD_LOCK
select `Epoch` from `pawl_workers` where `Id` = ? and `Seen` < ? for update skip locked;

-- WORKER_RAISE
update `pawl_workers` set `Epoch` = `Epoch` + 1 where `Id` = ?;

-- WORKER_GET
select `Epoch`, `LastCommit` from `pawl_workers` where `Id` = ?;

-- WORKER_KEEP
insert into `pawl_workers` (`Id`, `Endpoint`, `Types`, `Epoch`, `Process`, `Pid`, `Seen`,
`Messages`, `Timeouts`, `Flushes`, `Failures`, `Conflicts`, `Dead`) values (?, '', '', 0, 0, 0,
'1970-01-01 00:00:00', 0, 0, 0, 0, 0, 0) on duplicate key update `Id` = `Id`;

-- LEASE_GET
select `Worker`, `Process`, `Pid`, `Epoch`, `Expires` from `pawl_leases` where `Name` = ?;

-- LEASE_LOCK
select `Epoch` from `pawl_leases` where `Name` = ? for update;

-- LEASE_FREE
update `pawl_leases` set `Worker` = null, `Process` = 0 where `Name` = ? and `Process` = ?;

-- QUEUE_STAMP
insert into `pawl_leases` (`Name`, `Worker`, `Process`, `Pid`, `Epoch`, `Expires`) values (?, ?, 0,
0, 1, '1970-01-01 00:00:00');

-- QUEUE_STAMP_KEEP
update `pawl_leases` set `Epoch` = 1 where `Name` = ? and `Worker` = ?;

-- QUEUE_ROW
select `Seq`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `History`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_queue` where `Seq` = ? and `Queue` = ?
and `Due` <= ?;

-- QUEUE_DELETE
delete from `pawl_queue` where `Seq` = ? and `Queue` = ?;

-- QUEUE_RETRY
update `pawl_queue` set `Due` = ?, `Attempts` = ?, `Deaths` = ?, `WaitingSince` = ?, `Error` = ?,
`History` = ? where `Seq` = ? and `Queue` = ?;

-- QUEUE_SEND
insert into `pawl_queue` (`Queue`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `Error`,
`MessageId`, `Type`, `CorrelationId`, `CausationId`, `Headers`, `Body`) values (?, ?, ?, ?, 0,
'1970-01-01 00:00:00', '', ?, ?, ?, ?, ?, ?) ;

-- QUEUE_TAKEN
select 1 from `pawl_queue` where `Queue` = ? and `MessageId` = ? lock in share mode;

-- QUEUE_OLDEST
select `Placed`, `Seq` from `pawl_queue` where `Queue` = ? and `Due` <= ? and `Attempts` = 0 and
`WaitingSince` = '1970-01-01 00:00:00' order by `Due`, `Seq` limit ?;

-- INBOX_RANGE
select `MessageId` from `pawl_inbox` where `Endpoint` = ? and `MessageId` between ? and ? limit ?;

-- INBOX_AMONG
select `MessageId` from `pawl_inbox` where `Endpoint` = ? and `MessageId` in (?, ?, ?, ?, ?, ?, ?,
?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- INBOX_KNOWN
select 1 from `pawl_inbox` where `Endpoint` = ? and `MessageId` = ?;

-- INBOX_MARK
insert into `pawl_inbox` (`Endpoint`, `MessageId`, `Outcome`, `At`) values (?, ?, ?, ?);

-- INBOX_SWEEP
delete from `pawl_inbox` where `At` < ? order by `At` limit ?;

-- INBOX_DELETE
delete from `pawl_inbox` where `Endpoint` = ? and `MessageId` = ?;

-- TIMEOUT_DUE
select `Id`, `Generation`, `SagaId`, `SagaType`, `Name`, `Destination`, `Due`, `Headers`,
`CorrelationId`, `Attempts`, `Owner`, `LeaseExpires` from `pawl_timeouts` where `Destination` = ?
and `Due` <= ? and (`LeaseExpires` is null or `LeaseExpires` <= ?) order by `Due`, `Id` limit ?;

-- TIMEOUT_DUE_ANY
select `Id`, `Generation`, `SagaId`, `SagaType`, `Name`, `Destination`, `Due`, `Headers`,
`CorrelationId`, `Attempts`, `Owner`, `LeaseExpires` from `pawl_timeouts` where `Due` <= ? and
(`LeaseExpires` is null or `LeaseExpires` <= ?) order by `Due`, `Id` limit ?;

-- TIMEOUT_CLAIM
select `Id`, `Generation`, `SagaId`, `SagaType`, `Name`, `Destination`, `Due`, `Headers`,
`CorrelationId`, `Attempts`, `Owner`, `LeaseExpires` from `pawl_timeouts` force index
(`pawl_timeouts_due`) where `Destination` = ? and `Due` <= ? and (`LeaseExpires` is null or
`LeaseExpires` <= ?) order by `Due`, `Id` limit ? for update skip locked;

-- TIMEOUT_CLAIM_ANY
select `Id`, `Generation`, `SagaId`, `SagaType`, `Name`, `Destination`, `Due`, `Headers`,
`CorrelationId`, `Attempts`, `Owner`, `LeaseExpires` from `pawl_timeouts` where `Due` <= ? and
(`LeaseExpires` is null or `LeaseExpires` <= ?) order by `Due`, `Id` limit ? for update skip locked;

-- TIMEOUT_NEXT
select `Due` from `pawl_timeouts` where `Destination` = ? and `Due` > ? and (`LeaseExpires` is null
or `LeaseExpires` <= ?) order by `Due` limit 1;

-- TIMEOUT_NEXT_ANY
select min(`Due`) from `pawl_timeouts` where `Due` > ? and (`LeaseExpires` is null or `LeaseExpires`
<= ?) having min(`Due`) is not null;

-- TIMEOUT_FIRST
select `Due` from `pawl_timeouts` where `Destination` = ? and `Owner` is null order by `Due` limit 1;

-- TIMEOUT_STAMP
update `pawl_timeouts` set `Owner` = ?, `LeaseExpires` = ?, `LeaseWorker` = ? where `Id` = ?;

-- TIMEOUT_STAMP_UNTIL
update `pawl_timeouts` set `Owner` = ?, `LeaseExpires` = ?, `LeaseWorker` = ? where `Destination` =
? and `Due` <= ? and (`LeaseExpires` is null or `LeaseExpires` <= ?);

-- TIMEOUT_FREE
update `pawl_timeouts` set `Owner` = null, `LeaseExpires` = null, `LeaseWorker` = null where
`LeaseWorker` = ?;

-- TIMEOUT_REAP
update `pawl_timeouts` set `Owner` = null, `LeaseExpires` = null, `LeaseWorker` = null where
`LeaseExpires` <= ?;

-- TIMEOUT_DELETE
delete from `pawl_timeouts` where `Id` = ? and (? is null or `Owner` = ?) and (? = 0 or `Generation`
= ?);

-- TIMEOUT_RELEASE
update `pawl_timeouts` set `Owner` = null, `LeaseExpires` = null, `LeaseWorker` = null where `Id` =
? and (? is null or `Owner` = ?) and (? = 0 or `Generation` = ?);

-- TIMEOUT_RETRY
update `pawl_timeouts` set `Owner` = null, `LeaseExpires` = null, `LeaseWorker` = null, `Due` = ?,
`Attempts` = ? where `Id` = ? and (? is null or `Owner` = ?) and (? = 0 or `Generation` = ?);

-- TIMEOUT_CANCEL
delete from `pawl_timeouts` where `SagaId` = ? and `Name` = ? and `Name` <> '';

-- TIMEOUT_CANCEL_ALL
delete from `pawl_timeouts` where ((`SagaId` = ? and `Name` <> '') or (`SagaId` = ? and `Name` =
''));

-- TIMEOUT_INSERT
insert into `pawl_timeouts` (`Id`, `Generation`, `SagaId`, `SagaType`, `Name`, `Destination`, `Due`,
`Attempts`, `CorrelationId`, `Headers`) values (?, 1, ?, ?, ?, ?, ?, 0, ?, ?);

-- TIMEOUT_REARM_SAGA
update `pawl_timeouts` set `Generation` = `Generation` + 1, `SagaType` = ?, `Destination` = ?, `Due`
= ?, `Attempts` = 0, `Owner` = null, `LeaseExpires` = null, `LeaseWorker` = null, `CorrelationId` =
?, `Headers` = ? where `SagaId` = ? and `Name` = ? and `Name` <> '';

-- TIMEOUT_REARM
update `pawl_timeouts` set `Generation` = `Generation` + 1, `SagaType` = ?, `Destination` = ?, `Due`
= ?, `Attempts` = 0, `Owner` = null, `LeaseExpires` = null, `LeaseWorker` = null, `CorrelationId` =
?, `Headers` = ?, `SagaId` = ?, `Name` = ? where `Id` = ?;

-- OUTBOX_DUE
select `Id`, `NextAttempt`, `Version`, `Index`, `Attempts`, `DispatchId`, `Source`, `Endpoint`,
`Destination`, `Due`, `At`, `AttemptsBefore`, `MessageId`, `Type`, `CorrelationId`, `CausationId`,
`Headers`, `Body`, `State`, `DispatchedAt` from `pawl_outbox` force index (`pawl_outbox_pending`)
where `State` = 'pending' and `NextAttempt` <= ? and (? = '' or `Endpoint` = ?) order by `Id` limit
?;

-- OUTBOX_NEXT
select min(`NextAttempt`) from `pawl_outbox` force index (`pawl_outbox_pending`) where `State` =
'pending' and `NextAttempt` > ? and (? = '' or `Endpoint` = ?);

-- OUTBOX_ADD
insert into `pawl_outbox` (`DispatchId`, `State`, `Attempts`, `NextAttempt`, `Due`, `At`, `Source`,
`Version`, `Index`, `Endpoint`, `Destination`, `AttemptsBefore`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body`) values (?, 'pending', 0, '1970-01-01 00:00:00',
?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?) ;

-- OUTBOX_TAKEN
select 1 from `pawl_outbox` where `DispatchId` = ? lock in share mode;

-- OUTBOX_SAME
select 1 from `pawl_outbox` where `DispatchId` = ? and `Type` = ? and `Body` = ?;

-- OUTBOX_SETTLE
update `pawl_outbox` set `State` = ?, `Attempts` = ?, `NextAttempt` = ?, `DispatchedAt` = ? where
`Id` = ? and `State` = 'pending';

-- OUTBOX_ENABLE
update `pawl_outbox` set `State` = 'pending', `NextAttempt` = ?, `AttemptsBefore` = `Attempts` + 1,
`Attempts` = `Attempts` + 1 where `Id` = ? and `State` = 'dead';

-- OUTBOX_DISCARD
update `pawl_outbox` set `State` = 'discarded', `DispatchedAt` = ?, `Attempts` = `Attempts` + 1
where `Id` = ? and `State` = 'dead';

-- OUTBOX_ATTEMPT_PUT
insert into `pawl_outbox_attempts` (`OutboxId`, `Attempt`, `Outcome`, `At`, `Duration`, `Error`)
values (?, ?, ?, ?, ?, ?);

-- OUTBOX_ATTEMPT
insert into `pawl_outbox_attempts` (`OutboxId`, `Attempt`, `Outcome`, `At`, `Duration`, `Error`)
select ?, coalesce(max(`Attempt`), 0) + 1, ?, ?, ?, ? from `pawl_outbox_attempts` where `OutboxId` =
?;

-- OUTBOX_BLOCK
update `pawl_outbox` set `State` = 'held' where `Id` = ? and `State` = 'pending' and `Attempts` = 0;

-- OUTBOX_BLOCK_KNOWN
update `pawl_outbox` set `State` = 'held' where `Id` = ? and `Source` = ? and `State` = 'pending'
and `Attempts` = 0;

-- OUTBOX_SOURCES
select `Id`, `Source` from `pawl_outbox` force index (`pawl_outbox_pending`) where `State` =
'pending' and `Attempts` = 0 and `Id` > ? order by `Id`;

-- HISTORY_ADD
insert into `pawl_history` (`Endpoint`, `Source`, `MessageId`, `Type`, `Kind`, `Outcome`, `Version`,
`Attempts`, `Duration`, `At`, `Error`, `Out`) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- HISTORY_PAGE
select count(*), coalesce(max(`Id`), 0) from (select `Id` from `pawl_history` where `Id` > ? order
by `Id` limit ?) page;

-- EVENT_LAST
select max(`Version`) from `pawl_events` where `Stream` = ?;

-- EVENT_BEHIND
select `Seq`, `Position`, `Stream`, `Version`, `Type`, `TypeVersion`, `MessageId`, `CorrelationId`,
`CausationId`, `DispatchId`, `At`, `Headers`, `Body` from `pawl_events` where `Stream` = ? and
`Version` > ? order by `Version`;

-- EVENT_TURN
select `Version` from `pawl_schema` where `Part` = 'pawl' for update;

-- EVENT_POSITION
select max(`Position`) from `pawl_events`;

-- EVENT_UNNUMBERED
select `Seq` from `pawl_events` force index (`pawl_events_position`) where `Position` is null order
by `Seq` limit ?;

-- EVENT_NUMBER
update `pawl_events` set `Position` = ? where `Seq` = ?;

-- EVENT_TAKEN
select 1 from `pawl_events` where `Stream` = ? and `Version` = ? lock in share mode;

-- FOLD_ADD
insert into `pawl_folds` (`Stream`, `Version`, `TypeVersion`, `State`, `Dispatches`, `At`) values
(?, ?, ?, ?, ?, ?);

-- FOLD_TAKEN
select 1 from `pawl_folds` where `Stream` = ? lock in share mode;

-- FOLD_GET
select `Version`, `TypeVersion`, `State`, `Dispatches`, `At` from `pawl_folds` where `Stream` = ?
and `TypeVersion` <= ? and `Version` > ?;

-- CHECKPOINT_ADD
insert into `pawl_checkpoints` (`Name`, `Position`, `At`) values (?, ?, ?) ;

-- CHECKPOINT_TAKEN
select 1 from `pawl_checkpoints` where `Name` = ? lock in share mode;

-- CHECKPOINT_MOVE
update `pawl_checkpoints` set `Position` = ?, `At` = ? where `Name` = ? and `Position` = ?;

-- AGGREGATOR_ADD
insert into `pawl_aggregator` (`Name`, `Partition`, `Key`, `At`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body`) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ;

-- AGGREGATOR_TAKEN
select 1 from `pawl_aggregator` where `Partition` = ? and `Key` = ? lock in share mode;

-- AGGREGATOR_HEAD
select `Type`, `LeaseExpires`, `Id` from `pawl_aggregator` where `Partition` = ?;

-- AGGREGATOR_CLAIM
select `Type`, `LeaseExpires`, `Id`, `Name`, `Partition`, `Key`, `At`, `Session`, `MessageId`,
`Type`, `CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_aggregator` force index
(`pawl_aggregator_at`) where `Partition` = ? order by `At`, `Id` for update skip locked;

-- AGGREGATOR_STAMP
update `pawl_aggregator` set `Session` = ?, `LeaseExpires` = ?, `LeaseWorker` = ? where `Id` = ?;

-- AGGREGATOR_DELETE
delete from `pawl_aggregator` where `Id` = ? and `Partition` = ? and (? is null or `Session` = ?);

-- AGGREGATOR_DELETE_ALL
delete from `pawl_aggregator` where `Partition` = ?;

-- AGGREGATOR_RELEASE
update `pawl_aggregator` set `Session` = null, `LeaseExpires` = null, `LeaseWorker` = null where
`Partition` = ? and `Session` = ?;

-- FLUSH_TAKEN
select 1 from `pawl_aggregator_flush` where `Partition` = ? lock in share mode;

-- FLUSH_TOUCH
update `pawl_aggregator_flush` set `Name` = `Name` where `Partition` = ?;

-- FLUSH_DONE
delete from `pawl_aggregator_flush` where `Partition` = ? and not exists (select 1 from
`pawl_aggregator` where `Partition` = ?);

-- FLUSH_SET
update `pawl_aggregator_flush` set `Due` = ?, `Attempts` = ?, `Dead` = ?, `Error` = ? where
`Partition` = ?;

-- FLUSH_GET
select `Due`, `Attempts`, `Dead` from `pawl_aggregator_flush` where `Partition` = ?;

-- FLUSH_FIRST
select `Due` from `pawl_aggregator_flush` where `Name` = ? and `Dead` = 0 order by `Due` limit 1;

-- DEAD_ADD
insert into `pawl_dead` (`Endpoint`, `Queue`, `Code`, `Error`, `Attempts`, `Deaths`, `History`,
`At`, `MessageId`, `Type`, `CorrelationId`, `CausationId`, `Headers`, `Body`) values (?, ?, ?, ?, ?,
?, ?, ?, ?, ?, ?, ?, ?, ?) ;

-- DEAD_TAKEN
select 1 from `pawl_dead` where `Endpoint` = ? and `MessageId` = ? lock in share mode;

-- DEAD_DELETE
delete from `pawl_dead` where `Endpoint` = ? and `MessageId` = ?;

-- DEAD_DELETE_OF
delete from `pawl_dead` where `Endpoint` = ? and `MessageId` = ? and `At` = ?;

-- SUBSCRIPTION_ADD
insert into `pawl_subscriptions` (`Type`, `Queue`) values (?, ?) ;

-- SUBSCRIPTION_TAKEN
select 1 from `pawl_subscriptions` where `Type` = ? and `Queue` = ? lock in share mode;

-- SUBSCRIPTION_DELETE
delete from `pawl_subscriptions` where `Type` = ? and `Queue` = ?;

-- NEWS
select coalesce((select max(`Seq`) from `pawl_queue`), 0), coalesce((select max(`Id`) from
`pawl_outbox`), 0), coalesce((select max(`Seq`) from `pawl_events`), 0), coalesce((select max(`Id`)
from `pawl_aggregator`), 0);

-- QUEUE_CLAIM
select `Seq`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `History`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_queue` force index (`pawl_queue_due`)
where `Queue` = ? and `Due` <= ? order by `Due`, `Seq` limit ? for update skip locked;

-- QUEUE_CLAIM_MORE
select `Seq`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `History`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_queue` force index (`pawl_queue_due`)
where `Queue` = ? and `Due` <= ? and find_in_set(`Seq`, ?) = 0 order by `Due`, `Seq` limit ? for
update skip locked;

-- QUEUE_CLAIM_FREE
select `Seq`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `History`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_queue` force index (`pawl_queue_due`)
where `Queue` = ? and `Due` <= ? and find_in_set(`Seq`, ?) = 0 and not exists (select 1 from
`pawl_leases` as c where c.`Name` = concat('claim:', `Seq`) and c.`Worker` <> ?) order by `Due`,
`Seq` limit ? for update skip locked;

-- QUEUE_CLAIM_AGAIN
select `Seq`, `Due`, `Placed`, `Attempts`, `Deaths`, `WaitingSince`, `History`, `MessageId`, `Type`,
`CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_queue` force index (`pawl_queue_due`)
where `Queue` = ? and `Due` = (select d.`Due` from `pawl_queue` as d where d.`Seq` = ?) and `Due` <=
? and `Seq` = ? for update skip locked;

-- QUEUE_COUNT_DUE
select count(*) from (select 1 from `pawl_queue` force index (`pawl_queue_due`) where `Queue` = ?
and `Due` <= ? limit ?) as d;

-- QUEUE_LOCK
select `Seq` from `pawl_queue` force index (`pawl_queue_due`) where `Queue` = (select d.`Queue` from
`pawl_queue` as d where d.`Seq` = ?) and `Due` = ? and `Seq` = ? for update skip locked;

-- QUEUE_FIRST, for QUEUE_FIRST
select `Due` from `pawl_queue` force index (`pawl_queue_due`) where `Queue` = ? and not exists
(select 1 from `pawl_leases` as c where c.`Name` = concat('claim:', `Seq`)) order by `Due` limit 1
for update skip locked;

-- TIMEOUT_FOREIGN, for TIMEOUT_FOREIGN
select d.name, (select t.`Due` from `pawl_timeouts` as t force index (`pawl_timeouts_due`) where
t.`Destination` = d.name and (t.`LeaseExpires` is null or t.`LeaseExpires` <= ?) order by
t.`Destination`, t.`Due` limit 1) as due from (select distinct `Destination` as name from
`pawl_timeouts` force index (`pawl_timeouts_due`)) as d where d.name = ? or not exists (select 1
from `pawl_subscriptions` as s where s.`Queue` = d.name) having due is not null order by d.name;

-- OUTBOX_UNBLOCK, for OUTBOX_UNBLOCK
update `pawl_outbox` force index (`pawl_outbox_held`) set `State` = 'pending' where `HeldSource` = ?;

-- WORKER_FOLD, for WORKER_FOLD
update `pawl_workers` as t join `pawl_workers` as w on w.`Id` = ? set t.`Messages` = t.`Messages` +
w.`Messages`, t.`Timeouts` = t.`Timeouts` + w.`Timeouts`, t.`Flushes` = t.`Flushes` + w.`Flushes`,
t.`Failures` = t.`Failures` + w.`Failures`, t.`Conflicts` = t.`Conflicts` + w.`Conflicts`, t.`Dead`
= t.`Dead` + w.`Dead` where t.`Id` = ?;

-- OUTBOX_SWEEP, for OUTBOX_SWEEP
delete from `pawl_outbox` where `DispatchedAt` < ? order by `DispatchedAt` limit ?;

-- HISTORY_SWEEP, for HISTORY_SWEEP
delete h from (select `Id` from (select `Id`, `At` from `pawl_history` where `Id` > ? order by `Id`
limit ?) as old where `At` < ?) as o straight_join `pawl_history` as h on h.`Id` = o.`Id`;

-- EVENT_INSERT, for EVENT_INSERT
insert into `pawl_events` (`Stream`, `Version`, `Type`, `TypeVersion`, `MessageId`, `CorrelationId`,
`CausationId`, `DispatchId`, `At`, `Headers`, `Body`) values (if(? = 0 or ? = 1, ?, (select
b.`Stream` from (select `Stream` from `pawl_events` where `Stream` = ? and `Version` = ? - 1) as
b)), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- EVENT_INSERT_SURE
insert into `pawl_events` (`Stream`, `Version`, `Type`, `TypeVersion`, `MessageId`, `CorrelationId`,
`CausationId`, `DispatchId`, `At`, `Headers`, `Body`) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- EVENT_COUNT
select count(*) from json_table(?, '$.*' columns (s varchar(402) path '$.s', v bigint path '$.v'))
as j straight_join `pawl_events` as t force index (`pawl_events_stream`) on t.`Stream` = j.s and
t.`Version` = j.v;

-- FOLD_SET, for FOLD_SET
insert into `pawl_folds` (`Stream`, `Version`, `TypeVersion`, `State`, `Dispatches`, `At`) values
(?, ?, ?, ?, ?, ?) on duplicate key update `TypeVersion` = if(values(`Version`) > `Version`,
values(`TypeVersion`), `TypeVersion`), `State` = if(values(`Version`) > `Version`, values(`State`),
`State`), `Dispatches` = if(values(`Version`) > `Version`, values(`Dispatches`), `Dispatches`), `At`
= if(values(`Version`) > `Version`, values(`At`), `At`), `Version` = if(values(`Version`) >
`Version`, values(`Version`), `Version`);

-- FLUSH_ADD, for FLUSH_ADD
insert into `pawl_aggregator_flush` (`Partition`, `Name`, `Due`, `Attempts`, `Dead`, `Error`) select
?, ?, cast(? as datetime(6)), 0, 0, '' from dual where not exists (select 1 from
`pawl_aggregator_flush` where `Partition` = ? lock in share mode);

-- AGGREGATOR_DELETE_OLDEST, for AGGREGATOR_DELETE_OLDEST
delete from `pawl_aggregator` where `Partition` = ? and `CorrelationId` = ? order by `At`, `Id`
limit 1;

-- PARTITION_KNOWN
select `Type`, `LeaseExpires`, `Id`, `Name`, `Partition`, `Key`, `At`, `Session`, `MessageId`,
`Type`, `CorrelationId`, `CausationId`, `Headers`, `Body` from `pawl_aggregator` force index
(`pawl_aggregator_at`) where `Partition` = ? and (`LeaseExpires` is null or `LeaseExpires` <= ?) and
`Id` <= ? and find_in_set(hex(`Type`), ?) <> 0 order by `At`, `Id` limit ? for update skip locked;

-- PARTITION_OTHERS
select count(*) from `pawl_aggregator` force index (`pawl_aggregator_at`) where `Partition` = ? and
(`LeaseExpires` is null or `LeaseExpires` <= ?) and `Id` <= ? and find_in_set(hex(`Type`), ?) = 0;

-- SCHEMA_COLUMNS
select table_name, column_name, column_type, coalesce(collation_name, ''), is_nullable = 'NO',
column_default is not null or extra <> '' from information_schema.columns where table_schema =
database() and table_name = ? order by ordinal_position;

-- SCHEMA_INDEXES
select table_name, index_name, group_concat('`', column_name, '`', coalesce(concat('(', sub_part,
')'), '') order by seq_in_index separator ', '), index_name = 'PRIMARY', max(non_unique) = 0, 1, 0
from information_schema.statistics where table_schema = database() and table_name = ? group by
table_name, index_name;

-- SCHEMA_ENGINE
select engine from information_schema.tables where table_schema = database() and table_name = ? and
engine <> 'InnoDB';

-- saga Order 0
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion`, `Correlation_OrderId`,
`Correlation_OldId` from `shop_Order` where `Id` = ?;

-- saga Order 1
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion`, `Correlation_OrderId`,
`Correlation_OldId` from `shop_Order` where `Correlation_OrderId` = ?;

-- saga Order 2
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion`, `Correlation_OrderId`,
`Correlation_OldId` from `shop_Order` where `Correlation_OldId` = ?;

-- saga Order 3
insert into `shop_Order` (`Id`, `Metadata`, `Data`, `PersistenceVersion`, `SagaTypeVersion`,
`Concurrency`, `Correlation_OrderId`, `Correlation_OldId`) values (?, ?, ?, 'VERSION', ?, 1, ?, ?);

-- saga Order 4
update `shop_Order` set `Concurrency` = `Concurrency` + 1, `Correlation_OldId` = ?, `Metadata` = ?,
`Data` = ?, `PersistenceVersion` = 'VERSION', `SagaTypeVersion` = ? where 0 = ? and `Id` = ? and
`Concurrency` = ?;

-- saga Order 5
update `shop_Order` set `Concurrency` = `Concurrency` + 1, `Correlation_OldId` = ?, `Metadata` = ?,
`Data` = ?, `PersistenceVersion` = 'VERSION', `SagaTypeVersion` = ? where `Id` = ? and `Concurrency` =
?;

-- saga Order 6
delete from `shop_Order` where `Id` = ? and `Concurrency` = ?;

-- saga Order 7
select count(*) from `shop_Order`;

-- saga Order 8
select `Id`, `PersistenceVersion`, `SagaTypeVersion`, `Data` from `shop_Order` where `Id` > ? order
by `Id` limit ?;

-- saga Order 9
select 1 from `shop_Order` where `Id` <> ? and `Correlation_OldId` = ?;

-- saga Order 10
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion`, `Correlation_OrderId`,
`Correlation_OldId` from `shop_Order` where `Id` = ? for update;

-- saga Order 11
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion`, `Correlation_OrderId`,
`Correlation_OldId` from `shop_Order` where `Correlation_OrderId` = ? for update;

-- saga Order 12
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion`, `Correlation_OrderId`,
`Correlation_OldId` from `shop_Order` where `Correlation_OldId` = ? for update;

-- saga Order 13
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion`, `Correlation_OrderId`,
`Correlation_OldId` from `shop_Order` where `Id` = ? for update skip locked;

-- saga Order 14
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion`, `Correlation_OrderId`,
`Correlation_OldId` from `shop_Order` where `Correlation_OrderId` = ? for update skip locked;

-- saga Order 15
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion`, `Correlation_OrderId`,
`Correlation_OldId` from `shop_Order` where `Correlation_OldId` = ? for update skip locked;

-- saga Plain 0
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion` from `shop_Plain` where `Id` =
?;

-- saga Plain 3
insert into `shop_Plain` (`Id`, `Metadata`, `Data`, `PersistenceVersion`, `SagaTypeVersion`,
`Concurrency`) values (?, ?, ?, 'VERSION', ?, 1);

-- saga Plain 4
update `shop_Plain` set `Concurrency` = `Concurrency` + 1, `Metadata` = ?, `Data` = ?,
`PersistenceVersion` = 'VERSION', `SagaTypeVersion` = ? where 0 = ? and `Id` = ? and `Concurrency` = ?;

-- saga Plain 5
update `shop_Plain` set `Concurrency` = `Concurrency` + 1, `Metadata` = ?, `Data` = ?,
`PersistenceVersion` = 'VERSION', `SagaTypeVersion` = ? where `Id` = ? and `Concurrency` = ?;

-- saga Plain 6
delete from `shop_Plain` where `Id` = ? and `Concurrency` = ?;

-- saga Plain 7
select count(*) from `shop_Plain`;

-- saga Plain 8
select `Id`, `PersistenceVersion`, `SagaTypeVersion`, `Data` from `shop_Plain` where `Id` > ? order
by `Id` limit ?;

-- saga Plain 9
select 1 from `shop_Plain` where `Id` <> ? and 1 = 0;

-- saga Plain 10
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion` from `shop_Plain` where `Id` =
? for update;

-- saga Plain 13
select 0, `Id`, `Concurrency`, `Metadata`, `Data`, `SagaTypeVersion` from `shop_Plain` where `Id` =
? for update skip locked;

-- who lives
select concat(is_used_lock('pawl_b86e9fe981be1b43_0123456789abcdef') is not null, utc_timestamp(6) <
timestampadd(microsecond, 1700000000123456, '1970-01-01 00:00:15'));

-- script: lock
select coalesce(get_lock(concat('pawl_', left(sha2(database(), 256), 40)), 27000 / 1000.0), 0) - 1;

-- script: unlock
do release_lock(concat('pawl_', left(sha2(database(), 256), 40)));

-- script: join
set session wsrep_sync_wait = 1;

-- script: leave
set session wsrep_sync_wait = default;

-- doctor: clock
select timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)), '', '';

-- doctor: server
select if((cast(@@global.read_only as char) not in ('0', 'OFF') or @@innodb_read_only), 2, 0),
if((cast(@@global.read_only as char) not in ('0', 'OFF') or @@innodb_read_only), concat('this server
may only be read (', version(), '): name the primary in the URL'), concat('version ', version())),
'';

-- doctor: innodb_flush_log_at_trx_commit
select if(@@innodb_flush_log_at_trx_commit = 1, 0, 1), concat(@@innodb_flush_log_at_trx_commit,
if(@@innodb_flush_log_at_trx_commit = 1, '', ': commits of the last second are lost when the server
crashes, or its machine')), if(@@innodb_flush_log_at_trx_commit = 1, '', 'set global
innodb_flush_log_at_trx_commit = 1');

-- doctor: sync_binlog
select if(@@log_bin = 0 or @@sync_binlog = 1, 0, 1), if(@@log_bin = 0, 'there is no binary log',
concat(@@sync_binlog, if(@@sync_binlog = 1, '', ': after a crash replicas may differ'))),
if(@@log_bin = 0 or @@sync_binlog = 1, '', 'set global sync_binlog = 1');

-- doctor: binlog_format
select if(@@log_bin = 0 or @@binlog_format <> 'STATEMENT', 0, 2), concat(@@binlog_format,
if(@@log_bin = 0 or @@binlog_format <> 'STATEMENT', '', ': the server refuses every write of
pawl')), if(@@log_bin = 0 or @@binlog_format <> 'STATEMENT', '', 'set global binlog_format = ROW');

-- doctor: max_allowed_packet
select if(@@global.max_allowed_packet >= 16777216, 0, 1), concat(@@global.max_allowed_packet, '
bytes', if(@@global.max_allowed_packet >= 16777216, '', ': larger messages and sagas are refused')),
if(@@global.max_allowed_packet >= 16777216, '', 'set global max_allowed_packet = 67108864');

-- doctor: sql_mode
select if(find_in_set('STRICT_ALL_TABLES', @@session.sql_mode), 0, 2),
if(find_in_set('STRICT_ALL_TABLES', @@session.sql_mode), 'strict in sessions of pawl', 'a session of
pawl lost its settings: a proxy shares it with others'), '';

-- doctor: connections
select case when coalesce(@pawl_used, (select count(*) from information_schema.processlist where
command not in ('Daemon', 'Binlog Dump'))) * 100 < @@max_connections * 80 then 0 when
coalesce(@pawl_used, (select count(*) from information_schema.processlist where command not in
('Daemon', 'Binlog Dump'))) * 100 < @@max_connections * 95 then 1 else 2 end,
concat(coalesce(@pawl_used, (select count(*) from information_schema.processlist where command not
in ('Daemon', 'Binlog Dump'))), ' of ', @@max_connections, ' connections are in use'),
if(coalesce(@pawl_used, (select count(*) from information_schema.processlist where command not in
('Daemon', 'Binlog Dump'))) * 100 < @@max_connections * 80, '', 'show processlist');

-- doctor: transactions
select timestampdiff(microsecond, t.trx_started, convert_tz(utc_timestamp(6), '+00:00', 'SYSTEM')),
if(w.`Id` is not null, concat('worker ', w.`Id`, ' (process ', w.`Pid`, ' on ', w.`Host`, ') has run
a handler since ', t.trx_started, ': the log of the process names it; if it hangs, end the
process'), if(t.trx_mysql_thread_id = 0, concat('a prepared XA transaction waits for its end since
', t.trx_started, ': rows that it locked wait; xa recover lists it, xa rollback or xa commit with
its name ends it'), concat('a transaction of user ', coalesce(p.user, '?'), ' at ', coalesce(p.host,
'?'), ' (connection ', t.trx_mysql_thread_id, ', ', lower(coalesce(p.command, '?')), ') is open
since ', t.trx_started, ': rows that it locked wait, and the server keeps every older version of a
row'))), case when w.`Id` is not null then '' when t.trx_mysql_thread_id = 0 then 'xa recover' else
concat('kill ', t.trx_mysql_thread_id) end from information_schema.innodb_trx as t left join
information_schema.processlist as p on p.id = t.trx_mysql_thread_id left join `pawl_workers` as w on
w.`Process` <> 0 and is_used_lock(concat(coalesce(@pawl_locks, ''), lower(lpad(hex(w.`Process`), 16,
'0')))) = t.trx_mysql_thread_id where t.trx_mysql_thread_id <> connection_id() order by
t.trx_started;

-- doctor: leases
select 1, concat(count(*), ' timeouts of ', t.`Destination`, ' are leased by nobody who lives, since
', min(t.`LeaseExpires`), ': the next worker of the endpoint takes them'), '' from `pawl_timeouts`
as t where t.`LeaseExpires` < utc_timestamp(6) - interval 1 minute group by t.`Destination`;

-- doctor: events
select 2, concat(count(*), ' events have no global position, the oldest of ', min(e.`At`), ':
projections read none behind them, and no worker assigns them'), '' from `pawl_events` as e where
e.`Position` is null and exists (select 1 from `pawl_checkpoints` where `Name` like 'projection/%')
and not exists (select 1 from `pawl_leases` as l where l.`Name` = 'lead:sequencer' and l.`Expires` >
utc_timestamp(6)) having count(*) > 0 and min(e.`At`) < utc_timestamp(6) - interval 1 minute;

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
-- CHECKPOINT_MOVE: 2 3 1 4
-- AGGREGATOR_DELETE: 1 2 3 3
-- FLUSH_DONE: 1 1
-- QUEUE_CLAIM_MORE: 1 2 4 3
-- QUEUE_CLAIM_FREE: 1 2 4 5 3
-- QUEUE_CLAIM_AGAIN: 2 1 3 1
-- QUEUE_LOCK: 1 2 1
-- TIMEOUT_FOREIGN: 2 1
-- WORKER_FOLD: 2 1
-- HISTORY_SWEEP: 3 2 1
-- EVENT_INSERT: 12 2 1 1 2 2 3 4 5 6 7 8 9 10 11
-- FLUSH_ADD: 1 2 3 1

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
