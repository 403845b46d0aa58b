#!/usr/bin/env bash
# check_style.sh [ROOT] - what a compiler does not say: files of at most 600
# lines (headers 300), functions of at most 70, no marks of unfinished work, no
# paths of one machine, a licence line in every file, that the tests which a header
# names exist, no number with a point that the program's locale makes a comma, and no comment that begins with
# "what", "who", "it" or "that" instead of the thing.
#
# The check is first tried on made-up files, one violation at a time.
#
# SPDX-License-Identifier: Apache-2.0
set -u
root=${1:-$(dirname "$0")/..}

# Reads the sources given as arguments. A function is what stands between "{"
# and "}" in the first column; its signature begins at the last line that began
# a declaration.
check_sizes()
{
    awk '
    function say(text) { print FILENAME ":" FNR ": " text; bad = 1 }
    function end_file() {
        limit = previous ~ /\.h$/ ? 300 : 600
        if (previous != "" && lines > limit) {
            print previous ": " lines " lines, the limit is " limit
            bad = 1
        }
    }
    FNR == 1 { end_file(); previous = FILENAME; start = 0; inside = 0 }
    { lines = FNR }
    inside && /^}/ {
        if (FNR - start + 1 > 70)
            say("a function of " FNR - start + 1 " lines, the limit is 70")
        inside = 0
    }
    !inside && /^[A-Za-z_]/ { start = FNR }
    !inside && /^{/ { inside = 1 }
    END { end_file(); exit bad }' "$@"
}

# The marks are written in halves so that this file does not hold them.
check_words()
{
    local marks='\b(TO''DO|FIX''ME|XX''X|HA''CK)\b|not implemen''ted'
    local paths='(^|[^A-Za-z0-9_.$}])/(ro''ot|ho''me|wo''rk|Use''rs)/'
    ! grep -nHE "$marks" "$@" && ! grep -nHE "$paths" "$@"
}

check_licence()
{
    ! grep -L 'SPDX-License-Identifier: Apache-2.0' "$@" | sed 's/$/: no line SPDX-License-Identifier: Apache-2.0/' | grep .
}

# Folders whose comments name their subject. A sentence about
# "what" or "who" leaves the reader to guess it, and so does a comment that begins with a
# pronoun: there is no sentence before it that names the thing.
named_folders='^(include/pawl|src|bench|examples|tests)/'
sentence='(/\* |^ *\* |[.:] )(What|Who|Whoever) [a-z]'
comment='/\* ([a-z_0-9]+\.[ch](:| -) )?'
pronoun="$comment([Ww]hat|[Ww]ho|[Ww]hoever|[Ii]t|[Tt]hey|[Tt]hose|[Tt]hat) [a-z]"
numeral="$comment([Oo]ne (that|who|whose|which|is|has)|[Ss]ome (of|that|are|is|have)) [a-z]"
check_subjects()
{
    ! printf '%s\n' "$@" | grep -E "$named_folders" | xargs -rd '\n' grep -nHE "$sentence|$pronoun|$numeral" | grep .
}

# The library prints and reads no double by the C library: the locale of the program that it is in may have a comma for
# the point, in SQL too. The command has no locale.
check_points()
{
    ! printf '%s\n' "$@" | grep -E '^src/' | grep -vE '^src/(cli|conformance)/' | xargs -rd '\n' grep -nHP \
        '(?<!%)%[-+#0]*[0-9*]*((\.[0-9*]+)?[lL]?[fgG](?![0-9A-Za-z])|\.[0-9*]+[lL]?[eE])|\b(strto(d|f|ld)|atof)\(' | grep .
}

