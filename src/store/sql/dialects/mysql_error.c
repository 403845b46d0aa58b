/* mysql_error.c - error numbers of MySQL and MariaDB: the code of each, and what the server has undone.
 *
 * Numbers below 2000 and from 3000 on are the server's, those between, and from 5000 on, the client
 * library's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"

#define STATEMENT PAWL__SQL_STATEMENT_UNDONE
#define TRANSACTION PAWL__SQL_TRANSACTION_UNDONE
#define CONNECTION PAWL__SQL_CONNECTION_LOST

/* Sorted by number. */
static const pawl__sql_failure rows[] = {
    {1020, PAWL_EBUSY, STATEMENT},         /* the row is another than was read (MariaDB) */
    {1021, PAWL_EFULL, STATEMENT},         /* disk full */
    {1022, PAWL_EDUPLICATE, STATEMENT},    /* duplicate key */
    {1037, PAWL_ENOMEM, STATEMENT},        /* out of memory */
    {1038, PAWL_ENOMEM, STATEMENT},        /* out of memory for a sort */
    {1040, PAWL_EUNREACHABLE, CONNECTION}, /* too many connections */
    {1041, PAWL_ENOMEM, STATEMENT},        /* out of resources */
    {1044, PAWL_EDENIED, STATEMENT},       /* no right to the database */
    {1045, PAWL_EDENIED, CONNECTION},      /* user or password */
    {1047, PAWL_EUNREACHABLE, CONNECTION}, /* a node of Galera without its cluster */
    {1048, PAWL_EINVAL, STATEMENT},        /* null where none may be */
    {1049, PAWL_ENOTSTORE, STATEMENT},     /* no such database */
    {1053, PAWL_ELOST, CONNECTION},        /* the server is shutting down */
    {1054, PAWL_ESCHEMA, STATEMENT},       /* no such column */
    {1062, PAWL_EDUPLICATE, STATEMENT},    /* duplicate key */
    {1114, PAWL_EFULL, STATEMENT},         /* table full */
    {1129, PAWL_EUNREACHABLE, CONNECTION}, /* too many failed connections of this machine */
    {1130, PAWL_EDENIED, CONNECTION},      /* this machine may not connect */
    {1142, PAWL_EDENIED, STATEMENT},       /* no right to the table */
    {1143, PAWL_EDENIED, STATEMENT},       /* no right to the column */
    {1146, PAWL_ESCHEMA, STATEMENT},       /* no such table */
    {1152, PAWL_ELOST, CONNECTION},        /* connection aborted */
    {1153, PAWL_ELIMIT, CONNECTION},       /* over max_allowed_packet: the server hangs up */
    {1158, PAWL_ELOST, CONNECTION},        /* the server could not read */
    {1159, PAWL_ELOST, CONNECTION},        /* ... in time */
    {1160, PAWL_ELOST, CONNECTION},        /* the server could not write */
    {1161, PAWL_ELOST, CONNECTION},        /* ... in time */
    {1176, PAWL_ESCHEMA, STATEMENT},       /* no such index, which the statement names */
    {1194, PAWL_ENOTSTORE, STATEMENT},     /* a damaged table */
    {1203, PAWL_EUNREACHABLE, CONNECTION}, /* too many connections of the user */
    {1205, PAWL_EBUSY, STATEMENT},         /* lock wait; NOWAIT of MariaDB */
    {1206, PAWL_EBUSY, TRANSACTION},       /* too many locks */
    {1213, PAWL_EBUSY, TRANSACTION},       /* deadlock; a commit that Galera refuses */
    {1226, PAWL_EUNREACHABLE, CONNECTION}, /* a limit of the user */
    {1227, PAWL_EDENIED, STATEMENT},       /* a privilege is missing */
    {1235, PAWL_EUNSUPPORTED, STATEMENT},  /* not supported by this version */
    {1242, PAWL_EFENCED, STATEMENT},       /* a subquery with two rows: a guard */
    {1264, PAWL_EINVAL, STATEMENT},        /* number out of range */
    {1290, PAWL_EUNREACHABLE, STATEMENT},  /* --read-only: after a fail-over another server can be
                                              written to, so it is as a server that is away */
    {1292, PAWL_EINVAL, STATEMENT},        /* no time, no number */
    {1317, PAWL_ETIMEOUT, STATEMENT},      /* interrupted */
    {1366, PAWL_EINVAL, STATEMENT},        /* bytes that are no text */
    {1406, PAWL_EINVAL, STATEMENT},        /* text too long */
    {1412, PAWL_EBUSY, STATEMENT},         /* the table was altered since the transaction began */
    {1461, PAWL_EUNREACHABLE, STATEMENT},  /* max_prepared_stmt_count: there is room as soon as a
                                              session of any program ends */
    {1467, PAWL_EBUSY, TRANSACTION},       /* no next number: a deadlock about the lock of them */
    {1586, PAWL_EDUPLICATE, STATEMENT},    /* duplicate key */
    {1615, PAWL_EBUSY, STATEMENT},         /* a prepared statement is to be prepared anew */
    {1637, PAWL_EBUSY, STATEMENT},         /* too many transactions */
    {1698, PAWL_EDENIED, CONNECTION},      /* user or password */
    {1712, PAWL_ENOTSTORE, STATEMENT},     /* a damaged index */
    {1792, PAWL_EUNREACHABLE, CONNECTION}, /* a transaction that only reads: a setting of the
                                               session, which the next one does not have */
    {1820, PAWL_EDENIED, STATEMENT},       /* an expired password is to be changed */
    {1836, PAWL_EUNREACHABLE, STATEMENT},  /* a server that can only be read */
    {1862, PAWL_EDENIED, CONNECTION},      /* an expired password */
    {1877, PAWL_ENOTSTORE, STATEMENT},     /* a damaged table */
    {1927, PAWL_ELOST, CONNECTION},        /* the connection was killed (MariaDB) */
    {1969, PAWL_ETIMEOUT, STATEMENT},      /* max_statement_time (MariaDB) */
    {2002, PAWL_EUNREACHABLE, CONNECTION}, /* no server there */
    {2003, PAWL_EUNREACHABLE, CONNECTION}, /* the same */
    {2005, PAWL_EUNREACHABLE, CONNECTION}, /* no such host */
    {2006, PAWL_ELOST, CONNECTION},        /* the server has gone away */
    {2008, PAWL_ENOMEM, STATEMENT},        /* out of memory, here */
    {2012, PAWL_EUNREACHABLE, CONNECTION}, /* the server broke off before the log-in */
    {2013, PAWL_ELOST, CONNECTION},        /* lost while waiting for an answer */
    {2014, PAWL_EINVAL, STATEMENT},        /* rows of another statement were not read */
    {2020, PAWL_ELIMIT, CONNECTION},       /* an answer over the library's limit */
    {2026, PAWL_EUNREACHABLE, CONNECTION}, /* TLS */
    {2027, PAWL_ELOST, CONNECTION},        /* an answer that is none */
    {2055, PAWL_ELOST, CONNECTION},        /* lost, with the system's word for why */
    {2059, PAWL_EDENIED, CONNECTION},      /* a way to log in that the library does not have */
    {2061, PAWL_EDENIED, CONNECTION},      /* log-in failed */
    {3024, PAWL_ETIMEOUT, STATEMENT},      /* max_execution_time (MySQL) */
    {3101, PAWL_EBUSY, TRANSACTION},       /* a commit that group replication refuses */
    {3118, PAWL_EDENIED, CONNECTION},      /* a locked account (MySQL) */
    {3140, PAWL_EINVAL, STATEMENT},        /* no JSON (MySQL) */
    {3141, PAWL_EINVAL, STATEMENT},        /* the same, of a parameter */
    {3150, PAWL_EINVAL, STATEMENT},        /* a key of JSON of more than 65,535 bytes */
    {3157, PAWL_EINVAL, STATEMENT},        /* JSON of more than 100 levels */
    {3158, PAWL_EINVAL, STATEMENT},        /* a key of JSON that is null */
    {3572, PAWL_EBUSY, STATEMENT},         /* NOWAIT (MySQL) */
    {4025, PAWL_EINVAL, STATEMENT},        /* a check: no JSON (MariaDB) */
    {4031, PAWL_ELOST, CONNECTION},        /* idle for too long (MySQL) */
    {4151, PAWL_EDENIED, CONNECTION},      /* a locked account (MariaDB) */
    {5013, PAWL_ELOST, CONNECTION},        /* the library could not read */
    {5014, PAWL_ELOST, CONNECTION},        /* ... or write */
};

const pawl__sql_failures pawl__mysql_failures = {
    .rows         = rows,
    .count        = sizeof rows / sizeof rows[0],
    .null_number  = 1048,
    .large_number = 1153,
    .left         = STATEMENT,
    .unsure       = {1180}, /* an error during a commit */
    .sure         = {1047},
};
