/* module.c - where the modules of pawl lie: drivers, and the one that shows
 * metrics.
 *
 * This file reads one environment variable, PAWL_DRIVER_PATH, because drivers
 * are found before there is a runtime that could hand it down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/core.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PAWL_DRIVER_DIR
#define PAWL_DRIVER_DIR "/usr/local/lib/pawl"
#endif

static const char here[] = "an address in the library";

/* Whether `folder` (of `size` bytes) holds the module of that name. */
static bool find_module(const char *folder, size_t size, const char *name,
                        char path[PAWL__MODULE_PATH_SIZE])
{
    int length =
        snprintf(path, PAWL__MODULE_PATH_SIZE, "%.*s/libpawl-%s.so", (int)size, folder, name);
    return size != 0 && length < PAWL__MODULE_PATH_SIZE && access(path, F_OK) == 0;
}

static bool find_in_own_folder(const char *name, char path[PAWL__MODULE_PATH_SIZE])
{
    Dl_info info;
    if (dladdr(here, &info) == 0 || info.dli_fname == NULL)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    return slash != NULL &&
           find_module(info.dli_fname, (size_t)(slash - info.dli_fname), name, path);
}

/* The folders in their order: those of PAWL_DRIVER_PATH, separated by colons,
 * the library's own, the one it was built for. */
bool pawl__module_find(const char *name, char path[PAWL__MODULE_PATH_SIZE])
{
    const char *folders = secure_getenv("PAWL_DRIVER_PATH");
    while (folders != NULL && *folders != '\0') {
        size_t size = strcspn(folders, ":");
        if (find_module(folders, size, name, path))
            return true;
        folders += size;
        if (*folders == ':')
            folders++;
    }
    return find_in_own_folder(name, path) ||
           find_module(PAWL_DRIVER_DIR, strlen(PAWL_DRIVER_DIR), name, path);
}
