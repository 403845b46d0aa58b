// no_op.mjs - jobs of pg-boss that do nothing, fetched and completed in batches.
//
// SPDX-License-Identifier: Apache-2.0
import pg from "pg";
import { PgBoss } from "pg-boss";
import { dropSchema, durability, failed, makeSchema, measure, postgresUrl, SCHEMA, versionOf } from "../shared.mjs";

const QUEUE = "no-op";
let boss, pool;

await measure({
  name: `pg-boss ${versionOf(import.meta, "pg-boss")}`,
  configuration: "4 workers, 1000 jobs in a batch, fetched at once while batches are full, LISTEN/NOTIFY",
  messages: 40000,
  async open() {
    const connectionString = postgresUrl();
    pool = new pg.Pool({ connectionString, max: 1 });
    this.promises = `${await durability(pool)}, not deduplicated, at least once`;
    await makeSchema(pool);
    boss = new PgBoss({ connectionString, schema: SCHEMA, useListenNotify: true, max: 10 });
    boss.on("error", failed);
    await boss.start();
    await boss.createQueue(QUEUE, { notify: true });
  },
  async fill(messages) {
    for (let i = 0; i < messages.length; i += 5000)
      await boss.insert(QUEUE, messages.slice(i, i + 5000).map((data) => ({ data })));
  },
  start: (handle) =>
    boss.work(QUEUE, { localConcurrency: 4, batchSize: 1000, burstWhenBatchFull: true,
                       pollingIntervalSeconds: 0.5 },
              async (jobs) => jobs.forEach((job) => handle(job.data))),
  send: (message) => boss.send(QUEUE, message),
  async isSettled() {
    const { rows } = await pool.query(`select from ${SCHEMA}.job where name = $1 and state < 'completed' limit 1`, [QUEUE]);
    return rows.length === 0;
  },
  async stop() {
    await boss.offWork(QUEUE, { wait: true });
    await boss.deleteAllJobs(QUEUE);
  },
  async close() {
    await boss?.stop({ graceful: false });
    await dropSchema(pool);
    await pool?.end();
  },
});
