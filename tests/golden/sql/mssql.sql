-- The script of the tables: tests/golden/schema.

-- VERSION_GET
select [Version] from [dbo].[pawl_schema] where [Part] = 'pawl';

-- WORKER_DELETE
delete from [dbo].[pawl_workers] where [Id] = ?;

-- WORKER_COUNTERS
select cast(coalesce(sum([Messages]), 0) as bigint), cast(coalesce(sum([Timeouts]), 0) as bigint),
cast(coalesce(sum([Flushes]), 0) as bigint), cast(coalesce(sum([Failures]), 0) as bigint),
cast(coalesce(sum([Conflicts]), 0) as bigint), cast(coalesce(sum([Dead]), 0) as bigint) from
[dbo].[pawl_workers];

-- WORKER_LIST
select [Id], [Endpoint], [Types], [Epoch], [Pid], [Seen], [Process], [Seen], [Messages], [Timeouts],
[Flushes], [Failures], [Conflicts], [Dead], [Host], [Program], [ProgramVersion], [PawlVersion],
[Started] from [dbo].[pawl_workers] where [Epoch] > 0 order by [Id];

-- WORKER_LIVES
select [Process], [Seen] from [dbo].[pawl_workers] where [Epoch] > 0;

-- LEAD_GET
select l.[Worker], l.[Epoch], l.[Expires], w.[Id], w.[Process], w.[Seen] from [dbo].[pawl_leases] l
left join [dbo].[pawl_workers] w on w.[Id] = l.[Worker] where l.[Name] = ?;

-- LEASE_INSERT
insert into [dbo].[pawl_leases] ([Name], [Worker], [Process], [Pid], [Epoch], [Expires]) values (?,
?, ?, ?, ?, ?);

-- LEASE_UPDATE
update [dbo].[pawl_leases] set [Worker] = ?, [Process] = ?, [Pid] = ?, [Epoch] = ?, [Expires] = ?
where [Name] = ?;

-- LEASE_DELETE
delete from [dbo].[pawl_leases] where [Name] = ? and [Worker] = ?;

-- LEASE_DELETE_ALL
delete from [dbo].[pawl_leases] where [Worker] = ?;

-- QUEUE_LIST
select [Seq], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], [History], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body], [Error] from [dbo].[pawl_queue] where [Queue] = ?
order by [Placed], [Seq] offset 0 rows fetch next ? rows only;

-- QUEUE_FIND
select [Seq], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], [History], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body], [Error] from [dbo].[pawl_queue] where [Queue] = ?
and (? = '' or [MessageId] = ?) and (? = '' or [Type] = ?) and [Due] >= ? and [Due] <= ? and [Seq]
<= ? and ([Due] > ? or [Seq] > ?) order by [Due], [Seq] offset 0 rows fetch next ? rows only;

-- QUEUE_FIND_TIE
select [Seq], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], [History], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body], [Error] from [dbo].[pawl_queue] where [Queue] = ?
and (? = '' or [MessageId] = ?) and (? = '' or [Type] = ?) and [Due] = ? and [Seq] <= ? and [Seq] >
? order by [Due], [Seq] offset 0 rows fetch next ? rows only;

-- QUEUE_FIND_ONE
select [Seq], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], [History], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body], [Error] from [dbo].[pawl_queue] where [Queue] = ?
and [MessageId] = ? and [Queue] = ? and (? = '' or [MessageId] = ?) and (? = '' or [Type] = ?) and
[Due] >= ? and [Due] <= ? and [Seq] <= ? and ([Due] > ? or [Seq] > ?) order by [MessageId] offset 0
rows fetch next ? rows only;

-- QUEUE_RETRIED
select [Seq], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], [History], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body] from [dbo].[pawl_queue] where [Seq] in (select
[Seq] from (select [Seq], [Attempts], [Placed], [Type] from [dbo].[pawl_queue] where [Queue] = ? and
[Due] > ? order by [Due], [Seq] offset 0 rows fetch next ? rows only) looked where [Attempts] > 0
and [Type] = ?) order by [Placed], [Seq] offset 0 rows fetch next ? rows only;

-- QUEUE_NAME
select [Queue] from [dbo].[pawl_queue] where [Queue] > ? order by [Queue] offset 0 rows fetch next 1
rows only;

-- QUEUE_READY
select count(*), min([Due]) from (select [Due] from [dbo].[pawl_queue] where [Queue] = ? and [Due]
<= ? order by [Due] offset 0 rows fetch next ? rows only) counted;

-- QUEUE_SCHEDULED
select count(*) from (select 1 as [One] from [dbo].[pawl_queue] where [Queue] = ? and [Due] > ?
order by (select null) offset 0 rows fetch next ? rows only) counted;

-- QUEUE_COUNT_RETRIED
select count(*), min([Placed]) from (select [Seq], [Attempts], [Placed], [Type] from
[dbo].[pawl_queue] where [Queue] = ? and [Due] > ? order by [Due], [Seq] offset 0 rows fetch next ?
rows only) looked where [Attempts] > 0;

-- INBOX_COUNT
select count(*) from (select 1 as [One] from [dbo].[pawl_inbox] order by (select null) offset 0 rows
fetch next ? rows only) counted;

-- TIMEOUT_NAME
select [Destination] from [dbo].[pawl_timeouts] where [Destination] > ? order by [Destination]
offset 0 rows fetch next 1 rows only;

-- TIMEOUT_READY
select count(*), min([Due]) from (select [Due] from [dbo].[pawl_timeouts] where [Destination] = ?
and [Due] <= ? order by [Due] offset 0 rows fetch next ? rows only) counted;

-- TIMEOUT_SCHEDULED
select count(*) from (select 1 as [One] from [dbo].[pawl_timeouts] where [Destination] = ? and [Due]
> ? order by (select null) offset 0 rows fetch next ? rows only) counted;

-- OUTBOX_PENDING
select count(*) from (select 1 as [One] from [dbo].[pawl_outbox] where [State] = 'pending' order by
(select null) offset 0 rows fetch next ? rows only) counted;

-- OUTBOX_FIND_ID
select [Id], [NextAttempt], [Version], [Index], [Attempts], [DispatchId], [Source], [Endpoint],
[Destination], [Due], [At], [AttemptsBefore], [MessageId], [Type], [CorrelationId], [CausationId],
[Headers], [Body], [State], [DispatchedAt] from [dbo].[pawl_outbox] where [Id] = ? and (? = 0 or
[Id] = ?) and (? is null or [DispatchId] = ?) and [Id] > ? and (? = 0 or (? & case [State] when
'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded'
then 16 else 0 end) <> 0) and (? = '' or [Endpoint] = ?) and (? = '' or [Source] = ?) and (? = '' or
[Destination] = ?) and (? = '' or [Type] = ?) and (? = '' or [CausationId] = ?) and [Attempts] >= ?
order by [Id] offset 0 rows fetch next ? rows only;

-- OUTBOX_FIND_DISPATCH
select [Id], [NextAttempt], [Version], [Index], [Attempts], [DispatchId], [Source], [Endpoint],
[Destination], [Due], [At], [AttemptsBefore], [MessageId], [Type], [CorrelationId], [CausationId],
[Headers], [Body], [State], [DispatchedAt] from [dbo].[pawl_outbox] where [DispatchId] = ? and (? =
0 or [Id] = ?) and (? is null or [DispatchId] = ?) and [Id] > ? and (? = 0 or (? & case [State] when
'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded'
then 16 else 0 end) <> 0) and (? = '' or [Endpoint] = ?) and (? = '' or [Source] = ?) and (? = '' or
[Destination] = ?) and (? = '' or [Type] = ?) and (? = '' or [CausationId] = ?) and [Attempts] >= ?
order by [Id] offset 0 rows fetch next ? rows only;

-- OUTBOX_FIND_DEAD
select [Id], [NextAttempt], [Version], [Index], [Attempts], [DispatchId], [Source], [Endpoint],
[Destination], [Due], [At], [AttemptsBefore], [MessageId], [Type], [CorrelationId], [CausationId],
[Headers], [Body], [State], [DispatchedAt] from [dbo].[pawl_outbox] where [State] = 'dead' and (? =
0 or [Id] = ?) and (? is null or [DispatchId] = ?) and [Id] > ? and (? = 0 or (? & case [State] when
'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded'
then 16 else 0 end) <> 0) and (? = '' or [Endpoint] = ?) and (? = '' or [Source] = ?) and (? = '' or
[Destination] = ?) and (? = '' or [Type] = ?) and (? = '' or [CausationId] = ?) and [Attempts] >= ?
order by [Id] offset 0 rows fetch next ? rows only;

