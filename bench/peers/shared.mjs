// shared.mjs - what the peers of `pawl bench no-op` have in common: rounds, latency, servers of their
// own, the lines that they print.
//
//     node no_op.mjs MESSAGES ROUNDS RATE SECONDS
//
// A peer is an object:
//     name, configuration, promises   texts of the table
//     messages    at the most in one round, which should take some seconds
//     open()      makes what it needs; throws LeftOut when that is not on this machine
//     fill(messages)      puts messages into its empty queue
//     start(handle)       begins to work; handle(message) for each one
//     send(message)       one message, committed when the promise is fulfilled
//     isSettled()         all messages that were handled are acknowledged
//     stop(), close()     the opposite of start and open
//     countsStart         a round begins with start, else with the first message that is handled
//     countsSending       a round begins with fill, which is run after start: messages cannot wait
//
// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

export const SCHEMA = "pawl_bench_peer";
const STALL_MS = 10000; // without a message that is handled
const CLOSE_MS = 5000;

// The reason why a peer is left out.
export class LeftOut extends Error {}

process.noDeprecation = true; // of packages
const atExit = [];
process.on("exit", () => atExit.forEach((undo) => undo()));

// The version of a package in the peer's own folder.
export function versionOf(meta, name) {
  return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, meta.url))).version;
}

// The address of the database, without what only pawl knows.
export function postgresUrl() {
  if (!process.env.PAWL_BENCH_URL) throw new LeftOut("it needs PostgreSQL: --store postgres://...");
  const url = new URL(process.env.PAWL_BENCH_URL);
  url.searchParams.delete("schema");
  url.searchParams.delete("pooler");
  return url.href;
}

// "durable", or why it is not.
export async function durability(client) {
  const { rows } = await client.query(
    "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commits");
  const isDurable = rows[0].fsync === "on" && rows[0].commits !== "off";
  return isDurable ? "durable" : "not durable: the server does not flush";
}

// The schema SCHEMA; the end drops it only when it was made here.
let isSchemaOurs = false;
export async function makeSchema(client) {
  await client.query(`create schema ${SCHEMA}`);
  isSchemaOurs = true;
}

