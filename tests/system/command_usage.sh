#!/usr/bin/env bash
# command_usage.sh - what the command says about itself and about wrong words:
# exit 2 and one line that names the word and the nearest valid ones.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

usage()
{
    expect 2 "$@"
    [ "$(wc -l <"$work/err")" = 1 ] || die "more than one line: $*"
}

echo "== verbs"
usage "no verb 'sned'; did you mean send\?" pawl sned
usage "no verb 'frobnicate'; valid are [a-z, ]*bench, " pawl frobnicate
usage "no verb 'verzion'; did you mean version\?" pawl help verzion
expect 0 '^pawl [0-9]+\.[0-9]+\.[0-9]+ \(library' pawl version
expect 0 '^pawl [0-9]+\.[0-9]+\.[0-9]+ \(library' pawl --version
expect 0 '^\{"version":"[0-9.]+","library":"[0-9.]+","abi":[0-9]+,"compiler":"(gcc|clang) [^"]+","drivers":\[.*\]\}$' \
    pawl version --json
[ "$(wc -l <"$work/out")" = 1 ] || die "--json printed more than one line"

echo "== a store without its --store"
usage "pawl queue list takes options, not 'postgres://u:\*\*\*@h/d'" pawl queue list 'postgres://u:hunter2@h/d'
! grep -q hunter2 "$work/err" || die "a password is shown"

