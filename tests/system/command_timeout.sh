#!/usr/bin/env bash
# command_timeout.sh - pawl timeout on SQLite: what is to happen and when, and an operator who cancels
# it, moves it or lets it fire now.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
export PAWL_STORE=sqlite:$work/timeouts.db PAWL_DRIVER_PATH=$build_dir
expect 3 "timeouts.db: No such file" pawl timeout list
[ ! -e "$work/timeouts.db" ] || die "looking made a database"
expect 0 '' pawl schema apply
build_fill
id=0d150000-0000-4000-8000-0000000000 # of the first timeouts, with two digits behind it
saga=0d150000-0000-4000-8000-000000002710

# ids WANTED OPTION ...: the last two digits of the timeouts that are listed, in order.
ids()
{
    local wanted=$1 found
    shift
    expect 0 '' pawl timeout list --json "$@"
    found=$(sed -E 's/^\{"id":"[^"]*(..)",.*/\1/' "$work/out" | tr '\n' ' ')
    [ "$found" = "$wanted" ] || die "timeouts '$found' instead of '$wanted': $*"
}

# due ID: when it is due.
due()
{
    pawl timeout show "$id$1" --json | sed -E 's/.*"due":"([^"]*)".*/\1/'
}

echo "== wrong words"
expect 2 "did you mean show x\?" pawl timeout list x
expect 2 "pawl timeout show needs one ID, got 0" pawl timeout show
expect 2 "ID: " pawl timeout show 4711
expect 2 "pawl timeout cancel needs IDs, or --all" pawl timeout cancel
expect 2 "give --all or IDs, not both" pawl timeout cancel --all "${id}01"
expect 2 "a filter goes with --all" pawl timeout cancel "${id}01" --name remind
expect 2 "--yes goes with --all" pawl timeout cancel "${id}01" --yes
expect 2 "--dry-run goes with --all" pawl timeout run-now "${id}01" --dry-run
expect 2 "pawl timeout move needs --by DURATION or --to TIME" pawl timeout move "${id}01"
expect 2 "pawl timeout move needs --by DURATION or --to TIME" \
    pawl timeout move "${id}01" --by 2d --to 2026-11-22T08:00:00Z
expect 2 "--to: .*'noon'" pawl timeout move "${id}01" --to noon
expect 2 "--since: .*'noon'" pawl timeout list --since noon
expect 2 "--saga: " pawl timeout list --saga 4711
expect 2 "pawl timeout cancel has no option --by: it is for move" pawl timeout cancel --all --by 2d
nil=00000000-0000-0000-0000-000000000000 # a store takes it for any saga
for word in "$nil" "Order/$nil"; do
    expect 2 "^pawl: --saga $word: no saga has this id$" pawl timeout cancel --all --yes --saga "$word"
done
expect 2 "^pawl: --saga $nil: no saga has this id$" pawl timeout list --saga "$nil" --app "$build_dir/orders.so"
expect 2 "^pawl: --saga Order/$nil: no saga has this id$" \
    pawl timeout set --saga "Order/$nil" --name remind --by 1h --destination billing
for option in destination name saga saga-type; do
    expect 2 "--$option is empty: leave it out to match all" \
        pawl timeout cancel --all --yes "--$option" ''
done
expect 2 "--reason: it has .* bytes, limit 300" \
    pawl timeout cancel "${id}01" --reason "$(printf '%0500d' 1)"

echo "== list and show"
expect 0 '' pawl timeout list
lines 0
fill timeouts 6
expect 0 '^id +due +name +saga +saga id +destination +attempts$' pawl timeout list
lines 7
expect 0 "^\\{\"id\":\"${id}01\",\"due\":\"[^\"]*Z\",\"name\":\"remind\",\"saga_type\":\"Order\",\"saga_id\":\"$saga\",\"saga\":null,\"destination\":\"billing\",\"attempts\":0,\"generation\":1,\"owner\":null,\"lease_expires\":null,\"correlation_id\":null\\}$" \
    pawl timeout list --json --limit 1
ids '01 02 03 04 05 06 '
ids '01 03 05 ' --name remind
ids '01 ' --saga "$saga"
ids '' --saga "$saga" --name expire
ids '01 ' --saga "Order/$saga"
ids '' --saga "Invoice/$saga"
ids '' --destination other
ids '' --saga-type Invoice
ids '01 02 ' --until "$(due 02)"
ids '05 06 ' --since "$(due 05)"
expect 6 "there is no timeout ${id}99" pawl timeout show "${id}99"
expect 0 '^next +is due since .* ago: for billing; no worker that reads it is alive$' \
    pawl timeout show "${id}01"
expect 0 '"headers":\{"tenant":"blue"\},"next":"fires in ' pawl timeout show "${id}02" --json

