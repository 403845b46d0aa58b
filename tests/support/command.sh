# command.sh - what the tests of the command share. Sourced.
#
#   work          a folder of this test's own, removed at its end
#   pawl          the command
#   expect        runs something and checks exit code and last line of stderr
#   check_keys    each key that a verb printed with --json stands in its help: the end of the test looks at all
#                 that expect gave it
#   poll          waits, bounded, until a command succeeds
#   start, stop   a `pawl run` in the background
#   keep_to_modes runs something that may write only what its file's mode allows
#   free_port     a port of this machine
#   own_schema    a schema of this test's own on a server
#   own_database  a database of this test's own on a server
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

set -u
source_dir=${PAWL_SOURCE_DIR:?} build_dir=${PAWL_BUILD_DIR:?} cc=${CC:-cc}
work=$(mktemp -d)
started=()
unset PAWL_STORE

finish()
{
    local pid unknown=''
    look_at_keys || unknown=yes
    for pid in "${started[@]}"; do
        kill -KILL "$pid" 2>/dev/null
    done
    [ -z "${schema:-}" ] ||
        psql -XAtq "$url" -c "set lock_timeout = '60s'" \
            -c "drop schema if exists $schema cascade" >/dev/null 2>&1
    [ -z "${database:-}" ] ||
        psql -XAtq "$PAWL_TEST_POSTGRES" -c "drop database if exists $database with (force)" \
            -c "drop role if exists $database" >/dev/null 2>&1
    rm -rf "$work"
    [ -z "$unknown" ] || exit 1
}
trap finish EXIT

die()
{
    echo "FAILED: $*"
    for file in out err; do
        [ -s "$work/$file" ] && sed "s/^/  $file: /" "$work/$file"
    done
    exit 1
}

pawl()
{
    "$build_dir/pawl" "$@"
}

# A test that cannot run here says why; PAWL_REQUIRE=all wants it to run.
skip()
{
    echo "skipped: $*"
    [ "${PAWL_REQUIRE:-}" = all ] && exit 1
    exit 77
}

# check_keys VERB: what was printed is kept until the end of the test.
check_keys()
{
    cat "$work/out" >>"$work/.printed.$1"
}

