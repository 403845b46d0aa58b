#!/usr/bin/env bash
# command_options.sh - policies of `pawl run`: from the command line, from a file, from the
# application's table, built in; what --show-options says of them, and what is refused.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
for module in postgres rabbitmq; do # of the URLs below, which are only read
    [ -e "$build_dir/libpawl-$module.so" ] || skip "the module $module was not built"
done
build_app app_options.c options.so
app=$work/options.so
file=$work/works.conf

# show [OPTION ...]: what holds, in $work/shown; standard error is empty.
show()
{
    pawl run "$app" --show-options "$@" >"$work/shown" 2>"$work/err" || die "exit code $? of show"
    [ ! -s "$work/err" ] || die "something on standard error"
}
# holds ENDPOINT OPTION VALUE FROM
holds()
{
    local found
    found=$(awk -v e="$1" -v o="$2" '$1 == e && $2 == o && !seen++ {
        sub(/^[^ ]+ +[^ ]+ +/, ""); v = $1; sub(/^[^ ]+ +/, ""); print v "|" $0 }' "$work/shown")
    [ "$found" = "$3|$4" ] || die "$1 $2 is '$found', not '$3|$4'"
}

echo "== built in, and the application's table"
show
holds works workers 1 "built in"
holds works immediate-retries 1 "application"
holds works delayed-retries none "application"
holds works retry-delay 45s "application"
holds works deadline 20s "application"
holds works inbox-retention 7d "built in"
holds works batch-time-max 50ms "built in"
holds works handler-time-max 5m "built in"
holds works route "audit=outbox:" "application"
grep -qE '^works +route +copy=#copies +application$' "$work/shown" || die "no route copy"
holds rests immediate-retries 3 "built in"
holds rests deadline 30s "built in"
! grep -qE '^rests +route' "$work/shown" || die "rests has a route"
show --endpoint rests
! grep -q '^works' "$work/shown" || die "works is shown, and only rests was asked for"

echo "== a default gives way to the other option of its pair"
show --outbox-delay 2h
holds works outbox-delay-max 2h "built in"
show --endpoint rests --retry-delay-max 5s
holds rests retry-delay 5s "built in"
show --retry-delay 2h --retry-delay-max 3h
holds rests retry-delay-max 3h "command line"

# rows ENDPOINT: rows of recovery and who said each, in their order.
rows()
{
    sed -n "s/^$1 *recovery *//p" "$work/shown" | sed 's/  */ /g' >"$work/rows"
}
# order LINE ...: these are the rows.
order()
{
    printf '%s\n' "$@" | diff - "$work/rows" || die "other rows of recovery"
}
show
rows works
order "code=EINVAL then=discard application" \
    "code=EFULL type=job immediate=none delayed=7 delay=90s delay-max=2h application"
rows rests
[ ! -s "$work/rows" ] || die "rests has rows of recovery"

echo "== none: printed, and read where a number may be none"
show --immediate-retries none --delayed-retries 0 --conflict-retries none --crashes-max none --breaker-rate none --history none \
    --body-retention none
for option in immediate-retries delayed-retries conflict-retries crashes-max breaker-rate history body-retention; do
    holds rests $option none "command line"
done
show --recovery "type=job immediate=none delayed=none" --endpoint rests
rows rests
order "type=job immediate=none delayed=none command line"
show --json --breaker-rate none --endpoint rests
grep -q '"option":"breaker-rate","value":"none","from":"command line","count":0,' "$work/shown" || die "none has no count"
show
holds rests breaker-rate none "built in"
holds rests history none "built in"

echo "== the file over it: for all, and for one endpoint; the command line over both"
cat >"$file" <<END
# for all
immediate-retries = 0
  retry-delay=2m
deadline = 1500ms
route = audit=sqlite:$work/all.db#here
route = copy=#others

