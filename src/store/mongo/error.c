/* error.c - failures of libmongoc and of the server, as codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/mongo/mongo.h"

typedef struct server_code {
    uint32_t  number;
    pawl_code code;
} server_code;

/* Numbers of MongoDB's error codes. */
static const server_code server_codes[] = {
    {6, PAWL_ELOST},          /* HostUnreachable: a router cannot reach a shard */
    {7, PAWL_ELOST},          /* HostNotFound */
    {13, PAWL_EDENIED},       /* Unauthorized */
    {18, PAWL_EDENIED},       /* AuthenticationFailed */
    {24, PAWL_EBUSY},         /* LockTimeout */
    {43, PAWL_EBUSY},         /* CursorNotFound */
    {46, PAWL_EBUSY},         /* LockBusy */
    {50, PAWL_ETIMEOUT},      /* MaxTimeMSExpired */
    {52, PAWL_EINVAL},        /* DollarPrefixedFieldName: from MongoDB 4.4 */
    {64, PAWL_EUNREACHABLE},  /* WriteConcernFailed: written, but a majority has not said so */
    {85, PAWL_ESCHEMA},       /* IndexOptionsConflict */
    {86, PAWL_ESCHEMA},       /* IndexKeySpecsConflict */
    {89, PAWL_ELOST},         /* NetworkTimeout */
    {91, PAWL_ELOST},         /* ShutdownInProgress */
    {112, PAWL_EBUSY},        /* WriteConflict */
    {121, PAWL_EINVAL},       /* DocumentValidationFailure */
    {133, PAWL_ELOST},        /* FailedToSatisfyReadPreference */
    {134, PAWL_ELOST},        /* ReadConcernMajorityNotAvailableYet */
    {189, PAWL_ELOST},        /* PrimarySteppedDown */
    {202, PAWL_ELOST},        /* NetworkInterfaceExceededTimeLimit */
    {251, PAWL_EBUSY},        /* NoSuchTransaction */
    {262, PAWL_ETIMEOUT},     /* ExceededTimeLimit */
    {290, PAWL_ETIMEOUT},     /* TransactionExceededLifetimeLimitSeconds */
    {365, PAWL_EBUSY},        /* TemporarilyUnavailable */
    {9001, PAWL_ELOST},       /* SocketException */
    {10107, PAWL_ELOST},      /* NotWritablePrimary */
    {10334, PAWL_ELIMIT},     /* BSONObjectTooLarge */
    {11000, PAWL_EDUPLICATE}, /* DuplicateKey */
    {11600, PAWL_ELOST},      /* InterruptedAtShutdown */
    {11601, PAWL_ELOST},      /* Interrupted: by killOp, before the command finished */
    {11602, PAWL_ELOST},      /* InterruptedDueToReplStateChange */
    {13435, PAWL_ELOST},      /* NotPrimaryNoSecondaryOk */
    {13436, PAWL_ELOST},      /* NotPrimaryOrSecondary */
    {14031, PAWL_EFULL},      /* OutOfDiskSpace */
    {17280, PAWL_ELIMIT},     /* KeyTooLong */
    {17419, PAWL_ELIMIT},     /* an update's document is larger than 16 MB */
    {17420, PAWL_ELIMIT},     /* ... where it was replaced */
};

static pawl_code code_of(const bson_error_t *why)
{
    switch (why->domain) {
    case MONGOC_ERROR_CLIENT:
        return why->code == MONGOC_ERROR_CLIENT_AUTHENTICATE ? PAWL_EDENIED : PAWL_EPERSIST;
    case MONGOC_ERROR_STREAM: return PAWL_ELOST;
    case MONGOC_ERROR_SERVER_SELECTION: return PAWL_EUNREACHABLE;
    case MONGOC_ERROR_BSON: return PAWL_ELIMIT;
    default: break;
    }
    for (size_t i = 0; i < sizeof server_codes / sizeof server_codes[0]; i++)
        if (server_codes[i].number == why->code)
            return server_codes[i].code;
    return PAWL_EPERSIST;
}

static bool has_label(const bson_t *reply, const char *label)
{
    return reply != NULL && mongoc_error_has_label(reply, label);
}

/* Error numbers that are not in the table may have a label that marks them as transient. */
pawl_code pawl__mongo_fail(pawl_store *store, const bson_error_t *why, const bson_t *reply,
                           pawl_error *error)
{
    pawl__mongo *self  = pawl__mongo_of(store);
    pawl_code    code  = code_of(why);
    self->is_transient = has_label(reply, "TransientTransactionError");
    self->is_in_doubt  = has_label(reply, "UnknownTransactionCommitResult");
    if (code == PAWL_EPERSIST && self->is_transient)
        code = PAWL_EBUSY;
    if (code == PAWL_EPERSIST && has_label(reply, "RetryableWriteError"))
        code = PAWL_ELOST;
    self->is_duplicate = code == PAWL_EDUPLICATE;
    return pawl_error_set(error, code, "mongodb: %s", why->message);
}

pawl_code pawl__mongo_no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "mongodb: out of memory");
}
