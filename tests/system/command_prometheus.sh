#!/usr/bin/env bash
# command_prometheus.sh - a Prometheus of the test's own scrapes `pawl run --http`: every query of the
# dashboard has data, every alert of docs/OPERATING.md is understood.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

say()
{
    echo "$*"
}
# shellcheck source=scripts/prometheus_root.sh
. "$source_dir/scripts/prometheus_root.sh"

need_sqlite
[ -e "$build_dir/libpawl-observe.so" ] || skip "the module observe is not built"
command -v python3 >/dev/null || skip "no python3 to ask Prometheus with"
if ! program=$(prometheus_program); then
    prometheus_can_be_had || { echo "skipped: apt has no prometheus"; exit 77; }
    skip "no prometheus; scripts/install.sh servers unpacks it"
fi

is_projected()
{
    pawl projection list --json 2>/dev/null | grep -q '"names"'
}

build_app app_pair.c pair.so
build_app app_projection.c projection.so
export PAWL_STORE=sqlite:$work/run.db
start pair "$work/pair.so" --http 0 --route finished=outbox:#delivered
poll 10 grep -q "/metrics on 127.0.0.1 port" "$work/pair.log" || die "no port in the log"
# Its projections are in the same store, so that the page of the first program has them.
start projection "$work/projection.so"
poll 20 is_projected || die "no projection"
target=$(sed -nE 's|.*/metrics on 127.0.0.1 port ([0-9]+)$|\1|p' "$work/pair.log")

cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 200ms, scrape_timeout: 200ms}
scrape_configs:
  - job_name: pair
    static_configs: [{targets: ["127.0.0.1:$target"]}]
END

# start_prometheus: on a port that was free a moment before; the next one when it is not any more.
is_ready()
{
    python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1] + "/-/ready")' \
        "http://127.0.0.1:$port" 2>/dev/null
}
start_prometheus()
{
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    "$program" --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
        --web.listen-address="127.0.0.1:$port" >"$work/prometheus.log" 2>&1 </dev/null &
    prometheus=$!
    started+=("$prometheus")
    poll 30 is_ready_or_gone && ! is_gone "$prometheus"
}
is_ready_or_gone()
{
    is_gone "$prometheus" || is_ready
}
start_prometheus || start_prometheus || { cp "$work/prometheus.log" "$work/err"; die "no Prometheus"; }

# is_scraped: the first page has arrived, so that the names of metrics are known.
is_scraped()
{
    python3 -c 'import json, sys, urllib.request
page = urllib.request.urlopen(sys.argv[1] + "/api/v1/query?query=pawl_store_up")
sys.exit(not json.load(page)["data"]["result"])' "http://127.0.0.1:$port" 2>/dev/null
}
poll 30 is_scraped || { cp "$work/prometheus.log" "$work/err"; die "nothing is scraped"; }

# After the first page, so that there are rates.
for n in 1 2 3; do
    expect 0 '^sent' pawl send --to left --type ping --body "{\"n\":$n}"
done
poll 20 has_ready delivered 3 || die "three pings did not make three messages in the queue delivered"

echo "== O23 the dashboard's queries have data, the page's alerts are understood"
run_dashboard()
{
    python3 "$source_dir/tests/support/dashboard.py" "http://127.0.0.1:$port" "$1" \
        "$source_dir/docs/OPERATING.md"
}
run_dashboard "$source_dir/dist/grafana/pawl.json" || die "the dashboard"

echo "== a query of a metric that is not there is found out"
sed 's/pawl_dead_letters/pawl_dead_leters/' "$source_dir/dist/grafana/pawl.json" >"$work/wrong.json"
run_dashboard "$work/wrong.json" && die "a dashboard with a wrong name passes"
sed 's/max by (queue, state)/max bx (queue, state)/' "$source_dir/dist/grafana/pawl.json" >"$work/wrong.json"
run_dashboard "$work/wrong.json" && die "a dashboard with a wrong query passes"
echo "Prometheus has all that the dashboard asks for"
