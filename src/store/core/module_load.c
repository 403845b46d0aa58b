/* module_load.c - a module by its name, whether it is a file or linked into the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/module.h"

pawl_code pawl__module_load(const char *name, const char *what, const char *symbol, size_t size,
                            const void **table, pawl_error *error)
{
    char        path[PAWL__OBJECT_PATH_SIZE];
    char        absent[sizeof error->text];
    void       *module = NULL;
    const void *found  = NULL;
    if (!pawl__module_find(name, path))
        return pawl_error_set(error, PAWL_EUNREACHABLE, "no module for %s: %s", what,
                              pawl__module_absent(name, "", absent, sizeof absent));
    pawl_code code = pawl__module_open(path, symbol, size, &module, &found, error);
    if (code == PAWL_OK)
        *table = found;
    return code;
}
