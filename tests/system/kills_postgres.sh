#!/usr/bin/env bash
# kills_postgres.sh - twelve kills within four seconds over a backlog, on PostgreSQL.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_schema kills_test
export PAWL_STORE=$store PAWL_DRIVER_PATH=$build_dir
expect 0 "" pawl schema apply
messages=10000
. "$source_dir/tests/support/kills.sh"