-- OUTBOX_FIND_HELD
select [Id], [NextAttempt], [Version], [Index], [Attempts], [DispatchId], [Source], [Endpoint],
[Destination], [Due], [At], [AttemptsBefore], [MessageId], [Type], [CorrelationId], [CausationId],
[Headers], [Body], [State], [DispatchedAt] from [dbo].[pawl_outbox] where [State] = 'held' and
[Attempts] >= 0 and (? = 0 or [Id] = ?) and (? is null or [DispatchId] = ?) and [Id] > ? and (? = 0
or (? & case [State] when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead'
then 8 when 'discarded' then 16 else 0 end) <> 0) and (? = '' or [Endpoint] = ?) and (? = '' or
[Source] = ?) and (? = '' or [Destination] = ?) and (? = '' or [Type] = ?) and (? = '' or
[CausationId] = ?) and [Attempts] >= ? order by [Id] offset 0 rows fetch next ? rows only;

-- OUTBOX_FIND_PENDING
select [Id], [NextAttempt], [Version], [Index], [Attempts], [DispatchId], [Source], [Endpoint],
[Destination], [Due], [At], [AttemptsBefore], [MessageId], [Type], [CorrelationId], [CausationId],
[Headers], [Body], [State], [DispatchedAt] from [dbo].[pawl_outbox] where [State] = 'pending' and (?
= 0 or [Id] = ?) and (? is null or [DispatchId] = ?) and [Id] > ? and (? = 0 or (? & case [State]
when 'pending' then 1 when 'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when
'discarded' then 16 else 0 end) <> 0) and (? = '' or [Endpoint] = ?) and (? = '' or [Source] = ?)
and (? = '' or [Destination] = ?) and (? = '' or [Type] = ?) and (? = '' or [CausationId] = ?) and
[Attempts] >= ? order by [Id] offset 0 rows fetch next ? rows only;

-- OUTBOX_FIND_TRIED
select [Id], [NextAttempt], [Version], [Index], [Attempts], [DispatchId], [Source], [Endpoint],
[Destination], [Due], [At], [AttemptsBefore], [MessageId], [Type], [CorrelationId], [CausationId],
[Headers], [Body], [State], [DispatchedAt] from [dbo].[pawl_outbox] where [State] = 'pending' and
[Attempts] > 0 and [NextAttempt] > '1970-01-01' and (? = 0 or [Id] = ?) and (? is null or
[DispatchId] = ?) and [Id] > ? and (? = 0 or (? & case [State] when 'pending' then 1 when 'held'
then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end) <> 0) and (?
= '' or [Endpoint] = ?) and (? = '' or [Source] = ?) and (? = '' or [Destination] = ?) and (? = ''
or [Type] = ?) and (? = '' or [CausationId] = ?) and [Attempts] >= ? order by [Id] offset 0 rows
fetch next ? rows only;

-- OUTBOX_FIND_ANY
select [Id], [NextAttempt], [Version], [Index], [Attempts], [DispatchId], [Source], [Endpoint],
[Destination], [Due], [At], [AttemptsBefore], [MessageId], [Type], [CorrelationId], [CausationId],
[Headers], [Body], [State], [DispatchedAt] from [dbo].[pawl_outbox] where (? = 0 or [Id] = ?) and (?
is null or [DispatchId] = ?) and [Id] > ? and (? = 0 or (? & case [State] when 'pending' then 1 when
'held' then 2 when 'dispatched' then 4 when 'dead' then 8 when 'discarded' then 16 else 0 end) <> 0)
and (? = '' or [Endpoint] = ?) and (? = '' or [Source] = ?) and (? = '' or [Destination] = ?) and (?
= '' or [Type] = ?) and (? = '' or [CausationId] = ?) and [Attempts] >= ? order by [Id] offset 0
rows fetch next ? rows only;

-- OUTBOX_OLDEST
select [At] from [dbo].[pawl_outbox] where [State] = 'pending' order by [Id] offset 0 rows fetch
next 1 rows only;

-- OUTBOX_ATTEMPTS
select [Attempt], [Outcome], [Error], [At], [Duration] from [dbo].[pawl_outbox_attempts] where
[OutboxId] = ? order by [Attempt];

-- OUTBOX_HELD
select count(*) from (select 1 as [One] from [dbo].[pawl_outbox] where [State] = 'held' order by
(select null) offset 0 rows fetch next ? rows only) counted;

-- OUTBOX_DEAD
select count(*) from (select 1 as [One] from [dbo].[pawl_outbox] where [State] = 'dead' order by
(select null) offset 0 rows fetch next ? rows only) counted;

-- CHECKPOINT_GET
select [Position] from [dbo].[pawl_checkpoints] where [Name] = ?;

-- EVENT_LIST_STREAM
select [Seq], [Position], [Stream], [Version], [Type], [TypeVersion], [MessageId], [CorrelationId],
[CausationId], [DispatchId], [At], [Headers], [Body] from [dbo].[pawl_events] where [Stream] = ? and
[Version] > ? and (? = '' or [Type] = ?) and (? = '' or [MessageId] = ?) and (? = '' or
[CorrelationId] = ?) order by [Version] offset 0 rows fetch next ? rows only;

-- EVENT_LIST_POSITION
select [Seq], [Position], [Stream], [Version], [Type], [TypeVersion], [MessageId], [CorrelationId],
[CausationId], [DispatchId], [At], [Headers], [Body] from [dbo].[pawl_events] where ? = '' and
[Position] > ? and (? = '' or [Type] = ?) and (? = '' or [MessageId] = ?) and (? = '' or
[CorrelationId] = ?) order by [Position] offset 0 rows fetch next ? rows only;

-- EVENT_LIST_SEQ
select [Seq], [Position], [Stream], [Version], [Type], [TypeVersion], [MessageId], [CorrelationId],
[CausationId], [DispatchId], [At], [Headers], [Body] from [dbo].[pawl_events] where ? = '' and [Seq]
> ? and (? = '' or [Type] = ?) and (? = '' or [MessageId] = ?) and (? = '' or [CorrelationId] = ?)
order by [Seq] offset 0 rows fetch next ? rows only;

-- EVENT_LIST_STREAM_BACK
select [Seq], [Position], [Stream], [Version], [Type], [TypeVersion], [MessageId], [CorrelationId],
[CausationId], [DispatchId], [At], [Headers], [Body] from [dbo].[pawl_events] where [Stream] = ? and
[Version] < ? and (? = '' or [Type] = ?) and (? = '' or [MessageId] = ?) and (? = '' or
[CorrelationId] = ?) order by [Version] desc offset 0 rows fetch next ? rows only;

-- EVENT_LIST_POSITION_BACK
select [Seq], [Position], [Stream], [Version], [Type], [TypeVersion], [MessageId], [CorrelationId],
[CausationId], [DispatchId], [At], [Headers], [Body] from [dbo].[pawl_events] where ? = '' and
[Position] < ? and (? = '' or [Type] = ?) and (? = '' or [MessageId] = ?) and (? = '' or
[CorrelationId] = ?) order by [Position] desc offset 0 rows fetch next ? rows only;

-- EVENT_LIST_SEQ_BACK
select [Seq], [Position], [Stream], [Version], [Type], [TypeVersion], [MessageId], [CorrelationId],
[CausationId], [DispatchId], [At], [Headers], [Body] from [dbo].[pawl_events] where ? = '' and [Seq]
< ? and (? = '' or [Type] = ?) and (? = '' or [MessageId] = ?) and (? = '' or [CorrelationId] = ?)
order by [Seq] desc offset 0 rows fetch next ? rows only;

-- BODIES_PAGE
select max([Stream]), count(*) from (select [Stream] from [dbo].[pawl_events] where [Stream] > ? and
[Stream] < ? order by [Stream], [Version] offset 0 rows fetch next ? rows only) page;

-- BODIES_CLEAR
update [dbo].[pawl_events] set [Body] = ?, [TypeVersion] = 2 where [Stream] > ? and [Stream] <= ?
and [At] < ? and [TypeVersion] = 1 and [Type] in ('pawl.dead_edited', 'pawl.dead_discarded');

-- AGGREGATOR_GET
select [Type], [LeaseExpires], [Id], [Name], [Partition], [Key], [At], [Session], [MessageId],
[Type], [CorrelationId], [CausationId], [Headers], [Body] from [dbo].[pawl_aggregator] where
[Partition] = ? order by [At], [Id];

-- AGGREGATOR_FREE
update [dbo].[pawl_aggregator] set [Session] = null, [LeaseExpires] = null, [LeaseWorker] = null
where [LeaseWorker] = ?;

-- AGGREGATOR_COUNT
select count(*) from (select 1 as [One] from [dbo].[pawl_aggregator] order by (select null) offset 0
rows fetch next ? rows only) counted;

-- FLUSH_LIST
select [Name], [Partition], [Due], [Attempts], [Dead], [Error] from [dbo].[pawl_aggregator_flush]
where [Name] = ? and [Dead] = 0 and [Due] <= ? order by [Due], [Partition] offset 0 rows fetch next
? rows only;

-- FLUSH_DEAD
select count(*) from (select 1 as [One] from [dbo].[pawl_aggregator_flush] where [Dead] = 1 order by
(select null) offset 0 rows fetch next ? rows only) counted;

-- FLUSH_NAME
select [Name] from [dbo].[pawl_aggregator_flush] where [Dead] = 0 and [Name] > ? order by [Name]
offset 0 rows fetch next 1 rows only;

