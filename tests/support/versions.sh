# versions.sh - what the tests of two versions of the program on one store share. Sourced.
#
#   this          the program of today, in place of the shell
#   ask           a statement on the store of `store_at`
#   begin_run     `transfer` of one version in the background, its run's name in $run
#   settled       transfers of the run that are settled
#   await_settled waits until there are so many
#   break_off, resume_run  the run ends in the middle, and goes on
#   verified      waits for the end of the run and checks its report
#   through_step  a run whose tables move to the version after this one
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
. "${PAWL_SOURCE_DIR:?}/tests/support/transfer.sh"

this()
{
    exec "$build_dir/transfer" "$@"
}

# ask STATEMENT ...: rows of the store; @ is the prefix of the run's tables. On a file all are
# one transaction, on a server each is one.
ask()
{
    local -a statements=("${@//@/transfer_${run:-}_}")
    case $store in
    sqlite:*) "$work/sql" "${store#sqlite:}" "begin; $(printf '%s; ' "${statements[@]}") commit" ;;
    *)
        statements=("set search_path = $schema" "${statements[@]}")
        psql -XAtq "$url" -v ON_ERROR_STOP=1 "${statements[@]/#/-c}"
        ;;
    esac
}

tables_like()
{
    case $store in
    sqlite:*) ask "select name from sqlite_schema where type = 'table' and name like '$1'" ;;
    *) ask "select tablename from pg_tables where schemaname = '$schema' and tablename like '$1'" ;;
    esac
}

has_run()
{
    kill -0 "$pid" 2>/dev/null || die "it ended by itself"
    [ -n "$(tables_like 'transfer_%_schema' 2>/dev/null)" ]
}

# begin_run FUNCTION ARGUMENT ...: FUNCTION is the program; its report comes to $work/out, what it says to
# $work/err, its process id is in $pid.
begin_run()
{
    "$@" --json --keep --store "$store" >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    started+=("$pid")
    poll 20 has_run || die "no tables of a run: $*"
    run=$(tables_like 'transfer_%_schema' | head -n 1 | cut -d _ -f 2)
}

# break_off: the run's supervisor is killed, and its runners with it.
break_off()
{
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
}

# resume_run ARGUMENT ...: the program of today goes on with the run; report and $pid as in begin_run.
resume_run()
{
    this --json --keep --resume "$run" --store "$store" "$@" >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    started+=("$pid")
}

settled()
{
    ask "select count(*) from \"@events\" where \"Type\" = 'pawl.completed'"
}

are_settled()
{
    [ "$(settled 2>/dev/null || echo 0)" -ge "$1" ]
}

await_settled()
{
    poll 60 are_settled "$1" || die "$(settled) transfers are settled, not $1"
}

# verified PROCESS KILLS: the run ends, and its report is that nothing was lost or doubled.
verified()
{
    wait "$1" || die "exit code $? of the run"
    grep -qE "\"kills\":$2,\"verified\":true\}\$" "$work/out" || die "another report than verified"
    cat "$work/out"
}

version()
{
    ask "select \"Version\" from \"@schema\" where \"Part\" = 'pawl'"
}

# ---- The version after this one ---------------------------------------------------

# All that a step may do: columns with a default, a table, an index.
next_version()
{
    local table
    local -a steps=()
    for table in $(tables_like "transfer_${run}_%"); do
        [[ $table == *_schema ]] ||
            steps+=("alter table \"$table\" add column \"Later\" integer default 7 not null")
    done
    ask "${steps[@]}" "create table \"@later\" (\"Id\" integer)" \
        "create index \"@later_due\" on \"@queue\" (\"Due\")" \
        "update \"@schema\" set \"Version\" = \"Version\" + 1" || die "no next version"
}

# through_step: the tables move to it while `transfer` is at work and killed: all its processes start again
# on them, and the report comes out the same.
through_step()
{
    local seed=${PAWL_TEST_SEED:-$((RANDOM * 32768 + RANDOM + 1))} before
    echo "PAWL_TEST_SEED=$seed: $store"
    begin_run this --seed "$seed" --transfers 4000 --crash 6 --runners 3 --accounts 20
    await_settled 100
    before=$(version)
    next_version
    await_settled 300
    break_off
    [ "$(settled)" -lt 4000 ] || die "the run was over before it was broken off"
    resume_run --seed "$seed" --transfers 4000 --crash 6 --runners 3 --accounts 20
    verified "$pid" 6
    [ "$(version)" = $((before + 1)) ] || die "the version is $(version), after $before"
    [ "$(ask 'select count(*) from "@events" where "Later" = 7')" = \
        "$(ask 'select count(*) from "@events"')" ] || die "rows without the new column's default"
    expect 4 "a newer pawl made it" pawl schema verify --store "$store" --prefix "transfer_${run}_"
}
