#!/usr/bin/env bash
# replay_broker.sh - pawl-replay --transport: the events travel through a RabbitMQ that is restarted, while the replay is
# killed; the report is what it is without. E27.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"
# shellcheck source=tests/support/replay_broker.sh
. "$source_dir/tests/support/replay_broker.sh"

need_sqlite
rabbit_begin

echo "== on SQLite"
through_restarts 1 2331 300 327 9 51 2 "$example"

echo "== what is refused"
refuse 3 'no connection' "$example" --transport amqp://127.0.0.1:1/
refuse 2 "transport: rabbitmq: 'amqp://127.0.0.1:$rabbit_port/\?no=1'|option 'no'" "$example" --transport "$rabbit_url/?no=1"
verify 2331 300 327 9 51 0 "$example" --keep --transport "$rabbit_url/" --work "$work/kept"
run=$(grep -oE 'run [0-9a-f]{8}' "$work/err" | cut -d' ' -f2)
refuse 2 "run $run was begun with --transport" "$example" --work "$work/kept" --run "$run"
