/* must not compile: a C string where the record has text | expected: incompatible types when initializing type .double|initializing 'pawl_text_wanted_not_a_c_string' */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

#define ORDER(F) F(TEXT, order_id) F(INT64, cents)
PAWL_RECORD(order, ORDER)

static void take(const pawl_record *record, const void *message)
{
    (void)record;
    (void)message;
}

int main(int count, char **words)
{
    (void)count;
#ifdef PAWL_CONTROL
    take(PAWL_MESSAGE(order, .order_id = pawl_text_of(words[0])));
#else
    take(PAWL_MESSAGE(order, .order_id = words[0]));
#endif
    return 0;
}
