#!/usr/bin/env bash
# check_headers.sh - each public header compiles alone and twice, as C17
# without extensions and as C++17; a message is made in C++20 as well, and there too a
# C string is refused where a text is due.
#
# SPDX-License-Identifier: Apache-2.0
set -u
include=$(cd "$(dirname "$0")/../include" && pwd)
cc=${CC:-cc}
case $cc in
*clang) cxx=${CXX:-clang++} ;;
*) cxx=${CXX:-g++} ;;
esac

# as_c INCLUDE_DIR HEADER, as_cxx INCLUDE_DIR HEADER
as_c()
{
    printf '#include "%s"\n#include "%s"\nint main(void) { return 0; }\n' "$2" "$2" |
        "$cc" -std=c17 -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Werror \
            -fsyntax-only -I "$1" -x c -
}
as_cxx()
{
    printf '#include "%s"\n#include "%s"\nint main() { return 0; }\n' "$2" "$2" |
        "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$1" -x c++ -
}

if ! command -v "$cxx" >/dev/null; then
    echo "$cxx is not installed; the headers are not tried in C++"
    [ "${PAWL_REQUIRE:-}" = all ] && exit 1
    exit 77
fi

# The check can fail: a header that leans on another, and a C-only one.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
echo 'size_t leaning(void);' >"$tree/leaning.h"
echo 'static int *c_only(void *p) { return p; }' >"$tree/c_only.h"
if as_c "$tree" leaning.h 2>/dev/null || as_cxx "$tree" c_only.h 2>/dev/null; then
    echo "self-test: a bad header passed"
    exit 1
fi

# initialisers INCLUDE_DIR: each PAWL_X_INIT is a whole initialiser, braces included, and each
# PAWL_X_HEAD the first members of one (api.h).
initialisers()
{
    local name body result=0
    while read -r name; do
        body=$(printf '#include "pawl/pawl.h"\n#include "pawl/operate.h"\n#include "pawl/driver.h"\n#include "pawl/test.h"\n=%s\n' \
            "$name" | sed 's/_TEXT_INIT$/&("")/' | "$cc" -std=c17 -E -P -I "$1" -x c - | sed -n '/^=/,$p' | tr -d ' \n')
        case $name=$body in
        *_INIT=={*} | *_HEAD==.*) ;;
        *)
            echo "$name: an _INIT is whole, with braces, a _HEAD the first members without"
            result=1
            ;;
        esac
    done < <(sed -nE 's/^#define (PAWL_[A-Z_]+_(INIT|HEAD))\b.*/\1/p' "$1"/pawl/*.h)
    return $result
}
mkdir "$tree/pawl"
cp "$include"/pawl/*.h "$tree/pawl/"
printf '#define PAWL_BARE_INIT .size = 1\n' >>"$tree/pawl/api.h"
initialisers "$tree" >/dev/null && { echo "self-test: an _INIT without braces passed"; exit 1; }
cp "$include/pawl/api.h" "$tree/pawl/"
printf '#define PAWL_WHOLE_HEAD {.size = 1}\n' >>"$tree/pawl/api.h"
initialisers "$tree" >/dev/null && { echo "self-test: a _HEAD with braces passed"; exit 1; }
rm -r "$tree/pawl"

# The expression makes a message of a record with the text `id` and the number `n`; a record
# itself is declared in C.
makes_message()
{
    "$cxx" -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$include" -x c++ - <<END
#include "pawl/record.h"
struct order { pawl_text pawl_extra; pawl_text id; int64_t n; };
extern "C" const pawl_record *order_pawl_record(void);
int take(const pawl_record *record, const void *message);
int make(const char *string, pawl_text text)
{
    (void)string, (void)text;
    return take($1);
}
END
}

result=0
for good in 'order' 'order, .n = 3' 'order, .id = text, .n = 3' 'order, .id = PAWL_TEXT("x")' \
    'order, .id = pawl_text_of(string)'; do
    if ! makes_message "PAWL_MESSAGE($good)"; then
        echo "PAWL_MESSAGE($good) does not compile in C++20"
        result=1
    fi
done
for bad in 'order, .id = "x"' 'order, .id = string'; do
    if makes_message "PAWL_MESSAGE($bad)" 2>/dev/null; then
        echo "PAWL_MESSAGE($bad) compiles in C++20"
        result=1
    fi
done
# A record may be declared in C++17, too, of which g++ has designated initialisers as an extension.
for compiler in "$cxx" g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    for standard in 17 20; do
        "$compiler" -std=c++$standard -Wall -Wextra -Werror -fsyntax-only -I "$include" -x c++ - <<'END' || {
#include "pawl/record.h"
#define STAGE(E) E(STAGE_PLACED, "placed") E(STAGE_PAID, "paid")
PAWL_ENUM(stage, STAGE);
#define ADDRESS(F) F(TEXT, city) F(OPT_TEXT, street, .secret = true) F(FIXED, country, 2)
PAWL_RECORD(address, ADDRESS);
#define ORDER(F)                                                                        \
    F(INT64, n, .required = true) F(ENUM, at, stage) F(OPT_ENUM, was, stage)            \
    F(LIST_INT32, counts) F(OPT_FIXED, code, 3) F(LIST_FIXED, codes, 3)                 \
    F(RECORD, to, address) F(OPT_RECORD, from, address) F(LIST_RECORD, by_way_of, address)
PAWL_RECORD(order, ORDER);
const pawl_record *declared();
const pawl_record *declared() { return PAWL_RECORD_OF(order)(); }
END
            echo "PAWL_RECORD does not compile without a warning in C++$standard by $compiler"
            result=1
        }
    done
done
# Each PAWL_X_INIT initialises without a warning a pawl_x, in the namespace and in a function.
all_initialised()
{
    local name type value
    for header in "$include"/pawl/*.h; do
        echo "#include \"pawl/$(basename "$header")\""
    done
    while read -r name; do
        type=${name%_INIT} value=$name
        [ "$name" != PAWL_TEXT_INIT ] || value="$name(\"x\")"
        printf 'extern const %s made_%s;\nconst %s made_%s = %s;\n%s get_%s();\n%s get_%s()\n{\n    %s got = %s;\n    return got;\n}\n' \
            "${type,,}" "$name" "${type,,}" "$name" "$value" "${type,,}" "$name" "${type,,}" "$name" "${type,,}" "$value"
    done < <(sed -nE 's/^#define (PAWL_[A-Z_]+_INIT)\b.*/\1/p' "$include"/pawl/*.h)
}
all_initialised >"$tree/initialised.cpp"
for compiler in "$cxx" g++ clang++; do
    command -v "$compiler" >/dev/null || continue
    for standard in 17 20; do
        "$compiler" -std=c++$standard -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$include" "$tree/initialised.cpp" || {
            echo "a PAWL_X_INIT does not compile without a warning in C++$standard by $compiler"
            result=1
        }
    done
