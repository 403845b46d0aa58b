# replay_broker.sh - what tests of pawl-replay through a RabbitMQ share. Sourced, behind replay.sh.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck source=tests/support/rabbit.sh
. "$source_dir/tests/support/rabbit.sh"

# restart_at N: the broker is restarted when the N-th child is dead.
restart_at()
{
    poll 60 grep -q "kill $1 of" "$work/err" || return 1
    local run
    run=$(grep -oE 'run [0-9a-f]{8}' "$work/err" | head -n 1 | cut -d' ' -f2)
    rabbit_restart "replay_$run"
}

# through_restarts TIMES EVENTS CASES CLOSINGS GROUPS BATCHES KILLS ARGUMENT ...: killed, with the broker restarted on the way.
through_restarts()
{
    local times=$1 kills=$7 i
    shift
    : >"$work/err" # what it says is of this run
    (for ((i = 0; i < times; i++)); do
        restart_at $((1 + i * 2)) || exit 1
    done) &
    local trouble=$!
    rabbit_users+=("$trouble")
    verify "$@" --crash "$kills" --transport "$rabbit_url/"
    wait "$trouble" || die "the broker was not restarted $times times"
    [ "$(grep -c '; trying again$' "$work/err")" -ge "$times" ] || die "it never met the trouble"
    # The queue of the run is gone with it.
    rabbit_has_no replay_ || die "a queue is left"
}
