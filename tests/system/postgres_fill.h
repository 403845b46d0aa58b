/* postgres_fill.h - 250,000 rows in each large table, as SQL: one that is read whole is a hundred times what
 * any hot statement may look at.
 *
 * Keys are made of the row's number, so that tests name rows without asking. Rows
 * come in the order of their indexes, the tables are not logged: that makes it fast.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_TESTS_SYSTEM_POSTGRES_FILL_H
#define PAWL_TESTS_SYSTEM_POSTGRES_FILL_H

#define FILL_ROWS 250000 /* also in the statements below, and in the plans' values */

static const char *const fill_functions[] = {
    "create function at(seconds numeric) returns timestamptz language sql immutable as "
    "$$select timestamptz '2026-01-01 00:00:00Z' + make_interval(secs => seconds::float8)$$",
    "create function key(number bigint) returns uuid language sql immutable as "
    "$$select lpad(to_hex(number), 32, '0')::uuid$$",
    "create function name(prefix text, number bigint) returns text language sql immutable as "
    "$$select prefix || lpad(number::text, 9, '0')$$",
    "create function numbers(first bigint, step bigint) returns bigint[] language sql immutable as "
    "$$select array_agg(first + i * step order by i) from generate_series(0, 255) as i$$",
    "create function keys(first bigint, step bigint) returns uuid[] language sql immutable as "
    "$$select array_agg(key(first + i * step) order by i) from generate_series(0, 255) as i$$",
    "create function names(prefix text, first bigint, step bigint) returns text[] language sql immutable as "
    "$$select array_agg(name(prefix, first + i * step) order by i) "
    "from generate_series(0, 255) as i$$",
    "create function same(value anyelement) returns anyarray language sql immutable as "
    "$$select array_fill(value, array[256])$$",
};

/* Attempts refer to the outbox, which may be unlogged only when they are. */
static const char *const fill_tables[] = {
    "pawl_queue",         "pawl_dead",        "pawl_inbox",      "pawl_outbox_attempts",
    "pawl_outbox",        "pawl_timeouts",    "pawl_aggregator", "pawl_aggregator_flush",
    "pawl_subscriptions", "pawl_workers",     "pawl_leases",     "pawl_events",
    "pawl_folds",         "pawl_checkpoints", "pawl_history",    "\"shop_Order\"",
    "\"shop_Move\"",
};

/* The numbers of the rows, a part of all, stand where @ is. */
#define ROWS "generate_series(@) as n"
#define MESSAGE_COLUMNS \
    "\"MessageId\", \"Type\", \"CorrelationId\", \"CausationId\", \"Headers\", \"Body\""
#define MESSAGE_VALUES "name('m', n), 'line', 'c1', '', '{}', '{\"order_id\":\"order-1\",\"n\":1}'"

