-- Tables of pawl, version 5, for SQL Server 2016 or later. To run it:
--     sqlcmd -b -x -f 65001 -d DATABASE -i FILE
-- Drops the tables with all that they hold: harmless when they are gone
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
drop table if exists [dbo].[shop_Plain];
drop table if exists [dbo].[shop_Text];
drop table if exists [dbo].[shop_Int];
drop table if exists [dbo].[shop_Guid];
drop table if exists [dbo].[shop_Time];
drop table if exists [dbo].[shop_Two];
drop table if exists [dbo].[shop_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST];
drop table if exists [dbo].[shop_Größe 値 äöüäöüäöüäöüäöüäöüäöüäöü];
drop table if exists [dbo].[shop_it's a \ table; -- no?];
drop table if exists [dbo].[shop_select];
drop table if exists [dbo].[shop_Offset];
drop table if exists [dbo].[pawl_schema];
drop table if exists [dbo].[pawl_history];
drop table if exists [dbo].[pawl_leases];
drop table if exists [dbo].[pawl_workers];
drop table if exists [dbo].[pawl_subscriptions];
drop table if exists [dbo].[pawl_aggregator_flush];
drop table if exists [dbo].[pawl_aggregator];
drop table if exists [dbo].[pawl_timeouts];
drop table if exists [dbo].[pawl_checkpoints];
drop table if exists [dbo].[pawl_folds];
drop table if exists [dbo].[pawl_events];
drop table if exists [dbo].[pawl_outbox_attempts];
drop table if exists [dbo].[pawl_outbox];
drop table if exists [dbo].[pawl_inbox];
drop table if exists [dbo].[pawl_dead];
drop table if exists [dbo].[pawl_queue];
commit transaction;