[works]
retry-delay = 90s
stop-wait = 1h
route = audit=postgres://u:secret@host/db?sslmode=require#audits
END
show --config "$file"
holds works immediate-retries none "$file:2"
holds works retry-delay 90s "$file:9"
holds works deadline 1500ms "$file:4"
holds works stop-wait 1h "$file:10"
holds works delayed-retries none "application"
holds rests immediate-retries none "$file:2"
holds rests retry-delay 2m "$file:3"
holds rests stop-wait 30s "built in"
grep -qE "^works +route +audit=postgres://.*#audits +$file:11$" "$work/shown" || die "no route of [works]"
! grep -q secret "$work/shown" || die "a password is shown"
[ "$(grep -cE '^works +route +audit=' "$work/shown")" = 1 ] || die "two routes of one name"
grep -qE "^works +route +copy=#others +$file:6$" "$work/shown" || die "the file's route for all is not there"
show --config "$file" --retry-delay 1s --immediate-retries 7 --route audit=outbox:#q
holds works retry-delay 1s "command line"
holds rests retry-delay 1s "command line"
holds works immediate-retries 7 "command line"
holds works route "audit=outbox:#q" "command line"

echo "== rows of recovery: command line, file, application; a row that never counts is not shown"
cat >"$work/rows.conf" <<END
recovery = code=EFULL delayed=3 delay=1m
[works]
recovery = type=job code=EUNREACHABLE immediate=2 then=dead
recovery = code=EFULL  type=other   delayed=0
END
show --config "$work/rows.conf" --recovery "code=EUNREACHABLE then=discard" --recovery "type=probe immediate=0 delay-max=1500ms"
rows works
order "code=EUNREACHABLE then=discard command line" "type=probe immediate=none delay-max=1500ms command line" \
    "code=EFULL type=other delayed=none $work/rows.conf:4" "code=EFULL delayed=3 delay=1m $work/rows.conf:1" \
    "code=EINVAL then=discard application"
rows rests
order "code=EUNREACHABLE then=discard command line" "type=probe immediate=none delay-max=1500ms command line" \
    "code=EFULL delayed=3 delay=1m $work/rows.conf:1"
show --config "$work/rows.conf" --recovery "immediate=1" --endpoint works
rows works
order "immediate=1 command line"
show --config "$work/rows.conf" --json --endpoint rests
grep -qF '{"endpoint":"rests","option":"recovery","value":"code=EFULL delayed=3 delay=1m","from":"'"$work/rows.conf:1"'","count":null,"microseconds":null,"file":"'"$work/rows.conf"'","line":1}' "$work/shown" || die "no object of a row"

echo "== a queue of a broker: command line, the endpoint's line of the file, the file's for all"
cat >"$work/broker.conf" <<END
transport = amqp://u:hunter2@broker/
[works]
transport = amqp://u:hunter2@broker/shop#jobs
END
show --config "$work/broker.conf"
holds works transport "amqp://u:***@broker/shop#jobs" "$work/broker.conf:3"
holds rests transport "amqp://u:***@broker/" "$work/broker.conf:1"
show --config "$work/broker.conf" --endpoint works --transport "amqp://other/#mine"
holds works transport "amqp://other/#mine" "command line"
show
! grep -q ' transport ' "$work/shown" || die "a transport that nobody gave"
! grep -qE ' (ordered|audit) ' "$work/shown" || die "an order or an audit that nobody gave"
printf 'ordered = header:tenant\n[works]\nordered = saga\n' >"$work/order.conf"
show --config "$work/order.conf"
holds works ordered saga "$work/order.conf:3"
holds rests ordered header:tenant "$work/order.conf:1"
show --config "$work/order.conf" --ordered property:job
holds works ordered property:job "command line"

printf 'audit = amqp://u:hunter2@broker/#all\n[works]\naudit = #mine\n' >"$work/audit.conf"
show --config "$work/audit.conf"
holds works audit "#mine" "$work/audit.conf:3"
holds rests audit "amqp://u:***@broker/#all" "$work/audit.conf:1"
show --config "$work/audit.conf" --audit none
holds works audit none "command line"

