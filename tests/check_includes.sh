#!/usr/bin/env bash
# check_includes.sh [ROOT] - the order of the layers, read from the #include
# lines of ROOT/src.
#
#   base < record < workflow < engine < runtime < cli
#
# A layer sees itself and those before it; base sees of the public headers only
# its own two. A store sees src/base, src/store/core, src/store/sql and
# src/store/program, which sees base alone, a
# transport src/base, src/transport/core and, of src/store/core, the reader of URLs and the look for
# modules; both see the public headers. Only
# the runtime and the command know src/store/core, nobody a single driver; of src/store/sql the
# command knows store/sql/script.h, which needs no driver. What is
# in src/runtime/outbox is seen there alone, but for its outbox.h. The contract suite, src/conformance, sees
# public headers alone, so that it can say nothing about a store that an application
# could not; a case sees src/conformance/suite and no other case. The command carries it.
# The module src/observe sees public headers and base.
#
# pawl/store_driver.h, the table of a store's driver, and pawl/driver.h with it are for stores alone: everybody else
# calls a store by pawl/store_calls.h, whose functions check and empty before they ask the
# driver. Without that header a handle is an incomplete type, so that the compiler refuses
# `store->ops`.
#
# The check is first tried on a made-up tree, one violation at a time.
#
# SPDX-License-Identifier: Apache-2.0
set -u
root=${1:-$(dirname "$0")/..}

# Reads "file included" lines, both relative to src or beginning with pawl/.
check_rules()
{
    awk '
    function part(path,   words) {
        split(path, words, "/")
        if (words[1] == "store" || words[1] == "transport")
            return words[1] "/" words[2]
        return words[1]
    }
    function is_driver(name) { return name ~ /^(store|transport)\// }
    function is_allowed(from, to, included, file) {
        if (included ~ /^runtime\/outbox\// && included !~ /\/outbox.h$/)
            return file ~ /^runtime\/outbox\//
        if (included == "pawl/store_driver.h" || included == "pawl/driver.h")
            return from ~ /^store\//
        if (to == "pawl")
            return from != "base" || included == "pawl/base.h" || included == "pawl/limits.h"
        if (from == to && from == "conformance")
            return included ~ /^conformance\/suite\//
        if (from == to)
            return 1
        if (to == "conformance")
            return from == "cli"
        if (from == "observe")
            return to == "base"
        if (!(from in rank) && !is_driver(from))
            return 0
        if (is_driver(from)) {
            if (to == "base")
                return 1
            if (from ~ /^store\//)
                return from != "store/program" &&
                       (to == "store/core" || (from != "store/core" &&
                        (to == "store/sql" || (from != "store/sql" && to == "store/program"))))
            if (included == "store/core/url_read.h" || included == "store/core/module.h")
                return 1
            return to == "transport/core"
        }
        if (included == "store/sql/script.h")
            return from == "cli"
        if (is_driver(to))
            return to ~ /\/core$/ && rank[from] >= rank["runtime"]
        return (to in rank) && rank[to] < rank[from]
    }
    BEGIN {
        count = split("base record workflow engine runtime cli", names, " ")
        for (i = 1; i <= count; i++)
            rank[names[i]] = i
    }
    !is_allowed(part($1), part($2), $2, $1) { print "src/" $1 " must not include \"" $2 "\""; bad = 1 }
    END { exit bad }'
}

# Prints "file included" for each quoted include, and each <pawl/...>, of
# SRC/src; the included path as seen from src.
list_includes()
{
    grep -rnEo --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*("[^"]+"|<pawl/[^>]+>)' \
        "$1/src" | awk -v src="$1/src/" '
    {
        file = substr($0, length(src) + 1)
        sub(/:.*/, "", file)
        name = $0
        sub(/.*include[ \t]*["<]/, "", name)
        sub(/[">].*/, "", name)
        beside = file
        sub(/[^\/]*$/, name, beside)
        if (name !~ /^pawl\// && (getline line <(src beside)) >= 0) {
            close(src beside)
            name = beside
            while (sub(/[^\/]+\/\.\.\//, "", name))
                ;
        }
        print file, name
    }'
}

check_tree()
{
    list_includes "$1" | check_rules
}

# try WANTED FILE INCLUDED: a tree of that one include passes or does not.
try()
{
    local tree answer
    tree=$(mktemp -d)
    mkdir -p "$tree/src/$(dirname "$2")" "$tree/src/$(dirname "$3")"
    : >"$tree/src/$3"
    printf '#include <stdio.h>\n#include "%s"\n' "$3" >"$tree/src/$2"
    answer=refused
    if check_tree "$tree" >/dev/null; then
        answer=passed
    fi
    rm -rf "$tree"
    if [ "$answer" != "$1" ]; then
        echo "self-test: $2 including \"$3\" $answer, should be $1"
        exit 1
    fi
}

try passed record/json.c pawl/record.h
try passed record/json.c base/arena.h
try passed runtime/worker/worker.c engine/batch.h
try passed runtime/common/open.c store/core/open.h
try passed runtime/outbox/dispatch.c runtime/runtime.h
try passed runtime/outbox/dispatch.c runtime/outbox/dispatcher.h
try passed store/core/open.c pawl/store_driver.h
try passed engine/batch.c pawl/store_calls.h
try refused engine/batch.c pawl/store_driver.h
try refused runtime/worker/worker.c pawl/store_driver.h
try refused runtime/worker/worker.c pawl/driver.h
try refused cli/answers/stats.c pawl/store_driver.h
try refused conformance/store/saga.c pawl/store_driver.h
try refused transport/local/send.c pawl/store_driver.h
try refused runtime/worker/worker.c runtime/outbox/dispatcher.h
try passed store/sqlite/queue.c store/sql/dialect.h
try passed store/memory/write.c store/core/change.h
try passed conformance/store/saga.c pawl/store.h
try passed conformance/operation/saga.c conformance/suite/suite.h
try refused conformance/operation/saga.c conformance/store/saga.h
try refused conformance/suite/run.c conformance/store/saga.h
try passed cli/tools/conformance.c conformance/suite/run.h
try passed observe/http.c base/arena.h
try refused observe/http.c runtime/common/metrics.h
try refused runtime/operate/observe/export.c observe/carrier.h
try refused conformance/store/saga.c base/arena.h
try refused conformance/store/saga.c store/core/open.h
try refused runtime/worker/worker.c conformance/suite/run.h
try refused base/text.c pawl/store.h
try refused base/text.c record/json.h
try refused workflow/saga.c engine/batch.h
try refused engine/batch.c runtime/worker/worker.h
try refused engine/batch.c store/core/open.h
try passed cli/schema/schema.c store/sql/script.h
try passed store/sqlite/schema.c store/sql/script.h
try passed store/sqlite/open.c store/program/program.h
try refused store/program/program.c store/sql/dialect.h
try refused store/sql/worker.c store/program/program.h
try refused cli/schema/schema.c store/sql/tables.h
try refused runtime/worker/worker.c store/sql/script.h
try refused runtime/worker/worker.c store/sqlite/sqlite.h
try refused store/sqlite/queue.c engine/batch.h
try refused store/sqlite/queue.c store/memory/table.h
try refused store/core/open.c store/sql/dialect.h
try refused transport/local/send.c store/core/open.h
try passed transport/rabbitmq/url.c store/core/url_read.h
try passed transport/core/registry.c store/core/module.h
try refused other/x.c base/arena.h
try refused base/text.c missing.h

check_tree "$root"
