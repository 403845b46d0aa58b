/* limit.c - ids and texts of the hand-written loops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "limit.h"

#include <stdio.h>
#include <string.h>

void pawl__loop_uuid(char *text, uint64_t high, uint64_t low)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        int at   = i + (i >= 8) + (i >= 12);
        text[at] = digits[(high >> (60 - 4 * i)) & 15];
    }
    for (int i = 0; i < 16; i++) {
        int at   = 19 + i + (i >= 4);
        text[at] = digits[(low >> (60 - 4 * i)) & 15];
    }
    text[8] = text[13] = text[18] = text[23] = '-';
}

const char *pawl__loop_find(const char *json, size_t size, const char *key)
{
    size_t      key_size = strlen(key);
    const char *found    = memmem(json, size, key, key_size);
    return found != NULL ? found + key_size : NULL;
}

size_t pawl__loop_body(char       body[LOOP_BODY_SIZE_MAX],
                       const char order_id[PAWL__BENCH_ORDER_ID_SIZE], int64_t steps, int64_t cents,
                       const char at[PAWL_TIME_TEXT_SIZE])
{
    int size =
        snprintf(body, LOOP_BODY_SIZE_MAX,
                 "{\"order_id\":\"%.*s\",\"steps\":%lld,\"cents\":%lld,"
                 "\"customer\":\"" PAWL__BENCH_CUSTOMER "\",\"product\":\"" PAWL__BENCH_PRODUCT
                 "\",\"at\":\"%.*s\",\"note\":\"" PAWL__BENCH_NOTE "\"}",
                 PAWL__BENCH_ORDER_ID_SIZE, order_id, (long long)steps, (long long)cents,
                 PAWL_TIME_TEXT_SIZE, at);
    return (size_t)size;
}
