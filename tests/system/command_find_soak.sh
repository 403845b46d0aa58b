#!/usr/bin/env bash
# command_find_soak.sh - pawl find among 1,000,000 messages of queues and as many dead letters, on SQLite, PostgreSQL, MySQL
# and MariaDB: it answers within its deadline, or says that it stopped early and how it goes on.
#
# PAWL_TEST_FIND_COUNT is another number of each.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/mysql.sh
. "$source_dir/tests/support/mysql.sh"

need_sqlite
build_fill
export PAWL_DRIVER_PATH=$build_dir
count=${PAWL_TEST_FIND_COUNT:-1000000}

# find_one PLACE MEMBER NUMBER: the only message of that number, by as many searches as the default deadline asks for.
find_one()
{
    local place=$1 member=$2 number=$3 run begin searches=0 code
    run="pawl find $member=$number --json"
    begin=$(date +%s%N)
    : >"$work/all"
    while [ -n "$run" ]; do
        PATH=$build_dir:$PATH bash -c "$run" >"$work/out" 2>"$work/err"
        code=$?
        [ $code = 0 ] || { [ $code = 5 ] && grep -q '^pawl: .*stopped early, after ' "$work/err"; } || die "exit code $code: $run"
        searches=$((searches + 1))
        sed '$d' "$work/out" >>"$work/all"
        run=$(sed -nE '$s/.*,"run":"(.*)"\}$/\1/p' "$work/out")
    done
    [ "$(sed -E 's/^\{"place":"([a-z]*)".*/\1/' "$work/all")" = "$place" ] || die "found: $(head -n 3 "$work/all")"
    echo "$member=$number: $searches searches, $((($(date +%s%N) - begin) / 1000000)) ms"
}

# all_of NAME: on the empty store PAWL_STORE
all_of()
{
    echo "== $1: $count messages, and as many dead letters"
    expect 0 '' pawl schema apply
    fill queue "$count"
    fill letters "$count"
    find_one queue customer_id $((count / 2 + 1))
    find_one dead n $((count - 3))
    expect 5 'stopped early, after ' pawl find n=$((count - 3)) --deadline 100ms
    grep -q '^to go on: pawl find ' "$work/err" || die "no word of how it goes on"
}

export PAWL_STORE=sqlite:$work/find.db
all_of SQLite
for server in mysql mariadb; do
    variable=PAWL_TEST_${server^^}
    [ -n "${!variable:-}" ] || continue
    mysql_server $server
    own_mysql find
    export PAWL_STORE=${!variable%/*}/$database
    all_of $server
done
mysql_finish
trap finish EXIT
if [ -n "${PAWL_TEST_POSTGRES:-}" ]; then
    own_schema find_soak
    export PAWL_STORE=$store
    all_of PostgreSQL
fi