-- FLUSH_READY
select count(*), min([Due]) from (select [Due] from [dbo].[pawl_aggregator_flush] where [Dead] = 0
and [Name] = ? and [Due] <= ? order by [Due] offset 0 rows fetch next ? rows only) counted;

-- DEAD_FIND
select [Endpoint], [Queue], [Code], [Error], [Attempts], [Deaths], [History], [At], [MessageId],
[Type], [CorrelationId], [CausationId], [Headers], [Body] from [dbo].[pawl_dead] where ? in ('',
[Endpoint]) and (? = '' or [MessageId] = ?) and (? = '' or [Type] = ?) and (? = '' or [Code] = ?)
and (? = '' or charindex(?, [Error]) > 0) and ([At] > ? or ([At] = ? and ([Endpoint] > ? or
([Endpoint] = ? and [MessageId] > ?)))) and [At] >= ? and [At] <= ? order by [At], [Endpoint],
[MessageId] offset 0 rows fetch next ? rows only;

-- DEAD_FIND_ONE
select [Endpoint], [Queue], [Code], [Error], [Attempts], [Deaths], [History], [At], [MessageId],
[Type], [CorrelationId], [CausationId], [Headers], [Body] from [dbo].[pawl_dead] where [Endpoint] =
? and [MessageId] = ? and ? in ('', [Endpoint]) and (? = '' or [MessageId] = ?) and (? = '' or
[Type] = ?) and (? = '' or [Code] = ?) and (? = '' or charindex(?, [Error]) > 0) and ([At] > ? or
([At] = ? and ([Endpoint] > ? or ([Endpoint] = ? and [MessageId] > ?)))) and (? = '' or [At] >= ?)
and (? = '' or [At] <= ?) order by [MessageId] offset 0 rows fetch next ? rows only;

-- DEAD_ENDPOINT
select [Endpoint] from [dbo].[pawl_dead] where [Endpoint] > ? order by [Endpoint] offset 0 rows
fetch next 1 rows only;

-- DEAD_NAME
select [Queue] from [dbo].[pawl_dead] where [Queue] > ? order by [Queue] offset 0 rows fetch next 1
rows only;

-- DEAD_OF_QUEUE
select count(*), min([At]) from (select [At] from [dbo].[pawl_dead] where [Queue] = ? order by [At]
offset 0 rows fetch next ? rows only) counted;

-- DEAD_COUNT
select count(*) from (select 1 as [One] from [dbo].[pawl_dead] order by (select null) offset 0 rows
fetch next ? rows only) counted;

-- SUBSCRIPTION_LIST
select [Type], [Queue] from [dbo].[pawl_subscriptions] order by [Type], [Queue];

-- HISTORY_FIND
select [Id], [Endpoint], [Source], [MessageId], [Type], [Kind], [Outcome], [Version], [Attempts],
[Duration], [At], [Error], [Out] from [dbo].[pawl_history] where (? = '' or [Source] = ?) and (? =
'' or [MessageId] = ?) and [Id] > ? order by [Id] offset 0 rows fetch next ? rows only;

-- HISTORY_FIND_MESSAGE
select [Id], [Endpoint], [Source], [MessageId], [Type], [Kind], [Outcome], [Version], [Attempts],
[Duration], [At], [Error], [Out] from [dbo].[pawl_history] where [MessageId] = ? and (? = '' or
[Source] = ?) and (? = '' or [MessageId] = ?) and [Id] > ? order by [Id] offset 0 rows fetch next ?
rows only;

-- QUEUE_SCAN
select [Seq], [Queue], [MessageId], [Type], [CorrelationId], [CausationId], [Headers], [Body] from
[dbo].[pawl_queue] where [Seq] > ? order by [Seq] offset 0 rows fetch next ? rows only;

-- TIMEOUT_SCAN
select [Id], [Destination], [Name], [SagaType], [SagaId] from [dbo].[pawl_timeouts] where [Id] > ?
order by [Id] offset 0 rows fetch next ? rows only;

-- FOLD_SCAN
select [Stream], [TypeVersion], [State] from [dbo].[pawl_folds] where [Stream] > ? order by [Stream]
offset 0 rows fetch next ? rows only;

-- CHECKPOINT_SCAN
select [Name], [Position] from [dbo].[pawl_checkpoints] where [Name] > ? order by [Name] offset 0
rows fetch next ? rows only;

-- PARTITION_SCAN
select f.[Partition], f.[Name], f.[Due], f.[Attempts], f.[Dead], f.[Error], (select count(*) from
[dbo].[pawl_aggregator] a where a.[Partition] = f.[Partition]), (select min(b.[At]) from
[dbo].[pawl_aggregator] b where b.[Partition] = f.[Partition]) from [dbo].[pawl_aggregator_flush] f
where f.[Partition] > ? and (? = '' or f.[Partition] = ?) and (? = '' or f.[Name] = ?) and (? = 0 or
f.[Dead] = 1) order by f.[Partition] offset 0 rows fetch next ? rows only;

-- AGGREGATOR_SCAN
select [Id], [Name], [MessageId], [Type], [CorrelationId], [CausationId], [Headers], [Body] from
[dbo].[pawl_aggregator] where [Id] > ? order by [Id] offset 0 rows fetch next ? rows only;

-- DEAD_SCAN
select [Endpoint], [Queue], [Code], [MessageId], [Type], [CorrelationId], [CausationId], [Headers],
[Body] from [dbo].[pawl_dead] where [Endpoint] = ? and [MessageId] > ? order by [MessageId] offset 0
rows fetch next ? rows only;

-- DEAD_SCAN_NEXT
select [Endpoint], [Queue], [Code], [MessageId], [Type], [CorrelationId], [CausationId], [Headers],
[Body] from [dbo].[pawl_dead] where [Endpoint] > ? order by [Endpoint], [MessageId] offset 0 rows
fetch next ? rows only;

-- WORKER_INSERT
insert into [dbo].[pawl_workers] ([Id], [Endpoint], [Types], [Epoch], [Process], [Pid], [Seen],
[Messages], [Timeouts], [Flushes], [Failures], [Conflicts], [Dead], [Host], [Program],
[ProgramVersion], [PawlVersion], [Started]) values (?, ?, ?, 1, ?, ?, case when ? = 0 then
sysutcdatetime() else ? end, 0, 0, 0, 0, 0, 0, ?, ?, ?, ?, case when ? = 0 then sysutcdatetime()
else ? end);

-- WORKER_FENCE
update [dbo].[pawl_workers] set [LastCommit] = ?, [Seen] = case when [Process] = 0 then
sysutcdatetime() else ? end, [Messages] = [Messages] + ?, [Timeouts] = [Timeouts] + ?, [Flushes] =
[Flushes] + ?, [Failures] = [Failures] + ?, [Conflicts] = [Conflicts] + ?, [Dead] = [Dead] + ? where
[Id] = ? and [Epoch] = ?;

-- WORKER_REPLACE
update [dbo].[pawl_workers] set [Endpoint] = ?, [Types] = ?, [Process] = ?, [Pid] = ?, [Seen] = case
when ? = 0 then sysutcdatetime() else ? end, [Epoch] = [Epoch] + 1, [Host] = ?, [Program] = ?,
[ProgramVersion] = ?, [PawlVersion] = ?, [Started] = case when ? = 0 then sysutcdatetime() else ?
end where [Id] = ?;

-- WORKER_HEARTBEAT
update [dbo].[pawl_workers] set [Seen] = case when [Process] = 0 then sysutcdatetime() else [Seen]
end where [Id] = ?;

-- WORKER_DEAD_LOCK
select [Epoch] from [dbo].[pawl_workers] where [Id] = ? and [Seen] < ?;

-- WORKER_RAISE
update [dbo].[pawl_workers] set [Epoch] = [Epoch] + 1 where [Id] = ?;

-- WORKER_GET
select [Epoch], [LastCommit] from [dbo].[pawl_workers] where [Id] = ?;

-- LEASE_GET
select [Worker], [Process], [Pid], [Epoch], [Expires] from [dbo].[pawl_leases] where [Name] = ?;

-- LEASE_FREE
update [dbo].[pawl_leases] set [Worker] = null, [Process] = 0 where [Name] = ? and [Process] = ?;

-- QUEUE_STAMP
insert into [dbo].[pawl_leases] ([Name], [Worker], [Process], [Pid], [Epoch], [Expires]) values (?,
?, 0, 0, 1, '1970-01-01');

-- QUEUE_STAMP_KEEP
update [dbo].[pawl_leases] set [Epoch] = 1 where [Name] = ? and [Worker] = ?;

-- QUEUE_ROW
select [Seq], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], [History], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body] from [dbo].[pawl_queue] where [Seq] = ? and
[Queue] = ? and [Due] <= ?;

-- QUEUE_DELETE
delete from [dbo].[pawl_queue] where [Seq] = ? and [Queue] = ?;

-- QUEUE_RETRY
update [dbo].[pawl_queue] set [Due] = ?, [Attempts] = ?, [Deaths] = ?, [WaitingSince] = ?, [Error] =
?, [History] = ? where [Seq] = ? and [Queue] = ?;

