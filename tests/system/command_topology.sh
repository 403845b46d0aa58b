#!/usr/bin/env bash
# command_topology.sh - topology print: what an application's tables say, in four formats, as it stands
# in tests/golden/topology.
#
# To write the files anew: PAWL_TEST_WRITE_GOLDEN=1 tests/system/command_topology.sh
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

build_app app_topology.c topology.so
app=(--app "$work/topology.so")
golden=$source_dir/tests/golden/topology

echo "== one application in each format, the same each time"
for format in text json mermaid dot; do
    expect 0 '' pawl topology print "${app[@]}" --format "$format"
    cp "$work/out" "$work/$format"
    expect 0 '' pawl topology print "${app[@]}" --format "$format"
    cmp "$work/out" "$work/$format" || die "$format is another one the second time"
    if [ -n "${PAWL_TEST_WRITE_GOLDEN:-}" ]; then
        mkdir -p "$golden"
        cp "$work/$format" "$golden/$format"
    fi
    grep -q hunter2 "$work/$format" && die "$format has a password"
    diff "$golden/$format" "$work/$format" || die "$format is not as in $golden"
done
expect 0 '^application shop$' pawl topology print "${app[@]}"
cmp "$work/out" "$work/text" || die "text is not the default"

echo "== routes of the command line: before those of the table, and beside them"
routes=(--route billing=sqlite:far.db#till --route books=amqp://me:hunter2@far/#books)
expect 0 '^  route billing: sqlite:far.db, queue till$' pawl topology print "${app[@]}" "${routes[@]}"
for line in '  route carrier: postgres://me:***@far/db, queue vans' '  route books: amqp://me:***@far/, queue books' \
    '      sends charge_card to billing: sqlite:far.db, queue till' '      sends charge_card to books: amqp://me:***@far/, queue books'; do
    grep -qxF "$line" "$work/out" || die "no line '$line'"
done
[ "$(grep -c 'route billing' "$work/out")" = 2 ] || die "not once for each endpoint"
expect 2 "^pawl: --route: 'a' is given twice$" pawl topology print "${app[@]}" --route a=#b --route a=#c
expect 2 "^pawl: --route: expected NAME=URL#QUEUE" pawl topology print "${app[@]}" --route nowhere

echo "== json is one object"
python3 - "$work/json" <<'PYTHON' || die "the JSON says something else"
import json, sys
lines = open(sys.argv[1]).read().splitlines()
assert len(lines) == 1
shop = json.loads(lines[0])
orders, office = shop["endpoints"]
saga, shipping, bare = orders["parts"]
assert [p["kind"] for p in office["parts"]] == ["process", "entity", "handler", "projection", "schedule", "schedule"]
assert saga["correlation"] == {"property": "order_id", "type": "text"}, saga
billing, payment = saga["handles"][0]["does"]
assert (billing["destination"], billing["queue"]) == ("billing", "desk queue"), billing
assert billing["endpoint"] == "<office> & #2", billing
assert (payment["kind"], payment["timeout"]) == ("timeout", "payment"), payment
carrier, paper, odd, anywhere = shipping["handles"][0]["does"]
assert carrier["queue"] is None and carrier["endpoint"] is None, carrier
assert odd["destination"] == 'a "b" \\n #1 <i>&|`c`[d]\n{e}', odd
assert anywhere["destination"] is None
assert saga["handles"][2]["does"][0]["bases"] == ["news"] and carrier["bases"] == [] and payment["bases"] is None
assert bare["size"] == 10 and bare["period"] is None, bare
# What is not declared is not the same as nothing.
assert bare["handles"][0]["does"] is None
assert office["parts"][2]["handles"][0]["does"] == []
morning, often = office["parts"][4:]
assert (morning["message"], morning["cron"], morning["zone"], morning["every"]) == (
    "news", "0 7 * * mon-fri", "Europe/Berlin", None), morning
assert (often["cron"], often["every"], often["handles"]) == (None, 300000000, []), often
PYTHON

echo "== drawings: every name is in quotes, every edge is between two nodes"
python3 - "$work/mermaid" "$work/dot" <<'PYTHON' || die "a drawing cannot be read"
import re, sys
mermaid, dot = (open(name).read().splitlines() for name in sys.argv[1:])
label = r'"[^"#]*(?:#(?:quot|amp|lt|gt|\d+);[^"#]*)*"'
node = re.compile(r'^ +(n\d+)(?:\[%s\]|\(\[%s\]\)|\[/%s/\])$' % (label, label, label))
edge = re.compile(r'^  (n\d+) -->(?:\|%s\|)? (n\d+)$' % label)
def check(lines, node, edge, others):
    nodes, ends = set(), set()
    for line in lines:
        if m := node.match(line):
            assert m[1] not in nodes, line
            nodes.add(m[1])
        elif m := edge.match(line):
            ends.update(m.groups())
        else:
            assert re.match(others, line), line
    assert len(nodes) > 15 and ends == nodes, nodes ^ ends
check(mermaid, node, edge, r'flowchart LR$|  subgraph e\d+\[%s\]$|  end$' % label)
assert not any(c in line for line in mermaid for c in "<`&"), mermaid
quoted = r'"(?:[^"\\]|\\["\\])*"'
check(dot, re.compile(r'^ +(n\d+) \[label=%s, shape=\w+\];$' % quoted),
      re.compile(r'^  (n\d+) -> (n\d+)(?: \[label=%s\])?;$' % quoted),
      r'digraph pawl \{$|  rankdir=LR;$|  subgraph cluster_\d+ \{$|    label=%s;$|  \}$|\}$' % quoted)
PYTHON
if command -v dot >/dev/null; then
    dot -Tsvg "$work/dot" >"$work/svg" || die "dot does not take it"
fi

echo "== an application whose programs declare nothing"
build_app app_upgrade.c free.so
expect 0 'what it sends is not declared' pawl topology print --app "$work/free.so"
expect 0 'sends charge_card to billing' pawl topology print --app "$build_dir/orders.so"
! grep -q 'not declared' "$work/out" || die "the example declares not all it does"

echo "== what is declared has to be there"
build_app app_topology.c wrong_timeout.so -DWRONG=1
expect 2 "OrderSaga: .does sets the timeout 'paymnet', which no handler is for\$" \
    pawl topology print --app "$work/wrong_timeout.so"
build_app app_topology.c wrong_message.so -DWRONG=2
expect 2 'OrderSaga: effect 1 of .does has no message$' pawl topology print --app "$work/wrong_message.so"

echo "== what is asked wrongly"
expect 2 '^pawl: give --app APP.so$' pawl topology print
expect 2 "^pawl: --format: 'dott' is not a valid FORMAT; did you mean dot\\?\$" pawl topology print "${app[@]}" --format dott
expect 2 'cannot load' pawl topology print --app "$work/none.so"
