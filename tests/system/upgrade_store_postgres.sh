#!/usr/bin/env bash
# upgrade_store_postgres.sh - tables of version 1 on PostgreSQL, as the first program made them, are upgraded and worked
# with (tests/support/upgrade_store.sh).
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
own_schema upgrade_store
# shellcheck disable=SC2034 # that of the support's
old_version=1
. "$source_dir/tests/support/upgrade_store.sh"

put()
{
    PGOPTIONS="-c search_path=$schema -c client_min_messages=warning" psql -XAtq "$url" -v ON_ERROR_STOP=1 >"$work/put"
}

ask()
{
    PGOPTIONS="-c search_path=$schema -c client_min_messages=warning" psql -XAtq "$url" -c "$1"
}

time_of()
{
    case $1 in
    epoch) echo "'1970-01-01 00:00:00+00'" ;;
    past) echo "'2026-01-01 00:00:00+00'" ;;
    now) echo "now()" ;;
    later) echo "'2100-01-01 00:00:00+00'" ;;
    esac
}

upgrade_store "$source_dir/tests/contract/schema_1_postgres.sql" "$source_dir/tests/system/upgrade/postgres_1.sql"
