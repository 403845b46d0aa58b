#!/usr/bin/env bash
# deaths_postgres_soak.sh - a handler that kills its process on twenty of 20,000 messages, on PostgreSQL: these become dead letters,
# all others are handled once.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_schema deaths_soak
export PAWL_STORE=$store PAWL_DRIVER_PATH=$build_dir
expect 0 "" pawl schema apply
messages=20000 apart=1000 seconds=1200
. "$source_dir/tests/support/deaths.sh"
