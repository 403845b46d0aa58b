#!/usr/bin/env bash
# check_terms.sh [ROOT] - texts that users read say the standard terms of docs/glossary.md, not the
# everyday words that stood for them once: the pages, comments of the public headers, and help, log
# and error texts (string literals of src with a space in them).
#
# Names may be older: code spans and code of the pages, identifiers, JSON keys, options, and the
# titles of test cases are not read.
#
# The check is first tried on made-up texts: each term is found, and its allowed neighbours are not.
#
# SPDX-License-Identifier: Apache-2.0
set -u
root=${1:-$(dirname "$0")/..}

# A rule: the standard term, a tab, the replaced words as an expression without word boundaries.
rules()
{
    cat <<'END'
dead letter	letters?
dead letter (dead-lettered; of a handler: abandoned)	(give|gives|given|giving|gave) ((it|them|this|that|(a|the) [a-z]+) )?up|bur(y|ies|ied|ying)
deduplication record	marks?
snapshot	folds?|folded|folding
leased batch	snapshots? of (an|the) (aggregator|partition)s?|aggregator's snapshot
event store	journals?
global position	(by|no|event) positions?|positions? of (the |an |its |last |first |newest )*events?
blocked (or: handler transaction)	(is|are|was|were|be) held (back|up|behind)|held (back|behind|rows?)|holds? back|holds? (it|them|work) up|open hold|a hold|in hold
in flight (or: current)	in hand
unavailable	(is|are|was|were|be|been|still|when) away
locked by another worker	(is|are|locked|leased|claimed) elsewhere
deferred	put(s|ting)? (it |them |a message |messages )?(back|off)
queue order	(keeps?|kept|loses?|lost|takes?) (its|their|the) place|by place|(row|message)'s place
crash	deaths?
isolated	ran (this [a-z]+ )?alone|alone after a (crash|failure)|(message|flush|timeout) alone
in-flight marker	stamps?|stamped
isolation	with care|under care|care (is|ends|begins|phase)
outbox dispatcher	runners?
ordering key	(row|rows|order) of (a|the|one|its|each|their|other) sources?|same source|sources that wait
outbound or inbound transport	sinks?|intakes?
scheduled	(future|delayed) (messages?|rows?|ones|timeouts?|sends?)|(is|are) in the future
retry	enabl(e|es|ed|ing) (a row|the row|rows|a dead|again)|(row|rows) (is|are|was|were) enabled
run now (or: release the lease)	releas(e|es|ed|ing) (a |the )?(timeouts?|partitions?|dead rows?)
query, scan (or: check)	walks?|walked|walking|looked at|(a|one|next|last|each|two) looks?|looks? (again|next)
fix	mends?|mended|mending
request	(store|driver|broker|server) (is|was|cannot be) asked|asks? the (store|driver|broker)
no consumer	nobody reads|read by nobody|unread (queue|queues|message|messages)
source of the setting	who (said|says) it
+/- N % jitter (or: N %)	give or take|(a|one) (fifth|tenth) (of|longer|shorter|slower|faster|more|less)
END
}

# Allowed: the file (an expression; "." is any), the words, which are taken out before the rules are tried, and why.
allowed()
{
    cat <<'END'
.	dead[- ]letters?	the standard term
.	letters(,| and) digits|letters that are not ascii	letters of an alphabet
.	(question|quotation) marks?	punctuation
.	systemd journal|(the )?journal mode	of systemd and of SQLite
.	global positions?	the standard term
src/store/core/queue_fields.h	deaths: 0	a field of a document
END
}

