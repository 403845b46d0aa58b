#!/usr/bin/env bash
# abi_soak.sh - a program that was linked with the library of the last release runs with today's (docs/versions.md): no
# exported function is gone, none has other parameters, and a struct has grown only at its end, if it says its size.
# abidiff compares the two libraries, with the types of the public headers.
#
# The last release is the newest tag v*; without tags it is the commit before the one that set today's version. Where
# PAWL_ABI has changed since, programs are compiled again and nothing is compared. headers_before.sh compares the
# headers with those of the commit before, in every run of ./test.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
command -v abidiff >/dev/null || skip "no abidiff"
git -C "$source_dir" rev-parse --quiet --verify HEAD >/dev/null 2>&1 ||
    { echo "skipped: no git history here"; exit 77; }

version_of() # REVISION
{
    git -C "$source_dir" show "$1:CMakeLists.txt" 2>/dev/null | sed -nE 's/^project\(pawl VERSION ([0-9.]+).*/\1/p'
}

last_release()
{
    local revision
    git -C "$source_dir" describe --tags --match 'v[0-9]*' --abbrev=0 2>/dev/null && return
    for revision in $(git -C "$source_dir" log --format=%H -G'^project\(pawl VERSION' -- CMakeLists.txt); do
        [ "$(version_of "$revision^")" = "$(version_of HEAD)" ] || break
    done
    git -C "$source_dir" rev-parse --quiet --verify "$revision^"
}

# types_of SOURCES NAME: the ABI of the library that they make, in $work/NAME.abi.
types_of()
{
    cmake -S "$1" -B "$work/$2" -G Ninja --log-level=WARNING -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPAWL_TESTS=OFF -DPAWL_EXPORT_INTERNALS=OFF -DPAWL_WERROR=OFF \
        >"$work/out" 2>"$work/err" &&
        ninja -C "$work/$2" pawl >"$work/out" 2>"$work/err" &&
        abidw --headers-dir "$1/include" --drop-private-types --out-file "$work/$2.abi" "$work/$2/libpawl.so" \
            >"$work/out" 2>"$work/err"
}

# compare OLDER NEWER: 0 when nothing breaks. Names that begin with pawl__ were exported, and no header declares them.
compare()
{
    abidiff --no-added-syms --suppressions "$work/allowed" "$work/$1.abi" "$work/$2.abi" >"$work/out" 2>"$work/err"
}
{
    printf '[suppress_%s]\n  symbol_name_regexp = ^pawl__\n' function variable
    python3 "$source_dir/tests/support/shapes.py" sized "$source_dir/include" | while read -r name; do
        printf '[suppress_type]\n  type_kind = struct\n  name = %s\n  has_data_member_inserted_at = end\n' "$name"
    done
} >"$work/allowed"

echo "== today's library"
types_of "$source_dir" today || die "it is not built"

echo "== the check can fail"
# planted NAME EXPRESSION: as if the release had been another, which Python makes of today's `text`.
planted()
{
    python3 -c "import re, sys; text = sys.stdin.read(); sys.stdout.write($2)" <"$work/today.abi" >"$work/$1.abi" &&
        ! cmp -s "$work/$1.abi" "$work/today.abi" || die "$1 is not planted"
}
# without MEMBER: pawl_step has no such member.
without()
{
    echo "re.sub(r'(?s)(<class-decl name=.pawl_step. .*?)      <data-member [^\n]*\n[^\n]*name=.$1.[^\n]*\n" \
        "     </data-member>\n', r'\1', text, 1)"
}
planted end "$(without projected)"
compare end today || die "a member at the end of pawl_step is refused"
planted inside "$(without is_taken)"
! compare inside today || die "a member inside of pawl_step passes"
planted gone "text.replace('pawl_version', 'pawl_gone')"
! compare gone today || die "a function that is gone passes"

echo "== the last release"
release=$(last_release) || { echo "skipped: no release in the history that is here"; exit 77; }
git -C "$source_dir" archive --prefix=release/ "$release" | tar -x -C "$work" || die "no sources of $release"
echo "$(git -C "$source_dir" log -1 --format='%h %s' "$release"), version $(version_of "$release")"
abi() { sed -n 's/^#define PAWL_ABI //p' "$1/include/pawl/api.h"; }
if [ "$(abi "$work/release")" != "$(abi "$source_dir")" ]; then
    echo "its ABI is $(abi "$work/release"), today's $(abi "$source_dir"): programs are compiled again"
    exit 0
fi
types_of "$work/release" released || die "the last release is not built"
compare released today || die "a program that was linked with it breaks; change no such type, or raise PAWL_ABI"
head -n 3 "$work/out"
