// saga_step.mjs - the saga step of `pawl bench saga-step` as a job of
// graphile-worker, on the same server: inbox mark, saga row loaded by its
// correlation value, updated at its version or inserted, one outbox row.
//
//     PAWL_BENCH_URL=postgres://... node saga_step.mjs MESSAGES
//
// The messages are those that pawl works off, in the same order, and the tables
// are pawl's with all their indexes: both are copied from the schema
// pawl_bench_0, which is there while `pawl bench` runs. Everything is made in
// the schema pawl_bench_peer, which is dropped at the end.
//
// Prints one line: {"peer":"graphile-worker 0.17.3","messages":20000,"per_second":4300.5}
//
// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import pg from "pg";
import { Logger, run, runMigrations } from "graphile-worker";

const CONCURRENT_JOBS = 24;
const LOCAL_QUEUE_SIZE = 500;
const SCHEMA = "pawl_bench_peer";
const FILLED = "pawl_bench_0";
const TABLES = ["pawl_bench_inbox", "pawl_bench_outbox", "pawl_bench_saga_Order"];
const PACKAGE = new URL("node_modules/graphile-worker/package.json", import.meta.url);
const VERSION = JSON.parse(readFileSync(PACKAGE)).version;

let isInterrupted = false;
const interrupted = new Promise((resolve, reject) => {
  for (const signal of ["SIGINT", "SIGTERM"])
    process.on(signal, () => {
      isInterrupted = true;
      reject(new Error(`interrupted by ${signal}`));
    });
});
interrupted.catch(() => {}); // who waits for it is told

const quiet = new Logger(() => (level, text) => {
  if (level === "error" && !isInterrupted) console.error(text);
});

// pawl's own parameters mean nothing to node-postgres.
function connectionString() {
  const url = new URL(process.env.PAWL_BENCH_URL);
  url.searchParams.delete("schema");
  url.searchParams.delete("pooler");
  return url.href;
}

async function prepare(pool, messages) {
  await pool.query(`create schema ${SCHEMA}`);
  for (const table of TABLES)
    await pool.query(`create table ${SCHEMA}."${table}" (like ${FILLED}."${table}" including all)`);
  await runMigrations({ connectionString: connectionString(), schema: SCHEMA, logger: quiet });
  await pool.query(
    `select count(*) from ${SCHEMA}.add_jobs(array(
       select row('saga_step',
                  json_build_object('id', "MessageId", 'correlation', "CorrelationId",
                                    'body', convert_from("Body", 'UTF8')::json),
                  null, null, null, null, null, null)::${SCHEMA}.job_spec
       from ${FILLED}.pawl_bench_queue order by "Due", "Seq" limit $1))`, [messages]);
  await pool.query(`vacuum (analyze) ${SCHEMA}._private_jobs`);
  await pool.query("checkpoint").catch(() => {}); // not every user may
}

// Named statements are prepared once for each connection.
const LOAD = {
  name: "load",
  text: `select "Id", "Concurrency", "Data" from ${SCHEMA}."pawl_bench_saga_Order"
         where "Correlation_order_id" = $1 for update`,
};
const INSERT = {
  name: "insert",
  text: `insert into ${SCHEMA}."pawl_bench_saga_Order" ("Id", "Metadata", "Data",
           "PersistenceVersion", "SagaTypeVersion", "Concurrency", "Correlation_order_id")
         values ($1, $2, $3, '1', '1.0', 1, $4) on conflict ("Correlation_order_id") do nothing`,
};
const UPDATE = {
  name: "update",
  text: `update ${SCHEMA}."pawl_bench_saga_Order" set "Concurrency" = "Concurrency" + 1, "Data" = $3
         where "Id" = $1 and "Concurrency" = $2`,
};
const MARK = {
  name: "mark",
  text: `insert into ${SCHEMA}.pawl_bench_inbox ("Endpoint", "MessageId", "Outcome", "At")
         values ('bench', $1, 'handled', now()) on conflict do nothing`,
};
const DISPATCH = {
  name: "dispatch",
  text: `insert into ${SCHEMA}.pawl_bench_outbox ("DispatchId", "State", "Attempts", "NextAttempt",
           "Due", "At", "Source", "Version", "Index", "Endpoint", "Destination", "MessageId",
           "Type", "CorrelationId", "CausationId", "Headers", "Body")
         values ($1::uuid, 'pending', 0, now(), now(), now(), $2, $3, 0, 'bench', 'outside',
           $1::uuid::text, 'bench_moved', $4, $5, '{"pawl.reply_to":"bench"}', $6)`,
};

