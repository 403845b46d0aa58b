#!/usr/bin/env bash
# runners_postgres.sh - runners.sh on PostgreSQL, where the server ends some of their sessions
# now and then.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
own_schema runners_test
build_program runners.c runners
store="$store&application_name=$schema" # own_schema has begun the parameters
export PAWL_TEST_CUT="psql -XAtq '$url' -c \"select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = '$schema' order by random() limit 1 + random() * 2\" >'$work/cut'"
pawl schema apply --store "$store" >"$work/out" 2>"$work/err" || die "the schema is not applied"

"$work/runners" "$store" "$work/book" "${PAWL_TEST_SECONDS:-10}" \
    "${PAWL_TEST_SEED:-$RANDOM$RANDOM}" 2>"$work/err" || die "runners on PostgreSQL"
