#!/usr/bin/env bash
# bench_mysql.sh - `pawl bench` on MariaDB and on MySQL with small numbers: its output, that pawl and
# the loop leave the same rows (the benchmark checks that itself), that nothing stays behind,
# and that nothing that was there is touched.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

[ -e "$build_dir/libpawl-bench-mysql.so" ] || skip "the MySQL driver was not built"
client=$(command -v mariadb || command -v mysql) || skip "no client to talk to the servers with"

# query SQL: on the server of $server, whose URL has no password.
query()
{
    local at=${server#*://} user=root host
    [[ $at == *@* ]] && user=${at%%@*}
    host=${at#*@}
    host=${host%%/*}
    "$client" --no-defaults --protocol=tcp -u "$user" -h "${host%:*}" -P "${host##*:}" -Ne "$1" 2>/dev/null
}

databases()
{
    query "select group_concat(schema_name order by schema_name separator ' ') from information_schema.schemata where schema_name like 'pawl\\_bench\\__'" | sed 's/^NULL$//'
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
    local code key
    pawl bench "$@" --store "$server" --json >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code = 0 ] || { [ $code = 1 ] && grep -q "the limit is broken" "$work/err"; } ||
        die "exit code $code: bench $*"
    for key in messages_per_s limit_per_s ratio; do
        is_number "$(member $key)" || die "$key is $(member $key): bench $*"
    done
    [ -z "$(databases)" ] || die "left behind: $(databases)"
    check_keys bench
}

run_all()
{
    local workload found rounds=2 # the first one's: a second round begins with a copy as all others do
    for workload in saga-step no-op outbox-drain timeouts append; do
        echo "== $workload, ${server%%:*}"
        run_json $workload --messages 150 --batch 60 --rounds $rounds
        rounds=1
        run_json $workload --messages 13 --batch 5 --rounds 1
    done
    run_json saga-step --messages 60 --batch 4096 --rounds 1 # sagas with several messages in a batch
    run_json append --messages 60 --batch 4096 --rounds 1
    run_json latency --seconds 1 --rate 20 --rounds 1
    is_number "$(member limit_commit_p99_ms)" || die "no times of the loop"

    echo "== what is there stays"
    query "create database pawl_bench_1" || die "no database can be created"
    expect 2 "pawl_bench_1.* database exists" pawl bench saga-step --store "$server" --messages 10
    found=$(databases)
    query "drop database pawl_bench_1"
    [ "$found" = "pawl_bench_1" ] || die "databases are '$found' instead of pawl_bench_1"
}

need_server mariadb
server=$PAWL_TEST_MARIADB
run_all
need_server mysql
server=$PAWL_TEST_MYSQL
run_all
expect 3 "" pawl bench saga-step --store mysql://nobody@127.0.0.1:1/nowhere --messages 10
echo "ok"
