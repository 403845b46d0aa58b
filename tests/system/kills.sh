#!/usr/bin/env bash
# kills.sh - twelve kills within two seconds over a backlog, on SQLite.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
export PAWL_STORE=sqlite:$work/kills.db PAWL_DRIVER_PATH=$build_dir
# shellcheck disable=SC2034 # kills.sh reads them
messages=10000 us=400 pause=0.1 how=()
. "$source_dir/tests/support/kills.sh"