# Each key of the objects that were printed stands in the verb's help. One look, as Python takes longer to start than a verb.
look_at_keys()
{
    local printed verb result=0
    for printed in "$work"/.printed.*; do
        verb=${printed##*/.printed.}
        [ -e "$printed" ] || continue
        "$build_dir/pawl" help "$verb" >"$work/.help" 2>/dev/null || continue
        python3 "$source_dir/tests/support/keys.py" "$work/.help" <"$printed" >"$work/.keys" 2>&1 &&
            [ ! -s "$work/.keys" ] && continue
        echo "FAILED: pawl help $verb does not have these keys of --json: $(tail -n 20 "$work/.keys")"
        result=1
    done
    return $result
}

# has_match FILE REGEX: one of its lines matches. A process for each look would take longer than the look.
has_match()
{
    local line
    local -a lines=()
    mapfile -t lines <"$1"
    if [ ${#lines[@]} -gt 100 ]; then # each of them is matched by itself
        grep -qE -- "$2" "$1"
        return
    fi
    for line in "${lines[@]}"; do
        [[ $line =~ $2 ]] && return
    done
    return 1
}

# expect CODE REGEX COMMAND ...: the exit code, and the last line of standard
# error, which begins "pawl: " on a failure. With code 0, REGEX is for stdout.
expect()
{
    local wanted=$1 regex=$2 found
    local -a said=()
    shift 2
    "$@" >"$work/out" 2>"$work/err" </dev/null
    found=$?
    [ $found = "$wanted" ] || die "exit code $found instead of $wanted: $*"
    if [ "$wanted" = 0 ]; then
        [ -z "$regex" ] || has_match "$work/out" "$regex" || die "no output like '$regex': $*"
        [ "$1" != pawl ] || [[ " $* " != *" --json "* && $* != *"--format json"* ]] || check_keys "$2"
        return
    fi
    mapfile -t said <"$work/err"
    [[ ${#said[@]} -gt 0 && ${said[-1]} == "pawl: "* && ${said[-1]} =~ $regex ]] ||
        die "the last line is not 'pawl: ... $regex': $*"
}

# keep_to_modes COMMAND ...: root may write whatever its mode says, and here it must not. It
# stays root: another user may not enter a folder of root's, where the sources may well be.
keep_to_modes()
{
    [ "$(id -u)" = 0 ] || { "$@"; return; }
    setpriv --bounding-set=-dac_override --inh-caps=-dac_override "$@"
}

# lines N: what was printed last has so many.
lines()
{
    local -a printed=()
    mapfile -t printed <"$work/out"
    [ ${#printed[@]} = "$1" ] || die "${#printed[@]} lines, not $1"
}

# poll SECONDS COMMAND ...: until it succeeds. The seconds are those of an idle machine: a busy
# one has twenty times as long. It waits a little longer after each try: reading what nobody writes, as sleep is a process.
poll()
{
    local end=$((SECONDS + $1 * 20)) n=0
    local -a waits=(0.02 0.04 0.08 0.15 0.25)
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        [ -n "${nothing:-}" ] || exec {nothing}<> <(:)
        read -rt "${waits[n < 4 ? n++ : 4]}" -u "$nothing" || :
    done
}

# number KEY [OPTION ...]: one number of `pawl stats --json`.
number()
{
    local key=$1 text
    shift
    text=$(pawl stats --json "$@" 2>/dev/null)
    [[ $text =~ \"$key\":(-?[0-9]+) ]] && echo "${BASH_REMATCH[1]}"
}

# has KEY VALUE [OPTION ...]
has()
{
    local key=$1 value=$2
    shift 2
    [ "$(number "$key" "$@")" = "$value" ]
}

# queue_ready QUEUE [OPTION ...]: its messages that are due; 0 when it is unknown.
queue_ready()
{
    local queue=$1 found
    shift
    found=$(pawl stats --json "$@" 2>/dev/null)
    [[ $found =~ \"queue\":\"$queue\",\"ready\":([0-9]+) ]] || BASH_REMATCH=('' 0)
    echo "${BASH_REMATCH[1]}"
}

has_ready()
{
    local queue=$1 value=$2
    shift 2
    [ "$(queue_ready "$queue" "$@")" = "$value" ]
}

# start NAME APP OPTION ...: `pawl run`, its log in $work/NAME.log, its process
# id in $pid. Returns when all its endpoints run.
start()
{
    local name=$1
    shift
    : >"$work/$name.log"
    "$build_dir/pawl" run "$@" 2>"$work/$name.log" </dev/null &
    pid=$!
    started+=("$pid")
    poll 20 grep -q "is running" "$work/$name.log" ||
        { cp "$work/$name.log" "$work/err"; die "$name does not start"; }
}

# stop PID SIGNAL CODE: sends the signal, waits, checks the exit code.
is_gone()
{
    ! kill -0 "$1" 2>/dev/null
}
stop()
{
    local found
    kill "-$2" "$1"
    poll 30 is_gone "$1" || die "process $1 does not stop on SIG$2"
    wait "$1"
    found=$?
    [ $found = "$3" ] || die "exit code $found instead of $3 after SIG$2"
}

# asked QUESTION ACTION ...: `pawl` on a terminal, until it has asked that; what it shows is in $work/screen.
asked()
{
    local question=$1
    shift
    [ -p "$work/keys" ] || mkfifo "$work/keys"
    : >"$work/screen"
    script -qefc "'$build_dir/pawl' $*" /dev/null <"$work/keys" >"$work/screen" 2>&1 &
    asking=$!
    exec 9>"$work/keys"
    poll 10 grep -q "$question" "$work/screen" || die "no question '$question': $(cat "$work/screen")"
}
# answered WORD CODE: answers the question, checks the exit code.
answered()
{
    local found
    echo "$1" >&9
    wait "$asking"
    found=$?
    exec 9>&-
    [ $found = "$2" ] || die "exit code $found instead of $2: $(cat "$work/screen")"
}

# compiled NAME SOURCE ARGUMENT ...: $work/NAME, of a source in tests/system, which includes nothing but the library's
# headers. What another test has compiled in the same way since these have changed is taken: each takes a third of a second.
compiled()
{
    local name=$1 kept file
    shift
    kept=$build_dir/tests/system/compiled/$(printf '%s\n' "$cc" "$@" | md5sum | cut -d' ' -f1)
    for file in "$1" "$build_dir/libpawl.so" "$source_dir"/include/pawl/*.h; do
        if ! [ "$kept" -nt "$file" ]; then
            mkdir -p "${kept%/*}"
            "$cc" -std=c17 -D_GNU_SOURCE -Wall -Wextra -o "$kept.$$" "$@" && mv -f "$kept.$$" "$kept" || return 1
            break
        fi
    done
    cp "$kept" "$work/$name"
}

# build_app SOURCE NAME [FLAG ...]: a shared object from tests/system.
build_app()
{
    local source=$1 name=$2
    shift 2
    compiled "$name" "$source_dir/tests/system/$source" -shared -fPIC "$@" -I "$source_dir/include" -L "$build_dir" -lpawl ||
        die "$source does not compile"
}

# build_program SOURCE NAME [FLAG ...]: a program of libpawl from tests/system, or from where an
# absolute path says, with the sanitizer that the library has.
build_program()
{
    local sanitizer source=$1 name=$2
    shift 2
    local -a flags=()
    for sanitizer in address thread; do
        grep -qa "__${sanitizer:0:1}san_init" "$build_dir/libpawl.so" && flags=("-fsanitize=$sanitizer")
    done
    flags+=(-I "$source_dir/include" "$@" -L "$build_dir" -lpawl -Wl,-rpath,"$build_dir")
    if [[ $source == /* ]]; then
        "$cc" -std=c17 -D_GNU_SOURCE -Wall -Wextra -o "$work/$name" "$source" "${flags[@]}"
    else
        compiled "$name" "$source_dir/tests/system/$source" "${flags[@]}"
    fi || die "$source does not compile"
}

# build_sql: the tool `sql`, see sql_tool.c. Needs the SQLite headers.
build_sql()
{
    local -a flags
    pkg-config --exists sqlite3 2>/dev/null || skip "no sqlite3 to damage a database with"
    read -ra flags <<<"$(pkg-config --cflags --libs sqlite3)"
    compiled sql "$source_dir/tests/system/sql_tool.c" "${flags[@]}" || die "sql_tool.c does not compile"
}

# build_fill: the tool of fill_tool.c; fill WHAT ... puts that into $PAWL_STORE.
build_fill()
{
    build_program fill_tool.c fill
}
fill()
{
    "$work/fill" "$PAWL_STORE" "$@" >"$work/out" 2>"$work/err" || die "fill $*"
}

need_sqlite()
{
    [ -e "$build_dir/libpawl-sqlite.so" ] || skip "the SQLite driver was not built"
}

need_server() # NAME
{
    local variable=PAWL_TEST_${1^^}
    [ -z "${!variable:-}" ] || return 0
    case " ${PAWL_MISSING_SERVERS:-} " in
    *" $1 "*) echo "skipped: no $1 here"; exit 77 ;;
    esac
    skip "$variable names no server"
}

# own_name NAME: what a killed test made stays on the server, which outlives it, and process
# numbers come again: the time tells them apart.
own_name()
{
    printf '%s_%d_%x' "$1" $$ "$(date +%s)"
}

# free_port: one of this machine's, for a server of the test's own.
free_port()
{
    local port
    until port=$((20000 + RANDOM % 12000)) && ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        :
    done
    echo $port
}

need_psql()
{
    need_server postgres
    command -v psql >/dev/null || skip "no psql to talk to the server with"
}

# own_schema NAME: a new one on the test server, dropped at the end of the test. Sets
# `schema`, `url`, of the server, and `store`, of the schema.
own_schema()
{
    local separator='?'
    need_psql
    url=$PAWL_TEST_POSTGRES schema=$(own_name "$1")
    psql -XAtq "$url" -c "create schema $schema" >/dev/null || die "no schema on $url"
    [[ $url != *\?* ]] || separator='&'
    # shellcheck disable=SC2034 # the test's
    store="$url${separator}schema=$schema"
}

# own_database NAME: a new one on the test server, dropped at the end of the test, as is a role
# of its name. Sets `database` and `url`. Not from template1: a test that looks at it would be
# in the way.
own_database()
{
    need_psql
    database=$(own_name "$1")
    psql -XAtq "$PAWL_TEST_POSTGRES" -c "create database $database template template0" ||
        die "no database on $PAWL_TEST_POSTGRES"
    url=$(sed -E "s|^([a-z]+://[^/]*)(/[^?]*)?|\1/$database|" <<<"$PAWL_TEST_POSTGRES")
}
