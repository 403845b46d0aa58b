#!/usr/bin/env bash
# docs_readme.sh - the quick start of README.md, pasted into a shell, prints what the page shows; its
# saga is a part of examples/orders, its figures stand in bench/README.md, and it stays short.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
page=$source_dir/README.md
# shellcheck source=tests/support/readme.sh
. "$source_dir/tests/support/readme.sh"

echo "== the quick start"
cd "$work" || die "no folder"
ln -s "$build_dir" build
readme_quick >pasted.sh || die "not the lines of the page"
bash -m pasted.sh >out 2>err || die "exit code $?"
readme_compare_quick out || die "prints something else than the page shows"

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
    readme_compare_demo out || die "prints something else than the page shows"
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
    sed -E 's|.*/||; s|[.]$||' | sort -u | grep -vxE 'release|mutate|tests|fuzz|cross|packages' >shown
grep -qx orders.so shown && grep -qx transfer shown || die "the paths are not found in the pages: $(cat shown)"
ninja -C "$build_dir" -t query examples/demo | tr -d " " >built 2>err || die "ninja does not say what ./demo builds"
while read -r name; do
    [ -e "$build_dir/$name" ] || die "there is no $name in the build folder"
    grep -qx "$name" built || die "./demo does not build $name"
done <shown