-- QUEUE_SEND
insert into [dbo].[pawl_queue] ([Queue], [Due], [Placed], [Attempts], [Deaths], [WaitingSince],
[Error], [MessageId], [Type], [CorrelationId], [CausationId], [Headers], [Body]) values (?, ?, ?, ?,
0, '1970-01-01', '', ?, ?, ?, ?, ?, ?) ;

-- QUEUE_TAKEN
select 1 from [dbo].[pawl_queue] where [Queue] = ? and [MessageId] = ?;

-- QUEUE_OLDEST
select [Placed], [Seq] from [dbo].[pawl_queue] where [Queue] = ? and [Due] <= ? and [Attempts] = 0
and [WaitingSince] = '1970-01-01' order by [Due], [Seq] offset 0 rows fetch next ? rows only;

-- INBOX_RANGE
select [MessageId] from [dbo].[pawl_inbox] where [Endpoint] = ? and [MessageId] between ? and ?
order by (select null) offset 0 rows fetch next ? rows only;

-- INBOX_AMONG
select [MessageId] from [dbo].[pawl_inbox] where [Endpoint] = ? and [MessageId] in (?, ?, ?, ?, ?,
?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- INBOX_KNOWN
select 1 from [dbo].[pawl_inbox] where [Endpoint] = ? and [MessageId] = ?;

-- INBOX_MARK
insert into [dbo].[pawl_inbox] ([Endpoint], [MessageId], [Outcome], [At]) values (?, ?, ?, ?);

-- INBOX_DELETE
delete from [dbo].[pawl_inbox] where [Endpoint] = ? and [MessageId] = ?;

-- TIMEOUT_DUE
select [Id], [Generation], [SagaId], [SagaType], [Name], [Destination], [Due], [Headers],
[CorrelationId], [Attempts], [Owner], [LeaseExpires] from [dbo].[pawl_timeouts] where [Destination]
= ? and [Due] <= ? and ([LeaseExpires] is null or [LeaseExpires] <= ?) order by [Due], [Id] offset 0
rows fetch next ? rows only;

-- TIMEOUT_DUE_ANY
select [Id], [Generation], [SagaId], [SagaType], [Name], [Destination], [Due], [Headers],
[CorrelationId], [Attempts], [Owner], [LeaseExpires] from [dbo].[pawl_timeouts] where [Due] <= ? and
([LeaseExpires] is null or [LeaseExpires] <= ?) order by [Due], [Id] offset 0 rows fetch next ? rows
only;

-- TIMEOUT_NEXT
select [Due] from [dbo].[pawl_timeouts] where [Destination] = ? and [Due] > ? and ([LeaseExpires] is
null or [LeaseExpires] <= ?) order by [Due] offset 0 rows fetch next 1 rows only;

-- TIMEOUT_NEXT_ANY
select min([Due]) from [dbo].[pawl_timeouts] where [Due] > ? and ([LeaseExpires] is null or
[LeaseExpires] <= ?) having min([Due]) is not null;

-- TIMEOUT_FIRST
select [Due] from [dbo].[pawl_timeouts] where [Destination] = ? and [Owner] is null order by [Due]
offset 0 rows fetch next 1 rows only;

-- TIMEOUT_STAMP
update [dbo].[pawl_timeouts] set [Owner] = ?, [LeaseExpires] = ?, [LeaseWorker] = ? where [Id] = ?;

-- TIMEOUT_STAMP_UNTIL
update [dbo].[pawl_timeouts] set [Owner] = ?, [LeaseExpires] = ?, [LeaseWorker] = ? where
[Destination] = ? and [Due] <= ? and ([LeaseExpires] is null or [LeaseExpires] <= ?);

-- TIMEOUT_FREE
update [dbo].[pawl_timeouts] set [Owner] = null, [LeaseExpires] = null, [LeaseWorker] = null where
[LeaseWorker] = ?;

-- TIMEOUT_REAP
update [dbo].[pawl_timeouts] set [Owner] = null, [LeaseExpires] = null, [LeaseWorker] = null where
[LeaseExpires] <= ?;

-- TIMEOUT_DELETE
delete from [dbo].[pawl_timeouts] where [Id] = ? and (? is null or [Owner] = ?) and (? = 0 or
[Generation] = ?);

-- TIMEOUT_RELEASE
update [dbo].[pawl_timeouts] set [Owner] = null, [LeaseExpires] = null, [LeaseWorker] = null where
[Id] = ? and (? is null or [Owner] = ?) and (? = 0 or [Generation] = ?);

-- TIMEOUT_RETRY
update [dbo].[pawl_timeouts] set [Owner] = null, [LeaseExpires] = null, [LeaseWorker] = null, [Due]
= ?, [Attempts] = ? where [Id] = ? and (? is null or [Owner] = ?) and (? = 0 or [Generation] = ?);

-- TIMEOUT_INSERT
insert into [dbo].[pawl_timeouts] ([Id], [Generation], [SagaId], [SagaType], [Name], [Destination],
[Due], [Attempts], [CorrelationId], [Headers]) values (?, 1, ?, ?, ?, ?, ?, 0, ?, ?);

-- TIMEOUT_REARM
update [dbo].[pawl_timeouts] set [Generation] = [Generation] + 1, [SagaType] = ?, [Destination] = ?,
[Due] = ?, [Attempts] = 0, [Owner] = null, [LeaseExpires] = null, [LeaseWorker] = null,
[CorrelationId] = ?, [Headers] = ?, [SagaId] = ?, [Name] = ? where [Id] = ?;

-- OUTBOX_DUE
select [Id], [NextAttempt], [Version], [Index], [Attempts], [DispatchId], [Source], [Endpoint],
[Destination], [Due], [At], [AttemptsBefore], [MessageId], [Type], [CorrelationId], [CausationId],
[Headers], [Body], [State], [DispatchedAt] from [dbo].[pawl_outbox] where [State] = 'pending' and
[NextAttempt] <= ? and (? = '' or [Endpoint] = ?) order by [Id] offset 0 rows fetch next ? rows only;

-- OUTBOX_NEXT
select min([NextAttempt]) from [dbo].[pawl_outbox] where [State] = 'pending' and [NextAttempt] > ?
and (? = '' or [Endpoint] = ?);

-- OUTBOX_ADD
insert into [dbo].[pawl_outbox] ([DispatchId], [State], [Attempts], [NextAttempt], [Due], [At],
[Source], [Version], [Index], [Endpoint], [Destination], [AttemptsBefore], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body]) values (?, 'pending', 0, '1970-01-01', ?, ?, ?,
?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?) ;

-- OUTBOX_TAKEN
select 1 from [dbo].[pawl_outbox] where [DispatchId] = ?;

-- OUTBOX_SETTLE
update [dbo].[pawl_outbox] set [State] = ?, [Attempts] = ?, [NextAttempt] = ?, [DispatchedAt] = ?
where [Id] = ? and [State] = 'pending';

-- OUTBOX_ENABLE
update [dbo].[pawl_outbox] set [State] = 'pending', [NextAttempt] = ?, [AttemptsBefore] = [Attempts]
+ 1, [Attempts] = [Attempts] + 1 where [Id] = ? and [State] = 'dead';

-- OUTBOX_DISCARD
update [dbo].[pawl_outbox] set [State] = 'discarded', [DispatchedAt] = ?, [Attempts] = [Attempts] +
1 where [Id] = ? and [State] = 'dead';

-- OUTBOX_ATTEMPT_PUT
insert into [dbo].[pawl_outbox_attempts] ([OutboxId], [Attempt], [Outcome], [At], [Duration],
[Error]) values (?, ?, ?, ?, ?, ?);

-- OUTBOX_ATTEMPT
insert into [dbo].[pawl_outbox_attempts] ([OutboxId], [Attempt], [Outcome], [At], [Duration],
[Error]) select ?, coalesce(max([Attempt]), 0) + 1, ?, ?, ?, ? from [dbo].[pawl_outbox_attempts]
where [OutboxId] = ?;

-- OUTBOX_BLOCK
update [dbo].[pawl_outbox] set [State] = 'held' where [Id] = ? and [State] = 'pending' and
[Attempts] = 0;

-- OUTBOX_BLOCK_KNOWN
update [dbo].[pawl_outbox] set [State] = 'held' where [Id] = ? and [Source] = ? and [State] =
'pending' and [Attempts] = 0;

-- OUTBOX_SOURCES
select [Id], [Source] from [dbo].[pawl_outbox] where [State] = 'pending' and [Attempts] = 0 and [Id]
> ? order by [Id];

-- OUTBOX_UNBLOCK
update [dbo].[pawl_outbox] set [State] = 'pending' where [State] = 'held' and [Source] = ?;

-- HISTORY_ADD
insert into [dbo].[pawl_history] ([Endpoint], [Source], [MessageId], [Type], [Kind], [Outcome],
[Version], [Attempts], [Duration], [At], [Error], [Out]) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- HISTORY_PAGE
select count(*), coalesce(max([Id]), 0) from (select [Id] from [dbo].[pawl_history] where [Id] > ?
order by [Id] offset 0 rows fetch next ? rows only) page;