echo "== move, release, cancel, by id"
before=$(due 02)
expect 0 '^moved 1 timeout$' pawl timeout move "${id}02" --by 2d --reason "the bank's holiday"
[ "$(date -d "$(due 02)" +%s)" = $(($(date -d "$before" +%s) + 172800)) ] || die "not two days later"
expect 0 '^moved 1 timeout$' pawl timeout move "${id}02" --to 2030-01-01T00:00:00Z
[ "$(due 02)" = 2030-01-01T00:00:00.000000Z ] || die "not at the time that was given: $(due 02)"
expect 0 '^\{"run_now":1,"left":0\}$' pawl timeout run-now "${id}02" --json
expect 0 '^next +is due since ' pawl timeout show "${id}02"
expect 6 "there is no timeout ${id}99" pawl timeout cancel "${id}03" "${id}99"
ids '01 02 03 04 05 06 '
expect 0 '^cancelled 1 timeout$' pawl timeout cancel "${id}03" "${id}03"
ids '01 02 04 05 06 '

echo "== who, when and why"
stream=$(pawl events list --type pawl.timeouts_moved --json |
    sed -nE '1s/.*"stream":"([^"]*)".*/\1/p')
expect 0 "\"headers\":\\{\"by\":\"$(id -un)\",\"reason\":\"the bank's holiday\"\\}.*${id}02.*due" \
    pawl events show "$stream" 1 --json --reveal
expect 0 '"type":"pawl.timeouts_cancelled"' pawl events list --type pawl.timeouts_cancelled --json
lines 1

echo "== in bulk"
expect 0 '^\{"matching":3\}$' pawl timeout move --all --name expire --since 2026-01-01T00:00:00Z \
    --until "$(due 06)" --by 2d --dry-run --json
expect 2 "cancel --all asks first" pawl timeout cancel --all
ids '01 02 04 05 06 '
expect 0 '^would be cancelled: 1 timeout$' pawl timeout cancel --all --saga "$saga" --dry-run
before=$(due 04)
expect 0 '^moved 3 timeouts$' pawl timeout move --all --since "$(due 04)" --by 2d --yes
[ "$(date -d "$(due 04)" +%s)" = $(($(date -d "$before" +%s) + 172800)) ] || die "not two days later"
expect 0 '^run now 5 timeouts$' pawl timeout run-now --all --yes
expect 0 '^\{"cancelled":5,"left":0\}$' pawl timeout cancel --all --yes --json
ids ''
expect 0 '^cancelled 0 timeouts$' pawl timeout cancel --all --yes

echo "== expired leases"
build_sql
fill timeouts 4
"$work/sql" "$work/timeouts.db" "update pawl_timeouts set Attempts = 2" || die "no sql"
expect 0 '^next +.*: for billing.*; 2 failed: the log has the error$' pawl timeout show "${id}01"
"$work/sql" "$work/timeouts.db" "update pawl_timeouts set Attempts = 0" || die "no sql"
expect 2 "pawl timeout reap needs IDs, or --all" pawl timeout reap
expect 0 '^would be reaped: 0 timeouts$' pawl timeout reap --all --dry-run
# lease DIGITS TIME NAME: as a worker that has the timeouts of the name until then.
lease()
{
    "$work/sql" "$work/timeouts.db" "update pawl_timeouts set Owner = '0d150000-0000-4000-8000-000000000${1}7', \
        LeaseExpires = $2 where Name = '$3'" >"$work/said" 2>&1 ||
        die "$(cat "$work/said")"
}
lease 00 1000 remind
lease 01 99999999999999999 expire
expect 0 "^${id}01 +remind +Order +$saga +billing +0d150000-0000-4000-8000-000000000007 +" \
    pawl timeout reap --all --dry-run
