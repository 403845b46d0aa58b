#!/usr/bin/env python3
# consumer.py URL QUEUE COUNT - reads COUNT messages that pawl sent to a RabbitMQ, each once, and prints a line of JSON for
# each. It needs nothing of pawl: pika, from Debian's package python3-pika or from pip.
#
#   python3 consumer.py amqp://guest:guest@127.0.0.1:5672/%2F invoices 1
#
# A message may come twice, always under the same id. This program remembers ids in memory; one that is restarted keeps them
# where it keeps its results, in the same transaction.
#
# SPDX-License-Identifier: Apache-2.0
import json
import sys

import pika

url, queue, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
connection = pika.BlockingConnection(pika.URLParameters(url))
channel = connection.channel()
channel.basic_qos(prefetch_count=100)
handled = set()

# Ends after ten seconds without a message, so that a lost one is an error and no wait without an end.
for method, properties, body in channel.consume(queue, inactivity_timeout=10):
    if method is None:
        sys.exit(f"consumer.py: {len(handled)} of {count} messages arrived in {queue}")
    if properties.message_id not in handled:
        handled.add(properties.message_id)
        print(
            json.dumps(
                {
                    "id": properties.message_id,
                    "type": properties.type,
                    "correlation_id": properties.correlation_id,
                    "content_type": properties.content_type,
                    "persistent": properties.delivery_mode == 2,
                    "sent": properties.timestamp,
                    "headers": properties.headers,
                    "body": json.loads(body),
                }
            )
        )
    channel.basic_ack(method.delivery_tag)
    if len(handled) == count:
        break
channel.cancel()
connection.close()
