# build.sh - one build by a preset of CMakePresets.json. Sourced by ./test and
# ./demo from the project's folder, after install.sh. Everything it says goes to
# standard error.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# build_preset PRESET FOLDER [TARGET ...]
build_preset()
{
    local preset=$1 folder=$2 log
    local -a quiet=()
    shift 2
    log=$folder/configure.log
    mkdir -p "$folder"
    say "building $preset in $folder"
    if ! cmake --preset "$preset" >"$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
    grep -E '^-- .*built|^CMake Warning' "$log" >&2
    if ! [ -t 2 ] && ninja --help 2>&1 | grep -q -e --quiet; then
        quiet=(--quiet)
    fi
    ninja -C "$folder" -j "$(nproc)" "${quiet[@]}" "$@" >&2
}