# Prints FILE:LINE: and the words, for each text of the files that breaks a rule; fails then. Reads
# the rules and what is allowed from standard input, a line "--" between them.
find_terms()
{
    awk -F '\t' '
    function wrap(words) { return "(^|[^a-z_])(" words ")([^a-z_-]|$)" }
    function judge(text, file, line,    i, part, from) {
        text = tolower(text)
        gsub(/[ \t\n]+/, " ", text)
        for (i = 1; i <= allow_count; i++)
            if (allow_where[i] == "." || file ~ allow_where[i])
                gsub(allow_words[i], "~", text)
        if (text !~ any)
            return
        for (i = 1; i <= rule_count; i++)
            if (match(text, rule_words[i])) {
                from = RSTART > 30 ? RSTART - 30 : 1
                part = substr(text, from, RLENGTH + 60)
                print file ":" line ": \"" part "\": say " rule_says[i]
                found++
            }
    }
    function flush_text() {
        if (held != "")
            judge(held, held_file, held_line)
        held = ""
    }
    function hold(text, line) {
        if (held == "") {
            held_file = FILENAME
            held_line = line
        }
        held = held " " text
    }
    # A page: paragraphs without code and titles of test cases; rows of tables and items of lists one by one.
    # The glossary ends with the names in the source.
    function page(line) {
        if (line ~ /^```/)
            in_code = !in_code
        if (line == "## Names in the source")
            in_code = 1
        if (in_code || line ~ /^(    |```|$|- `[a-z_\/.0-9]+`: |Not on a store alone: |### [a-z_]+$)/) {
            flush_text()
            return
        }
        if (line ~ /^(\||#|- |[0-9]+\. |  - )/)
            flush_text()
        gsub(/`[^`]*`/, "~", line)
        gsub(/\]\([^)]*\)|[A-Za-z_\/]+\.(md|c|h|sh)/, "~", line)
        hold(line, FNR)
    }
    # A header: comments, a paragraph at a time, and literals.
    function header(line,    at, text) {
        text = ""
        while (line != "") {
            if (!in_comment) {
                at = index(line, "/*")
                if (at == 0) {
                    literals(line)
                    break
                }
                literals(substr(line, 1, at - 1))
                line = substr(line, at + 2)
                in_comment = 1
            }
            at = index(line, "*/")
            text = text " " (at == 0 ? line : substr(line, 1, at - 1))
            line = at == 0 ? "" : substr(line, at + 2)
            if (at != 0) {
                comment(text)
                flush_text()
                text = ""
                in_comment = 0
            }
        }
        if (in_comment)
            comment(text)
    }
    function comment(text) {
        sub(/^[ \t]*\*?/, "", text)
        if (text ~ /^     / || text ~ /^[ \t]*$/ || text ~ /Tests:/) {
            flush_text()
            return
        }
        gsub(/`[^`]*`/, "~", text)
        gsub(/"[^"]*"/, "~", text)
        gsub(/[A-Za-z_.\/0-9]*[_.\/][A-Za-z_\/][A-Za-z_.\/0-9]*/, "~", text)
        hold(text, FNR)
    }
    # Literals with a space; those of the lines below that go on with it belong to it.
    function literals(line,    at, text) {
        if (line ~ /^[ \t]*#[ \t]*include/)
            return
        if (line !~ /^[ \t]*"/)
            flush_literal()
        while (match(line, /"([^"\\]|\\.)*"/)) {
            text = substr(line, RSTART + 1, RLENGTH - 2)
            line = substr(line, RSTART + RLENGTH)
            gsub(/\[[A-Z][A-Za-z]*\]|\{[a-z_:]*\}|\\./, "~", text)
            if (spoken == "") {
                spoken_file = FILENAME
                spoken_line = FNR
            }
            spoken = spoken text
            if (line !~ /^[ \t]*(PRI[a-z0-9]+[ \t]*("|$)|$)/)
                flush_literal()
        }
    }
    function flush_literal(    text) {
        text = spoken
        spoken = ""
        if (text ~ / / && text !~ /^ *(select|insert|update|delete|with|from|where|and|create|alter|q: |filter: ) ?/)
            judge(text, spoken_file, spoken_line)
    }
    # Comments of a source file are for contributors.
    function source(line,    at) {
        while (in_comment || (at = index(line, "/*")) > 0) {
            if (!in_comment) {
                literals(substr(line, 1, at - 1))
                line = substr(line, at + 2)
                in_comment = 1
            }
            at = index(line, "*/")
            if (at == 0)
                return
            line = substr(line, at + 2)
            in_comment = 0
        }
        literals(line)
    }
    NR == FNR && $0 == "--" { in_allowed = 1; next }
    NR == FNR && in_allowed {
        allow_where[++allow_count] = $1
        allow_words[allow_count] = $2
        next
    }
    NR == FNR {
        rule_says[++rule_count] = $1
        rule_words[rule_count] = wrap($2)
        any = any (any == "" ? "" : "|") $2
        next
    }
    FNR == 1 {
        if (!is_wrapped++)
            any = wrap(any)
        flush_text()
        flush_literal()
        in_code = in_comment = 0
    }
    FILENAME ~ /\.md$/ { page($0); next }
    FILENAME ~ /^include\// { header($0); next }
    { source($0) }
    END {
        flush_text()
        flush_literal()
        exit found > 0
    }' - "$@"
}

check_tree()
{
    local -a files
    cd "$1" || exit 1
    mapfile -d '' -t files < <(find README.md CONTRIBUTING.md docs include/pawl src -path src/conformance -prune -o \
        \( -name '*.md' -o -name '*.[ch]' \) -type f -print0 2>/dev/null)
    [ ${#files[@]} -gt 0 ] || exit 1
    { rules; echo --; allowed; } | find_terms "${files[@]}"
}

# try COUNT NAME: standard input, as the file NAME, has so many lines of findings.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/docs" "$work/include/pawl" "$work/src/base"
try()
{
    local found
    cat >"$work/$2"
    found=$(check_tree "$work")
    if [ "$(grep -c . <<<"$found")" != "$1" ]; then
        echo "self-test: $2 has other than $1 findings: $found"
        exit 1
    fi
    : >"$work/$2"
}

# One paragraph for each rule, in the order of the rules.
cat >"$work/docs/a.md" <<'END'
A letter in the

table. It is buried here.

The mark is old.

A folded stream.

The snapshot of an aggregator.

Read the journal.

By position.

The row is
held back.

It is in hand.

The broker is away.

It is leased elsewhere.

It is put back.

It keeps its place.

Three deaths.

It ran this message alone.

A stamped batch.

They run with care.

The runner leads.

The rows of one source wait.

- A sink.
- A delayed message.
- Rows are enabled.
- Release a timeout now.

Take a look.

Mend it.

The store is asked.

Nobody reads it.

And who said it.

Give or take.
END
if ! diff <(rules | cut -f 1) <(check_tree "$work" | sed 's/.*: say //'); then
    echo "self-test: the rules (<) and what they find in a paragraph for each (>) differ"
    exit 1
fi
try 0 docs/a.md <<'END'
A dead
letter, `letter`, [text](journal.md), its timestamp, delayed retries, the source.

    a letter in code
- `tests/a.c`: a letter
END
try 2 include/pawl/a.h <<'END'
/* The letter
 * of a message. */
int letter; /* of the
             * runner, not runner_a or `sink` */
END
try 2 src/base/a.c <<'END'
/* A letter is for contributors. */
#define KEY "letter"
    say("%s: no letter for " "%d", "it is put "
        "back");
    run("select [Deaths] as deaths from {folds}");
END

check_tree "$root"
