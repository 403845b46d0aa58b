-- Tables of pawl, version 5, for Oracle 12.2 or later. To run it:
--     sqlplus USER@SERVICE @FILE
-- Makes what is missing, and leaves rows as they are: it may be run again
-- Each step commits by itself, and sqlplus goes on behind an error: look for ORA- in what it says.
-- The next run makes what is missing

-- Messages that wait to be handled
begin
    execute immediate 'create table "PAWL_QUEUE" (
    "SEQ" number(19) generated always as identity (order) primary key,
    "QUEUE" varchar2(201 byte) not null,
    "DUE" timestamp(6) not null,
    "PLACED" timestamp(6) not null,
    "ATTEMPTS" number(19) not null,
    "DEATHS" number(19) not null,
    "WAITINGSINCE" timestamp(6) not null,
    "MESSAGEID" varchar2(201 byte) not null,
    "TYPE" varchar2(201 byte) not null,
    "CORRELATIONID" varchar2(201 byte) not null,
    "CAUSATIONID" varchar2(201 byte) not null,
    "ERROR" clob not null,
    "HISTORY" clob null,
    "HEADERS" clob not null,
    "BODY" blob default on null empty_blob() not null
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "PAWL_QUEUE_MESSAGE"
    on "PAWL_QUEUE" ("QUEUE", "MESSAGEID")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_QUEUE_DUE"
    on "PAWL_QUEUE" ("QUEUE", "DUE", "SEQ")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Dead letters: messages and timeouts that failed for good
