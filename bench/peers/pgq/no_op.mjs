// no_op.mjs - events of PgQ that a consumer reads batch by batch; each batch is read and finished in one
// transaction. The ticker, pgqd, makes a batch every 50 ms at the latest.
//
// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { durability, failed, LeftOut, measure, ownFolder, postgresUrl, startProgram } from "../shared.mjs";

const QUEUE = "pawl_bench_peer";
const LIMITS = { ticker_max_lag: "50 milliseconds", ticker_max_count: "1000", ticker_idle_period: "50 milliseconds" };
let client, sender, consumer, isOurs, isRunning, running;

async function consume(handle) {
  while (isRunning) {
    await consumer.query("begin");
    const { rows } = await consumer.query({
      name: "next", text: "select pgq.next_batch($1, $1) as id", values: [QUEUE] });
    if (rows[0].id !== null) {
      const events = await consumer.query({
        name: "events", text: "select ev_data from pgq.get_batch_events($1)", values: [rows[0].id] });
      for (const event of events.rows) handle(JSON.parse(event.ev_data));
      await consumer.query({ name: "finish", text: "select pgq.finish_batch($1)", values: [rows[0].id] });
    }
    await consumer.query("commit");
    if (rows[0].id === null) await sleep(10);
  }
}

async function startTicker(url) {
  const folder = ownFolder();
  const database = url.pathname.slice(1);
  const file = join(folder, "pgqd.ini");
  writeFileSync(file, `[pgqd]
base_connstr = host=${url.hostname} port=${url.port || 5432} user=${url.username || "postgres"}
initial_database = ${database}
database_list = ${database}
logfile = ${folder}/log
pidfile = ${folder}/pid
ticker_period = 0.05
`);
  await startProgram("pgqd", ["-q", file], "pgqd is not installed (Debian: pgqd)",
                     { env: { ...process.env, PGPASSWORD: decodeURIComponent(url.password) } });
}

await measure({
  name: "PgQ",
  configuration: "one consumer, a batch every 50 ms (pgqd), read and finished in one transaction",
  messages: 100000,
  countsStart: true, // its first message comes when the first batch was read
  async open() {
    const url = postgresUrl();
    client = new pg.Client(url);
    sender = new pg.Pool({ connectionString: url, max: 4 });
    consumer = new pg.Client(url);
    for (const each of [client, consumer]) await each.connect();
    const durable = await durability(client);
    this.promises = `${durable}, not deduplicated, exactly once for what the batch's transaction writes`;
    const { rows } = await client.query(
      "select default_version as version, installed_version from pg_available_extensions where name = 'pgq'");
    if (rows.length === 0) throw new LeftOut("the server lacks the extension pgq (Debian: postgresql-15-pgq3)");
    if (rows[0].installed_version !== null) throw new Error("the extension pgq is there already: another database, please");
    this.name += ` ${rows[0].version}`;
    await client.query("create extension pgq");
    isOurs = true;
    await client.query("select pgq.create_queue($1), pgq.register_consumer($1, $1)", [QUEUE]);
    for (const [name, value] of Object.entries(LIMITS))
      await client.query("select pgq.set_queue_config($1, $2, $3)", [QUEUE, name, value]);
    await startTicker(new URL(url));
  },
  async fill(messages) {
    for (let i = 0; i < messages.length; i += 1000)
      await client.query("select count(pgq.insert_event($1, 'no_op', data)) from unnest($2::text[]) as data",
                         [QUEUE, messages.slice(i, i + 1000).map((message) => JSON.stringify(message))]);
  },
  async start(handle) {
    isRunning = true;
    running = consume(handle).catch(failed);
  },
  send: (message) =>
    sender.query({ name: "insert", text: "select pgq.insert_event($1, 'no_op', $2)",
                   values: [QUEUE, JSON.stringify(message)] }),
  isSettled: async () => true,
  async stop() {
    isRunning = false;
    await running;
  },
  async close() {
    if (isOurs) await client.query("drop extension pgq cascade");
    for (const each of [client, sender, consumer]) await each?.end();
  },
});
