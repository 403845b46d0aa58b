#!/usr/bin/env bash
# transfer_soak.sh - the example `transfer` in its full size, and many small ones: on
# SQLite, and on PostgreSQL where there is a server.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/transfer.sh"

run_all() # STORE
{
    moves 10000 20 --store "$1"
    moves 10000 200 --accounts 100 --store "$1"
    for accounts in 2 3 10 1000; do
        moves 2000 40 --accounts $accounts --store "$1"
    done
    moves 2000 20 --runners 12 --late 10ms --store "$1"
}

need_sqlite
run_all "sqlite:$work/transfer.db"

own_schema transfer_soak
run_all "$store"
