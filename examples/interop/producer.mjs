#!/usr/bin/env node
// producer.mjs URL QUEUE TYPE FIRST COUNT [STYLE] - sends COUNT messages {"n": FIRST}, {"n": FIRST + 1} ... to a queue of a RabbitMQ
// that an endpoint of pawl reads. It needs nothing of pawl: amqplib, from npm (`npm ci` in this folder).
//
//   node producer.mjs amqp://guest:guest@127.0.0.1:5672/%2F left ping 1 100
//
// STYLE says where id, type and conversation stand: `properties` of AMQP (the default), or the headers that NServiceBus
// (`nservicebus`) and ServiceConnect (`serviceconnect`) write.
//
// A message's id is what makes it one: whoever does not know whether a message arrived sends it again under the same id. The
// program ends well when RabbitMQ has confirmed all of them.
//
// SPDX-License-Identifier: Apache-2.0
import amqp from "amqplib";

const [url, queue, type, first, count, style = "properties"] = process.argv.slice(2);
const conversation = "example";

const styles = {
    properties: (id) => ({ messageId: id, type, correlationId: conversation }),
    nservicebus: (id) => ({
        headers: {
            "NServiceBus.MessageId": id,
            "NServiceBus.EnclosedMessageTypes": `${type}, Shop, Version=1.0.0.0`,
            "NServiceBus.ConversationId": conversation,
        },
    }),
    serviceconnect: (id) => ({
        headers: { MessageId: id, FullTypeName: `${type}, Shop`, TypeName: type, CorrelationId: conversation },
    }),
};

const connection = await amqp.connect(url);
// A queue is its reader's: the endpoint declares it, ordered or not, and this only looks whether it is there. Before its endpoint has
// run for the first time it is made as pawl declares the queue of an endpoint that is not ordered.
let channel = await connection.createConfirmChannel();
channel.on("error", () => {}); // the call that failed says why
try {
    await channel.checkQueue(queue);
} catch (failure) {
    if (failure.code !== 404) throw failure;
    channel = await connection.createConfirmChannel();
    await channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
}
channel.on("return", (message) => {
    console.error(`producer.mjs: ${message.properties.messageId} came back: no queue '${queue}'`);
    process.exitCode = 1;
});
for (let number = Number(first); number < Number(first) + Number(count); number++)
    channel.publish("", queue, Buffer.from(JSON.stringify({ n: number })), {
        contentType: "application/json",
        persistent: true,
        mandatory: true,
        ...styles[style](`${type}-${number}`),
    });
await channel.waitForConfirms();
await connection.close();
