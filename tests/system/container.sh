#!/usr/bin/env bash
# container.sh - what dist/container/Dockerfile relies on: its rules, its health check against a program that runs, and
# that `pawl run` ends in order as process 1, for which the system ignores signals without a handler.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
file=$source_dir/dist/container/Dockerfile
rules=$source_dir/tests/support/dockerfile.py

echo "== the rules"
python3 "$rules" check "$file" || die "rules are broken"
for break in 's/^FROM .*/FROM debian:latest/' 's/^USER .*/USER root/' '/^STOPSIGNAL/d' '/^USER/d' \
    's/^ENTRYPOINT.*/ENTRYPOINT pawl/' 's/--no-install-recommends//' 's/CMD \["bash"/CMD ["bash/' 's/ && rm -rf/ ; rm -rf/' \
    's/^HEALTHCHECK.*/HEALTHCHECK NONE/'; do
    sed "$break" "$file" >"$work/broken"
    ! cmp -s "$work/broken" "$file" || die "$break changes nothing"
    ! python3 "$rules" check "$work/broken" >/dev/null || die "$break passes"
done

echo "== the health check"
need_sqlite
export PAWL_STORE=sqlite:$work/store.db
export PAWL_TEST_BUSY=$work/busy
build_app app_pair.c app.so
expect 0 '' pawl schema apply --app "$work/app.so"
port=$(free_port)
mapfile -t health < <(python3 "$rules" health "$file" | sed "s/9464/$port/")
! "${health[@]}" 2>/dev/null || die "healthy, and nothing runs"
if [ -e "$build_dir/libpawl-observe.so" ]; then
    start served "$work/app.so" --http "0.0.0.0:$port"
    "${health[@]}" || die "a program that runs is not healthy"
    stop "$pid" TERM 0
    ! "${health[@]}" 2>/dev/null || die "healthy, and nothing runs any more"
fi

# as_first NAME OPTION ...: `pawl run` as process 1 of a name space of processes; $pid is its id outside, $unshared its
# parent, which ends with its exit code.
as_first()
{
    local name=$1 parent
    shift
    : >"$work/$name.log"
    unshare "${spaces[@]}" "$build_dir/pawl" run "$work/app.so" "$@" 2>"$work/$name.log" </dev/null &
    parent=$!
    started+=("$parent")
    poll 20 grep -q "is running" "$work/$name.log" || die "$name does not start: $(cat "$work/$name.log")"
    pid=$(cat "/proc/$parent/task/$parent/children")
    pid=${pid%% *}
    [ "$(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status")" = 1 ] || die "it is not process 1"
    started+=("$pid")
    unshared=$parent
}

# ends_in_order NAME: a handler runs, the first signal comes, and the handler ends.
ends_in_order()
{
    expect 0 '^sent ' pawl send --to left --type stubborn --body '{}' --id "$1"
    poll 20 test -e "$work/busy" || die "the handler does not begin"
    kill -TERM "$pid"
    rm "$work/busy" # a handler that was not waited for has its message left
    wait "$unshared"
    found=$?
    [ $found = 0 ] || die "exit code $found after SIGTERM: $(cat "$work/$1.log")"
    grep -q "endpoint 'left' stopped" "$work/$1.log" || die "no word that the endpoint stopped: $(cat "$work/$1.log")"
    has_ready left 0 || die "the message is not handled"
    has workers 0 || die "a worker is left"
}

echo "== process 1 ends in order"
spaces=(--pid --fork --mount-proc)
[ "$(id -u)" = 0 ] || spaces+=(--user --map-root-user)
unshare "${spaces[@]}" true 2>/dev/null || skip "no name space of processes of one's own here"
as_first plain --endpoint left
ends_in_order plain
as_first restarted --endpoint left --restart
ends_in_order restarted
