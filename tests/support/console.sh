# console.sh - `pawl console` and its browser for tests; sourced.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
[ -e "$build_dir/libpawl-observe.so" ] || skip "the module that serves pages was not built"
build_fill
export PAWL_DRIVER_PATH=$build_dir

need_browser()
{
    command -v chromedriver >/dev/null && command -v chromium >/dev/null || skip "chromium and chromedriver are not installed"
}

# console OPTION ...: starts one at a free port; `at` is its address.
console()
{
    rm -f "$work/console.err"
    "$build_dir/pawl" console --listen 127.0.0.1:0 "$@" >"$work/console.out" 2>"$work/console.err" &
    pid=$!
    started+=("$pid")
    poll 60 grep -qs 'console of' "$work/console.err" || die "it does not start: $(cat "$work/console.err")"
    at=$(sed -nE 's,.* at (http://[^/]*)/.*,\1,p' "$work/console.err")
}

# story NAME[,NAME ...] WORD ...: what a user does in a browser (console_story.py).
story()
{
    python3 "$source_dir/tests/support/console_story.py" "$at" "$@" >"$work/out" 2>"$work/err" || die "on ${name:-$PAWL_STORE}"
}

# example: orders on $PAWL_STORE, ten shipped and one not, with --history.
example()
{
    expect 0 '' pawl schema apply --app "$build_dir/orders.so"
    for i in {1..11}; do
        expect 0 '' pawl send --to orders --type place_order --correlation "buyer-$i" --id "m-$i" \
            --body "{\"order_id\":\"o-$i\",\"warehouse\":\"north\",\"total_cents\":4200}"
    done
    start orders "$build_dir/orders.so" --history 1d
    poll 60 has_ready orders 0 || die "the orders are not placed"
    for i in {1..10}; do
        expect 0 '' pawl send --to orders --type payment_taken --correlation "buyer-$i" --id "p-$i" --body "{\"order_ref\":\"o-$i\",\"cents\":4200}"
    done
    poll 60 has_ready carrier 1 || die "no shipment"
    poll 60 has_ready orders 0 || die "the orders are not shipped"
    expect 0 '' pawl queue pause billing --reason "the bank is down"
    stop "$pid" TERM 0
}
