#!/usr/bin/env bash
# replay_refusals.sh - logs and stores that pawl-replay cannot use: the exit code
# of the kind of trouble, one clear last line that names the file or the store,
# and nothing half written.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/replay.sh"

header='case:concept:name,concept:name,time:timestamp,org:group'
row='a,x,2020-01-01T00:00:00Z,g'

echo "== logs"
refuse 2 "$work/missing.csv: .*No such file" "$work/missing.csv"
refuse 2 "$work: .*directory" "$work"
: >"$work/empty.csv"
refuse 2 "$work/empty.csv: .*empty" "$work/empty.csv"
echo "$header" >"$work/header.csv"
refuse 2 "$work/header.csv: holds no events" "$work/header.csv"
printf 'case:concept:name,concept:name,when\na,x,2020-01-01 10:00:00\n' >"$work/column.csv"
refuse 2 "$work/column.csv: .*time:timestamp.*when" "$work/column.csv"
printf '%s\n%s\n%s\n' "$header" "$row" 'a,x,yesterday,g' >"$work/time.csv"
refuse 2 "$work/time.csv: line 3: bad timestamp: .*yesterday" "$work/time.csv"
refuse 2 "$work/time.csv: .*no_such" "$work/time.csv" --group-by no_such
gzip -c "$example" | head -c 5000 >"$work/cut.csv.gz"
refuse 2 "$work/cut.csv.gz: " "$work/cut.csv.gz"
printf '<?xml version="1.0"?>\n<log><trace><event>' >"$work/cut.xes"
refuse 2 "$work/cut.xes: " "$work/cut.xes"
if [ "$(id -u)" != 0 ]; then
    cp "$example" "$work/closed.csv"
    chmod 000 "$work/closed.csv"
    refuse 2 "$work/closed.csv: .*denied" "$work/closed.csv"
fi

echo "== stores"
refuse 2 "'memory:x' is gone with the process" "$example" --store memory:x --crash 2
refuse 3 nosuchscheme "$example" --store nosuchscheme:x
refuse 3 "$work/time.csv" "$example" --work "$work/time.csv"
refuse 3 "$work/no/such" "$example" --work "$work/no/such"
TMPDIR=$work/no/such refuse 3 "$work/no/such" "$example"
need_sqlite
for option in --store --archive; do
    refuse 3 "$work/no/such/x.db" "$example" $option "sqlite:$work/no/such/x.db"
    refuse 3 "$work" "$example" $option "sqlite:$work"
    head -c 8192 /dev/urandom >"$work/noise.db"
    cp "$work/noise.db" "$work/noise.before"
    refuse 3 "$work/noise.db" "$example" $option "sqlite:$work/noise.db"
    ! grep -q stays "$work/err" || die "it says that a run stays that never began"
    refuse 3 "$work/noise.db" "$example" $option "sqlite:$work/noise.db" --crash 2
    ! grep -q stays "$work/err" || die "it says that a run stays that never began"
    cmp -s "$work/noise.db" "$work/noise.before" || die "a file that is no database was changed"
done
# A good store beside a bad one is left without tables.
build_sql
refuse 3 "$work/noise.db" "$example" --store "sqlite:$work/good.db" --archive "sqlite:$work/noise.db"
found=$("$work/sql" "$work/good.db" "SELECT count(*) FROM sqlite_master WHERE name LIKE 'replay%'")
[ "$found" = 0 ] || die "$found tables were left in the good store"
# A bad log leaves a good store alone.
refuse 2 "$work/time.csv" "$work/time.csv" --store "sqlite:$work/new.db"
[ ! -e "$work/new.db" ] || die "a store was made for a log that is refused"

echo "== schema of a newer version"
pawl schema apply --store "sqlite:$work/newer.db" >"$work/out" 2>"$work/err" || die "schema apply"
"$work/sql" "$work/newer.db" 'UPDATE pawl_schema SET version = version + 1000'
refuse 4 "$work/newer.db.*newer" "$example" --store "sqlite:$work/newer.db"
refuse 4 "$work/newer.db.*newer" "$example" --archive "sqlite:$work/newer.db"
"$work/sql" "$work/newer.db" 'UPDATE pawl_schema SET version = version - 1000'
verify 2331 300 327 9 51 0 "$example" --store "sqlite:$work/newer.db"

echo "== locked by another program"
store=sqlite:$work/held.db
verify 2331 300 327 9 51 0 "$example" --store "$store"
mkfifo "$work/held"
"$work/sql" "$work/held.db" hold <"$work/held" >"$work/said" &
started+=($!)
exec 9>"$work/held"
poll 10 grep -q held "$work/said" || die "the lock was not taken"
refuse 5 "$work/held.db" "$example" --store "$store" --deadline 300ms
refuse 5 "$work/held.db" "$example" --archive "$store" --deadline 300ms
exec 9>&-
wait "${started[-1]}"
verify 2331 300 327 9 51 0 "$example" --store "$store" --deadline 5s

echo "== a disk that is full"
[ "$(id -u)" = 0 ] || skip "not root: no small disk can be mounted"
disk=$work/disk
mkdir "$disk"
mount -t tmpfs -o size=1m tmpfs "$disk" 2>"$work/err" ||
    skip "no small disk can be mounted here: $(head -n 1 "$work/err")"
finish_disk()
{
    umount "$disk" 2>/dev/null || umount -l "$disk" 2>/dev/null
    finish
}
trap finish_disk EXIT
# Which of the two fills it depends on how fast the machine is.
refuse 5 "$disk/(replay|archive)\\.db" "$example" --work "$disk"
run=$(grep -oE 'run [0-9a-f]{8}' "$work/err" | head -n 1 | cut -d' ' -f2)
[ -n "$run" ] || die "it does not say which run stays"
# What was committed is still there: with more room the run goes on.
mount -o remount,size=256m "$disk" || die "no more room for the disk"
verify 2331 300 327 9 51 0 "$example" --work "$disk" --run "$run"

echo "== an archive in a folder of the run's own stays with a run that was stopped"
rm -f "$disk"/*
mount -o remount,size=1m "$disk" || die "the disk cannot be made small again"
replay "$example" --store "sqlite:$disk/own.db" >"$work/out" 2>"$work/err" </dev/null
found=$?
[ $found = 5 ] || die "exit code $found instead of 5"
run=$(grep -oE 'run [0-9a-f]{8}' "$work/err" | head -n 1 | cut -d' ' -f2)
archive=$(grep -oE "sqlite:[^ ]*/archive.db" "$work/err" | head -n 1)
[ -e "${archive#sqlite:}" ] || die "the archive that stays is not there: $archive"
mount -o remount,size=256m "$disk" || die "no more room for the disk"
verify 2331 300 327 9 51 0 "$example" --store "sqlite:$disk/own.db" --archive "$archive" --run "$run"
