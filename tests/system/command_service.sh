#!/usr/bin/env bash
# command_service.sh - `pawl run` tells systemd that it runs and that it stops; the unit file and
# the manual pages are read by the tools that will read them.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
need_sqlite
build_app app_pair.c pair.so

# A manager's socket: writes each datagram as a line to a file.
cat >"$work/manager.py" <<'END'
import os, socket, sys
address = sys.argv[1]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind("\0" + address[1:] if address.startswith("@") else address)
with open(sys.argv[2], "w", buffering=1) as said:
    said.write("listening\n")
    while True:
        said.write(listener.recv(4096).decode() + "\n")
END

told() # WORD: the manager was told
{
    grep -qsx "$1" "$work/said"
}

for address in "$work/manager" "@pawl-test-$$"; do
    echo "== $address"
    rm -f "$work/said"
    python3 "$work/manager.py" "$address" "$work/said" &
    started+=($!)
    poll 10 told listening || die "the manager does not listen"
    NOTIFY_SOCKET=$address "$build_dir/pawl" run "$work/pair.so" --store "sqlite:$work/$RANDOM.db" 2>"$work/err" &
    runs=$!
    started+=($runs)
    poll 10 told READY=1 || die "not told that it runs"
    ! told STOPPING=1 || die "told too early that it stops"
    kill -TERM $runs
    wait $runs || die "it does not stop well"
    poll 10 told STOPPING=1 || die "not told that it stops"
    [ "$(wc -l <"$work/said")" = 3 ] || die "told something else: $(cat "$work/said")"
done

echo "== a service that cannot start is not ready"
rm "$work/said"
python3 "$work/manager.py" "$work/manager2" "$work/said" &
started+=($!)
poll 10 told listening || die "the manager does not listen"
NOTIFY_SOCKET=$work/manager2 "$build_dir/pawl" run "$work/pair.so" --create no --store "sqlite:$work/missing.db" 2>"$work/err"
[ $? = 3 ] || die "no exit code 3"
[ "$(cat "$work/said")" = listening ] || die "told: $(cat "$work/said")"

echo "== a socket that nobody has is said, and it runs all the same"
warned() # ADDRESS REASON
{
    : >"$work/err" # what the run before said is not of this one
    NOTIFY_SOCKET=$1 "$build_dir/pawl" run "$work/pair.so" --store "sqlite:$work/alone.db" 2>"$work/err" &
    runs=$!
    started+=($runs)
    poll 10 grep -q "endpoint '.*' is running" "$work/err" || die "it does not run"
    kill -TERM $runs
    wait $runs || die "it does not stop well"
    grep -q "warning NOTIFY_SOCKET: cannot connect to $1: $2" "$work/err" || die "no warning"
}
warned "$work/nobody" "No such file"
warned "/$(printf '%0120d' 0)" "File name too long"

echo "== the unit file"
if command -v systemd-analyze >/dev/null; then
    mkdir "$work/units"
    sed "s|^ExecStart=pawl |ExecStart=$build_dir/pawl |; /^Documentation=/d" "$source_dir/dist/pawl@.service" \
        >"$work/units/pawl@.service"
    systemd-analyze verify "$work/units/pawl@.service" >"$work/out" 2>&1 || die "systemd refuses the unit"
    ! grep -q 'pawl@' "$work/out" || die "systemd says something of the unit"
else
    echo "systemd-analyze is not installed: the unit was not read"
fi

echo "== the manual pages"
if command -v groff >/dev/null; then
    for verb in '' $(pawl completion words -- '' | cut -f1); do
        # shellcheck disable=SC2086 # no verb is no word
        pawl help --man $verb >"$work/page" || die "no page of '$verb'"
        groff -man -ww -Tascii -P-cbou "$work/page" >"$work/text" 2>"$work/err" || die "groff refuses $verb"
        [ ! -s "$work/err" ] || die "groff warns of $verb"
        for heading in NAME SYNOPSIS 'EXIT STATUS'; do
            grep -qx "$heading" "$work/text" || die "$verb has no $heading"
        done
        for option in $(pawl help $verb | sed -n 's/^  \(--[a-z-]*\) .*/\1/p'); do
            grep -qE -- "^ +$option( |$)" "$work/text" || die "$option of $verb is not in its page"
        done
    done
else
    echo "groff is not installed: the pages were not read"
fi
