#!/usr/bin/env bash
# deaths_postgres.sh - a handler that kills its process on some messages, on PostgreSQL: these become dead letters,
# all others are handled once.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_schema deaths_test
export PAWL_STORE=$store PAWL_DRIVER_PATH=$build_dir
expect 0 "" pawl schema apply
messages=600 apart=200 seconds=60
. "$source_dir/tests/support/deaths.sh"
