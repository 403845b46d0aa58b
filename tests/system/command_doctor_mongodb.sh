#!/usr/bin/env bash
# command_doctor_mongodb.sh - `pawl doctor` on MongoDB: what it says of a store that is well, of one without its
# collections, of a standalone server, and of none.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
need_server mongodb
name=$(own_name doctor)
store=$(sed -E "s#^(mongodb://[^/?]+)(/[^?]*)?#\1/$name#" <<<"$PAWL_TEST_MONGODB")
port=$(sed -E 's#^mongodb://[^/?]*:([0-9]+).*#\1#' <<<"$PAWL_TEST_MONGODB")

# says REGEX: in a line of the last output.
says()
{
    grep -qE -- "$1" "$work/out" || die "no line like '$1'"
}

echo "== without collections"
expect 1 "" pawl doctor --store "$store"
says '^FAIL  schema +.*missing'
says 'pawl schema apply'

echo "== well"
pawl schema apply --store "$store" >/dev/null 2>&1 || die "no collections can be made"
expect 0 '^OK    connection ' pawl doctor --store "$store"
says '^OK    schema '
says "^OK    clock +the server's clock differs by -?[0-9]+ ms$"
says '^OK    workers '
says '^OK    outbox '
says '^OK    dead_letters '
! grep -qE '^(WARN|FAIL)' "$work/out" || die "something is found in a store that is well"
expect 0 '"check":"clock","level":"ok"' pawl doctor --store "$store" --json

echo "== made by an open, without validators"
pawl schema drop --yes --store "$store" >/dev/null 2>&1 || die "the collections stay"
PAWL_STORE=$store start app "$build_dir/orders.so"
stop "$pid" TERM 0
expect 0 "" pawl doctor --store "$store"
says '^WARN  schema +without pawl.s validator, .*pawl_queue.*DocumentDB'
! grep -qE '^FAIL' "$work/out" || die "a store without validators has a fault"
expect 0 "^warning: without pawl's validator" pawl schema verify --store "$store"
expect 0 "" pawl schema apply --store "$store"
grep -q 'brought up to date' "$work/err" || die "apply does not say that it did something"

echo "== a message that nobody reads"
pawl send --to nowhere --type t --body '{}' --store "$store" >/dev/null 2>&1 || die "cannot send"
expect 1 "" pawl doctor --store "$store"
says '^(WARN|FAIL)  queues .*nowhere'

echo "== a command that ended is no worker"
expect 0 "" pawl queue purge nowhere --yes --store "$store"
expect 0 "" pawl worker list --json --store "$store"
[ ! -s "$work/out" ] || die "a worker is left: $(cat "$work/out")"

echo "== a server that is no store"
expect 1 "" pawl doctor --store "mongodb://127.0.0.1:$((port + 2))/$name"
says '^FAIL  connection .*standalone'
expect 1 "" pawl doctor --store "mongodb://127.0.0.1:1/$name?serverSelectionTimeoutMS=200"
says '^FAIL  connection '
pawl schema drop --yes --store "$store" --app "$build_dir/orders.so" >/dev/null 2>&1 || die "the collections stay"
echo "ok"