echo "== --json: one object for each option and route"
show --config "$file" --json --retry-delay 1s --endpoint works
[ "$(wc -l <"$work/shown")" = "$(grep -cE '^\{"endpoint":("works"|null),"option":"[a-z-]*","value":".*\}$' "$work/shown")" ] || die "no object on a line"
object()
{
    grep -qF "{\"endpoint\":\"works\",\"option\":$1}" "$work/shown" || die "no object $1"
}
object '"workers","value":"1","from":"built in","count":1,"microseconds":null,"file":null,"line":null'
object '"immediate-retries","value":"none","from":"'"$file:2"'","count":0,"microseconds":null,"file":"'"$file"'","line":2'
object '"retry-delay","value":"1s","from":"command line","count":null,"microseconds":1000000,"file":null,"line":null'
object '"deadline","value":"1500ms","from":"'"$file:4"'","count":null,"microseconds":1500000,"file":"'"$file"'","line":4'
object '"route","value":"copy=#others","from":"'"$file:6"'","count":null,"microseconds":null,"file":"'"$file"'","line":6'
! grep -q secret "$work/shown" || die "a password is shown"
expect 2 "^pawl: --json goes with --show-options$" pawl run "$app" --store none:x --json
expect 0 '^  show-options +endpoint option value from count microseconds file line$' pawl help run

echo "== O23 limits of health, which are of no endpoint: command line, file, built in"
printf '%s\n' 'workers = 1' 'health = queue_age=90s/1h' 'health = dead_letters=5' 'health = outbox_lag=off' >"$work/limits.conf"
# limit VALUE FROM
limit()
{
    sed -nE 's/^ *-? *health +([^ ]+) +/\1 /p' "$work/shown" | grep -qxF "$1 $2" ||
        die "no limit $1 of $2"
}
show
limit "retry_age=5m/off" "built in"
limit "outbox_lag=1m/5m" "built in"
limit "outbox_dead=1/100" "built in"
show --config "$work/limits.conf" --health dead_letters=7/8 --health retry_age=1500ms --endpoint rests
limit "queue_age=90s/1h" "$work/limits.conf:2"
limit "dead_letters=7/8" "command line"
limit "retry_age=1500ms/off" "command line"
limit "outbox_lag=off/5m" "$work/limits.conf:4"
limit "queue_no_consumer=1m/off" "built in"
show --config "$work/limits.conf" --json
grep -qF '{"endpoint":null,"option":"health","value":"dead_letters=5/off","from":"'"$work/limits.conf:3"'","count":null,"microseconds":null,"file":"'"$work/limits.conf"'","line":3}' "$work/shown" || die "no object of a limit"
expect 2 "pawl: health, queue_age: unhealthy from 1ms is below degraded from 2ms$" \
    pawl run "$app" --show-options --health queue_age=2ms/1ms

expect 2 "pawl run has no option --colour; \`pawl help run\` lists them\$" pawl run "$app" --colour red

