/* context.h - effects and questions of a handler.
 *
 * Effects are recorded and take place in the commit, all of them or none; an
 * effect that is refused (a name too long, a body that cannot be encoded)
 * returns an error and fails the message even when the handler ignores it.
 *
 * Threads: a context belongs to its handler's call and ends with it.
 * Tests: tests/unit/engine
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_CONTEXT_H
#define PAWL_CONTEXT_H

#include "pawl/application.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_header {
    const char *name;
    const char *value;
} pawl_header;

typedef struct pawl_send_options {
    size_t    options_size;
    int64_t   delay; /* microseconds of business time; below zero: none */
    pawl_time due;   /* instead of a delay; 0: none; one of time() is refused */
    /* NULL: made by pawl. A second one with it is dropped without a word where the queue has the first, or the endpoint
     * handled that within inbox_retention. */
    const char        *id;
    const char        *correlation_id; /* NULL: that of the current message */
    const pawl_header *headers;        /* ends with a NULL name */
} pawl_send_options;

/* First in the braces of an initialiser. */
#define PAWL_SEND_OPTIONS_HEAD .options_size = sizeof(pawl_send_options)

/* ---- Effects. `record, message` is PAWL_MESSAGE(type, .field = value ...) --- */

/* To one destination: the name of a route, else a queue in this store. */
PAWL_API pawl_code pawl_send(pawl_context *ctx, const char *destination, const pawl_record *record,
                             const void *message);
PAWL_API pawl_code pawl_send_with(pawl_context *ctx, const char *destination,
                                  const pawl_send_options *options, const pawl_record *record,
                                  const void *message);
/* A body that is JSON already, of a type that need not be a record here. It is sent byte for byte. NULL
 * options: none. PAWL_EINVAL: it is no JSON, or the type is empty or too long. A handler whose row
 * has .does declares a record of the type. */
PAWL_API pawl_code pawl_send_json(pawl_context *ctx, const char *destination,
                                  const pawl_send_options *options, const char *type,
                                  pawl_text json);
/* To every queue that subscribes to the type or one of its base types. */
PAWL_API pawl_code pawl_publish(pawl_context *ctx, const pawl_record *record, const void *message);
/* The same id, due time and headers in every queue. NULL options: none. */
PAWL_API pawl_code pawl_publish_with(pawl_context *ctx, const pawl_send_options *options,
                                     const pawl_record *record, const void *message);
/* To where the current message came from (its header "pawl.reply_to", which
 * every send sets to the sender's queue). PAWL_EINVAL without one. */
PAWL_API pawl_code pawl_reply(pawl_context *ctx, const pawl_record *record, const void *message);
PAWL_API pawl_code pawl_reply_with(pawl_context *ctx, const pawl_send_options *options,
                                   const pawl_record *record, const void *message);
/* To the endpoint that sent the message which began the current saga, however long ago (S23).
 * PAWL_EINVAL when there is no current saga, or that message had no header "pawl.reply_to": it
 * came from outside. A process and an entity have none: their events say what they need. */
PAWL_API pawl_code pawl_reply_to_originator(pawl_context *ctx, const pawl_record *record,
                                            const void *message);
/* Leaves at once, in a commit of its own, whatever becomes of the current message
 * (E23). From a handler with its own SQL, or of a pessimistic saga, it leaves by
 * another connection. SQLite lets no other connection write then: there it leaves in the commit
 * that says what became of the message, failed or not; when the program ends before that
 * commit the message is handled again, and sends again. PAWL_OK: it has left, or will in
 * that commit. Other codes fail the message, as any effect that is refused. */
PAWL_API pawl_code pawl_send_now(pawl_context *ctx, const char *destination,
                                 const pawl_record *record, const void *message);

/* Sets the timeout of that name of the current saga or process, or re-arms it. An entity
 * has none. `delay` is microseconds of business time; below zero: none. PAWL_EINVAL when no handler is for
 * it. */
