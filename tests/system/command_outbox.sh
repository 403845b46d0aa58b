#!/usr/bin/env bash
# command_outbox.sh - looking at the outbox, and what an operator does with dead
# rows; the workers as well.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_fill
export PAWL_STORE=sqlite:$work/outbox.db PAWL_DRIVER_PATH=$build_dir

# ids WANTED OPTION ...: the numbers of the rows that are listed, in order.
ids()
{
    local wanted=$1 found
    shift
    expect 0 '' pawl outbox list --json "$@"
    found=$(sed -E 's/^\{"id":([0-9]+),.*/\1/' "$work/out" | tr '\n' ' ')
    [ "$found" = "$wanted" ] || die "rows '$found' instead of '$wanted': $*"
}

echo "== wrong words"
expect 2 "pawl outbox show needs one ID, got 0" pawl outbox show
expect 2 "got 2" pawl outbox show 1 2
expect 2 "did you mean show 17\?" pawl outbox list 17
words=sqlite:$work/words.db
expect 0 '' pawl schema apply --store "$words?create=yes"
expect 2 "'seventeen' is neither the number of an outbox row nor a dispatch id" \
    pawl outbox retry seventeen --store "$words"
expect 2 "--state: 'deda' is not a valid STATE; did you mean dead\?" pawl outbox list --state pending,deda
expect 2 "--dispatch-id: .*'x'" pawl outbox list --dispatch-id x
expect 2 "pawl outbox show has no option --limit: it is for list" pawl outbox show 1 --limit 3
expect 2 "pawl outbox list has no option --yes: it is for discard, retry" pawl outbox list --yes
expect 2 "pawl outbox retry needs rows, or --all" pawl outbox retry
expect 2 "pawl outbox discard needs rows, or --all" pawl outbox discard --type x
expect 2 "discard: a filter goes with --all, not with rows that are named" pawl outbox discard 3 --type x
expect 2 "discard: a filter goes with --all" pawl outbox discard 3 --attempts 1
expect 2 "retry: a filter goes with --all, not with rows that are named" \
    pawl outbox retry 3 --saga order/0193a1b0-0000-7000-8000-000000000001
expect 2 "retry: --yes goes with --all, not with rows that are named" pawl outbox retry 3 --yes
expect 2 "pawl outbox has no option -3; valid are" pawl outbox show -3
expect 2 "--attempts" pawl outbox list --attempts 0
expect 2 "give --all or rows, not both" pawl outbox retry --all 3
expect 2 "--state pending: only dead rows can be retried" pawl outbox retry --all --state pending
expect 2 "--reason: it has 600 bytes, limit 300" pawl outbox retry 3 --reason "$(printf '%0600d' 1)"

echo "== a filter that is empty matches nothing, and not everything"
for option in causation-id destination endpoint source type; do
    expect 2 "--$option is empty: leave it out to match all" \
        pawl outbox discard --all --yes "--$option" ''
done
expect 2 "--endpoint is empty: leave it out to match all" pawl worker list --endpoint ''
expect 2 "--dispatch-id: 00000000-.* is not the id of an outbox row" \
    pawl outbox discard --all --yes --dispatch-id 00000000-0000-0000-0000-000000000000

echo "== what is not UTF-8 is named, and asked of no store"
for option in causation-id destination endpoint source type; do
    expect 2 "--$option: byte 1 is not UTF-8" pawl outbox list "--$option" $'x\xff'
done
expect 2 "--endpoint: byte 0 is not UTF-8" pawl worker list --endpoint $'\xff'
expect 2 "--reason: byte 2 is not UTF-8" pawl outbox retry 3 --reason $'it\xff'

echo "== a failure is one line, whatever is in it"
expect 2 "'a b.\[31mc' is neither the number" pawl outbox show $'a\nb\e[31mc' --store "$words"
[ "$(wc -l <"$work/err")" = 1 ] || die "more than one line"
! grep -q $'\e' "$work/err" || die "a terminal would obey it"

echo "== a store that is not there stays away"
expect 3 "outbox.db: No such file" pawl outbox list
expect 3 "outbox.db: No such file" pawl outbox retry 1
expect 3 "outbox.db: No such file" pawl worker list
[ ! -e "$work/outbox.db" ] || die "looking made a database"
expect 0 '' pawl schema apply
expect 0 '' pawl outbox list
lines 0
grep -q '^no outbox row matches$' "$work/err" || die "no word that nothing matches"
expect 0 '' pawl outbox list --json
lines 0
[ ! -s "$work/err" ] || die "--json says something for people"

