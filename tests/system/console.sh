#!/usr/bin/env bash
# console.sh - the API of `pawl console` on SQLite: what it shows, what it changes and in whose name, and what it refuses.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/console.sh"

command -v curl >/dev/null || skip "curl is not installed"
export PAWL_STORE=sqlite:$work/console.db
me=$(id -un)

# status WANTED PATH CURL-OPTION ...: the answer is in $work/out.
status()
{
    local wanted=$1 path=$2 found
    shift 2
    found=$(curl -s -g --max-time 60 -o "$work/out" -D "$work/headers" -w '%{http_code}' "$@" "$at$path") || found=$found:$?
    [ "$found" = "$wanted" ] || die "status $found instead of $wanted: $path $*"
}

# answer REGEX: what was answered last has this.
answer()
{
    grep -qE -- "$1" "$work/out" || die "no answer like '$1'"
}

own=(-H 'X-Pawl-Console: 1' -H 'Content-Type: application/json')

echo "== what it refuses to do"
expect 3 "console.db: No such file or directory" pawl console --listen 127.0.0.1:0
[ ! -e "$work/console.db" ] || die "it made a database"
expect 0 '' pawl schema apply
expect 2 "expected ADDRESS:PORT" pawl console --listen 8090
expect 2 "port up to 65535" pawl console --listen 127.0.0.1:65536
expect 2 "'localhost' is not a numeric address|others than this machine" pawl console --listen localhost:0
expect 2 "0.0.0.0: others than this machine could read the store: give --users FILE" pawl console --listen 0.0.0.0:0
expect 2 "everybody who reaches the port could name himself" pawl console --listen 0.0.0.0:0 --user-header X-User --host x
expect 2 "not both" pawl console --users x --user-header y
expect 2 "--user-header needs --host NAME" pawl console --user-header X-User
printf 'ann:plain\n' >"$work/users"
chmod 600 "$work/users"
expect 2 'line 1: the hash does not begin with \$' pawl console --listen 127.0.0.1:0 --users "$work/users"
printf '# none\n' >"$work/users"
expect 2 "it has no user" pawl console --listen 127.0.0.1:0 --users "$work/users"
chmod 644 "$work/users"
expect 2 "may read or write it: chmod o=" pawl console --listen 127.0.0.1:0 --users "$work/users"

echo "== it shows what the command prints"
fill letters 30
console
grep -q ', read only; Ctrl-C ends it' "$work/console.err" || die "it does not say that it only reads"
status 200 /
answer '<script src="/console.js" type="module">'
grep -qi "^Content-Security-Policy: default-src 'none'; script-src 'self'" "$work/headers" || die "no content security policy"
! grep -qi '^WWW-Authenticate' "$work/headers" || die "it asks for a password that nobody has"
for path in /console.js /console.css /icon.svg; do status 200 "$path"; done
status 200 /api/about
answer '"may_write":false,"user":null\}'
status 200 '/api/dead/list?limit=7'
python3 - "$work/out" <<'EOF' || die "not seven dead letters"
import json, sys
answer = json.load(open(sys.argv[1]))
sys.exit(not (len(answer["items"]) == 7 and answer["items"][0]["code"] and isinstance(answer["notes"], list)))
EOF
pawl dead list --json --limit 7 >"$work/listed"
python3 - "$work/out" "$work/listed" <<'EOF' || die "the answer differs from what the command prints"
import json, sys
answer = json.load(open(sys.argv[1]))["items"]
sys.exit(answer != [json.loads(line) for line in open(sys.argv[2])])
EOF
id=$(sed -nE '1s/^\{"message_id":"([^"]*)".*/\1/p' "$work/listed")
status 200 "/api/dead/show?arg=$id"
! grep -q '"body":' "$work/out" || die "a body that nobody asked for"
status 200 "/api/dead/show?arg=$id&reveal=true"
answer '"body":'
status 200 '/api/dead/retry?all=true&dry-run=true'
answer '"matching":30'
status 200 "/api/why?arg=$id"
status 200 '/api/find?arg=type%3Dcharge&limit=3'
answer '"found":3'
for path in stats doctor queue/list worker/list outbox/list timeout/list schedule/list projection/list aggregator/list events/list; do
    status 200 "/api/$path"
    answer '^\{"items":\['
done