-- EVENT_LAST
select max([Version]) from [dbo].[pawl_events] where [Stream] = ?;

-- EVENT_BEHIND
select [Seq], [Position], [Stream], [Version], [Type], [TypeVersion], [MessageId], [CorrelationId],
[CausationId], [DispatchId], [At], [Headers], [Body] from [dbo].[pawl_events] where [Stream] = ? and
[Version] > ? order by [Version];

-- EVENT_UNNUMBERED
select [Seq] from [dbo].[pawl_events] where [Position] is null order by [Seq] offset 0 rows fetch
next ? rows only;

-- EVENT_NUMBER
update [dbo].[pawl_events] set [Position] = ? where [Seq] = ?;

-- EVENT_TAKEN
select 1 from [dbo].[pawl_events] where [Stream] = ? and [Version] = ?;

-- FOLD_ADD
insert into [dbo].[pawl_folds] ([Stream], [Version], [TypeVersion], [State], [Dispatches], [At])
values (?, ?, ?, ?, ?, ?);

-- FOLD_TAKEN
select 1 from [dbo].[pawl_folds] where [Stream] = ?;

-- FOLD_GET
select [Version], [TypeVersion], [State], [Dispatches], [At] from [dbo].[pawl_folds] where [Stream]
= ? and [TypeVersion] <= ? and [Version] > ?;

-- CHECKPOINT_ADD
insert into [dbo].[pawl_checkpoints] ([Name], [Position], [At]) values (?, ?, ?) ;

-- CHECKPOINT_TAKEN
select 1 from [dbo].[pawl_checkpoints] where [Name] = ?;

-- CHECKPOINT_MOVE
update [dbo].[pawl_checkpoints] set [Position] = ?, [At] = ? where [Name] = ? and [Position] = ?;

-- AGGREGATOR_ADD
insert into [dbo].[pawl_aggregator] ([Name], [Partition], [Key], [At], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body]) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ;

-- AGGREGATOR_TAKEN
select 1 from [dbo].[pawl_aggregator] where [Partition] = ? and [Key] = ?;

-- AGGREGATOR_HEAD
select [Type], [LeaseExpires], [Id] from [dbo].[pawl_aggregator] where [Partition] = ?;

-- AGGREGATOR_STAMP
update [dbo].[pawl_aggregator] set [Session] = ?, [LeaseExpires] = ?, [LeaseWorker] = ? where [Id] =
?;

-- AGGREGATOR_DELETE
delete from [dbo].[pawl_aggregator] where [Id] = ? and [Partition] = ? and (? is null or [Session] =
?);

-- AGGREGATOR_DELETE_ALL
delete from [dbo].[pawl_aggregator] where [Partition] = ?;

-- AGGREGATOR_DELETE_OLDEST
delete from [dbo].[pawl_aggregator] where [Id] = (select [Id] from [dbo].[pawl_aggregator] where
[Partition] = ? and [CorrelationId] = ? order by [At], [Id] offset 0 rows fetch next 1 rows only);

-- AGGREGATOR_RELEASE
update [dbo].[pawl_aggregator] set [Session] = null, [LeaseExpires] = null, [LeaseWorker] = null
where [Partition] = ? and [Session] = ?;

-- FLUSH_TAKEN
select 1 from [dbo].[pawl_aggregator_flush] where [Partition] = ?;

-- FLUSH_TOUCH
update [dbo].[pawl_aggregator_flush] set [Name] = [Name] where [Partition] = ?;

-- FLUSH_DONE
delete from [dbo].[pawl_aggregator_flush] where [Partition] = ? and not exists (select 1 from
[dbo].[pawl_aggregator] where [Partition] = ?);

-- FLUSH_SET
update [dbo].[pawl_aggregator_flush] set [Due] = ?, [Attempts] = ?, [Dead] = ?, [Error] = ? where
[Partition] = ?;

-- FLUSH_GET
select [Due], [Attempts], [Dead] from [dbo].[pawl_aggregator_flush] where [Partition] = ?;

-- FLUSH_FIRST
select [Due] from [dbo].[pawl_aggregator_flush] where [Name] = ? and [Dead] = 0 order by [Due]
offset 0 rows fetch next 1 rows only;

-- DEAD_ADD
insert into [dbo].[pawl_dead] ([Endpoint], [Queue], [Code], [Error], [Attempts], [Deaths],
[History], [At], [MessageId], [Type], [CorrelationId], [CausationId], [Headers], [Body]) values (?,
?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ;

-- DEAD_TAKEN
select 1 from [dbo].[pawl_dead] where [Endpoint] = ? and [MessageId] = ?;

-- DEAD_DELETE
delete from [dbo].[pawl_dead] where [Endpoint] = ? and [MessageId] = ?;

-- DEAD_DELETE_OF
delete from [dbo].[pawl_dead] where [Endpoint] = ? and [MessageId] = ? and [At] = ?;

-- SUBSCRIPTION_ADD
insert into [dbo].[pawl_subscriptions] ([Type], [Queue]) values (?, ?) ;

-- SUBSCRIPTION_TAKEN
select 1 from [dbo].[pawl_subscriptions] where [Type] = ? and [Queue] = ?;

-- SUBSCRIPTION_DELETE
delete from [dbo].[pawl_subscriptions] where [Type] = ? and [Queue] = ?;

-- QUEUE_CLAIM
select [Seq], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], [History], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body] from [dbo].[pawl_queue] with (updlock, readpast,
rowlock, readcommittedlock, index([pawl_queue_due])) where [Queue] = ? and [Due] <= ? order by
[Due], [Seq] offset 0 rows fetch next ? rows only;

-- QUEUE_CLAIM_MORE
select [Seq], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], [History], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body] from [dbo].[pawl_queue] with (updlock, readpast,
rowlock, readcommittedlock, index([pawl_queue_due])) where [Queue] = ? and [Due] <= ? and [Seq] not
in (select cast(value as bigint) from string_split(cast(? as nvarchar(max)), ',')) order by [Due],
[Seq] offset 0 rows fetch next ? rows only option (loop join);

-- QUEUE_CLAIM_AGAIN
select [Seq], [Due], [Placed], [Attempts], [Deaths], [WaitingSince], [History], [MessageId], [Type],
[CorrelationId], [CausationId], [Headers], [Body] from [dbo].[pawl_queue] with (updlock, readpast,
rowlock, readcommittedlock) where [Seq] = ? and [Queue] = ? and [Due] <= ?;

-- QUEUE_COUNT_DUE
select count(*) from (select [Seq] from [dbo].[pawl_queue] with (readpast, readcommittedlock) where
[Queue] = ? and [Due] <= ? order by [Due], [Seq] offset 0 rows fetch next ? rows only) as d;

-- QUEUE_LOCK
select [Seq] from [dbo].[pawl_queue] with (updlock, readpast, rowlock, readcommittedlock) where
[Seq] = ? and [Due] = ?;

-- QUEUE_FIRST, for QUEUE_FIRST
select [Due] from [dbo].[pawl_queue] with (updlock, readpast, rowlock, readcommittedlock,
index([pawl_queue_due])) where [Queue] = ? order by [Due] offset 0 rows fetch next 1 rows only;

-- OUTBOX_BLOCK_BEHIND
update [dbo].[pawl_outbox] set [State] = 'held' where [State] = 'pending' and [Attempts] = 0 and
[Id] > ? and [Source] = ?;

-- OUTBOX_SAME, for OUTBOX_SAME
select 1 from [dbo].[pawl_outbox] where [DispatchId] = ? and [Type] = ? and [Body] = cast(? as
varbinary(max)) and datalength([Body]) = datalength(cast(? as varbinary(max)));

-- WORKER_FOLD, for WORKER_FOLD
update t set t.[Messages] = t.[Messages] + w.[Messages], t.[Timeouts] = t.[Timeouts] + w.[Timeouts],
t.[Flushes] = t.[Flushes] + w.[Flushes], t.[Failures] = t.[Failures] + w.[Failures], t.[Conflicts] =
t.[Conflicts] + w.[Conflicts], t.[Dead] = t.[Dead] + w.[Dead] from [dbo].[pawl_workers] as t join
[dbo].[pawl_workers] as w on w.[Id] = ? where t.[Id] = ?;

-- WORKER_KEEP, for WORKER_KEEP
insert into [dbo].[pawl_workers] ([Id], [Endpoint], [Types], [Epoch], [Process], [Pid], [Seen],
[Messages], [Timeouts], [Flushes], [Failures], [Conflicts], [Dead]) select ?, '', '', 0, 0, 0,
'1970-01-01', 0, 0, 0, 0, 0, 0 where not exists (select 1 from [dbo].[pawl_workers] with (updlock,
holdlock, rowlock) where [Id] = ?);