echo "== list"
fill outbox
expect 0 '^id +state +attempts +endpoint +ordering key +destination +type +message id +at$' pawl outbox list
lines 7
expect 0 '^ +1  pending +1  shop  +Order/1 .*T[0-9:]+Z \(3(\.[0-9])? m ago\)$' pawl outbox list
[ "$(sed -n 's/^\( *[0-9]* *[a-z]* *[0-9]*  \)shop.*/\1/p' "$work/out" | awk '{print length}' |
    sort -u | wc -l)" = 1 ] || die "the columns are not aligned"
! grep -q ' $' "$work/out" || die "blanks at the end of a line"
ids '1 2 3 4 5 6 '
ids '3 5 ' --state dead
ids '1 2 6 ' --state pending,blocked
ids '1 2 ' --source Order/1
ids '4 ' --id 4
ids '3 ' --dispatch-id 0d150000-0000-4000-8000-000000000003
ids '5 6 ' --after 4
ids '1 2 3 4 5 6 ' --after 0
ids '1 2 ' --limit 2
ids '1 2 3 4 5 6 ' --causation-id order-1 --endpoint shop --destination billing --type ChargeCard
ids '' --type Other
ids '1 3 4 5 ' --attempts 1
ids '1 ' --state pending --attempts 1
ids '' --attempts 2
expect 0 '^\{"id":1,"state":"pending","attempts":1,.*"dispatched":null,"body_size":22\}$' \
    pawl outbox list --json --limit 1
! grep -q 4711 "$work/out" || die "a body in a list"

echo "== show"
expect 0 '^next +next attempt in 1\.9 h, once endpoint .shop. runs' pawl outbox show 1
grep -qE '^ +1  transient  .*12 ms +connection \?\[31mrefused' "$work/out" ||
    die "no attempt, or a terminal would obey it"
grep -qE '^body size +22 bytes; --reveal shows it$' "$work/out" || die "no size"
! grep -q 4711 "$work/out" || die "a body that nobody asked for"
expect 0 '^next +blocked behind row 1 of the same ordering key' pawl outbox show 2
expect 0 '^next +dead: `pawl outbox retry 3` sends it again, out of order$' \
    pawl outbox show 0d150000-0000-4000-8000-000000000003
! grep -q '^next attempt' "$work/out" || die "a dead row has a next attempt"
expect 0 '^next +nothing: it was delivered$' pawl outbox show 4
expect 0 '^next +dead: `pawl outbox retry 5` sends it again$' pawl outbox show 5
expect 0 '^next +due: goes with the next scan of the outbox, once' pawl outbox show 6
expect 0 '^body +\{"card":"4711-secret"\}$' pawl outbox show 3 --reveal
expect 0 '"headers":\{"tenant":"blue"\},"next":"dead: [^"]*","body":"\{\\"card' \
    pawl outbox show 3 --reveal --json
grep -q '"history":\[{"attempt":1,"outcome":"rejected","at":"[^"]*Z","duration_us":900,"error":"no such account"}\]}$' \
    "$work/out" || die "no history in the object"
lines 1
expect 0 '' pawl outbox show 3 --json
! grep -q 4711 "$work/out" || die "a body that nobody asked for"
expect 6 'outbox.db: there is no outbox row 99$' pawl outbox show 99

echo "== retry and discard: dead rows only, all that are named or none"
expect 6 'outbox row 1 is pending; only a dead one can be retried' pawl outbox retry 3 1
expect 6 'outbox row 4 is dispatched; only a dead one can be discarded' pawl outbox discard 4
expect 6 'there is no outbox row 99' pawl outbox retry 3 99
has outbox_dead 2 || die "a refused retry retried"
expect 0 '^retried 1 outbox row; rows with an ordering key go out of order$' \
    pawl outbox retry 3 0d150000-0000-4000-8000-000000000003 --reason "the bank is back"
expect 0 '^ +2  retried  .* by [^:]+: the bank is back$' pawl outbox show 3
grep -qE '^state +pending$' "$work/out" || die "row 3 is not pending"
grep -qE '^attempts before +2$' "$work/out" || die "its attempts count on"
expect 6 'outbox row 3 is pending' pawl outbox retry 3
expect 0 '^\{"discarded":1,"no_longer_dead":0\}$' pawl outbox discard 5 --json
expect 0 '^next +nothing: it was discarded$' pawl outbox show 5
grep -qE '^ +2  discarded  .* by [^:]+$' "$work/out" || die "no word who discarded it"
expect 0 '^.* outbox_discarded ' pawl events list --operators
grep -qE ' outbox_retried .* the bank is back' "$work/out" || die "the operators' actions lack the retry"
lines 3

