-- Drops the tables with all they hold; harmless when they are gone.
set names utf8mb4;
set session sql_mode = 'TRADITIONAL';
-- Two scripts at once: the second waits for the first. After a minute it ends with error 1242.
set @pawl = if(get_lock(concat('pawl_', left(sha2(database(), 256), 40)), 60) = 1, 0,
    (select 1 union all select 2));
drop table if exists `shop_Plain`;
drop table if exists `shop_Text`;
drop table if exists `shop_Int`;
drop table if exists `shop_Guid`;
drop table if exists `shop_Time`;
drop table if exists `shop_Two`;
drop table if exists `shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTU`;
drop table if exists `shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü`;
drop table if exists `shop_it's a \ table; -- no?`;
drop table if exists `shop_select`;
drop table if exists `pawl_leases`;
drop table if exists `pawl_workers`;
drop table if exists `pawl_subscriptions`;
drop table if exists `pawl_aggregator_flush`;
drop table if exists `pawl_aggregator`;
drop table if exists `pawl_timeouts`;
drop table if exists `pawl_checkpoints`;
drop table if exists `pawl_folds`;
drop table if exists `pawl_events`;
drop table if exists `pawl_outbox_attempts`;
drop table if exists `pawl_outbox`;
drop table if exists `pawl_inbox`;
drop table if exists `pawl_dead`;
drop table if exists `pawl_queue`;
drop table if exists `pawl_schema`;
do release_lock(concat('pawl_', left(sha2(database(), 256), 40)));
