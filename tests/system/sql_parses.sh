#!/usr/bin/env bash
# sql_parses.sh - the statements of SQL Server and Oracle (tests/golden/sql) are passed through the parser of sqlfluff: no
# such server can be installed here. A statement that is broken on purpose has to be found.
#
# PAWL_SQLFLUFF is its command, version 4 or later: older ones know no blocks. Without it the one is taken that
# schema_scripts_syntax takes, and without that the test is skipped.
#
# The parser does not know the pseudocolumns rowid and column_value, json_table's columns, a merge behind forall, and
# parameters without a name: it is given other words for them.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

# shellcheck source=scripts/sqlfluff.sh
. "$source_dir/scripts/sqlfluff.sh"
cd "$source_dir"
texts=(tests/golden/sql/{oracle,mssql}.sql tests/system/sql_parses.sh)
note=tests/golden/sql/parsed.sha256
! sqlfluff_parsed "$note" "${texts[@]}" || exit 0
sqlfluff=${PAWL_SQLFLUFF:-$(sqlfluff_find)} || sqlfluff=sqlfluff
version=$($sqlfluff --version 2>/dev/null | sed 's/.* //') || version=0
case $version in
[4-9]* | [1-9][0-9]*) ;;
*)
    echo "sql_parses: left out: no sqlfluff of version 4 or later ($sqlfluff)"
    exit 77
    ;;
esac

printf '[sqlfluff]\nlarge_file_skip_byte_limit = 0\n' >"$work/config"

# Blocks end with a slash; the list of parameters at the end is no SQL.
words()
{
    awk '/^-- Statements whose/ { exit } { print }' "$1" |
        awk 'BEGIN { RS = ""; ORS = "\n\n" }
            { body = $0; gsub(/(^|\n)--[^\n]*/, "", body); sub(/^\n/, "", body) }
            { gsub(/json_table\(j,[^;]*\)\)[ \n]order[ \n]by[ \n]n;/, "json_table(j) order by n;") }
            { gsub(/forall i in 1 \.\. p1\.count[ \n]merge/, "merge") }
            body ~ /^(savepoint|rollback to)/ { next } # sqlfluff has none of Oracle
            body ~ /^(declare|begin)/ { $0 = $0 "\n/" } { print }' |
        sed -e 's/column_value/row_value/g' -e 's/rowid/row_id/g' -e 's/?/:p/g'
}

# Each statement is a batch of its own, with names for its parameters.
batches()
{
    awk '/^-- Statements whose/ { exit } { print }' "$1" | grep -v '^--' | sed -e 's/?/@p/g' -e 's/^$/go/'
    echo go
}

parses() # FILE DIALECT
{
    timeout 300 $sqlfluff parse --dialect "$2" --config "$work/config" "$1" >"$work/out" 2>"$work/err" || true
    grep -q '^\[L:  1, ' "$work/out" && ! grep -q unparsable "$work/out" &&
        ! grep -q '^==== parsing violations' "$work/out"
}

words "$source_dir/tests/golden/sql/oracle.sql" >"$work/oracle.sql"
parses "$work/oracle.sql" oracle || {
    sed -n '/^==== parsing violations/,$p' "$work/out"
    die "a statement of Oracle does not parse"
}
printf 'select "A" form "B";\n\ndeclare r sys_refcursor; begin open r select 1 from "B"; end;\n/\n' >"$work/bad.sql"
! parses "$work/bad.sql" oracle || die "the parser takes what is no SQL"

batches "$source_dir/tests/golden/sql/mssql.sql" >"$work/mssql.sql"
[ "$(grep -c '^go' "$work/mssql.sql")" -gt 150 ] || die "statements of SQL Server are left out"
parses "$work/mssql.sql" tsql || {
    sed -n '/^==== parsing violations/,$p' "$work/out"
    die "a statement of SQL Server does not parse"
}
# Of the batches the first one that has a hint: to parse all of them again takes half a minute.
awk 'BEGIN { RS = "go\n" } /with \(updlock/ { printf "%sgo\n", $0; exit }' "$work/mssql.sql" >"$work/one.sql"
parses "$work/one.sql" tsql || die "a batch does not parse by itself"
sed 's/with (updlock/with updlock (/' "$work/one.sql" >"$work/bad.sql"
! cmp -s "$work/bad.sql" "$work/one.sql" || die "no defect in the statements of SQL Server"
! parses "$work/bad.sql" tsql || die "the parser takes what is no T-SQL"
sqlfluff_note "$note" "${texts[@]}"
