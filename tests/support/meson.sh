# meson.sh - the example examples/orders built by Meson, with dist/meson/meson.build. Sourced, after command.sh.
#
#   build_orders TARGET ...   these targets, in $work/shop/build
#   orders_run                runs the program on a new file
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
command -v meson >/dev/null || skip "no meson"
mkdir "$work/shop"
cp "$source_dir"/examples/orders/*.[ch] "$source_dir/dist/meson/meson.build" "$work/shop/"

build_orders()
{
    CC=$cc meson setup "$work/shop/build" "$work/shop" >"$work/out" 2>&1 || die "meson setup"
    ninja -C "$work/shop/build" -j 2 "$@" >"$work/out" 2>&1 || die "the application does not build"
}

orders_run()
{
    (cd "$work/shop" && ./build/orders sqlite:shop.db) >"$work/out" 2>"$work/err" || die "the program ends with $?"
    [ "$(tail -n 1 "$work/out")" = "25 orders placed, 0 still open" ] || die "the program says something else"
}
