/* oracle_error.c - Oracle's error numbers: the code of each, and what the server has undone.
 *
 * A failed statement, a whole block included, is undone alone, and the transaction goes on. After a deadlock
 * the locks before it stay, and the other session waits on: the transaction is to be rolled back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/dialects/families.h"

#define STATEMENT PAWL__SQL_STATEMENT_UNDONE
#define TRANSACTION PAWL__SQL_TRANSACTION_UNDONE
#define CONNECTION PAWL__SQL_CONNECTION_LOST

/* Sorted by number. */
static const pawl__sql_failure rows[] = {
    {1, PAWL_EDUPLICATE, STATEMENT},        /* a unique key */
    {18, PAWL_EUNREACHABLE, CONNECTION},    /* too many sessions */
    {20, PAWL_EUNREACHABLE, CONNECTION},    /* too many processes */
    {28, PAWL_ELOST, CONNECTION},           /* the session was killed */
    {31, PAWL_ELOST, CONNECTION},           /* ... is marked for it */
    {51, PAWL_EBUSY, STATEMENT},            /* a resource was waited for too long */
    {54, PAWL_EBUSY, STATEMENT},            /* nowait; the wait of a script for a table */
    {60, PAWL_EBUSY, TRANSACTION},          /* deadlock */
    {603, PAWL_ELOST, CONNECTION},          /* the session ended by a fatal error */
    {904, PAWL_ESCHEMA, STATEMENT},         /* no such column */
    {942, PAWL_ESCHEMA, STATEMENT},         /* no such table, or no right to it */
    {1000, PAWL_ELIMIT, STATEMENT},         /* open_cursors */
    {1012, PAWL_ELOST, CONNECTION},         /* not logged on */
    {1013, PAWL_ETIMEOUT, STATEMENT},       /* cancelled */
    {1017, PAWL_EDENIED, CONNECTION},       /* user or password */
    {1031, PAWL_EDENIED, STATEMENT},        /* a privilege is missing */
    {1033, PAWL_EUNREACHABLE, CONNECTION},  /* starting up or shutting down */
    {1034, PAWL_EUNREACHABLE, CONNECTION},  /* not started */
    {1035, PAWL_EDENIED, CONNECTION},       /* a restricted session alone */
    {1045, PAWL_EDENIED, CONNECTION},       /* no right to a session */
    {1089, PAWL_ELOST, CONNECTION},         /* shutting down at once */
    {1092, PAWL_ELOST, CONNECTION},         /* the instance ended */
    {1109, PAWL_EUNREACHABLE, CONNECTION},  /* not open */
    {1400, PAWL_EINVAL, STATEMENT},         /* null where none may be */
    {1407, PAWL_EINVAL, STATEMENT},         /* the same of an update */
    {1438, PAWL_EINVAL, STATEMENT},         /* number out of range */
    {1461, PAWL_ELIMIT, STATEMENT},         /* a text over 4,000 bytes where none may be */
    {1536, PAWL_EFULL, STATEMENT},          /* quota of the user */
    {1555, PAWL_EBUSY, STATEMENT},          /* snapshot too old */
    {1578, PAWL_ENOTSTORE, STATEMENT},      /* a damaged block */
    {1591, PAWL_EBUSY, STATEMENT},          /* locked by a transaction in doubt */
    {1653, PAWL_EFULL, STATEMENT},          /* no room for a table */
    {1654, PAWL_EFULL, STATEMENT},          /* ... for an index */
    {1691, PAWL_EFULL, STATEMENT},          /* ... for long values */
    {2014, PAWL_EUNSUPPORTED, STATEMENT},   /* rows of a view cannot be locked */
    {2049, PAWL_EBUSY, STATEMENT},          /* a lock of a distributed transaction */
    {2091, PAWL_ECONFLICT, TRANSACTION},    /* a commit was rolled back: a deferred constraint */
    {2391, PAWL_EUNREACHABLE, CONNECTION},  /* too many sessions of the user */
    {2396, PAWL_ELOST, CONNECTION},         /* idle for too long */
    {2399, PAWL_ELOST, CONNECTION},         /* connected for too long */
    {3113, PAWL_ELOST, CONNECTION},         /* end of file on the channel */
    {3114, PAWL_ELOST, CONNECTION},         /* not connected */
    {3135, PAWL_ELOST, CONNECTION},         /* lost contact */
    {4020, PAWL_EBUSY, STATEMENT},          /* deadlock about an object, with no row */
    {4021, PAWL_EBUSY, STATEMENT},          /* an object was waited for too long */
    {6502, PAWL_EINVAL, STATEMENT},         /* a value that does not fit into its variable */
    {6550, PAWL_ESCHEMA, STATEMENT},        /* a block that names what is not there */
    {8177, PAWL_EBUSY, TRANSACTION},        /* serialisation failure */
    {12154, PAWL_ECONFIG, CONNECTION},      /* no such name in tnsnames.ora */
    {12170, PAWL_EUNREACHABLE, CONNECTION}, /* time-out of connecting */
    {12505, PAWL_ENOTSTORE, CONNECTION},    /* the listener knows no such SID */
    {12514, PAWL_ENOTSTORE, CONNECTION},    /* ... no such service */
    {12516, PAWL_EUNREACHABLE, CONNECTION}, /* ... no free handler */
    {12519, PAWL_EUNREACHABLE, CONNECTION}, /* the same */
    {12520, PAWL_EUNREACHABLE, CONNECTION}, /* the same */
    {12528, PAWL_EUNREACHABLE, CONNECTION}, /* the instance takes no connections */
    {12535, PAWL_EUNREACHABLE, CONNECTION}, /* time-out */
    {12537, PAWL_ELOST, CONNECTION},        /* closed */
    {12541, PAWL_EUNREACHABLE, CONNECTION}, /* no listener */
    {12543, PAWL_EUNREACHABLE, CONNECTION}, /* no such host */
    {12545, PAWL_EUNREACHABLE, CONNECTION}, /* the same */
    {12547, PAWL_ELOST, CONNECTION},        /* lost contact */
    {12560, PAWL_EUNREACHABLE, CONNECTION}, /* the protocol failed */
    {12570, PAWL_ELOST, CONNECTION},        /* could not read */
    {12571, PAWL_ELOST, CONNECTION},        /* could not write */
    {12609, PAWL_ELOST, CONNECTION},        /* time-out of an answer */
    {12899, PAWL_EINVAL, STATEMENT},        /* text too long */
    {16000, PAWL_EUNREACHABLE,
     CONNECTION},                      /* opened to be read only: another one can be written to */
    {24816, PAWL_ELIMIT, STATEMENT},   /* a long text behind a long value */
    {25402, PAWL_EBUSY, TRANSACTION},  /* fail-over: the transaction is to be rolled back */
    {25408, PAWL_ELOST, CONNECTION},   /* fail-over: nobody knows what was done */
    {28000, PAWL_EDENIED, CONNECTION}, /* the account is locked */
    {28001, PAWL_EDENIED, CONNECTION}, /* the password is too old */
    {28759, PAWL_ECONFIG, CONNECTION}, /* the wallet cannot be opened */
    {28860, PAWL_EUNREACHABLE, CONNECTION}, /* TLS */
    {29024, PAWL_EUNREACHABLE, CONNECTION}, /* a certificate that is not trusted */
    {30006, PAWL_EBUSY, STATEMENT},         /* a row was waited for too long */
    {30036, PAWL_EFULL, STATEMENT},         /* no room for undo */
    {30926, PAWL_EBUSY, TRANSACTION},       /* a merge whose rows change under it */
    {40441, PAWL_EINVAL, STATEMENT},        /* no JSON */
};

const pawl__sql_failures pawl__oracle_failures = {
    .rows        = rows,
    .count       = sizeof rows / sizeof rows[0],
    .null_number = 1400,
    .left        = STATEMENT,
    .unsure      = {1013}, /* a commit that was cancelled may be there, too */
    .sure        = {16000},
};
