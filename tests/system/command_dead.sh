#!/usr/bin/env bash
# command_dead.sh - pawl dead on SQLite: looking at dead letters, and what an operator does with
# them; one kind of 10,000 in bulk.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
export PAWL_STORE=sqlite:$work/dead.db PAWL_DRIVER_PATH=$build_dir
expect 3 "dead.db: No such file" pawl dead list
[ ! -e "$work/dead.db" ] || die "looking made a database"
expect 0 '' pawl schema apply
letters=10000
. "$source_dir/tests/support/dead.sh"
