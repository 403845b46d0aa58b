#!/usr/bin/env bash
# kills_soak.sh - twelve kills within four seconds over a backlog of 20,000 cost at most three seconds more on an
# idle machine, on SQLite, where one process at a time handles messages, and on PostgreSQL; and on an ordered endpoint of
# four workers, of which one works, any time, but not the order.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
export PAWL_DRIVER_PATH=$build_dir
own_schema kills_soak
# shellcheck disable=SC2034 # kills.sh reads them
messages=20000 us=250 pause=0.3 more=3 how=()
export PAWL_STORE=sqlite:$work/kills.db
. "$source_dir/tests/support/kills.sh"
us=500
PAWL_STORE=$store
. "$source_dir/tests/support/kills.sh"

more='' how=(--ordered property:kills --workers 4) is_ordered=yes us=250
PAWL_STORE=sqlite:$work/ordered.db
. "$source_dir/tests/support/kills.sh"
expect 0 "" pawl schema drop --store "$store" --yes
PAWL_STORE=$store
. "$source_dir/tests/support/kills.sh"