done
# A duration is a constant without a warning, with fractions, too, and its argument may be any number.
durations='#include "pawl/types.h"
extern const int64_t all[3];
const int64_t all[3] = {PAWL_SECONDS(0.5), PAWL_MINUTES(1.5f), PAWL_DAYS(2u)};
extern int64_t sum(int i, double d, uint64_t u);
int64_t sum(int i, double d, uint64_t u) { return PAWL_HOURS(i) + PAWL_SECONDS(d) + PAWL_MILLISECONDS(u); }'
strict=(-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Werror -fsyntax-only -I "$include")
"$cc" -std=c17 "${strict[@]}" -x c - <<<"$durations" &&
    "$cxx" -std=c++17 "${strict[@]}" -x c++ - <<<"$durations
static_assert(PAWL_SECONDS(0.5) == 500000 && PAWL_SECONDS(INT64_C(9223372036854)) == INT64_C(9223372036854000000), \"\");" || {
    echo "a duration has a warning, or another value"
    result=1
}
# A literal as text needs no C++20, as initialisers do.
for standard in 11 17 20; do
    printf '#include "pawl/pawl.h"\npawl_text name = PAWL_TEXT("x");\n%s\n' \
        'bool is(pawl_text given) { return pawl_text_equal(given, PAWL_TEXT("y")); }' |
        "$cxx" -std=c++$standard -Wall -Wextra -Wpedantic -pedantic-errors -Werror -fsyntax-only -I "$include" -x c++ - || {
        echo "PAWL_TEXT does not compile in C++$standard"
        result=1
    }
done
# The driver's own header, where it is installed, agrees with what a handler is given.
gives_connection() # PACKAGE HEADER FUNCTION TYPE
{
    local -a flags
    pkg-config --exists "$1" 2>/dev/null || return 0
    read -ra flags <<<"$(pkg-config --cflags "$1")"
    local first second code own='"pawl/context.h"'
    for first in "<$2>" "$own"; do
        second=$own
        [ "$first" != "$own" ] || second="<$2>"
        code=$(printf '#include %s\n#include %s\n%s *get(pawl_context *ctx) { return %s(ctx); }' \
            "$first" "$second" "$4" "$3")
        "$cc" -std=c17 -Werror -Wno-missing-prototypes -fsyntax-only -I "$include" "${flags[@]}" \
            -x c - <<<"$code" &&
            "$cxx" -std=c++17 -Werror -fsyntax-only -I "$include" "${flags[@]}" -x c++ - <<<"$code" ||
            return 1
    done
}
if ! gives_connection sqlite3 sqlite3.h pawl_sqlite sqlite3 ||
    ! gives_connection libpq libpq-fe.h pawl_postgres PGconn ||
    ! gives_connection libmariadb mysql.h pawl_mysql MYSQL; then
    echo "a connection has another type in its driver's header"
    result=1
fi
if pkg-config --exists sqlite3 && gives_connection sqlite3 sqlite3.h pawl_sqlite sqlite3_stmt 2>/dev/null; then
    echo "self-test: a connection of the wrong type passed"
    result=1
fi
initialisers "$include" || result=1
# The version for #if is that of the text, and the project's.
project=$(sed -n 's/^project(pawl VERSION \([0-9.]*\).*/\1/p' "$include/../CMakeLists.txt")
version=$(printf '#include "pawl/pawl.h"\nversion %s\n' \
    'PAWL_VERSION_MAJOR PAWL_VERSION_MINOR PAWL_VERSION_PATCH PAWL_VERSION PAWL_VERSION_NUMBER' |
    "$cc" -E -P -I "$include" -x c - | sed -n 's/^version //p')
read -r major minor patch <<<"${project//./ }"
if [ "$version" != "$major $minor $patch \"$project\" ($major * 10000 + $minor * 100 + $patch)" ]; then
    echo "the project is $project, pawl.h says: $version"
    result=1
fi
# Other files that name the newest version.
changes=$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$include/../CHANGELOG.md" | head -n 1)
wrapped=$(sed -n 's/^directory = pawl-//p' "$include/../dist/meson/pawl.wrap")
if [ "$changes" != "$project" ] || [ "$wrapped" != "$project" ]; then
    echo "the project is $project, CHANGELOG.md begins with $changes, pawl.wrap has $wrapped"
    result=1
fi
for header in "$include"/pawl/*.h; do
    name=pawl/$(basename "$header")
    for language in c cxx; do
        if ! "as_$language" "$include" "$name" 2>"$tree/messages"; then
            echo "$name does not compile alone (as_$language):"
            head -n 6 "$tree/messages"
            result=1
        fi
    done
done
exit $result
