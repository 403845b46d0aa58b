#!/usr/bin/env bash
# replay_program.sh - pawl-replay on whole logs: the report for people and for
# programs, stores of the user's choice, and what is left behind.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"

echo "== words"
replay --help >"$work/out" 2>"$work/err" || die "--help fails"
grep -q -e '--batch-messages N' "$work/out" || die "--help does not list the options"
if grep -q -e '--child\|--workers' "$work/out"; then
    die "--help lists what is not for people"
fi
replay --version | grep -qE '^pawl-replay [0-9]+\.' || die "--version"
refuse 2 'no log given' --json
refuse 2 "no option '--bach'" "$example" --bach 3
refuse 2 "one log at a time: '.*' or 'b.csv'" "$example" b.csv
refuse 2 '--batch needs a value' "$example" --batch
refuse 2 "--batch: '0' is not a number from 1 to 10000" "$example" --batch 0
refuse 2 "--batch: '7x' is not a number" "$example" --batch=7x
refuse 2 "--quiet: '3 weeks' is not a duration" "$example" --quiet '3 weeks'
refuse 2 "--quiet: '0' is not a time" "$example" --quiet 0
refuse 2 "--quiet: '99999999d' is too long" "$example" --quiet 99999999d
refuse 2 '--store: the value is empty' "$example" --store ''
refuse 2 '--json takes no value' "$example" --json=yes
refuse 2 '--workers: .*one thread' "$example" --workers 2

echo "== memory"
verify 2331 300 327 9 51 0 "$example" --store memory:a --archive memory:b
verify 2331 300 327 9 51 0 "$example" --store memory:a --archive memory:a
verify 2331 300 327 9 51 0 "$example" --store memory:a --archive memory:b --batch-messages 1
verify 2331 300 327 9 51 0 --store memory:a --archive memory:b --batch-messages=4096 -- "$example"
# As many batches as events; one batch for each group; other durations.
verify 2331 300 327 9 2331 0 "$example" --store memory: --archive memory:b --batch 1
verify 2331 300 327 9 9 0 "$example" --store memory: --archive memory:b --batch 10000
verify 2331 300 300 9 51 0 "$example" --store memory: --archive memory:b --quiet 3650d
for quiet in 1d 86400 1ms; do
    replay "$example" --store memory: --archive memory:b --quiet $quiet >"$work/out" 2>"$work/err" ||
        die "--quiet $quiet is not verified"
    [[ $(tail -n 1 "$work/out") == verified* ]] || die "--quiet $quiet: the last line"
done

echo "== a log of corner cases"
{
    echo 'case:concept:name,concept:name,time:timestamp,org:group'
    echo 'a,x,1970-01-01T00:00:00Z,g'          # due at 0
    echo 'a,x,1969-12-31T23:59:59Z,'           # before the epoch, and no group
    echo 'b,x,1970-01-01T00:00:10Z,g'          # two at one time, in file order
    echo 'a,x,1970-01-01T00:00:10Z,g'          # exactly the quiet period: closed before
    echo '"c d",x,1970-01-01T00:00:19.999999Z,'
    printf '%s,x,1970-01-01T00:00:20Z,%s\n' "$(printf 'é%.0s' {1..200})" "$(printf 'g%.0s' {1..200})"
    echo 'b,x,9999-12-31T23:59:49.999998Z,g'   # its closing is in the last moment there is
} >"$work/corners.csv"
for batch in 1 2 3 256; do
    verify 7 4 6 3 4 0 "$work/corners.csv" --quiet 10 --batch 2 --batch-messages $batch \
        --store memory: --archive memory:b
done
sed 's/49.999998Z/49.999999Z/' "$work/corners.csv" >"$work/late.csv"
refuse 2 'late.csv: the last event, at 9999-12-31T23:59:49.999999Z, leaves no quiet period' \
    "$work/late.csv" --quiet 10

need_sqlite
echo "== files"
replay "$example" >"$work/out" 2>"$work/err" || die "the example is not verified"
[[ $(tail -n 1 "$work/out") == verified* ]] || die "the last line does not begin 'verified'"
grep -qE '^archived +327 ' "$work/out" || die "no line for archived"
[ ! -s "$work/err" ] || die "something on standard error"
no_folder_left

verify 2331 300 327 9 51 0 "$example" --work "$work/kept"
if ! [ -s "$work/kept/replay.db" ] || ! [ -s "$work/kept/archive.db" ]; then
    die "--work keeps no files"
fi
grep -qE 'run [0-9a-f]{8} stays in .*/kept/replay.db and .*/kept/archive.db' "$work/err" || die "it does not say what stays"