echo "== what is wrong names file, line, key, value and limit"
# refuse REGEX LINE ...: a file of these lines is refused.
refuse()
{
    local regex=$1
    shift
    printf '%s\n' "$@" >"$work/bad.conf"
    expect 2 "^pawl: $work/bad.conf:$regex" pawl run "$app" --store "sqlite:$work/bad.db" --config "$work/bad.conf"
    [ ! -e "$work/bad.db" ] || die "the store was opened"
    expect 2 "^pawl: $work/bad.conf:$regex" pawl run "$app" --show-options --config "$work/bad.conf"
}
refuse "1: there is no option 'retry-dealy'; did you mean retry-delay" 'retry-dealy = 10s'
refuse "1: there is no option 'colour'; valid are route, .*, transport, and the numbers of \`pawl help run\`\$" 'colour = red'
refuse "2: retry-delay: '10x' is not a duration: expected a number and ms, s, m, h or d" '# x' 'retry-delay = 10x'
refuse "1: retry-delay: 0s is not within 1ms and 365d" 'retry-delay = 0s'
refuse "1: workers: 'none' is not a whole number$" 'workers = none'
refuse "1: retry-delay: 'none' is not a duration" 'retry-delay = none'
refuse "1: crashes-max: 0 is not within 1 and 1000, nor the word none$" 'crashes-max = 0'
refuse "1: breaker-rate: 0 is not within 1 and 100, nor the word none$" 'breaker-rate = 0'
refuse "1: retry-delay: 366d is not within 1ms and 365d" 'retry-delay = 366d'
refuse "1: workers: 0 is not within 1 and [0-9]+$" 'workers = 0'
refuse "1: workers: 100000 is not within 1 and [0-9]+$" 'workers = 100000'
refuse "1: immediate-retries: -1 is not within 0 and 100, nor the word none$" 'immediate-retries = -1'
refuse "1: workers: '' is not a whole number" 'workers ='
refuse "1: workers: '2 # two' is not a whole number" 'workers = 2 # two'
refuse "3: workers is given twice, first on line 1$" 'workers = 1' '' 'workers = 1'
refuse "3: transport: it is given twice, first on line 1$" 'transport = amqp://a/' '' 'transport = amqp://b/'
refuse "1: transport: it names a queue, which one endpoint reads: give it under \[ENDPOINT\]$" 'transport = amqp://a/#q'
refuse "3: \[works\] is given twice, first on line 1$" '[works]' '[rests]' '[works]'
refuse "1: the application has no endpoint 'work'; did you mean works" '[work]'
refuse "1: expected \[ENDPOINT\], got '\[works'$" '[works'
refuse "1: expected KEY = VALUE or \[ENDPOINT\], got 'workers'$" 'workers'
refuse "1: recovery: " 'recovery = nosuch=1'
refuse "1: there is no option 'store'" 'store = sqlite:x.db'
refuse "1: route: expected NAME=URL#QUEUE, NAME=URL or NAME=#QUEUE, with %23 for a '#' inside of the URL, got 'audit'$" 'route = audit'
refuse "2: route: 'audit' is given twice$" 'route = audit=#a' 'route = audit=#b'
refuse "1: recovery: is empty: expected words such as code=" 'recovery ='
refuse "1: recovery: expected NAME=VALUE, got 'never'$" 'recovery = code=EFULL never'
refuse "1: recovery: there is no 'delays'; did you mean delay" 'recovery = delays=1s'
refuse "1: recovery: there is no code 'EUNREACHABEL' of a failure; did you mean EUNREACHABLE" 'recovery = code=EUNREACHABEL'
refuse "1: recovery: there is no code 'OK' of a failure; valid are [^;]*EINVAL, " 'recovery = code=OK delayed=1'
grep -qE "DISCARD|EVERSION|ECRASHED" "$work/err" && die "codes are valid that are refused"
refuse "1: recovery: code DISCARD is not a failure$" 'recovery = code=DISCARD delayed=1'
refuse "1: recovery: code ECRASHED has a limit of its own, crashes_max, which no row changes$" 'recovery = code=ECRASHED immediate=2'
refuse "1: recovery: immediate: 101 is not within 0 and 100, nor the word none$" 'recovery = immediate=101'
refuse "1: recovery: delayed: '-1' is not a whole number|1: recovery: delayed: -1 is not within 0 and 1000, nor the word none$" 'recovery = delayed=-1'
refuse "1: recovery: delay: 0s is not within 1ms and 365d$" 'recovery = delay=0s'
refuse "1: recovery: delay-max: 366d is not within 1ms and 365d$" 'recovery = delay-max=366d'
refuse "1: recovery: delay is longer than delay_max$" 'recovery = delay=2s delay-max=1s'
refuse "1: recovery: then: expected dead or discard, got 'drop'$" 'recovery = then=drop'
refuse "1: recovery: type has 0 bytes, the limit is 1 to 200$" 'recovery = type='
refuse "1: recovery: delayed is given twice$" 'recovery = delayed=1 delayed=2'
refuse "3: recovery: 'code=EFULL type=a' is never used: an earlier row covers all its failures$" \
    'recovery = type=b' 'recovery = code=EFULL' 'recovery = code=EFULL type=a'
