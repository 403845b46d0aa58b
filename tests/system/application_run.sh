#!/usr/bin/env bash
# application_run.sh - a program of its own that runs an application: that of docs/building.md, with the
# example's endpoint. It stops at a signal, and says why it cannot begin.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
need_sqlite
export PAWL_STORE=sqlite:$work/shop.db
example=$source_dir/examples/orders

awk '/^```/ { is_code = $0 == "```c"; next } is_code' "$source_dir/docs/building.md" >"$work/page.c"
build_program "$work/page.c" shop -I "$example" "$example/orders.c"

has_worker()
{
    [ "$(number workers)" -ge 1 ] 2>/dev/null
}

echo "== it runs the endpoint until a signal"
orders=0
for number in TERM INT; do
    "$work/shop" "$PAWL_STORE" 2>"$work/err" </dev/null &
    pid=$!
    started+=("$pid")
    poll 20 has_worker || die "the program does not run"
    expect 0 '^sent ' pawl send --to orders --type place_order --id "order-$number" \
        --body "{\"order_id\": \"o-$number\", \"warehouse\": \"north\", \"total_cents\": 4200}"
    poll 20 has_ready billing $((++orders)) || die "the order is not handled"
    stop "$pid" $number 0
    has workers 0 || die "workers are left: $(number workers)"
done

echo "== it says why it cannot begin"
"$work/shop" nonsense:x >"$work/out" 2>"$work/err" && die "it runs on no store"
grep -q '^orders: .*nonsense' "$work/err" || die "it does not say why"
