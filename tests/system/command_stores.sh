#!/usr/bin/env bash
# command_stores.sh - stores that cannot be used: each verb says so in one clear
# last line that names the store, with the exit code of the kind of trouble, and
# leaves nothing behind.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

send=(pawl send --to q --type t --body '{}')

echo "== not there"
expect 3 "nosuchscheme" pawl stats --store nosuchscheme:x
expect 2 "'orders.db' is not a URL of a store" pawl stats --store orders.db
for url in "nosuchscheme://me:hush@host/x" "nosuchscheme://host/x?password=hush" "x y://me:hush@host"; do
    for verb in stats "schema apply" "send --to q --type t --body 1" "run $build_dir/orders.so" \
        "outbox list" "outbox retry 1" "outbox discard --all --yes" "events list" "worker list"; do
        # shellcheck disable=SC2086
        pawl $verb --store "$url" >"$work/out" 2>"$work/err" && die "$verb found a store at $url"
        ! grep -q hush "$work/out" "$work/err" || die "$verb shows the password of $url"
    done
done
need_sqlite
build_sql
for verb in "stats" "schema verify" "outbox list" "outbox retry 1" "events list" "worker list"; do
    # shellcheck disable=SC2086
    expect 3 "$work/typo.db" pawl $verb --store "sqlite:$work/typo.db"
    [ ! -e "$work/typo.db" ] || die "$verb made a database of a mistyped path"
done
expect 3 "$work/typo.db" "${send[@]}" --store "sqlite:$work/typo.db"
[ ! -e "$work/typo.db" ] || die "send made a database of a mistyped path"
expect 3 "$work/typo.db" pawl run "$build_dir/orders.so" --create=no --store "sqlite:$work/typo.db"
[ ! -e "$work/typo.db" ] || die "run --create=no made a database"
expect 3 "$work/no/such/folder.db" pawl run "$build_dir/orders.so" --store "sqlite:$work/no/such/folder.db"
expect 3 "$work/no/such/folder.db" pawl schema apply --store "sqlite:$work/no/such/folder.db"
expect 3 "$work" pawl schema apply --store "sqlite:$work"

echo "== not ours"
head -c 8192 /dev/urandom >"$work/noise.db"
cp "$work/noise.db" "$work/noise.before"
expect 3 "$work/noise.db" pawl stats --store "sqlite:$work/noise.db"
expect 3 "$work/noise.db" "${send[@]}" --store "sqlite:$work/noise.db"
expect 3 "$work/noise.db" pawl run "$build_dir/orders.so" --store "sqlite:$work/noise.db"
expect 3 "$work/noise.db" pawl schema apply --store "sqlite:$work/noise.db"
cmp -s "$work/noise.db" "$work/noise.before" || die "a file that is no database was changed"
expect 0 '' pawl schema apply --store "sqlite:$work/whole.db"
head -c 3000 "$work/whole.db" >"$work/cut.db"
expect 3 "$work/cut.db" pawl stats --store "sqlite:$work/cut.db"
expect 3 "$work/cut.db" "${send[@]}" --store "sqlite:$work/cut.db"
mkdir "$work/closed"
chmod 500 "$work/closed"
expect 3 "$work/closed/x.db cannot be made in folder $work/closed: Permission denied$" \
    keep_to_modes "$build_dir/pawl" schema apply --store "sqlite:$work/closed/x.db"
expect 3 "x.db cannot be made in folder [.]: Permission denied$" \
    keep_to_modes env -C "$work/closed" "$build_dir/pawl" schema apply --store sqlite:x.db
expect 3 "/x.db cannot be made in folder $work/none: No such file or directory$" \
    pawl schema apply --store "sqlite:$work/none/x.db"

echo "== ours, and closed to who looks"
mkdir "$work/kept"
cp "$work/whole.db" "$work/kept/x.db"
chmod 444 "$work/kept/x.db"
chmod 555 "$work/kept"
for verb in "stats" "outbox list" "outbox retry 1" "worker list"; do
    # shellcheck disable=SC2086
    expect 3 "kept/x.db: the file or its folder may not be written" \
        keep_to_modes "$build_dir/pawl" $verb --store "sqlite:$work/kept/x.db"
done
chmod 755 "$work/kept"

echo "== schema"
: >"$work/empty.db"
expect 4 "$work/empty.db" pawl stats --store "sqlite:$work/empty.db"
expect 4 "$work/empty.db" "${send[@]}" --store "sqlite:$work/empty.db"
store=sqlite:$work/good.db
expect 0 '' pawl schema apply --store "$store"
expect 0 '^sent ' "${send[@]}" --store "$store"
"$work/sql" "$work/good.db" 'UPDATE pawl_schema SET version = version + 1000' || die "no pawl_schema"
for verb in stats "schema verify" "run $build_dir/orders.so" "send --to q --type t --body {}" \
    "outbox show 1" "events list" "worker list"; do
    # shellcheck disable=SC2086
    expect 4 "$work/good.db" pawl $verb --store "$store"
done
expect 4 "$work/good.db" pawl schema drop --yes --store "$store"
"$work/sql" "$work/good.db" 'UPDATE pawl_schema SET version = version - 1000'
expect 0 '"queue":"q","ready":1,' pawl stats --json --store "$store"

echo "== locked by another program"
mkfifo "$work/held"
"$work/sql" "$work/good.db" hold <"$work/held" >"$work/said" &
started+=($!)
exec 9>"$work/held"
poll 10 grep -q held "$work/said" || die "the lock was not taken"
expect 5 "$work/good.db" "${send[@]}" --store "$store" --deadline 300ms
expect 0 '' pawl outbox list --store "$store" --deadline 300ms
expect 5 "$work/good.db" pawl run "$build_dir/orders.so" --store "$store" --deadline 300ms
expect 5 "$work/good.db" pawl schema drop --yes --store "$store" --deadline 300ms
expect 0 '"queue":"q","ready":1,' pawl stats --json --store "$store"
exec 9>&-
wait "${started[-1]}"
expect 0 '^sent ' "${send[@]}" --store "$store" --deadline 300ms
expect 0 '"queue":"q","ready":2,' pawl stats --json --store "$store"
