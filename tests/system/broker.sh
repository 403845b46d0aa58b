#!/usr/bin/env bash
# broker.sh - an endpoint on SQLite reads a queue of RabbitMQ that a program in Python writes into: the process is killed and
# RabbitMQ crashes in the middle, and each message is handled once; those that nobody can read are dead letters. E27, E28.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/rabbit.sh
. "$source_dir/tests/support/rabbit.sh"

need_sqlite
/usr/bin/python3 -c 'import pika' 2>/dev/null || skip "python3-pika is not installed"
export PAWL_STORE=sqlite:$work/pair.db PAWL_DRIVER_PATH=$build_dir
build_app app_pair.c pair.so
rabbit_begin
url=$rabbit_url

# produce TYPE FIRST COUNT: 25 at a time, until they are confirmed, again under the same ids.
produce()
{
    local kind=$1 first=$2 last=$(($2 + $3)) size=25
    for (( ; first < last; first += size)); do
        until timeout 60 /usr/bin/python3 "$source_dir/examples/interop/producer.py" "$url/%2F" left \
            "$kind" "$first" $size >>"$work/produced" 2>&1; do
            sleep 5 # RabbitMQ is away, and needs the machine to come back
        done
    done
}
count=1000 part=250
has_handled()
{
    local handled
    handled=$(number messages)
    [ "${handled:-0}" -ge "$1" ]
}

echo "== $count messages, and a kill in the middle"
expect 0 "" pawl schema apply
start first "$work/pair.so" --transport "$url/"
for ((i = 0; i < count; i += part)); do
    produce ping $((i + 1)) $part &
    rabbit_users+=($!)
done
poll 60 has_handled 200 || die "200 are not handled: $(number messages), $(tail -n 3 "$work/first.log")"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
start second "$work/pair.so" --transport "$url/"

echo "== RabbitMQ crashes"
poll 60 has_handled 500 || die "500 are not handled: $(number messages), $(tail -n 3 "$work/second.log")"
rabbit_away || die "no crash"
poll 60 grep -q "nothing is taken from queue left of the broker" "$work/second.log" || die "the log does not tell"
rabbit_back left || die "RabbitMQ does not come back"
wait "${rabbit_users[@]}"
# ping and pong of each
poll 60 has_handled $((count * 2)) || die "not all are handled: $(number messages)"
poll 20 grep -q "queue left of the broker is read again" "$work/second.log" || die "the log does not tell the end"

echo "== messages that cannot be handled"
cat >"$work/odd.py" <<'END'
import sys
import pika
connection = pika.BlockingConnection(pika.URLParameters(sys.argv[1]))
channel = connection.channel()
channel.confirm_delivery()
for id, kind, body in (("odd-1", None, b'{"n": 1}'), ("odd-2", "ping", b"\x00\xff no JSON"), ("odd-3", "unheard", b"{}")):
    channel.basic_publish("", "left", body, pika.BasicProperties(message_id=id, type=kind, delivery_mode=2))
channel.basic_publish("", "left", b'{"n": 1001}', pika.BasicProperties(type="ping"))
connection.close()
END
timeout 60 /usr/bin/python3 "$work/odd.py" "$url/%2F" >"$work/said" 2>&1 || { cp "$work/said" "$work/err"; die "no odd messages"; }
dead_are()
{
    [ "$(pawl dead list --json | grep -oE '^.{15}odd-[0-9]' | cut -c 16- | sort | tr '\n' ' ')" = "odd-1 odd-2 odd-3 " ]
}
poll 60 dead_are || { pawl dead list >"$work/err"; die "other dead letters"; }
# The two that no handler reads are counted, too.
poll 60 has_handled $((count * 2 + 4)) || die "the one without an id is not handled: $(number messages)"
grep -q "messages without an id come from queue left" "$work/second.log" || die "the log does not tell of messages without an id"

echo "== each once"
stop "$pid" TERM 0
# own "finished": a message for each, which its handler sent
/usr/bin/python3 - "$work/pair.db" $((count + 1)) >"$work/err" 2>&1 <<'END' || die "not each once"
import json
import sqlite3
import sys
rows = sqlite3.connect(sys.argv[1]).execute("select body from pawl_queue where queue = 'finished'").fetchall()
numbers = sorted(json.loads(row[0])["n"] for row in rows)
expected = list(range(1, int(sys.argv[2]) + 1))
missing = [n for n in expected if n not in set(numbers)]
if numbers != expected:
    sys.exit(f"{len(rows)} messages, missing {missing[:10]}, of {len(set(numbers))} numbers")
END
poll 60 rabbit_is_empty || die "left in RabbitMQ: $rabbit_left"
lines=$(cat "$work/first.log" "$work/second.log" | wc -l)
[ "$lines" -lt 100 ] || die "$lines lines of the log"
echo "$count messages handled once; $lines lines of the log"
