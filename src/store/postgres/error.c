/* error.c - failures of the server and of libpq as codes of pawl.
 *
 * SQLSTATE decides, never the text (D37): texts are translated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/connection.h"

#include <string.h>

typedef struct state_row {
    const char *state; /* five characters, or the two of a class */
    pawl_code   code;
} state_row;

#define READ_ONLY "25006"

/* SQLSTATEs in the order in which they are compared: the first row that fits. */
static const state_row states[] = {
    {"23505", PAWL_EDUPLICATE},   /* unique violation */
    {"40001", PAWL_EBUSY},        /* serialisation failure */
    {"40P01", PAWL_EBUSY},        /* deadlock */
    {"55P03", PAWL_EBUSY},        /* lock timeout */
    {"55006", PAWL_EBUSY},        /* object in use */
    {"57014", PAWL_ETIMEOUT},     /* cancelled: by a statement timeout, or by wire.c */
    {"57P01", PAWL_ELOST},        /* the back end was ended */
    {"57P02", PAWL_ELOST},        /* crash of the server */
    {"57P03", PAWL_EUNREACHABLE}, /* starting up */
    {"57P04", PAWL_ELOST},
    {"57P05", PAWL_ELOST}, /* idle session timeout */
    {"25P03", PAWL_ELOST}, /* idle in transaction timeout */
    {READ_ONLY,
     PAWL_EUNREACHABLE}, /* like a server that is away: after a fail-over another server can be written to */
    {"08", PAWL_ELOST},
    {"28", PAWL_EDENIED},
    {"42501", PAWL_EDENIED},
    {"3D000", PAWL_ENOTSTORE}, /* no such database */
    {"3F000", PAWL_ESCHEMA},   /* no such schema */
    {"42P01", PAWL_ESCHEMA},   /* no such table */
    {"42703", PAWL_ESCHEMA},   /* no such column */
    {"42883", PAWL_ESCHEMA},   /* no such function */
    {"42804", PAWL_ESCHEMA},   /* a column of another type */
    {"42P10", PAWL_ESCHEMA},   /* no unique index for "on conflict" */
    {"53100", PAWL_EFULL},     /* disk full */
    {"53200", PAWL_ENOMEM},
    {"53300", PAWL_EUNREACHABLE}, /* too many connections */
    {"53", PAWL_EBUSY},
    {"54", PAWL_ELIMIT},
    {"22012", PAWL_EFENCED}, /* division by zero: a guard of commit.c */
    {"22021", PAWL_EINVAL},  /* bytes that are no text */
    {"22P05", PAWL_EINVAL},  /* a character that cannot be stored: \u0000 in JSON */
    {"22", PAWL_EINVAL},
    {"0A000", PAWL_EUNSUPPORTED},
};

pawl_code pawl__pg_code_of(const char *state)
{
    if (state == NULL)
        return PAWL_EPERSIST;
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0)
            return states[i].code;
    return PAWL_EPERSIST;
}

/* libpq's texts may have several lines, and end with a newline. */
static int text_size(const char *text)
{
    size_t size = strlen(text);
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == ' '))
        size--;
    return (int)size;
}

bool pawl__pg_is_forgotten(const PGresult *result)
{
    const char *state    = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    if (state == NULL)
        return false;
    return strcmp(state, "26000") == 0 || (strcmp(state, "0A000") == 0 && function != NULL &&
                                           strcmp(function, "RevalidateCachedQuery") == 0);
}

bool pawl__pg_is_read_only(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state != NULL && strcmp(state, READ_ONLY) == 0;
}

/* The first line of DETAIL. It is left out for values that do not fit ("failing row contains ..."):
 * they may be a message's body. */
static const char *detail_of(const PGresult *result, const char *state, int *size)
{
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    bool is_value = state != NULL && (strncmp(state, "22", 2) == 0 || strcmp(state, "23502") == 0 ||
                                      strcmp(state, "23514") == 0);
    *size         = detail != NULL ? (int)strcspn(detail, "\n") : 0;
    return is_value ? NULL : detail;
}

static pawl_code server_failed(const PGresult *result, const char *what, pawl_error *error)
{
    int         size    = 0;
    const char *state   = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail  = detail_of(result, state, &size);
    const char *text    = primary != NULL ? primary : PQresultErrorMessage(result);
    pawl_code   code    = state != NULL ? pawl__pg_code_of(state) : PAWL_ELOST;
    if (pawl__pg_is_forgotten(result))
        code = PAWL_EBUSY;
    if (pawl__pg_is_read_only(result) && what[0] == '\0')
        what = "the server can only be read now";
    return pawl_error_set(error, code, "postgres: %s%s%.*s%s%.*s%s%s%s%s", what,
                          what[0] != '\0' ? ": " : "", text_size(text), text,
                          detail != NULL ? " (" : "", size, detail != NULL ? detail : "",
                          detail != NULL ? ")" : "", state != NULL ? " [" : "",
                          state != NULL ? state : "", state != NULL ? "]" : "");
}

pawl_code pawl__pg_failed(const PGconn *pg, const PGresult *result, const char *what,
                          pawl_error *error)
{
    if (result != NULL)
        return server_failed(result, what, error);
    const char *text = pg != NULL ? PQerrorMessage(pg) : "no memory for a connection";
    return pawl_error_set(error, PAWL_ELOST, "postgres: %s%s%.*s", what,
                          what[0] != '\0' ? ": " : "", text_size(text), text);
}

pawl_code pawl__pg_no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "postgres: out of memory");
}