grep -qE '^would be reaped: 2 timeouts$' "$work/out" || die "no count: $(cat "$work/out")"
expect 0 '^reaped 0 timeouts; 1 left as they were: no lease that ran out$' pawl timeout reap "${id}02"
expect 0 '"owner":"0d150000' pawl timeout list --json --limit 1
expect 0 '^reaped 2 timeouts$' pawl timeout reap --all --yes --reason 'the machine burnt'
expect 0 '^\{"reaped":0,"left":0\}$' pawl timeout reap --all --yes --json
expect 0 '"owner":null' pawl timeout show "${id}01" --json
expect 0 '"owner":"0d150000' pawl timeout show "${id}02" --json
"$work/sql" "$work/timeouts.db" "update pawl_timeouts set SagaId = '$saga' where Id = '${id}02'" || die "no sql"
"$work/sql" "$work/timeouts.db" "update pawl_timeouts set SagaId = null where Id = '${id}04'" || die "no sql"
expect 0 '"name":"remind"' pawl timeout show "${id}01" --json
expect 0 '"name":"expire"' pawl timeout show "${id}02" --json
expect 0 "^\\{\"id\":\"${id}04\"" pawl timeout show "${id}04" --json
zeros=01000000-0000-0000-0000-000000000000 # the id before it differs in each byte
"$work/sql" "$work/timeouts.db" "update pawl_timeouts set Id = '$zeros' where Id = '${id}04'" || die "no sql"
expect 0 "^\\{\"id\":\"$zeros\"" pawl timeout show $zeros --json
"$work/sql" "$work/timeouts.db" "update pawl_timeouts set Id = '${id}04' where Id = '$zeros'" || die "no sql"
stream=$(pawl events list --type pawl.timeouts_reaped --json | sed -nE '1s/.*"stream":"([^"]*)".*/\1/p')
expect 0 '"reason":"the machine burnt"' pawl events show "$stream" 1 --json --reveal

echo "== set anew while the question stands"
asked 'cancel 4 timeouts of .*, for good?' timeout cancel --all
"$work/sql" "$work/timeouts.db" "update pawl_timeouts set Generation = Generation + 1 where Name = 'remind'"
answered yes 0
grep -q 'cancelled 2 timeouts; 2 left as they were: fired, cancelled or set anew meanwhile' "$work/screen" ||
    die "cancelled what was set anew: $(cat "$work/screen")"
ids '01 03 '
expect 0 '^cancelled 2 timeouts$' pawl timeout cancel --all --yes

echo "== more than a commit"
fill timeouts 600
expect 0 '^moved 600 timeouts$' pawl timeout move --all --by 1h --yes
expect 0 '' pawl events list --type pawl.timeouts_moved --json
lines 6
expect 0 '^cancelled 600 timeouts$' pawl timeout cancel --all --yes
ids ''

echo "== one that an operator sets"
expect 2 "pawl timeout set takes options, not '${id}01'; did you mean show ${id}01" pawl timeout set "${id}01"
expect 2 "needs --saga TYPE/VALUE and --name NAME" pawl timeout set --saga OrderSaga/b-9 --by 1h
expect 2 "needs --by DURATION or --to TIME, one of them" pawl timeout set --saga OrderSaga/b-9 --name payment
expect 2 "needs --by DURATION or --to TIME, one of them" \
    pawl timeout set --saga OrderSaga/b-9 --name payment --by 1h --to 2030-01-01T00:00:00Z
expect 2 "give TYPE/VALUE, or TYPE/ID" pawl timeout set --saga b-9 --name payment --by 1h
expect 2 "needs --app APP.so, or --destination" pawl timeout set --saga "OrderSaga/$saga" --name payment --by 1h
expect 2 "a correlation value is looked up in the tables of --app" pawl timeout set --saga OrderSaga/b-9 --name payment --by 1h --destination orders
expect 2 "pawl timeout set has no option --yes: it is for" \
    pawl timeout set --saga OrderSaga/b-9 --name payment --by 1h --yes
app=(--app "$build_dir/orders.so")
expect 0 '' pawl schema apply "${app[@]}"
start app "$build_dir/orders.so"
expect 0 '' pawl send --to orders --type place_order --body '{"order_id":"b-9","warehouse":"north","total_cents":5}'
began() { pawl why OrderSaga/b-9 "${app[@]}" >/dev/null 2>&1; }
poll 20 began || die "no saga"
expect 2 "has no saga 'Order'" pawl timeout set --saga Order/b-9 --name payment --by 1h "${app[@]}"
expect 2 "OrderSaga of .*orders.so handles no timeout 'paiment'; did you mean payment\?" \
    pawl timeout set --saga OrderSaga/b-9 --name paiment --by 1h "${app[@]}"
expect 6 "there is no saga OrderSaga/$nil; " pawl timeout list --saga "OrderSaga/$nil" "${app[@]}"
expect 6 "there is no saga OrderSaga/$nil" pawl timeout set --saga "OrderSaga/$nil" --name payment --by 1h "${app[@]}"
expect 6 'there is no saga OrderSaga/b-8' pawl timeout set --saga OrderSaga/b-8 --name payment --by 1h "${app[@]}"
expect 0 '^set timeout payment of OrderSaga/b-9 for orders, due in 2 d; before, it was due at 20' \
    pawl timeout set --saga OrderSaga/b-9 --name payment --by 2d "${app[@]}"
expect 0 '^set timeout payment of OrderSaga/b-9 for o\?\[2J, due in 2 d' \
    pawl timeout set --saga OrderSaga/b-9 --name payment --by 2d "${app[@]}" --destination $'o\033[2J'
