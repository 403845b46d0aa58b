#!/usr/bin/env bash
# docs_readme.sh - the quick start of README.md, pasted into a shell, prints what the page shows; its
# saga is a part of examples/orders, its figures stand in bench/README.md, and it stays short.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
page=$source_dir/README.md

echo "== the quick start"
cd "$work" || die "no folder"
ln -s "$build_dir" build
sed -n '/^    B=build$/,/^    kill %1/p' "$page" | sed 's/^    //' >quick.sh
[ "$(grep -c '^$B/pawl' quick.sh)" = 4 ] || die "not the lines of the page"
# The lines up to `saga show` as they are; these when the message was handled.
{
    echo "set -e"
    echo 'trap "kill \$(jobs -p) 2>/dev/null || true" EXIT'
    sed '/^$B\/pawl saga show/,$d' quick.sh
    echo 'tries=600; until $B/pawl stats --store sqlite:orders.db --json | grep -q "$HANDLED"; do'
    echo '    [ $((tries--)) -gt 0 ] || exit 9; sleep 0.1; done'
    sed -n '/^$B\/pawl saga show/,$p' quick.sh
} >pasted.sh
export HANDLED='"messages":1,'
bash -m pasted.sh >out 2>err || die "exit code $?"
grep -q '^sent ' out || die "nothing was sent"
# What the page shows, but for ids and times: they differ each time.
without_times() { sed -E -e 's/[0-9a-f]{8}-[0-9a-f-]{27}/ID/' -e 's/[0-9]{4}-[0-9T:.-]+Z \(in 1[0-9] m\)/TIME/' -e 's/ +/ /g'; }
sed -n '/^    state  /,/^    payment /p' "$page" | sed 's/^    //' | without_times >shown
sed -n '/^state  /,$p' out | without_times >printed
[ "$(wc -l <shown)" = 4 ] && diff shown printed || die "prints something else than the page shows"

echo "== the saga"
awk '/^```/ { is_code = $0 == "```c"; next } is_code' "$page" >first.c
[ "$(wc -l <first.c)" -le 25 ] || die "more than 25 lines"
cat - first.c >whole.c <<'END'
#include "orders.h"
static pawl_code on_payment_taken(pawl_context *ctx, order_state *order, const payment_taken *message)
{
    (void)ctx, (void)order, (void)message;
    return PAWL_OK;
}
PAWL_HANDLER(on_payment_taken, order_state, payment_taken);
static pawl_code on_payment_late(pawl_context *ctx, order_state *order)
{
    (void)order;
    return pawl_complete(ctx);
}
PAWL_TIMEOUT_HANDLER(on_payment_late, order_state);
END
echo 'const pawl_saga *const shown = &order_saga;' >>whole.c
"$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -I "$source_dir/include" \
    -I "$source_dir/examples/orders" -fsyntax-only whole.c >out 2>err || die "does not compile"

echo "== what the demo prints"
if [ -e "$build_dir/pawl-replay" ]; then
    PAWL_REPLAY_LOG=$source_dir/examples/replay/example.csv "$build_dir/pawl-replay" >out 2>err || die "exit code $?"
    sed -n '/^    events  /,/^    verified/p' "$page" | sed 's/^    //' | grep -vxF ... >shown
    [ "$(wc -l <shown)" = 3 ] || die "not the lines of the page"
    while IFS= read -r line; do
        grep -qxF "$line" out || die "the demo does not print: $line"
    done <shown
fi

echo "== the page is short, and its figures are those of the bench"
[ "$(wc -l <"$page")" -le 130 ] || die "more than 130 lines"
sed -n '/^## Speed/,/^## /p' "$page" | grep -oE '[0-9]+,[0-9]{3}/s|0\.[0-9]{2}' >figures
[ -s figures ] || die "no figures"
while read -r figure; do
    grep -qF "$figure" "$source_dir/bench/README.md" || die "$figure does not stand in bench/README.md"
done <figures

echo "== the apt line is what scripts/install.sh installs"
. "$source_dir/scripts/install.sh"
building=$source_dir/docs/building.md
sed -n '/^    sudo apt install gcc /,/^$/p' "$building" | tr -d '\\' | tr -s ' ' '\n' |
    grep -vxE 'sudo|apt|install|' | sort >named
awk '$1 == "build" { print $4 }' <<<"$needed_things" | sort >needed
diff named needed || die "docs/building.md names other packages"

echo "== what README.md and the pages show is built by ./demo, and is there"
grep -ohE '(^|[^/A-Za-z])(build|\$B)/[A-Za-z][A-Za-z.-]*' "$page" "$source_dir"/docs/*.md "$source_dir"/examples/*/README.md |
    sed -E 's|.*/||; s|[.]$||' | sort -u | grep -vxE 'release|mutate|tests' >shown
grep -qx orders.so shown && grep -qx transfer shown || die "the paths are not found in the pages: $(cat shown)"
ninja -C "$build_dir" -t query examples/demo | tr -d " " >built 2>err || die "ninja does not say what ./demo builds"
while read -r name; do
    [ -e "$build_dir/$name" ] || die "there is no $name in the build folder"
    grep -qx "$name" built || die "./demo does not build $name"
done <shown