refuse "1: byte 10 is not UTF-8$" $'workers = \xff'
refuse "2: option ordered is 'key': neither saga, header:NAME, property:NAME nor none$" '[rests]' 'ordered = key'
refuse "1: option ordered is 'key': neither" 'ordered = key' '[works]' 'ordered = saga'
refuse "4: option audit is 'audits': it names no queue" 'audit = #x' '[works]' '# y' 'audit = audits'
refuse "2: option audit is '#rests': it is the endpoint's own queue" '[rests]' 'audit = #rests'
refuse "1: option transport: no broker is known by the scheme 'pigeon'" 'transport = pigeon://roof/'
refuse "3: route 'bb': no driver " '[rests]' 'route = b=#b' 'route = bb=nope://x'
show --config "$work/bad.conf" --endpoint works # what holds for another endpoint alone is not looked at
refuse "1: route 'b{201}': its name has 201 bytes, the limit is 1 to 200$" "route = $(printf 'b%.0s' {1..201})=#x"
refuse "1: option inbox_retention is 1 s, and delayed retries by row 2 of option recovery go on" 'inbox-retention = 1s' 'delayed-retries = 5'
refuse "2: option retry_delay_max is 1m, shorter than option retry_delay, which is 10h" 'retry-delay = 10h' 'retry-delay-max = 1m'
refuse "2: health, queue_age: unhealthy from 1m is below degraded from 5m$" 'workers = 1' 'health = queue_age=5m/1m'
refuse "1: health, outbox_lag: unhealthy from 5m is below degraded from 10m$" 'health = outbox_lag=10m'
printf 'workers = 1\0\n' >"$work/bad.conf"
expect 2 "bad.conf:1: it has a NUL byte$" pawl run "$app" --show-options --config "$work/bad.conf"
expect 2 "cannot read $work/none.conf: No such file" pawl run "$app" --show-options --config "$work/none.conf"
expect 2 "cannot read $work: it is a directory" pawl run "$app" --show-options --config "$work"
expect 2 "^pawl: --retry-delay: 0s is not within 1ms and 365d$" pawl run "$app" --show-options --retry-delay 0s
expect 2 "^pawl: --deadline: 25h is not within 1ms and 1d$" pawl run "$app" --show-options --deadline 25h
expect 2 "^pawl: --route: 'a' is given twice$" pawl run "$app" --show-options --route a=#b --route a=#c
expect 2 "^pawl: --route: 'a\?': name: byte 1 is not UTF-8$" pawl run "$app" --show-options --route $'a\xff=#q'
expect 2 "^pawl: --route: 'a': queue: byte 0 is not UTF-8$" pawl run "$app" --show-options --route $'a=#\xff'
expect 2 "a line of /dev/zero is over [0-9]+ bytes, the limit$" pawl run "$app" --show-options --config /dev/zero
expect 2 "^pawl: --recovery: then: expected dead or discard, got 'x'$" pawl run "$app" --show-options --recovery then=x
expect 2 "option inbox_retention is 604800 s, and delayed retries by row 1 of option recovery go on" \
    pawl run "$app" --store "memory:x" --recovery "delayed=1000"
expect 2 "option inbox_retention is 1 s, and delayed retries by row 2 of option recovery go on" \
    pawl run "$app" --store "memory:x" --inbox-retention 1s --delayed-retries 5
expect 2 "^pawl: --transport names a queue, which one endpoint reads: give --endpoint" pawl run "$app" --show-options --transport 'amqp://a/#q'
for verb in "--store sqlite:$work/bad.db" --show-options; do
    # shellcheck disable=SC2086
    {
        expect 2 "^pawl: option ordered is 'key'" pawl run "$app" $verb --ordered key
        expect 2 "^pawl: option audit is 'audits': it names no queue; expected URL#QUEUE, or #QUEUE of this store" \
            pawl run "$app" $verb --audit audits
        expect 2 "^pawl: option audit is '#works': it is the endpoint's own queue" pawl run "$app" $verb --audit '#works'
        expect 2 "^pawl: option transport: no broker is known by the scheme 'pigeon'" \
            pawl run "$app" $verb --transport pigeon://roof/
        expect 2 "^pawl: route 'a': no driver " pawl run "$app" $verb --route a=nope://x
    }
