# questions.sh - the questions of docs/OPERATING.md, asked of a store with trouble in it: each of its commands
# runs, answers what was asked, and is what the help leads to. Sourced by tests of one store.
#
# Set before: PAWL_STORE, of a store without tables; sql TEXT and ago SECONDS (a time of the past, in SQL).
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154

page=$source_dir/docs/OPERATING.md
export PAWL_DRIVER_PATH=$build_dir PAWL_TEST_SEEN=$work/seen
export PAWL_TEST_CLOSED=$work/closed PAWL_TEST_AWAY=$work/away
cd "$work" || die "no $work"
[ -e "$build_dir/orders.so" ] || skip "the example orders is not built"
cp "$build_dir/orders.so" orders.so
for app in pair dead deaths shop projection aggregator schedule; do
    build_app app_$app.c $app.so
done
echo '{"n":22}' >good.json

# ---- What the commands have to say ------------------------------------------------------------

# A question of the page, and a regex for each of its commands. The order is the page's: what was asked before
# may have changed something.
answers()
{
    cat <<'END'
What is wrong, and how is it fixed?|partition vans/bonn is dead
Is the store healthy, and how much is in it?|^dead letters now +5
What is happening right now?| 5 +[0-9]+ degraded$
Where are the messages of one customer, or with anything else in their body?|^queue +m-3 +charge +billing .*retry 1, 
Where is a message, and why is it not handled?|queue billing is paused since .* the bank is away tonight
Why does a saga make no progress?|^waits for +its time, in [0-9.]+ m
What blocks a queue?|^waits for .*queue billing is paused since .* the bank is away tonight
Which programs are alive, and which one delivers the outbox?|^[0-9a-f-]{36} +left 
Which version of a program runs where, and since when?|^[0-9a-f-]{36} +left +pair +1[.]2-rc1 
What does a worker have in flight, and since when?|^[0-9a-f-]{36} +left |^in flight 
Which settings are in effect, and where was each one set?|^orders +crashes-max +3 +built in
What is in the queues, which have a consumer, and which are paused?|^billing +[0-9].* paused +4
Who paused a queue, when and why?|^paused +20.* ago\) +[^ ]+ +the bank is away tonight
Which messages will be retried, when, and what was their last error?|^m-3 +charge +1 .* the bank is away
What does a message contain?|^body +\{"n":3\}
How do I resume a paused queue?|^resumed queue billing
How do I pause a queue in all programs?|^paused queue billing
How do I move messages that were sent to the wrong queue?|^moved 1 message of queue biling to billing
How do I purge messages from a queue, and count them first?|^would be dead-lettered: 1 message|^dead-lettered 1 message of queue billing
Which messages are dead letters, and why?|^m-1 +billing +charge .* REJECT +the bank is closed
Which message crashed a process, and how?|^m-0 .* ECRASHED |signal 6 \(SIGABRT\)
What happened in each attempt of a dead letter?|^ +1 +20.* REJECT +the bank is closed
How do I retry a dead letter?|^retried 1 dead letter
How do I correct the body of a dead letter?|^edited 1 dead letter
How do I retry all dead letters of a type, at most 500 per second?|^would be retried: 1 dead letter|^retried 1 dead letter
How do I discard a dead letter?|^discarded 1 dead letter
What was done with a dead letter, by whom and why?|^discarded +20.* ago\) +[^ ]+ +paid in cash
Which outbox rows are not delivered, and what blocks them?|^ *4 +blocked .* Cart/c-2|^next +blocked behind row 3 of the same ordering key
What was the result of each delivery attempt?|^ +1 +poison .*is full
How do I retry a dead outbox row?|^retried 2 outbox rows
Which messages of a saga are not delivered yet?|^ *4 +blocked 
Which timeouts are set, and when are they due?|in [0-9.]+ m\) +payment +OrderSaga
Which timeouts does one saga have?|payment +OrderSaga/b-9
How do I postpone timeouts by two days?|^moved 2 timeouts
How do I make a timeout due now?|in 2 d\) +payment |^run now 1 timeout
Which timeouts are leased by dead workers, and how do I free them?|^would be reaped: 2 timeouts|^reaped 2 timeouts
Which sagas are there?|^OrderSaga/b-9 
What state is a saga in?|^state .*"warehouse":"north"
What has a saga done so far?|send charge_card to billing
How do I delete a saga that will never complete?|^deleted saga OrderSaga/b-9
Can a new program version read what is stored?| rows: 0 findings
Which partition of an aggregator is dead, and why?|^vans/bonn +dead +3 .* the van for 3 parcels is broken
How do I restart a dead partition?|^run now partition vans/bonn
How do I discard the messages of a partition?|^removed .*vans/bonn
Is a projection blocked, since when, and why?|^names +failing .* EPERSIST +the bank is closed for number 7
Which event blocks it, and what happens next?|^next .*event Box/b-1, version 1
What does that event contain?|^body +\{"number":7\}
How do I retry the event now?|names
How do I rebuild a projection?|all
Which schedules exist, when is each due next, and which are paused?|^office/nightly +0 3 .* active +20
Who paused a schedule, when and why?|^reason +stocktaking
How do I resume a schedule, or run it once now?|^resumed office/second|^sent one message of office/second
What did operators do, when and why?|queue_[a-z]+ +pawl.queue/billing|the bank rests
Which endpoint handles and sends which messages?|^ +sets timeout payment
Does the schema match this version of pawl?|the tables are as they should be
Which rights does a program need, and which does a read-only user need?|^grant .*insert.* to "shop"|^grant select .* to "grafana"
END
}