static const char *const fill_statements[] = {
    /* One queue with everything due at one time, one spread over days. */
    "insert into pawl_queue (\"Seq\", \"Queue\", \"Due\", \"Placed\", \"Attempts\", \"Deaths\", "
    "\"WaitingSince\", \"Error\", " MESSAGE_COLUMNS ") "
    "select n, case when n <= 125000 then 'bulk' else 'spread' end, d, d, 0, 0, 'epoch', '', " MESSAGE_VALUES
    " from " ROWS ", lateral (select case when n <= 125000 then at(-3600) "
    "else at((n - 225000) / 10.0) end as d) as t",
    "insert into pawl_dead (\"Endpoint\", \"Queue\", \"Code\", \"Error\", \"Attempts\", "
    "\"Deaths\", \"History\", \"At\", " MESSAGE_COLUMNS ") "
    "select case when n > 125000 then 'orders' else 'billing' end, 'bulk', 'EUSER', '', 1, 0, '', "
    "at(n - 250000), " MESSAGE_VALUES " from " ROWS,
    "insert into pawl_inbox (\"Endpoint\", \"MessageId\", \"Outcome\", \"At\") "
    "select case when n % 2 = 0 then 'orders' else 'billing' end, name('m', n), 'handled', "
    "at(n - 250000) from " ROWS,
    /* 10,000 pending, a tenth of them later, twenty tried before; two endpoints. */
    "insert into pawl_outbox (\"Id\", \"DispatchId\", \"State\", \"Attempts\", \"NextAttempt\", "
    "\"Due\", \"At\", \"DispatchedAt\", \"Source\", \"Version\", \"Index\", \"Endpoint\", "
    "\"Destination\", \"AttemptsBefore\", " MESSAGE_COLUMNS ") select n, key(n), s, "
    "case when s = 'pending' and n % 500 <> 0 then 0 else 1 end, "
    "case when n % 10 = 0 then at(3600) else at(-3600) end, at(-3600), at(n - 250000), "
    "case when s = 'dispatched' then at(n - 250000) end, name('order-', n), 1, 0, "
    "case when n % 2 = 0 then 'orders' else 'billing' end, 'mail', 0, " MESSAGE_VALUES " from " ROWS
    ", lateral (select case when n > 240000 then 'pending' "
    "when n % 2503 = 0 then 'held' when n % 2521 = 0 then 'dead' else 'dispatched' end as s) as t",
    /* Streams of ten, the last 10,000 events without a position. */
    "insert into pawl_events (\"Seq\", \"Stream\", \"Version\", \"Type\", \"TypeVersion\", "
    "\"MessageId\", \"CorrelationId\", \"CausationId\", \"DispatchId\", \"At\", \"Position\", "
    "\"Headers\", \"Body\") select n, name('Account/', (n - 1) / 10), (n - 1) % 10 + 1, "
    "'Deposited', 1, name('m', n), 'c1', '', key(n), at(n - 250000), "
    "case when n <= 240000 then n end, '{}', '{\"amount\":1}' from " ROWS,
    "insert into pawl_folds (\"Stream\", \"Version\", \"TypeVersion\", \"At\", \"State\", "
    "\"Dispatches\") select name('Account/', n), 5, 1, at(n - 250000), '{\"balance\":1}', '[]' "
    "from " ROWS,
    /* Ten lines of each saga, a tenth of all lines of none. */
    "insert into pawl_history (\"Id\", \"Endpoint\", \"Source\", \"MessageId\", \"Type\", "
    "\"Kind\", \"Outcome\", \"Version\", \"Attempts\", \"Duration\", \"At\", \"Error\", \"Out\") "
    "select n, 'orders', case when n % 10 = 0 then '' else name('Order/', n / 10) end, "
    "name('m', n), 'line', 'message', 'handled', 1, 0, 5, at(n - 250000), '', '' from " ROWS,
    /* 2,000 are due and 600 leased, a few of those by leases that are over. */
    "insert into pawl_timeouts (\"Id\", \"Generation\", \"SagaId\", \"SagaType\", \"Name\", "
    "\"Destination\", \"Due\", \"Attempts\", \"Owner\", \"LeaseExpires\", \"LeaseWorker\", "
    "\"CorrelationId\", \"Headers\") select key(n), 1, key(n), 'Order', "
    "case when n % 2 = 0 then 'pay' else '' end, "
    "case when n % 10 = 5 then 'billing' else 'orders' end, "
    "case when n <= 2000 then at(n - 3600) else at(n) end, 0, "
    "case when n <= 600 then key(7) end, "
    "case when n <= 512 then at(20) when n <= 600 then at(-20) end, "
    "case when n <= 600 then key(n % 20 + 1) end, '', '{}' from " ROWS,
    "insert into pawl_aggregator (\"Id\", \"Name\", \"Partition\", \"Key\", \"At\", \"Session\", "
    "\"LeaseExpires\", \"LeaseWorker\", " MESSAGE_COLUMNS ") select n, 'daily', "
    "name('p', n / 1000), name('k', n), at(n - 250000), case when n % 250 = 0 then key(8) end, "
    "case when n % 250 = 0 then at(20) end, "
    "case when n % 250 = 0 then key(n / 250 % 20 + 1) end, " MESSAGE_VALUES " from " ROWS,
    "insert into pawl_aggregator_flush (\"Partition\", \"Name\", \"Due\", \"Attempts\", \"Dead\", "
    "\"Error\") select name('p', n - 1), case when n <= 225000 then 'daily' else 'hourly' end, "
    "case when n % 225000 < 1000 then at(-3600) else at(n) end, 0, "
    "case when n % 2503 = 0 then 1 else 0 end, '' from " ROWS,
    "insert into \"shop_Order\" (\"Id\", \"Metadata\", \"Data\", \"PersistenceVersion\", "
    "\"SagaTypeVersion\", \"Concurrency\", \"Correlation_order_id\") select key(n), '{}', "
    "'{\"total\":1}', '1', '1', 1, name('order-', n) from " ROWS,
    "insert into \"shop_Move\" (\"Id\", \"Metadata\", \"Data\", \"PersistenceVersion\", "
    "\"SagaTypeVersion\", \"Concurrency\", \"Correlation_order_id\", \"Correlation_old_id\") "
    "select key(n), '{}', '{\"total\":1}', '1', '1', 1, name('order-', n), name('old-', n) "
    "from " ROWS,
    /* Last: its outbox rows must be there. */
    "insert into pawl_outbox_attempts (\"OutboxId\", \"Attempt\", \"Outcome\", \"At\", "
    "\"Duration\", \"Error\") select n, 1, 'success', at(n - 250000), 5, '' from " ROWS,
    /* Small tables: a row for each pair of type and queue, worker, leader. */
    "insert into pawl_subscriptions (\"Type\", \"Queue\") select name('t', n * 100), 'bulk' "
    "from generate_series(1, 10000) as n",
    "insert into pawl_checkpoints (\"Name\", \"Position\", \"At\") "
    "select name('c', n), n, at(0) from generate_series(1, 300) as n",
    "insert into pawl_workers (\"Id\", \"Endpoint\", \"Epoch\", \"Process\", \"Pid\", \"Seen\", "
    "\"Messages\", \"Timeouts\", \"Flushes\", \"Failures\", \"Conflicts\", \"Dead\", \"Types\") "
    "select key(n), 'orders', 1, case when n % 2 = 0 then n else 0 end, n, at(0), 0, 0, 0, 0, 0, 0, "
    "'[]' from generate_series(1, 200) as n",
    "insert into pawl_leases (\"Name\", \"Worker\", \"Process\", \"Pid\", \"Epoch\", \"Expires\") "
    "select name('lead:', n), key(n), n, n, 1, at(20) from generate_series(1, 50) as n",
    /* Which timeouts are leased: see timeout_statements.h. */
    "insert into pawl_leases (\"Name\", \"Process\", \"Pid\", \"Epoch\", \"Expires\") "
    "select 'timeouts:001767226200:' || d, extract(epoch from at(-3660)) * 1000000, 0, "
    "extract(epoch from at(600)) * 1000000, at(-2940) from unnest('{orders,billing}'::text[]) as d",
    "select setval(pg_get_serial_sequence('pawl_queue', 'Seq'), 250000), "
    "setval(pg_get_serial_sequence('pawl_outbox', 'Id'), 250000), "
    "setval(pg_get_serial_sequence('pawl_aggregator', 'Id'), 250000), "
    "setval(pg_get_serial_sequence('pawl_events', 'Seq'), 250000), "
    "setval(pg_get_serial_sequence('pawl_history', 'Id'), 250000)",
};

#endif
