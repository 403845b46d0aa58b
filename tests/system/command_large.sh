#!/usr/bin/env bash
# command_large.sh - `stats`, `doctor`, `why` and `worker show` on SQLite, beside queues and dead letters whose first 180 rows have
# 1 MB each: they read as many rows as of small ones, with one page of them in memory.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"

need_sqlite
build_app app_idle.c idle.so
export PAWL_STORE=sqlite:$work/large.db PAWL_DRIVER_PATH=$build_dir
expect 0 '' pawl schema apply --app "$work/idle.so"
start idle "$work/idle.so" --workers 1
has_worker() { [ -n "$(live)" ]; }
live() { pawl worker list --json | sed -nE '1s/.*"id":"([^"]*)".*/\1/p'; }
poll 20 has_worker || die "no worker is alive"
python3 - "$work/large.db" "$build_dir/pawl" "$work/idle.so" "$(live)" <<'END' || die "large rows fill the memory, or end the look"
import os, sqlite3, subprocess, sys
worker = sys.argv[4]
numbers = "with recursive t (n) as (select 1 union all select n + 1 from t where n < 600) insert into "
body = """case when n <= 180 then '{"n":"' || hex(zeroblob(500000)) || '"}' else '{"trip":7}' end from t"""
queue = numbers + """pawl_queue (Queue, Due, Placed, Attempts, Deaths, WaitingSince, MessageId, Type, CorrelationId,
    CausationId, Error, History, Headers, Body) select """
stamp = '[{"attempt":1,"at":"2026-11-22T08:00:00Z","code":"ECRASHED","error":"x","worker":"%s","epoch":1,"pid":7}]' % worker
with sqlite3.connect(sys.argv[1], timeout=60) as store:
    # Retried in years; the last one should have been handled first, and the 150th waits for another program.
    store.execute(queue + """'line', 9000000000000000 + n, 1000 - n, 1, 0, 0, 'm-' || n, 'charge', '', '',
        case n when 150 then 'EVERSION: charge of version 2' else 'x' end, '', '{}', """ + body)
    # Due; the last one runs alone.
    store.execute(queue + """'head', n, n, 0, case n when 600 then 2 else 0 end, 0, 'h-' || n, 'charge', '', '', '',
        case n when 600 then ? else '' end, '{}', """ + body, (stamp,))
    store.execute(numbers + """pawl_dead (Endpoint, Queue, MessageId, Type, CorrelationId, CausationId, Code, Attempts, Deaths, At,
        Error, History, Headers, Body) select 'trips', 'trips', 'l-' || n, case n when 600 then 'begin' else 'charge' end, '', '',
        'X', 1, 0, n, 'x', '[]', '{}', """ + body)
store.close()
def run(wanted, *words):
    run_one = subprocess.Popen([sys.argv[2], *words], stdout=subprocess.PIPE)
    said = run_one.stdout.read().decode()
    most = os.wait4(run_one.pid, 0)[2].ru_maxrss // 1024
    missing = [text for text in wanted if text not in said]
    print(words, most, "MB", "without %s: %s" % (missing, said) if missing else "")
    return missing or most > 130
wrong = [run(["line "], "stats"),
         run(["queue line: 600 messages failed and wait to be tried again, one of them is m-200 (charge)",
              "queue line: at least 1 message waits for a program that reads their version, which no worker of it does: "
              "the oldest is m-150 (charge)"], "doctor"),
         run(['"isolated":[{"message_id":"h-600"'], "worker", "show", worker, "--json"),
         run(['message l-600 (begin)'], "why", "Trip/7", "--app", sys.argv[3], "--json")]
sys.exit(any(wrong))
END
stop "$pid" TERM 0
