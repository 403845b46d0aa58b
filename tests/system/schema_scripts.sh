#!/usr/bin/env bash
# schema_scripts.sh - the scripts in tests/golden/schema run as they are, by the command-line clients of MySQL and
# MariaDB, twice, by two at once, on older tables and in an odd session, and make the same tables each time, in which
# `schema verify` finds no difference; what the types of the columns keep and refuse.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
. "$source_dir/tests/support/mysql.sh"
golden=$source_dir/tests/golden/schema

run_script() # FILE [OPTION ...]
{
    local file=$1
    shift
    "${mysql_client[@]}" "$@" "$database" <"$golden/$file" >"$work/out" 2>"$work/err" ||
        die "$file does not run"
    [ ! -s "$work/out" ] || die "$file says something"
}

# Columns in their order, indexes, tables.
describe()
{
    sql "select concat_ws(' ', table_name, ordinal_position, column_name, column_type, is_nullable, collation_name,
            extra)
        from information_schema.columns where table_schema = database()
        order by cast(table_name as binary), ordinal_position;
        select concat_ws(' ', table_name, index_name, if(non_unique = 0, 'unique', 'not unique'),
            group_concat(column_name order by seq_in_index separator ', '))
        from information_schema.statistics where table_schema = database()
        group by table_name, index_name, non_unique
        order by cast(table_name as binary), cast(index_name as binary);
        select concat_ws(' ', table_name, engine, table_collation) from information_schema.tables
        where table_schema = database() order by cast(table_name as binary)" 2>"$work/err" || die "no description"
}

# Is all as the first run made it?
check_tables()
{
    describe | diff "$work/made" - >"$work/out" || die "the first run made other tables (<)"
}

check_verify() # DIALECT
{
    local variable=PAWL_TEST_${1^^}
    "$build_dir/tests/contract/test_schema_scripts" verify "$1" "${!variable%/*}/$database" \
        >"$work/out" 2>"$work/err" || die "verify finds a difference"
}

# Byte for byte: case, accents and trailing spaces tell values apart; null is no value.
check_exact()
{
    local value
    local saga='insert into shop_Text (Id, Metadata, Data, PersistenceVersion, SagaTypeVersion,
        Concurrency, Correlation_OrderId) values (uuid(), json_object(), json_object(), 1, 1, 1,'
    local name='insert into pawl_subscriptions (Type, Queue) values ('
    for value in "'a'" "'A'" "'a '" "'ä'" "''" "' '"; do
        sql "$saga $value); $name $value, 'q'); $name 'q', $value)" || die "no place for $value"
        sql_refused 1062 "$saga $value)"
        sql_refused 1062 "$name $value, 'q')"
        [ "$(sql "select count(*) from shop_Text where Correlation_OrderId = $value")" = 1 ] ||
            die "$value is found with others"
    done
    sql "$saga null); $saga null)" || die "two rows without a value"
    sql_refused 1406 "$saga repeat('x', 201))"
    sql "$saga repeat('値', 200))" || die "200 characters are refused"
    sql_refused 1406 "$name 'q', repeat('x', 201))"
}

check_times()
{
    local at
    for at in '0001-01-01 00:00:00.000000' '1969-12-31 23:59:59.999999' '2026-03-29 02:30:00.000001' \
        '9999-12-31 23:59:59.999999'; do
        sql "delete from pawl_checkpoints;
            insert into pawl_checkpoints (Name, Position, At) values ('c', 1, '$at')" || die "$at"
        [ "$(sql 'set time_zone = "+05:00"; select At from pawl_checkpoints')" = "$at" ] ||
            die "$at is another time"
        [ "$(sql "select count(*) from pawl_checkpoints where At = '$at'")" = 1 ] || die "$at is not found"
    done
}

# The values of a state come back, whatever becomes of their spelling and order (S and D21).
state='{"max":9223372036854775807,"min":-9223372036854775808,"unsigned":18446744073709551615,
"tenth":0.1,"pi":3.141592653589793,"tiny":5e-324,"huge":1.7976931348623157e308,"whole":1e22,
"list":[1,2.5,null,true,false,[]],"empty":{},"text":"\u0001 ä 値 \ud83d\ude00 \" \\ / \n","b":1,"a":{"b":2,"a":3}}'
check_json()
{
    sql "insert into shop_Plain (Id, Metadata, Data, PersistenceVersion, SagaTypeVersion, Concurrency)
        values (uuid(), '{}', '${state//\\/\\\\}', 1, 1, 1)" || die "a state is refused"
    "${mysql_client[@]}" --default-character-set=utf8mb4 -N -r "$database" \
        -e 'select Data from shop_Plain' >"$work/state" </dev/null || die "no state"
    python3 - "$work/state" "$state" >"$work/out" <<'END' || die "the state has other values"
import json, sys
found, given = json.load(open(sys.argv[1])), json.loads(sys.argv[2])
def text(value): return json.dumps(value, sort_keys=True)
print(text(found), text(given), sep="\n")
sys.exit(text(found) != text(given))
END
    [ "$(sql "select json_value(Data, '\$.max'), json_extract(Data, '\$.a.b') from shop_Plain
        where json_value(Data, '\$.tenth') = 0.1")" = $'9223372036854775807\t2' ] ||
        die "the server's functions do not read the state"
    sql_refused "$1" "update shop_Plain set Data = '{'"
}

