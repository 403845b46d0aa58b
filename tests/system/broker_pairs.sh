#!/usr/bin/env bash
# broker_pairs.sh - two processes read one queue of RabbitMQ, where replies come right behind the messages that begin their sagas:
# no reply is lost, whichever process gets which, when the connections are cut, and when a process ends in order or is killed. E3.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/rabbit.sh
. "$source_dir/tests/support/rabbit.sh"
# shellcheck source=tests/support/broker_pairs.sh
. "$source_dir/tests/support/broker_pairs.sh"

need_sqlite
pairs_begin
export PAWL_STORE=sqlite:$work/pairs.db
pairs_start everyday
pairs_run 50 10
pairs_run 50 3
pairs_run 50 0
pairs_run 100 3 cut 3
pairs_run 100 3 replace 15
pairs_run 100 3 replace 9
pairs_end
