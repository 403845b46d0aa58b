// no_op.mjs - handlers of Restate that do nothing: a virtual object for each order, on a server of its
// own. A handler of another service sends the messages of a round, 500 at a time.
//
// SPDX-License-Identifier: Apache-2.0
import { createEndpointHandler, object, rpc, service } from "@restatedev/restate-sdk";
import { createServer } from "node:http2";
import { fileURLToPath } from "node:url";
import { failed, freePort, LeftOut, measure, ownFolder, ready, startProgram, versionOf } from "../shared.mjs";

const SENT_AT_ONCE = 500;
const logger = ({ level }, text, error) => { if (level === "error") failed(error ?? new Error(text)); };
let handle, ingress;

const order = object({ name: "order", handlers: { step: async (context, message) => handle(message) } });
const sender = service({
  name: "sender",
  handlers: {
    async send(context, messages) {
      for (const message of messages)
        context.objectSendClient(order, message.order_id).step(message, rpc.sendOpts({ idempotencyKey: message.id }));
    },
  },
});

async function post(url, body, headers = {}) {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body),
                                      headers: { "content-type": "application/json", ...headers } });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

function serverPath() {
  const name = `@restatedev/restate-server-linux-${process.arch}/bin/restate-server`;
  return fileURLToPath(new URL(`node_modules/${name}`, import.meta.url));
}

await measure({
  name: `Restate ${versionOf(import.meta, "@restatedev/restate-server")}`,
  configuration: "one node, a virtual object for each order; the rate includes sending, 500 in a call",
  promises: "durable, deduplicated by idempotency key, exactly once for an object's state",
  messages: 10000,
  countsSending: true,
  async open() {
    const [port, ingressPort, adminPort, nodePort] =
      [await freePort(), await freePort(), await freePort(), await freePort()];
    createServer(createEndpointHandler({ services: [order, sender], logger })).listen(port, "127.0.0.1");
    const server = await startProgram(
      serverPath(), ["--no-logo", "--base-dir", ownFolder(), "--bind-ip", "127.0.0.1", "--bind-port", nodePort, "--listen-mode", "tcp"],
      `restate-server is not there for ${process.arch}`,
      { env: { ...process.env, RESTATE_DISABLE_TELEMETRY: "true", RESTATE_LOG_FILTER: "error",
               RESTATE_INGRESS__BIND_PORT: ingressPort, RESTATE_ADMIN__BIND_PORT: adminPort } });
    ingress = `http://127.0.0.1:${ingressPort}`;
    const admin = `http://127.0.0.1:${adminPort}`;
    await ready("restate-server", async () => (await fetch(`${admin}/health`)).ok, server.ended);
    await ready("the registration", async () => {
      await post(`${admin}/deployments`, { uri: `http://127.0.0.1:${port}` });
      return true;
    }, server.ended);
  },
  async fill(messages) {
    const calls = [];
    for (let i = 0; i < messages.length; i += SENT_AT_ONCE)
      calls.push(post(`${ingress}/sender/send`, messages.slice(i, i + SENT_AT_ONCE)));
    await Promise.all(calls);
  },
  async start(each) {
    handle = each;
  },
  send: (message) =>
    post(`${ingress}/order/${message.order_id}/step/send`, message, { "idempotency-key": message.id }),
  isSettled: async () => true,
  async stop() {},
  async close() {},
});
