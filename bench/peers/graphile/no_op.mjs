// no_op.mjs - jobs of graphile-worker that do nothing: as its page about performance configures it, and
// with each job fetched and completed by itself.
//
// SPDX-License-Identifier: Apache-2.0
import pg from "pg";
import { Logger, run, runMigrations } from "graphile-worker";
import { dropSchema, durability, failed, makeSchema, measure, postgresUrl, SCHEMA, versionOf } from "../shared.mjs";

const quiet = new Logger(() => (level, text) => {
  if (level === "error") failed(new Error(text));
});
const ADD = `select count(*) from ${SCHEMA}.add_jobs(array(
  select row('no_op', job, null, null, null, null, null, null)::${SCHEMA}.job_spec from unnest($1::json[]) job))`;

function peer(way, messages, configuration, worker) {
  let pool, connectionString, runner;
  return {
    name: `graphile-worker ${versionOf(import.meta, "graphile-worker")}, ${way}`,
    configuration,
    messages,
    async open() {
      connectionString = postgresUrl();
      pool = new pg.Pool({ connectionString, max: 4 });
      this.promises = `${await durability(pool)}, not deduplicated, at least once`;
      await makeSchema(pool);
      await runMigrations({ connectionString, schema: SCHEMA, logger: quiet });
    },
    async fill(messages) {
      await pool.query(ADD, [messages]);
      await pool.query(`vacuum (analyze) ${SCHEMA}._private_jobs`);
    },
    async start(handle) {
      runner = await run({
        logger: quiet,
        noHandleSignals: true,
        taskList: { no_op: handle },
        preset: { worker: { connectionString, schema: SCHEMA, ...worker } },
      });
      runner.events.on("job:error", ({ error }) => failed(error));
    },
    send: (message) => pool.query({ name: "add", text: `select from ${SCHEMA}.add_job('no_op', $1)`,
                                    values: [message] }),
    async isSettled() {
      const { rows } = await pool.query(`select from ${SCHEMA}._private_jobs limit 1`);
      return rows.length === 0;
    },
    stop: () => runner.stop(),
    async close() {
      await dropSchema(pool);
      await pool?.end();
    },
  };
}

await measure(
  peer("batched", 100000, "24 jobs at a time, local queue of 500, completions in batches",
       { concurrentJobs: 24, maxPoolSize: 25, localQueue: { size: 500 }, completeJobBatchDelay: 0,
         failJobBatchDelay: 0 }),
  peer("single", 10000, "24 jobs at a time, each fetched and completed by itself",
       { concurrentJobs: 24, maxPoolSize: 25 }),
);
