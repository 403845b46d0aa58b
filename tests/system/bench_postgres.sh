#!/usr/bin/env bash
# bench_postgres.sh - `pawl bench` on PostgreSQL with small numbers: its output,
# that pawl and the loop leave the same rows (the benchmark checks that itself),
# that nothing stays behind, and that nothing that was there is touched.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_server postgres
[ -e "$build_dir/libpawl-postgres.so" ] || skip "the PostgreSQL driver was not built"
# The names of its schemas are always the same: those of one that was killed would be met.
own_database pawl_bench
# What only pawl understands is at the end of a test's URL, if at all.
server=${url%%[?&]schema=*}
parameter='?'
[[ $server == *\?* ]] && parameter='&'

query()
{
    psql -XqAt "$server" -c "$1" 2>/dev/null
}

schemas()
{
    query "select string_agg(nspname, ' ' order by nspname) from pg_namespace where nspname like 'pawl\\_bench\\_%'"
}

member()
{
    grep -oE "\"$1\":(\"[^\"]*\"|[^,}]+)" "$work/out" | cut -d: -f2-
}

is_number()
{
    [[ $1 =~ ^[0-9]+(\.[0-9]+)?$ ]] && [[ ! $1 =~ ^0(\.0+)?$ ]]
}

# run_json ARGUMENT ...: exit code 0, or 1 for a limit that is broken, which
# says nothing with so few messages.
run_json()
{
    local code
    pawl bench "$@" --store "$server" --json >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code = 0 ] || { [ $code = 1 ] && grep -q "the limit is broken" "$work/err"; } ||
        die "exit code $code: bench $*"
    for key in messages_per_s limit_per_s ratio; do
        is_number "$(member $key)" || die "$key is $(member $key): bench $*"
    done
    [ -z "$(schemas)" ] || die "left behind: $(schemas)"
    check_keys bench
}

rounds=2 # the first one's: a second round begins with a copy as all others do
for workload in saga-step no-op outbox-drain timeouts append; do
    echo "== $workload"
    run_json $workload --messages 700 --batch 64 --rounds $rounds
    rounds=1
    [ "$(member workload)" = "\"$workload\"" ] || die "workload is $(member workload)"
done

echo "== latency"
for apart in "" --apart; do
    run_json latency --seconds 1 --rate 100 --rounds 1 $apart
    for key in handler_p50_ms commit_p99_ms limit_handler_p50_ms limit_commit_p99_ms; do
        is_number "$(member $key)" || die "$key is $(member $key)"
    done
done

echo "== the other scheme of the database"
code=0
pawl bench append --store "${server/#postgres:/postgresql:}" --messages 20 --rounds 1 \
    >"$work/out" 2>"$work/err" </dev/null || code=$?
[ $code = 0 ] || grep -q "the limit is broken" "$work/err" || die "postgresql: exit code $code"
grep -qE '^  limit +[0-9]+ /s$' "$work/out" || die "postgresql: no loop beside it"

echo "== odd numbers"
run_json saga-step --messages 1 --batch 1 --rounds 1
for workload in saga-step no-op outbox-drain timeouts append; do
    run_json $workload --messages 11 --batch 5 --rounds 1 # the last batch is of one
done
for workload in saga-step append; do # sagas and streams with several messages in a batch
    run_json $workload --messages 60 --batch 4096 --rounds 1
done

echo "== with rows before"
for workload in retention saga-step timeouts outbox-drain; do
    pawl bench $workload --store "$server" --messages 100 --grown 4001 --rounds 2 --json >"$work/out" \
        2>"$work/err" </dev/null || die "exit code $?: $workload --grown: $(cat "$work/err")"
    for key in messages_per_s empty_per_s ratio_to_empty; do
        is_number "$(member $key)" || die "$key is $(member $key): bench $workload --grown"
    done
    [ -z "$(schemas)" ] || die "left behind: $(schemas)"
done

echo "== a peer that cannot be measured is refused before anything is"
export PAWL_BENCH_PEERS=$work/peers
mkdir -p "$PAWL_BENCH_PEERS/empty" "$PAWL_BENCH_PEERS/silent" "$PAWL_BENCH_PEERS/bare"
echo 'process.exit(7);' | tee "$PAWL_BENCH_PEERS/silent/saga_step.mjs" >"$PAWL_BENCH_PEERS/bare/saga_step.mjs"
echo '{}' >"$PAWL_BENCH_PEERS/bare/package.json" # and no list of what npm has to install
peer=(pawl bench saga-step --store "$server" --messages 10 --rounds 1 --peer)
expect 2 "peer nobody: there is no $PAWL_BENCH_PEERS/nobody/saga_step.mjs" "${peer[@]}" nobody
expect 2 "peer empty: there is no " "${peer[@]}" empty
expect 2 "peer silent: it does saga-step, no append" \
    pawl bench append --store "$server" --messages 10 --peer silent
expect 2 "peer silent: it runs on PostgreSQL only" \
    pawl bench saga-step --store memory: --messages 10 --peer silent
mkdir "$work/tools" # what expect needs, neither node nor npm
for tool in grep rm sed tail; do
    ln -s "$(command -v $tool)" "$work/tools/$tool"
done
(
    PATH=$work/tools
    expect 2 "peer bare: npm cannot be run: No such file" "${peer[@]}" bare
    # Without node the peer fails after the rounds; their figures are there.
    expect 1 "peer silent: node cannot be run: No such file" "${peer[@]}" silent
) || exit 1
if command -v npm >/dev/null; then
    expect 2 "peer bare: 'npm ci' in $PAWL_BENCH_PEERS/bare ended with exit code" "${peer[@]}" bare
    expect 1 "peer silent failed: .*no result and ended with exit code 7" "${peer[@]}" silent --json
    is_number "$(member messages_per_s)" || die "the figures of pawl are lost with the peer's"
fi
unset PAWL_BENCH_PEERS
[ -z "$(schemas)" ] || die "left behind: $(schemas)"

echo "== what is there stays"
for number in 0 1 2; do
    query "create schema pawl_bench_$number" || die "no schema can be created"
    expect 2 "pawl_bench_$number.* already exists" pawl bench saga-step --store "$server" --messages 10
    found=$(schemas)
    query "drop schema pawl_bench_$number"
    [ "$found" = "pawl_bench_$number" ] || die "schemas are '$found' instead of pawl_bench_$number"
done

echo "== refusals"
expect 2 "pooler" pawl bench saga-step --store "$server${parameter}pooler=transaction" --messages 10
expect 3 "" pawl bench saga-step --store postgres://nobody@127.0.0.1:1/nowhere --messages 10

echo "== interrupted"
"$build_dir/pawl" bench saga-step --store "$server" --messages 20000000 \
    >"$work/out" 2>"$work/err" </dev/null &
started+=($!)
begun()
{
    [ "$(query 'select count(*) > 0 from pawl_bench_0.pawl_bench_queue')" = t ]
}
poll 20 begun || die "the benchmark does not begin"
stop "${started[0]}" INT 5
grep -q "interrupted" "$work/err" || die "nothing says that it was interrupted"
[ -z "$(schemas)" ] || die "left behind: $(schemas)"
echo "ok"