export async function dropSchema(client) {
  if (isSchemaOurs) await client.query(`drop schema if exists ${SCHEMA} cascade`);
  isSchemaOurs = false;
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// A folder that is gone with the process.
export function ownFolder() {
  const folder = mkdtempSync(join(tmpdir(), "pawl-bench-peer-"));
  atExit.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// A program that runs until the process ends. `missing` says how to install it.
export async function startProgram(command, args, missing, options = {}) {
  const child = spawn(command, args, { stdio: "ignore", ...options });
  let over = "";
  atExit.unshift(() => child.kill("SIGKILL"));
  await new Promise((resolve, reject) => {
    child.on("spawn", resolve);
    child.on("error", (error) =>
      reject(error.code === "ENOENT" ? new LeftOut(missing) : error));
  });
  child.on("exit", (code) => { over = `${command} ended with exit code ${code}`; });
  return { ended: () => over };
}

// Waits until the function returns true, or throws no more.
export async function ready(what, isReady, ended = () => "") {
  for (const begin = performance.now(); performance.now() - begin < STALL_MS; await sleep(50)) {
    if (ended()) throw new Error(ended());
    if (await Promise.resolve().then(isReady).catch(() => false)) return;
  }
  throw new Error(`${what} is not ready after ${STALL_MS / 1000} s`);
}

// As large as a message of saga-step. `step` is its number.
function message(run, step) {
  return { id: `${run}-${step}`, order_id: `order-${run}-${step}`, step, cents: 100 + step,
           customer: "Hannelore Mustermann-Beispiel", product: "pawl, hardened steel, 12 mm, left",
           at: new Date().toISOString(),
           note: "leave it with the neighbours on the second floor if nobody answers the door; "
                 + "the bell is out of order" };
}

// Fulfilled when so many were handled; rejected when none is for a while, or one failed.
let failRun = () => {};
export function failed(error) {
  failRun(error);
}

function countdown(count) {
  let left = count;
  let ended = performance.now();
  let handled;
  const all = new Promise((resolve, reject) => {
    const stall = setInterval(() => {
      if (performance.now() - ended > STALL_MS)
        reject(new Error(`none was handled for ${STALL_MS / 1000} s, ${left} of ${count} are left`));
    }, 500);
    failRun = reject;
    handled = () => {
      ended = performance.now();
      if (--left === 0) { clearInterval(stall); resolve(); }
    };
  });
  all.catch(() => {});
  return { all, handled };
}

async function settle(peer) {
  await ready("the last acknowledgement", async () => {
    for (let i = 0; i < 100; i++, await sleep(2)) if (await peer.isSettled()) return true;
    return false;
  });
}

async function measureRound(peer, run, count) {
  const { all, handled } = countdown(count);
  const messages = Array.from({ length: count }, (_, step) => message(run, step));
  let began;
  const begin = () => { began ??= performance.now(); };
  if (!peer.countsSending) await peer.fill(messages);
  if (peer.countsStart) begin();
  await peer.start(() => { begin(); handled(); });
  if (peer.countsSending) {
    begin();
    peer.fill(messages).catch(failed);
  }
  await all;
  await settle(peer);
  const seconds = (performance.now() - began) / 1000;
  await peer.stop();
  return count / seconds;
}

async function measureLatency(peer, rate, count) {
  const { all, handled } = countdown(count);
  const sent = new Float64Array(count);
  const times = [];
  await peer.start(({ step }) => { times.push(performance.now() - sent[step]); handled(); });
  const began = performance.now();
  for (let step = 0; step < count; step++) {
    const early = began + (step * 1000) / rate - performance.now();
    if (early > 0) await sleep(early);
    sent[step] = performance.now();
    peer.send(message("one", step)).catch(failed);
  }
  await all;
  await settle(peer);
  await peer.stop();
  return times.sort((a, b) => a - b);
}

function rounded(value, digits) {
  return Number(value.toFixed(digits));
}

async function measureOne(peer, [most, rounds, rate, seconds]) {
  const count = Math.min(most, peer.messages);
  await peer.open();
  const rates = [];
  for (let i = 0; i < rounds; i++) rates.push(await measureRound(peer, i, count));
  rates.sort((a, b) => a - b);
  const times = await measureLatency(peer, rate, rate * seconds);
  const percentile = (percent) => rounded(times[Math.ceil((times.length * percent) / 100) - 1], 3);
  return { configuration: peer.configuration, promises: peer.promises, messages: count,
           per_second: rounded((rates[(rounds - 1) >> 1] + rates[rounds >> 1]) / 2, 1),
           p50_ms: percentile(50), p99_ms: percentile(99) };
}

// Measures each and prints a line for each.
export async function measure(...peers) {
  const numbers = process.argv.slice(2).map(Number);
  if (numbers.length !== 4 || !numbers.every((n) => Number.isSafeInteger(n) && n > 0)) {
    console.error("usage: node no_op.mjs MESSAGES ROUNDS RATE SECONDS");
    process.exit(2);
  }
  let isInterrupted = false;
  const broken = new Promise((resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"])
      process.on(signal, () => {
        isInterrupted = true;
        reject(new Error(`interrupted by ${signal}`));
      });
    process.on("uncaughtException", reject);
    process.on("unhandledRejection", reject);
  });
  broken.catch(() => {});
  for (const peer of peers) {
    let line;
    try {
      line = await Promise.race([measureOne(peer, numbers), broken]);
    } catch (error) {
      line = { [error instanceof LeftOut ? "left_out" : "error"]: error.message || String(error) };
    }
    process.stdout.write(`${JSON.stringify({ peer: peer.name, ...line })}\n`);
    await Promise.race([Promise.resolve().then(() => peer.close()), sleep(CLOSE_MS)])
      .catch((error) => console.error(`${peer.name}: ${error.message}`));
    if (line.error) process.exitCode = 1;
    if (isInterrupted) break;
  }
  process.exit();
}
