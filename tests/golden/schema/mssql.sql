-- Tables of pawl, version 5, for SQL Server 2016 or later. To run it:
--     sqlcmd -b -x -f 65001 -d DATABASE -i FILE
-- Makes what is missing, and leaves rows as they are: it may be run again
-- One transaction: all of it is done, or nothing. Two at once take turns
set nocount on;
set xact_abort on;
set ansi_nulls on;
set ansi_padding on;
set ansi_warnings on;
set arithabort on;
set concat_null_yields_null on;
set numeric_roundabort off;
set quoted_identifier on;
set lock_timeout 60000;
begin transaction;
declare @pawl int;
exec @pawl = sp_getapplock @Resource = N'pawl', @LockMode = N'Exclusive',
    @LockOwner = N'Transaction', @LockTimeout = 60000;
if @pawl < 0
    throw 50001, N'pawl: another script has not ended within a minute', 1;

-- Messages that wait to be handled
if object_id(N'[dbo].[pawl_queue]', N'U') is null
create table [dbo].[pawl_queue] (
    [Seq] bigint identity(1, 1) not null primary key,
    [Queue] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Due] datetime2(6) not null,
    [Placed] datetime2(6) not null,
    [Attempts] bigint not null,
    [Deaths] bigint not null,
    [WaitingSince] datetime2(6) not null,
    [MessageId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Type] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [CorrelationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [CausationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Error] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    [History] nvarchar(max) collate Latin1_General_100_BIN2 null,
    [Headers] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    [Body] varbinary(max) not null
);
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_queue]', N'U')
    and name = N'pawl_queue_message')
    exec (N'create unique index [pawl_queue_message]
    on [dbo].[pawl_queue] ([Queue], [MessageId])');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_queue]', N'U')
    and name = N'pawl_queue_due')
    exec (N'create index [pawl_queue_due]
    on [dbo].[pawl_queue] ([Queue], [Due], [Seq])');

-- Dead letters: messages and timeouts that failed for good
if object_id(N'[dbo].[pawl_dead]', N'U') is null
create table [dbo].[pawl_dead] (
    [Endpoint] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Queue] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [MessageId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Type] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [CorrelationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [CausationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Code] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Attempts] bigint not null,
    [Deaths] bigint not null,
    [At] datetime2(6) not null,
    [Error] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    [History] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    [Headers] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    [Body] varbinary(max) not null,
    primary key ([Endpoint], [MessageId])
);
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_dead]', N'U')
    and name = N'pawl_dead_at')
    exec (N'create index [pawl_dead_at]
    on [dbo].[pawl_dead] ([At])');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_dead]', N'U')
    and name = N'pawl_dead_queue')
    exec (N'create index [pawl_dead_queue]
    on [dbo].[pawl_dead] ([Queue], [At])');

-- Ids of the messages that an endpoint has handled
if object_id(N'[dbo].[pawl_inbox]', N'U') is null
create table [dbo].[pawl_inbox] (
    [Endpoint] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [MessageId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Outcome] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [At] datetime2(6) not null,
    primary key ([Endpoint], [MessageId])
);
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_inbox]', N'U')
    and name = N'pawl_inbox_at')
    exec (N'create index [pawl_inbox_at]
    on [dbo].[pawl_inbox] ([At])');

-- Messages to be delivered to other systems
if object_id(N'[dbo].[pawl_outbox]', N'U') is null
create table [dbo].[pawl_outbox] (
    [Id] bigint identity(1, 1) not null primary key,
    [DispatchId] uniqueidentifier not null,
    [State] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Attempts] bigint not null,
    [NextAttempt] datetime2(6) not null,
    [Due] datetime2(6) not null,
    [At] datetime2(6) not null,
    [DispatchedAt] datetime2(6) null,
    [Source] nvarchar(402) collate Latin1_General_100_BIN2 not null,
    [Version] bigint not null,
    [Index] bigint not null,
    [Endpoint] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Destination] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [AttemptsBefore] bigint default 0 not null,
    [MessageId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Type] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [CorrelationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [CausationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Headers] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    [Body] varbinary(max) not null
);
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_outbox]', N'U')
    and name = N'pawl_outbox_dispatch')
    exec (N'create unique index [pawl_outbox_dispatch]
    on [dbo].[pawl_outbox] ([DispatchId])');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_outbox]', N'U')
    and name = N'pawl_outbox_pending')
    exec (N'create index [pawl_outbox_pending]
    on [dbo].[pawl_outbox] ([Id], [NextAttempt]) where [State] = ''pending''');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_outbox]', N'U')
    and name = N'pawl_outbox_held')
    exec (N'create index [pawl_outbox_held]
    on [dbo].[pawl_outbox] ([Source]) where [State] = ''held''');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_outbox]', N'U')
    and name = N'pawl_outbox_ended')
    exec (N'create index [pawl_outbox_ended]
    on [dbo].[pawl_outbox] ([DispatchedAt]) where [DispatchedAt] is not null');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_outbox]', N'U')
    and name = N'pawl_outbox_dead')
    exec (N'create index [pawl_outbox_dead]
    on [dbo].[pawl_outbox] ([Id]) where [State] = ''dead''');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_outbox]', N'U')
    and name = N'pawl_outbox_held_id')
    exec (N'create index [pawl_outbox_held_id]
    on [dbo].[pawl_outbox] ([Id], [NextAttempt]) where [State] = ''held'' and [Attempts] >= 0');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_outbox]', N'U')
    and name = N'pawl_outbox_tried')
    exec (N'create index [pawl_outbox_tried]
    on [dbo].[pawl_outbox] ([Id], [Attempts]) where [State] = ''pending'' and [Attempts] > 0');

-- Attempts to deliver a row of the outbox
if object_id(N'[dbo].[pawl_outbox_attempts]', N'U') is null
create table [dbo].[pawl_outbox_attempts] (
    [OutboxId] bigint not null,
    [Attempt] bigint not null,
    [Outcome] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [At] datetime2(6) not null,
    [Duration] bigint not null,
    [Error] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    primary key ([OutboxId], [Attempt]),
    foreign key ([OutboxId]) references [dbo].[pawl_outbox] ([Id]) on delete cascade
);

-- Events of streams, in their order
if object_id(N'[dbo].[pawl_events]', N'U') is null
create table [dbo].[pawl_events] (
    [Seq] bigint identity(1, 1) not null primary key,
    [Stream] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Version] bigint not null,
    [Type] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [TypeVersion] bigint not null,
    [MessageId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [CorrelationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [CausationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [DispatchId] uniqueidentifier null,
    [At] datetime2(6) not null,
    [Position] bigint null,
    [Headers] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    [Body] varbinary(max) not null
);
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_events]', N'U')
    and name = N'pawl_events_stream')
    exec (N'create unique index [pawl_events_stream]
    on [dbo].[pawl_events] ([Stream], [Version])');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_events]', N'U')
    and name = N'pawl_events_position')
    exec (N'create unique index [pawl_events_position]
    on [dbo].[pawl_events] ([Position]) where [Position] is not null');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_events]', N'U')
    and name = N'pawl_events_unnumbered')
    exec (N'create index [pawl_events_unnumbered]
    on [dbo].[pawl_events] ([Seq], [Version]) where [Position] is null');

-- States of streams, so that not all events are read
if object_id(N'[dbo].[pawl_folds]', N'U') is null
create table [dbo].[pawl_folds] (
    [Stream] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Version] bigint not null,
    [TypeVersion] bigint not null,
    [At] datetime2(6) not null,
    [State] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    [Dispatches] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    primary key ([Stream])
);

-- How far a projection has read the events
if object_id(N'[dbo].[pawl_checkpoints]', N'U') is null
create table [dbo].[pawl_checkpoints] (
    [Name] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Position] bigint not null,
    [At] datetime2(6) not null,
    primary key ([Name])
);

-- Timeouts that are set
if object_id(N'[dbo].[pawl_timeouts]', N'U') is null
create table [dbo].[pawl_timeouts] (
    [Id] uniqueidentifier not null,
    [Generation] bigint not null,
    [SagaId] uniqueidentifier null,
    [SagaType] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Name] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Destination] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Due] datetime2(6) not null,
    [Attempts] bigint not null,
    [Owner] uniqueidentifier null,
    [LeaseExpires] datetime2(6) null,
    [LeaseWorker] uniqueidentifier null,
    [CorrelationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Headers] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    primary key ([Id])
);
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_timeouts]', N'U')
    and name = N'pawl_timeouts_saga')
    exec (N'create unique index [pawl_timeouts_saga]
    on [dbo].[pawl_timeouts] ([SagaId], [Name]) where [SagaId] is not null and [Name] <> ''''');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_timeouts]', N'U')
    and name = N'pawl_timeouts_own')
    exec (N'create index [pawl_timeouts_own]
    on [dbo].[pawl_timeouts] ([SagaId]) where [SagaId] is not null and [Name] = ''''');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_timeouts]', N'U')
    and name = N'pawl_timeouts_due')
    exec (N'create index [pawl_timeouts_due]
    on [dbo].[pawl_timeouts] ([Destination], [Due], [Id])');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_timeouts]', N'U')
    and name = N'pawl_timeouts_lease')
    exec (N'create index [pawl_timeouts_lease]
    on [dbo].[pawl_timeouts] ([LeaseExpires]) where [LeaseExpires] is not null');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_timeouts]', N'U')
    and name = N'pawl_timeouts_any')
    exec (N'create index [pawl_timeouts_any]
    on [dbo].[pawl_timeouts] ([Due], [Id])');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_timeouts]', N'U')
    and name = N'pawl_timeouts_worker')
    exec (N'create index [pawl_timeouts_worker]
    on [dbo].[pawl_timeouts] ([LeaseWorker]) where [LeaseWorker] is not null');

-- Messages that aggregators collect
if object_id(N'[dbo].[pawl_aggregator]', N'U') is null
create table [dbo].[pawl_aggregator] (
    [Id] bigint identity(1, 1) not null primary key,
    [Name] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Partition] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Key] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [At] datetime2(6) not null,
    [Session] uniqueidentifier null,
    [LeaseExpires] datetime2(6) null,
    [LeaseWorker] uniqueidentifier null,
    [MessageId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Type] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [CorrelationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [CausationId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Headers] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    [Body] varbinary(max) not null
);
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_aggregator]', N'U')
    and name = N'pawl_aggregator_key')
    exec (N'create unique index [pawl_aggregator_key]
    on [dbo].[pawl_aggregator] ([Partition], [Key])');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_aggregator]', N'U')
    and name = N'pawl_aggregator_at')
    exec (N'create index [pawl_aggregator_at]
    on [dbo].[pawl_aggregator] ([Partition], [At], [Id])');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_aggregator]', N'U')
    and name = N'pawl_aggregator_lease')
    exec (N'create index [pawl_aggregator_lease]
    on [dbo].[pawl_aggregator] ([LeaseWorker]) where [LeaseWorker] is not null');

-- When a partition of an aggregator is due
if object_id(N'[dbo].[pawl_aggregator_flush]', N'U') is null
create table [dbo].[pawl_aggregator_flush] (
    [Partition] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Name] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Due] datetime2(6) not null,
    [Attempts] bigint not null,
    [Dead] bigint not null,
    [Error] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    primary key ([Partition])
);
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_aggregator_flush]', N'U')
    and name = N'pawl_aggregator_flush_due')
    exec (N'create index [pawl_aggregator_flush_due]
    on [dbo].[pawl_aggregator_flush] ([Name], [Due]) where [Dead] = 0');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_aggregator_flush]', N'U')
    and name = N'pawl_aggregator_flush_dead')
    exec (N'create index [pawl_aggregator_flush_dead]
    on [dbo].[pawl_aggregator_flush] ([Name]) where [Dead] = 1');

-- Queues that get a copy of what is published
if object_id(N'[dbo].[pawl_subscriptions]', N'U') is null
create table [dbo].[pawl_subscriptions] (
    [Type] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Queue] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    primary key ([Type], [Queue])
);

-- Threads at work, and their counts
if object_id(N'[dbo].[pawl_workers]', N'U') is null
create table [dbo].[pawl_workers] (
    [Id] uniqueidentifier not null,
    [Endpoint] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Epoch] bigint not null,
    [LastCommit] uniqueidentifier null,
    [Process] bigint not null,
    [Pid] bigint not null,
    [Seen] datetime2(6) not null,
    [Messages] bigint not null,
    [Timeouts] bigint not null,
    [Flushes] bigint not null,
    [Failures] bigint not null,
    [Conflicts] bigint not null,
    [Dead] bigint not null,
    [Host] nvarchar(201) collate Latin1_General_100_BIN2 null,
    [Program] nvarchar(201) collate Latin1_General_100_BIN2 null,
    [ProgramVersion] nvarchar(201) collate Latin1_General_100_BIN2 null,
    [PawlVersion] nvarchar(201) collate Latin1_General_100_BIN2 null,
    [Started] datetime2(6) null,
    [Types] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    primary key ([Id])
);
if col_length(N'[dbo].[pawl_workers]', N'Host') is null
    alter table [dbo].[pawl_workers] add [Host] nvarchar(201) collate Latin1_General_100_BIN2 null;
if col_length(N'[dbo].[pawl_workers]', N'Program') is null
    alter table [dbo].[pawl_workers] add [Program] nvarchar(201) collate Latin1_General_100_BIN2 null;
if col_length(N'[dbo].[pawl_workers]', N'ProgramVersion') is null
    alter table [dbo].[pawl_workers] add [ProgramVersion] nvarchar(201) collate Latin1_General_100_BIN2 null;
if col_length(N'[dbo].[pawl_workers]', N'PawlVersion') is null
    alter table [dbo].[pawl_workers] add [PawlVersion] nvarchar(201) collate Latin1_General_100_BIN2 null;
if col_length(N'[dbo].[pawl_workers]', N'Started') is null
    alter table [dbo].[pawl_workers] add [Started] datetime2(6) null;

-- Rights that only one worker or process has
if object_id(N'[dbo].[pawl_leases]', N'U') is null
create table [dbo].[pawl_leases] (
    [Name] nvarchar(402) collate Latin1_General_100_BIN2 not null,
    [Worker] uniqueidentifier null,
    [Process] bigint not null,
    [Pid] bigint not null,
    [Epoch] bigint not null,
    [Expires] datetime2(6) not null,
    primary key ([Name])
);

-- What became of each message, where an endpoint keeps it
if object_id(N'[dbo].[pawl_history]', N'U') is null
create table [dbo].[pawl_history] (
    [Id] bigint identity(1, 1) not null primary key,
    [Endpoint] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Source] nvarchar(402) collate Latin1_General_100_BIN2 not null,
    [MessageId] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Type] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Kind] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Outcome] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Version] bigint not null,
    [Attempts] bigint not null,
    [Duration] bigint not null,
    [At] datetime2(6) not null,
    [Error] nvarchar(max) collate Latin1_General_100_BIN2 not null,
    [Out] nvarchar(max) collate Latin1_General_100_BIN2 not null
);
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_history]', N'U')
    and name = N'pawl_history_source')
    exec (N'create index [pawl_history_source]
    on [dbo].[pawl_history] ([Source], [Id]) where [Source] <> ''''');
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[pawl_history]', N'U')
    and name = N'pawl_history_message')
    exec (N'create index [pawl_history_message]
    on [dbo].[pawl_history] ([MessageId], [Id])');

-- Version of these tables
if object_id(N'[dbo].[pawl_schema]', N'U') is null
create table [dbo].[pawl_schema] (
    [Part] nvarchar(201) collate Latin1_General_100_BIN2 not null,
    [Version] bigint not null,
    primary key ([Part])
);
if not exists (select 1 from [dbo].[pawl_schema])
    insert into [dbo].[pawl_schema] ([Part], [Version]) values ('pawl', 5);
update [dbo].[pawl_schema] set [Version] = 5 where [Part] = 'pawl' and [Version] < 5;

-- Saga Plain: no correlation property
if object_id(N'[dbo].[shop_Plain]', N'U') is null
create table [dbo].[shop_Plain] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    primary key ([Id])
);

