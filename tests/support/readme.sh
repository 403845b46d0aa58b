# readme.sh - the commands of README.md and what it shows of their output, for the tests that run them. Sourced.
#
# Set before: page, the file.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154

# The quick start as a script for `bash -m`, which waits until the message is handled before it asks for the saga, and
# leaves no program behind.
readme_quick()
{
    local lines
    lines=$(sed -n '/^    B=build$/,/^    kill %1/p' "$page" | sed 's/^    //')
    [ "$(grep -c '^$B/pawl' <<<"$lines")" = 4 ] || return 1
    echo 'set -e; trap "kill \$(jobs -p) 2>/dev/null || true" EXIT'
    sed '/^$B\/pawl saga show/,$d' <<<"$lines"
    echo 'tries=600; until $B/pawl stats --store sqlite:orders.db --json | grep -q "\"messages\":1,"; do'
    echo '    [ $((tries--)) -gt 0 ] || exit 9; sleep 0.1; done'
    sed -n '/^$B\/pawl saga show/,$p' <<<"$lines"
}

# readme_compare_quick FILE, readme_compare_demo FILE: what was printed is what the page shows, but for ids and times, which
# differ each time.
readme_same() { sed -E -e 's/[0-9a-f]{8}-[0-9a-f-]{27}/ID/' -e 's/[0-9]{4}-[0-9T:.-]+Z \(in 1[0-9] m\)/TIME/' -e 's/ +/ /g'; }
readme_compare_quick()
{
    local shown
    shown=$(sed -n '/^    state  /,/^    payment /p' "$page" | sed 's/^    //' | readme_same)
    [ "$(wc -l <<<"$shown")" = 4 ] && grep -q '^sent ' "$1" && diff <(echo "$shown") <(sed -n '/^state  /,/^payment /p' "$1" | readme_same)
}
readme_compare_demo()
{
    local line count=0
    while IFS= read -r line; do
        grep -qxF -- "$line" "$1" || { echo "the demo does not print: $line"; return 1; }
        count=$((count + 1))
    done < <(sed -n '/^    events  /,/^    verified/p' "$page" | sed 's/^    //' | grep -vxF ...)
    [ "$count" = 3 ]
}
