// no_op.mjs - tasks of absurd with one step that does nothing.
//
// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import pg from "pg";
import { Absurd } from "absurd-sdk";
import { durability, failed, LeftOut, measure, postgresUrl, versionOf } from "../shared.mjs";

const QUEUE = "no-op";
const TASKS = `absurd."t_${QUEUE}"`;
const silent = { log() {}, info() {}, warn() {}, error(...words) { failed(new Error(words.join(" "))); } };
let app, pool, worker, isOurs, handle;

// The tables come with a command of its own.
function makeTables(url) {
  const made = spawnSync("absurdctl", ["init", "-d", url], { encoding: "utf8" });
  if (made.error?.code === "ENOENT")
    throw new LeftOut("absurdctl, which makes its tables, is not installed (neither npm nor Debian has it)");
  if (made.status !== 0) throw new Error(`absurdctl init: ${made.stderr}`);
}

await measure({
  name: `absurd ${versionOf(import.meta, "absurd-sdk")}`,
  configuration: "a task of one step, 50 at a time, polled every 10 ms",
  messages: 4000,
  async open() {
    const connectionString = postgresUrl();
    pool = new pg.Pool({ connectionString, max: 60 });
    this.promises = `${await durability(pool)}, deduplicated by idempotency key, a step at least once`;
    const { rows } = await pool.query("select from pg_namespace where nspname = 'absurd'");
    if (rows.length > 0) throw new Error("the schema absurd is there already: another database, please");
    isOurs = true;
    makeTables(connectionString);
    app = new Absurd({ db: pool, queueName: QUEUE, log: silent });
    await app.createQueue(QUEUE);
    app.registerTask({ name: "no-op" }, async (message, context) => {
      await context.step("no-op", async () => handle(message));
    });
  },
  async fill(messages) {
    for (let i = 0; i < messages.length; i += 100)
      await Promise.all(messages.slice(i, i + 100).map((message) => this.send(message)));
  },
  async start(each) {
    handle = each;
    worker = await app.startWorker({ concurrency: 50, batchSize: 50, pollInterval: 0.01, onError: failed });
  },
  send: (message) => app.spawn("no-op", message, { idempotencyKey: message.id }),
  async isSettled() {
    const { rows } = await pool.query(`select from ${TASKS} where state <> 'completed' limit 1`);
    return rows.length === 0;
  },
  async stop() {
    await worker.close();
    await app.dropQueue(QUEUE);
    await app.createQueue(QUEUE);
  },
  async close() {
    if (isOurs) await pool.query("drop schema if exists absurd cascade");
    await pool?.end();
  },
});
