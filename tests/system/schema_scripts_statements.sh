#!/usr/bin/env bash
# schema_scripts_statements.sh - MariaDB and MySQL prepare every statement of
# tests/golden/sql/mysql.sql, on the tables that tests/golden/schema makes; those that
# are unlike the shared ones do what these do.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
. "$source_dir/tests/support/mysql.sh"

# Each statement as one that prepares it, with its name before it in a comment.
as_prepared() # FILE
{
    awk -v quote="'" '
    /^-- / { name = $2; sub(/,$/, "", name); text = ""; next }
    name != "" && NF != 0 {
        gsub(/\\/, "\\\\"); gsub(quote, quote quote)
        text = text (text == "" ? "" : " ") $0
        if (sub(/;$/, "", text)) { printf "prepare p from %s/* %s */ %s%s;\n", quote, name, text, quote; name = "" }
    }' "$1"
}

# Statements of a cluster are sent to MariaDB alone, which has one: MySQL does not know their settings.
prepare_all() # DIALECT
{
    as_prepared "$source_dir/tests/golden/sql/mysql.sql" >"$work/prepare.sql"
    [ "$1" = mariadb ] || sed -i '/set session wsrep_sync_wait/d' "$work/prepare.sql"
    [ "$(wc -l <"$work/prepare.sql")" -ge 100 ] || die "$(wc -l <"$work/prepare.sql") statements of $1"
    "${mysql_client[@]}" --default-character-set=utf8mb4 "$database" <"$work/prepare.sql" \
        >"$work/out" 2>"$work/err" || die "$1 refuses a statement"
}

# run NAME VALUE ...: one of the prepared statements, with the values.
run()
{
    local name=$1 i=0 values='' set=''
    shift
    for value in "$@"; do
        i=$((i + 1))
        set+="set @v$i = $value; " values+="${values:+, }@v$i"
    done
    sql "$(grep "from '/\* $name \*/" "$work/prepare.sql") $set execute p using $values"
}

worker='insert into pawl_workers (Id, Endpoint, Epoch, Process, Pid, Seen, Messages, Timeouts, Flushes, Failures,
    Conflicts, Dead, Types) values'
check_own()
{
    # Onto worker a what worker b counted: the second parameter stands first in the text.
    sql "$worker ('a', '', 0, 0, 0, now(), 1, 2, 3, 4, 5, 6, ''), ('b', '', 0, 0, 0, now(), 10, 20, 30, 40, 50, 60, '')"
    run WORKER_FOLD "'b'" "'a'"
    [ "$(sql 'select Messages, Timeouts, Flushes, Failures, Conflicts, Dead from pawl_workers order by Id')" = \
        $'11\t22\t33\t44\t55\t66\n10\t20\t30\t40\t50\t60' ] || die "other counters"

    # A fold is replaced by a later one alone, all of it.
    run FOLD_SET "'s'" 2 1 "'two'" "'[2]'" "'2026-01-02'"
    run FOLD_SET "'s'" 1 9 "'one'" "'[1]'" "'2026-01-01'"
    run FOLD_SET "'s'" 2 9 "'again'" "'[3]'" "'2026-01-03'"
    [ "$(sql 'select Version, TypeVersion, State, Dispatches, date(At) from pawl_folds')" = \
        $'2\t1\ttwo\t[2]\t2026-01-02' ] || die "an earlier fold took the place of a later one"
    run FOLD_SET "'s'" 3 4 "'three'" "'[4]'" "'2026-01-04'"
    [ "$(sql 'select Version, TypeVersion, State, Dispatches, date(At) from pawl_folds')" = \
        $'3\t4\tthree\t[4]\t2026-01-04' ] || die "a later fold did not take the place of an earlier one"

    # The first event behind one that is not there is refused.
    sql "insert into pawl_events (Stream, Version, Type, TypeVersion, MessageId, CorrelationId, CausationId,
        At, Headers, Body) values ('s', 1, 'T', 1, 'm', '', '', '2026-01-01', '', '')"
    local rest=("'T'" 1 "'m'" "''" "''" null "'2026-01-01'" "''" "''")
    run EVENT_INSERT 1 2 "'s'" "'s'" 2 2 "${rest[@]}" || die "the event behind the last is refused"
    ! run EVENT_INSERT 1 4 "'s'" "'s'" 4 4 "${rest[@]}" 2>"$work/err" || die "an event behind none is taken"
    grep -q '^ERROR 1048 ' "$work/err" || die "another error than 1048"
    [ "$(sql 'select group_concat(Version order by Version) from pawl_events')" = 1,2 ] || die "other events"

    # The oldest of two that are alike goes; rows of others stay.
    sql "insert into pawl_aggregator (Name, \`Partition\`, \`Key\`, At, MessageId, Type, CorrelationId, CausationId,
        Headers, Body) values ('n', 'p', '1', '2026-01-02', '', '', 'c', '', '', ''),
        ('n', 'p', '2', '2026-01-01', '', '', 'c', '', '', ''), ('n', 'p', '3', '2025-01-01', '', '', 'd', '', '', ''),
        ('n', 'q', '4', '2025-01-01', '', '', 'c', '', '', '')" || die "no rows"
    run AGGREGATOR_DELETE_OLDEST "'p'" "'c'"
    [ "$(sql 'select group_concat(`Key` order by `Key`) from pawl_aggregator')" = 1,3,4 ] || die "another row went"
}

# What each place of a text takes: see the end of the golden file.
check_sweep()
{
    sql "insert into pawl_outbox (DispatchId, State, Attempts, NextAttempt, Due, At, DispatchedAt, Source, Version,
        \`Index\`, Endpoint, Destination, AttemptsBefore, MessageId, Type, CorrelationId, CausationId, Headers, Body)
        select n.d, 'dispatched', 0, now(), now(), now(), n.at, '', 1, 1, 'e', 'd', 0, 'm', 't', '', '', '', ''
        from (select 'a' as d, '2026-01-03' as at union all select 'b', '2026-01-01' union all
            select 'c', '2026-01-02' union all select 'd', null) as n" || die "no outbox rows"
    run OUTBOX_SWEEP "'2026-01-03'" 1
    [ "$(sql 'select group_concat(DispatchId order by DispatchId) from pawl_outbox')" = a,c,d ] || die "another row went"
    run OUTBOX_SWEEP "'2026-01-03'" 10
    [ "$(sql 'select group_concat(DispatchId order by DispatchId) from pawl_outbox')" = a,d ] || die "other rows went"
}

for server in mariadb mysql; do
    echo "== $server"
    mysql_server "$server"
    own_mysql schema_statements
    "${mysql_client[@]}" "$database" <"$source_dir/tests/golden/schema/$server.sql" || die "no tables"
    sql "create table shop_Order like shop_Text; alter table shop_Order add Correlation_OldId bigint" ||
        die "no saga table"
    prepare_all "$server"
    check_own
    check_sweep
    mysql_finish
done
