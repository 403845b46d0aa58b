#!/usr/bin/env bash
# bench_no_op.sh - `pawl bench no-op --peers` with peers made here, which need no packages: each has its row
# of the table, what cannot be installed is left out, what fails is named, and a peer that hangs ends soon.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

command -v node >/dev/null || skip "no node to run a peer with"
export PAWL_BENCH_PEERS=$work/peers
bench=(pawl bench no-op --store memory:peers --messages 500 --rounds 2 --rate 100 --seconds 1)

# peer NAME: its program is what is read.
peer()
{
    mkdir -p "$PAWL_BENCH_PEERS/$1"
    cat >"$PAWL_BENCH_PEERS/$1/no_op.mjs"
}

# made NAME MEMBERS: a peer of shared.mjs, a queue in an array, with some members of its own.
made()
{
    cp "$source_dir/bench/peers/shared.mjs" "$PAWL_BENCH_PEERS/"
    peer "$1" <<END
import { LeftOut, measure, postgresUrl } from "../shared.mjs";
const queue = [];
let handle;
const pump = () => { while (handle && queue.length > 0) handle(queue.shift()); };
await measure({
  name: "$1 1.0", configuration: "an array", promises: "not durable", messages: 300,
  async open() {},
  async fill(messages) { queue.push(...messages); },
  async start(each) { handle = each; setTimeout(pump); },
  async send(message) { queue.push(message); setTimeout(pump); },
  isSettled: async () => queue.length === 0,
  async stop() { handle = undefined; },
  async close() {},
  $2
});
END
}

echo "== no peers"
expect 2 "there are no peers in $PAWL_BENCH_PEERS" "${bench[@]}" --peers
expect 2 "peer nobody: there is no $PAWL_BENCH_PEERS/nobody/no_op.mjs" "${bench[@]}" --peer nobody
expect 2 "peers is for no-op, not for append" pawl bench append --store memory: --peers

echo "== a row for each configuration, and one for what is left out"
peer two <<'END'
for (const way of ["a", "b"])
  console.log(JSON.stringify({ peer: `two 2.0, ${way}`, configuration: `way ${way}`, promises: "none",
                               messages: Number(process.argv[2]), per_second: 1000, p50_ms: 1.5, p99_ms: 2.5 }));
END
made array ""
made elsewhere "async open() { throw new LeftOut('nothing is here'); },"
made database "async open() { postgresUrl(); },"
expect 0 '^  peer two 2.0, b .* 1000 /s, pawl / peer .* p50 +1\.500 ms, p99 +2\.500 ms' "${bench[@]}" --peers
for line in '^  peer array 1\.0 .*/s' '^       an array$' '^       not durable$' 'elsewhere 1\.0: left out: nothing is here' \
    'database 1\.0: left out: it needs PostgreSQL' '^  handler_p50_ms'; do
    grep -qE "$line" "$work/out" || die "no line like '$line'"
done
expect 0 '"peers":\[\{"peer":"array 1.0","configuration":"an array","promises":"not durable","per_second":' \
    "${bench[@]}" --peer array --json
expect 0 '"peer":"elsewhere 1.0","left_out":"nothing is here"' "${bench[@]}" --peer elsewhere --json

echo "== one that cannot be installed"
peer bare </dev/null
echo '{}' >"$PAWL_BENCH_PEERS/bare/package.json" # and no list of what npm has to install
out=$(PATH=$work/none "$build_dir/pawl" "${bench[@]:1}" --peer bare 2>/dev/null) || die "without npm it fails"
[[ $out == *"peer bare: left out: npm cannot be run"* ]] || die "printed: $out"
out=$(PATH=$work/none "$build_dir/pawl" "${bench[@]:1}" --peer two 2>/dev/null) || die "without node it fails"
[[ $out == *"peer two: left out: node cannot be run"* ]] || die "printed: $out"

echo "== one that fails"
echo 'process.exit(7);' | peer silent
expect 1 "peer silent failed: it printed no result and ended with exit code 7" "${bench[@]}" --peer silent
grep -qE '^  pawl +[0-9]+ /s$' "$work/out" || die "the figures of pawl are lost with the peer's"
made broken "async send() { throw new Error('no way'); },"
expect 1 "peer broken 1.0 failed: no way" "${bench[@]}" --peer broken --json
grep -q '"error":"no way"' "$work/out" || die "the error is not in the result"
made asleep "async start() {},"
SECONDS=0 # bash counts them
expect 1 "peer asleep 1.0 failed: none was handled for 10 s, 300 of 300 are left" "${bench[@]}" --peer asleep
[ $SECONDS -lt 30 ] || die "it took $SECONDS seconds"
echo "ok"
