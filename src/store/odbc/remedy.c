/* remedy.c - advice to whoever could not connect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/odbc/driver.h"

#include <string.h>

typedef struct remedy_row {
    pawl_code   code;
    const char *state; /* begins so */
    const char *text;
} remedy_row;

/* The first that fits. */
static const remedy_row remedies[] = {
    {PAWL_EUNREACHABLE, "IM002",
     "; 'odbcinst -q -s' lists the data sources that there are, 'odbcinst -q -d' the drivers"},
    {PAWL_EUNREACHABLE, "01000",
     "; install the driver, or name its file by driver= or Driver=: 'odbcinst -q -d' lists those that are "
     "known"},
    {PAWL_EUNREACHABLE, "",
     "; see that the server runs, and that host and port of the connection string or the data "
     "source are its own"},
    {PAWL_EDENIED, "",
     "; see that user and password are right, and that the server lets this user in from here"},
    {PAWL_ENOTSTORE, "", "; make the database, or name another one by Database="},
    {PAWL_ECONFIG, "", "; see that the connection string is as the driver wants it"},
};

const char *pawl__odbc_remedy(pawl_code code, const char *state)
{
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
        if (remedies[i].code == code &&
            strncmp(state, remedies[i].state, strlen(remedies[i].state)) == 0)
            return remedies[i].text;
    return "";
}
