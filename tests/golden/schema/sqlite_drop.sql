-- Tables of pawl, version 5, for SQLite 3.37 or later. To run it:
--     sqlite3 -bail DATABASE <FILE
-- Drops the tables with all that they hold: harmless when they are gone
-- One transaction: all of it is done, or nothing. Two at once take turns
pragma busy_timeout = 60000;
pragma journal_mode = wal;
begin immediate;
drop table if exists "shop_Plain";
drop table if exists "shop_Text";
drop table if exists "shop_Int";
drop table if exists "shop_Guid";
drop table if exists "shop_Time";
drop table if exists "shop_Two";
drop table if exists "shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST";
drop table if exists "shop_Größe 値 😀 äöüäöüäöüäöüäöüäöüäöüäöü";
drop table if exists "shop_it's a \ table; -- no?";
drop table if exists "shop_select";
drop table if exists "pawl_schema";
drop table if exists "pawl_history";
drop table if exists "pawl_leases";
drop table if exists "pawl_workers";
drop table if exists "pawl_subscriptions";
drop table if exists "pawl_aggregator_flush";
drop table if exists "pawl_aggregator";
drop table if exists "pawl_timeouts";
drop table if exists "pawl_checkpoints";
drop table if exists "pawl_folds";
drop table if exists "pawl_events";
drop table if exists "pawl_outbox_attempts";
drop table if exists "pawl_outbox";
drop table if exists "pawl_inbox";
drop table if exists "pawl_dead";
drop table if exists "pawl_queue";
commit;
