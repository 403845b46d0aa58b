#!/usr/bin/env bash
# command_queue_postgres.sh - pawl queue move on PostgreSQL: two commands at once take each message once, and none fails;
# messages that another one gives back behind the scan are taken, too.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_schema queue_take_test
export PAWL_STORE=$store PAWL_DRIVER_PATH=$build_dir
expect 0 "" pawl schema apply

for round in 1 2 3; do
    seq 3000 | sed 's/.*/{"n":&}/' >"$work/lines"
    "$build_dir/pawl" send --to line --type note --lines <"$work/lines" >"$work/out" 2>"$work/err" || die "$(cat "$work/err")"
    pids=()
    for i in 1 2; do
        "$build_dir/pawl" queue move line "to$round" --yes --json >"$work/move$i.out" 2>"$work/move$i.err" </dev/null &
        pids+=($!)
    done
    for i in 1 2; do wait "${pids[i - 1]}" || die "move $i ended with $?: $(cat "$work/move$i.err")"; done
    moved=$(($(sed -E 's/.*"moved":([0-9]+).*/\1/' "$work"/move?.out | paste -sd+)))
    [ "$moved" = 3000 ] || die "they moved $moved messages: $(cat "$work"/move?.out)"
    [ "$(queue_ready "to$round")" = 3000 ] || die "$(queue_ready "to$round") messages are in the other queue"
done

echo "== messages that were in flight when the scan came by are taken at its end"
seq 400 | sed 's/.*/{"n":&}/' >"$work/lines"
"$build_dir/pawl" send --to line --type note --lines <"$work/lines" >"$work/out" 2>"$work/err" || die "$(cat "$work/err")"
mkfifo "$work/held"
psql -XAtq "$url" <"$work/held" >"$work/psql" 2>&1 &
exec 3>"$work/held"
echo "begin; select count(*) from (select 1 from $schema.pawl_queue where \"Queue\" = 'line' order by \"Seq\" limit 20 for update) as held;" >&3
poll 60 grep -qx 20 "$work/psql" || die "the messages are not locked: $(cat "$work/psql")"
"$build_dir/pawl" queue move line else --yes --rate 200 --json >"$work/out" 2>"$work/err" </dev/null &
pid=$!
poll 60 eval '[ "$(queue_ready else)" -ge 20 ]' || die "nothing is moved: $(cat "$work/err")"
echo "commit;" >&3
exec 3>&-
wait $pid || die "the move ended with $?: $(cat "$work/err")"
grep -q '"moved":400,"left":0,' "$work/out" || die "messages that were given back are left: $(cat "$work/out")"

echo "== a bulk action says how many messages in flight it left"
expect 0 '' pawl bulk start --json -- queue move else back
id=$(sed -nE 's/^\{"id":"([0-9a-f]{8})".*/\1/p' "$work/out")
psql -XAtq "$url" <"$work/held" >"$work/psql" 2>&1 &
exec 3>"$work/held"
echo "begin; select count(*) from (select 1 from $schema.pawl_queue where \"Queue\" = 'else' order by \"Seq\" limit 3 for update) as held;" >&3
poll 60 grep -qx 3 "$work/psql" || die "the messages are not locked: $(cat "$work/psql")"
expect 0 '"moved":397,"left":3,' pawl bulk run "$id" --json
expect 0 '"state":"finished","done":397,"total":400,"left":3,' pawl bulk show "$id" --json
expect 0 "^$id  finished +397 +400 +3 " pawl bulk list
exec 3>&-

echo "== messages due before year 1 are seen, found and taken as any others, page by page"
seq 2500 | sed 's/.*/{"n":&}/' >"$work/lines"
"$build_dir/pawl" send --to old --type note --lines <"$work/lines" >"$work/out" 2>"$work/err" || die "$(cat "$work/err")"
psql -XAtq "$url" -c "update $schema.pawl_queue set \"Due\" = '-infinity' where \"Queue\" = 'old'" \
    -c "update $schema.pawl_queue set \"MessageId\" = 'first' where \"Seq\" = (select min(\"Seq\") from $schema.pawl_queue where \"Queue\" = 'old')"
expect 0 'first' pawl queue peek old
expect 0 'first' pawl queue peek old --id first
expect 0 '^name +old, message first' pawl why first
expect 0 'moved 2500 messages' pawl queue move old older --yes
psql -XAtq "$url" -c "update $schema.pawl_queue set \"Due\" = '-infinity' where \"Queue\" = 'older'"
expect 0 'dead-lettered 2500 messages' pawl queue purge older --yes
