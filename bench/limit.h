/* limit.h - functions of the hand-written loops, on whatever database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BENCH_LIMIT_H
#define PAWL_BENCH_LIMIT_H

#include "application.h"

/* "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" of two numbers; writes no NUL. */
void pawl__loop_uuid(char *text, uint64_t high, uint64_t low);

/* No JSON is parsed: a value stands right behind the text `key`. NULL when the
 * key is missing. */
const char *pawl__loop_find(const char *json, size_t size, const char *key);

/* The state of an order, and the message about it; returns its size. */
#define LOOP_BODY_SIZE_MAX 500
size_t pawl__loop_body(char       body[LOOP_BODY_SIZE_MAX],
                       const char order_id[PAWL__BENCH_ORDER_ID_SIZE], int64_t steps, int64_t cents,
                       const char at[PAWL_TIME_TEXT_SIZE]);
#define LOOP_HEADERS "{\"pawl.reply_to\":\"" PAWL__BENCH_QUEUE "\"}"

#endif