# ---- A store with trouble in it -----------------------------------------------------------------

send() # QUEUE TYPE BODY OPTION ...
{
    local queue=$1 type=$2 body=$3
    shift 3
    expect 0 '' pawl send --to "$queue" --type "$type" --body "$body" "$@"
}
in_log() { grep -q "$2" "$work/$1.log"; }
# says LOG TEXT: the program says so.
says()
{
    poll 20 in_log "$1" "$2" || { cp "$work/$1.log" "$work/err"; die "$1 does not say '$2'"; }
}

pawl schema apply --app orders.so 2>"$work/err" || die "no schema"

start office schedule.so
expect 0 '' pawl schedule pause second --reason stocktaking
stop "$pid" TERM 0

start orders orders.so --history 7d
for order in b-8 b-9; do
    send orders place_order "{\"order_id\":\"$order\",\"warehouse\":\"north\",\"total_cents\":5}"
done
has_sagas() { [ "$(pawl timeout list --json | wc -l)" = 2 ]; }
poll 20 has_sagas || die "no sagas"
stop "$pid" TERM 0
expect 0 '' pawl queue purge billing --discard --yes # what orders sent there is another application's

[ -x "$work/sql" ] || build_sql
pawl schema apply --store "sqlite:$work/far.db" 2>"$work/err" || die "no schema of the receiver"
"$work/sql" "$work/far.db" "create trigger is_full before insert on pawl_queue begin select raise(abort, 'is full'); end" ||
    die "no trigger"
for run in '1 2 --outbox-attempts 1' '3 4 --outbox-delay 1h'; do
    read -r first second option value <<<"$run"
    for n in $first $second; do
        send shop sell "{\"customer\":\"c-$((second / 2))\",\"number\":$n}"
    done
    start shop shop.so --route "far=sqlite:$work/far.db" "$option" "$value"
    if [ "$first" = 1 ]; then
        poll 20 has outbox_dead 2 || die "no dead rows"
    else
        poll 20 has outbox_blocked 1 || die "no row is held"
    fi
    stop "$pid" TERM 0
done

start left deaths.so --restart --crashes-max 1
send left bite '{"n":1,"kills":1}' --id m-0
poll 20 has dead 1 || die "nothing died"
stop "$pid" TERM 0

touch closed
start billing dead.so --immediate-retries 0 --retry-delay 1h
send billing charge '{"n":1}' --id m-1
send billing parcel '{"n":2}' --id m-2
send billing note '{"n":5}' --id m-5
send billing charge '{"n":7}' --id m-7
poll 20 has dead 5 || die "no letters"
rm closed && touch away
send billing charge '{"n":3}' --id m-3
says billing 'm-3'
expect 0 '' pawl queue pause billing --reason 'the bank is away tonight'
stop "$pid" TERM 0
send billing note '{"n":6}' --id m-6
send biling charge '{"n":4}' --id m-4

touch closed
start boxes projection.so
send boxes put '{"box":"b-1","number":7}'
says boxes 'the bank is closed'
stop "$pid" TERM 0
start post aggregator.so
for n in 1 2 3; do
    send post parcel "{\"depot\":\"bonn\",\"n\":$n}"
done
says post 'it is dead now'
stop "$pid" TERM 0
start watcher pair.so

# ---- The questions ------------------------------------------------------------------------------

# placeholders COMMAND: it with the ids that are in the store.
placeholders()
{
    local command=$1 id
    if [[ $command == *WORKER* ]]; then
        id=$(pawl worker list --endpoint left --json | sed -nE '1s/.*"id":"([^"]*)".*/\1/p')
        command=${command/WORKER/$id}
    fi
    if [[ $command == *TIMEOUT* ]]; then
        id=$(pawl timeout list --saga OrderSaga/b-8 --app orders.so --json | sed -nE '1s/.*"id":"([^"]*)".*/\1/p')
        command=${command/TIMEOUT/$id}
    fi
    echo "$command"
}

