#!/usr/bin/env bash
# command_queue.sh - pawl queue on SQLite: which queues there are, who reads them, and their messages
# without claiming them.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
export PAWL_STORE=sqlite:$work/queue.db PAWL_DRIVER_PATH=$build_dir
expect 3 "queue.db: No such file or directory; pawl schema apply makes it" pawl queue list
[ ! -e "$work/queue.db" ] || die "looking made a database"
expect 0 '' pawl schema apply
. "$source_dir/tests/support/queue.sh"

echo "== another message under an id that the queue has is not sent, and that is said"
expect 0 '^sent same to twice$' pawl send --to twice --type parcel --id same --body '{"n":1}'
expect 0 '^sent same to twice$' pawl send --to twice --type parcel --id same --body '{"n":1}'
expect 6 'queue twice has a message same with another body: nothing was sent$' pawl send --to twice --type parcel --id same --body '{"n":2}'
expect 6 'queue twice has a message same with another type: nothing was sent$' pawl send --to twice --type letter --id same --body '{"n":1}' --json
has_match "$work/out" '^\{"sent":0,"queue":"twice","id":"same"\}$' || die "the object does not say that nothing was sent"
expect 0 '"type":"parcel",.*"body":"\{\\"n\\":1\}"' pawl queue peek twice --id same --reveal --json
expect 0 '' pawl queue purge twice --yes

echo "== what a terminal would obey, and an accent that has no width"
for id in $'a\033[2Jb' $'e\xcc\x81xx'; do expect 0 '' pawl send --to calm --type parcel --id "$id" --body '{}'; done
expect 0 '^a\?\[2Jb +parcel ' pawl queue peek calm
grep -q $'^e\xcc\x81xx         parcel ' "$work/out" || die "columns are not below each other"
expect 0 '' pawl queue purge calm --yes
expect 0 '' pawl send --to $'c\033[2Jd' --type parcel --body '{}'
warned '^pawl: queue c\?\[2Jd has no consumer just now: what is in it waits$'
expect 0 '^c\?\[2Jd +1 ' pawl queue list
expect 0 '^c\?\[2Jd +1 ' pawl stats
PAWL_CONSOLE_USER=$'a\033nn' expect 0 '^paused queue c\?\[2Jd$' pawl queue pause $'c\033[2Jd'
expect 0 '' pawl send --to $'c\033[2Jd' --type parcel --body '{}'
warned '^pawl: queue c\?\[2Jd is paused, by '
! grep -q $'\033' "$work/err" || die "a terminal would obey the warning"
expect 0 '' pawl queue pause $'c\033[2Jd'
warned ' is paused since .*, by .* \(a\?nn\)$'
expect 0 '^resumed queue c\?\[2Jd$' pawl queue resume $'c\033[2Jd'
expect 0 '' pawl queue resume $'c\033[2Jd'
warned '^queue c\?\[2Jd is not paused$'
odd=$'m\e]0;x\a\xe2\x80\xaed'
expect 0 '^sent 1\?2 to m\?\]0;x\?\?\?\?d$' pawl send --to "$odd" --type parcel --id $'1\e2' --body '{"n":1}'
expect 6 'queue m.* has a message 1\?2 with another body: nothing was sent$' pawl send --to "$odd" --type parcel --id $'1\e2' --body '{"n":2}'
expect 0 '^would be dead-lettered: 2 messages of queue c\?\[2Jd' pawl queue purge $'c\033[2Jd' --dry-run
expect 0 '^moved 1 message of queue m\?\]0;x\?\?\?\?d to c\?\[2Jd$' pawl queue move "$odd" $'c\033[2Jd' --yes
expect 0 '^dead-lettered 3 messages of queue c\?\[2Jd$' pawl queue purge $'c\033[2Jd' --yes

