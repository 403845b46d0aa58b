#!/usr/bin/env bash
# broker_outages.sh - the store of an endpoint that reads from RabbitMQ is away for a while: nothing is taken meanwhile and nothing
# rejected, it goes on by itself, and each message is handled once. E27.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
# shellcheck source=tests/support/rabbit.sh
. "$source_dir/tests/support/rabbit.sh"
# shellcheck source=tests/support/broker_outages.sh
. "$source_dir/tests/support/broker_outages.sh"

need_server rabbitmq
own_database broker_outages
export PAWL_STORE=$url
rabbit_url=${PAWL_TEST_RABBITMQ%/}
outages_queue=$database
outages_begin
admin()
{
    psql -XAtq "$PAWL_TEST_POSTGRES" -c "$1" >/dev/null
}
# What "left" handled is a message to "right", which nobody reads here.
outages_handled()
{
    psql -XAtq "$url" -c "select convert_from(\"Body\", 'UTF8')::json->>'n' from pawl_queue where \"Queue\" = 'right'"
}
remove_queue()
{
    /usr/bin/python3 - "$rabbit_url/%2F" "$outages_queue" <<'END' 2>/dev/null
import sys
import pika
pika.BlockingConnection(pika.URLParameters(sys.argv[1])).channel().queue_delete(sys.argv[2])
END
    admin "alter database $database with allow_connections true"
    finish
}
trap remove_queue EXIT
count=6000

start desk "$work/pair.so" --endpoint left --transport "$rabbit_url/#$outages_queue"
outages_send $count
outages_at 100
echo "== the store is away"
[ "$(outages_handled 2>/dev/null | wc -l)" -lt $count ] || die "it was away too late"
admin "alter database $database with allow_connections false"
admin "select pg_terminate_backend(pid) from pg_stat_activity where datname = '$database'"
outages_tell "$database"
admin "alter database $database with allow_connections true"
outages_verify $count
