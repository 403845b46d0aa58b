#!/usr/bin/env bash
# command_saga_letters.sh - a saga that does not go on, on SQLite: the letters that are its own, an operator or
# a message that cancelled its timeout, and sagas that are idle for longer than their type says.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_sql
build_app app_idle.c idle.so
export PAWL_STORE=sqlite:$work/sagas.db PAWL_DRIVER_PATH=$build_dir PAWL_TEST_FAILS=$work/fails
at=(--app "$work/idle.so")
sql() { "$work/sql" "$work/sagas.db" "$1" >"$work/said" 2>&1 || die "no sql: $(cat "$work/said")"; }
post() { expect 0 '' pawl send --to trips --type "$1" --id "$2" --body "$3"; }
letters() # COUNT: dead letters that there are
{
    has dead "$1"
}
# why ID KEY TEXT: the first answer has it.
why()
{
    expect 0 '' pawl why "$1" --json "${at[@]}"
    head -n 1 "$work/out" | grep -qE "\"$2\":\"[^\"]*$3" || die "why $1: no $2 like '$3'"
}
why_not()
{
    expect 0 '' pawl why "$1" --json "${at[@]}"
    ! head -n 1 "$work/out" | grep -qE "\"$2\":\"[^\"]*$3" || die "why $1: $2 is like '$3'"
}
# own WANTED SAGA [OPTION ...]: the ids of its letters, in order.
own()
{
    local wanted=$1 found saga=$2
    shift 2
    expect 0 '' pawl dead list --json --saga "$saga" "${at[@]}" "$@"
    found=$(sed -E 's/^\{"message_id":"([^"]*)".*/\1/' "$work/out" | tr '\n' ' ')
    [ "$found" = "$wanted" ] || die "letters of $saga '$found' instead of '$wanted'"
}

echo "== wrong words"
expect 2 '--saga TYPE/VALUE and --app APP.so go together' pawl dead list --saga Trip/4
expect 2 '--saga TYPE/VALUE and --app APP.so go together' pawl dead list "${at[@]}"
expect 2 '--saga-prefix goes with --saga' pawl dead list --saga-prefix x_
expect 2 '--saga 4: give TYPE/VALUE, or TYPE/ID' pawl dead list --saga 4 "${at[@]}"
expect 2 "--saga is empty" pawl dead list --saga '' "${at[@]}"
expect 0 '' pawl schema apply "${at[@]}"
expect 2 "the program has no saga 'Order'" pawl dead list --saga Order/4 "${at[@]}"
expect 2 'a filter goes with --all' pawl dead retry m-1 --saga Trip/4 "${at[@]}"

echo "== letters by the key, by the conversation, by the timeout"
start app "$work/idle.so" --immediate-retries 0 --delayed-retries 0 --history 1d
post begin b-4 '{"trip":4,"driver":{"name":"ann"}}'
post begin b-5 '{"trip":5,"driver":{"name":"bob"}}'
began() { pawl why Trip/4 "${at[@]}" >/dev/null 2>&1 && pawl why Trip/5 "${at[@]}" >/dev/null 2>&1; }
poll 3 began || die "no sagas"
why Trip/4 waits_for 'a message that it handles \(begin, halt, leg\), or one of its timeouts'
why_not Trip/4 next 'dead letter'
own '' Trip/4
post leg l-1 '{"of":{"trip":4},"km":"many"}'
post leg l-2 '{"of":{"trip":5},"km":"many"}'
post leg l-3 '{"of":{"trip":"x"},"km":3}'
post leg l-4 '{"trip":4,"km":"x"}'
post leg l-5 '{"of":{"trip":4},"km":"x"}'
post begin b-6 '{"trip":6,"driver":7}'
expect 0 '' pawl send --to trips --type report --id r-1 --correlation b-4 --body '{"text":7}'
poll 3 letters 7 || die "no letters: $(number dead)"
sql "update pawl_dead set Body = 'no json' where MessageId = 'l-5'"
own 'l-1 r-1 ' Trip/4
own 'l-2 ' Trip/5
own 'b-6 ' Trip/6
own 'l-1 ' Trip/4 --type leg
own 'l-1 ' Trip/4 --limit 1
own '' Trip/7
why Trip/4 next '2 dead letters are of it, the last r-1 \(report\), dead-lettered at 20[^;]*; 2 dead letters of types that it handles may be its own'
why Trip/4 error 'EDECODE: message report: text: '
grep -q '"place":"dead letter of the saga, by its key of.trip","name":"of endpoint trips, message l-1 (leg)"' "$work/out" ||
    die "the letter is not told of"