expect 0 '' pawl timeout set --saga OrderSaga/b-9 --name payment --by 2d "${app[@]}"
"$work/sql" "$work/timeouts.db" "update pawl_timeouts set Headers = '{\"pawl.reply_to\":\"asker\"}', CorrelationId = 'c-7' \
    where Name = 'payment'" || die "no sql"
expect 0 '' pawl timeout set --saga OrderSaga/b-9 --name payment --by 3d "${app[@]}"
kept=$("$work/sql" "$work/timeouts.db" "select Headers || CorrelationId from pawl_timeouts where Name = 'payment'")
[ "$kept" = '{"pawl.reply_to":"asker"}c-7' ] || die "set anew, a timeout has other headers: $kept"
ids "$(pawl timeout list --json | sed -E 's/^\{"id":"[^"]*(..)",.*/\1/') " --name payment
expect 0 '' pawl timeout cancel --all --saga OrderSaga/b-9 --yes --reason 'the bank asked' "${app[@]}"
saga=$(pawl saga show OrderSaga/b-9 "${app[@]}" --json | sed -E 's/.*"id":"([^"]*)","version".*/\1/')
expect 0 "^\{\"set\":1,\"id\":\"[0-9a-f-]{36}\",\"due\":\"2030-01-01T00:00:00.000000Z\",\"was_due\":null\}$" \
    pawl timeout set --saga "OrderSaga/$saga" --name payment --to 2030-01-01T00:00:00Z --destination orders --json
expect 0 "\"name\":\"payment\",\"saga_type\":\"OrderSaga\",\"saga_id\":\"$saga\",.*\"destination\":\"orders\"" \
    pawl timeout list --json
expect 0 '' pawl timeout set --saga OrderSaga/b-9 --name payment --by 1ms --reason 'nothing wakes it' "${app[@]}"
ended() { ! began; }
poll 20 ended || die "the timeout that was set does not fire"
stream=$(pawl events list --type pawl.timeouts_set --json | sed -nE '$s/.*"stream":"([^"]*)".*/\1/p')
expect 0 "\"by\":\"$(id -un)\",\"reason\":\"nothing wakes it\".*OrderSaga.*$saga" \
    pawl events show "$stream" 1 --json --reveal
expect 0 '' pawl events list --type pawl.timeouts_set --json
lines 6
stop "$pid" TERM 0

echo "== timeouts by the thousand are not all in memory"
export PAWL_STORE=sqlite:$work/large.db
expect 0 '' pawl schema apply
python3 - "$work/large.db" "$build_dir/pawl" <<'EOF' || die "timeouts fill the memory, or not each of them comes once"
import json, os, sqlite3, subprocess, sys
rows = 15000
store = sqlite3.connect(sys.argv[1])
with store: # three are due at a time
    store.executemany("""insert into pawl_timeouts (Id, Generation, SagaType, Name, Destination, Due, Attempts, CorrelationId, Headers)
        values (printf('0d150000-0000-4000-8000-%012d', ? * 7919 % 15000), 1, 'Order', ?, ?, 1 + ?, 0, '', ?)""",
        ((n, "remind" if n % 5 else "expire", "billing" if n % 2 else "mail", n // 3, '{"a":"%s"}' % ("x" * 16000)) for n in range(rows)))
def run(*words):
    with open(sys.argv[1] + ".out", "w+") as out:
        run_one = subprocess.Popen([sys.argv[2], "timeout", *words, "--json"], stdout=out, stderr=subprocess.DEVNULL)
        most = os.wait4(run_one.pid, 0)[2].ru_maxrss // 1024
        out.seek(0)
        said = [json.loads(line) for line in out]
    print(*words, len(said), "lines", most, "MB")
    assert most < 150
    return said
def ids(*words):
    found = [(row["due"], row["id"]) for row in run("list", *words)]
    assert found == sorted(set(found))
    return len(found)
assert ids() == rows and ids("--name", "expire") == rows / 5 and ids("--name", "none") == 0
assert ids("--limit", "2500", "--name", "remind") == 2500
assert ids("--since", "1970-01-01T00:00:00.000101Z", "--until", "1970-01-01T00:00:00.002100Z") == 6000
assert run("cancel", "--all", "--name", "remind", "--dry-run") == [{"matching": 12000}]
assert run("reap", "--all", "--dry-run") == [{"matching": 0}]
assert run("move", "--all", "--by", "1s", "--name", "expire", "--yes") == [{"moved": 3000, "left": 0}]
assert ids("--since", "1970-01-01T00:00:01Z") == 3000
with store:
    store.execute("update pawl_timeouts set Headers = '{}', Due = 9")
store.close()
assert ids() == rows and ids("--name", "expire") == rows / 5
EOF
rm "$work/large.db"*
