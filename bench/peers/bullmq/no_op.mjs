// no_op.mjs - jobs of BullMQ that do nothing, on a Redis of its own that flushes each command.
//
// SPDX-License-Identifier: Apache-2.0
import { Queue, Worker } from "bullmq";
import IORedis from "ioredis";
import { failed, freePort, measure, ownFolder, ready, startProgram, versionOf } from "../shared.mjs";

const NAME = "no-op";
let connection, queue, worker;

await measure({
  name: `BullMQ ${versionOf(import.meta, "bullmq")}`,
  configuration: "Redis with appendfsync always, 100 jobs at a time",
  promises: "durable, not deduplicated, at least once",
  messages: 20000,
  async open() {
    const port = await freePort();
    const redis = await startProgram(
      "redis-server",
      ["--port", port, "--bind", "127.0.0.1", "--dir", ownFolder(), "--appendonly", "yes",
       "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction"],
      "redis-server is not installed (Debian: redis-server)");
    connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
    const client = new IORedis({ ...connection, lazyConnect: true, retryStrategy: null });
    client.on("error", () => {});
    await ready("redis-server", async () => {
      if (client.status !== "ready") await client.connect();
      return true;
    }, redis.ended);
    client.disconnect();
    queue = new Queue(NAME, { connection, defaultJobOptions: { removeOnComplete: true } });
    queue.on("error", failed);
  },
  async fill(messages) {
    for (let i = 0; i < messages.length; i += 1000)
      await queue.addBulk(messages.slice(i, i + 1000).map((data) => ({ name: NAME, data })));
  },
  async start(handle) {
    worker = new Worker(NAME, async (job) => handle(job.data), { connection, concurrency: 100 });
    worker.on("error", failed);
    worker.on("failed", (job, error) => failed(error));
  },
  send: (message) => queue.add(NAME, message),
  isSettled: async () => (await queue.getJobCountByTypes("active", "waiting")) === 0,
  stop: () => worker.close(),
  close: () => queue?.close(),
});
