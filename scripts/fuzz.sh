#!/usr/bin/env bash
# fuzz.sh - runs fuzz targets (tests/fuzz), and says for how long, with how many inputs, and what was found.
#
#   scripts/fuzz.sh [--seconds N] [--build FOLDER] [TARGET ...]     all targets by default, one after the other
#   scripts/fuzz.sh --reproduce TARGET FILE                         the stack of a finding
#   scripts/fuzz.sh --minimise TARGET FILE                          a smaller input with the same finding, in FILE.min
#   scripts/fuzz.sh --summary                                       hours, inputs and findings of all runs so far
#
#   N       of each target; by default PAWL_FUZZ_SECONDS, or 3. Of these 3 the seed is the same every time, so that
#           a change is not refused for what was there before; longer runs draw a new one
#   FOLDER  the build of the preset `fuzz`, build/fuzz by default:
#           cmake --preset fuzz && ninja -C build/fuzz tests_fuzz
#
# FOLDER/corpus/TARGET keeps the inputs that reach new code, for the next run; a finding is the file
# FOLDER/findings/TARGET-KIND-HASH. FOLDER/fuzz.log has a line for each run.
# Exit code: 0 nothing was found, 1 something was, 2 usage, no such target, or a target that a signal ended.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build/fuzz
seconds=${PAWL_FUZZ_SECONDS:-3}
targets=()

usage()
{
    sed -n '4,7s/^#   //p' "$0" >&2
    exit 2
}

program()
{
    local path=$build/tests/fuzz/fuzz_$1
    [ -x "$path" ] && echo "$path" && return
    echo "fuzz.sh: $path is not there: cmake --preset fuzz && ninja -C build/fuzz tests_fuzz" >&2
    exit 2
}

# Totals of the log: each line has the target, the seconds of the processor, the inputs, the findings.
summary()
{
    [ -f "$build/fuzz.log" ] || { echo "fuzz.sh: no run so far" >&2; exit 2; }
    awk '
    { seconds[$1] += $2; inputs[$1] += $3; findings[$1] += $4; s += $2; n += $3; f += $4 }
    END {
        for (name in seconds)
            printf "%-10s %8.3f h %14d inputs %4d findings\n", name, seconds[name] / 3600, inputs[name],
                findings[name] | "sort"
        close("sort")
        printf "%-10s %8.3f h %14d inputs %4d findings\n", "all", s / 3600, n, f
    }' "$build/fuzz.log"
}

# run TARGET: the time is that of the processor, which a busy machine gives in pieces.
run()
{
    local target=$1 path log=$build/findings/$1.log grown=$build/corpus/$1 result=0 inputs used TIMEFORMAT='%U %S'
    path=$(program "$target") || exit 2
    mkdir -p "$build/findings" "$grown"
    used=$( { time "$path" -max_total_time="$seconds" -seed=$((seconds == 3)) -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$build/findings/$target-" "$grown" "$top/tests/fuzz/corpus/$target" >"$log" 2>&1; } 2>&1) ||
        result=1
    grep -q 'libFuzzer: run interrupted' "$log" && result=0 is_over=yes
    used=$(awk '{ printf "%.1f", $1 + $2 }' <<<"$used")
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target $used ${inputs:-0} $result" >>"$build/fuzz.log"
    echo "fuzz.sh: $target: ${inputs:-0} inputs in $used s, $result findings"
    if [ $result -ne 0 ]; then
        grep -vE '^#[0-9]+.(NEW|REDUCE|pulse|RELOAD)' "$log" | tail -n 60
        echo "fuzz.sh: again with: scripts/fuzz.sh --reproduce $target FILE (the file behind \"Test unit written to\")"
    fi
    return $result
}

while [ $# -gt 0 ]; do
    export PAWL_DRIVER_PATH=$build # the store of SQLite is a module
    case $1 in
    --seconds)
        [ $# -ge 2 ] || usage
        seconds=$2
        shift
        ;;
    --build)
        [ $# -ge 2 ] || usage
        build=$2
        shift
        ;;
    --summary)
        summary
        exit
        ;;
    --reproduce)
        [ $# -eq 3 ] || usage
        path=$(program "$2") || exit 2
        exec "$path" "$3"
        ;;
    --minimise)
        [ $# -eq 3 ] || usage
        path=$(program "$2") || exit 2
        exec "$path" -minimize_crash=1 -max_total_time="$seconds" -exact_artifact_path="$3.min" "$3"
        ;;
    -*) usage ;;
    *) targets+=("$1") ;;
    esac
    shift
done
if [ ${#targets[@]} -eq 0 ]; then
    for path in "$build"/tests/fuzz/fuzz_*; do
        targets+=("${path##*/fuzz_}")
    done
fi
found=0
is_over=''
for target in "${targets[@]}"; do
    run "$target" || found=1
    [ -z "$is_over" ] || { echo "fuzz.sh: interrupted" >&2; exit 2; }
done
exit $found