echo "== what is behind what: within one endpoint, and not behind a row that was retried"
fill neighbour
expect 0 '^next +due: goes with the next scan of the outbox, once endpoint .stall. runs' pawl outbox show 7
expect 0 '^next +due: goes with the next scan of the outbox, once endpoint .shop. runs' pawl outbox show 8
expect 0 '^next +blocked behind row 1 of the same ordering key' pawl outbox show 2

echo "== all that match, in commits of 256"
fill dead 600
has outbox_dead 600 || die "dead: $(number outbox_dead), not 600"
expect 2 'discard --all asks first, and standard input is not a terminal: give --yes' \
    pawl outbox discard --all
expect 0 '^ *id +state' pawl outbox list --state dead
lines 101
grep -q '^these are 100; there are more: --limit N shows N$' "$work/err" || die "no word about the rest"
expect 0 '' pawl outbox list --state dead --limit 300
lines 301
expect 0 '' pawl outbox list --state dead --json
lines 600
expect 0 '^retried 0 outbox rows$' pawl outbox retry --all --type Other --yes
expect 0 '^retried 0 outbox rows$' pawl outbox retry --all --attempts 2 --type Bulk --yes
expect 0 '^retried 600 outbox rows; ' pawl outbox retry --all --state dead --type Bulk --yes
has outbox_dead 0 || die "dead: $(number outbox_dead)"
expect 0 '' pawl outbox list --state pending --type Bulk --json
lines 600

echo "== on a terminal it asks"
# terminal ANSWER|- COMMAND ...: what a person sees, in $work/out; -: standard
# input answers.
terminal()
{
    local answer=$1
    shift
    { [ "$answer" = - ] && cat || echo "$answer"; } | python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$build_dir/pawl" "$@" >"$work/out" 2>&1
}
if command -v python3 >/dev/null; then
    export PAWL_STORE="sqlite:$work/asked.db?create=yes"
    fill dead 300
    terminal no outbox discard --all
    [ $? = 1 ] || die "an answer that was not yes did not exit 1"
    grep -q "discard 300 dead outbox rows of sqlite:.*asked.db.*, for good? Type yes to do it: " "$work/out" ||
        die "the question is another one"
    grep -q "the answer was not yes: nothing was discarded" "$work/out" || die "no word about no"
    has outbox_dead 300 || die "no discarded"
    terminal yes outbox retry --all || die "yes did not retry"
    grep -q "again, out of order? Type yes to do it: " "$work/out" || die "no word about the order"
    grep -q "retried 256 of 300.*retried 300 outbox rows" "$work/out" || die "no progress"
    has outbox_dead 0 || die "dead: $(number outbox_dead)"

    echo "== what was settled while it asked is counted, what died since is left alone"
    export PAWL_STORE="sqlite:$work/meanwhile.db?create=yes"
    fill dead 300
    mkfifo "$work/answer"
    terminal - outbox discard --all --reason gone <"$work/answer" &
    asking=$!
    exec 9>"$work/answer"
    poll 20 grep -q "discard 300 dead" "$work/out" || die "it does not ask"
    cp "$work/out" "$work/asked"
    "$build_dir/pawl" outbox retry 7 8 >"$work/retried" 2>&1 || die "retry failed: $(cat "$work/retried")"
    echo yes >&9
    exec 9>&-
    wait "$asking" || die "discard failed"
    grep -q "discarded 298 outbox rows; 2 were no longer dead" "$work/out" || die "the count is another one"
    ids '7 8 ' --state pending
    expect 0 '^' pawl events list --type pawl.outbox_discarded --json
    lines 2
    stream=$(sed -nE '1s/.*"stream":"([^"]*)".*/\1/p' "$work/out")
    expect 0 '"reason":"gone".*"body":"?\[1,2,3,4,5,6,9,10,' pawl events show "$stream" --reveal --json
fi

