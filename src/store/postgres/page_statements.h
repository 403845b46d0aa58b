/* page_statements.h - the pieces that all statements with pages use: see page.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_POSTGRES_PAGE_STATEMENTS_H
#define PAWL_STORE_POSTGRES_PAGE_STATEMENTS_H

/* The columns of a body and its size; `share` is a parameter. */
#define PAWL__PG_BODY_WITHIN(share) \
    "case when octet_length([Body]) <= " share " then [Body] end, octet_length([Body])::bigint"
/* PAWL__SQL_MESSAGE with the body within the share, and the body's size. */
#define PAWL__PG_MESSAGE_WITHIN(share) \
    "[MessageId], [Type], [CorrelationId], [CausationId], [Headers], " PAWL__PG_BODY_WITHIN(share)

/* The bodies of the rows with the numbers ?1. Each row is looked up by its number: see
 * QUEUE_CLAIM_AGAIN. */
#define PAWL__PG_BODIES(table, number)                                           \
    "select k.n, t.[Body] from unnest(?1) with ordinality as k (number, n) "     \
    "cross join lateral (select o.[Body] from {" table "} as o where o.[" number \
    "] >= k.number and o.[" number "] <= k.number order by o.[" number "] limit 1) as t"

#endif
