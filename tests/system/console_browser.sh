#!/usr/bin/env bash
# console_browser.sh - the page of `pawl console` in a headless Chromium, on SQLite and PostgreSQL: every page, hostile
# bodies, letters that are mended, and a bulk action that goes on without browser and console; the pictures of the example.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/console.sh"
need_browser

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
    for queue in left right; do
        expect 0 '' pawl send --to "$queue" --type both --id both --body '{}'
        expect 0 '' pawl queue purge "$queue" --yes
    done
    console --write
    story pages,skipped,trouble,hostile,hasty,audit,paged,narrowed,grouped,cut,named,bytes_lost,as_stored,left_alone,stopped,raced,busy,mistaken,copied,lost,uncounted,mend
    stop "$pid" TERM 0
    expect 0 '"state":"open"' pawl bulk list --open --json
    console --write
    poll 60 eval '[ "$(pawl bulk list --open --json | wc -l)" = 0 ]' || die "nobody went on with it"
    story come_back
    stop "$pid" TERM 0
    expect 0 '"matching":0' pawl dead retry --all --type note --dry-run --json
    expect 0 '"matching":165' pawl dead retry --all --type charge --dry-run --json
    expect 0 '"body":"\{\\"n\\":4711\}"' pawl queue peek billing --type parcel --json --reveal
    [ "$(queue_ready billing)" = 167 ] || die "$(queue_ready billing) messages are in the queue: some were sent twice, or not"
    expect 0 '"reason":"the bank is back"' pawl bulk list --json
}

PAWL_STORE=sqlite:$work/orders.db
export PAWL_STORE
echo "== the example"
example
console --app "$build_dir/orders.so"
story flow
stop "$pid" TERM 0
if [ -z "${PAWL_TEST_POSTGRES:-}" ] || [ -n "${PAWL_TEST_WHOLE:-}" ]; then
    PAWL_STORE=sqlite:$work/console.db
    tell SQLite
fi
if [ -n "${PAWL_TEST_POSTGRES:-}" ]; then
    own_schema console
    PAWL_STORE=$store
    tell PostgreSQL
fi