-- LEAD_LIST, for LEAD_LIST
select substring(l.[Name], 6, 400), l.[Worker], l.[Expires], w.[Process], w.[Seen] from
[dbo].[pawl_leases] as l join [dbo].[pawl_workers] as w on w.[Id] = l.[Worker] where
substring(l.[Name], 1, 5) = 'lead:' and l.[Expires] > ?;

-- LEASE_LOCK, for LEASE_LOCK
select [Epoch] from [dbo].[pawl_leases] with (updlock, rowlock) where [Name] = ?;

-- INBOX_SWEEP, for INBOX_SWEEP
with old as (select top (?) [At] from [dbo].[pawl_inbox] with (readpast, rowlock, readcommittedlock)
where [At] < ? order by [At]) delete from old;

-- OUTBOX_SWEEP, for OUTBOX_SWEEP
with old as (select top (?) [At] from [dbo].[pawl_outbox] with (readpast, rowlock,
readcommittedlock) where [DispatchedAt] < ? order by [DispatchedAt]) delete from old;

-- HISTORY_SWEEP, for HISTORY_SWEEP
with old as (select top (?) [Id], [At] from [dbo].[pawl_history] with (readpast, rowlock,
readcommittedlock) where [Id] > ? order by [Id]) delete from old where [At] < ?;

-- TIMEOUT_FOREIGN, for TIMEOUT_FOREIGN
with d (name) as (select min([Destination]) from [dbo].[pawl_timeouts] union all select r.name from
(select t.[Destination] as name, row_number() over (order by t.[Destination]) as place from
[dbo].[pawl_timeouts] as t join d on t.[Destination] > d.name) as r where r.place = 1), f (name,
due) as (select d.name, (select min(t.[Due]) from [dbo].[pawl_timeouts] as t where t.[Destination] =
d.name and (t.[LeaseExpires] is null or t.[LeaseExpires] <= ?)) from d where d.name is not null and
(d.name = ? or not exists (select 1 from [dbo].[pawl_subscriptions] as s where s.[Queue] = d.name)))
select name, due from f where due is not null order by name option (maxrecursion 0);

-- TIMEOUT_CLAIM, for TIMEOUT_CLAIM
select [Id], [Generation], [SagaId], [SagaType], [Name], [Destination], [Due], [Headers],
[CorrelationId], [Attempts], [Owner], [LeaseExpires] from [dbo].[pawl_timeouts] with (updlock,
readpast, rowlock, readcommittedlock, index([pawl_timeouts_due])) where [Destination] = ? and [Due]
<= ? and ([LeaseExpires] is null or [LeaseExpires] <= ?) order by [Due], [Id] offset 0 rows fetch
next ? rows only;

-- TIMEOUT_CLAIM_ANY, for TIMEOUT_CLAIM_ANY
select [Id], [Generation], [SagaId], [SagaType], [Name], [Destination], [Due], [Headers],
[CorrelationId], [Attempts], [Owner], [LeaseExpires] from [dbo].[pawl_timeouts] with (updlock,
readpast, rowlock, readcommittedlock, index([pawl_timeouts_any])) where [Due] <= ? and
([LeaseExpires] is null or [LeaseExpires] <= ?) order by [Due], [Id] offset 0 rows fetch next ? rows
only;

-- EVENT_TURN, for EVENT_TURN
select [Version] from [dbo].[pawl_schema] with (updlock, rowlock) where [Part] = 'pawl';

-- EVENT_INSERT, for EVENT_INSERT
insert into [dbo].[pawl_events] ([Stream], [Version], [Type], [TypeVersion], [MessageId],
[CorrelationId], [CausationId], [DispatchId], [At], [Headers], [Body]) select case when ? = 0 or ? =
1 or exists (select 1 from [dbo].[pawl_events] where [Stream] = ? and [Version] = ? - 1) then ? end,
?, ?, ?, ?, ?, ?, ?, ?, ?, ?;

-- EVENT_POSITION, for EVENT_POSITION
select max([Position]) from [dbo].[pawl_events] where [Position] is not null;

-- TIMEOUT_CANCEL, for TIMEOUT_CANCEL
delete from [dbo].[pawl_timeouts] where [SagaId] = ? and [Name] between ? and ? and [Name] <> '';

-- TIMEOUT_CANCEL_ALL, for TIMEOUT_CANCEL_ALL
delete from [dbo].[pawl_timeouts] where [Id] in (select [Id] from [dbo].[pawl_timeouts] where
[SagaId] between ? and ? and [SagaId] is not null and [Name] <> '' union all select [Id] from
[dbo].[pawl_timeouts] where [SagaId] between ? and ? and [SagaId] is not null and [Name] = '');

-- TIMEOUT_LIST, for TIMEOUT_LIST
select top (?) [Id], [Generation], [SagaId], [SagaType], [Name], [Destination], [Due], [Headers],
[CorrelationId], [Attempts], [Owner], [LeaseExpires] from (select top (?) with ties [Id],
[Generation], [SagaId], [SagaType], [Name], [Destination], [Due], [Headers], [CorrelationId],
[Attempts], [Owner], [LeaseExpires] from [dbo].[pawl_timeouts] where [Destination] = ? and [Due] >=
? and ([Due] > ? or convert(char(36), [Id]) > convert(char(36), cast(? as uniqueidentifier))) order
by [Due]) as t order by [Due], convert(char(36), [Id]);

-- TIMEOUT_LIST_SAGA, for TIMEOUT_LIST_SAGA
select [Id], [Generation], [SagaId], [SagaType], [Name], [Destination], [Due], [Headers],
[CorrelationId], [Attempts], [Owner], [LeaseExpires] from [dbo].[pawl_timeouts] where [Id] in
(select [Id] from [dbo].[pawl_timeouts] where [SagaId] between ? and ? and [SagaId] is not null and
[Name] <> '' union all select [Id] from [dbo].[pawl_timeouts] where [SagaId] between ? and ? and
[SagaId] is not null and [Name] = '') and [Due] >= ? and ([Due] > ? or [Id] > ?) order by [Due],
[Id] offset 0 rows fetch next ? rows only;

-- TIMEOUT_REARM_SAGA, for TIMEOUT_REARM_SAGA
update [dbo].[pawl_timeouts] set [Generation] = [Generation] + 1, [SagaType] = ?, [Destination] = ?,
[Due] = ?, [Attempts] = 0, [Owner] = null, [LeaseExpires] = null, [LeaseWorker] = null,
[CorrelationId] = ?, [Headers] = ? where [SagaId] = ? and [Name] between ? and ? and [Name] <> '';

-- HISTORY_FIND_SOURCE, for HISTORY_FIND_SOURCE
select [Id], [Endpoint], [Source], [MessageId], [Type], [Kind], [Outcome], [Version], [Attempts],
[Duration], [At], [Error], [Out] from [dbo].[pawl_history] where [Source] between ? and ? and
[Source] <> '' and (? = '' or [Source] = ?) and (? = '' or [MessageId] = ?) and [Id] > ? order by
[Id] offset 0 rows fetch next ? rows only;

-- FOLD_SET, for FOLD_SET
merge into [dbo].[pawl_folds] with (updlock, holdlock, rowlock) as t using (select ? as [Stream], ?
as [Version], ? as [TypeVersion], cast(? as nvarchar(max)) as [State], cast(? as nvarchar(max)) as
[Dispatches], ? as [At]) as k on t.[Stream] = k.[Stream] when matched and k.[Version] > t.[Version]
then update set t.[Version] = k.[Version], t.[TypeVersion] = k.[TypeVersion], t.[State] = k.[State],
t.[Dispatches] = k.[Dispatches], t.[At] = k.[At] when not matched then insert ([Stream], [Version],
[TypeVersion], [State], [Dispatches], [At]) values (k.[Stream], k.[Version], k.[TypeVersion],
k.[State], k.[Dispatches], k.[At]);

-- FLUSH_ADD, for FLUSH_ADD
merge into [dbo].[pawl_aggregator_flush] with (updlock, holdlock, rowlock) as t using (select ? as
[Partition], ? as [Name], ? as [Due]) as k on t.[Partition] = k.[Partition] when matched then update
set t.[Name] = k.[Name] when not matched then insert ([Partition], [Name], [Due], [Attempts],
[Dead], [Error]) values (k.[Partition], k.[Name], k.[Due], 0, 0, '');

-- AGGREGATOR_CLAIM, for AGGREGATOR_CLAIM
select [Type], [LeaseExpires], [Id], [Name], [Partition], [Key], [At], [Session], [MessageId],
[Type], [CorrelationId], [CausationId], [Headers], [Body] from [dbo].[pawl_aggregator] with
(updlock, readpast, rowlock, readcommittedlock, index([pawl_aggregator_at])) where [Partition] = ?
order by [At], [Id];

-- NEWS, for NEWS
select coalesce((select max([Seq]) from [dbo].[pawl_queue] with (readpast, readcommittedlock)), 0),
coalesce((select max([Id]) from [dbo].[pawl_outbox] with (readpast, readcommittedlock)), 0),
coalesce((select max([Seq]) from [dbo].[pawl_events] with (readpast, readcommittedlock)), 0),
coalesce((select max([Id]) from [dbo].[pawl_aggregator] with (readpast, readcommittedlock)), 0);

