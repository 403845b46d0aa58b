-- Tables of pawl, version 5, for MySQL 8.0.1 or later. To run it:
--     mysql DATABASE <FILE
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
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

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
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;
set @pawl = (select if(count(*) = 0,
    'create index `pawl_dead_at`
    on `pawl_dead` (`At`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'pawl_dead' and index_name = 'pawl_dead_at');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create index `pawl_dead_queue`
    on `pawl_dead` (`Queue`, `At`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'pawl_dead' and index_name = 'pawl_dead_queue');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Ids of the messages that an endpoint has handled
create table if not exists `pawl_inbox` (
    `Endpoint` varchar(200) not null,
    `MessageId` varchar(200) not null,
    `Outcome` varchar(200) not null,
    `At` datetime(6) not null,
    primary key (`Endpoint`, `MessageId`),
    index `pawl_inbox_at` (`At`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

-- Messages to be delivered to other systems
create table if not exists `pawl_outbox` (
    `Id` bigint not null auto_increment primary key,
    `DispatchId` varchar(38) character set ascii collate ascii_bin not null,
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
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;
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
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

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
    `DispatchId` varchar(38) character set ascii collate ascii_bin null,
    `At` datetime(6) not null,
    `Position` bigint null,
    `Headers` longtext not null,
    `Body` longblob not null,
    unique index `pawl_events_stream` (`Stream`, `Version`),
    unique index `pawl_events_position` (`Position`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

-- States of streams, so that not all events are read
create table if not exists `pawl_folds` (
    `Stream` varchar(200) not null,
    `Version` bigint not null,
    `TypeVersion` bigint not null,
    `At` datetime(6) not null,
    `State` longtext not null,
    `Dispatches` longtext not null,
    primary key (`Stream`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

-- How far a projection has read the events
create table if not exists `pawl_checkpoints` (
    `Name` varchar(200) not null,
    `Position` bigint not null,
    `At` datetime(6) not null,
    primary key (`Name`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

-- Timeouts that are set
create table if not exists `pawl_timeouts` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Generation` bigint not null,
    `SagaId` varchar(38) character set ascii collate ascii_bin null,
    `SagaType` varchar(200) not null,
    `Name` varchar(200) not null,
    `Destination` varchar(200) not null,
    `Due` datetime(6) not null,
    `Attempts` bigint not null,
    `Owner` varchar(38) character set ascii collate ascii_bin null,
    `LeaseExpires` datetime(6) null,
    `LeaseWorker` varchar(38) character set ascii collate ascii_bin null,
    `CorrelationId` varchar(200) not null,
    `Headers` longtext not null,
    `SagaName` varchar(200) generated always as (nullif(`Name`, '')) virtual,
    primary key (`Id`),
    unique index `pawl_timeouts_saga` (`SagaId`, `SagaName`),
    index `pawl_timeouts_due` (`Destination`, `Due`),
    index `pawl_timeouts_lease` (`LeaseExpires`),
    index `pawl_timeouts_worker` (`LeaseWorker`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

-- Messages that aggregators collect
create table if not exists `pawl_aggregator` (
    `Id` bigint not null auto_increment primary key,
    `Name` varchar(200) not null,
    `Partition` varchar(200) not null,
    `Key` varchar(200) not null,
    `At` datetime(6) not null,
    `Session` varchar(38) character set ascii collate ascii_bin null,
    `LeaseExpires` datetime(6) null,
    `LeaseWorker` varchar(38) character set ascii collate ascii_bin null,
    `MessageId` varchar(200) not null,
    `Type` varchar(200) not null,
    `CorrelationId` varchar(200) not null,
    `CausationId` varchar(200) not null,
    `Headers` longtext not null,
    `Body` longblob not null,
    unique index `pawl_aggregator_key` (`Partition`, `Key`),
    index `pawl_aggregator_at` (`Partition`, `At`),
    index `pawl_aggregator_lease` (`LeaseWorker`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

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
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

-- Queues that get a copy of what is published
create table if not exists `pawl_subscriptions` (
    `Type` varchar(200) not null,
    `Queue` varchar(200) not null,
    primary key (`Type`, `Queue`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

-- Threads at work, and their counts
create table if not exists `pawl_workers` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Endpoint` varchar(200) not null,
    `Epoch` bigint not null,
    `LastCommit` varchar(38) character set ascii collate ascii_bin null,
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
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;
set @pawl = (select if(count(*) = 0,
    'alter table `pawl_workers` add column `Host` varchar(200) null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'pawl_workers' and column_name = 'Host');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'alter table `pawl_workers` add column `Program` varchar(200) null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'pawl_workers' and column_name = 'Program');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'alter table `pawl_workers` add column `ProgramVersion` varchar(200) null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'pawl_workers' and column_name = 'ProgramVersion');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'alter table `pawl_workers` add column `PawlVersion` varchar(200) null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'pawl_workers' and column_name = 'PawlVersion');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'alter table `pawl_workers` add column `Started` datetime(6) null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'pawl_workers' and column_name = 'Started');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Rights that only one worker or process has
create table if not exists `pawl_leases` (
    `Name` varchar(401) not null,
    `Worker` varchar(38) character set ascii collate ascii_bin null,
    `Process` bigint not null,
    `Pid` bigint not null,
    `Epoch` bigint not null,
    `Expires` datetime(6) not null,
    primary key (`Name`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

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
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;

-- Version of these tables
create table if not exists `pawl_schema` (
    `Part` varchar(200) not null,
    `Version` bigint not null,
    primary key (`Part`)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_0900_bin;
insert into `pawl_schema` (`Part`, `Version`) values ('pawl', 5) on duplicate key update `Part` = `Part`;
update `pawl_schema` set `Version` = 5 where `Part` = 'pawl' and `Version` < 5;

-- Saga Plain: no correlation property
create table if not exists `shop_Plain` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_bin;

-- Saga Text: found by OrderId
create table if not exists `shop_Text` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_OrderId` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_bin;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_Text` add column `Correlation_OrderId` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_Text' and column_name = 'Correlation_OrderId');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_OrderId`
    on `shop_Text` (`Correlation_OrderId`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_Text' and index_name = 'Index_Correlation_OrderId');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Saga Int: found by Number
create table if not exists `shop_Int` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_Number` bigint(20) null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_bin;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_Int` add column `Correlation_Number` bigint(20) null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_Int' and column_name = 'Correlation_Number');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_Number`
    on `shop_Int` (`Correlation_Number`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_Int' and index_name = 'Index_Correlation_Number');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Saga Guid: found by Id
create table if not exists `shop_Guid` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_Id` varchar(38) character set ascii collate ascii_bin null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_bin;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_Guid` add column `Correlation_Id` varchar(38) character set ascii collate ascii_bin null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_Guid' and column_name = 'Correlation_Id');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_Id`
    on `shop_Guid` (`Correlation_Id`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_Guid' and index_name = 'Index_Correlation_Id');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Saga Time: found by At
create table if not exists `shop_Time` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_At` datetime(6) null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_bin;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_Time` add column `Correlation_At` datetime(6) null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_Time' and column_name = 'Correlation_At');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_At`
    on `shop_Time` (`Correlation_At`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_Time' and index_name = 'Index_Correlation_At');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Saga Two: found by OrderId, which OrderNumber is to replace
create table if not exists `shop_Two` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_OrderId` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null,
    `Correlation_OrderNumber` bigint(20) null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_bin;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_Two` add column `Correlation_OrderId` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_Two' and column_name = 'Correlation_OrderId');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_OrderId`
    on `shop_Two` (`Correlation_OrderId`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_Two' and index_name = 'Index_Correlation_OrderId');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_Two` add column `Correlation_OrderNumber` bigint(20) null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_Two' and column_name = 'Correlation_OrderNumber');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_OrderNumber`
    on `shop_Two` (`Correlation_OrderNumber`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_Two' and index_name = 'Index_Correlation_OrderNumber');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Saga Long: found by abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH
create table if not exists `shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTU` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_bin;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTU` add column `Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTU' and column_name = 'Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH`
    on `shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTU` (`Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTU' and index_name = 'Index_Correlation_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGH');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Saga Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü: found by Maß_値äöüäöüäöüäöüäöüäöüäöüäöü, which Straße is to replace
create table if not exists `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null,
    `Correlation_Straße` varchar(38) character set ascii collate ascii_bin null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_bin;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü` add column `Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü' and column_name = 'Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü`
    on `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü` (`Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü' and index_name = 'Index_Correlation_Maß_値äöüäöüäöüäöüäöüäöüäöüäöü');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü` add column `Correlation_Straße` varchar(38) character set ascii collate ascii_bin null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü' and column_name = 'Correlation_Straße');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_Straße`
    on `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü` (`Correlation_Straße`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü' and index_name = 'Index_Correlation_Straße');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Saga it's a \ table? -- no?: found by what's \ this?
create table if not exists `shop_it's a \ table; -- no?` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_what's \ this?` datetime(6) null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_bin;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_it''s a \\ table; -- no?` add column `Correlation_what''s \\ this?` datetime(6) null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_it''s a \\ table; -- no?' and column_name = 'Correlation_what''s \\ this?');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_what''s \\ this?`
    on `shop_it''s a \\ table; -- no?` (`Correlation_what''s \\ this?`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_it''s a \\ table; -- no?' and index_name = 'Index_Correlation_what''s \\ this?');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;

-- Saga select: found by key, which index is to replace
create table if not exists `shop_select` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_key` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null,
    `Correlation_index` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null,
    primary key (`Id`)
) engine = InnoDB row_format = dynamic default character set ascii collate ascii_bin;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_select` add column `Correlation_key` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_select' and column_name = 'Correlation_key');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_key`
    on `shop_select` (`Correlation_key`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_select' and index_name = 'Index_Correlation_key');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'alter table `shop_select` add column `Correlation_index` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null',
    'do 0') from information_schema.columns
    where table_schema = database() and table_name = 'shop_select' and column_name = 'Correlation_index');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
set @pawl = (select if(count(*) = 0,
    'create unique index `Index_Correlation_index`
    on `shop_select` (`Correlation_index`)',
    'do 0') from information_schema.statistics
    where table_schema = database() and table_name = 'shop_select' and index_name = 'Index_Correlation_index');
prepare pawl from @pawl;
execute pawl;
deallocate prepare pawl;
do release_lock(concat('pawl_', left(sha2(database(), 256), 40)));
