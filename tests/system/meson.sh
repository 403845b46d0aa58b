#!/usr/bin/env bash
# meson.sh - an application is built by Meson with an installed pawl, and with dist/meson/meson.build (the wrap file:
# meson_wrap_soak.sh).
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
. "$source_dir/tests/support/meson.sh"
unset PAWL_DRIVER_PATH
need_sqlite

echo "== by the pkg-config file"
cmake --install "$build_dir" --prefix "$work/prefix" >"$work/out" 2>&1 || die "no installation"
libdir=$(dirname "$(find "$work/prefix" -name libpawl.so)")
PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir build_orders orders orders.so
LD_LIBRARY_PATH=$libdir ldd "$work/shop/build/orders" | grep -q "$libdir/libpawl.so" || die "the program has another library"
LD_LIBRARY_PATH=$libdir orders_run

echo "== the module, by the installed command"
pawl()
{
    "$work/prefix/bin/pawl" "$@"
}
expect 0 '' pawl schema apply --app "$work/shop/build/orders.so" --store "sqlite:$work/module.db"
