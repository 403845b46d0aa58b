#!/usr/bin/env bash
# upgrade_store.sh - a file with tables of version 1, the first that pawl had, is upgraded and worked with
# (tests/support/upgrade_store.sh).
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
need_sqlite
build_sql
: >"$work/old.db"
# shellcheck disable=SC2034 # those of the support's
store="sqlite:$work/old.db?create=no" old_version=1
. "$source_dir/tests/support/upgrade_store.sh"

put()
{
    "$work/sql" "$work/old.db" "$(cat)" >"$work/put"
}

ask()
{
    "$work/sql" "$work/old.db" "$1"
}

time_of()
{
    case $1 in
    epoch) echo 0 ;;
    past) echo 1767225600000000 ;;
    now) date +%s000000 ;;
    later) echo 4102444800000000 ;;
    esac
}

upgrade_store "$source_dir/tests/contract/schema_1_sqlite.sql" "$source_dir/tests/system/upgrade/sqlite_1.sql"
