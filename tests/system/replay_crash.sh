#!/usr/bin/env bash
# replay_crash.sh - pawl-replay --crash: killed again and again, the report stays
# the same.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"
need_sqlite

# Kills are spread over the log: the last one is behind its half, so not all are in the first tenth. The last position
# is that of the child that came to the end.
is_spread()
{
    awk '{ at[NR] = $1 } END { last = at[NR - 1]; exit !(NR > 1 && last * 2 > at[NR]) }' "$1"
}

check_spread()
{
    is_spread "$work/positions" || die "the $1 kills are not spread over the log: $(tr '\n' ' ' <"$work/positions")"
}

# The check is first tried on made-up positions: ten kills in the first 303 of 8,577 events, and ten that are spread.
check_positions()
{
    printf '%s\n' 12 40 71 99 130 160 201 250 281 303 8577 >"$work/positions"
    is_spread "$work/positions" && die "kills in the first tenth pass for spread"
    printf '%s\n' 200 1100 2400 3100 4000 5100 5900 6400 7300 8200 8577 >"$work/positions"
    is_spread "$work/positions" || die "spread kills do not pass"
}

# The lines that say how far each child came, and that they came further.
check_children()
{
    local kills=$1 count
    count=$(grep -cE '^pawl-replay: kill [0-9]+ of [0-9]+: child [0-9]+ came to event [0-9]+ of [0-9]+, [1-9][0-9]* commits' "$work/err")
    [ "$count" = "$kills" ] || die "$count lines about $kills kills"
    grep -qE "^pawl-replay: the end: child $((kills + 1)) came to event ([0-9]+) of \1," "$work/err" ||
        die "no line about the child that came to the end"
    grep -oE 'came to event [0-9]+' "$work/err" | grep -oE '[0-9]+' >"$work/positions"
    sort -n -c "$work/positions" || die "a child came less far than the one before"
    check_spread "$kills"
}

echo "== the check of where the kills are"
check_positions

echo "== the example"
for seed in 1 2 3; do
    verify 2331 300 327 9 51 5 "$example" --crash 5 --seed $seed
    check_children 5
done
verify 2331 300 327 9 51 3 "$example" --crash 3 --batch-messages 8 --store "sqlite:$work/a.db" \
    --archive "sqlite:$work/a.db"
no_folder_left

echo "== not enough kills"
printf 'case:concept:name,concept:name,time:timestamp\na,x,2020-01-01 10:00:00\nb,x,2020-01-02 10:00:00\n' >"$work/short.csv"
replay "$work/short.csv" --crash 100 --json >"$work/out" 2>"$work/err"
[ $? = 1 ] || die "100 kills in two events"
grep -q '"verified":false' "$work/out" || die "verified without its kills"
grep -qE '^differs: [0-9]+ of 100 kills were delivered' "$work/err" || die "it does not say why"
[ "$(wc -l <"$work/out")" = 1 ] || die "more than one line on standard output"
no_folder_left

echo "== interrupted"
: >"$work/err" # what it says below is of this run
"$build_dir/pawl-replay" "$example" --crash 1000 --batch-messages 1 --store "sqlite:$work/b.db" >"$work/out" 2>"$work/err" &
pid=$!
started+=("$pid")
poll 20 grep -q 'kill 2 of' "$work/err" || die "no kill in 20 s"
stop "$pid" TERM 5
[[ $(tail -n 1 "$work/err") == "pawl-replay: interrupted; "* ]] || die "the last line"
[ ! -s "$work/out" ] || die "a report of an interrupted run"
# The archive is part of what stays.
archive=$(grep -oE "sqlite:[^ ]*/archive.db" "$work/err" | head -n 1)
[ -e "${archive#sqlite:}" ] || die "the archive that stays is not there: $archive"
run=$(grep -oE 'run [0-9a-f]{8}' "$work/err" | head -n 1 | cut -d' ' -f2)
verify 2331 300 327 9 51 0 "$example" --store "sqlite:$work/b.db" --archive "$archive" --run "$run"
rm -r "$(dirname "${archive#sqlite:}")"

echo "== a shared log"
log=$(shared receipt.csv)
[ -n "$log" ] || without_shared "there is no receipt.csv in the shared data"
verify 8577 1434 1470 10 177 10 "$log" --crash 10
check_children 10
