/* application.c - loading an application from a shared object.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/cli.h"

#include "base/object.h"

#include <string.h>

typedef const pawl_application *export_fn(void);

static void *open_library(const char *path, pawl_error *error)
{
    char      here[PAWL__OBJECT_PATH_SIZE];
    void     *library = NULL;
    pawl_code code    = pawl__object_path(path, "application", here, error);
    if (code == PAWL_OK)
        code = pawl__object_open(here, &library, error);
    if (code != PAWL_OK)
        (void)pawl_error_wrap(error, PAWL_ECONFIG, "cannot load %s", path);
    return library;
}

static pawl_code check_application(const char *path, const pawl_application *application,
                                   pawl_error *error)
{
    if (application == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "%s exports no application", path);
    if (application->abi != PAWL_ABI)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s was built for ABI %u of pawl, this command has ABI %u; "
                              "build it again with the headers of pawl %s",
                              path, application->abi, PAWL_ABI, pawl_version());
    pawl_code code = pawl_application_check(application, error);
    if (code != PAWL_OK)
        return pawl_error_wrap(error, code, "%s", path);
    if (application->endpoints == NULL || application->endpoints[0] == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "the application of %s has no endpoints", path);
    return PAWL_OK;
}

pawl_code pawl__application_load(const char *path, pawl__loaded *loaded, pawl_error *error)
{
    *loaded         = (pawl__loaded){NULL, NULL};
    loaded->library = open_library(path, error);
    if (loaded->library == NULL)
        return PAWL_ECONFIG;
    void      *symbol   = NULL;
    export_fn *exported = NULL;
    pawl_code  code =
        pawl__object_function(loaded->library, path, PAWL_APPLICATION_SYMBOL, &symbol, error);
    if (code == PAWL_OK) {
        memcpy(&exported, &symbol, sizeof exported); /* ISO C cannot cast it to a function */
        loaded->application = exported();
        code                = check_application(path, loaded->application, error);
    } else if (code == PAWL_ENOTFOUND) {
        code = pawl_error_set(error, PAWL_ECONFIG,
                              "%s is not an application: it does not say PAWL_EXPORT_APPLICATION",
                              path);
    }
    if (code != PAWL_OK)
        pawl__application_unload(loaded);
    return code;
}

void pawl__application_unload(pawl__loaded *loaded)
{
    if (loaded->library != NULL)
        dlclose(loaded->library);
    *loaded = (pawl__loaded){NULL, NULL};
}

#define ENDPOINTS_SHOWN_MAX 32

pawl_code pawl__application_check_endpoint(const pawl_application *application, const char *name,
                                           pawl_error *error)
{
    const char *names[ENDPOINTS_SHOWN_MAX + 1] = {NULL};
    char        suggestion[300];
    for (size_t i = 0; application->endpoints[i] != NULL; i++) {
        if (strcmp(application->endpoints[i]->name, name) == 0)
            return PAWL_OK;
        if (i < ENDPOINTS_SHOWN_MAX)
            names[i] = application->endpoints[i]->name;
    }
    pawl__suggest(name, "", names, suggestion, sizeof suggestion);
    return pawl_error_set(error, PAWL_ECONFIG, "the application has no endpoint '%s'%s", name,
                          suggestion);
}
