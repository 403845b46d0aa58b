/* dead_rows.h - a query of dead letters (pawl_store_dead_find).
 *
 * Threads: plain data. Texts are borrowed for the call.
 * Tests: src/conformance/store/dead.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_DEAD_ROWS_H
#define PAWL_DEAD_ROWS_H

#include "pawl/store_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A filter of dead letters; a field that is empty or zero matches any. */
typedef struct pawl_dead_query {
    pawl_text            endpoint;
    pawl_text            message_id;
    pawl_text            type;
    pawl_text            code;       /* "EUNREACHABLE" */
    pawl_text            error_part; /* a part of the error's text, byte for byte */
    pawl_time            at_min;     /* dead-lettered at this time or later */
    pawl_time            at_max;     /* at this time or earlier */
    const pawl_dead_row *after; /* dead letters after this one; only its endpoint, id and time are
                                        read, and it may be gone. NULL: from the first */
    size_t               count_max; /* 0: all */
    size_t               size_max; /* ends the page once its messages have that size; 0: no limit */
} pawl_dead_query;

#ifdef __cplusplus
}
#endif
#endif