grep -q '"place":"dead letter of the saga, by its correlation id","name":"of endpoint trips, message r-1 (report)"' \
    "$work/out" || die "the letter of the conversation is not told of"
grep -q '"pawl dead list --saga Trip/4 --app ' "$work/out" || die "no command for the letters"
grep -q 'l-2' "$work/out" && die "a letter of another saga"
grep -q "\"pawl find --in queue 'correlation=b-4' --store " "$work/out" || die "no command for what waits in a queue"
expect 0 '' pawl send --to elsewhere --type report --id q-1 --correlation b-4 --delay 1h --body '{}'
expect 0 'q-1' pawl find --in queue correlation=b-4 --json
why Trip/6 place 'dead letter of the saga, by its key trip'
why Trip/6 error 'EDECODE: message begin: driver'
expect 0 'sends it to queue trips, where it fails again unless .pawl dead edit. fixes its body' pawl dead show b-6
expect 6 "no saga of this program; messages with its value: pawl find 'body:trip=7' --store 'sqlite:.*'$" pawl why Trip/7 "${at[@]}"
expect 6 'no saga of this program$' pawl why Order/7 "${at[@]}"
expect 0 '' pawl dead list --saga Trip/7 "${at[@]}"
grep -q "^messages with its value, of other types too: pawl find 'body:trip=7' --store 'sqlite:" "$work/err" || die "no command"
expect 0 '' pawl dead list --saga Trip/7 --json "${at[@]}"
[ ! -s "$work/err" ] || die "a word to a script: $(cat "$work/err")"
expect 0 '' pawl dead list --saga Trip/6 "${at[@]}"
[ ! -s "$work/err" ] || die "a word for none beside letters: $(cat "$work/err")"
expect 0 '' pawl dead list --type nothing
[ "$(cat "$work/err")" = 'no dead letter matches' ] || die "a command for no saga: $(cat "$work/err")"
id=$(pawl saga show Trip/4 "${at[@]}" --json | sed -E 's/.*"id":"([^"]*)","version".*/\1/')
own 'l-1 r-1 ' "Trip/$id"

echo "== the letter of a timeout is its saga's"
touch "$work/fails"
expect 0 '' pawl timeout run-now --all --saga Trip/5 --yes "${at[@]}"
poll 3 letters 8 || die "the timeout does not die"
rm "$work/fails"
expect 0 '' pawl dead list --saga Trip/5 --json "${at[@]}"
lines 2
grep -q '"type":"late"' "$work/out" || die "no letter of the timeout"
late=$(sed -n 's/.*"message_id":"\([^"]*\)".*"type":"late".*/\1/p' "$work/out")
expect 0 'sets the timeout of its saga again, unless the saga has, due now, for queue trips' pawl dead show "$late"
grep -q 'fails again' "$work/out" && die "a timeout that its handler rejected is said to fail again"
sql "update pawl_dead set Code = 'EDECODE' where MessageId = '$late'"
expect 0 'due now, for queue trips, where it fails again unless another program handles it' pawl dead show "$late"
sql "update pawl_dead set Code = 'REJECT' where MessageId = '$late'"
why Trip/5 error 'REJECT: the file fails'
why Trip/5 next 'nothing wakes it by itself, only a message; 2 dead letters are of it'

echo "== in bulk, of one saga alone"
expect 0 '^would be retried: 2 dead letters' pawl dead retry --all --saga Trip/4 "${at[@]}" --dry-run
expect 0 '^discarded 2 dead letters$' pawl dead discard --all --saga Trip/4 "${at[@]}" --yes
grep -qF -- "--app '$work/idle.so' --saga 'Trip/4'" "$work/err" || die "the command that goes on is another"
own '' Trip/4
own 'l-2 ' Trip/5 --type leg
has dead 6 || die "others were discarded: $(number dead)"

echo "== more letters than a page"
# copies SIZE: of a letter, 1000 with twice as many bytes more; each 100th is of the other saga.
copies()
{
    sql "insert into pawl_dead with recursive c(n) as (select 100 union all select n + 1 from c where n < 1099)
        select Endpoint, Queue, 'x-' || n, Type, 'x-' || n, CausationId, Code, Attempts, Deaths, At + n, Error, History,
        Headers, replace(case n % 100 when 0 then replace(Body, ':5}', ':4}') else Body end, '\"km\"',
            '\"note\":\"' || hex(zeroblob($1)) || '\",\"km\"') from pawl_dead, c where MessageId = 'l-2'"
}
if ! grep -qaE '__[at]san_init' "$build_dir/libpawl.so"; then # these reserve terabytes
    copies 60000
    # All bodies are 120 MB, those of a page 31 MB.
    limited() { (ulimit -v 185000 && exec "$build_dir/pawl" "$@"); }
    expect 0 '' limited dead list --saga Trip/4 --json "${at[@]}"
    lines 10
    sql "delete from pawl_dead where MessageId like 'x-%'"