echo "== the page of the API has each path with its options, and its examples run"
status 200 /api/paths
python3 - "$work/out" "$source_dir/docs/console.md" <<'EOF' || die "docs/console.md has other paths or options than the console"
import json, re, sys
answered = {f'{item["method"]} {item["path"]}': item["options"] for item in json.load(open(sys.argv[1]))["items"]}
rows = re.findall(r"^\| (GET|POST) `([a-z/-]+)` \|[^|]*\| ([^|]*)\|$", open(sys.argv[2]).read(), re.M)
said = {f"{method} {path}": re.findall(r"`([a-z-]+)`", options) for method, path, options in rows}
for path in sorted(set(answered) | set(said)):
    if answered.get(path) != said.get(path):
        print(path, "answers", answered.get(path), "and the page says", said.get(path), file=sys.stderr)
sys.exit(answered != said or len(said) < 40)
EOF
sed -n '/^## The API/,/^## Safety/p' "$source_dir/docs/console.md" | sed -n '/^    \$ curl/,/[^\\]$/p' | sed -E "s/^    (\\$ )?//; s,http://127.0.0.1:8090,$at,g" >"$work/examples"
[ "$(grep -c '^curl' "$work/examples")" = 4 ] || die "other examples: $(cat "$work/examples")"
sed '/^curl.*X-Pawl-Console/,$d' "$work/examples" | while IFS= read -r line; do
    bash -c "$line" >"$work/out" 2>&1 && grep -q '^{"items":\[' "$work/out" || die "the example fails: $line"
done || exit 1

echo "== what it does not answer"
status 404 /api/dead/show?arg=nobody
answer '\{"error":"[^"]*nobody'
status 404 /api/schema/drop
status 404 /api/run
status 404 /api/bench
status 404 '/../../etc/passwd' --path-as-is
status 404 '/%2e%2e/%2e%2e/etc/passwd' --path-as-is
status 404 '/api/../console.js/..' --path-as-is
status 400 '/api/dead/list?store=sqlite:/tmp/other'
answer 'no such option here: store'
status 400 '/api/dead/list?app=/tmp/evil.so'
status 400 '/api/dead/list?limit=501'
status 400 '/api/dead/list?limit=-1'
status 400 '/api/dead/list?code='
status 400 '/api/dead/list?arg=x'
status 400 '/api/dead/list?%ff=1'
python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' "$work/out" || die "an answer that is no JSON"
status 413 "/api/find?$(printf 'arg=type%%3Dnone&%.0s' {1..65})"
status 404 '/api/dead/show?arg=--all'
answer 'there is no dead letter --all'
status 405 /api/dead/list -X POST
status 405 /api/dead/retry
status 405 / -X DELETE
status 403 /api/dead/retry "${own[@]}" -d '{"arg":"m-0"}'
answer 'this console only reads: --write'
status 400 /api/about -H 'Host:'
for twice in 'Host: localhost' 'Host: evil.example' 'Content-Length: 0' 'Transfer-Encoding: chunked'; do
    printf 'POST /api/queue/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n%s\r\n\r\n0\r\n\r\nGET /api/about HTTP/1.1\r\nHost: localhost\r\n\r\n' "$twice" >"$work/twice"
    python3 - "$at" "$work/twice" >"$work/out" <<'EOF' || die "no end of the connection"
import socket, sys
host, port = sys.argv[1][7:].split(":")
with socket.create_connection((host, int(port)), timeout=60) as one:
    one.sendall(open(sys.argv[2], "rb").read())
    while data := one.recv(4096):
        print(data.decode())
EOF
    ! grep -q . "$work/out" || die "a request with two readings is answered: $twice"
done
status 421 /api/about -H 'Host: evil.example'
status 421 / -H 'Host: localhost.evil.example:80'
status 200 /api/about -H "Host: localhost:1"
status 403 /api/stats -H 'Sec-Fetch-Site: cross-site'
status 200 /api/about -H 'Sec-Fetch-Site: same-origin'
status 200 /api/about -H 'Sec-Fetch-Site: none'
head -c 40000000 /dev/zero >"$work/large"
found=$(curl -s -o /dev/null -w '%{http_code}' -H "X-Large: $(head -c 100000 "$work/large" | tr '\0' a)" "$at/api/about")
[ "$found" = 431 ] || [ "$found" = 413 ] || [ "$found" = 000 ] || die "headers of 100,000 bytes are answered with $found"
status 200 /api/about

