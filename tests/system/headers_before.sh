#!/usr/bin/env bash
# headers_before.sh - a program that was compiled with the headers of the commit before runs with
# today's library, as pawl/api.h says: no struct has changed but at its end, and there only one that
# says its size. Where the work tree differs from its commit, that one is the commit before.
#
# A change that a program must be compiled again for raises PAWL_ABI; then nothing is compared. A tree
# without git's history has no headers of a commit before, and skips.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
shapes=$source_dir/tests/support/shapes.py program=tests/system/headers_before.c

# abi INCLUDE
abi()
{
    printf '#include <pawl/pawl.h>\n=PAWL_ABI\n' | "$cc" -std=c17 -E -P -I "$1" -x c - | sed -n 's/^=//p'
}

# broken OLDER NEWER: what today's headers, NEWER, break for a program that was compiled with OLDER.
broken()
{
    python3 "$shapes" probe "$1" >"$work/probe.c" &&
        "$cc" -std=c17 -I "$1" -o "$work/probe" "$work/probe.c" && "$work/probe" >"$work/older" || return 2
    "$cc" -std=c17 -I "$2" -o "$work/probe" "$work/probe.c" 2>"$work/err" ||
        { sed -nE "s/.*error: (.*)/a name is gone: \1/p" "$work/err"; return; }
    "$work/probe" >"$work/newer" && python3 "$shapes" compare "$work/older" "$work/newer"
}

echo "== the check can fail"
# planted HEADER MEMBER: today's headers without a member, as if it was new.
planted()
{
    rm -rf "$work/planted"
    cp -r "$source_dir/include" "$work/planted"
    sed -i -E "/[ *]$2;/d" "$work/planted/pawl/$1"
    ! cmp -s "$work/planted/pawl/$1" "$source_dir/include/pawl/$1" || die "$1 has no member $2"
    broken "$work/planted" "$source_dir/include" >"$work/found" || die "nothing to compare with $1"
}
planted loop.h projected
[ ! -s "$work/found" ] || die "a member at the end of pawl_step is refused: $(cat "$work/found")"
planted loop.h sent
grep -q '^pawl_step: projected was at byte' "$work/found" || die "a member inside of pawl_step passes"
planted queue_rows.h dead
grep -q '^pawl_queue_info: has no size in it' "$work/found" || die "a longer pawl_queue_info passes"
cp -r "$source_dir/include" "$work/gone"
sed -i -E 's/ projected;/ read;/' "$work/gone/pawl/loop.h"
broken "$source_dir/include" "$work/gone" | grep -q 'a name is gone: .*projected' ||
    die "a member that is gone passes"

echo "== the headers of the commit before"
git -C "$source_dir" rev-parse --quiet --verify HEAD >"$work/head" 2>/dev/null ||
    { echo "skipped: no git history here"; exit 77; }
revision=HEAD~1
git -C "$source_dir" diff --quiet HEAD -- 2>/dev/null || revision=HEAD
git -C "$source_dir" rev-parse --quiet --verify "$revision^{commit}" >/dev/null 2>&1 ||
    { echo "skipped: a clone without the commit before"; exit 77; }
before=$work/before
mkdir "$before"
git -C "$source_dir" archive "$revision" include | tar -x -C "$before" || die "no headers of $revision"
git -C "$source_dir" archive "$revision" "$program" 2>/dev/null | tar -x -C "$before" 2>/dev/null
[ -e "$before/$program" ] || { mkdir -p "$before/tests/system" && cp "$source_dir/$program" "$before/$program"; }
echo "$(git -C "$source_dir" log -1 --format='%h %s' "$revision"), ABI $(abi "$before/include")"
if [ "$(abi "$before/include")" != "$(abi "$source_dir/include")" ]; then
    echo "today's is $(abi "$source_dir/include"): programs are compiled again"
    exit 0
fi
found=$(broken "$before/include" "$source_dir/include") || die "the headers cannot be compared"
[ -z "$found" ] || die "a program that was compiled before breaks; change no such struct, or raise PAWL_ABI:
$found"

echo "== its program, with today's library"
source_dir=$before build_program "$before/$program" program
for store in memory: sqlite:; do
    [ $store != sqlite: ] || [ -e "$build_dir/libpawl-sqlite.so" ] || continue
    expect 0 '^it runs$' "$work/program" $store
done