fi
copies 0
expect 0 '' pawl dead list --saga Trip/4 --json "${at[@]}"
lines 10
expect 0 '' pawl dead list --saga Trip/4 --limit 3 --json "${at[@]}"
lines 3
expect 0 '^\{"matching":10,' pawl dead retry --all --saga Trip/4 "${at[@]}" --dry-run --json
expect 0 '^discarded 10 dead letters$' pawl dead discard --all --saga Trip/4 "${at[@]}" --yes
expect 0 '^discarded 996 dead letters$' pawl dead discard --all --yes

echo "== who cancelled its timeout"
expect 0 '' pawl timeout set --saga Trip/5 --name late --by 1h "${at[@]}"
expect 0 '^cancelled 1 timeout$' pawl timeout cancel --all --saga Trip/5 --yes --reason 'of another' "${at[@]}"
why_not Trip/4 next 'nothing wakes it'
expect 0 '^cancelled 1 timeout$' pawl timeout cancel --all --saga Trip/4 --yes --reason 'by mistake' "${at[@]}"
why Trip/4 waits_for 'a message that it handles \(begin, halt, leg\); it has no timeout'
expect 0 '' pawl timeout set --saga Trip/5 --name late --by 1h "${at[@]}"
expect 0 '^cancelled 1 timeout$' pawl timeout cancel --all --saga Trip/5 --yes --reason 'of another' "${at[@]}"
why Trip/4 next "nothing wakes it by itself, only a message: its timeout late was cancelled by $(id -un) at 20[^ ]*Z: by mistake\""
set_it=$(sed -nE '1s/.*"(pawl timeout set [^"]*)".*/\1/p' "$work/out")
PATH=$build_dir:$PATH bash -c "$set_it" >"$work/pasted" 2>"$work/err" || die "the command fails: $set_it"
why Trip/4 waits_for 'or one of its timeouts'
post halt h-4 '{"trip":4}'
halted() { pawl timeout list --saga Trip/4 "${at[@]}" --json 2>/dev/null | grep -q . && return 1 || return 0; }
poll 3 halted || die "the timeout is not cancelled"
why Trip/4 next 'its timeout late was cancelled by its message h-4 \(halt\) at 20'
why Trip/5 since '20'

echo "== idle sagas"
finding() # LEVEL TEXT
{
    pawl doctor --json "${at[@]}" >"$work/out" 2>"$work/err"
    grep -qE "\"check\":\"sagas\",\"level\":\"$1\",\"text\":\"[^\"]*$2" "$work/out"
}
pawl doctor --json >"$work/out" 2>"$work/err"
grep -q '"check":"sagas","level":"ok","text":"not checked: --app' "$work/out" || die "no word of --app"
finding ok 'each that was not saved for .idle_after has a timeout' || die "a saga is idle too early"
pawl saga show Trip/4 "${at[@]}" --json | grep -qE '"metadata":\{[^}]*"Changed":"20[^"]*Z"' || die "no time of the save"
sql "update trips_Trip set Metadata = json_set(Metadata, '\$.Changed', '2026-01-02T03:04:05Z') where Correlation_trip = 4"
finding warn 'nothing wakes 1 saga of Trip: no timeout, and not saved for longer than 1 h \(.idle_after\); the oldest is Trip/4, saved ' ||
    die "doctor does not find it"
grep '"check":"sagas"' "$work/out" | grep -qF "\"remedy\":\"pawl why Trip/4 --app $work/idle.so --store " || die "another remedy"
why Trip/4 since '2026-01-02T03:04:05'
sql "update trips_Trip set Metadata = json_set(Metadata, '\$.Changed', '2026-01-02T03:04:04Z') where Correlation_trip = 5"
finding warn 'nothing wakes 2 sagas of Trip: .*; the oldest is Trip/5' || die "doctor does not find both"
expect 0 '' pawl timeout set --saga Trip/5 --name late --by 1h "${at[@]}"
finding warn 'nothing wakes 1 saga of Trip: .* the oldest is Trip/4' || die "one with a timeout is said to be idle"
post leg l-9 '{"of":{"trip":4},"km":3}'
changed() { finding ok 'each that was not saved'; }
poll 3 changed || die "a saga that was saved is said to be idle"
stop "$pid" TERM 0
echo ok
