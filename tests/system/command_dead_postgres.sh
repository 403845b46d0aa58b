#!/usr/bin/env bash
# command_dead_postgres.sh - pawl dead on PostgreSQL.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_schema dead_test
export PAWL_STORE=$store PAWL_DRIVER_PATH=$build_dir
expect 0 "" pawl schema apply
letters=3000
. "$source_dir/tests/support/dead.sh"
