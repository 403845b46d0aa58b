#!/usr/bin/env bash
# deaths_beside_postgres.sh - timeouts and a flush that kill their process, on PostgreSQL: dead letters and a dead
# partition with the signal, all others handled once.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_schema deaths_beside_test
export PAWL_STORE=$store PAWL_DRIVER_PATH=$build_dir
sagas=60 apart=30 seconds=60
. "$source_dir/tests/support/deaths_beside.sh"
