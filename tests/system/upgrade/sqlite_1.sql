-- The saga's table as commit 237d9a6c made it; the shared tables stand in tests/contract/schema_1_sqlite.sql.
-- SPDX-License-Identifier: Apache-2.0
create table if not exists "orders_OrderSaga" (
    "Id" text not null,
    "Metadata" text not null check (json_valid("Metadata")),
    "Data" text not null check (json_valid("Data")),
    "PersistenceVersion" text not null,
    "SagaTypeVersion" text not null,
    "Concurrency" integer not null,
    "Correlation_order_id" text collate binary null,
    primary key ("Id")
) strict;
create unique index if not exists "Index_orders_OrderSaga_Correlation_order_id"
    on "orders_OrderSaga" ("Correlation_order_id");
