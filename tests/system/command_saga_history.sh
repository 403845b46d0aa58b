#!/usr/bin/env bash
# command_saga_history.sh - pawl saga history: the lines that an endpoint keeps, in each form.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
at=(--store "sqlite:$work/history.db")
build_app app_upgrade.c old.so
with=(--app "$work/old.so" "${at[@]}")

# has_line REGEX ...: what was printed last has them all.
has_line()
{
    local regex
    for regex in "$@"; do
        grep -qE -- "$regex" "$work/out" || die "no line like '$regex'"
    done
}

# send ID ORDER
send()
{
    expect 0 '' pawl send "${at[@]}" --to shop --type place --id "$1" --body "{\"order_id\":\"$2\",\"number\":1,
        \"dozens\":1,\"note\":\"n\",\"stage\":\"paid\",\"card\":\"4711-1\",\"lines\":[]}"
}

echo "== wrong words"
expect 2 'pawl saga history needs one TYPE/VALUE.MESSAGE-ID, got 0' pawl saga history "${at[@]}"
expect 2 'give one of them' pawl saga history x --json --format dot "${at[@]}"
expect 2 "'svg'" pawl saga history x --format svg "${at[@]}"
expect 2 '.--format' pawl saga list --format dot "${with[@]}"
expect 3 'none.db' pawl saga history x --store "sqlite:$work/none.db"
[ ! -e "$work/none.db" ] || die "a look made a database"
expect 0 '' pawl schema apply "${with[@]}"
none='there is no history of Order/o-1: an endpoint keeps one with pawl run --history TIME'
expect 6 "$none; of a saga that ended give TYPE/ID, or the id of a message$" pawl saga history Order/o-1 "${with[@]}"
expect 6 "$none; a saga is found by its value with --app APP.so$" pawl saga history Order/o-1 "${at[@]}"
for word in m-9 Order/019a0000-0000-7000-8000-000000000001; do
    expect 6 "there is no history of $word: .* --history TIME$" pawl saga history "$word" "${with[@]}"
done

echo "== off, nothing is kept"
start off "$work/old.so" "${at[@]}"
send m-0 o-0
poll 20 has dead 1 "${at[@]}" || die "no dead letter"
stop "$pid" TERM 0
expect 6 'there is no history' pawl saga history Order/o-0 "${with[@]}"

echo "== a timeline"
start on "$work/old.so" "${at[@]}" --history 1d
send 'm-"1"' o-1
poll 20 has dead 2 "${at[@]}" || die "no dead letter"
send m-2 o-1
poll 20 has dead 3 "${at[@]}" || die "no dead letter"
stop "$pid" TERM 0
expect 0 '' pawl saga history Order/o-1 "${with[@]}"
has_line '^[0-9T:.-]+Z  handled   v1 message place m-"1"' '^[0-9T:.-]+Z  handled   v2 message place m-2' \
    '^    send cancel to desk$' '^    timeout late due [0-9T:.-]+Z$'
[ "$(grep -c handled "$work/out")" = 2 ] || die "not two lines"
grep -q 4711 "$work/out" && die "a secret of a body"
expect 0 '' pawl saga history Order/o-1 "${with[@]}" --json
lines 2
has_line '"source":"Order/[0-9a-f-]{36}","endpoint":"shop","kind":"message","type":"place","message_id":"m-2","outcome":"handled","version":2,' \
    '"out":\{"sends":\[\{"id":"[^"]+","type":"cancel","to":"desk"\},\{"id":"m-2","type":"place","to":"sums"\}\],"timeouts":\[\{"name":"late","due":"[^"]+"\}\]\}\}$'
cp "$work/out" "$work/json"
expect 0 '' pawl saga history Order/o-1 "${with[@]}" --format json
cmp -s "$work/out" "$work/json" || die "--format json is not --json"

echo "== by its id, without the application"
saga=$(sed -nE '1s/.*"source":"Order\/([^"]*)".*/\1/p' "$work/json")
expect 0 '' pawl saga history "Order/${saga^^}" "${at[@]}" --json
cmp -s "$work/out" "$work/json" || die "other lines by the id"

