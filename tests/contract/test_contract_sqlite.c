/* test_contract_sqlite.c - the contract suite on the SQLite store, each case on
 * a file of its own in a fresh folder. Skips when the driver is not there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contract/suite_main.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIPPED 77

static void fresh(const suite_fixture *fixture, unsigned number, suite_address *address)
{
    snprintf(address->url, sizeof address->url, "sqlite:%s/case-%u.db",
             (const char *)fixture->context, number);
}

/* Removes the files of the case, the lock file beside the database included. */
static pawl_code drop(const suite_fixture *fixture, const suite_address *address,
                      const pawl_schema_spec *spec, pawl_error *error)
{
    const char *folder = fixture->context;
    DIR        *open   = opendir(folder);
    if (open == NULL)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "%s: cannot be read", folder);
    for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
        char path[2000];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    closedir(open);
    return PAWL_OK;
}

/* Whether the driver can be had; says why when it cannot. */
static bool has_driver(void)
{
    pawl_store *store = NULL;
    pawl_error  error = PAWL_ERROR_INIT;
    pawl_code   code  = pawl_store_open("sqlite::memory:", NULL, &store, &error);
    pawl_store_close(store);
    if (code != PAWL_EUNREACHABLE)
        return true;
    printf("sqlite: skipped: %s\n", error.text);
    return false;
}

int main(int argument_count, char **arguments)
{
    const char *required = getenv("PAWL_REQUIRE");
    const char *base     = getenv("TMPDIR");
    char        folder[500];
    if (!has_driver())
        return required != NULL && strcmp(required, "all") == 0 ? 1 : SKIPPED;
    snprintf(folder, sizeof folder, "%s/pawl-contract-XXXXXX", base != NULL ? base : P_tmpdir);
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return 1;
    }
    const suite_fixture fixture = {
        .name = "sqlite", .context = folder, .fresh = fresh, .drop = drop};
    int result = suite_main(&fixture, argument_count, arguments);
    rmdir(folder);
    return result;
}
