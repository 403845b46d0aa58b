#!/usr/bin/env bash
# runners.sh - four processes that could all deliver one outbox in a SQLite file, killed
# and stopped at random: all is delivered, each source in order, and another process
# takes over within 15 seconds. runners.c says how.
#
#   PAWL_TEST_SEED=N bash runners.sh     the same choices once more
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
need_sqlite
build_program runners.c runners

"$work/runners" "sqlite:$work/outbox.db" "$work/book" "${PAWL_TEST_SECONDS:-10}" \
    "${PAWL_TEST_SEED:-$RANDOM$RANDOM}" 2>"$work/err" || die "runners on SQLite"
