-- What commit c30c0fd5 made besides the shared tables of tests/contract/schema_1_postgres.sql: two indexes that were
-- dropped before version 2, and the saga's table.
-- SPDX-License-Identifier: Apache-2.0
create index if not exists "pawl_timeouts_lease"
    on "pawl_timeouts" ("LeaseExpires") where "LeaseExpires" is not null;
create index if not exists "pawl_timeouts_worker"
    on "pawl_timeouts" ("LeaseWorker") where "LeaseWorker" is not null;
create table if not exists "orders_OrderSaga" (
    "Id" uuid not null,
    "Metadata" text not null,
    "Data" jsonb not null,
    "PersistenceVersion" character varying(23) not null,
    "SagaTypeVersion" character varying(23) not null,
    "Concurrency" bigint not null,
    "Correlation_order_id" character varying(200) collate "C" null,
    primary key ("Id")
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create unique index if not exists "Index_abaf33de719d506a8fb906245a529c38"
    on "orders_OrderSaga" ("Correlation_order_id");
select setval('"pawl_queue_Seq_seq"', 8), setval('"pawl_outbox_Id_seq"', 3), setval('"pawl_aggregator_Id_seq"', 1);
