#!/usr/bin/env python3
# producer.py URL QUEUE TYPE FIRST COUNT - sends COUNT messages {"n": FIRST}, {"n": FIRST + 1} ... to a queue of a RabbitMQ that
# an endpoint of pawl reads. It needs nothing of pawl: pika, from Debian's package python3-pika or from pip.
#
#   python3 producer.py amqp://guest:guest@127.0.0.1:5672/%2F left ping 1 100
#
# A message's id is what makes it one: whoever does not know whether a message arrived sends it again under the same id. Each
# message is confirmed here, so that one that is not is an error.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

import pika

url, queue, kind = sys.argv[1:4]
first, count = int(sys.argv[4]), int(sys.argv[5])
connection = pika.BlockingConnection(pika.URLParameters(url))
channel = connection.channel()
# A queue is its reader's: the endpoint declares it, ordered or not, and this only looks whether it is there. Before its endpoint has
# run for the first time it is made as pawl declares the queue of an endpoint that is not ordered.
try:
    channel.queue_declare(queue, passive=True)
except pika.exceptions.ChannelClosedByBroker as failure:
    if failure.reply_code != 404:
        raise
    channel = connection.channel()
    channel.queue_declare(queue, durable=True, arguments={"x-queue-type": "quorum"})
channel.confirm_delivery()
for number in range(first, first + count):
    channel.basic_publish(
        exchange="",
        routing_key=queue,
        body=json.dumps({"n": number}),
        properties=pika.BasicProperties(
            message_id=f"{kind}-{number}",
            type=kind,
            content_type="application/json",
            delivery_mode=2,
            correlation_id="example",
        ),
        mandatory=True,
    )
connection.close()
