/* postgres_error.c - SQLSTATEs of PostgreSQL: the code of each. The first entry that fits counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"

#define TRANSACTION PAWL__SQL_TRANSACTION_UNDONE
#define CONNECTION PAWL__SQL_CONNECTION_LOST

/* PostgreSQL has no numbers. A failed statement undoes its transaction to a savepoint. */
static const pawl__sql_state states[] = {
    {"23505", PAWL_EDUPLICATE, TRANSACTION},  /* unique violation */
    {"23502", PAWL_EINVAL, TRANSACTION},      /* null where none may be */
    {"40001", PAWL_EBUSY, TRANSACTION},       /* serialisation failure */
    {"40P01", PAWL_EBUSY, TRANSACTION},       /* deadlock */
    {"55P03", PAWL_EBUSY, TRANSACTION},       /* lock timeout */
    {"55006", PAWL_EBUSY, TRANSACTION},       /* object in use */
    {"57014", PAWL_ETIMEOUT, TRANSACTION},    /* cancelled */
    {"57P03", PAWL_EUNREACHABLE, CONNECTION}, /* starting up */
    {"57P", PAWL_ELOST, CONNECTION},          /* the server ended the session */
    {"25P03", PAWL_ELOST, CONNECTION},        /* idle in a transaction for too long */
    {"25P04", PAWL_ELOST, CONNECTION},        /* a transaction that took too long */
    {"25006", PAWL_EUNREACHABLE, CONNECTION}, /* read only: another server can be written to */
    {"25P02", PAWL_EBUSY, TRANSACTION},       /* the transaction was undone before */
    {"28", PAWL_EDENIED, CONNECTION},
    {"42501", PAWL_EDENIED, TRANSACTION},
    {"3D000", PAWL_ENOTSTORE, CONNECTION}, /* no such database */
    {"3B001", PAWL_EINVAL, TRANSACTION}, /* no such savepoint: a handler's own SQL went beyond it */
    {"3F000", PAWL_ESCHEMA, TRANSACTION}, /* no such schema */
    {"42P01", PAWL_ESCHEMA, TRANSACTION}, /* no such table */
    {"42703", PAWL_ESCHEMA, TRANSACTION}, /* no such column */
    {"42883", PAWL_ESCHEMA, TRANSACTION}, /* no such function */
    {"42804", PAWL_ESCHEMA, TRANSACTION}, /* a column of another type */
    {"42P10", PAWL_ESCHEMA, TRANSACTION}, /* no unique index for "on conflict" */
    {"53100", PAWL_EFULL, TRANSACTION},   /* disk full */
    {"53200", PAWL_ENOMEM, TRANSACTION},
    {"53300", PAWL_EUNREACHABLE, CONNECTION}, /* too many connections */
    {"53", PAWL_EBUSY, TRANSACTION},          /* other resources */
    {"54", PAWL_ELIMIT, TRANSACTION},
    {"22", PAWL_EINVAL, TRANSACTION},       /* bytes that are no text, and the like */
    {"58", PAWL_ENOTSTORE, TRANSACTION},    /* a file that is missing, or cannot be read */
    {"XX001", PAWL_ENOTSTORE, TRANSACTION}, /* damaged data */
    {"XX002", PAWL_ENOTSTORE, TRANSACTION}, /* a damaged index */
    {"0A000", PAWL_EUNSUPPORTED, TRANSACTION},
};

const pawl__sql_failures pawl__pg_failures = {
    .states      = states,
    .state_count = sizeof states / sizeof states[0],
    .left        = TRANSACTION,
};
