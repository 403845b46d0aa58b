#!/usr/bin/env bash
# bench_peer.sh - `pawl bench` of saga-step and no-op with `--peer graphile` as in a clean clone: its packages
# are installed, both figures are there, a table with a column more changes nothing, and a
# job that fails ends it within seconds and is named.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_server postgres
[ -e "$build_dir/libpawl-postgres.so" ] || skip "the PostgreSQL driver was not built"
command -v node >/dev/null && command -v npm >/dev/null || skip "no node and npm to run a peer with"
[ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ] || skip "node is older than 20"
npm ping >"$work/npm" 2>&1 || skip "the npm registry cannot be reached: $(tail -n 1 "$work/npm")"
# The names of the schemas are always the same: those of one that was killed would be met.
own_database pawl_bench_peer
server=${url%%[?&]schema=*}
export PAWL_BENCH_PEERS=$work/peers
mkdir "$PAWL_BENCH_PEERS"
# As it is cloned: without the packages.
mkdir "$PAWL_BENCH_PEERS/graphile"
cp "$source_dir"/bench/peers/graphile/*.* "$PAWL_BENCH_PEERS/graphile/"
cp "$source_dir/bench/peers/shared.mjs" "$PAWL_BENCH_PEERS/"

member()
{
    grep -oE "\"$1\":(\"[^\"]*\"|[^,}]+)" "$work/out" | cut -d: -f2-
}

# measured PEER: both figures. A loop that is slower than pawl (exit code 1) says nothing with
# so few messages.
measured()
{
    local code key
    pawl bench saga-step --store "$server" --messages 600 --rounds 2 --peer "$1" --json \
        >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code = 0 ] || { [ $code = 1 ] && grep -q "the limit is broken" "$work/err"; } ||
        die "exit code $code with peer $1"
    for key in messages_per_s peer_per_second peer_ratio; do
        [[ $(member $key) =~ ^[1-9][0-9]*(\.[0-9]+)?$|^0\.[0-9]*[1-9] ]] || die "$key is '$(member $key)'"
    done
    nothing_left
}

nothing_left()
{
    local left
    left=$(psql -XqAt "$server" -c "select nspname from pg_namespace where nspname like 'pawl\\_bench%'")
    [ -z "$left" ] || die "left behind: $left"
}

# altered NAME SQL: a peer that is graphile, on tables that were altered before.
altered()
{
    mkdir "$PAWL_BENCH_PEERS/$1"
    cat >"$PAWL_BENCH_PEERS/$1/saga_step.mjs" <<END
import { execFileSync } from "node:child_process";
execFileSync("psql", ["-XqAt", "-v", "ON_ERROR_STOP=1", "$server", "-c", process.env.ALTER_$1]);
await import("../graphile/saga_step.mjs");
END
    export "ALTER_$1=$2"
}

echo "== both figures from a clean clone"
measured graphile
grep -q "installing its packages" "$work/err" || die "the packages were there already"
measured graphile
! grep -q "installing its packages" "$work/err" || die "the packages are installed each time"

echo "== no-op: a row for each of its configurations"
expect 0 '"peer":"graphile-worker [0-9.]+, batched",.*"per_second":[1-9].*, single",.*"per_second":[1-9].*"p99_ms":' \
    pawl bench no-op --store "$server" --messages 600 --batch 600 --rounds 1 --seconds 1 --peer graphile --json
nothing_left

echo "== columns that it does not know"
o=pawl_bench_0.pawl_bench_outbox
altered columns "alter table $o add if not exists a int8 not null, add if not exists b text not null,
    add if not exists c bytea not null, add if not exists d timestamptz not null,
    add if not exists e boolean not null, add if not exists f uuid not null,
    add if not exists g jsonb not null, add if not exists h int8,
    add if not exists i text not null default 'x';
    alter table pawl_bench_0.pawl_bench_inbox add if not exists a text not null;
    alter table pawl_bench_0.\"pawl_bench_saga_Order\" add if not exists a int8 not null"
measured columns
altered gone "alter table $o drop if exists \"AttemptsBefore\""
measured gone

echo "== a job that fails ends it, and so do jobs that hang"
altered failing "alter table $o add constraint never check (\"Attempts\" > 0)"
SECONDS=0 # bash counts them
expect 1 'peer failing failed: job [0-9]+ failed: .*violates check constraint "never"' \
    pawl bench saga-step --store "$server" --messages 600 --rounds 2 --peer failing --json
[ $SECONDS -lt 25 ] || die "it took $SECONDS seconds"
[[ $(member messages_per_s) =~ ^[1-9] ]] || die "pawl's own figure is lost"
[ -z "$(member peer_per_second)" ] || die "a peer that failed has a figure"
nothing_left
altered hopeless "alter table $o add a point not null"
expect 1 'peer hopeless failed: column "a" of pawl_bench_outbox has type point' \
    pawl bench saga-step --store "$server" --messages 10 --rounds 1 --peer hopeless
nothing_left
altered hanging "alter table $o add constraint asleep check (pg_sleep(600) is not null)"
expect 1 'peer hanging failed: no job ended for 30 s, 600 of 600 are left' \
    pawl bench saga-step --store "$server" --messages 600 --rounds 2 --peer hanging
nothing_left