# The files behind "Tests:", up to an empty line of the comment. A name without a folder
# stands in that of the name before it.
check_tests_named()
{
    local file name result=0
    while read -r file name; do
        compgen -G "$name" >/dev/null && continue
        echo "$file: there is no $name"
        result=1
    done < <(awk '
    FNR == 1 { inside = 0 }
    /^ \* Tests:/ { inside = 1; folder = "" }
    inside && (/^ \*$/ || /\*\//) { inside = 0 }
    inside {
        for (i = 2; i <= NF; i++) {
            name = $i
            sub(/[.,;]+$/, "", name)
            if (name !~ /\// && name !~ /\.(c|sh)$/)
                continue
            if (name ~ /\//)
                folder = substr(name, 1, match(name, /[^\/]*$/) - 1)
            else
                name = folder name
            print FILENAME, name
        }
    }' "$@")
    return $result
}

check_tree()
{
    local -a sources texts
    mapfile -d '' -t sources < <(cd "$1" && find src include tests bench examples \
        -name node_modules -prune -o -name '*.[ch]' -print0 2>/dev/null | sort -z)
    mapfile -d '' -t texts < <(cd "$1" && find CMakeLists.txt cmake scripts src include tests \
        bench examples test demo .ci/run -name node_modules -prune -o \( -name '*.sh' -o -name '*.py' -o -name '*.cmake' -o -name 'CMakeLists.txt' \
        -o -name test -o -name demo -o -name run \) -type f -print0 2>/dev/null | sort -z)
    local result=0
    cd "$1" || exit 1
    if [ ${#sources[@]} -gt 0 ]; then
        check_sizes "${sources[@]}" || result=1
        check_tests_named "${sources[@]}" || result=1
        check_subjects "${sources[@]}" || result=1
        check_points "${sources[@]}" || result=1
    fi
    check_words "${sources[@]}" "${texts[@]}" || result=1
    check_licence "${sources[@]}" "${texts[@]}" || result=1
    return $result
}

# try WANTED NAME ABOUT: standard input as the file src/NAME passes or does not.
try()
{
    local tree answer=refused
    tree=$(mktemp -d)
    mkdir -p "$tree/src/base"
    cat >"$tree/src/$2"
    if (check_tree "$tree") >/dev/null; then
        answer=passed
    fi
    rm -rf "$tree"
    if [ "$answer" != "$1" ]; then
        echo "self-test: $2 ($3) $answer, should be $1"
        exit 1
    fi
}

licence='/* SPDX-License-Identifier: Apache-2.0 */'
lines()
{
    seq "$1" | sed "s|.*|$2|"
}
function_of()
{
    printf '%s\nint f(int a,\n      int b)\n{\n' "$licence"
    lines $(($1 - 4)) '    a += b;'
    printf '}\n'
}
named()
{
    printf '/* a.h - a.\n *\n * Tests: %s\n *\n * SPDX-License-Identifier: Apache-2.0\n */\n' "$1"
}

{ echo "$licence"; lines 599 'int x;'; } | try passed a.c "600 lines"
{ echo "$licence"; lines 600 'int x;'; } | try refused a.c "601 lines"
{ echo "$licence"; lines 300 'int x;'; } | try refused a.h "301 lines"
function_of 70 | try passed a.c "70 lines of function"
function_of 71 | try refused a.c "71 lines of function"
echo "int x;" | try refused a.c "no licence"
echo "$licence /* TO""DO */" | try refused a.c "a mark"
echo "$licence \"/ro""ot/x\"" | try refused a.c "a path"
echo "$licence \"a/wo""rk/b\"" | try passed a.c "a relative path"
named 'src/a.h, *.h' | try passed a.h "tests that exist"
named 'src/b.c' | try refused a.h "a test that does not exist"
named 'src/a.h,
 *     b.c' | try refused a.h "one on the second line"
{ echo "$licence"; echo '/* What is left is freed. */'; } | try refused base/a.c "a subject that is not named"
{ echo "$licence"; echo '/* Frees. Who waits is woken. */'; } | try refused base/a.c "one in a second sentence"
{ echo "$licence"; printf '/* Frees.\n * What is left stays. */\n'; } | try refused base/a.c "one on a second line"
{ echo "$licence"; echo '/* Frees what is left, for who waits. "What?" */'; } | try passed base/a.c "an object"
{ echo "$licence"; echo 'int x; /* that is left */'; } | try refused base/a.c "a pronoun"
{ echo "$licence"; echo '/* They are sorted. */'; } | try refused base/a.c "a pronoun in upper case"
{ echo "$licence"; echo '/* a.c - what a list is. */'; } | try refused base/a.c "one behind the name of the file"
{ echo "$licence"; echo 'int x; /* one that is free */'; } | try refused base/a.c "a numeral without its noun"
{ echo "$licence"; echo '/* Some of the rows. */'; } | try refused base/a.c "some without their noun"
{ echo "$licence"; echo '/* One row, or some rows. It stays. */'; } | try passed base/a.c "a numeral with its noun"
{ echo "$licence"; echo 'f("select sleep(%.3f)", s);'; } | try refused base/a.c "a double in SQL"
{ echo "$licence"; echo 'f("%g s", s);'; } | try refused base/a.c "a double in a text"
{ echo "$licence"; echo 'f("%.17e", s);'; } | try refused base/a.c "a double with an exponent"
{ echo "$licence"; echo 'f(strtod(s, NULL));'; } | try refused base/a.c "a double that is read"
{ echo "$licence"; echo 'f("%d of %.*s, 50 %%", "%2F %%2F {_id: %e}");'; } | try passed base/a.c "no double"

check_tree "$root"
