-- Rows that `pawl run` of examples/orders left, of each kind that the tables of version 1 have: as the first programs
-- for SQLite and PostgreSQL wrote them (commits 237d9a6c and c30c0fd5). tests/support/upgrade_store.sh puts the
-- database's own form in place of each time: @epoch, @past, @now, @later. The bodies of MySQL, MariaDB and
-- PostgreSQL take a text, too.
--
--     o-1   placed; its payment was too small and became a dead letter; its timeout is far away
--     o-2   placed and paid; its item waits in the aggregator, whose flush is due
--     o-3   to be placed
--     o-4   placed; its timeout is due
--     place-2 was handled, and is in the queue once more, as an order of another number: a duplicate
--
-- SPDX-License-Identifier: Apache-2.0
insert into "pawl_queue" ("Seq", "Queue", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "MessageId", "Type",
    "CorrelationId", "CausationId", "Error", "Headers", "Body") values
    (7, 'orders', @past, @past, 0, 0, @epoch, 'place-3', 'place_order', 'place-3', '', '', '',
        '{"order_id":"o-3","warehouse":"south","total_cents":1}'),
    (8, 'orders', @past, @past, 0, 0, @epoch, 'place-2', 'place_order', 'place-2', '', '', '',
        '{"order_id":"o-9","warehouse":"north","total_cents":100}');
insert into "pawl_dead" ("Endpoint", "Queue", "MessageId", "Type", "CorrelationId", "CausationId", "Code", "Attempts",
    "Deaths", "At", "Error", "History", "Headers", "Body") values
    ('orders', 'orders', 'pay-1', 'payment_taken', 'pay-1', '', 'REJECT', 1, 0, @past, '42 cents paid, 4200 due', '', '',
        '{"order_ref":"o-1","cents":42}');
insert into "pawl_inbox" ("Endpoint", "MessageId", "Outcome", "At") values
    ('orders', 'place-1', 'handled', @past),
    ('orders', 'place-2', 'handled', @now),
    ('orders', 'place-4', 'handled', @past),
    ('orders', 'pay-2', 'handled', @past),
    ('orders', 'pay-1', 'dead', @past),
    ('orders', '01a21328-5654-7001-9e45-d0afe54036c2', 'handled', @past);
insert into "pawl_outbox" ("Id", "DispatchId", "State", "Attempts", "NextAttempt", "Due", "At", "DispatchedAt", "Source",
    "Version", "Index", "Endpoint", "Destination", "MessageId", "Type", "CorrelationId", "CausationId", "Headers",
    "Body") values
    (1, 'edb34e8f-66d5-5050-a944-a4d73e926a5b', 'pending', 3, @past, @past, @past, null,
        'OrderSaga/01a21328-525e-7001-9329-e4a67316a8ee', 1, 0, 'orders', 'billing',
        'edb34e8f-66d5-5050-a944-a4d73e926a5b', 'charge_card', 'place-1', 'place-1', '{"pawl.reply_to":"orders"}',
        '{"order_id":"o-1","cents":4200}'),
    (2, '7edce970-15b0-55d8-8fda-62bd592ad3fb', 'dispatched', 1, @past, @past, @past, @now,
        'OrderSaga/01a21328-525e-7003-99d8-28b8a9a992e4', 1, 0, 'orders', 'billing',
        '7edce970-15b0-55d8-8fda-62bd592ad3fb', 'charge_card', 'place-2', 'place-2', '{"pawl.reply_to":"orders"}',
        '{"order_id":"o-2","cents":100}'),
    (3, '5adb7a47-994b-5d08-b317-464026dfe13f', 'dead', 10, @past, @past, @past, null,
        'OrderSaga/01a21328-525e-7005-a1d4-40b082b5d915', 1, 0, 'orders', 'billing',
        '5adb7a47-994b-5d08-b317-464026dfe13f', 'charge_card', 'place-4', 'place-4', '{"pawl.reply_to":"orders"}',
        '{"order_id":"o-4","cents":700}');
insert into "pawl_outbox_attempts" ("OutboxId", "Attempt", "Outcome", "At", "Duration", "Error") values
    (1, 3, 'transient', @past, 38, 'route ''billing'': sqlite: /no/such/far.db: unable to open database file'),
    (2, 1, 'success', @past, 3873, ''),
    (3, 10, 'poison', @past, 40, 'route ''billing'': sqlite: /no/such/far.db: unable to open database file');
insert into "pawl_timeouts" ("Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due", "Attempts", "Owner",
    "LeaseExpires", "LeaseWorker", "CorrelationId", "Headers") values
    ('01a21328-525e-7007-9d7b-eb63a2d8d645', 1, '01a21328-525e-7001-9329-e4a67316a8ee', 'OrderSaga', 'payment', 'orders',
        @later, 0, null, null, null, 'place-1', ''),
    ('01a21328-525e-7009-a806-4417109b6cb7', 1, '01a21328-525e-7005-a1d4-40b082b5d915', 'OrderSaga', 'payment', 'orders',
        @past, 0, null, null, null, 'place-4', '');
insert into "pawl_aggregator" ("Id", "Name", "Partition", "Key", "At", "Session", "LeaseExpires", "LeaseWorker",
    "MessageId", "Type", "CorrelationId", "CausationId", "Headers", "Body") values
    (1, 'shipping', 'shipping/north', '01a21328-5654-7001-9e45-d0afe54036c2', @past, null, null, null,
        '01a21328-5654-7001-9e45-d0afe54036c2', 'ship_item', 'pay-2', 'pay-2', '{"pawl.reply_to":"orders"}',
        '{"order_id":"o-2","warehouse":"north"}');
insert into "pawl_aggregator_flush" ("Partition", "Name", "Due", "Attempts", "Dead", "Error") values
    ('shipping/north', 'shipping', @past, 0, 0, '');
insert into "pawl_subscriptions" ("Type", "Queue") values
    ('order_shipped', 'orders'), ('payment_taken', 'orders'), ('place_order', 'orders'), ('ship_item', 'orders');
insert into "pawl_workers" ("Id", "Endpoint", "Epoch", "LastCommit", "Process", "Pid", "Seen", "Messages", "Timeouts",
    "Flushes", "Failures", "Conflicts", "Dead", "Types") values
    ('00000000-0000-0000-0000-000000000000', '', 0, null, 0, 0, @epoch, 6, 0, 0, 1, 0, 1, '');
insert into "pawl_leases" ("Name", "Worker", "Process", "Pid", "Epoch", "Expires") values
    ('lead:outbox/orders', null, 0, 23371, 1, @epoch);
insert into "orders_OrderSaga" ("Id", "Metadata", "Data", "PersistenceVersion", "SagaTypeVersion", "Concurrency",
    "Correlation_order_id") values
    ('01a21328-525e-7001-9329-e4a67316a8ee', '{"SagaType":"OrderSaga","OriginalMessageId":"place-1"}',
        '{"order_id":"o-1","warehouse":"north","total_cents":4200}', '0.1.0', '1.0', 1, 'o-1'),
    ('01a21328-525e-7003-99d8-28b8a9a992e4', '{"SagaType":"OrderSaga","OriginalMessageId":"place-2"}',
        '{"order_id":"o-2","warehouse":"north","total_cents":100,"stage":"paid"}', '0.1.0', '1.0', 2, 'o-2'),
    ('01a21328-525e-7005-a1d4-40b082b5d915', '{"SagaType":"OrderSaga","OriginalMessageId":"place-4"}',
        '{"order_id":"o-4","warehouse":"south","total_cents":700}', '0.1.0', '1.0', 1, 'o-4');
