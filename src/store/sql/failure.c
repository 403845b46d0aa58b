/* failure.c - maps an error number of a server to a code and to the state of the transaction. See failure.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sql/failure.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *number, const void *row)
{
    unsigned a = *(const unsigned *)number, b = ((const pawl__sql_failure *)row)->number;
    return (a > b) - (a < b);
}

static const pawl__sql_failure *find(const pawl__sql_failures *failures, unsigned number)
{
    return bsearch(&number, failures->rows, failures->count, sizeof *failures->rows, compare);
}

pawl_code pawl__sql_code_of(const pawl__sql_failures *failures, unsigned number,
                            pawl__sql_left *left)
{
    const pawl__sql_failure *row = find(failures, number);
    if (left != NULL)
        *left = row != NULL ? row->left : failures->left;
    return row != NULL ? row->code : PAWL_EPERSIST;
}

const pawl__sql_state *pawl__sql_find_state(const pawl__sql_state *states, size_t count,
                                            const char *state)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0)
            return &states[i];
    return NULL;
}

/* Classes of SQLSTATE: 58 is an error of the operating system, XX one inside the server. */
bool pawl__sql_is_deferred(pawl_code code, const char *state)
{
    return pawl_code_retry(code) != PAWL_RETRY_LATER && strncmp(state, "58", 2) != 0 &&
           strncmp(state, "XX", 2) != 0;
}

static bool is_among(const unsigned *numbers, unsigned number)
{
    while (*numbers != 0 && *numbers != number)
        numbers++;
    return *numbers != 0;
}

pawl_code pawl__sql_commit_code_of(const pawl__sql_failures *failures, unsigned number)
{
    const pawl__sql_failure *row = find(failures, number);
    pawl__sql_left           left;
    pawl_code                code = pawl__sql_code_of(failures, number, &left);
    bool is_unsure = left == PAWL__SQL_CONNECTION_LOST || (row == NULL && failures->is_unsure) ||
                     is_among(failures->unsure, number);
    return is_unsure && !is_among(failures->sure, number) ? PAWL_EUNKNOWN : code;
}
