#!/usr/bin/env bash
# command_saga_postgres.sh - pawl saga on PostgreSQL.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

own_schema upgrade_test
. "$source_dir/tests/support/upgrade.sh"
. "$source_dir/tests/support/sagas.sh"
