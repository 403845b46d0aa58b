#!/usr/bin/env bash
# transfer_versions_soak.sh - the program of an earlier schema version and this one run side by side on
# one store, through the schema step, killed on the way: on SQLite, and on PostgreSQL where there is a server.
#
#     old supervisor, old runners, killed -> pawl schema apply -> the old ones go on
#         -> the old supervisor is killed -> new supervisor and runners beside old ones, all killed -> verified
#
#   PAWL_OLD_REVISION=R   the earlier program is built from this commit [the newest one with a
#                         lower schema version], into the build folder
#   PAWL_TEST_TRANSFERS=N as many transfers on each store [20000]
#
# A clone without that history skips.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/versions.sh"

# ---- The earlier program ------------------------------------------------------------

# version_at REVISION: of the tables; nothing where it cannot be told.
version_at()
{
    git -C "$source_dir" grep -h 'define PAWL__SQL_SCHEMA_VERSION' "$1" -- src 2>/dev/null |
        grep -oE '[0-9]+$' | head -n 1
}

find_revision()
{
    local commit found
    this_version=$(grep -hE 'define PAWL__SQL_SCHEMA_VERSION' "$source_dir/src/store/sql/tables.h" | grep -oE '[0-9]+$')
    revision=${PAWL_OLD_REVISION:-}
    git -C "$source_dir" rev-parse --quiet --verify HEAD >/dev/null 2>&1 ||
        skip "no git history to take an earlier program from"
    if [ -z "$revision" ]; then
        while read -r commit; do
            found=$(version_at "$commit^")
            [ -n "$found" ] && [ "$found" -lt "$this_version" ] && revision=$commit^ && break
        done < <(git -C "$source_dir" log --format=%H -G'define PAWL__SQL_SCHEMA_VERSION' -- src)
    fi
    [ -n "$revision" ] || skip "the history has no commit with tables below version $this_version"
    revision=$(git -C "$source_dir" rev-parse --quiet --verify "$revision^{commit}") ||
        die "no commit '$PAWL_OLD_REVISION'"
    old_version=$(version_at "$revision")
    [ "$old_version" -lt "$this_version" ] ||
        die "$revision has tables of version $old_version, not below $this_version"
}

# Once for each commit: what was built stays in the build folder.
build_old()
{
    old_dir=$build_dir/versions/$revision/build
    echo "the earlier program: $(git -C "$source_dir" log -1 --format='%h, %cs' "$revision"), tables of version $old_version"
    [ ! -e "$old_dir/is_built" ] || return 0
    mkdir -p "$old_dir"
    git -C "$source_dir" archive "$revision" | tar -x -C "$old_dir/.." || die "no sources of $revision"
    {
        cmake -S "$old_dir/.." -B "$old_dir" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
            -DPAWL_TESTS=OFF -DPAWL_WERROR=OFF -DCMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER:-}" &&
            cmake --build "$old_dir"
    } >"$work/out" 2>&1 || die "the earlier program cannot be built"
    touch "$old_dir/is_built"
}

old()
{
    PAWL_DRIVER_PATH=$old_dir exec "$old_dir/transfer" "$@"
}

# Programs open tables that are a version ahead since version 3.
starts_again()
{
    [ "$old_version" -ge 3 ] && [ $((old_version + 1)) = "$this_version" ]
}

# was_refused FILE: a program that does not start again connected again, after a deadlock with the step.
was_refused()
{
    ! starts_again && grep -q "a newer pawl made it" "$1"
}

# ---- Runners of the test's own ------------------------------------------------------

declare -A runners=() # process by place

# start_old PLACE: and waits until it has opened the store.
start_old()
{
    old --run "$run" --store "$store" 2>>"$work/runners" </dev/null &
    runners[$1]=$!
    started+=($!)
    poll 20 is_open $! || die "an old runner does not start: $(cat "$work/runners")"
}

is_open() # PROCESS
{
    [ "$(ask "select count(*) from \"@workers\" where \"Pid\" = $1")" != 0 ]
}