-- SCHEMA_COLUMNS
select t.name, c.name, case when y.name in ('nvarchar', 'varchar', 'varbinary') then concat(y.name,
'(', case when c.max_length = -1 then 'max' when y.name = 'nvarchar' then cast(c.max_length / 2 as
varchar(10)) else cast(c.max_length as varchar(10)) end, ')') when y.name in ('datetime2',
'datetimeoffset') then concat(y.name, '(', c.scale, ')') else y.name end, coalesce(c.collation_name,
''), case when c.is_nullable = 1 then 0 else 1 end, case when c.is_identity = 1 or c.is_computed = 1
or c.default_object_id <> 0 then 1 else 0 end from sys.tables as t join sys.columns as c on
c.object_id = t.object_id join sys.types as y on y.user_type_id = c.user_type_id where t.schema_id =
schema_id('dbo') and t.name = ? order by c.column_id;

-- SCHEMA_INDEXES
select t.name, i.name, stuff((select concat(', ', quotename(c.name)) from sys.index_columns as k
join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where k.object_id =
i.object_id and k.index_id = i.index_id and k.is_included_column = 0 and c.is_computed = 0 order by
k.key_ordinal for xml path(''), type).value('.', 'nvarchar(max)'), 1, 2, ''), cast(i.is_primary_key
as int), cast(i.is_unique as int), case when i.is_disabled = 1 then 0 else 1 end, cast(i.has_filter
as int) from sys.tables as t join sys.indexes as i on i.object_id = t.object_id and i.type > 0 where
t.schema_id = schema_id('dbo') and t.name = ? order by i.index_id;

-- saga Order 0
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion], [Correlation_OrderId],
[Correlation_OldId] from [dbo].[shop_Order] where [Id] = ?;

-- saga Order 1
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion], [Correlation_OrderId],
[Correlation_OldId] from (select ? collate Latin1_General_100_BIN2 as [v]) as k, [dbo].[shop_Order]
where [Correlation_OrderId] = k.[v] and datalength([Correlation_OrderId]) = datalength(k.[v]);

-- saga Order 2
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion], [Correlation_OrderId],
[Correlation_OldId] from [dbo].[shop_Order] where [Correlation_OldId] = ?;

-- saga Order 3
insert into [dbo].[shop_Order] ([Id], [Metadata], [Data], [PersistenceVersion], [SagaTypeVersion],
[Concurrency], [Correlation_OrderId], [Correlation_OldId]) values (?, ?, ?, 'VERSION', ?, 1, ?, ?);

-- saga Order 4
update [dbo].[shop_Order] set [Concurrency] = [Concurrency] + 1, [Correlation_OldId] = ?, [Metadata]
= ?, [Data] = ?, [PersistenceVersion] = 'VERSION', [SagaTypeVersion] = ? where 0 = ? and [Id] = ? and
[Concurrency] = ?;

-- saga Order 5
update [dbo].[shop_Order] set [Concurrency] = [Concurrency] + 1, [Correlation_OldId] = ?, [Metadata]
= ?, [Data] = ?, [PersistenceVersion] = 'VERSION', [SagaTypeVersion] = ? where [Id] = ? and
[Concurrency] = ?;

-- saga Order 6
delete from [dbo].[shop_Order] where [Id] = ? and [Concurrency] = ?;

-- saga Order 7
select count(*) from [dbo].[shop_Order];

-- saga Order 8
select [Id], [PersistenceVersion], [SagaTypeVersion], [Data] from [dbo].[shop_Order] where [Id] > ?
order by [Id] offset 0 rows fetch next ? rows only;

-- saga Order 9
select 1 from [dbo].[shop_Order] where [Id] <> ? and [Correlation_OldId] = ?;

-- saga Order 10
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion], [Correlation_OrderId],
[Correlation_OldId] from [dbo].[shop_Order] with (updlock, rowlock) where [Id] = ?;

-- saga Order 11
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion], [Correlation_OrderId],
[Correlation_OldId] from (select ? collate Latin1_General_100_BIN2 as [v]) as k, [dbo].[shop_Order]
with (updlock, rowlock) where [Correlation_OrderId] = k.[v] and datalength([Correlation_OrderId]) =
datalength(k.[v]);

-- saga Order 12
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion], [Correlation_OrderId],
[Correlation_OldId] from [dbo].[shop_Order] with (updlock, rowlock) where [Correlation_OldId] = ?;

-- saga Order 13
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion], [Correlation_OrderId],
[Correlation_OldId] from [dbo].[shop_Order] with (updlock, readpast, rowlock, readcommittedlock)
where [Id] = ?;

-- saga Order 14
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion], [Correlation_OrderId],
[Correlation_OldId] from (select ? collate Latin1_General_100_BIN2 as [v]) as k, [dbo].[shop_Order]
with (updlock, readpast, rowlock, readcommittedlock) where [Correlation_OrderId] = k.[v] and
datalength([Correlation_OrderId]) = datalength(k.[v]);

-- saga Order 15
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion], [Correlation_OrderId],
[Correlation_OldId] from [dbo].[shop_Order] with (updlock, readpast, rowlock, readcommittedlock)
where [Correlation_OldId] = ?;

-- saga Plain 0
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion] from [dbo].[shop_Plain] where
[Id] = ?;

-- saga Plain 3
insert into [dbo].[shop_Plain] ([Id], [Metadata], [Data], [PersistenceVersion], [SagaTypeVersion],
[Concurrency]) values (?, ?, ?, 'VERSION', ?, 1);

-- saga Plain 4
update [dbo].[shop_Plain] set [Concurrency] = [Concurrency] + 1, [Metadata] = ?, [Data] = ?,
[PersistenceVersion] = 'VERSION', [SagaTypeVersion] = ? where 0 = ? and [Id] = ? and [Concurrency] = ?;

-- saga Plain 5
update [dbo].[shop_Plain] set [Concurrency] = [Concurrency] + 1, [Metadata] = ?, [Data] = ?,
[PersistenceVersion] = 'VERSION', [SagaTypeVersion] = ? where [Id] = ? and [Concurrency] = ?;

-- saga Plain 6
delete from [dbo].[shop_Plain] where [Id] = ? and [Concurrency] = ?;

-- saga Plain 7
select count(*) from [dbo].[shop_Plain];

-- saga Plain 8
select [Id], [PersistenceVersion], [SagaTypeVersion], [Data] from [dbo].[shop_Plain] where [Id] > ?
order by [Id] offset 0 rows fetch next ? rows only;

-- saga Plain 9
select 1 from [dbo].[shop_Plain] where [Id] <> ? and 1 = 0;

-- saga Plain 10
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion] from [dbo].[shop_Plain] with
(updlock, rowlock) where [Id] = ?;

-- saga Plain 13
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion] from [dbo].[shop_Plain] with
(updlock, readpast, rowlock, readcommittedlock) where [Id] = ?;

-- a round of two
set nocount on; declare @f varchar(200) = '', @c int; begin try delete from [dbo].[pawl_queue] where
[Seq] = ? and [Queue] = ?; set @c = @@rowcount; set @f += case when @c = 0 then 'm' else 'a' end;
end try begin catch if xact_state() <> 1 or error_number() not in (515, 2601, 2627) throw; set @f +=
case error_number() when 515 then 'n' else 'd' end; end catch; begin try delete from
[dbo].[pawl_queue] where [Seq] = ? and [Queue] = ?; set @c = @@rowcount; set @f += case when @c = 0
then 'm' else 'a' end; end try begin catch if xact_state() <> 1 or error_number() not in (515, 2601,
2627) throw; set @f += case error_number() when 515 then 'n' else 'd' end; end catch; set nocount
off; select @f;

-- saga with an offset
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion],
cast(switchoffset([Correlation_At], '+00:00') as datetime2(6)) from [dbo].[shop_Alarm] where
[Correlation_At] = ?;

-- saga with an offset
insert into [dbo].[shop_Alarm] ([Id], [Metadata], [Data], [PersistenceVersion], [SagaTypeVersion],
[Concurrency], [Correlation_At]) values (?, ?, ?, 'VERSION', ?, 1, ?);

-- saga from before pawl
select 0, [Id], [Concurrency], [Metadata], [Data], [SagaTypeVersion],
coalesce(try_convert(datetime2(6), json_value([Data], '$."At"'), 127), [Correlation_At]) from
[dbo].[shop_Alarm] where [Correlation_At] = cast(cast(? as datetime2(6)) as datetime);

-- saga from before pawl
insert into [dbo].[shop_Alarm] ([Id], [Metadata], [Data], [PersistenceVersion], [SagaTypeVersion],
[Concurrency], [Correlation_At]) values (?, ?, ?, 'VERSION', ?, 1, cast(cast(? as datetime2(6)) as
datetime));

