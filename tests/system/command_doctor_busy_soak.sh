#!/usr/bin/env bash
# command_doctor_busy_soak.sh - as command_doctor_busy.sh, for a minute at each store, beside 30,000 messages and more.
#
# SPDX-License-Identifier: Apache-2.0
export PAWL_TEST_DOCTOR_SECONDS=60
exec bash "${PAWL_SOURCE_DIR:?}/tests/system/command_doctor_busy.sh"
