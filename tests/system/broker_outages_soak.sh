#!/usr/bin/env bash
# broker_outages_soak.sh - 20,000 messages go from RabbitMQ to an endpoint on PostgreSQL, and in the middle RabbitMQ is away for 30
# seconds, then the store, then both: nothing is lost, nothing is done twice, and the log has less than 100 lines. E27.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/rabbit.sh
. "$source_dir/tests/support/rabbit.sh"
# shellcheck source=tests/support/broker_outages.sh
. "$source_dir/tests/support/broker_outages.sh"

need_psql
compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || skip "no PostgreSQL to start here"
rabbit_begin

# The servers' user must be able to enter the folder of the data, and those of TMPDIR may be
# closed to it.
servers=$(mktemp -d /tmp/pawl-servers-XXXXXX)
chmod 755 "$servers"
postgres()
{
    "$source_dir/tests/servers/postgres.sh" "$1" "$servers" "$postgres_port" >"$work/server" 2>&1
}
end_servers()
{
    postgres crash
    rm -rf "$servers"
    rabbit_end
}
trap end_servers EXIT
until postgres_port=$((20000 + RANDOM % 12000)) && ! (exec 3<>"/dev/tcp/127.0.0.1/$postgres_port") 2>/dev/null; do
    :
done
postgres start || die "no server: $(cat "$work/server")"
url=$(cat "$work/server")
export PAWL_STORE=$url
outages_begin
outages_handled()
{
    psql -XAtq "$url" -c "select convert_from(\"Body\", 'UTF8')::json->>'n' from pawl_queue where \"Queue\" = 'right'"
}
count=20000 away=30

start desk "$work/pair.so" --endpoint left --transport "$rabbit_url/#$outages_queue"
outages_send $count

echo "== RabbitMQ is away"
outages_at 3000
rabbit_server stop >"$work/said" 2>&1 || die "RabbitMQ does not stop"
outages_tell "127.0.0.1"
sleep $away
rabbit_back "$outages_queue" || die "RabbitMQ does not come back"

echo "== the store is away"
outages_at 8000
postgres stop || die "the store does not stop"
outages_tell "postgres"
sleep $away
postgres start || die "the store does not come back"

echo "== both are away"
outages_at 13000
rabbit_server stop >"$work/said" 2>&1 || die "RabbitMQ does not stop"
postgres stop || die "the store does not stop"
sleep $away
postgres start || die "the store does not come back"
rabbit_back "$outages_queue" || die "RabbitMQ does not come back"
outages_verify $count
poll 60 rabbit_is_empty || die "left in RabbitMQ: $rabbit_left"
