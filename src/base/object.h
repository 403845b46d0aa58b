/* object.h - loads shared objects from outside: drivers, transports, applications. Each check comes before the step
 * that would hang or crash on a bad file: opening a named pipe waits for a writer; loading a truncated file, calling
 * data or reading a table that is too short ends the process.
 *
 *     pawl__object_open -> pawl__object_function | pawl__object_table -> dlclose, unless it stays
 *
 * The functions are inline because the library and the command both need them.
 *
 * Threads: any. Tests: tests/unit/store/test_store_load.c, tests/system/command_usage.sh
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_BASE_OBJECT_H
#define PAWL_BASE_OBJECT_H

#include "pawl/base.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does the file end before its section headers, which linkers put last? The loader would map the missing part, and a
 * read there ends the process by SIGBUS. Files that are not objects of this machine are left to the loader, which
 * refuses them. */
static inline bool pawl__object_is_cut(const char *path, uint64_t size)
{
    ElfW(Ehdr) header;
    int     file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got  = file >= 0 ? read(file, &header, sizeof header) : -1;
    if (file >= 0)
        close(file);
    if (got != (ssize_t)sizeof header || header.e_ehsize != sizeof header)
        return false;
    return header.e_shoff > size ||
           (uint64_t)header.e_shnum * header.e_shentsize > size - header.e_shoff;
}

#define PAWL__OBJECT_PATH_SIZE 4096 /* the system's limit of a path's length */

/* Copies the path, with "./" before a name without slash, which the loader would look for in the system's folders.
 * `noun`: the thing to load. PAWL_EINVAL: the path is NULL or empty; PAWL_ELIMIT: too long. */
static inline pawl_code pawl__object_path(const char *path, const char *noun,
                                          char here[PAWL__OBJECT_PATH_SIZE], pawl_error *error)
{
    if (path == NULL || *path == '\0')
        return pawl_error_set(error, PAWL_EINVAL, "the path of the %s to load is empty", noun);
    int size =
        snprintf(here, PAWL__OBJECT_PATH_SIZE, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    return size < PAWL__OBJECT_PATH_SIZE
               ? PAWL_OK
               : pawl_error_set(error, PAWL_ELIMIT,
                                "the path of the %s to load has %zu bytes, the limit is %d", noun,
                                strlen(path), PAWL__OBJECT_PATH_SIZE - 1);
}

/* `path` is a result of pawl__object_path. PAWL_EUNREACHABLE: not a regular file, truncated, or refused by the loader. */
static inline pawl_code pawl__object_open(const char *path, void **module, pawl_error *error)
{
    struct stat about;
    *module       = NULL;
    bool is_there = stat(path, &about) == 0;
    if (is_there && !S_ISREG(about.st_mode))
        return pawl_error_set(error, PAWL_EUNREACHABLE,
                              "%s is %s, where a shared object is expected", path,
                              S_ISDIR(about.st_mode)    ? "a folder"
                              : S_ISFIFO(about.st_mode) ? "a named pipe"
                                                        : "not a file");
    if (is_there && pawl__object_is_cut(path, (uint64_t)about.st_size))
        return pawl_error_set(error, PAWL_EUNREACHABLE,
                              "%s is cut off: its %lld bytes end before its section headers", path,
                              (long long)about.st_size);
    *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*module == NULL)
        return pawl_error_set(error, PAWL_EUNREACHABLE, "%s", dlerror());
    return PAWL_OK;
}

/* The symbol's type according to its module (STT_FUNC, STT_OBJECT ...), and its size, 0 if unknown. Only glibc's
 * loader can tell. */
static inline int pawl__object_ask(void *symbol, size_t *size)
{
    *size = 0;
#ifdef __GLIBC__
    Dl_info info;
    void   *found = NULL;
    if (dladdr1(symbol, &info, &found, RTLD_DL_SYMENT) != 0 && found != NULL) {
        const ElfW(Sym) *entry = found;
        *size                  = entry->st_size;
        return ELF64_ST_TYPE(entry->st_info); /* the same macro serves 32 bits */
    }
#endif
    (void)symbol;
    return STT_NOTYPE;
}

/* PAWL_ENOTFOUND: the module has no such symbol. PAWL_ECONFIG: the symbol is data. */
static inline pawl_code pawl__object_function(void *module, const char *path, const char *name,
                                              void **symbol, pawl_error *error)
{
    size_t size;
    *symbol = dlsym(module, name);
    if (*symbol == NULL)
        return pawl_error_set(error, PAWL_ENOTFOUND, "%s has no symbol %s", path, name);
    int type = pawl__object_ask(*symbol, &size);
    if (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "%s: its symbol %s is data of %zu bytes, where a "
                          "function is expected",
                          path, name, size);
}

/* Finds a table that begins with its own size, and of which at least `least` bytes are needed. PAWL_ECONFIG: there is
 * none, it is code, or it is shorter, whatever size it claims. */
static inline pawl_code pawl__object_table(void *module, const char *path, const char *name,
                                           size_t least, void **symbol, pawl_error *error)
{
    size_t size;
    *symbol = dlsym(module, name);
    if (*symbol == NULL)
        return pawl_error_set(error, PAWL_ECONFIG, "%s has no symbol %s", path, name);
    int type = pawl__object_ask(*symbol, &size);
    if (type != STT_OBJECT && type != STT_NOTYPE)
        return pawl_error_set(
            error, PAWL_ECONFIG,
            "%s: its symbol %s is not data, where a table of %zu bytes is expected", path, name,
            least);
    size_t said = size != 0 && size < sizeof said ? size : *(const size_t *)*symbol;
    if (size != 0 && said > size)
        said = size;
    if (said < least)
        return pawl_error_set(error, PAWL_ECONFIG,
                              "%s was built for another pawl: its table %s has %zu bytes, at least "
                              "%zu are needed",
                              path, name, said, least);
    return PAWL_OK;
}

#endif
