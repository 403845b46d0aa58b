/* saga_rows.h - structs of a saga type's table, of a query for a saga, and of the row returned.
 *
 * Threads: plain data. Answers live in the arena of the call.
 * Tests: src/conformance/store/saga*.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_SAGA_ROWS_H
#define PAWL_SAGA_ROWS_H

#include "pawl/base.h"
#include "pawl/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A correlation column: a property of the state and the type it is compared as.
 * PAWL_VALUE_NONE: the saga has no such column. */
typedef struct pawl_correlation {
    pawl_text       property;
    pawl_value_type type;
    bool            with_offset; /* a time: its column has an offset (PAWL_STORE_HAS_OFFSETS) */
    bool            is_coarse;   /* set by a driver in its own copy: the column rounds times down */
} pawl_correlation;

/* The table of a saga type. Lives as long as any store handle that was given it. */
typedef struct pawl_saga_table {
    pawl_text        type; /* the saga's name, for error texts */
    pawl_text        name; /* the table's name, saga prefix included */
    pawl_correlation main;
    pawl_correlation transitional;
} pawl_saga_table;

typedef enum pawl_saga_key {
    PAWL_SAGA_BY_ID, /* values are PAWL_VALUE_UUID */
    PAWL_SAGA_BY_MAIN,
    PAWL_SAGA_BY_TRANSITIONAL,
} pawl_saga_key;

/* Whether a load locks the rows. A store without the promise PAWL_STORE_ROW_LOCKS
 * treats LOCKED and SKIP_LOCKED as UNLOCKED: the commit's version check finds conflicts. */
typedef enum pawl_saga_lock {
    PAWL_SAGA_UNLOCKED,
    PAWL_SAGA_LOCKED,      /* waits for the row, and keeps it until the handler transaction ends */
    PAWL_SAGA_SKIP_LOCKED, /* locks the rows that are free, without waiting, until the commit that ends
                              this batch's claims. For use after the claim, before any other lock */
} pawl_saga_lock;

/* Whether a load found the row. */
typedef enum pawl_saga_presence {
    PAWL_SAGA_MISSING,           /* no such row */
    PAWL_SAGA_THERE,             /* found; only then the other members are set */
    PAWL_SAGA_LOCKED_BY_ANOTHER, /* with SKIP_LOCKED: another transaction has locked it */
} pawl_saga_presence;

typedef struct pawl_saga_row {
    pawl_saga_presence presence;
    pawl_saga_id       id;
    int64_t            version; /* from 1 on; 0 unless it is there */
    int64_t            row;     /* the driver's own hint for an update, or 0 */
    pawl_value         main;
    pawl_value         transitional;
    pawl_text          metadata;
    pawl_text          data;
    pawl_text          type_version;
} pawl_saga_row;

#ifdef __cplusplus
}
#endif
#endif
