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
// or, with exit code 1, {"error":"..."}. The first job that fails ends the run: tried again
// it would fail for hours, and a figure with failures in it says nothing.
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
const INBOX = "pawl_bench_inbox";
const OUTBOX = "pawl_bench_outbox";
const ORDERS = "pawl_bench_saga_Order";
const STALL_SECONDS = 30; // without a job that ends
const STOP_SECONDS = 10; // for the jobs in hand
const PACKAGE = new URL("node_modules/graphile-worker/package.json", import.meta.url);
const VERSION = JSON.parse(readFileSync(PACKAGE)).version;

let hangs = false;
let isOver = false; // what is logged from now on is no cause
const interrupted = new Promise((resolve, reject) => {
  for (const signal of ["SIGINT", "SIGTERM"])
    process.on(signal, () => {
      isOver = true;
      reject(new Error(`interrupted by ${signal}`));
    });
});
interrupted.catch(() => {}); // who waits for it is told

const quiet = new Logger(() => (level, text) => {
  if (level === "error" && !isOver) console.error(`graphile: ${text}`);
});

// pawl's own parameters mean nothing to node-postgres.
function connectionString() {
  const url = new URL(process.env.PAWL_BENCH_URL);
  url.searchParams.delete("schema");
  url.searchParams.delete("pooler");
  url.searchParams.set("application_name", SCHEMA);
  return url.href;
}

async function prepare(pool, messages) {
  await pool.query(`create schema ${SCHEMA}`);
  for (const table of [INBOX, OUTBOX, ORDERS])
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

// What a column holds that this program does not know, by the type's category and name.
const NEUTRAL = { N: "0", S: "''", B: "false", D: "now()", T: "'0'",
                  uuid: "gen_random_uuid()", bytea: "''", json: "'{}'", jsonb: "'{}'" };

// An insert for the columns that the table has: of what is known those that are there, and a
// neutral value for any other that cannot be left out. Pawl writes something there, too.
async function makeInsert(pool, name, table, sql, parameters, tail) {
  const { rows } = await pool.query(
    `select attname as name, typname as type, typcategory as category,
            attnotnull and not atthasdef and attidentity = '' as is_needed
     from pg_attribute join pg_type on pg_type.oid = atttypid
     where attrelid = $1::regclass and attnum > 0 and not attisdropped
     order by attnum`, [`${SCHEMA}."${table}"`]);
  const columns = [];
  const values = [];
  const parameterNames = [];
  for (const column of rows) {
    let value = sql[column.name];
    if (parameters.includes(column.name)) value = `$${parameterNames.push(column.name)}`;
    else if (value === undefined && column.is_needed) {
      value = NEUTRAL[column.type] ?? NEUTRAL[column.category];
      if (value === undefined)
        throw new Error(`column "${column.name}" of ${table} has type ${column.type}: no value known`);
    }
    if (value === undefined) continue;
    columns.push(`"${column.name}"`);
    values.push(value);
  }
  const text = `insert into ${SCHEMA}."${table}" (${columns}) values (${values}) ${tail}`;
  return { statement: { name, text }, parameterNames };
}

// Named statements are prepared once for each connection.
const LOAD = {
  name: "load",
  text: `select "Id", "Concurrency", "Data" from ${SCHEMA}."${ORDERS}"
         where "Correlation_order_id" = $1 for update`,
};
const UPDATE = {
  name: "update",
  text: `update ${SCHEMA}."${ORDERS}" set "Concurrency" = "Concurrency" + 1, "Data" = $3
         where "Id" = $1 and "Concurrency" = $2`,
};
const inserts = {};

async function makeInserts(pool) {
  inserts.saga = await makeInsert(
    pool, "insert", ORDERS,
    { PersistenceVersion: "'1'", SagaTypeVersion: "'1.0'", Concurrency: "1" },
    ["Id", "Metadata", "Data", "Correlation_order_id"],
    'on conflict ("Correlation_order_id") do nothing');
  inserts.mark = await makeInsert(
    pool, "mark", INBOX, { Endpoint: "'bench'", Outcome: "'handled'", At: "now()" }, ["MessageId"],
    "on conflict do nothing");
  inserts.dispatch = await makeInsert(
    pool, "dispatch", OUTBOX,
    { State: "'pending'", Attempts: "0", AttemptsBefore: "0", NextAttempt: "now()", Due: "now()",
      At: "now()", Index: "0", Endpoint: "'bench'", Destination: "'outside'",
      Type: "'bench_moved'", Headers: `'{"pawl.reply_to":"bench"}'` },
    ["DispatchId", "Source", "Version", "MessageId", "CorrelationId", "CausationId", "Body"], "");
}

async function add(client, insert, row) {
  const values = insert.parameterNames.map((name) => row[name]);
  return (await client.query({ ...insert.statement, values })).rowCount;
}

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
    const row = { Id: id, Metadata: metadata, Data: state, Correlation_order_id: body.order_id };
    if ((await add(client, inserts.saga, row)) === 1) return { id, version: 1, state };
  }
}

