# prometheus_root.sh - Prometheus in a folder of its own, for the tests of metrics. Sourced.
#
#   prometheus_program      prints the program: the system's, or that of the folder; fails without
#   prometheus_root_make    makes the folder, once for all clones of a user: 20 MB to download
#
# apt downloads the package, and it is unpacked, not installed: an installed one would start a
# service that listens. PAWL_PROMETHEUS_ROOT names another folder.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

prometheus_root()
{
    echo "${PAWL_PROMETHEUS_ROOT:-/var/tmp/pawl-prometheus-$(id -u)}"
}

# It is run, not looked for: the system may have swept what lies there unused. A folder of somebody
# else is none.
prometheus_program()
{
    local root
    root=$(prometheus_root)
    if command -v prometheus >/dev/null && prometheus --version >/dev/null 2>&1; then
        command -v prometheus
    elif [ -O "$root" ] && [ ! -L "$root" ] && "$root/prometheus" --version >/dev/null 2>&1; then
        echo "$root/prometheus"
    else
        return 1
    fi
}

prometheus_can_be_had()
{
    apt-cache policy prometheus 2>/dev/null | grep 'Candidate:' | grep -qv '(none)'
}

# Succeeds, too, where it cannot be had: the tests on it are skipped.
prometheus_root_make()
{
    local root new result
    [ "$(id -u)" != 0 ] || prometheus_can_be_had ||
        apt-get -qq -o Acquire::Retries=3 update >&2 </dev/null
    if ! prometheus_can_be_had; then
        say "apt has no prometheus; it is left out"
        return 0
    fi
    root=$(prometheus_root)
    (
        mkdir -p "$(dirname "$root")" && exec 8>>"$root.lock" && flock 8 || exit 1
        ! prometheus_program >/dev/null || exit 0
        say "unpacking prometheus into $root"
        new=$(mktemp -d "$root.XXXXXX") || exit 1
        (
            cd "$new" &&
                apt-get -qq -o Acquire::Retries=3 -o APT::Sandbox::User="$(id -un)" \
                    download prometheus >&2 </dev/null &&
                dpkg-deb -x prometheus_*.deb unpacked && mkdir root &&
                mv unpacked/usr/bin/prometheus unpacked/usr/bin/promtool root/
        ) && rm -rf "$root" && chmod 755 "$new/root" && mv "$new/root" "$root" &&
            prometheus_program >/dev/null
        result=$?
        rm -rf "$new"
        exit $result
    )
}