echo "== figures for all browsers"
curl -sN --max-time 6 "$at/api/live" >"$work/live1" &
curl -sN --max-time 6 "$at/api/live" >"$work/live2" &
wait %2 %3 2>/dev/null || true
for file in live1 live2; do
    grep -q '^event: stats' "$work/$file" && grep -q '^data: \[{"at":"' "$work/$file" || die "no figures: $(head -c 300 "$work/$file")"
    grep -q '^event: doctor' "$work/$file" || die "no findings"
done
python3 - "$at" <<'EOF' || die "any number of pages is served"
import http.client, sys
def live():
    one = http.client.HTTPConnection(sys.argv[1][7:], timeout=30)
    one.request("GET", "/api/live")
    return one, one.getresponse().status
streams = []
while len(streams) < 40 and not (streams and streams[-1][1] == 503):
    streams.append(live())
for one, _ in streams:
    one.close()
served = sum(status == 200 for _, status in streams)
sys.exit(not 28 <= served <= 32 or streams[-1][1] != 503)  # those of before may not have ended
EOF
serves_pages()
{
    [ "$(curl -s -o /dev/null -w '%{http_code}' --max-time 1 "$at/api/live")" = 200 ]
}
poll 10 serves_pages || die "pages that were closed count"
expect 0 '' pawl send --to forgotten --type t --body '{}'
python3 - "$at" <<'EOF' || die "whoever looks first for a while sees old figures, or old findings"
import datetime, http.client, json, sys, time
end = time.monotonic() + 60
def first(name, lines):
    others = 0
    while (line := lines.readline().decode()) and line != f"event: {name}\n":
        others += line.startswith("event: ")
        if time.monotonic() > end:
            sys.exit(f"no {name}")
    return json.loads(lines.readline()[6:]), others
for _ in range(20):  # until the console has found that the pages of before are closed
    begun = datetime.datetime.now(datetime.timezone.utc).isoformat()[:26]
    one = http.client.HTTPConnection(sys.argv[1][7:], timeout=30)
    one.request("GET", "/api/live")
    lines = one.getresponse()
    if first("stats", lines)[0][0]["at"] > begun:
        findings, others = first("doctor", lines)
        sys.exit(others > 1 or not any("forgotten" in found["text"] for found in findings))
    one.close()
    time.sleep(1)
sys.exit("old figures")
EOF
expect 0 '' pawl queue purge forgotten --discard --yes
stop "$pid" TERM 0

