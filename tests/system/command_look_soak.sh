#!/usr/bin/env bash
# command_look_soak.sh - what an operator asks of a store with 10,000,000 inbox entries, and 1,000,000 dead letters, queued
# messages and timeouts, on SQLite and PostgreSQL: each verb's time, and the processor's while `stats --watch` is open.
#
# PAWL_TEST_LOOK_COUNT is another number of dead letters, messages and timeouts; of inbox entries there are ten times as many.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_fill
export PAWL_DRIVER_PATH=$build_dir
count=${PAWL_TEST_LOOK_COUNT:-1000000}
seeds=1000 # rows that are made by pawl; SQL makes the others like them

# more ID N: the statements that make $count rows of each table; ID is a new id, N a table of the numbers from 1 up to ?.
more()
{
    local id=$1 numbers=$2 times=$((count / seeds))
    cat <<SQL
insert into pawl_inbox select "Endpoint", "MessageId" || '-' || n, "Outcome", "At" from pawl_inbox,
    $(numbers_of "$numbers" $((times * 10 - 1)));
insert into pawl_dead ("Endpoint", "Queue", "MessageId", "Type", "CorrelationId", "CausationId", "Code", "Attempts", "Deaths",
    "At", "Error", "History", "Headers", "Body") select "Endpoint", "Queue", "MessageId" || '-' || n, "Type", "CorrelationId",
    "CausationId", "Code", "Attempts", "Deaths", "At", "Error", "History", "Headers", "Body" from pawl_dead,
    $(numbers_of "$numbers" $((times - 1)));
insert into pawl_queue ("Queue", "Due", "Placed", "Attempts", "Deaths", "WaitingSince", "MessageId", "Type", "CorrelationId",
    "CausationId", "Error", "History", "Headers", "Body") select "Queue", "Due", "Placed", "Attempts", "Deaths",
    "WaitingSince", "MessageId" || '-' || n, "Type", "CorrelationId", "CausationId", "Error", "History", "Headers", "Body"
    from pawl_queue, $(numbers_of "$numbers" $((times - 1)));
insert into pawl_timeouts ("Id", "Generation", "SagaId", "SagaType", "Name", "Destination", "Due", "Attempts",
    "CorrelationId", "Headers") select $id, "Generation", $id, "SagaType", "Name", "Destination", "Due", "Attempts",
    "CorrelationId", "Headers" from pawl_timeouts, $(numbers_of "$numbers" $((times - 1)));
analyze;
SQL
}

# numbers_of SQL N: a table of the numbers up to N; 0 is none
numbers_of()
{
    printf "$1" "$2" # shellcheck disable=SC2059
}

# took PATTERN VERB...: runs it five times, says how long the slowest took; its answer has the pattern
took()
{
    local pattern=$1 begin longest=0 span
    shift
    for _ in 1 2 3 4 5; do
        begin=$(date +%s%N)
        "$build_dir/pawl" "$@" >"$work/out" 2>"$work/err" # doctor and why answer by their exit code, too
        span=$((($(date +%s%N) - begin) / 1000000))
        [ $span -le $longest ] || longest=$span
    done
    grep -qE "$pattern" "$work/out" || die "pawl $*: no $pattern"
    printf '%5d ms  pawl %s\n' "$longest" "$*"
}

# busy: hundredths of a second that all processors have worked
busy()
{
    awk '/^cpu /{print $2 + $3 + $4 + $7 + $8}' /proc/stat
}

look()
{
    local before watched
    echo "== $1: $count dead letters, messages and timeouts, $((count * 10)) inbox entries"
    took 'dead letters now' stats
    took '"dead":' stats --json
    took 'billing' queue list
    took 'billing' queue show billing
    took 'q-' queue peek billing
    took 'dead_letters' doctor
    took 'message m-77 ' why m-77
    took 'message q-77 ' why q-77
    took 'billing' why billing
    took 'm-77' find id=m-77
    took 'm-' dead list
    took 'm-77' dead show m-77 --endpoint billing
    took 'Order' timeout list
    took 'Order' timeout show "$timeout"
    before=$(busy)
    expect 0 '' pawl stats --watch --every 2s --count 10 --json
    watched=$(($(busy) - before))
    before=$(busy)
    sleep 18
    echo "of a core: $((watched / 18)) % with pawl stats --watch, $((($(busy) - before) / 18)) % without"
}

export PAWL_STORE=sqlite:$work/look.db
expect 0 '' pawl schema apply
fill queue $seeds
fill letters $seeds
fill timeouts $seeds
hexes="lower(hex(randomblob(4)))||'-'||lower(hex(randomblob(2)))||'-4'||substr(lower(hex(randomblob(2))),2)||'-8'||"
hexes+="substr(lower(hex(randomblob(2))),2)||'-'||lower(hex(randomblob(6)))"
more "$hexes" '(with recursive t (n) as (select 1 union all select n + 1 from t where n < %d) select n from t)' |
    python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.stdin.read()); c.commit()' "$work/look.db" ||
    die "rows for SQLite"
timeout=$("$build_dir/pawl" timeout list --limit 1 --json | sed -E 's/.*"id":"([^"]*)".*/\1/')
look SQLite
if [ -n "${PAWL_TEST_POSTGRES:-}" ]; then
    own_schema look_soak
    export PAWL_STORE=$store
    expect 0 '' pawl schema apply
    fill queue $seeds
    fill letters $seeds
    fill timeouts $seeds
    more 'gen_random_uuid()' 'generate_series(1, %d) as n' | PGOPTIONS="-c search_path=$schema" psql -XAtq -v ON_ERROR_STOP=1 "$url" ||
        die "rows for PostgreSQL"
    PGOPTIONS="-c search_path=$schema" psql -XAtq "$url" -c vacuum
    timeout=$("$build_dir/pawl" timeout list --limit 1 --json | sed -E 's/.*"id":"([^"]*)".*/\1/')
    look PostgreSQL
fi
echo "ok"
