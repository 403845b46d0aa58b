#!/usr/bin/env node
// consumer.mjs URL QUEUE COUNT - reads COUNT messages that pawl sent to a RabbitMQ, each once, and prints a line of JSON for each. It
// needs nothing of pawl: amqplib, from npm (`npm ci` in this folder).
//
//   node consumer.mjs amqp://guest:guest@127.0.0.1:5672/%2F invoices 1
//
// A message may come twice, always under the same id. This program remembers ids in memory; one that is restarted keeps them
// where it keeps its results, in the same transaction.
//
// SPDX-License-Identifier: Apache-2.0
import amqp from "amqplib";

const [url, queue, wanted] = process.argv.slice(2);
const handled = new Set();
const connection = await amqp.connect(url);
const channel = await connection.createChannel();
await channel.prefetch(100);

// Ends after ten seconds without a message, so that a lost one is an error and no wait without an end.
let patience;
function waitOn() {
    clearTimeout(patience);
    patience = setTimeout(() => {
        console.error(`consumer.mjs: ${handled.size} of ${wanted} messages arrived in ${queue}`);
        process.exit(1);
    }, 10000);
}

waitOn();
await new Promise((resolve, reject) => {
    channel.consume(queue, (message) => {
        if (message === null) return reject(new Error(`queue ${queue} was deleted`));
        waitOn();
        const { messageId, type, correlationId, contentType, deliveryMode, timestamp, headers } = message.properties;
        if (!handled.has(messageId)) {
            handled.add(messageId);
            console.log(
                JSON.stringify({
                    id: messageId,
                    type,
                    correlation_id: correlationId,
                    content_type: contentType,
                    persistent: deliveryMode === 2,
                    sent: timestamp,
                    headers,
                    body: JSON.parse(message.content.toString()),
                }),
            );
        }
        channel.ack(message);
        if (handled.size === Number(wanted)) resolve();
    }).catch(reject);
});
clearTimeout(patience);
await channel.close(); // behind the last acknowledgement
await connection.close();
