/* limits.h - every named maximum, with its reason.
 *
 * Sizes are bytes unless the name says otherwise. A value over a limit is
 * refused with PAWL_ELIMIT or PAWL_EINVAL that names the thing, the value and
 * the limit; nothing is ever cut.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_LIMITS_H
#define PAWL_LIMITS_H

/* Fits an indexed column of every database (Oracle and SQL Server are the
 * narrowest) with room for a queue name beside it. */
#define PAWL_MESSAGE_ID_SIZE_MAX 200
#define PAWL_NAME_SIZE_MAX 200         /* queues, endpoints, types, destinations, timeouts */
#define PAWL_PARTITION_SIZE_MAX 200    /* A7 */
#define PAWL_SOURCE_SIZE_MAX 401       /* of an outbox row: a type, '/' and an id */
#define PAWL_STREAM_SIZE_MAX 200       /* of an event stream: a type, '/' and an id */
#define PAWL_CORRELATION_CHARS_MAX 200 /* D19; characters, not bytes */
#define PAWL_CRON_SIZE_MAX 200         /* longer cron lines are unreadable */
/* MongoDB's document is 16 MB with its headers, MySQL's packet 64 MB. */
#define PAWL_BODY_SIZE_MAX (16 * 1024 * 1024)
#define PAWL_HEADERS_SIZE_MAX (64 * 1024)
#define PAWL_STATE_SIZE_MAX (16 * 1024 * 1024)
/* A stream's snapshot: state and dispatch ids together are one document of MongoDB. */
#define PAWL_SNAPSHOT_SIZE_MAX (16 * 1000 * 1000)
/* Size of all changes of one commit. PostgreSQL closes a connection that sends a message of 1 GB, and
 * encoding can double the length of a text. The units of a larger batch are committed one by one. */
#define PAWL_CHANGES_SIZE_MAX (256 * 1024 * 1024)
/* Headers and bodies of one claim: the message that reaches this size is the last one of the claim, whose size is
 * thus less than twice that of the largest message. 256 messages of 64 KB fit; for batches of this size the
 * fixed cost of a commit no longer matters. */
#define PAWL_CLAIM_SIZE_MAX (16 * 1024 * 1024)
#define PAWL_RECORD_FIELDS_MAX 256        /* keeps the decoder's "seen" bits in one small array */
#define PAWL_RECORD_DEPTH_MAX 16          /* nesting of records; bounds the recursion */
#define PAWL_RECORD_VERSION_MAX 999999999 /* nine digits, so that each fits an int32_t */
#define PAWL_LIST_COUNT_MAX 1000000  /* items of one list; bounds memory against hostile input */
#define PAWL_BATCH_MESSAGES_MAX 4096 /* one commit; keeps every driver's parameters bounded */
#define PAWL_TIMEOUTS_DEFAULT 1000 /* at least, of a claim of timeouts that names no number (T3) */
#define PAWL_WORKERS_MAX 64        /* threads of one endpoint */
#define PAWL_FILTERS_MAX 16
#define PAWL_RECOVERY_ROWS_MAX 64 /* all are compared after each failure */
#define PAWL_URL_SIZE_MAX 2000
#define PAWL_PREFIX_SIZE_MAX 40
#define PAWL_ERROR_TEXT_SIZE_MAX 500

#endif
