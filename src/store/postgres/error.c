/* error.c - translates failures of the server and of libpq into codes of pawl.
 *
 * SQLSTATE decides, never the text (D37): texts are translated. store/sql/dialects/postgres_error.c has the codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/connection.h"
#include "store/sql/dialects/families.h"

#include <string.h>

#define READ_ONLY "25006" /* a standby refused a write; another server may accept it */

pawl_code pawl__pg_code_of(const char *state)
{
    const pawl__sql_failures *all = &pawl__pg_failures;
    if (state == NULL)
        return PAWL_EPERSIST;
    if (strcmp(state, "22012") == 0) /* division by zero: a guard of commit.c */
        return PAWL_EFENCED;
    /* Unexpected: no statement here uses a null violation as a guard, or follows a failed one. */
    if (strcmp(state, "23502") == 0 || strcmp(state, "25P02") == 0)
        return PAWL_EPERSIST;
    if (strncmp(state, "08", 2) == 0)
        return PAWL_ELOST;
    const pawl__sql_state *found = pawl__sql_find_state(all->states, all->state_count, state);
    return found != NULL ? found->code : PAWL_EPERSIST;
}

/* The size of libpq's text without the newline at its end. */
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

pawl_code pawl__pg_commit_failed(const PGconn *pg, const PGresult *result, pawl_error *error)
{
    pawl_code   code  = pawl__pg_failed(pg, result, "commit", error);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state == NULL || !pawl__sql_is_deferred(code, state))
        return code;
    error->code = PAWL_ECONFLICT;
    return PAWL_ECONFLICT;
}

pawl_code pawl__pg_no_memory(pawl_error *error)
{
    return pawl_error_set(error, PAWL_ENOMEM, "postgres: out of memory");
}
