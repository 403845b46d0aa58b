#!/usr/bin/env bash
# replay_broker_soak.sh - pawl-replay --transport on a long log: killed ten times, with the RabbitMQ restarted twice in the middle, on
# SQLite and on PostgreSQL. E27.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"
# shellcheck source=tests/support/replay_broker.sh
. "$source_dir/tests/support/replay_broker.sh"

need_sqlite
rabbit_begin
log=$(shared receipt.csv)
counts=(8577 1434 1470 10 177)
if [ -z "$log" ]; then
    log=$example
    counts=(2331 300 327 9 51)
fi

echo "== on SQLite"
through_restarts 2 "${counts[@]}" 10 "$log"
echo "== on PostgreSQL"
need_psql
own_schema replay_broker
through_restarts 2 "${counts[@]}" 10 "$log" --store "$store" --archive "$store"
