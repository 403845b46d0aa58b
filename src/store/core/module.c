/* module.c - the folders of the modules, and loading one of them.
 *
 * This file reads one environment variable, PAWL_DRIVER_PATH, because drivers
 * are found before there is a runtime that could hand it down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/module.h"

#include "base/object.h"
#include "pawl/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKAGE_SIZE 64

/* ---- Folders -------------------------------------------------------------- */

/* Called for each folder; true ends the search. */
typedef bool folder_fn(void *context, const char *folder, size_t size);

/* The folder that the library was loaded from; false when the loader does not say. The address is that of a function
 * which the library exports, because the command and modules have copies of this file. */
static bool own_folder(char folder[PAWL__OBJECT_PATH_SIZE])
{
    Dl_info info;
    if (dladdr((const void *)(uintptr_t)pawl_code_name, &info) == 0 || info.dli_fname == NULL)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash == NULL)
        return false;
    size_t size = slash == info.dli_fname ? 1 : (size_t)(slash - info.dli_fname);
    int    used = snprintf(folder, PAWL__OBJECT_PATH_SIZE, "%.*s", (int)size, info.dli_fname);
    /* Resolves paths like /opt/x/bin/../lib, as installed programs have them. */
    char *plain = used < PAWL__OBJECT_PATH_SIZE ? realpath(folder, NULL) : NULL;
    if (plain != NULL)
        (void)snprintf(folder, PAWL__OBJECT_PATH_SIZE, "%s", plain);
    free(plain);
    return used < PAWL__OBJECT_PATH_SIZE;
}

static bool visit_built_in(folder_fn *visit, void *context)
{
    char folder[PAWL__OBJECT_PATH_SIZE + sizeof "/pawl/4294967295"];
    bool is_same = false;
    if (own_folder(folder)) {
        if (visit(context, folder, strlen(folder)))
            return true;
        size_t size = strlen(folder);
        (void)snprintf(folder + size, sizeof folder - size, "/pawl/%u", PAWL_ABI);
        if (visit(context, folder, strlen(folder)))
            return true;
        is_same = strcmp(folder, pawl_module_folder()) == 0;
    }
    return !is_same && visit(context, pawl_module_folder(), strlen(pawl_module_folder()));
}

static bool visit_given(const char *folders, folder_fn *visit, void *context)
{
    while (folders != NULL && *folders != '\0') {
        size_t size = strcspn(folders, ":");
        if (size != 0 && visit(context, folders, size))
            return true;
        folders += size;
        if (*folders == ':')
            folders++;
    }
    return false;
}

/* ---- Search --------------------------------------------------------------- */

typedef struct search {
    const char *name;
    char       *path; /* of PAWL__OBJECT_PATH_SIZE */
} search;

static bool has_module(void *context, const char *folder, size_t size)
{
    const search *s = context;
    int           length =
        snprintf(s->path, PAWL__OBJECT_PATH_SIZE, "%.*s/libpawl-%s.so", (int)size, folder, s->name);
    return length < PAWL__OBJECT_PATH_SIZE && access(s->path, F_OK) == 0;
}

bool pawl__module_find(const char *name, char path[PAWL__OBJECT_PATH_SIZE])
{
    search s = {.name = name, .path = path};
    return visit_built_in(has_module, &s) ||
           visit_given(secure_getenv("PAWL_DRIVER_PATH"), has_module, &s);
}

/* A text that is written piece by piece and cut at its end. */
typedef struct list {
    char       *text;
    size_t      size;
    const char *separator; /* before the next piece */
} list;

static void append(list *l, const char *piece, size_t size)
{
    size_t used = strlen(l->text);
    (void)snprintf(l->text + used, l->size - used, "%s%.*s", l->separator, (int)size, piece);
}

static bool add_folder(void *context, const char *folder, size_t size)
{
    list *l = context;
    append(l, folder, size);
    l->separator = ", ";
    return false;
}

/* The Debian package of the module: libpawl5-driver-sqlite of sqlite and of bench-sqlite. */
static const char *package_of(const char *name, char text[PACKAGE_SIZE])
{
    const char *kind = strncmp(name, "bench-", 6) == 0 ? name + 6 : name;
    if (strcmp(name, "bench") == 0)
        (void)snprintf(text, PACKAGE_SIZE, "pawl");
    else
        (void)snprintf(text, PACKAGE_SIZE, "libpawl%u-driver-%s", PAWL_ABI,
                       strcmp(kind, "mongo") == 0 ? "mongodb" : kind);
    return text;
}

const char *pawl__module_searched(const char *name, char *text, size_t size)
{
    const char *given = secure_getenv("PAWL_DRIVER_PATH");
    list        l     = {.text = text, .size = size, .separator = ""};
    (void)snprintf(text, size, "looked for libpawl-%s.so in ", name);
    (void)visit_built_in(add_folder, &l);
    l.separator = "";
    append(&l, " and PAWL_DRIVER_PATH (", strlen(" and PAWL_DRIVER_PATH ("));
    if (given == NULL || *given == '\0')
        append(&l, "not set", strlen("not set"));
    else
        (void)visit_given(given, add_folder, &l);
    l.separator = "";
    append(&l, ")", 1);
    return text;
}

/* Is there a package of that module? */
static bool is_known(const char *name)
{
    static const char *const names[] = {"sqlite", "postgres", "mysql",  "odbc",
                                        "mongo",  "rabbitmq", "observe"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "bench", strlen("bench")) == 0;
}

const char *pawl__module_absent(const char *name, const char *other, char *text, size_t size)
{
    char package[PACKAGE_SIZE];
    int  used =
        is_known(name)
             ? snprintf(text, size, "install the package %s%s; ", package_of(name, package), other)
             : snprintf(text, size,
                        "pawl has none of that name, but memory, sqlite, postgres, mysql, mariadb, "
                         "odbc, mssql, oracle, mongodb, and for routes amqp%s; ",
                        other);
    if (used > 0 && (size_t)used < size)
        (void)pawl__module_searched(name, text + used, size - (size_t)used);
    return text;
}

/* ---- Loading -------------------------------------------------------------- */

pawl_code pawl__module_open(const char *path, const char *symbol, size_t size, void **module,
                            const void **table, pawl_error *error)
{
    void     *found = NULL;
    pawl_code code  = pawl__object_open(path, module, error);
    if (code != PAWL_OK)
        return code;
    code = pawl__object_table(*module, path, symbol, size, &found, error);
    if (code == PAWL_OK) {
        *table = found;
        return code;
    }
    pawl__module_close(*module);
    *module = NULL;
    return code;
}

void pawl__module_close(void *module)
{
    if (module != NULL)
        dlclose(module);
}
