/* set.h - changes that are written as the generic store says (store/sql/changes.c), each kind as sets:
 * a shared statement on one row, as one over arrays.
 *
 *     insert into T ([A]) values (?1)             insert into T ([A]) select k.p1
 *                                                 from (select unnest(?1) as p1) as k
 *     update T set [A] = ?1 where [B] = ?2        update T set [A] = k.p1 from unnest(?1, ?2)
 *                                                 with ordinality as k (p1, p2, n)
 *                                                 where [B] = any (array_append(null, k.p2)) returning k.n
 *     delete from T where [B] = ?1                the same with "using"
 *     delete from T where [A] = ?1 and [B] = ?2   delete from T as t using unnest(?1, ?2) ... cross join lateral
 *                                                 (select o.ctid as tid from T as o where [A] = k.p1
 *                                                 and [B] = k.p2 offset 0) as f where t.ctid = f.tid
 *
 * "= any (array_append(null, key))" is equality with the key of an item that is looked up for each item. A plain
 * equality can be joined the other way round: planned while the table was known to be empty, the statement
 * walks over all of it for each item, and keeps that plan when there are rows. Of two such conditions it may enter
 * the index with the first alone, so a key of two columns is looked up in a subquery of the item.
 *
 * Threads: as the handle.
 * Tests: tests/contract/test_sql_golden.c, tests/system/test_postgres_plans_slow.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_SET_H
#define PAWL_STORE_POSTGRES_SET_H

#include "store/postgres/writer.h"

/* The statement over arrays, as a template, of the template of one row. */
void pawl__pg_set_template(pawl__sql_text *text, const char *row);
/* The same of a statement of PAWL__PG_SETS. */
const char *pawl__pg_set_row(int statement);

/* Sends the changes of a kind. */
pawl_code pawl__pg_send_sets(pawl__pg_writer *writer, pawl_change_kind kind);

#endif
