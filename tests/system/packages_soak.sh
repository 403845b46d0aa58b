#!/usr/bin/env bash
# packages_soak.sh - scripts/package.sh builds the Debian packages twice, in other folders, at other times, with another
# time zone and umask: the packages are the same (diffoscope). lintian finds nothing. In a clean Debian 12 they are
# installed, in place of an older version: the README's application is built and runs from them alone
# (debian/tests/first-application). Upgrading and removing them leaves data and settings alone.
#
# No older version was packaged yet: the older packages are today's, with another number.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/clean_root.sh"
work=$PAWL_BUILD_DIR/packages_soak
for program in dh dpkg-buildpackage lintian diffoscope; do
    command -v $program >/dev/null || failed "no $program"
done
make_plain
rm -rf "$work"
unset CMAKE_C_COMPILER_LAUNCHER

# build NAME: into $work/NAME/packages, from a copy of the sources without git.
build()
{
    mkdir -p "$work/$1"
    tar -C "$source_dir" --exclude=./build --exclude=./.git --exclude=node_modules -c . | tar -C "$work/$1" -x
    (cd "$work/$1" && scripts/package.sh packages) >"$log" 2>&1 || die "scripts/package.sh"
}

echo "== two builds"
build first
(export TZ=Asia/Tokyo && umask 027 && build another/folder) || exit 1
packages=$work/first/packages
diffoscope --exclude-directory-metadata=yes --exclude '*.buildinfo' --exclude '*.changes' \
    "$packages" "$work/another/folder/packages" >"$log" 2>&1 || die "they are not the same"
echo "diffoscope: $(find "$packages" -name '*.deb' | wc -l) packages and their source are the same"

echo "== lintian"
# These packages go to no archive of Debian: no bug of its asked for them, and nobody watches for newer versions.
lintian --allow-root --display-info --fail-on error,warning,info \
    --suppress-tags initial-upload-closes-no-bugs,debian-watch-file-is-missing "$packages"/*.changes >"$log" 2>&1 ||
    die "lintian"
echo "lintian: $(wc -l <"$log") lines"

echo "== the version before, in a clean Debian"
version=$(cd "$source_dir" && dpkg-parsechangelog -S Version)
copy_root "$folder/plain"
mkdir -p "$root/packages/older" "$root/sources"
cp "$packages"/*.deb "$root/packages/"
for package in "$packages"/*_"$version"_*.deb; do
    rm -rf "$work/older"
    dpkg-deb -R "$package" "$work/older"
    sed -i "s/$version/0.0.1-1/" "$work/older/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$work/older" "$root/packages/older/" >"$log" || die "no older package"
done
cp "$packages"/libyyjson0_*.deb "$root/packages/older/" 2>/dev/null
tar -C "$source_dir" -c debian tests/support | tar -C "$root/sources" -x
tools=$(sed -nE 's/^Depends: .*libpawl5-driver-sqlite, (.*)/\1/p' "$source_dir/debian/tests/control" | tr -d ,)
inside "$root" "apt-get -qq update; cd /packages/older; apt-get -y --no-install-recommends install ./*.deb" \
    >"$log" 2>&1 || die "the older version is not installed"
inside "$root" "mkdir -p /var/lib/pawl/orders /etc/pawl; cd /var/lib/pawl/orders
    echo 'PAWL_STORE=sqlite:orders.db' >/etc/pawl/orders.env
    pawl schema apply --store sqlite:orders.db
    pawl send --store sqlite:orders.db --to orders --type place_order --body '{\"order_id\": \"o-1\"}'" \
    >"$log" 2>&1 || die "the older version does not work"

# Files that are the user's: what they contain, and who may read them.
kept()
{
    (cd "$root" && find var/lib/pawl etc/pawl -type f -exec sha256sum {} + -exec stat -c '%n %a %u' {} + | sort)
}
kept >"$work/kept"
[ "$(wc -l <"$work/kept")" -ge 4 ] || die "no data was written"

echo "== an upgrade"
inside "$root" "cd /packages; apt-get -y --no-install-recommends install ./*.deb; dpkg --audit
    dpkg-query -W -f '\${Package} \${Version}\n' '*pawl*'" >"$log" 2>&1 || die "the upgrade"
[ "$(grep -c " $version\$" "$log")" = "$(find "$root/packages" -maxdepth 1 -name "*_${version}_*.deb" | wc -l)" ] ||
    die "not all packages are of version $version"
kept | diff "$work/kept" - || die "the upgrade changed data or settings"
inside "$root" "cd /var/lib/pawl/orders; pawl queue list --store sqlite:orders.db" >"$log" 2>&1 ||
    die "the data cannot be read"
grep -q '^orders ' "$log" || die "the message of the older version is gone"

echo "== the README's application, from the packages"
kept >"$work/kept"
inside "$root" "apt-get -y --no-install-recommends install $tools; cd /sources; mkdir /tmp/test
    AUTOPKGTEST_TMP=/tmp/test debian/tests/first-application" >"$log" 2>&1 || die "debian/tests/first-application"
tail -n 1 "$log"

echo "== removed"
inside "$root" "apt-get -y remove pawl; apt-get -y purge '*pawl*'
    find / -xdev \( -path /proc -o -path /sources -o -path /packages -o -path /tmp -o -path /var -o -path /etc/pawl \) \
        -prune -o -name '*pawl*' -print >/left; [ ! -s /left ]" >"$log" 2>&1 || die "the removal: $(cat "$root/left")"
kept | diff "$work/kept" - || die "the removal changed data or settings"
rm -rf "$work"
echo "packages: ok"
