/* message.h - messages, their headers, events, and the states of rows: plain data that all stores share.
 *
 * Threads: plain data.
 * Tests: tests/contract
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_MESSAGE_H
#define PAWL_MESSAGE_H

#include "pawl/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What rows carry ---------------------------------------------------- */

/* A message as it travels and is stored. `headers` is a JSON object of strings
 * or empty. The body is stored byte for byte. */
typedef struct pawl_message {
    pawl_text id;             /* 1 to PAWL_MESSAGE_ID_SIZE_MAX bytes */
    pawl_text type;           /* the record's type name */
    pawl_text body;           /* JSON */
    pawl_text headers;        /* JSON object of strings, or empty */
    pawl_text correlation_id; /* id of the conversation */
    pawl_text causation_id;   /* id of the message that caused this one, or empty */
} pawl_message;

/* Headers of a due timeout that is sent as a message, and of a timeout's dead letter: the saga's type and id. */
#define PAWL_HEADER_SAGA "pawl.saga"
#define PAWL_HEADER_SAGA_ID "pawl.saga_id"
/* On a row of an aggregator that collects a base type: the message's own type. */
#define PAWL_HEADER_TYPE "pawl.type"
/* The base types of the message's type, the nearest first: "Vehicle,Thing". */
#define PAWL_HEADER_BASE "pawl.base"
/* Version of the record that wrote the body; after commas the versions of the base types, in the order of pawl.base.
 * A missing number counts as 1; a minor version ("2.7") is ignored. */
#define PAWL_HEADER_VERSION "pawl.version"
/* Expiry, a business time as of pawl_time_format: a message that is not handled by then is dropped, recorded as
 * handled, and counted. An empty text is ignored. A text that is not a time cannot be sent (PAWL_EINVAL); if another
 * program sends it, the message is a dead letter. */
#define PAWL_HEADER_EXPIRES "pawl.expires"
/* On a copy that option `audit` makes: the endpoint and the machine that handled the message, when handling began and
 * ended, the message's id, and its pawl.expires (which the copy itself does not have). */
#define PAWL_HEADER_AUDIT_ENDPOINT "pawl.audit.endpoint"
#define PAWL_HEADER_AUDIT_MACHINE "pawl.audit.machine"
#define PAWL_HEADER_AUDIT_STARTED "pawl.audit.started"
#define PAWL_HEADER_AUDIT_ENDED "pawl.audit.ended"
#define PAWL_HEADER_AUDIT_ID "pawl.audit.id"
#define PAWL_HEADER_AUDIT_EXPIRES "pawl.audit.expires"

/* Bytes that a message or an event counts against a size_max: headers and body. */
#define PAWL_MESSAGE_SIZE(message) ((message)->headers.size + (message)->body.size)

/* True: a claim or list with a size_max is complete. Rows are added until their messages have size_max bytes together:
 * at least one row, and less than size_max plus the largest message. queue_find, dead_find and queue_retried
 * read a few rows at a time, and may exceed it by the last of these reads. 0: no limit. */
#define PAWL_SIZE_IS_REACHED(size, size_max) ((size_max) != 0 && (size) >= (size_max))

/* An event of a stream of the event store. */
typedef struct pawl_event {
    pawl_text        type; /* the record's type name; the library's own begin with "pawl." */
    int32_t          type_version; /* of the record, for its upcasters */
    pawl_text        body;         /* JSON */
    pawl_text        headers;      /* JSON object of strings, or empty */
    pawl_text        message_id;   /* of the message that was handled, or empty */
    pawl_text        correlation_id;
    pawl_text        causation_id; /* of the message before that one, or empty */
    pawl_dispatch_id dispatch_id;  /* of the message that was handled; zero: it had none */
    pawl_time        at;           /* business time */
} pawl_event;

typedef enum pawl_inbox_outcome {
    PAWL_INBOX_HANDLED,
    PAWL_INBOX_DISCARDED,
    PAWL_INBOX_DEAD,
} pawl_inbox_outcome;

typedef enum pawl_outbox_state {
    PAWL_OUTBOX_PENDING,
    PAWL_OUTBOX_BLOCKED, /* blocked behind a retry with the same ordering key */
    PAWL_OUTBOX_DISPATCHED,
    PAWL_OUTBOX_DEAD,
    PAWL_OUTBOX_DISCARDED, /* was dead, and an operator discarded it */
} pawl_outbox_state;

typedef enum pawl_attempt_outcome {
    PAWL_ATTEMPT_SUCCESS,
    PAWL_ATTEMPT_REJECTED,
    PAWL_ATTEMPT_TRANSIENT,
    PAWL_ATTEMPT_POISON,
    /* Not attempts: actions of an operator, in the same history. */
    PAWL_ATTEMPT_RETRIED,
    PAWL_ATTEMPT_DISCARDED,
    /* Not in the history: an outbound transport reports that the receiver is unavailable. No attempt is counted. */
    PAWL_ATTEMPT_UNREACHABLE,
} pawl_attempt_outcome;

#ifdef __cplusplus
}
#endif
#endif
