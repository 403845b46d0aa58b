#!/usr/bin/env bash
# endpoints.sh - what idle endpoints of one process cost on PostgreSQL: connections, memory, transactions a minute.
#
#   endpoints.sh URL [ENDPOINTS [SECONDS [OPTION ...]]]    100 endpoints, 180 seconds; options of pawl run
#
# Makes the database pawl_bench_endpoints and drops it in the end. PAWL_BUILD: the folder of the build, by default
# build. SESSIONS: the parameter `sessions` of the URL, by default none. Prints one JSON object.
#
# SPDX-License-Identifier: Apache-2.0
set -eu -o pipefail
[ $# -ge 1 ] || { echo "usage: endpoints.sh URL [ENDPOINTS [SECONDS [OPTION ...]]]" >&2; exit 2; }
url=$1 seconds=${3:-180}
export ENDPOINTS=${2:-100}
shift $(($# < 3 ? $# : 3))
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
build=${PAWL_BUILD:-$source_dir/build}
database=pawl_bench_endpoints
server=${url%/*}
store=$server/$database${SESSIONS:+?sessions=$SESSIONS}
work=$(mktemp -d)
pid=

ask()
{
    psql -qAtX "$url" -c "$1"
}

finish()
{
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
    [ -z "$pid" ] || wait "$pid" 2>/dev/null || true
    ask "drop database if exists $database" || true
    rm -rf "$work"
}

transactions()
{
    ask "select xact_commit + xact_rollback from pg_stat_database where datname = '$database'"
}

memory_kb()
{
    awk '/^Rss(Anon|File)/ { print $2 }' "/proc/$pid/status" | paste -sd ' '
}

ask "create database $database"
trap finish EXIT
"${CC:-cc}" -std=c17 -O2 -shared -fPIC -I "$source_dir/include" -I "$build" \
    "$source_dir/bench/endpoints/endpoints.c" -o "$work/endpoints.so"
"$build/pawl" schema apply --store "$store" --app "$work/endpoints.so" >/dev/null
"$build/pawl" run "$work/endpoints.so" --store "$store" --log warning "$@" &
pid=$!
sleep 75 # all are started and have prepared what they ask once a minute
before=$(transactions)
sleep "$seconds"
after=$(transactions)
kill -0 "$pid"
read -r anonymous file <<<"$(memory_kb)"
printf '{"endpoints":%d,"connections":%d,"threads":%d,"anonymous_mb":%.1f,"file_mb":%.1f,"transactions_per_minute":%.1f}\n' \
    "$ENDPOINTS" "$(ask "select count(*) from pg_stat_activity where datname = '$database'")" \
    "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" "$((anonymous / 1024)).$((anonymous % 1024 * 10 / 1024))" \
    "$((file / 1024)).$((file % 1024 * 10 / 1024))" "$(awk "BEGIN { print ($after - $before) * 60 / $seconds }")"
