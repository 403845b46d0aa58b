/* mssql_error.c - SQL Server's error numbers: the code of each, and what the server has undone.
 *
 * Sessions of pawl have xact_abort off: a failure of severity 16 and below undoes its statement, unless it
 * ends the batch, which rolls the transaction back. A number that is not in the table counts as one that
 * ends the batch, and the outcome of a commit that fails with it as unknown.
 * Numbers from 20000 on are FreeTDS's own, those from 50000 on pawl's.
 *
 * 266: a batch with parameters has changed the number of open transactions. No batch of pawl does, since
 * transactions begin and end in texts without parameters. If it comes all the same, it is unknown what is
 * open: the transaction is rolled back and repeated, and the outcome of a commit counts as unknown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"

#define STATEMENT PAWL__SQL_STATEMENT_UNDONE
#define TRANSACTION PAWL__SQL_TRANSACTION_UNDONE
#define CONNECTION PAWL__SQL_CONNECTION_LOST

/* Sorted by number. */
static const pawl__sql_failure rows[] = {
    {207, PAWL_ESCHEMA, STATEMENT},       /* no such column */
    {208, PAWL_ESCHEMA, STATEMENT},       /* no such table */
    {220, PAWL_EINVAL, TRANSACTION},      /* number out of range */
    {229, PAWL_EDENIED, STATEMENT},       /* no right to the table */
    {230, PAWL_EDENIED, STATEMENT},       /* no right to the column */
    {233, PAWL_ELOST, CONNECTION},        /* the server hung up */
    {241, PAWL_EINVAL, TRANSACTION},      /* no time */
    {242, PAWL_EINVAL, TRANSACTION},      /* a time out of range */
    {245, PAWL_EINVAL, TRANSACTION},      /* no number */
    {262, PAWL_EDENIED, STATEMENT},       /* no right to make something */
    {266, PAWL_EBUSY, TRANSACTION},       /* see above */
    {297, PAWL_EDENIED, STATEMENT},       /* no right to do this */
    {300, PAWL_EDENIED, STATEMENT},       /* no right to look at the server */
    {334, PAWL_EUNSUPPORTED, STATEMENT},  /* a trigger on the table, and an output clause */
    {515, PAWL_EINVAL, STATEMENT},        /* null where none may be */
    {547, PAWL_EINVAL, STATEMENT},        /* a check, or a foreign key */
    {596, PAWL_ELOST, CONNECTION},        /* the session was killed */
    {605, PAWL_ENOTSTORE, CONNECTION},    /* a damaged page */
    {628, PAWL_EBUSY, TRANSACTION},       /* a savepoint without a transaction */
    {701, PAWL_ENOMEM, TRANSACTION},      /* out of memory */
    {802, PAWL_ENOMEM, TRANSACTION},      /* out of buffers */
    {823, PAWL_ENOTSTORE, CONNECTION},    /* a damaged page */
    {824, PAWL_ENOTSTORE, CONNECTION},    /* the same */
    {911, PAWL_ENOTSTORE, CONNECTION},    /* no such database */
    {916, PAWL_EDENIED, CONNECTION},      /* the login is no user of the database */
    {927, PAWL_EUNREACHABLE, CONNECTION}, /* the database is being restored */
    {942, PAWL_EUNREACHABLE, CONNECTION}, /* the database is offline */
    {976, PAWL_EUNREACHABLE, CONNECTION}, /* a replica that takes no connections */
    {978, PAWL_EUNREACHABLE, CONNECTION}, /* a replica that can only be read */
    {983, PAWL_EUNREACHABLE, CONNECTION}, /* a replica in transition */
    {1101, PAWL_EFULL, TRANSACTION},      /* no page left */
    {1105, PAWL_EFULL, TRANSACTION},      /* no space left */
    {1204, PAWL_EBUSY, TRANSACTION},      /* out of locks */
    {1205, PAWL_EBUSY, TRANSACTION},      /* deadlock */
    {1222, PAWL_EBUSY, STATEMENT},        /* lock wait */
    {1505, PAWL_EDUPLICATE, STATEMENT},   /* a unique index over equal rows */
    {1934, PAWL_ECONFIG, STATEMENT},      /* settings that an index on some rows refuses */
    {2601, PAWL_EDUPLICATE, STATEMENT},   /* duplicate key of an index */
    {2627, PAWL_EDUPLICATE, STATEMENT},   /* duplicate key */
    {2628, PAWL_EINVAL, STATEMENT},       /* text too long */
    {3609, PAWL_EPERSIST, TRANSACTION},   /* a trigger ended it */
    {3621, PAWL_EPERSIST, STATEMENT},     /* the statement was ended */
    {3902, PAWL_EBUSY, TRANSACTION},      /* a commit without a transaction */
    {3903, PAWL_EBUSY, TRANSACTION},      /* a rollback without one */
    {3906, PAWL_EUNREACHABLE,
     CONNECTION},                       /* a database that can only be read: another server can be
                                              written to */
    {3930, PAWL_EBUSY, TRANSACTION},    /* the transaction can only be rolled back */
    {3960, PAWL_EBUSY, TRANSACTION},    /* the row changed since the snapshot */
    {3961, PAWL_EBUSY, TRANSACTION},    /* the table changed since the snapshot */
    {3998, PAWL_EBUSY, TRANSACTION},    /* rolled back at the end of a batch */
    {4060, PAWL_ENOTSTORE, CONNECTION}, /* no such database, or none for this login */
    {4064, PAWL_ENOTSTORE, CONNECTION}, /* the login's own database is not there */
    {6005, PAWL_EUNREACHABLE, CONNECTION},  /* the server is shutting down */
    {6102, PAWL_EDENIED, STATEMENT},        /* no right to end a session */
    {6401, PAWL_EBUSY, TRANSACTION},        /* no such savepoint */
    {8003, PAWL_ELIMIT, STATEMENT},         /* more than 2,100 parameters */
    {8114, PAWL_EINVAL, TRANSACTION},       /* a value of another type */
    {8115, PAWL_EINVAL, TRANSACTION},       /* number out of range */
    {8152, PAWL_EINVAL, STATEMENT},         /* text too long */
    {8628, PAWL_EBUSY, STATEMENT},          /* no time to make a plan */
    {8645, PAWL_EBUSY, STATEMENT},          /* no memory for the query within its time */
    {8651, PAWL_EBUSY, STATEMENT},          /* the same at once */
    {9001, PAWL_EPERSIST, CONNECTION},      /* the log is away */
    {9002, PAWL_EFULL, TRANSACTION},        /* the log is full */
    {10053, PAWL_ELOST, CONNECTION},        /* the network */
    {10054, PAWL_ELOST, CONNECTION},        /* the same */
    {10060, PAWL_EUNREACHABLE, CONNECTION}, /* the same, before there was a session */
    {10061, PAWL_EUNREACHABLE, CONNECTION}, /* nobody listens there */
    {10928, PAWL_EUNREACHABLE, CONNECTION}, /* Azure: a limit of the database */
    {10929, PAWL_EUNREACHABLE, CONNECTION}, /* the same */
    {11001, PAWL_EUNREACHABLE, CONNECTION}, /* no such host */
    {17142, PAWL_EUNREACHABLE, CONNECTION}, /* the server is paused */
    {17809, PAWL_EUNREACHABLE, CONNECTION}, /* too many connections */
    {18452, PAWL_EDENIED, CONNECTION},      /* a login of another domain */
    {18456, PAWL_EDENIED, CONNECTION},      /* user or password */
    {18461, PAWL_EUNREACHABLE, CONNECTION}, /* one user at a time */
    {18470, PAWL_EDENIED, CONNECTION},      /* the login is disabled */
    {18486, PAWL_EDENIED, CONNECTION},      /* the login is locked */
    {18487, PAWL_EDENIED, CONNECTION},      /* the password is too old */
    {18488, PAWL_EDENIED, CONNECTION},      /* the password has to be changed */
    {20003, PAWL_ETIMEOUT, CONNECTION},     /* FreeTDS: no answer in time */
    {20004, PAWL_ELOST, CONNECTION},        /* reading failed */
    {20006, PAWL_ELOST, CONNECTION},        /* writing failed */
    {20009, PAWL_EUNREACHABLE, CONNECTION}, /* nobody listens there */
    {20013, PAWL_EUNREACHABLE, CONNECTION}, /* no such host */
    {20014, PAWL_EDENIED, CONNECTION},      /* user or password */
    {20017, PAWL_ELOST, CONNECTION},        /* an answer that ends too early */
    {40197, PAWL_EUNREACHABLE, CONNECTION}, /* Azure: the database moves */
    {40501, PAWL_EUNREACHABLE, CONNECTION}, /* the service is busy */
    {40613, PAWL_EUNREACHABLE, CONNECTION}, /* the database is away */
    {50001, PAWL_EBUSY, TRANSACTION},       /* the transaction is another one than was begun */
};

const pawl__sql_failures pawl__mssql_failures = {
    .rows        = rows,
    .count       = sizeof rows / sizeof rows[0],
    .null_number = 515,
    .left        = TRANSACTION,
    .is_unsure   = true,
    .unsure      = {266, 3609, 3621},
    .sure        = {3906},
};