# What stands for the partial indexes of other databases.
check_computed()
{
    local timeout="insert into pawl_timeouts (Id, Generation, SagaId, SagaType, Name, Destination,
        Due, Attempts, CorrelationId, Headers) values (uuid(), 1,"
    local rest="'T', 'q', '2026-01-01', 0, '', '')"
    sql "$timeout 's', 'S', '', 'q', '2026-01-01', 0, '', ''); $timeout 's', 'S', $rest;
        $timeout null, 'S', $rest; $timeout null, 'S', $rest" || die "timeouts are refused"
    sql "$timeout 's', 'S', '', 'q', '2026-01-01', 0, '', '')" || die "a second one without a name"
    sql_refused 1062 "$timeout 's', 'S', $rest"
    sql "insert into pawl_outbox (DispatchId, State, Attempts, NextAttempt, Due, At, Source, Version,
        \`Index\`, Endpoint, Destination, AttemptsBefore, MessageId, Type, CorrelationId, CausationId,
        Headers, Body) values (uuid(), 'pending', 0, '2026-01-01', '2026-01-01', '2026-01-01',
        repeat('s', 401), 1, 1, 'e', 'd', 0, 'm', 't', '', '', '', '')" || die "an outbox row is refused"
    [ "$(sql 'select HeldSource is null from pawl_outbox')" = 1 ] || die "a pending row has a HeldSource"
    sql "update pawl_outbox set State = 'held'"
    [ "$(sql 'select HeldSource = Source from pawl_outbox')" = 1 ] || die "a held row has none"
}

# A table of a saga that had no correlation property, or another one, gets the column; rows stay.
check_added()
{
    sql 'alter table shop_Two drop column Correlation_OrderNumber, drop index Index_Correlation_OrderId;
        insert into shop_Two (Id, Metadata, Data, PersistenceVersion, SagaTypeVersion, Concurrency,
            Correlation_OrderId) values (uuid(), "{}", "{}", 1, 1, 1, "o-1")' || die "no older table"
    run_script "$1.sql"
    check_tables
    [ "$(sql 'select Correlation_OrderId, Correlation_OrderNumber from shop_Two')" = $'o-1\tNULL' ] ||
        die "the row did not stay as it was"
}

check_drop()
{
    run_script "$1_drop.sql"
    [ -z "$(sql 'show tables')" ] || die "$1_drop.sql left $(sql 'show tables')"
    run_script "$1_drop.sql"
    run_script "$1.sql"
    [ "$(sql 'select count(*) from pawl_subscriptions')" = 0 ] || die "rows outlived the drop"
}

# A session that is not as a script wants it: its names and literals are the same.
check_strange_session()
{
    run_script "$1_drop.sql"
    run_script "$1.sql" --default-character-set=latin1 \
        --init-command="set session sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"
    check_tables
}

check_two_at_once()
{
    local one two
    run_script "$1_drop.sql"
    "${mysql_client[@]}" "$database" <"$golden/$1.sql" >"$work/one" 2>&1 &
    one=$!
    "${mysql_client[@]}" "$database" <"$golden/$1.sql" >"$work/two" 2>&1 &
    two=$!
    wait "$one" && wait "$two" || { cat "$work/one" "$work/two"; die "one of two fails"; }
    check_tables
}

# check DIALECT ERROR-OF-BAD-JSON
check()
{
    echo "== $1"
    mysql_server "$1"
    own_mysql schema_scripts
    run_script "$1.sql"
    describe >"$work/made"
    [ "$(wc -l <"$work/made")" -gt 200 ] || die "$(wc -l <"$work/made") lines of a description"
    check_verify "$1"
    run_script "$1.sql"
    check_tables
    check_exact
    check_times
    check_json "$2"
    check_computed
    check_added "$1"
    check_drop "$1"
    check_strange_session "$1"
    check_two_at_once "$1"
    mysql_finish
}

check mysql 3140
check mariadb 4025