echo "== by a message"
expect 0 '' pawl saga history m-2 "${at[@]}"
lines 4
cancel=$(sed -nE '1s/.*"sends":\[\{"id":"([^"]*)".*/\1/p' "$work/json")
expect 0 '' pawl saga history "$cancel" "${at[@]}"
has_line '  dead      message cancel [^ ]+, .*: too late$|  dead      message cancel [^ ]+: too late$'

echo "== drawings, and a log to mine"
expect 0 '' pawl saga history Order/o-1 "${with[@]}" --format mermaid
has_line '^sequenceDiagram$' '^    participant saga as Order/o-1$' '^    others->>saga: place \(handled, v1\)$' \
    '^    saga->>others: cancel to desk$' '^    Note over saga: timeout late due .*#58;'
expect 0 '' pawl saga history Order/o-1 "${with[@]}" --format dot
has_line '^digraph history \{$' '^    l0 \[label="place\\nhandled, v1\\n' '^    l0 -> l1$' '^    l0 -> "send cancel\\ndesk"' '^\}$'
expect 0 '' pawl saga history Order/o-1 "${with[@]}" --format xes
python3 - "$work/out" <<'PY' || die "no XES"
import sys, xml.etree.ElementTree as tree
space = "{http://www.xes-standard.org/}"
log = tree.parse(sys.argv[1]).getroot()
assert log.tag == space + "log"
[trace] = log.findall(space + "trace")
name = {item.get("key"): item.get("value") for item in trace.findall(space + "string")}
assert name == {"concept:name": "Order/o-1"}, name
events = trace.findall(space + "event")
assert len(events) == 2
first = {item.get("key"): item.get("value") for item in events[0]}
assert first["concept:name"] == "place" and first["lifecycle:transition"] == "complete", first
assert first["time:timestamp"].endswith("Z") and first["pawl:message"] == 'm-"1"', first
assert first["pawl:version"] == "1", first
PY

echo "== what a terminal would obey"
start calm "$work/old.so" "${at[@]}" --history 1d
send $'m\033[2J\n-3' o-1
poll 20 has dead 4 "${at[@]}" || die "no dead letter"
stop "$pid" TERM 0
expect 0 '' pawl saga history Order/o-1 "${with[@]}"
has_line '  handled   v3 message place m\?\[2J.-3,'
! grep -q $'\033' "$work/out" || die "a terminal would obey it"

build_sql
"$work/sql" "$work/history.db" "update pawl_history set Outcome = 'hand' || char(27) || 'led' where Outcome = 'handled'" || die "no sql"
expect 0 ' hand\?led  v1 message' pawl saga history Order/o-1 "${with[@]}"
"$work/sql" "$work/history.db" "update pawl_history set Outcome = 'handled' where Outcome like 'hand%led'" || die "no sql"

echo "== a process, by its stream"
start on2 "$work/old.so" "${at[@]}" --history 1d
expect 0 '' pawl send "${at[@]}" --to shop --type entry --id e-1 --body '{"account":"a-1","cents":4}'
handled() { pawl saga history e-1 "${at[@]}" >"$work/out" 2>&1; }
poll 20 handled || die "no line"
stop "$pid" TERM 0
expect 0 '' pawl saga history Ledger/a-1 "${at[@]}"
has_line '^[0-9T:.-]+Z  handled   v[12] message entry e-1' '^    event posted$'

echo "== a long one: the newest lines"
"$work/sql" "$work/history.db" "with recursive n(i) as (select 1 union all select i + 1 from n where i < 10300)
    insert into pawl_history (Endpoint, Source, MessageId, Type, Kind, Outcome, Version, Attempts, Duration, At, Error, Out)
    select 'shop', 'Ledger/long', 'l-' || i, 'entry', 'message', 'handled', i, 0, 5, 1700000000000000 + i, '', '' from n" ||
    die "no lines"
for limit in 3 700 10000 10300; do
    expect 0 '' pawl saga history Ledger/long "${at[@]}" --json --limit $limit
    lines $limit
    [ "$(sed -nE 's/.*"message_id":"l-([0-9]+)".*/\1/p' "$work/out" | md5sum)" = "$(seq $((10301 - limit)) 10300 | md5sum)" ] ||
        die "other lines than the newest $limit"
done
expect 0 '' pawl saga history Ledger/long "${at[@]}"
has_match "$work/err" '^these are the newest 10000 lines: --limit N shows N$' || die "no word of older lines"