done
[ ! -e "$work/bad.db" ] || die "the store was opened"
# What is not in the file has no line there: the application's own, and the command line's over it.
echo 'ordered = saga' >"$work/order.conf"
expect 2 "^pawl: option ordered is 'key'" pawl run "$app" --show-options --config "$work/order.conf" --ordered key
route_without_a_name='postgres://u:hunter2@h/d?x=1'
printf 'route = %s\n' "$route_without_a_name" >"$work/bad.conf"
expect 2 "bad.conf:1: route: " pawl run "$app" --show-options --config "$work/bad.conf"
! grep -q hunter2 "$work/err" || die "a password is shown"

echo "== it holds: one run, no retry, and a route through the outbox"
export PAWL_STORE=sqlite:$work/run.db
printf '[works]\nimmediate-retries = 0\n' >"$file"
start works "$app" --endpoint works --config "$file"
expect 0 '^sent ' pawl send --to works --type job --body '{"n":-1}'
poll 20 has dead 1 || die "no dead letter"
[ "$(number failures)" = 1 ] || die "$(number failures) runs failed, not 1"
expect 0 '^sent ' pawl send --to works --type job --body '{"n":1}'
poll 20 has_ready audit 1 || die "nothing is in the queue audit"
pawl outbox list --json --state dispatched >"$work/out"
lines 1
stop "$pid" TERM 0

echo "== copies of handled messages"
export PAWL_STORE=sqlite:$work/audit.db
start works "$app" --endpoint works --immediate-retries 0 --audit '#audits'
expect 0 '^sent ' pawl send --to works --type job --id failed --body '{"n":-1}'
expect 0 '^sent ' pawl send --to works --type job --id good --header tone=kind --body '{"n":1}'
poll 20 has_ready audits 1 || die "no copy"
pawl queue peek audits --json --reveal >"$work/out"
lines 1
for part in '"tone":"kind"' '"pawl.audit.id":"good"' '"pawl.audit.endpoint":"works"' "\"pawl.audit.machine\":\"$(uname -n)\"" \
    '"pawl.audit.started":"2'; do
    grep -qF "$part" "$work/out" || grep -qF "$(sed 's/"/\\"/g' <<<"$part")" "$work/out" || die "the copy has no $part"
done
stop "$pid" TERM 0

echo "== a row of recovery holds: discarded after one run, and the log says so"
export PAWL_STORE=sqlite:$work/rows.db
start works "$app" --endpoint works --recovery "code=EUNREACHABLE type=job immediate=0 delayed=0 then=discard"
expect 0 '^sent ' pawl send --to works --type job --id gone --body '{"n":0}'
poll 20 has failures 1 || die "no failure"
stop "$pid" TERM 0
[ "$(number dead)" = 0 ] || die "a dead letter"
grep -q "message gone of type job in queue works is discarded after 1 attempt: EUNREACHABLE: " "$work/works.log" ||
    die "no line in the log"

echo "== what nobody set has the help's default"
expect 0 '' pawl run "$app" --show-options --json
while read -r option default; do
    grep -qE "\"option\":\"$option\",\"value\":\"$default\".*\"from\":\"(built in|application)\"" "$work/out" ||
        die "--$option: the help says default $default"
done < <(pawl help run | sed -nE 's/^  --([a-z-]+) (N|TIME) .*, default ([0-9a-z]+)$/\1 \3/p')

echo "== docs/options.md has the help's lines"
pawl help run | grep ', default ' >"$work/help" || die "the help has no defaults"
awk '/^```/ { inside = !inside; next } inside && /, default /' "$source_dir/docs/options.md" >"$work/page"
diff "$work/help" "$work/page" >"$work/out" || die "docs/options.md differs from pawl help run"
