#!/usr/bin/env bash
# kills_soak.sh - twelve kills within four seconds over a backlog of 20,000 cost at most three seconds more on an
# idle machine, on SQLite and PostgreSQL.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
export PAWL_DRIVER_PATH=$build_dir
export PAWL_STORE=sqlite:$work/kills.db
expect 0 "" pawl schema apply
messages=20000 more=3
. "$source_dir/tests/support/kills.sh"
own_schema kills_soak
export PAWL_STORE=$store
expect 0 "" pawl schema apply
. "$source_dir/tests/support/kills.sh"