echo "== the command that goes on with a queue is one whatever its name has"
odd="it's; touch $work/touched"
expect 0 '' pawl send --to "$odd" --type parcel --id odd --body '{"n":1}'
expect 0 '^paused queue ' pawl queue pause "$odd"
expect 0 '' pawl queue show "$odd"
cp "$work/out" "$work/shown"
expect 0 '' pawl send --to "$odd" --type parcel --id odd2 --body '{"n":1}'
for said in shown err; do
    command=$(sed -nE 's/.*`(pawl queue resume .*)`.*/\1/p' "$work/$said")
    PATH=$build_dir:$PATH bash -c "$command" >"$work/pasted" 2>&1 || die "'$command' fails: $(cat "$work/pasted")"
    grep -qxF "resumed queue $odd" "$work/pasted" || die "'$command' does something else: $(cat "$work/pasted")"
    [ ! -e "$work/touched" ] || die "'$command' does more"
done
expect 0 '' pawl queue purge "$odd" --discard --yes

echo "== a name that no queue can have"
expect 0 '' pawl send --to short --type parcel --id short-1 --body '{}'
expect 2 'the name of the other queue has 201 bytes, limit 200' pawl queue move short "$(printf 'a%.0s' {1..201})" --dry-run
expect 2 'the name of the other queue has 201 bytes, limit 200' pawl bulk start -- queue move short "$(printf 'a%.0s' {1..201})"
expect 0 '' pawl queue purge short --discard --yes

echo "== large messages are not all in memory"
export PAWL_STORE=sqlite:$work/large.db
expect 0 '' pawl schema apply
python3 - "$work/large.db" "$build_dir/pawl" <<'EOF' || die "large messages fill the memory"
import os, sqlite3, subprocess, sys
numbers = "with recursive t (n) as (select 1 union all select n + 1 from t where n < 600) insert into "
body = """case when n <= 150 then '{"n":"' || hex(zeroblob(case when n <= 28 then 500000 else 1000000 end)) || '"}' else '{}' end from t"""
with sqlite3.connect(sys.argv[1]) as store: # small ones at the end
    store.execute(numbers + """pawl_queue (Queue, Due, Placed, Attempts, Deaths, WaitingSince, MessageId, Type, CorrelationId,
        CausationId, Error, Headers, Body) select 'line', 9000000000000000 + n, n, 1, 0, 0, 'm-' || n, 'charge', '', '',
        'waits for message m-1 of its key "k"', '{}', """ + body)
    store.execute(numbers + """pawl_dead (Endpoint, Queue, MessageId, Type, CorrelationId, CausationId, Code, Attempts, Deaths, At,
        Error, History, Headers, Body) select 'line', 'line', 'l-' || n, 'charge', '', '', 'X', 1, 0, n, 'x', '[]', '{}', """ + body)
store.close()
def run(lines, wanted, words):
    run_one = subprocess.Popen([sys.argv[2]] + words.split(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said = run_one.stdout.read().decode()
    most = os.wait4(run_one.pid, 0)[2].ru_maxrss // 1024
    print(words, said.count("\n"), "lines", most, "MB")
    return wanted not in said or said.count("\n") != lines or most > 150
wrong = [run(1, "600 messages", "queue purge line --dry-run"), run(1, "600 messages", "queue move line else --dry-run"),
         run(1, " 0 messages", "queue purge line --where n=1 --dry-run"), run(600, '"m-600"', "queue peek line --json"),
         run(101, "m-100 ", "queue peek line"), run(600, '"l-600"', "dead list --json"), run(101, "l-100 ", "dead list"),
         run(1, "600 messages", "queue purge line --discard --yes")]
sys.exit(any(wrong))
EOF
rm "$work/large.db"*
export PAWL_STORE=sqlite:$work/queue.db

echo "== a condition, and a body that is not JSON"
for n in 1 2; do expect 0 '' pawl send --to odd --type parcel --id "o-$n" --body '{"n":1}'; done
"$work/sql" "$work/queue.db" "update pawl_queue set "Body" = 'n=1' where "MessageId" = 'o-2'" || die "no sql"
expect 0 '^would be dead-lettered: 0 messages of queue odd$' pawl queue purge odd --where n=2 --dry-run
warned '^pawl: 1 message is not compared: the body is not JSON$'
expect 0 '^moved 1 message of queue odd to even$' pawl queue move odd even --where id=o-2 --yes
! grep -q compared "$work/err" || die "a condition on an id reads bodies"