// The state after the step. The row is locked from the load on, so that two
// jobs of one saga wait for one another instead of failing.
async function save(client, message) {
  const body = message.body;
  const state = { ...body, steps: 1 };
  delete state.step;
  for (;;) {
    const { rows } = await client.query({ ...LOAD, values: [body.order_id] });
    if (rows.length === 1) {
      const row = rows[0];
      state.steps = row.Data.steps + 1;
      state.cents = row.Data.cents + body.cents;
      const saved = await client.query({ ...UPDATE, values: [row.Id, row.Concurrency, state] });
      if (saved.rowCount !== 1) throw new Error(`saga ${row.Id} was changed by another job`);
      return { id: row.Id, version: Number(row.Concurrency) + 1, state };
    }
    const id = randomUUID();
    const metadata = JSON.stringify({ SagaType: "Order", OriginalMessageId: message.id });
    const added = await client.query({ ...INSERT, values: [id, metadata, state, body.order_id] });
    if (added.rowCount === 1) return { id, version: 1, state };
  }
}

async function step(client, message) {
  await client.query("begin");
  try {
    const marked = await client.query({ ...MARK, values: [message.id] });
    if (marked.rowCount === 1) {
      const saga = await save(client, message);
      await client.query({
        ...DISPATCH,
        values: [randomUUID(), `Order/${saga.id}`, saga.version, message.correlation, message.id,
                 Buffer.from(JSON.stringify(saga.state))],
      });
    }
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

async function work(messages) {
  let left = messages;
  let finish;
  const finished = new Promise((resolve) => { finish = resolve; });
  const began = performance.now();
  const runner = await run({
    logger: quiet,
    noHandleSignals: true,
    taskList: {
      saga_step: (message, helpers) => helpers.withPgClient((client) => step(client, message)),
    },
    preset: {
      worker: {
        connectionString: connectionString(),
        maxPoolSize: CONCURRENT_JOBS + 4,
        schema: SCHEMA,
        concurrentJobs: CONCURRENT_JOBS,
        localQueue: { size: LOCAL_QUEUE_SIZE },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
  runner.events.on("job:success", () => { if (--left === 0) finish(); });
  try {
    await Promise.race([finished, runner.promise, interrupted]);
  } finally {
    await runner.stop(); // what is done is written by then
  }
  return (performance.now() - began) / 1000;
}

async function check(pool, messages) {
  const { rows } = await pool.query(
    `select (select count(*) from ${SCHEMA}._private_jobs) as jobs,
            (select count(*) from ${SCHEMA}.pawl_bench_inbox) as marks,
            (select count(*) from ${SCHEMA}.pawl_bench_outbox) as sent,
            (select sum(("Data"->>'steps')::int8) from ${SCHEMA}."pawl_bench_saga_Order") as steps`);
  const found = Object.values(rows[0]).map(Number);
  if (String(found) !== String([0, messages, messages, messages]))
    throw new Error(`the work was not done: ${JSON.stringify(rows[0])}, ${messages} messages`);
}

const messages = Number(process.argv[2]);
if (!Number.isSafeInteger(messages) || messages < 1 || !process.env.PAWL_BENCH_URL) {
  console.error("usage: PAWL_BENCH_URL=postgres://... node saga_step.mjs MESSAGES");
  process.exit(2);
}
const pool = new pg.Pool({ connectionString: connectionString(), max: 1 });
pool.on("error", () => {}); // a connection that ends while nobody uses it
let isOurs = false;
try {
  const { rows } = await pool.query("select from pg_namespace where nspname = $1", [SCHEMA]);
  if (rows.length > 0)
    throw new Error(`schema ${SCHEMA} exists: left over; drop it with 'drop schema ${SCHEMA} cascade'`);
  isOurs = true;
  await Promise.race([prepare(pool, messages), interrupted]);
  const seconds = await work(messages);
  await check(pool, messages);
  const per_second = Math.round((messages / seconds) * 10) / 10;
  console.log(JSON.stringify({ peer: `graphile-worker ${VERSION}`, messages, per_second }));
} catch (error) {
  console.error(`graphile: ${error.message}`);
  process.exitCode = 1;
} finally {
  if (isOurs) await pool.query(`drop schema if exists ${SCHEMA} cascade`).catch(() => {});
  await pool.end();
  process.exit(); // whatever an interrupt left under way
}
