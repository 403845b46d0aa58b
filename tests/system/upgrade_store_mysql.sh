#!/usr/bin/env bash
# upgrade_store_mysql.sh - tables of version 3, the first on MySQL and MariaDB, are upgraded and worked with
# (tests/support/upgrade_store.sh); an event and a checkpoint stay.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
. "$source_dir/tests/support/mysql.sh"

# Names in double quotes; version 3 had a column without a default, which the rows do not name.
mode="set sql_mode = 'ANSI_QUOTES'; "

put()
{
    { echo "$mode"; cat; } | "${mysql_client[@]}" --default-character-set=utf8mb4 "$database" >"$work/put"
}

ask()
{
    sql "$mode$1"
}

time_of()
{
    case $1 in
    epoch) echo "'1970-01-01 00:00:00'" ;;
    past) echo "'2026-01-01 00:00:00'" ;;
    now) echo "utc_timestamp(6)" ;;
    later) echo "'2100-01-01 00:00:00'" ;;
    esac
}

# shellcheck disable=SC2034 # those of the support's
upgrade_on() # NAME
{
    local variable=PAWL_TEST_${1^^}
    echo "= $1"
    mysql_server "$1"
    own_mysql upgrade_store
    store=$(sed -E "s|^([a-z]+://[^/]*)/[^?]*|\1/$database|" <<<"${!variable}") old_version=3
    . "$source_dir/tests/support/upgrade_store.sh"
    cp "$source_dir/tests/system/upgrade/mysql_3.sql" "$work/tables.sql"
    [ "$1" = mysql ] || sed -i 's/utf8mb4_0900_bin/utf8mb4_nopad_bin/; s/ascii_bin/ascii_nopad_bin/' "$work/tables.sql"
    rm -f "$work/far.db"*
    upgrade_store "$work/tables.sql"
    expect 0 '"stream":"Ledger/a-1"' pawl events list --json --store "$store"
    asks 1 'select "Position" from "pawl_checkpoints" where "Name" = '"'balances'" || die "a checkpoint was lost"
}

done_count=0
for server in mysql mariadb; do
    variable=PAWL_TEST_${server^^}
    [ -n "${!variable:-}" ] || continue
    upgrade_on $server
    done_count=$((done_count + 1))
done
[ $done_count -gt 0 ] || need_server mysql
