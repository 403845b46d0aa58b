-- Tables of pawl, version 5, for Oracle 12.2 or later. To run it:
--     sqlplus USER@SERVICE @FILE
-- Drops the tables with all that they hold: harmless when they are gone
-- Each step commits by itself, and sqlplus goes on behind an error: look for ORA- in what it says.
-- The next run makes what is missing
begin
    execute immediate 'drop table "SHOP_PLAIN" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "SHOP_TEXT" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "SHOP_INT" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "SHOP_GUID" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "SHOP_TIME" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "SHOP_TWO" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "SHOP_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRST" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "SHOP_R' || chr(38) || 'D $(X) %1" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "SHOP_IT''S A \ TABLE; -- NO?" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "SHOP_SELECT" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_SCHEMA" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_HISTORY" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_LEASES" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_WORKERS" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_SUBSCRIPTIONS" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_AGGREGATOR_FLUSH" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_AGGREGATOR" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_TIMEOUTS" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_CHECKPOINTS" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_FOLDS" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_EVENTS" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_OUTBOX_ATTEMPTS" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_OUTBOX" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_INBOX" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_DEAD" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop table "PAWL_QUEUE" cascade constraints purge';
exception when others then
    if sqlcode <> -942 then
        raise;
    end if;
end;
/
