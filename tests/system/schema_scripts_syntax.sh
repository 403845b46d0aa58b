#!/usr/bin/env bash
# schema_scripts_syntax.sh - the scripts of SQL Server and Oracle in tests/golden/schema, which no server
# here can run, are read by sqlfluff, which finds no section that it cannot parse.
#
# sqlfluff is the one on the path, or is fetched once into a folder of its own: by pip, or as Debian's
# newest package. Where neither can be had the test is skipped: PAWL_REQUIRE asks for no network.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=scripts/sqlfluff.sh
. "$source_dir/scripts/sqlfluff.sh"
cd "$source_dir"
golden=tests/golden/schema
texts=("$golden"/{mssql,oracle}{,_drop}.sql tests/system/schema_scripts_syntax.sh)
note=$golden/parsed.sha256
! sqlfluff_parsed "$note" "${texts[@]}" || exit 0

sqlfluff=$(sqlfluff_find) || { echo "skipped: no sqlfluff 3 or later, by pip or by apt"; exit 77; }

# By itself it leaves out files of more than 20,000 bytes.
printf '[sqlfluff]\nlarge_file_skip_byte_limit = 0\n' >"$work/config"

# parse DIALECT FILE: what it cannot parse is in the output, and the exit code says so.
parse()
{
    timeout 300 "$sqlfluff" parse --config "$work/config" --dialect "$1" "$2" >"$work/out" 2>"$work/err"
    grep -q '^\[L:  1, ' "$work/out" || die "sqlfluff says nothing of $2"
    ! grep -q unparsable "$work/out"
}

# A script with a defect is seen, or all that follows says nothing.
check()
{
    local script
    for script in "$2.sql" "$2_drop.sql"; do
        echo "== $script"
        parse "$1" "$golden/$script" || { grep -A 3 unparsable "$work/out" | head -20; die "$script"; }
    done
    # Of the script as far as its first table: to parse all of it again takes long.
    awk '{ print } /create table/ { is_there = 1 } is_there && NF == 0 { exit }' "$golden/$2.sql" >"$work/first.sql"
    parse "$1" "$work/first.sql" || die "the beginning of $2.sql by itself"
    sed "0,/$3/s//$4/" "$work/first.sql" >"$work/defect.sql"
    ! cmp -s "$work/defect.sql" "$work/first.sql" || die "no defect in $2.sql"
    ! parse "$1" "$work/defect.sql" || die "sqlfluff takes anything"
}
check tsql mssql 'create table' 'create tabel'
check oracle oracle 'end if;' 'end of;'
sqlfluff_note "$note" "${texts[@]}"
