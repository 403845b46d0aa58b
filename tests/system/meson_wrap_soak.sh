#!/usr/bin/env bash
# meson_wrap_soak.sh - an application is built by Meson together with pawl, which dist/meson/pawl.wrap finds in a
# tarball of this tree: all of pawl's library is compiled.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
. "$source_dir/tests/support/meson.sh"
unset PKG_CONFIG_PATH
! pkg-config --exists pawl 2>/dev/null || skip "a pawl is installed here, which Meson would take"
need_sqlite

version=$(sed -n 's/^directory = pawl-//p' "$source_dir/dist/meson/pawl.wrap")
packages=$work/shop/subprojects/packagefiles
mkdir -p "$packages"
cp "$source_dir/dist/meson/pawl.wrap" "$work/shop/subprojects/"
tar -C "$source_dir" --exclude=./build --exclude=./.git --transform "s|^\.|pawl-$version|" \
    -czf "$packages/pawl-$version.tar.gz" . || die "no tarball"
build_orders orders libpawl-sqlite.so
export PAWL_DRIVER_PATH=$work/shop/build
orders_run