begin
    execute immediate 'create table "PAWL_DEAD" (
    "ENDPOINT" varchar2(201 byte) not null,
    "QUEUE" varchar2(201 byte) not null,
    "MESSAGEID" varchar2(201 byte) not null,
    "TYPE" varchar2(201 byte) not null,
    "CORRELATIONID" varchar2(201 byte) not null,
    "CAUSATIONID" varchar2(201 byte) not null,
    "CODE" varchar2(201 byte) not null,
    "ATTEMPTS" number(19) not null,
    "DEATHS" number(19) not null,
    "AT" timestamp(6) not null,
    "ERROR" clob not null,
    "HISTORY" clob not null,
    "HEADERS" clob not null,
    "BODY" blob default on null empty_blob() not null,
    primary key ("ENDPOINT", "MESSAGEID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_DEAD_AT"
    on "PAWL_DEAD" ("AT")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_DEAD_QUEUE"
    on "PAWL_DEAD" ("QUEUE", "AT")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Ids of the messages that an endpoint has handled
begin
    execute immediate 'create table "PAWL_INBOX" (
    "ENDPOINT" varchar2(201 byte) not null,
    "MESSAGEID" varchar2(201 byte) not null,
    "OUTCOME" varchar2(201 byte) not null,
    "AT" timestamp(6) not null,
    primary key ("ENDPOINT", "MESSAGEID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_INBOX_AT"
    on "PAWL_INBOX" ("AT")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Messages to be delivered to other systems
begin
    execute immediate 'create table "PAWL_OUTBOX" (
    "ID" number(19) generated always as identity (order) primary key,
    "DISPATCHID" varchar2(38) not null,
    "STATE" varchar2(201 byte) not null,
    "ATTEMPTS" number(19) not null,
    "NEXTATTEMPT" timestamp(6) not null,
    "DUE" timestamp(6) not null,
    "AT" timestamp(6) not null,
    "DISPATCHEDAT" timestamp(6) null,
    "SOURCE" varchar2(402 byte) not null,
    "VERSION" number(19) not null,
    "INDEX" number(19) not null,
    "ENDPOINT" varchar2(201 byte) not null,
    "DESTINATION" varchar2(201 byte) not null,
    "ATTEMPTSBEFORE" number(19) default 0 not null,
    "MESSAGEID" varchar2(201 byte) not null,
    "TYPE" varchar2(201 byte) not null,
    "CORRELATIONID" varchar2(201 byte) not null,
    "CAUSATIONID" varchar2(201 byte) not null,
    "HEADERS" clob not null,
    "BODY" blob default on null empty_blob() not null,
    "HELDSOURCE" varchar2(402 byte) generated always as (case when "STATE" = ''held'' then "SOURCE" end) virtual
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "PAWL_OUTBOX_DISPATCH"
    on "PAWL_OUTBOX" ("DISPATCHID")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_OUTBOX_PENDING"
    on "PAWL_OUTBOX" ("STATE", "ID", "NEXTATTEMPT")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_OUTBOX_HELD"
    on "PAWL_OUTBOX" ("HELDSOURCE")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_OUTBOX_ENDED"
    on "PAWL_OUTBOX" ("DISPATCHEDAT")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Attempts to deliver a row of the outbox
begin
    execute immediate 'create table "PAWL_OUTBOX_ATTEMPTS" (
    "OUTBOXID" number(19) not null,
    "ATTEMPT" number(19) not null,
    "OUTCOME" varchar2(201 byte) not null,
    "AT" timestamp(6) not null,
    "DURATION" number(19) not null,
    "ERROR" clob not null,
    primary key ("OUTBOXID", "ATTEMPT"),
    foreign key ("OUTBOXID") references "PAWL_OUTBOX" ("ID") on delete cascade
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Events of streams, in their order
begin
    execute immediate 'create table "PAWL_EVENTS" (
    "SEQ" number(19) generated always as identity (order) primary key,
    "STREAM" varchar2(201 byte) not null,
    "VERSION" number(19) not null,
    "TYPE" varchar2(201 byte) not null,
    "TYPEVERSION" number(19) not null,
    "MESSAGEID" varchar2(201 byte) not null,
    "CORRELATIONID" varchar2(201 byte) not null,
    "CAUSATIONID" varchar2(201 byte) not null,
    "DISPATCHID" varchar2(38) null,
    "AT" timestamp(6) not null,
    "POSITION" number(19) null,
    "HEADERS" clob not null,
    "BODY" blob default on null empty_blob() not null
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "PAWL_EVENTS_STREAM"
    on "PAWL_EVENTS" ("STREAM", "VERSION")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "PAWL_EVENTS_POSITION"
    on "PAWL_EVENTS" ("POSITION")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_EVENTS_NUMBERING"
    on "PAWL_EVENTS" ("POSITION", "SEQ")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- States of streams, so that not all events are read
begin
    execute immediate 'create table "PAWL_FOLDS" (
    "STREAM" varchar2(201 byte) not null,
    "VERSION" number(19) not null,
    "TYPEVERSION" number(19) not null,
    "AT" timestamp(6) not null,
    "STATE" clob not null,
    "DISPATCHES" clob not null,
    primary key ("STREAM")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- How far a projection has read the events
begin
    execute immediate 'create table "PAWL_CHECKPOINTS" (
    "NAME" varchar2(201 byte) not null,
    "POSITION" number(19) not null,
    "AT" timestamp(6) not null,
    primary key ("NAME")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Timeouts that are set
begin
    execute immediate 'create table "PAWL_TIMEOUTS" (
    "ID" varchar2(38) not null,
    "GENERATION" number(19) not null,
    "SAGAID" varchar2(38) null,
    "SAGATYPE" varchar2(201 byte) not null,
    "NAME" varchar2(201 byte) not null,
    "DESTINATION" varchar2(201 byte) not null,
    "DUE" timestamp(6) not null,
    "ATTEMPTS" number(19) not null,
    "OWNER" varchar2(38) null,
    "LEASEEXPIRES" timestamp(6) null,
    "LEASEWORKER" varchar2(38) null,
    "CORRELATIONID" varchar2(201 byte) not null,
    "HEADERS" clob not null,
    "NAMEDSAGA" varchar2(38) generated always as (case when "SAGAID" is not null and "NAME" <> chr(1) then "SAGAID" end) virtual,
    "NAMEDNAME" varchar2(201 byte) generated always as (case when "SAGAID" is not null and "NAME" <> chr(1) then "NAME" end) virtual,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "PAWL_TIMEOUTS" add "NAMEDSAGA" varchar2(38) generated always as (case when "SAGAID" is not null and "NAME" <> chr(1) then "SAGAID" end) virtual';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "PAWL_TIMEOUTS" add "NAMEDNAME" varchar2(201 byte) generated always as (case when "SAGAID" is not null and "NAME" <> chr(1) then "NAME" end) virtual';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_TIMEOUTS_DUE"
    on "PAWL_TIMEOUTS" ("DESTINATION", "DUE", "ID")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_TIMEOUTS_LEASE"
    on "PAWL_TIMEOUTS" ("LEASEEXPIRES")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "PAWL_TIMEOUTS_NAMED"
    on "PAWL_TIMEOUTS" ("NAMEDSAGA", "NAMEDNAME")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_TIMEOUTS_OF_SAGA"
    on "PAWL_TIMEOUTS" ("SAGAID")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_TIMEOUTS_WORKER"
    on "PAWL_TIMEOUTS" ("LEASEWORKER")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Messages that aggregators collect
begin
    execute immediate 'create table "PAWL_AGGREGATOR" (
    "ID" number(19) generated always as identity (order) primary key,
    "NAME" varchar2(201 byte) not null,
    "PARTITION" varchar2(201 byte) not null,
    "KEY" varchar2(201 byte) not null,
    "AT" timestamp(6) not null,
    "SESSION" varchar2(38) null,
    "LEASEEXPIRES" timestamp(6) null,
    "LEASEWORKER" varchar2(38) null,
    "MESSAGEID" varchar2(201 byte) not null,
    "TYPE" varchar2(201 byte) not null,
    "CORRELATIONID" varchar2(201 byte) not null,
    "CAUSATIONID" varchar2(201 byte) not null,
    "HEADERS" clob not null,
    "BODY" blob default on null empty_blob() not null
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "PAWL_AGGREGATOR_KEY"
    on "PAWL_AGGREGATOR" ("PARTITION", "KEY")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_AGGREGATOR_AT"
    on "PAWL_AGGREGATOR" ("PARTITION", "AT", "ID")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_AGGREGATOR_LEASE"
    on "PAWL_AGGREGATOR" ("LEASEWORKER")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- When a partition of an aggregator is due
begin
    execute immediate 'create table "PAWL_AGGREGATOR_FLUSH" (
    "PARTITION" varchar2(201 byte) not null,
    "NAME" varchar2(201 byte) not null,
    "DUE" timestamp(6) not null,
    "ATTEMPTS" number(19) not null,
    "DEAD" number(19) not null,
    "ERROR" clob not null,
    primary key ("PARTITION")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_AGGREGATOR_FLUSH_DUE"
    on "PAWL_AGGREGATOR_FLUSH" ("NAME", "DEAD", "DUE")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Queues that get a copy of what is published
begin
    execute immediate 'create table "PAWL_SUBSCRIPTIONS" (
    "TYPE" varchar2(201 byte) not null,
    "QUEUE" varchar2(201 byte) not null,
    primary key ("TYPE", "QUEUE")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Threads at work, and their counts
begin
    execute immediate 'create table "PAWL_WORKERS" (
    "ID" varchar2(38) not null,
    "ENDPOINT" varchar2(201 byte) not null,
    "EPOCH" number(19) not null,
    "LASTCOMMIT" varchar2(38) null,
    "PROCESS" number(19) not null,
    "PID" number(19) not null,
    "SEEN" timestamp(6) not null,
    "MESSAGES" number(19) not null,
    "TIMEOUTS" number(19) not null,
    "FLUSHES" number(19) not null,
    "FAILURES" number(19) not null,
    "CONFLICTS" number(19) not null,
    "DEAD" number(19) not null,
    "HOST" varchar2(201 byte) null,
    "PROGRAM" varchar2(201 byte) null,
    "PROGRAMVERSION" varchar2(201 byte) null,
    "PAWLVERSION" varchar2(201 byte) null,
    "STARTED" timestamp(6) null,
    "TYPES" clob not null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "PAWL_WORKERS" add "HOST" varchar2(201 byte) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "PAWL_WORKERS" add "PROGRAM" varchar2(201 byte) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "PAWL_WORKERS" add "PROGRAMVERSION" varchar2(201 byte) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "PAWL_WORKERS" add "PAWLVERSION" varchar2(201 byte) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "PAWL_WORKERS" add "STARTED" timestamp(6) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/

-- Rights that only one worker or process has
begin
    execute immediate 'create table "PAWL_LEASES" (
    "NAME" varchar2(402 byte) not null,
    "WORKER" varchar2(38) null,
    "PROCESS" number(19) not null,
    "PID" number(19) not null,
    "EPOCH" number(19) not null,
    "EXPIRES" timestamp(6) not null,
    primary key ("NAME")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- What became of each message, where an endpoint keeps it
begin
    execute immediate 'create table "PAWL_HISTORY" (
    "ID" number(19) generated always as identity (order) primary key,
    "ENDPOINT" varchar2(201 byte) not null,
    "SOURCE" varchar2(402 byte) not null,
    "MESSAGEID" varchar2(201 byte) not null,
    "TYPE" varchar2(201 byte) not null,
    "KIND" varchar2(201 byte) not null,
    "OUTCOME" varchar2(201 byte) not null,
    "VERSION" number(19) not null,
    "ATTEMPTS" number(19) not null,
    "DURATION" number(19) not null,
    "AT" timestamp(6) not null,
    "ERROR" clob not null,
    "OUT" clob not null
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_HISTORY_SOURCE"
    on "PAWL_HISTORY" ("SOURCE", "ID")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create index "PAWL_HISTORY_MESSAGE"
    on "PAWL_HISTORY" ("MESSAGEID", "ID")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Version of these tables
begin
    execute immediate 'create table "PAWL_SCHEMA" (
    "PART" varchar2(201 byte) not null,
    "VERSION" number(19) not null,
    primary key ("PART")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'drop index "PAWL_TIMEOUTS_SAGA"';
exception when others then
    if sqlcode <> -1418 then
        raise;
    end if;
end;
/
begin
    execute immediate 'insert into "PAWL_SCHEMA" ("PART", "VERSION") values (''pawl'', 5)';
    commit;
exception when others then
    if sqlcode <> -1 then
        raise;
    end if;
end;
/
begin
    execute immediate 'update "PAWL_SCHEMA" set "VERSION" = 5 where "PART" = ''pawl'' and "VERSION" < 5';
    commit;
end;
/

-- Saga Plain: no correlation property
begin
    execute immediate 'create table "SHOP_PLAIN" (
    "ID" varchar2(38) not null,
    "METADATA" clob not null,
    "DATA" clob not null,
    "PERSISTENCEVERSION" varchar2(23) not null,
    "SAGATYPEVERSION" varchar2(23) not null,
    "CONCURRENCY" number(19) not null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Saga Text: found by OrderId
begin
    execute immediate 'create table "SHOP_TEXT" (
    "ID" varchar2(38) not null,
    "METADATA" clob not null,
    "DATA" clob not null,
    "PERSISTENCEVERSION" varchar2(23) not null,
    "SAGATYPEVERSION" varchar2(23) not null,
    "CONCURRENCY" number(19) not null,
    "CORR_ORDERID" nvarchar2(400) null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_TEXT" add "CORR_ORDERID" nvarchar2(400) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_54D4246CA5385B90B343E3"
    on "SHOP_TEXT" ("CORR_ORDERID")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Saga Int: found by Number
begin
    execute immediate 'create table "SHOP_INT" (
    "ID" varchar2(38) not null,
    "METADATA" clob not null,
    "DATA" clob not null,
    "PERSISTENCEVERSION" varchar2(23) not null,
    "SAGATYPEVERSION" varchar2(23) not null,
    "CONCURRENCY" number(19) not null,
    "CORR_NUMBER" number(19) null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_INT" add "CORR_NUMBER" number(19) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_0BB7170D108D517A984E07"
    on "SHOP_INT" ("CORR_NUMBER")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Saga Guid: found by Id
begin
    execute immediate 'create table "SHOP_GUID" (
    "ID" varchar2(38) not null,
    "METADATA" clob not null,
    "DATA" clob not null,
    "PERSISTENCEVERSION" varchar2(23) not null,
    "SAGATYPEVERSION" varchar2(23) not null,
    "CONCURRENCY" number(19) not null,
    "CORR_ID" varchar2(38) null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_GUID" add "CORR_ID" varchar2(38) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_2F552B1FE04456189EE569"
    on "SHOP_GUID" ("CORR_ID")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Saga Time: found by At
begin
    execute immediate 'create table "SHOP_TIME" (
    "ID" varchar2(38) not null,
    "METADATA" clob not null,
    "DATA" clob not null,
    "PERSISTENCEVERSION" varchar2(23) not null,
    "SAGATYPEVERSION" varchar2(23) not null,
    "CONCURRENCY" number(19) not null,
    "CORR_AT" timestamp(6) null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_TIME" add "CORR_AT" timestamp(6) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_CB573B1104665BB6B36D79"
    on "SHOP_TIME" ("CORR_AT")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Saga Two: found by OrderId, which OrderNumber is to replace
begin
    execute immediate 'create table "SHOP_TWO" (
    "ID" varchar2(38) not null,
    "METADATA" clob not null,
    "DATA" clob not null,
    "PERSISTENCEVERSION" varchar2(23) not null,
    "SAGATYPEVERSION" varchar2(23) not null,
    "CONCURRENCY" number(19) not null,
    "CORR_ORDERID" nvarchar2(400) null,
    "CORR_ORDERNUMBER" number(19) null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_TWO" add "CORR_ORDERID" nvarchar2(400) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_1955CE019EDD5EAD93D2C7"
    on "SHOP_TWO" ("CORR_ORDERID")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_TWO" add "CORR_ORDERNUMBER" number(19) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_48A9FB2050F558A6959498"
    on "SHOP_TWO" ("CORR_ORDERNUMBER")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Saga Long: found by abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz_0123456789_ABCDEFGHIJKLMNOPQRST
begin
    execute immediate 'create table "SHOP_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRST" (
    "ID" varchar2(38) not null,
    "METADATA" clob not null,
    "DATA" clob not null,
    "PERSISTENCEVERSION" varchar2(23) not null,
    "SAGATYPEVERSION" varchar2(23) not null,
    "CONCURRENCY" number(19) not null,
    "CORR_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRST" nvarchar2(400) null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRST" add "CORR_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRST" nvarchar2(400) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_110A02BFB2E052E6908319"
    on "SHOP_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRST" ("CORR_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEFGHIJKLMNOPQRST")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Saga R?D ?(x) %1: found by a?b ??c, which :Other is to replace
begin
    execute immediate 'create table "SHOP_R' || chr(38) || 'D $(X) %1" (
    "ID" varchar2(38) not null,
    "METADATA" clob not null,
    "DATA" clob not null,
    "PERSISTENCEVERSION" varchar2(23) not null,
    "SAGATYPEVERSION" varchar2(23) not null,
    "CONCURRENCY" number(19) not null,
    "CORR_A' || chr(38) || 'B ' || chr(38) || '' || chr(38) || 'C" nvarchar2(400) null,
    "CORR_:OTHER" varchar2(38) null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_R' || chr(38) || 'D $(X) %1" add "CORR_A' || chr(38) || 'B ' || chr(38) || '' || chr(38) || 'C" nvarchar2(400) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_2031C36F300658C6BB786D"
    on "SHOP_R' || chr(38) || 'D $(X) %1" ("CORR_A' || chr(38) || 'B ' || chr(38) || '' || chr(38) || 'C")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_R' || chr(38) || 'D $(X) %1" add "CORR_:OTHER" varchar2(38) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_02EE378E32875EA184D621"
    on "SHOP_R' || chr(38) || 'D $(X) %1" ("CORR_:OTHER")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Saga it's a \ table? -- no?: found by what's \ this?
begin
    execute immediate 'create table "SHOP_IT''S A \ TABLE; -- NO?" (
    "ID" varchar2(38) not null,
    "METADATA" clob not null,
    "DATA" clob not null,
    "PERSISTENCEVERSION" varchar2(23) not null,
    "SAGATYPEVERSION" varchar2(23) not null,
    "CONCURRENCY" number(19) not null,
    "CORR_WHAT''S \ THIS?" timestamp(6) null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_IT''S A \ TABLE; -- NO?" add "CORR_WHAT''S \ THIS?" timestamp(6) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_4E0BDE0FC34C5C968B98F5"
    on "SHOP_IT''S A \ TABLE; -- NO?" ("CORR_WHAT''S \ THIS?")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/

-- Saga select: found by key, which index is to replace
begin
    execute immediate 'create table "SHOP_SELECT" (
    "ID" varchar2(38) not null,
    "METADATA" clob not null,
    "DATA" clob not null,
    "PERSISTENCEVERSION" varchar2(23) not null,
    "SAGATYPEVERSION" varchar2(23) not null,
    "CONCURRENCY" number(19) not null,
    "CORR_KEY" nvarchar2(400) null,
    "CORR_INDEX" nvarchar2(400) null,
    primary key ("ID")
)';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_SELECT" add "CORR_KEY" nvarchar2(400) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_7EF16D41C4F15440AC6020"
    on "SHOP_SELECT" ("CORR_KEY")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
begin
    execute immediate 'alter table "SHOP_SELECT" add "CORR_INDEX" nvarchar2(400) null';
exception when others then
    if sqlcode <> -1430 then
        raise;
    end if;
end;
/
begin
    execute immediate 'create unique index "SAGAIDX_A917D7A674E65384945FD1"
    on "SHOP_SELECT" ("CORR_INDEX")';
exception when others then
    if sqlcode <> -955 then
        raise;
    end if;
end;
/
