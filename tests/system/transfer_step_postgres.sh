#!/usr/bin/env bash
# transfer_step_postgres.sh - as transfer_step.sh, on PostgreSQL.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/versions.sh"
own_schema transfer_step
through_step
