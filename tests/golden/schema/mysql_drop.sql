-- Tables of pawl, version 5, for MySQL 8.0.1 or later. To run it:
--     mysql DATABASE <FILE
-- Drops the tables with all that they hold: harmless when they are gone
-- Each statement commits by itself. The next run makes what is missing. Two at once take turns
set names utf8mb4;
set session sql_mode = 'TRADITIONAL', autocommit = 1;
set session transaction read write;
-- The second of two waits for the first. After a minute it ends with error 1242
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
drop table if exists `pawl_schema`;
drop table if exists `pawl_history`;
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
do release_lock(concat('pawl_', left(sha2(database(), 256), 40)));
