#!/usr/bin/env bash
# command_queue.sh - pawl queue on SQLite: which queues there are, who reads them, and their messages
# without claiming them.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
export PAWL_STORE=sqlite:$work/queue.db PAWL_DRIVER_PATH=$build_dir
expect 3 "queue.db: No such file or directory; pawl schema apply makes it" pawl queue list
[ ! -e "$work/queue.db" ] || die "looking made a database"
expect 0 '' pawl schema apply
. "$source_dir/tests/support/queue.sh"
