# rabbit.sh - a RabbitMQ of one test's own, which may be stopped, crashed and started again. Sourced, behind command.sh.
#
#   rabbit_begin        starts it, or skips the test; `rabbit_url` is its URL without a path. The test's end stops it
#   rabbit_control      rabbitmqctl on it
#   rabbit_eval TEXT    prints what an expression of Erlang prints in it
#   rabbit_queues       its queues: name, messages, consumers, a line each
#   rabbit_away         ends it at once, as after a power cut
#   rabbit_back QUEUE   starts it again, and sees to it that the queue has a leader
#   rabbit_restart QUEUE  stops it in order, and then the same
#   rabbit_has_no PREFIX  no queue's name begins so
#   rabbit_is_empty     have its queues no messages? `rabbit_left` says which have
#
# RabbitMQ 3.10 forgets the messages of a quorum queue when it is killed within minutes of the queue's declaration, as it
# writes down by then which queue is whose: a test that has messages in such a queue restarts it instead.
#
# Processes of a test that are to end with it are put into `rabbit_users`.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
rabbit_users=()

rabbit_server()
{
    local verb=$1
    shift
    bash "$source_dir/tests/servers/rabbitmq.sh" "$verb" "$rabbit_folder" "$rabbit_port" "$@"
}

rabbit_control()
{
    rabbit_server control "$@"
}

rabbit_eval()
{
    rabbit_server eval "$1"
}

rabbit_queues()
{
    rabbit_eval 'lists:foreach(fun(Q) ->
        [{name, N}, {messages, M}, {consumers, C}] = rabbit_amqqueue:info(Q, [name, messages, consumers]),
        io:format("~ts ~w ~w~n", [element(4, N), M, C]) end, rabbit_amqqueue:list())'
}

rabbit_end()
{
    local code=$?
    [ $code = 0 ] || [ $code = 77 ] || tail -n 30 "$rabbit_folder"/logs/*.log
    [ ${#rabbit_users[@]} = 0 ] || kill "${rabbit_users[@]}" 2>/dev/null
    rabbit_server crash >/dev/null 2>&1
    rm -rf "$rabbit_folder"
    finish
}

# At a port of which the three behind it are free, too; somebody else may take one first.
rabbit_begin()
{
    local tries=3
    need_server rabbitmq
    [ -e "$build_dir/libpawl-rabbitmq.so" ] || skip "the module for RabbitMQ is not built"
    # In memory where that is to be had: no power is lost, and each message is confirmed by itself.
    rabbit_folder=$(mktemp -d /dev/shm/pawl-rabbit-XXXXXX 2>/dev/null) || rabbit_folder=$work/rabbit
    trap rabbit_end EXIT
    until rabbit_port=$((20000 + (RANDOM * 4) % 12000)) && rabbit_server start >"$work/said" 2>&1; do
        [ $((tries--)) -gt 0 ] || { cp "$work/said" "$work/err"; die "no RabbitMQ"; }
    done
    # shellcheck disable=SC2034
    rabbit_url=amqp://guest:guest@127.0.0.1:$rabbit_port
}

rabbit_away()
{
    rabbit_server crash >"$work/said" 2>&1
}

# Of one node, RabbitMQ 3.10 leaves a quorum queue without a leader now and then.
rabbit_lead()
{
    rabbit_eval "ra:trigger_election({list_to_atom(\"%2F_$1\"), node()})" >/dev/null 2>&1
}

rabbit_back()
{
    rabbit_server start >"$work/said" 2>&1 && rabbit_lead "$1"
}

rabbit_restart()
{
    rabbit_server stop >"$work/said" 2>&1 && rabbit_back "$1"
}

# rabbit_has_no PREFIX: no queue's name begins so.
rabbit_has_no()
{
    local queues
    queues=$(rabbit_queues) && ! grep -q "^$1" <<<"$queues"
}

# RabbitMQ counts the messages of a quorum queue every few seconds.
rabbit_is_empty()
{
    rabbit_left=$(rabbit_queues) && rabbit_left=$(awk '$2 > 0' <<<"$rabbit_left") && [ -z "$rabbit_left" ]
}
