#!/usr/bin/env bash
# kills_postgres.sh - twelve kills within two seconds over a backlog, on PostgreSQL.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_schema kills_test
export PAWL_STORE=$store PAWL_DRIVER_PATH=$build_dir
# shellcheck disable=SC2034 # kills.sh reads them
messages=10000 us=1000 pause=0.1 how=()
. "$source_dir/tests/support/kills.sh"