async function step(client, message) {
  await client.query("begin");
  try {
    if ((await add(client, inserts.mark, { MessageId: message.id })) === 1) {
      const saga = await save(client, message);
      const dispatchId = randomUUID();
      await add(client, inserts.dispatch, {
        DispatchId: dispatchId,
        Source: `Order/${saga.id}`,
        Version: saga.version,
        MessageId: dispatchId,
        CorrelationId: message.correlation,
        CausationId: message.id,
        Body: Buffer.from(JSON.stringify(saga.state)),
      });
    }
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

// Rejected by the first job that fails, and when none ends for a while.
function watch(runner, messages) {
  let left = messages;
  let ended = performance.now();
  return new Promise((resolve, reject) => {
    const stall = setInterval(() => {
      if (performance.now() - ended < STALL_SECONDS * 1000) return;
      isOver = true;
      reject(new Error(`no job ended for ${STALL_SECONDS} s, ${left} of ${messages} are left`));
    }, 1000);
    stall.unref();
    runner.events.on("job:success", () => {
      ended = performance.now();
      if (--left === 0) resolve();
    });
    runner.events.on("job:error", ({ job, error }) => {
      isOver = true;
      reject(new Error(`job ${job.id} failed: ${error?.message ?? error}`));
    });
  });
}

// What is done is written by then; a job that hangs is not waited for.
function stop(runner) {
  const over = new Promise((resolve) => {
    setTimeout(() => { hangs = true; resolve(); }, STOP_SECONDS * 1000).unref();
  });
  return Promise.race([runner.stop(), over]);
}

async function work(messages) {
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
  try {
    await Promise.race([watch(runner, messages), runner.promise, interrupted]);
  } finally {
    await stop(runner);
  }
  return (performance.now() - began) / 1000;
}

async function check(pool, messages) {
  const { rows } = await pool.query(
    `select (select count(*) from ${SCHEMA}._private_jobs) as jobs,
            (select count(*) from ${SCHEMA}."${INBOX}") as marks,
            (select count(*) from ${SCHEMA}."${OUTBOX}") as sent,
            (select sum(("Data"->>'steps')::int8) from ${SCHEMA}."${ORDERS}") as steps`);
  const found = Object.values(rows[0]).map(Number);
  if (String(found) !== String([0, messages, messages, messages]))
    throw new Error(`the work was not done: ${JSON.stringify(rows[0])}, ${messages} messages`);
}

// What hangs keeps its locks, and its sessions outlive this program: they are ended first,
// and whoever holds the other end here need not be told.
async function endSessions(pool) {
  process.on("uncaughtException", () => {});
  await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
                    where application_name = '${SCHEMA}' and pid <> pg_backend_pid()`);
}

async function drop(pool) {
  try {
    if (hangs) await endSessions(pool);
    await pool.query(`set statement_timeout = '${STOP_SECONDS}s'`);
    await pool.query(`drop schema if exists ${SCHEMA} cascade`);
  } catch (error) {
    console.error(`graphile: ${SCHEMA} stays: ${error.message}`);
  }
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
  await makeInserts(pool);
  const seconds = await work(messages);
  await check(pool, messages);
  const per_second = Math.round((messages / seconds) * 10) / 10;
  console.log(JSON.stringify({ peer: `graphile-worker ${VERSION}`, messages, per_second }));
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
  process.exitCode = 1;
} finally {
  if (isOurs) await drop(pool);
  await pool.end();
  process.exit(); // whatever an interrupt left under way
}
