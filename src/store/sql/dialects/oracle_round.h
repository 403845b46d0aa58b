/* oracle_round.h - makes one block of the writes of a round: each set of items is a JSON parameter, a FORALL runs
 * the statement for all items, and the answer has a letter for each item. The server parses every new text, so few
 * differ: a statement stands in one place of a block only, and its sets are padded to 1, 2, 4 and so on.
 *
 *     add      any number of sets; false: this one is to be written item by item, behind those before it
 *     text     once
 *     clear    before the next round
 *
 * Threads: plain data. Tests: tests/contract/test_odbc_oracle.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_ORACLE_ROUND_H
#define PAWL_STORE_SQL_DIALECTS_ORACLE_ROUND_H

#include "store/sql/session.h"

#define PAWL__ORACLE_SETS_MAX 32
#define PAWL__ORACLE_ITEMS_MAX 2000      /* the answer is a text of at most 4,000 bytes */
#define PAWL__ORACLE_PARAMETER_MAX 32000 /* a block takes 32,767 bytes of one */
#define PAWL__ORACLE_MISSED 'm'          /* the item found no row */

typedef struct pawl__oracle_round {
    pawl__sql_text parts;
    pawl__sql_text sets[PAWL__ORACLE_SETS_MAX]; /* the parameters, in their order */
    unsigned       set_count;
    bool           is_wanted[PAWL__ORACLE_ITEMS_MAX]; /* the item must find a row */
    unsigned       item_count;
    bool           had_unexpected; /* an item that must find a row found none, or failed */
} pawl__oracle_round;

/* PAWL_ENOMEM, or the failure of a saga's names. `*is_added` is false if the items cannot be a set, or there is no
 * room for it: the round is unchanged then. */
pawl_code pawl__oracle_round_add(pawl__oracle_round *round, const pawl__sql_remote *remote,
                                 const pawl__sql_write *write, const void *const *items,
                                 size_t count, bool *is_added, pawl_error *error);
void      pawl__oracle_round_text(const pawl__oracle_round *round, pawl__sql_text *to);
void      pawl__oracle_round_clear(pawl__oracle_round *round);

#endif
