#!/usr/bin/env bash
# command_find_postgres.sh - pawl find on PostgreSQL.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_schema find_test
export PAWL_STORE=$store PAWL_DRIVER_PATH=$build_dir
expect 0 "" pawl schema apply
. "$source_dir/tests/support/find.sh"