echo "== workers"
expect 0 '' pawl worker list
grep -q '^no worker is alive$' "$work/err" || die "no word that there is none"
expect 2 "pawl worker needs ACTION; valid are list, show" pawl worker
build_app app_pair.c pair.so
export PAWL_STORE=sqlite:$work/workers.db
start pair "$work/pair.so" --workers 1 --route aside=#aside
expect 0 '^sent ' pawl send --to left --type ping --body '{"n":1}'
poll 20 has_ready finished 1 || die "the ping was not handled"
left_is_led()
{
    pawl worker list --json --endpoint left | grep -q '"leads":\["outbox/left"\]'
}
poll 20 left_is_led || die "nobody leads: $(pawl worker list)"
[ "$(pawl worker list --json | grep -c '"leads":\["outbox/left"\]')" = 1 ] || die "two lead"
expect 0 '^id +endpoint +program +version +pawl +host +pid +epoch +leads +handled +failures +conflicts +dead letters +started +last seen$' \
    pawl worker list
pawl_is=$("$build_dir/pawl" version --json | sed -nE 's/.*"library":"([^"]*)".*/\1/p')
host=$(uname -n)
runs="pair +1\.2-rc1 +$pawl_is +$host +$pid"
expect 0 "^[0-9a-f-]{36}  left +$runs +[0-9]+ +1 +0 +0 +0  .*Z \(.* ago\) +.*Z \(.* ago\)$" pawl worker list
expect 0 "^[0-9a-f-]{36}  left +$runs +[0-9]+  outbox/left +0 +0 +0 +0  .*Z \(.* ago\)$" \
    pawl worker list
expect 0 "^\{\"id\":\"[0-9a-f-]{36}\",\"endpoint\":\"right\",\"program\":\"pair\",\"program_version\":\"1\.2-rc1\",\"pawl_version\":\"$pawl_is\",\"host\":\"$host\",\"pid\":$pid,\"epoch\":[0-9]+,\"leads\":\[\],\"messages\":1,.*\"started\":\"[^\"]*Z\",\"seen\":\"[^\"]*Z\",\"types\":\[\"pong\"\]\}$" \
    pawl worker list --json --endpoint right
! grep -v '"endpoint":"right"' "$work/out" || die "a worker of another endpoint"
one=$(pawl worker list --json --endpoint right | sed -nE '1s/.*"id":"([^"]*)".*/\1/p')
expect 0 '^in flight +not known: .*`pawl queue peek [^ ]+ --due now`' pawl worker show "$one"
read -ra hint < <(sed -nE 's/^in flight .*`pawl (queue peek .* --due now)`.*/\1/p' "$work/out")
[ "${hint[*]}" = 'queue peek right --due now' ] || die "it names '${hint[*]}' to look at"
expect 0 '' pawl "${hint[@]}"
expect 0 '"in_flight":"not known: [^"]*","isolated":\[\]\}$' pawl worker show "$one" --json
expect 0 '^sent ' pawl send --to nobody --type ping --id 018f0000-0000-7000-8000-0000000000aa --body '{"n":1}'
build_sql
"$work/sql" "$work/workers.db" "update pawl_queue set Deaths = 2, History = '[{\"attempt\":1,\"at\":\"2026-11-22T08:00:00Z\",\"code\":\"ECRASHED\",\"error\":\"x\",\"worker\":\"$one\",\"epoch\":1,\"pid\":7}]' where Queue = 'nobody'" ||
    die "no stamp"
expect 0 '"isolated":\[\{"message_id":"018f0000-0000-7000-8000-0000000000aa","type":"ping","queue":"nobody","since":"2026-11-22T08:00:00.000000Z","crashes":1\}\]\}$' \
    pawl worker show "$one" --json
expect 0 '^in flight +the message below, which it runs isolated' pawl worker show "$one"
expect 0 '^018f0000-0000-7000-8000-0000000000aa +ping +nobody +2026-11-22T08:00:00Z .* 1$' pawl worker show "$one"
other=$(pawl worker list --json | grep -vF "$one" | sed -nE '1s/.*"id":"([^"]*)".*/\1/p')
expect 0 '"isolated":\[\]\}$' pawl worker show "$other" --json
expect 6 'no worker 018f0000-0000-7000-8000-0000000000aa is alive' pawl worker show 018f0000-0000-7000-8000-0000000000aa
expect 2 "pawl worker show needs one ID, got 0" pawl worker show
expect 2 "did you mean show $one\?" pawl worker list "$one"
expect 2 '^pawl: ID: ' pawl worker show x
expect 0 '' pawl worker list --endpoint middle
grep -q '^no worker of this endpoint is alive$' "$work/err" || die "no word that others are alive"
stop "$pid" TERM 0
expect 0 '' pawl worker list --json
lines 0
