# servers.sh - the databases' and the broker's servers of a test run. Sourced by ./test from the
# project's folder, after install.sh. Everything it says goes to standard error.
#
#   servers_start NAME ...      NAME is a row of the table below
#   servers_leave_out NAME ...  starts none, and tests on them may be skipped
#
# Each server gets a free port and a data folder that is made once and used
# again. Its URL is exported as PAWL_TEST_NAME (in capitals). A server that apt
# does not have is reported and its name put into PAWL_MISSING_SERVERS: tests on it
# are skipped, even with PAWL_REQUIRE=all. One that is installed has to start.
# The shell's end stops them all; what a killed run left over, the next one stops.
#
# libeatmydata, where it is installed, takes the flushes to the disk away from them: no test cuts the power, and waiting for
# a disk was most of a run's time. PAWL_TEST_FLUSH=yes leaves the flushes alone.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# One row per server: name, a file of its package, the server behind it.
# A row comes after the row of the server behind it.
server_rows="
postgres   /usr/lib/postgresql/*/bin/postgres  -
pgbouncer  /usr/sbin/pgbouncer                 postgres
mariadb    /usr/sbin/mariadbd                  -
mysql      $(mysql_root)/mysqld                -
mongodb    $(mysql_root)/pg/documentdb.control -
galera     /usr/lib/galera/libgalera_smm.so    -
rabbitmq   /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server  -
"

server_preload=()
server_started=()
declare -A server_ports=()
server_folder=''
server_scripts=$PWD/tests/servers

servers_leave_out()
{
    local name
    for name in "$@"; do
        export PAWL_MISSING_SERVERS="${PAWL_MISSING_SERVERS:+$PAWL_MISSING_SERVERS }$name"
    done
}

# server_script VERB NAME: with the folder, the port and that of the server behind.
server_script()
{
    local name file behind
    while read -r name file behind; do
        [ "$name" = "$2" ] || continue
        local -a arguments=("$server_folder/$name" "${server_ports[$name]:-0}")
        [ "$behind" = - ] || arguments+=("${server_ports[$behind]:-0}")
        # A bare `return` would mean the shell's own exit code here, in its EXIT trap.
        "${server_preload[@]}" "$server_scripts/$name.sh" "$1" "${arguments[@]}" </dev/null
        return $?
    done <<<"$server_rows"
}

# Below the ports that the system hands out for connections, so that none of
# those takes it before the server does. The ports behind it are free, too: a cluster has nine.
server_free_port()
{
    local port try tries=100
    while [ $((tries--)) -gt 0 ]; do
        port=$((20000 + RANDOM % 12000))
        for try in {0..8}; do
            ! (exec 3<>"/dev/tcp/127.0.0.1/$((port + try))") 2>/dev/null || continue 2
        done
        echo $port
        return
    done
    return 1
}

# The servers of root run as the user postgres, who may not enter every folder.
server_may_enter()
{
    [ "$(id -u)" != 0 ] || runuser -u postgres -- test -x "$1" 2>/dev/null
}

# server_try_folder FOLDER: makes it, and checks that it is ours alone.
server_try_folder()
{
    server_folder=$1
    mkdir -p "$1" && [ -O "$1" ] && [ ! -L "$1" ] && chmod 755 "$1" && server_may_enter "$1"
}

# In the build folder; where that cannot be, under a name made of the project's path.
server_make_folder()
{
    server_try_folder "$PWD/build/servers" ||
        server_try_folder "/var/tmp/pawl-servers-$(id -u)${PWD//\//-}" ||
        { say "no folder for the servers; $server_folder is not ours to use"; return 1; }
}

# A process, as no later one of the same number is: with its time of start.
server_process()
{
    echo "$1 $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20)"
}

# A second run in the same folder would take the servers away from the first.
server_own_folder()
{
    local owner=$server_folder/owner line
    line=$(cat "$owner" 2>/dev/null)
    if [ -n "$line" ] && [ "$line" = "$(server_process "${line%% *}")" ]; then
        say "process ${line%% *} runs the servers in $server_folder; wait for it"
        return 1
    fi
    server_process $$ >"$owner"
}

# server_choose_preload: fills server_preload, what stands before a server's script.
server_choose_preload()
{
    local library
    server_preload=()
    [ -z "${PAWL_TEST_FLUSH:-}" ] || return 0
    for library in /usr/lib/*/libeatmydata.so.1; do
        [ ! -f "$library" ] || server_preload=(env "LD_PRELOAD=$library")
    done
}

# server_halt NAME: one that does not stop in time is cut off.
server_halt()
{
    server_script stop "$1" || server_script crash "$1"
}

# In reverse, so that the server behind is the last. Nothing interrupts it.
servers_stop()
{
    local i
    trap '' INT TERM HUP
    for ((i = ${#server_started[@]} - 1; i >= 0; i--)); do
        server_halt "${server_started[i]}" ||
            say "${server_started[i]} in $server_folder does not stop"
    done
    server_started=()
    rm -f "$server_folder/owner"
}

# server_start NAME: what an earlier run left over is stopped first.
server_start()
{
    local url variable=PAWL_TEST_${1^^}
    server_started+=("$1")
    server_ports[$1]=$(server_free_port) || { say "no free port for $1"; return 1; }
    if ! server_halt "$1" || ! rm -f "$server_folder/$1"/log{,.err} ||
        ! url=$(server_script start "$1"); then
        say "$1 is installed and does not start"
        return 1
    fi
    export "$variable=$url"
    say "$1 runs: $variable=$url"
}

servers_start()
{
    local name file behind
    unset PAWL_MISSING_SERVERS
    server_make_folder && server_own_folder || return 1
    server_choose_preload
    trap servers_stop EXIT
    while read -r name file behind <&3; do
        case " $* " in
        *" $name "*) ;;
        *) continue ;;
        esac
        if ! probe file "$file" || [[ " ${PAWL_MISSING_SERVERS:-} " = *" $behind "* ]]; then
            say "$name is not to be had here; the tests on it are skipped"
            servers_leave_out "$name"
        elif ! server_start "$name"; then
            return 1
        fi
    done 3<<<"$server_rows"
}