# kill_old PLACE: and waits, so that the place is free.
kill_old()
{
    kill -KILL "${runners[$1]}" 2>/dev/null || was_refused "$work/runners" || die "the old program ended by itself: $(cat "$work/runners")"
    wait "${runners[$1]}" 2>/dev/null
    unset "runners[$1]"
    [ "$(settled)" -lt "$transfers" ] || die "the run was over before runner $1 was killed"
}

# Messages that those at work have handled.
handled_by_old()
{
    local list
    list=$(IFS=,; echo "${runners[*]}")
    ask "select coalesce(sum(\"Messages\"), 0) from \"@workers\" where \"Pid\" in (${list:-0})"
}

old_handle_more_than()
{
    [ "$(handled_by_old)" -gt "$1" ]
}

# old_went_on COUNT: so many are settled, by old programs alone; or the supervisor was refused.
old_went_on()
{
    are_settled "$1" || was_refused "$work/err"
}

# ---- The run ------------------------------------------------------------------------

transfers=${PAWL_TEST_TRANSFERS:-20000}

# A new program that comes before the step names both versions, and does nothing. On SQLite it
# would take the step.
refused_before_the_step()
{
    local url=$store
    [[ $store != sqlite:* ]] || url="$store?create=no"
    transfer --run "$run" --store "$url" 2>"$work/refused" </dev/null
    [ $? = 4 ] || die "a new program on old tables: $(cat "$work/refused")"
    grep -q "version $old_version, this program needs version $this_version; run: pawl schema apply" "$work/refused" ||
        die "no advice: $(cat "$work/refused")"
}

side_by_side()
{
    local seed=${PAWL_TEST_SEED:-$((RANDOM * 32768 + RANDOM + 1))} before place mine
    local -a crash=()
    echo "PAWL_TEST_SEED=$seed: $store"
    : >"$work/runners"
    ! starts_again || crash=(--crash 20)
    begin_run old --seed "$seed" --transfers "$transfers" "${crash[@]}" --runners 2
    for place in 1 2 3; do start_old $place; done
    for place in 1 2 3; do
        await_settled $((place * transfers / 25))
        kill_old $place
        start_old $place
    done
    await_settled $((transfers / 7))
    [ "$(version)" = "$old_version" ] || die "the tables have version $(version) before the step"
    refused_before_the_step

    pawl schema apply --store "$store" --prefix "transfer_${run}_" || die "no schema step"
    [ "$(version)" = "$this_version" ] || die "the tables have version $(version) after the step"
    before=$(settled)
    echo "the step at $before transfers"
    if starts_again; then
        kill_old 1
        start_old 1
    fi
    poll 60 old_went_on $((before + transfers / 10)) || die "$(settled) transfers are settled"
    mine=$(handled_by_old)
    break_off
    was_refused "$work/err" || poll 20 old_handle_more_than "$mine" || die "old runners do not go on"

    before=$(settled)
    echo "old and new from $before transfers on"
    resume_run --seed "$seed" --transfers "$transfers" --crash 20 --runners 3
    mine=$(handled_by_old)
    for place in 1 2 3; do
        await_settled $((before + place * (transfers - before) / 8))
        # On a file one process at a time has an endpoint's messages.
        [[ $place != 1 && $store == sqlite:* ]] || was_refused "$work/runners" ||
            old_handle_more_than "$mine" || die "only new programs handle messages"
        echo "old runners have handled $(handled_by_old) messages at $(settled) transfers"
        kill_old $place
        ! starts_again || start_old $place
        mine=$(handled_by_old)
    done
    verified "$pid" 20
    for place in 1 2 3; do
        ! starts_again || { kill -TERM "${runners[$place]}" && wait "${runners[$place]}"; } ||
            die "an old runner ended with exit code $?"
    done
    pawl schema verify --store "$store" --prefix "transfer_${run}_" || die "tables are not as they should be"
}

find_revision
build_old
need_sqlite
build_sql
store=sqlite:$work/transfer.db
side_by_side

own_schema transfer_versions
side_by_side
