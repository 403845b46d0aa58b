#!/usr/bin/env bash
# check_doors.sh - the three doors of the public headers: a program that includes pawl/pawl.h alone sees
# at most 61 functions, and none of operators or drivers; each header is behind a door; the first
# example needs no other header than pawl/pawl.h.
#
# SPDX-License-Identifier: Apache-2.0
set -u
source_dir=$(cd "$(dirname "$0")/.." && pwd)
cc=${CC:-cc}
functions_max=61

# visible INCLUDE_DIR HEADER: the functions that are declared where this header alone is included.
visible()
{
    printf '#include <%s>\n' "$2" | "$cc" -std=c17 -E -P -I "$1" -x c - | tr '\n' ' ' | tr ';' '\n' |
        sed -nE 's/.*visibility\("default"\).*[ *](pawl_[a-z0-9_]+) *\(.*/\1/p' | sort -u
}

# sees INCLUDE_DIR HEADER FUNCTION
sees()
{
    visible "$1" "$2" | grep -qx "$3"
}

check_doors()
{
    local include=$1 result=0 count others header behind
    count=$(visible "$include" pawl/pawl.h | wc -l)
    if [ "$count" -gt $functions_max ]; then
        echo "pawl/pawl.h shows $count functions, $functions_max at most"
        result=1
    fi
    others=$(visible "$include" pawl/pawl.h | grep -vxE 'pawl_store_(open|close)' |
        grep -E '^pawl_(store|change|changes|refusals|health|upgrade|transport|intake|test)_')
    if [ -n "$others" ]; then
        echo "pawl/pawl.h shows what is no application's:" $others
        result=1
    fi
    behind=$(for header in pawl operate driver test; do
        printf '#include <pawl/%s.h>\n' $header | "$cc" -std=c17 -MM -I "$include" -x c -
    done | grep -oE 'pawl/[a-z_]+\.h' | sort -u)
    for header in "$include"/pawl/*.h; do
        grep -qx "pawl/$(basename "$header")" <<<"$behind" && continue
        echo "no door leads to pawl/$(basename "$header")"
        result=1
    done
    sees "$include" pawl/pawl.h pawl_send || { echo "pawl/pawl.h has no pawl_send"; result=1; }
    sees "$include" pawl/operate.h pawl_store_dead_retry || { echo "pawl/operate.h has no pawl_store_dead_retry"; result=1; }
    sees "$include" pawl/driver.h pawl_store_register || { echo "pawl/driver.h has no pawl_store_register"; result=1; }
    sees "$include" pawl/driver.h pawl_transport_register || { echo "pawl/driver.h has no pawl_transport_register"; result=1; }
    if sees "$include" pawl/operate.h pawl_store_register || sees "$include" pawl/operate.h pawl_transport_register; then
        echo "pawl/operate.h shows the calls of drivers"
        result=1
    fi
    return $result
}

# The check can fail: an operator's header that an application's includes, and one behind no door.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
planted()
{
    if check_doors "$tree/include" >/dev/null; then
        echo "self-test: $1 passed"
        exit 1
    fi
    rm -rf "$tree/include"
    cp -r "$source_dir/include" "$tree/"
}
cp -r "$source_dir/include" "$tree/"
sed -i 's|^#include "pawl/store_open.h"|&\n#include "pawl/store_alarm.h"|' "$tree/include/pawl/endpoint.h"
planted "pawl.h with store_alarm.h"
for i in $(seq $functions_max); do
    echo "PAWL_API void pawl_more_$i(void);"
done >"$tree/more"
sed -i "/^PAWL_API const char \*pawl_version/r $tree/more" "$tree/include/pawl/pawl.h"
planted "$functions_max functions more"
cp "$tree/include/pawl/limits.h" "$tree/include/pawl/alone.h"
planted "a header behind no door"

result=0
check_doors "$source_dir/include" || result=1
others=$(grep -hE '^#include [<"]pawl/' "$source_dir"/examples/orders/orders.[ch] | grep -v '<pawl/pawl.h>')
if [ -n "$others" ]; then
    echo "the first example, examples/orders/orders.c, needs more than pawl/pawl.h: $others"
    result=1
fi
exit $result
