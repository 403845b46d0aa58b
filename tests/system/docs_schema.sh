#!/usr/bin/env bash
# docs_schema.sh - docs/schema.md has the tables and columns that `pawl schema print` makes, in
# their order, with their types; its statements run. docs/concepts.md has each line of `pawl
# stats` with its table, and the other tables.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
page=$source_dir/docs/schema.md

# The page's rows as "table column type [null]"; $1 is the column of its table of kinds that
# has the types. A saga's correlation column has the type of a property.
of_page()
{
    awk -F ' *[|] *' -v dialect="$1" '
    /^### / { table = $0 ~ /saga/ ? "saga" : $2 == "" ? substr($0, 5) : ""; next }
    /^\| kind / { for (i = 2; i < NF; i++) if ($i == dialect) column = i; next }
    table == "" && /^\| [a-z]/ { split($column, parts, "`"); types[$2] = parts[2]; next }
    table != "" && /^\| `/ {
        nullable = sub(/ or null$/, "", $3) ? " null" : ""
        if (!($3 in types) && $2 !~ /Correlation_/) { print "no kind " $3; next }
        gsub(/`/, "", $2); sub(/ not null/, "", types[$3])
        print table, $2, types[$3] nullable
    }' "$page" | sed -E 's/ (integer|bigserial) primary key( autoincrement)?/ \1/'
}

# The same of a script.
of_script()
{
    sed -nE -e '/generated always/ d' \
        -e 's/^create table if not exists ["`](pawl_|orders_)([^"`]*)["`].*/# \2/p' \
        -e '/^    ["`]/ {
            s/,$//; s/ (character set [^ ]+|collate [^ ]+|check \(.*\)|autoincrement|auto_increment|primary key|default [^ ]+)//g
            s/ not null$//
            s/^    ["`]([^"`]*)["`] ?/\1 /p
        }' "$1" |
        awk '$1 == "#" { table = $2 == "OrderSaga" ? "saga" : $2; next }
             $1 ~ /^Correlation_/ { print table, $1, ""; next }
             { print table, $0 }'
}

# compare DIALECT NAME-IN-THE-PAGE
compare()
{
    pawl schema print --dialect "$1" --app "$build_dir/orders.so" >"$work/$1.sql" 2>"$work/err" ||
        die "no script for $1"
    of_page "$2" | sort >"$work/said"
    of_script "$work/$1.sql" | sort >"$work/made"
    [ "$(wc -l <"$work/made")" -gt 100 ] || die "$(wc -l <"$work/made") columns in the script"
    diff "$work/said" "$work/made" >"$work/out" || die "the page (<) and the tables of $2 (>) differ"
    diff <(of_page "$2" | sed '/^saga /d' | awk '{ print $1, $2 }' | sort -s -k 1,1) \
        <(of_script "$work/$1.sql" | sed '/^saga /d' | awk '{ print $1, $2 }' | sort -s -k 1,1) \
        >"$work/out" || die "columns stand in another order"
}

echo "== SQLite"
need_sqlite
compare sqlite SQLite

echo "== its statements"
sed -n '/^## Example queries/,$p' "$page" | sed -n 's/^    //p' >"$work/statements"
[ "$(wc -l <"$work/statements")" -ge 5 ] || die "no statements"
build_sql
: >"$work/made.db"
"$work/sql" "$work/made.db" "$(cat "$work/sqlite.sql")" >"$work/out" 2>"$work/err" || die "the script"
while read -r statement; do
    "$work/sql" "$work/made.db" "$statement" >"$work/out" 2>"$work/err" || die "$statement"
done <"$work/statements"

echo "== the lines of pawl stats: those of its numbers; health is judged from them"
sed -nE -e 's/^    (NUMBER|ROWS)\("[a-z_]+", "([^"]+)".*/\2/p' -e 's/^    \{"[a-z_]+", "([^"]+)", offset.*/\1/p' \
    "$source_dir/src/cli/answers/stats.c" | sort >"$work/made"
sed -n '/^## What `pawl stats`/,$p' "$source_dir/docs/concepts.md" >"$work/stats"
awk -F ' *[|] *' '/^\| [a-z]/ && $2 != "line" && $2 != "health" && $2 !~ /^queue:/ { gsub(/, /, "\n", $2); print $2 }' \
    "$work/stats" | sort >"$work/said"
[ "$(wc -l <"$work/made")" -ge 17 ] || die "$(wc -l <"$work/made") lines in stats.c"
diff "$work/said" "$work/made" >"$work/out" || die "the page (<) and pawl stats (>) differ"
awk -F ' *[|] *' '/^\| [a-z]/ && $2 != "line" && $2 != "health" { print $4 }' "$work/stats" | tr -d '`' >"$work/said"
sed -n '/^The other tables/,$p' "$work/stats" | grep -oE '`[a-z_]+`' | tr -d '`' |
    grep -v '_$' >>"$work/said"
sort -u "$work/said" >"$work/named"
of_script "$work/sqlite.sql" | awk '$1 != "saga" { print $1 }' | sort -u >"$work/made"
diff "$work/named" "$work/made" >"$work/out" || die "tables of the page (<) and of the store (>) differ"

echo "== MySQL and MariaDB"
if [ -e "$build_dir/libpawl-mysql.so" ]; then
    compare mysql 'MySQL, MariaDB'
    compare mariadb 'MySQL, MariaDB'
fi

echo "== PostgreSQL"
[ -e "$build_dir/libpawl-postgres.so" ] || skip "the PostgreSQL driver was not built"
compare postgres PostgreSQL
