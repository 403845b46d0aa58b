/* context.h - the calls of a handler: effects (sends, timeouts, completion) and queries about its message.
 *
 * Effects are recorded, and the commit applies all of them or none. The call of an effect that is refused
 * (a name too long, a body that cannot be encoded) returns an error, and the message fails even if
 * the handler ignores that error. Arguments are borrowed for the call, unless a comment says otherwise.
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
    pawl_time due;   /* instead of a delay; 0: none; seconds or milliseconds are refused */
    /* NULL: made by pawl. A message with an id that is in the queue, or that the endpoint handled within
     * inbox_retention, is dropped without an error. */
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
/* Sends a body that is JSON already, byte for byte; the program need not have a record of the type. NULL
 * options: none. PAWL_EINVAL: the body is no JSON, or the type is empty or too long. If the handler's row
 * has .does, that must have a record of the type. */
PAWL_API pawl_code pawl_send_json(pawl_context *ctx, const char *destination,
                                  const pawl_send_options *options, const char *type,
                                  pawl_text json);
/* To every queue that subscribes to the type or one of its base types. */
PAWL_API pawl_code pawl_publish(pawl_context *ctx, const pawl_record *record, const void *message);
/* The same id, due time and headers in every queue. NULL options: none. */
PAWL_API pawl_code pawl_publish_with(pawl_context *ctx, const pawl_send_options *options,
                                     const pawl_record *record, const void *message);
/* Sends to the queue in the current message's header "pawl.reply_to", which each send by a handler sets to its
 * endpoint's queue. PAWL_EINVAL: the message has no such header. */
PAWL_API pawl_code pawl_reply(pawl_context *ctx, const pawl_record *record, const void *message);
PAWL_API pawl_code pawl_reply_with(pawl_context *ctx, const pawl_send_options *options,
                                   const pawl_record *record, const void *message);
/* Sends to the endpoint that sent the message which began the current saga (S23). PAWL_EINVAL: there is no
 * current saga, or that message had no header "pawl.reply_to", as from a sender outside of handlers. Processes and
 * entities have no originator: store its queue in an event. */
PAWL_API pawl_code pawl_reply_to_originator(pawl_context *ctx, const pawl_record *record,
                                            const void *message);
/* Sends at once, in a commit of its own, whether the current message succeeds or fails (E23). If the handler has a
 * transaction (own SQL, a pessimistic saga), another connection sends. SQLite lets no other connection write
 * then: there the message is sent by the commit that settles the current one, failed or not. If the
 * program ends before that commit, the current message is handled and sends again. PAWL_OK: sent, or to be sent
 * by that commit. Other codes fail the current message, as any effect that is refused. */
PAWL_API pawl_code pawl_send_now(pawl_context *ctx, const char *destination,
                                 const pawl_record *record, const void *message);

/* Sets the timeout `name` of the current saga or process, or sets it again. `delay` is microseconds of business
 * time; below zero: none. PAWL_EINVAL: the saga or process has no handler for it, or there is only an entity. */
PAWL_API pawl_code pawl_timeout(pawl_context *ctx, const char *name, int64_t delay);
/* The same with a due time. PAWL_EINVAL also: `due` is in seconds (as of time()) or milliseconds, not microseconds. */
PAWL_API pawl_code pawl_timeout_at(pawl_context *ctx, const char *name, pawl_time due);
/* Cancels the timeout of that name; harmless if it is not set. PAWL_EINVAL: the name is empty. */
PAWL_API pawl_code pawl_cancel_timeout(pawl_context *ctx, const char *name);
/* Completes the current saga or process and deletes its timeouts. A saga's row is deleted. A process keeps its
 * events; the last one records the end, and no message starts it again. PAWL_EINVAL: an entity cannot end. */
PAWL_API pawl_code pawl_complete(pawl_context *ctx);
/* Has the message run again after `delay`, microseconds: return pawl_retry_after(ctx, PAWL_SECONDS(5)); */
PAWL_API pawl_code pawl_retry_after(pawl_context *ctx, int64_t delay);
/* Sets the error text of a failing handler, for the log and the dead letter; returns `code`, or PAWL_EINVAL for
 * PAWL_OK, as a handler that returns it has to fail. */
PAWL_API pawl_code pawl_fail(pawl_context *ctx, pawl_code code, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* Registers a function that runs after all handlers of the message, before its effects are kept; several run
 * in the order of registration. If it returns an error, the message fails. `data` must live until then. */
typedef pawl_code  pawl_before_commit_fn(pawl_context *ctx, void *data);
PAWL_API pawl_code pawl_before_commit(pawl_context *ctx, pawl_before_commit_fn *call, void *data);

/* ---- Queries ------------------------------------------------------------- */

/* Business time of the current message. */
PAWL_API pawl_time           pawl_now(const pawl_context *ctx);
PAWL_API const pawl_message *pawl_message_in_flight(const pawl_context *ctx);
/* Value of a header of the current message; data NULL when it has none. Lives as long as the context. */
PAWL_API pawl_text pawl_header_value(pawl_context *ctx, const char *name);
/* The id of the current saga; zero outside a saga. */
PAWL_API pawl_saga_id pawl_saga_id_in_flight(const pawl_context *ctx);
/* Version of the saga before this commit; 0 when this message begins it, 1 when an earlier message of the batch did. */
PAWL_API int64_t pawl_saga_version(const pawl_context *ctx);
/* A value of the current saga's metadata (S23): "SagaType", its name; "OriginalMessageId", the message that
 * began it; "Originator", the queue of the endpoint that sent that message. data NULL: the metadata has no
 * such value, or there is no current saga. Lives as long as the context. */
PAWL_API pawl_text pawl_saga_metadata(pawl_context *ctx, const char *name);
/* Partition of the aggregator whose flush runs now, else empty. */
PAWL_API pawl_text pawl_partition_in_flight(const pawl_context *ctx);
/* Number of delayed retries of the current message so far. */
PAWL_API int32_t pawl_attempts(const pawl_context *ctx);
/* The `user` of the endpoint's options. */
PAWL_API void *pawl_user(const pawl_context *ctx);
/* True when the endpoint is being stopped: a long handler should return soon. */
PAWL_API bool pawl_stopping(const pawl_context *ctx);
/* Memory that lives until all handlers of the message have returned. */
PAWL_API pawl_arena *pawl_scratch(pawl_context *ctx);

/* ---- SQL of your own ------------------------------------------------------- */

/* The store's connection inside the transaction that pawl commits, for a handler, finder, projection or
 * aggregator with .own_sql. NULL without .own_sql, and on another kind of store: an application for
 * several kinds tries one function after the other. In the test kit's memory store the answer is NULL, and the
 * message fails with PAWL_EUNSUPPORTED. Lent until the handler returns: do not commit, roll back or close it. */
struct sqlite3;
struct pg_conn;
struct st_mysql;
PAWL_API struct sqlite3 *pawl_sqlite(pawl_context *ctx);   /* a sqlite3 * */
PAWL_API struct pg_conn *pawl_postgres(pawl_context *ctx); /* a PGconn * */
PAWL_API struct st_mysql *
pawl_mysql(pawl_context *ctx); /* a MYSQL * of libmariadb: MySQL and MariaDB */
/* The same for other drivers: `type` is the native_type of the driver's table (store_driver.h). NULL: the store's
 * driver has another type, or none. */
PAWL_API void *pawl_native(pawl_context *ctx, const char *type);

#ifdef __cplusplus
}
#endif
#endif
