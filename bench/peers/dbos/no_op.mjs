// no_op.mjs - workflows of DBOS with one step that does nothing, from a queue of its own.
//
// SPDX-License-Identifier: Apache-2.0
import pg from "pg";
import { DBOS, DBOSClient } from "@dbos-inc/dbos-sdk";
import { dropSchema, durability, failed, makeSchema, measure, postgresUrl, SCHEMA, versionOf } from "../shared.mjs";

const QUEUE = "no-op";
const silent = { info() {}, debug() {}, warn() {}, error(text) { failed(new Error(String(text))); } };
let client, pool, systemDatabaseUrl, handle;

DBOS.registerWorkflow(async (message) => {
  await DBOS.runStep(async () => handle(message), { name: "no-op" });
}, { name: "no-op" });

const enqueue = (message) =>
  client.enqueue({ queueName: QUEUE, workflowName: "no-op", workflowID: message.id }, message);

await measure({
  name: `DBOS ${versionOf(import.meta, "@dbos-inc/dbos-sdk")}`,
  configuration: "a workflow of one step, from a queue, polled every 10 ms, 300 at a time",
  messages: 5000,
  async open() {
    systemDatabaseUrl = postgresUrl();
    pool = new pg.Pool({ connectionString: systemDatabaseUrl, max: 1 });
    this.promises = `${await durability(pool)}, deduplicated by workflow id, a step at least once`;
    await makeSchema(pool);
    await DBOS.migrate(systemDatabaseUrl, { schemaName: SCHEMA });
    client = await DBOSClient.create({ systemDatabaseUrl, systemDatabaseSchemaName: SCHEMA, systemDatabasePoolSize: 20, logger: silent });
    await client.registerQueue(QUEUE, { workerConcurrency: 300, minPollingIntervalMs: 10 });
  },
  async fill(messages) {
    for (let i = 0; i < messages.length; i += 100)
      await Promise.all(messages.slice(i, i + 100).map(enqueue));
  },
  async start(each) {
    handle = each;
    DBOS.setConfig({ name: "pawl-bench", systemDatabaseUrl, systemDatabaseSchemaName: SCHEMA, systemDatabasePoolSize: 20,
                     runAdminServer: false, logger: silent, applicationVersion: "1", listenQueues: [QUEUE] });
    await DBOS.launch();
  },
  send: enqueue,
  async isSettled() {
    const { rows } = await pool.query(`select from ${SCHEMA}.workflow_status where status <> 'SUCCESS' limit 1`);
    return rows.length === 0;
  },
  async stop() {
    await DBOS.shutdown();
    await pool.query(`truncate ${SCHEMA}.workflow_status cascade`);
  },
  async close() {
    await client?.destroy();
    await dropSchema(pool);
    await pool?.end();
  },
});
