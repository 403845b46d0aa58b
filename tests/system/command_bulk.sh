#!/usr/bin/env bash
# command_bulk.sh - pawl bulk on SQLite: a frozen selection, worked off, interrupted, gone on with and stopped.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
export PAWL_STORE=sqlite:$work/bulk.db PAWL_DRIVER_PATH=$build_dir
expect 3 "bulk.db: No such file or directory" pawl bulk list
expect 0 '' pawl schema apply
build_fill
me=$(id -un)

# id_of: of the action that was begun last.
id_of()
{
    sed -nE 's/^\{"id":"([0-9a-f]{8})".*/\1/p' "$work/out"
}

# state_is ID STATE DONE
state_is()
{
    pawl bulk show "$1" --json >"$work/shown" 2>/dev/null && grep -q "\"state\":\"$2\",\"done\":$3," "$work/shown"
}

echo "== wrong words"
expect 2 "behind --, one of: dead retry, dead discard, queue purge, queue move" pawl bulk start
expect 2 "one of: dead retry" pawl bulk start -- dead list
expect 2 "one of: dead retry" pawl bulk start -- saga delete
expect 2 "^pawl: --yes does not belong to the words" pawl bulk start -- dead retry --yes
expect 2 "^pawl: --store does not belong" pawl bulk start -- dead retry --store=sqlite:other.db
expect 2 "no option --nonsense" pawl bulk start -- dead retry --nonsense
expect 2 "pawl bulk run needs one ID" pawl bulk run
expect 2 "pawl bulk list needs options, no words" pawl bulk list x
expect 6 "there is no bulk action 12345678: pawl bulk list" pawl bulk run 12345678
expect 6 "there is no bulk action 12345678" pawl bulk show 12345678
expect 6 "there is no bulk action 12345678" pawl bulk stop 12345678
expect 0 '' pawl bulk list --json
lines 0

echo "== the selection is frozen, and nothing is done before it runs"
fill letters 30
expect 0 '^\{"id":"[0-9a-f]{8}","total":10\}$' pawl bulk start --reason "the bank's fault" --json -- dead retry --type charge
id=$(id_of)
expect 0 "\"id\":\"$id\",\"state\":\"open\",\"done\":0,\"total\":10,\"command\":\"dead retry --type charge --all --until=[^\"]*Z\",\"started\":\"[^\"]*Z\",\"ended\":null,\"by\":\"$me\",\"reason\":\"the bank's fault\",\"result\":null" \
    pawl bulk list --open --json
[ "$(number dead)" = 30 ] || die "something was done already"
expect 0 "^\{\"id\":\"$id\",\"result\":\{\"retried\":10,\"no_longer_dead\":0,\"already_queued\":0,\"unsendable\":0\}\}\$" pawl bulk run "$id" --json
[ "$(number dead)" = 20 ] || die "letters of another kind were taken"
state_is "$id" finished 10 || die "it is not finished: $(cat "$work/shown")"
grep -q '"actions":\[{"action":"started",.*"action":"finished"' "$work/shown" || die "its course is not there"
expect 6 "bulk action $id is finished" pawl bulk run "$id"
expect 6 "bulk action $id is finished already" pawl bulk stop "$id"
expect 0 '' pawl bulk list --open --json
lines 0
expect 0 "\"by\":\"$me\",\"reason\":\"the bank's fault\"" pawl dead show m-0 --endpoint billing --json

echo "== an action that is interrupted goes on where it stands"
fill letters 900 1000
expect 0 '"total":310\}$' pawl bulk start --json -- dead retry --type parcel --rate 100
id=$(id_of)
"$build_dir/pawl" bulk run "$id" --json >"$work/run.out" 2>"$work/run.err" </dev/null &
pid=$!
poll 60 eval '[ "$(number dead)" -le 880 ]' || die "nothing is retried"
kill -TERM $pid
wait $pid
[ $? = 5 ] || die "no exit code 5 when it is interrupted: $(cat "$work/run.err")"
left=$(number dead)
[ "$left" -gt 610 ] || die "it did not stop"
expect 0 "\"id\":\"$id\",\"state\":\"open\"" pawl bulk list --open --json
expect 0 "\"retried\":$((left - 610))," pawl bulk run "$id" --json
[ "$(number dead)" = 610 ] || die "not each of the kind was retried"
[ "$(queue_ready billing)" = 320 ] || die "$(queue_ready billing) messages are in the queue: some were sent twice, or not"

echo "== an action that somebody stops"
expect 0 '"total":310\}$' pawl bulk start --json -- dead discard --type note --rate 100
id=$(id_of)
"$build_dir/pawl" bulk run "$id" --json >"$work/run.out" 2>"$work/run.err" </dev/null &
pid=$!
poll 60 eval '[ "$(number dead)" -le 580 ]' || die "nothing is discarded"
expect 0 '^stopped; what was done stays$' pawl bulk stop "$id" --reason "wrong kind"
wait $pid
[ $? = 5 ] || die "no exit code 5 when it is stopped"
grep -qx "pawl: sqlite:.*bulk action $id was stopped" "$work/run.err" || die "it does not say why: $(cat "$work/run.err")"
[ "$(number dead)" -gt 300 ] || die "it was not stopped"
expect 6 "bulk action $id is stopped" pawl bulk run "$id"
expect 0 '"action":"stopped".*"reason":"wrong kind"' pawl bulk show "$id" --json

echo "== messages in a queue"
expect 0 '"total":320\}$' pawl bulk start --json -- queue move billing elsewhere
id=$(id_of)
expect 0 '--last=' pawl bulk show "$id"
expect 0 '' pawl send --to billing --type later --id later --body '{}'
expect 0 '"moved":320' pawl bulk run "$id" --json
[ "$(queue_ready billing)" = 1 ] || die "a message that was sent later was moved"
expect 6 "there is no queue nowhere" pawl bulk start -- queue purge nowhere
