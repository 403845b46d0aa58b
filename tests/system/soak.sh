#!/usr/bin/env bash
# soak.sh - what takes minutes: run by `./test --long` only.
#
#   a log of a quarter of a million events, killed twenty times
#   a worker that is killed while others send: every order handled once
#   random groups with many seeds, on memory and on SQLite
#   the ratio of saga-step at its full size
#
# The seed of the log and the kills is printed; PAWL_SEED repeats it.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
seed=${PAWL_SEED:-$RANDOM}
echo "PAWL_SEED=$seed"

echo "== 260,000 events, killed 20 times"
awk -v seed="$seed" 'BEGIN {
    srand(seed)
    print "case:concept:name,concept:name,time:timestamp,org:group"
    for (i = 0; i < 260000; i++) {
        t = int(rand() * 86400 * 1000)
        printf "c%d,step %d,%s,g%d\n", int(rand() * 13000), i % 9,
            strftime("%Y-%m-%dT%H:%M:%SZ", 1262304000 + t, 1), int(rand() * 60)
    }
}' >"$work/big.csv" || die "awk makes no log"
"$build_dir/pawl-replay" "$work/big.csv" --crash 20 --batch-messages 256 --seed "$seed" --json \
    >"$work/out" 2>"$work/err" || die "the big log"
grep -q '"verified":true,"kills":20' "$work/out" || die "the big log is not verified"
cat "$work/out"

echo "== killed while others send"
export PAWL_STORE=sqlite:$work/orders.db
orders=20000
start worker "$build_dir/orders.so"
for n in $(seq 1 $orders); do
    echo "{\"order_id\":\"o-$n\",\"warehouse\":\"w$((n % 7))\",\"total_cents\":$n}"
done >"$work/lines"
"$build_dir/pawl" send --to orders --type place_order --lines <"$work/lines" >/dev/null 2>&1 &
sender=$!
started+=("$sender")
kills=0
while kill -0 "$sender" 2>/dev/null || [ $kills -lt 20 ]; do
    sleep 0.0$((RANDOM % 90 + 10))
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    kills=$((kills + 1))
    start worker "$build_dir/orders.so"
done
wait "$sender" || die "the sender failed"
poll 120 has_ready orders 0 || die "orders left: $(queue_ready orders)"
poll 60 has_ready billing $orders || die "charged: $(queue_ready billing), not $orders"
has timeouts_pending $orders || die "timeouts: $(number timeouts_pending), not $orders"
has dead 0 || die "dead letters: $(number dead)"
stop "$pid" TERM 0
echo "$kills kills, $orders orders, each charged once"

echo "== random groups"
for n in $(seq 1 200); do
    expect 0 '' pawl conformance --store memory: --case 'random ' --seed $((seed + n))
done
for n in $(seq 1 20); do
    expect 0 '' pawl conformance --store "sqlite:$work/random.db" --case 'random ' --seed $((seed + n))
done

echo "== saga-step"
pawl bench saga-step --store "sqlite:$work/bench.db" --messages 200000 --batch 256 --json \
    >"$work/out" 2>"$work/err" || die "saga-step"
cat "$work/out"
ratio=$(grep -oE '"ratio":[0-9.]+' "$work/out" | cut -d: -f2)
awk -v ratio="$ratio" 'BEGIN { exit !(ratio >= 0.6) }' || die "the ratio $ratio is below 0.6"
