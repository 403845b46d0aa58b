#!/usr/bin/env bash
# docs_readme.sh - the quick start of README.md, pasted into a shell, works; the saga on its
# first screen is a part of examples/orders.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
page=$source_dir/README.md

echo "== the quick start"
cd "$work" || die "no folder"
ln -s "$build_dir" build
sed -n '/^    B=build /,/^    kill %1/p' "$page" | sed 's/^    //' >quick.sh
[ "$(grep -c '^$B/pawl' quick.sh)" = 4 ] || die "not the lines of the page"
# The lines up to the last one as they are; the last one when the message was handled.
{
    echo "set -e"
    echo 'trap "kill \$(jobs -p) 2>/dev/null || true" EXIT'
    sed '$d' quick.sh
    echo 'tries=600; until $B/pawl stats --store sqlite:orders.db --json | grep -q "$HANDLED"; do'
    echo '    [ $((tries--)) -gt 0 ] || exit 9; sleep 0.1; done'
    tail -n 1 quick.sh
} >pasted.sh
export HANDLED='"messages":1,'
bash -m pasted.sh >out 2>err || die "exit code $?"
grep -q '^sent ' out || die "nothing was sent"

echo "== the first screen"
awk '/^```/ { is_code = $0 == "```c"; next } is_code' "$page" >first.c
[ "$(wc -l <first.c)" -le 25 ] || die "more than a screen"
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

echo "== the demo ends as the page says"
if [ -e "$build_dir/pawl-replay" ]; then
    PAWL_REPLAY_LOG=$source_dir/examples/replay/example.csv "$build_dir/pawl-replay" >out 2>err || die "exit code $?"
    grep -qF "\`$(tail -n 1 out)\`" "$page" || die "the page says that it ends otherwise"
fi

echo "== the apt line is what scripts/install.sh installs"
. "$source_dir/scripts/install.sh"
sed -n '/^    sudo apt install gcc /,/^$/p' "$page" | tr -d '\\' | tr -s ' ' '\n' |
    grep -vxE 'sudo|apt|install|' | sort >named
awk '$1 == "build" { print $4 }' <<<"$needed_things" | sort >needed
diff named needed || die "README.md names other packages"

echo "== what README.md and the pages show is built by ./demo, and is there"
grep -ohE '(^|[^/A-Za-z])(build|\$B)/[A-Za-z][A-Za-z.-]*' "$page" "$source_dir"/docs/*.md "$source_dir"/examples/*/README.md |
    sed -E 's|.*/||; s|[.]$||' | sort -u | grep -vxE 'release|mutate|tests' >shown
grep -qx orders.so shown && grep -qx transfer shown || die "the paths are not found in the pages: $(cat shown)"
ninja -C "$build_dir" -t query examples/demo | tr -d " " >built 2>err || die "ninja does not say what ./demo builds"
while read -r name; do
    [ -e "$build_dir/$name" ] || die "there is no $name in the build folder"
    grep -qx "$name" built || die "./demo does not build $name"
done <shown
