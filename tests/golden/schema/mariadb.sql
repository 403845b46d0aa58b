-- Tables of pawl, version 5, for MariaDB 10.6 or later. To run it:
--     mariadb DATABASE <FILE
-- Makes what is missing, and leaves rows as they are: it may be run again
-- Each statement commits by itself. The next run makes what is missing. Two at once take turns
set names utf8mb4;
set session sql_mode = 'TRADITIONAL', autocommit = 1;
set session transaction read write;
-- The second of two waits for the first. After a minute it ends with error 1242
set @pawl = if(get_lock(concat('pawl_', left(sha2(database(), 256), 40)), 60) = 1, 0,
    (select 1 union all select 2));

-- Messages that wait to be handled
create table if not exists `pawl_queue` (
    `Seq` bigint not null auto_increment primary key,
    `Queue` varchar(200) not null,
    `Due` datetime(6) not null,
    `Placed` datetime(6) not null,
    `Attempts` bigint not null,
    `Deaths` bigint not null,
    `WaitingSince` datetime(6) not null,
    `MessageId` varchar(200) not null,
    `Type` varchar(200) not null,
    `CorrelationId` varchar(200) not null,
    `CausationId` varchar(200) not null,
    `Error` longtext not null,
    `History` longtext null,
    `Headers` longtext not null,
    `Body` longblob not null,
    unique index `pawl_queue_message` (`Queue`, `MessageId`),
    index `pawl_queue_due` (`Queue`, `Due`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- Dead letters: messages and timeouts that failed for good
create table if not exists `pawl_dead` (
    `Endpoint` varchar(200) not null,
    `Queue` varchar(200) not null,
    `MessageId` varchar(200) not null,
    `Type` varchar(200) not null,
    `CorrelationId` varchar(200) not null,
    `CausationId` varchar(200) not null,
    `Code` varchar(200) not null,
    `Attempts` bigint not null,
    `Deaths` bigint not null,
    `At` datetime(6) not null,
    `Error` longtext not null,
    `History` longtext not null,
    `Headers` longtext not null,
    `Body` longblob not null,
    primary key (`Endpoint`, `MessageId`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;
create index if not exists `pawl_dead_at`
    on `pawl_dead` (`At`);
create index if not exists `pawl_dead_queue`
    on `pawl_dead` (`Queue`, `At`);

-- Ids of the messages that an endpoint has handled
create table if not exists `pawl_inbox` (
    `Endpoint` varchar(200) not null,
    `MessageId` varchar(200) not null,
    `Outcome` varchar(200) not null,
    `At` datetime(6) not null,
    primary key (`Endpoint`, `MessageId`),
    index `pawl_inbox_at` (`At`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- Messages to be delivered to other systems
create table if not exists `pawl_outbox` (
    `Id` bigint not null auto_increment primary key,
    `DispatchId` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `State` varchar(200) not null,
    `Attempts` bigint not null,
    `NextAttempt` datetime(6) not null,
    `Due` datetime(6) not null,
    `At` datetime(6) not null,
    `DispatchedAt` datetime(6) null,
    `Source` varchar(401) not null,
    `Version` bigint not null,
    `Index` bigint not null,
    `Endpoint` varchar(200) not null,
    `Destination` varchar(200) not null,
    `AttemptsBefore` bigint default 0 not null,
    `MessageId` varchar(200) not null,
    `Type` varchar(200) not null,
    `CorrelationId` varchar(200) not null,
    `CausationId` varchar(200) not null,
    `Headers` longtext not null,
    `Body` longblob not null,
    `HeldSource` varchar(401) generated always as (case when `State` = 'held' then `Source` end) virtual,
    unique index `pawl_outbox_dispatch` (`DispatchId`),
    index `pawl_outbox_pending` (`State`, `Id`, `NextAttempt`, `Endpoint`),
    index `pawl_outbox_held` (`HeldSource`),
    index `pawl_outbox_ended` (`DispatchedAt`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;
set @pawl = (select if(count(*) = 3,
    'alter table `pawl_outbox` drop index `pawl_outbox_pending`, add index `pawl_outbox_pending` (`State`, `Id`, `NextAttempt`, `Endpoint`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and concat('`', table_name, '`') = '`pawl_outbox`' and concat('`', index_name, '`') = '`pawl_outbox_pending`');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Attempts to deliver a row of the outbox
create table if not exists `pawl_outbox_attempts` (
    `OutboxId` bigint not null,
    `Attempt` bigint not null,
    `Outcome` varchar(200) not null,
    `At` datetime(6) not null,
    `Duration` bigint not null,
    `Error` longtext not null,
    primary key (`OutboxId`, `Attempt`),
    foreign key (`OutboxId`) references `pawl_outbox` (`Id`) on delete cascade
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- Events of streams, in their order
create table if not exists `pawl_events` (
    `Seq` bigint not null auto_increment primary key,
    `Stream` varchar(200) not null,
    `Version` bigint not null,
    `Type` varchar(200) not null,
    `TypeVersion` bigint not null,
    `MessageId` varchar(200) not null,
    `CorrelationId` varchar(200) not null,
    `CausationId` varchar(200) not null,
    `DispatchId` varchar(38) character set ascii collate ascii_nopad_bin null,
    `At` datetime(6) not null,
    `Position` bigint null,
    `Headers` longtext not null,
    `Body` longblob not null,
    unique index `pawl_events_stream` (`Stream`, `Version`),
    unique index `pawl_events_position` (`Position`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- States of streams, so that not all events are read
create table if not exists `pawl_folds` (
    `Stream` varchar(200) not null,
    `Version` bigint not null,
    `TypeVersion` bigint not null,
    `At` datetime(6) not null,
    `State` longtext not null,
    `Dispatches` longtext not null,
    primary key (`Stream`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- How far a projection has read the events
create table if not exists `pawl_checkpoints` (
    `Name` varchar(200) not null,
    `Position` bigint not null,
    `At` datetime(6) not null,
    primary key (`Name`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- Timeouts that are set
create table if not exists `pawl_timeouts` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Generation` bigint not null,
    `SagaId` varchar(38) character set ascii collate ascii_nopad_bin null,
    `SagaType` varchar(200) not null,
    `Name` varchar(200) not null,
    `Destination` varchar(200) not null,
    `Due` datetime(6) not null,
    `Attempts` bigint not null,
    `Owner` varchar(38) character set ascii collate ascii_nopad_bin null,
    `LeaseExpires` datetime(6) null,
    `LeaseWorker` varchar(38) character set ascii collate ascii_nopad_bin null,
    `CorrelationId` varchar(200) not null,
    `Headers` longtext not null,
    `SagaName` varchar(200) generated always as (nullif(`Name`, '')) virtual,
    primary key (`Id`),
    unique index `pawl_timeouts_saga` (`SagaId`, `SagaName`),
    index `pawl_timeouts_due` (`Destination`, `Due`),
    index `pawl_timeouts_lease` (`LeaseExpires`),
    index `pawl_timeouts_worker` (`LeaseWorker`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- Messages that aggregators collect
create table if not exists `pawl_aggregator` (
    `Id` bigint not null auto_increment primary key,
    `Name` varchar(200) not null,
    `Partition` varchar(200) not null,
    `Key` varchar(200) not null,
    `At` datetime(6) not null,
    `Session` varchar(38) character set ascii collate ascii_nopad_bin null,
    `LeaseExpires` datetime(6) null,
    `LeaseWorker` varchar(38) character set ascii collate ascii_nopad_bin null,
    `MessageId` varchar(200) not null,
    `Type` varchar(200) not null,
    `CorrelationId` varchar(200) not null,
    `CausationId` varchar(200) not null,
    `Headers` longtext not null,
    `Body` longblob not null,
    unique index `pawl_aggregator_key` (`Partition`, `Key`),
    index `pawl_aggregator_at` (`Partition`, `At`),
    index `pawl_aggregator_lease` (`LeaseWorker`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- When a partition of an aggregator is due
create table if not exists `pawl_aggregator_flush` (
    `Partition` varchar(200) not null,
    `Name` varchar(200) not null,
    `Due` datetime(6) not null,
    `Attempts` bigint not null,
    `Dead` bigint not null,
    `Error` longtext not null,
    primary key (`Partition`),
    index `pawl_aggregator_flush_due` (`Name`, `Dead`, `Due`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- Queues that get a copy of what is published
create table if not exists `pawl_subscriptions` (
    `Type` varchar(200) not null,
    `Queue` varchar(200) not null,
    primary key (`Type`, `Queue`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- Threads at work, and their counts
create table if not exists `pawl_workers` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Endpoint` varchar(200) not null,
    `Epoch` bigint not null,
    `LastCommit` varchar(38) character set ascii collate ascii_nopad_bin null,
    `Process` bigint not null,
    `Pid` bigint not null,
    `Seen` datetime(6) not null,
    `Messages` bigint not null,
    `Timeouts` bigint not null,
    `Flushes` bigint not null,
    `Failures` bigint not null,
    `Conflicts` bigint not null,
    `Dead` bigint not null,
    `Host` varchar(200) null,
    `Program` varchar(200) null,
    `ProgramVersion` varchar(200) null,
    `PawlVersion` varchar(200) null,
    `Started` datetime(6) null,
    `Types` longtext not null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;
alter table `pawl_workers` add column if not exists `Host` varchar(200) null;
alter table `pawl_workers` add column if not exists `Program` varchar(200) null;
alter table `pawl_workers` add column if not exists `ProgramVersion` varchar(200) null;
alter table `pawl_workers` add column if not exists `PawlVersion` varchar(200) null;
alter table `pawl_workers` add column if not exists `Started` datetime(6) null;

-- Rights that only one worker or process has
create table if not exists `pawl_leases` (
    `Name` varchar(401) not null,
    `Worker` varchar(38) character set ascii collate ascii_nopad_bin null,
    `Process` bigint not null,
    `Pid` bigint not null,
    `Epoch` bigint not null,
    `Expires` datetime(6) not null,
    primary key (`Name`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- What became of each message, where an endpoint keeps it
create table if not exists `pawl_history` (
    `Id` bigint not null auto_increment primary key,
    `Endpoint` varchar(200) not null,
    `Source` varchar(401) not null,
    `MessageId` varchar(200) not null,
    `Type` varchar(200) not null,
    `Kind` varchar(200) not null,
    `Outcome` varchar(200) not null,
    `Version` bigint not null,
    `Attempts` bigint not null,
    `Duration` bigint not null,
    `At` datetime(6) not null,
    `Error` longtext not null,
    `Out` longtext not null,
    index `pawl_history_source` (`Source`, `Id`),
    index `pawl_history_message` (`MessageId`, `Id`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;

-- Version of these tables
create table if not exists `pawl_schema` (
    `Part` varchar(200) not null,
    `Version` bigint not null,
    primary key (`Part`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_nopad_bin;
insert into `pawl_schema` (`Part`, `Version`) values ('pawl', 5) on duplicate key update `Part` = `Part`;
update `pawl_schema` set `Version` = 5 where `Part` = 'pawl' and `Version` < 5;

-- Saga Plain: no correlation property
create table if not exists `shop_Plain` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_nopad_bin;

-- Saga Text: found by OrderId
create table if not exists `shop_Text` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_OrderId` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_nopad_bin;
alter table `shop_Text` add column if not exists `Correlation_OrderId` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null;
create unique index if not exists `Index_Correlation_OrderId`
    on `shop_Text` (`Correlation_OrderId`);

-- Saga Int: found by Number
create table if not exists `shop_Int` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_Number` bigint(20) null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_nopad_bin;
alter table `shop_Int` add column if not exists `Correlation_Number` bigint(20) null;
create unique index if not exists `Index_Correlation_Number`
    on `shop_Int` (`Correlation_Number`);

-- Saga Guid: found by Id
create table if not exists `shop_Guid` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_Id` varchar(38) character set ascii collate ascii_nopad_bin null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_nopad_bin;
alter table `shop_Guid` add column if not exists `Correlation_Id` varchar(38) character set ascii collate ascii_nopad_bin null;
create unique index if not exists `Index_Correlation_Id`
    on `shop_Guid` (`Correlation_Id`);

-- Saga Time: found by At
create table if not exists `shop_Time` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_At` datetime(6) null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_nopad_bin;
alter table `shop_Time` add column if not exists `Correlation_At` datetime(6) null;
create unique index if not exists `Index_Correlation_At`
    on `shop_Time` (`Correlation_At`);

-- Saga Two: found by OrderId, which OrderNumber is to replace
create table if not exists `shop_Two` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_OrderId` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null,
    `Correlation_OrderNumber` bigint(20) null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_nopad_bin;
alter table `shop_Two` add column if not exists `Correlation_OrderId` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null;
create unique index if not exists `Index_Correlation_OrderId`
    on `shop_Two` (`Correlation_OrderId`);
alter table `shop_Two` add column if not exists `Correlation_OrderNumber` bigint(20) null;
create unique index if not exists `Index_Correlation_OrderNumber`
    on `shop_Two` (`Correlation_OrderNumber`);

-- Saga Long: found by abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH
create table if not exists `shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTU` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_nopad_bin;
alter table `shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTU` add column if not exists `Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null;
create unique index if not exists `Index_Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH`
    on `shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTU` (`Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH`);

-- Saga Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü: found by Maß_値äöüäöüäöüäöüäöüäöüäöüäöü, which Straße is to replace
create table if not exists `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null,
    `Correlation_Straße` varchar(38) character set ascii collate ascii_nopad_bin null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_nopad_bin;
alter table `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü` add column if not exists `Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null;
create unique index if not exists `Index_Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü`
    on `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü` (`Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü`);
alter table `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü` add column if not exists `Correlation_Straße` varchar(38) character set ascii collate ascii_nopad_bin null;
create unique index if not exists `Index_Correlation_Straße`
    on `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü` (`Correlation_Straße`);

-- Saga it's a \ table? -- no?: found by what's \ this?
create table if not exists `shop_it's a \ table; -- no?` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_what's \ this?` datetime(6) null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_nopad_bin;
alter table `shop_it's a \ table; -- no?` add column if not exists `Correlation_what's \ this?` datetime(6) null;
create unique index if not exists `Index_Correlation_what's \ this?`
    on `shop_it's a \ table; -- no?` (`Correlation_what's \ this?`);

-- Saga select: found by key, which index is to replace
create table if not exists `shop_select` (
    `Id` varchar(38) character set ascii collate ascii_nopad_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_key` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null,
    `Correlation_index` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_nopad_bin;
alter table `shop_select` add column if not exists `Correlation_key` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null;
create unique index if not exists `Index_Correlation_key`
    on `shop_select` (`Correlation_key`);
alter table `shop_select` add column if not exists `Correlation_index` varchar(200) character set utf8mb4 collate utf8mb4_nopad_bin null;
create unique index if not exists `Index_Correlation_index`
    on `shop_select` (`Correlation_index`);
do release_lock(concat('pawl_', left(sha2(database(), 256), 40)));