echo "== help"
expect 0 '^usage: pawl .*VERB' pawl help
grep -q 'PAWL_STORE' "$work/out" && grep -q 'PAWL_DRIVER_PATH' "$work/out" || die "a variable is not named"
grep -q '^  pawl why ID ' "$work/out" || die "no word of what to do when something is wrong"
listed=$(sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$work/out")
[ "$listed" = "$(sort <<<"$listed")" ] || die "the verbs are not sorted: $listed"
grep -qx outbox <<<"$listed" || die "these are not the verbs: $listed"
usage "give a verb; valid are $(paste -sd, <<<"$listed" | sed 's/,/, /g')$" pawl
for verb in $listed; do
    expect 0 "^usage: pawl $verb" pawl help "$verb"
    cp "$work/out" "$work/page"
    expect 0 "^usage: pawl $verb" pawl "$verb" --help
    cmp -s "$work/out" "$work/page" || die "two pages of $verb"
    options=$(sed -n 's/^  --\([a-z-]*\).*/\1/p' "$work/page")
    [ "$options" = "$(LC_ALL=C sort <<<"$options")" ] || die "the options of $verb are not sorted"
done

echo "== help: asked for by a word that is no value of an option"
usage "'-h' is not a duration" pawl send --delay -h
usage "/-h: No such file" pawl send --store sqlite:none.db --to q --type t --id -- --correlation --help --body-file /-h
usage "'-h' is one argument too many" pawl stats -- -h
for words in "--json -h" "--store=x --help" "-h --store" "--store -h -h" "--none -h"; do
    # shellcheck disable=SC2086
    expect 0 '^usage: pawl send' "$build_dir/pawl" send $words
done

for words in "--store list --help" "prune -h" "-h -- list"; do
    # shellcheck disable=SC2086
    expect 0 '^usage: pawl queue [a-z-]*\|' "$build_dir/pawl" queue $words
done
expect 0 '^usage: pawl queue move ' pawl queue --store list move a --help b

echo "== help: a line for each action, and a page"
for verb in $listed; do
    pawl help "$verb" >"$work/page"
    actions=$(sed -nE "1s/^usage: pawl $verb ([a-z|-]+)( .*|\$)/\1/p" "$work/page" | tr '|' ' ')
    for action in $actions; do
        grep -qE "^  $action( [^ ]+)*  +[^ ]" "$work/page" || die "pawl help $verb has no line of $action"
        expect 0 "^usage: pawl $verb $action" pawl help "$verb" "$action"
        cp "$work/out" "$work/action"
        for words in "$action --help" "-h $action"; do
            # shellcheck disable=SC2086
            pawl "$verb" $words | cmp -s - "$work/action" || die "two pages of $verb $action: pawl $verb $words"
        done
    done
done
for action in cancel list move reap run-now show; do
    pawl help timeout | grep -q "^  $action " || die "pawl help timeout does not name $action"
done
pawl help --man timeout | grep -q '^.B reap ID' || die "the page of timeout does not have reap"

echo "== help of one action: its options alone"
expect 0 '^usage: pawl queue pause QUEUE \[OPTIONS\]$' pawl help queue pause
grep -qx 'stop the work on it, in all processes, until it is resumed' "$work/out" || die "no word of what pause does"
grep -q '^  QUEUE  *as list has it' "$work/out" || die "no word of what QUEUE is"
grep -q '^  TO ' "$work/out" && die "the page of pause has an argument of move"
expect 0 '^usage: pawl queue move QUEUE TO \[OPTIONS\]$' pawl help queue move
grep -q '^  TO  *move: ' "$work/out" || die "no word of what TO is"
grep -q '^  --reason TEXT  *why' "$work/out" || die "no --reason: $(cat "$work/out")"
grep -q -e '--discard' "$work/out" && die "the page of pause has options of purge"
usage "pawl queue has no action 'pauze'; did you mean pause\?" pawl help queue pauze
usage "pawl version has no action 'x'" pawl help version x

echo "== keys of --json: in the help of each verb that has it, and on a page"
# keys VERB: those of its help.
keys()
{
    pawl help "$1" | sed -n '/^keys of --json/,$p' | sed 1d | cut -c 29- | tr ' ' '\n' | sort -u
}
for verb in $listed; do
    pawl help "$verb" >"$work/page"
    grep -qE '^  --json|json \(one object\)' "$work/page" || continue
    [ -n "$(keys "$verb")" ] || die "pawl help $verb does not list the keys of --json"
    page=$source_dir/docs/COMMAND.md
    [ "$verb" != bench ] || page=$source_dir/bench/README.md
    for key in $(keys "$verb"); do
        grep -qE "[\`\"]$key[\`\"]" "$page" || die "pawl $verb: $page does not say what '$key' is"
    done
done

echo "== options"
usage "pawl stats has no option --stroe; did you mean --store\?" pawl stats --stroe x
usage "pawl version has no option --store; valid are --json" pawl version --store x
usage "pawl run has no option --load; it stands before the verb: pawl --load FILE run" pawl run --load x
usage "pawl stats has no option -j; valid are" pawl stats -j
usage "pawl stats: 'extra' is one argument too many" pawl stats extra
usage "memory: is a store inside one process" pawl stats --store memory:
usage "memory:x is a store inside one process" pawl send --store memory:x --to q --type t --body '{}'
usage "--store is given twice" pawl stats --store memory: --store memory:
usage "--store needs a value: URL" pawl stats --store
usage "--json takes no value, but has '1'" pawl stats --json=1
usage "no store: give --store URL or set the variable PAWL_STORE" pawl stats
usage "pawl run needs APP.so" pawl run
usage "--workers: 65 is not within 1 and 64" pawl run x.so --workers 65
usage "--workers: 'many' is not a whole number" pawl run x.so --workers=many
usage "--create: 'maybe' is neither yes nor no" pawl run x.so --create=maybe
usage "--log: 'infos' is not a valid LEVEL; did you mean info\?" pawl run x.so --store memory: --log infos
usage "--route: expected NAME=URL#QUEUE" pawl run x.so --store memory: --route nowhere
usage "--route: 'sink': 'outbox' is not a URL; 'outbox:', with a colon, is the outbox of this store" pawl run x.so --store memory: --route sink=outbox
usage "--route: 'sink': 'outbox' is not a URL; 'outbox:'" pawl run x.so --store memory: --route 'sink=outbox#q'
usage "--create needs a value: yes or no" pawl run x.so --create
usage "needs ACTION; valid are apply, drop, print, verify" pawl schema
usage "'verfy' is not a valid ACTION; did you mean verify\?" pawl schema verfy
usage "has no option --dialect: it is for print" pawl schema apply --dialect sqlite
usage "--endpoint goes with --app" pawl schema apply --store memory: --endpoint x
usage "drop asks first" pawl schema drop --store memory:
usage "'saga-stop' is not a valid WORKLOAD; did you mean saga-step\?" pawl bench saga-stop
usage "--rounds: 0 is not within 1 and 99" pawl bench saga-step --rounds 0

echo "== a URL in the wrong place shows no password"
hidden()
{
    usage "$@"
    ! grep -q Sesame "$work/err" || die "shown: $(cat "$work/err")"
}
url=postgres://u:Sesame@h/db
for word in "$url" "$url?a=b" u:Sesame@h 'host=h password=Sesame' postgres:u:Sesame@h; do
    hidden "there is no verb" pawl "$word"
    hidden "there is no verb" pawl help "$word"
    hidden "one argument too many" pawl stats "$word"
    hidden "one argument too many" pawl send "$word"
    hidden "is not a valid ACTION" pawl schema "$word"
    hidden "has no option" pawl stats "--$word"
    hidden "takes no value" pawl stats "--json=$word"
    hidden "not a whole number" pawl run x.so --workers "$word"
    hidden "neither yes nor no" pawl run x.so --create "$word"
    hidden "is not a duration" pawl send --delay "$word"
    hidden "is not a valid LEVEL" pawl run x.so --store memory: --log "$word"
done
for word in "$url" "$url#q" "$url?a=b" "=$url" postgres:u:Sesame@h; do
    hidden "--route: " pawl run x.so --store memory: --route "$word"
done

echo "== send"
to=(send --store sqlite:none.db --to q --type t)
usage "needs --to QUEUE and --type TYPE" pawl send --store memory: --body 1
usage "needs --body JSON, --body-file FILE or --lines" pawl "${to[@]}"
usage "give --body or --lines, not both" pawl "${to[@]}" --body 1 --lines
usage "--id is for one message" pawl "${to[@]}" --lines --id x
usage "--delay: '5' is not a duration" pawl "${to[@]}" --body '{}' --delay 5
usage "--delay: '5w' is not a duration" pawl "${to[@]}" --body '{}' --delay 5w
usage "--delay: '99999999999d' is too long a duration" pawl "${to[@]}" --body '{}' --delay 99999999999d
usage "--header: expected NAME=VALUE, got 'x'" pawl "${to[@]}" --body '{}' --header x
usage "--body: not JSON: .* at byte [0-9]+" pawl "${to[@]}" --body '{"n":1,}'
usage "no-such-file: No such file" pawl "${to[@]}" --body-file "$work/no-such-file"
usage "cannot read $work: it is a directory" pawl "${to[@]}" --body-file "$work"
: >"$work/empty"
usage "$work/empty: not JSON: it is empty" pawl "${to[@]}" --body-file "$work/empty"

echo "== applications"
usage "cannot load .*no-such.so" pawl run "$work/no-such.so" --store memory:
build_app app_pair.c wrong_abi.so -DWRONG_ABI=4711
usage "wrong_abi.so was built for ABI 4711 of pawl, this command has ABI [0-9]+" \
    pawl run "$work/wrong_abi.so" --store memory:
build_app app_pair.c no_export.so -DNO_EXPORT
usage "no_export.so is not an application" pawl run "$work/no_export.so" --store memory:
build_app app_pair.c data.so -DDATA_EXPORT
usage "data.so: its symbol pawl_application_export is data of [0-9]+ bytes, where a function" \
    pawl run "$work/data.so" --store memory:
for size in application_size endpoint_size on_size; do
    build_app app_pair.c small.so -DSMALL=$size
    usage "small.so: application says that its pawl_.* has 1 bytes, at least [0-9]+ are needed" \
        pawl run "$work/small.so" --store memory:
done
mkfifo "$work/pipe.so"
usage "cannot load .*pipe.so is a named pipe, where a shared object is expected" \
    timeout 20 "$build_dir/pawl" run "$work/pipe.so" --store memory:
usage "cannot load .*: $work is a folder" pawl schema print --dialect sqlite --app "$work"
build_app app_pair.c pair.so
usage "no endpoint 'lefd'; did you mean left\?" pawl run "$work/pair.so" --store memory: --endpoint lefd
usage "no endpoint 'lefd'" pawl schema print --dialect sqlite --app "$work/pair.so" --endpoint lefd

echo "== output"
if [ -w /dev/full ]; then
    pawl version >/dev/full 2>"$work/err"
    [ $? = 5 ] || die "a version that nobody could read did not exit 5"
    grep -q '^pawl: cannot write to standard output$' "$work/err" || die "no line about the output"
fi
