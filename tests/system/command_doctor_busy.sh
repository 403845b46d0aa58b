#!/usr/bin/env bash
# command_doctor_busy.sh - `pawl doctor` beside messages that are sent and handled finds nothing, on every store: a
# transaction of a worker is no trouble. A transaction that another program holds open is named when it is older than was
# asked for, and not before. PAWL_TEST_DOCTOR_SECONDS looks for longer than the usual two seconds at each store, beside
# 32,000 messages as well (command_doctor_busy_soak.sh).
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/mysql.sh
. "$source_dir/tests/support/mysql.sh"

need_sqlite
build_app app_dead.c dead.so
export PAWL_DRIVER_PATH=$build_dir PAWL_TEST_SEEN=$work/seen
seconds=${PAWL_TEST_DOCTOR_SECONDS:-2}
for n in $(seq 1000); do echo "{\"n\":$n}"; done >"$work/bodies"

# send_on: messages until the file `enough` is there; their number is that of the file `sent`.
send_on()
{
    local sent=0
    while [ ! -e "$work/enough" ]; do
        "$build_dir/pawl" send --to billing --type charge --lines <"$work/bodies" >/dev/null 2>"$work/sender" || break
        echo $((sent += 1000)) >"$work/sent.new"
        mv "$work/sent.new" "$work/sent" # whole whenever it is read
        sleep "$(printf '%d.%03d' $((seconds / 33)) $((seconds * 1000 / 33 % 1000)))"
    done
}

# busy NAME: looks at $PAWL_STORE beside senders and workers. Connections may be many beside other tests.
busy()
{
    local looks=0 end=$((SECONDS + seconds)) sender
    rm -f "$work/enough" "$work/sent" "$PAWL_TEST_SEEN"
    expect 0 '' pawl schema apply
    start app "$work/dead.so"
    send_on &
    sender=$!
    started+=("$sender")
    poll 60 test -s "$work/sent" || die "$1: nothing is sent"
    while [ $SECONDS -lt $end ] || [ $looks -lt 3 ] || [ "$(cat "$work/sent")" -lt $((seconds * 500)) ]; do
        expect 0 '' pawl doctor
        ! grep -v '^OK ' "$work/out" | grep -qv connections || die "$1: look $looks finds something"
        looks=$((looks + 1))
    done
    touch "$work/enough"
    wait "$sender" || die "$1: the sender fails"
    poll 60 has_ready billing 0 || die "$1: $(queue_ready billing) messages are left"
    stop "$pid" TERM 0
    [ "$(wc -l <"$PAWL_TEST_SEEN")" -ge "$(cat "$work/sent")" ] || die "$1: messages are missing"
    echo "$1: $(cat "$work/sent") messages, $looks looks, no finding"
}

# held NAME CHECK REGEX: a transaction that is open is no finding of that check by default, and one with
# --transactions 0s, whose remedy ends it. InnoDB's list of transactions stays as it was until nobody has read it for
# 100 ms.
held()
{
    local name=$1 check=$2 regex=$3 remedy
    named() { sleep 0.25; pawl doctor --transactions 0s >"$work/out"; grep -A 1 -E "^FAIL +$check +.*$regex" "$work/out" >"$work/found"; }
    poll 20 named || die "$name: the transaction is not named"
    remedy=$(sed -nE 's/^ +run: //p' "$work/found")
    expect 0 "^OK +$check" pawl doctor
    expect 0 "^OK +$check" pawl doctor --transactions 5m
    bash -c "$remedy" >/dev/null || die "$name: the remedy fails: $remedy"
    ended() { ! named; }
    poll 20 ended || die "$name: the transaction stays open"
}

echo "== SQLite"
export PAWL_STORE=sqlite:$work/busy.db
busy SQLite

if [ -n "${PAWL_TEST_POSTGRES:-}" ]; then
    echo "== PostgreSQL"
    own_schema doctor_busy
    export PAWL_STORE=$store
    busy PostgreSQL
    PGUSER=$(sed -nE 's#^[a-z]+://([^:@/]+)(:[^@/]*)?@.*#\1#p' <<<"$url")
    export PGUSER # remedies name no user
    PGAPPNAME=$schema psql -XAtq "$url" -c begin -c "select 1" -c "select pg_sleep(50)" >/dev/null 2>&1 &
    started+=("$!")
    held PostgreSQL transactions "$schema"
    if [ "$(psql -XAtq "$url" -c 'show max_prepared_transactions')" -gt 0 ]; then
        psql -XAtq "$url" -c begin -c "create table $schema.prepared ()" -c "prepare transaction '$schema'" >/dev/null ||
            die "no prepared transaction"
        held PostgreSQL prepared "$schema"
    fi
fi
for server in mariadb mysql; do
    variable=PAWL_TEST_${server^^}
    [ -n "${!variable:-}" ] || continue
    echo "== $server"
    mysql_server "$server"
    own_mysql doctor_busy
    export PAWL_STORE=${!variable%/*}/$database
    busy "$server"
    sql "begin; select count(*) from pawl_queue for update; select sleep(50)" >/dev/null 2>&1 &
    started+=("$!")
    # Other databases of the server have transactions as well.
    id_of() { sql "select id from information_schema.processlist where db = '$database' and info like 'select sleep%'"; }
    has_id() { [ -n "$(id_of)" ]; }
    poll 20 has_id || die "$server: no transaction"
    held "$server" transactions "[(]connection $(id_of), "
done
if [ -n "${PAWL_TEST_MONGODB:-}" ]; then
    echo "== MongoDB"
    PAWL_STORE=$(sed -E "s#^(mongodb://[^/?]+)(/[^?]*)?#\1/$(own_name doctor_busy)#" <<<"$PAWL_TEST_MONGODB")
    export PAWL_STORE
    busy MongoDB
    pawl schema drop --yes >/dev/null 2>&1 || die "the collections stay"
fi

# The servers of MariaDB and PostgreSQL again, by their ODBC drivers.
# odbc_of URL LIBRARY HOST DIALECT: the same database
odbc_of()
{
    local -a library=(/usr/lib/*/odbc/"$2")
    [[ $1 =~ ://([^@:/]+)@([^:/]+):([0-9]+)/([^?]+) ]] || die "no URL for ODBC of $1"
    echo "odbc:Driver=${library[0]};$3=${BASH_REMATCH[2]};Port=${BASH_REMATCH[3]};UID=${BASH_REMATCH[1]};Database=${BASH_REMATCH[4]}?dialect=$4"
}
has_odbc() { [ -e "$build_dir/libpawl-odbc.so" ] && compgen -G "/usr/lib/*/odbc/$1" >/dev/null; }
if [ -n "${PAWL_TEST_MARIADB:-}" ] && has_odbc libmaodbc.so; then
    echo "== MariaDB by ODBC"
    mysql_server mariadb
    own_mysql doctor_odbc
    PAWL_STORE=$(odbc_of "${PAWL_TEST_MARIADB%/*}/$database" libmaodbc.so Server mysql)
    busy "MariaDB by ODBC"
fi
mysql_finish
trap finish EXIT
if [ -n "${PAWL_TEST_POSTGRES:-}" ] && has_odbc psqlodbca.so; then
    echo "== PostgreSQL by ODBC"
    own_database doctor_odbc
    PAWL_STORE=$(odbc_of "$url" psqlodbca.so Servername postgres)
    busy "PostgreSQL by ODBC"
fi
echo "ok"
