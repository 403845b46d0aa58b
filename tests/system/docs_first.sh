#!/usr/bin/env bash
# docs_first.sh - docs/first-application.md: its records and handlers are those of examples/orders,
# its table compiles, its test and its commands run.
#
# SPDX-License-Identifier: Apache-2.0
. "${PAWL_SOURCE_DIR:?}/tests/support/command.sh"
page=$source_dir/docs/first-application.md example=$source_dir/examples/orders
need_sqlite
cd "$work" || die "no folder"
awk '/^```/ { if ($0 == "```c") n++; is_code = $0 == "```c"; next } is_code { print > "block" n ".c" }' "$page"
[ -s block4.c ] && [ ! -e block5.c ] || die "not the four blocks of the page"

echo "== records and handlers are the example's"
squeeze() { cat "$@" | tr -d ' \n'; }
for block in 1 2; do
    [[ $(squeeze "$example/orders.h" "$example/orders.c") == *"$(squeeze block$block.c)"* ]] ||
        die "block $block is no part of examples/orders"
done

echo "== the table"
cat - block2.c block3.c >table.c <<'END_OF_C'
#include "orders.h"
static pawl_code on_payment_taken(pawl_context *ctx, order_state *order, const payment_taken *message)
{
    (void)ctx, (void)order, (void)message;
    return PAWL_OK;
}
PAWL_HANDLER(on_payment_taken, order_state, payment_taken);
static pawl_code on_payment_late(pawl_context *ctx, order_state *order)
{
    (void)order;
    return pawl_complete(ctx);
}
PAWL_TIMEOUT_HANDLER(on_payment_late, order_state);
END_OF_C
echo 'const pawl_saga *const shown = &order_saga;' >>table.c
"$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -I "$source_dir/include" -I "$example" -fsyntax-only table.c \
    >out 2>err || die "the table does not compile"

echo "== the test"
{
    printf '#include "orders.h"\n#include <pawl/test.h>\n#include <stdio.h>\n%s\n' \
        '#define assert_int_equal(a, b) (printf("%d is %d\n", (int)(a), (int)(b)))'
    echo 'int main(void) { pawl_error error = PAWL_ERROR_INIT; pawl_test *test; size_t count = 0;'
    cat block4.c
    echo 'pawl_test_destroy(test); return error.text[0] != 0; }'
    cat "$example/orders.c"
} >test.c
build_program "$work/test.c" test -I "$example"
expect 0 "^1 is 1\$" ./test
lines 1

echo "== the commands"
mkdir folder && cd folder || die "no folder"
ln -s "$build_dir" build
ln -s "$build_dir/orders.so" orders.so
awk '/^    pawl schema apply/ { is_in = 1 } !/^    / { is_in = 0 } is_in' "$page" | sed 's/^    //' >lines.sh
[ "$(grep -c '^pawl' lines.sh)" = 5 ] || die "not the five lines of the page"
{
    echo 'set -e; trap "kill \$(jobs -p) 2>/dev/null || true" EXIT'
    sed '$d' lines.sh
    echo 'tries=600; until pawl stats --store sqlite:orders.db --json | grep -q "\"messages\":3,"; do'
    echo '    [ $((tries--)) -gt 0 ] || exit 9; sleep 0.1; done'
    tail -n 1 lines.sh
} >pasted.sh
PATH=$build_dir:$PATH bash -m pasted.sh >../out 2>../err || die "exit code $?"
grep -qE '^messages handled +3$' ../out || die "the numbers are not shown"
while read -r line; do
    expect 0 . bash -c "$line"
done < <(sed -nE 's/^    (build\/orders( sqlite:[^ ]*)?) .*/\1/p' "$page")
[ -s orders-2.db ] || die "the program made no file"
expect 0 OrderSaga "$build_dir/pawl" schema print --app ./orders.so --dialect sqlite
echo "passed"
