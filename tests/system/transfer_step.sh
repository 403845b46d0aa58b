#!/usr/bin/env bash
# transfer_step.sh - the tables move to the version after this one while `transfer` is at work and
# killed: its processes start again on them, and the report comes out the same.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/versions.sh"
need_sqlite
build_sql
store=sqlite:$work/transfer.db
through_step