PAWL_API pawl_code pawl_timeout(pawl_context *ctx, const char *name, int64_t delay);
/* PAWL_EINVAL for a time as time() tells it, in seconds, or in milliseconds: pawl_time has microseconds. */
PAWL_API pawl_code pawl_timeout_at(pawl_context *ctx, const char *name, pawl_time due);
/* Harmless when it is not set. PAWL_EINVAL for an empty name. */
PAWL_API pawl_code pawl_cancel_timeout(pawl_context *ctx, const char *name);
/* Ends the saga: its row and its timeouts go. Ends the process: its timeouts go, its
 * events stay, the last one says so, and no message begins it anew. PAWL_EINVAL for an
 * entity, which has no end. */
PAWL_API pawl_code pawl_complete(pawl_context *ctx);
/* return pawl_retry_after(ctx, PAWL_SECONDS(5)); */
PAWL_API pawl_code pawl_retry_after(pawl_context *ctx, int64_t delay);
/* Why the handler fails, for the log and the dead letter; returns `code`. */
PAWL_API pawl_code pawl_fail(pawl_context *ctx, pawl_code code, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* Runs when the handlers of the message are done, before its effects are kept;
 * in the order of registration. An error fails the message. `data` must live
 * until then. */
typedef pawl_code  pawl_before_commit_fn(pawl_context *ctx, void *data);
PAWL_API pawl_code pawl_before_commit(pawl_context *ctx, pawl_before_commit_fn *call, void *data);

/* ---- What is known ------------------------------------------------------- */

/* Business time of the current message. */
PAWL_API pawl_time           pawl_now(const pawl_context *ctx);
PAWL_API const pawl_message *pawl_message_in_flight(const pawl_context *ctx);
/* Value of a header of the current message; data NULL when it has none. */
PAWL_API pawl_text pawl_header_value(pawl_context *ctx, const char *name);
/* Zero outside a saga. */
PAWL_API pawl_saga_id pawl_saga_id_in_flight(const pawl_context *ctx);
/* Version the saga was loaded at; 0 when this message begins it, and 1 when one before it in the same batch does. */
PAWL_API int64_t pawl_saga_version(const pawl_context *ctx);
/* The metadata of the current saga, as its row has it (S23): "SagaType", its name; "OriginalMessageId", the
 * message that began it; "Originator", the queue of the endpoint that sent that message. data NULL
 * when it says nothing, and without a current saga. Lives as long as the context. */
PAWL_API pawl_text pawl_saga_metadata(pawl_context *ctx, const char *name);
/* Partition of the aggregator whose flush runs now, else empty. */
PAWL_API pawl_text pawl_partition_in_flight(const pawl_context *ctx);
/* Delayed retries this message has behind it. */
PAWL_API int32_t pawl_attempts(const pawl_context *ctx);
/* The `user` of the endpoint's options. */
PAWL_API void *pawl_user(const pawl_context *ctx);
/* True when the endpoint is being stopped: a long handler should come to an end. */
PAWL_API bool pawl_stopping(const pawl_context *ctx);
/* Memory that lives until all handlers of the message have returned. */
PAWL_API pawl_arena *pawl_scratch(pawl_context *ctx);

/* ---- SQL of your own ------------------------------------------------------- */

/* The store's connection inside the transaction that pawl commits, for a handler, finder,
 * projection or aggregator that says .own_sql; NULL for one that does not, and when the store is
 * of another kind. An application that runs on several kinds requests one after the other. NULL in
 * the test kit's store in memory, too, where the request fails the message (PAWL_EUNSUPPORTED).
 * Lent until the handler returns: no commit, no rollback, no close. */
struct sqlite3;
struct pg_conn;
struct st_mysql;
PAWL_API struct sqlite3 *pawl_sqlite(pawl_context *ctx);   /* a sqlite3 * */
PAWL_API struct pg_conn *pawl_postgres(pawl_context *ctx); /* a PGconn * */
PAWL_API struct st_mysql *
pawl_mysql(pawl_context *ctx); /* a MYSQL * of libmariadb: MySQL and MariaDB */
/* The same for a driver that pawl does not know: `type` is what its table says in
 * native_type. NULL when it is another, or the driver says none. */
PAWL_API void *pawl_native(pawl_context *ctx, const char *type);

#ifdef __cplusplus
}
#endif
#endif
