#!/usr/bin/env bash
# runners_soak.sh - runners.sh and runners_postgres.sh, four minutes each.
#
# SPDX-License-Identifier: Apache-2.0
export PAWL_TEST_SECONDS=240
here=$(dirname "$0")
bash "$here/runners.sh" || exit
bash "$here/runners_postgres.sh"