echo "== two runs on one file, one after the other and with what is there"
build_sql
tables()
{
    "$work/sql" "$1" "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
}
file=$work/one.db
: >"$file"
"$work/sql" "$file" 'CREATE TABLE mine (a); INSERT INTO mine VALUES (7)' || die "no table of mine"
verify 2331 300 327 9 51 0 "$example" --store "sqlite:$file" --archive "sqlite:$work/two.db"
[ "$(tables "$file")" = 1 ] || die "tables of the run were left"
verify 2331 300 327 9 51 0 "$example" --store "sqlite:$file" --archive "sqlite:$work/two.db" --keep
first=$(tables "$file")
[ "$first" -gt 5 ] || die "--keep left $first tables"
verify 2331 300 327 9 51 0 "$example" --store "sqlite:$file" --archive "sqlite:$file" --keep
[ "$(tables "$file")" -gt "$first" ] || die "the second run has no tables of its own"
[ "$("$work/sql" "$file" 'SELECT a FROM mine')" = 7 ] || die "what was there is gone"
no_folder_left

echo "== not verified"
# A report that cannot fail would prove nothing: a run that was verified is
# changed by hand, one thing at a time, and looked at again.
verify 2331 300 327 9 51 0 "$example" --work "$work/changed"
run=$(grep -oE 'run [0-9a-f]{8}' "$work/err" | cut -d' ' -f2)
again=("$example" --work "$work/changed" --run "$run")
verify 2331 300 327 9 51 0 "${again[@]}"
differs()
{
    local file=$work/changed/$1.db change=$2 regex=$3
    cp "$file" "$work/before.db"
    "$work/sql" "$file" "${change//@/replay_${run}_}" || die "cannot change: $change"
    replay "${again[@]}" >"$work/out" 2>"$work/err"
    [ $? = 1 ] || die "verified after: $change"
    [[ $(tail -n 1 "$work/out") == "NOT verified"* ]] || die "the last line after: $change"
    grep -qE "^differs: $regex" "$work/out" || die "no line 'differs: $regex' after: $change"
    replay "${again[@]}" --json >"$work/out" 2>"$work/err"
    [ $? = 1 ] || die "--json: verified after: $change"
    grep -q '^{.*"verified":false,"kills":0}$' "$work/out" || die "--json: after: $change"
    [ "$(wc -l <"$work/out")" = 1 ] || die "--json: more than one line after: $change"
    grep -qE "^differs: $regex" "$work/err" || die "--json: not on standard error: $change"
    cp "$work/before.db" "$file"
    rm -f "$file-wal" "$file-shm"
}
one='WHERE rowid = (SELECT min(rowid) FROM'
differs archive "UPDATE \"@ArchivedCase\" SET Data = json_set(Data, '\$.closings', 9) $one \"@ArchivedCase\")" \
    'case .*: 9 closings of '
differs archive "UPDATE \"@ArchivedCase\" SET Data = json_set(Data, '\$.misplaced', 1) $one \"@ArchivedCase\")" \
    'case .*: 1 events or closings not at their time'
differs archive "DELETE FROM \"@ArchivedCase\" $one \"@ArchivedCase\")" 'case .*: not archived'
differs replay "UPDATE \"@GroupTally\" SET Data = json_set(Data, '\$.batches', 1) $one \"@GroupTally\")" \
    'group .*: 1 batches of '
differs replay "UPDATE \"@GroupTally\" SET Data = json_set(Data, '\$.uneven', 2) $one \"@GroupTally\")" \
    'group .*: 2 batches of another size'
differs replay "UPDATE \"@Reader\" SET Data = json_set(Data, '\$.closings', 1)" 'closings: 1, expected 327'
sed 2d "$example" >"$work/shorter.csv"
refuse 2 "shorter.csv: this is not the log that run $run was begun with, which had 2331 events" \
    "$work/shorter.csv" --work "$work/changed" --run "$run"
refuse 2 "--run: 'x' is not the name of a run" "$example" --run x

echo "== shared logs"
log=$(shared receipt.csv)
[ -n "$log" ] || without_shared "there is no receipt.csv in the shared data"
verify 8577 1434 1470 10 177 0 "$log"
log=$(shared roadtraffic100.xes)
[ -n "$log" ] || without_shared "there is no roadtraffic100.xes in the shared data"
verify 390 100 299 55 60 0 "$log" --group-by org:resource
gzip -c "$log" >"$work/roadtraffic100.xes.gz"
verify 390 100 299 55 60 0 "$work/roadtraffic100.xes.gz" --group-by org:resource
