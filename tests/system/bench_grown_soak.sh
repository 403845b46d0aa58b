#!/usr/bin/env bash
# bench_grown_soak.sh - workloads on tables of full size, on SQLite and PostgreSQL: at least 0.9 of the rate of the same on
# an empty store. 80,000,000 deduplication records need 25 GB on PostgreSQL, with its log, and take ten minutes to make.
#
# PAWL_TEST_GROWN_PART=10: a tenth of the rows.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

part=${PAWL_TEST_GROWN_PART:-1}
ratio_min=0.9

# grown WORKLOAD ROWS STORE
grown()
{
    local rows=$(($2 / part)) ratio
    echo "== $1, $rows rows before, ${3%%:*}"
    pawl bench "$1" --grown "$rows" --messages "${messages:-60000}" --store "$3" --json >"$work/out" ||
        die "exit code $?: bench $1 --grown $rows"
    ratio=$(grep -oE '"ratio_to_empty":[0-9.]+' "$work/out" | cut -d: -f2)
    echo "$ratio of the rate on an empty store: $(cat "$work/out")"
    awk "BEGIN { exit !($ratio >= $ratio_min) }" || failed+=" $1 on ${3%%:*}: $ratio"
}

all_of()
{
    grown retention 80000000 "$1"
    grown timeouts 10000000 "$1"
    grown saga-step 10000000 "$1"
    grown outbox-drain 10000000 "$1"
}

failed=
need_sqlite
all_of "sqlite:$work/grown.db"
need_server postgres
own_database pawl_bench
all_of "$url"
[ -z "$failed" ] || die "below $ratio_min:$failed"
echo "ok"
