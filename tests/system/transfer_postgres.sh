#!/usr/bin/env bash
# transfer_postgres.sh - the example `transfer` on PostgreSQL.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/transfer.sh"
own_schema transfer_test

moves 200 3 --store "$store"
! grep -vE ' of its workers crashed| crashed while it ran this (message|timeout) in isolation ' "$work/err" || die "something else than the kills on standard error"
moves 100 2 --accounts 2 --late 1ms --store "$store"
[ "$(count overdue)" -gt 0 ] || die "no timeout came"
[ "$(psql -XAtq "$url" -c "select count(*) from pg_tables where schemaname = '$schema'")" = 0 ] ||
    die "tables were left in $schema"
