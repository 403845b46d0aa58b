#!/usr/bin/env bash
# command_rights.sh - the rights of owner, worker, producer and observer on each server: each does its work
# with them, and nothing else.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
. "$source_dir/tests/support/mysql.sh"

export PAWL_DRIVER_PATH=$build_dir
app=(--app "$build_dir/orders.so")
order='{"order_id":"b-9","warehouse":"north","total_cents":5}'

echo "== refused"
expect 2 "go together" pawl schema print --dialect postgres --rights worker
expect 2 "go together" pawl schema print --dialect postgres --to shop
expect 2 "did you mean worker" pawl schema print --dialect postgres --rights workr --to shop
expect 2 "leave --drop" pawl schema print --dialect postgres --rights worker --to shop --drop
expect 2 "to" pawl schema print --dialect postgres --rights worker --to 'a"b'
expect 2 "rights are granted on mariadb, mysql and postgres" \
    pawl schema print --dialect sqlite --rights worker --to shop
expect 0 '^grant select, insert, update, delete on "s"."pawl_inbox" to "shop";$' \
    pawl schema print --dialect postgres --rights worker --to shop --schema s
expect 0 "^grant select, insert, update, delete on .pawl_inbox. to 'shop'@'10.%';$" \
    pawl schema print --dialect mysql --rights worker --to shop@10.%

# roles DIALECT: run_sql runs standard input as an administrator, url_of says the URL of a role.
roles()
{
    local role
    echo "== $1"
    pawl schema print --dialect "$1" --rights owner --to "$(name_of owner)" | run_sql || die "owner: no rights"
    expect 0 '' pawl schema apply --store "$(url_of owner)" "${app[@]}"
    expect 0 '' pawl schema verify --store "$(url_of owner)" "${app[@]}"
    for role in worker producer observer; do
        pawl schema print --dialect "$1" --rights $role --to "$(name_of $role)" "${app[@]}" | run_sql ||
            die "$role: no rights"
    done
    expect 0 '^OK    rights ' pawl doctor --store "$(url_of worker)"
    start worker "$build_dir/orders.so" --store "$(url_of worker)"
    expect 0 '' pawl send --to orders --type place_order --body "$order" --store "$(url_of producer)"
    seq 20 | sed 's/.*/{"order_id":"o-&","warehouse":"north","total_cents":5}/' >"$work/orders"
    expect 0 '' pawl send --to orders --type place_order --lines --body-file "$work/orders" \
        --store "$(url_of producer)"
    began() { [ "$(pawl saga list "${app[@]}" --json --store "$(url_of observer)" 2>/dev/null | wc -l)" = 21 ]; }
    poll 20 began || die "no sagas"
    for role in stats "worker list" "outbox list" "dead list" "events list"; do
        # shellcheck disable=SC2086
        expect 0 '' pawl $role --store "$(url_of observer)"
    done
    expect 1 'findings' pawl doctor --store "$(url_of observer)"
    grep -qE '^FAIL  rights ' "$work/out" || die "an observer's rights are a worker's"
    expect 3 "denied" pawl send --to orders --type place_order --body "$order" --store "$(url_of observer)"
    expect 3 "denied|must be owner" pawl schema drop --yes --store "$(url_of worker)"
    expect 3 "denied" pawl dead list --store "$(url_of producer)"
    expect 3 "denied" pawl outbox list --store "$(url_of producer)"
    stop "$pid" TERM 0
    expect 0 '' pawl schema drop --yes --store "$(url_of owner)" "${app[@]}"
}

if [ -n "${PAWL_TEST_POSTGRES:-}" ]; then
    own_database rights_test
    name_of() { echo "${database}_$1"; }
    url_of() { sed -E "s|//[^@]*@|//$(name_of "$1")@|" <<<"$url"; }
    run_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$url" >"$work/psql" 2>&1; }
    drop_roles()
    {
        local role
        psql -XAtq "$PAWL_TEST_POSTGRES" -c "drop database if exists $database with (force)" >/dev/null 2>&1
        for role in owner worker producer observer; do
            psql -XAtq "$PAWL_TEST_POSTGRES" -c "drop role if exists $(name_of $role)" >/dev/null 2>&1
        done
    }
    trap 'drop_roles; finish' EXIT
    for role in owner worker producer observer; do
        psql -XAtq "$url" -c "create role $(name_of $role) login" || die "no role"
    done
    roles postgres
    echo "== a warning that needs a right which is missing is left out"
    expect 0 '' pawl schema apply --store "$(url_of owner)"
    pawl schema print --dialect postgres --rights worker --to "$(name_of worker)" | run_sql || die "no rights"
    expect 0 '' pawl send --to left --type t --body '{}' --store "$(url_of worker)"
    expect 0 '' pawl queue purge left --yes --store "$(url_of worker)"
    echo "revoke select on pawl_subscriptions from $(name_of worker)" | run_sql || die "the right stays"
    expect 0 '^retried 1 dead letter$' pawl dead retry --all --yes --store "$(url_of worker)"
    ! grep -v 'if it is interrupted' "$work/err" || die "it warns: $(cat "$work/err")"
fi

for server in mariadb mysql; do
    variable=PAWL_TEST_${server^^}
    [ -n "${!variable:-}" ] || continue
    mysql_server $server
    own_mysql rights
    name_of() { echo "${1:0:4}_${database: -20}"; }
    url_of() { sed -E "s|//[^@]*@([^/]*)/.*|//$(name_of "$1")@\1/$database|" <<<"${!variable}"; }
    run_sql() { "${mysql_client[@]}" -B "$database" >"$work/mysql" 2>&1; }
    for role in owner worker producer observer; do
        sql "create user '$(name_of $role)'@'%'" || die "no user"
    done
    roles $server
    for role in owner worker producer observer; do
        sql "drop user '$(name_of $role)'@'%'"
    done
done

[ -n "${PAWL_TEST_POSTGRES:-}${PAWL_TEST_MARIADB:-}${PAWL_TEST_MYSQL:-}" ] || need_server postgres
echo "ok"
