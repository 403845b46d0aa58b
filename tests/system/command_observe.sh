#!/usr/bin/env bash
# command_observe.sh - `pawl run --http --otlp`: pages of a running command, and
# what it says when it cannot. promtool, where it is installed, reads the metrics.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
[ -e "$build_dir/libpawl-observe.so" ] || skip "the module observe is not built"
build_app app_pair.c pair.so
export PAWL_STORE=sqlite:$work/run.db

# get PORT PATH: the page with its headers in $work/page.
get()
{
    exec 3<>"/dev/tcp/127.0.0.1/$1" || return 1
    printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&3
    tr -d '\r' <&3 >"$work/page"
    exec 3>&-
}

# page REGEX: the page that get left has such a line.
page()
{
    grep -qE -- "$1" "$work/page" || die "no line '$1' in $(cat "$work/page")"
}

echo "== O23 two endpoints on one port"
start pair "$work/pair.so" --http 0
poll 10 grep -q "/metrics on 127.0.0.1 port" "$work/pair.log" || die "no port in the log"
port=$(sed -nE 's|.*/metrics on 127.0.0.1 port ([0-9]+)$|\1|p' "$work/pair.log")
for name in left right; do
    poll 10 grep -q "endpoint '$name' is running" "$work/pair.log" || die "$name does not run"
done
[ "$(grep -c '/metrics on' "$work/pair.log")" = 1 ] || die "more than one server"
get "$port" /livez && page '^HTTP/1.1 200 ' && page '^alive$'
get "$port" /readyz && page '^HTTP/1.1 200 ' && page '"status":"healthy"'
get "$port" /metrics && page '^HTTP/1.1 200 '
for name in left right; do
    page "^pawl_outbox_attempts_total\{endpoint=\"$name\",outcome=\"success\"\} 0$"
done
page '^pawl_store_up 1$'
page '^pawl_outbox_pending 0$'
if command -v promtool >/dev/null; then
    sed '1,/^$/d' "$work/page" | promtool check metrics || die "promtool refuses the page"
fi
expect 2 'cannot listen on 127.0.0.1 port .*: Address already in use' \
    pawl run "$work/pair.so" --store "sqlite:$work/other.db" --http "$port"
stop "$pid" TERM 0

echo "== O23 words that are refused"
for word in '' x 1x 65536 :80 127.0.0.1: -1; do
    expect 2 '--http: expected PORT or ADDRESS:PORT' pawl run "$work/pair.so" --http "$word"
done
expect 2 'is not a numeric address' pawl run "$work/pair.so" --http localhost:0
expect 2 'neither http:// nor https://' pawl run "$work/pair.so" --otlp collector:4318
expect 2 'observe.otlp has a port that is not a number' pawl run "$work/pair.so" --store nowhere:x --otlp http://h:99999

echo "== O23 without the module its package is named"
mkdir "$work/alone"
cp "$build_dir/pawl" "$work/alone/"
cp -P "$build_dir"/libpawl.so* "$work/alone/"
expect 3 'install the package libpawl5-driver-observe' \
    env -u PAWL_DRIVER_PATH "$work/alone/pawl" run "$work/pair.so" --store memory:x --http 0