echo "== 10,000 slow connections"
console
python3 - "$at" "$pid" <<'EOF' || die "slow connections stop others, or fill the memory"
import http.client, resource, socket, sys, time
host, port = sys.argv[1][7:].split(":")
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
slow, begun = [], time.monotonic()
for number in range(10000):
    one = socket.create_connection((host, int(port)))
    try:
        one.sendall(b"GET /api/about HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    except OSError:
        continue  # refused already
    slow = (slow + [one])[-900:]
    if number % 500 == 0:  # somebody else is answered meanwhile
        other = http.client.HTTPConnection(host, int(port), timeout=30, source_address=("127.0.0.2", 0))
        other.request("GET", "/api/about")
        if other.getresponse().status != 200:
            sys.exit(f"after {number} connections: another address is refused")
        other.close()
memory = int(open(f"/proc/{sys.argv[2]}/statm").read().split()[1]) * 4096
print(f"{time.monotonic() - begun:.1f} s, {memory / 1e6:.0f} MB")
sys.exit(f"{memory} bytes" if memory > 150e6 else 0)
EOF
stop "$pid" TERM 0

echo "== with an application"
expect 0 '' pawl schema apply --app "$build_dir/orders.so"
console --app "$build_dir/orders.so" --saga-prefix orders_ --write
for path in stats doctor queue/list worker/list outbox/list timeout/list saga/list schedule/list projection/list aggregator/list \
    events/list 'events/list?operators=true' dead/list 'dead/list?saga=OrderSaga/01a213f8-2546-7001-b8d7-efe6e10c5328' 'outbox/list?saga=OrderSaga/01a213f8-2546-7001-b8d7-efe6e10c5328' \
    'timeout/list?saga=OrderSaga/01a213f8-2546-7001-b8d7-efe6e10c5328' 'dead/retry?all=true&dry-run=true' "why?arg=$id" topology/print "dead/show?arg=$id"; do
    status 200 "/api/$path"
    answer '^\{"items":\['
done
status 400 /api/dead/edit "${own[@]}" -d "{\"arg\":\"$id\",\"body\":\"no json\"}"
status 200 /api/doctor
sagas=$(grep -oE '\{"check":"sagas"[^}]*\}' "$work/out") || die "no findings about sagas"
! grep -q 'not checked' <<<"$sagas" || die "sagas are not checked: $sagas"
curl -sN --max-time 6 "$at/api/live" >"$work/live1" || true
grep -qF -- "$sagas" "$work/live1" || die "the figures for all browsers have other findings than the API"
stop "$pid" TERM 0

echo "== it changes what is there, in the name of its user"
console --write
sed -n '/^curl.*X-Pawl-Console/,$p' "$work/examples" | sed -E "s,http://[0-9.:]+,$at,; s/\"m-1\",\"m-2\"/\"m-28\",\"m-29\"/" >"$work/example"
bash "$work/example" >"$work/out" 2>&1 && answer '"retried":2' || die "the example fails: $(cat "$work/example")"
status 403 /api/dead/retry -d "{\"arg\":\"$id\"}" -H 'Content-Type: application/json'
status 403 /api/dead/retry -d "{\"arg\":\"$id\"}" -H 'X-Pawl-Console: 1'
status 403 /api/dead/retry "${own[@]}" -d "{\"arg\":\"$id\"}" -H 'Origin: http://evil.example'
status 403 /api/dead/retry "${own[@]}" -d "{\"arg\":\"$id\"}" -H 'Sec-Fetch-Site: cross-site'
status 400 /api/dead/retry "${own[@]}" -d 'no json'
status 400 /api/dead/retry "${own[@]}" -d "{\"arg\":\"$id\",\"body-file\":\"/etc/passwd\"}"
status 400 /api/dead/retry "${own[@]}" -d "{\"arg\":{\"a\":1}}"
status 400 /api/dead/retry "${own[@]}" -d '{"arg":[["m-0"]]}'
answer 'an array in an array: arg'
status 404 /api/dead/retry "${own[@]}" -d '{"arg":18446744073709551615}'
answer 'no dead letter 18446744073709551615'
status 413 /api/dead/retry "${own[@]}" --data-binary "@$work/large"
printf '{"arg":"%s"}' "$(head -c 150000 "$work/large" | tr '\0' x)" >"$work/long"
status 400 /api/dead/retry "${own[@]}" --data-binary "@$work/long"
status 404 /api/dead/retry "${own[@]}" -d '{"arg":"nobody"}'
expect 0 '"matching":28' pawl dead retry --all --dry-run --json
for path in dead/discard dead/retry; do
    status 400 "/api/$path?code=NOSUCH" "${own[@]}" -d '{"all":true}'
    answer 'belongs in the body of the request: code'
    status 400 "/api/$path" "${own[@]}" -d '{"all":true,"code":[]}'
    answer 'an array without a value selects nothing: code'
    status 405 "/api/$path?all=true&dry-run=true" "${own[@]}" -d '{}'
done
for path in dead/discard dead/retry outbox/discard outbox/retry queue/purge timeout/cancel; do
    status 400 "/api/$path" "${own[@]}" -d '{"arg":[]}'
done
status 400 "/api/queue/purge?type=none" "${own[@]}" -d '{"arg":"billing"}'
status 400 /api/bulk/start "${own[@]}" -d '{"verb":"dead","action":"discard","all":true,"type":[]}'
status 400 /api/bulk/start "${own[@]}" -d '{"verb":"dead","action":"discard","rate":50}'
expect 0 '"matching":28' pawl dead retry --all --dry-run --json
status 200 /api/dead/retry "${own[@]}" -d "{\"arg\":[\"$id\"],\"reason\":\"mended\"}" -H "Origin: $at"
answer '"retried":1'
id=$(sed -nE '2s/^\{"message_id":"([^"]*)".*/\1/p' "$work/listed")
status 200 /api/dead/edit "${own[@]}" -d "{\"arg\":\"$id\",\"body\":\"{\\\"n\\\":7}\",\"reason\":\"seven\"}"
expect 0 '"body":"\{\\"n\\":7\}"' pawl queue peek billing --id "$id" --json --reveal
status 200 /api/dead/discard "${own[@]}" -d '{"all":true,"code":"NOSUCH"}'
answer '"discarded":0'
status 200 /api/dead/discard "${own[@]}" -d '{"all":true,"rate":1000,"reason":"no use"}'
answer '"discarded":26'
status 200 /api/bulk/start "${own[@]}" -d '{"verb":"queue","action":"move","arg":["billing","elsewhere"]}'
answer '"total":4\}'
poll 60 eval '[ "$(queue_ready elsewhere)" = 4 ]' || die "the messages of a queue are not moved: $(cat "$work/console.err")"
expect 0 '' pawl send --to billing --type note --id stays --body '{}'
status 200 /api/queue/pause "${own[@]}" -d '{"arg":"billing","reason":"stop"}'
expect 0 "\"state\":\"paused\".*\"paused_by\":\"$me\"" pawl queue show billing --json

echo "== a change that the store was too busy for is no success"
python3 -c 'import sqlite3, sys, time; held = sqlite3.connect(sys.argv[1]); held.execute("begin immediate"); print("held", flush=True); time.sleep(600)' \
    "$work/console.db" >"$work/held" &
holder=$!
started+=($holder)
poll 60 grep -q held "$work/held" || die "the store is not held"
status 503 /api/queue/resume "${own[@]}" -d '{"arg":"billing"}'
answer '^\{"error":"queue billing: .*another connection holds the write lock'
kill -KILL $holder
wait $holder 2>/dev/null
expect 0 '"state":"paused"' pawl queue show billing --json
stop "$pid" TERM 0

echo "== users"
hash=$(python3 -c 'import crypt; print(crypt.crypt("secret", crypt.mksalt(crypt.METHOD_SHA512, rounds=1000)))' 2>/dev/null) ||
    hash=$(openssl passwd -6 secret)
for name in $'a\e[1mnn' $'a\xffnn' $'a\xe2\x80\xaenn' $'a\xc2\x85nn' "$(printf 'x%.0s' {1..100})"; do
    printf '%s:%s\n' "$name" "$hash" >"$work/users"
    chmod 600 "$work/users"
    expect 2 "line 1: the name is too long, or has bytes that are not text" pawl console --listen 127.0.0.1:0 --users "$work/users"
done
printf 'ann:%s\nann:%s:write\n' "$hash" "$hash" >"$work/users"
expect 2 "line 2: the name is there twice" pawl console --listen 127.0.0.1:0 --users "$work/users"
long=$(printf 'x%.0s' {1..99})
printf '# who may\r\nann:%s:write\r\nbob:%s\r\n\r\n%s:%s:write' "$hash" "$hash" "$long" "$hash" >"$work/users"
chmod 600 "$work/users"
console --write --users "$work/users"
status 401 /
grep -qi '^WWW-Authenticate: Basic realm="pawl"' "$work/headers" || die "it does not ask for a password"
status 401 /api/stats
status 401 /api/stats -u ann:wrong
status 401 /api/stats -u carl:secret
status 401 /api/stats -u ann:
status 401 /api/live
status 200 /api/about -u bob:secret
answer '"may_write":false,"user":"bob"'
python3 - "$at" <<'EOF' || die "wrong passwords are tried side by side, or hold up others"
import base64, http.client, sys, threading, time
ended = []
def ask(user, password):
    one = http.client.HTTPConnection(sys.argv[1][7:], timeout=60)
    who = {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()} if user else {}
    one.request("GET", "/api/about", headers=who)
    ended.append((one.getresponse().status, time.monotonic()))
begun = time.monotonic()
wrong = [threading.Thread(target=ask, args=("ann", f"wrong-{i}")) for i in range(20)]
for one in wrong:
    one.start()
ask("ann", "secret")
ask(None, None)
is_held_up = len(ended) > 15
for one in wrong:
    one.join()
sys.exit(is_held_up or sorted(status for status, _ in ended) != [200] + 21 * [401] or max(at for _, at in ended) - begun < 5.9)
EOF
status 403 /api/queue/resume -u bob:secret "${own[@]}" -d '{"arg":"billing"}'
answer 'may only read'
status 200 /api/queue/resume -u ann:secret "${own[@]}" -d '{"arg":"billing","reason":"go"}' -H 'Host: console.example' -H 'Origin: https://console.example'
expect 0 "\"action\":\"resumed\",\"at\":\"[^\"]*\",\"by\":\"$me \\(ann\\)\"" pawl queue show billing --json
expect 0 '' pawl send --to scrap --type t --body '{}'
status 400 /api/queue/purge -u ann:secret "${own[@]}" -d '{"arg":"scrap","limit":5}'
status 200 /api/queue/purge -u ann:secret "${own[@]}" -d '{"arg":"scrap","reason":"old"}'
expect 0 '' pawl queue peek scrap --json
status 200 /api/queue/pause -u "$long:secret" "${own[@]}" -d '{"arg":"billing"}'
expect 0 "\"paused_by\":\"$me \($long\)\"" pawl queue show billing --json
status 200 /api/queue/resume -u "$long:secret" "${own[@]}" -d '{"arg":"billing"}'
python3 - "$at" "$pid" <<'EOF' || die "bodies of those who may not write fill the memory"
import base64, socket, sys
host, port = sys.argv[1][7:].split(":")
def memory():
    return int(open(f"/proc/{sys.argv[2]}/statm").read().split()[1]) * 4096
before, open_ones = memory(), []
for i, (asked, user) in enumerate([("POST /api/dead/edit", ""), ("GET /api/stats", "bob:secret")] * 2):
    one = socket.create_connection((host, int(port)))
    who = f"Authorization: Basic {base64.b64encode(user.encode()).decode()}\r\n" if user else ""
    one.sendall(f"{asked} HTTP/1.1\r\nHost: x\r\n{who}Content-Length: 30000000\r\n\r\n".encode() + b"x" * 25000000)
    open_ones.append(one)
sys.exit(memory() - before > 40000000)
EOF
for i in {1..40}; do curl -s --max-time 60 -o /dev/null -u "ann:wrong-$i" "$at/api/about" & done
sleep 1
begun=$SECONDS
stop "$pid" TERM 0
[ $((SECONDS - begun)) -lt 8 ] || die "wrong passwords hold up the end: $((SECONDS - begun)) s"

echo "== a proxy names the user"
console --write --user-header X-Forwarded-User --host console.example
status 401 /api/about
status 401 /api/about -H $'X-Forwarded-User: car\e[1mla'
status 421 /api/about -H 'X-Forwarded-User: carla' -H "Host: evil.example:${at##*:}"
status 421 /api/about -H 'X-Forwarded-User: carla' -H "Host: evil.example"
status 421 /api/about -H 'X-Forwarded-User: carla' -H "Host: evil.example:9000"
status 200 /api/about -H 'X-Forwarded-User: carla' -H 'Host: Console.example'
status 200 /api/about -H 'X-Forwarded-User: carla' -H 'Host: console.example:443'
status 200 /api/queue/pause -H 'X-Forwarded-User: carla' "${own[@]}" -d '{"arg":"billing","reason":"stop"}'
expect 0 "\"paused_by\":\"$me \\(carla\\)\"" pawl queue show billing --json
stop "$pid" TERM 0

echo "== figures of many queues"
expect 0 '' pawl send --to queue --type many --id many --body '{}'
python3 - "$work/console.db" <<'EOF' || die "no queues"
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store:
    columns = [row[1] for row in store.execute("pragma table_info(pawl_queue)") if row[1] != "Seq"]
    own = {"Queue": "'queue-with-a-name-' || i", "MessageId": "'many-' || i"}
    store.execute("with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200) insert into pawl_queue "
                  f"({', '.join(columns)}) select {', '.join(own.get(name, name) for name in columns)} from n, "
                  "(select * from pawl_queue limit 1)")
EOF
console
curl -sN --max-time 8 "$at/api/live" >"$work/live1" || true
python3 - "$work/live1" <<'EOF' || die "the figures of many queues are not sent"
import json, sys
events = [event.split("\ndata: ") for event in open(sys.argv[1]).read().split("\n\n") if "\ndata: " in event]
figures = [json.loads(event[1]) for event in events[:1] if event[0].endswith("event: stats")]
sys.exit(not figures or len(figures[0][0]["queues"]) < 1200)
EOF

echo "== it ends at once, also while the store does not answer"
python3 - "$work/console.db" <<'EOF' &
import sqlite3, sys, time
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("begin exclusive")
time.sleep(120)
EOF
lock=$!
started+=("$lock")
sleep 1
for i in {1..12}; do curl -s --max-time 60 -o /dev/null "$at/api/dead/list" & done
sleep 1
begun=$SECONDS
stop "$pid" TERM 0
[ $((SECONDS - begun)) -lt 12 ] || die "it takes $((SECONDS - begun)) s to end"
kill "$lock"
