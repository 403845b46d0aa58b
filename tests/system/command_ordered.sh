#!/usr/bin/env bash
# command_ordered.sh - what `pawl why` and `pawl queue peek` say of an ordered queue: which message holds a key back, since
# when, and how many wait behind it.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_app app_dead.c dead.so
export PAWL_STORE=sqlite:$work/ordered.db PAWL_DRIVER_PATH=$build_dir
export PAWL_TEST_CLOSED=$work/closed PAWL_TEST_AWAY=$work/away PAWL_TEST_SEEN=$work/seen

# put ID KEY [TYPE]: a message of that key.
put()
{
    expect 0 '' pawl send --to billing --type "${3:-charge}" --id "$1" --header "account=$2" --body '{"n":1}'
}
# member ID KEY: what `peek` says of the message.
member()
{
    pawl queue peek billing --id "$1" --json 2>"$work/err" |
        python3 -c 'import json,sys; print(json.load(sys.stdin)[sys.argv[1]])' "$2"
}
is() { [ "$(member "$1" "$2")" = "$3" ]; }
# why ID: one place, as JSON.
why() { expect 0 '' pawl why --json "$1"; lines 1; }
says() { grep -qE -- "\"$1\":\"$2" "$work/out" || die "$1 is not '$2'"; }
span='[0-9.]+ [a-z]+'

echo "== two keys, each with a message that fails"
touch "$work/away"
start billing "$work/dead.so" --ordered header:account --immediate-retries 0 --retry-delay 1h
put a1 A note
poll 20 is a1 attempts 1 || die "a1 did not fail"
put b1 B
put c1 "it's"
put a2 A
put a3 A
put b2 B
poll 20 is b2 behind b1 || die "b2 is not held"
poll 20 is a3 behind a1 || die "a3 is not held"

echo "== peek"
is a1 holds 2 && is a1 key A && is a1 behind None || die "a1 does not hold two"
is b1 holds 1 && is a2 holds 0 && is a2 key A || die "b1 does not hold one"
is c1 key None && is c1 holds 0 || die "c1 holds something"
expect 0 '^a1 .* retry 1, in [^;]*; 2 messages of its key .A. wait behind it, since [0-9.]+ [a-z]+ ago' pawl queue peek billing
expect 0 '^a2 .* behind a1 of key .A., until in ' pawl queue peek billing
expect 0 '^b1 .*; 1 message of its key .B. waits behind it, since ' pawl queue peek billing
expect 0 '^waits .*; 2 messages of its key .A. wait behind it' pawl queue peek billing --id a1 --reveal
expect 0 '' pawl queue peek billing --json

echo "== why: of a message that waits, of one that holds it back, of the queue"
why a3
says waits_for "message a1 of its key, tried again in $span: 2 messages of its key 'A' wait behind it"
says error 'the bank is away'
says next 'a worker handles it behind that one'
grep -qF "\"pawl why a1 --store " "$work/out" || die "the command of a1 is not offered"
grep -qF "\"pawl queue peek billing --id a1 --reveal --store " "$work/out" || die "a1 is not shown"
since=$(sed -nE 's/.*"since":"([^"]*)".*/\1/p' "$work/out")
why a1
says waits_for "its next run, in $span: 1 failed; 2 messages of its key 'A' wait behind it"
says error 'EUNREACHABLE: the bank is away'
[ -n "$since" ] && grep -qF "\"since\":\"$since\"" "$work/out" || die "a3 waits since '$since', and a1 fails since another time"
why c1
says waits_for "its next run, in $span: 1 failed\""
why billing
says waits_for "the time of its messages; message a1 blocks its key since $span ago: 2 messages of its key 'A' wait behind it; message b1 blocks its key since $span ago: 1 message of its key 'B' waits behind it\""

echo "== keys beyond the third are counted"
for key in C D E F; do
    put "${key}1" $key
    poll 20 is "${key}1" attempts 1 || die "${key}1 did not fail"
    put "${key}2" $key
    poll 20 is "${key}2" behind "${key}1" || die "${key}2 is not held"
    why billing
    case $key in
    C) says waits_for "[^\"]*; message C1 blocks its key since [^;\"]*\"" ;;
    D) says waits_for "[^\"]*; message C1 blocks its key since [^;\"]*; and 1 more key\"" ;;
    E) says waits_for "[^\"]*; and 2 more keys\"" ;;
    F) says waits_for "[^\"]*; and 3 more keys\"" ;;
    esac
done

echo "== the message that held it back is taken away"
stop "$pid" TERM 0
expect 0 '' pawl queue purge billing --type note --discard --yes
why a2
says waits_for "an earlier message of its key 'A': a1, which is gone"
why billing
says waits_for "a worker that reads it; a message that is gone blocks its key: 2 messages of its key 'A' wait behind it; message b1 "
is a2 behind a1 || die "a2 forgot what it waited for"

echo "ok"