-- settings
set quoted_identifier on; set ansi_nulls on; set ansi_padding on; set ansi_warnings on; set
arithabort on; set concat_null_yields_null on; set numeric_roundabort off; set ansi_null_dflt_on on;
set nocount off; set xact_abort off; set implicit_transactions off; set cursor_close_on_commit off;
set rowcount 0; set textsize 2147483647; set dateformat ymd; set deadlock_priority normal; set
transaction isolation level read committed; set lock_timeout 27000;

-- begin
set implicit_transactions off; if @@trancount > 0 rollback transaction; begin transaction; set
implicit_transactions on; declare @pawl bigint = current_transaction_id(); exec
sp_set_session_context N'pawl', @pawl;

-- commit
if @@trancount <> 1 or coalesce(cast(session_context(N'pawl') as bigint), 0) <>
current_transaction_id() throw 50001, N'pawl: the transaction is another one than was begun', 1;
commit transaction; set implicit_transactions off;

-- rollback
if @@trancount > 0 rollback transaction; if session_context(N'pawl') is not null set
implicit_transactions off;

-- savepoint
save transaction pawl_set;

-- to the savepoint
if @@trancount <> 1 and session_context(N'pawl') is not null throw 50001, N'pawl: a transaction
within its own is open', 1; rollback transaction pawl_set;

-- who lives
select concat('', case when applock_test(N'public', N'pawl_/0123456789abcdef', N'Exclusive',
N'Session') = 0 or applock_mode(N'public', N'pawl_/0123456789abcdef', N'Session') <> N'NoLock' then
1 else 0 end, case when datediff_big(microsecond, '1970-01-01', sysutcdatetime()) < 1700000000123456
+ 15000000 then 1 else 0 end, '');

-- script: lock
declare @pawl int; exec @pawl = sp_getapplock @Resource = N'pawl', @LockMode = N'Exclusive',
@LockOwner = N'Transaction', @LockTimeout = 27000; select @pawl;

-- doctor: server
select cast(0 as bigint), concat('SQL Server ', cast(serverproperty('ProductVersion') as
nvarchar(128)), ', ', cast(serverproperty('Edition') as nvarchar(128))), '';

-- doctor: clock
select datediff_big(microsecond, '1970-01-01', sysutcdatetime()), '', '';

-- doctor: rights
select cast(2 as bigint), concat('this user may not do on ', n.t, ':', n.r), concat('grant select,
insert, update, delete on ', n.t, ' to ', quotename(user_name())) from (select n.t, concat(case
has_perms_by_name(n.t, 'OBJECT', 'SELECT') when 1 then '' else ' SELECT' end, case
has_perms_by_name(n.t, 'OBJECT', 'INSERT') when 1 then '' else ' INSERT' end, case
has_perms_by_name(n.t, 'OBJECT', 'UPDATE') when 1 then '' else ' UPDATE' end, case
has_perms_by_name(n.t, 'OBJECT', 'DELETE') when 1 then '' else ' DELETE' end) as r from (values
('[dbo].[pawl_queue]'), ('[dbo].[pawl_dead]'), ('[dbo].[pawl_inbox]'), ('[dbo].[pawl_outbox]'),
('[dbo].[pawl_outbox_attempts]'), ('[dbo].[pawl_events]'), ('[dbo].[pawl_folds]'),
('[dbo].[pawl_checkpoints]'), ('[dbo].[pawl_timeouts]'), ('[dbo].[pawl_aggregator]'),
('[dbo].[pawl_aggregator_flush]'), ('[dbo].[pawl_subscriptions]'), ('[dbo].[pawl_workers]'),
('[dbo].[pawl_leases]'), ('[dbo].[pawl_history]')) as n (t)) as n where n.r <> '';

-- doctor: row_versions
select cast(case when is_read_committed_snapshot_on = 1 then 0 else 1 end as bigint), case when
is_read_committed_snapshot_on = 1 then 'read_committed_snapshot is on: readers wait for nobody' else
'read_committed_snapshot is off: lists, statistics and queries wait for commits under way' end, case
when is_read_committed_snapshot_on = 1 then '' else concat('alter database ', quotename(name), ' set
read_committed_snapshot on with rollback immediate') end from sys.databases where database_id =
db_id();

-- doctor: durability
select cast(case when delayed_durability_desc <> 'FORCED' then 0 else 1 end as bigint), case when
delayed_durability_desc <> 'FORCED' then delayed_durability_desc else 'delayed_durability is forced:
commits of the last moments are lost when the server crashes' end, case when delayed_durability_desc
<> 'FORCED' then '' else concat('alter database ', quotename(name), ' set delayed_durability =
disabled') end from sys.databases where database_id = db_id();

-- doctor: auto_close
select cast(case when is_auto_close_on = 0 then 0 else 1 end as bigint), case when is_auto_close_on
= 0 then 'auto_close is off' else 'auto_close is on: the database is opened anew for the next
session' end, case when is_auto_close_on = 0 then '' else concat('alter database ', quotename(name),
' set auto_close off') end from sys.databases where database_id = db_id();

-- doctor: statistics
select cast(case when is_auto_update_stats_on = 1 then 0 else 1 end as bigint), case when
is_auto_update_stats_on = 1 then 'statistics are kept' else 'auto_update_statistics is off: plans of
empty tables stay' end, case when is_auto_update_stats_on = 1 then '' else concat('alter database ',
quotename(name), ' set auto_update_statistics on') end from sys.databases where database_id =
db_id();

-- doctor: read_only
select cast(case when cast(databasepropertyex(name, 'Updateability') as nvarchar(20)) = 'READ_WRITE'
then 0 else 2 end as bigint), case when cast(databasepropertyex(name, 'Updateability') as
nvarchar(20)) = 'READ_WRITE' then 'the database may be written' else case when is_read_only = 1 then
'the database can only be read' else 'the database can only be read on this server: name the primary
replica' end end, case when cast(databasepropertyex(name, 'Updateability') as nvarchar(20)) =
'READ_WRITE' then '' else case when is_read_only = 1 then concat('alter database ', quotename(name),
' set read_write') else '' end end from sys.databases where database_id = db_id();

-- doctor: page_verify
select cast(case when page_verify_option = 2 then 0 else 1 end as bigint), case when
page_verify_option = 2 then 'pages have checksums' else concat('page_verify is ',
page_verify_option_desc, ': a damaged page is not noticed') end, case when page_verify_option = 2
then '' else concat('alter database ', quotename(name), ' set page_verify checksum') end from
sys.databases where database_id = db_id();

-- doctor: settings
select cast(case when @@options & 5496 = 5496 and @@options & 8192 = 0 then 0 else 2 end as bigint),
concat('options of the session: ', @@options), '';

-- Statements whose parameters are not taken once and in their order
-- LEASE_UPDATE: 2 3 4 5 6 1
-- QUEUE_FIND: 1 2 2 3 3 4 5 6 7 8 9
-- QUEUE_FIND_TIE: 1 2 2 3 3 4 5 6 7
-- QUEUE_FIND_ONE: 1 2 1 2 2 3 3 4 5 6 7 8 9
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
-- HISTORY_FIND_MESSAGE: 2 1 1 2 2 3 4
-- PARTITION_SCAN: 1 2 2 3 3 4 5
-- WORKER_INSERT: 1 2 3 4 5 4 6 7 8 9 10 4 6
-- WORKER_REPLACE: 1 2 3 4 3 5 7 8 9 10 3 5 6
-- QUEUE_SEND: 1 2 2 3 4 5 6 7 8 9
-- TIMEOUT_DELETE: 1 2 2 3 3
-- TIMEOUT_RELEASE: 1 2 2 3 3
-- TIMEOUT_RETRY: 4 5 1 2 2 3 3
-- OUTBOX_DUE: 1 3 3 2
-- OUTBOX_NEXT: 1 2 2
-- OUTBOX_ADD: 1 3 2 4 5 6 7 8 9 10 11 12 13 14
-- OUTBOX_ATTEMPT: 1 2 3 4 5 1
-- CHECKPOINT_MOVE: 2 3 1 4
-- AGGREGATOR_DELETE: 1 2 3 3
-- FLUSH_DONE: 1 1
-- QUEUE_CLAIM_MORE: 1 2 4 3
-- OUTBOX_BLOCK_BEHIND: 2 1
-- OUTBOX_SAME: 1 2 3 3
-- WORKER_FOLD: 2 1
-- WORKER_KEEP: 1 1
-- INBOX_SWEEP: 2 1
-- OUTBOX_SWEEP: 2 1
-- HISTORY_SWEEP: 2 3 1
-- TIMEOUT_FOREIGN: 2 1
-- EVENT_INSERT: 12 2 1 2 1 2 3 4 5 6 7 8 9 10 11
-- TIMEOUT_CANCEL: 1 2 2
-- TIMEOUT_CANCEL_ALL: 1 1 1 1
-- TIMEOUT_LIST: 4 4 1 2 2 3
-- TIMEOUT_LIST_SAGA: 1 1 1 1 2 2 3 4
-- TIMEOUT_REARM_SAGA: 1 2 3 4 5 6 7 7
-- HISTORY_FIND_SOURCE: 1 1 1 1 2 2 3 4

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
