-- What `pawl schema print --app orders.so` printed for MySQL at commit 9ae653d7, the first one whose pages say that the
-- driver of MySQL and MariaDB works: tables of version 3. MariaDB's differ in the names of the collations
-- (tests/support/upgrade_store.sh). Behind them an event with a checkpoint, which version 1 had no tables for.
-- SPDX-License-Identifier: Apache-2.0
create table if not exists `pawl_schema` (
    `Part` varchar(200) not null,
    `Version` bigint not null,
    primary key (`Part`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
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
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
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
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
create table if not exists `pawl_inbox` (
    `Endpoint` varchar(200) not null,
    `MessageId` varchar(200) not null,
    `Outcome` varchar(200) not null,
    `At` datetime(6) not null,
    primary key (`Endpoint`, `MessageId`),
    index `pawl_inbox_at` (`At`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
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
    `AttemptsBefore` bigint not null,
    `MessageId` varchar(200) not null,
    `Type` varchar(200) not null,
    `CorrelationId` varchar(200) not null,
    `CausationId` varchar(200) not null,
    `Headers` longtext not null,
    `Body` longblob not null,
    `HeldSource` varchar(401) generated always as (case when `State` = 'held' then `Source` end) virtual,
    unique index `pawl_outbox_dispatch` (`DispatchId`),
    index `pawl_outbox_pending` (`State`, `Id`, `NextAttempt`),
    index `pawl_outbox_held` (`HeldSource`),
    index `pawl_outbox_ended` (`DispatchedAt`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
create table if not exists `pawl_outbox_attempts` (
    `OutboxId` bigint not null,
    `Attempt` bigint not null,
    `Outcome` varchar(200) not null,
    `At` datetime(6) not null,
    `Duration` bigint not null,
    `Error` longtext not null,
    primary key (`OutboxId`, `Attempt`),
    foreign key (`OutboxId`) references `pawl_outbox` (`Id`) on delete cascade
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
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
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
create table if not exists `pawl_folds` (
    `Stream` varchar(200) not null,
    `Version` bigint not null,
    `TypeVersion` bigint not null,
    `At` datetime(6) not null,
    `State` longtext not null,
    `Dispatches` longtext not null,
    primary key (`Stream`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
create table if not exists `pawl_checkpoints` (
    `Name` varchar(200) not null,
    `Position` bigint not null,
    `At` datetime(6) not null,
    primary key (`Name`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
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
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
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
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
create table if not exists `pawl_aggregator_flush` (
    `Partition` varchar(200) not null,
    `Name` varchar(200) not null,
    `Due` datetime(6) not null,
    `Attempts` bigint not null,
    `Dead` bigint not null,
    `Error` longtext not null,
    primary key (`Partition`),
    index `pawl_aggregator_flush_due` (`Name`, `Dead`, `Due`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
create table if not exists `pawl_subscriptions` (
    `Type` varchar(200) not null,
    `Queue` varchar(200) not null,
    primary key (`Type`, `Queue`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
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
    `Types` longtext not null,
    primary key (`Id`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
create table if not exists `pawl_leases` (
    `Name` varchar(401) not null,
    `Worker` varchar(38) character set ascii collate ascii_bin null,
    `Process` bigint not null,
    `Pid` bigint not null,
    `Epoch` bigint not null,
    `Expires` datetime(6) not null,
    primary key (`Name`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;
insert into `pawl_schema` (`Part`, `Version`) values ('pawl', 3) on duplicate key update `Part` = `Part`;
update `pawl_schema` set `Version` = 3 where `Part` = 'pawl' and `Version` < 3;
create table if not exists `orders_OrderSaga` (
    `Id` varchar(38) character set ascii collate ascii_bin not null,
    `Metadata` json not null,
    `Data` json not null,
    `PersistenceVersion` varchar(23) not null,
    `SagaTypeVersion` varchar(23) not null,
    `Concurrency` bigint not null,
    `Correlation_order_id` varchar(200) character set utf8mb4 collate utf8mb4_0900_bin null,
    primary key (`Id`)
) engine = InnoDB default character set ascii collate ascii_bin;
create unique index `Index_Correlation_order_id` on `orders_OrderSaga` (`Correlation_order_id`);
insert into `pawl_events` (`Seq`, `Stream`, `Version`, `Type`, `TypeVersion`, `MessageId`, `CorrelationId`, `CausationId`,
    `DispatchId`, `At`, `Position`, `Headers`, `Body`) values
    (1, 'Ledger/a-1', 1, 'posted', 1, 'm-1', 'm-1', 'm-1', null, @past, 1, '', '{"cents":4200}');
insert into `pawl_checkpoints` (`Name`, `Position`, `At`) values ('balances', 1, @past);
