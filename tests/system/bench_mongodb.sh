#!/usr/bin/env bash
# bench_mongodb.sh - `pawl bench` on MongoDB with small numbers: its output, that pawl and the loop leave
# the same documents (the benchmark checks that itself), that nothing stays behind, and that nothing that was
# there is touched.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

[ -e "$build_dir/libpawl-bench-mongo.so" ] || skip "the MongoDB driver was not built"
need_server mongodb
server=$PAWL_TEST_MONGODB

# database NAME: the server's URL with that database.
database()
{
    sed -E "s#^(mongodb://[^/?]+)(/[^?]*)?#\1/$1#" <<<"$server"
}

# is_there NAME: has pawl made something in that database?
is_there()
{
    pawl schema verify --store "$(database "$1")" --prefix pawl_bench_ >/dev/null 2>&1 </dev/null
}

check_gone()
{
    local name
    for name in pawl_bench_0 pawl_bench_1 pawl_bench_2; do
        ! is_there $name || die "$name was left behind"
    done
}

member()
{
    grep -oE "\"$1\":(\"[^\"]*\"|[^,}]+)" "$work/out" | cut -d: -f2-
}

is_number()
{
    [[ $1 =~ ^[0-9]+(\.[0-9]+)?$ ]] && [[ ! $1 =~ ^0(\.0+)?$ ]]
}

# run_json ARGUMENT ...: exit code 0, or 1 for a limit that is broken, which says nothing with so few messages.
run_json()
{
    local code
    pawl bench "$@" --store "$server" --json >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code = 0 ] || { [ $code = 1 ] && grep -q "the limit is broken" "$work/err"; } ||
        die "exit code $code: bench $*: $(cat "$work/err")"
    is_number "$(member messages_per_s)" || die "no rate: bench $*"
    check_gone
    check_keys bench
}

# run_loop ARGUMENT ...: a workload that has a loop.
run_loop()
{
    local key
    run_json "$@"
    for key in limit_per_s ratio; do
        is_number "$(member $key)" || die "$key is $(member $key): bench $*"
    done
}

echo "== beside a loop"
run_loop saga-step --messages 150 --batch 60 --rounds 2
run_loop no-op --messages 150 --batch 60 --rounds 1
run_loop saga-step --messages 13 --batch 5 --rounds 1
run_loop saga-step --messages 60 --batch 4096 --rounds 1 # sagas with several messages in a batch

echo "== workloads without a loop"
for workload in outbox-drain timeouts append; do
    run_json $workload --messages 60 --batch 30 --rounds 1
    [ "$(member limit_per_s)" = null ] || die "limit_per_s of $workload is $(member limit_per_s)"
    [ "$(member no_limit)" = '"on MongoDB only saga-step and no-op have a loop"' ] || die "no_limit is $(member no_limit)"
done

echo "== what is there stays"
there=$(database pawl_bench_1)
pawl schema apply --store "$there" --prefix pawl_bench_ >/dev/null || die "no database can be made"
expect 2 "the database pawl_bench_1 exists" pawl bench saga-step --store "$server" --messages 10
is_there pawl_bench_1 || die "pawl_bench_1 is gone"
! is_there pawl_bench_0 || die "pawl_bench_0 was left behind"
pawl schema drop --store "$there" --prefix pawl_bench_ --yes >/dev/null || die "pawl_bench_1 cannot be dropped"
expect 3 "" pawl bench saga-step --store "mongodb://127.0.0.1:1/nowhere?serverSelectionTimeoutMS=500" --messages 10
echo "ok"
