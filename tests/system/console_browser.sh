#!/usr/bin/env bash
# console_browser.sh - the page of `pawl console` in a headless Chromium, on SQLite and PostgreSQL: every page, hostile
# bodies, letters that are mended, and a bulk action that goes on without browser and console.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
[ -e "$build_dir/libpawl-observe.so" ] || skip "the module that serves pages was not built"
command -v chromedriver >/dev/null && command -v chromium >/dev/null || skip "chromium and chromedriver are not installed"
build_fill
export PAWL_DRIVER_PATH=$build_dir

console()
{
    rm -f "$work/console.err"
    "$build_dir/pawl" console --listen 127.0.0.1:0 --write "$@" >"$work/console.out" 2>"$work/console.err" &
    pid=$!
    started+=("$pid")
    poll 60 grep -q 'console of' "$work/console.err" || die "it does not start: $(cat "$work/console.err")"
    at=$(sed -nE 's,.* at (http://[^/]*)/.*,\1,p' "$work/console.err")
}

story()
{
    python3 "$source_dir/tests/support/console_story.py" "$at" "$@" >"$work/out" 2>"$work/err" || die "on $name"
}

# tell NAME: the stories on $PAWL_STORE, which is empty.
tell()
{
    name=$1
    echo "== $name"
    expect 0 '' pawl schema apply
    fill letters 499
    fill timeouts 4
    fill outbox
    fill events 20
    printf '{"name":"<img src=x onerror=caught=1>","long":"%s"}' "$(head -c 1000000 /dev/zero | tr '\0' x)" >"$work/body"
    expect 0 '' pawl send --to odd --type "<script>caught=1</script>" --id hostile --body-file "$work/body"
    expect 0 '' pawl queue purge odd --yes --reason "<b>bold</b>"
    console
    story pages
    story trouble
    story hostile
    story hasty
    story mend
    stop "$pid" TERM 0
    expect 0 '"state":"open"' pawl bulk list --open --json
    console
    poll 60 eval '[ "$(pawl bulk list --open --json | wc -l)" = 0 ]' || die "nobody went on with it"
    story come_back
    stop "$pid" TERM 0
    expect 0 '"matching":0' pawl dead retry --all --type note --dry-run --json
    expect 0 '"matching":165' pawl dead retry --all --type charge --dry-run --json
    expect 0 '"body":"\{\\"n\\":4711\}"' pawl queue peek billing --type parcel --json --reveal
    [ "$(queue_ready billing)" = 167 ] || die "$(queue_ready billing) messages are in the queue: some were sent twice, or not"
    expect 0 '"reason":"the bank is back"' pawl bulk list --json
}

# picture: the story of the example application.
picture()
{
    name=example
    echo "== the example"
    expect 0 '' pawl schema apply --app "$build_dir/orders.so"
    for i in {1..11}; do
        expect 0 '' pawl send --to orders --type place_order --correlation "c-$i" --id "m-$i" \
            --body "{\"order_id\":\"o-$i\",\"warehouse\":\"north\",\"total_cents\":4200}"
    done
    start orders "$build_dir/orders.so" --history 1d
    poll 60 has_ready orders 0 || die "the orders are not placed"
    for i in {1..10}; do
        expect 0 '' pawl send --to orders --type payment_taken --correlation "c-$i" --id "p-$i" --body "{\"order_ref\":\"o-$i\",\"cents\":4200}"
    done
    poll 60 has_ready carrier 1 || die "no shipment"
    poll 60 has_ready orders 0 || die "the orders are not shipped"
    expect 0 '' pawl queue pause billing --reason "the bank is down"
    stop "$pid" TERM 0
    console --app "$build_dir/orders.so"
    story flow
    stop "$pid" TERM 0
}

PAWL_STORE=sqlite:$work/orders.db
export PAWL_STORE
picture
PAWL_STORE=sqlite:$work/console.db
tell SQLite
if [ -n "${PAWL_TEST_POSTGRES:-}" ]; then
    own_schema console
    PAWL_STORE=$store
    tell PostgreSQL
fi