-- Saga Text: found by OrderId
if object_id(N'[dbo].[shop_Text]', N'U') is null
create table [dbo].[shop_Text] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    [Correlation_OrderId] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_OrderId] as datalength([Correlation_OrderId]) persisted,
    primary key ([Id])
);
if col_length(N'[dbo].[shop_Text]', N'Correlation_OrderId') is null
    alter table [dbo].[shop_Text] add [Correlation_OrderId] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_OrderId] as datalength([Correlation_OrderId]) persisted;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_Text]', N'U')
    and name = N'Index_Correlation_OrderId')
    exec (N'create unique index [Index_Correlation_OrderId]
    on [dbo].[shop_Text] ([Correlation_OrderId], [Size_Correlation_OrderId])
    where [Correlation_OrderId] is not null');

-- Saga Int: found by Number
if object_id(N'[dbo].[shop_Int]', N'U') is null
create table [dbo].[shop_Int] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    [Correlation_Number] bigint null,
    primary key ([Id])
);
if col_length(N'[dbo].[shop_Int]', N'Correlation_Number') is null
    alter table [dbo].[shop_Int] add [Correlation_Number] bigint null;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_Int]', N'U')
    and name = N'Index_Correlation_Number')
    exec (N'create unique index [Index_Correlation_Number]
    on [dbo].[shop_Int] ([Correlation_Number])
    where [Correlation_Number] is not null');

-- Saga Guid: found by Id
if object_id(N'[dbo].[shop_Guid]', N'U') is null
create table [dbo].[shop_Guid] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    [Correlation_Id] uniqueidentifier null,
    primary key ([Id])
);
if col_length(N'[dbo].[shop_Guid]', N'Correlation_Id') is null
    alter table [dbo].[shop_Guid] add [Correlation_Id] uniqueidentifier null;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_Guid]', N'U')
    and name = N'Index_Correlation_Id')
    exec (N'create unique index [Index_Correlation_Id]
    on [dbo].[shop_Guid] ([Correlation_Id])
    where [Correlation_Id] is not null');

-- Saga Time: found by At
if object_id(N'[dbo].[shop_Time]', N'U') is null
create table [dbo].[shop_Time] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    [Correlation_At] datetime2(6) null,
    primary key ([Id])
);
if col_length(N'[dbo].[shop_Time]', N'Correlation_At') is null
    alter table [dbo].[shop_Time] add [Correlation_At] datetime2(6) null;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_Time]', N'U')
    and name = N'Index_Correlation_At')
    exec (N'create unique index [Index_Correlation_At]
    on [dbo].[shop_Time] ([Correlation_At])
    where [Correlation_At] is not null');

-- Saga Two: found by OrderId, which OrderNumber is to replace
if object_id(N'[dbo].[shop_Two]', N'U') is null
create table [dbo].[shop_Two] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    [Correlation_OrderId] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_OrderId] as datalength([Correlation_OrderId]) persisted,
    [Correlation_OrderNumber] bigint null,
    primary key ([Id])
);
if col_length(N'[dbo].[shop_Two]', N'Correlation_OrderId') is null
    alter table [dbo].[shop_Two] add [Correlation_OrderId] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_OrderId] as datalength([Correlation_OrderId]) persisted;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_Two]', N'U')
    and name = N'Index_Correlation_OrderId')
    exec (N'create unique index [Index_Correlation_OrderId]
    on [dbo].[shop_Two] ([Correlation_OrderId], [Size_Correlation_OrderId])
    where [Correlation_OrderId] is not null');
if col_length(N'[dbo].[shop_Two]', N'Correlation_OrderNumber') is null
    alter table [dbo].[shop_Two] add [Correlation_OrderNumber] bigint null;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_Two]', N'U')
    and name = N'Index_Correlation_OrderNumber')
    exec (N'create unique index [Index_Correlation_OrderNumber]
    on [dbo].[shop_Two] ([Correlation_OrderNumber])
    where [Correlation_OrderNumber] is not null');

-- Saga Long: found by abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG
if object_id(N'[dbo].[shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST]', N'U') is null
create table [dbo].[shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    [Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG] as datalength([Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG]) persisted,
    primary key ([Id])
);
if col_length(N'[dbo].[shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST]', N'Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG') is null
    alter table [dbo].[shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST] add [Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG] as datalength([Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG]) persisted;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST]', N'U')
    and name = N'Index_Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG')
    exec (N'create unique index [Index_Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG]
    on [dbo].[shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST] ([Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG], [Size_Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG])
    where [Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFG] is not null');

-- Saga Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü: found by Maß_値äöüäöüäöüäöüäöüäöüäöüäöü, which Straße is to replace
if object_id(N'[dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü]', N'U') is null
create table [dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    [Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü] as datalength([Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü]) persisted,
    [Correlation_Straße] uniqueidentifier null,
    primary key ([Id])
);
if col_length(N'[dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü]', N'Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü') is null
    alter table [dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü] add [Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü] as datalength([Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü]) persisted;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü]', N'U')
    and name = N'Index_Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü')
    exec (N'create unique index [Index_Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü]
    on [dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü] ([Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü], [Size_Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü])
    where [Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü] is not null');
if col_length(N'[dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü]', N'Correlation_Straße') is null
    alter table [dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü] add [Correlation_Straße] uniqueidentifier null;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü]', N'U')
    and name = N'Index_Correlation_Straße')
    exec (N'create unique index [Index_Correlation_Straße]
    on [dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü] ([Correlation_Straße])
    where [Correlation_Straße] is not null');

-- Saga it's a \ table? -- no?: found by what's \ this?
if object_id(N'[dbo].[shop_it''s a \ table; -- no?]', N'U') is null
create table [dbo].[shop_it's a \ table; -- no?] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    [Correlation_what's \ this?] datetime2(6) null,
    primary key ([Id])
);
if col_length(N'[dbo].[shop_it''s a \ table; -- no?]', N'Correlation_what''s \ this?') is null
    alter table [dbo].[shop_it's a \ table; -- no?] add [Correlation_what's \ this?] datetime2(6) null;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_it''s a \ table; -- no?]', N'U')
    and name = N'Index_Correlation_what''s \ this?')
    exec (N'create unique index [Index_Correlation_what''s \ this?]
    on [dbo].[shop_it''s a \ table; -- no?] ([Correlation_what''s \ this?])
    where [Correlation_what''s \ this?] is not null');

-- Saga select: found by key, which index is to replace
if object_id(N'[dbo].[shop_select]', N'U') is null
create table [dbo].[shop_select] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    [Correlation_key] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_key] as datalength([Correlation_key]) persisted,
    [Correlation_index] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_index] as datalength([Correlation_index]) persisted,
    primary key ([Id])
);
if col_length(N'[dbo].[shop_select]', N'Correlation_key') is null
    alter table [dbo].[shop_select] add [Correlation_key] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_key] as datalength([Correlation_key]) persisted;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_select]', N'U')
    and name = N'Index_Correlation_key')
    exec (N'create unique index [Index_Correlation_key]
    on [dbo].[shop_select] ([Correlation_key], [Size_Correlation_key])
    where [Correlation_key] is not null');
if col_length(N'[dbo].[shop_select]', N'Correlation_index') is null
    alter table [dbo].[shop_select] add [Correlation_index] nvarchar(400) collate Latin1_General_100_BIN2 null,
    [Size_Correlation_index] as datalength([Correlation_index]) persisted;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_select]', N'U')
    and name = N'Index_Correlation_index')
    exec (N'create unique index [Index_Correlation_index]
    on [dbo].[shop_select] ([Correlation_index], [Size_Correlation_index])
    where [Correlation_index] is not null');

-- Saga Offset: found by At
if object_id(N'[dbo].[shop_Offset]', N'U') is null
create table [dbo].[shop_Offset] (
    [Id] uniqueidentifier not null,
    [Metadata] nvarchar(max) not null,
    [Data] nvarchar(max) not null,
    [PersistenceVersion] varchar(23) not null,
    [SagaTypeVersion] varchar(23) not null,
    [Concurrency] bigint not null,
    [Correlation_At] datetimeoffset null,
    primary key ([Id])
);
if col_length(N'[dbo].[shop_Offset]', N'Correlation_At') is null
    alter table [dbo].[shop_Offset] add [Correlation_At] datetimeoffset null;
if not exists (select 1 from sys.indexes where object_id = object_id(N'[dbo].[shop_Offset]', N'U')
    and name = N'Index_Correlation_At')
    exec (N'create unique index [Index_Correlation_At]
    on [dbo].[shop_Offset] ([Correlation_At])
    where [Correlation_At] is not null');
commit transaction;
