#!/usr/bin/env bash
# container_image_soak.sh - Debian's buildah builds dist/container/Dockerfile from the packages of scripts/package.sh, on
# a minimal Debian 12 by debootstrap. The image runs the example `orders` as its user, is healthy, and ends in order.
#
#   PAWL_TEST_PACKAGES=FOLDER   these packages, instead of new ones
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
[ "$(id -u)" = 0 ] || { echo "skipped: only root makes a Debian"; exit 77; }
for tool in buildah debootstrap; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
# shellcheck source=scripts/install.sh
. "$source_dir/scripts/install.sh"
debs=${PAWL_TEST_PACKAGES:-}
if [ -z "$debs" ]; then
    [ -e "$source_dir/scripts/package.sh" ] || { echo "skipped: no scripts/package.sh"; exit 77; }
    debs=$work/packages
    "$source_dir/scripts/package.sh" "$debs" >"$work/out" 2>"$work/err" || die "no packages"
fi

image()
{
    buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"
}

echo "== the image"
debootstrap --variant=minbase bookworm "$work/debian" "$(debian_mirror)" >"$work/out" 2>&1 || skip "no minimal Debian"
base=$(image from scratch) && image add -q "$base" "$work/debian" / >"$work/out" &&
    image commit -q "$base" debian:12-slim >"$work/out" || die "no base image"
rm -rf "$work/debian"
mkdir "$work/context"
cp "$debs"/libpawl[0-9]_*.deb "$debs"/pawl_*.deb "$debs"/libpawl[0-9]-driver-{sqlite,observe}_*.deb \
    "$debs"/libyyjson0_*.deb "$work/context/" || die "these are not all packages: $(ls "$debs")"
image bud --isolation chroot --pull=never --format docker -t pawl -f "$source_dir/dist/container/Dockerfile" \
    "$work/context" >"$work/out" 2>&1 || die "the image is not built"

echo "== it runs"
container=$(image from --pull=never localhost/pawl)
image add -q "$container" "$build_dir/orders.so" /usr/lib/pawl-app/app.so >"$work/out" || die "no application in the image"
port=$(free_port)
inside()
{
    image run --isolation chroot "$container" -- "$@"
}
inside pawl run /usr/lib/pawl-app/app.so --store sqlite:orders.db --http "127.0.0.1:$port" >"$work/log" 2>&1 &
started+=($!)
runner=$!
poll 20 grep -q "is running" "$work/log" || die "it does not start: $(cat "$work/log")"
mapfile -t health < <(python3 "$source_dir/tests/support/dockerfile.py" health "$source_dir/dist/container/Dockerfile" |
    sed "s/9464/$port/")
inside "${health[@]}" || die "it is not healthy"
inside pawl send --store sqlite:orders.db --to orders --type place_order \
    --body '{"order_id":"o-1","warehouse":"north","total_cents":4200}' >"$work/out" 2>&1 || die "nothing is sent"
has_saga()
{
    inside pawl stats --store sqlite:orders.db --json 2>"$work/err" | grep -q '"messages":1,'
}
poll 20 has_saga || die "the message is not handled: $(cat "$work/log")"

echo "== it ends in order"
pid=$(pgrep -u 10001 -n -x pawl) || die "no process of the image's user"
kill -TERM "$pid"
wait "$runner" || die "exit code $? after SIGTERM: $(cat "$work/log")"
grep -q "endpoint 'orders' stopped" "$work/log" || die "no word that the endpoint stopped: $(cat "$work/log")"
! inside "${health[@]}" >/dev/null 2>&1 || die "healthy, and nothing runs any more"
image rm -a >/dev/null
