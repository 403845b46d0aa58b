#!/usr/bin/env bash
# command_completion.sh - what may stand at the cursor, and the scripts of the shells: bash's
# always, those of zsh and fish where these are installed.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

# The words that are offered behind the given ones, the last of which is typed so far.
offered() # WANTED WORD ...
{
    local wanted=$1
    shift
    expect 0 '' pawl completion words -- "$@"
    found=$(cut -f1 "$work/out" | tr '\n' ' ')
    [ "${found% }" = "$wanted" ] || die "'$*' offers '${found% }' instead of '$wanted'"
}

echo "== verbs"
verbs=$(pawl help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' | tr '\n' ' ')
offered "${verbs% }" ''
offered "${verbs% }" help ''
offered 'schema' schem
offered '' frobnicate ''
offered '--load' --
offered / --load ''
offered 'version' --load driver.so ver

echo "== arguments"
offered 'discard list retry show' outbox ''
offered 'list' outbox l
offered '--man --help' help -
found=$(pawl completion words -- outbox show '' | cut -f1 | tr '\n' ' ')
[ "$found" = '--app --deadline --json --prefix --reveal --saga-prefix --store ' ] || die "'outbox show' offers '$found'"
offered / run ''
offered '' outbox lost --
offered '' stats extra ''
offered '' stats extra --

found=$(pawl completion words -- outbox show 1 2 --re | cut -f1)
[ "$found" = --reveal ] || die "behind two ids '$found' is offered"
offered 'list' outbox -- l

echo "== options"
offered '--state --store' outbox list --st
offered '--store' outbox show --st
offered '--state' outbox --store=sqlite:a.db --sta
offered '' outbox list --limit 3 --lim
offered '--route' run app.so --route a=b --route
offered '--help' stats --help
offered '--help' version --he
offered '' version --json --j
offered '--json' send --body -- --js
offered '' send --body x -- --js
offered '--json --help' version -
offered '--json' version ''

echo "== values"
offered 'error warning info debug trace' run --log ''
offered '--log=debug' run app.so --log=d
offered 'no yes' run --create ''
offered '--create=no --create=yes' run --create=
offered 'mariadb mssql mysql' schema print --dialect m
offered 'dead,pending dead,blocked dead,dispatched dead,discarded' outbox list --state dead,
offered '--state=dead,discarded' outbox list --state=dead,disc
offered '' outbox list --state pending,dead,dead
offered '' schema print --state=
offered '' run app.so --create yes --create=
offered '' outbox list --limit 5 --limit
offered '' outbox list --state "$(printf 'dead,%.0s' {1..60})"
offered / run --config ''
offered / run --config=a
offered / schema print --files x
offered '' send --type x

echo "== every option of every action is offered, and nothing else"
for verb in $verbs; do
    listed=$(pawl help "$verb" | sed -n 's/^  \(--[a-z][a-z-]*\).*/\1/p' | LC_ALL=C sort | tr '\n' ' ')
    found=$(pawl completion words -- "$verb" -- | cut -f1 | grep -v '^--help$' | LC_ALL=C sort | tr '\n' ' ')
    [ "$found" = "$listed" ] || die "$verb offers '$found' instead of '$listed'"
done

echo "== scripts"
expect 2 "needs SHELL; valid are bash, fish, words, zsh" pawl completion
expect 2 "pawl completion bash takes options, not 'x'" pawl completion bash x
for shell in bash zsh fish; do
    pawl completion $shell >"$work/$shell" || die "no script for $shell"
done
PATH=$build_dir:$PATH

# Readline gives the words broken at ":" and "=", and puts its answer behind the last break.
in_bash() # WANTED WORD ...
{
    local wanted=$1
    shift
    # shellcheck disable=SC2016 # the inner bash expands them
    found=$(bash --norc -c 'source "$1"; shift
        COMP_WORDS=(pawl "$@") COMP_CWORD=$#
        _pawl
        echo "${COMPREPLY[*]}"' - "$work/bash" "$@")
    [ "$found" = "$wanted" ] || die "bash: '$*' is completed by '$found' instead of '$wanted'"
}
in_bash 'schema' schem
in_bash 'debug' run app.so --log = d
in_bash 'error warning info debug trace' run app.so --log =
in_bash '--json' stats --store sqlite : a.db --j
in_bash 'dead,pending' outbox list --state dead,p
in_bash '' run ''

# A terminal's line is full of escapes: a command in front of ours says what it was given.
mkdir "$work/bin"
cat >"$work/bin/pawl" <<END
#!/bin/sh
[ "\$1" = completion ] && exec "$build_dir/pawl" "\$@"
echo "given: \$*"
END
chmod +x "$work/bin/pawl"

if command -v zsh >/dev/null; then
    cat >"$work/try.zsh" <<END
zmodload zsh/zpty
zpty shell env PATH=$work/bin:/usr/bin:/bin zsh -f -i
zpty -w shell "autoload -U compinit; compinit -u -D; source $work/zsh; echo REA''DY"
until [[ \$text == *READY* ]]; do zpty -r shell text || exit 1; done
zpty -w -n shell \$'pawl outbox lis\t--stat\tdead,pe\t\n'
until [[ \$text == *given:* ]]; do zpty -r shell text || exit 1; done
print -r -- "\$text"
END
    timeout 60 zsh -f "$work/try.zsh" >"$work/out" 2>&1
    grep -q 'given: outbox list --state dead,pending' "$work/out" || die "zsh completes otherwise"
else
    echo "zsh is not installed: its script was not tried"
fi

if command -v fish >/dev/null; then
    in_fish() # WANTED LINE
    {
        found=$(HOME=$work fish --no-config -c "source $work/fish; complete -C '$2'" | cut -f1 | tr '\n' ' ')
        [ "${found% }" = "$1" ] || die "fish: '$2' is completed by '$found' instead of '$1'"
    }
    in_fish 'list' 'pawl outbox l'
    in_fish '--state --store' 'pawl outbox list --st'
    in_fish '--log=debug' 'pawl run --log=d'
    mkdir "$work/folder"
    in_fish "$work/folder/" "pawl run app.so --config $work/fol"
else
    echo "fish is not installed: its script was not tried"
fi