# is_led_to VERB ACTION OPTION ...: the help names each word.
is_led_to()
{
    local word action=${2:-none}
    pawl help | grep -q "^  $1 " || die "pawl help does not name $1"
    pawl help "$1" >"$work/help"
    if [[ $action != --* ]] && grep -qE "^  $action( |\$)" "$work/help"; then
        pawl help "$1" "$action" >"$work/help"
    fi
    for word in "${@:2}"; do
        [[ $word != --* ]] || grep -q "^  $word " "$work/help" || die "pawl help $1 $action does not name $word"
    done
}

# ask COMMAND REGEX
ask()
{
    local command
    local -a words
    command=$(placeholders "$1")
    eval "words=($command)"
    is_led_to "${words[@]:1}"
    [[ $command != *--watch* ]] || words+=(--count 1)
    "${words[@]}" >"$work/out" 2>"$work/err" </dev/null
    local found=$?
    if grep -q 'give --yes$' "$work/err"; then # it asks, and no terminal answers
        "${words[@]}" --yes >"$work/out" 2>"$work/err" </dev/null
        found=$?
    fi
    [ $found = 0 ] || [ "$found ${words[1]}" = '1 doctor' ] || die "exit code $found: $command"
    cat "$work/err" >>"$work/out"
    grep -qE -- "$2" "$work/out" || die "no answer like '$2': $command"
}

# as_json COMMAND: a look prints the same as objects, whose keys stand in the help.
as_json()
{
    local command
    local -a words
    command=$(placeholders "$1")
    eval "words=($command)"
    case "${words[1]} ${words[2]:-}" in
    *' list' | *' show' | *' peek' | *' history' | why* | run* | find*) expect 0 '^\{.*\}$' "${words[@]}" --json ;;
    esac
}

# What a worker that died left, right before it is asked for: leases are cleared by those that live.
lease()
{
    sql "update pawl_timeouts set \"Owner\" = '019a0000-0000-7000-8000-0000000000aa', \"LeaseExpires\" = $(ago 120)
         where \"Name\" = 'payment'"
}

sed -nE 's/^\| ([^|]*\?) \| (`.*`) \|$/\1|\2/p' "$page" >"$work/asked"
answers | cut -d '|' -f 1 | diff - <(cut -d '|' -f 1 "$work/asked") || die "$page has other questions, or in another order"
[ "$(wc -l <"$work/asked")" -gt 40 ] || die "$page has few questions"
while IFS='|' read -r question commands <&3 && IFS='|' read -r _ first second <&4; do
    mapfile -t list < <(grep -oE '`[^`]+`' <<<"$commands" | tr -d '`')
    [ ${#list[@]} -le 2 ] || die "more than two commands: $question"
    [ ${#list[@]} = $(([ -n "$second" ] && echo 2) || echo 1) ] || die "another number of commands: $question"
    echo "== $question"
    [[ $commands != *'timeout reap'* ]] || lease
    ask "${list[0]}" "$first"
    [ ${#list[@]} = 1 ] || ask "${list[1]}" "$second"
    for command in "${list[@]}"; do
        as_json "$command"
    done
done 3<"$work/asked" 4< <(answers)
stop "$pid" TERM 0

echo "== what changes something, as objects"
changed() # REGEX COMMAND ...
{
    expect 0 "^\\{$1\\}\$" "${@:2}" --json
    lines 1
}
send stray note '{"n":9}' --id m-9
changed '"queue":"stray","moved":1,"left":0,"last":[0-9]+' pawl queue move stray other --yes
changed '"queue":"other","dead_lettered":1,"left":0,"copies":0,"last":[0-9]+' pawl queue purge other --yes
changed '"edited":1,"no_longer_dead":0,"already_queued":0,"unsendable":0' pawl dead edit m-9 --body-file good.json
changed '"done":"resumed","queue":"billing"' pawl queue resume billing
changed '"retried":0,"no_longer_dead":0' pawl outbox retry --all --yes
changed '"moved":1,"left":0' pawl timeout move --all --name payment --by 1h --yes
changed '"deleted":"OrderSaga/b-8","id":"[0-9a-f-]{36}","version":1,"timeouts":1,"outbox":0' \
    pawl saga delete OrderSaga/b-8 --app orders.so --yes
start post aggregator.so
send post parcel '{"depot":"bonn","n":4}'
is_collected() { has aggregator_rows 1; }
poll 20 is_collected || die "nothing is collected"
stop "$pid" TERM 0
changed '"removed":"vans/bonn","rows":1' pawl aggregator remove vans/bonn --yes
changed '"done":"added","id":"office/hourly"' \
    pawl schedule add hourly --to office --type tick --every 1h --body '{"number":1}'
for action in paused/pause 'sent one message of/run' resumed/resume removed/remove; do
    changed "\"done\":\"${action%/*}\",\"id\":\"office/hourly\"" pawl schedule "${action#*/}" hourly
done
